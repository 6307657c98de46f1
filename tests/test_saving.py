"""Files, pickles and copies: the same bits on the way back, and no trust in files."""

import copy
import json
import os
import pickle

import numpy as np
import pytest

import wsbnb
from tests import zoo
from wsbnb.policies import saving

GENERATORS = [
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.Philox,
    np.random.SFC64,
]


def play(policy, seed, rounds=15):
    X, rewards = zoo.problem(seed, rounds, 3, 5)
    chosen = []
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        policy.update(arms[k], paid[k])
        chosen.append(k)
    return chosen


def assert_same_bits(one, other):
    assert type(one) is type(other)
    a, b = one._get_state(), other._get_state()
    assert a.keys() == b.keys()
    for field in a:
        assert np.array_equal(a[field], b[field]), field
    same_generators(one._rng.bit_generator.state, other._rng.bit_generator.state)
    same_generators(one._rng_start, other._rng_start)
    for key, value in one.get_params().items():
        assert np.array_equal(value, other.get_params()[key]), key


def same_generators(one, other):
    np.testing.assert_equal(one, other)


WAYS = {
    "file": lambda policy, folder: through_file(policy, folder),
    "pickle": lambda policy, folder: pickle.loads(pickle.dumps(policy)),
    "copy": lambda policy, folder: copy.copy(policy),
    "deepcopy": lambda policy, folder: copy.deepcopy(policy),
    "clone": lambda policy, folder: policy.clone(),
}


def through_file(policy, folder):
    policy.save(folder / "policy.json")
    return wsbnb.load(folder / "policy.json")


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("name", zoo.ALL)
def test_round_trip(name, way, tmp_path):
    policy = zoo.make(name)
    play(policy, 1)
    again = WAYS[way](policy, tmp_path)
    assert_same_bits(policy, again)
    before = copy.deepcopy(policy._get_state())
    expected = play(copy.deepcopy(policy), 2)
    assert play(again, 2) == expected
    for field, value in policy._get_state().items():  # a copy shares nothing
        assert np.array_equal(value, before[field])
    assert play(policy, 2) == expected
    assert_same_bits(policy, again)
    policy.reset()
    again.reset()
    assert_same_bits(policy, again)
    assert play(policy, 3) == play(again, 3)


@pytest.mark.parametrize("bits", GENERATORS, ids=lambda bits: bits.__name__)
def test_generators(bits, tmp_path):
    policy = zoo.make("DLinTS", rng=np.random.Generator(bits(5)))
    play(policy, 1)
    policy._rng.integers(9, size=3, dtype=np.int32)  # leaves half a word behind
    again = through_file(policy, tmp_path)
    assert_same_bits(policy, again)
    assert play(policy, 2) == play(again, 2)
    assert policy._rng.integers(9, size=5, dtype=np.int32).tolist() == (
        again._rng.integers(9, size=5, dtype=np.int32).tolist()
    )
    policy.reset()
    again.reset()
    assert play(policy, 2) == play(again, 2)


@pytest.mark.parametrize("path", [str, os.fspath, lambda path: path])
def test_paths(path, tmp_path):
    place = path(tmp_path / "name with blanks")
    zoo.make("Greedy").save(place)
    assert isinstance(wsbnb.load(place), wsbnb.Greedy)
    with pytest.raises(FileNotFoundError):
        wsbnb.load(tmp_path / "absent.json")
    with pytest.raises(FileNotFoundError):
        zoo.make("Greedy").save(tmp_path / "absent" / "policy.json")


def test_settings_as_numpy_numbers(tmp_path):
    policy = wsbnb.DLinUCB(
        np.int64(2),
        np.float64(1.5),
        np.float32(0.5),
        np.array(0.5),
        np.float64(0.1),
        np.int32(100),
    )
    assert_same_bits(policy, through_file(policy, tmp_path))


def test_extreme_numbers_survive(tmp_path):
    policy = wsbnb.LinTS(2, 1e-300, 0.1 + 0.2, rng=2**127)
    policy.update([-0.0, 1e-160], 5e-324)
    assert_same_bits(policy, through_file(policy, tmp_path))


@wsbnb.register
class Remembering(wsbnb.Policy):
    """A policy of one's own that can be saved."""

    def __init__(self, dim, rng=None):
        super().__init__(rng)
        self.dim = dim
        self._restart()

    def _restart(self):
        self.total = np.zeros(self.dim)

    def _choose(self, X):
        return int(np.argmax(X @ (self.total + self._rng.standard_normal(self.dim))))

    def _learn(self, x, reward, decay):
        self.total += reward * x

    def _get_state(self):
        return {"total": self.total}

    def _set_state(self, state):
        self.total = np.array(state["total"], dtype=float)


