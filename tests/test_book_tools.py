"""The Sphinx extensions and tools of the book, on small examples."""

import fnmatch
import io
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

nodes = pytest.importorskip("docutils.nodes")

fold_names = pytest.importorskip("fold_names")
light_icons = pytest.importorskip("light_icons")
link_previews = pytest.importorskip("link_previews")
search_words = pytest.importorskip("search_words")

# --- names on folds -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("# drift without 1/σ\nassert x > 1", "Check: drift without 1/σ"),
        ("# Check: it holds.\nassert x > 1", "Check: it holds"),
        ("np.testing.assert_allclose(a, b)", "Check: Where it fails"),
        ("fig, ax = plt.subplots()", "Code of the figure: Where it fails"),
        ("x = 1", "Code: Where it fails"),
        ("# a paragraph of two\n# lines\nx = 1", "Code: Where it fails"),
        ("# " + "long " * 30 + "\nx = 1", "Code: Where it fails"),
    ],
)
def test_a_fold_says_what_is_inside(code, name):
    assert fold_names.name_of(code, "Where it fails") == name


def test_a_fold_outside_a_section_has_a_name():
    assert fold_names.name_of("x = 1", "") == "Code"


def fold(code, prompt="Show code cell {type}"):
    cell = nodes.container(hide_mode="all", prompt_show=prompt, prompt_hide=prompt)
    cell += nodes.literal_block(code, code)
    return cell


def test_two_folds_of_a_section_are_told_apart():
    section = nodes.section(ids=["s"])
    section += nodes.title("", "Where it fails")
    section += [fold("x = 1"), fold("y = 2"), fold("z = 3", "My own words")]
    fold_names.name_folds(None, section)
    names = [cell["prompt_show"] for cell in section[1:]]
    assert names == [
        "Code: Where it fails",
        "Code: Where it fails (2)",
        "My own words",
    ]


def test_a_solution_is_named_after_its_exercise():
    section = nodes.section(ids=["s"])
    section += nodes.title("", "Exercises")
    section += nodes.paragraph(
        "", "", nodes.strong("", "1. Too long."), nodes.Text(" x")
    )
    section += fold("x = 1", "Show the solution")
    # MyST puts an empty piece of text before bold words that open a paragraph
    two = nodes.Text(""), nodes.strong("", "2. Too short.")
    section += nodes.paragraph("", "", *two)
    section += nodes.paragraph("", "", nodes.Text("more of it"))
    section += [fold("assert x", "Show the solution"), fold("y = 1", "Show the checks")]
    fold_names.name_folds(None, section)
    names = [c["prompt_show"] for c in section.findall(nodes.container)]
    assert names == ["Solution: Too long", "Solution: Too short", "Code: Exercises"]


def test_the_name_of_a_solution_does_not_tell_the_answer():
    section = nodes.section(ids=["s"])
    section += nodes.paragraph("", "", nodes.strong("", "3. Is it true?"))
    cell = fold("# Solution 3. No, never.\nassert not x")
    cell["cell_metadata"] = {"tags": ["hide-cell", "solution"]}
    section += cell
    fold_names.name_folds(None, section)
    assert cell["prompt_show"] == "Solution: Is it true?"


def test_folds_are_read_aloud_by_their_names():
    context = {"body": f"<summary{fold_names.LABEL}><p>Code: x</p></summary>"}
    fold_names.let_names_be_heard(None, "page", "page.html", context, None)
    assert context["body"] == "<summary><p>Code: x</p></summary>"


# --- search ---------------------------------------------------------------------------


def test_words_lead_to_pages_that_exist():
    words = search_words.words_by_page()
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    listed = ("file", "root")
    lost = [p for p in words if not any(f"{kind}: {p}\n" in toc for kind in listed)]
    assert lost == []
    assert all(isinstance(word, str) for page in words.values() for word in page)


def test_words_become_entries_of_the_index():
    class App:
        class env:
            docname = "book/part2_proofs/07_prior"

    section = nodes.section(ids=["prior"])
    section += nodes.title("", "The prior")
    document = nodes.container("", section)
    search_words.add_words(App, document)
    entries = section[1]["entries"]
    assert ("single", "prior penalty", "prior", "main", None) in entries
    App.env.docname = "book/unknown"
    search_words.add_words(App, document)
    assert len(section) == 2


# --- icons ----------------------------------------------------------------------------

ICONS = (
    'x={house:[576,512,[127968,"home"],"f015","M5 2"],"circle-up":[5,5,[],"f1","M1"],'
    'sun:[5,5,[],"f2",["M1","M2"]]};'
)


def test_icons_that_are_named_stay():
    assert light_icons.named_icons(['<i class="fas fa-sun">']) == {"sun"}
    kept = light_icons.keep_icons(ICONS, {"sun", "home"})
    assert "house:[576" in kept and "sun:[5" in kept and "circle-up" not in kept
    assert light_icons.keep_icons(ICONS, set()) == "x={};"


