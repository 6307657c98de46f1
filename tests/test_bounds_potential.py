"""Determinant inequality and potential lemma on random data, several weights."""

import numpy as np
import pytest

from wsbnb.bounds import (
    determinant_bound,
    forgetting_sum,
    log_det_term,
    log_determinant_ratio,
    potential_bound,
    potential_sum,
    width_constant,
)

T = 30
GAPS = np.arange(T)[:, None] - np.arange(T)
WEIGHTS = {
    "exponential": np.tril(0.9 ** GAPS.clip(0).astype(float)),
    "stationary": np.tril(np.ones((T, T))),
    "polynomial": np.tril((1.0 + GAPS.clip(0)) ** -1.5),
    "mixture": np.tril(0.5 + 0.5 * 0.8 ** GAPS.clip(0).astype(float)),
}


def admissible(W):
    """Non-decreasing in s, and w_{s,t} >= w_{t-1,t} w_{s,t-1}."""
    rising = all((np.diff(W[t, : t + 1]) >= -1e-15).all() for t in range(len(W)))
    consistent = all(
        (W[t, :t] >= W[t, t - 1] * W[t - 1, :t] - 1e-15).all() for t in range(1, len(W))
    )
    return rising and consistent


def problem(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(1, 5)
    X = rng.standard_normal((T, d)) * rng.uniform(0.1, 2)
    root = rng.standard_normal((d, d)) * 10 ** rng.uniform(-1, 1, d)
    prior_cov = root @ root.T + 0.01 * np.eye(d)
    return X, prior_cov, 10 ** rng.uniform(-1, 1), np.linalg.norm(X, axis=1).max()


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("power", [1, 2])
def test_potential_lemma_and_its_closed_forms(name, power):
    W = WEIGHTS[name]
    assert admissible(W)
    for seed in range(40):
        X, prior_cov, sigma, L = problem(seed)
        total = potential_sum(X, prior_cov, sigma, weights=W, power=power)
        bounds = [
            potential_bound(X, prior_cov, sigma, L, weights=W, power=power, form=form)
            for form in ("determinant", "lambda_max", "trace")
        ]
        assert total <= bounds[0] * (1 + 1e-9)
        assert bounds[0] <= bounds[1] * (1 + 1e-9)
        assert bounds[1] <= bounds[2] * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 1.0])
def test_discount_agrees_with_its_weight_matrix_and_with_direct_sums(gamma):
    W = np.tril(gamma ** GAPS.clip(0).astype(float))
    X, prior_cov, sigma, L = problem(3)
    base = np.linalg.inv(prior_cov)
    direct = 0.0
    for t in range(T):
        P = (
            base
            + sum(gamma ** (t - 1 - s) * np.outer(X[s], X[s]) for s in range(t))
            / sigma**2
        )
        direct += X[t] @ np.linalg.inv(P) @ X[t]
    by_discount = potential_sum(X, prior_cov, sigma, discount=gamma)
    assert by_discount == pytest.approx(direct, rel=1e-9)
    by_matrix = potential_sum(X, prior_cov, sigma, weights=W)
    assert by_matrix == pytest.approx(direct, rel=1e-9)
    for form in ("determinant", "trace", "lambda_max"):
        one = potential_bound(X, prior_cov, sigma, L, discount=gamma, form=form)
        two = potential_bound(X, prior_cov, sigma, L, weights=W, form=form)
        assert one == pytest.approx(two, rel=1e-10)
    for form in ("trace", "lambda_max"):
        one = log_det_term(T, prior_cov, sigma, L, discount=gamma, form=form)
        two = log_det_term(T, prior_cov, sigma, L, weights=W, form=form)
        assert one == pytest.approx(two, rel=1e-12)


