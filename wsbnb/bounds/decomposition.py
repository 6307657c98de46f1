"""Split the estimation error into its drift, noise and prior parts, exactly."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate as check
from wsbnb._types import Array
from wsbnb.bounds import _check


class ErrorParts(NamedTuple):
    r"""The three parts of :math:`\mu_{t-1}-\theta_t` and the matrix of their norm.

    Attributes
    ----------
    drift, noise, prior : ndarray (d,)
        They add up to the error.
    precision : ndarray (d, d)
        :math:`\Sigma_{t-1}^{-1}`.
    """

    drift: np.ndarray
    noise: np.ndarray
    prior: np.ndarray
    precision: np.ndarray

    @property
    def error(self) -> Array:
        r"""The whole error :math:`\mu_{t-1}-\theta_t`."""
        return self.drift + self.noise + self.prior

    @property
    def norms(self) -> dict[str, float]:
        r"""Norms of drift, noise, prior and error in :math:`\Sigma_{t-1}^{-1}`."""
        vectors = {
            "drift": self.drift,
            "noise": self.noise,
            "prior": self.prior,
            "error": self.error,
        }
        return {name: self._norm(v) for name, v in vectors.items()}

    def _norm(self, vector: Array) -> float:
        longest = np.abs(vector).max()
        unit = vector / (longest or 1.0)  # its square fits where the norm does
        return float(longest * np.sqrt(max(unit @ self.precision @ unit, 0.0)))


@_check.within_range()
def surrogate_mean(
    X: ArrayLike,
    parameters_past: ArrayLike,
    parameter_now: ArrayLike,
    weights: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
) -> Array:
    r"""The noise-free surrogate mean :math:`\bar\mu_t` (paper, section 3.1).

    .. math::

        \bar\mu_t = \Sigma_{t-1}\Bigl(\Sigma_0^{-1}\theta_t +
        \frac1{\sigma^2}\sum_{s=1}^{t-1}w_{s,t-1}x_sx_s^\top\theta_s\Bigr)

    It is what the posterior mean would be without noise and with a prior centred on
    the present parameter. If the parameter never moves it equals the parameter.

    Parameters
    ----------
    X : array (t-1, d)
        Arms played so far; no row at round 1.
    parameters_past : array (t-1, d)
        :math:`\theta_1,\dots,\theta_{t-1}`.
    parameter_now : array (d,)
        :math:`\theta_t`.
    weights : array (t-1,)
        :math:`w_{1,t-1},\dots,w_{t-1,t-1}`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std : float
        :math:`\sigma`.

    Returns
    -------
    ndarray (d,)

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import surrogate_mean
    >>> surrogate_mean([[1.0]], [[0.0]], [1.0], [1.0], np.eye(1), 1.0)
    array([0.5])
    """
    now = check.vector("parameter_now", parameter_now)
    X, past, w, prior_cov, sigma = _history(
        X, parameters_past, weights, prior_cov, noise_std, now.size
    )
    X = X / sigma  # and so is what is observed: the square alone may vanish
    _, solve = _posterior(X, w, prior_cov)
    shifts = np.einsum("ij,ij->i", X, past - now)
    return now + solve((w * shifts) @ X)


@_check.within_range()
def error_parts(
    X: ArrayLike,
    rewards: ArrayLike,
    parameters_past: ArrayLike,
    parameter_now: ArrayLike,
    weights: ArrayLike,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
) -> ErrorParts:
    r"""Drift, noise and prior part of the error :math:`\mu_{t-1}-\theta_t`.

    .. math::

        \underbrace{\tfrac1{\sigma^2}\Sigma_{t-1}\sum_sw_sx_sx_s^\top
        (\theta_s-\theta_t)}_{\text{drift}\;=\;\bar\mu_t-\theta_t} +
        \underbrace{\tfrac1{\sigma^2}\Sigma_{t-1}\sum_sw_sx_s\varepsilon_s}
        _{\text{noise}} +
        \underbrace{\Sigma_{t-1}\Sigma_0^{-1}(\mu_0-\theta_t)}_{\text{prior}}

    In the norm of :math:`\Sigma_{t-1}^{-1}` they are bounded by
    :math:`\alpha_{t-1}`, :math:`\beta_{t-1}` (with high probability) and
    :math:`\Pi_{t-1}`.

    Parameters
    ----------
    X : array (t-1, d)
        Arms played so far; no row at round 1.
    rewards : array (t-1,)
        Their rewards. The noise is what :math:`\langle x_s,\theta_s\rangle` leaves.
    parameters_past : array (t-1, d)
        :math:`\theta_1,\dots,\theta_{t-1}`.
    parameter_now : array (d,)
        :math:`\theta_t`.
    weights : array (t-1,)
        :math:`w_{1,t-1},\dots,w_{t-1,t-1}`.
    prior_mean : array (d,)
        :math:`\mu_0`.
    prior_cov : array (d, d)
        :math:`\Sigma_0`.
    noise_std : float
        :math:`\sigma`.

    Returns
    -------
    ErrorParts
        With ``drift``, ``noise``, ``prior``, ``precision``, ``error`` and ``norms``.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import error_parts
    >>> parts = error_parts(
    ...     [[1.0]], [0.5], [[0.0]], [1.0], [1.0], [0.0], np.eye(1), 1.0
    ... )
    >>> parts.drift, parts.noise, parts.prior
    (array([-0.5]), array([0.25]), array([-0.5]))
    >>> parts.error
    array([-0.75])
    """
    now = check.vector("parameter_now", parameter_now)
    mean = check.vector("prior_mean", prior_mean, dim=now.size)
    X, past, w, prior_cov, sigma = _history(
        X, parameters_past, weights, prior_cov, noise_std, now.size
    )
    rewards = _check.row_values("rewards", rewards, len(X))
    noise = (rewards - np.einsum("ij,ij->i", X, past)) / sigma
    X = X / sigma
    precision, solve = _posterior(X, w, prior_cov)
    shifts = np.einsum("ij,ij->i", X, past - now)
    prior_pull = np.linalg.solve(prior_cov, mean - now)
    return ErrorParts(
        drift=solve((w * shifts) @ X),
        noise=solve((w * noise) @ X),
        prior=solve(prior_pull),
        precision=precision,
    )


def _history(
    X: ArrayLike,
    parameters_past: ArrayLike,
    weights: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    dim: int,
) -> tuple[Array, Array, Array, Array, float]:
    X = _check.rows("X", X, cols=dim)
    past = _check.rows("parameters_past", parameters_past, cols=dim)
    if len(past) != len(X):
        raise ValueError(
            f"parameters_past must have one row per arm, {len(X)}, got {len(past)}"
        )
    w = _check.weight_row("weights", weights, len(X))
    prior_cov = check.covariance("prior_cov", prior_cov, dim=dim)
    return X, past, w, prior_cov, check.positive("noise_std", noise_std)


def _posterior(
    X: Array, w: Array, prior_cov: Array
) -> tuple[Array, Callable[..., Array]]:
    """Posterior precision and a function that applies the posterior covariance.

    Arms come in units of the noise.
    """
    precision = np.linalg.inv(prior_cov) + (w[:, None] * X).T @ X
    precision = (precision + precision.T) / 2

    def solve(v: Array) -> Array:
        return np.asarray(np.linalg.solve(precision, v), dtype=np.float64)

    return precision, solve
