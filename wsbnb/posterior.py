r"""The posterior of a linear reward model whose observations lose weight.

The model is :math:`r_s = \langle x_s, \theta\rangle + \varepsilon_s` with noise of
standard deviation :math:`\sigma` and prior :math:`N(\mu_0, \Sigma_0)`. Observation s
counts with weight :math:`w_{s,t}` at round t (paper, eqs. posterior::mean and ::cov):

.. math::

    \Sigma_t^{-1} = \Sigma_0^{-1} + \sigma^{-2}\sum_s w_{s,t} x_s x_s^\top, \qquad
    \mu_t = \Sigma_t\Bigl(\Sigma_0^{-1}\mu_0
            + \sigma^{-2}\sum_s w_{s,t} x_s r_s\Bigr).

A posterior owns the estimate: prior, noise level, rule of forgetting, the sums
:math:`P = \Sigma_t^{-1}` and :math:`h = P\mu_t`, and one Cholesky factor of P, from
which everything is read. It learns through the same compiled round as the policies.
"""

import copy
import math

import numpy as np

from wsbnb import _validate
from wsbnb import weights as _rules
from wsbnb._types import Any, Array, ArrayLike, FloatOrArray, Seed, Self
from wsbnb.kernels import estimate, explore, memory, rounds

__all__ = ["WRLS", "WSBPosterior", "batch_posterior"]

_TOO_LARGE = (
    "x and reward must keep the precision matrix finite and positive definite in "
    "double precision; rescale the arms, or use a less extreme noise_std or prior"
)
_NO_SCORES = (
    "X must give every arm a finite score in double precision; rescale the arms, or "
    "use a less extreme noise_std or prior"
)
#: A posterior alone chooses nothing.
_NO_CHOICE = explore.Chance(0.0)
_NOTHING, _NO_NOISE = np.zeros((1, 0)), np.zeros(1)
_UNASKED = np.zeros((0, 2))


