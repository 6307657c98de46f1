"""What a round costs, measured beside the plain NumPy/SciPy reference in one run.

Everything is timed in one process and one thread, in CPU time: the candidates take
turns, and the smallest of several repeats counts. Absolute times differ between
machines; the ratios are what to look at.
"""

import argparse
import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from wsbnb import kernels, policies, reference
from wsbnb.policies.rules import new_state

DIMS = (2, 4, 6, 16, 32)
ARMS = 48
NOISE = 0.15**0.5
HORIZON = 4000


def make_policy(
    module: ModuleType, name: str, dim: int, discount: float = 0.999
) -> Any:
    """One of the seven algorithms from `wsbnb.policies` or `wsbnb.reference`.

    Parameters
    ----------
    module : module
    name : str
        Class name.
    dim : int
    discount : float, default 0.999

    Returns
    -------
    policy

    Examples
    --------
    >>> make_policy(policies, "DLinTS", 2).name
    'D-LinTS'
    """
    if name.startswith("WSB"):
        settings = [np.zeros(dim), np.eye(dim), NOISE, discount]
    else:
        settings = [dim, 1.0, discount, NOISE]
    if name in ("DLinUCB", "LBWeightUCB", "WSBLinUCB"):
        settings += [1.0 / HORIZON, HORIZON, 1.0, 1.0]
    return getattr(module, name)(*settings)


NAMES = (
    "DLinUCB",
    "LBWeightUCB",
    "WSBLinUCB",
    "DRandLinUCB",
    "WSBRandLinUCB",
    "DLinTS",
    "WSBLinTS",
)


def flops(name: str, dim: int, n_arms: int) -> float:
    """Floating-point operations of one round, leading terms.

    A Cholesky factor costs d^3/3, forward substitution for K arms K d^2, the local norm
    another K d^2 and one more factor plus a triangular product. The certified largest
    eigenvalue adds a factor and four triangular solves.

    Parameters
    ----------
    name : str
    dim, n_arms : int

    Returns
    -------
    float

    Examples
    --------
    >>> flops("WSBLinTS", 3, 10)  # 9 for the factor, 60 scores, 54 to update
    132.0
    """
    factor, update, scores = dim**3 / 3, 6.0 * dim**2, 2.0 * n_arms * dim
    solve_arms = n_arms * dim**2 + 4.0 * n_arms * dim
    local = name in ("DLinUCB", "DRandLinUCB")
    if name.endswith("TS"):
        extra = factor + 3.0 * dim**2 + 4.0 * dim**2 if name == "DLinTS" else dim**2
        return factor + update + scores + extra
    total = factor + solve_arms + update
    if local:
        total += factor + factor + n_arms * dim**2 + 4.0 * dim**2
    if name == "WSBLinUCB":
        total += factor + 10.0 * dim**2
    return total


class _Compiled:
    """One candidate: the compiled loop over a fixed world."""

    def __init__(self, name, dim, n_arms, rounds):
        self.policy = make_policy(policies, name, dim)
        self.world = _world(dim, n_arms, rounds)

    def run(self):
        policy, (arms, expected, noise, normals) = self.policy, self.world
        state = new_state(policy._rule)
        n = len(noise)
        normals = normals[:, : policy.n_normals].copy()
        chosen = np.empty(n, dtype=np.int64)
        nothing = np.empty((0, 4)), np.empty((0, arms.shape[1]))
        start = time.process_time()
        kernels.run_block(
            policy._rule, state, arms, expected, noise, normals, chosen, *nothing
        )
        return (time.process_time() - start) / n


class _Reference:
    """The other candidate: NumPy and SciPy, round by round."""

    def __init__(self, name, dim, n_arms, rounds):
        self.name, self.dim = name, dim
        self.world = _world(dim, n_arms, rounds)

    def run(self):
        policy = make_policy(reference, self.name, self.dim)
        arms, expected, noise, normals = self.world
        X = np.ascontiguousarray(arms[0].T)
        m = policy._normals_needed()
        start = time.process_time()
        for t in range(len(noise)):
            k = policy.pull(X, normals[t, :m])
            policy.update(X[k], expected[t, k] + noise[t])
        return (time.process_time() - start) / len(noise)


def _world(dim, n_arms, rounds):
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((dim, n_arms))
    arms /= np.linalg.norm(arms, axis=0)
    theta = rng.standard_normal(dim)
    expected = np.tile((theta / np.linalg.norm(theta)) @ arms, (rounds, 1))
    noise = NOISE * rng.standard_normal(rounds)
    return arms[None], expected, noise, rng.standard_normal((rounds, dim))


