"""Open the plain notebooks in JupyterLab, in a copy that the next build leaves alone.

A build writes `_build/notebooks/` again. What a reader works on is `_lab/`: new
notebooks are added to it, those without changes follow the build, and a notebook that
the reader has changed stays as it is.
"""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

from common import NOTEBOOKS, ROOT, run_environment

DESK = ROOT / "_lab"
RECORD = ".from-the-book.json"  # what each file was when it was put here


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lay_out(source, desk):
    """Copy what is new or untouched; return the notebooks kept with changes."""
    record = desk / RECORD
    given = json.loads(record.read_text("utf-8")) if record.is_file() else {}
    kept = []
    for path in sorted((source / "book").rglob("*")):
        if not path.is_file() or ".ipynb_checkpoints" in path.parts:
            continue
        name = path.relative_to(source / "book").as_posix()
        target = desk / name
        if target.is_file() and digest(target) not in (given.get(name), digest(path)):
            kept.append(name)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        given[name] = digest(path)
    record.write_text(json.dumps(given, indent=1), encoding="utf-8")
    return kept


def main():
    if not (NOTEBOOKS / "book" / "intro.ipynb").is_file():
        raise SystemExit(
            "There are no plain notebooks yet: run make book first (some minutes)."
        )
    DESK.mkdir(exist_ok=True)
    for name in lay_out(NOTEBOOKS, pathlib.Path(DESK)):
        print(f"kept with your changes (delete it to have it anew): {DESK.name}/{name}")
    command = [sys.executable, "-m", "jupyterlab", f"--notebook-dir={DESK}"]
    command += ["--LabApp.default_url=/lab/tree/intro.ipynb", *sys.argv[1:]]
    sys.exit(subprocess.call(command, cwd=DESK, env=run_environment()))


if __name__ == "__main__":
    main()
