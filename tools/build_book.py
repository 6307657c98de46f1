"""Execute the notebooks and build the book: pages, and plain notebooks beside them.

python tools/build_book.py build               everything, strictly, from a clean start
python tools/build_book.py refresh             the same unless the book is up to date;
                                         takes executed notebooks from the cache
python tools/build_book.py chapter PATH        one page, quickly and leniently
python tools/build_book.py notebooks           list the notebooks of _toc.yml
python tools/build_book.py serve               show the built book on localhost
"""

import argparse
import concurrent.futures
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import time

import yaml
from common import (
    BUILD,
    HTML,
    JUPYTER_CACHE,
    NOTEBOOKS,
    ROOT,
    SCRATCH,
    checksum,
    cores,
    locked,
    run_environment,
)

SECONDS_PER_CELL = 600
SOURCES = [
    "book",
    "wsbnb",
    "tools/live",
    "tools/sphinx_live.py",
    "_config.yml",
    "_toc.yml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "requirements.txt",  # the plain notebooks carry it for Binder
    *sorted(f"tools/{path.name}" for path in ROOT.glob("tools/plain_*.py")),
    "tools/cited_in.py",
    "tools/concordance.py",
    "tools/fold_names.py",
    "tools/hovers.py",
    "tools/light_icons.py",
    "tools/link_previews.py",
    "tools/search_words.py",
    "tools/sphinx_mends.py",
    "tools/statements.py",
    "tools/table_numbers.py",
]
START_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
BUILT_FROM = HTML / ".built-from"


def toc_entries(node):
    """Every file named in a (part of a) table of contents, in reading order."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("root", "file"):
                yield value
            else:
                yield from toc_entries(value)
    elif isinstance(node, list):
        for item in node:
            yield from toc_entries(item)


def pages():
    """The source files of the book's pages, in reading order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [source_of(entry) for entry in toc_entries(toc)]


def source_of(entry):
    for suffix in ("", ".ipynb", ".md"):
        path = ROOT / (entry + suffix)
        if path.is_file():
            return path
    raise SystemExit(f"_toc.yml names {entry}, but there is no such .ipynb or .md file")


def notebooks():
    return [path for path in pages() if path.suffix == ".ipynb"]


def fingerprint():
    return checksum(ROOT / source for source in SOURCES)


def is_current():
    """Whether the built book belongs to the present sources."""
    if not (BUILT_FROM.is_file() and NOTEBOOKS.is_dir()):
        return False
    return BUILT_FROM.read_text() == fingerprint()


def execute_notebook(path):
    """Run one notebook in its folder and store it where the build looks for it."""
    import nbformat
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn
    from jupyter_cache.executors.utils import single_nb_execution

    notebook = nbformat.read(path, as_version=4)
    result = single_nb_execution(
        notebook, cwd=str(path.parent), timeout=SECONDS_PER_CELL, allow_errors=False
    )
    if result.err is None:
        bundle = CacheBundleIn(
            notebook, str(path), data={"execution_seconds": result.time}
        )
        get_cache(JUPYTER_CACHE).cache_notebook_bundle(
            bundle, check_validity=False, overwrite=True
        )
    return result.time, result.exc_string


def uncached(paths):
    """The notebooks whose code is not in the execution cache."""
    import nbformat
    from jupyter_cache import get_cache

    cache = get_cache(JUPYTER_CACHE)
    for path in paths:
        try:
            cache.match_cache_notebook(nbformat.read(path, as_version=4))
        except KeyError:
            yield path


def send_kernel_messages_to_a_file():
    """Kernels talk on the terminal, each its own lines; keep them for the curious."""
    with (BUILD / "kernels.log").open("a") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())


