"""Compile before the first user waits."""

import time

import numpy as np

from wsbnb import _validate, environments
from wsbnb._types import Any
from wsbnb.adaptive.bandit import BanditOverDiscounts
from wsbnb.adaptive.changes import ChangePoints
from wsbnb.adaptive.mixture import DiscountMixture
from wsbnb.adaptive.surprise import SurpriseRestart
from wsbnb.clicks import LogisticPosterior
from wsbnb.fitting import fit_log
from wsbnb.policies import named
from wsbnb.policies.base import Policy
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.posterior import WSBPosterior
from wsbnb.simulation import simulate

__all__ = ["compile"]

_PRIOR: dict[str, Any] = {"prior_mean": np.zeros(2), "prior_cov": 1.0, "noise_std": 0.5}
_RIDGE: dict[str, Any] = {"dim": 2, "regularization": 1.0, "noise_std": 0.5}


def compile(*policies: Policy) -> float:
    """Compile everything now, so that no later call has to wait for it.

    The result is kept on disk: beside the package where that can be written, else in
    the user's cache folder, or where ``NUMBA_CACHE_DIR`` says. In a container, call
    this while the image is built.

    Parameters
    ----------
    *policies : Policy
        Only these; by default every policy of the package at its usual settings.

    Returns
    -------
    float
        Seconds it took; almost nothing where all was compiled before.

    Examples
    --------
    >>> import wsbnb
    >>> policy = wsbnb.WSBLinTS(
    ...     prior_mean=[0.0, 0.0], prior_cov=1.0, noise_std=0.5, discount=0.9
    ... )
    >>> wsbnb.compile(policy) > 0.0
    True
    """
    start = time.perf_counter()
    for policy in policies:
        _validate.instance("policies", policy, Policy)
    for policy in policies or _everything():
        _play(policy)
    if not policies:
        rng = np.random.default_rng(0)
        fit_log(rng.standard_normal((20, 2)), rng.standard_normal(20))
        WSBPosterior(**_PRIOR, discount=0.9).update([1.0, 0.0], 0.1)
    return time.perf_counter() - start


def _play(policy):
    """A few rounds of a clone, compiled as `simulate` and a user's loop need them."""
    clicks = isinstance(getattr(policy, "posterior", None), LogisticPosterior)
    env = environments.Environment(
        path=environments.StationaryPath(),
        arms=environments.FixedArms(3),
        noise=environments.Clicks() if clicks else environments.GaussianNoise(0.1),
        horizon=2,
        dim=getattr(policy, "dim", 2),
    )
    with outside_on_purpose():
        played = simulate({"policy": policy}, env, trials=1, n_jobs=1, progress=False)
        if played.interrupted:
            raise KeyboardInterrupt  # or the next policy would be compiled
        player = policy.clone(0)
        X = np.eye(env.dim)
        player.update(X[player.pull(X)], 0.1)


def _everything():
    sampler = named.WSBLinTS(**_PRIOR, discount=0.9)
    yield from (
        sampler,
        named.WSBLinUCB(**_PRIOR, discount=0.9),
        named.WSBRandLinUCB(**_PRIOR, discount=0.9),
        named.DLinTS(**_RIDGE, discount=0.9),
        named.DLinUCB(**_RIDGE, discount=0.9),
        named.LBWeightUCB(**_RIDGE, discount=0.9),
        named.DRandLinUCB(**_RIDGE, discount=0.9),
        named.LogisticTS(prior_mean=np.zeros(2), prior_cov=1.0, discount=0.9),
        named.LogisticUCB(prior_mean=np.zeros(2), prior_cov=1.0, discount=0.9),
        named.SWLinUCB(**_RIDGE, length=5),
        named.RestartLinUCB(**_RIDGE, period=5),
        named.Uniform(dim=2),
        DiscountMixture(sampler),
        BanditOverDiscounts(sampler, horizon=100),
        SurpriseRestart(sampler),
        ChangePoints(sampler),
    )
