"""Triangular linear algebra in vectors of eight.

A symmetric matrix is kept as the rows of its upper triangle, each from the vector that
holds its diagonal on: the row i of P starts at column ``8 (i // 8)``. Rows are `stride`
long, a multiple of eight, with zeros after column d. A vector, such as h, is one such
row, put below the matrix: *sums* is the array [P; h] of shape (d + 1, stride). Its
factor is an array of d + 3 rows: R with P = R^T R, then z = R^-T h, then one over the
diagonal of R, then a row of scratch.

Arms come transposed, ``X_T`` of shape (d, K): eight arms are the eight lanes of a
vector, so that nothing has to be added up across lanes.
"""

import math

from wsbnb.kernels.compiling import compiled, pasted
from wsbnb.kernels.vectors import (
    LANES,
    get,
    load,
    minus_product,
    plus,
    plus_product,
    splat,
    splat_at,
    store,
    sum_of_lanes,
    times,
)


def stride(d):
    """Length of a row for d dimensions: an odd number of vectors.

    With an even number the rows of a matrix fall on few lines of the cache.
    """
    vectors = (d + LANES - 1) // LANES
    return (vectors | 1) * LANES


@pasted
def row_start(i):
    """First stored column of row i."""
    return i & ~7


@pasted
def _root(f):
    """Square root of a pivot's inverse; below zero P is refused anyway, quietly."""
    return math.sqrt(abs(f))


@compiled
def factorise(sums, d, F, right, row):
    """From the sums [P; .] the factor ``P = R^T R`` and ``z = R^-T h``, h = right[row].

    Returns False when P is not positive definite. Four rows are worked on at a time.
    Their four pivots form a chain of divisions that nothing can shorten; it runs in
    plain numbers while the vectors to the right of it are still being reduced.
    """
    sound = True
    i = 0
    while i + 4 <= d:
        c = row_start(i)
        a0, a1 = load(sums, i, c), load(sums, i + 1, c)
        a2, a3 = load(sums, i + 2, c), load(sums, i + 3, c)
        z = load(right, row, c)
        for j in range(i):
            y = load(F, j, c)
            a0 = minus_product(splat_at(F, j, i), y, a0)
            a1 = minus_product(splat_at(F, j, i + 1), y, a1)
            a2 = minus_product(splat_at(F, j, i + 2), y, a2)
            a3 = minus_product(splat_at(F, j, i + 3), y, a3)
            z = minus_product(splat_at(F, d, j), y, z)
        store(F, i, c, a0)
        store(F, i + 1, c, a1)
        store(F, i + 2, c, a2)
        store(F, i + 3, c, a3)
        p0, q01, q02, q03 = (
            get(F, i, i),
            get(F, i, i + 1),
            get(F, i, i + 2),
            get(F, i, i + 3),
        )
        f0 = 1.0 / p0
        u01, u02, u03 = q01 * f0, q02 * f0, q03 * f0
        p1 = minus_product(u01, q01, get(F, i + 1, i + 1))
        q12 = minus_product(u01, q02, get(F, i + 1, i + 2))
        q13 = minus_product(u01, q03, get(F, i + 1, i + 3))
        f1 = 1.0 / p1
        u12, u13 = q12 * f1, q13 * f1
        p2 = minus_product(u02, q02, get(F, i + 2, i + 2))
        p2 = minus_product(u12, q12, p2)
        q23 = minus_product(u02, q03, get(F, i + 2, i + 3))
        q23 = minus_product(u12, q13, q23)
        f2 = 1.0 / p2
        u23 = q23 * f2
        p3 = minus_product(u03, q03, get(F, i + 3, i + 3))
        p3 = minus_product(u23, q23, minus_product(u13, q13, p3))
        f3 = 1.0 / p3
        sound = sound and p0 > 0.0 and p1 > 0.0 and p2 > 0.0 and p3 > 0.0
        r0, r1, r2, r3 = _root(f0), _root(f1), _root(f2), _root(f3)
        F[d + 1, i] = r0
        F[d + 1, i + 1] = r1
        F[d + 1, i + 2] = r2
        F[d + 1, i + 3] = r3
        store(F, d + 2, c, z)
        z0 = get(F, d + 2, i)
        z1 = minus_product(u01, z0, get(F, d + 2, i + 1))
        z2 = minus_product(u02, z0, get(F, d + 2, i + 2))
        z2 = minus_product(u12, z1, z2)
        z3 = minus_product(u03, z0, get(F, d + 2, i + 3))
        z3 = minus_product(u23, z2, minus_product(u13, z1, z3))
        F[d, i] = z0 * r0
        F[d, i + 1] = z1 * r1
        F[d, i + 2] = z2 * r2
        F[d, i + 3] = z3 * r3
        while True:
            a1 = minus_product(splat(u01), a0, a1)
            a2 = minus_product(splat(u12), a1, minus_product(splat(u02), a0, a2))
            a3 = minus_product(splat(u13), a1, minus_product(splat(u03), a0, a3))
            a3 = minus_product(splat(u23), a2, a3)
            store(F, i, c, times(a0, splat(r0)))
            store(F, i + 1, c, times(a1, splat(r1)))
            store(F, i + 2, c, times(a2, splat(r2)))
            store(F, i + 3, c, times(a3, splat(r3)))
            c += LANES
            if c >= d:
                break
            a0, a1 = load(sums, i, c), load(sums, i + 1, c)
            a2, a3 = load(sums, i + 2, c), load(sums, i + 3, c)
            for j in range(i):
                y = load(F, j, c)
                a0 = minus_product(splat_at(F, j, i), y, a0)
                a1 = minus_product(splat_at(F, j, i + 1), y, a1)
                a2 = minus_product(splat_at(F, j, i + 2), y, a2)
                a3 = minus_product(splat_at(F, j, i + 3), y, a3)
        i += 4
    return _factorise_rest(sums, d, F, right, row, i) and sound


