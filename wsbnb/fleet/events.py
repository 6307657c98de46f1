"""What a fleet accepts: a template, numbers of users, arms and rewards of events."""

import numpy as np

from wsbnb import _validate
from wsbnb.kernels import memory
from wsbnb.policies.base import LinearPolicy
from wsbnb.posterior import LONGEST_TIME
from wsbnb.weights import Exponential


def suitable(template):
    """A policy of which a row of numbers for each user is all that has to be kept."""
    if not isinstance(template, LinearPolicy):
        raise TypeError(f"template must be a LinearPolicy, got {template!r}")
    if not isinstance(template.posterior.forgetting, Exponential):
        raise ValueError(
            f"template must forget by a discount, got {template.posterior.forgetting!r}"
        )
    if not template.posterior._linear:
        raise ValueError(
            "template must have a linear posterior, such as WSBPosterior, got "
            f"{template.posterior!r}"
        )
    exploration = template.exploration
    if exploration.local or exploration.follows_eigenvalue:
        raise ValueError(
            "template must explore with norm='posterior' and, if it is optimistic, "
            f"with penalty='static', got {exploration!r}"
        )
    return template


def numbers(name, users):
    """Whole numbers in a vector (a copy)."""
    _validate.unmasked(name, users)
    try:
        array = np.array(users, ndmin=1)
    except ValueError as error:  # rows of unequal lengths
        raise TypeError(
            f"{name} must be a whole number or a vector of them, got {users!r}"
        ) from error
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be a whole number or a vector of them, got an array of "
            f"{array.dtype} of shape {array.shape}"
        )
    return array.astype(np.int64)


def check_known(who, count):
    """Refuse numbers that no user has."""
    if len(who) and not 0 <= who.min() <= who.max() < count:
        wrong = who[(who < 0) | (who >= count)][0]
        raise ValueError(f"users must lie between 0 and {count - 1}, got {wrong}")


def check_once(who):
    """Refuse a user who is named repeatedly."""
    values, times = np.unique(who, return_counts=True)
    if len(values) < len(who):
        raise ValueError(
            f"users must be named once each, got {values[times.argmax()]} repeatedly"
        )


def check_time(clocks, who, steps):
    """Refuse steps after which a clock would not notice the next one."""
    if clocks.max(initial=0.0) + steps.sum() <= LONGEST_TIME:  # nobody gets there
        return
    _, place = np.unique(who, return_inverse=True)
    latest = (clocks + np.bincount(place, steps)[place]).max()
    if latest > LONGEST_TIME:
        raise ValueError(
            f"steps must lead to round {LONGEST_TIME} at most, got round {latest:g}"
        )


def per_event(name, value, n):
    """One number for each event, zero or positive."""
    array = _validate.finite_array(name, value)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or have shape ({n},), got {value!r}")
    if array.size and array.min() < 0.0:
        raise ValueError(f"{name} must be zero or positive, got {array.min()}")
    if array.size:
        _validate.bounded(name, array.max())
    return np.full(n, array)  # its own memory: a view would be another type to compile


def arm_groups(X, n, d):
    """Events with equally many arms together: pairs of event numbers and arms.

    The arms of a group have shape (1, K, d), the same for all, or (m, K, d).
    """
    ragged = _validate.ragged("X", X)
    if ragged is not None:
        return _groups(*ragged, n, d)
    arms = _validate.finite_array("X", X)
    arms = arms[None] if arms.ndim == 2 else arms
    if arms.ndim != 3 or 0 in arms.shape[1:] or arms.shape[2] != d:
        raise ValueError(
            f"X must have shape (K, {d}) or (n, K, {d}), or be a list of n sets of "
            f"shape (K, {d}), got shape {np.shape(X)}"
        )
    if len(arms) not in (1, n):
        raise ValueError(_wrong_count(n, len(arms)))
    return [(np.arange(n), np.ascontiguousarray(arms))]


def _groups(rows, sizes, n, d):
    if rows.shape[1] != d:
        raise ValueError(
            f"X must be a list of sets of shape (K, {d}), got {rows.shape[1]} columns"
        )
    if len(sizes) != n:
        raise ValueError(_wrong_count(n, len(sizes)))
    first = np.cumsum(sizes) - sizes
    groups = [(np.flatnonzero(sizes == K), np.arange(K)) for K in np.unique(sizes)]
    return [(who, rows[first[who][:, None] + inside]) for who, inside in groups]


def _wrong_count(n, got):
    return f"X must have one set of arms for each of {n} users, got {got}"


def observations(x, reward, n, d):
    """Arms that were played and what they paid, one row for each event."""
    X, paid = _validate.observations(x, reward, d)
    if len(X) != n:
        raise ValueError(f"x must have one row for each of {n} users, got {len(X)}")
    return X, paid


def rows_for(name, n, dim):
    """Rows for users of whom nothing is known, where the memory holds them."""
    try:
        return memory.new_users(n, dim)
    except MemoryError as error:
        raise ValueError(
            f"{name} must leave room in memory, got {n} users in all: {error}"
        ) from error
