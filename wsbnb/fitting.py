"""Choose discount, prior and noise level from a log of what was played and paid.

Whatever is chosen with the help of later rounds looks ahead. Fit on the first part of
what there is, and play on the rest.
"""

from dataclasses import dataclass

import numpy as np

from wsbnb import _validate
from wsbnb._types import TYPE_CHECKING, Array, ArrayLike
from wsbnb.dependence import block_bootstrap, suggested_block_length
from wsbnb.kernels import bank, estimate, memory

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LogFit", "fit_log"]

_MEMORIES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_PRIOR_SCALES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Chance that a parameter drawn from the prior is longer than `param_bound`.
_LONGER = 0.05


@dataclass(frozen=True, eq=False)
class LogFit:
    """Settings found on a log, as the policies want them.

    Attributes
    ----------
    discount, noise_std : float
    prior_mean, prior_cov : arrays of shape (d,) and (d, d)
    regularization : float
        The same prior in the words of least squares, ``noise_std**2`` over the prior
        variance.
    arm_bound : float
        The largest norm of a row.
    param_bound : float
        The norm that a parameter drawn from the prior exceeds with probability 0.05.
    scores : DataFrame
        Every pair tried: discount, memory, prior_scale, noise_std, score (mean
        predictive log density per reward, in nats), behind (how far behind the best
        pair, per reward, with low and high of a 95 % interval) and flat (whether that
        interval holds 0).
    check : dict
        How the choice predicts the end of the log, which it has not seen: rounds (how
        many), score, score_without_forgetting (of the best prior at discount 1, nan
        if that was not tried) and spread (root mean square of the standardised
        residuals; 1 where the noise level is right). Empty without a holdout.
    feature_names : tuple of str or None
        Columns of the frame, if one was given.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> fit = wsbnb.fit_log(X, X @ [1.0, -1.0] + 0.5 * rng.normal(size=400))
    >>> fit.memory, round(fit.noise_std, 1)
    (inf, 0.5)
    """

    discount: float
    noise_std: float
    prior_mean: Array
    prior_cov: Array
    regularization: float
    arm_bound: float
    param_bound: float
    scores: "pd.DataFrame"
    check: dict
    feature_names: tuple | None = None

    @property
    def memory(self) -> float:
        """Rounds remembered, 1 / (1 - discount); infinity for discount 1."""
        return 1.0 / (1.0 - self.discount) if self.discount < 1.0 else np.inf

    @property
    def memory_range(self) -> tuple[float, float]:
        """Shortest and longest memory that the log cannot tell from the best one."""
        flat = self.scores[self.scores["flat"]]["memory"]
        return float(flat.min()), float(flat.max())

    @property
    def prior(self) -> dict:
        """``prior_mean``, ``prior_cov`` and ``noise_std``, for the WSB policies."""
        names = ("prior_mean", "prior_cov", "noise_std")
        return {name: getattr(self, name) for name in names}

    @property
    def ridge(self) -> dict:
        """``dim``, ``regularization`` and ``noise_std``, for the WRLS policies."""
        words = {"regularization": self.regularization, "noise_std": self.noise_std}
        return {"dim": self.prior_mean.size, **words}

    def __repr__(self) -> str:
        low, high = self.memory_range
        return (
            f"LogFit(discount={self.discount:.6g}, noise_std={self.noise_std:.4g}, "
            f"prior variance={self.prior_cov[0, 0]:.4g}, memory {self.memory:.4g} "
            f"of {low:.4g} to {high:.4g})"
        )


def fit_log(
    X: ArrayLike,
    rewards: ArrayLike,
    discounts: ArrayLike | None = None,
    prior_scales: ArrayLike = _PRIOR_SCALES,
    holdout: float = 0.2,
) -> LogFit:
    r"""Pick discount, prior variance and noise level by predicting a log.

    Before each reward every candidate predicts it; then it learns it. With the prior
    :math:`N(0, \sigma^2\kappa I)` the prediction for an arm x is
    :math:`N(\langle x, \mu\rangle, \sigma^2 v)`, where neither the mean nor
    :math:`v = 1 + \|x\|^2_{\Sigma/\sigma^2}` depends on :math:`\sigma`. So for each
    :math:`(\gamma, \kappa)` of a grid the best noise level is
    :math:`\hat\sigma^2 = \operatorname{mean}(e^2/v)` for errors e, and the pair with
    the largest predictive likelihood is taken (prequential choice,
    :cite:t:`dawid1984prequential`).

    Parameters
    ----------
    X : array or DataFrame of shape (n, d)
        The arm that was played in each round; the others are not needed.
    rewards : array of shape (n,)
        What it paid.
    discounts : sequence of float, optional
        By default memories 5, 10, 20, 50, ... and infinity: those that hold at
        least d rounds and at most half the log.
    prior_scales : sequence of float
        The values of :math:`\kappa`.
    holdout : float in [0, 1), default 0.2
        Share of the log, at its end, that is kept for a check.

    Returns
    -------
    LogFit

    Notes
    -----
    Likelihood is not regret: a discount that predicts best need not decide best. A
    log of a good policy says little about arms that it did not play.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> walk = np.cumsum(0.3 * rng.normal(size=300))  # moves fast
    >>> x = rng.normal(size=(300, 1))
    >>> fit_log(x, x[:, 0] * walk + 0.5 * rng.normal(size=300)).memory < 20.5
    True
    """
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    rows, paid = _checked(X, rewards)
    holdout = _validate.nonnegative("holdout", holdout)
    if holdout >= 1.0:
        raise ValueError(f"holdout must be below 1, got {holdout}")
    n = len(paid) - int(holdout * len(paid))
    grid = np.array(
        [
            (gamma, kappa)
            for gamma in _discounts(discounts, rows.shape[1], n)
            for kappa in _positive("prior_scales", prior_scales)
        ]
    )
    errors, v = _followed(rows, paid, grid)
    variance = (errors[:n] ** 2 / v[:n]).mean(axis=0)
    if not variance.min() > 0.0:
        raise ValueError(
            "rewards must not be predicted exactly, got residuals that are all zero"
        )
    densities = -0.5 * (np.log(2 * np.pi * variance * v) + errors**2 / (variance * v))
    score = densities[:n].mean(axis=0)
    best = int(score.argmax())
    table = _scores(grid, np.sqrt(variance), densities[:n], best)
    squares = errors[n:] ** 2 / (variance * v[n:])
    check = _check(grid, score, densities[n:], squares, best)
    return _settings(table.loc[best], table, check, rows, names)


