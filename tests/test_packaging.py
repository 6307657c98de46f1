"""The wheel: built, installed elsewhere, imported from outside the source tree."""

import pathlib
import subprocess
import sys
import tomllib
import zipfile

import pytest

import wsbnb

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALLOWED = {"numpy", "scipy", "numba", "pandas", "matplotlib", "joblib", "tqdm"}


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source_copy(tmp_path_factory):
    """Only what a wheel is made from, so that building leaves nothing behind here."""
    import shutil

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


def test_wheel_holds_every_module_and_the_type_marker(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {p.relative_to(ROOT).as_posix() for p in (ROOT / "wsbnb").rglob("*.py")}
    assert modules <= names
    assert "wsbnb/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "tools/"))]


def test_wheel_has_the_one_version(wheel):
    assert wheel.name.startswith(f"wsbnb-{wsbnb.__version__}-")


def test_installed_wheel_imports_from_elsewhere(wheel, tmp_path):
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    install += ["--no-index", "--target", str(target), str(wheel)]
    run(*install, cwd=tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import importlib.metadata, importlib.resources, wsbnb\n"
        "print(wsbnb.__file__)\n"
        "print(wsbnb.__version__, importlib.metadata.version('wsbnb'))\n"
        "print((importlib.resources.files(wsbnb) / 'py.typed').is_file())\n"
    )
    # -P keeps the current folder off the path, so the source tree cannot be meant
    place, versions, typed = run(
        sys.executable, "-P", "-c", code, cwd=tmp_path
    ).splitlines()
    assert pathlib.Path(place).is_relative_to(target)
    assert versions == f"{wsbnb.__version__} {wsbnb.__version__}"
    assert typed == "True"


def test_few_runtime_dependencies():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    names = {line.split(">")[0].split("=")[0] for line in project["dependencies"]}
    assert names == ALLOWED
    assert {"book", "test", "data", "cluster"} <= set(project["optional-dependencies"])
    assert project["dynamic"] == ["version"]


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
