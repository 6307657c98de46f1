"""Random calls of everything public, with arguments that nobody should give.

A call starts from arguments that work (`catalogue`, by name) and replaces some of them
by values of `strange`. What comes out is a result without NaN, or a ValueError or
TypeError that names an argument, with nothing changed. The same seed makes the same
calls.
"""

import collections
import contextlib
import copy
import dataclasses
import datetime
import decimal
import fractions
import importlib
import inspect
import re
import signal
import threading
import warnings

import numpy as np
import pandas as pd

import wsbnb
from tests.catalogue import (
    DOCUMENTED,
    ELSEWHERE,
    LEFT_OUT,
    MAY_BE_INFINITE,
    METHODS,
    NOT_METHODS,
    SETTINGS,
    SPECIAL,
    WITHOUT_BEHAVIOUR,
    WRAPPED,
    objects,
)
from tests.catalogue_lab import FOLDER, OF_OBJECTS, SLOW
from tests.test_api_page import PUBLIC
from wsbnb.adapters.features import WithFeatures


def called():
    """The public functions and classes that are called, by short name."""
    every = dict(PUBLIC)
    for name in ELSEWHERE:
        room, _, word = name.rpartition(".")
        with contextlib.suppress(ImportError):  # the package is optional
            every[name] = getattr(importlib.import_module(room), word)
    return {
        name.removeprefix("wsbnb."): WRAPPED.get(name, thing)
        for name, thing in every.items()
        if name not in LEFT_OUT
    }


def good_arguments(name, thing):
    """Arguments that work, and the names of all that can be given."""
    own = SPECIAL.get(name, {})
    parameters = inspect.signature(thing).parameters.values()
    several = {each.kind for each in parameters} & _SEVERAL
    names = [each.name for each in parameters if each.kind not in _SEVERAL]
    names += [word for word in own if several and word not in names]
    given = {}
    for word in names:
        value = own[word] if word in own else SETTINGS.get(word)
        if value is not None:
            made = callable(value) and (value is dict or not isinstance(value, type))
            given[word] = value() if made else value
    return given, names


_SEVERAL = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def methods(thing):
    """Public methods of an object."""
    names = [n for n in dir(type(thing)) if not n.startswith("_")]
    return [
        n
        for n in names
        if n not in NOT_METHODS and inspect.isfunction(getattr(type(thing), n, None))
    ]


def method_arguments(method, own=()):
    """The same for a method; `own` are arguments that work for its object only."""
    words, given, names = {**METHODS, **dict(own)}, {}, []
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind in _SEVERAL:
            continue
        names.append(parameter.name)
        value = words.get(parameter.name)
        if value is not None:
            given[parameter.name] = value() if callable(value) else value
    return given, names


# --- strange values -------------------------------------------------------------------

NUMBERS = [
    *(0, 1, -1, 2, 3, 7, 0.5, -0.5, 1.0, 1e-3, 2.5, -0.0, 1e10, 1e16),
    *(float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1.7e308),
    *(1e154, 1e155, 1e200, 1e-155, 1e-200, 1e-308, 5e-324, 1 - 1e-16),
    *(2**31, 2**32, 2**40, 2**53, 2**53 + 1, 2**63, 2**64, 2**127, 10**400, -(10**400)),
    *(np.float64(0.3), np.float32(0.3), np.int8(3), np.uint64(2**63)),
    *(np.longdouble(1e308) * 10, np.bool_(True), True, False, 1j, np.complex128(1)),
    *(fractions.Fraction(1, 3), decimal.Decimal("0.5"), np.array(0.5), np.array(3)),
]
WORDS = [
    *("", "x", "0.5", "nan", "horizon", "exact", "none", "radius", "static", "local"),
    *("anytime", "lambda_max", "ucb", "thompson", "A", "B", "rounds", "age", "round"),
    *(b"x", "\x00", "ü" * 50, np.str_("horizon"), np.array("exact"), ["exact"]),
]
THINGS = [
    *(None, object(), lambda *_: 1.0, lambda *_: None, lambda *_: "x", Ellipsis),
    *([], (), {}, {"a": 1}, {1, 2}, range(3), [[]], [None], [[1, 2], [3]]),
    *(datetime.date(2020, 1, 1), np.datetime64("2020-01-01"), slice(3), Exception("x")),
    *(pd.Series([0.5, 1.0, 2.0]), pd.DataFrame(np.eye(3)), pd.NaT, pd.NA),
]
#: What a call may use up is made anew for each.
USED_UP = [
    lambda: iter([1]),
    lambda: np.random.default_rng(1),
    lambda: np.random.SeedSequence(1),
    lambda: np.random.RandomState(1),
]
SHAPES = [(3,), (3, 3), (6,), (6, 3), (4, 3), (6, 6), (0,), (0, 3), (1, 1), (2, 3, 4)]
FILLS = [0.0, 0.5, 1.0, -1.0, np.nan, np.inf, 1e155, 1e308, 1e-160, 5e-324, 1e16]


