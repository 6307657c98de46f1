"""What every rule of an environment shares: data semantics, bounds, arithmetic."""

import dataclasses
import math

import numpy as np

from wsbnb._types import Any

# Norms are compared with their bound up to this relative slack, so that vectors
# scaled to the bound in floating point are not refused for their last digit.
SLACK = 1e-9


class Specification:
    """Value semantics for frozen dataclasses whose fields may be arrays."""

    def _fields(self):
        return [(f.name, getattr(self, f.name)) for f in dataclasses.fields(self)]

    def _set(self, **values):
        """Store converted values from `__post_init__` of a frozen class."""
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        pairs = zip(self._fields(), other._fields(), strict=True)
        return all(_same(mine, yours) for (_, mine), (_, yours) in pairs)

    def __hash__(self) -> int:
        values = (
            v.shape if isinstance(v, np.ndarray) else v for _, v in self._fields()
        )
        return hash((type(self), *values))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={_show(value)}" for name, value in self._fields())
        return f"{type(self).__name__}({inside})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Rebuilding through the constructor validates again and keeps arrays frozen.
        return type(self), tuple(value for _, value in self._fields())


def _same(mine, yours):
    if isinstance(mine, np.ndarray) or isinstance(yours, np.ndarray):
        return np.array_equal(mine, yours)
    return mine == yours


def _show(value):
    if not isinstance(value, np.ndarray):
        return getattr(value, "__qualname__", None) or repr(value)
    if value.size <= 8:
        return repr(value.tolist())
    return f"<array of shape {value.shape}>"


def check_type(name, value, kind):
    """Refuse a rule of the wrong family, naming the family that is allowed."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be an instance of {kind.__name__}, got {value!r}")
    return value


def check_norms(vectors, bound, bound_name, label):
    """Refuse vectors (last axis) longer than `bound`.

    `label` turns the index of the first offender into words.
    """
    ratios = np.linalg.norm(vectors / bound, axis=-1)  # no underflow for tiny bounds
    outside = np.argwhere(ratios > 1.0 + SLACK)
    if len(outside):
        index = tuple(int(i) for i in outside[0])
        norm = float(ratios[index]) * bound
        raise ValueError(
            f"{label(*index)} has norm {norm:.12g}, above {bound_name} = {bound:.12g}"
        )


# --- arithmetic with the same bits on every processor -------------------------------
#
# The product ``a @ b`` adds in another order, and rounds once or twice, where the
# registers are wider; NumPy's sine and cosine differ in their last bits, too. A world
# that is drawn from a seed must not.


def dot(a, b):
    """The product of two vectors."""
    return float(np.add.reduce(np.multiply(a, b)))


def length(vector):
    """The length of a vector."""
    return math.sqrt(dot(vector, vector))


def elementwise(function, array):
    """A function of the `math` module, of every number of an array."""
    return np.array([*map(function, np.ravel(array).tolist())]).reshape(np.shape(array))


# --- random vectors -----------------------------------------------------------------


def random_unit(rng, dim):
    """A vector drawn uniformly from the unit sphere."""
    normal = rng.standard_normal(dim)
    return normal / length(normal)


def random_tangent(rng, point):
    """A unit vector drawn uniformly among those orthogonal to the unit `point`."""
    normal = rng.standard_normal(point.shape[0])
    for _ in range(2):  # the second pass removes the rounding error of the first
        normal -= dot(normal, point) * point
    return normal / length(normal)


def random_unit_columns(rng, shape):
    """Unit vectors along axis -2 of an array of normals, e.g. of shape (n, d, K).

    Squares are added coordinate by coordinate: elementwise arithmetic gives the same
    bits whatever the number of vectors, which a reduction does not promise.
    """
    normals = rng.standard_normal(shape)
    squares = normals[..., 0, :] ** 2
    for i in range(1, shape[-2]):
        squares += normals[..., i, :] ** 2
    normals /= np.sqrt(squares)[..., None, :]
    return normals


def spans(horizon, size):
    """The (start, stop) pairs that cut `horizon` rounds into blocks of `size`."""
    for start in range(0, horizon, size):
        yield start, min(start + size, horizon)
