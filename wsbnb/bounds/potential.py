"""Determinant inequality and weighted potential lemma: how much can widths add up?"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate as check
from wsbnb._types import Array, Constant, First, FloatOrArray
from wsbnb.bounds import _check
from wsbnb.bounds.sums import weight_sum
from wsbnb.posterior import WSBPosterior

CONSTANTS = ("trace", "lambda_max")


@_check.within_range()
def log_determinant_ratio(
    weight_sum: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    form: Constant = "trace",
) -> FloatOrArray:
    r"""Upper bound on :math:`\log(\det\Sigma_0/\det\Sigma_t)`.

    .. math:: d\log\Bigl(1+\frac{c\,L^2\sum_s w_{s,t}}{d\sigma^2}\Bigr),

    where :math:`c` is :math:`\operatorname{Tr}\Sigma_0` or
    :math:`\lambda_{\max}(\Sigma_0)`. Second inequality of the paper's Proposition 1
    (appendix A), which has the trace.

    Parameters
    ----------
    weight_sum : float or array
        Sum of the weights in :math:`\Sigma_t^{-1}` (or of their powers, if
        :math:`\Sigma_t` is built with powers).
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std, arm_bound : float
        :math:`\sigma` and :math:`L`.
    form : {"trace", "lambda_max"}

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import log_determinant_ratio
    >>> float(log_determinant_ratio(10.0, np.eye(2), 1.0, 1.0).round(4))
    4.7958
    """
    prior_cov = check.covariance("prior_cov", prior_cov)
    sigma = check.positive("noise_std", noise_std)
    L = check.nonnegative("arm_bound", arm_bound)
    total = _check.nonnegative_values("weight_sum", weight_sum)
    return log_ratio(total, prior_cov, _check.quotient(L, sigma, 2), form)


def log_ratio(
    total: FloatOrArray, prior_cov: Array, ratio: float, form: Constant
) -> FloatOrArray:
    """`log_determinant_ratio` for checked arguments, with the square of L / sigma."""
    d = len(prior_cov)
    return d * np.log1p(_prior_constant(prior_cov, form) * ratio * total / d)


@_check.within_range()
def determinant_bound(
    weight_sum: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    inequality: Literal["ratio", "precision"] = "ratio",
    form: Constant = "trace",
    log: bool = False,
) -> FloatOrArray:
    r"""Both inequalities of the paper's Proposition 1, on determinants.

    - ``inequality="precision"``, ``form="trace"``:
      :math:`\det\Sigma_t^{-1} \le
      \bigl((\operatorname{Tr}\Sigma_0^{-1}+L^2\sigma^{-2}\sum_sw_s)/d\bigr)^d`.
    - ``inequality="ratio"``: :math:`\det\Sigma_0/\det\Sigma_t \le
      \bigl(1+c\,L^2\sum_sw_s/(d\sigma^2)\bigr)^d`, see `log_determinant_ratio`.
    - ``inequality="precision"``, ``form="lambda_max"``: the second one divided by
      :math:`\det\Sigma_0`. Neither of the two precision bounds is always smaller.

    Parameters
    ----------
    weight_sum : float or array
        Sum of the weights.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std, arm_bound : float
        :math:`\sigma` and :math:`L`.
    inequality : {"ratio", "precision"}
    form : {"trace", "lambda_max"}
    log : bool
        Return the logarithm, which does not overflow for large `d`.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import determinant_bound
    >>> round(float(determinant_bound(10.0, np.eye(2), 1.0, 1.0)), 6)
    121.0
    >>> bound = determinant_bound(10.0, np.eye(2), 1.0, 1.0, inequality="precision")
    >>> round(float(bound), 6)
    36.0
    """
    check.choice("inequality", inequality, ("ratio", "precision"))
    check.choice("form", form, CONSTANTS)
    prior_cov = check.covariance("prior_cov", prior_cov)
    if inequality == "precision" and form == "trace":
        sigma = check.positive("noise_std", noise_std)
        L = check.nonnegative("arm_bound", arm_bound)
        total = _check.nonnegative_values("weight_sum", weight_sum)
        d = len(prior_cov)
        trace = (1.0 / np.linalg.eigvalsh(prior_cov)).sum()
        value = d * np.log((trace + _check.quotient(L, sigma, 2) * total) / d)
    else:
        value = log_determinant_ratio(weight_sum, prior_cov, noise_std, arm_bound, form)
        if inequality == "precision":
            value = value - np.linalg.slogdet(prior_cov)[1]
    return value if check.flag("log", log) else np.exp(value)


@_check.within_range()
def potential_sum(
    X: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    *,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    power: int = 1,
) -> float:
    r"""Left side of the potential lemma, :math:`\sum_t\|X_t\|^2_{\Sigma_{t-1}}`.

    Parameters
    ----------
    X : array (T, d)
        Arms in the order played.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std : float
        :math:`\sigma`.
    discount : float, optional
        :math:`\gamma` of exponential weights. Give this or `weights`.
    weights : array (T, T), optional
        ``weights[t-1, s-1]`` is :math:`w_{s,t}`.
    power : int
        The weights enter :math:`\Sigma_t^{-1}` with this power.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import potential_sum
    >>> X = np.ones((2, 1))
    >>> potential_sum(X, np.eye(1), 1.0, discount=1.0)
    1.5
    """
    prior_cov = check.covariance("prior_cov", prior_cov)
    X = check.matrix("X", X, cols=len(prior_cov))
    sigma = check.positive("noise_std", noise_std)
    p = check.integer("power", power)
    _check.exactly_one(discount=discount, weights=weights)
    if discount is not None:
        gamma = check.discount("discount", discount) ** p
        return float(_widths_before(X, prior_cov, sigma, gamma).sum())
    W = _check.weight_matrix("weights", weights, size=len(X)) ** p
    prior_precision = np.linalg.inv(prior_cov)
    total = X[0] @ prior_cov @ X[0]
    for t in range(1, len(X)):
        past = X[:t] / sigma
        seen = (W[t - 1, :t, None] * past).T @ past
        total += X[t] @ np.linalg.solve(prior_precision + seen, X[t])
    return float(total)


def _widths_before(X, prior_cov, sigma, gamma):
    """Squared widths of arms before they are learnt, by the library's own recursion."""
    posterior = WSBPosterior(
        prior_mean=np.zeros(X.shape[1]),
        prior_cov=prior_cov,
        noise_std=sigma,
        discount=gamma,
    )
    return posterior.predict_and_learn(X, np.zeros(len(X)))[1]


