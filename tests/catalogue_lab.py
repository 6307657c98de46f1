"""Arguments that work for the laboratory, the data and the pictures.

They are small: a few rounds, two dimensions, one trial or two.
"""

import functools
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import wsbnb
from tests import zoo
from wsbnb import paper

#: Where the calls may write; it goes when the process ends.
FOLDER = tempfile.TemporaryDirectory()
#: How cells are run: nothing is stored.
RUN = {"cache": False, "force": False, "n_jobs": 1, "progress": False}
FEW = {"trials": 2, "dims": (2,), "seed": 0, **RUN}
ONE = {**FEW, "algorithms": ("D-LinTS",)}


@functools.cache
def cells():
    return paper.table2(dims=[2], scenarios=["abrupt"], trials=2, horizon=8)


@functools.cache
def results():
    return paper.run_papercells(cells(), **RUN)


def table():
    return _table().copy()


@functools.cache
def _table():
    return paper.summarise(cells(), results())


def comparison():
    return paper.compare(table())


def horizons():
    rows = [("abrupt", 2, "A", T, T**0.7, 1.0) for T in (10, 20, 40)]
    names = ["scenario", "dimension", "algorithm", "horizon", "mean", "se"]
    return pd.DataFrame(rows, columns=names)


def benchmark():
    """Three worlds and two policies of the record."""
    kept, worlds = _record(), ["still", "rare jumps", "slow drift"]
    policies = ["WSB-LinTS", "D-LinUCB"]

    def some(frame):
        mine = frame["world"].isin(worlds) & frame["policy"].isin(policies)
        return frame[mine].reset_index(drop=True)

    return paper.Benchmark(some(kept.tuning), some(kept.scores))


@functools.cache
def _record():
    return paper.recorded_benchmark()


@functools.cache
def written_benchmark():
    folder = Path(FOLDER.name) / "benchmark"
    benchmark().write(folder)
    return folder


@functools.cache
def written_policy():
    path = Path(FOLDER.name) / "policy.json"
    zoo.make("WSBLinTS", 3).save(path)
    return path


def axes():
    """Always the same picture, wiped."""
    if not plt.fignum_exists("calls"):
        plt.figure("calls", figsize=(2, 2))
    figure = plt.figure("calls")
    figure.clear()
    return figure.subplots()


def curves():
    regret = np.cumsum(np.ones((2, 2, 3)), axis=2)
    rounds = np.arange(1, 4)
    return wsbnb.Results(regret, ["A", "B"], np.arange(2), rounds).curves


def intervals():
    row = {"policy": ["WSB-LinTS"], "difference": [-3.0], "low": [-5.0]}
    return pd.DataFrame({**row, "high": [-1.0]})


def posterior():
    prior = dict(prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5)
    return wsbnb.WSBPosterior(**prior, discount=0.99)


CELL = paper.Cell(paper.Setting("abrupt", 2, horizon=8), paper.Player("WSB-LinTS"))
X = np.linspace(0.0, 1.0, 5)
WORDS = {"title": "Powers", "caption": "They bend.", "xlabel": "x", "ylabel": "y"}
SLIDE = {**WORDS, "slider_label": "exponent", "start": 0}
PATH = {"rounds": (1, 2), "ax": axes}

