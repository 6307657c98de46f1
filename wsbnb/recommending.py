"""From what a user knows to a policy with settings, by the benchmark of worlds.

The numbers are in `_guide`, which is written from the record of the benchmark; a test
compares the two.
"""

import math
from dataclasses import dataclass

import numpy as np

from wsbnb import _guide, _validate
from wsbnb._types import Any, ArrayLike, Callable, Seed
from wsbnb.adaptive.changes import ChangePoints
from wsbnb.adaptive.grid import LONG, discount_grid
from wsbnb.adaptive.mixture import DiscountMixture
from wsbnb.adaptive.surprise import SurpriseRestart
from wsbnb.fitting import LogFit, fit_log
from wsbnb.policies import named
from wsbnb.policies.base import Policy
from wsbnb.policies.theory import outside_on_purpose

__all__ = ["Recommendation", "recommend"]

MOVES = ("still", "jumps", "drift", "unknown")
_SOURCES = {
    "still": "worlds that stand still",
    "jumps": "worlds that jump",
    "drift": "worlds that drift",
    "unknown": "worlds of all kinds",
}


@dataclass(frozen=True, eq=False)
class Recommendation:
    """A policy, ready to play, and why.

    Attributes
    ----------
    policy : Policy
    name : str
        As in the benchmark.
    scale, memory : float
        The factor on the exploration, and the rounds remembered.
    ratio, low, high : float
        Its regret over that of the best policy tuned in hindsight: geometric mean over
        the benchmark's worlds of the kind, with a 95 % interval over trials.
    worst, worst_world : float, str
        The world of that kind in which it did worst, and the ratio there.
    world : str
        The world most like yours, by dimension, arms and noise.
    reason : str
    alternatives : tuple of str
        The next policies of the same list.
    fit : LogFit or None
        What the log said, if there was one.

    Examples
    --------
    >>> import wsbnb
    >>> wsbnb.recommend(6, noise_std=0.4, moves="jumps").name
    'Change points'
    """

    policy: Policy
    name: str
    scale: float
    memory: float
    ratio: float
    low: float
    high: float
    worst: float
    worst_world: str
    world: str
    reason: str
    alternatives: tuple[str, ...]
    fit: LogFit | None = None

    def __repr__(self) -> str:
        return f"Recommendation({self.name}: {self.reason})"


