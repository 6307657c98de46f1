"""Random calls of everything public, with arguments that nobody should give.

A call starts from arguments that work (`SETTINGS`, by name) and replaces some of them
by values of `strange`. What comes out is a result without NaN, or a ValueError or
TypeError that names an argument, with nothing changed. The same seed makes the same
calls.
"""

import collections
import copy
import dataclasses
import datetime
import decimal
import fractions
import functools
import inspect
import re
import signal
import threading
import warnings

import numpy as np
import pandas as pd

import wsbnb
from tests import zoo
from tests.test_api_page import PUBLIC

D, T, K = 3, 6, 4
RNG = np.random.default_rng(5)
ARMS = RNG.standard_normal((K, D)) / 4.0
PATH = RNG.standard_normal((T, D)) / 4.0
REWARDS = RNG.standard_normal(T)
ROW = 0.9 ** np.arange(T - 1, -1, -1.0)
TABLE = wsbnb.weights.Exponential(0.9).matrix(T)


def base():
    return zoo.make("WSBLinTS", D)


def environment():
    return wsbnb.paper_environment("abrupt", dim=D, horizon=8, n_arms=K)


def results():
    regret = np.cumsum(RNG.random((4, 2, T)), axis=2)
    return wsbnb.Results(regret, ["A", "B"], np.arange(4), np.arange(1, T + 1))


def settings(thing):
    """The settings of any policy or posterior of the zoo, by class name."""
    return lambda: zoo.settings(thing, D)


#: Arguments that work, by name; functions are called for a new value each time.
SETTINGS = {
    "X": lambda: PATH.copy(),
    "algorithm": "ucb",
    "anchors": lambda: wsbnb.environments.OrthogonalAnchors(2),
    "arm_bound": 1.0,
    "arms": lambda: wsbnb.environments.FixedArms(K),
    "array": lambda: PATH.copy(),
    "base": base,
    "bend": 0.2,
    "baseline": lambda: REWARDS + 1.0,
    "block_length": 2,
    "change_points": (),
    "cls": lambda: wsbnb.WSBLinTS,
    "count": 2,
    "cycles": 2,
    "cov": lambda: 0.5 * np.eye(D),
    "data": lambda: (np.broadcast_to(ARMS, (T, K, D)), np.ones((T, K))),
    "delta": 0.05,
    "dim": D,
    "discount": 0.9,
    "discounts": (0.9, 0.99),
    "environment": environment,
    "exploration": lambda: wsbnb.exploration.Thompson(),
    "function": lambda: lambda s, t: np.ones(np.shape(s)),
    "groups": 2,
    "horizon": T,
    "length": 4,
    "level": 0.9,
    "matrix": lambda: TABLE.copy(),
    "n_jobs": 1,
    "noise": lambda: wsbnb.environments.GaussianNoise(0.3),
    "noise_std": 0.4,
    "param_bound": 1.7,
    "parameter": lambda: PATH[0].copy(),
    "parameter_now": lambda: PATH[0].copy(),
    "parameters": lambda: PATH.copy(),
    "parameters_past": lambda: PATH.copy(),
    "parts": lambda: (wsbnb.environments.StationaryPath(),),
    "path": lambda: wsbnb.environments.StationaryPath(),
    "period": 4,
    "points": 3,
    "policies": base,
    "policy": base,
    "posterior": lambda: wsbnb.WRLS(dim=D, regularization=0.7, discount=0.9),
    "power": 1,
    "prior_cov": lambda: zoo.prior(D)[1],
    "prior_mean": lambda: zoo.prior(D)[0],
    "progress": False,
    "reach": 0.4,
    "regularization": 0.7,
    "relaxation": 20.0,
    "repeats": 1,
    "rewards": lambda: REWARDS.copy(),
    "rounds": 5,
    "scenario": "abrupt",
    "seed": 0,
    "series": lambda: REWARDS.copy(),
    "spread": 0.1,
    "squared_weight_sum": 4.0,
    "std": 0.4,
    "step": 0.01,
    "trial": 2,
    "trials": 1,
    "values": lambda: REWARDS.copy(),
    "variation": 1.0,
    "weight_sum": 4.0,
    "weights": lambda: ROW.copy(),
}
#: What differs for one name. None as a value leaves the argument to its default.
SPECIAL = {
    "Environment": {"anchors": None, "rewards": None},
    "RandomWalkLinTS": {**zoo.settings("RandomWalkLinTS", D)},
    "fit_log": {
        "X": lambda: np.tile(PATH, (4, 1)),
        "rewards": lambda: np.tile(REWARDS, 4),
        "prior_scales": (0.1, 1.0),
    },
    "paper_environment": {
        "anchors": "orthogonal",
        "arms": "fixed",
        "noise_variance": 0.1,
        "n_arms": 2,
    },
    "tuned_discount": {"rule": "ucb"},
    "bounds.regret_order": {"algorithm": "WSBLinUCB"},
    "drift_bound": {"weights": lambda: ROW[1:]},
    "bounds.drift_bound_path": {"weights": None},
    "bounds.forgetting_sum": {"weights": None},
    "bounds.log_det_term": {"weights": None},
    "bounds.potential_bound": {"weights": None},
    "bounds.potential_sum": {"weights": None},
    "bounds.drift_sum_bound": {"weights": None},
    "bounds.randomised_constants": {"weights": None},
    "bounds.regret_bound_randomised": {"weights": None, "parameters": None},
    "bounds.regret_bound_ucb": {"weights": None, "parameters": None},
    "environments.GivenAnchors": {
        "array": lambda: PATH / np.linalg.norm(PATH, axis=1)[:, None]
    },
    "environments.GivenArms": {"array": lambda: ARMS.copy()},
    "environments.CallablePath": {"function": lambda: lambda t: PATH[t % T]},
    "environments.CallableArms": {"function": lambda: lambda t, rng: ARMS},
    "Oracle": {"parameters": lambda: PATH.copy()},
    "WSBPosterior": {"forgetting": None},
    "WRLS": {"forgetting": None},
}
SPECIAL |= {name: {**zoo.settings(name, D)} for name in zoo.ALL}

