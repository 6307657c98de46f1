"""wsbnb: weighted sequential Bayesian inference for non-stationary linear bandits."""

__version__ = "0.1.0"
