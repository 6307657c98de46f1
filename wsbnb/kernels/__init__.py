"""Everything that is compiled: one round of a linear bandit, and many of them.

Numbers and arrays in, numbers and arrays out. There is no randomness here (normals are
given), no input or output, and nothing is allocated in a round. The same source runs
uncompiled with ``NUMBA_DISABLE_JIT=1``. Letters are the paper's.

- `vectors`: eight numbers at once;
- `linear`: triangular linear algebra in vectors;
- `estimate`: what is known, how it is forgotten and learnt;
- `explore`: what an arm is worth;
- `rounds`: the round, played once or many times;
- `bank`: many estimates of one parameter;
- `fleet`: many users, each with a parameter of its own;
- `logistic`: a weighted logistic estimate in a ball, from the whole past;
- `memory`: arrays in the form that the kernels want;
- `compiling`: options, choice by type, the cache.
"""
