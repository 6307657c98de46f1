"""Argument checks shared by the public functions.

Each check returns the converted value or raises an error that names the argument,
shows the value seen and says what is allowed.
"""

import numbers

import numpy as np

from wsbnb._types import Any, Array, Generator, Seed, Sequence, Word


def number(name: str, value: Any) -> float:
    """A finite real number as float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        if not (isinstance(value, np.ndarray) and value.ndim == 0):
            raise TypeError(f"{name} must be a real number, got {value!r}")
    value = float(value)
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return value


def positive(name: str, value: Any) -> float:
    """A finite number above zero as float."""
    value = number(name, value)
    if value <= 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return value


def nonnegative(name: str, value: Any) -> float:
    """A finite number at or above zero as float."""
    value = number(name, value)
    if value < 0.0:
        raise ValueError(f"{name} must be zero or positive, got {value!r}")
    return value


def probability(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    value = number(name, value)
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return value


def discount(name: str, value: Any) -> float:
    """A forgetting factor in (0, 1]."""
    value = number(name, value)
    if not 0.0 < value <= 1.0:
        raise ValueError(f"{name} must lie in (0, 1], got {value!r}")
    return value


def integer(name: str, value: Any, minimum: int = 1) -> int:
    """A whole number at or above `minimum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")
    return int(value)


def choice(name: str, value: Word, allowed: Sequence[Any]) -> Word:
    """One of the `allowed` words."""
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {words}, got {value!r}")
    return value


def _finite_array(name: str, value: Any) -> Array:
    try:
        given = np.asarray(value)
        if given.dtype.kind == "c":  # NumPy would drop the imaginary parts
            raise TypeError("complex numbers")
        array = np.array(given, dtype=np.float64, order="C")
        if given.dtype.kind in "SU":  # NumPy would read the text
            raise TypeError(f"text {given.flat[0]!r}" if given.size else "text")
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} must be an array of real numbers, got {type(value).__name__}: "
            f"{error}"
        ) from error
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        bad = array[where]
        raise ValueError(f"{name} must be finite, got {bad} at index {where}")
    return array


def vector(name: str, value: Any, dim: int | None = None) -> Array:
    """A finite float64 vector (a copy), of length `dim` where given."""
    array = _finite_array(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a non-empty vector, got an array of shape {array.shape}"
        )
    if dim is not None and array.shape[0] != dim:
        raise ValueError(f"{name} must have length {dim}, got {array.shape[0]}")
    return array


def matrix(
    name: str, value: Any, rows: int | None = None, cols: int | None = None
) -> Array:
    """A finite C-contiguous float64 matrix (a copy) of the shape asked for."""
    array = _finite_array(name, value)
    if array.ndim != 2 or 0 in array.shape:
        hint = f"; for a single row give {name}[None, :]" if array.ndim == 1 else ""
        raise ValueError(
            f"{name} must be a non-empty matrix, got an array of shape {array.shape}"
            f"{hint}"
        )
    if rows is not None and array.shape[0] != rows:
        raise ValueError(f"{name} must have {rows} rows, got shape {array.shape}")
    if cols is not None and array.shape[1] != cols:
        raise ValueError(f"{name} must have {cols} columns, got shape {array.shape}")
    return array


def observations(x: Any, reward: Any, dim: int | None = None) -> tuple[Array, Array]:
    """Rows of features and their rewards, from one observation or several."""
    X = _finite_array("x", x)
    if X.ndim == 0:
        raise ValueError(
            f"x must be the row of features that was played, not its number, got {x!r}"
        )
    d = "d" if dim is None else dim
    if X.ndim > 2 or X.shape[-1] != (dim or X.shape[-1] or 1):
        raise ValueError(f"x must have shape ({d},) or (n, {d}), got shape {X.shape}")
    if X.ndim == 1 or (len(X) == 1 and np.ndim(reward) == 0):
        if not isinstance(reward, bool | np.bool_):  # a click, or none
            reward = number("reward", reward)
        return X.reshape(1, -1), np.array([float(reward)])
    rewards = _finite_array("reward", reward)
    if rewards.shape != X.shape[:1]:
        raise ValueError(
            f"reward must have one entry per row of x, shape {X.shape[:1]}, got shape "
            f"{rewards.shape}; for a single reward give the row that was played, X[k]"
        )
    return X, rewards


def covariance(name: str, value: Any, dim: int | None = None) -> Array:
    """A symmetric positive definite matrix (a copy, exactly symmetric)."""
    array = _finite_array(name, value)
    if array.ndim < 2:
        raise ValueError(
            f"{name} must be a square matrix, for example {name} = np.diag(variances), "
            f"got an array of shape {array.shape}"
        )
    array = matrix(name, array, rows=dim, cols=dim)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} must be square, got shape {array.shape}")
    gap = np.abs(array - array.T).max()
    if gap > 1e-10 * np.abs(array).max():
        raise ValueError(f"{name} must be symmetric, got entries that differ by {gap}")
    array = (array + array.T) / 2
    try:
        np.linalg.cholesky(array)
    except np.linalg.LinAlgError:
        smallest = np.linalg.eigvalsh(array)[0]
        raise ValueError(
            f"{name} must be positive definite, got smallest eigenvalue {smallest}"
        ) from None
    return array


def generator(name: str, rng: Seed) -> Generator:
    """A NumPy Generator from None, an int, a SeedSequence or a Generator."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(rng)
    if isinstance(rng, numbers.Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"{name} must be zero or positive, got {rng!r}")
        return np.random.default_rng(int(rng))
    raise TypeError(
        f"{name} must be None, an int, a SeedSequence or a Generator, got {rng!r}"
    )
