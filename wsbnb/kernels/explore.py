"""What an arm is worth: scores by width, by a draw, or by chance.

The settings of a way to explore are a named tuple, so that its class is a type which
the compiler sees. A decision fills ``work.rows`` with scores (and means and widths
where they are used) and ``work.said`` with the radius and its penalty part.
"""

import math
from collections import namedtuple

from wsbnb.kernels.compiling import by_type, compiled, inlined, pasted
from wsbnb.kernels.estimate import (
    CLOCK,
    FIRST,
    SECOND,
    SQUARED_WEIGHT_SUM,
    THETA,
    factorise_precision,
    refresh,
)
from wsbnb.kernels.linear import (
    dot,
    factorise,
    project,
    row_start,
    solve_arms,
    solve_back,
    solve_vector,
)
from wsbnb.kernels.vectors import (
    LANES,
    first_at_least,
    get,
    larger,
    largest_lane,
    load,
    minus_product,
    plus_product,
    root,
    splat,
    splat_at,
    store,
    sum_of_lanes,
)

#: Mean plus a multiple of the width. The multiple is ``up`` without a normal, and
#: ``up max(0, z) - down min(0, z)`` with one; `radius` multiplies it.
Widths = namedtuple("Widths", "up down radius")
#: The best arm for a parameter drawn with covariance ``scale^2 P^-1``; 0: the mean.
Sample = namedtuple("Sample", "scale")
#: Any arm, by the angle of two normals.
Chance = namedtuple("Chance", "unused")

#: No radius: the multiple is all there is.
Plain = namedtuple("Plain", "value")
#: Confidence radius: ``sqrt(2 log(1/delta') + d log(1 + ratio n2))`` plus the penalty.
Radius = namedtuple("Radius", "log_inverse_delta anytime ratio penalty")
#: Prior penalties: a number; a bound by a certified eigenvalue; the exact maximum.
Static = namedtuple("Static", "value")
Triangle = namedtuple("Triangle", "P0 P0_squared h0 param_bound")
Convex = namedtuple("Convex", "P0 P0_squared h0 param_bound")
Exact = namedtuple("Exact", "P0 P0_squared h0 param_bound")

SCORES, MEANS, WIDTHS = range(3)
RADIUS, PENALTY = range(2)
BOUND, STEP = range(2)

#: Trials a round for the eigenvalue bound, how close it is to be followed, and the step
#: below which it counts as followed: one trial a round, more only while it falls fast.
TRIALS, SLACK, SMALL = 6, 1e-3, 0.05
#: Scores within this relative distance of the best one count as a tie.
TIE = 1e-12
#: Relative accuracy of the exact penalty.
ACCURACY = 1e-13


# --- the radius -----------------------------------------------------------------------


@pasted
def noise_part(radius, counts, d):
    """The noise radius beta."""
    log_term = radius.log_inverse_delta
    if radius.anytime:
        t = counts[CLOCK] + 1.0
        log_term += math.log(2.0 * t) + 2.0 * math.log(1.0 + math.log(t))
    spread = d * math.log1p(radius.ratio * counts[SQUARED_WEIGHT_SUM])
    return math.sqrt(2.0 * log_term + spread)


@compiled
def shifted_factor(sums, P0_squared, d, bound, spare):
    """Factorise ``P - P0^2 / bound``; True proves ``P0 P^-1 P0 <= bound I``.

    The margin on the diagonal covers the rounding errors of the factorisation.
    """
    C, F = spare[0], spare[1]
    inverse = splat(1.0 / bound)
    trace = 0.0
    for i in range(d):
        trace += get(sums, i, i)
        c = row_start(i)
        while c < d:
            shift = load(P0_squared, i, c)
            store(C, i, c, minus_product(inverse, shift, load(sums, i, c)))
            c += LANES
    for i in range(d):
        C[i, i] -= 4.0 * d * 2.3e-16 * trace
    return factorise(C, d, F, C, d)