#: Not called, and why.
RECORD = "a record of what functions return; nobody builds one by hand"
ABSTRACT = "a base without behaviour of its own"
PICTURE = "pictures have tests of their own, and no state to lose"
HOURS = "runs whole experiments; what it is given goes to run_cells"
LEFT_OUT = {
    "wsbnb.LogFit": RECORD,
    "wsbnb.Results": RECORD,
    "wsbnb.bounds.ErrorParts": RECORD,
    "wsbnb.bounds.ExplorationConstants": RECORD,
    "wsbnb.bounds.RegretBound": RECORD,
    "wsbnb.environments.Block": RECORD,
    "wsbnb.Policy": ABSTRACT,
    "wsbnb.TheoryWarning": ABSTRACT,
    "wsbnb.environments.AnchorRule": ABSTRACT,
    "wsbnb.environments.ArmRule": ABSTRACT,
    "wsbnb.environments.NoiseRule": ABSTRACT,
    "wsbnb.environments.PathRule": ABSTRACT,
    "wsbnb.exploration.Exploration": ABSTRACT,
    "wsbnb.weights.WeightRule": ABSTRACT,
    "wsbnb.Fleet": "a batch of events has tests of its own",
    "wsbnb.off_policy": "a log has tests of its own",
    "wsbnb.weights.RandomWalk": "has no weights to ask for",
    "wsbnb.compile": "compiles every policy: a minute a call",
    "wsbnb.outside_on_purpose": "takes no argument",
    "wsbnb.load": "reads files: the tests of files damage thousands of them",
}
ROOMS_LEFT_OUT = {
    "wsbnb.datasets": "reads data of optional packages; has tests of its own",
    "wsbnb.plotting": PICTURE,
    "wsbnb.interactive": PICTURE,
    "wsbnb.paper": HOURS,
}
#: What may be raised beside ValueError and TypeError.
DOCUMENTED = {"check_policy": AssertionError}
#: Infinite by definition where nothing of the past is kept; see their docstrings.
MAY_BE_INFINITE = {
    "bounds.drift_sum_bound",
    "bounds.forgetting_sum",
    "bounds.log_det_term",
    "bounds.potential_bound",
    "bounds.regret_bound_ucb",
    "bounds.regret_bound_randomised",
    "bounds.randomised_constants",
}


def called():
    """The public functions and classes that are called, by short name."""
    return {
        name.removeprefix("wsbnb."): thing
        for name, thing in PUBLIC.items()
        if name not in LEFT_OUT and not name.startswith(tuple(ROOMS_LEFT_OUT))
    }


