"""Results on disk: one file per cell, replaced in one step, never trusted blindly.

A file holds plain arrays (NumPy's npz without pickled objects) and the settings it was
made from. Its name is a checksum of these settings and of the sources that decide the
numbers, so a result computed by older code is never found.
"""

import ast
import hashlib
import io
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numba
import numpy as np

from wsbnb._files import replace_file
from wsbnb._types import FilePath
from wsbnb.experiments.specs import Cell

#: Sources whose code can change a number, relative to the package.
NUMERICAL_SOURCES = (
    "_validate.py",
    "_gaussian.py",
    "kernels.py",
    "simulation.py",
    "bounds/tuning.py",
    "environments",
    "policies",
    "experiments/specs.py",
)
#: Rounds at which the curve of a cell is kept.
POINTS = 80


@dataclass(frozen=True, eq=False)
class CellResult:
    """What is known of one cell.

    Attributes
    ----------
    trials : array of int, shape (n,)
        Numbers of the finished trials, increasing.
    finals : array, shape (n,)
        Regret at the horizon, per trial.
    rounds : array of int, shape (p,)
        Recorded rounds.
    curves : array of float32, shape (n, p)
        Cumulative regret there, per trial.

    Examples
    --------
    >>> import numpy as np
    >>> result = CellResult(np.arange(2), np.array([1.0, 3.0]), np.array([9]), None)
    >>> result.mean, round(result.std, 4), result.se
    (2.0, 1.4142, 1.0)
    """

    trials: np.ndarray
    finals: np.ndarray
    rounds: np.ndarray
    curves: np.ndarray

    @property
    def mean(self) -> float:
        """Mean regret at the horizon."""
        return float(self.finals.mean())

    @property
    def std(self) -> float:
        """Its standard deviation over trials (n - 1 in the denominator)."""
        return float(self.finals.std(ddof=1)) if len(self.finals) > 1 else np.nan

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return float(self.std / np.sqrt(len(self.finals)))

    def take(self, numbers: Iterable[int]) -> "CellResult":
        """The part with the given trials; a KeyError names the first one missing.

        Parameters
        ----------
        numbers : sequence of int

        Returns
        -------
        CellResult
        """
        place = {int(t): i for i, t in enumerate(self.trials)}
        rows = [place[int(t)] for t in numbers]
        return CellResult(
            self.trials[rows], self.finals[rows], self.rounds, self.curves[rows]
        )

    def merged(self, other: "CellResult") -> "CellResult":
        """This result with another one's trials added.

        Parameters
        ----------
        other : CellResult
            Of the same cell. Trials that both hold are the same numbers.

        Returns
        -------
        CellResult
        """
        trials = np.concatenate([self.trials, other.trials])
        kept, rows = np.unique(trials, return_index=True)
        return CellResult(
            kept,
            np.concatenate([self.finals, other.finals])[rows],
            self.rounds,
            np.concatenate([self.curves, other.curves])[rows],
        )


def cache_folder(folder: FilePath | None = None) -> Path:
    """Where results are kept.

    Parameters
    ----------
    folder : path-like, optional
        Default: the environment variable ``WSBNB_CACHE``, else the user's cache
        folder.

    Returns
    -------
    Path

    Examples
    --------
    >>> cache_folder("results").name
    'results'
    """
    if folder is not None:
        return Path(folder)
    if os.environ.get("WSBNB_CACHE"):
        return Path(os.environ["WSBNB_CACHE"])
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "wsbnb"


@lru_cache(maxsize=1)
def source_checksum() -> str:
    """Checksum of the code that decides the numbers.

    Comments, layout, docstrings and the types in signatures do not count. The versions
    of NumPy and Numba do.

    Returns
    -------
    str

    Examples
    --------
    >>> len(source_checksum())
    64
    """
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256(f"{np.__version__} {numba.__version__}".encode())
    for name in NUMERICAL_SOURCES:
        path = root / name
        files = sorted(path.glob("*.py")) if path.is_dir() else [path]
        for file in files:
            if file.name == "saving.py":  # writes policies to files, computes nothing
                continue
            digest.update(file.name.encode())
            digest.update(_code(file.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()


def _code(text: str) -> str:
    """The syntax tree of a module as text, without docstrings and signature types."""
    tree = ast.parse(text)
    tree.body = [part for part in tree.body if not _imports_types(part)]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            body[0].value.value = ""
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.dump(tree)


def _imports_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "wsbnb._types"


def _is_docstring(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


class Cache:
    """Cell results in a folder.

    Parameters
    ----------
    folder : path-like, optional
        See :func:`cache_folder`. Made when the first result is stored.

    Examples
    --------
    >>> import tempfile
    >>> from wsbnb.experiments import Cell, Player, Setting
    >>> cell = Cell(Setting("abrupt", dim=2), Player("WSB-LinTS"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Cache(folder).load(cell, seed=0) is None
    True
    """

    def __init__(self, folder: FilePath | None = None) -> None:
        self.folder = cache_folder(folder)

    def path(self, cell: Cell, seed: int) -> Path:
        """The file of a cell.

        Parameters
        ----------
        cell : Cell
        seed : int

        Returns
        -------
        Path
        """
        key = hashlib.sha256(_identity(cell, seed).encode()).hexdigest()[:24]
        setting, player = cell.setting, cell.player
        return self.folder / (
            f"{player.algorithm}_{setting.scenario}_d{setting.dim}_{key}.npz"
        )

    def load(self, cell: Cell, seed: int) -> CellResult | None:
        """The stored result of a cell, or None if there is no whole file of it.

        Parameters
        ----------
        cell : Cell
        seed : int

        Returns
        -------
        CellResult or None
        """
        try:
            data = io.BytesIO(self.path(cell, seed).read_bytes())
            with np.load(data, allow_pickle=False) as file:
                content = {name: file[name] for name in file.files}
            return _checked(content, _identity(cell, seed))
        except Exception:  # however a file is damaged, it can be computed again
            return None

    def store(self, cell: Cell, seed: int, result: CellResult) -> None:
        """Replace the file of a cell in one step.

        Parameters
        ----------
        cell : Cell
        seed : int
        result : CellResult
        """
        buffer = io.BytesIO()
        np.savez(
            buffer,
            identity=np.array(_identity(cell, seed)),
            trials=result.trials,
            finals=result.finals,
            rounds=result.rounds,
            curves=result.curves,
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.path(cell, seed), buffer.getvalue())


def _identity(cell, seed):
    everything = cell.settings()
    everything |= {"seed": seed, "points": POINTS, "sources": source_checksum()}
    return json.dumps(everything, sort_keys=True, allow_nan=False)


def _checked(content, identity):
    """A result whose arrays fit together, or ValueError."""
    result = CellResult(
        *(content[name] for name in ("trials", "finals", "rounds", "curves"))
    )
    n, p = len(result.trials), len(result.rounds)
    whole = (
        str(content["identity"]) == identity
        and result.finals.shape == (n,)
        and result.curves.shape == (n, p)
        and n > 0
        and (np.diff(result.trials) > 0).all()
        and np.isfinite(result.finals).all()
        and np.isfinite(result.curves).all()
    )
    if not whole:
        raise ValueError("the stored arrays do not fit together")
    return result
