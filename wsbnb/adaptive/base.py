"""What the adaptive policies share: a bank of members, and a master over them."""

import copy

import numpy as np
from numpy.typing import ArrayLike

from wsbnb import _validate
from wsbnb._types import Any, Array, Mapping
from wsbnb.kernels import bank, estimate, explore, memory
from wsbnb.policies.base import LinearPolicy, Policy, _place
from wsbnb.policies.saving import is_registered
from wsbnb.policies.theory import ClickCheck, outside_on_purpose
from wsbnb.posterior import _NO_SCORES, _TOO_LARGE, WSBPosterior, _stored
from wsbnb.weights import Exponential


class AdaptivePolicy(Policy):
    """A policy that plays through one of several members of a bank.

    Subclasses give the discounts of the members, the master as the kernels take it
    (`_master`) and what it knows at the start (`_new_own`), and check that knowledge
    when it comes from a file (`_check_own`).
    """

    compiled = True
    _keeps_matrix = True

    def _begin(self, base, discounts, rng):
        super().__init__(rng)
        self._base = template(base)
        self._click_check = ClickCheck()
        self._gamma = np.array(discounts, dtype=np.float64)
        post = self._base.posterior
        self._prior = post._prior._replace(sums=post._prior.sums[None])
        self._rule = self._base._explore
        self._work = post._work
        self._restart()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(state)
        self._members, self._work = map(memory.copied, (self._members, self._work))
        self._prior = memory.copied(self._prior)

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

    #: Normals that pick the member, beside those of the base.
    _luck = 2

    @property
    def n_normals(self) -> int:
        """How many standard normals one pull draws."""
        return self._base.n_normals + self._luck

    # -- playing ----------------------------------------------------------------

    def update(self, x: ArrayLike, reward: ArrayLike, decay: bool = True) -> None:
        """Learn from one observation, or from several in order.

        Parameters
        ----------
        x, reward, decay
            As in :meth:`Policy.update`. A failed update changes nothing.
        """
        X, rewards = self._observations(x, reward)
        steps = 1.0 if _validate.flag("decay", decay) else 0.0
        with self._turn:
            self._attempt(X[:, :, None], rewards[:, None], steps, 1.0)
            self._keep_names(x, _place(x))
            self._click_check.add(rewards, self.noise_std)

    def decay(self, steps: float = 1) -> None:
        """Let time pass without an observation.

        Parameters
        ----------
        steps : float, default 1
            Rounds, zero or positive.
        """
        steps = _validate.nonnegative("steps", steps)
        with self._turn:
            members = [self._member_posterior(j) for j in range(len(self._gamma))]
            for post in members:  # all of them before any is put back
                post.decay(steps)
            for j, post in enumerate(members):
                self._put_member(j, post._state)
            self._fade_own(steps)

    def _fade_own(self, steps):
        """What the master forgets while time passes."""

    def scores(self, X: ArrayLike) -> Array:
        """The numbers that the next pull will compare, one per arm.

        Nothing changes: the policy looks ahead in a copy of its generator, also for
        which member will choose.

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        array of shape (K,)
        """
        arms = self._arms(X)
        with self._turn:
            before = self._changed_by_choice()
            self._decide(arms, copy.deepcopy(self._rng))
            self._undo_choice(before)
            return self._work.rows[explore.SCORES, : len(arms)].copy()

    def _choose(self, X):
        return self._decide(X, self._rng)

    def _changed_by_choice(self):
        """Copies of what a choice changes: who is in charge, and eigenvalue bounds."""
        bound = self._members.bound
        return self._own.copy(), None if bound is None else bound.copy()

    def _undo_choice(self, before):
        self._own, bound = before
        if bound is not None:
            self._members.bound[...] = bound

    def _decide(self, X, rng):
        before = self._changed_by_choice()
        arms, one = np.ascontiguousarray(X.T)[None], np.zeros((1, 1))
        chosen, _ = self._play(arms, one, one[0], 1.0, 1.0, choosing=rng)
        if chosen[0] < 0:
            self._undo_choice(before)
            raise ValueError(_NO_SCORES)
        return chosen[0]

    def _play_rounds(self, arms, expected, noise):
        """Many rounds that choose and learn, for `simulate`; arms are (.., d, K)."""
        chosen, raised = self._play(
            arms, expected, noise, 1.0, 1.0, choosing=self._rng, learning=True
        )
        if chosen.min() < 0:
            raise ValueError(_TOO_LARGE)
        self._noticed(raised)
        return chosen

    def _play(self, arms, rewards, noise, steps, weight, choosing=None, learning=False):
        """Rounds of the bank: the arms, and where somebody was restarted.

        `choosing` is the generator to draw from, or None if nothing is chosen.
        """
        self._base.posterior._make_room(arms.shape[2])
        self._work = self._base.posterior._work
        n, m = len(noise), self._base.n_normals
        drawn = np.zeros((1, m + 2))
        if choosing is not None:
            drawn = choosing.standard_normal((n, self.n_normals))
        chosen = np.zeros(n, dtype=np.int64)
        raised = np.zeros(n, dtype=np.int64)
        played = bank.play_bank(
            self._master,
            self._rule,
            self._prior,
            self._members,
            self._own,
            self._work,
            self._expected,
            arms,
            rewards,
            noise,
            np.ascontiguousarray(drawn[:, :m]),
            np.ascontiguousarray(drawn[:, m:]),
            chosen,
            raised,
            steps,
            weight,
            choosing is not None,
            learning,
        )
        if played < n:
            chosen[played:] = -1
        return chosen, raised

    def _attempt(self, arms, rewards, steps, weight):
        """Learn, or change nothing at all."""
        saved = self._saved()
        try:
            chosen, raised = self._play(
                arms, rewards, np.zeros(len(arms)), steps, weight, learning=True
            )
            if chosen.min(initial=0) < 0 or not self._is_sound():
                raise ValueError(_TOO_LARGE)
            self._noticed(raised)
        except BaseException:
            self._put_back(saved)
            raise

    def _noticed(self, raised):
        """Called after rows were learnt, with 1 where somebody was restarted."""

    def _is_sound(self):
        shifts = self._members.sums[:, -1]
        finite = np.isfinite(self._own).all() and np.isfinite(self._members.sums).all()
        if not (finite and (np.abs(shifts) < estimate.LARGEST_SHIFT).all()):
            return False
        try:
            P = memory.precision_of(self._members.sums)
            return bool(np.isfinite(np.linalg.cholesky(P)).all())
        except np.linalg.LinAlgError:
            return False

    # -- the bank ---------------------------------------------------------------

    def _restart(self):
        post = self._base.posterior
        start = memory.new_state(post._prior, post._squares, post._new_bound())
        self._members = memory.new_members(start, self._gamma)
        self._own = self._new_own()
        self._expected = np.zeros((2, len(self._gamma)))

    def _member_posterior(self, j):
        """One member as a posterior of its own (a copy)."""
        post = self._base.posterior.copy()
        post._forgetting = Exponential(float(self._gamma[j]))
        post._rule = post._forgetting.compiled()
        post._set_learnt(memory.member_state(self._members, j))
        return post

    def _put_member(self, j, state):
        memory.put_member(self._members, j, state)

    def _mixed_posterior(self, weights):
        """The Gaussian with the mean and the covariance of a mixture of members."""
        posts = [self._member_posterior(j) for j in range(len(weights))]
        means, covs = (
            np.array([getattr(post, name) for post in posts])
            for name in ("mean", "cov")
        )
        mean = weights @ means
        away = means - mean
        cov = np.einsum("j,jab->ab", weights, covs) + (weights[:, None] * away).T @ away
        mixed = posts[int(np.argmax(weights))]
        P = np.linalg.inv((cov + cov.T) / 2)
        mixed._state.sums[...] = memory.packed(P, P @ mean)
        mixed._state.counts[...] = weights @ self._members.counts
        mixed._work.fresh[0] = 0.0
        return mixed

    @property
    def posterior(self) -> WSBPosterior:
        """The Gaussian that the policy holds now (a copy)."""
        return self._mixed_posterior(self._shares())

    def _shares(self):
        """Weights of the members in the posterior."""
        raise NotImplementedError

    # -- copies and files ----------------------------------------------------------

    def _saved(self):
        return memory.copied(self._members), self._own.copy()

    def _put_back(self, saved):
        self._members, self._own = saved

    def get_params(self) -> dict[str, Any]:
        """The constructor's arguments, without the random generator.

        Returns
        -------
        dict
            ``base`` is a new policy like the template.
        """
        return {name: copy.copy(getattr(self, name)) for name in self._setting_names()}

    def _get_state(self):
        members = [
            self._member_posterior(j)._get_state() for j in range(len(self._gamma))
        ]
        return {"experts": members, "own": self._own}

    def _set_state(self, state):
        experts = state["experts"]
        if len(experts) != len(self._gamma):
            raise ValueError(
                f"state experts must be {len(self._gamma)}, got {len(experts)}"
            )
        for j, stored in enumerate(experts):
            post = self._member_posterior(j)
            post._set_state(stored)
            self._put_member(j, post._state)
        own = _stored("own", state["own"], self._own.shape)
        self._check_own(own)
        self._own = own

    def _check_own(self, own):
        """Refuse what the master cannot know."""


def check_base(base: Any) -> None:
    """Refuse what cannot be the template of the members."""
    suitable = (
        isinstance(base, LinearPolicy)
        and base.compiled
        and is_registered(type(base))
        and isinstance(base.posterior.forgetting, Exponential)
        and base.posterior._linear
    )
    if not suitable:
        raise TypeError(
            "base must be a policy of this package with a discount, such as WSBLinTS, "
            f"or a registered class like that with an unchanged round, got {base!r}"
        )


def template(base: Any) -> LinearPolicy:
    """A new policy like `base`; only the parts of its settings matter."""
    check_base(base)
    with outside_on_purpose():  # what there is to warn of, `base` has said
        return base.clone()
