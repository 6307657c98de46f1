"""The readable algorithms against definitions, written out with inverses and loops."""

import math

import numpy as np
import pytest

from wsbnb.paper import reference
from wsbnb.posterior import WRLS, WSBPosterior

GAMMA, SIGMA, LAMBDA = 0.85, 0.4, 0.3
DELTA, HORIZON, S, L = 0.05, 50, 1.7, 2.5
BOUNDS = dict(delta=DELTA, horizon=HORIZON, param_bound=S, arm_bound=L)


def prior(d):
    rng = np.random.default_rng(d)
    root = rng.standard_normal((d, d)) + np.eye(d)
    return 2.0 * rng.standard_normal(d), root @ root.T + 0.1 * np.eye(d)


def wrls(d):
    return dict(dim=d, regularization=LAMBDA, discount=GAMMA, noise_std=SIGMA)


def wsb(d):
    mean, cov = prior(d)
    return dict(prior_mean=mean, prior_cov=cov, noise_std=SIGMA, discount=GAMMA)


# --- the same thing from the definitions, round by round ---------------------------


def weighted_sums(history, d, power):
    """sum_s w^power x x' and sum_s w^power x r with w = gamma^(age)."""
    gram, moment, squares = np.zeros((d, d)), np.zeros(d), 0.0
    for age, (x, r) in enumerate(reversed(history)):
        w = GAMMA**age
        for i in range(d):
            for j in range(d):
                gram[i, j] += w**power * x[i] * x[j]
            moment[i] += w**power * x[i] * r
        squares += w**2
    return gram, moment, squares


def share(split, t):
    return {
        "horizon": DELTA / HORIZON,
        "none": DELTA,
        "anytime": DELTA / (2 * t * (1 + math.log(t)) ** 2),
    }[split]


def brute_wrls(history, d, split):
    gram, b, squares = weighted_sums(history, d, 1)
    gram2, _, _ = weighted_sums(history, d, 2)
    V, V_tilde = LAMBDA * np.eye(d) + gram, LAMBDA * np.eye(d) + gram2
    log_term = math.log(1 / share(split, len(history) + 1))
    beta = (
        SIGMA
        * math.sqrt(2 * log_term + d * math.log(1 + L**2 * squares / (LAMBDA * d)))
        + math.sqrt(LAMBDA) * S
    )
    return V, V_tilde, b, beta


def brute_wsb(history, d, split, radius, penalty):
    mu0, cov0 = prior(d)
    gram, moment, squares = weighted_sums(history, d, 1)
    P0 = np.linalg.inv(cov0)
    cov = np.linalg.inv(P0 + gram / SIGMA**2)
    mean = cov @ (P0 @ mu0 + moment / SIGMA**2)
    eigenvalues = np.linalg.eigvalsh(cov0)
    size = {"trace": sum(eigenvalues), "lambda_max": max(eigenvalues)}[radius]
    log_term = math.log(1 / share(split, len(history) + 1))
    beta = math.sqrt(
        2 * log_term + d * math.log(1 + size * L**2 * squares / (d * SIGMA**2))
    )
    M = P0 @ cov @ P0
    top = np.linalg.eigvalsh(M)[-1]
    norm = math.sqrt(mu0 @ M @ mu0)
    pi = {
        "triangle": lambda: norm + math.sqrt(top) * S,
        "cxv": lambda: math.sqrt(
            norm**2 + S**2 * top + 2 * S * math.sqrt(mu0 @ M @ M @ mu0)
        ),
        "exact": lambda: ascent(M, mu0),
    }[penalty]()
    return mean, cov, beta + pi


def ascent(M, mu, radius=S, starts=40):
    """Largest ||mu - theta||_M on the sphere by monotone ascent from many starts.

    The function is convex, so stepping to the maximiser of its tangent cannot descend.
    """
    rng = np.random.default_rng(0)
    best = 0.0
    for _ in range(starts):
        theta = rng.standard_normal(mu.size)
        theta *= radius / np.linalg.norm(theta)
        for _ in range(5000):
            gradient = M @ (theta - mu)
            step = radius * gradient / np.linalg.norm(gradient)
            if np.abs(step - theta).max() < 1e-15:
                break
            theta = step
        best = max(best, math.sqrt((theta - mu) @ M @ (theta - mu)))
    return best


