"""What a page calls: a policy in one block of memory, played by the library's kernels.

Every function in `EXPORTS` becomes one of the WebAssembly module. It takes whole
numbers, doubles and pointers to doubles; formulas are those of `wsbnb.kernels`. A
policy lives in a *block* of doubles: a header with its settings, then its arrays, one
after the other. The page asks for the size of a block, writes the header and never
looks behind it.
"""

import math

import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic

from wsbnb.kernels import estimate, explore
from wsbnb.kernels.compiling import compiled, inlined
from wsbnb.kernels.estimate import ARM, FIRST, KEPT, LARGEST, SECOND
from wsbnb.kernels.linear import dot, factorise, solve_back, solve_vector
from wsbnb.kernels.rounds import expected_rewards

#: The header: what the page writes ...
HEADER = 32
D, K, WINDOW, KIND, LOCAL, RULE, RULE_VALUE, NOISE_STD = range(8)
UP, DOWN, RADIUS, DELTA, HORIZON, SPLIT, CONSTANT, PENALTY = range(8, 16)
PARAM_BOUND, ARM_BOUND = range(16, 18)
#: ... and what `begin` makes of it.
PRECISION, LOG_INVERSE_DELTA, RATIO, STATIC_PENALTY, TOP = range(24, 29)

WIDTHS, SAMPLE, CHANCE = range(3)  # KIND
EXPONENTIAL, RESTART, SLIDING = range(3)  # RULE
SPLIT_HORIZON, SPLIT_NONE, SPLIT_ANYTIME = range(3)  # SPLIT
TRACE, LAMBDA_MAX = range(2)  # CONSTANT
STATIC, CONVEX, TRIANGLE, EXACT = range(4)  # PENALTY

#: The kernel itself, without what lets Python call it.
_expected_rewards = compiled(expected_rewards.py_func)
LANES = 8
F, I = types.float64, types.int32
P, IP = types.CPointer(F), types.CPointer(I)
U = types.CPointer(types.uint64)


@intrinsic
def _behind(context, pointer, offset):
    """The pointer `offset` numbers further on."""

    def build(context, builder, signature, arguments):
        return cgutils.pointer_add(
            builder, arguments[0], builder.mul(arguments[1], arguments[1].type(8))
        )

    return pointer(pointer, types.int64), build


# --- a block --------------------------------------------------------------------------


