"""Theorems 1 and 2: values by hand, counterexamples to the printed forms, tuning."""

import numpy as np
import pytest
from scipy.stats import norm

from wsbnb.bounds import (
    ExplorationConstants,
    RegretBound,
    drift_bound_path,
    noise_radius,
    prior_penalty,
    prior_penalty_at_start,
    randomised_constants,
    regret_bound_randomised,
    regret_bound_ucb,
    regret_order,
    squared_weight_sum,
    trivial_bound,
    tuned_discount,
)

PRIOR_COV = np.array([[2.0, 0.5], [0.5, 1.0]])
PROBLEM = dict(
    prior_mean=np.array([0.3, -0.2]),
    prior_cov=PRIOR_COV,
    noise_std=0.4,
    arm_bound=1.5,
    param_bound=0.8,
    horizon=50,
    discount=0.9,
)


def moving_path(T=50):
    angle = np.linspace(0, 2, T)
    return 0.8 * np.column_stack([np.cos(angle), np.sin(angle)])


def by_hand(T=50, gamma=0.9, delta=0.1):
    """Theorem 1 as printed, in plain formulas."""
    L, S, sigma, mu = 1.5, 0.8, 0.4, PROBLEM["prior_mean"]
    top, trace = np.linalg.eigvalsh(PRIOR_COV)[-1], 3.0
    inverse = np.linalg.inv(PRIOR_COV)
    path = moving_path(T)
    alpha_sum = 0.0
    for t in range(1, T + 1):
        for k in range(1, t):
            weight = sum(gamma ** (t - 1 - s) for s in range(1, k + 1))
            step = np.linalg.norm(path[k - 1] - path[k])
            alpha_sum += L * np.sqrt(2) * np.sqrt(weight) * step
    squares = (1 - gamma ** (2 * T)) / (1 - gamma**2)
    beta = np.sqrt(
        2 * np.log(T / delta) + 2 * np.log(1 + trace * L**2 * squares / (2 * sigma**2))
    )
    penalty = np.sqrt(mu @ inverse @ mu) + S * np.sqrt(np.linalg.eigvalsh(inverse)[-1])
    C = max(1, L**2 * top / sigma**2)
    total = (1 - gamma**T) / (1 - gamma)
    Lambda = T * np.log(1 / gamma) + np.log(1 + trace * L**2 * total / (2 * sigma**2))
    drift = 2 * L * np.sqrt(top) * alpha_sum
    variance = 2**1.5 * sigma * np.sqrt(C * 2 * T * Lambda) * (beta + penalty)
    return drift, variance, dict(C=C, Lambda=Lambda, penalty=penalty)


def test_theorem_1_printed_is_the_printed_formula():
    drift, variance, _ = by_hand()
    bound = regret_bound_ucb(
        **PROBLEM, delta=0.1, parameters=moving_path(), form="printed"
    )
    assert bound.drift == pytest.approx(drift, rel=1e-11)
    assert bound.variance == pytest.approx(variance, rel=1e-12)
    assert bound.total == pytest.approx(drift + variance, rel=1e-12)
    assert bound.failure == 0.0


def test_theorem_1_corrected_and_sharp_relate_as_derived():
    printed, corrected, sharp = (
        regret_bound_ucb(**PROBLEM, delta=0.1, parameters=moving_path(), form=form)
        for form in ("printed", "corrected", "sharp")
    )
    assert corrected.drift == pytest.approx(printed.drift / 0.4, rel=1e-12)
    assert sharp.drift == pytest.approx(corrected.drift / np.sqrt(2), rel=1e-12)
    assert sharp.variance < corrected.variance < printed.variance
    # Exact parts of the sharp variance term.
    beta = noise_radius(
        2, 0.4, 1.5, 0.1, squared_weight_sum(0.9, 50), PRIOR_COV, "lambda_max",
        horizon=50,
    )  # fmt: skip
    penalty = prior_penalty(PROBLEM["prior_mean"], PRIOR_COV, PRIOR_COV, 0.8)
    top = np.linalg.eigvalsh(PRIOR_COV)[-1]
    total = (1 - 0.9**50) / 0.1
    Lambda = 49 * np.log(1 / 0.9) + np.log(1 + top * 2.25 * total / (2 * 0.16))
    C = 2.25 * top / 0.16
    variance = 2**1.5 * 0.4 * np.sqrt(C * 2 * 50 * Lambda) * (beta + penalty)
    assert sharp.variance == pytest.approx(variance, rel=1e-11)


