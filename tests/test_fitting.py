"""Settings chosen on a log: against plain NumPy, and in worlds where they are known."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import wsbnb
from wsbnb import fitting
from wsbnb.datasets import Dataset

GRID = {"discounts": [0.85, 0.97, 1.0], "prior_scales": [0.3, 2.5]}


def log(theta, noise, seed=0):
    """Arms from a normal law, and rewards along a path of parameters."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=theta.shape)
    return X, (X * theta).sum(axis=1) + noise * rng.normal(size=len(X))


def still(n=400, noise=0.4, seed=0):
    return log(np.tile([1.0, -2.0], (n, 1)), noise, seed)


def walking(n=600, step=0.3, noise=0.3, seed=4):
    steps = step * np.random.default_rng(seed).normal(size=(n, 2))
    return log(np.cumsum(steps, axis=0), noise, seed)


# --- the arithmetic, once more and densely -------------------------------------------


def brute_force(X, rewards, gamma, kappa):
    """Errors and their variances in units of the noise, each round from the start."""
    d = X.shape[1]
    errors, v = [], []
    for t in range(len(X)):
        w = gamma ** np.arange(t - 1.0, -1.0, -1.0)
        P = np.eye(d) / kappa + (X[:t].T * w) @ X[:t]
        mean = np.linalg.solve(P, (X[:t].T * w) @ rewards[:t])
        errors.append(rewards[t] - X[t] @ mean)
        v.append(1.0 + X[t] @ np.linalg.solve(P, X[t]))
    return np.array(errors), np.array(v)


def test_every_row_equals_a_brute_force_prequential_computation():
    rng = np.random.default_rng(3)
    X, rewards = rng.normal(size=(40, 3)), rng.normal(size=40)
    fit = wsbnb.fit_log(X, rewards, **GRID, holdout=0.25)
    assert len(fit.scores) == 6
    for row in fit.scores.itertuples():
        errors, v = brute_force(X, rewards, row.discount, row.prior_scale)
        sigma = np.sqrt(np.mean(errors[:30] ** 2 / v[:30]))
        densities = stats.norm.logpdf(errors, 0.0, sigma * np.sqrt(v))
        assert row.noise_std == pytest.approx(sigma, rel=1e-9)
        assert row.score == pytest.approx(densities[:30].mean(), rel=1e-9)
        if row.Index == fit.scores["score"].idxmax():
            z = errors[30:] / (sigma * np.sqrt(v[30:]))
            assert fit.check["score"] == pytest.approx(densities[30:].mean(), rel=1e-9)
            assert fit.check["spread"] == pytest.approx(np.sqrt(np.mean(z**2)))
            assert fit.check["rounds"] == 10
            chosen = row
    assert (fit.discount, fit.noise_std) == (chosen.discount, chosen.noise_std)
    kappa = chosen.prior_scale
    np.testing.assert_allclose(fit.prior_cov, fit.noise_std**2 * kappa * np.eye(3))
    np.testing.assert_array_equal(fit.prior_mean, np.zeros(3))


def test_predictions_are_those_of_the_posterior_itself():
    """The same numbers from the object that a policy plays from."""
    X, rewards = walking(60)
    fit = wsbnb.fit_log(X, rewards, [0.9], [2.0], holdout=0.0)
    post = wsbnb.WSBPosterior(**fit.prior, discount=0.9)
    logs = []
    for x, reward in zip(X, rewards, strict=True):
        mean, std = post.predict(x)
        logs.append(stats.norm.logpdf(reward, mean, std))
        post.update(x, reward)
    assert fit.scores["score"].iloc[0] == pytest.approx(np.mean(logs), rel=1e-10)


def test_noise_level_is_the_best_for_its_row():
    """No other noise level gives the same predictions a larger likelihood."""
    X, rewards = still(80)
    fit = wsbnb.fit_log(X, rewards, [1.0], [1.0], holdout=0.0)
    errors, v = brute_force(X, rewards, 1.0, 1.0)

    def likelihood(sigma):
        return stats.norm.logpdf(errors, 0.0, sigma * np.sqrt(v)).sum()

    best = likelihood(fit.noise_std)
    assert all(likelihood(f * fit.noise_std) < best for f in (0.9, 0.99, 1.01, 1.1))


