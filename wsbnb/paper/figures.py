"""Pictures of the paper's experiments, drawn from stored results."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from wsbnb import _validate, plotting
from wsbnb._types import Band
from wsbnb.paper.report import run_papercells
from wsbnb.paper.tables import DIMS, SCENARIOS, Protocol, table2


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
        As in :class:`wsbnb.paper.PaperCell`.
    band : {"ci", "quantile", None}
        As in :func:`wsbnb.plotting.regret_curves`.
    **options
        cache, force, n_jobs and progress of
        :func:`wsbnb.paper.run_cells`.

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
            curves = pd.concat([results[cell].curves for cell in part])
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
