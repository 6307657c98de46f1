"""The benchmark's policies: how each is built from what is known, and what is tuned.

To add a policy, append one `Contender` to `CONTENDERS`.
"""

import math
from dataclasses import dataclass

from wsbnb import _validate
from wsbnb._types import Any, Callable
from wsbnb.adaptive.bandit import BanditOverDiscounts
from wsbnb.adaptive.changes import ChangePoints
from wsbnb.adaptive.grid import discount_grid
from wsbnb.adaptive.master import Master
from wsbnb.adaptive.mixture import DiscountMixture
from wsbnb.adaptive.surprise import SurpriseRestart
from wsbnb.bounds import tuned_discount
from wsbnb.paper.benchmark_worlds import Known
from wsbnb.policies import named
from wsbnb.policies.base import Policy
from wsbnb.recommending import walk_rate

#: Memories that are tried, in rounds; infinity never forgets.
MEMORIES = (30.0, 75.0, 190.0, 480.0, 1200.0, math.inf)
#: Factors on the radius that are tried (1 is what theory asks for).
RADII = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0)
#: Factors on the posterior standard deviation that are tried by the samplers.
SCALES = (0.06, 0.12, 0.25, 0.5, 1.0, 2.0)
#: The factor on the margins of MASTER's tests when it is tuned, times that on the
#: radius, as the margins stand for the base's regret; and the c of its schedule, which
#: is at least 1. At the paper's factor of 1 no test can fail within these horizons.
MASTER_FACTOR, MASTER_RATE = 0.02, 1.0
_ONE = (1.0,)
_FOREVER = (math.inf,)


@dataclass(frozen=True)
class Contender:
    """A policy of the benchmark and the grid on which it is tuned.

    Parameters
    ----------
    name : str
    build : callable
        ``build(known, scale, memory)`` returns a policy; None stands for what theory
        or the paper says.
    scales, memories : tuple of float
        The grid. One value means that there is nothing to choose.
    note : str
        What the two numbers are.
    slow : bool, default False
        Not compiled, and played only if it is named.

    Examples
    --------
    >>> from wsbnb.paper import CONTENDERS
    >>> len(CONTENDERS["WSB-LinTS"].settings())
    36
    """

    name: str
    build: Callable[[Known, float | None, float | None], Policy]
    scales: tuple[float, ...] = _ONE
    memories: tuple[float, ...] = _FOREVER
    note: str = ""
    slow: bool = False

    def __post_init__(self) -> None:
        _validate.text("name", self.name)
        if not callable(self.build):
            raise TypeError(f"build must be a function, got {self.build!r}")
        for what in ("scales", "memories"):
            values = _validate.several(what, getattr(self, what))
            if not values:
                raise ValueError(f"{what} must hold at least one number, got none")
            for value in values:
                if not (isinstance(value, float) and value == math.inf):
                    _validate.positive(what, value)
            object.__setattr__(self, what, tuple(values))
        _validate.text("note", self.note)
        _validate.flag("slow", self.slow)

    def settings(self, coarse: bool = False) -> list[tuple[float, float]]:
        """All pairs (scale, memory) of the grid.

        Parameters
        ----------
        coarse : bool, default False
            Only every other value of both: a quarter of the pairs.

        Returns
        -------
        list of tuple
        """
        coarse = _validate.flag("coarse", coarse)
        scales, memories = (
            values[1::2] if coarse and len(values) > 1 else values
            for values in (self.scales, self.memories)
        )
        return [(scale, memory) for scale in scales for memory in memories]


def _discount(known, memory, rule="ucb"):
    if memory is None:
        return tuned_discount(
            known.dim, known.horizon, known.variation, rule=rule, n_arms=known.n_arms
        )
    return 1.0 - 1.0 / memory  # 1 for an infinite memory


def _length(known, memory):
    """Rounds of a window or a period: twice the memory, whose weights last longer."""
    if memory is None:
        memory = 1.0 / (1.0 - _discount(known, None))
        return max(1, round(memory))  # as in the literature: once
    return min(known.horizon, 2 * memory) if memory < math.inf else known.horizon


