"""Numbers at the settings people use: zero mean, identity prior, two dimensions.

Tests with odd settings everywhere miss what only the usual ones reach, and the other
way round: with all constants equal to 1 a square root or a power cannot be seen.
"""

import math

import numpy as np
import pytest
from scipy import stats

import wsbnb
from tests.kernels import from_python
from wsbnb import bounds
from wsbnb.kernels import explore, memory

ARMS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
SIGMA, GAMMA, S = 0.5, 0.95, 2.0


def ucb(**changes):
    """WSB-LinUCB as in the paper's tables: zero mean, identity, the default penalty."""
    usual = dict(prior_mean=np.zeros(2), prior_cov=np.eye(2), noise_std=SIGMA)
    usual |= dict(discount=GAMMA, horizon=1000, param_bound=S)
    return wsbnb.WSBLinUCB(**{**usual, **changes})


def learnt(policy, rounds=60):
    """Rounds on three fixed arms in turn; returns the arms played."""
    played = ARMS[np.arange(rounds) % 3]
    for x in played:
        policy.pull(ARMS)
        policy.update(x, 0.3)
    return played


def dense_precision(played, gamma=GAMMA, prior=1.0):
    w = gamma ** np.arange(len(played) - 1, -1, -1.0)
    return prior * np.eye(2) + (w[:, None] * played).T @ played / SIGMA**2


# --- the radius -----------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["cxv", "triangle", "exact"])
def test_penalty_with_a_zero_mean(penalty):
    """``sqrt(lambda_max) S``, far from 1 after some rounds, for all three forms."""
    policy = ucb(penalty=penalty)
    P = dense_precision(learnt(policy))
    top = 1.0 / np.linalg.eigvalsh(P)[0]  # P0 is the identity
    assert top < 0.1
    said = policy.explain(ARMS)["penalty"]
    slack = 1e-9 if penalty == "exact" else 0.06
    assert math.sqrt(top) * S * (1 - 1e-12) <= said <= math.sqrt(top) * S * (1 + slack)


def test_radius_at_the_defaults():
    policy = ucb()
    played = learnt(policy)
    said = policy.explain(ARMS)
    squares = sum(GAMMA ** (2 * s) for s in range(len(played)))
    noise = math.sqrt(2 * math.log(1000 / 0.05) + 2 * math.log1p(squares / SIGMA**2))
    assert said["radius"] - said["penalty"] == pytest.approx(noise, rel=1e-12)
    P = dense_precision(played)
    widths = np.sqrt(np.einsum("kd,kd->k", ARMS, np.linalg.solve(P, ARMS.T).T))
    np.testing.assert_allclose(said["width"], widths, rtol=1e-12)
    h = 0.3 * (GAMMA ** np.arange(59, -1, -1.0)) @ played / SIGMA**2
    np.testing.assert_allclose(said["mean"], ARMS @ np.linalg.solve(P, h), rtol=1e-10)
    np.testing.assert_allclose(
        said["score"], said["mean"] + said["radius"] * said["width"], rtol=1e-12
    )


def test_radius_without_a_horizon():
    """The share of round t is delta / (2 t (1 + log t)^2)."""
    policy = ucb(horizon=None)
    learnt(policy, rounds=9)
    said = policy.explain(ARMS)
    t = 10.0
    squares = sum(GAMMA ** (2 * s) for s in range(9))
    log_term = math.log(2 * t * (1 + math.log(t)) ** 2 / 0.05)
    noise = math.sqrt(2 * log_term + 2 * math.log1p(squares / SIGMA**2))
    assert said["radius"] - said["penalty"] == pytest.approx(noise, rel=1e-12)


@pytest.mark.parametrize("bound, proved", [(2e-15, False), (4.5e-15, True)])
def test_margin_of_the_proof(bound, proved):
    """P = P0 = I: the shift leaves 1 - 1/b on the diagonal, the margin takes 3.7e-15.

    It is 4 d eps trace(P): large enough for the rounding of a factorisation, and not
    larger than that.
    """
    identity = memory.packed(np.eye(2))
    spare = memory.new_work(2, 1, spare=2).spare
    factor = from_python(explore.shifted_factor)
    assert factor(identity, identity, 2, 1.0 / (1.0 - bound), spare) == proved


