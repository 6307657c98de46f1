"""What is known of many users: their rows, the prior they share, and the answers."""

import contextlib

import numpy as np

from wsbnb import _validate
from wsbnb._types import Array, ArrayLike, Seed
from wsbnb.exploration import Exploration
from wsbnb.fleet import events, files
from wsbnb.fleet.turns import Turns
from wsbnb.kernels import estimate, fleet, memory
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.posterior import (
    _TOO_LARGE,
    WSBPosterior,
    _refuse_beyond,
    checked_prior,
)


class Users:
    """Rows of users and the prior that they share; it answers and does not learn."""

    def __init__(
        self, template: LinearPolicy, *, users: int = 0, rng: Seed = None
    ) -> None:
        post = events.suitable(template).posterior
        n = _validate.integer("users", users, minimum=0, maximum=files.MOST)
        self._discount, self._noise_std = post.discount, post.noise_std
        self._exploration = template.exploration
        self._dim = post.dim
        self._use_prior(post.prior_mean, post.prior_cov)
        self._users = events.rows_for("users", n, self._dim)
        self._begin(_validate.generator("rng", rng))

    def _begin(self, rng):
        self._rng, self._draws = rng, 0
        self._turns = Turns()

    # -- settings ---------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._users.rows)

    @property
    def dim(self) -> int:
        """Dimension d of arms and parameters."""
        return self._dim

    @property
    def discount(self) -> float:
        """The discount of every user."""
        return self._discount

    @property
    def noise_std(self) -> float:
        """Noise level of every user."""
        return self._noise_std

    @property
    def exploration(self) -> Exploration:
        """How the fleet explores."""
        return self._exploration

    @property
    def prior_mean(self) -> Array:
        """Mean of the shared prior (a copy)."""
        return self._prior_mean.copy()

    @property
    def prior_cov(self) -> Array:
        """Covariance of the shared prior (a copy)."""
        return self._prior_cov.copy()

    @property
    def nbytes(self) -> int:
        """Bytes that the users take; rows never touched are promised, not yet used."""
        return self._users.rows.nbytes + self._users.counts.nbytes

    def __repr__(self) -> str:
        return (
            f"Fleet({len(self)} users, d = {self.dim}, {self.exploration!r}, "
            f"discount={self.discount:.6g}, noise_std={self.noise_std:.6g})"
        )

    # -- what is known -------------------------------------------------------------

    def rounds(self, users: ArrayLike | None = None) -> Array:
        """What the clocks of users show.

        Parameters
        ----------
        users : int or array of int, optional
            By default everybody.

        Returns
        -------
        array of shape (n,)
        """
        with self._numbers(users) as who:
            return memory.clocks_of(self._users, who)

    def mean(self, users: ArrayLike | None = None) -> Array:
        """Posterior means.

        Parameters
        ----------
        users : int or array of int, optional
            By default everybody.

        Returns
        -------
        array of shape (n, d)
        """
        with self._numbers(users) as who:
            work, sums = self._scratch(1)
            out = np.empty((len(who), self._dim))
            sound(fleet.means(self._prior, self._users, work, sums, who, out))
            return out

    def predict(self, users: ArrayLike, x: ArrayLike) -> tuple[Array, Array]:
        """Mean and standard deviation of expected rewards.

        Parameters
        ----------
        users : int or array of int of shape (n,)
        x : array of shape (d,) or (n, d)
            One arm for each user named.

        Returns
        -------
        mean, std : arrays of shape (n,)
        """
        with self._numbers(users) as who:
            rows = np.atleast_2d(_validate.finite_array("x", x))
            X = _validate.matrix("x", rows, len(who), self._dim)
            work, sums = self._scratch(1)
            out = np.empty((len(who), 2))
            with np.errstate(over="ignore", invalid="ignore"):  # refused below
                so = fleet.predict(self._prior, self._users, work, sums, who, X, out)
            sound(so)
            mean, variance = out.T.copy()
            _refuse_beyond("x", mean, variance)
            return mean, np.sqrt(variance)

    def posterior(self, user: int) -> WSBPosterior:
        """What is known of one user, as an object of its own.

        Parameters
        ----------
        user : int

        Returns
        -------
        WSBPosterior
            It shares nothing with the fleet.
        """
        last = len(self) - 1
        user = _validate.integer("user", user, minimum=0, maximum=last)
        with self._numbers(user) as who:
            post = WSBPosterior(**self._settings(), discount=self._discount)
            post._set_learnt(memory.user_state(self._prior, self._users, who[0]))
            return post

    def policy(self, user: int, rng: Seed = None) -> LinearPolicy:
        """One user as a policy of its own, which goes on from here.

        Parameters
        ----------
        user : int
        rng : None, int, SeedSequence or Generator

        Returns
        -------
        LinearPolicy
        """
        with outside_on_purpose():  # what there is to warn of, the template has said
            return LinearPolicy(self.posterior(user), self._exploration, rng=rng)

    # -- the prior that all share ------------------------------------------------

    def set_prior(self, prior_mean: ArrayLike, prior_cov: ArrayLike) -> None:
        """Replace the prior; what users have taught stays.

        Parameters
        ----------
        prior_mean : array of shape (d,)
        prior_cov : float, array of shape (d,) or (d, d)
        """
        mean = _validate.vector("prior_mean", prior_mean, dim=self._dim)
        with self._turns.everybody():
            self._use_prior(mean, prior_cov)

    def _use_prior(self, mean, cov):
        mean, cov, P0, h0 = checked_prior(mean, cov)
        prior = estimate.Prior(memory.packed(P0, h0), self._noise_std**-2.0)
        self._explore = self._exploration.compiled(prior)
        self._prior, self._prior_mean, self._prior_cov = prior, mean, cov
        return prior

    def _settings(self):
        return {
            "prior_mean": self._prior_mean,
            "prior_cov": self._prior_cov,
            "noise_std": self._noise_std,
        }

    # -- threads and checks --------------------------------------------------------

    @contextlib.contextmanager
    def _numbers(self, users):
        """Checked numbers of users, whom nobody else touches meanwhile."""
        who = None if users is None else events.numbers("users", users)
        turns = self._turns
        with turns.everybody() if who is None else turns.of(who):
            if who is None:
                who = np.arange(len(self))
            events.check_known(who, len(self))
            yield who

    def _scratch(self, K):
        """Room to work in, one for each thread."""
        own = self._turns.own
        if getattr(own, "room", 0) < K:
            own.room = K
            own.work = memory.new_work(self._dim, K)
            own.sums = memory.packed(np.zeros((self._dim, self._dim)))
        return own.work, own.sums


def sound(so):
    """Refuse numbers from which no posterior can be made."""
    if not so:
        raise ValueError(_TOO_LARGE)
