"""What the loops over text need and numba does not offer: eight bytes at once, zero bits, a bare square root."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def eight_bytes(typing_context, array, place):
    """Return the eight bytes that begin at any place of a uint8 array as one number."""

    def generate(context, builder, signature, values):
        fields = cgutils.create_struct_proxy(signature.args[0])(context, builder, values[0])
        address = builder.gep(fields.data, [values[1]])
        word = ir.IntType(64)
        return builder.load(builder.bitcast(address, word.as_pointer()), align=1)

    return types.uint64(array, types.int64), generate


@intrinsic
def trailing_zeros(typing_context, bits):
    """Return how many zeros are below the lowest bit that is set; one is."""

    def generate(context, builder, signature, values):
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def square_root(typing_context, number):
    """Return the square root of a float64 that is not negative, without a call of the C library."""

    def generate(context, builder, signature, values):
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [ir.DoubleType()]), values)

    return types.float64(types.float64), generate
