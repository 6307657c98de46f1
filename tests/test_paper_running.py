"""Running cells: stored, resumed, damaged, killed, and never computed twice."""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import wsbnb
from wsbnb import paper
from wsbnb.paper import cache as cache_module
from wsbnb.paper import running

ROOT = pathlib.Path(__file__).resolve().parents[1]
SMALL = {"dims": [2], "trials": 4, "horizon": 60}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WSBNB_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


def finals(result):
    """Final regrets of a result with one policy."""
    assert result.regret.shape[1] == 1
    return result.regret[:, 0, -1]


def test_results_equal_a_plain_simulation():
    cells = [c.cell for c in paper.table2(**SMALL)] + [
        c.cell for c in paper.table3(**SMALL)
    ]
    results = paper.run_cells(cells, trials=4, seed=3)
    for cell in cells[::5]:
        env = cell.setting.environment()
        plain = wsbnb.simulate(
            {"x": cell.player.policy}, env, trials=4, seed=3, progress=False
        ).final_table()["x"]
        np.testing.assert_allclose(finals(results[cell]), plain, rtol=1e-12)


def test_second_call_computes_nothing(monkeypatch):
    cells = [c.cell for c in paper.table2(**SMALL)]
    first = paper.run_cells(cells, trials=4)
    monkeypatch.setattr(running, "simulate", None)
    second = paper.run_cells(cells, trials=4)
    fewer = paper.run_cells(cells, trials=2)
    for cell in cells:
        np.testing.assert_array_equal(finals(first[cell]), finals(second[cell]))
        np.testing.assert_array_equal(finals(first[cell])[:2], finals(fewer[cell]))
        np.testing.assert_array_equal(first[cell].regret, second[cell].regret)


def test_more_trials_compute_only_the_new_ones(monkeypatch):
    cell = paper.table2(**SMALL)[0].cell
    asked = []
    real = running.simulate
    monkeypatch.setattr(
        running,
        "simulate",
        lambda *a, **k: (asked.extend(k["trials"]), real(*a, **k))[1],
    )
    paper.run_cells([cell], trials=4)
    longer = paper.run_cells([cell], trials=13)[cell]
    assert asked == list(range(13))
    np.testing.assert_array_equal(
        finals(longer), finals(paper.run_cells([cell], trials=13, cache=False)[cell])
    )


def test_force_computes_again(own_cache):
    cell = paper.table2(**SMALL)[0].cell
    truth = paper.run_cells([cell], trials=4)[cell]
    store = paper.Cache()
    wrong = replace(truth, regret=truth.regret + 1)
    store.store(cell, 0, wrong)
    stored = finals(paper.run_cells([cell], trials=4)[cell])
    np.testing.assert_array_equal(stored, finals(truth) + 1)
    forced = paper.run_cells([cell], trials=4, force=True)[cell]
    np.testing.assert_array_equal(finals(forced), finals(truth))
    np.testing.assert_array_equal(finals(store.load(cell, 0)), finals(truth))


def test_trials_of_another_process_are_kept(monkeypatch):
    cell = paper.table2(**SMALL)[0].cell
    whole = paper.run_cells([cell], trials=9, cache=False)[cell]
    real, store = running.simulate, paper.Cache()

    def while_another_process_stores(*args, **kwargs):
        store.store(cell, 0, whole)
        return real(*args, **kwargs)

    monkeypatch.setattr(running, "simulate", while_another_process_stores)
    assert len(finals(paper.run_cells([cell], trials=4)[cell])) == 4
    np.testing.assert_array_equal(finals(store.load(cell, 0)), finals(whole))


def test_stale_results_are_not_found(monkeypatch):
    cell = paper.table2(**SMALL)[0].cell
    paper.run_cells([cell], trials=4)
    store = paper.Cache()
    assert store.load(cell, 0) is not None
    assert store.load(cell, 1) is None
    assert store.load(paper.changed(cell, horizon=61), 0) is None
    assert store.load(paper.changed(cell, regularization=1.5), 0) is None
    monkeypatch.setattr(cache_module, "source_checksum", lambda: "other code")
    assert store.load(cell, 0) is None


