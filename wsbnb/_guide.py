"""What the benchmark of worlds says, as data for `recommending`.

Written by `wsbnb.paper.write_guide` from the record; do not edit by hand.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A policy's standing among worlds that move in one way."""

    moves: str
    trusted: bool  # only worlds whose noise is Gaussian and of the size told
    policy: str
    scale: float
    memory: float
    ratio: float
    low: float
    high: float
    worst: float
    worst_world: str
    fixed: bool  # one discount, which a log can replace
    by_world: dict[str, float]


class World(NamedTuple):
    """What a world is like."""

    name: str
    dim: int
    n_arms: int
    noise_std: float


_FOREVER = float("inf")
# fmt: off
MADE_BY = ""
ROWS = ()
WORLDS = ()
