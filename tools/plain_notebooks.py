"""A Sphinx extension that writes every chapter also as a plain notebook.

The sources are written for the book: directives, roles, macros, glued numbers. Outside
of it nobody understands these. While the pages are built, this extension takes the
resolved documents, in which all numbers and references are known, and writes
`_build/notebooks/`, where the text is Markdown and TeX, and the code is the chapter's.
The same files, with links to the pages on the internet, are what the pages offer for
download.

sphinx-tojupyter does a similar thing from a second build of its own; it knows neither
sphinx-proof's numbers nor glue nor the outputs, and would execute the book again.
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess

import nbformat
import plain_code
import plain_markdown
import table_numbers
from docutils import nodes
from jupyter_cache import get_cache

GLUE_ROLE = re.compile(r"\{glue:text\}`([^`]+)`")
FOLDED = {
    "hide-input": ("source_hidden",),
    "hide-output": ("outputs_hidden",),
    "hide-cell": ("source_hidden", "outputs_hidden"),
    "remove-input": ("source_hidden",),
    "remove-output": ("outputs_hidden",),
    "remove-cell": ("source_hidden", "outputs_hidden"),
}
INSTEAD = "in-notebook"  # tags a cell that stands in for a live figure of the page
ROWS_PER_CELL = 10_000  # how myst-nb numbers the lines of a notebook
NUMBERS = "-numbers"  # ends the ids of the cells that check the text's numbers
SOLUTION = "*Solution: the folded cell below.*"


class Chapter:
    """One document on its way to a plain notebook."""

    def __init__(self, docname, source, executed, writer):
        self.docname = docname
        self.source = source
        self.executed = executed
        self.writer = writer
        self.texts = {}  # index of a source cell -> blocks of Markdown
        self.captions = {}  # index of a code cell -> its figure's caption
        self.sentences = {}  # index of a code cell -> templates of sentences
        self.current = 0
        self.slots = {}

    # Text

    def read(self, doctree):
        for section in doctree.children:
            self.read_block(section, 0)

    def read_block(self, node, level):
        if isinstance(node, nodes.section):
            level += 1
            self.current = self.cell_of(node.next_node(nodes.title))
            self.add(self.writer.heading(node, level))
            for child in node.children:
                if not isinstance(child, nodes.title):
                    self.read_block(child, level)
        elif node.get("nb_element") == "cell_code":
            self.current = node["cell_index"]
            captions = [*map(self.writer.caption, node.findall(nodes.figure))]
            table = table_numbers.said_by_the_cell(node)
            captions += [f"*{table}*"] if table else []
            self.captions[self.current] = "\n\n".join(filter(None, captions))
        elif text := self.writer.block(node):
            self.current = self.cell_of(node)
            self.add(text)
            self.quote_numbers(node)

    def add(self, text):
        blocks = self.texts.setdefault(self.current, [])
        if blocks[-1:] != [text]:  # two live figures in a row: one word is enough
            blocks.append(text)

    def cell_of(self, node):
        """The source cell of a piece of text: where its line lies, if that is known
        and not behind us."""
        lines = (part.line for part in node.findall() if getattr(part, "line", None))
        index = next(lines, 0) // ROWS_PER_CELL - 1
        cells = self.source.cells
        for candidate in (index, self.current, self.current + 1):
            if self.current <= candidate < len(cells):
                if cells[candidate].cell_type == "markdown":
                    return candidate
        return self.current

    # Numbers in the text

    def quote_numbers(self, node):
        """Keep the sentences with glued numbers for the cells that compute them."""
        for paragraph in node.findall(nodes.paragraph):
            glued = [
                part
                for part in paragraph.findall(nodes.inline)
                if plain_markdown.GLUED in part["classes"]
            ]
            slots = self.next_slots(len(glued))
            if glued and len(slots) == len(glued):
                for sentence in self.writer.quoted_sentences(paragraph, slots):
                    self.keep(sentence)

    def next_slots(self, count):
        """How the source writes the next glued numbers: names and formats."""
        if self.current not in self.slots:
            found = GLUE_ROLE.findall(self.source.cells[self.current].source)
            self.slots[self.current] = [slot(text) for text in found]
        waiting = self.slots[self.current]
        taken, self.slots[self.current] = waiting[:count], waiting[count:]
        return taken

    def keep(self, sentence):
        names = [name for name, _, _ in plain_code.SLOT.findall(sentence)]
        if all(name in self.glued_in for name in names):
            last = max(self.glued_in[name] for name in names)
            self.sentences.setdefault(last, []).append(sentence)

    @property
    def glued_in(self):
        """For every glued name the index of the cell that glued it."""
        return {
            output.metadata.scrapbook.name: index
            for index, cell in enumerate(self.executed.cells)
            for output in cell.get("outputs", [])
            if "scrapbook" in output.get("metadata", {})
        }

    # Cells

    def cells(self):
        for index, cell in enumerate(self.source.cells):
            if cell.cell_type == "code":
                yield from self.code_cells(index, cell)
            elif index in self.texts:
                text = "\n\n".join(self.texts[index])
                yield nbformat.v4.new_markdown_cell(text, id=cell.id)

    def code_cells(self, index, cell):
        code, glue = plain_code.split(cell.source)
        tags = cell.metadata.get("tags", [])
        if "solution" in tags:
            yield nbformat.v4.new_markdown_cell(SOLUTION, id=f"{cell.id}-fold")
        if code:
            plain = nbformat.v4.new_code_cell(code, id=cell.id)
            plain.metadata = folding(tags)
            done = self.executed.cells[index]
            plain.outputs = [out for out in map(shown, done.outputs) if out]
            plain.execution_count = done.execution_count
            yield plain
        if caption := self.captions.get(index):
            yield nbformat.v4.new_markdown_cell(caption, id=f"{cell.id}-caption")
        numbers = plain_code.numbers_cell(glue, self.sentences.get(index))
        if numbers:
            plain = nbformat.v4.new_code_cell(numbers, id=cell.id + NUMBERS)
            plain.metadata = folding(["hide-input"])
            yield plain

    def references(self, citations):
        entries = sorted(citations[name] for name in self.writer.cited)
        if entries:
            text = "## References\n\n" + "\n".join(f"- {entry}" for entry in entries)
            yield nbformat.v4.new_markdown_cell(text, id="references")

    def notebook(self, citations, install):
        cells = [*self.cells(), *self.references(citations)]
        quoting = any(cell.id.endswith(NUMBERS) for cell in cells)
        codes = [cell.source for cell in cells if cell.cell_type == "code"]
        code = plain_code.setup_cell(install, plain_code.modules(codes), quoting)
        setup = nbformat.v4.new_code_cell(code, id="needs")
        setup.metadata = folding(["hide-input"])
        title, *rest = with_title_apart(cells)
        metadata = {
            "kernelspec": {
                "name": "python3",
                "display_name": "Python 3",
                "language": "python",
            },
            "language_info": {"name": "python"},
        }
        return nbformat.v4.new_notebook(
            cells=[title, setup, *rest], metadata=metadata, nbformat_minor=5
        )


def slot(text):
    """The name and the format in a glue role."""
    name, _, spec = text.rpartition(":")
    return (name, spec) if name else (spec, "")


def with_title_apart(cells):
    """The first text cell as two: the title, and what follows it."""
    title, _, text = cells[0].source.partition("\n\n")
    first = nbformat.v4.new_markdown_cell(title, id="title")
    if not text:
        return [first, *cells[1:]]
    second = nbformat.v4.new_markdown_cell(text, id=cells[0].id)
    return [first, second, *cells[1:]]


def folding(tags):
    """What the page folds, Lab and Colab fold, too."""
    hidden = {key for tag in tags for key in FOLDED.get(tag, ())}
    hidden = set() if INSTEAD in tags else hidden
    metadata = {"tags": list(tags)} if tags else {}
    if hidden:
        metadata["jupyter"] = dict.fromkeys(sorted(hidden), True)
    if "source_hidden" in hidden:
        metadata["cellView"] = "form"
    return nbformat.from_dict(metadata)


def shown(output):
    """An output that any front end can show, or None."""
    if "scrapbook" in output.get("metadata", {}):
        return None  # a glued number
    text = output.get("data", {}).get("text/html", "")
    if "<script" in text or "<svg" in text:
        return None  # comes alive when the cell is run; until then Lab takes it apart
    return output


class Bookshelf:
    """All plain notebooks of one build."""

    def __init__(self, app):
        self.app = app
        self.documents = {}
        self.folder = pathlib.Path(app.outdir).parent / "notebooks"
        self.cache = get_cache(app.env.mystnb_config.execution_cache_path)

    @property
    def site(self):
        return self.app.config.plain_notebooks_site

    def collect(self, app, doctree, docname):
        self.documents[docname] = doctree.deepcopy()

    def writer(self, docname, citations):
        macros = self.app.config.mathjax3_config["tex"]["macros"]
        return plain_markdown.Writer(docname, self.app.env, macros, citations)

    def bibliography(self):
        """The entries of the bibliography as Markdown, by their ids."""
        entries = {}
        for docname, doctree in self.documents.items():
            writer = self.writer(docname, ())
            for entry in doctree.findall(nodes.citation):
                for name in entry["ids"]:
                    entries[name] = writer.blocks(entry)
        return entries

    def notebooks(self):
        return {
            docname
            for docname in self.documents
            if self.app.env.doc2path(docname).endswith(".ipynb")
        }

    def write(self, app, exception):
        if exception or not self.documents:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        citations, chapters = self.bibliography(), self.notebooks()
        for docname in sorted(chapters):
            self.write_chapter(docname, citations, chapters)
        write_surroundings(self.folder, app.config.plain_notebooks_repository)

    def write_chapter(self, docname, citations, chapters):
        source = nbformat.read(self.app.env.doc2path(docname), as_version=4)
        _, executed = self.cache.merge_match_into_notebook(copy_of(source))
        writer = self.writer(docname, citations)
        chapter = Chapter(docname, source, executed, writer)
        chapter.read(self.documents[docname])
        repository = self.app.config.plain_notebooks_repository
        notebook = chapter.notebook(citations, what_to_install(repository))
        for image in writer.images:
            copy(pathlib.Path(self.app.srcdir) / image, self.folder / image)
        downloads = pathlib.Path(self.app.outdir) / "_sources"
        for folder, alone in ((self.folder, False), (downloads, True)):
            path = folder / f"{docname}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            save(linked(notebook, docname, chapters, self.site, alone), path)


def what_to_install(repository):
    """For pip: the version that published notebooks belong to, else the newest."""
    commit = os.environ.get("GITHUB_SHA")
    return f"wsbnb[book,data] @ git+{repository}" + (f"@{commit}" if commit else "")


def linked(notebook, *arguments):
    """The notebook with the links of its text in place."""
    notebook = copy_of(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" or cell.id.endswith(NUMBERS):
            cell.source = plain_markdown.with_links(cell.source, *arguments)
    return notebook


def copy_of(notebook):
    return nbformat.from_dict(json.loads(json.dumps(notebook)))


def save(notebook, path):
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write_surroundings(folder, repository):
    """What a branch of these notebooks needs so that Binder can open it."""
    root = pathlib.Path(__file__).resolve().parents[1]
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith(("#", "-e", "."))]
    binder = folder / "binder"
    binder.mkdir(parents=True)
    version = f"wsbnb @ git+{repository}@{revision(root)}"
    text = "\n".join([*itertools.filterfalse(str.isspace, pins), version, ""])
    (binder / "requirements.txt").write_text(text, encoding="utf-8")
    copy(root / "binder" / "runtime.txt", binder / "runtime.txt")
    copy(root / "LICENSE", folder / "LICENSE")
    copy(root / "LICENSE-text", folder / "LICENSE-text")
    (folder / "README.md").write_text(ABOUT.format(repository), encoding="utf-8")


ABOUT = """\
# The chapters as plain notebooks