def test_every_setting_is_part_of_the_key():
    cell = paper.table2(**SMALL)[0].cell
    other = {
        "scenario": "slow",
        "dim": 3,
        "horizon": 61,
        "n_arms": 5,
        "noise_variance": 0.3,
        "noise": "heavy",
        "anchors": "plane",
        "arms": "redrawn",
        "closed_tour": True,
        "algorithm": "D-LinTS",
        "variation": 2.0,
        "variation_factor": 2.0,
        "regularization": 2.0,
        "prior_scale": 2.0,
        "prior_mean_norm": 2.0,
        "prior_direction": "axis",
        "delta": 0.2,
        "split": "none",
        "radius": "lambda_max",
        "penalty": "exact",
        "radius_scale": 0.5,
        "perturbation": "gaussian",
        "scale": 2.0,
        "scale_rule": "sigma",
        "noise_factor": 2.0,
        "length": 3,
    }
    fields = [*dataclasses.fields(cell.setting), *dataclasses.fields(cell.player)]
    assert {field.name for field in fields} == set(other)
    store = paper.Cache("x")
    paths = {store.path(paper.changed(cell, **{k: v}), 0) for k, v in other.items()}
    assert len(paths | {store.path(cell, 0), store.path(cell, 1)}) == len(other) + 2


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of the package whose checksum is taken."""
    copy = tmp_path / "wsbnb"
    ignore = shutil.ignore_patterns("__pycache__", "data")
    shutil.copytree(ROOT / "wsbnb", copy, ignore=ignore)
    monkeypatch.setattr(cache_module, "__file__", str(copy / "paper" / "cache.py"))
    return copy


DECIDE = ["kernels/rounds.py", "kernels/vectors.py", "policies/named.py"]
DECIDE += ["environments/world.py", "simulation.py", "posterior.py", "weights.py"]
DECIDE += ["exploration.py", "bounds/tuning.py", "paper/settings.py"]
DECIDE += ["paper/algorithms.py", "adaptive/mixture.py", "_validate.py"]
REPORT = ["plotting.py", "interactive.py", "datasets.py", "bounds/regret.py"]
REPORT += ["paper/report.py", "paper/cli.py", "paper/studies.py", "paper/figures.py"]


@pytest.mark.parametrize("name", [*DECIDE, *REPORT])
def test_checksum_sees_what_decides_numbers_and_nothing_else(name, sources):
    checksum = paper.source_checksum.__wrapped__
    before = checksum()
    assert before == paper.source_checksum()
    with (sources / name).open("a") as file:
        file.write("x = 1\n")
    assert (checksum() != before) == (name in DECIDE)


@pytest.mark.parametrize(
    "damage",
    [
        lambda p: p.write_bytes(b""),
        lambda p: p.write_bytes(p.read_bytes()[:-200]),
        lambda p: p.write_bytes(b"not a zip file at all"),
        lambda p: np.savez(p, trials=np.arange(3)),
        lambda p: np.savez(p, trials=np.array([{}], dtype=object)),
        lambda p: p.write_bytes(p.read_bytes().replace(b"\x40", b"\x7f")),
    ],
)
def test_damaged_file_is_computed_again(damage):
    cell = paper.table2(**SMALL)[0].cell
    truth = paper.run_cells([cell], trials=4)[cell]
    damage(paper.Cache().path(cell, 0))
    again = paper.run_cells([cell], trials=4)[cell]
    np.testing.assert_array_equal(finals(again), finals(truth))
    np.testing.assert_array_equal(finals(paper.Cache().load(cell, 0)), finals(truth))


def test_interrupted_run_keeps_what_is_finished(monkeypatch):
    cell = paper.table2(**SMALL)[0].cell
    real, calls = running.simulate, []

    def interrupted_later(*args, **kwargs):
        calls.append(1)
        results = real(*args, **kwargs)
        return replace(results, interrupted=len(calls) == 3)

    monkeypatch.setattr(running, "simulate", interrupted_later)
    with pytest.raises(KeyboardInterrupt):
        paper.run_cells([cell], trials=40)
    assert len(paper.Cache().load(cell, 0).trials) == 20


def test_results_do_not_depend_on_company_or_workers():
    cells = [c.cell for c in paper.table2(**SMALL)]
    together = paper.run_cells(cells, trials=4, cache=False, n_jobs=2)
    for cell in cells:
        alone = paper.run_cells([cell], trials=4, cache=False, n_jobs=1)[cell]
        np.testing.assert_array_equal(finals(together[cell]), finals(alone))


def test_curves_are_kept_at_eighty_rounds():
    cell = paper.PaperCell("abrupt", "D-LinTS", 2, horizon=400).cell
    result = paper.run_cells([cell], trials=4)[cell]
    assert result.policies == ["D-LinTS"] and result.trials.tolist() == [0, 1, 2, 3]
    assert result.rounds.tolist() == list(range(5, 401, 5))
    assert (np.diff(result.of("D-LinTS"), axis=1) >= 0).all()


def wait_for(condition, process, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the process ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_run_resumes(own_cache, tmp_path):
    """Kill a real process at some moment, twice; the rest is computed, not all."""
    arguments = "reproduce table2 --scenario abrupt --dims 2 --trials 40 --quiet"
    command = [sys.executable, "-m", "wsbnb", *arguments.split()]
    command += ["--horizon", "12000", "--n-jobs", "1", "--cache", str(own_cache)]
    command += ["--out", str(tmp_path / "t.csv")]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    cells = [c.cell for c in paper.table2([2], ["abrupt"], trials=40, horizon=12_000)]
    store = paper.Cache(own_cache)

    def stored():
        found = [store.load(cell, 0) for cell in cells]
        return sum(len(r.trials) for r in found if r is not None)

    # Save after every chunk, so that the kill finds something.
    patched = (
        "import wsbnb.paper.running as r, sys; r.SAVE_EVERY = 0.0; r.CHUNK = 2;"
        "from wsbnb.paper.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    slow = [sys.executable, "-c", patched, *command[3:]]
    before = 0
    for _ in range(2):
        process = subprocess.Popen(
            slow, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(lambda before=before: stored() > before, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = stored()
        assert not (tmp_path / "t.csv").exists()
    assert 0 < before < 40 * 7
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "t.csv")
    fresh = paper.run_cells(cells, trials=40, cache=False)
    means = [finals(fresh[cell]).mean() for cell in cells]
    np.testing.assert_allclose(table["mean"], means, rtol=1e-12)


def test_stored_file_is_plain_data(own_cache):
    cell = paper.table2(**SMALL)[0].cell
    paper.run_cells([cell], trials=2)
    (path,) = own_cache.glob("*.npz")
    with np.load(path, allow_pickle=False) as file:
        identity = json.loads(str(file["identity"]))
    assert identity["setting"]["dim"] == 2 and identity["seed"] == 0
