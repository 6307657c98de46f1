"""Many policies, one world: same bits whatever the workers, blocks and neighbours."""

import copy
import os
import pathlib
import signal
import subprocess
import sys
import threading
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import pytest

import wsbnb
import wsbnb.environments as we
from tests import zoo
from wsbnb import simulation

HORIZON = 150


def environment(arms="redrawn", horizon=HORIZON, dim=3, n_arms=5, scenario="abrupt"):
    return wsbnb.paper_environment(
        scenario, dim, horizon=horizon, n_arms=n_arms, arms=arms
    )


def policies(names=zoo.LINEAR, dim=3):
    return {name: zoo.make(name, dim) for name in names} | {"Oracle": wsbnb.Oracle()}


def run(chosen, env, **options):
    settings = {"trials": 3, "seed": 7, "n_jobs": 1, "progress": False, **options}
    return wsbnb.simulate(chosen, env, **settings)


def assert_same(one, other):
    pd.testing.assert_frame_equal(one.curves, other.curves, check_exact=True)
    assert (one.traces is None) == (other.traces is None)
    if one.traces is not None:
        pd.testing.assert_frame_equal(one.traces, other.traces, check_exact=True)


# --- the same bits -------------------------------------------------------------------


def test_workers():
    env = environment()
    one = run(policies(), env, trace=True)
    assert_same(one, run(policies(), env, trace=True, n_jobs=2))
    assert_same(one, run(policies(), env, trace=True, n_jobs=-1))


def which_thread(world):
    seen.add(threading.get_ident())
    return wsbnb.Uniform(world.dim)


seen = set()


def test_threads_are_the_default():
    seen.clear()
    run({"who": which_thread}, environment(), trials=8, n_jobs=2)
    assert seen and threading.get_ident() not in seen


def test_processes():
    """Functions travel too, by value: what they note down stays over there."""
    env = environment(horizon=40)
    here = []

    def factory(world):
        here.append(os.getpid())
        return wsbnb.Uniform(world.dim)

    chosen = {**policies(zoo.SEVEN), "factory": factory}
    one = run(chosen, env)
    assert len(here) == 3
    with joblib.parallel_config(backend="loky", n_jobs=2):
        other = wsbnb.simulate(chosen, env, trials=3, seed=7, n_jobs=2, progress=False)
    assert_same(one, other)
    assert len(here) == 3


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_block_size(arms, size, monkeypatch):
    env = environment(arms)
    one = run(policies(), env, trace=True)
    monkeypatch.setattr(simulation, "_BLOCK", size)
    assert_same(one, run(policies(), env, trace=True))


@pytest.mark.parametrize("numbers", [1, 100, 2**30])
def test_block_size_of_changing_arms(numbers, monkeypatch):
    env = environment("redrawn")
    one = run(policies(), env)
    monkeypatch.setattr(simulation, "_ARM_NUMBERS", numbers)
    assert_same(one, run(policies(), env))


def test_neighbours_do_not_matter():
    env = environment()
    whole = run(policies(), env, trace=True)
    for names in (["WSBLinTS"], ["Uniform", "DLinUCB", "WSBLinTS"], zoo.LINEAR[::-1]):
        part = run(policies(names), env, trace=True)
        for frame, other in ((part.curves, whole.curves), (part.traces, whole.traces)):
            for name in names:
                mine = frame[frame["policy"] == name].reset_index(drop=True)
                theirs = other[other["policy"] == name].reset_index(drop=True)
                pd.testing.assert_frame_equal(mine, theirs, check_exact=True)


def test_trials_by_number():
    env = environment()
    whole = run(policies(), env, trials=6)
    part = run(policies(), env, trials=[4, 1])
    assert part.trials == [1, 4]
    kept = whole.final_table().loc[[1, 4]]
    pd.testing.assert_frame_equal(part.final_table(), kept, check_exact=True)
    again = run(policies(), env, trials=np.array([1, 4]))
    pd.testing.assert_frame_equal(again.final_table(), kept, check_exact=True)
    assert run(policies(), env, trials=range(2)).trials == [0, 1]


def test_seeds():
    env = environment()
    one = run(policies(), env, seed=np.random.SeedSequence(7))
    assert_same(run(policies(), env), one)
    assert not run(policies(), env, seed=8).curves.equals(one.curves)
    spawned = np.random.SeedSequence(7).spawn(2)
    first, second = (run(policies(), env, seed=s) for s in spawned)
    assert not first.curves.equals(second.curves)
    assert spawned[0].n_children_spawned == 0


