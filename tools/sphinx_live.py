"""A Sphinx extension: pages with something to play with get the compiled kernels.

The compiled module is kept in the repository (30 kB), with a stamp of the sources that
it was made of. Where the stamp is not that of the sources, because a kernel or the
compiler has changed, the module is compiled before the first page is written, in a
process of its own, and kept with the other caches. `python tools/sphinx_live.py` writes
the one in the repository anew. A page is live if it has an element of the class
`wsbnb-live`; no other page carries any of it.
"""

import base64
import gzip
import html
import importlib.metadata
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from common import ROOT, SCRATCH, checksum, locked

SOURCES = ["tools/live/build.py", "tools/live/core.py", "tools/live/wasm.py"]
IMPORT = re.compile(r"^from wsbnb\.kernels(?:\.(\w+))? import (.+)$", re.M)
KEPT = ROOT / "tools" / "live" / "kept"
CARRIER = "live-wasm.js"
SCRIPTS = [CARRIER, "live/core.js", "live/parts.js", "live/widgets.js"]
#: A sign that an element of the page is live.
SIGN = 'class="wsbnb-live'
#: A live element that has no more than a sentence inside, and its data attributes.
ELEMENT = re.compile(
    r'(?P<opening><div class="wsbnb-live"(?P<words>[^>]*)>)(?P<rest>\s*<p>[^<]*</p>)'
)
WORDS = re.compile(r'data-([a-z-]+)="([^"]*)"')


def kernels():
    """The files of the kernels that our sources use, and those that these use."""
    found, left = set(), list(SOURCES)
    while left:
        text = (ROOT / left.pop()).read_text(encoding="utf-8")
        for module, names in IMPORT.findall(text):
            used = [module] if module else names.split(", ")
            new = {f"wsbnb/kernels/{name}.py" for name in used} - found
            found |= new
            left += new
    return sorted(found)


def stamp():
    """What the module depends on: the sources' fingerprint, and the compiler."""
    versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite")]
    sources = [ROOT / source for source in [*SOURCES, *kernels()]]
    return "-".join([checksum(sources)[:16], *versions])


def is_made_of(folder, wanted):
    carrier = folder / CARRIER
    return carrier.is_file() and carrier.read_text().startswith(f"/* {wanted} */")


def compiled():
    """The folder with the script that carries the module; made if it is not there."""
    wanted = stamp()
    if is_made_of(KEPT, wanted):
        return KEPT
    folder = SCRATCH / f"live-{wanted}"
    with locked(SCRATCH / "live.lock", "compiles the kernels for the page"):
        if not is_made_of(folder, wanted):
            compile_into(folder, wanted)
    return folder


def compile_into(folder, wanted):
    script = str(ROOT / "tools/live/build.py")
    command = [sys.executable, script, str(folder), wanted]
    print("live: the kernels are compiled for the page, about 20 seconds", flush=True)
    if subprocess.run(command, cwd=ROOT).returncode:
        raise RuntimeError(
            "the kernels could not be compiled for the page, see above; they need "
            f"numba and llvmlite of requirements.txt, here is {wanted}"
        )


def module_in(folder):
    """The bytes of the module that a folder's script carries."""
    text = (folder / CARRIER).read_text().split('"')[1]
    return gzip.decompress(base64.b64decode(text))


def weight():
    """Bytes that the live parts of a page can have at most."""
    own = (ROOT / "book" / "_assets" / "live").iterdir()
    return sum(f.stat().st_size for f in [*own, compiled() / CARRIER])


def add_static_files(app, config):
    config.html_static_path.append(str(compiled()))


def with_stills(body):
    """Each live element with the still picture that stays where nothing is live."""

    def fill(found):
        words = dict(WORDS.findall(found["words"]))
        words = {name: html.unescape(value) for name, value in words.items()}
        from live_stills import still  # the library: only where a page needs it

        picture = still(words.pop("live"), words) or ""
        return f"{found['opening']}{picture}{found['rest']}"

    return ELEMENT.sub(fill, body)


def add_scripts(app, page, template, context, tree):
    if SIGN not in context.get("body", ""):
        return
    context["body"] = with_stills(context["body"])
    app.add_css_file("live/live.css")
    arena = ["live/arena.js"] if 'data-live="arena"' in context["body"] else []
    for script in SCRIPTS + arena:
        app.add_js_file(script, loading_method="defer")


def setup(app):
    app.connect("config-inited", add_static_files)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    compile_into(KEPT, stamp())
