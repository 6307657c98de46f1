"""One list of promises, checked on any policy."""

import copy
import inspect
import os
import pickle
import tempfile

import numpy as np

from wsbnb import _validate
from wsbnb._types import Playable
from wsbnb.policies import saving
from wsbnb.policies.theory import outside_on_purpose

# Scores of permuted arms may differ by the rounding of another order of summation.
_ROUNDING = 1e-9


def check_policy(
    policy: Playable, dim: int | None = None, rounds: int = 20, seed: int = 0
) -> list[str]:
    """Check what a simulation, a file and a user rely on; for policies of your own too.

    The policy is played on random arms, always through copies: it is left as it was.
    Two policies count as equal if they choose the same arms, with the same scores to
    the last bit, over the next rounds.

    Parameters
    ----------
    policy : object with ``pull(X)`` and ``update(x, reward)``
        An instance; it may have learnt something already.
    dim : int, optional
        Dimension of the arms; by default ``policy.dim``.
    rounds : int, default 20
        Rounds per check. An `Oracle` must know the parameter for twice as many.
    seed : int, default 0
        Of the arms and rewards.

    Returns
    -------
    list of str
        The checks done. Those that need something the policy does not offer (scores,
        reset, save, ...) are left out.

    Raises
    ------
    AssertionError
        Says which check failed, and how.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> policy = wsbnb.WSBLinTS(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.99, rng=0
    ... )
    >>> done = wsbnb.check_policy(policy)
    >>> "a loaded file continues" in done
    True
    >>> class Stubborn:
    ...     def pull(self, X):
    ...         return 3
    ...
    ...     def update(self, x, reward):
    ...         pass
    >>> wsbnb.check_policy(Stubborn(), dim=2)
    Traceback (most recent call last):
    AssertionError: 'pull returns an index' failed for Stubborn: pull returned 3 for ...
    """
    if isinstance(policy, type) or not (
        hasattr(policy, "pull") and hasattr(policy, "update")
    ):
        raise TypeError(
            f"policy must be an object with pull and update, got {policy!r}"
        )
    dim = _validate.integer("dim", getattr(policy, "dim", dim) if dim is None else dim)
    rounds = _validate.integer("rounds", rounds)
    _validate.room("dim", dim, 9 * dim)
    _validate.room("rounds", rounds, 9 * dim * rounds)
    seed = _validate.seed("seed", seed)
    script = _Script(dim, rounds, np.random.default_rng(seed))
    done = []
    for name, needs, check in _CHECKS:
        if not all(hasattr(policy, attribute) for attribute in needs):
            continue
        try:
            with outside_on_purpose():  # these rewards are made up
                if check(copy.deepcopy(policy), script) is not _SKIPPED:
                    done.append(name)
        except Exception as error:
            said = str(error)
            if not isinstance(error, AssertionError):
                said = f"{type(error).__name__}: {error}"
            raise AssertionError(
                f"{name!r} failed for {type(policy).__name__}: {said}"
            ) from error
    return done


_SKIPPED = object()


class _Script:
    """Rounds to play: three to eight arms, and a reward for every arm."""

    def __init__(self, dim, rounds, rng):
        self.dim, self.rng = dim, rng
        theta = rng.standard_normal(dim)
        self.rounds = []
        for _ in range(rounds):
            X = rng.standard_normal((int(rng.integers(3, 9)), dim))
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            self.rounds.append((X, X @ theta + 0.1 * rng.standard_normal(len(X))))

    def play(self, policy):
        """Choices, and scores where there are any, of one run."""
        return [self._round(policy, X, rewards) for X, rewards in self.rounds]

    @staticmethod
    def _round(policy, X, rewards):
        scores = policy.scores(X).tolist() if hasattr(policy, "scores") else None
        k = _index(policy.pull(X), X)
        policy.update(X[k], float(rewards[k]))
        return k, scores


def _index(k, X):
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    assert whole and 0 <= k < len(X), f"pull returned {k!r} for {len(X)} arms"
    return int(k)


def _assert_equal_runs(first, second, words):
    for t, (one, other) in enumerate(zip(first, second, strict=True), start=1):
        assert one == other, f"{words}: in round {t} {one} became {other}"


# --- the checks -----------------------------------------------------------------------


