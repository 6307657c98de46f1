"""Worlds beside the paper's, and how far a policy is from the best fixed memory."""

from typing import Any

import numpy as np
import pandas as pd

from wsbnb import _validate
from wsbnb import environments as worlds
from wsbnb.adaptive.grid import discount_grid
from wsbnb.environments import Environment
from wsbnb.policies.named import WSBLinTS
from wsbnb.results import Results

#: Variance of the noise in all of them, as in the paper.
NOISE_VARIANCE = 0.15
#: Rounds in which a mean-reverting parameter forgets where it was.
RELAXATION = 300.0
WORLDS = ("jumps", "often", "moves", "walks", "reverts", "still")
SCALES = (0.25, 0.5, 1.0)


def reverting_path(rng: Any, horizon: int, dim: int) -> np.ndarray:
    r"""A mean-reverting path around 0, with :math:`E\lVert\theta_t\rVert^2 = 1`.

    Parameters
    ----------
    rng : Generator
    horizon, dim : int

    Returns
    -------
    array of shape (horizon, dim)

    Examples
    --------
    >>> reverting_path(np.random.default_rng(0), 5, 2).shape
    (5, 2)
    """
    kept = np.exp(-1.0 / RELAXATION)
    steps = rng.standard_normal((horizon, dim)) / np.sqrt(dim)
    path = np.empty((horizon, dim))
    path[0] = steps[0]
    for t in range(1, horizon):
        path[t] = kept * path[t - 1] + np.sqrt(1.0 - kept**2) * steps[t]
    return path


def field_environment(world: str, dim: int, horizon: int = 4000) -> Environment:
    """One of six worlds with 48 fixed arms and Gaussian noise of variance 0.15.

    Parameters
    ----------
    world : {"jumps", "often", "moves", "walks", "reverts", "still"}
        Three orthogonal jumps; nineteen jumps to random places; a closed tour of four
        arcs; a random walk on the sphere with steps of 0.02; mean reversion over 300
        rounds; or nothing at all.
    dim, horizon : int

    Returns
    -------
    Environment

    Examples
    --------
    >>> field_environment("often", dim=2).world(0).change_points[:3]
    [200, 400, 600]
    """
    _validate.choice("world", world, WORLDS)
    four = worlds.OrthogonalAnchors(4)
    path = {
        "jumps": lambda: worlds.AbruptPath(four),
        "often": lambda: worlds.AbruptPath(worlds.RandomAnchors(20)),
        "moves": lambda: worlds.SlowPath(four, closed=True),
        "walks": lambda: worlds.RandomWalkPath(0.02),
        "reverts": lambda: worlds.CallablePath(reverting_path),
        "still": lambda: worlds.StationaryPath(),
    }[world]()
    return Environment(
        path=path,
        arms=worlds.FixedArms(48),
        noise=worlds.GaussianNoise(NOISE_VARIANCE**0.5),
        horizon=horizon,
        dim=dim,
        param_bound=10.0 if world == "reverts" else 1.0,
    )


def sampler(env: Environment, discount: float = 1.0, scale: float = 0.5) -> WSBLinTS:
    """WSB-LinTS with the prior N(0, I) and the noise level of a world.

    Parameters
    ----------
    env : Environment
    discount, scale : float

    Returns
    -------
    WSBLinTS

    Examples
    --------
    >>> sampler(field_environment("still", 2)).scale
    0.5
    """
    return WSBLinTS(
        prior_mean=np.zeros(env.dim),
        prior_cov=1.0,
        noise_std=env.noise_std,
        discount=discount,
        scale=scale,
    )


def fixed_memories(env: Environment, size: int = 8) -> dict[str, WSBLinTS]:
    """WSB-LinTS at every memory of a grid and at three scales.

    Parameters
    ----------
    env : Environment
    size : int, default 8
        How many memories.

    Returns
    -------
    dict
        From names such as ``"memory 10, scale 0.5"`` to policies.

    Examples
    --------
    >>> len(fixed_memories(field_environment("still", 2)))
    24
    """
    found = {}
    for gamma in discount_grid(env.horizon, size, env.dim):
        memory = "∞" if gamma == 1.0 else f"{1.0 / (1.0 - gamma):.0f}"
        for a in SCALES:
            found[f"memory {memory}, scale {a:g}"] = sampler(env, gamma, a)
    return found


def against_hindsight(played: Results, draws: int = 500, seed: int = 0) -> pd.DataFrame:
    """Regret of every policy over that of the best fixed memory and scale.

    Parameters
    ----------
    played : Results
        With policies from :func:`fixed_memories` and others.
    draws, seed : int
        Resamples of the trials for the intervals. The best fixed one is chosen again
        in each of them, as it was from the trials.

    Returns
    -------
    DataFrame
        Per policy that is not a fixed memory: mean regret, ratio, 95 % interval, and
        the name of the best fixed one.

    Examples
    --------
    >>> import wsbnb
    >>> env = field_environment("jumps", 2, horizon=400)
    >>> policies = fixed_memories(env) | {"bank": wsbnb.ChangePoints(sampler(env))}
    >>> played = wsbnb.simulate(policies, env, trials=2, progress=False)
    >>> against_hindsight(played).index.tolist()
    ['bank']
    """
    final = played.final_table()
    fixed = [name for name in final if str(name).startswith("memory ")]
    others = [name for name in final if name not in fixed]
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(final), (draws, len(final)))
    best = final[fixed].to_numpy()[rows].mean(axis=1).min(axis=1)
    table = {}
    for name in others:
        ratios = final[name].to_numpy()[rows].mean(axis=1) / best
        low, high = np.quantile(ratios, [0.025, 0.975])
        mean = final[name].mean()
        ratio = mean / final[fixed].mean().min()
        best_name = final[fixed].mean().idxmin()
        table[name] = dict(regret=mean, ratio=ratio, low=low, high=high, best=best_name)
    return pd.DataFrame(table).T