def test_what_is_tried_by_default():
    """Memories of 1, 2, 5 and priors of 1, 3 times powers of ten."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    table = wsbnb.fit_log(X, X[:, 0], holdout=0.0).scores
    first = ["discount", "memory", "prior_scale", "noise_std", "score", "behind"]
    assert table.columns.tolist() == [*first, "low", "high", "flat"]
    np.testing.assert_allclose(table["memory"].unique(), [5.0, 10.0, 20.0, np.inf])
    scales = [m * 10.0**k for k in range(-2, 3) for m in (1, 3)][:-1]
    np.testing.assert_allclose(table["prior_scale"].unique(), scales)


@pytest.mark.parametrize("n, d", [(40, 2), (400, 2), (410, 6), (20_000, 7)])
def test_memories_are_no_shorter_than_d_and_no_longer_than_half_the_log(n, d):
    every = [m * 10**k for k in range(5) for m in (1, 2, 5)][:-2]
    expected = [m for m in every if max(5, d) <= m <= n / 2]
    *found, still = fitting._discounts(None, d, n)
    np.testing.assert_allclose(1.0 / (1.0 - np.array(found)), expected)
    assert still == 1.0


def test_behind_is_the_block_bootstrap_of_the_difference():
    X, rewards = walking(120)
    fit = wsbnb.fit_log(X, rewards, [0.9, 1.0], [1.0], holdout=0.0)
    densities = {}
    for row in fit.scores.itertuples():
        errors, v = brute_force(X, rewards, row.discount, row.prior_scale)
        spread = row.noise_std * np.sqrt(v)
        densities[row.discount] = stats.norm.logpdf(errors, 0.0, spread)
    gap = densities[0.9] - densities[1.0]
    length = wsbnb.suggested_block_length(gap)
    expected = wsbnb.block_bootstrap(gap, length, draws=400)
    row = fit.scores.set_index("discount").loc[1.0]
    assert fit.discount == 0.9
    for name, word in (("behind", "mean"), ("low", "low"), ("high", "high")):
        assert row[name] == pytest.approx(expected[word], rel=1e-6)


# --- worlds where the answer is known -------------------------------------------------


def test_recovers_noise_prior_and_memory_of_a_parameter_that_stands_still():
    """Many parameters drawn from one prior would be needed to pin the prior down; a
    long one is told from a short one by a single log."""
    X, rewards = still()
    fit = wsbnb.fit_log(X, rewards)
    assert fit.discount == 1.0 and fit.memory == np.inf
    assert fit.noise_std == pytest.approx(0.4, rel=0.1)
    assert fit.check["spread"] == pytest.approx(1.0, abs=0.2)
    # theta has squared length 5 in two dimensions: prior variance about 2.5.
    assert 0.5 < fit.prior_cov[0, 0] < 12.0
    small = wsbnb.fit_log(X, rewards - 0.99 * X @ [1.0, -2.0])
    assert small.prior_cov[0, 0] < fit.prior_cov[0, 0] / 100


def test_noise_is_recovered_without_bias():
    found = [wsbnb.fit_log(*still(200, seed=s)).noise_std for s in range(12)]
    assert np.mean(found) == pytest.approx(0.4, rel=0.04)


@pytest.mark.parametrize("step, low, high", [(0.5, 2, 12), (0.06, 8, 60)])
def test_recovers_the_memory_of_a_walk(step, low, high):
    """A walk that moves by q a round is best followed with 1 - gamma of about
    q / sigma, as in a Kalman filter in its steady state."""
    fit = wsbnb.fit_log(*walking(1000, step=step, noise=0.5))
    gain = step / 0.5
    steady = (-(gain**2) + gain * np.sqrt(gain**2 + 4)) / 2  # of an x of norm one
    assert low <= fit.memory <= high
    assert 0.2 / steady < fit.memory < 8 / steady
    assert fit.check["score"] > fit.check["score_without_forgetting"] + 0.1


def test_a_short_log_of_noise_leaves_the_memory_open():
    """The flat region holds the best pair, and on pure noise nearly all others."""
    rng = np.random.default_rng(2)
    fit = wsbnb.fit_log(rng.normal(size=(60, 1)), rng.normal(size=60))
    best = fit.scores["score"].idxmax()
    assert fit.scores.loc[best, ["behind", "low", "high"]].tolist() == [0.0] * 3
    assert fit.scores.loc[best, "flat"]
    low, high = fit.memory_range
    assert low <= fit.memory <= high and high == np.inf and low <= 20


def test_flat_region_excludes_what_is_clearly_worse():
    fit = wsbnb.fit_log(*walking(600, step=0.5))
    low, high = fit.memory_range
    assert low <= fit.memory <= high <= 20
    table = fit.scores
    assert not table.loc[table["discount"] == 1.0, "flat"].any()
    assert (table["flat"] == (table["low"] <= 0.0)).all()
    assert (table["behind"] >= 0.0).all()


def test_holdout_sees_a_change_that_the_fit_does_not():
    """Noise that trebles after the fitted part shows in the spread."""
    X, rewards = still(500)
    late = 3.0 * (rewards[400:] - X[400:] @ [1.0, -2.0])
    louder = np.append(rewards[:400], X[400:] @ [1.0, -2.0] + late)
    quiet, loud = wsbnb.fit_log(X, rewards), wsbnb.fit_log(X, louder)
    assert loud.noise_std == quiet.noise_std  # the end is not used for the fit
    assert loud.discount == quiet.discount
    assert quiet.check["spread"] == pytest.approx(1.0, abs=0.15)
    assert loud.check["spread"] == pytest.approx(3.0, abs=0.5)
    assert wsbnb.fit_log(X, rewards, holdout=0.0).check == {}


def test_rival_without_forgetting_is_chosen_on_the_fitted_part():
    X, rewards = walking(300)
    grid = {"discounts": [0.9, 1.0], "prior_scales": [0.1, 1.0, 10.0]}
    fit = wsbnb.fit_log(X, rewards, **grid)
    steady = fit.scores[fit.scores["discount"] == 1.0]
    kappa = steady.loc[steady["score"].idxmax(), "prior_scale"]
    alone = wsbnb.fit_log(X, rewards, [1.0], [kappa])
    assert fit.check["score_without_forgetting"] == pytest.approx(alone.check["score"])
    without = wsbnb.fit_log(X, rewards, [0.9])
    assert np.isnan(without.check["score_without_forgetting"])


# --- what is returned -----------------------------------------------------------------


def test_settings_follow_the_unit_of_the_reward():
    X, rewards = walking(120)
    one, ten = wsbnb.fit_log(X, rewards), wsbnb.fit_log(X, 10 * rewards)
    assert ten.discount == one.discount
    assert ten.regularization == one.regularization
    assert ten.noise_std == pytest.approx(10 * one.noise_std)
    assert ten.param_bound == pytest.approx(10 * one.param_bound)
    np.testing.assert_allclose(ten.prior_cov, 100 * one.prior_cov)
    assert ten.arm_bound == one.arm_bound


def test_bounds_and_regularisation_say_what_they_mean():
    X, rewards = log(np.tile([1.0, -2.0, 0.5], (60, 1)), 0.4)
    fit = wsbnb.fit_log(X, rewards)
    lam = fit.noise_std**2 / fit.prior_cov[0, 0]
    assert fit.regularization == pytest.approx(lam)
    assert fit.arm_bound == np.linalg.norm(X, axis=1).max()
    length = stats.chi(3, scale=np.sqrt(fit.prior_cov[0, 0])).ppf(0.95)
    assert fit.param_bound == pytest.approx(length)


def test_prior_and_ridge_are_arguments_of_the_policies():
    fit = wsbnb.fit_log(*still(60))
    sampler = wsbnb.WSBLinTS(**fit.prior, discount=fit.discount)
    ridge = wsbnb.DLinTS(**fit.ridge, discount=fit.discount)
    np.testing.assert_allclose(sampler.prior_cov, fit.prior_cov)
    np.testing.assert_allclose(
        sampler.posterior.precision, ridge.posterior.precision, rtol=1e-12
    )
    assert "memory inf" in repr(fit) and f"{fit.noise_std:.4g}" in repr(fit)


def test_default_memories_hold_the_dimension_and_half_the_fitted_part():
    rng = np.random.default_rng(0)
    X, rewards = rng.normal(size=(50, 7)), rng.normal(size=50)
    found = np.unique(wsbnb.fit_log(X, rewards).scores["memory"])
    np.testing.assert_allclose(found, [10.0, 20.0, np.inf])


def test_frames_keep_the_names_of_their_columns():
    X, rewards = still(50)
    frame = pd.DataFrame(X, columns=["price", 7])
    named = wsbnb.fit_log(frame, pd.Series(rewards))
    plain = wsbnb.fit_log(X, rewards)
    assert named.feature_names == ("price", "7") and plain.feature_names is None
    pd.testing.assert_frame_equal(named.scores, plain.scores, check_exact=True)


def test_input_is_left_alone_and_the_fit_repeats():
    X, rewards = walking(80)
    kept = X.copy(), rewards.copy()
    first, second = (wsbnb.fit_log(X, rewards).scores for _ in range(2))
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    np.testing.assert_array_equal((X[:, 0], rewards), (kept[0][:, 0], kept[1]))


def test_one_dimension():
    fit = wsbnb.fit_log(np.ones((10, 1)), np.arange(10.0), discounts=[0.5, 1.0])
    assert fit.discount == 0.5 and fit.prior_cov.shape == (1, 1)


def test_random_log_of_a_data_set():
    rng = np.random.default_rng(0)
    arms, rewards = rng.normal(size=(50, 4, 2)), rng.normal(size=(50, 4))
    names = [str(k) for k in range(4)], ["x", "y"]
    data = Dataset("log", arms, rewards, np.arange(50), *names, "made up")
    X, paid = data.random_log(6)
    place = [(arms[t] == X[t]).all(axis=1).argmax() for t in range(50)]
    np.testing.assert_array_equal(X, arms[np.arange(50), place])
    np.testing.assert_array_equal(paid, rewards[np.arange(50), place])
    assert set(place) == {0, 1, 2, 3}
    np.testing.assert_array_equal(X, data.random_log(6)[0])
    assert not np.array_equal(X, data.random_log(7)[0])
    assert wsbnb.fit_log(*data.random_log(0)).noise_std > 0


# --- errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"X": np.ones((9, 2)), "rewards": np.ones(9)}, ValueError, "ten rows, got 9"),
        ({"X": np.ones(20)}, ValueError, "X must be a non-empty matrix"),
        ({"X": np.full((20, 2), np.nan)}, ValueError, "X must be finite"),
        ({"rewards": np.ones(19)}, ValueError, "rewards must have length 20"),
        ({"rewards": np.full(20, np.inf)}, ValueError, "rewards must be finite"),
        ({"rewards": np.zeros(20)}, ValueError, "rewards must not be predicted"),
        ({"discounts": [1.2]}, ValueError, "discounts"),
        ({"discounts": []}, ValueError, "discounts"),
        ({"discounts": [[1, 2], [3]]}, TypeError, "discounts must be an array"),
        ({"prior_scales": [[1], [2, 3]]}, TypeError, "prior_scales must be an array"),
        ({"prior_scales": [0.0]}, ValueError, "prior_scales"),
        ({"prior_scales": []}, ValueError, "prior_scales"),
        ({"holdout": 1.0}, ValueError, "holdout must be below 1"),
        ({"holdout": -0.1}, ValueError, "holdout"),
        ({"holdout": "x"}, TypeError, "holdout"),
        ({"X": np.ones((20, 2)) * 1e200}, ValueError, "X"),
        ({"rewards": np.linspace(-1e155, 1e155, 20)}, ValueError, "rewards must be at"),
        ({"rewards": np.linspace(-1e155, 0.0, 20)}, ValueError, "rewards must be at"),
    ],
)
def test_bad_arguments_are_named(change, error, word):
    X, rewards = still(20)
    with pytest.raises(error, match=word):
        wsbnb.fit_log(**{"X": X, "rewards": rewards, **change})
