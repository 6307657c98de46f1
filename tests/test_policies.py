"""The policies against the readable algorithms, by hand, and in other units."""

import math

import numpy as np
import pytest
from scipy import stats

import wsbnb
from tests import zoo
from wsbnb import exploration
from wsbnb.paper import reference
from wsbnb.policies import oracle

SHAPES = pytest.mark.parametrize("d, K", [(1, 5), (3, 1), (4, 7)])
DISCOUNTS = pytest.mark.parametrize("discount", [0.85, 1.0])


def reference_of(name, policy):
    """The readable algorithm, which has no factor on its radius."""
    arguments = {k: v for k, v in policy.get_params().items() if k != "radius_scale"}
    return getattr(reference, name)(**arguments)


def follow(name, d, K, rounds=250, rtol=1e-9, **changes):
    """Both implementations on the same arms, rewards and normals, round by round.

    Yields what the compiled policy explains and the other's scores, before each pull.
    """
    policy = zoo.make(name, d, rng=5, **changes)
    readable = reference_of(name, policy)
    normals = np.random.default_rng(5)
    X, rewards = zoo.problem(10 * d + K, rounds, d, K)
    for arms, paid in zip(X, rewards, strict=True):
        z = normals.standard_normal(policy.n_normals)
        yield policy, readable, arms, z
        k = policy.pull(arms)
        policy.update(arms[k], paid[k])
        readable.update(arms[k], paid[k])


def assert_same_scores(run, rtol=1e-9):
    for policy, readable, arms, z in run:
        expected = readable.scores(arms, z)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            policy.scores(arms), expected, rtol=rtol, atol=1e-11 * scale
        )
        assert policy.copy().pull(arms) == readable.pull(arms, z)


# --- the seven, step by step ---------------------------------------------------------


@SHAPES
@DISCOUNTS
@pytest.mark.parametrize("name", [name for name in zoo.SEVEN if name != "WSBLinUCB"])
def test_same_scores_as_the_readable_algorithm(name, d, K, discount):
    assert_same_scores(follow(name, d, K, discount=discount))


@SHAPES
@DISCOUNTS
@pytest.mark.parametrize("radius", ["trace", "lambda_max"])
def test_wsb_linucb_with_exact_penalty(d, K, discount, radius):
    run = follow(
        "WSBLinUCB", d, K, 150, discount=discount, penalty="exact", radius=radius
    )
    assert_same_scores(run)


@SHAPES
@DISCOUNTS
@pytest.mark.parametrize("penalty", ["cxv", "triangle"])
def test_wsb_linucb_with_a_certified_penalty(d, K, discount, penalty):
    """Never below the true radius, and soon close to it."""
    ratios = []
    run = follow("WSBLinUCB", d, K, discount=discount, penalty=penalty)
    for policy, readable, arms, _ in run:
        factor = np.linalg.cholesky(readable.P)
        radius = readable._radius(factor)
        parts = policy.explain(arms)
        ratios.append(parts["radius"] / radius)
        plain = readable.scores(arms) - parts["mean"]
        np.testing.assert_allclose(plain, radius * parts["width"], rtol=1e-7, atol=1e-9)
    assert min(ratios) >= 1.0 - 1e-12
    assert np.mean(ratios[20:]) < 1.02


@pytest.mark.parametrize("name", zoo.SEVEN)
@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_more_dimensions_than_rounds(name):
    changes = {"penalty": "exact"} if name == "WSBLinUCB" else {}
    assert_same_scores(follow(name, 20, 6, rounds=10, **changes), rtol=1e-7)


@pytest.mark.parametrize("split", exploration.SPLITS)
@pytest.mark.parametrize("name", ["DLinUCB", "LBWeightUCB", "WSBLinUCB"])
def test_splits(name, split):
    changes = {"penalty": "exact"} if name == "WSBLinUCB" else {}
    assert_same_scores(follow(name, 3, 5, rounds=120, split=split, **changes))


@pytest.mark.parametrize("law", list(exploration._LAWS))
@pytest.mark.parametrize("name", ["DRandLinUCB", "WSBRandLinUCB"])
def test_perturbation_laws(name, law):
    changes = {**zoo.BOUNDS, "perturbation": law}
    if name == "WSBRandLinUCB":
        changes["penalty"] = "exact"
    assert_same_scores(follow(name, 3, 5, rounds=120, **changes))


# --- what a mistake in the formulas would change -------------------------------------


