"""Random games for the page: what `wsbnb.play` takes, and the library's answer."""

import numpy as np

import wsbnb
from tests import zoo

#: Policies that a page can play, with the settings that are words.
LAWS = ("rectified", "gaussian", "half-normal", "radius")
PENALTIES = ("cxv", "exact", "triangle", "static")


class Given:
    """Stands in for a generator: hands out normals that were drawn before."""

    def __init__(self, normals):
        self.normals = normals

    def standard_normal(self, shape):
        assert shape == self.normals.shape
        return self.normals


def settings(name, d, rng):
    """Keyword arguments with no constant at 1 or 0, an uneven prior, any choice."""
    words = {"noise_std": rng.uniform(0.1, 2.0)}
    if name.startswith("WSB"):
        root = rng.standard_normal((d, d))
        words["prior_mean"] = rng.standard_normal(d).tolist()
        words["prior_cov"] = (root @ root.T + 0.1 * np.eye(d)).tolist()
    else:
        words |= {"dim": d, "regularization": rng.uniform(0.05, 4.0)}
    if name not in ("LinUCB", "SWLinUCB", "RestartLinUCB", "LinTS"):
        words["discount"] = rng.uniform(0.8, 1.0)
    if name in ("SWLinUCB", "RestartLinUCB"):
        key = "length" if name == "SWLinUCB" else "period"
        words[key] = int(rng.integers(2, 60))
    return words | choices(name, rng)


def choices(name, rng):
    """Settings that say how to explore."""
    words = {}
    if "UCB" in name and "Rand" not in name:
        words |= {"radius_scale": float(rng.choice([1.0, 0.15])), "delta": 0.02}
    if "UCB" in name:
        words |= {"param_bound": 1.7, "arm_bound": 2.0}
    if "UCB" in name and name != "LinUCB" and rng.random() < 0.5:
        words["horizon"] = 200
    if "Rand" in name or name.endswith("TS"):
        words["scale"] = rng.uniform(0.2, 2.0)
    if "Rand" in name:
        words["perturbation"] = str(rng.choice(LAWS))
    if name in ("WSBLinUCB", "WSBRandLinUCB"):
        words["penalty"] = str(rng.choice(PENALTIES))
        words["radius"] = str(rng.choice(["trace", "lambda_max"]))
    return words


def game(name, seed, d=None, K=None, T=150):
    """A policy, and the numbers of a game with it."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, zoo.LINEAR.index(name)]))
    d = int(rng.integers(1, 17)) if d is None else d
    K = int(rng.choice([1, 2, 5, 8, 9, 23])) if K is None else K
    words = settings(name, d, rng)
    with wsbnb.outside_on_purpose():
        policy = getattr(wsbnb, name)(**words)
    arms, theta = rng.standard_normal((K, d)), rng.standard_normal((T, d))
    order = {
        "policy": name,
        "settings": words,
        "arms": arms,
        "expected": theta @ arms.T,
        "noise": rng.standard_normal(T),
        "normals": rng.standard_normal((T, policy.n_normals)),
    }
    return policy, order


def answer(policy, order):
    """What the library plays with the same numbers: arms, mean and precision."""
    policy._rng = Given(order["normals"])
    X_T = np.ascontiguousarray(order["arms"].T)[None]
    chosen = policy._play_rounds(X_T, order["expected"], order["noise"])
    return chosen, policy.posterior.mean, policy.posterior.precision


def plain(order):
    """The same for JavaScript."""
    return {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in order.items()
    }