def brute_eta(law, z, radius):
    return {
        "rectified": z if z > 0 else 0.0,
        "gaussian": z,
        "half-normal": abs(z),
        "radius": abs(z) * radius,
    }[law]


def play(policy, d, K, brute, rounds=14):
    """Follow one run; at each round compare every score with the brute-force one."""
    rng = np.random.default_rng(100 * d + K)
    history = []
    for _ in range(rounds):
        X = rng.standard_normal((K, d))
        normals = rng.standard_normal(d)
        got = policy.scores(X, normals)
        expected = [brute(history, x, normals) for x in X]
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)
        k = policy.pull(X, normals)
        assert k == int(np.argmax(expected))
        reward = float(rng.standard_normal())
        policy.update(X[k], reward)
        history.append((X[k], reward))


SHAPES = pytest.mark.parametrize("d, K", [(1, 5), (3, 1), (4, 7)])
SPLITS = pytest.mark.parametrize("split", ["horizon", "none", "anytime"])
LAWS = pytest.mark.parametrize(
    "law", ["rectified", "gaussian", "half-normal", "radius"]
)


@SHAPES
@SPLITS
def test_d_linucb(d, K, split):
    def brute(history, x, normals):
        V, V_tilde, b, beta = brute_wrls(history, d, split)
        inverse = np.linalg.inv(V)
        width = math.sqrt(x @ inverse @ V_tilde @ inverse @ x)
        return x @ inverse @ b + beta * width

    play(reference.DLinUCB(**wrls(d), **BOUNDS, split=split), d, K, brute)


@SHAPES
@SPLITS
def test_lb_weightucb(d, K, split):
    def brute(history, x, normals):
        V, _, b, beta = brute_wrls(history, d, split)
        inverse = np.linalg.inv(V)
        return x @ inverse @ b + beta * math.sqrt(x @ inverse @ x)

    play(reference.LBWeightUCB(**wrls(d), **BOUNDS, split=split), d, K, brute)


@SHAPES
@pytest.mark.parametrize("radius", ["trace", "lambda_max"])
@pytest.mark.parametrize(
    "split, penalty",
    [("horizon", "cxv"), ("none", "triangle"), ("anytime", "cxv")],
)
def test_wsb_linucb(d, K, split, radius, penalty):
    def brute(history, x, normals):
        mean, cov, level = brute_wsb(history, d, split, radius, penalty)
        return x @ mean + level * math.sqrt(x @ cov @ x)

    policy = reference.WSBLinUCB(
        **wsb(d), **BOUNDS, split=split, radius=radius, penalty=penalty
    )
    play(policy, d, K, brute)


@pytest.mark.parametrize("d", [1, 3])
def test_wsb_linucb_exact_penalty(d):
    def brute(history, x, normals):
        mean, cov, level = brute_wsb(history, d, "horizon", "trace", "exact")
        return x @ mean + level * math.sqrt(x @ cov @ x)

    policy = reference.WSBLinUCB(**wsb(d), **BOUNDS, penalty="exact")
    play(policy, d, 2, brute, rounds=4)


@SHAPES
@LAWS
def test_d_randlinucb(d, K, law):
    def brute(history, x, normals):
        V, V_tilde, b, beta = brute_wrls(history, d, "horizon")
        inverse = np.linalg.inv(V)
        width = math.sqrt(x @ inverse @ V_tilde @ inverse @ x)
        return x @ inverse @ b + 1.3 * brute_eta(law, normals[0], beta) * width

    bounds = BOUNDS if law == "radius" else {}
    policy = reference.DRandLinUCB(**wrls(d), scale=1.3, perturbation=law, **bounds)
    play(policy, d, K, brute)


