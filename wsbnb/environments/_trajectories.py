"""One trial's parameter path, computed on demand for any range of rounds.

Each class has `parameters(start, stop)`, `variation` (the exact B_T) and
`change_points`. Rounds count from 0. None but `Table` stores one row per round.
"""

import math

import numpy as np

from wsbnb import _validate as validate
from wsbnb.environments._base import (
    check_norms,
    dot,
    elementwise,
    length,
    random_tangent,
    random_unit,
    spans,
)


class Held:
    """Each anchor held for a stretch of rounds, stretches as in `numpy.array_split`."""

    def __init__(self, anchors, horizon):
        count = anchors.shape[0]
        lengths = np.full(count, horizon // count)
        lengths[: horizon % count] += 1
        self._anchors = anchors
        self._starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])

    def parameters(self, start, stop):
        rounds = np.arange(start, stop)
        return self._anchors[np.searchsorted(self._starts, rounds, side="right") - 1]

    @property
    def variation(self):
        return float(np.linalg.norm(np.diff(self._anchors, axis=0), axis=1).sum())

    @property
    def change_points(self):
        moved = (np.diff(self._anchors, axis=0) != 0.0).any(axis=1)
        return [int(t) for t in self._starts[1:][moved]]


class Tour:
    """Great-circle legs between consecutive points, equally many rounds on each.

    Round t is at position t (number of legs) / (horizon - 1) along the tour, so that
    the first round is on the first point and the last round on the last one. `rng` is
    used only for a leg between opposite points, which has no unique shortest arc.
    """

    change_points = ()

    def __init__(self, points, horizon, rng):
        self._radius = length(points[0])
        units = points / np.linalg.norm(points, axis=1, keepdims=True)
        legs = [_leg(*pair, rng) for pair in zip(units[:-1], units[1:], strict=True)]
        self._units = units
        self._angles = np.array([leg[0] for leg in legs])
        self._directions = np.array([leg[1] for leg in legs])
        self.has_opposite_points = any(leg[2] for leg in legs)
        self._horizon = horizon

    def parameters(self, start, stop):
        legs, last = len(self._angles), self._horizon - 1
        ticks = np.arange(start, stop) * legs  # whole numbers: no rounding of positions
        leg = np.minimum(ticks // last, legs - 1)
        angle = self._angles[leg] * ((ticks - leg * last) / last)
        return self._radius * (
            elementwise(math.cos, angle)[:, None] * self._units[leg]
            + elementwise(math.sin, angle)[:, None] * self._directions[leg]
        )

    @property
    def variation(self):
        """Chords within each leg in closed form, plus the steps that cut a corner."""
        legs, last = len(self._angles), self._horizon - 1
        ends = np.arange(legs + 1) * last  # leg j covers ticks ends[j] .. ends[j + 1]
        inside = ends[1:] // legs - -(-ends[:-1] // legs)
        halves = self._angles * legs / (2.0 * last)
        chords = 2.0 * self._radius * elementwise(math.sin, halves)
        corners = ends[1:-1][ends[1:-1] % legs != 0] // legs
        cuts = [np.diff(self.parameters(t, t + 2), axis=0)[0] for t in corners]
        return dot(inside, chords) + math.fsum(map(length, cuts))


def _leg(start, end, rng):
    """Angle and direction of the shortest arc, and whether the ends are opposite."""
    cosine = dot(start, end)
    direction = end - cosine * start
    direction -= dot(direction, start) * start  # again, against rounding
    sine = length(direction)
    if cosine < 0.0 and sine < 1e-8:
        return np.pi, random_tangent(rng, start), True
    if sine == 0.0:
        return 0.0, np.zeros_like(start), False
    return math.atan2(sine, cosine), direction / sine, False


class Walk:
    """Steps of fixed length in uniformly random directions on the sphere.

    Rounds are made in chunks, each from its own generator. Only the point at the
    start of every chunk is kept, so any range of rounds can be recomputed.
    """

    change_points = ()
    _CHUNK = 1024

    def __init__(self, seed, step, horizon, dim, bound):
        self._seed, self._bound, self._horizon = seed, bound, horizon
        self._angle = 2.0 * math.asin(min(step / (2.0 * bound), 1.0))
        self._starts = [random_unit(stream(seed), dim)]
        self._cached = (-1, None)
        self.variation = (horizon - 1) * step

    def parameters(self, start, stop):
        size = self._CHUNK
        out = np.empty((stop - start, self._starts[0].shape[0]))
        for number in range(start // size, -(-stop // size)):
            low, high = max(start, number * size), min(stop, (number + 1) * size)
            rows = self._chunk(number)[low - number * size : high - number * size]
            out[low - start : high - start] = rows
        return self._bound * out

    def _chunk(self, number):
        # Chunks not reached yet are made in order, as each starts where one ended.
        while self._cached[0] != number:
            current = min(number, len(self._starts) - 1)
            points = self._steps(current)
            if current == len(self._starts) - 1:
                self._starts.append(points[-1])
            self._cached = (current, points[:-1])
        return self._cached[1]

    def _steps(self, number):
        """Unit points of one chunk, and after them the first of the next chunk."""
        rng = stream(child(self._seed, number))
        rounds = min(self._CHUNK, self._horizon - number * self._CHUNK)
        point = self._starts[number]
        normals = rng.standard_normal((rounds, point.shape[0]))
        cosine, sine = math.cos(self._angle), math.sin(self._angle)
        points = [point]
        for tangent in normals:
            for _ in range(2):  # the second pass removes the rounding of the first
                tangent -= dot(tangent, point) * point
            point = cosine * point + (sine / length(tangent)) * tangent
            point /= length(point)  # else rounding would add up
            points.append(point)
        return np.array(points)


class Table:
    """A path stored row by row."""

    change_points = ()

    def __init__(self, rows):
        self._rows = rows

    def parameters(self, start, stop):
        return self._rows[start:stop].copy()

    @property
    def variation(self):
        return float(np.linalg.norm(np.diff(self._rows, axis=0), axis=1).sum())


class Chained:
    """Paths one after the other."""

    def __init__(self, pieces, lengths):
        self._pieces, self._lengths = pieces, lengths
        self._ends = np.cumsum(lengths)

    def parameters(self, start, stop):
        rows = [self._pieces[0].parameters(0, 0)]  # for no rounds at all
        begins = self._ends - self._lengths
        for piece, begin, end in zip(self._pieces, begins, self._ends, strict=True):
            low, high = max(start, int(begin)), min(stop, int(end))
            if low < high:
                rows.append(piece.parameters(low - int(begin), high - int(begin)))
        return np.concatenate(rows)

    def _seams(self):
        """Before and after the end of each piece but the last."""
        for end in self._ends[:-1].tolist():
            yield end, np.diff(self.parameters(end - 1, end + 1), axis=0)[0]

    @property
    def variation(self):
        inside = sum(piece.variation for piece in self._pieces)
        return inside + math.fsum(length(step) for _, step in self._seams())

    @property
    def change_points(self):
        found = [end for end, step in self._seams() if step.any()]
        begins = (self._ends - self._lengths).tolist()
        for piece, begin in zip(self._pieces, begins, strict=True):
            found += [begin + t for t in piece.change_points]
        return sorted(found)


class Formula:
    """A path given by a function of the round, checked as it is evaluated."""

    change_points = ()

    def __init__(self, function, horizon, dim, bound):
        self._function, self._horizon = function, horizon
        self._dim, self._bound = dim, bound

    def parameters(self, start, stop):
        rows = np.empty((stop - start, self._dim))
        for t in range(start, stop):
            rows[t - start] = validate.vector(
                f"path function at round {t}", self._function(t), dim=self._dim
            )
        check_norms(
            rows, self._bound, "param_bound", lambda i: f"path: round {start + i}"
        )
        return rows

    @property
    def variation(self):
        total, previous = 0.0, self.parameters(0, 1)
        for start, stop in spans(self._horizon, 1024):
            rows = np.concatenate([previous, self.parameters(start, stop)])
            total += np.linalg.norm(np.diff(rows, axis=0), axis=1).sum()
            previous = rows[-1:]
        return float(total)


def child(seed, *key):
    """A SeedSequence below `seed`, without touching the state of `seed`."""
    return np.random.SeedSequence(
        entropy=seed.entropy,
        spawn_key=(*seed.spawn_key, *key),
        pool_size=seed.pool_size,
    )


def stream(seed):
    """A Generator on `seed`; the bit generator is named so that it never changes."""
    return np.random.Generator(np.random.PCG64(seed))
