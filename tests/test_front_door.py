"""What `import wsbnb` offers: few names, in order, settings by keyword."""

import ast
import inspect
import json
import pathlib
import types

import pytest

import wsbnb
from tests import zoo
from wsbnb import exploration

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What a class is made of may be given by place; its settings may not.
PARTS = {"posterior", "exploration", "base", "template"}
# What functions hand back: nobody makes them by hand.
HANDED_BACK = {"LogFit", "Results"}
# An environment is parts, a horizon and a dimension, in the order of the paper.
BY_PLACE = {"Environment"}


def classes():
    """Public classes that somebody makes: policies, posteriors, explorations."""
    found = {name: getattr(wsbnb, name) for name in wsbnb.__all__}
    found |= {f"exploration.{n}": getattr(exploration, n) for n in exploration.__all__}
    return {
        name: thing
        for name, thing in found.items()
        if inspect.isclass(thing)
        and not issubclass(thing, Warning)
        and name not in HANDED_BACK | BY_PLACE
    }


def by_place(cls):
    """Arguments of a constructor that can be given without their names."""
    return {
        name
        for name, argument in inspect.signature(cls).parameters.items()
        if argument.kind is not argument.KEYWORD_ONLY
    }


# --- names ----------------------------------------------------------------------------


def test_names_are_few_sorted_and_there():
    names = wsbnb.__all__
    assert names == sorted(names) and len(set(names)) == len(names)
    things = [n for n in names if not inspect.ismodule(getattr(wsbnb, n))]
    assert 30 <= len(things) <= 52
    assert [n for n in names if n.startswith("_") or not hasattr(wsbnb, n)] == []


def test_every_policy_of_the_zoo_is_at_the_door():
    assert {*zoo.ALL} <= set(wsbnb.__all__)


def test_nothing_else_lies_about():
    """What can be seen is in the list, private, or a module on the way to a name."""
    seen = {name for name in dir(wsbnb) if not name.startswith("_")}
    extra = seen - set(wsbnb.__all__)
    modules = {n for n in extra if isinstance(getattr(wsbnb, n), types.ModuleType)}
    assert extra - modules == {"TYPE_CHECKING"}


def test_late_modules_come_when_asked_for():
    for name in ("datasets", "interactive", "paper", "plotting"):
        assert name in dir(wsbnb)
        assert getattr(wsbnb, name).__name__ == f"wsbnb.{name}"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        wsbnb.nothing  # noqa: B018


def test_names_at_the_door_are_those_of_the_rooms():
    """One object per name, wherever it is taken from."""
    for name in ("drift_bound", "noise_radius", "prior_penalty", "tuned_discount"):
        assert getattr(wsbnb, name) is getattr(wsbnb.bounds, name)
    for name in ("Environment", "paper_environment"):
        assert getattr(wsbnb, name) is getattr(wsbnb.environments, name)


# --- settings -------------------------------------------------------------------------


@pytest.mark.parametrize("name", classes())
def test_settings_are_given_by_keyword_only(name):
    cls = classes()[name]
    # A generator is no setting; the base of one's own policies has nothing else.
    assert by_place(cls) - PARTS <= ({"rng"} if cls is wsbnb.Policy else set())


@pytest.mark.parametrize("name", zoo.ALL)
def test_settings_without_their_names_are_refused(name):
    values = list(zoo.settings(name, 3).values())
    with pytest.raises(TypeError, match="positional argument"):
        getattr(wsbnb, name)(*values)


def test_exceptions_are_still_needed():
    for name in HANDED_BACK | BY_PLACE:
        assert by_place(getattr(wsbnb, name))
    used = set().union(*map(by_place, classes().values()))
    assert used == PARTS | {"rng"}


# --- stars ----------------------------------------------------------------------------


def sources():
    for folder in ("wsbnb", "tests", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "book").rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for cell in cells:
            if cell["cell_type"] == "code":
                lines = "".join(cell["source"]).splitlines()
                yield path, "\n".join(x for x in lines if x[:1] not in ("%", "!"))


def stars(text):
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]


def test_no_star_imports_anywhere():
    assert [str(path) for path, text in sources() if stars(text)] == []
    assert stars("from a import *") and not stars("from a import b")
