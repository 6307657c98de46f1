"""The compiled linear algebra and the recursion against SciPy and dense formulas.

Also runs uncompiled: `test_plain_python.py` starts it with ``NUMBA_DISABLE_JIT=1``.
"""

import numba
import numpy as np
import pytest
from scipy import linalg

import wsbnb
from tests import zoo
from tests.kernels import PLAIN, from_python, new_factor, random_precision
from wsbnb.kernels import estimate, explore, linear, memory, rounds, vectors

compiled_only = pytest.mark.skipif(PLAIN, reason="too slow without the compiler")
DIMS = [1, 2, 3, 4, 5, 8, 13, 24, 33] if PLAIN else [*range(1, 42)]


def factored(P, h):
    d, sums = len(h), memory.packed(P, h)
    F = new_factor(d)
    sound = from_python(linear.factorise)(sums, d, F, sums, d)
    return sound, F


# --- linear algebra ------------------------------------------------------------------


@pytest.mark.parametrize("condition", [1.0, 100.0, 1e8])
@pytest.mark.parametrize("d", DIMS)
def test_factorise_is_cholesky_and_solve(d, condition):
    rng = np.random.default_rng(d)
    P, h = random_precision(rng, d, condition), rng.standard_normal(d)
    sound, F = factored(P, h)
    R, z = np.triu(F[:d, :d]), F[d, :d]
    assert sound
    tiny = 4e-16 * (d + 3)
    assert np.abs(R.T @ R - P).max() <= tiny * np.abs(P).max()
    assert np.abs(R.T @ z - h).max() <= tiny * (np.abs(R.T) @ np.abs(z)).max()
    if condition <= 100.0:
        np.testing.assert_allclose(R, linalg.cholesky(P), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(F[d + 1, :d], 1 / np.diag(F[:d, :d]), rtol=1e-14)


def test_factorise_solves_for_another_right_side():
    rng = np.random.default_rng(3)
    P, h, other = random_precision(rng, 6), *rng.standard_normal((2, 6))
    sums, F, rows = memory.packed(P, h), new_factor(6), memory.aligned(3, 8)
    rows[2, :6] = other
    assert from_python(linear.factorise)(sums, 6, F, rows, 2)
    np.testing.assert_allclose(linalg.cholesky(P).T @ F[6, :6], other, rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 9, 16])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's words, uncompiled
def test_factorise_sees_what_is_not_definite(d, value):
    for where in range(d):
        P = np.eye(d)
        P[where, where] = value
        assert not factored(P, np.zeros(d))[0]


