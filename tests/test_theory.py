"""Warnings about settings, and settings that stay what they were."""

import copy
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import wsbnb
from tests import zoo
from wsbnb.policies import theory


def play(policy, rewards, arms=None, seed=0):
    """Warnings of one run; `rewards` maps a round and an arm to a reward."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(400):
            X = rng.standard_normal((5, policy.dim)) if arms is None else arms
            x = X[policy.pull(X)]
            policy.update(x, float(rewards(t, x, rng)))
    return [w for w in caught if issubclass(w.category, wsbnb.TheoryWarning)]


def noisy(sigma, theta=(0.5, -0.3)):
    return lambda t, x, rng: x @ np.array(theta) + sigma * rng.standard_normal()


def sampler(sigma, kind="WSB", discount=0.98):
    if kind == "WSB":
        prior = dict(prior_mean=[0.3, 0.1], prior_cov=[2.0, 0.5])
        return wsbnb.WSBLinTS(**prior, noise_std=sigma, discount=discount, rng=1)
    return wsbnb.DLinTS(
        dim=2, regularization=0.7, discount=discount, noise_std=sigma, rng=1
    )


@pytest.mark.parametrize("kind", ["WSB", "WRLS"])
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e4])
def test_a_right_noise_level_is_not_mentioned(kind, unit):
    """In any unit of the reward, and though the predictive spread changes."""
    theta = unit * np.array([0.5, -0.3])
    if kind == "WSB":
        policy = wsbnb.WSBLinTS(
            prior_mean=unit * np.ones(2),
            prior_cov=unit**2 * np.eye(2),
            noise_std=0.4 * unit,
            discount=0.98,
        )
    else:
        policy = wsbnb.DLinTS(
            dim=2, regularization=0.7, discount=0.98, noise_std=0.4 * unit
        )
    assert play(policy, noisy(0.4 * unit, theta)) == []


@pytest.mark.parametrize("kind", ["WSB", "WRLS"])
@pytest.mark.parametrize(
    ("factor", "word"), [(5.0, "far below"), (0.1, "far above"), (1.3, ""), (0.7, "")]
)
def test_a_wrong_noise_level_is_mentioned_once(kind, factor, word):
    caught = play(sampler(0.4, kind), noisy(0.4 * factor))
    assert len(caught) == (1 if word else 0)
    if word:
        said = str(caught[0].message)
        assert f"noise_std 0.4 is {word} the residuals" in said
        size = float(said.split("predictions by about ")[1].split(";")[0])
        assert size == pytest.approx(0.4 * factor, rel=0.35)
        assert os.path.basename(caught[0].filename) == "test_theory.py"


def test_misses_whose_squares_overflow_are_mentioned_as_others_are():
    """NumPy's warning came instead, and where warnings are errors half an update."""
    rewards = 1e160 * (-1.0) ** np.arange(300)
    with pytest.warns(wsbnb.TheoryWarning, match="far below the residuals") as caught:
        sampler(0.4).update(np.tile([1.0, 0.0], (300, 1)), rewards)
    assert len(caught) == 1


def test_a_change_point_is_not_taken_for_noise():
    """A jump of many standard deviations that the discount can follow."""

    def rewards(t, x, rng):
        sign = 1.0 if t % 150 < 75 else -1.0
        return sign * 3.0 * x[0] + 0.4 * rng.standard_normal()

    assert play(sampler(0.4, discount=0.8), rewards) == []


def test_a_parameter_that_is_never_forgotten_is_mentioned():
    def rewards(t, x, rng):
        return 3.0 * np.sin(t / 5.0) * x[0] + 0.4 * rng.standard_normal()

    (caught,) = play(wsbnb.LinTS(dim=2, regularization=1.0, noise_std=0.4), rewards)
    assert "smaller discount" in str(caught.message)


def test_rare_events_are_noise_too():
    """Clicks of probability 0.1 with the noise level 1/2 of Hoeffding's lemma.

    Most residuals are tiny, so a median would call the noise level five times too high.
    """
    rng = np.random.default_rng(5)
    clicks = rng.random(400) < 0.1
    policy = wsbnb.WSBLinTS(
        prior_mean=np.zeros(1), prior_cov=np.eye(1), noise_std=0.5, discount=0.99
    )
    assert play(policy, lambda t, x, rng: clicks[t], arms=np.ones((1, 1))) == []


