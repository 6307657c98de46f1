"""The compiled arithmetic against SciPy and dense formulas; also runs uncompiled."""

import numba
import numpy as np
import pytest
from scipy import linalg

import wsbnb
from tests import zoo
from wsbnb import bounds, kernels
from wsbnb.policies import rules

PLAIN = bool(numba.config.DISABLE_JIT)
compiled_only = pytest.mark.skipif(PLAIN, reason="too slow without the compiler")
DIMS = [1, 2, 3, 4, 5, 8, 13, 33] if PLAIN else range(1, 34)


def random_precision(rng, d, condition=100.0):
    """A symmetric positive definite matrix with eigenvalues from 1 to `condition`."""
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    P = (basis * np.geomspace(1.0, condition, d)) @ basis.T
    return (P + P.T) / 2


# --- linear algebra ------------------------------------------------------------------


@pytest.mark.parametrize("extra", [0, 1, 5, 50])
@pytest.mark.parametrize("d", DIMS)
def test_eliminate_is_cholesky_and_solve(d, extra):
    rng = np.random.default_rng(d)
    P, R = random_precision(rng, d), rng.standard_normal((d, extra))
    A = np.hstack([P, R, np.full((d, 2), 7.0)])
    assert kernels.eliminate(A, d + extra)
    U = linalg.cholesky(P)
    np.testing.assert_allclose(np.triu(A[:, :d]), U, rtol=1e-12, atol=1e-13)
    expected = linalg.solve_triangular(U, R, trans="T") if extra else R
    np.testing.assert_allclose(A[:, d:-2], expected, rtol=1e-10, atol=1e-12)
    assert (A[:, -2:] == 7.0).all()
    assert (np.tril(A[:, :d], -1) == np.tril(P, -1)).all()


@pytest.mark.parametrize("d", [1, 2, 5, 9])
@pytest.mark.parametrize("where", [0, -1])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_eliminate_sees_what_is_not_definite(d, where, value):
    P = np.eye(d)
    P[where, where] = value
    assert not kernels.eliminate(P, d)


@pytest.mark.parametrize("d", DIMS)
def test_substitutions(d):
    rng = np.random.default_rng(d)
    U, b = linalg.cholesky(random_precision(rng, d)), rng.standard_normal(d)
    A = U + np.tril(rng.standard_normal((d, d)), -1)  # the lower part is never read
    y, x = b.copy(), b.copy()
    kernels.forward_substitute(A, y)
    kernels.back_substitute(A, x)
    np.testing.assert_allclose(U.T @ y, b, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(U @ x, b, rtol=1e-11, atol=1e-12)


def test_small_helpers():
    rng = np.random.default_rng(0)
    M, v, w = rng.standard_normal((5, 5)), rng.standard_normal(5), np.empty(5)
    kernels.multiply(M, v, w)
    np.testing.assert_allclose(w, M @ v, rtol=1e-13)
    assert kernels.dot(v, w) == pytest.approx(v @ w, rel=1e-13)
    X_T, scores = rng.standard_normal((5, 7)), np.empty(7)
    kernels.project(X_T, v, scores)
    np.testing.assert_allclose(scores, v @ X_T, rtol=1e-12, atol=1e-14)


# --- the recursion -------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3, 17])
@pytest.mark.parametrize("factor", [0.0, 0.3, 1.0])
def test_decay_and_add(d, factor):
    rng = np.random.default_rng(d)
    P, P0 = random_precision(rng, d), random_precision(rng, d)
    h, h0, x = rng.standard_normal((3, d))
    new_P, new_h = P.copy(), h.copy()
    kernels.decay(new_P, new_h, P0, h0, factor)
    np.testing.assert_allclose(new_P, factor * P + (1 - factor) * P0, rtol=1e-14)
    np.testing.assert_allclose(
        new_h, factor * h + (1 - factor) * h0, rtol=1e-14, atol=1e-15
    )
    before = new_P.copy()
    kernels.add_observation(new_P, new_h, x, -1.5, 6.25)
    np.testing.assert_allclose(new_P - before, 6.25 * np.outer(x, x), atol=1e-11)
    assert (new_P == new_P.T).all()


@pytest.mark.parametrize("name", ["WSBLinTS", "DLinTS"])
def test_observe_is_fade_then_absorb(name):
    """The fused step of one round equals its two halves, squared weights included."""
    one, two = zoo.make(name, 4), zoo.make(name, 4)
    X, rewards = zoo.problem(0, 60, 4, 1)
    for x, r in zip(X[:, 0], rewards[:, 0], strict=True):
        kernels.observe(one._rule, one._state, x, r)
        kernels.advance(two._rule, two._state, 1.0)
        kernels.absorb(two._rule, two._state, x, r)
    for field in ("P", "h", "P_tilde", "counts"):
        a, b = getattr(one._state, field), getattr(two._state, field)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13, err_msg=field)


