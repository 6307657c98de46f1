"""Everything that is compiled: one round of a linear bandit, and many of them.

Numbers and arrays in, numbers and arrays out. There is no randomness here (normals
are given), no Python object and no input or output. The same source runs uncompiled
with ``NUMBA_DISABLE_JIT=1``.

Letters are the paper's. ``P`` is a precision matrix and ``h = P mu``; for WRLS they are
``V`` and ``b``. ``P_tilde`` carries squared weights (the paper's V-tilde). Arms come
transposed, ``X_T`` of shape (d, K), so that the inner loops run along memory.

All kernels live in this one file because Numba's on-disk cache only notices a change
in the file of the function it compiled.
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

_options = {"cache": True, "nogil": True, "error_model": "numpy"}
# "contract" lets the compiler use fused multiply-add, "reassoc" lets it add up a dot
# product in several lanes. Not-a-number keeps its meaning.
_jit = njit(fastmath={"contract", "reassoc"}, **_options)
# Without "reassoc" x_i x_j and x_j x_i stay the same product: matrices that are updated
# this way stay symmetric to the last bit.
_symmetric = njit(fastmath={"contract"}, **_options)
# Functions with many arrays that are called once a round are pasted into their callers:
# passing an array on means counting its references.
_inlined = njit(inline="always", error_model="numpy")

# Unsigned loop counters tell the compiler that an index is never negative, which is
# what allows it to use vector instructions for a loop that does not start at 0.
U = np.uint64

GREEDY, UCB, RANDOMISED_UCB, THOMPSON, UNIFORM, ORACLE = range(6)
EXPONENTIAL, WINDOW, RESTART = range(3)
GAUSSIAN, RECTIFIED, HALF_NORMAL, RADIUS_MULTIPLE = range(4)
NO_PENALTY, CXV, TRIANGLE, EXACT = range(4)
CLOCK, WEIGHT_SUM, SQUARED_WEIGHT_SUM, HEAD = range(4)
BOUND, STEP = range(2)

#: The eigenvalue bound stops tightening when it is known to be this close, relatively.
EIGENVALUE_SLACK = 1e-3
#: Scores within this relative distance of the best one count as a tie.
TIE = 1e-12

#: What a policy is: the prior's arrays, and settings that are plain numbers. The
#: inner functions take arrays one by one: Numba counts references of every array in a
#: tuple at every call, which at d = 2 would cost more than the round itself.
Rule = namedtuple("Rule", "prior settings")
Prior = namedtuple("Prior", "P0 h0 mu0 P0_squared")
Settings = namedtuple(
    "Settings",
    "P0_largest gamma precision local forgetting length exploration law scale "
    "radius_scale radius_ratio log_inverse_delta anytime static_penalty "
    "penalty param_bound",
)

#: What a policy knows: arrays that a round changes in place.
State = namedtuple("State", "P h P_tilde counts bound ring_x ring_r ring_w")

#: Scratch space: [P | h | X^T], two matrices, two vectors, rows over the arms, and a
#: copy of the eigenvalue bound.
Work = namedtuple("Work", "A squares vectors rows bound")
SCORES, MEANS, WIDTHS, SPARE = range(4)


# --- linear algebra ---------------------------------------------------------------


@_jit
def eliminate(A, columns):
    """Reduce ``[P | R]`` in place to ``[U | U^-T R]``, where ``P = U^T U``.

    Works on the first `columns` columns. Only the upper triangle of P is read and
    written. Returns False when P is not positive definite. Four earlier rows are
    subtracted in one pass: the row in hand is loaded and stored once, not four times.
    """
    n = U(columns)
    for i in range(U(A.shape[0])):
        j = U(0)
        while j + U(4) <= i:
            a, b = A[j, i], A[j + U(1), i]
            e, f = A[j + U(2), i], A[j + U(3), i]
            for c in range(i, n):
                A[i, c] = (
                    ((A[i, c] - a * A[j, c]) - b * A[j + U(1), c]) - e * A[j + U(2), c]
                ) - f * A[j + U(3), c]
            j += U(4)
        while j < i:
            a = A[j, i]
            for c in range(i, n):
                A[i, c] -= a * A[j, c]
            j += U(1)
        if not A[i, i] > 0.0:
            return False
        inverse_root = 1.0 / math.sqrt(A[i, i])
        for c in range(i, n):
            A[i, c] *= inverse_root
    return True


@_jit
def forward_substitute(A, b):
    """Solve ``U^T y = b`` in place; U is the upper triangle of A."""
    d = U(b.size)
    for i in range(d):
        b[i] /= A[i, i]
        f = b[i]
        for c in range(i + U(1), d):
            b[c] -= f * A[i, c]


@_jit
def back_substitute(A, y):
    """Solve ``U x = y`` in place; U is the upper triangle of A."""
    d = y.size
    for k in range(d):
        i = U(d - 1 - k)
        total = y[i]
        for c in range(i + U(1), U(d)):
            total -= A[i, c] * y[c]
        y[i] = total / A[i, i]


@_jit
def multiply(M, v, out):
    """``out = M v``."""
    for i in range(v.size):
        total = 0.0
        for j in range(v.size):
            total += M[i, j] * v[j]
        out[i] = total


@_jit
def fill(array, value):
    """Set every entry; a loop compiles much faster than a slice assignment."""
    for i in range(array.size):
        array[i] = value


@_jit
def copy_vector(source, target):
    """``target[:] = source``."""
    for i in range(source.size):
        target[i] = source[i]


@_jit
def copy_matrix(source, target):
    """Copy `source` into the first columns of `target`."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@_jit
