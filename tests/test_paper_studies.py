"""The studies: their arithmetic by hand, their cells, and what they must find."""

import math
import zlib

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from wsbnb import paper
from wsbnb.paper import calibration, report, robustness, running, studies
from wsbnb.results import Results

PAIRED = {"difference", "diff_se", "low", "high", "wins", "ratio"}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """One store for the whole module: the studies share many cells."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WSBNB_CACHE", str(tmp_path_factory.mktemp("store")))
        yield


def invented(cell, trials=5):
    """Regrets that depend on the cell alone."""
    rng = np.random.default_rng(zlib.crc32(repr(cell).encode()))
    return rng.uniform(1.0, 9.0, trials)


@pytest.fixture
def invention(monkeypatch):
    """Nothing is played: what a study does with its cells can be seen."""

    def run_cells(cells, trials, seed, **options):
        assert (trials, seed) == (5, 3)
        return {
            cell: Results(
                invented(cell)[:, None, None],
                [cell.player.algorithm],
                np.arange(trials),
                np.array([9]),
            )
            for cell in cells
        }

    for module in (studies, report, robustness):
        monkeypatch.setattr(module, "run_cells", run_cells)


FIVE = {"trials": 5, "seed": 3}
TWO = ("WSB-LinTS", "D-LinUCB")


def check_rows(frame, rows, cell_of, base_of):
    """Each row is its cell against that of its baseline, by SciPy's paired test."""
    assert len(frame) == rows
    for row in frame.to_dict("records"):
        mine, other = invented(cell_of(row)), invented(base_of(row))
        assert row.get("mean", mine.mean()) == pytest.approx(mine.mean())
        assert row.get("std", mine.std(ddof=1)) == pytest.approx(mine.std(ddof=1))
        assert row["difference"] == pytest.approx(mine.mean() - other.mean())
        if mine.tolist() == other.tolist():
            assert row["ratio"] == 1.0 and row["low"] == row["high"] == 0.0
            continue
        test = stats.ttest_rel(mine, other)
        assert row["diff_se"] == pytest.approx(stats.sem(mine - other))
        limits = test.confidence_interval(0.95)
        assert (row["low"], row["high"]) == pytest.approx(tuple(limits))
        assert row["ratio"] == pytest.approx(mine.mean() / other.mean())
        assert row["wins"] == sum(mine < other) / 5


# --- paired differences -------------------------------------------------------------


def test_study_pairs_the_trials_of_one_world():
    setting = paper.Setting("abrupt", 2, horizon=300)
    pair = ("WSB-LinTS", "D-LinTS")
    cells = {(n,): paper.Cell(setting, paper.Player(n)) for n in pair}
    frame = paper.study(cells, ("policy",), lambda key: ("D-LinTS",), 6, 0)
    results = paper.run_cells(cells.values(), trials=6)
    a, b = (results[cells[n,]].final(n) for n in pair)
    row = frame.set_index("policy").loc["WSB-LinTS"]
    assert row["difference"] == pytest.approx((a - b).mean())
    assert row["diff_se"] == pytest.approx((a - b).std(ddof=1) / math.sqrt(6))
    assert row["wins"] == np.mean(a < b)
    assert (row["mean"], row["se"]) == pytest.approx((a.mean(), stats.sem(a)))
    assert frame.set_index("policy").loc["D-LinTS", "difference"] == 0


def at(row, algorithm=None, **changes):
    """The paper's abrupt setting and player, with what a row of a study changes."""
    setting = paper.Setting("abrupt", row["dimension"])
    player = paper.Player(algorithm or row["algorithm"])
    return paper.changed(paper.Cell(setting, player), **changes)


def test_wrong_discounts_are_compared_with_the_right_one(invention):
    frame = paper.study_discount(
        dims=[2, 3], factors=(0.5, 1, 4), algorithms=TWO, **FIVE
    )

    def mine(row):
        return at(row, variation_factor=row["factor"])

    check_rows(frame, 12, mine, at)


