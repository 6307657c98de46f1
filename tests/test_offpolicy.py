"""Estimates from logs of worlds in which the truth is known."""

import numpy as np
import pytest

import wsbnb
from tests import zoo
from wsbnb import offpolicy
from wsbnb.exploration import Thompson
from wsbnb.policies.theory import outside_on_purpose

SIGMA = 0.3


class World:
    """Arms, a parameter that drifts, a logging policy that prefers some arms."""

    def __init__(self, seed, n=2000, K=4, d=2, taste=(0.8, -0.3)):
        rng = np.random.default_rng(seed)
        self.arms = rng.standard_normal((n, K, d))
        angle = np.linspace(0.0, 3.0, n) + rng.uniform(0, 7)
        theta = np.c_[np.cos(angle), np.sin(angle)]
        self.means = np.einsum("nkd,nd->nk", self.arms, theta)
        logits = self.arms @ taste
        self.logging = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        running = self.logging.cumsum(axis=1)
        self.chosen = (rng.random((n, 1)) > running).sum(axis=1).clip(0, K - 1)
        rows = np.arange(n)
        self.rewards = self.means[rows, self.chosen] + SIGMA * rng.standard_normal(n)
        self.propensities = self.logging[rows, self.chosen]
        other = np.exp(self.arms @ [-0.5, 1.0])
        self.target = other / other.sum(axis=1, keepdims=True)

    @property
    def log(self):
        return self.arms, self.chosen, self.rewards, self.propensities


def model(discount=0.98):
    return wsbnb.WSBPosterior(
        prior_mean=[0.1, 0.0], prior_cov=[2.0, 1.5], noise_std=SIGMA, discount=discount
    )


def test_formulas_by_hand():
    w = World(0, n=300)
    table = wsbnb.off_policy(w.target, *w.log, model=model(), least=1)
    rows = np.arange(300)
    weight = w.target[rows, w.chosen] / w.propensities
    assert table.loc["IPS", "value"] == pytest.approx(np.mean(weight * w.rewards))
    snips = weight @ w.rewards / weight.sum()
    assert table.loc["SNIPS", "value"] == pytest.approx(snips)
    size = weight.sum() ** 2 / (weight**2).sum()
    np.testing.assert_allclose(table["effective_size"].iloc[1:], size)
    np.testing.assert_allclose(table["mean_weight"].iloc[1:], weight.mean())
    post, terms = model(), []
    for t in range(300):
        q = w.arms[t] @ post.mean
        k = w.chosen[t]
        terms.append(w.target[t] @ q + weight[t] * (w.rewards[t] - q[k]))
        post.update(w.arms[t, k], w.rewards[t])
    assert table.loc["DR", "value"] == pytest.approx(np.mean(terms))
    assert (table["refused"] == "").all()


def test_rounds_with_different_numbers_of_arms():
    """Arms that nobody would play change nothing, nor does their absence."""
    w = World(3, n=300)
    rng = np.random.default_rng(0)
    there = rng.random((300, 4)) < 0.6
    rounds = np.arange(300)
    there[rounds, w.chosen] = True
    sets = [arms[mask] for arms, mask in zip(w.arms, there)]
    assert len({len(arms) for arms in sets}) > 2
    chosen = there.cumsum(axis=1)[rounds, w.chosen] - 1
    target = w.target * there / (w.target * there).sum(axis=1, keepdims=True)
    left = np.zeros((300, 4))
    for t in rounds:
        left[t, : len(sets[t])] = target[t, there[t]]
    full = wsbnb.off_policy(target, *w.log, model=model(), least=1)
    some = (w.rewards, w.propensities)
    found = wsbnb.off_policy(left, sets, chosen, *some, model=model(), least=1)
    numbers = ["value", "se", "effective_size", "mean_weight"]
    for name in ("IPS", "SNIPS", "DR"):
        expected = full.loc[name, numbers].to_numpy(float)
        np.testing.assert_allclose(found.loc[name, numbers].to_numpy(float), expected)
    with outside_on_purpose():
        policy = wsbnb.LinearPolicy(model(), Thompson(), rng=1)
    die = np.array([rng.integers(len(arms)) for arms in sets])
    fair = np.array([1 / len(arms) for arms in sets])
    paid = np.array([w.means[t, there[t]][k] for t, k in enumerate(die)])
    paid += SIGMA * rng.standard_normal(300)
    table = wsbnb.off_policy(policy, sets, die, paid, fair, draws=50, least=1)
    assert (table["refused"] == "").all()
    last = [len(arms) for arms in sets].index(3)
    left[last] = [0.5, 0.2, 0.2, 0.1]
    with pytest.raises(
        ValueError, match=f"target must be 0.*0.1 there in round {last}"
    ):
        wsbnb.off_policy(left, sets, chosen, *some)


