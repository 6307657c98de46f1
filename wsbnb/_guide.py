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
MADE_BY = "6bb451b55d"
ROWS = (
    Row("still", False, "WSB-RandLinUCB", 1.0, _FOREVER, 1.431, 1.057, 2.049, 1.492, "still, 16 features", True, {"still": 1.413, "still and loud": 1.389, "still, 16 features": 1.492}),
    Row("still", False, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.437, 1.057, 2.05, 1.492, "still, 16 features", False, {"still": 1.413, "still and loud": 1.407, "still, 16 features": 1.492}),
    Row("still", False, "WSB-LinTS", 0.25, 480.0, 1.488, 1.102, 2.161, 1.846, "still", True, {"still": 1.846, "still and loud": 1.029, "still, 16 features": 1.733}),
    Row("still", False, "Surprise restart", 0.25, 480.0, 1.602, 1.178, 2.337, 2.308, "still", False, {"still": 2.308, "still and loud": 1.029, "still, 16 features": 1.733}),
    Row("still", False, "D-LinUCB", 0.25, _FOREVER, 1.608, 1.253, 2.233, 2.107, "still, 16 features", True, {"still": 1.468, "still and loud": 1.343, "still, 16 features": 2.107}),
    Row("still", True, "WSB-RandLinUCB", 1.0, _FOREVER, 1.431, 1.057, 2.049, 1.492, "still, 16 features", True, {"still": 1.413, "still and loud": 1.389, "still, 16 features": 1.492}),
    Row("still", True, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.437, 1.057, 2.05, 1.492, "still, 16 features", False, {"still": 1.413, "still and loud": 1.407, "still, 16 features": 1.492}),
    Row("still", True, "WSB-LinTS", 0.25, 480.0, 1.488, 1.102, 2.161, 1.846, "still", True, {"still": 1.846, "still and loud": 1.029, "still, 16 features": 1.733}),
    Row("still", True, "Surprise restart", 0.25, 480.0, 1.602, 1.178, 2.337, 2.308, "still", False, {"still": 2.308, "still and loud": 1.029, "still, 16 features": 1.733}),
    Row("still", True, "D-LinUCB", 0.25, _FOREVER, 1.608, 1.253, 2.233, 2.107, "still, 16 features", True, {"still": 1.468, "still and loud": 1.343, "still, 16 features": 2.107}),
    Row("jumps", False, "Surprise restart, RandLinUCB", 0.25, 30.0, 1.405, 1.352, 1.471, 2.155, "two features", False, {"rare jumps": 1.574, "frequent jumps": 1.117, "recurring jumps": 1.0, "jumping, then still": 1.013, "few arms": 1.271, "two features": 2.155, "32 features": 1.546, "heavy noise": 1.797, "noise believed double": 1.912, "two outcomes": 1.158}),
    Row("jumps", False, "Surprise restart", 0.25, 75.0, 1.406, 1.34, 1.477, 2.111, "32 features", False, {"rare jumps": 1.716, "frequent jumps": 1.035, "recurring jumps": 0.963, "jumping, then still": 0.964, "few arms": 1.338, "two features": 1.92, "32 features": 2.111, "heavy noise": 1.899, "noise believed double": 1.304, "two outcomes": 1.365}),
    Row("jumps", False, "Discount mixture", 0.25, _FOREVER, 1.425, 1.363, 1.488, 2.354, "two features", False, {"rare jumps": 1.702, "frequent jumps": 1.555, "recurring jumps": 1.374, "jumping, then still": 1.357, "few arms": 1.274, "two features": 2.354, "32 features": 1.493, "heavy noise": 1.0, "noise believed double": 1.242, "two outcomes": 1.257}),
    Row("jumps", False, "Discount mixture, RandLinUCB", 0.25, _FOREVER, 1.473, 1.395, 1.555, 2.352, "two features", False, {"rare jumps": 1.808, "frequent jumps": 1.638, "recurring jumps": 1.465, "jumping, then still": 1.356, "few arms": 1.71, "two features": 2.352, "32 features": 1.461, "heavy noise": 1.006, "noise believed double": 1.218, "two outcomes": 1.135}),
    Row("jumps", False, "WSB-RandLinUCB", 0.25, 30.0, 1.544, 1.471, 1.625, 3.638, "two features", True, {"rare jumps": 1.81, "frequent jumps": 1.643, "recurring jumps": 1.492, "jumping, then still": 1.407, "few arms": 1.394, "two features": 3.638, "32 features": 1.551, "heavy noise": 1.193, "noise believed double": 1.132, "two outcomes": 1.158}),
    Row("jumps", True, "Surprise restart, RandLinUCB", 1.0, _FOREVER, 1.266, 1.151, 1.378, 1.887, "32 features", False, {"rare jumps": 1.0, "frequent jumps": 1.11, "recurring jumps": 1.046, "jumping, then still": 1.168, "few arms": 1.864, "two features": 1.091, "32 features": 1.887}),
    Row("jumps", True, "Surprise restart, RandLinUCB", 0.25, 30.0, 1.335, 1.282, 1.393, 2.155, "two features", False, {"rare jumps": 1.574, "frequent jumps": 1.117, "recurring jumps": 1.0, "jumping, then still": 1.013, "few arms": 1.271, "two features": 2.155, "32 features": 1.546}),
    Row("jumps", True, "Surprise restart", 0.25, 75.0, 1.368, 1.293, 1.445, 2.111, "32 features", False, {"rare jumps": 1.716, "frequent jumps": 1.035, "recurring jumps": 0.963, "jumping, then still": 0.964, "few arms": 1.338, "two features": 1.92, "32 features": 2.111}),
    Row("jumps", True, "Surprise restart", 1.0, _FOREVER, 1.371, 1.256, 1.483, 2.458, "32 features", False, {"rare jumps": 1.091, "frequent jumps": 1.238, "recurring jumps": 1.188, "jumping, then still": 1.152, "few arms": 1.808, "two features": 1.106, "32 features": 2.458}),
    Row("jumps", True, "Discount mixture", 0.25, _FOREVER, 1.556, 1.472, 1.646, 2.354, "two features", False, {"rare jumps": 1.702, "frequent jumps": 1.555, "recurring jumps": 1.374, "jumping, then still": 1.357, "few arms": 1.274, "two features": 2.354, "32 features": 1.493}),
    Row("drift", False, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.249, 1.205, 1.297, 1.568, "low noise", False, {"slow drift": 1.35, "fast drift": 1.195, "random walk": 1.208, "mean reversion": 1.172, "one coordinate": 1.198, "fresh arms": 1.252, "many arms": 1.246, "correlated arms": 1.0, "16 features": 1.327, "low noise": 1.568, "high noise": 1.374, "noise believed half": 1.314, "wrong prior": 1.357, "curved rewards": 1.038}),
    Row("drift", False, "Discount mixture", 0.25, _FOREVER, 1.296, 1.239, 1.357, 1.887, "wrong prior", False, {"slow drift": 1.587, "fast drift": 1.189, "random walk": 1.17, "mean reversion": 1.102, "one coordinate": 1.261, "fresh arms": 1.345, "many arms": 1.246, "correlated arms": 1.043, "16 features": 1.584, "low noise": 1.11, "high noise": 1.411, "noise believed half": 1.115, "wrong prior": 1.887, "curved rewards": 1.346}),
    Row("drift", False, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.297, 1.252, 1.344, 1.689, "noise believed half", False, {"slow drift": 1.414, "fast drift": 1.156, "random walk": 1.489, "mean reversion": 1.068, "one coordinate": 1.321, "fresh arms": 1.28, "many arms": 1.244, "correlated arms": 1.146, "16 features": 1.296, "low noise": 1.568, "high noise": 1.259, "noise believed half": 1.689, "wrong prior": 1.078, "curved rewards": 1.303}),
    Row("drift", False, "WSB-LinTS", 0.25, 75.0, 1.333, 1.283, 1.392, 3.233, "fast drift", True, {"slow drift": 1.24, "fast drift": 3.233, "random walk": 1.393, "mean reversion": 1.052, "one coordinate": 1.209, "fresh arms": 1.183, "many arms": 1.594, "correlated arms": 1.039, "16 features": 1.265, "low noise": 1.129, "high noise": 1.208, "noise believed half": 1.14, "wrong prior": 1.563, "curved rewards": 1.302}),
    Row("drift", False, "WSB-LinUCB", 0.12, 190.0, 1.402, 1.35, 1.459, 3.958, "fast drift", True, {"slow drift": 1.2, "fast drift": 3.958, "random walk": 1.351, "mean reversion": 1.121, "one coordinate": 1.147, "fresh arms": 1.469, "many arms": 1.383, "correlated arms": 1.099, "16 features": 1.635, "low noise": 1.023, "high noise": 1.232, "noise believed half": 1.479, "wrong prior": 1.572, "curved rewards": 1.289}),
    Row("drift", True, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.245, 1.195, 1.294, 1.568, "low noise", False, {"slow drift": 1.35, "fast drift": 1.195, "random walk": 1.208, "mean reversion": 1.172, "one coordinate": 1.198, "fresh arms": 1.252, "many arms": 1.246, "correlated arms": 1.0, "16 features": 1.327, "low noise": 1.568, "high noise": 1.374, "wrong prior": 1.357, "curved rewards": 1.038}),
    Row("drift", True, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.271, 1.226, 1.323, 1.568, "low noise", False, {"slow drift": 1.414, "fast drift": 1.156, "random walk": 1.489, "mean reversion": 1.068, "one coordinate": 1.321, "fresh arms": 1.28, "many arms": 1.244, "correlated arms": 1.146, "16 features": 1.296, "low noise": 1.568, "high noise": 1.259, "wrong prior": 1.078, "curved rewards": 1.303}),
    Row("drift", True, "Discount mixture", 0.25, _FOREVER, 1.311, 1.251, 1.375, 1.887, "wrong prior", False, {"slow drift": 1.587, "fast drift": 1.189, "random walk": 1.17, "mean reversion": 1.102, "one coordinate": 1.261, "fresh arms": 1.345, "many arms": 1.246, "correlated arms": 1.043, "16 features": 1.584, "low noise": 1.11, "high noise": 1.411, "wrong prior": 1.887, "curved rewards": 1.346}),
    Row("drift", True, "WSB-LinTS", 0.25, 75.0, 1.349, 1.295, 1.409, 3.233, "fast drift", True, {"slow drift": 1.24, "fast drift": 3.233, "random walk": 1.393, "mean reversion": 1.052, "one coordinate": 1.209, "fresh arms": 1.183, "many arms": 1.594, "correlated arms": 1.039, "16 features": 1.265, "low noise": 1.129, "high noise": 1.208, "wrong prior": 1.563, "curved rewards": 1.302}),
    Row("drift", True, "WSB-LinUCB", 0.12, 190.0, 1.397, 1.338, 1.454, 3.958, "fast drift", True, {"slow drift": 1.2, "fast drift": 3.958, "random walk": 1.351, "mean reversion": 1.121, "one coordinate": 1.147, "fresh arms": 1.469, "many arms": 1.383, "correlated arms": 1.099, "16 features": 1.635, "low noise": 1.023, "high noise": 1.232, "wrong prior": 1.572, "curved rewards": 1.289}),
    Row("unknown", False, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.387, 1.324, 1.456, 2.583, "two features", False, {"rare jumps": 1.704, "frequent jumps": 1.526, "recurring jumps": 1.422, "slow drift": 1.35, "fast drift": 1.195, "random walk": 1.208, "mean reversion": 1.172, "one coordinate": 1.198, "still": 2.085, "still and loud": 1.779, "still, 16 features": 1.567, "jumping, then still": 1.432, "fresh arms": 1.252, "few arms": 1.61, "many arms": 1.246, "correlated arms": 1.0, "two features": 2.583, "16 features": 1.327, "32 features": 1.601, "low noise": 1.232, "high noise": 1.374, "heavy noise": 1.186, "noise believed half": 1.314, "noise believed double": 1.317, "wrong prior": 1.357, "curved rewards": 1.038, "two outcomes": 1.194}),
    Row("unknown", False, "Discount mixture", 0.25, _FOREVER, 1.413, 1.336, 1.489, 3.101, "still", False, {"rare jumps": 1.702, "frequent jumps": 1.555, "recurring jumps": 1.374, "slow drift": 1.587, "fast drift": 1.189, "random walk": 1.17, "mean reversion": 1.102, "one coordinate": 1.261, "still": 3.101, "still and loud": 1.34, "still, 16 features": 2.112, "jumping, then still": 1.357, "fresh arms": 1.345, "few arms": 1.274, "many arms": 1.246, "correlated arms": 1.043, "two features": 2.354, "16 features": 1.584, "32 features": 1.493, "low noise": 1.11, "high noise": 1.411, "heavy noise": 1.0, "noise believed half": 1.115, "noise believed double": 1.242, "wrong prior": 1.887, "curved rewards": 1.346, "two outcomes": 1.257}),
    Row("unknown", False, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.501, 1.445, 1.57, 2.887, "two features", False, {"rare jumps": 2.017, "frequent jumps": 1.58, "recurring jumps": 1.536, "slow drift": 1.414, "fast drift": 1.156, "random walk": 1.489, "mean reversion": 1.068, "one coordinate": 1.321, "still": 1.985, "still and loud": 1.374, "still, 16 features": 2.157, "jumping, then still": 1.5, "fresh arms": 1.28, "few arms": 2.223, "many arms": 1.244, "correlated arms": 1.146, "two features": 2.887, "16 features": 1.296, "32 features": 1.73, "low noise": 1.568, "high noise": 1.259, "heavy noise": 1.376, "noise believed half": 1.689, "noise believed double": 1.586, "wrong prior": 1.078, "curved rewards": 1.303, "two outcomes": 1.446}),
    Row("unknown", False, "Surprise restart, RandLinUCB", 0.25, 75.0, 1.596, 1.532, 1.665, 6.367, "noise believed half", False, {"rare jumps": 1.316, "frequent jumps": 1.143, "recurring jumps": 1.062, "slow drift": 1.445, "fast drift": 3.513, "random walk": 1.341, "mean reversion": 1.142, "one coordinate": 1.368, "still": 2.927, "still and loud": 2.279, "still, 16 features": 3.502, "jumping, then still": 1.044, "fresh arms": 1.077, "few arms": 1.109, "many arms": 1.542, "correlated arms": 1.067, "two features": 1.522, "16 features": 1.127, "32 features": 1.446, "low noise": 1.157, "high noise": 1.305, "heavy noise": 1.953, "noise believed half": 6.367, "noise believed double": 1.912, "wrong prior": 2.667, "curved rewards": 1.239, "two outcomes": 1.269}),
    Row("unknown", False, "WSB-RandLinUCB", 0.25, 30.0, 1.659, 1.593, 1.734, 5.235, "still, 16 features", True, {"rare jumps": 1.81, "frequent jumps": 1.643, "recurring jumps": 1.492, "slow drift": 1.292, "fast drift": 1.469, "random walk": 1.754, "mean reversion": 1.075, "one coordinate": 1.199, "still": 4.179, "still and loud": 3.134, "still, 16 features": 5.235, "jumping, then still": 1.407, "fresh arms": 1.956, "few arms": 1.394, "many arms": 2.05, "correlated arms": 0.998, "two features": 3.638, "16 features": 1.281, "32 features": 1.551, "low noise": 1.388, "high noise": 1.316, "heavy noise": 1.193, "noise believed half": 1.188, "noise believed double": 1.132, "wrong prior": 2.634, "curved rewards": 1.308, "two outcomes": 1.158}),
    Row("unknown", True, "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.412, 1.338, 1.492, 2.583, "two features", False, {"rare jumps": 1.704, "frequent jumps": 1.526, "recurring jumps": 1.422, "slow drift": 1.35, "fast drift": 1.195, "random walk": 1.208, "mean reversion": 1.172, "one coordinate": 1.198, "still": 2.085, "still and loud": 1.779, "still, 16 features": 1.567, "jumping, then still": 1.432, "fresh arms": 1.252, "few arms": 1.61, "many arms": 1.246, "correlated arms": 1.0, "two features": 2.583, "16 features": 1.327, "32 features": 1.601, "low noise": 1.232, "high noise": 1.374, "wrong prior": 1.357, "curved rewards": 1.038}),
    Row("unknown", True, "Discount mixture", 0.25, _FOREVER, 1.465, 1.369, 1.56, 3.101, "still", False, {"rare jumps": 1.702, "frequent jumps": 1.555, "recurring jumps": 1.374, "slow drift": 1.587, "fast drift": 1.189, "random walk": 1.17, "mean reversion": 1.102, "one coordinate": 1.261, "still": 3.101, "still and loud": 1.34, "still, 16 features": 2.112, "jumping, then still": 1.357, "fresh arms": 1.345, "few arms": 1.274, "many arms": 1.246, "correlated arms": 1.043, "two features": 2.354, "16 features": 1.584, "32 features": 1.493, "low noise": 1.11, "high noise": 1.411, "wrong prior": 1.887, "curved rewards": 1.346}),
    Row("unknown", True, "Surprise restart, RandLinUCB", 0.25, 75.0, 1.493, 1.422, 1.573, 3.513, "fast drift", False, {"rare jumps": 1.316, "frequent jumps": 1.143, "recurring jumps": 1.062, "slow drift": 1.445, "fast drift": 3.513, "random walk": 1.341, "mean reversion": 1.142, "one coordinate": 1.368, "still": 2.927, "still and loud": 2.279, "still, 16 features": 3.502, "jumping, then still": 1.044, "fresh arms": 1.077, "few arms": 1.109, "many arms": 1.542, "correlated arms": 1.067, "two features": 1.522, "16 features": 1.127, "32 features": 1.446, "low noise": 1.157, "high noise": 1.305, "wrong prior": 2.667, "curved rewards": 1.239}),
    Row("unknown", True, "Discount mixture, RandLinUCB", 1.0, _FOREVER, 1.498, 1.434, 1.578, 2.887, "two features", False, {"rare jumps": 2.017, "frequent jumps": 1.58, "recurring jumps": 1.536, "slow drift": 1.414, "fast drift": 1.156, "random walk": 1.489, "mean reversion": 1.068, "one coordinate": 1.321, "still": 1.985, "still and loud": 1.374, "still, 16 features": 2.157, "jumping, then still": 1.5, "fresh arms": 1.28, "few arms": 2.223, "many arms": 1.244, "correlated arms": 1.146, "two features": 2.887, "16 features": 1.296, "32 features": 1.73, "low noise": 1.568, "high noise": 1.259, "wrong prior": 1.078, "curved rewards": 1.303}),
    Row("unknown", True, "Surprise restart", 0.25, 75.0, 1.636, 1.578, 1.715, 5.155, "still, 16 features", False, {"rare jumps": 1.358, "frequent jumps": 1.035, "recurring jumps": 0.963, "slow drift": 2.124, "fast drift": 3.066, "random walk": 1.427, "mean reversion": 1.048, "one coordinate": 1.409, "still": 3.576, "still and loud": 3.049, "still, 16 features": 5.155, "jumping, then still": 1.0, "fresh arms": 1.587, "few arms": 1.609, "many arms": 1.601, "correlated arms": 1.058, "two features": 1.513, "16 features": 1.265, "32 features": 2.111, "low noise": 1.162, "high noise": 1.206, "wrong prior": 2.436, "curved rewards": 1.328}),
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
