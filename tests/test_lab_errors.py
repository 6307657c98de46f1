"""What the laboratory, the data and the pictures refuse, and by which name."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import wsbnb
from tests import catalogue
from tests import catalogue_lab as lab
from wsbnb import interactive, paper, plotting

SETTING = dict(scenario="abrupt", dim=2)
X = np.linspace(0.0, 1.0, 5)
RADIUS = dict(noise_std=0.4, arm_bound=1.0, delta=0.05, squared_weight_sum=4.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario": "quick"},
        {"dim": 0},
        {"dim": 2.5},
        {"horizon": 10**12},
        {"horizon": "long"},
        {"n_arms": -1},
        {"noise_variance": -0.1},
        {"noise_variance": np.nan},
        {"noise": "loud"},
        {"anchors": "random"},
        {"arms": ["fixed"]},
        {"closed_tour": 1},
    ],
    ids=str,
)
def test_settings(changes):
    (name,) = changes
    with pytest.raises((ValueError, TypeError), match=f"{name} must"):
        paper.Setting(**{**SETTING, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithm": "LinQ"},
        {"variation": -1.0},
        {"variation_factor": 0.0},
        {"regularization": 0.0},
        {"prior_scale": np.inf},
        {"prior_mean_norm": -1.0},
        {"prior_direction": "up"},
        {"delta": 1.0},
        {"split": "evenly"},
        {"radius": "round"},
        {"penalty": None},
        {"radius_scale": -0.5},
        {"perturbation": "laplace"},
        {"scale": np.nan},
        {"scale_rule": "double"},
        {"noise_factor": 0.0},
        {"length": 0.5},
    ],
    ids=str,
)
def test_players(changes):
    (name,) = changes
    with pytest.raises((ValueError, TypeError), match=f"{name} must"):
        paper.Player(**{"algorithm": "WSB-LinUCB", **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"name": 3},
        {"slow_path": "abrupt"},
        {"slow_variation": -1.0},
        {"anchors": "x"},
        {"arms": "x"},
        {"closed_tour": "no"},
        {"regularization": -1.0},
        {"delta": 2.0},
        {"split": "x"},
        {"penalty": "x"},
        {"perturbation": "x"},
        {"perturbation_scale": "x"},
        {"prior_direction": "x"},
    ],
    ids=str,
)
def test_protocols(changes):
    (name,) = changes
    with pytest.raises((ValueError, TypeError), match=f"{name} must"):
        paper.Protocol(**{"name": "own", **changes})


def test_what_is_made_is_a_key():
    """Numbers in arrays become numbers: an array has no hash."""
    setting = paper.Setting(**SETTING, noise_variance=np.array(0.3))
    player = paper.Player("WSB-LinTS", scale=np.array(2.0), prior_mean_norm=1)
    cell = paper.Cell(setting, player)
    assert {cell: 1}[dataclasses.replace(cell)] == 1
    assert type(setting.noise_variance) is type(player.scale) is float
    assert {paper.PaperCell("abrupt", "D-LinTS", 2, np.array(1.0)): 1}
    for pair in ((player, player), (setting, setting)):
        with pytest.raises(TypeError, match="must be a (Setting|Player), got"):
            paper.Cell(*pair)


def frame(**changes):
    return lab.table().assign(**changes)


CASES = {
    "cells, a number": (lambda: paper.run_cells(3), "cells must be a list of Cell"),
    "cells of the paper": (lambda: paper.run_cells(lab.cells()), "cells must be a Ce"),
    "too many trials": (
        lambda: paper.run_cells([lab.CELL], trials=2**31),
        "trials must be small enough",
    ),
    "cache": (lambda: paper.run_cells([lab.CELL], cache=7), "cache must be a string"),
    "cache, no name": (
        lambda: paper.run_cells([lab.CELL], cache="a\0b"),
        "cache must be the name of a file",
    ),
    "force": (lambda: paper.run_cells([lab.CELL], force="yes"), "force must be True"),
    "n_jobs": (lambda: paper.run_cells([lab.CELL], n_jobs=0), "n_jobs must not be 0"),
    "no table": (lambda: paper.compare([1, 2]), "table must be a pandas DataFrame"),
    "no column": (
        lambda: paper.compare(frame().drop(columns="se")),
        "table needs the columns .* missing se",
    ),
    "words": (lambda: paper.compare(frame(mean="x")), "numbers in the column mean"),
    "no printed table": (
        lambda: paper.compare(frame(), printed=3),
        "printed must be a pandas DataFrame",
    ),
    "z": (lambda: paper.agreement(pd.DataFrame({"z": [1]})), "missing f_pvalue"),
    "report": (lambda: paper.text_report(frame()), "comparison needs the columns z"),
    "text": (lambda: paper.text_table(frame(std="x")), "numbers in the column std"),
    "missing cell": (
        lambda: paper.summarise(lab.cells(), {}),
        "results must hold every cell",
    ),
    "no results": (lambda: paper.summarise(lab.cells(), 3), "results must map cells"),
    "no spread": (
        lambda: paper.bootstrap_std_ratio(np.ones(9), 1.0),
        "finals must have a spread",
    ),
    "draws": (
        lambda: paper.bootstrap_std_ratio(np.arange(9.0), 1.0, n=2**40),
        "n must be small enough",
    ),
    "no error": (
        lambda: paper.fit_exponents(lab.horizons().assign(se=0.0)),
        "frame must have positive horizons, means and errors",
    ),
    "labels": (
        lambda: paper.study({("a",): lab.CELL}, ("a", "b"), lambda key: key, 1, 0),
        "columns must name each part of a label",
    ),
    "baseline": (
        lambda: paper.study({("a",): lab.CELL}, ("a",), lambda key: ("b",), 1, 0),
        "baseline must lead to a label",
    ),
    "no function": (
        lambda: paper.study({("a",): lab.CELL}, ("a",), "b", 1, 0),
        "baseline must be a function",
    ),
    "dims": (lambda: paper.study_discount(dims=[1]), "dims must be at least 2"),
    "algorithms": (
        lambda: paper.study_arms(algorithms=["LinQ"]),
        "algorithms must be one of",
    ),
    "no algorithms": (
        lambda: paper.study_arms(algorithms=[]),
        "algorithms must hold at least one",
    ),
    "laws": (lambda: paper.study_noise_law(laws=["heavy"]), "laws must hold 'gauss"),
    "counts": (lambda: paper.study_arms(counts=[2.5]), "counts must be a whole"),
    "horizons": (
        lambda: paper.study_horizon(horizons=[10**12]),
        "horizons must be at most",
    ),
    "scenario": (lambda: paper.study_matched_scale(scenario=1), "scenario must be one"),
    "worlds": (lambda: paper.run_benchmark(["moon"]), "worlds must be one of"),
    "world": (
        lambda: lab.benchmark().finals("moon"),
        "world must be one of 'rare jumps'",
    ),
    "footing": (lambda: lab.benchmark().ratios(to="x"), "to must be one of 'theory'"),
    "policy": (lambda: lab.benchmark().transfer("x"), "policy must be one of"),
    "other": (lambda: lab.benchmark().with_rows_of(3), "other must be a Benchmark"),
    "scores": (
        lambda: paper.Benchmark(lab.benchmark().tuning, pd.DataFrame()),
        "scores needs the columns",
    ),
    "nobody to recommend": (
        lambda: paper.guide_rows(
            paper.Benchmark(
                lab.benchmark().tuning.assign(policy="x"),
                lab.benchmark().scores.assign(policy="x"),
            )
        ),
        "benchmark must hold some of",
    ),
    "scales": (
        lambda: paper.Contender("mine", print, scales=()),
        "scales must hold at least one",
    ),
    "build": (lambda: paper.Contender("mine", 3), "build must be a function"),
    "Regrets": (
        lambda: wsbnb.Results(np.ones((2, 1, 3)), ["A"], [0], [1, 2, 3]),
        r"regret must have shape \(trials, policies, rounds\) = \(1, 1, 3\)",
    ),
    "unequal rows": (
        lambda: wsbnb.Results([[[1.0]], [[1.0, 2.0]]], ["A"], [0, 1], [1]),
        "regret must have shape .* got rows of unequal length",
    ),
    "NaN": (
        lambda: wsbnb.Results(np.full((1, 1, 1), np.nan), ["A"], [0], [1]),
        "regret must be finite",
    ),
    "no rounds": (
        lambda: wsbnb.Results(np.ones((1, 1, 0)), ["A"], [0], []),
        "rounds must hold at least one number",
    ),
    "details": (
        lambda: wsbnb.Results(np.ones((1, 1, 1)), ["A"], [0], [1], details=3),
        "details must map names to arrays",
    ),
    "one name twice": (
        lambda: wsbnb.Results(np.ones((1, 2, 1)), ["A", "A"], [0], [1]),
        "policies must have different names, got",
    ),
    "a number for a name": (
        lambda: wsbnb.Results(np.ones((1, 1, 1)), [0.9], [0], [1]),
        "each name in policies must be a string, got 0.9",
    ),
    "compile": (lambda: wsbnb.compile(3), "policies must be a Policy, got 3"),
    "labels of a slider": (
        lambda: interactive.slider_figure([{"a": (X, X)}], 3, "t"),
        "labels must be a list",
    ),
    "pairs": (
        lambda: interactive.slider_figure([{"a": X}], ["1"], "t"),
        "must be a pair",
    ),
    "view": (
        lambda: interactive.slider_figure([{"a": (X, X)}], ["1"], "t", view=(1, 2, 3)),
        "view must be",
    ),
    "a curve that stays": (
        lambda: interactive.curve_slider(X, {"1": X}, "t", fixed=X),
        "fixed must map names",
    ),
    "too far": (
        lambda: interactive.still_figure({"a": ([0, 1], [-1e308, 1e308])}, "t"),
        "must span what a double holds",
    ),
    "title": (
        lambda: interactive.still_figure({"a": (X, X)}, 3),
        "title must be a string",
    ),
    "guess": (lambda: interactive.drawn_guess(X, X, "?"), "curve must map names"),
    "posterior": (lambda: plotting.marginals(3), "posterior must have mean and cov"),
    "names": (
        lambda: plotting.posterior_path([1], [[0.0]], [[1.0]], names=["a", "b"]),
        "names must have one label per coordinate",
    ),
    "styles": (
        lambda: plotting.regret_curves(lab.curves(), styles=3),
        "styles must map policies",
    ),
    "change points": (
        lambda: plotting.regret_curves(lab.curves(), change_points=["x"]),
        "change_points must be",
    ),
    "differences": (
        lambda: plotting.interval_plot(lab.intervals().assign(low="x")),
        "frame must have numbers in the column low",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refusals(case):
    call, words = CASES[case]
    with pytest.raises((ValueError, TypeError), match=words):
        call()


LOG = {
    "name": "mine",
    "arms": np.eye(3),
    "chosen": [0, 2],
    "rewards": [1.0, 0.0],
    "propensities": [0.5, 1.0],
    "source": "nowhere",
}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": 3},
        {"arms": np.eye(3)[0]},
        {"chosen": [0, 3]},
        {"chosen": [0, -1]},
        {"chosen": [0.0, 1.0]},
        {"chosen": [0]},
        {"chosen": np.ma.masked_array([0, 1], [False, True])},
        {"rewards": [np.nan, 0.0]},
        {"propensities": [0.0, 1.0]},
        {"propensities": [0.5, 1.1]},
        {"propensities": [0.5]},
        {"source": None},
    ],
    ids=str,
)
def test_logs_of_choices(changes):
    (name,) = changes
    with pytest.raises((ValueError, TypeError), match=f"{name} must"):
        wsbnb.datasets.ChoiceLog(**{**LOG, **changes})


def test_a_log_of_choices_cannot_be_written():
    rewards = np.array([1.0, 0.0])
    log = wsbnb.datasets.ChoiceLog(**{**LOG, "rewards": rewards})
    rewards[0] = 9.0  # it is a copy
    assert len(log) == 2 and log.rewards.tolist() == [1.0, 0.0]
    for array in log.log:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_benchmark_is_read_from_a_name(tmp_path):
    kept = lab.benchmark()
    kept.write(tmp_path)
    again = paper.read_benchmark(str(tmp_path))
    pd.testing.assert_frame_equal(again.means(), kept.means())
    rows = (tmp_path / "benchmark_scores.csv").read_text().splitlines(keepends=True)
    cut = rows[-1].rpartition(",")[0] + "\n"
    for text in ("a,b\n1,2\n", "".join(rows[:-1]), "".join([*rows[:-1], cut])):
        (tmp_path / "benchmark_scores.csv").write_text(text)
        with pytest.raises(ValueError, match="folder must hold what Benchmark.write"):
            paper.read_benchmark(tmp_path)
    (tmp_path / "benchmark_scores.csv").write_text("".join([*rows, rows[-1]]))
    with pytest.raises(ValueError, match="folder must hold what Benchmark.write has"):
        paper.read_benchmark(tmp_path)
    with pytest.raises(FileNotFoundError):
        paper.read_benchmark(tmp_path / "nowhere")


def test_a_long_run_says_which_seed_its_cells_have():
    cells = paper.table2([2], ["abrupt"], trials=2, horizon=8, seed=5)
    found = paper.long_run(cells=cells, **lab.RUN)
    assert (found["seed"] == 5).all() and (found["trials"] == 2).all()


def pictures(size):
    """Every kind of picture, as far as `size`, and the word it is refused by."""
    row = {"policy": ["A"], "trial": [0], "round": [1.0], "regret": [size]}
    table = {"policy": ["A"], "difference": [0.0], "low": [-size], "high": [1.0]}
    wide = wsbnb.WSBPosterior(prior_mean=[0.0], prior_cov=4.0, noise_std=1, discount=1)
    far = wsbnb.WSBPosterior(prior_mean=[size], prior_cov=1, noise_std=1, discount=1)
    one = [[1.0]]
    return [
        (lambda: plotting.regret_curves(pd.DataFrame(row)), "curves"),
        (lambda: plotting.regret_curves(lab.curves(), None, None, [-size]), "change"),
        (lambda: plotting.ellipse([0.0, size], np.eye(2)), "mean, cov and radius"),
        (lambda: plotting.ellipse([0.0, 0.0], np.eye(2), radius=size), "mean, cov"),
        (lambda: plotting.marginals(far), "posterior and width"),
        (lambda: plotting.marginals(wide, width=size), "posterior and width"),
        (lambda: plotting.marginals(wide, truth=[-size]), "truth"),
        (lambda: plotting.posterior_path([-size], one, one), "rounds"),
        (lambda: plotting.posterior_path([1], [[size]], one), "mean, std and width"),
        (lambda: plotting.posterior_path([1], one, [[4.0]], width=size), "mean, std"),
        (lambda: plotting.posterior_path([1], one, one, [[-size]]), "truth"),
        (lambda: plotting.arm_choices([size], [0], 1), "rounds"),
        (lambda: plotting.radius_anatomy([1], {"a": [size]}), r"parts\['a'\]"),
        (lambda: plotting.interval_plot(pd.DataFrame(table)), "frame"),
    ]


@pytest.mark.parametrize("case", range(14))
def test_no_picture_reaches_further_than_its_axes(case):
    """Matplotlib's own arithmetic overflows; a picture without a line says nothing."""
    plt.close("all")
    for size in (1.1e150, 1.7e308):
        call, word = pictures(size)[case]
        with pytest.raises(ValueError, match=f"^{word}.*reach no further than 1e.150"):
            call()
        assert not plt.get_fignums()  # refused before anything is drawn
    ax = pictures(1e149)[case][0]()
    ax.figure.canvas.draw()  # every warning is an error here
    plt.close("all")


