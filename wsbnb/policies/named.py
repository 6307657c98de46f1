"""The paper's algorithms and the baselines: each a posterior and a way to explore."""

from wsbnb import _validate
from wsbnb._types import ArrayLike, Constant, Penalty, Perturbation, Seed, Split
from wsbnb.clicks import LogisticPosterior
from wsbnb.exploration import LAWS, Optimism, RandomisedOptimism, Thompson, Widths
from wsbnb.exploration import Greedy as _Greedy
from wsbnb.exploration import Uniform as _Uniform
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.saving import register
from wsbnb.posterior import WRLS, WSBPosterior
from wsbnb.weights import RandomWalk, Restart, SlidingWindow

# --- on the WSB posterior -------------------------------------------------------------


@register
class WSBLinUCB(LinearPolicy):
    r"""WSB-LinUCB (paper, Algorithm 1): optimism on the WSB posterior.

    Plays the arm with the largest

    .. math::

        \langle x, \mu_{t-1}\rangle
        + s\,\bigl(\beta_{t-1}(\delta') + \Pi_{t-1}\bigr)\,\|x\|_{\Sigma_{t-1}} .

    Parameters
    ----------
    prior_mean : array of shape (d,)
    prior_cov : float, array of shape (d,) or (d, d)
        A multiple of the identity, a diagonal, or a symmetric positive definite
        matrix.
    noise_std : float
        Sub-Gaussian constant :math:`\sigma` of the reward noise.
    discount : float in (0, 1]
        The discount :math:`\gamma`; see :func:`wsbnb.tuned_discount`.
    delta, horizon, param_bound, arm_bound, split, radius, penalty, radius_scale
        As in :class:`wsbnb.exploration.Optimism`. The bounds "cxv" and "triangle" use
        a largest eigenvalue that is proved never to be too small. In the paper's
        setting it is a few per cent too large on average, and more for a few rounds
        while the true eigenvalue falls fast.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    Theorem 1 covers ``split="horizon"`` with exponential weights and
    ``radius_scale=1``, with its drift term corrected (see the errata chapter).
    ``split="none"`` is covered only for ``discount=1``.

    Examples
    --------
    >>> import numpy as np
    >>> policy = WSBLinUCB(
    ...     prior_mean=np.zeros(2),
    ...     prior_cov=1.0,
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
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        delta: float = 0.05,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split | None = None,
        radius: Constant = "trace",
        penalty: Penalty = "cxv",
        radius_scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        optimism = Optimism(
            delta=delta,
            horizon=horizon,
            param_bound=param_bound,
            arm_bound=arm_bound,
            split=split,
            radius=radius,
            penalty=penalty,
            radius_scale=radius_scale,
        )
        self._compose(_wsb(prior_mean, prior_cov, noise_std, discount), optimism, rng)


@register
class WSBRandLinUCB(LinearPolicy):
    r"""WSB-RandLinUCB (paper, Algorithm 2): one random radius for all arms.

    Plays the arm with the largest
    :math:`\langle x, \mu_{t-1}\rangle + \eta_t \|x\|_{\Sigma_{t-1}}`.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std, discount
        As in :class:`WSBLinUCB`.
    scale, perturbation
        As in :class:`wsbnb.exploration.RandomisedOptimism`.
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
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.99, rng=1
    ... )
    >>> X = np.eye(2)
    >>> k = policy.pull(X)
    >>> policy.update(X[k], 1.0)
    >>> policy.posterior.mean.round(3).tolist()
    [0.8, 0.0]
    """

    name = "WSB-RandLinUCB"

    def __init__(
        self,
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        scale: float = 1.0,
        perturbation: Perturbation = "rectified",
        delta: float = 0.05,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split | None = None,
        radius: Constant = "trace",
        penalty: Penalty = "cxv",
        rng: Seed = None,
    ) -> None:
        optimism = Optimism(
            delta=delta,
            horizon=horizon,
            param_bound=param_bound,
            arm_bound=arm_bound,
            split=split,
            radius=radius,
            penalty=penalty,
        )
        exploration = RandomisedOptimism(
            scale=scale, perturbation=perturbation, optimism=optimism
        )
        posterior = _wsb(prior_mean, prior_cov, noise_std, discount)
        self._compose(posterior, exploration, rng)


@register
class WSBLinTS(LinearPolicy):
    r"""WSB-LinTS (paper, Algorithm 3): act greedily on a draw from the posterior.

    Draws :math:`\tilde\mu = \mu_{t-1} + a R^{-1} z`, where
    :math:`\Sigma_{t-1}^{-1} = R^\top R` and z is standard normal in d dimensions, and
    plays the arm with the largest :math:`\langle x, \tilde\mu\rangle`.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std, discount
        As in :class:`WSBLinUCB`.
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
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.99, rng=0
    ... )
    >>> X = np.eye(2)
    >>> k = policy.pull(X)
    >>> policy.update(X[k], 1.0)
    >>> policy.posterior.cov.round(3).tolist()
    [[0.2, 0.0], [0.0, 1.0]]
    """

    name = "WSB-LinTS"

    def __init__(
        self,
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        posterior = _wsb(prior_mean, prior_cov, noise_std, discount)
        self._compose(posterior, Thompson(scale=scale), rng)


@register
class RandomWalkLinTS(LinearPolicy):
    r"""Thompson sampling on a Kalman filter: the parameter walks at random.

    Before each round the covariance grows by :math:`q\Sigma_0`; nothing is discounted,
    and the prior is not put back. See :class:`wsbnb.weights.RandomWalk`.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std
        As in :class:`WSBLinUCB`.
    rate : float
        The q above: prior variances that the parameter gains in a round.
    scale : float, default 1
        The factor on the perturbation.
    rng : None, int, SeedSequence or Generator

    Notes
    -----
    Where every direction is observed equally often, with information J a round, the
    filter settles at a gain that a discount of about :math:`1-\sqrt{qJ\Sigma_0}` would
    have. In directions that nobody plays it differs: a discount falls back to the
    prior, the walk goes on doubting. No regret bound is known to us for linear bandits.

    Examples
    --------
    >>> import numpy as np
    >>> policy = RandomWalkLinTS(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, rate=0.01, rng=0
    ... )
    >>> X = np.eye(2)
    >>> k = policy.pull(X)
    >>> policy.update(X[k], 1.0)
    >>> policy.posterior.cov.round(3).tolist()
    [[0.2, 0.0], [0.0, 1.01]]
    """

    name = "Random-walk LinTS"

    def __init__(
        self,
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        rate: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        rule = RandomWalk(rate)
        posterior = WSBPosterior(
            prior_mean=prior_mean,
            prior_cov=prior_cov,
            noise_std=noise_std,
            forgetting=rule,
        )
        self._compose(posterior, Thompson(scale=scale), rng, rate=rule.rate)


def _wsb(prior_mean, prior_cov, noise_std, discount):
    return WSBPosterior(
        prior_mean=prior_mean,
        prior_cov=prior_cov,
        noise_std=noise_std,
        discount=_validate.discount("discount", discount),
    )


# --- on the logistic posterior --------------------------------------------------------


@register
class LogisticTS(LinearPolicy):
    r"""Thompson sampling for clicks, on the logistic posterior.

    Draws a parameter as :class:`WSBLinTS` does and plays the arm with the largest
    :math:`\langle x, \tilde\theta\rangle`: the largest probability of a click.

    Parameters
    ----------
    prior_mean, prior_cov, discount
        As in :class:`LogisticPosterior`; of log odds, not of probabilities.
    scale : float, default 1
        The factor on the perturbation.
    rng : None, int, SeedSequence or Generator

    Examples
    --------
    >>> import numpy as np
    >>> policy = LogisticTS(prior_mean=np.zeros(2), prior_cov=4.0, discount=0.99, rng=0)
    >>> X = np.eye(2)
    >>> k = policy.pull(X)
    >>> policy.update(X[k], 1)
    >>> policy.posterior.predict(X)[0].round(2).tolist()
    [0.68, 0.5]
    """

    name = "Logistic TS"

    def __init__(
        self,
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        discount: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        posterior = _clicks(prior_mean, prior_cov, discount)
        self._compose(posterior, Thompson(scale=scale), rng)


@register
class LogisticUCB(LinearPolicy):
    r"""Optimism for clicks, on the logistic posterior.

    Plays the arm with the largest :math:`\langle x,\mu\rangle + c\,\|x\|_\Sigma`: the
    largest upper quantile of the log odds, hence of the probability.

    Parameters
    ----------
    prior_mean, prior_cov, discount
        As in :class:`LogisticPosterior`.
    width : float, default 1
        The factor c, in posterior standard deviations.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    A width with a proof would have to pay for Laplace's approximation and for the
    curve; none is known to us for this estimate.

    Examples
    --------
    >>> import numpy as np
    >>> policy = LogisticUCB(prior_mean=np.zeros(2), prior_cov=4.0, discount=0.99)
    >>> policy.update([1.0, 0.0], 0)
    >>> policy.pull(np.eye(2))
    1
    """

    name = "Logistic UCB"

    def __init__(
        self,
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        discount: float,
        width: float = 1.0,
        rng: Seed = None,
    ) -> None:
        width = _validate.bounded("width", width)
        posterior = _clicks(prior_mean, prior_cov, discount)
        self._compose(posterior, Widths(width=width), rng)


def _clicks(prior_mean, prior_cov, discount):
    return LogisticPosterior(
        prior_mean=prior_mean,
        prior_cov=prior_cov,
        discount=_validate.discount("discount", discount),
    )


# --- on weighted least squares --------------------------------------------------------


class _LeastSquaresUCB(LinearPolicy):
    """Optimism as it was before WSB: a fixed price for the ridge, and lambda_max."""

    _norm = "posterior"

    def _begin(self, posterior, rng, confidence, **own):
        optimism = Optimism(
            **confidence, radius="lambda_max", penalty="static", norm=self._norm
        )
        self._compose(posterior, optimism, rng, **own)


class _Discounted(_LeastSquaresUCB):
    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        delta: float = 0.05,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split | None = None,
        radius_scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        confidence = {
            "delta": delta,
            "horizon": horizon,
            "param_bound": param_bound,
            "arm_bound": arm_bound,
            "split": split,
            "radius_scale": radius_scale,
        }
        posterior = _ridge(dim, regularization, noise_std, discount)
        self._begin(posterior, rng, confidence)


@register
class DLinUCB(_Discounted):
    r"""D-LinUCB of :cite:t:`russac2019weighted`: discounted LinUCB, local norm.

    Plays the arm with the largest :math:`\langle x, \hat\theta_{t-1}\rangle +
    s\,\beta_{t-1}\|x\|_{V^{-1}\tilde V V^{-1}}`, where :math:`\tilde V` carries the
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
    delta, horizon, param_bound, arm_bound, split, radius_scale
        As in :class:`wsbnb.exploration.Optimism`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    Lemma 1 of the paper states the radius with :math:`\beta(\delta)` for all t, which
    is false for a discount below 1; ``split="horizon"`` repairs it (errata, E9).

    Examples
    --------
    >>> policy = DLinUCB(
    ...     dim=2, regularization=1.0, discount=0.99, noise_std=0.5, horizon=1000
    ... )
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> policy.update(X[0], 0.1)
    >>> policy.pull(X)
    1
    """

    name = "D-LinUCB"
    _norm = "local"


@register
class LBWeightUCB(_Discounted):
    r"""LB-WeightUCB of :cite:t:`wang2023revisit`: discounted LinUCB with one matrix.

    Plays the arm with the largest :math:`\langle x, \hat\theta_{t-1}\rangle +
    s\,\beta_{t-1}\|x\|_{V^{-1}}`.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`.
    delta, horizon, param_bound, arm_bound, split, radius_scale
        As in :class:`wsbnb.exploration.Optimism`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    As for :class:`DLinUCB`, ``split="horizon"`` is what makes the confidence statement
    true for a discount below 1.

    Examples
    --------
    >>> policy = LBWeightUCB(
    ...     dim=2,
    ...     regularization=1.0,
    ...     discount=0.99,
    ...     noise_std=0.5,
    ...     delta=0.01,
    ...     horizon=1000,
    ... )
    >>> policy.scores([[1.0, 0.0], [0.0, 2.0]]).round(3).tolist()
    [3.399, 6.799]
    """

    name = "LB-WeightUCB"


@register
class DRandLinUCB(LinearPolicy):
    r"""D-RandLinUCB of :cite:t:`kim2020randomized`: randomised UCB in the local norm.

    Plays the arm with the largest :math:`\langle x, \hat\theta_{t-1}\rangle +
    \eta_t\|x\|_{V^{-1}\tilde V V^{-1}}`.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`; `noise_std` enters only with ``perturbation="radius"``.
    scale, perturbation
        As in :class:`wsbnb.exploration.RandomisedOptimism`, but in the norm of V.
    delta, horizon, param_bound, arm_bound, split
        As in :class:`DLinUCB`; used by ``perturbation="radius"`` only.
    rng : None, int, SeedSequence or Generator

    Notes
    -----
    The width does not contain :math:`\sigma`, unlike that of :class:`WSBRandLinUCB`. In
    posterior standard deviations the scale is ``scale / noise_std``: at the same
    `scale` the two explore differently.

    Examples
    --------
    >>> policy = DRandLinUCB(
    ...     dim=2, regularization=1.0, discount=0.99, noise_std=0.5, rng=1
    ... )
    >>> policy.update([1.0, 0.0], 1.0)
    >>> policy.posterior.mean.round(3).tolist(), policy.exploration.scale
    ([0.5, 0.0], 2.0)
    """

    name = "D-RandLinUCB"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        scale: float = 1.0,
        perturbation: Perturbation = "rectified",
        delta: float = 0.05,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split | None = None,
        rng: Seed = None,
    ) -> None:
        posterior = _ridge(dim, regularization, noise_std, discount)
        optimism = Optimism(
            delta=delta,
            horizon=horizon,
            param_bound=param_bound,
            arm_bound=arm_bound,
            split=split,
            radius="lambda_max",
            penalty="static",
        )
        scale = _validate.bounded("scale", scale)
        # The radius is in the posterior's norm already, a bare normal is not.
        _validate.choice("perturbation", perturbation, LAWS)
        units = 1.0 if perturbation == "radius" else posterior.noise_std
        exploration = RandomisedOptimism(
            scale=scale / units,
            perturbation=perturbation,
            optimism=optimism,
            norm="local",
        )
        self._compose(posterior, exploration, rng, scale=scale)


@register
class DLinTS(LinearPolicy):
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
    >>> policy = DLinTS(dim=2, regularization=1.0, discount=0.99, noise_std=0.5, rng=0)
    >>> policy.update([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0])
    >>> policy.posterior.mean.round(3).tolist()
    [0.497, 0.0]
    """

    name = "D-LinTS"
    _norm = "local"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        _sample_ridge(self, dim, regularization, noise_std, discount, scale, rng)


