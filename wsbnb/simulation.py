"""Many policies, one environment, many trials, on common random numbers.

In each trial all policies meet the same arms, the same path and the same noise, and
draw their own normals from generators that start alike. What a policy does depends
on the seed, the trial and the policy alone: not on the other policies in the list and
not on the number of workers.
"""

import copy
import operator
import sys

import numpy as np

from wsbnb import _validate
from wsbnb._types import (
    Any,
    Array,
    IntArray,
    Iterable,
    Policies,
    RootSeed,
    SeedSequence,
)
from wsbnb.environments import Environment
from wsbnb.kernels import rounds as _rounds
from wsbnb.kernels.memory import packed_copy
from wsbnb.policies.base import Policy
from wsbnb.policies.oracle import Oracle
from wsbnb.results import Results

__all__ = ["simulate", "trial_seed"]

# Rounds handed to the compiled loop at once: at most so many that their rewards stay in
# the processor's cache while one policy after the other plays them, and at least so
# many that Python costs nothing.
_LONGEST, _SHORTEST, _REWARDS = 4096, 256, 2**15
# Arm sets that change every round take more room: at most this many numbers a block.
_ARM_NUMBERS = 2**20
# A key of a SeedSequence has 32 bits.
_LAST_TRIAL = 2**32 - 1


def simulate(
    policies: Policies,
    environment: Environment,
    trials: int | Iterable[int] = 100,
    seed: RootSeed = 0,
    n_jobs: int = -1,
    progress: bool = True,
    points: int = 200,
    trace: bool = False,
) -> Results:
    """Play policies against an environment and collect their dynamic regret.

    Parameters
    ----------
    policies : list of policies, or dict from name to policy
        A policy is a template: each trial starts a fresh clone, with a generator of the
        trial's own. Instead of a policy a function ``f(world)`` may be given that
        builds one for the trial (for example with a discount that fits
        ``world.variation``). Policies of this package run compiled; any other object
        with ``pull(X)`` and ``update(x, reward)`` runs in Python. If it is not a
        :class:`Policy` it is copied as it stands, with what it has learnt and with its
        own generator, so that every trial draws the same numbers: give a function.
    environment : Environment
    trials : int or sequence of int, default 100
        How many trials, or which ones. Trial i is the same in every call.
    seed : int or SeedSequence, default 0
        Decides everything random.
    n_jobs : int, default -1
        Workers, as in joblib; -1 uses every core. Threads by default: the compiled
        rounds release the lock. ``joblib.parallel_config`` selects anything else, a
        Dask cluster for instance.
    progress : bool, default True
        Show a progress bar.
    points : int, default 200
        Rounds at which the trajectory is kept (the last one always).
    trace : bool, default False
        Also keep arm, radius, penalty, width, mean score and estimate at these rounds.

    Returns
    -------
    Results
        Interrupted with Ctrl-C, it holds the trials finished so far and
        ``results.interrupted`` is True.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> env = wsbnb.paper_environment("abrupt", dim=2, horizon=400)
    >>> sigma = env.noise_std
    >>> policies = [
    ...     wsbnb.WSBLinTS(
    ...         prior_mean=np.zeros(2), prior_cov=1.0, noise_std=sigma, discount=0.95
    ...     ),
    ...     wsbnb.LinTS(dim=2, regularization=1.0, noise_std=sigma, scale=sigma),
    ... ]
    >>> results = wsbnb.simulate(policies, env, trials=20, progress=False)
    >>> bool(results.paired("LinTS").loc["WSB-LinTS", "high"] < 0)  # forgetting helps
    True
    """
    import joblib
    from tqdm import tqdm

    named = named_policies(policies)
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment, got {environment!r}")
    kept = recorded_rounds(environment.horizon, _validate.integer("points", points))
    numbers = _trial_numbers(trials, len(named) * len(kept))
    root, trace = root_seed(seed), _validate.flag("trace", trace)
    # In a tuple: joblib would leave a bare array with one worker of a Dask cluster, and
    # all its tasks would be lost if that one died.
    given = named, environment, root, kept, trace
    jobs = (joblib.delayed(_play_trial)(given, i) for i in numbers)
    n_jobs, progress = (
        _validate.workers("n_jobs", n_jobs),
        _validate.flag("progress", progress),
    )
    workers = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    finished, interrupted = [], False
    running = workers(jobs)
    shown = progress and sys.stderr  # without a console there is none
    bar = tqdm(running, total=len(numbers), unit="trial", disable=not shown)
    try:
        for outcome in bar:
            finished.append(outcome)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        running.close()
        bar.close()
    return _collect(list(named), numbers, kept, finished, interrupted, trace)


