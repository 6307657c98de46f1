"""Print the built book into one PDF, and pack it for reading from a folder.

python tools/make_pdf.py          _build/wsbnb.pdf from _build/html, through a browser
python tools/make_pdf.py --zip    _build/wsbnb-html.zip, the pages as they are

Each page is printed by Chromium, with its folds open and still pictures for live ones.
A title page and a table of contents with page numbers come first; links between
chapters lead to pages of the PDF.
"""

import argparse
import contextlib
import html as markup
import io
import pathlib
import sys
import tempfile
import urllib.parse
import zipfile

import build_book
import yaml
from common import BUILD, HTML, ROOT

sys.path.insert(0, str(ROOT))
from tests.book.browser import FLAGS, find_browser  # the browser of the page tests

PDF = BUILD / "wsbnb.pdf"
ZIP = BUILD / "wsbnb-html.zip"
MARGINS = {"top": "18mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
FOOTER = (
    '<div style="font-size:8px;width:100%;text-align:center;color:#555">'
    '<span class="title"></span></div>'
)
OPEN_EVERYTHING = """async () => {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  document.documentElement.dataset.theme = 'light';
  for (const image of document.images) image.loading = 'eager';
  await Promise.all([...document.images].map(image => image.decode().catch(() => 0)));
}"""
LIVE = "**/_static/live*/**", "**/_static/live*.js*"  # their scripts, see printing_tab
TITLE = "Weighted sequential Bayesian bandits"
STYLE = (
    "body{font:15px/1.7 Georgia,serif;margin:0 4em} td{padding:0 1em .1em 0}"
    "a{color:inherit;text-decoration:none} .part{font-weight:bold;padding-top:.6em}"
)
SHEET = "position:relative;height:297mm;break-after:page;font:9px sans-serif;color:#555"
AT = "position:absolute;right:16mm;bottom:8.6mm"


def printing_tab(browser):
    """A tab in which live figures stay the still pictures that the library drew."""
    tab = browser.new_page()
    for scripts in LIVE:
        tab.route(scripts, lambda route: route.abort())
    return tab


def printed(tab, address):
    """One page of the book as PDF."""
    tab.goto(address, wait_until="load")
    tab.wait_for_function(
        "() => !window.MathJax || MathJax.startup.promise.then(() => true)"
    )
    tab.evaluate(OPEN_EVERYTHING)
    tab.emulate_media(media="print", color_scheme="light")
    return tab.pdf(
        format="A4", scale=0.8, print_background=True, margin=MARGINS,
        display_header_footer=True, header_template="<span></span>",
        footer_template=FOOTER,
    )  # fmt: skip


def contents(titles, starts, parts):
    """Rows of the table of contents: each page under the part that it opens."""
    for (address, title), start in zip(titles, starts, strict=True):
        if address in parts:
            yield f'<tr><td class="part">{markup.escape(parts[address])}</td></tr>'
        link = f'<a href="{markup.escape(address)}">{markup.escape(title)}</a>'
        yield f'<tr><td>{link}</td><td align="right">{start}</td></tr>'


def opened_parts():
    """The captions of the book's parts by the address of their first page."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    first = {
        part["caption"]: next(build_book.toc_entries(part["chapters"]))
        for part in toc["parts"]
    }
    return {
        (HTML / f"{entry}.html").as_uri(): caption for caption, entry in first.items()
    }


def front_matter(tab, titles, starts):
    """Title page and contents; `starts` are page numbers, or None on the first try."""
    rows = "".join(contents(titles, starts or [999] * len(titles), opened_parts()))
    tab.set_content(
        f"<style>{STYLE}</style><h1 style='margin-top:35vh;font-size:34px'>{TITLE}</h1>"
        "<p>A book that runs. Text CC BY 4.0, code MIT.</p>"
        "<h2 style='break-before:page'>Contents</h2>"
        f"<table width='100%'>{rows}</table>"
    )
    return tab.pdf(format="A4", margin=MARGINS)


def page_numbers(tab, count):
    """Empty pages with nothing but their numbers, to lay over the others."""
    sheets = "".join(
        f'<div style="{SHEET}"><span style="{AT}">{number}</span></div>'
        for number in range(1, count + 1)
    )
    tab.set_content(f"<style>@page{{margin:0}}body{{margin:0}}</style>{sheets}")
    return tab.pdf(format="A4")


def book_pages():
    """Address and title of every page, in reading order."""
    for source in build_book.pages():
        path = HTML / f"{build_book.entry_of(source)}.html"
        text = path.read_text(encoding="utf-8")
        title = text.partition("<title>")[2].partition("</title>")[0]
        title = markup.unescape(title).strip()
        for mark in (" \u2014 ", " &#8212; "):
            title = title.split(mark)[0]
        yield path.as_uri(), title


def lead_inside(writer, starts):
    """Turn links to files of the book into links to pages of the PDF."""
    from pypdf.generic import ArrayObject, NameObject

    for page in writer.pages:
        for reference in page.get("/Annots") or []:
            link = reference.get_object()
            address = str(link.get("/A", {}).get("/URI", ""))
            if not address.startswith("file:"):
                continue
            goal = starts.get(urllib.parse.urldefrag(address)[0])
            del link["/A"]  # a path of this machine helps nobody
            if goal is not None:
                place = [writer.pages[goal].indirect_reference, NameObject("/Fit")]
                link[NameObject("/Dest")] = ArrayObject(place)


def settle_links(reader):
    """Links inside a chapter by place: chapters share names such as "exercises"."""
    from pypdf.generic import ArrayObject, NameObject

    places = reader.named_destinations
    for page in reader.pages:
        for reference in page.get("/Annots") or []:
            link = reference.get_object()
            place = places.get(str(link.get("/Dest", "")))
            if place is not None:
                link[NameObject("/Dest")] = ArrayObject(place.dest_array)


def bind(front, parts, titles, numbers):
    """One document of front matter and pages, with outline and inner links."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter()
    writer.append(io.BytesIO(front), import_outline=False)
    starts = {}
    for (address, title), part in zip(titles, parts, strict=True):
        starts[address] = len(writer.pages)
        reader = PdfReader(io.BytesIO(part))
        settle_links(reader)
        writer.append(reader, import_outline=False)
        writer.add_outline_item(title, starts[address])
    lead_inside(writer, starts)
    for page, number in zip(writer.pages, PdfReader(io.BytesIO(numbers)).pages):
        page.merge_page(number)
        page.compress_content_streams()
    writer.add_metadata({"/Title": TITLE})
    writer.compress_identical_objects()
    return writer


def page_count(data):
    from pypdf import PdfReader

    return len(PdfReader(io.BytesIO(data)).pages)


def make_pdf(target=PDF):
    from playwright.sync_api import sync_playwright

    titles = list(book_pages())
    with sync_playwright() as playwright, contextlib.ExitStack() as stack:
        path = find_browser(playwright)
        if path is None:
            raise SystemExit("No browser: install chromium, or set WSBNB_BROWSER.")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        stack.callback(browser.close)
        tab = printing_tab(browser)
        parts = [printed(tab, address) for address, _ in titles]
        before = page_count(front_matter(tab, titles, None))
        starts, here = [], before + 1
        for part in parts:
            starts.append(here)
            here += page_count(part)
        front = front_matter(tab, titles, starts)
        numbers = page_numbers(tab, here - 1)
    with tempfile.NamedTemporaryFile(dir=BUILD, delete=False) as draft:
        bind(front, parts, titles, numbers).write(draft)
    pathlib.Path(draft.name).replace(target)
    print(f"{here - 1} pages, {target.stat().st_size / 1e6:.1f} MB: {target}")


def make_zip(target=ZIP):
    """The pages as one file, to unpack anywhere; hidden files stay behind."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(HTML.rglob("*")):
            inside = path.relative_to(HTML)
            if path.is_file() and not any(p.startswith(".") for p in inside.parts):
                archive.write(path, pathlib.Path("wsbnb-book") / inside)
    print(f"{target.stat().st_size / 1e6:.1f} MB: {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zip", action="store_true", help="pack the pages instead")
    arguments = parser.parse_args()
    if not (HTML / "index.html").is_file():
        raise SystemExit("There is no built book yet: run make book first.")
    make_zip() if arguments.zip else make_pdf()


if __name__ == "__main__":
    main()
