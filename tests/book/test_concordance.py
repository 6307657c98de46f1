"""The concordance: complete, up to date, and every link and check is there."""

import ast
import json
import re

import pytest

from tests.book import notebook_rules as rules
from tests.book import sources
from tools import concordance

ITEMS = concordance.items()
STATUS = {"as printed", "corrected", "refuted", "sharpened", "reproduced"}


def numbered(kind, count, prefix=""):
    return [f"{kind} {prefix}{i}" for i in range(1, count + 1)]


# What the paper numbers, appendix included.
EXPECTED = [
    *numbered("Assumption", 1), *numbered("Remark", 2), *numbered("Lemma", 5),
    *numbered("Theorem", 2), *numbered("Corollary", 3), *numbered("Algorithm", 3),
    *numbered("Table", 3), *numbered("Figure", 5),
    *[f"Equation ({i})" for i in (1, 2, 3, 4, 5, "B.1")],
    *numbered("Proposition", 2, "A."), "Theorem B.1", "Corollary B.1", "Lemma B.1",
    *numbered("Lemma", 4, "D."),
]  # fmt: skip


def book_text():
    """All text of the book: labels of pages, theorems, equations and figures."""
    texts = [p.read_text(encoding="utf-8") for p in sources.BOOK.rglob("*.md")]
    for path in sources.notebook_files():
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            texts.append(rules.source(cell))
            figure = cell["metadata"].get("mystnb", {}).get("figure", {})
            texts.append(f"({figure.get('name')})=")
    return "\n".join(texts)


@pytest.fixture(scope="module")
def labels():
    text = book_text()
    found = set(re.findall(r"^\(([\w-]+)\)=", text, re.MULTILINE))
    found |= set(re.findall(r"^:label: ([\w-]+)", text, re.MULTILINE))
    return found | set(re.findall(r"^\$\$ \(([\w-]+)\)", text, re.MULTILINE))


def test_every_numbered_item_is_there_once():
    names = [item["item"] for item in ITEMS]
    assert sorted(names) == sorted(EXPECTED)


def test_the_page_is_what_the_data_say():
    written = concordance.PAGE.read_text(encoding="utf-8")
    assert written == concordance.page(), "run python tools/concordance.py"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["item"])
def test_item_is_whole(item):
    assert item["status"] in STATUS
    assert item["says"] and item["where"]
    # Whoever changes a statement says how.
    if item["status"] in ("corrected", "refuted", "sharpened"):
        assert item["note"]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["item"])
def test_links_lead_somewhere(item, labels):
    text = " ".join(item["where"]) + item.get("note", "")
    targets = re.findall(r"\{[\w:]+\}`(?:[^<`]*<)?([\w-]+)>?`", text)
    assert targets
    for target in targets:
        assert target in labels, f"{item['item']}: no label {target}"


def asserts(function, functions):
    """Whether a test asserts, itself or through a function of its file."""
    calls = [n.func for n in ast.walk(function) if isinstance(n, ast.Call)]
    called = {functions.get(getattr(call, "id", "")) for call in calls} - {None}
    return any(
        rules.is_assertion(node)
        for body in (function, *called)
        for node in ast.walk(body)
    )


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["item"])
def test_check_exists_and_asserts(item):
    for check in concordance.checks(item):
        assert_that_it_asserts(check)


def assert_that_it_asserts(check):
    file, _, name = check.partition("::")
    if name:
        code = (sources.ROOT / file).read_text(encoding="utf-8")
        functions = {getattr(n, "name", ""): n for n in ast.parse(code).body}
        assert asserts(functions[name], functions)
    else:
        file, _, name = check.partition("#")
        notebook = json.loads((sources.ROOT / file).read_text(encoding="utf-8"))
        cell = next(c for c in notebook["cells"] if c["id"] == name)
        assert rules.has_assertion(rules.source(cell))


def errata_pages():
    """Number of an entry and the label its row links to, from the errata's table."""
    path = sources.BOOK / "part2_proofs" / "13_errata.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    text = rules.source(notebook["cells"][0])
    return re.findall(r"^\| \*\*(E\d+)\*\* .*<([\w-]+)>` \|$", text, re.MULTILINE)


def page_of(label):
    """The text of the chapter that begins with a label."""
    for path in sources.notebook_files():
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if rules.source(notebook["cells"][0]).startswith(f"({label})="):
            return "\n".join(rules.source(cell) for cell in notebook["cells"])
    raise LookupError(label)


def test_errata_link_to_the_page_that_explains_them():
    words = {
        "E1": "Remark 2", "E2": "1/\\sigma", "E5": "flip_regret", "E9": "prop-limit",
        "E10": "A slip of σ", "E11": "thm-randomised-regret", "E12": "Corollary 3",
        "E13": "prop-cyclic", "E14": "independent", "E17": "abstract",
    }  # fmt: skip
    found = errata_pages()
    assert len(found) == 19
    for number, label in found:
        assert words.get(number, "") in page_of(label), (number, label)
