"""Mixture, bandit over discounts and restart at surprise, against brute force."""

import copy
import json
import math
import warnings

import numpy as np
import pytest
from scipy import stats

import wsbnb
from tests import zoo
from wsbnb import kernels
from wsbnb.adaptive import experts
from wsbnb.policies.rules import new_state

GRID = [0.7, 0.9, 0.99, 1.0]
WITH_DISCOUNT = [*zoo.SEVEN, "Greedy", "Uniform"]
QUIET = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
pytestmark = QUIET


def mixture(base, **options):
    return wsbnb.DiscountMixture(base, **{"discounts": GRID, "rng": 1, **options})


def bandit(base, **options):
    standard = {"discounts": GRID, "horizon": 100, "block": 7, "rng": 1}
    return wsbnb.BanditOverDiscounts(base, **{**standard, **options})


def warm(base, **options):
    return bandit(base, restart=False, **options)


def surprise(base, **options):
    return wsbnb.SurpriseRestart(base, **{"threshold": 0.8, "rng": 1, **options})


MAKERS = [mixture, bandit, warm, surprise]


def play(policy, seed=0, rounds=25):
    X, rewards = zoo.problem(seed, rounds, policy.dim, 5)
    chosen = []
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        policy.update(arms[k], paid[k])
        chosen.append(k)
    return chosen


def data(d, rounds=40, seed=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rounds, d)), 2.0 * rng.standard_normal(rounds)


# --- the grid -------------------------------------------------------------------------


def test_grid():
    grid = wsbnb.discount_grid(4000, size=8, dim=2)
    assert grid.size == 8 and grid[-1] == 1.0 and (np.diff(grid) > 0).all()
    memories = 1.0 / (1.0 - grid[:-1])
    np.testing.assert_allclose(memories[[0, -1]], [10.0, 4000.0])
    np.testing.assert_allclose(np.diff(np.log(memories)), math.log(400.0) / 6)


@pytest.mark.parametrize("horizon", [1, 2, 3, 10])
def test_grid_of_a_short_horizon(horizon):
    grid = wsbnb.discount_grid(horizon, dim=4)
    assert grid[-1] == 1.0 and (grid > 0).all() and (np.diff(grid) > 0).all()
    assert (1.0 / (1.0 - grid[:-1]) <= horizon * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("args", "word"),
    [((0,), "horizon"), ((9, 1), "size"), ((9, 999), "size"), ((9, 3, 0), "dim")],
)
def test_grid_refuses(args, word):
    with pytest.raises(ValueError, match=word):
        wsbnb.discount_grid(*args)


# --- the experts ----------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_DISCOUNT)
@pytest.mark.parametrize("d", [1, 3])
def test_stacked_recursion_is_the_compiled_one(name, d):
    base = zoo.make(name, d=d)
    bank = experts.ExpertBank(base, GRID)
    rules = [type(base)(**{**base.get_params(), "discount": g})._rule for g in GRID]
    states = [new_state(rule) for rule in rules]
    X, rewards = data(d)
    for t, (x, r) in enumerate(zip(X, rewards.tolist(), strict=True)):
        bank.learn(x, r, decay=t % 3 > 0)
        if t == 20:
            bank.advance(2.5)
        for rule, state in zip(rules, states, strict=True):
            (kernels.observe if t % 3 > 0 else kernels.absorb)(rule, state, x, r)
            if t == 20:
                kernels.advance(rule, state, 2.5)
    for j, state in enumerate(states):
        for field in ("P", "h", "P_tilde", "counts"):
            mine = bank.arrays[field][j]
            np.testing.assert_allclose(mine, getattr(state, field), rtol=1e-11)
            if mine.ndim == 2:
                assert (mine == mine.T).all()
        if name == "WSBLinUCB":
            np.testing.assert_allclose(bank.arrays["bound"][j], state.bound, rtol=1e-11)


@pytest.mark.parametrize("name", WITH_DISCOUNT)
def test_an_expert_differs_in_the_discount_alone(name):
    base = zoo.make(name)
    twin = experts.with_discount(base, 0.77)
    new = type(base)(**{**base.get_params(), "discount": 0.77})
    assert twin._rule.settings == new._rule.settings
    assert repr(twin) == repr(new) != repr(base)


