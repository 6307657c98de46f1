"""Modules import only from their left in the picture of the design.

weights, environments, kernels - posterior - bounds - policies - simulation
- experiments - plotting
"""

import ast
import pathlib

import pytest

import wsbnb

PACKAGE = pathlib.Path(wsbnb.__file__).parent

# From left to right. Modules of one set stand beside each other and do not import one
# another. A private helper (`_name`) that is not listed stands just right of the
# rightmost module it imports.
COLUMNS = [
    {"_types"},
    {"_validate"},
    {"kernels"},
    {"weights", "environments", "reference"},
    {"posterior"},
    {"bounds"},
    {"policies"},
    {"adaptive"},
    {"results"},
    {"simulation", "datasets"},
    {"prefix", "replaying"},
    {"experiments"},
    {"plotting"},
    {"interactive", "figures"},
    {"bench", "cli"},
    {"__main__", "__init__"},
]
COLUMN = {name: number for number, names in enumerate(COLUMNS) for name in names}
NOWHERE = float("inf")


def module_of(path, package):
    """The part of the picture a file belongs to: its first name below the package."""
    return path.relative_to(package).with_suffix("").parts[0]


def imported_modules(tree, path, package):
    """Names below the package that a syntax tree imports, absolutely or relatively."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute_base(node, path, package)
            dotted = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in dotted:
            first, *rest = name.split(".")
            if first == package.name and rest:
                yield rest[0]


def absolute_base(node, path, package):
    """The absolute name that an import statement starts from."""
    if node.level == 0:
        return node.module
    inside = [package.name, *path.relative_to(package).parts[:-1]]
    base = inside[: len(inside) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def imports_of(package):
    """For each module of the picture: pairs (file, imported name below the package)."""
    imports = {}
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = imports.setdefault(module_of(path, package), set())
        names.update(
            (path.name, name) for name in imported_modules(tree, path, package)
        )
    return imports


def column(name, imports, seen=()):
    """The place of a module; NOWHERE if it has none."""
    if name in COLUMN:
        return COLUMN[name]
    if not name.startswith("_") or name in seen:
        return NOWHERE
    others = {other for _, other in imports[name] if other in imports} - {name}
    columns = [column(other, imports, (*seen, name)) for other in others]
    return max(columns, default=0) + 0.5


def complaints(package):
    """One sentence for each import that goes to the right, or has no place."""
    imports = imports_of(package)
    for here, names in imports.items():
        place = column(here, imports)
        if place == NOWHERE:
            yield f"{here} has no place in the picture; add it to COLUMNS"
            continue
        for file, there in sorted(names):
            if there in imports:
                if here != there and column(there, imports) >= place:
                    yield f"{file} ({here}) imports {there}, which is not on its left"
            elif here != "__init__" and not there.startswith("__"):
                yield f"{file} imports the public name {there} from the top"


def test_imports_go_leftwards():
    assert list(complaints(PACKAGE)) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("posterior.py", "from wsbnb import policies"),
        ("posterior.py", "import wsbnb.policies.ucb"),
        ("posterior.py", "from .policies import ucb"),
        ("posterior.py", "from .policies.ucb import score"),
        ("bounds/alpha.py", "from ..policies import ucb"),
        ("bounds/alpha.py", "def late():\n    from wsbnb.policies import ucb"),
        ("weights.py", "from wsbnb.environments import paths"),
        ("posterior.py", "from wsbnb import simulate"),
        ("surprise.py", "x = 1"),
    ],
)
def test_violation_is_seen(tmp_path, path, code):
    package = make_package(tmp_path, {path: code})
    assert len(list(complaints(package))) == 1


def test_helper_stands_right_of_what_it_imports(tmp_path):
    helper = "from wsbnb import policies"
    package = make_package(
        tmp_path, {"_h.py": helper, "bounds/a.py": "import wsbnb._h"}
    )
    assert len(list(complaints(package))) == 1


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("policies/ucb.py", "from wsbnb.posterior import P\nfrom . import helper"),
        ("bounds/alpha.py", "from .. import _validate\nfrom ..kernels import f"),
        ("__init__.py", "from wsbnb.policies import ucb"),
        ("_helper.py", "from wsbnb import kernels"),
        ("posterior.py", "import numpy as np\nfrom wsbnb import __version__"),
    ],
)
def test_good_import_is_accepted(tmp_path, path, code):
    package = make_package(tmp_path, {path: code})
    assert list(complaints(package)) == []


def make_package(folder, files):
    package = folder / "wsbnb"
    skeleton = ["__init__", "_validate", "kernels", "posterior", "weights"]
    skeleton += ["policies/__init__", "policies/ucb", "policies/helper"]
    skeleton += ["bounds/__init__", "environments/__init__"]
    for name in skeleton:
        target = package / f"{name}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("")
    for name, code in files.items():
        (package / name).write_text(code)
    return package
