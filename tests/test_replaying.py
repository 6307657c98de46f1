"""Replay on logs, and intervals for the means of dependent series."""

import numpy as np
import pytest
from scipy import stats

import wsbnb
from wsbnb.datasets import Dataset

D = 3
PRIOR = (np.full(D, 0.3), np.diag([2.0, 1.0, 0.5]), 0.7)
CONFIDENCE = {"delta": 0.1, "horizon": 60, "param_bound": 2.0, "arm_bound": 3.0}


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
        "WSB-LinTS": wsbnb.WSBLinTS(*PRIOR, 0.9),
        "WSB-LinUCB": wsbnb.WSBLinUCB(*PRIOR, 0.9, **CONFIDENCE),
        "D-LinUCB": wsbnb.DLinUCB(D, 2.0, 0.9, 0.7, **CONFIDENCE),
        "SW-LinUCB": wsbnb.SWLinUCB(D, 2.0, 0.7, 10, **CONFIDENCE),
        "Restart-LinUCB": wsbnb.RestartLinUCB(D, 2.0, 0.7, 10, **CONFIDENCE),
        "Greedy": wsbnb.Greedy(D, 2.0, 0.9, 0.7),
    }


class Second:
    """A policy from outside the package."""

    def __init__(self):
        self.seen = []

    def pull(self, X):
        return 1

    def update(self, x, reward):
        self.seen.append(reward)


# --- the game -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in policies() if n != "WSB-LinTS"])
def test_compiled_replay_is_the_loop_written_by_hand(name):
    arms, rewards = log()
    result = wsbnb.replay({name: policies()[name]}, (arms, rewards))
    assert result.choices[name].shape == (1, 60)
    assert result.choices[name][0].tolist() == by_hand(policies()[name], arms, rewards)


def test_thompson_replay_is_the_loop_with_the_same_generator():
    arms, rewards = log()
    handed = []

    def build(world):
        policy = wsbnb.WSBLinTS(*PRIOR, 0.9, rng=world.generator("exploration"))
        handed.append(policy.clone())
        assert (world.dim, world.horizon, world.n_arms) == (D, 60, 4)
        return policy

    result = wsbnb.replay({"TS": build}, (arms, rewards), repeats=2, n_jobs=1)
    for policy, chosen in zip(handed, result.choices["TS"], strict=True):
        assert chosen.tolist() == by_hand(policy, arms, rewards)
    assert not np.array_equal(*result.choices["TS"])


def test_only_the_reward_of_the_played_arm_is_shown():
    arms, rewards = log()
    result = wsbnb.replay(policies(), (arms, rewards), repeats=2)
    for name, chosen in result.choices.items():
        if name == "Best fixed arm":
            continue
        hidden = rewards.copy()
        hidden[np.arange(60), :] = 99.0
        hidden[np.arange(60), chosen[0]] = rewards[np.arange(60), chosen[0]]
        again = wsbnb.replay({name: policies()[name]}, (arms, hidden), repeats=1)
        assert np.array_equal(again.choices[name][0], chosen[0])


def test_blocks_do_not_change_the_choices(monkeypatch):
    arms, rewards = log()
    whole = wsbnb.replay(policies(), (arms, rewards), repeats=2)
    monkeypatch.setattr("wsbnb.replaying._BLOCK", 7)
    pieces = wsbnb.replay(policies(), (arms, rewards), repeats=2)
    for name in whole.policies:
        assert np.array_equal(whole.choices[name], pieces.choices[name])


def test_same_seed_same_bits_whatever_the_workers_and_the_company():
    data = log()
    one = wsbnb.replay(policies(), data, seed=4, repeats=3, n_jobs=1)
    two = wsbnb.replay(policies(), data, seed=4, repeats=3, n_jobs=2)
    alone = wsbnb.replay([wsbnb.WSBLinTS(*PRIOR, 0.9)], data, seed=4, repeats=3)
    other = wsbnb.replay(policies(), data, seed=5, repeats=3)
    for name in one.policies:
        assert np.array_equal(one.choices[name], two.choices[name])
    assert np.array_equal(one.choices["WSB-LinTS"], alone.choices["WSB-LinTS"])
    assert not np.array_equal(one.choices["WSB-LinTS"], other.choices["WSB-LinTS"])


def test_dataset_pair_and_fixed_arms_agree():
    arms, rewards = log()
    fixed = np.repeat(arms[:1], 60, axis=0)
    results = [
        wsbnb.replay(policies(), data, repeats=2)
        for data in (as_dataset(fixed, rewards), (fixed, rewards), (arms[0], rewards))
    ]
    for name in results[0].policies:
        first, *others = (r.choices[name] for r in results)
        assert all(np.array_equal(first, other) for other in others)


def test_foreign_policy_plays_and_its_template_stays_clean():
    arms, rewards = log()
    mine = Second()
    result = wsbnb.replay([mine], (arms, rewards), repeats=2)
    np.testing.assert_array_equal(result.reward("Second"), rewards[None, :, 1][[0, 0]])
    assert mine.seen == []