Written by the build of {0}, from the sources there: change those, not these. They run
in any Jupyter with `pip install "wsbnb[book,data] @ git+{0}"`; begin with
[the first page](book/intro.ipynb).
"""


def revision(root):
    """The commit that these notebooks belong to, or the main branch."""
    if os.environ.get("GITHUB_SHA"):
        return os.environ["GITHUB_SHA"]
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True
    )
    return asked.stdout.strip() if asked.returncode == 0 else "main"


def on_branch(address, repository, branch):
    """The address of a launch button, for another branch."""
    name = "/".join(repository.split("/")[-2:])
    there = rf"\1/\g<2>{branch}"
    return re.sub(rf"({re.escape(name)})/(blob/)?[^/?]+", there, address, count=1)


def launch_plain_notebooks(app, pagename, templatename, context, doctree):
    """Let the launch buttons open the branch of the plain notebooks."""
    repository = app.config.plain_notebooks_repository
    branch = app.config.plain_notebooks_branch
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons":
            for button in group["buttons"]:
                button["url"] = on_branch(button["url"], repository, branch)


def start(app):
    if app.builder.format == "html":
        shelf = Bookshelf(app)
        app.connect("doctree-resolved", shelf.collect, priority=900)
        app.connect("build-finished", shelf.write)
        app.connect("html-page-context", launch_plain_notebooks, priority=900)


def setup(app):
    app.add_config_value("plain_notebooks_site", "", "env")
    app.add_config_value("plain_notebooks_repository", "", "env")
    app.add_config_value("plain_notebooks_branch", "notebooks", "env")
    app.connect("builder-inited", start)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
