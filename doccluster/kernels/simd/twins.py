"""The hand-built code of this folder in plain numba: the same arguments, the same numbers, less speed."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.simd.lanes import LINE, LINE_BYTES, MOST_LINES

CONTRACT = {"contract"}
INFINITE, LEAST_NORMAL, EXPONENTS_APART = 0x7F800000, 0x38800000, (127 - 15) << 23  # bits of single precision


@jit(fastmath=CONTRACT, inner=True)
def sum_lines(values, columns, first, last, head, first_lane, n_lines, start, has_begun, sums):
    """See `line_sums.sum_lines`."""
    last_lane = first_lane + n_lines * (LINE_BYTES // sums.itemsize)
    if not has_begun:
        for lane in range(first_lane, last_lane):
            sums[lane] = start[lane]
    wide = sums.dtype.type
    position = first
    while position + 4 <= last:
        a, b, c, d = columns[position], columns[position + 1], columns[position + 2], columns[position + 3]
        u, v = wide(values[position]), wide(values[position + 1])
        w, x = wide(values[position + 2]), wide(values[position + 3])
        for lane in range(first_lane, last_lane):
            part = u * wide(head[a, lane]) + v * wide(head[b, lane])
            sums[lane] += (part + w * wide(head[c, lane])) + x * wide(head[d, lane])
        position += 4
    for entry in range(position, last):
        column, value = columns[entry], wide(values[entry])
        for lane in range(first_lane, last_lane):
            sums[lane] += value * wide(head[column, lane])


@jit(inner=True)
def sum_lines_and_peaks(values, columns, first, last, head, start, has_begun, sums, peaks):
    """See `line_sums.sum_lines_and_peaks`."""
    n_lines = sums.size // LINE
    sum_lines(values, columns, first, last, head, np.int64(0), n_lines, start, has_begun, sums)
    for line in range((n_lines - 1) // MOST_LINES * MOST_LINES + LINE):
        peaks[line] = highest_of_lines(sums, line * LINE, line * LINE + LINE, -1) if line < n_lines else -np.inf


@jit(inner=True)
def prefetch(array, index):
    """Do nothing: plain code cannot ask for a cache line."""


@jit(fastmath={"nnan", "nsz"}, inner=True)
def highest_of_lines(sums, first_lane, last_lane, left_out):
    """See `line_extremes.highest_of_lines`."""
    best = np.float32(-np.inf)
    for lane in range(first_lane, last_lane):
        if lane != left_out:
            best = max(best, sums[lane])
    return best


@jit(inner=True)
def lane_holding(value, sums, first_lane, last_lane):
    """See `line_extremes.lane_holding`."""
    lane = np.int64(first_lane)
    while lane < last_lane and sums[lane] != value:
        lane += 1
    return lane


@jit(inner=True)
def round_line_to_half(singles, halves, first):
    """See `half_precision.round_line_to_half`. Plain sums cannot read such numbers, so no table of them is made."""
    bits = singles.view(np.uint32)
    for place in range(first, first + LINE):
        halves[place] = half_of(np.int64(bits[place]))


@jit(inner=True)
def half_of(single):
    """Return the bits of the number in half precision that is nearest to one in single precision, even on ties."""
    sign, magnitude = (single >> 16) & 0x8000, single & 0x7FFFFFFF
    if magnitude > INFINITE:
        return sign | 0x7E00  # not a number
    if magnitude >= LEAST_NORMAL:
        # a carry out of the digits that stay moves on to the exponent, and from the largest number to infinity
        rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1)
        return sign | min((rounded - EXPONENTS_APART) >> 13, 0x7C00)
    n_lost = min(126 - (magnitude >> 23), 25)  # digits of a multiple of 2**-24 that do not stay
    digits = (magnitude & 0x7FFFFF) | (0x800000 if magnitude >= 0x800000 else 0)
    half, rest, middle = digits >> n_lost, digits & ((1 << n_lost) - 1), 1 << (n_lost - 1)
    return sign | (half + (1 if rest > middle or (rest == middle and half & 1) else 0))