@pytest.mark.parametrize("form", ["printed", "corrected", "sharp"])
def test_variation_bounds_every_path_of_that_variation(form):
    path = moving_path()
    B = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    exact = regret_bound_ucb(**PROBLEM, delta=0.1, parameters=path, form=form)
    worst = regret_bound_ucb(**PROBLEM, delta=0.1, variation=B, form=form)
    assert exact.drift < worst.drift and exact.variance == worst.variance
    if form == "printed":  # Corollary 1: 4 L^2 sqrt(d lambda_max) B (1-gamma)^(-3/2)
        top = np.linalg.eigvalsh(PRIOR_COV)[-1]
        closed = 4 * 1.5**2 * np.sqrt(2 * top) * B * 0.1**-1.5
        assert worst.drift == pytest.approx(closed, rel=1e-12)


@pytest.mark.parametrize("form", ["corrected", "sharp"])
def test_weight_matrix_and_discount_agree(form):
    gaps = (np.arange(50)[:, None] - np.arange(50)).clip(0).astype(float)
    by_matrix = dict(PROBLEM, discount=None, weights=np.tril(0.9**gaps))
    for drift in (dict(parameters=moving_path()), dict(variation=2.0)):
        one = regret_bound_ucb(**PROBLEM, **drift, delta=0.1, form=form)
        two = regret_bound_ucb(**by_matrix, **drift, delta=0.1, form=form)
        np.testing.assert_allclose(one, two, rtol=1e-11)
        one = regret_bound_randomised(**PROBLEM, **drift, form=form)
        two = regret_bound_randomised(**by_matrix, **drift, form=form)
        np.testing.assert_allclose(one, two, rtol=1e-11)


def test_largest_radius_is_used_where_the_last_is_smaller():
    """Weights that nearly restart at the end: beta_T is not the largest beta_t."""
    T = 50
    W = np.tril(np.ones((T, T)))
    W[-1, :-1] = 0.01
    problem = dict(PROBLEM, discount=None, weights=W)
    printed = regret_bound_ucb(**problem, delta=0.1, variation=0.0, form="printed")
    corrected = regret_bound_ucb(**problem, delta=0.1, variation=0.0)
    beta = [
        noise_radius(2, 0.4, 1.5, 0.1, (row**2).sum(), PRIOR_COV, horizon=T)
        for row in W
    ]
    assert beta[-1] < beta[-2]
    assert corrected.variance > printed.variance


def flip_regret(T, gamma, S, sigma, prior_var, rng):
    """WSB-LinUCB, d=1, arms +1 and -1 (equal widths), theta flips at half time."""
    noise = sigma * rng.standard_normal(T)
    P0 = 1.0 / prior_var
    P, h, regret = P0, 0.0, 0.0
    for t in range(T):
        theta = S if t < T // 2 else -S
        x = 1.0 if h >= 0.0 else -1.0
        regret += S - x * theta
        P = gamma * P + (1 - gamma) * P0 + 1 / sigma**2
        h = gamma * h + x * (x * theta + noise[t]) / sigma**2
    return regret


