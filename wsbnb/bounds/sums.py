"""Sums of exponential weights, accurate also where the discount is close to 1."""

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate as check
from wsbnb._types import FloatOrArray
from wsbnb.bounds import _check


@_check.within_range()
def weight_sum(discount: float, rounds: ArrayLike, power: int = 1) -> FloatOrArray:
    r"""Sum of the exponential weights raised to a power.

    .. math:: \sum_{s=1}^{t}\gamma^{p(t-s)} = \frac{1-\gamma^{pt}}{1-\gamma^p},

    and :math:`t` when :math:`\gamma = 1`. The difference :math:`1-\gamma^p` is
    taken with ``expm1``, so nothing cancels when :math:`\gamma` is close to 1.

    Parameters
    ----------
    discount : float
        :math:`\gamma \in (0, 1]`.
    rounds : int or array of int
        Number of observations :math:`t \ge 0`.
    power : int
        The exponent :math:`p \ge 1`.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> from wsbnb.bounds import weight_sum
    >>> weight_sum(0.5, 3)
    1.75
    >>> weight_sum(1.0, 3)
    3.0
    """
    gamma = check.discount("discount", discount)
    t = _check.round_numbers("rounds", rounds, minimum=0)
    p = check.integer("power", power)
    return geometric_sum(p * np.log(gamma), t)


def geometric_sum(rate: float, terms: FloatOrArray) -> FloatOrArray:
    """Sum of so many powers of exp(rate), from the power 0 on."""
    if rate == 0.0:
        return terms
    total = np.expm1(terms * rate) / np.expm1(rate)
    return float(total) if np.ndim(total) == 0 else total


@_check.within_range()
def squared_weight_sum(discount: float, rounds: ArrayLike) -> FloatOrArray:
    r"""Sum of the squared exponential weights.

    .. math:: \sum_{s=1}^{t}\gamma^{2(t-s)} = \frac{1-\gamma^{2t}}{1-\gamma^2},

    the quantity inside the noise radius :math:`\beta_t`.

    Parameters
    ----------
    discount : float
        :math:`\gamma \in (0, 1]`.
    rounds : int or array of int
        Number of observations :math:`t \ge 0`.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> from wsbnb.bounds import squared_weight_sum
    >>> squared_weight_sum(0.5, 2)
    1.25
    """
    return weight_sum(discount, rounds, power=2)
