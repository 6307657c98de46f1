"""Arrays in the form that the kernels want, and back."""

import math
from collections import namedtuple

import numpy as np

from wsbnb.kernels.bank import AGE, ALARMS, LIGHTEST, LOST, NOISE, SINCE, Members
from wsbnb.kernels.estimate import (
    CLOCK,
    KEPT,
    LARGEST,
    SQUARED_WEIGHT_SUM,
    WEIGHT_SUM,
    Ring,
    State,
    Work,
)
from wsbnb.kernels.fleet import Users, row_length
from wsbnb.kernels.linear import stride
from wsbnb.kernels.vectors import LANES

#: Vectors of eight doubles are 64 bytes; loads that straddle two lines cost twice.
_LINE = 64


def aligned(*shape):
    """Zeros that begin at a line of the processor's cache."""
    size = 8 * math.prod(shape)
    raw = np.zeros(size + _LINE, dtype=np.uint8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + size].view(np.float64).reshape(shape)


def packed(P, h=None):
    """The sums [P; h] of `linear`."""
    d = len(P)
    sums = aligned(d + 1, stride(d))
    sums[:d, :d] = P
    if h is not None:
        sums[d, :d] = h
    return sums


def precision_of(sums):
    """P as a full symmetric matrix."""
    d = sums.shape[-2] - 1
    upper = np.triu(sums[..., :d, :d])
    return upper + np.swapaxes(np.triu(upper, 1), -1, -2)


def shift_of(sums):
    """h as a vector (a copy)."""
    d = sums.shape[-2] - 1
    return sums[..., d, :d].copy()


def factor_of(work):
    """The factor R, upper triangular, and z of the estimate that `work` belongs to."""
    d = len(work.factor) - 3
    return np.triu(work.factor[:d, :d]), work.factor[d, :d]


def new_bound(largest_eigenvalue):
    """The certified bound at the start, where M = P0; the step is a guess."""
    return np.array([largest_eigenvalue, 0.01, largest_eigenvalue])


def new_state(prior, squares=False, bound=None, window=None):
    """What is known before the first observation.

    Parameters
    ----------
    prior : Prior
    squares : bool
        Whether to keep the sums with squared weights.
    bound : array, optional
        From `new_bound`, where an eigenvalue bound is to be followed.
    window : int, optional
        Rows of the ring.
    """
    d = len(prior.sums) - 1
    ring = None
    if window is not None:
        ring = Ring(
            np.zeros((window, d)), np.zeros(window), np.zeros(window), np.zeros(3)
        )
        ring.wear[KEPT] = 1.0
        ring.wear[LARGEST] = np.abs(prior.sums[d]).max()
    return State(
        packed_copy(prior.sums),
        np.zeros(CLOCK + 3),
        packed_copy(prior.sums) if squares else None,
        bound,
        ring,
    )


def packed_copy(sums):
    """An aligned copy."""
    copy = aligned(*sums.shape)
    copy[...] = sums
    return copy


def copied(value):
    """An independent copy of an array or of a named tuple of arrays, aligned."""
    if isinstance(value, np.ndarray):
        return packed_copy(value)
    if isinstance(value, tuple):
        return type(value)(*map(copied, value))
    return value


def arrays_of(state):
    """All arrays of a state in one list."""
    parts = [*state[:-1], *(state.ring or ())]
    return [part for part in parts if part is not None]


def new_work(d, K, spare=0):
    """Scratch space for d dimensions, K arms and a number of spare matrices."""
    return Work(
        factor=aligned(d + 3, stride(d)),
        fresh=np.zeros(1),
        spare=aligned(spare, d + 3, stride(d)),
        vectors=aligned(4, stride(d)),
        block=aligned(d, LANES),
        tail=aligned(d, LANES),
        rows=aligned(3, stride(K)),
        said=np.zeros(2),
    )


# --- many estimates -------------------------------------------------------------------


def new_members(start, gamma):
    """One member for each discount, all in the same state."""

    def repeated(array):
        if array is None:
            return None
        rows = aligned(len(gamma), *array.shape)
        rows[...] = array
        return rows

    return Members(np.array(gamma, dtype=np.float64), *map(repeated, start[:4]))


def member_state(members, j):
    """A copy of the state of one member."""
    parts = [None if part is None else part[j] for part in members[1:]]
    return copied(State(*parts, None))


def put_member(members, j, state):
    """Give one member another state."""
    for stack, part in zip(members[1:], state, strict=False):
        if stack is not None:
            stack[j] = part


# --- when the present began -----------------------------------------------------------

#: What the master `Changes` knows: log weights and births of all members, the rounds
#: passed, the last beginning that was declared, how many were, the weight dropped, and
#: the variance of the noise in units of the given one.
Beliefs = namedtuple("Beliefs", "log_weights births age since alarms lost noise")


def new_beliefs(discounted, n):
    """What is known at first: every discount, and one start, are as likely."""
    own = np.zeros(2 * n + NOISE + 1)
    own[2 * n + NOISE] = 1.0
    own[:n] = LIGHTEST
    own[: discounted + 1] = -np.log(discounted + 1)
    return own


def beliefs(own, n):
    """The vector of a master `Changes` over n members, taken apart."""
    rest = own[2 * n :]
    numbers = (float(rest[i]) for i in (AGE, SINCE, ALARMS, LOST, NOISE))
    return Beliefs(own[:n], own[n : 2 * n], *numbers)


# --- many users -----------------------------------------------------------------------


def new_users(n, d):
    """Users of whom nothing is known; untouched rows take no memory of the machine."""
    return Users(np.zeros((n, row_length(d))), np.zeros((n, CLOCK + 3)))


def clocks_of(users, who):
    """Rounds on the clocks of some users (a copy)."""
    return users.counts[who, CLOCK]


def pass_time(users, who, gamma, steps):
    """Fade some users, each named once, by their own numbers of steps."""
    f = gamma**steps
    users.rows[who] *= f[:, None]
    users.counts[who, WEIGHT_SUM] *= f
    users.counts[who, SQUARED_WEIGHT_SUM] *= f * f
    users.counts[who, CLOCK] += steps


def user_state(prior, users, u):
    """One user as the state of an estimate."""
    d = len(prior.sums) - 1
    state = new_state(prior)
    row, upper = users.rows[u], np.triu_indices(d)
    state.sums[upper] += prior.precision * row[: len(upper[0])]
    state.sums[d, :d] += prior.precision * row[len(upper[0]) :]
    state.counts[...] = users.counts[u]
    return state