def strange(rng):
    """Any value that a careless, unlucky or hostile caller could give."""
    kind = rng.integers(6)
    if kind < 2:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind == 2:
        return WORDS[rng.integers(len(WORDS))]
    if kind == 3:
        place = rng.integers(len(THINGS) + len(USED_UP))
        made = USED_UP[place - len(THINGS)] if place >= len(THINGS) else None
        return made() if made else THINGS[place]
    return _strange_array(rng)


def _strange_array(rng):
    shape = SHAPES[rng.integers(len(SHAPES))]
    array = rng.standard_normal(shape) / 4.0
    if len(shape) == 2 and shape[0] == shape[1] and rng.random() < 0.5:
        array = array @ array.T + np.eye(shape[0])
    if array.size and rng.random() < 0.5:
        array.flat[rng.integers(array.size)] = FILLS[rng.integers(len(FILLS))]
    if rng.random() < 0.2:
        array = np.full(shape, FILLS[rng.integers(len(FILLS))])
    dress = rng.integers(12)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _DRESSES.get(int(dress), lambda array: array)(array)


_DRESSES = {
    0: lambda array: array.tolist(),
    1: lambda array: array.astype(np.float32),
    2: lambda array: np.nan_to_num(array).astype(np.int64),
    3: lambda array: array.astype(complex),
    4: lambda array: array.astype(object),
    5: lambda array: array.astype(str),
    6: lambda array: np.ma.masked_less(array, 0.0),
    7: lambda array: array > 0.0,
    8: lambda array: array[..., ::-1],
    9: lambda array: np.ma.masked_equal(np.arange(array.size).reshape(array.shape), 1),
}


# --- one call -------------------------------------------------------------------------


class TooSlow(BaseException):
    """A call that takes so long that nobody would wait."""


SECONDS = 60


def _stop(*_):
    raise TooSlow