#: What differs for one name, as in `catalogue.SPECIAL`.
SPECIAL = {
    "Results": {
        "regret": lambda: np.cumsum(np.ones((2, 2, 3)), axis=2),
        "policies": lambda: ["A", "B"],
        "trials": lambda: np.arange(2),
        "rounds": lambda: np.arange(1, 4),
        "arms": None,
    },
    "LogFit": {
        "noise_std": 0.4,
        "scores": lambda: pd.DataFrame({"flat": [True], "memory": [9.0]}),
        "check": dict,
        "feature_names": None,
    },
    "load": {"path": written_policy, "rng": None},
    "compile": {"policies": lambda: zoo.make("WSBLinTS", 3)},
    "bounds.ErrorParts": {
        **dict.fromkeys(("drift", "noise", "prior"), lambda: np.ones(3)),
        "precision": lambda: np.eye(3),
    },
    "bounds.ExplorationConstants": dict.fromkeys(
        ("c1", "c2", "scale", "p1", "p2", "p3"), 0.5
    ),
    "bounds.RegretBound": {"drift": 1.0, "variance": 2.0, "failure": 0.0},
    "environments.Block": {
        "start": 0,
        "theta": lambda: np.zeros((4, 2)),
        "arms": lambda: np.zeros((3, 2)),
        "noise": lambda: np.zeros(4),
    },
    "weights.RandomWalk": {"rate": 0.1},
    "datasets.open_bandit": {"campaign": "men", "policy": "bts"},
    "datasets.rainfall": {"columns": "natural", "clip": 4.0, "shuffle": None},
    "datasets.trump_approval": {"features": "pollster", "shuffle": None},
    # -- pictures
    "plotting.arm_choices": {**PATH, "arms": (0, 1), "n_arms": 2, "best": (1, 1)},
    "plotting.ellipse": {"mean": (0, 0), "cov": (1, 2), "radius": 1.0, "ax": axes},
    "plotting.interval_plot": {"frame": intervals, "ax": axes, "xlabel": "gain"},
    "plotting.marginals": {
        "posterior": posterior,
        "ax": axes,
        "truth": (0.0, 1.0),
        "names": ("a", "b"),
        "width": 2.0,
    },
    "plotting.policy_name": {"policy": "WSBLinTS"},
    "plotting.policy_style": {"policy": "WSBLinTS"},
    "plotting.posterior_path": {
        **PATH,
        "mean": ((0.0,), (0.5,)),
        "std": ((1.0,), (0.7,)),
        "truth": ((0.6,), (0.6,)),
        "width": 2.0,
        "names": ("a",),
    },
    "plotting.radius_anatomy": {**PATH, "parts": lambda: {"noise": [1.0, 2.0]}},
    "plotting.regret_curves": {
        "curves": curves,
        "ax": axes,
        "band": "ci",
        "change_points": (2,),
        "styles": lambda: {"A": {"color": "red"}},
    },
    "plotting.styled_table": {
        "frame": intervals,
        "caption": "Gains",
        "precision": 1,
        "best": "min",
    },
    "plotting.tidy_curves": {"runs": lambda: {"mine": [[0.5, 0.7]]}},
    "interactive.SliderFigure": {"html": "<p>", "labels": ("1", "2")},
    "interactive.StillFigure": {"html": "<p>", "title": "Powers"},
    "interactive.curve_slider": {
        **SLIDE,
        "x": lambda: X.copy(),
        "curves_by_label": lambda: {"1": X, "2": X**2},
        "fixed": lambda: {"one": np.ones(5)},
    },
    "interactive.drawn_guess": {
        "x": lambda: X.copy(),
        "curve": lambda: {"square": X**2},
        "question": "Draw it.",
        "answer": "It bends.",
        "xlabel": "x",
        "ylabel": "y",
        "given": lambda: {"line": X},
    },
    "interactive.glue": {"name": "answer", "value": 42},
    "interactive.slider_figure": {
        **SLIDE,
        "frames": lambda: [{"power": (X, X)}, {"power": (X, X**2)}],
        "labels": ("1", "2"),
        "fixed": lambda: {"one": (X, np.ones(5))},
        "equal": False,
        "view": ((0.0, 1.0), (0.0, 2.0)),
    },
    "interactive.still_figure": {
        **WORDS,
        "lines": lambda: {"power": (X, X**2)},
        "fixed": lambda: {"one": (X, np.ones(5))},
        "equal": False,
    },
    # -- the laboratory
    "paper.Algorithm": {
        "name": "mine",
        "cls": lambda: wsbnb.WSBLinTS,
        "estimator": "WSB",
        "explores": "ts",
        "tuning": "thompson",
        "colour": "#000000",
        "line": "-",
        "marker": ".",
    },
    "paper.Benchmark": {
        "tuning": lambda: benchmark().tuning,
        "scores": lambda: benchmark().scores,
    },
    "paper.BenchmarkWorld": {"name": "mine", "why": "to see", "kind": "still"},
    "paper.Cache": {"folder": FOLDER.name},
    "paper.Contender": {
        "name": "mine",
        "build": lambda: lambda known, scale, memory: zoo.make("WSBLinTS"),
        "scales": (1.0,),
        "memories": (np.inf,),
        "note": "",
        "slow": False,
    },
    "paper.Known": {"n_arms": 4, "prior_cov": 1.0},
    "paper.agreement": {"comparison": comparison},
    "paper.benchmark_report": {"benchmark": benchmark},
    "paper.bootstrap_std_ratio": {
        "finals": lambda: np.arange(9.0),
        "paper_std": 2.0,
        "paper_trials": 9,
        "rng": 0,
        "n": 20,
    },
    "paper.cache_folder": {"folder": FOLDER.name},
    "paper.calibration_study": {**FEW, "factors": ("penalty",), "detail": False},
    "paper.changed": {"cell": CELL, "dim": 4, "scale": 2.0},
    "paper.compare": {"table": table, "printed": None, "paper_trials": 100},
    "paper.fit_exponents": {"frame": horizons, "level": 0.9},
    "paper.guide_rows": {"benchmark": benchmark},
    "paper.honest_claims": FEW,
    "paper.honest_slow": {**FEW, "closed_tour": False},
    "paper.long_run": {"trials": 2, "seed": 0, "cells": cells, **RUN},
    "paper.read_benchmark": {"folder": written_benchmark},
    "paper.run_benchmark": {
        "worlds": ("two features",),
        "policies": ("LinTS",),
        "quick": True,
        "cache": False,
        "n_jobs": 1,
        "progress": False,
    },
    "paper.run_cells": {"cells": (CELL,), "trials": 2, "seed": 0, **RUN},
    "paper.run_papercells": {"cells": cells, **RUN},
    "paper.run_table": {"cells": cells, **RUN},
    "paper.study": {
        "cells": lambda: {("a",): CELL},
        "columns": ("policy",),
        "baseline": lambda: lambda key: ("a",),
        "trials": 2,
        "seed": 0,
        **RUN,
    },
    "paper.study_arms": {**ONE, "counts": (4,)},
    "paper.study_baselines": {**FEW, "scenarios": ("abrupt",)},
    "paper.study_discount": {**ONE, "factors": (1.0, 2.0)},
    "paper.study_horizon": {**ONE, "scenarios": ("abrupt",), "horizons": (10, 20)},
    "paper.study_matched_scale": FEW,
    "paper.study_noise_law": {**ONE, "laws": ("gaussian", "heavy")},
    "paper.study_noise_level": {**ONE, "variances": (0.2,), "beliefs": (1.0,)},
    "paper.study_ucb_variants": {**FEW, "prior_mean_norm": 0.0},
    "paper.summarise": {"cells": cells, "results": results},
    "paper.text_report": {"comparison": comparison},
    "paper.text_table": {"table": table},
}
#: They take a tenth of a second and more: one in twenty of the calls they would get.
SLOW = {
    *(name for name in SPECIAL if name.startswith(("paper.study_", "paper.honest"))),
    *(f"datasets.{name}" for name in ("open_bandit", "rainfall", "trump_approval")),
    "paper.calibration_study",
    "paper.run_benchmark",
    "paper.guide_rows",
    "paper.benchmark_report",
}


