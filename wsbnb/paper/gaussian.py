"""Weighted Gaussian processes: exact, growing; and features at constant cost."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, ArrayLike, Seed
from wsbnb.policies.base import Policy


def squared_exponential(A: ArrayLike, B: ArrayLike, length: float) -> Array:
    r"""The kernel :math:`k(a,b)=\exp(-\lVert a-b\rVert^2/2\ell^2)` of pairs of rows.

    Parameters
    ----------
    A, B : arrays of shape (n, p) and (m, p)
    length : float
        The length scale.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> squared_exponential([[0.0]], [[0.0], [1.0]], 1.0).round(3).tolist()
    [[1.0, 0.607]]
    """
    A, B = _validate.matrix("A", A), _validate.matrix("B", B)
    square = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2.0 * A @ B.T
    return np.exp(-np.maximum(square, 0.0) / (2.0 * length**2))


class WeightedGPUCB(Policy):
    r"""Optimism on a Gaussian process whose observations lose weight; exact.

    An observation of age a has the noise variance :math:`\sigma^2\gamma^{-a}`. The
    posterior at an arm needs a factorisation of the matrix of all observations, so a
    round costs :math:`O(n^3)` after n of them: when every weight changes in every round
    there is no shorter way. The arm with the largest mean plus `width` standard
    deviations is played.

    Parameters
    ----------
    dim : int
        Dimension of the arms.
    length : float
        Length scale of the squared exponential kernel, whose variance is 1.
    noise_std : float
    discount : float in (0, 1]
    width : float, default 1
    newest : int, optional
        Keep only so many observations. Default: all.
    rng : None, int, SeedSequence or Generator
        Not used by this rule.

    Notes
    -----
    After :cite:t:`deng2022weighted`, with these differences: a constant `width` in
    place of their radius, and the posterior's width in place of the one with squared
    weights. With a linear kernel it is WSB-LinUCB.

    Examples
    --------
    >>> policy = WeightedGPUCB(dim=1, length=0.2, noise_std=0.1, discount=0.9)
    >>> policy.update([0.5], 1.0)
    >>> policy.pull([[0.0], [0.5]]), policy.size
    (1, 1)
    """

    name = "Weighted GP-UCB"

    def __init__(
        self,
        *,
        dim: int,
        length: float,
        noise_std: float,
        discount: float,
        width: float = 1.0,
        newest: int | None = None,
        rng: Seed = None,
    ) -> None:
        super().__init__(rng)
        self.dim = _validate.integer("dim", dim)
        self.length = _validate.positive("length", length)
        self.noise_std = _validate.ordinary("noise_std", noise_std)
        self.discount = _validate.discount("discount", discount)
        self.width = _validate.nonnegative("width", width)
        self.newest = None if newest is None else _validate.integer("newest", newest)
        self._restart()

    @property
    def size(self) -> int:
        """How many observations are held."""
        return len(self._rewards)

    def posterior_at(self, X: ArrayLike) -> tuple[Array, Array]:
        """Mean and variance of the function at the rows of X.

        Parameters
        ----------
        X : array of shape (K, dim)

        Returns
        -------
        mean, variance : arrays of shape (K,)
        """
        X = self._arms(X)
        if not self._rewards:
            return np.zeros(len(X)), np.ones(len(X))
        seen = np.array(self._seen)
        ages = self._clock - np.array(self._times)
        noise = self.noise_std**2 * self.discount ** -np.minimum(ages, self._oldest())
        K = squared_exponential(seen, seen, self.length) + np.diag(noise)
        root = np.linalg.cholesky(K)
        across = squared_exponential(seen, X, self.length)
        both = np.column_stack([across, self._rewards])
        solved = np.linalg.solve(root, both)
        mean = solved[:, :-1].T @ solved[:, -1]
        return mean, np.maximum(1.0 - (solved[:, :-1] ** 2).sum(axis=0), 0.0)

    def _oldest(self):
        """Beyond this age an observation says nothing; keeps the noise finite."""
        return np.inf if self.discount == 1.0 else 60.0 / -np.log(self.discount)

    def scores(self, X: ArrayLike) -> Array:
        """Mean plus `width` standard deviations.

        Parameters
        ----------
        X : array of shape (K, dim)

        Returns
        -------
        array of shape (K,)
        """
        mean, variance = self.posterior_at(X)
        return mean + self.width * np.sqrt(variance)

    def _choose(self, X):
        return int(np.argmax(self.scores(X)))

    def _learn(self, x, reward, decay):
        self._clock += int(decay)
        self._seen.append(x.copy())
        self._rewards.append(reward)
        self._times.append(self._clock)
        if self.newest is not None:
            for rows in (self._seen, self._rewards, self._times):
                del rows[: -self.newest]

    def _restart(self):
        self._seen, self._rewards, self._times, self._clock = [], [], [], 0


class FourierFeatures:
    r"""Random features whose inner products approach the squared exponential kernel.

    :math:`\phi(x)=\sqrt{2/m}\,(\cos(\omega_i^\top x+b_i))_{i\le m}` with
    :math:`\omega_i\sim N(0,\ell^{-2}I)` and uniform phases :cite:p:`rahimi2007random`.
    With a prior N(0, I) on the coefficients, a linear policy on :math:`\phi(x)` is a
    Gaussian process whose kernel is approximate and whose cost does not grow.

    Parameters
    ----------
    dim : int
        Dimension of the arms.
    features : int
        How many, m.
    length : float
        Length scale.
    rng : None, int, SeedSequence or Generator

    Examples
    --------
    >>> phi = FourierFeatures(dim=1, features=2000, length=0.5, rng=0)
    >>> A = phi([[0.0], [0.5]])
    >>> float((A @ A.T)[0, 1].round(1))
    0.6
    """

    def __init__(
        self, *, dim: int, features: int, length: float, rng: Seed = None
    ) -> None:
        rng = _validate.generator("rng", rng)
        count = _validate.integer("features", features)
        size = (_validate.integer("dim", dim), count)
        self.frequencies = rng.standard_normal(size)
        self.frequencies /= _validate.positive("length", length)
        self.phases = rng.uniform(0.0, 2.0 * np.pi, count)

    def __call__(self, X: ArrayLike) -> Array:
        """Features of the rows of X, shape (K, m)."""
        rows = _validate.matrix("X", X, cols=len(self.frequencies))
        wave = np.cos(rows @ self.frequencies + self.phases)
        return np.sqrt(2.0 / self.phases.size) * wave


class NystroemFeatures:
    r"""Features from the kernel with a few points, which it reproduces exactly.

    :math:`\phi(x)=K_{ZZ}^{-1/2}k(Z,x)` for points Z :cite:p:`williams2001using`, with
    directions of :math:`K_{ZZ}` left out whose eigenvalue is below 1e-10 of the
    largest. Inner products are :math:`k(x,Z)K_{ZZ}^{-1}k(Z,x')`: the kernel itself
    where x or x' is one of the points, and never too much variance elsewhere.

    Parameters
    ----------
    points : array of shape (m, p)
        For example a sample of the arms.
    length : float
        Length scale.

    Attributes
    ----------
    size : int
        Number of features, at most m.

    Examples
    --------
    >>> phi = NystroemFeatures(points=[[0.0], [0.5], [1.0]], length=0.5)
    >>> A = phi([[0.5], [0.7]])
    >>> (A @ A.T).round(2).tolist(), phi.size
    ([[1.0, 0.92], [0.92, 0.98]], 3)
    """

    def __init__(self, *, points: ArrayLike, length: float) -> None:
        self.points = _validate.matrix("points", points)
        self.length = _validate.positive("length", length)
        values, vectors = np.linalg.eigh(
            squared_exponential(self.points, self.points, self.length)
        )
        kept = values > 1e-10 * values[-1]
        self._root = vectors[:, kept] / np.sqrt(values[kept])
        self.size = int(kept.sum())

    def __call__(self, X: ArrayLike) -> Array:
        """Features of the rows of X, shape (K, size)."""
        rows = _validate.matrix("X", X, cols=self.points.shape[1])
        return squared_exponential(rows, self.points, self.length) @ self._root
