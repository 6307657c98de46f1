"""The page checks themselves, on small pages that are spoilt in one way each."""

import pytest

from tests.book import browser as look
from tests.book import links

GOOD = """<!doctype html><html lang="en"><head><title>Good</title>
<meta name="viewport" content="width=device-width"></head>
<body style="background:#fff;color:#000"><main><h1 id="top">Good</h1>
<p>Plain text with a <a href="#top">link</a>.</p>{extra}</main></body></html>"""

WIDE_TABLE = (
    '<div class="bd-article"><table class="{}" style="display: block; '
    'width: 300px; {}">'
    '<tr><td><div style="width: 900px">wide</div></td></tr></table></div>'
)
FORMULA = '<span class="math">{}</span>'


@pytest.fixture
def visit_page(browser, tmp_path):
    """Open a small page whose body has something extra in it."""
    visits = []

    def open_page(extra):
        (tmp_path / "page.html").write_text(GOOD.format(extra=extra))
        visits.append(look.Visit(browser, tmp_path.as_uri(), "page.html"))
        return visits[-1]

    yield open_page
    for visit in visits:
        visit.context.close()


SPOILT = {
    "outside": (
        look.requests_outside,
        '<img alt="far" src="http://127.0.0.1:9/a.png">',
    ),
    "console": (look.script_errors, "<script>console.error('no')</script>"),
    "exception": (look.script_errors, "<script>throw Error('no')</script>"),
    "lost file": (look.script_errors, '<script src="lost.js"></script>'),
    "untypeset": (look.broken_formulas, FORMULA.format("x")),
    "error": (
        look.broken_formulas,
        FORMULA.format("<mjx-container><mjx-merror>x</mjx-merror></mjx-container>"),
    ),
    "red": (
        look.broken_formulas,
        FORMULA.format(
            '<mjx-container><mjx-mtext style="color: red">x</mjx-mtext></mjx-container>'
        ),
    ),
    "raw": (look.broken_formulas, "<p>Let \\theta be given.</p>"),
    "image": (look.broken_images, '<img alt="lost" src="lost.png">'),
    "wide": (look.horizontal_overflow, '<div style="width:900px">wide</div>'),
    "cut table": (look.cut_tables, WIDE_TABLE.format("", "overflow: hidden")),
    "sideways": (look.cut_tables, WIDE_TABLE.format("autosummary", "overflow: auto")),
    "pale": (
        lambda visit: look.poor_contrast(visit, "light"),
        '<p style="color:#ccc">pale</p>',
    ),
    "pale in part": (
        lambda visit: look.poor_contrast(visit, "light"),
        '<div style="background:#1119"><p style="color:#0008">dim</p></div>',
    ),
    "nameless": (
        look.accessibility,
        '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_check_sees_what_is_wrong(name, visit_page):
    check, extra = SPOILT[name]
    assert list(check(visit_page(extra))), f"nothing seen in {extra}"


def test_checks_accept_a_good_page(visit_page):
    visit = visit_page("")
    assert {name: list(check(visit)) for name, (check, _) in SPOILT.items()} == {
        name: [] for name in SPOILT
    }


def test_links_are_followed(tmp_path):
    (tmp_path / "other.html").write_text('<p id="here">x</p>')
    page = tmp_path / "page.html"
    page.write_text(
        '<a href="other.html#here">good</a> <a href="https://example.org">far</a>'
        '<a href="other.html#gone">bad</a> <a href="gone.html">bad</a>'
        '<img src="no.png">'
    )
    assert len(list(links.dead_links(page))) == 3


def test_remote_parts_and_failed_markup_are_seen(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<script src="https://example.org/a.js"></script>'
        '<link rel="stylesheet" href="//example.org/a.css">'
        '<span class="problematic">x</span><div class="output stderr">warned</div>'
    )
    assert len(list(links.remote_parts(page))) == 2
    assert len(list(links.failed_markup(page))) == 2
