"""A reader runs a cell again, or all of them: every chapter gives the same.

All chapters are read for what would prevent it (`running_again`). What reading cannot
judge, files, processes, entries in the library's tables, is run: some chapters with
every cell twice and then all of them again. `make run-twice CHAPTER=...` does it to
any.
"""

import json
import sys

import pytest

from tests.book import notebook_rules as rules
from tests.book import running_again, sources

sys.path.append(str(sources.ROOT / "tools"))

import run_twice

NOTEBOOKS = sources.notebook_files()

# A reward for an unknown ticket: refused before anything changes, and asserted so.
HARMLESS = {("own_loop", "calls policy.update"), ("own_loop", "calls pending.pop")}


def complaints(notebook):
    cells = list(rules.code_cells(notebook))
    codes = [rules.without_magics(rules.source(cell)) for _, cell in cells]
    for number, sentence in running_again.complaints(codes):
        yield cells[number][0], sentence


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_leave_what_others_made(path):
    found = complaints(json.loads(path.read_text(encoding="utf-8")))
    bad = [
        f"cell {number} {sentence}"
        for number, sentence in found
        if (path.stem, sentence.partition(",")[0]) not in HARMLESS
    ]
    assert not bad, f"{path.name}:\n" + "\n".join(bad)


GOOD = [
    ["x = 1", "y = x + 1\ny += 1"],
    ["p = make()", "p.reset()\np.update(1)"],
    ["p = make()", "q = p.copy()\nq.update(1)"],
    ["ps = {}", "qs = copy(ps)\nfor q in qs.values():\n    q.pull(1)"],
    ["rng = np.random.default_rng(0)", "rng = np.random.default_rng(1)\nrng.normal()"],
    ["x = 1", "ys = [x for x in range(3)]", "f = lambda x: x.pop()"],
    ["table = frame()", "table['z'] = table['a'] / 2"],
    ["def f(p):\n    p.update(1)", "q = make()\nf(q)"],
    ["def f():\n    total = 0\n    total += 1\n    return total", "f()"],
    ["folder = tmp()", "(folder / 'a').mkdir(exist_ok=True)"],
    ["d = {1: 2}", "d.pop(1, None)"],
    ["import numpy as np", "np.sort([2, 1])"],
    ["xs = []", "xs = []\nxs.append(1)"],
]
BAD = [
    ["rewards = load()", "rewards = rewards[:10]"],
    ["x = 1", "y = x + 1\nx = 'other'"],
    ["x = 1", "x += 1"],
    ["table = frame()", "table['a'] = table['a'] / 2"],
    ["counts = {}", "counts['a'] += 1"],
    ["xs = [1]", "xs.pop()"],
    ["p = make()", "k = p.pull(1)"],
    ["ps = {}", "for name, p in ps.items():\n    p.update(1)"],
    ["ps = {}", "p = ps['a']\np.update(1)"],
    ["ps = []", "done = [p.update(1) for p in ps]"],
    ["p = make()", "def f():\n    p.update(1)", "f()"],
    ["p = make()\ndef f(p):\n    p.update(1)", "f(p)"],
    ["p = make()\ndef f(q):\n    q.update(1)", "def g():\n    f(p)\n", "g()"],
    ["p = make()\ndef f(n, q):\n    q.update(1)", "f(1, q=p)"],
    ["rng = np.random.default_rng(0)", "rng.normal()"],
    ["rng = np.random.default_rng(0)", "def f():\n    return rng.normal()", "f()"],
    ["rng = np.random.default_rng(0)", "sample(rng)"],
    ["x = 1", "del x"],
    ["import lib", "lib.TABLE[1] = 2", "del lib.TABLE[1]"],
    ["folder = tmp()", "folder.mkdir()"],
    ["a = sum([1])", "sum = 3"],
]


def found_in(codes):
    return list(running_again.complaints(codes))


@pytest.mark.parametrize("codes", GOOD)
def test_harmless_cells_pass(codes):
    assert found_in(codes) == []


@pytest.mark.parametrize("codes", BAD)
def test_cells_that_change_what_others_made_are_seen(codes):
    assert found_in(codes)


# They write files, start processes or add to the library's tables.
RUN = [
    "part2_proofs/13_errata",
    "part5_use/live",
    "part5_use/own_loop",
    "part5_use/save_restore",
]


@pytest.mark.slow
@pytest.mark.parametrize("chapter", RUN)
def test_chapter_can_be_run_again(chapter, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(sources.ROOT))
    assert run_twice.run(sources.BOOK / f"{chapter}.ipynb") is None
