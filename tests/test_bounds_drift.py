"""Drift bound: true drift parts by direct computation against every form."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wsbnb.bounds import (
    drift_bound,
    drift_bound_path,
    drift_bound_wrls,
    drift_sum_bound,
    surrogate_mean,
    weight_sum,
)


def drift_norm(X, path, w, prior_cov, sigma):
    """The drift part in its norm, from the definition with explicit inverses."""
    precision = np.linalg.inv(prior_cov) + sum(
        wi * np.outer(x, x) / sigma**2 for wi, x in zip(w, X)
    )
    pull = sum(
        wi * x * (x @ (th - path[-1])) / sigma**2 for wi, x, th in zip(w, X, path)
    )
    return np.sqrt(pull @ np.linalg.inv(precision) @ pull)


def random_instance(rng):
    t, d = rng.integers(1, 8), rng.integers(1, 5)
    sigma, L = 10 ** rng.uniform(-1.5, 1.0, 2)
    X = rng.standard_normal((t, d))
    X *= L / np.linalg.norm(X, axis=1, keepdims=True)
    # Smooth, sparse and one-sided paths stress different triangle inequalities.
    steps = rng.standard_normal((t, d)) * (rng.random((t, 1)) < rng.random())
    if rng.random() < 0.5:
        steps = np.abs(steps)
    path = np.vstack([rng.standard_normal(d), steps]).cumsum(axis=0)
    w = rng.random(t) if rng.random() < 0.7 else (rng.random(t) < 0.7) * 1.0
    root = rng.standard_normal((d, d)) * 10 ** rng.uniform(-1, 1, d)
    prior_cov = root @ root.T + 1e-6 * np.trace(root @ root.T) * np.eye(d)
    prior_cov *= 10 ** rng.uniform(-2, 3)
    return X, path, w, L, sigma, (prior_cov + prior_cov.T) / 2


def test_printed_form_fails_and_the_others_hold_on_the_smallest_example():
    sigma, path = 0.15**0.5, np.array([[0.0], [1.0]])
    truth = drift_norm(np.eye(1), path, [1.0], np.eye(1), sigma)
    assert truth == pytest.approx(2.408, abs=5e-4)
    assert drift_bound(path, [1.0], 1.0, sigma, form="printed") == 1.0
    assert truth > 2 * drift_bound(path, [1.0], 1.0, sigma, form="printed")
    assert truth <= drift_bound(path, [1.0], 1.0, sigma, form="corrected")
    assert truth <= drift_bound(path, [1.0], 1.0, sigma, form="sharp")


def test_corrected_and_sharp_hold_on_thousands_of_random_instances():
    rng = np.random.default_rng(7)
    tightest, printed_failures = 0.0, 0
    for _ in range(3000):
        X, path, w, L, sigma, prior_cov = random_instance(rng)
        truth = drift_norm(X, path, w, prior_cov, sigma)
        bounds = [
            drift_bound(path, w, L, sigma, form=form)
            for form in ("printed", "corrected", "sharp")
        ]
        assert truth <= bounds[2] * (1 + 1e-7) + 1e-12
        assert bounds[2] <= bounds[1] * (1 + 1e-12)
        printed_failures += truth > bounds[0] * (1 + 1e-7)
        tightest = max(tightest, truth / bounds[2] if bounds[2] else 0.0)
    # The search is hard enough to refute the printed form and to reach the sharp one.
    assert printed_failures > 100
    assert tightest > 0.98


def test_sharp_form_is_attained_in_the_limit_of_a_wide_prior():
    X, path = np.ones((4, 1)), np.array([[1.0]] * 4 + [[0.0]])
    w = np.array([0.2, 0.5, 0.7, 1.0])
    truth = drift_norm(X, path, w, np.eye(1) * 1e12, 0.3)
    assert truth == pytest.approx(drift_bound(path, w, 1.0, 0.3, form="sharp"), 1e-9)


def test_forms_differ_by_the_factors_they_should():
    rng = np.random.default_rng(0)
    path, w = rng.standard_normal((6, 3)), rng.random(5)
    printed, corrected, sharp = (
        drift_bound(path, w, 1.7, 0.4, form=form)
        for form in ("printed", "corrected", "sharp")
    )
    assert corrected == pytest.approx(printed / 0.4, rel=1e-14)
    assert corrected == pytest.approx(sharp * np.sqrt(3), rel=1e-14)
    by_hand = 1.7 * sum(
        np.sqrt(w[: k + 1].sum()) * np.linalg.norm(path[k] - path[k + 1])
        for k in range(5)
    )
    assert sharp == pytest.approx(by_hand / 0.4, rel=1e-14)


@pytest.mark.parametrize("gamma", [0.3, 0.97, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("form", ["printed", "corrected", "sharp"])
def test_path_agrees_with_single_bounds_and_keeps_the_index_convention(gamma, form):
    rng = np.random.default_rng(3)
    T = 40
    path = rng.standard_normal((T, 3)) * (rng.random((T, 1)) < 0.3)
    path = path.cumsum(axis=0)
    alpha = drift_bound_path(path, gamma, 1.3, 0.6, form)
    assert alpha.shape == (T,) and alpha[0] == 0.0
    for t in range(1, T + 1):  # decision round t sees t - 1 observations
        w = gamma ** np.arange(t - 2, -1.0, -1.0)
        single = drift_bound(path[:t], w, 1.3, 0.6, form)
        assert alpha[t - 1] == pytest.approx(single, rel=1e-11, abs=1e-14)
    W = np.tril(gamma ** (np.arange(T)[:, None] - np.arange(T).astype(float)))
    by_matrix = drift_bound_path(path, None, 1.3, 0.6, form, weights=W)
    np.testing.assert_allclose(by_matrix, alpha, rtol=1e-11, atol=1e-14)


def test_path_of_one_round_has_no_drift():
    np.testing.assert_array_equal(drift_bound_path([[1.0, 2.0]], 0.9, 1.0, 1.0), [0.0])
    assert drift_bound([[1.0, 2.0]], [], 1.0, 1.0) == 0.0


@pytest.mark.parametrize("form", ["corrected", "sharp"])
@pytest.mark.parametrize("gamma", [0.5, 0.95, 1.0])
def test_sum_bound_is_the_worst_path(gamma, form):
    T, rng = 30, np.random.default_rng(5)
    bound = drift_sum_bound(2.0, T, 2, 1.2, 0.3, discount=gamma, form=form)
    W = np.tril(gamma ** (np.arange(T)[:, None] - np.arange(T).astype(float)))
    by_matrix = drift_sum_bound(2.0, T, 2, 1.2, 0.3, weights=W, form=form)
    assert by_matrix == pytest.approx(bound, rel=1e-12)
    single_jumps = []
    for k in range(1, T):
        path = np.zeros((T, 2))
        path[k:, 0] = 2.0
        single_jumps.append(drift_bound_path(path, gamma, 1.2, 0.3, form).sum())
    assert max(single_jumps) == pytest.approx(bound, rel=1e-12)
    for _ in range(20):
        path = rng.standard_normal((T, 2)).cumsum(axis=0)
        path *= 2.0 / np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        assert drift_bound_path(path, gamma, 1.2, 0.3, form).sum() <= bound


def test_printed_sum_is_the_corollary_and_exceeds_the_exact_worst_path():
    closed = drift_sum_bound(3.0, 500, 4, 1.0, 1.0, discount=0.95, form="printed")
    assert closed == pytest.approx(2 * 2 * 3.0 * 0.05**-1.5, rel=1e-12)
    assert drift_sum_bound(3.0, 500, 4, 1.0, 1.0, discount=0.95) <= closed
    infinite = drift_sum_bound(3.0, 500, 4, 1.0, 1.0, discount=1.0, form="printed")
    assert infinite == np.inf
    assert drift_sum_bound(0.0, 9, 4, 1.0, 1.0, discount=1.0, form="printed") == 0.0


def test_wrls_form_is_the_printed_lemma_and_holds():
    rng = np.random.default_rng(11)
    for _ in range(300):
        t, d = rng.integers(1, 8), rng.integers(1, 4)
        gamma, ridge = rng.uniform(0.2, 0.99), 10 ** rng.uniform(-3, 1)
        X = rng.standard_normal((t, d))
        L = np.linalg.norm(X, axis=1).max()
        path = rng.standard_normal((t + 1, d)).cumsum(axis=0)
        k = np.arange(1, t + 1)
        formula = (
            L
            * np.sqrt(d)
            * np.sum(
                np.sqrt(gamma**t)
                * np.sqrt((gamma ** (-1.0 * k) - 1) / (1 - gamma))
                * np.linalg.norm(np.diff(path, axis=0), axis=1)
            )
        )
        printed = drift_bound_wrls(path, gamma, L)
        assert printed == pytest.approx(formula, rel=1e-11)
        assert drift_bound_wrls(path, gamma, L, "corrected") == printed
        w = gamma ** np.arange(t - 1, -1.0, -1.0)
        truth = drift_norm(X, path, w, np.eye(d) / ridge, 1.0)
        sharp = drift_bound_wrls(path, gamma, L, "sharp")
        assert truth <= sharp * (1 + 1e-9) <= printed * (1 + 1e-8)


def test_line_of_the_printed_proof_that_is_false():
    """|x'v| <= |x||v| may not be moved inside a norm of a sum of vectors."""
    X, v = np.array([[1.0], [-1.0]]), np.array([1.0])
    left = np.linalg.norm(sum(x * (x @ v) for x in X))
    right = np.linalg.norm(sum(x * np.linalg.norm(x) * np.linalg.norm(v) for x in X))
    assert left == 2.0 and right == 0.0


