"""Documents counted by term: the sorted terms, how common each is, and the rows.

Rows are pairs of column and count in two arrays that grow at their end, and are then worked on in place. A corpus has
tens of millions of pairs; they are kept once, from the first count to the values of the finished matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Array, CsrArray, DType, Flags, Integers
from doccluster.base.blocks import map_blocks
from doccluster.base.compiled import jit
from doccluster.text.analysis import Analysis
from doccluster.text.counting import CountedBlock, CounterPool
from doccluster.text.language import FunctionWords

# Large enough that the C library maps it by itself: untouched pages cost nothing, and growing moves no bytes.
_FIRST_SIZE = 1 << 23
_GROWTH = 1.125
_ENTRIES_AT_ONCE = 1 << 18
_INT32_MAX = int(np.iinfo(np.int32).max)

Ints = npt.NDArray[np.int32]


@jit
def settle_rows(columns, counts, starts, binary, lengths, heads, pairs):
    """Sort each row by column, add up equal columns and drop negative ones, all in place; returns how many stay.

    Two linear passes, into the order of the columns and back, instead of a sort of each row. `starts`: where each row
    starts; `lengths` receives the new ones; `heads`: zeros for each column and one more; `pairs`: room for each entry.
    """
    for column in columns:
        if column >= 0:
            heads[column + 1] += 1
    for column in range(heads.size - 1):
        heads[column + 1] += heads[column]
    for row in range(lengths.size):
        for place in range(starts[row], starts[row + 1]):
            column = columns[place]
            if column >= 0:
                pairs[heads[column]] = np.int64(row) << 32 | counts[place]
                heads[column] += 1
    lengths[:] = 0
    begin = 0
    for column in range(heads.size - 1):  # heads[column] is now where the column ends
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
    n_entries = 0
    for row in range(lengths.size):
        for place in range(starts[row], starts[row] + lengths[row]):
            columns[n_entries] = columns[place]
            counts[n_entries] = 1 if binary else counts[place]
            n_entries += 1
    return n_entries


class RowStore:
    """The counts of all documents: row after row, first by token, then by column, in arrays with room to grow."""

    def __init__(self, blocks: Iterable[CountedBlock] = (), *, n_empty: int = 0) -> None:
        self.columns, self.counts = (np.empty(_FIRST_SIZE, dtype=np.int32) for _ in range(2))
        self.n_entries = 0
        self._spans: list[tuple[int, int]] = []  # the end of each block, and its counter
        lengths = [np.zeros(n_empty, dtype=np.int32)]
        for block in blocks:
            here = slice(self.n_entries, self.n_entries + block.columns.size)
            if here.stop > self.columns.size:
                self._resize(int(_GROWTH * here.stop))
            self.columns[here], self.counts[here] = block.columns, block.counts
            self._set_end(here.stop, [*self._spans, (here.stop, block.counter)])
            lengths.append(block.lengths)
        self.lengths = np.concatenate(lengths)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.lengths.size)

    def occurrences(self, numbers: Sequence[Ints], n_forms: int) -> Integers:
        """Return how often each written form occurs, before `settle`; numbers: the form of each counter's tokens."""
        total = np.zeros(n_forms, dtype=np.int64)
        start = 0
        for end, counter in self._spans:
            of_tokens = np.bincount(self.columns[start:end], self.counts[start:end], numbers[counter].size)
            total += np.bincount(numbers[counter], of_tokens, n_forms).astype(np.int64)
            start = end
        return total

    def settle(
        self, numbers: Sequence[Ints], n_columns: int, *, binary: bool = False, n_threads: int | None = None
    ) -> None:
        """Turn tokens into columns (numbers: of each counter, -1 for none) and sort the rows; it can be done again."""
        start = 0
        for end, counter in self._spans:
            self.columns[start:end] = numbers[counter][self.columns[start:end]]
            start = end
        # A pass costs a little for each column, so a range of rows has at least as many pairs as there are columns.
        ranges = list(self._ranges(max(_ENTRIES_AT_ONCE, n_columns)))

        def settle_range(which: tuple[slice, slice, Integers]) -> int:
            rows, here, starts = which
            room = np.zeros(n_columns + 1, dtype=np.int32), np.empty(int(starts[-1]), dtype=np.int64)
            columns, counts = self.columns[here], self.counts[here]
            return int(settle_rows(columns, counts, starts, binary, self.lengths[rows], *room))

        end = 0
        for (_, here, _), n_kept in zip(ranges, map_blocks(settle_range, ranges, n_threads=n_threads), strict=True):
            end = self._move(slice(here.start, here.start + n_kept), end)
        self._set_end(end)

    def drop_entries(self, leave_out: Callable[[Ints, Integers], Flags]) -> None:
        """Drop pairs of settled rows, of which `leave_out` (their columns, where each row starts) returns whether each
        goes.
        """
        end = 0
        for rows, here, starts in self._ranges(_ENTRIES_AT_ONCE):
            stays = ~leave_out(self.columns[here], starts)
            self.lengths[rows] = np.diff(np.concatenate([[0], np.cumsum(stays)])[starts])
            end = self._move(here.start + np.flatnonzero(stays), end)
        self._set_end(end)

    def frequencies(self, n_columns: int) -> tuple[Integers, Integers]:
        """Return in how many rows each column occurs, and how often in all, int64 arrays of shape (n_columns,)."""
        document_frequency, term_frequency = np.zeros((2, n_columns), dtype=np.int64)
        for _, here, _ in self._ranges(max(_ENTRIES_AT_ONCE, n_columns)):
            document_frequency += np.bincount(self.columns[here], minlength=n_columns)
            term_frequency += np.bincount(self.columns[here], self.counts[here], n_columns).astype(np.int64)
        return document_frequency, term_frequency

    def keep(self, columns: Flags) -> None:
        """Drop the other columns, and renumber those that stay in the same order."""
        if columns.all():
            return
        self.drop_entries(lambda columns_of_block, _: ~columns[columns_of_block])
        place = (np.cumsum(columns) - 1).astype(np.int32)
        for _, here, _ in self._ranges(_ENTRIES_AT_ONCE):
            self.columns[here] = place[self.columns[here]]

    def to_matrix(self, n_columns: int, *, dtype: npt.DTypeLike) -> CsrArray:
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

    def _ranges(self, n_entries: int) -> Iterator[tuple[slice, slice, Integers]]:
        """Yield the rows of about this many pairs, where these lie, and where among them each row starts."""
        starts = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])
        marks = np.searchsorted(starts, np.arange(0, self.n_entries, n_entries))
        edges = np.unique([*marks.tolist(), self.n_rows]).tolist()
        for first, last in pairwise(edges):
            begin, end = int(starts[first]), int(starts[last])
            yield slice(first, last), slice(begin, end), starts[first : last + 1] - begin

    def _move(self, which: slice | Integers, end: int) -> int:
        """Move pairs to an earlier place, up to those that were moved before; returns where they end."""
        columns, counts = self.columns[which], self.counts[which]
        here = slice(end, end + columns.size)
        self.columns[here], self.counts[here] = columns, counts
        return here.stop

    def _set_end(self, end: int, spans: list[tuple[int, int]] | None = None) -> None:
        self.n_entries = end
        self._spans = [(end, 0)] if spans is None else spans

    def _resize(self, size: int) -> None:
        # No slice of these arrays outlives the call it is made for, so they can be moved; large ones are not copied
        # but mapped elsewhere, which keeps the peak low.
        self.columns.resize(size, refcheck=False)
        self.counts.resize(size, refcheck=False)


