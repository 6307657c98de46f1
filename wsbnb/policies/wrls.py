"""Policies on weighted regularised least squares: the paper's four rivals."""

from wsbnb import _validate, kernels
from wsbnb._gaussian import checked_noise
from wsbnb._types import Perturbation, Seed, Split
from wsbnb.policies import rules
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.saving import register


class WRLSPolicy(LinearPolicy):
    """Settings and estimator shared by the WRLS policies."""

    _unit_noise = True

    def _set_estimator(self, dim, regularization, discount, noise_std):
        self._dim = _validate.integer("dim", dim)
        self.regularization = _validate.positive("regularization", regularization)
        self.discount = _validate.discount("discount", discount)
        self.noise_std = checked_noise(noise_std)

    @property
    def dim(self) -> int:
        """Dimension d of arms and parameter."""
        return self._dim

    def _set_confidence(self, delta, horizon, param_bound, arm_bound, split):
        self.delta, self.horizon, self.split = delta, horizon, split
        self.param_bound, self.arm_bound = param_bound, arm_bound

    def _make_rule(self, exploration, **settings):
        prior = rules.wrls_prior(self.dim, self.regularization)
        return rules.make_rule(*prior, self.discount, 1.0, exploration, **settings)


class _WRLSUCB(WRLSPolicy):
    """UCB on WRLS; subclasses say in which norm an arm is measured."""

    _local = False

    def __init__(
        self,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        delta: float,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split = "horizon",
        rng: Seed = None,
    ) -> None:
        self._set_estimator(dim, regularization, discount, noise_std)
        self._set_confidence(delta, horizon, param_bound, arm_bound, split)
        settings = rules.wrls_radius(self)
        rule = self._make_rule(kernels.UCB, local=self._local, **settings)
        self._start(rule, rng)


@register
class DLinUCB(_WRLSUCB):
    r"""D-LinUCB of :cite:t:`russac2019weighted`: discounted LinUCB, local norm.

    Plays the arm with the largest :math:`\langle x, \hat\theta_{t-1}\rangle +
    \beta_{t-1}\|x\|_{V^{-1}\tilde V V^{-1}}`, where :math:`\tilde V` carries the
    squared weights.

    Parameters
    ----------
    dim : int
        Dimension d.
    regularization : float
        The ridge :math:`\lambda`.
    discount : float in (0, 1]
        The discount :math:`\gamma`.
    noise_std : float
        Sub-Gaussian constant :math:`\sigma` of the reward noise.
    delta, horizon, param_bound, arm_bound, split
        As in :class:`WSBLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    Lemma 1 of the paper states the radius with :math:`\beta(\delta)` for all t, which
    is false for a discount below 1; ``split="horizon"`` repairs it (errata, E9).

    Examples
    --------
    >>> policy = DLinUCB(2, 1.0, 0.99, 0.5, delta=0.01, horizon=1000)
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> policy.update(X[0], 0.1)
    >>> policy.pull(X)
    1
    """

    name = "D-LinUCB"
    _local = True


@register
class LBWeightUCB(_WRLSUCB):
    r"""LB-WeightUCB of :cite:t:`wang2023revisit`: discounted LinUCB with one matrix.

    Plays the arm with the largest :math:`\langle x, \hat\theta_{t-1}\rangle +
    \beta_{t-1}\|x\|_{V^{-1}}`.

    Parameters
    ----------
    dim : int
        Dimension d.
    regularization : float
        The ridge :math:`\lambda`.
    discount : float in (0, 1]
        The discount :math:`\gamma`.
    noise_std : float
        Sub-Gaussian constant :math:`\sigma` of the reward noise.
    delta, horizon, param_bound, arm_bound, split
        As in :class:`WSBLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    As for :class:`DLinUCB`, ``split="horizon"`` is what makes the confidence statement
    true for a discount below 1.

    Examples
    --------
    >>> policy = LBWeightUCB(2, 1.0, 0.99, 0.5, delta=0.01, horizon=1000)
    >>> policy.scores([[1.0, 0.0], [0.0, 2.0]]).round(3).tolist()
    [3.399, 6.799]
    """

    name = "LB-WeightUCB"


@register
class DRandLinUCB(WRLSPolicy):
    r"""D-RandLinUCB of :cite:t:`kim2020randomized`: randomised UCB in the local norm.

    Plays the arm with the largest :math:`\langle x, \hat\theta_{t-1}\rangle +
    \eta_t\|x\|_{V^{-1}\tilde V V^{-1}}`.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`; `noise_std` enters only with ``perturbation="radius"``.
    scale, perturbation
        As in :class:`WSBRandLinUCB`.
    delta, horizon, param_bound, arm_bound, split
        As in :class:`WSBLinUCB`; used by ``perturbation="radius"`` only.
    rng : None, int, SeedSequence or Generator

    Notes
    -----
    The width does not contain :math:`\sigma`, unlike that of
    :class:`WSBRandLinUCB`: at the same `scale` the two explore differently.

    Examples
    --------
    >>> policy = DRandLinUCB(2, 1.0, 0.99, 0.5, rng=1)
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> policy.update(X[0], 1.0)
    >>> policy.posterior.mean.round(3).tolist()
    [0.5, 0.0]
    """

    name = "D-RandLinUCB"
    _normals = 1

    def __init__(
        self,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        scale: float = 1.0,
        perturbation: Perturbation = "rectified",
        delta: float | None = None,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split = "horizon",
        rng: Seed = None,
    ) -> None:
        self._set_estimator(dim, regularization, discount, noise_std)
        self._set_confidence(delta, horizon, param_bound, arm_bound, split)
        self.scale = _validate.nonnegative("scale", scale)
        self.perturbation = perturbation
        settings = rules.randomised_settings(self, lambda: rules.wrls_radius(self))
        rule = self._make_rule(kernels.RANDOMISED_UCB, local=True, **settings)
        self._start(rule, rng)


@register
class DLinTS(WRLSPolicy):
    r"""D-LinTS of :cite:t:`kim2020randomized`: discounted Thompson sampling.

    Draws :math:`\tilde\theta = V^{-1}(b + a \tilde L z)` with
    :math:`\tilde V = \tilde L\tilde L^\top` and z standard normal, and plays the arm
    with the largest :math:`\langle x, \tilde\theta\rangle`.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`; `noise_std` does not enter the choice.
    scale : float, default 1
        The factor a on the perturbation.
    rng : None, int, SeedSequence or Generator

    Notes
    -----
    The covariance of the draw is :math:`a^2 V^{-1}\tilde V V^{-1}`: it does not contain
    :math:`\sigma`, so at ``scale=1`` it is wider than the WSB posterior whenever
    :math:`\sigma\sqrt{1+\gamma} < 1`.

    Examples
    --------
    >>> policy = DLinTS(2, 1.0, 0.99, 0.5, rng=0)
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> policy.update([X[0], X[1]], [1.0, 0.0])
    >>> policy.posterior.mean.round(3).tolist()
    [0.497, 0.0]
    """

    name = "D-LinTS"
    _normals = "dim"

    def __init__(
        self,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        self._set_estimator(dim, regularization, discount, noise_std)
        self.scale = _validate.nonnegative("scale", scale)
        rule = self._make_rule(kernels.THOMPSON, local=True, scale=self.scale)
        self._start(rule, rng)