class WSBPosterior:
    r"""Weighted sequential Bayesian posterior, for any rule of forgetting.

    With exponential weights (``discount``, or ``forgetting=Exponential(...)``) each
    round is (paper, eq. WSB-posterior-update), with :math:`P_0 = \Sigma_0^{-1}`,

    .. math::

        P \leftarrow \gamma P + (1-\gamma) P_0 + \sigma^{-2} x x^\top, \qquad
        h \leftarrow \gamma h + (1-\gamma) P_0\mu_0 + \sigma^{-2} x r,

    which equals the batch formula with :math:`w_{s,t} = \gamma^{t-s}`. The prior is
    put back at every step, so it never fades; a wrong prior mean biases for ever.

    Parameters
    ----------
    prior_mean : array of shape (d,)
    prior_cov : float, array of shape (d,) or (d, d)
        A multiple of the identity, a diagonal, or a symmetric positive definite
        matrix.
    noise_std : float
        Standard deviation :math:`\sigma` of the reward noise.
    discount : float in (0, 1], optional
        The discount :math:`\gamma`; 1 gives ordinary Bayesian linear regression. Give
        this or `forgetting`.
    forgetting : a rule of :mod:`wsbnb.weights`, optional
        Any of them: ``SlidingWindow(200)``, ``Restart(500)``, ``Polynomial(1.0)``, ...
    squared_weights : bool, default False
        Keep :math:`\tilde P = P_0 + \sigma^{-2}\sum_s w_{s,t}^2 x_sx_s^\top` as well,
        which the local norm of D-LinUCB needs.

    Notes
    -----
    Lemma 2 of the paper (the confidence ellipsoid) covers :meth:`update` with
    ``decay=True`` for admissible weights. With other clocks the batch formula still
    holds with the weight of the elapsed time.

    Rules that need every round (``Polynomial(of="age")``, ``CustomWeights``) keep all
    observations and sum them up again at each update.

    Examples
    --------
    >>> post = WSBPosterior(
    ...     prior_mean=[0.0], prior_cov=1.0, noise_std=1.0, discount=0.5
    ... )
    >>> post.update([1.0], 2.0)
    >>> post.precision.tolist(), post.mean.round(12).tolist()
    ([[2.0]], [1.0])
    >>> post.update([1.0], 2.0)
    >>> post.precision.tolist(), post.mean.round(12).tolist(), post.weight_sum
    ([[2.5]], [1.2], 1.5)
    """

    #: Whether rewards are linear in the parameter, with Gaussian noise.
    _linear = True

    def __init__(
        self,
        *,
        prior_mean: ArrayLike,
        prior_cov: ArrayLike,
        noise_std: float,
        discount: float | None = None,
        forgetting: _rules.WeightRule | None = None,
        squared_weights: bool = False,
    ) -> None:
        self._forgetting = _forgetting(discount, forgetting)
        self._noise_std = _validate.ordinary("noise_std", noise_std)
        mean, cov, P0, h0 = checked_prior(prior_mean, prior_cov)
        self._prior_mean, self._prior_cov, self._dim = mean, cov, mean.size
        self._prior = estimate.Prior(memory.packed(P0, h0), self._noise_std**-2.0)
        self._P0_top = float(np.linalg.eigvalsh(P0)[-1])
        # The rule as the kernels take it; None if it needs every round.
        self._rule = self._forgetting.compiled()
        asked = _validate.flag("squared_weights", squared_weights)
        self._squares = asked and self._squares_differ()
        self._follows_eigenvalue = False
        walks = isinstance(self._rule, estimate.RandomWalk)
        self._work = memory.new_work(self.dim, 1, spare=int(walks))
        if walks and self._squares:
            raise ValueError(
                f"squared_weights must be False for {self._forgetting!r}, got True"
            )
        self.reset()

    # -- changing the state -----------------------------------------------------

    def update(
        self, x: ArrayLike, reward: ArrayLike, decay: bool = True, age: float = 0
    ) -> None:
        """Absorb one observation, or several in order.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            The arm played, or one arm per row.
        reward : float or array of shape (n,)
            What it paid.
        decay : bool, default True
            With True each row is a new round: the past is forgotten by one step, then
            the row enters with weight 1. With False the rows belong to the current
            round: they enter with weight 1 and nothing is forgotten. Use this with
            :meth:`decay` to run the forgetting on a clock of your own.
        age : float, default 0
            How many rounds ago the arm was played. A late reward enters with the
            weight that it would have by now.

        Notes
        -----
        Input is checked first, and the state changes only if the whole update
        succeeds.
        """
        X, rewards = _validate.observations(x, reward, self.dim)
        self._observe(X, rewards, decay, age, _NO_CHOICE)

    def predict_and_learn(
        self, X: ArrayLike, rewards: ArrayLike
    ) -> tuple[Array, Array]:
        """Learn a log in order; return what was expected before each reward.

        Parameters
        ----------
        X : array of shape (n, d)
            One arm per row, one row per round.
        rewards : array of shape (n,)

        Returns
        -------
        mean, variance : arrays of shape (n,)
            Of the expected reward of each row, given the rows before it.
        """
        words = ("X", "rewards")
        X, rewards = _validate.observations(X, rewards, self.dim, words)
        predicted = np.empty((len(X), 2))
        self._observe(X, rewards, True, 0, _NO_CHOICE, predicted)
        return predicted[:, 0], predicted[:, 1]

    def decay(self, steps: float = 1) -> None:
        r"""Let time pass without an observation.

        For exponential weights :math:`P \leftarrow \gamma^k P + (1-\gamma^k) P_0` with
        k = `steps`, and the same for h: the posterior drifts back to the prior.

        Parameters
        ----------
        steps : float, default 1
            Number of rounds, zero or positive. Windows, restarts and rules that
            remember every round count whole rounds.
        """
        self._pass_time(steps, _NO_CHOICE)

    def reset(self) -> None:
        """Forget everything: back to the prior and to round 0."""
        self._history: Any = None if self._rule else ([], [], [])
        window = getattr(self._rule, "length", None)
        if window is not None:
            _validate.room("length", window, window * self.dim)
        state = memory.new_state(self._prior, self._squares, self._new_bound(), window)
        self._set_learnt(state)

    def _set_learnt(self, state):
        self._state = state
        # Pairs of an array and a copy to which a refused change goes back.
        mine, spare = memory.arrays_of(state), memory.arrays_of(memory.copied(state))
        self._arrays = list(zip(mine, spare, strict=True))
        self._work.fresh[0] = 0.0

    def copy(self) -> Self:
        """An independent posterior in the same state."""
        return copy.deepcopy(self)

    __copy__ = copy  # a shallow copy would share the arrays that change in place

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies of arrays begin anywhere in memory; the kernels want them at a line.
        self.__dict__.update(state)
        self._prior, self._work = memory.copied(self._prior), memory.copied(self._work)
        fresh = self._work.fresh[0]
        self._set_learnt(memory.copied(self._state))
        self._work.fresh[0] = fresh

    def _observe(self, X, rewards, decay, age, exploration, predicted=_UNASKED):
        """Learn from checked rows, or from none of them if one is refused.

        `predicted` (n, 2) receives mean and variance of the expected reward of each
        row, as they were before it was learnt.
        """
        decay = _validate.flag("decay", decay)
        age = _validate.nonnegative("age", age)
        if self._rule is None:
            words = (X, rewards, decay, age, predicted)
            self._attempt(exploration, self._remember, *words)
        else:
            words = (X, rewards, decay, age, exploration, predicted)
            self._attempt(exploration, self._learn, *words)

    def _learn(self, X, rewards, decay, age, exploration, predicted):
        if isinstance(self._rule, estimate.Window) and not (decay and age == 0.0):
            raise ValueError(
                "decay must be True and age 0 for a sliding window, got "
                f"{decay} and {age}: the window counts observations"
            )
        if isinstance(self._rule, estimate.RandomWalk) and age > 0.0:
            raise ValueError(
                f"age must be 0 for {self._forgetting!r}, got {age}: what a late "
                "reward still counts depends on the arms played since"
            )
        steps = 1.0 if decay else 0.0
        arms, paid = X[:, :, None], rewards[:, None]
        if age == 0.0:
            self._play(exploration, arms, paid, steps, 1.0, predicted)
            return
        for t in range(len(X)):  # each has a weight of its own
            weight, row = self._weight_at(age, steps), slice(t, t + 1)
            self._play(exploration, arms[row], paid[row], steps, weight, predicted[row])

    def _weight_at(self, age, steps):
        """What an observation made `age` rounds before the next moment still counts."""
        now, rule = self.rounds + steps, getattr(self._rule, "rule", self._rule)
        if not isinstance(rule, estimate.Exponential):
            age = min(age, now)  # for these nothing is older than the first round
        return float(estimate.fade(rule, max(now - age, 0.0), age))

    def _play(self, exploration, arms, rewards, steps, weight, predicted=_UNASKED):
        n = len(arms)
        rounds.play(
            exploration,
            self._compiled_rule(),
            self._prior,
            self._state,
            self._work,
            arms,
            rewards,
            _NO_NOISE if n == 1 else np.zeros(n),
            _NOTHING,
            np.empty(n, dtype=np.int64),
            predicted,
            steps,
            weight,
            False,
            True,
        )

    def _check_rewards(self, rewards, noise):
        """Refuse rewards that the model cannot have; a linear one can have any."""

    def _pass_time(self, steps, exploration):
        steps = _validate.nonnegative("steps", steps)
        if steps < _validate.SMALLEST:
            steps = 0.0  # no clock notices it, and one over it may overflow
        rule = getattr(self._rule, "rule", self._rule)  # clicks have one within
        kinds = estimate.Exponential | estimate.Polynomial | estimate.RandomWalk
        fractional = isinstance(rule, kinds)
        if not fractional and steps != int(steps):
            raise ValueError(f"steps must be a whole number here, got {steps!r}")
        check_time(self.rounds, steps)
        self._attempt(exploration, self._let_pass, steps, exploration)

    def _let_pass(self, steps, exploration):
        if self._rule is None:
            self._state.counts[estimate.CLOCK] += steps
            self._sum_up()
            return
        arms, clock = np.zeros((1, self.dim, 1)), self.rounds + steps
        for part in self._parts_of(steps):
            self._play(exploration, arms, np.zeros((1, 1)), part, 0.0)
        self._state.counts[estimate.CLOCK] = clock

    def _parts_of(self, steps):
        """Time in parts, for a random walk of so much doubt that it would lose digits.

        The kernel takes away from P what a part forgets. A part that doubles the doubt
        leaves half of P, and the difference has the digits of P.
        """
        rate = getattr(self._rule, "rate", 0.0)
        part = 1.0 / rate if rate else steps
        while part < steps:
            yield part
            steps -= part
            part *= 2.0
        yield steps

    def _check(self):
        """Refuse a state in which a later round would fail."""
        if self._work.fresh[0] == 0.0:
            self._check_slowly()
        squares = self._state.squares
        sound = self._work.fresh[0] >= 0.0
        if not (sound and (squares is None or np.isfinite(squares).all())):
            self._refuse()

    def _check_slowly(self):
        """The same without compiled code, for what was not learnt through a round."""
        sums = self._state.sums
        small = (np.abs(sums[self.dim]) < estimate.LARGEST_SHIFT).all()
        # What rounds have made they have checked; here its last digits may be others.
        share = 8 if self._rule is None else 2
        if not (small and _has_digits(memory.precision_of(sums), share)):
            self._refuse()

    def _refuse(self):
        P, h = self.precision, np.abs(self.shift)
        raise ValueError(
            f"{_TOO_LARGE}, got a largest precision entry of {P.max():.3g} "
            f"and a largest weighted sum of rewards of {h.max():.3g}"
        )

    def _attempt(self, exploration, change, *arguments):
        """Change the state, or leave it as it was if that fails or is refused."""
        for array, spare in self._arrays:
            np.copyto(spare, array)
        history, fresh = self._history, self._work.fresh[0]
        try:
            change(*arguments)
            self._check()
        except BaseException:
            for array, spare in self._arrays:
                np.copyto(array, spare)
            self._history = history
            self._work.fresh[0] = 0.0
            if fresh == 1.0:  # the same factor again, to the last bit
                nothing = np.zeros((0, self.dim, 1))
                self._play(exploration, nothing, np.zeros((0, 1)), 1.0, 1.0)
            raise

    # -- as a part of a policy -----------------------------------------------------

    def _squares_differ(self):
        # In a window weights are 1 or 0 and equal their squares: one matrix is enough.
        return not isinstance(self._rule, estimate.Window)

    def _prepare(self, exploration):
        """Keep what a way to explore needs, and nothing that it would trip over."""
        compiled = exploration.compiled(self._prior)
        bounded = isinstance(getattr(compiled, "radius", None), explore.Radius)
        walks = isinstance(self._rule, estimate.RandomWalk)
        if walks and (bounded or exploration.local):
            raise ValueError(
                "exploration must have no confidence radius and no local norm with "
                f"{self._forgetting!r}, got {exploration!r}: none is known for it"
            )
        squares = exploration.local and self._squares_differ()
        if squares and not self._squares and self._has_learnt():
            raise ValueError(
                "posterior must have squared_weights=True for an exploration with "
                "norm='local', got one without that has learnt already"
            )
        self._squares = squares  # the kernels measure arms with them if they are there
        self._follows_eigenvalue = exploration.follows_eigenvalue
        if exploration.local or self._follows_eigenvalue:
            self._work = memory.new_work(self.dim, 1, spare=2)
        learnt = self._state._replace(bound=self._new_bound())
        if not squares:
            learnt = learnt._replace(squares=None)
        elif learnt.squares is None:
            learnt = learnt._replace(squares=memory.packed_copy(self._prior.sums))
        self._set_learnt(learnt)

    def _has_learnt(self):
        """Whether time has passed, or something was learnt while none did."""
        return bool(self._state.counts.any())

    def _new_bound(self):
        """An eigenvalue bound that holds whatever was learnt, because ``P >= P0``."""
        return memory.new_bound(self._P0_top) if self._follows_eigenvalue else None

    def _make_room(self, arms):
        """Scratch space for this many arms."""
        if arms > self._work.rows.shape[1]:
            fresh = memory.new_work(self.dim, 2 * arms)
            self._work = self._work._replace(rows=fresh.rows)

    def _compiled_rule(self):
        """The rule for a round that learns nothing."""
        return estimate.Exponential(1.0) if self._rule is None else self._rule

    def _continue(self, other, changed):
        """Take over what another posterior has learnt."""
        same = (
            np.array_equal(self._prior.sums, other._prior.sums)
            and self._noise_std == other._noise_std
            and type(self._rule) is type(other._rule)
            and getattr(self._rule, "length", 0) == getattr(other._rule, "length", 0)
            and self._squares <= other._squares
        )
        if not same:
            raise ValueError(
                "changes must leave dimension, prior, noise level, kind and length of "
                f"the memory as they are once something is learnt, got {changed}"
            )
        learnt = memory.copied(other._state)._replace(bound=self._new_bound())
        self._set_learnt(learnt if self._squares else learnt._replace(squares=None))
        self._history = other._history

    def _get_state(self):
        """What was learnt, as plain data for a file."""
        state = self._state
        squares = state.squares
        return {
            "precision": self.precision,
            "shift": self.shift,
            "counts": state.counts,
            "squares": None if squares is None else memory.precision_of(squares),
            "bound": state.bound,
            "ring": None if state.ring is None else state.ring._asdict(),
            "history": self._history,
        }

    def _set_state(self, stored):
        """The way back; what a round trusts is checked."""
        d, fresh = self.dim, memory.copied(self._state)
        P = _validate.covariance("state precision", stored["precision"], dim=d)
        h = _validate.vector("state shift", stored["shift"], dim=d)
        fresh.sums[...] = memory.packed(P, h)
        fresh.counts[...] = _stored("counts", stored["counts"], (3,), low=0.0)
        if fresh.squares is not None:
            squares = _validate.covariance("state squares", stored["squares"], dim=d)
            fresh.squares[...] = memory.packed(squares)
        if fresh.bound is not None:
            # Terms of a sum are rounded, in all directions as in the largest one.
            terms = d + fresh.counts[estimate.WEIGHT_SUM]
            rounding = 1e-13 * terms * np.trace(P) * np.eye(d)
            fresh.bound[...] = self._checked_bound(stored["bound"], P + rounding)
        if fresh.ring is not None:
            _restore_ring(fresh.ring, stored["ring"], d)
        if self._rule is None:
            self._history = _checked_history(stored["history"], d)
        self._set_learnt(fresh)
        self._check()
        self._check_counts(P)
        if fresh.ring is not None or self._rule is None:
            self._check_rows(P, h)

    def _checked_bound(self, stored, P):
        """The radius trusts that ``P >= P0^2 / top``; a file must not lie about it."""
        bound = _stored("bound", stored, (3,), low=0.0)
        top, step, start = bound
        P0 = memory.precision_of(self._prior.sums)
        sound = 0.0 < step < 1.0 and abs(start / self._P0_top - 1.0) < 1e-9
        if not (sound and top > 0.0 and _is_definite(P - P0 @ P0 / (top + 1e-9 * top))):
            raise ValueError(
                f"state bound cannot be {bound.tolist()} with this state precision"
            )
        return bound

    def _check_counts(self, P):
        """Sums of weights must fit each other, the clock and what was learnt."""
        clock, total, squares = self._state.counts.tolist()
        slack = 1e-9 * (1.0 + total)
        rises = P - memory.precision_of(self._prior.sums)
        known = np.diag(rises).max() > 1e-6 * P.max()  # others rise in a random walk
        # Weights are at most 1, and without weights nothing is known. Observations
        # move a clock that may pass no more time, until it does not notice them.
        sound = clock <= 2 * LONGEST_TIME and squares <= total + slack
        sound = sound and total**2 + slack >= squares and (total > 0.0 or not known)
        if self._state.ring is not None:
            held = self._state.ring.held.sum()
            sound = sound and held == total == squares and held <= clock
        if not sound:
            raise ValueError(
                f"state counts cannot be {[clock, total, squares]} (rounds, sum of "
                "weights, sum of squared weights) with what was learnt"
            )
        if isinstance(self._rule, estimate.RandomWalk):
            return  # its doubt grows beyond that of the prior
        least = np.linalg.eigvalsh(rises + 1e-6 * np.trace(P) * np.eye(self.dim))[0]
        if least < 0.0:
            raise ValueError("state precision must be at least that of the prior")

    def _check_rows(self, P, h):
        """The sums must be those of the rows that are kept with them."""
        if self._rule is None:
            _, rows, paid = self._history
            weights = self._weights_of_rows()
        else:
            rows, paid, weights = self._state.ring[:3]
        X, scale = np.array(rows).reshape(-1, self.dim), self._prior.precision
        scaled = scale * weights[:, None] * X
        P0 = memory.precision_of(self._prior.sums)
        again = P0 + X.T @ scaled
        h0 = memory.shift_of(self._prior.sums)
        parts = np.array(paid)[:, None] * scaled
        shift, size = h0 + parts.sum(axis=0), np.abs(h0).max() + np.abs(parts).sum()
        near = np.abs(P - again).max() <= 1e-6 * again.max()
        if not (near and np.allclose(h, shift, rtol=1e-6, atol=1e-9 * size)):
            raise ValueError("state precision and shift must be the sums of the rows")

    # -- rules that need every round -----------------------------------------------

    def _remember(self, X, rewards, decay, age, predicted):
        for t, (x, reward) in enumerate(zip(X, rewards, strict=True)):
            if len(predicted):
                self._check_slowly()  # the rows before may have been too large
                predicted[t] = np.ravel(self._predict(x[None]))
            self._state.counts[estimate.CLOCK] += float(decay)
            made = self.rounds - age
            if made != int(made) or made < 1:
                raise ValueError(
                    "age must lead back to a whole round from 1 on, for a rule that "
                    f"remembers every round, got {age:g} in round {self.rounds:g}"
                )
            now, rows, paid = self._history
            self._history = [*now, int(made)], [*rows, x], [*paid, float(reward)]
            self._sum_up()

    def _weights_of_rows(self):
        """What each row counts by now; before the first round no rule can be asked."""
        made = np.array(self._history[0], dtype=int)
        if not made.size:
            return np.zeros(0)
        return np.asarray(self._forgetting(made, int(self.rounds)), dtype=float)

    def _sum_up(self):
        _, rows, paid = self._history
        d, counts, w = self.dim, self._state.counts, self._weights_of_rows()
        X = np.array(rows, dtype=float).reshape(-1, d)
        for target, weights in ((self._state.sums, w), (self._state.squares, w**2)):
            if target is None:
                continue
            target[...] = self._prior.sums
            with np.errstate(over="ignore", invalid="ignore"):  # refused afterwards
                scaled = self._prior.precision * weights[:, None] * X
                target[:d, :d] += X.T @ scaled
                target[d, :d] += np.array(paid) @ scaled
        counts[estimate.WEIGHT_SUM] = w.sum()
        counts[estimate.SQUARED_WEIGHT_SUM] = (w**2).sum()
        self._work.fresh[0] = 0.0
        if self._state.bound is not None:
            self._state.bound[explore.BOUND] = self._top_eigenvalue()

    def _top_eigenvalue(self):
        """That of ``P0 P^-1 P0``, a little more; weights of any kind may raise it."""
        P, P0 = self.precision, memory.precision_of(self._prior.sums)
        if not _is_definite(P):  # will be refused
            return self._P0_top
        M = P0 @ np.linalg.solve(P, P0)
        return min(self._P0_top, (1.0 + 1e-9) * np.linalg.eigvalsh(M)[-1])

    # -- reading it -------------------------------------------------------------

    @property
    def dim(self) -> int:
        """Dimension d of the parameter."""
        return self._dim

    @property
    def noise_std(self) -> float:
        """Standard deviation of the reward noise."""
        return self._noise_std

    @property
    def forgetting(self) -> _rules.WeightRule:
        """The rule by which observations lose weight."""
        return self._forgetting

    @property
    def discount(self) -> float:
        """The discount of exponential weights; other rules have none."""
        if not isinstance(self._forgetting, _rules.Exponential):
            raise AttributeError(f"{self._forgetting!r} has no discount")
        return self._forgetting.discount

    @property
    def prior_mean(self) -> Array:
        """Prior mean (a copy)."""
        return self._prior_mean.copy()

    @property
    def prior_cov(self) -> Array:
        """Prior covariance (a copy)."""
        return self._prior_cov.copy()

    @property
    def rounds(self) -> float:
        """Rounds passed: one per observation, plus the steps of :meth:`decay`."""
        return float(self._state.counts[estimate.CLOCK])

    @property
    def precision(self) -> Array:
        """Posterior precision P, the inverse of the covariance (a new array)."""
        return memory.precision_of(self._state.sums)

    @property
    def shift(self) -> Array:
        """The vector h = P mean (a new array)."""
        return memory.shift_of(self._state.sums)

    def _factor(self):
        """R, upper triangular with P = R'R, and R'^-1 h."""
        if self._work.fresh[0] == 1.0:
            return memory.factor_of(self._work)
        R = np.linalg.cholesky(self.precision).T
        return R, np.linalg.solve(R.T, self.shift)

    @property
    def mean(self) -> Array:
        """Posterior mean (a new array)."""
        return np.linalg.solve(*self._factor())

    @property
    def cov(self) -> Array:
        """Posterior covariance (a new array, exactly symmetric)."""
        root = np.linalg.inv(self._factor()[0])
        cov = root @ root.T
        return (cov + cov.T) / 2

    @property
    def weight_sum(self) -> float:
        """Sum of the current weights, the effective number of observations."""
        return float(self._state.counts[estimate.WEIGHT_SUM])

    @property
    def squared_weight_sum(self) -> float:
        """Sum of the squared current weights, which enters the noise radius."""
        return float(self._state.counts[estimate.SQUARED_WEIGHT_SUM])

    def logpdf(self, theta: ArrayLike) -> FloatOrArray:
        """Log of the posterior density.

        Parameters
        ----------
        theta : array of shape (d,) or (n, d)

        Returns
        -------
        float or array of shape (n,)
        """
        many, single = self._points("theta", theta)
        R, _ = self._factor()
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (many - self.mean) @ R.T
        half_log_det = np.log(np.diag(R)).sum()
        value = half_log_det - 0.5 * self.dim * math.log(2.0 * math.pi)
        with np.errstate(over="ignore", invalid="ignore"):
            value = value - 0.5 * (scaled**2).sum(axis=1)
        _refuse_beyond("theta", value)
        return float(value[0]) if single else value

    def predict(
        self, x: ArrayLike, noise: bool = True
    ) -> tuple[FloatOrArray, FloatOrArray]:
        r"""Predictive distribution of the reward of an arm, a Gaussian.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
        noise : bool, default True
            With True the standard deviation is that of a new reward,
            :math:`\sqrt{x^\top\Sigma_t x + \sigma^2}`; with False that of the expected
            reward :math:`\langle x, \theta\rangle`.

        Returns
        -------
        mean, std : float or array of shape (n,)
        """
        many, single = self._points("x", x)
        mean, variance = self._predict(many)
        _refuse_beyond("x", mean, variance)
        if _validate.flag("noise", noise):
            variance = variance + self._noise_std**2
        std = np.sqrt(variance)
        return (float(mean[0]), float(std[0])) if single else (mean, std)

    def _predict(self, rows):
        """Mean and variance of the expected rewards of checked rows."""
        R, z = self._factor()
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.linalg.solve(R.T, rows.T)
            return z @ scaled, (scaled**2).sum(axis=0)

    def sample(self, rng: Seed = None, size: int | None = None) -> Array:
        r"""Draw parameters :math:`\mu_t + R^{-1} z` with :math:`P = R^\top R`.

        Parameters
        ----------
        rng : None, int, SeedSequence or Generator
            An int or a SeedSequence starts a new generator at each call; hand over a
            Generator to draw on.
        size : int, optional
            Number of draws; None draws one.

        Returns
        -------
        array of shape (d,) or (size, d)
        """
        rng = _validate.generator("rng", rng)
        count = 1 if size is None else _validate.integer("size", size, minimum=0)
        _validate.room("size", size, count * self.dim)
        R, z = self._factor()
        normals = rng.standard_normal((count, self.dim))
        draws = np.linalg.solve(R, (z + normals).T).T
        return draws[0].copy() if size is None else np.ascontiguousarray(draws)

    def _points(self, name, value):
        """Rows to evaluate at, and whether a single vector was given."""
        array = _validate.finite_array(name, value)
        single = array.ndim == 1
        if single:
            array = array[None, :]
        if array.ndim != 2 or array.shape[1] != self.dim:
            raise ValueError(
                f"{name} must have shape ({self.dim},) or (n, {self.dim}), "
                f"got shape {np.shape(value)}"
            )
        return array, single

    def __repr__(self) -> str:
        std = np.sqrt(np.diag(self.cov))
        return (
            f"{type(self).__name__}(dim={self.dim}, noise_std={self._noise_std:g}, "
            f"forgetting={self._forgetting}, rounds={self.rounds:g}, "
            f"mean={_short(self.mean)}, std={_short(std)})"
        )