def good_arguments(name, thing):
    """Arguments that work, and the names of all that can be given."""
    own, given, names = SPECIAL.get(name, {}), {}, []
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        word = parameter.name
        names.append(word)
        value = own[word] if word in own else SETTINGS.get(word)
        needed = parameter.default is parameter.empty
        if value is not None and (needed or word in own or word in SETTINGS):
            plain = callable(value) and not isinstance(value, type)
            given[word] = value() if plain else value
    return given, names


# --- objects whose methods are called -------------------------------------------------


@functools.cache
def objects():
    """Things with methods, each with the arguments that work for them."""
    found = {name: zoo.make(name, D) for name in zoo.ALL}
    found["DiscountMixture"] = wsbnb.DiscountMixture(base(), discounts=(0.9, 1.0))
    found["BanditOverDiscounts"] = wsbnb.BanditOverDiscounts(
        zoo.make("WSBLinUCB", D), discounts=(0.9, 1.0), horizon=20
    )
    found["SurpriseRestart"] = wsbnb.SurpriseRestart(base())
    mean, cov = zoo.prior(D)
    prior = dict(prior_mean=mean, prior_cov=cov, noise_std=zoo.SIGMA)
    for word, rule in RULES.items():
        found[f"posterior {word}"] = wsbnb.WSBPosterior(**prior, forgetting=rule)
    found["composed age"] = wsbnb.LinearPolicy(
        wsbnb.WSBPosterior(**prior, forgetting=RULES["age"]),
        wsbnb.exploration.Optimism(penalty="exact", param_bound=zoo.S),
    )
    found["WRLS"] = wsbnb.WRLS(dim=D, regularization=0.7, discount=0.9)
    found["results"] = results()
    found["environment"] = environment()
    found["world"] = environment().world(0)
    found |= {f"weights {word}": rule for word, rule in RULES.items()}
    return found


RULES = {
    "exponential": wsbnb.weights.Exponential(0.9),
    "window": wsbnb.weights.SlidingWindow(4),
    "restart": wsbnb.weights.Restart(4),
    "round": wsbnb.weights.Polynomial(1.5, of="round"),
    "age": wsbnb.weights.Polynomial(1.5, of="age"),
}
#: What methods take, where it differs from `SETTINGS`.
METHODS = {
    "X": lambda: ARMS.copy(),
    "x": lambda: ARMS[1].copy(),
    "reward": 0.3,
    "decay": True,
    "draws": 50,
    "age": 0,
    "steps": 1,
    "rng": None,
    "theta": lambda: PATH[0].copy(),
    "size": 2,
    "policy": "A",
    "policies": lambda: ["A"],
    "baseline": "A",
    "trials": lambda: [0, 2],
    "other": results,
    "start": 1,
    "stop": 4,
    "over": "trials",
    "t": 3,
    "T": 3,
    "s": 2,
    "rewards": lambda: REWARDS[:K].copy(),
    "seed": 0,
    "name": "path",
    "noise": True,
}
#: `copy` is tested with the files; `compiled` is for the kernels; names are free text.
NOT_METHODS = {
    "save",
    "compiled",
    "compiled_radius",
    "generator",
    "normals",
    "outcomes",
    "template",
    "with_changes",
}


def methods(thing):
    """Public methods of an object."""
    names = [n for n in dir(type(thing)) if not n.startswith("_")]
    return [
        n
        for n in names
        if n not in NOT_METHODS and inspect.isfunction(getattr(type(thing), n, None))
    ]


def method_arguments(method):
    given, names = {}, []
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        names.append(parameter.name)
        value = METHODS.get(parameter.name)
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
    finite = name not in MAY_BE_INFINITE and name != "paired_interval"
    outcome, made = attempt(name, thing, given, names, replaced, finite)
    if outcome.kind == "result" and not outcome.fault:
        fault = used(made)
        if fault:
            outcome.fault = f"{name}({_shown(given, replaced)}) was made, but {fault}"
    return outcome


def used(made):
    """Use what a constructor has let pass; a sentence if that goes wrong."""
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
    given, names = method_arguments(call)
    given, replaced = replacements(rng, given, names)
    before = whole_state(thing)
    if isinstance(thing, wsbnb.Oracle):
        names = [*names, "parameters"]  # it may have reached the end of its path
    finite = not key.startswith(("results", "environment"))
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
    for _ in range(calls):
        if rng.random() < 0.6:
            name = names[rng.integers(len(names))]
            outcome = public_call(rng, name, things[name])
        else:
            outcome = method_call(rng, keys[rng.integers(len(keys))])
        counts[outcome.kind] += 1
        if outcome.fault:
            faults.append(outcome.fault)
    return counts, faults
