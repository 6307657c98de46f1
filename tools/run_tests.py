"""Run all tests: the notebooks, then the core, then the pages of the built book.

While the core is tested the book is built strictly, unless it is up to date already;
the build takes the notebooks that the first part has just executed. All parts run even
if an earlier one fails. The last line sums up.
"""

import contextlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

import build_book
from common import BUILD, JUPYTER_CACHE, ROOT, cores, run_environment

# What needs the built book.
BUILT = ("test_pages.py", "test_plain_notebooks.py", "test_reading.py", "test_live.py")
PAGES = [ROOT / "tests" / "book" / name for name in BUILT]


def pytest(name, share, workers, *arguments):
    """Run pytest with some workers; return its exit status and its report.

    `share` says how tests are shared out: by file, so that what one of them compiles
    the others of the file find, or one by one.
    """
    report = BUILD / f"tests-{name}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-ra", "--durations=8"]
    command += ["-n", str(workers), f"--dist={share}", f"--junitxml={report}"]
    command += ["-o", "junit_family=xunit2", *map(str, arguments)]
    status = subprocess.run(command, cwd=ROOT, env=run_environment()).returncode
    return status, report


def counts(report):
    """Numbers of tests in a report: passed, failed, errors, skipped."""
    if not report.is_file():
        return {"errors": 1}
    suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    failed, errors, skipped = (
        int(suite.get(key)) for key in ("failures", "errors", "skipped")
    )
    passed = int(suite.get("tests")) - failed - errors - skipped
    return {"failed": failed, "passed": passed, "skipped": skipped, "errors": errors}


def total(reports):
    summed = {"failed": 0, "passed": 0, "skipped": 0, "errors": 0}
    for report in reports:
        for key, number in counts(report).items():
            summed[key] += number
    return summed


def in_words(numbers):
    parts = [f"{number} {key}" for key, number in numbers.items() if number]
    return ", ".join(parts) or "no tests ran"


@contextlib.contextmanager
def book_being_built():
    """Build the book while the block runs; its words come out only if it fails."""
    log = BUILD / "build.log"
    command = [sys.executable, str(ROOT / "tools" / "build_book.py"), "refresh"]
    with log.open("w") as words:
        build = subprocess.Popen(command, cwd=ROOT, stdout=words, stderr=words)
        try:
            yield build
        finally:
            build.wait()
    if build.returncode:
        print(log.read_text())


def notebook_options():
    """How nbmake runs the chapters; what it ran is kept unless a book is there."""
    options = ["--nbmake", f"--nbmake-timeout={build_book.SECONDS_PER_CELL}"]
    options += ["-p", "tools.nbmake_anywhere"]
    if build_book.is_current():
        return options
    shutil.rmtree(JUPYTER_CACHE, ignore_errors=True)
    return [*options, "-p", "tools.nbmake_cache"]


def main():
    start = time.monotonic()
    BUILD.mkdir(exist_ok=True)
    chapters = [*notebook_options(), *build_book.notebooks()]
    plain = ["-p", "no:nbmake"]  # every worker takes seconds to import it
    core = [*plain, *(f"--ignore={path}" for path in PAGES)]
    core += [ROOT / "tests", ROOT / "wsbnb"]
    core += ["--no-loadscope-reorder"]  # tests/conftest.py starts the slow files first
    results = {"notebooks": pytest("notebooks", "worksteal", cores(), *chapters)}
    with book_being_built() as build:
        results["core"] = pytest("core", "loadfile", cores(), *core)
    # Pages wait a lot: one worker more than there are cores.
    results["pages"] = pytest("pages", "worksteal", cores() + 1, *plain, *PAGES)
    print(f"\nstrict build: {'FAILED' if build.returncode else 'ok'}")
    for name, (_, report) in results.items():
        print(f"{name + ':':13} {in_words(counts(report))}")
    summary = in_words(total(report for _, report in results.values()))
    print(f"===== {summary} in {time.monotonic() - start:.2f}s =====", flush=True)
    failed = any(status for status, _ in results.values())
    sys.exit(1 if failed or build.returncode else 0)


if __name__ == "__main__":
    main()
