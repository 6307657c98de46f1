"""The picture of the design, as one table: a module imports only from its left.

kernels - weights - posterior - bounds - exploration - policies - adaptive
- environments - results - simulation - replaying, fitting
paper/: the laboratory; plotting, interactive: what pages draw
"""

import ast
import pathlib
import subprocess
import sys
from collections import defaultdict

import pytest

import wsbnb

PACKAGE = pathlib.Path(wsbnb.__file__).parent

# From left to right. Names of one line stand beside each other and do not import one
# another. A package that is named as a whole (bounds, environments) is one place.
PICTURE = """
_types _interrupt
_validate _guide
_files
_tables
kernels.vectors kernels.compiling
kernels.linear kernels.logistic
kernels.estimate
kernels.explore
kernels.rounds kernels.bank kernels.fleet
kernels.memory
weights
posterior
bounds clicks
exploration
policies.theory policies.old_files policies.chances
policies.saving
policies.base
policies.oracle policies.named policies.checking
fleet.turns fleet.events fleet.sharing fleet.files
fleet.known
fleet.base
adaptive.grid
adaptive.base
adaptive.bandit adaptive.changes adaptive.mixture adaptive.surprise
adaptive.master
environments
dependence
results datasets
simulation
replaying fitting offpolicy adapters
warmup recommending
paper.algorithms paper.field paper.gaussian paper.glb
paper.settings paper.reference
paper.tables paper.cache
paper.running
paper.report
paper.recorded paper.studies paper.calibration paper.bench
paper.robustness paper.benchmark_worlds
paper.benchmark_policies paper.benchmark_tables
paper.benchmark
paper.guide paper.fresh
plotting
interactive paper.figures paper.rooms
paper.cli
"""
COLUMN = {
    name: number
    for number, line in enumerate(PICTURE.strip().splitlines())
    for name in line.split()
}
FOUNDATION = {"_types", "_validate", "_files"}
# These know nothing of bandits or of policies, wherever they stand.
ALONE = {"environments", "dependence", "datasets", "_types", "_validate", "_files"}
# Who may look into the laboratory: what draws, and the command line.
OUTSIDE_THE_LABORATORY = {"plotting", "interactive", "__main__"}
# Doors gather what is inside; others go to the room, but for the command line.
DOORS = {"__init__", "__main__", "kernels", "policies", "adaptive", "fleet", "paper"}


def dotted(path, package):
    """The name of a file below the package; a folder's `__init__` is the folder."""
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and parts[1:] else parts)


def place(name):
    """The entry of the picture that a module belongs to; None if there is none."""
    while name not in COLUMN:
        if "." not in name:
            return None
        name = name.rpartition(".")[0]
    return name


def statements(tree):
    """Import statements that are carried out: not those for a type checker."""
    todo = list(ast.iter_child_nodes(tree))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            todo += node.orelse
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        todo += ast.iter_child_nodes(node)


def imports_of(package):
    """For each module the dotted names below the package that it imports."""
    files = {dotted(path, package): path for path in sorted(package.rglob("*.py"))}
    found = defaultdict(set)
    for here, path in files.items():
        found[here] = set()
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            for name in absolute_names(node, path, package):
                first, _, rest = name.partition(".")
                while rest and rest not in files and "." in rest:
                    rest = rest.rpartition(".")[0]  # a name in a module: the module
                if first == package.name and rest:
                    found[here].add(rest)
    return found


def absolute_names(node, path, package):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module
    if node.level:
        inside = [package.name, *path.relative_to(package).parts[:-1]]
        kept = inside[: len(inside) - node.level + 1]
        base = ".".join([*kept, base] if base else kept)
    return [f"{base}.{alias.name}" for alias in node.names]


def complaints(package):
    """One sentence for each import that goes to the right, or has no place."""
    imports = imports_of(package)
    for here, names in imports.items():
        if here in DOORS:
            continue
        mine = place(here)
        if mine is None:
            yield f"{here} has no place in the picture; add it to PICTURE"
            continue
        for there in sorted(names):
            if there not in imports:
                if not there.startswith("__"):
                    yield f"{here} imports the public name {there} from the top"
                continue
            yield from complaint(here, mine, there, place(there))


