"""Say when settings lie outside what the theorems cover, or fit the data badly."""

import math
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from wsbnb import _validate
from wsbnb._types import Iterator
from wsbnb.weights import Exponential

#: Rewards that one look at the noise level rests on.
LOOK = 200
#: The noise level counts as far off above and below these ratios.
TOO_SMALL, TOO_LARGE = 2.0, 1.0 / 3.0
#: Median of the absolute value of a standard normal.
_MEDIAN = 0.6744897501960817

_silent = ContextVar("wsbnb_silent", default=False)
_held: ContextVar[list[str] | None] = ContextVar("wsbnb_held", default=None)


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
    ...     policy = wsbnb.WSBLinTS(
    ...         prior_mean=np.zeros(3), prior_cov=1.0, noise_std=1.0, discount=0.5
    ...     )
    """
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


@contextmanager
def held_back() -> Iterator[list[str]]:
    """Collect what there is to warn of, for when all is done.

    A warning may be an error; in the middle it would leave something half done.
    """
    texts: list[str] = []
    token = _held.set(texts)
    try:
        yield texts
    finally:
        _held.reset(token)


def warn(text: str) -> None:
    """Warn, and point at the first line outside the package."""
    if _silent.get():
        return
    held = _held.get()
    if held is not None:
        held.append(text)
        return
    level, frame = 1, sys._getframe()
    while f"{frame.f_globals['__name__']}.".startswith("wsbnb.") and frame.f_back:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, TheoryWarning, stacklevel=level)


def check_settings(posterior, exploration):
    """Warn about settings that are legal and yet ask for trouble."""
    rule, d = posterior.forgetting, posterior.dim
    if isinstance(rule, Exponential) and 1.0 - rule.discount > 1.0 / d:
        warn(
            f"discount {rule.discount:.6g} remembers {1.0 / (1.0 - rule.discount):.3g} "
            f"rounds, fewer than the {d} dimensions: the estimate rests on the prior, "
            "unless a round brings many observations (decay=False)"
        )
    if not exploration.follows_eigenvalue:
        return
    bound = getattr(exploration, "optimism", exploration).param_bound
    size = float(np.linalg.norm(posterior.prior_mean))
    if size > bound:
        warn(
            f"param_bound {bound:.6g} is below the norm {size:.6g} of prior_mean: the "
            "prior expects a parameter that the bound excludes, and the prior penalty "
            "grows with their distance"
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
        self.collected = []
        self.done = False

    def add(self, predicted, rewards, noise_std):
        """Keep how far rewards fell from mean and variance predicted; look at times."""
        if len(rewards) == 1:  # the usual case, many times a second
            (mean, variance), reward = predicted[0].tolist(), float(rewards[0])
            if variance <= noise_std**2:
                missed = (reward - mean) / math.sqrt(noise_std**2 + variance)
                self.collected.append(missed)
        else:
            mean, variance = predicted.T
            known = variance <= noise_std**2
            missed = (rewards - mean) / np.sqrt(noise_std**2 + variance)
            self.collected.extend(missed[known].tolist())
        while len(self.collected) >= LOOK and not self.done:
            part, self.collected = self.collected[:LOOK], self.collected[LOOK:]
            self._look(part, noise_std)

    def _look(self, residuals, noise_std):
        z = np.abs(residuals)
        with np.errstate(over="ignore"):  # infinitely far off is not above
            root = float(np.sqrt(np.mean(z**2)))
        typical = float(np.median(z)) / _MEDIAN
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
        warn(
            f"noise_std {noise_std:.4g} is far {where} the residuals: the last {LOOK} "
            f"rewards missed their predictions by about {missed:.3g}; {advice}"
        )

    def get_state(self):
        """Plain data for a file."""
        return {"collected": self.collected, "done": self.done}

    def set_state(self, stored):
        """The way back."""
        values = _validate.finite_array("state residuals", stored["collected"])
        if values.ndim != 1 or values.size >= LOOK:
            raise ValueError(f"state residuals must be fewer than {LOOK} numbers")
        self.collected = values.tolist()
        self.done = _validate.flag("state residuals", stored["done"])


class ClickCheck:
    """Compare `noise_std` with that of clicks, for policies that weigh their experts.

    Rewards that were 0 or 1 for `LOOK` rounds have a standard deviation of at most
    ``sqrt(p (1 - p))``. A mixture over discounts that believes in much less takes every
    click for a change.
    """

    def __init__(self):
        self.seen, self.clicks, self.done = 0, 0.0, False

    def add(self, rewards, noise_std):
        """Count rewards while they are 0 or 1; look once."""
        if self.done:
            return
        if not ((rewards == 0.0) | (rewards == 1.0)).all():
            self.done = True
            return
        self.seen += len(rewards)
        self.clicks += float(rewards.sum())
        if self.seen < LOOK or not 0.0 < self.clicks < self.seen:
            return
        self.done = True
        p = self.clicks / self.seen
        spread = math.sqrt(p * (1.0 - p))
        if max(spread / noise_std, noise_std / spread) > 1.5:
            warn(
                f"noise_std {noise_std:.4g} does not fit rewards that are 0 or 1 with "
                f"mean {p:.3g}: their standard deviation is about {spread:.3g}; with a "
                "smaller one every click looks like a change, and short memories win, "
                "with a larger one long memories do"
            )
