"""Break the code on purpose, one small change at a time, and see that a test fails.

    python tools/mutants.py --sample 20          a fixed sample: all must be killed
    python tools/mutants.py --full               all mutants, and the score by module
    python tools/mutants.py --full weights.py    those of one file
    python tools/mutants.py --list explore.py    what would be tried

A mutant is one changed operator, comparison, number or condition. It lives in memory
only: a process that has the large packages loaded is forked, imports the library with
the one changed module and runs the tests of that module, uncompiled. A mutant that no
test can notice, because it computes the same, is listed with a reason in
``tools/equivalent_mutants.txt``; it is not tried. The sample is chosen by a checksum of
what is changed, so that editing one function leaves the rest of it as it was.
"""

import argparse
import ast
import copy
import hashlib
import importlib.abc
import importlib.machinery
import os
import pathlib
import signal
import sys
import tempfile
import time

from common import ROOT, cores

EQUIVALENT = ROOT / "tools" / "equivalent_mutants.txt"
#: Seconds for the tests of one mutant; one that takes longer hangs, which is noticed.
PATIENCE = 400

KERNELS = ["kernels", "kernels_penalty", "posterior", "exploration"]
#: Files to mutate and the tests that look at them, quick ones first.
TESTS = {
    "kernels/linear.py": KERNELS,
    "kernels/estimate.py": [*KERNELS, "posterior_object", "saving"],
    "kernels/explore.py": [*KERNELS, "settings_people_use", "policies"],
    "kernels/rounds.py": [*KERNELS, "simulation", "settings_people_use"],
    "kernels/bank.py": ["adaptive", "adaptive_interface", "adaptive_files"],
    "kernels/memory.py": [*KERNELS, "posterior_object", "adaptive"],
    "posterior.py": [
        "settings_people_use",
        "posterior_object",
        "posterior",
        "exploration",
        "saving",
    ],
    "exploration.py": ["exploration", "policies", "settings_people_use"],
    "weights.py": ["weights"],
    "results.py": ["results", "replaying", "settings_people_use"],
    "bounds/sums.py": ["bounds_noise", "bounds_potential", "settings_people_use"],
    "bounds/noise.py": ["bounds_noise", "bounds_units", "settings_people_use"],
    "bounds/prior.py": ["bounds_prior", "settings_people_use"],
    "bounds/potential.py": ["bounds_potential", "bounds_units", "settings_people_use"],
    "bounds/drift.py": ["bounds_drift", "bounds_units"],
    "bounds/regret.py": ["bounds_regret", "bounds_units"],
    "bounds/orders.py": ["bounds_regret"],
    "bounds/tuning.py": ["bounds_regret", "settings_people_use"],
    "bounds/decomposition.py": ["bounds_decomposition"],
}


# --- what can be changed --------------------------------------------------------------

