"""Orders of the regret bounds (Table 1), and what they compare with."""

from typing import NamedTuple

import numpy as np

from wsbnb import _validate as check
from wsbnb.bounds import _check


class _Terms(NamedTuple):
    """Powers in the two terms of a regret bound, up to constants and log T.

    Drift costs ``d**drift * B * gap**-1.5`` and exploration
    ``d * log(K)**arms * T * gap**0.5``, where ``gap`` is one minus the discount.
    """

    drift: float
    arms: float = 0.0


# The drift term carries sqrt(d lambda_max(Sigma_0)); the sharp one has no sqrt(d).
_FIXED, _MATCHED, _SHARP = 0.5, 0.0, -0.5  # Sigma_0 = I; I/d; I/d without sqrt(d)
_TABLE_1 = {
    "DLinUCB": _Terms(_FIXED),
    "LBWeightUCB": _Terms(_MATCHED),
    "WSBLinUCB": _Terms(_MATCHED),
    "DRandLinUCB": _Terms(_FIXED),
    "WSBRandLinUCB": _Terms(_MATCHED),
    "DLinTS": _Terms(_FIXED, arms=0.5),
    "WSBLinTS": _Terms(_MATCHED, arms=0.5),
    "sharp": _Terms(_SHARP),
}
ALGORITHMS = (*_TABLE_1, "lower_bound")


@_check.within_range()
def regret_order(
    dim: int,
    variation: float,
    horizon: int,
    algorithm: str = "WSBLinUCB",
    n_arms: int | None = None,
) -> float:
    r"""Order of a regret bound, without constants and logarithms of :math:`T`.

    ============================  ============================================
    algorithm                     order
    ============================  ============================================
    DLinUCB, DRandLinUCB          :math:`d^{7/8}B_T^{1/4}T^{3/4}`
    LBWeightUCB, WSBLinUCB,       :math:`d^{3/4}B_T^{1/4}T^{3/4}`
    WSBRandLinUCB
    DLinTS, WSBLinTS              times :math:`\log(K)^{3/8}`
    sharp                         :math:`d^{5/8}B_T^{1/4}T^{3/4}`
    lower_bound                   :math:`d^{2/3}B_T^{1/3}T^{2/3}`
    ============================  ============================================

    No exponent is stored. A bound is the sum of what drift costs,
    :math:`d^aB_T(1-\gamma)^{-3/2}`, and of what exploration costs,
    :math:`d(\log K)^cT\sqrt{1-\gamma}`; the discount that makes them equal gives the
    order. :math:`a=\tfrac12` for a prior (or ridge) that does not depend on
    :math:`d`, 0 for :math:`\Sigma_0=I/d`, and :math:`-\tfrac12` for the latter with
    the drift bound without :math:`\sqrt d` (``"sharp"``). :math:`c=\tfrac12` for
    Thompson sampling. When the drift is mild the discount stops at :math:`1-1/T`,
    and all upper bounds at the stationary order :math:`d\sqrt T` (times
    :math:`\sqrt{\log K}` for Thompson sampling).

    Parameters
    ----------
    dim : int
        :math:`d`.
    variation : float
        :math:`B_T`.
    horizon : int
        :math:`T`.
    algorithm : str
        One of the names in the table.
    n_arms : int, optional
        :math:`K`, needed by the two Thompson samplers.

    Returns
    -------
    float

    Examples
    --------
    >>> from wsbnb.bounds import regret_order
    >>> regret_order(16, 16.0, 10**4)
    16000.0
    >>> round(regret_order(16, 16.0, 10**4, "sharp"), 1)
    11313.7
    """
    d = check.integer("dim", dim)
    B = check.nonnegative("variation", variation)
    T = check.integer("horizon", horizon)
    check.choice("algorithm", algorithm, ALGORITHMS)
    K = None if n_arms is None else check.integer("n_arms", n_arms)
    if algorithm == "lower_bound":
        return float(d ** (2 / 3) * B ** (1 / 3) * T ** (2 / 3))
    terms = _TABLE_1[algorithm]
    log_arms = 1.0
    if terms.arms:
        if K is None:
            raise ValueError(f"n_arms must be given for {algorithm}, got None")
        log_arms = np.log(max(K, 2))
    drift = d**terms.drift * B
    width = d * log_arms**terms.arms * T
    gap = max(1.0 / T, np.sqrt(drift / width))  # where the two terms are equal
    return float(width * np.sqrt(gap))


@_check.within_range()
def trivial_bound(arm_bound: float, param_bound: float, horizon: int) -> float:
    r"""The regret that no policy can exceed, :math:`2LST`.

    Parameters
    ----------
    arm_bound, param_bound : float
        :math:`L` and :math:`S`.
    horizon : int
        :math:`T`.

    Returns
    -------
    float

    Examples
    --------
    >>> from wsbnb.bounds import trivial_bound
    >>> trivial_bound(1.0, 1.0, 4000)
    8000.0
    """
    L = check.nonnegative("arm_bound", arm_bound)
    S = check.nonnegative("param_bound", param_bound)
    return 2.0 * L * S * check.integer("horizon", horizon)
