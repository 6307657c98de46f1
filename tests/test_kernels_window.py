"""The ring of a window: what it holds, how worn it is, when it is summed up anew."""

import numpy as np
import pytest

from tests.test_posterior import posterior, problem
from wsbnb import weights as rules
from wsbnb.kernels import estimate, memory
from wsbnb.posterior import _NO_CHOICE

LENGTH, NOISE_STD = 6, 0.4


class Dense:
    """The same window by dense formulas, with determinants in place of factors."""

    def __init__(self, mean, cov):
        self.P0, self.rows = np.linalg.inv(cov), [None] * LENGTH
        self.h0, self.head = self.P0 @ mean, 0
        self.kept, self.largest, self.rebuilt = 1.0, abs(self.h0).max(), 0

    def sums(self):
        P, h = self.P0.copy(), self.h0.copy()
        for x, r in filter(None, self.rows):
            P += np.outer(x, x) / NOISE_STD**2
            h += x * r / NOISE_STD**2
        return P, h

    def push(self, row):
        worn = False
        if self.rows[self.head] is not None:
            before = np.linalg.det(self.sums()[0])
            self.rows[self.head] = None
            P, h = self.sums()
            self.kept *= np.linalg.det(P) / before
            worn = self.kept < 1e-3 or abs(h).max() < 1e-3 * self.largest
        self.rows[self.head] = row
        size = abs(self.sums()[1]).max()
        if row is not None:
            self.largest = max(self.largest, size)
        self.head = (self.head + 1) % LENGTH
        if worn or self.head == 0:
            self.kept, self.largest = 1.0, size
            self.rebuilt += worn


def stream(kind, n):
    """Rows and rewards whose sizes differ by orders of magnitude, or cancel."""
    X, rewards, mean, cov = problem(3, n, 2)
    sizes = 10.0 ** np.random.default_rng(5).uniform(-1.5, 1.5, (2, n))
    if kind == "rows":
        X *= sizes[0, :, None]
    elif kind == "rewards":
        rewards *= sizes[1] ** 3
    elif kind == "nothing paid":
        rewards, mean = np.zeros(n), np.zeros(2)
    elif kind == "cancelling":
        X[1::2], rewards[1::2], mean = X[::2], -rewards[::2], np.zeros(2)
    return X, rewards, mean, cov


@pytest.mark.parametrize("kind", ["rows", "rewards", "nothing paid", "cancelling"])
def test_wear_of_a_ring(kind):
    X, rewards, mean, cov = stream(kind, 120)
    post, dense = posterior(mean, cov, rules.SlidingWindow(LENGTH)), Dense(mean, cov)
    idle = np.random.default_rng(6).random(120) < 0.1
    for x, r, waits in zip(X, rewards, idle, strict=True):
        if waits:
            post.decay()
        else:
            post.update(x, r)
        dense.push(None if waits else (x, r))
        ring = post._state.ring
        known = ring.wear[[estimate.HEAD, estimate.KEPT, estimate.LARGEST]]
        expected = [dense.head, dense.kept, dense.largest]
        np.testing.assert_allclose(known, expected, rtol=1e-7, atol=1e-12)
        for s, row in enumerate(dense.rows):
            x, r = (np.zeros(2), 0.0) if row is None else row
            assert (ring.x[s] == x).all() and ring.rewards[s] == r
            assert ring.held[s] == (row is not None)
        P, h = dense.sums()
        np.testing.assert_allclose(post.precision, P, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(post.shift, h, rtol=1e-9, atol=1e-9)
    assert dense.rebuilt > 1 or kind == "nothing paid"


@pytest.mark.parametrize("share, rebuilt", [(1.5e-3, False), (0.5e-3, True)])
@pytest.mark.parametrize("what", ["precision", "shift"])
def test_three_digits_may_go(what, share, rebuilt):
    """One row makes all but this share of P, or of h; then it leaves."""
    if what == "precision":  # P = 1 / share with the row, 1 without it
        mean, x, r = 0.0, NOISE_STD * np.sqrt(1 / share - 1), 0.0
    else:  # h likewise
        mean, x, r = -1.0, 1e-3, -1e3 * NOISE_STD**2 * (1 / share - 1)
    post = posterior([mean], [[1.0]], rules.SlidingWindow(LENGTH))
    assert post._state.ring.wear.tolist() == [0.0, 1.0, abs(mean)]
    rows = np.zeros((LENGTH + 1, 1))
    rows[0] = x
    post.update(rows, np.r_[r, np.zeros(LENGTH)])
    wear = post._state.ring.wear
    kept = 1.0 / (1.0 + x * x / NOISE_STD**2)
    assert wear[estimate.KEPT] == pytest.approx(1.0 if rebuilt else kept, rel=1e-9)
    h = mean if what == "precision" or rebuilt else mean / share
    assert wear[estimate.LARGEST] == pytest.approx(abs(h), rel=1e-9)


@pytest.mark.parametrize("idle", [2, LENGTH, LENGTH + 5])
def test_rounds_before_an_observation(idle):
    """Empty rounds, and then an observation: in one call of the kernel, or in two."""
    X, rewards, mean, cov = problem(4, LENGTH, 2)
    two = posterior(mean, cov, rules.SlidingWindow(LENGTH))
    two.update(X, rewards)
    one = two.copy()
    two.decay(idle)
    assert two.rounds == LENGTH + idle
    two.update(X[0], 2.0)
    one._play(_NO_CHOICE, X[:1, :, None], np.array([[2.0]]), idle + 1.0, 1.0)
    for a, b in zip(memory.arrays_of(one._state), memory.arrays_of(two._state)):
        np.testing.assert_array_equal(a, b)
    assert one.rounds == LENGTH + idle + 1
    dense = Dense(mean, cov)
    for row in [*zip(X, rewards), *idle * [None], (X[0], 2.0)]:
        dense.push(row)
    np.testing.assert_allclose(one.precision, dense.sums()[0], rtol=1e-12)


def test_time_that_passes_before_an_observation():
    """The ring comes round meanwhile, and is summed up: the arm is still to come."""
    X, rewards, mean, cov = stream("rows", 2 * LENGTH)
    post, dense = posterior(mean, cov, rules.SlidingWindow(LENGTH)), Dense(mean, cov)
    for t, (x, r) in enumerate(zip(X, rewards, strict=True)):
        steps = 1 + t % 4
        arms = memory.packed_copy(x[None, :, None])
        post._play(_NO_CHOICE, arms, np.array([[r]]), float(steps), 1.0)
        for _ in range(steps - 1):
            dense.push(None)
        dense.push((x, r))
        P, h = dense.sums()
        np.testing.assert_allclose(post.precision, P, rtol=1e-9)
        np.testing.assert_allclose(post.shift, h, rtol=1e-9)
