"""What a reader meets: search, weight, pictures on a phone and in the dark, folds."""

import pathlib
import re
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
    "Lemma 3": "07_prior",
    "Lemma D.2": "12_randomised",
    "Theorem 2": "12_randomised",
    "Corollary 3": "12_randomised",
    "Equation (1)": "02_wrls",
    "off-policy": "off_policy",
    "logistic": "clicks",
    "many users": "fleet",
    "MASTER": "part6_field/master",
    "own environment": "own_environment",
    "delayed rewards": "own_loop",
    "which algorithm": "choose",
    "how to choose gamma": "choose",
    "Gaussian process": "walks",
    "change point": "part6_field/changes",
    "weather": "rain",
    "trust region": "07_prior",
    "licence": "intro",
    "open bandit": "off_policy",
    "JavaScript": "part5_use/live",
    "posterior sampling": "16_thompson",
    "lambda": "02_wrls",
}
# The three best pages for a query: what the page shows, without drawing it.
FIRST_THREE = """query => Search._performSearch(...Search._parseQuery(query))
  .slice(-3).map(([page, , anchor]) => page + anchor)"""


@pytest.fixture(scope="module")
def searching(browser, site):
    """One tab for all queries, as a reader has."""
    with look.Visit(browser, site, "search.html") as visit:
        yield visit


@pytest.mark.parametrize("query", QUERIES)
def test_search_gives_the_right_page(query, searching):
    searching.tab.wait_for_function("() => Search.hasIndex()")
    first = searching.tab.evaluate(FIRST_THREE, query)
    assert any(QUERIES[query] in link for link in first), first


@pytest.mark.parametrize("query", ["regret", "Table 3"])
def test_a_place_is_listed_once(query, searching):
    searching.tab.wait_for_function("() => Search.hasIndex()")
    found = searching.tab.evaluate(
        "query => Search._performSearch(...Search._parseQuery(query))"
        ".map(([page, title]) => page + title)",
        query,
    )
    assert len(found) > 3 and len(set(found)) == len(found)


TERM = """<div role="main"><dl><dt id="term-x">width</dt><dd>At most
<span class="math">\\(\\norm{\\theta_t} \\le \\sqrt{d}\\)</span>.</dd></dl></div>"""


def test_snippets_are_words_and_signs(searching):
    """A term comes with what it means, and a formula without TeX's names."""
    text = searching.tab.evaluate("html => Search.htmlToText(html, '#term-x')", TERM)
    assert text.strip() == "width At most ‖θ_t ≤ √d."


MOST_BYTES = 1_200_000


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


SMALLEST_LETTER = 9  # pixels
ON_A_PHONE = 544  # pixels a picture has at least, see custom.css
LETTERS = re.compile(r"scale\((0\.\d+) -0\.\d+\)")  # of a font of 100 points
WIDTH = re.compile(r'viewBox="0 0 ([\d.]+) ')


def test_letters_in_drawings_can_be_read_on_a_phone(html):
    """Every drawing of a cell, by the size of its letters in its own units."""
    small = {}
    for path in sorted((html / "_images").glob("*.svg")):
        text = path.read_text(encoding="utf-8")
        letters = [float(size) for size in LETTERS.findall(text)]
        if letters:
            pixels = 100 * min(letters) * ON_A_PHONE / float(WIDTH.search(text)[1])
            small |= {path.name: round(pixels, 1)} if pixels < SMALLEST_LETTER else {}
    assert not small


@pytest.fixture(scope="module")
def chapter(browser, html):
    """A chapter with figures, formulas and proofs, from its file, for several looks."""
    page = "book/part2_proofs/07_prior.html"
    with look.Visit(browser, html.as_uri(), page) as visit:
        yield visit


def test_dark_pictures_have_no_light_box(chapter):
    look.choose_theme(chapter, "dark")
    filters = chapter.tab.evaluate(
        "() => [...document.querySelectorAll('.cell_output img')]"
        ".map(i => getComputedStyle(i).filter)"
    )
    look.choose_theme(chapter, "light")
    assert filters and all("invert" in value for value in filters)


LINKS = {
    "a term": "a.term-link",
    "a formula": "a.reference[href*='#equation-']",
    "a work": "a.reference[href*='bibliography.html#id']",
}


@pytest.mark.parametrize("kind", LINKS)
def test_resting_on_a_link_shows_where_it_leads(kind, chapter):
    """By pointer and by keyboard, without another page; Escape closes it."""
    tab = chapter.tab
    link = tab.locator(f".bd-article {LINKS[kind]}:visible").first
    box = tab.locator("#wsbnb-hover")
    link.hover()
    box.wait_for()
    assert box.inner_text().strip()
    assert link.get_attribute("aria-describedby") == "wsbnb-hover"
    tab.keyboard.press("Escape")
    assert box.count() == 0
    tab.mouse.move(1, 1)
    tab.keyboard.press("Tab")  # from now on the keyboard leads
    link.focus()
    box.wait_for()
    outline = link.evaluate("e => getComputedStyle(e).outlineStyle")
    link.blur()
    tab.keyboard.press("Escape")
    assert outline not in ("", "none")
    assert not list(look.script_errors(chapter))


