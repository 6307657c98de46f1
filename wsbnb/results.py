"""What playing returns: regret by trial, policy and round, and what follows from it."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from wsbnb import _validate
from wsbnb._types import (
    TYPE_CHECKING,
    Any,
    Array,
    ArrayLike,
    IntArray,
    Sequence,
)
from wsbnb.dependence import block_bootstrap, suggested_block_length

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Results", "paired_interval", "t_interval"]

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def t_interval(values: ArrayLike, level: float = 0.95) -> dict[str, float]:
    """Mean of independent numbers, its standard error and a t interval.

    Parameters
    ----------
    values : array of shape (n,)
    level : float, default 0.95

    Returns
    -------
    dict
        mean, se, low, high and n; with one number the last three are not numbers.

    Examples
    --------
    >>> {k: round(v, 3) for k, v in t_interval([1.0, 2.0, 3.0]).items()}
    {'mean': 2.0, 'se': 0.577, 'low': -0.484, 'high': 4.484, 'n': 3}
    """
    from scipy.special import stdtrit

    values = _validate.vector("values", values)
    level = _validate.probability("level", level)
    n, mean = values.size, float(values.mean())
    se = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    half = se * float(stdtrit(n - 1, 0.5 + level / 2))
    return {"mean": mean, "se": se, "low": mean - half, "high": mean + half, "n": n}


def paired_interval(
    values: ArrayLike, baseline: ArrayLike, level: float = 0.95
) -> dict[str, float]:
    """The mean difference of two samples taken on the same worlds.

    Parameters
    ----------
    values, baseline : arrays of shape (n,)
        Regrets, trial by trial.
    level : float, default 0.95
        Of the t interval.

    Returns
    -------
    dict
        difference (values minus baseline: negative is better), se, low, high, n, wins
        (share of trials with less regret than the baseline) and ratio of the means.

    Examples
    --------
    >>> row = paired_interval([1.0, 2.0, 3.0], [2.0, 4.0, 3.0])
    >>> row["difference"], round(row["se"], 4), round(row["ratio"], 4)
    (-1.0, 0.5774, 0.6667)
    """
    a = _validate.vector("values", values)
    b = _validate.vector("baseline", baseline, dim=a.size)
    row = t_interval(a - b, level)
    ratio = float(a.mean() / b.mean()) if b.mean() else np.nan
    wins = float((a < b).mean())
    return {"difference": row.pop("mean"), **row, "wins": wins, "ratio": ratio}


def _whole_numbers(name, values, least):
    """At least `least` whole numbers, as an array."""
    numbers = [
        _validate.integer(name, value, minimum=0)
        for value in _validate.several(name, values)
    ]
    if len(numbers) < least:
        raise ValueError(f"{name} must hold at least one number, got none")
    return np.array(numbers, dtype=np.int64)


def _shape_of(table):
    """In words, since rows of unequal length have none."""
    try:
        return str(np.shape(table))
    except ValueError:
        return "rows of unequal length"


def _check_shape(name, table, shape):
    seen = _shape_of(table)
    if seen != str(shape):
        raise ValueError(
            f"{name} must have shape (trials, policies, rounds) = {shape}, got {seen}"
        )


@dataclass(frozen=True, eq=False)
class Results:
    """Regret of several policies over the same trials.

    Attributes
    ----------
    regret : array of shape (trials, policies, rounds)
        Cumulative dynamic regret at the recorded rounds.
    policies : list of str
        Names in the order given.
    trials : array of int
        Numbers of the finished trials (in a replay: of the repeats).
    rounds : array of int
        The recorded rounds, counted from 1; the last one is the horizon.
    arms : array of int, shape (trials, policies, rounds), optional
        The arm played at the recorded rounds: with ``trace=True``, and in a replay.
    details : dict from str to array of shape (trials, policies, rounds), optional
        With ``trace=True``: radius, penalty, width, mean and estimate_0, ... at the
        same rounds, as they stood when the arm was chosen.
    best_reward : array of shape (rounds,), optional
        In a replay: the largest reward that could be had up to each recorded round.
    interrupted : bool
        True if the run was stopped before all trials were done.

    Examples
    --------
    >>> import numpy as np
    >>> regret = np.array([[[1.0], [2.0]], [[2.0], [4.0]]])
    >>> results = Results(regret, ["A", "B"], np.arange(2), np.array([9]))
    >>> results.summary()["mean"].tolist()
    [1.5, 3.0]
    >>> float(results.paired("A").loc["B", "difference"])
    1.5
    """

    regret: Array
    policies: list[str]
    trials: IntArray
    rounds: IntArray
    arms: IntArray | None = None
    details: dict[str, Array] | None = None
    best_reward: Array | None = None
    interrupted: bool = False

    def __post_init__(self) -> None:
        names = [
            _validate.text("each name in policies", name)
            for name in _validate.several("policies", self.policies)
        ]
        if len(set(names)) < len(names):
            raise ValueError(f"policies must have different names, got {names}")
        trials = _whole_numbers("trials", self.trials, 0)
        rounds = _whole_numbers("rounds", self.rounds, 1)
        shape = (len(trials), len(names), len(rounds))
        if not isinstance(self.details, dict | None):
            raise TypeError(f"details must map names to arrays, got {self.details!r}")
        tables = {"regret": self.regret, "arms": self.arms, **(self.details or {})}
        for name, table in tables.items():
            if table is not None:
                _check_shape(name, table, shape)
        if self.best_reward is not None:
            seen = _shape_of(self.best_reward)
            if self.arms is None or seen != str(shape[2:]):
                raise ValueError(
                    f"best_reward must have shape {shape[2:]} and go with arms, got "
                    f"{seen}{' and no arms' if self.arms is None else ''}"
                )
        checked = {"policies": names, "trials": trials, "rounds": rounds}
        regret = _validate.finite_array("regret", self.regret)
        if getattr(self.regret, "dtype", None) != np.float64:
            checked["regret"] = regret  # else as it lies in memory: the order of a
            # sum decides its last bits
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    # -- numbers ------------------------------------------------------------------

    def of(self, policy: str) -> Array:
        """Regret of one policy, shape (trials, rounds); a copy."""
        return self.regret[:, self._place("policy", policy)].copy(order="K")

    def final(self, policy: str) -> Array:
        """Regret of one policy at the horizon, one number per trial."""
        return self.of(policy)[:, -1]

    def _place(self, name, policy):
        return self.policies.index(_validate.choice(name, policy, self.policies))

    # -- parts ----------------------------------------------------------------------

    def select(
        self,
        policies: Sequence[str] | None = None,
        trials: Sequence[int] | None = None,
    ) -> "Results":
        """Some policies, in the order asked for, and some trials.

        Parameters
        ----------
        policies : list of str, optional
        trials : list of int, optional
            A ValueError names the first one missing.

        Returns
        -------
        Results
        """
        names = (
            self.policies
            if policies is None
            else _validate.several("policies", policies)
        )
        columns = [self._place("policies", name) for name in names]
        rows = list(range(len(self.trials)))
        if trials is not None:
            place = {int(t): i for i, t in enumerate(self.trials)}
            wanted = [
                _validate.integer("trials", t, 0)
                for t in _validate.several("trials", trials)
            ]
            missing = [t for t in wanted if t not in place]
            if missing:
                raise ValueError(f"trials must be among those played, got {missing[0]}")
            rows = [place[t] for t in wanted]

        def part(table):
            return None if table is None else table[np.ix_(rows, columns)]

        details = self.details and {k: part(v) for k, v in self.details.items()}
        return dataclasses.replace(
            self,
            regret=part(self.regret),
            policies=names,
            trials=self.trials[rows],
            arms=part(self.arms),
            details=details,
        )

    def merged(self, other: "Results") -> "Results":
        """These trials and those of another run of the same policies.

        Parameters
        ----------
        other : Results
            Of the same policies, at the same rounds. Trials that both hold must have
            the same numbers, but for rounding.

        Returns
        -------
        Results
            The regret alone, trials in order.
        """
        if not isinstance(other, Results):
            raise TypeError(f"other must be a Results, got {other!r}")
        for name in ("policies", "rounds"):
            one, two = getattr(self, name), getattr(other, name)
            if not np.array_equal(one, two):
                raise ValueError(
                    f"other must have the same {name}, {list(one)}, got {list(two)}"
                )
        both = np.intersect1d(self.trials, other.trials).tolist()
        one, two = (part.select(trials=both).regret for part in (self, other))
        if not np.allclose(one, two, rtol=1e-6):
            raise ValueError(
                "other must have the same regret in trials that both hold, got another "
                f"among {both}: other seeds or worlds"
            )
        trials = np.concatenate([self.trials, other.trials])
        kept, rows = np.unique(trials, return_index=True)
        regret = np.concatenate([self.regret, other.regret])[rows]
        return Results(regret, self.policies, kept, self.rounds)

    def between(self, start: int, stop: int) -> "Results":
        """The same play, scored on the rounds start, ..., stop - 1 only.

        Parameters
        ----------
        start, stop : int
            Counted from 0, among recorded rounds that leave none out.

        Returns
        -------
        Results
        """
        start = _validate.integer("start", start, minimum=0)
        stop = _validate.integer("stop", stop, minimum=start + 1)
        self._check_every_round("between")
        if stop > len(self.rounds):
            raise ValueError(
                f"stop must be at most the {len(self.rounds)} rounds, got {stop}"
            )

        def since(table):
            before = table[..., start - 1 : start] if start else 0.0
            return table[..., start:stop] - before

        best = self.best_reward
        return dataclasses.replace(
            self,
            regret=since(self.regret),
            rounds=np.arange(1, stop - start + 1),
            arms=None if self.arms is None else self.arms[..., start:stop],
            details=None,
            best_reward=None if best is None else since(best),
        )

    def _check_every_round(self, what):
        if len(self.rounds) != self.rounds[-1]:
            raise ValueError(
                f"{what} needs every round on record, got {len(self.rounds)} of "
                f"{self.rounds[-1]}; simulate with points={self.rounds[-1]}"
            )

    # -- tables ---------------------------------------------------------------------

    @property
    def curves(self) -> "pd.DataFrame":
        """Tidy frame with columns trial, policy, round and regret."""
        frame = self._index()
        frame["regret"] = self.regret.ravel()
        return frame

    @property
    def traces(self) -> "pd.DataFrame | None":
        """Tidy frame of arms and details at the recorded rounds, where kept."""
        if self.details is None or self.arms is None:
            return None
        frame = self._index()
        frame["arm"] = self.arms.ravel()
        for name, table in self.details.items():
            frame[name] = table.ravel()
        return frame

    def _index(self):
        import pandas as pd

        index = pd.MultiIndex.from_product(
            [self.trials, self.policies, self.rounds],
            names=["trial", "policy", "round"],
        )
        return index.to_frame(index=False)

    def final_table(self) -> "pd.DataFrame":
        """Regret at the horizon, one row per trial and one column per policy.

        Returns
        -------
        DataFrame
        """
        import pandas as pd

        index = pd.Index(self.trials, name="trial")
        return pd.DataFrame(self.regret[:, :, -1], index=index, columns=self.policies)

    def summary(self, level: float = 0.95) -> "pd.DataFrame":
        """Mean, spread, standard error, interval and quantiles of the final regret.

        Parameters
        ----------
        level : float, default 0.95
            Of the t interval for the mean.

        Returns
        -------
        DataFrame
            One row per policy: mean, std, se, low, high, trials, q05 to q95; in a
            replay also reward (per round) and switches (share of rounds in which the
            arm changed).
        """
        import pandas as pd

        rows = {}
        for name in self.policies:
            values = self.final(name)
            if not len(values):  # interrupted before the first trial was done
                rows[name] = {"mean": np.nan, "std": np.nan, "trials": 0}
                continue
            row = t_interval(values, level)
            row["trials"] = row.pop("n")
            row["std"] = float(values.std(ddof=1)) if len(values) > 1 else np.nan
            quantiles = np.quantile(values, _QUANTILES)
            row |= {f"q{round(100 * q):02d}": v for q, v in zip(_QUANTILES, quantiles)}
            rows[name] = row | self._extra(name)
        frame = pd.DataFrame.from_dict(rows, orient="index")
        order = ["mean", "std", *(c for c in frame if c not in ("mean", "std"))]
        return frame[order].astype({"trials": int})

    def _extra(self, name):
        if self.best_reward is None:
            return {}
        row = {"reward": (self.best_reward[-1] - self.final(name).mean())}
        row["reward"] /= self.rounds[-1]
        arms = self.arms[:, self._place("policy", name)]
        changes = np.diff(arms, axis=1) != 0
        row["switches"] = float(changes.mean()) if changes.size else 0.0
        return row

    def paired(
        self, baseline: str, level: float = 0.95, over: str = "trials", **bootstrap: Any
    ) -> "pd.DataFrame":
        """Differences to `baseline`; negative is better.

        All policies of a trial met the same world, so the difference has much less
        noise than the two means.

        Parameters
        ----------
        baseline : str
            Name of the policy to compare with.
        level : float, default 0.95
            Of the interval.
        over : {"trials", "rounds"}
            What is taken to be drawn. Over trials: t intervals for the difference of
            the final regrets. Over rounds, for the one log that there is: the
            difference per round, averaged over repeats, with an interval from
            :func:`wsbnb.block_bootstrap`.
        **bootstrap
            ``block_length`` (by default the :func:`suggested_block_length` of each
            comparison), ``draws`` and ``seed`` of the bootstrap.

        Returns
        -------
        DataFrame
            One row per other policy: difference, se, low, high; over trials also
            trials, wins (share of trials with less regret than the baseline) and ratio
            of the mean regrets; over rounds also block_length.
        """
        import pandas as pd

        _validate.choice("over", over, ("trials", "rounds"))
        self._place("baseline", baseline)
        if over == "rounds":
            self._check_every_round("over='rounds'")
        elif bootstrap:
            raise TypeError(f"{', '.join(bootstrap)} must go with over='rounds'")
        others = [name for name in self.policies if name != baseline]
        compare = self._by_trial if over == "trials" else self._by_round
        rows = {name: compare(name, baseline, level, **bootstrap) for name in others}
        return pd.DataFrame.from_dict(rows, orient="index")

    def _by_trial(self, name, baseline, level):
        row = paired_interval(self.final(name), self.final(baseline), level)
        return {("trials" if key == "n" else key): value for key, value in row.items()}

    def _by_round(self, name, baseline, level, block_length=None, draws=2000, seed=0):
        gap = (self.of(name) - self.of(baseline)).mean(axis=0)
        series = np.diff(gap, prepend=0.0)
        length = block_length
        if length is None:
            length = suggested_block_length(series)
        row = block_bootstrap(series, length, draws, level, seed)
        return {"difference": row.pop("mean"), **row, "block_length": int(length)}

    def __repr__(self) -> str:
        state = ", interrupted" if self.interrupted else ""
        return (
            f"Results({len(self.policies)} policies, {len(self.trials)} trials, "
            f"{self.rounds[-1]} rounds{state})"
        )
