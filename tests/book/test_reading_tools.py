"""The extensions that make the pages pleasant, on small examples."""

import sys

import pytest
from docutils import nodes

from tests.book.sources import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import cited_in
import fold_names
import hovers
import light_icons
import search_words
import table_numbers

PAGE = (
    "<script>window.MathJax = {}</script>\n"
    '<script defer="defer" src="../_static/mathjax/tex.js?v=1"></script>\n<p>{}</p>'
)


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("words", False),
        ('<span class="math">\\(x\\)</span>', True),
        ('<div class="output text_latex">x</div>', True),
        ("\\[ x \\]", True),
    ],
)
def test_mathjax_stays_where_there_are_formulas(text, stays):
    page = PAGE.replace("{}</p>", f"{text}</p>")
    assert ("mathjax" in light_icons.without_idle_mathjax(page)) is stays


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ('def f(x):\n    "Play it; return all."\n    return x', "Code: Play it"),
        ('def f(x):\n    """Loss. In words."""\n    plt.plot(x)', "figure: Loss"),
        ("# drift without noise\nassert x", "Check: drift without noise"),
        ("x = 1", "Code: Section"),
        ("plotting.styled_table(x)", "Code: Section"),
        ("plotting.ellipse(x)", "Code of the figure: Section"),
    ],
)
def test_folds_are_named_after_what_is_inside(code, name):
    assert fold_names.name_of(code, "Section").endswith(name)


BODY = """<div class="proof lemma admonition" id="lem-a"><p>If <a href="x">this</a>
<a class="headerlink" href="#lem-a">#</a></p>
<div class="math" id="equation-e">\\[x\\]</div></div>
<dl class="glossary"><dt id="term-arm">arm</dt><dd>One.</dd>
<dt id="term-a">a</dt><dt id="term-b">b</dt><dd>Two.</dd></dl>"""


def test_previews_hold_what_links_lead_to_and_no_more():
    found = {name: text for names, text in hovers.previews(BODY) for name in names}
    assert set(found) == {"lem-a", "equation-e", "term-arm", "term-a", "term-b"}
    assert found["term-a"] == found["term-b"] != found["term-arm"]
    for text in found.values():
        assert "<a" not in text and "id=" not in text and "#" not in text
    assert "this" in found["lem-a"] and "\\[x\\]" in found["lem-a"]


def linked(text, waiting):
    paragraph = nodes.paragraph("", text)
    hovers._link_in(paragraph[0], waiting, "glossary.html")
    return [
        (link.astext(), link["refuri"]) for link in paragraph.findall(nodes.reference)
    ]


def test_first_mention_of_a_term_is_linked():
    waiting = {"ucb": "#term-UCB", "upper confidence bound": "#term-UCB", "arm": "#a"}
    assert linked("A D-LinUCB and charms.", waiting) == []  # parts of words
    found = linked("Take the Upper confidence bounds of UCB.", waiting)
    assert found == [("Upper confidence bounds", "glossary.html#term-UCB")]
    assert waiting == {"arm": "#a"}  # its other name is not linked again


def test_zero_in_a_table_has_no_sign():
    row = "<td>-0.00</td><td class='x'>-0</td><td>-0.01</td><td>-0.5</td>"
    text = table_numbers.SIGNED_ZERO.sub(r"\1\2", row)
    assert text == "<td>0.00</td><td class='x'>0</td><td>-0.01</td><td>-0.5</td>"


def test_a_cell_may_say_the_caption_of_its_table():
    said = {"mystnb": {"table": {"caption": "less < more"}}}
    cell = nodes.container(nb_element="cell_code", cell_metadata=said)
    raw = nodes.raw("", '<table class="a"><tr></tr></table>', format="html")
    cell += nodes.container("", raw)
    caption = table_numbers.said_by_the_cell(raw)
    text = table_numbers.with_caption(raw.astext(), caption)
    assert text.startswith('<table class="a"><caption>less &lt; more</caption><tr>')
    assert table_numbers.with_caption(text, "another") == text  # its own comes first
    assert table_numbers.said_by_the_cell(nodes.raw()) == ""


def test_items_of_the_paper_lead_to_labels():
    items = search_words.items_by_label()
    assert "Lemma 3" in items["lem-prior-term"]
    assert {"Equation (1)", "Equation 1"} <= set(items["eq-wrls-objective"])
    assert "Table 2" in items["chap-main-table"]


def test_pages_that_cite_come_in_reading_order():
    class Environment:
        toctree_includes = {"root": ["b", "a"], "b": ["c"]}

        class config:
            root_doc = "root"

    assert list(cited_in.reading_order(Environment)) == ["root", "b", "c", "a"]