def test_templates_stay_as_they_were():
    """And what a template has learnt or drawn does not matter."""
    env = environment()
    chosen = policies()
    one = run(chosen, env)
    for name, policy in chosen.items():
        if name != "Oracle":
            assert policy.rounds == 0
            policy.pull(np.eye(3))
            policy.update(np.ones(3), 100.0)
    before = copy.deepcopy(chosen["WSBLinTS"]._get_state())
    assert_same(one, run(chosen, env))
    for field, value in chosen["WSBLinTS"]._get_state().items():
        assert np.array_equal(value, before[field])


# --- compiled and in Python ----------------------------------------------------------


def in_python(name):
    """A subclass that says the same in Python, so that it runs uncompiled."""
    cls = getattr(wsbnb, name)

    def _choose(self, X):
        return cls._choose(self, X)

    twin = type("Python" + name, (cls,), {"_choose": _choose, "name": name})
    return twin(**zoo.settings(name, 3), rng=99)


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
@pytest.mark.parametrize("name", zoo.LINEAR)
def test_compiled_equals_python(name, arms):
    env = environment(arms)
    compiled = run({name: zoo.make(name)}, env, trials=2, points=HORIZON)
    plain = in_python(name)
    assert simulation._overrides_round(plain)
    assert_same(compiled, run({name: plain}, env, trials=2, points=HORIZON))
    assert not simulation._overrides_round(zoo.make(name))


class Clipping(wsbnb.LinTS):
    """Changes what is learnt; the compiled loop would ignore that."""

    def _observations(self, x, reward):
        return super()._observations(x, min(reward, -5.0))


def test_any_override_leaves_the_compiled_loop():
    assert simulation._overrides_round(Clipping(3, 1.0, 0.5))


def by_hand(policy, env, trial, seed=7):
    """One trial with pull, update and explain: regret and trace of every round."""
    world = env.world(wsbnb.trial_seed(seed, trial))
    policy._rng = world.generator("exploration")
    total, rows = 0.0, []
    for block in world.blocks(37):
        for t in range(len(block.noise)):
            X = (block.arms if block.arms.ndim == 2 else block.arms[t]).T
            means = X @ block.theta[t]
            parts, estimate = policy.explain(X), policy.posterior.mean
            k = policy.pull(X)
            total += means.max() - means[k]
            rows.append(
                [
                    total,
                    k,
                    parts["radius"],
                    parts["penalty"],
                    parts["width"][k],
                    parts["mean"][k],
                    *estimate,
                ]
            )
            policy.update(X[k], means[k] + block.noise[t])
    return np.array(rows)


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
@pytest.mark.parametrize("name", zoo.LINEAR)
def test_traces_are_what_explain_says(name, arms):
    env = environment(arms)
    results = run({name: zoo.make(name)}, env, trials=[2], points=HORIZON, trace=True)
    expected = by_hand(zoo.make(name), env, 2)
    columns = ["arm", "radius", "penalty", "width", "mean"]
    columns += [f"estimate_{i}" for i in range(3)]
    got = np.column_stack([results.curves["regret"], results.traces[columns]])
    # A trace holds what the rule computed; explain says more.
    expected = np.where(np.isnan(got), np.nan, expected)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)
    assert results.traces["arm"].dtype.kind == "i"
    assert results.traces["round"].tolist() == list(range(1, HORIZON + 1))


def test_tracing_changes_nothing():
    env = environment()
    traced = run(policies(), env, trace=True)
    pd.testing.assert_frame_equal(
        run(policies(), env).curves, traced.curves, check_exact=True
    )
    assert traced.traces.query("policy == 'Oracle'")["radius"].isna().all()


# --- what is recorded ----------------------------------------------------------------


@pytest.mark.parametrize("points", [1, 2, 7, 149, 150, 151, 10_000])
def test_final_regret_is_exact_however_thin(points):
    env = environment()
    full = run(policies(), env, points=HORIZON)
    thin = run(policies(), env, points=points)
    pd.testing.assert_frame_equal(
        thin.final_table(), full.final_table(), check_exact=True
    )
    kept = thin.curves["round"].unique()
    assert len(kept) == min(points, HORIZON) and kept[-1] == HORIZON
    merged = thin.curves.merge(
        full.curves, on=["trial", "policy", "round"], suffixes=("", "_full")
    )
    assert len(merged) == len(thin.curves)
    assert (merged["regret"] == merged["regret_full"]).all()


