"""Code cells without glue: the numbers of the text in cells of their own.

The sources hand numbers to the text with `glue`. A reader who copies a cell wants
none of that, so these lines move into a cell behind it. In a plain notebook that cell
also shows the sentences whose numbers come out differently in the reader's own run.
"""

import ast
import re
import sys

IMPORT = "from wsbnb.interactive import glue"
KEPT = "for_text"  # the dictionary of numbers that cannot be glued later
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
    return ast.unparse(statement) == IMPORT


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
    bound = set().union(*(names(other, ast.Store) for other in later))
    needed = names(statement, ast.Load) - names(statement, ast.Store)
    return only_glue(statement) and not bound & needed


def sorted_out(code):
    """The statements of a cell, each with what `split` does to it."""
    body = ast.parse(code).body
    for number, statement in enumerate(body):
        later = [other for other in body[number + 1 :] if not only_glue(other)]
        if is_import(statement):
            yield statement, "drop"
        elif can_wait(statement, later):
            yield statement, "move"
        elif any(map(is_glue, ast.walk(statement))):
            yield statement, "stuck"
        else:
            yield statement, "keep"


def split(code):
    """A cell's code without glue, and the glue statements that follow it.

    A glue statement that cannot wait, since a loop around it does other work or its
    names change later, becomes an entry of a dictionary; the second part glues those.
    """
    if "glue" not in code:
        return code, ""
    lines, moved, stuck = dict(enumerate(code.splitlines())), [], []
    for statement, fate in sorted_out(code):
        if fate in ("drop", "move"):
            gone = [lines.pop(row) for row in rows(statement)]
            moved += gone if fate == "move" else []
        elif fate == "stuck":
            stuck.append(statement.lineno - 1)
            replace(lines, statement, code, KEPT)
    if stuck:
        lines[stuck[0]] = f"{KEPT} = {{}}  # numbers for the text\n" + lines[stuck[0]]
        moved += [
            f"for name, value in {KEPT}.items():",
            "    glue(name, value)",
        ]
    kept = squeeze(lines[row] for row in sorted(lines))
    return quietly(ast.parse(code), kept), "\n".join(moved)


def replace(lines, statement, code, dictionary):
    """Put entries of a dictionary in the place of glue statements."""
    for glue in filter(is_glue, ast.walk(statement)):
        for row in rows(glue):
            del lines[row]
        lines[glue.lineno - 1] = entry_of(glue, code, dictionary)


def entry_of(glue, code, dictionary):
    name, value = (ast.get_source_segment(code, part) for part in glue.value.args[:2])
    return " " * glue.col_offset + f"{dictionary}[{name}] = {value}"


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
    lines = dict(enumerate(glue_code.splitlines()))
    replace(lines, ast.parse(glue_code), glue_code, "quoted")
    return "\n".join(lines[row] for row in sorted(lines))


def numbers_cell(glue_code, sentences):
    """The cell that keeps a plain notebook's text honest, or nothing to keep."""
    if not glue_code or not sentences:
        return ""
    told = "".join(f"    {sentence!r},\n" for sentence in sentences)
    return (
        "# Numbers that the text quotes: its sentence is shown again if one differs.\n"
        f"{as_numbers(glue_code)}\nshow_changes(\n{told})"
    )


def modules(codes):
    """The modules outside of Python's own library that cells import."""
    found = set()
    for code in codes:
        for node in ast.walk(ast.parse(without_magics(code))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.partition(".")[0])
    return sorted(found - set(sys.stdlib_module_names))


def without_magics(code):
    return re.sub(r"^\s*[%!].*$", "", code, flags=re.MULTILINE)


def setup_cell(install, needed, with_numbers):
    """The first cell: what the notebook needs, and how it gets it."""
    code = f'''\
# Run this first. The notebook needs Python 3.11 or newer and
#   pip install "{install}"
# On Colab, Kaggle and the like this cell installs it; elsewhere it installs nothing.
import importlib.util
import os
import subprocess
import sys

INSTALL = "{install}"
NEEDED = "{" ".join(needed)}"
HOSTS = ("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "DEEPNOTE_PROJECT_ID")
missing = [name for name in NEEDED.split() if importlib.util.find_spec(name) is None]
if missing and any(host in os.environ for host in HOSTS):
    command = [sys.executable, "-m", "pip", "install", "--quiet", INSTALL]
    subprocess.run(command, check=True)
elif missing:
    words = f"{{', '.join(missing)}} missing here: pip install '{{INSTALL}}'"
    raise ModuleNotFoundError(words)
'''
    return (code + "\n" + NUMBERS if with_numbers else code).rstrip()
