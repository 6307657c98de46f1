"""The parts of plain notebooks: TeX, glue, the first cell, the reader's desk."""

import ast
import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))

import open_lab  # noqa: E402
import part_glue  # noqa: E402
import plain_code  # noqa: E402
import plain_tex  # noqa: E402
import run_twice  # noqa: E402

MACROS = {
    "R": r"\mathbb{R}",
    "Tr": r"\operatorname{Tr}",
    "norm": [r"\lVert #1 \rVert", 1],
    "inner": [r"\left\langle #1, #2 \right\rangle", 2],
    "twice": [r"\norm{#1}\norm{#1}", 1],
}


@pytest.mark.parametrize(
    ("written", "expanded"),
    [
        (r"x\in\R^d", r"x\in\mathbb{R}^d"),
        (r"\Rightarrow \R", r"\Rightarrow \mathbb{R}"),  # only whole names
        (r"\norm{x_{t}}_2", r"\lVert x_{t} \rVert_2"),
        (r"\norm x", r"\lVert x \rVert"),
        (r"\norm\theta", r"\lVert \theta \rVert"),
        (r"\norm{x}y", r"\lVert x \rVert y"),  # not \rVerty
        (r"\inner{a}{\norm{b}}", r"\left\langle a, \lVert b \rVert \right\rangle"),
        (r"\twice{a}", r"\lVert a \rVert\lVert a \rVert"),
        (r"\norm{\{a\}}", r"\lVert \{a\} \rVert"),  # escaped braces do not count
    ],
)
def test_macros_are_written_out(written, expanded):
    assert plain_tex.expand(written, MACROS) == expanded


def test_open_brace_is_told():
    with pytest.raises(ValueError, match="brace stays open"):
        plain_tex.expand(r"\norm{x", MACROS)
    with pytest.raises(ValueError, match="lacks its argument"):
        plain_tex.expand(r"\norm ", MACROS)


def test_display_formula_stays_on_one_line_with_its_number():
    tex = "\n\\begin{align}\na &< b \\\\ % why\nc &= \\R\n\\end{align}\n"
    assert plain_tex.display(tex, MACROS, "3.1") == (
        r"$$ \begin{aligned} a &\lt b \\ c &= \mathbb{R} \end{aligned} \tag{3.1} $$"
    )


def test_rows_without_an_environment_get_one():
    assert r"\begin{aligned} a \\ b \end{aligned}" in plain_tex.display(r"a \\ b", {})


CELL = """\
import numpy as np
from wsbnb.interactive import glue

x = np.ones(3)
glue("sum", float(x.sum()))
assert x.sum() == 3
for i in range(3):
    glue(f"x-{i}", float(x[i]))
"""


def test_glue_moves_into_a_cell_of_its_own():
    code, glue = plain_code.split(CELL)
    assert code == "import numpy as np\n\nx = np.ones(3)\nassert x.sum() == 3"
    assert glue.count("glue(") == 2 and glue.startswith('glue("sum"')
    names = {"quoted": {}}
    exec(code, names)  # needs no myst_nb
    exec(plain_code.as_numbers(glue), names)
    assert names["quoted"] == {"sum": 3.0, "x-0": 1.0, "x-1": 1.0, "x-2": 1.0}


def test_code_without_glue_is_left_alone():
    odd = "x = 1\n\n\n\n\n# a comment\n%matplotlib inline\n"
    assert plain_code.split(odd) == (odd, "")


def test_glue_does_not_wait_for_a_changed_name():
    changing = 'x = 1\nglue("x", x)\nx = 2'
    code, glue = plain_code.split(changing)
    assert code.splitlines() == [
        "x = 1",
        "for_text = {}  # numbers for the text",
        'for_text["x"] = x',
        "x = 2",
    ]
    names = {"quoted": {}}
    exec(code, names)
    exec(plain_code.as_numbers(glue), names)
    assert names["quoted"] == {"x": 1}


def test_loop_variables_are_the_loops_own():
    loop = 'for i in "ab":\n    glue(i, 1)'
    assert plain_code.split(f"{loop}\ni = 3") == ("i = 3", loop)


