"""The kernels as tests call them: compiled with a way in from Python, or plain.

Inner functions are compiled without the code that would let Python call them. Here
they are compiled once more, with it; with ``NUMBA_DISABLE_JIT=1`` they are plain.
"""

import functools

import numba
import numpy as np

from wsbnb.kernels import memory

PLAIN = bool(numba.config.DISABLE_JIT)


@functools.cache
def from_python(function):
    """A compiled inner function that Python may call."""
    if PLAIN:
        return function
    plain = getattr(function, "py_func", function)
    return numba.njit(nogil=True, error_model="numpy")(plain)


def random_precision(rng, d, condition=100.0):
    """A symmetric positive definite matrix with eigenvalues from 1 to `condition`."""
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    P = (basis * np.geomspace(1.0, condition, d)) @ basis.T
    return (P + P.T) / 2


def new_factor(d):
    return memory.new_work(d, 1).factor