def test_counterexample_to_theorem_1_as_printed():
    T, S, sigma, prior_var = 200_000, 1e-5, 1e-7, 1e-10
    gamma = 1 - 1 / T
    regret = flip_regret(T, gamma, S, sigma, prior_var, np.random.default_rng(0))
    path = np.where(np.arange(T) < T // 2, S, -S)[:, None]
    bounds = {
        form: regret_bound_ucb(
            prior_mean=[0.0], prior_cov=[[prior_var]], noise_std=sigma, arm_bound=1.0,
            param_bound=S, horizon=T, delta=0.05, discount=gamma, parameters=path,
            form=form,
        ).total
        for form in ("printed", "corrected", "sharp")
    }  # fmt: skip
    assert regret == pytest.approx(1.33, abs=0.01)
    assert bounds["printed"] == pytest.approx(0.49, abs=0.01)
    assert regret <= bounds["sharp"] <= bounds["corrected"]


def thompson_regret(T, gamma, S, sigma, prior_var, scale, trials, rng):
    """WSB-LinTS, d=1, arms +1 and -1, fixed theta = S; mean over trials."""
    P0 = 1.0 / prior_var
    P, h, regret = P0, np.zeros(trials), np.zeros(trials)
    for _ in range(T):
        draw = h / P + scale * rng.standard_normal(trials) / np.sqrt(P)
        x = np.where(draw >= 0, 1.0, -1.0)
        regret += S - x * S
        reward = x * S + sigma * rng.standard_normal(trials)
        P = gamma * P + (1 - gamma) * P0 + 1 / sigma**2
        h = gamma * h + x * reward / sigma**2
    return regret.mean()


def test_counterexample_to_theorem_2_as_printed():
    """S = sigma = 1000: the printed variance term does not know the reward unit."""
    T, S, sigma, prior_var = 1000, 1e3, 1e3, 1e6
    problem = dict(
        prior_mean=[0.0], prior_cov=[[prior_var]], noise_std=sigma, arm_bound=1.0,
        param_bound=S, horizon=T, discount=1 - 1 / T, algorithm="thompson", n_arms=2,
    )  # fmt: skip
    # a^2 = 14 c1^2 is the same in all three forms up to the radius.
    scale = randomised_constants(**problem, form="printed").scale
    regret = thompson_regret(
        T, 1 - 1 / T, S, sigma, prior_var, scale, 200, np.random.default_rng(0)
    )
    printed, corrected = (
        regret_bound_randomised(**problem, variation=0.0, form=form).total
        for form in ("printed", "corrected")
    )
    assert regret > 1.2 * printed
    assert regret <= corrected


def test_theorem_2_by_hand():
    drift, _, parts = by_hand()
    printed = regret_bound_randomised(
        **PROBLEM, parameters=moving_path(), form="printed"
    )
    T, sigma = 50, 0.4
    squares = (1 - 0.9**100) / (1 - 0.81)
    c1 = parts["penalty"] + np.sqrt(
        4 * np.log(T) + 2 * np.log(1 + 3 * 2.25 * squares / (2 * 0.16))
    )
    c2 = np.sqrt(14) * c1 * np.sqrt(2 * np.log(T / 2))
    p3 = np.exp(-0.25) / (8 * np.sqrt(np.pi))
    factor = (c1 + c2) * (1 + 2 / (p3 - 1 / T))
    assert printed.drift == pytest.approx(drift, rel=1e-11)
    variance = factor * np.sqrt(2 * T * parts["Lambda"])
    assert printed.variance == pytest.approx(variance, rel=1e-11)
    assert printed.failure == pytest.approx(2.0)
    corrected = regret_bound_randomised(**PROBLEM, parameters=moving_path())
    p2 = 2 * norm.sf(np.sqrt(2 * np.log(T / 2)))
    factor = (c1 + c2) * (1 + 2 / (p3 - p2))
    Lambda = parts["Lambda"] - np.log(1 / 0.9)
    variance = factor * np.sqrt(2) * sigma * np.sqrt(parts["C"] * 2 * T * Lambda)
    assert corrected.drift == pytest.approx(drift / sigma, rel=1e-11)
    assert corrected.variance == pytest.approx(variance, rel=1e-11)
    assert corrected.failure == pytest.approx(2 * 1.5 * 0.8 * T * (1 / T + p2))


def test_thompson_width_printed_is_too_small_and_the_others_suffice():
    K, T = 48, 4000
    problem = dict(PROBLEM, horizon=T, algorithm="thompson", n_arms=K)
    widths = {}
    for form in ("printed", "corrected", "sharp"):
        constants = randomised_constants(**problem, form=form)
        widths[form] = constants.c2 / constants.scale
    assert widths["corrected"] == pytest.approx(widths["printed"] * np.sqrt(2))
    # Simulate in d=32 with one Gaussian vector per round shared by unit arms.
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((K, 32))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    largest = np.abs(rng.standard_normal((20_000, 32)) @ arms.T).max(axis=1)
    assert T * np.mean(largest > widths["printed"]) == pytest.approx(126, abs=25)
    union = {form: T * 2 * K * norm.sf(width) for form, width in widths.items()}
    assert union["corrected"] <= 1.0
    assert union["sharp"] == pytest.approx(1.0, rel=1e-9)
    assert widths["sharp"] < widths["corrected"]


@pytest.mark.parametrize("algorithm", ["ucb", "thompson"])
@pytest.mark.parametrize("T", [1, 2, 3, 4, 10, 1000])
def test_constants_are_what_they_claim(algorithm, T):
    for form in ("corrected", "sharp"):
        k = randomised_constants(
            **dict(PROBLEM, horizon=T), algorithm=algorithm, n_arms=7, form=form
        )
        draws = 7 if algorithm == "thompson" else 1
        assert k.p2 >= min(1.0, 2 * draws * norm.sf(k.c2 / k.scale)) * (1 - 1e-9)
        if draws * T >= 4:
            assert k.p2 <= 1 / T * (1 + 1e-9)
        assert k.p3 <= norm.sf(k.c1 / k.scale) * (1 + 1e-12)
        assert k.scale == pytest.approx(np.sqrt(14) * k.c1)
    assert k.p3 == pytest.approx(0.3946, abs=1e-4)


def test_the_scale_of_the_experiments_is_not_covered():
    constants = randomised_constants(**PROBLEM, scale=1.0)
    assert constants.p3 < constants.p2 and constants.factor == np.inf
    bound = regret_bound_randomised(**PROBLEM, variation=1.0, constants=constants)
    assert bound.total == np.inf


def test_own_constants_are_used():
    mine = ExplorationConstants(c1=1, c2=2, scale=1, p1=0.01, p2=0.1, p3=0.3)
    bound = regret_bound_randomised(**PROBLEM, variation=0.0, constants=mine)
    default = regret_bound_randomised(**PROBLEM, variation=0.0)
    usual = randomised_constants(**PROBLEM)
    ratio = (3 * (1 + 2 / 0.2)) / usual.factor
    assert bound.variance == pytest.approx(default.variance * ratio, rel=1e-12)
    assert bound.failure == pytest.approx(2 * 1.5 * 0.8 * 50 * 0.11)


@pytest.mark.parametrize("d", [2, 4, 6, 16, 32])
def test_theorem_1_says_less_than_the_trivial_bound_at_the_papers_horizon(d):
    T, B = 4000, 3 * np.sqrt(2)
    for cov in (np.eye(d), np.eye(d) / d):
        for form in ("corrected", "sharp"):
            rule = "sharp" if form == "sharp" else "ucb"
            bound = regret_bound_ucb(
                prior_mean=np.zeros(d), prior_cov=cov, noise_std=0.15**0.5,
                arm_bound=1.0, param_bound=1.0, horizon=T, delta=1 / T,
                discount=tuned_discount(d, T, B, rule=rule), variation=B, form=form,
            )  # fmt: skip
            assert bound.total > trivial_bound(1.0, 1.0, T)


def test_sharp_bound_grows_with_the_claimed_powers():
    """Logarithms aside, the sharp bound follows d^(5/8) B^(1/4) T^(3/4)."""

    def value(d, B, T):
        gamma = tuned_discount(d, T, B, rule="sharp")
        drift = 2 / np.sqrt(d) * 2 * B * (1 - gamma) ** -1.5
        return drift + d * T * np.sqrt(1 - gamma)

    base = value(8, 1.0, 10**8)
    for change, power in (((16, 1.0, 10**8), 5 / 8), ((8, 2.0, 10**8), 1 / 4)):
        assert np.log2(value(*change) / base) == pytest.approx(power, abs=1e-9)
    assert np.log2(value(8, 1.0, 2 * 10**8) / base) == pytest.approx(0.75, abs=1e-9)
    drift = regret_bound_ucb(
        prior_mean=np.zeros(8), prior_cov=np.eye(8) / 8, noise_std=1.0, arm_bound=1.0,
        param_bound=1.0, horizon=10**5, delta=0.1, variation=1.0,
        discount=tuned_discount(8, 10**5, 1.0, rule="sharp"), form="sharp",
    ).drift  # fmt: skip
    gamma = tuned_discount(8, 10**5, 1.0, rule="sharp")
    assert drift == pytest.approx(2 / np.sqrt(8) * 2 * (1 - gamma) ** -1.5, rel=0.02)


def test_regret_orders():
    d, B, T, K = 16, 2.0, 10**6, 48
    base = B**0.25 * T**0.75
    expected = {
        "DLinUCB": d**0.875, "DRandLinUCB": d**0.875, "LBWeightUCB": d**0.75,
        "WSBLinUCB": d**0.75, "WSBRandLinUCB": d**0.75, "sharp": d**0.625,
        "DLinTS": d**0.875 * np.log(K) ** 0.375,
        "WSBLinTS": d**0.75 * np.log(K) ** 0.375,
    }  # fmt: skip
    for algorithm, power in expected.items():
        order = regret_order(d, B, T, algorithm, n_arms=K)
        assert order == pytest.approx(power * base, rel=1e-12)
    lower = regret_order(d, B, T, "lower_bound")
    assert lower == pytest.approx(d ** (2 / 3) * B ** (1 / 3) * T ** (2 / 3))
    # The paper: above the lower bound by (dT/B)^(1/12).
    gap = regret_order(d, B, T) / lower
    assert gap == pytest.approx((d * T / B) ** (1 / 12), rel=1e-12)
    assert regret_order(d, 0.0, T) == pytest.approx(d * np.sqrt(T))
    # The two regimes meet where the corollary says.
    assert regret_order(d, d / T, T) == pytest.approx(d * np.sqrt(T), rel=1e-12)
    with pytest.raises(ValueError, match="n_arms"):
        regret_order(d, B, T, "WSBLinTS")
    with pytest.raises(ValueError, match="algorithm"):
        regret_order(d, B, T, "Oracle")


@pytest.mark.parametrize(
    ("algorithm", "form", "fixed_prior"),
    [("WSBLinUCB", "corrected", False), ("sharp", "sharp", False),
     ("DLinUCB", "corrected", True)],
)  # fmt: skip
def test_orders_are_those_of_the_bounds_themselves(algorithm, form, fixed_prior):
    """Minimise the real bound over the discount; its power of d nears the order's."""
    T, B = 10**12, 3.0

    def smallest(d):
        cov = np.eye(d) if fixed_prior else np.eye(d) / d
        around = np.sqrt(B / (d * T)) * np.geomspace(0.02, 20, 25)
        return min(
            regret_bound_ucb(
                prior_mean=np.zeros(d), prior_cov=cov, noise_std=0.4, arm_bound=1.0,
                param_bound=1.0, horizon=T, delta=1 / T, discount=1 - gap,
                variation=B, form=form,
            ).total
            for gap in around
        )  # fmt: skip

    measured = np.log2(smallest(128) / smallest(64))
    order = np.log2(
        regret_order(128, B, T, algorithm) / regret_order(64, B, T, algorithm)
    )
    # From below: logarithms of T, which do not grow with d, are part of the radius.
    assert order - 0.1 < measured < order


def test_order_of_log_arms_is_that_of_two_balanced_terms():
    d, B, T, K = 8, 2.0, 10**10, 1000
    gaps = np.geomspace(1 / T, 0.1, 4000)
    drift, width = B * gaps**-1.5, d * np.sqrt(np.log(K)) * T * gaps**0.5
    least = (drift + width).min()
    order = regret_order(d, B, T, "WSBLinTS", n_arms=K)
    assert order < least <= 2 * order * (1 + 1e-3)


def test_tuned_discounts_by_hand_and_clipped():
    assert tuned_discount(4, 1000, 2.0) == pytest.approx(1 - np.sqrt(2 / 4000))
    thompson = tuned_discount(4, 1000, 2.0, rule="thompson", n_arms=48)
    assert thompson == pytest.approx(1 - np.sqrt(2 / (4 * np.sqrt(np.log(48)) * 1000)))
    sharp = tuned_discount(4, 1000, 2.0, rule="sharp")
    assert sharp == pytest.approx(1 - np.sqrt(2 / 8000))
    assert tuned_discount(4, 1000, 0.0) == pytest.approx(1 - 1 / 1000)
    # Mild drift, B < d/T, meets the other branch continuously.
    assert tuned_discount(4, 1000, 4 / 1000) == pytest.approx(1 - 1 / 1000)
    assert tuned_discount(1, 100, 1e6) == 1 / 100
    assert tuned_discount(1, 1, 5.0) == 1.0
    one_arm = tuned_discount(4, 1000, 2.0, rule="thompson", n_arms=1)
    assert one_arm == tuned_discount(4, 1000, 2.0, rule="thompson", n_arms=2)
    for d in (1, 7):
        for B in np.geomspace(1e-9, 1e9, 40):
            for rule in ("ucb", "thompson", "sharp"):
                gamma = tuned_discount(d, 500, B, rule=rule, n_arms=9)
                assert 1 / 500 <= gamma <= 1 - 1 / 500
    with pytest.raises(ValueError, match="n_arms"):
        tuned_discount(4, 1000, 2.0, rule="thompson")
    with pytest.raises(ValueError, match="variation"):
        tuned_discount(4, 1000, -1.0)
    with pytest.raises(ValueError, match="rule"):
        tuned_discount(4, 1000, 1.0, rule="best")


def test_theorem_1_holds_in_a_small_simulation():
    """Not tight, but a wrong sign or a lost factor would show."""
    rng = np.random.default_rng(1)
    T, sigma, gamma = 400, 0.3, 0.98
    prior_cov = np.diag([1.0, 0.25])
    angle = np.linspace(0, 3, T)
    path = np.column_stack([np.cos(angle), np.sin(angle)])
    base = np.linalg.inv(prior_cov)
    P, h, regret = base.copy(), np.zeros(2), 0.0
    beta = noise_radius(
        2, sigma, 1.0, 0.1, squared_weight_sum(gamma, np.arange(T)), prior_cov,
        "lambda_max", horizon=T,
    )  # fmt: skip
    for t in range(T):
        X = rng.standard_normal((10, 2))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        cov = np.linalg.inv(P)
        width = np.sqrt(np.einsum("ij,jk,ik->i", X, cov, X))
        penalty = prior_penalty(np.zeros(2), prior_cov, (cov + cov.T) / 2, 1.0)
        x = X[np.argmax(X @ cov @ h + (beta[t] + penalty) * width)]
        regret += (X @ path[t]).max() - x @ path[t]
        reward = x @ path[t] + sigma * rng.standard_normal()
        P = gamma * P + (1 - gamma) * base + np.outer(x, x) / sigma**2
        h = gamma * h + x * reward / sigma**2
    bound = regret_bound_ucb(
        prior_mean=np.zeros(2), prior_cov=prior_cov, noise_std=sigma, arm_bound=1.0,
        param_bound=1.0, horizon=T, delta=0.1, discount=gamma, parameters=path,
        form="sharp",
    )  # fmt: skip
    assert 0 < regret <= bound.total
    alpha = drift_bound_path(path, gamma, 1.0, sigma, "sharp").sum()
    assert bound.drift == pytest.approx(2 * alpha, rel=1e-12)


@pytest.mark.parametrize(
    "change, error, message",
    [
        (dict(form="best"), ValueError, "form"),
        (dict(delta=2.0), ValueError, "delta"),
        (dict(variation=None), ValueError, "exactly one of parameters and variation"),
        (dict(parameters=moving_path(7), variation=None), ValueError, "parameters"),
        (dict(discount=None), ValueError, "exactly one of discount and weights"),
        (dict(horizon=0), ValueError, "horizon"),
        (dict(prior_mean=np.zeros(3)), ValueError, "prior_cov"),
        (dict(param_bound=-1.0), ValueError, "param_bound"),
        (dict(variation="x"), TypeError, "variation"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    with pytest.raises(error, match=message):
        regret_bound_ucb(**(PROBLEM | dict(delta=0.1, variation=1.0) | change))


def test_bad_arguments_of_the_randomised_constants():
    for change, message in [
        (dict(form="best"), "form must be one of"),
        (dict(discount=None), "exactly one of discount and weights"),
        (dict(weights=np.eye(50)), "exactly one of discount and weights"),
    ]:
        with pytest.raises(ValueError, match=message):
            randomised_constants(**(PROBLEM | change))


def test_bad_arguments_of_the_randomised_bound():
    with pytest.raises(ValueError, match="n_arms"):
        regret_bound_randomised(**PROBLEM, variation=1.0, algorithm="thompson")
    with pytest.raises(ValueError, match="algorithm"):
        regret_bound_randomised(**PROBLEM, variation=1.0, algorithm="greedy")
    with pytest.raises(TypeError, match="constants"):
        regret_bound_randomised(**PROBLEM, variation=1.0, constants=(1, 2))
    assert RegretBound(1.0, 2.0).total == 3.0


def test_the_terms_of_a_bound_are_added():
    assert RegretBound(drift=1.0, variance=2.0, failure=4.0).total == 7.0
    even = ExplorationConstants(c1=1, c2=2, scale=1, p1=0.0, p2=0.1, p3=0.1)
    assert even.factor == np.inf


@pytest.mark.parametrize("T", [1, 2, 3, 5])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_constants_of_the_first_rounds_by_hand(T, K):
    words = dict(PROBLEM, horizon=T, algorithm="thompson", n_arms=K)
    said = randomised_constants(**words, form="corrected")
    width = np.sqrt(2 * np.log(max(K * T / 2, 1.0)))
    assert said.c2 == pytest.approx(width * said.scale, rel=1e-12)
    assert said.p2 == pytest.approx(min(1.0, 2 * K * norm.sf(width)), rel=1e-12)
    squares = squared_weight_sum(PROBLEM["discount"], T)
    delta = 1 / T if T > 1 else 0.5
    words = {key: PROBLEM[key] for key in ("noise_std", "arm_bound", "prior_cov")}
    split = dict(delta=delta, split="horizon", horizon=T)
    radius = noise_radius(2, squared_weight_sum=squares, **words, **split)
    penalty = prior_penalty_at_start(PROBLEM["prior_mean"], PRIOR_COV, 0.8)
    assert said.c1 == pytest.approx(radius + penalty, rel=1e-12)


def test_printed_radius_is_that_of_the_last_row():
    """The row before has larger weights: the other forms take the largest row."""
    problem = {key: value for key, value in PROBLEM.items() if key != "discount"}
    W = np.tril(np.ones((4, 4))) * np.array([1.0, 1.0, 1.0, 0.3])[:, None]
    words = {key: PROBLEM[key] for key in ("noise_std", "arm_bound", "prior_cov")}
    split = dict(delta=0.25, split="horizon", horizon=4)
    penalty = prior_penalty_at_start(PROBLEM["prior_mean"], PRIOR_COV, 0.8)
    for form, squares in (("printed", 4 * 0.09), ("corrected", 3.0)):
        said = randomised_constants(**{**problem, "horizon": 4}, weights=W, form=form)
        radius = noise_radius(2, squared_weight_sum=squares, **words, **split)
        assert said.c1 == pytest.approx(radius + penalty, rel=1e-12)


def test_few_arms_and_the_trivial_bound_by_hand():
    assert trivial_bound(1.5, 0.7, 11) == pytest.approx(2 * 1.5 * 0.7 * 11)
    for K, log_arms in ((1, np.log(2)), (2, np.log(2)), (3, np.log(3))):
        gap = np.sqrt(2.0 / (4 * np.sqrt(log_arms) * 1000))
        tuned = tuned_discount(4, 1000, 2.0, rule="thompson", n_arms=K)
        assert tuned == pytest.approx(1 - gap, rel=1e-14)
        order = regret_order(4, 2.0, 1000, "WSBLinTS", n_arms=K)
        width = 4 * np.sqrt(log_arms) * 1000
        assert order == pytest.approx(width * np.sqrt(gap), rel=1e-12)


@pytest.mark.parametrize("form", ["printed", "corrected", "sharp"])
def test_what_overflows_is_refused_where_infinity_has_a_meaning(form):
    huge = dict(PROBLEM, arm_bound=1e100, param_bound=1e100)
    one = regret_bound_ucb(**huge, delta=0.1, variation=1e60, form=form)
    assert np.isfinite(one.drift)
    with pytest.raises(ValueError, match="less extreme: regret_bound_ucb does not fit"):
        regret_bound_ucb(**huge, delta=0.1, variation=1e150, form=form)
    if form != "printed":
        huge |= dict(arm_bound=1e140, param_bound=1e170)
        with pytest.raises(ValueError, match="less extreme: regret_bound_randomised"):
            regret_bound_randomised(**huge, variation=0.0, form=form)
