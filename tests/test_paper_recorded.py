"""The long run kept with the package: whole, close to the paper, and recomputable."""

from importlib import resources

import numpy as np
import pytest

from wsbnb import paper
from wsbnb.paper.recorded import FILE, FIRST, _std_of_hundred
from wsbnb.results import Results

pytestmark = pytest.mark.skipif(
    not (resources.files("wsbnb.paper") / "data" / FILE).is_file(),
    reason=f"{FILE} has not been recorded yet (wsbnb.paper.record)",
)


def test_every_cell_is_there_once():
    frame = paper.recorded()
    keys = ["table", "scenario", "algorithm", "prior_mean_norm", "dimension"]
    assert len(frame) == 160 and not frame.duplicated(keys).any()
    assert (frame["trials"] == 1000).all()
    np.testing.assert_allclose(frame["se"], frame["std"] / np.sqrt(1000), rtol=1e-9)
    assert np.isfinite(frame[["mean", "std", "first20"]].to_numpy()).all()


@pytest.mark.parametrize("table", [2, 3])
def test_recorded_means_agree_with_the_printed_ones(table):
    comparison = paper.compare(paper.recorded(table))
    total = paper.agreement(comparison)
    assert total["cells"] == len(paper.printed_table(table))
    assert total["|z|>3.5"] == 0
    assert total["|z|>2.5"] <= 6


def test_ten_independent_runs_agree_with_the_printed_tables():
    """Each hundred of the trials is a run as large as the paper's."""
    whole = paper.recorded()
    parts = [paper.recorded(hundred=i) for i in range(1, 11)]
    means = np.mean([part["mean"] for part in parts], axis=0)
    np.testing.assert_allclose(means, whole["mean"], rtol=1e-12)
    for part in parts:
        assert (part["trials"] == 100).all()
        z = np.concatenate(
            [paper.compare(part_of(part, table))["z"].to_numpy() for table in (2, 3)]
        )
        assert np.abs(z).max() < 3.5
        assert (np.abs(z) > 2.5).sum() <= 12  # the cells of a panel share their worlds


def test_deviations_of_the_hundreds_add_up_to_that_of_the_thousand():
    """Within and between: 999 s^2 = sum of 99 s_i^2 + 100 (m_i - m)^2."""
    whole = paper.recorded()
    squares = 0.0
    for i in range(1, 11):
        part = paper.recorded(hundred=i)
        np.testing.assert_allclose(part["se"], part["std"] / 10)
        off = part["mean"] - whole["mean"]
        squares = squares + 99 * part["std"] ** 2 + 100 * off**2
    np.testing.assert_allclose(squares, 999 * whole["std"] ** 2)


def test_deviation_of_a_hundred_coins_is_binomial():
    """k heads of 100 have s^2 = k (100 - k) / 9900; 2.5 % are beyond 50 +- 11."""
    low, high = _std_of_hundred(np.repeat([0.0, 1.0], 500))
    assert (low, high) == pytest.approx((np.sqrt(39 * 61 / 9900), np.sqrt(2500 / 9900)))


def test_columns_of_a_long_run_by_hand(monkeypatch):
    regret = np.random.default_rng(0).exponential(size=230)
    cell = paper.PaperCell("slow", "WSB-LinTS", 2, 10, trials=230)
    result = Results(
        regret[:, None, None], ["WSB-LinTS"], np.arange(230), np.array([9])
    )
    known = paper.long_run.__globals__  # its module has the name of a function
    monkeypatch.setitem(known, "run_papercells", lambda cells: {cell: result})
    (row,) = paper.long_run(cells=[cell]).to_dict("records")
    assert row["first20"] == pytest.approx(sum(regret[:20]) / 20)
    for i, part in ((1, regret[:100]), (2, regret[100:200])):
        mean = sum(part) / 100
        assert row[f"mean_{i}"] == pytest.approx(mean)
        std = np.sqrt(sum((part - mean) ** 2) / 99)
        assert row[f"std_{i}"] == pytest.approx(std)
    assert "mean_3" not in row and row["trials"] == 230


def part_of(frame, table):
    part = frame[frame["table"] == table].drop(columns="table")
    return part.drop(columns="prior_mean_norm") if table == 2 else part


@pytest.mark.parametrize("hundred", [0, 11, 1.5])
def test_there_are_ten_hundreds(hundred):
    with pytest.raises((ValueError, TypeError), match="hundred must be"):
        paper.recorded(2, hundred=hundred)


@pytest.mark.parametrize("table", [2, 3])
def test_recorded_cells_can_be_recomputed(table):
    """The first 20 trials of the cheap cells, played again: the same bits.

    If this fails, the code that decides the numbers has changed, and the record is to
    be made again (`wsbnb.paper.record`).
    """
    make = paper.table2 if table == 2 else paper.table3
    cells = make(dims=[2], scenarios=["abrupt"], trials=FIRST)
    again = paper.long_run(cells=cells, cache=False)
    keys = ["scenario", "algorithm", "prior_mean_norm", "dimension"]
    kept = paper.recorded().query(f"table == {table}")
    both = again.merge(kept, on=keys, suffixes=("", "_kept"))
    assert len(both) == len(cells)
    np.testing.assert_array_equal(both["first20"], both["first20_kept"])