@pytest.mark.parametrize("horizon, points", [(1, 1), (1, 9), (10, 4), (4000, 200)])
def test_recorded_rounds(horizon, points):
    rounds = wsbnb.recorded_rounds(horizon, points)
    assert rounds[-1] == horizon and rounds[0] >= 1
    assert (np.diff(rounds) > 0).all() and len(rounds) == min(points, horizon)


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
def test_oracle_has_no_regret_and_others_have(arms):
    results = run(policies(), environment(arms))
    table = results.final_table()
    assert (table["Oracle"] == 0.0).all()
    assert (table.drop(columns="Oracle") > 0.0).all().all()
    regret = results.curves.sort_values(["policy", "trial", "round"])
    steps = regret.groupby(["policy", "trial"])["regret"].diff().dropna()
    assert (steps >= 0.0).all()


def test_oracle_among_equal_arms():
    arms = np.tile([[0.6, 0.8], [0.8, -0.6]], (9, 1))
    env = we.Environment(
        we.StationaryPath(), we.GivenArms(arms), we.GaussianNoise(0.5), 50, 2
    )
    assert run(wsbnb.Oracle(), env).final["regret"].max() <= 1e-13


def test_worlds_are_shared_by_the_policies_of_a_trial():
    """Two copies of one policy under two names have the same regret."""
    chosen = {"a": zoo.make("WSBLinTS", rng=1), "b": zoo.make("WSBLinTS", rng=2)}
    table = run(chosen, environment()).final_table()
    assert (table["a"] == table["b"]).all()
    assert table["a"].nunique() == 3


def test_a_matrix_that_is_not_definite_any_more_is_an_error():
    """Also where only the first rounds are affected, before all directions are seen."""
    prior = dict(prior_mean=np.zeros(3), prior_cov=1e9 * np.eye(3))
    for name in ("WSBLinTS", "WSBLinUCB", "WSBRandLinUCB"):
        policy = zoo.make(name, 3, **prior, noise_std=1e-9, discount=0.99)
        with pytest.raises(ValueError, match="positive definite in double precision"):
            run(policy, environment())


# --- environments --------------------------------------------------------------------


def corners(rng, start, stop, dim):
    return rng.choice([-1.0, 1.0], size=(stop - start, 5, dim)) / np.sqrt(dim)


OWN = np.random.default_rng(1).standard_normal((HORIZON, 4, 3))
OWN /= np.linalg.norm(OWN, axis=2, keepdims=True)


@pytest.mark.parametrize(
    "arms",
    [
        we.FixedArms(4),
        we.RedrawnArms(4),
        we.GivenArms(OWN[0]),
        we.GivenArms(OWN),
        we.CallableArms(corners),
        we.FixedArms(1),
    ],
    ids=lambda arms: type(arms).__name__,
)
@pytest.mark.parametrize("size", [4096, 11])
def test_arm_rules(arms, size, monkeypatch):
    monkeypatch.setattr(simulation, "_BLOCK", size)
    path = we.AbruptPath(we.OrthogonalAnchors(3))
    env = we.Environment(path, arms, we.GaussianNoise(0.4), HORIZON, 3)
    results = run({"x": zoo.make("DLinTS")}, env, trials=[1], points=HORIZON)
    expected = by_hand(zoo.make("DLinTS"), env, 1)[:, 0]
    np.testing.assert_allclose(results.curves["regret"], expected, rtol=1e-10)


def test_one_round():
    results = run(policies(), environment(horizon=1, scenario="still"))
    assert results.curves["round"].unique().tolist() == [1]


# --- policies of other kinds ---------------------------------------------------------


class Turns:
    """Not a `Policy`: plays the arms in turn."""

    def __init__(self):
        self.count = 0

    def pull(self, X):
        self.count += 1
        return self.count % len(X)

    def update(self, x, reward):
        assert np.isfinite(reward)


def test_any_object_that_plays():
    template = Turns()
    env = environment()
    one = run({"turns": template}, env)
    assert template.count == 0
    assert_same(one, run({"turns": template}, env, n_jobs=2))
    assert_same(one, run({"turns": lambda world: Turns()}, env))
    traced = run({"turns": template}, env, trace=True).traces
    assert traced["radius"].isna().all()
    assert run(Turns(), env).policies == ["Turns"]


class Built(Turns):
    """A class is a factory, although it has pull and update itself."""

    def __init__(self, world):
        super().__init__()
        self.dim = world.dim


def test_classes_are_factories():
    env = environment()
    assert (
        run({"a": Built}, env).final["regret"].tolist()
        == run({"a": Turns()}, env).final["regret"].tolist()
    )


