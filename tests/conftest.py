"""Settings for all tests."""

import os

# Test processes fill the cores already; more threads in BLAS only slow them down.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("MPLBACKEND", "agg")
