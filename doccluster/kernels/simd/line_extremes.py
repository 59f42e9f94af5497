"""The highest of some whole cache lines of similarities, and the lane that holds it: sixteen lanes at a time.

The same loops in Python find extremes one lane after another; for a hundred clusters that takes as long as building the
similarities does. Lanes that stand for no cluster must hold something lower than all others.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from doccluster.kernels.simd.lanes import LINE
from doccluster.kernels.simd.vector_code import INDEX, PLACE, SINGLE, Arguments, higher, places, repeated

_VECTOR = ir.VectorType(SINGLE, LINE)
_LOWEST = float("-inf")


@intrinsic
def highest_of_lines(typing_context, sums, first_lane, last_lane, left_out):
    """Return the largest of ``sums[first_lane:last_lane]`` (float32), at least one whole line, none of them nan.

    The lane `left_out` does not count (none if it lies outside); to overwrite it instead would hold up the reading of
    its line.
    """

    def generate(context, builder, signature, arguments):
        lines = _Lines(context, builder, signature, arguments)

        def line_at(lane):
            from_lane = repeated(builder, builder.trunc(builder.sub(lines.left_out, lane), PLACE), LINE)
            is_out = builder.icmp_signed("==", from_lane, places(list(range(LINE))))
            return builder.select(
                is_out, ir.Constant(_VECTOR, [_LOWEST] * LINE), builder.load(lines.pointer(lane), align=4)
            )

        first = line_at(lines.first)
        before, inside, after = builder.block, builder.append_basic_block("lines"), builder.append_basic_block("found")
        following = builder.add(lines.first, ir.Constant(INDEX, LINE))
        builder.cbranch(builder.icmp_signed("<", following, lines.last), inside, after)
        builder.position_at_end(inside)
        lane, running = builder.phi(INDEX), builder.phi(_VECTOR)
        best_so_far = higher(builder, running, line_at(lane))
        further = builder.add(lane, ir.Constant(INDEX, LINE))
        builder.cbranch(builder.icmp_signed("<", further, lines.last), inside, after)
        lane.add_incoming(following, before)
        lane.add_incoming(further, inside)
        running.add_incoming(first, before)
        running.add_incoming(best_so_far, inside)
        builder.position_at_end(after)
        best = builder.phi(_VECTOR)
        best.add_incoming(first, before)
        best.add_incoming(best_so_far, inside)
        return _highest_lane(builder, best)

    return types.float32(sums, first_lane, last_lane, left_out), generate


@intrinsic
def lane_holding(typing_context, value, sums, first_lane, last_lane):
    """Return the first lane of ``first_lane..last_lane`` (whole lines, float32) that holds `value`, or `last_lane`."""

    def generate(context, builder, signature, arguments):
        lines = _Lines(context, builder, signature, arguments, offset=1)
        wanted = repeated(builder, arguments[0], LINE)
        before = builder.block
        inside, onward, after = (builder.append_basic_block(name) for name in ("look", "onward", "found"))
        builder.branch(inside)
        builder.position_at_end(inside)
        lane = builder.phi(INDEX)
        equal = builder.fcmp_ordered("==", builder.load(lines.pointer(lane), align=4), wanted)
        mask = builder.bitcast(equal, ir.IntType(LINE))
        place = builder.add(lane, builder.zext(builder.cttz(mask, ir.Constant(ir.IntType(1), 0)), INDEX))
        builder.cbranch(builder.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(LINE), 0)), after, onward)
        builder.position_at_end(onward)
        further = builder.add(lane, ir.Constant(INDEX, LINE))
        builder.cbranch(builder.icmp_signed("<", further, lines.last), inside, after)
        lane.add_incoming(lines.first, before)
        lane.add_incoming(further, onward)
        builder.position_at_end(after)
        found = builder.phi(INDEX)
        found.add_incoming(place, inside)
        found.add_incoming(lines.last, onward)
        return found

    return types.int64(value, sums, first_lane, last_lane), generate


class _Lines:
    """The range of lanes that an intrinsic is given, as the code that it builds sees it."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, *, offset: int = 0) -> None:
        self._builder = builder
        self._data = Arguments(context, builder, signature, arguments).data(offset)
        numbers = zip(signature.args[offset + 1 :], arguments[offset + 1 :], strict=True)
        lanes = [context.cast(builder, value, kind, types.int64) for kind, value in numbers]
        self.first, self.last, self.left_out = lanes[0], lanes[1], lanes[-1]

    def pointer(self, lane: Any) -> Any:
        """Return the address of the line that begins at a lane."""
        return self._builder.bitcast(self._builder.gep(self._data, [lane]), _VECTOR.as_pointer())


def _highest_lane(builder: Any, vector: Any) -> Any:
    """Return the highest of sixteen lanes: halves are folded onto each other until one is left."""
    width = LINE
    while width > 1:
        width //= 2
        turned = builder.shuffle_vector(vector, vector, places([(lane + width) % LINE for lane in range(LINE)]))
        vector = higher(builder, vector, turned)
    return builder.extract_element(vector, ir.Constant(PLACE, 0))
