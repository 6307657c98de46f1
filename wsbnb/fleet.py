"""Many users at once: one small row of numbers each, and a prior that they share."""

import contextlib
import hashlib
import json
import threading
from pathlib import Path

import numpy as np

from wsbnb import _validate
from wsbnb._files import replace_file
from wsbnb._types import Any, Array, ArrayLike, FilePath, IntArray, Mapping, Seed, Self
from wsbnb.exploration import Exploration
from wsbnb.kernels import estimate, fleet, memory
from wsbnb.policies import saving
from wsbnb.policies.base import LinearPolicy
from wsbnb.policies.theory import outside_on_purpose
from wsbnb.posterior import _NO_SCORES, _TOO_LARGE, WSBPosterior, checked_prior
from wsbnb.weights import Exponential

__all__ = ["Fleet"]

FORMAT, VERSION = "wsbnb-fleet", 1
#: Users whose number has the same remainder share a lock.
_LOCKS = 64
#: More users than this are a mistake, or a file that wants to fill the memory.
_MOST = 2**40


class Fleet:
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
    depends on who comes first. :meth:`add`, :meth:`set_prior`, :meth:`fit_prior` and
    files wait for everybody.

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

    def __init__(
        self, template: LinearPolicy, *, users: int = 0, rng: Seed = None
    ) -> None:
        post = _suitable(template).posterior
        n = _validate.integer("users", users, minimum=0, maximum=_MOST)
        self._discount, self._noise_std = post.discount, post.noise_std
        self._exploration = template.exploration
        self._dim = post.dim
        self._use_prior(post.prior_mean, post.prior_cov)
        self._users = memory.new_users(n, self._dim)
        self._begin(_validate.generator("rng", rng))

    def _begin(self, rng):
        self._rng, self._draws = rng, 0
        self._drawing = threading.Lock()
        self._locks = [threading.RLock() for _ in range(_LOCKS)]
        self._own = threading.local()

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

    # -- playing ----------------------------------------------------------------

    def pull(self, users: ArrayLike, X: ArrayLike) -> Any:
        """Choose an arm for each event.

        Parameters
        ----------
        users : int or array of int of shape (n,)
            Who is to be served.
        X : array of shape (K, d) or (n, K, d)
            The arms: the same for all, or a set for each event.

        Returns
        -------
        int or array of int of shape (n,)
            The rows to play; ties go to the lowest index.
        """
        single = np.ndim(users) == 0
        with self._numbers(users) as who:
            arms = self._arms(X, len(who))
            chosen = self._choose(who, arms)
        return int(chosen[0]) if single else chosen

    def _choose(self, who, arms):
        normals = self._exploration.normals(self._dim)
        work, sums = self._scratch(arms.shape[1])
        chosen = np.empty(len(who), dtype=np.int64)
        with self._drawing:
            before = self._rng.bit_generator.state
            drawn = self._rng.standard_normal((len(who), normals))
            self._draws += 1
            mine = self._draws
        turned = np.empty(arms.shape[:0:-1])
        served = fleet.choose(
            self._explore,
            self._prior,
            self._users,
            work,
            sums,
            turned,
            who,
            arms,
            drawn,
            chosen,
        )
        if served < len(who):
            with self._drawing:  # unless another thread has drawn meanwhile
                if self._draws == mine:
                    self._rng.bit_generator.state = before
            raise ValueError(f"{_NO_SCORES}, got none for event {served}")
        return chosen

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
            X, paid = self._observations(x, reward, len(who))
            steps = _per_event("steps", steps, len(who))
            ages = _per_event("age", age, len(who))
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
            _check_once(who)
            steps = _per_event("steps", steps, len(who))
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
        count = _validate.integer("count", count, maximum=_MOST)
        with self._everybody():
            old = len(self)
            grown = memory.new_users(old + count, self._dim)
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
            _sound(fleet.means(self._prior, self._users, work, sums, who, out))
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
            X = _validate.matrix("x", np.atleast_2d(x), len(who), self._dim)
            work, sums = self._scratch(1)
            out = np.empty((len(who), 2))
            _sound(fleet.predict(self._prior, self._users, work, sums, who, X, out))
            return out[:, 0].copy(), np.sqrt(out[:, 1])

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
        with self._numbers(_validate.integer("user", user, minimum=0)) as who:
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
        with self._everybody():
            self._use_prior(mean, prior_cov)

    def _use_prior(self, mean, cov):
        mean, cov, P0, h0 = checked_prior(mean, cov)
        prior = estimate.Prior(memory.packed(P0, h0), self._noise_std**-2.0)
        self._explore = self._exploration.compiled(prior)
        self._prior, self._prior_mean, self._prior_cov = prior, mean, cov

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
        with self._everybody(), self._numbers(users) as who:
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
        trace = []
        for _ in range(most):
            first, second = np.zeros(self._dim), np.zeros((self._dim, self._dim))
            work, sums = self._scratch(1)
            evidence = fleet.moments(
                self._prior, self._users, work, sums, who, first, second
            )
            _sound(np.isfinite(evidence))
            trace.append(evidence / len(who) + self._evidence_of_prior())
            if len(trace) > 1 and trace[-1] - trace[-2] < tolerance:
                break
            mean = first / len(who)
            cov = second / len(who) - np.outer(mean, mean)
            self._use_prior(mean, (cov + cov.T) / 2)
        return np.array(trace)

    def _evidence_of_prior(self):
        P0, h0 = (
            memory.precision_of(self._prior.sums),
            memory.shift_of(self._prior.sums),
        )
        return 0.5 * (np.linalg.slogdet(P0)[1] - h0 @ np.linalg.solve(P0, h0))

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
        with self._everybody(), self._numbers(users) as who:
            _check_once(who)
            named = np.empty(0, dtype="<i8") if users is None else who.astype("<i8")
            parts = [named, *(part[who].astype("<f8") for part in self._users)]
            header = json.dumps(
                {**self._header(len(who)), "sha256": _digest(parts)},
                default=saving._plain,
                allow_nan=False,
            )
            replace_file(path, header.encode() + b"\n", *map(np.ravel, parts))

    def _header(self, count):
        return {
            "format": FORMAT,
            "version": VERSION,
            "count": count,
            "everybody": count == len(self),
            "dim": self._dim,
            "discount": self._discount,
            **self._settings(),
            "exploration": self._exploration,
            "rng": self._rng.bit_generator.state,
        }

    def _settings(self):
        return {
            "prior_mean": self._prior_mean,
            "prior_cov": self._prior_cov,
            "noise_std": self._noise_std,
        }

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
        header, who, users = _read(path)
        if len(who):
            raise ValueError(
                f"{path} holds {len(who)} users by number; use restore to put them "
                "into a fleet"
            )
        new = cls.__new__(cls)
        try:
            exploration = saving._rebuilt(header["exploration"])
            words = {name: header[name] for name in ("prior_mean", "prior_cov")}
            template = WSBPosterior(
                **words, noise_std=header["noise_std"], discount=header["discount"]
            )
            with outside_on_purpose():
                new.__init__(LinearPolicy(template, exploration))  # type: ignore[misc]
            new._rng = saving._generator(header["rng"])
        except saving._FAULTS as error:
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
        header, who, users = _read(path)
        for name in ("dim", "discount", "noise_std"):
            if header[name] != getattr(self, name):
                raise ValueError(
                    f"path must hold a fleet with {name} {getattr(self, name)}, got "
                    f"{header[name]} in {path}"
                )
        numbers = who if len(who) else np.arange(len(users.rows))
        with self._numbers(numbers) as who:
            for mine, part in zip(self._users, users, strict=True):
                mine[who] = part
        return numbers

    def __getstate__(self) -> dict[str, Any]:
        own = ("_drawing", "_locks", "_own")
        return {k: v for k, v in self.__dict__.items() if k not in own}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._prior = memory.copied(self._prior)
        self._begin(self._rng)

    # -- threads and checks --------------------------------------------------------

    @contextlib.contextmanager
    def _numbers(self, users):
        """Checked numbers of users, whom nobody else touches meanwhile."""
        who = None if users is None else _numbers("users", users)
        locks = range(_LOCKS) if who is None else np.unique(who % _LOCKS).tolist()
        with contextlib.ExitStack() as held:
            for lock in locks:  # always in this order, so that nobody waits in a circle
                held.enter_context(self._locks[lock])
            if who is None:
                who = np.arange(len(self))
            elif len(who) and not 0 <= who.min() <= who.max() < len(self):
                wrong = who[(who < 0) | (who >= len(self))][0]
                raise ValueError(
                    f"users must lie between 0 and {len(self) - 1}, got {wrong}"
                )
            yield who

    def _everybody(self):
        held = contextlib.ExitStack()
        for lock in self._locks:
            held.enter_context(lock)
        return held

    def _scratch(self, K):
        """Room to work in, one for each thread."""
        own = self._own
        if getattr(own, "room", 0) < K:
            own.room = K
            own.work = memory.new_work(self._dim, K)
            own.sums = memory.packed(np.zeros((self._dim, self._dim)))
        return own.work, own.sums

    def _arms(self, X, n):
        arms = _validate.finite_array("X", X)
        arms = arms[None] if arms.ndim == 2 else arms
        if arms.ndim != 3 or 0 in arms.shape[1:] or arms.shape[2] != self._dim:
            d = self._dim
            raise ValueError(
                f"X must have shape (K, {d}) or (n, K, {d}), got shape {np.shape(X)}"
            )
        if len(arms) not in (1, n):
            raise ValueError(
                f"X must have one set of arms for each of {n} users, got {len(arms)}"
            )
        return np.ascontiguousarray(arms)

    def _observations(self, x, reward, n):
        X, paid = _validate.observations(x, reward, self._dim)
        if len(X) != n:
            raise ValueError(f"x must have one row for each of {n} users, got {len(X)}")
        return X, paid


