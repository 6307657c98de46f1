r"""Gaussian posteriors of a linear reward model with weighted observations.

The model is :math:`r_s = \langle x_s, \theta\rangle + \varepsilon_s` with noise of
standard deviation :math:`\sigma` and prior :math:`N(\mu_0, \Sigma_0)`. Observation s
counts with weight :math:`w_{s,t}` at round t (paper, eqs. posterior::mean and ::cov):

.. math::

    \Sigma_t^{-1} = \Sigma_0^{-1} + \sigma^{-2}\sum_s w_{s,t} x_s x_s^\top, \qquad
    \mu_t = \Sigma_t\Bigl(\Sigma_0^{-1}\mu_0
            + \sigma^{-2}\sum_s w_{s,t} x_s r_s\Bigr).

The classes keep the precision :math:`P = \Sigma_t^{-1}` and :math:`h = P\mu_t`. All
results come from one Cholesky factor of P; no matrix is inverted in the recursion.
"""

import math
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from wsbnb import _validate
from wsbnb import weights as _rules
from wsbnb._gaussian import (
    GaussianPosterior,
    checked_noise,
    checked_prior,
    cholesky,
    inverse,
    solve,
)
from wsbnb._types import Array
from wsbnb.kernels import add_observation


class WSBPosterior(GaussianPosterior):
    r"""Weighted sequential Bayesian posterior with exponential weights.

    Each round (paper, eq. WSB-posterior-update), with :math:`P_0 = \Sigma_0^{-1}`,

    .. math::

        P \leftarrow \gamma P + (1-\gamma) P_0 + \sigma^{-2} x x^\top, \qquad
        h \leftarrow \gamma h + (1-\gamma) P_0\mu_0 + \sigma^{-2} x r,

    which equals the batch formula with :math:`w_{s,t} = \gamma^{t-s}`. The prior is
    put back at every step, so it never fades; a wrong prior mean biases for ever.

    Parameters
    ----------
    prior_mean : array of shape (d,)
    prior_cov : array of shape (d, d)
        Symmetric positive definite.
    noise_std : float
        Standard deviation :math:`\sigma` of the reward noise.
    discount : float in (0, 1]
        The discount :math:`\gamma`; 1 gives ordinary Bayesian linear regression.

    Notes
    -----
    Lemma 2 of the paper (the confidence ellipsoid) covers :meth:`update` with
    ``decay=True``. With other clocks the batch formula still holds with the weight
    :math:`\gamma^{\text{elapsed time}}`.

    Examples
    --------
    >>> post = WSBPosterior([0.0], [[1.0]], noise_std=1.0, discount=0.5)
    >>> post.update([1.0], 2.0)
    >>> post.precision.tolist(), post.mean.round(12).tolist()
    ([[2.0]], [1.0])
    >>> post.update([1.0], 2.0)
    >>> post.precision.tolist(), post.mean.round(12).tolist(), post.weight_sum
    ([[2.5]], [1.2], 1.5)
    """

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
    ) -> None:
        self._discount = _validate.discount("discount", discount)
        super().__init__(prior_mean, prior_cov, noise_std)

    @property
    def discount(self) -> float:
        """The discount gamma."""
        return self._discount

    def _factor(self, steps):
        return self._discount**steps

    def _settings(self):
        return f"noise_std={self._noise_std:g}, discount={self._discount:g}"


class RestartPosterior(GaussianPosterior):
    """Posterior that starts again from the prior every `period` rounds.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std
        As in :class:`WSBPosterior`.
    period : int
        Rounds in a block; the weights are those of :class:`wsbnb.weights.Restart`.

    Examples
    --------
    >>> post = RestartPosterior([0.0], [[1.0]], noise_std=1.0, period=2)
    >>> post.update([[1.0], [1.0], [1.0]], [3.0, 3.0, 4.0])
    >>> post.mean.round(12).tolist(), post.weight_sum  # only the third round counts
    ([2.0], 1.0)
    """

    def __init__(
        self, prior_mean: ArrayLike, prior_cov: ArrayLike, noise_std: float, period: int
    ) -> None:
        self._period = _validate.integer("period", period)
        super().__init__(prior_mean, prior_cov, noise_std)

    @property
    def period(self) -> int:
        """Rounds between restarts."""
        return self._period

    def _block(self, clock):
        # Rounds 1..period are block 0; what came before round 1 belongs to it too.
        return max(math.ceil(clock / self._period) - 1, 0)

    def _factor(self, steps):
        same = self._block(self._clock + steps) == self._block(self._clock)
        return 1.0 if same else 0.0

    def _settings(self):
        return f"noise_std={self._noise_std:g}, period={self._period}"


