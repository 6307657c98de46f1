"""The noise radius (beta) and how a failure probability is spread over rounds."""

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate as check
from wsbnb._types import Constant, FloatOrArray, Split
from wsbnb.bounds import _check
from wsbnb.bounds.potential import log_ratio

SPLITS = ("none", "horizon", "anytime")


@_check.within_range()
def failure_probability(
    delta: float,
    split: Split = "none",
    horizon: int | None = None,
    round: ArrayLike | None = None,
) -> FloatOrArray:
    r"""The share of a failure probability that one round may spend.

    - ``"none"``: :math:`\delta`. Valid at one fixed round, or for all rounds when
      nothing is forgotten (:math:`\gamma = 1`). With :math:`\gamma < 1` it does not
      hold for all rounds at once: the weights of round :math:`t` are not those of
      round :math:`t+1`, so each round has a supermartingale of its own.
    - ``"horizon"``: :math:`\delta/T`, a union bound over the horizon.
    - ``"anytime"``: :math:`\delta_t = \delta / (2t(1+\log t)^2)`, for an unknown
      horizon. The shares add up to less than :math:`\delta`, because
      :math:`\sum_t \frac{1}{2t(1+\log t)^2} \le \frac12 + \frac12\int_1^\infty
      \frac{du}{u(1+\log u)^2} = 1`.

    Parameters
    ----------
    delta : float
        Total failure probability in (0, 1).
    split : {"none", "horizon", "anytime"}
        How it is spread.
    horizon : int, optional
        :math:`T`, needed by ``"horizon"``.
    round : int or array of int, optional
        :math:`t \ge 1`, needed by ``"anytime"``.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> from wsbnb.bounds import failure_probability
    >>> failure_probability(0.1, split="horizon", horizon=100)
    0.001
    >>> failure_probability(0.1, split="anytime", round=1)
    0.05
    """
    delta = check.probability("delta", delta)
    check.choice("split", split, SPLITS)
    T = None if horizon is None else check.integer("horizon", horizon)
    t = None if round is None else _check.round_numbers("round", round, minimum=1)
    if split == "none":
        return delta
    if split == "horizon":
        if T is None:
            raise ValueError("horizon must be given with split='horizon', got None")
        return delta / T
    if t is None:
        raise ValueError("round must be given with split='anytime', got None")
    share = delta / (2.0 * t * (1.0 + np.log(t)) ** 2)
    return float(share) if np.ndim(share) == 0 else share


@_check.within_range()
def noise_radius(
    dim: int,
    noise_std: float,
    arm_bound: float,
    delta: float,
    squared_weight_sum: ArrayLike,
    prior_cov: ArrayLike,
    form: Constant = "trace",
    split: Split = "horizon",
    horizon: int | None = None,
    round: ArrayLike | None = None,
) -> FloatOrArray:
    r"""Radius of the noise part of the WSB error, in the posterior's own norm.

    .. math::

        \beta_t(\delta') = \sqrt{2\log\frac1{\delta'} +
        d\log\Bigl(1+\frac{c\,L^2\sum_s w_{s,t}^2}{d\sigma^2}\Bigr)}

    with :math:`c = \operatorname{Tr}\Sigma_0` (``"trace"``, the paper's Lemma 2) or
    :math:`c = \lambda_{\max}(\Sigma_0)` (``"lambda_max"``). Both bound the same
    log-determinant: by the inequality of arithmetic and geometric means,

    .. math::

        \det\Bigl(I+\tfrac1{\sigma^2}\Sigma_0^{1/2}\sum_s w_s^2x_sx_s^\top
        \Sigma_0^{1/2}\Bigr) \le
        \Bigl(1+\tfrac1{d\sigma^2}\sum_s w_s^2\,x_s^\top\Sigma_0x_s\Bigr)^d,

    and :math:`x^\top\Sigma_0x \le \lambda_{\max}(\Sigma_0)L^2 \le
    \operatorname{Tr}(\Sigma_0)L^2`. So the second is valid and never larger.

    Parameters
    ----------
    dim : int
        :math:`d`.
    noise_std : float
        :math:`\sigma > 0`.
    arm_bound : float
        :math:`L`, a bound on the norm of every arm.
    delta : float
        Failure probability in (0, 1).
    squared_weight_sum : float or array
        :math:`\sum_{s\le t} w_{s,t}^2`, for exponential weights from
        `wsbnb.bounds.squared_weight_sum`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    form : {"trace", "lambda_max"}
        Which constant stands for the prior covariance.
    split : {"none", "horizon", "anytime"}
        How `delta` is spread, see `failure_probability`.
    horizon : int, optional
        :math:`T`, needed by ``split="horizon"``.
    round : int or array of int, optional
        :math:`t`, needed by ``split="anytime"``.

    Returns
    -------
    float or ndarray

    See Also
    --------
    wsbnb.bounds.noise_radius_determinant : from the arms that were really played.
    wsbnb.bounds.noise_radius_wrls : for the regularised least-squares estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import noise_radius
    >>> options = dict(
    ...     dim=4,
    ...     noise_std=0.5,
    ...     arm_bound=1.0,
    ...     delta=0.05,
    ...     squared_weight_sum=50.0,
    ...     prior_cov=np.eye(4),
    ...     horizon=1000,
    ... )
    >>> round(noise_radius(**options), 3)
    6.405
    >>> round(noise_radius(**options, form="lambda_max"), 3)
    5.961
    """
    dim = check.integer("dim", dim)
    sigma = check.positive("noise_std", noise_std)
    prior_cov = check.covariance("prior_cov", prior_cov, dim=dim)
    L = check.nonnegative("arm_bound", arm_bound)
    squares = _check.nonnegative_values("squared_weight_sum", squared_weight_sum)
    log_det = log_ratio(squares, prior_cov, _check.quotient(L, sigma, 2), form)
    share = failure_probability(delta, split, horizon, round)
    return _root(-2.0 * np.log(share) + log_det)


