"""The tool that spoils chapters, on a small chapter and on a real one."""

import json
import warnings

import matplotlib.pyplot as plt
import pytest
import yaml

import wsbnb
from tests.book import mutations as tool
from tests.book import sources

GOOD = """\
import numpy as np
x = np.arange(1, 6)
mean = x.sum() / 5
spread = np.sqrt(((x - mean) ** 2).sum() / 4)
idle = mean * 7"""
CHECKS = """\
assert np.isclose(mean, 3)
np.testing.assert_allclose(spread, np.std(x, ddof=1))
assert x.max() > 0
print(mean - 1)"""


def chapter(*codes):
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": code}
        for i, code in enumerate(codes)
    ]
    return {"cells": cells, "metadata": {}}


@pytest.fixture(scope="module")
def report():
    notebook = chapter(GOOD, CHECKS)
    return tool.judge(notebook, list(tool.mutations(notebook)), seconds=60)


def test_formulas_are_changed_and_assertions_and_prints_are_not():
    found = list(tool.mutations(chapter(GOOD, CHECKS)))
    assert all(mutation.cell == "c0" for mutation in found)
    changes = {(m.before, m.after) for m in found}
    assert ("x - mean", "x + mean") in changes
    assert ("(x - mean) ** 2", "(x - mean) ** 4") in changes
    assert ("np.sqrt", "np.square") in changes


PICTURE = """\
import matplotlib.pyplot as plt
x = 3.0 * 2
height = x / 7
places = [height + 1, height - 1]
for place in places:
    plt.plot(place, x - 1)


def halves(y):
    return y / 2


class Rule:
    def twice(self, y):
        return y * 2


assert Rule().twice(halves(x)) == 6"""


def test_what_is_only_drawn_is_left_alone_and_methods_are_not():
    notebook = chapter(PICTURE)
    shown = tool.only_shown(list(tool.trees(notebook).values()))
    assert shown == {"height", "places"}
    changed = [m.before for m in tool.mutations(notebook)]
    assert changed == ["3.0 * 2", "y / 2", "y * 2"]
    quoted = chapter(PICTURE + "\nglue('h', height)")
    assert "x / 7" in [m.before for m in tool.mutations(quoted)]


def test_listed_equivalents_exist():
    """A list that names what is not there hides nothing, and is out of date."""
    listed = yaml.safe_load(tool.EQUIVALENT.read_text(encoding="utf-8")) or {}
    for name, entries in listed.items():
        (path,) = sources.BOOK.rglob(f"{name}.ipynb")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        there = {(m.cell, m.before, m.after) for m in tool.mutations(notebook)}
        assert tool.equivalent(name) <= there, name
        assert all(entry["why"] for entry in entries)


def test_wrong_formulas_are_caught_and_idle_ones_survive(report):
    survivors = [m for m, fate in report.fate.items() if fate == tool.SURVIVED]
    assert [m.before for m in survivors] == ["mean * 7"]
    assert report.share_caught == pytest.approx(1 - 1 / len(report.fate))


def test_the_process_is_as_it_was():
    """Other tests run in it: what shows, glues and warns is put back."""
    before = wsbnb.interactive.glue, plt.show, dict(plt.rcParams), warnings.filters[:]
    code = "import matplotlib.pyplot as plt\nplt.rcParams['lines.linewidth'] = 9.0"
    tool.judge(chapter(code + "\nplt.show()\nassert 1 + 1 == 2"), [])
    after = wsbnb.interactive.glue, plt.show, dict(plt.rcParams), warnings.filters[:]
    assert after == before


def test_idle_assertions_are_named(report):
    assert [where.split()[0] for where in report.never_failed] == ["c1:3"]


def test_a_crash_counts_as_caught_and_a_loop_is_cut_short():
    crash = chapter("assert 1 / (2 - 1) == 1\ny = 1 / (1 + 1)\nz = [0][int(y)]")
    fates = tool.judge(crash, list(tool.mutations(crash)), seconds=60).fate
    assert tool.CRASHED in fates.values()
    loop = chapter("n = 5\nwhile n > 0:\n    n = n - 1\nassert n == 0")
    fates = tool.judge(loop, list(tool.mutations(loop)), seconds=2).fate
    assert tool.SLOW in fates.values()


CELLS = (
    "a = 2 * 3",
    "def twice(y):\n    return a * y",
    "b = 5 - 1",
    "import matplotlib.pyplot as plt\nplt.plot([a, b])",
    "c = twice(2) + b",
    "assert b == 4",
    "assert c == 16",
    "d = a + 1",
)


def test_a_child_runs_only_what_its_change_can_reach():
    """Cell 1 calls the changed name, 2 is needed beside it; 3, 5 and 7 are not."""
    trees = tool.trees(chapter(*CELLS)).values()
    names = [tool.read_and_made(tool.prepared(tree, "c")[0]) for tree in trees]
    guards = [cell.startswith("assert") for cell in CELLS]
    assert tool.concerned(names, 0, guards) == [1, 2, 4, 6]
    assert tool.concerned(names, 2, guards) == [4, 5, 6]
    assert tool.concerned(names, 7, guards) == []


def test_what_is_left_out_of_a_child_changes_no_verdict():
    notebook = chapter(*CELLS)
    fates = tool.judge(notebook, list(tool.mutations(notebook)), seconds=60).fate
    found = {mutation.before: fate for mutation, fate in fates.items()}
    assert found.pop("a + 1") == tool.SURVIVED
    assert set(found.values()) == {tool.CAUGHT} and len(found) == 4


def test_a_function_that_a_decorator_keeps_is_reached_through_its_list():
    """As on the page of errata: nothing names the function, and all are called."""
    notebook = chapter(
        "kept = []\ndef keep(f):\n    kept.append(f)\n    return f",
        "@keep\ndef seven():\n    return 3 + 4",
        "assert [f() for f in kept] == [7]",
    )
    fates = tool.judge(notebook, list(tool.mutations(notebook)), seconds=60).fate
    assert list(fates.values()) == [tool.CAUGHT]


def test_a_chapter_that_fails_by_itself_is_refused():
    with pytest.raises(AssertionError, match="the chapter itself fails"):
        tool.judge(chapter("x = 1 + 1", "assert x == 3"), [])


def test_sample_of_a_real_chapter():
    """A quick chapter: most of a small sample of mistakes must be noticed."""
    path = sources.BOOK / "part2_proofs" / "05_decomposition.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    chosen = tool.sample(notebook, 8, seed=1, chapter=path.stem)
    report = tool.judge(notebook, chosen, seconds=120, to_the_end=False)
    assert report.count(tool.CAUGHT, tool.CRASHED) >= 7, report.fate
