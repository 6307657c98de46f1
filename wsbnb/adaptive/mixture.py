"""A mixture over discounts, weighted by how well each predicts."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, ArrayLike, Seed
from wsbnb.adaptive.base import AdaptivePolicy
from wsbnb.adaptive.grid import checked_discounts
from wsbnb.kernels import bank
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.saving import register
from wsbnb.policies.theory import outside_on_purpose


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
    its own rule.

    Parameters
    ----------
    base : policy with a discount
        A template, for example a :class:`WSBLinTS`; its own discount is not used.
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
    >>> base = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(1), prior_cov=1.0, noise_std=0.3, discount=1.0
    ... )
    >>> policy = wsbnb.DiscountMixture(base, discounts=[0.8, 1.0], rng=0)
    >>> policy.update(np.ones((50, 1)), np.ones(50))  # nothing moves
    >>> policy.weights.round(2).tolist()
    [0.04, 0.96]
    >>> policy.update(np.ones((5, 1)), -np.ones(5))  # a jump
    >>> policy.weights.round(2).tolist()
    [1.0, 0.0]
    """

    name = "Discount mixture"

    def __init__(
        self,
        base: LinearPolicy,
        *,
        discounts: ArrayLike | None = None,
        evidence_discount: float = 0.999,
        rng: Seed = None,
    ) -> None:
        self._evidence_discount = _validate.discount(
            "evidence_discount", evidence_discount
        )
        self._master = bank.Mixture(self._evidence_discount)
        self._begin(base, checked_discounts(discounts, base), rng)

    @property
    def discounts(self) -> Array:
        """The grid (a new array)."""
        return self._gamma.copy()

    @property
    def evidence_discount(self) -> float:
        """The fading of the evidence."""
        return self._evidence_discount

    @property
    def log_evidence(self) -> Array:
        """The faded sums of log predictive densities, one per discount (a copy)."""
        return self._own.copy()

    @property
    def weights(self) -> Array:
        """Probability that the next choice is made by each discount."""
        odds = np.exp(self._own - self._own.max())
        return odds / odds.sum()

    @property
    def effective_discount(self) -> float:
        r"""The weighted mean of the discounts, :math:`\sum_j w_j\gamma_j`."""
        return float(self.weights @ self._gamma)

    def _shares(self):
        return self.weights

    def _chances(self, X, draws, rng):
        exploration, total = self._base.exploration, np.zeros(len(X))
        for j, weight in enumerate(self.weights):
            with outside_on_purpose():  # what there is to warn of, the base has said
                member = LinearPolicy(self._member_posterior(j), exploration)
            total += weight * member._chances(X, draws, rng)
        return total

    def _new_own(self):
        return np.zeros(len(self._gamma))

    def _fade_own(self, steps):
        self._own = self._evidence_discount**steps * self._own