def test_a_model_of_clicks_predicts_probabilities():
    """The sum of the terms of DR, by hand, with a logistic model."""
    w = World(4, n=200)
    clicks = (w.rewards > 0.0).astype(float)
    words = dict(prior_mean=[0.2, 0.0], prior_cov=[3.0, 2.0], discount=0.97)
    log = w.arms, w.chosen, clicks, w.propensities
    table = wsbnb.off_policy(
        w.target, *log, model=wsbnb.LogisticPosterior(**words), least=1
    )
    post, terms = wsbnb.LogisticPosterior(**words), []
    for t, k in enumerate(w.chosen):
        q = np.array([post.predict(x)[0] for x in w.arms[t]])
        weight = w.target[t, k] / w.propensities[t]
        terms.append(w.target[t] @ q + weight * (clicks[t] - q[k]))
        post.update(w.arms[t, k], clicks[t])
    assert table.loc["DR", "value"] == pytest.approx(np.mean(terms))


def test_intervals_cover_the_truth_under_drift():
    """95 % intervals, 40 worlds: at least 33 hits, which a method that covers 95 %
    misses once in two thousand times; and the model makes them shorter."""
    names = ["IPS", "SNIPS", "DR"]
    hits, widths = np.zeros(3), np.zeros(3)
    for seed in range(40):
        w = World(100 + seed, n=1000)
        truth = (w.target * w.means).sum(axis=1).mean()
        table = wsbnb.off_policy(w.target, *w.log, model=model()).loc[names]
        hits += ((table["low"] <= truth) & (truth <= table["high"])).to_numpy()
        widths += (table["high"] - table["low"]).to_numpy()
    assert (hits >= 33).all(), hits
    assert widths[2] < 0.7 * widths[0]


def test_replay_covers_the_truth():
    hits = 0
    for seed in range(40):
        w = World(200 + seed, n=1000, taste=(0.0, 0.0))  # a fair die was thrown
        truth = (w.target * w.means).sum(axis=1).mean()
        row = wsbnb.off_policy(w.target, *w.log).loc["replay"]
        hits += row["low"] <= truth <= row["high"]
        assert row["effective_size"] == pytest.approx(250, abs=70)
    assert hits >= 33, hits


def test_a_learning_policy_is_valued_along_the_log():
    """What it would play next, given the log so far, has a value that is known."""
    post = model(0.95)
    hits = 0
    for seed in range(8):
        w = World(seed, n=400, K=2)
        policy = wsbnb.LinearPolicy(post, Thompson(), rng=seed)
        table = wsbnb.off_policy(policy, *w.log, seed=seed, least=30)
        twin, truth = policy.copy(), []
        for t in range(400):
            truth.append(twin.propensities(w.arms[t]) @ w.means[t])
            twin.update(w.arms[t, w.chosen[t]], w.rewards[t])
        truth = np.mean(truth)
        hits += table.loc["DR", "low"] <= truth <= table.loc["DR", "high"]
        assert abs(table.loc["DR", "value"] - truth) < 0.15
        assert policy.rounds == 0.0  # it was copied
    assert hits >= 5  # of 8; 95 % intervals have fewer once in two thousand times


def test_replay_lets_a_policy_learn_from_its_own_choices():
    w = World(3, n=1000, taste=(0.0, 0.0))
    learnt = []

    class Spy(wsbnb.LinearPolicy):
        def update(self, x, reward, decay=True, age=0):
            learnt.append(reward)
            super().update(x, reward, decay, age)

    spy = Spy(model(0.95), Thompson(), rng=1)
    table = wsbnb.off_policy(spy, *w.log, draws=5)
    kept = int(table.loc["replay", "effective_size"])
    assert table.loc["replay", "value"] == pytest.approx(np.mean(learnt[:kept]))
    assert len(learnt) == kept + 1000
    assert table.loc["replay", "value"] > w.rewards.mean() + 0.3
    assert spy.rounds == 0.0