def test_a_wide_prior_says_nothing_about_the_noise():
    """In the first d rounds predictions are far wider than what then happens."""
    policy = wsbnb.WSBLinTS(
        prior_mean=np.zeros(150),
        prior_cov=1e4 * np.eye(150),
        noise_std=0.4,
        discount=1.0,
    )
    rng = np.random.default_rng(0)
    X, rewards = rng.standard_normal((140, 150)), 0.4 * rng.standard_normal(140)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, reward in zip(X, rewards, strict=True):
            policy.update(x, reward)
    assert policy._noise_check.collected == []
    # ... and rewards that the prior predicts well are looked at.
    known = wsbnb.WSBLinTS(
        prior_mean=np.zeros(150), prior_cov=1e-4, noise_std=0.4, discount=1.0
    )
    known.update(X, rewards)
    assert len(known._noise_check.collected) == 140


def test_the_end_of_a_long_batch_is_looked_at():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2))
    with pytest.warns(wsbnb.TheoryWarning, match="far below"):
        sampler(0.1).update(X, X @ [1.0, 2.0] + rng.standard_normal(500))


def test_looking_changes_no_number():
    loud, quiet = sampler(0.01), sampler(0.01)
    quiet._noise_check.done = True
    play(loud, noisy(1.0)), play(quiet, noisy(1.0))
    assert loud._noise_check.done
    assert np.array_equal(loud.posterior.mean, quiet.posterior.mean)


def test_reset_looks_again():
    policy = sampler(0.01)
    assert len(play(policy, noisy(1.0))) == 1
    policy.reset()
    assert len(play(policy, noisy(1.0))) == 1


