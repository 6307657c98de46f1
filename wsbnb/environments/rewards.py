"""How a reward follows from the parameter, the arm and the noise.

The model of the paper is linear: the mean is the inner product and the noise is added.
The other rules are for worlds in which that is not quite true.
"""

from dataclasses import dataclass

import numpy as np

from wsbnb import _validate as validate
from wsbnb._types import Array
from wsbnb.environments._base import SLACK, Specification
from wsbnb.environments.noise import NoiseRule, UniformNoise


class RewardRule(Specification):
    """From inner products and noise to mean rewards and rewards."""

    def check(self, noise: NoiseRule, largest: float) -> None:
        """Raise where the rule does not fit this noise, or means up to `largest`."""

    def means(self, products: Array) -> Array:
        """Mean rewards of arms from their inner products with the parameter."""
        return products

    def paid(self, means: Array, noise: Array) -> tuple[Array, Array]:
        """Two arrays whose sum is the reward of each arm, shapes (n, K) and (n,)."""
        return means, noise

    def noise_std(self, noise: NoiseRule) -> float:
        """A standard deviation that the deviation from the mean never exceeds."""
        return noise.std


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

    def check(self, noise: NoiseRule, largest: float) -> None:
        if 2.0 * abs(self.bend) * largest > 1.0 + SLACK:
            raise ValueError(
                f"bend must lie within {0.5 / largest:.6g} of 0 for means up to "
                f"{largest:.6g}, got {self.bend!r}"
            )

    def means(self, products: Array) -> Array:
        return products + self.bend * products**2


@dataclass(frozen=True, eq=False, repr=False)
class BinaryRewards(RewardRule):
    r"""Two outcomes: +1 with probability :math:`(1+m)/2`, else -1.

    The mean is the inner product :math:`m`, exactly. A reward of 0 or 1 is this one
    halved and moved by one half. Its variance :math:`1-m^2` depends on the arm; the
    noise level that `Environment.noise_std` tells is the largest, 1. The coin is the
    noise rule's: it must be uniform from -1 to 1, and the reward is +1 where it lies
    below the mean, so that the arms of a round share their luck.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> noise = we.UniformNoise(3**-0.5)  # uniform from -1 to 1
    >>> path, arms = we.StationaryPath(), we.FixedArms(8)
    >>> env = we.Environment(path, arms, noise, 100, 3, rewards=we.BinaryRewards())
    >>> env.noise_std
    1.0
    """

    def check(self, noise: NoiseRule, largest: float) -> None:
        coin = isinstance(noise, UniformNoise) and abs(3 * noise.std**2 - 1) < SLACK
        if not coin:
            raise ValueError(
                f"noise must be UniformNoise(3**-0.5) with BinaryRewards, got {noise!r}"
            )
        if largest > 1.0 + SLACK:
            raise ValueError(
                "arm_bound * param_bound must be at most 1 with BinaryRewards, got "
                f"{largest!r}"
            )

    def paid(self, means: Array, noise: Array) -> tuple[Array, Array]:
        return np.where(noise[:, None] < means, 1.0, -1.0), np.zeros(len(noise))

    def noise_std(self, noise: NoiseRule) -> float:
        return 1.0
