"""Spoil a chapter's formulas on purpose, and see which assertions notice.

An assertion that no mistake can break guards nothing. This tool changes one thing at a
time in a chapter's code (a sign, a factor, an exponent, a comparison, a form of a
bound, a policy), runs the rest of the chapter and reports which assertions failed.

    python -m tests.book.mutations book/part2_proofs/06_drift.ipynb --sample 40
    python -m tests.book.mutations book/part2_proofs/*.ipynb --sample 20 --seed 1

A chapter runs once. Before each cell with mutations the process forks, one child for
each mutation, and the child runs the spoilt cell and, of the later ones, those that use
what it made, until a cell with a failed assertion (with --asserts to the end). A child
that crashes counts as caught.

Not changed is what is only shown: calls that draw or print, and what is computed for
them alone. A number that the text quotes (glue) is a claim, and counts. Changes that
give the same numbers are in equivalent_mutations.yml, each with its reason.
"""

import argparse
import ast
import contextlib
import copy
import dis
import json
import os
import pathlib
import pickle
import random
import signal
import sys
import types
import warnings
from typing import NamedTuple
from unittest import mock

import yaml

from tests.book import notebook_rules as rules

# Calls that only show something: what happens inside them needs no assertion.
SHOWN = {
    "ax", "axes", "fig", "plt", "plotting", "interactive", "drawn_guess", "print",
    "glue", "display",
}  # fmt: skip
# Arguments that say how much is computed, or with which luck, and not what.
AMOUNTS = {
    "default_rng", "range", "arange", "linspace", "geomspace", "logspace", "zeros",
    "ones", "eye", "round", "reshape", "subplots", "simulate", "standard_normal",
    "uniform", "integers",
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip
WORDS = {
    "corrected": "printed", "sharp": "printed", "lambda_max": "trace",
    "exact": "triangle", "horizon": "none", "thompson": "ucb",
}  # fmt: skip
POLICIES = {
    "WSBLinTS": "WSBRandLinUCB", "WSBRandLinUCB": "WSBLinTS",
    "DLinUCB": "LBWeightUCB", "sqrt": "square", "log": "log1p", "argmax": "argmin",
}  # fmt: skip
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent_mutations.yml")
TOLERANCE = 1e-6
CAUGHT, CRASHED, SURVIVED, SLOW = "caught", "crashed", "survived", "too slow"


class Mutation(NamedTuple):
    """One change: where it is, what it was and what it becomes."""

    cell: str
    line: int
    place: int  # in the walk over the cell's tree
    before: str
    after: str


class Report(NamedTuple):
    """What became of each mutation, and how often each assertion failed."""

    fate: dict
    failures: dict

    def count(self, *fates):
        return sum(fate in fates for fate in self.fate.values())

    @property
    def share_caught(self):
        judged = len(self.fate) - self.count(SLOW)
        return self.count(CAUGHT, CRASHED) / judged if judged else float("nan")

    @property
    def never_failed(self):
        return [where for where, count in self.failures.items() if not count]


# -- finding mutations -----------------------------------------------------------------


def called(node):
    """Names in a call's function: `ax.plot` gives ax and plot."""
    if not isinstance(node, ast.Call):
        return []
    parts, function = [], node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Subscript):  # axes[0].plot
        function = function.value
    parts.append(getattr(function, "id", ""))
    return parts


def is_shown(node, also=frozenset()):
    """Whether a node only draws or prints, or computes what only others show."""
    if isinstance(node, ast.Expr):
        node = node.value
    if isinstance(node, ast.Call):
        return bool(set(called(node)[-1:]) & (SHOWN - {"glue"}))
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        return stored(node) <= also
    if isinstance(node, ast.FunctionDef):
        return node.name in also
    if isinstance(node, (ast.For, ast.If, ast.With)):
        body = [*node.body, *getattr(node, "orelse", [])]
        return all(is_shown(child, also) for child in body)
    return False


def stored(node):
    """Names that a statement assigns; an item or attribute of a name is the name."""
    targets = getattr(node, "targets", None) or [getattr(node, "target", node)]
    names = [n for target in targets for n in ast.walk(target)]
    return {n.id for n in names if isinstance(n, ast.Name)}


def used(node, shown):
    """Names that a tree reads for anything but showing."""
    if is_shown(node, shown):
        return set()
    found = {node.id} if isinstance(node, ast.Name) else set()
    if isinstance(getattr(node, "ctx", None), ast.Store):
        found = set()
    return found.union(*(used(child, shown) for child in ast.iter_child_nodes(node)))


def only_shown(trees):
    """Names of a chapter that are read by pictures and prints, and by nothing else."""
    shown, read = set(), set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            shown |= stored(node)
        elif isinstance(node, ast.FunctionDef) and not node.decorator_list:
            shown.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
    shown &= read
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):  # methods are called in ways not seen here
            shown -= {getattr(child, "name", "") for child in node.body}
    while taken := shown & set().union(*(used(tree, shown) for tree in trees)):
        shown -= taken
    return frozenset(shown)


