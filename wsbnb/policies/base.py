"""What a policy is, for everybody, and one that is made of two parts."""

import copy
import functools
import inspect
import pickle
import threading

import numpy as np

from wsbnb import _validate
from wsbnb._types import (
    Any,
    Array,
    ArrayLike,
    FilePath,
    Mapping,
    Seed,
    Self,
    Sequence,
)
from wsbnb.exploration import Exploration
from wsbnb.kernels import explore, memory, rounds
from wsbnb.policies import chances, saving, theory
from wsbnb.posterior import _NO_NOISE, _NO_SCORES, _UNASKED, WSBPosterior

#: A class with one of these from elsewhere than the class that calls its round compiled
#: plays a round of its own, unless it says that the compiled round is the same.
_ROUND = ("pull", "update", "_arms", "_observations", "_choose", "_learn")


class Policy:
    """What every policy can do; subclasses choose an arm and learn from a reward.

    A policy of your own needs `_choose`, `_learn` and `_restart`; to be saved also
    `_get_state`, `_set_state` and :func:`wsbnb.register`. It may draw from `self._rng`
    in `_choose` only, and must keep everything else it knows in plain attributes.

    One policy may be used from several threads: `pull`, `update`, `decay`, `scores` and
    `save` take turns, so that nothing is lost and nothing half-learnt is seen or saved.
    In which order the threads get their turns is not promised. Whoever reads
    ``policy.posterior`` meanwhile, or pickles the policy, takes a :meth:`copy` first.
    """

    #: Name in tables and pictures.
    name = "Policy"
    #: Whether `simulate` may play the compiled round instead of `pull` and `update`.
    compiled = False

    #: Whether a file of it holds as many numbers as a matrix of its dimension.
    _keeps_matrix = False

    def __init__(self, rng: Seed = None) -> None:
        self._turn = threading.RLock()
        self._set_generator(rng)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        said = next(c for c in cls.__mro__ if "compiled" in c.__dict__)
        if any(getattr(cls, method) is not getattr(said, method) for method in _ROUND):
            cls.compiled = False

    # -- what a subclass says ---------------------------------------------------

    def _choose(self, X: Array) -> int:
        """Index of the arm to play; `X` is a checked (K, d) array."""
        raise NotImplementedError

    def _learn(self, x: Array, reward: float, decay: bool) -> None:
        """Learn from one checked observation."""
        raise NotImplementedError

    def _restart(self) -> None:
        """Back to the state before the first round, apart from the generator."""
        raise NotImplementedError

    # -- playing ----------------------------------------------------------------

    def pull(self, X: ArrayLike) -> int:
        """Choose an arm.

        Parameters
        ----------
        X : array, list or DataFrame of shape (K, d)
            One arm per row. K and the arms may change from round to round.

        Returns
        -------
        int
            The row to play; ties go to the lowest index.
        """
        arms = self._arms(X)
        with self._turn:
            before = self._rng.bit_generator.state
            try:
                chosen = _index(self._choose(arms), len(arms))
            except BaseException:
                self._rng.bit_generator.state = before
                raise
            self._keep_names(X, "columns")
            return chosen

    def update(self, x: ArrayLike, reward: ArrayLike, decay: bool = True) -> None:
        """Learn from one observation, or from several in order.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            The arm played, or one arm per row.
        reward : float or array of shape (n,)
            What it paid.
        decay : bool, default True
            With True each row is a round of its own: the past fades by one step, then
            the row is added. With False the rows are added at full weight and nothing
            fades; call ``decay`` when your own clock ticks.
        """
        X, rewards = self._observations(x, reward)
        decay = _validate.flag("decay", decay)
        with self._turn:
            for row, value in zip(X, rewards.tolist(), strict=True):
                self._learn(row, value, decay)
            self._keep_names(x, _place(x))

    def propensities(self, X: ArrayLike, draws: int = 10_000, seed: Seed = 0) -> Array:
        """Probability of each arm to be played in the next pull.

        Nothing changes, and the policy's own generator is not used.

        Parameters
        ----------
        X : array of shape (K, d)
        draws : int, default 10000
            Pulls of copies that are counted where no formula is known.
        seed : None, int, SeedSequence or Generator, default 0
            For these copies.

        Returns
        -------
        array of shape (K,)
        """
        arms = self._arms(X)
        draws = _validate.integer("draws", draws, maximum=chances.MOST_DRAWS)
        rng = _validate.generator("seed", seed)
        with self._turn:
            return self._chances(arms, draws, rng)

    def _chances(self, X, draws, rng):
        counts = np.zeros(len(X))
        for _ in range(draws):
            twin = self.copy(rng)
            before = pickle.dumps(rng.bit_generator.state)
            counts[twin.pull(X)] += 1.0
            if pickle.dumps(rng.bit_generator.state) == before:
                break  # nothing is drawn: the next pull would be the same
        return counts / counts.sum()

    def reset(self) -> None:
        """Back to the state of a new policy, the random generator included.

        A generator that others draw from goes on; the policy has a copy from then on.
        """
        with self._turn:
            self._rng = copy.deepcopy(self._rng)
            self._rng.bit_generator.state = copy.deepcopy(self._rng_start)
            self._restart()

    # -- copies and files -------------------------------------------------------

    def clone(self, rng: Seed = None) -> Self:
        """A new policy with the same settings that has learnt nothing.

        Parameters
        ----------
        rng : None, int, SeedSequence or Generator
            Its generator. With None it starts where this policy's generator started.
        """
        twin = self.copy()
        twin.reset()
        if rng is not None:
            twin._set_generator(rng)
        return twin

    def copy(self, rng: Seed = None) -> Self:
        """An independent policy that goes on exactly as this one would.

        Parameters
        ----------
        rng : None, int, SeedSequence or Generator
            Give the copy a generator of its own: it knows the same but explores
            otherwise, as copies for many users should. With None it draws the same
            numbers as this policy.
        """
        with self._turn:
            twin = copy.deepcopy(self)
        if rng is not None:
            twin._set_generator(rng)
        return twin

    def __copy__(self) -> Self:  # a shallow copy would share what changes in place
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_turn"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, _turn=threading.RLock())

    def _set_generator(self, rng):
        self._rng = _validate.generator("rng", rng)
        self._rng_start = copy.deepcopy(self._rng.bit_generator.state)

    def get_params(self) -> dict[str, Any]:
        """The constructor's arguments, without the random generator.

        Returns
        -------
        dict
        """
        return {name: copy.copy(getattr(self, name)) for name in self._setting_names()}

    @classmethod
    def _setting_names(cls):
        return _arguments(cls)

    def save(self, path: FilePath) -> None:
        """Write the policy to a plain data file (JSON), generator included.

        Parameters
        ----------
        path : str or path-like
            Replaced in one step: an interrupted save leaves the old file whole.

        See Also
        --------
        wsbnb.load : the way back.
        """
        with self._turn:
            saving.save(self, path)

    def _get_state(self) -> dict[str, Any]:
        """What changes while playing, as a dict of plain numbers and arrays."""
        raise NotImplementedError

    def _set_state(self, state: Mapping[str, Any]) -> None:
        raise NotImplementedError

    # -- checks -----------------------------------------------------------------

    #: What the columns of arms are called, once somebody has said so.
    _feature_names: tuple[str, ...] | None = None

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features; None while nobody has given any.

        They are those of the first data frame that the policy was played on, or set by
        hand. Frames whose columns differ, or stand in another order, are refused.
        """
        return self._feature_names

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        if names is None:
            self._feature_names = None
            return
        given = tuple(_validate.several("feature_names", names))
        dim = getattr(self, "dim", None)
        strings = all(isinstance(name, str) for name in given)
        if not strings or len(set(given)) < len(given) or dim not in (None, len(given)):
            raise ValueError(
                f"feature_names must be {dim or 'd'} different strings, got {names!r}"
            )
        self._feature_names = given

    def _arms(self, X):
        arms = _validate.matrix("X", X, cols=getattr(self, "dim", None))
        self._check_names("X", _names_of(X, "columns"))
        return arms

    def _observations(self, x, reward):
        rows = _validate.observations(x, reward, getattr(self, "dim", None))
        self._check_names("x", _names_of(x, _place(x)))
        return rows

    def _check_names(self, argument, names):
        known = self._feature_names
        if names is not None and len(set(names)) < len(names):
            raise ValueError(
                f"{argument} must have features of different names, got {list(names)}"
            )
        if names is not None and known is not None and names != known:
            raise ValueError(
                f"{argument} must have the features {list(known)} in this order, got "
                f"{list(names)}"
            )

    def _keep_names(self, value, place):
        if self._feature_names is None:
            self._feature_names = _names_of(value, place)

    def __repr__(self) -> str:
        words = ", ".join(f"{k}={_short(v)}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({words})"


def _index(arm, count):
    """The arm that a subclass chose; Python would take -1 for the last one."""
    if not (0 <= arm < count and int(arm) == arm):
        raise ValueError(f"_choose must return 0 to {count - 1}, got {arm!r}")
    return int(arm)


def _place(x):
    """Where what was played has its names: a frame, or a row of one."""
    return "columns" if hasattr(x, "columns") else "index"


def _names_of(value, place):
    """Names of features in a frame or a row of one; plain numbers are no names."""
    names = None if type(value) is np.ndarray else getattr(value, place, None)
    if names is None or callable(names):
        return None
    names = tuple(names)
    return names if all(isinstance(name, str) for name in names) else None


@functools.cache
def _arguments(cls):
    names = inspect.signature(cls.__init__).parameters
    return tuple(name for name in names if name not in ("self", "rng"))


def _short(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, threshold=4, separator=", ").replace(
            "\n", ""
        )
    return repr(value)


@saving.register
class LinearPolicy(Policy):
    """A policy made of a posterior and a way to explore; its round is compiled.

    Parameters
    ----------
    posterior : WSBPosterior
        Prior, noise level and rule of forgetting. It is copied, with what it has
        learnt.
    exploration : an exploration of :mod:`wsbnb.exploration`
    rng : None, int, SeedSequence or Generator

    Examples
    --------
    A Thompson sampler on a sliding window, and one that restarts:

    >>> import wsbnb
    >>> from wsbnb.exploration import Thompson
    >>> from wsbnb.weights import Restart, SlidingWindow
    >>> prior = {"prior_mean": [0.0, 0.0], "prior_cov": 1.0, "noise_std": 0.5}
    >>> windowed, restarting = (
    ...     wsbnb.LinearPolicy(
    ...         wsbnb.WSBPosterior(**prior, forgetting=rule), Thompson(), rng=0
    ...     )
    ...     for rule in (SlidingWindow(50), Restart(100))
    ... )
    >>> windowed.pull([[1.0, 0.0], [0.0, 1.0]])
    0
    """

    name = "Linear policy"
    compiled = True
    _keeps_matrix = True

    def __init__(
        self, posterior: WSBPosterior, exploration: Exploration, *, rng: Seed = None
    ) -> None:
        if not isinstance(posterior, WSBPosterior):
            raise TypeError(f"posterior must be a WSBPosterior, got {posterior!r}")
        if not isinstance(exploration, Exploration):
            raise TypeError(
                "exploration must be one of wsbnb.exploration, for example Thompson(), "
                f"got {exploration!r}"
            )
        self._compose(posterior.copy(), exploration, rng)

    def _compose(self, posterior, exploration, rng, **own):
        """Put the parts together; `own` are settings that no part has by that name."""
        super().__init__(rng)
        posterior._prepare(exploration)
        if posterior._rule is None:
            self.compiled = False  # its rule of forgetting is a Python function
        self._posterior, self._exploration = posterior, exploration
        self.__dict__.update(own)
        self._explore = exploration.compiled(posterior._prior)
        self._n_normals = exploration.normals(posterior.dim)
        self._noise_check = self._new_check()
        theory.check_settings(posterior, exploration)

    def _new_check(self):
        check = theory.NoiseCheck()
        check.done = not self._posterior._linear  # clicks have no noise level
        return check

    # -- settings ---------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # Settings are read where they are kept: in the parts.
        if not name.startswith("_") and name in type(self)._setting_names():
            exploration = self._exploration
            places = (exploration, getattr(exploration, "optimism", None))
            for place in (*places, self._posterior):
                if hasattr(place, name):
                    return getattr(place, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        # The compiled settings are built once: one changed later would be a lie.
        ours = not name.startswith("_") and name in self._setting_names()
        if ours and hasattr(self, name):  # a subclass may set one of its own, once
            raise AttributeError(
                f"{name} cannot be changed, got {value!r}; set_params changes settings "
                "and keeps what was learnt"
            )
        super().__setattr__(name, value)

    @property
    def posterior(self) -> WSBPosterior:
        """The estimate that the policy plays from: the object itself, not a copy."""
        return self._posterior

    @property
    def exploration(self) -> Exploration:
        """How the policy explores."""
        return self._exploration

    @property
    def dim(self) -> int:
        """Dimension d of arms and parameter."""
        return self._posterior.dim

    @property
    def noise_std(self) -> float:
        """Noise level that the policy believes in."""
        return self._posterior.noise_std

    @property
    def n_normals(self) -> int:
        """How many standard normals one pull draws."""
        return self._n_normals

    @property
    def rounds(self) -> float:
        """Rounds learnt from, in steps of the policy's clock."""
        return self._posterior.rounds

    def set_params(self, **changes: Any) -> Self:
        """Change settings in place and keep what was learnt.

        Parameters
        ----------
        **changes
            Arguments of the constructor. What the learnt sums are made of (dimension,
            prior, noise level, window) can change only while nothing is learnt.

        Returns
        -------
        LinearPolicy
            This policy.

        Examples
        --------
        >>> import numpy as np, wsbnb
        >>> policy = wsbnb.WSBLinTS(
        ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.9
        ... )
        >>> policy.update([1.0, 0.0], 0.3)
        >>> policy.set_params(discount=0.99).discount
        0.99
        >>> policy.rounds
        1.0
        """
        names = self._setting_names()
        for name in changes:
            _validate.choice("changes", name, names)
        with self._turn:
            other = type(self)(**{**self.get_params(), **changes})
            if self._posterior._has_learnt():
                other._posterior._continue(self._posterior, sorted(changes))
            other._rng, other._rng_start = self._rng, self._rng_start
            if "posterior" not in changes:  # who holds the posterior holds the live one
                self._posterior.__dict__.update(other._posterior.__dict__)
                other._posterior = self._posterior
            self.__dict__.update({**other.__dict__, "_turn": self._turn})
        return self

    # -- playing ----------------------------------------------------------------

    def update(
        self, x: ArrayLike, reward: ArrayLike, decay: bool = True, age: float = 0
    ) -> None:
        """Learn from one observation, or from several in order.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            The arm played, or one arm per row.
        reward : float or array of shape (n,)
            What it paid.
        decay : bool, default True
            With True each row is a round of its own: the past fades by one step, then
            the row is added. With False the rows are added at full weight and nothing
            fades; call :meth:`decay` when your own clock ticks.
        age : float, default 0
            How many rounds ago the arm was pulled. Rewards may come late and in any
            order: with its age a reward gets the weight that it would have by now.

        Notes
        -----
        All input is checked before the state changes, and a failed update changes
        nothing.
        """
        X, rewards = self._observations(x, reward)
        with self._turn:
            look = not self._noise_check.done
            predicted = np.empty((len(X) if look else 0, 2))
            self._posterior._observe(X, rewards, decay, age, self._explore, predicted)
            self._keep_names(x, _place(x))
            if look:
                self._noise_check.add(predicted, rewards, self.noise_std)

    def decay(self, steps: float = 1) -> None:
        """Let time pass without an observation.

        Parameters
        ----------
        steps : float, default 1
            Rounds on the policy's clock, zero or positive. Window and restart policies
            count whole rounds.
        """
        with self._turn:
            self._posterior._pass_time(steps, self._explore)

    def scores(self, X: ArrayLike) -> Array:
        """The numbers that the next pull will compare, one per arm.

        Nothing is drawn and nothing changes: a randomised policy looks ahead in a copy
        of its generator.

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        array of shape (K,)
        """
        arms = self._arms(X)
        with self._turn:
            self._look_ahead(arms, copy.deepcopy(self._rng))
            return self._posterior._work.rows[explore.SCORES, : len(arms)].copy()

    def explain(self, X: ArrayLike) -> dict[str, Any]:
        """Mean, width and radius behind the scores (pure, as `scores`).

        Parameters
        ----------
        X : array of shape (K, d)

        Returns
        -------
        dict
            ``mean`` and ``width`` (K,) arrays, ``radius`` and its part ``penalty``, and
            ``score``. Where the rule has no use for mean and width, as in Thompson
            sampling, they are the posterior mean and standard deviation of the arm's
            expected reward, and the radius is 0.
        """
        arms = self._arms(X)
        with self._turn:
            return self._explained_by(arms, copy.deepcopy(self._rng))

    def _look_ahead(self, arms, rng):
        """Decide, and change nothing but the scratch space."""
        bound = self._posterior._state.bound
        kept = None if bound is None else bound.copy()
        self._decide(arms, rng)
        if kept is not None:
            bound[:] = kept

    def _explained_by(self, arms, rng):
        self._look_ahead(arms, rng)
        rows, said = self._posterior._work.rows[:, : len(arms)], self._said()
        if isinstance(self._explore, explore.Widths):
            mean, width = rows[explore.MEANS].copy(), rows[explore.WIDTHS].copy()
        else:
            mean, variance = self._posterior._predict(arms)
            if not np.isfinite([mean, variance]).all():
                raise ValueError(_NO_SCORES)
            width = np.sqrt(variance)
        score = rows[explore.SCORES].copy()
        return {"mean": mean, "width": width, **said, "score": score}

    def propensities(self, X: ArrayLike, draws: int = 10_000, seed: Seed = 0) -> Array:
        """Probability of each arm to be played in the next pull.

        Exact for optimism (one arm, for certain), for a random radius (the scores are
        lines in one normal number) and for chance; for Thompson sampling between two
        arms or in one dimension. Otherwise parameters are drawn and counted, so that
        each number has a standard error of at most ``0.5 / sqrt(draws)``. Nothing
        changes, and the policy's own generator is not used.

        Parameters
        ----------
        X : array of shape (K, d)
        draws : int, default 10000
            Parameters drawn where no formula is known.
        seed : None, int, SeedSequence or Generator, default 0
            For these draws.

        Returns
        -------
        array of shape (K,)

        Examples
        --------
        >>> import numpy as np, wsbnb
        >>> policy = wsbnb.WSBLinTS(
        ...     prior_mean=[0.5, 0.0], prior_cov=1.0, noise_std=0.5, discount=0.9
        ... )
        >>> policy.propensities(np.eye(2)).round(4).tolist()
        [0.6382, 0.3618]
        """
        return super().propensities(X, draws, seed)

    def _chances(self, X, draws, rng):
        own = type(self)  # a subclass may choose in another way
        if (own.pull, own._choose) != (Policy.pull, LinearPolicy._choose):
            return super()._chances(X, draws, rng)
        if isinstance(self._explore, explore.Chance):
            return np.full(len(X), 1.0 / len(X))
        if isinstance(self._explore, explore.Widths):
            return self._chances_of_radius(X)
        return self._chances_of_sample(X, draws, rng)

    def _chances_of_radius(self, X):
        known = self._explained_by(X, _One())
        if not self._n_normals:
            return chances.only(chances.best(known["score"]), len(X))
        up, down = self._explore.up, self._explore.down
        if up == 0.0:
            return chances.only(chances.best(known["mean"]), len(X))
        radius = known["radius"] / up  # the normal was 1
        means, widths = known["mean"], known["width"]
        return chances.random_radius(means, widths, up * radius, down * radius)

    def _chances_of_sample(self, X, draws, rng):
        post, scale = self._posterior, self._explore.scale
        mean = post.mean
        if scale == 0.0 or len(X) == 1:
            return chances.only(chances.best(X @ mean), len(X))
        cov = post.cov
        if post._state.squares is not None:
            cov = cov @ memory.precision_of(post._state.squares) @ cov
        root = scale * np.linalg.cholesky((cov + cov.T) / 2)
        if len(X) == 2:
            gap = X[0] - X[1]
            return chances.two_arms(gap @ mean, float(np.linalg.norm(gap @ root)))
        if self.dim == 1:
            return chances.one_dimension(X[:, 0], mean[0], root[0, 0])
        return chances.by_draws(X, mean, root, draws, rng)

    def _said(self):
        said = self._posterior._work.said
        names = {"radius": explore.RADIUS, "penalty": explore.PENALTY}
        return {name: float(said[place]) for name, place in names.items()}

    def _choose(self, X):
        return self._decide(X, self._rng)

    def _decide(self, X, rng):
        """One compiled round that learns nothing."""
        post = self._posterior
        post._make_room(len(X))
        bound = post._state.bound
        before = None if bound is None else bound.copy()
        chosen = np.empty(1, dtype=np.int64)
        rounds.play(
            self._explore,
            post._compiled_rule(),
            post._prior,
            post._state,
            post._work,
            np.ascontiguousarray(X.T)[None],
            _NO_REWARD,
            _NO_NOISE,
            rng.standard_normal((1, self._n_normals)),
            chosen,
            _UNASKED,
            1.0,
            1.0,
            True,
            False,
        )
        if chosen[0] < 0:
            if before is not None:
                bound[:] = before
            raise ValueError(_NO_SCORES)
        return chosen[0]

    def _play_rounds(self, arms, expected, noise):
        """Many rounds that choose and learn, for `simulate`; arms are (.., d, K)."""
        post = self._posterior
        post._check_rewards(expected, noise)
        post._make_room(arms.shape[2])
        chosen = np.empty(len(noise), dtype=np.int64)
        rounds.play(
            self._explore,
            post._rule,
            post._prior,
            post._state,
            post._work,
            arms,
            expected,
            noise,
            self._rng.standard_normal((len(noise), self._n_normals)),
            chosen,
            _UNASKED,
            1.0,
            1.0,
            True,
            True,
        )
        if chosen.min() < 0:
            raise ValueError(
                "policies must have a noise_std and a prior that keep the precision "
                "matrix positive definite in double precision, got a largest entry of "
                f"{np.abs(post._state.sums).max():.3g}"
            )
        return chosen

    def _estimate(self):
        """What `simulate` keeps of the estimate before a recorded decision."""
        mean = self._posterior.mean
        return {f"estimate_{i}": value for i, value in enumerate(mean.tolist())}

    def _explained(self, arm):
        """What `simulate` keeps of a recorded decision."""
        if not isinstance(self._explore, explore.Widths):
            return self._said()
        rows = self._posterior._work.rows
        width, mean = rows[explore.WIDTHS, arm], rows[explore.MEANS, arm]
        return {**self._said(), "width": float(width), "mean": float(mean)}

    def _restart(self):
        self._posterior.reset()
        self._noise_check = self._new_check()

    def _get_state(self):
        return {
            "posterior": self._posterior._get_state(),
            "residuals": self._noise_check.get_state(),
        }

    def _set_state(self, state):
        self._posterior._set_state(state["posterior"])
        self._noise_check.set_state(state["residuals"])


class _One:
    """In place of a generator: every normal is 1."""

    @staticmethod
    def standard_normal(shape):
        return np.ones(shape)


_NO_REWARD = np.zeros((1, 1))
