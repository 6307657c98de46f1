"""The policy that knows."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, ArrayLike, Seed
from wsbnb.kernels.explore import TIE
from wsbnb.policies.base import Policy
from wsbnb.policies.saving import register


def best_known(expected: Array) -> Array:
    """Best arm of each row of true rewards; ties (up to rounding) to the lowest."""
    top = expected.max(axis=1, keepdims=True)
    return (expected >= top - TIE * np.abs(top)).argmax(axis=1)


@register
class Oracle(Policy):
    """Play the best arm for the true parameter: regret zero by definition.

    Parameters
    ----------
    parameters : array of shape (T, d), optional
        The true path. In :func:`wsbnb.simulate` leave it out: the environment knows.
    rng : None, int, SeedSequence or Generator
        Not used by this rule; kept for a common interface.

    Examples
    --------
    >>> policy = Oracle(parameters=[[1.0, 0.0], [0.0, 1.0]])
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> policy.pull(X)
    0
    >>> policy.update(X[0], 1.0)
    >>> policy.pull(X)
    1
    """

    name = "Oracle"
    compiled = True

    def __init__(
        self, *, parameters: ArrayLike | None = None, rng: Seed = None
    ) -> None:
        super().__init__(rng)
        if parameters is not None:
            parameters = _validate.matrix("parameters", parameters)
            self.dim = parameters.shape[1]
        self.parameters = parameters
        self._clock = 0

    def scores(self, X: ArrayLike) -> Array:
        """True expected rewards of the arms in this round.

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        array of shape (K,)
        """
        return self._true_rewards(self._arms(X))

    def _true_rewards(self, X):
        if self.parameters is None:
            raise ValueError("parameters must be given to pull outside simulate")
        if self._clock >= len(self.parameters):
            raise ValueError(
                f"parameters has {len(self.parameters)} rows, round {self._clock + 1} "
                "lies beyond"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            rewards = X @ self.parameters[self._clock]
        if not np.isfinite(rewards).all():
            raise ValueError("X must give every arm a finite reward, got one beyond")
        return rewards

    def _choose(self, X):
        return best_known(self._true_rewards(X)[None])[0]

    def _learn(self, x, reward, decay):
        self._clock += int(decay)

    def decay(self, steps: int = 1) -> None:
        """Move the clock on.

        Parameters
        ----------
        steps : int, default 1
        """
        steps = _validate.integer("steps", steps, minimum=0)
        with self._turn:
            self._clock += steps

    def _play_rounds(self, arms, expected, noise):
        self._clock += len(noise)
        return best_known(expected)

    def _restart(self):
        self._clock = 0

    def _get_state(self):
        return {"clock": self._clock}

    def _set_state(self, state):
        self._clock = _validate.integer("clock", state["clock"], 0, maximum=None)
