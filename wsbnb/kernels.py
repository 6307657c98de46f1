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

# "contract" lets the compiler use fused multiply-add, "reassoc" lets it add up a dot
# product in several lanes. Not-a-number keeps its meaning.
_jit = njit(
    cache=True, nogil=True, fastmath={"contract", "reassoc"}, error_model="numpy"
)

# Unsigned loop counters tell the compiler that an index is never negative, which is
# what allows it to use vector instructions for a loop that does not start at 0.
U = np.uint64

GREEDY, UCB, RANDOMISED_UCB, THOMPSON, UNIFORM, ORACLE = range(6)
EXPONENTIAL, WINDOW, RESTART = range(3)
GAUSSIAN, RECTIFIED, HALF_NORMAL, RADIUS_MULTIPLE = range(4)
NO_PENALTY, CXV, TRIANGLE, EXACT = range(4)
CLOCK, WEIGHT_SUM, SQUARED_WEIGHT_SUM, HEAD = range(4)

#: A certified largest eigenvalue may exceed the true one by this relative amount.
EIGENVALUE_SLACK = 1e-3
#: Scores within this relative distance of the best one count as a tie.
TIE = 1e-12

#: What a policy is: constants for the whole run.
Rule = namedtuple(
    "Rule",
    "P0 h0 mu0 P0_squared P0_largest gamma precision local "
    "forgetting length exploration law scale "
    "radius_scale radius_ratio log_inverse_delta anytime static_penalty "
    "penalty param_bound",
)

#: What a policy knows: arrays that a round changes in place.
State = namedtuple("State", "P h P_tilde counts warm ring_x ring_r ring_w")

#: Scratch space of one round.
Work = namedtuple("Work", "A A_tilde C x theta row scores means widths warm")

#: What one scoring says besides the scores.
Scored = namedtuple("Scored", "radius penalty")


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


@_jit
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


@_jit
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
def _restore_prior(rule, state):
    copy_matrix(rule.P0, state.P)
    copy_vector(rule.h0, state.h)
    state.counts[WEIGHT_SUM] = 0.0
    state.counts[SQUARED_WEIGHT_SUM] = 0.0


@_jit
def advance(rule, state, steps):
    """Let `steps` rounds pass without an observation."""
    if rule.forgetting == EXPONENTIAL:
        f = rule.gamma**steps
        decay(state.P, state.h, rule.P0, rule.h0, f)
        if rule.local:
            decay_matrix(state.P_tilde, rule.P0, f * f)
        state.counts[WEIGHT_SUM] *= f
        state.counts[SQUARED_WEIGHT_SUM] *= f * f
        state.counts[CLOCK] += steps
    elif rule.forgetting == WINDOW:
        for _ in range(min(int(steps), rule.length)):
            state.counts[CLOCK] += 1.0
            _push(rule, state, state.h, 0.0, 0.0)
        state.counts[CLOCK] += max(0.0, steps - rule.length)
    else:
        for _ in range(int(steps)):
            _restart_if_due(rule, state)
            state.counts[CLOCK] += 1.0


@_jit
def _push(rule, state, x, reward, weight):
    """Put one row into the ring of the sliding window and drop the oldest.

    Each time the ring comes round the sums are rebuilt from its rows, so that the
    rounding errors of adding and taking away cannot pile up.
    """
    head = int(state.counts[HEAD])
    old = state.ring_w[head]
    if old > 0.0:
        add_observation(
            state.P, state.h, state.ring_x[head], state.ring_r[head], -rule.precision
        )
    for i in range(state.h.size):
        state.ring_x[head, i] = x[i] if weight > 0.0 else 0.0
    state.ring_r[head] = reward
    state.ring_w[head] = weight
    count = state.counts[WEIGHT_SUM] - old + weight
    if weight > 0.0:
        add_observation(state.P, state.h, state.ring_x[head], reward, rule.precision)
    head += 1
    if head == rule.length:
        head = 0
        _restore_prior(rule, state)
        for s in range(rule.length):
            if state.ring_w[s] > 0.0:
                add_observation(
                    state.P, state.h, state.ring_x[s], state.ring_r[s], rule.precision
                )
    state.counts[HEAD] = head
    state.counts[WEIGHT_SUM] = count
    state.counts[SQUARED_WEIGHT_SUM] = count


@_jit
def _restart_if_due(rule, state):
    clock = state.counts[CLOCK]
    if clock > 0.0 and clock % rule.length == 0.0:
        _restore_prior(rule, state)