def test_first_tap_shows_and_second_follows(browser, html):
    context = browser.new_context(viewport=look.NARROW, has_touch=True)
    tab = context.new_page()
    page = html / "book/part2_proofs/07_prior.html"
    tab.goto(page.as_uri())
    link = tab.locator(".bd-article a.term-link:visible").first
    link.tap()
    tab.locator("#wsbnb-hover").wait_for()
    assert tab.url == page.as_uri()
    tab.get_by_role("link", name="Go there").tap()
    tab.wait_for_url("**/glossary.html#term-*")
    context.close()


def test_proofs_end_and_statements_differ(chapter):
    marks, colours = chapter.tab.evaluate(
        "() => [[...document.querySelectorAll('div.proof-text')].map("
        "  e => getComputedStyle(e, '::after').content),"
        " ['lemma', 'proposition'].map(k => document.querySelector('div.' + k)).map("
        "  e => e && getComputedStyle(e).borderLeftColor)]"
    )
    assert len(marks) > 1 and set(marks) == {'"∎"'}
    assert all(colours)


def test_long_formulas_scroll_on_a_phone(browser, html):
    """No formula is cut: what is wider than the phone can be moved sideways."""
    address = "book/part2_proofs/10_ellipsoid.html"
    with look.Visit(browser, html.as_uri(), address, look.NARROW) as visit:
        cut = visit.tab.evaluate(
            """() => [...document.querySelectorAll('div.math')].filter(e => {
              const formula = e.querySelector('mjx-container');
              if (!formula || formula.scrollWidth <= e.clientWidth) return false;
              return ![formula, e].some(
                p => ['auto', 'scroll'].includes(getComputedStyle(p).overflowX));
            }).map(e => e.textContent.slice(0, 60))"""
        )
    assert not cut


def test_works_say_where_they_are_cited(html):
    soup = links.soup(html / "book/bibliography.html")
    entries = soup.select("div.citation")
    cited = [entry for entry in entries if entry.select("p.cited-in a[href]")]
    assert len(cited) > 0.7 * len(entries)


def test_statements_are_listed_by_title(html):
    soup = links.soup(html / "prf-prf.html")
    names = [tag.get_text() for tag in soup.select("table.indextable a code")]
    assert any(name.startswith("Theorem ") for name in names)
    assert sum(": " in name for name in names) > 0.9 * len(names) > 20


PRINTED = """() => {
  const style = selector => getComputedStyle(document.querySelector(selector));
  return {title: style('.bd-article h1').display, second:
    style('#jb-print-docs-body').display, code: style('div.cell_input').breakInside,
    table: style('.bd-article table').breakInside, menu: style('.bd-header').display};
}"""


def test_paper_has_one_title_and_whole_frames(chapter):
    """The title with its number, no frame cut, no page left empty by a long table."""
    chapter.tab.emulate_media(media="print")
    printed = chapter.tab.evaluate(PRINTED)
    chapter.tab.emulate_media(media="screen")
    wanted = {"title": "block", "second": "none", "menu": "none"}
    assert printed == wanted | {"code": "avoid", "table": "auto"}


def test_every_table_that_a_cell_computes_has_a_caption(html):
    tables = [
        (entry, table)
        for entry in ENTRIES
        for table in links.soup(links.html_of(entry, html)).select(".cell_output table")
        if not table.find_parent(class_="wsbnb-live")  # it has a title of its own
    ]
    bare = [(entry, t.get_text()[:60]) for entry, t in tables if not t.caption]
    assert len(tables) > 90 and not bare


def test_tables_are_numbered_and_zero_has_no_sign(html):
    pages = [links.soup(links.html_of(entry, html)) for entry in ENTRIES]
    found = [tag for page in pages for tag in page.select("caption .caption-number")]
    numbers = [tag.get_text().strip() for tag in found]
    assert len(numbers) > 30 and len(set(numbers)) == len(numbers)
    entries = [tag.get_text() for page in pages for tag in page.select("td")]
    assert not [text for text in entries if re.fullmatch(r"[-−]0(\.0*)?", text)]


@pytest.mark.parametrize("entry", ENTRIES)
def test_folds_have_names_of_their_own(entry, html):
    soup = links.soup(links.html_of(entry, html))
    names = [tag.get_text() for tag in soup.select("details.hide summary")]
    general = [name for name in names if "code cell" in name or "Show the" in name]
    vague = ("Check: Solution", "Check: Exercise", "Solution: Exercise")
    general += [name for name in names if name.strip().startswith(vague)]
    assert not general
    assert not soup.select("details.hide > summary[aria-label]")  # heard, not the name


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
