"""The paper's three algorithms on the weighted sequential Bayesian posterior."""

from wsbnb import _validate, kernels
from wsbnb._gaussian import checked_noise, checked_prior
from wsbnb._types import ArrayLike, Constant, Penalty, Perturbation, Seed, Split
from wsbnb.policies import rules
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.saving import register


class _WSBPolicy(LinearPolicy):
    """Settings and prior shared by the WSB policies."""

    def _set_prior(self, prior_mean, prior_cov, noise_std, discount):
        self.noise_std = checked_noise(noise_std)
        self.discount = _validate.discount("discount", discount)
        mean, cov, self._P0, self._h0 = checked_prior(prior_mean, prior_cov)
        # What the compiled rule was built from, so not to be changed in place either.
        mean.setflags(write=False)
        cov.setflags(write=False)
        self.prior_mean, self.prior_cov = mean, cov

    @property
    def dim(self) -> int:
        """Dimension d of arms and parameter."""
        return self.prior_mean.size

    def _make_rule(self, exploration, **settings):
        return rules.make_rule(
            self._P0,
            self._h0,
            self.prior_mean,
            self.discount,
            1.0 / self.noise_std**2,
            exploration,
            **settings,
        )


@register
class WSBLinUCB(_WSBPolicy):
    r"""WSB-LinUCB (paper, Algorithm 1): optimism on the WSB posterior.

    Plays the arm with the largest

    .. math::

        \langle x, \mu_{t-1}\rangle
        + \bigl(\beta_{t-1}(\delta') + \Pi_{t-1}\bigr)\,\|x\|_{\Sigma_{t-1}} .

    Parameters
    ----------
    prior_mean : array of shape (d,)
    prior_cov : array of shape (d, d)
        Symmetric positive definite.
    noise_std : float
        Sub-Gaussian constant :math:`\sigma` of the reward noise.
    discount : float in (0, 1]
        The discount :math:`\gamma`; see :func:`wsbnb.tuned_discount`.
    delta : float in (0, 1)
        Failure probability of the confidence ellipsoids.
    horizon : int or None
        Number of rounds T over which `delta` is spent.
    param_bound, arm_bound : float, default 1
        Bounds S on the parameter's norm and L on the arms' norms.
    split : {"horizon", "none", "anytime"}
        :math:`\delta' = \delta/T`, :math:`\delta`, or
        :math:`\delta/(2t(1+\log t)^2)`, which needs no horizon.
    radius : {"trace", "lambda_max"}
        Which size of the prior covariance enters :math:`\beta`: the trace as printed,
        or its largest eigenvalue, which is smaller and also valid.
    penalty : {"cxv", "exact", "triangle"}
        The prior penalty :math:`\Pi`: one of the paper's two bounds, or its exact
        value. The bounds use a largest eigenvalue that is proved never to be too
        small. In the paper's setting it is 1 to 2 % too large on average, and more
        for a few rounds while the true eigenvalue falls fast.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    Theorem 1 covers ``split="horizon"`` with exponential weights, with its drift term
    corrected (see the errata chapter). ``split="none"`` is covered only for
    ``discount=1``. For randomly wrong S, L or noise_std no theorem applies.

    Examples
    --------
    >>> import numpy as np
    >>> policy = WSBLinUCB(
    ...     np.zeros(2),
    ...     np.eye(2),
    ...     noise_std=0.5,
    ...     discount=0.99,
    ...     delta=0.01,
    ...     horizon=1000,
    ... )
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> policy.pull(X)
    0
    >>> policy.update(X[0], 0.1)
    >>> policy.pull(X)  # the arm not yet tried is wider
    1
    """

    name = "WSB-LinUCB"

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        delta: float,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split = "horizon",
        radius: Constant = "trace",
        penalty: Penalty = "cxv",
        rng: Seed = None,
    ) -> None:
        self._set_prior(prior_mean, prior_cov, noise_std, discount)
        self.delta, self.horizon, self.split = delta, horizon, split
        self.param_bound, self.arm_bound = param_bound, arm_bound
        self.radius, self.penalty = radius, penalty
        settings = rules.wsb_radius(self, self.prior_cov)
        self._start(self._make_rule(kernels.UCB, **settings), rng)