def test_ridge_and_noise_enter_as_written():
    """One observation by hand, with lambda, sigma, S, L, a away from 1."""
    lam, sigma, x, r = 4.0, 0.5, 2.0, 3.0
    policy = wsbnb.LBWeightUCB(
        dim=1,
        regularization=lam,
        discount=0.9,
        noise_std=sigma,
        delta=0.1,
        horizon=100,
        param_bound=3.0,
        arm_bound=2.0,
    )
    policy.update([x], r)
    V = 0.9 * lam + 0.1 * lam + x**2
    beta = sigma * math.sqrt(2 * math.log(100 / 0.1) + math.log(1 + 4.0 / lam)) + 6.0
    expected = [k * r * x / V + beta * abs(k) / math.sqrt(V) for k in (1.0, -0.5)]
    np.testing.assert_allclose(policy.scores([[1.0], [-0.5]]), expected, rtol=1e-13)


def test_local_norm_by_hand():
    gamma, lam, sigma = 0.5, 3.0, 0.4
    policy = wsbnb.DLinUCB(
        dim=1, regularization=lam, discount=gamma, noise_std=sigma, horizon=100
    )
    policy.update([[1.0], [2.0]], [1.0, 0.0])
    V = lam + gamma * 1.0 + 4.0
    V_tilde = lam + gamma**2 * 1.0 + 4.0
    said = policy.explain([[1.0]])
    # Widths are those of the posterior, the radius is counted in them.
    assert said["width"][0] == pytest.approx(sigma * math.sqrt(V_tilde) / V, rel=1e-14)
    squares = 1.0 + gamma**2
    beta = math.sqrt(2 * math.log(100 / 0.05) + math.log(1 + squares / lam))
    penalty = math.sqrt(lam) / sigma
    assert said["penalty"] == pytest.approx(penalty, rel=1e-14)
    assert said["radius"] == pytest.approx(beta + penalty, rel=1e-14)


@pytest.mark.parametrize("name", ["WSBLinTS", "LinTS", "DLinTS"])
def test_thompson_draws_have_the_right_covariance(name):
    """A sampler that took the precision for the covariance would fail here."""
    policy = zoo.make(name, 2, rng=1)
    X, rewards = zoo.problem(4, 15, 2, 1)
    policy.update(X[:, 0], rewards[:, 0])
    draws = np.empty((3000, 2))
    for draw in draws:
        draw[:] = policy.scores(np.eye(2))
        policy.pull(np.eye(2))
    cov = covariance_of_a_draw(name, X[:, 0])
    white = (draws - policy.posterior.mean) @ np.linalg.cholesky(np.linalg.inv(cov))
    np.testing.assert_allclose(white.mean(axis=0), 0.0, atol=0.08)
    np.testing.assert_allclose(np.cov(white.T), np.eye(2), atol=0.12)
    assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3


def covariance_of_a_draw(name, X):
    """By its definition, from the arms that were played."""
    gamma = 1.0 if name == "LinTS" else zoo.GAMMA
    w = gamma ** np.arange(len(X) - 1.0, -1.0, -1.0)
    if name == "WSBLinTS":
        P = np.linalg.inv(zoo.prior(2)[1]) + (w[:, None] * X).T @ X / zoo.SIGMA**2
        return 0.7**2 * np.linalg.inv(P)
    ridge = zoo.LAMBDA * np.eye(2)
    inverse = np.linalg.inv(ridge + (w[:, None] * X).T @ X)
    squared = ridge + (w[:, None] ** 2 * X).T @ X
    return 0.7**2 * (inverse @ squared @ inverse if name == "DLinTS" else inverse)


# --- units of the reward -------------------------------------------------------------


def in_units(name, c, **changes):
    """The same problem with rewards counted in units c times smaller."""
    mean, cov = zoo.prior(3)
    policy = zoo.settings(name, 3)
    policy["noise_std"] *= c
    if "prior_mean" in policy:
        policy["prior_mean"], policy["prior_cov"] = c * mean, c**2 * cov
    if "param_bound" in policy:
        policy["param_bound"] *= c
    if name in ("DRandLinUCB", "DLinTS", "LinTS"):
        policy["scale"] *= c  # its perturbation does not know sigma
    return getattr(wsbnb, name)(**{**policy, **changes}, rng=3)


@pytest.mark.parametrize("c", [2.0**-12, 2.0**20, 1000.0, 1e-5])
@pytest.mark.parametrize("name", [*zoo.SEVEN, "LinTS", "LinUCB", "SWLinUCB"])
def test_reward_units(name, c):
    one, other = in_units(name, 1.0), in_units(name, c)
    X, rewards = zoo.problem(6, 150, 3, 6)
    exact = math.log2(c).is_integer()
    # Trials for the eigenvalue bound may end a step apart after rounding.
    rtol = 1e-12 if exact else 1e-2 if name == "WSBLinUCB" else 1e-8
    for arms, paid in zip(X, rewards, strict=True):
        scores = other.scores(arms)
        np.testing.assert_allclose(
            scores, c * one.scores(arms), rtol=rtol, atol=c * rtol
        )
        k = one.pull(arms)
        assert other.pull(arms) == k
        one.update(arms[k], paid[k])
        other.update(arms[k], c * paid[k])


