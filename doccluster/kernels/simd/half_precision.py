"""Numbers rounded to half precision (IEEE 754 binary16), a cache line at a time: a table of them is half as large.

numba knows no numbers of 16 bits, so that an array of them is given as one of uint16. `line_sums` reads them.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from doccluster.kernels.simd.lanes import LINE
from doccluster.kernels.simd.vector_code import INDEX, SINGLE, Arguments, vector_at


@intrinsic
def round_line_to_half(typing_context, singles, halves, first):
    """Set ``halves[first : first + LINE]`` to `singles` there, rounded to the nearest; both of one axis."""

    def generate(context, builder, signature, arguments):
        given = Arguments(context, builder, signature, arguments)
        line = builder.load(vector_at(builder, given.data(0), given.index(2), ir.VectorType(SINGLE, LINE)), align=4)
        rounded = ir.VectorType(ir.HalfType(), LINE)
        place = vector_at(builder, given.table(1, given.index(2)), INDEX(0), rounded)
        builder.store(builder.fptrunc(line, rounded), place, align=2)
        return context.get_dummy_value()

    return types.void(singles, halves, first), generate