def _suitable(template):
    if not isinstance(template, LinearPolicy):
        raise TypeError(f"template must be a LinearPolicy, got {template!r}")
    if not isinstance(template.posterior.forgetting, Exponential):
        raise ValueError(
            f"template must forget by a discount, got {template.posterior.forgetting!r}"
        )
    if not template.posterior._linear:
        raise ValueError(
            "template must have a linear posterior, such as WSBPosterior, got "
            f"{template.posterior!r}"
        )
    exploration = template.exploration
    if exploration.local or exploration.follows_eigenvalue:
        raise ValueError(
            "template must explore with norm='posterior' and, if it is optimistic, "
            f"with penalty='static', got {exploration!r}"
        )
    return template


def _sound(so):
    if not so:
        raise ValueError(_TOO_LARGE)


def _numbers(name, users):
    """Whole numbers in a vector (a copy)."""
    array = np.array(users, ndmin=1)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be a whole number or a vector of them, got an array of "
            f"{array.dtype} of shape {array.shape}"
        )
    return array.astype(np.int64)


def _check_once(who):
    values, times = np.unique(who, return_counts=True)
    if len(values) < len(who):
        raise ValueError(
            f"users must be named once each, got {values[times.argmax()]} repeatedly"
        )


def _per_event(name, value, n):
    array = _validate.finite_array(name, value)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or have shape ({n},), got {value!r}")
    if array.size and array.min() < 0.0:
        raise ValueError(f"{name} must be zero or positive, got {array.min()}")
    return np.full(n, array)  # its own memory: a view would be another type to compile


