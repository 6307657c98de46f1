"""Intervals for the means of dependent series, against SciPy and known processes."""

import numpy as np
import pytest
from scipy import stats

import wsbnb


def autoregression(phi, n, size, seed):
    """`size` stationary AR(1) series with mean 0 and innovations of variance 1."""
    rng = np.random.default_rng(seed)
    x = np.empty((size, n))
    x[:, 0] = rng.normal(size=size) / np.sqrt(1 - phi**2)
    for t in range(1, n):
        x[:, t] = phi * x[:, t - 1] + rng.normal(size=size)
    return x


def test_blocks_of_one_are_scipys_bootstrap():
    series = np.random.default_rng(1).gamma(2.0, size=80)
    ours = wsbnb.block_bootstrap(series, 1, draws=500, level=0.9, seed=7)
    theirs = stats.bootstrap(
        (series,),
        np.mean,
        n_resamples=500,
        confidence_level=0.9,
        method="percentile",
        rng=np.random.default_rng(7),
    )
    np.testing.assert_allclose(ours["low"], theirs.confidence_interval.low)
    np.testing.assert_allclose(ours["high"], theirs.confidence_interval.high)
    np.testing.assert_allclose(ours["se"], theirs.standard_error)


@pytest.mark.parametrize(("n", "length"), [(7, 3), (8, 4), (5, 5), (6, 1)])
def test_means_are_those_of_series_laid_out_by_hand(n, length):
    series = np.random.default_rng(2).normal(size=n) + 5.0
    rng = np.random.default_rng(9)
    means = []
    for starts in rng.integers(0, n, size=(40, -(-n // length))):
        rows = np.concatenate([np.arange(s, s + length) % n for s in starts])[:n]
        means.append(series[rows].mean())
    result = wsbnb.block_bootstrap(series, length, draws=40, level=0.5, seed=9)
    expected = np.quantile(means, [0.25, 0.75])
    np.testing.assert_allclose([result["low"], result["high"]], expected)
    np.testing.assert_allclose(result["se"], np.std(means, ddof=1))


def test_pieces_do_not_change_the_interval(monkeypatch):
    series = np.random.default_rng(3).normal(size=50)
    whole = wsbnb.block_bootstrap(series, 4)
    monkeypatch.setattr("wsbnb.dependence._NUMBERS", 100)
    assert wsbnb.block_bootstrap(series, 4) == whole


def test_coverage_on_an_autoregression_whose_variance_is_known():
    phi, n, runs = 0.7, 800, 200
    true_se = 1.0 / ((1.0 - phi) * np.sqrt(n))
    covered = {1: 0, 40: 0}
    ratio = []
    for series in autoregression(phi, n, runs, seed=11):
        for length in covered:
            result = wsbnb.block_bootstrap(series, length, draws=300)
            covered[length] += result["low"] <= 0.0 <= result["high"]
        ratio.append(result["se"] / true_se)
    assert 0.87 <= covered[40] / runs <= 0.98
    assert covered[1] / runs < 0.75  # independent draws: the interval is far too short
    assert 0.85 < np.mean(ratio) < 1.0


@pytest.mark.parametrize("phi", [0.3, 0.6, 0.9])
def test_suggested_length_is_near_the_optimum_of_an_autoregression(phi):
    n = 4000
    optimum = (6 * phi**2 / (1 - phi**2) ** 2) ** (1 / 3) * n ** (1 / 3)
    series = autoregression(phi, n, 20, seed=5)
    found = [wsbnb.suggested_block_length(row) for row in series]
    assert 0.75 * optimum < np.mean(found) < 1.25 * optimum


def test_suggested_length_at_the_edges():
    noise = np.random.default_rng(0).normal(size=500)
    assert wsbnb.suggested_block_length(noise) <= 3
    assert wsbnb.suggested_block_length(np.full(100, 0.1)) == 1
    assert wsbnb.suggested_block_length([1.0, 2.0]) == 1
    walk = np.cumsum(noise)
    assert wsbnb.suggested_block_length(walk) <= np.ceil(3 * np.sqrt(500))
    shifted = wsbnb.suggested_block_length(1e3 * walk + 7.0)
    assert shifted == wsbnb.suggested_block_length(walk)


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        (([], 1), ValueError, "series"),
        (([1.0, np.nan], 1), ValueError, "series"),
        (([1.0, 2.0], 0), ValueError, "block_length"),
        (([1.0, 2.0], 3), ValueError, "block_length"),
        (([1.0, 2.0], 1.5), TypeError, "block_length"),
        (([1.0, 2.0], 1, 1), ValueError, "draws"),
        (([1.0, 2.0], 1, 10, 1.0), ValueError, "level"),
        (([1.0, 2.0], 1, 10, 0.9, "x"), TypeError, "seed"),
    ],
)
def test_bad_bootstrap_arguments_are_named(arguments, error, word):
    with pytest.raises(error, match=word):
        wsbnb.block_bootstrap(*arguments)