@pytest.mark.parametrize("names", [TWO, ("D-LinUCB", "D-LinTS")])
def test_noise_levels_and_beliefs_are_compared_within_a_world(names, invention):
    frame = paper.study_noise_level(
        dims=[2], variances=(0.15, 0.5), beliefs=(0.5, 1), algorithms=names, **FIVE
    )
    first = "D-LinTS" if "D-LinTS" in names else names[0]

    def mine(row, algorithm=None):
        changes = {"noise_variance": row["noise_variance"]}
        return at(row, algorithm, noise_factor=row["belief"], **changes)

    check_rows(frame, 6, mine, lambda row: mine(row, first))
    pairs = frame[["noise_variance", "belief"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [[0.15, 1.0], [0.5, 1.0], [0.15, 0.5]]


def test_arms_are_compared_within_a_world(invention):
    frame = paper.study_arms(dims=[2], counts=(4, 16), algorithms=TWO, **FIVE)

    def mine(row, algorithm=None):
        return at(row, algorithm, n_arms=row["n_arms"], arms=row["arms"])

    check_rows(frame, 8, mine, lambda row: mine(row, TWO[0]))


def test_laws_of_noise_are_compared_with_the_gaussian(invention):
    laws = ("heavy", "gaussian", "rademacher")
    frame = paper.study_noise_law(dims=[2], laws=laws, algorithms=TWO, **FIVE)
    check_rows(frame, 6, lambda row: at(row, noise=row["noise"]), at)


def test_baselines_are_compared_with_d_linucb(invention):
    frame = paper.study_baselines(dims=[2], scenarios=("abrupt", "slow"), **FIVE)
    more = {
        "Restart-LinUCB at the jumps": ("Restart-LinUCB", {"length": 1000}),
        "LinTS, a = sigma": ("LinTS", {"scale_rule": "sigma"}),
        "Greedy, discounted": ("Greedy", {}),
    }

    def mine(row):
        name, changes = more.get(row["policy"], (row["policy"], {}))
        return at(row, name, scenario=row["scenario"], **changes)

    def base(row):
        return at(row, "D-LinUCB", scenario=row["scenario"])

    check_rows(frame, 30, mine, base)


@pytest.mark.parametrize("scenario", ["abrupt", "slow", "still"])
def test_matched_scales_are_compared_with_wsb(scenario, invention):
    frame = paper.study_matched_scale(dims=[2], scenario=scenario, **FIVE)
    word = {
        "WSB, a = 1": {},
        "D, a = 1": {},
        "D, matched a": {"scale_rule": "matched"},
        "D, matched a and lambda": {"scale_rule": "matched", "regularization": 0.15},
        "WSB, a matched to D": {"scale_rule": "unmatched"},
    }
    believed = 2 * math.pi if scenario == "still" else None

    def cell(row, side, **changes):
        name = side + {"TS": "-LinTS", "RandUCB": "-RandLinUCB"}[row["family"]]
        return at(row, name, scenario=scenario, variation=believed, **changes)

    def mine(row):
        return cell(row, row["variant"].split(",")[0], **word[row["variant"]])

    check_rows(frame, 10, mine, lambda row: cell(row, "WSB"))


@pytest.mark.parametrize("norm", [0, 10])
def test_ucb_variants_are_compared_with_what_is_printed(norm, invention):
    frame = paper.study_ucb_variants(dims=[2], prior_mean_norm=norm, **FIVE)
    changes = {
        "lambda_max radius": {"radius": "lambda_max"},
        "triangle penalty": {"penalty": "triangle"},
        "exact penalty": {"penalty": "exact"},
        "delta, not split": {"split": "none"},
        "delta, anytime": {"split": "anytime"},
        "lambda_max and exact": {"radius": "lambda_max", "penalty": "exact"},
    }

    def wsb(row, **more):
        return at(row, "WSB-LinUCB", prior_mean_norm=norm, **more)

    def mine(row):
        if row["variant"] in ("D-LinUCB", "LB-WeightUCB"):
            return at(row, row["variant"])
        return wsb(row, **changes.get(row["variant"], {}))

    check_rows(frame, 9, mine, wsb)


def test_claims_subtract_the_worse_from_the_better(invention):
    frame = paper.honest_claims(dims=[2, 4], **FIVE)
    scenarios = {"abrupt": "abrupt", "still": "slow", "moving": "slow"}

    def cell(row, name):
        if row["world"] == "moving":
            protocol = paper.Protocol("moving", slow_path="slow")
        else:
            protocol = "calibrated"
        scenario = scenarios[row["world"]]
        return paper.PaperCell(scenario, name, row["dimension"], 0, protocol).cell

    def better(row):
        return cell(row, row["better"])

    check_rows(frame, 48, better, lambda row: cell(row, row["worse"]))


def test_regret_by_horizon_is_that_of_its_cells(invention):
    frame = paper.study_horizon(
        dims=[2], scenarios=["slow"], horizons=(40, 90), algorithms=TWO, **FIVE
    )
    assert frame[["algorithm", "horizon"]].to_numpy().tolist() == [
        [name, T] for name in TWO for T in (40, 90)
    ]
    for row in frame.to_dict("records"):
        values = invented(at(row, scenario="slow", horizon=row["horizon"]))
        assert row["mean"] == pytest.approx(values.mean())
        assert row["std"] == pytest.approx(values.std(ddof=1))
        assert row["se"] == pytest.approx(stats.sem(values)) and row["trials"] == 5


# --- exponents ----------------------------------------------------------------------


def points(exponent, noise=0.0, seed=0):
    T = np.array([1e3, 3e3, 1e4, 3e4, 1e5])
    rng = np.random.default_rng(seed)
    se = np.array([0.01, 0.02, 0.01, 0.03, 0.02])
    y = 2 * T**exponent * np.exp(noise * se * rng.standard_normal(5))
    return pd.DataFrame(
        {
            "scenario": "abrupt",
            "dimension": 2,
            "algorithm": "A",
            "horizon": T,
            "mean": y,
            "se": se * y,
        }
    )


def test_exponent_of_a_power_law():
    (fit,) = paper.fit_exponents(points(2 / 3)).to_dict("records")
    assert fit["exponent"] == pytest.approx(2 / 3)
    assert fit["last"] == pytest.approx(2 / 3)
    assert fit["chi2"] == pytest.approx(0, abs=1e-12)


def test_exponent_equals_an_independent_weighted_fit():
    frame = points(0.7, noise=1.0)
    x, y = np.log(frame["horizon"]), np.log(frame["mean"])
    error = frame["se"] / frame["mean"]
    best, cov = optimize.curve_fit(
        lambda x, a, b: a + b * x, x, y, sigma=error, absolute_sigma=True
    )
    (fit,) = paper.fit_exponents(frame).to_dict("records")
    left = (y - best[0] - best[1] * x) / error
    assert fit["exponent"] == pytest.approx(best[1], rel=1e-6)
    assert fit["chi2"] == pytest.approx((left**2).sum(), rel=1e-5)
    widened = math.sqrt(cov[1, 1] * max(1, fit["chi2"] / 3))
    assert fit["se"] == pytest.approx(widened, rel=1e-5)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_interval_of_the_exponent_is_students(level):
    """Three horizons leave one degree of freedom, five leave three."""
    for frame in (points(0.7, noise=3.0), points(0.7, noise=3.0).iloc[:3]):
        (fit,) = paper.fit_exponents(frame, level).to_dict("records")
        assert fit["dof"] == len(frame) - 2
        low, high = stats.t.interval(level, fit["dof"], fit["exponent"], fit["se"])
        assert (fit["low"], fit["high"]) == pytest.approx((low, high))


def test_last_slope_and_its_error_by_hand():
    """From 30 000 to 100 000 rounds; the two log means err by 0.03 and 0.02."""
    frame = points(0.7, noise=1.0)
    (fit,) = paper.fit_exponents(frame.iloc[::-1]).to_dict("records")
    a, b = frame["mean"].iloc[-2:]
    assert fit["last"] == pytest.approx(math.log(b / a) / math.log(10 / 3))
    expected = math.sqrt(0.03**2 + 0.02**2) / math.log(10 / 3)
    assert fit["last_se"] == pytest.approx(expected)


def test_error_of_the_exponent_covers():
    fits = [paper.fit_exponents(points(0.7, 1.0, seed)).iloc[0] for seed in range(300)]
    inside = np.mean([fit["low"] <= 0.7 <= fit["high"] for fit in fits])
    assert inside > 0.93


def test_exponents_need_three_horizons():
    with pytest.raises(ValueError, match="three horizons"):
        paper.fit_exponents(points(0.7).iloc[:2])


# --- calibration --------------------------------------------------------------------


def test_scores_by_hand():
    detail = pd.DataFrame(
        {
            "factor": "f",
            "reading": "r",
            "calibrated": True,
            "z": [1.0, -2.0],
            "z_std": [0.5, 0.0],
        }
    )
    (row,) = calibration._scored(detail).to_dict("records")
    assert (row["cells"], row["chi2_mean"], row["chi2_std"]) == (2, 5.0, 0.25)
    assert (row["max_z"], row["mean_per_cell"]) == (2.0, 2.5)
    assert row["p_mean"] == pytest.approx(stats.chi2(2).sf(5.0))
    assert row["std_per_cell"] == 0.125
    assert row["p_std"] == pytest.approx(stats.chi2(2).sf(0.25))


def test_each_choice_is_scored_on_the_cells_it_can_change():
    def count(factor):
        first = next(iter(paper.READINGS[factor].values()))
        return calibration._affected(factor, first, {"dims": (2,)})

    assert len(count("anchors")) == 7 + 9  # abrupt only
    assert len(count("arms")) == 14 + 18
    assert {c.algorithm for c in count("lambda")} == {
        "D-LinUCB",
        "LB-WeightUCB",
        "D-RandLinUCB",
        "D-LinTS",
    }
    assert {c.algorithm[-6:] for c in count("delta")} == {"LinUCB", "ghtUCB"}
    assert all("Rand" in c.algorithm for c in count("perturbation"))
    assert {c.scenario for c in count("slow path")} == {"slow"}
    assert {c.algorithm for c in count("penalty")} == {"WSB-LinUCB"}
    assert all(c.prior_mean_norm for c in count("direction of mu0"))


def test_calibration_prefers_fixed_arms_and_a_still_parameter():
    study = paper.calibration_study(trials=6, dims=[4], factors=["arms", "slow path"])
    score = study.set_index("reading")[["mean_per_cell", "std_per_cell"]]
    assert score.loc["fixed per trial", "mean_per_cell"] < 4
    assert score.loc["redrawn every round", "mean_per_cell"] > 20
    moving = score.loc["moving, open tour"]
    still = score.loc["still, B for 4 quarter circles"]
    assert moving["std_per_cell"] > 5 * still["std_per_cell"]


def test_deviation_score_by_hand():
    detail = paper.calibration_study(4, [2], factors=["arms"], detail=True)
    row = detail.iloc[0]
    z = math.log(row["std"] / row["paper_std"]) / math.sqrt(1 / 6 + 1 / 198)
    assert row["z_std"] == pytest.approx(z)


# --- the comparison questioned ------------------------------------------------------


def test_matched_scale_closes_the_gap():
    frame = paper.study_matched_scale(trials=12, dims=[6])
    frame = frame.set_index(["family", "variant"])["ratio"]
    assert frame["TS", "D, a = 1"] > 1.25
    assert abs(frame["TS", "D, matched a"] - 1) < 0.06
    assert frame["TS", "WSB, a matched to D"] > 1.25


def test_ucb_variants_order():
    frame = paper.study_ucb_variants(trials=16, dims=[4]).set_index("variant")
    # A smaller radius: lambda_max below trace, delta below delta / T.
    assert frame.loc["lambda_max radius", "high"] < 0
    assert frame.loc["delta, not split", "high"] < 0
    assert frame.loc["delta, anytime", "low"] > 0
    # With a prior mean of zero the two bounds of the penalty are one formula, and its
    # exact value is so near that play differs by chance only.
    assert frame.loc["triangle penalty", "difference"] == 0
    exact = frame.loc["exact penalty"]
    assert 0 < abs(exact["difference"]) < 4 * exact["diff_se"]
    first = frame.loc["WSB-LinUCB: trace, cxv, delta/T"]
    assert first["difference"] == 0 and first["mean"] > 0


def test_honest_slow_moves_and_says_so():
    frame = paper.honest_slow(trials=20, dims=[4])
    assert len(frame) == 7 and set(frame["scenario"]) == {"slow"}
    # A moving parameter does not give the printed deviations: each is far too small.
    assert (frame["std_ratio"] < 0.7).all()
    assert (frame["f_pvalue"] < 0.05).all()


def test_claims_table():
    frame = paper.honest_claims(trials=6, dims=[2])
    assert set(frame["world"]) == {"abrupt", "still", "moving"}
    assert len(frame) == 3 * len(paper.CLAIMS)
    row = frame[(frame.better == "WSB-LinTS") & (frame.worse == "D-LinTS")]
    printed = row.set_index("world")["printed"]
    assert printed["abrupt"] == pytest.approx(328.9 - 375.8)
    assert printed["still"] == pytest.approx(136.6 - 210.9)
    assert math.isnan(printed["moving"])
    verdict = np.where(frame.high < 0, "yes", np.where(frame.low > 0, "no", "open"))
    assert (frame["holds"] == verdict).all()


# --- beyond the paper ---------------------------------------------------------------

ONE = {"trials": 2, "dims": [2]}


@pytest.mark.parametrize(
    ("function", "options", "rows"),
    [
        (paper.study_discount, {"factors": (0.25, 1, 4), "algorithms": TWO}, 6),
        (paper.study_noise_level, {"variances": (0.15, 0.5), "algorithms": TWO}, 8),
        (paper.study_arms, {"counts": (4, 16), "algorithms": TWO}, 8),
        (paper.study_noise_law, {"algorithms": TWO}, 8),
        (paper.study_baselines, {"scenarios": ["abrupt"]}, 15),
    ],
)
def test_studies_return_tidy_frames(function, options, rows, monkeypatch):
    frame = function(**ONE, **options)
    assert len(frame) == rows
    assert {"mean", "std", "se", "trials"} | PAIRED <= set(frame.columns)
    assert (frame["trials"] == 2).all()
    numbers = frame.drop(columns="ratio").select_dtypes("number")
    assert np.isfinite(numbers.to_numpy()).all()
    monkeypatch.setattr(running, "simulate", None)  # the second call is stored
    pd.testing.assert_frame_equal(function(**ONE, **options), frame)


def test_wrong_variation_reaches_the_discount():
    cells = paper.Cell(paper.Setting("abrupt", 2), paper.Player("WSB-LinTS"))
    world = cells.setting.environment().world(0)
    right = 1 - cells.player.discount(world)
    wrong = 1 - paper.changed(cells, variation_factor=16.0).player.discount(world)
    assert wrong == pytest.approx(4 * right)


def test_oracle_has_no_regret_and_uniform_most():
    frame = paper.study_baselines(**ONE, scenarios=["abrupt"]).set_index("policy")
    assert frame.loc["Oracle", "mean"] == pytest.approx(0, abs=1e-9)
    assert frame["mean"].idxmax() == "Uniform"
    jumps, plain = "Restart-LinUCB at the jumps", "LinUCB"
    assert frame.loc[jumps, "mean"] < frame.loc[plain, "mean"]


def test_horizon_study():
    frame = paper.study_horizon(
        **ONE, scenarios=["abrupt"], horizons=(400, 1200, 4000), algorithms=TWO
    )
    assert len(frame) == 6
    fit = paper.fit_exponents(frame)
    assert fit["exponent"].between(0.3, 1.0).all()


def test_reference_of_a_comparison():
    assert robustness._reference(paper.ALGORITHMS) == "D-LinTS"
    assert robustness._reference(("LinUCB",)) == "LinUCB"
