"""Loops over tokens: from bytes of text to counts per document, and from token numbers to sorted matrix rows."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


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
def sort_pairs(pairs, start, stop):
    """Sort `pairs[start:stop]` in place, ascending."""
    if stop - start > 48:
        pairs[start:stop].sort()
        return
    for place in range(start + 1, stop):
        pair = pairs[place]
        hole = place
        while hole > start and pairs[hole - 1] > pair:
            pairs[hole] = pairs[hole - 1]
            hole -= 1
        pairs[hole] = pair


@jit
def settle_rows(lengths, tokens, counts, column_of, binary):
    """Turn tokens into columns, in place: drop those without one, sort each row, add up equal columns; returns kept.

    column_of: int32 column of each token, -1 for none. Afterwards `tokens[:kept]` holds columns.
    """
    kept = 0
    start = 0
    longest = 0
    for document in range(lengths.size):
        longest = max(longest, lengths[document])
    pairs = np.empty(longest, np.int64)
    for document in range(lengths.size):
        stop = start + lengths[document]
        n_pairs = 0
        for place in range(start, stop):
            column = column_of[tokens[place]]
            if column >= 0:
                pairs[n_pairs] = (np.int64(column) << np.int64(32)) | np.int64(counts[place])
                n_pairs += 1
        sort_pairs(pairs, 0, n_pairs)
        first = kept
        for pair in pairs[:n_pairs]:
            column = np.int32(pair >> np.int64(32))
            count = np.int32(pair & np.int64(0xFFFFFFFF))
            if kept > first and tokens[kept - 1] == column:
                counts[kept - 1] += count
            else:
                tokens[kept] = column
                counts[kept] = count
                kept += 1
        if binary:
            counts[first:kept] = 1
        lengths[document] = kept - first
        start = stop
    return kept


@jit
def add_frequencies(columns, counts, document_frequency, term_frequency):
    """Add the entries of settled rows to the number of documents and of occurrences of each column."""
    for place in range(columns.size):
        column = columns[place]
        document_frequency[column] += 1
        term_frequency[column] += counts[place]


@jit
def keep_columns(lengths, columns, counts, new_column, indices, data, ends):
    """Copy settled rows into `indices` and `data`, renumbering columns and leaving out those whose number is -1.

    ends: int64, receives the number of entries copied up to the end of each row. `new_column` keeps the order.
    """
    place = 0
    copied = 0
    for document in range(lengths.size):
        for _ in range(lengths[document]):
            column = new_column[columns[place]]
            if column >= 0:
                indices[copied] = column
                data[copied] = counts[place]
                copied += 1
            place += 1
        ends[document] = copied


@jit
def normalize_rows(data, indptr, squared):
    """Divide each row by its length in place: Euclidean when `squared`, else the sum of absolute values."""
    for row in range(indptr.size - 1):
        total = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            value = np.float64(data[place])
            total += value * value if squared else abs(value)
        if total == 0.0:
            continue
        if squared:
            total = np.sqrt(total)
        for place in range(indptr[row], indptr[row + 1]):
            data[place] = data[place] / total
