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
MADE_BY = "2571f6f5be, 6bb451b55d, a91b41302b, db252d0265"
ROWS = (
    Row("still", False, "Random-walk LinTS", 0.5, 1200.0, 1.021, 0.866, 1.191, 1.182, "still, 16 features", True, {"still": 0.769, "still and loud": 1.17, "still, 16 features": 1.182}),
    Row("still", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.431, 1.229, 1.684, 2.232, "still, 16 features", False, {"still": 1.313, "still and loud": 1.0, "still, 16 features": 2.232}),
    Row("still", False, "WSB-RandLinUCB", 1.0, _FOREVER, 1.433, 1.134, 1.798, 1.492, "still, 16 features", True, {"still": 1.413, "still and loud": 1.395, "still, 16 features": 1.492}),
    Row("still", False, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.439, 1.144, 1.804, 1.492, "still, 16 features", False, {"still": 1.413, "still and loud": 1.413, "still, 16 features": 1.492}),
    Row("still", False, "WSB-LinTS", 0.25, 480.0, 1.49, 1.157, 1.868, 1.846, "still", True, {"still": 1.846, "still and loud": 1.033, "still, 16 features": 1.733}),
    Row("still", True, "Random-walk LinTS", 0.5, 1200.0, 1.021, 0.866, 1.191, 1.182, "still, 16 features", True, {"still": 0.769, "still and loud": 1.17, "still, 16 features": 1.182}),
    Row("still", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.431, 1.229, 1.684, 2.232, "still, 16 features", False, {"still": 1.313, "still and loud": 1.0, "still, 16 features": 2.232}),
    Row("still", True, "WSB-RandLinUCB", 1.0, _FOREVER, 1.433, 1.134, 1.798, 1.492, "still, 16 features", True, {"still": 1.413, "still and loud": 1.395, "still, 16 features": 1.492}),
    Row("still", True, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.439, 1.144, 1.804, 1.492, "still, 16 features", False, {"still": 1.413, "still and loud": 1.413, "still, 16 features": 1.492}),
    Row("still", True, "WSB-LinTS", 0.25, 480.0, 1.49, 1.157, 1.868, 1.846, "still", True, {"still": 1.846, "still and loud": 1.033, "still, 16 features": 1.733}),
    Row("jumps", False, "Change points", 0.5, _FOREVER, 1.092, 1.047, 1.135, 1.458, "32 features", False, {"rare jumps": 1.24, "frequent jumps": 1.0, "recurring jumps": 1.0, "jumping, then still": 1.056, "few arms": 1.0, "two features": 1.0, "32 features": 1.458, "heavy noise": 1.259, "noise believed double": 1.0, "two outcomes": 1.0}),
    Row("jumps", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.13, 1.08, 1.183, 1.57, "32 features", False, {"rare jumps": 1.0, "frequent jumps": 1.026, "recurring jumps": 1.036, "jumping, then still": 1.012, "few arms": 1.302, "two features": 1.028, "32 features": 1.57, "heavy noise": 1.256, "noise believed double": 1.11, "two outcomes": 1.082}),
    Row("jumps", False, "Change points", 1.0, _FOREVER, 1.396, 1.344, 1.459, 2.136, "32 features", False, {"rare jumps": 1.266, "frequent jumps": 1.212, "recurring jumps": 1.327, "jumping, then still": 1.287, "few arms": 1.515, "two features": 1.137, "32 features": 2.136, "heavy noise": 1.471, "noise believed double": 1.399, "two outcomes": 1.421}),
    Row("jumps", False, "Surprise restart, RandLinUCB", 0.25, 30.0, 1.718, 1.632, 1.807, 3.836, "noise believed double", False, {"rare jumps": 1.857, "frequent jumps": 1.271, "recurring jumps": 1.394, "jumping, then still": 1.318, "few arms": 1.763, "two features": 2.242, "32 features": 1.546, "heavy noise": 1.797, "noise believed double": 3.836, "two outcomes": 1.227}),
    Row("jumps", False, "Surprise restart", 0.25, 75.0, 1.719, 1.623, 1.809, 2.616, "noise believed double", False, {"rare jumps": 2.024, "frequent jumps": 1.178, "recurring jumps": 1.343, "jumping, then still": 1.255, "few arms": 1.855, "two features": 1.998, "32 features": 2.111, "heavy noise": 1.899, "noise believed double": 2.616, "two outcomes": 1.446}),
    Row("jumps", True, "Change points", 0.5, _FOREVER, 1.097, 1.037, 1.155, 1.458, "32 features", False, {"rare jumps": 1.24, "frequent jumps": 1.0, "recurring jumps": 1.0, "jumping, then still": 1.056, "few arms": 1.0, "two features": 1.0, "32 features": 1.458}),
    Row("jumps", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.123, 1.07, 1.177, 1.57, "32 features", False, {"rare jumps": 1.0, "frequent jumps": 1.026, "recurring jumps": 1.036, "jumping, then still": 1.012, "few arms": 1.302, "two features": 1.028, "32 features": 1.57}),
    Row("jumps", True, "Change points", 1.0, _FOREVER, 1.382, 1.318, 1.46, 2.136, "32 features", False, {"rare jumps": 1.266, "frequent jumps": 1.212, "recurring jumps": 1.327, "jumping, then still": 1.287, "few arms": 1.515, "two features": 1.137, "32 features": 2.136}),
    Row("jumps", True, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.515, 1.366, 1.667, 2.586, "few arms", False, {"rare jumps": 1.179, "frequent jumps": 1.263, "recurring jumps": 1.458, "jumping, then still": 1.519, "few arms": 2.586, "two features": 1.135, "32 features": 1.887}),
    Row("jumps", True, "Surprise restart, RandLinUCB", 0.25, 30.0, 1.597, 1.52, 1.688, 2.242, "two features", False, {"rare jumps": 1.857, "frequent jumps": 1.271, "recurring jumps": 1.394, "jumping, then still": 1.318, "few arms": 1.763, "two features": 2.242, "32 features": 1.546}),
    Row("drift", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.271, 1.233, 1.312, 1.57, "low noise", False, {"slow drift": 1.352, "fast drift": 1.155, "random walk": 1.432, "mean reversion": 1.096, "one coordinate": 1.244, "fresh arms": 1.292, "many arms": 1.142, "correlated arms": 1.143, "16 features": 1.392, "low noise": 1.57, "high noise": 1.286, "noise believed half": 1.25, "wrong prior": 1.304, "curved rewards": 1.221}),
    Row("drift", False, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.283, 1.242, 1.324, 1.757, "low noise", False, {"slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "fresh arms": 1.286, "many arms": 1.246, "correlated arms": 1.054, "16 features": 1.327, "low noise": 1.757, "high noise": 1.374, "noise believed half": 1.314, "wrong prior": 1.415, "curved rewards": 1.038}),
    Row("drift", False, "Change points", 0.5, _FOREVER, 1.324, 1.275, 1.366, 1.617, "wrong prior", False, {"slow drift": 1.314, "fast drift": 1.114, "random walk": 1.545, "mean reversion": 1.232, "one coordinate": 1.236, "fresh arms": 1.421, "many arms": 1.337, "correlated arms": 1.222, "16 features": 1.299, "low noise": 1.428, "high noise": 1.402, "noise believed half": 1.318, "wrong prior": 1.617, "curved rewards": 1.147}),
    Row("drift", False, "Discount mixture", 0.25, _FOREVER, 1.33, 1.273, 1.389, 1.967, "wrong prior", False, {"slow drift": 1.587, "fast drift": 1.189, "random walk": 1.339, "mean reversion": 1.102, "one coordinate": 1.261, "fresh arms": 1.381, "many arms": 1.246, "correlated arms": 1.099, "16 features": 1.584, "low noise": 1.243, "high noise": 1.411, "noise believed half": 1.115, "wrong prior": 1.967, "curved rewards": 1.346}),
    Row("drift", False, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.332, 1.292, 1.373, 1.757, "low noise", False, {"slow drift": 1.414, "fast drift": 1.156, "random walk": 1.704, "mean reversion": 1.068, "one coordinate": 1.321, "fresh arms": 1.314, "many arms": 1.244, "correlated arms": 1.208, "16 features": 1.296, "low noise": 1.757, "high noise": 1.259, "noise believed half": 1.689, "wrong prior": 1.124, "curved rewards": 1.303}),
    Row("drift", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.273, 1.233, 1.312, 1.57, "low noise", False, {"slow drift": 1.352, "fast drift": 1.155, "random walk": 1.432, "mean reversion": 1.096, "one coordinate": 1.244, "fresh arms": 1.292, "many arms": 1.142, "correlated arms": 1.143, "16 features": 1.392, "low noise": 1.57, "high noise": 1.286, "wrong prior": 1.304, "curved rewards": 1.221}),
    Row("drift", True, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.28, 1.236, 1.325, 1.757, "low noise", False, {"slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "fresh arms": 1.286, "many arms": 1.246, "correlated arms": 1.054, "16 features": 1.327, "low noise": 1.757, "high noise": 1.374, "wrong prior": 1.415, "curved rewards": 1.038}),
    Row("drift", True, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.307, 1.268, 1.358, 1.757, "low noise", False, {"slow drift": 1.414, "fast drift": 1.156, "random walk": 1.704, "mean reversion": 1.068, "one coordinate": 1.321, "fresh arms": 1.314, "many arms": 1.244, "correlated arms": 1.208, "16 features": 1.296, "low noise": 1.757, "high noise": 1.259, "wrong prior": 1.124, "curved rewards": 1.303}),
    Row("drift", True, "Change points", 0.5, _FOREVER, 1.324, 1.275, 1.37, 1.617, "wrong prior", False, {"slow drift": 1.314, "fast drift": 1.114, "random walk": 1.545, "mean reversion": 1.232, "one coordinate": 1.236, "fresh arms": 1.421, "many arms": 1.337, "correlated arms": 1.222, "16 features": 1.299, "low noise": 1.428, "high noise": 1.402, "wrong prior": 1.617, "curved rewards": 1.147}),
    Row("drift", True, "Random-walk LinTS", 0.5, 75.0, 1.345, 1.293, 1.392, 2.778, "fast drift", True, {"slow drift": 1.151, "fast drift": 2.778, "random walk": 1.392, "mean reversion": 1.006, "one coordinate": 1.143, "fresh arms": 1.307, "many arms": 1.354, "correlated arms": 1.0, "16 features": 1.744, "low noise": 1.878, "high noise": 1.673, "wrong prior": 0.996, "curved rewards": 0.953}),
    Row("unknown", False, "Change points, RandLinUCB", 1.0, _FOREVER, 1.233, 1.196, 1.271, 2.232, "still, 16 features", False, {"rare jumps": 1.0, "frequent jumps": 1.026, "recurring jumps": 1.036, "slow drift": 1.352, "fast drift": 1.155, "random walk": 1.432, "mean reversion": 1.096, "one coordinate": 1.244, "still": 1.313, "still and loud": 1.0, "still, 16 features": 2.232, "jumping, then still": 1.012, "fresh arms": 1.292, "few arms": 1.302, "many arms": 1.142, "correlated arms": 1.143, "two features": 1.028, "16 features": 1.392, "32 features": 1.57, "low noise": 1.57, "high noise": 1.286, "heavy noise": 1.256, "noise believed half": 1.25, "noise believed double": 1.11, "wrong prior": 1.304, "curved rewards": 1.221, "two outcomes": 1.082}),
    Row("unknown", False, "Change points", 0.5, _FOREVER, 1.283, 1.223, 1.334, 3.502, "still", False, {"rare jumps": 1.24, "frequent jumps": 1.0, "recurring jumps": 1.0, "slow drift": 1.314, "fast drift": 1.114, "random walk": 1.545, "mean reversion": 1.232, "one coordinate": 1.236, "still": 3.502, "still and loud": 1.417, "still, 16 features": 1.366, "jumping, then still": 1.056, "fresh arms": 1.421, "few arms": 1.0, "many arms": 1.337, "correlated arms": 1.222, "two features": 1.0, "16 features": 1.299, "32 features": 1.458, "low noise": 1.428, "high noise": 1.402, "heavy noise": 1.259, "noise believed half": 1.318, "noise believed double": 1.0, "wrong prior": 1.617, "curved rewards": 1.147, "two outcomes": 1.0}),
    Row("unknown", False, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.515, 1.453, 1.582, 2.688, "two features", False, {"rare jumps": 2.01, "frequent jumps": 1.738, "recurring jumps": 1.983, "slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "still": 2.085, "still and loud": 1.786, "still, 16 features": 1.567, "jumping, then still": 1.863, "fresh arms": 1.286, "few arms": 2.234, "many arms": 1.246, "correlated arms": 1.054, "two features": 2.688, "16 features": 1.327, "32 features": 1.601, "low noise": 1.38, "high noise": 1.374, "heavy noise": 1.186, "noise believed half": 1.314, "noise believed double": 2.642, "wrong prior": 1.415, "curved rewards": 1.038, "two outcomes": 1.265}),
    Row("unknown", False, "Change points", 1.0, _FOREVER, 1.53, 1.489, 1.575, 2.554, "still, 16 features", False, {"rare jumps": 1.266, "frequent jumps": 1.212, "recurring jumps": 1.327, "slow drift": 1.658, "fast drift": 1.456, "random walk": 1.659, "mean reversion": 1.315, "one coordinate": 1.715, "still": 1.633, "still and loud": 1.543, "still, 16 features": 2.554, "jumping, then still": 1.287, "fresh arms": 1.724, "few arms": 1.515, "many arms": 1.51, "correlated arms": 1.416, "two features": 1.137, "16 features": 1.74, "32 features": 2.136, "low noise": 1.898, "high noise": 1.608, "heavy noise": 1.471, "noise believed half": 1.614, "noise believed double": 1.399, "wrong prior": 1.258, "curved rewards": 1.494, "two outcomes": 1.421}),
    Row("unknown", False, "Discount mixture", 0.25, _FOREVER, 1.544, 1.469, 1.618, 3.101, "still", False, {"rare jumps": 2.007, "frequent jumps": 1.77, "recurring jumps": 1.916, "slow drift": 1.587, "fast drift": 1.189, "random walk": 1.339, "mean reversion": 1.102, "one coordinate": 1.261, "still": 3.101, "still and loud": 1.346, "still, 16 features": 2.112, "jumping, then still": 1.765, "fresh arms": 1.381, "few arms": 1.767, "many arms": 1.246, "correlated arms": 1.099, "two features": 2.449, "16 features": 1.584, "32 features": 1.493, "low noise": 1.243, "high noise": 1.411, "heavy noise": 1.0, "noise believed half": 1.115, "noise believed double": 2.491, "wrong prior": 1.967, "curved rewards": 1.346, "two outcomes": 1.333}),
    Row("unknown", True, "Change points, RandLinUCB", 1.0, _FOREVER, 1.244, 1.204, 1.284, 2.232, "still, 16 features", False, {"rare jumps": 1.0, "frequent jumps": 1.026, "recurring jumps": 1.036, "slow drift": 1.352, "fast drift": 1.155, "random walk": 1.432, "mean reversion": 1.096, "one coordinate": 1.244, "still": 1.313, "still and loud": 1.0, "still, 16 features": 2.232, "jumping, then still": 1.012, "fresh arms": 1.292, "few arms": 1.302, "many arms": 1.142, "correlated arms": 1.143, "two features": 1.028, "16 features": 1.392, "32 features": 1.57, "low noise": 1.57, "high noise": 1.286, "wrong prior": 1.304, "curved rewards": 1.221}),
    Row("unknown", True, "Change points", 0.5, _FOREVER, 1.31, 1.237, 1.371, 3.502, "still", False, {"rare jumps": 1.24, "frequent jumps": 1.0, "recurring jumps": 1.0, "slow drift": 1.314, "fast drift": 1.114, "random walk": 1.545, "mean reversion": 1.232, "one coordinate": 1.236, "still": 3.502, "still and loud": 1.417, "still, 16 features": 1.366, "jumping, then still": 1.056, "fresh arms": 1.421, "few arms": 1.0, "many arms": 1.337, "correlated arms": 1.222, "two features": 1.0, "16 features": 1.299, "32 features": 1.458, "low noise": 1.428, "high noise": 1.402, "wrong prior": 1.617, "curved rewards": 1.147}),
    Row("unknown", True, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.515, 1.444, 1.579, 2.688, "two features", False, {"rare jumps": 2.01, "frequent jumps": 1.738, "recurring jumps": 1.983, "slow drift": 1.35, "fast drift": 1.195, "random walk": 1.383, "mean reversion": 1.172, "one coordinate": 1.198, "still": 2.085, "still and loud": 1.786, "still, 16 features": 1.567, "jumping, then still": 1.863, "fresh arms": 1.286, "few arms": 2.234, "many arms": 1.246, "correlated arms": 1.054, "two features": 2.688, "16 features": 1.327, "32 features": 1.601, "low noise": 1.38, "high noise": 1.374, "wrong prior": 1.415, "curved rewards": 1.038}),
    Row("unknown", True, "Change points", 1.0, _FOREVER, 1.54, 1.495, 1.586, 2.554, "still, 16 features", False, {"rare jumps": 1.266, "frequent jumps": 1.212, "recurring jumps": 1.327, "slow drift": 1.658, "fast drift": 1.456, "random walk": 1.659, "mean reversion": 1.315, "one coordinate": 1.715, "still": 1.633, "still and loud": 1.543, "still, 16 features": 2.554, "jumping, then still": 1.287, "fresh arms": 1.724, "few arms": 1.515, "many arms": 1.51, "correlated arms": 1.416, "two features": 1.137, "16 features": 1.74, "32 features": 2.136, "low noise": 1.898, "high noise": 1.608, "wrong prior": 1.258, "curved rewards": 1.494}),
    Row("unknown", True, "Discount mixture", 0.25, _FOREVER, 1.573, 1.49, 1.66, 3.101, "still", False, {"rare jumps": 2.007, "frequent jumps": 1.77, "recurring jumps": 1.916, "slow drift": 1.587, "fast drift": 1.189, "random walk": 1.339, "mean reversion": 1.102, "one coordinate": 1.261, "still": 3.101, "still and loud": 1.346, "still, 16 features": 2.112, "jumping, then still": 1.765, "fresh arms": 1.381, "few arms": 1.767, "many arms": 1.246, "correlated arms": 1.099, "two features": 2.449, "16 features": 1.584, "32 features": 1.493, "low noise": 1.243, "high noise": 1.411, "wrong prior": 1.967, "curved rewards": 1.346}),
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