@pytest.mark.parametrize("law", list(exploration._LAWS))
def test_reward_units_of_randomised_ucb(law):
    changes = {"perturbation": law, "delta": 0.05, "horizon": 300, "penalty": "exact"}
    one = in_units("WSBRandLinUCB", 1.0, param_bound=1.7, **changes)
    other = in_units("WSBRandLinUCB", 1e3, param_bound=1.7e3, **changes)
    X, rewards = zoo.problem(6, 100, 3, 6)
    for arms, paid in zip(X, rewards, strict=True):
        np.testing.assert_allclose(
            other.scores(arms), 1e3 * one.scores(arms), rtol=1e-8, atol=1e-6
        )
        k = one.pull(arms)
        assert other.pull(arms) == k
        one.update(arms[k], paid[k])
        other.update(arms[k], 1e3 * paid[k])


# --- the posterior -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["WSBLinUCB", "WSBRandLinUCB", "WSBLinTS"])
def test_posterior_is_the_wsb_posterior(name):
    policy = zoo.make(name, 3)
    mean, cov = zoo.prior(3)
    twin = wsbnb.WSBPosterior(
        prior_mean=mean, prior_cov=cov, noise_std=zoo.SIGMA, discount=zoo.GAMMA
    )
    assert_same_posterior(policy, twin)


@pytest.mark.parametrize("name", ["DLinUCB", "LBWeightUCB", "DRandLinUCB", "DLinTS"])
def test_posterior_of_wrls(name):
    policy = zoo.make(name, 3)
    twin = wsbnb.WRLS(
        dim=3, regularization=zoo.LAMBDA, discount=zoo.GAMMA, noise_std=zoo.SIGMA
    )
    assert_same_posterior(policy, twin)