def dot(a, b):
    """Inner product of two vectors."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


# --- the recursion ----------------------------------------------------------------


@_symmetric
def decay_matrix(P, P0, factor):
    """``P <- f P + (1 - f) P0``: forget, and re-inject the prior."""
    rest = 1.0 - factor
    for i in range(P.shape[0]):
        for j in range(P.shape[1]):
            P[i, j] = factor * P[i, j] + rest * P0[i, j]


@_jit
def decay(P, h, P0, h0, factor):
    """`decay_matrix`, and the same for h."""
    decay_matrix(P, P0, factor)
    for i in range(h.size):
        h[i] = factor * h[i] + (1.0 - factor) * h0[i]


@_symmetric
def add_outer(P, x, precision):
    """``P <- P + precision x x^T``, symmetric to the last bit."""
    for i in range(x.size):
        for j in range(x.size):
            P[i, j] += precision * (x[i] * x[j])


@_jit
def add_observation(P, h, x, reward, precision):
    """``P <- P + x x^T / sigma^2`` and ``h <- h + x r / sigma^2``."""
    add_outer(P, x, precision)
    for i in range(h.size):
        h[i] += precision * (x[i] * reward)


@_jit
def _restore_prior(P0, h0, P, h, counts):
    copy_matrix(P0, P)
    copy_vector(h0, h)
    counts[WEIGHT_SUM] = 0.0
    counts[SQUARED_WEIGHT_SUM] = 0.0


@_jit
def _fade(gamma, local, P0, h0, P, h, P_tilde, counts, steps):
    """Exponential forgetting for `steps` rounds."""
    f = gamma**steps
    decay(P, h, P0, h0, f)
    if local:
        decay_matrix(P_tilde, P0, f * f)
    counts[WEIGHT_SUM] *= f
    counts[SQUARED_WEIGHT_SUM] *= f * f
    counts[CLOCK] += steps


@_jit
def _absorb(precision, local, P, h, P_tilde, counts, x, reward):
    """Add one observation at full weight."""
    add_observation(P, h, x, reward, precision)
    if local:
        add_outer(P_tilde, x, precision)
    counts[WEIGHT_SUM] += 1.0
    counts[SQUARED_WEIGHT_SUM] += 1.0


@_symmetric
def _step(gamma, precision, local, P0, h0, P, h, P_tilde, counts, x, reward):
    """Fade by one round and absorb, in one pass over each matrix."""
    d = h.size
    rest = 1.0 - gamma
    for i in range(d):
        for j in range(d):
            P[i, j] = gamma * P[i, j] + rest * P0[i, j] + precision * (x[i] * x[j])
        h[i] = gamma * h[i] + rest * h0[i] + precision * (x[i] * reward)
    if local:
        f = gamma * gamma
        rest = 1.0 - f
        for i in range(d):
            for j in range(d):
                P_tilde[i, j] = (
                    f * P_tilde[i, j] + rest * P0[i, j] + precision * (x[i] * x[j])
                )
    counts[CLOCK] += 1.0
    counts[WEIGHT_SUM] = gamma * counts[WEIGHT_SUM] + 1.0
    counts[SQUARED_WEIGHT_SUM] = gamma * gamma * counts[SQUARED_WEIGHT_SUM] + 1.0


@_jit
def _rebuild(precision, P0, h0, P, h, counts, ring_x, ring_r, ring_w):
    """Sum up the rows in the ring afresh."""
    _restore_prior(P0, h0, P, h, counts)
    for s in range(ring_r.size):
        if ring_w[s] > 0.0:
            add_observation(P, h, ring_x[s], ring_r[s], precision)


@_jit
def _push(rule, state, x, reward, weight):
    """Put one row into the ring of the sliding window and drop the oldest.

    Taking a row away again leaves a rounding error. The sums are rebuilt from the rows
    each time the ring comes round, and when the row that leaves outweighs the rest.
    """
    P0, h0, _, _ = rule.prior
    P, h, _, counts, _, ring_x, ring_r, ring_w = state
    precision = rule.settings.precision
    head = int(counts[HEAD])
    count = counts[WEIGHT_SUM] - ring_w[head] + weight
    leaving = precision * dot(ring_x[head], ring_x[head])
    if ring_w[head] > 0.0:
        add_observation(P, h, ring_x[head], ring_r[head], -precision)
    for i in range(h.size):
        ring_x[head, i] = x[i] if weight > 0.0 else 0.0
    ring_r[head] = reward
    ring_w[head] = weight
    if weight > 0.0:
        add_observation(P, h, ring_x[head], reward, precision)
    trace = 0.0
    for i in range(h.size):
        trace += P[i, i]
    counts[HEAD] = (head + 1) % ring_r.size
    if counts[HEAD] == 0.0 or leaving > 1e3 * trace:
        _rebuild(precision, P0, h0, P, h, counts, ring_x, ring_r, ring_w)
    counts[WEIGHT_SUM] = count
    counts[SQUARED_WEIGHT_SUM] = count
    counts[CLOCK] += 1.0


@_jit
def _pass_round(length, P0, h0, P, h, counts):
    """One round of a restarting policy: forget everything when the period is over."""
    if counts[CLOCK] > 0.0 and counts[CLOCK] % length == 0.0:
        _restore_prior(P0, h0, P, h, counts)
    counts[CLOCK] += 1.0


@_jit
def advance(rule, state, steps):
    """Let `steps` rounds pass without an observation."""
    P0, h0, _, _ = rule.prior
    s = rule.settings
    if s.forgetting == WINDOW:
        for _ in range(min(int(steps), s.length)):
            _push(rule, state, state.h, 0.0, 0.0)
        state.counts[CLOCK] += max(0.0, steps - s.length)
    elif s.forgetting == RESTART:
        if steps > s.length:  # a restart lies between, wherever the clock stands
            _restore_prior(P0, h0, state.P, state.h, state.counts)
            state.counts[CLOCK] += steps - s.length
            steps = float(s.length)
        for _ in range(int(steps)):
            _pass_round(s.length, P0, h0, state.P, state.h, state.counts)
    else:
        loosen(state.bound, s.P0_largest, s.gamma**steps)
        _fade(
            s.gamma,
            s.local,
            P0,
            h0,
            state.P,
            state.h,
            state.P_tilde,
            state.counts,
            steps,
        )


@_jit
def absorb(rule, state, x, reward):
    """Add one observation at full weight, without letting time pass."""
    s = rule.settings
    _absorb(
        s.precision, s.local, state.P, state.h, state.P_tilde, state.counts, x, reward
    )


@_jit
def observe(rule, state, x, reward):
    """One round's update: time passes, then the observation is added."""
    s = rule.settings
    if s.forgetting == WINDOW:
        _push(rule, state, x, reward, 1.0)
    elif s.forgetting == RESTART:
        advance(rule, state, 1.0)
        absorb(rule, state, x, reward)
    else:
        P0, h0, _, _ = rule.prior
        P, h, P_tilde, counts, bound, _, _, _ = state
        loosen(bound, s.P0_largest, s.gamma)
        _step(s.gamma, s.precision, s.local, P0, h0, P, h, P_tilde, counts, x, reward)


