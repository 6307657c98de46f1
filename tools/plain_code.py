"""Code cells without myst-nb: the numbers of the text in cells of their own.

The sources hand numbers to the text with `glue`. A reader who copies a cell wants
none of that, so these lines move into a cell behind it. In a plain notebook that cell
also shows the sentences whose numbers come out differently in the reader's own run.
"""

import ast
import re

SLOT = re.compile(r"«(.+?):([^:=»]*)=(.*?)»")  # «name:format=what the book says»

NUMBERS = """\
import re

from IPython.display import Markdown, display

quoted = {}  # the numbers that the text quotes, from your run


def show_changes(*sentences):
    "Show the sentences of the text whose numbers differ in this run."
    slot = re.compile("«(.+?):([^:=»]*)=(.*?)»")  # name, format, what the text says
    for sentence in sentences:
        if all(name in quoted for name, _, _ in slot.findall(sentence)):
            text = slot.sub(lambda s: s[3], sentence)
            here = slot.sub(lambda s: format(quoted[s[1]], s[2]), sentence)
            if here != text:
                display(Markdown(f"**In this run:** {here}"))
"""


def is_glue(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id == "glue"
    )


def is_import(statement):
    return isinstance(statement, ast.ImportFrom) and statement.module == "myst_nb"


def only_glue(statement):
    """A glue statement, or loops around nothing else."""
    if isinstance(statement, ast.For) and not statement.orelse:
        return all(map(only_glue, statement.body))
    return is_glue(statement)


def names(statement, context):
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, context)
    }


def rows(statement):
    return range(statement.lineno - 1, statement.end_lineno)


def can_wait(statement, later):
    """Whether a statement gives the same after the later ones as before them."""
    bound = set().union(*(names(other, ast.Store) for other in later), set())
    return only_glue(statement) and not bound & names(statement, ast.Load)


def glue_inside(statement):
    """The glue statements in a block that does something else, too."""
    return [node for node in ast.walk(statement) if is_glue(node)]


def split(code):
    """A cell's code without glue, and the glue statements that may follow it.

    Statements that cannot move (a loop that also does something else) are left out of
    both; `stuck` lists them.
    """
    if "glue" not in code:
        return code, ""
    tree = ast.parse(code)
    lines = code.splitlines()
    gone, moved = set(), []
    for number, statement in enumerate(tree.body):
        later = [other for other in tree.body[number + 1 :] if not only_glue(other)]
        if is_import(statement) or only_glue(statement):
            gone.update(rows(statement))
        if can_wait(statement, later):
            moved += [lines[row] for row in rows(statement)]
        elif not only_glue(statement):
            for inner in glue_inside(statement):
                gone.update(rows(inner))
    kept = [line for row, line in enumerate(lines) if row not in gone]
    return quietly(tree, squeeze(kept)), "\n".join(moved)


def stuck(code):
    """Glue statements that `split` cannot move, as line numbers."""
    body = ast.parse(code).body if "glue" in code else []
    for number, statement in enumerate(body):
        later = [other for other in body[number + 1 :] if not only_glue(other)]
        if not can_wait(statement, later):
            yield from (inner.lineno for inner in glue_inside(statement))


def squeeze(lines):
    """Without blank lines at the ends, and never three in a row."""
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n")


def quietly(tree, code):
    """A value that was not the cell's last word is not printed now."""
    last = ast.parse(code).body[-1:]
    was_last = ast.dump(tree.body[-1])
    if last and isinstance(last[0], ast.Expr) and ast.dump(last[0]) != was_last:
        return code + ";"
    return code


def as_numbers(glue_code):
    """Glue statements as entries of the dictionary `quoted`."""
    calls = [node for node in ast.walk(ast.parse(glue_code)) if is_glue(node)]
    lines = glue_code.splitlines()
    for call in sorted(calls, key=lambda node: -node.lineno):
        name, value = (
            ast.get_source_segment(glue_code, part) for part in call.value.args[:2]
        )
        indent = " " * call.col_offset
        lines[call.lineno - 1 : call.end_lineno] = [f"{indent}quoted[{name}] = {value}"]
    return "\n".join(lines)


def numbers_cell(glue_code, sentences):
    """The cell that keeps a plain notebook's text honest, or nothing to keep."""
    if not glue_code or not sentences:
        return ""
    told = "".join(f"    {sentence!r},\n" for sentence in sentences)
    return (
        "# Numbers that the text quotes: its sentence is shown again if one differs.\n"
        f"{as_numbers(glue_code)}\nshow_changes(\n{told})"
    )


def setup_cell(needs, install, with_numbers):
    """The first cell: what the notebook needs, and how it gets it."""
    code = f'''\
# Needs: Python 3.11 or newer, {needs}
# On Colab, Kaggle and the like this cell installs it; elsewhere it installs nothing.
import importlib.util
import os
import subprocess
import sys

HOSTS = ("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "DEEPNOTE_PROJECT_ID")
if importlib.util.find_spec("wsbnb") is None:
    if not any(host in os.environ for host in HOSTS):
        raise ModuleNotFoundError("wsbnb is missing here: {needs_plain(needs)}")
    install = "{install}"
    command = [sys.executable, "-m", "pip", "install", "--quiet", install]
    subprocess.run(command, check=True)
'''
    return (code + "\n" + NUMBERS if with_numbers else code).rstrip()


def needs_plain(needs):
    return needs.replace('"', "'")
