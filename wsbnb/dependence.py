"""The mean of a series whose neighbours depend on one another."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import ArrayLike, Seed

__all__ = ["block_bootstrap", "suggested_block_length"]

# Random numbers held at once by the bootstrap.
_NUMBERS = 2**20
# Lags in a row: max(5, sqrt(log10 n)), and no series has 10^25 values.
_QUIET = 5


def block_bootstrap(
    series: ArrayLike,
    block_length: int,
    draws: int = 2000,
    level: float = 0.95,
    seed: Seed = 0,
) -> dict[str, float]:
    r"""Interval for the mean of a series whose neighbours depend on one another.

    The circular block bootstrap of :cite:t:`politis1992circular`: a new series is laid
    out of blocks of `block_length` neighbours, which start anywhere; the end is joined
    to the beginning, and the last block is cut. The quantiles of the means of many
    such series are the interval.

    Parameters
    ----------
    series : array of shape (n,)
    block_length : int
        At most n. With 1 this is the ordinary bootstrap, which is right for
        independent values only.
    draws : int, default 2000
        New series.
    level : float, default 0.95
        Of the interval.
    seed : int, SeedSequence or Generator, default 0

    Returns
    -------
    dict
        mean, se, low, high.

    Notes
    -----
    The interval is a little short when there are few blocks: think of at least 20. It
    covers the mean of a stationary process. For a series with one change in it, it
    describes series that change as often.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.repeat([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], 25)
    >>> alone, together = (block_bootstrap(series, length) for length in (1, 25))
    >>> bool(together["se"] > 2 * alone["se"])  # 200 values, but only eight of a kind
    True
    """
    series = _validate.vector("series", series)
    _validate.bounded("series", np.abs(series).max())
    n = len(series)
    length = _validate.integer("block_length", block_length)
    if length > n:
        raise ValueError(f"block_length must be at most the {n} rounds, got {length}")
    draws = _validate.integer("draws", draws, minimum=2)
    _validate.room("draws", draws, draws)
    level = _validate.probability("level", level)
    rng = _validate.generator("seed", seed)
    centre = series.mean()
    means = centre + _resampled_means(series - centre, length, draws, rng)
    low, high = np.quantile(means, [0.5 - level / 2, 0.5 + level / 2])
    return {
        "mean": float(centre),
        "se": float(means.std(ddof=1)),
        "low": float(low),
        "high": float(high),
    }


def _resampled_means(series, length, draws, rng):
    """Means of `draws` series, laid out of sums of blocks."""
    n = len(series)
    running = np.concatenate([[0.0], np.cumsum(np.concatenate([series, series]))])
    blocks = -(-n // length)
    last = n - (blocks - 1) * length
    whole = running[length : length + n] - running[:n]
    cut = running[last : last + n] - running[:n]
    means = np.empty(draws)
    step = max(1, _NUMBERS // blocks)
    for first in range(0, draws, step):
        starts = rng.integers(0, n, size=(min(step, draws - first), blocks))
        sums = whole[starts[:, :-1]].sum(axis=1) + cut[starts[:, -1]]
        means[first : first + len(starts)] = sums / n
    return means


def suggested_block_length(series: ArrayLike) -> int:
    r"""A block length for the bootstrap, from the series' own autocorrelation.

    The rule of :cite:t:`politis2004automatic`, with the correction of
    :cite:t:`patton2009correction`, for circular blocks:

    .. math::

        b = \Bigl(\frac{3\,G^2}{2\,g^2}\Bigr)^{1/3} n^{1/3}, \qquad
        G = \sum_k \lambda_k |k| R_k, \quad g = \sum_k \lambda_k R_k,

    with autocovariances :math:`R_k` and weights :math:`\lambda_k` that cut the sums off
    where the autocorrelation has died out.

    Parameters
    ----------
    series : array of shape (n,)

    Returns
    -------
    int
        At least 1 and at most :math:`\min(3\sqrt n, n/3)`.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> smoothed = np.convolve(noise, np.ones(10), "valid")
    >>> suggested_block_length(noise), suggested_block_length(smoothed)
    (1, 24)
    """
    series = _validate.vector("series", series)
    n = len(series)
    largest = np.abs(series).max()
    unit = series / (largest or 1.0)  # the length does not depend on the unit
    centred = unit - unit.mean()
    # A constant has no autocorrelation; neither has rounding error.
    if n < 9 or np.ptp(unit) < 1e-14:
        return 1
    longest = int(np.ceil(min(3 * np.sqrt(n), n / 3)))
    lags = int(np.ceil(np.sqrt(n))) + _QUIET
    R = np.array([centred[k:] @ centred[: n - k] for k in range(lags + 1)])
    M = min(2 * max(_last_lag(R / R[0], n), 1), lags)
    k = np.arange(1, M + 1)
    window = np.minimum(1.0, 2.0 * (1.0 - k / M))
    G = 2 * np.sum(window * k * R[k])
    g = R[0] + 2 * np.sum(window * R[k])
    if g <= 0.0:  # the estimate of a variance that is nearly zero
        return 1
    b = (1.5 * (G / g) ** 2) ** (1 / 3) * n ** (1 / 3)
    return int(np.clip(np.ceil(b), 1, longest))


def _last_lag(correlation, n):
    """The lag after which autocorrelations are negligible, _QUIET or more in a row."""
    small = np.abs(correlation[1:]) < 2 * np.sqrt(np.log10(n) / n)
    lag = 0
    while not small[lag : lag + _QUIET].all():
        lag += 1
    return lag
