"""Save a policy to a plain JSON file and load it again; nothing in it is executed."""

import json
from pathlib import Path

import numpy as np

from wsbnb import _validate
from wsbnb._files import replace_file
from wsbnb._types import Any, FilePath, Registered, Seed

FORMAT = "wsbnb-policy"
VERSION = 1

_REGISTRY: dict[str, Any] = {}
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
# NumPy takes these positions as they are and reads beyond its arrays if they lie.
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1}
# Setting and the part of the state whose length it is.
_LENGTHS = {"dim": "h", "length": "ring_w"}
# What reading a damaged or hostile file may raise.
_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def register(cls: Registered) -> Registered:
    """Class decorator: files may name this class.

    Parameters
    ----------
    cls : type
        A subclass of `Policy` with `_get_state` and `_set_state`. Its name must be
        free; a class may be defined again, as happens in a notebook.

    Returns
    -------
    type

    Examples
    --------
    >>> import wsbnb
    >>> @wsbnb.register
    ... class CautiousTS(wsbnb.WSBLinTS):
    ...     name = "Cautious TS"
    """
    known = _REGISTRY.get(cls.__name__, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(
            f"cls must have a name of its own, got {cls.__name__!r}, which stands for "
            f"{known.__module__}.{known.__qualname__}"
        )
    _REGISTRY[cls.__name__] = cls
    return cls


def save(policy: Any, path: FilePath) -> None:
    """Write `policy` to `path` in one step."""
    if _REGISTRY.get(type(policy).__name__) is not type(policy):
        raise TypeError(
            f"policy must be one of {sorted(_REGISTRY)}, got {type(policy).__name__}; "
            "decorate your class with wsbnb.register to save it"
        )
    _validate.choice(
        "rng", policy._rng.bit_generator.state["bit_generator"], _GENERATORS
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
    replace_file(path, text.encode())


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    raise TypeError(f"cannot be written as plain data: {value!r}")


def load(path: FilePath, rng: Seed = None) -> Any:
    """Read a policy written by `save`; it continues bit for bit.

    The file is plain data. Only classes that this program has registered can be built,
    and their settings pass the same checks as in the constructor.

    Parameters
    ----------
    path : str or path-like
    rng : None, int, SeedSequence or Generator
        A new generator, for several readers of one file that should not explore in
        step. With None the generator of the file goes on.

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
    try:
        policy = _build(content)
    except (*_FAULTS, MemoryError) as error:
        raise ValueError(f"{path} is not a whole policy file: {error}") from error
    if rng is not None:
        policy._set_generator(rng)
    return policy


def _read(path):
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is not a policy file of wsbnb, or not a whole one: {error}"
        ) from error
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


def _build(content):
    name, params, state = content["class"], content["params"], content["state"]
    if name not in list(_REGISTRY):
        raise ValueError(f"class {name!r} is not one of {sorted(_REGISTRY)}")
    # Before anything of the size that the settings claim is made.
    for setting, field in _LENGTHS.items():
        if setting in params and field in state:
            if len(state[field]) != params[setting]:
                raise ValueError(f"state {field} does not have length {setting}")
    policy = _REGISTRY[name](**params)
    policy._rng = _generator(content["rng"])
    policy._rng_start = _generator(content["rng_start"]).bit_generator.state
    policy._set_state(state)
    return policy


def _generator(state):
    name = _validate.choice("bit_generator", state["bit_generator"], _GENERATORS)
    bits = getattr(np.random, name)()
    bits.state = _in_form_of(bits.state, state, "rng")
    return np.random.Generator(bits)


def _in_form_of(model, value, name):
    """`value` with the keys, types and shapes of `model`."""
    if isinstance(model, dict):
        if set(value) != set(model):
            raise ValueError(f"{name} must have the keys {sorted(model)}")
        return {key: _in_form_of(model[key], value[key], key) for key in model}
    if isinstance(model, np.ndarray):
        array = np.array(value, dtype=model.dtype)
        if array.shape != model.shape:
            raise ValueError(f"{name} must have shape {model.shape}, got {array.shape}")
        return array
    if isinstance(model, str):
        return value
    number = _validate.integer(name, value, minimum=0)
    if number > _LARGEST.get(name, number):
        raise ValueError(f"{name} must be at most {_LARGEST[name]}, got {number}")
    return number
