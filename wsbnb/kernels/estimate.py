"""The estimate: what is known, and how a round is forgotten and learnt.

``P`` is the precision of the posterior and ``h = P mu``; they are kept together as
*sums*, see `linear`. Every rule of forgetting but one multiplies the past by a factor f
and puts the prior back, ``P <- f P + (1 - f) P0 + x x^T / sigma^2``: one function does
it for all of them. A sliding window keeps its rows and takes the oldest away. A random
walk fades nothing: it adds to the covariance, as a Kalman filter does.
"""

import math
from collections import namedtuple

from wsbnb.kernels.compiling import by_type, compiled, inlined, pasted
from wsbnb.kernels.linear import dot, factorise, row_start, solve_vector
from wsbnb.kernels.vectors import (
    LANES,
    get,
    load,
    plus_product,
    splat,
    store,
    times,
)

#: [P0; h0] and one over the noise variance.
Prior = namedtuple("Prior", "sums precision")

#: What is learnt. `sums` is [P; h]; `squares` the same with squared weights (the
#: paper's V-tilde), `bound` the certified eigenvalue bound and the step it tries next,
#: `ring` the rows of a window; these three are None where nobody asks for them.
State = namedtuple("State", "sums counts squares bound ring")
Ring = namedtuple("Ring", "x rewards held wear")

#: Entries of `counts`, and of a ring's `wear`: the next row to overwrite, the share of
#: the precision that subtractions have left, and the largest entry of h seen.
CLOCK, WEIGHT_SUM, SQUARED_WEIGHT_SUM = range(3)
HEAD, KEPT, LARGEST = range(3)

#: Scratch space. `factor` belongs to `sums` while ``fresh[0]`` is 1.
Work = namedtuple("Work", "factor fresh spare vectors block tail rows said")
#: Rows of `vectors`: the arm played, a parameter, and two more.
ARM, THETA, FIRST, SECOND = range(4)

#: Entries of h stay below this.
LARGEST_SHIFT = 1e300
#: One and the next number differ by this.
EPSILON = 2.0**-52

# The rules of forgetting, as types that the compiler sees.
Exponential = namedtuple("Exponential", "gamma")
Restart = namedtuple("Restart", "period")
Polynomial = namedtuple("Polynomial", "power")
Window = namedtuple("Window", "length")
RandomWalk = namedtuple("RandomWalk", "rate")
#: Rewards from 0 to 1 through a logistic curve, forgotten by one of the first three.
Clicks = namedtuple("Clicks", "rule")


# --- the recursion --------------------------------------------------------------------


@pasted
def _fade_row(sums, prior, i, start, d, f, push, vectors):
    """``row <- f row + (1 - f) prior row + push x`` for one row of the sums."""
    keep, rest, times_x = splat(f), splat(1.0 - f), splat(push)
    c = start
    while c < d:
        old = plus_product(keep, load(sums, i, c), times(rest, load(prior, i, c)))
        store(sums, i, c, plus_product(times_x, load(vectors, ARM, c), old))
        c += LANES


@compiled
def fade_and_add(sums, prior, d, f, weight, vectors, reward):
    """``P <- f P + (1 - f) P0 + w x x^T`` and ``h <- f h + (1 - f) h0 + w x r``.

    `weight` is the observation's weight over the noise variance; x is row ARM of
    `vectors`. With weight 0 time passes and nothing is observed.
    """
    for i in range(d):
        push = weight * get(vectors, ARM, i)
        _fade_row(sums, prior, i, row_start(i), d, f, push, vectors)
    _fade_row(sums, prior, d, 0, d, f, weight * reward, vectors)


def _fade_exponential(rule, clock, steps):
    return rule.gamma if steps == 1.0 else rule.gamma**steps


def _fade_restart(rule, clock, steps):
    # Rounds 1..period are block 0; what came before round 1 belongs to it too.
    now = max(math.ceil((clock + steps) / rule.period), 1)
    return 1.0 if now == max(math.ceil(clock / rule.period), 1) else 0.0


def _fade_polynomial(rule, clock, steps):
    return 1.0 if steps == 0.0 else (clock / (clock + steps)) ** rule.power


