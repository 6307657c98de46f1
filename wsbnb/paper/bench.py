"""What things cost here: a round, a first call, an import, a loop, the whole paper.

A round is measured beside the plain NumPy/SciPy `reference`, in one process and one
thread, in CPU time: the candidates take turns, and the smallest of several repeats
counts. Absolute times differ between machines; the ratios are what to look at.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from wsbnb.adaptive.bandit import BanditOverDiscounts
from wsbnb.adaptive.mixture import DiscountMixture
from wsbnb.adaptive.surprise import SurpriseRestart
from wsbnb.kernels.memory import packed_copy
from wsbnb.paper import reference
from wsbnb.paper.algorithms import ALGORITHMS, TABLE
from wsbnb.paper.running import run_cells
from wsbnb.paper.tables import table2, table3
from wsbnb.policies import named
from wsbnb.simulation import block_size

DIMS = (2, 4, 6, 16, 32)
ARMS = 48
NOISE = 0.15**0.5
HORIZON = 4000
#: Class names of the paper's seven algorithms.
NAMES = tuple(TABLE[name].cls.__name__ for name in ALGORITHMS)


def make_policy(
    module: ModuleType, name: str, dim: int, discount: float = 0.999
) -> Any:
    """One of the seven algorithms of the package or of `reference`.

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
    >>> from wsbnb.policies import named
    >>> make_policy(named, "DLinTS", 2).name
    'D-LinTS'
    """
    if name.startswith("WSB"):
        settings = {"prior_mean": np.zeros(dim), "prior_cov": np.eye(dim)}
    else:
        settings = {"dim": dim, "regularization": 1.0}
    settings |= {"noise_std": NOISE, "discount": discount}
    if name in ("DLinUCB", "LBWeightUCB", "WSBLinUCB"):
        settings |= {"delta": 1.0 / HORIZON, "horizon": HORIZON}
        settings |= {"param_bound": 1.0, "arm_bound": 1.0}
    return getattr(module, name)(**settings)


def flops(name: str, dim: int, n_arms: int) -> float:
    """Floating-point operations of one round, leading terms.

    A Cholesky factor costs d^3/3, forward substitution for K arms K d^2, the local norm
    another K d^2 and one more factor plus a triangular product. The certified largest
    eigenvalue adds a factor.

    Parameters
    ----------
    name : str
    dim, n_arms : int

    Returns
    -------
    float

    Examples
    --------
    >>> flops("WSBLinTS", 3, 10)  # 9 for the factor, 60 scores, 54 to update, 9 back
    132.0
    """
    factor, update, scores = dim**3 / 3, 6.0 * dim**2, 2.0 * n_arms * dim
    solve_arms = n_arms * dim**2 + 4.0 * n_arms * dim
    local = name in ("DLinUCB", "DRandLinUCB")
    if name.endswith("TS"):
        extra = factor + 7.0 * dim**2 if name == "DLinTS" else dim**2
        return factor + update + scores + extra
    total = factor + solve_arms + update
    if local:
        total += factor + factor + n_arms * dim**2 + 4.0 * dim**2
    if name == "WSBLinUCB":
        total += factor + 2.0 * dim**2
    return total


# --- rounds ---------------------------------------------------------------------------


class _Compiled:
    """One candidate: the compiled rounds of a policy in a fixed world."""

    def __init__(self, policy, n_arms, rounds):
        size = min(rounds, block_size(n_arms, policy.dim, True))
        self.policy, self.blocks = policy, -(-rounds // size)
        self.world = _world(policy.dim, n_arms, size)

    def run(self):
        arms, expected, noise, normals = self.world
        player = self.policy.clone(0)
        given = _Given(normals, player.n_normals)
        player._rng = given  # both sides are given their normals
        player._play_rounds(arms, expected, noise)  # into the cache
        start = time.process_time()
        for _ in range(self.blocks):
            player._play_rounds(arms, expected, noise)
        return (time.process_time() - start) / (self.blocks * len(noise))


class _Given:
    """Hands out normals that were drawn before the clock started."""

    def __init__(self, normals, count):
        self.normals = np.ascontiguousarray(normals[:, :count])

    def standard_normal(self, shape):
        return self.normals


class _Reference:
    """The other candidate: NumPy and SciPy, round by round."""

    def __init__(self, name, dim, n_arms, rounds):
        self.name, self.dim = name, dim
        self.world = _world(dim, n_arms, rounds)

    def run(self):
        policy = make_policy(reference, self.name, self.dim)
        arms, expected, noise, normals = self.world
        X = np.ascontiguousarray(arms[0].T)
        m, n, warm = policy._normals_needed(), len(noise), len(noise) // 5
        for t in range(n):
            if t == warm:  # the first rounds bring it into the cache
                start = time.process_time()
            k = policy.pull(X, normals[t, :m])
            policy.update(X[k], expected[t, k] + noise[t])
        return (time.process_time() - start) / (n - warm)


class _Loop:
    """A user's loop: `pull` and `update` of one policy."""

    def __init__(self, policy, n_arms, rounds):
        self.policy, self.world = policy, _world(policy.dim, n_arms, rounds)

    def run(self):
        arms, expected, noise, _ = self.world
        X, player = np.ascontiguousarray(arms[0].T), self.policy.clone(0)
        start = time.process_time()
        for t in range(len(noise)):
            k = player.pull(X)
            player.update(X[k], expected[t, k] + noise[t])
        return (time.process_time() - start) / len(noise)


