"""The wheel: built, installed elsewhere, imported from outside the source tree."""

import ast
import hashlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

import wsbnb

ROOT = pathlib.Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
ALLOWED = {"numpy", "scipy", "numba", "pandas", "matplotlib", "joblib", "tqdm"}
ALLOWED |= {"llvmlite", "pillow"}  # of Numba and matplotlib, and imported here too


def run(*command, cwd, **variables):
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source_copy(tmp_path_factory):
    """Only what a wheel is made from, so that building leaves nothing behind here."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "wsbnb", folder / "wsbnb", ignore=ignore)
    return folder


@pytest.fixture(scope="module")
def wheel(source_copy, tmp_path_factory):
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    run(*command, "--outdir", str(target), str(source_copy), cwd=target)
    (path,) = target.glob("*.whl")
    return path


def test_wheel_holds_what_it_should_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    data = ROOT / "wsbnb" / "paper" / "data"
    clicks = (ROOT / "wsbnb" / "data" / "open_bandit").iterdir()
    files = [*(ROOT / "wsbnb").rglob("*.py"), *data.glob("*.csv"), *clicks]
    expected = {path.relative_to(ROOT).as_posix() for path in files}
    found = {name for name in names if ".dist-info/" not in name}
    assert found == expected | {"wsbnb/py.typed"}
    assert {"wsbnb/__main__.py", "wsbnb/paper/data/paper_table2.csv"} <= found


def test_wheel_has_the_one_version(wheel):
    assert wheel.name.startswith(f"wsbnb-{wsbnb.__version__}-")


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    target = tmp_path_factory.mktemp("installed") / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    install += ["--no-index", "--target", str(target), str(wheel)]
    run(*install, cwd=target.parent)
    return target


def test_installed_wheel_imports_from_elsewhere(installed, tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "import importlib.metadata, importlib.resources, wsbnb\n"
        "print(wsbnb.__file__)\n"
        "print(wsbnb.__version__, importlib.metadata.version('wsbnb'))\n"
        "print((importlib.resources.files(wsbnb) / 'py.typed').is_file())\n"
        "print(len(wsbnb.paper.printed_table(2)), len(wsbnb.paper.recorded()))\n"
    )
    # -P keeps the current folder off the path, so the source tree cannot be meant
    place, versions, typed, rows = run(
        sys.executable, "-P", "-c", code, cwd=tmp_path
    ).splitlines()
    assert pathlib.Path(place).is_relative_to(installed)
    assert versions == f"{wsbnb.__version__} {wsbnb.__version__}"
    assert typed == "True" and rows == "70 160"


def test_console_script_is_installed(installed, tmp_path):
    (script,) = (installed / "bin").iterdir()
    assert script.name == "wsbnb"
    command = [sys.executable, str(script), "--version"]
    said = run(*command, cwd=tmp_path, PYTHONPATH=str(installed))
    assert said.strip() == wsbnb.__version__


# --- what is declared -----------------------------------------------------------------


def declared(lines):
    """Names of requirements, as package indexes spell them."""
    found = (re.match(r"[A-Za-z0-9._-]+", line).group() for line in lines)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


def imported(*folders):
    """Distributions that files of some folders import, wherever in the file."""
    known = importlib.metadata.packages_distributions()
    found = set()
    for path in [path for folder in folders for path in (ROOT / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                found.update(known.get(name.partition(".")[0], [])[:1])
    return declared(found) - {"wsbnb"}


def test_few_runtime_dependencies():
    assert declared(PROJECT["dependencies"]) == ALLOWED
    assert set(EXTRAS) == {"book", "test", "data", "cluster"}
    assert PROJECT["dynamic"] == ["version"]


def test_what_the_library_imports_is_declared():
    optional = {"threadpoolctl", "ipython", "river"}  # used where they are
    assert imported("wsbnb") - optional == ALLOWED


def test_what_tools_and_tests_import_is_declared():
    every = declared([x for lines in EXTRAS.values() for x in lines]) | ALLOWED
    assert imported("tools") <= declared([*EXTRAS["book"], *EXTRAS["test"]]) | ALLOWED
    ours = {"distributed"}  # dask[distributed]
    assert imported("tests") - ours <= every
    assert {"pyyaml", "beautifulsoup4", "hypothesis"} <= imported("tests")


def test_citation_has_the_same_version():
    import yaml

    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["version"] == wsbnb.__version__


def test_lock_pins_versions_and_names_no_host():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(line.count("==") == 1 for line in pins)
    assert not [line for line in pins if "://" in line or line.startswith("-")]
    names = {line.split("==")[0] for line in pins}
    assert ALLOWED <= names


# --- what is copied into the project --------------------------------------------------


def sums_of(folder):
    """Expected and found checksums of a vendored folder, by file."""
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    expected = {name: value for value, name in (line.split() for line in lines)}
    ours = {"README.md", "SHA256SUMS", "VERSION"}
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ours
    }
    return expected, found


def test_mathjax_is_the_version_it_says():
    folder = ROOT / "book" / "_assets" / "mathjax"
    expected, found = sums_of(folder)
    assert found == expected
    first = (folder / "VERSION").read_text(encoding="utf-8").split()
    assert first[0] == "MathJax"
    code = (folder / "tex-mml-chtml.js").read_text(encoding="utf-8")
    assert f'VERSION="{first[1].rstrip(",")}"' in code


def test_the_log_of_clicks_is_the_one_that_was_copied():
    """All six files were compared with those of obp 0.4.1, row by row."""
    expected, found = sums_of(ROOT / "wsbnb" / "data" / "open_bandit")
    assert found == expected and len(found) == 7


def test_changed_copy_is_seen(tmp_path):
    (tmp_path / "a.js").write_text("1")
    digest = hashlib.sha256(b"1").hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"{digest}  a.js\n")
    expected, found = sums_of(tmp_path)
    assert found == expected
    (tmp_path / "a.js").write_text("2")
    (tmp_path / "b.js").write_text("1")
    expected, found = sums_of(tmp_path)
    assert found != expected and set(found) == {"a.js", "b.js"}
