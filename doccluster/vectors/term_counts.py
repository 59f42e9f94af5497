"""Documents counted by term: the sorted terms, how common each is, and the rows, still in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.text.analysis import Analysis
from doccluster.text.counters import CountedBlock
from doccluster.text.counting import CounterPool
from doccluster.vectors.counted_rows import frequencies, number_terms, places_of, settle_blocks, stack_rows


@dataclass
class TermCounts:
    """How often each term occurs in each of some documents.

    Attributes
    ----------
    terms : list of str
        One per column: sorted, or in the order of the vocabulary that was given.
    blocks : list of CountedBlock
        The rows; emptied by `matrix`.
    document_frequency, term_frequency : int64 arrays of shape (n_terms,)
        In how many documents each term occurs, and how often in all.
    written : dict of str to int, or None
        With stemming, how often each written form occurs.
    stop_words_met : set of str
        The stop words that were left out of these documents.
    n_documents : int
        The number of rows.
    """

    terms: list[str]
    blocks: list[CountedBlock]
    document_frequency: npt.NDArray[np.int64]
    term_frequency: npt.NDArray[np.int64]
    written: dict[str, int] | None
    stop_words_met: set[str]
    n_documents: int

    def matrix(self, keep: npt.NDArray[np.bool_], *, dtype: npt.DTypeLike) -> Any:
        """Return the counts of the terms in `keep` as a csr array; the blocks are used up."""
        new_column = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        n_entries = int(self.document_frequency[keep].sum())
        return stack_rows(
            self.blocks, new_column, n_entries=n_entries, n_terms=int(np.count_nonzero(keep)), dtype=dtype
        )


def count_terms(
    documents: Iterable[Any],
    analysis: Analysis,
    *,
    vocabulary: Mapping[str, int] | None = None,
    binary: bool = False,
    n_threads: int | None = None,
) -> TermCounts:
    """Return the term counts of `documents`; a `vocabulary` (term -> column) settles the columns beforehand."""
    pool = CounterPool(analysis, n_threads=n_threads)
    blocks = list(pool.count(documents))
    forms = [counter.written_forms() for counter in pool.counters]
    plain = analysis.stem is None and not analysis.stop_words
    written = count_written_forms(blocks, forms) if analysis.stem is not None else None
    if vocabulary is None:
        terms, columns = number_terms(forms, None if plain else analysis.term_of)
    else:
        terms = sorted(vocabulary, key=vocabulary.__getitem__)
        columns = [places_of(of_counter, None if plain else analysis.term_of, vocabulary) for of_counter in forms]
    settled = list(settle_blocks(blocks, columns, binary=binary, n_threads=n_threads))
    document_frequency, term_frequency = frequencies(settled, len(terms))
    met = analysis.stop_words.intersection(*[set().union(*forms)]) | analysis.stop_words_met
    n_documents = sum(block.lengths.size for block in settled)
    return TermCounts(terms, settled, document_frequency, term_frequency, written, set(met), n_documents)


def count_written_forms(blocks: Iterable[CountedBlock], forms: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return how often each written form occurs in all; `blocks` are not settled yet."""
    totals = [np.zeros(len(of_counter)) for of_counter in forms]
    for block in blocks:
        total = totals[block.counter]
        total += np.bincount(block.columns, weights=block.counts, minlength=total.size)
    written: dict[str, int] = {}
    for of_counter, total in zip(forms, totals, strict=True):
        for form, times in zip(of_counter, total.tolist(), strict=True):
            written[form] = written.get(form, 0) + int(times)
    return written


def commonest_forms(terms: Sequence[str], written: Mapping[str, int], analysis: Analysis) -> list[str]:
    """Return the commonest written form of each term; of equally common ones the first in alphabetical order."""
    best: dict[str, tuple[int, str]] = {}
    for form, times in written.items():
        term = analysis.term_of(form)
        if term is not None:
            best[term] = min(best.get(term, (0, "")), (-times, form))
    return [best[term][1] if term in best else term for term in terms]
