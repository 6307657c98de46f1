"""Argument checks shared by the public functions.

Each check returns the converted value or raises an error that names the argument,
shows the value seen and says what is allowed.
"""

import math
import numbers
import os
from pathlib import Path

import numpy as np

from wsbnb._types import (
    Any,
    Array,
    Generator,
    IntArray,
    Iterable,
    Kind,
    Seed,
    Sequence,
    Word,
)

#: Squares of numbers beyond these are no ordinary doubles.
SMALLEST, LARGEST = 1e-150, 1e150
#: Numbers that one array may hold: 8 GB.
MOST_NUMBERS = 2**30
#: A range says nothing of how much its list would take.
MOST_MEMBERS = 2**27
#: More workers than this are a mistake.
MOST_WORKERS = 10_000


def number(name: str, value: Any) -> float:
    """A finite real number as float."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, _NO_NUMBERS) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a real number, got {_shown(value)}")
    try:
        converted = float(value)
    except OverflowError:
        converted = np.inf
    if not np.isfinite(converted):
        raise ValueError(f"{name} must be finite, got {_shown(value)}")
    return converted


#: NumPy counts a span of time among the whole numbers.
_NO_NUMBERS = bool | np.bool_ | np.timedelta64


def _shown(value):
    """A value as it appears in a message: whole if it is short."""
    try:
        text = repr(value)
    except RecursionError:  # a list in a list in a list ...
        text = object.__repr__(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({type(value).__name__})"


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


def ordinary(name: str, value: Any) -> float:
    """A number above zero whose square and its inverse are ordinary doubles."""
    value = positive(name, value)
    if not SMALLEST <= value <= LARGEST:
        raise ValueError(
            f"{name} must lie between {SMALLEST} and {LARGEST}, got {value!r}"
        )
    return value


def bounded(name: str, value: Any) -> float:
    """A number at or above zero whose square is an ordinary double."""
    value = nonnegative(name, value)
    if value > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST}, got {value!r}")
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


def integer(
    name: str, value: Any, minimum: int = 1, maximum: int | None = 2**53
) -> int:
    """A whole number from `minimum` to `maximum` (None: any); 1e4 is one, too."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, _NO_NUMBERS)
    if not whole:
        if not isinstance(value, float | np.floating) or value != np.floor(value):
            raise TypeError(f"{name} must be a whole number, got {_shown(value)}")
        if not np.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value!r}")
    exact = int(value)  # a float16 would have to make the limits its own, and warn
    if exact < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {_shown(value)}")
    if maximum is not None and exact > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {_shown(value)}")
    return exact


def room(name: str, value: Any, numbers: int) -> None:
    """Refuse a size that asks for an array of more than `MOST_NUMBERS` numbers."""
    if numbers > MOST_NUMBERS:
        raise ValueError(
            f"{name} must be small enough for arrays of at most {MOST_NUMBERS} "
            f"numbers, got {_shown(value)}"
        )


def workers(name: str, value: Any) -> Any:
    """A number of workers as joblib takes it: positive, or -1 for every core."""
    if value is None:
        return None
    value = integer(name, value, minimum=-MOST_WORKERS, maximum=MOST_WORKERS)
    if value == 0:
        raise ValueError(f"{name} must not be 0; -1 uses every core")
    return value


def several(name: str, value: Any, what: str = "a list") -> list[Any]:
    """The members of a list or of anything else with members; a word has none."""
    single = isinstance(value, str | bytes) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )
    if single or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {what}, got {_shown(value)}")
    if isinstance(value, range) and len(value) > MOST_MEMBERS:
        raise ValueError(
            f"{name} must be at most {MOST_MEMBERS} members, got {_shown(value)}"
        )
    return list(value)


def instance(name: str, value: Any, kind: type[Kind]) -> Kind:
    """A value of one class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(
            f"{name} must be {article} {kind.__name__}, got {_shown(value)}"
        )
    return value


def instances(name: str, value: Any, kind: type[Kind]) -> list[Kind]:
    """Several values of one class."""
    members = several(name, value, f"a list of {kind.__name__}")
    return [instance(name, member, kind) for member in members]


def text(name: str, value: Any) -> str:
    """A word or more."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {_shown(value)}")
    return value


