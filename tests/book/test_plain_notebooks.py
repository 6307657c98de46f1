"""The plain notebooks: nothing but Markdown, TeX and the chapter's code, and they run.

Numbers and names are compared with the built pages, code with the sources. That all
of them run in any folder with `wsbnb[book,data]` alone has four reasons. Their code
is the chapter's, and the first cell of each does its work (both here). `make test` runs
every chapter in an empty folder without myst_nb (`tools/nbmake_anywhere.py`). And the
chapters import only what these extras install (`tests/test_plain_tools.py`). A few are
executed as a whole nevertheless.
"""

import ast
import os
import re

import nbformat
import pytest
import yaml
from nbclient import NotebookClient

from tests.book import lab, links, sources

pytestmark = pytest.mark.pages

ENTRIES = [
    path.relative_to(sources.ROOT).with_suffix("").as_posix()
    for path in sources.notebook_files()
]
SITE = "https://wsbnb.github.io/wsbnb/"
# What the workflow puts beside the pages, and `make book` alone does not make.
PUBLISHED = ("wsbnb.pdf", "wsbnb-html.zip")
# In the browser: the first page, many formulas and proofs, many tables. What the other
# chapters hold is read from their files above.
SEEN = [
    "book/intro",
    "book/part2_proofs/11_regret",
    "book/part4_experiments/19_main_table",
]


@pytest.fixture(scope="session")
def shelf(html):
    return html.parent / "notebooks"


@pytest.fixture
def plain(shelf, entry):
    return nbformat.read(shelf / f"{entry}.ipynb", as_version=4)


@pytest.fixture
def source(entry):
    return nbformat.read(sources.ROOT / f"{entry}.ipynb", as_version=4)


@pytest.fixture
def page(html, entry):
    return links.soup(links.html_of(entry, html))