#: Factor on all past weights when the clock moves on by `steps`.
fade = by_type(
    {
        Exponential: _fade_exponential,
        Restart: _fade_restart,
        Polynomial: _fade_polynomial,
    }
)


@inlined
def loosen(bound, f):
    """Keep the bound on the top eigenvalue m of ``M = P0 P^-1 P0`` true while P fades.

    ``P >= P0^2 / m`` and ``P0 >= P0^2 / m0`` (m0 is the top eigenvalue of P0) give
    ``f P + (1 - f) P0 >= (f / m + (1 - f) / m0) P0^2``. The last factor covers the
    rounding of this line. A new observation only makes P larger.
    """
    if bound is not None:
        mixed = f / bound[0] + (1.0 - f) / bound[2]
        bound[0] = min(bound[2], (1.0 + 1e-14) / mixed)


@inlined
def _loosen_by_row(bound, kept):
    """The same while a row leaves: ``P - x x^T / s^2 >= kept P``.

    The margin covers the rounding of `kept`. Where little is kept all digits of it are
    in doubt, and the bound of the prior alone remains.
    """
    if bound is not None:
        kept -= 1e-9
        bound[0] = min(bound[2], bound[0] / kept) if kept > 1e-3 else bound[2]


@inlined
def _square(squares, prior, d, f, weight, vectors):
    if squares is not None:
        fade_and_add(squares, prior, d, f, weight, vectors, 0.0)


def _learn_fading(rule, prior, state, work, reward, steps, weight):
    d = state.sums.shape[0] - 1
    counts = state.counts
    f = fade(rule, counts[CLOCK], steps)
    push = weight * prior.precision
    fade_and_add(state.sums, prior.sums, d, f, push, work.vectors, reward)
    _square(state.squares, prior.sums, d, f * f, weight * push, work.vectors)
    loosen(state.bound, f)
    counts[CLOCK] += steps
    counts[WEIGHT_SUM] = f * counts[WEIGHT_SUM] + weight
    counts[SQUARED_WEIGHT_SUM] = f * f * counts[SQUARED_WEIGHT_SUM] + weight * weight
    work.fresh[0] = 0.0


# --- a window -------------------------------------------------------------------------


@pasted
def _largest_entry(sums, d):
    largest = 0.0
    for i in range(d):
        size = abs(get(sums, d, i))
        if size > largest or size != size:  # what is not a number stays
            largest = size
    return largest


@compiled
def _rebuild(prior, sums, ring, d, vectors, spare_row):
    """Sum up the rows in the ring afresh."""
    for i in range(d):
        spare_row[i] = vectors[ARM, i]
    fade_and_add(sums, prior.sums, d, 0.0, 0.0, vectors, 0.0)
    for s in range(ring.held.size):
        if ring.held[s] > 0.0:
            for i in range(d):
                vectors[ARM, i] = ring.x[s, i]
            fade_and_add(
                sums, prior.sums, d, 1.0, prior.precision, vectors, ring.rewards[s]
            )
    for i in range(d):
        vectors[ARM, i] = spare_row[i]
    ring.wear[KEPT] = 1.0
    ring.wear[LARGEST] = _largest_entry(sums, d)


@compiled
def _leave(prior, state, work, head, d):
    """Subtract the oldest row; return whether digits were lost that matter.

    ``det(P - x x^T / s^2) / det(P)`` is the share of P that is kept: errors relative
    to P grow by its inverse.
    """
    ring, v = state.ring, work.vectors
    if work.fresh[0] != 1.0:
        factorise(state.sums, d, work.factor, state.sums, d)
    for i in range(d):
        v[SECOND, i] = v[ARM, i]
        v[ARM, i] = ring.x[head, i]
        v[FIRST, i] = ring.x[head, i]
    solve_vector(work.factor, d, v, FIRST)
    kept = max(1.0 - prior.precision * dot(v, FIRST, v, FIRST, d), 0.0)
    ring.wear[KEPT] *= kept
    _loosen_by_row(state.bound, kept)
    fade_and_add(
        state.sums, prior.sums, d, 1.0, -prior.precision, v, ring.rewards[head]
    )
    for i in range(d):
        v[ARM, i] = v[SECOND, i]
    shrunk = _largest_entry(state.sums, d) < 1e-3 * ring.wear[LARGEST]
    return ring.wear[KEPT] < 1e-3 or shrunk


