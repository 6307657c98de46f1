"""Resolved documents as Markdown, one kind of node at a time."""

import pathlib
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx_proof", reason="needs what builds the book")
from docutils import nodes

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import plain_markdown
import plain_notebooks
from sphinx_proof.nodes import theorem_node

ENV = SimpleNamespace(
    toc_fignumbers={
        "book/a": {
            "theorem": {"thm": (4, 2)},
            "figure": {"fig": (4, 1)},
            "displaymath": {"equation-eq": (4, 3)},
        }
    },
    toc_secnumbers={"book/a": {"": (4,), "#inner": (4, 1)}},
)


@pytest.fixture
def writer():
    return plain_markdown.Writer("book/a", ENV, {"R": r"\mathbb{R}"}, {"id7"})


@pytest.fixture
def warned(monkeypatch):
    told = []
    monkeypatch.setattr(
        plain_markdown.LOGGER, "warning", lambda *words, **rest: told.append(words)
    )
    return told


def paragraph(*parts):
    return nodes.paragraph(
        "", "", *(nodes.Text(p) if p is str(p) else p for p in parts)
    )


def test_text_cannot_become_markup(writer):
    text = paragraph("a_b *c* $d [e] `f` <g> h\n|i| \\j")
    shown = r"a\_b \*c\* \$d \[e\] \`f\` &lt;g> h \|i\| \\j"
    assert writer.block(text) == shown


def test_theorem_is_a_numbered_quote(writer):
    inner = nodes.section("", paragraph("It holds in ", nodes.math("", r"\R"), "."))
    theorem = theorem_node("", nodes.title("", " (A name)"), inner, ids=["thm"])
    theorem["realtype"] = theorem["countertype"] = "theorem"
    assert writer.block(theorem) == (
        "> **Theorem 4.2** (A name)\n>\n> It holds in $\\mathbb{R}$."
    )


def test_equation_has_its_number(writer):
    labelled = nodes.math_block("", "a = b", label="eq", number=3, ids=["equation-eq"])
    assert writer.block(labelled) == r"$$ a = b \tag{4.3} $$"
    assert writer.block(nodes.math_block("", "a = b")) == "$$ a = b $$"


def test_folded_note_unfolds_by_a_click(writer):
    note = nodes.admonition("", nodes.title("", "Solution"), paragraph("It is 3."))
    note["classes"] = ["dropdown"]
    assert writer.block(note) == (
        "<details><summary>Solution</summary>\n\nIt is 3.\n\n</details>"
    )
    note["classes"] = []
    assert writer.block(note) == "> **Solution**\n>\n> It is 3."
    assert (
        writer.block(nodes.warning("", paragraph("Hot."))) == "> **Warning**\n>\n> Hot."
    )


def test_bar_in_a_table_does_not_end_the_cell(writer):
    def row(*cells):
        return nodes.row("", *(nodes.entry("", paragraph(cell)) for cell in cells))

    cells = row(nodes.math("", r"|x| + \|y\|"), nodes.literal("", "a | b"))
    head, body = nodes.thead("", row("what", "how")), nodes.tbody("", cells)
    group = nodes.tgroup("", head, body)
    lines = writer.block(nodes.table("", group)).splitlines()
    assert lines[:2] == ["| what | how |", "|---|---|"]
    assert lines[2] == r"| $\vert{}x\vert{} + \Vert{}y\Vert{}$ | `a \| b` |"


def test_references_become_words_and_links(writer):
    def link(text, **where):
        return nodes.reference("", text, **where)

    text = paragraph(
        link("chapter 5", refuri="part2/05.html#sec"),
        ", ",
        link("(4.3)", refid="equation-eq"),
        ", ",
        link("Werge [2026]", refuri="bibliography.html#id7"),
        ", ",
        link("API", refuri="api.html#f"),
        ", ",
        link("far", refuri="https://example.org/x"),
    )
    shown = writer.block(text)
    assert writer.cited == {"id7"}
    notebooks = {"book/part2/05", "book/a"}
    there = plain_markdown.with_links(shown, "book/a", notebooks, "https://s/")
    assert there == (
        r"[chapter 5](part2/05.ipynb), (4.3), Werge \[2026\], "
        "[API](https://s/book/api.html#f), [far](https://example.org/x)"
    )
    alone = plain_markdown.with_links(shown, "book/a", notebooks, "https://s/", True)
    assert "(https://s/book/part2/05.html#sec)" in alone


