"""Results in the text of Parts I and II are computed, not typed."""

import json

import pytest

from tests.book import sources, typed_numbers

CHAPTERS = sorted(
    path
    for part in ("part1_estimators", "part2_proofs")
    for path in (sources.BOOK / part).glob("*.ipynb")
)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_numbers_in_the_text_are_computed_or_accounted_for(path):
    found = typed_numbers.typed(json.loads(path.read_text(encoding="utf-8")))
    listed = typed_numbers.allowed(path.stem)
    assert found - set(listed) == set(), "glue them, or give the reason in the list"
    assert set(listed) - found == set(), "no longer in the text: take them off the list"
    assert all(listed.values())


def test_what_looks_typed():
    typed = typed_numbers.typed_in
    assert typed("It lost 12.5 units, or 40 % of all.") == ["12.5", "40"]
    assert typed(r"so $4\sqrt2\approx5.66$ in all") == ["5.66"]
    assert typed("A bias of 0.87.") == ["0.87"]


def test_what_does_not():
    quoted = "at {glue:text}`gain:.1f` % and `a = 0.5`, with $\\gamma = 0.95$"
    assert typed_numbers.typed_in(quoted) == []
    assert typed_numbers.typed_in("90 % intervals, twelve runs, round 200") == []
    assert typed_numbers.typed_in("```python\nx = 0.5\n```\nversion 1.2.3") == []


def test_captions_count_and_code_does_not():
    figure = {"mystnb": {"figure": {"caption": "It falls to 0.34."}}}
    code = {"cell_type": "code", "metadata": figure, "source": "x = 0.5"}
    assert typed_numbers.typed({"cells": [code]}) == {"0.34"}