@compiled
def _push(prior, state, work, reward, weight):
    """Put one row into the ring and drop the oldest.

    Taking a row away leaves rounding errors. The sums are rebuilt from the rows each
    time the ring comes round, and before three digits are gone.
    """
    ring, counts, v = state.ring, state.counts, work.vectors
    d = state.sums.shape[0] - 1
    head = int(ring.wear[HEAD])
    leaving = ring.held[head]
    worn = _leave(prior, state, work, head, d) if leaving > 0.0 else False
    for i in range(d):
        ring.x[head, i] = v[ARM, i] if weight > 0.0 else 0.0
    ring.rewards[head] = reward if weight > 0.0 else 0.0
    ring.held[head] = weight
    if weight > 0.0:
        fade_and_add(state.sums, prior.sums, d, 1.0, prior.precision, v, reward)
        ring.wear[LARGEST] = max(ring.wear[LARGEST], _largest_entry(state.sums, d))
    head = (head + 1) % ring.held.size
    ring.wear[HEAD] = head
    if worn or head == 0:
        _rebuild(prior, state.sums, ring, d, v, v[SECOND])
    work.fresh[0] = 0.0
    counts[CLOCK] += 1.0
    counts[WEIGHT_SUM] += weight - leaving
    counts[SQUARED_WEIGHT_SUM] = counts[WEIGHT_SUM]


def _learn_window(rule, prior, state, work, reward, steps, weight):
    """`steps` rounds pass, the last of which brings the observation if there is one."""
    empty = steps if weight == 0.0 else steps - 1.0
    passed = min(empty, float(rule.length))
    for _ in range(int(passed)):
        _push(prior, state, work, 0.0, 0.0)
    state.counts[CLOCK] += empty - passed
    if weight > 0.0:
        _push(prior, state, work, reward, weight)


# --- a random walk --------------------------------------------------------------------


@compiled
def diffuse(sums, prior, d, variance, work):
    """Add ``variance P0^-1`` to the covariance and leave the mean as it is.

    ``(P^-1 + v P0^-1)^-1 = P - P (P + P0 / v)^-1 P``; the same matrix takes h along,
    because ``h = P mu``. No inverse is formed.
    """
    v, Y, F = work.vectors, work.spare[0], work.factor
    for i in range(d):
        for c in range(i, d):
            Y[i, c] = get(sums, i, c) + get(prior, i, c) / variance
        Y[d, i] = get(sums, d, i)
    factorise(Y, d, F, Y, d)  # R and R^-T h
    for j in range(d):
        for i in range(d):
            v[FIRST, i] = get(sums, min(i, j), max(i, j))
        solve_vector(F, d, v, FIRST)
        for i in range(d):
            Y[j, i] = v[FIRST, i]
    for i in range(d):
        for c in range(i, d):
            sums[i, c] -= dot(Y, i, Y, c, d)
        sums[d, i] -= dot(Y, i, F, d, d)


def _learn_walk(rule, prior, state, work, reward, steps, weight):
    d, counts = state.sums.shape[0] - 1, state.counts
    if steps * rule.rate > 0.0:
        diffuse(state.sums, prior.sums, d, steps * rule.rate, work)
    push = weight * prior.precision
    fade_and_add(state.sums, prior.sums, d, 1.0, push, work.vectors, reward)
    counts[CLOCK] += steps
    counts[WEIGHT_SUM] += weight
    counts[SQUARED_WEIGHT_SUM] += weight * weight
    work.fresh[0] = 0.0


@pasted
def factorise_precision(sums, d, factor, right, row):
    """`factorise`; False if P is not positive definite beyond doubt.

    A pivot that is small beside its diagonal is what rounding has left of it: its sign
    is luck.
    """
    sound = factorise(sums, d, factor, right, row)
    for i in range(d):
        inverse = get(factor, d + 1, i)  # one over the root of a pivot
        share = inverse * get(sums, i, i) * inverse
        sound = sound and share * (4 * d * EPSILON) <= 1.0
    return sound


