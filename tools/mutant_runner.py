"""Try mutants quickly: one process collects the tests, and forks once for each mutant.

The kernels run as plain Python, so a mutant is new code for a function that is there
already: the child exchanges the code and runs the tests until one fails. Nothing is
imported or collected again. Where it is known which functions a test calls (`learn`
writes it down, by test file), only tests that reach the mutant are run, the quickest
first, and before them those that have killed another mutant of the same function.

Numbers and defaults outside functions are different: they are in use as soon as their
module is imported. For such a mutant the library is imported anew, with one changed
module.

`vectors` is other code when it is compiled. What survives there as plain Python is
tried once more in a library that is imported anew, with the compiler on.
"""

import collections
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import resource
import sys
import tempfile
import threading
import types

from common import ROOT, SCRATCH, checksum

LIBRARY = ROOT / "wsbnb"
#: Where mutants are made.
CHANGED = ["kernels", "bounds"]
CHANGED += ["posterior.py", "exploration.py", "weights.py", "results.py"]
CHANGED += ["policies", "adaptive", "fleet", "environments", "simulation.py"]
CHANGED += ["clicks.py", "dependence.py", "fitting.py", "offpolicy.py"]
#: Files that are other code when they are compiled.
COMPILED = ["kernels/vectors.py"]
#: Seconds of computing for the tests of one mutant; one that needs more has run away,
#: which is noticed. Where the tests are known it is less: ten times what they needed,
#: and at least HASTE. A few gigabytes more than at the start are the end, too.
PATIENCE, HASTE = 300, 15
#: Seconds of known tests for one mutant: who has survived so many is said to survive.
ENOUGH = 40.0
MEMORY = 4 * 2**30
OPTIONS = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:nbmake"]
OPTIONS += ["-p", "no:terminal", "--capture=no"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # preloaded
for _path in sorted((LIBRARY / "kernels").glob("*.py")):  # compiled, it does not warn
    OPTIONS += ["-W", f"ignore::RuntimeWarning:wsbnb.kernels.{_path.stem}"]


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
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)


def forked(work):
    """Run ``work()`` in a child that ends with its result; return the child."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 99
    try:
        status = int(work())
    finally:
        sys.stdout.flush()
        os._exit(status)


def _be_modest(patience=PATIENCE):
    """In a child: say nothing, and end by a signal when too much is computed."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (used + patience, used + patience))
    pages = pathlib.Path("/proc/self/statm")
    if pages.exists():
        now = int(pages.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))


# --- which functions a test calls -----------------------------------------------------


def stored(name):
    """Where it is written down what the tests of one file call."""
    code = [LIBRARY / part for part in CHANGED]
    key = checksum([*code, ROOT / "tests" / f"test_{name}.py"])[:16]
    return SCRATCH / "mutants" / f"{name}-{key}.json"


def known_calls(names):
    """For each test its seconds and the functions it calls, as far as written down."""
    found = {}
    for path in map(stored, names):
        if path.exists():
            found |= json.loads(path.read_text())
    return found