def tightened(top, bound, step, trials, slack, small):
    """What a few trials do when the true eigenvalue `top` answers them."""
    for _ in range(trials):
        trial = bound * (1 - step)
        if trial > top:
            bound, step = trial, min(2 * step, 0.5)
            if step < small:
                break
        else:
            step = max(step / 2, slack / 2)
            if step <= max(slack, small):
                break
    return bound, step


@pytest.mark.parametrize("top", [0.99, 0.9, 0.5, 0.02])
@pytest.mark.parametrize("start", [0.001, 0.01, 0.025, 0.03, 0.2, 0.5])
def test_steps_of_the_certified_bound(top, start):
    """Which values are tried, and when a round has had enough, on P0 = I, P = I/top."""
    sums, prior = memory.packed(np.eye(2) / top), memory.packed(np.eye(2))
    spare = memory.new_work(2, 1, spare=2).spare
    tighten = from_python(explore.tighten)
    bound = np.array([1.0, start, 1.0])
    expected = (1.0, start)
    for _ in range(12):
        tighten(bound, prior, sums, 2, 6, 1e-3, 0.05, spare)
        expected = tightened(top, *expected, 6, 1e-3, 0.05)
        assert bound[:2] == pytest.approx(expected, rel=1e-12)
    assert bound[2] == 1.0


def test_how_closely_a_round_follows():
    """Six trials a round, a thousandth, five per cent: the settings of the paper."""
    assert (explore.TRIALS, explore.SLACK, explore.SMALL) == (6, 1e-3, 0.05)
    assert explore.TIE == 1e-12 and explore.ACCURACY == 1e-13
    policy = ucb()
    learnt(policy, 5)
    bound, step = policy.posterior._state.bound[:2]
    top = 1.0
    f = GAMMA
    expected = (1.0, 0.01)
    for n in range(5):
        P = dense_precision(ARMS[np.arange(n) % 3]) if n else np.eye(2)
        top = 1.0 / np.linalg.eigvalsh(P)[0]
        b, s = tightened(top * (1 + 1e-14), *expected, 6, 1e-3, 0.05)
        expected = (min(1.0, 1.0 / (f / b + (1 - f))), s)
    assert (bound, step) == pytest.approx(expected, rel=1e-12)


# --- least squares, sums and tables ---------------------------------------------------


@pytest.mark.parametrize("ridge, sigma", [(1.0, 1.0), (4.0, 1.0), (4.0, 0.5)])
def test_prior_of_least_squares(ridge, sigma):
    """Precision lambda / sigma^2: the covariance at sigma = 1 is I / lambda."""
    least = wsbnb.WRLS(dim=2, regularization=ridge, discount=1.0, noise_std=sigma)
    np.testing.assert_allclose(least.prior_cov, sigma**2 / ridge * np.eye(2))
    np.testing.assert_allclose(least.V, ridge * np.eye(2))
    least.update([1.0, 0.0], 2.0)
    np.testing.assert_allclose(least.V, ridge * np.eye(2) + np.diag([1.0, 0.0]))
    np.testing.assert_allclose(least.b, [2.0, 0.0])
    np.testing.assert_allclose(least.theta_hat, [2.0 / (ridge + 1.0), 0.0])


@pytest.mark.parametrize("power", [1, 2, 3])
def test_potential_sum_is_a_sum_of_squared_widths(power):
    """With a matrix of weights, with a discount, and by inverting everything."""
    X = np.array([[1.0, 0.0], [0.6, 0.8], [0.6, 0.8], [0.0, 1.0]])
    W = wsbnb.weights.Exponential(0.7).matrix(4)
    expected = X[0] @ X[0]
    for t in range(1, 4):
        P = np.eye(2) + (W[t - 1, :t, None] ** power * X[:t]).T @ X[:t] / SIGMA**2
        expected += X[t] @ np.linalg.inv(P) @ X[t]
    for how in ({"weights": W}, {"discount": 0.7}):
        found = bounds.potential_sum(X, np.eye(2), SIGMA, power=power, **how)
        assert found == pytest.approx(expected, rel=1e-12)


def test_sums_of_weights_by_adding_up():
    for gamma in (0.9, 0.999, 1.0):
        terms = gamma ** np.arange(7.0)
        assert bounds.weight_sum(gamma, 7) == pytest.approx(terms.sum())
        assert bounds.squared_weight_sum(gamma, 7) == pytest.approx((terms**2).sum())
        assert bounds.weight_sum(gamma, 7, power=3) == pytest.approx((terms**3).sum())
        rule = wsbnb.weights.Exponential(gamma)
        assert rule.sum(7) == pytest.approx(terms.sum())
        assert rule.squared_sum(7) == pytest.approx((terms**2).sum())