def is_number(node):
    """A number with or without a sign."""
    return isinstance(getattr(node, "operand", node), ast.Constant)


def formulas(node, shown=frozenset()):
    """Nodes that belong to formulas, in a fixed order."""
    names = called(node)
    left_out = bool(set(names[-1:]) & SHOWN) or bool(set(names[:1]) & AMOUNTS)
    if left_out or rules.is_assertion(node) or is_shown(node, shown):
        return
    if isinstance(node, ast.Subscript):  # the index says which, not what
        yield from formulas(node.value, shown)
        return
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, (ast.List, ast.Tuple)) and all(map(is_number, node.elts)):
        return  # the numbers of an example are a choice, as good as their opposites
    yield node
    for child in ast.iter_child_nodes(node):
        yield from formulas(child, shown)


def is_noise(node):
    """A symmetric draw, or a multiple of one."""
    return any("standard_normal" in called(child) for child in ast.walk(node))


def changed(node):
    """The node with one thing wrong in it, or None if there is nothing to change."""
    new = copy.deepcopy(node)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, (ast.Add, ast.Sub)) and is_noise(node.right):
            return None  # symmetric noise has no sign
        if isinstance(getattr(node.right, "value", None), float):
            if abs(node.right.value) < TOLERANCE:  # room for rounding errors
                return None
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
            new.right.value = node.right.value * 2
            return new
        if type(node.op) in OPERATORS:
            new.op = OPERATORS[type(node.op)]()
            return new
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        new.ops[0] = OPERATORS[type(node.ops[0])]()
        return new
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return new.operand
    elif isinstance(node, ast.Attribute) and node.attr in POLICIES:
        new.attr = POLICIES[node.attr]
        return new
    elif isinstance(node, ast.Constant) and node.value in WORDS:
        new.value = WORDS[node.value]
        return new
    return None


def trees(notebook):
    """The cells of a chapter, parsed."""
    return {
        cell["id"]: ast.parse(rules.without_magics(rules.source(cell)))
        for _, cell in rules.code_cells(notebook)
    }


def mutations(notebook):
    """All single changes to the formulas of a chapter."""
    cells = trees(notebook)
    shown = only_shown(list(cells.values()))
    for cell, tree in cells.items():
        for place, node in enumerate(formulas(tree, shown)):
            new = changed(node)
            if new is not None:
                words = ast.unparse(node), ast.unparse(new)
                if words[0] != words[1]:
                    yield Mutation(cell, node.lineno, place, *words)


def mutate(tree, mutation, shown=frozenset()):
    """The cell's tree with one node replaced."""
    tree = copy.deepcopy(tree)
    target = list(formulas(tree, shown))[mutation.place]
    return ast.fix_missing_locations(Swap(target).visit(tree))


class Swap(ast.NodeTransformer):
    def __init__(self, target):
        self.target = target

    def visit(self, node):
        if node is self.target:
            return changed(node)
        return self.generic_visit(node)


# -- running a chapter -----------------------------------------------------------------


class Recorder(ast.NodeTransformer):
    """Let assertions write down that they failed, and go on."""

    def __init__(self, cell):
        self.cell, self.found = cell, []

    def _guarded(self, node):
        name = f"{self.cell}:{node.lineno} {ast.unparse(node)[:70]}"
        self.found.append(name)
        note = ast.parse(f"_failed.append({name!r})").body
        handler = ast.ExceptHandler(
            type=ast.Name("AssertionError", ast.Load()), name=None, body=note
        )
        return ast.Try(body=[node], handlers=[handler], orelse=[], finalbody=[])

    def visit_Assert(self, node):
        return self._guarded(node)

    def visit_Expr(self, node):
        return self._guarded(node) if rules.is_assertion(node.value) else node


def prepared(tree, cell):
    """A cell as code that records its assertions, and their names."""
    recorder = Recorder(cell)
    tree = ast.fix_missing_locations(recorder.visit(copy.deepcopy(tree)))
    return compile(tree, cell, "exec"), recorder.found


def read_and_made(code):
    """Global names that compiled code reads, and those it assigns at its top level."""
    read, made = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            read.add(step.argval)
        elif step.opname in ("STORE_NAME", "STORE_GLOBAL"):
            made.add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            read |= read_and_made(inner)[0]
    return read, made