class SplitGenerator:
    """Uniform numbers from elsewhere; the normals are those of a lone policy."""

    def __init__(self, seed):
        self.normals = np.random.default_rng(seed)

    def random(self):
        return 0.5

    def standard_normal(self, size):
        return self.normals.standard_normal(size)


@pytest.mark.parametrize("name", zoo.SEVEN)
@pytest.mark.parametrize("maker", [mixture, warm, surprise])
def test_one_expert_plays_as_the_policy_itself(name, maker):
    alone = zoo.make(name, discount=0.9, rng=5)
    if maker is surprise:
        policy = maker(zoo.make(name, discount=0.9), threshold=1e9)
    else:
        policy = maker(zoo.make(name), discounts=[0.9])
    policy._rng = SplitGenerator(5)
    assert play(policy) == play(alone)
    for field in ("mean", "cov", "precision"):
        mine, other = getattr(policy.posterior, field), getattr(alone.posterior, field)
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-12)
    assert policy.posterior.noise_std == alone.posterior.noise_std


# --- the mixture ----------------------------------------------------------------------


def brute_force_evidence(name, d, X, rewards, rho, discounts=GRID):
    """Every prediction from a batch posterior over all that came before."""
    if name.startswith("WSB"):
        mean, cov = zoo.prior(d)
    else:
        mean, cov = np.zeros(d), zoo.SIGMA**2 / zoo.LAMBDA * np.eye(d)
    total = np.zeros(len(discounts))
    for t, (x, r) in enumerate(zip(X, rewards, strict=True)):
        for j, gamma in enumerate(discounts):
            mu, Sigma = mean, cov
            if t:
                w = gamma ** np.arange(t - 1, -1, -1)
                mu, Sigma = wsbnb.batch_posterior(
                    X[:t], rewards[:t], w, mean, cov, zoo.SIGMA
                )
            spread = math.sqrt(zoo.SIGMA**2 + x @ Sigma @ x)
            total[j] = rho * total[j] + stats.norm.logpdf(r, x @ mu, spread)
    return total


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", zoo.SEVEN)
def test_evidence_equals_brute_force(name, d):
    policy = mixture(zoo.make(name, d=d), evidence_discount=0.93)
    X, rewards = data(d, rounds=12)
    policy.update(X, rewards)
    expected = brute_force_evidence(name, d, X, rewards, 0.93)
    np.testing.assert_allclose(policy.log_evidence, expected, rtol=1e-9)
    odds = np.exp(expected - expected.max())
    np.testing.assert_allclose(policy.weights, odds / odds.sum(), atol=1e-9)
    assert policy.effective_discount == pytest.approx(policy.weights @ GRID)


def test_evidence_without_decay_does_not_fade():
    policy = mixture(zoo.make("WSBLinTS"), evidence_discount=0.5)
    X, rewards = data(3, rounds=6)
    policy.update(X, rewards, decay=False)
    # With nothing fading all experts are one, and the evidence is that of rho = 1.
    expected = brute_force_evidence("WSBLinTS", 3, X, rewards, 1.0, [1.0])
    np.testing.assert_allclose(policy.log_evidence, np.repeat(expected, 4), rtol=1e-9)
    policy.decay(2)
    np.testing.assert_allclose(policy.log_evidence, np.repeat(expected, 4) / 4)


@pytest.mark.parametrize("name", ["WSBLinTS", "WSBLinUCB"])
def test_weights_do_not_depend_on_the_unit_of_reward(name):
    X, rewards = data(3)
    weights = []
    for c in (1.0, 1e3):
        mean, cov = zoo.prior(3)
        scaled = dict(
            prior_mean=c * mean, prior_cov=c * c * cov, noise_std=c * zoo.SIGMA
        )
        if name == "WSBLinUCB":
            scaled["param_bound"] = c * zoo.S
        policy = mixture(zoo.make(name, **scaled))
        policy.update(X, c * rewards)
        weights.append(policy.weights)
        alarm = surprise(zoo.make(name, **scaled))
        alarm.update(X, c * rewards)
        weights.append(np.array([*alarm.alarms, alarm.statistic]))
    np.testing.assert_allclose(weights[0], weights[2], rtol=1e-8)
    np.testing.assert_allclose(weights[1], weights[3], rtol=1e-8)


