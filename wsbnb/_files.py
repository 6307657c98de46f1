"""Files that are whole or not there."""

import contextlib
import hashlib
import os
import platform
import re
import stat
import time
import uuid
from pathlib import Path

from wsbnb import _validate
from wsbnb._types import Any, FilePath

#: Hidden files of writers elsewhere are left alone for this long, in seconds.
ABANDONED = 24 * 3600.0
_HIDDEN = re.compile(r"\..+\.(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{32}")

_NUMBER = re.compile("[0-9]{1,9}")
#: As many in a row as systems follow.
_MOST_LINKS = 40


def replace_file(path: FilePath, *data: Any) -> Path:
    """Put bytes at `path` so that a reader sees the old file or the new, never half.

    A link stays a link: the file it leads to is replaced, and keeps its permissions
    and its owner; if it may not be written, nothing is. A device or a pipe has no
    content to replace, so it is written to, as is what is open already: behind
    ``/dev/stdout`` there may be a file that a shell appends to.

    Parameters
    ----------
    path : path-like
    *data : bytes or buffers
        Written one behind the other.

    Returns
    -------
    pathlib.Path
        Where the bytes are: `path`, with links followed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = replace_file(pathlib.Path(folder) / "x", b"new")
    ...     (pathlib.Path(folder) / "x").read_bytes()
    b'new'
    """
    path = _validate.path("path", path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must lie in a folder that exists, got {path}")
    if path.is_dir():
        raise IsADirectoryError(f"path must name a file, got the folder {path}")
    try:
        number = _open_already(path)
        if number is not None or (path.exists() and not path.is_file()):
            with open(path if number is None else os.dup(number), "wb") as file:
                file.writelines(data)
            return path
        place = Path(os.path.realpath(path))
        _replace(place, data)
    except OSError as error:
        # Say where the file was to be, not the hidden name of its first half.
        raise type(error)(error.errno, error.strerror, str(path)) from error
    return place


def _open_already(path):
    """The number of an open file of this process that `path` names, or None."""
    for _ in range(_MOST_LINKS):  # perhaps by way of links
        folder = os.path.realpath(path.parent)
        if folder in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            return int(path.name) if _NUMBER.fullmatch(path.name) else None
        if not path.is_symlink():
            return None
        path = path.parent / os.readlink(path)
    return None


def _replace(place, data):
    before = _written_before(place)
    # Opened as any file is, so that the user's own mask decides who may read it.
    writer = f"{_host()}-{os.getpid()}-{uuid.uuid4().hex}"
    temporary = place.with_name(f".{place.name[:40]}.{writer}")  # names end at 255
    try:
        with temporary.open("xb") as file:
            if before is not None:
                _give(temporary, before)
            file.writelines(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):  # a folder that may not be written says so
            temporary.unlink()
        raise


def _written_before(place):
    """What is known of the file that is there, which must be one that we may write."""
    try:
        number = os.open(place, os.O_WRONLY)  # if we may not, the system says why
    except FileNotFoundError:
        return None
    try:
        return os.fstat(number)
    finally:
        os.close(number)


def _give(path, before):
    """Owner, group and permissions as they were, as far as we may."""
    for owner in ((-1, before.st_gid), (before.st_uid, -1)):
        with contextlib.suppress(AttributeError, OSError):  # not on every system
            os.chown(path, *owner)
    path.chmod(stat.S_IMODE(before.st_mode))


def sweep(folder: FilePath) -> list[str]:
    """Remove the hidden files of writers that were killed; return their names.

    A file goes if its writer ran on this computer and runs no more, or if it is a day
    old.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep(folder)
    []
    """
    swept = []
    for path in sorted(Path(folder).glob(".*")):
        name = _HIDDEN.fullmatch(path.name)
        if name and _is_abandoned(path, name["host"], int(name["process"])):
            with contextlib.suppress(OSError):  # somebody else's, or gone already
                path.unlink()
                swept.append(path.name)
    return swept


def _is_abandoned(path, host, process):
    if host == _host() and not _runs(process):
        return True
    try:
        return time.time() - path.stat().st_mtime > ABANDONED
    except OSError:  # somebody was quicker, or it may not be looked at
        return False


def _host():
    """Where the number of a process means that process: a computer, or a container."""
    numbering = ""
    with contextlib.suppress(OSError):  # containers may share the name of their host
        numbering = os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(f"{platform.node()}{numbering}".encode()).hexdigest()[:8]


def _runs(process):
    if os.name != "posix":  # a signal would end it there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
