"""The benchmark measures what it says; how fast the machine is, is not tested."""

import json

import numpy as np
import pytest

from wsbnb import bench, policies, reference


def test_cost_table_compares_each_algorithm_with_its_reference():
    names = ("LBWeightUCB", "WSBLinTS")
    table = bench.cost_table(names, dims=(2, 3), n_arms=4, rounds=20, repeats=1)
    assert list(table.algorithm) == ["LB-WeightUCB", "WSB-LinTS"] * 2
    assert list(table.dim) == [2, 2, 3, 3]
    assert (table.microseconds > 0).all()
    np.testing.assert_allclose(
        table.ratio, table.reference_microseconds / table.microseconds
    )


@pytest.mark.parametrize("name", bench.NAMES)
def test_both_candidates_play_the_same_game(name):
    """The two sides of a ratio choose the same arms on the benchmark's world."""
    arms, expected, noise, normals = bench._world(3, 5, 40)
    ours = bench.make_policy(policies, name, 3)
    plain = bench.make_policy(reference, name, 3)
    X = np.ascontiguousarray(arms[0].T)
    same = 0
    for t in range(40):
        m = plain._normals_needed()
        k = plain.pull(X, normals[t, :m])
        ours._rng = _Replay(normals[t])
        same += ours.pull(X) == k
        reward = expected[t, k] + noise[t]
        ours.update(X[k], reward)
        plain.update(X[k], reward)
    # The certified eigenvalue of WSB-LinUCB may tip a close decision.
    assert same >= (38 if name == "WSBLinUCB" else 40)


class _Replay:
    """A generator that gives out normals drawn before."""

    def __init__(self, normals):
        self.normals = normals

    def standard_normal(self, n):
        return self.normals[:n].copy()


def test_flops_by_hand():
    # d = 2, K = 3: 8/3 factor, 12 solve, 24 scores, 24 update.
    assert np.isclose(bench.flops("LBWeightUCB", 2, 3), 8 / 3 + 12 + 24 + 24)
    for name in bench.NAMES:
        assert bench.flops(name, 8, 48) < bench.flops(name, 16, 48)


def test_growth_table_covers_the_three_axes(monkeypatch):
    monkeypatch.setattr(bench, "interleaved", lambda c, r: dict.fromkeys(c, 1e-6))
    growth = bench.growth_table()
    assert set(growth.varied) == {"d", "K", "T"}
    assert growth.dim.max() == 256 and growth.arms.max() == 10_000
    assert np.allclose(growth.microseconds, 1.0)


def test_command_line_prints_json(monkeypatch, capsys):
    monkeypatch.setattr(bench, "interleaved", lambda c, r: dict.fromkeys(c, 1e-6))
    assert bench.main(["--quick", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert set(tables) == {"cost", "growth"}
    assert {row["dim"] for row in tables["cost"]} == set(bench.DIMS)


def test_peak_is_a_plausible_speed():
    assert 0.05 < bench.peak_gflops(repeats=2) < 1000
