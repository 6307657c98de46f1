"""A Sphinx extension that names folded cells: a reader knows what is inside.

The first comment of a cell is its name, or what its first function says of itself. A
cell without either is named after what it does (a check, the code of a figure, code)
and the section it stands in. A cell may also say its name in its metadata (`mystnb:
code_prompt_show`). The solution of an exercise is named after the exercise.
"""

import re

from docutils import nodes

# Prompts that say no more than what every other fold says.
GENERAL = re.compile(r"(Show|Hide) (code cell \{type\}|the (checks?|code|solution))")
DRAWS = re.compile(r"\bplt\.|\bplotting\.(?!styled_table)|\bax\.|\.plot\(|\bfig\b")
LABEL = ' aria-label="Toggle hidden content"'
LONGEST = 70


def name_of(code, section):
    """What stands on the fold of a cell with this code in this section."""
    kind = "Check" if re.search(r"\bassert|\bassert_", code) else None
    kind = kind or ("Code of the figure" if DRAWS.search(code) else "Code")
    comment = first_comment(code) or first_docstring(code)
    if comment:
        said = comment[0].upper() + comment[1:]
        return said if said.startswith(kind) else f"{kind}: {comment}"
    return f"{kind}: {section}" if section else kind


def first_comment(code):
    """The comment that opens a cell, if it is one short line."""
    lines = code.strip().splitlines()
    if not lines or not lines[0].startswith("# ") or lines[1:2] == ["#"]:
        return ""
    if len(lines) > 1 and lines[1].startswith("# "):
        return ""  # a paragraph, not a name
    text = lines[0][2:].strip().rstrip(".:")
    return text if len(text) <= LONGEST and "%%" not in text else ""


def first_docstring(code):
    """What the function that opens a cell says of itself, if it is short."""
    opening = re.match(r'def \w+\([^)]*\):\n\s+"+([^"\n]+)', code.strip())
    text = re.split(r"[.;:] ", opening[1])[0].rstrip(".;:") if opening else ""
    return text if len(text) <= LONGEST else ""


def words(node):
    """The text of a node; of its formulas only what can be read aloud."""
    return re.sub(r"\\([A-Za-z]+)", r"\1", node.astext())


def title_above(node):
    """The title of the innermost section around a node."""
    while node is not None:
        if isinstance(node, nodes.section):
            title = next(iter(node.findall(nodes.title)), None)
            return words(title) if title is not None else ""
        node = node.parent
    return ""


def exercise_above(cell):
    """The bold words that open the last exercise before a cell, without its number."""
    siblings = cell.parent.children[: cell.parent.index(cell)] if cell.parent else []
    for node in reversed(siblings):
        for paragraph in reversed(list(node.findall(nodes.paragraph))):
            said = [part for part in paragraph.children if part.astext()]
            if said and isinstance(said[0], nodes.strong):
                return re.sub(r"^\d+\.\s*", "", words(said[0])).rstrip(".:")
    return ""


def is_solution(cell):
    tags = cell.get("cell_metadata", {}).get("tags", [])
    return "solution" in tags or cell["prompt_show"].endswith("solution")


def let_names_be_heard(app, pagename, templatename, context, doctree):
    """Without myst-nb's label, which would be read aloud in place of the name."""
    if "body" in context:
        context["body"] = context["body"].replace(LABEL, "")


def name_folds(app, doctree):
    taken = {}
    for cell in doctree.findall(nodes.container):
        if not cell.get("hide_mode") or not GENERAL.fullmatch(cell["prompt_show"]):
            continue
        code = next(iter(cell.findall(nodes.literal_block)), None)
        name = name_of(code.astext() if code is not None else "", title_above(cell))
        if is_solution(cell):  # its first words would tell the answer
            name = f"Solution: {exercise_above(cell) or title_above(cell)}"
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:  # two of one section are told apart by a number
            name = f"{name} ({taken[name]})"
        cell["prompt_show"] = cell["prompt_hide"] = name


def setup(app):
    app.connect("doctree-read", name_folds)
    app.connect("html-page-context", let_names_be_heard)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
