"""Play policies on logged data in which every arm's reward is known.

A policy sees the reward of the arm it plays and no other. The scorer sees them all, so
regret is exact and not estimated.
"""

import zlib
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from wsbnb import _validate, simulation
from wsbnb._types import Array, Policies, RootSeed, Seed
from wsbnb.datasets import Dataset, checked_log

__all__ = ["Replay", "block_bootstrap", "replay", "suggested_block_length"]

# Rounds handed to the compiled loop at once.
_BLOCK = 4096
# Random numbers held at once by the bootstrap.
_NUMBERS = 2**20


def replay(
    policies: Policies,
    data: Dataset | tuple[ArrayLike, ArrayLike],
    seed: RootSeed = 0,
    repeats: int = 20,
    n_jobs: int = -1,
) -> "Replay":
    r"""Play policies on a full-information log.

    In round t the policy chooses among the logged arms and is shown the logged reward
    of its choice. Its dynamic regret is
    :math:`\sum_t \max_k r_{t,k} - r_{t,k_t}`, with realised rewards, noise included.

    Parameters
    ----------
    policies : list of policies, or dict from name to policy
        As in :func:`wsbnb.simulate`: templates, started afresh in each repeat, or
        functions ``f(world)`` that build one (the world has `dim`, `horizon` and
        `generator`). Policies of this package run compiled.
    data : Dataset, or pair (arms, rewards)
        Arms of shape (T, K, d), or (K, d) if they never change; rewards (T, K).
    seed : int or SeedSequence, default 0
        Decides the draws of randomised policies.
    repeats : int, default 20
        How often randomised policies play the log. Policies of this package that draw
        nothing play it once.
    n_jobs : int, default -1
        Workers, as in joblib. The numbers do not depend on it.

    Returns
    -------
    Replay
        Includes the row "Best fixed arm": the arm with the largest total reward, known
        only afterwards.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> rewards = np.repeat([[1.0, 0.0], [0.0, 1.0]], 50, axis=0)  # they swap roles
    >>> prior = np.zeros(2), np.eye(2), 0.5
    >>> result = wsbnb.replay(
    ...     {
    ...         "forgets": wsbnb.WSBLinTS(*prior, discount=0.8),
    ...         "remembers": wsbnb.WSBLinTS(*prior, discount=1.0),
    ...     },
    ...     (np.eye(2), rewards),
    ... )
    >>> regret = result.summary()["regret"]
    >>> bool(regret["forgets"] < regret["remembers"] < regret["Best fixed arm"])
    True
    """
    named = simulation._named(policies)
    if BEST_FIXED in named:
        raise ValueError(f"policies must not be called {BEST_FIXED!r}")
    arms, rewards = _log(data)
    repeats = _validate.integer("repeats", repeats)
    root = simulation._root(seed)
    worlds = [
        _LoggedWorld(simulation.trial_seed(root, i), rewards.shape, arms.shape[1])
        for i in range(repeats)
    ]
    jobs = (
        joblib.delayed(_play)(policy, world, arms, rewards)
        for policy in named.values()
        for world in (worlds if _draws(policy) else worlds[:1])
    )
    chosen = iter(joblib.Parallel(n_jobs=n_jobs, prefer="threads")(jobs))
    choices = {
        name: np.array([next(chosen) for _ in (worlds if _draws(p) else worlds[:1])])
        for name, p in named.items()
    }
    best = int(rewards.sum(axis=0).argmax())
    choices[BEST_FIXED] = np.full((1, len(rewards)), best, dtype=np.int64)
    return Replay(choices, rewards)


#: Name of the comparison that `replay` adds.
BEST_FIXED = "Best fixed arm"


def _log(data):
    """Arms as (1 or T, d, K), as the compiled rounds want them, and rewards (T, K)."""
    if isinstance(data, Dataset):
        arms, rewards = data.arms, data.rewards
    elif isinstance(data, list | tuple) and len(data) == 2:
        arms, rewards = checked_log(*data)
    else:
        raise TypeError(
            f"data must be a Dataset or a pair (arms, rewards), got {data!r}"
        )
    arms = arms if arms.ndim == 3 else arms[None]
    return np.ascontiguousarray(arms.transpose(0, 2, 1)), np.array(rewards)


