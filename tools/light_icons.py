"""A Sphinx extension that leaves out what no page uses, above all icons.

The theme ships every icon of Font Awesome, 1.5 MB for each first visit. After the build
the pages and scripts are searched for the icons they name, and the others go: their
outlines, their styles, and the font of the brands, which are drawn from outlines. The
search index stays with the search page, and MathJax, 1.2 MB, with pages that have
formulas.
"""

import pathlib
import re

# name:[width, height, [other names], "code", "outline"] of one icon, and its comma
ICON = re.compile(
    r'("[a-z0-9-]+"|[a-z][a-z0-9]*):\[\d+,\d+,\[([^\]]*)\],"[^"]*",'
    r'(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?'
)
STYLE = re.compile(r"(?:\.fa-[a-z0-9-]+:before,?)+\{content:\"[^\"]*\"\}")
BRANDS = re.compile(r"@font-face\{[^}]*fa-brands[^}]*\}")
INDEX = re.compile(r'\s*<script src="[./]*searchindex.js"></script>')
MATHJAX = re.compile(
    r"<script>window\.MathJax = [^\n]*</script>\s*"
    r'<script defer="defer" src="[^"]*mathjax/[^"]*"></script>\s*'
)
FORMULA = re.compile(r'class="math|text_latex|\\\(|\\\[')
NAMED = re.compile(r"\bfa-([a-z0-9-]+)")


def named_icons(texts):
    """Icons that some texts name by their classes (and a few words that are none)."""
    return {name for text in texts for name in NAMED.findall(text)}


def keep_icons(script, wanted):
    """The script with the outlines of the wanted icons only."""

    def choose(match):
        others = set(re.findall(r'"([^"]+)"', match[2]))
        names = {match[1].strip('"')} | others
        return match[0] if names & wanted else ""

    # An object may now end with a comma, which JavaScript allows.
    return ICON.sub(choose, script)


def keep_styles(sheet, wanted):
    """The style sheet without rules for other icons."""

    def choose(match):
        return match[0] if named_icons([match[0]]) & wanted else ""

    return BRANDS.sub("", STYLE.sub(choose, sheet))


def without_idle_mathjax(page):
    """The page without MathJax if it has no formula."""
    rest = MATHJAX.sub("", page)
    return page if FORMULA.search(rest) else rest


def lighten(app, exception):
    if exception or app.builder.format != "html":
        return
    out = pathlib.Path(app.outdir)
    static = out / "_static"
    script = static / "scripts" / "fontawesome.js"
    pages = list(out.rglob("*.html"))
    others = [path for path in static.rglob("*.js") if path != script]
    wanted = named_icons(p.read_text(encoding="utf-8") for p in [*pages, *others])
    rewrite(script, lambda text: keep_icons(text, wanted))
    for sheet in static.rglob("*.css"):
        rewrite(sheet, lambda text: keep_styles(text, wanted))
    for page in pages:
        if page.name != "search.html":
            rewrite(page, lambda text: INDEX.sub("", without_idle_mathjax(text)))
    for source in static.rglob("*.map"):
        source.unlink()  # for those who debug the theme


def rewrite(path, change):
    if path.is_file():
        before = path.read_text(encoding="utf-8")
        after = change(before)
        if after != before:
            path.write_text(after, encoding="utf-8")


def setup(app):
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
