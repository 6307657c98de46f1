"""Experiments as data: a setting, a player, and the cell they make.

Everything here is a frozen dataclass of plain numbers and words. That makes a cell
printable, comparable, and good as the key of a stored result.
"""

import math
from dataclasses import asdict, dataclass, fields

import numpy as np

from wsbnb import _validate, environments, exploration
from wsbnb._types import Any, Callable
from wsbnb.bounds import tuned_discount
from wsbnb.environments._base import length
from wsbnb.paper.algorithms import TABLE
from wsbnb.policies.base import Policy
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.posterior import LARGEST_DIM

#: What the parameter may do.
MOVES = ("abrupt", "slow", "still")
NOISES = {
    "gaussian": environments.GaussianNoise,
    "uniform": environments.UniformNoise,
    "rademacher": environments.RademacherNoise,
    "heavy": environments.BoundedHeavyNoise,
}
#: More rounds than this, a day of playing, are a mistake.
LONGEST = 10**11
DIRECTIONS = ("uniform", "ones", "axis", "anchor")
SCALE_RULES = ("plain", "sigma", "matched", "unmatched")


@dataclass(frozen=True)
class Setting:
    """The problem of a cell, in words that `paper_environment` understands.

    Parameters
    ----------
    scenario : {"abrupt", "slow", "still"}
        What the parameter really does.
    dim, horizon, n_arms : int
        d, T and K.
    noise_variance : float
    noise : {"gaussian", "uniform", "rademacher", "heavy"}
        The law of the noise; each is scaled to `noise_variance`.
    anchors, arms, closed_tour
        As in :func:`wsbnb.paper_environment`.

    Examples
    --------
    >>> Setting("abrupt", dim=2).environment().variation  # 3 sqrt(2)
    4.242640687119286
    """

    scenario: str
    dim: int
    horizon: int = 4000
    n_arms: int = 48
    noise_variance: float = 0.15
    noise: str = "gaussian"
    anchors: str = "orthogonal"
    arms: str = "fixed"
    closed_tour: bool = False

    def __post_init__(self) -> None:
        variance = _validate.nonnegative("noise_variance", self.noise_variance)
        object.__setattr__(self, "noise_variance", variance)  # an array has no hash
        _validate.integer("horizon", self.horizon, maximum=LONGEST)
        self.environment()  # it refuses by name what cannot be

    def environment(self) -> environments.Environment:
        """The environment that this setting describes.

        Returns
        -------
        Environment
        """
        _validate.choice("noise", self.noise, tuple(NOISES))
        env = environments.paper_environment(
            self.scenario,
            self.dim,
            self.horizon,
            self.n_arms,
            self.noise_variance,
            self.anchors,
            self.arms,
            self.closed_tour,
        )
        noise = NOISES[self.noise](self.noise_variance**0.5)
        return environments.Environment(
            env.path, env.arms, noise, self.horizon, self.dim
        )


#: What the fields of a player may be.
_WORDS = {
    "algorithm": tuple(TABLE),
    "prior_direction": DIRECTIONS,
    "scale_rule": SCALE_RULES,
    "split": exploration.SPLITS,
    "radius": exploration.RADII,
    "penalty": exploration.PENALTIES,
    "perturbation": exploration.LAWS,
}
_NUMBERS = {
    "variation": _validate.nonnegative,
    "variation_factor": _validate.positive,
    "regularization": _validate.ordinary,
    "prior_scale": _validate.ordinary,
    "prior_mean_norm": _validate.bounded,
    "delta": _validate.probability,
    "radius_scale": _validate.bounded,
    "scale": _validate.bounded,
    "noise_factor": _validate.ordinary,
    "length": _validate.integer,
}


