"""Many policies, one environment, many trials, on common random numbers.

In each trial all policies meet the same arms, the same path and the same noise, and
draw their own normals from generators that start alike. What a policy does depends
on the seed, the trial and the policy alone: not on the other policies in the list and
not on the number of workers.
"""

import copy
from collections.abc import Iterable

import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from wsbnb import _validate, kernels
from wsbnb._types import IntArray, Policies, RootSeed, SeedSequence
from wsbnb.environments import Environment
from wsbnb.policies import LinearPolicy, Oracle, Policy
from wsbnb.policies.rules import new_state
from wsbnb.results import Results

# Rounds handed to the compiled loop at once. Large enough that Python costs nothing,
# small enough that a block stays in the processor's cache.
_BLOCK = 4096
# Arm sets that change every round take more room: at most this many numbers a block.
_ARM_NUMBERS = 2**20
_TRACED = ("radius", "penalty", "width", "mean")


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
        A policy is a template: each trial starts a fresh copy, with a generator of the
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
    >>> policies = [
    ...     wsbnb.WSBLinTS(np.zeros(2), np.eye(2), env.noise_std, discount=0.95),
    ...     wsbnb.LinTS(2, 1.0, env.noise_std, scale=env.noise_std),
    ... ]
    >>> results = wsbnb.simulate(policies, env, trials=20, progress=False)
    >>> bool(results.paired("LinTS").loc["WSB-LinTS", "high"] < 0)  # forgetting helps
    True
    """
    named = _named(policies)
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment, got {environment!r}")
    numbers = _trial_numbers(trials)
    points = _validate.integer("points", points)
    rounds = recorded_rounds(environment.horizon, points)
    root = _root(seed)
    jobs = (
        joblib.delayed(_play_trial)(named, environment, root, i, rounds, bool(trace))
        for i in numbers
    )
    workers = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    finished, interrupted = [], False
    running = workers(jobs)
    bar = tqdm(running, total=len(numbers), unit="trial", disable=not progress)
    try:
        for outcome in bar:
            finished.append(outcome)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        running.close()
        bar.close()
    return _collect(list(named), numbers, rounds, finished, interrupted)


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
    count = min(points, horizon)
    return np.unique(np.ceil(np.arange(1, count + 1) * horizon / count).astype(int))


# --- arguments ----------------------------------------------------------------------


def _named(policies):
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


def _trial_numbers(trials):
    if isinstance(trials, int | np.integer) and not isinstance(trials, bool):
        return list(range(_validate.integer("trials", trials)))
    if not isinstance(trials, Iterable) or isinstance(trials, str):
        raise TypeError(
            f"trials must be a whole number or several of them, got {trials!r}"
        )
    numbers = [_validate.integer("trials", i, minimum=0) for i in trials]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"trials must be different numbers, got {list(numbers)}")
    return numbers


def _root(seed):
    if isinstance(seed, np.random.SeedSequence):
        return seed
    return np.random.SeedSequence(_validate.integer("seed", seed, minimum=0))


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
    root = _root(seed)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, trial))


# --- one trial ----------------------------------------------------------------------


def _play_trial(named, environment, root, trial, rounds, trace):
    """Cumulative regret at `rounds` for each policy, and the traces if asked for."""
    world = environment.world(trial_seed(root, trial))
    players = [_player(policy, world) for policy in named.values()]
    recorders = [_Recorder(rounds, world.dim, trace) for _ in players]
    for block in world.blocks(_block_size(environment)):
        arms = block.arms if block.arms.ndim == 3 else block.arms[None]
        expected = np.empty((len(block.noise), arms.shape[2]))
        kernels.expected_rewards(block.theta, arms, expected)
        best = expected.max(axis=1)
        for player, recorder in zip(players, recorders, strict=True):
            chosen, extra = player.play(arms, expected, block.noise, trace)
            regret = best - expected[np.arange(len(chosen)), chosen]
            recorder.add(regret, chosen, extra)
    return [recorder.result() for recorder in recorders]


def _block_size(environment):
    if environment.arms.__class__.__name__ == "FixedArms":
        return _BLOCK
    arms = environment.n_arms or 64
    return max(1, min(_BLOCK, _ARM_NUMBERS // (arms * environment.dim)))


def _player(policy, world):
    if not _plays(policy):
        policy = policy(world)
    if getattr(policy, "dim", None) not in (None, world.dim):
        raise ValueError(
            f"policies must have the environment's dimension {world.dim}, "
            f"got {policy!r}"
        )
    if isinstance(policy, Oracle):
        return _CompiledPlayer(*policy._compiled(world.dim), 0, world)
    if isinstance(policy, LinearPolicy) and not _overrides_round(policy):
        rule = policy._rule
        return _CompiledPlayer(rule, new_state(rule), policy.n_normals, world)
    return _PythonPlayer(policy, world)


def _overrides_round(policy):
    """Whether a subclass changed what a round does, so that compiled code is wrong."""
    names = ("pull", "update", "_arms", "_observations", "_choose", "_learn")
    return any(
        getattr(type(policy), name) is not getattr(LinearPolicy, name)
        for name in (*names, "_learn_all")
    )


class _CompiledPlayer:
    """A policy of this package: rounds run in `kernels.run_block`."""

    def __init__(self, rule, state, n_normals, world):
        self.rule, self.state, self.n_normals = rule, state, n_normals
        self.rng = world.generator("exploration")
        self.dim = world.dim

    def play(self, arms, expected, noise, trace):
        n = len(noise)
        normals = self.rng.standard_normal((n, self.n_normals))
        chosen = np.empty(n, dtype=np.int64)
        extra = np.full((n if trace else 0, len(_TRACED)), np.nan)
        means = np.full((n if trace else 0, self.dim), np.nan)
        kernels.run_block(
            self.rule,
            self.state,
            arms,
            expected,
            noise,
            normals,
            chosen,
            extra,
            means,
        )
        if chosen.min() < 0:  # the compiled rounds do not stop for that
            raise ValueError(
                "policies must have a noise_std and a prior that keep the precision "
                "matrix positive definite in double precision, got a largest entry of "
                f"{np.abs(self.state.P).max():.3g}"
            )
        return chosen, np.hstack([extra, means])


class _PythonPlayer:
    """Any other policy: `pull` and `update`, round by round."""

    def __init__(self, policy, world):
        self.policy = copy.deepcopy(policy)
        if isinstance(self.policy, Policy):
            self.policy.reset()
            self.policy._rng = world.generator("exploration")
        self.dim = world.dim

    def play(self, arms, expected, noise, trace):
        n = len(noise)
        chosen = np.empty(n, dtype=np.int64)
        for t in range(n):
            X = arms[t if len(arms) > 1 else 0].T
            k = self.policy.pull(X)
            self.policy.update(X[k], expected[t, k] + noise[t])
            chosen[t] = k
        return chosen, np.full((n if trace else 0, len(_TRACED) + self.dim), np.nan)


class _Recorder:
    """Adds up the regret and keeps what happened at the recorded rounds."""

    def __init__(self, rounds, dim, trace):
        self.rounds = rounds
        self.curve = np.empty(len(rounds))
        columns = 1 + len(_TRACED) + dim
        self.extra = np.empty((len(rounds), columns)) if trace else None
        self.total, self.start, self.next = 0.0, 0, 0

    def add(self, regret, chosen, extra):
        # One long sum, so that the bits do not depend on the blocks.
        running = np.cumsum(np.concatenate([[self.total], regret]))[1:]
        stop = self.start + len(regret)
        last = int(np.searchsorted(self.rounds, stop, side="right"))
        here = self.rounds[self.next : last] - self.start - 1
        self.curve[self.next : last] = running[here]
        if self.extra is not None:
            self.extra[self.next : last, 0] = chosen[here]
            self.extra[self.next : last, 1:] = extra[here]
        self.total, self.start, self.next = float(running[-1]), stop, last

    def result(self):
        return self.curve, self.extra


# --- results ------------------------------------------------------------------------


def _collect(names, numbers, rounds, finished, interrupted):
    done = numbers[: len(finished)]
    index = pd.MultiIndex.from_product(
        [done, names, rounds], names=["trial", "policy", "round"]
    )
    curves = index.to_frame(index=False)
    values = [curve for outcome in finished for curve, _ in outcome]
    curves["regret"] = np.concatenate(values) if values else np.empty(0)
    traces = None
    if finished and finished[0][0][1] is not None:
        table = np.concatenate([extra for outcome in finished for _, extra in outcome])
        dim = table.shape[1] - 1 - len(_TRACED)
        columns = ["arm", *_TRACED, *(f"estimate_{i}" for i in range(dim))]
        traces = pd.concat(
            [
                curves[["trial", "policy", "round"]],
                pd.DataFrame(table, columns=columns),
            ],
            axis=1,
        )
        traces["arm"] = traces["arm"].astype(int)
    return Results(curves, names, traces, interrupted)
