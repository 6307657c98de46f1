"""Numbers that somebody typed into the text of a chapter.

A result in the text comes from the computation (glue), or it goes stale. This finds
what looks typed: decimals and percentages in text, captions and descriptions of
pictures, and in formulas what follows an "approximately". Settings inside formulas,
code, references and the usual levels of intervals are left alone. What is exact
arithmetic, a setting or asserted beside the text is listed in typed_numbers.yml, with
the reason.
"""

import pathlib
import re

import yaml

from tests.book import notebook_rules as rules

LISTED = pathlib.Path(__file__).with_suffix(".yml")
#: Not prose: code, roles such as glue, code in the line, tags.
NOT_PROSE = [r"```.*?```", r"\{[a-z:]+\}`[^`]*`", r"`[^`]*`", r"<[^<>]*>"]
FORMULAS = r"\$\$.*?\$\$|\$[^$]*\$"
ABOUT = re.compile(r"\\approx\s*(-?\d+(?:\.\d+)?)")
NUMBER = re.compile(r"(?<![\w.,])\d+\.\d+(?![\w.]*\d)|\d+(?=(?:&nbsp;|\s)?%)")
LEVELS = {"90", "95", "99"}  # of intervals: chosen, not found


def text_of(cell):
    """A cell's prose: its text, or what is said of the picture that it draws."""
    if cell["cell_type"] == "markdown":
        return rules.source(cell)
    page = cell["metadata"].get("mystnb", {})
    said = (
        page.get("figure", {}).get("caption", ""),
        page.get("image", {}).get("alt", ""),
    )
    return " ".join(said)


def typed_in(text):
    """The numbers that look typed in a piece of text, as they are written."""
    for pattern in NOT_PROSE:
        text = re.sub(pattern, " ", text, flags=re.DOTALL)
    found = ABOUT.findall(text)
    found += NUMBER.findall(re.sub(FORMULAS, " ", text, flags=re.DOTALL))
    return [number for number in found if number not in LEVELS]


def typed(notebook):
    """All such numbers of a chapter."""
    return {number for cell in notebook["cells"] for number in typed_in(text_of(cell))}


def allowed(chapter):
    """Numbers of a chapter that may be typed, each with the reason."""
    listed = yaml.safe_load(LISTED.read_text(encoding="utf-8")) or {}
    return {str(number): why for number, why in listed.get(chapter, {}).items()}
