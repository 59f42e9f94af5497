"""What the intrinsics of this package build alike: the code for vectors that become whatever the processor has.

An inner loop calls intrinsics and not functions that take arrays: for each array that a compiled function is given,
numba counts a reference up and down again, atomically, and a dozen of those cost more than the products of a row.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

INDEX, SINGLE, PLACE = ir.IntType(64), ir.FloatType(), ir.IntType(32)


def as_index(builder: Any, value: Any) -> Any:
    """Return a signed number as 64 bits."""
    return builder.sext(value, INDEX) if value.type.width < INDEX.width else value


def higher(builder: Any, one: Any, other: Any) -> Any:
    """Return the higher of each two lanes."""
    return builder.select(builder.fcmp_ordered(">", other, one), other, one)


def lower(builder: Any, one: Any, other: Any) -> Any:
    """Return the lower of each two lanes."""
    return builder.select(builder.fcmp_ordered("<", other, one), other, one)


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
