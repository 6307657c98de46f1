"""The decision guide: what follows from the benchmark, for `wsbnb.recommend`."""

from pathlib import Path

import numpy as np
import pandas as pd

from wsbnb import _guide
from wsbnb._files import replace_file
from wsbnb._types import FilePath
from wsbnb.paper.benchmark import Benchmark, best_setting
from wsbnb.paper.benchmark_worlds import KINDS, WORLDS
from wsbnb.recommending import BUILDERS, MOVES

_HEAD = '''# ruff: noqa: E501
"""What the benchmark of worlds says, as data for `recommending`.

Written by `wsbnb.paper.write_guide` from the record; do not edit by hand.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A policy's standing among worlds that move in one way."""

    moves: str
    policy: str
    scale: float
    memory: float
    ratio: float
    low: float
    high: float
    worst: float
    worst_world: str
    fixed: bool  # one discount, which a log can replace
    steady: bool  # does not take surprises for changes


class World(NamedTuple):
    """A world of the benchmark and the ratios (moves, policy) in it."""

    name: str
    kind: str
    dim: int
    n_arms: int
    noise_std: float
    ratios: dict[tuple[str, str], float]


_FOREVER = float("inf")
# fmt: off
'''


def guide_rows(benchmark: Benchmark) -> pd.DataFrame:
    """The decision guide as a table.

    For each way to move: every policy that `wsbnb.recommend` can build, at the setting
    that did best on the training trials of all worlds of the kind. The ratio to the
    best tuned policy comes from the test trials, and in each world from the setting
    that did best in the *other* worlds of the kind ("unknown": in all other worlds).

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    DataFrame
        moves, policy, scale, memory, ratio, low, high, worst, worst_world, fixed,
        steady; the best first in each way to move.

    Examples
    --------
    >>> from wsbnb.paper import guide_rows, recorded_benchmark
    >>> list(guide_rows(recorded_benchmark())["moves"].unique())
    ['still', 'jumps', 'drift', 'unknown']
    """
    rows = []
    policies = [name for name in benchmark.policies if name in BUILDERS]
    for moves in MOVES:
        footing = "carried" if moves == "unknown" else "kind"
        column = "all" if moves == "unknown" else moves
        table = benchmark.overall(footing)
        worlds = _worlds(benchmark, moves)
        ratios = benchmark.ratios(footing).loc[worlds]
        for policy in [name for name in policies if name in table.index]:
            scale, memory = best_setting(benchmark.tuning, policy, worlds)
            one = table.loc[policy]
            fixed, steady = _nature(policy)
            rows.append(
                {
                    "moves": moves,
                    "policy": policy,
                    "scale": scale,
                    "memory": memory,
                    "ratio": round(float(one[column]), 3),
                    "low": round(float(one[f"{column}_low"]), 3),
                    "high": round(float(one[f"{column}_high"]), 3),
                    "worst": round(float(ratios[policy].max()), 3),
                    "worst_world": str(ratios[policy].idxmax()),
                    "fixed": fixed,
                    "steady": steady,
                }
            )
    frame = pd.DataFrame(rows)
    order = frame["moves"].map({name: i for i, name in enumerate(MOVES)})
    return frame.iloc[np.lexsort((frame["ratio"], order))].reset_index(drop=True)


def _worlds(benchmark, moves):
    return [w for w in benchmark.worlds if moves in ("unknown", WORLDS[w].kind)]


def _nature(policy):
    adaptive = policy.startswith(("Surprise", "Discount mixture"))
    return not adaptive, not adaptive


def guide_worlds(benchmark: Benchmark) -> list[_guide.World]:
    """Each world with the ratios that the guide quotes.

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    list of World
    """
    ratios = {f: benchmark.ratios(f) for f in ("kind", "carried")}
    found = []
    for name in benchmark.worlds:
        env, kind = WORLDS[name].environment, WORLDS[name].kind
        quoted = {}
        for moves, footing in ((kind, "kind"), ("unknown", "carried")):
            for policy in benchmark.policies:
                if policy in BUILDERS:
                    value = round(float(ratios[footing].loc[name, policy]), 3)
                    quoted[moves, policy] = value
        noise = round(env.noise_std, 4)
        found.append(_guide.World(name, kind, env.dim, env.n_arms, noise, quoted))
    return found


def guide_source(benchmark: Benchmark) -> str:
    """The text of the module `wsbnb._guide`.

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    str
    """
    made = ", ".join(sorted(set(benchmark.scores["commit"])))
    lines = [_HEAD, f"MADE_BY = {made!r}", "ROWS = ("]
    for row in guide_rows(benchmark).itertuples(index=False):
        values = ", ".join("_FOREVER" if v == np.inf else repr(v) for v in row)
        lines.append(f"    Row({values}),")
    lines += [")", "WORLDS = ("]
    for world in guide_worlds(benchmark):
        lines.append(f"    World({', '.join(map(repr, world[:-1]))}, {{")
        lines += [f"        {key!r}: {value!r}," for key, value in world.ratios.items()]
        lines.append("    }),")
    text = "\n".join([*lines, ")"]) + "\n"
    return text.replace("'", '"')


def write_guide(benchmark: Benchmark, path: FilePath | None = None) -> Path:
    """Write the module from which `wsbnb.recommend` reads.

    Parameters
    ----------
    benchmark : Benchmark
    path : path-like, optional
        Default: the module itself.

    Returns
    -------
    Path
    """
    target = Path(_guide.__file__ if path is None else path)
    replace_file(target, guide_source(benchmark).encode())
    return target


__all__ = ["KINDS", "guide_rows", "guide_source", "guide_worlds", "write_guide"]
