"""Files, pickles and copies: the same bits on the way back, and no trust in files."""

import copy
import json
import os
import pickle
import sys

import numpy as np
import pytest

import wsbnb
from tests import zoo
from wsbnb import exploration
from wsbnb.adaptive.master import Master
from wsbnb.exploration import Optimism, RandomisedOptimism, Thompson
from wsbnb.policies import saving
from wsbnb.weights import CustomWeights, Exponential, Polynomial, Restart, SlidingWindow

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
    np.testing.assert_equal(one._get_state(), other._get_state())
    np.testing.assert_equal(
        one._rng.bit_generator.state, other._rng.bit_generator.state
    )
    np.testing.assert_equal(one._rng_start, other._rng_start)
    assert one.get_params().keys() == other.get_params().keys()
    for key, value in one.get_params().items():
        if key != "posterior":  # it has no equality; its state is compared above
            np.testing.assert_equal(value, other.get_params()[key])


WAYS = {
    "file": lambda policy, folder: through_file(policy, folder),
    "pickle": lambda policy, folder: pickle.loads(pickle.dumps(policy)),
    "copy": lambda policy, folder: copy.copy(policy),
    "deepcopy": lambda policy, folder: copy.deepcopy(policy),
    "policy.copy": lambda policy, folder: policy.copy(),
}


def through_file(policy, folder):
    policy.save(folder / "policy.json")
    return wsbnb.load(folder / "policy.json")


def composed(rule, explore):
    mean, cov = zoo.prior(3)
    prior = dict(prior_mean=mean, prior_cov=cov, noise_std=zoo.SIGMA)
    posterior = wsbnb.WSBPosterior(**prior, forgetting=rule)
    return wsbnb.LinearPolicy(posterior, explore, rng=0)


EXACT = Optimism(penalty="exact", param_bound=zoo.S)
#: What is compiled for them is compiled for `test_exploration.py`, too.
COMPOSED = {
    "window": lambda: composed(SlidingWindow(6), Thompson(scale=0.7, norm="local")),
    "restart": lambda: composed(
        Restart(6), Optimism(horizon=99, param_bound=zoo.S, penalty="triangle")
    ),
    "round": lambda: composed(
        Polynomial(1.5, of="round"),
        RandomisedOptimism(scale=0.7, perturbation="gaussian"),
    ),
    "age": lambda: composed(
        Polynomial(1.5, of="age"),
        RandomisedOptimism(perturbation="radius", optimism=EXACT),
    ),
    "greedy": lambda: composed(Exponential(0.9), exploration.Greedy()),
    "uniform": lambda: composed(Exponential(0.9), exploration.Uniform()),
    "ridge": lambda: wsbnb.LinearPolicy(
        wsbnb.WRLS(
            dim=3, regularization=0.3, noise_std=0.4, forgetting=SlidingWindow(5)
        ),
        Thompson(norm="local"),
        rng=0,
    ),
}


def make(name):
    return COMPOSED[name]() if name in COMPOSED else zoo.make(name)


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("name", [*zoo.ALL, *COMPOSED])
def test_round_trip(name, way, tmp_path):
    policy = make(name)
    play(policy, 1)
    again = WAYS[way](policy, tmp_path)
    assert_same_bits(policy, again)
    before = copy.deepcopy(policy._get_state())
    expected = play(copy.deepcopy(policy), 2)
    assert play(again, 2) == expected
    np.testing.assert_equal(policy._get_state(), before)  # a copy shares nothing
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
        dim=np.int64(2),
        regularization=np.float64(1.5),
        discount=np.float32(0.5),
        noise_std=np.array(0.5),
        delta=np.float64(0.1),
        horizon=np.int32(100),
    )
    assert_same_bits(policy, through_file(policy, tmp_path))


def test_extreme_numbers_survive(tmp_path):
    policy = wsbnb.LinTS(dim=2, regularization=1e-140, noise_std=0.1 + 0.2, rng=2**127)
    policy.update([-0.0, 1e-160], 5e-324)
    assert_same_bits(policy, through_file(policy, tmp_path))


@pytest.mark.parametrize("rounds", [30, 3000])
@pytest.mark.parametrize("seed", range(4))
def test_a_policy_that_knows_one_direction_only_is_read(seed, rounds, tmp_path):
    """Rounding in the direction that is known exceeds what is known of the others."""
    rng = np.random.default_rng(seed)
    x, paid = rng.standard_normal(3), 0.3 + 1e-4 * rng.standard_normal(rounds)
    known = {"prior_cov": np.eye(3), "noise_std": 1e-4, "discount": 1.0}
    policy = wsbnb.WSBLinUCB(**{**zoo.settings("WSBLinUCB", 3), **known})
    policy.update(np.repeat(x[None], rounds, axis=0), paid)
    assert_same_bits(policy, through_file(policy, tmp_path))


