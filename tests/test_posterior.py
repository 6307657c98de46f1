"""Posteriors against dense closed forms, SciPy, an independent library and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config
from scipy import stats

from wsbnb import weights as rules
from wsbnb.posterior import WRLS, WSBPosterior, batch_posterior


def problem(seed, n, d):
    """Arms, rewards and an anisotropic prior with a mean off zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    rewards = X @ rng.standard_normal(d) + 0.4 * rng.standard_normal(n)
    root = rng.standard_normal((d, d)) + 2.0 * np.diag(np.arange(1.0, d + 1))
    return X, rewards, 3.0 * rng.standard_normal(d), root @ root.T / d


def posterior(mu0, cov0, rule, noise_std=0.4):
    """For a rule of forgetting, or a discount."""
    forgetting = {"discount" if isinstance(rule, float) else "forgetting": rule}
    return WSBPosterior(
        prior_mean=mu0, prior_cov=cov0, noise_std=noise_std, **forgetting
    )


def seesaw(s, t):
    """Weights that fall and rise again, of which no recursion knows."""
    return 0.6 + 0.4 * np.cos(np.asarray(t - s, dtype=float))


def dense_conditional(X, rewards, weights, prior_mean, prior_cov, noise_std):
    """Condition one big Gaussian on the rewards; the noise of row s is sigma^2 / w_s.

    Uses neither a precision matrix nor the information form.
    """
    kept = weights > 0
    X, rewards, weights = X[kept], rewards[kept], weights[kept]
    reward_cov = X @ prior_cov @ X.T + np.diag(noise_std**2 / weights)
    gain = np.linalg.solve(reward_cov, X @ prior_cov).T
    mean = prior_mean + gain @ (rewards - X @ prior_mean)
    return mean, prior_cov - gain @ X @ prior_cov


def assert_same(post, mean, cov, rtol=1e-11):
    np.testing.assert_allclose(post.mean, mean, rtol=rtol, atol=rtol * abs(mean).max())
    np.testing.assert_allclose(post.cov, cov, rtol=rtol, atol=rtol * abs(cov).max())


# --- the recursion is the batch formula -------------------------------------------

