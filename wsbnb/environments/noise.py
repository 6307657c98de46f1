"""Reward noise: centred laws with a known standard deviation and sub-Gaussian constant.

The paper asks for sigma-sub-Gaussian noise (section 2.1):
log E exp(nu eps) <= nu^2 sigma^2 / 2 for every real nu. `sub_gaussian` is a sigma
for which this holds. It is never below `std`, and equals it for the first three laws.

Every law fills its output in order, a fixed recipe per value, so that drawing ten
values and then five gives the same numbers as drawing fifteen.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from wsbnb import _validate as validate
from wsbnb._types import Array, Generator
from wsbnb.environments._base import Specification


class NoiseRule(Specification):
    """A law of the noise. Has `std` and `sub_gaussian`."""

    @property
    def sub_gaussian(self) -> float:
        """A valid sigma of the sub-Gaussian condition."""
        return self.std

    def sample(self, rng: Generator, n: int) -> Array:
        """`n` independent values."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class GaussianNoise(NoiseRule):
    """Normal noise, N(0, std^2).

    Parameters
    ----------
    std : float
        Standard deviation, zero or positive.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import GaussianNoise
    >>> GaussianNoise(0.5).sample(np.random.default_rng(0), 2).round(3)
    array([ 0.063, -0.066])
    """

    std: float

    def __post_init__(self) -> None:
        self._set(std=validate.nonnegative("std", self.std))

    def sample(self, rng: Generator, n: int) -> Array:
        return self.std * rng.standard_normal(n)