def test_posterior_has_the_moments_of_the_mixture():
    policy = mixture(zoo.make("DLinTS"))
    X, rewards = data(3)
    policy.update(X, rewards)
    policy._log_evidence = np.log([0.1, 0.2, 0.3, 0.4]) + 7.0
    rng = np.random.default_rng(0)
    draws = []
    for w, gamma in zip(policy.weights, GRID, strict=True):
        alone = zoo.make("DLinTS", discount=gamma)
        alone.update(X, rewards)
        post = alone.posterior
        count = round(200_000 * w)
        draws.append(rng.multivariate_normal(post.mean, post.cov, size=count))
    draws = np.concatenate(draws)
    post = policy.posterior
    np.testing.assert_allclose(post.mean, draws.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(post.cov, np.cov(draws.T), atol=0.02)


def test_experts_are_drawn_by_weight():
    policy = mixture(zoo.make("WSBLinTS"))
    policy._log_evidence = np.log([0.1, 0.2, 0.3, 0.4])
    rng = np.random.default_rng(0)
    drawn = np.bincount([policy._pick(rng) for _ in range(4000)], minlength=4)
    assert stats.chisquare(drawn, [400, 800, 1200, 1600]).pvalue > 1e-3


def test_weights_move_to_short_memories_after_a_jump():
    base = wsbnb.WSBLinTS(np.zeros(2), np.eye(2), 0.3, 1.0)
    policy = wsbnb.DiscountMixture(base, [0.9, 1.0], rng=0)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 2))
    theta = np.array([1.0, 0.0])
    policy.update(X[:200], X[:200] @ theta + 0.3 * rng.standard_normal(200))
    assert policy.weights[1] > 0.9
    policy.update(X[200:], -X[200:] @ theta + 0.3 * rng.standard_normal(100))
    assert policy.weights[0] > 0.9


def test_default_grid_takes_the_horizon_of_the_base():
    policy = wsbnb.DiscountMixture(zoo.make("DLinUCB"))
    expected = wsbnb.discount_grid(zoo.HORIZON, dim=3)
    np.testing.assert_array_equal(policy.discounts, expected)
    free = wsbnb.DiscountMixture(zoo.make("WSBLinTS")).discounts
    np.testing.assert_array_equal(free, wsbnb.discount_grid(10_000, dim=3))


def test_a_reward_without_likelihood_is_refused():
    policy = mixture(zoo.make("WSBLinTS"))
    play(policy)
    before = copy.deepcopy(policy._get_state())
    for bad in ([1e200], [0.1, 1e200]):
        with pytest.raises(ValueError, match="reward must be close enough"):
            policy.update(np.ones((len(bad), 3)), bad)
    np.testing.assert_equal(policy._get_state(), before)


def test_too_large_arms_are_refused_by_all():
    for maker in MAKERS:
        policy = maker(zoo.make("DLinTS"))
        play(policy, rounds=3)
        before = copy.deepcopy(policy._get_state())
        with pytest.raises(ValueError):
            policy.update([[1.0, 0.0, 0.0], [1e160, 1e160, 0.0]], [0.1, 0.1])
        np.testing.assert_equal(policy._get_state(), before)


# --- the bandit over discounts --------------------------------------------------------


def test_exp3_by_hand():
    """Two blocks of two rounds, three discounts, T = 4: worked out on paper."""
    base = wsbnb.WSBLinTS(np.zeros(1), np.eye(1), 0.5, 1.0)
    policy = wsbnb.BanditOverDiscounts(
        base, [0.5, 0.9, 1.0], 4, block=2, reward_range=(-2.0, 6.0), rng=0
    )
    eta = math.sqrt(3 * math.log(3) / ((math.e - 1) * 2))
    assert policy.rate == pytest.approx(eta) and eta < 1
    s = np.zeros(3)
    for rewards in ([1.0, 4.0], [-2.0, 0.0]):
        policy.pull([[1.0]])
        j = policy.discounts.tolist().index(policy.current_discount)
        p = (1 - eta) * np.exp(s) / np.exp(s).sum() + eta / 3
        np.testing.assert_allclose(policy.probabilities, p)
        policy.update([[1.0], [1.0]], rewards)
        g = (sum(rewards) / 2 + 2.0) / 8.0
        s[j] += eta * (g / p[j]) / 3
    p = (1 - eta) * np.exp(s) / np.exp(s).sum() + eta / 3
    np.testing.assert_allclose(policy.probabilities, p)
    assert policy.current_discount is None


