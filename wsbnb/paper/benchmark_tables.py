"""What a run of the benchmark says: ratios to the best, ranks, profiles, files."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd

from wsbnb import _validate
from wsbnb._files import replace_file
from wsbnb._tables import checked_frame
from wsbnb._types import Any, Array, FilePath
from wsbnb.paper.benchmark_worlds import KINDS, WORLDS
from wsbnb.paper.settings import numbers, words

FOOTINGS = ("theory", "tuned", "kind", "carried")
FILES = {"tuning": "benchmark_tuning.csv", "scores": "benchmark_scores.csv"}
Setting = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Training and test regrets, and what follows from them.

    Attributes
    ----------
    tuning : DataFrame
        world, policy, scale, memory and regret (mean over the training trials).
    scores : DataFrame
        world, policy, footing, scale, memory (empty: theory's own), commit, sources,
        and the regret of each test trial, r0, r1, ...

    Examples
    --------
    >>> from wsbnb.paper import recorded_benchmark
    >>> kept = recorded_benchmark()
    >>> bool(kept.profile("tuned", [1.0, 1e9]).iloc[-1].min() == 1)
    True
    """

    tuning: pd.DataFrame
    scores: pd.DataFrame

    def __post_init__(self) -> None:
        names, numbers = ["world", "policy"], ["scale", "memory", "regret"]
        checked_frame("tuning", self.tuning, names, numbers)
        checked_frame("scores", self.scores, [*names, "footing"], ["scale", "memory"])

    @property
    def worlds(self) -> list[str]:
        """Names in the order of the record."""
        return list(self.scores["world"].unique())

    @property
    def policies(self) -> list[str]:
        """Names in the order of the record."""
        return list(self.scores["policy"].unique())

    def finals(self, world: str, footing: str = "tuned") -> pd.DataFrame:
        """Test regrets in one world, one row per trial and one column per policy.

        Parameters
        ----------
        world : str
        footing : {"theory", "tuned", "kind", "carried"}

        Returns
        -------
        DataFrame
        """
        _validate.choice("footing", footing, FOOTINGS)
        _validate.choice("world", world, self.worlds)
        part = self.scores[
            (self.scores["world"] == world) & (self.scores["footing"] == footing)
        ].set_index("policy")
        return part[[name for name in part if str(name)[1:].isdigit()]].T.astype(float)

    def setting(self, world: str, policy: str, footing: str = "tuned") -> Setting:
        """Scale and memory that a policy plays with; None where theory decides.

        Parameters
        ----------
        world, policy : str
        footing : {"theory", "tuned", "kind", "carried"}

        Returns
        -------
        tuple
        """
        _validate.choice("footing", footing, FOOTINGS)
        _validate.choice("world", world, self.worlds)
        _validate.choice("policy", policy, self.policies)
        wanted = {"world": world, "policy": policy, "footing": footing}
        row = self.scores
        for column, name in wanted.items():
            row = row[row[column] == name]
        scale, memory = row[["scale", "memory"]].iloc[0]
        if pd.isna(scale):
            return None, None
        return float(scale), float(memory)

    def means(self, footing: str = "tuned") -> pd.DataFrame:
        """Mean test regret, one row per world and one column per policy.

        Parameters
        ----------
        footing : {"theory", "tuned", "kind", "carried"}

        Returns
        -------
        DataFrame
        """
        rows = {w: self.finals(w, footing).mean() for w in self.worlds}
        return pd.DataFrame(rows).T[self.policies]

    def relative(
        self, footing: str = "tuned", to: str = "tuned", draws: int = 400
    ) -> pd.DataFrame:
        """Mean regret as a multiple of the best mean in the world, with an interval.

        Parameters
        ----------
        footing : {"theory", "tuned", "kind", "carried"}
            Of the policies that are compared.
        to : {"theory", "tuned", "kind", "carried"}
            Footing at which the best is looked for.
        draws : int, default 400
            Bootstrap draws of the trials. The best policy is that of all trials: to
            look for it in each draw again would shift every interval.

        Returns
        -------
        DataFrame
            world, policy, kind, ratio, low and high (95 %), rank and its low and high.
        """
        draws = _validate.integer("draws", draws)
        _validate.room("draws", draws, draws * self.scores.shape[1])
        _validate.choice("to", to, FOOTINGS)
        rng = np.random.default_rng(0)
        rows = []
        for world in self.worlds:
            mine, best = self.finals(world, footing), self.finals(world, to)
            picks = rng.integers(0, len(mine), (draws, len(mine)))
            picks = np.vstack([np.arange(len(mine)), picks])  # first: as it came
            means = _resampled(mine, picks)
            ratio = means / _of_the_best(best, picks)
            rank = means.argsort(axis=0).argsort(axis=0) + 1
            for i, policy in enumerate(mine):
                row = {"world": world, "policy": policy, "kind": WORLDS[world].kind}
                row |= {"ratio": ratio[i, 0], **_range(ratio[i, 1:])}
                span = _range(rank[i, 1:])
                row |= {"rank": int(rank[i, 0])}
                row |= {"rank_low": span["low"], "rank_high": span["high"]}
                rows.append(row)
        return pd.DataFrame(rows)

    def profile(
        self,
        footing: str = "tuned",
        factors: Sequence[float] = (1, 1.25, 1.5, 2, 3, 5),
        to: str = "tuned",
    ) -> pd.DataFrame:
        r"""Share of worlds in which a policy is within a factor of the best.

        The performance profile of :cite:t:`dolan2002benchmarking`.

        Parameters
        ----------
        footing, to
            As in `relative`.
        factors : list of float

        Returns
        -------
        DataFrame
            One row per factor, one column per policy.
        """
        factors = numbers("factors", factors)
        ratios = self.ratios(footing, to)
        rows = {f: (ratios <= f * (1 + 1e-12)).mean() for f in factors}
        return pd.DataFrame(rows).T

    def ratios(self, footing: str = "tuned", to: str = "tuned") -> pd.DataFrame:
        """Mean regret over the best mean of the world, (world, policy).

        Parameters
        ----------
        footing, to
            As in `relative`.

        Returns
        -------
        DataFrame
        """
        _validate.choice("to", to, FOOTINGS)
        return self.means(footing).div(self.means(to).min(axis=1), axis=0)

    def overall(
        self,
        footing: str = "tuned",
        to: str = "tuned",
        draws: int = 400,
        worlds: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Geometric mean of the ratios to the best, for all worlds and by kind.

        Parameters
        ----------
        footing, to, draws
            As in `relative`; the intervals are over trials, with the worlds given.
        worlds : list of str, optional
            Only these.

        Returns
        -------
        DataFrame
            One row per policy: all, low, high, worst (the largest ratio), mean_rank,
            and one column per kind of movement with _low and _high.
        """
        draws = _validate.integer("draws", draws)
        _validate.room("draws", draws, draws * self.scores.shape[1])
        _validate.choice("to", to, FOOTINGS)
        rng = np.random.default_rng(0)
        logs = []
        chosen = self.worlds
        if worlds is not None:
            chosen = words("worlds", worlds, self.worlds)
        for world in chosen:
            mine, best = self.finals(world, footing), self.finals(world, to)
            picks = rng.integers(0, len(mine), (draws, len(mine)))
            picks = np.vstack([np.arange(len(mine)), picks])
            logs.append(np.log(_resampled(mine, picks) / _of_the_best(best, picks)))
        values = np.array(logs)  # world, policy, draw
        kinds = np.array([WORLDS[world].kind for world in chosen])
        table = _with_range(values.mean(axis=0), "all")
        table["worst"] = np.exp(values[:, :, 0].max(axis=0))
        ranks = values[:, :, 0].argsort(axis=1).argsort(axis=1) + 1
        table["mean_rank"] = ranks.mean(axis=0)
        for kind in KINDS:
            if (kinds == kind).any():
                table |= _with_range(values[kinds == kind].mean(axis=0), kind)
        frame = pd.DataFrame(table, index=self.policies)
        return frame.sort_values("all")

    def transfer(self, policy: str) -> pd.DataFrame:
        """What the settings tuned in one world cost in another.

        Parameters
        ----------
        policy : str

        Returns
        -------
        DataFrame
            Rows: where it was tuned; columns: where it plays. Training regret over that
            of the setting tuned there (1 on the diagonal).
        """
        _validate.choice("policy", policy, self.policies)
        part = self.tuning[self.tuning["policy"] == policy]
        table = part.pivot(index="world", columns=["scale", "memory"], values="regret")
        table = table.loc[self.worlds]
        best = table.idxmin(axis=1)
        rows = {w: table[best[w]] / table.min(axis=1) for w in self.worlds}
        return pd.DataFrame(rows).T

    # -- files --------------------------------------------------------------------

    def write(self, folder: FilePath) -> list[Path]:
        """Write both tables as CSV.

        Parameters
        ----------
        folder : path-like
            Made if missing.

        Returns
        -------
        list of Path
        """
        folder = _validate.path("folder", folder)
        folder.mkdir(parents=True, exist_ok=True)
        wide = self.tuning.pivot(
            index=["world", "policy", "scale"], columns="memory", values="regret"
        )
        order = self.tuning[["world", "policy", "scale"]].drop_duplicates()
        wide = wide.loc[[tuple(row) for row in order.to_numpy()]].reset_index()
        tables = {"tuning": wide, "scores": self.scores}
        for name, frame in tables.items():
            replace_file(folder / FILES[name], frame.to_csv(index=False).encode())
        return [folder / FILES[name] for name in tables]

    def with_rows_of(self, other: "Benchmark") -> "Benchmark":
        """These rows, and those of another run, which replace rows of equal names.

        Parameters
        ----------
        other : Benchmark
            Played in the same worlds, with as many trials.

        Returns
        -------
        Benchmark
        """
        _validate.instance("other", other, Benchmark)
        if set(other.worlds) != set(self.worlds):
            raise ValueError(
                f"other must have been played in the worlds {self.worlds}, got "
                f"{other.worlds}"
            )
        if list(other.scores) != list(self.scores):
            raise ValueError("other must have as many test trials as this benchmark")
        kept = [name for name in self.policies if name not in other.policies]

        order = {name: i for i, name in enumerate(self.worlds)}

        def joined(mine, theirs):
            both = pd.concat([mine[mine["policy"].isin(kept)], theirs])
            return both.sort_values(
                "world", key=lambda names: names.map(order), kind="stable"
            ).reset_index(drop=True)

        return Benchmark(
            joined(self.tuning, other.tuning), joined(self.scores, other.scores)
        )


def _resampled(finals: pd.DataFrame, picks: Array) -> Array:
    """Mean regrets, (policy, draw)."""
    return finals.to_numpy().T[:, picks].mean(axis=2)


def _of_the_best(finals, picks):
    """Resampled means of the policy with the least mean over all trials."""
    means = _resampled(finals, picks)
    return means[means[:, 0].argmin()]


def _range(values):
    low, high = np.quantile(values, [0.025, 0.975])
    return {"low": float(low), "high": float(high)}


def _with_range(logs, name):
    """Columns with the value and its interval; axis 1 begins with the value itself."""
    low, high = np.exp(np.quantile(logs[:, 1:], [0.025, 0.975], axis=1))
    return {name: np.exp(logs[:, 0]), f"{name}_low": low, f"{name}_high": high}


def read_benchmark(folder: FilePath) -> Benchmark:
    """The benchmark in a folder that ``Benchmark.write`` has written.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    Benchmark
    """
    folder = _validate.path("folder", folder)
    try:
        return _read(folder)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"folder must hold what Benchmark.write has written, got {folder}: {error}"
        ) from error


def _read(folder: Any) -> Benchmark:
    frames = {}
    for name, file in FILES.items():
        with (folder / file).open(encoding="utf-8") as handle:
            frames[name] = pd.read_csv(handle)
    wide = frames["tuning"]
    tuning = wide.melt(["world", "policy", "scale"], var_name="memory",
                       value_name="regret", ignore_index=False)  # fmt: skip
    tuning = tuning.dropna(subset="regret").astype({"memory": float})
    tuning["row"] = tuning.index
    tuning = tuning.sort_values(["row", "memory"]).drop(columns="row")
    found = Benchmark(tuning.reset_index(drop=True), frames["scores"])
    _check_whole(found)
    return found


def _check_whole(benchmark):
    """Refuse tables from which rows, or the ends of rows, are missing."""
    names, scores = ["world", "policy"], benchmark.scores
    known = scores[names].drop_duplicates()
    tuned = benchmark.tuning[names].drop_duplicates()
    combinations = scores[[*names, "footing"]].nunique().prod()
    whole = (
        len(scores) == combinations
        and not scores.duplicated([*names, "footing"]).any()
        and not scores.filter(regex=r"^r\d+$").isna().any(axis=None)
        and len(known) == len(tuned) == len(tuned.merge(known))
    )
    if not whole:
        raise ValueError("a world or policy is missing, or a row is not whole")


def benchmark_report(benchmark: Benchmark) -> str:
    """What came out, as text: the best of each world, and ratios over all worlds.

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    str

    Examples
    --------
    >>> from wsbnb.paper import run_benchmark
    >>> small = run_benchmark(["still"], ["LinTS", "Uniform"], quick=True, cache=False)
    >>> benchmark_report(small).splitlines()[0]
    'Least regret when tuned in the world itself'
    """
    means = _validate.instance("benchmark", benchmark, Benchmark).means("tuned")
    lines = ["Least regret when tuned in the world itself", ""]
    for world in benchmark.worlds:
        best = means.loc[world].idxmin()
        scale, memory = benchmark.setting(world, best)
        lines.append(
            f"{world:22s} {means.loc[world, best]:7.0f}  {best} "
            f"(scale {scale:g}, memory {memory:g})"
        )
    columns = ["all", "all_low", "all_high", "worst", "mean_rank"]
    for footing in ("tuned", "kind", "carried", "theory"):
        table = benchmark.overall(footing)[columns].round(2)
        lines += ["", f"{footing}: regret over the best tuned one, geometric mean", ""]
        lines.append(table.to_string())
    return "\n".join(lines)


def recorded_benchmark() -> Benchmark:
    """The benchmark that is kept with the package.

    Returns
    -------
    Benchmark

    Examples
    --------
    >>> kept = recorded_benchmark()
    >>> len(kept.worlds) >= 20
    True
    """
    return _read(resources.files("wsbnb.paper") / "data")
