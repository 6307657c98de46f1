"""What a simulation returns: tidy frames, summaries and paired comparisons."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from wsbnb import _validate


@dataclass(frozen=True, eq=False)
class Results:
    """Regret of several policies over the same trials.

    Attributes
    ----------
    curves : DataFrame
        Columns trial, policy, round and regret (cumulative dynamic regret after that
        round), at the recorded rounds.
    policies : list of str
        Names in the order given.
    traces : DataFrame or None
        With ``trace=True``: arm, radius, penalty, width, mean and estimate_0, ... at
        the same rounds, as they stood when the arm was chosen.
    interrupted : bool
        True if the run was stopped before all trials were done.

    Examples
    --------
    >>> import pandas as pd
    >>> curves = pd.DataFrame(
    ...     {
    ...         "trial": [0, 0, 1, 1],
    ...         "policy": ["A", "B"] * 2,
    ...         "round": [9] * 4,
    ...         "regret": [1.0, 2.0, 2.0, 4.0],
    ...     }
    ... )
    >>> results = Results(curves, ["A", "B"])
    >>> results.summary()["mean"].tolist()
    [1.5, 3.0]
    >>> float(results.paired("A").loc["B", "difference"])
    1.5
    """

    curves: pd.DataFrame
    policies: list = field(default_factory=list)
    traces: pd.DataFrame | None = None
    interrupted: bool = False

    @property
    def trials(self) -> list[int]:
        """Numbers of the finished trials."""
        return sorted(self.curves["trial"].unique().tolist())

    @property
    def final(self) -> pd.DataFrame:
        """Regret at the horizon, a frame with columns policy, trial and regret."""
        last = self.curves[self.curves["round"] == self.curves["round"].max()]
        return last[["policy", "trial", "regret"]].reset_index(drop=True)

    def final_table(self) -> pd.DataFrame:
        """Regret at the horizon, one row per trial and one column per policy.

        Returns
        -------
        DataFrame
        """
        table = self.final.pivot(index="trial", columns="policy", values="regret")
        return table.reindex(columns=self.policies)

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Mean, spread, standard error, interval and quantiles of the final regret.

        Parameters
        ----------
        level : float, default 0.95
            Of the t interval for the mean.

        Returns
        -------
        DataFrame
            One row per policy.
        """
        table = self.final_table()
        frame = _t_interval(table, level)
        frame.insert(1, "std", table.std(ddof=1))
        for q in (0.05, 0.25, 0.5, 0.75, 0.95):
            frame[f"q{round(100 * q):02d}"] = table.quantile(q)
        return frame

    def paired(self, baseline: str, level: float = 0.95) -> pd.DataFrame:
        """Differences to `baseline`, trial by trial.

        All policies of a trial met the same world, so the difference has much less
        noise than the two means.

        Parameters
        ----------
        baseline : str
            Name of the policy to compare with.
        level : float, default 0.95
            Of the t interval.

        Returns
        -------
        DataFrame
            One row per other policy: difference (its regret minus the baseline's, so
            negative is better), se, low, high, trials, wins (share of trials with less
            regret than the baseline) and ratio of the mean regrets.
        """
        _validate.choice("baseline", baseline, tuple(self.policies))
        table = self.final_table()
        others = table.drop(columns=baseline)
        differences = others.sub(table[baseline], axis=0)
        frame = _t_interval(differences, level).rename(columns={"mean": "difference"})
        frame["wins"] = (differences < 0).mean()
        frame["ratio"] = others.mean() / table[baseline].mean()
        return frame

    def __repr__(self) -> str:
        state = ", interrupted" if self.interrupted else ""
        return (
            f"Results({len(self.policies)} policies, {len(self.trials)} trials{state})"
        )


def _t_interval(table, level):
    _validate.probability("level", level)
    n = len(table)
    mean = table.mean()
    se = table.std(ddof=1) / np.sqrt(n)
    half = se * (stats.t.ppf(0.5 + level / 2, n - 1) if n > 1 else np.nan)
    return pd.DataFrame(
        {"mean": mean, "se": se, "low": mean - half, "high": mean + half, "trials": n}
    )
