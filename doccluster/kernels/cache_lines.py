"""The innermost loop: a row's products with one to eight cache lines of the table, the sums kept in registers.

What numba makes of the same loop in Python reads and writes its sums for every few terms and checks for overlaps; for
tables up to 128 lanes this is 1.4 to 2 times faster. Vectors of sixteen float32 become whatever the processor has.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from doccluster.kernels.jit import jit

LINE = 16  # float32 lanes of a cache line
MOST_LINES = 8  # sums kept in registers
TERMS = 4  # products added to each other before they are added to the sums: the chain of roundings is shorter
CONTRACT = ("contract",)  # a product and a sum may be rounded once

_INDEX = ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), LINE)


def _line_sums(n_lines: int) -> Any:
    """Return the intrinsic that adds a row's products with `n_lines` neighbouring lines to `sums`."""

    @intrinsic
    def add_products(typing_context, values, columns, first, last, head, lane, sums):
        """Add ``sum_p values[p] * head[columns[p], lane + j]`` over first <= p < last to ``sums[lane + j]``."""

        def generate(context, builder, signature, arguments):
            arrays = dict(zip(("values", "columns", "head", "sums"), (0, 1, 4, 6), strict=True))
            view = {
                name: context.make_array(signature.args[place])(context, builder, arguments[place])
                for name, place in arrays.items()
            }
            begin, end, lane = (_as_index(builder, arguments[place]) for place in (2, 3, 5))
            stride = builder.sdiv(cgutils.unpack_tuple(builder, view["head"].strides)[0], ir.Constant(_INDEX, 4))
            table = builder.gep(view["head"].data, [lane])
            target = builder.gep(view["sums"].data, [lane])

            def products(position, sums):
                """Return `sums`, or nothing yet, plus the products of the term at `position`."""
                column = builder.zext(builder.load(builder.gep(view["columns"].data, [position])), _INDEX)
                row = builder.gep(table, [builder.mul(column, stride)])
                value = _repeat(builder, builder.load(builder.gep(view["values"].data, [position])))
                terms = [
                    builder.fmul(value, builder.load(_line(builder, row, line), align=4), flags=CONTRACT)
                    for line in range(n_lines)
                ]
                if sums is None:
                    return terms
                return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(sums, terms, strict=True)]

            def together(position, sums):
                part = None
                for offset in range(TERMS):
                    part = products(builder.add(position, ir.Constant(_INDEX, offset)), part)
                return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(sums, part, strict=True)]

            sums = [builder.load(_line(builder, target, line), align=4) for line in range(n_lines)]
            position, sums = _loop(builder, begin, end, TERMS, sums, together)
            _, sums = _loop(builder, position, end, 1, sums, products)
            for line, vector in enumerate(sums):
                builder.store(vector, _line(builder, target, line), align=4)
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
    position, running = builder.phi(_INDEX), [builder.phi(_VECTOR) for _ in sums]
    new_sums = body(position, running)
    new_position = builder.add(position, ir.Constant(_INDEX, step))
    leaving = builder.block
    builder.cbranch(builder.icmp_signed("<=", new_position, limit), inside, after)
    builder.position_at_end(after)
    left, left_sums = builder.phi(_INDEX), [builder.phi(_VECTOR) for _ in sums]
    for phi, outside, later in zip([position, *running], [begin, *sums], [new_position, *new_sums], strict=True):
        phi.add_incoming(outside, before)
        phi.add_incoming(later, leaving)
    for phi, outside, later in zip([left, *left_sums], [begin, *sums], [new_position, *new_sums], strict=True):
        phi.add_incoming(outside, before)
        phi.add_incoming(later, leaving)
    return left, left_sums


def _as_index(builder: Any, value: Any) -> Any:
    return builder.sext(value, _INDEX) if value.type.width < _INDEX.width else value


def _line(builder: Any, pointer: Any, number: int) -> Any:
    return builder.bitcast(builder.gep(pointer, [ir.Constant(_INDEX, LINE * number)]), _VECTOR.as_pointer())


def _repeat(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    single = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(ir.IntType(32), LINE), [0] * LINE))


_one, _two, _three, _four, _five, _six, _seven, _eight = (_line_sums(number) for number in range(1, MOST_LINES + 1))


@jit
def add_lines(values, columns, first, last, head, first_lane, n_lines, sums):
    """Add the products of the terms ``first..last`` of a row with `n_lines` lines of `head` to `sums`."""
    lane = first_lane
    while n_lines > 8:
        _eight(values, columns, first, last, head, lane, sums)
        lane += 128
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
