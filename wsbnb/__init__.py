"""wsbnb: weighted sequential Bayesian inference for non-stationary linear bandits.

Start here:

WSBLinTS, WSBLinUCB, WSBRandLinUCB
    policies on a posterior that forgets; DLinTS, DLinUCB, LBWeightUCB, DRandLinUCB
    and the baselines LinTS, LinUCB, SWLinUCB, RestartLinUCB stand beside them
    (``policy.pull(X)``, ``policy.update(X[k], reward)``, ``policy.posterior``).
DiscountMixture, BanditOverDiscounts, SurpriseRestart
    for those who do not know how much moves.
simulate, paper_environment, Environment, replay
    play policies in worlds and on logs.
tuned_discount, fit_prefix, discount_grid
    choose the discount.
WSBPosterior, batch_posterior, WRLS
    the estimators alone.
load, check_policy, register
    store policies, and write your own.
plotting, experiments, datasets, weights, bounds
    modules: pictures, the paper's tables, real data, and the quantities in the proofs.
"""

import importlib
from typing import TYPE_CHECKING

from wsbnb import adaptive, bounds, datasets, environments, policies, posterior, weights
from wsbnb.adaptive import *  # noqa: F403
from wsbnb.bounds import *  # noqa: F403
from wsbnb.environments import *  # noqa: F403
from wsbnb.policies import *  # noqa: F403
from wsbnb.posterior import (
    WRLS,
    PolynomialPosterior,
    RestartPosterior,
    WindowPosterior,
    WSBPosterior,
    batch_posterior,
)
from wsbnb.prefix import PrefixFit, fit_prefix
from wsbnb.replaying import (
    Replay,
    block_bootstrap,
    replay,
    suggested_block_length,
)
from wsbnb.results import Results
from wsbnb.simulation import recorded_rounds, simulate, trial_seed
from wsbnb.weights import (
    CustomWeights,
    Exponential,
    Polynomial,
    Restart,
    SlidingWindow,
)

__version__ = "0.1.0"

# Imported when first asked for: they bring matplotlib or much code of their own.
_LATER = ("bench", "experiments", "figures", "interactive", "plotting", "reference")

if TYPE_CHECKING:
    from wsbnb import (  # noqa: F401
        bench,
        experiments,
        figures,
        interactive,
        plotting,
        reference,
    )
else:

    def __getattr__(name):
        if name in _LATER:
            return importlib.import_module(f"wsbnb.{name}")
        raise AttributeError(f"module 'wsbnb' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *_LATER})


__all__ = [
    *adaptive.__all__,
    *bounds.__all__,
    *environments.__all__,
    *policies.__all__,
    "CustomWeights",
    "Exponential",
    "Polynomial",
    "PolynomialPosterior",
    "PrefixFit",
    "Replay",
    "Restart",
    "RestartPosterior",
    "Results",
    "SlidingWindow",
    "WRLS",
    "WSBPosterior",
    "WindowPosterior",
    "batch_posterior",
    "block_bootstrap",
    "datasets",
    "fit_prefix",
    "posterior",
    "recorded_rounds",
    "replay",
    "simulate",
    "suggested_block_length",
    "trial_seed",
    "weights",
]
