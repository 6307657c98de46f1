"""What the tools share: where things are, how many cores, who may write at a time."""

import contextlib
import hashlib
import os
import pathlib
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "_build"
HTML = BUILD / "html"
NOTEBOOKS = BUILD / "notebooks"
JUPYTER_CACHE = BUILD / ".jupyter_cache"
SCRATCH = ROOT / ".wsbnb_cache"


def checksum(paths):
    """One fingerprint for the names and contents of some files and folders."""
    digest = hashlib.sha256()
    for path in sorted(files_below(paths)):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def files_below(paths):
    """All files in the given files and folders, without what Python leaves behind."""
    for path in map(pathlib.Path, paths):
        if path.is_file():
            yield path
        elif path.is_dir():
            for child in path.rglob("*"):
                hidden = {"__pycache__", ".ipynb_checkpoints", ".wsbnb_cache"}
                if child.is_file() and not hidden.intersection(child.parts):
                    yield child


def cores():
    """Processes to run side by side: JOBS if set, else the cores we may use."""
    wanted = os.environ.get("JOBS", "").strip()
    if wanted:
        if not wanted.isdigit() or int(wanted) < 1:
            raise SystemExit(f"JOBS must be a whole number from 1 on, got {wanted!r}")
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_environment():
    """Environment variables for everything that executes notebooks or tests.

    Compiled kernels are shared through one cache folder whose name depends on the
    sources: Numba itself does not notice that a function called from another file
    has changed. Each process gets one BLAS thread, since processes fill the cores.
    """
    key = checksum([ROOT / "wsbnb"])[:16]
    environment = dict(os.environ)
    environment.setdefault("NUMBA_CACHE_DIR", str(SCRATCH / f"numba-{key}"))
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.setdefault(name, "1")
    environment.setdefault("WSBNB_QUIET", "1")  # pages show no word of the compiler
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    )
    environment.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    environment.pop("MPLBACKEND", None)  # notebooks would lose their pictures
    return environment


@contextlib.contextmanager
def locked(path, what):
    """Hold a lock file; a second process waits. The system frees it at a crash."""
    try:
        import fcntl
    except ImportError:  # not on this system: go on without
        yield
        return
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        told = False
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if not told:
                    print(f"Another process {what}; waiting for it.", flush=True)
                told = True
                time.sleep(0.5)
        yield