class PolynomialPosterior(GaussianPosterior):
    """Posterior with the weights (s / t) ** power, whose memory grows with time.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std
        As in :class:`WSBPosterior`.
    power : float
        The power, zero or positive; the weights are those of
        ``wsbnb.weights.Polynomial(power, of="round")``.

    Examples
    --------
    >>> post = PolynomialPosterior([0.0], [[1.0]], noise_std=1.0, power=1.0)
    >>> post.update([[1.0], [1.0]], [0.0, 5.0])
    >>> post.mean.round(12).tolist(), post.weight_sum
    ([2.0], 1.5)
    """

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        power: float,
    ) -> None:
        self._power = _validate.nonnegative("power", power)
        super().__init__(prior_mean, prior_cov, noise_std)

    @property
    def power(self) -> float:
        """The power of the weights."""
        return self._power

    def _factor(self, steps):
        if steps == 0:
            return 1.0
        return (self._clock / (self._clock + steps)) ** self._power

    def _settings(self):
        return f"noise_std={self._noise_std:g}, power={self._power:g}"


class WindowPosterior(GaussianPosterior):
    """Posterior of the observations of the last `length` rounds.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std
        As in :class:`WSBPosterior`.
    length : int
        Rounds remembered; the weights are those of
        :class:`wsbnb.weights.SlidingWindow`.

    Notes
    -----
    The observations in the window are stored. One that leaves is subtracted, which
    loses digits where it was large beside what remains. The sums are therefore rebuilt
    from the stored observations after every `length` observations that left, and
    earlier when more than three digits may be gone (see ``_worn``).

    Examples
    --------
    >>> post = WindowPosterior([0.0], [[1.0]], noise_std=1.0, length=2)
    >>> post.update([[1.0], [1.0], [1.0]], [9.0, 3.0, 3.0])
    >>> post.mean.round(12).tolist(), post.weight_sum
    ([2.0], 2.0)
    """

    def __init__(
        self, prior_mean: ArrayLike, prior_cov: ArrayLike, noise_std: float, length: int
    ) -> None:
        self._length = _validate.integer("length", length)
        super().__init__(prior_mean, prior_cov, noise_std)

    @property
    def length(self) -> int:
        """Rounds in the window."""
        return self._length

    def reset(self) -> None:
        self._stored: deque[Any] = deque()  # (round, arm, reward), oldest first
        self._start_wear()
        super().reset()

    def _start_wear(self):
        self._left = 0  # observations subtracted since the sums were rebuilt
        self._kept = 1.0  # smallest share of the precision that survived them
        self._largest_h = 0.0

    def _forget(self, steps):
        now = self._clock + steps
        while self._stored and now - self._stored[0][0] >= self._length:
            _, x, reward = self._stored.popleft()
            self._subtract(x, reward)
            if self._worn():
                self._rebuild()

    def _absorb(self, x, reward):
        self._stored.append((self._clock, x, reward))
        super()._absorb(x, reward)
        self._largest_h = max(self._largest_h, np.abs(self._h).max())

    def _subtract(self, x, reward):
        factor = cholesky(self._P)
        if factor is None:
            self._kept = 0.0
        else:
            scaled = lapack.dtrtrs(factor, x, lower=1)[0]
            # det(P - x x'/s^2) / det(P): errors relative to P grow by its inverse.
            self._kept *= max(1.0 - self._noise_precision * (scaled @ scaled), 0.0)
        add_observation(self._P, self._h, x, reward, -self._noise_precision)
        self._left += 1
        self._weight_sum -= 1.0
        self._squared_weight_sum -= 1.0

    def _worn(self):
        shrunk = np.abs(self._h).max() < 1e-3 * self._largest_h
        return self._left >= self._length or self._kept < 1e-3 or shrunk

    def _rebuild(self):
        np.copyto(self._P, self._P0)
        np.copyto(self._h, self._h0)
        for _, x, reward in self._stored:
            add_observation(self._P, self._h, x, reward, self._noise_precision)
        self._start_wear()
        self._largest_h = np.abs(self._h).max()

    def _snapshot(self):
        saved = super()._snapshot()
        saved["_stored"] = self._stored.copy()
        return saved

    def _settings(self):
        return f"noise_std={self._noise_std:g}, length={self._length}"