def _valid_index(policy, script):
    for X, rewards in script.rounds:
        for arms, paid in ((X, rewards), (X[:1], rewards[:1])):
            k = _index(policy.pull(arms), arms)
            policy.update(arms[k], float(paid[k]))


def _inputs_unchanged(policy, script):
    for X, rewards in script.rounds:
        given = X.copy()
        given.setflags(write=False)
        k = policy.pull(given)
        writable = X.copy()
        if hasattr(policy, "scores"):
            policy.scores(writable)
        policy.pull(writable)
        policy.update(writable[k], float(rewards[k]))
        policy.update(given[k], float(rewards[k]))
        assert (writable == X).all(), "the arms were changed"


def _nothing_kept(policy, script):
    """Arrays handed over may be overwritten later by their owner."""
    twin = copy.deepcopy(policy)
    for t, (X, rewards) in enumerate(script.rounds, start=1):
        mine = X.copy()
        k = policy.pull(mine)
        assert k == twin.pull(X), f"round {t} depends on arrays of the past"
        policy.update(mine[k], float(rewards[k]))
        twin.update(X[k], float(rewards[k]))
        mine[:] = 1e6


def _deterministic(policy, script):
    twin = copy.deepcopy(policy)
    _assert_equal_runs(
        script.play(policy), script.play(twin), "two equal copies differ"
    )


def _independent_copy(policy, script):
    reference = script.play(copy.deepcopy(policy))
    for make in (copy.copy, copy.deepcopy):
        script.play(make(policy))
        again = script.play(copy.deepcopy(policy))
        _assert_equal_runs(reference, again, f"playing a {make.__name__} changed it")


def _copy_continues(policy, script):
    script.play(policy)
    twin = policy.copy()
    _assert_equal_runs(script.play(policy), script.play(twin), "the copy differs")


def _clone_is_new(policy, script):
    script.play(policy)
    new = policy.clone()
    policy.reset()
    _assert_equal_runs(script.play(policy), script.play(new), "the clone differs")


def _pickle_continues(policy, script):
    script.play(policy)
    again = pickle.loads(pickle.dumps(policy))
    _assert_equal_runs(script.play(policy), script.play(again), "unpickled differs")


def _file_continues(policy, script):
    if not saving.is_registered(type(policy)):
        return _SKIPPED
    script.play(policy)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "policy.json")
        policy.save(path)
        again = saving.load(path)
    _assert_equal_runs(
        script.play(policy), script.play(again), "the loaded one differs"
    )


def _reset_equals_start(policy, script):
    policy.reset()
    first = script.play(policy)
    policy.reset()
    _assert_equal_runs(first, script.play(policy), "a run after reset differs")


def _reset_equals_new(policy, script):
    if "rng" not in inspect.signature(type(policy).__init__).parameters:
        return _SKIPPED
    script.play(policy)
    policy.reset()
    # What a generator looks like at the start is known only after the reset.
    new = type(policy)(**policy.get_params(), rng=copy.deepcopy(policy._rng))
    _assert_equal_runs(script.play(new), script.play(policy), "reset differs from new")


def _scores_pure(policy, script):
    twin = copy.deepcopy(policy)
    for t, (X, rewards) in enumerate(script.rounds, start=1):
        first = policy.scores(X)
        second = policy.scores(X)
        assert first.shape == (len(X),), f"scores has shape {first.shape}"
        assert (first == second).all(), f"in round {t} {first} became {second}"
        k, undisturbed = policy.pull(X), twin.pull(X)
        assert k == undisturbed, f"in round {t} scores changed the next pull"
        for each in (policy, twin):
            each.update(X[k], float(rewards[k]))


def _best_score_is_played(policy, script):
    for t, (X, rewards) in enumerate(script.rounds, start=1):
        scores = policy.scores(X)
        k = policy.pull(X)
        gap = scores.max() - scores[k]
        assert gap <= _ROUNDING * abs(scores.max()), (
            f"in round {t} arm {k} was played, {gap} below the best score"
        )
        policy.update(X[k], float(rewards[k]))


