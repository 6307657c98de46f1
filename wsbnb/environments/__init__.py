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
    RecurringAnchors,
)
from wsbnb.environments.arms import (
    ArmRule,
    CallableArms,
    ClusteredArms,
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
    ChainedPath,
    GivenPath,
    MeanRevertingPath,
    OneCoordinatePath,
    PathRule,
    RandomWalkPath,
    SlowPath,
    StationaryPath,
)
from wsbnb.environments.rewards import (
    CurvedRewards,
    LinearRewards,
    RewardRule,
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
    "ChainedPath",
    "Clicks",
    "ClusteredArms",
    "CurvedRewards",
    "Environment",
    "FixedArms",
    "GaussianNoise",
    "GivenAnchors",
    "GivenArms",
    "GivenPath",
    "LinearRewards",
    "MeanRevertingPath",
    "NoiseRule",
    "OneCoordinatePath",
    "OrthogonalAnchors",
    "PathRule",
    "PlaneAnchors",
    "RademacherNoise",
    "RandomAnchors",
    "RandomWalkPath",
    "RecurringAnchors",
    "RedrawnArms",
    "RewardRule",
    "SlowPath",
    "StationaryPath",
    "UniformNoise",
    "World",
    "paper_environment",
]
