"""Every method of the results by hand, with NumPy and with SciPy."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import wsbnb
from wsbnb.results import t_interval

A, B, C = [1.0, 2.0, 4.0, 9.0], [2.0, 2.0, 3.0, 5.0], [1.5, 0.5, 4.0, 3.0]
FINAL = np.array([B, A, C]).T


def results():
    """Four trials, three policies; the regret doubles between the two rounds kept."""
    regret = np.stack([FINAL / 2, FINAL], axis=2)
    return wsbnb.Results(regret, ["b", "a", "c"], np.arange(4), np.array([5, 10]))


def walk(trials=3, rounds=60, seed=0):
    """Two policies with every round on record, arms and rewards as in a replay."""
    rng = np.random.default_rng(seed)
    steps = rng.gamma(2.0, size=(trials, 2, rounds))
    return wsbnb.Results(
        np.cumsum(steps, axis=2),
        ["a", "b"],
        np.arange(trials),
        np.arange(1, rounds + 1),
        arms=rng.integers(3, size=steps.shape),
        details={"radius": rng.random(steps.shape)},
        best_reward=np.cumsum(rng.gamma(4.0, size=rounds)),
    )


# --- numbers and tables -------------------------------------------------------------


def test_one_policy_at_a_time():
    one = results()
    assert one.final("a").tolist() == A and one.final("c").tolist() == C
    assert one.of("a").tolist() == [[v / 2, v] for v in A]
    for method in (one.of, one.final):
        with pytest.raises(ValueError, match="policy must be one of 'b', 'a', 'c'"):
            method("d")


def test_numbers_of_one_policy_are_a_copy():
    one = results()
    for numbers in (one.of("a"), one.final("a")):
        numbers -= 100.0
    assert one.final("a").tolist() == A


def test_final_table():
    table = results().final_table()
    assert list(table.columns) == ["b", "a", "c"]  # the order given
    assert table.index.name == "trial" and table.index.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(table.to_numpy(), FINAL)


def test_final_is_the_last_of_many_rounds():
    one = walk(rounds=5)
    np.testing.assert_array_equal(one.final_table().to_numpy(), one.regret[:, :, 4])


def test_a_run_stopped_before_its_first_trial():
    nothing = wsbnb.Results(np.empty((0, 2, 3)), ["a", "b"], [], np.arange(1, 4))
    summary = nothing.summary()
    assert summary["trials"].tolist() == [0, 0]
    assert summary[["mean", "std"]].isna().all(axis=None)


def test_one_round_has_no_switches():
    assert walk(rounds=1).summary()["switches"].tolist() == [0.0, 0.0]


def test_curves_are_tidy():
    curves = results().curves
    assert curves.index.equals(pd.RangeIndex(len(curves)))
    assert list(curves) == ["trial", "policy", "round", "regret"]
    assert len(curves) == 4 * 3 * 2
    rows = curves.set_index(["trial", "policy", "round"])["regret"]
    for trial in range(4):
        for j, name in enumerate("bac"):
            assert rows[trial, name, 5] == FINAL[trial, j] / 2
            assert rows[trial, name, 10] == FINAL[trial, j]


def test_traces_are_tidy():
    one = walk()
    traces = one.traces
    assert list(traces) == ["trial", "policy", "round", "arm", "radius"]
    row = traces.query("trial == 2 and policy == 'b' and round == 7").iloc[0]
    assert row["arm"] == one.arms[2, 1, 6]
    assert row["radius"] == one.details["radius"][2, 1, 6]
    assert results().traces is None


def test_summary_by_hand():
    row = results().summary().loc["a"]
    assert row["mean"] == 4.0
    assert row["std"] == pytest.approx(np.sqrt((9 + 4 + 0 + 25) / 3))
    assert row["se"] == pytest.approx(row["std"] / 2)
    assert row["trials"] == 4
    assert row["q50"] == 3.0
    assert row["q25"] == 1.75 and row["q75"] == 5.25
    assert row["q05"] == pytest.approx(1.15) and row["q95"] == pytest.approx(8.25)
    low, high = stats.t.interval(0.95, 3, loc=4.0, scale=row["se"])
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    wider = results().summary(level=0.99).loc["a"]
    assert wider["low"] < row["low"] and wider["high"] > row["high"]
    assert list(results().summary().index) == ["b", "a", "c"]
    assert "reward" not in results().summary()


def test_summary_of_a_replay_has_rewards_and_switches():
    one = walk()
    table = one.summary()
    for j, name in enumerate("ab"):
        reward = (one.best_reward[-1] - one.regret[:, j, -1].mean()) / 60
        assert table.loc[name, "reward"] == pytest.approx(reward)
        changed = one.arms[:, j, 1:] != one.arms[:, j, :-1]
        assert table.loc[name, "switches"] == pytest.approx(changed.mean())


# --- paired over trials -------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("name, values", [("a", A), ("c", C)])
def test_paired_is_the_paired_t_test(name, values, level):
    row = results().paired("b", level=level).loc[name]
    test = stats.ttest_rel(values, B)
    interval = test.confidence_interval(level)
    assert row["difference"] == pytest.approx(np.mean(values) - np.mean(B))
    assert row["difference"] / row["se"] == pytest.approx(test.statistic)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    assert row["trials"] == 4
    assert row["ratio"] == pytest.approx(np.mean(values) / np.mean(B))
    assert row["wins"] == np.mean(np.array(values) < np.array(B))


def test_negative_is_better_over_trials_and_over_rounds():
    """One with less regret than the baseline, in every trial and in every round."""
    steps = np.ones((5, 2, 40)) * [[[1.0], [3.0]]]
    one = wsbnb.Results(
        np.cumsum(steps, axis=2), ["good", "bad"], np.arange(5), np.arange(1, 41)
    )
    trials, rounds = one.paired("bad"), one.paired("bad", over="rounds")
    assert trials.loc["good", "difference"] == -80.0  # in all rounds together
    assert rounds.loc["good", "difference"] == -2.0  # per round
    assert one.paired("good").loc["bad", "difference"] == 80.0
    assert one.paired("good", over="rounds").loc["bad", "difference"] == 2.0
    assert trials.loc["good", "wins"] == 1.0 and trials.loc["good", "ratio"] == 1 / 3


def test_paired_leaves_out_the_baseline():
    assert list(results().paired("a").index) == ["b", "c"]
    assert results().paired("a").loc["b", "difference"] == pytest.approx(-1.0)


def test_paired_interval_equals_the_method():
    row = wsbnb.paired_interval(A, B, level=0.8)
    table = results().paired("b", level=0.8).loc["a"]
    row["trials"] = row.pop("n")
    assert row == table.to_dict()


def test_pairing_removes_what_the_worlds_share():
    rng = np.random.default_rng(0)
    common = 50 * rng.standard_normal(30)
    a, b = common + rng.standard_normal(30), common + 1 + rng.standard_normal(30)
    row = wsbnb.paired_interval(a, b)
    apart = np.hypot(t_interval(a)["se"], t_interval(b)["se"])
    assert row["se"] < apart / 10 and row["high"] < 0
    assert np.isnan(wsbnb.paired_interval([1.0, 2.0], [0.0, 0.0])["ratio"])


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([1.0, 2.0], [1.0]), "baseline must have length 2"),
        (([], []), "values"),
        (([1.0, np.nan], [1.0, 2.0]), "values must be finite"),
        (([1.0, 2.0], [1.0, 2.0], 1.0), "level"),
    ],
)
def test_paired_interval_refuses(arguments, word):
    with pytest.raises(ValueError, match=word):
        wsbnb.paired_interval(*arguments)


def test_t_interval_is_scipys():
    row = t_interval(A, level=0.9)
    test = stats.ttest_1samp(A, 0.0).confidence_interval(0.9)
    assert (row["low"], row["high"]) == pytest.approx((test.low, test.high))
    assert row["se"] == pytest.approx(stats.sem(A))
    assert (row["mean"], row["n"]) == (4.0, 4)
    alone = t_interval([3.0])
    assert alone["mean"] == 3.0
    assert np.isnan([alone["se"], alone["low"], alone["high"]]).all()


# --- paired over rounds -------------------------------------------------------------


def test_paired_over_rounds_is_the_block_bootstrap_of_the_mean_difference():
    one = walk()
    words = {"block_length": 7, "draws": 50, "seed": 3}
    row = one.paired("b", level=0.8, over="rounds", **words).loc["a"]
    steps = np.diff(one.regret, axis=2, prepend=0.0).mean(axis=0)
    expected = wsbnb.block_bootstrap(steps[0] - steps[1], level=0.8, **words)
    assert row["difference"] == pytest.approx(expected["mean"])
    for name in ("se", "low", "high"):
        assert row[name] == pytest.approx(expected[name])
    assert row["block_length"] == 7
    assert row["difference"] * 60 == pytest.approx(
        (one.final("a") - one.final("b")).mean()
    )


def test_block_length_is_suggested_for_each_comparison():
    rng = np.random.default_rng(1)
    slow = np.repeat(rng.gamma(2.0, size=40), 20)
    steps = np.stack([np.ones(800), rng.gamma(2.0, size=800), slow])[None]
    names = ["base", "noise", "slow"]
    one = wsbnb.Results(
        np.cumsum(steps, axis=2), names, np.arange(1), np.arange(1, 801)
    )
    lengths = one.paired("base", over="rounds")["block_length"]
    assert lengths["noise"] <= 4 < 10 < lengths["slow"]
    expected = wsbnb.suggested_block_length(steps[0, 2] - 1.0)
    assert lengths["slow"] == expected


def test_over_rounds_needs_every_round():
    with pytest.raises(ValueError, match="every round on record, got 2 of 10"):
        results().paired("a", over="rounds")
    with pytest.raises(ValueError, match="block_length must be at least 1, got 0"):
        walk().paired("a", over="rounds", block_length=0)
    with pytest.raises(TypeError, match="block_length must go with over='rounds'"):
        walk().paired("a", block_length=5)
    with pytest.raises(ValueError, match="over must be one of"):
        walk().paired("a", over="arms")


# --- parts --------------------------------------------------------------------------


def test_select_takes_policies_and_trials_in_the_order_asked_for():
    one = walk(trials=4)
    part = one.select(["b", "a"], [3, 1])
    assert part.policies == ["b", "a"] and part.trials.tolist() == [3, 1]
    for name in ("regret", "arms"):
        whole, some = getattr(one, name), getattr(part, name)
        np.testing.assert_array_equal(some, whole[[3, 1]][:, [1, 0]])
    np.testing.assert_array_equal(
        part.details["radius"], one.details["radius"][[3, 1]][:, [1, 0]]
    )
    assert part.best_reward is one.best_reward
    np.testing.assert_array_equal(one.select().regret, one.regret)
    assert one.select(trials=[]).regret.shape == (0, 2, 60)


def test_select_of_selected_trials_goes_by_number():
    part = results().select(trials=[2, 3])
    assert part.select(trials=[3]).final("a").tolist() == [9.0]
    with pytest.raises(ValueError, match="trials must be among those played, got 0"):
        part.select(trials=[0])
    with pytest.raises(ValueError, match="policies must be one of"):
        results().select(["a", "x"])


def test_merged_is_the_run_in_one_go():
    one = results()
    late, early = one.select(trials=[3, 2]), one.select(trials=[0, 1, 2])
    for pair in ((late, early), (early, late)):
        merged = pair[0].merged(pair[1])
        assert merged.trials.tolist() == [0, 1, 2, 3]
        np.testing.assert_array_equal(merged.regret, one.regret)
        np.testing.assert_array_equal(merged.rounds, one.rounds)
        assert merged.policies == one.policies


def test_only_alike_runs_can_be_merged():
    one = results()
    with pytest.raises(ValueError, match="same policies"):
        one.merged(one.select(["a", "b", "c"]))
    with pytest.raises(TypeError, match="other must be a Results, got 3"):
        one.merged(3)
    with pytest.raises(ValueError, match="same rounds"):
        walk().merged(walk(rounds=59))
    with pytest.raises(ValueError, match="same regret in trials that both hold"):
        walk().merged(walk(seed=1))


def test_trials_that_both_hold_may_differ_by_rounding():
    def other(factor):
        regret = factor * np.full((1, 1, 2), 7.0)
        return wsbnb.Results(regret, ["a"], np.arange(1), np.arange(1, 3))

    assert other(1.0).merged(other(1.0 + 0.9e-6)).trials.tolist() == [0]
    with pytest.raises(ValueError, match="same regret in trials that both hold"):
        other(1.0).merged(other(1.0 + 1.5e-6))


def test_between_scores_some_rounds_only():
    one = walk()
    part = one.between(10, 30)
    steps = np.diff(one.regret, axis=2, prepend=0.0)
    np.testing.assert_allclose(part.regret, np.cumsum(steps[..., 10:30], axis=2))
    np.testing.assert_array_equal(part.arms, one.arms[..., 10:30])
    assert part.rounds.tolist() == list(range(1, 21))
    best = np.diff(one.best_reward, prepend=0.0)[10:30].sum()
    assert part.best_reward[-1] == pytest.approx(best)
    assert part.traces is None
    rest = one.between(0, 10), part, one.between(30, 60)
    total = sum(p.regret[..., -1] for p in rest)
    np.testing.assert_allclose(total, one.regret[..., -1])
    np.testing.assert_allclose(
        part.between(5, 9).regret, one.between(15, 19).regret, rtol=1e-9
    )


@pytest.mark.parametrize("start, stop", [(-1, 2), (2, 2), (0, 61), (61, 62)])
def test_between_needs_rounds_that_are_there(start, stop):
    with pytest.raises(ValueError, match="start|stop"):
        walk().between(start, stop)
    with pytest.raises(ValueError, match="every round on record"):
        results().between(0, 1)


# --- the object ---------------------------------------------------------------------


def test_one_trial_has_no_spread():
    one = results().select(trials=[2])
    row = one.summary().loc["a"]
    assert row["mean"] == row["q05"] == row["q95"] == 4.0
    assert np.isnan(row[["std", "se", "low", "high"]].to_numpy(float)).all()
    assert np.isnan(one.paired("b")["se"]).all()


def test_one_policy():
    alone = results().select(["a"])
    assert len(alone.paired("a")) == 0
    assert alone.summary().loc["a", "mean"] == 4.0


def test_bad_arguments():
    with pytest.raises(ValueError, match="baseline must be one of 'b', 'a', 'c', got"):
        results().paired("d")
    for level in (0.0, 1.0, 95):
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            results().summary(level=level)
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            results().paired("a", level=level)


@pytest.mark.parametrize(
    "change, error, words",
    [
        (dict(rounds=[]), ValueError, "rounds must hold at least one number"),
        (dict(policies=["a", "a"]), ValueError, "policies must have different names"),
        (dict(policies=["a"]), ValueError, r"regret must have shape .* = \(2, 1, 3\)"),
        (dict(arms=np.zeros((2, 2))), ValueError, "arms must have shape"),
        (dict(details={"mean": [[1], [1, 2]]}), ValueError, "mean must .* unequal"),
        (dict(details=[1.0]), TypeError, "details must map names to arrays"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, error, words):
    parts = dict(policies=["a", "b"], trials=range(2), rounds=range(1, 4))
    with pytest.raises(error, match=words):
        wsbnb.Results(**{"regret": np.ones((2, 2, 3)), **parts, **change})


@pytest.mark.parametrize("best", [np.ones(60), np.ones(3), [[1, 2], [3]]])
def test_the_best_reward_goes_with_arms_and_rounds(best):
    arms = None if len(best) == 60 else np.zeros((3, 2, 60), dtype=int)
    regret = np.ones((3, 2, 60))
    with pytest.raises(ValueError, match="best_reward must have shape"):
        wsbnb.Results(
            regret, ["a", "b"], range(3), range(1, 61), arms=arms, best_reward=best
        )


def test_object():
    one = results()
    assert repr(one) == "Results(3 policies, 4 trials, 10 rounds)"
    again = pickle.loads(pickle.dumps(one))
    pd.testing.assert_frame_equal(one.curves, again.curves)
    assert one == one and one != again  # arrays have no single truth value
    with pytest.raises(AttributeError):
        one.policies = []


def test_lists_become_arrays_and_arrays_stay_where_they_are():
    """The order in memory decides the last bits of a sum."""
    made = wsbnb.Results([[[1, 2]], [[3, 5]]], ("A",), [0, 4], (1, 2))
    whole = wsbnb.Results(np.ones((1, 1, 1), dtype=int), ["A"], [0], [1])
    assert made.regret.dtype == whole.regret.dtype == np.float64
    assert made.policies == ["A"]
    assert made.final("A").tolist() == [2.0, 5.0]
    assert made.trials.dtype == made.rounds.dtype == np.int64
    regret = np.ones((2, 3, 4), order="F")
    kept = wsbnb.Results(regret, list("ABC"), range(2), range(1, 5))
    assert kept.regret is regret
