"""Where the links of built pages lead, read from the files without a browser."""

import functools
import pathlib
from urllib.parse import unquote, urlsplit

import lxml.html
from bs4 import BeautifulSoup

FAILED = ".system-message, .problematic, .output.traceback"
TRACES = ("system-message", "problematic", "traceback", "stderr", "xref myst")


@functools.cache
def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "lxml")


def found(path, what):
    """What an XPath finds on a page: ten times as quick as the soup."""
    return lxml.html.parse(str(path)).xpath(what)


@functools.cache
def anchors(path):
    """The names a link to this page may end in."""
    return set(found(path, "//@id | //a/@name"))


def dead_links(path):
    """Links and embedded files of a page that do not exist in the book."""
    for address in found(path, "//a/@href | //link/@href | //script/@src | //img/@src"):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target = target / "index.html"
        if not target.is_file():
            yield f"{address}: no such file"
        elif parts.fragment and target.suffix == ".html":
            # the theme writes "#" and "#top" for its own scripts
            if unquote(parts.fragment) not in anchors(target) | {"top"}:
                yield f"{address}: no such place on the page"


def remote_parts(path):
    """Scripts, styles, pictures and frames that a page would fetch from elsewhere."""
    kept = "@rel='stylesheet' or @rel='icon' or @rel='preload'"
    parts = f"//script/@src | //img/@src | //iframe/@src | //link[{kept}]/@href"
    for address in found(path, parts):
        if urlsplit(address).netloc:
            yield f"loads {address}"


def failed_markup(path):
    """Traces of roles, citations or outputs that went wrong."""
    text = path.read_text(encoding="utf-8")
    if not any(trace in text for trace in TRACES):
        return
    for tag in soup(path).select(FAILED):
        yield f"{tag.get('class')}: {tag.get_text()[:80]}"
    for tag in soup(path).select(".output.stderr"):
        yield f"a notebook warned: {tag.get_text()[:120]}"
    for tag in soup(path).select("span.xref.myst"):
        if tag.find_parent("a") is None:
            yield f"unresolved reference: {tag.get_text()[:80]}"


def html_of(entry, html):
    return (
        pathlib.Path(html) / f"{entry.removesuffix('.md').removesuffix('.ipynb')}.html"
    )
