"""The benchmark measures what it says; how fast the machine is, is not tested."""

import json
import types

import numpy as np
import pytest

from wsbnb.paper import bench, cli, reference
from wsbnb.policies import named


@pytest.fixture
def clockwork(monkeypatch):
    """Every candidate takes one microsecond."""
    monkeypatch.setattr(bench, "interleaved", lambda c, r: dict.fromkeys(c, 1e-6))


def test_cost_table_compares_each_algorithm_with_its_reference():
    names = ("LBWeightUCB", "WSBLinTS")
    table = bench.cost_table(names, dims=(2, 3), n_arms=4, rounds=20, repeats=1)
    assert list(table.algorithm) == ["LB-WeightUCB", "WSB-LinTS"] * 2
    assert list(table.dim) == [2, 2, 3, 3]
    assert (table.microseconds > 0).all()
    np.testing.assert_allclose(
        table.ratio, table.reference_microseconds / table.microseconds
    )


class _Replay:
    """A generator that gives out normals drawn before."""

    def __init__(self, normals):
        self.normals = normals
        self.bit_generator = self
        self.state = None

    def standard_normal(self, shape):
        rows, columns = shape
        assert rows == 1
        return self.normals[None, :columns].copy()


@pytest.mark.parametrize("name", bench.NAMES)
def test_both_candidates_play_the_same_game(name):
    """The two sides of a ratio choose the same arms on the benchmark's world."""
    arms, expected, noise, normals = bench._world(3, 5, 40)
    ours = bench.make_policy(named, name, 3)
    plain = bench.make_policy(reference, name, 3)
    X = np.ascontiguousarray(arms[0].T)
    same = 0
    for t in range(40):
        m = plain._normals_needed()
        assert m == ours.n_normals
        k = plain.pull(X, normals[t, :m])
        ours._rng = _Replay(normals[t])
        same += ours.pull(X) == k
        reward = expected[t, k] + noise[t]
        ours.update(X[k], reward)
        plain.update(X[k], reward)
    # The certified eigenvalue of WSB-LinUCB may tip a close decision.
    assert same >= (38 if name == "WSBLinUCB" else 40)


@pytest.mark.parametrize("name", bench.NAMES)
def test_what_is_timed_is_the_game(name, monkeypatch):
    """The compiled candidate plays the arms that its policy plays by itself."""
    played = []
    cls = getattr(named, name)
    real = cls._play_rounds

    def noting(self, *arguments):
        played.append(real(self, *arguments))
        return played[-1]

    monkeypatch.setattr(cls, "_play_rounds", noting)
    candidate = bench._Compiled(bench.make_policy(named, name, 3), 5, 40)
    assert candidate.run() > 0.0
    arms, expected, noise, normals = candidate.world
    policy, X = candidate.policy.clone(0), arms[0].T
    for t in range(40):
        policy._rng = _Replay(normals[t])
        k = policy.pull(X)
        policy.update(X[k], expected[t, k] + noise[t])
        assert played[0][t] == k
    assert len(played) == 2  # once into the cache, once on the clock


def test_flops_by_hand():
    # d = 2, K = 3: 8/3 factor, 12 solve, 24 scores, 24 update.
    assert np.isclose(bench.flops("LBWeightUCB", 2, 3), 8 / 3 + 12 + 24 + 24)
    assert np.isclose(bench.flops("WSBRandLinUCB", 2, 3), 8 / 3 + 12 + 24 + 24)
    # The eigenvalue: a factor and two products of a matrix and a vector, less adding.
    assert np.isclose(bench.flops("WSBLinUCB", 2, 3), 16 / 3 + 12 + 24 + 24 + 8)
    # The local norm: two factors' worth, 12 for the arms, two products with a vector.
    for name in ("DLinUCB", "DRandLinUCB"):
        assert np.isclose(bench.flops(name, 2, 3), 24 / 3 + 12 + 24 + 24 + 12 + 16)
    # A sample: two factors, 24 to update, 12 scores, 28 to draw.
    assert np.isclose(bench.flops("DLinTS", 2, 3), 16 / 3 + 24 + 12 + 28)
    for name in bench.NAMES:
        assert bench.flops(name, 8, 48) < bench.flops(name, 16, 48)


@pytest.fixture
def slow_clock(monkeypatch):
    """A clock that shows one second more whenever somebody looks."""
    seconds = iter(range(100))
    clock = types.SimpleNamespace(process_time=lambda: next(seconds))
    monkeypatch.setattr(bench, "time", clock)


def test_seconds_are_divided_by_the_rounds_on_the_clock(slow_clock, monkeypatch):
    monkeypatch.setattr(bench, "block_size", lambda *words: 16)
    policy = bench.make_policy(named, "WSBLinTS", 3)
    assert bench._Compiled(policy, 5, 40).run() == 1 / 48  # three blocks of 16
    assert bench._Reference("WSBLinTS", 3, 5, 40).run() == 1 / 32  # 8 to warm up
    assert bench._Loop(policy, 5, 40).run() == 1 / 40