def _order_free(policy, script):
    compared = False
    for t, (X, rewards) in enumerate(script.rounds, start=1):
        order = script.rng.permutation(len(X))
        scores, permuted = policy.scores(X), policy.scores(X[order])
        k, other = copy.deepcopy(policy).pull(X), policy.pull(X[order])
        gaps = np.diff(np.sort(scores))
        scale = np.abs(scores).max()
        if gaps.min() > 1e3 * _ROUNDING * scale:
            compared = True
            worst = np.abs(permuted - scores[order]).max()
            assert worst <= _ROUNDING * scale, (
                f"in round {t} scores moved by {worst} when the arms were reordered"
            )
            assert order[other] == k, f"in round {t} arm {k} became {order[other]}"
        policy.update(X[k], float(rewards[k]))
    return None if compared else _SKIPPED


def _errors_change_nothing(policy, script):
    twin = copy.deepcopy(policy)
    d = script.dim
    nan, inf = np.full(d, np.nan), np.full(d, np.inf)
    good = np.full(d, d**-0.5)
    attempts = {
        "pull of not-a-number": lambda: policy.pull([good, nan]),
        "pull of infinity": lambda: policy.pull([good, inf]),
        "pull of no arms": lambda: policy.pull(np.empty((0, d))),
        "pull of a vector": lambda: policy.pull(good),
        "pull of too many columns": lambda: policy.pull(np.ones((2, d + 1))),
        "update with not-a-number": lambda: policy.update(nan, 1.0),
        "update with an infinite reward": lambda: policy.update(good, np.inf),
        "update with too long an arm": lambda: policy.update(np.ones(d + 1), 1.0),
        "update with no reward": lambda: policy.update(good, None),
        "update with a bad second row": lambda: policy.update([good, inf], [1.0, 1.0]),
        "update with too few rewards": lambda: policy.update([good, good], [1.0]),
    }
    for words, attempt in attempts.items():
        try:
            attempt()
        except (TypeError, ValueError):
            continue
        raise AssertionError(f"{words} was accepted")
    _assert_equal_runs(script.play(twin), script.play(policy), "an error changed it")


def _lists_and_frames(policy, script):
    import pandas as pd

    twin = copy.deepcopy(policy)
    expected = script.play(twin)
    for t, (X, rewards) in enumerate(script.rounds):
        frame = pd.DataFrame(X, index=[f"arm {i}" for i in range(len(X))])
        k = copy.deepcopy(policy).pull(X.tolist())
        assert k == expected[t][0], f"in round {t + 1} a list gave arm {k}"
        k = policy.pull(frame)
        assert k == expected[t][0], f"in round {t + 1} a DataFrame gave arm {k}"
        policy.update(frame.iloc[k] if t % 2 else X[k].tolist(), float(rewards[k]))


def _rows_at_once(policy, script):
    twin = copy.deepcopy(policy)
    X = np.array([X[0] for X, _ in script.rounds])
    paid = np.array([rewards[0] for _, rewards in script.rounds])
    policy.update(X[:-1], paid[:-1])
    for row, reward in zip(X[:-1], paid[:-1], strict=True):
        twin.update(row, float(reward))
    _assert_equal_runs(script.play(twin), script.play(policy), "many rows differ")


# Name, attributes without which the check makes no sense, function. Checks that only
# policies derived from `Policy` promise to pass ask for one of its attributes.
_CHECKS = [
    ("pull returns an index", (), _valid_index),
    ("inputs are not changed", (), _inputs_unchanged),
    ("equal copies play alike", (), _deterministic),
    ("inputs are not kept", (), _nothing_kept),
    ("copies are independent", ("clone",), _independent_copy),
    ("a copy continues", ("copy",), _copy_continues),
    ("a clone is new", ("clone", "reset"), _clone_is_new),
    ("a pickle continues", ("clone",), _pickle_continues),
    ("a loaded file continues", ("save",), _file_continues),
    ("reset goes back to the start", ("reset",), _reset_equals_start),
    ("reset equals new", ("reset", "get_params", "_rng"), _reset_equals_new),
    ("scores are pure", ("scores",), _scores_pure),
    ("the best score is played", ("scores",), _best_score_is_played),
    ("the order of arms does not matter", ("scores",), _order_free),
    ("errors change nothing", ("clone",), _errors_change_nothing),
    ("lists and frames are accepted", ("clone",), _lists_and_frames),
    ("many rows equal one by one", ("clone",), _rows_at_once),
]