@pasted
def tighten(bound, P0_squared, sums, d, trials, slack, small, spare):
    """Lower the bound on the top eigenvalue of M as far as a few trials prove it.

    The bound may never be too small, so each lower value is proved by a Cholesky
    factorisation. A trial that succeeds doubles the next step, one that fails halves
    it. They end when the bound is known to be within `slack`, and while the steps are
    `small` after one: the next round goes on.
    """
    for _ in range(trials):
        trial = bound[BOUND] * (1.0 - bound[STEP])
        if shifted_factor(sums, P0_squared, d, trial, spare):
            bound[BOUND] = trial
            bound[STEP] = min(2.0 * bound[STEP], 0.5)
            if bound[STEP] < small:
                break
        else:
            bound[STEP] = max(0.5 * bound[STEP], 0.5 * slack)
            if bound[STEP] <= max(slack, small):
                break


@pasted
def _multiply(M, d, v, row, out):
    """``v[out] = M v[row]`` for a full matrix."""
    for i in range(d):
        v[out, i] = dot(M, i, v, row, d)


@pasted
def _weighted_mean(s, F, d, v):
    """``||mu0||_M^2``; leaves ``M mu0`` in the row FIRST."""
    for i in range(d):
        v[SECOND, i] = s.h0[0, i]
    solve_vector(F, d, v, SECOND)
    square = dot(v, SECOND, v, SECOND, d)
    solve_back(F, d, v, SECOND)
    _multiply(s.P0, d, v, SECOND, FIRST)
    return square


@pasted
def _followed(s, state, work, d):
    """A bound on the top eigenvalue that follows it from above, a trial a round."""
    tighten(state.bound, s.P0_squared, state.sums, d, TRIALS, SLACK, SMALL, work.spare)
    return state.bound[BOUND]


def _static(s, state, work, d):
    return s.value


def _triangle(s, state, work, d):
    ball = math.sqrt(_followed(s, state, work, d)) * s.param_bound
    if dot(s.h0, 0, s.h0, 0, d) == 0.0:
        return ball
    return math.sqrt(_weighted_mean(s, work.factor, d, work.vectors)) + ball


def _convex(s, state, work, d):
    top, S = _followed(s, state, work, d), s.param_bound
    if dot(s.h0, 0, s.h0, 0, d) == 0.0:
        return math.sqrt(top) * S
    v = work.vectors
    square = _weighted_mean(s, work.factor, d, v)
    cross = math.sqrt(dot(v, FIRST, v, FIRST, d))
    return math.sqrt(square + S * S * top + 2.0 * S * cross)


@compiled
def _farthest(s, sums, d, nu, spare, v):
    """For a multiplier nu: the norm of the stationary point theta and its slope.

    ``(nu I - M) theta = -M mu0`` gives ``theta = -P0 C^-1 h0 / nu`` with
    ``C = P - P0^2 / nu``. Leaves theta in the row THETA; a norm of -1 says that nu is
    not above the top eigenvalue.
    """
    if not shifted_factor(sums, s.P0_squared, d, nu, spare):
        return -1.0, 0.0
    F = spare[1]
    for i in range(d):
        v[SECOND, i] = s.h0[0, i]
    solve_vector(F, d, v, SECOND)
    solve_back(F, d, v, SECOND)
    _multiply(s.P0, d, v, SECOND, THETA)
    for i in range(d):
        v[THETA, i] = -v[THETA, i] / nu
    _multiply(s.P0, d, v, THETA, SECOND)
    solve_vector(F, d, v, SECOND)
    square = dot(v, THETA, v, THETA, d)
    slope = -(square / nu + dot(v, SECOND, v, SECOND, d) / (nu * nu))
    return math.sqrt(square), slope


def _exact(s, state, work, d):
    """The maximum of ``||mu0 - theta||_M`` over the ball of radius S.

    A trust-region problem: the multiplier nu above the top eigenvalue of M makes the
    norm of the stationary point equal to S. Newton's method on one over the norm finds
    it; in the hard case the norm stays below S and nu is the eigenvalue. The least of
    the dual values on the way is returned: each of them is an upper bound, and near the
    root they are accurate to second order.
    """
    S, v = s.param_bound, work.vectors
    square = 0.0
    if dot(s.h0, 0, s.h0, 0, d) > 0.0:
        square = _weighted_mean(s, work.factor, d, v)
    if S == 0.0:
        return math.sqrt(square)
    bound = state.bound
    bound[STEP] = max(bound[STEP], SLACK)
    tighten(bound, s.P0_squared, state.sums, d, 200, ACCURACY, 0.0, work.spare)
    low = bound[BOUND]
    if square == 0.0:
        return math.sqrt(low) * S
    high = low + math.sqrt(dot(v, FIRST, v, FIRST, d)) / S
    nu, least = low, math.inf
    for _ in range(100):
        norm, slope = _farthest(s, state.sums, d, nu, work.spare, v)
        if norm >= 0.0:
            dual = nu * S * S + square - dot(v, FIRST, v, THETA, d)
            least = min(least, dual)
        if norm < 0.0 or norm > S:
            low = max(low, nu)
        else:
            high = min(high, nu)
        if abs(norm - S) <= ACCURACY * S or high - low <= ACCURACY * high:
            break
        nu += norm * norm * (norm / S - 1.0) / -slope if norm > 0.0 else 0.0
        if not low < nu < high:
            nu = 0.5 * (low + high)
    return math.sqrt(least)


