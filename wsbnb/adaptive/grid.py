"""Which discounts to try."""

import numpy as np

from wsbnb import _validate

#: The shortest memory of a grid, in multiples of the dimension.
SHORTEST = 5
#: More discounts than this are a mistake, or a file that wants to fill the memory.
MOST = 256
#: Horizon of the default grid where no horizon is known.
LONG = 10_000


def discount_grid(horizon: int, size: int = 8, dim: int = 1) -> np.ndarray:
    r"""Discounts whose memories :math:`1/(1-\gamma)` grow geometrically.

    The memories run from :math:`\min(5d, T)` to :math:`T`; the last discount is 1, no
    forgetting at all. Memories differ by a factor, because that is how their effect
    differs; :cite:t:`cheung2019learning` space their windows in the same way.

    Parameters
    ----------
    horizon : int
        The longest finite memory :math:`T`.
    size : int, default 8
        Number of discounts, 2 to 256.
    dim : int, default 1
        Dimension :math:`d`. A memory of fewer than a few d rounds cannot hold an
        estimate.

    Returns
    -------
    array
        Increasing. Shorter than `size` where memories coincide.

    Examples
    --------
    >>> discount_grid(1000, size=4, dim=2).round(3).tolist()
    [0.9, 0.99, 0.999, 1.0]
    """
    T = _validate.integer("horizon", horizon)
    size = _validate.integer("size", size, minimum=2, maximum=MOST)
    shortest = min(SHORTEST * _validate.integer("dim", dim), T)
    memories = np.geomspace(shortest, T, size - 1)
    finite = 1.0 - 1.0 / memories[memories > 1.0]
    return np.unique(np.append(finite, 1.0))


def checked_discounts(discounts, base, horizon=None):
    """Different discounts in (0, 1], increasing; the default grid for None."""
    if discounts is None:
        dim = _validate.integer("dim", getattr(base, "dim", 1))
        horizon = horizon or getattr(base, "horizon", None) or LONG
        return discount_grid(horizon, dim=dim)
    values = _validate.vector("discounts", discounts)
    if values.size > MOST:
        raise ValueError(f"discounts must hold at most {MOST}, got {values.size}")
    for value in values:
        _validate.discount("discounts", value)
    if (np.diff(values) <= 0.0).any():
        raise ValueError(
            f"discounts must be different and increasing, got {values.tolist()}"
        )
    return values