class _Learner:
    """pytest plugin: notes for each test its seconds and the functions it calls."""

    def __init__(self):
        self.calls, self.seen, self.here = {}, set(), str(LIBRARY) + os.sep

    def _note(self, frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(self.here):
            self.seen.add(frame.f_code)

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            return
        seconds, functions, passed = self.calls.get(report.nodeid, (0.0, [], True))
        functions = sorted({*functions, *map(_address, self.seen)})
        passed = passed and report.passed
        self.calls[report.nodeid] = seconds + report.duration, functions, passed
        self.seen.clear()

    def pytest_runtestloop(self):
        sys.settrace(self._note)  # calls only: it returns None
        threading.settrace(self._note)  # trials are played in threads


def _address(code):
    """A function by its file, and the line and name of its outermost scopes."""
    file = pathlib.Path(code.co_filename).relative_to(LIBRARY).as_posix()
    return f"{file}: {code.co_qualname.replace('.<locals>', '')}"


def learn(name):
    """Write down what the tests of one file call. In a child of its own."""
    import pytest

    def work():
        _be_modest()
        learner = _Learner()
        status = pytest.main([*OPTIONS, f"tests/test_{name}.py"], plugins=[learner])
        sys.settrace(None)
        threading.settrace(None)
        if status not in (0, 1):  # single tests may fail; they are not counted on
            return int(status)
        path = stored(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f"{name}-{'?' * 16}.json"):
            old.unlink()
        path.write_text(json.dumps(learner.calls))
        return 0

    return forked(work)


# --- new code in an old function ------------------------------------------------------


def functions_of_library():
    """All functions with code of the library, by file, name and line."""
    found = collections.defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType):
            code = thing.__code__
            if code.co_filename.startswith(str(LIBRARY)):
                found[code.co_filename, code.co_qualname, code.co_firstlineno].append(
                    thing
                )
    return found


