"""Settings, copies, generators: what policies share beside the playing."""

import copy
import warnings

import numpy as np
import pytest

import wsbnb
from tests import zoo
from wsbnb.exploration import Greedy, Optimism, Thompson
from wsbnb.weights import Polynomial, SlidingWindow

X30 = np.random.default_rng(0).standard_normal((30, 3))
REWARDS30 = np.random.default_rng(1).standard_normal(30)


@pytest.mark.parametrize(
    "name", [name for name in zoo.LINEAR if "discount" in zoo.settings(name, 3)]
)
def test_theory_warning_when_the_memory_is_shorter_than_the_dimension(name):
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
    policy = wsbnb.WSBLinTS(
        prior_mean=given, prior_cov=np.eye(2), noise_std=0.5, discount=0.99
    )
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


def test_a_reset_does_not_rewind_what_others_draw():
    shared = np.random.default_rng(7)
    policy, other = (zoo.make("WSBLinTS", rng=shared) for _ in range(2))
    first = policy.pull(X30), other.pull(X30)
    state = shared.bit_generator.state
    policy.reset()
    assert shared.bit_generator.state == state
    assert policy.pull(X30) == first[0]
    one, two = policy.clone(shared), policy.clone(shared)  # in turn, not in step
    assert [one.pull(X30) for _ in range(9)] != [two.pull(X30) for _ in range(9)]


def test_no_rng_is_different_each_time():
    first, second = zoo.make("WSBLinTS", rng=None), zoo.make("WSBLinTS", rng=None)
    assert (first.scores(np.eye(3)) != second.scores(np.eye(3))).any()


# --- copies --------------------------------------------------------------------------


def taught(name, rng=3):
    policy = zoo.make(name, rng=rng)
    policy.update(X30[:9], REWARDS30[:9])
    if name != "Oracle":
        policy.pull(X30)
    return policy


def draws(policy):
    return getattr(policy, "n_normals", 0) > 0


@pytest.mark.parametrize("name", zoo.ALL)
def test_a_copy_goes_on(name):
    policy = taught(name)
    same, other, again = policy.copy(), policy.copy(rng=7), policy.copy(rng=7)
    ahead = [p._rng.bit_generator.state for p in (policy, same, other, again)]
    assert ahead[0] == ahead[1] and ahead[2] == ahead[3] and ahead[0] != ahead[2]
    assert np.array_equal(policy.scores(X30), same.scores(X30))
    # With a generator of its own it knows the same and explores otherwise.
    assert np.array_equal(policy.scores(X30), other.scores(X30)) == (not draws(policy))
    if name != "Oracle":
        assert np.array_equal(policy.posterior.mean, other.posterior.mean)
    other.reset()
    again.reset()
    assert np.array_equal(other.scores(X30), again.scores(X30))


@pytest.mark.parametrize("name", zoo.ALL)
def test_a_clone_is_new(name):
    policy = taught(name)
    before = policy._get_state()
    fresh, new, other = zoo.make(name, rng=3), policy.clone(), policy.clone(rng=7)
    np.testing.assert_equal(new._get_state(), fresh._get_state())
    np.testing.assert_equal(other._get_state(), fresh._get_state())
    assert repr(new) == repr(policy)
    assert np.array_equal(new.scores(X30), fresh.scores(X30))
    assert np.array_equal(other.scores(X30), fresh.scores(X30)) == (not draws(policy))
    new.update(X30, REWARDS30)
    np.testing.assert_equal(policy._get_state(), before)


def test_clone_and_copy_differ():
    """What `clone` meant before version 1 is now `copy`."""
    policy = taught("WSBLinTS")
    assert policy.copy().rounds == 9 and policy.clone().rounds == 0
    assert copy.copy(policy).rounds == 9


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