def path(name: str, value: Any) -> Path:
    """Where a file is; a number would be taken for an open file."""
    words = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(words, str):
        raise TypeError(f"{name} must be a string or a path, got {_shown(value)}")
    try:
        encoded = os.fsencode(words)
    except UnicodeEncodeError:  # half a character
        encoded = b"\0"
    if b"\0" in encoded:
        raise ValueError(f"{name} must be the name of a file, got {_shown(value)}")
    return Path(words)


def flag(name: str, value: Any) -> bool:
    """True or False, and no other word for it."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {_shown(value)}")
    return bool(value)


def choice(name: str, value: Word, allowed: Sequence[Any]) -> Word:
    """One of the `allowed` words."""
    known = isinstance(value, str | int | type(None)) and value in allowed
    if not known:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {words}, got {_shown(value)}")
    return value


def unmasked(name: str, value: Any) -> None:
    """Refuse masked entries: whoever converts them would use what they hide."""
    hidden = _hidden(value)
    if hidden:
        raise ValueError(f"{name} must have no masked entries, got {hidden}")


def _hidden(value):
    """How many entries are masked; NumPy forgets the masks of the rows of a list."""
    hidden, seen, waiting = 0, set(), [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, np.ma.MaskedArray):
            hidden += int(np.ma.count_masked(part))
        elif isinstance(part, list | tuple) and id(part) not in seen:
            seen.add(id(part))  # a list may be within itself
            waiting += [row for row in part if isinstance(row, _ROWS)]
    return hidden


_ROWS = list | tuple | np.ma.MaskedArray


#: Among objects NumPy takes these for numbers: it counts years, and drops what is
#: imaginary.
_NO_REAL = np.complexfloating | np.datetime64 | np.timedelta64


#: For longer products BLAS starts threads, and waits for them while cores are busy.
_SHORT = 8192


def all_finite(array: Array) -> bool:
    """Whether all numbers of an array are finite."""
    if array.size <= _SHORT and math.isfinite(np.vdot(array, array)):
        return True  # quicker, and unlike a sum it never warns
    return bool(np.isfinite(array).all())


def finite_array(name: str, value: Any) -> Array:
    """A finite float64 array (a copy) of any shape."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        array = value.copy()  # the usual case, many times a second
        if all_finite(array):
            return array
    if hasattr(value, "toarray"):
        raise TypeError(
            f"{name} must be a dense array, got {type(value).__name__}; call .toarray()"
        )
    unmasked(name, value)
    try:
        given = np.asarray(value)
        kind = given.dtype.kind
        if kind == "c":  # NumPy would drop the imaginary parts
            raise TypeError("complex numbers")
        for word in given.flat if kind in "SUOT" else ():
            if isinstance(word, str | bytes):  # NumPy would read the text
                raise TypeError(f"text {str(word)!r}")
            if isinstance(word, _NO_REAL):
                raise TypeError(f"{type(word).__name__} {word}")
        if kind in "mM":
            raise TypeError("times")
        if value is None:
            raise TypeError("None")
        with np.errstate(over="ignore"):  # said below
            array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
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
    array = finite_array(name, value)
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
    array = finite_array(name, value)
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


def ragged(name: str, value: Any) -> tuple[Array, Any] | None:
    """Sets of arms of different sizes: all rows, and the sizes; None if it is none."""
    if not isinstance(value, list | tuple):
        return None
    unmasked(name, value)
    try:
        sets = [np.asarray(part) for part in value]
    except ValueError:  # whoever takes it for an array will say what is wrong
        return None
    shapes = {part.shape for part in sets}
    if len(shapes) < 2:
        return None
    if any(len(s) != 2 or 0 in s for s in shapes) or len({s[1] for s in shapes}) > 1:
        raise ValueError(
            f"{name} must be a list of sets of shape (K, d) with one d, got shapes "
            f"{_shown(sorted(shapes))}"
        )
    return finite_array(name, np.concatenate(sets)), np.array([*map(len, sets)])