def recommend(
    dim: int,
    *,
    noise_std: float | None = None,
    moves: str = "unknown",
    n_arms: int | None = None,
    horizon: int | None = None,
    prior_mean: ArrayLike | None = None,
    prior_cov: ArrayLike = 1.0,
    log: tuple[ArrayLike, ArrayLike] | None = None,
    trust_noise: bool = False,
    rng: Seed = None,
) -> Recommendation:
    """A policy with settings, from what you know.

    Parameters
    ----------
    dim : int
        Number of features.
    noise_std : float, optional
        Standard deviation of a reward about its mean. Needed without a log.
    moves : {"still", "jumps", "drift", "unknown"}
        How the parameter moves, as far as you know.
    n_arms : int, optional
        Arms per round; finds the world most like yours.
    horizon : int, optional
        Rounds to play, if known.
    prior_mean, prior_cov
        As in :class:`WSBLinTS`; by default zero and the identity.
    log : tuple of arrays (X, rewards), optional
        Arms played in the past, in order, and their rewards. Noise level and prior are
        then taken from :func:`fit_log`, and the memory too where a policy has a fixed
        one.
    trust_noise : bool, default False
        Whether the noise is about normal and `noise_std` right within some ten per
        cent. Then only worlds of that sort count.
    rng : None, int, SeedSequence or Generator
        For the policy.

    Returns
    -------
    Recommendation

    Notes
    -----
    The advice is as good as the likeness of your world to the benchmark's: arms and
    parameters of length about 1, and 4000 rounds. Scale features and rewards first.

    Examples
    --------
    >>> import wsbnb
    >>> advice = wsbnb.recommend(6, noise_std=0.4, moves="jumps", n_arms=48)
    >>> advice.world
    'rare jumps'
    >>> k = advice.policy.pull([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]])
    """
    dim = _validate.integer("dim", dim)
    _validate.choice("moves", moves, MOVES)
    if n_arms is not None:
        n_arms = _validate.integer("n_arms", n_arms)
    if horizon is not None:
        horizon = _validate.integer("horizon", horizon)
    trust = _validate.flag("trust_noise", trust_noise)
    mean = np.zeros(dim) if prior_mean is None else prior_mean
    mean = _validate.vector("prior_mean", mean, dim=dim)
    prior: dict[str, Any] = {"prior_mean": mean, "prior_cov": prior_cov}
    prior["noise_std"] = noise_std
    fit = _fitted(log, dim)
    if fit is not None:
        prior = fit.prior if noise_std is None else fit.prior | {"noise_std": noise_std}
    elif noise_std is None:
        raise ValueError("noise_std must be given where there is no log, got None")
    prior["noise_std"] = _validate.positive("noise_std", prior["noise_std"])
    rows = [row for row in _guide.ROWS if (row.moves, row.trusted) == (moves, trust)]
    first = rows[0]
    memory = fit.memory if fit is not None and first.fixed else first.memory
    with outside_on_purpose():
        build = BUILDERS[first.policy]
        policy = build(prior, first.scale, memory, horizon).clone(rng)
    world = _most_like(first.by_world, dim, n_arms, prior["noise_std"])
    return Recommendation(
        policy=policy,
        name=first.policy,
        scale=first.scale,
        memory=memory,
        ratio=first.ratio,
        low=first.low,
        high=first.high,
        worst=first.worst,
        worst_world=first.worst_world,
        world=world,
        reason=_reason(first, memory, world, fit),
        alternatives=tuple(
            dict.fromkeys(r.policy for r in rows if r.policy != first.policy)
        ),
        fit=fit,
    )


def _fitted(log, dim):
    if log is None:
        return None
    if not isinstance(log, tuple | list) or len(log) != 2:
        raise TypeError(f"log must be a pair (X, rewards), got {type(log).__name__}")
    X = _validate.matrix("log[0]", log[0], cols=dim)
    return fit_log(X, log[1])


def _most_like(names, dim, n_arms, noise_std):
    """The world of some that is nearest on logarithmic scales."""

    def distance(world):
        parts = [math.log(dim / world.dim), math.log(noise_std / world.noise_std)]
        if n_arms is not None:
            parts.append(0.5 * math.log(n_arms / world.n_arms))
        return sum(map(abs, parts))

    return min((w for w in _guide.WORLDS if w.name in names), key=distance).name


def _reason(row, memory, world, fit):
    remembered = f"it remembers {memory:.0f} rounds"
    if fit is not None and row.fixed:
        remembered += " (from the log)"
    if memory == math.inf:
        remembered = "it never forgets by itself"
    if row.policy.startswith("Discount mixture"):
        remembered = "it learns how long to remember"
    elif row.policy.startswith("Random-walk"):
        remembered = f"it follows as fast as a memory of {memory:.0f} rounds"
    elif row.policy.startswith("Change points"):
        remembered = "it looks for the beginning of the present"
    return (
        f"in {_SOURCES[row.moves]} its regret was {row.ratio:.2f} times that of the "
        f"best tuned in hindsight ({row.low:.2f} to {row.high:.2f}; at worst "
        f"{row.worst:.1f}, '{row.worst_world}'). Scale {row.scale:g}; {remembered}. "
        f"Your world is most like '{world}', where the ratio was "
        f"{row.by_world[world]:.2f}."
    )


# --- building -------------------------------------------------------------------------


def _discount(memory):
    return 1.0 - 1.0 / memory


