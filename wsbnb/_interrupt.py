"""Ctrl-C while the command `wsbnb` is still being imported ends it without a word.

The command cannot catch it: Python imports the package before the first line of
`__main__` runs. In any other program nothing is changed here.
"""

import os
import sys
from types import TracebackType


def _is_our_command() -> bool:
    words = sys.orig_argv
    if sys.argv[:1] == ["-m"]:  # so it is while `python -m wsbnb` looks for its module
        return "-m" in words and words[words.index("-m") + 1 :][:1] == ["wsbnb"]
    script = os.path.basename(sys.argv[0]) if sys.argv else ""
    return script.removesuffix(".exe") == "wsbnb"


def _quiet(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, where)


if _is_our_command():
    sys.excepthook = _quiet