def test_styles_of_icons_that_are_named_stay():
    sheet = (
        '.a{x:1}.fa-sun:before{content:"f1"}.fa-up:before,.fa-top:before{content:"f"}'
        "@font-face{src:url(fa-brands-400.woff2)}@font-face{src:url(fa-solid-900.w)}"
    )
    kept = light_icons.keep_styles(sheet, {"top"})
    assert kept.startswith(".a{x:1}.fa-up:before,.fa-top:before{")
    assert kept.endswith("}@font-face{src:url(fa-solid-900.w)}")
    assert "brands" not in kept and "sun" not in kept


def test_the_search_index_stays_with_the_search_page(tmp_path):
    class App:
        class builder:
            format = "html"

        outdir = tmp_path

    scripts = tmp_path / "_static" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "fontawesome.js").write_text(ICONS)
    (scripts / "theme.js.map").write_text("{}")
    text = '<i class="fa-sun"></i><script src="../searchindex.js"></script>'
    (tmp_path / "a.html").write_text(text)
    (tmp_path / "search.html").write_text(text)
    light_icons.lighten(App, None)
    assert "searchindex" not in (tmp_path / "a.html").read_text()
    assert "searchindex" in (tmp_path / "search.html").read_text()
    assert "house" not in (scripts / "fontawesome.js").read_text()
    assert not list(scripts.glob("*.map"))


# --- what a link shows ----------------------------------------------------------------


def paragraph(*children):
    return nodes.paragraph("", "", *children)


def test_preview_is_the_question():
    document = nodes.section()
    document += paragraph(nodes.Text("First."))
    document += paragraph(nodes.emphasis("", "What now?"))
    assert link_previews.opening(document) == "What now?"


def test_preview_without_a_question_is_the_first_plain_paragraph():
    document = nodes.section()
    document += paragraph(nodes.Text("With "), nodes.math("", r"\gamma"))
    document += nodes.note("", paragraph(nodes.Text("A note.")))
    document += paragraph(nodes.Text("Plain words " * 40))
    said = link_previews.opening(document)
    assert said.startswith("Plain words") and said.endswith("…")
    assert len(said) <= link_previews.LONGEST + 2
    assert link_previews.opening(nodes.section()) == ""


# --- the book on paper ----------------------------------------------------------------


def blank(address=None):
    """A PDF of one page, with a link if an address is given."""
    pypdf = pytest.importorskip("pypdf")
    from pypdf.annotations import Link

    writer = pypdf.PdfWriter()
    writer.add_blank_page(200, 200)
    if address:
        writer.add_annotation(0, Link(rect=(0, 0, 50, 50), url=address))
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_links_between_chapters_lead_to_pages():
    make_pdf = pytest.importorskip("make_pdf")
    titles = [("file:///a.html", "A"), ("file:///b.html", "B")]
    parts = [blank("file:///b.html#here"), blank("file:///lost.html")]
    front, numbers = blank("https://example.org/"), blank()
    writer = make_pdf.bind(front, parts, titles, numbers)
    assert len(writer.pages) == 3
    links = [page["/Annots"][0].get_object() for page in writer.pages]
    assert links[0]["/A"]["/URI"] == "https://example.org/"
    goal = links[1]["/Dest"][0].get_object()
    assert goal == writer.pages[2].get_object() and "/A" not in links[1]
    assert "/Dest" not in links[2] and "/A" not in links[2]
    assert [item.title for item in writer.outline] == ["A", "B"]


def test_live_scripts_stay_away_from_paper():
    """What the pages ask for in order to play is what the printing tab refuses."""
    make_pdf = pytest.importorskip("make_pdf")
    asked = ("live/core.js?v=6b", "live/widgets.js", "live-wasm.js?v=04a")
    for name in asked:
        address = f"file:///book/html/_static/{name}"
        assert any(fnmatch.fnmatch(address, form) for form in make_pdf.LIVE), name
    other = "file:///book/html/_static/mathjax/tex-mml-chtml.js"
    assert not any(fnmatch.fnmatch(other, form) for form in make_pdf.LIVE)


def test_contents_are_in_parts():
    make_pdf = pytest.importorskip("make_pdf")
    parts = make_pdf.opened_parts()
    opening = next(a for a in parts if a.endswith("01_problem.html"))
    assert parts[opening].startswith("Part I")
    titles = [(opening, "One & all"), ("file:///b.html", "Two")]
    rows = list(make_pdf.contents(titles, [5, 12], parts))
    assert len(rows) == 3 and 'class="part"' in rows[0] and "Part I" in rows[0]
    assert "One &amp; all" in rows[1] and ">5<" in rows[1] and ">12<" in rows[2]
