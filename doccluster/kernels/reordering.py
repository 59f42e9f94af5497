"""Rows with their columns renumbered: commonest term first, so that the hot part of the means is contiguous."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit
def count_columns(columns, counts):
    """Add to `counts` how often each column occurs."""
    for position in range(columns.size):
        counts[columns[position]] += 1


@jit
def reorder_rows(values, columns, starts, scale, rank, new_values, new_columns):
    """Write each row with column `c` renumbered `rank[c]`, ascending, and its values times `scale[row]`.

    `starts` are relative to `values`; a key packs the new column above the old position, so plain integers are sorted.
    """
    longest = 0
    for row in range(starts.size - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    keys = np.empty(longest, np.int64)
    for row in range(starts.size - 1):
        first = starts[row]
        length = starts[row + 1] - first
        for offset in range(length):
            keys[offset] = (np.int64(rank[columns[first + offset]]) << 32) | offset
        keys[:length].sort()
        for offset in range(length):
            new_columns[first + offset] = keys[offset] >> 32
            new_values[first + offset] = values[first + (keys[offset] & 0xFFFFFFFF)] * scale[row]


@jit
def count_dense(matrix, counts, sizes):
    """Write how many non-zero values each column and each row of a dense block has; columns are added to `counts`."""
    for row in range(matrix.shape[0]):
        sizes[row] = 0
        for column in range(matrix.shape[1]):
            if matrix[row, column] != 0:
                counts[column] += 1
                sizes[row] += 1


@jit
def compress_dense(matrix, starts, scale, order, new_values, new_columns):
    """Write the non-zero values of a dense block times `scale[row]`, columns in the given order."""
    for row in range(matrix.shape[0]):
        slot = starts[row]
        for column in range(order.size):
            value = matrix[row, order[column]]
            if value != 0:
                new_columns[slot] = column
                new_values[slot] = value * scale[row]
                slot += 1


@jit
def find_filled(values, starts, has_value):
    """Write whether each row has a value other than zero."""
    for row in range(starts.size - 1):
        has_value[row] = False
        for position in range(starts[row], starts[row + 1]):
            if values[position] != 0:
                has_value[row] = True


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
