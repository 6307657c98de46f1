r"""How a policy explores: by optimism, by a random radius, by a draw, or not at all.

An exploration is frozen data. Together with a posterior it makes a policy,

>>> import wsbnb
>>> from wsbnb.exploration import Thompson
>>> from wsbnb.weights import SlidingWindow
>>> posterior = wsbnb.WSBPosterior(
...     prior_mean=[0.0, 0.0],
...     prior_cov=1.0,
...     noise_std=0.5,
...     forgetting=SlidingWindow(200),
... )
>>> policy = wsbnb.LinearPolicy(posterior, Thompson(), rng=0)

and any posterior goes with any exploration. Widths are those of the posterior,
:math:`\|x\|_{\Sigma}`, so a `scale` of 1 means one posterior standard deviation.
"""

import math
from dataclasses import dataclass

import numpy as np

from wsbnb import _validate
from wsbnb._types import Any, Constant, Norm, Penalty, Perturbation, Split
from wsbnb.kernels import explore
from wsbnb.kernels.memory import aligned, packed, precision_of, shift_of

__all__ = [
    "Exploration",
    "Greedy",
    "Optimism",
    "RandomisedOptimism",
    "Thompson",
    "Uniform",
    "Widths",
]

NORMS = ("posterior", "local")
SPLITS = ("horizon", "none", "anytime")
RADII = ("trace", "lambda_max")
_PENALTIES = {
    "cxv": explore.Convex,
    "exact": explore.Exact,
    "triangle": explore.Triangle,
}
PENALTIES = (*_PENALTIES, "static")
#: Factors on the positive and on the negative part of the normal.
_LAWS = {
    "rectified": (1.0, 0.0),
    "gaussian": (1.0, -1.0),
    "half-normal": (1.0, 1.0),
    "radius": (1.0, 1.0),
}


LAWS = tuple(_LAWS)


class Exploration:
    """What all ways to explore share."""

    #: Whether arms are measured with squared weights, as D-LinUCB and D-LinTS do.
    norm: Norm = "posterior"

    def normals(self, dim: int) -> int:
        """How many standard normals one decision draws."""
        return 0

    def compiled(self, prior: Any) -> Any:
        """The settings as the kernels take them."""
        raise NotImplementedError

    @property
    def local(self) -> bool:
        """Whether the posterior must keep the squared weights."""
        return self.norm == "local"

    @property
    def follows_eigenvalue(self) -> bool:
        """Whether the prior penalty needs a certified eigenvalue bound."""
        return False

    def _set(self, **checked):
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def with_changes(self, **changes: Any) -> "Exploration":
        """The same with some settings replaced."""
        return type(self)(**{**vars(self), **changes})