def weighted(X, rewards, weights, P0, h0, precision):
    P = P0 + precision * (X.T * weights) @ X
    return P, h0 + precision * X.T @ (weights * rewards)


@pytest.mark.parametrize("name", ["WSBLinTS", "DLinTS", "LinTS"])
def test_recursion_is_the_batch_formula(name):
    policy = zoo.make(name, 5)
    X, rewards = (a[:, 0] for a in zoo.problem(1, 150, 5, 1))
    for x, r in zip(X, rewards, strict=True):
        kernels.observe(policy._rule, policy._state, x, r)
    w = policy.discount ** np.arange(149, -1, -1.0)
    P0, h0 = policy._rule.prior.P0, policy._rule.prior.h0
    precision = policy._rule.settings.precision
    P, h = weighted(X, rewards, w, P0, h0, precision)
    np.testing.assert_allclose(policy._state.P, P, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(policy._state.h, h, rtol=1e-11, atol=1e-11)
    if policy._rule.settings.local:  # squared weights, from V_tilde and not from V
        P, _ = weighted(X, rewards, w**2, P0, h0, precision)
        np.testing.assert_allclose(policy._state.P_tilde, P, rtol=1e-12, atol=1e-12)
    counts = policy._state.counts
    assert counts[kernels.WEIGHT_SUM] == pytest.approx(w.sum(), rel=1e-12)
    assert counts[kernels.SQUARED_WEIGHT_SUM] == pytest.approx((w**2).sum(), rel=1e-12)
    assert counts[kernels.CLOCK] == 150


# --- window and restart --------------------------------------------------------------


def follow(policy, rule, rounds, d, empty=(), scale=None):
    """Compare with the batch posterior for the weight rule after every round."""
    X, rewards = (a[:, 0] for a in zoo.problem(2, rounds, d, 1))
    if scale is not None:
        X = X * scale[:, None]
    X[list(empty)], rewards[list(empty)] = 0.0, 0.0
    cov0 = np.eye(d) * zoo.SIGMA**2 / zoo.LAMBDA
    for t in range(1, rounds + 1):
        if t - 1 in empty:
            policy.decay(1)
        else:
            policy.update(X[t - 1], rewards[t - 1])
        mean, cov = wsbnb.batch_posterior(
            X[:t], rewards[:t], rule.row(t), np.zeros(d), cov0, zoo.SIGMA
        )
        np.testing.assert_allclose(policy.posterior.mean, mean, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(policy.posterior.cov, cov, rtol=1e-9, atol=1e-11)
        kept = rule.row(t) * (np.abs(X[:t]).sum(axis=1) > 0)
        assert policy.posterior.weight_sum == kept.sum()
        assert policy.rounds == t


@pytest.mark.parametrize("length", [1, 2, 7, 40])
@pytest.mark.parametrize("empty", [(), (3, 4, 5, 20, 21, 22, 23, 24, 25, 26, 27, 28)])
def test_window(length, empty):
    rounds = 30 if PLAIN else 60
    policy = zoo.make("SWLinUCB", 3, length=length)
    follow(policy, wsbnb.SlidingWindow(length), rounds, 3, empty)


@pytest.mark.parametrize("period", [1, 2, 7, 40])
@pytest.mark.parametrize("empty", [(), (3, 4, 5, 6, 13, 27)])
def test_restart(period, empty):
    rounds = 30 if PLAIN else 60
    policy = zoo.make("RestartLinUCB", 3, period=period)
    follow(policy, wsbnb.Restart(period), rounds, 3, empty)


def test_window_survives_a_huge_row_that_leaves():
    scale = np.ones(30)
    scale[[3, 11]] = 1e9
    policy = zoo.make("SWLinUCB", 1, length=5)
    follow(policy, wsbnb.SlidingWindow(5), 30, 1, scale=scale)


@pytest.mark.parametrize(
    "name, twin",
    [
        ("SWLinUCB", lambda *prior: wsbnb.WindowPosterior(*prior, 9)),
        ("RestartLinUCB", lambda *prior: wsbnb.RestartPosterior(*prior, 9)),
    ],
)
def test_streaming_posteriors_agree(name, twin):
    policy = zoo.make(name, 2)
    other = twin(np.zeros(2), np.eye(2) * zoo.SIGMA**2 / zoo.LAMBDA, zoo.SIGMA)
    X, rewards = zoo.problem(3, 80, 2, 1)
    rng = np.random.default_rng(0)
    for x, r in zip(X[:, 0], rewards[:, 0], strict=True):
        steps = int(rng.integers(0, 4)) * int(rng.random() < 0.2)
        policy.decay(steps)
        other.decay(steps)
        policy.update(x, r)
        other.update(x, r)
        np.testing.assert_allclose(policy.posterior.mean, other.mean, rtol=1e-10)
        np.testing.assert_allclose(policy.posterior.cov, other.cov, rtol=1e-10)
        assert policy.posterior.weight_sum == other.weight_sum
        assert policy.rounds == other.rounds


@pytest.mark.parametrize("name", ["SWLinUCB", "RestartLinUCB"])
def test_long_pause(name):
    policy = zoo.make(name, 2)
    policy.update([1.0, 0.5], 1.0)
    policy.decay(10**15)  # at once, not round by round
    assert policy.rounds == 10**15 + 1
    np.testing.assert_allclose(policy._state.P, policy._rule.prior.P0, atol=1e-15)
    np.testing.assert_allclose(policy._state.h, 0.0, atol=1e-15)


# --- the penalty ---------------------------------------------------------------------


def played(name, d, rounds, seed=0, **changes):
    """A policy, yielded after each of its decisions."""
    policy = zoo.make(name, d, **changes)
    X, rewards = zoo.problem(seed, rounds, d, 6)
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        yield policy
        policy.update(arms[k], paid[k])


def top_eigenvalue(policy):
    """lambda_max(P0 P^-1 P0), in extended precision where NumPy has it."""
    P = policy._state.P.astype(np.longdouble)
    P0 = policy._rule.prior.P0.astype(np.longdouble)
    d = len(P)
    L, B = np.zeros_like(P), P0.copy()
    for i in range(d):
        L[i, i] = np.sqrt(P[i, i] - L[i, :i] @ L[i, :i])
        L[i + 1 :, i] = (P[i + 1 :, i] - L[i + 1 :, :i] @ L[i, :i]) / L[i, i]
    for i in range(d):
        B[i] = (B[i] - L[i, :i] @ B[:i]) / L[i, i]
    return np.linalg.svd(B.astype(float), compute_uv=False)[0] ** 2


def bound_ratios(policies):
    """Bound over true eigenvalue, decision by decision."""
    return np.array(
        [p._state.bound[kernels.BOUND] / top_eigenvalue(p) for p in policies]
    )


@pytest.mark.parametrize("d", [1, 2, 5] if PLAIN else [1, 2, 3, 5, 8, 16, 17, 32])
@pytest.mark.parametrize("discount", [0.97, 1.0])
def test_eigenvalue_bound_is_never_below(d, discount):
    rounds = 40 if PLAIN else 600
    ratios = bound_ratios(played("WSBLinUCB", d, rounds, discount=discount))
    assert ratios.min() >= 1.0 - 1e-12
    assert ratios[rounds // 2 :].mean() < 1.2


@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")  # made-up rewards
@compiled_only
@pytest.mark.parametrize("d", [2, 6, 20])
def test_eigenvalue_bound_is_close_on_unit_arms(d):
    """In the paper's setting it is within a few per cent on average."""
    prior = dict(prior_mean=np.zeros(d), prior_cov=np.eye(d))
    policy = zoo.make("WSBLinUCB", d, discount=0.98, **prior)
    rng = np.random.default_rng(d)
    ratios = []
    for _ in range(600):
        X = rng.standard_normal((48, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        k = policy.pull(X)
        ratios.extend(bound_ratios([policy]))
        policy.update(X[k], float(rng.standard_normal()))
    assert min(ratios) >= 1.0 - 1e-12
    assert np.mean(ratios[300:]) < 1.05


@compiled_only
@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("d", [2, 6, 20])
def test_eigenvalue_bound_with_an_ill_conditioned_prior(d, condition):
    cov = random_precision(np.random.default_rng(d), d, condition)
    run = played("WSBLinUCB", d, 300, discount=0.98, prior_cov=cov)
    ratios = bound_ratios(run)
    assert ratios.min() >= 1.0 - 1e-12


@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")  # made-up rewards
@compiled_only
def test_eigenvalue_bound_after_an_abrupt_change_of_arms():
    """All arms in one half space, then in the other: the top eigenvector jumps."""
    policy = zoo.make("WSBLinUCB", 6, discount=0.9)
    rng = np.random.default_rng(4)
    run = []
    for t in range(500):
        X = rng.standard_normal((8, 6))
        X[:, :3] *= 0.0 if (t // 60) % 2 else 1.0
        X[:, 3:] *= 1.0 if (t // 60) % 2 else 0.0
        k = policy.pull(X)
        run.extend(bound_ratios([policy]))
        policy.update(X[k], float(rng.standard_normal()))
        if t % 37 == 0:
            policy.decay(5.5)
    assert min(run) >= 1.0 - 1e-12
    assert np.mean(run) < 1.1


def penalty_at(mean, cov0, cov, bound):
    """`farthest_point` fed as the kernels feed it."""
    P0 = np.linalg.inv(cov0)
    values, basis = np.linalg.eigh(P0 @ cov @ P0)
    return kernels.farthest_point(values, basis.T @ mean, bound)


@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("bound", [0.0, 1e-3, 1.0, 50.0])
def test_farthest_point(d, bound):
    rng = np.random.default_rng(d)
    cov0, cov = random_precision(rng, d, 20.0), random_precision(rng, d, 5.0)
    for size in (0.0, 1e-6, 1.0, 1e4):
        mean = size * rng.standard_normal(d)
        expected = bounds.prior_penalty(mean, cov0, cov, bound)
        got = penalty_at(mean, cov0, cov, bound)
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("bound", [0.5, 2.0, 30.0])
def test_farthest_point_in_the_hard_case(bound):
    """The mean has no part along the top axis, so the multiplier sits at the edge."""
    values = np.array([0.2, 1.0, 4.0])
    for mean in ([1.0, -2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]):
        got = kernels.farthest_point(values, np.array(mean), bound)
        cov = np.diag(values)
        expected = bounds.prior_penalty(mean, np.eye(3), cov, bound)
        assert got == pytest.approx(expected, rel=1e-12)


def test_farthest_point_equal_eigenvalues():
    got = kernels.farthest_point(np.full(3, 4.0), np.array([0.0, 3.0, 0.0]), 2.0)
    assert got == pytest.approx(2.0 * 5.0, rel=1e-12)


@pytest.mark.parametrize("penalty", ["exact", "cxv", "triangle"])
def test_penalty_of_a_run(penalty):
    rounds = 15 if PLAIN else 150
    for policy in played("WSBLinUCB", 4, rounds, penalty=penalty):
        known = policy.explain(np.eye(4))["penalty"]
        true = bounds.prior_penalty(
            *zoo.prior(4), policy.posterior.cov, zoo.S, form=penalty
        )
        if penalty == "exact":
            assert known == pytest.approx(true, rel=1e-9)
        else:
            top = policy._state.bound[kernels.BOUND] / top_eigenvalue(policy)
            assert true * (1 - 1e-12) <= known <= true * top**0.5 * (1 + 1e-12)


# --- scores --------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 4, 7] if PLAIN else [1, 2, 3, 4, 5, 7, 8, 16, 33])
@pytest.mark.parametrize("K", [1, 3, 10])
@pytest.mark.parametrize("name", ["LBWeightUCB", "DLinUCB", "WSBLinUCB"])
@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_means_and_widths_are_dense_formulas(name, d, K):
    policy = zoo.make(name, d)
    X, rewards = zoo.problem(5, 12, d, 1)
    policy.update(X[:, 0], rewards[:, 0])
    arms = np.random.default_rng(6).standard_normal((K, d))
    parts = policy.explain(arms)
    state = policy._state
    inverse = np.linalg.inv(state.P)
    form = inverse @ state.P_tilde @ inverse if name == "DLinUCB" else inverse
    widths = np.sqrt(np.einsum("ki,ij,kj->k", arms, form, arms))
    np.testing.assert_allclose(parts["mean"], arms @ inverse @ state.h, rtol=1e-8)
    np.testing.assert_allclose(parts["width"], widths, rtol=1e-9)
    scores = parts["mean"] + parts["radius"] * parts["width"]
    np.testing.assert_allclose(parts["score"], scores, rtol=1e-13)


def test_best_arm_ties_go_to_the_lowest_index():
    best = kernels.best_arm
    assert best(np.array([1.0, 2.0, 2.0])) == 1
    assert best(np.array([2.0 - 1e-13, 2.0])) == 0
    assert best(np.array([2.0 - 1e-11, 2.0])) == 1
    assert best(np.array([-2.0 - 1e-13, -2.0])) == 0
    assert best(np.array([-3.0, -2.0, -5.0])) == 1
    assert best(np.zeros(4)) == 0
    assert best(np.array([-1.0])) == 0
    assert best(np.array([1e-320, 2e-320, 0.0])) == 1
    assert best(np.array([np.nan, np.nan])) == -1


@pytest.mark.parametrize("name", [n for n in zoo.LINEAR if n != "Uniform"])
def test_a_matrix_that_is_not_definite_gives_no_arm(name):
    policy = zoo.make(name, 2)
    policy._state.P[:] = [[1.0, 2.0], [2.0, 1.0]]
    work = kernels.make_work(2, 3)
    rule, normals = policy._rule, np.zeros(policy.n_normals)
    assert kernels.choose(rule, policy._state, np.ones((2, 3)), normals, work) == -1
    with pytest.raises(ValueError, match="positive definite"):
        policy.pull(np.eye(2))


@pytest.mark.parametrize("law", list(rules.PERTURBATIONS))
def test_perturbation(law):
    rule = zoo.make("WSBRandLinUCB", 2, perturbation=law, **zoo.BOUNDS)._rule
    for z in (-1.5, 0.5):
        expected = {
            "gaussian": z,
            "rectified": max(z, 0.0),
            "half-normal": abs(z),
            "radius": 3.0 * abs(z),
        }[law]
        got = kernels.perturbation(rule.settings, z, 3.0)
        assert got == pytest.approx(0.7 * expected)


# --- many rounds ---------------------------------------------------------------------


def block_inputs(policy, n, K, d, fixed, seed=0):
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((1 if fixed else n, d, K))
    theta = rng.standard_normal((n, d))
    expected = np.empty((n, K))
    kernels.expected_rewards(theta, arms, expected)
    normals = rng.standard_normal((n, policy.n_normals))
    return arms, theta, expected, rng.standard_normal(n), normals


def run(policy, arms, expected, noise, normals, trace=False):
    n, d = len(noise), arms.shape[1]
    chosen = np.empty(n, dtype=np.int64)
    extra, means = np.empty((n * trace, 4)), np.empty((n * trace, d))
    kernels.run_block(
        policy._rule,
        policy._state,
        arms,
        expected,
        noise,
        normals,
        chosen,
        extra,
        means,
    )
    return chosen, extra, means


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("name", zoo.LINEAR)
def test_block_equals_round_by_round(name, fixed):
    d, K, n = 3, 5, 25 if PLAIN else 200
    one, many = zoo.make(name, d), zoo.make(name, d)
    arms, theta, expected, noise, normals = block_inputs(one, n, K, d, fixed)
    full = np.array([theta[t] @ arms[0 if fixed else t] for t in range(n)])
    np.testing.assert_allclose(expected, full, rtol=1e-12, atol=1e-13)
    chosen, extra, means = run(many, arms, expected, noise, normals, trace=True)
    work = kernels.make_work(d, K)
    for t in range(n):
        X_T = arms[0 if fixed else t]
        mean = one.posterior.mean
        k = kernels.choose(one._rule, one._state, X_T, normals[t], work)
        assert k == chosen[t]
        np.testing.assert_allclose(means[t], mean, rtol=1e-9, atol=1e-12)
        if name.endswith("UCB"):
            rows = work.rows
            seen = [rows[kernels.WIDTHS, k], rows[kernels.MEANS, k]]
            np.testing.assert_allclose(extra[t, 2:], seen, rtol=1e-11, atol=1e-13)
        x = np.ascontiguousarray(X_T[:, k])
        kernels.observe(one._rule, one._state, x, expected[t, k] + noise[t])
    for field, a in one._state._asdict().items():
        b = getattr(many._state, field)
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-13, err_msg=field)


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_blocks_may_be_cut_anywhere(name):
    n = 20 if PLAIN else 120
    whole, cut = zoo.make(name, 2), zoo.make(name, 2)
    arms, _, expected, noise, normals = block_inputs(whole, n, 4, 2, fixed=True)
    first, _, _ = run(whole, arms, expected, noise, normals)
    pieces = []
    for a, b in ((0, 1), (1, 8), (8, n)):
        pieces.append(run(cut, arms, expected[a:b], noise[a:b], normals[a:b])[0])
    assert (np.concatenate(pieces) == first).all()
    for a, b in zip(whole._state, cut._state, strict=True):
        assert (a == b).all()


def test_oracle_block_takes_the_best_arm():
    rule = wsbnb.Oracle()._compiled(2)[0]
    expected = np.array([[1.0, 3.0, 3.0], [5.0, 3.0, 1.0], [-1.0, -3.0, -0.5]])
    chosen = np.empty(3, dtype=np.int64)
    kernels.run_block(
        rule,
        rules.new_state(rule),
        np.ones((1, 2, 3)),
        expected,
        np.zeros(3),
        np.empty((3, 0)),
        chosen,
        np.empty((0, 4)),
        np.empty((0, 2)),
    )
    assert chosen.tolist() == [1, 0, 2]


@compiled_only
@pytest.mark.parametrize("name", ["WSBLinTS", "DLinTS", "LinTS"])
def test_a_million_rounds(name):
    """Symmetric to the last bit, definite, and equal to a fresh batch at the end."""
    d, K, n = 3, 4, 1_000_000
    policy = zoo.make(name, d)
    arms, _, _, _, _ = block_inputs(policy, 1, K, d, fixed=True)
    theta = np.array([0.3, -0.2, 0.5])
    counts, moments = np.zeros(K), np.zeros(K)
    rng = np.random.default_rng(1)
    size = 50_000
    for _ in range(n // size):
        expected = np.repeat((theta @ arms[0])[None], size, axis=0)
        noise = zoo.SIGMA * rng.standard_normal(size)
        normals = rng.standard_normal((size, d))
        chosen, _, _ = run(policy, arms, expected, noise, normals)
        rewards = expected[0, chosen] + noise
        counts += np.bincount(chosen, minlength=K)
        moments += np.bincount(chosen, weights=rewards, minlength=K)
    if policy.discount < 1.0:  # the last block holds all that is not forgotten
        w = policy.discount ** np.arange(size - 1, -1, -1.0)
        counts = np.bincount(chosen, weights=w, minlength=K)
        moments = np.bincount(chosen, weights=w * rewards, minlength=K)
    X, prior, settings = arms[0].T, policy._rule.prior, policy._rule.settings
    P = prior.P0 + settings.precision * (X.T * counts) @ X
    h = prior.h0 + settings.precision * X.T @ moments
    state = policy._state
    assert state.counts[kernels.CLOCK] == n
    assert (state.P == state.P.T).all() and (state.P_tilde == state.P_tilde.T).all()
    assert np.linalg.eigvalsh(state.P)[0] > 0
    np.testing.assert_allclose(state.P, P, rtol=1e-10)
    np.testing.assert_allclose(state.h, h, rtol=1e-8, atol=1e-8)
    for array in state:
        assert np.isfinite(array).all()


@compiled_only
def test_a_million_rounds_in_a_window():
    policy = zoo.make("SWLinUCB", 2, length=137)
    arms, _, _, _, _ = block_inputs(policy, 1, 3, 2, fixed=True)
    rng = np.random.default_rng(2)
    size = 100_001
    for _ in range(10):
        noise = rng.standard_normal(size)
        expected = np.zeros((size, 3))
        chosen, _, _ = run(policy, arms, expected, noise, np.empty((size, 0)))
    X, r = arms[0].T[chosen[-137:]], noise[-137:]
    V = zoo.LAMBDA * np.eye(2) + X.T @ X
    np.testing.assert_allclose(policy._state.P, V, rtol=1e-12)
    np.testing.assert_allclose(policy._state.h, X.T @ r, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["WSBLinUCB", "DLinUCB", "WSBLinTS", "DLinTS"])
def test_unexcited_directions_keep_the_prior(name):
    """Forgetting without re-injection would let their variance overflow."""
    rounds = 50 if PLAIN else 5000
    policy = zoo.make(name, 3, discount=0.9)
    P0 = policy._rule.prior.P0
    for _ in range(rounds):
        kernels.observe(policy._rule, policy._state, np.array([1.0, 0.0, 0.0]), 0.5)
    np.testing.assert_allclose(policy._state.P[1:, 1:], P0[1:, 1:], rtol=1e-12)
    assert np.isfinite(policy.scores(np.eye(3))).all()
