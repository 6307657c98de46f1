"""Tables of results and how they compare with the printed ones."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from wsbnb import _validate
from wsbnb._tables import checked_frame
from wsbnb._types import Seed
from wsbnb.paper.running import run_cells
from wsbnb.paper.tables import PAPER_TRIALS, PaperCell, printed_table
from wsbnb.results import Results, t_interval

#: What names a cell of a table.
_KEYS = ("scenario", "algorithm", "dimension")
#: Counted in the summary of a comparison.
LIMITS = (2.0, 2.5, 3.0, 3.5)


def run_table(cells: Iterable[PaperCell], **options: Any) -> pd.DataFrame:
    """Run cells of the paper's tables and summarise each in a row.

    Parameters
    ----------
    cells : list of PaperCell
        From :func:`table2` or :func:`table3`; all with the same trials and seed.
    **options
        cache, force, n_jobs and progress of :func:`wsbnb.paper.run_cells`.

    Returns
    -------
    DataFrame
        Columns scenario, algorithm, prior_mean_norm (in the ablation), dimension,
        mean, std, trials and se.

    Examples
    --------
    >>> from wsbnb.paper import run_table, table2
    >>> cells = table2(dims=[2], scenarios=["abrupt"], trials=2, horizon=40)
    >>> run_table(cells, cache=False).shape
    (7, 7)
    """
    return summarise(cells, run_papercells(cells, **options))


def run_papercells(
    cells: Iterable[PaperCell], **options: Any
) -> dict[PaperCell, Results]:
    """Results of the paper's cells, as :func:`wsbnb.paper.run_cells` gives them.

    Parameters
    ----------
    cells : list of PaperCell
    **options
        As in :func:`run_table`.

    Returns
    -------
    dict of PaperCell to Results

    Examples
    --------
    >>> from wsbnb.paper import run_papercells, table2
    >>> cells = table2(dims=[2], scenarios=["abrupt"], trials=2, horizon=40)
    >>> len(run_papercells(cells, cache=False))
    7
    """
    cells = _validate.instances("cells", cells, PaperCell)
    counts = {(cell.trials, cell.seed) for cell in cells}
    if len(counts) != 1:
        raise ValueError(
            "cells must be at least one and share trials and seed, got "
            f"{len(cells)} cells with (trials, seed) in {sorted(counts)}"
        )
    ((trials, seed),) = counts
    results = run_cells([c.cell for c in cells], trials=trials, seed=seed, **options)
    return {cell: results[cell.cell] for cell in cells}


def summarise(
    cells: Iterable[PaperCell], results: Mapping[PaperCell, Results]
) -> pd.DataFrame:
    """One row per cell: the paper's columns, trials and se.

    Parameters
    ----------
    cells : list of PaperCell
    results : dict of PaperCell to Results

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> from wsbnb.paper import PaperCell
    >>> cell = PaperCell("abrupt", "D-LinTS", 2)
    >>> regret = np.array([[[1.0]], [[3.0]]])
    >>> result = wsbnb.Results(regret, ["D-LinTS"], np.arange(2), np.array([9]))
    >>> summarise([cell], {cell: result})["mean"].tolist()
    [2.0]
    """
    cells = _validate.instances("cells", cells, PaperCell)
    if not isinstance(results, Mapping):
        raise TypeError(f"results must map cells to their results, got {results!r}")
    missing = [cell for cell in cells if cell not in results]
    if missing:
        raise ValueError(f"results must hold every cell, got none for {missing[0]}")
    ablation = any(cell.prior_mean_norm for cell in cells)
    rows = []
    for cell in cells:
        row = {"scenario": cell.scenario, "algorithm": cell.algorithm}
        if ablation:
            row["prior_mean_norm"] = _short_number(cell.prior_mean_norm)
        values = results[cell].final(cell.algorithm)
        row |= {"dimension": cell.dim, **moments(values)}
        rows.append(row)
    return pd.DataFrame(rows)


def moments(values: ArrayLike) -> dict[str, float]:
    """Mean, standard deviation, number and standard error, as the tables have them.

    Examples
    --------
    >>> moments([1.0, 3.0])["se"]
    1.0
    """
    row = t_interval(values)
    return {
        "mean": row["mean"],
        "std": row["se"] * row["n"] ** 0.5,
        "trials": row["n"],
        "se": row["se"],
    }


def _short_number(value):
    return int(value) if value == int(value) else value


def compare(
    table: pd.DataFrame,
    printed: pd.DataFrame | None = None,
    paper_trials: int = PAPER_TRIALS,
) -> pd.DataFrame:
    r"""Set a table beside the printed one, cell by cell.

    .. math:: z = \frac{\bar r - \bar p}{\sqrt{s^2/n + s_p^2/m}}

    with our mean, deviation and trials :math:`\bar r, s, n` and the printed
    :math:`\bar p, s_p` over m = 100 trials. The deviations are compared by the
    F test, which presumes normal regrets.

    Parameters
    ----------
    table : DataFrame
        From :func:`run_table`.
    printed : DataFrame, optional
        Default: the paper's table with the same columns.
    paper_trials : int, default 100

    Returns
    -------
    DataFrame
        The cells found in both, with paper_mean, paper_std, ratio, z, std_ratio and
        f_pvalue (two-sided).

    Examples
    --------
    >>> import pandas as pd
    >>> ours = pd.DataFrame(
    ...     {
    ...         "scenario": "abrupt",
    ...         "algorithm": "D-LinUCB",
    ...         "dimension": [2],
    ...         "mean": 460.0,
    ...         "std": 21.4,
    ...         "trials": 100,
    ...         "se": 2.14,
    ...     }
    ... )
    >>> compare(ours)[["ratio", "z", "std_ratio", "f_pvalue"]].round(3).values.tolist()
    [[1.009, 1.388, 1.0, 1.0]]
    """
    m = _validate.integer("paper_trials", paper_trials, minimum=2)
    checked_frame("table", table, _KEYS, ("mean", "std", "trials", "se"))
    if printed is None:
        printed = printed_table(3 if "prior_mean_norm" in table else 2)
    checked_frame("printed", printed, _KEYS, ("mean", "std"))
    keys = [c for c in printed.columns if c not in ("mean", "std")]
    checked_frame("table", table, keys)
    names = {"mean": "paper_mean", "std": "paper_std"}
    both = table.merge(printed.rename(columns=names), on=keys, how="inner")
    error = np.sqrt(both["se"] ** 2 + both["paper_std"] ** 2 / m)
    both["ratio"] = both["mean"] / both["paper_mean"]
    both["z"] = (both["mean"] - both["paper_mean"]) / error
    both["std_ratio"] = both["std"] / both["paper_std"]
    law = stats.f(both["trials"] - 1, m - 1)
    F = both["std_ratio"] ** 2
    both["f_pvalue"] = np.minimum(1.0, 2.0 * np.minimum(law.cdf(F), law.sf(F)))
    return both


def agreement(comparison: pd.DataFrame) -> pd.Series:
    """Counts and sums over a comparison.

    Cells of one setting share worlds, in our runs and perhaps in the paper's, so the
    z values are not independent: chi2 is a score, not the basis of an exact test.

    Parameters
    ----------
    comparison : DataFrame
        From :func:`compare`.

    Returns
    -------
    Series
        cells, how many ``|z|`` exceed 2, 2.5, 3 and 3.5, the largest of them, chi2 (sum
        of squared z), and the share of cells whose F test has p < 0.05.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"z": [0.5, -2.2, 3.1], "f_pvalue": [0.5, 0.01, 0.2]})
    >>> agreement(frame)[["|z|>2", "|z|>3", "chi2"]].round(2).tolist()
    [2.0, 1.0, 14.7]
    """
    checked_frame("comparison", comparison, (), ("z", "f_pvalue"))
    z = comparison["z"].abs()
    counts = {"cells": len(z)}
    counts |= {f"|z|>{limit:g}": int((z > limit).sum()) for limit in LIMITS}
    counts["max|z|"] = float(z.max()) if len(z) else np.nan
    counts["chi2"] = float((z**2).sum())
    counts["share F p<0.05"] = float((comparison["f_pvalue"] < 0.05).mean())
    return pd.Series(counts)


def bootstrap_std_ratio(
    finals: ArrayLike,
    paper_std: float,
    paper_trials: int = PAPER_TRIALS,
    rng: Seed = 0,
    n: int = 2000,
) -> float:
    """How far a printed deviation lies from ours, without presuming normality.

    Resamples of the size of the paper's run are drawn from our own regrets; the
    returned share says how often their deviation is at least as far from ours (in
    the logarithm) as the printed one. Small means that the two do not agree.

    Parameters
    ----------
    finals : array of shape (trials,)
    paper_std : float
    paper_trials : int, default 100
    rng : None, int, SeedSequence or Generator
    n : int, default 2000
        Resamples.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal(500)
    >>> bootstrap_std_ratio(x, 1.0) > 0.2, bootstrap_std_ratio(x, 2.0)
    (True, 0.0)
    """
    finals = _validate.vector("finals", finals)
    printed = _validate.positive("paper_std", paper_std)
    rng = _validate.generator("rng", rng)
    m = _validate.integer("paper_trials", paper_trials, minimum=2)
    size = (_validate.integer("n", n), m)
    _validate.room("n", n, size[0] * m)
    if not finals.std() > 0.0:
        raise ValueError("finals must have a spread, got equal numbers")
    drawn = rng.choice(finals, size=size).std(axis=1, ddof=1)
    # Our own deviation is uncertain too: widen the spread for a finite sample.
    widen = np.sqrt(1.0 + m / len(finals))
    centre = np.log(finals.std(ddof=1))
    with np.errstate(divide="ignore"):
        spread = np.abs(np.log(drawn) - centre) * widen
    return float(np.mean(spread >= abs(np.log(printed) - centre)))


def text_table(table: pd.DataFrame) -> str:
    """A table as text, laid out as in the paper: algorithms by dimensions.

    Parameters
    ----------
    table : DataFrame
        From :func:`run_table`.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"scenario": "abrupt", "algorithm": "D-LinTS", "dimension": 2}
    >>> table = pd.DataFrame([{**row, "mean": 375.84, "std": 19.6, "trials": 100}])
    >>> print(text_table(table))
    abrupt, 100 trials: mean ± standard deviation of the regret
                     d=2
    D-LinTS 375.8 ± 19.6
    """
    parts = []
    checked_frame("table", table, _KEYS, ("mean", "std", "trials"))
    for scenario, part in table.groupby("scenario", sort=False):
        label = part["algorithm"]
        if "prior_mean_norm" in part:
            label = label + " |mu0|=" + part["prior_mean_norm"].astype(str)
        text = [f"{m:.1f} ± {s:.1f}" for m, s in zip(part["mean"], part["std"])]
        shown = pd.DataFrame(
            {"row": label, "column": "d=" + part["dimension"].astype(str), "text": text}
        ).pivot(index="row", columns="column", values="text")
        shown = shown.loc[
            label.unique(), [f"d={d}" for d in part["dimension"].unique()]
        ]
        count = part["trials"].iloc[0]
        title = f"{scenario}, {count} trials: mean ± standard deviation of the regret"
        shown.index.name = shown.columns.name = None
        parts.append(f"{title}\n{shown.to_string()}")
    return "\n\n".join(parts)


def text_report(comparison: pd.DataFrame) -> str:
    """A comparison as text: every cell, then the counts.

    Parameters
    ----------
    comparison : DataFrame
        From :func:`compare`.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> text_report(pd.DataFrame({"z": []}))
    'The paper prints none of these cells: nothing to compare.'
    """
    checked_frame("comparison", comparison, ["z"])
    if not len(comparison):
        return "The paper prints none of these cells: nothing to compare."
    numbers = ("z", "mean", "std", "ratio", "std_ratio", "f_pvalue")
    checked_frame("comparison", comparison, _KEYS, numbers)
    if comparison["z"].isna().any():
        return "One trial has no spread: nothing to compare."
    columns = ["scenario", "algorithm", "prior_mean_norm", "dimension", "mean"]
    columns += ["paper_mean", "ratio", "z", "std", "paper_std", "std_ratio", "f_pvalue"]
    columns = [c for c in columns if c in comparison]
    formats = {"ratio": "{:.3f}", "z": "{:+.2f}", "std_ratio": "{:.2f}"}
    formats |= {"f_pvalue": "{:.3f}", "mean": "{:.1f}", "std": "{:.1f}"}
    lines = comparison[columns].to_string(
        index=False, formatters={name: f.format for name, f in formats.items()}
    )
    total = agreement(comparison)
    counts = ", ".join(f"{int(total[f'|z|>{q:g}'])} with |z| > {q:g}" for q in LIMITS)
    expected = ", ".join(
        f"{total['cells'] * 2 * stats.norm.sf(q):.1f} above {q:g}" for q in LIMITS
    )
    return (
        f"{lines}\n\n{int(total['cells'])} cells: {counts}; largest "
        f"{total['max|z|']:.2f}.\nIf only chance made a difference one would expect "
        f"{expected}.\nF test of equal variances below 0.05 in "
        f"{total['share F p<0.05']:.0%} of the cells (5 % by chance if normal)."
    )
