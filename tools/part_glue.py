"""Keep `glue` out of the cells that readers copy.

python tools/part_glue.py [--check] [book/.../chapter.ipynb ...]

Moves the import of glue and every glue statement into a cell of its own behind the
cell that computes the number. That cell is executed, but not shown on the page (tag
remove-cell). Without names it works on all chapters; running it again changes nothing.
A glue statement in a loop that does other work becomes an entry of the dictionary
`for_text`, and the new cell glues its entries. With --check nothing is written.
"""

import argparse
import json
import pathlib
import sys

import plain_code
from common import ROOT

TAGS = ["remove-cell"]


def is_shown(cell):
    tags = cell["metadata"].get("tags", [])
    return cell["cell_type"] == "code" and TAGS[0] not in tags


def source_of(cell):
    return "".join(cell["source"])


def import_of(code):
    """The line that imports glue, if the cell has it."""
    found = [line for line in code.splitlines() if line == plain_code.IMPORT]
    return found[:1]


def hidden_cell(cell, code):
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"{cell['id']}-glue"[:64],
        "metadata": {"tags": list(TAGS)},
        "outputs": [],
        "source": code.splitlines(keepends=True),
    }


def parted(cell):
    """The cell without glue, and the cell with it; either may be missing."""
    code = source_of(cell)
    if not is_shown(cell) or "glue" not in code:
        return [cell]
    kept, glue = plain_code.split(code)
    moved = "\n".join(filter(None, [*import_of(code), glue]))
    cells = [{**cell, "source": kept.splitlines(keepends=True)}] if kept else []
    return [*cells, hidden_cell(cell, moved)] if moved else [cell]


def part(notebook):
    """The notebook with glue apart."""
    cells = [new for cell in notebook["cells"] for new in parted(cell)]
    return {**notebook, "cells": cells}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    paths = wanted.notebooks or sorted((ROOT / "book").rglob("*.ipynb"))
    complaints = 0
    for path in paths:
        if ".ipynb_checkpoints" in path.parts:
            continue
        notebook = json.loads(path.read_text(encoding="utf-8"))
        new = part(notebook)
        if new != notebook:
            complaints += wanted.check
            print(f"{'would part' if wanted.check else 'parted'}: {path}")
            if not wanted.check:
                text = json.dumps(new, indent=1, ensure_ascii=False)
                path.write_text(text + "\n", encoding="utf-8")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