def test_a_random_walk_before_the_first_reward_is_read(tmp_path):
    """Its precision falls; entries beside the diagonal may rise."""
    policy = zoo.make("RandomWalkLinTS", prior_cov=np.eye(3) + 0.5)
    policy.decay(10)
    assert_same_bits(policy, through_file(policy, tmp_path))


@pytest.mark.parametrize("name", ["WSBLinTS", "SWLinUCB", "DLinUCB"])
def test_the_last_rounds_of_a_clock_are_read(name, tmp_path):
    """Time ends at 2**52; observations may follow, and the file must not be lost."""
    policy = zoo.make(name)
    policy.decay(2.0**52)
    with pytest.raises(ValueError, match="steps must lead to round"):
        policy.decay(1.0)
    play(policy, 1)
    assert_same_bits(policy, through_file(policy, tmp_path))


def test_an_oracle_may_be_sent_to_any_round(tmp_path):
    policy = zoo.make("Oracle")
    for _ in range(2):
        policy.decay(2**53)
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


@wsbnb.register
class Unmoved(wsbnb.Policy):
    """A policy of one's own that plays by its prior, and counts."""

    def __init__(self, prior_mean, rng=None):
        super().__init__(rng)
        self.prior_mean = np.array(prior_mean, dtype=float)
        self._restart()

    @property
    def dim(self):
        return len(self.prior_mean)

    def _restart(self):
        self.rounds = 0

    def _choose(self, X):
        return int(np.argmax(X @ self.prior_mean))

    def _learn(self, x, reward, decay):
        self.rounds += 1

    def _get_state(self):
        return {"rounds": self.rounds}

    def _set_state(self, state):
        self.rounds = state["rounds"]


def test_a_policy_of_ones_own_needs_no_matrix_for_its_prior(tmp_path):
    policy = Unmoved(np.arange(100.0))
    policy.update(np.ones(100), 1.0)
    again = through_file(policy, tmp_path)
    assert again.rounds == 1 and again.dim == 100


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
    policy.posterior._state.sums[0, 0] = np.nan
    with pytest.raises(ValueError, match="not JSON compliant"):
        policy.save(tmp_path / "policy.json")
    assert list(tmp_path.iterdir()) == []


def test_a_function_is_not_written(tmp_path):
    """Weights of one's own are code, and a file holds none."""
    policy = composed(CustomWeights(lambda s, t: s / t), Thompson())
    play(policy, 1)
    with pytest.raises(TypeError, match="must consist of plain data"):
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


def refuse_signed(path, content):
    """The same for a forger who knows how to make a checksum."""
    plain = json.loads(json.dumps(content))
    said = refuse(path, {**plain, "checksum": saving._checksum(plain)})
    assert "checksum" not in said
    return said


def test_a_changed_digit_is_refused(tmp_path):
    """Each number of what was learnt in turn; the file stays valid JSON."""
    path, _ = written(tmp_path)
    text = path.read_text()
    start = text.index('"state"')
    digits = [i for i in range(start, len(text)) if text[i] in "12345678"]
    for i in digits[:: len(digits) // 60]:
        changed = text[:i] + str(int(text[i]) + 1) + text[i + 1 :]
        if same_numbers(changed, text):
            continue  # a seventeenth digit may stand for the same double
        assert "its checksum does not fit" in refuse(path, changed)
    path.write_text(text)
    wsbnb.load(path)


def same_numbers(one, two):
    try:
        return json.loads(one) == json.loads(two)
    except ValueError:  # a number with a leading zero
        return False


@pytest.mark.parametrize("name", ["WSBLinUCB", "SWLinUCB", "Oracle", "age", "DLinTS"])
def test_no_digit_can_be_changed_unnoticed(name, tmp_path):
    """Any digit of the file, the version and the checksum among them."""
    path = tmp_path / "policy.json"
    policy = make(name)
    play(policy, 1)
    policy.save(path)
    text = path.read_text()
    digits = [i for i, letter in enumerate(text) if letter.isdigit()]
    rng = np.random.default_rng(0)
    version = text.index('"version": 2') + len('"version": ')
    for i in [version, *rng.choice(digits, 800, replace=len(digits) < 800)]:
        other = str((int(text[i]) + rng.integers(1, 10)) % 10)
        changed = text[:i] + other + text[i + 1 :]
        # A seventeenth digit may stand for the same double.
        if not same_numbers(changed, text):
            refuse(path, changed)
    path.write_text(text)
    assert_same_bits(wsbnb.load(path), policy)


def test_layout_is_not_content(tmp_path):
    """Whoever reformats the file has changed nothing."""
    path, content = written(tmp_path, "WSBLinTS")
    expected = wsbnb.load(path)
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True))
    assert_same_bits(wsbnb.load(path), expected)


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