def test_what_a_million_calls_have_found():
    """Refused already, but in NumPy's words or by the name of another argument."""
    for times in ([[1, 2], [3]], [[1, 2]] * 6):
        with pytest.raises(ValueError, match="^times must be one date, number or word"):
            dataclasses.replace(catalogue.dataset(), times=times)
    with pytest.raises(ValueError, match="^norms must be at most 1e.150, got 1e.308"):
        paper.table3(norms=[0.0, 1e308])
    assert {cell.prior_mean_norm for cell in paper.table3([2], norms=[1e150])} == {
        1e150
    }
    with pytest.raises(ValueError, match="^dim, the size of prior_cov, must be small"):
        wsbnb.noise_radius(dim=2**53, prior_cov=-1.0, **RADIUS)


def test_estimates_off_the_policy_that_no_double_holds():
    """The rewards themselves, their propensities, or one over the other."""
    rng = np.random.default_rng(0)
    X, rewards = rng.standard_normal((40, 3, 2)), rng.standard_normal(40)
    chosen, target = rng.integers(0, 3, 40), np.full((40, 3), 1.0 / 3.0)
    chances = np.full(40, 1.0 / 3.0)

    def estimate(rewards=rewards, chances=chances):
        return wsbnb.off_policy(target, X, chosen, rewards, chances, least=1)

    large, small = rewards.copy(), chances.copy()
    large[3], small[5] = -1e151, 1e-151
    with pytest.raises(ValueError, match="^rewards must be at most 1e.150, got 1e.151"):
        estimate(large)
    with pytest.raises(ValueError, match="^propensities must lie between 1e-150"):
        estimate(chances=small)
    large[3], small[3], small[5] = 1e149, 1e-2, 1.0 / 3.0
    with pytest.raises(ValueError, match="^rewards over propensities must be at most"):
        estimate(large, small)
    plain, scaled = estimate(), estimate(1e100 * rewards)
    np.testing.assert_allclose(scaled.value / 1e100, plain.value, rtol=1e-12)