class WRLS(WSBPosterior):
    r"""Weighted regularised least squares, in the words of the literature before WSB.

    .. math::

        \hat\theta_t = V_t^{-1} b_t, \quad
        V_t = \lambda I + \sum_s w_{s,t} x_s x_s^\top, \quad
        b_t = \sum_s w_{s,t} x_s r_s

    (paper, eq. wrls). It is the posterior with prior mean 0 and prior precision
    :math:`\Sigma_0^{-1} = (\lambda/\sigma^2) I`, whatever :math:`\sigma` is: its mean
    does not depend on it. The paper's Remark 2 prints :math:`\lambda\sigma^2 I`, which
    is right only for :math:`\sigma = 1`.

    Parameters
    ----------
    dim : int
        Dimension d.
    regularization : float
        The ridge :math:`\lambda > 0`.
    discount : float in (0, 1], optional
    noise_std : float, default 1
    forgetting, squared_weights
        As in :class:`WSBPosterior`.

    Examples
    --------
    >>> ridge = WRLS(dim=1, regularization=1.0, discount=0.9)
    >>> ridge.update([1.0], 1.0)
    >>> ridge.theta_hat.round(12).tolist(), ridge.V.tolist()
    ([0.5], [[2.0]])
    >>> WRLS(dim=1, regularization=1.0, discount=0.9, noise_std=0.5).prior_cov.tolist()
    [[0.25]]
    """

    def __init__(
        self,
        *,
        dim: int,
        regularization: float,
        discount: float | None = None,
        noise_std: float = 1.0,
        forgetting: _rules.WeightRule | None = None,
        squared_weights: bool = False,
    ) -> None:
        dim = _validate.integer("dim", dim, maximum=LARGEST_DIM)
        self._regularization = _validate.ordinary("regularization", regularization)
        sigma = _validate.ordinary("noise_std", noise_std)
        super().__init__(
            prior_mean=np.zeros(dim),
            prior_cov=sigma**2 / self._regularization,
            noise_std=sigma,
            discount=discount,
            forgetting=forgetting,
            squared_weights=squared_weights,
        )

    @property
    def regularization(self) -> float:
        """The ridge lambda."""
        return self._regularization

    @property
    def theta_hat(self) -> Array:
        """The estimate (a new array)."""
        return self.mean

    @property
    def V(self) -> Array:
        """Regularised weighted Gram matrix (a new array)."""
        return self.precision * self._noise_std**2

    @property
    def b(self) -> Array:
        """Weighted sum of arms times rewards (a new array)."""
        return self.shift * self._noise_std**2


