"""Mixture, bandit over discounts and restart at surprise, against brute force."""

import copy
import math

import numpy as np
import pytest
from scipy import stats

import wsbnb
from tests import zoo
from tests.kernels import PLAIN
from wsbnb.kernels import memory

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


def changes(base, **options):
    standard = {"discounts": [0.9, 1.0], "starts": 3, "hazard": 0.05, "rng": 1}
    return wsbnb.ChangePoints(base, **{**standard, **options})


MAKERS = [mixture, bandit, warm, surprise, changes]
#: What all of them are compiled for; `test_plain_python.py` tries the other bases.
COMPILED = ["WSBLinUCB", "DLinTS"]
#: A mixture also around a policy that draws one number for all arms.
MIXED = [*COMPILED, "WSBRandLinUCB"]


def pairs(names, makers):
    """Bases and makers: all pairs in plain Python; compiled, each costs seconds."""
    return pytest.mark.parametrize(
        "name, maker",
        [
            (name, maker)
            for maker in makers
            for name in names
            if PLAIN or name in (MIXED if maker is mixture else COMPILED)
        ],
    )


def bases(names):
    """What a mixture is put around: all in plain Python, a few compiled."""
    return pytest.mark.parametrize("name", names if PLAIN else MIXED)


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


@bases(WITH_DISCOUNT)
@pytest.mark.parametrize("d", [1, 3])
def test_members_learn_as_policies_of_their_own(name, d):
    policy = mixture(zoo.make(name, d=d))
    alone = [zoo.make(name, d=d, discount=gamma) for gamma in GRID]
    X, rewards = data(d)
    for each in (policy, *alone):
        for t, (x, r) in enumerate(zip(X, rewards, strict=True)):
            each.update(x, r, decay=t % 3 > 0)
            if t == 20:
                each.decay(2.5)
    for j, other in enumerate(alone):
        mine, post = policy._member_posterior(j), other.posterior
        assert mine.discount == GRID[j] and mine.noise_std == zoo.SIGMA
        for one, two in zip(mine._state[:4], post._state[:4], strict=True):
            assert (one is None) == (two is None)
            if one is not None:
                np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-12)
        local = name in ("DLinUCB", "DRandLinUCB", "DLinTS")
        assert (mine._state.squares is not None) == local


class SplitGenerator:
    """Luck from elsewhere; the other normals are those of a lone policy."""

    def __init__(self, seed, normals):
        self.alone, self.normals = np.random.default_rng(seed), normals
        self.bit_generator = self.alone.bit_generator

    def standard_normal(self, size):
        drawn = np.ones(size)
        drawn[:, : self.normals] = self.alone.standard_normal((size[0], self.normals))
        return drawn


@pairs(zoo.SEVEN, [mixture, warm, surprise])
def test_one_expert_plays_as_the_policy_itself(name, maker):
    alone = zoo.make(name, discount=0.9, rng=5)
    if maker is surprise:
        policy = maker(zoo.make(name, discount=0.9), threshold=1e9)
    else:
        policy = maker(zoo.make(name), discounts=[0.9])
    policy._rng = SplitGenerator(5, alone.n_normals)
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
@bases(zoo.SEVEN)
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
    policy._own = np.log([0.1, 0.2, 0.3, 0.4]) + 7.0
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
    """Four members that each believe in another arm: the arm says who was drawn."""
    policy = mixture(zoo.make("Greedy", d=4))
    policy._own = np.log([0.1, 0.2, 0.3, 0.4])
    for j in range(4):
        post = policy._member_posterior(j)
        post.update(np.eye(4)[j], 1.0)
        memory.put_member(policy._members, j, post._state)
    drawn = np.bincount([policy.pull(np.eye(4)) for _ in range(4000)], minlength=4)
    assert stats.chisquare(drawn, [400, 800, 1200, 1600]).pvalue > 1e-3