class WRLS(WSBPosterior):
    r"""Weighted regularised least squares, the estimator before the Bayesian one.

    .. math::

        \hat\theta_t = V_t^{-1} b_t, \quad
        V_t = \lambda I + \sum_s \gamma^{t-s} x_s x_s^\top, \quad
        b_t = \sum_s \gamma^{t-s} x_s r_s

    (paper, eq. wrls). It is the recursion of :class:`WSBPosterior` with
    :math:`P_0 = \lambda I`, :math:`\mu_0 = 0` and :math:`\sigma = 1`.

    Parameters
    ----------
    dim : int
        Dimension d.
    regularization : float
        The ridge :math:`\lambda > 0`.
    discount : float in (0, 1]

    Notes
    -----
    :meth:`as_wsb` gives the posterior with the same mean for a noise level. Its prior
    precision is :math:`\Sigma_0^{-1} = (\lambda/\sigma^2) I`. The paper's Remark 2
    prints :math:`\lambda\sigma^2 I`, which is right only for :math:`\sigma = 1`.

    Examples
    --------
    >>> ridge = WRLS(dim=1, regularization=1.0, discount=0.9)
    >>> ridge.update([1.0], 1.0)
    >>> ridge.theta_hat.round(12).tolist(), ridge.V.tolist()
    ([0.5], [[2.0]])
    >>> ridge.as_wsb(noise_std=0.15**0.5).mean.round(12).tolist()
    [0.5]
    """

    def __init__(self, dim: int, regularization: float, discount: float) -> None:
        dim = _validate.integer("dim", dim)
        self._discount = _validate.discount("discount", discount)
        self._regularization = _validate.positive("regularization", regularization)
        self._prior_mean = np.zeros(dim)
        self._prior_cov = np.eye(dim) / self._regularization
        self._P0 = np.eye(dim) * self._regularization
        self._h0 = np.zeros(dim)
        self._set_noise(1.0)
        self.reset()

    @property
    def regularization(self) -> float:
        """The ridge lambda."""
        return self._regularization

    @property
    def theta_hat(self) -> Array:
        """The estimate (a new array)."""
        return self.mean

    @property
    def V(self) -> Array:
        """Regularised weighted Gram matrix (a copy)."""
        return self.precision

    @property
    def b(self) -> Array:
        """Weighted sum of arms times rewards (a copy)."""
        return self._h.copy()

    def as_wsb(self, noise_std: float) -> WSBPosterior:
        """The WSB posterior with this mean, and covariance sigma^2 V^{-1}.

        Parameters
        ----------
        noise_std : float
            Standard deviation sigma of the reward noise.

        Returns
        -------
        WSBPosterior
            In the same state; it can be updated further on its own.
        """
        noise_std = checked_noise(noise_std)
        prior_cov = np.eye(self.dim) * (noise_std**2 / self._regularization)
        twin = WSBPosterior(np.zeros(self.dim), prior_cov, noise_std, self._discount)
        twin._P = self._P * twin._noise_precision
        twin._h = self._h * twin._noise_precision
        twin._weight_sum = self._weight_sum
        twin._squared_weight_sum = self._squared_weight_sum
        twin._clock = self._clock
        twin._L = twin._checked_factor()
        return twin

    def _settings(self):
        return f"regularization={self._regularization:g}, discount={self._discount:g}"


