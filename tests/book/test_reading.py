"""What a reader meets: search, weight, pictures on a phone and in the dark, folds."""

import pathlib
import urllib.parse

import pytest

from tests.book import browser as look
from tests.book import links, sources

pytestmark = pytest.mark.pages

ENTRIES = [
    entry.removesuffix(".md").removesuffix(".ipynb") for entry in sources.entries()
]

# What readers type, and a part of the address that must be among the first three.
QUERIES = {
    "prior": "07_prior",
    "regret bound": "11_regret",
    "γ": "02_wrls",
    "gamma": "02_wrls",
    "glossary": "glossary",
    "notation": "notation",
    "Thompson sampling": "16_thompson",
    "UCB": "14_ucb",
    "drift": "06_drift",
    "noise radius": "09_noise",
    "ellipsoid": "10_ellipsoid",
    "errata": "13_errata",
    "speed": "26_cost",
    "install": "quickstart",
    "save": "save_restore",
    "sliding window": "own_policy",
    "WSBLinTS": "wsbnb.WSBLinTS",
    "potential lemma": "11_regret",
    "posterior": "03_wsb",
    "Table 2": "19_main_table",
    "fair comparison": "22_fair",
    "effective memory": "glossary",
}
FOUND = "#search-results li a"


@pytest.fixture(scope="module")
def searching(browser, site):
    """One tab for all queries, as a reader has."""
    with look.Visit(browser, site, "search.html") as visit:
        yield visit


@pytest.mark.parametrize("query", QUERIES)
def test_search_gives_the_right_page(query, searching):
    tab = searching.tab
    tab.goto(f"{searching.base}search.html?q={urllib.parse.quote(query)}")
    tab.wait_for_selector(FOUND)
    tab.wait_for_timeout(300)
    first = [a.get_attribute("href") for a in tab.locator(FOUND).all()[:3]]
    assert any(QUERIES[query] in link for link in first), first


MOST_BYTES = 2_350_000


def test_a_first_visit_is_light(browser, site, html):
    """All that the front page asks for, without compression."""
    with look.Visit(browser, site, "book/intro.html") as visit:
        visit.tab.wait_for_timeout(500)
        asked = {url.partition("?")[0] for url in visit.requests}
    paths = [
        url.removeprefix(visit.base) for url in asked if url.startswith(visit.base)
    ]
    sizes = {p: (html / urllib.parse.unquote(p)).stat().st_size for p in paths}
    heavy = sorted(sizes.items(), key=lambda item: -item[1])[:6]
    assert sum(sizes.values()) < MOST_BYTES, heavy


def test_pictures_are_drawings(html):
    """Most figures are SVG; pixels only where a drawing would be too heavy."""
    images = [
        tag["src"]
        for entry in ENTRIES
        for tag in links.soup(links.html_of(entry, html)).select(".cell_output img")
    ]
    drawn = [source for source in images if source.endswith(".svg")]
    assert len(drawn) > 0.75 * len(images)
    for source in drawn:
        name = pathlib.Path(source).name
        assert (html / "_images" / name).stat().st_size < 210_000, name


def test_dark_pictures_have_no_light_box(browser, site):
    with look.Visit(browser, site, "book/part1_estimators/02_wrls.html") as visit:
        look.choose_theme(visit, "dark")
        filters = visit.tab.evaluate(
            "() => [...document.querySelectorAll('.cell_output img')]"
            ".map(i => getComputedStyle(i).filter)"
        )
    assert filters and all("invert" in value for value in filters)


@pytest.mark.parametrize("entry", ENTRIES)
def test_folds_have_names_of_their_own(entry, html):
    soup = links.soup(links.html_of(entry, html))
    names = [tag.get_text() for tag in soup.select("details.hide summary")]
    general = [name for name in names if "code cell" in name or "Show the" in name]
    assert not general


def test_lost_readers_are_led_back(browser, site):
    with look.Visit(browser, site, "404.html") as visit:
        visit.tab.locator("a").first.click()
        visit.tab.wait_for_selector("article h1")


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_link_shows_title_text_and_picture(entry, html):
    soup = links.soup(links.html_of(entry, html))
    said = {
        tag["property"]: tag["content"] for tag in soup.select("meta[property^='og:']")
    }
    assert said["og:title"] and said["og:image"].endswith("preview.png")
    assert (html / "_static" / "preview.png").is_file()
    assert "\\" not in said["og:description"]
