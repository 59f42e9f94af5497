"""The innermost loop: a row's products with one to eight cache lines of the table, the sums kept in registers.

What numba makes of the same loop in Python reads and writes its sums for every few terms and checks for overlaps; for
tables up to 128 lanes this is 1.4 to 2 times faster. Vectors of sixteen float32, or eight float64, become whatever the
processor has. The type of the sums decides: products of float32 are added up in float64 where the sums are float64.
"""

from __future__ import annotations

import re
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from doccluster.kernels.simd.lanes import LINE, MOST_LINES, WIDE_LINE
from doccluster.kernels.simd.vector_code import INDEX, Arguments, higher, places, repeated, vector_at

TERMS = 4  # products added to each other before they are added to the sums: the chain of roundings is shorter
AHEAD = 32  # terms that the table is asked for beforehand: about a row, so that the next one is on its way
CONTRACT = ("contract",)  # a product and a sum may be rounded once


@intrinsic
def sum_lines(typing_context, values, columns, first, last, head, first_lane, n_lines, start, has_begun, sums):
    """Set lines of `sums` to `start` plus a row's products with lines of `head`, or add them if `sums` `has_begun`.

    ``sums[lane] = start[lane] + sum_p values[p] * head[columns[p], lane]`` over first <= p < last, for the lanes from
    `first_lane` on. A line has as many lanes of the type of `sums` as 64 bytes hold.
    """

    def generate(context, builder, signature, values):
        given = Arguments(context, builder, signature, values)
        lane = given.index(5)
        start = builder.select(values[8], given.data(9, lane), given.data(7, lane))
        _add_products(given, lane, given.index(6), [start, given.data(9, lane)])
        return context.get_dummy_value()

    return types.void(values, columns, first, last, head, first_lane, n_lines, start, has_begun, sums), generate


@intrinsic
def sum_lines_and_peaks(typing_context, values, columns, first, last, head, start, has_begun, sums, peaks):
    """Set `sums` to `start` plus a row's products with all lines of `head`, or add them if `sums` `has_begun`.

    All float32, as wide as `head`, which may also hold numbers of half precision (as uint16). ``peaks[i]`` becomes the
    highest of line i; they are written `MOST_LINES` at a time, as one line each, whose other places are set to -inf.
    """

    def generate(context, builder, signature, values):
        given = Arguments(context, builder, signature, values)
        start = builder.select(values[6], given.data(7), given.data(5))
        n_lines = builder.sdiv(given.size(7), INDEX(LINE))
        _add_products(given, INDEX(0), n_lines, [start, given.data(7), given.data(8)])
        return context.get_dummy_value()

    return types.void(values, columns, first, last, head, start, has_begun, sums, peaks), generate


def _add_products(given: Arguments, lane: Any, n_lines: Any, sums: list[Any]) -> None:
    """Build the call of the function that does the work; `sums` are the addresses of start, sums and perhaps peaks."""
    last_entry = given.builder.sub(given.size(1), INDEX(1))
    row = [given.data(0), given.data(1), given.index(2), given.index(3), last_entry, given.row_entries(4)]
    addresses = [given.table(4, lane), *sums]
    function = _products_function(given.builder.module, [value.type for value in [*row, *addresses]])
    given.builder.call(function, [*row, *addresses, n_lines])


N_FIXED = 6  # the first arguments stay the same from line to line; those after them are addresses that move on


def _products_function(module: Any, kinds: list[Any]) -> Any:
    """Return the function that adds up any number of lines, `MOST_LINES` at a time, for pointers of these types."""
    name = "doccluster_lines_" + "_".join(re.sub(r"\W", "", str(kind)) for kind in kinds)
    if name in module.globals:
        return module.globals[name]
    function = _new_function(module, name, [*kinds, INDEX])
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    fixed = function.args[:N_FIXED]
    moving = [cgutils.alloca_once_value(builder, value) for value in function.args[N_FIXED:-1]]
    left = cgutils.alloca_once_value(builder, function.args[-1])

    def call(n_lines: int) -> None:
        builder.call(_lines_function(module, kinds, n_lines, name), [*fixed, *map(builder.load, moving)])

    again, inside, rest, done = (function.append_basic_block(part) for part in ("again", "most", "rest", "done"))
    builder.branch(again)
    builder.position_at_end(again)
    builder.cbranch(builder.icmp_signed(">", builder.load(left), INDEX(MOST_LINES)), inside, rest)
    builder.position_at_end(inside)
    call(MOST_LINES)
    for address, lanes in zip(moving, [_lanes_of(kinds)] * 3 + [1], strict=False):  # a line has one peak
        builder.store(builder.gep(builder.load(address), [INDEX(MOST_LINES * lanes)]), address)
    builder.store(builder.sub(builder.load(left), INDEX(MOST_LINES)), left)
    builder.branch(again)
    builder.position_at_end(rest)
    choice = builder.switch(builder.load(left), done)
    for n_lines in range(1, MOST_LINES + 1):
        with builder.goto_block(function.append_basic_block(f"lines{n_lines}")):
            choice.add_case(INDEX(n_lines), builder.block)
            call(n_lines)
            builder.branch(done)
    builder.position_at_end(done)
    builder.ret_void()
    return function


def _new_function(module: Any, name: str, kinds: list[Any]) -> Any:
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    function.linkage = "internal"
    return function


def _lanes_of(kinds: list[Any]) -> int:
    """Return the lanes of a line of the sums."""
    return LINE if kinds[8].pointee == ir.FloatType() else WIDE_LINE