@_jit
def absorb(rule, state, x, reward):
    """Add one observation at full weight, without letting time pass."""
    add_observation(state.P, state.h, x, reward, rule.precision)
    if rule.local:
        add_outer(state.P_tilde, x, rule.precision)
    state.counts[WEIGHT_SUM] += 1.0
    state.counts[SQUARED_WEIGHT_SUM] += 1.0


@_jit
def observe(rule, state, x, reward):
    """One round's update: time passes, then the observation is added."""
    if rule.forgetting == WINDOW:
        state.counts[CLOCK] += 1.0
        _push(rule, state, x, reward, 1.0)
    else:
        advance(rule, state, 1.0)
        absorb(rule, state, x, reward)


# --- the radius -------------------------------------------------------------------


@_jit
def noise_part(rule, counts, d):
    """The confidence level beta (for WRLS with its static ``sqrt(lambda) S``)."""
    log_term = rule.log_inverse_delta
    if rule.anytime:
        t = counts[CLOCK] + 1.0
        log_term += math.log(2.0 * t) + 2.0 * math.log(1.0 + math.log(t))
    spread = d * math.log1p(rule.radius_ratio * counts[SQUARED_WEIGHT_SUM])
    return rule.radius_scale * math.sqrt(2.0 * log_term + spread) + rule.static_penalty


@_jit
def _is_certified(rule, P, bound, C):
    """Whether ``M = P0 P^-1 P0 <= bound I``, that is ``P >= P0^2 / bound``.

    The margin on the diagonal covers the rounding errors of the factorisation.
    """
    d = P.shape[0]
    trace = 0.0
    for i in range(d):
        trace += P[i, i]
        for j in range(d):
            C[i, j] = P[i, j] - rule.P0_squared[i, j] / bound
    for i in range(d):
        C[i, i] -= 4.0 * d * 2.3e-16 * trace
    return eliminate(C, d)


@_jit
def largest_eigenvalue(rule, P, work):
    """A number in ``[m, (1 + EIGENVALUE_SLACK) m]``, m the top eigenvalue of M.

    ``M = P0 P^-1 P0`` weighs the prior in the bound, so the number may never be too
    small. Power steps from the last round's vector give a value r <= m; a Cholesky
    factorisation then proves that r (1 + slack) is above every eigenvalue. The first
    `d` columns of `work.A` hold the factor of P. If a few tries do not suffice (just
    after a change), the full eigendecomposition decides.
    """
    d = P.shape[0]
    v = work.warm
    for _ in range(3):
        for _ in range(2):
            norm = math.sqrt(dot(v, v))
            multiply(rule.P0, v, work.x)
            forward_substitute(work.A, work.x)
            rayleigh = dot(work.x, work.x) / (norm * norm)
            back_substitute(work.A, work.x)
            multiply(rule.P0, work.x, v)
        size = math.sqrt(dot(v, v))
        for i in range(d):
            v[i] /= size
        trial = rayleigh * (1.0 + EIGENVALUE_SLACK)
        # Sigma <= Sigma0 gives M <= P0: beyond this cap nothing is left to prove.
        if trial >= rule.P0_largest:
            return rule.P0_largest
        if _is_certified(rule, P, trial, work.C):
            return trial
    values, vectors = np.linalg.eigh(prior_weight_matrix(rule.P0, work))
    for i in range(d):
        v[i] = vectors[i, d - 1]
    return min(values[d - 1] * (1.0 + EIGENVALUE_SLACK), rule.P0_largest)


@_jit
def prior_weight_matrix(P0, work):
    """``M = P0 P^-1 P0``, exactly symmetric; `work.A` holds the factor of P."""
    d = P0.shape[0]
    columns = np.empty((d, d))
    for i in range(d):
        copy_vector(P0[i], columns[i])
        forward_substitute(work.A, columns[i])
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
    ``sum (m_i c_i)^2 / (nu - m_i)^2 = S^2`` on tau > 0. In the hard case (mu has no part
    in the top eigenspace and the sum stays below S^2 as tau goes to 0) tau is 0. The
    dual value is returned: for every tau it is an upper bound, and it is second-order
    accurate at the root.
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
def prior_part(rule, P, work):
    """The prior penalty Pi, or the bound on it that the rule asks for."""
    d = P.shape[0]
    S = rule.param_bound
    if rule.penalty == NO_PENALTY:
        return 0.0
    if rule.penalty == EXACT:
        values, vectors = np.linalg.eigh(prior_weight_matrix(rule.P0, work))
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += vectors[j, i] * rule.mu0[j]
            work.theta[i] = total
        return farthest_point(values, work.theta, S)
    top = largest_eigenvalue(rule, P, work)
    copy_vector(rule.h0, work.x)
    forward_substitute(work.A, work.x)
    norm = dot(work.x, work.x)
    if rule.penalty == TRIANGLE:
        return math.sqrt(norm) + math.sqrt(top) * S
    back_substitute(work.A, work.x)
    multiply(rule.P0, work.x, work.theta)
    cross = math.sqrt(dot(work.theta, work.theta))
    return math.sqrt(norm + S * S * top + 2.0 * S * cross)