def _ridge(known):
    return {"dim": known.dim, "regularization": 1.0, "noise_std": known.noise_std}


def _prior(known):
    return {
        "prior_mean": known.prior_mean,
        "prior_cov": known.prior_cov,
        "noise_std": known.noise_std,
    }


def _confidence(known, scale):
    return {
        "delta": 1.0 / known.horizon,
        "horizon": known.horizon,
        "radius_scale": 1.0 if scale is None else scale,
    }


def _ucb(cls, settings=_ridge):
    def build(known: Known, scale: float | None, memory: float | None) -> Policy:
        options = settings(known) | _confidence(known, scale)
        return cls(**options, discount=_discount(known, memory))

    return build


def _window(cls, name):
    def build(known: Known, scale: float | None, memory: float | None) -> Policy:
        options = _ridge(known) | _confidence(known, scale)
        return cls(**options, **{name: int(_length(known, memory))})

    return build


def _lin_ucb(known, scale, memory):
    options = _ridge(known) | _confidence(known, scale)
    del options["horizon"]
    return named.LinUCB(**options)


def _wsb(cls, rule):
    def build(known: Known, scale: float | None, memory: float | None) -> Policy:
        gamma = _discount(known, memory, rule)
        return cls(**_prior(known), discount=gamma, scale=_or_one(scale))

    return build


def _least_squares(cls, rule, **options):
    """Samplers that do not know σ: the grid is in posterior standard deviations."""

    def build(known: Known, scale: float | None, memory: float | None) -> Policy:
        gamma = _discount(known, memory, rule)
        unit = 1.0 if scale is None else known.noise_std * math.sqrt(1.0 + gamma)
        scale = _or_one(scale) * unit
        return cls(**_ridge(known), discount=gamma, scale=scale, **options)

    return build


def _kim_tewari(known, scale, memory):
    """As in their code: a |z| times the radius, a = 2/5."""
    confidence = _confidence(known, None)
    del confidence["radius_scale"]
    return named.DRandLinUCB(
        **_ridge(known),
        **confidence,
        discount=_discount(known, memory),
        perturbation="radius",
        scale=0.4 if scale is None else scale,
    )


def _lin_ts(known, scale, memory):
    scale = _or_one(scale) * known.noise_std
    return named.LinTS(**_ridge(known), scale=scale)


def _greedy(known, scale, memory):
    return named.Greedy(**_ridge(known), discount=_discount(known, memory))


def _uniform(known, scale, memory):
    return named.Uniform(**_ridge(known))


def _or_one(scale):
    return 1.0 if scale is None else scale


def _base(cls):
    """The policy that an adaptive one watches over; it never forgets by itself."""

    def build(known: Known, scale: float | None, memory: float | None) -> Any:
        gamma = 1.0 if memory is None else _discount(known, memory)
        return cls(**_prior(known), discount=gamma, scale=_or_one(scale))

    return build


def _surprise(cls):
    def build(known: Known, scale: float | None, memory: float | None) -> Policy:
        return SurpriseRestart(_base(cls)(known, scale, memory))

    return build


def _mixture(cls):
    def build(known: Known, scale: float | None, memory: float | None) -> Policy:
        grid = discount_grid(known.horizon, dim=known.dim)
        return DiscountMixture(_base(cls)(known, scale, None), discounts=grid)

    return build


def _changes(cls):
    def build(known: Known, scale: float | None, memory: float | None) -> Policy:
        return ChangePoints(_base(cls)(known, scale, None))

    return build


def _walk(known, scale, memory):
    """A Kalman filter that follows as fast as a memory of so many rounds forgets."""
    if memory is None:
        memory = 1.0 / (1.0 - _discount(known, None, "thompson"))
    prior = _prior(known)
    rate = walk_rate(memory, known.dim, known.noise_std, known.prior_cov)
    return named.RandomWalkLinTS(**prior, rate=rate, scale=_or_one(scale))


