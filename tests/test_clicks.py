"""The logistic posterior against optimisers, and clicks in simulations."""

import copy
import pickle

import numpy as np
import pytest
from scipy import integrate, optimize

import wsbnb
import wsbnb.environments as we
from tests import zoo
from tests.kernels import PLAIN, from_python
from wsbnb.exploration import Optimism, Thompson
from wsbnb.kernels import estimate
from wsbnb.policies.theory import TheoryWarning, outside_on_purpose
from wsbnb.weights import Polynomial, RandomWalk, Restart, SlidingWindow


def curve(eta):
    return 1.0 / (1.0 + np.exp(-eta))


class Dense:
    """One Laplace step at a time, by a general optimiser in d dimensions."""

    def __init__(self, mean, cov, gamma):
        self.P0, self.gamma = np.linalg.inv(cov), gamma
        self.h0 = self.P0 @ mean
        self.P, self.mean = self.P0, mean

    def update(self, x, r, fade=None, weight=1.0):
        f = self.gamma if fade is None else fade
        Q = f * self.P + (1 - f) * self.P0
        m = np.linalg.solve(Q, f * self.P @ self.mean + (1 - f) * self.h0)

        def loss(theta):
            eta = x @ theta
            fit = np.logaddexp(0.0, eta) - r * eta
            return 0.5 * (theta - m) @ Q @ (theta - m) + weight * fit

        def slope(theta):
            return Q @ (theta - m) + weight * (curve(x @ theta) - r) * x

        def bend(theta):
            p = curve(x @ theta)
            return Q + weight * p * (1 - p) * np.outer(x, x)

        found = optimize.minimize(loss, m, jac=slope, hess=bend, method="trust-exact")
        self.mean = found.x - np.linalg.solve(bend(found.x), slope(found.x))
        self.P = bend(self.mean)