def test_oracle_uniform_and_best_fixed_arm():
    arms, rewards = log()
    pair = {"Oracle": wsbnb.Oracle(), "Uniform": wsbnb.Uniform(D)}
    result = wsbnb.replay(pair, (arms, rewards), repeats=200)
    assert result.regret("Oracle").max() == 0.0
    fixed = result.reward("Best fixed arm")[0]
    np.testing.assert_allclose(fixed.sum(), rewards.sum(axis=0).max())
    mean, se = rewards.mean(), rewards.std() / np.sqrt(200 * 60)
    assert abs(result.reward("Uniform").mean() - mean) < 4 * se


def test_one_arm_one_dimension_one_round():
    result = wsbnb.replay([wsbnb.Greedy(1, 1.0, 1.0, 1.0)], ([[2.0]], [[3.0]]))
    assert result.summary().loc["Greedy", ["reward", "regret"]].tolist() == [3.0, 0.0]
    assert result.curves["round"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"data": 3}, TypeError, "data"),
        ({"data": (np.ones((5, 2, D)), np.ones((4, 2)))}, ValueError, "arms"),
        ({"data": (np.eye(D), [[1.0, np.inf, 0.0]])}, ValueError, "rewards"),
        ({"policies": []}, ValueError, "policies"),
        ({"policies": {"Best fixed arm": Second()}}, ValueError, "Best fixed arm"),
        ({"policies": [wsbnb.Uniform(D + 1)]}, ValueError, "dimension"),
        ({"repeats": 0}, ValueError, "repeats"),
        ({"repeats": 1.5}, TypeError, "repeats"),
        ({"seed": -1}, ValueError, "seed"),
    ],
)
def test_bad_arguments_are_named(change, error, word):
    good = {"policies": [wsbnb.Uniform(D)], "data": log()}
    with pytest.raises(error, match=word):
        wsbnb.replay(**{**good, **change})


# --- the result ---------------------------------------------------------------------


@pytest.fixture
def small():
    rewards = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.5], [3.0, 1.0]])
    choices = {
        "A": np.array([[0, 0, 1, 0]]),
        "B": np.array([[1, 1, 1, 1], [0, 1, 0, 1]]),
    }
    return wsbnb.Replay(choices, rewards)


def test_summary_by_hand(small):
    summary = small.summary()
    assert summary.loc["A", "reward"] == (1 + 0 + 0.5 + 3) / 4
    assert summary.loc["A", "regret"] == 2.0
    assert summary.loc["A", "best"] == 0.75  # a tie counts as best
    assert summary.loc["A", "switches"] == 2 / 3
    assert np.isnan(summary.loc["A", "std"])
    assert summary.loc["B", "regret"] == (3.0 + 2.0) / 2
    assert summary.loc["B", "std"] == np.std([3.0, 2.0], ddof=1)
    assert summary["repeats"].tolist() == [1, 2]


def test_curves_are_the_regret(small):
    curves = small.curves
    table = curves.pivot(index="round", columns=["policy", "trial"], values="regret")
    assert table["A"][0].tolist() == [0.0, 2.0, 2.0, 2.0]
    assert table["B"][1].tolist() == [0.0, 0.0, 0.0, 2.0]


def test_between_scores_some_rounds_only(small):
    part = small.between(1, 3)
    assert part.reward("A").tolist() == [[0.0, 0.5]]
    assert part.regret("A").tolist() == [[2.0, 2.0]]
    parts = small.between(0, 1), small.between(1, 4)
    regret = sum(p.summary().regret for p in parts)
    np.testing.assert_allclose(regret, small.summary().regret)
    for bad in ((-1, 2), (2, 2), (0, 5)):
        with pytest.raises(ValueError, match="start|stop"):
            small.between(*bad)


def test_paired_is_the_bootstrap_of_the_mean_difference(small):
    row = small.paired("B", block_length=2, draws=50, level=0.8, seed=3).loc["A"]
    difference = small.reward("A").mean(axis=0) - small.reward("B").mean(axis=0)
    expected = wsbnb.block_bootstrap(difference, 2, 50, 0.8, 3)
    assert row["difference"] == difference.mean() == expected["mean"]
    assert (row["low"], row["high"]) == (expected["low"], expected["high"])
    assert row["block_length"] == 2


def test_paired_changes_with_the_unit_as_rewards_do(small):
    scaled = wsbnb.Replay(small.choices, 10.0 * small.rewards + 7.0)
    one, ten = (r.paired("B", block_length=2) for r in (small, scaled))
    columns = ["difference", "se", "low", "high"]
    np.testing.assert_allclose(ten[columns], 10 * one[columns], rtol=1e-12)


@pytest.mark.parametrize("name", ["reward", "regret", "paired"])
def test_unknown_policy_is_refused(small, name):
    with pytest.raises(ValueError, match="'A', 'B'"):
        getattr(small, name)("C")