def with_keepers(trees, names):
    """Let a cell with a decorated function make what the decorator's cell makes, too.

    A decorator of the chapter may keep the function (on a list of checks, say).
    """
    makers = {
        node.name: made
        for tree, (_, made) in zip(trees, names)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    for tree, (_, made) in zip(trees, names):
        decorators = [d for n in tree.body for d in getattr(n, "decorator_list", [])]
        for node in (node for one in decorators for node in ast.walk(one)):
            made |= makers.get(getattr(node, "id", ""), set())
    return names


def concerned(names, first, guards):
    """Cells after `first` that a change of it can reach and an assertion can notice.

    `names` holds what each cell reads and makes, `guards` says which have assertions.
    No cell changes what another has made (a test reads all chapters for that), so the
    names are enough: first what is made from changed names, then what those cells need.
    """
    spoilt, reached = set(names[first][1]), []
    for number in range(first + 1, len(names)):
        read, made = names[number]
        if read & spoilt:
            spoilt |= made
            reached.append(number)
    wanted, needed = [], set()
    for number in range(len(names) - 1, first, -1):
        read, made = names[number]
        if made & needed or (number in reached and guards[number]):
            needed |= read
            wanted.insert(0, number)
    return wanted


@contextlib.contextmanager
def quiet_namespace():
    """A namespace in which nothing is shown or glued; what was there comes back."""
    import matplotlib
    import matplotlib.pyplot as plt

    import wsbnb.interactive

    matplotlib.use("Agg")
    with (
        mock.patch.object(wsbnb.interactive, "glue", lambda *_, **__: None),
        mock.patch.object(plt, "show", lambda *_, **__: plt.close("all")),
        matplotlib.rc_context(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield {"__name__": "__main__", "_failed": []}


def in_child(work, seconds):
    """Run `work` in a fork; its result, or a word for how it ended."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the child
        signal.alarm(seconds)
        try:
            sys.stdout = sys.stderr = open(os.devnull, "w")
            answer = work()
        except BaseException:
            answer = CRASHED
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else SLOW


def judge(notebook, chosen, seconds=300, tell=lambda *_: None, to_the_end=True):
    """Run a chapter and all chosen mutations of it; `tell` hears of each at once."""
    cells = list(trees(notebook).items())
    shown = only_shown([tree for _, tree in cells])
    codes = [prepared(tree, name) for name, tree in cells]
    names, guards = [read_and_made(code) for code, _ in codes], [f for _, f in codes]
    names = with_keepers([tree for _, tree in cells], names)
    failures = dict.fromkeys([name for _, found in codes for name in found], 0)
    fate = {}
    with quiet_namespace() as space:
        for number, (name, tree) in enumerate(cells):
            for mutation in (m for m in chosen if m.cell == name):
                spoilt, _ = prepared(mutate(tree, mutation, shown), name)
                later = concerned(names, number, guards)
                rest = [spoilt, *(codes[i][0] for i in later)]

                def work(rest=rest):
                    for code in rest:
                        exec(code, space)
                        if space["_failed"] and not to_the_end:
                            break
                    return sorted(set(space["_failed"]))

                answer = in_child(work, seconds)
                if isinstance(answer, list):
                    for failed in answer:
                        failures[failed] = failures.get(failed, 0) + 1
                    fate[mutation] = CAUGHT if answer else SURVIVED
                else:
                    fate[mutation] = answer
                tell(mutation, fate[mutation])
            exec(codes[number][0], space)
    if space["_failed"]:
        raise AssertionError(f"the chapter itself fails: {space['_failed']}")
    return Report(fate, failures)


def equivalent(chapter):
    """Changes of a chapter that give the same numbers: cell, before and after."""
    listed = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {}
    entries = listed.get(chapter, [])
    return {(entry["cell"], entry["before"], entry["after"]) for entry in entries}


def sample(notebook, count, seed=0, chapter=""):
    """A reproducible sample of the mutations of a chapter."""
    same = equivalent(chapter)
    everything = [
        m for m in mutations(notebook) if (m.cell, m.before, m.after) not in same
    ]
    return random.Random(seed).sample(everything, min(count, len(everything)))


def tell_survivor(mutation, fate):
    """Said at once: a long run that is stopped has still said something."""
    if fate == SURVIVED:
        where = f"{mutation.cell}, line {mutation.line}"
        words = f"  survived: {where}: {mutation.before}  ->  {mutation.after}"
        print(words, file=sys.stderr, flush=True)


def show(path, report, verbose):
    fates = (CAUGHT, CRASHED, SURVIVED, SLOW)
    counts = ", ".join(f"{report.count(fate)} {fate}" for fate in fates)
    print(f"{path.name}: {report.share_caught:.0%} of {len(report.fate)}: {counts}")
    if verbose:
        for where in report.never_failed:
            print(f"  never failed: {where}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="+", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=40, help="mutations per chapter")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=300, help="for one mutation")
    parser.add_argument("--asserts", action="store_true", help="list the idle ones")
    options = parser.parse_args(arguments)
    for path in options.chapters:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        here = os.getcwd()
        os.chdir(path.parent)  # as the build does
        try:
            chosen = sample(notebook, options.sample, options.seed, path.stem)
            how = options.seconds, tell_survivor, options.asserts
            report = judge(notebook, chosen, *how)
        finally:
            os.chdir(here)
        show(path, report, options.asserts)


if __name__ == "__main__":
    main()
