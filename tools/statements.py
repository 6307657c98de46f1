"""A Sphinx extension: proofs that look like proofs, and an index of statements.

sphinx-proof gives every proof the look of a note and the same name, and its index lists
labels, which are names for authors. Ours lists statements by kind, number and title.
"""

import re

from docutils import nodes
from sphinx_proof.domain import ProofIndex
from sphinx_proof.nodes import proof_node

WORD = "Proof."


def keep_titles(app, doctree):
    kept = getattr(app.env, "statement_titles", {})
    for node in doctree.findall(nodes.Admonition):
        title = next(iter(node.findall(nodes.title)), None)
        if node.get("label") and title is not None:
            kept[node["label"]] = plain(title)
    app.env.statement_titles = kept


def plain(title):
    """The title of a statement as text, without brackets and without TeX's signs."""
    text = "".join(part.astext() for part in title.children)
    text = re.sub(r"\\(\w+)", r"\1", text)
    return re.sub(r"[{}$]", "", text).strip().removeprefix("(").removesuffix(")")


def number_of(env, values):
    numbers = env.toc_fignumbers.get(values["docname"], {})
    found = numbers.get(values["countertype"], {}).get(values["ids"][0], ())
    return tuple(found)


def generate(self, docnames=None):
    """Every statement under its kind, in the order of the book."""
    env = self.domain.env
    titles = getattr(env, "statement_titles", {})
    kinds = {}
    for label, values in getattr(env, "proof_list", {}).items():
        row = (number_of(env, values), label, values)
        kinds.setdefault(values["realtype"], []).append(row)
    content = []
    for kind, rows in sorted(kinds.items()):
        entries = []
        for number, label, values in sorted(rows, key=lambda row: row[:2]):
            name = f"{kind.title()} {'.'.join(map(str, number))}".strip()
            title = titles.get(label) or ""
            shown = f"{name}: {title}" if title else name
            page = env.titles[values["docname"]].astext()
            entries.append((shown, 0, values["docname"], label, "", "", page))
        content.append((kind.title(), entries))
    return content, False


def mark_proofs(app, doctree, docname):
    """A class of their own for proofs, the word set apart, and no name twice."""
    for node in doctree.findall(nodes.section):
        if "proof-content" in node["ids"]:
            node["ids"].remove("proof-content")
    for proof in doctree.findall(proof_node):
        box = proof[0]
        box["ids"] = []
        box["classes"] += ["proof-text"]
        text = next(iter(box.findall(nodes.Text)), None)
        if text is not None and text.startswith(WORD):
            rest = nodes.Text(text[len(WORD) :])
            text.parent.replace(text, [nodes.emphasis("", WORD), rest])


def setup(app):
    ProofIndex.localname = "Index of statements"
    ProofIndex.shortname = "statements"
    ProofIndex.generate = generate
    app.connect("doctree-read", keep_titles)
    app.connect("doctree-resolved", mark_proofs, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
