"""Documents counted by term: the sorted terms, how common each is, and the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Integers
from doccluster.base.sparse_structure import document_frequencies, with_values
from doccluster.text.analysis import Analysis
from doccluster.text.counting import CounterPool
from doccluster.text.language import FunctionWords


@dataclass
class TermCounts:
    """How often each term occurs in each of some documents."""

    terms: list[str]  # one per column: sorted, or in the order of the vocabulary that was given
    rows: CsrArray  # their counts, int32; used up by `matrix`
    document_frequency: Integers  # of shape (n_terms,): in how many documents each term occurs
    term_frequency: Integers  # and how often in all
    form_counts: dict[str, int] | None  # with stemming, how often each written form occurs
    stop_words_met: set[str]  # those that were left out of these documents

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return int(self.rows.shape[0])

    def matrix(self, keep: Flags | None = None, *, dtype: npt.DTypeLike) -> CsrArray:
        """Return the counts of all terms, or of those in `keep`, as a csr array; the rows are used up."""
        if keep is not None and not keep.all():
            self.rows = self.rows[:, keep]
        return with_values(self.rows, self.rows.data.astype(dtype))


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
        rows = sparse.csr_array((self.n_documents, len(terms)), dtype=np.int32)
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
    blocks = list(pool.count(documents))
    forms, numbers = pool.sorted_forms()
    parts = [sparse.csr_array((0, len(forms)), dtype=np.int32)]  # there may be no document
    for block in blocks:
        starts = np.concatenate([[0], np.cumsum(block.lengths)]).astype(np.int32)
        entries = block.counts, numbers[block.counter][block.columns], starts
        parts.append(sparse.csr_array(entries, shape=(block.lengths.size, len(forms))))
    rows = sparse.vstack(parts, format="csr")
    del blocks, parts
    met = set(analysis.stop_words.intersection(forms)) | analysis.stop_words_met
    if analysis.function_words is not None:
        met |= _leave_out_function_words(rows, forms, analysis.function_words)
    form_counts = None
    if analysis.stem is not None:
        form_counts = dict(zip(forms, rows.sum(axis=0, dtype=np.int64).tolist(), strict=True))
    terms, column = number_terms(forms, analysis) if vocabulary is None else find_terms(forms, analysis, vocabulary)
    if column is not None:
        kept = np.flatnonzero(column >= 0).astype(np.int32)
        ones = np.ones(kept.size, dtype=np.int32)
        rows @= sparse.csr_array((ones, (kept, column[kept])), shape=(len(forms), len(terms)))
    rows.sort_indices()
    if binary:
        rows.data[:] = 1
    term_frequency = rows.sum(axis=0, dtype=np.int64)
    return TermCounts(terms, rows, document_frequencies(rows), term_frequency, form_counts, met)


def _leave_out_function_words(rows: CsrArray, forms: Sequence[str], function_words: FunctionWords) -> set[str]:
    """Drop from each row of written forms the function words of its own language, in place, and return those met."""
    votes, on_list = function_words.tables(forms)
    # the forms of a row vote for its language, each once
    language = (with_values(rows, np.ones_like(rows.data)) @ votes).argmax(axis=1)
    is_left_out = on_list[rows.indices, np.repeat(language, np.diff(rows.indptr))]
    met = np.unique(rows.indices[is_left_out])
    rows.data[is_left_out] = 0
    rows.eliminate_zeros()
    return {forms[place] for place in met.tolist()}


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
