"""A resolved Sphinx document as plain Markdown and TeX.

Numbers, references and citations have been resolved by Sphinx; here they become words
and links that need no Sphinx. Every kind of node has a method of its name, `block_…`
for what stands on lines of its own and `inline_…` for what stands in a sentence. A
kind without a method is a warning, which fails the strict build.
"""

import posixpath
import re

import plain_tex
from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx_proof.nodes import NODE_TYPES, proof_node, unenumerable_node

LOGGER = logging.getLogger(__name__)
SILENT = (
    nodes.target,
    nodes.comment,
    nodes.substitution_definition,
    nodes.label,
    nodes.system_message,
    addnodes.index,
    addnodes.toctree,
    addnodes.highlightlang,
)
TITLES = {"seealso": "See also"}
PROOFS = (*NODE_TYPES.values(), unenumerable_node)
GLUED = "pasted-text"  # the class that myst-nb gives to a glued number
LIVE = r"<script|wsbnb-live"  # signs of a figure that runs in the page
ON_THE_PAGE = (
    "*(Here [the page](plain-page:{}) has a figure that you can play with. In the"
    " notebook you have the code: change it and run it.)*"
)
LINK = re.compile(r"\(plain:([^)#\s]*)(#[^)\s]*)?\)")
IMAGE = re.compile(r"\(plain-image:([^)]*)\)")
SENTENCE_END = re.compile(r"(?<=[.!?])[*)]*\s+(?=[A-Z*$`\[(])")


def escape(text):
    """Characters that Markdown would take for markup; line breaks become spaces."""
    text = re.sub(r"\s*\n\s*", " ", text)
    text = re.sub(r"([\\`*_\[\]$|])", r"\\\1", text)
    return re.sub(r"<(?=[a-zA-Z/!])", "&lt;", text)