@register
class WSBRandLinUCB(_WSBPolicy):
    r"""WSB-RandLinUCB (paper, Algorithm 2): one random radius for all arms.

    Plays the arm with the largest
    :math:`\langle x, \mu_{t-1}\rangle + \eta_t \|x\|_{\Sigma_{t-1}}`.

    Parameters
    ----------
    prior_mean : array of shape (d,)
    prior_cov : array of shape (d, d)
        Symmetric positive definite.
    noise_std : float
        Sub-Gaussian constant :math:`\sigma` of the reward noise.
    discount : float in (0, 1]
        The discount :math:`\gamma`; see :func:`wsbnb.tuned_discount`.
    scale : float, default 1
        The factor a on the perturbation.
    perturbation : {"rectified", "gaussian", "half-normal", "radius"}
        With z standard normal, :math:`\eta` is ``a max(0, z)``, ``a z``, ``a |z|``, or
        ``a |z|`` times the UCB radius (:cite:t:`kim2020randomized` use a = 2/5; this
        law needs `delta` and the settings after it).
    delta, horizon, param_bound, arm_bound, split, radius, penalty
        As in :class:`WSBLinUCB`; used by ``perturbation="radius"`` only.
    rng : None, int, SeedSequence or Generator

    Notes
    -----
    Theorem 2 (in expectation, with the repairs of the errata chapter) covers "gaussian"
    and "rectified" with :math:`a^2 = 14 c_1^2`, far above 1. At ``scale=1``, which the
    experiments use, no theorem applies.

    Examples
    --------
    >>> import numpy as np
    >>> policy = WSBRandLinUCB(
    ...     np.zeros(2), np.eye(2), noise_std=0.5, discount=0.99, rng=1
    ... )
    >>> X = np.eye(2)
    >>> k = policy.pull(X)
    >>> policy.update(X[k], 1.0)
    >>> policy.posterior.mean.round(3).tolist()
    [0.8, 0.0]
    """

    name = "WSB-RandLinUCB"
    _normals = 1

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        scale: float = 1.0,
        perturbation: Perturbation = "rectified",
        delta: float | None = None,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split = "horizon",
        radius: Constant = "trace",
        penalty: Penalty = "cxv",
        rng: Seed = None,
    ) -> None:
        self._set_prior(prior_mean, prior_cov, noise_std, discount)
        self.scale = _validate.nonnegative("scale", scale)
        self.perturbation = perturbation
        self.delta, self.horizon, self.split = delta, horizon, split
        self.param_bound, self.arm_bound = param_bound, arm_bound
        self.radius, self.penalty = radius, penalty
        settings = rules.randomised_settings(
            self, lambda: rules.wsb_radius(self, self.prior_cov)
        )
        self._start(self._make_rule(kernels.RANDOMISED_UCB, **settings), rng)


@register
class WSBLinTS(_WSBPolicy):
    r"""WSB-LinTS (paper, Algorithm 3): act greedily on a draw from the posterior.

    Draws :math:`\tilde\mu = \mu_{t-1} + a L^{-\top} z`, where
    :math:`\Sigma_{t-1}^{-1} = L L^\top` and z is standard normal in d dimensions, and
    plays the arm with the largest :math:`\langle x, \tilde\mu\rangle`.

    Parameters
    ----------
    prior_mean : array of shape (d,)
    prior_cov : array of shape (d, d)
        Symmetric positive definite.
    noise_std : float
        Sub-Gaussian constant :math:`\sigma` of the reward noise.
    discount : float in (0, 1]
        The discount :math:`\gamma`; see :func:`wsbnb.tuned_discount`.
    scale : float, default 1
        The factor a on the perturbation.
    rng : None, int, SeedSequence or Generator

    Notes
    -----
    Theorem 2 (in expectation, with the repairs of the errata chapter) covers
    :math:`a^2 = 14 c_1^2`, far above 1. At ``scale=1`` no theorem applies.

    Examples
    --------
    >>> import numpy as np
    >>> policy = WSBLinTS(
    ...     prior_mean=np.zeros(2),
    ...     prior_cov=np.eye(2),
    ...     noise_std=0.5,
    ...     discount=0.99,
    ...     rng=0,
    ... )
    >>> X = np.eye(2)
    >>> k = policy.pull(X)
    >>> policy.update(X[k], 1.0)
    >>> policy.posterior.cov.round(3).tolist()
    [[0.2, 0.0], [0.0, 1.0]]
    """

    name = "WSB-LinTS"
    _normals = "dim"

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        self._set_prior(prior_mean, prior_cov, noise_std, discount)
        self.scale = _validate.nonnegative("scale", scale)
        self._start(self._make_rule(kernels.THOMPSON, scale=self.scale), rng)
