"""The bank of change points on trials that nobody had looked at before.

Its defaults were settled on other seeds. Here it meets every world of the benchmark
once more, beside WSB-LinTS at each memory and scale of the benchmark's grid, on trials
that were played after the last change of the defaults.
"""

from importlib import resources
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

__all__ = [
    "against",
    "changed_settings",
    "play_fresh",
    "record_fresh",
    "recorded_fresh",
    "recorded_tried",
]

SEED, TRIALS = 7411, 32
#: The banks that are judged, with the scale of their base, the same in every world.
BANKS = {"Change points": 0.5, "Change points, RandLinUCB": 1.0}
#: What they are measured by: a fixed discount.
RIVAL = "WSB-LinTS"
#: How the rival's memory and scale were chosen: on the benchmark's training trials of
#: the world, or as the best of the grid on these very trials.
REFERENCES = ("tuned", "hindsight")
FILES = {"fresh": "changes_fresh.csv", "tried": "changes_tried.csv"}


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
    if played.interrupted:
        raise KeyboardInterrupt  # fewer trials are no row of the record
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


def recorded_fresh() -> pd.DataFrame:
    """The run that is kept with the package, as `play_fresh` returns it.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> recorded_fresh()["world"].nunique()
    27
    """
    return _kept(FILES["fresh"])


def recorded_tried() -> pd.DataFrame:
    """What was tried before: changes of one setting of the banks, in nine worlds.

    Returns
    -------
    DataFrame
        world, policy, choice (the change, or "default"), seed, commit, and the regret
        of each trial, r0, r1, ... (empty where there were fewer).

    Examples
    --------
    >>> recorded_tried()["world"].nunique()
    9
    """
    return _kept(FILES["tried"])


def _kept(name):
    with (resources.files("wsbnb.paper") / "data" / name).open(
        encoding="utf-8"
    ) as handle:
        return pd.read_csv(handle)


def against(
    rows: pd.DataFrame, policy: str, reference: str = "hindsight", draws: int = 2000
) -> pd.DataFrame:
    """Regret of a bank over that of the fixed discount, world by world.

    Parameters
    ----------
    rows : DataFrame
        From :func:`recorded_fresh` or :func:`play_fresh`.
    policy : {"Change points", "Change points, RandLinUCB"}
    reference : {"hindsight", "tuned"}
        How the memory and scale of the discount were chosen.
    draws : int, default 2000
        Bootstrap draws of the trials, both together. The setting that was best is not
        looked for again in each draw.

    Returns
    -------
    DataFrame
        One row per world: ratio, low and high (95 %). The last row, "all worlds", is
        the geometric mean.

    Examples
    --------
    >>> table = against(recorded_fresh(), "Change points")
    >>> bool(table.ratio["two features"] < 0.5)
    True
    """
    _validate.choice("policy", policy, tuple(BANKS))
    _validate.choice("reference", reference, REFERENCES)
    return _ratios(rows, (policy, "default"), (RIVAL, reference), draws)


def changed_settings(rows: pd.DataFrame, draws: int = 2000) -> pd.DataFrame:
    """Regret with a changed setting over that with the defaults, over all worlds.

    Parameters
    ----------
    rows : DataFrame
        From :func:`recorded_tried`.
    draws : int, default 2000
        As in :func:`against`.

    Returns
    -------
    DataFrame
        One row per policy and change: geometric mean of the ratios, low and high.

    Examples
    --------
    >>> bool((changed_settings(recorded_tried()).high < 1).any())  # anything better?
    False
    """
    pairs = rows[["policy", "choice"]].drop_duplicates().to_numpy().tolist()
    return pd.DataFrame(
        {
            (policy, choice): _ratios(
                rows, (policy, choice), (policy, "default"), draws
            ).loc["all worlds"]
            for policy, choice in pairs
            if choice != "default"
        }
    ).T.rename_axis(["policy", "change"])


def _ratios(rows, mine, theirs, draws):
    """Ratios of mean regrets in each world, and their geometric mean."""
    trials = [name for name in rows if str(name)[1:].isdigit()]
    regret = rows.set_index(["world", "policy", "choice"])[trials].astype(float)
    rng, logs = np.random.default_rng(0), {}
    for world in rows["world"].unique():
        ours, other = (regret.loc[(world, *key)].dropna() for key in (mine, theirs))
        picks = rng.integers(0, len(ours), (draws, len(ours)))
        picks = np.vstack([np.arange(len(ours)), picks])  # first: as it came
        means = [one.to_numpy()[picks].mean(axis=1) for one in (ours, other)]
        logs[world] = np.log(means[0] / means[1])
    logs["all worlds"] = np.mean(list(logs.values()), axis=0)
    return pd.DataFrame(
        {world: np.exp(_with_range(values)) for world, values in logs.items()},
        index=["ratio", "low", "high"],
    ).T


def _with_range(values):
    return [values[0], *np.quantile(values[1:], [0.025, 0.975])]