@SHAPES
@LAWS
def test_wsb_randlinucb(d, K, law):
    def brute(history, x, normals):
        mean, cov, level = brute_wsb(history, d, "horizon", "trace", "cxv")
        eta = 1.3 * brute_eta(law, normals[0], level)
        return x @ mean + eta * math.sqrt(x @ cov @ x)

    bounds = BOUNDS if law == "radius" else {}
    policy = reference.WSBRandLinUCB(**wsb(d), scale=1.3, perturbation=law, **bounds)
    play(policy, d, K, brute)


@SHAPES
def test_d_lints(d, K):
    def brute(history, x, normals):
        V, V_tilde, b, _ = brute_wrls(history, d, "none")
        inverse = np.linalg.inv(V)
        noise = inverse @ np.linalg.cholesky(V_tilde) @ normals
        return x @ (inverse @ b + 1.3 * noise)

    play(reference.DLinTS(**wrls(d), scale=1.3), d, K, brute)


@SHAPES
def test_wsb_lints(d, K):
    def brute(history, x, normals):
        mean, cov, _ = brute_wsb(history, d, "none", "trace", "cxv")
        root = np.linalg.cholesky(np.linalg.inv(cov))
        return x @ (mean + 1.3 * np.linalg.inv(root).T @ normals)

    play(reference.WSBLinTS(**wsb(d), scale=1.3), d, K, brute)


# --- properties -------------------------------------------------------------------


def trained(policy, d, n=25, unit=1.0):
    rng = np.random.default_rng(7)
    for _ in range(n):
        policy.update(rng.standard_normal(d), unit * rng.standard_normal())
    return policy


def spread(policy, d):
    """J with theta = centre + J normals, read off one coordinate at a time."""
    centre = policy.sampled_parameter(np.zeros(d))
    return np.column_stack([policy.sampled_parameter(e) - centre for e in np.eye(d)])


def test_thompson_draws_have_the_right_covariance():
    d = 4
    policy = trained(reference.WSBLinTS(**wsb(d), scale=1.3), d)
    J = spread(policy, d)
    np.testing.assert_allclose(J @ J.T, 1.69 * np.linalg.inv(policy.P), rtol=1e-9)
    policy = trained(reference.DLinTS(**wrls(d), scale=1.3), d)
    J, inverse = spread(policy, d), np.linalg.inv(policy.V)
    expected = 1.69 * inverse @ policy.V_tilde @ inverse
    np.testing.assert_allclose(J @ J.T, expected, rtol=1e-9)


def test_estimates_agree_with_the_posterior_module():
    d = 3
    mean, cov = prior(d)
    policy = reference.WSBLinTS(**wsb(d))
    post, ridge = (
        WSBPosterior(prior_mean=mean, prior_cov=cov, noise_std=SIGMA, discount=GAMMA),
        WRLS(dim=d, regularization=LAMBDA, discount=GAMMA),
    )
    least = reference.DLinTS(**wrls(d))
    for each in (policy, post, ridge, least):
        trained(each, d)
    np.testing.assert_allclose(policy.P, post.precision, rtol=1e-11)
    np.testing.assert_allclose(
        policy.sampled_parameter(np.zeros(d)), post.mean, rtol=1e-10
    )
    np.testing.assert_allclose(least.V, ridge.V, rtol=1e-13)
    assert policy.squares == pytest.approx(post.squared_weight_sum, rel=1e-14)