def _draws(policy):
    """Whether repeats can differ. Of a foreign policy we cannot know."""
    return getattr(policy, "n_normals", None) != 0


class _LoggedWorld:
    """What a policy may know beforehand, and its random numbers in this repeat."""

    def __init__(self, seed, shape, dim):
        self.seed, self.dim = seed, dim
        self.horizon, self.n_arms = shape

    def generator(self, name):
        key = (*self.seed.spawn_key, zlib.crc32(name.encode()))
        child = np.random.SeedSequence(self.seed.entropy, spawn_key=key)
        return np.random.Generator(np.random.PCG64(child))


def _play(policy, world, arms, rewards):
    """The arms chosen in one repeat."""
    player = simulation._player(policy, world)
    chosen = []
    for start in range(0, len(rewards), _BLOCK):
        part = slice(start, start + _BLOCK)
        shown = rewards[part]
        # The simulation adds noise to expected rewards; logged ones contain it.
        none = np.zeros(len(shown))
        offered = arms if len(arms) == 1 else arms[part]
        chosen.append(player.play(offered, shown, none, False)[0])
    return np.concatenate(chosen)


@dataclass(frozen=True, eq=False)
class Replay:
    """What policies chose on a log, and what they earned.

    Attributes
    ----------
    choices : dict from name to int array of shape (repeats, T)
        Policies without randomness, and the best fixed arm, have one row.
    rewards : array of shape (T, K)
        The log.

    Examples
    --------
    >>> import numpy as np
    >>> rewards = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> result = Replay(
    ...     {"A": np.array([[0, 1, 1]]), "B": np.array([[0, 0, 1]])}, rewards
    ... )
    >>> result.regret("B").tolist()
    [[0.0, 1.0, 1.0]]
    >>> float(result.paired("B", block_length=1).loc["A", "difference"].round(3))
    0.333
    """

    choices: dict
    rewards: np.ndarray

    @property
    def policies(self) -> list[str]:
        """Names in the order given."""
        return list(self.choices)

    def reward(self, policy: str) -> Array:
        """Reward of each round.

        Parameters
        ----------
        policy : str

        Returns
        -------
        array of shape (repeats, T)
        """
        _validate.choice("policy", policy, tuple(self.choices))
        return self.rewards[np.arange(len(self.rewards)), self.choices[policy]]

    def regret(self, policy: str) -> Array:
        """Cumulative dynamic regret after each round.

        Parameters
        ----------
        policy : str

        Returns
        -------
        array of shape (repeats, T)
        """
        return np.cumsum(self.rewards.max(axis=1) - self.reward(policy), axis=1)

    @property
    def curves(self) -> pd.DataFrame:
        """Regret at up to 200 rounds, as :func:`wsbnb.plotting.regret_curves` takes it.

        A frame with the columns policy, trial (the repeat), round and regret.
        """
        rounds = simulation.recorded_rounds(len(self.rewards), 200)
        frames = []
        for name in self.choices:
            table = self.regret(name)[:, rounds - 1]
            trial, column = np.indices(table.shape)
            where = {"trial": trial.ravel(), "round": rounds[column.ravel()]}
            frame = {"policy": name, **where, "regret": table.ravel()}
            frames.append(pd.DataFrame(frame))
        return pd.concat(frames, ignore_index=True)

    def between(self, start: int, stop: int) -> "Replay":
        """The same play, scored on the rounds start, ..., stop - 1 only.

        Parameters
        ----------
        start, stop : int
            Counted from 0; stop may not lie beyond the log.

        Returns
        -------
        Replay
        """
        start = _validate.integer("start", start, minimum=0)
        stop = _validate.integer("stop", stop, minimum=start + 1)
        if stop > len(self.rewards):
            raise ValueError(
                f"stop must be at most the {len(self.rewards)} rounds, got {stop}"
            )
        choices = {name: arms[:, start:stop] for name, arms in self.choices.items()}
        return Replay(choices, self.rewards[start:stop])

    def summary(self) -> pd.DataFrame:
        """Mean reward, regret and how often the best arm was played.

        Returns
        -------
        DataFrame
            One row per policy: reward (per round, mean over repeats), regret (at the
            end), std (of the regret, from repeat to repeat; not a number if there is
            one), best (share of rounds in which no arm paid more), switches (share of
            rounds in which the arm changed), repeats.
        """
        top = self.rewards.max(axis=1)
        rows = {}
        for name, chosen in self.choices.items():
            reward = self.reward(name)
            final = (top - reward).sum(axis=1)
            rows[name] = {
                "reward": reward.mean(),
                "regret": final.mean(),
                "std": final.std(ddof=1) if len(final) > 1 else np.nan,
                "best": (reward == top).mean(),
                "switches": (np.diff(chosen, axis=1) != 0).mean()
                if chosen.shape[1] > 1
                else 0.0,
                "repeats": len(chosen),
            }
        frame = pd.DataFrame.from_dict(rows, orient="index")
        return frame.astype({"repeats": int})

    def paired(
        self,
        reference: str,
        block_length: int | None = None,
        draws: int = 2000,
        level: float = 0.95,
        seed: Seed = 0,
    ) -> pd.DataFrame:
        """Difference of mean reward per round to `reference`, with an interval.

        Both rewards are averaged over repeats, subtracted day by day, and the mean of
        the differences gets an interval from :func:`block_bootstrap`. The interval
        says how much the difference depends on the stretch of time that was logged.

        Parameters
        ----------
        reference : str
            Name of the policy to compare with.
        block_length : int, optional
            Rounds per block. By default the :func:`suggested_block_length` of each
            comparison.
        draws, level, seed
            As in :func:`block_bootstrap`.

        Returns
        -------
        DataFrame
            One row per other policy: difference (its reward minus the reference's, so
            positive is better), se, low, high, block_length.
        """
        _validate.choice("reference", reference, tuple(self.choices))
        base = self.reward(reference).mean(axis=0)
        rows = {}
        for name in self.choices:
            if name == reference:
                continue
            difference = self.reward(name).mean(axis=0) - base
            length = block_length
            if length is None:
                length = suggested_block_length(difference)
            interval = block_bootstrap(difference, length, draws, level, seed)
            rows[name] = {**interval, "block_length": int(length)}
        return pd.DataFrame.from_dict(rows, orient="index").rename(
            columns={"mean": "difference"}
        )

    def __repr__(self) -> str:
        return f"Replay({len(self.choices)} policies, {len(self.rewards)} rounds)"


