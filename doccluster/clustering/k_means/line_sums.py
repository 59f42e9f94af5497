"""The innermost loop: a row's products with one to eight cache lines of the table, the sums kept in registers.

What numba makes of the same loop in Python reads and writes its sums for every few terms and checks for overlaps; for
tables up to 128 lanes this is 1.4 to 2 times faster. Vectors of sixteen float32 become whatever the
processor has.

An intrinsic and not a function: for each array that a compiled function is given, numba counts a reference up and down
again, atomically, and a dozen of those cost more than the products of a row.
"""

from __future__ import annotations

import re
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from doccluster.clustering.k_means.lanes import LINE, LINE_BYTES, MOST_LINES

INDEX, PLACE = ir.IntType(64), ir.IntType(32)
TERMS = 4  # products added to each other before they are added to the sums: the chain of roundings is shorter
AHEAD = 32  # terms that the table is asked for beforehand: about a row, so that the next one is on its way
CONTRACT = ("contract",)  # a product and a sum may be rounded once


@intrinsic
def add_lines(typing_context, values, columns, first, last, head, lane, n_lines, sums):
    """Add a row's products with up to `MOST_LINES` lines of `head`, from `lane` on, to `sums`.

    ``sums[lane] += sum_p values[p] * head[columns[p], lane]`` over first <= p < last; all values are float32.
    """

    def generate(context, builder, signature, given):
        kinds = signature.args
        values, columns, head, sums = (
            context.make_array(kinds[place])(context, builder, given[place]) for place in (0, 1, 4, 7)
        )
        begin, end, lane, n_lines = (
            builder.sext(given[place], INDEX) if given[place].type.width < INDEX.width else given[place]
            for place in (2, 3, 5, 6)
        )
        row_bytes = cgutils.unpack_tuple(builder, head.strides)[0]
        stride = builder.sdiv(row_bytes, INDEX(LINE_BYTES // LINE))
        last_entry = builder.sub(columns.nitems, INDEX(1))
        tables = builder.gep(head.data, [lane]), builder.gep(sums.data, [lane])
        row = [values.data, columns.data, begin, end, last_entry, stride, *tables]
        done = builder.append_basic_block("done")
        choice = builder.switch(n_lines, done)
        for number in range(1, MOST_LINES + 1):
            with builder.goto_block(builder.append_basic_block(f"lines{number}")):
                choice.add_case(INDEX(number), builder.block)
                builder.call(_lines_function(builder.module, [one.type for one in row], number), row)
                builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(values, columns, first, last, head, lane, n_lines, sums), generate


def _lines_function(module: Any, kinds: list[Any], n_lines: int) -> Any:
    """Return the function that adds up `n_lines` neighbouring lines in registers."""
    name = "_".join(["doccluster_lines", *(re.sub(r"\W", "", str(kind)) for kind in kinds), str(n_lines)])
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    values, columns, begin, end, last_entry, stride, table, sums = function.args
    vector = ir.VectorType(ir.FloatType(), LINE)

    def line_of(pointer, line):
        return builder.bitcast(builder.gep(pointer, [INDEX(LINE * line)]), vector.as_pointer())

    def row_of(position):
        column = builder.zext(builder.load(builder.gep(columns, [position])), INDEX)
        return builder.gep(table, [builder.mul(column, stride)])

    def products(position, running):
        """Return `running`, or nothing yet, plus the products of the term at `position`."""
        row, later = row_of(position), builder.add(position, INDEX(AHEAD))
        later_row = row_of(builder.select(builder.icmp_signed("<", later, last_entry), later, last_entry))
        for line in range(n_lines):
            _prefetch(builder, line_of(later_row, line))
        nothing = ir.Constant(vector, ir.Undefined)
        one = builder.insert_element(nothing, builder.load(builder.gep(values, [position])), PLACE(0))
        value = builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(PLACE, LINE), [0] * LINE))
        lines = [builder.load(line_of(row, line), align=4) for line in range(n_lines)]
        terms = [builder.fmul(value, line, flags=CONTRACT) for line in lines]
        if running is None:
            return terms
        return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(running, terms, strict=True)]

    def together(position, running):
        part = None
        for offset in range(TERMS):
            part = products(builder.add(position, INDEX(offset)), part)
        return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(running, part, strict=True)]

    total = [builder.load(line_of(sums, line), align=4) for line in range(n_lines)]
    position, total = _loop(builder, begin, end, TERMS, total, together)
    _, total = _loop(builder, position, end, 1, total, products)
    for line, part in enumerate(total):
        builder.store(part, line_of(sums, line), align=4)
    builder.ret_void()
    return function


def _loop(builder: Any, begin: Any, end: Any, step: int, sums: list[Any], body: Any) -> tuple[Any, list[Any]]:
    """Build ``while begin + step <= end: sums = body(begin, sums); begin += step``; return what is left."""
    before = builder.block
    inside, after = builder.append_basic_block("terms"), builder.append_basic_block("rest")
    limit = builder.sub(end, INDEX(step))
    builder.cbranch(builder.icmp_signed("<=", begin, limit), inside, after)
    builder.position_at_end(inside)
    position, *running = here = [builder.phi(value.type) for value in (begin, *sums)]
    following = [builder.add(position, INDEX(step)), *body(position, running)]
    leaving = builder.block
    builder.cbranch(builder.icmp_signed("<=", following[0], limit), inside, after)
    builder.position_at_end(after)
    left = [builder.phi(value.type) for value in (begin, *sums)]
    for phis in (here, left):
        for phi, outside, later in zip(phis, (begin, *sums), following, strict=True):
            phi.add_incoming(outside, before)
            phi.add_incoming(later, leaving)
    return left[0], left[1:]


def _prefetch(builder: Any, pointer: Any) -> None:
    """Ask for a cache line that will be read; an address outside the table does no harm."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, PLACE, PLACE, PLACE])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    builder.call(ask, [builder.bitcast(pointer, byte), PLACE(0), PLACE(3), PLACE(1)])  # to be read, kept, as data
