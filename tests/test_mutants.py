"""The tool that breaks the code, and a sample of what it breaks."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import mutants  # noqa: E402

#: As in the Makefile.
SAMPLE = 12


def changes(code):
    """All that one expression can be turned into."""
    tree = ast.parse(code)
    sites = mutants._Sites()
    sites.visit(tree)
    return [(ast.unparse(a), ast.unparse(b)) for *_, a, b in sites.found]


@pytest.mark.parametrize(
    "code, expected",
    [
        ("a + b", [("a + b", "a - b")]),
        ("a ** b", [("a ** b", "a * b")]),
        ("a < b", [("a < b", "a <= b")]),
        ("a is None", [("a is None", "a is not None")]),
        ("a and b", [("a and b", "a or b")]),
        ("not a", [("not a", "a")]),
        ("-a", [("-a", "a")]),
        ("x = 3.5", [("3.5", "7.0")]),
        ("x = 0", [("0", "1")]),
        ("math.sqrt(a)", [("math.sqrt(a)", "a")]),
        ("min(a, b)", [("min(a, b)", "max(a, b)")]),
        ("values.max()", []),
        ("raise ValueError(a + b)", []),
        ("f(a, b, 'c')", [("f(a, b, 'c')", "f(b, a, 'c')")]),
        ("f(a.b, c)", [("f(a.b, c)", "f(c, a.b)")]),
        ("f(a, a)", []),
        ("plus_product(a, b, c)", [("plus_product(a, b, c)", "plus_product(a, c, b)")]),
        ("a.copy()", [("a.copy()", "a")]),
        ("a.T", [("a.T", "a")]),
        ("check(a)", []),
        ("def f(x: int = 3) -> 'a': 'text'", []),
    ],
)
def test_what_is_changed(code, expected):
    assert changes(code) == expected


@pytest.mark.parametrize(
    "code, left_out",
    [
        ("a.b = c", True),
        ("a[b], c.d = e", False),
        ("a[b] = c", True),
        ("a = b", False),
        ("a += b", True),
        ("check(a)", True),
        ("'words'", False),
        ("raise ValueError", True),
        ("return a", False),
    ],
)
def test_which_statements_are_left_out(code, left_out):
    found = [after for _, after in changes(f"def f():\n    {code}")]
    assert ("pass" in found) == left_out


def test_a_mutant_differs_in_one_place():
    for mutant in mutants.mutants_of("kernels/rounds.py"):
        path = ROOT / "wsbnb" / mutant.file
        before = ast.unparse(ast.parse(path.read_text(encoding="utf-8")))
        after = ast.unparse(mutant.tree())
        pairs = zip(before.splitlines(), after.splitlines(), strict=True)
        assert sum(one != two for one, two in pairs) == 1


def test_keys_are_unique_and_files_exist():
    keys = [mutant.key for mutant in mutants.mutants_of_all()]
    assert len(keys) == len(set(keys)) > 1000
    named = {test for tests in mutants.TESTS.values() for test in tests}
    assert [t for t in named if not (ROOT / "tests" / f"test_{t}.py").exists()] == []


def test_equivalents_have_reasons():
    known = {mutant.key for mutant in mutants.mutants_of_all()}
    for key, reason in mutants.equivalents().items():
        assert key in known and len(reason.split()) > 3


def test_make_runs_the_same_sample():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^MUTANTS \?= --sample {SAMPLE}$", text, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.timeout(1500)  # other tests share the cores
def test_a_sample_is_killed_by_the_tests():
    """A minute on two idle cores; a survivor is printed with its line."""
    command = [sys.executable, str(ROOT / "tools" / "mutants.py")]
    done = subprocess.run(
        [*command, "--sample", str(SAMPLE)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
