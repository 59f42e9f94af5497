"""Rows with their columns renumbered: commonest term first, so that the hot part of the means is contiguous."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

SHORT = 40  # rows up to this length are sorted in place, by insertion at one distance
DIGIT = 8  # bits of the keys that one pass of the longer sort looks at
ROW_PLACE = 0xFFFFFFFF  # the low half of a key: a place in the row
CLOSER = 3  # distances of the sort in place: 1, 4, 13, 40 ... (Knuth 1973, section 5.2.1)


@jit(inner=True)
def sort_in_place(keys, length):
    """Sort the first keys (Shell's method); numba's own sorts take seconds to compile."""
    apart = 1
    while apart * SHORT < length:
        apart = CLOSER * apart + 1
    while apart > 0:
        for end in range(apart, length):
            key = keys[end]
            slot = end
            while slot >= apart and keys[slot - apart] > key:
                keys[slot] = keys[slot - apart]
                slot -= apart
            keys[slot] = key
        apart //= CLOSER


@jit(inner=True)
def longest_row(starts):
    """Return the most entries of a row."""
    longest = 0
    for row in range(starts.size - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    return longest


@jit(inner=True)
def order_by_original(columns, first, last, original, keys):
    """Make the low half of ``keys`` the places of a row's entries, from `first` on, in ascending original columns."""
    for offset in range(last - first):
        keys[offset] = (np.int64(original[columns[first + offset]]) << 32) | offset
    sort_in_place(keys, last - first)


@jit(inner=True)
def radix_sort(keys, other, length, n_bits, counts):
    """Return the array, `keys` or `other`, that has the first keys sorted by their bits from 32 on."""
    shift = 32
    while shift < 32 + n_bits:
        counts[:] = 0
        for place in range(length):
            counts[((keys[place] >> shift) & 255) + 1] += 1
        for digit in range(256):
            counts[digit + 1] += counts[digit]
        for place in range(length):
            digit = (keys[place] >> shift) & 255
            other[counts[digit]] = keys[place]
            counts[digit] += 1
        keys, other = other, keys
        shift += DIGIT
    return keys


@jit
def reorder_rows(values, columns, starts, scale, rank, new_values, new_columns):
    """Write each row with column `c` renumbered `rank[c]`, ascending, and its values times `scale[row]`.

    `starts` are relative to `values`; a key packs the new column above the old position, so plain integers are sorted.
    """
    longest = longest_row(starts)
    keys, other = np.empty(longest, np.int64), np.empty(longest, np.int64)
    counts = np.empty(257, np.int64)
    n_bits = 1
    while (1 << n_bits) < rank.size:
        n_bits += 1
    for row in range(starts.size - 1):
        first = starts[row]
        length = starts[row + 1] - first
        for offset in range(length):
            keys[offset] = (np.int64(rank[columns[first + offset]]) << 32) | offset
        in_order = keys
        if length <= SHORT:
            sort_in_place(keys, length)
        else:
            in_order = radix_sort(keys, other, length, n_bits, counts)
        for offset in range(length):
            new_columns[first + offset] = in_order[offset] >> 32
            new_values[first + offset] = values[first + (in_order[offset] & ROW_PLACE)] * scale[row]


@jit
def hash_rows(values, columns, starts, digests):
    """Write a 64-bit digest of each row; rows with the same non-zero entries have the same digest, -0 being 0."""
    bits = values.view(np.uint32)
    for row in range(starts.size - 1):
        digest = np.uint64(14695981039346656037)
        for position in range(starts[row], starts[row + 1]):
            if values[position] != 0:
                word = (np.uint64(columns[position]) << np.uint64(32)) | np.uint64(bits[position])
                digest = (digest ^ word) * np.uint64(0x9E3779B97F4A7C15)
                digest ^= digest >> np.uint64(29)
        digests[row] = digest
