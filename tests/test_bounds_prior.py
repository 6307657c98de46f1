"""Prior penalty: the secular equation against brute force, and its neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from wsbnb.bounds import (
    prior_penalty,
    prior_penalty_at_start,
    prior_penalty_floor,
    prior_penalty_maximiser,
    static_prior_penalty,
)


def ascent(mu, M, S, rng, starts=24, steps=20_000):
    """Multistart ascent: theta <- S g/|g| with g the gradient, monotone here."""
    theta = rng.standard_normal((starts, mu.size))
    # Start also at both ends of every eigenvector, whence the best basin is near.
    axes = np.linalg.eigh(M)[1].T
    theta = np.vstack([theta, axes, -axes])
    theta *= S / np.linalg.norm(theta, axis=1, keepdims=True)
    for _ in range(steps):
        gradient = (theta - mu) @ M
        new = S * gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
        moved = np.abs(new - theta).max()
        theta = new
        if moved < 1e-15 * S:
            break
    gaps = theta - mu
    return np.sqrt(np.einsum("ij,jk,ik->i", gaps, M, gaps).max())


def random_problem(rng):
    d = rng.integers(1, 6)
    root = rng.standard_normal((d, d)) * 10 ** rng.uniform(-0.7, 0.7, d)
    prior_cov = root @ root.T + 0.05 * np.eye(d)
    X = rng.standard_normal((rng.integers(1, 9), d))
    cov = np.linalg.inv(np.linalg.inv(prior_cov) + X.T @ X / rng.uniform(0.05, 5))
    mean = rng.standard_normal(d) * 10 ** rng.uniform(-2, 2)
    return mean, prior_cov, (cov + cov.T) / 2, 10 ** rng.uniform(-1, 1)


def matrix_of(prior_cov, cov):
    inverse = np.linalg.inv(prior_cov)
    M = inverse @ cov @ inverse
    return (M + M.T) / 2


def test_exact_form_equals_multistart_ascent():
    rng = np.random.default_rng(1)
    for _ in range(120):
        mean, prior_cov, cov, S = random_problem(rng)
        M = matrix_of(prior_cov, cov)
        value, theta = prior_penalty_maximiser(mean, prior_cov, cov, S)
        assert value == pytest.approx(ascent(mean, M, S, rng), rel=1e-9)
        assert value == prior_penalty(mean, prior_cov, cov, S)
        assert np.linalg.norm(theta) == pytest.approx(S, rel=1e-13)
        gap = mean - theta
        assert np.sqrt(gap @ M @ gap) == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("u", [1e-8, 0.1, 1 / 3, 0.5, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("n", [1e-9, 0.3, 1.0, 3.0])
def test_prior_mean_orthogonal_to_the_top_eigenvector(u, n):
    """On the circle the problem is one-dimensional: compare with a fine search."""
    value, theta = prior_penalty_maximiser([0.0, n], np.eye(2), np.diag([1.0, u]), 1.0)

    def negative(z):
        return -((1 - z * z) + u * (n - z) ** 2)

    best = max(
        -minimize_scalar(
            negative, bounds=(-1, 1), method="bounded", options=dict(xatol=1e-12)
        ).fun,
        -negative(-1.0),
    )
    assert value == pytest.approx(np.sqrt(best), rel=1e-9)
    if u * n < (1 - u) * 0.999:  # the hard case: interior stationary point
        assert value == pytest.approx(np.sqrt(1 + u * n**2 / (1 - u)), rel=1e-12)
        assert theta[1] == pytest.approx(-u * n / (1 - u), rel=1e-6)
        assert abs(theta[0]) > 0


def test_hard_case_is_the_limit_of_easy_cases():
    exact = prior_penalty([0.0, 0.5], np.eye(2), np.diag([1.0, 0.5]), 1.0)
    for tiny in (1e-6, 1e-12, 1e-18, 1e-200):
        near = prior_penalty([tiny, 0.5], np.eye(2), np.diag([1.0, 0.5]), 1.0)
        assert exact * (1 - 1e-15) <= near <= exact + 2 * tiny + 1e-15


def test_repeated_top_eigenvalue():
    cov = np.diag([1.0, 1.0, 1 / 3])
    value, theta = prior_penalty_maximiser([0.0, 0.0, 1.0], np.eye(3), cov, 1.0)
    assert value == pytest.approx(np.sqrt(1.5), rel=1e-14)
    assert np.linalg.norm(theta) == pytest.approx(1.0)
    # A multiple of the identity: everything is a scalar problem.
    for d in (2, 5):
        mean = np.arange(1.0, d + 1)
        value = prior_penalty(mean, 2 * np.eye(d), 0.5 * np.eye(d), 3.0)
        by_hand = (np.linalg.norm(mean) + 3.0) * np.sqrt(0.5) / 2
        assert value == pytest.approx(by_hand, rel=1e-14)
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    cov = Q @ np.diag([1.0, 1.0, 0.5, 0.2]) @ Q.T
    cov = (cov + cov.T) / 2
    mean = Q @ [0.0, 0.0, 0.3, 0.2]
    dual = 1 + 0.5 * 0.3**2 / 0.5 + 0.2 * 0.2**2 / 0.8
    value = prior_penalty(mean, np.eye(4), cov, 1.0)
    assert value == pytest.approx(np.sqrt(dual), rel=1e-12)


def test_one_dimension_zero_ball_and_zero_mean():
    for form in ("exact", "cxv", "triangle"):
        value = prior_penalty([-2.0], [[4.0]], [[0.25]], 3.0, form=form)
        assert value == pytest.approx(5.0 * 0.5 / 4.0, rel=1e-15)
    M = matrix_of(np.diag([1.0, 4.0]), np.array([[0.5, 0.2], [0.2, 1.0]]))
    prior = (np.diag([1.0, 4.0]), np.array([[0.5, 0.2], [0.2, 1.0]]))
    mean = np.array([1.0, -3.0])
    for form in ("exact", "cxv", "triangle"):
        point = prior_penalty(mean, *prior, 0.0, form=form)
        assert point == pytest.approx(np.sqrt(mean @ M @ mean), rel=1e-14)
        centred = prior_penalty([0.0, 0.0], *prior, 2.0, form=form)
        top = np.linalg.eigvalsh(M)[-1]
        assert centred == pytest.approx(2 * np.sqrt(top), rel=1e-14)
    assert prior_penalty([0.0], [[1.0]], [[1.0]], 0.0) == 0.0
    value, theta = prior_penalty_maximiser([0.0, 1.0], *prior, 0.0)
    np.testing.assert_array_equal(theta, np.zeros(2))


@pytest.mark.parametrize("scale", [1e-120, 1e-8, 1.0, 1e8, 1e120])
def test_units_of_theta_do_not_matter(scale):
    mean, prior_cov, cov, S = random_problem(np.random.default_rng(4))
    for form in ("exact", "cxv", "triangle"):
        base = prior_penalty(mean, prior_cov, cov, S, form=form)
        scaled = prior_penalty(
            mean * scale, prior_cov * scale**2, cov * scale**2, S * scale, form=form
        )
        assert scaled == pytest.approx(base, rel=1e-10)


@pytest.mark.parametrize("ratio", [1e-300, 1e-30, 1e30, 1e150])
def test_extreme_ratio_of_ball_and_mean(ratio):
    value = prior_penalty([1.0, 2.0], np.eye(2), np.diag([1.0, 0.5]), ratio)
    triangle = prior_penalty(
        [1.0, 2.0], np.eye(2), np.diag([1.0, 0.5]), ratio, "triangle"
    )
    assert triangle / np.sqrt(2) <= value <= triangle * (1 + 1e-14)


def test_order_and_largest_ratios_on_random_problems():
    rng = np.random.default_rng(5)
    for _ in range(1000):
        mean, prior_cov, cov, S = random_problem(rng)
        exact, cxv, triangle = (
            prior_penalty(mean, prior_cov, cov, S, form=form)
            for form in ("exact", "cxv", "triangle")
        )
        assert exact <= cxv * (1 + 1e-11) and cxv <= triangle * (1 + 1e-11)
        assert cxv <= 2 / np.sqrt(3) * exact * (1 + 1e-11)
        assert triangle <= np.sqrt(2) * exact * (1 + 1e-11)


def test_ratios_are_attained_and_a_search_finds_nothing_worse():
    def ratios(u, n):
        cov = np.diag([1.0, u])
        exact, cxv, triangle = (
            prior_penalty([0.0, n], np.eye(2), cov, 1.0, form=form)
            for form in ("exact", "cxv", "triangle")
        )
        return cxv / exact, triangle / exact

    assert ratios(1 / 3, 1.0)[0] == pytest.approx(2 / np.sqrt(3), rel=1e-14)
    assert ratios(1e-10, 1e5)[1] == pytest.approx(np.sqrt(2), rel=1e-4)
    grid = [
        ratios(u, n)
        for u in np.geomspace(1e-6, 0.999, 25)
        for n in np.geomspace(0.01, 1e4, 25)
    ]
    worst_cxv, worst_triangle = np.max(grid, axis=0)
    assert 1.15 < worst_cxv <= 2 / np.sqrt(3) * (1 + 1e-12)
    assert 1.41 < worst_triangle <= np.sqrt(2) * (1 + 1e-12)


def run_covariances(gamma, T, prior_cov, sigma, rng):
    """Posterior covariances along a run with random unit arms."""
    base = np.linalg.inv(prior_cov)
    P, out = base.copy(), []
    for _ in range(T):
        x = rng.standard_normal(len(base))
        x /= np.linalg.norm(x)
        P = gamma * P + (1 - gamma) * base + np.outer(x, x) / sigma**2
        cov = np.linalg.inv(P)
        out.append((cov + cov.T) / 2)
    return out


def test_penalty_stays_below_its_start_and_above_its_floor_but_rises():
    rng = np.random.default_rng(6)
    mean, prior_cov, sigma = np.array([0.5, -1.0, 0.2]), np.diag([1.0, 0.5, 3.0]), 0.4
    covs = run_covariances(0.95, 300, prior_cov, sigma, rng)
    start = prior_penalty_at_start(mean, prior_cov, 1.0)
    exact_start = prior_penalty(mean, prior_cov, prior_cov, 1.0)
    floor = prior_penalty_floor(mean, prior_cov, sigma, 1.0, 0.95, 1.0)
    path = np.array([prior_penalty(mean, prior_cov, cov, 1.0) for cov in covs])
    assert floor > 0.05
    assert (path >= floor).all()
    assert (path <= exact_start * (1 + 1e-12)).all() and exact_start <= start
    rises = np.diff(path[100:]) > 0
    assert rises.mean() > 0.5, "under forgetting the penalty rises in most rounds"
    for form in ("cxv", "triangle"):
        for cov in covs[::10]:
            assert prior_penalty(mean, prior_cov, cov, 1.0, form) <= start * (1 + 1e-12)


def test_without_forgetting_the_penalty_falls_and_has_no_floor():
    rng = np.random.default_rng(8)
    mean, prior_cov = np.array([0.5, -1.0]), np.diag([1.0, 0.5])
    covs = run_covariances(1.0, 300, prior_cov, 0.4, rng)
    path = np.array([prior_penalty(mean, prior_cov, cov, 1.0) for cov in covs])
    assert (np.diff(path) <= 1e-12).all() and path[-1] < 0.1 * path[0]
    assert prior_penalty_floor(mean, prior_cov, 0.4, 1.0, 1.0, 1.0) == 0.0


def test_start_bound_by_hand_and_static_penalty():
    mean, prior_cov = np.array([1.0, 2.0]), np.array([[2.0, 0.3], [0.3, 0.5]])
    inverse = np.linalg.inv(prior_cov)
    by_hand = np.sqrt(mean @ inverse @ mean) + 1.5 * np.sqrt(
        np.linalg.eigvalsh(inverse)[-1]
    )
    assert prior_penalty_at_start(mean, prior_cov, 1.5) == pytest.approx(by_hand, 1e-13)
    # WRLS is the prior (sigma^2 / lambda) I; it starts at sqrt(lambda) S / sigma.
    start = prior_penalty_at_start(np.zeros(2), 0.15 / 3.0 * np.eye(2), 1.5)
    static = static_prior_penalty(3.0, 1.5)
    assert start == pytest.approx(static / np.sqrt(0.15), rel=1e-13)


@settings(max_examples=200, deadline=None)
@given(
    prior=st.lists(st.floats(-6, 6), min_size=1, max_size=5),
    # Zero or not so small that the test's own squares underflow.
    S=st.just(0.0) | st.floats(1e-100, 1e3),
    size=st.just(0.0) | st.floats(1e-100, 1e3),
    seed=st.integers(0, 2**32 - 1),
)
def test_ill_conditioned_priors_keep_order_and_attainment(prior, S, size, seed):
    rng = np.random.default_rng(seed)
    d = len(prior)
    variances = 10.0 ** np.array(prior)
    # A diagonal posterior has exact eigenvalues, whatever the condition number.
    shrink = 1.0 / (1.0 + 10 ** rng.uniform(-6, 6, d) * variances)
    cov = np.diag(variances * shrink)
    mean = size * rng.standard_normal(d)
    exact, cxv, triangle = (
        prior_penalty(mean, np.diag(variances), cov, S, form=form)
        for form in ("exact", "cxv", "triangle")
    )
    assert exact <= cxv * (1 + 1e-10) and cxv <= triangle * (1 + 1e-10)
    assert cxv <= 2 / np.sqrt(3) * exact * (1 + 1e-10)
    value, theta = prior_penalty_maximiser(mean, np.diag(variances), cov, S)
    attained = np.linalg.norm(np.sqrt(shrink / variances) * (mean - theta))
    assert attained == pytest.approx(value, rel=1e-8)
    for _ in range(20):
        other = rng.standard_normal(d)
        other *= S / np.linalg.norm(other)
        value_there = np.linalg.norm(np.sqrt(shrink / variances) * (mean - other))
        assert value_there <= exact * (1 + 1e-10)


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(form="best"), "form"),
        (dict(prior_mean=[1.0]), "prior_cov"),
        (dict(prior_cov=-np.eye(2)), "prior_cov"),
        (dict(cov=[[1.0, 2.0], [0.0, 1.0]]), "cov"),
        (dict(param_bound=-1.0), "param_bound"),
        (dict(prior_mean=[np.inf, 0.0]), "prior_mean"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = dict(
        prior_mean=[0.0, 1.0], prior_cov=np.eye(2), cov=np.eye(2), param_bound=1.0
    )
    with pytest.raises(ValueError, match=message):
        prior_penalty(**(arguments | change))


@pytest.mark.parametrize("form", ["exact", "triangle"])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_floor_is_the_penalty_where_all_arms_have_been_played(form, d):
    """The dense covariance with the largest precision that forgetting allows.

    In two dimensions a matrix of eigenvectors may be symmetric.
    """
    root = np.random.default_rng(d).standard_normal((d, d))
    mean, prior_cov = 0.5 - np.arange(d), 0.1 * np.eye(d) + root @ root.T / d
    sigma, L, gamma, S = 0.4, 1.7, 0.95, 1.3
    most = np.linalg.inv(prior_cov) + L**2 / (sigma**2 * (1 - gamma)) * np.eye(d)
    cov = np.linalg.inv(most)
    expected = prior_penalty(mean, prior_cov, (cov + cov.T) / 2, S, form)
    said = prior_penalty_floor(mean, prior_cov, sigma, L, gamma, S, form)
    assert said == pytest.approx(expected, rel=1e-12)
    # Arms of length zero teach nothing, however long they are remembered.
    start = prior_penalty(mean, prior_cov, prior_cov, S, form)
    for discount in (gamma, 1.0):
        nothing = prior_penalty_floor(mean, prior_cov, sigma, 0.0, discount, S, form)
        assert nothing == pytest.approx(start, rel=1e-12)


def test_a_form_without_a_floor_is_refused():
    with pytest.raises(ValueError, match="form must be one of 'exact', 'triangle'"):
        prior_penalty_floor([0.5], [[1.0]], 1.0, 1.0, 0.9, 1.0, "cxv")


@pytest.mark.parametrize("tiny", [1e-100, 1e-200, 1e-310, 5e-324])
def test_a_mean_next_to_nothing_is_nothing(tiny):
    cov = np.diag([0.5, 0.25])
    said = prior_penalty([tiny, -tiny], np.eye(2), cov, 1.0)
    assert said == pytest.approx(np.sqrt(0.5), rel=1e-14)


def test_a_floor_that_underflows_is_refused_by_name():
    with pytest.raises(ValueError, match="noise_std must be less extreme"):
        prior_penalty_floor([0.5], [[1e20]], 1e-150, 1.0, 0.9, 1.0)


@pytest.mark.parametrize("S", [1e-3, 0.2, 1.1, 50.0])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_the_farthest_point_has_no_better_neighbour(d, S):
    """Zero mean, identity prior; and all axes pulled but one."""
    rng = np.random.default_rng(d)
    root = rng.standard_normal((d, d))
    cov = np.linalg.inv(np.eye(d) + root @ root.T)
    cov = (cov + cov.T) / 2
    for mean in (np.zeros(d), np.eye(d)[0], np.linalg.eigh(cov)[1][:, 0]):
        value, theta = prior_penalty_maximiser(mean, np.eye(d), cov, S)
        assert np.linalg.norm(theta) == pytest.approx(S, rel=1e-13)
        assert np.sqrt((mean - theta) @ cov @ (mean - theta)) == pytest.approx(value)
        assert value == pytest.approx(ascent(mean, cov, S, rng), rel=1e-9)