@pytest.mark.parametrize("c", [1e-2, 30.0])
def test_reward_units(c):
    """theta, sigma, S and mu0 times c, Sigma0 times c^2: every score times c."""
    d = 3
    rng = np.random.default_rng(0)
    X, normals = rng.standard_normal((6, d)), rng.standard_normal(d)
    big = dict(BOUNDS, param_bound=c * S)
    mean, cov = prior(d)
    wsb_c = dict(wsb(d), prior_mean=c * mean, prior_cov=c**2 * cov, noise_std=c * SIGMA)
    wrls_c = dict(wrls(d), noise_std=c * SIGMA)
    multiple = dict(perturbation="radius")
    pairs = [
        (reference.DLinUCB(**wrls(d), **BOUNDS), reference.DLinUCB(**wrls_c, **big)),
        (
            reference.LBWeightUCB(**wrls(d), **BOUNDS),
            reference.LBWeightUCB(**wrls_c, **big),
        ),
        (
            reference.DRandLinUCB(**wrls(d), **BOUNDS, **multiple),
            reference.DRandLinUCB(**wrls_c, **big, **multiple),
        ),
        (reference.WSBRandLinUCB(**wsb(d)), reference.WSBRandLinUCB(**wsb_c)),
        (reference.WSBLinTS(**wsb(d)), reference.WSBLinTS(**wsb_c)),
        # WRLS knows no reward unit: its perturbation needs the scale to carry it.
        (reference.DRandLinUCB(**wrls(d)), reference.DRandLinUCB(**wrls_c, scale=c)),
        (reference.DLinTS(**wrls(d)), reference.DLinTS(**wrls_c, scale=c)),
    ]
    for form in ("exact", "cxv", "triangle"):
        for radius in ("trace", "lambda_max"):
            choice = dict(penalty=form, radius=radius)
            pairs.append(
                (
                    reference.WSBLinUCB(**wsb(d), **BOUNDS, **choice),
                    reference.WSBLinUCB(**wsb_c, **big, **choice),
                )
            )
    for policy, scaled in pairs:
        trained(policy, d)
        trained(scaled, d, unit=c)
        np.testing.assert_allclose(
            scaled.scores(X, normals), c * policy.scores(X, normals), rtol=1e-9
        )


def penalties(M_root, mu, radius):
    """All three forms for M = M_root' M_root, by choosing P = I and P0 = M^(1/2)."""
    values, vectors = np.linalg.svd(M_root)[1:]
    P0 = (vectors.T * values) @ vectors
    return [
        reference.prior_penalty(P0, np.eye(mu.size), mu, radius, form)
        for form in ("exact", "cxv", "triangle")
    ]


