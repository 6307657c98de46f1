"""Play policies on logged data in which every arm's reward is known.

A policy sees the reward of the arm it plays and no other. The scorer sees them all, so
regret is exact and not estimated.
"""

import zlib

import numpy as np

from wsbnb import _validate, simulation
from wsbnb._types import ArrayLike, Policies, RootSeed
from wsbnb.datasets import Dataset, checked_log
from wsbnb.results import Results

__all__ = ["replay"]

#: Name of the comparison that `replay` adds.
BEST_FIXED = "Best fixed arm"


def replay(
    policies: Policies,
    data: Dataset | tuple[ArrayLike, ArrayLike],
    seed: RootSeed = 0,
    repeats: int = 20,
    n_jobs: int = -1,
) -> Results:
    r"""Play policies on a full-information log.

    In round t the policy chooses among the logged arms and is shown the logged reward
    of its choice. Its dynamic regret is
    :math:`\sum_t \max_k r_{t,k} - r_{t,k_t}`, with realised rewards, noise included.

    Parameters
    ----------
    policies : list of policies, or dict from name to policy
        As in :func:`wsbnb.simulate`: templates, started afresh in each repeat, or
        functions ``f(world)`` that build one (the world has `dim`, `horizon` and
        `generator`). Policies of this package run compiled.
    data : Dataset, or pair (arms, rewards)
        Arms of shape (T, K, d), or (K, d) if they never change; rewards (T, K).
    seed : int or SeedSequence, default 0
        Decides the draws of randomised policies.
    repeats : int, default 20
        How often the log is played. A policy that draws nothing plays it alike each
        time.
    n_jobs : int, default -1
        Workers, as in joblib. The numbers do not depend on it.

    Returns
    -------
    Results
        With every round recorded, the arms played, and the row "Best fixed arm": the
        arm with the largest total reward, known only afterwards. Its repeats differ in
        the draws only; compare with ``paired(..., over="rounds")``.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> rewards = np.repeat([[1.0, 0.0], [0.0, 1.0]], 50, axis=0)  # they swap roles
    >>> prior = {"prior_mean": np.zeros(2), "prior_cov": 1.0, "noise_std": 0.5}
    >>> result = wsbnb.replay(
    ...     {
    ...         "forgets": wsbnb.WSBLinTS(**prior, discount=0.8),
    ...         "remembers": wsbnb.WSBLinTS(**prior, discount=1.0),
    ...     },
    ...     (np.eye(2), rewards),
    ... )
    >>> regret = result.summary()["mean"]
    >>> bool(regret["forgets"] < regret["remembers"] < regret["Best fixed arm"])
    True
    """
    import joblib

    named = simulation.named_policies(policies)
    if BEST_FIXED in named:
        raise ValueError(f"policies must not be called {BEST_FIXED!r}")
    arms, rewards = _log(data)
    repeats = _validate.integer("repeats", repeats)
    _validate.room("repeats", repeats, repeats * rewards.size)
    n_jobs = _validate.workers("n_jobs", n_jobs)
    root = simulation.root_seed(seed)
    worlds = [
        _LoggedWorld(simulation.trial_seed(root, i), rewards.shape, arms.shape[1])
        for i in range(repeats)
    ]
    pairs = [(policy, w) for w in worlds for policy in named.values()]
    jobs = (joblib.delayed(_play)(policy, w, arms, rewards) for policy, w in pairs)
    chosen = np.array(joblib.Parallel(n_jobs=n_jobs, prefer="threads")(jobs))
    chosen = chosen.reshape(repeats, len(named), len(rewards))
    best = np.full((repeats, 1, len(rewards)), rewards.sum(axis=0).argmax())
    return _results(
        [*named, BEST_FIXED], np.concatenate([chosen, best], axis=1), rewards
    )


def _results(names, chosen, rewards):
    rounds, top = np.arange(len(rewards)), rewards.max(axis=1)
    regret = np.cumsum(top - rewards[rounds, chosen], axis=2)
    trials = np.arange(len(chosen))
    best = np.cumsum(top)
    return Results(regret, names, trials, rounds + 1, arms=chosen, best_reward=best)


def _log(data):
    """Arms as (1 or T, d, K), as the compiled rounds want them, and rewards (T, K)."""
    if isinstance(data, Dataset):
        arms, rewards = data.arms, data.rewards
    elif isinstance(data, list | tuple) and len(data) == 2:
        try:
            arms, rewards = checked_log(*data)
        except (ValueError, TypeError) as error:
            said = f"data must be a pair (arms, rewards) that fit: {error}"
            raise type(error)(said) from error
    else:
        raise TypeError(
            f"data must be a Dataset or a pair (arms, rewards), got {data!r}"
        )
    arms = arms if arms.ndim == 3 else arms[None]
    return np.ascontiguousarray(arms.transpose(0, 2, 1)), np.array(rewards)


class _LoggedWorld:
    """What a policy may know beforehand, and its random numbers in this repeat."""

    def __init__(self, seed, shape, dim):
        self.seed, self.dim = seed, dim
        self.horizon, self.n_arms = shape

    def generator(self, name):
        key = (*self.seed.spawn_key, zlib.crc32(name.encode()))
        child = np.random.SeedSequence(self.seed.entropy, spawn_key=key)
        return np.random.Generator(np.random.PCG64(child))


def _play(policy, world, arms, rewards):
    """The arms chosen in one repeat."""
    policy = simulation.player(policy, world)
    chosen = []
    size = simulation.block_size(rewards.shape[1], arms.shape[1], len(arms) == 1)
    for start in range(0, len(rewards), size):
        part = slice(start, start + size)
        shown = rewards[part]
        # The simulation adds noise to expected rewards; logged ones contain it.
        none = np.zeros(len(shown))
        offered = arms if len(arms) == 1 else arms[part]
        chosen.append(simulation.play_rounds(policy, offered, shown, none))
    return np.concatenate(chosen)