# --- the bootstrap ------------------------------------------------------------------


def autoregression(phi, n, size, seed):
    """`size` stationary AR(1) series with mean 0 and innovations of variance 1."""
    rng = np.random.default_rng(seed)
    x = np.empty((size, n))
    x[:, 0] = rng.normal(size=size) / np.sqrt(1 - phi**2)
    for t in range(1, n):
        x[:, t] = phi * x[:, t - 1] + rng.normal(size=size)
    return x


def test_blocks_of_one_are_scipys_bootstrap():
    series = np.random.default_rng(1).gamma(2.0, size=80)
    ours = wsbnb.block_bootstrap(series, 1, draws=500, level=0.9, seed=7)
    theirs = stats.bootstrap(
        (series,),
        np.mean,
        n_resamples=500,
        confidence_level=0.9,
        method="percentile",
        rng=np.random.default_rng(7),
    )
    np.testing.assert_allclose(ours["low"], theirs.confidence_interval.low)
    np.testing.assert_allclose(ours["high"], theirs.confidence_interval.high)
    np.testing.assert_allclose(ours["se"], theirs.standard_error)


@pytest.mark.parametrize(("n", "length"), [(7, 3), (8, 4), (5, 5), (6, 1)])
def test_means_are_those_of_series_laid_out_by_hand(n, length):
    series = np.random.default_rng(2).normal(size=n) + 5.0
    rng = np.random.default_rng(9)
    means = []
    for starts in rng.integers(0, n, size=(40, -(-n // length))):
        rows = np.concatenate([np.arange(s, s + length) % n for s in starts])[:n]
        means.append(series[rows].mean())
    result = wsbnb.block_bootstrap(series, length, draws=40, level=0.5, seed=9)
    expected = np.quantile(means, [0.25, 0.75])
    np.testing.assert_allclose([result["low"], result["high"]], expected)
    np.testing.assert_allclose(result["se"], np.std(means, ddof=1))


def test_pieces_do_not_change_the_interval(monkeypatch):
    series = np.random.default_rng(3).normal(size=50)
    whole = wsbnb.block_bootstrap(series, 4)
    monkeypatch.setattr("wsbnb.replaying._NUMBERS", 100)
    assert wsbnb.block_bootstrap(series, 4) == whole


def test_coverage_on_an_autoregression_whose_variance_is_known():
    phi, n, runs = 0.7, 800, 200
    true_se = 1.0 / ((1.0 - phi) * np.sqrt(n))
    covered = {1: 0, 40: 0}
    ratio = []
    for series in autoregression(phi, n, runs, seed=11):
        for length in covered:
            result = wsbnb.block_bootstrap(series, length, draws=300)
            covered[length] += result["low"] <= 0.0 <= result["high"]
        ratio.append(result["se"] / true_se)
    assert 0.87 <= covered[40] / runs <= 0.98
    assert covered[1] / runs < 0.75  # independent draws: the interval is far too short
    assert 0.85 < np.mean(ratio) < 1.0


@pytest.mark.parametrize("phi", [0.3, 0.6, 0.9])
def test_suggested_length_is_near_the_optimum_of_an_autoregression(phi):
    n = 4000
    optimum = (6 * phi**2 / (1 - phi**2) ** 2) ** (1 / 3) * n ** (1 / 3)
    series = autoregression(phi, n, 20, seed=5)
    found = [wsbnb.suggested_block_length(row) for row in series]
    assert 0.75 * optimum < np.mean(found) < 1.25 * optimum


def test_suggested_length_at_the_edges():
    noise = np.random.default_rng(0).normal(size=500)
    assert wsbnb.suggested_block_length(noise) <= 3
    assert wsbnb.suggested_block_length(np.full(100, 0.1)) == 1
    assert wsbnb.suggested_block_length([1.0, 2.0]) == 1
    walk = np.cumsum(noise)
    assert wsbnb.suggested_block_length(walk) <= np.ceil(3 * np.sqrt(500))
    shifted = wsbnb.suggested_block_length(1e3 * walk + 7.0)
    assert shifted == wsbnb.suggested_block_length(walk)


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        (([], 1), ValueError, "series"),
        (([1.0, np.nan], 1), ValueError, "series"),
        (([1.0, 2.0], 0), ValueError, "block_length"),
        (([1.0, 2.0], 3), ValueError, "block_length"),
        (([1.0, 2.0], 1.5), TypeError, "block_length"),
        (([1.0, 2.0], 1, 1), ValueError, "draws"),
        (([1.0, 2.0], 1, 10, 1.0), ValueError, "level"),
        (([1.0, 2.0], 1, 10, 0.9, "x"), TypeError, "seed"),
    ],
)
def test_bad_bootstrap_arguments_are_named(arguments, error, word):
    with pytest.raises(error, match=word):
        wsbnb.block_bootstrap(*arguments)
