"""wsbnb: weighted sequential Bayesian inference for non-stationary linear bandits."""

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
