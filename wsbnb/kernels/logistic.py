"""A weighted logistic estimate in a ball that is made afresh from the whole past."""

import math

import numpy as np

from wsbnb.kernels.compiling import compiled, entry


@compiled
def _derivatives(x, paid, weights, ridge, theta, g, H):
    """``g = ridge theta + sum w (p - r) x`` and its derivative H.

    `x` (n, d), `paid` and `weights` (n,); p is the chance of a click at `theta` (d,).
    """
    d = theta.size
    for i in range(d):
        g[i] = ridge * theta[i]
        for j in range(d):
            H[i, j] = ridge if i == j else 0.0
    for s in range(paid.size):
        eta = 0.0
        for i in range(d):
            eta += x[s, i] * theta[i]
        p = 0.5 * (1.0 + math.tanh(0.5 * eta))
        pull, bend = weights[s] * (p - paid[s]), weights[s] * p * (1.0 - p)
        for i in range(d):
            g[i] += pull * x[s, i]
            for j in range(i, d):
                H[i, j] += bend * x[s, i] * x[s, j]
    for i in range(d):
        for j in range(i):
            H[i, j] = H[j, i]


@compiled
def _length(u):
    return math.sqrt(np.sum(u * u))


@compiled
def _on_sphere(M, q, S):
    """The minimiser of ``u M u / 2 - q u`` on the sphere of radius S."""
    m, Q = np.linalg.eigh(M)
    p = np.dot(np.ascontiguousarray(Q.T), q)
    nu = 0.0
    for _ in range(100):  # Newton on 1 / |u|, which never steps too far
        u = p / (m + nu)
        size = _length(u)
        ahead = (size - S) / S * size**2 / np.sum(u * u / (m + nu))
        nu += ahead
        if ahead <= 1e-12 * nu:
            break
    u = p / (m + nu)
    return np.dot(Q, u * (S / _length(u)))


@compiled
def _target(W, theta, g, H, S):
    """The point of the ball at which the linearised g is shortest."""
    free = theta - np.linalg.solve(H, g)
    if _length(free) <= S:
        return free
    HW = np.dot(H, W)
    return _on_sphere(np.dot(HW, H), np.dot(HW, np.dot(H, theta) - g), S)


@entry
def estimate_in_ball(x, paid, weights, ridge, W, S, theta, tolerance):
    """Move `theta` to where ``g W g`` is smallest in the ball of radius S.

    Gauss-Newton steps from the `theta` given, each shortened until the norm has fallen.
    """
    d = theta.size
    g, H = np.empty(d), np.empty((d, d))
    _derivatives(x, paid, weights, ridge, theta, g, H)
    for _ in range(100):
        towards = _target(W, theta, g, H, S) - theta
        if _length(towards) <= tolerance * (1.0 + _length(theta)):
            return
        before, share = np.dot(g, np.dot(W, g)), 1.0
        while share > 1e-8:
            _derivatives(x, paid, weights, ridge, theta + share * towards, g, H)
            if np.dot(g, np.dot(W, g)) <= before:
                break
            share *= 0.5
        theta += share * towards
