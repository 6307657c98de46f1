"""Noise laws: moments, order of the draws, sub-Gaussian constants."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.optimize import minimize_scalar

import wsbnb.environments as we
from wsbnb.environments.noise import _clipped_t_std

NOISES = [
    we.GaussianNoise(0.7),
    we.UniformNoise(0.7),
    we.RademacherNoise(0.7),
    we.BoundedHeavyNoise(0.7),
    we.BoundedHeavyNoise(0.7, cutoff=100.0),
]


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_noise_moments(noise):
    n = 400_000
    draws = noise.sample(np.random.default_rng(1), n)
    assert draws.shape == (n,) and draws.dtype == np.float64
    assert abs(draws.mean()) < 5 * 0.7 / np.sqrt(n)
    error = np.std(draws**2) / np.sqrt(n)
    assert abs(np.mean(draws**2) - 0.49) < 5 * error + 1e-12
    assert noise.std == 0.7 and noise.sub_gaussian >= 0.7


@pytest.mark.parametrize("cutoff", [0.1, 1.0, 3.0, 10.0, 200.0])
def test_clipped_t_variance_against_quadrature(cutoff):
    law = stats.t(df=2)
    inside, _ = integrate.quad(lambda x: x * x * law.pdf(x), 0, cutoff, limit=200)
    want = np.sqrt(2 * (inside + cutoff**2 * law.sf(cutoff)))
    assert _clipped_t_std(cutoff) == pytest.approx(want, rel=1e-8)


def test_heavy_noise_has_the_clipped_t_law():
    noise = we.BoundedHeavyNoise(1.5, cutoff=4.0)
    raw = noise.sample(np.random.default_rng(5), 50_000) * _clipped_t_std(4.0) / 1.5
    at_edge = np.isclose(abs(raw), 4.0)
    assert at_edge.mean() == pytest.approx(2 * stats.t(2).sf(4.0), abs=0.006)
    assert abs(raw).max() <= 4.0 + 1e-12
    low, high = stats.t(2).cdf([-4.0, 4.0])
    uniforms = (stats.t(2).cdf(raw[~at_edge]) - low) / (high - low)
    assert stats.kstest(uniforms, "uniform").pvalue > 1e-4
    assert noise.bound == pytest.approx(4.0 * 1.5 / _clipped_t_std(4.0))


def exact_log_mgf(noise, nu):
    """log E exp(nu eps) by closed form, or by quadrature for the clipped law."""
    s = noise.std
    if isinstance(noise, we.GaussianNoise):
        return nu**2 * s**2 / 2
    if isinstance(noise, we.RademacherNoise):
        return np.logaddexp(nu * s, -nu * s) - np.log(2)
    if isinstance(noise, we.UniformNoise):
        a = np.sqrt(3) * s * nu
        return a + np.log(-np.expm1(-2 * a)) - np.log(2 * a)
    scale, top = nu * noise.bound / noise.cutoff, nu * noise.bound

    def integrand(x):  # density of t with 2 degrees of freedom times e^{-top} 2 cosh
        return (2 + x * x) ** -1.5 * (
            math.exp(scale * x - top) + math.exp(-scale * x - top)
        )

    breaks = [1.0, noise.cutoff * 0.9]
    value, _ = integrate.quad(integrand, 0, noise.cutoff, limit=400, points=breaks)
    edge_mass = stats.t(2).sf(noise.cutoff)
    return top + np.log(value + edge_mass * (1 + np.exp(-2 * top)))


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_noise_is_sub_gaussian_with_the_stated_constant(noise):
    for nu in np.geomspace(0.02, 60.0, 60) / noise.std:
        limit = nu**2 * noise.sub_gaussian**2 / 2
        assert exact_log_mgf(noise, nu) <= limit * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize("cutoff", [10.0, 100.0])
def test_heavy_noise_is_not_sub_gaussian_with_its_standard_deviation(cutoff):
    noise = we.BoundedHeavyNoise(0.7, cutoff)
    grid = np.geomspace(0.1, 10.0, 200) / noise.std
    best = max(np.sqrt(2 * exact_log_mgf(noise, nu)) / nu for nu in grid)
    assert best > 1.3 * noise.std  # the constant is needed ...
    assert best <= noise.sub_gaussian < 1.2 * best  # ... and not wasteful
    assert noise.sub_gaussian < noise.bound


@settings(max_examples=40, deadline=None)
@given(cutoff=st.floats(0.05, 1e4), y=st.floats(1e-3, 300.0))
def test_three_point_law_stays_below_the_stated_constant(cutoff, y):
    noise = we.BoundedHeavyNoise(1.0, cutoff)
    q = noise.bound**-2
    nu = y / noise.bound
    assert np.log1p(q * (np.cosh(y) - 1)) <= nu**2 * noise.sub_gaussian**2 / 2


@pytest.mark.parametrize("cutoff", [0.05, 1.0, 3.0, 10.0, 100.0, 1e4])
def test_the_constant_is_hardly_above_the_best_for_three_points(cutoff):
    """The supremum found by SciPy's search, from many starts."""
    noise = we.BoundedHeavyNoise(0.7, cutoff)
    q = (noise.std / noise.bound) ** 2

    def squared(log_y):
        y = np.exp(log_y)
        log_mgf = np.logaddexp(np.log1p(-q), np.log(0.5 * q) + np.logaddexp(y, -y))
        return -2.0 * log_mgf / (q * y * y)

    cells = np.linspace(np.log(0.02), np.log(4.0 / q), 60)
    found = [
        minimize_scalar(squared, bounds=pair, method="bounded", options={"xatol": 1e-9})
        for pair in zip(cells[:-1], cells[1:], strict=True)
    ]
    best = noise.std * np.sqrt(max(1.0, -min(each.fun for each in found)))
    assert best <= noise.sub_gaussian <= 1.003 * best


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_noise_is_filled_in_order(noise):
    whole = noise.sample(np.random.default_rng(3), 103)
    rng = np.random.default_rng(3)
    parts = np.concatenate([noise.sample(rng, n) for n in (1, 2, 0, 33, 67)])
    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_noise_scales_with_the_reward_unit(noise):
    values = noise.sample(np.random.default_rng(3), 50)
    bigger = dataclasses.replace(noise, std=4.0 * noise.std)
    np.testing.assert_allclose(
        bigger.sample(np.random.default_rng(3), 50), 4.0 * values, rtol=1e-14
    )
    assert bigger.sub_gaussian == pytest.approx(4.0 * noise.sub_gaussian)
    silent = dataclasses.replace(noise, std=0.0)
    assert (silent.sample(np.random.default_rng(0), 9) == 0.0).all()
