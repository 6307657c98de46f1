"""A bandit over discounts: EXP3 in blocks."""

import math

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, ArrayLike, Seed
from wsbnb.adaptive.base import AdaptivePolicy, check_base
from wsbnb.adaptive.grid import checked_discounts
from wsbnb.kernels import bank
from wsbnb.policies.base import LinearPolicy
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
        A template; its own discount is not used.
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
    >>> base = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.3, discount=1.0
    ... )
    >>> policy = wsbnb.BanditOverDiscounts(
    ...     base, discounts=[0.9, 1.0], horizon=400, rng=0
    ... )
    >>> policy.block, round(policy.rate, 3)
    (40, 0.284)
    >>> for _ in range(40):
    ...     k = policy.pull(np.eye(2))
    ...     policy.update(np.eye(2)[k], 1.0)
    >>> policy.probabilities.round(3).tolist()  # the first block went to discount 1
    [0.449, 0.551]
    """

    name = "Bandit over discounts"

    def __init__(
        self,
        base: LinearPolicy,
        *,
        discounts: ArrayLike | None = None,
        horizon: int,
        block: int | None = None,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        restart: bool = True,
        rng: Seed = None,
    ) -> None:
        self._horizon = _validate.integer("horizon", horizon)
        check_base(base)
        gamma = checked_discounts(discounts, base, self._horizon)
        if block is None:
            block = min(math.floor(base.dim * math.sqrt(self._horizon)), self._horizon)
        self._block = _validate.integer("block", block)
        self._range = checked_range(reward_range)
        self._restarts = _validate.flag("restart", restart)
        self._rate = self._exp3_rate(len(gamma))
        low, high = self._range
        self._master = bank.Blocks(
            float(self._block), self._rate, low, high, self._restarts
        )
        self._begin(base, gamma, rng)

    def _exp3_rate(self, N):
        blocks = math.ceil(self._horizon / self._block)
        return min(1.0, math.sqrt(N * math.log(N) / ((math.e - 1.0) * blocks)))

    @property
    def discounts(self) -> Array:
        """The grid (a new array)."""
        return self._gamma.copy()

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
        return self._rate

    @property
    def probabilities(self) -> Array:
        """Probability of each discount in the next draw."""
        scores = self._own[: len(self._gamma)]
        odds = np.exp(scores - scores.max())
        return (1.0 - self.rate) * odds / odds.sum() + self.rate / odds.size

    @property
    def current_discount(self) -> float | None:
        """The discount in charge; None between two blocks."""
        current = int(self._own[len(self._gamma)])
        return None if current < 0 else float(self._gamma[current])

    def _shares(self):
        """All weight on the expert in charge, or else on the likeliest."""
        N = len(self._gamma)
        current = int(self._own[N])
        return np.eye(N)[int(np.argmax(self._own[:N])) if current < 0 else current]

    def _new_own(self):
        """Scores, then who is in charge, rounds and total reward of the block."""
        return np.append(np.zeros(len(self._gamma)), [-1.0, 0.0, 0.0])

    def _check_own(self, own):
        N = len(self._gamma)
        current = _validate.integer("state own", own[N], minimum=-1, maximum=N - 1)
        count = _validate.integer("state own", own[N + 1], minimum=0)
        if count >= self._block or (current < 0 and (count or own[N + 2])):
            raise ValueError(f"state own cannot count {count} with member {current}")


def checked_range(reward_range: ArrayLike) -> tuple[float, float]:
    """Two finite numbers, the lower one first."""
    pair = _validate.vector("reward_range", reward_range, dim=2)
    low, high = float(pair[0]), float(pair[1])
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"reward_range must be (low, high), low < high, got {pair}")
    return low, high
