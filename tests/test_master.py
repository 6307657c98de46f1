"""MASTER: its schedule, its two tests and its restarts, by hand."""

import math
import warnings

import numpy as np
import pytest

import wsbnb
from tests import zoo

pytestmark = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")


def master(base=None, **options):
    base = zoo.make("WSBLinUCB", discount=1.0) if base is None else base
    standard = {"horizon": 64, "reward_range": (-3.0, 5.0), "rng": 1}
    return wsbnb.adaptive.Master(base, **{**standard, **options})


def play(policy, rounds, seed=0, shift=0.0):
    X, rewards = zoo.problem(seed, rounds, policy.dim, 5)
    chosen = []
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        policy.update(arms[k], paid[k] + shift)
        chosen.append(k)
    return chosen


def test_check_policy():
    assert len(wsbnb.check_policy(master(factor=0.01))) >= 15


def test_margins():
    policy = master(horizon=64, rate=2.0, factor=0.5)
    hat = 6 * 0.5 * 7 * math.log(64 * 64) * 2.0 / math.sqrt(16)
    assert policy.test_margins(16) == pytest.approx((9 * hat, 3 * hat))
    short = 6 * 0.5 * 7 * math.log(64 * 64)  # rho is at most one
    assert policy.test_margins(2) == pytest.approx((9 * short, 3 * short))
    assert master().rate == 3.0


def test_blocks_double_and_the_shortest_copy_plays():
    policy = master(factor=1e9, rate=1.0)
    lengths = []
    for t in range(63):
        if policy._passed == 0:
            lengths.append(2**policy._order)
        arms = np.random.default_rng(t).standard_normal((4, 3))
        policy.pull(arms)
        shortest = policy._copies[min(policy._copies)]["policy"]
        before = {m: c["policy"].rounds for m, c in policy._copies.items()}
        policy.update(arms[0], 0.1)
        assert shortest.rounds == before[min(before)] + 1
        for m, each in policy._copies.items():
            if m != min(before) and m in before:
                assert each["policy"].rounds == before[m]
    assert lengths == [1, 2, 4, 8, 16, 32] and policy.restarts == 0


def test_copies_start_as_often_as_they_should():
    """In a block of order n, one of order m starts with chance rho(2^n) / rho(2^m)."""
    counts = np.zeros(4)
    for seed in range(400):
        policy = master(factor=1e9, rate=1.0, rng=seed)
        policy._begin_block(4)
        for _ in range(16):
            policy._schedule()
            for m in range(4):
                counts[m] += policy._copies.get(m, {}).get("start") == policy._passed
            policy._passed += 1
            ended = {m for m in policy._copies if policy._ended(m)}
            policy._copies = {m: c for m, c in policy._copies.items() if m not in ended}
    chances = 2.0 ** ((np.arange(4) - 4) / 2)
    trials = 400 * 16 / 2 ** np.arange(4)
    spread = np.sqrt(chances * (1 - chances) / trials)
    assert (np.abs(counts / trials - chances) < 4 * spread).all()


def schedule_by_hand(order, rate, rng):
    """All copies of a block laid out beforehand; for each round, who plays it."""

    def rho(t):
        return min(1.0, rate / math.sqrt(t))

    draws = {}
    for start in range(2**order):  # in the order in which the policy draws
        for m in range(order - 1, -1, -1):
            if start % 2**m == 0:
                draws[start, m] = rng.random() < rho(2**order) / rho(2**m)
    playing = []
    for t in range(2**order):
        alive = [m for m in range(order) if draws[t - t % 2**m, m]]
        playing.append(min([*alive, order]))
    return playing


@pytest.mark.parametrize("rate", [1.0, 3.0])
@pytest.mark.parametrize("order", [0, 1, 5, 7])
def test_schedule_against_brute_force(order, rate):
    policy = master(factor=1e9, rate=rate, rng=4)
    policy._begin_block(order)
    played = []
    for _ in range(2**order):
        policy.pull(np.eye(3))
        played.append(min(policy._copies))
        policy.update([1.0, 0.0, 0.0], 0.1)
    assert played == schedule_by_hand(order, rate, np.random.default_rng(4))


def test_how_often_each_order_plays():
    """Alive orders are independent, and the smallest plays."""
    rng, order = np.random.default_rng(0), 4
    played = np.array([schedule_by_hand(order, 1.0, rng) for _ in range(2000)])
    alive = np.append(2.0 ** ((np.arange(order) - order) / 2), 1.0)
    chances = alive * np.cumprod(np.append(1.0, 1.0 - alive[:-1]))
    share = [(played[:, 5] == m).mean() for m in range(order + 1)]
    np.testing.assert_allclose(share, chances, atol=0.045)


def fails_by_hand(block, rho_hat):
    """From the whole history of a block: does a test fail after its last round?"""
    g, R = np.array(block["seen"]), np.array(block["paid"])
    t = len(g)
    for m, start in block["alive"][-1].items():
        if t - start == 2**m and R[start:].mean() >= g.min() + 9 * rho_hat(2**m):
            return True
    return (g - R).mean() >= 3 * rho_hat(t)


