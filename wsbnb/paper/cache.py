"""Results on disk: one file per cell, replaced in one step, never trusted blindly.

A file holds plain arrays (NumPy's npz without pickled objects) and the settings it was
made from. Its name is a checksum of these settings and of the sources that decide the
numbers, so a result computed by older code is never found.
"""

import hashlib
import io
import json
import os
import sys
from functools import lru_cache
from pathlib import Path

import numba
import numpy as np

from wsbnb import _validate
from wsbnb._files import replace_file, sweep
from wsbnb._types import FilePath
from wsbnb.paper.settings import Cell
from wsbnb.results import Results

#: What cannot change a number: the rest of the package can.
_NOT_NUMERICAL = ("plotting", "interactive", "datasets", "bounds", "paper")
#: Except these.
_NUMERICAL = ("bounds/tuning.py", "paper/settings.py", "paper/algorithms.py")
#: Rounds at which the curve of a cell is kept.
POINTS = 80


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
        return _validate.path("folder", folder)
    if os.environ.get("WSBNB_CACHE"):
        return Path(os.environ["WSBNB_CACHE"])
    if sys.platform == "win32":
        named, usual = os.environ.get("LOCALAPPDATA"), "AppData/Local"
    elif sys.platform == "darwin":
        named, usual = None, "Library/Caches"
    else:
        named, usual = os.environ.get("XDG_CACHE_HOME"), ".cache"
    return Path(named or _home() / usual) / "wsbnb"


def _home():
    try:
        return Path.home()
    except RuntimeError:  # a user whom the system does not know, as in containers
        raise FileNotFoundError(
            "cache must name a folder, or WSBNB_CACHE, since there is no home folder"
        ) from None


@lru_cache(maxsize=1)
def source_checksum() -> str:
    """Checksum of the code that decides the numbers, and of two versions it rests on.

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
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        first = name.partition("/")[0].removesuffix(".py")
        if first not in _NOT_NUMERICAL or name in _NUMERICAL:
            digest.update(name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Cache:
    """Cell results in a folder.

    Parameters
    ----------
    folder : path-like, optional
        See :func:`cache_folder`. Made when the first result is stored.

    Examples
    --------
    >>> import tempfile
    >>> from wsbnb.paper import Cell, Player, Setting
    >>> cell = Cell(Setting("abrupt", dim=2), Player("WSB-LinTS"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Cache(folder).load(cell, seed=0) is None
    True
    """

    def __init__(self, folder: FilePath | None = None) -> None:
        self.folder = cache_folder(folder)
        self._swept = False

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

    def load(self, cell: Cell, seed: int) -> Results | None:
        """The stored result of a cell, or None if there is no whole file of it.

        Parameters
        ----------
        cell : Cell
        seed : int

        Returns
        -------
        Results or None
        """
        path = self.path(cell, seed)
        try:
            data = io.BytesIO(path.read_bytes())
            with np.load(data, allow_pickle=False) as file:
                content = {name: file[name] for name in file.files}
            return _checked(content, _identity(cell, seed), cell.player.algorithm)
        except Exception:  # however a file is damaged, it can be computed again
            return None

    def store(self, cell: Cell, seed: int, result: Results) -> None:
        """Replace the file of a cell in one step.

        Parameters
        ----------
        cell : Cell
        seed : int
        result : Results
        """
        path = self.path(cell, seed)
        _validate.instance("result", result, Results)
        buffer = io.BytesIO()
        np.savez(
            buffer,
            identity=np.array(_identity(cell, seed)),
            trials=result.trials,
            rounds=result.rounds,
            regret=result.regret[:, 0],
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._swept:
            sweep(self.folder)  # what a killed run has left
            self._swept = True
        replace_file(path, buffer.getvalue())


def _identity(cell, seed):
    everything = _validate.instance("cell", cell, Cell).settings()
    seed = _validate.seed("seed", seed)
    everything |= {"seed": seed, "points": POINTS, "sources": source_checksum()}
    return json.dumps(everything, sort_keys=True, allow_nan=False)


def _checked(content, identity, name):
    """A result whose arrays fit together, or ValueError."""
    trials, rounds, regret = (content[k] for k in ("trials", "rounds", "regret"))
    whole = (
        str(content["identity"]) == identity
        and regret.shape == (len(trials), len(rounds))
        and len(trials) > 0
        and (np.diff(trials) > 0).all()
        and np.isfinite(regret).all()
    )
    if not whole:
        raise ValueError("the stored arrays do not fit together")
    return Results(regret[:, None], [name], trials, rounds)