penalty = by_type(
    {Static: _static, Triangle: _triangle, Convex: _convex, Exact: _exact}
)


def _plain_radius(radius, state, work, d):
    return radius.value


def _confidence_radius(radius, state, work, d):
    part = penalty(radius.penalty, state, work, d)
    work.said[PENALTY] = part
    return noise_part(radius, state.counts, d) + part


#: What multiplies the multiple of the width.
radius_of = by_type({Plain: _plain_radius, Radius: _confidence_radius})


# --- the local norm -------------------------------------------------------------------


@compiled
def _local_factor(squares, F, d, spare, Y):
    """``G^T`` with ``||G y|| = ||x||`` in ``V^-1 V~ V^-1`` for ``y = R^-T x``.

    With ``V = R^T R`` and ``V~ = W^T W`` it is ``G = W R^-1``, upper triangular:
    ``G^T = R^-T W^T`` solves for the rows of W as if they were arms. Leaves G^T in
    spare[0]; the columns k of its row i are zero for k > i.
    """
    GT, W = spare[0], spare[1]
    factorise(squares, d, W, squares, d)
    for i in range(d):
        for k in range(GT.shape[1]):
            GT[i, k] = get(W, k, i) if k <= i else 0.0
    for k in range(0, d, LANES):
        solve_arms(F, d, GT, k, k, Y)
        for i in range(k, d):
            store(GT, i, k, load(Y, i, 0))


@pasted
def _local_squares(GT, Y, d):
    """Column sums of ``(G Y)^2``, four rows of G at a time."""
    total = splat(0.0)
    k = 0
    while k + 4 <= d:
        s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for i in range(k, d):
            y = load(Y, i, 0)
            s0 = plus_product(splat_at(GT, i, k), y, s0)
            s1 = plus_product(splat_at(GT, i, k + 1), y, s1)
            s2 = plus_product(splat_at(GT, i, k + 2), y, s2)
            s3 = plus_product(splat_at(GT, i, k + 3), y, s3)
        total = plus_product(s1, s1, plus_product(s0, s0, total))
        total = plus_product(s3, s3, plus_product(s2, s2, total))
        k += 4
    while k < d:
        s0 = splat(0.0)
        for i in range(k, d):
            s0 = plus_product(splat_at(GT, i, k), load(Y, i, 0), s0)
        total = plus_product(s0, s0, total)
        k += 1
    return total


@inlined
def _prepare_local(squares, work, d):
    if squares is not None:
        _local_factor(squares, work.factor, d, work.spare, work.block)


@inlined
def _in_its_norm(squares, widths, work, d):
    """Squared widths: those at hand, or those in the local norm."""
    if squares is None:
        return widths
    return _local_squares(work.spare[0], work.block, d)


@compiled
def _perturb(sums, W, d, scale, normals, t, v):
    """``v[THETA] = h + a W^T eta``."""
    for c in range(0, d, LANES):
        a = load(sums, d, c)
        for i in range(c):
            a = plus_product(splat(scale * get(normals, t, i)), load(W, i, c), a)
        store(v, THETA, c, a)
        stop = min(c + LANES, d)
        for i in range(c, stop):
            f = scale * get(normals, t, i)
            for k in range(i, stop):
                v[THETA, k] = plus_product(f, get(W, i, k), get(v, THETA, k))


