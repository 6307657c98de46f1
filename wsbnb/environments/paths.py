"""Parameter paths: how theta_t moves over the rounds of a trial."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wsbnb import _validate as validate
from wsbnb._types import SeedSequence, Trajectory
from wsbnb.environments._base import (
    SLACK,
    Specification,
    check_norms,
    check_type,
    elementwise,
    random_unit,
)
from wsbnb.environments._trajectories import (
    Chained,
    Formula,
    Held,
    Table,
    Tour,
    Walk,
    child,
    stream,
)
from wsbnb.environments.anchors import AnchorRule


class PathRule(Specification):
    """Says how the parameter path of one trial is made."""

    def check(self, horizon: int, dim: int, bound: float) -> None:
        """Raise where the rule cannot work for this horizon, dimension and bound."""

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        """One trial's path (an object of `_trajectories`) from a SeedSequence."""
        raise NotImplementedError

    def variation(self, horizon: int, dim: int, bound: float) -> float | None:
        """B_T where it is the same in every trial, else None."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class AbruptPath(PathRule):
    r"""Hold each anchor for T / count rounds, then jump to the next.

    Where T is no multiple of the count, the first T mod count anchors are held one
    round longer (as `numpy.array_split` cuts). Then
    :math:`B_T = \sum_j \lVert a_j - a_{j+1}\rVert`. This is the abruptly changing
    scenario of the paper's section on experiments.

    Parameters
    ----------
    anchors : AnchorRule
        `RandomAnchors`, `OrthogonalAnchors`, `PlaneAnchors` or `GivenAnchors`.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path = we.AbruptPath(we.OrthogonalAnchors(4))
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 4000, 2)
    >>> env.world(0).change_points
    [1000, 2000, 3000]
    """

    anchors: AnchorRule

    def __post_init__(self) -> None:
        check_type("anchors", self.anchors, AnchorRule)

    def check(self, horizon: int, dim: int, bound: float) -> None:
        self.anchors.check(dim, bound)
        if self.anchors.count > horizon:
            raise ValueError(
                f"horizon must be at least the number of anchors "
                f"({self.anchors.count}), got {horizon}"
            )

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        return Held(self.anchors.draw(stream(seed), dim, bound), horizon)

    def variation(self, horizon: int, dim: int, bound: float) -> float | None:
        steps = self.anchors.step_lengths(bound)
        return None if steps is None else float(steps.sum())


@dataclass(frozen=True, eq=False, repr=False)
class SlowPath(PathRule):
    r"""Move along shortest arcs of the sphere from anchor to anchor.

    Every leg takes the same number of rounds and is walked at constant speed. Round 1
    is on the first anchor and round T on the last (on the first again where `closed`).
    An open tour of m anchors has m - 1 legs, a closed one m. Between opposite anchors
    every half circle is a shortest arc: one is drawn at random.

    :math:`B_T` sums chords, so it is a little below the length of the arcs.

    Parameters
    ----------
    anchors : AnchorRule
        Anchors of one common norm above zero.
    closed : bool, default False
        Whether the tour returns to the first anchor.

    Examples
    --------
    >>> import numpy as np
    >>> import wsbnb.environments as we
    >>> path = we.SlowPath(we.PlaneAnchors(4), closed=True)
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 4000, 6)
    >>> bool(0 < 2 * np.pi - env.variation < 1e-5)
    True
    """

    anchors: AnchorRule
    closed: bool = False

    def __post_init__(self) -> None:
        check_type("anchors", self.anchors, AnchorRule)
        if not isinstance(self.closed, bool | np.bool_):
            raise TypeError(f"closed must be True or False, got {self.closed!r}")
        self._set(closed=bool(self.closed))

    @property
    def legs(self) -> int:
        """Number of arcs of the tour (none for a single anchor)."""
        count = self.anchors.count
        return count - 1 + (self.closed and count > 1)

    def check(self, horizon: int, dim: int, bound: float) -> None:
        self.anchors.check(dim, bound)
        if self.legs and dim == 1:
            raise ValueError("SlowPath needs dim of at least 2, got dim = 1")
        if horizon < self.legs + 1:
            raise ValueError(
                f"horizon must be at least {self.legs + 1} for {self.legs} legs, "
                f"got {horizon}"
            )
        given = self.anchors.representative(dim, bound)
        if self.legs and given is not None:
            norms = np.linalg.norm(given, axis=1)
            off = np.flatnonzero(abs(norms - norms[0]) > SLACK * norms[0])
            if norms[0] == 0.0 or off.size:
                row = int(off[0]) if off.size else 0
                raise ValueError(
                    "SlowPath needs anchors of one common norm above zero, got norm "
                    f"{norms[row]:.12g} in row {row} and {norms[0]:.12g} in row 0"
                )

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        rng = stream(seed)
        return self._tour(self.anchors.draw(rng, dim, bound), horizon, rng)

    def variation(self, horizon: int, dim: int, bound: float) -> float | None:
        if self.legs == 0:
            return 0.0
        points = self.anchors.representative(dim, bound)
        if points is not None:
            tour = self._tour(points, horizon, np.random.default_rng(0))
            return None if tour.has_opposite_points else tour.variation
        steps = self.anchors.step_lengths(bound)
        if steps is None or self.closed or (horizon - 1) % self.legs:
            return None  # a step that cuts a corner depends on the trial's corner
        rounds = (horizon - 1) // self.legs
        angles = 2.0 * elementwise(math.asin, np.minimum(steps / (2.0 * bound), 1.0))
        chords = elementwise(math.sin, angles / (2.0 * rounds))
        return float((2.0 * bound * rounds * chords).sum())

    def _tour(self, anchors, horizon, rng):
        if self.legs == 0:
            return Held(anchors, horizon)
        points = np.concatenate([anchors, anchors[:1]]) if self.closed else anchors
        return Tour(points, horizon, rng)


@dataclass(frozen=True, eq=False, repr=False)
class StationaryPath(PathRule):
    """One parameter for all rounds, so B_T = 0.

    Parameters
    ----------
    parameter : array_like, shape (d,), optional
        The parameter. Default: uniform on the sphere of radius S in every trial, equal
        to the first anchor that random, orthogonal and plane anchors draw from the
        same seed.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path = we.StationaryPath([0.6, 0.8])
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 100, 2)
    >>> env.variation, env.world(0).parameters(98, 100).tolist()
    (0.0, [[0.6, 0.8], [0.6, 0.8]])
    """

    parameter: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.parameter is not None:
            self._set(parameter=validate.vector("parameter", self.parameter))

    def check(self, horizon: int, dim: int, bound: float) -> None:
        if self.parameter is not None:
            validate.vector("parameter", self.parameter, dim=dim)
            check_norms(self.parameter, bound, "param_bound", lambda: "parameter")

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        point = self.parameter
        if point is None:
            point = bound * random_unit(stream(seed), dim)
        return Held(point[None, :], horizon)

    def variation(self, horizon: int, dim: int, bound: float) -> float | None:
        return 0.0


@dataclass(frozen=True, eq=False, repr=False)
class RandomWalkPath(PathRule):
    r"""A random walk on the sphere of radius S with steps of one length.

    The first point is uniform, each direction uniform among the tangents. Every step
    has Euclidean length `step`, so :math:`B_T = (T-1)\,\mathrm{step}` exactly. The
    loop over rounds is plain Python, some ten microseconds each.

    Parameters
    ----------
    step : float
        Length of a step, between 0 and 2 S.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path = we.RandomWalkPath(step=0.01)
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 101, 3)
    >>> env.variation
    1.0
    """

    step: float

    def __post_init__(self) -> None:
        self._set(step=validate.nonnegative("step", self.step))

    def check(self, horizon: int, dim: int, bound: float) -> None:
        if dim == 1:
            raise ValueError("RandomWalkPath needs dim of at least 2, got dim = 1")
        if self.step > 2.0 * bound:
            raise ValueError(
                f"step must be at most 2 param_bound = {2.0 * bound!r}, "
                f"got {self.step!r}"
            )

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        return Walk(seed, self.step, horizon, dim, bound)

    def variation(self, horizon: int, dim: int, bound: float) -> float | None:
        return (horizon - 1) * self.step


@dataclass(frozen=True, eq=False, repr=False)
class MeanRevertingPath(PathRule):
    r"""A parameter that strays from its home and is pulled back.

    The home h is uniform on the sphere of radius S / 2. With standard normal
    :math:`z_t` in d dimensions,

    .. math::

        \theta_{t+1} = h + e^{-1/\tau}(\theta_t - h)
        + \mathrm{reach}\sqrt{(1 - e^{-2/\tau})/d}\; z_t ,

    so that in the long run the mean squared distance from home is
    :math:`\mathrm{reach}^2`, and what is left of a deviation after :math:`\tau` rounds
    is 37 %. It starts in that law. A parameter longer than S is cut to length S. The
    rows are stored, one per round.

    Parameters
    ----------
    reach : float
        Root mean squared distance from home, zero or positive.
    relaxation : float
        The :math:`\tau` above, in rounds.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path = we.MeanRevertingPath(reach=0.4, relaxation=200)
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 500, 3)
    >>> env.world(0).parameters(0, 500).shape
    (500, 3)
    """

    reach: float
    relaxation: float

    def __post_init__(self) -> None:
        self._set(
            reach=validate.nonnegative("reach", self.reach),
            relaxation=validate.positive("relaxation", self.relaxation),
        )

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        rng = stream(seed)
        home = 0.5 * bound * random_unit(rng, dim)
        shocks = self.reach / dim**0.5 * rng.standard_normal((horizon, dim))
        keep = math.exp(-1.0 / self.relaxation)
        shocks[1:] *= math.sqrt(1.0 - keep**2)
        for t in range(1, horizon):
            shocks[t] += keep * shocks[t - 1]
        rows = home + shocks
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return Table(rows / np.maximum(1.0, lengths / bound))


@dataclass(frozen=True, eq=False, repr=False)
class OneCoordinatePath(PathRule):
    r"""Only the first coordinate moves, up and down; the others stand still.

    With amplitude :math:`a = S/\sqrt2` the first coordinate is
    :math:`a\cos(2\pi\,\mathrm{cycles}\,t/T + \varphi)`, with :math:`\varphi` uniform,
    and the others are a point drawn uniformly at length a.

    Parameters
    ----------
    cycles : float
        How often it comes round in T rounds.

    Examples
    --------
    >>> import numpy as np
    >>> import wsbnb.environments as we
    >>> path = we.OneCoordinatePath(cycles=2)
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 500, 3)
    >>> theta = env.world(0).parameters(0, 500)
    >>> (np.ptp(theta, axis=0) > 0).tolist()
    [True, False, False]
    """

    cycles: float

    def __post_init__(self) -> None:
        self._set(cycles=validate.nonnegative("cycles", self.cycles))

    def check(self, horizon: int, dim: int, bound: float) -> None:
        if dim == 1:
            raise ValueError("OneCoordinatePath needs dim of at least 2, got dim = 1")

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        rng = stream(seed)
        phase = 2.0 * np.pi * (self.cycles * np.arange(horizon) / horizon)
        rows = np.empty((horizon, dim))
        rows[:, 1:] = random_unit(rng, dim - 1)
        rows[:, 0] = elementwise(math.cos, phase + 2.0 * math.pi * rng.random())
        return Table(bound * np.sqrt(0.5) * rows)


@dataclass(frozen=True, eq=False, repr=False)
class ChainedPath(PathRule):
    """One path after another, each for an equal part of the rounds.

    Each part is drawn on its own, so the parameter also jumps where one part ends and
    the next begins.

    Parameters
    ----------
    parts : tuple of PathRule
        Rounds are shared as `numpy.array_split` cuts.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path = we.ChainedPath(
    ...     (we.StationaryPath(), we.AbruptPath(we.OrthogonalAnchors(5)))
    ... )
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 1000, 3)
    >>> env.world(0).change_points
    [500, 600, 700, 800, 900]
    """

    parts: tuple[PathRule, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.parts, tuple | list) or not self.parts:
            raise TypeError(f"parts must be several path rules, got {self.parts!r}")
        for i, part in enumerate(self.parts):
            check_type(f"parts[{i}]", part, PathRule)
        self._set(parts=tuple(self.parts))

    def check(self, horizon: int, dim: int, bound: float) -> None:
        if horizon < len(self.parts):
            raise ValueError(
                f"horizon must be at least the number of parts ({len(self.parts)}), "
                f"got {horizon}"
            )
        for part, length in zip(self.parts, self._lengths(horizon), strict=True):
            part.check(length, dim, bound)

    def _lengths(self, horizon):
        shares = np.full(len(self.parts), horizon // len(self.parts))
        shares[: horizon % len(self.parts)] += 1
        return shares.tolist()

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        lengths = self._lengths(horizon)
        pieces = [
            part.realise(child(seed, i), length, dim, bound)
            for i, (part, length) in enumerate(zip(self.parts, lengths, strict=True))
        ]
        return Chained(pieces, lengths)


@dataclass(frozen=True, eq=False, repr=False)
class GivenPath(PathRule):
    """Your own path, the same in every trial.

    Parameters
    ----------
    array : array_like, shape (T, d)
        The parameter of every round, each of norm at most S.

    Examples
    --------
    >>> import wsbnb.environments as we
    >>> path = we.GivenPath([[0.0], [1.0], [0.5]])
    >>> env = we.Environment(path, we.FixedArms(2), we.GaussianNoise(1.0), 3, 1)
    >>> env.variation
    1.5
    """

    array: np.ndarray

    def __post_init__(self) -> None:
        self._set(array=validate.matrix("array", self.array))

    def check(self, horizon: int, dim: int, bound: float) -> None:
        validate.matrix("path", self.array, rows=horizon, cols=dim)
        check_norms(self.array, bound, "param_bound", "path: row {}".format)

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        return Table(self.array)

    def variation(self, horizon: int, dim: int, bound: float) -> float | None:
        return Table(self.array).variation


@dataclass(frozen=True, eq=False, repr=False)
class CallablePath(PathRule):
    """A path computed by your own function.

    Parameters
    ----------
    function : callable
        Either `f(t)`, the parameter of round t = 0, ..., T - 1, a pure function that
        is called whenever rounds are needed (memory stays flat); or
        `f(rng, horizon, dim)`, the whole path of one trial as an array of shape
        (T, d), stored once. A function that can be called with one argument is taken
        as the first kind.

    Notes
    -----
    Values are checked against S as they are produced. The rule can be pickled where
    the function can.

    Examples
    --------
    >>> import numpy as np
    >>> import wsbnb.environments as we
    >>> def circle(t):
    ...     return [np.cos(t / 50), np.sin(t / 50)]
    >>> path = we.CallablePath(circle)
    >>> env = we.Environment(path, we.FixedArms(8), we.GaussianNoise(1.0), 100, 2)
    >>> round(env.world(0).variation, 6)
    1.979967
    """

    function: Callable

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")
        if not (self._takes(1) or self._takes(3)):
            raise TypeError(
                "function must take (t) or (rng, horizon, dim), got "
                f"{inspect.signature(self.function)}"
            )

    def realise(
        self, seed: SeedSequence, horizon: int, dim: int, bound: float
    ) -> Trajectory:
        if self._takes(1):
            return Formula(self.function, horizon, dim, bound)
        rows = self.function(stream(seed), horizon, dim)
        rows = validate.matrix("path from function", rows, rows=horizon, cols=dim)
        check_norms(rows, bound, "param_bound", "path: row {}".format)
        return Table(rows)

    def _takes(self, count):
        try:
            inspect.signature(self.function).bind(*range(count))
        except TypeError:
            return False
        except ValueError:  # no signature to look at, as for some built-ins
            return count == 1
        return True