def test_glue_inside_other_work_keeps_its_number_there():
    busy = 'for i in "ab":\n    print(i)\n    if i:\n        glue(\n            i, 1)\n'
    code, glue = plain_code.split(busy)
    assert code == (
        "for_text = {}  # numbers for the text\n"
        'for i in "ab":\n    print(i)\n    if i:\n        for_text[i] = 1'
    )
    names = {"quoted": {}}
    exec(f"{code}\n{plain_code.as_numbers(glue)}", names)
    assert names["quoted"] == {"a": 1, "b": 1}


def test_a_value_before_glue_is_not_printed_now():
    code, _ = plain_code.split('x = [1]\nx.pop()\nglue("n", 1)')
    assert code.endswith("x.pop();")
    code, _ = plain_code.split('glue("n", 1)\nx')
    assert code == "x"


def test_long_glue_statement_becomes_an_entry():
    glue = 'glue(\n    "a",\n    1 + 1,\n    display=False,\n)'
    assert plain_code.as_numbers(glue) == 'quoted["a"] = 1 + 1'


def code_cell(name, code, *tags):
    metadata = {"tags": list(tags)} if tags else {}
    lines = code.splitlines(keepends=True)
    return {"cell_type": "code", "id": name, "metadata": metadata, "source": lines}


def parts(*cells):
    new = part_glue.part({"cells": list(cells)})["cells"]
    assert part_glue.part({"cells": new})["cells"] == new  # again changes nothing
    hidden = ["remove-cell" in cell["metadata"].get("tags", []) for cell in new]
    return [("".join(c["source"]), h) for c, h in zip(new, hidden, strict=True)]


def test_sources_keep_glue_in_cells_that_pages_do_not_show():
    first, second = parts(code_cell("a", CELL))
    assert first == (plain_code.split(CELL)[0], False)
    assert (
        second[0].startswith("from wsbnb.interactive import glue\nglue(") and second[1]
    )


def test_source_cell_of_glue_alone_is_hidden_as_a_whole():
    assert parts(code_cell("a", 'glue("a", 1)', "hide-cell")) == [
        ('glue("a", 1)', True)
    ]


CHAPTERS = sorted((ROOT / "book").rglob("*.ipynb"))
CHAPTERS = [path for path in CHAPTERS if ".ipynb_checkpoints" not in path.parts]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_cells_that_readers_copy_need_no_myst(chapter):
    notebook = json.loads(chapter.read_text("utf-8"))
    assert part_glue.part(notebook) == notebook
    for cell in filter(part_glue.is_shown, notebook["cells"]):
        assert "glue" not in part_glue.source_of(cell)


@pytest.fixture
def first_cell(monkeypatch):
    """The names that the first cell of a plain notebook leaves, and what it showed."""
    code = plain_code.setup_cell("wsbnb", ["wsbnb"], with_numbers=True)
    names, shown = {}, []
    exec(code, names)
    names["display"] = shown.append
    return names, shown


def test_unchanged_numbers_show_nothing(first_cell):
    names, shown = first_cell
    names["quoted"].update(a=1.23, b=4)
    names["show_changes"]("It is «a:.1f=1.2» of «b:=4».")
    assert shown == []


def test_changed_number_shows_its_sentence(first_cell):
    names, shown = first_cell
    names["quoted"].update(a=1.26, b=4)
    names["show_changes"]("It is «a:.1f=1.2» of «b:=4».", "Not «c:=3» yet.")
    assert [text.data for text in shown] == ["**In this run:** It is 1.3 of 4."]


def test_numbers_cell_runs(first_cell):
    names, shown = first_cell
    cell = plain_code.numbers_cell('glue("a", 2)', ["It's «a:=1»."])
    exec(cell, names)
    assert [text.data for text in shown] == ["**In this run:** It's 2."]
    assert plain_code.numbers_cell("", ["x"]) == plain_code.numbers_cell("x", []) == ""


@pytest.mark.parametrize("host", ["", "COLAB_RELEASE_TAG"])
def test_first_cell_installs_only_on_hosts(host, monkeypatch):
    code = plain_code.setup_cell("wsbnb[x] @ there", ["numpy", "wsbnb"], False)
    asked = []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: asked.append((a, k)))
    for name in ("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "DEEPNOTE_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    if not host:
        with pytest.raises(
            ModuleNotFoundError, match=r"numpy, wsbnb .*'wsbnb\[x\] @ there'"
        ):
            exec(code, {})
        assert asked == []
    else:
        monkeypatch.setenv(host, "1")
        exec(code, {})
        ((command,), options), *more = asked
        assert command[-2:] == ["--quiet", "wsbnb[x] @ there"] and not more
        assert options == {"check": True}


def test_first_cell_leaves_a_complete_machine_alone(monkeypatch):
    monkeypatch.setenv("COLAB_RELEASE_TAG", "1")
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("installs"))
    exec(plain_code.setup_cell("wsbnb", ["numpy", "wsbnb"], False), {})


