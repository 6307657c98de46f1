"""Run cells: only what is missing, players of a world together, saved as it goes."""

import dataclasses
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

import numpy as np
from tqdm import tqdm

from wsbnb import _validate
from wsbnb._types import FilePath
from wsbnb.paper.cache import POINTS, Cache
from wsbnb.paper.settings import Cell
from wsbnb.results import Results
from wsbnb.simulation import simulate

#: Trials simulated in one go.
CHUNK = 10
#: Seconds of work that a kill may cost at most, besides the chunk under way.
SAVE_EVERY = 2.0


def run_cells(
    cells: Iterable[Cell],
    trials: int = 100,
    seed: int = 0,
    cache: FilePath | Literal[False] | None = None,
    force: bool = False,
    n_jobs: int = -1,
    progress: bool = False,
) -> dict[Cell, Results]:
    """The results of some cells: from the cache where stored, computed where not.

    Cells of one setting are played together on the same worlds. Trial i is the same
    whatever else is run, so that results of any two cells of a setting may be paired,
    and more trials can be added to stored ones.

    Parameters
    ----------
    cells : iterable of Cell
    trials : int, default 100
    seed : int, default 0
    cache : path-like, None or False
        Folder; None is the usual one (:func:`cache_folder`), False stores nothing.
    force : bool, default False
        Compute again what is stored.
    n_jobs : int, default -1
        Workers, as in :func:`wsbnb.simulate`.
    progress : bool, default False
        Show a bar with the time left.

    Returns
    -------
    dict of Cell to Results
        Each with the one policy of its cell.

    Examples
    --------
    >>> from wsbnb.paper import Cell, Player, Setting, run_cells
    >>> cell = Cell(Setting("abrupt", dim=2, horizon=40), Player("WSB-LinTS"))
    >>> run_cells([cell], trials=3, cache=False)[cell].final("WSB-LinTS").shape
    (3,)
    """
    cells = list(dict.fromkeys(_validate.instances("cells", cells, Cell)))
    trials = _validate.integer("trials", trials)
    _validate.room("trials", trials, trials * max(1, len(cells)) * POINTS)
    seed = _validate.seed("seed", seed)
    force, progress = (
        _validate.flag("force", force),
        _validate.flag("progress", progress),
    )
    n_jobs = _validate.workers("n_jobs", n_jobs)
    store = None if cache is False else Cache(checked_cache(cache))
    found = {}
    if store is not None and not force:
        found = {cell: store.load(cell, seed) for cell in cells}
        found = {cell: result for cell, result in found.items() if result is not None}
    wanted = np.arange(trials)
    missing = {
        cell: np.setdiff1d(wanted, found[cell].trials) if cell in found else wanted
        for cell in cells
    }
    missing = {cell: numbers for cell, numbers in missing.items() if len(numbers)}
    _Runner(seed, store, force, n_jobs, progress).run(missing, found)
    return {cell: found[cell].select(trials=wanted) for cell in cells}


def checked_cache(cache: FilePath | None) -> FilePath | None:
    """The folder that was asked for, refused by the name that callers know."""
    return None if cache is None else _validate.path("cache", cache)


class _Runner:
    """Works through what is missing and saves at short intervals."""

    def __init__(self, seed, store, force, n_jobs, progress):
        self.seed, self.store, self.force = seed, store, force
        self.n_jobs, self.progress = n_jobs, progress

    def run(self, missing, found):
        work = sum(_cost(cell) * len(numbers) for cell, numbers in missing.items())
        settings = defaultdict(list)
        for cell in missing:
            settings[cell.setting].append(cell)
        with tqdm(
            total=work,
            disable=not (self.progress and missing and sys.stderr),
            file=sys.stderr,
            bar_format="{desc} {percentage:3.0f}%|{bar}| "
            "{elapsed} elapsed, {remaining} left",
        ) as bar:
            for setting, group in settings.items():
                bar.set_description_str(
                    f"{setting.scenario:>6} d={setting.dim:<3d} "
                    f"{len(group):2d} policies"
                )
                self._run_setting(setting, group, missing, found, bar)

    def _run_setting(self, setting, cells, missing, found, bar):
        environment = setting.environment()
        templates = {cell: cell.template(environment) for cell in cells}
        numbers = np.unique(np.concatenate([missing[cell] for cell in cells]))
        unsaved, saved_at = set(), time.monotonic()
        for chunk in np.split(numbers, range(CHUNK, len(numbers), CHUNK)):
            needing = [c for c in cells if np.isin(chunk, missing[c]).any()]
            players = {str(i): templates[cell] for i, cell in enumerate(needing)}
            results = simulate(
                players,
                environment,
                trials=chunk.tolist(),
                seed=self.seed,
                n_jobs=self.n_jobs,
                progress=False,
                points=POINTS,
            )
            if results.interrupted:
                self._save(unsaved, found)
                raise KeyboardInterrupt
            for cell, new in zip(needing, _split(results, needing), strict=True):
                found[cell] = found[cell].merged(new) if cell in found else new
                bar.update(_cost(cell) * np.isin(chunk, missing[cell]).sum())
            unsaved.update(needing)
            if time.monotonic() - saved_at > SAVE_EVERY:
                self._save(unsaved, found)
                unsaved, saved_at = set(), time.monotonic()
        self._save(unsaved, found)

    def _save(self, cells, found):
        if self.store is None:
            return
        for cell in cells:
            if not self.force:
                # Another process may have stored more trials in the meantime.
                stored = self.store.load(cell, self.seed)
                if stored is not None:
                    found[cell] = found[cell].merged(stored)
            self.store.store(cell, self.seed, found[cell])


def _split(results, cells):
    """The results of one simulation, cell by cell."""
    for i, cell in enumerate(cells):
        part = results.select([str(i)])
        yield dataclasses.replace(part, policies=[cell.player.algorithm])


def _cost(cell):
    """Rough cost of a trial, for the bar: rounds, dearer in high dimension."""
    return cell.setting.horizon * (1.0 + cell.setting.dim / 8.0)
