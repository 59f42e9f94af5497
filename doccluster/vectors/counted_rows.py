"""Counted blocks -> one csr matrix of counts: tokens become terms, terms become sorted columns, blocks become rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import map_blocks
from doccluster.kernels.tokens import add_frequencies, keep_columns, settle_rows
from doccluster.text.counters import CountedBlock

INT32_MAX = np.iinfo(np.int32).max


def number_terms(
    forms: Sequence[Sequence[str]], term_of: Callable[[str], str | None] | None
) -> tuple[list[str], list[npt.NDArray[np.int32]]]:
    """Return the sorted terms, and for each counter the place of the term of each of its written forms (-1: none).

    forms: the written forms of each counter; term_of: written form -> term or None; None means every form is a term.
    """
    distinct = set().union(*forms)
    terms = sorted(distinct if term_of is None else {term for form in distinct if (term := term_of(form)) is not None})
    place = dict(zip(terms, range(len(terms)), strict=True))
    return terms, [places_of(of_counter, term_of, place) for of_counter in forms]


def places_of(
    forms: Sequence[str], term_of: Callable[[str], str | None] | None, place: Mapping[str, int]
) -> npt.NDArray[np.int32]:
    """Return the column of the term of each written form, -1 where it has none, int32 array."""
    found = (
        (place.get(form, -1) for form in forms) if term_of is None else (_place(form, term_of, place) for form in forms)
    )
    return np.fromiter(found, dtype=np.int32, count=len(forms))


def _place(form: str, term_of: Callable[[str], str | None], place: Mapping[str, int]) -> int:
    term = term_of(form)
    return -1 if term is None else place.get(term, -1)


def settle_blocks(
    blocks: Iterable[CountedBlock],
    column_of: Sequence[npt.NDArray[np.int32]],
    *,
    binary: bool = False,
    n_threads: int | None = None,
) -> Iterator[CountedBlock]:
    """Yield the blocks with columns instead of tokens, in place: rows sorted, equal columns added up."""

    def settle(block: CountedBlock) -> CountedBlock:
        kept = settle_rows(block.lengths, block.columns, block.counts, column_of[block.counter], binary)
        block.columns, block.counts = block.columns[:kept], block.counts[:kept]
        return block

    yield from map_blocks(settle, blocks, n_threads=n_threads)


def frequencies(blocks: Iterable[CountedBlock], n_terms: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return in how many documents each column occurs, and how often in all, int64 arrays of shape (n_terms,)."""
    document_frequency = np.zeros(n_terms, dtype=np.int64)
    term_frequency = np.zeros(n_terms, dtype=np.int64)
    for block in blocks:
        add_frequencies(block.columns, block.counts, document_frequency, term_frequency)
    return document_frequency, term_frequency


def stack_rows(
    blocks: list[CountedBlock], new_column: npt.NDArray[np.int32], *, n_entries: int, n_terms: int, dtype: npt.DTypeLike
) -> Any:
    """Return the settled blocks as one csr array of counts; the list is emptied on the way, to free memory.

    new_column: the final number of each column, -1 for those left out, rising; n_entries: how many entries stay.
    """
    index_type = np.int32 if max(n_entries, n_terms) <= INT32_MAX else np.int64
    indices = np.empty(n_entries, dtype=index_type)
    data = np.empty(n_entries, dtype=dtype)
    indptr = np.zeros(sum(block.lengths.size for block in blocks) + 1, dtype=index_type)
    row, entry = 0, 0
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        ends = np.empty(block.lengths.size, dtype=np.int64)
        keep_columns(block.lengths, block.columns, block.counts, new_column, indices[entry:], data[entry:], ends)
        indptr[row + 1 : row + 1 + ends.size] = ends + entry
        row += ends.size
        entry += int(ends[-1])
    matrix = sparse.csr_array((data, indices, indptr), shape=(row, n_terms))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix
