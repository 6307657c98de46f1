r"""Weight rules :math:`w_{s,t}`: how much round *s* still counts at round *t*.

The paper (Section 3) asks two things of a rule with values in [0, 1]:

1. *non-decreasing in s*: :math:`w_{s-1,t} \le w_{s,t}`, an older round never counts
   more than a newer one;
2. *multiplicative consistency*: :math:`w_{s,t} \ge w_{t-1,t}\, w_{s,t-1}` for
   :math:`s < t`, no round loses more in one step than the newest one does.

A rule that meets both is called admissible here. The potential lemma and Theorems 1
and 2 are stated for admissible rules. They hold with a number only if
:math:`w_{t-1,t} > 0`, because :math:`\Lambda_T` contains :math:`\log(1/w_{t-1,t})`.

================================  ==============  ==========  ======================
rule                              non-decreasing  consistent  memory
================================  ==============  ==========  ======================
``Exponential``                   yes             yes         none (a recursion)
``SlidingWindow``                 yes             no (a)      the last ``length``
``Restart``                       yes             yes (b)     none (a recursion)
``Polynomial(of="round")``        yes             yes         none (a recursion)
``Polynomial(of="age")``          yes             yes         every round
``CustomWeights``                 checked         checked     every round
``RandomWalk``                    (c)             (c)         none (a recursion)
================================  ==============  ==========  ======================

(a) The round that leaves the window falls from 1 to 0 while the newest keeps its
full weight. The condition holds only as long as nothing has left
(:math:`T \le` length), or for length 1.

(b) At a restart :math:`w_{t-1,t} = 0`, so the condition is empty there and
:math:`\Lambda_T` is infinite: the theorems say nothing across a restart.

(c) Not a weight for each round: the Kalman filter, which adds to the covariance.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate
from wsbnb._types import Any, Array, FloatOrArray
from wsbnb.kernels import estimate

#: Longest window: its rows must fit into memory.
LONGEST = 2**31
# Rounding allowed when a condition is checked entry by entry.
_SLACK = 1e-12


def nondecreasing_in_s(matrix: ArrayLike) -> bool:
    """Check condition 1 entry by entry on a matrix of weights.

    Parameters
    ----------
    matrix : array of shape (T, T)
        ``matrix[t - 1, s - 1]`` is the weight of round s at round t.

    Returns
    -------
    bool

    Examples
    --------
    >>> nondecreasing_in_s([[1.0, 0.0], [0.9, 1.0]])
    True
    >>> nondecreasing_in_s([[0.5, 0.0], [0.9, 0.5]])
    False
    """
    matrix = _square(matrix)
    steps = np.diff(matrix, axis=1)
    return bool((np.tril(steps, -1) >= -_SLACK).all())


def multiplicatively_consistent(matrix: ArrayLike) -> bool:
    """Check condition 2 entry by entry on a matrix of weights.

    Parameters
    ----------
    matrix : array of shape (T, T)
        ``matrix[t - 1, s - 1]`` is the weight of round s at round t.

    Returns
    -------
    bool

    Examples
    --------
    >>> multiplicatively_consistent(Exponential(0.9).matrix(5))
    True
    >>> multiplicatively_consistent(SlidingWindow(2).matrix(5))
    False
    """
    matrix = _square(matrix)
    newest_kept = np.diag(matrix, -1)[:, None]  # w_{t-1,t} for t = 2..T
    least = newest_kept * np.tril(matrix[:-1, :-1])  # w_{t-1,t} w_{s,t-1}
    return bool((np.tril(matrix[1:, :-1] - least) >= -_SLACK).all())


def _square(matrix: ArrayLike) -> Array:
    array = _validate.matrix("matrix", matrix)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"matrix must be square, got shape {array.shape}")
    return array


class WeightRule:
    """What all rules share; a subclass says how to compute one weight."""

    def _weights(self, s, t):
        raise NotImplementedError

    def __call__(self, s: ArrayLike, t: int) -> FloatOrArray:
        """Weights of the rounds `s` (an int or an array) at round `t`."""
        t = _validate.integer("t", t)
        rounds = np.array(s)  # a copy: a function of your own may write into it
        whole = rounds.dtype.kind in "iu"
        if not whole or (rounds < 1).any() or (rounds > t).any():
            raise ValueError(f"s must hold whole numbers from 1 to t={t}, got {s!r}")
        return self._weights(rounds, t)

    def row(self, t: int) -> Array:
        """All weights at round `t`: the array (w_{1,t}, ..., w_{t,t})."""
        t = _validate.integer("t", t, minimum=0)
        _validate.room("t", t, t)
        if t == 0:
            return np.zeros(0)
        return np.asarray(self._weights(np.arange(1, t + 1), t), dtype=float)

    def matrix(self, T: int) -> Array:
        """Lower triangular (T, T) array; entry [t-1, s-1] is w_{s,t}."""
        T = _validate.integer("T", T)
        _validate.room("T", T, T * T)
        weights = np.zeros((T, T))
        for t in range(1, T + 1):
            weights[t - 1, :t] = self.row(t)
        return weights

    def sum(self, t: int) -> float:
        """Sum of the weights at round `t`, the effective number of observations."""
        return float(self.row(t).sum())

    def squared_sum(self, t: int) -> float:
        """Sum of the squared weights at round `t`, as it enters the noise radius."""
        return float((self.row(t) ** 2).sum())

    def is_nondecreasing(self, T: int | None = None) -> bool:
        """Whether w_{s-1,t} <= w_{s,t} up to round `T` (None: for ever)."""
        if T is not None:
            _validate.integer("T", T)
        return True

    def is_consistent(self, T: int | None = None) -> bool:
        """Whether w_{s,t} >= w_{t-1,t} w_{s,t-1} up to round `T` (None: for ever)."""
        if T is not None:
            _validate.integer("T", T)
        return True

    def is_admissible(self, T: int | None = None) -> bool:
        """Whether the rule meets both conditions of the paper."""
        return self.is_nondecreasing(T) and self.is_consistent(T)

    @property
    def memory(self) -> int | None:
        """Past rounds a posterior must store: 0, a number, or None for all of them."""
        return None

    @property
    def streaming(self) -> bool:
        """Whether a posterior can follow the rule in bounded memory."""
        return self.memory is not None

    def compiled(self) -> Any:
        """The rule as the kernels take it, or None: then all rounds are remembered."""
        return None

    def factor(self, t: int) -> float:
        """The number f_t with w_{s,t} = f_t w_{s,t-1} for every s < t.

        It exists for the rules with ``memory == 0``; the others raise ValueError.
        """
        raise ValueError(
            "factor(t) must be asked of a rule that is a recursion (memory == 0), "
            f"got {self!r}"
        )


@dataclass(frozen=True)
class Exponential(WeightRule):
    r"""Exponential weights :math:`w_{s,t} = \gamma^{t-s}`, the paper's example.

    Parameters
    ----------
    discount : float in (0, 1]
        The discount :math:`\gamma`. With 1 nothing is ever forgotten.

    Notes
    -----
    Admissible, with equality in the second condition. That equality is why the
    posterior is a recursion (paper, eq. WSB-posterior-update).

    Examples
    --------
    >>> Exponential(0.5).row(4).tolist()
    [0.125, 0.25, 0.5, 1.0]
    >>> Exponential(0.5).is_admissible()
    True
    """

    discount: float

    def __post_init__(self) -> None:
        value = _validate.discount("discount", self.discount)
        object.__setattr__(self, "discount", value)

    def _weights(self, s, t):
        return self.discount ** np.asarray(t - s, dtype=float)

    def sum(self, t: int) -> float:
        return self._sum_of_powers(1.0, t)

    def squared_sum(self, t: int) -> float:
        return self._sum_of_powers(2.0, t)

    def _sum_of_powers(self, power, t):
        t = _validate.integer("t", t, minimum=0)
        rate = power * np.log(self.discount)  # next to 1 a square would lose digits
        return float(np.expm1(t * rate) / np.expm1(rate)) if rate else float(t)

    @property
    def memory(self) -> int | None:
        return 0

    def factor(self, t: int) -> float:
        _validate.integer("t", t)
        return self.discount

    def compiled(self) -> Any:
        return estimate.Exponential(self.discount)


@dataclass(frozen=True)
class SlidingWindow(WeightRule):
    r"""Full weight for the last `length` rounds, nothing before.

    .. math:: w_{s,t} = 1\{t - s < \text{length}\}

    Parameters
    ----------
    length : int
        Number of rounds remembered, the current one included.

    Notes
    -----
    Not multiplicatively consistent once a round has left the window: with
    :math:`s = t - \text{length}` the condition reads :math:`0 \ge 1 \cdot 1`. The
    paper's theorems therefore do not cover it.

    Examples
    --------
    >>> SlidingWindow(2).row(4).tolist()
    [0.0, 0.0, 1.0, 1.0]
    >>> SlidingWindow(2).is_consistent(T=2), SlidingWindow(2).is_consistent(T=3)
    (True, False)
    """

    length: int

    def __post_init__(self) -> None:
        value = _validate.integer("length", self.length, maximum=LONGEST)
        object.__setattr__(self, "length", value)

    def _weights(self, s, t):
        return np.asarray(t - s < self.length, dtype=float)

    def sum(self, t: int) -> float:
        return float(min(_validate.integer("t", t, minimum=0), self.length))

    squared_sum = sum

    def is_consistent(self, T: int | None = None) -> bool:
        # Length 1 forgets the newest round too, which makes the condition empty.
        if T is None:
            return self.length == 1
        return _validate.integer("T", T) <= self.length or self.length == 1

    @property
    def memory(self) -> int | None:
        return self.length

    def compiled(self) -> Any:
        return estimate.Window(self.length)


@dataclass(frozen=True)
class Restart(WeightRule):
    r"""Full weight within the current block of `period` rounds, nothing before.

    .. math:: w_{s,t} = 1\{\lceil s/\text{period}\rceil = \lceil t/\text{period}\rceil\}

    Parameters
    ----------
    period : int
        Rounds between two restarts. The first restart comes before round
        ``period + 1``.

    Notes
    -----
    Admissible, but :math:`w_{t-1,t} = 0` at each restart, so that
    :math:`\Lambda_T = \infty` and Theorem 1 is empty across restarts. The radius
    :math:`\beta_t` also falls at a restart; the proof of Theorem 1 takes it to be
    non-decreasing.

    Examples
    --------
    >>> Restart(3).row(5).tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0]
    """

    period: int

    def __post_init__(self) -> None:
        value = _validate.integer("period", self.period)
        object.__setattr__(self, "period", value)

    def _weights(self, s, t):
        return np.asarray((s - 1) // self.period == (t - 1) // self.period, dtype=float)

    def sum(self, t: int) -> float:
        t = _validate.integer("t", t, minimum=0)
        return float((t - 1) % self.period + 1) if t else 0.0

    squared_sum = sum

    @property
    def memory(self) -> int | None:
        return 0

    def factor(self, t: int) -> float:
        return 0.0 if (_validate.integer("t", t) - 1) % self.period == 0 else 1.0

    def compiled(self) -> Any:
        return estimate.Restart(self.period)


@dataclass(frozen=True)
class Polynomial(WeightRule):
    r"""Weights that fall as a power, of the age of a round or of its share of time.

    .. math::

        w_{s,t} = (t - s + 1)^{-p} \ \text{(of="age")}, \qquad
        w_{s,t} = (s / t)^{p} \ \text{(of="round")}

    Parameters
    ----------
    power : float
        The power :math:`p \ge 0`. With 0 all weights are 1.
    of : {"age", "round"}
        Which of the two. "age" forgets the same way at all times, with a heavy tail.
        "round" remembers about :math:`t/(p+1)` rounds: its memory grows with time, so
        it suits changes that become rare.

    Notes
    -----
    Both are admissible. For "round" the second condition is an equality,
    :math:`((t-1)/t)^p (s/(t-1))^p = (s/t)^p`, so the posterior is a recursion and
    :math:`\sum_t \log(1/w_{t-1,t}) = p \log T`. For "age" it reads
    :math:`t - s + 1 \le 2(t - s)`, true for :math:`s < t`; here
    :math:`\sum_t \log(1/w_{t-1,t}) = (T-1)\, p \log 2` grows with T, so Theorem 1 holds
    but its value exceeds the trivial bound.

    Examples
    --------
    >>> Polynomial(1).row(4).round(3).tolist()
    [0.25, 0.333, 0.5, 1.0]
    >>> Polynomial(1, of="round").row(4).tolist()
    [0.25, 0.5, 0.75, 1.0]
    """

    power: float
    of: str = "age"

    def __post_init__(self) -> None:
        value = _validate.nonnegative("power", self.power)
        object.__setattr__(self, "power", value)
        _validate.choice("of", self.of, ("age", "round"))

    def _weights(self, s, t):
        if self.of == "age":
            return (t - np.asarray(s, dtype=float) + 1.0) ** -self.power
        return (np.asarray(s, dtype=float) / t) ** self.power

    @property
    def memory(self) -> int | None:
        return 0 if self.of == "round" else None

    def factor(self, t: int) -> float:
        if self.of == "age":
            return super().factor(t)
        t = _validate.integer("t", t)
        return ((t - 1) / t) ** self.power

    def compiled(self) -> Any:
        return estimate.Polynomial(self.power) if self.of == "round" else None


@dataclass(frozen=True)
class CustomWeights(WeightRule):
    """Weights given by a function of one's own.

    Parameters
    ----------
    function : callable
        ``function(s, t)`` with an array `s` of rounds and an int `t` returns the
        weights of these rounds at round t, each in [0, 1].

    Notes
    -----
    The two conditions are checked entry by entry up to the round asked for, in time
    and memory of order T squared. They cannot be checked for ever.

    Examples
    --------
    >>> rule = CustomWeights(lambda s, t: 0.5 + 0.5 * 0.9 ** (t - s))
    >>> rule.is_admissible(T=50)
    True
    >>> CustomWeights(lambda s, t: 1.0 / s).is_nondecreasing(T=3)
    False
    """

    function: Callable

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"function must be callable as function(s, t), got {self.function!r}"
            )

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", None) or repr(self.function)
        return f"CustomWeights(function={name})"

    def _weights(self, s, t):
        values = _validate.finite_array("function(s, t)", self.function(s, t))
        if values.shape != s.shape:
            raise ValueError(
                f"function(s, t) must return an array of shape {s.shape} like s, "
                f"got shape {values.shape}"
            )
        if (values < 0.0).any() or (values > 1.0).any():
            bad = values[(values < 0.0) | (values > 1.0)].flat[0]
            raise ValueError(
                f"function(s, t) must return weights in [0, 1], got {bad} at t={t}"
            )
        return values

    def is_nondecreasing(self, T: int | None = None) -> bool:
        return nondecreasing_in_s(self.matrix(self._limit(T)))

    def is_consistent(self, T: int | None = None) -> bool:
        return multiplicatively_consistent(self.matrix(self._limit(T)))

    @staticmethod
    def _limit(T):
        if T is None:
            raise ValueError(
                "T must be given for custom weights: they can only be checked up to "
                "a round, got None"
            )
        return _validate.integer("T", T)


@dataclass(frozen=True)
class RandomWalk(WeightRule):
    r"""No weights: the parameter walks at random, and the doubt grows with it.

    Each round adds a part of the prior's covariance,
    :math:`\Sigma \leftarrow \Sigma + q\,\Sigma_0`, and leaves the mean as it is; then
    the observation enters at full weight. This is the Kalman filter for
    :math:`\theta_{t+1} = \theta_t + N(0, q\Sigma_0)`.

    Parameters
    ----------
    rate : float
        The q above, zero or positive: how many prior variances the parameter gains in
        a round. With 0 nothing is ever forgotten.

    Notes
    -----
    There is no weight :math:`w_{s,t}`: what a round counts depends on the arms that
    came after it. The paper's conditions and theorems do not speak of it, the precision
    can fall below that of the prior, and confidence radii are refused. Where nothing is
    observed the doubt grows without end.

    Examples
    --------
    >>> import wsbnb
    >>> post = wsbnb.WSBPosterior(
    ...     prior_mean=[0.0], prior_cov=1.0, noise_std=1.0, forgetting=RandomWalk(0.5)
    ... )
    >>> post.decay(2)
    >>> post.cov.round(12).tolist()
    [[2.0]]
    """

    rate: float

    def __post_init__(self) -> None:
        value = _validate.nonnegative("rate", self.rate)
        if value:
            _validate.ordinary("rate", value)
        object.__setattr__(self, "rate", value)

    def _weights(self, s, t):
        raise ValueError(f"{self!r} has no weights: it adds to the covariance")

    def is_nondecreasing(self, T: int | None = None) -> bool:
        super().is_nondecreasing(T)
        return False

    def is_consistent(self, T: int | None = None) -> bool:
        super().is_consistent(T)
        return False

    @property
    def memory(self) -> int | None:
        return 0

    def compiled(self) -> Any:
        return estimate.RandomWalk(self.rate)
