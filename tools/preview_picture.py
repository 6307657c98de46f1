"""Draw the picture that a link to the book shows: book/_assets/preview.png."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from common import ROOT

import wsbnb
from wsbnb import plotting


def main():
    env = wsbnb.paper_environment("abrupt", 2)
    prior = {"prior_mean": np.zeros(2), "prior_cov": 1.0, "noise_std": env.noise_std}
    policies = {
        "LinTS": wsbnb.WSBLinTS(**prior, discount=1.0),
        "WSB-LinTS": wsbnb.WSBLinTS(**prior, discount=0.98),
    }
    results = wsbnb.simulate(policies, env, trials=30, progress=False)
    plotting.use_style()
    fig, ax = plt.subplots(figsize=(12, 6.3), dpi=100)
    plotting.regret_curves(results, ax=ax)
    ax.set_title("Weighted sequential Bayesian bandits: a book that runs", fontsize=24)
    ax.tick_params(labelsize=16)
    ax.set_xlabel("round", fontsize=18)
    ax.set_ylabel("regret (units of reward)", fontsize=18)
    fig.savefig(ROOT / "book" / "_assets" / "preview.png", dpi=100)


if __name__ == "__main__":
    main()