def one_thread() -> contextlib.AbstractContextManager[Any]:
    """A context in which BLAS uses one thread, where threadpoolctl is installed.

    Without it set ``OPENBLAS_NUM_THREADS=1`` before Python starts: a BLAS that starts
    threads for tiny matrices makes the reference look slower than it is.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return contextlib.nullcontext()
    return threadpool_limits(1)


def interleaved(candidates: Mapping[Any, Any], repeats: int) -> dict[Any, float]:
    """Smallest time of each candidate; the candidates take turns.

    Parameters
    ----------
    candidates : dict from key to object with ``run() -> seconds``
    repeats : int

    Returns
    -------
    dict
        Seconds.
    """
    for candidate in candidates.values():
        candidate.run()
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(repeats):
        for key, candidate in candidates.items():
            best[key] = min(best[key], candidate.run())
    return best


def peak_gflops(size: int = 64, repeats: int = 7) -> float:
    """Speed of a matrix product on one thread, in 10^9 operations per CPU second.

    Parameters
    ----------
    size : int, default 64
        Small enough that no BLAS starts threads for it, large enough to be fast.
    repeats : int, default 7

    Returns
    -------
    float
    """
    A = np.random.default_rng(0).standard_normal((size, size))
    out = np.empty_like(A)
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(200):
            np.matmul(A, A, out=out)
        best = min(best, (time.process_time() - start) / 200)
    return 2.0 * size**3 / best / 1e9


def cost_table(
    names: Sequence[str] = NAMES,
    dims: Sequence[int] = DIMS,
    n_arms: int = ARMS,
    rounds: int = 2000,
    repeats: int = 7,
) -> pd.DataFrame:
    """Cost of a round of each algorithm, compiled and reference, in one run.

    Parameters
    ----------
    names : sequence of str
        Class names.
    dims : sequence of int
    n_arms : int, default 48
    rounds : int, default 2000
        Rounds of a compiled run; the reference plays a tenth of them.
    repeats : int, default 7

    Returns
    -------
    DataFrame
        Columns algorithm, dim, arms, microseconds, reference_microseconds, ratio,
        flops and peak_share (of a dgemm in the same run).
    """
    peak = peak_gflops()
    candidates = {}
    for dim in dims:
        for name in names:
            candidates["compiled", name, dim] = _Compiled(name, dim, n_arms, rounds)
            few = max(50, rounds // 10)
            candidates["reference", name, dim] = _Reference(name, dim, n_arms, few)
    with one_thread():
        seconds = interleaved(candidates, repeats)
    rows = []
    for dim in dims:
        for name in names:
            ours = seconds["compiled", name, dim]
            plain = seconds["reference", name, dim]
            count = flops(name, dim, n_arms)
            rows.append(
                {
                    "algorithm": getattr(policies, name).name,
                    "dim": dim,
                    "arms": n_arms,
                    "microseconds": 1e6 * ours,
                    "reference_microseconds": 1e6 * plain,
                    "ratio": plain / ours,
                    "flops": count,
                    "peak_share": count / ours / 1e9 / peak,
                }
            )
    return pd.DataFrame(rows)


def growth_table(quick: bool = False, name: str = "LBWeightUCB") -> pd.DataFrame:
    """How the cost of a round grows with d, with K and with T.

    Parameters
    ----------
    quick : bool, default False
        Stop at smaller sizes.
    name : str, default "LBWeightUCB"

    Returns
    -------
    DataFrame
        Columns varied, dim, arms, rounds and microseconds.
    """
    dims = (2, 4, 8, 16, 32, 64) if quick else (2, 4, 8, 16, 32, 64, 128, 256)
    arms = (1, 10, 100, 1000) if quick else (1, 10, 100, 1000, 10_000)
    lengths = (100, 1000, 10_000) if quick else (100, 1000, 10_000, 100_000)
    cases = [("d", d, ARMS, max(20, 20_000 // d**2)) for d in dims]
    cases += [("K", 6, k, max(20, 20_000 // k)) for k in arms]
    cases += [("T", 6, ARMS, t) for t in lengths]
    candidates = {case: _Compiled(name, *case[1:]) for case in cases}
    seconds = interleaved(candidates, 3)
    return pd.DataFrame(
        [(*case, 1e6 * s) for case, s in seconds.items()],
        columns=["varied", "dim", "arms", "rounds", "microseconds"],
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Command line: print the tables, or JSON with ``--json``."""
    parser = argparse.ArgumentParser(prog="python -m wsbnb bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and sizes")
    options = parser.parse_args(argv)
    repeats, rounds = (3, 500) if options.quick else (9, 2000)
    cost = cost_table(repeats=repeats, rounds=rounds)
    growth = growth_table(quick=options.quick)
    if options.json:
        tables = {"cost": cost, "growth": growth}
        print(json.dumps({k: v.to_dict("records") for k, v in tables.items()}))
    else:
        print(cost.to_string(index=False, float_format="{:.3g}".format))
        print()
        print(growth.to_string(index=False, float_format="{:.3g}".format))
    return 0
