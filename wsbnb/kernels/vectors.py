"""Eight numbers at once: the vector registers of the processor as a Numba type.

Each function here is two things. In plain Python it is the NumPy line that one reads,
on an array of eight. In compiled code the same call becomes one instruction on a
register of eight doubles (two or four narrower ones where the processor has no such
register; LLVM takes care of that). The arrays are two-dimensional and contiguous, rows
are never left, and indices are never negative: nothing is checked.
"""

import inspect

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import (
    lower_builtin,
    models,
    register_model,
    type_callable,
)

#: Numbers in a vector.
LANES = 8

_DOUBLE = ir.DoubleType()
_INT = ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class _VectorType(types.Type):
    def __init__(self):
        super().__init__(name="float64x8")


_vector = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


def _becomes(build, result, *kinds):
    """Decorator: what a call of this plain function becomes in compiled code.

    `build` makes the instructions; `result` and `kinds` are Numba's types of what comes
    out and goes in.
    """

    def decorate(plain):
        def typer(*arguments):
            return result

        typer.__signature__ = inspect.signature(plain)  # Numba counts the arguments
        type_callable(plain)(lambda context: typer)
        _lower(build, plain, *kinds)
        return plain

    return decorate


def _becomes_fused(build):
    """The same for a function of three vectors or three numbers, like ``a b + c``."""

    def decorate(plain):
        def typer(a, b, c):
            return _vector if c == _vector else types.float64

        type_callable(plain)(lambda context: typer)
        _lower(build, plain, *3 * [_VectorType])
        _lower(build, plain, *3 * [types.Float])
        return plain

    return decorate


def _lower(build, plain, *kinds):
    @lower_builtin(plain, *kinds)
    def lowered(context, builder, signature, arguments):
        value = build(context, builder, signature, arguments)
        return context.get_dummy_value() if value is None else value


# --- how the instructions are made ----------------------------------------------------


def _place(context, builder, signature, arguments):
    """Pointer to ``array[i, c]``."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    index = [
        context.cast(builder, value, kind, types.intp)
        for value, kind in zip(arguments[1:3], signature.args[1:3], strict=True)
    ]
    width = cgutils.unpack_tuple(builder, array.shape)[1]
    offset = builder.add(builder.mul(index[0], width, flags=("nsw",)), index[1])
    return builder.gep(array.data, [offset], inbounds=True)


def _as_vector(builder, pointer):
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _repeat(builder, number):
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, _INT(0))
    zeros = ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, zeros)


def _library(name, result, *kinds):
    """A function of LLVM's own by its name."""

    def call(builder, arguments, fastmath=()):
        kind = ir.FunctionType(result, kinds)
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, arguments, fastmath=fastmath)

    return call


_fused_vectors = _library("llvm.fmuladd.v8f64", _VECTOR, _VECTOR, _VECTOR, _VECTOR)
_fused_numbers = _library("llvm.fmuladd.f64", _DOUBLE, _DOUBLE, _DOUBLE, _DOUBLE)
_sqrt = _library("llvm.sqrt.v8f64", _VECTOR, _VECTOR)
_reduce_max = _library("llvm.vector.reduce.fmax.v8f64", _DOUBLE, _VECTOR)
_count_zeros = _library("llvm.cttz.i32", _INT, _INT, ir.IntType(1))


def _load(context, builder, signature, arguments):
    place = _place(context, builder, signature, arguments)
    value = builder.load(_as_vector(builder, place))
    value.align = 8  # rows of a user's arms start anywhere
    return value


def _store(context, builder, signature, arguments):
    place = _place(context, builder, signature, arguments)
    builder.store(arguments[3], _as_vector(builder, place)).align = 8


def _get(context, builder, signature, arguments):
    return builder.load(_place(context, builder, signature, arguments))


def _splat_at(context, builder, signature, arguments):
    return _repeat(builder, _get(context, builder, signature, arguments))


def _splat(context, builder, signature, arguments):
    number = context.cast(builder, arguments[0], signature.args[0], types.float64)
    return _repeat(builder, number)


def _plus_product(context, builder, signature, arguments):
    fused = _fused_vectors if signature.return_type == _vector else _fused_numbers
    return fused(builder, arguments)


def _minus_product(context, builder, signature, arguments):
    negative = [builder.fneg(arguments[0]), *arguments[1:]]
    return _plus_product(context, builder, signature, negative)


def _times(context, builder, signature, arguments):
    return builder.fmul(*arguments)


def _plus(context, builder, signature, arguments):
    return builder.fadd(*arguments)


def _root(context, builder, signature, arguments):
    return _sqrt(builder, arguments)


