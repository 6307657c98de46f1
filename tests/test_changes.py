"""The bank of starts and discounts, against all change points and dense formulas."""

import math

import numpy as np
import pytest
from scipy import stats

import wsbnb
from tests import zoo
from tests.kernels import PLAIN
from wsbnb.kernels import memory

pytestmark = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
H = 0.07


def changes(base, **options):
    standard = {"discounts": [0.8, 1.0], "starts": 4, "hazard": H, "share": 0.3}
    standard |= {"trust": np.inf, "calm": 1.0, "haste": 0.0, "rng": 1}
    return wsbnb.ChangePoints(base, **{**standard, **options})


def data(d, rounds, seed=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rounds, d)), 2.0 * rng.standard_normal(rounds)


def survival(hazard, t, steps=1.0):
    """Chance that nothing changes while the clock moves from t to t + steps."""
    if hazard is None:
        return (1000.0 + t) / (1000.0 + t + steps)
    return (1.0 - hazard) ** steps


# --- all change points ----------------------------------------------------------------


def segment_evidence(X, rewards, prior):
    """Log density of the rewards of one still stretch: one big Gaussian."""
    mean, cov = prior
    joint = X @ cov @ X.T + zoo.SIGMA**2 * np.eye(len(X))
    return stats.multivariate_normal.logpdf(rewards, X @ mean, joint)


def posterior_of_last_change(X, rewards, prior, hazard):
    """Sum over every set of change points; entry b: the present began after round b."""
    n = len(X)
    log_weight = np.full(n + 1, -np.inf)

    def stays(b):
        return survival(hazard, b - 1)

    for code in range(2 ** (n - 1)):
        cuts = [b for b in range(1, n) if code >> (b - 1) & 1]
        chance = sum(
            math.log(1 - stays(b) if b in cuts else stays(b)) for b in range(1, n)
        )
        edges = [0, *cuts, n]
        evidence = sum(
            segment_evidence(X[a:b], rewards[a:b], prior)
            for a, b in zip(edges[:-1], edges[1:], strict=True)
        )
        last = edges[-2]
        log_weight[last] = np.logaddexp(log_weight[last], chance + evidence)
    weight = np.exp(log_weight - log_weight.max())
    weight *= stays(n) / weight.sum()
    weight[n] = 1.0 - stays(n)  # or it begins with the next round
    return weight


def ridge_prior(d):
    """What weighted least squares believe: a precision of lambda / sigma^2."""
    return np.zeros(d), zoo.SIGMA**2 / zoo.LAMBDA * np.eye(d)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("hazard", [H, 0.4, None])
@pytest.mark.parametrize(
    ("name", "prior"), [("WSBLinTS", zoo.prior), ("DLinTS", ridge_prior)]
)
def test_starts_are_exact(d, hazard, name, prior):
    X, rewards = data(d, 8)
    policy = changes(zoo.make(name, d=d), discounts=[], starts=9, hazard=hazard)
    policy.update(X, rewards)
    expected = posterior_of_last_change(X, rewards, prior(d), hazard)
    lengths, weights = policy.run_lengths
    np.testing.assert_array_equal(lengths, np.arange(9))
    np.testing.assert_allclose(weights, expected[::-1], rtol=1e-9)
    assert policy.lost < 1e-300 and policy.rounds == 8


# --- all histories of who was right ---------------------------------------------------


def log_predictive(X, rewards, t, begin, gamma, d):
    mean, cov = zoo.prior(d)
    w = gamma ** np.arange(t - begin - 1, -1, -1)
    mu, Sigma = wsbnb.batch_posterior(
        X[begin:t], rewards[begin:t], w, mean, cov, zoo.SIGMA
    )
    spread = math.sqrt(zoo.SIGMA**2 + X[t] @ Sigma @ X[t])
    return stats.norm.logpdf(rewards[t], X[t] @ mu, spread)


