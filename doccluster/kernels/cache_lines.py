"""The innermost loop: a row's products with one to eight cache lines of the table, the sums kept in registers.

What numba makes of the same loop in Python reads and writes its sums for every few terms and checks for overlaps; for
tables up to 128 lanes this is 1.4 to 2 times faster. Vectors of sixteen float32, or eight float64, become whatever the
processor has. The type of the sums decides: products of float32 are added up in float64 where the sums are float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from doccluster.kernels.jit import jit

LINE_BYTES = 64
LINE = 16  # float32 lanes of a cache line
WIDE_LINE = 8  # float64 lanes of a cache line
MOST_LINES = 8  # sums kept in registers
TERMS = 4  # products added to each other before they are added to the sums: the chain of roundings is shorter
AHEAD = 32  # terms that the table is asked for beforehand: about a row, so that the next one is on its way
CONTRACT = ("contract",)  # a product and a sum may be rounded once

_INDEX = ir.IntType(64)
_FLOATS = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}
_LANES = {types.float32: LINE, types.float64: WIDE_LINE}


def _line_sums(n_lines: int) -> Any:
    """Return the intrinsic that adds a row's products with `n_lines` neighbouring lines to `sums`."""

    @intrinsic
    def add_products(typing_context, values, columns, first, last, head, lane, sums):
        """Add ``sum_p values[p] * head[columns[p], lane + j]`` over first <= p < last to ``sums[lane + j]``."""
        vector = ir.VectorType(_FLOATS[sums.dtype], _LANES[sums.dtype])
        entries = ir.VectorType(_FLOATS[head.dtype], vector.count)
        head_bytes = head.dtype.bitwidth // 8
        sum_bytes = sums.dtype.bitwidth // 8

        def generate(context, builder, signature, arguments):
            arrays = dict(zip(("values", "columns", "head", "sums"), (0, 1, 4, 6), strict=True))
            view = {
                name: context.make_array(signature.args[place])(context, builder, arguments[place])
                for name, place in arrays.items()
            }
            begin, end, lane = (_as_index(builder, arguments[place]) for place in (2, 3, 5))
            row_bytes = cgutils.unpack_tuple(builder, view["head"].strides)[0]
            stride = builder.sdiv(row_bytes, ir.Constant(_INDEX, head_bytes))
            last_entry = builder.sub(view["columns"].nitems, ir.Constant(_INDEX, 1))
            table = builder.gep(view["head"].data, [lane])
            target = builder.gep(view["sums"].data, [lane])

            def products(position, sums):
                """Return `sums`, or nothing yet, plus the products of the term at `position`."""
                column = builder.zext(builder.load(builder.gep(view["columns"].data, [position])), _INDEX)
                row = builder.gep(table, [builder.mul(column, stride)])
                if n_lines > 1:
                    later = builder.add(position, ir.Constant(_INDEX, AHEAD))
                    later = builder.select(builder.icmp_signed("<", later, last_entry), later, last_entry)
                    later_column = builder.zext(builder.load(builder.gep(view["columns"].data, [later])), _INDEX)
                    later_row = builder.gep(table, [builder.mul(later_column, stride)])
                    for line in range(n_lines):
                        _prefetch(builder, _line(builder, later_row, line, entries))
                value = _repeat(builder, builder.load(builder.gep(view["values"].data, [position])), vector)
                lines = [builder.load(_line(builder, row, line, entries), align=head_bytes) for line in range(n_lines)]
                terms = [builder.fmul(value, _widened(builder, line, vector), flags=CONTRACT) for line in lines]
                if sums is None:
                    return terms
                return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(sums, terms, strict=True)]

            def together(position, sums):
                part = None
                for offset in range(TERMS):
                    part = products(builder.add(position, ir.Constant(_INDEX, offset)), part)
                return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(sums, part, strict=True)]

            total = [builder.load(_line(builder, target, line, vector), align=sum_bytes) for line in range(n_lines)]
            position, total = _loop(builder, begin, end, TERMS, total, together)
            _, total = _loop(builder, position, end, 1, total, products)
            for line, part in enumerate(total):
                builder.store(part, _line(builder, target, line, vector), align=sum_bytes)
            return context.get_dummy_value()

        return types.void(values, columns, first, last, head, lane, sums), generate

    return add_products


