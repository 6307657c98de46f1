"""The book's source files as the tests see them."""

import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"


def toc_entries(node):
    """Every file named in a (part of a) table of contents, in reading order."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("root", "file"):
                yield value
            else:
                yield from toc_entries(value)
    elif isinstance(node, list):
        for item in node:
            yield from toc_entries(item)


def entries(toc_file=ROOT / "_toc.yml"):
    return list(toc_entries(yaml.safe_load(toc_file.read_text(encoding="utf-8"))))


def notebook_files(folder=BOOK):
    """All notebooks below a folder, whether listed or not."""
    return sorted(
        path
        for path in folder.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts and "_build" not in path.parts
    )


def missing_files(toc, root):
    """Entries of the table of contents without a file."""
    return [
        entry
        for entry in toc
        if not any((root / f"{entry}{end}").is_file() for end in ("", ".md", ".ipynb"))
    ]


def unlisted_notebooks(toc, files, root):
    """Notebooks that no entry of the table of contents names."""
    names = {entry.removesuffix(".ipynb") for entry in toc}
    relative = [path.relative_to(root).with_suffix("").as_posix() for path in files]
    return [name for name in relative if name not in names]