def _as_type_in_place(counts: Ints, dtype: DType) -> Array:
    """Return the counts as `dtype`, in the same memory if the types are of one size."""
    if dtype.itemsize != counts.dtype.itemsize:
        return counts.astype(dtype)
    values = counts.view(dtype)
    for start in range(0, counts.size, _ENTRIES_AT_ONCE):
        part = slice(start, start + _ENTRIES_AT_ONCE)
        values[part] = counts[part].astype(dtype)
    return values


@dataclass
class TermCounts:
    """How often each term occurs in each of some documents."""

    terms: list[str]  # one per column: sorted, or in the order of the vocabulary that was given
    rows: RowStore  # used up by `matrix`
    document_frequency: Integers  # of shape (n_terms,): in how many documents each term occurs
    term_frequency: Integers  # and how often in all
    form_counts: dict[str, int] | None  # with stemming, how often each written form occurs
    stop_words_met: set[str]  # those that were left out of these documents

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return self.rows.n_rows

    def matrix(self, keep: Flags, *, dtype: npt.DTypeLike) -> CsrArray:
        """Return the counts of the terms in `keep` as a csr array; the rows are used up."""
        self.rows.keep(keep)
        return self.rows.to_matrix(int(np.count_nonzero(keep)), dtype=dtype)