def test_potential_bound_by_hand_is_the_lemma():
    X, prior_cov, sigma, L = problem(8)
    d, gamma = X.shape[1], 0.9
    w = gamma ** np.arange(T - 1, -1.0, -1.0)
    precision = np.linalg.inv(prior_cov) + (w[:, None] * X).T @ X / sigma**2
    ratio = np.linalg.slogdet(prior_cov)[1] + np.linalg.slogdet(precision)[1]
    C = max(1.0, L**2 * np.linalg.eigvalsh(prior_cov)[-1] / sigma**2)
    by_hand = 2 * sigma**2 * C * (d * (T - 1) * np.log(1 / gamma) + ratio)
    value = potential_bound(X, prior_cov, sigma, L, discount=gamma)
    assert value == pytest.approx(by_hand, rel=1e-9)
    assert width_constant(prior_cov, sigma, L) == pytest.approx(C, rel=1e-14)
    # The closed form is 2 sigma^2 C d Lambda_T, the factor that Theorem 2 lost.
    closed = potential_bound(X, prior_cov, sigma, L, discount=gamma, form="trace")
    term = log_det_term(T, prior_cov, sigma, L, discount=gamma)
    assert closed == pytest.approx(2 * sigma**2 * C * d * term, rel=1e-12)


def test_a_sliding_window_is_not_admissible_and_breaks_the_lemma():
    n = 400
    gaps = np.arange(n)[:, None] - np.arange(n)
    window = ((gaps >= 0) & (gaps < 5)) * 1.0
    assert not admissible(window)
    X = np.ones((n, 1))
    total = potential_sum(X, np.eye(1), 1.0, weights=window)
    assert total > 2 * potential_bound(X, np.eye(1), 1.0, 1.0, weights=window)


def test_a_hard_restart_makes_the_bound_infinite():
    W = np.tril(np.ones((4, 4)))
    W[2:, :2] = 0.0
    assert admissible(W)
    assert forgetting_sum(4, weights=W) == np.inf
    assert potential_bound(np.ones((4, 1)), np.eye(1), 1.0, 1.0, weights=W) == np.inf


@pytest.mark.parametrize("power", [1, 2, 3])
def test_both_determinant_inequalities(power):
    for seed in range(60):
        X, prior_cov, sigma, L = problem(seed)
        w = np.random.default_rng(seed).random(T) ** power
        precision = np.linalg.inv(prior_cov) + (w[:, None] * X).T @ X / sigma**2
        log_det = np.linalg.slogdet(precision)[1]
        log_prior = np.linalg.slogdet(prior_cov)[1]
        given = (w.sum(), prior_cov, sigma, L)
        lam = log_determinant_ratio(*given, form="lambda_max")
        trace = log_determinant_ratio(*given, form="trace")
        assert log_det + log_prior <= lam + 1e-8
        assert lam <= trace + 1e-12
        for form in ("trace", "lambda_max"):
            bound = determinant_bound(
                *given, inequality="precision", form=form, log=True
            )
            assert log_det <= bound + 1e-8


def test_determinant_bounds_by_hand():
    prior_cov = np.diag([2.0, 0.5])
    ratio = determinant_bound(3.0, prior_cov, 0.5, 1.5)
    assert ratio == pytest.approx((1 + 2.5 * 2.25 * 3 / (2 * 0.25)) ** 2)
    precision = determinant_bound(3.0, prior_cov, 0.5, 1.5, inequality="precision")
    assert precision == pytest.approx(((0.5 + 2 + 2.25 / 0.25 * 3) / 2) ** 2)
    log = determinant_bound(3.0, prior_cov, 0.5, 1.5, log=True)
    assert log == pytest.approx(np.log(ratio))


