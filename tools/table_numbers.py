"""A Sphinx extension: tables that a cell computes are numbered, as figures are.

A table with a caption becomes "Table 19.2", chapter and place, where the chapter has a
number. Its place on the page gets a name, so that it can be linked to. Zero has no sign
in any table: pandas writes "-0.00" for what rounds to it.
"""

import re

from docutils import nodes

CAPTION = re.compile(r"<caption>")
SIGNED_ZERO = re.compile(r"(<td[^>]*>)-(0(?:\.0*)?</td>)")
NUMBERED = (
    '<caption id="table-{count}"><span class="caption-number">Table {number} </span>'
)


def number_tables(app, doctree, docname):
    if app.builder.format != "html":
        return
    chapter = app.env.toc_secnumbers.get(docname, {}).get("")
    count = len(app.env.toc_fignumbers.get(docname, {}).get("table", {}))
    for raw in doctree.findall(nodes.raw):
        if raw.get("format") != "html" or "<table" not in raw.astext():
            continue
        text = SIGNED_ZERO.sub(r"\1\2", raw.astext())
        if chapter and CAPTION.search(text):
            count += 1
            said = NUMBERED.format(count=count, number=f"{chapter[0]}.{count}")
            text = CAPTION.sub(said, text, count=1)
        raw.children = [nodes.Text(text)]


def setup(app):
    app.connect("doctree-resolved", number_tables, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
