"""The weighted strategy for generalised linear bandits, on clicks: a rival."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, Seed
from wsbnb.kernels import logistic
from wsbnb.policies.base import Policy

#: Observations whose weight has fallen below this are dropped.
_LIGHTEST = 1e-8
#: The search for the estimate stops when a step is this short.
_STEP = 1e-6


class GLBWeightUCB(Policy):
    r"""GLB-WeightUCB of :cite:t:`wang2023revisit` with the logistic link.

    The estimate :math:`\tilde\theta` is the point of the ball
    :math:`\|\theta\|\le S` with the smallest :math:`\|g(\theta)\|_{V^{-1}}`, where

    .. math::

        g(\theta) = \lambda c\,\theta + \sum_s \gamma^{t-s}
        \bigl(\varsigma(\langle x_s,\theta\rangle)-r_s\bigr)x_s, \qquad
        V = \lambda I + \sum_s\gamma^{t-s}x_sx_s^\top

    and :math:`c = \varsigma'(LS)` is the smallest slope of the curve: the weighted
    maximum-likelihood estimate if that lies in the ball. The arm with the largest

    .. math::

        \varsigma(\langle x,\tilde\theta\rangle) + f\,\frac{2k}{c}\,\beta\,
        \|x\|_{V^{-1}}, \qquad
        \beta = \sqrt\lambda\,cS + \tfrac12\sqrt{2\log\tfrac T\delta +
        d\log\Bigl(1+\frac{L^2\sum_sw_s^2}{\lambda d}\Bigr)}

    is played, with the largest slope :math:`k=\tfrac14`.

    Parameters
    ----------
    dim : int
    discount : float in (0, 1]
    horizon : int
        Number of rounds T over which `delta` is spent.
    param_bound, arm_bound : float, default 1
        S and L.
    regularization : float, default 1
        :math:`\lambda`.
    delta : float, default 0.05
    radius_scale : float, default 1
        The factor f. With 1 the radius is that of the theory.
    rng : None, int, SeedSequence or Generator
        Not used by this rule.

    Notes
    -----
    Where nothing moves the radius follows in three lines. :math:`g` at the true
    parameter is :math:`\lambda c\theta_*` minus the weighted noise, so that its
    :math:`V^{-1}`-norm is at most :math:`\beta` with probability :math:`1-\delta`; at
    :math:`\tilde\theta` it is no longer. The difference of the two is
    :math:`G(\tilde\theta-\theta_*)` with :math:`G\succeq cV`, hence
    :math:`|\langle x,\tilde\theta-\theta_*\rangle|\le(2/c)\,\beta\|x\|_{V^{-1}}`.
    Drift adds a term that is the same for all arms.

    Every weight changes in every round, so that the sum over the past has to be gone
    through again: a round costs as much as the memory is long. The estimate is found by
    Gauss-Newton steps from the last one, in compiled code; the rest is not compiled.

    Examples
    --------
    >>> policy = GLBWeightUCB(dim=1, discount=0.99, horizon=100, param_bound=3.0)
    >>> policy.update([[1.0], [1.0], [-1.0]], [1, 1, 0])
    >>> policy.estimate.round(2).tolist()  # three clicks for it, and the ball ends
    [3.0]
    """

    name = "GLB-WeightUCB"

    def __init__(
        self,
        *,
        dim: int,
        discount: float,
        horizon: int,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        regularization: float = 1.0,
        delta: float = 0.05,
        radius_scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        super().__init__(rng)
        self.dim = _validate.integer("dim", dim)
        self.discount = _validate.discount("discount", discount)
        self.horizon = _validate.integer("horizon", horizon)
        self.param_bound = _validate.ordinary("param_bound", param_bound)
        self.arm_bound = _validate.ordinary("arm_bound", arm_bound)
        self.regularization = _validate.ordinary("regularization", regularization)
        self.delta = _validate.probability("delta", delta)
        self.radius_scale = _validate.bounded("radius_scale", radius_scale)
        self._restart()

    def _restart(self):
        self._x = np.empty((0, self.dim))
        self._paid = np.empty(0)
        self._weights = np.empty(0)
        self._products = np.zeros((self.dim, self.dim))
        self._theta = np.zeros(self.dim)
        self._stale = False

    @property
    def slope(self) -> float:
        """The smallest slope c of the curve, at log odds LS."""
        return float(_slope(_chance(self.arm_bound * self.param_bound)))

    @property
    def estimate(self) -> Array:
        """The estimate (a copy)."""
        self._solve()
        return self._theta.copy()

    @property
    def radius(self) -> float:
        """What a width is multiplied by."""
        lam, c, d = self.regularization, self.slope, self.dim
        shares = self.arm_bound**2 * float(self._weights @ self._weights) / (lam * d)
        chance = 2.0 * np.log(self.horizon / self.delta)
        noise = 0.5 * np.sqrt(chance + d * np.log1p(shares))
        beta = np.sqrt(lam) * c * self.param_bound + noise
        return float(self.radius_scale * 0.5 / c * beta)

    def scores(self, X: Array) -> Array:
        """Optimistic probabilities; nothing changes.

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        array of shape (K,)
        """
        arms = self._arms(X)
        return _chance(arms @ self.estimate) + self.radius * self._widths(arms)

    def _widths(self, arms):
        inside = (arms.T * np.linalg.solve(self._matrix(), arms.T)).sum(axis=0)
        return np.sqrt(np.maximum(inside, 0.0))

    def _matrix(self):
        return self.regularization * np.eye(self.dim) + self._products

    def _choose(self, X):
        return int(self.scores(X).argmax())

    def _observations(self, x, reward):
        X, rewards = super()._observations(x, reward)
        outside = (rewards < 0.0) | (rewards > 1.0)
        if outside.any():
            raise ValueError(
                f"reward must lie between 0 and 1, got {rewards[outside][0]}"
            )
        return X, rewards

    def _learn(self, x, reward, decay):
        f = self.discount if decay else 1.0
        faded = f * self._weights
        kept = faded >= _LIGHTEST
        self._weights = np.append(faded[kept], 1.0)
        self._x = np.vstack([self._x[kept], x])
        self._paid = np.append(self._paid[kept], reward)
        self._products = f * self._products + np.outer(x, x)
        self._stale = True

    def _solve(self):
        if not self._stale:
            return
        theta = self._theta.copy()
        logistic.estimate_in_ball(
            self._x,
            self._paid,
            self._weights,
            self.regularization * self.slope,
            np.linalg.inv(self._matrix()),
            self.param_bound,
            theta,
            _STEP,
        )
        self._theta, self._stale = theta, False


def _chance(eta):
    return 0.5 * (1.0 + np.tanh(0.5 * eta))


def _slope(p):
    return p * (1.0 - p)
