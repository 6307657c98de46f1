"""The long run of all 160 cells, done once and kept with the package."""

from collections.abc import Sequence
from importlib import resources
from typing import Any

import pandas as pd

from wsbnb._files import replace_file
from wsbnb._types import FilePath
from wsbnb.experiments.cache import source_checksum
from wsbnb.experiments.paper import PaperCell, table2, table3
from wsbnb.experiments.report import run_papercells, summarise

#: Trials whose mean is kept apart, so that a test can recompute it cheaply.
FIRST = 20
FILE = "reproduced_1000.csv"


def long_run(
    trials: int = 1000,
    seed: int = 0,
    cells: Sequence[PaperCell] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Run both tables under the calibrated protocol, with what a check needs.

    Parameters
    ----------
    trials : int, default 1000
    seed : int, default 0
    cells : list of PaperCell, optional
        Default: all 160.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Columns table, scenario, algorithm, prior_mean_norm, dimension, mean, std,
        trials, se, first20 (mean over the first 20 trials), seed, version and sources
        (start of the checksum of the code that decides the numbers).

    Examples
    --------
    >>> from wsbnb.experiments import long_run, table3
    >>> cells = table3([2], ["abrupt"], [10], trials=2, horizon=40)
    >>> long_run(cells=cells, cache=False)["table"].tolist()
    [3, 3, 3]
    """
    from wsbnb import __version__  # late: the package may still be loading

    if cells is None:
        common = {"trials": trials, "seed": seed}
        cells = table2(**common) + table3(**common)
    results = run_papercells(cells, **options)
    frame = summarise(cells, results)
    if "prior_mean_norm" not in frame:
        frame.insert(2, "prior_mean_norm", 0)
    frame.insert(0, "table", [3 if c.prior_mean_norm else 2 for c in cells])
    frame["first20"] = [results[c].finals[:FIRST].mean() for c in cells]
    frame["seed"] = seed
    frame["version"] = __version__
    frame["sources"] = source_checksum()[:12]
    return frame


def record(path: FilePath, **options: Any) -> None:
    """Write :func:`long_run` to a CSV file.

    Parameters
    ----------
    path : path-like
    **options
        As in :func:`long_run`.
    """
    replace_file(path, long_run(**options).to_csv(index=False).encode())


def recorded(table: int | None = None) -> pd.DataFrame:
    """The long run that is kept with the package.

    Parameters
    ----------
    table : {2, 3}, optional
        Only this table, with the columns that :func:`compare` takes.

    Returns
    -------
    DataFrame
        As from :func:`long_run`.

    Examples
    --------
    >>> len(recorded(2)), int(recorded()["trials"].min())  # doctest: +SKIP
    (70, 1000)
    """
    file = resources.files("wsbnb") / "data" / FILE
    with file.open(encoding="utf-8") as handle:
        frame = pd.read_csv(handle)
    if table is None:
        return frame
    frame = frame[frame["table"] == table].drop(columns="table")
    frame = frame.reset_index(drop=True)
    return frame.drop(columns="prior_mean_norm") if table == 2 else frame
