"""Baselines: stationary, sliding-window and restarting LinUCB, and three extremes."""

import numpy as np

from wsbnb import _validate, kernels
from wsbnb._types import Array, ArrayLike, Seed, Split
from wsbnb.policies import rules
from wsbnb.policies.base import Policy
from wsbnb.policies.saving import register
from wsbnb.policies.wrls import WRLSPolicy


class _UndiscountedUCB(WRLSPolicy):
    """UCB on regularised least squares; subclasses say what is kept."""

    def _begin(self, dim, regularization, noise_std, confidence, rng, **settings):
        self._set_estimator(dim, regularization, 1.0, noise_std)
        self._set_confidence(*confidence)
        radius = rules.wrls_radius(self)
        self._start(self._make_rule(kernels.UCB, **radius, **settings), rng)


@register
class LinUCB(_UndiscountedUCB):
    r"""LinUCB/OFUL of :cite:t:`abbasi2011improved`: no forgetting at all.

    Parameters
    ----------
    dim, regularization, noise_std, delta, param_bound, arm_bound
        As in :class:`DLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    Its radius holds for all rounds at once with :math:`\beta(\delta)`, because nothing
    is discounted. The guarantee is for a parameter that does not move.

    Examples
    --------
    >>> policy = LinUCB(2, 1.0, 0.5, delta=0.05)
    >>> policy.pull([[1.0, 0.0], [0.0, 1.0]])
    0
    """

    name = "LinUCB"

    def __init__(
        self,
        dim: int,
        regularization: float,
        noise_std: float,
        delta: float,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        rng: Seed = None,
    ) -> None:
        confidence = (delta, None, param_bound, arm_bound, "none")
        self._begin(dim, regularization, noise_std, confidence, rng)


@register
class SWLinUCB(_UndiscountedUCB):
    r"""SW-LinUCB of :cite:t:`cheung2019learning`: only the last `length` rounds count.

    Parameters
    ----------
    dim, regularization, noise_std
        As in :class:`DLinUCB`.
    length : int
        Rounds in the window.
    delta, horizon, param_bound, arm_bound, split
        As in :class:`WSBLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    The sums are rebuilt from the stored rows each time the window has turned over, so
    rounding errors do not accumulate. `decay` moves the window by empty rounds.

    Examples
    --------
    >>> policy = SWLinUCB(1, 1.0, 0.5, length=2, delta=0.05, horizon=100)
    >>> policy.update([[1.0], [1.0], [1.0]], [5.0, 1.0, 2.0])
    >>> policy.posterior.mean.round(6).tolist()  # (1 + 2) / (1 + 2)
    [1.0]
    """

    name = "SW-LinUCB"

    def __init__(
        self,
        dim: int,
        regularization: float,
        noise_std: float,
        length: int,
        delta: float,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split = "horizon",
        rng: Seed = None,
    ) -> None:
        self.length = _validate.integer("length", length)
        confidence = (delta, horizon, param_bound, arm_bound, split)
        kept = {"forgetting": kernels.WINDOW, "length": self.length}
        self._begin(dim, regularization, noise_std, confidence, rng, **kept)


@register
class RestartLinUCB(_UndiscountedUCB):
    r"""Restart-LinUCB of :cite:t:`zhao2020simple`: start afresh every `period` rounds.

    Parameters
    ----------
    dim, regularization, noise_std
        As in :class:`DLinUCB`.
    period : int
        Rounds between restarts.
    delta, horizon, param_bound, arm_bound, split
        As in :class:`WSBLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Examples
    --------
    >>> policy = RestartLinUCB(1, 1.0, 0.5, period=2, delta=0.05, horizon=100)
    >>> policy.update([[1.0], [1.0], [1.0]], [5.0, 1.0, 2.0])
    >>> policy.posterior.mean.round(6).tolist()  # 2 / (1 + 1)
    [1.0]
    """

    name = "Restart-LinUCB"

    def __init__(
        self,
        dim: int,
        regularization: float,
        noise_std: float,
        period: int,
        delta: float,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split = "horizon",
        rng: Seed = None,
    ) -> None:
        self.period = _validate.integer("period", period)
        confidence = (delta, horizon, param_bound, arm_bound, split)
        kept = {"forgetting": kernels.RESTART, "length": self.period}
        self._begin(dim, regularization, noise_std, confidence, rng, **kept)


