"""The built book and a browser, shared by the page tests of one process."""

import os
import pathlib

import pytest

from tests.book.browser import FLAGS, Site, find_browser

ROOT = pathlib.Path(__file__).resolve().parents[2]


def missing(reason):
    """Skip with the reason, or fail where nothing may be skipped (as in CI)."""
    if os.environ.get("WSBNB_REQUIRE_BROWSER", "") not in ("", "0"):
        pytest.fail(f"{reason} (WSBNB_REQUIRE_BROWSER is set)")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def html():
    """The folder of the built book."""
    folder = pathlib.Path(os.environ.get("WSBNB_HTML", ROOT / "_build" / "html"))
    if not (folder / "index.html").is_file():
        missing("there is no built book: run make book")
    return folder.resolve()


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = find_browser(playwright)
        if path is None:
            missing("there is no Chromium: apt-get install chromium, or WSBNB_BROWSER")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(html):
    """The built book over http."""
    with Site(html) as site:
        yield site.url
