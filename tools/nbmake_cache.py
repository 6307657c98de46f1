"""A pytest plugin: notebooks that nbmake has run go into the book's execution cache.

`make test` needs both the result of every notebook and a built book. With this
plugin each notebook is executed once for the two.
"""

import nbmake.nb_run
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

from tools.common import JUPYTER_CACHE

execute = nbmake.nb_run.NotebookRun.execute


def execute_and_store(self):
    result = execute(self)
    if result.error is None:
        store(result.nb, self.filename)
    return result


def store(notebook, path):
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # time stamps of the single cells
    get_cache(JUPYTER_CACHE).cache_notebook_bundle(
        CacheBundleIn(notebook, str(path), data={}),
        check_validity=False,
        overwrite=True,
    )


def pytest_configure(config):
    JUPYTER_CACHE.mkdir(parents=True, exist_ok=True)
    if not hasattr(config, "workerinput"):  # once, before the workers start
        get_cache(JUPYTER_CACHE).list_cache_records()
    nbmake.nb_run.NotebookRun.execute = execute_and_store


def pytest_unconfigure(config):
    nbmake.nb_run.NotebookRun.execute = execute
