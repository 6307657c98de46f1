"""Break the code on purpose, one small change at a time, and see that a test fails.

    python tools/mutants.py --sample 20          a fixed sample: all must be killed
    python tools/mutants.py --each 60            a sample of 60 of every file
    python tools/mutants.py --full               all mutants, and the score by module
    python tools/mutants.py --full weights.py    those of one file
    python tools/mutants.py --list explore.py    what would be tried

A mutant is one changed operator, comparison, number or condition, a statement that is
left out, two neighbouring arguments that are exchanged, or a ``.copy()`` or ``.T`` that
is not there. It lives in memory only; `mutant_runner` says how it is tried. A mutant
that no test can notice, because it computes the same, is listed with a reason in
``tools/equivalent_mutants.txt``; it is not tried. A sample is chosen by a checksum of
what is changed, so that editing one function leaves the rest of it as it was. The two
larger runs first write down which functions each test calls (once, until the code or
the tests change).
"""

import argparse
import ast
import copy
import functools
import hashlib
import math
import sys
import tempfile
import time

import mutant_runner
from common import ROOT, cores

EQUIVALENT = ROOT / "tools" / "equivalent_mutants.txt"

KERNELS = ["kernels", "kernels_penalty", "posterior", "exploration"]
ENVIRONMENTS = ["environments", "environments_errors", "environments_noise"]
ENVIRONMENTS += ["environments_more", "same_bits"]
ADAPTIVE = ["adaptive", "adaptive_interface", "adaptive_files", "field"]
POLICIES = ["policies", "policy_interface", "policy_errors", "theory", "reference"]
POLICIES += ["feature_names", "settings_people_use", "exploration", "saving"]
#: Files to mutate and the tests that look at them, quick ones first.
TESTS = {
    "kernels/linear.py": KERNELS,
    "kernels/estimate.py": [
        *KERNELS,
        "kernels_window",
        "clicks",
        "random_walk",
        "posterior_object",
        "saving",
    ],
    "kernels/explore.py": [*KERNELS, "settings_people_use"],
    "kernels/rounds.py": [*KERNELS, "settings_people_use"],
    "kernels/bank.py": [
        "kernels_bank",
        "adaptive",
        "adaptive_interface",
        "adaptive_files",
        "changes",
    ],
    "kernels/memory.py": [
        *KERNELS,
        "kernels_window",
        "kernels_bank",
        "posterior_object",
        "adaptive",
        "fleet",
    ],
    "kernels/fleet.py": ["fleet"],
    "kernels/logistic.py": ["glb"],
    "kernels/vectors.py": ["kernels_vectors"],
    "posterior.py": [
        "settings_people_use",
        "posterior_object",
        "posterior",
        "posterior_state",
        "policy_interface",
        "random_walk",
        "exploration",
        "saving",
    ],
    "exploration.py": ["exploration", "settings_people_use", "clicks"],
    "weights.py": ["weights"],
    "results.py": ["results", "replaying", "settings_people_use"],
    "bounds/_check.py": ["bounds_check"],
    "bounds/sums.py": ["bounds_noise", "bounds_potential", "settings_people_use"],
    "bounds/noise.py": ["bounds_noise", "bounds_units", "settings_people_use"],
    "bounds/prior.py": ["bounds_prior", "settings_people_use"],
    "bounds/potential.py": ["bounds_potential", "bounds_units", "settings_people_use"],
    "bounds/drift.py": ["bounds_drift", "bounds_units"],
    "bounds/regret.py": ["bounds_regret", "bounds_units"],
    "bounds/orders.py": ["bounds_regret"],
    "bounds/tuning.py": ["bounds_regret", "settings_people_use"],
    "bounds/decomposition.py": ["bounds_decomposition"],
    "dependence.py": ["dependence", "replaying"],
    "offpolicy.py": ["offpolicy"],
    "fitting.py": ["fitting"],
    "clicks.py": ["clicks", "glb"],
    "environments/_base.py": ENVIRONMENTS,
    "environments/_trajectories.py": ENVIRONMENTS,
    "environments/anchors.py": ENVIRONMENTS,
    "environments/arms.py": ENVIRONMENTS,
    "environments/clicks.py": [*ENVIRONMENTS, "clicks"],
    "environments/noise.py": ENVIRONMENTS,
    "environments/paper.py": ENVIRONMENTS,
    "environments/paths.py": ENVIRONMENTS,
    "environments/rewards.py": ENVIRONMENTS,
    "environments/world.py": ENVIRONMENTS,
    "adaptive/bandit.py": ADAPTIVE,
    "adaptive/base.py": [*ADAPTIVE, "simulation"],
    "adaptive/changes.py": ["changes", *ADAPTIVE],
    "adaptive/grid.py": ADAPTIVE,
    "adaptive/master.py": ["master", *ADAPTIVE],
    "adaptive/mixture.py": [*ADAPTIVE, "propensities"],
    "adaptive/surprise.py": ADAPTIVE,
    "fleet/base.py": ["fleet"],
    "fleet/events.py": ["fleet"],
    "fleet/known.py": ["fleet"],
    "fleet/sharing.py": ["fleet"],
    "policies/chances.py": ["propensities"],
    "policies/theory.py": [*POLICIES, "master"],
    "policies/oracle.py": POLICIES,
    "policies/base.py": POLICIES,
    "policies/named.py": POLICIES,
    "simulation.py": ["simulation", "simulation_edges", "results"],
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
#: Calls whose first arguments may stand in any order, and how many of them.
_SYMMETRIC = {"min": 9, "max": 9, "minimum": 2, "maximum": 2}
_SYMMETRIC |= {"plus": 2, "plus_product": 2, "minus_product": 2, "array_equal": 2}


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
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    elif isinstance(node, ast.Call):
        yield from _changed_call(node)


def _can_be_left_out(node):
    """Whether a statement changes something that is there without it, or refuses."""
    if isinstance(node, ast.Assign):
        kept = ast.Attribute | ast.Subscript
        return all(isinstance(target, kept) for target in node.targets)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, ast.AugAssign | ast.Raise)


