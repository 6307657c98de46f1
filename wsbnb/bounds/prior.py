r"""The prior penalty (Pi): what a wrong prior mean can still cost.

All forms maximise or bound :math:`\|\mu_0-\theta\|_M` over the ball
:math:`\|\theta\|\le S`, with :math:`M=\Sigma_0^{-1}\Sigma_t\Sigma_0^{-1}`.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate as check
from wsbnb._types import Array, Penalty
from wsbnb.bounds import _check

FORMS = ("exact", "cxv", "triangle")
# Lengths below this share of the largest one change nothing and only underflow.
_NEGLIGIBLE = 1e-100


@_check.within_range()
def prior_penalty(
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    cov: ArrayLike,
    param_bound: float,
    form: Penalty = "exact",
) -> float:
    r"""Prior penalty :math:`\Pi_t`, exactly or by one of the paper's bounds.

    With :math:`M=\Sigma_0^{-1}\Sigma_t\Sigma_0^{-1}`:

    - ``"exact"``: :math:`\max_{\|\theta\|\le S}\|\mu_0-\theta\|_M`;
    - ``"cxv"``: :math:`\bigl(\|\mu_0\|_M^2+S^2\lambda_{\max}(M)+
      2S\sqrt{\mu_0^\top M^2\mu_0}\bigr)^{1/2}`;
    - ``"triangle"``: :math:`\|\mu_0\|_M+S\sqrt{\lambda_{\max}(M)}`.

    Each is at most the next (paper, Lemma 3). They cannot be far apart: the second is
    at most :math:`2/\sqrt3`, the third at most :math:`\sqrt2` times the first.

    Parameters
    ----------
    prior_mean : array (d,)
        :math:`\mu_0`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    cov : array (d, d)
        The posterior covariance :math:`\Sigma_t`.
    param_bound : float
        :math:`S \ge 0`.
    form : {"exact", "cxv", "triangle"}

    Returns
    -------
    float

    Notes
    -----
    The exact form is a trust-region subproblem. In the eigenbasis of :math:`M`
    its dual is the convex problem in one variable

    .. math::

        \Pi_t^2 = \min_{\nu\ge\lambda_{\max}}\ \nu S^2 +
        \sum_i\frac{\nu\lambda_im_i^2}{\nu-\lambda_i},

    with no gap, although the primal is not concave. Its stationary point solves the
    secular equation :math:`\sum_i\lambda_i^2m_i^2/(\nu-\lambda_i)^2=S^2`. The hard
    case is :math:`\mu_0` orthogonal to the top eigenspace and small: then
    :math:`\nu=\lambda_{\max}` and the maximiser is not unique. Returning the dual
    value means that an unfinished search errs upwards, as a bound should.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import prior_penalty
    >>> prior = dict(
    ...     prior_mean=[0.0, 1.0],
    ...     prior_cov=np.eye(2),
    ...     cov=np.diag([1.0, 1 / 3]),
    ...     param_bound=1.0,
    ... )
    >>> [
    ...     round(prior_penalty(**prior, form=form), 4)
    ...     for form in ("exact", "cxv", "triangle")
    ... ]
    [1.2247, 1.4142, 1.5774]
    """
    check.choice("form", form, FORMS)
    u, m, S, unit, _ = _spectrum(prior_mean, prior_cov, cov, param_bound)
    if form == "exact":
        return float(unit * _maximise(u, m, S)[0])
    square = np.sum(u * m * m)
    if form == "triangle":
        return float(unit * (np.sqrt(square) + S))
    return float(unit * np.sqrt(square + S**2 + 2.0 * S * np.linalg.norm(u * m)))


@_check.within_range()
def prior_penalty_maximiser(
    prior_mean: ArrayLike, prior_cov: ArrayLike, cov: ArrayLike, param_bound: float
) -> tuple[float, Array]:
    r"""Exact prior penalty and a parameter that attains it.

    Parameters
    ----------
    prior_mean, prior_cov, cov, param_bound
        As in `prior_penalty`.

    Returns
    -------
    value : float
        :math:`\Pi_t`.
    theta : ndarray (d,)
        A maximiser, :math:`\|\theta\|=S`. In the hard case (and when
        :math:`\mu_0=0`) there are several and one of them is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import prior_penalty_maximiser
    >>> value, theta = prior_penalty_maximiser([2.0], np.eye(1), np.eye(1), 1.0)
    >>> value, theta
    (3.0, array([-1.]))
    """
    u, m, S, unit, U = _spectrum(prior_mean, prior_cov, cov, param_bound)
    value, z = _maximise(u, m, S)
    theta = U @ z
    return float(unit * value), theta * (float(param_bound) / np.linalg.norm(theta))


@_check.within_range()
def prior_penalty_at_start(
    prior_mean: ArrayLike, prior_cov: ArrayLike, param_bound: float
) -> float:
    r"""The bound on :math:`\Pi_0` in Theorem 1.

    .. math::

        \Pi_0 \le \|\mu_0\|_{\Sigma_0^{-1}} + S\sqrt{\lambda_{\max}(\Sigma_0^{-1})}

    This is the triangle form at :math:`\Sigma_t=\Sigma_0`. Since
    :math:`\Sigma_t\preceq\Sigma_0`, it bounds every form of :math:`\Pi_t` at every
    round, although :math:`\Pi_t` itself need not decrease from round to round.

    Parameters
    ----------
    prior_mean : array (d,)
        :math:`\mu_0`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    param_bound : float
        :math:`S`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import prior_penalty_at_start
    >>> prior_penalty_at_start([0.0, 1.0], np.diag([1.0, 0.25]), 1.0)
    4.0
    """
    return prior_penalty(prior_mean, prior_cov, prior_cov, param_bound, "triangle")


@_check.within_range()
def prior_penalty_floor(
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    discount: float,
    param_bound: float,
    form: Literal["exact", "triangle"] = "exact",
) -> float:
    r"""A level that :math:`\Pi_t` never falls below while data are forgotten.

    With exponential weights :math:`\Sigma_t^{-1}\preceq\Sigma_0^{-1}+
    \frac{L^2}{\sigma^2(1-\gamma)}I` at every round, so :math:`\Pi_t` is at least its
    value at the inverse of the right-hand side. The paper says
    :math:`\Pi_t\to0`; for :math:`\gamma<1` it cannot.

    Parameters
    ----------
    prior_mean : array (d,)
        :math:`\mu_0`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std, arm_bound : float
        :math:`\sigma` and :math:`L`.
    discount : float
        :math:`\gamma`; at 1 the floor is zero.
    param_bound : float
        :math:`S`.
    form : {"exact", "triangle"}
        The floor of which form; ``"cxv"`` has none that follows this way, because
        :math:`M^2` does not grow with :math:`M` in the matrix order.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import prior_penalty_floor
    >>> floor = prior_penalty_floor([0.0], np.eye(1), 0.5, 1.0, 0.99, 1.0)
    >>> round(floor, 4)
    0.0499
    """
    check.choice("form", form, ("exact", "triangle"))
    prior_cov = check.covariance("prior_cov", prior_cov)
    sigma = check.positive("noise_std", noise_std)
    L = check.nonnegative("arm_bound", arm_bound)
    gamma = check.discount("discount", discount)
    if gamma == 1.0 and L > 0.0:
        return 0.0
    data = (L / sigma) ** 2 / (1.0 - gamma) if L > 0.0 else 0.0
    variances, U = np.linalg.eigh(prior_cov)
    shrunk = variances / (1.0 + data * variances)
    if not (shrunk > 0.0).all():
        raise OverflowError("said by the decorator, with the arguments' names")
    cov = (U * shrunk) @ U.T
    return prior_penalty(prior_mean, prior_cov, cov, param_bound, form)


def _spectrum(prior_mean, prior_cov, cov, param_bound):
    """The problem in the eigenbasis of M and in units in which all numbers are tame.

    Returns the eigenvalues of M over the largest (decreasing from 1), the coordinates
    of mu_0 and S over the longer of the two, the unit that was divided out of the
    penalty, and the eigenvectors.
    """
    mean = check.vector("prior_mean", prior_mean)
    prior_cov = check.covariance("prior_cov", prior_cov, dim=mean.size)
    cov = check.covariance("cov", cov, dim=mean.size)
    S = check.nonnegative("param_bound", param_bound)
    # M = F F^T. The SVD of F keeps the small eigenvalues that forming M would lose.
    root = np.linalg.inv(np.linalg.cholesky(prior_cov))
    F = root.T @ (root @ np.linalg.cholesky(cov))
    U, scales, _ = np.linalg.svd(F)
    length = max(S, np.abs(mean).max())
    unit = length or 1.0  # without a length all is zero, in any unit
    m = U.T @ (mean / unit)
    m[np.abs(m) < _NEGLIGIBLE] = 0.0
    return (scales / scales[0]) ** 2, m, S / unit, scales[0] * length, U


def _maximise(u, m, S):
    """Maximise sum u_i (m_i - z_i)^2 over |z| <= S; returns (root of it, z)."""
    S = max(S, _NEGLIGIBLE)  # a point is a very small ball
    gaps = 1.0 - u
    q = _secular_root(u * np.abs(m), gaps, S)
    # Where q + gap = 0 the numerator is 0 as well: the hard case.
    open_axes = q + gaps > 0.0
    inverse = np.zeros_like(u)
    inverse[open_axes] = 1.0 / (q + gaps[open_axes])
    dual = (1.0 + q) * (S * S + np.sum(u * m * m * inverse))
    z = -u * m * inverse
    missing = max(S * S - z @ z, 0.0)
    z[0] = np.copysign(np.sqrt(z[0] ** 2 + missing), -m[0])
    return np.sqrt(dual), z


def _secular_root(numerators, gaps, r):
    """The q >= 0 with |numerators / (q + gaps)| = r, or 0 in the hard case."""
    from scipy.optimize import brentq

    pulled = numerators > 0.0
    numerators, gaps = numerators[pulled], gaps[pulled]

    def excess(q):  # falls, and is almost linear in q
        return 1.0 - r / np.linalg.norm(numerators / (q + gaps))

    low = np.max(numerators / r - gaps, initial=0.0)
    if excess(low) <= 0.0:
        return low
    high = 2.0 * np.linalg.norm(numerators) / r
    return brentq(excess, low, high, xtol=5e-324, rtol=1e-15, maxiter=2000)