@inlined
def _stride(d):
    return (((d + LANES - 1) // LANES) | 1) * LANES


@inlined
def _places(d, K, window):
    """Where the arrays of a block begin; the last number is the size of all."""
    S = _stride(d)
    matrix, small = (d + 3) * S, LANES
    prior = HEADER
    P0_squared = prior + matrix
    h0 = P0_squared + matrix
    sums = h0 + S
    squares = sums + matrix
    counts = squares + matrix
    bound = counts + small
    factor = bound + small
    fresh = factor + matrix
    spare = fresh + small
    vectors = spare + 2 * matrix
    block = vectors + 4 * S
    tail = block + d * LANES
    rows = tail + d * LANES
    said = rows + 3 * _stride(K)
    wear = said + small
    ring = wear + small
    end = ring + window * (d + 2)
    return (
        (prior, P0_squared, h0, sums, squares, counts, bound),
        (factor, fresh, spare, vectors, block, tail, rows, said),
        (wear, ring, (end + LANES - 1) // LANES * LANES),
    )


@inlined
def _header(block):
    return carray(block, (HEADER,))


@inlined
def _sizes(block):
    h = _header(block)
    return int(h[D]), int(h[K]), int(h[WINDOW])


@inlined
def _prior(block):
    d, K, window = _sizes(block)
    known, _, _ = _places(d, K, window)
    sums = carray(_behind(block, known[0]), (d + 1, _stride(d)))
    return estimate.Prior(sums, _header(block)[PRECISION])


@inlined
def _matrices(block):
    """P0, P0 squared and h0, as the penalties take them."""
    d, K, window = _sizes(block)
    known, _, _ = _places(d, K, window)
    S = _stride(d)
    return (
        carray(_behind(block, known[0]), (d + 1, S)),
        carray(_behind(block, known[1]), (d + 1, S)),
        carray(_behind(block, known[2]), (1, S)),
    )


@inlined
def _ring(block):
    d, K, window = _sizes(block)
    _, _, (wear, ring, _) = _places(d, K, window)
    return estimate.Ring(
        carray(_behind(block, ring), (window, d)),
        carray(_behind(block, ring + window * d), (window,)),
        carray(_behind(block, ring + window * (d + 1)), (window,)),
        carray(_behind(block, wear), (3,)),
    )


@inlined
def _learnt(block):
    """The arrays of a state: sums, squares, counts, bound."""
    d, K, window = _sizes(block)
    known, _, _ = _places(d, K, window)
    shape = (d + 1, _stride(d))
    return (
        carray(_behind(block, known[3]), shape),
        carray(_behind(block, known[4]), shape),
        carray(_behind(block, known[5]), (3,)),
        carray(_behind(block, known[6]), (3,)),
    )


@inlined
def _plain(block):
    sums, _, counts, bound = _learnt(block)
    return estimate.State(sums, counts, None, bound, None)


@inlined
def _squared(block):
    sums, squares, counts, bound = _learnt(block)
    return estimate.State(sums, counts, squares, bound, None)


@inlined
def _windowed(block):
    sums, _, counts, bound = _learnt(block)
    return estimate.State(sums, counts, None, bound, _ring(block))


@inlined
def _work(block):
    d, K, window = _sizes(block)
    _, at, _ = _places(d, K, window)
    S = _stride(d)
    return estimate.Work(
        carray(_behind(block, at[0]), (d + 3, S)),
        carray(_behind(block, at[1]), (1,)),
        carray(_behind(block, at[2]), (2, d + 3, S)),
        carray(_behind(block, at[3]), (4, S)),
        carray(_behind(block, at[4]), (d, LANES)),
        carray(_behind(block, at[5]), (d, LANES)),
        carray(_behind(block, at[6]), (3, _stride(K))),
        carray(_behind(block, at[7]), (2,)),
    )


def size(d, K, window):
    """Doubles that a block needs."""
    _, _, (_, _, total) = _places(d, K, window)
    return total


# --- settings -------------------------------------------------------------------------


@compiled
def invert(F, d, v, out):
    """The inverse, full and symmetric, of the matrix whose factor is F."""
    for k in range(d):
        for i in range(v.shape[1]):
            v[FIRST, i] = 1.0 if i == k else 0.0
        solve_vector(F, d, v, FIRST)
        solve_back(F, d, v, FIRST)
        for i in range(k + 1):
            out[i, k] = v[FIRST, i]
            out[k, i] = v[FIRST, i]


@compiled
def top_eigenvalue(A, d):
    """The largest eigenvalue of a full symmetric matrix, by Jacobi; A is used up."""
    for _ in range(60):
        off, size = 0.0, 0.0
        for i in range(d):
            for j in range(d):
                size += A[i, j] * A[i, j]
                off += A[i, j] * A[i, j] if i != j else 0.0
        if off <= 1e-32 * size:
            break
        for p in range(d):
            for q in range(p + 1, d):
                if A[p, q] != 0.0:
                    _turn(A, d, p, q)
    top = A[0, 0]
    for i in range(d):
        top = max(top, A[i, i])
    return top


@inlined
def _turn(A, d, p, q):
    """Rotate rows and columns p and q so that A[p, q] becomes 0."""
    middle = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
    t = 1.0 / (abs(middle) + math.sqrt(middle * middle + 1.0))
    t = t if middle >= 0.0 else -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for i in range(d):
        a, b = A[i, p], A[i, q]
        A[i, p], A[i, q] = c * a - s * b, s * a + c * b
    for i in range(d):
        a, b = A[p, i], A[q, i]
        A[p, i], A[q, i] = c * a - s * b, s * a + c * b


@inlined
def _copy(source, d, out):
    for i in range(d):
        for k in range(d):
            out[i, k] = source[i, k]


def begin(block, mean, cov):
    """From a header, a prior mean (d,) and covariance (d, d): a policy without data.

    Returns 0 where the covariance is not positive definite.
    """
    h = _header(block)
    d, K, window = _sizes(block)
    _, _, (_, _, total) = _places(d, K, window)
    everything = carray(block, (total,))
    for i in range(HEADER, total):
        everything[i] = 0.0
    P0, P0_squared, h0 = _matrices(block)
    work = _work(block)
    mu, C = carray(mean, (d,)), carray(cov, (d, d))
    _copy(C, d, P0)
    if not factorise(P0, d, work.factor, P0, d):
        return 0
    invert(work.factor, d, work.vectors, P0)
    _settle(h, d, P0, P0_squared, h0, mu, C, work)
    _restart(block)
    return 1


@compiled
def _settle(h, d, P0, P0_squared, h0, mu, C, work):
    """What follows from the prior: h0, P0 squared, the constants of the radius."""
    trace, length = 0.0, 0.0
    for i in range(d):
        trace += C[i, i]
        total = 0.0
        for k in range(d):
            total += P0[i, k] * mu[k]
            P0_squared[i, k] = dot(P0, i, P0, k, d)
        h0[0, i] = total
        length += total * mu[i]
    for i in range(d):
        P0[d, i] = h0[0, i]
    _copy(P0, d, work.spare[0])
    top = top_eigenvalue(work.spare[0], d)
    _copy(C, d, work.spare[0])
    widest = top_eigenvalue(work.spare[0], d)
    h[PRECISION] = 1.0 / (h[NOISE_STD] * h[NOISE_STD])
    h[LOG_INVERSE_DELTA] = -math.log(h[DELTA])
    if h[SPLIT] == SPLIT_HORIZON:
        h[LOG_INVERSE_DELTA] += math.log(h[HORIZON])
    variance = trace if h[CONSTANT] == TRACE else widest
    h[RATIO] = variance * h[ARM_BOUND] * h[ARM_BOUND] * h[PRECISION] / d
    h[STATIC_PENALTY] = math.sqrt(length) + math.sqrt(top) * h[PARAM_BOUND]
    h[TOP] = top


@compiled
def _restart(block):
    d, _, _ = _sizes(block)
    prior, ring, work = _prior(block), _ring(block), _work(block)
    sums, squares, counts, bound = _learnt(block)
    for i in range(d + 1):
        for k in range(sums.shape[1]):
            sums[i, k] = prior.sums[i, k]
            squares[i, k] = prior.sums[i, k]
    for i in range(3):
        counts[i] = 0.0
        ring.wear[i] = 0.0
    for s in range(ring.held.size):
        ring.held[s] = 0.0
    ring.wear[KEPT] = 1.0
    for i in range(d):
        ring.wear[LARGEST] = max(ring.wear[LARGEST], abs(prior.sums[d, i]))
    bound[0] = bound[2] = _header(block)[TOP]
    bound[1] = 0.01
    work.fresh[0] = 0.0


def restart(block):
    """Back to the prior and to round 0."""
    _restart(block)
    return 1


# --- rounds ---------------------------------------------------------------------------


@compiled
def _radius(block, d):
    """The radius of the policy's kind, by the kernel for it."""
    h, state, work = _header(block), _plain(block), _work(block)
    log_term, ratio = h[LOG_INVERSE_DELTA], h[RATIO]
    anytime, S = h[SPLIT] == SPLIT_ANYTIME, h[PARAM_BOUND]
    P0, P0_squared, h0 = _matrices(block)
    estimate.refresh(state, work)
    if h[PENALTY] == CONVEX:
        part = explore.penalty(explore.Convex(P0, P0_squared, h0, S), state, work, d)
    elif h[PENALTY] == TRIANGLE:
        part = explore.penalty(explore.Triangle(P0, P0_squared, h0, S), state, work, d)
    elif h[PENALTY] == EXACT:
        part = explore.penalty(explore.Exact(P0, P0_squared, h0, S), state, work, d)
    else:
        part = h[STATIC_PENALTY]
    radius = explore.Radius(log_term, anytime, ratio, explore.Static(part))
    return explore.radius_of(radius, state, work, d)


@compiled
def _decide(block, X_T, normals, t):
    """Score the arms of a round; the best of them, or -1."""
    h, work = _header(block), _work(block)
    d = X_T.shape[0]
    if h[KIND] == SAMPLE:
        draw = explore.Sample(h[UP])
        if h[LOCAL] > 0.0:
            sound = explore.score(draw, _squared(block), work, X_T, normals, t)
        else:
            sound = explore.score(draw, _plain(block), work, X_T, normals, t)
    elif h[KIND] == CHANCE:
        chance = explore.Chance(0.0)
        sound = explore.score(chance, _plain(block), work, X_T, normals, t)
    else:
        value = _radius(block, d) if h[RADIUS] > 0.0 else 1.0
        widths = explore.Widths(h[UP], h[DOWN], explore.Plain(value))
        if h[LOCAL] > 0.0:
            sound = explore.score(widths, _squared(block), work, X_T, normals, t)
        else:
            sound = explore.score(widths, _plain(block), work, X_T, normals, t)
    return explore.best_arm(work.rows, X_T.shape[1]) if sound else -1


@compiled
def _learn(block, reward, steps, weight):
    """Time passes, then the arm in row ARM is learnt from."""
    h, prior, work = _header(block), _prior(block), _work(block)
    value = h[RULE_VALUE]
    if h[RULE] == SLIDING:
        rule = estimate.Window(int(value))
        estimate.learn(rule, prior, _windowed(block), work, reward, steps, weight)
    elif h[RULE] == RESTART:
        rule = estimate.Restart(value)
        estimate.learn(rule, prior, _plain(block), work, reward, steps, weight)
    elif h[LOCAL] > 0.0:
        fading = estimate.Exponential(value)
        estimate.learn(fading, prior, _squared(block), work, reward, steps, weight)
    else:
        fading = estimate.Exponential(value)
        estimate.learn(fading, prior, _plain(block), work, reward, steps, weight)


def play(block, n, sets, m, learning, arms, rewards, noise, normals, chosen):
    """As `rounds.play`: n rounds that choose, and learn if they shall; how many it was.

    `arms` is (sets, d, K), one set or n of them; `rewards` (n, K), `normals` (n, m).
    """
    d, K, _ = _sizes(block)
    X, paid = carray(arms, (sets, d, K)), carray(rewards, (n, K))
    shocks, draws = carray(noise, (n,)), carray(normals, (n, m))
    out, work = carray(chosen, (n,)), _work(block)
    for t in range(np.int64(n)):  # the type that an index has everywhere
        X_T = X[t if sets > 1 else 0]
        k = _decide(block, X_T, draws, t)
        out[t] = k
        if k < 0:
            return t
        if learning:
            for i in range(d):
                work.vectors[ARM, i] = X_T[i, k]
            _learn(block, paid[t, k] + shocks[t], 1.0, 1.0)
    return n


def learn(block, arm, reward, steps, weight):
    """Let `steps` rounds pass, then learn from one arm; with weight 0 from nothing."""
    d, _, _ = _sizes(block)
    x, v = carray(arm, (d,)), _work(block).vectors
    for i in range(d):
        v[ARM, i] = x[i]
    _learn(block, reward, steps, weight)
    return 1


def look(block, out):
    """Mean (d,), precision (d, d), covariance (d, d), clock, radius, penalty, beta."""
    d, _, _ = _sizes(block)
    h, state, work = _header(block), _plain(block), _work(block)
    F, v = work.factor, work.vectors
    sound = estimate.refresh(state, work)
    for i in range(v.shape[1]):
        v[SECOND, i] = F[d, i] if i < d else 0.0
    solve_back(F, d, v, SECOND)
    mean, precision = carray(out, (d,)), carray(_behind(out, d), (d, d))
    for i in range(d):
        mean[i] = v[SECOND, i]
        for k in range(i + 1):
            precision[i, k] = precision[k, i] = state.sums[k, i]
    invert(F, d, v, carray(_behind(out, d + d * d), (d, d)))
    rest = carray(_behind(out, d + 2 * d * d), (4,))
    rest[0] = state.counts[estimate.CLOCK]
    radius = _radius(block, d) if h[DELTA] > 0.0 else 0.0
    rest[1], rest[2] = radius, work.said[explore.PENALTY]
    rest[3] = radius - work.said[explore.PENALTY]
    return 1 if sound else 0


def scores(block, out):
    """Scores, means and widths (3, K) of the last decision."""
    _, K, _ = _sizes(block)
    rows, said = _work(block).rows, carray(out, (3, K))
    for i in range(3):
        for k in range(K):
            said[i, k] = rows[i, k]
    return 1


# --- worlds ---------------------------------------------------------------------------

STILL, JUMPS, MOVES, WALK = range(4)
_GOLDEN, _M1, _M2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@inlined
def _bits(state):
    """SplitMix64: the next 64 bits of a counter."""
    state[0] = state[0] + np.uint64(_GOLDEN)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_M1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_M2)
    return z ^ (z >> np.uint64(31))


@inlined
def _between(state):
    """A number between -1 and 1."""
    return float(_bits(state) >> np.uint64(11)) * (2.0 / 9007199254740992.0) - 1.0


def seed(state, reader, trial, purpose):
    """Start a generator that belongs to a reader's number, a trial and a purpose."""
    counter = carray(state, (1,))
    counter[0] = np.uint64(reader)
    counter[0] = _bits(counter) ^ np.uint64(trial)
    counter[0] = _bits(counter) ^ np.uint64(purpose)
    counter[0] = _bits(counter)
    return 1


def normals(state, n, out):
    """Standard normals by Marsaglia's polar method, two from each accepted pair."""
    counter, z = carray(state, (1,)), carray(out, (n,))
    i = 0
    while i < n:
        a, b = _between(counter), _between(counter)
        square = a * a + b * b
        if 0.0 < square < 1.0:
            factor = math.sqrt(-2.0 * math.log(square) / square)
            z[i] = a * factor
            if i + 1 < n:
                z[i + 1] = b * factor
            i += 2
    return 1


@inlined
def _unit(rows, t, d):
    length = math.sqrt(dot(rows, t, rows, t, d))
    for i in range(d):
        rows[t, i] /= length


@inlined
def _tangent(rows, t, base, s, d):
    """Make row t a unit vector orthogonal to the unit vector in row s of base."""
    for _ in range(2):  # the second pass removes the rounding of the first
        along = dot(rows, t, base, s, d)
        for i in range(d):
            rows[t, i] -= along * base[s, i]
    _unit(rows, t, d)


def anchors(count, d, points):
    """Unit anchors from normals in place, each orthogonal to the one before it."""
    A = carray(points, (count, d))
    for j in range(count):
        if j == 0:
            _unit(A, j, d)
        else:
            _tangent(A, j, A, j - 1, d)
    return 1


def path(kind, T, d, count, step, points, theta):
    """The parameter (T, d): held, in jumps or on arcs between anchors, or a walk.

    For a walk `theta` holds normals, which become the path; the start is the anchor 0.
    """
    A, out = carray(points, (count, d)), carray(theta, (T, d))
    if kind == MOVES:
        _move(A, out)
    elif kind == WALK:
        _walk(A, out, step)
    else:
        parts = 1 if kind == STILL else count
        for t in range(T):
            j = _part(t, T, parts)
            for i in range(d):
                out[t, i] = A[j, i]
    return 1


@inlined
def _part(t, T, parts):
    """The stretch of a round, stretches as `numpy.array_split` makes them."""
    short, longer = T // parts, T % parts
    early = longer * (short + 1)
    return t // (short + 1) if t < early else longer + (t - early) // short


@compiled
def _move(A, out):
    """Great-circle legs from anchor to anchor; they are a quarter turn each."""
    T, d = out.shape
    legs, last = A.shape[0] - 1, T - 1
    for t in range(T):
        ticks = t * legs
        leg = min(ticks // last, legs - 1)
        angle = 0.5 * math.pi * ((ticks - leg * last) / last)
        c, s = math.cos(angle), math.sin(angle)
        for i in range(d):
            out[t, i] = c * A[leg, i] + s * A[leg + 1, i]


@compiled
def _walk(A, out, step):
    """Steps of one length in the directions of given normals."""
    T, d = out.shape
    sine = step * math.sqrt(1.0 - 0.25 * step * step)
    cosine = 1.0 - 0.5 * step * step
    for i in range(d):
        out[0, i] = A[0, i]
    for t in range(1, T):
        _tangent(out, t, out, t - 1, d)
        for i in range(d):
            out[t, i] = cosine * out[t - 1, i] + sine * out[t, i]
        _unit(out, t, d)


def arms(sets, d, K, X):
    """Normals (sets, d, K) to unit arms in place."""
    all_arms = carray(X, (sets, d, K))
    for s in range(sets):
        X_T = all_arms[s]
        for k in range(K):
            square = 0.0
            for i in range(d):
                square += X_T[i, k] * X_T[i, k]
            length = math.sqrt(square)
            for i in range(d):
                X_T[i, k] /= length
    return 1


def expect(n, d, K, sets, theta, X, out):
    """Expected rewards (n, K), by `rounds.expected_rewards`."""
    _expected_rewards(
        carray(theta, (n, d)), carray(X, (sets, d, K)), carray(out, (n, K))
    )
    return 1


def regret(n, K, before, rewards, chosen, out):
    """Cumulative regret (n,) of chosen arms, on top of `before`; returns the last."""
    paid, took, total = carray(rewards, (n, K)), carray(chosen, (n,)), carray(out, (n,))
    so_far = before
    for t in range(n):
        best = paid[t, 0]
        for k in range(K):
            best = max(best, paid[t, k])
        so_far += best - paid[t, took[t]]
        total[t] = so_far
    return so_far


#: What the module exports, with the types of results and arguments.
EXPORTS = {
    "size": (size, I(I, I, I)),
    "begin": (begin, I(P, P, P)),
    "restart": (restart, I(P)),
    "play": (play, I(P, I, I, I, I, P, P, P, P, IP)),
    "learn": (learn, I(P, P, F, F, F)),
    "look": (look, I(P, P)),
    "scores": (scores, I(P, P)),
    "seed": (seed, I(U, I, I, I)),
    "normals": (normals, I(U, I, P)),
    "anchors": (anchors, I(I, I, P)),
    "path": (path, I(I, I, I, I, F, P, P)),
    "arms": (arms, I(I, I, I, P)),
    "expect": (expect, I(I, I, I, I, P, P, P)),
    "regret": (regret, F(I, I, F, P, IP, P)),
}
