"""A Sphinx extension that leaves out the icons no page shows.

The theme ships every icon of Font Awesome, 1.5 MB for each first visit. After the build
the pages and scripts are searched for the icons they name, and the others go.
"""

import pathlib
import re

# name:[width, height, [other names], "code", "outline"] of one icon, and its comma
ICON = re.compile(
    r'("[a-z0-9-]+"|[a-z][a-z0-9]*):\[\d+,\d+,\[([^\]]*)\],"[^"]*",'
    r'(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?'
)
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


def lighten(app, exception):
    if exception or app.builder.format != "html":
        return
    out = pathlib.Path(app.outdir)
    script = out / "_static" / "scripts" / "fontawesome.js"
    if not script.is_file():
        return
    pages = [*out.rglob("*.html"), *(out / "_static").rglob("*.js")]
    texts = (p.read_text(encoding="utf-8") for p in pages if p != script)
    icons = keep_icons(script.read_text(encoding="utf-8"), named_icons(texts))
    script.write_text(icons, encoding="utf-8")
    for source in (out / "_static").rglob("*.map"):
        source.unlink()  # for those who debug the theme


def setup(app):
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
