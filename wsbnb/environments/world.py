"""An environment (the rules) and a world (one trial drawn from them)."""

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wsbnb import _validate as validate
from wsbnb._types import Any, Array, Generator, Iterator, RootSeed
from wsbnb.environments._base import Specification, check_type, spans
from wsbnb.environments._trajectories import child, stream
from wsbnb.environments.arms import ArmRule
from wsbnb.environments.clicks import Clicks
from wsbnb.environments.noise import NoiseRule
from wsbnb.environments.paths import PathRule
from wsbnb.environments.rewards import LinearRewards, RewardRule

# The environment's own streams live on a branch of the trial's SeedSequence that
# neither `SeedSequence.spawn` (0, 1, 2, ...) nor a named generator reaches.
_BRANCH = zlib.crc32(b"wsbnb.environments")
_PATH, _ARMS, _NOISE = 0, 1, 2


@dataclass(frozen=True, eq=False, repr=False)
class Environment(Specification):
    r"""A non-stationary linear bandit problem, as data (paper, section 2.1).

    In round t the learner sees K arms with :math:`\lVert x\rVert \le L`, picks one and
    gets :math:`r_t = \langle x_t, \theta_t\rangle + \varepsilon_t` with
    :math:`\lVert\theta_t\rVert \le S`.

    Parameters
    ----------
    path : PathRule
        How :math:`\theta_t` moves.
    arms : ArmRule
        How the arm sets are made.
    noise : NoiseRule
        The law of :math:`\varepsilon_t`.
    horizon : int
        Number of rounds T.
    dim : int
        Dimension d.
    arm_bound, param_bound : float, default 1
        The bounds L and S. Drawn arms and parameters have exactly these norms; given
        ones are checked against them.
    rewards : RewardRule, default LinearRewards()
        How mean rewards follow from inner products.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> env = we.Environment(
    ...     path=we.AbruptPath(we.OrthogonalAnchors(4)),
    ...     arms=we.FixedArms(48),
    ...     noise=we.GaussianNoise(0.5),
    ...     horizon=4000,
    ...     dim=6,
    ... )
    >>> round(env.variation, 6)  # 3 sqrt(2), the same in every trial
    4.242641
    >>> env.world(seed=0).parameters(0, 4000).shape
    (4000, 6)
    """

    path: PathRule
    arms: ArmRule
    noise: NoiseRule
    horizon: int
    dim: int
    arm_bound: float = 1.0
    param_bound: float = 1.0
    rewards: RewardRule = LinearRewards()

    def __post_init__(self) -> None:
        check_type("path", self.path, PathRule)
        check_type("arms", self.arms, ArmRule)
        check_type("noise", self.noise, NoiseRule)
        check_type("rewards", self.rewards, RewardRule)
        self._set(
            horizon=validate.integer("horizon", self.horizon),
            dim=validate.integer("dim", self.dim),
            arm_bound=validate.positive("arm_bound", self.arm_bound),
            param_bound=validate.positive("param_bound", self.param_bound),
        )
        self.path.check(self.horizon, self.dim, self.param_bound)
        self.arms.check(self.horizon, self.dim, self.arm_bound)
        self.rewards.check(self.arm_bound * self.param_bound)
        if isinstance(self.noise, Clicks) and type(self.rewards) is not LinearRewards:
            raise ValueError(
                "rewards must be LinearRewards() with Clicks, whose link says how arms "
                f"pay, got {self.rewards!r}"
            )

    @cached_property
    def variation(self) -> float | None:
        r""":math:`B_T = \sum_t \lVert\theta_t - \theta_{t+1}\rVert`, or None.

        None means that it differs from trial to trial; ask `World.variation`.
        """
        return self.path.variation(self.horizon, self.dim, self.param_bound)

    @property
    def n_arms(self) -> int | None:
        """Number of arms K, or None where only a callable knows (ask the world)."""
        return getattr(self.arms, "count", None)

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise; the largest, if it depends on the arm."""
        return self.noise.std

    def outcomes(self, products: Array, noise: Array) -> tuple[Array, Array, Array]:
        """Mean rewards of arms, what they pay besides the noise, and the noise.

        Parameters
        ----------
        products : array of shape (n, K)
            Inner products of the arms with the parameter.
        noise : array of shape (n,)
            As the noise rule draws it.
        """
        if isinstance(self.noise, Clicks):  # a coin and not something to add
            return self.noise.outcomes(products, noise)
        means = validate.matrix(
            "rewards.means(products)", self.rewards.means(products), *products.shape
        )
        return means, means, noise

    def world(self, seed: RootSeed) -> "World":
        """Draw one trial.

        Parameters
        ----------
        seed : int or numpy.random.SeedSequence
            Equal seeds give equal worlds, bit for bit.

        Returns
        -------
        World
        """
        return World(self, seed)


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rounds of a world.

    Attributes
    ----------
    start : int
        First round of the block; rounds count from 0.
    theta : ndarray, shape (n, d)
        Parameter of each round.
    arms : ndarray, shape (d, K) or (n, d, K)
        Arms as columns, C-contiguous; the short form where they never change.
    noise : ndarray, shape (n,)
        Noise of each round, shared by all arms.
    """

    start: int
    theta: np.ndarray
    arms: np.ndarray
    noise: np.ndarray

    @property
    def stop(self) -> int:
        """The round after the last one of the block."""
        return self.start + len(self.noise)


