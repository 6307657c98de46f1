"""Noise radius, failure splits, and small simulations of coverage."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from wsbnb.bounds import (
    error_parts,
    failure_probability,
    noise_radius,
    noise_radius_determinant,
    noise_radius_wrls,
    squared_weight_sum,
    weight_sum,
)


def test_both_forms_by_hand():
    prior_cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    top = np.linalg.eigvalsh(prior_cov)[-1]
    for form, constant in (("trace", 3.0), ("lambda_max", top)):
        by_hand = np.sqrt(
            2 * np.log(50 / 0.1) + 2 * np.log(1 + constant * 1.5**2 * 7.0 / (2 * 0.09))
        )
        value = noise_radius(2, 0.3, 1.5, 0.1, 7.0, prior_cov, form=form, horizon=50)
        assert value == pytest.approx(by_hand, rel=1e-14)


def test_trace_and_lambda_max_at_the_size_of_the_experiments():
    """d=32, T=4000, delta=.05: about 15.0 against 10.8."""
    gamma = 1 - np.sqrt(3 * np.sqrt(2) / (32 * 4000))
    squares = squared_weight_sum(gamma, 4000)
    radii = [
        noise_radius(
            32, 0.15**0.5, 1.0, 0.05, squares, np.eye(32), form=form, horizon=4000
        )
        for form in ("trace", "lambda_max")
    ]
    assert radii[0] == pytest.approx(15.0, abs=0.1)
    assert radii[1] == pytest.approx(10.8, abs=0.1)


def test_forms_coincide_in_one_dimension():
    both = [
        noise_radius(1, 0.5, 2.0, 0.1, 3.0, [[4.0]], form=form, split="none")
        for form in ("trace", "lambda_max")
    ]
    assert both[0] == both[1]


def test_determinant_form_is_the_smallest_and_equals_the_dense_formula():
    rng = np.random.default_rng(0)
    for _ in range(200):
        t, d = rng.integers(1, 12), rng.integers(1, 6)
        X = rng.standard_normal((t, d))
        L, sigma = np.linalg.norm(X, axis=1).max(), 10 ** rng.uniform(-1, 1)
        w = rng.random(t)
        root = rng.standard_normal((d, d))
        prior_cov = root @ root.T + 0.01 * np.eye(d)
        value = noise_radius_determinant(X, w, prior_cov, sigma, 0.05, horizon=20)
        dense = np.eye(d) + prior_cov @ (w[:, None] ** 2 * X).T @ X / sigma**2
        by_hand = np.sqrt(2 * np.log(400) + np.linalg.slogdet(dense)[1])
        assert value == pytest.approx(by_hand, rel=1e-9)
        lam, trace = (
            noise_radius(
                d, sigma, L, 0.05, (w**2).sum(), prior_cov, form=form, horizon=20
            )
            for form in ("lambda_max", "trace")
        )
        assert value <= lam * (1 + 1e-12) and lam <= trace * (1 + 1e-12)
    empty = noise_radius_determinant(
        np.zeros((0, 2)), [], np.eye(2), 1.0, 0.05, split="none"
    )
    assert empty == pytest.approx(np.sqrt(2 * np.log(20)))


def test_wrls_form_by_hand_and_as_a_prior():
    value = noise_radius_wrls(3, 0.4, 2.0, 1.5, 0.7, 0.1, 9.0, horizon=10)
    root = np.sqrt(2 * np.log(100) + 3 * np.log(1 + 1.5**2 * 9.0 / (2.0 * 3)))
    assert value == pytest.approx(0.4 * root + np.sqrt(2.0) * 0.7, rel=1e-14)
    # With Sigma_0 = (sigma^2 / lambda) I the WSB radius is the WRLS noise over sigma.
    wsb = noise_radius(
        3, 0.4, 1.5, 0.1, 9.0, 0.4**2 / 2.0 * np.eye(3), "lambda_max", horizon=10
    )
    assert wsb == pytest.approx(root, rel=1e-13)


def test_splits():
    assert failure_probability(0.1) == 0.1
    assert failure_probability(0.1, "horizon", horizon=40) == pytest.approx(0.0025)
    t = np.arange(1, 1_000_001)
    shares = failure_probability(0.1, "anytime", round=t)
    assert shares.sum() <= 0.1
    # What is left after N rounds is at most delta / (2 (1 + log N)).
    assert shares.sum() + 0.1 / (2 * (1 + np.log(1e6))) <= 0.1
    assert shares.sum() > 0.08, "most of the budget is used"
    assert failure_probability(0.1, "anytime", round=7) == pytest.approx(shares[6])
    radii = noise_radius(
        2, 1.0, 1.0, 0.1, squared_weight_sum(0.9, t[:5]), np.eye(2),
        split="anytime", round=t[:5],
    )  # fmt: skip
    single = noise_radius(
        2, 1.0, 1.0, 0.1, squared_weight_sum(0.9, 3), np.eye(2),
        split="anytime", round=3,
    )  # fmt: skip
    assert radii.shape == (5,) and radii[2] == pytest.approx(single, rel=1e-14)


def crossing_frequency(gamma, T, split, trials, rng, delta=0.1):
    """How often S=0, d=1, x=1, lambda=1 leaves the WRLS radius before T."""
    noise = rng.standard_normal((trials, T))
    sums = lfilter([1.0], [1.0, -gamma], noise, axis=1)
    t = np.arange(1, T + 1)
    V = 1.0 + (t if gamma == 1.0 else (1 - gamma**t) / (1 - gamma))
    squares = squared_weight_sum(gamma, t)
    radius = noise_radius_wrls(
        1, 1.0, 1.0, 1.0, 0.0, delta, squares, split=split, horizon=T, round=t
    )
    return (np.abs(sums) / np.sqrt(V) > radius).any(axis=1).mean()


def test_one_share_for_all_rounds_fails_under_forgetting_and_splits_repair_it():
    rng = np.random.default_rng(0)
    unsplit = crossing_frequency(0.9, 4000, "none", 400, rng)
    assert unsplit == pytest.approx(0.42, abs=0.08)  # far above delta = .1
    assert crossing_frequency(1.0, 4000, "none", 400, rng) <= 0.1
    assert crossing_frequency(0.9, 4000, "horizon", 400, rng) <= 0.01
    assert crossing_frequency(0.9, 4000, "anytime", 400, rng) <= 0.01


@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_noise_part_stays_within_the_radius(gamma):
    """At one fixed round the unsplit radius covers with probability 1 - delta."""
    rng = np.random.default_rng(2)
    t, d, sigma, delta, trials = 25, 3, 0.5, 0.2, 400
    prior_cov = np.diag([1.0, 0.2, 5.0])
    X = rng.standard_normal((t, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w = gamma ** np.arange(t - 1, -1.0, -1.0)
    radius = noise_radius_determinant(X, w, prior_cov, sigma, delta, split="none")
    zeros = np.zeros((t, d))
    norms = [
        error_parts(
            X, sigma * rng.standard_normal(t), zeros, np.zeros(d), w,
            np.zeros(d), prior_cov, sigma,
        ).norms["noise"]
        for _ in range(trials)
    ]  # fmt: skip
    assert np.mean(np.array(norms) > radius) <= delta
    assert max(norms) > 0.5 * radius, "the radius is not absurdly large"


@pytest.mark.parametrize(
    "change, error, message",
    [
        (dict(delta=1.0), ValueError, "delta"),
        (dict(delta=0.0), ValueError, "delta"),
        (dict(horizon=None), ValueError, "horizon"),
        (dict(horizon=2.5), TypeError, "horizon"),
        (dict(split="weekly"), ValueError, "split"),
        (dict(split="anytime"), ValueError, "round"),
        (dict(split="anytime", round=0), ValueError, "round"),
        (dict(form="best"), ValueError, "form"),
        (dict(dim=3), ValueError, "prior_cov"),
        (dict(noise_std=-1.0), ValueError, "noise_std"),
        (dict(squared_weight_sum=-1.0), ValueError, "weight_sum"),
        (dict(squared_weight_sum=[1.0, np.nan]), ValueError, "weight_sum"),
        (dict(arm_bound="x"), TypeError, "arm_bound"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    arguments = dict(
        dim=2,
        noise_std=1.0,
        arm_bound=1.0,
        delta=0.1,
        squared_weight_sum=1.0,
        prior_cov=np.eye(2),
        horizon=10,
    )
    with pytest.raises(error, match=message):
        noise_radius(**(arguments | change))
    with pytest.raises(ValueError, match="discount"):
        squared_weight_sum(1.1, 3)
    with pytest.raises(TypeError, match="rounds"):
        squared_weight_sum(0.9, np.array([1.5]))


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="split must be one of .* got 'half'"):
        failure_probability(0.1, split="half", horizon=10, round=3)


def test_anytime_shares_by_hand():
    t = np.array([1, 2, 10, 1000])
    share = failure_probability(0.1, split="anytime", round=t)
    expected = [0.1 / (2 * n * (1 + math.log(n)) ** 2) for n in (1, 2, 10, 1000)]
    np.testing.assert_allclose(share, expected, rtol=1e-14)


def test_before_the_first_round_no_weight_is_given():
    assert weight_sum(0.9, 0) == 0.0 and weight_sum(1.0, 0) == 0.0
    np.testing.assert_allclose(weight_sum(0.5, [0, 1, 2]), [0.0, 1.0, 1.5], rtol=1e-15)


def test_a_square_without_digits_is_refused():
    """The radius would be that of no observation at all."""
    assert noise_radius_wrls(1, 1.0, 1e-300, 0.0, 0.0, 0.5, 1.0, "none") > 0.0
    with pytest.raises(ValueError, match="must be less extreme: noise_radius_wrls"):
        noise_radius_wrls(1, 1.0, 1e-300, 1e-170, 0.0, 0.5, 1e200, "none")
    with pytest.raises(ValueError, match="must be less extreme: noise_radius does"):
        noise_radius(1, 1e170, 1.0, 0.5, 1e300, 1e200, split="none")
