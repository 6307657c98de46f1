"""Forget everything when the rewards surprise."""

import math
from typing import Any

import numpy as np

from wsbnb import _validate
from wsbnb._types import Seed
from wsbnb.adaptive.base import AdaptivePolicy
from wsbnb.adaptive.experts import ExpertBank
from wsbnb.policies.base import LinearPolicy, PosteriorSnapshot
from wsbnb.policies.saving import register


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
        below 1 also covers slow drift. In place of a policy, the dict that
        ``get_params()`` returns for it.
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
    >>> base = wsbnb.WSBLinTS(np.zeros(1), np.eye(1), 0.3, discount=1.0)
    >>> policy = wsbnb.SurpriseRestart(base, rng=0)
    >>> policy.update(np.ones((50, 1)), np.ones(50))
    >>> policy.update(np.ones((5, 1)), np.zeros(5))  # a jump
    >>> policy.alarms
    (53,)
    """

    name = "Surprise restart"
    _changing = ("_statistic", "_alarms", "_clock")

    def __init__(
        self,
        base: LinearPolicy | dict[str, Any],
        threshold: float = math.log(10_000.0),
        inflation: float = 4.0,
        rng: Seed = None,
    ) -> None:
        self._begin(base, rng)
        self._threshold = _validate.positive("threshold", threshold)
        self._inflation = _validate.number("inflation", inflation)
        if self._inflation <= 1.0:
            raise ValueError(f"inflation must be above 1, got {self._inflation!r}")
        self._bank = ExpertBank(self._base, [self._base.discount])
        self._restart()

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
        return self._statistic

    @property
    def alarms(self) -> tuple[int, ...]:
        """How many observations had come in at each alarm."""
        return self._alarms

    @property
    def posterior(self) -> PosteriorSnapshot:
        """The Gaussian that the base policy holds now (a snapshot)."""
        return self._bank.posterior(np.ones(1))

    def _pick(self, rng):
        return 0

    def _learn(self, x, reward, decay):
        mean, variance = self._bank.predict(x)
        surprise = float((reward - mean[0]) ** 2 / variance[0])
        v = self._inflation
        step = 0.5 * ((1.0 - 1.0 / v) * surprise - math.log(v))
        self._statistic = max(0.0, self._statistic + step)
        self._clock += 1
        if self._statistic > self._threshold:
            self._alarms = (*self._alarms, self._clock)
            self._statistic = 0.0
            self._bank.restart()
        self._bank.learn(x, reward, decay)

    def _restart(self):
        self._bank.restart()
        self._statistic, self._alarms, self._clock = 0.0, (), 0

    def _checked_state(self, state):
        statistic = _validate.nonnegative("state statistic", state["statistic"])
        clock = _validate.integer("state clock", state["clock"], minimum=0)
        alarms = tuple(_validate.integer("state alarms", t) for t in state["alarms"])
        rising = all(a < b for a, b in zip((0, *alarms), (*alarms, clock + 1)))
        if statistic > self._threshold or not rising:
            raise ValueError(
                f"state alarms must rise to at most {clock} and the statistic stay "
                f"below {self._threshold}"
            )
        return {"_statistic": statistic, "_alarms": alarms, "_clock": clock}