@register
class LinTS(WRLSPolicy):
    r"""LinTS of :cite:t:`agrawal2013thompson`: Thompson sampling without forgetting.

    Draws :math:`\tilde\theta = \hat\theta + a L^{-\top} z` with :math:`V = LL^\top`.

    Parameters
    ----------
    dim, regularization, noise_std
        As in :class:`DLinUCB`; `noise_std` does not enter the choice.
    scale : float, default 1
        The factor a on the perturbation; ``scale=noise_std`` samples from the Bayesian
        posterior under the prior :math:`N(0, \sigma^2/\lambda\, I)`.
    rng : None, int, SeedSequence or Generator

    Examples
    --------
    >>> policy = LinTS(2, 1.0, 0.5, scale=0.5, rng=0)
    >>> policy.update([1.0, 0.0], 1.0)
    >>> policy.posterior.mean.round(3).tolist()
    [0.5, 0.0]
    """

    name = "LinTS"
    _normals = "dim"

    def __init__(
        self,
        dim: int,
        regularization: float,
        noise_std: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        self._set_estimator(dim, regularization, 1.0, noise_std)
        self.scale = _validate.nonnegative("scale", scale)
        self._start(self._make_rule(kernels.THOMPSON, scale=self.scale), rng)


@register
class Greedy(WRLSPolicy):
    """Play the arm with the largest estimated reward; never explore.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`; `noise_std` does not enter the choice.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Examples
    --------
    >>> policy = Greedy(2, 1.0, 0.99, 0.5)
    >>> policy.update([0.0, 1.0], 1.0)
    >>> policy.pull([[1.0, 0.0], [0.0, 1.0]])
    1
    """

    name = "Greedy"

    def __init__(
        self,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        rng: Seed = None,
    ) -> None:
        self._set_estimator(dim, regularization, discount, noise_std)
        self._start(self._make_rule(kernels.GREEDY), rng)


@register
class Uniform(WRLSPolicy):
    """Play an arm uniformly at random; it still keeps a WRLS estimate to look at.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`; none of them enters the choice.
    rng : None, int, SeedSequence or Generator

    Examples
    --------
    >>> policy = Uniform(2, rng=0)
    >>> [policy.pull([[1.0, 0.0], [0.0, 1.0]]) for _ in range(5)]
    [1, 0, 1, 1, 0]
    """

    name = "Uniform"
    _normals = 1

    def __init__(
        self,
        dim: int,
        regularization: float = 1.0,
        discount: float = 1.0,
        noise_std: float = 1.0,
        rng: Seed = None,
    ) -> None:
        self._set_estimator(dim, regularization, discount, noise_std)
        self._start(self._make_rule(kernels.UNIFORM), rng)


@register
class Oracle(Policy):
    """Play the best arm for the true parameter: regret zero by definition.

    Parameters
    ----------
    parameters : array of shape (T, d), optional
        The true path. In :func:`wsbnb.simulate` leave it out: the environment knows.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Examples
    --------
    >>> policy = Oracle([[1.0, 0.0], [0.0, 1.0]])
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> policy.pull(X)
    0
    >>> policy.update(X[0], 1.0)
    >>> policy.pull(X)
    1
    """

    name = "Oracle"

    def __init__(self, parameters: ArrayLike | None = None, rng: Seed = None) -> None:
        super().__init__(rng)
        if parameters is not None:
            parameters = _validate.matrix("parameters", parameters)
            self.dim = parameters.shape[1]
        self.parameters = parameters
        self._clock = 0

    def scores(self, X: ArrayLike) -> Array:
        """True expected rewards of the arms in this round.

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        array of shape (K,)
        """
        return self._true_rewards(self._arms(X))

    def _true_rewards(self, X):
        if self.parameters is None:
            raise ValueError("parameters must be given to pull outside simulate")
        if self._clock >= len(self.parameters):
            raise ValueError(
                f"parameters has {len(self.parameters)} rows, round {self._clock + 1} "
                "lies beyond"
            )
        return X @ self.parameters[self._clock]

    def _choose(self, X):
        return kernels.best_arm(self._true_rewards(X))

    def _learn(self, x, reward, decay):
        self._clock += int(decay)

    def decay(self, steps: int = 1) -> None:
        """Move the clock on.

        Parameters
        ----------
        steps : int, default 1
        """
        self._clock += _validate.integer("steps", steps, minimum=0)

    def _restart(self):
        self._clock = 0

    def _get_state(self):
        return {"clock": self._clock}

    def _set_state(self, state):
        self._clock = _validate.integer("clock", state["clock"], minimum=0)

    def _compiled(self, dim):
        """Rule and state for the compiled simulation."""
        rule = rules.make_rule(
            np.eye(dim), np.zeros(dim), np.zeros(dim), 1.0, 1.0, kernels.ORACLE
        )
        return rule, rules.new_state(rule)
