"""Every policy of the package, with settings in which no constant is 1 or 0."""

import numpy as np

import wsbnb

SIGMA, LAMBDA, GAMMA = 0.4, 0.3, 0.95
DELTA, HORIZON, S, L = 0.05, 300, 1.7, 2.5
BOUNDS = dict(delta=DELTA, horizon=HORIZON, param_bound=S, arm_bound=L)

SEVEN = [
    "DLinUCB",
    "LBWeightUCB",
    "WSBLinUCB",
    "DRandLinUCB",
    "WSBRandLinUCB",
    "DLinTS",
    "WSBLinTS",
]
BASELINES = ["LinUCB", "SWLinUCB", "RestartLinUCB", "LinTS", "Greedy", "Uniform"]
LOGISTIC = ["LogisticTS", "LogisticUCB"]
LINEAR = [*SEVEN, *BASELINES]
ALL = [*LINEAR, "Oracle"]


def prior(d):
    """A mean away from zero, shorter than S, and a covariance with unequal axes."""
    rng = np.random.default_rng(d)
    root = rng.standard_normal((d, d)) + np.eye(d)
    mean = rng.standard_normal(d)
    return 1.3 * mean / np.linalg.norm(mean), root @ root.T + 0.1 * np.eye(d)


def settings(name, d):
    """Arguments of the policy `name` in d dimensions, without the generator."""
    mean, cov = prior(d)
    wsb = dict(prior_mean=mean, prior_cov=cov, noise_std=SIGMA, discount=GAMMA)
    wrls = dict(dim=d, regularization=LAMBDA, discount=GAMMA, noise_std=SIGMA)
    ridge = dict(dim=d, regularization=LAMBDA, noise_std=SIGMA)
    walk = dict(prior_mean=mean, prior_cov=cov, noise_std=SIGMA, rate=0.02)
    forever = {key: BOUNDS[key] for key in ("delta", "param_bound", "arm_bound")}
    clicks = dict(prior_mean=mean, prior_cov=cov, discount=GAMMA)
    path = np.random.default_rng(9).standard_normal((400, d))
    return {
        "DLinUCB": {**wrls, **BOUNDS},
        "LBWeightUCB": {**wrls, **BOUNDS},
        "WSBLinUCB": {**wsb, **BOUNDS},
        "DRandLinUCB": {**wrls, "scale": 0.7},
        "WSBRandLinUCB": {**wsb, "scale": 0.7},
        "DLinTS": {**wrls, "scale": 0.7},
        "WSBLinTS": {**wsb, "scale": 0.7},
        "RandomWalkLinTS": {**walk, "scale": 0.7},
        "LinUCB": {**ridge, **forever},
        "SWLinUCB": {**ridge, **BOUNDS, "length": 9},
        "RestartLinUCB": {**ridge, **BOUNDS, "period": 9},
        "LinTS": {**ridge, "scale": 0.7},
        "LogisticTS": {**clicks, "scale": 0.7},
        "LogisticUCB": {**clicks, "width": 0.7},
        "Greedy": wrls,
        "Uniform": wrls,
        "Oracle": {"parameters": path},
    }[name]


def make(name, d=3, rng=0, **changes):
    """A policy by name; `changes` replace settings."""
    return getattr(wsbnb, name)(**{**settings(name, d), **changes}, rng=rng)


def problem(seed, rounds, d, K):
    """Arm sets (rounds, K, d), rewards (rounds, K)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, K, d))
    theta = rng.standard_normal(d)
    return X, X @ theta + SIGMA * rng.standard_normal((rounds, K))