# --- set_params ----------------------------------------------------------------------


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_other_settings_go_on_from_what_was_learnt(name):
    """As if the setting had changed at this moment: the same sums, another future."""
    known = zoo.settings(name, 3)
    other = {"discount": 0.7, "delta": 0.2, "scale": 0.1}
    changes = {key: value for key, value in other.items() if key in known}
    policy = taught(name)
    held, before, generator = (
        policy.posterior,
        policy.posterior.copy(),
        policy._rng.bit_generator.state,
    )
    assert policy.set_params(**changes) is policy
    assert {key: policy.get_params()[key] for key in changes} == changes
    assert repr(policy) == repr(zoo.make(name, **changes))
    assert policy.posterior is held
    np.testing.assert_array_equal(held.precision, before.precision)
    np.testing.assert_array_equal(held.shift, before.shift)
    assert held.rounds == 9 and held.squared_weight_sum == before.squared_weight_sum
    assert policy._rng.bit_generator.state == generator
    if name == "WSBLinTS":
        policy.update(X30[0], 5.0)
        mean, cov = zoo.prior(3)
        w = np.append(zoo.GAMMA ** np.arange(8, -1, -1) * 0.7, 1.0)
        rows, values = np.vstack([X30[:9], X30[:1]]), np.append(REWARDS30[:9], 5.0)
        expected = wsbnb.batch_posterior(rows, values, w, mean, cov, zoo.SIGMA)[0]
        np.testing.assert_allclose(held.mean, expected, rtol=1e-9)


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_setting_nothing_changes_nothing(name):
    policy = taught(name)
    twin = policy.copy().set_params()
    if name == "WSBLinUCB":  # its eigenvalue bound starts again from what is certain
        parts = policy.explain(X30), twin.explain(X30)
        assert parts[0]["penalty"] <= parts[1]["penalty"]
        np.testing.assert_array_equal(parts[0]["width"], parts[1]["width"])
        return
    np.testing.assert_array_equal(policy.scores(X30), twin.scores(X30))
    assert [policy.pull(X30) for _ in range(9)] == [twin.pull(X30) for _ in range(9)]


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("WSBLinTS", "noise_std", 2.0),
        ("WSBLinUCB", "prior_mean", 0.5 * np.ones(3)),
        ("WSBLinUCB", "prior_cov", 2.0),
        ("DLinUCB", "regularization", 2.0),
        ("DLinUCB", "noise_std", 2.0),
        ("DLinTS", "dim", 2),
        ("SWLinUCB", "length", 4),
    ],
)
def test_what_the_sums_are_made_of_changes_only_before(name, setting, value):
    policy = taught(name)
    state, words = policy._get_state(), repr(policy)
    with pytest.raises(ValueError, match=f"changes must leave .* got .'{setting}'"):
        policy.set_params(**{setting: value})
    np.testing.assert_equal(policy._get_state(), state)
    assert repr(policy) == words
    policy.reset()
    np.testing.assert_array_equal(
        getattr(policy.set_params(**{setting: value}), setting) * np.ones(1),
        getattr(zoo.make(name, **{setting: value}), setting) * np.ones(1),
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gamma": 0.5}, "changes must be one of .* got 'gamma'"),
        ({"rng": 1}, "changes must be one of .* got 'rng'"),
        ({"discount": 1.5}, "discount must lie in"),
        ({"scale": 0.5, "discount": 0.0}, "discount must lie in"),
    ],
)
def test_a_refused_change_changes_nothing(changes, words):
    policy = taught("WSBLinTS")
    twin = policy.copy()
    with pytest.raises(ValueError, match=words):
        policy.set_params(**changes)
    assert repr(policy) == repr(twin)
    assert np.array_equal(policy.scores(X30), twin.scores(X30))


def test_another_way_to_explore():
    """From the local norm to the posterior's and to no exploration; not back."""
    post = wsbnb.WRLS(dim=3, regularization=0.3, discount=0.9, noise_std=0.4)
    policy = wsbnb.LinearPolicy(post, Thompson(norm="local"), rng=0)
    twin = wsbnb.LinearPolicy(post, Thompson(), rng=0)
    for each in (policy, twin):
        each.update(X30, REWARDS30)
    assert not np.array_equal(policy.scores(X30), twin.scores(X30))
    policy.set_params(exploration=Thompson())
    np.testing.assert_array_equal(policy.scores(X30), twin.scores(X30))
    policy.set_params(exploration=Greedy())
    np.testing.assert_allclose(policy.scores(X30), X30 @ twin.posterior.mean)
    with pytest.raises(ValueError, match="squared_weights=True"):
        policy.set_params(exploration=Optimism(norm="local"))
    assert isinstance(policy.exploration, Greedy)
    with pytest.raises(ValueError, match="changes must leave .* got .'posterior'"):
        rule = SlidingWindow(5)
        policy.set_params(
            posterior=wsbnb.WRLS(dim=3, regularization=0.3, forgetting=rule)
        )