def test_credit_is_unbiased():
    """Over the draw of the expert the credit averages to the gains of all experts."""
    gains = np.array([0.2, 0.5, 0.9, 0.4])
    policy = bandit(zoo.make("WSBLinTS"), block=1, reward_range=(0.0, 1.0))
    start = np.array([0.3, -0.2, 0.5, 0.0])
    policy._log_weights = start
    p = policy.probabilities
    expected = np.zeros(4)
    for j in range(4):
        twin = policy.clone()
        twin._current = j
        twin.update(np.ones(3), gains[j])
        credit = (twin._log_weights - start) * 4 / policy.rate
        assert np.count_nonzero(credit) == 1
        expected += p[j] * credit
    np.testing.assert_allclose(expected, gains)
    rng = np.random.default_rng(0)
    drawn = np.bincount([policy._pick(rng) for _ in range(4000)], minlength=4)
    assert stats.chisquare(drawn, 4000 * p).pvalue > 1e-3


@pytest.mark.parametrize("reward", [-5.0, 5.0])
def test_gains_are_clipped(reward):
    policy = bandit(zoo.make("WSBLinTS"), block=1)
    policy.pull(np.eye(3))
    j, p = policy._current, policy.probabilities
    policy.update([1.0, 0.0, 0.0], reward)
    gain = policy._log_weights[j] * 4 * p[j] / policy.rate
    assert gain == pytest.approx(float(reward > 0))


def test_restart_begins_each_block_from_the_prior():
    cold, hot = (m(zoo.make("WSBLinTS")) for m in (bandit, warm))
    for policy in (cold, hot):
        play(policy, rounds=7)
    fresh = wsbnb.WSBPosterior(*zoo.prior(3), zoo.SIGMA, 1.0)
    np.testing.assert_allclose(cold.posterior.mean, fresh.mean)
    assert not np.allclose(hot.posterior.mean, fresh.mean)
    assert cold.current_discount is None and hot.current_discount is None
    cold.pull(np.eye(3))
    one = cold.current_discount
    for _ in range(6):
        cold.update([1.0, 0.0, 0.0], 0.1)
        cold.pull(np.eye(3))
        assert cold.current_discount == one  # for the whole block


def test_rewards_before_a_pull_are_not_credited():
    policy = warm(zoo.make("WSBLinTS"))
    policy.update(*data(3))
    assert (policy._log_weights == 0).all() and policy._count == 0
    assert not np.allclose(policy.posterior.mean, zoo.prior(3)[0])


def test_default_block_and_rate():
    base = wsbnb.WSBLinTS(np.zeros(2), np.eye(2), 0.5, 1.0)
    policy = wsbnb.BanditOverDiscounts(base, horizon=4000)
    assert policy.block == math.floor(2 * math.sqrt(4000)) == 126
    assert policy.rate == pytest.approx(
        math.sqrt(8 * math.log(8) / ((math.e - 1) * 32))
    )
    short = wsbnb.BanditOverDiscounts(base, GRID, horizon=3)
    assert short.block == 3 and short.rate == 1.0
    assert short.probabilities.tolist() == [0.25] * 4
    alone = wsbnb.BanditOverDiscounts(base, [0.9], horizon=100)
    assert alone.rate == 0.0 and alone.probabilities.tolist() == [1.0]


# --- restart at surprise --------------------------------------------------------------