# --- files ----------------------------------------------------------------------------


def _digest(parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ravel(part))
    return digest.hexdigest()


def _read(path):
    """Header, numbers of users (empty: everybody) and what is known of them."""
    raw = memoryview(Path(path).read_bytes())
    end = bytes(raw[: 2**22]).find(b"\n")
    try:
        header = json.loads(bytes(raw[: max(end, 0)]))
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']!r}")
        if header["version"] != VERSION:
            raise ValueError(f"its version is {header['version']}, not {VERSION}")
        count = _validate.integer("count", header["count"], minimum=0, maximum=_MOST)
        dim = _validate.integer("dim", header["dim"])
        parts = _parts(raw[end + 1 :], count, dim)
        if _digest(parts) != header["sha256"]:
            raise ValueError("it was damaged or changed: its checksum does not fit")
        _check_users(*parts[1:], dim)
    except saving._FAULTS as error:
        raise ValueError(f"{path} is not a whole fleet file: {error}") from error
    return header, parts[0].astype(np.int64), fleet.Users(*parts[1:])


def _parts(payload, count, dim):
    model = memory.new_users(0, dim)
    widths = [part.shape[1] for part in model]
    named = len(payload) // 8 - count * sum(widths)
    if named not in (0, count) or len(payload) % 8:
        raise ValueError(f"{len(payload)} bytes cannot hold {count} users")
    parts = [np.frombuffer(payload, "<i8", named)]
    start = 8 * named
    for width in widths:
        part = np.frombuffer(payload, "<f8", count * width, start)
        parts.append(part.reshape(count, width).astype(np.float64))
        start += part.nbytes
    return parts


def _check_users(rows, counts, dim):
    """What a round trusts: finite numbers, and A without negative squares."""
    diagonal = np.cumsum([0, *range(dim, 1, -1)])
    sound = np.isfinite(rows).all() and np.isfinite(counts).all()
    if not (sound and (counts >= 0.0).all() and (rows[:, diagonal] >= 0.0).all()):
        raise ValueError("it holds numbers that nobody can have taught")
