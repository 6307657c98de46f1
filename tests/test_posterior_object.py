"""Posterior objects: copying, sharing nothing, refusing bad input unharmed."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tests.test_posterior import posterior, problem, seesaw
from wsbnb import weights as rules
from wsbnb.posterior import WRLS, WSBPosterior, batch_posterior

RULES = [
    rules.Exponential(0.9),
    rules.SlidingWindow(5),
    rules.Restart(5),
    rules.Polynomial(1.5, of="round"),
    rules.Polynomial(1.5, of="age"),
    rules.CustomWeights(seesaw),
]


def ridge(mu0, cov0):
    return WRLS(dim=len(mu0), regularization=0.3, discount=0.9, noise_std=0.4)


MAKERS = [
    *(lambda mu0, cov0, rule=rule: posterior(mu0, cov0, rule) for rule in RULES),
    ridge,
]
ALL = pytest.mark.parametrize("make", MAKERS, ids=[*map(repr, RULES), "WRLS"])


def state(post):
    return (
        post.precision.tobytes(),
        post.shift.tobytes(),
        post.mean.tobytes(),
        post.cov.tobytes(),
        post.rounds,
        post.weight_sum,
        post.squared_weight_sum,
        repr(post),
    )


@ALL
def test_copy_pickle_and_reset(make):
    X, rewards, mu0, cov0 = problem(15, 12, 3)
    post, fresh = make(mu0, cov0), make(mu0, cov0)
    post.update(X, rewards)
    before = state(post)
    twins = [post.copy(), copy.copy(post), pickle.loads(pickle.dumps(post))]
    for twin in twins:
        assert state(twin) == before
        twin.update(X[0], 1.0)
        assert state(twin) != before
        assert state(post) == before
    post.update(X[0], 1.0)
    assert all(state(twin) == state(post) for twin in twins)
    post.reset()
    assert state(post) == state(fresh)
    post.update(X, rewards)
    assert state(post) == before


def test_arrays_of_a_pickle_begin_at_a_line_of_the_cache():
    """So that the kernels are as quick as before; a pickle puts them anywhere."""
    post = posterior(np.zeros(3), 1.0, 0.9)
    twins = [pickle.loads(pickle.dumps(post)) for _ in range(20)]
    arrays = [array for twin in twins for array in (twin._state.sums, twin._work[0])]
    assert all(array.ctypes.data % 64 == 0 for array in arrays)


@ALL
def test_inputs_and_outputs_are_not_shared(make):
    X, rewards, mu0, cov0 = problem(15, 4, 3)
    inputs = [X.copy(), rewards.copy(), mu0.copy(), cov0.copy()]
    post = make(mu0, cov0)
    post.update(X, rewards)
    post.update(X[0], rewards[0])
    prior = post.prior_mean.copy(), post.prior_cov.copy()
    for now, then in zip((X, rewards, mu0, cov0), inputs, strict=True):
        np.testing.assert_array_equal(now, then)
    before = state(post)
    mu0[:], cov0[:], X[:] = 9.0, 9.0, 9.0
    for array in (post.mean, post.cov, post.precision, post.shift, post.prior_mean):
        array[:] = 7.0
    post.prior_cov[:] = 7.0
    assert state(post) == before
    np.testing.assert_array_equal(post.prior_mean, prior[0])
    np.testing.assert_array_equal(post.prior_cov, prior[1])
    post.update(inputs[0], inputs[1])
    again = make(inputs[2], inputs[3])
    again.update(inputs[0], inputs[1])
    again.update(inputs[0][0], inputs[1][0])
    again.update(inputs[0], inputs[1])
    assert state(post) == state(again)


@ALL
def test_what_was_expected_before_each_reward(make):
    X, rewards, mu0, cov0 = problem(16, 12, 3)
    post, twin = make(mu0, cov0), make(mu0, cov0)
    mean, variance = post.predict_and_learn(X, rewards)
    for t in range(12):
        expected, std = twin.predict(X[t], noise=False)
        assert mean[t] == pytest.approx(expected, rel=1e-9, abs=1e-11)
        assert variance[t] == pytest.approx(std**2, rel=1e-10)
        twin.update(X[t], rewards[t])
    np.testing.assert_array_equal(post.precision, twin.precision)
    np.testing.assert_array_equal(post.shift, twin.shift)


def test_rows_too_large_are_refused_before_the_next_is_expected():
    """A rule that remembers every round factorises between the rows."""
    post = posterior(np.zeros(2), np.eye(2), rules.Polynomial(1.5, of="age"))
    before = state(post)
    with pytest.raises(ValueError, match="x and reward must keep the precision"):
        post.predict_and_learn([[1e16, 1e16], [1.0, 0.0], [1.0, 1.0]], [1.0, 2.0, 3.0])
    assert state(post) == before


# --- bad updates ----------------------------------------------------------------------

GOOD_X = [1.0, 0.0, 0.0]
BAD_UPDATES = [
    (([1.0, 2.0], 0.0), ValueError, "x .*shape.*\\(2,\\)"),
    (([[1.0, 2.0]], [0.0]), ValueError, "x .*shape"),
    ((np.zeros((2, 2, 3)), [0.0, 0.0]), ValueError, "x .*shape"),
    (([1.0, np.nan, 0.0], 0.0), ValueError, "x .*finite.*nan"),
    (([1.0, np.inf, 0.0], 0.0), ValueError, "x .*finite.*inf"),
    ((np.array([np.inf, -np.inf, 0.0]), 0.0), ValueError, "x .*finite.*inf"),
    (([1.0, "a", 0.0], 0.0), TypeError, "x "),
    ((GOOD_X, np.nan), ValueError, "reward .*finite"),
    ((GOOD_X, [1.0]), TypeError, "reward"),
    ((GOOD_X, None), TypeError, "reward"),
    ((np.ones((2, 3)), [1.0]), ValueError, "reward .*one entry per row"),
    ((np.ones((2, 3)), 1.0), ValueError, "reward .*one entry per row"),
    ((np.ones((2, 3)), [1.0, np.inf]), ValueError, "reward .*finite"),
    (([1e200, 0.0, 0.0], 1.0), ValueError, "precision"),
    (([1e308, 1e308, 0.0], 1.0), ValueError, "precision"),
    (([1e12, 1e12, 0.0], 1.0), ValueError, "precision"),
    ((np.array([[1.0, 0, 0], [0, 1e200, 0]]), [1.0, 1.0]), ValueError, "precision"),
    ((np.array(2 * [[1e150, 1, 0]]), [1e300, -1e300]), ValueError, "precision"),
    ((GOOD_X, 1.0, "no"), TypeError, "decay must be True or False, got 'no'"),
    ((GOOD_X, 1.0, 1), TypeError, "decay must be True or False, got 1"),
    ((GOOD_X, 1.0, None), TypeError, "decay must be True or False, got None"),
    ((GOOD_X, 1.0, True, -1), ValueError, "age .*zero or positive"),
    ((GOOD_X, 1.0, True, np.nan), ValueError, "age .*finite"),
    ((GOOD_X, 1.0, True, "old"), TypeError, "age .*real number"),
]


@ALL
@pytest.mark.parametrize("arguments, error, words", BAD_UPDATES)
def test_bad_updates_leave_the_state_untouched(make, arguments, error, words):
    X, rewards, mu0, cov0 = problem(15, 12, 3)
    post, control = make(mu0, cov0), make(mu0, cov0)
    post.update(X, rewards)
    control.update(X, rewards)
    with np.errstate(over="ignore"), pytest.raises(error, match=words):
        post.update(*arguments)
    assert state(post) == state(control)
    post.update(X, rewards)  # and it goes on as if nothing had happened
    control.update(X, rewards)
    assert state(post) == state(control)


def test_a_window_takes_whole_rounds_in_order():
    post = posterior([0.0, 1.0], 1.0, rules.SlidingWindow(5))
    before = state(post)
    for words in (dict(decay=False), dict(age=1), dict(decay=False, age=1)):
        with pytest.raises(ValueError, match="decay must be True and age 0"):
            post.update([1.0, 0.0], 1.0, **words)
        assert state(post) == before


@pytest.mark.parametrize(
    "rule", [rules.Polynomial(1.5, of="age"), rules.CustomWeights(seesaw)], ids=repr
)
def test_rules_that_remember_know_whole_rounds_from_1_on(rule):
    post = posterior([0.0, 1.0], 1.0, rule)
    with pytest.raises(ValueError, match="age must lead .* got 0 in round 0"):
        post.update([1.0, 0.0], 1.0, decay=False)  # there is no current round yet
    post.update([1.0, 0.0], 1.0)
    before = state(post)
    for age in (1, 0.5, 3):
        with pytest.raises(ValueError, match=f"age must lead .* got {age} in round 1"):
            post.update([1.0, 0.0], 1.0, decay=False, age=age)
        assert state(post) == before
    post.update([1.0, 0.0], 1.0, age=1)
    assert post.rounds == 2


@pytest.mark.parametrize(
    "steps, error",
    [(-1, ValueError), (np.nan, ValueError), ("a", TypeError), (True, TypeError)],
)
@ALL
def test_bad_steps(make, steps, error):
    post = make([0.0, 1.0], np.eye(2))
    before = state(post)
    with pytest.raises(error, match="steps"):
        post.decay(steps)
    assert state(post) == before


def test_parts_of_a_round():
    """Only where the weights have a meaning between two rounds."""
    for rule in RULES:
        post = posterior([0.0, 1.0], 1.0, rule)
        post.update([1.0, 0.0], 1.0)
        if isinstance(rule, rules.Exponential) or rule == RULES[3]:
            post.decay(0.5)
            assert post.rounds == 1.5
        else:
            with pytest.raises(ValueError, match="steps must be a whole number here"):
                post.decay(0.5)
            assert post.rounds == 1


# --- settings -------------------------------------------------------------------------


def test_forms_of_the_prior_covariance():
    """A number is a multiple of the identity, a vector a diagonal."""
    X, rewards, mu0, _ = problem(17, 5, 3)
    for short, full in ((0.3, 0.3 * np.eye(3)), ([1.0, 2.0, 3.0], np.diag([1, 2, 3]))):
        one, two = posterior(mu0, short, 0.9), posterior(mu0, full, 0.9)
        one.update(X, rewards)
        two.update(X, rewards)
        assert state(one) == state(two)
        np.testing.assert_array_equal(one.prior_cov, full)


GOOD = dict(prior_mean=[0.0, 1.0], prior_cov=np.eye(2), noise_std=0.5, discount=0.9)
MASKED = np.ma.masked_array([1.0, 2.0], [False, True])


@pytest.mark.parametrize(
    "name, value, error, words",
    [
        ("prior_mean", [[0.0, 1.0]], ValueError, "non-empty vector"),
        ("prior_mean", [0.0, np.nan], ValueError, "finite"),
        ("prior_mean", [], ValueError, "non-empty vector"),
        ("prior_mean", None, TypeError, "None"),
        ("prior_mean", [None, 1.0], ValueError, "finite"),
        ("prior_mean", ["1.0", "2.0"], TypeError, "text '1.0'"),
        ("prior_mean", np.array([1.0, "2"], dtype=object), TypeError, "text '2'"),
        ("prior_mean", [1j, 1.0], TypeError, "complex"),
        ("prior_mean", np.array([0, 1], dtype="m8[s]"), TypeError, "times"),
        ("prior_mean", MASKED, ValueError, "masked entries, got 1"),
        ("prior_mean", sparse.csr_array([[1.0, 2.0]]), TypeError, "dense array"),
        ("prior_cov", np.eye(3), ValueError, "2 rows"),
        ("prior_cov", [[1.0, 0.5], [0.0, 1.0]], ValueError, "symmetric"),
        ("prior_cov", [[1.0, 2.0], [2.0, 1.0]], ValueError, "eigenvalue -1"),
        ("prior_cov", np.zeros((2, 2)), ValueError, "positive definite"),
        ("prior_cov", 0.0, ValueError, "positive definite"),
        ("prior_cov", -1.0, ValueError, "eigenvalue -1"),
        ("prior_cov", [1.0, -2.0], ValueError, "eigenvalue -2"),
        ("prior_cov", [1.0, 1.0, 1.0], ValueError, "diagonal of length 2"),
        ("prior_cov", [[1e-320, 0.0], [0.0, 1.0]], ValueError, "conditioned"),
        ("prior_cov", sparse.eye_array(2), TypeError, "dense array"),
        ("prior_cov", None, TypeError, "None"),
        ("noise_std", 0.0, ValueError, "positive"),
        ("noise_std", -1.0, ValueError, "positive"),
        ("noise_std", np.inf, ValueError, "finite"),
        ("noise_std", 1e-200, ValueError, "between"),
        ("noise_std", None, TypeError, "real number"),
        ("noise_std", True, TypeError, "real number"),
        ("discount", 0.0, ValueError, "(0, 1]"),
        ("discount", 1.0001, ValueError, "(0, 1]"),
        ("discount", np.nan, ValueError, "finite"),
        ("discount", None, ValueError, "forgetting"),
        ("forgetting", rules.Exponential(0.9), ValueError, "not both"),
        ("squared_weights", 1, TypeError, "True or False"),
    ],
)
def test_bad_settings(name, value, error, words):
    with np.errstate(over="ignore"), pytest.raises(error, match=name) as caught:
        WSBPosterior(**{**GOOD, name: value})
    assert words in str(caught.value)


def test_a_masked_array_without_masks_is_an_array():
    whole = np.ma.masked_array([0.0, 1.0], [False, False])
    assert WSBPosterior(**{**GOOD, "prior_mean": whole}).mean.tolist() == [0.0, 1.0]


def test_settings_go_by_name():
    with pytest.raises(TypeError, match="positional"):
        WSBPosterior([0.0], 1.0, 0.5, 0.9)
    with pytest.raises(TypeError, match="positional"):
        WRLS(2, 1.0, 0.9)


def test_other_bad_settings():
    prior = ([0.0], [[1.0]], 1.0)
    post = posterior([0.0], 1.0, 0.9)
    bad_rule = {k: v for k, v in GOOD.items() if k != "discount"}
    for make, words in [
        (lambda: WSBPosterior(**bad_rule, forgetting=0.9), "forgetting .* 0.9"),
        (lambda: WRLS(dim=0, regularization=1.0, discount=0.9), "dim"),
        (lambda: WRLS(dim=2**16, regularization=1.0, discount=0.9), "dim .* 65536"),
        (lambda: WRLS(dim=2, regularization=0.0, discount=0.9), "regularization"),
        (lambda: WRLS(dim=2, regularization=1.0, discount=1.9), "discount"),
        (
            lambda: WRLS(dim=2, regularization=1.0, discount=0.9, noise_std=-1.0),
            "noise_std",
        ),
        (lambda: batch_posterior([[1.0]], [1.0], [-0.1], *prior), "weights.*-0.1"),
        (lambda: batch_posterior([[1.0]], [1.0], [0.1, 1.0], *prior), "weights"),
        (lambda: batch_posterior([[1.0]], [1.0, 2.0], [1.0], *prior), "rewards"),
        (lambda: batch_posterior([1.0], [1.0], [1.0], *prior), "X .*shape"),
        (lambda: batch_posterior([[1.0, 2.0]], [1.0], [1.0], *prior), "X .*shape"),
        (lambda: batch_posterior([[np.nan]], [1.0], [1.0], *prior), "X .*finite"),
        (lambda: batch_posterior([[1e300]], [1.0], [1.0], *prior), "precision"),
        (lambda: post.predict([1.0, 2.0]), "x .*shape"),
        (lambda: post.predict([1.0], noise="no"), "noise must be True or False"),
        (lambda: post.logpdf([np.inf]), "theta .*finite"),
        (lambda: post.predict([1e200]), "x must give finite .* too far out"),
        (lambda: post.logpdf([[0.0], [1e200]]), "theta must give finite .* too far"),
        (lambda: post.sample(0, size=-1), "size"),
    ]:
        with (
            np.errstate(over="ignore"),
            pytest.raises((TypeError, ValueError), match=words),
        ):
            make()


def test_only_exponential_weights_have_a_discount():
    assert posterior([0.0], 1.0, 0.9).discount == 0.9
    with pytest.raises(AttributeError, match=r"Restart\(period=5\) has no discount"):
        posterior([0.0], 1.0, rules.Restart(5)).discount  # noqa: B018


def test_reads_pandas_and_lists():
    X, rewards, mu0, cov0 = problem(15, 5, 2)
    one, two = posterior(mu0, cov0, 0.9), posterior(mu0, cov0, 0.9)
    one.update(X, rewards)
    two.update(pd.DataFrame(X), pd.Series(rewards))
    assert state(one) == state(two)


def test_repr_is_short_and_says_it():
    text = repr(posterior(np.zeros(40), 1.0, 0.95))
    assert "dim=40" in text and "discount=0.95" in text and len(text) < 200
    assert "SlidingWindow(length=7)" in repr(
        posterior(np.zeros(40), 1.0, rules.SlidingWindow(7))
    )
