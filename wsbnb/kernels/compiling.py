"""How the kernels are compiled: options, choice by type, the cache, a word of it."""

import functools
import hashlib
import inspect
import os
import sys
import threading
from pathlib import Path

import numba
from numba.core import event
from numba.extending import overload

_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    # No liberties with arithmetic, not even to round a b + c once: the compiler would
    # take them here and not there, and a run from the cache would differ in its last
    # bits from the run that filled it. What is to be rounded once says so (`vectors`).
    "fastmath": False,
}

# Inner functions are called from compiled code only. The code that would let Python
# call them is a large part of what there is to compile.
_INNER = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

pasted = numba.njit(inline="always", **_INNER)
#: An inner function, pasted into its callers.
inlined = numba.njit(forceinline=True, **_INNER)
#: An inner function that is long, or called from several places.
compiled = numba.njit(**_INNER)


def entry(function):
    """Decorator for what Python calls: compiled once per kind of policy, and kept.

    The compiled code is stored on disk. Numba would take it for fresh as long as the
    file of this one function is unchanged; here it is bound to all kernels.
    """
    try:
        dispatcher = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # a container's user, with nothing of his own to write to
        _say_that_nothing_is_kept()
        return numba.njit(**_OPTIONS)(function)
    stored = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if stored is not None:  # not with the compiler switched off
        stored._source_stamp = _sources()
        stored.load = _what_was_meant(stored)
        stored.save = _if_there_is_room(_with_its_label(stored))
    return dispatcher


@functools.cache
def _say_that_nothing_is_kept():
    _say("no folder for compiled code, it is made in each run; set NUMBA_CACHE_DIR")


# Numba numbers its files and writes first the list that says what each holds. A run
# that is killed, a full disk or two runs at once leave other code behind a number: the
# code of another policy, or that of an older version. So each file has a label.


def _with_its_label(stored):
    save = stored.save

    @functools.wraps(save)
    def attempt(key, data):
        labelled = (stored._source_stamp, key), data
        try:
            save(key, labelled)
        except OSError:
            raise
        except Exception:  # the list is damaged: begin another
            stored.flush()
            save(key, labelled)

    return attempt


def _what_was_meant(stored):
    """Compiled code of this very call, or None: then it is compiled."""
    load = stored.load

    @functools.wraps(load)
    def attempt(key):
        try:
            label, data = load(key)
        except Exception:  # nothing there, or however it is damaged
            return None
        return data if label == (stored._source_stamp, key) else None

    return attempt


def _if_there_is_room(save):
    """Keep compiled code if the disk allows it; without it the next start compiles."""

    @functools.wraps(save)
    def attempt(*arguments):
        try:
            save(*arguments)
        except OSError as error:
            _say(f"cannot keep compiled code ({error.strerror}); it is made again")

    return attempt


def _sources():
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def by_type(table):
    """A function that the class of its first argument chooses.

    Compiled code chooses while it is compiled: what a policy does not use is not
    compiled for it. `table` maps classes of named tuples to plain functions with the
    same arguments.
    """

    def call(settings, *arguments):
        return table[type(settings)](settings, *arguments)

    def choose(settings, *arguments):
        return table[settings.instance_class]

    choose.__signature__ = inspect.signature(next(iter(table.values())))
    overload(call, jit_options={**_OPTIONS, "forceinline": True})(choose)
    return call


def where_given(function):
    """Decorator for a function (array, index): for None in place of an array, None.

    An `if` would not do: compiled code would get something that may be None, and no
    vector can be loaded from that.
    """

    def call(array, index):
        return None if array is None else function(array, index)

    def choose(array, index):
        absent = isinstance(array, numba.types.NoneType)
        return (lambda array, index: None) if absent else function

    overload(call, jit_options={**_OPTIONS, "forceinline": True})(choose)
    return call


# --- one line while something compiles ------------------------------------------------

#: Seconds before a word is said, and the variable that forbids it.
PATIENCE = 1.0
QUIET = "WSBNB_QUIET"


class _Notice(event.Listener):
    """Says once, on stderr, that the first call compiles."""

    def __init__(self):
        self.depth, self.timer, self.said = 0, None, False

    def on_start(self, happening):
        if not self.is_ours(happening) or self.said:
            return
        self.depth += 1
        if self.depth == 1:
            self.timer = threading.Timer(PATIENCE, self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, happening):
        if self.depth and self.is_ours(happening):
            self.depth -= 1
            if self.depth == 0:
                self.timer.cancel()

    @staticmethod
    def is_ours(happening):
        function = getattr(happening.data["dispatcher"], "py_func", None)
        return getattr(function, "__module__", "").startswith("wsbnb.kernels")

    def say(self):
        self.said = True
        _say("compiling for the first call, a few seconds; the result is kept")


def _say(words):
    if sys.stderr and not os.environ.get(QUIET):  # without a console there is none
        text = f"wsbnb: {words} (silence this with {QUIET}=1)"
        print(text, file=sys.stderr, flush=True)


event.register("numba:compile", _Notice())
