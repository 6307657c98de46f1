"""Run all tests: the core and the notebooks, then the pages of the built book.

Between the two the book is built strictly, unless it is up to date already; the
build takes the notebooks that the first part has just executed. All parts run even
if an earlier one fails. The last line sums up.
"""

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


def pytest(name, *arguments):
    """Run pytest on all cores; return its exit status and its report."""
    report = BUILD / f"tests-{name}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-ra", "--durations=8"]
    command += ["-n", str(cores()), "--dist=worksteal", f"--junitxml={report}"]
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


def main():
    start = time.monotonic()
    BUILD.mkdir(exist_ok=True)
    current = build_book.is_current()
    options = ["--nbmake", f"--nbmake-timeout={build_book.SECONDS_PER_CELL}"]
    if not current:
        shutil.rmtree(JUPYTER_CACHE, ignore_errors=True)
        options += ["-p", "tools.nbmake_cache"]
    paths = [*build_book.notebooks(), ROOT / "tests", ROOT / "wsbnb"]
    options += [f"--ignore={path}" for path in PAGES]
    core_status, core_report = pytest("core", *options, *paths)
    build_status = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build_book.py"), "refresh"], cwd=ROOT
    ).returncode
    pages_status, pages_report = pytest("pages", *PAGES)
    print(f"\ncore and notebooks: {in_words(counts(core_report))}")
    print(f"strict build:       {'FAILED' if build_status else 'ok'}")
    print(f"pages:              {in_words(counts(pages_report))}")
    summary = in_words(total([core_report, pages_report]))
    print(f"===== {summary} in {time.monotonic() - start:.2f}s =====", flush=True)
    sys.exit(1 if core_status or build_status or pages_status else 0)


if __name__ == "__main__":
    main()
