"""Theorems 1 and 2 as numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate as check
from wsbnb._types import Exploration, Form
from wsbnb.bounds import _check
from wsbnb.bounds.drift import FORMS, drift_bound_path, drift_sum_bound
from wsbnb.bounds.noise import noise_radius
from wsbnb.bounds.potential import log_det_term, width_constant
from wsbnb.bounds.prior import prior_penalty, prior_penalty_at_start
from wsbnb.bounds.sums import squared_weight_sum

PRINTED_OPTIMISM = float(np.exp(-0.25) / (8.0 * np.sqrt(np.pi)))
_SCALE_SQUARED = 14.0


class RegretBound(NamedTuple):
    """A regret bound by its terms.

    Attributes
    ----------
    drift : float
        What non-stationarity costs.
    variance : float
        What exploration costs.
    failure : float
        What the rounds outside the good event cost (zero in Theorem 1).
    """

    drift: float
    variance: float
    failure: float = 0.0

    @property
    def total(self) -> float:
        """Sum of the terms."""
        return self.drift + self.variance + self.failure


class ExplorationConstants(NamedTuple):
    r"""Constants of the events behind Theorem 2.

    Attributes
    ----------
    c1 : float
        Radius of the estimate: :math:`|\langle x,\mu_{t-1}-\bar\mu_t\rangle|\le
        c_1\|x\|_{\Sigma_{t-1}}` at all rounds, except with probability `p1`.
    c2 : float
        Radius of the perturbation, exceeded with probability `p2` in a round.
    scale : float
        Standard deviation :math:`a` of the perturbation.
    p1, p2 : float
        Failure probabilities.
    p3 : float
        Lower bound on the probability of an optimistic draw.
    """

    c1: float
    c2: float
    scale: float
    p1: float
    p2: float
    p3: float

    @property
    def factor(self) -> float:
        r""":math:`(c_1+c_2)(1+2/(p_3-p_2))`, infinite unless :math:`p_3>p_2`."""
        if self.p3 <= self.p2:
            return np.inf
        return (self.c1 + self.c2) * (1.0 + 2.0 / (self.p3 - self.p2))


@_check.within_range(infinite=True)
def regret_bound_ucb(
    *,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    param_bound: float,
    horizon: int,
    delta: float,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    variation: float | None = None,
    form: Form = "corrected",
) -> RegretBound:
    r"""Value of Theorem 1, the regret bound of WSB-LinUCB.

    .. math::

        R_T \le 2L\sqrt{\lambda_{\max}(\Sigma_0)}\sum_{t=1}^T\alpha_{t-1} +
        2^{3/2}\sigma\sqrt{CdT\Lambda_T}\,(\beta+\Pi_0)

    - ``"printed"``: :math:`\alpha` without :math:`1/\sigma`, :math:`\beta_T`, claimed
      with probability :math:`1-2\delta`. False: the first term is in squared reward
      units.
    - ``"corrected"``: corrected :math:`\alpha`, and :math:`\max_{t\le T}\beta_t`,
      since :math:`\beta_t` grows with :math:`t` for exponential weights but not for
      all admissible ones. One good event covers both sides of the argument, so the
      probability is :math:`1-\delta`.
    - ``"sharp"``: dimension-free :math:`\alpha`, :math:`\lambda_{\max}(\Sigma_0)`
      instead of the trace in :math:`\beta` and :math:`\Lambda_T`, exact
      :math:`\Pi_0`. It is for a policy that itself uses this :math:`\beta` and the
      exact :math:`\Pi_t`.

    Parameters
    ----------
    prior_mean, prior_cov : array (d,), array (d, d)
        :math:`\mu_0` and :math:`\Sigma_0`.
    noise_std, arm_bound, param_bound : float
        :math:`\sigma`, :math:`L` and :math:`S`.
    horizon : int
        :math:`T`.
    delta : float
        :math:`\delta`, spread over the horizon inside.
    discount : float, optional
        :math:`\gamma` of exponential weights. Give this or `weights`.
    weights : array (T, T), optional
        ``weights[t-1, s-1]`` is :math:`w_{s,t}`; must be non-decreasing in
        :math:`s` and satisfy :math:`w_{s,t}\ge w_{t-1,t}w_{s,t-1}`.
    parameters : array (T, d), optional
        The path; the drift term is then exact. Give this or `variation`.
    variation : float, optional
        :math:`B_T`; the drift term is then the largest over all such paths.
    form : {"printed", "corrected", "sharp"}

    Returns
    -------
    RegretBound
        With ``drift``, ``variance`` and ``total``.

    See Also
    --------
    trivial_bound : often smaller at horizons of a few thousand rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import regret_bound_ucb, trivial_bound
    >>> bound = regret_bound_ucb(
    ...     prior_mean=np.zeros(2),
    ...     prior_cov=np.eye(2),
    ...     noise_std=0.15**0.5,
    ...     arm_bound=1.0,
    ...     param_bound=1.0,
    ...     horizon=4000,
    ...     delta=0.05,
    ...     discount=0.977,
    ...     variation=4.24,
    ... )
    >>> round(bound.drift), round(bound.variance), round(bound.total)
    (17652, 16859, 34510)
    >>> trivial_bound(1.0, 1.0, 4000)
    8000.0
    """
    prior, drift, width = _shared_terms(
        prior_mean,
        prior_cov,
        noise_std,
        arm_bound,
        param_bound,
        horizon,
        discount,
        weights,
        parameters,
        variation,
        form,
    )
    beta = _largest_noise_radius(
        prior_cov, noise_std, arm_bound, delta, horizon, discount, weights, form
    )
    sigma_width = noise_std * np.sqrt(2.0) * width
    return RegretBound(drift, float(2.0 * sigma_width * (beta + prior)))


@_check.within_range(infinite=True)
def randomised_constants(
    *,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    param_bound: float,
    horizon: int,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    algorithm: Exploration = "ucb",
    n_arms: int | None = None,
    scale: float | None = None,
    form: Form = "corrected",
) -> ExplorationConstants:
    r"""Constants :math:`c_1,c_2,a,p_1,p_2,p_3` of Corollaries 2 and 3.

    :math:`c_1=\beta(1/T^2)+\Pi_0`, :math:`a^2=14c_1^2`, :math:`p_1=1/T`. Let
    :math:`K'` be 1 for the randomised UCB (one draw serves all arms) and :math:`K`
    for Thompson sampling.

    - ``"printed"``: :math:`c_2=a\sqrt{2\log(T/2)}`, for Thompson sampling
      :math:`a\sqrt{\log(KT/2)}` as in the appendix, which contradicts Corollary 3 and
      is too small; :math:`p_2=1/T`; :math:`p_3=e^{-1/4}/(8\sqrt\pi)=0.055`.
    - ``"corrected"``: :math:`c_2=a\sqrt{2\log(K'T/2)}`, and :math:`p_2` the union
      bound :math:`2K'\Phi(-c_2/a)`, at most :math:`1/T` once :math:`K'T\ge4`. Same
      :math:`p_3`.
    - ``"sharp"``: :math:`c_2` the Gaussian quantile that makes
      :math:`2K'\Phi(-c_2/a)=1/T`, and :math:`p_3=\Phi(-c_1/a)`, which is 0.395 for
      :math:`a^2=14c_1^2`. Radii as in the sharp form of `regret_bound_ucb`.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std, arm_bound, param_bound, horizon
        As in `regret_bound_ucb`.
    discount, weights
        Give one of them, as in `regret_bound_ucb`.
    algorithm : {"ucb", "thompson"}
        Randomised UCB or Thompson sampling.
    n_arms : int, optional
        :math:`K`, needed for Thompson sampling.
    scale : float, optional
        Another :math:`a`. Then :math:`p_3=\Phi(-c_1/a)` in every form. The
        experiments use :math:`a=1`, for which :math:`p_3` is below :math:`p_2`
        and the theorem says nothing.
    form : {"printed", "corrected", "sharp"}

    Returns
    -------
    ExplorationConstants

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import randomised_constants
    >>> constants = randomised_constants(
    ...     prior_mean=np.zeros(2),
    ...     prior_cov=np.eye(2),
    ...     noise_std=0.5,
    ...     arm_bound=1.0,
    ...     param_bound=1.0,
    ...     horizon=1000,
    ...     discount=0.99,
    ... )
    >>> round(constants.c1, 3), round(constants.c2 / constants.scale, 3)
    (7.184, 3.526)
    """
    check.choice("form", form, FORMS)
    check.choice("algorithm", algorithm, ("ucb", "thompson"))
    T = check.integer("horizon", horizon)
    K = None if n_arms is None else check.integer("n_arms", n_arms)
    draws = 1
    if algorithm == "thompson":
        if K is None:
            raise ValueError("n_arms must be given for Thompson sampling, got None")
        draws = K
    # delta = 1/T spread over T rounds; at T = 1 any share below 1 will do.
    delta = 1.0 / T if T > 1 else 0.5
    beta = _largest_noise_radius(
        prior_cov, noise_std, arm_bound, delta, T, discount, weights, form
    )
    c1 = beta + _penalty_at_start(prior_mean, prior_cov, param_bound, form)
    if scale is None:
        a = np.sqrt(_SCALE_SQUARED) * c1
    else:
        a = check.positive("scale", scale)
    from scipy.special import ndtr, ndtri

    log_term = np.log(max(draws * T / 2.0, 1.0))
    if form == "sharp":
        width = -ndtri(1.0 / (2.0 * draws * T))
    elif form == "printed" and algorithm == "thompson":
        width = np.sqrt(log_term)
    else:
        width = np.sqrt(2.0 * log_term)
    p2 = 1.0 / T
    if form != "printed":
        p2 = min(1.0, 2.0 * draws * ndtr(-width))
    exact_optimism = form == "sharp" or scale is not None
    p3 = ndtr(-c1 / a) if exact_optimism else PRINTED_OPTIMISM
    values = (c1, a * width, a, 1.0 / T, p2, p3)
    return ExplorationConstants(*(float(value) for value in values))


@_check.within_range(infinite=True)
def regret_bound_randomised(
    *,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    param_bound: float,
    horizon: int,
    discount: float | None = None,
    weights: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    variation: float | None = None,
    algorithm: Exploration = "ucb",
    n_arms: int | None = None,
    constants: ExplorationConstants | None = None,
    form: Form = "corrected",
) -> RegretBound:
    r"""Value of Theorem 2, for WSB-RandLinUCB and WSB-LinTS.

    Printed, and stated for :math:`R_T` itself:

    .. math::

        2L\sqrt{\lambda_{\max}(\Sigma_0)}\sum_t\alpha_{t-1} +
        (c_1+c_2)\Bigl(1+\frac2{p_3-p_2}\Bigr)\sqrt{dT\Lambda_T} + T(p_1+p_2).

    Corrected and sharp, for the expectation:

    .. math::

        \mathbb E[R_T] \le 2L\sqrt{\lambda_{\max}(\Sigma_0)}\sum_t\alpha_{t-1} +
        (c_1+c_2)\Bigl(1+\frac2{p_3-p_2}\Bigr)\sqrt2\,\sigma\sqrt{CdT\Lambda_T} +
        2LS\,T(p_1+p_2).

    The path and the arm sets are fixed in advance, or chosen before the draw of the
    round.

    Parameters
    ----------
    prior_mean, prior_cov, noise_std, arm_bound, param_bound, horizon
        As in `regret_bound_ucb`.
    discount, weights, parameters, variation
        As in `regret_bound_ucb`.
    algorithm : {"ucb", "thompson"}
        Randomised UCB or Thompson sampling.
    n_arms : int, optional
        :math:`K`, needed for Thompson sampling.
    constants : ExplorationConstants, optional
        Default: `randomised_constants` of the same form.
    form : {"printed", "corrected", "sharp"}

    Returns
    -------
    RegretBound
        ``variance`` is infinite unless :math:`p_3>p_2`.

    Notes
    -----
    Why the corrected statement holds. Fix a round, its history and its arms, and
    write :math:`\|x\|` for :math:`\|x\|_{\Sigma_{t-1}}`, :math:`f(x)=\langle
    x,\bar\mu_t\rangle`, :math:`c=c_1+c_2`. Suppose the estimate is good,
    :math:`|\langle x,\mu_{t-1}-\bar\mu_t\rangle|\le c_1\|x\|` for all arms; this
    depends on the history only.

    1. Call an arm *open* if :math:`f(X^*)-f(x)\le c\|x\|`, and let :math:`J` be the
       open arm of smallest :math:`\|x\|` (:math:`X^*` is open, so there is one). When
       the perturbation stays below :math:`c_2`, the score differs from :math:`f` by
       at most :math:`c\|x\|`, hence
       :math:`f(X^*)-f(X_t)\le c\|J\|+f(J)-f(X_t)\le c(2\|J\|+\|X_t\|)`.
    2. An arm that is not open then scores below :math:`f(X^*)`, while an optimistic
       draw scores :math:`X^*` above :math:`f(X^*)`. So an open arm is played with
       probability at least :math:`p_3-p_2`, and :math:`\|J\|\le
       \mathbb E[\|X_t\|]/(p_3-p_2)`. This step averages over the draw: it does not
       hold for each outcome, which is why the statement is about an expectation.
    3. By the drift lemma the gap in :math:`\theta_t` exceeds the gap in
       :math:`\bar\mu_t` by at most :math:`2L\sqrt{\lambda_{\max}(\Sigma_0)}
       \alpha_{t-1}`. In the rounds where something fails, of probability at most
       :math:`p_1+p_2` each, the gap is at most :math:`2LS`, not 1.
    4. Sum, and apply the Cauchy-Schwarz inequality and the potential lemma
       :math:`\sum_t\|X_t\|^2\le2\sigma^2Cd\Lambda_T`, whose factor
       :math:`2\sigma^2C` the printed version drops.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.bounds import regret_bound_randomised
    >>> problem = dict(
    ...     prior_mean=np.zeros(2),
    ...     prior_cov=np.eye(2),
    ...     noise_std=0.5,
    ...     arm_bound=1.0,
    ...     param_bound=1.0,
    ...     horizon=10**6,
    ...     discount=0.9999,
    ...     variation=0.0,
    ... )
    >>> corrected = regret_bound_randomised(**problem)
    >>> sharp = regret_bound_randomised(**problem, form="sharp")
    >>> bool(sharp.total < corrected.total)
    True
    """

    if constants is None:
        constants = randomised_constants(
            prior_mean=prior_mean,
            prior_cov=prior_cov,
            noise_std=noise_std,
            arm_bound=arm_bound,
            param_bound=param_bound,
            horizon=horizon,
            discount=discount,
            weights=weights,
            algorithm=algorithm,
            n_arms=n_arms,
            form=form,
        )
    elif not isinstance(constants, ExplorationConstants):
        raise TypeError(f"constants must be an ExplorationConstants, got {constants!r}")
    _, drift, width = _shared_terms(
        prior_mean,
        prior_cov,
        noise_std,
        arm_bound,
        param_bound,
        horizon,
        discount,
        weights,
        parameters,
        variation,
        form,
    )
    failures = np.float64(horizon) * (constants.p1 + constants.p2)
    if form == "printed":
        width /= np.sqrt(width_constant(prior_cov, noise_std, arm_bound))
        return RegretBound(drift, float(constants.factor * width), float(failures))
    variance = constants.factor * np.sqrt(2.0) * noise_std * width
    return RegretBound(
        drift, float(variance), float(2.0 * failures * arm_bound * param_bound)
    )


def _shared_terms(
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    param_bound: float,
    horizon: int,
    discount: float | None,
    weights: ArrayLike | None,
    parameters: ArrayLike | None,
    variation: float | None,
    form: Form,
) -> tuple[float, float, float]:
    """Pi_0, the drift term, and sqrt(C d T Lambda_T)."""
    check.choice("form", form, FORMS)
    mean = check.vector("prior_mean", prior_mean)
    prior_cov = check.covariance("prior_cov", prior_cov, dim=mean.size)
    T = check.integer("horizon", horizon)
    _check.exactly_one(discount=discount, weights=weights)
    _check.exactly_one(parameters=parameters, variation=variation)
    prior = _penalty_at_start(mean, prior_cov, param_bound, form)
    if variation is not None:
        drift_sum = drift_sum_bound(
            variation,
            T,
            mean.size,
            arm_bound,
            noise_std,
            discount=discount,
            weights=weights,
            form=form,
        )
    else:
        path = check.matrix("parameters", parameters, rows=T, cols=mean.size)
        drift_sum = drift_bound_path(
            path, discount, arm_bound, noise_std, form, weights=weights
        ).sum()
    top = np.sqrt(np.linalg.eigvalsh(prior_cov)[-1])
    log_det = log_det_term(
        T,
        prior_cov,
        noise_std,
        arm_bound,
        discount=discount,
        weights=weights,
        form="lambda_max" if form == "sharp" else "trace",
        first="printed" if form == "printed" else "free",
    )
    constant = width_constant(prior_cov, noise_std, arm_bound)
    width = np.sqrt(constant) * np.sqrt(mean.size * T * log_det)
    return prior, float(2.0 * top * arm_bound * drift_sum), float(width)


def _penalty_at_start(
    prior_mean: ArrayLike, prior_cov: ArrayLike, param_bound: float, form: Form
) -> float:
    if form == "sharp":
        return prior_penalty(prior_mean, prior_cov, prior_cov, param_bound)
    return prior_penalty_at_start(prior_mean, prior_cov, param_bound)


def _largest_noise_radius(
    prior_cov: ArrayLike,
    noise_std: float,
    arm_bound: float,
    delta: float,
    horizon: int,
    discount: float | None,
    weights: ArrayLike | None,
    form: Form,
) -> float:
    """beta_T as printed, otherwise the largest beta_t of t <= T."""
    _check.exactly_one(discount=discount, weights=weights)
    if discount is not None:
        squares = squared_weight_sum(discount, horizon)
    else:
        W = _check.weight_matrix("weights", weights, size=horizon)
        rows = (W**2).sum(axis=1)
        squares = rows[-1] if form == "printed" else rows.max()
    prior_cov = check.covariance("prior_cov", prior_cov)
    return noise_radius(
        len(prior_cov),
        noise_std,
        arm_bound,
        delta,
        float(squares),
        prior_cov,
        form="lambda_max" if form == "sharp" else "trace",
        split="horizon",
        horizon=horizon,
    )
