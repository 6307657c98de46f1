"""Anchors: the points that an abrupt or slow parameter path visits."""

from dataclasses import dataclass

import numpy as np

from wsbnb import _validate as validate
from wsbnb._types import Array, Generator
from wsbnb.environments._base import (
    Specification,
    check_norms,
    random_tangent,
    random_unit,
)


class AnchorRule(Specification):
    """Says how the anchors of one trial are drawn. Has `count`, the number of them."""

    def check(self, dim: int, bound: float) -> None:
        """Raise where the rule cannot work in `dim` dimensions within `bound`."""

    def draw(self, rng: Generator, dim: int, bound: float) -> Array:
        """The anchors of one trial, shape (count, dim)."""
        raise NotImplementedError

    def step_lengths(self, bound: float) -> Array | None:
        """Distances of consecutive anchors, or None where they differ by trial."""
        return np.zeros(0) if self.count == 1 else None

    def representative(self, dim: int, bound: float) -> Array | None:
        """Anchors equal to every trial's up to a rotation, or None."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class RandomAnchors(AnchorRule):
    """Independent anchors, each uniform on the sphere of radius S.

    Parameters
    ----------
    count : int
        Number of anchors.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import RandomAnchors
    >>> anchors = RandomAnchors(4).draw(np.random.default_rng(0), dim=3, bound=2.0)
    >>> np.linalg.norm(anchors, axis=1).round(12)
    array([2., 2., 2., 2.])
    """

    count: int

    def __post_init__(self) -> None:
        self._set(count=validate.integer("count", self.count))

    def draw(self, rng: Generator, dim: int, bound: float) -> Array:
        return bound * np.array([random_unit(rng, dim) for _ in range(self.count)])


@dataclass(frozen=True, eq=False, repr=False)
class OrthogonalAnchors(AnchorRule):
    r"""Each anchor orthogonal to the one before it.

    The first is uniform on the sphere of radius S, each next one uniform among the
    points of that sphere orthogonal to the previous. Every step then has length
    :math:`\sqrt2\,S`, so that an abrupt path over m anchors has
    :math:`B_T = (m-1)\sqrt2\,S` in every trial and every dimension.

    Parameters
    ----------
    count : int
        Number of anchors. More than one needs at least two dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import OrthogonalAnchors
    >>> a = OrthogonalAnchors(4).draw(np.random.default_rng(0), dim=5, bound=1.0)
    >>> [abs(round(float(a[i] @ a[i + 1]), 12)) for i in range(3)]
    [0.0, 0.0, 0.0]
    """

    count: int

    def __post_init__(self) -> None:
        self._set(count=validate.integer("count", self.count))

    def check(self, dim: int, bound: float) -> None:
        _needs_two_dimensions(self, dim)

    def draw(self, rng: Generator, dim: int, bound: float) -> Array:
        points = [random_unit(rng, dim)]
        for _ in range(self.count - 1):
            points.append(random_tangent(rng, points[-1]))
        return bound * np.array(points)

    def step_lengths(self, bound: float) -> Array | None:
        return np.full(self.count - 1, np.sqrt(2.0) * bound)


@dataclass(frozen=True, eq=False, repr=False)
class PlaneAnchors(AnchorRule):
    """Quarter turns on one random great circle: u, v, -u, -v, u, ...

    u is uniform on the sphere of radius S and v uniform among the points orthogonal
    to u. In two dimensions four anchors make a square.

    Parameters
    ----------
    count : int
        Number of anchors. More than one needs at least two dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import PlaneAnchors
    >>> a = PlaneAnchors(4).draw(np.random.default_rng(0), dim=3, bound=1.0)
    >>> bool((a[2] == -a[0]).all() and (a[3] == -a[1]).all())
    True
    """

    count: int

    def __post_init__(self) -> None:
        self._set(count=validate.integer("count", self.count))

    def check(self, dim: int, bound: float) -> None:
        _needs_two_dimensions(self, dim)

    def draw(self, rng: Generator, dim: int, bound: float) -> Array:
        first = random_unit(rng, dim)
        if self.count == 1:
            return bound * first[None, :]
        return bound * self._turns(first, random_tangent(rng, first))

    def step_lengths(self, bound: float) -> Array | None:
        return np.full(self.count - 1, np.sqrt(2.0) * bound)

    def representative(self, dim: int, bound: float) -> Array | None:
        axes = np.eye(max(dim, 2))[:, :dim]
        return bound * self._turns(axes[0], axes[1])

    def _turns(self, first, second):
        corners = np.array([first, second, -first, -second])
        return corners[np.arange(self.count) % 4]


@dataclass(frozen=True, eq=False, repr=False)
class RecurringAnchors(AnchorRule):
    """A few places, visited again and again in random order.

    The places are independent and uniform on the sphere of radius S. Each next one is
    uniform among the places other than the present one.

    Parameters
    ----------
    count : int
        Number of visits.
    places : int, default 3
        Number of places, at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import RecurringAnchors
    >>> a = RecurringAnchors(20, places=3).draw(np.random.default_rng(0), 4, 1.0)
    >>> len(np.unique(a, axis=0)), bool((a[1:] != a[:-1]).any(axis=1).all())
    (3, True)
    """

    count: int
    places: int = 3

    def __post_init__(self) -> None:
        self._set(
            count=validate.integer("count", self.count),
            places=validate.integer("places", self.places, minimum=2),
        )

    def draw(self, rng: Generator, dim: int, bound: float) -> Array:
        places = bound * np.array([random_unit(rng, dim) for _ in range(self.places)])
        steps = rng.integers(1, self.places, size=self.count)  # never to itself
        return places[np.cumsum(steps) % self.places]


@dataclass(frozen=True, eq=False, repr=False)
class GivenAnchors(AnchorRule):
    """Your own anchors, the same in every trial.

    Parameters
    ----------
    array : array_like, shape (count, d)
        One anchor per row, each of norm at most S.

    Examples
    --------
    >>> from wsbnb.environments import GivenAnchors
    >>> GivenAnchors([[1.0, 0.0], [0.0, 1.0]]).count
    2
    """

    array: np.ndarray

    def __post_init__(self) -> None:
        self._set(array=validate.matrix("array", self.array))

    @property
    def count(self) -> int:
        """Number of anchors."""
        return self.array.shape[0]

    def check(self, dim: int, bound: float) -> None:
        validate.matrix("anchors", self.array, cols=dim)
        check_norms(self.array, bound, "param_bound", "anchors: row {}".format)

    def draw(self, rng: Generator, dim: int, bound: float) -> Array:
        return self.array.copy()

    def step_lengths(self, bound: float) -> Array | None:
        return np.linalg.norm(np.diff(self.array, axis=0), axis=1)

    def representative(self, dim: int, bound: float) -> Array | None:
        return self.array.copy()


def _needs_two_dimensions(rule, dim):
    if dim == 1 and rule.count > 1:
        raise ValueError(
            f"{rule!r} needs dim of at least 2, got dim = 1: on a line no two "
            "directions are orthogonal"
        )
