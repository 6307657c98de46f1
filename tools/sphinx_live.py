"""A Sphinx extension: pages with something to play with get the compiled kernels.

The module is compiled before the first page is written, in a process of its own, and
kept with the other caches until a kernel changes. A page is live if it has an element
of the class `wsbnb-live`; no other page carries any of it.
"""

import importlib.metadata
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from common import ROOT, SCRATCH, checksum, locked

SOURCES = ["tools/live", "wsbnb/kernels"]
SCRIPTS = ["live-wasm.js", "live/core.js", "live/parts.js", "live/widgets.js"]
#: A sign that an element of the page is live.
SIGN = 'class="wsbnb-live'


def compiled():
    """The folder with the script that carries the module; made if it is not there."""
    versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite")]
    key = checksum([ROOT / source for source in SOURCES])[:16]
    folder = SCRATCH / "-".join(["live", key, *versions])
    with locked(SCRATCH / "live.lock", "compiles the kernels for the page"):
        if not (folder / "live-wasm.js").is_file():
            compile_into(folder, versions)
    return folder


def compile_into(folder, versions):
    command = [sys.executable, str(ROOT / "tools/live/build.py"), str(folder)]
    if subprocess.run(command, cwd=ROOT).returncode:
        raise RuntimeError(
            "the kernels could not be compiled for the page, see above; they need "
            f"numba and llvmlite of requirements.txt, here are {versions}"
        )


def add_static_files(app, config):
    config.html_static_path.append(str(compiled()))


def add_scripts(app, page, template, context, tree):
    if SIGN not in context.get("body", ""):
        return
    app.add_css_file("live/live.css")
    arena = ["live/arena.js"] if 'data-live="arena"' in context["body"] else []
    for script in SCRIPTS + arena:
        app.add_js_file(script, loading_method="defer")


def setup(app):
    app.connect("config-inited", add_static_files)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
