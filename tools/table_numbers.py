"""A Sphinx extension: tables that a cell computes are numbered, as figures are.

A table with a caption becomes "Table 19.2", chapter and place, where the chapter has a
number. Its place on the page gets a name, to be linked to. The caption comes
from `styled_table`, or from the metadata of the cell (`mystnb: table: caption`), where
the code should stay as short as a reader would write it. Zero has no sign in any table:
pandas writes "-0.00" for what rounds to it.
"""

import html
import re

from docutils import nodes

TABLE = re.compile(r"<table[^>]*>")
CAPTION = re.compile(r"<caption>")
SIGNED_ZERO = re.compile(r"(<td[^>]*>)-(0(?:\.0*)?</td>)")
NUMBERED = (
    '<caption id="table-{count}"><span class="caption-number">Table {number} </span>'
)


def said_by_the_cell(node):
    """The caption in the metadata of the cell around a node, or nothing."""
    while node is not None and node.get("nb_element") != "cell_code":
        node = node.parent
    metadata = node.get("cell_metadata", {}) if node is not None else {}
    return metadata.get("mystnb", {}).get("table", {}).get("caption", "")


def with_caption(text, caption):
    """The HTML of a table with this caption, unless it has one."""
    if not caption or CAPTION.search(text):
        return text
    words = html.escape(caption, quote=False)
    return TABLE.sub(lambda t: f"{t[0]}<caption>{words}</caption>", text, count=1)


def number_tables(app, doctree, docname):
    if app.builder.format != "html":
        return
    chapter = app.env.toc_secnumbers.get(docname, {}).get("")
    count = len(app.env.toc_fignumbers.get(docname, {}).get("table", {}))
    for raw in doctree.findall(nodes.raw):
        if raw.get("format") != "html" or "<table" not in raw.astext():
            continue
        text = SIGNED_ZERO.sub(r"\1\2", raw.astext())
        text = with_caption(text, said_by_the_cell(raw))
        if chapter and CAPTION.search(text):
            count += 1
            said = NUMBERED.format(count=count, number=f"{chapter[0]}.{count}")
            text = CAPTION.sub(said, text, count=1)
        raw.children = [nodes.Text(text)]


def setup(app):
    app.connect("doctree-resolved", number_tables, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