def test_factories_see_their_world():
    env = environment()
    worlds = []

    def factory(world):
        worlds.append((world.variation, world.generator("prior").standard_normal()))
        mean = world.generator("prior").standard_normal(world.dim)
        return wsbnb.WSBLinTS(mean, np.eye(3), 0.4, 0.95, rng=None)

    one = run({"f": factory}, env)
    assert len(worlds) == 3 and len(set(worlds)) == 3
    assert_same(one, run({"f": factory}, env))


def test_names():
    env = environment(horizon=5)
    pair = [zoo.make("WSBLinTS"), zoo.make("DLinTS")]
    assert run(pair, env).policies == ["WSB-LinTS", "D-LinTS"]
    assert run(tuple(pair), env).policies == ["WSB-LinTS", "D-LinTS"]
    assert run(pair[0], env).policies == ["WSB-LinTS"]


# --- interruption, progress, memory --------------------------------------------------


def test_interrupted_run_keeps_what_is_done():
    env = environment()
    count = iter(range(100))

    def impatient(world):
        if next(count) == 2:
            raise KeyboardInterrupt
        return zoo.make("DLinTS")

    partial = run({"a": zoo.make("WSBLinTS"), "b": impatient}, env, trials=5)
    assert partial.interrupted and "interrupted" in repr(partial)
    assert partial.trials == [0, 1]
    whole = run({"a": zoo.make("WSBLinTS"), "b": zoo.make("DLinTS")}, env, trials=2)
    assert not whole.interrupted
    assert_same(partial, whole)


def test_interrupted_before_the_first_trial():
    def hasty(world):
        raise KeyboardInterrupt

    nothing = run({"a": hasty}, environment(), trace=True)
    assert nothing.interrupted and nothing.trials == []
    assert len(nothing.final_table()) == 0
    assert len(nothing.summary()) == 1
    assert nothing.traces is None


CTRL_C = """
import os
import signal

import wsbnb

# A job in the background is started with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
env = wsbnb.paper_environment("abrupt", 4, horizon=20_000)

def announced(world):
    os.write(1, b"trial\\n")  # one piece, also from two threads
    return wsbnb.Uniform(4)

def play(policies, trials):
    return wsbnb.simulate(policies, env, trials=trials, n_jobs=2, progress=False)

partial = play({"x": announced}, 10_000)
again = play({"x": wsbnb.Uniform(4)}, partial.trials)
same = partial.curves.equals(again.curves)
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
    assert np.isfinite(results.final["regret"]).all()
    assert len(results.curves) == 2 * 200


# --- arguments -----------------------------------------------------------------------

GOOD = {"x": wsbnb.Uniform(3)}


@pytest.mark.parametrize(
    "changes, error, words",
    [
        ({"policies": []}, ValueError, "policies must hold at least one"),
        ({"policies": {}}, ValueError, "policies must hold at least one"),
        ({"policies": {"a": 3}}, TypeError, "policies['a'] must have pull and update"),
        ({"policies": None}, TypeError, "must have pull and update"),
        (
            {"policies": [wsbnb.Uniform(3), wsbnb.Uniform(3)]},
            ValueError,
            "policies must have different names, got ['Uniform', 'Uniform']",
        ),
        ({"policies": wsbnb.Uniform(2)}, ValueError, "environment's dimension 3"),
        ({"environment": 3}, TypeError, "environment must be an Environment, got 3"),
        ({"trials": 0}, ValueError, "trials must be at least 1, got 0"),
        ({"trials": []}, ValueError, "trials must be different numbers, got []"),
        (
            {"trials": [1, 1]},
            ValueError,
            "trials must be different numbers, got [1, 1]",
        ),
        ({"trials": [-1]}, ValueError, "trials must be at least 0, got -1"),
        ({"trials": [0.5]}, TypeError, "trials must be a whole number, got 0.5"),
        ({"trials": 2.5}, TypeError, "trials must be a whole number or several"),
        ({"trials": True}, TypeError, "trials must be a whole number or several"),
        ({"trials": "12"}, TypeError, "trials must be a whole number or several"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": 1.5}, TypeError, "seed must be a whole number, got 1.5"),
        ({"seed": None}, TypeError, "seed must be a whole number, got None"),
        ({"points": 0}, ValueError, "points must be at least 1, got 0"),
        ({"points": 1.5}, TypeError, "points must be a whole number, got 1.5"),
    ],
)
def test_arguments(changes, error, words):
    arguments = {"policies": GOOD, "environment": environment(), **changes}
    with pytest.raises(error) as caught:
        wsbnb.simulate(**arguments, n_jobs=1, progress=False)
    assert words in str(caught.value), str(caught.value)
