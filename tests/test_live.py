"""The kernels as WebAssembly, run by wasmtime: no browser, the library's arms."""

import math
import pathlib
import sys

import numpy as np
import pytest

from tests import live_cases, zoo
from wsbnb.environments._trajectories import Held, Tour

wasmtime = pytest.importorskip("wasmtime")
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import sphinx_live  # noqa: E402

STACK = 1 << 18
KINDS = {"Widths": 0, "Sample": 1, "Chance": 2}
RULES = {"Exponential": 0, "Restart": 1, "Window": 2}
PENALTIES = {"static": 0, "cxv": 1, "triangle": 2, "exact": 3}
SPLITS = {"horizon": 0, "none": 1, "anytime": 2}
RADII = {"trace": 0, "lambda_max": 1}


class Host:
    """The module with a memory; arrays are put there one after the other."""

    def __init__(self, engine, module):
        store = self.store = wasmtime.Store(engine)
        many = wasmtime.Limits(1600, None)
        self.memory = wasmtime.Memory(store, wasmtime.MemoryType(many))
        kind = wasmtime.GlobalType(wasmtime.ValType.i32(), True)
        stack = wasmtime.Global(store, kind, wasmtime.Val.i32(STACK))
        have = {"__linear_memory": self.memory, "__stack_pointer": stack}
        imports = [
            have.get(need.name) or self.mathematics(need) for need in module.imports
        ]
        self.exports = wasmtime.Instance(store, module, imports).exports(store)
        self.top = STACK

    def mathematics(self, need):
        return wasmtime.Func(self.store, need.type, getattr(math, need.name))

    def __call__(self, name, *arguments):
        return self.exports[name](self.store, *arguments)

    def take(self, count):
        address, self.top = self.top, (self.top + 8 * count + 63) // 64 * 64
        return address

    def put(self, values):
        values = np.ascontiguousarray(values, dtype=np.float64)
        address = self.take(values.size)
        self.memory.write(self.store, bytearray(values.tobytes()), address)
        return address

    def get(self, address, *shape, kind=np.float64):
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        raw = self.memory.read(self.store, address, address + size)
        return np.frombuffer(bytes(raw), kind).reshape(shape)


@pytest.fixture(scope="module")
def module():
    engine = wasmtime.Engine()
    binary = sphinx_live.module_in(sphinx_live.compiled())
    return engine, wasmtime.Module(engine, binary)  # half a second: once for all tests


@pytest.fixture
def host(module):
    return Host(*module)


def header(policy, K):
    """The settings of a policy as tools/live/core.py reads them."""
    explore, rule = policy._explore, policy._posterior._rule
    optimism = getattr(policy.exploration, "optimism", policy.exploration)
    window = rule.length if hasattr(rule, "length") else 0
    up = getattr(explore, "up", getattr(explore, "scale", 0.0))
    by_radius = type(getattr(explore, "radius", None)).__name__ == "Radius"
    return [
        *(policy.dim, K, window),
        *(KINDS[type(explore).__name__], policy.exploration.local),
        *(RULES[type(rule).__name__], rule[0], policy.noise_std),
        *(up, getattr(explore, "down", 0.0), by_radius),
        *(getattr(optimism, "delta", 0.05), getattr(optimism, "horizon", 0) or 0),
        SPLITS[getattr(optimism, "split", "none")],
        RADII[getattr(optimism, "radius", "trace")],
        PENALTIES[getattr(optimism, "penalty", "static")],
        *(getattr(optimism, "param_bound", 1.0), getattr(optimism, "arm_bound", 1.0)),
    ]


