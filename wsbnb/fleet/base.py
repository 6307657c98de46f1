"""The fleet: rows of numbers for many users, played and taught in batches."""

import copy

import numpy as np

from wsbnb import _validate
from wsbnb._types import Any, Array, ArrayLike, FilePath, IntArray, Mapping, Self
from wsbnb.fleet import events, files, sharing
from wsbnb.fleet.known import Users, sound
from wsbnb.kernels import fleet, memory
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.posterior import _NO_SCORES, _TOO_LARGE, WSBPosterior

__all__ = ["Fleet"]


class Fleet(Users):
    r"""A policy for each of many users: the same settings, parameters of their own.

    Of user u only :math:`A_u = \sum_s w_s x_sx_s^\top` and
    :math:`b_u = \sum_s w_s x_sr_s` are kept, d(d+3)/2 numbers, with three counters. The
    posterior of the user is put together when it is asked for,

    .. math::

        \Sigma_u^{-1} = \Sigma_0^{-1} + \sigma^{-2}A_u, \qquad
        \mu_u = \Sigma_u\bigl(\Sigma_0^{-1}\mu_0 + \sigma^{-2}b_u\bigr),

    which is the posterior that a :class:`WSBPosterior` of the user alone would hold. So
    a user of whom nothing is known is a row of zeros, and the prior can be replaced for
    all users at once.

    Parameters
    ----------
    template : LinearPolicy
        Any policy with a discount, such as :class:`WSBLinTS`. Only its settings count.
        Local norms and prior penalties that follow an eigenvalue need more than the
        row of a user and are refused (for optimism give ``penalty="static"``).
    users : int, default 0
        How many; they are numbered from 0. :meth:`add` brings more.
    rng : None, int, SeedSequence or Generator
        One stream for all users, used in the order of the events.

    Notes
    -----
    Each user has a clock of its own, which an observation moves by one step, unless
    `steps` says otherwise. Events of one batch are taken in order; a batch equals its
    events one by one.

    Threads may work on one fleet. Calls that share a user take turns, others run side
    by side; each call is carried out as a whole or not at all. What threads draw
    depends on who comes first. :meth:`add`, :meth:`set_prior`, :meth:`fit_prior`,
    files, copies and pickles wait for everybody.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> template = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.99
    ... )
    >>> fleet = wsbnb.Fleet(template, users=1000, rng=0)
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> users = np.array([7, 999, 7])
    >>> arms = fleet.pull(users, X)
    >>> fleet.update(users, X[arms], [1.0, 0.0, 0.5])
    >>> fleet.rounds([7, 999, 0]).tolist()
    [2.0, 1.0, 0.0]
    >>> fleet.nbytes // len(fleet)  # bytes a user: 5 numbers and 3 counters
    64
    """

    # -- playing ----------------------------------------------------------------

    def pull(self, users: ArrayLike, X: ArrayLike) -> Any:
        """Choose an arm for each event.

        Parameters
        ----------
        users : int or array of int of shape (n,)
            Who is to be served.
        X : array of shape (K, d) or (n, K, d), or list of n arrays of shape (K, d)
            The arms: the same for all, or a set for each event. In a list K may differ.

        Returns
        -------
        int or array of int of shape (n,)
            The rows to play; ties go to the lowest index.
        """
        with self._numbers(users) as who:
            groups = events.arm_groups(X, len(who), self._dim)
            chosen = self._choose(who, groups)
        return int(chosen[0]) if np.ndim(users) == 0 else chosen

    def _choose(self, who, groups):
        drawing = self._turns.drawing
        with drawing:
            before = self._rng.bit_generator.state
            width = self._exploration.normals(self._dim)
            drawn = self._rng.standard_normal((len(who), width))
            self._draws += 1
            mine = self._draws
        chosen = np.empty(len(who), dtype=np.int64)
        for numbers, arms in groups:
            served = self._serve(who, numbers, arms, drawn, chosen)
            if served == len(numbers):
                continue
            with drawing:  # unless another thread has drawn meanwhile
                if self._draws == mine:
                    self._rng.bit_generator.state = before
                    self._draws -= 1
            raise ValueError(f"{_NO_SCORES}, got none for event {numbers[served]}")
        return chosen

    def _serve(self, who, numbers, arms, drawn, chosen):
        """Choose for events with equally many arms; return how many could be served."""
        work, sums = self._scratch(arms.shape[1])
        turned, some = np.empty(arms.shape[:0:-1]), np.empty(len(numbers), np.int64)
        served = fleet.choose(
            self._explore,
            self._prior,
            self._users,
            work,
            sums,
            turned,
            who[numbers],
            arms,
            drawn[numbers],
            some,
        )
        chosen[numbers] = some
        return served

    def update(
        self,
        users: ArrayLike,
        x: ArrayLike,
        reward: ArrayLike,
        steps: ArrayLike = 1,
        age: ArrayLike = 0,
    ) -> None:
        """Learn from events, in order.

        Parameters
        ----------
        users : int or array of int of shape (n,)
            Whose rewards these are; a user may occur several times.
        x : array of shape (d,) or (n, d)
            The arm that was played in each event.
        reward : float or array of shape (n,)
        steps : float or array of shape (n,), default 1
            How far the user's clock moves before the observation is added: 1 counts
            events, the time since the user's last event counts time.
        age : float or array of shape (n,), default 0
            How many steps ago the arm was played, for rewards that come late.

        Notes
        -----
        All events are learnt, or none.
        """
        with self._numbers(users) as who:
            X, paid = events.observations(x, reward, len(who), self._dim)
            steps = events.per_event("steps", steps, len(who))
            events.check_time(memory.clocks_of(self._users, who), who, steps)
            ages = events.per_event("age", age, len(who))
            self._learn(who, X, paid, steps, ages)

    def decay(self, users: ArrayLike | None = None, steps: ArrayLike = 1) -> None:
        """Let time pass for some users, or for all.

        Parameters
        ----------
        users : int or array of int, optional
            By default everybody.
        steps : float or array of shape (n,), default 1
            Zero or positive; one number, or one for each user named.
        """
        with self._numbers(users) as who:
            events.check_once(who)
            steps = events.per_event("steps", steps, len(who))
            events.check_time(memory.clocks_of(self._users, who), who, steps)
            memory.pass_time(self._users, who, self._discount, steps)

    def _learn(self, who, X, rewards, steps, ages):
        work, sums = self._scratch(1)
        undo = memory.new_users(len(who), self._dim)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            learnt = fleet.learn(
                self._discount,
                self._prior,
                self._users,
                work,
                sums,
                who,
                X,
                rewards,
                steps,
                ages,
                undo,
            )
        if learnt < len(who):
            raise ValueError(f"{_TOO_LARGE}, got an event that breaks it: {learnt}")

    def add(self, count: int = 1) -> IntArray:
        """Take in new users, who know what the prior says.

        Parameters
        ----------
        count : int, default 1

        Returns
        -------
        array of int
            Their numbers.
        """
        count = _validate.integer("count", count, maximum=files.MOST)
        with self._turns.everybody():
            old = len(self)
            grown = events.rows_for("count", old + count, self._dim)
            for new, part in zip(grown, self._users, strict=True):
                new[:old] = part
            self._users = grown
        return np.arange(old, old + count)

    def reset(self, users: ArrayLike | None = None) -> None:
        """Forget what some users, or all, have taught.

        Parameters
        ----------
        users : int or array of int, optional
            By default everybody. The generator goes on as it was.
        """
        with self._numbers(users) as who:
            for part in self._users:
                part[who] = 0.0

    # -- the prior that all share ------------------------------------------------

    def fit_prior(
        self,
        users: ArrayLike | None = None,
        iterations: int = 100,
        tolerance: float = 1e-6,
    ) -> Array:
        r"""Re-estimate the shared prior from what users have taught (empirical Bayes).

        Expectation-maximisation on the evidence of the users,

        .. math::

            \mu_0 \leftarrow \frac1n\sum_u \mu_u, \qquad
            \Sigma_0 \leftarrow \frac1n\sum_u
            \bigl(\Sigma_u + (\mu_u-\mu_0)(\mu_u-\mu_0)^\top\bigr),

        until the evidence per user grows by less than `tolerance`. Users of whom
        nothing is known are left out.

        Parameters
        ----------
        users : array of int, optional
            Whom to learn from, by default everybody. A few thousand are plenty.
        iterations : int, default 100
            At most.
        tolerance : float, default 1e-6
            In nats per user.

        Returns
        -------
        array
            The log evidence per user before each step, up to a constant. It never
            falls.

        Notes
        -----
        Without forgetting this is the usual hierarchical model, and the evidence is its
        likelihood. With a discount the observations count with their weights, as they
        do everywhere in this package: the spread of users is then estimated a little
        too small if their parameters stand still.
        """
        most = _validate.integer("iterations", iterations)
        tolerance = _validate.nonnegative("tolerance", tolerance)
        with self._turns.everybody(), self._numbers(users) as who:
            who = who[self._users.counts[who].max(axis=1, initial=0.0) > 0.0]
            if len(who) < 2:
                raise ValueError(
                    "users must hold at least two of whom something is known, got "
                    f"{len(who)}"
                )
            before = self._prior_mean, self._prior_cov
            try:
                return self._maximise(who, most, tolerance)
            except BaseException:
                self._use_prior(*before)
                raise

    def _maximise(self, who, most, tolerance):
        def moments(prior):
            first, second = np.zeros(self._dim), np.zeros((self._dim, self._dim))
            work, sums = self._scratch(1)
            evidence = fleet.moments(prior, self._users, work, sums, who, first, second)
            sound(np.isfinite(evidence))
            return evidence / len(who), first / len(who), second / len(who)

        return sharing.maximise(moments, self._prior, most, tolerance, self._use_prior)

    # -- files ------------------------------------------------------------------

    def save(self, path: FilePath, users: ArrayLike | None = None) -> None:
        """Write the fleet, or some of its users, to a file.

        Parameters
        ----------
        path : str or path-like
            Replaced in one step: an interrupted save leaves the old file whole.
        users : array of int, optional
            Only these; by default everybody.

        See Also
        --------
        Fleet.load : a fleet from a file of everybody.
        Fleet.restore : put users from a file into a fleet.
        """
        with self._turns.everybody(), self._numbers(users) as who:
            events.check_once(who)
            named = np.empty(0, dtype=np.int64) if users is None else who
            some = fleet.Users(*(part[who] for part in self._users))
            settings = {
                "everybody": len(who) == len(self),
                "dim": self._dim,
                "discount": self._discount,
                **self._settings(),
                "exploration": self._exploration,
                "rng": self._rng.bit_generator.state,
            }
            files.write(path, settings, named, some)

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """A fleet from a file that :meth:`save` has written with everybody in it.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Fleet
            It goes on exactly as the saved one would, generator included.
        """
        header, who, users = files.read(path)
        if len(who) or not header.get("everybody"):
            raise ValueError(
                f"{path} holds {len(who)} users by number; use restore to put them "
                "into a fleet"
            )
        new = cls.__new__(cls)
        try:
            exploration, rng = files.exploration_and_generator(header)
            words = ("prior_mean", "prior_cov", "noise_std", "discount")
            template = WSBPosterior(**{name: header[name] for name in words})
            with outside_on_purpose():
                new.__init__(LinearPolicy(template, exploration))  # type: ignore[misc]
            new._rng = rng
        except files.FAULTS as error:
            raise ValueError(f"{path} is not a whole fleet file: {error}") from error
        new._users = users
        return new

    def restore(self, path: FilePath) -> IntArray:
        """Put the users of a file into this fleet, at their numbers.

        Parameters
        ----------
        path : str or path-like
            With the same dimension, discount and noise level. The prior of this fleet
            stays, and so does its generator.

        Returns
        -------
        array of int
            Who was restored.
        """
        header, who, users = files.read(path)
        for name in ("dim", "discount", "noise_std"):
            if header.get(name) != getattr(self, name):
                raise ValueError(
                    f"path must hold a fleet with {name} {getattr(self, name)}, got "
                    f"{header.get(name)} in {path}"
                )
        numbers = who if len(who) else np.arange(len(users.rows))
        with self._numbers(numbers) as who:
            for mine, part in zip(self._users, users, strict=True):
                mine[who] = part
        return numbers

    def __copy__(self) -> Self:  # a shallow copy would share what changes in place
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        with self._turns.everybody():  # who copies it reads on when turns are over
            known = fleet.Users(*(part.copy() for part in self._users))
            state = {k: v for k, v in self.__dict__.items() if k != "_turns"}
        return {**state, "_users": known}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._prior = memory.copied(self._prior)
        self._begin(self._rng)