def test_target_equal_to_the_logger_has_the_value_of_the_log():
    w = World(5)
    table = wsbnb.off_policy(w.logging, *w.log)
    np.testing.assert_allclose(table.loc[["IPS", "SNIPS"], "value"], w.rewards.mean())
    np.testing.assert_allclose(table.loc["IPS", "effective_size"], 2000)
    assert "DR" not in table.index  # no model was given


def test_too_little_is_refused():
    w = World(6, n=200)
    certain = np.eye(4)[np.zeros(200, dtype=int)]
    table = wsbnb.off_policy(certain, *w.log, model=model())
    assert table["refused"].str.contains("effective rounds; at least 100").all()
    assert table["value"].isna().all() and table["low"].isna().all()
    assert (table["effective_size"] < 100).all()


def test_as_many_effective_rounds_as_are_asked_for_are_enough():
    fair, chosen = np.full((100, 2), 0.5), np.arange(100) % 2
    log = np.eye(2), chosen, np.sqrt(np.arange(100.0)), np.full(100, 0.5)
    table = wsbnb.off_policy(fair, *log, least=100)
    assert table.loc["IPS", ["effective_size", "refused"]].tolist() == [100.0, ""]
    many = wsbnb.off_policy(fair, *log, least=101)
    assert many.loc["IPS", "refused"].startswith("100 effective rounds")


def test_a_target_that_never_played_has_no_effective_round():
    other = np.tile([0.0, 1.0], (150, 1))
    log = np.eye(2), np.zeros(150, int), np.arange(150.0), np.full(150, 0.5)
    table = wsbnb.off_policy(other, *log, least=0.5)
    assert (table["effective_size"] == 0.0).all() and table["value"].isna().all()
    assert (table["refused"] == "0 effective rounds; at least 0.5 are needed").all()


@pytest.mark.parametrize("propensity", [1e-150, 0.25, 0.5])
def test_a_log_that_cannot_be_is_refused(propensity):
    """Always the same arm, which is said to be rare: every weight is the same."""
    log = np.eye(2), np.zeros(300, int), np.arange(300.0) % 7 * 1e-3
    target = np.tile([1.0, 0.0], (300, 1))
    table = wsbnb.off_policy(target, *log, np.full(300, propensity))
    assert table.loc["IPS", "effective_size"] == pytest.approx(300)
    words = f"the mean weight is {1 / propensity:.3g} and not 1"
    assert table.loc["IPS", "refused"].startswith(words)


def test_weights_of_one_up_to_rounding_are_not_suspicious():
    """0.1 + 0.2 is not 0.3, and no bootstrap of a constant would forgive it."""
    log = np.ones((1, 1)), np.zeros(300, int), np.arange(300.0) % 7
    table = wsbnb.off_policy(np.ones((300, 1)), *log, np.full(300, 1.0 - 2**-53))
    assert (table["refused"] == "").all()
    np.testing.assert_allclose(table["value"], np.mean(np.arange(300) % 7))


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.6])
def test_the_spread_of_snips_is_that_of_a_quotient(factor):
    """The terms are the jackknife's pseudo-values of the quotient, up to 1/n."""
    rng = np.random.default_rng(5)
    w = factor * rng.gamma(2.0, 0.5, size=400)
    rewards = 5.0 + w + rng.normal(size=400)
    whole = w @ rewards / w.sum()
    left = (w @ rewards - w * rewards) / (w.sum() - w)
    pseudo = 400 * whole - 399 * left
    terms = offpolicy._series(w, None, rewards)["SNIPS"]
    assert terms.mean() == pytest.approx(whole)
    np.testing.assert_allclose(terms, pseudo, rtol=0.0, atol=0.05 * terms.std())