def test_weights_move_to_short_memories_after_a_jump():
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(2), prior_cov=np.eye(2), noise_std=0.3, discount=1.0
    )
    policy = wsbnb.DiscountMixture(base, discounts=[0.9, 1.0], rng=0)
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
        with pytest.raises(ValueError, match="x and reward must keep"):
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
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(1), prior_cov=np.eye(1), noise_std=0.5, discount=1.0
    )
    policy = wsbnb.BanditOverDiscounts(
        base,
        discounts=[0.5, 0.9, 1.0],
        horizon=4,
        block=2,
        reward_range=(-2.0, 6.0),
        rng=0,
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
    policy._own[:4] = start
    p = policy.probabilities
    expected = np.zeros(4)
    for j in range(4):
        twin = policy.copy()
        twin._own[4] = j  # in charge
        twin.update(np.ones(3), gains[j])
        credit = (twin._own[:4] - start) * 4 / policy.rate
        assert np.count_nonzero(credit) == 1
        expected += p[j] * credit
    np.testing.assert_allclose(expected, gains)


def test_discounts_are_drawn_by_probability():
    policy = bandit(zoo.make("WSBLinTS"), block=1, reward_range=(0.0, 1.0))
    policy._own[:4] = [1.5, -0.2, 0.5, 0.0]
    p, drawn = policy.probabilities, np.zeros(4)
    for _ in range(4000):
        policy.pull(np.eye(3))
        drawn[GRID.index(policy.current_discount)] += 1
        policy.update(np.ones(3), 0.0)  # no gain: the scores stay as they are
    np.testing.assert_array_equal(policy.probabilities, p)
    assert stats.chisquare(drawn, 4000 * p).pvalue > 1e-3


@pytest.mark.parametrize("reward", [-5.0, 5.0])
def test_gains_are_clipped(reward):
    policy = bandit(zoo.make("WSBLinTS"), block=1)
    policy.pull(np.eye(3))
    j, p = GRID.index(policy.current_discount), policy.probabilities
    policy.update([1.0, 0.0, 0.0], reward)
    gain = policy._own[j] * 4 * p[j] / policy.rate
    assert gain == pytest.approx(float(reward > 0))


def test_restart_begins_each_block_from_the_prior():
    cold, hot = (m(zoo.make("WSBLinTS")) for m in (bandit, warm))
    for policy in (cold, hot):
        play(policy, rounds=7)
    np.testing.assert_allclose(cold.posterior.mean, zoo.prior(3)[0])
    assert not np.allclose(hot.posterior.mean, zoo.prior(3)[0])
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
    np.testing.assert_array_equal(policy._own, [0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    assert not np.allclose(policy.posterior.mean, zoo.prior(3)[0])


def test_default_block_and_rate():
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(2), prior_cov=np.eye(2), noise_std=0.5, discount=1.0
    )
    policy = wsbnb.BanditOverDiscounts(base, horizon=4000)
    assert policy.block == math.floor(2 * math.sqrt(4000)) == 126
    assert policy.rate == pytest.approx(
        math.sqrt(8 * math.log(8) / ((math.e - 1) * 32))
    )
    short = wsbnb.BanditOverDiscounts(base, discounts=GRID, horizon=3)
    assert short.block == 3 and short.rate == 1.0
    assert short.probabilities.tolist() == [0.25] * 4
    alone = wsbnb.BanditOverDiscounts(base, discounts=[0.9], horizon=100)
    assert alone.rate == 0.0 and alone.probabilities.tolist() == [1.0]


# --- restart at surprise --------------------------------------------------------------


@pytest.mark.parametrize("name", ["WSBLinTS", *(["LBWeightUCB"] if PLAIN else [])])
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
        base = wsbnb.WSBLinTS(
            prior_mean=mean, prior_cov=cov, noise_std=0.4, discount=1.0
        )
        policy = wsbnb.SurpriseRestart(base, threshold=threshold)
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
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(2), prior_cov=np.eye(2), noise_std=0.3, discount=1.0
    )
    policy = wsbnb.SurpriseRestart(base, rng=0)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 2))
    theta = np.where(np.arange(400)[:, None] < 300, [1.0, 0.0], [0.0, -1.0])
    policy.update(X, (X * theta).sum(axis=1) + 0.3 * rng.standard_normal(400))
    assert len(policy.alarms) == 1 and 300 < policy.alarms[0] < 320
    np.testing.assert_allclose(policy.posterior.mean, [0.0, -1.0], atol=0.15)