RULES = [
    rules.Exponential(0.9),
    rules.Exponential(1.0),
    rules.Exponential(1e-3),
    rules.SlidingWindow(1),
    rules.SlidingWindow(7),
    rules.SlidingWindow(500),
    rules.Restart(1),
    rules.Restart(7),
    rules.Polynomial(1.5, of="round"),
    rules.Polynomial(0.7, of="age"),
    rules.CustomWeights(seesaw),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_every_round_equals_the_batch(rule, d):
    X, rewards, mu0, cov0 = problem(d, 40, d)
    post = posterior(mu0, cov0, rule)
    for t in range(1, 41):
        post.update(X[t - 1], rewards[t - 1])
        row = rule.row(t)
        mean, cov = batch_posterior(X[:t], rewards[:t], row, mu0, cov0, 0.4)
        assert_same(post, mean, cov, rtol=1e-12)
        np.testing.assert_allclose(
            post.shift, np.linalg.solve(cov, mean), rtol=1e-9, atol=1e-9
        )
        assert post.rounds == t
        assert post.weight_sum == pytest.approx(row.sum(), rel=1e-13)
        assert post.squared_weight_sum == pytest.approx((row**2).sum(), rel=1e-13)


@pytest.mark.parametrize("n, d", [(0, 3), (1, 1), (1, 4), (3, 8), (30, 3)])
def test_batch_equals_one_big_gaussian(n, d):
    X, rewards, mu0, cov0 = problem(n, n, d)
    weights = rules.Polynomial(0.7).row(n)
    got_mean, got_cov = batch_posterior(X, rewards, weights, mu0, cov0, 0.4)
    mean, cov = dense_conditional(X, rewards, weights, mu0, cov0, 0.4)
    np.testing.assert_allclose(got_mean, mean, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(got_cov, cov, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(got_cov, got_cov.T)


def test_batch_takes_zero_weights_and_a_rule():
    X, rewards, mu0, cov0 = problem(1, 20, 3)
    rule = rules.SlidingWindow(4)
    for weights in (rule, rule.row(20), rule.row(20).tolist()):
        mean, cov = batch_posterior(X, rewards, weights, mu0, cov0, 0.4)
        last = batch_posterior(X[-4:], rewards[-4:], np.ones(4), mu0, cov0, 0.4)
        np.testing.assert_allclose(mean, last[0], rtol=1e-12)
        np.testing.assert_allclose(cov, last[1], rtol=1e-12)


@pytest.mark.parametrize("d", [1, 4])
def test_no_forgetting_is_bayesian_linear_regression(d):
    """Generalised least squares on the data plus d pseudo-observations of the prior."""
    X, rewards, mu0, cov0 = problem(8, 25, d)
    post = posterior(mu0, cov0, 1.0)
    post.update(X, rewards)
    whiten = np.linalg.inv(np.linalg.cholesky(cov0))
    stacked = np.vstack([X / 0.4, whiten])
    target = np.concatenate([rewards / 0.4, whiten @ mu0])
    mean = np.linalg.lstsq(stacked, target, rcond=None)[0]
    inverse = np.linalg.pinv(stacked)
    assert_same(post, mean, inverse @ inverse.T)


def test_one_dimension_by_hand():
    post = posterior([2.0], [[0.5]], 0.8, 0.5)
    # P0 = 2, h0 = 4, 1/sigma^2 = 4.
    post.update([0.5], 3.0)
    # P = 2 + 4 / 4 = 3,  h = 4 + 4 * 0.5 * 3 = 10
    assert post.precision[0, 0] == pytest.approx(3.0, rel=1e-15)
    assert post.mean[0] == pytest.approx(10.0 / 3.0, rel=1e-15)
    post.update([-1.0], 1.0)
    # P = .8*3 + .2*2 + 4 = 6.8,  h = .8*10 + .2*4 - 4 = 4.8
    assert post.precision[0, 0] == pytest.approx(6.8, rel=1e-15)
    assert post.mean[0] == pytest.approx(4.8 / 6.8, rel=1e-15)
    assert post.cov[0, 0] == pytest.approx(1 / 6.8, rel=1e-15)
    assert post.weight_sum == pytest.approx(1.8)
    assert post.squared_weight_sum == pytest.approx(1.64)


def test_independent_library_computes_the_same_recursion():
    """bayesianbandits' StabilizedForgetting, prior N(0, I / alpha).

    Its first round forgets without putting the prior back, so its precision lacks
    (1 - gamma) alpha I at round 1, and gamma^(t-1) of that at round t.
    """
    bandits = pytest.importorskip("bayesianbandits")
    alpha, noise_std, gamma, d = 0.7, 0.4, 0.9, 3
    theirs = bandits.NormalRegressor(
        alpha=alpha,
        beta=1 / noise_std**2,
        forgetting=bandits.StabilizedForgetting(gamma),
    )
    ours = posterior(np.zeros(d), np.eye(d) / alpha, gamma, noise_std)
    X, rewards, _, _ = problem(5, 400, d)
    for t, (x, r) in enumerate(zip(X, rewards, strict=True), start=1):
        theirs.partial_fit(x[None, :], np.array([r]))
        ours.update(x, r)
        missing = gamma ** (t - 1) * (1 - gamma) * alpha * np.eye(d)
        upper = np.triu(np.asarray(theirs.cov_inv_))  # it fills this half only
        np.testing.assert_allclose(
            upper, np.triu(ours.precision - missing), rtol=1e-12, atol=1e-13
        )
        h = ours.precision @ ours.mean
        expected = np.linalg.solve(ours.precision - missing, h)
        np.testing.assert_allclose(theirs.coef_, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(theirs.coef_, ours.mean, rtol=1e-12)  # long forgotten


# --- clocks, batches, delays ------------------------------------------------------

CLOCKS = [
    rules.Exponential(0.9),
    rules.Restart(5),
    rules.Polynomial(1.5, of="round"),
    rules.Polynomial(1.5, of="age"),
    rules.CustomWeights(seesaw),
]
WITH_WINDOW = [*CLOCKS, rules.SlidingWindow(5)]


@pytest.mark.parametrize("rule", WITH_WINDOW, ids=repr)
def test_many_rows_are_rounds_in_order(rule):
    X, rewards, mu0, cov0 = problem(2, 17, 3)
    one, many = posterior(mu0, cov0, rule), posterior(mu0, cov0, rule)
    for x, r in zip(X, rewards, strict=True):
        one.update(x, r)
    many.update(X[:6], rewards[:6])
    many.update(X[6:6], rewards[6:6])  # no rows, no change
    many.update(X[6:], rewards[6:])
    np.testing.assert_allclose(many.precision, one.precision, rtol=1e-14)
    np.testing.assert_allclose(many.mean, one.mean, rtol=1e-13)
    assert many.rounds == one.rounds == 17


@pytest.mark.parametrize("rule", CLOCKS, ids=repr)
def test_decay_then_add_is_one_update(rule):
    X, rewards, mu0, cov0 = problem(2, 17, 3)
    one, two = posterior(mu0, cov0, rule), posterior(mu0, cov0, rule)
    for x, r in zip(X, rewards, strict=True):
        one.update(x, r)
        two.decay()
        two.update(x, r, decay=False)
        np.testing.assert_array_equal(one.precision, two.precision)
        np.testing.assert_array_equal(one.mean, two.mean)
        assert one.rounds == two.rounds
        assert one.squared_weight_sum == two.squared_weight_sum


@pytest.mark.parametrize("rule", WITH_WINDOW, ids=repr)
def test_steps_add_up(rule):
    X, rewards, mu0, cov0 = problem(2, 8, 2)
    one, two = posterior(mu0, cov0, rule), posterior(mu0, cov0, rule)
    for post in (one, two):
        post.update(X, rewards)
    one.decay(3)
    for _ in range(3):
        two.decay()
    np.testing.assert_allclose(one.precision, two.precision, rtol=1e-14)
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-12)
    assert one.rounds == two.rounds == 11
    before = one.precision
    one.decay(0)
    np.testing.assert_allclose(one.precision, before, rtol=1e-15)


def test_own_clock_matches_batch_with_elapsed_times():
    """Exponential weights on real-valued times, two observations at one time."""
    X, rewards, mu0, cov0 = problem(4, 6, 3)
    times = np.array([0.0, 0.7, 0.7, 2.5, 2.5, 4.0])
    post = posterior(mu0, cov0, 0.8)
    now = 0.0
    for x, r, time in zip(X, rewards, times, strict=True):
        post.decay(time - now)
        post.update(x, r, decay=False)
        now = time
    weights = 0.8 ** (times[-1] - times)
    mean, cov = batch_posterior(X, rewards, weights, mu0, cov0, 0.4)
    assert_same(post, mean, cov)
    assert post.weight_sum == pytest.approx(weights.sum())
    assert post.squared_weight_sum == pytest.approx((weights**2).sum())
    assert post.rounds == pytest.approx(4.0)


def test_long_silence_returns_to_the_prior():
    X, rewards, mu0, cov0 = problem(4, 6, 3)
    for rule in (rules.Exponential(0.9), rules.Restart(5), rules.SlidingWindow(5)):
        post = posterior(mu0, cov0, rule)
        post.update(X, rewards)
        post.decay(10_000)
        np.testing.assert_allclose(post.mean, mu0, rtol=1e-10)
        np.testing.assert_allclose(post.cov, cov0, rtol=1e-10)


def test_a_window_moves_by_empty_rounds():
    X, rewards, mu0, cov0 = problem(4, 3, 2)
    post = posterior(mu0, cov0, rules.SlidingWindow(5))
    post.update(X[0], rewards[0])
    post.decay(2)
    post.update(X[1:], rewards[1:])
    assert post.weight_sum == post.squared_weight_sum == 3
    post.decay()  # the first is now 5 old
    mean, cov = batch_posterior(X[1:], rewards[1:], np.ones(2), mu0, cov0, 0.4)
    assert_same(post, mean, cov)
    assert post.weight_sum == 2 and post.rounds == 6


def test_a_restart_comes_after_the_last_round_of_its_block():
    X, rewards, mu0, cov0 = problem(4, 1, 2)
    post = posterior(mu0, cov0, rules.Restart(5))
    post.update(X[0], rewards[0], decay=False)  # before round 1: of the first block
    post.decay(5)
    assert post.weight_sum == 1  # still in rounds 1..5
    post.decay()
    assert post.weight_sum == 0
    np.testing.assert_allclose(post.mean, mu0, rtol=1e-12)


# --- late rewards -----------------------------------------------------------------


@pytest.mark.parametrize("rule", CLOCKS, ids=repr)
@pytest.mark.parametrize("d", [1, 3])
def test_late_rewards_get_the_weight_they_would_have_by_now(rule, d):
    """Rounds tick by themselves; the reward of round s comes s % 4 rounds later."""
    n = 23
    X, rewards, mu0, cov0 = problem(5, n, d)
    post = posterior(mu0, cov0, rule)
    for now in range(1, n + 4):
        post.decay()
        for s in range(n, 0, -1):  # any order
            if s + s % 4 == now:
                post.update(X[s - 1], rewards[s - 1], decay=False, age=now - s)
    weights = rule.row(n + 3)[:n]
    mean, cov = batch_posterior(X, rewards, weights, mu0, cov0, 0.4)
    assert_same(post, mean, cov)
    assert post.weight_sum == pytest.approx(weights.sum(), rel=1e-12)
    assert post.squared_weight_sum == pytest.approx((weights**2).sum(), rel=1e-12)


def test_the_age_of_several_rows_is_that_of_each():
    """With decay=True a round passes for each, and each was played `age` before it."""
    X, rewards, mu0, cov0 = problem(5, 3, 2)
    post = posterior(mu0, cov0, rules.Exponential(0.8))
    post.decay(9)
    post.update(X, rewards, age=2.5)  # this rule takes parts of a round
    weights = 0.8 ** (2.5 + np.array([2.0, 1.0, 0.0]))
    assert_same(post, *batch_posterior(X, rewards, weights, mu0, cov0, 0.4))
    assert post.rounds == 12


def test_older_than_the_first_round():
    """Exponential weights go on; the other recursions begin with round 1."""
    x, counts = [1.0], {}
    for rule in (
        rules.Exponential(0.9),
        rules.Restart(5),
        rules.Polynomial(2.0, of="round"),
    ):
        post = posterior([0.0], 1.0, rule)
        post.decay(2)
        post.update(x, 1.0, decay=False, age=7)
        counts[type(rule).__name__] = post.weight_sum
    expected = {"Exponential": 0.9**7, "Restart": 1.0, "Polynomial": 0.0}
    assert counts == pytest.approx(expected)


# --- WRLS -------------------------------------------------------------------------


def test_wrls_minimises_its_objective():
    lam, gamma, d, n = 0.3, 0.9, 3, 30
    X, rewards, _, _ = problem(6, n, d)
    ridge = WRLS(dim=d, regularization=lam, discount=gamma)
    ridge.update(X, rewards)
    root = np.sqrt(gamma ** np.arange(n - 1.0, -1.0, -1.0))[:, None]
    stacked = np.vstack([root * X, np.sqrt(lam) * np.eye(d)])
    target = np.concatenate([root[:, 0] * rewards, np.zeros(d)])
    best = np.linalg.lstsq(stacked, target, rcond=None)[0]
    np.testing.assert_allclose(ridge.theta_hat, best, rtol=1e-12)
    np.testing.assert_allclose(ridge.V, stacked.T @ stacked, rtol=1e-12)
    np.testing.assert_allclose(ridge.b, stacked.T @ target, rtol=1e-12)


def test_wrls_is_the_posterior_with_a_ridge_for_a_prior():
    """Whatever sigma is: V, b and the estimate are the same, the covariance is not."""
    lam, gamma, noise_std, d = 0.3, 0.9, 0.15**0.5, 3
    X, rewards, _, _ = problem(6, 40, d)
    ridge = WRLS(dim=d, regularization=lam, discount=gamma)
    twin = WRLS(dim=d, regularization=lam, discount=gamma, noise_std=noise_std)
    post = posterior(np.zeros(d), 0.15 / lam * np.eye(d), gamma, noise_std)
    np.testing.assert_allclose(twin.prior_cov, 0.15 / lam * np.eye(d), rtol=1e-14)
    for x, r in zip(X, rewards, strict=True):
        for each in (ridge, twin, post):
            each.update(x, r)
        np.testing.assert_allclose(twin.theta_hat, ridge.theta_hat, rtol=1e-12)
        np.testing.assert_allclose(twin.V, ridge.V, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(twin.b, ridge.b, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(
            twin.cov, 0.15 * np.linalg.inv(ridge.V), rtol=1e-11, atol=1e-14
        )
        assert_same(twin, post.mean, post.cov)
        assert twin.squared_weight_sum == ridge.squared_weight_sum
    assert twin.regularization == lam and twin.noise_std == noise_std


def test_printed_prior_of_remark_2_does_not_give_wrls():
    """d = 1, x = r = lambda = 1, sigma^2 = 0.15: WRLS says 1/2."""
    noise_std, lam = 0.15**0.5, 1.0
    ridge = WRLS(dim=1, regularization=lam, discount=0.9)
    ridge.update([1.0], 1.0)
    printed = posterior([0.0], [[1 / (lam * noise_std**2)]], 0.9, noise_std)
    printed.update([1.0], 1.0)
    corrected = posterior([0.0], [[noise_std**2 / lam]], 0.9, noise_std)
    corrected.update([1.0], 1.0)
    assert ridge.theta_hat[0] == pytest.approx(0.5, rel=1e-14)
    assert corrected.mean[0] == pytest.approx(0.5, rel=1e-14)
    assert printed.mean[0] == pytest.approx(1 / (1 + 0.15**2), rel=1e-14)
    assert round(printed.mean[0], 3) == 0.978


# --- units ------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1e-3, 7.0, 1e4])
def test_reward_units(c):
    X, rewards, mu0, cov0 = problem(9, 30, 3)
    post = posterior(mu0, cov0, 0.9)
    scaled = posterior(c * mu0, c**2 * cov0, 0.9, c * 0.4)
    post.update(X, rewards)
    scaled.update(X, c * rewards)
    assert_same(scaled, c * post.mean, c**2 * post.cov)
    mean, std = post.predict(X)
    mean_c, std_c = scaled.predict(X)
    np.testing.assert_allclose(mean_c, c * mean, rtol=1e-11, atol=1e-12 * c)
    np.testing.assert_allclose(std_c, c * std, rtol=1e-12)


@pytest.mark.parametrize("c", [1e-3, 7.0, 1e4])
def test_reward_units_of_wrls(c):
    X, rewards, _, _ = problem(9, 30, 3)
    settings = dict(dim=3, regularization=0.3, discount=0.9)
    post = WRLS(**settings, noise_std=0.4)
    scaled = WRLS(**settings, noise_std=c * 0.4)
    post.update(X, rewards)
    scaled.update(X, c * rewards)
    np.testing.assert_allclose(scaled.theta_hat, c * post.theta_hat, rtol=1e-12)
    assert_same(scaled, c * post.mean, c**2 * post.cov)


# --- numerical health -------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 6),
    spread=st.floats(0.0, 10.0),
    gamma=st.floats(0.5, 1.0),
    noise=st.floats(1e-3, 1e3),
)
def test_ill_conditioned_priors(seed, d, spread, gamma, noise):
    """Prior variances over `spread` decades: errors measured in the posterior norm."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    variances = 10.0 ** rng.uniform(-spread / 2, spread / 2, d)
    cov0 = (basis * variances) @ basis.T
    cov0 = (cov0 + cov0.T) / 2
    mu0 = rng.standard_normal(d)
    X, rewards = rng.standard_normal((20, d)), rng.standard_normal(20)
    post = posterior(mu0, cov0, gamma, noise)
    post.update(X, rewards)
    mean, cov = batch_posterior(X, rewards, rules.Exponential(gamma), mu0, cov0, noise)
    # L' cov L should be the identity and the means equal in posterior deviations,
    # up to rounding times the condition of the precision.
    root = np.linalg.cholesky(post.precision)
    condition = np.linalg.cond(post.precision)
    size = 1.0 + np.abs(root.T @ mean).max()
    tol = 1e-14 * d * condition + 1e-13
    assert np.abs(root.T @ cov @ root - np.eye(d)).max() < tol
    assert np.abs(root.T @ (post.mean - mean)).max() < tol * size
    np.testing.assert_array_equal(post.cov, post.cov.T)
    np.testing.assert_array_equal(post.precision, post.precision.T)
    assert np.linalg.eigvalsh(post.cov)[0] > -1e-15 * np.linalg.eigvalsh(post.cov)[-1]


@pytest.mark.parametrize("gamma", [0.95, 0.9999, 1.0])
def test_a_million_rounds(gamma):
    """The recursion alone, then symmetry, definiteness and a fresh batch sum."""
    n, d, noise_std = 1_000_000, 3, 0.4
    if config.DISABLE_JIT:
        n = 20_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * [1.0, 0.1, 1e-3]  # one direction hardly excited
    rewards = X @ [1.0, -2.0, 3.0] + noise_std * rng.standard_normal(n)
    mu0, cov0 = np.array([1.0, 0.0, -1.0]), np.diag([1.0, 4.0, 0.25])
    post = posterior(mu0, cov0, gamma, noise_std)
    post.update(X, rewards)
    P = post.precision
    np.testing.assert_array_equal(P, P.T)
    assert np.linalg.eigvalsh(P)[0] > 0
    np.testing.assert_allclose(post.cov @ P, np.eye(d), atol=1e-9)
    mean, cov = batch_posterior(
        X, rewards, rules.Exponential(gamma), mu0, cov0, noise_std
    )
    assert_same(post, mean, cov, rtol=1e-9 if gamma == 1 else 1e-11)


@pytest.mark.parametrize(
    "size, reward", [(1e6, 1.0), (1e6, 0.0), (1.0, 1e12), (1e5, 1e9)]
)
def test_window_recovers_from_a_huge_observation(size, reward):
    """Subtracting it would leave its rounding error; the rebuild removes that."""
    X, rewards, mu0, cov0 = problem(3, 60, 3)
    X[10] *= size
    rewards[10] *= reward
    post = posterior(mu0, cov0, rules.SlidingWindow(20))
    for t in range(60):
        post.update(X[t], rewards[t])
        if t >= 30:
            rows = slice(t - 19, t + 1)
            mean, cov = batch_posterior(
                X[rows], rewards[rows], np.ones(20), mu0, cov0, 0.4
            )
            assert_same(post, mean, cov, rtol=1e-11)


def test_window_over_many_lengths():
    X, rewards, mu0, cov0 = problem(3, 5000, 2)
    post = posterior(mu0, cov0, rules.SlidingWindow(37))
    post.update(X, rewards)
    ones = np.ones(37)
    mean, cov = batch_posterior(X[-37:], rewards[-37:], ones, mu0, cov0, 0.4)
    assert_same(post, mean, cov, rtol=1e-12)
    assert post.weight_sum == post.squared_weight_sum == 37


# --- density, prediction, sampling ------------------------------------------------


def test_logpdf_against_scipy():
    X, rewards, mu0, cov0 = problem(11, 15, 4)
    post = posterior(mu0, cov0, 0.9)
    for _ in range(2):
        dense = stats.multivariate_normal(post.mean, post.cov)
        points = post.sample(rng=1, size=5)
        np.testing.assert_allclose(
            post.logpdf(points), dense.logpdf(points), rtol=1e-9, atol=1e-9
        )
        assert post.logpdf(points[0]) == pytest.approx(dense.logpdf(points[0]))
        assert isinstance(post.logpdf(points[0]), float)
        post.update(X, rewards)


def test_posterior_is_the_tempered_likelihood():
    """Log prior plus weighted log likelihoods, up to a constant (Remark 1)."""
    X, rewards, mu0, cov0 = problem(12, 9, 3)
    post = posterior(mu0, cov0, 0.7)
    post.update(X, rewards)
    weights = 0.7 ** np.arange(8.0, -1.0, -1.0)
    points = np.random.default_rng(0).standard_normal((6, 3))
    tempered = (
        stats.multivariate_normal(mu0, cov0).logpdf(points)
        + stats.norm(points @ X.T, 0.4).logpdf(rewards) @ weights
    )
    gap = post.logpdf(points) - tempered
    np.testing.assert_allclose(gap, gap[0], rtol=1e-9)


def test_predict_against_the_covariance():
    X, rewards, mu0, cov0 = problem(13, 15, 3)
    post = posterior(mu0, cov0, 0.9)
    post.update(X, rewards)
    latent = np.sqrt(np.einsum("ki,ij,kj->k", X, post.cov, X))
    mean, std = post.predict(X, noise=False)
    np.testing.assert_allclose(mean, X @ post.mean)
    np.testing.assert_allclose(std, latent, rtol=1e-12)
    np.testing.assert_allclose(post.predict(X)[1], np.hypot(latent, 0.4), rtol=1e-12)
    one = post.predict(X[0])
    assert one == pytest.approx((mean[0], np.hypot(latent[0], 0.4)))
    assert all(isinstance(value, float) for value in one)


def test_predictive_coverage():
    """Parameters drawn from the prior, rewards from the model: 80 % means 80 %."""
    rng = np.random.default_rng(20)
    mu0, cov0 = np.array([1.0, -2.0]), np.array([[1.0, 0.6], [0.6, 2.0]])
    half = stats.norm.ppf(0.9)
    trials, inside = 3000, 0
    for _ in range(trials):
        theta = rng.multivariate_normal(mu0, cov0)
        X = rng.standard_normal((5, 2))
        post = posterior(mu0, cov0, 1.0, 0.7)
        post.update(X[:4], X[:4] @ theta + 0.7 * rng.standard_normal(4))
        mean, std = post.predict(X[4])
        new = X[4] @ theta + 0.7 * rng.standard_normal()
        inside += abs(new - mean) < half * std
    assert abs(inside / trials - 0.8) < 4 * np.sqrt(0.8 * 0.2 / trials)


def test_sampling_moments():
    X, rewards, mu0, cov0 = problem(14, 15, 3)
    post = posterior(mu0, cov0, 0.9)
    post.update(X, rewards)
    n = 200_000
    draws = post.sample(rng=3, size=n)
    root = np.linalg.cholesky(post.precision)
    white = (draws - post.mean) @ root  # standard normal if the sampler is right
    assert np.abs(white.mean(axis=0)).max() < 5 / np.sqrt(n)
    assert np.abs(np.cov(white.T) - np.eye(3)).max() < 5 * np.sqrt(2 / n)


def test_sampling_uses_the_transposed_factor_and_the_generator():
    X, rewards, mu0, cov0 = problem(14, 15, 3)
    post = posterior(mu0, cov0, 0.9)
    post.update(X, rewards)
    z = np.random.default_rng(5).standard_normal(3)
    root = np.linalg.cholesky(post.precision)
    expected = post.mean + np.linalg.inv(root).T @ z
    np.testing.assert_allclose(post.sample(5), expected, rtol=1e-11)
    np.testing.assert_array_equal(post.sample(5), post.sample(5))
    rng = np.random.default_rng(5)
    assert (post.sample(rng) != post.sample(rng)).any()
    assert post.sample(rng).shape == (3,)
    assert post.sample(rng, size=1).shape == (1, 3)
    assert post.sample(rng, size=0).shape == (0, 3)
