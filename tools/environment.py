"""Check the Python that runs this, then make or repair .venv (see install.py).

Run by any Python through `make`. Even version 2 can read this file, and gets the
message below instead of a syntax error.
"""

import os
import subprocess
import sys

OLDEST = (3, 11)
NEWER_NAMES = ["python3.11", "python3.12", "python3.13"]


def is_new_enough(name):
    code = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
    try:
        with open(os.devnull, "w") as nothing:
            return subprocess.call([name, "-c", code], stderr=nothing) == 0
    except OSError:
        return False


def require_new_enough_python():
    """Hand over to a newer Python if there is one, otherwise say what is missing."""
    if sys.version_info >= OLDEST:
        return
    for name in NEWER_NAMES:
        if is_new_enough(name):
            os.execvp(name, [name] + sys.argv)
    sys.exit(
        "wsbnb needs Python 3.11 or newer; %s is version %s.\n"
        "Install a newer one and name it:  make book PYTHON=/path/to/python3.11"
        % (sys.executable, ".".join(str(part) for part in sys.version_info[:3]))
    )


if __name__ == "__main__":
    require_new_enough_python()
    import install

    install.main()