def objects():
    """Things with methods."""
    return {
        "logistic posterior": wsbnb.LogisticPosterior(
            prior_mean=np.zeros(3), prior_cov=1.0, discount=0.9
        ),
        "setting": CELL.setting,
        "player": CELL.player,
        "cell": CELL,
        "cache": paper.Cache(Path(FOLDER.name) / "cells"),
        "contender": paper.CONTENDERS["LinTS"],
        "benchmark world": paper.WORLDS["two features"],
        "benchmark": benchmark(),
    }


#: What the methods of one object take, where it differs from `catalogue.METHODS`.
OF_OBJECTS = {
    "logistic posterior": {"reward": 1, "rewards": (0, 1, 1, 0)},
    "player": {"world": lambda: CELL.setting.environment().world(0)},
    "cell": {"environment": lambda: CELL.setting.environment()},
    "cache": {
        "cell": CELL,
        "result": lambda: paper.run_cells([CELL], trials=2, **RUN)[CELL],
    },
    "benchmark world": {
        "world": lambda: paper.WORLDS["two features"].environment.world(0)
    },
    "contender": {"coarse": True},
    "benchmark": {
        "world": "still",
        "worlds": ("still",),
        "policy": "WSB-LinTS",
        "footing": "tuned",
        "to": "tuned",
        "draws": 9,
        "factors": (1.0, 2.0),
        "folder": Path(FOLDER.name) / "written",
        "other": benchmark,
    },
}

mpl.use("agg")
