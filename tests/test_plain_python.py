"""With the compiler switched off, the kernels are Python, and give the same numbers.

Some tests try all pairs of types only here, where a pair costs nothing. Compiled, they
try enough of them to meet every type: see `PLAIN` in `kernels.py`.
"""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: Files, and which of their tests run once more without the compiler.
FILES = {
    "kernels": "",
    "kernels_bank": "",
    "kernels_penalty": "",
    "kernels_vectors": "",
    "exploration": "",
    "adaptive": "one_expert or members_learn or evidence_equals or statistic_equals",
    "adaptive_interface": "of_a_mixture",
    "check_policy": "compositions",
    "adaptive_files": "keeps_every_bit",
}


def run(*command, **variables):
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("name", FILES)
def test_plain_python(name):
    plugins = ("cacheprovider", "xdist", "nbmake")  # the last takes seconds to import
    options = ["-q", "-x", *(f"-pno:{plugin}" for plugin in plugins)]
    command = [sys.executable, "-m", "pytest", *options, f"tests/test_{name}.py"]
    command += ["-k", FILES[name]]
    done = run(*command, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert " passed" in done.stdout


def test_every_file_that_asks_is_run():
    """Whoever tries more without the compiler is on the list."""
    asking = {
        path.stem.removeprefix("test_")
        for path in (ROOT / "tests").glob("test_*.py")
        if " if PLAIN" in path.read_text(encoding="utf-8")
    }
    assert asking - {"plain_python"} <= set(FILES)
    assert {"kernels", "exploration", "adaptive"} <= asking


def test_compiled_and_plain_agree():
    """A policy, a bank of members and a fit without the compiler: the same answers."""
    code = (
        "import numpy as np, wsbnb\n"
        "prior = dict(prior_mean=[0, 0], prior_cov=1, noise_std=0.5, discount=0.9)\n"
        "base = wsbnb.WSBLinTS(**prior)\n"
        "env = wsbnb.paper_environment('abrupt', 2, horizon=60, n_arms=5)\n"
        "chosen = [base, wsbnb.DiscountMixture(base), wsbnb.DLinUCB(dim=2,"
        " regularization=1, discount=0.9, noise_std=0.5)]\n"
        "r = wsbnb.simulate(chosen, env, trials=2, progress=False, n_jobs=1)\n"
        "rng = np.random.default_rng(0)\n"
        "fit = wsbnb.fit_log(rng.normal(size=(30, 2)), rng.normal(size=30))\n"
        "print(*r.regret.sum(axis=(0, 2)), fit.noise_std, fit.discount)"
    )
    compiled, plain = (
        run(sys.executable, "-c", code, NUMBA_DISABLE_JIT=off) for off in ("0", "1")
    )
    assert plain.returncode == 0, plain.stderr
    numbers = [list(map(float, done.stdout.split())) for done in (compiled, plain)]
    assert len(numbers[0]) == 5
    # Products and sums are rounded once here and twice there.
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)