def test_modules_of_cells():
    codes = [
        "%matplotlib inline\nimport os, numpy.linalg as la",
        "from scipy import stats",
    ]
    assert plain_code.modules(codes) == ["numpy", "scipy"]
    assert plain_code.modules(["def f():\n    import river.bandit"]) == ["river"]


def provided(*extras):
    """The modules of the packages that the library and some of its extras ask for."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    asked = project["dependencies"] + sum(
        (project["optional-dependencies"][extra] for extra in extras), []
    )
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in asked}
    names |= {"distributed"} if "dask" in names else set()  # dask[distributed]
    there = importlib.metadata.packages_distributions()
    return {
        module
        for module, packages in there.items()
        if names & {package.lower() for package in packages}
    }


def test_every_chapter_needs_only_what_the_first_cell_installs():
    """nbmake runs them where more is installed; here is why that does not matter."""
    pytest.importorskip("jupyter_book", reason="needs what builds the book")
    known = provided("book", "data") | {"wsbnb"}
    for path in CHAPTERS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        codes = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        assert set(plain_code.modules(codes)) <= known, path.name
    assert "pytest" not in known and "river" not in provided()


def test_chapters_do_not_use_the_names_of_the_first_cell():
    """A chapter that called something `quoted` would break its sentences."""
    kept = {"quoted", "show_changes"}
    for path in (ROOT / "book").rglob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            code = "".join(cell["source"])
            if cell["cell_type"] == "code" and not code.lstrip().startswith("%"):
                bound = plain_code.names(ast.parse(code), ast.Store)
                assert not bound & kept, f"{path.name}: {bound & kept}"


def test_desk_follows_the_book_and_keeps_the_readers_work(tmp_path):
    book, desk = tmp_path / "book", tmp_path / "desk"
    book.mkdir()
    desk.mkdir()
    for name in ("a", "b", "c"):
        (book / f"{name}.ipynb").write_text("one")
    assert open_lab.lay_out(tmp_path, desk) == []
    (desk / "b.ipynb").write_text("mine")
    (desk / "new.ipynb").write_text("mine, too")
    for name in ("a", "b"):
        (book / f"{name}.ipynb").write_text("two")
    assert open_lab.lay_out(tmp_path, desk) == ["b.ipynb"]
    contents = {path.stem: path.read_text() for path in desk.glob("*.ipynb")}
    assert contents == {"a": "two", "b": "mine", "c": "one", "new": "mine, too"}


def write_notebook(path, *codes):
    import nbformat

    cells = [nbformat.v4.new_code_cell(code) for code in codes]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_run_twice_sees_a_cell_that_eats_its_input(tmp_path):
    good = write_notebook(tmp_path / "good.ipynb", "x = [1, 2]", "y = x[1:]", "y[0]")
    cell = write_notebook(tmp_path / "cell.ipynb", "x = [1]", "x.pop()")
    whole = write_notebook(tmp_path / "whole.ipynb", "y = list('a')", "list = None")
    assert run_twice.run(good) is None
    assert "pop from empty list" in run_twice.run(cell, whole=False)
    assert run_twice.run(cell, each=False) is None
    assert run_twice.run(whole, whole=False) is None
    assert "not callable" in run_twice.run(whole, each=False)


def workflows():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        yield path.name, yaml.safe_load(path.read_text(encoding="utf-8"))


def test_actions_are_pinned_by_hash():
    used = [
        step["uses"]
        for _, workflow in workflows()
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "uses" in step
    ]
    assert used
    for action in used:
        _, _, revision = action.partition("@")
        assert len(revision) == 40 and int(revision, 16), action


def test_only_the_publishing_jobs_may_write():
    writing = {
        (name, job, what)
        for name, workflow in workflows()
        for job, steps in workflow["jobs"].items()
        for what, how in {
            **workflow["permissions"],
            **steps.get("permissions", {}),
        }.items()
        if how == "write"
    }
    assert writing == {
        ("book.yml", "publish", "pages"),
        ("book.yml", "publish", "id-token"),
        ("book.yml", "notebooks", "contents"),
    }
