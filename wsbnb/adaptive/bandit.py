"""A bandit over discounts: EXP3 in blocks."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate
from wsbnb._types import Seed
from wsbnb.adaptive.base import AdaptivePolicy, draw
from wsbnb.adaptive.experts import ExpertBank
from wsbnb.adaptive.grid import checked_discounts
from wsbnb.policies.base import LinearPolicy, PosteriorSnapshot, _as_stored
from wsbnb.policies.saving import register


@register
class BanditOverDiscounts(AdaptivePolicy):
    r"""Bandit over bandits: EXP3 picks the discount of each block of rounds.

    With N discounts, before each block of H rounds one is drawn from

    .. math:: p_j = (1-\eta)\frac{e^{s_j}}{\sum_i e^{s_i}} + \frac{\eta}{N},

    chooses all arms of the block, and is credited with the block's mean reward, scaled
    to :math:`g\in[0,1]`, divided by its probability:
    :math:`s_j \leftarrow s_j + \eta\,g/(N p_j)`.

    Parameters
    ----------
    base : policy with a discount
        A template; its own discount is not used. In place of a policy, the dict that
        ``get_params()`` returns for it.
    discounts : array, optional
        Increasing, in (0, 1]. Default: :func:`discount_grid` up to `horizon`.
    horizon : int
        Number of rounds T, which sets `block` and :math:`\eta`. The policy may be
        played longer.
    block : int, optional
        Rounds per block H. Default :math:`\lfloor d\sqrt T\rfloor`, at most T.
    reward_range : pair of float, default (-1, 1)
        What a block's mean reward lies between; values outside are clipped.
    restart : bool, default True
        Whether every block starts from the prior. With False all experts learn from
        all rewards and keep what they know.
    rng : None, int, SeedSequence or Generator
        Draws the expert and its perturbation.

    Notes
    -----
    From :cite:t:`cheung2019learning` and :cite:t:`cheung2022hedging`: the blocks, the
    fresh start in each (``restart=True``), the geometric grid, EXP3 of
    :cite:t:`auer2002nonstochastic` with
    :math:`\eta=\min\{1,\sqrt{N\log N/((e-1)\lceil T/H\rceil)}\}`, and a block length of
    order :math:`d\sqrt T`, which balances the price of the restarts,
    :math:`dT/\sqrt H`, and that of EXP3, :math:`\sqrt{HT}`. Ours: discounts in
    place of windows, any base policy, memories up to T and not only up to H, the
    scaling by `reward_range` in place of a bound that holds with high probability, and
    ``restart=False``, for which their analysis does not hold.

    A block counts the observations that arrive after its first pull.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> base = wsbnb.WSBLinTS(np.zeros(2), np.eye(2), 0.3, discount=1.0)
    >>> policy = wsbnb.BanditOverDiscounts(base, [0.9, 1.0], horizon=400, rng=0)
    >>> policy.block, round(policy.rate, 3)
    (40, 0.284)
    >>> for _ in range(40):
    ...     k = policy.pull(np.eye(2))
    ...     policy.update(np.eye(2)[k], 1.0)
    >>> policy.probabilities.round(3).tolist()  # the first block went to discount 1
    [0.449, 0.551]
    """

    name = "Bandit over discounts"
    _changing = ("_log_weights", "_current", "_count", "_total")

    def __init__(
        self,
        base: LinearPolicy | dict[str, Any],
        discounts: ArrayLike | None = None,
        horizon: int | None = None,
        block: int | None = None,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        restart: bool = True,
        rng: Seed = None,
    ) -> None:
        self._begin(base, rng)
        if horizon is None:
            raise ValueError("horizon must be a whole number of rounds, got None")
        self._horizon = _validate.integer("horizon", horizon)
        self._discounts = checked_discounts(discounts, self._horizon, self.dim)
        if block is None:
            block = min(math.floor(self.dim * math.sqrt(self._horizon)), self._horizon)
        self._block = _validate.integer("block", block)
        self._range = _checked_range(reward_range)
        if not isinstance(restart, bool | np.bool_):
            raise TypeError(f"restart must be True or False, got {restart!r}")
        self._restarts = bool(restart)
        self._bank = ExpertBank(self._base, self._discounts)
        self._restart()

    @property
    def discounts(self) -> np.ndarray:
        """The grid (a new array)."""
        return self._discounts.copy()

    @property
    def horizon(self) -> int:
        """Number of rounds the rate is made for."""
        return self._horizon

    @property
    def block(self) -> int:
        """Rounds per block."""
        return self._block

    @property
    def reward_range(self) -> tuple[float, float]:
        """What a block's mean reward lies between."""
        return self._range

    @property
    def restart(self) -> bool:
        """Whether every block starts from the prior."""
        return self._restarts

    @property
    def rate(self) -> float:
        r"""EXP3's rate and share of blind exploration, :math:`\eta`."""
        N, blocks = self._discounts.size, math.ceil(self._horizon / self._block)
        return min(1.0, math.sqrt(N * math.log(N) / ((math.e - 1.0) * blocks)))

    @property
    def probabilities(self) -> np.ndarray:
        """Probability of each discount in the next draw."""
        odds = np.exp(self._log_weights - self._log_weights.max())
        return (1.0 - self.rate) * odds / odds.sum() + self.rate / odds.size

    @property
    def current_discount(self) -> float | None:
        """The discount in charge; None between two blocks."""
        return None if self._current is None else float(self._discounts[self._current])

    @property
    def posterior(self) -> PosteriorSnapshot:
        """The Gaussian of the expert in charge, or else of the likeliest (snapshot)."""
        j = self._current
        j = int(np.argmax(self._log_weights)) if j is None else j
        return self._bank.posterior(np.eye(self._discounts.size)[j])

    def _pick(self, rng):
        if self._current is not None:
            return self._current
        return draw(self.probabilities, rng)

    def _choose(self, X):
        self._current = self._pick(self._rng)
        return self._bank.choose(self._current, X, self._rng)

    def _learn(self, x, reward, decay):
        self._bank.learn(x, reward, decay)
        if self._current is None:  # nobody to credit: no choice led to this reward
            return
        self._count += 1
        self._total += reward
        if self._count == self._block:
            self._close_block()

    def _close_block(self):
        low, high = self._range
        gain = min(max((self._total / self._count - low) / (high - low), 0.0), 1.0)
        credit = np.zeros(self._discounts.size)
        credit[self._current] = gain / self.probabilities[self._current]
        self._log_weights = self._log_weights + self.rate * credit / credit.size
        self._current, self._count, self._total = None, 0, 0.0
        if self._restarts:
            self._bank.restart()

    def _check_own_state(self):
        if not math.isfinite(self._total):
            raise ValueError("reward must keep the sum of a block finite")

    def _restart(self):
        self._bank.restart()
        self._log_weights = np.zeros(self._discounts.size)
        self._current, self._count, self._total = None, 0, 0.0

    def _checked_state(self, state):
        N = self._discounts.size
        weights = _as_stored("log_weights", state["log_weights"], (N,))
        count = _validate.integer("state count", state["count"], minimum=0)
        total = _validate.number("state total", state["total"])
        current = state["current"]
        if current is not None:
            current = _validate.integer("state current", current, minimum=0)
            if current >= N:
                raise ValueError(f"state current must be below {N}, got {current}")
        if count >= self._block or (current is None and (count or total)):
            raise ValueError(f"state count cannot be {count} with current {current}")
        return {
            "_log_weights": weights,
            "_current": current,
            "_count": count,
            "_total": total,
        }


def _checked_range(reward_range):
    pair = _validate.vector("reward_range", reward_range, dim=2)
    low, high = float(pair[0]), float(pair[1])
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"reward_range must be (low, high), low < high, got {pair}")
    return low, high
