"""When did the present begin? A bank of starts and discounts."""

import math

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, ArrayLike, Seed
from wsbnb.adaptive.base import AdaptivePolicy
from wsbnb.adaptive.grid import MOST, checked_discounts
from wsbnb.kernels import bank, memory
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.saving import register
from wsbnb.posterior import check_time

#: Memories of 10, 20, 50, 100, 200 and 500 rounds, and of all.
DISCOUNTS = (0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 1.0)
#: What these hold together at first; the rest is with the first start.
FIRST_SHARE = 1e-3
#: A hazard that falls with time starts at one over this.
FIRST_PERIOD = 1000.0


@register
class ChangePoints(AdaptivePolicy):
    r"""Play through a belief about when the present began, and how fast it moves.

    A bank of members on one Gaussian model. Some forget with a discount. The others,
    the *starts*, forget nothing, but each began from the prior after another round: it
    believes that the parameter jumped there and has been still since. Every reward
    multiplies the weights by how likely the member thought it,

    .. math::

        w_j \leftarrow w_j\,N\bigl(r;\ x^\top\mu_j,\ \sigma^2 + x^\top\Sigma_j x\bigr),

    and before the next round the present may begin anew. With the hazard
    :math:`H_t` a new start is born from the prior and takes the place of the lightest
    one; otherwise one of the N discounts takes over with the chance :math:`\alpha H_t`:

    .. math::

        w_{\text{new}} = H_t, \qquad
        w_j \leftarrow (1-H_t)\bigl((1-\alpha H_t)w_j + \tfrac{\alpha H_t}{N}
        1\{j\text{ forgets}\}\bigr) .

    Each round a member is drawn by its weight and chooses the arm by its own rule (or
    its neighbour does, see `haste`). At first the discounts hold 1/1000 together, and
    one start has the rest.

    The noise level is learnt beside this, because a wrong one looks like change. With
    :math:`z_j` the residual of member j in units of its predictive deviation,

    .. math::

        s^2 \leftarrow s^2\Bigl(1 + \frac{\sum_j w_j\min(z_j^2, 16) - 1}{n + 1}
        \Bigr), \qquad n = \text{trust},

    multiplies all predictive variances, and s all exploration.

    Parameters
    ----------
    base : policy with a discount
        A template, for example a :class:`WSBLinTS`; its own discount is not used.
    discounts : array, optional
        Increasing, in (0, 1]. Default 0.9, 0.95, 0.98, 0.99, 0.995, 0.998 and 1. An
        empty list leaves the starts alone.
    starts : int, default 6
        How many beginnings are kept in mind, at least 2.
    hazard : float in (0, 1), optional
        The same chance of a change before every round. Default: it falls,
        :math:`H_t = 1/(1000 + t)` after t rounds, so that time itself sets the scale.
    share : float in [0, 1), default 0.1
        The :math:`\alpha` above: how often a discount takes over, in hazards.
    keep : float in [0, 1), default 0
        With 0 a start knows nothing but the prior. Above it, a newcomer keeps this part
        of the precision of the member that leads, and the prior has the rest: the
        belief widens in place of being forgotten.
    calm : float, default 0.5
        A member with a discount below 1 stays wide for ever; it explores with this
        part of the base's scale (or radius).
    trust : float, default 300
        The base's `noise_std` is a first guess that counts as so many rounds of
        residuals, at least 1. ``numpy.inf``: it is right.
    haste : float in [0, 1], default 0.5
        When a member with a discount is drawn, its neighbour with the next shorter
        memory chooses in its place with this chance: arms that were chosen for being
        good show little of how the parameter turns, so the likelihood likes memories
        that are too long for choosing.
    rng : None, int, SeedSequence or Generator
        Draws the member and its perturbation.

    Notes
    -----
    Without discounts this is the change-point model of :cite:t:`adams2007bayesian`
    with Thompson sampling (or optimism) on top, as :cite:t:`mellor2013thompson` do for
    independent arms. The weights are exact as long as no start with weight is dropped;
    ``lost`` adds up what was. The share is that of :cite:t:`herbster1998tracking`.

    One round costs what (N + starts) posteriors cost, :math:`O((N+\text{starts})d^3)`
    and :math:`O(Kd^2)` for the member that scores; memory is
    :math:`O((N + \text{starts})d^2)`, however long it plays.

    While nothing changes, and the model is right (prior, noise level with infinite
    trust, no discounts, constant hazard), the probability that the starts after the
    true one ever hold more than half within n rounds is at most
    :math:`(1-H)^{-n}-1`. With discounts, or a noise level that is learnt, there is no
    such promise. No regret bound is known to
    us.

    The defaults were chosen on 8 trials in each world of the benchmark with Thompson
    sampling at half its scale; the chapter plays them on other trials and worlds.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> base = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(1), prior_cov=1.0, noise_std=0.3, discount=1.0
    ... )
    >>> policy = wsbnb.ChangePoints(base, rng=0)
    >>> policy.update(np.ones((50, 1)), np.ones(50))
    >>> policy.update(np.ones((6, 1)), -np.ones(6))  # a jump after round 50
    >>> policy.alarms, policy.since
    (1, 50.0)
    """

    name = "Change points"

    def __init__(
        self,
        base: LinearPolicy,
        *,
        discounts: ArrayLike | None = None,
        starts: int = 6,
        hazard: float | None = None,
        share: float = 0.1,
        keep: float = 0.0,
        calm: float = 0.5,
        trust: float = 300.0,
        haste: float = 0.5,
        rng: Seed = None,
    ) -> None:
        self._discounts = _discounts(discounts, base)
        known = len(self._discounts)
        self._starts = _validate.integer("starts", starts, 2, MOST - known)
        self._hazard = None if hazard is None else _fraction("hazard", hazard)
        self._share = _part("share", share)
        self._keep = _part("keep", keep)
        self._calm = _validate.positive("calm", calm)
        self._haste = _validate.nonnegative("haste", haste)
        if self._haste > 1.0:
            raise ValueError(f"haste must be from 0 to 1, got {self._haste!r}")
        self._trust = _at_least_one("trust", trust)
        period, growth = FIRST_PERIOD, 1.0
        if self._hazard is not None:
            period, growth = 1.0 / self._hazard, 0.0
        self._master = bank.Changes(
            float(known),
            float(period),
            growth,
            self._share,
            self._keep,
            self._calm,
            self._trust,
            self._haste,
        )
        self._begin(base, [*self._discounts, *[1.0] * self._starts], rng)

    # -- settings ---------------------------------------------------------------

    @property
    def discounts(self) -> Array:
        """Discounts of the members that forget (a new array)."""
        return self._discounts.copy()

    @property
    def starts(self) -> int:
        """How many beginnings are kept in mind."""
        return self._starts

    @property
    def hazard(self) -> float | None:
        """Chance of a change before a round; None if it falls with time."""
        return self._hazard

    @property
    def share(self) -> float:
        """How often a discounted member takes over, in hazards."""
        return self._share

    @property
    def keep(self) -> float:
        """What a newcomer keeps of the leader's knowledge."""
        return self._keep

    @property
    def calm(self) -> float:
        """What part of its exploration the base does where it forgets."""
        return self._calm

    @property
    def haste(self) -> float:
        """How often the next shorter memory chooses for a discounted member."""
        return self._haste

    @property
    def trust(self) -> float:
        """How many rounds of residuals the given noise level is worth."""
        return self._trust

    # -- what it believes -------------------------------------------------------

    @property
    def weights(self) -> Array:
        """Probability of each member: the discounts in order, then the starts."""
        odds = np.exp(self._beliefs().log_weights)
        return odds / odds.sum()

    @property
    def rounds(self) -> float:
        """Rounds that have passed."""
        return self._beliefs().age

    @property
    def began(self) -> Array:
        """After which round each start began (a new array)."""
        return self._beliefs().births[len(self._discounts) :].copy()

    @property
    def run_lengths(self) -> tuple[Array, Array]:
        """How long the present has lasted: the lengths in mind, and their weights.

        Returns
        -------
        lengths, weights : arrays of shape (starts,)
            Increasing lengths in rounds. The weights sum to what the starts hold, one
            minus the weight of the discounts.
        """
        lengths, weights = (
            self.rounds - self.began,
            self.weights[len(self._discounts) :],
        )
        order = np.argsort(lengths, kind="stable")
        return lengths[order], weights[order]

    @property
    def since(self) -> float:
        """After which round the present began, by the last alarm; 0 without one."""
        return self._beliefs().since

    @property
    def alarms(self) -> int:
        """How often starts younger than `since` came to hold more than half."""
        return int(self._beliefs().alarms)

    @property
    def lost(self) -> float:
        """Weight of all starts that were dropped, added up; 0 means exact inference."""
        return self._beliefs().lost

    @property
    def noise_level(self) -> float:
        """The noise's standard deviation, as learnt so far from the residuals."""
        return self.noise_std * math.sqrt(self._beliefs().noise)

    def _beliefs(self):
        return memory.beliefs(self._own, len(self._gamma))

    # -- playing ----------------------------------------------------------------

    def decay(self, steps: float = 1) -> None:
        """Let time pass without an observation: a change may happen unseen.

        Parameters
        ----------
        steps : float, default 1
            Rounds, zero or positive.
        """
        steps = _validate.nonnegative("steps", steps)
        if steps == 0.0:
            return
        with self._turn:
            check_time(self.rounds, steps)
            bank.let_pass(
                self._master,
                self._prior,
                self._members,
                self._own,
                self._work,
                steps,
            )

    def _shares(self):
        return self.weights

    def _new_own(self):
        known, n = len(self._discounts), len(self._gamma)
        own = memory.new_beliefs(known, n)
        if known:  # a view: this writes into `own`
            weights = memory.beliefs(own, n).log_weights
            weights[:known] = math.log(FIRST_SHARE / known)
            weights[known] = math.log1p(-FIRST_SHARE)
        return own

    def _check_own(self, own):
        b, known = memory.beliefs(own, len(self._gamma)), len(self._discounts)
        sound = (
            b.log_weights.min() >= memory.new_beliefs(0, 2).min()
            and abs(np.exp(b.log_weights).sum() - 1.0) < 1e-6
            and not b.births[:known].any()
            and 0.0 <= b.births.min() <= b.births.max() <= b.age
            and 0.0 <= b.since <= b.age
            and b.lost >= 0.0 <= b.alarms == int(b.alarms)
            and bank.QUIETEST <= b.noise <= bank.LOUDEST
        )
        if not sound:
            raise ValueError(
                "state own must hold log weights that sum to one, beginnings from 0 "
                f"to now and a positive noise, got {own.tolist()}"
            )


def _discounts(discounts, base):
    if (
        discounts is not None
        and not _validate.finite_array("discounts", discounts).size
    ):
        return np.zeros(0)
    return checked_discounts(DISCOUNTS if discounts is None else discounts, base)


def _fraction(name, value):
    value = _validate.number(name, value)
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return value


def _at_least_one(name, value):
    """A number from 1 on; infinity is allowed."""
    if isinstance(value, float) and value == math.inf:
        return math.inf
    value = _validate.number(name, value)
    if value < 1.0:
        raise ValueError(f"{name} must be at least 1 (or infinite), got {value!r}")
    return value


def _part(name, value):
    value = _validate.nonnegative(name, value)
    if value >= 1.0:
        raise ValueError(f"{name} must be from 0 to below 1, got {value!r}")
    return value
