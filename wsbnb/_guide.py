# ruff: noqa: E501
"""What the benchmark of worlds says, as data for `recommending`.

Written by `wsbnb.paper.write_guide` from the record; do not edit by hand.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A policy"s standing among worlds that move in one way."""

    moves: str
    policy: str
    scale: float
    memory: float
    ratio: float
    low: float
    high: float
    worst: float
    worst_world: str
    fixed: bool  # one discount, which a log can replace
    steady: bool  # does not take surprises for changes


class World(NamedTuple):
    """A world of the benchmark and the ratios (moves, policy) in it."""

    name: str
    kind: str
    dim: int
    n_arms: int
    noise_std: float
    ratios: dict[tuple[str, str], float]


_FOREVER = float("inf")
# fmt: off

MADE_BY = "986ecca93a+"
ROWS = (
    Row("still", "WSB-RandLinUCB", 0.5, _FOREVER, 1.0, 1.0, 2.354, 1.0, "still", True, True),
    Row("still", "Surprise restart, RandLinUCB", 0.5, _FOREVER, 1.0, 1.0, 2.354, 1.0, "still", False, False),
    Row("still", "WSB-LinUCB", 0.12, _FOREVER, 2.26, 1.0, 6.072, 2.26, "still", True, True),
    Row("still", "D-LinUCB", 0.25, _FOREVER, 2.714, 1.73, 7.134, 2.714, "still", True, True),
    Row("still", "LB-WeightUCB", 0.25, _FOREVER, 2.714, 1.73, 7.134, 2.714, "still", True, True),
    Row("still", "Discount mixture", 0.5, _FOREVER, 2.876, 2.258, 6.095, 2.876, "still", False, False),
    Row("still", "Discount mixture, RandLinUCB", 0.5, _FOREVER, 4.756, 1.677, 14.652, 4.756, "still", False, False),
    Row("still", "WSB-LinTS", 0.12, _FOREVER, 25.044, 10.492, 54.67, 25.044, "still", True, True),
    Row("still", "Surprise restart", 0.12, _FOREVER, 25.044, 10.492, 54.67, 25.044, "still", False, False),
    Row("jumps", "Surprise restart, RandLinUCB", 0.5, 1200.0, 1.0, 1.0, 1.006, 1.0, "rare jumps", False, False),
    Row("jumps", "Surprise restart", 0.5, 480.0, 1.202, 1.021, 1.616, 1.202, "rare jumps", False, False),
    Row("jumps", "LB-WeightUCB", 0.12, 30.0, 1.505, 1.025, 2.053, 1.505, "rare jumps", True, True),
    Row("jumps", "Discount mixture", 0.25, _FOREVER, 1.981, 1.422, 2.809, 1.981, "rare jumps", False, False),
    Row("jumps", "D-LinUCB", 0.12, 30.0, 2.023, 1.152, 3.357, 2.023, "rare jumps", True, True),
    Row("jumps", "WSB-LinUCB", 0.03, 30.0, 2.102, 1.297, 3.128, 2.102, "rare jumps", True, True),
    Row("jumps", "WSB-LinTS", 0.12, 30.0, 2.134, 1.534, 3.288, 2.134, "rare jumps", True, True),
    Row("jumps", "WSB-RandLinUCB", 0.25, 30.0, 2.166, 1.471, 3.183, 2.166, "rare jumps", True, True),
    Row("jumps", "Discount mixture, RandLinUCB", 0.25, _FOREVER, 2.242, 1.82, 3.097, 2.242, "rare jumps", False, False),
    Row("drift", "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.301, 1.0, 1.693, 1.372, "slow drift", False, False),
    Row("drift", "Discount mixture", 0.5, _FOREVER, 1.355, 1.122, 1.681, 1.55, "slow drift", False, False),
    Row("drift", "WSB-LinTS", 0.25, 75.0, 1.456, 1.203, 1.858, 2.004, "slow drift", True, True),
    Row("drift", "WSB-LinUCB", 0.12, 190.0, 1.472, 1.364, 1.761, 1.784, "slow drift", True, True),
    Row("drift", "WSB-RandLinUCB", 0.25, 75.0, 1.508, 1.249, 1.94, 1.543, "slow drift", True, True),
    Row("drift", "Surprise restart", 0.25, 75.0, 1.514, 1.235, 2.006, 2.004, "slow drift", False, False),
    Row("drift", "Surprise restart, RandLinUCB", 0.25, 75.0, 1.518, 1.259, 1.943, 1.543, "slow drift", False, False),
    Row("drift", "D-LinUCB", 0.25, 190.0, 1.867, 1.598, 2.369, 2.361, "slow drift", True, True),
    Row("drift", "LB-WeightUCB", 0.12, 30.0, 2.42, 1.757, 3.336, 2.978, "slow drift", True, True),
    Row("unknown", "Discount mixture", 0.5, _FOREVER, 1.983, 1.656, 2.593, 3.189, "still", False, False),
    Row("unknown", "Discount mixture, RandLinUCB", 0.5, _FOREVER, 1.983, 1.505, 2.75, 4.756, "still", False, False),
    Row("unknown", "LB-WeightUCB", 0.12, 30.0, 2.369, 1.755, 3.363, 4.497, "still", True, True),
    Row("unknown", "WSB-LinUCB", 0.03, 30.0, 2.47, 2.182, 3.199, 4.85, "still", True, True),
    Row("unknown", "WSB-RandLinUCB", 0.25, 75.0, 2.85, 2.622, 3.67, 7.023, "still", True, True),
    Row("unknown", "Surprise restart, RandLinUCB", 0.5, _FOREVER, 2.885, 2.379, 3.753, 6.758, "still", False, False),
    Row("unknown", "D-LinUCB", 0.12, 190.0, 3.236, 2.843, 4.148, 8.082, "still", True, True),
    Row("unknown", "Surprise restart", 0.12, 480.0, 4.364, 3.673, 5.55, 6.608, "still", False, False),
    Row("unknown", "WSB-LinTS", 0.12, 30.0, 4.613, 3.933, 5.838, 8.112, "rare jumps", True, True),
)
WORLDS = (
    World("still", "still", 6, 48, 0.3873, {
        ("still", "D-LinUCB"): 2.714,
        ("still", "LB-WeightUCB"): 2.714,
        ("still", "WSB-LinUCB"): 2.26,
        ("still", "WSB-RandLinUCB"): 1.0,
        ("still", "WSB-LinTS"): 25.044,
        ("still", "Surprise restart"): 25.044,
        ("still", "Surprise restart, RandLinUCB"): 1.0,
        ("still", "Discount mixture"): 2.876,
        ("still", "Discount mixture, RandLinUCB"): 4.756,
        ("unknown", "D-LinUCB"): 8.082,
        ("unknown", "LB-WeightUCB"): 4.497,
        ("unknown", "WSB-LinUCB"): 4.85,
        ("unknown", "WSB-RandLinUCB"): 7.023,
        ("unknown", "WSB-LinTS"): 6.115,
        ("unknown", "Surprise restart"): 6.608,
        ("unknown", "Surprise restart, RandLinUCB"): 6.758,
        ("unknown", "Discount mixture"): 3.189,
        ("unknown", "Discount mixture, RandLinUCB"): 4.756,
    }),
    World("rare jumps", "jumps", 6, 48, 0.3873, {
        ("jumps", "D-LinUCB"): 2.023,
        ("jumps", "LB-WeightUCB"): 1.505,
        ("jumps", "WSB-LinUCB"): 2.102,
        ("jumps", "WSB-RandLinUCB"): 2.166,
        ("jumps", "WSB-LinTS"): 2.134,
        ("jumps", "Surprise restart"): 1.202,
        ("jumps", "Surprise restart, RandLinUCB"): 1.0,
        ("jumps", "Discount mixture"): 1.981,
        ("jumps", "Discount mixture, RandLinUCB"): 2.242,
        ("unknown", "D-LinUCB"): 3.95,
        ("unknown", "LB-WeightUCB"): 2.676,
        ("unknown", "WSB-LinUCB"): 2.102,
        ("unknown", "WSB-RandLinUCB"): 4.132,
        ("unknown", "WSB-LinTS"): 8.112,
        ("unknown", "Surprise restart"): 2.348,
        ("unknown", "Surprise restart, RandLinUCB"): 0.972,
        ("unknown", "Discount mixture"): 2.474,
        ("unknown", "Discount mixture, RandLinUCB"): 2.203,
    }),
    World("slow drift", "drift", 6, 48, 0.3873, {
        ("drift", "D-LinUCB"): 2.361,
        ("drift", "LB-WeightUCB"): 2.978,
        ("drift", "WSB-LinUCB"): 1.784,
        ("drift", "WSB-RandLinUCB"): 1.543,
        ("drift", "WSB-LinTS"): 2.004,
        ("drift", "Surprise restart"): 2.004,
        ("drift", "Surprise restart, RandLinUCB"): 1.543,
        ("drift", "Discount mixture"): 1.55,
        ("drift", "Discount mixture, RandLinUCB"): 1.372,
        ("unknown", "D-LinUCB"): 2.361,
        ("unknown", "LB-WeightUCB"): 1.331,
        ("unknown", "WSB-LinUCB"): 1.784,
        ("unknown", "WSB-RandLinUCB"): 1.543,
        ("unknown", "WSB-LinTS"): 5.572,
        ("unknown", "Surprise restart"): 5.36,
        ("unknown", "Surprise restart, RandLinUCB"): 3.22,
        ("unknown", "Discount mixture"): 1.55,
        ("unknown", "Discount mixture, RandLinUCB"): 1.372,
    }),
    World("random walk", "drift", 6, 48, 0.3873, {
        ("drift", "D-LinUCB"): 1.476,
        ("drift", "LB-WeightUCB"): 1.966,
        ("drift", "WSB-LinUCB"): 1.214,
        ("drift", "WSB-RandLinUCB"): 1.473,
        ("drift", "WSB-LinTS"): 1.058,
        ("drift", "Surprise restart"): 1.143,
        ("drift", "Surprise restart, RandLinUCB"): 1.494,
        ("drift", "Discount mixture"): 1.185,
        ("drift", "Discount mixture, RandLinUCB"): 1.233,
        ("unknown", "D-LinUCB"): 1.455,
        ("unknown", "LB-WeightUCB"): 1.966,
        ("unknown", "WSB-LinUCB"): 2.048,
        ("unknown", "WSB-RandLinUCB"): 1.473,
        ("unknown", "WSB-LinTS"): 1.638,
        ("unknown", "Surprise restart"): 4.361,
        ("unknown", "Surprise restart, RandLinUCB"): 3.276,
        ("unknown", "Discount mixture"): 1.264,
        ("unknown", "Discount mixture, RandLinUCB"): 1.075,
    }),
)
