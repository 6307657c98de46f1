"""Make or repair .venv from the locked requirements.txt; quick when nothing changed."""

import os
import shutil
import subprocess
import sys

from common import ROOT, SCRATCH, checksum, locked
from environment import is_new_enough

VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
REQUIREMENTS = ROOT / "requirements.txt"
READY = VENV / ".wsbnb-ready"  # written last: everything in it is complete
BUSY = VENV / ".wsbnb-installing"  # exists only while pip is at work


def fingerprint():
    """What the environment depends on: the lock, the package's metadata, the place.

    The place counts because a virtual environment stops working when it is moved.
    """
    return f"{checksum([REQUIREMENTS, ROOT / 'pyproject.toml'])} {VENV}\n"


def is_ready():
    return (
        READY.is_file()
        and not BUSY.exists()
        and READY.read_text(encoding="utf-8") == fingerprint()
        and python_answers()
    )


def python_answers():
    """Whether the environment's interpreter starts and is new enough."""
    return PYTHON.exists() and is_new_enough(str(PYTHON))


def why_start_again():
    """A reason not to trust what is in .venv, or None."""
    if not VENV.exists():
        return None
    if BUSY.exists():
        return "an earlier installation was interrupted"
    if not python_answers():
        return "its Python does not start any more, or is older than 3.11"
    if READY.is_file():
        place = READY.read_text(encoding="utf-8").partition(" ")[2].strip()
        if place != str(VENV):
            return "the folder was moved"
    return None


def create():
    """Make an empty environment, replacing an untrustworthy one."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        raise SystemExit(
            f"{sys.executable} cannot make virtual environments: its venv module is "
            "missing.\nOn Debian or Ubuntu:  apt-get install python3-venv\n"
            "Or name another Python:  make book PYTHON=/path/to/python3.11"
        ) from None
    if VENV.exists():
        shutil.rmtree(VENV)
    print(f"Creating {VENV.relative_to(ROOT)} with {sys.executable}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)


def pip(*arguments):
    command = [str(PYTHON), "-m", "pip", "install", "-qq", *arguments]
    environment = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1")
    subprocess.run(command, check=True, cwd=ROOT, env=environment)


def install():
    """Install the locked packages and wsbnb itself, in place."""
    BUSY.touch()
    READY.unlink(missing_ok=True)
    print("Installing the packages of requirements.txt (a few minutes)", flush=True)
    pip("--requirement", str(REQUIREMENTS))
    pip("--no-deps", "--no-build-isolation", "--editable", ".")
    READY.write_text(fingerprint(), encoding="utf-8")
    BUSY.unlink()


def main():
    if is_ready():
        return
    with locked(SCRATCH / "environment.lock", "is preparing .venv"):
        if is_ready():
            return
        reason = why_start_again()
        if reason:
            print(f"Starting .venv afresh: {reason}.", flush=True)
        if reason or not VENV.exists():
            create()
        try:
            install()
        except KeyboardInterrupt:
            raise SystemExit(
                "\nInterrupted. Run make again: it starts afresh."
            ) from None
        except subprocess.CalledProcessError as error:
            raise SystemExit(
                f"pip failed (exit status {error.returncode}), see above. When the "
                "cause is mended, run make again: it starts afresh."
            ) from None
