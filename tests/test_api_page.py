"""Every public name is documented, has an example and stands once on the API page."""

import collections
import importlib
import inspect
import pathlib
import re

import pytest

BOOK = pathlib.Path(__file__).parents[1] / "book"
PAGES = sorted((BOOK / "api").glob("*.md"))
DIRECTIVE = re.compile(
    r"^\.\. auto(?:class|function|exception):: (wsbnb[\w.]*)$", re.MULTILINE
)
# Modules all of whose functions and classes are public, besides the front door.
ROOMS = ["bounds", "environments", "exploration", "weights", "datasets"]
ROOMS += ["plotting", "interactive", "paper"]
# Nothing to call here: bases of one's own rules, a warning, what functions return (the
# functions have the examples), rows of a table, what writes or reads files, and a run
# that takes an hour.
NO_EXAMPLE = {
    "wsbnb.Policy",
    "wsbnb.TheoryWarning",
    "wsbnb.bounds.ErrorParts",
    "wsbnb.bounds.ExplorationConstants",
    "wsbnb.bounds.RegretBound",
    "wsbnb.environments.AnchorRule",
    "wsbnb.environments.ArmRule",
    "wsbnb.environments.Block",
    "wsbnb.environments.NoiseRule",
    "wsbnb.environments.PathRule",
    "wsbnb.environments.RewardRule",
    "wsbnb.exploration.Exploration",
    "wsbnb.exploration.Greedy",
    "wsbnb.exploration.Uniform",
    "wsbnb.interactive.SliderFigure",
    "wsbnb.paper.Algorithm",
    "wsbnb.paper.Known",
    "wsbnb.paper.read_benchmark",
    "wsbnb.paper.write_guide",
    "wsbnb.paper.record",
    "wsbnb.weights.WeightRule",
}


def own_docstring(thing):
    """The docstring, not one inherited from a base class."""
    text = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return text or ""


def entries(text):
    return DIRECTIVE.findall(text)


def resolve(entry):
    module, name = entry.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def names_of(module):
    """Names that a module lists, or those it defines without an underscore."""
    defined = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module.__name__
    }
    return sorted(getattr(module, "__all__", defined))


def public_things():
    """Where each public function or class is to be found: at the door, or in a room."""
    found = {}
    for place in ["wsbnb", *(f"wsbnb.{room}" for room in ROOMS)]:
        module = importlib.import_module(place)
        for name in names_of(module):
            thing = getattr(module, name)
            if callable(thing) and thing not in found.values():
                found[f"{place}.{name}"] = thing
    return found


PUBLIC = public_things()


@pytest.fixture(scope="module")
def listed():
    return [name for page in PAGES for name in entries(page.read_text("utf-8"))]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_documented(name):
    text = own_docstring(PUBLIC[name])
    assert len(text.split()) > 3
    # A dataclass without a docstring gets its signature as one.
    assert not text.startswith(f"{name.rpartition('.')[2]}(")


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - NO_EXAMPLE))
def test_public_name_has_an_example(name):
    assert ">>>" in own_docstring(PUBLIC[name])


def test_exceptions_are_still_needed():
    assert NO_EXAMPLE <= set(PUBLIC)
    assert [n for n in NO_EXAMPLE if ">>>" in own_docstring(PUBLIC[n])] == []


def test_every_public_name_is_on_the_page_once(listed):
    counts = collections.Counter(listed)
    assert {name: counts[name] for name in PUBLIC if counts[name] != 1} == {}


def test_nothing_is_on_the_page_twice(listed):
    """Neither under one name nor under two (wsbnb.X and wsbnb.module.X)."""
    things = collections.Counter(id(resolve(entry)) for entry in listed)
    assert [e for e in listed if things[id(resolve(e))] > 1] == []


def test_every_entry_has_a_docstring(listed):
    assert [entry for entry in listed if not own_docstring(resolve(entry))] == []


def test_the_pattern_sees_entries():
    text = ".. autoclass:: wsbnb.A\n   :members:\n\n.. autofunction:: wsbnb.b.c\n"
    assert entries(text) == ["wsbnb.A", "wsbnb.b.c"]
    assert entries("the class wsbnb.A") == []


# --- the pages ------------------------------------------------------------------------

SUMMARY = re.compile(r"^   (wsbnb[\w.]*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_opens_with_a_table_of_its_names(page):
    text = page.read_text(encoding="utf-8")
    assert entries(text)
    assert SUMMARY.findall(text.partition("\n```\n")[0]) == entries(text)


def test_the_first_page_leads_to_all():
    first = (BOOK / "part5_use" / "api.md").read_text(encoding="utf-8")
    assert [p.name for p in PAGES if f"(../api/{p.name})" not in first] == []
    toc = (BOOK.parent / "_toc.yml").read_text(encoding="utf-8")
    assert [p.stem for p in PAGES if f"file: book/api/{p.stem}\n" not in toc] == []


def test_defaults_are_those_that_are_documented():
    """ "name : float, default 0.05" says what the signature says."""
    line = re.compile(r"^ *([\w, ]+) : .*\bdefault (-?[\d.]+)$", re.MULTILINE)
    seen = 0
    for name, thing in PUBLIC.items():
        for words, said in line.findall(inspect.getdoc(thing) or ""):
            for word in words.split(", "):
                default = inspect.signature(thing).parameters[word].default
                assert default == float(said), f"{name}: {word}"
                seen += 1
    assert seen > 50
