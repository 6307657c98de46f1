"""Choose discount, prior and noise level from the first part of a log.

Whatever is chosen with the help of later rounds looks ahead. These settings come from a
prefix that is not played afterwards.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from wsbnb import _validate
from wsbnb._types import Seed
from wsbnb.datasets import Dataset

__all__ = ["PrefixFit", "fit_prefix"]

_MEMORIES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
_PRIOR_SCALES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True, eq=False)
class PrefixFit:
    """Settings found on a prefix, as the policies want them.

    Attributes
    ----------
    discount, noise_std : float
    prior_mean, prior_cov : arrays of shape (d,) and (d, d)
    regularization : float
        The same prior in the words of least squares, ``noise_std**2`` over the prior
        variance.
    arm_bound : float
        The largest norm of an arm in the prefix.
    param_bound : float
        The norm that a parameter drawn from the prior exceeds with probability 0.05.
    scores : DataFrame
        Every pair tried: discount, prior_scale, noise_std and score, the mean
        predictive log density per reward.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> rng = np.random.default_rng(0)
    >>> log = wsbnb.datasets.Dataset(
    ...     "still",
    ...     np.eye(2),
    ...     [1.0, -1.0] + 0.5 * rng.normal(size=(100, 2)),
    ...     np.arange(100),
    ...     "ab",
    ...     "xy",
    ...     "simulated",
    ... )
    >>> fit = wsbnb.fit_prefix(log)
    >>> fit.memory, round(fit.noise_std, 1)
    (inf, 0.5)
    """

    discount: float
    noise_std: float
    prior_mean: np.ndarray
    prior_cov: np.ndarray
    regularization: float
    arm_bound: float
    param_bound: float
    scores: pd.DataFrame

    @property
    def memory(self) -> float:
        """Rounds remembered, 1 / (1 - discount); infinity for discount 1."""
        return 1.0 / (1.0 - self.discount) if self.discount < 1.0 else np.inf

    def __repr__(self) -> str:
        return (
            f"PrefixFit(discount={self.discount:.6g}, noise_std={self.noise_std:.4g}, "
            f"prior variance={self.prior_cov[0, 0]:.4g})"
        )


def fit_prefix(
    data: Dataset,
    discounts: ArrayLike | None = None,
    prior_scales: ArrayLike = _PRIOR_SCALES,
    logs: int = 4,
    seed: Seed = 0,
) -> PrefixFit:
    r"""Pick discount, prior variance and noise level by predicting a prefix.

    Arms are played at random through the prefix. Before each round the posterior
    predicts the rewards of all arms; then it learns the reward of the arm played. With
    the prior :math:`N(0, \sigma^2\kappa I)` the prediction for an arm x is
    :math:`N(\langle x, \mu\rangle, \sigma^2 v)`,
    :math:`v = 1 + \|x\|^2_{\Sigma/\sigma^2}`, where neither the mean nor v depends on
    :math:`\sigma`. So for each :math:`(\gamma, \kappa)` of a grid the best noise level
    is :math:`\hat\sigma^2 = \operatorname{mean}(e^2/v)` for errors e, and the pair with
    the largest predictive likelihood is taken (prequential choice,
    :cite:t:`dawid1984prequential`).

    Parameters
    ----------
    data : Dataset
        The prefix, and only the prefix.
    discounts : sequence of float, optional
        By default memories 5, 10, 20, 50, ... 2000 and infinity: those that hold at
        least d rounds and at most half the prefix.
    prior_scales : sequence of float
        The values of :math:`\kappa`.
    logs : int, default 4
        Random logs whose scores are averaged.
    seed : int, SeedSequence or Generator, default 0

    Returns
    -------
    PrefixFit

    Notes
    -----
    Likelihood is not regret: a discount that predicts best need not decide best. And
    random play spreads the observations over all arms, a good policy does not.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> rng = np.random.default_rng(0)
    >>> walk = np.cumsum(0.3 * rng.normal(size=(200, 1, 1)), axis=0)  # moves fast
    >>> arms = rng.normal(size=(200, 2, 1))
    >>> rewards = (arms @ walk)[..., 0] + 0.5 * rng.normal(size=(200, 2))
    >>> log = wsbnb.datasets.Dataset(
    ...     "walk", arms, rewards, np.arange(200), "ab", ("x",), "simulated"
    ... )
    >>> fit_prefix(log).memory < 10.5
    True
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data must be a Dataset, got {data!r}")
    grid = [
        (gamma, kappa)
        for gamma in _discounts(discounts, data)
        for kappa in _positive("prior_scales", prior_scales)
    ]
    logs = _validate.integer("logs", logs)
    rng = _validate.generator("seed", seed)
    outcomes = [_predict(data, np.array(grid), rng) for _ in range(logs)]
    variance = np.mean([squares for squares, _ in outcomes], axis=0)
    spread = np.mean([logarithms for _, logarithms in outcomes], axis=0)
    if not variance.min() > 0.0:
        raise ValueError(
            "data must have rewards that cannot be predicted exactly, got residuals "
            "that are all zero"
        )
    score = -0.5 * (np.log(2 * np.pi * variance) + spread + 1.0)
    table = pd.DataFrame(grid, columns=["discount", "prior_scale"])
    table["noise_std"], table["score"] = np.sqrt(variance), score
    return _settings(table, data)


