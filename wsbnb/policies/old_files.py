"""Read what earlier versions have written."""

import numpy as np

from wsbnb.posterior import checked_prior


def from_version_1(content: dict) -> dict:
    """The content of a file of version 1 in the words of version 2."""
    params, state = content["params"], content["state"]
    if "base" in params:
        base = params["base"]
        settings = _settings(base["params"])
        params = {**params, "base": {"kind": base["class"], **settings}}
        state = _adaptive(settings, state)
    elif "P" in state:  # not so for the oracle and for policies of one's own
        params = _settings(params)
        state = {
            "posterior": _posterior(params, state),
            "residuals": {"collected": [], "done": False},
        }
    return {**content, "params": params, "state": state}


def _settings(params):
    """Settings without those that were left open, which had other words for it."""
    given = {name: value for name, value in params.items() if value is not None}
    if "horizon" not in given and given.get("split") == "horizon":
        del given["split"]  # the default of randomised policies that did not use it
    return given


def _posterior(params, state):
    bound, scale = None, 1.0
    if "prior_cov" in params:
        bound = [*state["bound"], _top_precision(params)]
    else:  # least squares was kept in units of sigma = 1: V and b instead of P and h
        scale = params["noise_std"] ** -2.0
    h = scale * np.array(state["h"])
    return {
        "precision": (scale * np.array(state["P"])).tolist(),
        "shift": h.tolist(),
        "counts": state["counts"][:3],
        "squares": (scale * np.array(state["P_tilde"])).tolist(),
        "bound": bound,
        "ring": _ring(state, h),
        "history": None,
    }


def _top_precision(params):
    """The largest eigenvalue of the prior precision, as a posterior computes it."""
    P0 = checked_prior(params["prior_mean"], params["prior_cov"])[2]
    return float(np.linalg.eigvalsh(P0)[-1])


def _ring(state, h):
    return {
        "x": state["ring_x"],
        "rewards": state["ring_r"],
        "held": state["ring_w"],
        # The head; what was lost to subtractions is not known, so take the worst.
        "wear": [state["counts"][3], 0.0, float(np.abs(h).max())],
    }


def _adaptive(settings, state):
    arrays = ("P", "h", "P_tilde", "counts", "bound")
    empty = {"ring_x": [], "ring_r": [], "ring_w": []}
    experts = [
        _posterior(settings, {**dict(zip(arrays, row, strict=True)), **empty})
        for row in zip(*(state[name] for name in arrays), strict=True)
    ]
    if "log_evidence" in state:
        return {"experts": experts, "own": state["log_evidence"]}
    if "log_weights" in state:
        current = -1 if state["current"] is None else state["current"]
        own = [*state["log_weights"], current, state["count"], state["total"]]
        return {"experts": experts, "own": own}
    own = [state["statistic"], state["clock"]]
    return {"experts": experts, "own": own, "alarms": state["alarms"]}