def prose(notebook):
    """The text of a notebook without its code blocks, cell by cell."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)


def formulas(text):
    return re.findall(r"\$\$.+?\$\$|(?<![\\$])\$[^$]+?(?<!\\)\$", text)


def words(text):
    """The text without code and formulas."""
    for formula in formulas(text):
        text = text.replace(formula, " ")
    return re.sub(r"(`+).+?\1", " ", text)


RAW = [
    r"^\s*>?\s*:::",  # directives
    r"^\s*:[a-z-]+:",  # their options
    r"\{[a-z]+(:[a-z]+)?\}\s*`?",  # roles
    r"^\([\w-]+\)=",  # labels
    r"«|»|\bplain(-\w+)?:",  # our own marks
    r"(?<!\\)\\[a-zA-Z]{2,}",  # TeX outside of formulas
]


def raw_markup(notebook, macros):
    for text in prose(notebook):
        bare = words(text)
        for pattern in RAW:
            for found in re.finditer(pattern, bare, re.MULTILINE):
                yield f"{found[0]!r} in {bare[max(0, found.start() - 30) :][:70]!r}"
        for formula in formulas(text):
            for name in re.findall(r"\\([a-zA-Z]+)", formula):
                if name in macros:
                    yield f"the book's macro \\{name} in {formula[:60]}"


@pytest.fixture(scope="session")
def macros():
    config = yaml.safe_load((sources.ROOT / "_config.yml").read_text("utf-8"))
    return config["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_markup_of_the_book_is_left(plain, macros):
    nbformat.validate(plain)
    complaints = list(raw_markup(plain, macros))
    assert not complaints, "\n" + "\n".join(complaints)


@pytest.mark.parametrize(
    "text",
    [
        ":::{prf:theorem} A",
        "> :::",
        "see {eq}`eq-x`",
        "{glue:text}`x:.1f` rounds",
        "(label)=\n# Title",
        r"the \norm of $x$",
        r"$\norm{x}$",
        "[here](plain:book/intro)",
        "it is «a:.1f=2»",
    ],
)
def test_raw_markup_is_seen(text, macros):
    cell = nbformat.v4.new_markdown_cell(text)
    assert list(raw_markup(nbformat.v4.new_notebook(cells=[cell]), macros))


class WithoutGlue(ast.NodeTransformer):
    """Takes out glue calls, their import, loops that hold nothing else, and the
    dictionary that keeps a number for a later call."""

    def visit_Assign(self, node):
        target = getattr(node.targets[0], "value", node.targets[0])
        return None if getattr(target, "id", "") == "for_text" else node

    def visit_ImportFrom(self, node):
        return None if node.module == "wsbnb.interactive" else node

    def visit_Expr(self, node):
        name = getattr(getattr(node.value, "func", None), "id", None)
        return None if name == "glue" else node

    def visit_For(self, node):
        self.generic_visit(node)
        return node if node.body else None


def meaning(code):
    return ast.dump(WithoutGlue().visit(ast.parse(code)))


@pytest.mark.parametrize("entry", ENTRIES)
def test_code_is_the_chapters(plain, source):
    own = {cell.id: cell.source for cell in plain.cells if cell.cell_type == "code"}
    codes = [cell for cell in source.cells if cell.cell_type == "code"]
    told = [cell.id for cell in codes if meaning(cell.source) != meaning("")]
    assert [name for name in own if name in {cell.id for cell in codes}] == told
    for cell in codes:
        assert meaning(own.get(cell.id, "")) == meaning(cell.source), cell.id
        assert "glue(" not in own.get(cell.id, "")
    added = set(own) - {cell.id for cell in codes}
    assert {name for name in added if not name.endswith("-numbers")} == {"needs"}


def added_cells(notebook):
    return [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and (cell.id == "needs" or "-numbers" in cell.id)
    ]


@pytest.mark.parametrize("entry", ENTRIES)
def test_first_cell_runs_and_knows_what_the_chapter_imports(plain):
    first, *numbers = added_cells(plain)
    names = {}
    exec(first, names)
    assert "wsbnb" in names["NEEDED"].split() and not names["missing"]
    for code in numbers:
        assert compile(code, "numbers", "exec") and "show_changes" in names


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_the_page_folds_is_folded(plain, source):
    cells = {cell.id: cell for cell in plain.cells}
    for cell in source.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code" and cell.id in cells:
            folded = cells[cell.id].metadata.get("jupyter", {})
            # A cell that does what the page's live figure does is there to be seen.
            own = "in-notebook" in tags
            whole = "hide-cell" in tags or ("remove-cell" in tags and not own)
            assert folded.get("source_hidden", False) == (whole or "hide-input" in tags)
            assert folded.get("outputs_hidden", False) == whole


def joined(notebook):
    return "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


def in_order(parts, text):
    """The first part that does not follow the ones before it in the text."""
    position = 0
    for part in parts:
        position = text.find(part, position)
        if position < 0:
            return part
        position += len(part)
    return None


@pytest.mark.parametrize("entry", ENTRIES)
def test_numbers_are_those_of_the_page(plain, page):
    text = joined(plain)
    glued = [tag.get_text() for tag in page.select("p .pasted-text, li .pasted-text")]
    assert in_order(glued, text.replace("\\", "")) is None
    equations = [tag.get_text().strip("()#¶ \n") for tag in page.select(".eqno")]
    assert re.findall(r"\\tag\{([\d.]+)\}", text) == equations
    figures = [
        tag.get_text().strip()
        for tag in page.select("figcaption .caption-number")
        if tag.get_text().startswith("Fig.")
    ]
    assert re.findall(r"\*\*(Fig\. [\d.]+)\*\*", text) == figures
    proved = [
        tag.get_text().strip()
        for tag in page.select(".proof > .admonition-title > .caption-number")
    ]
    assert in_order([f"**{name}**" for name in proved if name != "Proof"], text) is None


@pytest.mark.parametrize("entry", ENTRIES)
def test_headings_are_those_of_the_page(plain, page):
    def number(heading):
        return re.match(r"[\d.]*", heading)[0]

    shown = [tag.get_text() for tag in page.select("article :is(h1, h2, h3, h4)")]
    text = "\n".join(prose(plain))
    mine = re.findall(r"^#{1,4} (?!References$)(.+)$", text, re.MULTILINE)
    assert shown and list(map(number, mine)) == list(map(number, shown))


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_citation_is_listed(plain, page):
    cited = {tag["href"].partition("#")[2] for tag in page.select("a[href*='#id']")}
    last = plain.cells[-1]
    listed = last.source.count("\n- ") if last.id == "references" else 0
    assert listed == len(cited)


def addresses(notebook):
    return re.findall(r"\]\(([^)\s]+)\)", "\n".join(prose(notebook)))


def test_the_workflow_publishes_what_is_linked():
    steps = (sources.ROOT / ".github" / "workflows" / "book.yml").read_text()
    moved = next(line for line in steps.splitlines() if "_build/html/" in line)
    assert all(f"_build/{name}" in moved for name in PUBLISHED)


@pytest.mark.parametrize("entry", ENTRIES)
def test_links_lead_to_notebooks_and_pages(plain, entry, shelf, html):
    for address in addresses(plain):
        if address.startswith(SITE):
            name, _, anchor = address.removeprefix(SITE).partition("#")
            assert (html / name).is_file() or name in PUBLISHED, address
            assert not anchor or links.soup(html / name).find(id=anchor), address
        elif not address.startswith(("https://", "http://", "mailto:")):
            assert ((shelf / entry).parent / address).is_file(), address


@pytest.mark.parametrize("entry", ENTRIES)
def test_download_is_the_same_and_stands_alone(plain, entry, html):
    alone = nbformat.read(html / "_sources" / f"{entry}.ipynb", as_version=4)
    ids = [cell.id for cell in plain.cells]
    assert [cell.id for cell in alone.cells] == ids
    for mine, theirs in zip(plain.cells, alone.cells, strict=True):
        if mine.cell_type == "code" and not mine.id.endswith("-numbers"):
            assert mine.source == theirs.source
    assert all(a.startswith(("https://", "http://")) for a in addresses(alone))


@pytest.mark.parametrize("entry", ENTRIES)
def test_buttons_open_the_plain_notebook(page, entry):
    found = [tag["href"] for tag in page.select("a[href]")]
    binder = (
        f"https://mybinder.org/v2/gh/wsbnb/wsbnb/notebooks?urlpath=lab/tree/{entry}"
    )
    colab = "https://colab.research.google.com/github/wsbnb/wsbnb/blob/notebooks/"
    assert f"{binder}.ipynb" in found and f"{colab}{entry}.ipynb" in found


def test_every_chapter_is_there_and_nothing_else(shelf):
    there = {
        path.relative_to(shelf).with_suffix("").as_posix()
        for path in shelf.rglob("*.ipynb")
    }
    assert there == set(ENTRIES)


def test_branch_has_what_binder_needs(shelf):
    pins = (shelf / "binder" / "requirements.txt").read_text("utf-8").splitlines()
    assert pins[-1].startswith("wsbnb @ git+https://github.com/wsbnb/wsbnb@")
    assert any(pin.startswith("numba==") for pin in pins)
    assert (shelf / "binder" / "runtime.txt").is_file()
    assert (shelf / "README.md").is_file() and (shelf / "LICENSE").is_file()


@pytest.fixture
def without_myst(tmp_path, monkeypatch):
    """Kernels that find no myst_nb, in a folder that knows nothing of the book."""
    stub = tmp_path / "stub"
    stub.mkdir()
    (stub / "myst_nb.py").write_text("raise ModuleNotFoundError('no myst_nb here')\n")
    path = [str(stub), str(sources.ROOT), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    folder = tmp_path / "anywhere"
    folder.mkdir()
    return folder


def execute(notebook, folder):
    NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(folder)}}
    ).execute()
    return "".join(
        output.get("data", {}).get("text/markdown", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )


@pytest.mark.parametrize(
    "entry", ["book/part5_use/save_restore", "book/part5_use/live"]
)
def test_runs_anywhere_and_agrees_with_its_text(plain, without_myst):
    assert execute(plain, without_myst) == ""


@pytest.mark.parametrize("entry", ["book/intro"])
def test_changed_number_changes_the_sentence(plain, without_myst):
    for cell in plain.cells:
        cell.source = cell.source.replace("trials=30", "trials=8")
        cell.source = cell.source.replace("seed=0", "seed=5")
    shown = execute(plain, without_myst)
    assert "**In this run:** At the end" in shown and "times as much" in shown


@pytest.fixture(scope="module")
def running_lab(shelf, tmp_path_factory):
    with lab.Lab(shelf, tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.mark.parametrize("entry", SEEN)
def test_looks_right_in_stock_lab(entry, plain, running_lab, browser):
    tab = running_lab.open(browser, f"{entry}.ipynb")
    complaints = [*lab.red_formulas(tab), *lab.raw_markup(tab)]
    opened = lab.open_cells(tab)
    tab.context.close()
    assert not complaints, "\n" + "\n".join(complaints)
    wanted = [
        not cell.metadata.get("jupyter", {}).get("source_hidden", False)
        for cell in plain.cells
        if cell.cell_type == "code"
    ]
    assert opened == wanted


def test_lab_shows_what_is_wrong_with_a_source(running_lab, browser):
    """The checks in Lab can fail: a source of the book is not a plain notebook."""
    source = sources.ROOT / "book/part1_estimators/02_wrls.ipynb"
    (running_lab.folder / "source.ipynb").write_text(source.read_text("utf-8"))
    tab = running_lab.open(browser, "source.ipynb")
    assert list(lab.red_formulas(tab)) and list(lab.raw_markup(tab))
    tab.context.close()