def _sampler(cls: type) -> Callable[..., Any]:
    def build(prior: dict, scale: float, memory: float, horizon: int | None) -> Any:
        return cls(**prior, discount=_discount(memory), scale=scale)

    return build


def _optimist(cls: type, ridge: bool) -> Callable[..., Any]:
    def build(prior: dict, scale: float, memory: float, horizon: int | None) -> Any:
        words = dict(prior)
        if ridge:
            d = np.size(prior["prior_mean"])
            words = {"dim": d, "regularization": 1.0, "noise_std": prior["noise_std"]}
        delta = 1.0 / (horizon or LONG)
        words |= {"delta": delta, "horizon": horizon, "radius_scale": scale}
        return cls(**words, discount=_discount(memory))

    return build


def _surprise(cls: type) -> Callable[..., Any]:
    def build(prior: dict, scale: float, memory: float, horizon: int | None) -> Any:
        return SurpriseRestart(_sampler(cls)(prior, scale, memory, horizon))

    return build


def _mixture(cls: type) -> Callable[..., Any]:
    def build(prior: dict, scale: float, memory: float, horizon: int | None) -> Any:
        base = _sampler(cls)(prior, scale, math.inf, horizon)
        grid = discount_grid(horizon or LONG, dim=base.dim)
        return DiscountMixture(base, discounts=grid)

    return build


def _changes(cls: type) -> Callable[..., Any]:
    def build(prior: dict, scale: float, memory: float, horizon: int | None) -> Any:
        base = _sampler(cls)(prior, scale, math.inf, horizon)
        return ChangePoints(base)

    return build


def walk_rate(memory: float, dim: int, noise_std: float, prior_cov: ArrayLike) -> float:
    r"""The rate at which a walk follows as fast as a memory of so many rounds.

    With arms of length 1 in all directions alike, a round brings the information
    :math:`J=1/(d\sigma^2)` to each. A filter whose doubt grows by :math:`q\Sigma_0`
    then has the gain :math:`\sqrt{qJ\Sigma_0}`, and a discount has :math:`1/m`.

    Parameters
    ----------
    memory : float
        Rounds m; infinity gives 0.
    dim : int
    noise_std : float
    prior_cov : float, vector of variances or matrix

    Returns
    -------
    float
        The rate q of :class:`wsbnb.RandomWalkLinTS`.

    Examples
    --------
    >>> round(walk_rate(100, dim=4, noise_std=0.5, prior_cov=1.0), 6)
    0.0001
    """
    cov = np.asarray(prior_cov, dtype=float)
    variance = np.mean(np.diag(cov) if cov.ndim == 2 else cov)
    return float(dim * noise_std**2 / (memory**2 * variance))


def _walk(prior: dict, scale: float, memory: float, horizon: int | None) -> Any:
    dim = np.size(prior["prior_mean"])
    rate = walk_rate(memory, dim, prior["noise_std"], prior["prior_cov"])
    return named.RandomWalkLinTS(**prior, rate=rate, scale=scale)


#: How to build what the guide lists: from a prior, a scale, a memory and a horizon.
BUILDERS: dict[str, Callable[..., Any]] = {
    "D-LinUCB": _optimist(named.DLinUCB, ridge=True),
    "LB-WeightUCB": _optimist(named.LBWeightUCB, ridge=True),
    "WSB-LinUCB": _optimist(named.WSBLinUCB, ridge=False),
    "WSB-RandLinUCB": _sampler(named.WSBRandLinUCB),
    "WSB-LinTS": _sampler(named.WSBLinTS),
    "Surprise restart": _surprise(named.WSBLinTS),
    "Surprise restart, RandLinUCB": _surprise(named.WSBRandLinUCB),
    "Discount mixture": _mixture(named.WSBLinTS),
    "Discount mixture, RandLinUCB": _mixture(named.WSBRandLinUCB),
    "Change points": _changes(named.WSBLinTS),
    "Change points, RandLinUCB": _changes(named.WSBRandLinUCB),
    "Random-walk LinTS": _walk,
}
