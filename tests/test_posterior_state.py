"""What a posterior trusts when it takes over a state, and the ends of its ranges.

States are changed by hand by a little less and by a little more than what is allowed.
"""

import copy

import numpy as np
import pytest

import wsbnb
from tests import zoo
from tests.kernels import PLAIN
from wsbnb import weights
from wsbnb.posterior import _has_digits

pytestmark = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")


def posterior(forgetting=None, mean=(0.3, -0.2), cov=None, **changes):
    """Two dimensions; a prior of unequal axes."""
    cov = np.array([[2.0, 0.3], [0.3, 0.5]]) if cov is None else cov
    rule = weights.Exponential(0.5) if forgetting is None else forgetting
    words = dict(prior_mean=mean, prior_cov=cov, noise_std=0.5, forgetting=rule)
    return wsbnb.WSBPosterior(**{**words, **changes})


def taken(post, **changes):
    """A fresh posterior with the state of another, of which parts are changed."""
    state = copy.deepcopy(post._get_state())
    fresh = post.copy()
    fresh.reset()
    fresh._set_state({**state, **changes})
    return fresh


def refused(post, words, **changes):
    with pytest.raises(ValueError, match=words):
        taken(post, **changes)


# --- counts ---------------------------------------------------------------------------


def learnt(rule=None, rounds=3):
    post = posterior(rule)
    for t in range(rounds):
        post.update([1.0, 0.5 * t], -1.0 + t)
    return post


