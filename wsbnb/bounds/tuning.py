"""How fast to forget: the paper's rules for the discount."""

import numpy as np

from wsbnb import _validate as check
from wsbnb._types import TuningRule
from wsbnb.bounds import _check

RULES = ("ucb", "thompson", "sharp")


@_check.within_range()
def tuned_discount(
    dim: int,
    horizon: int,
    variation: float,
    rule: TuningRule = "ucb",
    n_arms: int | None = None,
) -> float:
    r"""Discount that balances drift against variance in the regret bounds.

    .. math:: \gamma = 1-\max\Bigl\{\frac1T,\sqrt{\frac{B_T}{DT}}\Bigr\}

    - ``"ucb"``: :math:`D=d`, for the deterministic and the randomised UCB methods
      (Corollaries 1 and 2);
    - ``"thompson"``: :math:`D=d\sqrt{\log K}` (Corollary 3);
    - ``"sharp"``: :math:`D=d^{3/2}`, what the drift bound without :math:`\sqrt d`
      asks for.

    All three presume :math:`\Sigma_0=I/d` and measure lengths in units in which
    :math:`L` and :math:`\sigma` are of order 1.

    A large variation, :math:`B_T\ge D(T-1)^2/T`, would make :math:`\gamma` smaller
    than :math:`1/T`. The corollaries need :math:`\gamma>1/T`, so the result is
    clipped there. Nothing useful is left of the bounds in that case: the parameter
    moves as far in a round as the memory reaches. For :math:`K=1` the logarithm
    is taken at 2. At :math:`T=1` the result is 1.

    Parameters
    ----------
    dim : int
        :math:`d`.
    horizon : int
        :math:`T`.
    variation : float
        :math:`B_T\ge0`, or an upper bound on it.
    rule : {"ucb", "thompson", "sharp"}
    n_arms : int, optional
        :math:`K`, needed by ``"thompson"``.

    Returns
    -------
    float
        In :math:`[1/T, 1)` for :math:`T\ge2`.

    Examples
    --------
    >>> from wsbnb.bounds import tuned_discount
    >>> round(tuned_discount(2, 4000, 3 * 2**0.5), 5)
    0.97697
    >>> round(tuned_discount(2, 4000, 3 * 2**0.5, rule="thompson", n_arms=48), 5)
    0.98358
    >>> tuned_discount(2, 4000, 0.0)
    0.99975
    """
    d = check.integer("dim", dim)
    T = check.integer("horizon", horizon)
    B = check.nonnegative("variation", variation)
    check.choice("rule", rule, RULES)
    K = None if n_arms is None else check.integer("n_arms", n_arms)
    scale = float(d)
    if rule == "sharp":
        scale = d**1.5
    if rule == "thompson":
        if K is None:
            raise ValueError("n_arms must be given with rule='thompson', got None")
        scale = d * np.sqrt(np.log(max(K, 2)))
    gamma = 1.0 - max(1.0 / T, np.sqrt(B / (scale * T)))
    return float(max(gamma, 1.0 / T))
