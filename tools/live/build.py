"""Compile the kernels for the page: python tools/live/build.py FOLDER [STAMP].

Writes FOLDER/live-wasm.js, a script that holds the module as text, because a page that
is read from a folder may not fetch a file; its first line holds the stamp. The same
sources and versions give the same bytes.
"""

import base64
import gzip
import pathlib
import sys
import tempfile

import wasm

ROOT = pathlib.Path(__file__).resolve().parents[2]


def binary():
    """The module; Numba must not have been imported."""
    with tempfile.TemporaryDirectory() as scratch:
        wasm.compiled_alone(scratch)
        sys.path.insert(0, str(ROOT))
        import core

        from wsbnb.kernels.compiling import _OPTIONS

        options = {k: v for k, v in _OPTIONS.items() if k != "nogil"}
        return wasm.module(core.EXPORTS, options)


def main(folder, stamp=""):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    module = binary()
    text = base64.b64encode(gzip.compress(module, 9, mtime=0)).decode()
    script, unfinished = folder / "live-wasm.js", folder / "live-wasm.unfinished"
    lines = f'/* {stamp} */\nwindow.wsbnbModule = "{text}";\n'
    unfinished.write_text(lines, encoding="utf-8")
    unfinished.replace(script)  # it is there when all of it is
    print(f"live: {len(module)} bytes of WebAssembly, {len(text)} in {script}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