# --- the mean of a dependent series -------------------------------------------------


def block_bootstrap(
    series: ArrayLike,
    block_length: int,
    draws: int = 2000,
    level: float = 0.95,
    seed: Seed = 0,
) -> dict[str, float]:
    r"""Interval for the mean of a series whose neighbours depend on one another.

    The circular block bootstrap of :cite:t:`politis1992circular`: a new series is laid
    out of blocks of `block_length` neighbours, which start anywhere; the end is joined
    to the beginning, and the last block is cut. The quantiles of the means of many
    such series are the interval.

    Parameters
    ----------
    series : array of shape (n,)
    block_length : int
        At most n. With 1 this is the ordinary bootstrap, which is right for
        independent values only.
    draws : int, default 2000
        New series.
    level : float, default 0.95
        Of the interval.
    seed : int, SeedSequence or Generator, default 0

    Returns
    -------
    dict
        mean, se, low, high.

    Notes
    -----
    The interval is a little short when there are few blocks: think of at least 20. It
    covers the mean of a stationary process. For a series with one change in it, it
    describes series that change as often.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.repeat([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], 25)
    >>> alone, together = (block_bootstrap(series, length) for length in (1, 25))
    >>> bool(together["se"] > 2 * alone["se"])  # 200 values, but only eight of a kind
    True
    """
    series = _validate.vector("series", series)
    n = len(series)
    length = _validate.integer("block_length", block_length)
    if length > n:
        raise ValueError(f"block_length must be at most the {n} rounds, got {length}")
    draws = _validate.integer("draws", draws, minimum=2)
    level = _validate.probability("level", level)
    rng = _validate.generator("seed", seed)
    centre = series.mean()
    means = centre + _resampled_means(series - centre, length, draws, rng)
    low, high = np.quantile(means, [0.5 - level / 2, 0.5 + level / 2])
    return {
        "mean": float(centre),
        "se": float(means.std(ddof=1)),
        "low": float(low),
        "high": float(high),
    }


