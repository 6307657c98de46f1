r"""The seven algorithms in plain NumPy and SciPy, to be read beside the paper.

Each class is one algorithm. A round is ``pull`` (score all arms, take the best) and
``update``. The matrix is factorised once per round and all arms are scored at once,
which is how one would write it with LAPACK at hand. The compiled core computes the
same numbers; tests compare the two and the benchmark measures against this module.

Letters are the paper's. Indices: a decision in round t uses what is known after round
t - 1, so `P`, `h`, `V`, `b` hold :math:`\Sigma_{t-1}^{-1}` and so on. Random numbers
are standard normals handed in (`normals`): none for UCB, one for randomised UCB, d for
Thompson sampling. Input is not checked here.

With :math:`P = LL^\top`, :math:`Y = L^{-1}X^\top` and :math:`z = L^{-1}h`, all the mean
scores are :math:`Y^\top z` and the squared widths :math:`\|x\|^2_{P^{-1}}` are the
squared column norms of Y. There is no inverse and no back-substitution.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs
from scipy.optimize import brentq

from wsbnb._types import Array, Constant, Penalty, Perturbation, Seed, Split

# Flags of the LAPACK calls: which triangle is used, whether the other one may keep old
# entries (RAW), whether to solve with the transpose.
LOWER, RAW, TRANSPOSED = 1, 0, 1

#: Scores this close to the best one, relative to it, count as a tie.
TIE = 1e-12


# --- radii ------------------------------------------------------------------------


def log_inverse_delta(delta: float, horizon: int, split: Split, t: int) -> float:
    r""":math:`\log(1/\delta')` for the share of the failure probability in round t.

    ``split="horizon"`` is :math:`\delta' = \delta/T` (Lemma 2 of the paper),
    ``"none"`` is :math:`\delta` itself, and ``"anytime"`` is
    :math:`\delta/(2t(1+\log t)^2)`, which sums to at most delta over all rounds.

    Examples
    --------
    >>> round(log_inverse_delta(0.1, 100, "horizon", t=1), 6)
    6.907755
    """
    if split == "horizon":
        return math.log(horizon / delta)
    if split == "anytime":
        return math.log(2.0 * t * (1.0 + math.log(t)) ** 2 / delta)
    if split == "none":
        return math.log(1.0 / delta)
    raise ValueError(
        f"split must be one of 'horizon', 'none', 'anytime', got {split!r}"
    )


def wrls_radius(
    dim: int,
    regularization: float,
    noise_std: float,
    log_term: float,
    squares: float,
    S: float,
    L: float,
) -> float:
    r"""Confidence level of Lemma 1, with :math:`n_2 = \sum_s w_s^2` (`squares`).

    .. math::

        \beta = \sigma\sqrt{2\log\tfrac{1}{\delta'}
        + d\log\Bigl(1 + \frac{L^2 n_2}{\lambda d}\Bigr)} + \sqrt\lambda S

    Examples
    --------
    >>> round(wrls_radius(1, 4.0, 0.5, 2.0, 0.0, S=3.0, L=1.0), 6)  # 0.5 * 2 + 2 * 3
    7.0
    """
    spread = dim * math.log1p(L**2 * squares / (regularization * dim))
    noise = noise_std * math.sqrt(2.0 * log_term + spread)
    return noise + math.sqrt(regularization) * S


def wsb_radius(
    dim: int,
    prior_size: float,
    noise_std: float,
    log_term: float,
    squares: float,
    L: float,
) -> float:
    r"""Confidence level of Lemma 2, with :math:`n_2 = \sum_s w_s^2` (`squares`).

    .. math::

        \beta = \sqrt{2\log\tfrac{1}{\delta'}
        + d\log\Bigl(1 + \frac{s\, L^2 n_2}{d\sigma^2}\Bigr)}

    The paper takes :math:`s = \mathrm{Tr}(\Sigma_0)` (`prior_size`);
    :math:`\lambda_{\max}(\Sigma_0)` is enough and smaller.

    Examples
    --------
    >>> wsb_radius(1, 1.0, 0.5, 2.0, 0.0, L=1.0)
    2.0
    """
    spread = dim * math.log1p(prior_size * L**2 * squares / (dim * noise_std**2))
    return math.sqrt(2.0 * log_term + spread)


def prior_penalty(
    P0: Array, L_factor: Array, prior_mean: Array, S: float, form: Penalty
) -> float:
    r"""The prior term :math:`\Pi` of Lemma 2, or a bound on it from Lemma 3.

    With :math:`M = P_0 P^{-1} P_0` it is the largest :math:`\|\mu_0 - \theta\|_M` over
    the ball :math:`\|\theta\| \le S`.

    Parameters
    ----------
    P0 : array of shape (d, d)
        Prior precision.
    L_factor : array of shape (d, d)
        Lower Cholesky factor of the current precision P.
    prior_mean : array of shape (d,)
    S : float
        Bound on the norm of theta.
    form : {"exact", "cxv", "triangle"}

    Examples
    --------
    >>> P0, mu0 = np.eye(2), np.array([1.0, 0.0])
    >>> round(prior_penalty(P0, np.eye(2), mu0, 2.0, "exact"), 12)
    3.0
    """
    B = dtrtrs(L_factor, P0, LOWER)[0]  # M = B'B
    M = B.T @ B
    if form == "exact":
        return _farthest_point(M, prior_mean, S)
    top = np.linalg.eigvalsh(M)[-1]
    M_mu = M @ prior_mean
    norm_squared = prior_mean @ M_mu
    if form == "cxv":
        cross = math.sqrt(M_mu @ M_mu)
        return math.sqrt(norm_squared + S**2 * top + 2.0 * S * cross)
    if form == "triangle":
        return math.sqrt(norm_squared) + math.sqrt(top) * S
    raise ValueError(f"penalty must be one of 'exact', 'cxv', 'triangle', got {form!r}")


def _farthest_point(M, mu, S):
    r"""Largest :math:`\|\mu-\theta\|_M` over :math:`\|\theta\|\le S`, exactly.

    A trust-region problem. In the eigenbasis of M the maximiser is
    :math:`\theta_i = -m_i\mu_i/(\nu - m_i)`, where the multiplier
    :math:`\nu \ge m_{\max}` makes its norm S. In the hard case (mu has no part in the
    top eigenspace and the norm stays below S) nu is the top eigenvalue. The value
    returned is the dual one, :math:`\nu S^2 + \mu^\top M\mu + \sum_i
    (m_i\mu_i)^2/(\nu-m_i)`: an upper bound for every admissible nu.
    """
    if S == 0.0:
        return math.sqrt(mu @ M @ mu)
    m, U = np.linalg.eigh(M)
    pull = m * (U.T @ mu)
    gap = m[-1] - m
    reach = np.linalg.norm(pull) / S

    def excess(tau):  # nu = m_max + tau
        return np.linalg.norm(pull / (gap + tau)) - S

    least = 1e-15 * (reach + m[-1])
    if reach <= least or excess(least) <= 0.0:
        tau = least  # the hard case, up to rounding
    else:
        tau = brentq(excess, least, reach * (1.0 + 1e-12), xtol=1e-300, rtol=1e-14)
    value = (m[-1] + tau) * S**2 + mu @ M @ mu + np.sum(pull**2 / (gap + tau))
    return math.sqrt(value)


def perturbation(
    law: Perturbation, normal: float, radius: float | None = None
) -> float:
    r"""Random multiple of the width in randomised UCB, for one standard normal.

    "rectified" is :math:`\max(0, z)` (what reproduces the paper's tables), "gaussian"
    :math:`z` (Algorithm 2), "half-normal" :math:`|z|`, and "radius"
    :math:`|z|\beta`, Kim and Tewari's multiple of the UCB radius.

    Examples
    --------
    >>> perturbation("rectified", -2.0), perturbation("half-normal", -2.0)
    (0.0, 2.0)
    """
    if law == "rectified":
        return max(0.0, normal)
    if law == "gaussian":
        return normal
    if law == "half-normal":
        return abs(normal)
    if law == "radius":
        return abs(normal) * radius
    raise ValueError(
        "perturbation must be one of 'rectified', 'gaussian', 'half-normal', "
        f"'radius', got {law!r}"
    )


# --- estimators -------------------------------------------------------------------


class _Policy:
    """The round: score, take the best arm, count the squared weights."""

    def _normals_needed(self):
        return 0

    def scores(self, X: Array, normals: Array | None = None) -> Array:
        """Selection criterion of every arm (row of X); changes nothing."""
        raise NotImplementedError

    def pull(self, X: Array, normals: Array | None = None, rng: Seed = None) -> int:
        """Index of the arm to play; ties up to rounding go to the lowest index."""
        if normals is None and self._normals_needed():
            rng = np.random.default_rng(rng)
            normals = rng.standard_normal(self._normals_needed())
        scores = self.scores(X, normals)
        best = float(scores[scores.argmax()])
        return int((scores >= best - TIE * abs(best)).argmax())

    def _log_term(self):
        return log_inverse_delta(self.delta, self.horizon, self.split, self.t)

    def _set_bounds(self, delta, horizon, param_bound, arm_bound, split):
        self.delta, self.horizon, self.split = delta, horizon, split
        self.S, self.L = param_bound, arm_bound

    def _needs_bounds(self):
        if None in (self.delta, self.horizon, self.S, self.L):
            raise ValueError(
                "delta, horizon, param_bound and arm_bound must be given for "
                "perturbation='radius', got None"
            )


class _WRLS(_Policy):
    r"""Weighted regularised least squares (Section 2.2).

    .. math::

        V \leftarrow \gamma V + (1-\gamma)\lambda I + xx^\top, \quad
        b \leftarrow \gamma b + xr, \quad
        \tilde V \leftarrow \gamma^2\tilde V + (1-\gamma^2)\lambda I + xx^\top
    """

    local_norm = True  # LB-WeightUCB does without V_tilde

    def __init__(
        self, dim: int, regularization: float, discount: float, noise_std: float
    ) -> None:
        self.dim, self.regularization = dim, regularization
        self.gamma, self.noise_std = discount, noise_std
        ridge = regularization * np.eye(dim)
        self.V, self.V_tilde, self.b = ridge.copy(), ridge.copy(), np.zeros(dim)
        self._reinject = (1.0 - discount) * ridge
        self._reinject_tilde = (1.0 - discount**2) * ridge
        self.squares, self.t = 0.0, 1

    def update(self, x: ArrayLike, r: float) -> None:
        """Forget one step, put the ridge back, absorb the observation."""
        x = np.asarray(x, dtype=float)
        outer = x[:, None] * x
        self.V *= self.gamma
        self.V += self._reinject
        self.V += outer
        self.b *= self.gamma
        self.b += r * x
        if self.local_norm:
            self.V_tilde *= self.gamma**2
            self.V_tilde += self._reinject_tilde
            self.V_tilde += outer
        self.squares = self.gamma**2 * self.squares + 1.0
        self.t += 1

    def _radius(self):
        return wrls_radius(
            self.dim,
            self.regularization,
            self.noise_std,
            self._log_term(),
            self.squares,
            self.S,
            self.L,
        )

    def _means_and_local_widths(self, X):
        r""":math:`X\hat\theta` and the widths in :math:`V^{-1}\tilde V V^{-1}`."""
        L, _ = dpotrf(self.V, LOWER, RAW)
        U, _ = dpotrs(L, X.T, LOWER)  # V^{-1} X'
        squared_widths = np.vecdot(U, self.V_tilde @ U, axis=0)
        return self.b @ U, np.sqrt(squared_widths)


class _WSB(_Policy):
    r"""Weighted sequential Bayesian posterior (Section 3, eq. WSB-posterior-update).

    .. math::

        P \leftarrow \gamma P + (1-\gamma)P_0 + \sigma^{-2}xx^\top, \qquad
        h \leftarrow \gamma h + (1-\gamma)P_0\mu_0 + \sigma^{-2}xr
    """

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
    ) -> None:
        self.prior_mean = np.array(prior_mean, dtype=float)
        self.prior_cov = np.array(prior_cov, dtype=float)
        self.dim = self.prior_mean.size
        self.noise_std, self.gamma = noise_std, discount
        self.P0 = np.linalg.inv(self.prior_cov)
        self.P0 = (self.P0 + self.P0.T) / 2.0
        self.P, self.h = self.P0.copy(), self.P0 @ self.prior_mean
        self._reinject_P = (1.0 - discount) * self.P0
        self._reinject_h = (1.0 - discount) * self.h
        self.squares, self.t = 0.0, 1

    def update(self, x: ArrayLike, r: float) -> None:
        """Forget one step, put the prior back, absorb the observation."""
        x = np.asarray(x, dtype=float) / self.noise_std
        self.P *= self.gamma
        self.P += self._reinject_P
        self.P += x[:, None] * x
        self.h *= self.gamma
        self.h += self._reinject_h
        self.h += (r / self.noise_std) * x
        self.squares = self.gamma**2 * self.squares + 1.0
        self.t += 1

    def _set_radius(self, radius, penalty):
        if radius not in ("trace", "lambda_max"):
            raise ValueError(
                f"radius must be one of 'trace', 'lambda_max', got {radius!r}"
            )
        eigenvalues = np.linalg.eigvalsh(self.prior_cov)
        self.prior_size = eigenvalues.sum() if radius == "trace" else eigenvalues[-1]
        self.penalty = penalty

    def _radius(self, L):
        """The noise level beta plus the prior term Pi."""
        beta = wsb_radius(
            self.dim,
            self.prior_size,
            self.noise_std,
            self._log_term(),
            self.squares,
            self.L,
        )
        return beta + prior_penalty(self.P0, L, self.prior_mean, self.S, self.penalty)


def _means_and_widths(P, h, X):
    r"""Factor L of P, mean scores :math:`XP^{-1}h`, widths :math:`\|x\|_{P^{-1}}`."""
    L, _ = dpotrf(P, LOWER, RAW)
    Y, _ = dtrtrs(L, X.T, LOWER)
    z, _ = dtrtrs(L, h, LOWER)
    return L, z @ Y, np.sqrt(np.vecdot(Y, Y, axis=0))


# --- the seven algorithms ---------------------------------------------------------


class DLinUCB(_WRLS):
    r"""D-LinUCB (Russac et al. 2019; Section 2.3).

    .. math:: \arg\max_x \langle x,\hat\theta\rangle
              + \beta^{\mathrm{WRLS}}\|x\|_{V^{-1}\tilde V V^{-1}}

    Examples
    --------
    >>> policy = DLinUCB(
    ...     dim=2,
    ...     regularization=1.0,
    ...     discount=0.9,
    ...     noise_std=0.5,
    ...     delta=0.1,
    ...     horizon=100,
    ...     param_bound=1.0,
    ...     arm_bound=1.0,
    ... )
    >>> X = np.eye(2)
    >>> policy.update(X[0], 1.0)
    >>> policy.pull(X)
    1
    """

    def __init__(
        self,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        delta: float,
        horizon: int,
        param_bound: float,
        arm_bound: float,
        split: Split = "horizon",
    ) -> None:
        super().__init__(dim, regularization, discount, noise_std)
        self._set_bounds(delta, horizon, param_bound, arm_bound, split)

    def scores(self, X: Array, normals: Array | None = None) -> Array:
        means, widths = self._means_and_local_widths(X)
        return means + self._radius() * widths


class LBWeightUCB(DLinUCB):
    r"""LB-WeightUCB (Wang et al. 2023; Section 2.3): one matrix instead of two.

    .. math:: \arg\max_x \langle x,\hat\theta\rangle
              + \beta^{\mathrm{WRLS}}\|x\|_{V^{-1}}
    """

    local_norm = False

    def scores(self, X: Array, normals: Array | None = None) -> Array:
        _, means, widths = _means_and_widths(self.V, self.b, X)
        return means + self._radius() * widths


class WSBLinUCB(_WSB):
    r"""WSB-LinUCB (Algorithm 1).

    .. math:: \arg\max_x \langle x,\mu\rangle
              + \bigl(\beta^{\mathrm{WSB}} + \Pi\bigr)\|x\|_{\Sigma}

    Examples
    --------
    >>> policy = WSBLinUCB(
    ...     prior_mean=np.zeros(2),
    ...     prior_cov=np.eye(2),
    ...     noise_std=0.5,
    ...     discount=0.9,
    ...     delta=0.1,
    ...     horizon=100,
    ...     param_bound=1.0,
    ...     arm_bound=1.0,
    ... )
    >>> X = np.eye(2)
    >>> policy.update(X[0], 1.0)
    >>> policy.pull(X)
    1
    """

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        delta: float,
        horizon: int,
        param_bound: float,
        arm_bound: float,
        split: Split = "horizon",
        radius: Constant = "trace",
        penalty: Penalty = "cxv",
    ) -> None:
        super().__init__(prior_mean, prior_cov, noise_std, discount)
        self._set_bounds(delta, horizon, param_bound, arm_bound, split)
        self._set_radius(radius, penalty)

    def scores(self, X: Array, normals: Array | None = None) -> Array:
        L, means, widths = _means_and_widths(self.P, self.h, X)
        return means + self._radius(L) * widths


class DRandLinUCB(_WRLS):
    r"""D-RandLinUCB (Kim and Tewari 2020; Section 2.4).

    .. math:: \arg\max_x \langle x,\hat\theta\rangle
              + \eta\,\|x\|_{V^{-1}\tilde V V^{-1}}

    One eta for all arms, from one normal (see :func:`perturbation`).
    """

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
        param_bound: float | None = None,
        arm_bound: float | None = None,
        split: Split = "horizon",
    ) -> None:
        super().__init__(dim, regularization, discount, noise_std)
        self._set_bounds(delta, horizon, param_bound, arm_bound, split)
        self.scale, self.law = scale, perturbation
        if perturbation == "radius":
            self._needs_bounds()

    def _normals_needed(self):
        return 1

    def scores(self, X: Array, normals: Array) -> Array:
        means, widths = self._means_and_local_widths(X)
        radius = self._radius() if self.law == "radius" else None
        return means + self.scale * perturbation(self.law, normals[0], radius) * widths


class WSBRandLinUCB(_WSB):
    r"""WSB-RandLinUCB (Algorithm 2).

    .. math:: \arg\max_x \langle x,\mu\rangle + \eta\,\|x\|_{\Sigma}

    One eta for all arms, from one normal (see :func:`perturbation`).
    """

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
        param_bound: float | None = None,
        arm_bound: float | None = None,
        split: Split = "horizon",
        radius: Constant = "trace",
        penalty: Penalty = "cxv",
    ) -> None:
        super().__init__(prior_mean, prior_cov, noise_std, discount)
        self._set_bounds(delta, horizon, param_bound, arm_bound, split)
        self._set_radius(radius, penalty)
        self.scale, self.law = scale, perturbation
        if perturbation == "radius":
            self._needs_bounds()

    def _normals_needed(self):
        return 1

    def scores(self, X: Array, normals: Array) -> Array:
        L, means, widths = _means_and_widths(self.P, self.h, X)
        radius = self._radius(L) if self.law == "radius" else None
        return means + self.scale * perturbation(self.law, normals[0], radius) * widths


class DLinTS(_WRLS):
    r"""D-LinTS (Kim and Tewari 2020; Section 2.4).

    .. math:: \tilde\theta = V^{-1}(b + a\tilde L\eta), \quad
              \tilde V = \tilde L\tilde L^\top, \quad \eta \sim N(0, I)
    """

    def __init__(
        self,
        dim: int,
        regularization: float,
        discount: float,
        noise_std: float,
        scale: float = 1.0,
    ) -> None:
        super().__init__(dim, regularization, discount, noise_std)
        self.scale = scale

    def _normals_needed(self):
        return self.dim

    def sampled_parameter(self, normals: Array) -> Array:
        """The parameter drawn for these d normals."""
        L_tilde, _ = dpotrf(self.V_tilde, LOWER)
        L, _ = dpotrf(self.V, LOWER, RAW)
        return dpotrs(L, self.b + self.scale * (L_tilde @ normals), LOWER)[0]

    def scores(self, X: Array, normals: Array) -> Array:
        return X @ self.sampled_parameter(normals)


class WSBLinTS(_WSB):
    r"""WSB-LinTS (Algorithm 3): a draw from the posterior, stretched by a.

    .. math:: \tilde\theta = \mu + aL^{-\top}\eta = L^{-\top}(L^{-1}h + a\eta), \quad
              P = LL^\top, \quad \eta \sim N(0, I)

    :math:`L^{-\top}` is a square root of the covariance, as good as the symmetric one
    the paper writes: the draw has the same distribution.

    Examples
    --------
    >>> policy = WSBLinTS(np.zeros(1), [[4.0]], noise_std=0.5, discount=0.9)
    >>> policy.scores(np.array([[1.0], [-1.0]]), normals=np.array([0.5])).tolist()
    [1.0, -1.0]
    """

    def __init__(
        self,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float,
        scale: float = 1.0,
    ) -> None:
        super().__init__(prior_mean, prior_cov, noise_std, discount)
        self.scale = scale

    def _normals_needed(self):
        return self.dim

    def sampled_parameter(self, normals: Array) -> Array:
        """The parameter drawn for these d normals."""
        L, _ = dpotrf(self.P, LOWER, RAW)
        z, _ = dtrtrs(L, self.h, LOWER)
        return dtrtrs(L, z + self.scale * normals, LOWER, TRANSPOSED)[0]

    def scores(self, X: Array, normals: Array) -> Array:
        return X @ self.sampled_parameter(normals)