def complaint(here, mine, there, theirs):
    if mine == theirs:
        return
    if theirs is None:
        if not (there == "paper" and mine == "paper.cli"):
            yield f"{here} imports {there}, the door and not the room"
    elif COLUMN[theirs] >= COLUMN[mine]:
        yield f"{here} imports {there}, which is not on its left"
    elif mine in ALONE and theirs not in FOUNDATION:
        yield f"{here} imports {there}, but is to stand alone"


def intruders(package):
    """Modules outside the laboratory that import it."""
    return {
        here
        for here, names in imports_of(package).items()
        if here.partition(".")[0] not in {"paper", *OUTSIDE_THE_LABORATORY}
        and any(name.partition(".")[0] == "paper" for name in names)
    }


# --- the package ----------------------------------------------------------------------


def test_imports_go_leftwards():
    assert list(complaints(PACKAGE)) == []


def test_nobody_looks_into_the_laboratory():
    assert intruders(PACKAGE) == set()


def test_picture_shows_what_there_is():
    """Every name of the table is a module or a package, and none is there twice."""
    names = PICTURE.split()
    assert len(names) == len(set(names))
    modules = set(imports_of(PACKAGE))
    assert {n for n in names if n not in modules} == set()
    assert {n for n in modules if place(n) is None} == DOORS


# --- the test itself ------------------------------------------------------------------


def make_package(folder, files):
    package = folder / "wsbnb"
    skeleton = ["__init__", "_validate", "posterior", "weights", "results", "fitting"]
    skeleton += ["kernels/__init__", "kernels/linear", "kernels/rounds"]
    skeleton += ["policies/__init__", "policies/base", "policies/named"]
    skeleton += ["bounds/__init__", "bounds/noise", "environments/__init__"]
    skeleton += ["paper/__init__", "paper/settings", "plotting"]
    for name in skeleton:
        target = package / f"{name}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("")
    for name, code in files.items():
        (package / name).write_text(code)
    return package


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("posterior.py", "from wsbnb.policies import base"),
        ("posterior.py", "import wsbnb.policies.named"),
        ("posterior.py", "from .policies import base"),
        ("posterior.py", "from .policies.base import Policy"),
        ("bounds/noise.py", "from ..policies import base"),
        ("bounds/noise.py", "def late():\n    from wsbnb.policies import base"),
        ("weights.py", "from wsbnb.environments import Environment"),
        ("kernels/linear.py", "from wsbnb.kernels.rounds import play"),
        ("kernels/linear.py", "from wsbnb import weights"),
        ("policies/base.py", "from wsbnb.policies.named import LinTS"),
        ("results.py", "from wsbnb.fitting import fit_log"),
        ("environments/__init__.py", "from wsbnb.policies.base import Policy"),
        ("fitting.py", "from wsbnb.kernels import play"),
        ("posterior.py", "from wsbnb import simulate"),
        ("surprise.py", "x = 1"),
    ],
)
def test_violation_is_seen(tmp_path, path, code):
    package = make_package(tmp_path, {path: code})
    assert len(list(complaints(package))) == 1


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("policies/named.py", "from wsbnb.posterior import P\nfrom . import base"),
        ("bounds/noise.py", "from .. import _validate\nfrom ..kernels import linear"),
        ("bounds/noise.py", "from wsbnb.bounds import _check"),
        ("__init__.py", "from wsbnb.policies.base import Policy"),
        ("posterior.py", "import numpy as np\nfrom wsbnb import __version__"),
        ("weights.py", "if TYPE_CHECKING:\n    from wsbnb import posterior"),
        ("plotting.py", "from wsbnb.paper.settings import Cell"),
    ],
)
def test_good_import_is_accepted(tmp_path, path, code):
    package = make_package(tmp_path, {path: code})
    assert list(complaints(package)) == []
    assert intruders(package) == set()


@pytest.mark.parametrize("path", ["__init__.py", "results.py", "policies/base.py"])
def test_intruder_is_seen(tmp_path, path):
    code = "def late():\n    from wsbnb.paper import settings"
    package = make_package(tmp_path, {path: code})
    assert intruders(package) == {path.removesuffix(".py").replace("/", ".")}


# --- what an import costs -------------------------------------------------------------

HEAVY = {"pandas", "matplotlib", "joblib", "tqdm", "sklearn", "IPython", "PIL"}


