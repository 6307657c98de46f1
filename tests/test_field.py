"""Worlds beside the paper's, hindsight, and weighted Gaussian processes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import wsbnb
from tests import zoo
from wsbnb.paper import field
from wsbnb.paper.gaussian import (
    FourierFeatures,
    NystroemFeatures,
    WeightedGPUCB,
    squared_exponential,
)
from wsbnb.results import Results


@pytest.mark.parametrize("world", field.WORLDS)
@pytest.mark.parametrize("dim", [2, 5])
def test_worlds_are_what_they_are_called(world, dim):
    env = field.field_environment(world, dim, horizon=400)
    theta = env.world(1).parameters(0, 400)
    steps = np.linalg.norm(np.diff(theta, axis=0), axis=1)
    moved = np.count_nonzero(steps > 1e-12)
    expected = {"jumps": 3, "often": 19, "still": 0}.get(world, 399)
    if world == "moves":  # the tour may stand on a corner for a round
        moved = max(moved, 399) if moved >= 396 else moved
    assert moved == expected and env.n_arms == 48
    assert env.noise_std == pytest.approx(0.15**0.5)


def test_reverting_path_is_stationary():
    rng = np.random.default_rng(0)
    ends = np.array([field.reverting_path(rng, 40, 3)[[0, -1]] for _ in range(3000)])
    start, end = ends[:, 0], ends[:, 1]
    for points in (start, end):
        np.testing.assert_allclose(points.std(axis=0), 3**-0.5, rtol=0.06)
    kept = np.exp(-39 / field.RELAXATION)
    np.testing.assert_allclose(3 * (start * end).mean(axis=0), kept, atol=0.06)


def test_a_walk_has_steps_of_0_02_and_a_tour_comes_home():
    walk = field.field_environment("walks", 3, horizon=50).world(0).parameters(0, 50)
    steps = np.linalg.norm(np.diff(walk, axis=0), axis=1)
    np.testing.assert_allclose(steps, 0.02, rtol=1e-9)
    tour = field.field_environment("moves", 3).world(0).parameters(0, 4000)
    assert np.linalg.norm(tour[-1] - tour[0]) < 0.01
    assert np.linalg.norm(tour[2000] - tour[0]) > 1.0


@pytest.mark.parametrize("world", field.WORLDS)
def test_parameters_lie_in_the_ball_that_policies_are_told(world):
    env = field.field_environment(world, 2)
    assert env.param_bound == (10.0 if world == "reverts" else 1.0)
    lengths = np.linalg.norm(env.world(0).parameters(0, 4000), axis=1)
    assert lengths.max() <= env.param_bound * (1 + 1e-12)


def test_a_reverting_path_forgets_within_300_rounds():
    path = field.reverting_path(np.random.default_rng(0), 40_000, 3)
    kept = (path[1:] * path[:-1]).sum() / (path[:-1] ** 2).sum()
    assert -1 / np.log(kept) == pytest.approx(300, rel=0.2)  # 3 standard errors


def test_fixed_memories_play_as_their_names_say():
    found = field.fixed_memories(field.field_environment("still", 3, 100), size=4)
    scales = []
    for name, policy in found.items():
        memory, scale = (words.split()[1] for words in name.split(", "))
        forgotten = 0.0 if memory == "∞" else 1 / float(memory)
        assert 1 - policy.discount == pytest.approx(forgotten, rel=0.02)
        assert policy.scale == float(scale) and policy.noise_std == 0.15**0.5
        np.testing.assert_array_equal(policy.prior_cov, np.eye(3))
        scales.append(policy.scale)
    assert sorted(scales) == [0.25] * 4 + [0.5] * 4 + [1.0] * 4


def test_unknown_world():
    with pytest.raises(ValueError, match="world"):
        field.field_environment("quick", 2)


def test_hindsight_by_hand():
    final = {"memory 10, scale 1": [2.0, 4.0], "memory ∞, scale 1": [5.0, 5.0]}
    final["mine"] = [3.0, 9.0]
    regret = np.array(list(final.values())).T[:, :, None]
    played = Results(regret, list(final), np.arange(2), np.array([7]))
    row = field.against_hindsight(played).loc["mine"]
    assert row.regret == 6.0 and row.ratio == 2.0 and row.best == "memory 10, scale 1"
    assert row.low == pytest.approx(1.5) and row.high == pytest.approx(2.25)
    assert isinstance(field.against_hindsight(played), pd.DataFrame)


def test_hindsight_has_a_bootstrap_interval_of_95_per_cent():
    mine = np.random.default_rng(0).exponential(size=30)
    regret = np.column_stack([np.ones(30), mine])[:, :, None]
    names = ["memory 10, scale 1", "mine"]
    played = Results(regret, names, np.arange(30), np.array([7]))
    row = field.against_hindsight(played, draws=20_000).loc["mine"]
    known = stats.bootstrap(
        [mine], np.mean, n_resamples=20_000, method="percentile", rng=1
    )
    expected = known.confidence_interval
    assert (row.low, row.high) == pytest.approx(expected, abs=0.02)


# --- Gaussian processes ---------------------------------------------------------------


def gp(**changes):
    words = dict(dim=2, length=0.7, noise_std=zoo.SIGMA, discount=0.9, width=1.5)
    return WeightedGPUCB(**{**words, **changes})


def test_process_is_a_weighted_posterior_on_its_features(monkeypatch):
    """With an inner product for a kernel it is WSB, weights and all."""
    rng = np.random.default_rng(2)
    X, rewards, new = rng.standard_normal((15, 2)), rng.standard_normal(15), np.eye(2)
    new = new / np.linalg.norm(new, axis=1, keepdims=True)  # k(x, x) = 1
    monkeypatch.setattr(
        "wsbnb.paper.gaussian.squared_exponential", lambda A, B, length: A @ B.T
    )
    policy = gp()
    policy.update(X, rewards)
    w = 0.9 ** np.arange(14, -1, -1)
    mean, cov = wsbnb.batch_posterior(X, rewards, w, np.zeros(2), 1.0, zoo.SIGMA)
    found, variance = policy.posterior_at(new)
    np.testing.assert_allclose(found, new @ mean)
    np.testing.assert_allclose(variance, np.einsum("ka,ab,kb->k", new, cov, new))
    np.testing.assert_allclose(policy.scores(new), found + 1.5 * np.sqrt(variance))
    assert policy.pull(new) == np.argmax(policy.scores(new))


@pytest.mark.parametrize("discount", [1.0, 0.8])
def test_process_is_the_dense_formula(discount):
    rng = np.random.default_rng(4)
    X, rewards, new = rng.uniform(size=(9, 2)), rng.normal(size=9), rng.uniform(size=2)
    policy = gp(discount=discount)
    policy.update(X, rewards)

    def k(a, b):
        return np.exp(-((a - b) @ (a - b)) / (2 * 0.7**2))

    noise = zoo.SIGMA**2 / discount ** np.arange(8, -1, -1)
    inverse = np.linalg.inv([[k(a, b) for b in X] for a in X] + np.diag(noise))
    across = np.array([k(a, new) for a in X])
    mean, variance = policy.posterior_at([new])
    expected = across @ inverse @ rewards, 1 - across @ inverse @ across
    assert (mean[0], variance[0]) == pytest.approx(expected)
    plain = WeightedGPUCB(
        dim=2, length=0.7, noise_std=zoo.SIGMA, discount=discount
    )  # one standard deviation
    plain.update(X, rewards)
    total = expected[0] + np.sqrt(expected[1])
    assert plain.scores([new])[0] == pytest.approx(total)


def test_old_observations_fade_out_and_nothing_breaks():
    policy = gp(discount=0.5)
    policy.update([[0.0, 0.0]], [3.0])
    policy.update(np.full((2000, 2), 9.0), np.ones(2000))
    mean, variance = policy.posterior_at([[0.0, 0.0]])
    assert abs(mean[0]) < 1e-6 and variance[0] == pytest.approx(1.0)


def test_newest_only():
    policy, other = gp(newest=4), gp()
    rng = np.random.default_rng(0)
    X, rewards = rng.uniform(size=(9, 2)), rng.standard_normal(9)
    policy.update(X, rewards)
    other.update(X[5:], rewards[5:])
    assert policy.size == 4
    np.testing.assert_allclose(policy.scores(X), other.scores(X))
    policy.reset()
    assert policy.size == 0 and policy.scores(X).tolist() == [1.5] * 9


def test_features_approach_the_kernel():
    A = np.random.default_rng(1).uniform(size=(6, 3))
    exact = squared_exponential(A, A, 0.8)
    direct = np.exp(-((A[:, None] - A) ** 2).sum(-1) / (2 * 0.8**2))
    np.testing.assert_allclose(exact, direct)
    phi = FourierFeatures(dim=3, features=40_000, length=0.8, rng=0)(A)
    np.testing.assert_allclose(phi @ phi.T, exact, atol=0.03)
    near = FourierFeatures(dim=3, features=40_000, length=0.8, rng=0)(np.zeros((1, 3)))
    assert near @ near.T == pytest.approx(1, abs=0.03)  # phases go all the way round


def test_points_reproduce_the_kernel():
    """Exactly with one of the points; elsewhere by the formula, and never too much."""
    rng = np.random.default_rng(1)
    Z, A = rng.uniform(size=(7, 3)), rng.uniform(size=(6, 3))
    phi = NystroemFeatures(points=Z, length=0.8)
    np.testing.assert_allclose(
        phi(A) @ phi(Z).T, squared_exponential(A, Z, 0.8), atol=1e-6
    )
    across = squared_exponential(A, Z, 0.8)
    inner = across @ np.linalg.solve(squared_exponential(Z, Z, 0.8), across.T)
    np.testing.assert_allclose(phi(A) @ phi(A).T, inner, atol=1e-6)
    assert ((phi(A) ** 2).sum(axis=1) <= 1 + 1e-9).all() and phi.size == 7
    many = NystroemFeatures(points=rng.uniform(size=(300, 3)), length=0.8)
    exact = squared_exponential(A, A, 0.8)
    np.testing.assert_allclose(many(A) @ many(A).T, exact, atol=1e-3)
    assert many.size < 300  # the kernel is smooth: fewer directions than points
    K = squared_exponential(many.points, many.points, 0.8)
    assert many.size == np.linalg.matrix_rank(K, rtol=1e-10, hermitian=True)


def test_a_linear_policy_on_points_is_the_process():
    """With all observed arms among the points: the exact posterior mean."""
    rng = np.random.default_rng(3)
    X, rewards = rng.uniform(size=(12, 2)), rng.standard_normal(12)
    phi = NystroemFeatures(points=X, length=0.7)
    post = wsbnb.WSBPosterior(
        prior_mean=np.zeros(phi.size),
        prior_cov=1.0,
        noise_std=zoo.SIGMA,
        discount=0.9,
    )
    policy, Z = gp(), phi(X)
    policy.update(X, rewards)
    for z, r in zip(Z, rewards, strict=True):
        post.update(z, r)
    mean, variance = policy.posterior_at(X)
    np.testing.assert_allclose(Z @ post.mean, mean, atol=1e-6)
    spread = np.einsum("ka,ab,kb->k", Z, post.cov, Z)
    np.testing.assert_allclose(spread, variance, atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"length": 0.0}, "length"),
        ({"discount": 1.5}, "discount"),
        ({"newest": 0}, "newest"),
        ({"width": -1.0}, "width"),
        ({"dim": 0}, "dim"),
    ],
)
def test_bad_settings(changes, word):
    with pytest.raises(ValueError, match=word):
        gp(**changes)
