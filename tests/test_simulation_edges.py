"""Runs that are stopped, that fail, that are long or wrongly asked for."""

import dataclasses
import pathlib
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import wsbnb
from tests import zoo
from tests.kernels import PLAIN
from wsbnb import paper, warmup
from wsbnb.kernels import compiling


def environment(arms="redrawn", horizon=150, dim=3, n_arms=5):
    return wsbnb.paper_environment(
        "abrupt", dim, horizon=horizon, n_arms=n_arms, arms=arms
    )


def run(chosen, env, **options):
    settings = {"trials": 3, "seed": 7, "n_jobs": 1, "progress": False, **options}
    return wsbnb.simulate(chosen, env, **settings)


def test_interrupted_run_keeps_what_is_done():
    env = environment()
    count = iter(range(100))

    def impatient(world):
        if next(count) == 2:
            raise KeyboardInterrupt
        return zoo.make("DLinTS")

    partial = run({"a": zoo.make("WSBLinTS"), "b": impatient}, env, trials=5)
    assert partial.interrupted and "interrupted" in repr(partial)
    assert partial.trials.tolist() == [0, 1]
    whole = run({"a": zoo.make("WSBLinTS"), "b": zoo.make("DLinTS")}, env, trials=2)
    assert not whole.interrupted
    np.testing.assert_array_equal(partial.regret, whole.regret)


def test_interrupted_before_the_first_trial():
    def hasty(world):
        raise KeyboardInterrupt

    nothing = run({"a": hasty}, environment(), trace=True)
    assert nothing.interrupted and nothing.trials.tolist() == []
    assert nothing.final_table().shape == (0, 1)
    assert nothing.summary()["trials"].tolist() == [0]
    assert np.isnan(nothing.summary()["mean"]).all()
    assert len(nothing.curves) == len(nothing.traces) == 0


def test_an_interrupt_ends_the_compiling_of_everything(monkeypatch):
    """`simulate` keeps what is done; nobody waits for the rest of the policies."""
    asked = []

    def interrupted(policies, env, **options):
        asked.append(policies)
        return dataclasses.replace(
            wsbnb.simulate(policies, env, **options), interrupted=True
        )

    monkeypatch.setattr(warmup, "simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        wsbnb.compile(zoo.make("Uniform"), zoo.make("Uniform"))
    assert len(asked) == 1


CTRL_C = """
import os
import signal

import wsbnb

# A job in the background is started with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
env = wsbnb.paper_environment("abrupt", 4, horizon=20_000)

def announced(world):
    os.write(1, b"trial\\n")  # one piece, also from two threads
    return wsbnb.Uniform(dim=4)

def play(policies, trials):
    return wsbnb.simulate(policies, env, trials=trials, n_jobs=2, progress=False)

partial = play({"x": announced}, 10_000)
again = play({"x": wsbnb.Uniform(dim=4)}, partial.trials)
same = (partial.regret == again.regret).all()
print("done", partial.interrupted, 0 < len(partial.trials) < 10_000, same)
"""


def test_control_c_with_two_workers():
    """A real signal to a real process."""
    with subprocess.Popen(
        [sys.executable, "-c", CTRL_C],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=pathlib.Path(__file__).resolve().parents[1],
    ) as process:
        try:
            for _ in range(12):
                assert process.stdout.readline() == "trial\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert out.splitlines()[-1] == "done True True True", err
    assert "Traceback" not in err


def test_errors_of_a_policy_come_through():
    def broken(world):
        raise RuntimeError("my own mistake")

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="my own mistake"):
            run({"a": broken}, environment(), n_jobs=n_jobs)


def test_progress_bar(capfd):
    env = environment(horizon=5)
    run(zoo.make("WSBLinTS"), env, progress=True)
    out, err = capfd.readouterr()
    assert "3/3" in err and "trial" in err and out == ""
    run(zoo.make("WSBLinTS"), env, progress=False)
    assert capfd.readouterr() == ("", "")