def _ridge(dim, regularization, noise_std, discount=None, forgetting=None):
    if forgetting is None:
        discount = _validate.discount("discount", discount)
    return WRLS(
        dim=dim,
        regularization=regularization,
        discount=discount,
        noise_std=noise_std,
        forgetting=forgetting,
    )


def _sample_ridge(policy, dim, regularization, noise_std, discount, scale, rng):
    """Thompson sampling whose scale is in the norm of V, not of V / sigma^2."""
    posterior = _ridge(dim, regularization, noise_std, discount)
    scale = _validate.bounded("scale", scale)
    exploration = Thompson(scale=scale / posterior.noise_std, norm=policy._norm)
    policy._compose(posterior, exploration, rng, scale=scale)


# --- baselines ------------------------------------------------------------------------


@register
class LinUCB(_LeastSquaresUCB):
    r"""LinUCB/OFUL of :cite:t:`abbasi2011improved`: no forgetting at all.

    Parameters
    ----------
    dim, regularization, noise_std, delta, param_bound, arm_bound, radius_scale
        As in :class:`DLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    Its radius holds for all rounds at once with :math:`\beta(\delta)`, because nothing
    is discounted. The guarantee is for a parameter that does not move.

    Examples
    --------
    >>> policy = LinUCB(dim=2, regularization=1.0, noise_std=0.5)
    >>> policy.pull([[1.0, 0.0], [0.0, 1.0]])
    0
    """

    name = "LinUCB"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        noise_std: float,
        delta: float = 0.05,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        radius_scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        confidence = {
            "delta": delta,
            "param_bound": param_bound,
            "arm_bound": arm_bound,
            "split": "none",
            "radius_scale": radius_scale,
        }
        posterior = _ridge(dim, regularization, noise_std, 1.0)
        self._begin(posterior, rng, confidence)