@pytest.mark.parametrize("d", [1, 2, 5, 9])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_recursion_is_laplace_in_d_dimensions(d, gamma):
    mean, cov = zoo.prior(d)
    with outside_on_purpose():
        post = wsbnb.LogisticPosterior(prior_mean=mean, prior_cov=cov, discount=gamma)
    dense = Dense(mean, cov, gamma)
    rng, weights = np.random.default_rng(d), np.zeros(0)
    for _ in range(25):
        x, r = 1.5 * rng.standard_normal(d), float(rng.choice([0.0, 1.0, 0.3]))
        age = float(rng.choice([0.0, 2.0]))
        post.update(x, r, age=age)
        weights = np.r_[gamma * weights, gamma**age]
        dense.update(x, r, weight=gamma**age)
        np.testing.assert_allclose(post.mean, dense.mean, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(post.precision, dense.P, rtol=1e-5, atol=1e-7)
    assert post.rounds == 25.0
    assert post.weight_sum == pytest.approx(weights.sum())
    assert post.squared_weight_sum == pytest.approx((weights**2).sum())


@pytest.mark.parametrize("rule", [Restart(4), Polynomial(1.5, of="round")])
def test_other_ways_to_forget(rule):
    mean, cov = zoo.prior(2)
    post = wsbnb.LogisticPosterior(prior_mean=mean, prior_cov=cov, forgetting=rule)
    dense = Dense(mean, cov, None)
    rng = np.random.default_rng(0)
    for t in range(1, 11):
        x, r = rng.standard_normal(2), float(rng.integers(2))
        post.update(x, r)
        if isinstance(rule, Restart):
            fade = 0.0 if t % 4 == 1 and t > 1 else 1.0
        else:
            fade = ((t - 1) / t) ** 1.5
        dense.update(x, r, fade=fade)
        np.testing.assert_allclose(post.mean, dense.mean, rtol=1e-5, atol=1e-7)


def test_time_without_clicks_is_that_of_every_posterior():
    mean, cov = zoo.prior(3)
    words = {"prior_mean": mean, "prior_cov": cov, "discount": 0.8}
    post = wsbnb.LogisticPosterior(**words)
    post.update([1.0, 2.0, -1.0], 1.0)
    P, h, P0 = post.precision, post.shift, np.linalg.inv(cov)
    post.decay(2.5)
    f = 0.8**2.5
    np.testing.assert_allclose(post.precision, f * P + (1 - f) * P0, rtol=1e-10)
    np.testing.assert_allclose(post.shift, f * h + (1 - f) * P0 @ mean, rtol=1e-9)


def test_scalar_root_is_found_everywhere():
    root = from_python(estimate.click_mode)
    for eta in (-800.0, -30.0, -1.0, 0.0, 2.0, 50.0, 800.0):
        for s in (0.0, 1e-9, 0.3, 10.0, 1e4):
            for r in (0.0, 0.4, 1.0):
                y = root(eta, s, r)
                with np.errstate(over="ignore"):
                    gap = y - eta - s * (r - curve(y))
                assert abs(gap) <= 1e-9 * (1.0 + abs(y) + s), (eta, s, r)


def test_mean_nears_the_batch_estimate():
    """Without forgetting the recursion stays near the mode of all clicks at once."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 3))
    clicks = (rng.random(3000) < curve(X @ [1.0, -0.5, 0.2])).astype(float)
    post = wsbnb.LogisticPosterior(prior_mean=np.zeros(3), prior_cov=4.0, discount=1.0)
    post.update(X, clicks)

    def loss(theta):
        eta = X @ theta
        return np.logaddexp(0, eta).sum() - clicks @ eta + theta @ theta / 8

    batch = optimize.minimize(loss, np.zeros(3), tol=1e-10).x
    std = np.sqrt(np.diag(post.cov))
    assert (np.abs(post.mean - batch) < 0.5 * std).all()
    assert (np.abs(post.mean - [1.0, -0.5, 0.2]) < 4 * std).all()


def test_probability_against_quadrature():
    post = wsbnb.LogisticPosterior(
        prior_mean=[0.5, -1.0], prior_cov=[2.0, 3.0], discount=1.0
    )
    x = np.array([1.0, 0.4])
    m, v = x @ post.mean, x @ post.cov @ x

    def moment(k):
        def f(e):
            return curve(e) ** k * np.exp(-((e - m) ** 2) / 2 / v)

        return integrate.quad(f, m - 15, m + 15)[0] / np.sqrt(2 * np.pi * v)

    p, std = post.predict(x)
    assert p == pytest.approx(moment(1), abs=1e-6)
    assert std == pytest.approx(np.sqrt(p * (1 - p)))
    spread = post.predict(x[None], noise=False)[1][0]
    assert spread == pytest.approx(np.sqrt(moment(2) - moment(1) ** 2), abs=1e-5)


def test_policies_score_as_the_formula_says():
    X = np.random.default_rng(2).standard_normal((7, 3))
    ucb, ts = zoo.make("LogisticUCB"), zoo.make("LogisticTS", rng=4)
    for policy in (ucb, ts):
        policy.update(X[:4], [1, 0, 0, 1])
    mean, cov = ucb.posterior.mean, ucb.posterior.cov
    width = np.sqrt(np.einsum("kd,de,ke->k", X, cov, X))
    np.testing.assert_allclose(ucb.scores(X), X @ mean + 0.7 * width, rtol=1e-9)
    z = np.random.default_rng(4).standard_normal(3)
    R = np.linalg.cholesky(ts.posterior.precision).T
    np.testing.assert_allclose(
        ts.scores(X), X @ (mean + 0.7 * np.linalg.solve(R, z)), rtol=1e-9
    )


@pytest.mark.parametrize("name", zoo.LOGISTIC)
def test_copies_and_files_continue(name, tmp_path):
    policy = zoo.make(name)
    X = np.random.default_rng(2).standard_normal((7, 3))
    policy.update(X, np.arange(7) % 2)
    policy.save(tmp_path / "p.json")
    others = [wsbnb.load(tmp_path / "p.json"), pickle.loads(pickle.dumps(policy))]
    parts = wsbnb.LinearPolicy(policy.posterior, Thompson(), rng=1)
    parts.save(tmp_path / "q.json")
    again = wsbnb.load(tmp_path / "q.json")
    assert type(again.posterior) is wsbnb.LogisticPosterior
    for mine, other in [(parts, again), *((policy, o) for o in others)]:
        mine, other = copy.deepcopy(mine), copy.deepcopy(other)
        for _ in range(5):
            assert (mine.scores(X) == other.scores(X)).all()
            for each in (mine, other):
                each.update(X[each.pull(X)], 1)


@pytest.mark.parametrize("reward", [-0.1, 1.1, np.nan, [0.0, 2.0]])
def test_only_rewards_between_0_and_1(reward):
    policy = zoo.make("LogisticTS")
    x = np.ones((2, 3)) if np.ndim(reward) else np.ones(3)
    with pytest.raises(ValueError, match="reward must"):
        policy.update(x, reward)
    assert policy.rounds == 0.0


def test_what_does_not_go_with_clicks_is_refused():
    words = {"prior_mean": [0.0], "prior_cov": 1.0}
    for rule in (SlidingWindow(5), RandomWalk(0.1)):
        with pytest.raises(ValueError, match="forgetting must multiply"):
            wsbnb.LogisticPosterior(**words, forgetting=rule)
    post = wsbnb.LogisticPosterior(**words, discount=0.9)
    with pytest.raises(ValueError, match="exploration must have norm"):
        wsbnb.LinearPolicy(post, Thompson(norm="local"))
    policy = wsbnb.LogisticTS(**words, discount=0.9)
    with pytest.raises(TypeError, match="base must be"):
        wsbnb.DiscountMixture(policy)
    with pytest.raises(ValueError, match="template must have a linear"):
        wsbnb.Fleet(policy)
    assert post.noise_std == 1.0  # a setting that clicks do not have
    for x in (np.zeros((2, 1, 1)), np.zeros(2), np.zeros((3, 2)), 0.5):
        with pytest.raises(ValueError, match=r"x must have shape \(1,\)"):
            post.predict(x)
    with pytest.raises(ValueError, match="width must be zero"):
        wsbnb.LogisticUCB(**words, discount=0.9, width=-1)


# --- worlds ---------------------------------------------------------------------------


def world(link, S=3.0, horizon=600):
    return wsbnb.Environment(
        path=we.AbruptPath(we.OrthogonalAnchors(2)),
        arms=we.FixedArms(10),
        noise=we.Clicks(link),
        horizon=horizon,
        dim=2,
        param_bound=S,
    )


@pytest.mark.parametrize("link", ["logistic", "linear"])
def test_arms_pay_with_their_probabilities(link):
    paid, chances = [], []

    class Spy:
        name, dim = "spy", 2

        def pull(self, X):
            return 3

        def update(self, x, reward):
            paid.append(reward)

    env = world(link, S=1.0 if link == "linear" else 3.0, horizon=4000)
    results = wsbnb.simulate([Spy()], env, trials=1, n_jobs=1, progress=False)
    trial = env.world(wsbnb.trial_seed(0, 0))
    block = next(iter(trial.blocks(4000)))
    eta = block.theta @ block.arms
    chances = curve(eta) if link == "logistic" else eta.clip(0, 1)
    assert set(paid) == {0.0, 1.0}
    error = np.sqrt((chances[:, 3] * (1 - chances[:, 3])).sum())
    assert abs(np.sum(paid) - chances[:, 3].sum()) < 4 * error
    regret = (chances.max(axis=1) - chances[:, 3]).sum()
    assert results.final("spy")[0] == pytest.approx(regret)


def test_worlds_without_clicks_are_refused():
    policy = wsbnb.LogisticTS(prior_mean=np.zeros(2), prior_cov=4.0, discount=0.98)
    env = wsbnb.paper_environment("still", 2, horizon=20)
    with pytest.raises(ValueError, match="noise rule Clicks"):
        wsbnb.simulate([policy], env, trials=1, n_jobs=1, progress=False)
    with pytest.raises(ValueError, match="reward must lie between 0 and 1, got 2.0"):
        wsbnb.replay({"policy": policy}, (np.eye(2), np.full((5, 2), 2.0)))
    wsbnb.compile(policy)


def test_compiled_rounds_are_those_played_by_hand():
    env = world("logistic")
    policy = wsbnb.LogisticTS(prior_mean=np.zeros(2), prior_cov=4.0, discount=0.98)

    def slow(world):
        class ByHand(wsbnb.LogisticTS):
            compiled = False

        return ByHand(prior_mean=np.zeros(2), prior_cov=4.0, discount=0.98)

    both = {"compiled": policy, "by hand": slow}
    final = wsbnb.simulate(both, env, trials=3, progress=False).final_table()
    np.testing.assert_allclose(final["compiled"], final["by hand"], rtol=1e-12)


def test_mixture_warns_of_a_noise_level_that_clicks_cannot_have():
    rng = np.random.default_rng(0)
    X, clicks = rng.standard_normal((250, 2)), (rng.random(250) < 0.15).astype(float)

    def mixture(noise_std):
        words = {"prior_mean": np.zeros(2), "prior_cov": 1.0, "discount": 1.0}
        base = wsbnb.WSBLinTS(**words, noise_std=noise_std)
        return wsbnb.DiscountMixture(base, discounts=[0.9, 1.0])

    with pytest.warns(TheoryWarning, match="does not fit rewards that are 0 or 1"):
        mixture(0.05).update(X, clicks)
    mixture(0.36).update(X, clicks)  # right: warnings are errors here
    mixture(0.05).update(X[:150], clicks[:150])  # too early to say
    mixture(0.05).update(X, clicks + 0.01 * rng.standard_normal(250))  # no clicks


@pytest.mark.parametrize("shift", [20.0, 60.0, 1e6, 1e16])
def test_a_certain_click_has_no_spread_and_no_nan(shift):
    """Rounding must not make the probability more than one."""
    for sign in (-1.0, 1.0):
        post = wsbnb.LogisticPosterior(
            prior_mean=[sign * shift], prior_cov=0.01, discount=1.0
        )
        mean, std = post.predict([1.0])
        assert 0.0 <= mean <= 1.0
        exact = 1.0 / (1.0 + np.exp(min(shift, 700.0)))  # less any spread of eta
        assert min(mean, 1.0 - mean) == pytest.approx(exact, rel=0.02, abs=3e-16)
        assert std == pytest.approx(np.sqrt(exact), rel=0.02, abs=1e-12)


@pytest.mark.skipif(not PLAIN, reason="counts the calls of an inner function")
def test_the_scalar_root_takes_few_steps(monkeypatch):
    """Newton's, that is: to halve the bracket would take fifty."""
    called = []

    def counted(eta):
        called.append(eta)
        return curve(eta)

    monkeypatch.setattr(estimate, "logistic", counted)
    for eta in (-3.0, 0.0, 0.5, 4.0):
        for s in (0.1, 1.0, 10.0):
            estimate.click_mode(eta, s, 1.0)
            assert len(called) <= 2 * 12
            called.clear()


@pytest.mark.parametrize("discount", [0.9, 1.0])
def test_the_eigenvalue_bound_of_clicks_is_never_below(discount):
    mean, cov = zoo.prior(3)
    known = dict(prior_mean=mean, prior_cov=cov, discount=discount)
    law = Optimism(horizon=99, param_bound=1.5, penalty="cxv")
    policy = wsbnb.LinearPolicy(wsbnb.LogisticPosterior(**known), law, rng=0)
    P0, rng = np.linalg.inv(cov), np.random.default_rng(2)
    for t in range(60):
        arms = rng.standard_normal((4, 3))
        k = policy.pull(arms)
        top = np.linalg.eigvalsh(P0 @ policy.posterior.cov @ P0)[-1]
        assert policy.posterior._state.bound[0] >= top * (1.0 - 1e-9)
        if t % 20 == 19:
            policy.decay(5)
        policy.update(arms[k], float(t % 2))
