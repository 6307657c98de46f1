"""wsbnb: weighted sequential Bayesian inference for non-stationary linear bandits.

Start here:

WSBLinTS, WSBLinUCB, WSBRandLinUCB
    policies on a posterior that forgets; DLinTS, DLinUCB, LBWeightUCB, DRandLinUCB
    and the baselines LinTS, LinUCB, SWLinUCB, RestartLinUCB stand beside them
    (``policy.pull(X)``, ``policy.update(X[k], reward)``, ``policy.posterior``).
LogisticTS, LogisticUCB
    the same for clicks.
LinearPolicy, WSBPosterior, exploration, weights
    any posterior and any way to explore make a policy.
ChangePoints, DiscountMixture, BanditOverDiscounts, SurpriseRestart
    for those who do not know how much moves.
simulate, paper_environment, Environment, replay
    play policies in worlds and on logs.
recommend, fit_log, tuned_discount, discount_grid
    choose a policy and its discount.
off_policy
    say from a log what another policy would have earned.
Fleet
    a policy for each of many users, in one array.
load, check_policy, register
    store policies, and write your own.
bounds, environments, weights, exploration, datasets, plotting, paper
    modules: the quantities in the proofs, worlds, rules of forgetting, ways to
    explore, real data, pictures, and the paper's tables.
"""

import wsbnb._interrupt  # noqa: F401  (before anything that takes long)

# isort: split
import importlib
from typing import TYPE_CHECKING

from wsbnb import adaptive, bounds, environments, exploration, weights
from wsbnb.adaptive.bandit import BanditOverDiscounts
from wsbnb.adaptive.changes import ChangePoints
from wsbnb.adaptive.grid import discount_grid
from wsbnb.adaptive.mixture import DiscountMixture
from wsbnb.adaptive.surprise import SurpriseRestart
from wsbnb.bounds import drift_bound, noise_radius, prior_penalty, tuned_discount
from wsbnb.clicks import LogisticPosterior
from wsbnb.dependence import block_bootstrap, suggested_block_length
from wsbnb.environments import Environment, paper_environment
from wsbnb.fitting import LogFit, fit_log
from wsbnb.fleet import Fleet
from wsbnb.offpolicy import off_policy
from wsbnb.policies.base import LinearPolicy, Policy
from wsbnb.policies.checking import check_policy
from wsbnb.policies.named import (
    DLinTS,
    DLinUCB,
    DRandLinUCB,
    Greedy,
    LBWeightUCB,
    LinTS,
    LinUCB,
    LogisticTS,
    LogisticUCB,
    RandomWalkLinTS,
    RestartLinUCB,
    SWLinUCB,
    Uniform,
    WSBLinTS,
    WSBLinUCB,
    WSBRandLinUCB,
)
from wsbnb.policies.oracle import Oracle
from wsbnb.policies.saving import load, register
from wsbnb.policies.theory import TheoryWarning, outside_on_purpose
from wsbnb.posterior import WRLS, WSBPosterior, batch_posterior
from wsbnb.recommending import recommend
from wsbnb.replaying import replay
from wsbnb.results import Results, paired_interval
from wsbnb.simulation import simulate, trial_seed
from wsbnb.warmup import compile

__version__ = "0.1.0"

# Imported when first asked for: they bring matplotlib or much code of their own.
_LATER = ("datasets", "interactive", "paper", "plotting")

if TYPE_CHECKING:
    from wsbnb import datasets, interactive, paper, plotting
else:

    def __getattr__(name):
        if name in _LATER:
            return importlib.import_module(f"wsbnb.{name}")
        raise AttributeError(f"module 'wsbnb' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *_LATER})


__all__ = [
    "BanditOverDiscounts",
    "ChangePoints",
    "DLinTS",
    "DLinUCB",
    "DRandLinUCB",
    "DiscountMixture",
    "Environment",
    "Fleet",
    "Greedy",
    "LBWeightUCB",
    "LinTS",
    "LinUCB",
    "LinearPolicy",
    "LogFit",
    "LogisticPosterior",
    "LogisticTS",
    "LogisticUCB",
    "Oracle",
    "Policy",
    "RandomWalkLinTS",
    "RestartLinUCB",
    "Results",
    "SWLinUCB",
    "SurpriseRestart",
    "TheoryWarning",
    "Uniform",
    "WRLS",
    "WSBLinTS",
    "WSBLinUCB",
    "WSBPosterior",
    "WSBRandLinUCB",
    "adaptive",
    "batch_posterior",
    "block_bootstrap",
    "bounds",
    "check_policy",
    "compile",
    "datasets",
    "discount_grid",
    "drift_bound",
    "environments",
    "exploration",
    "fit_log",
    "interactive",
    "load",
    "noise_radius",
    "off_policy",
    "outside_on_purpose",
    "paired_interval",
    "paper",
    "paper_environment",
    "plotting",
    "prior_penalty",
    "recommend",
    "register",
    "replay",
    "simulate",
    "suggested_block_length",
    "trial_seed",
    "tuned_discount",
    "weights",
]
