"""Files of users: one line of settings, then plain numbers, with a checksum."""

import hashlib
import json

import numpy as np

from wsbnb import _validate
from wsbnb._files import replace_file, sweep
from wsbnb.kernels import fleet, memory
from wsbnb.policies import saving

FORMAT, VERSION = "wsbnb-fleet", 2
#: Their checksum was over the numbers alone, not over the line of settings.
OLD_VERSION = 1
#: More users than this are a mistake, or a file that wants to fill the memory.
MOST = 2**40
#: What goes wrong in a file that was damaged or made by hand.
FAULTS = saving._FAULTS


def write(path, settings, named, users):
    """Write settings and users; `named` are their numbers, empty for everybody."""
    parts = [named.astype("<i8"), *(part.astype("<f8") for part in users)]
    words = {"format": FORMAT, "version": VERSION, "count": len(users.rows)}
    text = json.dumps({**words, **settings}, default=saving._plain, allow_nan=False)
    header = json.loads(text)  # as a reader will see it
    line = json.dumps({**header, "sha256": _digest(header, parts)})
    bytes_of_users = map(np.ravel, parts)
    sweep(replace_file(path, line.encode() + b"\n", *bytes_of_users).parent)


def read(path):
    """Settings, numbers of users (empty: everybody) and what is known of them."""
    raw = _validate.path("path", path).read_bytes()
    end = raw.find(b"\n")
    try:
        header = json.loads(raw[: max(end, 0)])
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']!r}")
        if header["version"] not in (OLD_VERSION, VERSION):
            raise ValueError(f"its version is {header['version']}, not {VERSION}")
        count = _validate.integer("count", header["count"], minimum=0, maximum=MOST)
        dim = _validate.integer("dim", header["dim"])
        if np.shape(header["prior_mean"]) != (dim,):
            raise ValueError(f"its prior mean has not {dim} entries")
        if np.shape(header["prior_cov"]) != (dim, dim):
            raise ValueError(f"its prior covariance has not {dim} rows and columns")
        parts = _parts(memoryview(raw)[end + 1 :], count, dim)
        if _digest(header, parts) != header["sha256"]:
            raise ValueError("it was damaged or changed: its checksum does not fit")
        _check_users(*parts[1:], dim)
    except FAULTS as error:
        raise ValueError(f"{path} is not a whole fleet file: {error}") from error
    return header, parts[0].astype(np.int64), fleet.Users(*parts[1:])


def exploration_and_generator(header):
    """The two settings of a file that are objects."""
    return saving._rebuilt(header["exploration"]), saving._generator(header["rng"])


def _digest(header, parts):
    digest = hashlib.sha256()
    if header["version"] != OLD_VERSION:
        rest = {name: value for name, value in header.items() if name != "sha256"}
        digest.update(json.dumps(rest, sort_keys=True).encode())
    for part in parts:
        digest.update(np.ravel(part))
    return digest.hexdigest()


def _parts(payload, count, dim):
    model = memory.new_users(0, dim)
    widths = [part.shape[1] for part in model]
    named = len(payload) // 8 - count * sum(widths)
    if named not in (0, count) or len(payload) % 8:
        raise ValueError(f"{len(payload)} bytes cannot hold {count} users")
    parts = [np.frombuffer(payload, "<i8", named)]
    start = 8 * named
    for width in widths:
        part = np.frombuffer(payload, "<f8", count * width, start)
        parts.append(part.reshape(count, width).astype(np.float64))
        start += part.nbytes
    return parts


def _check_users(rows, counts, dim):
    """What a round trusts: finite numbers, and A without negative squares."""
    diagonal = np.cumsum([0, *range(dim, 1, -1)])
    sound = np.isfinite(rows).all() and np.isfinite(counts).all()
    if not (sound and (counts >= 0.0).all() and (rows[:, diagonal] >= 0.0).all()):
        raise ValueError("it holds numbers that nobody can have taught")