def every_history(X, rewards, d, discounts, hazard, share):
    """Weights before the next round, from all sequences of members, one by one."""
    n, N = len(X), len(discounts)
    members = [("discount", j) for j in range(N)] + [("start", b) for b in range(n + 1)]

    def predictive(member, t):
        kind, which = member
        begin, gamma = (0, discounts[which]) if kind == "discount" else (which, 1.0)
        return math.exp(log_predictive(X, rewards, t, begin, gamma, d))

    total = dict.fromkeys(members, 0.0)

    def follow(member, t, weight):
        if t == n:
            total[member] += weight
            return
        weight = weight * predictive(member, t)
        keep, taken = 1.0 - hazard, share * hazard if N else 0.0
        follow(("start", t + 1), t + 1, weight * hazard)
        follow(member, t + 1, weight * keep * (1.0 - taken))
        for j in range(N):
            follow(("discount", j), t + 1, weight * keep * taken / N)

    for first in members[:N]:
        follow(first, 0, 1e-3 / N)
    follow(("start", 0), 0, 1.0 - 1e-3)
    weights = np.array([total[member] for member in members])
    return weights / weights.sum()


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", ["WSBLinTS", "WSBLinUCB", "WSBRandLinUCB"])
def test_discounts_and_starts_are_exact(name, d):
    X, rewards = data(d, 4)
    policy = changes(zoo.make(name, d=d), starts=5)
    policy.update(X, rewards)
    expected = every_history(X, rewards, d, [0.8, 1.0], H, 0.3)
    order = np.argsort(policy.began)
    mine = policy.weights
    np.testing.assert_allclose(mine[:2], expected[:2], rtol=1e-9)
    np.testing.assert_allclose(mine[2:][order], expected[2:], rtol=1e-9)


# --- with everything: pruning, widening, time that passes -----------------------------


class Dense:
    """The same policy's beliefs with dense covariances, in plain NumPy."""

    def __init__(self, d, discounts, starts, hazard, share, keep, trust=np.inf):
        self.mean0, self.cov0 = zoo.prior(d)
        self.known = len(discounts)
        n = self.known + starts
        self.gamma = [*discounts, *[1.0] * starts]
        self.P0 = np.linalg.inv(self.cov0)
        self.P = [self.P0.copy() for _ in range(n)]
        self.h = [self.P0 @ self.mean0 for _ in range(n)]
        self.w = np.zeros(n)
        self.w[: self.known] = 1e-3 / self.known
        self.w[self.known] = 1.0 - 1e-3
        self.born, self.clock, self.lost = np.zeros(n), 0.0, 0.0
        self.hazard, self.share, self.keep = hazard, share, keep
        self.trust, self.noise = trust, 1.0

    def fade(self, j, f):
        self.P[j] = f * self.P[j] + (1 - f) * self.P0
        self.h[j] = f * self.h[j] + (1 - f) * self.P0 @ self.mean0

    def learn(self, x, r, steps):
        squares = np.zeros(len(self.w))
        for j in range(len(self.w)):
            cov = np.linalg.inv(self.P[j])
            spread = math.sqrt(self.noise * (zoo.SIGMA**2 + x @ cov @ x))
            z = (r - x @ cov @ self.h[j]) / spread
            squares[j] = min(z * z, 16.0)
            self.w[j] *= stats.norm.pdf(z) / spread
            self.fade(j, self.gamma[j] ** steps)
            self.P[j] = self.P[j] + np.outer(x, x) / zoo.SIGMA**2
            self.h[j] = self.h[j] + x * r / zoo.SIGMA**2
        self.w /= self.w.sum()
        self.noise *= 1 + (self.w @ squares - 1) / (self.trust + 1)
        if steps:
            self.bear(steps)

    def wait(self, steps):
        for j in range(len(self.w)):
            self.fade(j, self.gamma[j] ** steps)
        self.bear(steps)

    def bear(self, steps):
        out = self.known + int(np.argmin(self.w[self.known :]))
        self.lost += self.w[out]
        self.w[out] = 0.0
        stays = survival(self.hazard, self.clock, steps)
        taken = self.share * (1 - stays)
        self.w *= stays * (1 - taken) / self.w.sum()
        self.w[: self.known] += stays * taken / self.known
        leader = int(np.argmax(self.w))
        self.P[out], self.h[out] = self.P[leader].copy(), self.h[leader].copy()
        self.fade(out, self.keep)
        self.w[out] = 1 - stays
        self.clock += steps
        self.born[out] = self.clock