def test_own_policy(tmp_path):
    policy = Remembering(3, rng=4)
    play(policy, 1)
    again = through_file(policy, tmp_path)
    assert play(policy, 2) == play(again, 2)
    assert "a loaded file continues" in wsbnb.check_policy(policy)


def test_a_class_may_be_defined_again():
    twin = type("Remembering", (Remembering,), {"__module__": Remembering.__module__})
    twin.__qualname__ = Remembering.__qualname__
    try:
        assert wsbnb.register(twin) is twin
        assert saving._REGISTRY["Remembering"] is twin
    finally:
        wsbnb.register(Remembering)


# --- writing -------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["replace", "fsync"])
def test_a_crash_while_saving_keeps_the_old_file(when, tmp_path, monkeypatch):
    path = tmp_path / "policy.json"
    old, new = zoo.make("WSBLinTS"), zoo.make("WSBLinTS")
    old.save(path)
    play(new, 1)

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, when, crash)
        with pytest.raises(KeyboardInterrupt):
            new.save(path)
    assert_same_bits(wsbnb.load(path), old)
    assert [p.name for p in tmp_path.iterdir()] == ["policy.json"]
    new.save(path)
    assert_same_bits(wsbnb.load(path), new)


def test_a_foreign_generator_is_refused_before_writing(tmp_path):
    class Odd:
        state = {"bit_generator": "Odd"}

    policy = zoo.make("WSBLinTS")
    policy._rng = type("Rng", (), {"bit_generator": Odd})()
    with pytest.raises(ValueError, match="rng must be one of 'PCG64'"):
        policy.save(tmp_path / "policy.json")
    assert list(tmp_path.iterdir()) == []


def test_state_that_is_not_a_number_is_not_written(tmp_path):
    policy = zoo.make("WSBLinTS")
    policy._state.P[0, 0] = np.nan
    with pytest.raises(ValueError):
        policy.save(tmp_path / "policy.json")
    assert list(tmp_path.iterdir()) == []


# --- reading what is not right -------------------------------------------------------


def written(tmp_path, name="SWLinUCB", rng=0):
    policy = zoo.make(name, rng=rng)
    play(policy, 1)
    path = tmp_path / "policy.json"
    policy.save(path)
    return path, json.loads(path.read_text())


