"""What every notebook of the book must keep to. Each rule yields complaints.

A rule takes the notebook as parsed JSON and yields one sentence per violation, so
that the tests can run it on real chapters and on small bad examples alike.
"""

import ast
import re

MOST_LINES = 25
LONGEST_LINE = 88


def source(cell):
    """A cell's text; the file format allows a string or a list of lines."""
    return "".join(cell["source"])


def code_cells(notebook):
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            yield number, cell


def stores_no_outputs(notebook):
    for number, cell in code_cells(notebook):
        if cell.get("outputs"):
            yield f"cell {number} stores outputs (make strip removes them)"
        if cell.get("execution_count") is not None:
            yield f"cell {number} stores an execution count (make strip removes it)"


def allows_no_errors(notebook):
    if notebook["metadata"].get("execution", {}).get("allow_errors"):
        yield "the notebook's metadata sets execution.allow_errors"
    for number, cell in code_cells(notebook):
        tags = set(cell["metadata"].get("tags", []))
        for tag in sorted(tags & {"raises-exception", "skip-execution"}):
            yield f"cell {number} has the tag {tag}"


def asserts_something(notebook):
    if not any(has_assertion(source(cell)) for _, cell in code_cells(notebook)):
        yield "no code cell asserts anything"


def has_assertion(code):
    """An assert statement, or a call such as np.testing.assert_allclose."""
    try:
        tree = ast.parse(without_magics(code))
    except SyntaxError:
        return False
    return any(is_assertion(node) for node in ast.walk(tree))


def is_assertion(node):
    if isinstance(node, ast.Assert):
        # `assert True` checks nothing
        return not isinstance(node.test, ast.Constant)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rsplit(".", 1)[-1]
        return name.startswith("assert_")
    return False


def without_magics(code):
    return "\n".join("" if re.match(r"\s*[%!]", li) else li for li in code.splitlines())


def uses_the_common_kernel(notebook):
    name = notebook["metadata"].get("kernelspec", {}).get("name")
    if name != "python3":
        yield f"the kernelspec's name must be python3, got {name!r}"


def has_short_cells(notebook):
    for number, cell in code_cells(notebook):
        lines = [line for line in source(cell).splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            yield f"cell {number} has {len(lines)} lines of code, allowed {MOST_LINES}"


def has_short_lines(notebook):
    for number, cell in code_cells(notebook):
        for line in source(cell).splitlines():
            if len(line) > LONGEST_LINE:
                yield f"cell {number} has a line of {len(line)} characters: {line[:40]}"


def installs_nothing(notebook):
    for number, cell in code_cells(notebook):
        if re.search(
            r"^\s*[!%]\s*(pip|conda|mamba|uv|apt)", source(cell), re.MULTILINE
        ):
            yield f"cell {number} installs packages; the environment is locked"


def starts_with_a_title(notebook):
    cells = notebook["cells"]
    first = source(cells[0]) if cells else ""
    if not cells or cells[0]["cell_type"] != "markdown":
        yield "the first cell must be text with the chapter's title"
    elif not re.search(r"^# \S", first, re.MULTILINE):
        yield "the first cell has no line '# Title'"


def counts_no_chapters_by_hand(notebook):
    """Numbers of chapters change: a reference looks its number up, and is a link."""
    for number, cell in enumerate(notebook["cells"]):
        for match in re.finditer(r"[Cc]hapters?\s+\d+\b(?!\s+of\s)", source(cell)):
            yield (
                f"cell {number} says {match.group()!r}; write "
                "{numref}`chapter {number} <chap-...>`, or a name in code"
            )


def shows_frames_as_tables(notebook):
    """A printed frame is cut on a phone, and no reader of screens understands it."""
    for number, cell in code_cells(notebook):
        if ".to_string(" in source(cell):
            yield f"cell {number} prints a frame; end it with plotting.styled_table"


RULES = [
    stores_no_outputs,
    allows_no_errors,
    asserts_something,
    uses_the_common_kernel,
    has_short_cells,
    has_short_lines,
    installs_nothing,
    starts_with_a_title,
    counts_no_chapters_by_hand,
    shows_frames_as_tables,
]