_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_CALLS = {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil"}
_DROPPED = {"sqrt", "log", "log1p", "expm1", "abs"}


def changed(node):
    """The node with one change, for every change that is possible."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        other = _OPERATORS.get(type(node.op))
        if other:
            yield _with(node, op=other())
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = _OPERATORS.get(type(node.ops[0]))
        if other:
            yield _with(node, ops=[other()])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield _with(node, value=2 * node.value if node.value else type(node.value)(1))
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield _with(node, value=not node.value)
    elif isinstance(node, ast.Call) and len(node.args) >= 1:
        yield from _changed_call(node)


def _changed_call(node):
    name = getattr(node.func, "attr", getattr(node.func, "id", None))
    if name in _CALLS:
        function = copy.deepcopy(node.func)
        field = "attr" if isinstance(function, ast.Attribute) else "id"
        setattr(function, field, _CALLS[name])
        if name in ("ceil", "floor") or len(node.args) > 1:
            yield _with(node, func=function)
    elif name in _DROPPED and len(node.args) == 1 and not node.keywords:
        yield node.args[0]


def _with(node, **fields):
    twin = copy.copy(node)
    for field, value in fields.items():
        setattr(twin, field, value)
    return twin


#: Not changed: messages, types, and what is said and not computed.
_SKIPPED_NODES = (ast.Raise, ast.JoinedStr, ast.AnnAssign, ast.arguments, ast.Assert)


class _Sites(ast.NodeVisitor):
    """Places that can be changed, each with the path of fields that leads there."""

    def __init__(self):
        self.found, self.path, self.scope = [], [], []

    def visit(self, node):
        if isinstance(node, _SKIPPED_NODES) and not self._is_value(node):
            return
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if named:
            self.scope.append(node.name)
        for other in changed(node):
            self.found.append((".".join(self.scope), list(self.path), node, other))
        for field, value in ast.iter_fields(node):
            if field in ("decorator_list", "returns", "annotation", "keywords") and (
                named or field == "annotation"
            ):
                continue
            for place, child in _children(field, value):
                self.path.append(place)
                self.visit(child)
                self.path.pop()
        if named:
            self.scope.pop()

    @staticmethod
    def _is_value(node):
        return isinstance(node, ast.AnnAssign) and node.value is not None


def _children(field, value):
    if isinstance(value, ast.AST):
        yield (field, None), value
    elif isinstance(value, list):
        for i, child in enumerate(value):
            if isinstance(child, ast.AST):
                yield (field, i), child


class Mutant:
    """One change in one file."""

    def __init__(self, file, scope, path, before, after, count):
        self.file, self.path, self.after = file, path, after
        self.line = before.lineno
        words = f"{_text(before)} -> {_text(after)}"
        again = f" #{count}" if count else ""
        self.key = f"{file}: {scope or 'module'}: {words}{again}"

    def rank(self, seed):
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()


def _text(node):
    if isinstance(node, ast.AugAssign):
        node = ast.Assign([node.target], ast.BinOp(node.target, node.op, node.value))
        node = ast.fix_missing_locations(node)
    return " ".join(ast.unparse(node).split())


def mutants_of(file):
    """All mutants of a file of the library, in order."""
    tree = ast.parse((ROOT / "wsbnb" / file).read_text(encoding="utf-8"))
    sites = _Sites()
    sites.visit(tree)
    seen, found = {}, []
    for scope, path, before, after in sites.found:
        words = (scope, _text(before), _text(after))
        seen[words] = seen.get(words, -1) + 1
        found.append(Mutant(file, scope, path, before, after, seen[words]))
    return found


def mutated_tree(mutant):
    tree = ast.parse((ROOT / "wsbnb" / mutant.file).read_text(encoding="utf-8"))
    node = tree
    for field, i in mutant.path[:-1]:
        node = getattr(node, field) if i is None else getattr(node, field)[i]
    field, i = mutant.path[-1]
    if i is None:
        setattr(node, field, mutant.after)
    else:
        getattr(node, field)[i] = mutant.after
    return ast.fix_missing_locations(tree)


def equivalents():
    """Keys of the mutants that compute the same, each with its reason."""
    found = {}
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            key, _, reason = line.partition(" | ")
            found[key.strip()] = reason.strip()
    return found


# --- trying one -----------------------------------------------------------------------


class _Loader(importlib.machinery.SourceFileLoader):
    tree = None

    def get_code(self, fullname):
        return compile(self.tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the mutated module in place of the one on disk."""

    def __init__(self, name, path, tree):
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        loader = _Loader(fullname, str(self.path))
        loader.tree = self.tree
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=loader
        )


class _Witness:
    """Notes which test has failed first."""

    def __init__(self, note):
        self.note = note

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.note.write_text(report.nodeid, encoding="utf-8")

    pytest_collectreport = pytest_runtest_logreport


def run_tests(mutant, tests, note):
    """In a forked process: run the tests of a mutant; the status is pytest's."""
    import pytest

    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    if mutant is not None:
        name = "wsbnb." + mutant.file.removesuffix(".py").replace("/", ".")
        path = ROOT / "wsbnb" / mutant.file
        sys.meta_path.insert(0, _Finder(name, path, mutated_tree(mutant)))
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:nbmake",
    ]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # preloaded
    options += ["-W", "ignore::RuntimeWarning"]  # compiled code does not warn
    return int(pytest.main([*options, *tests], plugins=[_Witness(note)]))