# --- one decision -----------------------------------------------------------------


@_jit
def make_work(d, K):
    """Scratch space for d dimensions and K arms."""
    return Work(
        np.empty((d, d + 1 + K)),
        np.empty((d, d)),
        np.empty((d, d)),
        np.empty(d),
        np.empty(d),
        np.empty(K),
        np.empty(K),
        np.full(K, np.nan),
        np.full(K, np.nan),
        np.empty(d),
    )


@_jit
def _load_estimate(state, work):
    """Fill the first columns of ``A = [P | h | X^T]``."""
    copy_matrix(state.P, work.A)
    for i in range(state.h.size):
        work.A[i, state.h.size] = state.h[i]


@_jit
def _load_arms(X_T, work):
    """Fill the last columns of ``A = [P | h | X^T]``."""
    first = X_T.shape[0] + 1
    for i in range(X_T.shape[0]):
        for k in range(X_T.shape[1]):
            work.A[i, first + k] = X_T[i, k]


@_jit
def _means_and_widths(work, d, K):
    """From ``A = [U | z | Y]``: means ``Y^T z`` and widths ``||y_k||``."""
    fill(work.means, 0.0)
    fill(work.widths, 0.0)
    for i in range(d):
        z = work.A[i, d]
        for k in range(K):
            y = work.A[i, d + 1 + k]
            work.means[k] += z * y
            work.widths[k] += y * y
    for k in range(K):
        work.widths[k] = math.sqrt(work.widths[k])


@_jit
def _local_widths(state, work, d, K):
    """Widths in the local norm ``V^-1 V_tilde V^-1``.

    With ``V = U^T U`` and ``V_tilde = W^T W`` the width of x is ``||R y||``, where
    ``R = W U^-1`` is upper triangular and ``y = U^-T x`` is already in A.
    """
    R = work.A_tilde
    copy_matrix(state.P_tilde, R)
    eliminate(R, d)
    for i in range(U(d)):
        for j in range(i, U(d)):
            R[i, j] /= work.A[j, j]
            f = R[i, j]
            for c in range(j + U(1), U(d)):
                R[i, c] -= f * work.A[j, c]
    fill(work.widths, 0.0)
    first = U(d + 1)
    for i in range(U(d)):
        fill(work.row, 0.0)
        j = i
        while j + U(4) <= U(d):
            a, b = R[i, j], R[i, j + U(1)]
            e, f = R[i, j + U(2)], R[i, j + U(3)]
            for k in range(U(K)):
                work.row[k] += (
                    a * work.A[j, first + k]
                    + b * work.A[j + U(1), first + k]
                    + e * work.A[j + U(2), first + k]
                    + f * work.A[j + U(3), first + k]
                )
            j += U(4)
        while j < U(d):
            a = R[i, j]
            for k in range(U(K)):
                work.row[k] += a * work.A[j, first + k]
            j += U(1)
        for k in range(K):
            work.widths[k] += work.row[k] * work.row[k]
    for k in range(K):
        work.widths[k] = math.sqrt(work.widths[k])


@_jit
def _project(X_T, theta, scores):
    """Scores ``X theta``."""
    fill(scores, 0.0)
    for i in range(theta.size):
        f = theta[i]
        for k in range(scores.size):
            scores[k] += f * X_T[i, k]


@_jit
def _sampled_parameter(rule, state, normals, work):
    """Draw theta: ``mu + a U^-1 eta``, or with local norms ``V^-1 (b + a W^T eta)``."""
    d = state.h.size
    _load_estimate(state, work)
    A = work.A
    if rule.local:
        W = work.A_tilde
        copy_matrix(state.P_tilde, W)
        eliminate(W, d)
        for i in range(d):
            f = rule.scale * normals[i]
            for c in range(i, d):
                A[c, d] += f * W[i, c]
    eliminate(A, d + 1)
    for i in range(d):
        work.theta[i] = A[i, d]
        if not rule.local and rule.exploration == THOMPSON:
            work.theta[i] += rule.scale * normals[i]
    back_substitute(A, work.theta)