@_check.within_range()
def noise_radius_determinant(
    X: ArrayLike,
    weights: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    delta: float,
    split: Split = "horizon",
    horizon: int | None = None,
    round: int | None = None,
) -> float:
    r"""Noise radius from the arms that were played, without bounding them.

    .. math::

        \sqrt{2\log\frac1{\delta'} + \log\det\bigl(\Sigma_0\tilde\Sigma_t^{-1}\bigr)},
        \qquad \tilde\Sigma_t^{-1} = \Sigma_0^{-1} +
        \frac1{\sigma^2}\sum_s w_{s,t}^2x_sx_s^\top,

    the step of the paper's proof just before the determinant inequality. It is
    never larger than either form of `noise_radius`.

    Parameters
    ----------
    X : array (t, d)
        Arms played in rounds 1 to t; ``t = 0`` is allowed.
    weights : array (t,)
        :math:`w_{1,t},\dots,w_{t,t}`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std : float
        :math:`\sigma > 0`.
    delta, split, horizon, round
        As in `noise_radius`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import noise_radius_determinant
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> radius = noise_radius_determinant(
    ...     X, [0.9, 1.0], np.eye(2), 0.5, 0.05, split="none"
    ... )
    >>> round(radius, 3)
    2.846
    """
    prior_cov = check.covariance("prior_cov", prior_cov)
    X = _check.rows("X", X, cols=len(prior_cov))
    w = _check.weight_row("weights", weights, len(X))
    sigma = check.positive("noise_std", noise_std)
    share = failure_probability(delta, split, horizon, round)
    scaled = (w / sigma)[:, None] * X @ np.linalg.cholesky(prior_cov)
    # 1 + singular values squared are the eigenvalues of Sigma_0 Sigma~^{-1}.
    log_det = np.log1p(np.linalg.svd(scaled, compute_uv=False) ** 2).sum()
    return _root(-2.0 * np.log(share) + log_det)


@_check.within_range()
def noise_radius_wrls(
    dim: int,
    noise_std: float,
    regularization: float,
    arm_bound: float,
    param_bound: float,
    delta: float,
    squared_weight_sum: ArrayLike,
    split: Split = "horizon",
    horizon: int | None = None,
    round: ArrayLike | None = None,
) -> FloatOrArray:
    r"""Radius of the noise and regularisation parts of the WRLS error.

    .. math::

        \beta_t(\delta') = \sigma\sqrt{2\log\frac1{\delta'} +
        d\log\Bigl(1+\frac{L^2\sum_s w_{s,t}^2}{\lambda d}\Bigr)} + \sqrt\lambda S

    The paper's Lemma 1 states it with :math:`\delta' = \delta` for all rounds at
    once (``split="none"``). That holds at one fixed round, but for
    :math:`\gamma < 1` not over all rounds: spread the failure probability.

    Parameters
    ----------
    dim : int
        :math:`d`.
    noise_std : float
        :math:`\sigma > 0`.
    regularization : float
        :math:`\lambda > 0`.
    arm_bound, param_bound : float
        :math:`L` and :math:`S`.
    delta : float
        Failure probability in (0, 1).
    squared_weight_sum : float or array
        :math:`\sum_{s\le t} w_{s,t}^2`.
    split, horizon, round
        As in `failure_probability`.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> from wsbnb.bounds import noise_radius_wrls
    >>> radius = noise_radius_wrls(2, 0.5, 1.0, 1.0, 1.0, 0.05, 50.0, split="none")
    >>> round(radius, 3)
    2.768
    """
    dim = check.integer("dim", dim)
    sigma = check.positive("noise_std", noise_std)
    ridge = check.positive("regularization", regularization)
    L = check.nonnegative("arm_bound", arm_bound)
    squares = _check.nonnegative_values("squared_weight_sum", squared_weight_sum)
    share = failure_probability(delta, split, horizon, round)
    log_det = dim * np.log1p(_check.quotient(L, 1.0, 2) * squares / (ridge * dim))
    noise = _root(-2.0 * np.log(share) + log_det)
    return sigma * noise + static_prior_penalty(ridge, param_bound)


@_check.within_range()
def static_prior_penalty(regularization: float, param_bound: float) -> float:
    r"""The constant price of regularisation in WRLS, :math:`\sqrt\lambda S`.

    Parameters
    ----------
    regularization : float
        :math:`\lambda > 0`.
    param_bound : float
        :math:`S \ge 0`.

    Returns
    -------
    float

    Examples
    --------
    >>> from wsbnb.bounds import static_prior_penalty
    >>> static_prior_penalty(4.0, 1.5)
    3.0
    """
    ridge = check.positive("regularization", regularization)
    return np.sqrt(ridge).item() * check.nonnegative("param_bound", param_bound)


def _root(square: FloatOrArray) -> FloatOrArray:
    root = np.sqrt(square)
    return float(root) if np.ndim(root) == 0 else root
