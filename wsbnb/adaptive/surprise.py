"""Forget everything when the rewards surprise."""

import math

import numpy as np

from wsbnb import _validate
from wsbnb._types import Seed
from wsbnb.adaptive.base import AdaptivePolicy
from wsbnb.kernels import bank
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.saving import register

STATISTIC, CLOCK = range(2)


@register
class SurpriseRestart(AdaptivePolicy):
    r"""Restart the base policy when its predictions have become too bad.

    With the standardised residual :math:`z = (r - x^\top\mu)/\sqrt{\sigma^2 +
    x^\top\Sigma x}` of each reward, taken before learning from it, a CUSUM
    :cite:p:`page1954continuous` collects the log-likelihood ratio of "the squared
    residuals are v times too large" against "they are as predicted":

    .. math::

        S \leftarrow \max\Bigl\{0,\ S + \tfrac12\bigl((1-\tfrac1v)z^2 - \log v\bigr)
        \Bigr\} .

    When S exceeds the threshold h, the base policy goes back to its prior, learns from
    the reward that raised the alarm, and S from zero.

    Parameters
    ----------
    base : policy with a discount
        What is restarted. A discount of 1 leaves all forgetting to the alarms; one
        below 1 also covers slow drift.
    threshold : float, default log(10000)
        The h above. While nothing changes, the mean number of rounds between false
        alarms is at least :math:`e^h`.
    inflation : float, default 4
        The v above. Smaller values find smaller changes, later.
    rng : None, int, SeedSequence or Generator
        For the base policy's perturbations.

    Notes
    -----
    If the base has discount 1, the noise is Gaussian with the `noise_std` given and the
    parameter is a draw from the prior, then the z are independent standard normal
    whatever arms are played, and :math:`e^h` is the bound of
    :cite:t:`lorden1971procedures`. A `noise_std` that is too small breaks it. Only arms
    that are played can surprise: a change elsewhere goes unnoticed.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> base = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(1), prior_cov=1.0, noise_std=0.3, discount=1.0
    ... )
    >>> policy = wsbnb.SurpriseRestart(base, rng=0)
    >>> policy.update(np.ones((50, 1)), np.ones(50))
    >>> policy.update(np.ones((5, 1)), np.zeros(5))  # a jump
    >>> policy.alarms
    (53,)
    """

    name = "Surprise restart"
    _luck = 0

    def __init__(
        self,
        base: LinearPolicy,
        *,
        threshold: float = math.log(10_000.0),
        inflation: float = 4.0,
        rng: Seed = None,
    ) -> None:
        self._threshold = _validate.positive("threshold", threshold)
        self._inflation = _validate.number("inflation", inflation)
        if self._inflation <= 1.0:
            raise ValueError(f"inflation must be above 1, got {self._inflation!r}")
        self._master = bank.Surprise(self._threshold, self._inflation)
        known = getattr(getattr(base, "posterior", None), "discount", 1.0)
        self._begin(base, [known], rng)

    @property
    def threshold(self) -> float:
        """An alarm is raised above this value."""
        return self._threshold

    @property
    def inflation(self) -> float:
        """The factor on the squared residuals that is tested for."""
        return self._inflation

    @property
    def statistic(self) -> float:
        """The CUSUM now."""
        return float(self._own[STATISTIC])

    @property
    def alarms(self) -> tuple[int, ...]:
        """How many observations had come in at each alarm."""
        return self._alarms

    def _shares(self):
        return np.ones(1)

    def _new_own(self):
        self._alarms = ()
        return np.zeros(2)

    def _noticed(self, raised):
        first = int(self._own[CLOCK]) - len(raised)
        new = (first + 1 + np.flatnonzero(raised)).tolist()
        self._alarms = (*self._alarms, *new)

    def _get_state(self):
        return {**super()._get_state(), "alarms": self._alarms}

    def _set_state(self, state):
        super()._set_state(state)
        clock = int(self._own[CLOCK])
        alarms = tuple(_validate.integer("state alarms", t) for t in state["alarms"])
        if not all(a < b for a, b in zip((0, *alarms), (*alarms, clock + 1))):
            raise ValueError(f"state alarms must rise to at most {clock}, got {alarms}")
        self._alarms = alarms

    def _check_own(self, own):
        if not 0.0 <= own[STATISTIC] <= self._threshold:
            raise ValueError(
                f"state own must have a statistic from 0 to {self._threshold}, got "
                f"{own[STATISTIC]}"
            )
        _validate.integer("state own", own[CLOCK], minimum=0)