def _changed_call(node):
    name = getattr(node.func, "attr", getattr(node.func, "id", None))
    if name == "copy" and isinstance(node.func, ast.Attribute) and not node.args:
        yield node.func.value
    yield from _exchanged(node, _SYMMETRIC.get(name, 0))
    if name in _CALLS:
        function = copy.deepcopy(node.func)
        field = "attr" if isinstance(function, ast.Attribute) else "id"
        setattr(function, field, _CALLS[name])
        if name in ("ceil", "floor") or len(node.args) > 1:
            yield _with(node, func=function)
    elif name in _DROPPED and len(node.args) == 1 and not node.keywords:
        yield node.args[0]


def _exchanged(call, free):
    """The call with two neighbouring arguments exchanged, if both are names.

    The first `free` arguments may stand in any order.
    """
    plain = ast.Name | ast.Attribute
    for i in range(max(free - 1, 0), len(call.args) - 1):
        one, two = call.args[i : i + 2]
        named = isinstance(one, plain) and isinstance(two, plain)
        if named and ast.unparse(one) != ast.unparse(two):
            args = [*call.args[:i], two, one, *call.args[i + 2 :]]
            yield _with(call, args=args)


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
        self.found, self.path, self.scope, self.inside = [], [], [], 0

    def visit(self, node):
        if self.inside and _can_be_left_out(node):
            self._note(node, ast.copy_location(ast.Pass(), node))
        if isinstance(node, _SKIPPED_NODES) and not self._is_value(node):
            return
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        function = isinstance(node, ast.FunctionDef)
        if named:
            self.scope.append(node.name)
        self.inside += function
        for other in changed(node):
            self._note(node, other)
        for field, value in ast.iter_fields(node):
            if field in ("decorator_list", "returns", "annotation", "keywords") and (
                named or field == "annotation"
            ):
                continue
            for place, child in _children(field, value):
                self.path.append(place)
                self.visit(child)
                self.path.pop()
        self.inside -= function
        if named:
            self.scope.pop()

    def _note(self, node, other):
        place = ".".join(self.scope), self.inside > 0
        self.found.append((*place, list(self.path), node, other))

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

    def __init__(self, file, scope, in_function, path, before, after, count):
        self.file, self.path, self.after = file, path, after
        self.scope, self.in_function = f"{file}: {scope}", in_function
        self.line = before.lineno
        words = f"{_text(before)} -> {_text(after)}"
        again = f" #{count}" if count else ""
        self.key = f"{file}: {scope or 'module'}: {words}{again}"

    def rank(self, seed):
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()

    @property
    def name(self):
        """A word that can name a file."""
        return self.rank("")[:20]

    def tree(self):
        """The changed file."""
        tree = ast.parse((ROOT / "wsbnb" / self.file).read_text(encoding="utf-8"))
        node = tree
        for field, i in self.path[:-1]:
            node = getattr(node, field) if i is None else getattr(node, field)[i]
        field, i = self.path[-1]
        if i is None:
            setattr(node, field, self.after)
        else:
            getattr(node, field)[i] = self.after
        return ast.fix_missing_locations(tree)


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
    for scope, inside, path, before, after in sites.found:
        words = (scope, _text(before), _text(after))
        seen[words] = seen.get(words, -1) + 1
        place = file, scope, inside, path
        found.append(Mutant(*place, before, after, seen[words]))
    return found


