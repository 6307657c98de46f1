"""Save a policy to a plain JSON file and load it again; nothing in it is executed."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

FORMAT = "wsbnb-policy"
VERSION = 1

_REGISTRY = {}
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def register(cls):
    """Class decorator: files may name this class."""
    _REGISTRY[cls.__name__] = cls
    return cls


def save(policy, path):
    """Write `policy` to `path` in one step."""
    if type(policy).__name__ not in _REGISTRY:
        raise TypeError(
            f"policy must be one of {sorted(_REGISTRY)}, got {type(policy).__name__}; "
            "decorate your class with wsbnb.register to save it"
        )
    content = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(policy).__name__,
        "params": policy.get_params(),
        "state": policy._get_state(),
        "rng": policy._rng.bit_generator.state,
        "rng_start": policy._rng_start,
    }
    text = json.dumps(content, default=_plain, indent=1, allow_nan=False)
    write_atomically(path, text)


def write_atomically(path, text):
    """Replace the file at `path` by `text`, or leave it as it was."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    raise TypeError(f"cannot be written as plain data: {value!r}")


def load(path):
    """Read a policy written by `save`; it continues bit for bit.

    The file is plain data. Only classes that this program has registered can be built,
    and their settings pass the same checks as in the constructor.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Policy

    Raises
    ------
    ValueError
        If the file is not a whole policy file of a version that can be read.

    Examples
    --------
    >>> import os, tempfile, numpy as np, wsbnb
    >>> policy = wsbnb.WSBLinTS(np.zeros(2), np.eye(2), 0.5, 0.99, rng=0)
    >>> policy.update([1.0, 0.0], 0.3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy.save(os.path.join(folder, "policy.json"))
    ...     again = wsbnb.load(os.path.join(folder, "policy.json"))
    >>> X = np.eye(2)
    >>> [policy.pull(X) for _ in range(9)] == [again.pull(X) for _ in range(9)]
    True
    """
    content = _read(path)
    cls = _REGISTRY.get(content["class"])
    if cls is None:
        raise ValueError(
            f"{path} holds a policy of class {content['class']!r}, which is not one of "
            f"{sorted(_REGISTRY)}"
        )
    try:
        policy = cls(**content["params"])
        policy._rng = _generator(content["rng"])
        _generator(content["rng_start"])
        policy._rng_start = _numpy_state(content["rng_start"])
        policy._set_state(content["state"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a whole policy file: {error}") from error
    return policy


def _read(path):
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a whole JSON file: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not a {FORMAT} file")
    if content.get("version") != VERSION:
        raise ValueError(
            f"{path} has format version {content.get('version')!r}; "
            f"this wsbnb reads version {VERSION}"
        )
    missing = {"class", "params", "state", "rng", "rng_start"} - set(content)
    if missing:
        raise ValueError(f"{path} lacks {sorted(missing)}")
    return content


def _numpy_state(state):
    inner = dict(state)
    inner["state"] = {
        key: np.array(value, dtype=np.uint64) if isinstance(value, list) else value
        for key, value in state["state"].items()
    }
    if isinstance(inner.get("buffer"), list):
        inner["buffer"] = np.array(inner["buffer"], dtype=np.uint64)
    return inner


def _generator(state):
    name = state.get("bit_generator")
    if name not in _GENERATORS:
        raise ValueError(f"bit generator {name!r} is not one of {_GENERATORS}")
    bits = getattr(np.random, name)()
    bits.state = _numpy_state(state)
    return np.random.Generator(bits)