@pytest.mark.parametrize("d", DIMS)
def test_solve_vector_and_back(d):
    rng = np.random.default_rng(d)
    P, b = random_precision(rng, d), rng.standard_normal(d)
    U, (_, F) = linalg.cholesky(P), factored(P, np.zeros(d))
    v = memory.aligned(2, linear.stride(d))
    v[:, :d] = b
    from_python(linear.solve_vector)(F, d, v, 0)
    from_python(linear.solve_back)(F, d, v, 1)
    np.testing.assert_allclose(U.T @ v[0, :d], b, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(U @ v[1, :d], b, rtol=1e-11, atol=1e-12)


def solved_arms(F, d, X_T, first, Y, out):
    means, squares = linear.solve_arms(F, d, X_T, 8, first, Y)
    vectors.store(out, 0, 0, means)
    vectors.store(out, 1, 0, squares)
    vectors.store(out, 2, 0, linear.project(X_T, 8, F, d, d))


@pytest.mark.parametrize("d", DIMS)
def test_solve_arms_and_project(d):
    rng = np.random.default_rng(d)
    P, h = random_precision(rng, d), rng.standard_normal(d)
    X_T = rng.standard_normal((d, 19))
    (_, F), Y, out = factored(P, h), np.zeros((d, 8)), np.zeros((3, 8))
    from_python(solved_arms)(F, d, X_T, 0, Y, out)
    X, inverse = X_T[:, 8:16].T, np.linalg.inv(P)
    tiny = dict(rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(linalg.cholesky(P).T @ Y, X.T, **tiny)
    np.testing.assert_allclose(out[0], X @ inverse @ h, **tiny)
    np.testing.assert_allclose(out[1], np.einsum("ki,ij,kj->k", X, inverse, X), **tiny)
    np.testing.assert_allclose(out[2], X @ F[d, :d], **tiny)


@pytest.mark.parametrize("d", [9, 20])
def test_solve_arms_may_start_later(d):
    """Rows before `first` count as zero, whatever stands there."""
    rng = np.random.default_rng(d)
    P, X_T = random_precision(rng, d), rng.standard_normal((d, 16))
    (_, F), Y, out = factored(P, np.zeros(d)), np.full((d, 8), np.nan), np.zeros((3, 8))
    from_python(solved_arms)(F, d, X_T, 8, Y, out)
    right = np.where(np.arange(d)[:, None] < 8, 0.0, X_T[:, 8:])
    expected = linalg.solve_triangular(linalg.cholesky(P), right, trans="T")
    np.testing.assert_allclose(Y[8:], expected[8:], rtol=1e-9, atol=1e-11)


def test_rows_are_an_odd_number_of_lines():
    for d in range(1, 100):
        size = linear.stride(d)
        assert size >= d and size % 16 == 8 and size < d + 16


# --- the recursion -------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3, 8, 17])
@pytest.mark.parametrize("factor", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("weight", [0.0, 6.25])
def test_fade_and_add(d, factor, weight):
    rng = np.random.default_rng(d)
    P, P0 = random_precision(rng, d), random_precision(rng, d)
    h, h0, x = rng.standard_normal((3, d))
    sums, prior = memory.packed(P, h), memory.packed(P0, h0)
    v = memory.aligned(4, linear.stride(d))
    v[estimate.ARM, :d] = x
    from_python(estimate.fade_and_add)(sums, prior, d, factor, weight, v, -1.5)
    new_P = factor * P + (1 - factor) * P0 + weight * np.outer(x, x)
    new_h = factor * h + (1 - factor) * h0 - 1.5 * weight * x
    np.testing.assert_allclose(memory.precision_of(sums), new_P, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(memory.shift_of(sums), new_h, rtol=1e-13, atol=1e-14)
    assert (sums[:, d:] == 0.0).all()  # the kernels count on it


def test_packed_and_back():
    rng = np.random.default_rng(0)
    P, h = random_precision(rng, 11), rng.standard_normal(11)
    sums = memory.packed(P, h)
    assert (memory.precision_of(sums) == P).all() and (memory.shift_of(sums) == h).all()
    sums[np.tril_indices(11, -1)] = 7.0  # only the upper triangle counts
    assert (memory.precision_of(sums) == P).all()
    stack = np.array([sums, 2.0 * sums, 3.0 * sums])
    assert (memory.precision_of(stack) == [P, 2 * P, 3 * P]).all()
    assert (memory.shift_of(stack) == [h, 2 * h, 3 * h]).all()


def test_arrays_begin_at_a_line_of_the_cache():
    kept = [memory.aligned(size, 3) for size in range(1, 40)]
    assert all(array.ctypes.data % 64 == 0 for array in kept)
    assert all(array.flags.c_contiguous and not array.any() for array in kept)


def test_who_allocates_what():
    work = memory.new_work(5, 9, spare=2)
    rows = {"factor": (8, 8), "fresh": (1,), "spare": (2, 8, 8), "vectors": (4, 8)}
    arms = {"block": (5, 8), "tail": (5, 8), "rows": (3, 24), "said": (2,)}
    assert {name: part.shape for name, part in work._asdict().items()} == rows | arms
    prior = estimate.Prior(memory.packed(np.eye(5)), 1.0)
    bound = memory.new_bound(7.0)
    assert bound.tolist() == [7.0, 0.01, 7.0]
    state = memory.new_state(prior, squares=True, bound=bound, window=4)
    shapes = [(6, 8), (3,), (6, 8), (3,), (4, 5), (4,), (4,), (3,)]
    assert [part.shape for part in memory.arrays_of(state)] == shapes
    assert [part.shape for part in memory.new_users(7, 5)] == [(7, 20), (7, 3)]
    assert memory.new_beliefs(2, 5).shape == (15,)


def test_factors_of_the_rules():
    """Each rule's factor turns its weights at one round into those at the next."""
    fade = from_python(estimate.fade) if PLAIN else compiled_fade
    for rule in (
        wsbnb.weights.Exponential(0.9),
        wsbnb.weights.Restart(4),
        wsbnb.weights.Polynomial(1.5, of="round"),
    ):
        for t in range(1, 12):
            f = fade(rule.compiled(), float(t), 1.0)
            assert f == pytest.approx(rule.factor(t + 1), rel=1e-14)
            np.testing.assert_allclose(
                rule.row(t + 1)[:-1], f * rule.row(t), atol=1e-15
            )
    assert fade(estimate.Exponential(0.9), 3.0, 2.5) == pytest.approx(0.9**2.5)
    assert fade(estimate.Polynomial(2.0), 3.0, 0.0) == 1.0
    assert fade(estimate.Restart(4.0), 3.0, 1.0) == 1.0
    assert fade(estimate.Restart(4.0), 3.0, 1.5) == 0.0


@numba.njit
def compiled_fade(rule, clock, steps):
    return estimate.fade(rule, clock, steps)


# --- scores --------------------------------------------------------------------------


def best(scores):
    K = len(scores)
    rows = np.full((3, linear.stride(K)), 99.0)
    rows[explore.SCORES, :K] = scores
    return from_python(explore.best_arm)(rows, K)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's words, uncompiled
def test_best_arm_ties_go_to_the_lowest_index():
    assert best([1.0, 2.0, 2.0]) == 1
    assert best([2.0 - 1e-13, 2.0]) == 0
    assert best([2.0 - 1e-11, 2.0]) == 1
    assert best([-2.0 - 1e-13, -2.0]) == 0
    assert best([-3.0, -2.0, -5.0]) == 1
    assert best([0.0] * 4) == 0
    assert best([-1.0]) == 0
    assert best([1e-320, 2e-320, 0.0]) == 1
    for K in (7, 8, 9, 16, 33):
        for k in (0, K // 2, K - 1):
            scores = np.zeros(K)
            scores[k] = 1.0
            assert best(scores) == k
            for bad in (np.nan, np.inf):
                scores[k] = bad
                assert best(scores) == -1
        assert best(np.full(K, -np.inf)) == -1


@pytest.mark.parametrize("d", [1, 2, 4, 7] if PLAIN else [1, 2, 3, 4, 5, 7, 8, 16, 33])
@pytest.mark.parametrize("K", [1, 3, 8, 10])
@pytest.mark.parametrize("name", ["LBWeightUCB", "DLinUCB", "WSBLinUCB"])
@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_means_and_widths_are_dense_formulas(name, d, K):
    policy = zoo.make(name, d)
    X, rewards = zoo.problem(5, 12, d, 1)
    policy.update(X[:, 0], rewards[:, 0])
    arms = np.random.default_rng(6).standard_normal((K, d))
    parts, post = policy.explain(arms), policy.posterior
    form = inverse = np.linalg.inv(post.precision)
    if name == "DLinUCB":
        form = inverse @ memory.precision_of(post._state.squares) @ inverse
    widths = np.sqrt(np.einsum("ki,ij,kj->k", arms, form, arms))
    np.testing.assert_allclose(parts["mean"], arms @ inverse @ post.shift, rtol=1e-8)
    np.testing.assert_allclose(parts["width"], widths, rtol=1e-9)
    scores = parts["mean"] + parts["radius"] * parts["width"]
    np.testing.assert_allclose(parts["score"], scores, rtol=1e-13)


@pytest.mark.parametrize("d", [2, 8, 11, 17])
def test_a_perturbed_shift(d):
    """``h + a W^T eta`` with V~ = W^T W, for a draw in the local norm."""
    rng = np.random.default_rng(d)
    P, h, normals = random_precision(rng, d), *rng.standard_normal((2, d))
    sums, v = memory.packed(P, h), memory.aligned(4, linear.stride(d))
    _, W = factored(P, h)
    from_python(explore._perturb)(sums, W, d, 0.7, np.array([h, normals]), 1, v)
    expected = h + 0.7 * linalg.cholesky(P).T @ normals
    np.testing.assert_allclose(v[estimate.THETA, :d], expected, rtol=1e-10)


@pytest.mark.parametrize("name", [n for n in zoo.LINEAR if n != "Uniform"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's words, uncompiled
def test_a_matrix_that_is_not_definite_gives_no_arm(name):
    policy = zoo.make(name, 2)
    policy.posterior._state.sums[:2, :2] = [[1.0, 2.0], [2.0, 1.0]]
    before = policy._rng.bit_generator.state
    with pytest.raises(ValueError, match="double precision"):
        policy.pull(np.eye(2))
    assert policy._rng.bit_generator.state == before
    arms, expected = np.ones((1, 2, 3)), np.zeros((4, 3))
    with pytest.raises(ValueError, match="positive definite"):
        policy._play_rounds(arms, expected, np.zeros(4))


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's words, uncompiled
def test_what_no_round_can_be_played_from(d):
    """An infinite pivot, or an entry of h from 1e300 on, or not a number."""

    def ready(row, column, value):
        policy = zoo.make("LinTS", d)
        policy.posterior._state.sums[:d, :d] = np.eye(d)
        policy.posterior._state.sums[row, column] = value
        try:
            policy.decay(0)
        except ValueError:
            return False
        return policy.posterior._work.fresh[0] == 1.0

    for i in range(d):
        assert ready(i, i, 1e300) and not ready(i, i, np.inf)
        for sign in (1.0, -1.0):
            assert ready(d, i, sign * np.nextafter(1e300, 0.0))
            assert not ready(d, i, sign * 1e300) and not ready(d, i, np.nan)


@pytest.mark.parametrize("name", ["LinTS", "DLinTS", "WSBRandLinUCB"])
@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_pivots_smaller_than_rounding_make_no_round(name, unit):
    """The pivots are the unit, and its share left by two arms that are almost one."""
    for share, sound in (
        (7, False),
        (9, True),
    ):  # times 2^-52, of 4 d in two dimensions
        policy = zoo.make(name, 2)
        P = policy.posterior._state.sums
        P[:2, :2] = unit
        P[1, 1] = unit * (1 + share * 2.0**-52)
        arms, expected = np.eye(2)[None], np.zeros((1, 2))
        if sound:
            policy._play_rounds(arms, expected, np.zeros(1))
        else:
            with pytest.raises(ValueError, match="positive definite"):
                policy._play_rounds(arms, expected, np.zeros(1))


# --- many rounds ---------------------------------------------------------------------


def block_inputs(n, K, d, fixed, seed=0):
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((1 if fixed else n, d, K))
    theta = rng.standard_normal((n, d))
    expected = np.empty((n, K))
    rounds.expected_rewards(theta, arms, expected)
    return arms, theta, expected, rng.standard_normal(n)


def same_state(one, other):
    pairs = zip(
        memory.arrays_of(one.posterior._state),
        memory.arrays_of(other.posterior._state),
        strict=True,
    )
    return all((a == b).all() for a, b in pairs)


@pytest.mark.parametrize("K", [1, 5, 8, 11])
@pytest.mark.parametrize("d", [1, 3, 8])
def test_expected_rewards(d, K):
    for n, fixed in ((7, True), (7, False), (2, False)):
        arms, theta, expected, _ = block_inputs(n, K, d, fixed)
        full = [theta[t] @ arms[0 if fixed else t] for t in range(n)]
        np.testing.assert_allclose(expected, full, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("name", zoo.LINEAR)
def test_many_rounds_are_single_ones(name, fixed):
    """`pull`, `update` and the simulation are the same function: the same bits."""
    d, K, n = 3, 5, 25 if PLAIN else 200
    one, many = zoo.make(name, d), zoo.make(name, d)
    arms, _, expected, noise = block_inputs(n, K, d, fixed)
    chosen = many._play_rounds(arms, expected, noise)
    with wsbnb.outside_on_purpose():  # made-up rewards
        for t in range(n):
            X = arms[0 if fixed else t].T
            assert one.pull(X) == chosen[t]
            one.update(X[chosen[t]], expected[t, chosen[t]] + noise[t])
    assert same_state(one, many)


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_blocks_may_be_cut_anywhere(name):
    n = 20 if PLAIN else 120
    whole, cut = zoo.make(name, 2), zoo.make(name, 2)
    arms, _, expected, noise = block_inputs(n, 4, 2, fixed=True)
    first = whole._play_rounds(arms, expected, noise)
    pieces = [
        cut._play_rounds(arms, expected[a:b], noise[a:b])
        for a, b in ((0, 1), (1, 8), (8, n))
    ]
    assert (np.concatenate(pieces) == first).all()
    assert same_state(whole, cut)


def test_predictions_before_each_reward():
    """Mean and variance of every row are those of the posterior just before it."""
    post = wsbnb.WSBPosterior(
        prior_mean=[0.5, -1.0, 2.0],
        prior_cov=[1.0, 2.0, 0.3],
        noise_std=0.4,
        discount=0.9,
    )
    slow = post.copy()
    X, rewards = (a[:, 0] for a in zoo.problem(3, 15, 3, 1))
    mean, variance = post.predict_and_learn(X, rewards)
    for t in range(15):
        m, s = slow.predict(X[t], noise=False)
        assert mean[t] == pytest.approx(m, rel=1e-10, abs=1e-12)
        assert variance[t] == pytest.approx(s**2, rel=1e-10)
        slow.update(X[t], rewards[t])
    assert (post.mean == slow.mean).all()


@compiled_only
@pytest.mark.parametrize("name", ["WSBLinTS", "DLinTS", "LinTS"])
def test_a_million_rounds(name):
    """Definite, and equal to a fresh batch at the end."""
    d, K, n, size = 3, 4, 1_000_000, 50_000
    policy = zoo.make(name, d)
    arms, _, _, _ = block_inputs(1, K, d, fixed=True)
    theta = np.array([0.3, -0.2, 0.5])
    counts, moments = np.zeros(K), np.zeros(K)
    rng = np.random.default_rng(1)
    for _ in range(n // size):
        expected = np.repeat((theta @ arms[0])[None], size, axis=0)
        noise = zoo.SIGMA * rng.standard_normal(size)
        chosen = policy._play_rounds(arms, expected, noise)
        rewards = expected[0, chosen] + noise
        counts += np.bincount(chosen, minlength=K)
        moments += np.bincount(chosen, weights=rewards, minlength=K)
    post = policy.posterior
    if post.discount < 1.0:  # the last block holds all that is not forgotten
        w = post.discount ** np.arange(size - 1, -1, -1.0)
        counts = np.bincount(chosen, weights=w, minlength=K)
        moments = np.bincount(chosen, weights=w * rewards, minlength=K)
    X, P0 = arms[0].T, np.linalg.inv(post.prior_cov)
    P = P0 + (X.T * counts) @ X / zoo.SIGMA**2
    h = P0 @ post.prior_mean + X.T @ moments / zoo.SIGMA**2
    assert post.rounds == n
    assert np.linalg.eigvalsh(post.precision)[0] > 0
    np.testing.assert_allclose(post.precision, P, rtol=1e-10)
    np.testing.assert_allclose(post.shift, h, rtol=1e-8, atol=1e-7)
    for array in memory.arrays_of(post._state):
        assert np.isfinite(array).all()


@compiled_only
def test_a_million_rounds_in_a_window():
    policy = zoo.make("SWLinUCB", 2, length=137)
    arms, _, _, _ = block_inputs(1, 3, 2, fixed=True)
    rng, size = np.random.default_rng(2), 100_001
    for _ in range(10):
        noise = rng.standard_normal(size)
        chosen = policy._play_rounds(arms, np.zeros((size, 3)), noise)
    X, r = arms[0].T[chosen[-137:]], noise[-137:]
    V = zoo.LAMBDA * np.eye(2) + X.T @ X
    post = policy.posterior
    np.testing.assert_allclose(post.precision * zoo.SIGMA**2, V, rtol=1e-12)
    np.testing.assert_allclose(
        post.shift * zoo.SIGMA**2, X.T @ r, rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("name", ["WSBLinUCB", "DLinUCB", "WSBLinTS", "DLinTS"])
def test_unexcited_directions_keep_the_prior(name):
    """Forgetting without re-injection would let their variance overflow."""
    count = 50 if PLAIN else 5000
    policy = zoo.make(name, 3, discount=0.9)
    P0 = policy.posterior.precision
    X = np.tile([1.0, 0.0, 0.0], (count, 1))
    with wsbnb.outside_on_purpose():
        policy.update(X, np.full(count, 0.5))
    P = policy.posterior.precision
    np.testing.assert_allclose(P[1:, 1:], P0[1:, 1:], rtol=1e-12)
    assert np.isfinite(policy.scores(np.eye(3))).all()


# --- called from compiled code --------------------------------------------------------


@numba.njit
def compiled_rounds(exploration, rule, prior, state, work, X_T, normals, n):
    """The library's round inside somebody else's compiled loop."""
    total = 0
    for _ in range(n):
        explore.score(exploration, state, work, X_T, normals, 0)
        k = explore.best_arm(work.rows, X_T.shape[1])
        for i in range(X_T.shape[0]):
            work.vectors[estimate.ARM, i] = X_T[i, k]
        estimate.learn(rule, prior, state, work, 0.5, 1.0, 1.0)
        total += k
    return total


@pytest.mark.parametrize("name", ["WSBLinUCB", "DLinUCB", "SWLinUCB"])
def test_a_round_runs_inside_compiled_code(name):
    one, two = zoo.make(name, 2), zoo.make(name, 2)
    X_T = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    post = one.posterior
    post._make_room(3)
    words = (one._explore, post._rule, post._prior, post._state, post._work)
    total = compiled_rounds(*words, X_T, np.empty((1, 0)), 12)
    expected = 0
    for _ in range(12):
        k = two.pull(X_T.T)
        two.update(X_T[:, k], 0.5)
        expected += k
    assert total == expected
    np.testing.assert_allclose(post.precision, two.posterior.precision, rtol=1e-13)
