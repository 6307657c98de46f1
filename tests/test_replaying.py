"""Replay on logs: the loop that a user would write, scored with every arm's reward."""

import numpy as np
import pytest

import wsbnb
from wsbnb import simulation
from wsbnb.datasets import Dataset
from wsbnb.replaying import BEST_FIXED

D = 3
PRIOR = {
    "prior_mean": np.full(D, 0.3),
    "prior_cov": np.array([2.0, 1.0, 0.5]),
    "noise_std": 0.7,
    "discount": 0.9,
}
RIDGE = {"dim": D, "regularization": 2.0, "noise_std": 0.7}
BOUNDS = {"delta": 0.1, "horizon": 60, "param_bound": 2.0, "arm_bound": 3.0}


def log(seed=0, rounds=60, arms=4, dim=D):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rounds, arms, dim)), rng.normal(size=(rounds, arms))


def as_dataset(arms, rewards):
    names = [str(k) for k in range(arms.shape[1])], [str(i) for i in range(D)]
    return Dataset("log", arms, rewards, np.arange(len(arms)), *names, "made up")


def by_hand(policy, arms, rewards):
    """The loop that a user would write."""
    chosen = []
    for X, r in zip(arms, rewards, strict=True):
        k = policy.pull(X)
        policy.update(X[k], r[k])
        chosen.append(k)
    return chosen


def policies():
    return {
        "WSB-LinTS": wsbnb.WSBLinTS(**PRIOR),
        "WSB-LinUCB": wsbnb.WSBLinUCB(**PRIOR, **BOUNDS),
        "D-LinUCB": wsbnb.DLinUCB(**RIDGE, discount=0.9, **BOUNDS),
        "SW-LinUCB": wsbnb.SWLinUCB(**RIDGE, length=10, **BOUNDS),
        "Restart-LinUCB": wsbnb.RestartLinUCB(**RIDGE, period=10, **BOUNDS),
        "Greedy": wsbnb.Greedy(**RIDGE, discount=0.9),
        "Mixture": wsbnb.DiscountMixture(
            wsbnb.WSBLinTS(**PRIOR), discounts=[0.8, 0.95, 1.0]
        ),
    }


DRAWING = ("WSB-LinTS", "Mixture")


def arms_of(result, name):
    """Arms that one policy played, shape (repeats, rounds)."""
    return result.arms[:, result.policies.index(name)]


class Second:
    """A policy from outside the package."""

    def __init__(self):
        self.seen = []

    def pull(self, X):
        return 1

    def update(self, x, reward):
        self.seen.append(reward)


# --- the game -----------------------------------------------------------------------


@pytest.mark.parametrize("name", policies())
def test_compiled_replay_is_the_loop_with_the_same_generator(name):
    arms, rewards = log()
    handed = []

    def build(world):
        assert (world.dim, world.horizon, world.n_arms) == (D, 60, 4)
        handed.append(policies()[name].clone(world.generator("exploration")))
        return policies()[name]

    result = wsbnb.replay({name: build}, (arms, rewards), repeats=2, n_jobs=1)
    played = arms_of(result, name)
    assert played.shape == (2, 60) and len(handed) == 2
    for policy, chosen in zip(handed, played, strict=True):
        assert policy.compiled
        assert chosen.tolist() == by_hand(policy, arms, rewards)
    # A policy that draws nothing plays the log alike each time.
    assert np.array_equal(*played) == (name not in DRAWING)


def test_regret_is_what_the_best_arm_of_each_round_would_have_paid_more():
    arms, rewards = log()
    result = wsbnb.replay(policies(), (arms, rewards), repeats=2)
    assert result.policies == [*policies(), BEST_FIXED]
    assert result.rounds.tolist() == list(range(1, 61))
    best = rewards.max(axis=1)
    for name in result.policies:
        for chosen, regret in zip(arms_of(result, name), result.of(name), strict=True):
            lost = best - rewards[np.arange(60), chosen]
            np.testing.assert_allclose(regret, np.cumsum(lost), rtol=1e-12)
    reward = result.summary()["reward"] * 60
    for name in result.policies:
        mine = rewards[np.arange(60), arms_of(result, name)].sum(axis=1).mean()
        assert reward[name] == pytest.approx(mine)


