"""The drift bound (alpha): how far a moving parameter can pull the estimate."""

import math

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate as check
from wsbnb._types import Array, Form
from wsbnb.bounds import _check
from wsbnb.bounds.sums import geometric_sum, weight_sum

FORMS = ("printed", "corrected", "sharp")


@_check.within_range()
def drift_bound(
    parameters: ArrayLike,
    weights: ArrayLike,
    arm_bound: float,
    noise_std: float,
    form: Form = "corrected",
) -> float:
    r"""Bound on the drift part of the WSB error after t observations.

    .. math::

        \alpha_t = b\sum_{k=1}^{t}\sqrt{\textstyle\sum_{s=1}^{k}w_{s,t}}\;
        \|\theta_k-\theta_{k+1}\|_2

    - ``"printed"`` (paper, Lemma 2): :math:`b = L\sqrt d`. A factor
      :math:`1/\sigma` was lost, and the inequality is false when
      :math:`d\sigma^2 < 1`.
    - ``"corrected"``: :math:`b = L\sqrt d/\sigma`.
    - ``"sharp"``: :math:`b = L/\sigma`, without the dimension.

    Why the sharp one holds: put
    :math:`A_k=\sigma^{-2}\sum_{s\le k}w_{s,t}x_sx_s^\top`. The drift part is
    :math:`\Sigma_t\sum_kA_k(\theta_k-\theta_{k+1})`. Since
    :math:`A_k\preceq\Sigma_t^{-1}`, :math:`A_k^{1/2}\Sigma_tA_k^{1/2}\preceq I` and
    so :math:`A_k\Sigma_tA_k\preceq A_k`. Hence
    :math:`\|A_kv\|^2_{\Sigma_t}\le v^\top A_kv\le
    \sigma^{-2}L^2\sum_{s\le k}w_{s,t}\|v\|^2`, and the triangle inequality
    finishes.

    The decision of round :math:`t` rests on :math:`t-1` observations and is
    covered by :math:`\alpha_{t-1}`.

    Parameters
    ----------
    parameters : array (t+1, d)
        The path :math:`\theta_1,\dots,\theta_{t+1}`; the last row is the parameter
        of the round to come.
    weights : array (t,)
        :math:`w_{1,t},\dots,w_{t,t}`.
    arm_bound : float
        :math:`L`.
    noise_std : float
        :math:`\sigma`. The printed form does not use it.
    form : {"printed", "corrected", "sharp"}

    Returns
    -------
    float

    Examples
    --------
    One observation, then the parameter moves by 1. The true drift part is 2.408:

    >>> from wsbnb.bounds import drift_bound
    >>> path, sigma = [[0.0], [1.0]], 0.15**0.5
    >>> drift_bound(path, [1.0], 1.0, sigma, form="printed")
    1.0
    >>> round(drift_bound(path, [1.0], 1.0, sigma, form="sharp"), 3)
    2.582
    """
    path = check.matrix("parameters", parameters)
    w = _check.weight_row("weights", weights, len(path) - 1)
    scale = _scale(form, path.shape[1], arm_bound, noise_std)
    return float(scale * (np.sqrt(np.cumsum(w)) @ _steps(path)))


@_check.within_range()
def drift_bound_path(
    parameters: ArrayLike,
    discount: float | None,
    arm_bound: float,
    noise_std: float,
    form: Form = "corrected",
    *,
    weights: ArrayLike | None = None,
) -> Array:
    r"""The drift bound of every decision round along a path.

    Entry ``t - 1`` is :math:`\alpha_{t-1}`, the bound for the decision of round
    :math:`t`. For exponential weights it obeys
    :math:`\alpha_t = \sqrt\gamma\,\alpha_{t-1} +
    b\sqrt{(1-\gamma^t)/(1-\gamma)}\,\|\theta_t-\theta_{t+1}\|`, which costs
    :math:`O(T)`; a weight matrix costs :math:`O(T^2)`.

    With ``noise_std=1`` this is the drift bound of WRLS in the norm of
    :math:`V_{t-1}`.

    Parameters
    ----------
    parameters : array (T, d)
        :math:`\theta_1,\dots,\theta_T`.
    discount : float or None
        :math:`\gamma`; None when `weights` is given.
    arm_bound, noise_std : float
        :math:`L` and :math:`\sigma`.
    form : {"printed", "corrected", "sharp"}
        See `drift_bound`.
    weights : array (T, T), optional
        ``weights[t-1, s-1]`` is :math:`w_{s,t}`.

    Returns
    -------
    ndarray (T,)

    Examples
    --------
    >>> from wsbnb.bounds import drift_bound_path
    >>> path = [[0.0], [0.0], [1.0], [1.0]]
    >>> drift_bound_path(path, 0.25, 1.0, 1.0).round(4)
    array([0.   , 0.   , 1.118, 0.559])
    """
    path = check.matrix("parameters", parameters)
    _check.exactly_one(discount=discount, weights=weights)
    scale = _scale(form, path.shape[1], arm_bound, noise_std)
    steps = _steps(path)
    T = len(path)
    alpha = np.zeros(T)
    if T == 1:
        return alpha
    if discount is not None:
        gamma = check.discount("discount", discount)
        pushes = np.sqrt(weight_sum(gamma, np.arange(1, T))) * steps
        root, total = math.sqrt(gamma), 0.0
        for t, push in enumerate(pushes.tolist(), start=1):
            total = root * total + push
            alpha[t] = total
    else:
        W = _check.weight_matrix("weights", weights, size=T)
        for t in range(1, T):
            alpha[t] = np.sqrt(np.cumsum(W[t - 1, :t])) @ steps[:t]
    return scale * alpha


