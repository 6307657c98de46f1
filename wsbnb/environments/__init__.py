"""Environments: parameter paths, arm sets and noise, as data.

An `Environment` holds the rules, `environment.world(seed)` draws one trial, and
`world.blocks(size)` hands out its rounds. Memory does not grow with the horizon.
"""

from wsbnb.environments.anchors import (
    AnchorRule,
    GivenAnchors,
    OrthogonalAnchors,
    PlaneAnchors,
    RandomAnchors,
)
from wsbnb.environments.arms import (
    ArmRule,
    CallableArms,
    FixedArms,
    GivenArms,
    RedrawnArms,
)
from wsbnb.environments.clicks import Clicks
from wsbnb.environments.noise import (
    BoundedHeavyNoise,
    GaussianNoise,
    NoiseRule,
    RademacherNoise,
    UniformNoise,
)
from wsbnb.environments.paper import paper_environment
from wsbnb.environments.paths import (
    AbruptPath,
    CallablePath,
    GivenPath,
    PathRule,
    RandomWalkPath,
    SlowPath,
    StationaryPath,
)
from wsbnb.environments.world import Block, Environment, World

__all__ = [
    "AbruptPath",
    "AnchorRule",
    "ArmRule",
    "Block",
    "BoundedHeavyNoise",
    "CallableArms",
    "CallablePath",
    "Clicks",
    "Environment",
    "FixedArms",
    "GaussianNoise",
    "GivenAnchors",
    "GivenArms",
    "GivenPath",
    "NoiseRule",
    "OrthogonalAnchors",
    "PathRule",
    "PlaneAnchors",
    "RademacherNoise",
    "RandomAnchors",
    "RandomWalkPath",
    "RedrawnArms",
    "SlowPath",
    "StationaryPath",
    "UniformNoise",
    "World",
    "paper_environment",
]