def loaded_by(code):
    """Modules in memory after some code has run in a process of its own."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    done = subprocess.run(
        command, cwd=PACKAGE.parent, check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def heavy(modules):
    """Those that a newcomer should not wait for.

    The bare `scipy` (which Numba looks for) brings its version and some private
    modules; everything else of it is too much.
    """
    scipy = [name for name in modules if name.startswith("scipy.")]
    parts = {name for name in scipy if name.split(".")[1][0] != "_"}
    theirs = {name for name in modules if name.partition(".")[0] in HEAVY}
    return theirs | parts - {"scipy.version"}


def test_import_brings_nothing_heavy():
    modules = loaded_by("import wsbnb")
    ours = {name for name in modules if name.startswith("wsbnb.")}
    assert heavy(modules) == set()
    assert not ours & {f"wsbnb.{name}" for name in ("paper", "plotting", "interactive")}


def test_heavy_import_is_seen():
    assert "pandas" in heavy(loaded_by("import wsbnb, pandas"))
    assert "scipy.special" in heavy(loaded_by("import wsbnb, scipy.special"))
    assert heavy(["scipy", "scipy._lib", "numpy", "numba.core"]) == set()


# --- what is known of the kernels outside ---------------------------------------------

# Places in the kernels' arrays that others read, by their names. The list is to
# become shorter, not longer.
KNOWN = {
    "posterior": {
        "BOUND",
        "CLOCK",
        "HEAD",
        "LARGEST_SHIFT",
        "SQUARED_WEIGHT_SUM",
        "WEIGHT_SUM",
    },
    "policies.base": {"MEANS", "PENALTY", "RADIUS", "SCORES", "WIDTHS"},
    "policies.chances": {"TIE"},
    "policies.oracle": {"TIE"},
    "adaptive.base": {"LARGEST_SHIFT", "SCORES"},
    "adaptive.changes": {"LOUDEST", "QUIETEST"},  # what a file may say of the noise
    "adaptive.master": {"SCORES"},
    "fitting": {"MEAN", "VARIANCE"},
}
# Arrays of the kernels in which a bare number would be a code.
CODED = {"counts", "bound", "wear", "rows", "said", "vectors"}


def kernel_constants(tree):
    """Names in capitals that a file takes from the kernels."""
    modules, names = set(), set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if node.module == "wsbnb.kernels":
            modules |= {alias.asname or alias.name for alias in node.names}
        elif node.module.startswith("wsbnb.kernels."):
            names |= {alias.name for alias in node.names if alias.name.isupper()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
            names |= {node.attr} if node.attr.isupper() else set()
    return names


def bare_numbers(tree):
    """Subscripts like ``counts[2]`` in arrays whose places have names."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript):
            continue
        array = ast.unparse(node.value).rpartition(".")[2]
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        numbers = [i for i in index if isinstance(getattr(i, "value", None), int)]
        if array in CODED and numbers:
            yield ast.unparse(node)


def outside_the_kernels():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = dotted(path, PACKAGE)
        if name.partition(".")[0] != "kernels":
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def test_codes_of_the_kernels_are_known_by_name_and_by_few():
    found = {name: kernel_constants(tree) for name, tree in outside_the_kernels()}
    assert {name: codes for name, codes in found.items() if codes} == KNOWN


def test_no_bare_numbers_stand_for_codes():
    wrong = {
        name: list(bare_numbers(tree))
        for name, tree in outside_the_kernels()
        if "wsbnb.kernels" in ast.unparse(tree)
    }
    assert set(KNOWN) <= set(wrong)
    assert {name: codes for name, codes in wrong.items() if codes} == {}


def test_codes_are_seen():
    code = "from wsbnb.kernels import explore as e, bank\nfrom wsbnb.kernels.explore"
    tree = ast.parse(f"{code} import TIE, score\nx = e.SCORES + bank.follow")
    assert kernel_constants(tree) == {"TIE", "SCORES"}
    lines = ["a = state.counts[2]", "b = rows[0, k]", "c = rows[MEANS]", "d = x[1]"]
    found = list(bare_numbers(ast.parse("\n".join(lines))))
    assert found == ["state.counts[2]", "rows[0, k]"]
