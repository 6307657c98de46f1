"""Settings chosen on a prefix, against the dense posterior and known worlds."""

import numpy as np
import pytest
from scipy import stats

import wsbnb
from wsbnb.datasets import Dataset


def make_log(arms, rewards):
    K, d = arms.shape[1:]
    names = [str(k) for k in range(K)], [str(i) for i in range(d)]
    return Dataset("log", arms, rewards, np.arange(len(arms)), *names, "made up")


def linear_log(theta, noise, arms=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(theta), arms, theta.shape[1]))
    means = np.einsum("tkd,td->tk", X, theta)
    return make_log(X, means + noise * rng.normal(size=means.shape))


def test_score_is_the_density_under_the_batch_posterior():
    rng = np.random.default_rng(3)
    data = make_log(rng.normal(size=(12, 2, 2)), rng.normal(size=(12, 2)))
    gamma, kappa = 0.85, 2.5
    fit = wsbnb.fit_prefix(data, [gamma], [kappa], logs=1, seed=8)
    sigma = fit.noise_std
    played = np.random.default_rng(8).integers(2, size=12)
    X = data.arms[np.arange(12), played]
    r = data.rewards[np.arange(12), played]
    prior = np.zeros(2), sigma**2 * kappa * np.eye(2)
    logs = []
    for t in range(12):
        mean, cov = prior
        if t:
            weights = gamma ** np.arange(t - 1.0, -1.0, -1.0)
            mean, cov = wsbnb.batch_posterior(X[:t], r[:t], weights, *prior, sigma)
        for x, reward in zip(data.arms[t], data.rewards[t], strict=True):
            spread = np.sqrt(sigma**2 + x @ cov @ x)
            logs.append(stats.norm.logpdf(reward, x @ mean, spread))
    np.testing.assert_allclose(fit.scores["score"].iloc[0], np.mean(logs), rtol=1e-10)
    np.testing.assert_allclose(fit.prior_cov, prior[1])


def test_noise_level_is_the_best_for_its_row():
    """No other noise level gives the same predictions a larger likelihood."""
    data = linear_log(np.tile([1.0, -2.0], (150, 1)), 0.4)
    fit = wsbnb.fit_prefix(data)
    assert abs(fit.noise_std - 0.4) < 0.05
    assert fit.discount == 1.0 and fit.memory == np.inf


def test_fast_parameter_asks_for_a_short_memory():
    rng = np.random.default_rng(4)
    walk = np.cumsum(0.3 * rng.normal(size=(200, 2)), axis=0)
    assert wsbnb.fit_prefix(linear_log(walk, 0.3)).memory <= 10.5


def test_settings_follow_the_unit_of_the_reward():
    data = linear_log(np.cumsum(np.ones((80, 2)), axis=0) / 40, 0.5)
    one = wsbnb.fit_prefix(data)
    ten = wsbnb.fit_prefix(data.replace(rewards=10 * data.rewards))
    assert ten.discount == one.discount
    assert ten.regularization == one.regularization
    np.testing.assert_allclose(ten.noise_std, 10 * one.noise_std)
    np.testing.assert_allclose(ten.prior_cov, 100 * one.prior_cov)
    np.testing.assert_allclose(ten.param_bound, 10 * one.param_bound)
    assert ten.arm_bound == one.arm_bound


def test_bounds_and_regularisation_say_what_they_mean():
    data = linear_log(np.tile([1.0, -2.0, 0.5], (60, 1)), 0.4)
    fit = wsbnb.fit_prefix(data)
    lam = fit.noise_std**2 / fit.prior_cov[0, 0]
    np.testing.assert_allclose(fit.regularization, lam)
    assert fit.arm_bound == np.linalg.norm(data.arms, axis=2).max()
    draws = np.random.default_rng(0).multivariate_normal(
        fit.prior_mean, fit.prior_cov, size=20_000
    )
    share = np.mean(np.linalg.norm(draws, axis=1) > fit.param_bound)
    assert abs(share - 0.05) < 0.006


def test_default_memories_hold_the_dimension_and_fit_the_prefix():
    rng = np.random.default_rng(0)
    data = make_log(rng.normal(size=(45, 2, 7)), rng.normal(size=(45, 2)))
    found = np.unique(wsbnb.fit_prefix(data, logs=1).scores["discount"])
    np.testing.assert_allclose(found, [0.9, 0.95, 1.0])


def test_same_seed_same_scores():
    data = linear_log(np.ones((40, 2)), 0.4)
    first, second = (wsbnb.fit_prefix(data, seed=6).scores for _ in range(2))
    assert first.equals(second)
    assert not first.equals(wsbnb.fit_prefix(data, seed=7).scores)


def test_one_arm_in_one_dimension():
    data = make_log(np.ones((10, 1, 1)), np.arange(10.0)[:, None])
    assert wsbnb.fit_prefix(data).discount < 1.0


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"data": (np.eye(2), np.eye(2))}, TypeError, "data"),
        ({"discounts": [1.2]}, ValueError, "discounts"),
        ({"discounts": []}, ValueError, "discounts"),
        ({"prior_scales": [0.0]}, ValueError, "prior_scales"),
        ({"prior_scales": []}, ValueError, "prior_scales"),
        ({"logs": 0}, ValueError, "logs"),
        ({"seed": "x"}, TypeError, "seed"),
    ],
)
def test_bad_arguments_are_named(change, error, word):
    good = {"data": linear_log(np.ones((20, 2)), 0.4)}
    with pytest.raises(error, match=word):
        wsbnb.fit_prefix(**{**good, **change})


def test_rewards_without_noise_are_refused():
    with pytest.raises(ValueError, match="data"):
        wsbnb.fit_prefix(make_log(np.ones((10, 2, 1)), np.zeros((10, 2))))
