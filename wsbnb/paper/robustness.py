"""Beyond the paper: wrong discounts, other noise, other arms, long runs, baselines."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from wsbnb import _validate
from wsbnb._tables import checked_frame
from wsbnb._types import Scenario
from wsbnb.paper.algorithms import ALGORITHMS, TABLE
from wsbnb.paper.report import moments
from wsbnb.paper.running import run_cells
from wsbnb.paper.settings import (
    LONGEST,
    MOVES,
    NOISES,
    Cell,
    Player,
    Setting,
    dimensions,
    numbers,
    words,
)
from wsbnb.paper.studies import study

FACTORS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)


def study_discount(
    trials: int = 20,
    dims: Sequence[int] = (2, 6),
    seed: int = 0,
    scenario: Scenario = "abrupt",
    factors: Sequence[float] = FACTORS,
    algorithms: Sequence[str] = ALGORITHMS,
    **options: Any,
) -> pd.DataFrame:
    """Regret when the discount is computed from a wrong variation.

    Parameters
    ----------
    trials, seed : int
    dims : sequence of int
    scenario : {"abrupt", "slow"}
    factors : sequence of float
        The algorithms believe in this multiple of the exact :math:`B_T`. Must hold 1.
    algorithms : sequence of str
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Per dimension, algorithm and factor: mean, and the paired difference to the
        same algorithm with the exact value.

    Examples
    --------
    >>> frame = study_discount(trials=2, dims=[2], algorithms=["D-LinTS"], cache=False)
    >>> frame["factor"].tolist()
    [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    """
    factors = numbers("factors", factors)
    _must_hold("factors", factors, 1)
    dims, algorithms = dimensions(dims), words("algorithms", algorithms, TABLE)
    cells = {
        (d, name, factor): Cell(
            Setting(scenario, d), Player(name, variation_factor=factor)
        )
        for d in dims
        for name in algorithms
        for factor in factors
    }
    columns = ("dimension", "algorithm", "factor")
    return study(cells, columns, lambda k: (*k[:2], 1.0), trials, seed, **options)


def study_noise_level(
    trials: int = 20,
    dims: Sequence[int] = (2, 6),
    seed: int = 0,
    scenario: Scenario = "abrupt",
    variances: Sequence[float] = (0.01, 0.05, 0.15, 0.5, 1.0),
    beliefs: Sequence[float] = (0.5, 1.0, 2.0),
    algorithms: Sequence[str] = ALGORITHMS,
    **options: Any,
) -> pd.DataFrame:
    r"""Regret under other noise variances, and under a wrong belief about them.

    Parameters
    ----------
    trials, seed, dims, scenario, algorithms
        As in :func:`study_discount`.
    variances : sequence of float
        True noise variances; the algorithms know them.
    beliefs : sequence of float
        At the paper's variance 0.15 the algorithms believe in this multiple of
        :math:`\sigma`. Must hold 1.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Per dimension, noise_variance, belief and algorithm: mean, and the paired
        difference to D-LinTS or the first algorithm in the same world.

    Examples
    --------
    >>> frame = study_noise_level(
    ...     trials=2, dims=[2], algorithms=["D-LinTS"], cache=False
    ... )
    >>> bool(frame["mean"].iloc[0] < frame["mean"].iloc[4])  # less noise, less regret
    True
    """
    beliefs, variances = numbers("beliefs", beliefs), numbers("variances", variances)
    _must_hold("beliefs", beliefs, 1)
    dims, algorithms = dimensions(dims), words("algorithms", algorithms, TABLE)
    cases = [(v, 1.0) for v in variances]
    cases += [(0.15, b) for b in beliefs if (0.15, b) not in cases]
    cells = {
        (d, v, b, name): Cell(
            Setting(scenario, d, noise_variance=v), Player(name, noise_factor=b)
        )
        for d in dims
        for v, b in cases
        for name in algorithms
    }
    columns = ("dimension", "noise_variance", "belief", "algorithm")
    base = _reference(algorithms)
    return study(cells, columns, lambda k: (*k[:3], base), trials, seed, **options)


def study_arms(
    trials: int = 10,
    dims: Sequence[int] = (2, 6),
    seed: int = 0,
    scenario: Scenario = "abrupt",
    counts: Sequence[int] = (4, 16, 48, 192),
    algorithms: Sequence[str] = ALGORITHMS,
    **options: Any,
) -> pd.DataFrame:
    """Regret with other numbers of arms, fixed or redrawn in every round.

    Parameters
    ----------
    trials, seed, dims, scenario, algorithms
        As in :func:`study_discount`.
    counts : sequence of int
        Numbers of arms K.
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Per dimension, arms ("fixed", "redrawn"), n_arms and algorithm: mean, and the
        paired difference to D-LinTS or the first algorithm in the same world.

    Examples
    --------
    >>> frame = study_arms(trials=2, dims=[2], algorithms=["D-LinTS"], cache=False)
    >>> frame["n_arms"].tolist()
    [4, 16, 48, 192, 4, 16, 48, 192]
    """
    counts = numbers("counts", counts, _validate.integer)
    dims, algorithms = dimensions(dims), words("algorithms", algorithms, TABLE)
    cells = {
        (d, arms, count, name): Cell(
            Setting(scenario, d, n_arms=count, arms=arms), Player(name)
        )
        for d in dims
        for arms in ("fixed", "redrawn")
        for count in counts
        for name in algorithms
    }
    columns = ("dimension", "arms", "n_arms", "algorithm")
    base = _reference(algorithms)
    return study(cells, columns, lambda k: (*k[:3], base), trials, seed, **options)


def study_noise_law(
    trials: int = 30,
    dims: Sequence[int] = (2, 6),
    seed: int = 0,
    scenario: Scenario = "abrupt",
    laws: Sequence[str] = ("gaussian", "uniform", "rademacher", "heavy"),
    algorithms: Sequence[str] = ALGORITHMS,
    **options: Any,
) -> pd.DataFrame:
    """Regret under noise that is not Gaussian, with the same variance.

    The worlds of different laws share path and arms, so the difference to Gaussian
    noise is paired too, though the noise itself is drawn anew.

    Parameters
    ----------
    trials, seed, dims, scenario, algorithms
        As in :func:`study_discount`.
    laws : sequence of {"gaussian", "uniform", "rademacher", "heavy"}
        Must hold "gaussian".
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Per dimension, noise and algorithm: mean, and the difference to the same
        algorithm under Gaussian noise.

    Examples
    --------
    >>> frame = study_noise_law(trials=2, dims=[2], algorithms=["D-LinTS"], cache=False)
    >>> frame["noise"].tolist()
    ['gaussian', 'uniform', 'rademacher', 'heavy']
    """
    laws = words("laws", laws, NOISES)
    _must_hold("laws", laws, "gaussian")
    dims, algorithms = dimensions(dims), words("algorithms", algorithms, TABLE)
    cells = {
        (d, law, name): Cell(Setting(scenario, d, noise=law), Player(name))
        for d in dims
        for law in laws
        for name in algorithms
    }
    columns = ("dimension", "noise", "algorithm")

    def gaussian(key):
        return (key[0], "gaussian", key[2])

    return study(cells, columns, gaussian, trials, seed, **options)


def study_baselines(
    trials: int = 40,
    dims: Sequence[int] = (2, 6),
    seed: int = 0,
    scenarios: Sequence[str] = ("abrupt", "slow"),
    **opt: Any,
) -> pd.DataFrame:
    """The seven algorithms beside sliding window, restarts, no forgetting and oracles.

    Window and period hold as many rounds as exponential forgetting weighs in total.
    "Restart-LinUCB at the jumps" knows when the abrupt path jumps.

    Parameters
    ----------
    trials, seed : int
    dims : sequence of int
    scenarios : sequence of {"abrupt", "slow"}
        "slow" moves.
    **opt
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        Per scenario, dimension and policy: mean, and the paired difference to
        D-LinUCB.

    Examples
    --------
    >>> frame = study_baselines(trials=2, dims=[2], scenarios=["abrupt"], cache=False)
    >>> frame.set_index("policy").loc["Oracle", "mean"].round(6) + 0.0
    np.float64(0.0)
    """
    players = {name: Player(name) for name in ALGORITHMS}
    players |= {
        "SW-LinUCB": Player("SW-LinUCB"),
        "Restart-LinUCB": Player("Restart-LinUCB"),
        "Restart-LinUCB at the jumps": Player("Restart-LinUCB", length=1000),
        "LinUCB": Player("LinUCB"),
        "LinTS, a = sigma": Player("LinTS", scale_rule="sigma"),
        "Greedy, discounted": Player("Greedy"),
        "Uniform": Player("Uniform"),
        "Oracle": Player("Oracle"),
    }
    dims, scenarios = dimensions(dims), words("scenarios", scenarios, MOVES)
    cells = {
        (scenario, d, name): Cell(Setting(scenario, d), player)
        for scenario in scenarios
        for d in dims
        for name, player in players.items()
    }
    columns = ("scenario", "dimension", "policy")
    return study(cells, columns, lambda k: (*k[:2], "D-LinUCB"), trials, seed, **opt)


def study_horizon(
    trials: int = 8,
    dims: Sequence[int] = (2,),
    seed: int = 0,
    scenarios: Sequence[str] = ("abrupt", "slow"),
    horizons: Sequence[int] = (1_000, 3_000, 10_000, 30_000, 100_000),
    algorithms: Sequence[str] = ALGORITHMS,
    **options: Any,
) -> pd.DataFrame:
    """Regret against the horizon, four anchors and hence :math:`B_T` held fixed.

    Parameters
    ----------
    trials, seed : int
    dims : sequence of int
    scenarios : sequence of {"abrupt", "slow", "still"}
        "slow" moves.
    horizons : sequence of int
    algorithms : sequence of str
    **options
        cache, force, n_jobs and progress of :func:`run_cells`.

    Returns
    -------
    DataFrame
        scenario, dimension, algorithm, horizon, mean, std, se and trials; give it to
        :func:`fit_exponents`.

    Examples
    --------
    >>> frame = study_horizon(2, [2], horizons=(100, 200), cache=False)
    >>> frame["horizon"].unique().tolist()
    [100, 200]
    """
    dims, scenarios = dimensions(dims), words("scenarios", scenarios, MOVES)
    algorithms = words("algorithms", algorithms, TABLE)
    horizons = numbers("horizons", horizons, _horizon)
    cells = {
        (scenario, d, name, T): Cell(Setting(scenario, d, T), Player(name))
        for scenario in scenarios
        for d in dims
        for name in algorithms
        for T in horizons
    }
    results = run_cells(cells.values(), trials=trials, seed=seed, **options)
    columns = ("scenario", "dimension", "algorithm", "horizon")
    rows = []
    for key, cell in cells.items():
        values = results[cell].final(cell.player.algorithm)
        rows.append(dict(zip(columns, key)) | moments(values))
    return pd.DataFrame(rows)


def fit_exponents(frame: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    r"""Slopes of log mean regret on log horizon, weighted by the means' errors.

    The error of a log mean is its relative standard error. Where the points scatter
    about the line by more than that (the curve is not straight, or the errors are
    off), the slope's error is widened by the root of the reduced :math:`\chi^2`.

    Parameters
    ----------
    frame : DataFrame
        From :func:`study_horizon`, with at least three horizons.
    level : float, default 0.95

    Returns
    -------
    DataFrame
        Per scenario, dimension and algorithm: exponent, se, low, high, chi2 and dof
        of the fit, and last: the slope between the two longest horizons with last_se.

    Examples
    --------
    >>> import pandas as pd
    >>> T = [1000, 10000, 100000]
    >>> frame = pd.DataFrame(
    ...     {
    ...         "scenario": "abrupt",
    ...         "dimension": 2,
    ...         "algorithm": "A",
    ...         "horizon": T,
    ...         "mean": [t**0.75 for t in T],
    ...         "se": 1.0,
    ...     }
    ... )
    >>> fit_exponents(frame)["exponent"].round(6).tolist()
    [0.75]
    """
    _validate.probability("level", level)
    names = ["scenario", "dimension", "algorithm"], ["horizon", "mean", "se"]
    checked_frame("frame", frame, *names)
    if not (frame[names[1]] > 0.0).all(axis=None):
        raise ValueError("frame must have positive horizons, means and errors")
    rows = []
    keys = ["scenario", "dimension", "algorithm"]
    for key, part in frame.groupby(keys, sort=False):
        part = part.sort_values("horizon")
        if len(part) < 3:
            raise ValueError(
                f"frame must have at least three horizons for {key}, got {len(part)}"
            )
        fit = _weighted_line(
            np.log(part["horizon"].to_numpy(dtype=float)),
            np.log(part["mean"].to_numpy()),
            (part["se"] / part["mean"]).to_numpy(),
            level,
        )
        rows.append(dict(zip(keys, key)) | fit)
    return pd.DataFrame(rows)


def _weighted_line(x, y, error, level):
    w = 1.0 / error**2
    centred = x - np.average(x, weights=w)
    spread = (w * centred**2).sum()
    slope = (w * centred * y).sum() / spread
    left = y - np.average(y, weights=w) - slope * centred
    chi2, dof = float((w * left**2).sum()), len(x) - 2
    se = np.sqrt(max(1.0, chi2 / dof) / spread)
    half = se * stats.t.ppf(0.5 + level / 2, dof)
    last = (y[-1] - y[-2]) / (x[-1] - x[-2])
    last_se = np.hypot(error[-1], error[-2]) / (x[-1] - x[-2])
    return {
        "exponent": float(slope),
        "se": float(se),
        "low": float(slope - half),
        "high": float(slope + half),
        "chi2": chi2,
        "dof": dof,
        "last": float(last),
        "last_se": float(last_se),
    }


def _horizon(name, value):
    return _validate.integer(name, value, minimum=4, maximum=LONGEST)


def _reference(algorithms):
    return "D-LinTS" if "D-LinTS" in algorithms else algorithms[0]


def _must_hold(name, values, needed):
    if needed not in tuple(values):
        raise ValueError(f"{name} must hold {needed!r}, got {tuple(values)!r}")
