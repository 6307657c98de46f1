# ruff: noqa: E501
"""What the benchmark of worlds says, as data for `recommending`.

Written by `wsbnb.paper.write_guide` from the record; do not edit by hand.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A policy"s standing among worlds that move in one way."""

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
MADE_BY = "6bb451b55d, db252d0265"
ROWS = (
    Row("still", False, "Random-walk LinTS", 0.5, 1200.0, 1.028, 0.879, 1.188, 1.194, "still and loud", True, {"still": 0.769, "still and loud": 1.194, "still, 16 features": 1.182}),
    Row("still", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.439, 1.247, 1.658, 2.062, "still, 16 features", False, {"still": 1.444, "still and loud": 1.0, "still, 16 features": 2.062}),
    Row("still", False, "WSB-RandLinUCB", 1.0, _FOREVER, 1.442, 1.151, 1.818, 1.492, "still, 16 features", True, {"still": 1.413, "still and loud": 1.423, "still, 16 features": 1.492}),
    Row("still", False, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.449, 1.154, 1.818, 1.492, "still, 16 features", False, {"still": 1.413, "still and loud": 1.442, "still, 16 features": 1.492}),
    Row("still", False, "WSB-LinTS", 0.25, 480.0, 1.5, 1.161, 1.885, 1.846, "still", True, {"still": 1.846, "still and loud": 1.054, "still, 16 features": 1.733}),
    Row("still", True, "Random-walk LinTS", 0.5, 1200.0, 1.028, 0.879, 1.188, 1.194, "still and loud", True, {"still": 0.769, "still and loud": 1.194, "still, 16 features": 1.182}),
    Row("still", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.439, 1.247, 1.658, 2.062, "still, 16 features", False, {"still": 1.444, "still and loud": 1.0, "still, 16 features": 2.062}),
    Row("still", True, "WSB-RandLinUCB", 1.0, _FOREVER, 1.442, 1.151, 1.818, 1.492, "still, 16 features", True, {"still": 1.413, "still and loud": 1.423, "still, 16 features": 1.492}),
    Row("still", True, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.449, 1.154, 1.818, 1.492, "still, 16 features", False, {"still": 1.413, "still and loud": 1.442, "still, 16 features": 1.492}),
    Row("still", True, "WSB-LinTS", 0.25, 480.0, 1.5, 1.161, 1.885, 1.846, "still", True, {"still": 1.846, "still and loud": 1.054, "still, 16 features": 1.733}),
    Row("jumps", False, "Change points", 0.5, _FOREVER, 1.06, 1.028, 1.09, 1.468, "32 features", False, {"rare jumps": 1.0, "frequent jumps": 1.002, "recurring jumps": 1.02, "jumping, then still": 1.008, "few arms": 1.0, "two features": 1.0, "32 features": 1.468, "heavy noise": 1.181, "noise believed double": 1.0, "two outcomes": 1.0}),
    Row("jumps", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.095, 1.044, 1.144, 1.535, "32 features", False, {"rare jumps": 1.056, "frequent jumps": 0.991, "recurring jumps": 1.0, "jumping, then still": 1.0, "few arms": 1.285, "two features": 0.925, "32 features": 1.535, "heavy noise": 1.167, "noise believed double": 1.07, "two outcomes": 1.038}),
    Row("jumps", False, "Change points", 1.0, _FOREVER, 1.349, 1.291, 1.408, 2.085, "32 features", False, {"rare jumps": 1.131, "frequent jumps": 1.166, "recurring jumps": 1.291, "jumping, then still": 1.193, "few arms": 1.434, "two features": 1.131, "32 features": 2.085, "heavy noise": 1.447, "noise believed double": 1.455, "two outcomes": 1.376}),
    Row("jumps", False, "Surprise restart, RandLinUCB", 0.25, 30.0, 1.715, 1.619, 1.807, 4.049, "noise believed double", False, {"rare jumps": 1.723, "frequent jumps": 1.248, "recurring jumps": 1.37, "jumping, then still": 1.293, "few arms": 1.786, "two features": 2.336, "32 features": 1.546, "heavy noise": 1.797, "noise believed double": 4.049, "two outcomes": 1.231}),
    Row("jumps", False, "Surprise restart", 0.25, 75.0, 1.716, 1.613, 1.816, 2.761, "noise believed double", False, {"rare jumps": 1.879, "frequent jumps": 1.157, "recurring jumps": 1.32, "jumping, then still": 1.23, "few arms": 1.879, "two features": 2.082, "32 features": 2.111, "heavy noise": 1.899, "noise believed double": 2.761, "two outcomes": 1.451}),
    Row("jumps", True, "Change points", 0.5, _FOREVER, 1.061, 1.019, 1.102, 1.468, "32 features", False, {"rare jumps": 1.0, "frequent jumps": 1.002, "recurring jumps": 1.02, "jumping, then still": 1.008, "few arms": 1.0, "two features": 1.0, "32 features": 1.468}),
    Row("jumps", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.097, 1.034, 1.154, 1.535, "32 features", False, {"rare jumps": 1.056, "frequent jumps": 0.991, "recurring jumps": 1.0, "jumping, then still": 1.0, "few arms": 1.285, "two features": 0.925, "32 features": 1.535}),
    Row("jumps", True, "Change points", 1.0, _FOREVER, 1.317, 1.25, 1.383, 2.085, "32 features", False, {"rare jumps": 1.131, "frequent jumps": 1.166, "recurring jumps": 1.291, "jumping, then still": 1.193, "few arms": 1.434, "two features": 1.131, "32 features": 2.085}),
    Row("jumps", True, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.498, 1.357, 1.634, 2.62, "few arms", False, {"rare jumps": 1.095, "frequent jumps": 1.24, "recurring jumps": 1.433, "jumping, then still": 1.49, "few arms": 2.62, "two features": 1.183, "32 features": 1.887}),
    Row("jumps", True, "Surprise restart, RandLinUCB", 0.25, 30.0, 1.58, 1.49, 1.665, 2.336, "two features", False, {"rare jumps": 1.723, "frequent jumps": 1.248, "recurring jumps": 1.37, "jumping, then still": 1.293, "few arms": 1.786, "two features": 2.336, "32 features": 1.546}),
    Row("drift", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.259, 1.219, 1.301, 1.483, "16 features", False, {"slow drift": 1.308, "fast drift": 1.304, "random walk": 1.416, "mean reversion": 1.142, "one coordinate": 1.243, "fresh arms": 1.159, "many arms": 1.106, "correlated arms": 1.144, "16 features": 1.483, "low noise": 1.433, "high noise": 1.277, "noise believed half": 1.251, "wrong prior": 1.276, "curved rewards": 1.155}),
    Row("drift", False, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.283, 1.242, 1.324, 1.757, "low noise", False, {"slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "fresh arms": 1.286, "many arms": 1.246, "correlated arms": 1.054, "16 features": 1.327, "low noise": 1.757, "high noise": 1.374, "noise believed half": 1.314, "wrong prior": 1.415, "curved rewards": 1.038}),
    Row("drift", False, "Discount mixture", 0.25, _FOREVER, 1.33, 1.273, 1.389, 1.967, "wrong prior", False, {"slow drift": 1.587, "fast drift": 1.189, "random walk": 1.339, "mean reversion": 1.102, "one coordinate": 1.261, "fresh arms": 1.381, "many arms": 1.246, "correlated arms": 1.099, "16 features": 1.584, "low noise": 1.243, "high noise": 1.411, "noise believed half": 1.115, "wrong prior": 1.967, "curved rewards": 1.346}),
    Row("drift", False, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.332, 1.292, 1.373, 1.757, "low noise", False, {"slow drift": 1.414, "fast drift": 1.156, "random walk": 1.704, "mean reversion": 1.068, "one coordinate": 1.321, "fresh arms": 1.314, "many arms": 1.244, "correlated arms": 1.208, "16 features": 1.296, "low noise": 1.757, "high noise": 1.259, "noise believed half": 1.689, "wrong prior": 1.124, "curved rewards": 1.303}),
    Row("drift", False, "Change points", 0.5, _FOREVER, 1.349, 1.297, 1.398, 1.639, "random walk", False, {"slow drift": 1.534, "fast drift": 1.343, "random walk": 1.639, "mean reversion": 1.17, "one coordinate": 1.239, "fresh arms": 1.267, "many arms": 1.251, "correlated arms": 1.221, "16 features": 1.388, "low noise": 1.354, "high noise": 1.54, "noise believed half": 1.459, "wrong prior": 1.556, "curved rewards": 1.063}),
    Row("drift", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.26, 1.212, 1.305, 1.483, "16 features", False, {"slow drift": 1.308, "fast drift": 1.304, "random walk": 1.416, "mean reversion": 1.142, "one coordinate": 1.243, "fresh arms": 1.159, "many arms": 1.106, "correlated arms": 1.144, "16 features": 1.483, "low noise": 1.433, "high noise": 1.277, "wrong prior": 1.276, "curved rewards": 1.155}),
    Row("drift", True, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.28, 1.236, 1.325, 1.757, "low noise", False, {"slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "fresh arms": 1.286, "many arms": 1.246, "correlated arms": 1.054, "16 features": 1.327, "low noise": 1.757, "high noise": 1.374, "wrong prior": 1.415, "curved rewards": 1.038}),
    Row("drift", True, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.307, 1.268, 1.358, 1.757, "low noise", False, {"slow drift": 1.414, "fast drift": 1.156, "random walk": 1.704, "mean reversion": 1.068, "one coordinate": 1.321, "fresh arms": 1.314, "many arms": 1.244, "correlated arms": 1.208, "16 features": 1.296, "low noise": 1.757, "high noise": 1.259, "wrong prior": 1.124, "curved rewards": 1.303}),
    Row("drift", True, "Change points", 0.5, _FOREVER, 1.341, 1.289, 1.39, 1.639, "random walk", False, {"slow drift": 1.534, "fast drift": 1.343, "random walk": 1.639, "mean reversion": 1.17, "one coordinate": 1.239, "fresh arms": 1.267, "many arms": 1.251, "correlated arms": 1.221, "16 features": 1.388, "low noise": 1.354, "high noise": 1.54, "wrong prior": 1.556, "curved rewards": 1.063}),
    Row("drift", True, "Random-walk LinTS", 0.5, 75.0, 1.345, 1.293, 1.392, 2.778, "fast drift", True, {"slow drift": 1.151, "fast drift": 2.778, "random walk": 1.392, "mean reversion": 1.006, "one coordinate": 1.143, "fresh arms": 1.307, "many arms": 1.354, "correlated arms": 1.0, "16 features": 1.744, "low noise": 1.878, "high noise": 1.673, "wrong prior": 0.996, "curved rewards": 0.953}),
    Row("unknown", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.213, 1.178, 1.254, 2.062, "still, 16 features", False, {"rare jumps": 1.056, "frequent jumps": 0.991, "recurring jumps": 1.0, "slow drift": 1.308, "fast drift": 1.304, "random walk": 1.416, "mean reversion": 1.142, "one coordinate": 1.243, "still": 1.444, "still and loud": 1.0, "still, 16 features": 2.062, "jumping, then still": 1.0, "fresh arms": 1.159, "few arms": 1.285, "many arms": 1.106, "correlated arms": 1.144, "two features": 0.925, "16 features": 1.483, "32 features": 1.535, "low noise": 1.433, "high noise": 1.277, "heavy noise": 1.167, "noise believed half": 1.251, "noise believed double": 1.07, "wrong prior": 1.276, "curved rewards": 1.155, "two outcomes": 1.038}),
    Row("unknown", False, "Change points", 0.5, _FOREVER, 1.25, 1.206, 1.298, 1.811, "still", False, {"rare jumps": 1.0, "frequent jumps": 1.002, "recurring jumps": 1.02, "slow drift": 1.534, "fast drift": 1.343, "random walk": 1.639, "mean reversion": 1.17, "one coordinate": 1.239, "still": 1.811, "still and loud": 1.451, "still, 16 features": 1.339, "jumping, then still": 1.008, "fresh arms": 1.267, "few arms": 1.0, "many arms": 1.251, "correlated arms": 1.221, "two features": 1.0, "16 features": 1.388, "32 features": 1.468, "low noise": 1.354, "high noise": 1.54, "heavy noise": 1.181, "noise believed half": 1.459, "noise believed double": 1.0, "wrong prior": 1.556, "curved rewards": 1.063, "two outcomes": 1.0}),
    Row("unknown", False, "Change points", 1.0, _FOREVER, 1.418, 1.385, 1.456, 2.417, "still, 16 features", False, {"rare jumps": 1.131, "frequent jumps": 1.166, "recurring jumps": 1.291, "slow drift": 1.459, "fast drift": 1.272, "random walk": 1.554, "mean reversion": 1.23, "one coordinate": 1.439, "still": 1.616, "still and loud": 1.534, "still, 16 features": 2.417, "jumping, then still": 1.193, "fresh arms": 1.504, "few arms": 1.434, "many arms": 1.315, "correlated arms": 1.317, "two features": 1.131, "16 features": 1.52, "32 features": 2.085, "low noise": 1.522, "high noise": 1.609, "heavy noise": 1.447, "noise believed half": 1.385, "noise believed double": 1.455, "wrong prior": 1.147, "curved rewards": 1.328, "two outcomes": 1.376}),
    Row("unknown", False, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.515, 1.45, 1.583, 2.8, "two features", False, {"rare jumps": 1.866, "frequent jumps": 1.706, "recurring jumps": 1.949, "slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "still": 2.085, "still and loud": 1.823, "still, 16 features": 1.567, "jumping, then still": 1.826, "fresh arms": 1.286, "few arms": 2.263, "many arms": 1.246, "correlated arms": 1.054, "two features": 2.8, "16 features": 1.327, "32 features": 1.601, "low noise": 1.38, "high noise": 1.374, "heavy noise": 1.186, "noise believed half": 1.314, "noise believed double": 2.789, "wrong prior": 1.415, "curved rewards": 1.038, "two outcomes": 1.269}),
    Row("unknown", False, "Discount mixture", 0.25, _FOREVER, 1.544, 1.47, 1.616, 3.101, "still", False, {"rare jumps": 1.863, "frequent jumps": 1.738, "recurring jumps": 1.883, "slow drift": 1.587, "fast drift": 1.189, "random walk": 1.339, "mean reversion": 1.102, "one coordinate": 1.261, "still": 3.101, "still and loud": 1.373, "still, 16 features": 2.112, "jumping, then still": 1.731, "fresh arms": 1.381, "few arms": 1.79, "many arms": 1.246, "correlated arms": 1.099, "two features": 2.551, "16 features": 1.584, "32 features": 1.493, "low noise": 1.243, "high noise": 1.411, "heavy noise": 1.0, "noise believed half": 1.115, "noise believed double": 2.629, "wrong prior": 1.967, "curved rewards": 1.346, "two outcomes": 1.337}),
    Row("unknown", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.229, 1.189, 1.277, 2.062, "still, 16 features", False, {"rare jumps": 1.056, "frequent jumps": 0.991, "recurring jumps": 1.0, "slow drift": 1.308, "fast drift": 1.304, "random walk": 1.416, "mean reversion": 1.142, "one coordinate": 1.243, "still": 1.444, "still and loud": 1.0, "still, 16 features": 2.062, "jumping, then still": 1.0, "fresh arms": 1.159, "few arms": 1.285, "many arms": 1.106, "correlated arms": 1.144, "two features": 0.925, "16 features": 1.483, "32 features": 1.535, "low noise": 1.433, "high noise": 1.277, "wrong prior": 1.276, "curved rewards": 1.155}),
    Row("unknown", True, "Change points", 0.5, _FOREVER, 1.269, 1.22, 1.321, 1.811, "still", False, {"rare jumps": 1.0, "frequent jumps": 1.002, "recurring jumps": 1.02, "slow drift": 1.534, "fast drift": 1.343, "random walk": 1.639, "mean reversion": 1.17, "one coordinate": 1.239, "still": 1.811, "still and loud": 1.451, "still, 16 features": 1.339, "jumping, then still": 1.008, "fresh arms": 1.267, "few arms": 1.0, "many arms": 1.251, "correlated arms": 1.221, "two features": 1.0, "16 features": 1.388, "32 features": 1.468, "low noise": 1.354, "high noise": 1.54, "wrong prior": 1.556, "curved rewards": 1.063}),
    Row("unknown", True, "Change points", 1.0, _FOREVER, 1.419, 1.383, 1.46, 2.417, "still, 16 features", False, {"rare jumps": 1.131, "frequent jumps": 1.166, "recurring jumps": 1.291, "slow drift": 1.459, "fast drift": 1.272, "random walk": 1.554, "mean reversion": 1.23, "one coordinate": 1.439, "still": 1.616, "still and loud": 1.534, "still, 16 features": 2.417, "jumping, then still": 1.193, "fresh arms": 1.504, "few arms": 1.434, "many arms": 1.315, "correlated arms": 1.317, "two features": 1.131, "16 features": 1.52, "32 features": 2.085, "low noise": 1.522, "high noise": 1.609, "wrong prior": 1.147, "curved rewards": 1.328}),
    Row("unknown", True, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.512, 1.437, 1.581, 2.8, "two features", False, {"rare jumps": 1.866, "frequent jumps": 1.706, "recurring jumps": 1.949, "slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "still": 2.085, "still and loud": 1.823, "still, 16 features": 1.567, "jumping, then still": 1.826, "fresh arms": 1.286, "few arms": 2.263, "many arms": 1.246, "correlated arms": 1.054, "two features": 2.8, "16 features": 1.327, "32 features": 1.601, "low noise": 1.38, "high noise": 1.374, "wrong prior": 1.415, "curved rewards": 1.038}),
    Row("unknown", True, "Discount mixture", 0.25, _FOREVER, 1.569, 1.483, 1.653, 3.101, "still", False, {"rare jumps": 1.863, "frequent jumps": 1.738, "recurring jumps": 1.883, "slow drift": 1.587, "fast drift": 1.189, "random walk": 1.339, "mean reversion": 1.102, "one coordinate": 1.261, "still": 3.101, "still and loud": 1.373, "still, 16 features": 2.112, "jumping, then still": 1.731, "fresh arms": 1.381, "few arms": 1.79, "many arms": 1.246, "correlated arms": 1.099, "two features": 2.551, "16 features": 1.584, "32 features": 1.493, "low noise": 1.243, "high noise": 1.411, "wrong prior": 1.967, "curved rewards": 1.346}),
)
WORLDS = (
    World("rare jumps", 6, 48, 0.3873),
    World("frequent jumps", 6, 48, 0.3873),
    World("recurring jumps", 6, 48, 0.3873),
    World("slow drift", 6, 48, 0.3873),
    World("fast drift", 6, 48, 0.3873),
    World("random walk", 6, 48, 0.3873),
    World("mean reversion", 6, 48, 0.3873),
    World("one coordinate", 6, 48, 0.3873),
    World("still", 6, 48, 0.3873),
    World("still and loud", 6, 48, 1.0),
    World("still, 16 features", 16, 48, 0.3873),
    World("jumping, then still", 6, 48, 0.3873),
    World("fresh arms", 6, 48, 0.3873),
    World("few arms", 6, 6, 0.3873),
    World("many arms", 6, 256, 0.3873),
    World("correlated arms", 6, 48, 0.3873),
    World("two features", 2, 48, 0.3873),
    World("16 features", 16, 48, 0.3873),
    World("32 features", 32, 48, 0.3873),
    World("low noise", 6, 48, 0.1),
    World("high noise", 6, 48, 1.0),
    World("heavy noise", 6, 48, 0.3873),
    World("noise believed half", 6, 48, 0.3873),
    World("noise believed double", 6, 48, 0.3873),
    World("wrong prior", 6, 48, 0.3873),
    World("curved rewards", 6, 48, 0.3873),
    World("two outcomes", 6, 48, 1.0),
)