def test_first_term_printed_and_free():
    assert forgetting_sum(5, discount=0.5) == pytest.approx(4 * np.log(2))
    assert forgetting_sum(5, discount=0.5, first="printed") == pytest.approx(
        5 * np.log(2)
    )
    assert forgetting_sum(5, discount=1.0) == 0.0
    printed = log_det_term(5, np.eye(2), 0.5, 1.0, discount=0.5, first="printed")
    assert printed == pytest.approx(5 * np.log(2) + np.log(1 + 2 * 1.9375 / 0.5))


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(arm_bound=0.5), "arm_bound"),
        (dict(discount=None), "exactly one of discount and weights"),
        (dict(weights=np.eye(2)), "exactly one of discount and weights"),
        (dict(discount=0.0), "discount"),
        (dict(form="best"), "form"),
        (dict(discount=None, weights=np.eye(3)), "weights"),
        (dict(discount=None, weights=2 * np.eye(2)), "weights"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = dict(
        X=np.ones((2, 1)), prior_cov=np.eye(1), noise_std=1.0, arm_bound=1.0,
        discount=0.9,
    )  # fmt: skip
    with pytest.raises(ValueError, match=message):
        potential_bound(**(arguments | change))


@pytest.mark.parametrize("given", [{}, dict(discount=0.9, weights=np.eye(2))])
@pytest.mark.parametrize(
    "function, arguments",
    [
        (potential_sum, (np.ones((2, 1)), np.eye(1), 1.0)),
        (forgetting_sum, (2,)),
        (log_det_term, (2, np.eye(1), 1.0, 1.0)),
    ],
)
def test_weights_are_given_once(function, arguments, given):
    with pytest.raises(ValueError, match="exactly one of discount and weights"):
        function(*arguments, **given)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: determinant_bound(1.0, np.eye(2), 1.0, 1.0, inequality="other"),
            "inequality must be one of",
        ),
        (
            lambda: determinant_bound(1.0, np.eye(2), 1.0, 1.0, form="best"),
            "form must be one of",
        ),
        (
            lambda: log_determinant_ratio(1.0, np.eye(2), 1.0, 1.0, "best"),
            "form must be one of",
        ),
        (
            lambda: potential_bound(
                np.ones((2, 1)), np.eye(1), 1.0, 1.0, discount=0.9, form="best"
            ),
            "form must be one of 'determinant'",
        ),
        (lambda: forgetting_sum(3, discount=0.5, first="last"), "first must be one of"),
    ],
)
def test_words_are_those_of_the_docstrings(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("form", ["trace", "lambda_max"])
def test_potential_bound_of_other_powers_by_hand(form):
    """The closed determinant bounds take the sum of the powers of the last weights."""
    gamma, p, sigma, L, cov = 0.8, 3, 0.6, 1.1, np.diag([0.7, 0.2])
    X = np.array([[1.0, 0.2], [0.3, -0.9], [0.5, 0.5]])
    total = sum(gamma ** (p * age) for age in range(3))
    size = (np.trace(cov) if form == "trace" else 0.7) / 2
    log_det = 2 * np.log(1 + size * L**2 * total / sigma**2)
    constant = max(1.0, L**2 * 0.7 / sigma**2)
    expected = 2 * sigma**2 * constant * (2 * p * 2 * np.log(1 / gamma) + log_det)
    said = potential_bound(X, cov, sigma, L, discount=gamma, power=p, form=form)
    assert said == pytest.approx(expected, rel=1e-12)


def test_width_constant_is_at_least_one():
    assert width_constant(np.diag([0.5, 0.1]), 2.0, 1.0) == 1.0
    assert width_constant(np.diag([5.0, 0.1]), 2.0, 1.5) == pytest.approx(45 / 16)


@pytest.mark.parametrize("form", ["determinant", "trace"])
def test_the_square_of_a_tiny_noise_is_zero_and_the_bound_is_not(form):
    """It knows no unit of the arms but its own square."""
    X, cov = np.array([[1.0, 0.2], [0.3, -0.9]]), np.diag([0.7, 0.2])
    settings = dict(discount=0.8, form=form)
    plain = potential_bound(X, cov, 1e-70, 1.1, **settings)
    tiny = potential_bound(1e-100 * X, cov, 1e-170, 1.1e-100, **settings)
    assert tiny == pytest.approx(1e-200 * plain, rel=1e-12)
    plain = potential_sum(X, cov, 1e-70, weights=[[1.0, 0.0], [0.5, 1.0]])
    tiny = potential_sum(1e-97 * X, cov, 1e-167, weights=[[1.0, 0.0], [0.5, 1.0]])
    assert tiny == pytest.approx(1e-194 * plain, rel=1e-12)


def test_what_overflows_is_refused_where_infinity_has_a_meaning():
    with pytest.raises(ValueError, match="less extreme: potential_bound does not fit"):
        potential_bound([[1e100]], [[1e200]], 1.0, 1e100, discount=0.9)
    for wide in (1e-170, 1e170):
        with pytest.raises(ValueError, match="must be less extreme: log_det"):
            log_determinant_ratio(1e300, 1e100 * np.eye(2), 1.0, wide)
        with pytest.raises(ValueError, match="must be less extreme: determinant_bound"):
            determinant_bound(1e300, np.eye(1), 1.0, wide, "precision", log=True)