def test_another_rule_goes_on_from_the_rounds_that_are_remembered():
    """From the next round on it weighs all of them, as if it had been there before."""
    mean, cov = zoo.prior(3)
    prior = dict(prior_mean=mean, prior_cov=cov, noise_std=0.4)
    one, two = Polynomial(0.7), Polynomial(2.0)
    policy = wsbnb.LinearPolicy(wsbnb.WSBPosterior(**prior, forgetting=one), Greedy())
    policy.update(X30[:9], REWARDS30[:9])
    policy.set_params(posterior=wsbnb.WSBPosterior(**prior, forgetting=two))
    policy.update(X30[9], REWARDS30[9])
    found = policy.posterior
    for got, expected in zip(
        (found.mean, found.cov),
        wsbnb.batch_posterior(X30[:10], REWARDS30[:10], two, **prior),
        strict=True,
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_what_was_learnt_while_no_time_passed_is_kept():
    """With ``decay=False`` alone the clock still stands at 0."""
    policy = zoo.make("WSBLinTS")
    policy.update(X30, REWARDS30, decay=False)
    shift = policy.posterior.shift
    policy.set_params(discount=0.7)
    np.testing.assert_array_equal(policy.posterior.shift, shift)
    with pytest.raises(ValueError, match="squared_weights=True"):
        wsbnb.LinearPolicy(policy.posterior, Thompson(norm="local"))


# --- defaults ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["DLinUCB", "WSBLinUCB", "SWLinUCB", "DRandLinUCB"])
def test_the_split_follows_from_the_horizon(name):
    settings = zoo.settings(name, 3)
    settings = {k: v for k, v in settings.items() if k not in ("delta", "horizon")}
    cls = getattr(wsbnb, name)
    free, bounded = cls(**settings), cls(**settings, horizon=1e4)
    assert (free.split, free.horizon, free.delta) == ("anytime", None, 0.05)
    assert (bounded.split, bounded.horizon) == ("horizon", 10_000)
    assert type(bounded.horizon) is int
    assert cls(**settings, horizon=100, split="none").split == "none"
    with pytest.raises(ValueError, match="horizon must be .* got None"):
        cls(**settings, split="horizon")


@pytest.mark.parametrize("name", zoo.ALL)
def test_settings_go_by_name(name):
    value = next(iter(zoo.settings(name, 3).values()))
    with pytest.raises(TypeError, match="positional"):
        getattr(wsbnb, name)(value)


@pytest.mark.parametrize("name", ["WSBLinTS", "DLinTS"])
def test_thompson_sampling_is_explained_by_its_posterior(name):
    policy = zoo.make(name)
    policy.update(np.eye(3), [0.3, -0.1, 0.2])
    X = np.random.default_rng(0).standard_normal((4, 3))
    said, posterior = policy.explain(X), policy.posterior
    np.testing.assert_allclose(said["mean"], X @ posterior.mean)
    width = np.sqrt(np.einsum("ki,ij,kj->k", X, posterior.cov, X))
    np.testing.assert_allclose(said["width"], width)


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_answers_do_not_change_later(name):
    """They are copies of what the next round overwrites."""
    policy, rng = zoo.make(name, 3), np.random.default_rng(6)
    X = rng.standard_normal((5, 3))
    policy.update(X, rng.standard_normal(5))
    answers = {"scores": policy.scores(X), **policy.explain(X)}
    before = copy.deepcopy(answers)
    for _ in range(2):
        policy.update(X[policy.pull(9.0 * X[::-1])], 1.0)
    for key, value in before.items():
        np.testing.assert_array_equal(answers[key], value)