def _loop(builder: Any, begin: Any, end: Any, step: int, sums: list[Any], body: Any) -> tuple[Any, list[Any]]:
    """Build ``while begin + step <= end: sums = body(begin, sums); begin += step``; return what is left."""
    before = builder.block
    inside, after = builder.append_basic_block("terms"), builder.append_basic_block("rest")
    limit = builder.sub(end, ir.Constant(_INDEX, step))
    builder.cbranch(builder.icmp_signed("<=", begin, limit), inside, after)
    builder.position_at_end(inside)
    position, running = builder.phi(_INDEX), [builder.phi(part.type) for part in sums]
    new_sums = body(position, running)
    new_position = builder.add(position, ir.Constant(_INDEX, step))
    leaving = builder.block
    builder.cbranch(builder.icmp_signed("<=", new_position, limit), inside, after)
    builder.position_at_end(after)
    left, left_sums = builder.phi(_INDEX), [builder.phi(part.type) for part in sums]
    for phi, outside, later in zip([position, *running], [begin, *sums], [new_position, *new_sums], strict=True):
        phi.add_incoming(outside, before)
        phi.add_incoming(later, leaving)
    for phi, outside, later in zip([left, *left_sums], [begin, *sums], [new_position, *new_sums], strict=True):
        phi.add_incoming(outside, before)
        phi.add_incoming(later, leaving)
    return left, left_sums


def _as_index(builder: Any, value: Any) -> Any:
    return builder.sext(value, _INDEX) if value.type.width < _INDEX.width else value


def _line(builder: Any, pointer: Any, number: int, vector: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [ir.Constant(_INDEX, vector.count * number)]), vector.as_pointer())


def _prefetch(builder: Any, pointer: Any) -> None:
    """Ask for a cache line that will be read; an address outside the table does no harm."""
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    to_read, keep, as_data = ir.Constant(flag, 0), ir.Constant(flag, 3), ir.Constant(flag, 1)
    builder.call(ask, [builder.bitcast(pointer, byte), to_read, keep, as_data])


def _widened(builder: Any, value: Any, kind: Any) -> Any:
    return value if value.type == kind else builder.fpext(value, kind)


def _repeat(builder: Any, value: Any, vector: Any) -> Any:
    undefined = ir.Constant(vector, ir.Undefined)
    value = _widened(builder, value, vector.element)
    single = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(single, undefined, places)


_one, _two, _three, _four, _five, _six, _seven, _eight = (_line_sums(number) for number in range(1, MOST_LINES + 1))


@jit
def add_lines(values, columns, first, last, head, first_lane, n_lines, sums):
    """Add the products of the terms ``first..last`` of a row with `n_lines` lines of `head` to `sums`.

    A line has as many lanes of the type of `sums` as 64 bytes hold; `head` has at least as many columns.
    """
    lane = first_lane
    lanes_per_call = MOST_LINES * LINE_BYTES // sums.itemsize
    while n_lines > 8:
        _eight(values, columns, first, last, head, lane, sums)
        lane += lanes_per_call
        n_lines -= 8
    if n_lines == 1:
        _one(values, columns, first, last, head, lane, sums)
    elif n_lines == 2:
        _two(values, columns, first, last, head, lane, sums)
    elif n_lines == 3:
        _three(values, columns, first, last, head, lane, sums)
    elif n_lines == 4:
        _four(values, columns, first, last, head, lane, sums)
    elif n_lines == 5:
        _five(values, columns, first, last, head, lane, sums)
    elif n_lines == 6:
        _six(values, columns, first, last, head, lane, sums)
    elif n_lines == 7:
        _seven(values, columns, first, last, head, lane, sums)
    elif n_lines == 8:
        _eight(values, columns, first, last, head, lane, sums)


def aligned_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros that begins where a cache line does; so does each row of whole lines then.

    A line of the table that lies across two of the cache costs two reads.
    """
    kind = np.dtype(dtype)
    n_bytes = kind.itemsize * int(np.prod(shape))
    store = np.zeros(n_bytes + LINE_BYTES, np.uint8)
    offset = -store.ctypes.data % LINE_BYTES
    return store[offset : offset + n_bytes].view(kind).reshape(shape)