@pasted
def refresh(state, work):
    """Make the factor of the present estimate; False if no round can be played from it.

    P must be positive definite, and h leave room for the products of a scoring.
    """
    if work.fresh[0] == 0.0:
        d = state.sums.shape[0] - 1
        sound = factorise_precision(state.sums, d, work.factor, state.sums, d)
        sound = sound and _largest_entry(state.sums, d) < LARGEST_SHIFT
        work.fresh[0] = 1.0 if sound else -1.0
    return work.fresh[0] > 0.0


@inlined
def predict(state, work, predicted, t):
    """Mean and variance of the expected reward of the arm in row ARM."""
    refresh(state, work)
    v, d = work.vectors, state.sums.shape[0] - 1
    for i in range(d):
        v[FIRST, i] = v[ARM, i]
    solve_vector(work.factor, d, v, FIRST)
    predicted[t, 0] = dot(v, FIRST, work.factor, d, d)
    predicted[t, 1] = dot(v, FIRST, v, FIRST, d)


# --- clicks ---------------------------------------------------------------------------


@inlined
def logistic(eta):
    """``1 / (1 + exp(-eta))`` without overflow."""
    if eta >= 0.0:
        return 1.0 / (1.0 + math.exp(-eta))
    e = math.exp(eta)
    return e / (1.0 + e)


@compiled
def click_mode(eta, s, reward):
    """The root of ``y = eta + s (r - logistic(y))``, by Newton within a bracket.

    It is the mode of a logistic likelihood times a normal law of mean eta and variance
    s. The difference of both sides rises with a slope of at least 1.
    """
    low, high = eta + s * (reward - 1.0), eta + s * reward
    y, last = min(max(eta, low), high), math.inf
    for _ in range(200):
        p = logistic(y)
        gap = y - eta - s * (reward - p)
        step = gap / (1.0 + s * p * logistic(-y))
        if abs(step) <= 1e-15 * (1.0 + abs(y)):
            break
        if gap > 0.0:
            high = y
        else:
            low = y
        y -= step
        # Newton could leave the bracket, or go to and fro: then halve it.
        if not low < y < high or abs(gap) > 0.5 * last:
            y = 0.5 * (low + high)
        last = abs(gap)
    return y


@compiled
def _add_click(prior, state, work, d, reward, weight):
    """Laplace's step: a normal law around the mode, with the curvature found there."""
    v, sums = work.vectors, state.sums
    for i in range(d):
        v[FIRST, i] = v[ARM, i]
    solve_vector(work.factor, d, v, FIRST)
    s = weight * dot(v, FIRST, v, FIRST, d)
    y = click_mode(dot(v, FIRST, work.factor, d, d), s, reward)
    p, rest = logistic(y), logistic(-y)
    curve = weight * p * rest
    for i in range(d):
        push = curve * get(v, ARM, i)
        _fade_row(sums, prior.sums, i, row_start(i), d, 1.0, push, v)
    missed = weight * (reward * rest - (1.0 - reward) * p)
    _fade_row(sums, prior.sums, d, 0, d, 1.0, missed + curve * y, v)


def _learn_clicks(rule, prior, state, work, reward, steps, weight):
    """The past fades as ever; the click then enters with the weight ``p (1 - p)``."""
    d, counts = state.sums.shape[0] - 1, state.counts
    f = fade(rule.rule, counts[CLOCK], steps)
    fade_and_add(state.sums, prior.sums, d, f, 0.0, work.vectors, 0.0)
    loosen(state.bound, f)
    work.fresh[0] = 0.0
    if weight > 0.0 and refresh(state, work):
        _add_click(prior, state, work, d, reward, weight)
    counts[CLOCK] += steps
    counts[WEIGHT_SUM] = f * counts[WEIGHT_SUM] + weight
    counts[SQUARED_WEIGHT_SUM] = f * f * counts[SQUARED_WEIGHT_SUM] + weight * weight
    work.fresh[0] = 0.0


#: Let `steps` rounds pass, then add the observation in row ARM of ``work.vectors`` with
#: `weight`.
learn = by_type(
    {
        Exponential: _learn_fading,
        Restart: _learn_fading,
        Polynomial: _learn_fading,
        Window: _learn_window,
        RandomWalk: _learn_walk,
        Clicks: _learn_clicks,
    }
)
