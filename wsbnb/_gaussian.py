"""The Gaussian algebra behind :mod:`wsbnb.posterior`: state, factor, reading.

Here is what the posteriors share. How each one forgets is said in
:mod:`wsbnb.posterior`.
"""

import copy
import math

import numpy as np
from scipy.linalg import blas, lapack

from wsbnb import _validate
from wsbnb._types import Any, Array, ArrayLike, FloatOrArray, Seed, Self
from wsbnb.kernels import add_observation, decay


def cholesky(P: Array) -> Any:
    """Lower Cholesky factor of P, or None where P is not numerically definite."""
    factor, info = lapack.dpotrf(P, lower=1, clean=1)
    return factor if info == 0 and np.isfinite(factor).all() else None


def inverse(factor: Array) -> Array:
    """The symmetric inverse of the matrix whose lower Cholesky factor is given."""
    lower = lapack.dpotri(factor, lower=1)[0]  # above the diagonal: zeros of factor
    both = lower + lower.T
    np.fill_diagonal(both, lower.diagonal())
    return both


def solve(factor: Array, right: Array) -> Array:
    """Solve (factor factor') y = right."""
    return lapack.dpotrs(factor, right, lower=1)[0]


def _triangular(factor, right, transposed=False):
    """Solve with the factor or its transpose.

    Level-3 BLAS, because LAPACK's dtrtrs wakes threads for two columns already, which
    costs a thousand times the work where the cores are busy.
    """
    return blas.dtrsm(1.0, factor, right, lower=1, trans_a=int(transposed))


