"""The types that the signatures of this package share."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AnchorName",
    "Any",
    "ArmName",
    "Array",
    "ArrayLike",
    "Band",
    "Callable",
    "Constant",
    "Curves",
    "Exploration",
    "FilePath",
    "First",
    "FloatOrArray",
    "Form",
    "Generator",
    "IntArray",
    "Iterable",
    "Iterator",
    "Kind",
    "Lines",
    "Mapping",
    "Norm",
    "Penalty",
    "Perturbation",
    "Playable",
    "Policies",
    "Registered",
    "RootSeed",
    "Scenario",
    "Seed",
    "SeedSequence",
    "Self",
    "Sequence",
    "Split",
    "Trajectory",
    "TYPE_CHECKING",
    "TuningRule",
    "Word",
]

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
#: A float for one value, an array for several. Which one it is depends on shapes, which
#: a checker does not see: a union would have to be taken apart at every call.
FloatOrArray: TypeAlias = Any

Generator: TypeAlias = np.random.Generator
SeedSequence: TypeAlias = np.random.SeedSequence
#: Where one stream of random numbers starts.
Seed: TypeAlias = None | int | SeedSequence | Generator
#: What the streams of many trials are derived from.
RootSeed: TypeAlias = int | SeedSequence

FilePath: TypeAlias = str | os.PathLike[str]

#: Lines of a picture: name to (x, y), and name to y (or only one y).
Lines: TypeAlias = Mapping[str, tuple[ArrayLike, ArrayLike]]
Curves: TypeAlias = ArrayLike | Mapping[str, ArrayLike]

# Options given as words.
Split: TypeAlias = Literal["horizon", "none", "anytime"]
Constant: TypeAlias = Literal["trace", "lambda_max"]
Penalty: TypeAlias = Literal["cxv", "exact", "triangle", "static"]
Norm: TypeAlias = Literal["posterior", "local"]
Perturbation: TypeAlias = Literal["rectified", "gaussian", "half-normal", "radius"]
Form: TypeAlias = Literal["printed", "corrected", "sharp"]
Scenario: TypeAlias = Literal["abrupt", "slow", "still"]
AnchorName: TypeAlias = Literal["orthogonal", "independent", "plane"]
ArmName: TypeAlias = Literal["fixed", "redrawn"]
Exploration: TypeAlias = Literal["ucb", "thompson"]
TuningRule: TypeAlias = Exploration | Literal["sharp"]
First: TypeAlias = Literal["free", "printed"]
Band: TypeAlias = Literal["ci", "quantile"] | None

Word = TypeVar("Word")
Kind = TypeVar("Kind")
Registered = TypeVar("Registered", bound=type)


class Playable(Protocol):
    """Anything that can play: a policy of this package or an object of one's own."""

    def pull(self, X: Any, /) -> SupportsIndex: ...

    def update(self, x: Any, reward: Any, /) -> object: ...


#: A policy, or a function that builds one from a world.
_Player: TypeAlias = Playable | Callable[[Any], Playable]
Policies: TypeAlias = _Player | Sequence[_Player] | Mapping[str, _Player]


class Trajectory(Protocol):
    """The parameter over time, as a path rule draws it for one world."""

    def parameters(self, start: int, stop: int, /) -> Array: ...

    @property
    def variation(self) -> float: ...

    @property
    def change_points(self) -> Sequence[int]: ...