def quote(text):
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def fold(summary, text):
    """Folded away; the blank lines let Markdown go on inside."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def indent(text, width):
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *(" " * width + line if line else "" for line in rest)])


class Writer:
    """Writes the nodes of one document."""

    def __init__(self, docname, env, macros, citations):
        self.docname = docname
        self.env = env
        self.macros = macros
        self.citations = citations  # the ids of all entries of the bibliography
        self.cited, self.images = set(), set()
        self.slots = []  # how the source wrote the glued numbers, in its order
        self.mark_numbers = self.in_table = False

    # Numbers

    def number(self, kind, node):
        """The number of a figure or theorem, as the page prints it."""
        known = self.env.toc_fignumbers.get(self.docname, {}).get(kind, {})
        found = next((known[name] for name in node["ids"] if name in known), ())
        return ".".join(map(str, found))

    def section_number(self, section):
        known = self.env.toc_secnumbers.get(self.docname, {})
        at_top = isinstance(section.parent, nodes.document)
        anchors = ["", *(f"#{name}" for name in section["ids"])]
        for anchor in anchors if at_top else anchors[1:]:
            if anchor in known:
                return ".".join(map(str, known[anchor])) + ". "
        return ""

    def equation_number(self, node):
        if not node.get("label"):
            return ""
        known = self.env.toc_fignumbers.get(self.docname, {}).get("displaymath", {})
        name = f"equation-{node['label']}"
        for anchor in (name, nodes.make_id(name), *node["ids"]):
            if anchor in known:
                return ".".join(map(str, known[anchor]))
        return str(node["number"])

    # Sentences

    def inline(self, node):
        return "".join(map(self.inline_node, node.children))

    def inline_node(self, node):
        if isinstance(node, nodes.Text):
            return escape(node.astext())
        if isinstance(node, SILENT):
            return ""
        method = getattr(self, f"inline_{type(node).__name__}", None)
        if method is None:
            self.warn(node)
            return self.inline(node)
        return method(node)

    def warn(self, node):
        LOGGER.warning(
            "a plain notebook cannot show a %s yet (tools/plain_markdown.py)",
            type(node).__name__,
            location=node,
        )

    def inline_math(self, node):
        tex = plain_tex.inline(node.astext(), self.macros)
        if self.in_table:  # a bar would end the cell
            tex = tex.replace(r"\|", r"\Vert{}").replace("|", r"\vert{}")
        return tex

    def inline_emphasis(self, node):
        return f"*{self.inline(node)}*"

    def inline_strong(self, node):
        return f"**{self.inline(node)}**"

    def inline_literal(self, node):
        text = re.sub(r"\s+", " ", node.astext())
        fence = "``" if "`" in text else "`"
        return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"

    def inline_inline(self, node):
        if GLUED in node["classes"] and self.mark_numbers and self.slots:
            name, spec = self.slots.pop(0)
            return f"«{name}:{spec}={node.astext()}»"
        return self.inline(node)

    inline_PassthroughTextElement = inline_abbreviation = inline_generated = inline

    inline_literal_emphasis = inline_title_reference = inline_emphasis
    inline_literal_strong = inline_strong

    inline_sd_badge = inline

    def inline_sd_icon(self, node):
        return ""

    def inline_subscript(self, node):
        return f"<sub>{self.inline(node)}</sub>"

    def inline_superscript(self, node):
        return f"<sup>{self.inline(node)}</sup>"

    def inline_footnote_reference(self, node):
        return f"<sup>{self.inline(node)}</sup>"

    def inline_raw(self, node):
        return "<br>" if node.astext().strip().startswith("<br") else ""

    def inline_image(self, node):
        alt = node.get("alt", "").replace("\n", " ")
        self.images.add(node["uri"])
        return f"![{escape(alt)}](plain-image:{node['uri']})"

    def inline_reference(self, node):
        text = self.inline(node)
        address = node.get("refuri", "")
        if "://" in address or address.startswith("mailto:"):
            return f"[{text}]({address})"
        page, _, anchor = address.partition("#")
        anchor = anchor or node.get("refid", "")
        if anchor in self.citations:
            self.cited.add(anchor)
            return text
        if not page:  # on this page: the words say where
            return text
        folder = posixpath.dirname(self.docname)
        target = posixpath.normpath(posixpath.join(folder, page))
        target = target.removesuffix(".html")
        return f"[{text}](plain:{target}{'#' + anchor if anchor else ''})"

    inline_number_reference = inline_download_reference = inline_reference

    # Blocks

    def blocks(self, parent):
        written = map(self.block, parent.children)
        return "\n\n".join(text for text in written if text)

    def block(self, node):
        if isinstance(node, SILENT):
            return ""
        if isinstance(node, PROOFS):
            return self.proved(node)
        if isinstance(node, nodes.Text):
            return escape(node.astext())
        method = getattr(self, f"block_{type(node).__name__}", None)
        if method:
            return method(node)
        if isinstance(node, nodes.Admonition):
            return self.admonition(node)
        if isinstance(node, nodes.Inline):
            return self.inline_node(node)
        self.warn(node)
        return self.blocks(node)

    def block_paragraph(self, node):
        return self.inline(node)

    def block_section(self, node):
        return self.blocks(node)

    block_block_quote = block_section
    block_compound = block_compact_paragraph = block_only = block_section
    block_glossary = block_sd_tab_content = block_section

    def block_topic(self, node):
        return quote(self.blocks(node))

    block_sidebar = block_topic

    def block_line_block(self, node):
        return "<br>".join(map(self.inline, node.findall(nodes.line)))

    def block_sd_tab_input(self, node):
        return ""

    def block_sd_tab_label(self, node):
        return f"**{self.inline(node)}**"

    def block_dropdown_main(self, node):
        """sphinx-design's dropdown: the first child is its title."""
        title, *rest = node.children
        return fold(
            self.inline(title), "\n\n".join(filter(None, map(self.block, rest)))
        )

    def heading(self, section, level):
        title = self.inline(section.next_node(nodes.title))
        return f"{'#' * level} {self.section_number(section)}{title}"

    def block_title(self, node):
        return f"**{self.inline(node)}**"

    block_rubric = block_title

    def block_PassthroughTextElement(self, node):
        return self.inline(node)

    def block_math_block(self, node):
        tex = node.astext()
        number = self.equation_number(node)
        return plain_tex.display(tex, self.macros, number, bare=node.get("nowrap"))

    def block_literal_block(self, node):
        language = node.get("language", "")
        language = "" if language in ("none", "default", "text") else language
        return f"```{language}\n{node.astext().rstrip()}\n```"

    block_doctest_block = block_literal_block

    def block_container(self, node):
        if "sd-card-title" in node["classes"]:
            return f"**{self.blocks(node)}**"
        return self.blocks(node)

    def block_bullet_list(self, node):
        items = [f"- {indent(self.blocks(item), 2)}" for item in node.children]
        return self.joined(node, items)

    def block_enumerated_list(self, node):
        start = node.get("start", 1)
        items = [
            f"{number}. {indent(self.blocks(item), len(str(number)) + 2)}"
            for number, item in enumerate(node.children, start)
        ]
        return self.joined(node, items)

    @staticmethod
    def joined(node, items):
        """A tight list where every item is one paragraph."""
        tight = all(len(item.children) == 1 for item in node.children)
        return ("\n" if tight else "\n\n").join(items)

    def block_definition_list(self, node):
        return "\n".join(map(self.definition, node.children))

    def definition(self, item):
        terms = [self.inline(t) for t in item.children if isinstance(t, nodes.term)]
        bodies = [
            self.blocks(body)
            for body in item.children
            if isinstance(body, nodes.definition)
        ]
        return f"- **{', '.join(terms)}**: " + indent("\n\n".join(bodies), 2)

    def block_transition(self, node):
        return "---"

    def block_image(self, node):
        return self.inline_image(node)

    def block_figure(self, node):
        shown = [
            self.block(child) for child in node.children if child.tagname != "caption"
        ]
        return "\n\n".join(filter(None, [*shown, self.caption(node)]))

    def block_legend(self, node):
        return self.blocks(node)

    def caption(self, figure):
        text = next((self.inline(c) for c in figure.findall(nodes.caption)), "")
        number = self.number("figure", figure)
        return f"**Fig. {number}** {text}" if number else f"*{text}*" if text else ""

    def block_table(self, node):
        self.in_table = True
        rows = [
            [self.cell(entry) for entry in row.findall(nodes.entry)]
            for row in node.findall(nodes.row)
        ]
        self.in_table = False
        titles = [t for t in node.children if isinstance(t, nodes.title)]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + "---|" * len(rows[0]))
        head = [f"**{self.inline(title)}**\n" for title in titles]
        return "\n".join([*head, *lines])

    def cell(self, entry):
        """One line, in which no bar ends the cell."""
        text = self.blocks(entry).replace("\n", " ")
        return re.sub(r"(?<!\\)\|", r"\|", text)

    def block_footnote(self, node):
        label = next((n.astext() for n in node.findall(nodes.label)), "")
        return f"<sup>{label}</sup> {self.blocks(node)}"

    def block_citation(self, node):
        return self.blocks(node)

    def block_raw(self, node):
        """What only a page can show, a live figure perhaps, stays on the page."""
        text = node.astext()
        if "html" not in node.get("format", ""):
            return ""
        if re.search(LIVE, text):
            return ON_THE_PAGE.format(self.docname)
        if re.sub(r"<[^>]*>", "", text).strip():
            self.warn(node)  # words that a reader of the notebook would miss
        return ""

    # Quotes

    def admonition(self, node):
        title = next((t for t in node.children if isinstance(t, nodes.title)), None)
        name = TITLES.get(node.tagname, node.tagname.capitalize())
        words = self.inline(title) if title else name
        rest = [self.block(child) for child in node.children if child is not title]
        text = "\n\n".join(filter(None, rest))
        if "dropdown" in node["classes"]:
            return fold(words, text)
        return quote(f"**{words}**\n\n{text}")

    def proved(self, node):
        """A theorem or its like: a quote that begins with its name and number."""
        kind = node.get("realtype") or node.tagname.removesuffix("_node")
        number = self.number(node.get("countertype", kind), node)
        name = f"**{kind.capitalize()}{' ' + number if number else ''}**"
        title = next((t for t in node.children if isinstance(t, nodes.title)), None)
        words = self.inline(title).strip() if title else ""
        rest = [self.block(child) for child in node.children if child is not title]
        head = " ".join(filter(None, [name, words]))
        text = "\n\n".join(filter(None, rest))
        if "dropdown" in node["classes"]:
            return fold(head, text)
        return quote(f"{head}\n\n{text}")

    def block_proof_node(self, node):
        text = "\n\n".join(self.blocks(child) for child in node.children)
        folded = any("dropdown" in child["classes"] for child in node.children)
        text = re.sub(r"^Proof\.\s*", "", text)
        return fold("Proof", text) if folded else quote(f"*Proof.* {text}")

    # The text's numbers

    def quoted_sentences(self, node, slots):
        """Sentences with glued numbers, as templates; the text itself is unmarked."""
        self.mark_numbers, self.slots = True, slots
        text = self.inline(node)
        self.mark_numbers = False
        return [part for part in SENTENCE_END.split(text) if "«" in part]


assert proof_node  # its block is named after it


def with_links(markdown, docname, notebooks, site, alone=False):
    """Turn the marked links into addresses: of notebooks beside this one, or, for a
    notebook that stands alone, of the pages on the internet."""
    folder = posixpath.dirname(docname)

    def address(found):
        target, anchor = found[1], found[2] or ""
        if target in notebooks and not alone:
            return f"({posixpath.relpath(target, folder)}.ipynb)"
        return f"({site}{target}.html{anchor})"

    def picture(found):
        if alone:
            return f"({site}_images/{posixpath.basename(found[1])})"
        return f"({posixpath.relpath(found[1], folder)})"

    markdown = markdown.replace("(plain-page:" + docname, f"({site}{docname}.html")
    return LINK.sub(address, IMAGE.sub(picture, markdown))