def exchange(functions, tree, file):
    """Give all functions of a file the code that the changed tree has for them."""
    path = str(LIBRARY / file)
    waiting = [compile(tree, path, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        waiting += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        for function in functions.get(
            (path, code.co_qualname, code.co_firstlineno), ()
        ):
            function.__code__ = code


# --- one changed module, imported anew ------------------------------------------------


class _Loader(importlib.machinery.SourceFileLoader):
    tree = None

    def get_code(self, fullname):
        return compile(self.tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the mutated module in place of the one on disk."""

    def __init__(self, file, tree):
        self.name = "wsbnb." + file.removesuffix(".py").replace("/", ".")
        self.path, self.tree = LIBRARY / file, tree

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        loader = _Loader(fullname, str(self.path))
        loader.tree = self.tree
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=loader
        )


def imported_anew(mutant, names, note):
    """Run the tests of some files on a changed module; the status is pytest's."""
    import numba
    import pytest

    note.touch()

    def work():
        _be_modest()
        numba.config.DISABLE_JIT = mutant.file not in COMPILED
        sys.meta_path.insert(0, _Finder(mutant.file, mutant.tree()))
        files = [f"tests/test_{name}.py" for name in names]
        return pytest.main([*OPTIONS, "-x", *files], plugins=[_Witness(note)])

    return forked(work)


class _Witness:
    """pytest plugin: notes which test has failed first."""

    def __init__(self, note):
        self.note, self.failed = note, False

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.failed:
            self.failed = True
            self.note.write_text(report.nodeid, encoding="utf-8")

    pytest_collectreport = pytest_runtest_logreport


# --- the process that forks -----------------------------------------------------------


def each(tasks, jobs):
    """Run pairs (thing, function that forks) side by side: pairs (thing, status)."""
    waiting, running = collections.deque(tasks), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            thing, start = waiting.popleft()
            running[start()] = thing
        child, status = os.wait()
        yield running.pop(child), status


class Server:
    """pytest plugin: in place of running the tests, runs those of every mutant."""

    def __init__(self, mutants, tests, jobs, folder):
        self.mutants, self.tests, self.jobs = mutants, tests, jobs
        self.folder = folder
        self.kills = collections.defaultdict(collections.Counter)
        self.broken = []

    def pytest_collectreport(self, report):
        if report.failed:
            self.broken.append(report.nodeid)

    def pytest_runtestloop(self, session):
        if self.broken:
            print(f"cannot be collected: {self.broken}")
            return True
        self.calls = known_calls(
            {name for each in self.tests.values() for name in each}
        )
        self.functions = functions_of_library()
        gc.freeze()
        tasks = [
            (mutant, functools.partial(self._start, session, mutant))
            for mutant in self.mutants
        ]
        for mutant, status in each(tasks, self.jobs):
            note = self.folder / mutant.name
            test = note.read_text(encoding="utf-8")
            again = status == 0 and mutant.file in COMPILED
            if status != UNREACHED << 8 and not again:
                self.kills[mutant.scope][test] += 1
                tell(self.folder, mutant, status)
        return True

    def _start(self, session, mutant):
        note = self.folder / mutant.name
        note.touch()
        items = self._chosen(session.items, mutant)

        known = [self.calls.get(item.nodeid, (PATIENCE,))[0] for item in items]
        patience = min(PATIENCE, max(HASTE, int(10 * sum(known))))

        def work():
            _be_modest(patience)
            exchange(self.functions, mutant.tree(), mutant.file)
            return _run(session, items, note) if items else UNREACHED

        return forked(work)

    def _chosen(self, items, mutant):
        """The tests that reach a mutant, best first."""
        files = {f"test_{name}.py": i for i, name in enumerate(self.tests[mutant.file])}
        kills, rated = self.kills[mutant.scope], []
        for item in items:
            if item.path.name not in files:
                continue
            seconds, reached, passed = self.calls.get(item.nodeid, (0.0, None, True))
            if passed and (reached is None or mutant.scope in reached):
                known = seconds if reached is not None else 1e3 + files[item.path.name]
                rated.append((-kills[item.nodeid], known, len(rated), item))
        chosen, seconds = [], 0.0
        for _, known, _, item in sorted(rated, key=lambda row: row[:3]):
            seconds += known if known < 1e3 else 0.0
            if seconds > ENOUGH:
                break
            chosen.append(item)
        return chosen


#: Status of a child without a test to run.
UNREACHED = 98


def _run(session, items, note):
    """Run tests until one fails; 1 if one has failed."""
    witness = _Witness(note)
    session.config.pluginmanager.register(witness)
    for item, following in zip(items, [*items[1:], None], strict=True):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if witness.failed:
            return 1
    return 0


def tell(folder, mutant, status):
    """Write down what has become of a mutant, and say it if it lives."""
    test = (folder / mutant.name).read_text(encoding="utf-8")
    if status:
        test = test or "(ran away, or its module cannot be imported)"
    else:
        test = None
        print(f"SURVIVED {mutant.key}   (line {mutant.line})", flush=True)
    with (folder / "told").open("a", encoding="utf-8") as told:
        told.write(json.dumps([mutant.key, test]) + "\n")


def told(folder):
    """All that has been written down: for each key the test that failed, or None."""
    path = folder / "told"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return dict(map(json.loads, lines))


def serve(mutants, tests, jobs, folder):
    """Try mutants; for each key the test that has failed, or None if none has."""
    import pytest

    folder = pathlib.Path(folder)
    names = sorted({name for mutant in mutants for name in tests[mutant.file]})
    files = [f"tests/test_{name}.py" for name in names]

    def work():
        inside = [mutant for mutant in mutants if mutant.in_function]
        server = Server(inside, tests, jobs, folder)
        return pytest.main([*OPTIONS, *files], plugins=[server])

    if os.waitpid(forked(work), 0)[1]:
        return {}
    rest = [mutant for mutant in mutants if mutant.key not in told(folder)]
    tasks = [
        (m, functools.partial(imported_anew, m, tests[m.file], folder / m.name))
        for m in rest
    ]
    for mutant, status in each(tasks, jobs):
        tell(folder, mutant, status)
    return told(folder)


def guilty(tests, compiled=False):
    """What fails of some tests without any change: it would kill everything."""
    import numba
    import pytest

    if not tests:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        note = pathlib.Path(folder) / "control"
        note.touch()

        def work():
            _be_modest()
            numba.config.DISABLE_JIT = not compiled
            return pytest.main([*OPTIONS, *sorted(tests)], plugins=[_Witness(note)])

        status = os.waitpid(forked(work), 0)[1]
        said = note.read_text(encoding="utf-8")
    return said or (f"status {status}" if status else "")
