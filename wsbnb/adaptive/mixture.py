"""A mixture over discounts, weighted by how well each predicts."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate
from wsbnb._types import Seed
from wsbnb.adaptive.base import AdaptivePolicy, draw
from wsbnb.adaptive.experts import ExpertBank
from wsbnb.adaptive.grid import checked_discounts
from wsbnb.policies.base import LinearPolicy, PosteriorSnapshot, _as_stored
from wsbnb.policies.saving import register


@register
class DiscountMixture(AdaptivePolicy):
    r"""Play through a discount drawn by its discounted predictive likelihood.

    One expert per discount :math:`\gamma_j` learns from every observation. Before it
    learns, its prediction is scored, and the scores fade:

    .. math::

        \ell_j \leftarrow \rho\,\ell_j + \log N\bigl(r;\ x^\top\mu_j,\
        \sigma^2 + x^\top\Sigma_j x\bigr), \qquad
        w_j = \frac{e^{\ell_j}}{\sum_i e^{\ell_i}} .

    Each round an expert is drawn with probability :math:`w_j` and chooses the arm by
    its own rule. For policies on WRLS the predictive variance is
    :math:`\sigma^2(1 + x^\top V_j^{-1} x)`.

    Parameters
    ----------
    base : policy with a discount
        A template, for example a :class:`WSBLinTS`; its own discount is not used. In
        place of a policy, the dict that ``get_params()`` returns for it.
    discounts : array, optional
        Increasing, in (0, 1]. Default: :func:`discount_grid` up to the base's
        ``horizon``, or up to 10,000 rounds where it has none.
    evidence_discount : float in (0, 1], default 0.999
        The fading :math:`\rho` of the evidence; 1 is Bayesian model averaging. See the
        notes.
    rng : None, int, SeedSequence or Generator
        Draws the expert and its perturbation.

    Notes
    -----
    :cite:t:`raftery2010online` average dynamic regressions in this way, with
    :math:`\rho=0.99`. Here the evidence is kept longer. While nothing changes, an
    expert with memory m loses nats of order :math:`d/m` a round against one with a
    long memory, so to tell memories of hundreds of rounds apart takes the evidence of
    many hundreds of rounds. After a jump a long memory loses whole nats a round, and
    past evidence does not resist that for long. What a large :math:`\rho` costs is the
    way back: it takes some thousand rounds until a long memory is forgiven.

    The weights are about prediction, not about regret, and they trust `noise_std`: if
    it is too small every surprise looks like a change and short memories win, if it is
    too large long ones do. No regret bound is known to us. An expert that is not in
    charge does not tighten the eigenvalue bound of its prior penalty, so with
    :class:`WSBLinUCB` its radius may be larger than if it played alone.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> base = wsbnb.WSBLinTS(np.zeros(1), np.eye(1), 0.3, discount=1.0)
    >>> policy = wsbnb.DiscountMixture(base, discounts=[0.8, 1.0], rng=0)
    >>> policy.update(np.ones((50, 1)), np.ones(50))  # nothing moves
    >>> policy.weights.round(2).tolist()
    [0.04, 0.96]
    >>> policy.update(np.ones((5, 1)), -np.ones(5))  # a jump
    >>> policy.weights.round(2).tolist()
    [1.0, 0.0]
    """

    name = "Discount mixture"
    _changing = ("_log_evidence",)

    def __init__(
        self,
        base: LinearPolicy | dict[str, Any],
        discounts: ArrayLike | None = None,
        evidence_discount: float = 0.999,
        rng: Seed = None,
    ) -> None:
        self._begin(base, rng)
        horizon = getattr(self._base, "horizon", None)
        self._discounts = checked_discounts(discounts, horizon, self.dim)
        self._evidence_discount = _validate.discount(
            "evidence_discount", evidence_discount
        )
        self._bank = ExpertBank(self._base, self._discounts)
        self._restart()

    @property
    def discounts(self) -> np.ndarray:
        """The grid (a new array)."""
        return self._discounts.copy()

    @property
    def evidence_discount(self) -> float:
        """The fading of the evidence."""
        return self._evidence_discount

    @property
    def log_evidence(self) -> np.ndarray:
        """The faded sums of log predictive densities, one per discount (a copy)."""
        return self._log_evidence.copy()

    @property
    def weights(self) -> np.ndarray:
        """Probability that the next choice is made by each discount."""
        odds = np.exp(self._log_evidence - self._log_evidence.max())
        return odds / odds.sum()

    @property
    def effective_discount(self) -> float:
        r"""The weighted mean of the discounts, :math:`\sum_j w_j\gamma_j`."""
        return float(self.weights @ self._discounts)

    @property
    def posterior(self) -> PosteriorSnapshot:
        """The Gaussian with the mixture's mean and covariance (a snapshot)."""
        return self._bank.posterior(self.weights)

    def decay(self, steps: float = 1) -> None:
        """Let time pass without an observation; the evidence fades too.

        Parameters
        ----------
        steps : float, default 1
            Rounds, zero or positive.
        """
        super().decay(steps)
        self._log_evidence = self._evidence_discount**steps * self._log_evidence

    def _pick(self, rng):
        return draw(self.weights, rng)

    def _learn(self, x, reward, decay):
        mean, variance = self._bank.predict(x)
        residual = reward - mean
        fade = self._evidence_discount if decay else 1.0
        self._log_evidence = fade * self._log_evidence - 0.5 * (
            residual**2 / variance + np.log(2.0 * np.pi * variance)
        )
        self._bank.learn(x, reward, decay)

    def _check_own_state(self):
        if not np.isfinite(self._log_evidence).all():
            raise ValueError(
                "reward must be close enough to its predictions to have a likelihood "
                "in double precision; check its unit, or noise_std"
            )

    def _restart(self):
        self._bank.restart()
        self._log_evidence = np.zeros(self._discounts.size)

    def _checked_state(self, state):
        shape = self._discounts.shape
        stored = _as_stored("log_evidence", state["log_evidence"], shape)
        return {"_log_evidence": stored}