def observations(
    x: Any,
    reward: Any,
    dim: int | None = None,
    names: tuple[str, str] = ("x", "reward"),
) -> tuple[Array, Array]:
    """Rows of features and their rewards, from one observation or several."""
    features, paid = names
    X = finite_array(features, x)
    if X.ndim == 0:
        raise ValueError(
            f"{features} must be the row of features that was played, not its number, "
            f"got {_shown(x)}"
        )
    d = "d" if dim is None else dim
    if X.ndim > 2 or X.shape[-1] != (dim or X.shape[-1] or 1):
        raise ValueError(
            f"{features} must have shape ({d},) or (n, {d}), got shape {X.shape}"
        )
    if X.ndim == 1 or (len(X) == 1 and np.ndim(reward) == 0):
        if not isinstance(reward, bool | np.bool_):  # a click, or none
            reward = number(paid, reward)
        return X.reshape(1, -1), np.array([float(reward)])
    rewards = finite_array(paid, reward)
    if rewards.shape != X.shape[:1]:
        raise ValueError(
            f"{paid} must have one entry per row of {features}, shape {X.shape[:1]}, "
            f"got shape {rewards.shape}; for a single reward give the row that was "
            "played, X[k]"
        )
    return X, rewards


def arm_numbers(name: str, value: Any, sizes: Any) -> IntArray:
    """The arm chosen in each round, of which there were so many."""
    finite_array(name, value)
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, got {array.dtype}")
    if array.shape != sizes.shape:
        raise ValueError(
            f"{name} must have one entry per reward, shape {sizes.shape}, got "
            f"{array.shape}"
        )
    wrong = np.flatnonzero((array < 0) | (array >= sizes))
    if wrong.size:
        t = wrong[0]
        raise ValueError(
            f"{name} must lie between 0 and {sizes[t] - 1}, got {array[t]}"
        )
    return array.astype(np.int64)


def chances(name: str, value: Any, count: int) -> Array:
    """Probabilities of what has happened, which are above zero."""
    p = vector(name, value, dim=count)
    if not (p.min() > 0.0 and p.max() <= 1.0):
        wrong = p[(p <= 0.0) | (p > 1.0)][0]
        raise ValueError(f"{name} must lie in (0, 1], got {wrong}")
    return p


def covariance(name: str, value: Any, dim: int | None = None) -> Array:
    """A symmetric positive definite matrix (a copy, exactly symmetric).

    Where the dimension is known a number stands for a multiple of the identity and a
    vector for the diagonal.
    """
    array = finite_array(name, value)
    if dim is not None and array.ndim < 2:
        room(f"dim, the size of {name},", dim, dim * dim)
        array = np.broadcast_to(array, dim) if array.ndim == 0 else array
        if array.shape != (dim,):
            raise ValueError(
                f"{name} must be a number, a diagonal of length {dim} or a matrix, got "
                f"shape {array.shape}"
            )
        array = np.diag(array)
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
    array = array / 2 + array.T / 2
    if not _is_definite(array):
        smallest = np.linalg.eigvalsh(array)[0]
        raise ValueError(
            f"{name} must be positive definite, got smallest eigenvalue {smallest}"
        )
    return array


def _is_definite(array):
    try:
        return bool(np.isfinite(np.linalg.cholesky(array)).all())
    except np.linalg.LinAlgError:
        return False


def seed(name: str, value: Any) -> int:
    """A whole number that starts a SeedSequence, however large."""
    return integer(name, value, minimum=0, maximum=None)


def generator(name: str, rng: Seed) -> Generator:
    """A NumPy Generator from None, an int, a SeedSequence or a Generator."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(rng)
    if isinstance(rng, numbers.Integral) and not isinstance(rng, bool):
        return np.random.default_rng(seed(name, rng))
    raise TypeError(
        f"{name} must be None, an int, a SeedSequence or a Generator, got {_shown(rng)}"
    )
