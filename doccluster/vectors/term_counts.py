"""Documents counted by term: the sorted terms, how common each is, and the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.text.analysis import Analysis
from doccluster.text.counting import CounterPool
from doccluster.text.language import FunctionWords
from doccluster.vectors.row_store import RowStore


@dataclass
class TermCounts:
    """How often each term occurs in each of some documents."""

    terms: list[str]  # one per column: sorted, or in the order of the vocabulary that was given
    rows: RowStore  # used up by `matrix`
    document_frequency: npt.NDArray[np.int64]  # of shape (n_terms,): in how many documents each term occurs
    term_frequency: npt.NDArray[np.int64]  # and how often in all
    form_counts: dict[str, int] | None  # with stemming, how often each written form occurs
    stop_words_met: set[str]  # those that were left out of these documents

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return self.rows.n_rows

    def matrix(self, keep: npt.NDArray[np.bool_], *, dtype: npt.DTypeLike) -> Any:
        """Return the counts of the terms in `keep` as a csr array; the rows are used up."""
        self.rows.keep(keep)
        return self.rows.to_matrix(int(np.count_nonzero(keep)), dtype=dtype)


class TermStatistics:
    """What is kept of batches of documents after their rows are gone: how common each term is."""

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
        """Add the terms of a batch, or what is known of other batches."""
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
    documents: Iterable[Any],
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
    """Settle rows by written form, drop from each the function words of its own language, and return those met.

    The language is that of `FunctionWords.leave_out`: the one that the distinct forms of the document give most votes.
    """
    rows.settle(numbers, len(forms), n_threads=n_threads)
    votes, on_list = function_words.tables(forms)
    telling: npt.NDArray[np.bool_] = np.abs(votes).max(axis=1, initial=0) > 0
    met = np.zeros(len(forms), dtype=bool)

    def left_out(columns: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        row_of = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        tells = telling[columns]
        voters, rows_of_voters = columns[tells], row_of[tells]
        total = [
            np.bincount(rows_of_voters, weights=votes[voters, place], minlength=starts.size - 1)
            for place in range(votes.shape[1])
        ]
        language = np.array(total).argmax(axis=0)
        dropped: npt.NDArray[np.bool_] = on_list[columns, language[row_of]]
        met[columns[dropped]] = True
        return dropped

    rows.drop_entries(left_out)
    return {forms[place] for place in np.flatnonzero(met).tolist()}


def number_terms(forms: list[str], analysis: Analysis) -> tuple[list[str], npt.NDArray[np.int32] | None]:
    """Return the sorted terms, and the place of the term of each written form: -1 for none, None when all are terms.

    forms: sorted written forms.
    """
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