def refuse(path, content):
    """Loading must end in a ValueError that names the file."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ValueError, match="policy.json") as caught:
        wsbnb.load(path)
    return str(caught.value)


def test_truncated_anywhere(tmp_path):
    path, _ = written(tmp_path)
    text = path.read_text()
    for end in [*range(0, len(text) - 1, 97), len(text) - 1]:
        assert "not a policy file of wsbnb, or not a whole one" in refuse(
            path, text[:end]
        )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "nonsense",
        "[1, 2]",
        "null",
        "3",
        '"text"',
        "{}",
        '{"format": "other", "version": 1}',
        '{"format": ["wsbnb-policy"], "version": 1}',
        b"\xff\xfe\x00binary",
        b"\x80\x04\x95K\x00",
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"format": ' + "1" * 5000 + "}",
    ],
    ids=range(14),
)
def test_foreign_files(content, tmp_path):
    refuse(tmp_path / "policy.json", content)


def test_pickles_are_not_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.system, ("touch " + str(tmp_path / "executed"),)

    refuse(tmp_path / "policy.json", pickle.dumps(Trap()))
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("version", [0, 2, "1", None, [1], {}])
def test_versions(version, tmp_path):
    path, content = written(tmp_path)
    said = refuse(path, {**content, "version": version})
    assert f"version {version!r}" in said and "reads version 1" in said


@pytest.mark.parametrize("key", ["class", "params", "state", "rng", "rng_start"])
def test_missing_parts(key, tmp_path):
    path, content = written(tmp_path)
    del content[key]
    assert key in refuse(path, content)
    for junk in (None, 1, "x", [], [1], {}, {"a": 1}, True, 1e400):
        refuse(path, {**content, key: junk})


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "__import__",
        "builtins.eval",
        "Policy",
        "LinearPolicy",
        "object",
        "wsbnb.WSBLinTS",
        "",
        ["WSBLinTS"],
        {"WSBLinTS": 1},
    ],
)
def test_unknown_classes_are_never_built(name, tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(os, "system", called.append)
    path, content = written(tmp_path)
    said = refuse(path, {**content, "class": name, "params": {"command": "true"}})
    assert "is not one of" in said
    assert called == []


@pytest.mark.parametrize(
    "changes",
    [
        {"dim": 10**9},
        {"dim": 10**30},
        {"dim": -1},
        {"length": 10**12},
        {"length": 5},
        {"discount": 0.5},
        {"regularization": -1.0},
        {"noise_std": "__import__('os')"},
        {"delta": None},
        {"__class__": "x"},
        {"self": 1},
    ],
    ids=str,
)
def test_hostile_settings(changes, tmp_path):
    path, content = written(tmp_path)
    refuse(path, {**content, "params": {**content["params"], **changes}})


def spoiled(array, index, value):
    array = copy.deepcopy(array)
    place = array
    for i in index[:-1]:
        place = place[i]
    place[index[-1]] = value
    return array


@pytest.mark.parametrize(
    "field, index, value",
    [
        ("P", (0, 0), float("nan")),
        ("P", (0, 0), float("inf")),
        ("P", (0, 0), -1.0),
        ("P", (0, 1), 1e3),
        ("P", (0, 0), "one"),
        ("P", (0, 0), None),
        ("P", (0, 0), 10**400),
        ("P", (0,), [1.0]),
        ("P_tilde", (1, 1), -1.0),
        ("h", (0,), float("nan")),
        ("h", (0,), [1.0]),
        ("counts", (0,), -1.0),
        ("counts", (3,), 1e9),
        ("counts", (3,), -1.0),
        ("counts", (3,), 0.5),
        ("counts", (3,), 9.0),
        ("ring_w", (0,), 7.0),
        ("ring_x", (0, 0), float("inf")),
    ],
)
def test_hostile_states(field, index, value, tmp_path):
    """A head beyond the window, for one, would have the compiled code read anywhere."""
    path, content = written(tmp_path)
    content["state"][field] = spoiled(content["state"][field], index, value)
    refuse(path, content)


def test_state_of_the_wrong_size(tmp_path):
    path, content = written(tmp_path)
    for field in content["state"]:
        refuse(path, {**content, "state": {**content["state"], field: []}})
        refuse(path, {**content, "state": {**content["state"], field: [[1.0] * 9] * 9}})
        without = {k: v for k, v in content["state"].items() if k != field}
        refuse(path, {**content, "state": without})


HOSTILE_GENERATORS = [
    (np.random.MT19937, ("state", "pos"), 10**6),
    (np.random.MT19937, ("state", "pos"), -1),
    (np.random.MT19937, ("state", "key"), [1] * 5),
    (np.random.MT19937, ("state", "key"), [-1] * 624),
    (np.random.MT19937, ("state", "key"), "k" * 624),
    (np.random.Philox, ("buffer_pos",), 10**6),
    (np.random.Philox, ("buffer",), [1]),
    (np.random.Philox, ("state", "counter"), [2**70] * 4),
    (np.random.PCG64, ("state", "state"), -5),
    (np.random.PCG64, ("state", "state"), 2**200),
    (np.random.PCG64, ("has_uint32",), 2),
    (np.random.PCG64, ("has_uint32",), "x"),
    (np.random.PCG64, ("uinteger",), 2**70),
    (np.random.PCG64, ("state",), [1]),
    (np.random.PCG64, ("bit_generator",), "Generator"),
    (np.random.PCG64, ("bit_generator",), "__class__"),
    (np.random.PCG64, ("bit_generator",), ["PCG64"]),
    (np.random.PCG64, ("bit_generator",), "MT19937"),
    (np.random.PCG64, ("extra",), 1),
    (np.random.SFC64, ("state", "state"), [1.5, "a"]),
]


@pytest.mark.parametrize("part", ["rng", "rng_start"])
@pytest.mark.parametrize("bits, index, value", HOSTILE_GENERATORS)
def test_hostile_generators(bits, index, value, part, tmp_path):
    """NumPy believes a position beyond its array and crashes at the next draw."""
    path, content = written(tmp_path, "DLinTS", rng=np.random.Generator(bits(1)))
    content[part] = spoiled(content[part], index, value)
    refuse(path, content)


def test_the_file_is_readable(tmp_path):
    path, content = written(tmp_path)
    assert content["format"] == "wsbnb-policy"
    assert content["version"] == 1
    assert content["class"] == "SWLinUCB"
    assert content["params"]["length"] == 9
