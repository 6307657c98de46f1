"""Argument checks that only the bounds need.

The general ones (positive, covariance, ...) live in `wsbnb._validate`.
"""

from typing import Any

import numpy as np

from wsbnb import _validate as check
from wsbnb._types import Array, FloatOrArray


def nonnegative_values(name: str, value: Any) -> FloatOrArray:
    """A float for a number, a float64 array for anything array-like."""
    if np.ndim(value) == 0:
        return check.nonnegative(name, value)
    array = check.finite_array(name, value)
    if array.size and array.min() < 0.0:
        raise ValueError(f"{name} must be zero or positive, got {array.min()}")
    return array


def round_numbers(name: str, value: Any, minimum: int) -> FloatOrArray:
    """A whole number or an array of whole numbers, as float64."""
    if np.ndim(value) == 0:
        if isinstance(value, np.ndarray):
            value = value[()]
        return float(check.integer(name, value, minimum=minimum))
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers, got dtype {array.dtype}")
    if array.size and array.min() < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {array.min()}")
    return array.astype(np.float64)


def rows(name: str, value: Any, cols: int | None = None) -> Array:
    """A finite float64 matrix that may have no rows (no observation yet)."""
    array = np.asarray(value)
    if array.ndim == 2 and array.shape[0] == 0 and array.shape[1] > 0:
        if cols is not None and array.shape[1] != cols:
            raise ValueError(
                f"{name} must have {cols} columns, got shape {array.shape}"
            )
        return np.zeros(array.shape)
    return check.matrix(name, value, cols=cols)


def row_values(name: str, value: Any, length: int) -> Array:
    """A finite float64 vector of the given length, which may be zero."""
    if length == 0 and np.size(value) == 0:
        return np.zeros(0)
    return check.vector(name, value, dim=length)


def weight_row(name: str, value: Any, length: int) -> Array:
    """The weights w_{1,t}, ..., w_{t,t}: numbers in [0, 1]."""
    array = row_values(name, value, length)
    _refuse_outside_unit_interval(name, array)
    return array


def weight_matrix(name: str, value: Any, size: int | None = None) -> Array:
    """A lower-triangular matrix with W[t-1, s-1] = w_{s,t} in [0, 1]."""
    array = check.matrix(name, value, rows=size, cols=size)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} must be square, got shape {array.shape}")
    _refuse_outside_unit_interval(name, array)
    if np.triu(array, 1).any():
        raise ValueError(
            f"{name} must be lower triangular (row t holds the weights of rounds "
            f"1..t), got a nonzero entry above the diagonal"
        )
    return array


def _refuse_outside_unit_interval(name: str, array: Array) -> None:
    outside = (array < 0.0) | (array > 1.0)
    if outside.any():
        bad = array[outside][0]
        raise ValueError(f"{name} must lie in [0, 1], got {bad}")


def exactly_one(**options: object) -> None:
    """Refuse unless exactly one of the keyword options is not None."""
    given = [name for name, value in options.items() if value is not None]
    if len(given) != 1:
        names = " and ".join(options)
        seen = ", ".join(given) if given else "neither"
        raise ValueError(f"give exactly one of {names}, got {seen}")


def arms_within_bound(X: Array, arm_bound: float) -> None:
    """The bound L must hold for the arms at hand, or the formulas mean nothing."""
    longest = np.sqrt((X * X).sum(axis=1).max()) if len(X) else 0.0
    if longest > arm_bound * (1.0 + 1e-9):
        raise ValueError(
            f"arm_bound must be at least the longest arm, {longest}, got {arm_bound}"
        )