def recorded_rounds(horizon: int, points: int) -> IntArray:
    """Rounds (counted from 1) at which a trajectory is kept; the last one is `horizon`.

    Parameters
    ----------
    horizon, points : int

    Returns
    -------
    array of int

    Examples
    --------
    >>> recorded_rounds(10, 4).tolist()
    [3, 5, 8, 10]
    """
    horizon = _validate.integer("horizon", horizon)
    count = min(_validate.integer("points", points), horizon)
    _validate.room("points", points, count)
    return np.unique(np.ceil(np.arange(1, count + 1) * horizon / count).astype(int))


# --- arguments ----------------------------------------------------------------------


def named_policies(policies: Policies) -> dict:
    """Policies by name, from a dict, a list or a single one."""
    if isinstance(policies, dict):
        named = dict(policies)
    elif isinstance(policies, list | tuple):
        names = [getattr(p, "name", type(p).__name__) for p in policies]
        if len(set(names)) < len(names):
            raise ValueError(
                f"policies must have different names, got {names}; give a dict to "
                "name them"
            )
        named = dict(zip(names, policies, strict=True))
    else:
        named = {getattr(policies, "name", type(policies).__name__): policies}
    if not named:
        raise ValueError("policies must hold at least one policy, got none")
    for name, policy in named.items():
        _validate.text("each name in policies", name)
        if not (callable(policy) or _plays(policy)):
            raise TypeError(
                f"policies[{name!r}] must have pull and update, or be a function that "
                f"builds such a policy from a world, got {policy!r}"
            )
    return named


def _plays(policy):
    # A class has these too, but it is a function that builds a policy.
    plays = hasattr(policy, "pull") and hasattr(policy, "update")
    return plays and not isinstance(policy, type)


def _trial_numbers(trials, numbers_each):
    """The trials to play, of which each leaves so many numbers."""
    if isinstance(trials, int | float | np.number) and not isinstance(trials, bool):
        count = _validate.integer("trials", trials)
        _validate.room("trials", trials, count * numbers_each)
        return list(range(count))
    members = _validate.several("trials", trials, "a whole number or several of them")
    limits = {"minimum": 0, "maximum": _LAST_TRIAL}
    numbers = [_validate.integer("trials", i, **limits) for i in members]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"trials must be different numbers, got {list(numbers)}")
    return numbers


def root_seed(seed: RootSeed) -> SeedSequence:
    """What the seeds of all trials are derived from."""
    if isinstance(seed, np.random.SeedSequence):
        return seed
    return np.random.SeedSequence(_validate.seed("seed", seed))


def trial_seed(seed: RootSeed, trial: int) -> SeedSequence:
    """The SeedSequence of one trial of `simulate`.

    Parameters
    ----------
    seed : int or SeedSequence
    trial : int

    Returns
    -------
    SeedSequence

    Examples
    --------
    >>> trial_seed(7, 3).spawn_key
    (3,)
    """
    root = root_seed(seed)
    trial = _validate.integer("trial", trial, minimum=0, maximum=_LAST_TRIAL)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, trial))


# --- one trial ----------------------------------------------------------------------


def _play_trial(given, trial):
    """Cumulative regret at the rounds `kept` for each policy, and details if asked."""
    named, environment, root, kept, trace = given
    world = environment.world(trial_seed(root, trial))
    players = [player(policy, world) for policy in named.values()]
    recorders = [_Recorder(kept, trace) for _ in players]
    fixed = environment.arms.fixed
    size = block_size(environment.n_arms or 64, world.dim, fixed)
    arms = None
    for block in world.blocks(size):
        if arms is None or not fixed:
            arms = block.arms if block.arms.ndim == 3 else packed_copy(block.arms[None])
        expected = np.empty((len(block.noise), arms.shape[2]))
        _rounds.expected_rewards(block.theta, arms, expected)
        means, paid, noise = environment.outcomes(expected, block.noise)
        best = means.max(axis=1)
        for policy, recorder in zip(players, recorders, strict=True):
            # Who knows the means is not told the luck of the round.
            shown = means if isinstance(policy, Oracle) else paid
            recorder.play(policy, arms, means, shown, noise, best)
    return [recorder.result() for recorder in recorders]


