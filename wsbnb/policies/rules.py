"""Translate settings in words into the constants of the compiled round."""

import math

import numpy as np

from wsbnb import _validate, kernels

SPLITS = ("horizon", "none", "anytime")
RADII = ("trace", "lambda_max")
PENALTIES = {"exact": kernels.EXACT, "cxv": kernels.CXV, "triangle": kernels.TRIANGLE}
PERTURBATIONS = {
    "gaussian": kernels.GAUSSIAN,
    "rectified": kernels.RECTIFIED,
    "half-normal": kernels.HALF_NORMAL,
    "radius": kernels.RADIUS_MULTIPLE,
}

_NO_RADIUS = {
    "radius_scale": 0.0,
    "radius_ratio": 0.0,
    "log_inverse_delta": 0.0,
    "anytime": False,
    "static_penalty": 0.0,
    "penalty": kernels.NO_PENALTY,
    "param_bound": 0.0,
}


def make_rule(P0, h0, mu0, gamma, precision, exploration, **changes):
    """A `kernels.Rule` with plain defaults for everything not named."""
    prior = kernels.Prior(*(_typed(a) for a in (P0, h0, mu0, P0 @ P0)))
    settings = {
        "P0_largest": float(np.linalg.eigvalsh(P0)[-1]),
        "gamma": gamma,
        "precision": precision,
        "local": False,
        "forgetting": kernels.EXPONENTIAL,
        "length": 1,
        "exploration": exploration,
        "law": kernels.GAUSSIAN,
        "scale": 1.0,
        **_NO_RADIUS,
        **changes,
    }
    typed = {key: _typed(value) for key, value in settings.items()}
    return kernels.Rule(prior, kernels.Settings(**typed))


def _typed(value):
    """One type per setting, so that one compilation serves every policy."""
    if isinstance(value, np.ndarray):
        return np.array(value, dtype=np.float64, order="C")  # writable: one type
    if isinstance(value, bool | int):
        return value
    return float(value)


def wrls_prior(dim, regularization):
    """``P0, h0, mu0`` of weighted regularised least squares (in units of sigma = 1)."""
    return regularization * np.eye(dim), np.zeros(dim), np.zeros(dim)


def new_state(rule):
    """The state before the first observation."""
    P0, h0 = rule.prior.P0, rule.prior.h0
    d = h0.size
    windowed = rule.settings.forgetting == kernels.WINDOW
    ring = rule.settings.length if windowed else 0
    return kernels.State(
        P=P0.copy(),
        h=h0.copy(),
        P_tilde=P0.copy(),
        counts=np.zeros(4),
        # At the start M = P0; the first step is a guess that adapts itself.
        bound=np.array([rule.settings.P0_largest, 0.01]),
        ring_x=np.zeros((ring, d)),
        ring_r=np.zeros(ring),
        ring_w=np.zeros(ring),
    )


def failure_settings(delta, horizon, split):
    """How the failure probability is spent: ``log(1/delta')`` and the anytime flag."""
    _validate.choice("split", split, SPLITS)
    _validate.probability("delta", delta)
    if split == "horizon":
        if horizon is None:
            raise ValueError(
                "horizon must be a whole number when split='horizon', got None; "
                "use split='anytime' when the horizon is not known"
            )
        horizon = _validate.integer("horizon", horizon)
        return {"log_inverse_delta": math.log(horizon / delta), "anytime": False}
    return {"log_inverse_delta": math.log(1.0 / delta), "anytime": split == "anytime"}


def wrls_radius(policy):
    """Constants of the WRLS radius for a policy with the UCB settings."""
    _validate.positive("noise_std", policy.noise_std)
    S = _validate.nonnegative("param_bound", policy.param_bound)
    L = _validate.positive("arm_bound", policy.arm_bound)
    lam = policy.regularization
    return {
        **failure_settings(policy.delta, policy.horizon, policy.split),
        "radius_scale": policy.noise_std,
        "radius_ratio": L**2 / (lam * policy.dim),
        "static_penalty": math.sqrt(lam) * S,
    }


def wsb_radius(policy, prior_cov):
    """Constants of the WSB radius for a policy with the UCB settings."""
    _validate.choice("radius", policy.radius, RADII)
    _validate.choice("penalty", policy.penalty, tuple(PENALTIES))
    S = _validate.nonnegative("param_bound", policy.param_bound)
    L = _validate.positive("arm_bound", policy.arm_bound)
    if policy.radius == "trace":
        size = float(np.trace(prior_cov))
    else:
        size = float(np.linalg.eigvalsh(prior_cov)[-1])
    return {
        **failure_settings(policy.delta, policy.horizon, policy.split),
        "radius_scale": 1.0,
        "radius_ratio": size * L**2 / (policy.dim * policy.noise_std**2),
        "penalty": PENALTIES[policy.penalty],
        "param_bound": S,
    }


def randomised_settings(policy, radius_settings):
    """Constants of randomised UCB; the radius only where the law multiplies it."""
    law = _validate.choice("perturbation", policy.perturbation, tuple(PERTURBATIONS))
    settings = {"law": PERTURBATIONS[law], "scale": policy.scale}
    if law != "radius":
        _check_unused(policy)
        return settings
    if policy.delta is None:
        raise ValueError(
            "delta must be given with perturbation='radius' (the law multiplies the "
            "UCB radius), got None"
        )
    return {**settings, **radius_settings()}


def _check_unused(policy):
    """A misspelt word is an error even where the law does not read it."""
    _validate.choice("split", policy.split, SPLITS)
    if policy.delta is not None:
        _validate.probability("delta", policy.delta)
    if hasattr(policy, "penalty"):
        _validate.choice("radius", policy.radius, RADII)
        _validate.choice("penalty", policy.penalty, tuple(PENALTIES))