class TermStatistics:
    """How common each term is in batches of documents whose rows are gone."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self.document_frequency, self.term_frequency = np.zeros((2, 0), dtype=np.int64)
        self.form_counts: dict[str, int] | None = None
        self.stop_words_met: set[str] = set()
        self.n_documents = 0

    @property
    def terms(self) -> list[str]:
        """All terms, in the order in which they were met."""
        return list(self._place)

    def add(self, batch: TermCounts | TermStatistics) -> None:
        """Add the statistics of one batch or of several."""
        place = self._place
        places = np.array([place.setdefault(term, len(place)) for term in batch.terms], dtype=np.intp)
        new = np.zeros(len(place) - self.document_frequency.size, dtype=np.int64)
        self.document_frequency = np.concatenate([self.document_frequency, new])
        self.term_frequency = np.concatenate([self.term_frequency, new])
        self.document_frequency[places] += batch.document_frequency  # terms of one batch are distinct
        self.term_frequency[places] += batch.term_frequency
        self.stop_words_met |= batch.stop_words_met
        self.n_documents += batch.n_documents
        if batch.form_counts is not None:
            total = self.form_counts = self.form_counts or {}
            for form, times in batch.form_counts.items():
                total[form] = total.get(form, 0) + times

    def summary(self, vocabulary: Mapping[str, int] | None) -> TermCounts:
        """Return all batches together, without rows; the terms in the order of `vocabulary`, or sorted."""
        terms = sorted(self._place, key=None if vocabulary is None else vocabulary.__getitem__)
        order = np.array([self._place[term] for term in terms], dtype=np.intp)
        df, tf = self.document_frequency[order], self.term_frequency[order]
        rows = RowStore(n_empty=self.n_documents)
        return TermCounts(terms, rows, df, tf, self.form_counts, self.stop_words_met)


def joined_statistics(parts: Iterable[TermStatistics]) -> TermStatistics:
    """Return the statistics of all parts together, which stay as they are."""
    total = TermStatistics()
    for part in parts:
        total.add(part)
    return total


def count_terms(
    documents: Iterable[object],
    analysis: Analysis,
    *,
    vocabulary: Mapping[str, int] | None = None,
    binary: bool = False,
    n_threads: int | None = None,
) -> TermCounts:
    """Return the term counts of `documents`; a `vocabulary` (term -> column) settles the columns beforehand."""
    pool = CounterPool(analysis, n_threads=n_threads)
    rows = RowStore(pool.count(documents))
    forms, numbers = pool.sorted_forms()
    met = set(analysis.stop_words.intersection(forms)) | analysis.stop_words_met
    if analysis.function_words is not None:
        met |= _leave_out_function_words(rows, forms, numbers, analysis.function_words, n_threads)
        numbers = [np.arange(len(forms), dtype=np.int32)]
    form_counts = None
    if analysis.stem is not None:
        form_counts = dict(zip(forms, rows.occurrences(numbers, len(forms)).tolist(), strict=True))
    terms, column = number_terms(forms, analysis) if vocabulary is None else find_terms(forms, analysis, vocabulary)
    rows.settle(
        numbers if column is None else [column[of_counter] for of_counter in numbers],
        len(terms),
        binary=binary,
        n_threads=n_threads,
    )
    document_frequency, term_frequency = rows.frequencies(len(terms))
    return TermCounts(terms, rows, document_frequency, term_frequency, form_counts, met)


def _leave_out_function_words(
    rows: RowStore,
    forms: Sequence[str],
    numbers: Sequence[npt.NDArray[np.int32]],
    function_words: FunctionWords,
    n_threads: int | None,
) -> set[str]:
    """Settle rows by form, drop from each the function words of its own language, and return those met."""
    rows.settle(numbers, len(forms), n_threads=n_threads)
    votes, on_list = function_words.tables(forms)
    telling: Flags = np.abs(votes).max(axis=1, initial=0) > 0
    met = np.zeros(len(forms), dtype=bool)

    def left_out(columns: npt.NDArray[np.int32], starts: Integers) -> Flags:
        row_of = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        # each row votes for its language by the words that tell, then loses the words on the list of that one
        tells = telling[columns]
        voters, rows_of_voters = columns[tells], row_of[tells]
        total = [
            np.bincount(rows_of_voters, weights=votes[voters, place], minlength=starts.size - 1)
            for place in range(votes.shape[1])
        ]
        language = np.array(total).argmax(axis=0)
        dropped: Flags = on_list[columns, language[row_of]]
        met[columns[dropped]] = True
        return dropped

    rows.drop_entries(left_out)
    return {forms[place] for place in np.flatnonzero(met).tolist()}


def number_terms(forms: list[str], analysis: Analysis) -> tuple[list[str], npt.NDArray[np.int32] | None]:
    """Return the sorted terms, and the place of the term of each sorted form: -1 for none, None if all are terms."""
    if analysis.stem is None and not analysis.stop_words:
        return forms, None
    if analysis.stem is None:
        stays = np.array([form not in analysis.stop_words for form in forms], dtype=bool)
        terms = [form for form, is_term in zip(forms, stays.tolist(), strict=True) if is_term]
        return terms, np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)
    term_of_form = list(map(analysis.term_of, forms))
    terms = sorted({term for term in term_of_form if term is not None})
    place: dict[str | None, int] = dict(zip(terms, range(len(terms)), strict=True))
    place[None] = -1
    return terms, np.fromiter(map(place.__getitem__, term_of_form), dtype=np.int32, count=len(forms))


def find_terms(
    forms: list[str], analysis: Analysis, vocabulary: Mapping[str, int]
) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return the terms of a vocabulary by column, and the column of the term of each written form, -1 for none."""
    is_ordered = list(vocabulary.values()) == list(range(len(vocabulary)))  # as `fit` makes it; quicker than to sort
    terms = list(vocabulary) if is_ordered else sorted(vocabulary, key=vocabulary.__getitem__)
    terms_of_forms: Iterable[str | None] = forms
    if analysis.stem is not None or analysis.stop_words:
        terms_of_forms = map(analysis.term_of, forms)
    columns = (-1 if term is None else vocabulary.get(term, -1) for term in terms_of_forms)
    return terms, np.fromiter(columns, dtype=np.int32, count=len(forms))


def commonest_forms(terms: Sequence[str], form_counts: Mapping[str, int], analysis: Analysis) -> list[str]:
    """Return the commonest written form of each term; of equally common ones the first in alphabetical order."""
    best: dict[str, tuple[int, str]] = {}
    for form, times in form_counts.items():
        term = analysis.term_of(form)
        if term is not None:
            best[term] = min(best.get(term, (0, "")), (-times, form))
    return [best[term][1] if term in best else term for term in terms]
