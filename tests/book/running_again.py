"""Cells that would not give the same when a reader runs them again.

Run again, a cell starts from what it left behind itself. It gives the same if it
changes nothing that another cell made. This reads the code of a notebook and yields a
sentence for every place that does: a name read and then bound anew, a policy of another
cell that learns on, draws from its generator, a file that must not exist yet. Functions
of the notebook count as what they do, where they are called.
"""

import ast
import builtins

LEARNS = {"update", "pull", "decay", "learn_one", "partial_fit", "fit_prior"}
LEARNS |= {"set_prior", "restore"}
GROWS = {"append", "extend", "insert", "pop", "remove", "sort", "reverse", "add"}
GROWS |= {"discard", "popitem", "fill", "shuffle", "resize", "appendleft", "popleft"}
CHANGES = LEARNS | GROWS
STARTS_AFRESH = {"reset", "clear", "seed"}
FILES = {"mkdir": "exist_ok", "unlink": "missing_ok"}  # and what makes them harmless
IDEMPOTENT = {"pop": 2}  # with so many arguments it may run twice: d.pop(key, None)


def root(node):
    """The name at the beginning of `a.b[c].d`, or None behind a call."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def bound_names(node):
    """The names that a target, an argument list or an import binds."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(part, ast.alias):
            yield (part.asname or part.name).partition(".")[0]


def makes_generator(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng")


class Reader(ast.NodeVisitor):
    """Walks through code in the order of running and notes what it reads and changes.

    `local` are names that are not the notebook's: arguments, a comprehension's.
    """

    def __init__(self, local=()):
        self.local = set(local)
        self.bound = {}  # names bound so far -> other names that they stand for
        self.read = set()  # names read before they were bound
        self.changed = {}  # names changed before they were bound -> how
        self.generators = set()
        self.imports = set()
        self.functions = {}
        self.afresh = set()
        self.rebound = {}  # names read and later bound -> how
        self.arguments = ()
        self.touched = set()  # arguments that are changed
        self.calls = []  # (function, its arguments, with their names)

    # Names

    def visit_Name(self, node):
        name = node.id
        if name in self.local:
            return
        if isinstance(node.ctx, ast.Load):
            if name not in self.bound:
                self.read.add(name)
        else:
            if name in self.read and name not in self.bound:
                self.rebound.setdefault(name, f"reads {name} and then binds it anew")
            self.bound.setdefault(name, set())

    def change(self, name, how):
        """Note a change of what a name, or what it stands for, holds."""
        if name in self.arguments:
            self.touched.add(name)
        if name in self.local or name in self.afresh:
            return
        for other in self.bound.get(name, {name}):
            if other not in self.afresh and other not in self.local:
                self.changed.setdefault(other, how)

    def stands_for(self, target, value):
        """Names bound to a part of something, or to its members, are that thing."""
        names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        outer = {name for name in names if name not in self.bound} - self.local
        outer = set().union(outer, *(self.bound.get(name, set()) for name in names))
        for name in bound_names(target):
            self.bound[name] = set(outer)

    # Statements

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
            if root(target) and not isinstance(target, ast.Name):
                if ast.unparse(target) in map(ast.unparse, ast.walk(node.value)):
                    self.change(root(target), f"makes {ast.unparse(target)} from it")
            elif root(node.value):
                self.stands_for(target, node.value)
            elif isinstance(target, ast.Name) and target.id not in self.local:
                self.bound[target.id] = set()
                if makes_generator(node.value):
                    self.generators.add(target.id)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        if root(node.target) not in self.bound or not isinstance(node.target, ast.Name):
            if root(node.target):
                self.change(root(node.target), f"changes {ast.unparse(node.target)}")

    def visit_For(self, node):
        self.visit(node.iter)
        self.visit(node.target)
        self.stands_for(node.target, node.iter)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_Import(self, node):
        for name in bound_names(node):
            self.bound.setdefault(name, set())
            self.imports.add(name)

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node):
        inner = Reader({*bound_names(node.args), *assigned(node)})
        inner.arguments = tuple(bound_names(node.args))
        for statement in node.body:
            inner.visit(statement)
        self.functions[node.name] = inner
        for part in [*node.decorator_list, *node.args.defaults]:
            self.visit(part)
        self.bound.setdefault(node.name, set())

    def visit_ClassDef(self, node):
        for part in [*node.bases, *node.decorator_list]:
            self.visit(part)
        self.bound.setdefault(node.name, set())

    # Expressions with names of their own

    def visit_Lambda(self, node):
        before = self.local
        self.local = before | set(bound_names(node.args))
        self.visit(node.body)
        self.local = before

    def visit_comprehension_of(self, node):
        before = self.local, self.bound
        self.bound = dict(self.bound)
        for loop in node.generators:
            self.visit(loop.iter)
            self.stands_for(loop.target, loop.iter)
            self.local = self.local - set(bound_names(loop.target))
            for test in loop.ifs:
                self.visit(test)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                self.visit(getattr(node, part))
        self.local, self.bound = before

    visit_ListComp = visit_SetComp = visit_comprehension_of
    visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and root(node.func):
            self.visit_method(node, root(node.func), node.func.attr)
        elif isinstance(node.func, ast.Name):
            given = dict(enumerate(node.args)) | {k.arg: k.value for k in node.keywords}
            roots = {key: root(value) for key, value in given.items()}
            self.calls.append((node.func.id, roots, set(self.bound) | self.local))
        self.generic_visit(node)

    def visit_method(self, node, name, method):
        if method in STARTS_AFRESH:
            self.afresh.add(name)
        elif method in CHANGES and len(node.args) != IDEMPOTENT.get(method):
            self.change(name, f"calls {ast.unparse(node.func)}")
        elif method in FILES and FILES[method] not in {k.arg for k in node.keywords}:
            if name not in self.bound:
                self.change(name, f"calls {ast.unparse(node.func)}")

    def visit_Delete(self, node):
        for target in node.targets:
            if root(target) and root(target) not in self.local:
                self.change(root(target), f"deletes {ast.unparse(target)}")

    def changed_by_calls(self, functions):
        """Names that were handed to functions of the notebook which change them."""
        for function, given, known in self.calls:
            inner = functions.get(function)
            for key, name in given.items() if inner else ():
                if isinstance(key, int) and key < len(inner.arguments):
                    key = inner.arguments[key]
                if key in inner.touched and name not in known | self.afresh:
                    yield name, f"hands {name} to {function}, which changes it"