@pytest.mark.parametrize("shift", [-1.0, 0.0, 2.0])
def test_both_tests_against_the_whole_history(shift):
    """Restarts come exactly when the formulas say so."""
    policy = master(factor=1.5e-3, horizon=256)
    low, high = policy.reward_range
    logs = 6 * 1.5e-3 * 9 * math.log(256 * 256)

    def rho_hat(t):
        return logs * min(1.0, 3.0 / math.sqrt(t))

    X, rewards = zoo.problem(3, 256, 3, 5)
    block = {"seen": [], "paid": [], "alive": []}
    counted = 0
    for t, (arms, paid) in enumerate(zip(X, rewards, strict=True)):
        scores = policy.scores(arms)
        k = policy.pull(arms)
        assert scores[k] == scores.max()
        reward = float(np.clip(paid[k] + shift * (t > 100), low, high))
        block["seen"].append((scores[k] - low) / (high - low))
        block["paid"].append((reward - low) / (high - low))
        alive = {m: each["start"] for m, each in policy._copies.items()}
        block["alive"].append(alive)
        order = policy._order
        failed = fails_by_hand(block, rho_hat)
        policy.update(arms[k], reward)
        counted += failed
        assert policy.restarts == counted
        if failed or len(block["seen"]) == 2**order:
            assert policy._order == (0 if failed else order + 1)
            block = {"seen": [], "paid": [], "alive": []}
    assert counted > 2


@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_either_test_restarts(shift):
    """Rewards below what was promised fail the second test, above it the first."""
    policy = master(factor=2e-4)
    play(policy, 40)
    policy._restarts = 0
    policy._begin_block(3)
    play(policy, 8, seed=2, shift=shift)
    assert policy.restarts > 0 and policy._order < 3


@pytest.mark.parametrize(("above", "restarts"), [(0.01, 1), (-0.01, 0)])
def test_the_first_test_alone(above, restarts):
    """One round in which more is paid than promised: only the first test can fail."""
    policy = master(factor=2e-4)
    arms = np.eye(3)
    promised = policy.scores(arms).max()
    policy.pull(arms)
    allowed = 8.0 * 9 * 6 * 2e-4 * 7 * math.log(64 * 64)  # rewards span 8 units
    policy.update(arms[0], promised + allowed + above)
    assert policy.restarts == restarts and policy._order == 1 - restarts


def test_a_refused_update_changes_nothing():
    """Neither the rows before the one that is too large, nor rows without a round."""
    policy = master()
    play(policy, 5)
    before = policy._get_state()
    rows = np.array([[1.0, 0.0, 0.0], [1e200, 0.0, 0.0]])
    with pytest.raises(ValueError, match="x and reward must keep"):
        policy.update(rows, [1.0, 1.0])
    with pytest.raises(ValueError, match="decay must be True, got False"):
        policy.update(rows[0], 1.0, decay=False)
    np.testing.assert_equal(policy._get_state(), before)


def test_restart_forgets_everything():
    policy = master(factor=0.0)  # the second test fails when g is at least R
    policy.pull(np.eye(3))
    policy.update([1.0, 0.0, 0.0], -3.0)
    assert policy.restarts == 1 and policy._order == 0
    fresh = policy._copies[0]["policy"].posterior
    np.testing.assert_array_equal(fresh.mean, policy.base.posterior.mean)


def test_margins_of_the_paper_never_fail_here():
    policy = master(horizon=4000)
    assert min(policy.test_margins(4000)) > 1
    play(policy, 100, shift=5.0)
    assert policy.restarts == 0


@pytest.mark.parametrize("rounds", [0, 5, 23])
def test_file_keeps_every_bit(rounds, tmp_path):
    policy = master(factor=0.003)
    play(policy, rounds)
    policy.pull(np.eye(3))
    policy.save(tmp_path / "master.json")
    again = wsbnb.load(tmp_path / "master.json")
    assert repr(again) == repr(policy)
    assert play(again, 30, 5) == play(policy, 30, 5)
    np.testing.assert_equal(again._get_state(), policy._get_state())


@pytest.mark.parametrize(
    ("field", "junk"),
    [
        ("numbers", [2, 4, 0]),
        ("numbers", [-1, 0, 0]),
        ("numbers", [63, 0, 0]),
        ("drawn", 1),
        ("excess", "x"),
        ("lowest", "x"),
        ("copies", []),
        ("copies", None),
    ],
)
def test_damaged_states(field, junk):
    policy = master()
    play(policy, 5)
    with pytest.raises((KeyError, TypeError, ValueError)):
        master()._set_state({**policy._get_state(), field: junk})


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"base": 3}, "base"),
        ({"base": zoo.make("WSBLinTS")}, "optimistic"),
        ({"horizon": 1}, "horizon"),
        ({"rate": 0.5}, "rate"),
        ({"factor": -1.0}, "factor"),
        ({"reward_range": (1.0, 0.0)}, "reward_range"),
    ],
)
def test_bad_settings(options, word):
    with pytest.raises((TypeError, ValueError), match=word):
        master(**options)


@pytest.mark.parametrize("rows", [1, 50])
def test_a_warning_that_is_an_error_comes_when_all_is_done(rows):
    """It is about the noise level, and comes from within the copy that learns."""
    base = zoo.make("WSBLinUCB", discount=1.0, noise_std=1e-3)
    quiet, loud, said = master(base), master(base), 0
    X = np.tile([1.0, 0.0, 0.0], (rows, 1))
    rewards = np.random.default_rng(0).standard_normal((600 // rows, rows))
    for paid in rewards:
        quiet.update(X, paid)
        with warnings.catch_warnings():
            warnings.simplefilter("error", wsbnb.TheoryWarning)
            try:
                loud.update(X, paid)
            except wsbnb.TheoryWarning as warning:
                said += 1
                assert "is far below the residuals" in str(warning)
        np.testing.assert_equal(loud._get_state(), quiet._get_state())
    assert said == 1
