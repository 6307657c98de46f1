"""Summaries and paired comparisons by hand and with SciPy."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import wsbnb

A, B, C = [1.0, 2.0, 4.0, 9.0], [2.0, 2.0, 3.0, 5.0], [1.5, 0.5, 4.0, 3.0]


def results():
    """Four trials, three policies; the regret doubles between the two rounds kept."""
    rows = [
        (trial, name, rnd, value * share)
        for trial in range(4)
        for name, values in (("b", B), ("a", A), ("c", C))
        for rnd, share, value in ((5, 0.5, values[trial]), (10, 1.0, values[trial]))
    ]
    curves = pd.DataFrame(rows, columns=["trial", "policy", "round", "regret"])
    return wsbnb.Results(curves, ["b", "a", "c"])


def test_final():
    table = results().final_table()
    assert list(table.columns) == ["b", "a", "c"]  # the order given
    assert table["a"].tolist() == A and table["c"].tolist() == C
    assert len(results().final) == 12
    assert results().trials == [0, 1, 2, 3]


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


def test_paired_leaves_out_the_baseline():
    assert list(results().paired("a").index) == ["b", "c"]
    assert results().paired("a").loc["b", "difference"] == pytest.approx(-1.0)


def test_one_trial_has_no_spread():
    one = wsbnb.Results(results().curves.query("trial == 2"), ["b", "a", "c"])
    row = one.summary().loc["a"]
    assert row["mean"] == 4.0 and np.isnan(row[["std", "se", "low", "high"]]).all()
    assert np.isnan(one.paired("b")["se"]).all()


def test_one_policy():
    alone = wsbnb.Results(results().curves.query("policy == 'a'"), ["a"])
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


def test_object():
    one = results()
    assert repr(one) == "Results(3 policies, 4 trials)"
    again = pickle.loads(pickle.dumps(one))
    pd.testing.assert_frame_equal(one.curves, again.curves)
    assert one == one and one != again  # frames have no single truth value