def test_only_the_reward_of_the_played_arm_is_shown():
    arms, rewards = log()
    result = wsbnb.replay(policies(), (arms, rewards), repeats=1)
    for name, policy in policies().items():
        (chosen,) = arms_of(result, name)
        hidden = np.full_like(rewards, 99.0)
        hidden[np.arange(60), chosen] = rewards[np.arange(60), chosen]
        again = wsbnb.replay({name: policy}, (arms, hidden), repeats=1)
        assert arms_of(again, name)[0].tolist() == chosen.tolist()


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("fixed", [False, True])
def test_blocks_do_not_change_the_choices(size, fixed, monkeypatch):
    arms, rewards = log()
    data = (arms[0] if fixed else arms, rewards)
    whole = wsbnb.replay(policies(), data, repeats=2)
    for name in ("_REWARDS", "_LONGEST", "_SHORTEST"):
        monkeypatch.setattr(simulation, name, size)
    pieces = wsbnb.replay(policies(), data, repeats=2)
    np.testing.assert_array_equal(whole.arms, pieces.arms)


def test_same_seed_same_bits_whatever_the_workers_and_the_company():
    data = log()
    one = wsbnb.replay(policies(), data, seed=4, repeats=3, n_jobs=1)
    for n_jobs in (2, 8):
        two = wsbnb.replay(policies(), data, seed=4, repeats=3, n_jobs=n_jobs)
        np.testing.assert_array_equal(one.arms, two.arms)
        np.testing.assert_array_equal(one.regret, two.regret)
    alone = wsbnb.replay([wsbnb.WSBLinTS(**PRIOR)], data, seed=4, repeats=3)
    other = wsbnb.replay(policies(), data, seed=5, repeats=3)
    name = "WSB-LinTS"
    np.testing.assert_array_equal(arms_of(one, name), arms_of(alone, name))
    assert not np.array_equal(arms_of(one, name), arms_of(other, name))


def test_dataset_pair_and_fixed_arms_agree():
    arms, rewards = log()
    fixed = np.repeat(arms[:1], 60, axis=0)
    first, *others = (
        wsbnb.replay(policies(), data, repeats=2).arms
        for data in (as_dataset(fixed, rewards), (fixed, rewards), (arms[0], rewards))
    )
    assert all(np.array_equal(first, other) for other in others)


def test_foreign_policy_plays_and_its_template_stays_clean():
    arms, rewards = log()
    mine = Second()
    result = wsbnb.replay([mine], (arms, rewards), repeats=2)
    assert (arms_of(result, "Second") == 1).all()
    lost = (rewards.max(axis=1) - rewards[:, 1]).sum()
    np.testing.assert_allclose(result.final("Second"), [lost, lost])
    assert mine.seen == []


def test_templates_have_learnt_nothing_and_may_have_learnt_anything():
    arms, rewards = log()
    templates = policies()
    fresh = wsbnb.replay(templates, (arms, rewards), repeats=1)
    for policy in templates.values():
        assert policy.posterior.rounds == 0
        policy.pull(arms[0])
        policy.update(arms[0, 0], 50.0)
    again = wsbnb.replay(templates, (arms, rewards), repeats=1)
    np.testing.assert_array_equal(fresh.arms, again.arms)


def test_oracle_uniform_and_best_fixed_arm():
    arms, rewards = log()
    pair = {"Oracle": wsbnb.Oracle(), "Uniform": wsbnb.Uniform(dim=D)}
    result = wsbnb.replay(pair, (arms, rewards), repeats=200)
    assert result.of("Oracle").max() == 0.0
    reward = result.summary()["reward"]
    assert reward[BEST_FIXED] == pytest.approx(rewards.sum(axis=0).max() / 60)
    assert (arms_of(result, BEST_FIXED) == rewards.sum(axis=0).argmax()).all()
    mean, se = rewards.mean(), rewards.std() / np.sqrt(200 * 60)
    assert abs(reward["Uniform"] - mean) < 4 * se


def test_one_arm_one_dimension_one_round():
    result = wsbnb.replay([wsbnb.Greedy(dim=1)], ([[2.0]], [[3.0]]))
    assert result.summary().loc["Greedy", ["reward", "mean"]].tolist() == [3.0, 0.0]
    assert result.rounds.tolist() == [1] and len(result.trials) == 20


# --- by hand, from two policies that choose nothing ---------------------------------