#: Beyond this round the clock would not notice the next one.
LONGEST_TIME = 2**52
#: Larger dimensions are a mistake, or a file that wants to fill the memory.
LARGEST_DIM = 2**15


def check_time(rounds: float, steps: float) -> None:
    """Refuse steps after which a clock would not notice the next one."""
    if rounds + steps > LONGEST_TIME:
        raise ValueError(
            f"steps must lead to round {LONGEST_TIME} at most, got {steps!r} in "
            f"round {rounds:g}"
        )


def checked_prior(
    prior_mean: ArrayLike, prior_cov: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """Checked prior as (mean, covariance, precision, precision times mean)."""
    mean = _validate.vector("prior_mean", prior_mean)
    cov = _validate.covariance("prior_cov", prior_cov, dim=mean.size)
    root = np.linalg.inv(np.linalg.cholesky(cov))
    with np.errstate(over="ignore", invalid="ignore"):
        precision = root.T @ root
    if not _has_digits(precision, 8):
        raise ValueError(
            "prior_cov must be well enough conditioned to be inverted in double "
            f"precision, got condition number {np.linalg.cond(cov):.3g}"
        )
    return mean, cov, precision, root.T @ (root @ mean)


def _refuse_beyond(name, *arrays):
    """Refuse points at which a number leaves the range of doubles."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(
            f"{name} must give finite numbers in double precision; it lies too far out"
        )


def _has_digits(P, share):
    """Whether P is positive definite beyond doubt: no pivot is made by rounding.

    The kernels ask for a `share` of 4. With twice as much they never refuse what was
    accepted here.
    """
    try:
        pivots = np.linalg.cholesky(P).diagonal() ** 2
    except np.linalg.LinAlgError:
        return False
    least = share * len(P) * np.finfo(float).eps * P.diagonal()
    return bool(np.isfinite(pivots).all() and (pivots >= least).all())


def _is_definite(P):
    try:
        return bool(np.isfinite(np.linalg.cholesky(P)).all())
    except np.linalg.LinAlgError:
        return False


def _forgetting(discount, rule):
    if (discount is None) == (rule is None):
        raise ValueError(
            "discount or forgetting must be given, and not both, got "
            f"discount={discount!r} and forgetting={rule!r}"
        )
    if rule is None:
        return _rules.Exponential(discount)
    if not isinstance(rule, _rules.WeightRule):
        raise TypeError(f"forgetting must be a rule of wsbnb.weights, got {rule!r}")
    return rule


def _stored(field, value, shape, low=-np.inf):
    """An array from a file."""
    array = _validate.finite_array(f"state {field}", value)
    if array.size == 0 and 0 in shape:
        array = array.reshape(shape)  # an empty list has forgotten its columns
    if array.shape != shape:
        raise ValueError(f"state {field} must have shape {shape}, got {array.shape}")
    if array.size and array.min() < low:
        raise ValueError(f"state {field} must be at least {low}, got {array.min()}")
    return array


def _restore_ring(ring, stored, dim):
    length = len(ring.held)
    ring.x[...] = _stored("ring x", stored["x"], (length, dim))
    ring.rewards[...] = _stored("ring rewards", stored["rewards"], (length,))
    held = _stored("ring held", stored["held"], (length,))
    wear = _stored("ring wear", stored["wear"], (3,), low=0.0)
    # The compiled code trusts these: a head beyond the ring would crash it.
    if wear[estimate.HEAD] not in range(length) or not np.isin(held, (0.0, 1.0)).all():
        raise ValueError("state ring must have a head within it and hold zeros or ones")
    ring.held[...], ring.wear[...] = held, wear


def _checked_history(stored, dim):
    made, rows, paid = stored
    made = [_validate.integer("state history", t) for t in made]
    rows = _stored("history", rows, (len(made), dim))
    paid = _stored("history", paid, (len(made),))
    return made, list(rows), paid.tolist()


def _short(array):
    return np.array2string(array, precision=4, threshold=6, separator=", ")


def batch_posterior(
    X: ArrayLike,
    rewards: ArrayLike,
    weights: ArrayLike | _rules.WeightRule,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike,
    noise_std: float,
) -> tuple[Array, Array]:
    r"""Posterior for any weights, from all observations at once.

    .. math::

        \Sigma^{-1} = \Sigma_0^{-1} + \sigma^{-2} X^\top W X, \qquad
        \mu = \Sigma(\Sigma_0^{-1}\mu_0 + \sigma^{-2} X^\top W r)

    with W the diagonal matrix of the weights (paper, eqs. posterior::mean and ::cov).

    Parameters
    ----------
    X : array of shape (n, d)
        One arm per row; n = 0 gives back the prior.
    rewards : array of shape (n,)
    weights : array of shape (n,)
        The weights :math:`w_{s,n}`, zero or positive. The paper wants them in [0, 1].
        A rule of :mod:`wsbnb.weights` is accepted too and stands for its ``row(n)``.
    prior_mean, prior_cov, noise_std
        As in :class:`WSBPosterior`.

    Returns
    -------
    mean : array of shape (d,)
    cov : array of shape (d, d)

    Examples
    --------
    >>> mean, cov = batch_posterior(
    ...     [[1.0], [1.0]], [2.0, 2.0], [0.5, 1.0], [0.0], [[1.0]], 1.0
    ... )
    >>> mean.round(12).tolist(), cov.round(12).tolist()
    ([1.2], [[0.4]])
    """
    noise_std = _validate.ordinary("noise_std", noise_std)
    _, _, P, h = checked_prior(prior_mean, prior_cov)
    rows = _observations(X, h.size)
    paid = _column("rewards", rewards, len(rows))
    if isinstance(weights, _rules.WeightRule):
        weights = weights.row(len(rows))
    w = _column("weights", weights, len(rows))
    if (w < 0.0).any():
        raise ValueError(f"weights must be zero or positive, got {w.min()}")
    with np.errstate(over="ignore", invalid="ignore"):
        root = np.sqrt(w)[:, None] * (rows / noise_std)
        P = P + root.T @ root
        h = h + rows.T @ (w * paid / noise_std**2)
    if not (np.isfinite(h).all() and np.isfinite(P).all() and _is_definite(P)):
        raise ValueError(
            "X and rewards must keep the posterior precision finite and positive "
            "definite in double precision, "
            f"got a largest entry of {np.abs(P).max():.3g}"
        )
    inverse = np.linalg.inv(np.linalg.cholesky(P))
    return inverse.T @ (inverse @ h), inverse.T @ inverse


def _observations(X, dim):
    array = _validate.finite_array("X", X)
    if array.ndim != 2 or array.shape[1] != dim:
        raise ValueError(
            f"X must have shape (n, {dim}) like prior_mean, got shape {array.shape}"
        )
    return array


def _column(name, value, rows):
    array = _validate.finite_array(name, value)
    if array.shape != (rows,):
        raise ValueError(
            f"{name} must have one entry per row of X, shape ({rows},), "
            f"got shape {array.shape}"
        )
    return array
