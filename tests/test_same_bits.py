"""The process that compiles and those that find its code on disk compute the same bits.

Compiled code that may round ``a b + c`` once or twice, as it likes, is not the same in
both: the first keeps functions apart that the second finds pasted together.
"""

import subprocess
import sys

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