@pytest.mark.parametrize("name", ["WSBLinTS", "LBWeightUCB"])
@pytest.mark.parametrize("d", [1, 3])
def test_statistic_equals_brute_force(name, d):
    policy = surprise(zoo.make(name, d=d, discount=0.9), threshold=4.0, inflation=3.0)
    X, rewards = data(d, rounds=30)
    if name == "WSBLinTS":
        mean, cov = zoo.prior(d)
    else:
        mean, cov = np.zeros(d), zoo.SIGMA**2 / zoo.LAMBDA * np.eye(d)
    S, start, alarms = 0.0, 0, []
    for t, (x, r) in enumerate(zip(X, rewards, strict=True)):
        mu, Sigma = mean, cov
        if t > start:
            w = 0.9 ** np.arange(t - start - 1, -1, -1)
            old = slice(start, t)
            mu, Sigma = wsbnb.batch_posterior(
                X[old], rewards[old], w, mean, cov, zoo.SIGMA
            )
        spread = math.sqrt(zoo.SIGMA**2 + x @ Sigma @ x)
        wide = stats.norm.logpdf(r, x @ mu, math.sqrt(3.0) * spread)
        S = max(0.0, S + wide - stats.norm.logpdf(r, x @ mu, spread))
        if S > 4.0:
            S, start = 0.0, t
            alarms.append(t + 1)
    policy.update(X, rewards)
    assert alarms and policy.alarms == tuple(alarms)
    assert policy.statistic == pytest.approx(S, abs=1e-9)


def run_lengths(threshold, runs, longest, noise=1.0, seed=0):
    """Rounds to the first false alarm, the parameter drawn from the prior."""
    rng = np.random.default_rng(seed)
    mean, cov = zoo.prior(2)
    found = []
    for _ in range(runs):
        base = wsbnb.WSBLinTS(mean, cov, 0.4, 1.0)
        policy = wsbnb.SurpriseRestart(base, threshold)
        theta = rng.multivariate_normal(mean, cov)
        X = rng.standard_normal((longest, 2))
        rewards = X @ theta + noise * 0.4 * rng.standard_normal(longest)
        for start in range(0, longest, 20):
            policy.update(X[start : start + 20], rewards[start : start + 20])
            if policy.alarms:
                break
        found.append(policy.alarms[0] if policy.alarms else longest)
    return np.array(found)


def test_false_alarms_are_as_rare_as_promised():
    lengths = run_lengths(threshold=math.log(20.0), runs=60, longest=300)
    low = lengths.mean() - 3 * lengths.std() / math.sqrt(lengths.size)
    assert low > 20.0  # at least e^h
    assert lengths.mean() < 200.0  # and not out of reach, so that the test can fail
    # The promise needs the noise level: with 1.5 times the noise it is broken.
    wrong = run_lengths(math.log(20.0), runs=30, longest=300, noise=1.5)
    assert wrong.mean() < 20.0


def test_a_jump_raises_an_alarm_and_the_past_is_gone():
    base = wsbnb.WSBLinTS(np.zeros(2), np.eye(2), 0.3, 1.0)
    policy = wsbnb.SurpriseRestart(base, rng=0)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 2))
    theta = np.where(np.arange(400)[:, None] < 300, [1.0, 0.0], [0.0, -1.0])
    policy.update(X, (X * theta).sum(axis=1) + 0.3 * rng.standard_normal(400))
    assert len(policy.alarms) == 1 and 300 < policy.alarms[0] < 320
    np.testing.assert_allclose(policy.posterior.mean, [0.0, -1.0], atol=0.15)


# --- what all policies promise --------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "maker"),
    [(name, mixture) for name in WITH_DISCOUNT]
    + [(name, m) for name in ("WSBLinUCB", "DLinTS") for m in MAKERS[1:]],
)
def test_check_policy(name, maker):
    done = wsbnb.check_policy(maker(zoo.make(name)))
    assert len(done) >= (15 if name == "Uniform" else 16)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("d", [1, 2])
def test_one_dimension_one_arm(maker, d):
    policy = maker(zoo.make("WSBLinUCB", d=d))
    for _ in range(20):
        assert policy.pull(np.ones((1, d))) == 0
        policy.update(np.ones(d), 0.3)
    assert np.isfinite(policy.posterior.mean).all()


@pytest.mark.parametrize("maker", MAKERS)
def test_simulate(maker):
    env = wsbnb.paper_environment("abrupt", 2, horizon=60, n_arms=5)
    base = wsbnb.WSBLinTS(np.zeros(2), np.eye(2), env.noise_std, 0.9)
    policy = maker(base)
    both = [
        wsbnb.simulate([policy], env, trials=3, n_jobs=n, progress=False).final_table()
        for n in (1, 2)
    ]
    assert both[0].equals(both[1])
    assert (both[0].to_numpy() > 0).all()


