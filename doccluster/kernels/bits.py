"""Bits of numbers in plain arithmetic, which LLVM turns into single instructions: eight bytes at once, low zeros."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

_MANTISSA = 52  # bits of a float64 below its exponent
_BIAS = 1023  # of that exponent


@jit(inner=True)
def eight_bytes(array, place):
    """Return the eight bytes that begin at any place of a uint8 array as one number, the first byte lowest."""
    first = np.uint64(place)  # unsigned: no place is counted from the end, so that this is one load
    word = np.uint64(array[first])
    word |= np.uint64(array[first + np.uint64(1)]) << np.uint64(8)
    word |= np.uint64(array[first + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(array[first + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(array[first + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(array[first + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(array[first + np.uint64(6)]) << np.uint64(48)
    return word | (np.uint64(array[first + np.uint64(7)]) << np.uint64(56))


@jit(inner=True)
def trailing_zeros(bits):
    """Return how many zeros are below the lowest bit that is set; one is. It is the exponent of that bit as a float."""
    lowest = bits & (~bits + np.uint64(1))
    return (np.float64(lowest).view(np.int64) >> _MANTISSA) - _BIAS