def _resampled_means(series, length, draws, rng):
    """Means of `draws` series, laid out of sums of blocks."""
    n = len(series)
    running = np.concatenate([[0.0], np.cumsum(np.concatenate([series, series]))])
    blocks = -(-n // length)
    last = n - (blocks - 1) * length
    whole = running[length : length + n] - running[:n]
    cut = running[last : last + n] - running[:n]
    means = np.empty(draws)
    step = max(1, _NUMBERS // blocks)
    for first in range(0, draws, step):
        starts = rng.integers(0, n, size=(min(step, draws - first), blocks))
        sums = whole[starts[:, :-1]].sum(axis=1) + cut[starts[:, -1]]
        means[first : first + len(starts)] = sums / n
    return means


def suggested_block_length(series: ArrayLike) -> int:
    r"""A block length for the bootstrap, from the series' own autocorrelation.

    The rule of :cite:t:`politis2004automatic`, with the correction of
    :cite:t:`patton2009correction`, for circular blocks:

    .. math::

        b = \Bigl(\frac{3\,G^2}{2\,g^2}\Bigr)^{1/3} n^{1/3}, \qquad
        G = \sum_k \lambda_k |k| R_k, \quad g = \sum_k \lambda_k R_k,

    with autocovariances :math:`R_k` and weights :math:`\lambda_k` that cut the sums off
    where the autocorrelation has died out.

    Parameters
    ----------
    series : array of shape (n,)

    Returns
    -------
    int
        At least 1 and at most :math:`\min(3\sqrt n, n/3)`.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> smoothed = np.convolve(noise, np.ones(10), "valid")
    >>> suggested_block_length(noise), suggested_block_length(smoothed)
    (1, 24)
    """
    series = _validate.vector("series", series)
    n = len(series)
    centred = series - series.mean()
    variance = centred @ centred / n
    # A constant has no autocorrelation; neither has rounding error.
    if n < 9 or variance <= 1e-28 * max(1.0, np.abs(series).max() ** 2):
        return 1
    longest = int(np.ceil(min(3 * np.sqrt(n), n / 3)))
    run = max(5, int(np.ceil(np.sqrt(np.log10(n)))))
    lags = min(n - 1, int(np.ceil(np.sqrt(n))) + run)
    R = np.array([centred[k:] @ centred[: n - k] / n for k in range(lags + 1)])
    M = min(2 * max(_last_lag(R / R[0], n, run), 1), lags)
    k = np.arange(1, M + 1)
    window = np.minimum(1.0, 2.0 * (1.0 - k / M))
    G = 2 * np.sum(window * k * R[k])
    g = R[0] + 2 * np.sum(window * R[k])
    if g <= 0.0:  # the estimate of a variance that is nearly zero
        return 1
    b = (1.5 * (G / g) ** 2) ** (1 / 3) * n ** (1 / 3)
    return int(np.clip(np.ceil(b), 1, longest))


def _last_lag(correlation, n, run):
    """The lag after which `run` autocorrelations in a row are negligible."""
    small = np.abs(correlation[1:]) < 2 * np.sqrt(np.log10(n) / n)
    for lag in range(len(small) - run + 1):
        if small[lag : lag + run].all():
            return lag
    large = np.flatnonzero(~small)
    return int(large[-1]) + 1
