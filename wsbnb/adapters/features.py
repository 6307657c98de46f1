"""Features made by a transformer, in front of a policy that is linear in them."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import Any, Array, ArrayLike
from wsbnb.policies.base import Policy

__all__ = ["WithFeatures"]


class WithFeatures:
    """A policy that sees arms through a fitted transformer of scikit-learn.

    ``pull(X)`` plays on ``transformer.transform(X)``. A policy linear in curved
    features is not linear in X: `PolynomialFeatures`, `RBFSampler` and `Nystroem` are
    made for this.

    Parameters
    ----------
    policy : Policy
        Of the dimension that the transformer puts out.
    transformer : object with ``transform``
        Fitted before: features that change while a policy learns would change the
        meaning of what it has learnt.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from wsbnb.adapters.features import WithFeatures
    >>> squares = PolynomialFeatures(2).fit(np.zeros((1, 1)))  # 1, x, x^2
    >>> policy = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(3), prior_cov=1.0, noise_std=0.1, discount=1.0, rng=0
    ... )
    >>> curved = WithFeatures(policy, squares)
    >>> x = np.linspace(-1, 1, 21)[:, None]
    >>> curved.update(x, 1 - x[:, 0] ** 2)  # best in the middle
    >>> int(curved.pull(x))
    10
    """

    def __init__(self, policy: Policy, transformer: Any) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a wsbnb policy, got {policy!r}")
        if not hasattr(transformer, "transform"):
            raise TypeError(
                f"transformer must have transform, got {type(transformer).__name__}"
            )
        self.policy: Any = policy
        self.transformer = transformer

    @property
    def name(self) -> str:
        """Name in tables: that of the policy, and of the transformer."""
        return f"{self.policy.name}, {type(self.transformer).__name__}"

    def _features(self, name, X):
        # A frame goes in as it is: the transformer may know its columns.
        rows = X if hasattr(X, "columns") else _validate.matrix(name, X)
        made = self.transformer.transform(rows)
        return np.asarray(made.toarray() if hasattr(made, "toarray") else made)

    def pull(self, X: ArrayLike) -> int:
        """Choose an arm.

        Parameters
        ----------
        X : array or DataFrame of shape (K, p)
            Arms as the transformer takes them.

        Returns
        -------
        int
        """
        return self.policy.pull(self._features("X", X))

    def update(self, x: ArrayLike, reward: ArrayLike, **words: Any) -> None:
        """Learn from one observation, or from several in order.

        Parameters
        ----------
        x : array of shape (p,) or (n, p)
        reward : float or array of shape (n,)
        **words
            Further arguments of the policy's own update.
        """
        if hasattr(x, "to_frame"):  # a row of a frame, with its names
            x = x.to_frame().T
        given: Any = x if hasattr(x, "columns") else _validate.finite_array("x", x)
        single = given.ndim == 1
        rows = self._features("x", given[None] if single else given)
        self.policy.update(rows[0] if single else rows, reward, **words)

    def scores(self, X: ArrayLike) -> Array:
        """The numbers that the next pull will compare.

        Parameters
        ----------
        X : array of shape (K, p)

        Returns
        -------
        array of shape (K,)
        """
        return self.policy.scores(self._features("X", X))

    def propensities(self, X: ArrayLike, **words: Any) -> Array:
        """Probability of each arm to be played in the next pull.

        Parameters
        ----------
        X : array of shape (K, p)
        **words
            As in :meth:`wsbnb.Policy.propensities`.

        Returns
        -------
        array of shape (K,)
        """
        return self.policy.propensities(self._features("X", X), **words)