def test_settings_of_any_depth_are_refused(tmp_path):
    """What the reader of JSON can still follow others cannot, one after the other."""
    path, content = written(tmp_path, "WSBLinTS")
    limit = sys.getrecursionlimit()
    try:
        for depth in (*range(limit - 200, limit - 100, 9), *range(limit - 99, limit)):
            part = '{"kind": "exploration.Greedy", "of": ' * depth + "1" + "}" * depth
            text = json.dumps({**content, "params": "HERE"}).replace('"HERE"', part)
            sys.setrecursionlimit(9 * limit)
            signed = {
                **json.loads(text),
                "checksum": saving._checksum(json.loads(text)),
            }
            text = json.dumps(signed)
            sys.setrecursionlimit(limit)
            refuse(path, text)
    finally:
        sys.setrecursionlimit(limit)


def test_pickles_are_not_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.system, ("touch " + str(tmp_path / "executed"),)

    refuse(tmp_path / "policy.json", pickle.dumps(Trap()))
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("version", [0, 3, "2", None, [1], {}])
def test_versions(version, tmp_path):
    path, content = written(tmp_path)
    said = refuse(path, {**content, "version": version})
    assert f"version {version!r}" in said and "reads versions 1 to 2" in said


@pytest.mark.parametrize("key", ["class", "params", "state", "rng", "rng_start"])
def test_missing_parts(key, tmp_path):
    path, content = written(tmp_path)
    del content[key]
    assert key in refuse(path, content)
    for junk in (None, 1, "x", [], [1], {}, {"a": 1}, True, 1e400):
        refuse_signed(path, {**content, key: junk})


def test_a_missing_checksum(tmp_path):
    path, content = written(tmp_path)
    del content["checksum"]
    assert "its checksum does not fit" in refuse(path, content)


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "__import__",
        "builtins.eval",
        "Policy",
        "WSBPosterior",
        "Thompson",
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
    hostile = {**content, "class": name, "params": {"command": "true"}}
    assert "is not one of" in refuse_signed(path, hostile)
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
    refuse_signed(path, {**content, "params": {**content["params"], **changes}})


@pytest.mark.parametrize(
    "part, changes",
    [
        ("posterior", {"kind": "os.system"}),
        ("posterior", {"kind": "exploration.Thompson"}),
        ("posterior", {"kind": ["WSBPosterior"]}),
        ("posterior", {"kind": None}),
        ("posterior", {"prior_mean": [0.0]}),
        ("posterior", {"prior_cov": -1.0}),
        (
            "posterior",
            {"forgetting": {"kind": "weights.CustomWeights", "function": "eval"}},
        ),
        (
            "posterior",
            {"forgetting": {"kind": "weights.SlidingWindow", "length": 10**9}},
        ),
        ("posterior", {"forgetting": {"kind": "weights.SlidingWindow", "length": 5}}),
        ("posterior", {"forgetting": 0.9}),
        ("posterior", {"more": 1}),
        ("exploration", {"kind": "WSBLinTS"}),
        ("exploration", {"kind": "Thompson"}),
        ("exploration", {"kind": "WSBPosterior"}),
        ("exploration", {"scale": -1.0}),
        ("exploration", {"norm": "global"}),
    ],
    ids=str,
)
def test_hostile_parts(part, changes, tmp_path):
    path = tmp_path / "policy.json"
    policy = make("window")
    play(policy, 1)
    policy.save(path)
    content = json.loads(path.read_text())
    content["params"][part].update(changes)
    refuse_signed(path, content)


@pytest.mark.parametrize("name", ["WSBLinTS", "window", "Master"])
@pytest.mark.parametrize("state", ["short", "padded"])
def test_a_long_prior_takes_no_memory(name, state, tmp_path):
    """Longer ones would take days and gigabytes; a file of theirs holds a matrix."""
    if name == "Master":
        policy = Master(zoo.make("WSBLinUCB"), horizon=99, rng=0)
    else:
        policy = make(name)
    path = tmp_path / "policy.json"
    policy.save(path)
    content = json.loads(path.read_text())
    words = content["params"]
    words = words.get("posterior", words.get("base", words))
    words.update(prior_mean=[0.0] * 3000, prior_cov=1.0)
    if state == "padded":
        content["state"]["more"] = "x" * 5000
    assert "prior_mean cannot have size 3000" in refuse_signed(path, content)


