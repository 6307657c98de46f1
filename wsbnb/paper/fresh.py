"""The bank of change points on trials that nobody had looked at before.

Its defaults were settled on other seeds. Here it meets every world of the benchmark
once more, beside WSB-LinTS at each memory and scale of the benchmark's grid, on trials
that were played after the last change of the defaults.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from wsbnb import _validate
from wsbnb._files import replace_file
from wsbnb._types import FilePath
from wsbnb.paper.benchmark import commit
from wsbnb.paper.benchmark_policies import CONTENDERS
from wsbnb.paper.benchmark_tables import recorded_benchmark
from wsbnb.paper.benchmark_worlds import WORLDS
from wsbnb.paper.cache import source_checksum
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.simulation import simulate

__all__ = ["play_fresh", "record_fresh"]

SEED, TRIALS = 7411, 32
#: The banks that are judged, with the scale of their base, the same in every world.
BANKS = {"Change points": 0.5, "Change points, RandLinUCB": 1.0}
#: What they are measured by: a fixed discount.
RIVAL = "WSB-LinTS"


def play_fresh(world: str, trials: int = TRIALS, seed: int = SEED) -> pd.DataFrame:
    """Play the banks and all fixed memories and scales in one world.

    Parameters
    ----------
    world : str
        A name in `WORLDS`.
    trials, seed : int

    Returns
    -------
    DataFrame
        world, policy, choice ("default", "tuned" or "hindsight"), scale, memory, seed,
        commit, sources and the regret of each trial, r0, r1, ...

    Examples
    --------
    >>> play_fresh("two features", trials=1)["choice"].tolist()
    ['default', 'default', 'tuned', 'hindsight']
    """
    _validate.choice("world", world, tuple(WORLDS))
    grid = CONTENDERS[RIVAL].settings()
    banks = [(name, (scale, np.inf)) for name, scale in BANKS.items()]
    finals = _finals(world, [*banks, *[(RIVAL, pair) for pair in grid]], trials, seed)
    rivals = finals[len(banks) :]
    tuned = recorded_benchmark().setting(world, RIVAL)
    best = int(rivals.mean(axis=1).argmin())
    rows = [(*bank, "default", finals[i]) for i, bank in enumerate(banks)]
    rows.append((RIVAL, tuned, "tuned", rivals[grid.index(tuned)]))
    rows.append((RIVAL, grid[best], "hindsight", rivals[best]))
    made = {"seed": seed, "commit": commit(), "sources": source_checksum()[:12]}
    return pd.DataFrame(
        {"world": world, "policy": name, "choice": choice}
        | {"scale": scale, "memory": memory, **made}
        | {f"r{i}": round(float(r), 2) for i, r in enumerate(regret)}
        for name, (scale, memory), choice, regret in rows
    )


def _finals(world, settings, trials, seed):
    """Regrets at the end, (setting, trial)."""
    place = WORLDS[world]
    policies = {
        str(i): lambda drawn, name=name, pair=pair: CONTENDERS[name].build(
            place.known(drawn), *pair
        )
        for i, (name, pair) in enumerate(settings)
    }
    with outside_on_purpose():  # wrong beliefs are the question
        played = simulate(
            policies,
            place.environment,
            trials=trials,
            seed=seed,
            n_jobs=1,
            progress=False,
            points=1,
        )
    return np.array([played.final(name) for name in policies])


def record_fresh(path: FilePath) -> pd.DataFrame:
    """Play all worlds into a file, which grows world by world.

    Parameters
    ----------
    path : path-like
        CSV; worlds that it holds are not played again.

    Returns
    -------
    DataFrame
    """
    path = Path(path)
    rows = [pd.read_csv(path)] if path.exists() else []
    done = set(rows[0]["world"]) if rows else set()
    for world in WORLDS:
        if world not in done:
            rows.append(play_fresh(world))
            text = pd.concat(rows).to_csv(index=False)
            replace_file(path, text.encode())
    return pd.concat(rows, ignore_index=True)