@dataclass(frozen=True)
class Player:
    r"""An algorithm and how it is set.

    Parameters
    ----------
    algorithm : str
        One of the seven of the paper or of the baselines.
    variation : float, optional
        :math:`B_T` from which the discount is computed. Default: the exact value of
        the trial's path.
    variation_factor : float, default 1
        Multiplies it (a mis-specified :math:`B_T`).
    regularization : float, default 1
        :math:`\lambda` of the WRLS methods.
    prior_scale : float, default 1
        :math:`\Sigma_0` is this multiple of the identity (WSB methods).
    prior_mean_norm : float, default 0
        :math:`\lVert\mu_0\rVert`.
    prior_direction : {"uniform", "ones", "axis", "anchor"}
        Where :math:`\mu_0` points: anywhere (drawn per trial), along
        :math:`(1,\dots,1)`, along the first axis, or to the parameter of round 1.
    delta : float, optional
        Failure probability of the UCB methods. Default 1 / T.
    split, radius, penalty, radius_scale, perturbation
        As in :class:`wsbnb.WSBLinUCB` and :class:`wsbnb.WSBRandLinUCB`.
    scale : float, default 1
        The factor a of the randomised methods.
    scale_rule : {"plain", "sigma", "matched", "unmatched"}
        Multiply `scale` by 1, by :math:`\sigma`, by :math:`\sigma\sqrt{1+\gamma}`
        (makes a WRLS method sample as widely as a WSB method), or by
        :math:`1/(\sigma\sqrt{1+\gamma})` (the other way round).
    noise_factor : float, default 1
        The algorithm believes in this multiple of the true :math:`\sigma`.
    length : int, optional
        Window or period of the two baselines that have one. Default: the total
        weight of exponential forgetting, :math:`1/(1-\gamma)`.

    Examples
    --------
    >>> world = Setting("abrupt", dim=2).environment().world(0)
    >>> policy = Player("D-LinTS", scale_rule="matched").policy(world)
    >>> round(policy.discount, 5), round(policy.scale / (0.15 * 1.98358) ** 0.5, 5)
    (0.98358, 1.0)
    """

    algorithm: str
    variation: float | None = None
    variation_factor: float = 1.0
    regularization: float = 1.0
    prior_scale: float = 1.0
    prior_mean_norm: float = 0.0
    prior_direction: str = "uniform"
    delta: float | None = None
    split: str = "horizon"
    radius: str = "trace"
    penalty: str = "cxv"
    radius_scale: float = 1.0
    perturbation: str = "rectified"
    scale: float = 1.0
    scale_rule: str = "plain"
    noise_factor: float = 1.0
    length: int | None = None

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            _validate.choice(name, getattr(self, name), words)
        for name, check in _NUMBERS.items():
            value = getattr(self, name)
            if value is not None or name not in ("variation", "delta", "length"):
                object.__setattr__(self, name, check(name, value))

    @property
    def differs_by_trial(self) -> bool:
        """Whether the trial's world decides something (beyond its exact B_T)."""
        drawn = self.prior_direction in ("uniform", "anchor")
        return drawn and self.prior_mean_norm > 0 and self._row.estimator == "WSB"

    @property
    def _row(self):
        return TABLE[self.algorithm]

    def discount(self, world: environments.World) -> float:
        """The discount that the paper's rule gives in a world.

        Parameters
        ----------
        world : World

        Returns
        -------
        float
        """
        _validate.instance("world", world, environments.World)
        known = world.variation if self.variation is None else self.variation
        return tuned_discount(
            world.dim,
            world.horizon,
            known * self.variation_factor,
            rule=self._row.tuning,
            n_arms=world.n_arms,
        )

    def policy(self, world: environments.World) -> Policy:
        """The policy for one trial.

        Parameters
        ----------
        world : World

        Returns
        -------
        Policy
        """
        _validate.instance("world", world, environments.World)
        cls, known = self._row.cls, self._settings(world)
        wanted = {name: known[name] for name in cls._setting_names() if name in known}
        with outside_on_purpose():  # studies leave the theory; the chapters say where
            return cls(**wanted)

    def _settings(self, world):
        """Everything that some algorithm may ask for, by its name."""
        sigma = self.noise_factor * world.noise_std
        gamma = self.discount(world)
        forgets = "discount" in self._row.cls._setting_names()
        length = self.length or round(1.0 / (1.0 - gamma))
        return {
            "dim": world.dim,
            "regularization": self.regularization,
            "prior_mean": self.prior_mean_norm * _direction(self, world),
            "prior_cov": self.prior_scale,
            "noise_std": sigma,
            "discount": gamma,
            "length": length,
            "period": length,
            "delta": 1.0 / world.horizon if self.delta is None else self.delta,
            "horizon": world.horizon,
            "split": self.split,
            "radius": self.radius,
            "penalty": self.penalty,
            "radius_scale": self.radius_scale,
            "perturbation": self.perturbation,
            "scale": self._scale(gamma if forgets else 1.0, sigma),
        }

    def _scale(self, gamma, sigma):
        matched = sigma * math.sqrt(1.0 + gamma)
        factors = {"plain": 1.0, "sigma": sigma, "matched": matched}
        return self.scale * factors.get(self.scale_rule, 1.0 / matched)