def test_replay_keeps_arms_as_often_as_the_target_plays_them():
    """Also where the log prefers some: what is kept is thinned to the rarest arm."""
    rng = np.random.default_rng(0)
    logging, target = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    chosen = rng.choice(3, 60_000, p=logging)
    table = np.tile(target, (60_000, 1))
    log = offpolicy._Log(np.eye(3), chosen, np.arange(3.0)[chosen], logging[chosen])
    kept = offpolicy._replayed(None, table, log, np.random.default_rng(1))
    share = np.bincount(kept.astype(int)) / len(kept)
    error = np.sqrt(target * (1 - target) / len(kept))
    assert np.abs((share - target) / error).max() < 4.0
    assert len(kept) / 60_000 == pytest.approx(0.1, rel=0.05)


def test_rewards_that_are_all_equal_have_no_interval():
    """No click among a hundred does not mean that there never is one."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 2, 600)
    clicks = np.where((chosen == 1) & (rng.random(600) < 0.1), 1.0, 0.0)
    first, second = np.tile([1.0, 0.0], (600, 1)), np.tile([0.0, 1.0], (600, 1))
    log = np.eye(2), chosen, clicks, np.full(600, 0.5)
    table = wsbnb.off_policy(first, *log)
    assert (table["value"] == 0.0).all()
    assert table[["se", "low", "high"]].isna().all(axis=None)
    words = f"no interval: all {(chosen == 0).sum()} rewards that count are 0"
    assert table.loc["IPS", "refused"] == words
    assert (wsbnb.off_policy(second, *log)["refused"] == "").all()


def test_wrong_propensities_are_noticed():
    w = World(7)
    arms, chosen, rewards, p = w.log
    table = wsbnb.off_policy(w.target, arms, chosen, rewards, np.sqrt(p), model=model())
    wrong = table.loc[["IPS", "SNIPS", "DR"]]
    assert wrong["refused"].str.contains("mean weight is").all()
    assert wrong["value"].isna().all()


def test_arms_that_the_log_never_played_are_noticed():
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 2, 3000)  # never the third
    target = np.tile([0.4, 0.2, 0.4], (3000, 1))
    table = wsbnb.off_policy(
        target, np.eye(3), chosen, rng.random(3000), np.full(3000, 0.5)
    )
    assert table.loc["IPS", "refused"].startswith("the mean weight is 0.")


BAD = {
    "arms must have shape": {"arms": np.ones(3)},
    "arms must have a set for each": {"arms": np.ones((2, 4, 2))},
    "arms must be finite": {"arms": np.full((4, 2), np.nan)},
    "chosen must be whole": {"chosen": [0.0, 1.0, 2.0]},
    "chosen must have one entry": {"chosen": [0, 1]},
    "chosen must lie between 0 and 3": {"chosen": [0, 1, 4]},
    "rewards must be finite": {"rewards": [0.0, np.nan, 1.0]},
    r"propensities must lie in \(0, 1\]": {"propensities": [0.5, 0.0, 1.0]},
    "propensities must have length 3": {"propensities": [0.5]},
    "target must hold probabilities": {"target": np.full((3, 4), 0.3)},
    "entry of 0.2 and a sum of 0.8": {"target": np.full((3, 4), 0.2)},
    "entry of 0.0 and a sum of 0.8": {
        "target": np.diag([1.1, 0.8, 1.0]) @ np.eye(3, 4)
    },
    "a sum of 1.3": {"target": np.diag([1.3, 0.8, 1.0]) @ np.eye(3, 4)},
    "arms must have shape.* got shape .0, 2.": {"arms": np.ones((0, 2))},
    "rewards over propensities": {
        "rewards": [-1e149, 1.0, 2.0],
        "propensities": [1e-3, 0.5, 1.0],
    },
    "rewards must": {"rewards": [-1e200, 1.0, 2.0]},
    "target must have 4 columns": {"target": np.full((3, 2), 0.5)},
    "target must have dimension 2": {"target": zoo.make("WSBLinTS", 3)},
    "model must be a WSBPosterior": {"model": "linear"},
    "draws must be at least 1": {"draws": 0},
    "least must be positive": {"least": 0},
    "level must lie strictly": {"level": 1.5},
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input(words):
    good = {
        "target": np.full((3, 4), 0.25),
        "arms": np.ones((4, 2)),
        "chosen": [0, 1, 2],
        "rewards": [0.0, 1.0, 2.0],
        "propensities": [0.5, 0.5, 1.0],
    }
    with pytest.raises((ValueError, TypeError), match=words), outside_on_purpose():
        wsbnb.off_policy(**{**good, **BAD[words]})