@pytest.mark.parametrize("seed", range(12))
def test_exact_penalty_against_ascent(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    root = rng.standard_normal((d, d)) + np.eye(d)
    mu = rng.standard_normal(d) * 10.0 ** rng.uniform(-2, 1)
    radius = rng.uniform(0.1, 3)
    exact, cxv, triangle = penalties(root, mu, radius)
    brute = ascent(root.T @ root, mu, radius)
    assert exact == pytest.approx(brute, rel=1e-8)
    assert exact >= brute * (1 - 1e-12)
    assert exact <= cxv * (1 + 1e-12) and cxv <= triangle * (1 + 1e-12)
    assert cxv <= 2 / math.sqrt(3) * exact * (1 + 1e-9)
    assert triangle <= math.sqrt(2) * exact * (1 + 1e-9)


@pytest.mark.parametrize("part", [0.0, 1e-14, 1e-9, 1e-5])
def test_exact_penalty_in_and_near_the_hard_case(part):
    """mu (almost) orthogonal to the top eigenvector, short enough to be inside."""
    M = np.diag([4.0, 1.0])
    mu = np.array([part, 0.6])
    exact, _, _ = penalties(np.sqrt(M), mu, 1.0)
    # By hand for part = 0: theta_2 = -0.6 / (4 - 1), the rest of the norm upwards.
    theta_2 = -0.2
    by_hand = math.sqrt(4 * (1 - theta_2**2) + (0.6 - theta_2) ** 2)
    assert exact == pytest.approx(by_hand, rel=1e-12 + 10 * part)
    angle = np.linspace(0, 2 * np.pi, 400_001)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    grid = np.sqrt(
        np.einsum("ik,ij,jk->k", circle - mu[:, None], M, circle - mu[:, None]).max()
    )
    assert exact == pytest.approx(grid, rel=1e-9)


def test_penalty_corner_cases():
    root = np.diag([2.0, 1.0])
    zero = np.zeros(2)
    assert penalties(root, zero, 3.0) == pytest.approx([6.0] * 3)  # sqrt(top) S
    mu = np.array([1.0, 2.0])
    assert penalties(root, mu, 0.0) == pytest.approx([math.sqrt(8.0)] * 3)  # ||mu||_M
    assert penalties(np.eye(2), mu, 1.0) == pytest.approx([math.sqrt(5) + 1] * 3)
    with pytest.raises(ValueError, match="penalty.*'loose'"):
        reference.prior_penalty(np.eye(2), np.eye(2), mu, 1.0, "loose")


def make_all(d):
    return {
        0: [
            reference.DLinUCB(**wrls(d), **BOUNDS),
            reference.LBWeightUCB(**wrls(d), **BOUNDS),
            reference.WSBLinUCB(**wsb(d), **BOUNDS),
        ],
        1: [reference.DRandLinUCB(**wrls(d)), reference.WSBRandLinUCB(**wsb(d))],
        d: [reference.DLinTS(**wrls(d)), reference.WSBLinTS(**wsb(d))],
    }


def test_normals_drawn_per_round():
    d, X = 3, np.random.default_rng(1).standard_normal((9, 3))
    for count, policies in make_all(d).items():
        for policy in policies:
            trained(policy, d)
            rng, copy = np.random.default_rng(4), np.random.default_rng(4)
            for _ in range(3):
                k = policy.pull(X, rng=rng)
                assert k == policy.pull(X, copy.standard_normal(count))
            assert rng.random() == copy.random()


def test_scores_change_nothing_and_ties_go_first():
    d, arm = 3, np.array([0.2, -1.0, 0.7])
    X = np.stack([arm, arm, arm])
    normals = np.array([0.3, 1.0, -0.2])
    for policies in make_all(d).values():
        for policy in policies:
            assert policy.pull(X, normals) == 0
            assert policy.pull(X[:1], normals) == 0
            trained(policy, d)
            before = X.copy()
            first = policy.scores(X, normals)
            np.testing.assert_array_equal(first, policy.scores(X, normals))
            np.testing.assert_array_equal(X, before)


def test_equal_norm_arms_tie_in_the_first_round():
    """P0 proportional to I and unit arms: rounding must not pick the arm."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((48, 5))
    X /= np.linalg.norm(X, axis=1)[:, None]
    common = dict(noise_std=SIGMA, discount=GAMMA)
    policies = [
        reference.DLinUCB(5, 1.0, **common, **BOUNDS),
        reference.LBWeightUCB(5, 1.0, **common, **BOUNDS),
        reference.WSBLinUCB(np.zeros(5), np.eye(5), **common, **BOUNDS),
    ]
    assert [policy.pull(X) for policy in policies] == [0, 0, 0]


def test_no_discounting():
    d = 2
    policy = reference.WSBLinTS(*prior(d), SIGMA, 1.0)
    trained(policy, d, n=25)
    assert policy.squares == 25
    rng = np.random.default_rng(7)
    P = np.linalg.inv(prior(d)[1])
    for _ in range(25):
        x = rng.standard_normal(d)
        rng.standard_normal()
        P = P + np.outer(x, x) / SIGMA**2
    np.testing.assert_allclose(policy.P, P, rtol=1e-12)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: reference.DRandLinUCB(**wrls(2), perturbation="radius"), "delta"),
        (lambda: reference.WSBRandLinUCB(**wsb(2), perturbation="radius"), "delta"),
        (lambda: reference.WSBLinUCB(**wsb(2), **BOUNDS, radius="det"), "radius.*det"),
        (lambda: reference.perturbation("cauchy", 1.0), "perturbation.*'cauchy'"),
        (lambda: reference.log_inverse_delta(0.1, 9, "half", 1), "split.*'half'"),
    ],
)
def test_unknown_words(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_best_score_of_zero_is_the_best():
    policy = reference.WSBLinTS([1.0], [[1.0]], SIGMA, GAMMA)
    X = np.array([[-1.0], [0.0], [-2.0]])  # drawn without luck: the prior mean
    assert policy.pull(X, np.zeros(1)) == 1
