"""Loops over counted tokens: from token numbers to sorted, weighted matrix rows, all in place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.jit import jit


class SettlingRoom(NamedTuple):
    """Room to sort rows in."""

    heads: npt.NDArray[np.int32]  # (n_columns + 1,)
    pairs: npt.NDArray[np.int64]  # one for each entry, a row above and a count below


@jit
def count_distinct(tokens, ends, seen, counts, lengths):
    """Fold repeated tokens of each document in place: `tokens[:kept]` and `counts[:kept]`; returns kept.

    ends: int64 end of each document in `tokens`; seen: int32 of the number of distinct tokens, filled with -1.
    """
    kept = 0
    start = 0
    for document in range(ends.size):
        first = kept
        for place in range(start, ends[document]):
            token = tokens[place]
            where = seen[token]
            if where >= first:
                counts[where] += 1
            else:
                seen[token] = kept
                tokens[kept] = token
                counts[kept] = 1
                kept += 1
        start = ends[document]
        lengths[document] = kept - first
    return kept


@jit
def settle_rows(columns, counts, starts, n_columns, binary, lengths, room):
    """Sort each row by column, add up equal columns and drop negative ones, all in place; returns how many stay.

    Two linear passes, into the order of the columns and back, instead of a sort of each row.

    starts: int64 array of shape (n_rows + 1,), where each row starts; lengths: int32, receives the new row lengths;
    binary: put every count to one; room: `SettlingRoom`.
    """
    heads, pairs = room
    for column in range(heads.size):
        heads[column] = 0
    for column in columns:
        if column >= 0:
            heads[column + 1] += 1
    for column in range(n_columns):
        heads[column + 1] += heads[column]
    for row in range(lengths.size):
        for place in range(starts[row], starts[row + 1]):
            column = columns[place]
            if column >= 0:
                pairs[heads[column]] = np.int64(row) << 32 | counts[place]
                heads[column] += 1
    for row in range(lengths.size):
        lengths[row] = 0
    begin = 0
    for column in range(n_columns):  # heads[column] is now where the column ends
        for place in range(begin, heads[column]):
            row, count = pairs[place] >> 32, pairs[place] & 0xFFFFFFFF
            where = starts[row] + lengths[row]
            if lengths[row] > 0 and columns[where - 1] == column:
                counts[where - 1] += count
            else:
                columns[where] = column
                counts[where] = count
                lengths[row] += 1
        begin = heads[column]
    kept = 0
    for row in range(lengths.size):
        for place in range(starts[row], starts[row] + lengths[row]):
            columns[kept] = columns[place]
            counts[kept] = 1 if binary else counts[place]
            kept += 1
    return kept


@jit
def add_frequencies(columns, counts, document_frequency, term_frequency):
    """Add the entries of settled rows to the number of documents and of occurrences of each column."""
    for place in range(columns.size):
        column = columns[place]
        document_frequency[column] += 1
        term_frequency[column] += counts[place]


@jit
def drop_columns(columns, counts, lengths, new_column):
    """Renumber the columns of all rows in place and drop those whose number is -1; returns how many entries stay."""
    place = 0
    kept = 0
    for row in range(lengths.size):
        first = kept
        for _ in range(lengths[row]):
            column = new_column[columns[place]]
            if column >= 0:
                columns[kept] = column
                counts[kept] = counts[place]
                kept += 1
            place += 1
        lengths[row] = kept - first
    return kept


@jit
def normalize_rows(data, columns, factors, indptr, squared):
    """Multiply each value by the factor of its column, if there are any, and divide each row by its length, in place.

    squared: the length is Euclidean, else the sum of absolute values.
    """
    for row in range(indptr.size - 1):
        if factors.size > 0:
            for place in range(indptr[row], indptr[row + 1]):
                data[place] *= factors[columns[place]]
        total = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            value = np.float64(data[place])
            total += value * value if squared else abs(value)
        if total == 0.0:
            continue
        if squared:
            total = total**0.5
        for place in range(indptr[row], indptr[row + 1]):
            data[place] = data[place] / total
