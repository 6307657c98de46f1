"""Settings for all tests."""

import os

import matplotlib as mpl
import pytest

from tests.book.browser import FLAGS, find_browser, missing

# Test processes fill the cores already; more threads in BLAS only slow them down.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Whether a kernel is compiled already must not decide what a test reads on stderr.
os.environ.setdefault("WSBNB_QUIET", "1")
# Not through MPLBACKEND: the kernels of nbmake would inherit it, and the book that is
# built from what they ran would have no pictures.
mpl.use("agg")

#: Files that take longest. Workers take whole files; a long one at the end would keep
#: one of them busy while the others have nothing left to do.
SLOW = ("plain_python", "running_again", "mutants", "live_tools", "kernels", "saving")
SLOW += ("random_calls", "exploration", "adaptive_files", "same_bits", "packaging")


def pytest_collection_modifyitems(items):
    ranks = {f"test_{name}.py": rank for rank, name in enumerate(SLOW)}
    items.sort(key=lambda item: ranks.get(item.path.name, len(SLOW)))  # keeps the rest


@pytest.fixture(scope="session")
def browser():
    """One for a process: Playwright starts no second one beside it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = find_browser(playwright)
        if path is None:
            missing("there is no Chromium: apt-get install chromium, or WSBNB_BROWSER")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