def execute_all(paths):
    """Run notebooks side by side; stop with their errors if any fails."""
    from jupyter_cache import get_cache

    JUPYTER_CACHE.mkdir(parents=True, exist_ok=True)
    get_cache(JUPYTER_CACHE).list_cache_records()  # make the database before the race
    paths = list(uncached(paths))
    if not paths:
        return
    print(f"Executing {len(paths)} notebooks, {cores()} at a time", flush=True)
    failures = {}
    with concurrent.futures.ProcessPoolExecutor(
        cores(), initializer=send_kernel_messages_to_a_file
    ) as pool:
        jobs = {pool.submit(execute_notebook, path): path for path in paths}
        for job in concurrent.futures.as_completed(jobs):
            path = jobs[job].relative_to(ROOT)
            seconds, error = job.result()
            print(
                f"  {'FAILED' if error else 'ok':6} {seconds:6.1f} s  {path}",
                flush=True,
            )
            if error:
                failures[path] = error
    for path, error in failures.items():
        print(f"\n{path}\n{error}", file=sys.stderr)
    if failures:
        raise SystemExit(
            f"{len(failures)} of {len(paths)} notebooks failed, see above."
        )


def sphinx(*options):
    """Call Jupyter Book in the project's folder; return its exit status."""
    command = [sys.executable, "-c", START_JUPYTER_BOOK, "build", str(ROOT), *options]
    return subprocess.run(command, cwd=ROOT, env=run_environment()).returncode


def build_strictly():
    """Every page anew; any warning or dangling reference is an error."""
    for folder in (HTML, NOTEBOOKS, BUILD / ".doctrees", BUILD / "jupyter_execute"):
        shutil.rmtree(folder, ignore_errors=True)
    built_from = fingerprint()
    execute_all(notebooks())
    if sphinx("--all", "-W", "-n", "--keep-going"):
        raise SystemExit("The book does not build without warnings, see above.")
    BUILT_FROM.write_text(built_from)


def build(arguments):
    start = time.monotonic()
    with locked(SCRATCH / "book.lock", "is building the book"):
        shutil.rmtree(BUILD, ignore_errors=True)
        build_strictly()
    print(f"\nBuilt in {time.monotonic() - start:.0f} s. Open the book in a browser:")
    print(f"  {(HTML / 'index.html').as_uri()}\nor type: make serve")
    print("To execute the chapters type: make lab")


def refresh(arguments):
    with locked(SCRATCH / "book.lock", "is building the book"):
        if is_current():
            print("The built book is up to date.")
        else:
            build_strictly()


def chapter(arguments):
    """One page beside the front page; links to other chapters stay open."""
    page = pathlib.Path(arguments.path).resolve()
    if not page.is_file() or not page.is_relative_to(ROOT / "book"):
        raise SystemExit(f"CHAPTER must be a file in book/, got {arguments.path!r}")
    front, *_ = pages()
    toc = {"format": "jb-book", "root": entry_of(front)}
    if page != front:
        toc["chapters"] = [{"file": entry_of(page)}]
    output = BUILD / "chapter"
    output.mkdir(parents=True, exist_ok=True)
    toc_file = output / "_toc.yml"
    toc_file.write_text(yaml.safe_dump(toc), encoding="utf-8")
    status = sphinx("--toc", str(toc_file), "--path-output", str(output), "--all")
    if status == 0:
        html = output / "_build/html" / f"{entry_of(page)}.html"
        print(f"\nOpen the page in a browser:\n  {html.as_uri()}")
    raise SystemExit(status)


def entry_of(page):
    return page.relative_to(ROOT).with_suffix("").as_posix()


def serve(arguments):
    if not (HTML / "index.html").is_file():
        raise SystemExit("There is no built book yet: run make book first.")
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(HTML)
    )
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", arguments.port), handler
    ) as site:
        print(f"The book is at http://127.0.0.1:{site.server_port}/ (Ctrl-C ends)")
        try:
            site.serve_forever()
        except KeyboardInterrupt:
            print()


def list_notebooks(arguments):
    for path in notebooks():
        print(path.relative_to(ROOT))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("build").set_defaults(do=build)
    commands.add_parser("refresh").set_defaults(do=refresh)
    one = commands.add_parser("chapter")
    one.add_argument("path")
    one.set_defaults(do=chapter)
    commands.add_parser("notebooks").set_defaults(do=list_notebooks)
    site = commands.add_parser("serve")
    site.add_argument("--port", type=int, default=8000)
    site.set_defaults(do=serve)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    os.environ.update(run_environment())
    arguments.do(arguments)


if __name__ == "__main__":
    main()
