"""MASTER: multi-scale copies of a stationary algorithm, two tests, restarts."""

import math

from wsbnb import _validate
from wsbnb._types import Any, Array, ArrayLike, Seed
from wsbnb.adaptive.bandit import checked_range
from wsbnb.adaptive.base import template
from wsbnb.exploration import Optimism
from wsbnb.kernels import explore
from wsbnb.policies import theory
from wsbnb.policies.base import LinearPolicy, Policy
from wsbnb.policies.saving import register


@register
class Master(Policy):
    r"""MASTER of :cite:t:`wei2021non` around an optimistic policy.

    Time is cut into blocks of :math:`2^n` rounds, n = 0, 1, ... In a block copies of
    the base of all orders :math:`m\le n` are scheduled: at every multiple of
    :math:`2^m` one of length :math:`2^m` starts from the prior with probability
    :math:`\rho(2^n)/\rho(2^m)`. The shortest copy alive plays and learns. With
    :math:`\tilde g_t` its optimistic score, rewards scaled to [0, 1],
    :math:`\rho(t)=\min\{1, c/\sqrt t\}` and
    :math:`\hat\rho(t)=6f(\log_2T+1)\log(T/\delta)\,\rho(t)`, everything starts again
    from n = 0 as soon as one of two tests fails:

    1. a copy of order m ends, and its rounds paid on average
       :math:`9\hat\rho(2^m)` or more above :math:`U_t=\min_{s\le t}\tilde g_s`;
    2. over the block, :math:`\tilde g - R` is on average :math:`3\hat\rho` of the
       block's rounds so far, or more.

    Parameters
    ----------
    base : an optimistic policy with a discount
        A template, such as :class:`wsbnb.WSBLinUCB` with ``discount=1``.
    horizon : int
        Number of rounds T, which the tests know. The policy may be played longer.
    rate : float, optional
        The c of :math:`\rho`, at least 1; :math:`c\sqrt t` stands for the base's regret
        bound. Default: the dimension, which leaves out the bound's logarithms.
    factor : float, default 1
        The f above. With 1 the constants are those of the paper.
    reward_range : pair of float, default (-1, 1)
        What expected rewards lie between.
    rng : None, int, SeedSequence or Generator
        Draws the schedule.

    Notes
    -----
    Schedule, tests and constants are those of :cite:t:`wei2021non` as we read them,
    :math:`\delta=1/T`. That the tests never fail at usual horizons was found for
    independent arms by :cite:t:`gerogiannis2024prior`, too. With these constants, and a
    base that fulfils their assumption, the regret is of order
    :math:`\min\{\sqrt{LT}, B_T^{1/3}T^{2/3}\}` up to dimension and logarithms, without
    knowledge of :math:`B_T` or of the number L of changes. With any other `factor`
    nothing is proved. Not compiled; a round costs one pull and one update of the base,
    and memory is that of :math:`\log_2T` copies.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> base = wsbnb.WSBLinUCB(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.3, discount=1.0
    ... )
    >>> policy = wsbnb.adaptive.Master(base, horizon=4000, rng=0)
    >>> bool(policy.test_margins(4000)[1] > 1)  # no reward in [0, 1] can fail the test
    True
    """

    name = "MASTER"
    _keeps_matrix = True

    def __init__(
        self,
        base: LinearPolicy,
        *,
        horizon: int,
        rate: float | None = None,
        factor: float = 1.0,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        rng: Seed = None,
    ) -> None:
        super().__init__(rng)
        self._base = template(base)
        if not isinstance(self._base.exploration, Optimism):
            raise TypeError(
                "base must be optimistic, such as WSBLinUCB: the tests need an upper "
                f"bound, got {base!r}"
            )
        self._horizon = _validate.integer("horizon", horizon, minimum=2)
        self._rate = _validate.number("rate", self.dim if rate is None else rate)
        if self._rate < 1.0:
            raise ValueError(f"rate must be at least 1, got {self._rate!r}")
        self._factor = _validate.nonnegative("factor", factor)
        self._range = checked_range(reward_range)
        self._restart()

    # -- settings ---------------------------------------------------------------

    @property
    def base(self) -> LinearPolicy:
        """A new policy like the template."""
        return self._base.clone()

    @property
    def dim(self) -> int:
        """Dimension d of arms and parameter."""
        return self._base.dim

    @property
    def noise_std(self) -> float:
        """Noise level of the template."""
        return self._base.noise_std

    @property
    def horizon(self) -> int:
        """Number of rounds that the tests know."""
        return self._horizon

    @property
    def rate(self) -> float:
        """The c of the base's regret bound."""
        return self._rate

    @property
    def factor(self) -> float:
        """The factor on the margins of both tests."""
        return self._factor

    @property
    def reward_range(self) -> tuple[float, float]:
        """What expected rewards lie between."""
        return self._range

    @property
    def restarts(self) -> int:
        """How often a test has failed."""
        return self._restarts

    def _rho(self, t):
        return min(1.0, self._rate / math.sqrt(t))

    def test_margins(self, rounds: int) -> tuple[float, float]:
        r"""What the two tests allow over so many rounds, rewards scaled to [0, 1].

        Parameters
        ----------
        rounds : int

        Returns
        -------
        first, second : float
            :math:`9\hat\rho` and :math:`3\hat\rho`. Above 1 a test can hardly fail.
        """
        T = self._horizon
        logs = (math.log2(T) + 1.0) * 2.0 * math.log(T)  # log(T / delta), delta = 1/T
        hat = 6.0 * self._factor * logs * self._rho(_validate.integer("rounds", rounds))
        return 9.0 * hat, 3.0 * hat

    # -- playing ----------------------------------------------------------------

    def scores(self, X: ArrayLike) -> Array:
        """The numbers that the next pull will compare (pure).

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        array of shape (K,)
        """
        twin = self.copy()
        return twin._active().scores(X)

    def _active(self):
        """The shortest copy alive, after those that start in this round."""
        if not self._drawn:
            self._schedule()
        return self._copies[min(self._copies)]["policy"]

    def _choose(self, X):
        kept = dict(self._copies), self._drawn
        try:
            policy = self._active()
            best = policy._choose(X)
        except BaseException:
            self._copies, self._drawn = kept
            raise
        score = policy.posterior._work.rows[explore.SCORES, best]
        low, high = self._range
        self._seen = float((score - low) / (high - low))
        return best

    def _schedule(self):
        """Copies that start in this round; the longest is there already."""
        top = self._rho(2**self._order)
        for m in range(self._order - 1, -1, -1):
            if self._passed % 2**m == 0:
                if self._rng.random() < top / self._rho(2**m):
                    self._copies[m] = self._new_copy(m)
        self._drawn = True

    def _new_copy(self, m):
        """A copy that knows nothing; one that has ended is used again."""
        policy = self._ended_ones.pop(m, None) or self._base.clone()
        policy._restart()
        return {"policy": policy, "start": self._passed, "paid": 0.0}

    def update(self, x: ArrayLike, reward: ArrayLike, decay: bool = True) -> None:
        """Learn from one observation, or from several in order.

        Parameters
        ----------
        x, reward
            As in :meth:`Policy.update`. A failed update changes nothing.
        decay : bool, default True
            Must be True: blocks and tests count every observation as a round.
        """
        if not _validate.flag("decay", decay):
            raise ValueError("decay must be True, got False: the tests count rounds")
        X, rewards = self._observations(x, reward)
        with self._turn:
            if len(X) > 1:  # a copy goes first: what it refuses changes nothing here
                with theory.outside_on_purpose():
                    Policy.update(self.copy(), X, rewards)
            with theory.held_back() as texts:
                super().update(x, reward)
        for text in texts:
            theory.warn(text)

    def _learn(self, x, reward, decay):
        self._copies[min(self._copies)]["policy"].update(x, reward)
        low, high = self._range
        paid = (reward - low) / (high - low)
        self._passed += 1
        for each in self._copies.values():
            each["paid"] += paid
        failed = False
        if self._seen is not None:  # a reward without a pull has nothing to be tested
            self._lowest = min(self._lowest, self._seen)
            self._excess += self._seen - paid
            failed = self._tests_fail()
        self._seen, self._drawn = None, False
        for m in [m for m in self._copies if self._ended(m)]:
            self._ended_ones[m] = self._copies.pop(m)["policy"]
        if failed:
            self._restarts += 1
        if failed or self._passed == 2**self._order:
            self._begin_block(0 if failed else self._order + 1)

    def _ended(self, m):
        return self._passed - self._copies[m]["start"] == 2**m

    def _tests_fail(self):
        for m, each in self._copies.items():
            if self._ended(m):
                margin = self.test_margins(2**m)[0]
                if each["paid"] / 2**m >= self._lowest + margin:
                    return True
        return self._excess / self._passed >= self.test_margins(self._passed)[1]

    def _begin_block(self, order):
        self._order, self._passed, self._drawn = order, 0, False
        self._lowest, self._excess, self._seen = math.inf, 0.0, None
        self._ended_ones |= {m: each["policy"] for m, each in self._copies.items()}
        self._copies = {order: self._new_copy(order)}

    def _restart(self):
        self._restarts, self._copies, self._ended_ones = 0, {}, {}
        self._begin_block(0)

    # -- files ------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        copies = [
            {**each, "order": m, "policy": each["policy"]._get_state()}
            for m, each in self._copies.items()
        ]
        lowest = None if math.isinf(self._lowest) else self._lowest
        numbers = [self._order, self._passed, self._restarts]
        known = {"seen": self._seen, "lowest": lowest, "excess": self._excess}
        return {"numbers": numbers, "drawn": self._drawn, "copies": copies, **known}

    def _set_state(self, state):
        order, passed, restarts = (
            _validate.integer("state numbers", value, minimum=0)
            for value in state["numbers"]
        )
        if order > 62 or passed >= 2**order:
            raise ValueError(f"state numbers cannot be {state['numbers']}")
        self._begin_block(order)
        self._passed, self._restarts = passed, restarts
        self._drawn = _validate.flag("state drawn", state["drawn"])
        self._excess = _validate.number("state excess", state["excess"])
        seen, lowest = (
            None if state[key] is None else _validate.number(f"state {key}", state[key])
            for key in ("seen", "lowest")
        )
        self._seen, self._lowest = seen, math.inf if lowest is None else lowest
        self._copies = dict(self._stored_copy(each) for each in state["copies"])
        if order not in self._copies or len(self._copies) != len(state["copies"]):
            raise ValueError(
                "state copies must hold one of each order, and the longest"
            )

    def _stored_copy(self, stored):
        m = _validate.integer("state copies", stored["order"], 0, self._order)
        start = _validate.integer("state copies", stored["start"], 0)
        if start % 2**m or not 0 <= self._passed - start < 2**m:
            raise ValueError(f"state copies cannot have order {m} and start {start}")
        policy = self._base.clone()
        policy._set_state(stored["policy"])
        paid = _validate.number("state copies", stored["paid"])
        return m, {"policy": policy, "start": start, "paid": paid}
