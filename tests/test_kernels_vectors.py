"""Vectors of eight against the NumPy lines that they stand for."""

import re

import numba
import numpy as np
import pytest

from tests.kernels import PLAIN
from wsbnb.kernels import memory, vectors
from wsbnb.kernels.estimate import Work

compiled = pytest.mark.skipif(PLAIN, reason="this is about compiled code")


def registers(function):
    """Compile a function of vectors into one that stores its result."""
    return numba.njit(function)


@pytest.fixture
def table():
    return np.random.default_rng(0).standard_normal((3, 20))


def test_load_store_get(table):
    @registers
    def move(source, target):
        vectors.store(target, 1, 3, vectors.load(source, 2, 11))
        return vectors.get(source, 1, 19)

    target = np.zeros((2, 12))
    assert move(table, target) == table[1, 19]
    expected = np.zeros((2, 12))
    expected[1, 3:11] = table[2, 11:19]
    assert (target == expected).all()


def test_arithmetic(table):
    @registers
    def work(A, out):
        a, b, c = vectors.load(A, 0, 1), vectors.load(A, 1, 2), vectors.load(A, 2, 3)
        vectors.store(out, 0, 0, vectors.plus_product(a, b, c))
        vectors.store(out, 1, 0, vectors.minus_product(a, b, c))
        vectors.store(out, 2, 0, vectors.times(a, b))
        vectors.store(out, 3, 0, vectors.plus(a, b))
        vectors.store(out, 4, 0, vectors.root(vectors.times(a, a)))
        vectors.store(out, 5, 0, vectors.larger(a, b))
        vectors.store(out, 6, 0, vectors.splat(2.5))
        vectors.store(out, 7, 0, vectors.splat_at(A, 2, 19))
        return vectors.sum_of_lanes(a), vectors.largest_lane(b)

    out = np.zeros((8, 8))
    total, largest = work(table, out)
    a, b, c = table[0, 1:9], table[1, 2:10], table[2, 3:11]
    expected = [c + a * b, c - a * b, a * b, a + b, np.abs(a), np.maximum(a, b)]
    expected += [np.full(8, 2.5), np.full(8, table[2, 19])]
    np.testing.assert_allclose(out, expected, rtol=1e-15, atol=1e-16)
    assert total == vectors.sum_of_lanes(a) == pytest.approx(a.sum(), rel=1e-14)
    assert largest == b.max()


def test_numbers_are_rounded_once_too(table):
    @registers
    def work(a, b, c):
        return vectors.plus_product(a, b, c), vectors.minus_product(a, b, c)

    @registers
    def lanes(A, out):
        a, b, c = vectors.load(A, 0, 0), vectors.load(A, 1, 0), vectors.load(A, 2, 0)
        vectors.store(out, 0, 0, vectors.plus_product(a, b, c))
        vectors.store(out, 1, 0, vectors.minus_product(a, b, c))

    out = np.zeros((2, 8))
    lanes(table, out)
    for lane in range(8):
        a, b, c = table[:, lane]
        assert work(a, b, c) == tuple(out[:, lane])
        np.testing.assert_allclose(work(a, b, c), (c + a * b, c - a * b), rtol=1e-13)


@pytest.mark.parametrize("bound, lane", [(0.5, 2), (1.0, 2), (7.0, 5), (8.0, 8)])
def test_first_at_least(bound, lane):
    @registers
    def find(A, bound):
        return vectors.first_at_least(vectors.load(A, 0, 0), bound)

    row = np.array([[0.0, -1.0, 1.0, 1.0, np.nan, 7.0, 7.0, 0.0]])
    assert find(row, bound) == lane


def test_larger_ignores_what_is_not_a_number():
    @registers
    def pick(A, out):
        vectors.store(
            out, 0, 0, vectors.larger(vectors.load(A, 0, 0), vectors.splat(2.0))
        )

    out = np.zeros((1, 8))
    pick(np.array([[np.nan, 1.0, 3.0, -np.inf, np.inf, 2.0, 0.0, 5.0]]), out)
    assert out[0].tolist() == [2.0, 2.0, 3.0, 2.0, np.inf, 2.0, 2.0, 5.0]


@compiled
def test_a_product_and_a_sum_are_one_instruction():
    """What is stored as eight numbers is worked on as one register."""

    @numba.njit
    def one(A):
        x = vectors.load(A, 0, 0)
        vectors.store(A, 1, 0, vectors.plus_product(x, x, x))

    one(np.zeros((2, 8)))
    (text,) = one.inspect_llvm().values()
    assert "fmuladd.v8f64" in text and "<8 x double>" in text
    # Rows of a user's arms begin anywhere: more must not be promised.
    moved = re.findall(r"(?:load|store) <8 x double>.* align (\d+)", text)
    assert len(moved) == 2 and set(moved) == {"8"}


@compiled
def test_borrowed_arrays_are_not_counted():
    """Counting references inside the loop is what `borrowed` is there to avoid."""

    def total(work, borrow):
        @numba.njit
        def inner(work):
            arrays = vectors.borrowed(work) if borrow else work
            s = 0.0
            for i in range(100):
                row = arrays.spare[i % 2]
                s += row[0, 0] + arrays.factor[0, 0]
            return s

        assert inner(work) == 0.0
        (text,) = inner.inspect_llvm().values()
        return text.count("call void @NRT_incref")

    work = memory.new_work(3, 4, spare=2)
    assert isinstance(work, Work)
    assert total(work, True) == 0


def test_borrowed_is_the_same_array_in_python():
    array = np.zeros(3)
    assert vectors.borrowed(array) is array


def test_a_vector_keeps_what_was_loaded(table):
    @registers
    def exchange(A):
        first, second = vectors.load(A, 0, 0), vectors.load(A, 1, 0)
        vectors.store(A, 0, 0, second)
        vectors.store(A, 1, 0, first)

    given = table.copy()
    exchange(table)
    assert (table[:2, :8] == given[1::-1, :8]).all()


def test_a_vector_that_changes_in_a_loop(table):
    @registers
    def highest(A, out):
        top = vectors.splat(-9.0)
        for i in range(A.shape[0]):
            if A[i, 0] > -9.0:
                top = vectors.larger(vectors.load(A, i, 0), top)
        vectors.store(out, 0, 0, top)

    out = np.zeros((1, 8))
    highest(table, out)
    assert (out[0] == table[:, :8].max(axis=0)).all()


def test_places_of_any_kind_of_whole_number(table):
    @registers
    def move(A, out, i, c):
        vectors.store(out, i, c, vectors.load(A, i, c))
        return vectors.get(A, i, c)

    for kind in (np.int32, np.uint8, np.int64):
        out = np.zeros_like(table)
        assert move(table, out, kind(1), kind(5)) == table[1, 5]
        assert (out[1, 5:13] == table[1, 5:13]).all()


def test_a_single_array_may_be_borrowed(table):
    @registers
    def first(A):
        return vectors.borrowed(A)[0, 0]

    assert first(table) == table[0, 0]