@_check.within_range(infinite=True)
def drift_sum_bound(
    variation: float,
    horizon: int,
    dim: int,
    arm_bound: float,
    noise_std: float,
    *,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    form: Form = "corrected",
) -> float:
    r"""Largest :math:`\sum_{t=1}^T\alpha_{t-1}` over all paths of one variation.

    The sum is linear in the step lengths, so its maximum puts the whole variation
    on the worst round: :math:`B_T\max_kg_k` with
    :math:`g_k=b\sum_{t>k}\sqrt{\sum_{s\le k}w_{s,t-1}}`. The printed form for
    exponential weights is the closed bound of the paper's Corollary 1,
    :math:`2L\sqrt d\,B_T(1-\gamma)^{-3/2}`, infinite at :math:`\gamma=1`.

    Parameters
    ----------
    variation : float
        :math:`B_T=\sum_{t<T}\|\theta_t-\theta_{t+1}\|`.
    horizon, dim : int
        :math:`T` and :math:`d`.
    arm_bound, noise_std : float
        :math:`L` and :math:`\sigma`.
    discount : float, optional
        :math:`\gamma`. Give this or `weights`.
    weights : array (T, T), optional
        ``weights[t-1, s-1]`` is :math:`w_{s,t}`.
    form : {"printed", "corrected", "sharp"}

    Returns
    -------
    float

    Examples
    --------
    >>> from wsbnb.bounds import drift_sum_bound
    >>> round(drift_sum_bound(1.0, 100, 2, 1.0, 1.0, discount=0.9), 3)
    83.275
    >>> round(drift_sum_bound(1.0, 100, 2, 1.0, 1.0, discount=0.9, form="printed"), 3)
    89.443
    """
    B = check.nonnegative("variation", variation)
    T = check.integer("horizon", horizon)
    scale = _scale(form, check.integer("dim", dim), arm_bound, noise_std)
    _check.exactly_one(discount=discount, weights=weights)
    if discount is None:
        W = _check.weight_matrix("weights", weights, size=T)
        return float(scale * B * _largest_coefficient(W))
    gamma = check.discount("discount", discount)
    if form == "printed":
        push = scale * B
        # Without forgetting it is infinite, unless there is nothing to push.
        return float(2.0 * push / np.float64(1.0 - gamma) ** 1.5) if push else 0.0
    return float(scale * B * _largest_exponential_coefficient(gamma, T))


def _largest_exponential_coefficient(gamma: float, T: int) -> float:
    """The maximum over k of the coefficient, which is log-concave in k.

    Its logarithm is that of ``sqrt(1 - gamma^k) (1 - gamma^((T - k) / 2))`` and a
    constant; the derivative is zero where ``2 k = T - k``, whatever gamma is.
    """
    rate = math.log(gamma)  # next to 1 a root of gamma would lose digits

    def coefficient(k):
        return math.sqrt(weight_sum(gamma, k)) * geometric_sum(rate / 2.0, T - k)

    if T == 1:
        return 0.0
    third = max(T // 3, 1)
    return max(coefficient(third), coefficient(third + 1))


@_check.within_range()
def drift_bound_wrls(
    parameters: ArrayLike, discount: float, arm_bound: float, form: Form = "printed"
) -> float:
    r"""Drift bound of WRLS (paper, Lemma 1) in the norm of :math:`V_t`.

    .. math::

        \alpha_t = L\sqrt d\sum_{k=1}^{t}\sqrt{\gamma^t}
        \sqrt{\frac{\gamma^{-k}-1}{1-\gamma}}\;\|\theta_k-\theta_{k+1}\|_2

    The root is :math:`\sqrt{\sum_{s\le k}\gamma^{t-s}}`. Here the noise level does
    not enter the estimate, so the printed form is right and ``"corrected"`` is the
    same number; ``"sharp"`` drops :math:`\sqrt d` by the argument in
    `drift_bound`.

    Parameters
    ----------
    parameters : array (t+1, d)
        :math:`\theta_1,\dots,\theta_{t+1}`.
    discount : float
        :math:`\gamma`.
    arm_bound : float
        :math:`L`.
    form : {"printed", "corrected", "sharp"}

    Returns
    -------
    float

    Examples
    --------
    >>> from wsbnb.bounds import drift_bound_wrls
    >>> round(drift_bound_wrls([[0.0, 0.0], [0.0, 1.0]], 0.9, 1.0), 4)
    1.4142
    >>> drift_bound_wrls([[0.0, 0.0], [0.0, 1.0]], 0.9, 1.0, form="sharp")
    1.0
    """
    path = check.matrix("parameters", parameters)
    gamma = check.discount("discount", discount)
    t = len(path) - 1
    weights = gamma ** np.arange(t - 1, -1, -1)
    return drift_bound(path, weights, arm_bound, 1.0, form)


def _steps(path: Array) -> Array:
    moves = np.diff(path, axis=0)
    # In a unit of which no square leaves the range; a power of two rounds nothing.
    unit = np.ldexp(1.0, np.frexp(np.abs(moves).max(initial=0.0))[1])
    return unit * np.linalg.norm(moves / unit, axis=1)


def _scale(form: Form, dim: int, arm_bound: float, noise_std: float) -> float:
    check.choice("form", form, FORMS)
    L = check.nonnegative("arm_bound", arm_bound)
    sigma = check.positive("noise_std", noise_std)
    if form != "printed":
        L = _check.quotient(L, sigma)
    return np.float64(L if form == "sharp" else L * np.sqrt(dim))  # notices overflow


def _largest_coefficient(W: Array) -> float:
    """max over k of sum_{t=k+1}^{T} sqrt(sum_{s<=k} w_{s,t-1}), memory O(T)."""
    T = len(W)
    g = np.zeros(T)
    for t in range(1, T):
        g[:t] += np.sqrt(np.cumsum(W[t - 1, :t]))
    return g.max()