@inlined
def _draw(squares, scale, state, work, d, normals, t):
    """Solve for ``R theta``: it is ``z + a eta``, or ``R^-T (h + a W^T eta)``."""
    v, F = work.vectors, work.factor
    if squares is None:
        sound = refresh(state, work)
        for i in range(d):
            v[THETA, i] = plus_product(scale, get(normals, t, i), get(F, d, i))
        return sound
    W = work.spare[1]
    factorise(squares, d, W, squares, d)
    _perturb(state.sums, W, d, scale, normals, t, v)
    sound = factorise_precision(state.sums, d, F, v, THETA)
    work.fresh[0] = 0.0  # its z is not that of h
    for i in range(d):
        v[THETA, i] = get(F, d, i)
    return sound


# --- scores ---------------------------------------------------------------------------


@pasted
def _block(X_T, k, tail):
    """Eight arms from k on: where they are, or a copy with zeros after the last."""
    d, K = X_T.shape
    if k + LANES <= K:
        return X_T, k
    for i in range(d):
        for c in range(LANES):
            tail[i, c] = get(X_T, i, k + c) if k + c < K else 0.0
    return tail, 0


@pasted
def _multiplier(s, normals, t):
    """The factor on the width: fixed, or drawn."""
    if normals.shape[1] == 0:
        return s.up
    z = normals[t, 0]
    return s.up * max(z, 0.0) + s.down * max(-z, 0.0)


def _score_widths(s, state, work, X_T, normals, t):
    d, K = X_T.shape
    sound = refresh(state, work)
    radius = _multiplier(s, normals, t) * radius_of(s.radius, state, work, d)
    work.said[RADIUS] = radius
    _prepare_local(state.squares, work, d)  # last: the radius uses the same scratch
    for k in range(0, K, LANES):
        arms, c = _block(X_T, k, work.tail)
        means, squares = solve_arms(work.factor, d, arms, c, 0, work.block)
        widths = root(_in_its_norm(state.squares, squares, work, d))
        store(work.rows, SCORES, k, plus_product(splat(radius), widths, means))
        store(work.rows, MEANS, k, means)
        store(work.rows, WIDTHS, k, widths)
    return sound


def _score_sample(s, state, work, X_T, normals, t):
    d, K = X_T.shape
    if s.scale > 0.0:
        sound = _draw(state.squares, s.scale, state, work, d, normals, t)
    else:
        sound = refresh(state, work)
        for i in range(d):
            work.vectors[THETA, i] = get(work.factor, d, i)
    solve_back(work.factor, d, work.vectors, THETA)
    for k in range(0, K, LANES):
        arms, c = _block(X_T, k, work.tail)
        store(work.rows, SCORES, k, project(arms, c, work.vectors, THETA, d))
    return sound


def _score_chance(s, state, work, X_T, normals, t):
    K = X_T.shape[1]
    angle = math.atan2(normals[t, 0], normals[t, 1])  # uniform between -pi and pi
    lucky = min(int((0.5 + angle / (2.0 * math.pi)) * K), K - 1)
    for k in range(K):
        work.rows[SCORES, k] = 1.0 if k == lucky else 0.0
    return True


#: Score all arms; False if P is not positive definite.
score = by_type({Widths: _score_widths, Sample: _score_sample, Chance: _score_chance})


def _wider(s, factor):
    return Widths(factor * s.up, factor * s.down, s.radius)


def _farther(s, factor):
    return Sample(factor * s.scale)


def _as_it_is(s, factor):
    return s


#: The same way to explore, so many times as much.
rescaled = by_type({Widths: _wider, Sample: _farther, Chance: _as_it_is})


@pasted
def best_arm(rows, K):
    """Index of the largest score; ties (up to rounding) go to the lowest index.

    Returns -1 when a score is not a finite number.
    """
    stop = (K + LANES - 1) // LANES * LANES
    for k in range(K, stop):
        rows[SCORES, k] = -math.inf
    top, doubt = splat(-math.inf), splat(0.0)
    k = 0
    while k < stop:
        scores = load(rows, SCORES, k)
        top = larger(scores, top)
        if k + LANES <= K:
            doubt = plus_product(scores, splat(0.0), doubt)
        k += LANES
    strange = sum_of_lanes(doubt)
    for k in range(stop - LANES if stop > K else K, K):
        strange += 0.0 * rows[SCORES, k]
    largest = largest_lane(top)
    enough = largest - TIE * abs(largest)
    if strange == 0.0:
        for k in range(0, stop, LANES):
            lane = first_at_least(load(rows, SCORES, k), enough)
            if lane < LANES:
                return k + lane
    return -1
