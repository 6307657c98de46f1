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
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from tqdm import tqdm

from wsbnb import _validate
from wsbnb._files import replace_file, sweep
from wsbnb._types import Any, FilePath
from wsbnb.paper.benchmark_policies import CONTENDERS
from wsbnb.paper.benchmark_tables import Benchmark, Setting
from wsbnb.paper.benchmark_worlds import WORLDS
from wsbnb.paper.cache import cache_folder, source_checksum
from wsbnb.paper.running import checked_cache
from wsbnb.paper.settings import words
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.simulation import simulate

TRAIN_SEED, TEST_SEED = 101, 202
#: Training and test trials of the full and of the quick form.
FULL, QUICK = (8, 16), (2, 6)


def run_benchmark(
    worlds: Iterable[str] | None = None,
    policies: Iterable[str] | None = None,
    quick: bool = False,
    cache: FilePath | Literal[False] | None = None,
    n_jobs: int = -1,
    progress: bool = False,
) -> Benchmark:
    """Tune and score policies in worlds.

    Parameters
    ----------
    worlds, policies : lists of str, optional
        Names in `WORLDS` and `CONTENDERS`. Default: all but the slow policies.
    quick : bool, default False
        Few trials, and every other value of the grids: two minutes, not ten.
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
    quick, progress = (
        _validate.flag("quick", quick),
        _validate.flag("progress", progress),
    )
    n_jobs = _validate.workers("n_jobs", n_jobs)
    if policies is None:
        players = [player for player in players if not player.slow]
    train, test = QUICK if quick else FULL
    store = _Store(cache if cache is False else checked_cache(cache), n_jobs)
    with tqdm(
        total=2 * len(places),
        disable=not (progress and sys.stderr),
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
    names = [names] if isinstance(names, str) else names
    return [table[one] for one in words(name, names, table)]


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
        self.n_jobs, self._swept = n_jobs, False

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
        return self.folder / f"{key}.npz"  # which checks what it holds

    def _load(self, world, player, settings, trials, seed):
        if self.folder is None:
            return None
        try:
            data = self._path(world, player, settings, trials, seed).read_bytes()
            finals = np.load(io.BytesIO(data), allow_pickle=False)["finals"]
        except Exception:  # however a file is damaged, it can be computed again
            return None
        return finals if finals.shape == (len(settings), trials) else None

    def _save(self, world, player, settings, trials, seed, finals):
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._swept:
            sweep(self.folder)  # what a killed run has left
            self._swept = True
        buffer = io.BytesIO()
        np.savez(buffer, finals=finals)
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
