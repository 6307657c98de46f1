"""A pytest plugin: nbmake runs notebooks as a reader would who has only the library.

Each runs in an empty folder, in which it must leave nothing, and finds no myst_nb.
So the plain notebooks, which hold the same code, run in any folder, too.
"""

import os
import pathlib
import tempfile

import nbmake.nb_run
from nbclient import NotebookClient

from tools.common import BUILD

ABSENT = "raise ModuleNotFoundError('chapters must do without myst_nb')\n"


class Anywhere(NotebookClient):
    """Takes an empty folder instead of the notebook's."""

    def execute(self, *arguments, cwd, **options):
        BUILD.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="reader-", dir=BUILD) as empty:
            super().execute(*arguments, cwd=empty, **options)
            if left := sorted(os.listdir(empty)):
                raise RuntimeError(f"leaves files in the reader's folder: {left}")


def pytest_configure(config):
    config.absent = tempfile.TemporaryDirectory(prefix="absent-")
    pathlib.Path(config.absent.name, "myst_nb.py").write_text(ABSENT)
    path = [config.absent.name, os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    nbmake.nb_run.NotebookClient = Anywhere


def pytest_unconfigure(config):
    nbmake.nb_run.NotebookClient = NotebookClient
    config.absent.cleanup()
