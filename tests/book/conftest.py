"""The built book, shared by the page tests of one process."""

import os
import pathlib

import pytest

from tests.book.browser import Site, missing

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def html():
    """The folder of the built book."""
    folder = pathlib.Path(os.environ.get("WSBNB_HTML", ROOT / "_build" / "html"))
    if not (folder / "index.html").is_file():
        missing("there is no built book: run make book")
    return folder.resolve()


@pytest.fixture(scope="session")
def site(html):
    """The built book over http."""
    with Site(html) as site:
        yield site.url
