"""Probabilities of the arms against counted pulls and against other formulas."""

import numpy as np
import pytest
from scipy import integrate, stats

import wsbnb
from tests import zoo
from wsbnb.exploration import RandomisedOptimism, Thompson
from wsbnb.policies import chances
from wsbnb.policies.theory import outside_on_purpose


def taught(name, d, **changes):
    with outside_on_purpose():
        policy = zoo.make(name, d, **{"noise_std": 3.0, **changes})
        X, rewards = zoo.problem(4, 4, d, 3)
        policy.update(X[:, 0], rewards[:, 0])
    return policy


def counted(policy, X, pulls):
    policy = policy.copy(np.random.default_rng(77))
    return np.bincount([policy.pull(X) for _ in range(pulls)], minlength=len(X)) / pulls


def agree(found, seen, pulls):
    """Within five binomial standard errors, and a law."""
    assert found.sum() == pytest.approx(1.0) and (found >= 0.0).all()
    error = np.sqrt(found * (1 - found) / pulls)
    assert (np.abs(found - seen) <= 5 * error + 1e-9).all()


RANDOMISED = ["DRandLinUCB", "WSBRandLinUCB", "DLinTS", "WSBLinTS", "LinTS", "Uniform"]


@pytest.mark.parametrize("name", RANDOMISED)
def test_counted_pulls_agree(name):
    busy = []
    for d, K in [(1, 4), (3, 1), (3, 2), (3, 6), (2, 9)]:
        wide = {"scale": 2.5} if "scale" in zoo.settings(name, d) else {}
        busy.append(check_counted(taught(name, d, **wide), d, K))
    assert max(busy) > 1  # there is something to count


def check_counted(policy, d, K):
    X = np.random.default_rng(K).standard_normal((K, d))
    exact = policy.propensities(X, draws=200_000)
    agree(exact, counted(policy, X, 3000), 3000)
    return (exact > 0.02).sum()


@pytest.mark.parametrize("law", ["rectified", "gaussian", "half-normal", "radius"])
@pytest.mark.parametrize("scale", [0.0, 0.4, 1.7])
def test_every_law_of_the_radius(law, scale):
    words = {"perturbation": law, "scale": scale, "penalty": "static"}
    policy = taught("WSBRandLinUCB", 3, **words)
    X = np.random.default_rng(3).standard_normal((7, 3))
    before = policy.scores(X)
    agree(policy.propensities(X), counted(policy, X, 4000), 4000)
    assert (policy.scores(X) == before).all()


@pytest.mark.parametrize(
    "name", ["LinUCB", "WSBLinUCB", "SWLinUCB", "Greedy", "Oracle"]
)
def test_certain_arms(name):
    policy = zoo.make(name) if name == "Oracle" else taught(name, 3)
    X = np.random.default_rng(3).standard_normal((7, 3))
    found = policy.propensities(X)
    assert found[policy.pull(X)] == 1.0 and found.sum() == 1.0


def test_envelope_against_integration():
    rng = np.random.default_rng(0)
    for _ in range(20):
        means, widths = rng.standard_normal(5), rng.random(5)
        up, down = rng.choice([0.0, 0.5, 1.0], 2) * [1.0, rng.choice([-1.0, 1.0])]

        def arm(z, means=means, widths=widths, up=up, down=down):
            return (means + (up * max(z, 0) + down * max(-z, 0)) * widths).argmax()

        z = np.linspace(-8, 8, 4_001)
        which = np.array([arm(one) for one in z])
        expected = [
            integrate.trapezoid((which == k) * stats.norm.pdf(z), z) for k in range(5)
        ]
        found = chances.random_radius(means, widths, up, down)
        np.testing.assert_allclose(found, expected, atol=3e-3)


def test_the_lowest_of_equal_scores():
    """Scores of zero, and scores that differ by rounding, however large they are."""
    assert chances.best(np.zeros(3)) == 0
    assert chances.best(np.array([-2.0, -1.0, -1.0])) == 1
    for unit in (1e-6, 1.0, 1e6):
        assert chances.best(unit * np.array([0.5, 1.0 - 1e-13, 1.0])) == 1
        assert chances.best(unit * np.array([0.5, 1.0 - 1e-11, 1.0])) == 2


