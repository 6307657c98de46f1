"""Save a policy to a plain JSON file and load it again; nothing in it is executed.

A file holds the class by name, its settings, what was learnt, the generator, and a
checksum over all of it. Settings that are objects (a rule of forgetting, a way to
explore, a posterior, another policy) are written as ``{"kind": name, **settings}``.
"""

import dataclasses
import hashlib
import json
import math

import numpy as np

from wsbnb import _validate, exploration, weights
from wsbnb._files import replace_file, sweep
from wsbnb._types import Any, FilePath, Registered, Seed
from wsbnb.clicks import LogisticPosterior
from wsbnb.policies import old_files
from wsbnb.posterior import WRLS, WSBPosterior

FORMAT = "wsbnb-policy"
VERSION = 2

_REGISTRY: dict[str, Any] = {}
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
# NumPy takes these positions as they are and reads beyond its arrays if they lie.
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1}
# What reading a damaged or hostile file may raise.
_FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
#: Parts of a policy that a file may name, with their module: Greedy is also a policy.
_PARTS = {
    f"{kind.__module__.removeprefix('wsbnb.')}.{kind.__name__}": kind
    for kind in (
        weights.Exponential,
        weights.Polynomial,
        weights.RandomWalk,
        weights.Restart,
        weights.SlidingWindow,
        exploration.Greedy,
        exploration.Optimism,
        exploration.RandomisedOptimism,
        exploration.Thompson,
        exploration.Uniform,
        exploration.Widths,
    )
}


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
    if not (isinstance(cls, type) and hasattr(cls, "_get_state")):
        raise TypeError(f"cls must be a subclass of wsbnb.Policy, got {cls!r}")
    known = _REGISTRY.get(cls.__name__, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(
            f"cls must have a name of its own, got {cls.__name__!r}, which stands for "
            f"{known.__module__}.{known.__qualname__}"
        )
    _REGISTRY[cls.__name__] = cls
    return cls


def is_registered(cls: type) -> bool:
    """Whether a file may name this very class."""
    return _REGISTRY.get(cls.__name__) is cls


# --- writing --------------------------------------------------------------------------


def save(policy: Any, path: FilePath) -> None:
    """Write `policy` to `path` in one step."""
    if not is_registered(type(policy)):
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
        "params": {k: _finite(v) for k, v in policy.get_params().items()},
        "state": policy._get_state(),
        "rng": policy._rng.bit_generator.state,
        "rng_start": policy._rng_start,
        "feature_names": policy._feature_names,
    }
    # Through text once, so that the checksum is over what a reader will see.
    content = json.loads(json.dumps(content, default=_plain, allow_nan=False))
    content["checksum"] = _checksum(content)
    text = json.dumps(content, indent=1).encode()
    sweep(replace_file(path, text).parent)


def _finite(setting):
    """JSON has no infinity, which some settings may be."""
    infinite = isinstance(setting, float) and setting == math.inf
    return {"kind": "infinity"} if infinite else setting


def _checksum(content):
    rest = {key: value for key, value in content.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, WSBPosterior):
        return _posterior_settings(value)
    for name, kind in _PARTS.items():
        if type(value) is kind:
            fields = [field.name for field in dataclasses.fields(kind)]
            return {"kind": name, **{field: getattr(value, field) for field in fields}}
    if is_registered(type(value)):
        return {"kind": type(value).__name__, **value.get_params()}
    raise TypeError(f"policy must consist of plain data to be saved, got {value!r}")


def _posterior_settings(posterior):
    if isinstance(posterior, LogisticPosterior):
        names = ("prior_mean", "prior_cov", "forgetting")
        words = {name: getattr(posterior, name) for name in names}
        return {"kind": "LogisticPosterior", **words}
    words = {
        "forgetting": posterior.forgetting,
        "noise_std": posterior.noise_std,
        "squared_weights": posterior._squares,
    }
    if isinstance(posterior, WRLS):
        ridge = {"dim": posterior.dim, "regularization": posterior.regularization}
        return {"kind": "WRLS", **ridge, **words}
    prior = {"prior_mean": posterior.prior_mean, "prior_cov": posterior.prior_cov}
    return {"kind": "WSBPosterior", **prior, **words}


# --- reading --------------------------------------------------------------------------


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
    >>> policy = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.99, rng=0
    ... )
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
    place = _validate.path("path", path)
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
        checksum = _checksum(content) if isinstance(content, dict) else None
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is not a policy file of wsbnb, or not a whole one: {error}"
        ) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not a {FORMAT} file")
    version = content.get("version")
    if version not in (1, VERSION):
        raise ValueError(
            f"{path} has format version {version!r}; this wsbnb reads versions 1 to "
            f"{VERSION}"
        )
    missing = {"class", "params", "state", "rng", "rng_start"} - set(content)
    if missing:
        raise ValueError(f"{path} lacks {sorted(missing)}")
    if version == 1 and "checksum" not in content:  # a newer file that says it is old
        return _from_version_1(path, content)
    if content.get("checksum") != checksum:
        raise ValueError(f"{path} was damaged or changed: its checksum does not fit")
    return content


def _from_version_1(path, content):
    try:
        return old_files.from_version_1(content)
    except _FAULTS as error:
        raise ValueError(f"{path} is not a whole policy file: {error}") from error


def _build(content):
    name = content["class"]
    if name not in list(_REGISTRY):
        raise ValueError(f"class {name!r} is not one of {sorted(_REGISTRY)}")
    kind = _REGISTRY[name]
    policy = kind(**_settings(kind, content["params"], content["state"]))
    policy._rng = _generator(content["rng"])
    policy._rng_start = _generator(content["rng_start"]).bit_generator.state
    policy._set_state(content["state"])
    policy.feature_names = content.get("feature_names")
    return policy


def _settings(kind, params, state):
    """The constructor's arguments; nothing is made that the file has no room for."""
    witness = len(json.dumps(state))
    rooms = {"dim": witness, "length": witness}
    if kind._keeps_matrix:
        rooms |= dict.fromkeys(("dim", "prior_mean"), math.sqrt(witness))
    for name, room in rooms.items():
        size = _largest(params, name)
        if size > room:
            raise ValueError(f"{name} cannot have size {size} with so short a state")
    return {name: _rebuilt(value) for name, value in params.items()}


def _largest(params, name):
    """The largest value or length of a setting in nested settings."""
    if not isinstance(params, dict):
        return 0
    own = params.get(name)
    own = len(own) if isinstance(own, list) else own
    own = own if isinstance(own, int | float) else 0
    return max([own, *(_largest(value, name) for value in params.values())])


def _rebuilt(value):
    """A setting from a file: plain data, or a part that may be named."""
    if not isinstance(value, dict):
        return value
    words = {name: _rebuilt(inner) for name, inner in value.items() if name != "kind"}
    kind = value.get("kind")
    posteriors = (WRLS, WSBPosterior, LogisticPosterior)
    known = {**_PARTS, **{kind.__name__: kind for kind in posteriors}, **_REGISTRY}
    known["infinity"] = lambda: math.inf
    if kind not in list(known):
        raise ValueError(f"kind {kind!r} is not one of {sorted(known)}")
    return known[kind](**words)


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
    number = _validate.integer(name, value, minimum=0, maximum=None)
    if number > _LARGEST.get(name, number):
        raise ValueError(f"{name} must be at most {_LARGEST[name]}, got {number}")
    return number