@register
class SWLinUCB(_LeastSquaresUCB):
    r"""SW-LinUCB of :cite:t:`cheung2019learning`: only the last `length` rounds count.

    Parameters
    ----------
    dim, regularization, noise_std
        As in :class:`DLinUCB`.
    length : int
        Rounds in the window.
    delta, horizon, param_bound, arm_bound, split, radius_scale
        As in :class:`DLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Notes
    -----
    The sums are rebuilt from the stored rows each time the window has turned over, and
    before three digits are lost. `decay` moves the window by empty rounds.

    Examples
    --------
    >>> policy = SWLinUCB(dim=1, regularization=1.0, noise_std=0.5, length=2)
    >>> policy.update([[1.0], [1.0], [1.0]], [5.0, 1.0, 2.0])
    >>> policy.posterior.mean.round(6).tolist()  # (1 + 2) / (1 + 2)
    [1.0]
    """

    name = "SW-LinUCB"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        noise_std: float,
        length: int,
        delta: float = 0.05,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split | None = None,
        radius_scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        confidence = {
            "delta": delta,
            "horizon": horizon,
            "param_bound": param_bound,
            "arm_bound": arm_bound,
            "split": split,
            "radius_scale": radius_scale,
        }
        rule = SlidingWindow(length)
        posterior = _ridge(dim, regularization, noise_std, forgetting=rule)
        self._begin(posterior, rng, confidence, length=rule.length)