@pasted
def _factorise_rest(sums, d, F, right, row, i):
    """The last one to three rows of `factorise`; they fit into one vector each."""
    sound = True
    c = row_start(i)
    if i + 2 <= d:
        a0, a1 = load(sums, i, c), load(sums, i + 1, c)
        z0, z1 = get(right, row, i), get(right, row, i + 1)
        for j in range(i):
            y, z = load(F, j, c), get(F, d, j)
            a0 = minus_product(splat_at(F, j, i), y, a0)
            a1 = minus_product(splat_at(F, j, i + 1), y, a1)
            z0 = minus_product(get(F, j, i), z, z0)
            z1 = minus_product(get(F, j, i + 1), z, z1)
        store(F, i, c, a0)
        store(F, i + 1, c, a1)
        p0, q01 = get(F, i, i), get(F, i, i + 1)
        f0 = 1.0 / p0
        u01 = q01 * f0
        p1 = minus_product(u01, q01, get(F, i + 1, i + 1))
        f1 = 1.0 / p1
        sound = p0 > 0.0 and p1 > 0.0
        r0, r1 = _root(f0), _root(f1)
        F[d + 1, i], F[d + 1, i + 1] = r0, r1
        F[d, i], F[d, i + 1] = z0 * r0, minus_product(u01, z0, z1) * r1
        a1 = minus_product(splat(u01), a0, a1)
        store(F, i, c, times(a0, splat(r0)))
        store(F, i + 1, c, times(a1, splat(r1)))
        i += 2
    if i < d:
        a0, z0 = load(sums, i, c), get(right, row, i)
        for j in range(i):
            a0 = minus_product(splat_at(F, j, i), load(F, j, c), a0)
            z0 = minus_product(get(F, j, i), get(F, d, j), z0)
        store(F, i, c, a0)
        p0 = get(F, i, i)
        sound = sound and p0 > 0.0
        r0 = _root(1.0 / p0)
        F[d + 1, i], F[d, i] = r0, z0 * r0
        store(F, i, c, times(a0, splat(r0)))
    return sound


