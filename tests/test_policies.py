"""The policies against the readable algorithms, by hand, and in other units."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

import wsbnb
from tests import zoo
from wsbnb import reference
from wsbnb.policies import rules

SHAPES = pytest.mark.parametrize("d, K", [(1, 5), (3, 1), (4, 7)])
DISCOUNTS = pytest.mark.parametrize("discount", [0.85, 1.0])


def reference_of(name, policy):
    arguments = policy.get_params()
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
        assert policy.clone().pull(arms) == readable.pull(arms, z)


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


@pytest.mark.parametrize("split", rules.SPLITS)
@pytest.mark.parametrize("name", ["DLinUCB", "LBWeightUCB", "WSBLinUCB"])
def test_splits(name, split):
    changes = {"penalty": "exact"} if name == "WSBLinUCB" else {}
    assert_same_scores(follow(name, 3, 5, rounds=120, split=split, **changes))


@pytest.mark.parametrize("law", list(rules.PERTURBATIONS))
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
        1, lam, 0.9, sigma, 0.1, 100, param_bound=3.0, arm_bound=2.0
    )
    policy.update([x], r)
    V = 0.9 * lam + 0.1 * lam + x**2
    beta = sigma * math.sqrt(2 * math.log(100 / 0.1) + math.log(1 + 4.0 / lam)) + 6.0
    expected = [k * r * x / V + beta * abs(k) / math.sqrt(V) for k in (1.0, -0.5)]
    np.testing.assert_allclose(policy.scores([[1.0], [-0.5]]), expected, rtol=1e-13)


def test_local_norm_by_hand():
    gamma, lam = 0.5, 3.0
    policy = wsbnb.DLinUCB(1, lam, gamma, 0.5, 0.1, 100)
    policy.update([[1.0], [2.0]], [1.0, 0.0])
    V = lam + gamma * 1.0 + 4.0
    V_tilde = lam + gamma**2 * 1.0 + 4.0
    width = policy.explain([[1.0]])["width"][0]
    assert width == pytest.approx(math.sqrt(V_tilde) / V, rel=1e-14)


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
    inverse = np.linalg.inv(policy._state.P)
    cov = inverse @ policy._state.P_tilde @ inverse if name == "DLinTS" else inverse
    white = (draws - policy.posterior.mean) @ np.linalg.cholesky(
        np.linalg.inv(policy.scale**2 * cov)
    )
    np.testing.assert_allclose(white.mean(axis=0), 0.0, atol=0.08)
    np.testing.assert_allclose(np.cov(white.T), np.eye(2), atol=0.12)
    assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3


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
    if name == "DLinTS" or name == "LinTS":
        policy["scale"] *= c  # its perturbation does not know sigma
    return getattr(wsbnb, name)(**{**policy, **changes}, rng=3)


SCALING = [name for name in zoo.SEVEN if name != "DRandLinUCB"]


@pytest.mark.parametrize("c", [2.0**-12, 2.0**20, 1000.0, 1e-5])
@pytest.mark.parametrize("name", [*SCALING, "LinTS", "LinUCB", "SWLinUCB"])
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


@pytest.mark.parametrize("law", list(rules.PERTURBATIONS))
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
    twin = wsbnb.WSBPosterior(*zoo.prior(3), zoo.SIGMA, zoo.GAMMA)
    assert_same_posterior(policy, twin)


@pytest.mark.parametrize("name", ["DLinUCB", "LBWeightUCB", "DRandLinUCB", "DLinTS"])
def test_posterior_of_wrls(name):
    policy = zoo.make(name, 3)
    twin = wsbnb.WRLS(3, zoo.LAMBDA, zoo.GAMMA).as_wsb(zoo.SIGMA)
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


def test_posterior_is_a_snapshot():
    policy = zoo.make("WSBLinTS")
    before = policy.posterior
    mean = before.mean
    policy.update(np.ones(3), 5.0)
    assert (before.mean == mean).all()
    with pytest.raises(TypeError, match="does not learn"):
        before.update(np.ones(3), 1.0)
    with pytest.raises(TypeError, match="does not age"):
        before.decay()


def test_an_independent_library_agrees():
    """bayesianbandits forgets in the same way but does not re-inject in round 1."""
    bandits = pytest.importorskip("bayesianbandits")
    alpha, d = 0.7, 3
    theirs = bandits.NormalRegressor(
        alpha=alpha,
        beta=1 / zoo.SIGMA**2,
        forgetting=bandits.StabilizedForgetting(0.9),
    )
    ours = wsbnb.WSBLinTS(np.zeros(d), np.eye(d) / alpha, zoo.SIGMA, 0.9)
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
    for a, b in zip(one._state, many._state, strict=True):
        assert (a == b).all()


@pytest.mark.parametrize("name", [n for n in zoo.LINEAR if n != "SWLinUCB"])
def test_own_clock(name):
    """Adding without decay and ticking once is a round with several rows."""
    policy = zoo.make(name)
    X, rewards = (a[:, 0] for a in zoo.problem(8, 3, 3, 1))
    policy.update(X, rewards, decay=False)
    assert policy.rounds == 0
    P0, h0 = policy._rule.prior.P0, policy._rule.prior.h0
    precision = policy._rule.settings.precision
    gamma = policy._rule.settings.gamma
    policy.decay(2)
    assert policy.rounds == 2
    P = P0 + gamma**2 * precision * X.T @ X
    h = h0 + gamma**2 * precision * X.T @ rewards
    np.testing.assert_allclose(policy._state.P, P, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(policy._state.h, h, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", zoo.ALL)
def test_late_rewards(name):
    """Pulls between do not touch what is learnt."""
    late, prompt = zoo.make(name), zoo.make(name)
    X, rewards = zoo.problem(8, 10, 3, 4)
    chosen = [late.pull(arms) for arms in X]
    for t in reversed(range(10)):
        late.update(X[t, chosen[t]], rewards[t, chosen[t]])
        prompt.update(X[t, chosen[t]], rewards[t, chosen[t]])
    if name == "Oracle":
        assert late._clock == prompt._clock == 10
        return
    for field in ("P", "h", "P_tilde", "counts", "ring_x", "ring_r"):
        a, b = getattr(late._state, field), getattr(prompt._state, field)
        assert (a == b).all(), field


def test_window_refuses_rows_without_a_round():
    policy = zoo.make("SWLinUCB")
    with pytest.raises(ValueError, match="decay must be True"):
        policy.update(np.ones(3), 1.0, decay=False)
    assert policy.rounds == 0


# --- baselines -----------------------------------------------------------------------


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
    estimate = wsbnb.WRLS(3, zoo.LAMBDA, zoo.GAMMA)
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
    policy = wsbnb.Uniform(2, rng=11)
    arms = np.random.default_rng(0).standard_normal((K, 2))
    counts = np.bincount([policy.pull(arms) for _ in range(10_000)], minlength=K)
    assert len(counts) == K
    if K > 1:
        assert stats.chisquare(counts).pvalue > 1e-3


def test_oracle_follows_the_path():
    path = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    policy = wsbnb.Oracle(path)
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


# --- the rest of the interface -------------------------------------------------------


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_theory_warning_when_the_memory_is_shorter_than_the_dimension(name):
    if "discount" not in zoo.settings(name, 3):
        pytest.skip("no discount")
    with pytest.warns(wsbnb.TheoryWarning, match="discount 0.5 remembers 2 rounds"):
        zoo.make(name, 3, discount=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zoo.make(name, 2, discount=0.5)
        zoo.make(name, 3, discount=1.0)


@pytest.mark.parametrize("name", zoo.ALL)
def test_params_rebuild_the_policy(name):
    policy = zoo.make(name)
    params = policy.get_params()
    assert "rng" not in params
    twin = type(policy)(**params, rng=0)
    X, rewards = zoo.problem(12, 20, 3, 4)
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        assert twin.pull(arms) == k
        policy.update(arms[k], paid[k])
        twin.update(arms[k], paid[k])
    assert type(policy).__name__ in repr(policy)


def test_params_are_copies():
    policy = zoo.make("WSBLinTS")
    policy.get_params()["prior_mean"][:] = 99.0
    assert (policy.prior_mean < 90.0).all()
    given = np.zeros(2)
    policy = wsbnb.WSBLinTS(given, np.eye(2), 0.5, 0.99)
    given[:] = 99.0
    assert (policy.posterior.mean == 0.0).all()


@pytest.mark.parametrize(
    "rng", [7, np.int64(7), np.random.SeedSequence(7), np.random.default_rng(7)]
)
def test_rng_forms_agree(rng):
    X = np.random.default_rng(0).standard_normal((6, 3))
    expected = zoo.make("WSBLinTS", rng=7)
    policy = zoo.make("WSBLinTS", rng=rng)
    assert [policy.pull(X) for _ in range(30)] == [expected.pull(X) for _ in range(30)]


def test_no_rng_is_different_each_time():
    first, second = zoo.make("WSBLinTS", rng=None), zoo.make("WSBLinTS", rng=None)
    assert (first.scores(np.eye(3)) != second.scores(np.eye(3))).any()


@pytest.mark.parametrize("name", zoo.ALL)
def test_a_clone_may_explore_on_its_own(name):
    policy = zoo.make(name, rng=3)
    if name != "Oracle":
        policy.update(np.eye(3), [0.3, -0.1, 0.2])
    X = np.random.default_rng(0).standard_normal((30, 3))
    same, other, again = policy.clone(), policy.clone(rng=7), policy.clone(rng=7)
    draws = name == "Uniform" or getattr(policy, "n_normals", 0) > 0
    ahead = [p._rng.bit_generator.state for p in (policy, same, other, again)]
    assert ahead[0] == ahead[1] and ahead[2] == ahead[3] and ahead[0] != ahead[2]
    if name != "Oracle":
        assert np.array_equal(policy.scores(X), same.scores(X))
        assert np.array_equal(policy.scores(X), other.scores(X)) == (not draws)
    fresh = other.clone()
    fresh.reset()
    again.reset()
    assert fresh.pull(X) == again.pull(X)


def test_readers_of_one_file_may_explore_on_their_own(tmp_path):
    policy = zoo.make("WSBLinTS", rng=3)
    policy.update(np.eye(3), [0.3, -0.1, 0.2])
    policy.save(tmp_path / "policy.json")
    X = np.random.default_rng(0).standard_normal((30, 3))
    one, two = (wsbnb.load(tmp_path / "policy.json", rng=seed) for seed in (1, 2))
    assert np.array_equal(one.posterior.mean, two.posterior.mean)
    assert [one.pull(X) for _ in range(40)] != [two.pull(X) for _ in range(40)]
    with pytest.raises(TypeError, match="rng must be"):
        wsbnb.load(tmp_path / "policy.json", rng="new")


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_other_settings_go_on_from_what_was_learnt(name):
    """As if the setting had changed at this moment: the same sums, another future."""
    changes = {"discount": 0.7} if "discount" in zoo.settings(name, 3) else {}
    changes |= {"delta": 0.2} if "delta" in zoo.settings(name, 3) else {}
    changes |= {"scale": 0.1} if "scale" in zoo.settings(name, 3) else {}
    policy = zoo.make(name)
    rng = np.random.default_rng(1)
    X, rewards = rng.standard_normal((12, 3)), rng.standard_normal(12)
    policy.update(X, rewards)
    before = policy.posterior.mean
    other = policy.with_settings(**changes)
    assert repr(other) != repr(policy)
    np.testing.assert_array_equal(other.posterior.mean, before)
    other.update(X[0], 5.0)
    np.testing.assert_array_equal(policy.posterior.mean, before)
    if name == "WSBLinTS":
        mean, cov = zoo.prior(3)
        w = np.append(zoo.GAMMA ** np.arange(11, -1, -1) * 0.7, 1.0)
        rows, values = np.vstack([X, X[:1]]), np.append(rewards, 5.0)
        expected = wsbnb.batch_posterior(rows, values, w, mean, cov, zoo.SIGMA)[0]
        np.testing.assert_allclose(other.posterior.mean, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("WSBLinTS", "noise_std"),
        ("WSBLinUCB", "prior_mean"),
        ("DLinUCB", "regularization"),
        ("SWLinUCB", "length"),
        ("WSBLinTS", "gamma"),
    ],
)
def test_what_the_sums_are_made_of_stays(name, setting):
    with pytest.raises(ValueError, match=f"changes must be one of .* got '{setting}'"):
        zoo.make(name).with_settings(**{setting: 2})


@pytest.mark.parametrize("name", ["WSBLinTS", "DLinTS"])
def test_thompson_sampling_is_explained_by_its_posterior(name):
    policy = zoo.make(name)
    policy.update(np.eye(3), [0.3, -0.1, 0.2])
    X = np.random.default_rng(0).standard_normal((4, 3))
    said, posterior = policy.explain(X), policy.posterior
    np.testing.assert_allclose(said["mean"], X @ posterior.mean)
    width = np.sqrt(np.einsum("ki,ij,kj->k", X, posterior.cov, X))
    np.testing.assert_allclose(said["width"], width)
