"""The exponential in plain arithmetic, so that a loop over many numbers runs in vectors, and alike everywhere."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

LOWEST_POWER = -700.0  # exp of less than this is not a normal number
_PER_OCTAVE = 1.4426950408889634  # 1 / log 2
_OCTAVE_HIGH = 6.93147180369123816490e-01  # log 2 with the last 32 bits zero: a whole number times it is exact
_OCTAVE_LOW = 1.90821492927058770002e-10  # the rest of log 2
_ROUNDER = 6755399441055744.0  # 1.5 * 2^52: a number added to it is rounded, and the low bits are that whole number


@jit(fastmath={"contract"})
def exponential(power):
    """Return exp(power) for LOWEST_POWER <= power <= 0, within two units in the last place.

    With n the nearest whole number to power / log 2, it is 2^n times the Taylor polynomial of the rest, which is at
    most log(2) / 2 in size: the first term left out is below 5e-18.
    """
    rounded = power * _PER_OCTAVE + _ROUNDER
    octaves = rounded - _ROUNDER
    rest = (power - octaves * _OCTAVE_HIGH) - octaves * _OCTAVE_LOW
    value = 1 / 6227020800.0
    value = value * rest + 1 / 479001600.0
    value = value * rest + 1 / 39916800.0
    value = value * rest + 1 / 3628800.0
    value = value * rest + 1 / 362880.0
    value = value * rest + 1 / 40320.0
    value = value * rest + 1 / 5040.0
    value = value * rest + 1 / 720.0
    value = value * rest + 1 / 120.0
    value = value * rest + 1 / 24.0
    value = value * rest + 1 / 6.0
    value = value * rest + 0.5
    value = value * rest + 1.0
    value = value * rest + 1.0
    bits = np.float64(value).view(np.int64) + (np.float64(rounded).view(np.int64) << 52)
    return np.int64(bits).view(np.float64)
