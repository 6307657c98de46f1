"""What the adaptive policies share: a bank of experts and who is in charge."""

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate
from wsbnb._types import Array, Generator
from wsbnb.adaptive import experts
from wsbnb.policies.base import LinearPolicy, Policy, _short


class AdaptivePolicy(Policy):
    """A policy that plays through one of several experts.

    Subclasses say who is in charge (`_pick`), what else they learn (`_learn`), and
    name the attributes that change while playing (`_changing`). Those are replaced,
    never changed in place, so that a failed update can put them back.
    """

    _changing = ()

    def _begin(self, base, rng):
        super().__init__(rng)
        self._base = experts.template(base)

    def _pick(self, rng):
        """Index of the expert for the next choice; draws from `rng` alone."""
        raise NotImplementedError

    # -- settings ---------------------------------------------------------------

    @property
    def base(self) -> LinearPolicy:
        """A new policy like the template."""
        return self._base.clone()

    @property
    def dim(self) -> int:
        """Dimension d of arms and parameter."""
        return self._base.dim

    @property
    def noise_std(self) -> float:
        """Noise level of the template."""
        return self._base.noise_std

    def get_params(self) -> dict[str, Any]:
        """The constructor's arguments as plain data, without the random generator.

        Returns
        -------
        dict
            ``base`` is a dict that the constructor takes in place of a policy.
        """
        settings = [name for name in self._setting_names() if name != "base"]
        words = {name: copy.copy(getattr(self, name)) for name in settings}
        return {"base": experts.described(self._base), **words}

    def __repr__(self) -> str:
        words = {**self.get_params(), "base": self._base}
        text = ", ".join(f"{name}={_short(value)}" for name, value in words.items())
        return f"{type(self).__name__}({text})"

    # -- playing ----------------------------------------------------------------

    def _choose(self, X):
        return self._bank.choose(self._pick(self._rng), X, self._rng)

    def scores(self, X: ArrayLike) -> np.ndarray:
        """The numbers that the next pull will compare, one per arm.

        Nothing changes: the policy looks ahead in a copy of its generator, also for
        which expert will choose.

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        array of shape (K,)
        """
        X = self._arms(X)
        rng = copy.deepcopy(self._rng)
        return self._bank.scores(self._pick(rng), X, rng)

    def decay(self, steps: float = 1) -> None:
        """Let time pass without an observation.

        Parameters
        ----------
        steps : float, default 1
            Rounds, zero or positive.
        """
        self._bank.advance(_validate.nonnegative("steps", steps))

    def _learn_all(self, X, rewards, decay):
        before = self._bank.copy_arrays(), self._own_state()
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                super()._learn_all(X, rewards, decay)
                self._bank.check()
                self._check_own_state()
        except BaseException:
            self._bank.arrays = before[0]
            self.__dict__.update(before[1])
            raise

    def _own_state(self):
        return {name: self.__dict__[name] for name in self._changing}

    def _check_own_state(self):
        """Refuse what the subclass learnt if it is not finite."""

    # -- files ------------------------------------------------------------------

    def _get_state(self):
        own = {name.strip("_"): value for name, value in self._own_state().items()}
        return {**self._bank.arrays, **own}

    def _set_state(self, state):
        own = self._checked_state(state)
        self._bank.set_arrays(state, self._base)
        self.__dict__.update(own)

    def _checked_state(self, state):
        """The attributes in `_changing`, from a file."""
        raise NotImplementedError


def draw(probabilities: Array, rng: Generator) -> int:
    """An index drawn with these probabilities."""
    steps = probabilities.cumsum()
    place = steps.searchsorted(rng.random() * steps[-1], side="right")
    return min(int(place), steps.size - 1)
