"""Argument checks that only the bounds need.

The general ones (positive, covariance, ...) live in `wsbnb._validate`.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from wsbnb import _validate as check
from wsbnb._types import Array, FloatOrArray


def nonnegative_values(name: str, value: Any) -> FloatOrArray:
    """A float for a number, a float64 array for anything array-like."""
    if _single(value):
        return check.nonnegative(name, value)
    array = check.finite_array(name, value)
    if array.size and array.min() < 0.0:
        raise ValueError(f"{name} must be zero or positive, got {array.min()}")
    return array


def _single(value: Any) -> bool:
    """Whether a value is no array; rows of unequal length are one, if a bad one."""
    return not isinstance(value, list | tuple) and np.ndim(value) == 0


def round_numbers(name: str, value: Any, minimum: int) -> FloatOrArray:
    """A whole number or an array of whole numbers, as float64."""
    if _single(value):
        if isinstance(value, np.ndarray):
            value = value[()]
        return float(check.integer(name, value, minimum=minimum))
    check.finite_array(name, value)
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers, got dtype {array.dtype}")
    if array.size and array.min() < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {array.min()}")
    return array.astype(np.float64)


def rows(name: str, value: Any, cols: int | None = None) -> Array:
    """A finite float64 matrix that may have no rows (no observation yet)."""
    array = check.finite_array(name, value)
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


def quotient(top: float, bottom: float, power: int = 1) -> float:
    """A power of a quotient; one beyond ordinary doubles is too extreme."""
    value = (top / bottom) ** power
    if top > 0.0 and not np.finfo(float).tiny <= value < np.inf:
        raise OverflowError("said by the decorator, with the arguments' names")
    return value


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


P = ParamSpec("P")
R = TypeVar("R")


def within_range(infinite: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: numbers that overflow are refused by name, not returned as infinity.

    With `infinite` infinity is a value that the function may return (a hard restart
    makes some sums infinite); what is not a number is refused even then, and so is
    NumPy's arithmetic where it overflows.
    """
    overflow: Literal["raise", "ignore"] = "raise" if infinite else "ignore"

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                with np.errstate(all="ignore", over=overflow):
                    value = function(*args, **kwargs)
                    sound = _is_sound(value, infinite)
            except (ArithmeticError, np.linalg.LinAlgError):
                sound = False
            if not sound:
                given = signature.bind(*args, **kwargs).arguments
                raise ValueError(_too_extreme(function.__name__, given))
            return value

        return checked

    return decorate


def _is_sound(value: Any, infinite: bool) -> bool:
    if isinstance(value, tuple):
        return all(_is_sound(part, infinite) for part in value)
    if not isinstance(value, float | np.floating | np.ndarray):
        parts = getattr(value, "__dict__", {})
        return all(_is_sound(part, infinite) for part in parts.values())
    return not (np.isnan(value) if infinite else ~np.isfinite(value)).any()


def _too_extreme(name: str, given: dict[str, Any]) -> str:
    """A message that names the arguments with the most extreme numbers."""
    sizes = {}
    for word, value in given.items():
        if isinstance(value, str | bool | type(None)):
            continue
        numbers = np.abs(np.asarray(value, dtype=float)).ravel()
        numbers = numbers[numbers > 0.0]
        if numbers.size:
            sizes[word] = np.abs(np.log10(numbers)).max()
    most = max(sizes.values(), default=0.0)
    words = [word for word, size in sizes.items() if size >= most / 2.0]
    shown = ", ".join(f"{word}={given[word]!r}"[:60] for word in words)
    return (
        f"{' and '.join(words)} must be less extreme: {name} does not fit into double "
        f"precision, got {shown}"
    )
