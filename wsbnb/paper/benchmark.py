"""Policies x worlds: each tuned on some trials, scored on others, at four footings.

- "theory": the scale that theory or the paper gives, and the memory that it computes
  from the exact variation of the path;
- "tuned": scale and memory that did best on training trials of the same world;
- "kind": what did best in the other worlds of the same kind (jumps, drift, still);
- "carried": one scale and one memory for all, those that did best in the other worlds.

Training and test trials have different seeds. All policies meet the same test trials.
"""

import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from tqdm import tqdm

from wsbnb import _validate
from wsbnb._files import replace_file
from wsbnb._types import Any, Array, FilePath
from wsbnb.paper.benchmark_policies import CONTENDERS
from wsbnb.paper.benchmark_worlds import KINDS, WORLDS
from wsbnb.paper.cache import cache_folder, source_checksum
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.simulation import simulate

FOOTINGS = ("theory", "tuned", "kind", "carried")
TRAIN_SEED, TEST_SEED = 101, 202
#: Training and test trials of the full and of the quick form.
FULL, QUICK = (8, 32), (2, 6)
FILES = {"tuning": "benchmark_tuning.csv", "scores": "benchmark_scores.csv"}
Setting = tuple[float | None, float | None]


# --- playing --------------------------------------------------------------------------


def run_benchmark(
    worlds: Iterable[str] | None = None,
    policies: Iterable[str] | None = None,
    quick: bool = False,
    cache: FilePath | Literal[False] | None = None,
    n_jobs: int = -1,
    progress: bool = False,
) -> "Benchmark":
    """Tune and score policies in worlds.

    Parameters
    ----------
    worlds, policies : lists of str, optional
        Names in `WORLDS` and `CONTENDERS`. Default: all.
    quick : bool, default False
        Few trials, and every other value of the grids: a minute in place of ten.
    cache : path-like, None or False
        Folder; None is the usual one (:func:`cache_folder`), False stores nothing. What
        is stored is not computed again, so a killed run continues.
    n_jobs : int, default -1
        Workers, as in :func:`wsbnb.simulate`.
    progress : bool, default False
        Show a bar with the time left.

    Returns
    -------
    Benchmark

    Examples
    --------
    >>> from wsbnb.paper import run_benchmark
    >>> small = run_benchmark(["still"], ["LinTS", "Uniform"], quick=True, cache=False)
    >>> small.means("tuned").loc["still"].idxmin()
    'LinTS'
    """
    places = _chosen("worlds", worlds, WORLDS)
    players = _chosen("policies", policies, CONTENDERS)
    quick = _validate.flag("quick", quick)
    train, test = QUICK if quick else FULL
    store = _Store(cache, n_jobs)
    with tqdm(
        total=2 * len(places),
        disable=not progress,
        file=sys.stderr,
        bar_format="{desc:<30} {percentage:3.0f}%|{bar}| "
        "{elapsed} elapsed, {remaining} left",
    ) as bar:
        tuning = []
        for world in places:
            bar.set_description_str(f"tuning: {world.name}")
            tuning += _tuned(world, players, store, train, quick)
            bar.update()
        grid = pd.DataFrame(tuning)
        scores = []
        for world in places:
            bar.set_description_str(f"scoring: {world.name}")
            scores += _scored(world, players, grid, store, test)
            bar.update()
    return Benchmark(grid, pd.DataFrame(scores))


def _chosen(name, names, table):
    if names is None:
        return list(table.values())
    names = [names] if isinstance(names, str) else list(names)
    return [table[_validate.choice(name, one, tuple(table))] for one in names]


def _tuned(world, players, store, trials, coarse=False):
    """Mean training regret of every setting, as rows."""
    grids = {p: p.settings(coarse) for p in players}
    wanted = {player: grid for player, grid in grids.items() if len(grid) > 1}
    found = store.finals(world, wanted, trials, TRAIN_SEED)
    for player, grid in grids.items():
        for i, (scale, memory) in enumerate(grid):
            regret = found[player][i].mean() if player in found else 0.0
            yield {
                "world": world.name,
                "policy": player.name,
                "scale": scale,
                "memory": memory,
                "regret": round(float(regret), 2),
            }


def _scored(world, players, grid, store, trials):
    """Test regrets at each footing, as rows."""
    picks = {
        player: {
            "theory": (None, None),
            "tuned": best_setting(grid, player.name, [world.name]),
            "kind": carried_setting(grid, player.name, world.name, world.kind),
            "carried": carried_setting(grid, player.name, world.name),
        }
        for player in players
    }
    wanted = {player: list(dict.fromkeys(p.values())) for player, p in picks.items()}
    found = store.finals(world, wanted, trials, TEST_SEED)
    made = {"commit": commit(), "sources": source_checksum()[:12]}
    for player in players:
        for footing, pick in picks[player].items():
            finals = found[player][wanted[player].index(pick)]
            row = {"world": world.name, "policy": player.name, "footing": footing}
            row |= {"scale": pick[0], "memory": pick[1], **made}
            yield row | {f"r{i}": round(float(r), 2) for i, r in enumerate(finals)}


