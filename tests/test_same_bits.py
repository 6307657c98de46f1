"""The same bits in every process and on every processor.

Compiled code that may round ``a b + c`` once or twice, as it likes, is not the same in
the process that compiles and in those that find its code on disk: the first keeps
functions apart that the others find pasted together. And a world that is drawn with
the help of BLAS differs where registers are wider.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels import PLAIN

PROGRAM = """
import hashlib
import numpy as np
import wsbnb

rng = np.random.default_rng(0)
who, X = rng.integers(0, 6, 300), rng.standard_normal((300, 5, 3))
template = wsbnb.WSBLinTS(
    prior_mean=[0.1, -0.2, 0.3], prior_cov=0.7, noise_std=0.4, discount=0.93
)
fleet = wsbnb.Fleet(template, users=6, rng=1)
chosen = fleet.pull(who, X)
fleet.update(who, X[np.arange(300), chosen], rng.standard_normal(300))
for x, reward in zip(X[:, 0], rng.standard_normal(300)):
    template.update(x, reward)
found = fleet.mean(), template.posterior.mean, template.posterior.cov
print(hashlib.sha256(b"".join(part.tobytes() for part in found)).hexdigest())
"""


@pytest.mark.skipif(PLAIN, reason="this is about compiled code")
def test_first_and_later_runs_agree(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("WSBNB_QUIET", "1")
    command = [sys.executable, "-c", PROGRAM]
    first, later = (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbc")), "the first run kept nothing"
    assert first == later


WORLDS = """
import hashlib, json
import wsbnb.environments as we

paths = {
    "abrupt": we.AbruptPath(we.OrthogonalAnchors(4)),
    "slow": we.SlowPath(we.OrthogonalAnchors(4)),
    "closed": we.SlowPath(we.RandomAnchors(3), closed=True),
    "still": we.StationaryPath(),
    "walk": we.RandomWalkPath(0.05),
    "reverting": we.MeanRevertingPath(reach=0.5, relaxation=30.0),
    "one": we.OneCoordinatePath(cycles=3.0),
    "chained": we.ChainedPath((we.RandomWalkPath(0.1), we.StationaryPath())),
}
found = {}
for name, path in paths.items():
    for dim in (2, 6, 33):
        arms = we.FixedArms(9) if dim < 9 else we.RedrawnArms(9)
        env = we.Environment(path, arms, we.GaussianNoise(0.4), 90, dim)
        world, digest = env.world(7), hashlib.sha256()
        for block in world.blocks(90):
            for part in (block.theta, block.arms, block.noise):
                digest.update(part.tobytes())
        digest.update(repr(float(world.variation)).encode())
        found[f"{name} {dim}"] = digest.hexdigest()[:16]
print(json.dumps(found))
"""
KEPT = Path(__file__).parent / "fixtures" / "worlds.json"


def drawn(**variables):
    done = subprocess.run(
        [sys.executable, "-c", WORLDS],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="sines of another library of mathematics may differ in their last bits",
)
@pytest.mark.parametrize("core", [None, "Nehalem", "Sandybridge", "Prescott"])
def test_worlds_do_not_depend_on_the_processor(core):
    """The digests were made on a processor with AVX2, and not with AVX-512.

    If this fails after a change of the worlds, print `drawn()` into the fixture, and
    make the record of the long run again.
    """
    variables = {} if core is None else {"OPENBLAS_CORETYPE": core}
    if core == "Prescott":  # nothing that came after the first machines of 64 bits
        variables["NPY_DISABLE_CPU_FEATURES"] = "X86_V3"
    assert drawn(**variables) == json.loads(KEPT.read_text())
