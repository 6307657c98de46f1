"""A Sphinx extension: words that lead to a page in the search, from two lists.

`book/search_words.yml` names for each page the words by which a reader looks for it,
and `book/concordance.yml` where the numbered items of the paper are treated ("Lemma 3",
"Theorem 2"). They become entries of the index, which Sphinx's search ranks before
everything else.
"""

import pathlib
import re

import concordance
import yaml
from docutils import nodes
from sphinx import addnodes

FILE = pathlib.Path(__file__).parents[1] / "book" / "search_words.yml"
LABEL = re.compile(r"`(?:[^`<]*<)?([\w-]+)>?`")


def words_by_page():
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def items_by_label():
    """The paper's items by the label of the first place that treats them."""
    found = {}
    for item in concordance.items():
        label = LABEL.search(item["where"][0])
        name = item["item"]
        spellings = {name, name.replace("(", "").replace(")", "")}
        found.setdefault(label[1], []).extend(sorted(spellings))
    return found


def places(doctree, labels):
    """Labels that a page defines, and the anchors that lead there."""
    for node in doctree.findall(nodes.Element):
        anchors = node.get("ids", [])
        for label in {*anchors, node.get("label")} & labels:
            yield label, label if label in anchors else f"equation-{label}"


def add_words(app, doctree):
    """Put the page's words into its index, as entries that point at their places."""
    section = next(iter(doctree.findall(nodes.section)), None)
    if section is None:
        return
    top = section["ids"][0] if section["ids"] else ""
    entries = [(word, top) for word in words_by_page().get(app.env.docname, [])]
    items = items_by_label()
    for label, anchor in dict(places(doctree, items.keys())).items():
        entries += [(word, anchor) for word in items[label]]
    if entries:
        listed = [("single", word, place, "main", None) for word, place in entries]
        section.insert(1, addnodes.index(entries=listed, inline=False))


def setup(app):
    app.connect("doctree-read", add_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
