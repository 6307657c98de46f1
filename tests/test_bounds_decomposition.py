"""The three parts add up to the error of a posterior computed elsewhere."""

import numpy as np
import pytest

from wsbnb.bounds import (
    drift_bound,
    error_parts,
    prior_penalty,
    surrogate_mean,
)


def instance(seed, t=6, d=3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    return dict(
        X=rng.standard_normal((t, d)),
        rewards=rng.standard_normal(t),
        parameters_past=rng.standard_normal((t, d)),
        parameter_now=rng.standard_normal(d),
        weights=rng.random(t),
        prior_mean=rng.standard_normal(d),
        prior_cov=root @ root.T + 0.1 * np.eye(d),
        noise_std=0.3,
    )


def dense_posterior(X, rewards, weights, prior_mean, prior_cov, noise_std, **_):
    base = np.linalg.inv(prior_cov)
    precision = base + (weights[:, None] * X).T @ X / noise_std**2
    h = base @ prior_mean + (weights * rewards) @ X / noise_std**2
    return np.linalg.solve(precision, h), precision


@pytest.mark.parametrize("t, d", [(6, 3), (1, 1), (2, 5), (30, 2)])
def test_parts_add_up_to_the_error_of_the_dense_posterior(t, d):
    for seed in range(20):
        given = instance(seed, t, d)
        parts = error_parts(**given)
        mean, precision = dense_posterior(**given)
        total = parts.drift + parts.noise + parts.prior
        error = mean - given["parameter_now"]
        np.testing.assert_allclose(total, error, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(parts.error, total)
        np.testing.assert_allclose(parts.precision, precision, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(parts.precision, parts.precision.T)
        norms = parts.norms
        for name in ("drift", "noise", "prior"):
            v = getattr(parts, name)
            assert norms[name] == pytest.approx(np.sqrt(v @ precision @ v), rel=1e-7)
        assert norms["error"] <= norms["drift"] + norms["noise"] + norms["prior"] + 1e-9


def test_surrogate_is_the_posterior_of_noise_free_data_centred_on_the_present():
    given = instance(3)
    clean = np.einsum("ij,ij->i", given["X"], given["parameters_past"])
    mean, _ = dense_posterior(
        **(given | dict(rewards=clean, prior_mean=given["parameter_now"]))
    )
    keys = (
        "X", "parameters_past", "parameter_now", "weights", "prior_cov", "noise_std",
    )  # fmt: skip
    surrogate = surrogate_mean(**{key: given[key] for key in keys})
    np.testing.assert_allclose(surrogate, mean, rtol=1e-9, atol=1e-10)
    drift = error_parts(**given).drift
    np.testing.assert_allclose(surrogate - given["parameter_now"], drift, atol=1e-12)


def test_a_parameter_that_stays_has_no_drift_part():
    given = instance(4)
    still = np.tile(given["parameter_now"], (6, 1))
    parts = error_parts(**(given | dict(parameters_past=still)))
    np.testing.assert_array_equal(parts.drift, np.zeros(3))


def test_first_round_has_only_the_prior_part():
    given = instance(5) | dict(
        X=np.zeros((0, 3)), rewards=[], parameters_past=np.zeros((0, 3)), weights=[]
    )
    parts = error_parts(**given)
    np.testing.assert_allclose(
        parts.prior, given["prior_mean"] - given["parameter_now"], rtol=1e-9
    )
    assert not parts.drift.any() and not parts.noise.any()


def test_drift_and_prior_parts_stay_below_their_bounds():
    for seed in range(100):
        given = instance(seed)
        parts = error_parts(**given)
        path = np.vstack([given["parameters_past"], given["parameter_now"]])
        L = np.linalg.norm(given["X"], axis=1).max()
        S = np.linalg.norm(given["parameter_now"])
        alpha = drift_bound(path, given["weights"], L, 0.3, form="sharp")
        cov = np.linalg.inv(parts.precision)
        penalty = prior_penalty(given["prior_mean"], given["prior_cov"], cov, S)
        assert parts.norms["drift"] <= alpha * (1 + 1e-9)
        assert parts.norms["prior"] <= penalty * (1 + 1e-9)


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(weights=np.ones(5)), "weights"),
        (dict(rewards=np.ones(5)), "rewards"),
        (dict(parameters_past=np.ones((5, 3))), "parameters_past"),
        (dict(X=np.ones((6, 2))), "X"),
        (dict(prior_mean=np.ones(2)), "prior_mean"),
        (dict(noise_std=0.0), "noise_std"),
    ],
)
def test_bad_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        error_parts(**(instance(0) | change))


@pytest.mark.parametrize("unit", [1e-170, 1e-160, 1e160])
def test_no_unit_of_the_noise_is_too_small_or_too_large(unit):
    """Arms, rewards and noise in another unit are the same problem."""
    given = instance(0)
    other = given | {k: unit * given[k] for k in ("X", "rewards", "noise_std")}
    for one, same in zip(error_parts(**given), error_parts(**other), strict=True):
        np.testing.assert_allclose(same, one, rtol=1e-10)
    for two in (given, other):
        del two["rewards"], two["prior_mean"]
    np.testing.assert_allclose(
        surrogate_mean(**other), surrogate_mean(**given), rtol=1e-10
    )


@pytest.mark.parametrize("reward", [0.0, 1e-200, 1e200])
def test_norms_of_parts_whose_squares_are_no_doubles(reward):
    parts = error_parts([[1.0]], [reward], [[0.0]], [0.0], [1.0], [0.0], 1.0, 1.0)
    assert parts.norms["noise"] == pytest.approx(reward / 2**0.5, rel=1e-14, abs=0)
