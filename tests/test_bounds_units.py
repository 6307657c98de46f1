"""Change the unit of the reward: norms must not move, regrets must scale with it.

Scaling theta, sigma, S and mu_0 by c and Sigma_0 by c^2 is the same problem in another
currency. A formula that does not follow has lost or gained a factor sigma.
"""

import numpy as np
import pytest

from wsbnb.bounds import (
    drift_bound,
    drift_bound_path,
    drift_bound_wrls,
    drift_sum_bound,
    error_parts,
    log_det_term,
    log_determinant_ratio,
    noise_radius,
    noise_radius_determinant,
    noise_radius_wrls,
    potential_bound,
    potential_sum,
    prior_penalty,
    prior_penalty_at_start,
    prior_penalty_floor,
    randomised_constants,
    regret_bound_randomised,
    regret_bound_ucb,
    trivial_bound,
    width_constant,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 3))
W = np.sort(RNG.random(6))
PATH = RNG.standard_normal((7, 3))
COV = np.diag([0.5, 2.0, 1.0]) + 0.1
LATE = np.linalg.inv(np.linalg.inv(COV) + X.T @ X)
REWARDS = RNG.standard_normal(6)
MEAN = np.array([0.4, -1.0, 0.3])
L, SIGMA, S = 4.0, 0.7, 1.5
PRIOR = ("exact", "cxv", "triangle")


def regret_problem(c, a):
    return dict(
        prior_mean=MEAN * c / a, prior_cov=COV * (c / a) ** 2, noise_std=SIGMA * c,
        arm_bound=L * a, param_bound=S * c / a, horizon=60, discount=0.9,
    )  # fmt: skip


def values(c, a=1.0):
    """Every bound after rewards are scaled by c and arms by a."""
    p = c / a  # what happens to parameters
    cov, late, mean, path = COV * p**2, (LATE + LATE.T) / 2 * p**2, MEAN * p, PATH * p
    sigma, arm, ball, arms = SIGMA * c, L * a, S * p, X * a
    out = {}
    for form in ("printed", "corrected", "sharp"):
        out["alpha", form] = drift_bound(path, W, arm, sigma, form)
        out["alpha path", form] = drift_bound_path(path, 0.9, arm, sigma, form)[-1]
        out["alpha sum", form] = drift_sum_bound(
            2.0 * p, 60, 3, arm, sigma, discount=0.9, form=form
        )
        problem = regret_problem(c, a)
        one = regret_bound_ucb(**problem, delta=0.1, variation=2.0 * p, form=form)
        out["theorem 1 drift", form] = one.drift
        out["theorem 1 variance", form] = one.variance
        two = regret_bound_randomised(
            **problem, variation=2.0 * p, algorithm="thompson", n_arms=5, form=form
        )
        out["theorem 2 drift", form] = two.drift
        out["theorem 2 variance", form] = two.variance
        out["theorem 2 failure", form] = two.failure
        constants = randomised_constants(**problem, form=form)
        out["c1", form], out["c2", form] = constants.c1, constants.c2
    for form in PRIOR:
        out["Pi", form] = prior_penalty(mean, cov, late, ball, form)
    out["Pi", "start"] = prior_penalty_at_start(mean, cov, ball)
    out["Pi", "floor"] = prior_penalty_floor(mean, cov, sigma, arm, 0.9, ball)
    for form in ("trace", "lambda_max"):
        out["beta", form] = noise_radius(3, sigma, arm, 0.1, 5.0, cov, form, horizon=9)
        out["log det", form] = log_determinant_ratio(5.0, cov, sigma, arm, form)
        out["Lambda", form] = log_det_term(60, cov, sigma, arm, discount=0.9, form=form)
    out["beta", "determinant"] = noise_radius_determinant(
        arms, W, cov, sigma, 0.1, split="none"
    )
    out["C", ""] = width_constant(cov, sigma, arm)
    norms = error_parts(
        arms, REWARDS * c, path[:-1], path[-1], W, mean, cov, sigma
    ).norms
    for name, value in norms.items():
        out["error part", name] = value
    out["potential", "sum"] = potential_sum(arms, cov, sigma, discount=0.9)
    out["potential", "bound"] = potential_bound(arms, cov, sigma, arm, discount=0.9)
    out["alpha WRLS", ""] = drift_bound_wrls(path, 0.9, arm)
    out["beta WRLS", ""] = noise_radius_wrls(
        3, sigma, 2.0 * a**2, arm, ball, 0.1, 5.0, horizon=9
    )
    out["trivial", ""] = trivial_bound(arm, ball, 10)
    return out


RIGHT = {
    "theorem 1 drift": 1, "theorem 1 variance": 1, "theorem 2 drift": 1,
    "theorem 2 variance": 1, "theorem 2 failure": 1, "potential": 2,
    "alpha WRLS": 1, "beta WRLS": 1, "trivial": 1,
}  # fmt: skip
PRINTED = {
    "alpha": 1, "alpha path": 1, "alpha sum": 1, "theorem 1 drift": 2,
    "theorem 2 drift": 2, "theorem 2 variance": 0, "theorem 2 failure": 0,
}  # fmt: skip


def exponent(name, form):
    """Zero for everything measured in the posterior's own norm."""
    if form == "printed" and name in PRINTED:
        return PRINTED[name]
    return RIGHT.get(name, 0)


@pytest.mark.parametrize("c", [1e-3, 7.0, 1e4])
def test_every_bound_scales_with_the_reward_unit_as_expected(c):
    before, after = values(1.0), values(c)
    for key, value in before.items():
        measured = np.log(after[key] / value) / np.log(c)
        assert measured == pytest.approx(exponent(*key), abs=1e-6), key


@pytest.mark.parametrize("a", [1e-2, 50.0])
def test_no_bound_depends_on_the_unit_of_the_arms(a):
    """Arms times a and parameters over a leave every reward as it was."""
    before, after = values(1.0), values(1.0, a)
    for key, value in before.items():
        assert after[key] == pytest.approx(value, rel=1e-8), key


def test_the_printed_prior_of_remark_2_has_the_wrong_unit():
    """Sigma_0^-1 = lambda sigma^2 I scales by c^2; a precision must scale by c^-2."""

    def posterior_mean(precision, sigma2, x=1.0, r=1.0):
        return (x * r / sigma2) / (precision + x * x / sigma2)

    assert posterior_mean(1.0 * 0.15, 0.15) == pytest.approx(0.978, abs=5e-4)
    assert posterior_mean(1.0 / 0.15, 0.15) == pytest.approx(0.5)  # WRLS: 1/(1+1)
