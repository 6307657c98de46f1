"""Questions that are answered with a curve, and still pictures."""

import html
import json
import re

import numpy as np
import pytest

from wsbnb import interactive

X = np.linspace(1.0, 9.0, 5)


def _data(figure):
    text = re.search(r'data-curve="([^"]*)"', figure._repr_html_()).group(1)
    return json.loads(html.unescape(text))


def test_the_page_gets_the_curve_and_the_words():
    figure = interactive.drawn_guess(
        X, {"a": X**2}, 'Is "it" < 9?', "No & no.", "x (m)", "y (m)", {"b": -X}
    )
    data = _data(figure)
    assert data["question"] == 'Is "it" < 9?' and data["answer"] == "No & no."
    assert data["x"] == X.tolist() and data["y"] == (X**2).tolist()
    assert data["given"] == {"b": (-X).tolist()} and data["name"] == "a"
    assert (data["xlabel"], data["ylabel"]) == ("x (m)", "y (m)")
    np.testing.assert_allclose(data["limits"], [1, 9, -9 * 1.15, 81 * 1.15])


def test_the_answer_stands_there_without_a_script():
    text = interactive.drawn_guess(X, {"a": X}, "Draw", "So it is.")._repr_html_()
    assert 'class="wsbnb-live" data-live="draw"' in text and "<script" not in text
    assert "<polyline" in text and "<figcaption>So it is.</figcaption>" in text
    assert "<input" not in text and repr(interactive.still_figure({"a": (X, X)}, "T"))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"x": [1.0]}, "x must be two or more increasing numbers"),
        ({"x": X[::-1]}, "x must be two or more increasing numbers"),
        ({"x": [np.nan] * 5}, "x must"),
        ({"curve": {}}, "curve must hold one curve"),
        ({"curve": {"a": X, "b": X}}, "curve must hold one curve"),
        ({"curve": {"a": X[:2]}}, r"curve\['a'\] must have length 5"),
        ({"given": {"b": X[:2]}}, r"given\['b'\] must have length 5"),
    ],
)
def test_bad_curves_are_refused(change, words):
    given = {"x": X, "curve": {"a": X}, "question": "Draw", **change}
    with pytest.raises(ValueError, match=words):
        interactive.drawn_guess(**given)
