"""What the intrinsics of this package build alike: the code for vectors that become whatever the processor has.

An inner loop calls intrinsics and not functions that take arrays: for each array that a compiled function is given,
numba counts a reference up and down again, atomically, and a dozen of those cost more than the products of a row.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

INDEX, SINGLE, PLACE = ir.IntType(64), ir.FloatType(), ir.IntType(32)


def as_index(builder: Any, value: Any) -> Any:
    """Return a signed number as 64 bits."""
    return builder.sext(value, INDEX) if value.type.width < INDEX.width else value


def higher(builder: Any, one: Any, other: Any) -> Any:
    """Return the higher of each two lanes."""
    return builder.select(builder.fcmp_ordered(">", other, one), other, one)


def places(lanes: list[int]) -> Any:
    """Return constant lanes, as a shuffle takes them."""
    return ir.Constant(ir.VectorType(PLACE, len(lanes)), lanes)


def repeated(builder: Any, value: Any, count: int) -> Any:
    """Return a vector of `count` times a value."""
    nothing = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    single = builder.insert_element(nothing, value, ir.Constant(PLACE, 0))
    return builder.shuffle_vector(single, nothing, places([0] * count))


def vector_at(builder: Any, data: Any, index: Any, kind: Any) -> Any:
    """Return the address of the vector of a kind that begins at an entry of an array."""
    return builder.bitcast(builder.gep(data, [index]), kind.as_pointer())


class Arguments:
    """The arguments of an intrinsic by their places, as the code that it builds sees them."""

    def __init__(self, context: Any, builder: Any, signature: Any, values: Any) -> None:
        self.builder, self.values = builder, values
        self._context, self._kinds = context, signature.args

    def _array(self, place: int) -> Any:
        return self._context.make_array(self._kinds[place])(self._context, self.builder, self.values[place])

    def index(self, place: int) -> Any:
        """Return a whole number as 64 bits."""
        return as_index(self.builder, self.values[place])

    def data(self, place: int, index: Any = None) -> Any:
        """Return the address of an entry of an array, of the first by default."""
        first = self._array(place).data
        return first if index is None else self.builder.gep(first, [index])

    def table(self, place: int, index: Any) -> Any:
        """Return the address of an entry of a table, whose entries of 16 bits hold numbers of half precision."""
        address = self.data(place, index)
        is_half = self._kinds[place].dtype.bitwidth == 16
        return self.builder.bitcast(address, ir.HalfType().as_pointer()) if is_half else address

    def size(self, place: int) -> Any:
        """Return the number of entries of an array."""
        return self._array(place).nitems

    def row_entries(self, place: int) -> Any:
        """Return by how many entries two neighbouring rows of an array lie apart."""
        n_bytes = cgutils.unpack_tuple(self.builder, self._array(place).strides)[0]
        return self.builder.sdiv(n_bytes, INDEX(self._kinds[place].dtype.bitwidth // 8))