@_jit
def perturbation(rule, normal, radius):
    """The random multiple of the width in randomised UCB."""
    if rule.law == GAUSSIAN:
        return rule.scale * normal
    if rule.law == RECTIFIED:
        return rule.scale * max(0.0, normal)
    if rule.law == HALF_NORMAL:
        return rule.scale * abs(normal)
    return rule.scale * abs(normal) * radius


@_jit
def score(rule, state, X_T, normals, work):
    """Fill `work.scores`; the state is only read."""
    d, K = X_T.shape
    copy_vector(state.warm, work.warm)
    radius, penalty = 0.0, 0.0
    if rule.exploration == UNIFORM:
        # The normal's distribution function makes it a uniform number.
        u = 0.5 * math.erfc(-normals[0] / math.sqrt(2.0))
        fill(work.scores, 0.0)
        work.scores[min(int(u * K), K - 1)] = 1.0
    elif rule.exploration == THOMPSON or rule.exploration == GREEDY:
        _sampled_parameter(rule, state, normals, work)
        _project(X_T, work.theta, work.scores)
    else:
        _load_estimate(state, work)
        _load_arms(X_T, work)
        eliminate(work.A, d + 1 + K)
        _means_and_widths(work, d, K)
        if rule.local:
            _local_widths(state, work, d, K)
        if rule.exploration == UCB or rule.law == RADIUS_MULTIPLE:
            penalty = prior_part(rule, state.P, work)
            radius = noise_part(rule, state.counts, d) + penalty
        if rule.exploration == RANDOMISED_UCB:
            radius = perturbation(rule, normals[0], radius)
        for k in range(K):
            work.scores[k] = work.means[k] + radius * work.widths[k]
    return Scored(radius, penalty)


@_jit
def best_arm(scores):
    """Index of the largest score; ties (up to rounding) go to the lowest index."""
    largest = scores[0]
    for k in range(scores.size):
        if scores[k] > largest:
            largest = scores[k]
    enough = largest - TIE * abs(largest)
    for k in range(scores.size):
        if scores[k] >= enough:
            return k
    return 0


@_jit
def choose(rule, state, X_T, normals, work):
    """Score, remember the eigenvector found on the way, return the arm."""
    scored = score(rule, state, X_T, normals, work)
    copy_vector(work.warm, state.warm)
    return best_arm(work.scores), scored


@_jit
def expected_rewards(theta, arms, out):
    """``out[t, k]``, the expected reward of arm k in round t."""
    fixed = arms.shape[0] == 1
    for t in range(theta.shape[0]):
        _project(arms[0 if fixed else t], theta[t], out[t])


@_jit
def run_block(rule, state, arms, mean_rewards, noise, normals, chosen, trace, means):
    """Play `len(noise)` rounds; the same `choose` and `observe` as round by round.

    `arms` is (1, d, K) for a fixed set or (n, d, K); `mean_rewards` is (n, K). `trace`
    (n, 4) receives radius, penalty, width and mean score of the chosen arm, and `means`
    (n, d) the estimate each decision was based on; give them no rows to skip that.
    `chosen` (n,) receives the arms.
    """
    d, K = arms.shape[1], arms.shape[2]
    work = make_work(d, K)
    x = np.empty(d)
    for t in range(noise.size):
        X_T = arms[t if arms.shape[0] > 1 else 0]
        if rule.exploration == ORACLE:
            chosen[t] = best_arm(mean_rewards[t])
            continue
        k, scored = choose(rule, state, X_T, normals[t], work)
        chosen[t] = k
        if trace.shape[0] > 0:
            trace[t, 0] = scored.radius
            trace[t, 1] = scored.penalty
            trace[t, 2] = work.widths[k]
            trace[t, 3] = work.means[k]
        if means.shape[0] > 0:
            _load_estimate(state, work)
            eliminate(work.A, d + 1)
            for i in range(d):
                means[t, i] = work.A[i, d]
            back_substitute(work.A, means[t])
        for i in range(d):
            x[i] = X_T[i, k]
        observe(rule, state, x, mean_rewards[t, k] + noise[t])
