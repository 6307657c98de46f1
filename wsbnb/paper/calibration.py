"""How the calibrated protocol was found: which readings do the printed numbers allow?

Starting from the calibrated protocol one choice at a time is replaced by another that
the text would also allow. Each reading is scored on the cells that the choice can
change, by the sum of squared z values of their means and of their deviations.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from wsbnb import _validate
from wsbnb.paper.report import compare, run_papercells, summarise
from wsbnb.paper.settings import dimensions, words
from wsbnb.paper.tables import CALIBRATED, table2, table3

_QUARTERS = math.pi / 2

#: For every open choice: the readings tried, as changes of the calibrated protocol.
READINGS = {
    "anchors": {
        "consecutive orthogonal": {"anchors": "orthogonal"},
        "independent": {"anchors": "independent"},
        "on one great circle": {"anchors": "plane"},
    },
    "arms": {
        "fixed per trial": {"arms": "fixed"},
        "redrawn every round": {"arms": "redrawn"},
    },
    "lambda": {
        "1": {"regularization": 1.0},
        "0.1": {"regularization": 0.1},
        "sigma^2": {"regularization": 0.15},
        "0.5": {"regularization": 0.5},
        "2": {"regularization": 2.0},
    },
    "delta": {
        "1/T over the horizon": {"delta": None, "split": "horizon"},
        "1/T": {"delta": None, "split": "none"},
        "1/T anytime": {"delta": None, "split": "anytime"},
        "0.01 over the horizon": {"delta": 0.01, "split": "horizon"},
        "0.1 over the horizon": {"delta": 0.1, "split": "horizon"},
        "0.01": {"delta": 0.01, "split": "none"},
        "0.1": {"delta": 0.1, "split": "none"},
    },
    "perturbation": {
        "max(0, N(0, 1))": {
            "perturbation": "rectified",
            "perturbation_scale": "plain",
        },
        "max(0, N(0, sigma^2))": {
            "perturbation": "rectified",
            "perturbation_scale": "sigma",
        },
        "|N(0, 1)|": {"perturbation": "half-normal", "perturbation_scale": "plain"},
        "|N(0, sigma^2)|": {
            "perturbation": "half-normal",
            "perturbation_scale": "sigma",
        },
        "N(0, 1)": {"perturbation": "gaussian", "perturbation_scale": "plain"},
        "N(0, sigma^2)": {"perturbation": "gaussian", "perturbation_scale": "sigma"},
    },
    "slow path": {
        "still, B for 4 quarter circles": {"slow_variation": 4 * _QUARTERS},
        "still, B for 3 quarter circles": {"slow_variation": 3 * _QUARTERS},
        "still, B for 3 jumps": {"slow_variation": 3 * math.sqrt(2)},
        "moving, open tour": {"slow_path": "slow", "slow_variation": None},
        "moving, closed tour": {
            "slow_path": "slow",
            "slow_variation": None,
            "closed_tour": True,
        },
        "moving, full circle": {
            "slow_path": "slow",
            "slow_variation": None,
            "closed_tour": True,
            "anchors": "plane",
        },
    },
    "penalty": {
        "cxv": {"penalty": "cxv"},
        "triangle": {"penalty": "triangle"},
        "exact": {"penalty": "exact"},
    },
    "direction of mu0": {
        "uniform": {"prior_direction": "uniform"},
        "(1, ..., 1)": {"prior_direction": "ones"},
        "first axis": {"prior_direction": "axis"},
        "first anchor": {"prior_direction": "anchor"},
    },
}
assert all(
    replace(CALIBRATED, **next(iter(levels.values()))) == CALIBRATED
    for levels in READINGS.values()
), "the first reading of every choice is the calibrated one"


def calibration_study(
    trials: int = 15,
    dims: Sequence[int] = (2, 4, 6),
    seed: int = 0,
    factors: Sequence[str] | None = None,
    detail: bool = False,
    **options: Any,
) -> pd.DataFrame:
    r"""Score the open choices of the protocol against the printed tables.

    For a cell with our mean and deviation over n trials and the printed ones over m,
    z is that of :func:`compare`, and

    .. math:: z_s = \frac{\log(s/s_p)}{\sqrt{1/(2(n-1)) + 1/(2(m-1))}},

    which is standard normal for normal regrets (heavier tails make it wider). Both
    are summed in squares over the cells that the choice can change at all.

    Parameters
    ----------
    trials : int, default 15
    dims : sequence of int, default (2, 4, 6)
        Of the paper's: 2, 4, 6, 16, 32.
    seed : int, default 0
    factors : sequence of str, optional
        Some of the keys of ``READINGS``; default all.
    detail : bool, default False
        Return the single cells instead of the sums.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        One row per reading: factor, reading, calibrated (whether it is the one of the
        calibrated protocol), cells, chi2_mean, chi2_std, max_z, the two sums divided
        by the number of cells (about 1 where a reading fits), and p_mean and p_std,
        the chances of larger sums if the cells were independent (they are not quite:
        cells of one setting share worlds).

    Examples
    --------
    >>> study = calibration_study(trials=2, dims=[2], factors=["arms"], cache=False)
    >>> study["reading"].tolist(), study["cells"].tolist()
    (['fixed per trial', 'redrawn every round'], [32, 32])
    """
    factors = list(READINGS) if factors is None else words("factors", factors, READINGS)
    trials = _validate.integer("trials", trials, minimum=2)
    detail, dims = _validate.flag("detail", detail), dimensions(dims)
    common = {"dims": dims, "trials": trials, "seed": seed}
    readings = {
        (factor, name): _affected(factor, changes, common)
        for factor in factors
        for name, changes in READINGS[factor].items()
    }
    every = dict.fromkeys(cell for cells in readings.values() for cell in cells)
    results = run_papercells(every, **options)
    frames = []
    for (factor, name), cells in readings.items():
        frame = _compared(cells, results)
        first = name == next(iter(READINGS[factor]))
        frame.insert(0, "factor", factor)
        frame.insert(1, "reading", name)
        frame.insert(2, "calibrated", first)
        frames.append(frame)
    frame = pd.concat(frames, ignore_index=True)
    return frame if detail else _scored(frame)


def _affected(factor, changes, common):
    """The cells of both tables that some reading of a factor changes."""
    levels = [replace(CALIBRATED, **c) for c in READINGS[factor].values()]
    mine = replace(CALIBRATED, **changes)
    chosen = []
    tables = (table2, table3)
    if factor == "slow path":
        tables = (table2,)  # says enough, at half the work
        common = common | {"scenarios": ("slow",)}
    for table in tables:
        versions = [table(**common, protocol=level) for level in levels]
        own = table(**common, protocol=mine)
        for cell, *others in zip(own, *versions, strict=True):
            if any(_differs(cell, other) for other in others):
                chosen.append(cell)
    return chosen


def _differs(one, other):
    """Whether two readings make different cells, apart from what has no effect."""
    a, b = asdict(one.cell.setting), asdict(other.cell.setting)
    if a["scenario"] == b["scenario"] == "still":
        for unused in ("anchors", "closed_tour"):
            a.pop(unused), b.pop(unused)
    return a != b or one.cell.player != other.cell.player


def _compared(cells, results):
    frames = []
    for ablation in (False, True):
        part = [c for c in cells if bool(c.prior_mean_norm) == ablation]
        if part:
            frame = compare(summarise(part, results))
            frames.append(frame.assign(table=3 if ablation else 2))
    frame = pd.concat(frames, ignore_index=True)
    error = np.sqrt(0.5 / (frame["trials"] - 1) + 0.5 / 99)
    frame["z_std"] = np.log(frame["std_ratio"]) / error
    return frame


def _scored(frame):
    groups = frame.groupby(["factor", "reading", "calibrated"], sort=False)
    scores = groups.agg(
        cells=("z", "size"),
        chi2_mean=("z", lambda z: (z**2).sum()),
        chi2_std=("z_std", lambda z: (z**2).sum()),
        max_z=("z", lambda z: z.abs().max()),
    ).reset_index()
    scores["mean_per_cell"] = scores["chi2_mean"] / scores["cells"]
    scores["std_per_cell"] = scores["chi2_std"] / scores["cells"]
    scores["p_mean"] = stats.chi2.sf(scores["chi2_mean"], scores["cells"])
    scores["p_std"] = stats.chi2.sf(scores["chi2_std"], scores["cells"])
    return scores