def test_large_scores_of_exp3_do_not_overflow():
    """Each counts by its distance to the largest, however long it has been growing."""
    policy = bandit(zoo.make("WSBLinTS"), discounts=[0.8, 0.9, 1.0])
    for level in (0.0, 1e4, -1e4):
        policy._own[:3] = level + np.log([1.0, 2.0, 5.0])
        expected = (1 - policy.rate) * np.array([1, 2, 5]) / 8 + policy.rate / 3
        np.testing.assert_allclose(policy.probabilities, expected, rtol=1e-9)


@pytest.mark.parametrize("current", [-1, 0, 2])
def test_the_weight_is_with_the_expert_in_charge(current):
    policy = bandit(zoo.make("WSBLinTS"), discounts=[0.8, 0.9, 1.0])
    policy._own[:] = [0.0, 1.0, 0.5, current, 0.0, 0.0]
    expected = np.eye(3)[1 if current < 0 else current]
    assert policy._shares().tolist() == expected.tolist()


@pytest.mark.parametrize(
    "current, count, total, possible",
    [
        (-1, 0, 0.0, True),
        (0, 0, 0.0, True),
        (0, 1, 0.5, True),
        (2, 3, -0.5, True),
        (-2, 0, 0.0, False),
        (3, 0, 0.0, False),
        (-1, 1, 0.0, False),
        (-1, 0, 0.5, False),
        (-1, 1, 0.5, False),
        (0, -1, 0.0, False),
        (0, 4, 0.0, False),
    ],
)
def test_states_of_a_block_that_can_be(current, count, total, possible):
    policy = bandit(zoo.make("WSBLinTS"), discounts=[0.8, 0.9, 1.0], block=4)
    own = np.array([0.0, 1.0, 0.5, current, count, total])
    if possible:
        return policy._check_own(own)
    with pytest.raises(ValueError, match="state own"):
        policy._check_own(own)


@pytest.mark.parametrize("size, sound", [(0.9e300, True), (1.1e300, False)])
def test_sums_of_rewards_have_a_limit_for_every_member(size, sound):
    """As in a posterior alone; the matrix beside them may be whatever it is."""
    policy = mixture(zoo.make("WSBLinTS"))
    policy._members.sums[1, -1, 0] = -size
    assert policy._is_sound() is sound


def test_a_member_without_a_posterior_is_noticed():
    policy = mixture(zoo.make("WSBLinTS"))
    assert policy._is_sound()
    policy._members.sums[1, 0, 0] = -1.0
    assert not policy._is_sound()


def test_grids_at_their_ends():
    assert wsbnb.discount_grid(1, dim=1).tolist() == [1.0]
    assert wsbnb.discount_grid(2, dim=1).tolist() == [0.5, 1.0]
    assert len(wsbnb.discount_grid(10**6, size=256)) == 256
    with pytest.raises(ValueError, match="size must be at most 256, got 257"):
        wsbnb.discount_grid(10**6, size=257)


def test_there_are_at_most_256_members():
    base, grid = zoo.make("WSBLinTS"), np.linspace(0.5, 1.0, 257)
    assert len(mixture(base, discounts=grid[1:]).discounts) == 256
    with pytest.raises(ValueError, match="discounts must"):
        mixture(base, discounts=grid)


@pytest.mark.parametrize(
    "own, possible",
    [
        ([0.0, 0.0], True),
        ([0.8, 3.0], True),
        ([0.9, 3.0], False),
        ([-0.1, 3.0], False),
        ([0.0, -1.0], False),
    ],
)
def test_states_of_a_watch_that_can_be(own, possible):
    policy = surprise(zoo.make("WSBLinTS"), threshold=0.8, inflation=1.5)
    if possible:
        return policy._check_own(np.array(own))
    with pytest.raises(ValueError, match="state own"):
        policy._check_own(np.array(own))
