"""Settings for all tests."""

import os

import matplotlib as mpl

# Test processes fill the cores already; more threads in BLAS only slow them down.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Not through MPLBACKEND: the kernels of nbmake would inherit it, and the book that is
# built from what they ran would have no pictures.
mpl.use("agg")
