"""The studies: their arithmetic by hand, their cells, and what they must find."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from wsbnb import paper
from wsbnb.paper import calibration, robustness, running

PAIRED = {"difference", "diff_se", "low", "high", "wins", "ratio"}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """One store for the whole module: the studies share many cells."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WSBNB_CACHE", str(tmp_path_factory.mktemp("store")))
        yield


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
TWO = ("WSB-LinTS", "D-LinUCB")


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