@settings(max_examples=150, deadline=None)
@given(
    exponents=st.lists(st.floats(-5, 5), min_size=1, max_size=4),
    sigma=st.floats(1e-3, 1e3),
    seed=st.integers(0, 2**32 - 1),
)
def test_sharp_form_with_ill_conditioned_priors(exponents, sigma, seed):
    rng = np.random.default_rng(seed)
    d, t = len(exponents), 5
    prior_cov = np.diag(10.0 ** np.array(exponents))
    X = rng.standard_normal((t, d))
    L = np.linalg.norm(X, axis=1).max()
    path, w = rng.standard_normal((t + 1, d)), np.sort(rng.random(t))
    drift = surrogate_mean(X, path[:-1], path[-1], w, prior_cov, sigma) - path[-1]
    scaled = np.sqrt(np.append(w, np.ones(d)))[:, None] * np.vstack(
        [X / sigma, np.diag(np.diag(prior_cov) ** -0.5)]
    )
    truth = np.linalg.norm(scaled @ drift)
    # The subtraction of the present parameter leaves rounding of its own size.
    rounding = 1e-13 * np.linalg.norm(scaled, 2) * np.linalg.norm(path[-1])
    assert truth <= drift_bound(path, w, L, sigma, "sharp") * (1 + 1e-6) + rounding