def _largest_lane(context, builder, signature, arguments):
    return _reduce_max(builder, arguments, ("nnan",))


def _sum_of_lanes(context, builder, signature, arguments):
    total = arguments[0]
    for width in (4, 2, 1):
        order = [(lane + width) % LANES for lane in range(LANES)]
        moved = ir.Constant(ir.VectorType(_INT, LANES), order)
        total = builder.fadd(total, builder.shuffle_vector(total, total, moved))
    return builder.extract_element(total, _INT(0))


def _larger(context, builder, signature, arguments):
    above = builder.fcmp_ordered(">", *arguments)
    return builder.select(above, *arguments)


def _first_at_least(context, builder, signature, arguments):
    reached = builder.fcmp_ordered(">=", arguments[0], _repeat(builder, arguments[1]))
    bits = builder.zext(builder.bitcast(reached, ir.IntType(LANES)), _INT)
    bits = builder.or_(bits, _INT(1 << LANES))  # found after the last lane at least
    found = _count_zeros(builder, [bits, ir.IntType(1)(1)])
    return builder.zext(found, ir.IntType(64))


def _without_owner(context, builder, signature, arguments):
    return _disowned(context, builder, signature.args[0], arguments[0])


def _disowned(context, builder, kind, value):
    """An array, or the arrays in a tuple, as if nobody owned them."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind.types):
            old = builder.extract_value(value, i)
            new = _disowned(context, builder, part, old)
            value = builder.insert_value(value, new, i)
    return value


# --- what one calls -------------------------------------------------------------------


@_becomes(_load, _vector, types.Array, types.Integer, types.Integer)
def load(array, i, c):
    """The eight numbers from ``array[i, c]`` on."""
    return array[i, c : c + LANES].copy()


@_becomes(_store, types.void, types.Array, types.Integer, types.Integer, _VectorType)
def store(array, i, c, vector):
    """Put a vector at ``array[i, c]`` and the seven places after it."""
    array[i, c : c + LANES] = vector


@_becomes(_get, types.float64, types.Array, types.Integer, types.Integer)
def get(array, i, c):
    """``array[i, c]`` without the question whether an index counts from the end."""
    return array[i, c]


@_becomes(_splat_at, _vector, types.Array, types.Integer, types.Integer)
def splat_at(array, i, c):
    """``array[i, c]`` eight times."""
    return np.full(LANES, array[i, c])


@_becomes(_splat, _vector, types.Float)
def splat(number):
    """The same number eight times."""
    return np.full(LANES, number)


@_becomes_fused(_plus_product)
def plus_product(a, b, c):
    """``c + a b`` of vectors or of numbers, rounded once where the processor can."""
    return a * b + c


@_becomes_fused(_minus_product)
def minus_product(a, b, c):
    """``c - a b`` of vectors or of numbers, rounded once where the processor can."""
    return c - a * b


@_becomes(_times, _vector, _VectorType, _VectorType)
def times(a, b):
    """``a b``."""
    return a * b


@_becomes(_plus, _vector, _VectorType, _VectorType)
def plus(a, b):
    """``a + b``."""
    return a + b


@_becomes(_root, _vector, _VectorType)
def root(a):
    """Square roots."""
    return np.sqrt(a)


@_becomes(_larger, _vector, _VectorType, _VectorType)
def larger(a, b):
    """The larger number in each lane; b where a is not a number."""
    return np.where(a > b, a, b)


@_becomes(_largest_lane, types.float64, _VectorType)
def largest_lane(a):
    """The largest of the eight, none of which may be not-a-number."""
    return a.max()


@_becomes(_sum_of_lanes, types.float64, _VectorType)
def sum_of_lanes(a):
    """The sum of the eight, halves on halves, always in the same order."""
    fours = a[:4] + a[4:]
    twos = fours[:2] + fours[2:]
    return twos[0] + twos[1]


@_becomes(_first_at_least, types.intp, _VectorType, types.Float)
def first_at_least(a, bound):
    """The first lane with a number at or above `bound`, or 8."""
    reached = np.flatnonzero(a >= bound)
    return int(reached[0]) if reached.size else LANES


def borrowed(arrays):
    """The same array or tuple of arrays, whose references compiled code does not count.

    Counting costs a third of a round at d = 2. Only for arrays that the caller keeps
    alive, which every argument of a compiled function is.
    """
    return arrays


@type_callable(borrowed)
def _borrowed_type(context):
    return lambda arrays: arrays


lower_builtin(borrowed, types.Array)(_without_owner)
lower_builtin(borrowed, types.BaseTuple)(_without_owner)