@pytest.mark.parametrize("trust", [5.0, np.inf])
@pytest.mark.parametrize("keep", [0.0, 0.3])
@pytest.mark.parametrize("hazard", [H, None])
@pytest.mark.parametrize("d", [1, 3])
def test_against_dense_formulas(d, hazard, keep, trust):
    options = dict(discounts=[0.8, 0.95, 1.0], starts=4, hazard=hazard, share=0.3)
    options |= {"keep": keep, "trust": trust}
    policy = changes(zoo.make("WSBLinTS", d=d), **options)
    dense = Dense(d, **options)
    X, rewards = data(d, 40)
    rewards[20:] += 5.0 * X[20:, 0]  # a jump
    for t, (x, r) in enumerate(zip(X, rewards, strict=True)):
        policy.update(x, r, decay=t % 7 != 5)
        dense.learn(x, r, float(t % 7 != 5))
        if t == 30:
            policy.decay(2.5)
            dense.wait(2.5)
    np.testing.assert_allclose(policy.weights, dense.w, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(policy.began, dense.born[3:])
    assert policy.lost == pytest.approx(dense.lost, rel=1e-7)
    assert policy.noise_level == pytest.approx(zoo.SIGMA * math.sqrt(dense.noise))
    assert (policy.noise_level == zoo.SIGMA) == (trust == np.inf)
    sums = policy._members.sums
    np.testing.assert_allclose(memory.precision_of(sums), dense.P, rtol=1e-8)
    np.testing.assert_allclose(memory.shift_of(sums), dense.h, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["DLinTS", "WSBLinUCB"])
def test_a_widened_newcomer_takes_everything_over(name):
    """Squared weights, counts and eigenvalue bounds, too."""
    policy = changes(zoo.make(name), keep=0.5, discounts=[1.0])
    X, rewards = data(3, 12)
    policy.update(X, rewards)
    newest = 1 + int(np.argmax(policy.began))
    leader = int(np.argmax(np.delete(policy.weights, newest)))
    leader += leader >= newest
    new, old = (policy._member_posterior(j) for j in (newest, leader))
    P0 = np.linalg.inv(new.prior_cov)
    np.testing.assert_allclose(new.precision, 0.5 * old.precision + 0.5 * P0)
    assert new.weight_sum == pytest.approx(0.5 * old.weight_sum)
    assert new.squared_weight_sum == pytest.approx(0.25 * old.squared_weight_sum)
    if name == "DLinTS":
        squares = [memory.precision_of(p._state.squares) for p in (new, old)]
        np.testing.assert_allclose(squares[0], 0.25 * squares[1] + 0.75 * P0)
    else:
        top = np.linalg.eigvalsh(P0 @ new.cov @ P0)[-1]
        assert top <= new._state.bound[0] * (1 + 1e-9)


# --- what it is for -------------------------------------------------------------------


def still_runs(hazard, runs, n, noise=1.0):
    """Alarms in still worlds whose parameter comes from the prior; starts alone."""
    rng = np.random.default_rng(5)
    mean, cov = zoo.prior(2)
    alarmed = 0
    for _ in range(runs):
        base = wsbnb.WSBLinTS(
            prior_mean=mean, prior_cov=cov, noise_std=0.4, discount=1.0
        )
        policy = wsbnb.ChangePoints(base, discounts=[], hazard=hazard, trust=np.inf)
        X = rng.standard_normal((n, 2))
        theta = rng.multivariate_normal(mean, cov)
        policy.update(X, X @ theta + noise * 0.4 * rng.standard_normal(n))
        alarmed += policy.alarms > 0
    return alarmed / runs


def test_false_alarms_are_as_rare_as_promised():
    hazard, n = 1e-3, 200
    promise = (1 - hazard) ** -n - 1
    share = still_runs(hazard, 300, n)
    assert share < promise + 3 * math.sqrt(promise / 300)
    assert still_runs(hazard, 30, n, noise=2.0) > 2 * promise  # so the test can fail


def still_alarms(rounds, noise=1.0, **options):
    """Alarms of the policy as it comes, in one still world; random arms."""
    rng = np.random.default_rng(11)
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.4, discount=1.0
    )
    policy, theta = wsbnb.ChangePoints(base, rng=0, **options), rng.standard_normal(2)
    for _ in range(10):
        X = rng.standard_normal((rounds // 10, 2))
        policy.update(X, X @ theta + noise * 0.4 * rng.standard_normal(len(X)))
    return policy.alarms


@pytest.mark.skipif(PLAIN, reason="too slow without the compiler")
def test_a_million_still_rounds():
    """Stated in the chapter: the default is quiet, a constant hazard is not for ever.

    The bound of the theorem for 10^4 rounds, at odds of one, is e - 1 at most a
    hundred times: far above what is asked for here.
    """
    assert still_alarms(1_000_000) <= 2
    constant = still_alarms(200_000, discounts=[], hazard=1e-4, trust=np.inf)
    assert constant <= 200_000 * 1e-4  # about one in 1 / H rounds, or fewer
    assert still_alarms(20_000, noise=1.5, trust=np.inf) > 20  # so the test can fail
    assert still_alarms(20_000, noise=1.5) <= 2  # unless the noise is learnt


@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("moves", [False, True])
def test_the_noise_level_is_learnt(noise, moves):
    """Also while the parameter turns, which a long memory would take for noise."""
    rng = np.random.default_rng(4)
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.4, discount=1.0
    )
    policy = wsbnb.ChangePoints(base, rng=0)
    X, angle = rng.standard_normal((5000, 2)), np.arange(5000) / 200 * moves
    means = X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle)
    policy.update(X, means + 0.4 * noise * rng.standard_normal(5000))
    assert policy.noise_level == pytest.approx(0.4 * noise, rel=0.12)