def mutants_of_all():
    return [mutant for file in TESTS for mutant in mutants_of(file)]


def equivalents():
    """Keys of the mutants that compute the same, each with its reason."""
    found = {}
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            key, _, reason = line.partition(" | ")
            found[key.strip()] = reason.strip()
    return found


# --- the command ----------------------------------------------------------------------


def chosen(options, listed):
    """The mutants to try."""
    parts = options.files
    found = []
    for file in (
        file for file in TESTS if not parts or any(part in file for part in parts)
    ):
        mutants = [mutant for mutant in mutants_of(file) if mutant.key not in listed]
        if options.each is not None:
            mutants = sample(mutants, options.each, options.seed)
        found += mutants
    if options.sample is not None:
        found = sample(found, options.sample, options.seed)
    return found


def sample(mutants, count, seed):
    return sorted(mutants, key=lambda mutant: mutant.rank(seed))[:count]


def interval(killed, tried, z=1.96):
    """Wilson's interval for a share, in per cent."""
    share, spread = killed / tried, z * z / tried
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / tried + spread / (4 * tried))
    half /= 1 + spread
    return 100 * max(middle - half, 0.0), 100 * min(middle + half, 1.0)


def report(results, listed):
    """Score by module: killed of tried, and of how many."""
    for file in TESTS:
        outcomes = [killed for mutant, killed in results if mutant.file == file]
        if not outcomes:
            continue
        every = [mutant.key for mutant in mutants_of(file)]
        live, killed = len(every) - len(listed & set(every)), sum(outcomes)
        text = f"{file:26} {killed:4} of {len(outcomes):4} killed"
        text += f" ({len(outcomes)} of {live}), {100 * killed / len(outcomes):5.1f} %"
        if len(outcomes) < live:
            text += " [{:.0f}, {:.0f}]".format(*interval(killed, len(outcomes)))
        print(text)


def learn(names):
    """Write down which functions the tests call, where that is not known yet."""
    tasks = [
        (name, functools.partial(mutant_runner.learn, name))
        for name in names
        if not mutant_runner.stored(name).exists()
    ]
    for name, status in mutant_runner.each(tasks, cores()):
        if status:
            sys.exit(f"tests/test_{name}.py cannot be run")


def run(mutants, listed, learning):
    """Try mutants, print what survives and the score; True if all were killed."""
    begin = time.monotonic()
    mutant_runner.preload()
    if learning:
        learn(sorted({name for mutant in mutants for name in TESTS[mutant.file]}))
    with tempfile.TemporaryDirectory() as folder:
        told = mutant_runner.serve(mutants, TESTS, cores(), folder)
    tests = {test for test in told.values() if test and "::" in test}
    fails = mutant_runner.guilty(tests) if told else "the tests cannot be collected"
    fails = fails or mutant_runner.guilty(_compiled(mutants, told), compiled=True)
    if fails:
        sys.exit(f"nothing can be said: {fails}")
    results = [(mutant, told[mutant.key] is not None) for mutant in mutants]
    report(results, set(listed))
    killed = sum(dead for _, dead in results)
    seconds = time.monotonic() - begin
    print(f"{killed} of {len(results)} killed in {seconds:.0f} s")
    return killed == len(results)


def _compiled(mutants, told):
    """The tests that have failed where they ran with the compiler on."""
    files = mutant_runner.COMPILED
    found = {told[mutant.key] for mutant in mutants if mutant.file in files}
    return {test for test in found if test and "::" in test}


def main():
    parser = argparse.ArgumentParser(description="Break the code, expect tests to fail")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--sample", type=int, metavar="N", help="try N of them")
    what.add_argument("--each", type=int, metavar="N", help="try N of every file")
    what.add_argument("--full", action="store_true", help="try all of them")
    what.add_argument("--list", action="store_true", help="show them")
    parser.add_argument("--seed", default="0", help="another sample")
    parser.add_argument("files", nargs="*", help="parts of file names; default all")
    options = parser.parse_args()
    listed = equivalents()
    unknown = set(listed) - {mutant.key for mutant in mutants_of_all()}
    if unknown:
        sys.exit(f"{EQUIVALENT.name} names mutants that are no more: {sorted(unknown)}")
    mutants = chosen(options, listed)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.key}   (line {mutant.line})")
        return
    sys.exit(0 if run(mutants, listed, options.sample is None) else 1)


if __name__ == "__main__":
    main()
