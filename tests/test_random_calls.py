"""Ten thousand careless calls of everything public, and what a refused one leaves.

``WSBNB_CALLS=1000000`` makes a million of them, ``WSBNB_CALLS_SEED`` others.
"""

import contextlib
import copy
import os
import pathlib
import resource

import numpy as np
import pytest

import wsbnb
from tests import calls, catalogue, zoo

CALLS = int(os.environ.get("WSBNB_CALLS", "10000"))
SEED = int(os.environ.get("WSBNB_CALLS_SEED", "0"))
#: What the calls may take beside what the process has, in bytes.
MEMORY = 3 * 2**30


@contextlib.contextmanager
def little_memory():
    """Let an array that is far too large fail here, not fill the machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        now = int(status.read_text().split("VmSize:")[1].split()[0]) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


# --- the catalogue --------------------------------------------------------------------


def test_every_public_name_is_called_or_has_a_reason():
    assert set(catalogue.LEFT_OUT) <= set(calls.PUBLIC)
    assert len(catalogue.LEFT_OUT) < 4
    shown = {name.removeprefix("wsbnb.") for name in calls.PUBLIC}
    assert shown - {"TheoryWarning", "paper.record", "paper.write_guide"} <= set(
        calls.called()
    )


@pytest.mark.parametrize("name", calls.called())
@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_the_settings_to_start_from_work(name):
    thing = calls.called()[name]
    given, names = calls.good_arguments(name, thing)
    assert set(given) <= set(names)
    thing(**given)


def test_the_methods_to_start_from_work():
    works = {}
    for key, thing in catalogue.objects().items():
        for word in calls.methods(thing):
            own = catalogue.lab.OF_OBJECTS.get(key, ())
            given, _ = calls.method_arguments(getattr(thing, word), own)
            try:
                getattr(thing, word)(**given)
                works[f"{key}.{word}"] = True
            except ValueError as error:
                works[f"{key}.{word}"] = str(error)
    refused = {name: said for name, said in works.items() if said is not True}
    alone = "fleet.fit_prior"  # one user says nothing of how users differ
    no_factor = {f"weights {rule}.factor" for rule in ("window", "age", "custom")}
    assert set(refused) == {alone, *no_factor}
    assert len(works) > 150


def test_judgement_sees_what_is_wrong():
    """The judge itself: a wrong exception, a nameless one, and a silent NaN."""

    def outcome(call):
        return calls.attempt("f", call, {"dim": 1}, ["dim"], ["dim"])[0]

    def raising(error):
        def call(dim):
            raise error

        return call

    assert outcome(lambda dim: 1.0).fault is None
    assert "gave nan" in outcome(lambda dim: np.nan).fault
    assert "gave {'a'" in outcome(lambda dim: {"a": np.array([1.0, np.inf])}).fault
    assert "raised OverflowError" in outcome(raising(OverflowError("dim"))).fault
    assert "names no argument" in outcome(raising(ValueError("dimension"))).fault
    assert outcome(raising(ValueError("dim must be"))).fault is None
    # Subclasses come from elsewhere: NumPy's LinAlgError is a ValueError.
    assert "LinAlgError" in outcome(raising(np.linalg.LinAlgError("dim"))).fault


def test_random_calls():
    with little_memory():
        counts, faults = calls.run(SEED, CALLS)
    print(f"\n{CALLS} calls with seed {SEED}: {dict(counts.most_common())}")
    for fault in faults:  # pytest would show the first few only
        print(fault)
    assert not faults
    documented = {"AssertionError", "FileNotFoundError", "IsADirectoryError"}
    documented |= {"NotADirectoryError", "FileExistsError", "OSError"}
    assert set(counts) <= {"result", "ValueError", "TypeError", *documented}
    for kind in ("result", "ValueError", "TypeError"):
        assert counts[kind] > CALLS / 10


def test_the_same_seed_makes_the_same_calls():
    with little_memory():
        one, two = calls.run(3, 200)[0], calls.run(3, 200)[0]
    assert one == two


# --- a refused call changes nothing ---------------------------------------------------


def players():
    """Every policy and a posterior for every rule, new ones."""
    fresh = catalogue.objects.__wrapped__()
    kinds = (wsbnb.Policy, wsbnb.WSBPosterior)
    return {key: thing for key, thing in fresh.items() if isinstance(thing, kinds)}


def test_a_refused_batch_changes_nothing_for_any_user():
    """The last event is the one that cannot be; the first ones must not be learnt."""
    fleet = catalogue.fleet()
    before = calls.whole_state(fleet)
    X = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    for users, x, reward in [
        ([0, 1], [X[0], [np.nan, 0.0, 0.0]], [1.0, 1.0]),
        ([0, 1], X, [1.0, np.inf]),
        ([0, 4], X, [1.0, 1.0]),
        ([0, 1], X, [1.0]),
    ]:
        with pytest.raises((ValueError, TypeError)):
            fleet.update(users, x, reward)
        assert calls.same(calls.whole_state(fleet), before)
    with pytest.raises(ValueError, match="X"):
        fleet.pull([0, 1], np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="finite score"):  # draws, and takes it back
        fleet.pull(0, 1.7e308 * np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]))
    assert calls.same(calls.whole_state(fleet), before)
    with pytest.raises(ValueError, match="users must leave room in memory"):
        with little_memory():
            wsbnb.Fleet(catalogue.base(), users=2**40)
    assert calls.same(calls.whole_state(fleet), before)


def test_masked_numbers_of_users_arms_and_rounds_are_refused():
    """What a mask hides is a number like any other."""
    hidden = np.ma.masked_array([0, 1], [False, True])
    X, fleet = np.eye(3), catalogue.fleet()
    before = calls.whole_state(fleet)
    chances = np.full((2, 3), 1.0 / 3.0)
    for call, name in (
        (lambda: fleet.pull(hidden, X), "users"),
        (lambda: fleet.pull([0, 1], [np.ma.masked_equal(X, 1.0), X[:2]]), "X"),
        (lambda: fleet.update(hidden, X[:2], [1.0, 2.0]), "users"),
        (lambda: fleet.reset(hidden), "users"),
        (lambda: catalogue.dataset().rows(hidden), "index"),
        (lambda: wsbnb.off_policy(chances, X, hidden, [1, 2], [0.5, 0.5]), "chosen"),
    ):
        with pytest.raises(ValueError, match=f"{name} must have no masked entries"):
            call()
    assert calls.same(calls.whole_state(fleet), before)


@pytest.mark.parametrize(
    "name, word, changes",
    [
        ("noise_radius", "round", {"split": "none"}),
        ("noise_radius", "horizon", {"split": "none"}),
        ("bounds.failure_probability", "horizon", {"split": "none"}),
        ("bounds.failure_probability", "round", {"split": "horizon"}),
        ("bounds.noise_radius_wrls", "round", {"split": "horizon"}),
        ("tuned_discount", "n_arms", {"rule": "ucb"}),
        ("bounds.regret_order", "n_arms", {"algorithm": "sharp"}),
        ("bounds.regret_order", "n_arms", {"algorithm": "lower_bound"}),
        ("bounds.randomised_constants", "n_arms", {"algorithm": "ucb"}),
        ("bounds.regret_bound_randomised", "n_arms", {"algorithm": "ucb"}),
        ("paper_environment", "closed_tour", {"scenario": "abrupt"}),
    ],
)
def test_settings_that_are_not_used_are_checked(name, word, changes):
    thing = calls.called()[name]
    given = {**calls.good_arguments(name, thing)[0], **changes}
    thing(**given)
    for junk in (float("nan"), "x", np.ma.masked_array([1, 2], [False, True])):
        with pytest.raises((ValueError, TypeError), match=word):
            thing(**{**given, word: junk})


def test_rows_of_unequal_length_are_refused_by_name():
    """No array, and NumPy names nothing when it says so."""
    ragged, fleet = [[1, 2], [3]], catalogue.fleet()
    with pytest.raises(TypeError, match="users must be"):
        fleet.pull(ragged, np.eye(3))
    with pytest.raises(TypeError, match="x must be"):
        fleet.predict(2, ragged)
    with pytest.raises(TypeError, match="discounts must be"):
        wsbnb.ChangePoints(catalogue.base(), discounts=ragged)


class InBytes:
    """A path as `os` takes it and `pathlib` does not."""

    def __fspath__(self):
        return b"x"


NO_PATHS = [7, 1.5, None, b"x", ["a"], InBytes(), np.array(3)]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        *((one, "path must be a string or a path, got") for one in NO_PATHS),
        ("a\0b", r"^path must be the name of a file, got 'a\\x00b'"),
        ("half \ud800", r"^path must be the name of a file, got 'half \\ud800'"),
    ],
)
def test_what_is_no_path_is_refused(path, words):
    """A number would name an open file."""
    for call in (
        catalogue.base().save,
        catalogue.fleet().save,
        catalogue.fleet().restore,
        wsbnb.Fleet.load,
        wsbnb.load,
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call(path)


def learn(thing, rounds, seed):
    """Some rounds that are all right; returns what was chosen."""
    X, rewards = zoo.problem(seed, rounds, catalogue.D, 4)
    chosen = []
    for arms, paid in zip(X, rewards, strict=True):
        k = thing.pull(arms) if isinstance(thing, wsbnb.Policy) else 0
        if isinstance(getattr(thing, "posterior", thing), wsbnb.LogisticPosterior):
            paid = paid > 0.0  # clicks
        thing.update(arms[k], paid[k])
        chosen.append(k)
    return chosen


def refusals(thing, rng, count):
    """Refused calls of all methods, with what each has left behind."""
    found = []
    while len(found) < count:
        word = str(rng.choice(calls.methods(thing)))
        if word in ("reset", "get_params"):  # they take nothing that could be refused
            continue
        twin = copy.deepcopy(thing)  # a call that is not refused must not count
        call = getattr(twin, word)
        given, names = calls.method_arguments(call)
        given, replaced = calls.replacements(rng, given, names)
        if not replaced and word == "set_params":
            given = {"discount": calls.strange(rng), "noise_std": calls.strange(rng)}
        before = calls.whole_state(twin)
        outcome, _ = calls.attempt(word, call, given, [*names, *given, "changes"], [])
        if outcome.kind in ("ValueError", "TypeError"):
            same = calls.same(calls.whole_state(twin), before)
            found.append((word, replaced, same, twin))
    return found


@pytest.mark.parametrize("key", players())
def test_a_refused_call_changes_nothing_at_all(key):
    """Sums, rings, residuals and generator; and the next rounds are the same."""
    rng = np.random.default_rng(len(key))
    thing = players()[key]
    learn(thing, 7, seed=1)
    found = refusals(thing, rng, 60)
    assert [entry[:2] for entry in found if not entry[2]] == []
    assert len({word for word, *_ in found}) >= 3
    expected = copy.deepcopy(thing)
    chosen = learn(expected, 5, seed=2)
    for _, _, _, twin in found[::12]:
        assert learn(twin, 5, seed=2) == chosen
        assert calls.same(calls.whole_state(twin), calls.whole_state(expected))


@pytest.mark.parametrize("key", ["WSBLinUCB", "DLinTS", "SWLinUCB", "DiscountMixture"])
def test_a_refused_file_changes_nothing(key, tmp_path):
    thing = players()[key]
    learn(thing, 7, seed=1)
    before = calls.whole_state(thing)
    with pytest.raises(FileNotFoundError):
        thing.save(tmp_path / "absent" / "policy.json")
    assert calls.same(calls.whole_state(thing), before)


@pytest.mark.parametrize("key", ["DiscountMixture", "BanditOverDiscounts"])
def test_time_passes_for_all_members_or_for_none(key):
    """The last member refuses: the first ones must not have moved."""
    policy = players()[key]
    learn(policy, 5, seed=1)
    policy._members.counts[-1, 0] = 2.0**52  # its clock is at its end
    before = calls.whole_state(policy)
    with pytest.raises(ValueError, match="steps must lead to round"):
        policy.decay(1)
    assert calls.same(calls.whole_state(policy), before)


def test_a_refused_sample_draws_nothing():
    posterior = players()["WRLS"]
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    for size in (-1, 2.5, "x", 2**40):
        with pytest.raises((ValueError, TypeError), match="size"):
            posterior.sample(rng, size=size)
    assert rng.bit_generator.state == before
