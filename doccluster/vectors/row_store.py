"""Rows of (column, count) pairs in two arrays that grow at their end, and are then worked on in place.

A corpus has tens of millions of pairs; they are kept once, from the first count to the values of the finished matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import map_blocks
from doccluster.text.counted_rows import SettlingRoom, add_frequencies, drop_columns, settle_rows
from doccluster.text.counters import CountedBlock

# Large enough that the C library maps it by itself: untouched pages cost nothing, and growing moves no bytes.
_FIRST_SIZE = 1 << 23
_GROWTH = 1.125
_ENTRIES_AT_ONCE = 1 << 18
_INT32_MAX = int(np.iinfo(np.int32).max)


class RowStore:
    """The counts of all documents: row after row, first by token, then by column.

    Attributes
    ----------
    columns, counts : int32 arrays of shape (at least n_entries,)
        The pairs; what lies beyond `n_entries` is room to grow.
    lengths : int32 array of shape (n_rows,)
        How many pairs each row has.
    """

    def __init__(self, blocks: Iterable[CountedBlock]) -> None:
        self.columns = np.empty(_FIRST_SIZE, dtype=np.int32)
        self.counts = np.empty(_FIRST_SIZE, dtype=np.int32)
        self.n_entries = 0
        self._spans: list[tuple[int, int]] = []  # the end of each block, and its counter
        lengths = [np.empty(0, dtype=np.int32)]
        for block in blocks:
            self._append(block)
            lengths.append(block.lengths)
        self.lengths = np.concatenate(lengths)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.lengths.size)

    def occurrences(self, numbers: Sequence[npt.NDArray[np.int32]], n_forms: int) -> npt.NDArray[np.int64]:
        """Return how often each written form occurs, before `settle`; numbers: the form of each counter's tokens."""
        total = np.zeros(n_forms, dtype=np.int64)
        start = 0
        for end, counter in self._spans:
            of_block = np.bincount(self.columns[start:end], weights=self.counts[start:end])
            total += np.bincount(numbers[counter][: of_block.size], weights=of_block, minlength=n_forms).astype(
                np.int64
            )
            start = end
        return total

    def settle(
        self,
        numbers: Sequence[npt.NDArray[np.int32]],
        n_columns: int,
        *,
        binary: bool = False,
        n_threads: int | None = None,
    ) -> None:
        """Turn tokens into columns (numbers: the column of each counter's tokens, -1 for none) and sort the rows.

        Settled rows can be settled again: their columns are then the tokens of one counter.
        """
        start = 0
        for end, counter in self._spans:
            self.columns[start:end] = numbers[counter][self.columns[start:end]]
            start = end
        starts = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])
        # A pass costs a little for each column, so a range of rows has at least as many pairs as there are columns.
        marks = np.arange(0, self.n_entries, max(_ENTRIES_AT_ONCE, n_columns))
        edges = np.unique(np.concatenate([np.searchsorted(starts, marks), [self.n_rows]]))

        def settle_range(rows: tuple[int, int]) -> int:
            first, last = rows
            here = slice(int(starts[first]), int(starts[last]))
            local = starts[first : last + 1] - starts[first]
            lengths = self.lengths[first:last]
            room = SettlingRoom(np.empty(n_columns + 1, dtype=np.int32), np.empty(int(local[-1]), dtype=np.int64))
            columns, counts = self.columns[here], self.counts[here]
            return int(settle_rows(columns, counts, local, n_columns, binary, lengths, room))

        ranges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        kept = list(map_blocks(settle_range, ranges, n_threads=n_threads))
        self.n_entries = self._close_gaps(starts[edges[:-1]].tolist(), kept)
        self._spans = [(self.n_entries, 0)]

    def drop_entries(
        self, leave_out: Callable[[npt.NDArray[np.int32], npt.NDArray[np.int64]], npt.NDArray[Any]]
    ) -> None:
        """Drop single pairs of settled rows.

        leave_out: called with the columns of some rows, one after the other, and where each row starts and the last
        ends; returns for each pair whether it is dropped.
        """
        starts = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])
        edges = np.unique(np.searchsorted(starts, np.arange(0, self.n_entries + _ENTRIES_AT_ONCE, _ENTRIES_AT_ONCE)))
        edges = np.minimum(edges, self.n_rows)
        end = 0
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            here = slice(int(starts[first]), int(starts[last]))
            local = starts[first : last + 1] - starts[first]
            stays = ~leave_out(self.columns[here], local)
            kept_before = np.concatenate([[0], np.cumsum(stays)])
            self.lengths[first:last] = np.diff(kept_before[local])
            n_kept = int(kept_before[-1])
            self.columns[end : end + n_kept] = self.columns[here][stays]
            self.counts[end : end + n_kept] = self.counts[here][stays]
            end += n_kept
        self.n_entries = end
        self._spans = [(end, 0)]

    def frequencies(self, n_columns: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return in how many rows each column occurs, and how often in all, int64 arrays of shape (n_columns,)."""
        document_frequency = np.zeros(n_columns, dtype=np.int64)
        term_frequency = np.zeros(n_columns, dtype=np.int64)
        columns, counts = self.columns[: self.n_entries], self.counts[: self.n_entries]
        add_frequencies(columns, counts, document_frequency, term_frequency)
        return document_frequency, term_frequency

    def keep(self, columns: npt.NDArray[np.bool_]) -> None:
        """Drop the other columns, and renumber those that stay in the same order."""
        if columns.all():
            return
        new_column = np.where(columns, np.cumsum(columns) - 1, -1).astype(np.int32)
        entries = slice(0, self.n_entries)
        self.n_entries = int(drop_columns(self.columns[entries], self.counts[entries], self.lengths, new_column))

    def to_matrix(self, n_columns: int, *, dtype: npt.DTypeLike) -> Any:
        """Return the settled rows as a csr array of counts; the store is used up."""
        self._resize(self.n_entries)
        indices, counts = self.columns, self.counts
        self.columns = self.counts = np.empty(0, dtype=np.int32)
        index_type = np.int32 if max(indices.size, n_columns) <= _INT32_MAX else np.int64
        indptr = np.zeros(self.n_rows + 1, dtype=index_type)
        np.cumsum(self.lengths, out=indptr[1:])
        data = _as_type_in_place(counts, np.dtype(dtype))
        matrix = sparse.csr_array(
            (data, indices.astype(index_type, copy=False), indptr), shape=(self.n_rows, n_columns)
        )
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def _append(self, block: CountedBlock) -> None:
        end = self.n_entries + block.columns.size
        if end > self.columns.size:
            self._resize(int(_GROWTH * end))
        self.columns[self.n_entries : end] = block.columns
        self.counts[self.n_entries : end] = block.counts
        self.n_entries = end
        self._spans.append((end, block.counter))

    def _resize(self, size: int) -> None:
        # No slice of these arrays outlives the call it is made for, so they can be moved; large ones are not copied
        # but mapped elsewhere, which keeps the peak low.
        self.columns.resize(size, refcheck=False)
        self.counts.resize(size, refcheck=False)

    def _close_gaps(self, starts: list[int], kept: list[int]) -> int:
        """Move what is left of each range up to the one before it; returns how many pairs there are now."""
        end = 0
        for start, n_kept in zip(starts, kept, strict=True):
            if start != end:
                self.columns[end : end + n_kept] = self.columns[start : start + n_kept]
                self.counts[end : end + n_kept] = self.counts[start : start + n_kept]
            end += n_kept
        return end


def _as_type_in_place(counts: npt.NDArray[np.int32], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the counts as `dtype`, in the same memory if the types are of one size."""
    if dtype.itemsize != counts.dtype.itemsize:
        return counts.astype(dtype)
    values = counts.view(dtype)
    for start in range(0, counts.size, _ENTRIES_AT_ONCE):
        part = slice(start, start + _ENTRIES_AT_ONCE)
        values[part] = counts[part].astype(dtype)
    return values