# --- the radius -------------------------------------------------------------------


@_jit
def noise_part(s, counts, d):
    """The confidence level beta (for WRLS with its static ``sqrt(lambda) S``)."""
    log_term = s.log_inverse_delta
    if s.anytime:
        t = counts[CLOCK] + 1.0
        log_term += math.log(2.0 * t) + 2.0 * math.log(1.0 + math.log(t))
    spread = d * math.log1p(s.radius_ratio * counts[SQUARED_WEIGHT_SUM])
    return s.radius_scale * math.sqrt(2.0 * log_term + spread) + s.static_penalty


@_jit
def _is_certified(P0_squared, P, bound, C):
    """Whether ``M = P0 P^-1 P0 <= bound I``, that is ``P >= P0^2 / bound``.

    The margin on the diagonal covers the rounding errors of the factorisation.
    """
    d = P.shape[0]
    inverse = 1.0 / bound
    trace = 0.0
    for i in range(U(d)):
        trace += P[i, i]
        for j in range(i, U(d)):
            C[i, j] = P[i, j] - P0_squared[i, j] * inverse
    for i in range(d):
        C[i, i] -= 4.0 * d * 2.3e-16 * trace
    return eliminate(C, d)


@_jit
def loosen(bound, cap, factor):
    """Keep the bound on the top eigenvalue m of M true while P decays by `factor`.

    ``P >= P0^2 / m`` and ``P0 >= P0^2 / cap`` (cap is the top eigenvalue of P0) give
    ``f P + (1 - f) P0 >= (f / m + (1 - f) / cap) P0^2``. The last factor covers the
    rounding of this line. A new observation only makes P larger.
    """
    mixed = factor / bound[BOUND] + (1.0 - factor) / cap
    bound[BOUND] = min(cap, (1.0 + 1e-14) / mixed)