def test_penalties_of_a_zero_mean_at_the_start():
    """Before the first reward all forms are S over the prior's smallest deviation."""
    cov = np.diag([4.0, 0.25])
    for form in ("exact", "cxv", "triangle"):
        said = bounds.prior_penalty(np.zeros(2), cov, cov, S, form)
        assert said == pytest.approx(S / 0.5)
    assert bounds.prior_penalty_at_start(np.zeros(2), cov, S) == pytest.approx(S / 0.5)


def test_noise_radius_of_the_paper():
    said = bounds.noise_radius(2, SIGMA, 1.0, 0.05, 10.0, np.eye(2), horizon=1000)
    inside = 2 * math.log(1000 / 0.05) + 2 * math.log(1 + 2 * 10.0 / (2 * SIGMA**2))
    assert said == pytest.approx(math.sqrt(inside), rel=1e-14)
    wrls = bounds.noise_radius_wrls(2, SIGMA, 4.0, 1.0, S, 0.05, 10.0, horizon=1000)
    inside = 2 * math.log(1000 / 0.05) + 2 * math.log(1 + 10.0 / (4.0 * 2))
    assert wrls == pytest.approx(SIGMA * math.sqrt(inside) + 2.0 * S, rel=1e-14)


def test_tables_against_scipy():
    rng = np.random.default_rng(2)
    regret = np.cumsum(rng.random((9, 2, 5)), axis=2)
    results = wsbnb.Results(regret, ["a", "b"], np.arange(9), np.arange(1, 6))
    final = regret[:, :, -1]
    table = results.summary()
    for i, name in enumerate("ab"):
        row, values = table.loc[name], final[:, i]
        low, high = stats.t.interval(0.95, 8, values.mean(), stats.sem(values))
        expected = [values.mean(), values.std(ddof=1), stats.sem(values), low, high]
        found = row[["mean", "std", "se", "low", "high"]].to_numpy(dtype=float)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert row["trials"] == 9
    row = results.paired("a").loc["b"]
    test = stats.ttest_rel(final[:, 1], final[:, 0])
    interval = test.confidence_interval(0.95)
    assert row["difference"] == pytest.approx((final[:, 1] - final[:, 0]).mean())
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    assert row["wins"] == (final[:, 1] < final[:, 0]).mean()
    assert row["ratio"] == pytest.approx(final[:, 1].mean() / final[:, 0].mean())


def test_two_trials_have_an_interval_and_one_has_none():
    row = wsbnb.paired_interval([1.0, 4.0], [0.0, 0.0])
    low, high = stats.t.interval(0.95, 1, 2.5, 1.5)
    assert row["se"] == pytest.approx(1.5)
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    one = wsbnb.paired_interval([1.0], [0.0])
    assert one["difference"] == 1.0
    assert all(math.isnan(one[name]) for name in ("se", "low", "high", "ratio"))


@pytest.mark.parametrize("squared", [False, True])
def test_local_norm_of_a_rule_that_remembers_every_round(squared):
    """Widths in ``P^-1 P~ P^-1`` with squared weights, all of it dense."""
    rule = wsbnb.weights.Polynomial(1.0)
    posterior = wsbnb.WSBPosterior(
        prior_mean=np.zeros(2), prior_cov=1.0, noise_std=SIGMA, forgetting=rule
    )
    norm = "local" if squared else "posterior"
    explore_by = wsbnb.exploration.Optimism(horizon=100, norm=norm)
    policy = wsbnb.LinearPolicy(posterior, explore_by)
    played = learnt(policy, 7)
    w = 1.0 / np.arange(7, 0, -1.0)
    P, squares = (
        np.eye(2) + (v[:, None] * played).T @ played / SIGMA**2 for v in (w, w**2)
    )
    inverse = np.linalg.inv(P)
    M = inverse @ squares @ inverse if squared else inverse
    widths = np.sqrt(np.einsum("ki,ij,kj->k", ARMS, M, ARMS))
    np.testing.assert_allclose(policy.explain(ARMS)["width"], widths, rtol=1e-10)
    assert policy.posterior.weight_sum == pytest.approx(w.sum())
    assert policy.posterior.squared_weight_sum == pytest.approx((w**2).sum())
