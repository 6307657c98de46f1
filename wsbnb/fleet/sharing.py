"""The prior that users share, from what they have taught (empirical Bayes)."""

import numpy as np

from wsbnb.kernels import memory


def maximise(moments, start, most, tolerance, use):
    """Expectation-maximisation; return the evidence per user before each step.

    `moments(prior)` gives, per user, the log evidence but for the terms of the prior,
    the mean of the posterior means and that of the second moments; `use(mean, cov)`
    takes a new prior and returns it compiled.
    """
    trace, prior = [], start
    for _ in range(most):
        evidence, mean, second = moments(prior)
        trace.append(evidence + _evidence(prior))
        if len(trace) > 1 and trace[-1] - trace[-2] < tolerance:
            break
        cov = second - np.outer(mean, mean)
        prior = use(mean, (cov + cov.T) / 2)
    return np.array(trace)


def _evidence(prior):
    P0, h0 = memory.precision_of(prior.sums), memory.shift_of(prior.sums)
    return 0.5 * (np.linalg.slogdet(P0)[1] - h0 @ np.linalg.solve(P0, h0))
