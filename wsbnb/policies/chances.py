"""With which probability an arm is played: by a formula where there is one."""

import math

import numpy as np

from wsbnb._types import Array, Generator
from wsbnb.kernels.explore import TIE

#: Draws that somebody may want to wait for.
MOST_DRAWS = 10**7
#: Numbers held at once while draws are counted.
_NUMBERS = 2**22


def only(index: int, K: int) -> Array:
    """One arm, for certain."""
    chances = np.zeros(K)
    chances[index] = 1.0
    return chances


def normal_cdf(z: float) -> float:
    """Distribution function of a standard normal."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def best(scores: Array) -> int:
    """The arm with the largest score; ties go to the lowest index, as in a round."""
    top = scores.max()
    return int(np.flatnonzero(scores >= top - TIE * abs(top))[0])


def random_radius(means: Array, widths: Array, up: float, down: float) -> Array:
    """Chances of the arms with the largest ``means + m widths`` for a random m.

    ``m = up max(z, 0) + down max(-z, 0)`` with z standard normal. The scores are lines
    in m; the largest of them changes at a few places only, and between two of them lies
    a known share of the normal law.
    """
    chances = np.zeros(len(means))
    for slope in (up, down):
        if slope == 0.0:
            chances[best(means)] += 0.5
            continue
        # m = slope |z|: follow the upper envelope outwards from m = 0.
        arms, places = _envelope(means, slope * widths)
        below = [normal_cdf(place) for place in places]
        for arm, low, high in zip(arms, below[:-1], below[1:], strict=True):
            chances[arm] += high - low
    return chances


def _envelope(heights, slopes):
    """Arms on top of ``heights + s slopes`` for s from 0 on, and where they take over.

    Returns the arms and one place more than arms: 0, the changes, infinity.
    """
    at, arms, places = 0.0, [], [0.0]
    now = int(heights.argmax())  # among equal lines the lowest index
    while True:
        arms.append(now)
        steeper = np.flatnonzero(slopes > slopes[now])
        if not len(steeper):
            places.append(math.inf)
            return arms, places
        gap = heights[now] - heights[steeper]
        when = np.maximum(gap / (slopes[steeper] - slopes[now]), at)
        first = steeper[when <= when.min()]
        at, now = float(when.min()), int(first[np.argmax(slopes[first])])
        places.append(at)


def two_arms(mean: float, std: float) -> Array:
    """Thompson sampling between two arms whose difference is ``N(mean, std^2)``."""
    if std == 0.0:
        return only(0 if mean >= 0.0 else 1, 2)
    first = normal_cdf(mean / std)
    return np.array([first, 1.0 - first])


def one_dimension(x: Array, mean: float, std: float) -> Array:
    """Thompson sampling among numbers: the largest or the smallest is best."""
    above = normal_cdf(mean / std)
    return above * only(int(x.argmax()), len(x)) + (1.0 - above) * only(
        int(x.argmin()), len(x)
    )


def by_draws(X: Array, mean: Array, root: Array, draws: int, rng: Generator) -> Array:
    """Count which arm is best for ``mean + root z``."""
    counts = np.zeros(len(X), dtype=np.int64)
    centre, spread = X @ mean, X @ root
    step = max(1, _NUMBERS // max(X.shape))
    for start in range(0, draws, step):
        z = rng.standard_normal((min(step, draws - start), len(mean)))
        arms = (centre + z @ spread.T).argmax(axis=1)
        counts += np.bincount(arms, minlength=len(X))
    return counts / draws