@dataclass(frozen=True, eq=False, repr=False)
class UniformNoise(NoiseRule):
    r"""Noise uniform on :math:`[-\sqrt3\,\mathrm{std}, \sqrt3\,\mathrm{std}]`.

    Its moment generating function is :math:`\sinh(a)/a \le e^{a^2/6}` with
    :math:`a = \sqrt3\,\nu\,\mathrm{std}`, so `sub_gaussian` equals `std`.

    Parameters
    ----------
    std : float
        Standard deviation, zero or positive.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import UniformNoise
    >>> draws = UniformNoise(1.0).sample(np.random.default_rng(0), 1000)
    >>> bool(abs(draws).max() <= 3**0.5)
    True
    """

    std: float

    def __post_init__(self) -> None:
        self._set(std=validate.nonnegative("std", self.std))

    def sample(self, rng: Generator, n: int) -> Array:
        return (np.sqrt(3.0) * self.std) * (2.0 * rng.random(n) - 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class RademacherNoise(NoiseRule):
    r"""Noise that is +std or -std with equal chance.

    :math:`\cosh(\nu\,\mathrm{std}) \le e^{\nu^2 \mathrm{std}^2/2}`, so `sub_gaussian`
    equals `std`.

    Parameters
    ----------
    std : float
        Standard deviation, zero or positive.

    Examples
    --------
    >>> import numpy as np
    >>> from wsbnb.environments import RademacherNoise
    >>> RademacherNoise(0.5).sample(np.random.default_rng(0), 4)
    array([ 0.5, -0.5, -0.5, -0.5])
    """

    std: float

    def __post_init__(self) -> None:
        self._set(std=validate.nonnegative("std", self.std))

    def sample(self, rng: Generator, n: int) -> Array:
        # One 64-bit draw per value: cheaper recipes keep spare bits between calls.
        return np.where(rng.random(n) < 0.5, -self.std, self.std)


@dataclass(frozen=True, eq=False, repr=False)
class BoundedHeavyNoise(NoiseRule):
    r"""Heavy-tailed noise made bounded: a clipped Student t with 2 degrees of freedom.

    The unclipped law has no variance. Values beyond plus or minus `cutoff` are moved
    to the cutoff, and the result is rescaled to have standard deviation `std` exactly.
    With :math:`v = c/\sqrt{2+c^2}` the clipped law has variance
    :math:`2(\operatorname{asinh}(c/\sqrt2) - v) + c^2(1 - v)`.

    Bounded noise is sub-Gaussian, but with a constant above its standard deviation:
    1.75 times at the default cutoff. See `sub_gaussian`.

    Parameters
    ----------
    std : float
        Standard deviation, zero or positive.
    cutoff : float, default 10
        Where the t law is clipped, before rescaling. Larger is heavier.

    Examples
    --------
    >>> from wsbnb.environments import BoundedHeavyNoise
    >>> noise = BoundedHeavyNoise(std=1.0)
    >>> round(noise.bound, 3), round(noise.sub_gaussian, 2)
    (4.815, 1.75)
    """

    std: float
    cutoff: float = 10.0

    def __post_init__(self) -> None:
        self._set(
            std=validate.nonnegative("std", self.std),
            cutoff=validate.positive("cutoff", self.cutoff),
        )

    @property
    def bound(self) -> float:
        """The largest absolute value the noise can take."""
        return self.std * self.cutoff / _clipped_t_std(self.cutoff)

    @property
    def sub_gaussian(self) -> float:
        r"""A valid sub-Gaussian constant, at most 0.3 % above the best general one.

        Among symmetric laws with standard deviation s and bound M the moment
        generating function is largest when all mass sits on -M, 0 and M, because
        :math:`(\cosh y - 1)/y^2` increases with :math:`|y|`. The constant is the one
        of that three-point law. (Hoeffding's lemma would give M.)
        """
        ratio = _clipped_t_std(self.cutoff) / self.cutoff
        return self.std * _three_point_proxy(ratio**2)

    def sample(self, rng: Generator, n: int) -> Array:
        # If v is uniform on (-1, 1) then v sqrt(2 / (1 - v^2)) is Student t, 2 d.o.f.
        edge = self.cutoff / np.sqrt(2.0 + self.cutoff**2)
        v = np.clip(2.0 * rng.random(n) - 1.0, -edge, edge)
        scale = self.std / _clipped_t_std(self.cutoff)
        return scale * v * np.sqrt(2.0 / (1.0 - v * v))


def _clipped_t_std(cutoff):
    """Standard deviation of Student t with 2 degrees of freedom clipped at `cutoff`."""
    edge = cutoff / np.sqrt(2.0 + cutoff**2)
    # 1 - edge without cancellation for large cutoffs.
    outside = 2.0 / ((2.0 + cutoff**2) * (1.0 + edge))
    inside = 2.0 * (np.arcsinh(cutoff / np.sqrt(2.0)) - edge)
    return float(np.sqrt(inside + cutoff**2 * outside))


@lru_cache(maxsize=64)
def _three_point_proxy(q):
    """Sub-Gaussian constant of mass q/2, 1-q, q/2 on -M, 0, M with q M^2 = 1.

    It is the square root of sup_y 2 K(y) / (q y^2), K(y) = log(1 + q (cosh y - 1)),
    y = nu M. The supremum is bounded from above, never just sampled:
    - y <= 0.01: K(y) <= q (cosh y - 1) <= q y^2 / 2 * (1 + 1e-5);
    - grid cell [a, b]: K increases, so the ratio is at most 2 K(b) / (q a^2);
    - y >= 2 / q: K(y) <= y, so the ratio is at most 1.
    """
    q = min(q, 1.0)
    cells = int(np.ceil(np.log(200.0 / q) / 0.002))
    edges = 0.01 * np.exp(0.002 * np.arange(cells + 1))
    tail = np.exp(-edges)
    # log(1 + q (cosh y - 1)) without overflow: q (cosh y - 1) = q e^y (1 - e^-y)^2 / 2.
    log_mgf = np.logaddexp(0.0, np.log(0.5 * q) + edges + 2.0 * np.log1p(-tail))
    ratio = 2.0 * log_mgf[1:] / (q * edges[:-1] ** 2)
    return float(np.sqrt(max(1.0 + 1e-5, ratio.max())))