def _discounts(discounts, data):
    if discounts is None:
        fits = [m for m in _MEMORIES if data.dim <= m <= len(data) / 2]
        return [1.0 - 1.0 / m for m in fits] + [1.0]
    values = np.atleast_1d(discounts).tolist()
    if not values:
        raise ValueError("discounts must hold at least one number, got none")
    return [_validate.discount("discounts", value) for value in values]


def _positive(name, values):
    values = np.atleast_1d(values).tolist()
    if not values:
        raise ValueError(f"{name} must hold at least one number, got none")
    return [_validate.positive(name, value) for value in values]


def _predict(data, grid, rng):
    """Mean of e²/v and of log v for each row (gamma, kappa), along one random log."""
    gamma, kappa = grid[:, 0, None], grid[:, 1]
    P0 = np.eye(data.dim) / kappa[:, None, None]
    P, h = P0.copy(), np.zeros((len(grid), data.dim))
    played = rng.integers(data.n_arms, size=len(data))
    squares, logarithms = np.zeros(len(grid)), np.zeros(len(grid))
    for X, rewards, k in zip(data.arms, data.rewards, played, strict=True):
        right = np.repeat(X.T[None], len(grid), axis=0)
        solved = np.linalg.solve(P, np.concatenate([h[:, :, None], right], axis=2))
        means = solved[:, :, 0] @ X.T
        v = 1.0 + np.einsum("kd,gdk->gk", X, solved[:, :, 1:])
        squares += ((rewards - means) ** 2 / v).mean(axis=1)
        logarithms += np.log(v).mean(axis=1)
        P = gamma[:, :, None] * P + (1.0 - gamma[:, :, None]) * P0
        P += np.outer(X[k], X[k])
        h = gamma * h + X[k] * rewards[k]
    return squares / len(data), logarithms / len(data)


def _settings(table, data):
    best = table.loc[table["score"].idxmax()]
    prior_variance = float(best.noise_std**2 * best.prior_scale)
    quantile = stats.chi2.ppf(0.95, data.dim)
    return PrefixFit(
        discount=float(best.discount),
        noise_std=float(best.noise_std),
        prior_mean=np.zeros(data.dim),
        prior_cov=prior_variance * np.eye(data.dim),
        regularization=float(1.0 / best.prior_scale),
        arm_bound=float(np.linalg.norm(data.arms, axis=2).max()),
        param_bound=float(np.sqrt(prior_variance * quantile)),
        scores=table,
    )
