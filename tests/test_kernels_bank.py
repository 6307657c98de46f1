"""The pieces of a master, one by one: draws, densities, credit, births and noise.

Whole masters are tested elsewhere. Here the compiler is off, so that every piece can be
called alone: `test_plain_python.py` starts this file with ``NUMBA_DISABLE_JIT=1``.
"""

import math

import numpy as np
import pytest
from scipy import special, stats

import wsbnb
from tests.kernels import PLAIN
from wsbnb.kernels import bank, estimate, memory

pytestmark = pytest.mark.skipif(not PLAIN, reason="inner functions, called alone")


# --- who chooses ----------------------------------------------------------------------


@pytest.mark.parametrize("floor", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("size", [1.0, 1000.0])
def test_draw(floor, size):
    rng = np.random.default_rng(0)
    for n in (1, 2, 5):
        own = np.r_[size * rng.standard_normal(n), 9e9]  # what comes after is not hers
        shares = (1 - floor) * special.softmax(own[:n]) + floor / n
        ends = np.cumsum(shares)
        for u in (0.0, 0.1, 0.5, 0.77, 0.999):
            found = bank.draw(own, n, u, floor)
            assert found == min(np.searchsorted(ends, u, side="right"), n - 1)
    assert bank.draw(np.zeros(2), 2, 0.5, 0.0) == 1  # the first has [0, 1/2)
    assert bank.draw(np.zeros(3), 3, 1.0, 0.0) == 2


def test_angles_are_uniform():
    for u in (0.01, 0.3, 0.5, 0.9):
        angle = 2 * math.pi * (u - 0.5)
        luck = np.array([[9.0, 9.0], [2 * math.sin(angle), 2 * math.cos(angle)]])
        assert bank.uniform(luck, 1) == pytest.approx(u, rel=1e-12)


def changes(**words):
    usual = dict(discounted=2, period=20.0, growth=0.0, share=0.3, keep=0.4, calm=0.5)
    return bank.Changes(**{**usual, "trust": 7.0, "haste": 0.0, **words})


@pytest.mark.parametrize("drawn", range(4))
def test_haste_moves_on_by_one_discount(drawn):
    """Members 0 to 2 are discounted; the length of the two normals is a second draw."""
    own = np.where(np.arange(4) == drawn, 0.0, -600.0)
    luck = np.array([[0.6, -0.8], [1.2, 0.7], [0.0, 0.0]])
    for t, square in enumerate((1.0, 1.93, 0.0)):
        for haste in (0.0, 0.38, 0.6, 0.62, 1.0):
            moves = 0 < drawn < 3 and math.exp(-square / 2) < haste
            master = changes(discounted=3, haste=haste)
            assert bank.pick(master, own, 4, luck, t) == drawn - moves


def test_a_mixture_draws_and_a_single_member_is_chosen():
    own, luck = np.array([-600.0, 0.0, -600.0]), np.array([[0.0, 1.0], [1.0, -0.1]])
    for t in range(2):
        assert bank.pick(bank.Mixture(0.9), own, 3, luck, t) == 1
        assert bank.pick(bank.Surprise(1.0, 2.0), own, 1, luck, t) == 0


def test_labels_cannot_be_mistaken():
    others = {bank.NOBODY, bank.EVERYBODY, bank.EVERYBODY_AFTERWARDS}
    assert len(others) == 3 and bank.NEWCOMER < min(others)


def test_blocks_draw_once():
    master = bank.Blocks(block=3.0, rate=0.2, low=0.0, high=1.0, restart=False)
    luck = np.array([[0.0, 1.0]])  # one half
    own = np.array([0.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    assert bank.pick(master, own, 3, luck, 0) == 1 and own[3] == 1.0
    for chosen in (0.0, 2.0):  # kept until the block ends
        own[3] = chosen
        assert bank.pick(master, own, 3, luck, 0) == chosen


def test_boldness():
    members = memory.new_members(memory.new_state(PRIOR), [0.9, 1.0])
    own = np.r_[np.zeros(8), 2.25]
    assert bank.boldness(changes(), own, members, 0) == 0.5 * 1.5
    assert bank.boldness(changes(), own, members, 1) == 1.5
    for master in (bank.Mixture(0.5), bank.Surprise(1.0, 2.0)):
        assert bank.boldness(master, own, members, 0) == 1.0


PRIOR = estimate.Prior(memory.packed(np.diag([2.0, 3.0]), [1.0, -1.0]), 4.0)


# --- credit ---------------------------------------------------------------------------


def test_densities_and_totals():
    rng = np.random.default_rng(1)
    expected = np.array([rng.standard_normal(3), [0.3, 1.0, 7.0]])
    for j in range(3):
        law = stats.norm(expected[0, j], math.sqrt(expected[1, j]))
        assert bank.log_density(expected, j, 0.7) == pytest.approx(law.logpdf(0.7))
    for own in (rng.standard_normal(4), np.array([-2000.0, 900.0, 899.0, 5.0])):
        total = bank._log_total(np.r_[own, 9e9], 4)
        assert total == pytest.approx(special.logsumexp(own), rel=1e-13)
    assert bank._log_total(np.array([3.0]), 1) == 3.0
    logs = [bank._log(weight) for weight in (0.0, 1e-320, math.exp(-3.0), 1.0)]
    assert logs == pytest.approx([-700.0, -700.0, -3.0, 0.0], abs=1e-12)
    assert bank._log(1e-300) == pytest.approx(math.log(1e-300), rel=1e-12)


def test_credit_of_a_mixture():
    expected = np.array([[0.5, -1.0], [1.0, 2.0]])
    own = np.array([-3.0, -5.0])
    master = bank.Mixture(0.9)
    assert bank.credit(master, own, 2, expected, 0.7, 2.5) == bank.NOBODY
    told = [bank.log_density(expected, j, 0.7) for j in range(2)]
    assert own == pytest.approx(0.9**2.5 * np.array([-3.0, -5.0]) + told)


@pytest.mark.parametrize("mean", [-3.0, 0.9, 1.6, 9.0])
@pytest.mark.parametrize("scale", [1.0, 900.0])
def test_credit_of_a_block(mean, scale):
    """EXP3: the gain over the chance of the one who chose, when the block is over."""
    master = bank.Blocks(block=2.0, rate=0.25, low=0.5, high=2.5, restart=True)
    start = scale * np.array([0.3, -0.2, 0.8])
    own = np.r_[start, 1.0, 0.0, 0.0]
    unused = np.zeros((2, 3))
    assert bank.credit(master, own, 3, unused, mean - 0.5, 1.0) == bank.NOBODY
    assert own.tolist() == [*start, 1.0, 1.0, mean - 0.5]
    after = bank.credit(master, own, 3, unused, mean + 0.5, 1.0)
    assert after == bank.EVERYBODY_AFTERWARDS
    chance = 0.75 * special.softmax(start)[1] + 0.25 / 3
    gain = 0.25 * np.clip((mean - 0.5) / 2.0, 0, 1) / (3 * chance)
    assert own == pytest.approx([start[0], start[1] + gain, start[2], -1.0, 0.0, 0.0])
    before = own.copy()  # nobody has chosen
    assert bank.credit(master, own, 3, unused, 5.0, 1.0) == bank.NOBODY
    assert (own == before).all()
    own[3] = 0.0  # the first member may have chosen, too
    bank.credit(master._replace(block=1.0), own, 3, unused, mean, 1.0)
    assert (own[0] > before[0]) == (mean > 0.5) and own[3] == -1.0


def test_credit_at_a_surprise():
    """A CUSUM of log likelihood ratios between variances v s and s."""
    master = bank.Surprise(threshold=2.0, inflation=3.0)
    expected, own, total = np.array([[0.5, 9.0], [2.0, 9.0]]), np.zeros(2), 0.0
    alarms = 0
    for n, reward in enumerate([0.1, 3.0, 0.6, -2.0, 5.0, 0.2, 6.0, 0.5]):
        wide, narrow = stats.norm(0.5, math.sqrt(6.0)), stats.norm(0.5, math.sqrt(2.0))
        total = max(0.0, total + wide.logpdf(reward) - narrow.logpdf(reward))
        who = bank.credit(master, own, 1, expected, reward, 1.0)
        assert who == (bank.EVERYBODY if total > 2.0 else bank.NOBODY)
        alarms += total > 2.0
        total = 0.0 if total > 2.0 else total
        assert own == pytest.approx([total, n + 1.0], abs=1e-12)
    assert alarms == 2
    level = 0.5 * (2 / 3 * (4.0**2 / 2.0) - math.log(3.0))
    threshold = 1e9
    for _ in range(2):  # the second time it is exactly what is reached: not above
        own[0] = 0.0
        master = bank.Surprise(threshold, inflation=3.0)
        assert bank.credit(master, own, 1, expected, 4.5, 1.0) == bank.NOBODY
        threshold = own[0]
    assert threshold == pytest.approx(level, rel=1e-12)


# --- the members ----------------------------------------------------------------------


def bank_of(gamma, seed=5):
    """Members with squares and a bound that have learnt different things."""
    bound = memory.new_bound(3.0)
    members = memory.new_members(
        memory.new_state(PRIOR, squares=True, bound=bound), gamma
    )
    work = memory.new_work(2, 1, spare=2)
    rng = np.random.default_rng(seed)
    for j in range(len(gamma)):
        for _ in range(3):
            work.vectors[estimate.ARM, :2] = rng.standard_normal(2)
            state = bank.member(members, j)
            rule = estimate.Exponential(0.9)
            estimate.learn(rule, PRIOR, state, work, rng.standard_normal(), 1.0, 0.8)
        members.bound[j, 0] = 0.3 + 0.1 * j
    stacked = estimate.Prior(PRIOR.sums[None], PRIOR.precision)
    return members, work, stacked


def faded(members, j, keep):
    """What remains of a member's knowledge after one fading by `keep`."""
    sums = keep * members.sums[j] + (1 - keep) * PRIOR.sums
    squares = keep**2 * members.squares[j] + (1 - keep**2) * PRIOR.sums
    counts = members.counts[j] * [1.0, keep, keep**2]
    bound = min(3.0, 1 / (keep / members.bound[j, 0] + (1 - keep) / 3.0))
    return np.triu(sums[:2, :2]), sums[2], np.triu(squares[:2, :2]), counts, bound


def test_what_all_expect():
    members, work, prior = bank_of([0.9, 1.0])
    x = np.array([0.7, -1.1])
    work.vectors[estimate.ARM, :2], work.fresh[0] = x, 1.0
    expected = np.zeros((2, 2))
    assert bank.predict_all(prior, members, work, expected)
    assert work.fresh[0] == 0.0  # the factor is that of the last one
    for j in range(2):
        P, h = memory.precision_of(members.sums[j]), memory.shift_of(members.sums[j])
        mean, variance = x @ np.linalg.solve(P, h), x @ np.linalg.solve(P, x)
        assert expected[:, j] == pytest.approx([mean, 0.25 + variance], rel=1e-12)
    for j in range(2):
        members.sums[j, 0, 0] *= -1.0
        assert not bank.predict_all(prior, members, work, expected)
        members.sums[j, 0, 0] *= -1.0


@pytest.mark.parametrize("steps", [0.0, 1.0, 2.0, 2.5])
@pytest.mark.parametrize("weight", [0.0, 0.8])
def test_all_learn(steps, weight):
    gamma = [0.9, 0.7]
    members, work, prior = bank_of(gamma)
    x, r = np.array([0.7, -1.1]), 1.3
    work.vectors[estimate.ARM, :2] = x
    expected = [faded(members, j, f**steps) for j, f in enumerate(gamma)]
    bank.learn_all(prior, members, work, r, steps, weight)
    for j, (P, h, squares, counts, bound) in enumerate(expected):
        state = bank.member(members, j)
        P = P + np.triu(4.0 * weight * np.outer(x, x))
        squares = squares + np.triu(4.0 * weight**2 * np.outer(x, x))
        np.testing.assert_allclose(np.triu(state.sums[:2, :2]), P, rtol=1e-12)
        np.testing.assert_allclose(np.triu(state.squares[:2, :2]), squares, rtol=1e-12)
        np.testing.assert_allclose(state.sums[2, :2], h[:2] + 4.0 * weight * r * x)
        assert state.counts == pytest.approx(counts + [steps, weight, weight**2])
        assert state.bound[0] == pytest.approx(bound, rel=1e-12)


def test_follow_a_log():
    gamma = [0.9, 1.0]
    members = memory.new_members(memory.new_state(PRIOR), gamma)
    prior = estimate.Prior(PRIOR.sums[None], PRIOR.precision)
    rng = np.random.default_rng(8)
    X, rewards = rng.standard_normal((6, 2)), rng.standard_normal(6)
    predicted, expected = np.zeros((2, 6, 2)), np.zeros((2, 2))
    words = prior, members, memory.new_work(2, 1), expected, X, rewards, predicted
    assert bank.follow(*words) == 6
    cov = np.diag([1 / 2, 1 / 3])
    for j, discount in enumerate(gamma):
        post = wsbnb.WSBPosterior(
            prior_mean=cov @ [1.0, -1.0],
            prior_cov=cov,
            noise_std=0.5,
            discount=discount,
        )
        mean, variance = post.predict_and_learn(X, rewards)
        np.testing.assert_allclose(predicted[0, :, j], mean, rtol=1e-10)
        np.testing.assert_allclose(predicted[1, :, j], 0.25 + variance, rtol=1e-10)
    members.sums[1, 0, 0] = -1.0
    assert bank.follow(*words) == 0


def test_time_passes_for_all():
    members, work, prior = bank_of([0.9, 1.0, 1.0])
    own = np.r_[np.log([0.5, 0.3, 0.2]), np.zeros(7), 1.0]
    expected = [faded(members, j, f) for j, f in enumerate([0.9**2.5, 1.0, 1.0])]
    work.fresh[0] = 1.0
    bank.let_pass(changes(discounted=1, keep=0.0), prior, members, own, work, 2.5)
    assert work.fresh[0] == 0.0
    for j in range(2):
        np.testing.assert_allclose(members.sums[j, 2], expected[j][1], rtol=1e-12)
        assert members.counts[j] == pytest.approx(expected[j][3] + [2.5, 0.0, 0.0])
    np.testing.assert_allclose(members.sums[2], PRIOR.sums, rtol=1e-12)  # the new one
    assert own[3 + 2] == own[6 + bank.AGE] == 2.5


def test_a_round_of_a_bank():
    """One member and a CUSUM, the noise beside the expected reward, and its labels."""
    members = memory.new_members(memory.new_state(PRIOR), [1.0])
    prior = estimate.Prior(PRIOR.sums[None], PRIOR.precision)
    master = bank.Surprise(threshold=2.0, inflation=3.0)
    arms = np.array([[[1.0, 0.0], [0.0, 1.0]]])  # (1, d, K): the unit vectors
    rewards = np.tile([0.4, 9.0], (3, 1))
    noise, chosen = np.array([0.3, 7.0, 4.5]), np.zeros(3, dtype=np.int64)
    raised, own, work = chosen.copy(), np.zeros(2), memory.new_work(2, 8)
    rule = wsbnb.exploration.Greedy().compiled(PRIOR)
    words = [master, rule, prior, members, own, work, np.zeros((2, 1)), arms, rewards]
    words += [noise, np.zeros((3, 0)), np.zeros((3, 2)), chosen, raised]
    assert bank.play_bank(*words, 1.0, 1.0, True, True) == 3
    assert chosen.tolist() == [0, 0, 0]  # the mean of the second stays below 0
    assert raised.tolist() == [0, 1, 0]
    # Before it learns from the surprising reward the member starts anew.
    P, h = np.diag([2.0 + 8.0, 3.0]), [1.0 + 4.0 * (7.4 + 4.9), -1.0]
    np.testing.assert_allclose(memory.precision_of(members.sums[0]), P, rtol=1e-12)
    np.testing.assert_allclose(memory.shift_of(members.sums[0]), h, rtol=1e-12)
    members.sums[0, 0, 0] = -1.0
    assert bank.play_bank(*words, 1.0, 1.0, True, False) == 0 and chosen[0] < 0
    assert bank.play_bank(*words, 1.0, 1.0, False, True) == 0


# --- change points --------------------------------------------------------------------


def test_beliefs_at_first():
    """Every discount, and one start, are as likely; nothing has passed."""
    known = memory.beliefs(memory.new_beliefs(2, 5), 5)
    shares = np.exp(known.log_weights)
    assert shares == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0, 0.0], abs=1e-300)
    assert known.births.tolist() == [0.0] * 5
    assert known[2:] == (0.0, 0.0, 0.0, 0.0, 1.0)
    counted = memory.beliefs(np.arange(15.0), 5)
    assert counted.log_weights.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert counted.births.tolist() == [5.0, 6.0, 7.0, 8.0, 9.0]
    assert counted[2:] == (10.0, 11.0, 12.0, 13.0, 14.0)


def heaviest(weights, births, after):
    young = [j for j in range(len(weights)) if births[j] > after]
    best = max(young, key=lambda j: (weights[j], -j), default=-1)
    return best, sum(math.exp(weights[j]) for j in young)


def test_the_heaviest_member_born_after_a_round():
    rng = np.random.default_rng(2)
    for _ in range(60):
        weights, births = rng.integers(-3, 0, 4) / 2.0, rng.integers(0, 3, 4)
        for after in range(4):
            own = np.r_[weights, births, np.zeros(5)].astype(float)
            best, total = heaviest(weights, births, after)
            found = bank._heaviest(own, 4, after)
            assert found[0] == best and found[1] == pytest.approx(total)


@pytest.mark.parametrize("share, alarm", [(0.4, False), (0.5, False), (0.6, True)])
def test_an_alarm_needs_a_majority(share, alarm):
    weights = np.log([1.0 - share, 0.4 * share, 0.6 * share])
    if share == 0.5:  # to the last bit
        weights = np.log([0.5, 0.5, 1e-300])
    own = np.r_[weights, 2.0, 5.0, 6.0, np.zeros(5)]
    own[6:] = 7.0, 3.0, 4.0, 0.25, 1.0
    before = own.copy()
    bank._sound_alarm(own, 3)
    before[6 + bank.SINCE] = 6.0 if alarm else 3.0
    before[6 + bank.ALARMS] += alarm
    assert (own == before).all()


@pytest.mark.parametrize("growth", [0.0, 1.0])
@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("steps", [1.0, 2.5])
def test_births(growth, first, steps):
    """The lightest that never forgets makes room; the weights are shares again."""
    master = changes(discounted=first, growth=growth)
    shares = np.array([0.05, 0.35, 0.3, 0.1, 0.2])
    own = np.r_[np.log(shares), 1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 0.0, 0.0, 0.5, 1.0]
    out = 3 if first else 0
    who = bank.bear(master, own, 5, steps)
    assert who == bank.NEWCOMER - out
    chance = 1 - (1 - 1 / 20.0) ** steps if not growth else steps / (29.0 + steps)
    kept = np.where(np.arange(5) == out, 0.0, shares)
    kept /= kept.sum()
    if first:
        taken = 0.3 * chance
        kept = (1 - taken) * kept + np.where(np.arange(5) < first, taken / first, 0)
    expected = (1 - chance) * kept
    expected[out] = chance
    assert np.exp(own[:5]) == pytest.approx(expected, rel=1e-12)
    births = np.arange(1.0, 6.0)
    births[out] = 9.0 + steps
    assert own[5:10].tolist() == births.tolist()
    assert own[10:] == pytest.approx([9.0 + steps, 0.0, 0.0, 0.5 + shares[out], 1.0])


def test_the_lightest_weight_stays_a_number():
    """Weights that vanish are kept; of equally light ones the first makes room."""
    own = np.r_[0.0, -700.0, -700.0, -700.0, np.zeros(4), 3.0, 0.0, 0.0, 0.0, 1.0]
    assert bank.bear(changes(discounted=1), own, 4, 1.0) == bank.NEWCOMER - 1
    assert own[2] == own[3] == -700.0
    assert np.exp(own[[0, 1]]) == pytest.approx([0.95, 0.05], rel=1e-12)


@pytest.mark.parametrize("reward", [0.4, 2.0, 40.0, 1e9])
@pytest.mark.parametrize("noise", [1.0, 1.1e-6, 0.9e6])
def test_the_noise_follows_the_residuals(reward, noise):
    expected = np.array([[0.0, 1.0], [0.5, 2.0]])
    own = np.r_[np.log([0.25, 0.75]), np.zeros(6), noise]
    bank._learn_noise(changes(trust=0.5), own, 2, expected, reward)
    squared = (reward - expected[0]) ** 2 / expected[1]
    surprise = np.minimum(squared, 16.0) @ [0.25, 0.75]
    moved = noise * (1 + (surprise - 1) / 1.5)
    assert own[8] == pytest.approx(np.clip(moved, 1e-6, 1e6), rel=1e-12)


@pytest.mark.parametrize("steps", [0.0, 1.0])
def test_credit_of_changes(steps):
    """Bayes' rule with the noise as it is, then noise, alarm and a birth."""
    expected = np.array([[0.0, 1.0, 60.0], [0.5, 2.0, 0.5]])
    start = np.log([0.2, 0.5, 0.3])
    own = np.r_[start, 0.0, 0.0, 4.0, 6.0, 0.0, 0.0, 0.0, 1.7]
    given = expected.copy()
    who = bank.credit(changes(discounted=1), own, 3, given, 0.7, steps)
    law = stats.norm(expected[0], np.sqrt(1.7 * expected[1]))
    weights = start + law.logpdf(0.7)
    weights = np.maximum(weights - special.logsumexp(weights), -700.0)
    twin = np.r_[weights, own[3:6], 6.0, 0.0, 0.0, 0.0, 1.7]
    twin[5] = 4.0
    bank._learn_noise(changes(), twin, 3, given, 0.7)
    assert given[1] == pytest.approx(1.7 * expected[1])
    assert weights[2] == -700.0
    if steps:
        assert bank.bear(changes(discounted=1), twin, 3, steps) == who
    else:
        assert who == bank.NOBODY
    assert own == pytest.approx(twin, rel=1e-12)


# --- what a newcomer knows ------------------------------------------------------------


@pytest.mark.parametrize("keep", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("newcomer, leader", [(0, 2), (0, 1), (1, 0), (1, 2), (2, 0)])
def test_a_newcomer_takes_over_from_the_leader(keep, newcomer, leader):
    members, work, prior = bank_of([0.9, 1.0, 1.0])
    own = np.r_[-1.0, -1.0, -1.0, np.zeros(8)]
    own[leader], own[newcomer] = -0.5, 0.0  # its own weight does not count
    others = [j for j in range(3) if j != newcomer]
    before = members.sums[others].copy()
    expected = faded(members, leader, keep)
    if keep == 0.0:  # not even the clock is taken over
        expected[3][:] = 0.0
    who = bank.NEWCOMER - newcomer
    bank.renew(changes(keep=keep), own, prior, members, work, who)
    assert (members.sums[others] == before).all()
    state = bank.member(members, newcomer)
    known = np.triu(state.sums[:2, :2]), state.sums[2], np.triu(state.squares[:2, :2])
    for a, b in zip((*known, state.counts, state.bound[0]), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_of_equal_leaders_the_first():
    for gamma, newcomer, leader in (([0.9, 1.0], 0, 1), ([0.9, 1.0, 1.0], 2, 0)):
        members, work, prior = bank_of(gamma)
        expected = faded(members, leader, 0.4)
        own = np.zeros(2 * len(gamma) + 5)
        who = bank.NEWCOMER - newcomer
        bank.renew(changes(), own, prior, members, work, who)
        np.testing.assert_allclose(members.sums[newcomer, 2], expected[1], rtol=1e-12)


def test_nobody_new():
    members, work, prior = bank_of([0.9, 1.0])
    before = members.sums.copy()
    bank.renew(changes(), np.zeros(9), prior, members, work, bank.NOBODY)
    assert (members.sums == before).all()


def test_members_may_have_priors_of_their_own():
    members, work, _ = bank_of([0.9, 1.0])
    stacked = estimate.Prior(np.array([PRIOR.sums, 2 * PRIOR.sums]), PRIOR.precision)
    for j in range(2):
        bank.restart(stacked, members, work, j)
        np.testing.assert_allclose(members.sums[j], stacked.sums[j], rtol=1e-15)
        np.testing.assert_allclose(
            np.triu(members.squares[j, :2, :2]), np.triu(stacked.sums[j, :2, :2])
        )
        assert members.counts[j].tolist() == [0.0, 0.0, 0.0]
        assert members.bound[j, 0] == 3.0
