"""The long run kept with the package: whole, close to the paper, and recomputable."""

from importlib import resources

import numpy as np
import pytest

from wsbnb import experiments as ex
from wsbnb.experiments.recorded import FILE, FIRST

pytestmark = pytest.mark.skipif(
    not (resources.files("wsbnb") / "data" / FILE).is_file(),
    reason=f"{FILE} has not been recorded yet (wsbnb.experiments.record)",
)


def test_every_cell_is_there_once():
    frame = ex.recorded()
    keys = ["table", "scenario", "algorithm", "prior_mean_norm", "dimension"]
    assert len(frame) == 160 and not frame.duplicated(keys).any()
    assert (frame["trials"] == 1000).all()
    np.testing.assert_allclose(frame["se"], frame["std"] / np.sqrt(1000), rtol=1e-9)
    assert np.isfinite(frame[["mean", "std", "first20"]].to_numpy()).all()


@pytest.mark.parametrize("table", [2, 3])
def test_recorded_means_agree_with_the_printed_ones(table):
    comparison = ex.compare(ex.recorded(table))
    total = ex.agreement(comparison)
    assert total["cells"] == len(ex.printed_table(table))
    assert total["|z|>3.5"] == 0
    assert total["|z|>2.5"] <= 6


@pytest.mark.parametrize("table", [2, 3])
def test_recorded_cells_can_be_recomputed(table):
    """The first 20 trials of the cheap cells, played again.

    The same code gives the same bits on the same kind of processor. Elsewhere a last
    bit may decide a tie between arms, after which a trial goes another way in the same
    world: then the means must still be close.
    """
    make = ex.table2 if table == 2 else ex.table3
    cells = make(dims=[2], scenarios=["abrupt"], trials=FIRST)
    again = ex.long_run(cells=cells, cache=False)
    keys = ["scenario", "algorithm", "prior_mean_norm", "dimension"]
    kept = ex.recorded().query(f"table == {table}")
    both = again.merge(kept, on=keys, suffixes=("", "_kept"))
    assert len(both) == len(cells)
    exact = np.isclose(both["first20"], both["first20_kept"], rtol=1e-9)
    close = abs(both["first20"] - both["first20_kept"]) < 1.5 * both["se"]
    assert (exact | close).all()
    if both["sources"].iloc[0] == both["sources_kept"].iloc[0]:
        assert exact.mean() > 0.5
