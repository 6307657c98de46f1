"""Many users, each with a parameter of its own, in one array.

Of a user only what was observed is kept: ``A = sum w x x^T`` (its upper triangle, row
by row) and, behind it, ``b = sum w x r``. The prior is not in it. Zeros are a user of
whom nothing is known, time multiplies a row by a number, and a new prior concerns
nobody's row. What a round needs is put together when the round comes:
``P = P0 + A / sigma^2`` and ``h = h0 + b / sigma^2``.
"""

import math
from collections import namedtuple

from wsbnb.kernels.compiling import compiled, entry
from wsbnb.kernels.estimate import (
    CLOCK,
    FIRST,
    SQUARED_WEIGHT_SUM,
    THETA,
    WEIGHT_SUM,
    State,
    refresh,
)
from wsbnb.kernels.explore import best_arm, score
from wsbnb.kernels.linear import dot, solve_back, solve_vector
from wsbnb.kernels.vectors import borrowed

#: `rows` (users, d (d + 3) / 2) and `counts` (users, 3) as in the state of an estimate.
Users = namedtuple("Users", "rows counts")


def row_length(d):
    """Numbers kept of a user."""
    return d * (d + 3) // 2


@compiled
def assemble(prior, row, d, sums):
    """``[P; h]`` of one user from its row and the prior that all share."""
    n = 0
    for i in range(d):
        for j in range(i, d):
            sums[i, j] = prior.sums[i, j] + prior.precision * row[n]
            n += 1
    for i in range(d):
        sums[d, i] = prior.sums[d, i] + prior.precision * row[n]
        n += 1


@compiled
def observe(row, counts, x, d, reward, f, steps, weight):
    """``A <- f A + w x x^T``, ``b <- f b + w x r``; the clock moves by `steps`."""
    n = 0
    for i in range(d):
        push = weight * x[i]
        for j in range(i, d):
            row[n] = f * row[n] + push * x[j]
            n += 1
    push = weight * reward
    for i in range(d):
        row[n] = f * row[n] + push * x[i]
        n += 1
    counts[CLOCK] += steps
    counts[WEIGHT_SUM] = f * counts[WEIGHT_SUM] + weight
    counts[SQUARED_WEIGHT_SUM] = f * f * counts[SQUARED_WEIGHT_SUM] + weight * weight


@compiled
def _ready(prior, users, u, d, sums, work):
    """The factor of one user's estimate; False if no round can be played from it."""
    assemble(prior, users.rows[u], d, sums)
    work.fresh[0] = 0.0
    return refresh(State(sums, users.counts[u], None, None, None), work)


@entry
def choose(exploration, prior, users, work, sums, turned, who, arms, normals, chosen):
    """Choose an arm for each event; return how many could be served.

    `who` (n,) are row numbers, `arms` (1, K, d) or (n, K, d), `normals` a row for each
    event; `sums` and `turned` (d, K) are scratch.
    """
    exploration, prior = borrowed(exploration), borrowed(prior)
    users, work, sums = borrowed(users), borrowed(work), borrowed(sums)
    turned, arms, normals = borrowed(turned), borrowed(arms), borrowed(normals)
    d, K = turned.shape
    for e in range(who.size):
        if e == 0 or arms.shape[0] > 1:
            for k in range(K):
                for i in range(d):
                    turned[i, k] = arms[e if arms.shape[0] > 1 else 0, k, i]
        u = who[e]
        assemble(prior, users.rows[u], d, sums)
        work.fresh[0] = 0.0
        state = State(sums, users.counts[u], None, None, None)
        sound = score(exploration, state, work, turned, normals, e)
        chosen[e] = best_arm(work.rows, K) if sound else -1
        if chosen[e] < 0:
            return e
    return who.size


@entry
def learn(gamma, prior, users, work, sums, who, X, rewards, steps, ages, undo):
    """Learn from each event in order; return how many were learnt.

    The clock of the user moves by `steps` (n,), and the observation counts with the
    weight that it has after `ages` (n,) rounds. `undo` is room for the rows and counts
    of n users: if an event cannot be learnt, everything is put back.
    """
    prior, users, undo = borrowed(prior), borrowed(users), borrowed(undo)
    work, sums = borrowed(work), borrowed(sums)
    d = X.shape[1]
    for e in range(who.size):
        u = who[e]
        undo.rows[e, :] = users.rows[u]
        undo.counts[e, :] = users.counts[u]
        f = gamma if steps[e] == 1.0 else gamma ** steps[e]
        weight = 1.0 if ages[e] == 0.0 else gamma ** ages[e]
        row, counts = users.rows[u], users.counts[u]
        observe(row, counts, X[e], d, rewards[e], f, steps[e], weight)
        if not _ready(prior, users, u, d, sums, work):
            for back in range(e, -1, -1):
                users.rows[who[back], :] = undo.rows[back]
                users.counts[who[back], :] = undo.counts[back]
            return e
    return who.size


@entry
def means(prior, users, work, sums, who, out):
    """The posterior mean of each user, ``out`` (n, d); False if one has none."""
    d = out.shape[1]
    v = work.vectors
    for e in range(who.size):
        if not _ready(prior, users, who[e], d, sums, work):
            return False
        for i in range(d):
            v[THETA, i] = work.factor[d, i]
        solve_back(work.factor, d, v, THETA)
        for i in range(d):
            out[e, i] = v[THETA, i]
    return True


@entry
def predict(prior, users, work, sums, who, X, out):
    """Mean and variance of the expected reward of ``X[e]`` for each event."""
    d = X.shape[1]
    v = work.vectors
    for e in range(who.size):
        if not _ready(prior, users, who[e], d, sums, work):
            return False
        for i in range(d):
            v[FIRST, i] = X[e, i]
        solve_vector(work.factor, d, v, FIRST)
        out[e, 0] = dot(v, FIRST, work.factor, d, d)
        out[e, 1] = dot(v, FIRST, v, FIRST, d)
    return True


@compiled
def _add_second_moments(work, d, out):
    """Add ``P^-1 + m m^T`` of the factor at hand, m in the row THETA."""
    v = work.vectors
    for j in range(d):
        for i in range(d):
            v[FIRST, i] = 1.0 if i == j else 0.0
        solve_vector(work.factor, d, v, FIRST)
        solve_back(work.factor, d, v, FIRST)
        for i in range(d):
            out[i, j] += v[FIRST, i] + v[THETA, i] * v[THETA, j]


@entry
def moments(prior, users, work, sums, who, first, second):
    """Add up posterior means and second moments; return the sum of log evidences.

    The evidence of one user is the density of its weighted data, without the factors
    that do not depend on the prior: ``log|R0| - log|R| + |z|^2 / 2 - |z0|^2 / 2``; the
    two terms of the prior are left to the caller.
    """
    d = first.size
    v = work.vectors
    total = 0.0
    for e in range(who.size):
        if not _ready(prior, users, who[e], d, sums, work):
            return math.nan
        for i in range(d):
            z = work.factor[d, i]
            total += 0.5 * z * z + math.log(work.factor[d + 1, i])
            v[THETA, i] = z
        solve_back(work.factor, d, v, THETA)
        for i in range(d):
            first[i] += v[THETA, i]
        _add_second_moments(work, d, second)
    return total
