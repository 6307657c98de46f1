"""Trials on a real Dask cluster of two processes, through joblib and nothing else."""

import os
import pathlib
import signal
import time

import joblib
import numpy as np
import pytest

import wsbnb

distributed = pytest.importorskip(
    "distributed", reason="needs dask[distributed] (pip install wsbnb[cluster])"
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    # Dask closes its sockets late when a worker was killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*:UserWarning:distributed"),
]

TRIALS = 12
RIDGE = {"regularization": 1.0, "discount": 0.95, "noise_std": 0.4}


@pytest.fixture
def client(tmp_path):
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path),
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def environment():
    return wsbnb.paper_environment("abrupt", 3, horizon=300, n_arms=6)


def policies():
    prior = dict(prior_mean=np.zeros(3), prior_cov=np.eye(3))
    return {
        "UCB": wsbnb.WSBLinUCB(
            **prior, noise_std=0.4, discount=0.95, delta=0.1, horizon=9
        ),
        "TS": wsbnb.WSBLinTS(**prior, noise_std=0.4, discount=0.95),
        "mixed": wsbnb.DiscountMixture(
            wsbnb.WSBLinTS(**prior, noise_std=0.4, discount=0.95)
        ),
        "made": lambda world: wsbnb.DLinTS(dim=world.dim, **RIDGE),
    }


def simulate(chosen, **options):
    return wsbnb.simulate(
        chosen, environment(), trials=TRIALS, seed=3, progress=False, **options
    )


def assert_same(one, other):
    assert len(one.regret)
    np.testing.assert_array_equal(one.regret, other.regret)


def test_same_bits_as_one_process(client):
    expected = simulate(policies(), n_jobs=1)
    with joblib.parallel_config(backend="dask"):
        assert_same(simulate(policies(), n_jobs=-1), expected)


def test_the_work_is_done_by_both_workers(client, tmp_path):
    folder = tmp_path / "seen"
    folder.mkdir()
    with joblib.parallel_config(backend="dask"):
        simulate({"x": noting(folder, pause=0.05)}, n_jobs=-1)
    workers = {path.name.split("-")[0] for path in folder.iterdir()}
    assert len(workers) == 2 and str(os.getpid()) not in workers


def noting(folder, pause):
    """A factory that leaves a note with its process and takes its time."""
    folder = str(folder)

    def factory(world):
        trial = world.seed.spawn_key[0]
        pathlib.Path(folder, f"{os.getpid()}-{trial}").touch()
        time.sleep(pause)
        return wsbnb.DLinTS(dim=world.dim, **RIDGE)

    return factory


def test_no_worker_is_the_only_one_that_holds_a_part(client, monkeypatch):
    """What joblib scatters dies with the worker that it was given to."""
    scattered, scatter = [], client.scatter

    def noted(data, **options):
        scattered.append(type(data))
        return scatter(data, **options)

    monkeypatch.setattr(client, "scatter", noted)
    with joblib.parallel_config(backend="dask"):
        simulate(policies(), n_jobs=-1)
        joblib.Parallel(n_jobs=2)(joblib.delayed(np.sum)(np.ones(300)) for _ in "ab")
    assert scattered == [np.ndarray] * 2  # those of the second call


def test_a_killed_worker_loses_nothing(client, tmp_path):
    """SIGKILL to one worker in the middle of the run."""
    folder = tmp_path / "seen"
    folder.mkdir()
    expected = simulate({"x": noting(folder, pause=0.0)}, n_jobs=1)
    for path in folder.iterdir():
        path.unlink()
    client.run(lambda: wsbnb.Uniform(dim=2).pull(np.eye(2)))  # imports and compiles

    def assassin(world):
        notes = list(pathlib.Path(str(folder)).iterdir())
        if world.seed.spawn_key[0] == 5 and not killed.exists():
            assert len(notes) > 1  # others have begun
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return noting(folder, pause=0.1)(world)

    killed = tmp_path / "killed"
    with joblib.parallel_config(backend="dask"):
        survived = simulate({"x": assassin}, n_jobs=-1)
    assert killed.exists()
    assert survived.trials.tolist() == list(range(TRIALS))
    assert not survived.interrupted
    assert_same(survived, expected)
