"""The decision guide: what follows from the benchmark, for `wsbnb.recommend`."""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from wsbnb import _guide, _validate
from wsbnb._files import replace_file
from wsbnb._types import FilePath
from wsbnb.paper.benchmark import best_setting
from wsbnb.paper.benchmark_tables import Benchmark
from wsbnb.paper.benchmark_worlds import WORLDS
from wsbnb.recommending import BUILDERS, MOVES

__all__ = ["guide_rows", "guide_source", "guide_worlds", "write_guide"]

#: Rows kept for each way to move; more than a user reads.
KEPT = 5
#: How the names of policies begin that find their memory themselves.
_ADAPTIVE = ("Surprise", "Discount mixture", "Change points")
_HEAD = '''# ruff: noqa: E501
"""What the benchmark of worlds says, as data for `recommending`.

Written by `wsbnb.paper.write_guide` from the record; do not edit by hand.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A policy's standing among worlds that move in one way."""

    moves: str
    trusted: bool  # only worlds whose noise is Gaussian and of the size told
    policy: str
    scale: float
    memory: float
    ratio: float
    low: float
    high: float
    worst: float
    worst_world: str
    fixed: bool  # one discount, which a log can replace
    by_world: dict[str, float]


class World(NamedTuple):
    """What a world is like."""

    name: str
    dim: int
    n_arms: int
    noise_std: float


_FOREVER = float("inf")
# fmt: off
'''


def guide_rows(benchmark: Benchmark) -> pd.DataFrame:
    """The decision guide as a table.

    For each way to move: the policies that `wsbnb.recommend` can build, at the setting
    that did best on the training trials of all worlds of the kind, and the adaptive
    ones also at their defaults. The ratio to the best tuned policy comes from the test
    trials, and in each world from the setting that did best in the *other* worlds of
    the kind ("unknown": in all other worlds).

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    DataFrame
        moves, trusted, policy, scale, memory, ratio, low, high, worst, worst_world,
        fixed and by_world; the best five for each way to move and each trust.

    Examples
    --------
    >>> from wsbnb.paper import guide_rows, recorded_benchmark
    >>> list(guide_rows(recorded_benchmark())["moves"].unique())
    ['still', 'jumps', 'drift', 'unknown']
    """
    _validate.instance("benchmark", benchmark, Benchmark)
    if not set(benchmark.policies) & set(BUILDERS):
        raise ValueError(
            f"benchmark must hold some of {sorted(BUILDERS)}, got {benchmark.policies}"
        )
    frames = [
        pd.DataFrame(_standing(benchmark, moves, trusted))
        .drop_duplicates(["policy", "scale", "memory"])
        .sort_values("ratio", kind="stable")
        .head(KEPT)
        for moves in MOVES
        for trusted in (False, True)
    ]
    return pd.concat(frames, ignore_index=True)


def _standing(benchmark, moves, trusted):
    """A row for each policy and each setting that a user could have."""
    kin = [w for w in benchmark.worlds if moves in ("unknown", WORLDS[w].kind)]
    worlds = [w for w in kin if WORLDS[w].noise_known or not trusted]
    policies = [name for name in benchmark.policies if name in BUILDERS]
    for footing in ("carried" if moves == "unknown" else "kind", "theory"):
        table = benchmark.overall(footing, worlds=worlds)
        ratios = benchmark.ratios(footing).loc[worlds].round(3)
        for policy in policies:
            fixed = not policy.startswith(_ADAPTIVE)
            if footing == "theory":
                if fixed:  # theory's memory needs the variation
                    continue
                setting = (1.0, math.inf)
            else:
                setting = best_setting(benchmark.tuning, policy, kin)
            values = table.loc[policy, ["all", "all_low", "all_high"]].astype(float)
            ratio, low, high = (round(float(v), 3) for v in values)
            yield {
                "moves": moves,
                "trusted": trusted,
                "policy": policy,
                "scale": setting[0],
                "memory": setting[1],
                "ratio": ratio,
                "low": low,
                "high": high,
                "worst": float(ratios[policy].max()),
                "worst_world": str(ratios[policy].idxmax()),
                "fixed": fixed,
                "by_world": {w: float(r) for w, r in ratios[policy].items()},
            }


def guide_worlds(benchmark: Benchmark) -> list[_guide.World]:
    """Each world in the words by which a user finds the one most like theirs.

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    list of World
    """
    found = []
    for name in benchmark.worlds:
        env = WORLDS[name].environment
        noise = round(env.noise_std, 4)
        found.append(_guide.World(name, env.dim, env.n_arms, noise))
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
    lines = [_HEAD + f"MADE_BY = {made!r}", "ROWS = ("]
    for row in guide_rows(benchmark).itertuples(index=False):
        values = ", ".join("_FOREVER" if _endless(v) else repr(v) for v in row)
        lines.append(f"    Row({values}),")
    lines += [")", "WORLDS = ("]
    lines += [f"    World{tuple(world)!r}," for world in guide_worlds(benchmark)]
    return ("\n".join([*lines, ")"]) + "\n").replace("'", '"')


def _endless(value):
    return isinstance(value, float) and np.isinf(value)


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
    _validate.instance("benchmark", benchmark, Benchmark)
    target = Path(_guide.__file__) if path is None else _validate.path("path", path)
    replace_file(target, guide_source(benchmark).encode())
    return target
