"""Pictures of the paper's experiments, drawn from stored results."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from wsbnb import _validate, plotting
from wsbnb._types import Band
from wsbnb.experiments import (
    DIMS,
    SCENARIOS,
    CellResult,
    Protocol,
    run_papercells,
    table2,
)


def curve_frame(results: Mapping[str, CellResult]) -> pd.DataFrame:
    """Stored curves as the frame that :func:`wsbnb.plotting.regret_curves` takes.

    Parameters
    ----------
    results : dict of str to CellResult

    Returns
    -------
    DataFrame
        Columns policy, trial, round and regret.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.experiments import CellResult
    >>> curves = np.array([[1.0, 2.0]])
    >>> result = CellResult(np.array([0]), np.array([2.0]), np.array([5, 9]), curves)
    >>> curve_frame({"mine": result}).values.tolist()
    [['mine', 0, 5, 1.0], ['mine', 0, 9, 2.0]]
    """
    frames = []
    for name, result in results.items():
        index = pd.MultiIndex.from_product(
            [result.trials, result.rounds], names=["trial", "round"]
        )
        frame = index.to_frame(index=False)
        frame.insert(0, "policy", name)
        frames.append(frame.assign(regret=result.curves.ravel().astype(float)))
    return pd.concat(frames, ignore_index=True)


def regret_figures(
    dims: Sequence[int] = DIMS,
    scenarios: Sequence[str] = SCENARIOS,
    trials: int = 100,
    seed: int = 0,
    protocol: Protocol | str = "calibrated",
    horizon: int = 4000,
    band: Band = "ci",
    **options: Any,
) -> dict[tuple[str, int], Figure]:
    """The panels of regret curves: one figure per scenario and dimension.

    Parameters
    ----------
    dims, scenarios, trials, seed, protocol, horizon
        As in :class:`wsbnb.experiments.PaperCell`.
    band : {"ci", "quantile", None}
        As in :func:`wsbnb.plotting.regret_curves`.
    **options
        cache, force, n_jobs and progress of
        :func:`wsbnb.experiments.run_cells`.

    Returns
    -------
    dict of (scenario, dim) to Figure

    Examples
    --------
    >>> figures = regret_figures([2], ["abrupt"], trials=2, horizon=40, cache=False)
    >>> list(figures)
    [('abrupt', 2)]
    """
    _validate.choice("band", band, ("ci", "quantile", None))
    common = {"trials": trials, "seed": seed, "protocol": protocol, "horizon": horizon}
    cells = table2(dims, scenarios, **common)
    results = run_papercells(cells, **options)
    figures = {}
    for scenario in scenarios:
        for dim in dims:
            part = [c for c in cells if c.scenario == scenario and c.dim == dim]
            curves = curve_frame({cell.algorithm: results[cell] for cell in part})
            figures[scenario, dim] = _panel(curves, part[0], band)
    return figures


def _panel(curves, cell, band):
    world = cell.cell.setting.environment().world(cell.seed)
    # Not through pyplot's list of open figures: ten of them would stay in memory.
    figure = plt.figure(figsize=(6.0, 4.0), layout="constrained")
    plt.close(figure)
    ax = figure.add_subplot()
    plotting.regret_curves(curves, ax, band, change_points=world.change_points)
    ax.set_title(f"{cell.scenario}, d = {cell.dim}, {cell.trials} trials")
    return figure
