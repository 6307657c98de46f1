"""Files that are whole or not there."""

import os
import uuid
from pathlib import Path

from wsbnb._types import Any, FilePath


def replace_file(path: FilePath, *data: Any) -> None:
    """Put bytes at `path` so that a reader sees the old file or the new, never half.

    Parameters
    ----------
    path : path-like
    *data : bytes or buffers
        Written one behind the other.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(pathlib.Path(folder) / "x", b"new")
    ...     (pathlib.Path(folder) / "x").read_bytes()
    b'new'
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must lie in a folder that exists, got {path}")
    if path.is_dir():
        raise IsADirectoryError(f"path must name a file, got the folder {path}")
    # Opened as any file is, so that the user's own mask decides who may read it.
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            for part in data:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
