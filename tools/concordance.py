"""Write book/concordance.md from book/concordance.yml.

python tools/concordance.py          write the page
python tools/concordance.py --show   print it
"""

import pathlib
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT / "book" / "concordance.yml"
PAGE = ROOT / "book" / "concordance.md"

OPENING = """\
(concordance)=
# Concordance

<!-- Written by tools/concordance.py from book/concordance.yml: edit that file. -->

With {cite:t}`werge2026weighted` in hand: look up a numbered item, and follow the link
to where this book treats it. *As printed* means that the statement holds as it stands;
*corrected*, that it holds after the repair named beside it; *refuted*, that there is a
counterexample to it (a repair is named where there is one); *sharpened*, that more is
true; *reproduced*, that its numbers were found again. The last column names the check,
which runs whenever the book or its tests do. Slips without a number of their own are
in {ref}`the errata <chap-errata>`. The book's own statements are listed in the
{ref}`index of statements <prf-prf>`.
"""


def parts(path=DATA):
    """The data file: a list of parts, each with its items."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def items(path=DATA):
    return [item for part in parts(path) for item in part["items"]]


def checks(item):
    """The checks of an item: one, or a list."""
    named = item["check"]
    return named if isinstance(named, list) else [named]


def check_in_words(check):
    """A test by its name, a cell by its chapter, both short enough for a table."""
    file, _, name = check.partition("::")
    if name:
        return f"test `{name.removeprefix('test_').replace('_', ' ')}`"
    file, _, cell = check.partition("#")
    folder, stem = pathlib.PurePosixPath(file).with_suffix("").parts[-2:]
    return f"{{doc}}`{cell} <{folder}/{stem}>`"


def row(item):
    status = f"**{item['status']}**"
    if note := item.get("note"):
        status += f": {note}"
    cells = [
        f"**{item['item']}**",
        item["says"],
        "; ".join(item["where"]),
        status,
        "; ".join(map(check_in_words, checks(item))),
    ]
    return "| " + " | ".join(cells) + " |"


def page():
    text = [OPENING]
    for part in parts():
        head = "| Paper | Says | Here | Status | Check |\n|---|---|---|---|---|"
        rows = "\n".join(row(item) for item in part["items"])
        text.append(f"## {part['part']}\n\n{head}\n{rows}\n")
    return "\n".join(text)


if __name__ == "__main__":
    if "--show" in sys.argv:
        print(page())
    else:
        PAGE.write_text(page(), encoding="utf-8")
