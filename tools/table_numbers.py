"""A Sphinx extension: tables that a cell computes are numbered, as figures are.

A table with a caption becomes "Table 19.2", chapter and place, where the chapter has a
number. Its place on the page gets a name, so that it can be linked to.
"""

import re

from docutils import nodes

CAPTION = re.compile(r"<caption>")


def number_tables(app, doctree, docname):
    chapter = app.env.toc_secnumbers.get(docname, {}).get("")
    if app.builder.format != "html" or not chapter:
        return
    count = len(app.env.toc_fignumbers.get(docname, {}).get("table", {}))
    for raw in doctree.findall(nodes.raw):
        if raw.get("format") == "html" and CAPTION.search(raw.astext()):
            count += 1
            number = f"{chapter[0]}.{count}"
            said = (
                f'<caption id="table-{count}"><span class="caption-number">'
                f"Table {number} </span>"
            )
            text = CAPTION.sub(said, raw.astext(), count=1)
            raw.children = [nodes.Text(text)]
            raw.rawsource = text


def setup(app):
    app.connect("doctree-resolved", number_tables, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