def test_noise_stays_within_limits():
    base = zoo.make("WSBLinTS", d=1)
    for reward, limit in ((0.0, 1e-3), (1e12, 1e3)):
        policy = wsbnb.ChangePoints(base, trust=1.0, rng=0)
        for t in range(400):
            policy.update([1.0], reward * 10.0**t if reward and t < 9 else reward)
        assert np.isfinite(policy._own).all()
        if not reward:
            assert policy.noise_level == pytest.approx(limit * zoo.SIGMA)


@pytest.mark.parametrize("name", ["WSBLinTS", "WSBLinUCB", "WSBRandLinUCB", "Uniform"])
def test_members_that_forget_explore_calmly(name):
    """Scores of the only member with weight, at the scale that is left to it."""
    X = np.random.default_rng(8).standard_normal((5, 3))
    for j, part in ((0, 0.3), (1, 1.0), (2, 1.0)):
        policy = changes(zoo.make(name), starts=2, calm=0.3)
        policy.update(*data(3, 6))
        policy._own[:4] = -700.0
        policy._own[j], policy._own[-1] = 0.0, 2.25  # the noise is 1.5 times as large
        post = policy._member_posterior(j)
        mean = X @ post.mean
        z = np.random.default_rng(1).standard_normal(policy.n_normals)
        plain = LinearTwin(policy.base, post, z)
        expected = mean + 1.5 * part * (plain.scores(X) - mean)
        if name == "Uniform":
            expected = plain.scores(X)
        np.testing.assert_allclose(policy.scores(X), expected, rtol=1e-9)


class LinearTwin:
    """A base at a given posterior, whose draws are given."""

    def __init__(self, base, post, z):
        self.base, self.post, self.z = base, post, z

    def scores(self, X):
        twin = self.base.clone()
        twin._rng = self
        twin.posterior._set_learnt(self.post._state)
        return twin.scores(X)

    def standard_normal(self, size=None):
        return self.z[: np.prod(size)].reshape(size)

    def __deepcopy__(self, memo):
        return self


def test_a_jump_is_found_and_dated():
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.3, discount=1.0
    )
    policy = wsbnb.ChangePoints(base, rng=0)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 2))
    theta = np.where(np.arange(400)[:, None] < 300, [1.0, 0.0], [0.0, -1.0])
    rewards = (X * theta).sum(axis=1) + 0.3 * rng.standard_normal(400)
    policy.update(X[:300], rewards[:300])
    assert policy.alarms == 0 and policy.since == 0
    policy.update(X[300:320], rewards[300:320])
    assert policy.alarms >= 1 and abs(policy.since - 300) <= 2
    policy.update(X[320:], rewards[320:])
    np.testing.assert_allclose(policy.posterior.mean, [0.0, -1.0], atol=0.15)
    lengths, weights = policy.run_lengths
    assert abs(lengths[np.argmax(weights)] - 100) <= 2