def assigned(function):
    """The local names of a function."""
    outer = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    inner = {n.name for n in ast.walk(function) if isinstance(n, ast.FunctionDef)}
    return (set(bound_names(function)) | inner) - outer


def called(reader, functions):
    """A cell's own doings and those of the notebook's functions that it names."""
    waiting, known = [reader], {id(reader)}
    while waiting:
        one = waiting.pop()
        yield one
        for name in one.read | set(one.functions):
            inner = functions.get(name)
            if inner is not None and id(inner) not in known:
                known.add(id(inner))
                waiting.append(inner)


class Notebook:
    """What the cells read so far have made."""

    def __init__(self):
        self.made, self.generators, self.imports = set(), set(), set()
        self.used, self.functions = set(), {}

    def add(self, code):
        """Read one more cell; return its complaints."""
        cell = Reader()
        cell.visit(ast.parse(code))
        self.functions |= cell.functions
        self.imports |= cell.imports
        self.used |= cell.read
        found = [*self.changes(cell), *self.rebound(cell), *self.shadows(cell)]
        self.generators = (self.generators - set(cell.bound)) | cell.generators
        self.made |= set(cell.bound)
        return found

    def changes(self, cell):
        fresh = set(cell.bound) | cell.afresh
        for one in called(cell, self.functions):
            others = self.made - (set() if one is cell else fresh)
            handed = one.changed_by_calls(self.functions)
            for name, how in [*one.changed.items(), *handed]:
                if name in others and (name not in self.imports or "delete" in how):
                    yield f"{how}, and another cell made it"
            for name in sorted(one.read & self.generators & others):
                yield f"draws from {name}, which another cell made"

    def rebound(self, cell):
        for name, how in cell.rebound.items():
            if name in self.made - self.imports:
                yield f"{how}, and another cell made it"

    def shadows(self, cell):
        for name in sorted(set(cell.bound) & self.used & set(dir(builtins))):
            yield f"binds {name}, which code before it needs as it was"


def complaints(codes):
    """What the cells would not do twice: pairs of a cell's number and a sentence."""
    notebook = Notebook()
    for number, code in enumerate(codes):
        for sentence in notebook.add(code):
            yield number, sentence