def _lines_function(module: Any, kinds: list[Any], n_lines: int, prefix: str) -> Any:
    """Return the function that adds up `n_lines` neighbouring lines in registers."""
    name = f"{prefix}_{n_lines}"
    if name in module.globals:
        return module.globals[name]
    function = _new_function(module, name, kinds)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    values, columns, begin, end, last_entry, stride, table, start, sums, *peaks = function.args
    vector = ir.VectorType(sums.type.pointee, _lanes_of(kinds))
    entries = ir.VectorType(table.type.pointee, vector.count)

    def products(position, running):
        """Return `running`, or nothing yet, plus the products of the term at `position`."""
        column = builder.zext(builder.load(builder.gep(columns, [position])), INDEX)
        row = builder.gep(table, [builder.mul(column, stride)])
        later = builder.add(position, INDEX(AHEAD))
        later = builder.select(builder.icmp_signed("<", later, last_entry), later, last_entry)
        later_column = builder.zext(builder.load(builder.gep(columns, [later])), INDEX)
        later_row = builder.gep(table, [builder.mul(later_column, stride)])
        for line in range(n_lines):
            _prefetch(builder, _line(builder, later_row, line, entries))
        value = _widened(builder, builder.load(builder.gep(values, [position])), vector.element)
        value = repeated(builder, value, vector.count)
        lines = [builder.load(_line(builder, row, line, entries), align=4) for line in range(n_lines)]
        terms = [builder.fmul(value, _widened(builder, line, vector), flags=CONTRACT) for line in lines]
        if running is None:
            return terms
        return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(running, terms, strict=True)]

    def together(position, running):
        part = None
        for offset in range(TERMS):
            part = products(builder.add(position, INDEX(offset)), part)
        return [builder.fadd(a, b, flags=CONTRACT) for a, b in zip(running, part, strict=True)]

    total = [builder.load(_line(builder, start, line, vector), align=4) for line in range(n_lines)]
    position, total = _loop(builder, begin, end, TERMS, total, together)
    _, total = _loop(builder, position, end, 1, total, products)
    for line, part in enumerate(total):
        builder.store(part, _line(builder, sums, line, vector), align=4)
    if peaks:
        builder.store(_peaks(builder, total), _line(builder, peaks[0], 0, vector), align=4)
    builder.ret_void()
    return function


def _peaks(builder: Any, lines: list[Any]) -> Any:
    """Return a vector of the highest of each line, -inf after the last.

    Two lines are folded into one vector of half as many candidates of each, two such vectors into one, and so on.
    """
    n_lines, run, vectors = len(lines), LINE, lines
    while len(vectors) > 1:
        run //= 2
        pairs = zip(vectors[::2], [*vectors[1::2], vectors[-1]], strict=False)
        vectors = [_folded_pair(builder, one, other, run) for one, other in pairs]
    found, half = vectors[0], run // 2
    while half:
        turned = builder.shuffle_vector(found, found, places([lane ^ half for lane in range(LINE)]))
        found, half = higher(builder, found, turned), half // 2
    nothing = ir.Constant(found.type, [float("-inf")] * LINE)
    return builder.shuffle_vector(found, nothing, places([i * run if i < n_lines else LINE for i in range(LINE)]))


def _folded_pair(builder: Any, one: Any, other: Any, run: int) -> Any:
    """Return the higher halves of each two runs: those of `one`, then those of `other`."""
    lows = [first + lane for first in range(0, 2 * LINE, 2 * run) for lane in range(run)]
    low = builder.shuffle_vector(one, other, places(lows))
    high = builder.shuffle_vector(one, other, places([lane + run for lane in lows]))
    return higher(builder, low, high)


def _loop(builder: Any, begin: Any, end: Any, step: int, sums: list[Any], body: Any) -> tuple[Any, list[Any]]:
    """Build ``while begin + step <= end: sums = body(begin, sums); begin += step``; return what is left."""
    before = builder.block
    inside, after = builder.append_basic_block("terms"), builder.append_basic_block("rest")
    limit = builder.sub(end, INDEX(step))
    builder.cbranch(builder.icmp_signed("<=", begin, limit), inside, after)
    builder.position_at_end(inside)
    position, running = builder.phi(INDEX), [builder.phi(part.type) for part in sums]
    new_sums = body(position, running)
    new_position = builder.add(position, INDEX(step))
    leaving = builder.block
    builder.cbranch(builder.icmp_signed("<=", new_position, limit), inside, after)
    builder.position_at_end(after)
    left, left_sums = builder.phi(INDEX), [builder.phi(part.type) for part in sums]
    for phi, outside, later in zip([position, *running], [begin, *sums], [new_position, *new_sums], strict=True):
        phi.add_incoming(outside, before)
        phi.add_incoming(later, leaving)
    for phi, outside, later in zip([left, *left_sums], [begin, *sums], [new_position, *new_sums], strict=True):
        phi.add_incoming(outside, before)
        phi.add_incoming(later, leaving)
    return left, left_sums


def _line(builder: Any, pointer: Any, number: int, vector: Any) -> Any:
    return vector_at(builder, pointer, INDEX(vector.count * number), vector)


def _prefetch(builder: Any, pointer: Any) -> None:
    """Ask for a cache line that will be read; an address outside the table does no harm."""
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    to_read, keep, as_data = ir.Constant(flag, 0), ir.Constant(flag, 3), ir.Constant(flag, 1)
    builder.call(ask, [builder.bitcast(pointer, byte), to_read, keep, as_data])


def _widened(builder: Any, value: Any, kind: Any) -> Any:
    return value if value.type == kind else builder.fpext(value, kind)
