"""Arm sets: what the learner may choose from in each round.

Inside the simulation arms are stored as columns, (d, K) or (n, d, K): the arm index
is the contiguous axis, over which the compiled loops run. Users give rows, (K, d).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from wsbnb import _validate as validate
from wsbnb._types import Array, Generator, Iterator
from wsbnb.environments._base import (
    Specification,
    check_norms,
    random_unit_columns,
    spans,
)


class ArmRule(Specification):
    """Says how the arms of one trial are made."""

    @property
    def fixed(self) -> bool:
        """Whether the same arms are offered in every round of a trial."""
        return False

    def check(self, horizon: int, dim: int, bound: float) -> None:
        """Raise where the rule cannot work for this horizon, dimension and bound."""

    def count_arms(self, rng: Generator, horizon: int, dim: int, bound: float) -> int:
        """Number of arms K; `rng` is a fresh generator of the trial's arms."""
        return self.count

    def blocks(
        self, rng: Generator, horizon: int, dim: int, bound: float, size: int
    ) -> Iterator[Array]:
        """Yield arms for consecutive blocks of `size` rounds: (d, K) or (n, d, K)."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class FixedArms(ArmRule):
    """Arms uniform on the sphere of radius L, drawn once per trial.

    Parameters
    ----------
    count : int
        Number of arms K.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path, noise = we.StationaryPath(), we.GaussianNoise(1.0)
    >>> world = we.Environment(path, we.FixedArms(8), noise, 100, 3).world(0)
    >>> [block.arms.shape for block in world.blocks(60)]
    [(3, 8), (3, 8)]
    """

    count: int

    #: They are.
    fixed = True

    def __post_init__(self) -> None:
        self._set(count=validate.integer("count", self.count))

    def blocks(
        self, rng: Generator, horizon: int, dim: int, bound: float, size: int
    ) -> Iterator[Array]:
        return repeat(bound * random_unit_columns(rng, (dim, self.count)))


@dataclass(frozen=True, eq=False, repr=False)
class RedrawnArms(ArmRule):
    """Arms uniform on the sphere of radius L, drawn afresh in every round.

    Parameters
    ----------
    count : int
        Number of arms K.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path, noise = we.StationaryPath(), we.GaussianNoise(1.0)
    >>> world = we.Environment(path, we.RedrawnArms(8), noise, 100, 3).world(0)
    >>> [block.arms.shape for block in world.blocks(60)]
    [(60, 3, 8), (40, 3, 8)]
    """

    count: int

    def __post_init__(self) -> None:
        self._set(count=validate.integer("count", self.count))

    def blocks(
        self, rng: Generator, horizon: int, dim: int, bound: float, size: int
    ) -> Iterator[Array]:
        for start, stop in spans(horizon, size):
            yield bound * random_unit_columns(rng, (stop - start, dim, self.count))


@dataclass(frozen=True, eq=False, repr=False)
class ClusteredArms(ArmRule):
    r"""Correlated arms: a few directions, and each arm close to one of them.

    Drawn once per trial. Arm k belongs to group k mod `groups`. It is
    :math:`c + \mathrm{spread}\,u`, scaled to length L, with the group's direction c and
    its own direction u both uniform on the unit sphere. The smaller the spread, the
    more arms look alike.

    Parameters
    ----------
    count : int
        Number of arms K.
    groups : int
        Number of directions, at most K.
    spread : float
        Zero or positive, below 1.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path, noise = we.StationaryPath(), we.GaussianNoise(1.0)
    >>> arms = we.ClusteredArms(12, groups=3, spread=0.1)
    >>> X = next(we.Environment(path, arms, noise, 100, 4).world(0).blocks()).arms
    >>> bool(X[:, 0] @ X[:, 3] > 0.97)  # two arms of one group
    True
    """

    count: int
    groups: int
    spread: float

    #: They are.
    fixed = True

    def __post_init__(self) -> None:
        count = validate.integer("count", self.count)
        groups = validate.integer("groups", self.groups, maximum=count)
        spread = validate.nonnegative("spread", self.spread)
        if spread >= 1.0:
            raise ValueError(f"spread must be below 1, got {spread!r}")
        self._set(count=count, groups=groups, spread=spread)

    def blocks(
        self, rng: Generator, horizon: int, dim: int, bound: float, size: int
    ) -> Iterator[Array]:
        centres = random_unit_columns(rng, (dim, self.groups))
        own = random_unit_columns(rng, (dim, self.count))
        arms = centres[:, np.arange(self.count) % self.groups] + self.spread * own
        return repeat(bound * arms / np.linalg.norm(arms, axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class GivenArms(ArmRule):
    """Your own arms, the same in every trial.

    Parameters
    ----------
    array : array_like, shape (K, d) or (T, K, d)
        One arm per row, each of norm at most L; the longer form has a set per round.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> we.GivenArms([[1.0, 0.0], [0.0, 1.0]]).count
    2
    """

    array: np.ndarray

    def __post_init__(self) -> None:
        self._set(array=_as_arms("array", self.array, dims=(2, 3)))

    @property
    def count(self) -> int:
        """Number of arms K."""
        return self.array.shape[-2]

    @property
    def fixed(self) -> bool:
        """Whether there is one set for all rounds."""
        return self.array.ndim == 2

    def check(self, horizon: int, dim: int, bound: float) -> None:
        if self.array.shape[-1] != dim:
            raise ValueError(
                f"arms must have {dim} columns, got an array of shape "
                f"{self.array.shape}"
            )
        if self.array.ndim == 3 and self.array.shape[0] != horizon:
            raise ValueError(
                f"arms must have one set for each of {horizon} rounds, got "
                f"{self.array.shape[0]} sets"
            )
        words = "arms: row {}" if self.array.ndim == 2 else "arms: round {}, row {}"
        check_norms(self.array, bound, "arm_bound", words.format)

    def blocks(
        self, rng: Generator, horizon: int, dim: int, bound: float, size: int
    ) -> Iterator[Array]:
        if self.array.ndim == 2:
            return repeat(_columns(self.array))
        return (_columns(self.array[a:b]) for a, b in spans(horizon, size))


@dataclass(frozen=True, eq=False, repr=False)
class CallableArms(ArmRule):
    """Arms computed by your own function.

    Parameters
    ----------
    function : callable
        `f(rng, start, stop, dim)` returns the arms of rounds start, ..., stop - 1 as
        an array of shape (stop - start, K, dim), each of norm at most L, with the same
        K throughout. It is called for ranges of 64 rounds in order, always the same
        ranges whatever the block size, with one generator per trial.

    Notes
    -----
    Values are checked against L as they are produced. The rule can be pickled where
    the function can.

    Examples
    --------
    >>> import numpy as np
    >>> import wsbnb.environments as we
    >>> def corners(rng, start, stop, dim):
    ...     signs = rng.choice([-1.0, 1.0], size=(stop - start, 5, dim))
    ...     return signs / np.sqrt(dim)
    >>> path, noise = we.StationaryPath(), we.GaussianNoise(1.0)
    >>> env = we.Environment(path, we.CallableArms(corners), noise, 100, 3)
    >>> env.world(0).n_arms
    5
    """

    function: Callable

    _CHUNK = 64

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")

    def count_arms(self, rng: Generator, horizon: int, dim: int, bound: float) -> int:
        return next(self._chunks(rng, horizon, dim, bound)).shape[2]

    def blocks(
        self, rng: Generator, horizon: int, dim: int, bound: float, size: int
    ) -> Iterator[Array]:
        chunks = self._chunks(rng, horizon, dim, bound)
        held = next(chunks)
        for start, stop in spans(horizon, size):
            pieces = [held[: stop - start]]
            held = held[stop - start :]
            missing = stop - start - len(pieces[0])
            while missing:
                chunk = next(chunks)
                pieces.append(chunk[:missing])
                held = chunk[missing:]
                missing -= len(pieces[-1])
            yield np.concatenate(pieces)

    def _chunks(self, rng, horizon, dim, bound):
        count = None
        for start, stop in spans(horizon, self._CHUNK):
            arms = self.function(rng, start, stop, dim)
            arms = _as_arms(f"arms of rounds {start} to {stop - 1}", arms, dims=(3,))
            count = count or arms.shape[1]
            if arms.shape != (stop - start, count, dim):
                raise ValueError(
                    f"arms of rounds {start} to {stop - 1} must have shape "
                    f"{(stop - start, count, dim)}, got {arms.shape}"
                )
            check_norms(
                arms,
                bound,
                "arm_bound",
                lambda i, k, start=start: f"arms: round {start + i}, row {k}",
            )
            yield _columns(arms)


def _as_arms(name, value, dims):
    """A finite float64 copy with one of the allowed numbers of axes."""
    array = validate.finite_array(name, value)
    if array.ndim not in dims or 0 in array.shape:
        allowed = " or ".join({2: "(K, d)", 3: "(rounds, K, d)"}[n] for n in dims)
        raise ValueError(f"{name} must have shape {allowed}, got {array.shape}")
    return array


def _columns(arms):
    """(..., K, d) to contiguous (..., d, K), always a copy."""
    return np.array(np.swapaxes(arms, -1, -2), order="C")