def stream_posterior(
    weights: _rules.WeightRule,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
) -> GaussianPosterior:
    """The posterior class that follows a weight rule in bounded memory.

    Parameters
    ----------
    weights : a rule of :mod:`wsbnb.weights`
        One with ``weights.streaming``.
    prior_mean, prior_cov, noise_std
        As in :class:`WSBPosterior`.

    Returns
    -------
    WSBPosterior, WindowPosterior, RestartPosterior or PolynomialPosterior

    Examples
    --------
    >>> from wsbnb.weights import SlidingWindow
    >>> stream_posterior(SlidingWindow(5), [0.0], [[4.0]], 1.0)
    WindowPosterior(dim=1, noise_std=1, length=5, rounds=0, mean=[0.], std=[2.])
    """
    prior = (prior_mean, prior_cov, noise_std)
    if isinstance(weights, _rules.Exponential):
        return WSBPosterior(*prior, weights.discount)
    if isinstance(weights, _rules.SlidingWindow):
        return WindowPosterior(*prior, weights.length)
    if isinstance(weights, _rules.Restart):
        return RestartPosterior(*prior, weights.period)
    if isinstance(weights, _rules.Polynomial) and weights.streaming:
        return PolynomialPosterior(*prior, weights.power)
    raise ValueError(
        "weights must be a rule that needs bounded memory (Exponential, SlidingWindow, "
        f"Restart, Polynomial of 'round'), got {weights!r}; use batch_posterior"
    )


def batch_posterior(
    X: ArrayLike,
    rewards: ArrayLike,
    weights: ArrayLike | _rules.WeightRule,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
) -> tuple[Array, Array]:
    r"""Posterior for any weights, from all observations at once.

    .. math::

        \Sigma^{-1} = \Sigma_0^{-1} + \sigma^{-2} X^\top W X, \qquad
        \mu = \Sigma(\Sigma_0^{-1}\mu_0 + \sigma^{-2} X^\top W r)

    with W the diagonal matrix of the weights (paper, eqs. posterior::mean and ::cov).

    Parameters
    ----------
    X : array of shape (n, d)
        One arm per row; n = 0 gives back the prior.
    rewards : array of shape (n,)
    weights : array of shape (n,)
        The weights :math:`w_{s,n}`, zero or positive. The paper wants them in [0, 1].
        A rule of :mod:`wsbnb.weights` is accepted too and stands for its ``row(n)``.
    prior_mean : array of shape (d,)
    prior_cov : array of shape (d, d)
    noise_std : float

    Returns
    -------
    mean : array of shape (d,)
    cov : array of shape (d, d)

    Examples
    --------
    >>> mean, cov = batch_posterior(
    ...     [[1.0], [1.0]], [2.0, 2.0], [0.5, 1.0], [0.0], [[1.0]], 1.0
    ... )
    >>> mean.round(12).tolist(), cov.round(12).tolist()
    ([1.2], [[0.4]])
    """
    noise_std = checked_noise(noise_std)
    _, _, P, h = checked_prior(prior_mean, prior_cov)
    X = _observations(X, h.size)
    rewards = _column("rewards", rewards, len(X))
    if isinstance(weights, _rules.WeightRule):
        weights = weights.row(len(X))
    weights = _column("weights", weights, len(X))
    if (weights < 0.0).any():
        raise ValueError(f"weights must be zero or positive, got {weights.min()}")
    root = np.sqrt(weights)[:, None] * (X / noise_std)
    P = P + root.T @ root
    P = (P + P.T) / 2.0
    h = h + X.T @ (weights * rewards / noise_std**2)
    factor = cholesky(P)
    if factor is None or not np.isfinite(h).all():
        raise ValueError(
            "X and rewards must keep the posterior precision finite and positive "
            "definite in double precision, "
            f"got a largest entry of {np.abs(P).max():.3g}"
        )
    return solve(factor, h), inverse(factor)


def _observations(X: ArrayLike, dim: int) -> Array:
    array = _validate._finite_array("X", X)
    if array.ndim != 2 or array.shape[1] != dim:
        raise ValueError(
            f"X must have shape (n, {dim}) like prior_mean, got shape {array.shape}"
        )
    return array


def _column(name: str, value: ArrayLike, rows: int) -> Array:
    array = _validate._finite_array(name, value)
    if array.shape != (rows,):
        raise ValueError(
            f"{name} must have one entry per row of X, shape ({rows},), "
            f"got shape {array.shape}"
        )
    return array
