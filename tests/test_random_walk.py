"""Thompson sampling on a Kalman filter, against the filter in its textbook form."""

import numpy as np
import pytest

import wsbnb
from tests import zoo
from wsbnb import exploration
from wsbnb.weights import RandomWalk

RATE = 0.02


def posterior(d, rate=RATE, **changes):
    mean, cov = zoo.prior(d)
    known = dict(prior_mean=mean, prior_cov=cov, noise_std=zoo.SIGMA)
    return wsbnb.WSBPosterior(**{**known, **changes}, forgetting=RandomWalk(rate))


def kalman(mean, cov, Q, X, rewards, variance, steps):
    """Predict, then correct by the gain: covariance form, nothing inverted."""
    m, C = mean.copy(), cov.copy()
    for x, r, s in zip(X, rewards, steps, strict=True):
        C = C + s * Q
        gain = C @ x / (x @ C @ x + variance)
        m = m + gain * (r - x @ m)
        C = C - np.outer(gain, x @ C)
    return m, C


@pytest.mark.parametrize("rate", [0.0, 1e-6, RATE, 3.0])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 9, 17])
def test_posterior_is_the_kalman_filter(d, rate):
    rng = np.random.default_rng(d)
    X, rewards = rng.standard_normal((30, d)), rng.standard_normal(30)
    post = posterior(d, rate)
    steps = np.ones(30)
    for t, (x, r) in enumerate(zip(X, rewards, strict=True)):
        if t == 12:
            post.decay(2.5)
            steps[t] = 3.5
        if t % 5 == 4:
            steps[t] = 0.0
        post.update(x, r, decay=t % 5 != 4)
    mean, cov = zoo.prior(d)
    m, C = kalman(mean, cov, rate * cov, X, rewards, zoo.SIGMA**2, steps)
    np.testing.assert_allclose(post.cov, C, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(post.mean, m, rtol=1e-8, atol=1e-10)
    assert post.rounds == steps.sum()
    assert post.weight_sum == post.squared_weight_sum == 30


def test_one_big_gaussian():
    """The filter equals conditioning the whole path on all rewards at once."""
    d, n, rng = 2, 12, np.random.default_rng(1)
    X, rewards = rng.standard_normal((n, d)), rng.standard_normal(n)
    mean, cov = zoo.prior(d)
    post = posterior(d)
    post.update(X, rewards)
    age = 1.0 + RATE * np.arange(1, n + 1)  # prior variances at each round
    joint = np.minimum.outer(age, age)  # of a random walk
    K = joint * (X @ cov @ X.T)
    gain = np.linalg.solve(K + zoo.SIGMA**2 * np.eye(n), joint[:, -1:] * (X @ cov))
    np.testing.assert_allclose(post.mean, mean + (rewards - X @ mean) @ gain)
    expected = age[-1] * cov - (joint[:, -1:] * (X @ cov)).T @ gain
    np.testing.assert_allclose(post.cov, expected)


@pytest.mark.parametrize("learnt", [0, 8])
@pytest.mark.parametrize("rate, steps", [(1.0, 1e15), (3.0, 1e8), (1e10, 2.5)])
def test_a_long_silence_keeps_its_digits(rate, steps, learnt):
    """What is left of the precision is a small difference if it is taken at once."""
    rng = np.random.default_rng(0)
    X, rewards = rng.standard_normal((learnt, 3)), rng.standard_normal(learnt)
    mean, cov = zoo.prior(3)
    post = posterior(3, rate)
    if learnt:
        post.update(X, rewards, decay=False)
    m, C = kalman(mean, cov, 0.0, X, rewards, zoo.SIGMA**2, np.zeros(learnt))
    post.decay(steps)
    assert post.rounds == steps
    np.testing.assert_allclose(post.cov, C + steps * rate * cov, rtol=1e-12)
    np.testing.assert_allclose(post.mean, m, rtol=1e-10)


def test_long_runs_stay_definite():
    """The subtraction in the precision does not wear it out."""
    rng = np.random.default_rng(0)
    post = posterior(6, 1e-3)
    X = rng.standard_normal((20_000, 6)) * 10.0 ** rng.uniform(-2, 1, (20_000, 1))
    X[:, 5] = 0.0  # never seen: the doubt grows
    rewards = rng.standard_normal(20_000)
    post.update(X, rewards)
    mean, cov = zoo.prior(6)
    m, C = kalman(mean, cov, 1e-3 * cov, X, rewards, zoo.SIGMA**2, np.ones(20_000))
    np.testing.assert_allclose(post.cov, C, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(post.mean, m, rtol=1e-4, atol=1e-5)
    assert post.cov[5, 5] > cov[5, 5]


def test_policy_keeps_the_promises():
    policy = zoo.make("RandomWalkLinTS")
    assert len(wsbnb.check_policy(policy)) >= 16
    plain = zoo.make("RandomWalkLinTS", d=1, rate=0.1)
    for _ in range(5):
        assert plain.pull([[1.0]]) == 0
        plain.update([1.0], 0.3)


def test_scores_are_a_draw():
    policy = zoo.make("RandomWalkLinTS", rng=3)
    X, rewards = zoo.problem(0, 9, 3, 1)
    policy.update(X[:, 0], rewards[:, 0])
    arms = np.random.default_rng(1).standard_normal((7, 3))
    z = np.random.default_rng(3).standard_normal(3)
    R = np.linalg.cholesky(policy.posterior.precision).T
    theta = policy.posterior.mean + 0.7 * np.linalg.solve(R, z)
    np.testing.assert_allclose(policy.scores(arms), arms @ theta)


def test_compiled_rounds_are_those_by_hand():
    env = wsbnb.paper_environment("slow", 3, horizon=120, n_arms=5, arms="redrawn")
    policy = zoo.make("RandomWalkLinTS")
    played = wsbnb.simulate([policy], env, trials=1, progress=False, points=120)
    world = env.world(wsbnb.trial_seed(0, 0))
    player, total = policy.clone(world.generator("exploration")), []
    for block in world.blocks(40):
        for X, theta, noise in zip(block.arms, block.theta, block.noise, strict=True):
            X = X.T
            k = player.pull(X)
            player.update(X[k], X[k] @ theta + noise)
            total.append((X @ theta).max() - X[k] @ theta)
    np.testing.assert_allclose(played.regret[0, 0], np.cumsum(total), rtol=1e-9)


def test_file_keeps_every_bit(tmp_path):
    policy = zoo.make("RandomWalkLinTS")
    X, rewards = zoo.problem(0, 9, 3, 4)
    policy.update(X[:, 0], rewards[:, 0])
    policy.save(tmp_path / "walk.json")
    again = wsbnb.load(tmp_path / "walk.json")
    assert repr(again) == repr(policy) and again.rate == 0.02
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        assert again.pull(arms) == k
        for each in (policy, again):
            each.update(arms[k], paid[k])
    np.testing.assert_array_equal(again.posterior.cov, policy.posterior.cov)
    composed = wsbnb.LinearPolicy(posterior(3), exploration.Thompson(scale=0.7), rng=0)
    composed.save(tmp_path / "parts.json")
    assert wsbnb.load(tmp_path / "parts.json").posterior.forgetting == RandomWalk(RATE)


def test_a_doubt_beyond_the_prior_can_be_loaded(tmp_path):
    policy = zoo.make("RandomWalkLinTS")
    policy.update([1.0, 0.0, 0.0], 1.0)
    policy.decay(100)
    policy.save(tmp_path / "walk.json")
    again = wsbnb.load(tmp_path / "walk.json")
    np.testing.assert_array_equal(again.posterior.precision, policy.posterior.precision)


@pytest.mark.parametrize("rate", [-0.1, np.nan, np.inf, "x", None])
def test_bad_rate(rate):
    with pytest.raises((TypeError, ValueError), match="rate"):
        zoo.make("RandomWalkLinTS", rate=rate)


def test_what_has_no_meaning_is_refused():
    rule, post = RandomWalk(RATE), posterior(2)
    for ask in (lambda: rule.row(3), lambda: rule.sum(3), lambda: rule(1, 2)):
        with pytest.raises(ValueError, match="no weights"):
            ask()
    with pytest.raises(ValueError, match="factor"):
        rule.factor(3)
    assert rule.memory == 0 and rule.streaming and not rule.is_admissible(5)
    with pytest.raises(ValueError, match="age must be 0"):
        post.update([1.0, 0.0], 1.0, age=2)
    with pytest.raises(ValueError, match="squared_weights"):
        posterior(2, squared_weights=True)
    radius = exploration.Optimism(horizon=10)
    for way in (
        radius,
        exploration.Optimism(horizon=10, penalty="static"),
        exploration.RandomisedOptimism(perturbation="radius", optimism=radius),
        exploration.Thompson(norm="local"),
    ):
        with pytest.raises(ValueError, match="exploration must have no confidence"):
            wsbnb.LinearPolicy(post, way)
    wsbnb.LinearPolicy(post, exploration.RandomisedOptimism()).pull(np.eye(2))
    with pytest.raises(TypeError, match="base"):
        wsbnb.ChangePoints(zoo.make("RandomWalkLinTS"))