def _bandit(known, scale, memory):
    base = _base(named.WSBLinTS)(known, scale, None)
    return BanditOverDiscounts(base, horizon=known.horizon)


def _master(known, scale, memory):
    """Theory: the constants of its paper. Tuned: all of them smaller."""
    options = _prior(known) | _confidence(known, scale)
    base = named.WSBLinUCB(**options, discount=1.0)
    if scale is None:
        return Master(base, horizon=known.horizon)
    tests = {"rate": MASTER_RATE, "factor": MASTER_FACTOR * scale}
    return Master(base, horizon=known.horizon, **tests)


_TS, _RAND = named.WSBLinTS, named.WSBRandLinUCB
_LIST = (
    Contender("D-LinUCB", _ucb(named.DLinUCB), RADII, MEMORIES, "radius, memory"),
    Contender(
        "LB-WeightUCB", _ucb(named.LBWeightUCB), RADII, MEMORIES, "radius, memory"
    ),
    Contender(
        "WSB-LinUCB", _ucb(named.WSBLinUCB, _prior), RADII, MEMORIES, "radius, memory"
    ),
    Contender(
        "D-RandLinUCB",
        _least_squares(named.DRandLinUCB, "ucb"),
        SCALES,
        MEMORIES,
        "scale in posterior standard deviations, memory",
    ),
    Contender(
        "D-RandLinUCB, with its radius",
        _kim_tewari,
        RADII,
        MEMORIES,
        "factor on the radius, memory",
    ),
    Contender("WSB-RandLinUCB", _wsb(_RAND, "ucb"), SCALES, MEMORIES, "scale, memory"),
    Contender(
        "D-LinTS",
        _least_squares(named.DLinTS, "thompson"),
        SCALES,
        MEMORIES,
        "scale in posterior standard deviations, memory",
    ),
    Contender("WSB-LinTS", _wsb(_TS, "thompson"), SCALES, MEMORIES, "scale, memory"),
    Contender(
        "SW-LinUCB",
        _window(named.SWLinUCB, "length"),
        RADII,
        MEMORIES,
        "radius, half the window",
    ),
    Contender(
        "Restart-LinUCB",
        _window(named.RestartLinUCB, "period"),
        RADII,
        MEMORIES,
        "radius, half the period",
    ),
    Contender("LinUCB", _lin_ucb, RADII, note="radius"),
    Contender("LinTS", _lin_ts, SCALES, note="scale in posterior standard deviations"),
    Contender("Greedy", _greedy, memories=MEMORIES, note="memory"),
    Contender("Uniform", _uniform),
    Contender(
        "Surprise restart",
        _surprise(_TS),
        SCALES,
        MEMORIES,
        "scale, memory of WSB-LinTS",
    ),
    Contender(
        "Surprise restart, RandLinUCB",
        _surprise(_RAND),
        SCALES,
        MEMORIES,
        "scale, memory of WSB-RandLinUCB",
    ),
    Contender("Discount mixture", _mixture(_TS), SCALES, note="scale of WSB-LinTS"),
    Contender(
        "Discount mixture, RandLinUCB",
        _mixture(_RAND),
        SCALES,
        note="scale of WSB-RandLinUCB",
    ),
    Contender("Bandit over discounts", _bandit, SCALES, note="scale of WSB-LinTS"),
    Contender("Change points", _changes(_TS), SCALES, note="scale of WSB-LinTS"),
    Contender(
        "Change points, RandLinUCB",
        _changes(_RAND),
        SCALES,
        note="scale of WSB-RandLinUCB",
    ),
    Contender(
        "Random-walk LinTS",
        _walk,
        SCALES,
        MEMORIES,
        "scale, memory that forgets as fast as the walk",
    ),
    Contender(
        "MASTER",
        _master,
        RADII[1::2],
        note=f"radius of WSB-LinUCB; margins of the tests {MASTER_FACTOR:g} times it",
        slow=True,
    ),
)

#: The benchmark's policies by name.
CONTENDERS = {contender.name: contender for contender in _LIST}
