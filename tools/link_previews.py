"""A Sphinx extension: what a page shows of itself when somebody sends its link.

The title is the page's, the text is the question that it opens with (its first
paragraph in italics) or else its first paragraph, the picture is the book's.
"""

import html

from docutils import nodes

LONGEST = 200
PICTURE = "_static/preview.png"


def opening(doctree):
    """The question a page opens with, or its first paragraph, as one line of text."""
    paragraphs = [p for p in doctree.findall(nodes.paragraph) if _is_text(p)]
    asked = [p for p in paragraphs if len(p) == 1 and isinstance(p[0], nodes.emphasis)]
    text = " ".join((asked or paragraphs)[0].astext().split()) if paragraphs else ""
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"


def _is_text(paragraph):
    """Not in a table or a note, and without formulas, whose TeX nobody wants to see."""
    around = (nodes.table, nodes.Admonition, nodes.list_item, nodes.container)
    parent = paragraph.parent
    while parent is not None:
        if isinstance(parent, around):
            return False
        parent = parent.parent
    return not any(paragraph.findall(nodes.math))


def add_tags(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    base = app.config.html_baseurl.rstrip("/")
    title = app.env.titles[pagename].astext()
    tags = {
        "og:type": "article",
        "og:site_name": app.config.html_title or app.config.project,
        "og:title": title,
        "og:description": opening(doctree),
        "og:url": f"{base}/{pagename}.html",
        "og:image": f"{base}/{PICTURE}",
    }
    lines = [
        f'<meta property="{name}" content="{html.escape(value)}">'
        for name, value in tags.items()
    ]
    lines.append('<meta name="twitter:card" content="summary_large_image">')
    said = html.escape(tags["og:description"])
    lines.append(f'<meta name="description" content="{said}">')
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)


def setup(app):
    app.connect("html-page-context", add_tags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
