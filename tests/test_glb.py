"""The weighted strategy for generalised linear bandits, against SciPy and its proof."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

import wsbnb
from wsbnb.kernels import logistic
from wsbnb.paper.glb import GLBWeightUCB

GAMMA, LAM, L = 0.9, 0.7, 1.3


def make(S, d=3, **changes):
    words = dict(dim=d, discount=GAMMA, horizon=100, param_bound=S, arm_bound=L)
    return GLBWeightUCB(**{**words, "regularization": LAM, **changes})


def clicks(seed, n=60, d=3, size=3.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X *= L / np.linalg.norm(X, axis=1, keepdims=True)
    theta = rng.standard_normal(d)
    theta *= size / np.linalg.norm(theta)
    return X, (rng.random(n) < expit(X @ theta)).astype(float), theta


def dense(X, r, S, gamma=GAMMA):
    """Weights, V, c and g, written out."""
    w = gamma ** np.arange(len(r) - 1, -1, -1.0)
    V = LAM * np.eye(X.shape[1]) + sum(a * np.outer(x, x) for a, x in zip(w, X))
    c = expit(L * S) * expit(-L * S)

    def g(theta):
        return LAM * c * theta + X.T @ (w * (expit(X @ theta) - r))

    return w, V, c, g


@pytest.mark.parametrize(("d", "S"), [(1, 0.4), (1, 9.0), (3, 1.0), (3, 8.0), (5, 2.0)])
def test_estimate_is_the_constrained_minimum(d, S):
    """Where the likelihood has its maximum in the ball, and where it has not."""
    X, r, _ = clicks(d, d=d)
    policy = make(S, d)
    policy.update(X, r)
    found = policy.estimate
    w, V, c, g = dense(X, r, S)

    def norm(theta):
        return float(g(theta) @ np.linalg.solve(V, g(theta)))

    ball = {"type": "ineq", "fun": lambda theta: S * S - theta @ theta}
    best = min(
        (
            optimize.minimize(
                norm, start, method="SLSQP", constraints=ball, options={"ftol": 1e-14}
            )
            for start in 0.3 * np.random.default_rng(0).standard_normal((4, d))
        ),
        key=lambda end: end.fun,
    )
    assert np.linalg.norm(found) <= S * (1 + 1e-9)
    assert norm(found) <= best.fun + 1e-10
    np.testing.assert_allclose(found, best.x, atol=2e-4)
    if best.fun < 1e-10:  # the maximum of the weighted likelihood itself

        def loss(theta):
            eta = X @ theta
            fit = w @ (np.logaddexp(0.0, eta) - r * eta)
            return fit + LAM * c * theta @ theta / 2

        np.testing.assert_allclose(found, optimize.minimize(loss, found).x, atol=1e-4)


@pytest.mark.parametrize("paid", [0.0, 1.0])
@pytest.mark.parametrize("start", [8.0, -8.0, 29.0])
def test_a_step_that_is_too_long_is_shortened(paid, start):
    """Far out the curve is flat, and a whole step leads to where the norm is larger."""
    x, ridge, theta = np.ones((1, 1)), 1e-3, np.array([start])
    words = x, np.array([paid]), np.ones(1), ridge, np.eye(1), 30.0
    logistic.estimate_in_ball(*words, theta, 1e-12)

    def g(t):
        return ridge * t + expit(t) - paid

    assert theta[0] == pytest.approx(optimize.brentq(g, -30, 30, xtol=1e-14), abs=1e-9)


@pytest.mark.parametrize(("S", "scale"), [(1.0, 1.0), (4.0, 0.3)])
def test_scores_are_the_formula(S, scale):
    X, r, _ = clicks(7)
    policy = make(S, radius_scale=scale, delta=0.02)
    policy.update(X, r)
    w, V, c, _ = dense(X, r, S)
    noise = 2 * np.log(100 / 0.02) + 3 * np.log(1 + L**2 * (w @ w) / (LAM * 3))
    beta = np.sqrt(LAM) * c * S + 0.5 * np.sqrt(noise)
    arms = clicks(8, n=6)[0]
    widths = np.sqrt([x @ np.linalg.inv(V) @ x for x in arms])
    expected = expit(arms @ policy.estimate) + scale * 0.5 / c * beta * widths
    np.testing.assert_allclose(policy.scores(arms), expected, rtol=1e-9)
    assert policy.pull(arms) == expected.argmax()


def test_radius_at_the_defaults_by_hand():
    """S = L = lambda = 1, delta = 0.05: three observations without forgetting."""
    policy = GLBWeightUCB(dim=2, discount=1.0, horizon=100)
    policy.update(np.eye(2)[[0, 1, 0]], [1, 0, 1])
    c = expit(1) * expit(-1)
    noise = 2 * np.log(100 / 0.05) + 2 * np.log(1 + 3 / 2)
    assert policy.slope == pytest.approx(c)
    assert policy.radius == pytest.approx((c + np.sqrt(noise) / 2) / (2 * c))


def test_radius_covers_where_nothing_moves():
    """In every round of 20 worlds, though 1 in 20 may fail; and not by miles."""
    tightest = np.inf
    for seed in range(20):
        X, r, theta = clicks(100 + seed, n=100, size=1.0)
        policy = make(1.0)
        for x, paid in zip(X, r):
            policy.update(x, paid)
            off = np.abs(expit(X[:5] @ policy.estimate) - expit(X[:5] @ theta))
            bound = policy.radius * policy._widths(X[:5])
            tightest = min(tightest, (bound / off).min())
    assert 1.0 < tightest < 100.0


def test_time_passes_or_not():
    X, r, _ = clicks(9, n=4)
    still, moving = make(2.0), make(2.0)
    still.update(X, r, decay=False)
    moving.update(X, r)
    w, V, _, g = dense(X, r, 2.0, gamma=1.0)
    np.testing.assert_allclose(still._matrix(), V)
    assert np.abs(still.estimate - moving.estimate).max() > 1e-3
    old = make(2.0)
    old.update(np.tile(X[:1], (400, 1)), np.zeros(400))
    assert len(old._paid) == 175  # 0.9**175 < 1e-8
    copy = old.copy()
    copy.reset()
    assert not copy.estimate.any() and old.estimate.any()


def test_plays_in_a_world_of_clicks():
    env = wsbnb.environments
    world = wsbnb.Environment(
        path=env.StationaryPath(),
        arms=env.FixedArms(5),
        noise=env.Clicks(),
        horizon=60,
        dim=2,
        param_bound=2.0,
    )
    policy = make(2.0, d=2, radius_scale=0.05)
    run = wsbnb.simulate({"it": policy}, world, trials=2, progress=False)
    assert 0.0 < run.final_table().to_numpy().min()


@pytest.mark.parametrize("reward", [-0.1, 1.1, np.nan])
def test_rewards_are_clicks(reward):
    policy = make(1.0)
    with pytest.raises(ValueError, match="reward must"):
        policy.update(np.ones(3), reward)
    assert not policy.estimate.any()