@dataclass(frozen=True, kw_only=True)
class Optimism(Exploration):
    r"""Optimism in the face of uncertainty: the mean plus a confidence radius.

    .. math::

        \langle x,\mu\rangle + s\,(\beta + \Pi)\,\|x\|, \qquad
        \beta = \sqrt{2\log\tfrac1{\delta'} +
        d\log\Bigl(1+\frac{c\,L^2\sum_sw_s^2}{d\sigma^2}\Bigr)}

    Parameters
    ----------
    delta : float in (0, 1), default 0.05
        Failure probability of the confidence ellipsoids.
    horizon : int, optional
        Number of rounds T over which `delta` is spent.
    param_bound, arm_bound : float, default 1
        Bounds S on the parameter's norm and L on the arms' norms.
    split : {"horizon", "none", "anytime"}, optional
        :math:`\delta' = \delta/T`, :math:`\delta`, or
        :math:`\delta/(2t(1+\log t)^2)`, which needs no horizon. Default: "horizon"
        where a horizon is given, else "anytime".
    radius : {"trace", "lambda_max"}
        The constant c: the trace of the prior covariance, or its largest eigenvalue,
        which is smaller and also valid.
    penalty : {"cxv", "exact", "triangle", "static"}
        The prior penalty :math:`\Pi`: one of the paper's two bounds, its exact value,
        or its bound at the start, which never changes (the :math:`\sqrt\lambda S` of
        least squares).
    radius_scale : float, default 1
        The factor s. Theory holds at 1; much smaller values usually play better.
    norm : {"posterior", "local"}
        :math:`\|x\|_{\Sigma}`, or the norm with squared weights,
        :math:`\|x\|_{\Sigma\tilde P\Sigma}`.

    Examples
    --------
    >>> Optimism(horizon=1000, radius_scale=0.15).split
    'horizon'
    >>> Optimism().split
    'anytime'
    """

    delta: float = 0.05
    horizon: int | None = None
    param_bound: float = 1.0
    arm_bound: float = 1.0
    split: Split | None = None
    radius: Constant = "trace"
    penalty: Penalty = "cxv"
    radius_scale: float = 1.0
    norm: Norm = "posterior"

    def __post_init__(self) -> None:
        split, horizon = self.split, self.horizon
        if split is None:
            split = "anytime" if horizon is None else "horizon"
        _validate.choice("split", split, SPLITS)
        if horizon is not None:
            horizon = _validate.integer("horizon", horizon)
        elif split == "horizon":
            raise ValueError(
                "horizon must be a whole number when split='horizon', got None; "
                "use split='anytime' when the horizon is not known"
            )
        self._set(
            delta=_validate.probability("delta", self.delta),
            horizon=horizon,
            param_bound=_validate.bounded("param_bound", self.param_bound),
            arm_bound=_validate.ordinary("arm_bound", self.arm_bound),
            split=split,
            radius=_validate.choice("radius", self.radius, RADII),
            penalty=_validate.choice("penalty", self.penalty, PENALTIES),
            radius_scale=_validate.bounded("radius_scale", self.radius_scale),
            norm=_validate.choice("norm", self.norm, NORMS),
        )

    @property
    def follows_eigenvalue(self) -> bool:
        return self.penalty != "static"

    def compiled(self, prior: Any) -> Any:
        return explore.Widths(self.radius_scale, 0.0, self.compiled_radius(prior))

    def compiled_radius(self, prior: Any) -> Any:
        """The radius as the kernels take it, for a prior [P0; h0] and 1/sigma^2."""
        P0 = precision_of(prior.sums)
        variances = 1.0 / np.linalg.eigvalsh(P0)
        size = variances.sum() if self.radius == "trace" else variances.max()
        log_term = -math.log(self.delta)
        if self.split == "horizon" and self.horizon is not None:
            log_term += math.log(self.horizon)
        return explore.Radius(
            log_term,
            self.split == "anytime",
            float(size * self.arm_bound**2 * prior.precision / len(P0)),
            self._compiled_penalty(P0, shift_of(prior.sums)),
        )

    def _compiled_penalty(self, P0, h0):
        if self.penalty == "static":
            length = math.sqrt(h0 @ np.linalg.solve(P0, h0))
            top = math.sqrt(np.linalg.eigvalsh(P0)[-1])
            return explore.Static(length + top * self.param_bound)
        row = aligned(1, packed(P0).shape[1])
        row[0, : len(h0)] = h0
        return _PENALTIES[self.penalty](
            packed(P0), packed(P0 @ P0), row, self.param_bound
        )


