"""The friendly shell around the compiled round."""

import copy
import inspect

import numpy as np

from wsbnb import _validate, kernels
from wsbnb._gaussian import GaussianPosterior, cholesky, inverse
from wsbnb._types import Any, Array, ArrayLike, FilePath, Mapping, Seed, Self
from wsbnb.policies import rules, saving, theory


class Policy:
    """What every policy can do; subclasses choose an arm and learn from a reward.

    A policy of your own needs `_choose`, `_learn` and `_restart`; to be saved also
    `_get_state`, `_set_state` and :func:`wsbnb.register`. It may draw from `self._rng`
    in `_choose` only, and must keep everything else it knows in plain attributes.
    """

    #: Name in tables and pictures.
    name = "Policy"

    def __init__(self, rng: Seed = None) -> None:
        self._set_generator(rng)

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
        return int(self._choose(self._arms(X)))

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
            fades; call :meth:`LinearPolicy.decay` when your own clock ticks.

        Notes
        -----
        Rewards may come late and in any order: pull as often as you like, update when
        a reward arrives. A reward counts from its arrival, not from its pull. All input
        is checked before the state changes, and a failed update changes nothing.
        """
        X, rewards = self._observations(x, reward)
        self._learn_all(X, rewards.tolist(), bool(decay))

    def _learn_all(self, X, rewards, decay):
        for row, value in zip(X, rewards, strict=True):
            self._learn(row, value, decay)

    def reset(self) -> None:
        """Back to the state of a new policy, the random generator included."""
        self._rng.bit_generator.state = copy.deepcopy(self._rng_start)
        self._restart()

    # -- copies and files -------------------------------------------------------

    def clone(self, rng: Seed = None) -> Self:
        """An independent copy that continues exactly as this policy would.

        Parameters
        ----------
        rng : None, int, SeedSequence or Generator
            Give the copy a generator of its own: it knows the same but explores
            otherwise, as copies for many users should. With None it draws the same
            numbers as this policy.
        """
        twin = copy.deepcopy(self)
        if rng is not None:
            twin._set_generator(rng)
        return twin

    def _set_generator(self, rng):
        self._rng = _validate.generator("rng", rng)
        self._rng_start = copy.deepcopy(self._rng.bit_generator.state)

    def __copy__(
        self,
    ) -> Self:  # a shallow copy would share arrays that change in place
        return self.clone()

    def get_params(self) -> dict[str, Any]:
        """The constructor's arguments, without the random generator.

        Returns
        -------
        dict
        """
        return {name: copy.copy(getattr(self, name)) for name in self._setting_names()}

    @classmethod
    def _setting_names(cls):
        names = inspect.signature(cls.__init__).parameters
        return [name for name in names if name not in ("self", "rng")]

    def save(self, path: FilePath) -> None:
        """Write the policy to a plain data file (JSON), generator included.

        Parameters
        ----------
        path : str or path-like
            Replaced in one step: an interrupted save leaves the old file whole (a
            killed process may leave a hidden file beside it, which can be deleted).

        See Also
        --------
        wsbnb.load : the way back.
        """
        saving.save(self, path)

    def _get_state(self) -> dict[str, Any]:
        """What changes while playing, as a dict of plain numbers and arrays."""
        raise NotImplementedError

    def _set_state(self, state: Mapping[str, Any]) -> None:
        raise NotImplementedError

    # -- checks -----------------------------------------------------------------

    def _arms(self, X):
        return _validate.matrix("X", X, cols=getattr(self, "dim", None))

    def _observations(self, x, reward):
        return _validate.observations(x, reward, getattr(self, "dim", None))

    def __repr__(self) -> str:
        words = ", ".join(f"{k}={_short(v)}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({words})"


def _short(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, threshold=4, separator=", ").replace(
            "\n", ""
        )
    return repr(value)


_TOO_LARGE = (
    "x and reward must keep the precision matrix finite and positive definite in "
    "double precision; rescale the arms, or use a less extreme noise_std or prior"
)


class PosteriorSnapshot(GaussianPosterior):
    """A Gaussian read off a policy: `mean`, `cov`, `precision`, `predict`, `sample`."""

    def __init__(
        self,
        precision: Array,
        shift: Array,
        prior: tuple[Array, Array],
        noise_std: float,
        counts: Array,
    ) -> None:
        self._P, self._h = precision, shift
        self._L = cholesky(precision)
        if self._L is None:
            raise ValueError(_TOO_LARGE)
        self._prior_precision, self._prior_mean = prior
        self._noise_std = noise_std
        self._clock = float(counts[kernels.CLOCK])
        self._weight_sum = float(counts[kernels.WEIGHT_SUM])
        self._squared_weight_sum = float(counts[kernels.SQUARED_WEIGHT_SUM])

    @property
    def prior_cov(self) -> Array:
        """Prior covariance (a new array)."""
        return inverse(cholesky(self._prior_precision))

    def update(self, x: ArrayLike, reward: ArrayLike, decay: bool = True) -> None:
        """A snapshot does not learn."""
        raise TypeError("a snapshot does not learn; call update on the policy")

    def decay(self, steps: float = 1) -> None:
        """A snapshot does not age."""
        raise TypeError("a snapshot does not age; call decay on the policy")

    def _settings(self):
        return f"noise_std={self._noise_std:g}"


class LinearPolicy(Policy):
    """A policy whose round is compiled: an estimator, a width and an exploration rule.

    Subclasses give `self._rule`, built once from checked settings.
    """

    #: Standard normals consumed by one pull: 0, 1 or "dim".
    _normals = 0
    #: Whether the estimator counts in units of sigma = 1, as WRLS does.
    _unit_noise = False

    def _start(self, rule, rng):
        Policy.__init__(self, rng)
        self._rule = rule
        self._restart()
        theory.check_settings(rule, stacklevel=3)

    def __setattr__(self, name: str, value: Any) -> None:
        # The compiled rule is built once: a setting changed later would be a lie.
        if "_rule" in self.__dict__ and name in self.__dict__:
            if name in self._setting_names():
                raise AttributeError(
                    f"{name} cannot be changed, got {value!r}; with_settings gives a "
                    "policy with other settings that goes on from here"
                )
        super().__setattr__(name, value)

    @property
    def dim(self) -> int:
        """Dimension d of arms and parameter."""
        return self._rule.prior.h0.size

    @property
    def n_normals(self) -> int:
        """How many standard normals one pull draws."""
        return self.dim if self._normals == "dim" else self._normals

    @property
    def rounds(self) -> float:
        """Rounds learnt from, in steps of the policy's clock."""
        return float(self._state.counts[kernels.CLOCK])

    @property
    def posterior(self) -> PosteriorSnapshot:
        """The Gaussian over the parameter that the policy holds now (a snapshot).

        For WRLS policies this is the Gaussian whose mean is the WRLS estimate: its
        precision is ``V / noise_std**2``.
        """
        scale = 1.0 / self.noise_std**2 if self._unit_noise else 1.0
        prior = self._rule.prior
        return PosteriorSnapshot(
            scale * self._state.P,
            scale * self._state.h,
            (scale * prior.P0, prior.mu0),
            self.noise_std,
            self._state.counts,
        )

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
        return self.explain(X)["score"]

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
            expected reward.
        """
        X_T = np.ascontiguousarray(self._arms(X).T)
        work = kernels.make_work(*X_T.shape)
        normals = copy.deepcopy(self._rng).standard_normal(self.n_normals)
        radius, penalty = kernels.score(self._rule, self._state, X_T, normals, work)
        mean, width = work.rows[kernels.MEANS], work.rows[kernels.WIDTHS]
        if np.isnan(mean + width).all():
            mean, width = self.posterior.predict(X_T.T, noise=False)
        return {
            "mean": mean,
            "width": width,
            "radius": radius,
            "penalty": penalty,
            "score": work.rows[kernels.SCORES],
        }

    def with_settings(self, **changes: Any) -> Self:
        """A policy with other settings that goes on from what this one has learnt.

        Parameters
        ----------
        **changes
            Arguments of the constructor. What the learnt sums are made of cannot
            change: dimension, prior, window, and the noise level of WSB policies.

        Returns
        -------
        LinearPolicy
            With a copy of the state and of the generator; this policy stays as it is.

        Examples
        --------
        >>> import numpy as np, wsbnb
        >>> policy = wsbnb.WSBLinTS(np.zeros(2), np.eye(2), 0.5, discount=0.9, rng=0)
        >>> policy.update([1.0, 0.0], 0.3)
        >>> slower = policy.with_settings(discount=0.99)
        >>> (
        ...     slower.discount,
        ...     bool((slower.posterior.mean == policy.posterior.mean).all()),
        ... )
        (0.99, True)
        """
        free = [name for name in self._setting_names() if name not in self._fixed()]
        for name in changes:
            _validate.choice("changes", name, free)
        other = type(self)(**{**self.get_params(), **changes})
        other._rng = copy.deepcopy(self._rng)
        other._rng_start = copy.deepcopy(self._rng_start)
        other._state = copy.deepcopy(self._state)
        return other

    def _fixed(self):
        """Settings that the learnt sums are made of."""
        names = ("dim", "prior_mean", "prior_cov", "regularization", "length", "period")
        return names if self._unit_noise else (*names, "noise_std")

    def decay(self, steps: float = 1) -> None:
        """Let time pass without an observation.

        Parameters
        ----------
        steps : float, default 1
            Rounds on the policy's clock, zero or positive. Window and restart policies
            count whole rounds.
        """
        steps = _validate.nonnegative("steps", steps)
        if self._rule.settings.forgetting != kernels.EXPONENTIAL and steps != int(
            steps
        ):
            raise ValueError(f"steps must be a whole number here, got {steps!r}")
        kernels.advance(self._rule, self._state, steps)

    def _choose(self, X):
        X_T = np.ascontiguousarray(X.T)
        normals = self._rng.standard_normal(self.n_normals)
        work = kernels.make_work(*X_T.shape)
        arm = kernels.choose(self._rule, self._state, X_T, normals, work)
        if arm < 0:
            raise ValueError(_TOO_LARGE)
        return arm

    def _learn_all(self, X, rewards, decay):
        before = [array.copy() for array in self._state]
        try:
            late = max(0, len(X) - theory.LOOK)  # of a long batch only the end
            super()._learn_all(X[:late], rewards[:late], decay)
            for row, value in zip(X[late:], rewards[late:], strict=True):
                self._look_at_noise(row, value)
                self._learn(row, value, decay)
            self._check_estimate()
        except BaseException:
            for array, old in zip(self._state, before, strict=True):
                array[...] = old
            raise

    def _look_at_noise(self, x, reward):
        P, h = self._state.P, self._state.h
        self._noise_check.add(
            P, h, self.noise_std, self._unit_noise, x, reward, stacklevel=4
        )

    def _check_estimate(self):
        P, h, P_tilde = self._state.P, self._state.h, self._state.P_tilde
        matrices = (P, P_tilde) if self._rule.settings.local else (P,)
        sound = all(cholesky(matrix) is not None for matrix in matrices)
        # False for not-a-number too; leaves room for the products of a scoring.
        if not (sound and (np.abs(h) < 1e300).all()):
            raise ValueError(
                f"{_TOO_LARGE}, got a largest precision entry of {np.abs(P).max():.3g} "
                f"and a largest weighted sum of rewards of {np.abs(h).max():.3g}"
            )

    def _learn(self, x, reward, decay):
        if decay:
            kernels.observe(self._rule, self._state, x, reward)
        elif self._rule.settings.forgetting == kernels.WINDOW:
            raise ValueError(
                "decay must be True for a sliding window, got False: the window counts "
                "observations"
            )
        else:
            kernels.absorb(self._rule, self._state, x, reward)

    def _restart(self):
        self._state = rules.new_state(self._rule)
        self._noise_check = theory.NoiseCheck()

    def _get_state(self):
        return self._state._asdict()

    def _set_state(self, state):
        fresh = rules.new_state(self._rule)._asdict()
        arrays = {
            field: _as_stored(field, state[field], start.shape)
            for field, start in fresh.items()
        }
        for field in ("P", "P_tilde"):
            _validate.covariance(f"state {field}", arrays[field])
        counts, ring = arrays["counts"], arrays["ring_w"]
        head = counts[kernels.HEAD]
        # The compiled code trusts these: a head beyond the ring would crash it.
        if (counts < 0.0).any() or head not in range(max(ring.size, 1)):
            raise ValueError(f"state counts cannot be {counts.tolist()}")
        if not np.isin(ring, (0.0, 1.0)).all():
            raise ValueError("state ring_w must hold zeros and ones")
        if self._rule.settings.penalty in (kernels.CXV, kernels.TRIANGLE):
            self._check_stored_bound(arrays["P"], *arrays["bound"])
        self._state = kernels.State(**arrays)

    def _check_stored_bound(self, P, top, step):
        """The radius trusts that ``P >= P0^2 / top``; a file must not lie about it."""
        sound = top > 0.0 and 0.0 < step < 1.0
        slack = 1.0 + 1e-9
        if (
            not sound
            or cholesky(P - self._rule.prior.P0_squared / (top * slack)) is None
        ):
            raise ValueError(f"state bound cannot be {[top, step]} with this state P")


def _as_stored(field, value, shape):
    array = np.array(value, dtype=np.float64)
    if array.size == 0 and 0 in shape:
        array = array.reshape(shape)  # an empty list has forgotten its columns
    if array.shape != shape:
        raise ValueError(f"state {field} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"state {field} must be finite")
    return array
