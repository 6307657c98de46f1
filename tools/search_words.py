"""A Sphinx extension: words that lead to a page in the search, from one list.

`book/search_words.yml` names for each page the words by which a reader looks for it.
They become entries of the index, which Sphinx's search ranks before everything else.
"""

import pathlib

import yaml
from docutils import nodes
from sphinx import addnodes

FILE = pathlib.Path(__file__).parents[1] / "book" / "search_words.yml"


def words_by_page():
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def add_words(app, doctree):
    """Put the page's words into its index, as entries that point at its title."""
    words = words_by_page().get(app.env.docname, [])
    section = next(iter(doctree.findall(nodes.section)), None)
    if not words or section is None:
        return
    target = section["ids"][0] if section["ids"] else ""
    entries = [("single", word, target, "main", None) for word in words]
    section.insert(1, addnodes.index(entries=entries, inline=False))


def setup(app):
    app.connect("doctree-read", add_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