def best_setting(grid: pd.DataFrame, policy: str, worlds: Sequence[str]) -> Setting:
    """Scale and memory with the least regret, on the geometric mean over worlds.

    Parameters
    ----------
    grid : DataFrame
        Training regrets, `Benchmark.tuning`.
    policy : str
    worlds : list of str

    Returns
    -------
    tuple
        scale and memory.

    Examples
    --------
    >>> from wsbnb.paper import recorded_benchmark
    >>> from wsbnb.paper.benchmark import best_setting
    >>> grid = recorded_benchmark().tuning
    >>> best_setting(grid, "LinUCB", ["still"])
    (0.25, inf)
    """
    part = grid[(grid["policy"] == policy) & grid["world"].isin(list(worlds))]
    table = part.pivot(index=["scale", "memory"], columns="world", values="regret")
    if len(table) == 1:  # nothing to choose, and nothing was played
        return _pair(table.index[0])
    return _pair(np.log(table).mean(axis=1).idxmin())


def _pair(index):
    return float(index[0]), float(index[1])


def carried_setting(
    grid: pd.DataFrame, policy: str, world: str, kind: str | None = None
) -> Setting:
    """The setting that did best in all worlds but one.

    Parameters
    ----------
    grid : DataFrame
    policy, world : str
    kind : {"jumps", "drift", "still"}, optional
        Look at worlds of this kind only.

    Returns
    -------
    tuple
        scale and memory; those of the world itself if there is no other.
    """
    others = [
        name
        for name in grid["world"].unique()
        if name != world and kind in (None, WORLDS[name].kind)
    ]
    return best_setting(grid, policy, others or [world])


class _Store:
    """Final regrets by setting and trial, on disk by one step each, or played."""

    def __init__(self, cache, n_jobs):
        self.folder = None if cache is False else cache_folder(cache) / "benchmark"
        self.n_jobs = n_jobs

    def finals(self, world, wanted, trials, seed):
        """Arrays (setting, trial) for each policy of `wanted`."""
        found = {p: self._load(world, p, s, trials, seed) for p, s in wanted.items()}
        missing = {p: s for p, s in wanted.items() if found[p] is None}
        if missing:
            for player, finals in self._play(world, missing, trials, seed):
                found[player] = finals
                self._save(world, player, wanted[player], trials, seed, finals)
        return found

    def _play(self, world, missing, trials, seed):
        policies = {
            f"{player.name} {i}": _builder(world, player, setting)
            for player, settings in missing.items()
            for i, setting in enumerate(settings)
        }
        with outside_on_purpose():
            results = simulate(
                policies,
                world.environment,
                trials=trials,
                seed=seed,
                n_jobs=self.n_jobs,
                progress=False,
                points=1,
            )
        if results.interrupted:
            raise KeyboardInterrupt
        for player, settings in missing.items():
            names = [f"{player.name} {i}" for i in range(len(settings))]
            yield player, np.array([results.final(name) for name in names])

    def _path(self, world, player, settings, trials, seed):
        identity = [repr(world), player.name, player.note, settings, trials, seed]
        identity += [source_checksum(), _builders_checksum()]
        key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:24]
        return self.folder / f"{key}.npy"

    def _load(self, world, player, settings, trials, seed):
        if self.folder is None:
            return None
        try:
            data = self._path(world, player, settings, trials, seed).read_bytes()
            finals = np.load(io.BytesIO(data), allow_pickle=False)
        except Exception:  # however a file is damaged, it can be computed again
            return None
        return finals if finals.shape == (len(settings), trials) else None

    def _save(self, world, player, settings, trials, seed, finals):
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        np.save(buffer, finals)
        replace_file(
            self._path(world, player, settings, trials, seed), buffer.getvalue()
        )


def _builder(world, player, setting):
    def build(drawn: Any) -> Any:
        with outside_on_purpose():  # small radii and wrong beliefs are the question
            return player.build(world.known(drawn), *setting)

    return build


def _builders_checksum():
    source = Path(__file__).with_name("benchmark_policies.py").read_bytes()
    return hashlib.sha256(source).hexdigest()


def commit() -> str:
    """The commit of the code that runs, with a + if files differ from it.

    Returns
    -------
    str
        "unknown" outside a repository.
    """

    def git(*words):
        return subprocess.run(
            ["git", *words],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "../*.py", "..")
        ours = [li for li in changed.splitlines() if li.endswith(".py")]
        return git("rev-parse", "--short=10", "HEAD") + ("+" if ours else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


# --- what follows ---------------------------------------------------------------------


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
        rows = self.scores.set_index(["world", "policy", "footing"])
        scale, memory = rows.loc[(world, policy, footing), ["scale", "memory"]]
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
        rng = np.random.default_rng(0)
        logs = []
        chosen = self.worlds if worlds is None else list(worlds)
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
        folder = Path(folder)
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


def read_benchmark(folder: Any) -> Benchmark:
    """The benchmark in a folder that ``Benchmark.write`` has written.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    Benchmark
    """
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
    return Benchmark(tuning.reset_index(drop=True), frames["scores"])


def benchmark_list() -> str:
    """Worlds and policies of the benchmark, one line each.

    Returns
    -------
    str

    Examples
    --------
    >>> print(benchmark_list().splitlines()[1])
    rare jumps             the paper's abrupt scenario: three jumps at right angles
    """
    lines = ["Worlds"]
    lines += [f"{world.name:22s} {world.why}" for world in WORLDS.values()]
    lines += ["", "Policies, and what is tuned"]
    for player in CONTENDERS.values():
        lines.append(f"{player.name:30s} {player.note or 'nothing'}")
    return "\n".join(lines)


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
    >>> small = run_benchmark(["still"], ["LinTS", "Uniform"], quick=True, cache=False)
    >>> benchmark_report(small).splitlines()[0]
    'Least regret when tuned in the world itself'
    """
    means = benchmark.means("tuned")
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
    return read_benchmark(resources.files("wsbnb.paper") / "data")
