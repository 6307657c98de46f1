"""Rewards of two values: a coin for each round, and a probability for each arm."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wsbnb import _validate as validate
from wsbnb._types import Array, Generator
from wsbnb.environments.noise import NoiseRule


@dataclass(frozen=True, eq=False, repr=False)
class Clicks(NoiseRule):
    r"""Rewards 0 and 1, or -1 and 1, in place of a mean and noise around it.

    Arm x pays 1 with probability :math:`p(\langle x, \theta_t\rangle)`. One uniform
    number a round decides for all arms: an arm pays if its probability is above it, so
    that policies are compared on the same luck. Regret is counted in mean rewards.

    Parameters
    ----------
    link : {"logistic", "linear", "signed"}
        :math:`p(\eta)` is :math:`1/(1+e^{-\eta})`; or :math:`\eta` itself, cut off at 0
        and 1; or :math:`(1+\eta)/2`, cut off likewise, and what is no +1 is -1: then
        the mean is the inner product, as in the linear model.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import Clicks
    >>> chances, paid, _ = Clicks().outcomes(np.array([[0.0, 2.0]]), np.array([0.7]))
    >>> chances.round(2).tolist(), paid.tolist()
    ([[0.5, 0.88]], [[0.0, 1.0]])
    """

    link: Literal["logistic", "linear", "signed"] = "logistic"

    def __post_init__(self) -> None:
        validate.choice("link", self.link, ("logistic", "linear", "signed"))

    @property
    def std(self) -> float:
        """The largest standard deviation there can be: ½, and 1 for -1 and 1."""
        return 1.0 if self.link == "signed" else 0.5

    def sample(self, rng: Generator, n: int) -> Array:
        """One uniform number a round."""
        return rng.random(n)

    def outcomes(self, expected: Array, noise: Array) -> tuple[Array, Array, Array]:
        """Mean rewards, what each arm pays, and no noise besides."""
        if self.link == "logistic":
            chances = 0.5 * (1.0 + np.tanh(0.5 * expected))
        elif self.link == "linear":
            chances = np.clip(expected, 0.0, 1.0)
        else:
            chances = np.clip(0.5 * (1.0 + expected), 0.0, 1.0)
        paid = (noise[:, None] < chances).astype(np.float64)
        if self.link == "signed":
            return 2.0 * chances - 1.0, 2.0 * paid - 1.0, np.zeros(len(noise))
        return chances, paid, np.zeros(len(noise))
