"""Questions to the paper's comparison: a slow scenario that moves, equal scales, radii.

Every study returns a tidy frame. Comparisons are paired: both sides met the same
worlds, and the interval is that of the mean difference.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from wsbnb import _validate
from wsbnb._types import Scenario
from wsbnb._validate import several
from wsbnb.paper.report import compare, moments, run_papercells, summarise
from wsbnb.paper.running import run_cells
from wsbnb.paper.settings import MOVES, Cell, Player, Setting, dimensions
from wsbnb.paper.tables import CALIBRATED, DIMS, printed_table, table2
from wsbnb.results import paired_interval

#: What the text concludes from Table 2, as pairs (better, worse).
CLAIMS = (
    ("WSB-RandLinUCB", "D-RandLinUCB"),
    ("WSB-LinTS", "D-LinTS"),
    ("WSB-LinUCB", "LB-WeightUCB"),
    ("D-LinUCB", "WSB-LinUCB"),
    ("D-LinUCB", "LB-WeightUCB"),
    ("WSB-RandLinUCB", "WSB-LinTS"),
    ("WSB-LinTS", "D-LinUCB"),
    ("D-LinTS", "D-LinUCB"),
)


def study(
    cells: Mapping[Any, Cell],
    columns: Sequence[str],
    baseline: Callable[[Any], Any],
    trials: int,
    seed: int,
    **options: Any,
) -> pd.DataFrame:
    """Run labelled cells and put each beside the baseline of its setting.

    Parameters
    ----------
    cells : dict of tuple to Cell
        Keys hold one value per column.
    columns : tuple of str
    baseline : callable
        From a key to the key it is compared with.
    trials, seed : int
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        The columns, mean, std, trials and se, and those of
        :func:`wsbnb.paired_interval` (its se as diff_se).

    Examples
    --------
    >>> from wsbnb.paper import Cell, Player, Setting, study
    >>> setting = Setting("abrupt", dim=2, horizon=80)
    >>> cells = {(n,): Cell(setting, Player(n)) for n in ("LinTS", "Oracle")}
    >>> frame = study(cells, ("policy",), lambda key: ("LinTS",), 2, 0, cache=False)
    >>> frame["difference"].tolist()[0]
    0.0
    """
    columns = _check_study(cells, columns, baseline)
    results = run_cells(cells.values(), trials=trials, seed=seed, **options)
    rows = []
    for key, cell in cells.items():
        result, other = results[cell], results[cells[baseline(key)]]
        row = dict(zip(columns, key, strict=True)) | moments(_finals(result))
        rows.append(row | _against(_finals(result), _finals(other)))
    return pd.DataFrame(rows)


def _check_study(cells, columns, baseline):
    """Labels and comparisons must fit before anything is played."""
    if not isinstance(cells, Mapping):
        raise TypeError(f"cells must map labels to cells, got {cells!r}")
    columns = [_validate.text("columns", name) for name in several("columns", columns)]
    if not callable(baseline):
        raise TypeError(f"baseline must be a function of a label, got {baseline!r}")
    for key in cells:
        if not (isinstance(key, tuple) and len(key) == len(columns)):
            raise ValueError(
                f"columns must name each part of a label, got {columns} for {key!r}"
            )
        other = baseline(key)
        if not (isinstance(other, Hashable) and other in cells):
            raise ValueError(f"baseline must lead to a label of cells, got {other!r}")
    return columns


def _finals(result):
    """Final regrets of a result with one policy."""
    return result.regret[:, 0, -1]


def _against(values, baseline):
    row = paired_interval(values, baseline)
    return {("diff_se" if key == "se" else key): row[key] for key in row if key != "n"}


def honest_slow(
    trials: int = 100,
    dims: Sequence[int] = DIMS,
    seed: int = 0,
    closed_tour: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """Table 2's slow scenario with a parameter that moves.

    Everything else is as in the calibrated protocol; the discount uses the exact
    :math:`B_T` of the moving path.

    Parameters
    ----------
    trials, seed : int
    dims : sequence of int
    closed_tour : bool, default False
        Whether the path returns to the first anchor.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        As from :func:`compare`; paper_mean is the printed value, which a parameter
        that does not move reproduces.

    Examples
    --------
    >>> honest_slow(trials=2, dims=[2], cache=False)["paper_mean"].tolist()
    [440.4, 504.6, 446.3, 169.3, 130.8, 210.9, 136.6]
    """
    cells = _moving(trials, dims, seed, closed_tour)
    return compare(summarise(cells, run_papercells(cells, **options)))


def _moving(trials, dims, seed, closed_tour=False):
    _validate.flag("closed_tour", closed_tour)
    path = {"slow_path": "slow", "slow_variation": None, "closed_tour": closed_tour}
    protocol = replace(CALIBRATED, name="moving", **path)
    common = {"trials": trials, "seed": seed, "protocol": protocol}
    return table2(dims, ("slow",), **common)


def honest_claims(
    trials: int = 100, dims: Sequence[int] = DIMS, seed: int = 0, **options: Any
) -> pd.DataFrame:
    """The conclusions drawn from Table 2, checked in print, still, moving and abrupt.

    Parameters
    ----------
    trials, seed : int
    dims : sequence of int
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        One row per claim, world and dimension: better, worse, world ("abrupt",
        "still", "moving"), printed (the printed difference, better minus worse; None
        where the paper has no such world), the paired difference with its interval,
        and holds: "yes" if the interval lies below 0, "no" if above, else "open".

    Examples
    --------
    >>> claims = honest_claims(trials=2, dims=[2], cache=False)
    >>> claims["world"].unique().tolist()
    ['abrupt', 'still', 'moving']
    """
    dims = dimensions(dims)
    common = {"trials": trials, "seed": seed}
    worlds = {
        "abrupt": table2(dims, ("abrupt",), **common),
        "still": table2(dims, ("slow",), **common),
        "moving": _moving(trials, dims, seed),
    }
    every = [cell for cells in worlds.values() for cell in cells]
    results = run_papercells(every, **options)
    printed = printed_table(2).set_index(["scenario", "algorithm", "dimension"])["mean"]
    rows = []
    for better, worse in CLAIMS:
        for world, cells in worlds.items():
            found = {(c.algorithm, c.dim): _finals(results[c]) for c in cells}
            for d in dims:
                row = {"better": better, "worse": worse, "world": world}
                row |= {"dimension": d, "printed": np.nan}
                scenario = "abrupt" if world == "abrupt" else "slow"
                if world != "moving" and (scenario, better, d) in printed.index:
                    row["printed"] = (
                        printed[scenario, better, d] - printed[scenario, worse, d]
                    )
                pair = _against(found[better, d], found[worse, d])
                rows.append({**row, **pair, "holds": _verdict(pair)})
    return pd.DataFrame(rows)


def _verdict(pair):
    if pair["high"] < 0:
        return "yes"
    return "no" if pair["low"] > 0 else "open"


def _known_variation(scenario):
    """What the calibrated protocol computes the discount for, if nothing moves."""
    _validate.choice("scenario", scenario, MOVES)
    return CALIBRATED.slow_variation if scenario == "still" else None


def study_matched_scale(
    trials: int = 50,
    dims: Sequence[int] = DIMS,
    seed: int = 0,
    scenario: Scenario = "abrupt",
    **options: Any,
) -> pd.DataFrame:
    r"""What remains of the randomised comparison when both sides sample as widely.

    D-LinTS draws with covariance :math:`a^2V^{-1}\tilde VV^{-1}\approx
    a^2V^{-1}/(1+\gamma)` where data dominate, WSB-LinTS with
    :math:`\sigma^2V^{-1}`. So :math:`a=\sigma\sqrt{1+\gamma}` matches the scales.
    With also :math:`\lambda=\sigma^2` the two means are the same function of the data.

    Parameters
    ----------
    trials, seed : int
    dims : sequence of int
    scenario : {"abrupt", "slow", "still"}
        What the parameter really does; "still" computes the discount for
        :math:`2\pi`, as the calibrated protocol.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Per dimension and variant: family ("TS", "RandUCB"), variant, the mean and the
        paired difference to the WSB method at a = 1.

    Examples
    --------
    >>> frame = study_matched_scale(trials=2, dims=[2], cache=False)
    >>> len(frame), float(frame["difference"].iloc[0])
    (10, 0.0)
    """
    variation, dims = _known_variation(scenario), dimensions(dims)
    variants = {
        "WSB, a = 1": ("WSB", {}),
        "D, a = 1": ("D", {}),
        "D, matched a": ("D", {"scale_rule": "matched"}),
        "D, matched a and lambda": (
            "D",
            {"scale_rule": "matched", "regularization": 0.15},
        ),
        "WSB, a matched to D": ("WSB", {"scale_rule": "unmatched"}),
    }
    families = {"TS": "LinTS", "RandUCB": "RandLinUCB"}
    cells = {}
    for d in dims:
        for family, suffix in families.items():
            for variant, (side, changes) in variants.items():
                player = Player(f"{side}-{suffix}", variation=variation, **changes)
                cells[d, family, variant] = Cell(Setting(scenario, d), player)
    columns = ("dimension", "family", "variant")

    def wsb(key):
        return (*key[:2], "WSB, a = 1")

    return study(cells, columns, wsb, trials, seed, **options)


def study_ucb_variants(
    trials: int = 40,
    dims: Sequence[int] = (2, 6, 16),
    seed: int = 0,
    scenario: Scenario = "abrupt",
    prior_mean_norm: float = 0,
    **options: Any,
) -> pd.DataFrame:
    """WSB-LinUCB with other radii and penalties, beside the two WRLS methods.

    Parameters
    ----------
    trials, seed : int
    dims : sequence of int
    scenario : {"abrupt", "slow", "still"}
        As in :func:`study_matched_scale`.
    prior_mean_norm : float, default 0
        Norm of WSB-LinUCB's prior mean.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Per dimension and variant: the mean and the paired difference to WSB-LinUCB as
        printed (trace, cxv, delta / T).

    Examples
    --------
    >>> frame = study_ucb_variants(trials=2, dims=[2], cache=False)
    >>> frame["variant"].iloc[0], float(frame["ratio"].iloc[0])
    ('WSB-LinUCB: trace, cxv, delta/T', 1.0)
    """
    variation, dims = _known_variation(scenario), dimensions(dims)
    norm = _validate.bounded("prior_mean_norm", prior_mean_norm)
    first = "WSB-LinUCB: trace, cxv, delta/T"
    variants = {
        first: {},
        "lambda_max radius": {"radius": "lambda_max"},
        "triangle penalty": {"penalty": "triangle"},
        "exact penalty": {"penalty": "exact"},
        "delta, not split": {"split": "none"},
        "delta, anytime": {"split": "anytime"},
        "lambda_max and exact": {"radius": "lambda_max", "penalty": "exact"},
        "D-LinUCB": {"algorithm": "D-LinUCB"},
        "LB-WeightUCB": {"algorithm": "LB-WeightUCB"},
    }
    cells = {}
    for d in dims:
        for name, changes in variants.items():
            words = {"algorithm": "WSB-LinUCB", "variation": variation, **changes}
            if words["algorithm"] == "WSB-LinUCB":
                words["prior_mean_norm"] = norm
            cells[d, name] = Cell(Setting(scenario, d), Player(**words))
    columns = ("dimension", "variant")
    return study(cells, columns, lambda k: (k[0], first), trials, seed, **options)