def test_picture_is_found_beside_the_notebook_and_on_the_page(writer):
    shown = writer.block(nodes.image("", uri="book/_assets/p.png", alt="a [b]"))
    assert writer.images == {"book/_assets/p.png"}
    links = plain_markdown.with_links
    assert links(shown, "book/part/a", (), "https://s/") == (
        r"![a \[b\]](../_assets/p.png)"
    )
    assert links(shown, "book/part/a", (), "https://s/", True).endswith(
        "(https://s/_images/p.png)"
    )


def test_live_figure_is_on_the_page(writer, warned):
    raw = nodes.raw("", '<div class="wsbnb-live">Play</div>', format="html")
    shown = plain_markdown.with_links(writer.block(raw), "book/a", (), "https://s/")
    assert "[the page](https://s/book/a.html)" in shown and not warned


def test_what_cannot_be_shown_is_told(writer, warned):
    assert writer.block(nodes.raw("", "<b></b>", format="html")) == "" and not warned
    writer.block(nodes.raw("", "<b>words</b>", format="html"))
    writer.block(nodes.option_list(""))
    writer.block(paragraph(nodes.problematic("", "x")))
    assert len(warned) == 3


def test_sections_have_their_numbers(writer):
    inner = nodes.section("", nodes.title("", "In"), ids=["inner"])
    outer = nodes.section("", nodes.title("", "Out"), inner, ids=["outer"])
    document = nodes.document("", "")
    document += outer
    assert writer.heading(outer, 1) == "# 4. Out"
    assert writer.heading(inner, 2) == "## 4.1. In"


def test_sentences_with_glued_numbers_become_templates(writer):
    number = nodes.inline("", "2.3", classes=["pasted-text"])
    other = nodes.inline("", "7", classes=["pasted-text"])
    text = paragraph("First. It took ", number, " s of ", other, ". Then nothing.")
    slots = [("time", ".1f"), ("all", "")]
    assert writer.quoted_sentences(text, slots) == [
        "It took «time:.1f=2.3» s of «all:=7»."
    ]
    assert writer.block(text) == "First. It took 2.3 s of 7. Then nothing."


@pytest.mark.parametrize(
    ("role", "slot"),
    [("a:.1f", ("a", ".1f")), ("a", ("a", "")), ("a-b:,d", ("a-b", ",d"))],
)
def test_glue_role_is_read(role, slot):
    assert plain_notebooks.slot(role) == slot


def test_launch_buttons_go_to_the_branch():
    repository = "https://github.com/wsbnb/wsbnb"
    binder = "https://mybinder.org/v2/gh/wsbnb/wsbnb/{}?urlpath=lab/tree/book/a.ipynb"
    colab = "https://colab.research.google.com/github/wsbnb/wsbnb/blob/{}/book/a.ipynb"
    for address in (binder, colab):
        new = plain_notebooks.on_branch(address.format("main"), repository, "plain")
        assert new == address.format("plain")


def test_outputs_that_need_the_page_are_left_out():
    def output(**data):
        return {"output_type": "display_data", "data": data, "metadata": {}}

    live, table = (
        output(**{"text/html": "<script>"}),
        output(**{"text/html": "<table>"}),
    )
    glued = {**output(), "metadata": {"scrapbook": {"name": "x"}}}
    assert plain_notebooks.shown(live) is plain_notebooks.shown(glued) is None
    drawn = output(**{"text/html": "<figure><svg></svg></figure>"})  # Lab strips it
    assert plain_notebooks.shown(drawn) is None
    assert plain_notebooks.shown(table) is table


def test_cell_for_the_notebook_is_open_there():
    assert plain_notebooks.folding(["remove-cell"]).jupyter.source_hidden
    assert "jupyter" not in plain_notebooks.folding(["remove-cell", "in-notebook"])
