"""A policy of this package where river expects one of its own."""

import numpy as np
from river import bandit

from wsbnb import _validate
from wsbnb._types import Any, Callable, Mapping
from wsbnb.policies.base import Policy

__all__ = ["RiverPolicy"]


class RiverPolicy(bandit.base.ContextualPolicy):
    """A wsbnb policy for ``river.bandit.evaluate`` and ``evaluate_offline``.

    Parameters
    ----------
    policy : Policy
        Copied; river's ``clone`` makes a new one with the same settings that starts
        with the same random numbers.
    features : callable or mapping
        The row of features of an arm: ``features(arm, context)``, or
        ``features[arm]`` where there is no context.
    reward_obj, burn_in
        As in river: what its tables show, and rounds per arm before the policy chooses.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> from wsbnb.adapters.river import RiverPolicy
    >>> policy = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.99, rng=0
    ... )
    >>> guest = RiverPolicy(policy, {"red": [1.0, 0.0], "blue": [0.0, 1.0]})
    >>> arm = guest.pull(["red", "blue"])
    >>> guest.update(arm, 1.0)
    >>> guest.policy.rounds
    1.0
    """

    def __init__(
        self,
        policy: Policy,
        features: Callable[[Any, Any], Any] | Mapping[Any, Any],
        reward_obj: Any = None,
        burn_in: int = 0,
    ) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a wsbnb policy, got {policy!r}")
        if not (callable(features) or hasattr(features, "__getitem__")):
            raise TypeError(
                f"features must be a function or a mapping, got {features!r}"
            )
        if reward_obj is not None and not hasattr(reward_obj, "clone"):
            raise TypeError(
                f"reward_obj must be a statistic of river or None, got {reward_obj!r}"
            )
        burn_in = _validate.integer("burn_in", burn_in, minimum=0)
        super().__init__(reward_obj, burn_in=burn_in)
        self.policy, self.features = policy.copy(), features

    def clone(
        self, new_params: Any = None, include_attributes: bool = False
    ) -> "RiverPolicy":
        """A new one that has learnt nothing; river plays clones.

        Parameters
        ----------
        new_params : dict, optional
            Arguments of the constructor to replace.
        include_attributes : bool, default False
            As in river; True is not supported.
        """
        if include_attributes:
            raise ValueError("include_attributes must be False, got True; use copy")
        words = {
            "policy": self.policy.clone(),
            "features": self.features,
            "reward_obj": self.reward_obj.clone(),
            "burn_in": self.burn_in,
        }
        return type(self)(**{**words, **(new_params or {})})

    def _row(self, arm, context):
        if callable(self.features):
            return self.features(arm, context)
        return self.features[arm]

    def _pull(self, arm_ids, context=None):
        arms = list(arm_ids)
        X = np.array([self._row(arm, context) for arm in arms], dtype=float)
        return arms[self.policy.pull(X)]

    def update(self, arm_id: Any, *seen: Any) -> None:
        """Learn from ``(reward)`` or ``(context, reward)``, as river hands them over.

        Parameters
        ----------
        arm_id
            The arm that was played.
        *seen
            Context, if there is one, and reward.
        """
        if len(seen) not in (1, 2):
            raise TypeError(
                f"seen must be a reward, or a context and a reward, got {len(seen)} "
                "values"
            )
        context, reward = seen if len(seen) == 2 else (None, *seen)
        reward = _validate.number("reward", reward)
        self.policy.update(self._row(arm_id, context), reward)
        super().update(arm_id, context, reward)
