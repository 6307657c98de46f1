"""How the mean reward follows from the parameter and the arm; the noise is added to it.

In the model of the paper the mean is the inner product. The other rule is for worlds in
which that is not quite true. Rewards of two values have a noise rule, `Clicks`.
"""

from dataclasses import dataclass

from wsbnb import _validate as validate
from wsbnb._types import Array
from wsbnb.environments._base import SLACK, Specification


class RewardRule(Specification):
    """From inner products to mean rewards."""

    def check(self, largest: float) -> None:
        """Raise where the rule does not fit means up to `largest`."""

    def means(self, products: Array) -> Array:
        """Mean rewards of arms from their inner products with the parameter."""
        return products


@dataclass(frozen=True, eq=False, repr=False)
class LinearRewards(RewardRule):
    """The model of the paper: inner product plus noise.

    Examples
    --------
    >>> from wsbnb.environments import LinearRewards
    >>> LinearRewards()
    LinearRewards()
    """


@dataclass(frozen=True, eq=False, repr=False)
class CurvedRewards(RewardRule):
    r"""Slightly non-linear: the mean is :math:`m + \mathrm{bend}\,m^2`.

    Here :math:`m=\langle x,\theta\rangle`. A linear learner is then wrong by up to
    bend, in a way that depends on which arms it plays. The best arm stays the best
    while :math:`2\,|\mathrm{bend}|\,LS\le1`.

    Parameters
    ----------
    bend : float
        How curved, with :math:`2\,|\mathrm{bend}|\,LS\le1`.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import CurvedRewards
    >>> CurvedRewards(0.25).means(np.array([-1.0, 0.0, 1.0])).tolist()
    [-0.75, 0.0, 1.25]
    """

    bend: float

    def __post_init__(self) -> None:
        self._set(bend=validate.number("bend", self.bend))

    def check(self, largest: float) -> None:
        if 2.0 * abs(self.bend) * largest > 1.0 + SLACK:
            raise ValueError(
                f"bend must lie within {0.5 / largest:.6g} of 0 for means up to "
                f"{largest:.6g}, got {self.bend!r}"
            )

    def means(self, products: Array) -> Array:
        return products + self.bend * products**2
