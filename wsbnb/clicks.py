r"""A posterior for rewards that are clicks: logistic, and it forgets like the others.

The model is :math:`P(r_s = 1) = \varsigma(\langle x_s, \theta\rangle)` with the
logistic curve :math:`\varsigma(\eta) = 1/(1+e^{-\eta})` and prior
:math:`N(\mu_0, \Sigma_0)`. The true posterior is not Gaussian; a Gaussian around its
mode is carried from round to round (Laplace's method, recursively).
"""

import math

import numpy as np

from wsbnb import _validate
from wsbnb import weights as _rules
from wsbnb._types import ArrayLike, FloatOrArray
from wsbnb.kernels import estimate
from wsbnb.posterior import _UNASKED, WSBPosterior

__all__ = ["LogisticPosterior"]

#: Nodes and weights for means over a standard normal.
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(40)
_SHARES = _SHARES / math.sqrt(2.0 * math.pi)


class LogisticPosterior(WSBPosterior):
    r"""Weighted sequential posterior of a logistic model, for rewards between 0 and 1.

    The past fades as in :class:`WSBPosterior`, to
    :math:`Q = \gamma P + (1-\gamma)P_0` and
    :math:`g = \gamma h + (1-\gamma)P_0\mu_0`. Then the mode is found for the new
    reward. It lies on a line, so only a number has to be found, the root of

    .. math::

        \eta = x^\top Q^{-1}g + x^\top Q^{-1}x\,\bigl(r - \varsigma(\eta)\bigr),

    and with :math:`p = \varsigma(\eta)` the same sums go on with the weight
    :math:`p(1-p)`:

    .. math::

        P \leftarrow Q + p(1-p)\,xx^\top, \qquad
        h \leftarrow g + x\,\bigl(r - p + p(1-p)\,\eta\bigr).

    Parameters
    ----------
    prior_mean : array of shape (d,)
    prior_cov : float, array of shape (d,) or (d, d)
    discount : float in (0, 1], optional
        Give this or `forgetting`.
    forgetting : a rule of :mod:`wsbnb.weights`, optional
        ``Exponential``, ``Restart`` or ``Polynomial(of="round")``; a window would have
        to take clicks out again, which this approximation cannot.

    Notes
    -----
    Each click is linearised once, at the mode of its own round, and not again: with
    few clicks of one kind the result depends a little on their order. No theorem of the
    book covers it. :cite:t:`faury2020improved` and :cite:t:`wang2023revisit` prove
    bounds for other estimates of this model.

    Examples
    --------
    >>> post = LogisticPosterior(prior_mean=[0.0], prior_cov=4.0, discount=1.0)
    >>> post.update([1.0], 1.0)
    >>> post.mean.round(4).tolist(), round(float(post.predict([1.0])[0]), 4)
    ([1.0426], 0.6773)
    """

    _linear = False

    def __init__(
        self,
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        discount: float | None = None,
        forgetting: _rules.WeightRule | None = None,
    ) -> None:
        super().__init__(
            prior_mean=prior_mean,
            prior_cov=prior_cov,
            noise_std=1.0,
            discount=discount,
            forgetting=forgetting,
        )
        rule = self._rule
        if rule is None or isinstance(rule, estimate.Window | estimate.RandomWalk):
            raise ValueError(
                "forgetting must multiply the past by a factor, as Exponential, "
                f"Restart and Polynomial do, got {self._forgetting!r}"
            )
        self._rule = estimate.Clicks(rule)

    def _observe(self, X, rewards, decay, age, exploration, predicted=_UNASKED):
        self._check_rewards(rewards, 0.0, "rewards" if len(predicted) else "reward")
        super()._observe(X, rewards, decay, age, exploration, predicted)

    def _check_rewards(self, rewards, noise, name="reward"):
        if np.any(noise):
            raise ValueError(
                "reward must be a click, got one with noise added to it; environments "
                "need the noise rule Clicks"
            )
        outside = (rewards < 0.0) | (rewards > 1.0)
        if outside.any():
            raise ValueError(
                f"{name} must lie between 0 and 1, got {rewards[outside][0]}"
            )

    def _prepare(self, exploration):
        if exploration.local:
            raise ValueError(
                "exploration must have norm='posterior' for clicks, got "
                f"{exploration!r}"
            )
        super()._prepare(exploration)

    def predict(
        self, x: ArrayLike, noise: bool = True
    ) -> tuple[FloatOrArray, FloatOrArray]:
        """Probability of a click, and a standard deviation.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
        noise : bool, default True
            With True the standard deviation is that of a click; with False that of the
            probability itself, which is what is not known.

        Returns
        -------
        mean, std : float or array of shape (n,)
        """
        noise = _validate.flag("noise", noise)
        rows = _validate.finite_array("x", x)
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.dim:
            raise ValueError(
                f"x must have shape ({self.dim},) or (n, {self.dim}), got shape "
                f"{rows.shape}"
            )
        mean, variance = self._predict(np.atleast_2d(rows))
        eta = mean[:, None] + np.sqrt(variance)[:, None] * _NODES
        sign = np.tanh(0.5 * eta)
        p = 0.5 * (1.0 + sign)
        mean = np.minimum(
            p @ _SHARES, 1.0
        )  # the shares add up to one, but for rounding
        rest = 0.5 * (1.0 - sign) @ _SHARES
        spread = mean * rest if noise else (p - mean[:, None]) ** 2 @ _SHARES
        std = np.sqrt(spread)
        return (mean[0], std[0]) if rows.ndim == 1 else (mean, std)
