"""What is promised to several threads: one policy may be used by all of them.

`pull` and `update` take turns, so that nothing is lost and no half-learnt state is
seen. The order of the turns is not promised.
"""

import threading

import numpy as np
import pytest

import wsbnb
from tests import zoo

THREADS, ROUNDS = 6, 60


def in_threads(work):
    """Run ``work(i)`` in several threads at once; raise what one of them raises."""
    start, failures = threading.Barrier(THREADS), []

    def guarded(i):
        start.wait()
        try:
            work(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("name", ["WSBLinTS", "WSBLinUCB", "DLinUCB"])
@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_no_update_is_lost_under_load(name):
    """Without forgetting the order does not matter: the sums are those of all rows."""
    policy = zoo.make(name, discount=1.0)
    policy.pull(np.eye(3))  # compiled before the race
    X, rewards = zoo.problem(1, THREADS * ROUNDS, 3, 1)
    X, rewards = X[:, 0], rewards[:, 0]

    def work(i):
        for t in range(i, len(X), THREADS):
            assert 0 <= policy.pull(X[t : t + 5]) < 5
            policy.update(X[t], rewards[t])
            assert np.isfinite(policy.scores(np.eye(3))).all()

    in_threads(work)
    post = policy.posterior
    assert post.rounds == post.weight_sum == len(X)
    one = zoo.make(name, discount=1.0)
    one.update(X, rewards)
    np.testing.assert_allclose(post.precision, one.posterior.precision, rtol=1e-9)
    np.testing.assert_allclose(post.shift, one.posterior.shift, rtol=1e-7, atol=1e-9)


@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_files_written_meanwhile_are_whole(tmp_path):
    """A save in the middle of it all holds a state between two rounds."""
    policy = zoo.make("WSBLinUCB")
    policy.pull(np.eye(3))
    X, rewards = zoo.problem(2, ROUNDS, 3, 1)

    def work(i):
        for t in range(ROUNDS):
            policy.pull(X[t])
            policy.update(X[t, 0], rewards[t, 0])
            if t % 10 == i:
                policy.save(tmp_path / f"{i}.json")

    in_threads(work)
    for i in range(THREADS):
        stored = wsbnb.load(tmp_path / f"{i}.json")
        assert stored.rounds == int(stored.rounds) <= policy.rounds
        stored.pull(np.eye(3))
    assert policy.rounds == THREADS * ROUNDS


def test_draws_are_not_shared_out_twice():
    """Every pull takes the next normals: together they are those of one thread."""
    policy, alone = zoo.make("WSBLinTS", rng=3), zoo.make("WSBLinTS", rng=3)
    arms = np.random.default_rng(0).standard_normal((40, 3))
    found = [None] * THREADS
    policy.scores(arms)

    def work(i):
        found[i] = [policy.pull(arms) for _ in range(ROUNDS)]

    in_threads(work)
    expected = [alone.pull(arms) for _ in range(THREADS * ROUNDS)]
    assert sorted(sum(found, [])) == sorted(expected)
    assert policy._rng.bit_generator.state == alone._rng.bit_generator.state