@pytest.mark.parametrize("haste", [0.0, 0.25, 1.0])
def test_members_are_drawn_by_weight(haste):
    """Or their neighbours to the left, of those that forget."""
    policy = changes(
        zoo.make("Greedy", d=5), discounts=[0.8, 0.9, 1.0], starts=2, haste=haste
    )
    weights = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    policy._own[:5] = np.log(weights)
    for j in range(5):
        post = policy._member_posterior(j)
        post.update(np.eye(5)[j], 1.0)
        memory.put_member(policy._members, j, post._state)
    drawn = np.bincount([policy.pull(np.eye(5)) for _ in range(4000)], minlength=5)
    moved = haste * weights[1:3]
    chances = weights + [moved[0], moved[1] - moved[0], -moved[1], 0.0, 0.0]
    drawn, chances = drawn[chances > 0], chances[chances > 0]
    assert stats.chisquare(drawn, 4000 * chances).pvalue > 1e-3


@pytest.mark.parametrize("hazard", [H, None])
def test_any_time_may_pass(hazard):
    """A moment, or so long that a change is certain."""
    for steps in (5e-324, 1e-300, 1e-9, 1e9, 1e15):
        policy = changes(zoo.make("WSBLinTS"), hazard=hazard)
        policy.update(*data(3, 9))
        policy.decay(steps)
        policy.update(*data(3, 9))
        assert policy.weights.sum() == pytest.approx(1.0)
        assert np.isfinite(policy._own).all()
    before = policy._own.copy()
    policy.decay(0)
    with pytest.raises(ValueError, match="steps must lead to round"):
        policy.decay(1e300)  # its file could not be read
    np.testing.assert_array_equal(policy._own, before)


def test_weights_survive_the_impossible():
    """A reward that no member believes in leaves proper weights behind."""
    policy = changes(zoo.make("WSBLinTS"))
    policy.update(np.ones((5, 3)), np.full(5, 1e3))
    assert policy.weights.sum() == pytest.approx(1.0) and policy.weights.min() > 0
    policy.update(*data(3, 30))
    assert np.isfinite(policy._own).all()


@pytest.mark.parametrize("reward", [1e4, 1e8, 1e12])
def test_weights_of_an_outlier_within_a_round_sum_to_one(reward, tmp_path):
    """They had lost their digits beside its log likelihood, and no file was read."""
    policy = changes(zoo.make("WSBLinTS"))
    policy.update(np.ones(3), reward, decay=False)  # all members expect the same
    sums = np.exp(memory.beliefs(policy._own, 6).log_weights).sum()
    assert sums == pytest.approx(1.0, rel=1e-9)
    policy.save(tmp_path / "policy.json")
    again = wsbnb.load(tmp_path / "policy.json")
    np.testing.assert_equal(again._get_state(), policy._get_state())


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"starts": 1}, "starts"),
        ({"starts": 255}, "starts"),
        ({"starts": 2.5}, "starts"),
        ({"hazard": 0.0}, "hazard"),
        ({"hazard": 1.0}, "hazard"),
        ({"hazard": "often"}, "hazard"),
        ({"share": 1.0}, "share"),
        ({"share": -0.1}, "share"),
        ({"keep": 1.0}, "keep"),
        ({"keep": np.nan}, "keep"),
        ({"calm": 0.0}, "calm"),
        ({"trust": 0.5}, "trust"),
        ({"haste": 1.5}, "haste"),
        ({"trust": "much"}, "trust"),
        ({"discounts": [0.9, 0.8]}, "discounts"),
        ({"discounts": [0.0]}, "discounts"),
    ],
)
def test_bad_settings(options, word):
    with pytest.raises((TypeError, ValueError), match=word):
        changes(zoo.make("WSBLinTS"), **options)