def assert_same_posterior(policy, twin):
    """Whatever the clock does: rounds, late rewards, batches, pauses."""
    X, rewards = (a[:, 0] for a in zoo.problem(7, 90, 3, 1))
    for t in range(0, 90, 3):
        for each in (policy, twin):
            each.update(X[t], rewards[t])
            each.decay(0.5)
            each.update(X[t + 1 : t + 3], rewards[t + 1 : t + 3], decay=bool(t % 2))
            each.decay()
        mine = policy.posterior
        np.testing.assert_allclose(mine.mean, twin.mean, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(mine.cov, twin.cov, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(mine.precision, twin.precision, rtol=1e-11)
        assert mine.rounds == policy.rounds == twin.rounds
        assert mine.weight_sum == pytest.approx(twin.weight_sum, rel=1e-12)
        assert mine.squared_weight_sum == pytest.approx(
            twin.squared_weight_sum, rel=1e-12
        )
        assert mine.noise_std == zoo.SIGMA
    draws = mine.sample(rng=0, size=5)
    np.testing.assert_allclose(draws, twin.sample(rng=0, size=5), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["WSBLinUCB", "DLinTS", "SWLinUCB"])
def test_the_posterior_is_the_live_one(name):
    """Whoever teaches it teaches the policy; a copy stays behind."""
    policy, twin = zoo.make(name), zoo.make(name)
    post = policy.posterior
    before = post.copy()
    mean = before.mean
    post.update(np.ones(3), 5.0)
    post.decay()
    twin.update(np.ones(3), 5.0)
    twin.decay()
    assert policy.posterior is post and policy.rounds == post.rounds == 2
    assert (before.mean == mean).all() and before.rounds == 0
    X, _ = zoo.problem(3, 1, 3, 6)
    np.testing.assert_array_equal(policy.scores(X[0]), twin.scores(X[0]))
    post.reset()
    np.testing.assert_array_equal(policy.scores(X[0]), zoo.make(name).scores(X[0]))


def test_an_independent_library_agrees():
    """bayesianbandits forgets in the same way but does not re-inject in round 1."""
    bandits = pytest.importorskip("bayesianbandits")
    alpha, d = 0.7, 3
    theirs = bandits.NormalRegressor(
        alpha=alpha,
        beta=1 / zoo.SIGMA**2,
        forgetting=bandits.StabilizedForgetting(0.9),
    )
    ours = wsbnb.WSBLinTS(
        prior_mean=np.zeros(d),
        prior_cov=np.eye(d) / alpha,
        noise_std=zoo.SIGMA,
        discount=0.9,
    )
    X, rewards = zoo.problem(5, 400, d, 1)
    for x, r in zip(X[:, 0], rewards[:, 0], strict=True):
        theirs.partial_fit(x[None, :], np.array([r]))
        ours.update(x, r)
    np.testing.assert_allclose(theirs.coef_, ours.posterior.mean, rtol=1e-11)


# --- delayed and batched rewards -----------------------------------------------------


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_many_rows_are_rounds_in_order(name):
    one, many = zoo.make(name), zoo.make(name)
    X, rewards = (a[:, 0] for a in zoo.problem(8, 40, 3, 1))
    for x, r in zip(X, rewards, strict=True):
        one.update(x, r)
    many.update(X[:13], rewards[:13])
    many.update(X[13:], rewards[13:])
    np.testing.assert_equal(one._get_state(), many._get_state())


@pytest.mark.parametrize("name", [n for n in zoo.LINEAR if n != "SWLinUCB"])
def test_own_clock(name):
    """Adding without decay and ticking once is a round with several rows."""
    policy = zoo.make(name)
    X, rewards = (a[:, 0] for a in zoo.problem(8, 3, 3, 1))
    policy.update(X, rewards, decay=False)
    assert policy.rounds == 0
    fresh = zoo.make(name).posterior
    gamma = zoo.settings(name, 3).get("discount", 1.0)
    policy.decay(2)
    assert policy.rounds == 2
    P = fresh.precision + gamma**2 / zoo.SIGMA**2 * X.T @ X
    h = fresh.shift + gamma**2 / zoo.SIGMA**2 * X.T @ rewards
    np.testing.assert_allclose(policy.posterior.precision, P, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(policy.posterior.shift, h, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", zoo.ALL)
def test_pulls_between_do_not_touch_what_is_learnt(name):
    late, prompt = zoo.make(name), zoo.make(name)
    X, rewards = zoo.problem(8, 10, 3, 4)
    chosen = [late.pull(arms) for arms in X]
    for t in reversed(range(10)):
        late.update(X[t, chosen[t]], rewards[t, chosen[t]])
        prompt.update(X[t, chosen[t]], rewards[t, chosen[t]])
    if name == "Oracle":
        assert late._clock == prompt._clock == 10
        return
    learnt = [policy._get_state()["posterior"] for policy in (late, prompt)]
    for state in learnt:
        state.pop("bound")  # this is what a pull improves
    np.testing.assert_equal(*learnt)


@pytest.mark.parametrize("name", [n for n in zoo.LINEAR if n != "SWLinUCB"])
def test_a_reward_three_rounds_late(name):
    """With its age it counts as if it had come in time, the local norm included."""
    late, prompt = zoo.make(name), zoo.make(name)
    X, rewards = (a[:, 0] for a in zoo.problem(8, 6, 3, 1))
    prompt.update(X, rewards)
    late.update(X[:2], rewards[:2])
    late.decay()  # the third reward is not in yet
    late.update(X[3:], rewards[3:])
    late.update(X[2], rewards[2], decay=False, age=3)
    if name == "WSBLinUCB":  # same estimate; the eigenvalue bound has its own history
        late, prompt = late.posterior, prompt.posterior
        np.testing.assert_allclose(late.precision, prompt.precision, rtol=1e-12)
        np.testing.assert_allclose(late.mean, prompt.mean, rtol=1e-11)
    else:
        np.testing.assert_allclose(late.scores(X), prompt.scores(X), rtol=1e-10)


def test_window_refuses_rows_without_a_round():
    policy = zoo.make("SWLinUCB")
    with pytest.raises(ValueError, match="decay must be True"):
        policy.update(np.ones(3), 1.0, decay=False)
    assert policy.rounds == 0


# --- baselines -----------------------------------------------------------------------


def test_radius_scale_multiplies_the_radius():
    """Mean plus s times the radius: at 0 it is greedy, and 1 changes nothing."""
    X, rewards = zoo.problem(9, 20, 3, 5)
    for name in ("DLinUCB", "WSBLinUCB", "LinUCB", "SWLinUCB", "RestartLinUCB"):
        said = {}
        for s in (0.0, 0.15, 1.0):
            policy = zoo.make(name, radius_scale=s)
            policy.update(X[:, 0], rewards[:, 0])
            said[s] = policy.explain(X[0])
            assert policy.radius_scale == s
        for s in (0.0, 0.15):
            assert said[s]["radius"] == pytest.approx(s * said[1.0]["radius"])
            expected = said[1.0]["mean"] + s * said[1.0]["radius"] * said[1.0]["width"]
            np.testing.assert_allclose(said[s]["score"], expected, rtol=1e-12)


def test_linucb_is_lb_weightucb_without_forgetting():
    one = zoo.make("LinUCB")
    other = zoo.make("LBWeightUCB", discount=1.0, split="none")
    X, rewards = zoo.problem(9, 60, 3, 5)
    for arms, paid in zip(X, rewards, strict=True):
        assert (one.scores(arms) == other.scores(arms)).all()
        k = one.pull(arms)
        one.update(arms[k], paid[k])
        other.update(arms[k], paid[k])


def test_restart_counts_from_its_restart():
    """After a restart the radius and the estimate are those of a new LinUCB."""
    policy = zoo.make("RestartLinUCB", period=5, split="none")
    fresh = zoo.make("LinUCB")
    X, rewards = (a[:, 0] for a in zoo.problem(9, 13, 3, 1))
    policy.update(X, rewards)
    fresh.update(X[10:], rewards[10:])
    np.testing.assert_allclose(policy.scores(X), fresh.scores(X), rtol=1e-13)


def test_greedy_plays_the_estimate():
    policy = zoo.make("Greedy")
    estimate = wsbnb.WRLS(dim=3, regularization=zoo.LAMBDA, discount=zoo.GAMMA)
    X, rewards = zoo.problem(9, 60, 3, 5)
    for arms, paid in zip(X, rewards, strict=True):
        np.testing.assert_allclose(
            policy.scores(arms), arms @ estimate.theta_hat, rtol=1e-9, atol=1e-12
        )
        k = policy.pull(arms)
        policy.update(arms[k], paid[k])
        estimate.update(arms[k], paid[k])


@pytest.mark.parametrize("K", [1, 2, 7, 48])
def test_uniform_frequencies(K):
    policy = wsbnb.Uniform(dim=2, rng=11)
    arms = np.random.default_rng(0).standard_normal((K, 2))
    counts = np.bincount([policy.pull(arms) for _ in range(10_000)], minlength=K)
    assert len(counts) == K
    if K > 1:
        assert stats.chisquare(counts).pvalue > 1e-3


def test_oracle_follows_the_path():
    path = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    policy = wsbnb.Oracle(parameters=path)
    arms = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    chosen = []
    for theta in path:
        np.testing.assert_array_equal(policy.scores(arms), arms @ theta)
        chosen.append(policy.pull(arms))
        policy.update(arms[0], 0.0)
    assert chosen == [1, 2, 3]
    with pytest.raises(ValueError, match="parameters has 3 rows, round 4"):
        policy.pull(arms)
    policy.reset()
    policy.decay(2)
    assert policy.pull(arms) == 3
    with pytest.raises(ValueError, match="parameters must be given"):
        wsbnb.Oracle().pull(arms)


def test_ties_go_to_the_lowest_index():
    """Unit arms and an isotropic prior tie all arms in round 1."""
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    for name in ("DLinUCB", "LBWeightUCB", "LinUCB", "SWLinUCB", "RestartLinUCB"):
        assert zoo.make(name, 2).pull(X) == 0
    prior = dict(prior_mean=np.zeros(2), prior_cov=np.eye(2))
    assert zoo.make("WSBLinUCB", 2, **prior).pull(X) == 0
    assert zoo.make("Greedy", 2).pull(X) == 0


def test_the_best_known_arm_of_each_row():
    """Below, at and above zero; what differs by rounding is a tie for the lowest."""
    rows = [
        ([-1.0, 0.0, -2.0], 1),
        ([0.0, 0.0, 0.0], 0),
        ([-3.0, -2.0, -2.0], 1),
        ([0.5, 1.0 - 1e-13, 1.0], 1),
        ([0.5, 1.0 - 1e-11, 1.0], 2),
        ([0.5, 1e6 * (1.0 - 1e-13), 1e6], 1),
        ([-1.0 - 1e-13, -1.0, -2.0], 0),
    ]
    found = oracle.best_known(np.array([row for row, _ in rows]))
    assert found.tolist() == [best for _, best in rows]


def test_the_clock_of_an_oracle_begins_at_zero(tmp_path):
    policy = wsbnb.Oracle(parameters=np.eye(2))
    policy.decay(0)
    policy.save(tmp_path / "policy.json")
    again = wsbnb.load(tmp_path / "policy.json")
    assert again.pull(np.eye(2)) == 0
    again.decay()
    assert again.pull(np.eye(2)) == 1