@pytest.mark.parametrize("maker", MAKERS)
def test_settings_are_read_only_and_written_out(maker):
    policy = maker(zoo.make("WSBLinTS"))
    params = policy.get_params()
    json.dumps(params, default=np.ndarray.tolist)
    again = type(policy)(**params)
    assert repr(again) == repr(policy)
    assert repr(policy).startswith(f"{type(policy).__name__}(base=WSBLinTS(")
    for name in params:
        with pytest.raises(AttributeError):
            setattr(policy, name, getattr(policy, name))
    policy.base.update(np.ones(3), 1.0)  # a copy: nobody is disturbed
    assert repr(policy.base.posterior) == repr(zoo.make("WSBLinTS").posterior)


@pytest.mark.parametrize("maker", MAKERS)
def test_the_base_is_not_touched(maker):
    base = zoo.make("WSBLinTS")
    base.update(np.ones(3), 1.0)
    seen = base.posterior.mean
    policy = maker(base)
    assert not np.allclose(policy.posterior.mean, seen)  # starts from the prior
    play(policy)
    np.testing.assert_array_equal(base.posterior.mean, seen)


def test_the_constructor_is_quiet_when_the_base_was():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        base = wsbnb.WSBLinTS(np.zeros(3), np.eye(3), 0.5, 0.9)
        for maker in MAKERS:
            maker(base)


class Reckless(wsbnb.WSBLinTS):
    """Changes the round, so that the compiled code would not play it."""

    def _choose(self, X):
        return 0


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    "base",
    [
        None,
        3,
        "WSBLinTS",
        wsbnb.WSBLinTS,
        zoo.make("SWLinUCB"),
        zoo.make("LinTS"),
        zoo.make("Oracle"),
        Reckless(np.zeros(1), np.eye(1), 1.0, 0.9),
        {},
        {"class": "WSBLinTS", "params": {}},
        {"class": "WSBLinTS", "params": 3, "prior_precision": [[1.0]]},
        {"class": "SWLinUCB", "params": {}, "prior_precision": [[1.0]]},
        {"class": "DiscountMixture", "params": {}, "prior_precision": [[1.0]]},
        {"class": ["WSBLinTS"], "params": {}, "prior_precision": [[1.0]]},
    ],
    ids=range(14),
)
def test_bad_bases(base, maker):
    with pytest.raises((TypeError, ValueError), match="base"):
        maker(base)


@pytest.mark.parametrize(
    ("make", "changes", "word"),
    [
        (mixture, {"discounts": []}, "discounts"),
        (mixture, {"discounts": [0.5, 0.5]}, "discounts"),
        (mixture, {"discounts": [0.9, 0.5]}, "discounts"),
        (mixture, {"discounts": [0.0, 0.5]}, "discounts"),
        (mixture, {"discounts": [0.5, 1.1]}, "discounts"),
        (mixture, {"discounts": np.linspace(0.5, 1.0, 257)}, "discounts"),
        (mixture, {"discounts": "fast"}, "discounts"),
        (mixture, {"evidence_discount": 0.0}, "evidence_discount"),
        (mixture, {"evidence_discount": 1.5}, "evidence_discount"),
        (mixture, {"rng": -1}, "rng"),
        (bandit, {"horizon": None}, "horizon"),
        (bandit, {"horizon": 0}, "horizon"),
        (bandit, {"block": 0}, "block"),
        (bandit, {"block": 1.5}, "block"),
        (bandit, {"reward_range": (1.0, 1.0)}, "reward_range"),
        (bandit, {"reward_range": (0.0, np.inf)}, "reward_range"),
        (bandit, {"reward_range": 1.0}, "reward_range"),
        (bandit, {"reward_range": (-1e308, 1e308)}, "reward_range"),
        (bandit, {"restart": "yes"}, "restart"),
        (surprise, {"threshold": 0.0}, "threshold"),
        (surprise, {"threshold": np.nan}, "threshold"),
        (surprise, {"inflation": 1.0}, "inflation"),
    ],
)
def test_bad_settings(make, changes, word):
    with pytest.raises((TypeError, ValueError), match=word):
        make(zoo.make("WSBLinTS"), **changes)