@dataclass(frozen=True, kw_only=True)
class RandomisedOptimism(Exploration):
    r"""One random radius for all arms, :math:`\langle x,\mu\rangle + \eta\,\|x\|`.

    Parameters
    ----------
    scale : float, default 1
        The factor a on the perturbation.
    perturbation : {"rectified", "gaussian", "half-normal", "radius"}
        With z standard normal, :math:`\eta` is ``a max(0, z)``, ``a z``, ``a |z|``, or
        ``a |z|`` times the radius of `optimism` (:cite:t:`kim2020randomized` use
        a = 2/5).
    optimism : Optimism, optional
        Whose radius the law "radius" multiplies; it must be given for that law.
    norm : {"posterior", "local"}
        As in :class:`Optimism`.

    Examples
    --------
    >>> RandomisedOptimism(scale=0.5).normals(dim=7)
    1
    """

    scale: float = 1.0
    perturbation: Perturbation = "rectified"
    optimism: Optimism | None = None
    norm: Norm = "posterior"

    def __post_init__(self) -> None:
        law = _validate.choice("perturbation", self.perturbation, LAWS)
        if self.optimism is not None and not isinstance(self.optimism, Optimism):
            raise TypeError(f"optimism must be an Optimism, got {self.optimism!r}")
        if law == "radius" and self.optimism is None:
            raise ValueError(
                "optimism must be given with perturbation='radius' (the law multiplies "
                "its radius), got None"
            )
        self._set(
            scale=_validate.bounded("scale", self.scale),
            norm=_validate.choice("norm", self.norm, NORMS),
        )

    def normals(self, dim: int) -> int:
        return 1

    @property
    def _radius(self):
        return self.optimism if self.perturbation == "radius" else None

    @property
    def follows_eigenvalue(self) -> bool:
        return self._radius is not None and self._radius.follows_eigenvalue

    def compiled(self, prior: Any) -> Any:
        up, down = (self.scale * factor for factor in _LAWS[self.perturbation])
        if self._radius is None:
            return explore.Widths(up, down, explore.Plain(1.0))
        return explore.Widths(up, down, self._radius.compiled_radius(prior))


@dataclass(frozen=True, kw_only=True)
class Thompson(Exploration):
    r"""Act greedily on a draw, :math:`\tilde\theta = \mu + a\,\Sigma^{1/2} z`.

    Parameters
    ----------
    scale : float, default 1
        The factor a; 1 samples from the posterior.
    norm : {"posterior", "local"}
        Covariance of the draw: :math:`a^2\Sigma`, or
        :math:`a^2\Sigma\tilde P\Sigma`, where :math:`\tilde P` has squared weights.

    Examples
    --------
    >>> Thompson(scale=0.5).normals(dim=7)
    7
    """

    scale: float = 1.0
    norm: Norm = "posterior"

    def __post_init__(self) -> None:
        self._set(
            scale=_validate.bounded("scale", self.scale),
            norm=_validate.choice("norm", self.norm, NORMS),
        )

    def normals(self, dim: int) -> int:
        return dim

    def compiled(self, prior: Any) -> Any:
        return explore.Sample(self.scale)


@dataclass(frozen=True, kw_only=True)
class Widths(Exploration):
    r"""Optimism by a fixed number of widths, :math:`\langle x,\mu\rangle + c\,\|x\|`.

    Parameters
    ----------
    width : float, default 1
        The factor c.
    norm : {"posterior", "local"}
        As in :class:`Optimism`.

    Examples
    --------
    >>> Widths(width=0.5).normals(dim=7)
    0
    """

    width: float = 1.0
    norm: Norm = "posterior"

    def __post_init__(self) -> None:
        self._set(
            width=_validate.bounded("width", self.width),
            norm=_validate.choice("norm", self.norm, NORMS),
        )

    def compiled(self, prior: Any) -> Any:
        return explore.Widths(self.width, 0.0, explore.Plain(1.0))


@dataclass(frozen=True, kw_only=True)
class Greedy(Exploration):
    """Play the arm with the largest estimated reward; never explore."""

    def compiled(self, prior: Any) -> Any:
        return explore.Sample(0.0)


@dataclass(frozen=True, kw_only=True)
class Uniform(Exploration):
    """Play any arm, with equal chances."""

    def normals(self, dim: int) -> int:
        return 2

    def compiled(self, prior: Any) -> Any:
        return explore.Chance(0.0)
