"""The built book in a real browser: typeset, at home, readable in the dark."""

import json

import pytest

from tests.book import browser as look
from tests.book import links, sources

pytestmark = pytest.mark.pages

ENTRIES = [
    entry.removesuffix(".md").removesuffix(".ipynb") for entry in sources.entries()
]
NOTEBOOKS = [
    path.relative_to(sources.ROOT).with_suffix("").as_posix()
    for path in sources.notebook_files()
]
# One page of each kind for the full accessibility check.
SAMPLE = list(dict.fromkeys([ENTRIES[0], *NOTEBOOKS[:1], *NOTEBOOKS[-1:], ENTRIES[-1]]))
# Every page is opened from its file, where a browser forbids most; these over http too.
OVER_HTTP = list(dict.fromkeys([*SAMPLE, *ENTRIES[::16]]))


def told(complaints):
    return "\n" + "\n".join(complaints)


@pytest.mark.parametrize("entry", ENTRIES)
def test_page_from_file(entry, browser, html):
    with look.Visit(browser, html.as_uri(), f"{entry}.html") as visit:
        complaints = [
            *look.broken_formulas(visit),
            *look.broken_images(visit),
            *look.poor_contrast(visit, "light"),
            *look.poor_contrast(visit, "dark"),
            *look.horizontal_overflow(visit),  # from here on as on a telephone
            *look.squeezed_pictures(visit),
            *look.cut_tables(visit),
            *look.requests_outside(visit),
            *look.script_errors(visit),
        ]
    assert not complaints, told(complaints)


@pytest.mark.parametrize("entry", OVER_HTTP)
def test_page_over_http(entry, browser, site):
    with look.Visit(browser, site, f"{entry}.html") as visit:
        complaints = [
            *look.broken_formulas(visit),
            *look.broken_images(visit),
            *look.requests_outside(visit),
            *look.script_errors(visit),
            *(look.accessibility(visit) if entry in SAMPLE else []),
        ]
    assert not complaints, told(complaints)


@pytest.mark.parametrize("entry", ENTRIES)
def test_links_lead_somewhere(entry, html):
    page = links.html_of(entry, html)
    complaints = [
        *links.dead_links(page),
        *links.remote_parts(page),
        *links.failed_markup(page),
    ]
    assert not complaints, told(complaints)


@pytest.mark.parametrize("entry", NOTEBOOKS)
def test_chapter_offers_launch_edit_and_download(entry, html):
    soup = links.soup(links.html_of(entry, html))
    addresses = [tag["href"] for tag in soup.select("a[href]")]
    for start in ("https://mybinder.org/", "https://colab.research.google.com/"):
        assert any(a.startswith(start) and entry in a for a in addresses), start
    assert any("/edit/" in a and f"{entry}.ipynb" in a for a in addresses)
    assert any("_sources/" in a and a.endswith(".ipynb") for a in addresses)


@pytest.mark.parametrize("entry", NOTEBOOKS)
def test_every_figure_of_the_notebook_is_there(entry, html):
    notebook = json.loads((sources.ROOT / f"{entry}.ipynb").read_text("utf-8"))
    captioned = [cell["metadata"].get("mystnb", {}) for cell in notebook["cells"]]
    wanted = {m["figure"]["name"] for m in captioned if "figure" in m}
    figures = links.soup(links.html_of(entry, html)).select("figure[id]")
    shown = {tag["id"] for tag in figures if tag.select("img, svg, .cell_output")}
    assert wanted <= shown, f"missing: {sorted(wanted - shown)}"


@pytest.mark.parametrize("entry", NOTEBOOKS)
def test_code_leads_to_the_reference(entry, html):
    soup = links.soup(links.html_of(entry, html))
    linked = soup.select(".cell_input a[href*='/api/'][href*='.html#wsbnb.']")
    assert linked, "no name of the package in a code cell leads to the API reference"


@pytest.mark.parametrize("over", ["http", "file"])
def test_search_finds_a_word(over, browser, site, html):
    base = site if over == "http" else html.as_uri()
    with look.Visit(browser, base, "search.html?q=bandits") as visit:
        visit.tab.wait_for_selector("#search-results li a")
        visit.tab.wait_for_timeout(500)
        titles = visit.tab.locator("#search-results li a").all_inner_texts()
        snippets = visit.tab.locator("#search-results li .context").all_inner_texts()
        complaints = [*look.requests_outside(visit)]
        if over == "http":
            complaints += look.script_errors(visit)
    assert titles and all(title.strip() for title in titles)
    assert not complaints, told(complaints)
    if over == "http":  # browsers do not let a page read other files
        assert any("bandit" in snippet.lower() for snippet in snippets)
        unreadable = ("\\", "Contents", "Suggest edit", "$")
        assert not [s for s in snippets if any(sign in s for sign in unreadable)]


def test_front_door_leads_to_the_first_page(browser, html):
    with look.Visit(browser, html.as_uri(), "index.html") as visit:
        visit.tab.wait_for_selector("article h1")
        assert visit.tab.url.endswith(f"{ENTRIES[0]}.html")


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_theme_button_switches_to_dark(width, browser, site):
    """The reader's own way to the dark theme works, not only the tests' shortcut."""
    viewport = look.WIDE if width == "wide" else look.NARROW
    with look.Visit(browser, site, f"{ENTRIES[0]}.html", viewport) as visit:
        button = visit.tab.locator(".theme-switch-button:visible").first
        for _ in range(3):
            button.click()
            theme = visit.tab.evaluate("document.documentElement.dataset.theme")
            if theme == "dark":
                break
        background = visit.tab.evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
    assert theme == "dark"
    numbers = background.strip("rgba()").split(",")[:3]
    assert sum(map(int, numbers)) < 3 * 80