class Fixed:
    """Plays a list of arms."""

    def __init__(self, arms):
        self.arms = iter(arms)

    def pull(self, X):
        return next(self.arms)

    def update(self, x, reward):
        pass


SMALL = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.5], [3.0, 1.0]])


def small(rewards=SMALL):
    """B plays 1, 1, 1, 1 in the first repeat and 0, 1, 0, 1 in the second."""
    plays = iter([[1, 1, 1, 1], [0, 1, 0, 1]])
    chosen = {
        "A": lambda world: Fixed([0, 0, 1, 0]),
        "B": lambda world: Fixed(next(plays)),
    }
    data = np.ones((2, 1)), rewards
    return wsbnb.replay(chosen, data, repeats=2, n_jobs=1)


def test_summary_by_hand():
    summary = small().summary()
    assert summary.loc["A", "reward"] == (1 + 0 + 0.5 + 3) / 4
    assert summary.loc["A", "mean"] == 2.0 and summary.loc["A", "std"] == 0.0
    assert summary.loc["A", "switches"] == 2 / 3
    assert summary.loc["B", "mean"] == (3.0 + 2.0) / 2
    assert summary.loc["B", "std"] == np.std([3.0, 2.0], ddof=1)
    assert summary.loc["B", "switches"] == (0 + 1) / 2
    assert summary.loc[BEST_FIXED, "mean"] == 2.0  # always arm 0
    assert summary["trials"].tolist() == [2, 2, 2]


def test_curves_by_hand():
    curves = small().curves
    table = curves.pivot(index="round", columns=["policy", "trial"], values="regret")
    assert table["A"][0].tolist() == [0.0, 2.0, 2.0, 2.0]
    assert table["B"][1].tolist() == [0.0, 0.0, 0.0, 2.0]


def test_between_by_hand():
    part = small().between(1, 3)
    assert part.of("A").tolist() == [[2.0, 2.0]] * 2
    assert part.best_reward.tolist() == [2.0, 2.5]
    assert part.summary().loc["A", "reward"] == 0.25


def test_negative_is_better_per_round():
    """A loses 2 and B 2.5 on average: A is 0.5 over four rounds ahead."""
    row = small().paired("B", over="rounds", block_length=2, draws=50, seed=3).loc["A"]
    assert row["difference"] == (2.0 - 2.5) / 4
    series = [0.0 - 0.5, 2.0 - 0.0, 0.0, 0.0 - 2.0]
    expected = wsbnb.block_bootstrap(series, 2, 50, seed=3)
    for name in ("low", "high", "se"):
        assert row[name] == pytest.approx(expected[name])


def test_paired_changes_with_the_unit_as_rewards_do():
    ten, one = (
        result.paired("B", over="rounds", block_length=2)
        for result in (small(10.0 * SMALL + 7.0), small())
    )
    columns = ["difference", "se", "low", "high"]
    np.testing.assert_allclose(ten[columns], 10 * one[columns], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"data": 3}, TypeError, "data"),
        ({"data": (np.ones((5, 2, D)), np.ones((4, 2)))}, ValueError, "arms"),
        ({"data": (np.eye(D), [[1.0, np.inf, 0.0]])}, ValueError, "rewards"),
        ({"data": (np.full((2, D), np.nan), [[1.0, 0.0]])}, ValueError, "arms"),
        ({"policies": []}, ValueError, "policies"),
        ({"policies": {BEST_FIXED: Second()}}, ValueError, BEST_FIXED),
        ({"policies": [wsbnb.Uniform(dim=D + 1)]}, ValueError, "dimension"),
        ({"repeats": 0}, ValueError, "repeats"),
        ({"repeats": 1.5}, TypeError, "repeats"),
        ({"seed": -1}, ValueError, "seed"),
    ],
)
def test_bad_arguments_are_named(change, error, word):
    good = {"policies": [wsbnb.Uniform(dim=D)], "data": log()}
    with pytest.raises(error, match=word):
        wsbnb.replay(**{**good, **change})


def test_a_log_that_breaks_the_estimate_is_refused():
    arms, rewards = log()
    policy = wsbnb.WSBLinTS(**{**PRIOR, "prior_cov": 1e9, "noise_std": 1e-9})
    with pytest.raises(ValueError, match="positive definite in double precision"):
        wsbnb.replay([policy], (arms, rewards), repeats=1)