def guarded(call):
    """The result of a call, or TooSlow; signals reach the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclasses.dataclass
class Outcome:
    """What a call did: a word for the counts, and a sentence if it was wrong."""

    kind: str
    fault: str | None = None


def attempt(name, call, given, names, replaced, finite=True):
    """Call and judge: the outcome, and the result where there is one."""
    shown = _shown(given, replaced)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = guarded(lambda: call(**given))
    except (ValueError, TypeError) as error:
        said = str(error)
        kind = type(error).__name__
        if type(error) not in (ValueError, TypeError):
            return Outcome(kind, f"{name}({shown}) raised {kind}: {said}"), None
        if not any(re.search(rf"(?<!\w){word}(?!\w)", said) for word in names):
            return Outcome(kind, f"{name}({shown}) names no argument: {said}"), None
        return Outcome(kind), None
    except (Exception, TooSlow) as error:
        kind = type(error).__name__
        if isinstance(error, DOCUMENTED.get(name, ())):
            return Outcome(kind), None
        said = str(error)[:200]
        return Outcome(kind, f"{name}({shown}) raised {kind}: {said}"), None
    if finite and not is_finite(result):
        return Outcome("result", f"{name}({shown}) gave {_short(result)}"), result
    return Outcome("result"), result


def _shown(given, replaced):
    return {word: _short(given[word]) for word in replaced}


def _short(value):
    text = repr(value)
    return text if len(text) < 200 else text[:200] + "..."


def is_finite(value):
    """No NaN and no infinity anywhere in a result."""
    if isinstance(value, float | np.floating):
        return bool(np.isfinite(value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, tuple | list):
        return all(map(is_finite, value))
    return True


def replacements(rng, given, names):
    """Arguments of which up to two are strange, and which."""
    given = dict(given)
    count = min(len(names), rng.choice([0, 1, 1, 1, 1, 2]))
    replaced = [str(word) for word in rng.permutation(names)[:count]]
    for word in replaced:
        given[word] = strange(rng)
    return given, replaced


def public_call(rng, name, thing):
    """One random call of a public function or class."""
    given, names = good_arguments(name, thing)
    given, replaced = replacements(rng, given, names)
    finite = name not in MAY_BE_INFINITE
    outcome, made = attempt(name, thing, given, names, replaced, finite)
    if outcome.kind == "result" and not outcome.fault:
        fault = used(made)
        if fault:
            outcome.fault = f"{name}({_shown(given, replaced)}) was made, but {fault}"
    return outcome


def used(made):
    """Use what a constructor has let pass; a sentence if that goes wrong."""
    if type(made) in WITHOUT_BEHAVIOUR:
        return None
    if isinstance(made, wsbnb.exploration.Exploration):
        made = wsbnb.LinearPolicy(wsbnb.WRLS(dim=2, regularization=1, discount=1), made)
    if isinstance(made, wsbnb.WSBPosterior):
        row = np.full(made.dim, 0.3)
        steps = [("update", {"x": row, "reward": 0.5}), ("predict", {"x": row})]
        steps += [("sample", {"rng": 1})]
    elif isinstance(made, wsbnb.Policy) and getattr(made, "dim", 99) < 9:
        X = np.random.default_rng(0).standard_normal((5, made.dim))
        steps = [("pull", {"X": X}), ("scores", {"X": X})]
        steps += [("update", {"x": X[0], "reward": 0.5}), ("scores", {"X": X})]
    elif isinstance(made, wsbnb.weights.WeightRule):
        steps = [("row", {"t": 7}), ("sum", {"t": 7}), ("squared_sum", {"t": 7})]
    else:
        return None
    for method, given in steps:
        names = [*given, "parameters", "function"]
        outcome, _ = attempt(method, getattr(made, method), given, names, list(given))
        if outcome.fault:
            return outcome.fault
    return None


def whole_state(thing):
    """All that a refused call must leave as it was."""
    if isinstance(thing, wsbnb.Policy):
        state = thing._get_state(), thing._rng.bit_generator.state, thing._rng_start
    elif isinstance(thing, wsbnb.WSBPosterior):
        state = thing._get_state()
    elif isinstance(thing, wsbnb.Fleet):
        prior = thing.prior_mean, thing.prior_cov
        state = *thing._users, *prior, thing._rng.bit_generator.state, thing._draws
    elif isinstance(thing, WithFeatures):
        return whole_state(thing.policy)
    else:
        return None
    return copy.deepcopy(state)


def same(one, two):
    try:
        np.testing.assert_equal(one, two)
    except AssertionError:
        return False
    return True


def method_call(rng, key):
    """One random call of a method of one of the objects."""
    thing = objects()[key]
    choices = methods(thing)
    word = choices[rng.integers(len(choices))]
    call = getattr(thing, word)
    given, names = method_arguments(call, OF_OBJECTS.get(key, ()))
    given, replaced = replacements(rng, given, names)
    before = whole_state(thing)
    if isinstance(thing, wsbnb.Oracle):
        names = [*names, "parameters"]  # it may have reached the end of its path
    if isinstance(thing, wsbnb.Fleet):
        names = [*names, "prior"]  # one may have been set that suits no user
    finite = not key.startswith(("results", "environment", "contender"))
    outcome, _ = attempt(f"{key}.{word}", call, given, names, replaced, finite)
    if outcome.kind != "result" and not outcome.fault:
        if not same(whole_state(thing), before):
            outcome.fault = (
                f"{key}.{word}({replaced}) was refused and changed something"
            )
    return outcome


def run(seed, calls):
    """Counts by kind of outcome, and the faults found."""
    rng = np.random.default_rng(seed)
    objects.cache_clear()
    things, keys = called(), list(objects())
    names = list(things)
    counts, faults = collections.Counter(), []
    with contextlib.chdir(FOLDER.name):  # where a careless name of a folder may lead
        for _ in range(calls):
            if rng.random() < 0.6:
                name = _drawn(rng, names)
                outcome = public_call(rng, name, things[name])
            else:
                outcome = method_call(rng, keys[rng.integers(len(keys))])
            counts[outcome.kind] += 1
            if outcome.fault:
                faults.append(outcome.fault)
    return counts, faults


def _drawn(rng, names):
    """A name, seldom a slow one."""
    name = names[rng.integers(len(names))]
    while name in SLOW and rng.random() > 0.05:
        name = names[rng.integers(len(names))]
    return name
