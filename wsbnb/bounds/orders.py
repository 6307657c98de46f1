"""Orders of the regret bounds (Table 1), and what they compare with."""

import numpy as np

from wsbnb import _validate as check
from wsbnb.bounds import _check

# Exponent of d, and exponent of log K, beside B^{1/4} T^{3/4}.
_TABLE_1 = {
    "DLinUCB": (7 / 8, 0.0),
    "LBWeightUCB": (3 / 4, 0.0),
    "WSBLinUCB": (3 / 4, 0.0),
    "DRandLinUCB": (7 / 8, 0.0),
    "WSBRandLinUCB": (3 / 4, 0.0),
    "DLinTS": (7 / 8, 3 / 8),
    "WSBLinTS": (3 / 4, 3 / 8),
    "sharp": (5 / 8, 0.0),
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

    ``"sharp"`` is what the drift bound without :math:`\sqrt d` gives with
    :math:`\Sigma_0=I/d` and :math:`1-\gamma=\sqrt{B_T/(d^{3/2}T)}`: the two terms
    :math:`B_Td^{-1/2}(1-\gamma)^{-3/2}` and :math:`dT\sqrt{1-\gamma}` balance.
    When the drift is mild all upper bounds stop at the stationary order
    :math:`d\sqrt T` (times :math:`\sqrt{\log K}` for Thompson sampling).

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
    if algorithm == "lower_bound":
        return float(d ** (2 / 3) * B ** (1 / 3) * T ** (2 / 3))
    power_d, power_log = _TABLE_1[algorithm]
    log_arms = 1.0
    if power_log:
        if n_arms is None:
            raise ValueError(f"n_arms must be given for {algorithm}, got None")
        log_arms = np.log(max(check.integer("n_arms", n_arms), 2))
    drifting = d**power_d * log_arms**power_log * B**0.25 * T**0.75
    stationary = d * np.sqrt(log_arms * T)
    return float(max(drifting, stationary))


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