def test_without_a_console_there_is_no_bar(monkeypatch, capsys):
    """Services and `pythonw` have no standard error to write it to."""
    env = wsbnb.paper_environment("abrupt", dim=2, horizon=8)
    monkeypatch.setattr(sys, "stderr", None)
    run(zoo.make("Uniform", d=2), env, progress=True)
    compiling._say("nothing")
    cell = paper.Cell(paper.Setting("abrupt", 2, 8), paper.Player("D-LinTS"))
    paper.run_cells([cell], trials=1, cache=False, n_jobs=1, progress=True)
    ours = {"quick": True, "cache": False, "n_jobs": 1, "progress": True}
    paper.run_benchmark(["two features"], ["Uniform"], **ours)
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(PLAIN, reason="too slow without the compiler")
def test_memory_does_not_grow_with_the_horizon():
    """A million rounds; the trajectories alone would take 8 MB a policy."""
    chosen = {"TS": zoo.make("WSBLinTS", 2), "SW": zoo.make("SWLinUCB", 2)}
    env = environment("fixed", horizon=1_000_000, dim=2, n_arms=4)
    run(chosen, environment("fixed", horizon=10_000, dim=2, n_arms=4), trials=1)
    tracemalloc.start()
    try:
        results = run(chosen, env, trials=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4e6
    assert np.isfinite(results.regret).all()
    assert results.regret.shape == (1, 2, 200)


# --- arguments -----------------------------------------------------------------------

GOOD = {"x": wsbnb.Uniform(dim=3)}


@pytest.mark.parametrize(
    "changes, error, words",
    [
        ({"policies": []}, ValueError, "policies must hold at least one"),
        ({"policies": {}}, ValueError, "policies must hold at least one"),
        ({"policies": {"a": 3}}, TypeError, "policies['a'] must have pull and update"),
        (
            {"policies": {0.9: wsbnb.Uniform(dim=3)}},
            TypeError,
            "each name in policies must be a string, got 0.9",
        ),
        ({"policies": None}, TypeError, "must have pull and update"),
        (
            {"policies": [wsbnb.Uniform(dim=3), wsbnb.Uniform(dim=3)]},
            ValueError,
            "policies must have different names, got ['Uniform', 'Uniform']",
        ),
        ({"policies": wsbnb.Uniform(dim=2)}, ValueError, "environment's dimension 3"),
        ({"environment": 3}, TypeError, "environment must be an Environment, got 3"),
        ({"trials": 0}, ValueError, "trials must be at least 1, got 0"),
        ({"trials": []}, ValueError, "trials must be different numbers, got []"),
        (
            {"trials": [1, 1]},
            ValueError,
            "trials must be different numbers, got [1, 1]",
        ),
        ({"trials": [-1]}, ValueError, "trials must be at least 0, got -1"),
        ({"trials": 2**31}, ValueError, "trials must be small enough for arrays"),
        ({"trials": range(2**40)}, ValueError, "trials must be at most 134217728"),
        ({"trials": [2**32]}, ValueError, "trials must be at most 4294967295, got"),
        ({"trials": [0.5]}, TypeError, "trials must be a whole number, got 0.5"),
        ({"trials": 2.5}, TypeError, "trials must be a whole number, got 2.5"),
        ({"trials": True}, TypeError, "trials must be a whole number or several"),
        ({"trials": "12"}, TypeError, "trials must be a whole number or several"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": 1.5}, TypeError, "seed must be a whole number, got 1.5"),
        ({"seed": None}, TypeError, "seed must be a whole number, got None"),
        ({"points": 0}, ValueError, "points must be at least 1, got 0"),
        ({"points": 1.5}, TypeError, "points must be a whole number, got 1.5"),
        ({"trace": 1}, TypeError, "trace must be True or False, got 1"),
    ],
)
def test_arguments(changes, error, words):
    arguments = {"policies": GOOD, "environment": environment(), **changes}
    with pytest.raises(error) as caught:
        wsbnb.simulate(**arguments, n_jobs=1, progress=False)
    assert words in str(caught.value), str(caught.value)