def test_weight_sum_is_accurate_next_to_one():
    from fractions import Fraction

    gamma = 1 - 2.0**-40
    exact = sum(Fraction(gamma) ** (2 * s) for s in range(6))
    assert weight_sum(gamma, 6, power=2) == pytest.approx(float(exact), rel=1e-15)
    assert weight_sum(1.0, 7) == 7.0 and weight_sum(0.9, 0) == 0.0
    np.testing.assert_allclose(weight_sum(0.5, np.array([0, 1, 2])), [0.0, 1.0, 1.5])


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(form="best"), "form"),
        (dict(weights=[1.5]), "weights"),
        (dict(weights=[1.0, 1.0]), "weights"),
        (dict(noise_std=0.0), "noise_std"),
        (dict(arm_bound=-1.0), "arm_bound"),
        (dict(parameters=[[0.0], [np.nan]]), "parameters"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = dict(
        parameters=[[0.0], [1.0]], weights=[1.0], arm_bound=1.0, noise_std=1.0
    )
    with pytest.raises(ValueError, match=message):
        drift_bound(**(arguments | change))


def test_discount_and_weights_exclude_each_other():
    with pytest.raises(ValueError, match="exactly one of discount and weights"):
        drift_bound_path([[0.0]], 0.9, 1.0, 1.0, weights=[[1.0]])
    for words in ({}, dict(discount=0.9, weights=[[1.0]])):
        with pytest.raises(ValueError, match="exactly one of discount and weights"):
            drift_sum_bound(1.0, 1, 2, 1.0, 1.0, **words)
    with pytest.raises(ValueError, match="lower triangular"):
        drift_bound_path([[0.0]] * 2, None, 1.0, 1.0, weights=np.ones((2, 2)))


def test_largest_coefficient_of_a_long_horizon_takes_no_memory():
    """For 1 << memory << T the best step lies far from both ends, where both sums
    have converged: sqrt(1/(1-gamma)) / (1-sqrt(gamma))."""
    gamma = 1.0 - 1e-6
    bound = drift_sum_bound(1.0, 10**12, 2, 1.0, 1.0, discount=gamma, form="sharp")
    limit = 1.0 / (np.sqrt(1.0 - gamma) * (1.0 - np.sqrt(gamma)))
    ratio = drift_sum_bound(1.0, 3, 2, 1.0, 1.0, discount=1.0, form="sharp") / 2.0
    assert bound == pytest.approx(ratio * limit, rel=1e-6)


@pytest.mark.parametrize("gamma", [0.05, 0.5, 0.9, 0.999, 1.0])
def test_worst_coefficient_of_short_horizons_by_trying_all(gamma):
    for T in range(1, 14):
        tried = [
            np.sqrt(sum(gamma**i for i in range(k)))
            * sum(np.sqrt(gamma) ** i for i in range(T - k))
            for k in range(1, T)
        ]
        said = drift_sum_bound(2.0, T, 2, 1.0, 0.5, discount=gamma, form="sharp")
        assert said == pytest.approx(4.0 * max(tried, default=0.0), rel=1e-12)
        W = np.tril(gamma ** (np.arange(T)[:, None] - np.arange(T).astype(float)))
        by_rows = drift_sum_bound(2.0, T, 2, 1.0, 0.5, weights=W, form="sharp")
        assert by_rows == pytest.approx(said, rel=1e-12)


def test_printed_sum_without_forgetting_is_infinite():
    assert drift_sum_bound(1.0, 9, 2, 1.0, 1.0, discount=1.0, form="printed") == np.inf
    for nothing in ((0.0, 9, 2, 1.0, 1.0), (1.0, 9, 2, 0.0, 1.0)):
        assert drift_sum_bound(*nothing, discount=1.0, form="printed") == 0.0


def test_the_first_step_is_felt_in_the_second_round():
    path, W = [[0.0], [1.0], [1.0]], np.tril(np.full((3, 3), 0.25))
    said = drift_bound_path(path, None, 2.0, 1.0, "sharp", weights=W)
    np.testing.assert_allclose(said, [0.0, 1.0, 1.0], rtol=1e-15)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("unit", [1e-170, 1e-120, 1e120, 1e170])
def test_no_unit_of_the_path_is_too_small_or_too_large(unit, sign):
    """Squares of its steps are beyond all doubles; the bound knows no unit."""
    path, w = np.array([[5.0, 3.0], [1.0, 0.0], [-2.0, 0.0]]), [0.5, 1.0]  # 5, then 3
    expected = 2.0 * (0.5**0.5 * 5.0 + 1.5**0.5 * 3.0)
    path *= sign * unit
    said = drift_bound(path, w, 2.0, unit, "sharp")
    assert said == pytest.approx(expected, rel=1e-14)
    along = drift_bound_path(path, 0.5, 2.0, unit, "sharp")
    np.testing.assert_allclose(along, [0.0, 10.0, expected], rtol=1e-14)


def test_the_worst_step_next_to_no_forgetting():
    """The root of such a discount is no double, and neighbouring steps are equal."""
    gamma, T = 1.0 - 2.0**-50, 3 * 2**50
    with localcontext(prec=60):
        g, k = Decimal(gamma), T // 3
        root = g.sqrt()
        sums = (1 - g**k) / (1 - g), (1 - root ** (T - k)) / (1 - root)
        expected = float(sums[0].sqrt() * sums[1])
    said = drift_sum_bound(1.0, T, 2, 1.0, 1.0, discount=gamma, form="sharp")
    assert said == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "form, B, sigma",
    [
        ("printed", 1e200, 1.0),
        ("corrected", 1e200, 1.0),
        ("corrected", 1.0, 1e-200),
        ("sharp", 1e200, 1.0),
        ("sharp", 1.0, 1e-200),
    ],
)
def test_what_overflows_is_refused_where_infinity_has_a_meaning(form, B, sigma):
    words = "must be less extreme: drift_sum_bound does not fit"
    for rule in ({"discount": 0.9}, {"weights": np.tril(np.ones((9, 9)))}):
        with pytest.raises(ValueError, match=words):
            drift_sum_bound(B, 9, 2, 1e200, sigma, **rule, form=form)
    with pytest.raises(ValueError, match="must be less extreme: drift_bound does not"):
        drift_bound([[0.0], [1e300]], [1.0], 1e-200, 1e200, "sharp")  # no digits left