RULES = [
    weights.Exponential(0.5),
    weights.SlidingWindow(5),
    weights.Restart(5),
    weights.Polynomial(0.7, of="age"),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_what_was_learnt_is_taken_over(rule, rounds):
    """Before the first round, with one row, and in a window that is not full."""
    post = learnt(rule, rounds)
    again = taken(post)
    np.testing.assert_array_equal(again.shift, post.shift)
    np.testing.assert_array_equal(again.precision, post.precision)
    np.testing.assert_allclose(again.mean, post.mean, rtol=1e-13)
    if not isinstance(rule, weights.SlidingWindow):
        post.decay(2)
        np.testing.assert_array_equal(taken(post).shift, post.shift)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_policy_is_saved_before_its_first_round(rule, tmp_path):
    policy = wsbnb.LinearPolicy(posterior(rule), wsbnb.exploration.Greedy())
    policy.save(tmp_path / "policy.json")
    again = wsbnb.load(tmp_path / "policy.json").posterior
    np.testing.assert_allclose(again.mean, [0.3, -0.2], rtol=1e-13)


def test_a_weight_below_one():
    """One row of weight 1/4: squares are smaller than the sum, as its square."""
    post = learnt(rounds=1)
    post.decay(2)
    assert taken(post).weight_sum == 0.25
    assert taken(post).squared_weight_sum == 0.0625


def test_sums_that_no_round_can_use_are_refused():
    post = learnt()
    taken(post, shift=[0.0, -0.9e300])
    refused(post, "x and reward must keep", shift=[0.0, -1.1e300])


@pytest.mark.parametrize("rule, least", [(RULES[0], 4), (RULES[3], 16)], ids=str)
def test_pivots_that_rounding_has_made_are_refused(rule, least):
    """Two almost equal features: the last pivot is a few units of rounding.

    Rounds ask for eight. What they have made is taken, if they round otherwise, too;
    what is made without them must be enough for every round.
    """
    post = posterior(rule)
    post.update([2.0**22, 2.0**22], 1.0)
    for units, sound in ((least + 1, True), (least - 1, False)):
        P = np.full((2, 2), 2.0**46)  # of the arm; the prior has nothing left to say
        P[1, 1] *= 1.0 + units * 2.0**-52
        if sound:
            taken(post, precision=P)
        else:
            refused(post, "x and reward must keep", precision=P)


def test_sums_of_weights_must_fit():
    post = learnt()
    clock, total, squares = post._get_state()["counts"]
    slack = 1e-9 * (1.0 + total)
    assert total == 1.75
    taken(post, counts=[clock, total, total + slack])
    refused(post, "state counts", counts=[clock, total, total + 1.05 * slack])
    small = 0.8
    slack = 1e-9 * (1.0 + small)
    taken(post, counts=[clock, small, small**2 + slack])
    refused(post, "state counts", counts=[clock, small, small**2 + 1.05 * slack])
    refused(post, "state counts", counts=[clock, 0.0, 0.0])
    refused(post, "state counts must have shape", counts=[])
    refused(post, "state counts must be at least 0.0, got -1", counts=[3.0, -1.0, 1.0])


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_without_weights_nothing_is_known(scale):
    """A precision beyond the prior's, by a millionth, is something."""
    post = posterior(cov=np.eye(2) / scale)
    P = post.precision
    for much, call in ((0.9e-6, taken), (1.1e-6, None)):
        more = P * (1.0 + much)
        if call:
            taken(post, precision=more)
        else:
            refused(post, "state counts", precision=more)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_a_precision_below_that_of_the_prior_is_refused(scale):
    """By a millionth of the trace, along one axis alone."""
    post = posterior(cov=np.eye(2) / scale)
    for axis in (0, 1):
        for much in (0.9e-6, 1.1e-6):
            less = post.precision
            less[axis, axis] -= much * np.trace(less)
            if much < 1e-6:
                taken(post, precision=less)
            else:
                refused(post, "at least that of the prior", precision=less)


def test_the_longest_time():
    post = posterior()
    post.update([1.0, 0.0], 1.0)
    post.decay(2**52 - 1)
    assert taken(post).rounds == 2**52
    words = (
        r"steps must lead to round 4503599627370496 at most, got 2.0 in round 4.5036e"
    )
    with pytest.raises(ValueError, match=words):
        post.decay(2)
    post.update([1.0, 0.0], 1.0)  # observations may follow
    assert taken(post).rounds == 2**52 + 1
    _, *sums = post._get_state()["counts"]
    assert taken(post, counts=[2.0**53, *sums]).rounds == 2**53
    refused(post, "state counts", counts=[2.0**53 + 2, *sums])


def test_a_window_has_as_many_weights_as_rows():
    post = learnt(RULES[1])
    taken(post, counts=[3.0, 3.0, 3.0])
    for counts in ([3.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 2.0, 2.0]):
        refused(post, "state counts", counts=counts)
    refused(post, "state counts", counts=[2.0, 3.0, 3.0])  # rows of rounds to come


def test_the_clock_says_what_has_passed():
    """A walk's time passes in parts, whose sum is rounded."""
    post = posterior(weights.RandomWalk(0.3))
    post.decay(1000.1)
    assert post.rounds == 1000.1


@pytest.mark.parametrize("share, sound", [(13, False), (20, True)])
def test_digits_of_a_prior(share, sound):
    """A pivot beside its diagonal, in units of rounding: 16 are asked for d = 2."""
    share *= np.finfo(float).eps
    for unit in (1e-3, 1.0, 1e3):
        P = unit * np.array([[1.0, np.sqrt(1.0 - share)], [np.sqrt(1.0 - share), 1.0]])
        assert _has_digits(P, 8) is sound


# --- rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [RULES[1], RULES[3]], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("mean", [(0.3, -0.2), (-40.0, 0.0)])
@pytest.mark.parametrize("last", [-0.5, 1 / 3])  # the latter cancels the others
def test_sums_are_those_of_the_rows(rule, scale, mean, last):
    """Up to a millionth; where rewards cancel, a billionth of what was added up."""
    post = posterior(rule, mean, np.eye(2))
    rows = [[2.0, 0.5], [-1.0, 1.0], [0.5, -1.5]]
    if rule is RULES[1]:
        w = np.ones(3)
    else:
        w = np.asarray(rule(np.array([1, 2, 3]), 3))
    rewards = np.array([-3.0, 2.0, last]) / w
    for x, reward in zip(rows, rewards, strict=True):
        post.update(scale * np.array(x), reward)
    parts = (w * rewards)[:, None] * scale * np.array(rows) / 0.25
    size = np.abs(mean).max() + np.abs(parts).sum()
    P, h, off = post.precision, post.shift, np.array([0.0, 1.0])
    slack = (1e-6 * abs(h[1]) + 1e-9 * size) * off
    taken(post, shift=h + 0.9 * slack)
    taken(post, shift=h - 0.9 * slack)
    for sign in (1.0, -1.0):
        words = "must be the sums of the rows"
        refused(post, words, shift=h + sign * 1.1 * slack)
        taken(post, precision=P + sign * 0.9e-6 * P.max() * np.diag(off))
        wrong = P + sign * 1.2e-6 * P.max() * np.diag(off)
        refused(post, words, precision=wrong)


@pytest.mark.parametrize("place", [-1.0, 0.5, 5.0])
def test_a_window_goes_on_within_its_ring(place):
    """The compiled code would write beyond it."""
    post = learnt(RULES[1])
    ring = post._get_state()["ring"]
    wear = ring["wear"].copy()
    wear[0] = place
    refused(
        post,
        "must be at least 0" if place < 0 else "ring must have a head",
        ring={**ring, "wear": wear},
    )
    held = ring["held"].copy()
    held[0] = 0.5
    refused(post, "ring must have .* zeros or ones", ring={**ring, "held": held})


# --- the certified bound --------------------------------------------------------------


def ucb(**changes):
    words = dict(prior_mean=[0.0], prior_cov=[[100.0]], noise_std=0.5, discount=0.9)
    return wsbnb.WSBLinUCB(**{**words, **changes}).posterior


def test_a_bound_that_lies_is_refused():
    """One dimension: P0^2 / P is the eigenvalue itself, and P0 is 1/100."""
    post = ucb()
    post.update([1.0], 1.0)
    _, step, start = post._get_state()["bound"]
    exact = 0.01**2 / post.precision[0, 0]
    words = "state bound cannot be"
    taken(post, bound=[exact, step, start])
    for lie in (1.5e-9, 1e-5, 0.5):
        refused(post, words, bound=[exact * (1.0 - lie), step, start])
    refused(post, words, bound=[0.0, step, start])
    for wrong in (0.0, 1.0, 1.5):
        refused(post, words, bound=[exact, wrong, start])
    for factor in (0.5, 1.0 - 1.5e-9, 1.0 + 1.5e-9, 2.0):
        refused(post, words, bound=[exact, step, factor * start])


@pytest.mark.skipif(not PLAIN, reason="one more pair of types to compile")
def test_the_bound_of_a_rule_that_remembers_is_the_eigenvalue():
    post = posterior(weights.Polynomial(0.7, of="age"), cov=np.eye(2))
    way = wsbnb.exploration.Optimism(penalty="cxv", param_bound=2.0)
    policy = wsbnb.LinearPolicy(post, way)
    for t in range(9):
        policy.update([1.0, 0.5 * (t % 3)], 0.3)
    top = np.linalg.eigvalsh(policy.posterior.cov)[-1]  # the prior is the identity
    assert top < 0.4
    said = policy.posterior._get_state()["bound"][0]
    assert top < said < top * (1.0 + 1e-8)


def test_a_posterior_alone_keeps_no_bound():
    assert posterior()._get_state()["bound"] is None


# --- late rewards, ends of ranges -----------------------------------------------------


@pytest.mark.parametrize("decay", [True, False])
@pytest.mark.parametrize("rule", [RULES[2], weights.Polynomial(1.5, of="round")])
def test_a_late_reward_has_the_weight_it_would_have(rule, decay):
    """For rules whose weights depend on the round, not only on the age."""
    post = posterior(rule)
    post.decay(3)
    for age in (0, 1, 2):
        late = post.copy()
        late.update([1.0, 0.0], 1.0, decay=decay, age=age)
        now = 3 + decay
        weight = float(np.asarray(rule(np.array([now - age]), now))[0])
        gained = late.precision[0, 0] - posterior().precision[0, 0]
        assert gained == pytest.approx(weight / 0.25, rel=1e-12, abs=1e-14)


def test_a_random_walk_knows_no_late_rewards():
    post = posterior(weights.RandomWalk(0.1))
    post.update([1.0, 0.0], 1.0, age=0)
    for age in (0.5, 1.0):
        with pytest.raises(ValueError, match="age must be 0"):
            post.update([1.0, 0.0], 1.0, age=age)


@pytest.mark.parametrize("rule", [RULES[0], RULES[3]], ids=str)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sums_of_rewards_end_at_1e300(rule, sign):
    words = dict(mean=[0.0, 0.0], cov=np.eye(2), noise_std=1.0)
    post = posterior(rule, **words)
    post.update([0.0, 3.0], sign * 0.33e300)
    fresh = posterior(rule, **words)
    with pytest.raises(ValueError) as error:
        fresh.update([0.0, 3.0], sign * 0.5e300)
    said = "largest precision entry of 10 and a largest weighted sum of rewards of 1.5e"
    assert said in str(error.value)
    with pytest.raises(ValueError, match="x and reward"):
        fresh.update([0.0, 1.0], sign * 1e300)
    assert fresh.rounds == 0


def test_one_draw_takes_as_many_normals_as_there_are_dimensions():
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    posterior().sample(rng)
    twin.standard_normal(2)
    assert rng.standard_normal() == twin.standard_normal()


def test_draws_of_all_dimensions_must_find_room(monkeypatch):
    monkeypatch.setattr(wsbnb._validate, "MOST_NUMBERS", 100)
    assert posterior().sample(0, size=50).shape == (50, 2)
    with pytest.raises(ValueError, match="size must be small enough"):
        posterior().sample(0, size=51)


def test_many_dimensions_are_none_too_many():
    assert wsbnb.WRLS(dim=40, regularization=1.0, discount=0.9).dim == 40
    with pytest.raises(ValueError, match="dim must be"):
        wsbnb.WRLS(dim=2**15 + 1, regularization=1.0, discount=0.9)


def test_what_a_posterior_says_of_itself():
    text = repr(posterior(mean=[1 / 3, -2.0], cov=np.diag([4.0, 0.25])))
    assert text.endswith("mean=[ 0.3333, -2.    ], std=[2. , 0.5])")
    seven = repr(posterior(mean=np.arange(7.0), cov=np.eye(7)))
    assert "mean=[0., 1., 2., ..., 4., 5., 6.]" in seven
    six = repr(posterior(mean=np.arange(6.0), cov=np.eye(6)))
    assert "mean=[0., 1., 2., 3., 4., 5.]" in six


def test_only_a_linear_posterior_serves_a_fleet_and_checks_its_noise():
    assert len(wsbnb.Fleet(zoo.make("WSBLinTS"), users=2).mean([0, 1])) == 2
    with pytest.raises(ValueError, match="template"):
        wsbnb.Fleet(zoo.make("LogisticTS"), users=2)


def test_a_window_that_no_memory_holds_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(wsbnb._validate, "MOST_NUMBERS", 100)
    assert posterior(weights.SlidingWindow(50)).dim == 2
    with pytest.raises(ValueError, match="length must be small enough"):
        posterior(weights.SlidingWindow(51))


@pytest.mark.parametrize("steps", [0.0, 5e-324, 1e-308, 1e-160, 1e-149])
@pytest.mark.parametrize("rate", [0.0, 1e-150, 0.02])
def test_almost_no_time_changes_almost_nothing(rate, steps):
    post = posterior(weights.RandomWalk(rate))
    post.update([1.0, 0.0], 1.0)
    mean = post.mean
    post.decay(steps)
    np.testing.assert_allclose(post.mean, mean, rtol=1e-12)


def test_hardly_any_time_is_none_and_a_little_more_is_not_whole():
    post = posterior(RULES[1])  # a window, whose clock counts rounds
    post.decay(0.9 * wsbnb._validate.SMALLEST)
    assert post.rounds == 0
    for steps in (wsbnb._validate.SMALLEST, 0.5):
        with pytest.raises(ValueError, match="steps must be a whole"):
            post.decay(steps)


@pytest.mark.parametrize("rate", [5e-324, 1e-151, 1e151])
def test_rates_beyond_what_can_be_squared_are_refused(rate):
    with pytest.raises(ValueError, match="rate must lie between"):
        weights.RandomWalk(rate)