def _direction(player, world):
    """A unit vector; the uniform one has a stream of its own in every trial."""
    rule, d = player.prior_direction, world.dim
    if not player.prior_mean_norm:
        return np.zeros(d)
    if rule == "uniform":
        drawn = world.generator("prior").standard_normal(d)
    elif rule == "ones":
        drawn = np.ones(d)
    elif rule == "axis":
        drawn = np.eye(d)[0]
    else:
        drawn = world.parameters(0, 1)[0]
    return drawn / length(drawn)


@dataclass(frozen=True)
class Cell:
    """One number of a table: a player in a setting.

    Parameters
    ----------
    setting : Setting
    player : Player

    Examples
    --------
    >>> cell = Cell(Setting("still", dim=4), Player("LinUCB"))
    >>> cell.settings()["setting"]["dim"]
    4
    """

    setting: Setting
    player: Player

    def __post_init__(self) -> None:
        _validate.instance("setting", self.setting, Setting)
        _validate.instance("player", self.player, Player)

    def settings(self) -> dict[str, Any]:
        """All settings as nested dicts of plain values.

        Returns
        -------
        dict
        """
        return {"setting": asdict(self.setting), "player": asdict(self.player)}

    def template(
        self, environment: environments.Environment
    ) -> Policy | Callable[[environments.World], Policy]:
        """A policy, or a function of the world where trials differ.

        Parameters
        ----------
        environment : Environment
            Of the cell's own setting.

        Returns
        -------
        Policy or callable
        """
        _validate.instance("environment", environment, environments.Environment)
        exact = self.player.variation is None and environment.variation is None
        if exact or self.player.differs_by_trial:
            return self.player.policy
        return self.player.policy(environment.world(0))


# --- lists that many studies take -------------------------------------------------


def dimensions(dims: Any) -> list[int]:
    """Dimensions, of which anchors at right angles need two at least."""
    several = _validate.several("dims", dims)
    return [dimension("dims", d) for d in several]


def dimension(name: str, value: Any) -> int:
    """One of them, for which a posterior can be made."""
    return _validate.integer(name, value, minimum=2, maximum=LARGEST_DIM)


def words(name: str, values: Any, allowed: Any) -> list[str]:
    """Words of a vocabulary, at least one."""
    several = _validate.several(name, values)
    if not several:
        raise ValueError(f"{name} must hold at least one word, got none")
    return [_validate.choice(name, value, tuple(allowed)) for value in several]


def numbers(name: str, values: Any, check: Any = _validate.positive) -> list[Any]:
    """Numbers that a check lets pass."""
    return [check(name, value) for value in _validate.several(name, values)]


def changed(cell: Cell, **changes: Any) -> Cell:
    """A copy of a cell with some fields of its setting or its player replaced.

    Parameters
    ----------
    cell : Cell
    **changes
        Field names of :class:`Setting` or :class:`Player` and their new values.

    Returns
    -------
    Cell

    Examples
    --------
    >>> cell = Cell(Setting("abrupt", dim=2), Player("WSB-LinTS"))
    >>> changed(cell, dim=4, scale=2.0).player.scale
    2.0
    """
    _validate.instance("cell", cell, Cell)
    known = {f.name for f in fields(Setting)} | {f.name for f in fields(Player)}
    for name in changes:
        _validate.choice("changes", name, tuple(sorted(known)))
    parts = {}
    for part in ("setting", "player"):
        old = getattr(cell, part)
        own = {f.name for f in fields(old)} & set(changes)
        parts[part] = type(old)(**{**asdict(old), **{n: changes[n] for n in own}})
    return Cell(**parts)