@pasted
def solve_arms(F, d, X_T, k, first, Y):
    """``Y = R^-T X_T[:, k:k+8]``, with the means and squared widths it implies.

    With P = R^T R and z = R^-T h the mean scores are ``Y^T z`` and the squared widths
    ``||x||^2`` in P^-1 are the squared column norms of Y: no inverse, no solving back.
    Rows before `first` (a multiple of eight) are taken to be zero.
    """
    means, squares = splat(0.0), splat(0.0)
    i = first
    while i + 4 <= d:
        a0, a1 = load(X_T, i, k), load(X_T, i + 1, k)
        a2, a3 = load(X_T, i + 2, k), load(X_T, i + 3, k)
        for j in range(first, i):
            y = load(Y, j, 0)
            a0 = minus_product(splat_at(F, j, i), y, a0)
            a1 = minus_product(splat_at(F, j, i + 1), y, a1)
            a2 = minus_product(splat_at(F, j, i + 2), y, a2)
            a3 = minus_product(splat_at(F, j, i + 3), y, a3)
        a0 = times(a0, splat_at(F, d + 1, i))
        a1 = minus_product(splat_at(F, i, i + 1), a0, a1)
        a2 = minus_product(splat_at(F, i, i + 2), a0, a2)
        a3 = minus_product(splat_at(F, i, i + 3), a0, a3)
        a1 = times(a1, splat_at(F, d + 1, i + 1))
        a2 = minus_product(splat_at(F, i + 1, i + 2), a1, a2)
        a3 = minus_product(splat_at(F, i + 1, i + 3), a1, a3)
        a2 = times(a2, splat_at(F, d + 1, i + 2))
        a3 = minus_product(splat_at(F, i + 2, i + 3), a2, a3)
        a3 = times(a3, splat_at(F, d + 1, i + 3))
        store(Y, i, 0, a0)
        store(Y, i + 1, 0, a1)
        store(Y, i + 2, 0, a2)
        store(Y, i + 3, 0, a3)
        means = plus_product(splat_at(F, d, i), a0, means)
        means = plus_product(splat_at(F, d, i + 1), a1, means)
        means = plus_product(splat_at(F, d, i + 2), a2, means)
        means = plus_product(splat_at(F, d, i + 3), a3, means)
        squares = plus_product(a1, a1, plus_product(a0, a0, squares))
        squares = plus_product(a3, a3, plus_product(a2, a2, squares))
        i += 4
    if i + 2 <= d:
        a0, a1 = load(X_T, i, k), load(X_T, i + 1, k)
        for j in range(first, i):
            y = load(Y, j, 0)
            a0 = minus_product(splat_at(F, j, i), y, a0)
            a1 = minus_product(splat_at(F, j, i + 1), y, a1)
        a0 = times(a0, splat_at(F, d + 1, i))
        a1 = minus_product(splat_at(F, i, i + 1), a0, a1)
        a1 = times(a1, splat_at(F, d + 1, i + 1))
        store(Y, i, 0, a0)
        store(Y, i + 1, 0, a1)
        means = plus_product(splat_at(F, d, i), a0, means)
        means = plus_product(splat_at(F, d, i + 1), a1, means)
        squares = plus_product(a1, a1, plus_product(a0, a0, squares))
        i += 2
    if i < d:
        a0 = load(X_T, i, k)
        for j in range(first, i):
            a0 = minus_product(splat_at(F, j, i), load(Y, j, 0), a0)
        a0 = times(a0, splat_at(F, d + 1, i))
        store(Y, i, 0, a0)
        means = plus_product(splat_at(F, d, i), a0, means)
        squares = plus_product(a0, a0, squares)
    return means, squares