@_jit
def tighten(bound, P0_squared, P, C):
    """Lower the bound on the top eigenvalue of M as far as a few trials prove it.

    The bound may never be too small, so each lower value is proved by a Cholesky
    factorisation. A trial that succeeds doubles the next step, one that fails halves
    it; they end early when the bound is known to be within `EIGENVALUE_SLACK`. There
    are up to six trials a round in small dimensions and one from d = 17 on, which
    follows the eigenvalue to about a per cent at a fraction of the cost of computing
    it.
    """
    d = P.shape[0]
    for _ in range(max(1, min(6, 32 // d))):
        trial = bound[BOUND] * (1.0 - bound[STEP])
        if _is_certified(P0_squared, P, trial, C):
            bound[BOUND] = trial
            bound[STEP] = min(2.0 * bound[STEP], 0.5)
        else:
            bound[STEP] = max(0.5 * bound[STEP], 0.5 * EIGENVALUE_SLACK)
            if bound[STEP] <= EIGENVALUE_SLACK:
                break


@_jit
def prior_weight_matrix(P0, A):
    """``M = P0 P^-1 P0``, exactly symmetric; `A` holds the factor of P."""
    d = P0.shape[0]
    columns = np.empty((d, d))
    for i in range(d):
        copy_vector(P0[i], columns[i])
        forward_substitute(A, columns[i])
    M = np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            M[i, j] = dot(columns[i], columns[j])
            M[j, i] = M[i, j]
    return M


@_jit
def farthest_point(values, coefficients, S):
    """Exact value of ``max ||mu - theta||_M over ||theta|| <= S``.

    `values` are the eigenvalues of M in increasing order and `coefficients` those of mu
    in its eigenbasis. The multiplier nu = top + tau solves the secular equation
    ``sum (m_i c_i)^2 / (nu - m_i)^2 = S^2`` on tau > 0. In the hard case (mu has no
    part in the top eigenspace and the sum stays below S^2 as tau goes to 0) tau is 0.
    The dual value is returned: for every tau it is an upper bound, and at the root it
    is accurate to second order.
    """
    d = values.size
    top = values[d - 1]
    squared = 0.0
    for i in range(d):
        squared += (values[i] * coefficients[i]) ** 2
    base = 0.0
    for i in range(d):
        base += values[i] * coefficients[i] ** 2
    if S == 0.0 or top <= 0.0:
        return math.sqrt(max(base, 0.0))
    low, high = 0.0, math.sqrt(squared) / S
    for _ in range(200):
        tau = 0.5 * (low + high)
        if tau <= low or tau >= high:
            break
        norm = 0.0
        for i in range(d):
            norm += (values[i] * coefficients[i] / (tau + (top - values[i]))) ** 2
        if norm > S * S:
            low = tau
        else:
            high = tau
    total = base + (top + high) * S * S
    for i in range(d):
        gap = high + (top - values[i])
        if gap > 0.0:
            total += (values[i] * coefficients[i]) ** 2 / gap
    return math.sqrt(total)


@_jit
def prior_part(s, P0, h0, mu0, P0_squared, P, A, C, vectors, bound):
    """The prior penalty Pi, or the bound on it that the settings ask for."""
    d = P.shape[0]
    S = s.param_bound
    x, theta = vectors[0], vectors[1]
    if s.penalty == EXACT:
        values, basis = np.linalg.eigh(prior_weight_matrix(P0, A))
        for i in range(d):
            theta[i] = 0.0
            for j in range(d):
                theta[i] += basis[j, i] * mu0[j]
        return farthest_point(values, theta, S)
    tighten(bound, P0_squared, P, C)
    top = bound[BOUND]
    if dot(mu0, mu0) == 0.0:
        return math.sqrt(top) * S
    copy_vector(h0, x)
    forward_substitute(A, x)
    norm = dot(x, x)
    if s.penalty == TRIANGLE:
        return math.sqrt(norm) + math.sqrt(top) * S
    back_substitute(A, x)
    multiply(P0, x, theta)
    cross = math.sqrt(dot(theta, theta))
    return math.sqrt(norm + S * S * top + 2.0 * S * cross)


# --- one decision -----------------------------------------------------------------


@_jit
def make_work(d, K):
    """Scratch space for d dimensions and K arms."""
    rows = np.full((4, K), np.nan)
    return Work(
        np.empty((d, d + 1 + K)),
        np.empty((2, d, d)),
        np.empty((2, d)),
        rows,
        np.empty(2),
    )


@_jit
def _load_estimate(P, h, A):
    """Fill the first columns of ``A = [P | h | X^T]``."""
    copy_matrix(P, A)
    for i in range(h.size):
        A[i, h.size] = h[i]


@_jit
def _load_arms(X_T, A):
    """Fill the last columns of ``A = [P | h | X^T]``."""
    first = U(X_T.shape[0] + 1)
    for i in range(X_T.shape[0]):
        for k in range(U(X_T.shape[1])):
            A[i, first + k] = X_T[i, k]


@_jit
def _means_and_widths(A, means, widths):
    """From ``A = [U | z | Y]``: means ``Y^T z`` and squared widths ``||y_k||^2``."""
    d = A.shape[0]
    first = U(d + 1)
    fill(means, 0.0)
    fill(widths, 0.0)
    for i in range(d):
        z = A[i, d]
        for k in range(U(means.size)):
            y = A[i, first + k]
            means[k] += z * y
            widths[k] += y * y


@_jit
def _local_widths(P_tilde, A, R, row, widths):
    """Squared widths in the local norm ``V^-1 V_tilde V^-1``.

    With ``V = U^T U`` and ``V_tilde = W^T W`` the width of x is ``||R y||``, where
    ``R = W U^-1`` is upper triangular and ``y = U^-T x`` is already in A.
    """
    d = U(A.shape[0])
    copy_matrix(P_tilde, R)
    eliminate(R, P_tilde.shape[0])
    for i in range(d):
        for j in range(i, d):
            R[i, j] /= A[j, j]
            f = R[i, j]
            for c in range(j + U(1), d):
                R[i, c] -= f * A[j, c]
    fill(widths, 0.0)
    first = d + U(1)
    K = U(row.size)
    for i in range(d):
        fill(row, 0.0)
        j = i
        while j + U(4) <= d:
            a, b = R[i, j], R[i, j + U(1)]
            e, f = R[i, j + U(2)], R[i, j + U(3)]
            for k in range(K):
                row[k] += (
                    a * A[j, first + k]
                    + b * A[j + U(1), first + k]
                    + e * A[j + U(2), first + k]
                    + f * A[j + U(3), first + k]
                )
            j += U(4)
        while j < d:
            a = R[i, j]
            for k in range(K):
                row[k] += a * A[j, first + k]
            j += U(1)
        for k in range(K):
            widths[k] += row[k] * row[k]


@_jit
def project(X_T, theta, scores):
    """Scores ``X theta``."""
    fill(scores, 0.0)
    for i in range(theta.size):
        f = theta[i]
        for k in range(scores.size):
            scores[k] += f * X_T[i, k]


@_jit
def _sampled_parameter(scale, local, P, h, P_tilde, normals, A, W, theta):
    """Draw theta: ``mu + a U^-1 eta``, or with local norms ``V^-1 (b + a W^T eta)``.

    A scale of zero gives the mean. Returns False when P is not positive definite.
    """
    d = h.size
    _load_estimate(P, h, A)
    if local:
        copy_matrix(P_tilde, W)
        eliminate(W, d)
        for i in range(d):
            f = scale * normals[i]
            for c in range(i, d):
                A[c, d] += f * W[i, c]
    sound = eliminate(A, d + 1)
    for i in range(d):
        theta[i] = A[i, d]
        if scale > 0.0 and not local:
            theta[i] += scale * normals[i]
    back_substitute(A, theta)
    return sound


@_jit
def perturbation(s, normal, radius):
    """The random multiple of the width in randomised UCB."""
    if s.law == GAUSSIAN:
        return s.scale * normal
    if s.law == RECTIFIED:
        return s.scale * max(0.0, normal)
    if s.law == HALF_NORMAL:
        return s.scale * abs(normal)
    return s.scale * abs(normal) * radius


@_inlined
def _score(
    s,
    P0,
    h0,
    mu0,
    P0_squared,
    P,
    h,
    P_tilde,
    counts,
    X_T,
    normals,
    A,
    squares,
    vectors,
    rows,
    bound,
):
    """Fill the rows of scores; return the radius and its penalty part."""
    d, K = X_T.shape
    scores, means, widths = rows[SCORES], rows[MEANS], rows[WIDTHS]
    radius, penalty, sound = 0.0, 0.0, True
    if s.exploration == UNIFORM:
        # The normal's distribution function makes it a uniform number.
        u = 0.5 * math.erfc(-normals[0] / math.sqrt(2.0))
        fill(scores, 0.0)
        scores[min(int(u * K), K - 1)] = 1.0
    elif s.exploration == THOMPSON or s.exploration == GREEDY:
        scale = s.scale if s.exploration == THOMPSON else 0.0
        theta = vectors[1]
        sound = _sampled_parameter(
            scale, s.local, P, h, P_tilde, normals, A, squares[0], theta
        )
        project(X_T, theta, scores)
    else:
        _load_estimate(P, h, A)
        _load_arms(X_T, A)
        sound = eliminate(A, d + 1 + K)
        _means_and_widths(A, means, widths)
        if s.local:
            _local_widths(P_tilde, A, squares[0], rows[SPARE], widths)
        if s.exploration == UCB or s.law == RADIUS_MULTIPLE:
            if s.penalty != NO_PENALTY:
                penalty = prior_part(
                    s, P0, h0, mu0, P0_squared, P, A, squares[1], vectors, bound
                )
            radius = noise_part(s, counts, d) + penalty
        if s.exploration == RANDOMISED_UCB:
            radius = perturbation(s, normals[0], radius)
        for k in range(K):
            widths[k] = math.sqrt(widths[k])
            scores[k] = means[k] + radius * widths[k]
    if not sound:
        fill(scores, np.nan)
    return radius, penalty


@_jit
def best_arm(scores):
    """Index of the largest score; ties (up to rounding) go to the lowest index.

    Returns -1 when the scores are not numbers: P has lost its definiteness.
    """
    largest = scores[0]
    for k in range(scores.size):
        if scores[k] > largest:
            largest = scores[k]
    enough = largest - TIE * abs(largest)
    for k in range(scores.size):
        if scores[k] >= enough:
            return k
    return -1


@_jit
def score(rule, state, X_T, normals, work):
    """Fill ``work.rows``, reading the state; return the radius and its penalty."""
    copy_vector(state.bound, work.bound)
    return _score(
        rule.settings,
        rule.prior.P0,
        rule.prior.h0,
        rule.prior.mu0,
        rule.prior.P0_squared,
        state.P,
        state.h,
        state.P_tilde,
        state.counts,
        X_T,
        normals,
        work.A,
        work.squares,
        work.vectors,
        work.rows,
        work.bound,
    )


@_jit
def choose(rule, state, X_T, normals, work):
    """Score, keep the eigenvalue bound found on the way, return the arm."""
    score(rule, state, X_T, normals, work)
    copy_vector(work.bound, state.bound)
    return best_arm(work.rows[SCORES])


# --- many rounds ------------------------------------------------------------------


@_jit
def expected_rewards(theta, arms, out):
    """``out[t, k]``, the expected reward of arm k in round t."""
    fixed = arms.shape[0] == 1
    for t in range(theta.shape[0]):
        project(arms[0 if fixed else t], theta[t], out[t])


@_jit
def run_block(rule, state, arms, mean_rewards, noise, normals, chosen, trace, means):
    """Play `len(noise)` rounds; the same arithmetic as `choose` and `observe`.

    `arms` is (1, d, K) for a fixed set or (n, d, K); `mean_rewards` is (n, K). `trace`
    (n, 4) receives radius, penalty, width and mean score of the chosen arm, and `means`
    (n, d) the estimate each decision was based on; give them no rows to skip that.
    `chosen` (n,) receives the arms.
    """
    s = rule.settings
    P0, h0, mu0, P0_squared = rule.prior
    P, h, P_tilde, counts, bound, _, _, _ = state
    d, K = arms.shape[1], arms.shape[2]
    A, squares, vectors, rows, _ = make_work(d, K)
    x = np.empty(d)
    for t in range(noise.size):
        X_T = arms[t if arms.shape[0] > 1 else 0]
        if s.exploration == ORACLE:
            chosen[t] = best_arm(mean_rewards[t])
            continue
        radius, penalty = _score(
            s,
            P0,
            h0,
            mu0,
            P0_squared,
            P,
            h,
            P_tilde,
            counts,
            X_T,
            normals[t],
            A,
            squares,
            vectors,
            rows,
            bound,
        )
        k = best_arm(rows[SCORES])
        chosen[t] = k
        if trace.shape[0] > 0:
            trace[t, 0] = radius
            trace[t, 1] = penalty
            trace[t, 2] = rows[WIDTHS, k]
            trace[t, 3] = rows[MEANS, k]
        if means.shape[0] > 0:
            _sampled_parameter(
                0.0, False, P, h, P_tilde, normals[t], A, squares[0], means[t]
            )
        for i in range(d):
            x[i] = X_T[i, k]
        reward = mean_rewards[t, k] + noise[t]
        if s.forgetting == EXPONENTIAL:
            loosen(bound, s.P0_largest, s.gamma)
            _step(
                s.gamma, s.precision, s.local, P0, h0, P, h, P_tilde, counts, x, reward
            )
        else:
            observe(rule, state, x, reward)