@pytest.mark.parametrize("name", ["WSBLinUCB", "WSBRandLinUCB"])
def test_a_prior_mean_outside_the_bound_is_mentioned(name):
    changes = {"prior_mean": [3.0, 4.0], "param_bound": 4.9, "delta": 0.1}
    changes |= {"perturbation": "radius"} if name == "WSBRandLinUCB" else {}
    with pytest.warns(wsbnb.TheoryWarning, match="param_bound 4.9 .* norm 5 of prior"):
        zoo.make(name, d=2, horizon=100, **changes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zoo.make(name, d=2, horizon=100, **{**changes, "param_bound": 5.0})


@pytest.mark.parametrize(
    "name", [name for name in zoo.LINEAR if "discount" in zoo.settings(name, 3)]
)
def test_a_warning_points_at_the_line_that_made_the_policy(name):
    settings = {**zoo.settings(name, 3), "discount": 0.5}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        policy = getattr(wsbnb, name)(**settings)
        wsbnb.LinearPolicy(policy.posterior, policy.exploration)
        policy.set_params(discount=0.4)
    assert [os.path.basename(w.filename) for w in caught] == ["test_theory.py"] * 3


def test_a_bound_that_is_not_used_is_not_mentioned():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zoo.make("WSBRandLinUCB", d=2, prior_mean=[3.0, 4.0], param_bound=1.0)


def test_silence_is_for_one_thread():
    heard = []

    def other():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            wsbnb.WSBLinTS(
                prior_mean=np.zeros(3), prior_cov=np.eye(3), noise_std=1.0, discount=0.5
            )
            heard.extend(caught)

    with theory.outside_on_purpose():
        wsbnb.WSBLinTS(
            prior_mean=np.zeros(3), prior_cov=np.eye(3), noise_std=1.0, discount=0.5
        )
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(heard) == 1
    with pytest.warns(wsbnb.TheoryWarning):
        wsbnb.WSBLinTS(
            prior_mean=np.zeros(3), prior_cov=np.eye(3), noise_std=1.0, discount=0.5
        )


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_settings_cannot_be_changed(name):
    policy = zoo.make(name)
    before = policy.get_params()
    for setting in before:
        if setting == "dim":
            continue
        with pytest.raises(AttributeError, match=f"{setting} cannot be changed"):
            setattr(policy, setting, 0.5)
    assert repr(policy) == repr(zoo.make(name))


def test_the_prior_cannot_be_changed_in_place():
    """Whoever asks for it gets a copy."""
    policy = zoo.make("WSBLinTS")
    for given in (
        policy.prior_mean,
        policy.posterior.prior_mean,
        policy.get_params()["prior_mean"],
    ):
        given[0] = 9.0
    assert policy.prior_mean[0] == zoo.prior(3)[0][0]
    policy.reset()
    np.testing.assert_allclose(policy.posterior.mean, zoo.prior(3)[0])


def test_a_subclass_may_add_settings_of_its_own():
    class Cautious(wsbnb.WSBLinTS):
        def __init__(
            self, *, prior_mean, prior_cov, noise_std, discount, care, rng=None
        ):
            prior = dict(prior_mean=prior_mean, prior_cov=prior_cov)
            super().__init__(**prior, noise_std=noise_std, discount=discount, rng=rng)
            self.care = care

    policy = Cautious(
        prior_mean=np.zeros(2), prior_cov=1.0, noise_std=1.0, discount=0.9, care=3
    )
    with pytest.raises(AttributeError, match="care cannot be changed, got 4"):
        policy.care = 4
    policy.update([1.0, 0.0], 0.3)
    assert policy.copy().care == policy.clone().care == policy.get_params()["care"] == 3
    assert policy.set_params(care=4).care == 4 and policy.rounds == 1


@pytest.mark.parametrize("name", ["WSBLinTS", "DLinTS"])
def test_the_posterior_knows_its_prior(name):
    policy = zoo.make(name)
    policy.update(np.ones(3), 2.0)
    post = policy.posterior
    if name == "WSBLinTS":
        mean, cov = zoo.prior(3)
    else:
        mean, cov = np.zeros(3), zoo.SIGMA**2 / zoo.LAMBDA * np.eye(3)
    np.testing.assert_allclose(post.prior_mean, mean)
    np.testing.assert_allclose(post.prior_cov, cov, rtol=1e-10)


@pytest.mark.parametrize(
    "changes", [{0: 0.0}, {0: -1.0}, {0: 1e-3}, {1: 1.5}, {1: 0.0}, {2: 0.1}], ids=str
)
def test_a_file_cannot_shrink_the_radius(tmp_path, changes):
    """The certified eigenvalue of WSB-LinUCB is checked when it is read."""
    policy = zoo.make("WSBLinUCB")
    policy.update(np.eye(3), [0.1, 0.2, 0.3])
    policy.pull(np.eye(3))
    state = copy.deepcopy(policy._get_state())
    for place, value in changes.items():
        state["posterior"]["bound"][place] = value
    with pytest.raises(ValueError, match="state bound (cannot|must) be"):
        policy.clone()._set_state(state)
    policy.save(tmp_path / "policy.json")
    again = wsbnb.load(tmp_path / "policy.json")
    assert again.explain(np.eye(3))["penalty"] == policy.explain(np.eye(3))["penalty"]


def test_a_saved_file_is_as_readable_as_any_other(tmp_path):
    (tmp_path / "plain").write_text("x")
    zoo.make("WSBLinTS").save(tmp_path / "policy.json")
    modes = [(tmp_path / n).stat().st_mode for n in ("plain", "policy.json")]
    assert modes[0] == modes[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plain", "policy.json"]


def test_text_is_not_an_arm():
    with pytest.raises(TypeError, match="X must be an array of real numbers.*'1.0'"):
        zoo.make("WSBLinTS").pull([["1.0", "2.0", "3.0"]])


# --- friendly at the edges ------------------------------------------------------------


@pytest.mark.parametrize("make", ["policy", "posterior"])
@pytest.mark.parametrize(
    ("x", "reward", "words"),
    [
        (np.eye(3), 1.0, r"one entry per row of x, .* the row that was played, X\[k\]"),
        (2, 1.0, "row of features that was played, not its number, got 2"),
        (np.ones(2), 1.0, r"x must have shape \(3,\) or \(n, 3\), got shape \(2,\)"),
        (
            np.eye(3),
            [1.0, 2.0],
            r"one entry per row of x, shape \(3,\), got shape \(2,\)",
        ),
        (np.ones(3), [1.0], "reward must be a real number"),
    ],
)
def test_a_slip_in_update_is_named(make, x, reward, words):
    thing = zoo.make("WSBLinTS")
    if make == "posterior":
        thing = wsbnb.WSBPosterior(
            prior_mean=np.zeros(3), prior_cov=np.eye(3), noise_std=0.5, discount=0.9
        )
    with pytest.raises((ValueError, TypeError), match=words):
        thing.update(x, reward)
    assert thing.rounds == 0


def test_one_row_and_a_click_are_fine():
    """What `frame.iloc[[k]]` gives, and what a click is."""
    policies = [zoo.make("WSBLinTS") for _ in range(4)]
    for policy, x, reward in zip(
        policies,
        (np.ones(3), np.ones((1, 3)), np.ones(3), np.ones((1, 3))),
        (1.0, 1, True, np.True_),
        strict=True,
    ):
        policy.update(x, reward)
    for policy in policies[1:]:
        assert np.array_equal(policy.posterior.mean, policies[0].posterior.mean)


def test_a_single_arm_is_a_row():
    with pytest.raises(ValueError, match=r"give X\[None, :\]"):
        zoo.make("WSBLinTS").pull(np.ones(3))


@pytest.mark.parametrize(
    ("short", "full"),
    [(0.7, 0.7 * np.eye(3)), ([0.5, 1.0, 2.0], np.diag([0.5, 1.0, 2.0]))],
)
def test_a_variance_will_do_for_a_covariance(short, full):
    one, two = (zoo.make("WSBLinUCB", prior_cov=cov) for cov in (short, full))
    for policy in (one, two):
        policy.update(np.eye(3), [0.3, -0.1, 0.2])
    assert repr(one) == repr(two)
    np.testing.assert_array_equal(one.scores(np.eye(3)), two.scores(np.eye(3)))


def test_a_reward_too_large_is_named():
    with pytest.raises(ValueError, match="sum of rewards of .*e\\+30"):
        zoo.make("WSBLinTS").update(np.ones(3), 1e300)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="folder that exists.*nowhere"):
        zoo.make("WSBLinTS").save(tmp_path / "nowhere" / "policy.json")
    with pytest.raises(IsADirectoryError, match="must name a file"):
        zoo.make("WSBLinTS").save(tmp_path)


def test_modules_are_there_after_one_import():
    code = "import sys, wsbnb; assert 'matplotlib.pyplot' not in sys.modules; "
    code += "assert 'plotting' in dir(wsbnb); wsbnb.plotting.use_style(); "
    code += "wsbnb.paper.table2"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'ploting'"):
        wsbnb.ploting  # noqa: B018


@pytest.mark.parametrize("name", ["WSB-LinTS", "D-LinUCB"])
def test_the_paper_s_jumps_are_not_taken_for_noise(name):
    """Jumps of sqrt(2) with the tuned memory of 60 rounds: nothing to warn about."""
    world = wsbnb.paper_environment("abrupt", 2).world(0)
    policy = wsbnb.paper.Player(name).policy(world)
    block = next(iter(world.blocks(4000)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for theta, noise in zip(block.theta, block.noise, strict=True):
            k = policy.pull(block.arms.T)
            x = block.arms.T[k]
            policy.update(x, x @ theta + noise)


# --- the checks themselves ------------------------------------------------------------

RIGHT = np.tile([1.0, -1.0], 100)  # two hundred residuals of the size of the noise


def fed(rewards, variance=0.0, noise_std=1.0, one_by_one=False):
    """A check of the noise that was shown rewards where 0 was predicted."""
    check = theory.NoiseCheck()
    predicted = np.column_stack(
        [np.zeros(len(rewards)), np.full(len(rewards), variance)]
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if one_by_one:
            for t in range(len(rewards)):
                check.add(predicted[t : t + 1], rewards[t : t + 1], noise_std)
        else:
            check.add(predicted, rewards, noise_std)
    return check, [str(w.message) for w in caught]


@pytest.mark.parametrize("one_by_one", [True, False])
def test_what_counts_as_a_residual(one_by_one):
    """Misses in predictive deviations, while the noise is at least half of these."""
    for variance, count in ((4.0, 2), (4.1, 0)):
        rewards = np.array([1.0, -2.0])
        check, _ = fed(rewards, variance, noise_std=2.0, one_by_one=one_by_one)
        expected = rewards[:count] / np.sqrt(8.0)
        np.testing.assert_allclose(check.collected, expected, rtol=1e-14)
        assert check.done is False


@pytest.mark.parametrize("one_by_one", [True, False])
def test_two_hundred_residuals_are_looked_at_once(one_by_one):
    check, said = fed(5.0 * RIGHT[:199], one_by_one=one_by_one)
    assert len(check.collected) == 199 and not said
    check, said = fed(5.0 * RIGHT, one_by_one=one_by_one)
    assert check.collected == [] and check.done and len(said) == 1
    check, said = fed(RIGHT, one_by_one=one_by_one)
    assert check.collected == [] and not check.done and not said


@pytest.mark.parametrize(
    "size, word", [(1.33, ""), (1.37, "below"), (0.35, ""), (0.32, "above")]
)
def test_how_far_off_a_noise_level_may_be(size, word):
    """A median of twice what is normal, a root mean square of a third."""
    _, said = fed(size * RIGHT)
    assert [f"is far {word} the" in text for text in said] == [True] * bool(word)


def test_a_check_takes_over_what_fits_only():
    check, _ = fed(np.arange(3.0))
    again = theory.NoiseCheck()
    again.set_state({"collected": RIGHT[:199].tolist(), "done": True})
    assert again.get_state() == {"collected": RIGHT[:199].tolist(), "done": True}
    for wrong in (RIGHT.tolist(), [[1.0]], 1.0):
        with pytest.raises(ValueError, match="state residuals must be fewer than 200"):
            check.set_state({"collected": wrong, "done": False})
    with pytest.raises(TypeError, match="state residuals"):
        check.set_state({"collected": [], "done": 1})


def test_what_was_held_back_is_left_to_the_caller():
    with theory.held_back() as texts:
        theory.warn("held")
    assert texts == ["held"]
    with pytest.warns(wsbnb.TheoryWarning, match="at once"):
        theory.warn("at once")
    assert texts == ["held"]


def clicked(*batches, noise_std=0.5):
    check = theory.ClickCheck()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for batch in batches:
            check.add(np.array(batch), noise_std)
    return check, [str(w.message) for w in caught]


FIFTH = [1.0, 0.0, 0.0, 0.0, 0.0]  # a deviation of 0.4


@pytest.mark.parametrize(
    "noise_std, wrong", [(0.26, True), (0.27, False), (0.59, False), (0.61, True)]
)
def test_the_noise_level_of_clicks(noise_std, wrong):
    """Half as much again is too far off; it is said in the round of the 200th click."""
    check, said = clicked(39 * FIFTH, FIFTH[:4], noise_std=noise_std)
    assert not said and not check.done
    check, said = clicked(39 * FIFTH, FIFTH[:4], [0.0], noise_std=noise_std)
    assert check.done and len(said) == wrong
    if wrong:
        assert "mean 0.2: their standard deviation is about 0.4;" in said[0]


def test_other_rewards_are_no_clicks():
    for other in (0.5, -1.0, 2.0):
        check, said = clicked([1.0, other], 40 * FIFTH, noise_std=0.1)
        assert check.done and not said


@pytest.mark.parametrize("always", [0.0, 1.0])
def test_one_kind_of_click_says_nothing_yet(always):
    check, said = clicked([always] * 300, noise_std=0.01)
    assert not check.done and not said
    check, said = clicked([always] * 299, [1.0 - always], noise_std=0.01)
    assert check.done and len(said) == 1