def test_peak_counts_a_product_and_a_sum(slow_clock):
    """200 products of 64 x 64 a second, 2 * 64^3 operations each."""
    assert bench.peak_gflops() == pytest.approx(200 * 2 * 64**3 / 1e9)


def test_units_of_the_tables(monkeypatch):
    """One microsecond compiled, four for the reference, at a peak of 10 gigaflops."""
    seconds = {"compiled": 1e-6, "reference": 4e-6}

    def told(candidates, repeats):
        return {key: seconds.get(key[0], 1e-6) for key in candidates}

    monkeypatch.setattr(bench, "interleaved", told)
    monkeypatch.setattr(bench, "peak_gflops", lambda: 10.0)
    (row,) = bench.cost_table(["WSBLinTS"], dims=[3], n_arms=10).to_dict("records")
    times = row["microseconds"], row["reference_microseconds"], row["ratio"]
    assert times == pytest.approx((1.0, 4.0, 4.0)) and row["flops"] == 132.0
    assert row["peak_share"] == pytest.approx(132 / 10_000)  # 10 000 in the time
    for table in (bench.loop_table(rounds=5), bench.adaptive_table(dims=(2,))):
        np.testing.assert_allclose(table["microseconds"], 1.0)


def test_growth_table_covers_the_three_axes(clockwork):
    growth = bench.growth_table()
    assert set(growth.varied) == {"d", "K", "T"}
    assert growth.dim.max() == 256 and growth.arms.max() == 10_000
    assert np.allclose(growth.microseconds, 1.0)


def test_adaptive_policies_stand_beside_their_base(clockwork):
    table = bench.adaptive_table(dims=(2,), members=4)
    assert table["policy"].tolist()[0] == "WSB-LinTS" and len(table) == 4
    assert table["members"].tolist() == [1, 4, 4, 1]


def test_candidates_take_turns_and_the_smallest_time_counts():
    class Candidate:
        def __init__(self, name, times):
            self.name, self.times = name, iter(times)

        def run(self):
            order.append(self.name)
            return next(self.times)

    order = []
    pair = {"a": Candidate("a", [0, 5, 3, 4]), "b": Candidate("b", [0, 1, 9, 2])}
    assert bench.interleaved(pair, 3) == {"a": 3, "b": 1}  # the first run warms up
    assert order == ["a", "b"] * 4


@pytest.fixture
def cheap(clockwork, monkeypatch):
    """Nothing is started and nothing is run."""
    monkeypatch.setattr(bench, "_first_call", lambda name, cache: (0.5, 0.25))
    monkeypatch.setattr(bench, "paper_seconds", lambda trials: {"trials": trials})
    monkeypatch.setattr(bench, "peak_gflops", lambda: 10.0)


def test_command_line_prints_json(cheap, capsys):
    assert cli.main(["bench", "--quick", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert set(tables) == {"cost", "growth", "adaptive", "loop", "waiting", "paper"}
    assert {row["dim"] for row in tables["cost"]} == set(bench.DIMS)
    contract = "algorithm dim arms microseconds reference_microseconds ratio"
    assert set(contract.split()) <= set(tables["cost"][0])
    assert tables["waiting"][0] == {
        "algorithm": "WSB-LinTS",
        "import_seconds": 0.5,
        "first_call_seconds": 0.25,
        "next_process_seconds": 0.25,
    }
    assert tables["paper"] == [{"trials": 2}]


def test_command_line_prints_tables(cheap, capsys):
    assert cli.main(["bench"]) == 0
    said = capsys.readouterr().out
    for word in ("cost", "growth", "adaptive", "loop", "waiting", "paper"):
        assert f"{word}\n" in said
    assert "WSB-RandLinUCB" in said


def test_first_call_is_measured_in_a_process_of_its_own(tmp_path):
    imported, called = bench._first_call("WSBLinTS", str(tmp_path))
    assert 0.0 < imported < 60.0 and 0.0 < called < 120.0
    assert list(tmp_path.rglob("*.nbi"))  # it compiled into the folder given
    _, again = bench._first_call("WSBLinTS", str(tmp_path))
    assert again < called


def test_paper_seconds_scale_to_a_hundred_trials(monkeypatch):
    asked = []
    monkeypatch.setattr(
        bench, "run_cells", lambda cells, **words: asked.append((len(cells), words))
    )
    row = bench.paper_seconds(4)
    assert [count for count, _ in asked] == [160, 160]
    assert asked[1][1] == {"trials": 4, "cache": False}
    assert row["seconds_100_trials"] == 25 * row["seconds"]
    assert row["cpu_seconds_100_trials"] == 25 * row["cpu_seconds"]


def test_peak_is_a_plausible_speed():
    assert 0.05 < bench.peak_gflops(repeats=2) < 1000
