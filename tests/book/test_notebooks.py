"""The notebooks: listed, without outputs, asserting what they claim."""

import copy
import json

import pytest

from tests.book import notebook_rules as rules
from tests.book import sources

NOTEBOOKS = sources.notebook_files()

GOOD = {
    "metadata": {"kernelspec": {"name": "python3"}},
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "# A title"},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": ["x = 1\n", "assert x == 1"],
        },
    ],
}


def changed(change):
    """The good example with one thing spoilt."""
    notebook = copy.deepcopy(GOOD)
    change(notebook, notebook["cells"][1])
    return notebook


def set_code(text):
    return changed(lambda notebook, cell: cell.update(source=text))


BAD = [
    (
        rules.stores_no_outputs,
        changed(lambda nb, cell: cell["outputs"].append({"output_type": "stream"})),
    ),
    (rules.stores_no_outputs, changed(lambda nb, cell: cell.update(execution_count=3))),
    (
        rules.allows_no_errors,
        changed(
            lambda nb, cell: nb["metadata"].update(execution={"allow_errors": True})
        ),
    ),
    (
        rules.allows_no_errors,
        changed(lambda nb, cell: cell["metadata"].update(tags=["raises-exception"])),
    ),
    (rules.asserts_something, set_code("x = 1\n# assert x")),
    (rules.asserts_something, set_code("assert True")),
    (
        rules.uses_the_common_kernel,
        changed(lambda nb, cell: nb["metadata"]["kernelspec"].update(name="mine")),
    ),
    (rules.has_short_cells, set_code("x = 1\n" * 26)),
    (rules.has_short_lines, set_code("x = '" + "y" * 90 + "'")),
    (rules.installs_nothing, set_code("!pip install wsbnb")),
    (rules.installs_nothing, set_code("x = 1\n%pip install wsbnb")),
    (
        rules.starts_with_a_title,
        changed(lambda nb, cell: nb["cells"][0].update(source="no title")),
    ),
    (rules.shows_frames_as_tables, set_code("print(frame.to_string())\nassert x")),
    (rules.counts_no_chapters_by_hand, set_code("# as in chapter 3\nassert x == 1")),
]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_the_rule(path, rule):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    complaints = list(rule(notebook))
    assert not complaints, f"{path.name}: " + "; ".join(complaints)


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_rule_accepts_a_good_notebook(rule):
    assert list(rule(GOOD)) == []


@pytest.mark.parametrize(("rule", "notebook"), BAD)
def test_rule_refuses_a_bad_notebook(rule, notebook):
    assert list(rule(notebook)), f"{rule.__name__} sees nothing wrong"


def test_every_rule_has_a_bad_example():
    assert {rule for rule, _ in BAD} == set(rules.RULES)


@pytest.mark.parametrize(
    "code",
    ["np.testing.assert_allclose(a, b)", "assert a < b", "%matplotlib\nassert a < b"],
)
def test_assertions_are_recognised(code):
    assert rules.has_assertion(code)


def test_every_entry_of_the_contents_exists():
    assert sources.missing_files(sources.entries(), sources.ROOT) == []


def test_every_notebook_is_in_the_contents():
    toc = sources.entries()
    assert sources.unlisted_notebooks(toc, NOTEBOOKS, sources.ROOT) == []


def test_no_page_is_listed_twice():
    toc = sources.entries()
    assert len(toc) == len(set(toc))


def test_contents_checks_can_fail(tmp_path):
    (tmp_path / "_toc.yml").write_text(
        "root: intro\nparts:\n- caption: A\n  chapters:\n  - file: gone\n"
    )
    (tmp_path / "intro.md").write_text("# Intro\n")
    (tmp_path / "forgotten.ipynb").write_text("{}")
    toc = sources.entries(tmp_path / "_toc.yml")
    files = sources.notebook_files(tmp_path)
    assert toc == ["intro", "gone"]
    assert sources.missing_files(toc, tmp_path) == ["gone"]
    assert sources.unlisted_notebooks(toc, files, tmp_path) == ["forgotten"]
