"""check_policy passes every policy of the package, and each check can fail."""

import copy

import numpy as np
import pytest

import wsbnb
from tests import zoo
from tests.kernels import PLAIN
from wsbnb.exploration import Optimism, Thompson
from wsbnb.weights import Polynomial, SlidingWindow


@pytest.mark.parametrize("name", zoo.ALL)
def test_every_policy_keeps_its_promises(name):
    done = wsbnb.check_policy(zoo.make(name))
    assert len(done) >= 15
    assert ("the order of arms does not matter" in done) == (name != "Uniform")
    learnt = zoo.make(name)
    learnt.update(np.ones((5, 3)), np.arange(5.0))
    before = copy.deepcopy(learnt._get_state())
    assert wsbnb.check_policy(learnt, rounds=10, seed=1) == done
    np.testing.assert_equal(learnt._get_state(), before)


COMPOSED = [
    wsbnb.LinearPolicy(
        wsbnb.WSBPosterior(
            prior_mean=[0.3, -0.2], prior_cov=[2.0, 0.5], noise_std=0.4, forgetting=rule
        ),
        exploration,
        rng=0,
    )
    for rule in (SlidingWindow(6), Polynomial(1.5, of="age"))
    for exploration in (Thompson(scale=0.5), Optimism(norm="local"))
]


# Compiled, each costs seconds: every type once; `test_plain_python.py` tries all pairs.
@pytest.mark.parametrize("policy", COMPOSED if PLAIN else COMPOSED[::3])
def test_compositions_keep_their_promises_too(policy):
    done = wsbnb.check_policy(policy)
    assert "many rows equal one by one" in done and "reset equals new" in done
    assert "a loaded file continues" in done


class Own(wsbnb.Policy):
    """A simple policy of one's own: the arm closest to a running mean."""

    def __init__(self, dim, rng=None):
        super().__init__(rng)
        self.dim = dim
        self._restart()

    def _restart(self):
        self.total = np.zeros(self.dim)

    def scores(self, X):
        return self._arms(X) @ self.total

    def _choose(self, X):
        return int(np.argmax(X @ self.total))

    def _learn(self, x, reward, decay):
        self.total = 0.9 * self.total + reward * x


def test_own_policy_passes():
    done = wsbnb.check_policy(Own(2))
    assert "a loaded file continues" not in done and len(done) == 16


class Bare:
    """The least a policy can be."""

    def __init__(self):
        self.last = 0

    def pull(self, X):
        return self.last % len(X)

    def update(self, x, reward):
        self.last += 1


def test_bare_object_passes():
    done = wsbnb.check_policy(Bare(), dim=3)
    assert done == [
        "pull returns an index",
        "inputs are not changed",
        "equal copies play alike",
        "inputs are not kept",
    ]


def broken(**methods):
    cls = type("Broken", (Own,), {**methods, "__module__": __name__})
    globals()["Broken"] = cls  # where pickle looks for it
    return cls


def keep_arm(self, x, reward, decay=True):
    self.total = x  # somebody else's array


def forget_reset(self):
    if not hasattr(self, "total"):
        self.total = np.zeros(self.dim)


def greedy_state(self, X):
    self.total = self.total + 1.0
    return X @ self.total


def learn_before_check(self, x, reward, decay=True):
    self.total = self.total + np.nan_to_num(np.ravel(x)[0], posinf=1.0)
    wsbnb.Policy.update(self, x, reward, decay)


def only_arrays(self, X):
    if not isinstance(X, np.ndarray):
        raise TypeError("X must be an array")
    return wsbnb.Policy.pull(self, X)


def only_the_first_row(self, x, reward, decay=True):
    X, rewards = self._observations(x, reward)
    self._learn(X[0], rewards[0], decay)


COUNTER = iter(range(10**9))

BROKEN = {
    "pull returns an index": dict(_choose=lambda self, X: len(X)),
    "inputs are not changed": dict(pull=lambda self, X: X.sort() or 0),
    "inputs are not kept": dict(update=keep_arm),
    "equal copies play alike": dict(_choose=lambda self, X: next(COUNTER) % len(X)),
    "copies are independent": dict(__copy__=lambda self: self),
    "a copy continues": dict(copy=lambda self: type(self)(self.dim)),
    "a clone is new": dict(clone=copy.deepcopy),
    "a pickle continues": dict(__reduce__=lambda self: (Own, (self.dim,))),
    "reset goes back to the start": dict(_restart=forget_reset),
    "scores are pure": dict(scores=greedy_state),
    "the best score is played": dict(
        _choose=lambda self, X: int((X @ self.total).argmin())
    ),
    "the order of arms does not matter": dict(
        scores=lambda self, X: X @ self.total + np.arange(len(X)),
        _choose=lambda self, X: int(np.argmax(X @ self.total + np.arange(len(X)))),
    ),
    "errors change nothing": dict(update=learn_before_check),
    "lists and frames are accepted": dict(pull=only_arrays),
    "many rows equal one by one": dict(update=only_the_first_row),
}


@pytest.mark.parametrize("check", list(BROKEN))
def test_each_check_can_fail(check):
    methods = dict(BROKEN[check])
    if check in ("a pickle continues", "copies are independent"):
        methods["__deepcopy__"] = deep_copy
    policy = broken(**methods)(2)
    with pytest.raises(AssertionError, match=f"^'{check}' failed for Broken: "):
        wsbnb.check_policy(policy)


def deep_copy(self, memo):
    twin = object.__new__(type(self))
    twin.__setstate__(copy.deepcopy(self.__getstate__(), memo))
    return twin


class WrongNew(Own):
    """Reset and constructor disagree."""

    def __init__(self, dim, rng=None):
        super().__init__(dim, rng)
        self.total = np.ones(dim)


def test_reset_that_differs_from_new_is_seen():
    with pytest.raises(AssertionError, match="'reset equals new' failed"):
        wsbnb.check_policy(WrongNew(2))


def test_file_that_differs_is_seen(monkeypatch):
    policy = zoo.make("WSBLinTS", 2)
    monkeypatch.setattr(
        type(policy), "_set_state", lambda self, state: None, raising=True
    )
    with pytest.raises(AssertionError, match="'a loaded file continues' failed"):
        wsbnb.check_policy(policy)