@compiled
def solve_vector(F, d, v, row):
    """Replace ``b = v[row]`` by ``R^-T b``."""
    for c in range(0, d, LANES):
        a = load(v, row, c)
        for j in range(c):
            a = minus_product(splat_at(v, row, j), load(F, j, c), a)
        store(v, row, c, a)
        stop = min(c + LANES, d)
        for i in range(c, stop):
            v[row, i] = get(v, row, i) * get(F, d + 1, i)
            for j in range(i + 1, stop):
                v[row, j] = minus_product(get(v, row, i), get(F, i, j), get(v, row, j))


@compiled
def solve_back(F, d, v, row):
    """Replace ``b = v[row]``, zero from d on, by ``R^-1 b``."""
    i = d
    while i & 3:
        i -= 1
        b = get(v, row, i)
        for c in range(i + 1, d):
            b = minus_product(get(F, i, c), get(v, row, c), b)
        v[row, i] = b * get(F, d + 1, i)
    while i > 0:
        i -= 4
        b0, b1 = get(v, row, i), get(v, row, i + 1)
        b2, b3 = get(v, row, i + 2), get(v, row, i + 3)
        c = row_start(i) + LANES
        if c < d:
            s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            while c < d:
                y = load(v, row, c)
                s0 = plus_product(load(F, i, c), y, s0)
                s1 = plus_product(load(F, i + 1, c), y, s1)
                s2 = plus_product(load(F, i + 2, c), y, s2)
                s3 = plus_product(load(F, i + 3, c), y, s3)
                c += LANES
            b0, b1 = b0 - sum_of_lanes(s0), b1 - sum_of_lanes(s1)
            b2, b3 = b2 - sum_of_lanes(s2), b3 - sum_of_lanes(s3)
        for c in range(i + 4, min(row_start(i) + LANES, d)):
            y = get(v, row, c)
            b0 = minus_product(get(F, i, c), y, b0)
            b1 = minus_product(get(F, i + 1, c), y, b1)
            b2 = minus_product(get(F, i + 2, c), y, b2)
            b3 = minus_product(get(F, i + 3, c), y, b3)
        b3 *= get(F, d + 1, i + 3)
        b2 = minus_product(get(F, i + 2, i + 3), b3, b2) * get(F, d + 1, i + 2)
        b1 = minus_product(get(F, i + 1, i + 3), b3, b1)
        b1 = minus_product(get(F, i + 1, i + 2), b2, b1) * get(F, d + 1, i + 1)
        b0 = minus_product(get(F, i, i + 3), b3, b0)
        b0 = minus_product(get(F, i, i + 2), b2, b0)
        b0 = minus_product(get(F, i, i + 1), b1, b0) * get(F, d + 1, i)
        v[row, i], v[row, i + 1], v[row, i + 2], v[row, i + 3] = b0, b1, b2, b3


@pasted
def project(X_T, k, v, row, d):
    """``theta^T X_T[:, k:k+8]`` for ``theta = v[row]``, in four sums side by side."""
    s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    i = 0
    while i + 4 <= d:
        s0 = plus_product(splat_at(v, row, i), load(X_T, i, k), s0)
        s1 = plus_product(splat_at(v, row, i + 1), load(X_T, i + 1, k), s1)
        s2 = plus_product(splat_at(v, row, i + 2), load(X_T, i + 2, k), s2)
        s3 = plus_product(splat_at(v, row, i + 3), load(X_T, i + 3, k), s3)
        i += 4
    while i < d:
        s0 = plus_product(splat_at(v, row, i), load(X_T, i, k), s0)
        i += 1
    return plus(plus(s0, s1), plus(s2, s3))


@pasted
def dot(a, i, b, j, d):
    """Inner product of two rows."""
    total = 0.0
    for c in range(d):
        total = plus_product(get(a, i, c), get(b, j, c), total)
    return total