@register
class RestartLinUCB(_LeastSquaresUCB):
    r"""Restart-LinUCB of :cite:t:`zhao2020simple`: start afresh every `period` rounds.

    Parameters
    ----------
    dim, regularization, noise_std
        As in :class:`DLinUCB`.
    period : int
        Rounds between restarts.
    delta, horizon, param_bound, arm_bound, split, radius_scale
        As in :class:`DLinUCB`.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Examples
    --------
    >>> policy = RestartLinUCB(dim=1, regularization=1.0, noise_std=0.5, period=2)
    >>> policy.update([[1.0], [1.0], [1.0]], [5.0, 1.0, 2.0])
    >>> policy.posterior.mean.round(6).tolist()  # 2 / (1 + 1)
    [1.0]
    """

    name = "Restart-LinUCB"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        noise_std: float,
        period: int,
        delta: float = 0.05,
        horizon: int | None = None,
        param_bound: float = 1.0,
        arm_bound: float = 1.0,
        split: Split | None = None,
        radius_scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        confidence = {
            "delta": delta,
            "horizon": horizon,
            "param_bound": param_bound,
            "arm_bound": arm_bound,
            "split": split,
            "radius_scale": radius_scale,
        }
        rule = Restart(period)
        posterior = _ridge(dim, regularization, noise_std, forgetting=rule)
        self._begin(posterior, rng, confidence, period=rule.period)


