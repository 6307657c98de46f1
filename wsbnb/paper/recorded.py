"""The long run of all 160 cells, done once and kept with the package."""

from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd

from wsbnb import _validate
from wsbnb._files import replace_file
from wsbnb._types import FilePath
from wsbnb.paper.cache import source_checksum
from wsbnb.paper.report import run_papercells, summarise
from wsbnb.paper.tables import PaperCell, table2, table3

#: Trials whose mean is kept apart, so that a test can recompute it cheaply.
FIRST = 20
#: Trials behind each number that the paper prints.
HUNDRED = 100
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
        With trials and a seed of their own. Default: all 160.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Columns table, scenario, algorithm, prior_mean_norm, dimension, mean, std,
        trials, se, first20 (mean over the first 20 trials), std_low and std_high (where
        the standard deviation of 100 of these trials lies in 95 % of the draws), mean_i
        and std_i of each full hundred of trials, seed, version and sources (start of
        the checksum of the code that decides the numbers).

    Examples
    --------
    >>> from wsbnb.paper import long_run, table3
    >>> cells = table3([2], ["abrupt"], [10], trials=2, horizon=40)
    >>> long_run(cells=cells, cache=False)["table"].tolist()
    [3, 3, 3]
    """
    from wsbnb import __version__  # late: the package may still be loading

    common = {
        "trials": _validate.integer("trials", trials),
        "seed": _validate.seed("seed", seed),
    }
    if cells is None:
        cells = table2(**common) + table3(**common)
    cells = _validate.instances("cells", cells, PaperCell)
    results = run_papercells(cells, **options)
    finals = {c: results[c].final(c.algorithm) for c in cells}
    frame = summarise(cells, results)
    if "prior_mean_norm" not in frame:
        frame.insert(2, "prior_mean_norm", 0)
    frame.insert(0, "table", [3 if c.prior_mean_norm else 2 for c in cells])
    frame["first20"] = [finals[c][:FIRST].mean() for c in cells]
    ranges = [_std_of_hundred(finals[c]) for c in cells]
    frame["std_low"], frame["std_high"] = zip(*ranges, strict=True)
    for i in range(min(map(len, finals.values())) // HUNDRED):
        part = [finals[c][i * HUNDRED : (i + 1) * HUNDRED] for c in cells]
        frame[f"mean_{i + 1}"] = [values.mean() for values in part]
        frame[f"std_{i + 1}"] = [values.std(ddof=1) for values in part]
    frame["seed"] = [c.seed for c in cells]
    frame["version"] = __version__
    frame["sources"] = source_checksum()[:12]
    return frame


def _std_of_hundred(finals, draws=4000):
    """Quantiles of the standard deviation that a table of 100 trials would print."""
    picks = np.random.default_rng(0).integers(0, len(finals), (draws, HUNDRED))
    return np.quantile(finals[picks].std(axis=1, ddof=1), [0.025, 0.975])


def record(path: FilePath, **options: Any) -> None:
    """Write :func:`wsbnb.paper.long_run` to a CSV file.

    Parameters
    ----------
    path : path-like
    **options
        As in :func:`wsbnb.paper.long_run`.
    """
    replace_file(path, long_run(**options).to_csv(index=False).encode())


def recorded(table: int | None = None, hundred: int | None = None) -> pd.DataFrame:
    """The long run that is kept with the package.

    Parameters
    ----------
    table : {2, 3}, optional
        Only this table, with the columns that :func:`compare` takes.
    hundred : int, optional
        Mean, std, trials and se of one hundred of the trials (1 to 10): a run as large
        as the paper's, independent of the other nine.

    Returns
    -------
    DataFrame
        As from :func:`wsbnb.paper.long_run`.

    Examples
    --------
    >>> len(recorded(2)), int(recorded()["trials"].min())
    (70, 1000)
    """
    file = resources.files("wsbnb.paper") / "data" / FILE
    with file.open(encoding="utf-8") as handle:
        frame = pd.read_csv(handle)
    if hundred is not None:
        i = _validate.integer("hundred", hundred)
        _validate.choice("hundred", i, range(1, 11))
        frame["mean"], frame["std"] = frame[f"mean_{i}"], frame[f"std_{i}"]
        frame["trials"], frame["se"] = HUNDRED, frame["std"] / HUNDRED**0.5
    if table is None:
        return frame
    _validate.choice("table", table, (2, 3))
    frame = frame[frame["table"] == table].drop(columns="table")
    frame = frame.reset_index(drop=True)
    return frame.drop(columns="prior_mean_norm") if table == 2 else frame
