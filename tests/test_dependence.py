"""Intervals for the means of dependent series, against SciPy and known processes."""

import math

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


@pytest.mark.parametrize("numbers", [1, 100])
def test_pieces_do_not_change_the_interval(numbers, monkeypatch):
    series = np.random.default_rng(3).normal(size=50)
    whole = wsbnb.block_bootstrap(series, 4)
    monkeypatch.setattr("wsbnb.dependence._NUMBERS", numbers)
    assert wsbnb.block_bootstrap(series, 4) == whole


@pytest.mark.parametrize("draws", [2, 3])
def test_two_draws_are_enough(draws):
    found = wsbnb.block_bootstrap([1.0, 2.0, 4.0], 1, draws=draws)
    assert 1.0 <= found["low"] <= found["high"] <= 4.0


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


def rule_by_hand(series):
    """Politis and White's rule as their paper puts it, one sum after the other."""
    n, mean = len(series), math.fsum(series) / len(series)

    def covariance(k):
        pairs = zip(series[k:], series[: n - k], strict=True)
        return math.fsum((a - mean) * (b - mean) for a, b in pairs) / n

    run = max(5, math.ceil(math.sqrt(math.log10(n))))
    last = min(n - 1, math.ceil(math.sqrt(n)) + run)
    limit = 2 * math.sqrt(math.log10(n) / n)
    large = [abs(covariance(k) / covariance(0)) >= limit for k in range(1, last + 1)]
    quiet = [m for m in range(last - run + 1) if not any(large[m : m + run])]
    m = quiet[0] if quiet else max(k for k in range(1, last + 1) if large[k - 1])
    M = min(2 * max(m, 1), last)
    G = g = 0.0
    for k in range(-M, M + 1):
        taper = 1.0 if abs(k) <= M / 2 else 2 * (1 - abs(k) / M)
        G += taper * abs(k) * covariance(abs(k))
        g += taper * covariance(abs(k))
    if g <= 0:
        return 1
    b = (2 * G**2 / (4 / 3 * g**2)) ** (1 / 3) * n ** (1 / 3)
    return int(max(1, min(math.ceil(b), math.ceil(min(3 * math.sqrt(n), n / 3)))))


@pytest.mark.parametrize("n", [9, 10, 11, 17, 26, 27, 60, 150])
@pytest.mark.parametrize("phi", [-0.8, -0.3, 0.0, 0.5, 0.95, 1.0])
def test_suggested_length_is_the_published_rule(n, phi):
    noise = np.random.default_rng(n).normal(size=(12, n))
    for row in noise:
        for t in range(1, n):
            row[t] += phi * row[t - 1]
        assert wsbnb.suggested_block_length(row) == rule_by_hand(row)


@pytest.mark.parametrize("season", [1, 2, 5, 6, 7])
def test_suggested_length_of_a_season(season):
    """One autocorrelation only, behind as many small ones as may be passed over."""
    noise = np.random.default_rng(season).normal(size=407)
    row = noise[season:] + noise[:-season]
    assert wsbnb.suggested_block_length(row) == rule_by_hand(row)


@pytest.mark.parametrize("flips", [2, 3, 4])
def test_suggested_length_of_square_waves(flips):
    """Strong and slow correlations of both signs, which never die out."""
    row = np.sign(np.sin(np.pi * flips * (np.arange(48) + 0.5) / 48))
    assert wsbnb.suggested_block_length(row) == rule_by_hand(row)


def test_suggested_length_where_the_mean_has_no_variance():
    """The estimate of it is zero to the last bit here; nothing can be divided by it."""
    for row in (
        [1, -1, 1, -1, 0, 1, 0, -1, 0, 0],
        [-1, 0, -1, 1, -1, 1] + [1, 0, 1, -1] + [1, -1],
    ):
        assert wsbnb.suggested_block_length(row) == 1


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
    "unit", [5e-324, 1e-200, -1e-20, 1.0, -3.0, 1e20, -1e200, 1e305]
)
def test_suggested_length_has_no_unit(unit):
    """A walk in any unit; and a constant, of which only rounding errors vary."""
    walk = np.arange(60) // 7 % 3
    assert rule_by_hand(walk) == wsbnb.suggested_block_length(unit * walk) > 1
    constant = unit * (1.0 + np.arange(60) % 5 // 4 * 2**-52)
    assert wsbnb.suggested_block_length(constant) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        (([], 1), ValueError, "series"),
        (([1.0, np.nan], 1), ValueError, "series"),
        (([-1e200, 2.0], 1), ValueError, "series"),
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