@register
class LinTS(LinearPolicy):
    r"""LinTS of :cite:t:`agrawal2013thompson`: Thompson sampling without forgetting.

    Draws :math:`\tilde\theta = \hat\theta + a R^{-1} z` with :math:`V = R^\top R`.

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
    >>> policy = LinTS(dim=2, regularization=1.0, noise_std=0.5, scale=0.5, rng=0)
    >>> policy.update([1.0, 0.0], 1.0)
    >>> policy.posterior.mean.round(3).tolist()
    [0.5, 0.0]
    """

    name = "LinTS"
    _norm = "posterior"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        noise_std: float,
        scale: float = 1.0,
        rng: Seed = None,
    ) -> None:
        _sample_ridge(self, dim, regularization, noise_std, 1.0, scale, rng)


@register
class Greedy(LinearPolicy):
    """Play the arm with the largest estimated reward; never explore.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`; `noise_std` does not enter the choice.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Examples
    --------
    >>> policy = Greedy(dim=2)
    >>> policy.update([0.0, 1.0], 1.0)
    >>> policy.pull([[1.0, 0.0], [0.0, 1.0]])
    1
    """

    name = "Greedy"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float = 1.0,
        discount: float = 1.0,
        noise_std: float = 1.0,
        rng: Seed = None,
    ) -> None:
        posterior = _ridge(dim, regularization, noise_std, discount)
        self._compose(posterior, _Greedy(), rng)


@register
class Uniform(LinearPolicy):
    """Play an arm uniformly at random; it still keeps an estimate to look at.

    Parameters
    ----------
    dim, regularization, discount, noise_std
        As in :class:`DLinUCB`; none of them enters the choice.
    rng : None, int, SeedSequence or Generator

    Examples
    --------
    >>> policy = Uniform(dim=2, rng=0)
    >>> [policy.pull([[1.0, 0.0], [0.0, 1.0]]) for _ in range(5)]
    [1, 1, 0, 1, 0]
    """

    name = "Uniform"

    def __init__(
        self,
        *,
        dim: int,
        regularization: float = 1.0,
        discount: float = 1.0,
        noise_std: float = 1.0,
        rng: Seed = None,
    ) -> None:
        posterior = _ridge(dim, regularization, noise_std, discount)
        self._compose(posterior, _Uniform(), rng)