def spoiled(array, index, value):
    array = copy.deepcopy(array)
    place = array
    for i in index[:-1]:
        place = place[i]
    place[index[-1]] = value
    return array


@pytest.mark.parametrize(
    "index, value",
    [
        (("precision", 0, 0), float("nan")),
        (("precision", 0, 0), float("inf")),
        (("precision", 0, 0), -1.0),
        (("precision", 0, 0), 99.0),  # not the sum of the rows in the window
        (("precision", 0, 1), 1e3),
        (("precision", 0, 0), "one"),
        (("precision", 0, 0), None),
        (("precision", 0, 0), 10**400),
        (("precision", 0), [1.0]),
        (("shift", 0), float("nan")),
        (("shift", 0), 99.0),
        (("shift", 0), [1.0]),
        (("counts", 0), -1.0),
        (("counts", 0), "x"),
        (("counts", 0), 1e300),
        (("counts", 0), 5.0),  # fewer rounds than rows in the window
        (("counts", 1), 8.0),
        (("counts", 2), 8.0),
        (("shift", 0), 1e305),
        (("ring", "wear", 0), 1e9),
        (("ring", "wear", 0), -1.0),
        (("ring", "wear", 0), 0.5),
        (("ring", "wear", 0), 9.0),
        (("ring", "held", 0), 7.0),
        (("ring", "x", 0, 0), float("inf")),
        (("ring", "x", 0, 0), 99.0),
        (("ring", "rewards", 0), "one"),
    ],
    ids=str,
)
def test_hostile_states(index, value, tmp_path):
    """A head beyond the window, for one, would have the compiled code read anywhere."""
    path, content = written(tmp_path)
    learnt = content["state"]["posterior"]
    content["state"]["posterior"] = spoiled(learnt, index, value)
    refuse_signed(path, content)


@pytest.mark.parametrize(
    "name, field, value",
    [
        ("DLinTS", "squares", [[1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]]),
        ("DLinTS", "squares", None),
        ("WSBLinUCB", "bound", None),
        ("WSBLinUCB", "counts", [15.0, 3.0, 4.0]),
        ("WSBLinUCB", "counts", [15.0, 0.0, 0.0]),
        ("WSBLinUCB", "counts", [15.0, 0.5, 0.4]),
        ("WSBLinUCB", "counts", [1e17, 9.0, 5.0]),
        ("WSBLinUCB", "shift", [1e305, 0.0, 0.0]),
        ("WSBLinUCB", "precision", [[1e-3, 0, 0], [0, 1e-3, 0], [0, 0, 1e-3]]),
        ("age", "history", None),
        ("age", "history", [[], [], []]),
        ("age", "history", [[1], [[0.0, 0.0, 0.0]], [0.0]]),
    ],
)
def test_hostile_states_of_others(name, field, value, tmp_path):
    path = tmp_path / "policy.json"
    policy = make(name)
    play(policy, 1)
    policy.save(path)
    content = json.loads(path.read_text())
    content["state"]["posterior"][field] = value
    refuse_signed(path, content)


@pytest.mark.parametrize("residuals", [[0.1] * 200, [float("nan")], "x", [[0.1]], None])
def test_hostile_residuals(residuals, tmp_path):
    path, content = written(tmp_path)
    content["state"]["residuals"]["collected"] = residuals
    refuse_signed(path, content)


def test_state_of_the_wrong_size(tmp_path):
    path, content = written(tmp_path)
    learnt = content["state"]["posterior"]
    for field in ("precision", "shift", "counts", "ring"):
        without = {k: v for k, v in learnt.items() if k != field}
        for wrong in ({field: []}, {field: [[1.0] * 9] * 9}, {}):
            state = {**content["state"], "posterior": {**without, **wrong}}
            refuse_signed(path, {**content, "state": state})


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
    refuse_signed(path, content)


def test_the_file_is_readable(tmp_path):
    path, content = written(tmp_path)
    assert content["format"] == "wsbnb-policy"
    assert content["version"] == 2
    assert len(content["checksum"]) == 64
    assert content["class"] == "SWLinUCB"
    assert content["params"]["length"] == 9