def test_lines_that_begin_together():
    """The steepest is on top at once, the lowest index among those."""
    found = chances.random_radius(np.zeros(4), np.array([1.0, 3.0, 3.0, 2.0]), 1.0, 0.0)
    assert found.tolist() == [0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("mean, first", [(-0.5, 0.0), (0.0, 1.0), (0.5, 1.0)])
def test_two_arms_of_which_one_is_better_for_certain(mean, first):
    assert chances.two_arms(mean, 0.0).tolist() == [first, 1.0 - first]


@pytest.mark.parametrize("numbers", [1, 7, 100])
def test_pieces_of_draws_are_one_count(numbers, monkeypatch):
    """Memory decides how many are drawn at a time, and nothing else."""
    X, rng = np.random.default_rng(0).standard_normal((4, 3)), np.random.default_rng
    whole = chances.by_draws(X, np.zeros(3), np.eye(3), 60, rng(1))
    monkeypatch.setattr(chances, "_NUMBERS", numbers)
    pieces = chances.by_draws(X, np.zeros(3), np.eye(3), 60, rng(1))
    assert pieces.tolist() == whole.tolist() and whole.sum() == pytest.approx(1.0)


def test_draws_that_nobody_waits_for():
    with pytest.raises(ValueError, match="draws must be at most 10000000"):
        taught("WSBLinTS", 3).propensities(np.eye(3), draws=10**7 + 1)


def test_equal_arms_share_nothing():
    """Ties go to the lowest index, as in a pull."""
    X = np.array([[-1.0, 0.1], [1.0, 0.2], [1.0, 0.2]])
    for name in ("WSBRandLinUCB", "WSBLinTS"):
        policy = taught(name, 2)
        found = policy.propensities(X)
        assert found[2] == 0.0 and found[1] > 0.1
        assert counted(policy, X, 500)[2] == 0.0
    assert taught("WSBLinTS", 2).propensities(X[1:]).tolist() == [1.0, 0.0]


def test_scale_is_respected():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    small, large = (
        wsbnb.WSBLinTS(
            prior_mean=[0.5, 0.0],
            prior_cov=[1.0, 3.0],
            noise_std=0.5,
            discount=1.0,
            scale=scale,
        ).propensities(X)
        for scale in (0.5, 2.0)
    )
    assert small[0] == pytest.approx(stats.norm.cdf(0.5 / (0.5 * 2.0)))
    assert large[0] == pytest.approx(stats.norm.cdf(0.5 / (2.0 * 2.0)))


def test_mixture_of_members():
    with outside_on_purpose():
        base = wsbnb.LinearPolicy(
            taught("WSBLinTS", 2).posterior, RandomisedOptimism(scale=0.5)
        )
        policy = wsbnb.DiscountMixture(base, discounts=[0.7, 1.0], rng=0)
        X, rewards = zoo.problem(4, 12, 2, 3)
        policy.update(X[:, 0], rewards[:, 0])
    X = np.random.default_rng(1).standard_normal((4, 2))
    assert 0.01 < policy.weights[0] < 0.99
    agree(policy.propensities(X), counted(policy, X, 4000), 4000)


def test_own_policies_are_counted_by_copies():
    class Stubborn(wsbnb.WSBLinTS):
        def _choose(self, X):
            return 2 if self._rng.random() < 0.3 else 0

    policy = Stubborn(
        prior_mean=[0.0], prior_cov=1.0, noise_std=0.5, discount=1.0, rng=3
    )
    before = policy._rng.bit_generator.state
    found = policy.propensities(np.ones((4, 1)), draws=2000)
    agree(np.array([0.7, 0.0, 0.3, 0.0]), found, 2000)
    assert policy._rng.bit_generator.state == before
    with pytest.raises(ValueError, match="draws must be at least 1"):
        policy.propensities(np.ones((4, 1)), draws=0)
    with pytest.raises(ValueError, match="X must have 1 columns"):
        policy.propensities(np.ones((4, 2)))


def test_local_norm_is_that_of_the_draws():
    """A window needs no squared weights; a discount does."""
    X = np.eye(2)
    for rule in (wsbnb.weights.SlidingWindow(5), wsbnb.weights.Exponential(0.8)):
        post = wsbnb.WSBPosterior(
            prior_mean=[0.2, 0.0], prior_cov=[1.0, 2.0], noise_std=0.4, forgetting=rule
        )
        policy = wsbnb.LinearPolicy(post, Thompson(scale=0.8, norm="local"))
        policy.update([[1.0, 0.3], [0.2, 1.0]], [0.3, 0.1])
        agree(policy.propensities(X), counted(policy, X, 3000), 3000)