def _world(dim, n_arms, rounds):
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((dim, n_arms))
    arms /= np.linalg.norm(arms, axis=0)
    theta = rng.standard_normal(dim)
    expected = np.tile((theta / np.linalg.norm(theta)) @ arms, (rounds, 1))
    noise = NOISE * rng.standard_normal(rounds)
    arms = packed_copy(arms[None])
    return arms, expected, noise, rng.standard_normal((rounds, dim + 2))


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
    rounds: int = HORIZON,
    repeats: int = 7,
) -> pd.DataFrame:
    """Cost of a round of each algorithm, compiled and reference, in one run.

    Parameters
    ----------
    names : sequence of str
        Class names.
    dims : sequence of int
    n_arms : int, default 48
    rounds : int, default 4000
        Rounds of a compiled run; the reference plays a twentieth of them.
    repeats : int, default 7

    Returns
    -------
    DataFrame
        Columns algorithm, dim, arms, microseconds, reference_microseconds, ratio,
        flops and peak_share (of a dgemm in the same run).
    """
    peak = peak_gflops()
    candidates: dict[Any, Any] = {}
    for dim in dims:
        for name in names:
            policy = make_policy(named, name, dim)
            few = max(50, rounds // 20)
            candidates["compiled", name, dim] = _Compiled(policy, n_arms, rounds)
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
                    "algorithm": getattr(named, name).name,
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
    candidates = {
        case: _Compiled(make_policy(named, name, case[1]), *case[2:]) for case in cases
    }
    seconds = interleaved(candidates, 3)
    return pd.DataFrame(
        [(*case, 1e6 * s) for case, s in seconds.items()],
        columns=["varied", "dim", "arms", "rounds", "microseconds"],
    )


def adaptive_table(
    dims: Sequence[int] = (2, 8), members: int = 8, repeats: int = 5
) -> pd.DataFrame:
    """Cost of a round of the adaptive policies, beside their base alone.

    Parameters
    ----------
    dims : sequence of int
    members : int, default 8
        Discounts of the grid.
    repeats : int, default 5

    Returns
    -------
    DataFrame
        Columns policy, dim, members and microseconds.
    """
    policies = {}
    for dim in dims:
        base = make_policy(named, "WSBLinTS", dim)
        grid = np.append(1.0 - 1.0 / np.geomspace(20, 5000, members - 1), 1.0)
        policies[base.name, dim, 1] = base
        for policy in (
            DiscountMixture(base, discounts=grid),
            BanditOverDiscounts(base, discounts=grid, horizon=HORIZON),
            SurpriseRestart(base),
        ):
            policies[policy.name, dim, len(policy._gamma)] = policy
    candidates = {key: _Compiled(p, ARMS, 2000) for key, p in policies.items()}
    seconds = interleaved(candidates, repeats)
    columns = ["policy", "dim", "members", "microseconds"]
    return pd.DataFrame([(*k, 1e6 * s) for k, s in seconds.items()], columns=columns)


# --- what a user waits for ------------------------------------------------------------

_FIRST = """
import time
start = time.perf_counter()
import numpy as np
import wsbnb
imported = time.perf_counter()
from wsbnb.paper import bench
from wsbnb.policies import named
policy = bench.make_policy(named, {name!r}, 5)
X = np.random.default_rng(0).standard_normal((10, 5))
ready = time.perf_counter()
policy.update(X[policy.pull(X)], 0.1)
print(imported - start, time.perf_counter() - ready)
"""


def waiting_table(names: Sequence[str] = NAMES) -> pd.DataFrame:
    """Seconds until a newcomer has the first answer, each in a process of its own.

    Parameters
    ----------
    names : sequence of str
        Class names.

    Returns
    -------
    DataFrame
        Columns algorithm, import_seconds, first_call_seconds (pull and update with an
        empty cache) and next_process_seconds (the same in the next process).
    """
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            first, again = (_first_call(name, cache) for _ in range(2))
        rows.append((getattr(named, name).name, again[0], first[1], again[1]))
    columns = "algorithm import_seconds first_call_seconds next_process_seconds"
    return pd.DataFrame(rows, columns=columns.split())


def _first_call(name, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "WSBNB_QUIET": "1"}
    command = [sys.executable, "-c", _FIRST.format(name=name)]
    out = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    return tuple(map(float, out.stdout.split()))


def loop_table(dim: int = 5, n_arms: int = 10, rounds: int = 1000) -> pd.DataFrame:
    """Microseconds of `pull` and `update` in a Python loop.

    Parameters
    ----------
    dim, n_arms, rounds : int

    Returns
    -------
    DataFrame
        Columns algorithm, dim, arms and microseconds.
    """
    candidates = {
        name: _Loop(make_policy(named, name, dim), n_arms, rounds) for name in NAMES
    }
    seconds = interleaved(candidates, 5)
    return pd.DataFrame(
        [(getattr(named, k).name, dim, n_arms, 1e6 * s) for k, s in seconds.items()],
        columns=["algorithm", "dim", "arms", "microseconds"],
    )


def paper_seconds(trials: int = 2) -> dict[str, float]:
    """Seconds for both tables of the paper on this machine, from a few trials.

    Parameters
    ----------
    trials : int, default 2

    Returns
    -------
    dict
        trials, seconds and cpu_seconds as measured, and the same for 100 trials.
    """
    cells = [cell.cell for cell in (*table2(trials=trials), *table3(trials=trials))]
    run_cells(cells, trials=1, cache=False)  # compiles what is not compiled yet
    start = time.perf_counter(), time.process_time()
    run_cells(cells, trials=trials, cache=False)
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    scale = 100.0 / trials
    return {
        "trials": trials,
        "seconds": wall,
        "cpu_seconds": cpu,
        "seconds_100_trials": scale * wall,
        "cpu_seconds_100_trials": scale * cpu,
    }


def report(quick: bool = False, as_json: bool = False) -> None:
    """Measure everything and print tables, or JSON.

    Parameters
    ----------
    quick : bool, default False
        Fewer repeats, sizes and policies.
    as_json : bool, default False
        One object of lists of rows: cost, growth, adaptive, loop, waiting, paper.
    """
    repeats, rounds = (3, 1000) if quick else (9, HORIZON)
    tables = {
        "cost": cost_table(repeats=repeats, rounds=rounds),
        "growth": growth_table(quick=quick),
        "adaptive": adaptive_table(repeats=repeats),
        "loop": loop_table(rounds=300 if quick else 2000),
        "waiting": waiting_table(("WSBLinTS",) if quick else NAMES),
        "paper": pd.DataFrame([paper_seconds(2 if quick else 10)]),
    }
    if as_json:
        print(json.dumps({k: v.to_dict("records") for k, v in tables.items()}))
        return
    for name, table in tables.items():
        print(f"{name}\n{table.to_string(index=False, float_format='{:.3g}'.format)}\n")
