"""Every public name is documented, has an example and stands once on the API page."""

import collections
import importlib
import inspect
import pathlib
import re

import pytest

import wsbnb

PAGE = pathlib.Path(__file__).parents[1] / "book" / "part5_use" / "api.md"
DIRECTIVE = re.compile(
    r"^\.\. auto(?:class|function|exception):: (wsbnb[\w.]*)$", re.MULTILINE
)
PUBLIC = [
    name
    for name in wsbnb.__all__
    if inspect.isclass(getattr(wsbnb, name)) or callable(getattr(wsbnb, name))
]
# Nothing to call here: bases of one's own rules, a warning, and containers that
# functions return; the functions have the examples.
NO_EXAMPLE = {
    "AnchorRule",
    "ArmRule",
    "Block",
    "ErrorParts",
    "ExplorationConstants",
    "LinearPolicy",
    "NoiseRule",
    "PathRule",
    "Policy",
    "RegretBound",
    "TheoryWarning",
}
# Modules that are imported by name, and all of whose functions and classes are listed.
BY_NAME = ["plotting", "interactive"]


def own_docstring(thing):
    """The docstring, not one inherited from a base class."""
    text = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return text or ""


def entries(text):
    return DIRECTIVE.findall(text)


def resolve(entry):
    module, name = entry.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def defined_in(module):
    """Functions and classes that a module defines without an underscore."""
    return {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module.__name__
    }


@pytest.fixture(scope="module")
def listed():
    return entries(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_documented(name):
    text = own_docstring(getattr(wsbnb, name))
    assert len(text.split()) > 3
    # A dataclass without a docstring gets its signature as one.
    assert not text.startswith(f"{name}(")


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - NO_EXAMPLE))
def test_public_name_has_an_example(name):
    assert ">>>" in own_docstring(getattr(wsbnb, name))


def test_exceptions_are_still_needed():
    assert NO_EXAMPLE <= set(PUBLIC)
    spare = [n for n in NO_EXAMPLE if ">>>" in own_docstring(getattr(wsbnb, n))]
    assert spare == []


def test_every_public_name_is_on_the_page_once(listed):
    counts = collections.Counter(listed)
    wrong = {n: counts[f"wsbnb.{n}"] for n in PUBLIC if counts[f"wsbnb.{n}"] != 1}
    assert wrong == {}


def test_nothing_is_on_the_page_twice(listed):
    """Neither under one name nor under two (wsbnb.X and wsbnb.module.X)."""
    things = collections.Counter(id(resolve(entry)) for entry in listed)
    assert [e for e in listed if things[id(resolve(e))] > 1] == []


def test_every_entry_has_a_docstring(listed):
    assert [entry for entry in listed if not own_docstring(resolve(entry))] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_modules_imported_by_name_are_complete(name, listed):
    module = importlib.import_module(f"wsbnb.{name}")
    names = defined_in(module)
    assert names == {e.rsplit(".", 1)[1] for e in listed if f".{name}." in e}


def test_the_pattern_sees_entries():
    text = ".. autoclass:: wsbnb.A\n   :members:\n\n.. autofunction:: wsbnb.b.c\n"
    assert entries(text) == ["wsbnb.A", "wsbnb.b.c"]
    assert entries("the class wsbnb.A") == []
