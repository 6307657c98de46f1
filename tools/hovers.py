"""A Sphinx extension: what links to terms, formulas, works and theorems lead to.

While the pages are written, everything a short link may point at is kept: entries of
the glossary and of the bibliography, numbered formulas, statements. It becomes one
script of data, which `hovers.js` asks for when the reader first rests on such a link:
a page by itself stays as light as it was, and works from a folder. The first mention
of a term on a page of the text becomes a link to the glossary.
"""

import copy
import json
import pathlib
import re

from bs4 import BeautifulSoup
from docutils import nodes

GLOSSARY = "book/glossary"
TEXT = re.compile(r"book/part\d")
#: Terms that mean other things as well.
NOT_LINKED = {"memory", "arm", "restart", "replay"}
NO_TERM_IN = (nodes.reference, nodes.literal, nodes.math, nodes.table, nodes.caption)
PLACES = "div.math[id^=equation-], div.citation[id], div.proof[id]"
FILE = "hover-data.js"
LONGEST = 4000

# The first mention of a term


def terms(env):
    """Address in the glossary of every term that is linked, by its lower case."""
    found = env.domains["std"].objects.items()
    return {
        name.lower(): f"#{anchor}"
        for (kind, name), (page, anchor) in found
        if kind == "term" and page == GLOSSARY and name.lower() not in NOT_LINKED
    }


def link_terms(app, doctree, docname):
    if app.builder.format != "html" or not TEXT.match(docname):
        return
    waiting = terms(app.env)
    glossary = app.builder.get_relative_uri(docname, GLOSSARY)
    for paragraph in list(doctree.findall(nodes.paragraph)):
        for text in list(paragraph.findall(nodes.Text)):
            if waiting and not _is_inside(text, NO_TERM_IN):
                _link_in(text, waiting, glossary)


def _link_in(text, waiting, glossary):
    """Make the first waiting term in a piece of text a link."""
    names = "|".join(map(re.escape, sorted(waiting, key=len, reverse=True)))
    said = re.search(rf"(?<![\w-])({names})s?(?![\w-])", text.astext(), re.IGNORECASE)
    if not said:
        return
    target = waiting.pop(said[1].lower())
    for name in [name for name, other in waiting.items() if other == target]:
        del waiting[name]
    link = nodes.reference(
        "", said[0], refuri=glossary + target, internal=True, classes=["term-link"]
    )
    before, after = text[: said.start()], text[said.end() :]
    parts = [nodes.Text(before), link, nodes.Text(after)]
    text.parent.replace(text, parts)


def _is_inside(node, kinds):
    while (node := node.parent) is not None:
        if isinstance(node, kinds) or "cell" in getattr(node, "attributes", {}).get(
            "classes", []
        ):
            return True
    return False


# What links lead to


def previews(body):
    """What a page offers to links: names of the place, and a piece of HTML."""
    page = BeautifulSoup(body, "lxml")
    for place in page.select(
        "div.math[id^=equation-], div.citation[id], div.proof[id]"
    ):
        yield [place["id"]], _inside(place)
    for said in page.select("dl.glossary > dd"):
        names = []
        for name in said.find_previous_siblings(["dt", "dd"]):
            if name.name == "dd":
                break
            names.append(name["id"])
        yield names, _inside(said)


def _inside(place):
    """The HTML of a place without what only makes sense there."""
    place = copy.copy(place)
    for part in place.select(".headerlink, .backrefs, .label, script, img, button"):
        part.decompose()
    for part in [place, *place.find_all(True)]:
        for name in ("id", "role", "tabindex"):
            part.attrs.pop(name, None)
    for link in place.select("a"):
        link.unwrap()
    place.name = "div"
    return str(place)


def keep_previews(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    for names, text in previews(context.get("body") or "<p></p>"):
        for name in names if len(text) <= LONGEST else []:
            app.hover_data[f"{pagename}.html#{name}"] = text


def write_previews(app, exception):
    if exception is None and app.builder.format == "html":
        data = json.dumps(app.hover_data, ensure_ascii=False, sort_keys=True)
        target = pathlib.Path(app.outdir) / "_static" / FILE
        target.write_text(f"window.wsbnbHovers({data});\n", encoding="utf-8")


def start(app):
    app.hover_data = {}


def setup(app):
    app.connect("builder-inited", start)
    # after the plain notebooks have taken the document as the author wrote it
    app.connect("doctree-resolved", link_terms, priority=950)
    app.connect("html-page-context", keep_previews, priority=950)
    app.connect("build-finished", write_previews)
    app.add_js_file("hovers.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": False}
