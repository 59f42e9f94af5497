"""Upper bounds of a row carried over a move of the means, eight groups at a time.

The same loops in Python take a group at a time, which for a hundred clusters costs as much as reading the row does.
Bounds are padded to whole octets; what a padding group holds is lower than every similarity.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from doccluster.kernels.simd.lanes import OCTET
from doccluster.kernels.simd.vector_code import INDEX, PLACE, SINGLE, Arguments, higher, lower, repeated, vector_at

_FLOATS, _LANES = ir.VectorType(SINGLE, OCTET), ir.VectorType(PLACE, OCTET)
_NOTHING = ir.Constant(_FLOATS, [float("-inf")] * OCTET)


@intrinsic
def carry_by_chords(typing_context, chords, own_lower, upper, row, before):
    """Add `chords` (n_groups,) to the bounds ``upper[row]``; `before` is given what they were.

    Return how many reach `own_lower`. All float32, n_groups a multiple of `OCTET`.
    """

    def generate(context, builder, signature, arguments):
        arrays = _Bounds(context, builder, signature, arguments)
        bounds, least = arrays.row(2, arguments[3]), repeated(builder, arguments[1], OCTET)

        def one(group):
            old = arrays.load(bounds, group)
            new = builder.fadd(old, arrays.load(arrays.data(0), group))
            arrays.store(old, arrays.data(4), group)
            arrays.store(new, bounds, group)
            return _count(builder, builder.fcmp_ordered(">=", new, least))

        return _sum_over_octets(builder, arrays.columns(2), one)

    return types.int64(chords, own_lower, upper, row, before), generate


@intrinsic
def carry_by_changes(typing_context, before, changes, slack, error, rest_chords, lanes, own, own_lower, upper, row):
    """Set the bounds ``upper[row]`` to what the row's changes leave possible; return how many reach `own_lower`.

    A place of the table of changes speaks of a group or of one cluster: the first n_groups places stand for the groups
    in order, the next n_groups, if `changes` has so many, hold one cluster of each. Where ``lanes[place]`` is not -1
    the change is the exact similarity, up to `error`, to the cluster of that lane; it does not count for the `own`
    lane. Else the bound grows by the change and `slack`, or by the chord of the rest of the group if that is less.
    """

    def generate(context, builder, signature, arguments):
        arrays = _Bounds(context, builder, signature, arguments)
        bounds, n_groups = arrays.row(8, arguments[9]), arrays.columns(8)
        slack, error = (repeated(builder, arguments[place], OCTET) for place in (2, 3))
        own = repeated(builder, builder.trunc(arguments[6], PLACE), OCTET)
        least = repeated(builder, arguments[7], OCTET)
        none = ir.Constant(_LANES, [-1] * OCTET)

        def exact(place):
            """Return which places are a cluster's, and the highest that its similarity can be."""
            lane = builder.load(vector_at(builder, arrays.data(5), place, _LANES), align=4)
            similarity = builder.fadd(arrays.load(arrays.data(1), place), error)
            return builder.icmp_signed("!=", lane, none), builder.select(
                builder.icmp_signed("==", lane, own), _NOTHING, similarity
            )

        def one(group):
            old = arrays.load(arrays.data(0), group)
            rise = builder.fadd(arrays.load(arrays.data(1), group), slack)
            risen = builder.fadd(old, lower(builder, rise, arrays.load(arrays.data(4), group)))
            is_exact, similarity = exact(group)
            bound = builder.select(is_exact, higher(builder, old, similarity), risen)
            before_second = builder.block
            second_place = builder.add(group, n_groups)
            has_second = builder.icmp_signed("<", second_place, arrays.size(1))
            with builder.if_then(has_second):
                is_exact, similarity = exact(second_place)
                raised = builder.select(is_exact, higher(builder, bound, similarity), bound)
                with_second = builder.block
            merged = builder.phi(_FLOATS)
            merged.add_incoming(bound, before_second)
            merged.add_incoming(raised, with_second)
            arrays.store(merged, bounds, group)
            return _count(builder, builder.fcmp_ordered(">=", merged, least))

        return _sum_over_octets(builder, n_groups, one)

    kinds = (before, changes, slack, error, rest_chords, lanes, own, own_lower, upper, row)
    return types.int64(*kinds), generate


@intrinsic
def write_bounds(typing_context, highest, error, upper, row):
    """Set the bounds ``upper[row]`` to `highest` (n_groups,) plus `error`: float32, n_groups a multiple of `OCTET`."""

    def generate(context, builder, signature, arguments):
        arrays = _Bounds(context, builder, signature, arguments)
        bounds, error = arrays.row(2, arguments[3]), repeated(builder, arguments[1], OCTET)

        def one(group):
            arrays.store(builder.fadd(arrays.load(arrays.data(0), group), error), bounds, group)
            return INDEX(0)

        _sum_over_octets(builder, arrays.columns(2), one)
        return context.get_dummy_value()

    return types.void(highest, error, upper, row), generate


class _Bounds(Arguments):
    """The arguments, read eight groups at a time."""

    def row(self, place: int, row: Any) -> Any:
        """Return the address of a row of an array."""
        return self.data(place, self.builder.mul(row, self.columns(place)))

    def load(self, data: Any, group: Any) -> Any:
        """Return the octet that begins at a group."""
        return self.builder.load(vector_at(self.builder, data, group, _FLOATS), align=4)

    def store(self, value: Any, data: Any, group: Any) -> None:
        """Write the octet that begins at a group."""
        self.builder.store(value, vector_at(self.builder, data, group, _FLOATS), align=4)


def _sum_over_octets(builder: Any, n_groups: Any, one: Any) -> Any:
    """Build the loop over the octets of groups, at least one, and return the sum of what `one` returns."""
    before, inside, after = builder.block, builder.append_basic_block("octet"), builder.append_basic_block("carried")
    builder.branch(inside)
    builder.position_at_end(inside)
    group, running = builder.phi(INDEX), builder.phi(INDEX)
    total = builder.add(running, one(group))
    following = builder.add(group, INDEX(OCTET))
    group.add_incoming(INDEX(0), before)
    group.add_incoming(following, builder.block)
    running.add_incoming(INDEX(0), before)
    running.add_incoming(total, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, n_groups), inside, after)
    builder.position_at_end(after)
    return total


def _count(builder: Any, mask: Any) -> Any:
    return builder.zext(builder.ctpop(builder.bitcast(mask, ir.IntType(OCTET))), INDEX)
