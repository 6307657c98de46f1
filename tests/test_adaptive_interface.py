"""What the adaptive policies promise beside their algorithms, and what they refuse."""

import copy
import warnings

import numpy as np
import pytest

import wsbnb
from tests import zoo
from tests.test_adaptive import (
    COMPILED,
    MAKERS,
    WITH_DISCOUNT,
    bandit,
    bases,
    mixture,
    play,
    surprise,
)
from wsbnb.exploration import Thompson

pytestmark = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")


@bases(WITH_DISCOUNT)
def test_check_policy_of_a_mixture(name):
    done = wsbnb.check_policy(mixture(zoo.make(name)))
    assert len(done) >= (15 if name == "Uniform" else 16)


@pytest.mark.parametrize("maker", MAKERS[1:])
@pytest.mark.parametrize("name", COMPILED)
def test_check_policy(name, maker):
    assert len(wsbnb.check_policy(maker(zoo.make(name)))) >= 16


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
    base = wsbnb.WSBLinTS(
        prior_mean=np.zeros(2),
        prior_cov=np.eye(2),
        noise_std=env.noise_std,
        discount=0.9,
    )
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
    assert isinstance(params["base"], wsbnb.WSBLinTS)
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
        base = wsbnb.WSBLinTS(
            prior_mean=np.zeros(3), prior_cov=np.eye(3), noise_std=0.5, discount=0.9
        )
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
        zoo.make("RestartLinUCB"),
        zoo.make("Oracle"),
        Reckless(prior_mean=[0.0], prior_cov=1.0, noise_std=1.0, discount=0.9),
        mixture(zoo.make("WSBLinTS")),
        {"class": "WSBLinTS", "params": {}},
    ],
    ids=range(10),
)
def test_bad_bases(base, maker):
    with pytest.raises((TypeError, ValueError), match="base"):
        maker(base)


def test_policies_that_never_forget_are_bases_too():
    """LinUCB with discounts is LB-WeightUCB; a composition needs no name."""
    plain = mixture(zoo.make("LinUCB"))
    weighted = mixture(zoo.make("LBWeightUCB", split="none"))
    assert play(plain) == play(weighted)
    settings = zoo.settings("WSBLinTS", 3)
    scale = settings.pop("scale")
    unnamed = wsbnb.LinearPolicy(wsbnb.WSBPosterior(**settings), Thompson(scale=scale))
    for maker in MAKERS:
        assert play(maker(unnamed)) == play(maker(zoo.make("WSBLinTS")))


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", ["WSBLinUCB", "DLinTS"])
def test_what_is_refused_changes_nothing(maker, name):
    policy = maker(zoo.make(name))
    play(policy, rounds=7)  # between two blocks of the bandit
    before = copy.deepcopy((policy._get_state(), policy._rng.bit_generator.state))
    huge = 1e308 * np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
    for attempt, error, words in [
        (lambda: policy.pull(np.vstack([huge, -huge])), ValueError, "X must give"),
        (lambda: policy.scores(np.vstack([huge, -huge])), ValueError, "X must give"),
        (lambda: policy.update(np.ones(3), 1.0, decay="no"), TypeError, "decay"),
        (lambda: policy.update([1e200, 0.0, 0.0], 1.0), ValueError, "x and reward"),
        (lambda: policy.update(np.ones(3), np.nan), ValueError, "reward"),
        (lambda: policy.decay(-1), ValueError, "steps"),
    ]:
        with pytest.raises(error, match=words):
            attempt()
        after = policy._get_state(), policy._rng.bit_generator.state
        np.testing.assert_equal(after, before)


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
