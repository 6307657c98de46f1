"""Run notebooks as readers do: every cell twice in a row, then all of them again.

python tools/run_twice.py book/part5_use/own_loop.ipynb ...

A cell that changes what it starts from (`rewards = rewards[:10]`, a file that must not
exist yet, `del x`) passes once and fails here. With `--cells` each cell is repeated at
once, with `--all` the whole notebook; without either, both.
"""

import argparse
import copy
import pathlib
import sys
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

SECONDS_PER_CELL = 600


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def repeated(notebook, each, whole):
    """The notebook's code in the order of a reader who runs things again."""
    cells = code_cells(notebook)
    order = [cell for cell in cells for _ in range(2 if each else 1)]
    order += cells if whole else []
    again = copy.deepcopy(notebook)
    again.cells = [copy.deepcopy(cell) for cell in order]
    for number, cell in enumerate(again.cells):
        cell.id = f"run-{number}"
    return again


def run(path, each=True, whole=True):
    """The error of the first cell that fails when run again, or None."""
    notebook = repeated(nbformat.read(path, as_version=4), each, whole)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        return str(error)
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
    parser.add_argument("--cells", action="store_true", help="only every cell twice")
    parser.add_argument("--all", action="store_true", help="only the whole twice")
    wanted = parser.parse_args()
    failed = 0
    for path in wanted.notebooks:
        start = time.monotonic()
        error = run(path, each=not wanted.all, whole=not wanted.cells)
        failed += error is not None
        seconds = time.monotonic() - start
        print(f"{'FAILED' if error else 'ok':6} {seconds:6.1f} s  {path}", flush=True)
        if error:
            print(error, file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