class World:
    """One trial of an environment: a path, arm sets and noise, fixed by the seed.

    Nothing of the size of the horizon is stored unless the path was given as an array.
    Path, arms and noise have generators of their own, children 0, 1 and 2 of one branch
    of the trial's SeedSequence, so that changing one rule leaves the others' draws as
    they were.

    Parameters
    ----------
    environment : Environment
        The rules.
    seed : int or numpy.random.SeedSequence
        The trial's seed. It is copied, never spawned from.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> world = we.paper_environment("abrupt", dim=2, horizon=8).world(0)
    >>> world.change_points
    [2, 4, 6]
    >>> [(b.start, b.stop, b.theta.shape) for b in world.blocks(5)]
    [(0, 5, (5, 2)), (5, 8, (3, 2))]
    """

    def __init__(self, environment: Environment, seed: RootSeed) -> None:
        self.environment = check_type("environment", environment, Environment)
        self.seed = _seed_sequence(seed)
        self._path = environment.path.realise(
            self._child(_PATH), self.horizon, self.dim, environment.param_bound
        )

    def __repr__(self) -> str:
        seed = f"entropy={self.seed.entropy}, spawn_key={self.seed.spawn_key}"
        return f"World({self.environment!r}, {seed})"

    def __reduce__(self) -> tuple[Any, ...]:
        return World, (self.environment, self.seed)

    @property
    def horizon(self) -> int:
        """Number of rounds T."""
        return self.environment.horizon

    @property
    def dim(self) -> int:
        """Dimension d."""
        return self.environment.dim

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise."""
        return self.environment.noise_std

    @cached_property
    def n_arms(self) -> int:
        """Number of arms K."""
        env = self.environment
        rng = stream(self._child(_ARMS))
        return env.arms.count_arms(rng, self.horizon, self.dim, env.arm_bound)

    @cached_property
    def variation(self) -> float:
        r"""Exact :math:`B_T = \sum_t \lVert\theta_t-\theta_{t+1}\rVert` of this trial.

        The environment's value where that is the same in every trial.
        """
        shared = self.environment.variation
        return self._path.variation if shared is None else shared

    @property
    def change_points(self) -> list[int]:
        """Rounds (from 0) whose parameter jumped, for abrupt paths; else empty."""
        return list(self._path.change_points)

    def parameters(self, start: int, stop: int) -> Array:
        """Parameters of rounds start, ..., stop - 1, shape (stop - start, d)."""
        start = validate.integer("start", start, minimum=0)
        stop = validate.integer("stop", stop, minimum=start)
        if stop > self.horizon:
            raise ValueError(f"stop must be at most {self.horizon}, got {stop}")
        return self._parameters(start, stop)

    def _parameters(self, start, stop):
        """Rounds of the path, checked: compiled code would read beyond a short one."""
        rows = self._path.parameters(start, stop)
        if start == stop:
            return rows
        name = f"parameters({start}, {stop}) of the path"
        return validate.matrix(name, rows, stop - start, self.dim)

    def blocks(self, size: int = 1024) -> Iterator[Block]:
        """Iterate over all rounds in blocks of `size` (the last may be shorter).

        The rounds are the same bits for every size and every call. Arrays belong to
        the caller; arms that never change are one array for the whole iteration.

        Parameters
        ----------
        size : int, default 1024
            Rounds per block.

        Yields
        ------
        Block
        """
        return self._blocks(validate.integer("size", size))

    def _blocks(self, size):
        env = self.environment
        sets = iter(
            env.arms.blocks(
                stream(self._child(_ARMS)), self.horizon, self.dim, env.arm_bound, size
            )
        )
        noise = stream(self._child(_NOISE))
        count = None
        for start, stop in spans(self.horizon, size):
            arms = self._arms(next(sets, None), start, stop, count)
            count = arms.shape[-1]
            yield Block(
                start,
                self._parameters(start, stop),
                arms,
                validate.vector(
                    "noise.sample(rng, n)",
                    env.noise.sample(noise, stop - start),
                    dim=stop - start,
                ),
            )

    def _arms(self, arms, start, stop, count):
        """The arms of some rounds, as many as before, checked for the same reason."""
        name = f"arms.blocks for rounds {start} to {stop - 1}"
        if arms is None:
            raise ValueError(f"{name} must yield an array, got no more")
        if not _is_plain(arms):
            arms = validate.finite_array(name, arms)
        shape = (stop - start, self.dim, count or "K")
        allowed = [shape[1:]] if self.environment.arms.fixed else [shape[1:], shape]
        if not any(_fits(arms.shape, one) for one in allowed):
            words = " or ".join(str(one).replace("'", "") for one in allowed)
            raise ValueError(f"{name} must have shape {words}, got {arms.shape}")
        return arms

    def generator(self, name: str) -> Generator:
        """A fresh generator for a named purpose, such as "exploration" or "prior".

        The same trial and name give the same stream at every call; it disturbs no
        other stream.

        Parameters
        ----------
        name : str
            The purpose.

        Returns
        -------
        numpy.random.Generator
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {name!r}")
        return stream(child(self.seed, zlib.crc32(name.encode())))

    def _child(self, number):
        return child(self.seed, _BRANCH, number)


def _fits(shape, wanted):
    """Whether a shape is as wanted, with any positive number for the last axis."""
    *rest, last = wanted
    same = shape == wanted if last != "K" else shape[:-1] == tuple(rest)
    return same and 0 not in shape


def _is_plain(array):
    """Whether compiled code can read an array as it is."""
    plain = type(array) is np.ndarray and array.dtype == np.float64
    return plain and array.flags.c_contiguous and validate.all_finite(array)


def _seed_sequence(seed):
    if isinstance(seed, np.random.SeedSequence):
        return child(seed)
    return np.random.SeedSequence(validate.seed("seed", seed))
