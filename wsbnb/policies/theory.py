"""Say when settings lie outside what the theorems cover, or fit the data badly."""

import warnings
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from scipy.linalg import lapack

from wsbnb import kernels
from wsbnb._gaussian import cholesky, solve
from wsbnb._types import Iterator

#: Rewards that one look at the noise level rests on.
LOOK = 200
#: The noise level counts as far off above and below these ratios.
TOO_SMALL, TOO_LARGE = 2.0, 1.0 / 3.0
#: Median of the absolute value of a standard normal.
_MEDIAN = 0.6744897501960817

_silent = ContextVar("wsbnb_silent", default=False)


class TheoryWarning(UserWarning):
    """A setting is legal but lies outside what the theorems cover."""


@contextmanager
def outside_on_purpose() -> Iterator[None]:
    """Build and play policies outside the theory without a `TheoryWarning`.

    Unlike a filter of Python's `warnings` module it holds for this thread only.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> with wsbnb.outside_on_purpose():
    ...     policy = wsbnb.WSBLinTS(np.zeros(3), np.eye(3), 1.0, discount=0.5)
    """
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def _warn(text, stacklevel):
    if not _silent.get():
        warnings.warn(text, TheoryWarning, stacklevel=stacklevel + 1)


def check_settings(rule, stacklevel):
    """Warn about settings that are legal and yet ask for trouble."""
    gamma, d = rule.settings.gamma, rule.prior.h0.size
    if gamma < 1.0 and 1.0 / (1.0 - gamma) < d:
        _warn(
            f"discount {gamma:.6g} remembers {1.0 / (1.0 - gamma):.3g} rounds, "
            f"fewer than the {d} dimensions: the estimate rests on the prior, unless "
            "a round brings many observations (decay=False)",
            stacklevel + 1,
        )
    size, bound = float(np.linalg.norm(rule.prior.mu0)), rule.settings.param_bound
    if rule.settings.penalty != kernels.NO_PENALTY and size > bound:
        _warn(
            f"param_bound {bound:.6g} is below the norm {size:.6g} of prior_mean: the "
            "prior expects a parameter that the bound excludes, and the prior penalty "
            "grows with their distance",
            stacklevel + 1,
        )


class NoiseCheck:
    """Compare `noise_std` with how far rewards fall from their predictions.

    A reward counts while the noise is the larger part of its predictive variance, so
    a wide prior says nothing. After each `LOOK` rewards the residuals, in predictive
    standard deviations, are looked at once. A noise level that is too small is read
    off their median, which a change point cannot move for long; one that is too large
    off their root mean square, to which rare events belong.
    """

    def __init__(self):
        self.residuals = []
        self.done = False

    def add(self, P, h, noise_std, unit_noise, x, reward, stacklevel):
        """Look at one reward before it is learnt."""
        factor = None if self.done else cholesky(P)
        if factor is None:
            return
        with np.errstate(all="ignore"):  # absurd input is refused after this look
            # One right-hand side: with two, BLAS would wake its threads.
            scaled = lapack.dtrtrs(factor, x, lower=1)[0]
            share = scaled @ scaled  # of the estimate, beside the noise's 1
            if not unit_noise:
                share /= noise_std**2
            missed = reward - x @ solve(factor, h)
            residual = missed / (noise_std * np.sqrt(1.0 + share))
        if share <= 1.0 and np.isfinite(residual):
            self.residuals.append(float(residual))
        if len(self.residuals) == LOOK:
            self._look(noise_std, stacklevel + 1)
            self.residuals.clear()

    def _look(self, noise_std, stacklevel):
        z = np.abs(self.residuals)
        typical, root = float(np.median(z)) / _MEDIAN, float(np.sqrt(np.mean(z**2)))
        if typical > TOO_SMALL:
            where, missed = "below", typical * noise_std
            advice = (
                "give a noise_std of that size, a smaller discount if the parameter "
                "moves faster than the policy forgets, or a column of ones if rewards "
                "are not centred at 0"
            )
        elif root < TOO_LARGE:
            where, missed = "above", root * noise_std
            advice = (
                "the bounds hold, but the policy learns and forgets more slowly than "
                "it could"
            )
        else:
            return
        self.done = True
        _warn(
            f"noise_std {noise_std:.4g} is far {where} the residuals: the last {LOOK} "
            f"rewards missed their predictions by about {missed:.3g}; {advice}",
            stacklevel + 1,
        )