@_check.within_range(infinite=True)
def potential_bound(
    X: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    *,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    power: int = 1,
    form: Literal["determinant"] | Constant = "determinant",
) -> float:
    r"""Right side of the weighted potential lemma (appendix D).

    .. math::

        2\sigma^2C\Bigl(d\sum_{t=1}^{T}\log\frac1{w_{t-1,t}^p} +
        \log\frac{\det\Sigma_0}{\det\Sigma_T}\Bigr),\qquad
        C = \max\{1, L^2\lambda_{\max}(\Sigma_0)/\sigma^2\}.

    It needs weights that are non-decreasing in :math:`s` and satisfy
    :math:`w_{s,t}\ge w_{t-1,t}w_{s,t-1}`. Exponential weights do. A sliding window
    does not, and there the inequality fails. The paper writes :math:`w_{0,1}` in the
    first term without defining it; the proof needs only
    :math:`w_{0,1}\le w_{1,1}`, so :math:`w_{1,1}` is used (its logarithm is zero
    for all the usual weights).

    Parameters
    ----------
    X : array (T, d)
        Arms in the order played.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std, arm_bound : float
        :math:`\sigma` and :math:`L`; no arm in `X` may be longer than `arm_bound`.
    discount : float, optional
        :math:`\gamma` of exponential weights. Give this or `weights`.
    weights : array (T, T), optional
        ``weights[t-1, s-1]`` is :math:`w_{s,t}`.
    power : int
        :math:`p \ge 1`.
    form : {"determinant", "trace", "lambda_max"}
        The log-determinant itself, or one of its bounds.

    Returns
    -------
    float
        Infinite where some :math:`w_{t-1,t} = 0` (a hard restart).

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import potential_bound
    >>> X = np.ones((2, 1))
    >>> round(potential_bound(X, np.eye(1), 1.0, 1.0, discount=1.0), 4)
    2.1972
    """
    prior_cov = check.covariance("prior_cov", prior_cov)
    X = check.matrix("X", X, cols=len(prior_cov))
    sigma = np.float64(check.positive("noise_std", noise_std))  # overflow is noticed
    L = check.nonnegative("arm_bound", arm_bound)
    p = check.integer("power", power)
    check.choice("form", form, ("determinant", *CONSTANTS))
    _check.exactly_one(discount=discount, weights=weights)
    _check.arms_within_bound(X, L)
    T, d = X.shape
    if discount is not None:
        gamma = check.discount("discount", discount)
        last = gamma ** np.arange(T - 1, -1, -1)
    else:
        weights = _check.weight_matrix("weights", weights, size=T)
        last = weights[-1]
    if form == "determinant":
        scaled = np.sqrt(last**p)[:, None] / sigma * X @ np.linalg.cholesky(prior_cov)
        singular = np.linalg.svd(scaled, compute_uv=False)
        log_det = np.log1p(singular**2).sum()
    else:
        log_det = log_determinant_ratio((last**p).sum(), prior_cov, sigma, L, form)
    forgetting = p * forgetting_sum(T, discount=discount, weights=weights)
    constant = width_constant(prior_cov, sigma, L)
    # The square alone may vanish where the product does not.
    return float(2.0 * sigma * (sigma * constant) * (d * forgetting + log_det))


