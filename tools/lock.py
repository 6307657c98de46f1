"""Write requirements.txt: every package of every extra, pinned to one version.

    python tools/lock.py            keep the pins there are, add what is missing
    python tools/lock.py --upgrade  resolve everything anew

pip resolves without installing and reports what it would install. Only names and
versions are written down, so the file works with any package index.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
HEADER = """\
# The environment that builds the book and runs the tests. Written by `make lock`
# from pyproject.toml; edit that file, not this one.
"""


def wanted():
    """The requirements of the package, its extras and its build, from pyproject."""
    with (ROOT / "pyproject.toml").open("rb") as handle:
        settings = tomllib.load(handle)
    project = settings["project"]
    extras = project["optional-dependencies"].values()
    groups = [project["dependencies"], settings["build-system"]["requires"], *extras]
    return sorted({line for group in groups for line in group})


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def resolve(requirements, constraints):
    """Pairs (name, version) that pip would install for the requirements."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet"]
        command += ["--ignore-installed", "--report", str(report), *requirements]
        if constraints:
            pins = pathlib.Path(folder) / "constraints.txt"
            pins.write_text("\n".join(constraints) + "\n", encoding="utf-8")
            command += ["--constraint", str(pins)]
        subprocess.run(command, check=True)
        entries = json.loads(report.read_text(encoding="utf-8"))["install"]
    pairs = {
        (canonical(e["metadata"]["name"]), e["metadata"]["version"]) for e in entries
    }
    return sorted(pairs)


def pins_of(text):
    """The pinned lines of a lock file."""
    return [line for line in text.splitlines() if re.match(r"^[A-Za-z0-9]", line)]


def main():
    parser = argparse.ArgumentParser(description="Write requirements.txt")
    parser.add_argument("--upgrade", action="store_true", help="forget the old pins")
    arguments = parser.parse_args()
    old = [] if arguments.upgrade or not LOCK.exists() else pins_of(LOCK.read_text())
    pairs = resolve(wanted(), old)
    lines = [f"{name}=={version}" for name, version in pairs]
    LOCK.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    changed = len(set(lines) - set(old))
    print(f"{LOCK.name}: {len(lines)} packages, {changed} new or changed")


if __name__ == "__main__":
    main()