def begin(host, policy, K):
    d, words = policy.dim, header(policy, K)
    block = host.take(host("size", d, K, int(words[2])))
    host.memory.write(host.store, bytearray(np.array(words, float).tobytes()), block)
    post = policy.posterior
    mean, cov = host.put(post.prior_mean), host.put(post.prior_cov)
    assert host("begin", block, mean, cov) == 1
    return block


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_module_plays_the_arms_of_the_library(name, host):
    for seed, shape in enumerate([{}, {"d": 1}, {"K": 1}]):
        policy, order = live_cases.game(name, seed, **shape)
        K, d = order["arms"].shape
        T = len(order["noise"])
        block, chosen = begin(host, policy, K), host.take(T)
        arms = host.put(order["arms"].T)
        numbers = [host.put(order[key]) for key in ("expected", "noise", "normals")]
        normals = policy.n_normals
        assert host("play", block, T, 1, normals, 1, arms, *numbers, chosen) == T
        out = host.take(d + 2 * d * d + 4)
        assert host("look", block, out) == 1
        expected, mean, precision = live_cases.answer(policy, order)
        assert (host.get(chosen, T, kind=np.int32) == expected).all()
        np.testing.assert_allclose(host.get(out, d), mean, rtol=1e-6, atol=1e-9)
        got, cov = host.get(out + 8 * d, 2, d, d)
        np.testing.assert_allclose(got, precision, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(cov, np.linalg.inv(precision), rtol=1e-5, atol=1e-9)
        host("restart", block)  # and once more from the beginning
        assert host("play", block, T, 1, normals, 1, arms, *numbers, chosen) == T
        assert (host.get(chosen, T, kind=np.int32) == expected).all()


def test_a_covariance_that_is_none_is_refused(host):
    policy, _ = live_cases.game("WSBLinTS", 0, d=2, K=3)
    block = begin(host, policy, 3)
    bad = host.put([[1.0, 2.0], [2.0, 1.0]])
    assert host("begin", block, host.put([0.0, 0.0]), bad) == 0


def test_silence_leads_back_to_the_prior(host):
    policy, _ = live_cases.game("WSBLinTS", 1, d=3, K=3)
    block, out = begin(host, policy, 3), host.take(3 + 18 + 4)
    host("learn", block, host.put([1.0, 2.0, 3.0]), 4.0, 1.0, 1.0)
    policy.update([1.0, 2.0, 3.0], 4.0)
    host("look", block, out)
    np.testing.assert_allclose(host.get(out, 3), policy.posterior.mean, rtol=1e-9)
    for _ in range(2):  # half a round and many rounds
        host("learn", block, host.put([0.0, 0.0, 0.0]), 0.0, 7.5, 0.0)
        policy.decay(7.5)
    host("look", block, out)
    np.testing.assert_allclose(host.get(out, 3), policy.posterior.mean, rtol=1e-9)
    host("learn", block, host.put([0.0, 0.0, 0.0]), 0.0, 1e6, 0.0)
    host("look", block, out)
    np.testing.assert_allclose(host.get(out, 3), policy.posterior.prior_mean)


# --- worlds ---------------------------------------------------------------------------


def normals(host, count, reader=1, trial=0, purpose=1):
    state, out = host.take(1), host.take(count)
    host("seed", state, reader, trial, purpose)
    host("normals", state, count, out)
    return out


def test_normals_are_normal_and_streams_differ(host):
    from scipy import stats

    z = host.get(normals(host, 50_001), 50_001)
    assert stats.kstest(z, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 0.02
    others = [{"reader": 2}, {"trial": 1}, {"purpose": 2}]
    for other in others:
        w = host.get(normals(host, 50_001, **other), 50_001)
        assert abs(np.corrcoef(z, w)[0, 1]) < 0.02
    assert (host.get(normals(host, 9), 9) == z[:9]).all()


@pytest.mark.parametrize("kind, number", [("still", 0), ("jumps", 1), ("moves", 2)])
@pytest.mark.parametrize("T", [37, 120])
def test_paths_are_those_of_the_library(kind, number, T, host):
    d, count = 5, 4
    place = normals(host, count * d)
    host("anchors", count, d, place)
    points = host.get(place, count, d)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0)
    np.testing.assert_allclose((points[1:] * points[:-1]).sum(axis=1), 0, atol=1e-12)
    theta = host.take(T * d)
    host("path", number, T, d, count, 0.0, place, theta)
    paths = {
        "still": lambda: Held(points[:1], T),
        "jumps": lambda: Held(points, T),
        "moves": lambda: Tour(points, T, np.random.default_rng(0)),
    }
    expected = paths[kind]().parameters(0, T)
    np.testing.assert_allclose(host.get(theta, T, d), expected, atol=1e-12)


def test_a_walk_has_steps_of_one_length(host):
    d, T, step = 3, 500, 0.07
    place, theta = normals(host, d), normals(host, T * d, purpose=5)
    host("anchors", 1, d, place)
    host("path", 3, T, d, 1, step, place, theta)
    path = host.get(theta, T, d)
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(np.diff(path, axis=0), axis=1), step)
    assert np.linalg.norm(path[-1] - path[0]) > 3 * step


@pytest.mark.parametrize("sets", [1, 30])
def test_rewards_and_regret(sets, host):
    T, d, K = 30, 3, 11
    arms, theta = normals(host, sets * d * K), normals(host, T * d, purpose=2)
    host("arms", sets, d, K, arms)
    X = host.get(arms, sets, d, K)
    np.testing.assert_allclose((X**2).sum(axis=1), 1.0)
    rewards, chosen, out = host.take(T * K), host.take(T), host.take(T)
    host("expect", T, d, K, sets, theta, arms, rewards)
    expected = np.einsum("ti,tik->tk", host.get(theta, T, d), np.resize(X, (T, d, K)))
    np.testing.assert_allclose(host.get(rewards, T, K), expected, atol=1e-12)
    arm = np.arange(T, dtype=np.int32) % K
    host.memory.write(host.store, bytearray(arm.tobytes()), chosen)
    last = host("regret", T, K, 2.0, rewards, chosen, out)
    lost = expected.max(axis=1) - expected[np.arange(T), arm]
    np.testing.assert_allclose(host.get(out, T), 2.0 + np.cumsum(lost))
    assert last == host.get(out, T)[-1]