@_check.within_range()
def width_constant(prior_cov: ArrayLike, noise_std: float, arm_bound: float) -> float:
    r"""The constant :math:`C = \max\{1, L^2\lambda_{\max}(\Sigma_0)/\sigma^2\}`.

    Parameters
    ----------
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std, arm_bound : float
        :math:`\sigma` and :math:`L`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import width_constant
    >>> width_constant(np.diag([1.0, 4.0]), 0.5, 1.0)
    16.0
    """
    prior_cov = check.covariance("prior_cov", prior_cov)
    ratio = check.nonnegative("arm_bound", arm_bound) / check.positive(
        "noise_std", noise_std
    )
    return max(1.0, float(ratio**2 * np.linalg.eigvalsh(prior_cov)[-1]))


@_check.within_range(infinite=True)
def forgetting_sum(
    horizon: int,
    *,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    first: First = "free",
) -> float:
    r"""What forgetting costs: :math:`\sum_{t=1}^{T}\log(1/w_{t-1,t})`.

    Parameters
    ----------
    horizon : int
        :math:`T`.
    discount : float, optional
        :math:`\gamma` of exponential weights. Give this or `weights`.
    weights : array (T, T), optional
        ``weights[t-1, s-1]`` is :math:`w_{s,t}`.
    first : {"free", "printed"}
        The term of round 1 has the undefined weight :math:`w_{0,1}`. ``"free"``
        takes :math:`w_{1,1}`, which the proof allows; ``"printed"`` takes
        :math:`\gamma`, so that exponential weights give :math:`T\log(1/\gamma)`
        as in the paper.

    Returns
    -------
    float

    Examples
    --------
    >>> from wsbnb.bounds import forgetting_sum
    >>> round(forgetting_sum(3, discount=0.5), 4)
    1.3863
    >>> round(forgetting_sum(3, discount=0.5, first="printed"), 4)
    2.0794
    """
    T = check.integer("horizon", horizon)
    check.choice("first", first, ("free", "printed"))
    _check.exactly_one(discount=discount, weights=weights)
    if discount is not None:
        gamma = check.discount("discount", discount)
        return float((T if first == "printed" else T - 1) * -np.log(gamma))
    W = _check.weight_matrix("weights", weights, size=T)
    consecutive = np.concatenate([W[:1, 0], np.diagonal(W, -1)])
    with np.errstate(divide="ignore"):
        return float(-np.log(consecutive).sum())


@_check.within_range(infinite=True)
def log_det_term(
    horizon: int,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    *,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    form: Constant = "trace",
    first: First = "free",
) -> float:
    r"""The term :math:`\Lambda_T` of Theorems 1 and 2.

    .. math::

        \Lambda_T = \sum_{t=1}^{T}\log\frac1{w_{t-1,t}} +
        \log\Bigl(1+\frac{c\,L^2\sum_{t=1}^{T}w_{t,T}}{d\sigma^2}\Bigr)

    with :math:`c` as in `log_determinant_ratio`.

    Parameters
    ----------
    horizon : int
        :math:`T`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std, arm_bound : float
        :math:`\sigma` and :math:`L`.
    discount : float, optional
        :math:`\gamma` of exponential weights, 1 included. Give this or `weights`.
    weights : array (T, T), optional
        ``weights[t-1, s-1]`` is :math:`w_{s,t}`.
    form : {"trace", "lambda_max"}
    first : {"free", "printed"}
        See `forgetting_sum`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import log_det_term
    >>> round(log_det_term(100, np.eye(2), 0.5, 1.0, discount=0.99), 4)
    6.5346
    """
    T = check.integer("horizon", horizon)
    _check.exactly_one(discount=discount, weights=weights)
    if discount is not None:
        total = weight_sum(discount, T)
    else:
        total = _check.weight_matrix("weights", weights, size=T)[-1].sum()
    prior_cov = check.covariance("prior_cov", prior_cov)
    log_det = log_determinant_ratio(total, prior_cov, noise_std, arm_bound, form)
    forgetting = forgetting_sum(T, discount=discount, weights=weights, first=first)
    return float(forgetting + log_det / len(prior_cov))


def _prior_constant(prior_cov: Array, form: Constant) -> float:
    check.choice("form", form, CONSTANTS)
    if form == "trace":
        return np.trace(prior_cov)
    return np.linalg.eigvalsh(prior_cov)[-1]
