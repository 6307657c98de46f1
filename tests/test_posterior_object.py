"""Posterior objects: copying, sharing nothing, refusing bad input unharmed."""

import copy
import pickle

import numpy as np
import pytest

from wsbnb import weights as rules
from wsbnb.posterior import (
    WRLS,
    PolynomialPosterior,
    RestartPosterior,
    WindowPosterior,
    WSBPosterior,
    batch_posterior,
    stream_posterior,
)


def problem(seed, n, d):
    """Arms, rewards and an anisotropic prior with a mean off zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    rewards = X @ rng.standard_normal(d) + 0.4 * rng.standard_normal(n)
    root = rng.standard_normal((d, d)) + 2.0 * np.diag(np.arange(1.0, d + 1))
    return X, rewards, 3.0 * rng.standard_normal(d), root @ root.T / d


MAKERS = [
    lambda *prior: WSBPosterior(*prior, 0.9),
    lambda *prior: WindowPosterior(*prior, 5),
    lambda *prior: RestartPosterior(*prior, 5),
    lambda *prior: PolynomialPosterior(*prior, 1.5),
    lambda mu0, cov0, noise_std: WRLS(len(mu0), 0.3, 0.9),
]


def state(post):
    return (
        post.precision.tobytes(),
        post.mean.tobytes(),
        post.cov.tobytes(),
        post.rounds,
        post.weight_sum,
        post.squared_weight_sum,
        repr(post),
    )


@pytest.mark.parametrize("make", MAKERS)
def test_copy_pickle_and_reset(make):
    X, rewards, mu0, cov0 = problem(15, 12, 3)
    post, fresh = make(mu0, cov0, 0.4), make(mu0, cov0, 0.4)
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


@pytest.mark.parametrize("make", MAKERS)
def test_inputs_and_outputs_are_not_shared(make):
    X, rewards, mu0, cov0 = problem(15, 4, 3)
    inputs = [X.copy(), rewards.copy(), mu0.copy(), cov0.copy()]
    post = make(mu0, cov0, 0.4)
    post.update(X, rewards)
    post.update(X[0], rewards[0])
    for now, then in zip((X, rewards, mu0, cov0), inputs, strict=True):
        np.testing.assert_array_equal(now, then)
    before = state(post)
    mu0[:], cov0[:], X[:] = 9.0, 9.0, 9.0
    for array in (post.mean, post.cov, post.precision, post.prior_mean):
        array[:] = 7.0
    post.prior_cov[:] = 7.0
    assert state(post) == before
    post.update(inputs[0], inputs[1])
    again = make(inputs[2], inputs[3], 0.4)
    again.update(inputs[0], inputs[1])
    again.update(inputs[0][0], inputs[1][0])
    again.update(inputs[0], inputs[1])
    assert state(post) == state(again)


BAD_UPDATES = [
    (([1.0, 2.0], 0.0), ValueError, "x .*shape.*\\(2,\\)"),
    (([[1.0, 2.0]], [0.0]), ValueError, "x .*shape"),
    ((np.zeros((2, 2, 3)), [0.0, 0.0]), ValueError, "x .*shape"),
    (([1.0, np.nan, 0.0], 0.0), ValueError, "x .*finite.*nan"),
    (([1.0, np.inf, 0.0], 0.0), ValueError, "x .*finite.*inf"),
    (([1.0, "a", 0.0], 0.0), TypeError, "x "),
    (([1.0, 0.0, 0.0], np.nan), ValueError, "reward .*finite"),
    (([1.0, 0.0, 0.0], [1.0]), TypeError, "reward"),
    (([1.0, 0.0, 0.0], None), TypeError, "reward"),
    ((np.ones((2, 3)), [1.0]), ValueError, "reward .*one entry per row"),
    ((np.ones((2, 3)), 1.0), ValueError, "reward .*one entry per row"),
    ((np.ones((2, 3)), [1.0, np.inf]), ValueError, "reward .*finite"),
    (([1e200, 0.0, 0.0], 1.0), ValueError, "precision"),
    (([1e12, 1e12, 0.0], 1.0), ValueError, "precision"),
    ((np.array([[1.0, 0, 0], [0, 1e200, 0]]), [1.0, 1.0]), ValueError, "precision"),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("arguments, error, words", BAD_UPDATES)
def test_bad_updates_leave_the_state_untouched(make, arguments, error, words):
    X, rewards, mu0, cov0 = problem(15, 12, 3)
    post, control = make(mu0, cov0, 0.4), make(mu0, cov0, 0.4)
    post.update(X, rewards)
    control.update(X, rewards)
    with np.errstate(over="ignore"), pytest.raises(error, match=words):
        post.update(*arguments)
    assert state(post) == state(control)
    post.update(X, rewards)  # and it goes on as if nothing had happened
    control.update(X, rewards)
    assert state(post) == state(control)


@pytest.mark.parametrize(
    "steps, error",
    [(-1, ValueError), (np.nan, ValueError), ("a", TypeError), (True, TypeError)],
)
def test_bad_steps(steps, error):
    for make in MAKERS:
        post = make([0.0, 1.0], np.eye(2), 0.4)
        before = state(post)
        with pytest.raises(error, match="steps"):
            post.decay(steps)
        assert state(post) == before


GOOD = dict(prior_mean=[0.0, 1.0], prior_cov=np.eye(2), noise_std=0.5, discount=0.9)


@pytest.mark.parametrize(
    "name, value, error",
    [
        ("prior_mean", [[0.0, 1.0]], ValueError),
        ("prior_mean", [0.0, np.nan], ValueError),
        ("prior_mean", [], ValueError),
        ("prior_cov", np.eye(3), ValueError),
        ("prior_cov", [[1.0, 0.5], [0.0, 1.0]], ValueError),
        ("prior_cov", [[1.0, 2.0], [2.0, 1.0]], ValueError),
        ("prior_cov", np.zeros((2, 2)), ValueError),
        ("prior_cov", [[1e-320, 0.0], [0.0, 1.0]], ValueError),
        ("noise_std", 0.0, ValueError),
        ("noise_std", -1.0, ValueError),
        ("noise_std", np.inf, ValueError),
        ("noise_std", 1e-200, ValueError),
        ("noise_std", None, TypeError),
        ("discount", 0.0, ValueError),
        ("discount", 1.0001, ValueError),
        ("discount", np.nan, ValueError),
    ],
)
def test_bad_settings(name, value, error):
    with np.errstate(over="ignore"), pytest.raises(error, match=name):
        WSBPosterior(**{**GOOD, name: value})


def test_other_bad_settings():
    prior = ([0.0], [[1.0]], 1.0)
    for make, words in [
        (lambda: WindowPosterior(*prior, 0), "length"),
        (lambda: RestartPosterior(*prior, 0), "period"),
        (lambda: PolynomialPosterior(*prior, -0.1), "power"),
        (lambda: WRLS(0, 1.0, 0.9), "dim"),
        (lambda: WRLS(2, 0.0, 0.9), "regularization"),
        (lambda: WRLS(2, 1.0, 1.9), "discount"),
        (lambda: WRLS(2, 1.0, 0.9).as_wsb(-1.0), "noise_std"),
        (lambda: stream_posterior(rules.Polynomial(1.0), *prior), "weights"),
        (lambda: stream_posterior(0.9, *prior), "weights"),
        (lambda: batch_posterior([[1.0]], [1.0], [-0.1], *prior), "weights.*-0.1"),
        (lambda: batch_posterior([[1.0]], [1.0], [0.1, 1.0], *prior), "weights"),
        (lambda: batch_posterior([[1.0]], [1.0, 2.0], [1.0], *prior), "rewards"),
        (lambda: batch_posterior([1.0], [1.0], [1.0], *prior), "X .*shape"),
        (lambda: batch_posterior([[1.0, 2.0]], [1.0], [1.0], *prior), "X .*shape"),
        (lambda: batch_posterior([[np.nan]], [1.0], [1.0], *prior), "X .*finite"),
        (lambda: batch_posterior([[1e300]], [1.0], [1.0], *prior), "precision"),
        (lambda: WSBPosterior(*prior, 0.9).predict([1.0, 2.0]), "x .*shape"),
        (lambda: WSBPosterior(*prior, 0.9).logpdf([np.inf]), "theta .*finite"),
        (lambda: WSBPosterior(*prior, 0.9).sample(0, size=-1), "size"),
    ]:
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=words):
            make()


def test_reads_pandas_and_lists():
    pd = pytest.importorskip("pandas")
    X, rewards, mu0, cov0 = problem(15, 5, 2)
    one, two = WSBPosterior(mu0, cov0, 0.4, 0.9), WSBPosterior(mu0, cov0, 0.4, 0.9)
    one.update(X, rewards)
    two.update(pd.DataFrame(X), pd.Series(rewards))
    assert state(one) == state(two)


def test_repr_is_short_and_says_it():
    text = repr(WSBPosterior(np.zeros(40), np.eye(40), 0.5, 0.95))
    assert "dim=40" in text and "discount=0.95" in text and len(text) < 200