def _checked(X, rewards):
    X = _validate.matrix("X", X)
    if len(X) < 10:
        raise ValueError(f"X must have at least ten rows, got {len(X)}")
    rewards = _validate.vector("rewards", rewards, dim=len(X))
    _validate.bounded("rewards", np.abs(rewards).max())
    return X, rewards


def _discounts(discounts, dim, n):
    if discounts is None:
        fits = [m for m in _MEMORIES if dim <= m <= n / 2]
        return [1.0 - 1.0 / m for m in fits] + [1.0]
    values = _numbers("discounts", discounts)
    return [_validate.discount("discounts", value) for value in values]


def _numbers(name, values):
    """One number or several, as a list."""
    array = np.atleast_1d(_validate.finite_array(name, values))
    return _validate.vector(name, array).tolist()


def _positive(name, values):
    return [_validate.ordinary(name, value) for value in _numbers(name, values)]


def _followed(X, rewards, grid):
    """Errors e and variances v in units of the noise, one column per candidate."""
    n, d = X.shape
    start = estimate.Prior(memory.packed(np.eye(d)), 1.0)
    members = memory.new_members(memory.new_state(start), grid[:, 0])
    members.sums[:, :d, :d] /= grid[:, 1, None, None]
    prior = estimate.Prior(memory.packed_copy(members.sums), 1.0)
    predicted = np.empty((2, n, len(grid)))
    expected, work = np.zeros((2, len(grid))), memory.new_work(d, 1)
    if bank.follow(prior, members, work, expected, X, rewards, predicted) < n:
        raise ValueError(
            "X must keep the precision matrix positive definite in double precision; "
            "rescale its columns"
        )
    return rewards[:, None] - predicted[bank.MEAN], predicted[bank.VARIANCE]


def _scores(grid, noise_std, densities, best):
    import pandas as pd

    table = pd.DataFrame(grid, columns=["discount", "prior_scale"])
    with np.errstate(divide="ignore"):
        table.insert(1, "memory", 1.0 / (1.0 - grid[:, 0]))
    table["noise_std"], table["score"] = noise_std, densities.mean(axis=0)
    rows = []
    for j in range(len(grid)):
        behind = densities[:, best] - densities[:, j]
        row = {"mean": 0.0, "low": 0.0, "high": 0.0}
        if j != best:
            row = block_bootstrap(behind, suggested_block_length(behind), draws=400)
        rows.append({"behind": row["mean"], "low": row["low"], "high": row["high"]})
    table = table.join(pd.DataFrame(rows))
    table["flat"] = table["low"] <= 0.0
    return table


def _check(grid, score, densities, squares, best):
    """How the end of the log is predicted; nothing is chosen on it."""
    if not len(densities):
        return {}
    check = {
        "rounds": len(densities),
        "score": float(densities[:, best].mean()),
        "score_without_forgetting": np.nan,
        "spread": float(np.sqrt(squares[:, best].mean())),
    }
    steady = np.flatnonzero(grid[:, 0] == 1.0)
    if steady.size:
        rival = steady[score[steady].argmax()]
        check["score_without_forgetting"] = float(densities[:, rival].mean())
    return check


def _settings(best, table, check, X, names):
    from scipy.special import gammaincinv

    d = X.shape[1]
    prior_variance = float(best.noise_std**2 * best.prior_scale)
    quantile = 2.0 * float(gammaincinv(d / 2.0, 1.0 - _LONGER))  # of chi squared
    return LogFit(
        discount=float(best.discount),
        noise_std=float(best.noise_std),
        prior_mean=np.zeros(d),
        prior_cov=prior_variance * np.eye(d),
        regularization=float(1.0 / best.prior_scale),
        arm_bound=float(np.linalg.norm(X, axis=1).max()),
        param_bound=float(np.sqrt(prior_variance * quantile)),
        scores=table,
        check=check,
        feature_names=names,
    )
