"""When did the present begin? A bank of starts and discounts."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, ArrayLike, Seed
from wsbnb.adaptive.base import MOST, AdaptivePolicy
from wsbnb.adaptive.grid import checked_discounts
from wsbnb.kernels import bank
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.saving import register

# What stands after the weights and the births: how much time has passed, the last
# beginning that was declared, how many were, and the weight that was thrown away.
AGE, SINCE, ALARMS, LOST = range(4)


@register
class ChangePoints(AdaptivePolicy):
    name = "Change points"

    def __init__(
        self,
        base: LinearPolicy,
        *,
        discounts: ArrayLike | None = None,
        starts: int = 10,
        hazard: float | None = None,
        share: float = 1e-4,
        keep: float = 0.0,
        rng: Seed = None,
        period=100.0,
    ) -> None:
        self._discounts = _discounts(discounts, base)
        known = len(self._discounts)
        self._starts = _validate.integer("starts", starts, 2, MOST - known)
        self._hazard = None if hazard is None else _fraction("hazard", hazard)
        self._share = _part("share", share)
        self._keep = _part("keep", keep)
        period, growth = (period, 1.0) if hazard is None else (1 / self._hazard, 0.0)
        self._master = bank.Changes(
            float(known), float(period), growth, self._share, self._keep
        )
        self._begin(base, [*self._discounts, *[1.0] * self._starts], rng)

    @property
    def weights(self):
        odds = np.exp(self._own[: len(self._gamma)])
        return odds / odds.sum()

    def _shares(self):
        return self.weights

    def _new_own(self):
        n, known = len(self._gamma), len(self._discounts)
        weights = np.full(n, -700.0)
        weights[: known + 1] = -np.log(known + 1)
        return np.concatenate([weights, np.zeros(n), np.zeros(4)])


def _discounts(discounts, base):
    if discounts is not None and np.size(discounts) == 0:
        return np.zeros(0)
    return checked_discounts(discounts, base)


def _fraction(name, value):
    value = _validate.number(name, value)
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return value


def _part(name, value):
    value = _validate.nonnegative(name, value)
    if value >= 1.0:
        raise ValueError(f"{name} must be from 0 to below 1, got {value!r}")
    return value