def checked_prior(
    prior_mean: ArrayLike, prior_cov: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """Checked prior as (mean, covariance, precision, precision times mean)."""
    mean = _validate.vector("prior_mean", prior_mean)
    cov = _validate.covariance("prior_cov", prior_cov, dim=mean.size)
    factor = cholesky(cov)
    precision = inverse(factor)
    if cholesky(precision) is None:
        raise ValueError(
            "prior_cov must be well enough conditioned to be inverted in double "
            f"precision, got condition number {np.linalg.cond(cov):.3g}"
        )
    return mean, cov, precision, solve(factor, mean)


def checked_noise(noise_std: float) -> float:
    """A noise level whose square and its inverse are ordinary doubles."""
    noise_std = _validate.positive("noise_std", noise_std)
    if not 1e-150 <= noise_std <= 1e150:
        raise ValueError(
            f"noise_std must lie between 1e-150 and 1e150, got {noise_std!r}"
        )
    return noise_std


class GaussianPosterior:
    """State, algebra and reading of a weighted posterior; subclasses forget."""

    def __init__(
        self, prior_mean: ArrayLike, prior_cov: ArrayLike, noise_std: float
    ) -> None:
        self._set_noise(noise_std)
        self._prior_mean, self._prior_cov, self._P0, self._h0 = checked_prior(
            prior_mean, prior_cov
        )
        self.reset()

    def _set_noise(self, noise_std):
        self._noise_std = checked_noise(noise_std)
        self._noise_precision = 1.0 / self._noise_std**2

    # -- what a subclass says ---------------------------------------------------

    def _forget(self, steps):
        """Let `steps` rounds pass: change P, h and the weight sums."""
        self._scale(self._factor(steps))

    def _factor(self, steps):
        """Factor on all past weights when the clock moves by `steps`."""
        raise NotImplementedError

    def _settings(self):
        """Text that names the forgetting rule in the repr."""
        raise NotImplementedError

    # -- changing the state -----------------------------------------------------

    def update(self, x: ArrayLike, reward: ArrayLike, decay: bool = True) -> None:
        """Absorb one observation, or several in order.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            The arm played, or one arm per row.
        reward : float or array of shape (n,)
            What it paid.
        decay : bool, default True
            With True each row is a new round: the past is forgotten by one step, then
            the row enters with weight 1. With False the rows belong to the current
            round: they enter with weight 1 and nothing is forgotten. Use this with
            :meth:`decay` to run the forgetting on a clock of your own.

        Notes
        -----
        Input is checked first, and the state changes only if the whole update
        succeeds.
        """
        X, rewards = self._rows(x, reward)
        saved = self._snapshot()
        try:
            for row, value in zip(X, rewards, strict=True):
                if decay:
                    self._forget(1)
                    self._clock += 1
                self._absorb(row, float(value))
            self._L = self._checked_factor()
        except BaseException:
            self.__dict__.update(saved)
            raise

    def decay(self, steps: float = 1) -> None:
        r"""Let time pass without an observation.

        For exponential weights :math:`P \leftarrow \gamma^k P + (1-\gamma^k) P_0` with
        k = `steps`, and the same for h: the posterior drifts back to the prior.

        Parameters
        ----------
        steps : float, default 1
            Number of rounds, zero or positive; it need not be whole.
        """
        whole = isinstance(steps, int | np.integer) and not isinstance(steps, bool)
        elapsed = _validate.nonnegative("steps", steps)
        if whole:
            elapsed = int(steps)
        saved = self._snapshot()
        try:
            self._forget(elapsed)
            self._clock += elapsed
            self._L = self._checked_factor()
        except BaseException:
            self.__dict__.update(saved)
            raise

    def reset(self) -> None:
        """Forget everything: back to the prior and to round 0."""
        self._below = np.tril_indices(self._h0.size, -1)
        self._P = self._P0.copy()
        self._h = self._h0.copy()
        self._weight_sum = 0.0
        self._squared_weight_sum = 0.0
        self._clock = 0
        self._L = self._checked_factor()

    def copy(self) -> Self:
        """An independent posterior in the same state."""
        return copy.deepcopy(self)

    __copy__ = copy  # a shallow copy would share the arrays that change in place

    def _scale(self, factor):
        decay(self._P, self._h, self._P0, self._h0, factor)
        self._weight_sum *= factor
        self._squared_weight_sum *= factor**2

    def _absorb(self, x, reward):
        add_observation(self._P, self._h, x, reward, self._noise_precision)
        self._weight_sum += 1.0
        self._squared_weight_sum += 1.0

    def _snapshot(self):
        saved = dict(self.__dict__)
        saved["_P"] = self._P.copy()
        saved["_h"] = self._h.copy()
        return saved

    def _checked_factor(self):
        # The compiled loops may round P[i, j] and P[j, i] differently.
        self._P[self._below] = self._P.T[self._below]
        factor = cholesky(self._P)
        if factor is None or not np.isfinite(self._h).all():
            raise ValueError(
                "x and reward must keep the posterior precision finite and positive "
                "definite in double precision; rescale the arms or the prior, got "
                f"a largest precision entry of {np.abs(self._P).max():.3g}"
            )
        return factor

    def _rows(self, x, reward):
        return _validate.observations(x, reward, self.dim)

    # -- reading it -------------------------------------------------------------

    @property
    def dim(self) -> int:
        """Dimension d of the parameter."""
        return self._h.size

    @property
    def noise_std(self) -> float:
        """Standard deviation of the reward noise."""
        return self._noise_std

    @property
    def prior_mean(self) -> Array:
        """Prior mean (a copy)."""
        return self._prior_mean.copy()

    @property
    def prior_cov(self) -> Array:
        """Prior covariance (a copy)."""
        return self._prior_cov.copy()

    @property
    def rounds(self) -> float:
        """Rounds passed: one per observation, plus the steps of :meth:`decay`."""
        return self._clock

    @property
    def precision(self) -> Array:
        """Posterior precision P, the inverse of the covariance (a copy)."""
        return self._P.copy()

    @property
    def mean(self) -> Array:
        """Posterior mean (a new array)."""
        return solve(self._L, self._h)

    @property
    def cov(self) -> Array:
        """Posterior covariance (a new array, exactly symmetric)."""
        return inverse(self._L)

    @property
    def weight_sum(self) -> float:
        """Sum of the current weights, the effective number of observations."""
        return self._weight_sum

    @property
    def squared_weight_sum(self) -> float:
        """Sum of the squared current weights, which enters the noise radius."""
        return self._squared_weight_sum

    def logpdf(self, theta: ArrayLike) -> FloatOrArray:
        """Log of the posterior density.

        Parameters
        ----------
        theta : array of shape (d,) or (n, d)

        Returns
        -------
        float or array of shape (n,)
        """
        many, single = self._points("theta", theta)
        scaled = (many - self.mean) @ self._L  # its rows are L'(theta - mean)
        half_log_det = np.log(np.diag(self._L)).sum()
        value = half_log_det - 0.5 * self.dim * math.log(2.0 * math.pi)
        value = value - 0.5 * (scaled**2).sum(axis=1)
        return float(value[0]) if single else value

    def predict(
        self, x: ArrayLike, noise: bool = True
    ) -> tuple[FloatOrArray, FloatOrArray]:
        r"""Predictive distribution of the reward of an arm, a Gaussian.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
        noise : bool, default True
            With True the standard deviation is that of a new reward,
            :math:`\sqrt{x^\top\Sigma_t x + \sigma^2}`; with False that of the expected
            reward :math:`\langle x, \theta\rangle`.

        Returns
        -------
        mean, std : float or array of shape (n,)
        """
        many, single = self._points("x", x)
        scaled = _triangular(self._L, many.T)
        variance = (scaled**2).sum(axis=0)
        if noise:
            variance = variance + self._noise_std**2
        mean, std = many @ self.mean, np.sqrt(variance)
        return (float(mean[0]), float(std[0])) if single else (mean, std)

    def sample(self, rng: Seed = None, size: int | None = None) -> Array:
        r"""Draw parameters :math:`\mu_t + L^{-\top} z` with :math:`P = LL^\top`.

        Parameters
        ----------
        rng : None, int, SeedSequence or Generator
            An int or a SeedSequence starts a new generator at each call; hand over a
            Generator to draw on.
        size : int, optional
            Number of draws; None draws one.

        Returns
        -------
        array of shape (d,) or (size, d)
        """
        rng = _validate.generator("rng", rng)
        count = 1 if size is None else _validate.integer("size", size, minimum=0)
        normals = rng.standard_normal((count, self.dim))
        if count == 0:
            return normals
        noise = _triangular(self._L, normals.T, transposed=True).T
        draws = np.ascontiguousarray(self.mean + noise)
        return draws[0] if size is None else draws

    def _points(self, name, value):
        """Rows to evaluate at, and whether a single vector was given."""
        array = _validate._finite_array(name, value)
        single = array.ndim == 1
        if single:
            array = array[None, :]
        if array.ndim != 2 or array.shape[1] != self.dim:
            raise ValueError(
                f"{name} must have shape ({self.dim},) or (n, {self.dim}), "
                f"got shape {np.shape(value)}"
            )
        return array, single

    def __repr__(self) -> str:
        std = np.sqrt(np.diag(self.cov))
        return (
            f"{type(self).__name__}(dim={self.dim}, {self._settings()}, "
            f"rounds={self.rounds}, mean={_short(self.mean)}, std={_short(std)})"
        )


def _short(array):
    return np.array2string(array, precision=4, threshold=6, separator=", ")
