"""Kernels called from inside another compiled function."""

import numba
import numpy as np

from tests import zoo
from wsbnb import kernels


@numba.njit
def compiled_caller(P, h, x, arms):
    kernels.add_observation(P, h, x, 2.0, 4.0)
    A = np.empty((2, 3))
    A[:, :2] = P
    A[:, 2] = h
    ok = kernels.eliminate(A, 3)
    y = A[:, 2].copy()
    kernels.back_substitute(A, y)
    scores = np.empty(arms.shape[1])
    kernels.project(arms, y, scores)
    return ok, y, kernels.best_arm(scores)


def test_kernels_run_inside_compiled_code():
    P, h, x = np.diag([2.0, 3.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0])
    ok, y, k = compiled_caller(
        P.copy(), h.copy(), x, np.array([[1.0, 0.0], [0.0, 2.0]])
    )
    V, b = P + 4.0 * np.outer(x, x), h + 8.0 * x
    assert ok
    np.testing.assert_allclose(y, np.linalg.solve(V, b), rtol=1e-13)
    assert k == int(np.argmax([y[0], 2 * y[1]]))


@numba.njit
def compiled_rounds(rule, state, X_T, normals, work, rounds):
    total = 0
    for _ in range(rounds):
        k = kernels.choose(rule, state, X_T, normals, work)
        kernels.observe(rule, state, np.ascontiguousarray(X_T[:, k]), 0.5)
        total += k
    return total


def test_a_round_runs_inside_compiled_code():
    one, two = zoo.make("WSBLinUCB", 2), zoo.make("WSBLinUCB", 2)
    X_T = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    work, none = kernels.make_work(2, 3), np.empty(0)
    total = compiled_rounds(one._rule, one._state, X_T, none, work, 12)
    expected = 0
    for _ in range(12):
        k = two.pull(X_T.T)
        two.update(X_T[:, k], 0.5)
        expected += k
    assert total == expected
    np.testing.assert_allclose(one._state.P, two._state.P, rtol=1e-13)