def block_size(n_arms: int, dim: int, fixed: bool) -> int:
    """How many rounds to play at once."""
    size = min(max(_REWARDS // n_arms, _SHORTEST), _LONGEST)
    return size if fixed else max(1, min(size, _ARM_NUMBERS // (n_arms * dim)))


def player(policy: Any, world: Any) -> Any:
    """A policy for one trial: new, with the trial's generator."""
    if not _plays(policy):
        policy = policy(world)
        if not _plays(policy):
            raise TypeError(
                f"policies must build objects with pull and update, got {policy!r}"
            )
    if getattr(policy, "dim", None) not in (None, world.dim):
        raise ValueError(
            f"policies must have the environment's dimension {world.dim}, "
            f"got {policy!r}"
        )
    if isinstance(policy, Policy):
        return policy.clone(world.generator("exploration"))
    return _Foreign(copy.deepcopy(policy))


class _Foreign:
    """Any other object that can play."""

    compiled = False

    def __init__(self, policy):
        self.pull, self.update = policy.pull, policy.update


def play_rounds(policy: Any, arms: Array, expected: Array, noise: Array) -> IntArray:
    """The arms that a policy plays; compiled where it can be, else round by round."""
    if policy.compiled:
        return policy._play_rounds(arms, expected, noise)
    chosen = np.empty(len(noise), dtype=np.int64)
    for t in range(len(noise)):
        X = arms[t if len(arms) > 1 else 0].T
        k = chosen[t] = _checked_arm(policy.pull(X.copy()), len(X))
        policy.update(X[k].copy(), expected[t, k] + noise[t])
    return chosen


def _checked_arm(arm, n_arms):
    # Python would take -1 for the last arm.
    whole = hasattr(arm, "__index__") and np.ndim(arm) == 0
    if not (whole and 0 <= operator.index(arm) < n_arms):
        raise ValueError(
            f"policies must pull an arm from 0 to {n_arms - 1}, got {arm!r}"
        )
    return operator.index(arm)


class _Recorder:
    """Adds up the regret and keeps what happened at the recorded rounds."""

    def __init__(self, kept, trace):
        self.kept, self.trace = kept, trace
        self.curve = np.empty(len(kept))
        self.arms = np.empty(len(kept), dtype=np.int64)
        self.details = [{} for _ in kept]
        self.total, self.start, self.next = 0.0, 0, 0

    def play(self, policy, arms, means, shown, noise, best):
        chosen = np.empty(len(noise), dtype=np.int64)
        stop = self.start + len(noise)
        last = int(np.searchsorted(self.kept, stop, side="right"))
        here = self.kept[self.next : last] - self.start - 1
        for part, record in _parts(len(noise), here, self.trace):
            if record is not None and hasattr(policy, "_estimate"):
                self.details[self.next + record] = policy._estimate()
            offered = arms[part] if len(arms) > 1 else arms
            chosen[part] = play_rounds(policy, offered, shown[part], noise[part])
            if record is not None and hasattr(policy, "_explained"):
                arm = int(chosen[part][-1])
                self.details[self.next + record] |= policy._explained(arm)
        self._add(best - means[np.arange(len(noise)), chosen], chosen, here, last)
        self.start, self.next = stop, last

    def _add(self, regret, chosen, here, last):
        # One long sum, so that the bits do not depend on the blocks.
        running = np.cumsum(np.concatenate([[self.total], regret]))[1:]
        self.curve[self.next : last] = running[here]
        self.arms[self.next : last] = chosen[here]
        self.total = float(running[-1])

    def result(self):
        return self.curve, self.arms, self.details


def _parts(length, here, trace):
    """The rounds in one piece, or with every recorded round on its own."""
    if not trace:
        return [(slice(0, length), None)]
    parts, start = [], 0
    for number, t in enumerate(here):
        if t > start:
            parts.append((slice(start, t), None))
        parts.append((slice(t, t + 1), number))
        start = t + 1
    return [*parts, (slice(start, length), None)] if start < length else parts


# --- results ------------------------------------------------------------------------


def _collect(names, numbers, kept, finished, interrupted, trace):
    shape = (len(finished), len(names), len(kept))
    regret = np.array([[one[0] for one in trial] for trial in finished]).reshape(shape)
    arms = np.array([[one[1] for one in trial] for trial in finished], dtype=np.int64)
    rows = [row for trial in finished for one in trial for row in one[2]]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    details = {
        name: np.array([row.get(name, np.nan) for row in rows]).reshape(shape)
        for name in columns
    }
    return Results(
        regret,
        names,
        np.array(numbers[: len(finished)], dtype=np.int64),
        kept,
        arms=arms.reshape(shape) if trace else None,
        details=details if trace else None,
        interrupted=interrupted,
    )