def start(mutant, tests, note):
    """Fork; the child ends with pytest's status, or by a signal when it hangs."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    signal.alarm(PATIENCE)
    status = 99
    try:
        status = run_tests(mutant, tests, note)
    finally:
        os._exit(status)


def preload():
    """Import once what every child needs; the library itself is not among it."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anybody imports Numba
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    import hypothesis
    import joblib
    import matplotlib.pyplot
    import numba
    import pandas
    import pytest
    import scipy.linalg
    import scipy.optimize
    import scipy.stats

    assert all((hypothesis, joblib, matplotlib, numba, pandas, pytest, scipy))
    assert not [name for name in sys.modules if name.partition(".")[0] == "wsbnb"]


def try_all(mutants, jobs, folder):
    """Yield triples (mutant, killed, test that failed) as they become known."""
    waiting, running = list(enumerate(mutants)), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            i, mutant = waiting.pop(0)
            note = pathlib.Path(folder) / str(i)
            note.touch()
            files = [f"tests/test_{name}.py" for name in TESTS[mutant.file]]
            running[start(mutant, files, note)] = mutant, note
        child, status = os.waitpid(-1, 0)
        mutant, note = running.pop(child)
        yield mutant, status != 0, note.read_text(encoding="utf-8")


def innocent(tests, folder):
    """Whether the tests that have killed mutants pass without any change.

    A test that always fails kills everything, and proves nothing.
    """
    note = pathlib.Path(folder) / "control"
    single = {test for test in tests if "::" in test}
    whole = {test.partition("::")[0] for test in tests}
    for chosen in (sorted(single), ["--collect-only", *sorted(whole)]):
        _, status = os.waitpid(start(None, chosen, note), 0)
        if status:
            said = note.read_text(encoding="utf-8") if note.exists() else "a file"
            print(f"without any change there fails: {said}")
            return False
    return True


# --- the command ----------------------------------------------------------------------


def candidates(files, listed):
    wanted = [file for file in TESTS if not files or file.endswith(tuple(files))]
    every = [mutant for file in wanted for mutant in mutants_of(file)]
    return every, [mutant for mutant in every if mutant.key not in listed]


def report(results):
    """Score by module: killed of tried."""
    by_file = {}
    for mutant, killed in results:
        by_file.setdefault(mutant.file, []).append(killed)
    for file, outcomes in by_file.items():
        share = 100.0 * sum(outcomes) / len(outcomes)
        print(
            f"{file:26} {sum(outcomes):4} of {len(outcomes):4} killed, {share:5.1f} %"
        )


def main():
    parser = argparse.ArgumentParser(description="Break the code, expect tests to fail")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--sample", type=int, metavar="N", help="try N of them")
    what.add_argument("--full", action="store_true", help="try all of them")
    what.add_argument("--list", action="store_true", help="show them")
    parser.add_argument("--seed", default="0", help="another sample")
    parser.add_argument("files", nargs="*", help="ends of file names; default all")
    options = parser.parse_args()
    listed = equivalents()
    every, mutants = candidates(options.files, listed)
    unknown = set(listed) - {m.key for m in mutants_of_all()}
    if unknown:
        sys.exit(f"{EQUIVALENT.name} names mutants that are no more: {sorted(unknown)}")
    if options.list:
        for mutant in mutants:
            print(f"{mutant.key}   (line {mutant.line})")
        return
    if options.sample is not None:
        mutants = sorted(mutants, key=lambda m: m.rank(options.seed))[: options.sample]
    sys.exit(0 if run(mutants, len(every)) else 1)


def mutants_of_all():
    return [mutant for file in TESTS for mutant in mutants_of(file)]


def run(mutants, total):
    """Try mutants, print what survives and the score; True if all were killed."""
    begin = time.monotonic()
    preload()
    results, tests = [], set()
    with tempfile.TemporaryDirectory() as folder:
        for mutant, killed, test in try_all(mutants, cores(), folder):
            results.append((mutant, killed))
            tests.add(test)
            if not killed:
                print(f"SURVIVED {mutant.key}   (line {mutant.line})", flush=True)
        if not innocent(tests - {""}, folder):
            sys.exit("nothing can be said")
    report(results)
    killed = sum(dead for _, dead in results)
    seconds = time.monotonic() - begin
    print(f"{killed} of {len(results)} killed, of {total} mutants, in {seconds:.0f}s")
    return killed == len(results)


if __name__ == "__main__":
    main()
