"""What texts, titles and searches say of the words of a label.

Phrases are candidates: how many documents of each cluster have them is estimated from a sample of texts. Do authors use
a word in titles, and does a search for it bring its cluster back?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, Matrix
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import LOOPS
from doccluster.corpus.stored_texts import PickedTexts, text_lengths
from doccluster.geometry.partition import Partition
from doccluster.text.language import linking_words
from doccluster.text.phrases import Phrase, find_phrases, word_uses, written_as
from doccluster.text.running_text import RunningText

MAX_DOCUMENTS = 50_000  # of more, as many evenly spaced ones are searched

_ANSWER = re.compile(r"^(?:\s*\[?(?:re|fwd?|aw|wg|sv|tr)(?:\[\d+\])?\s*[:\]])+", re.IGNORECASE)
FEW = 5  # titles, of which a name should be in several


class LabelQueries:
    """Documents that can be searched for a few terms.

    Documents that have more of the terms of a query come first, among those the ones in which they weigh most; equal
    ones in the order of rows.
    """

    def __init__(self, rows: Matrix, labels: AnyIntegers, columns: Collection[int]) -> None:
        terms = np.unique(np.fromiter(columns, dtype=np.int64, count=len(columns)))
        self.labels = labels
        self.sizes = np.bincount(labels)
        self._places = {column: place for place, column in enumerate(terms.tolist())}
        weights = sparse.csc_array(rows[:, terms])
        heaviest = np.lexsort(
            (weights.indices, -weights.data, np.repeat(np.arange(terms.size), np.diff(weights.indptr)))
        )
        self._starts, self._hits, self._weights = weights.indptr, weights.indices[heaviest], weights.data[heaviest]

    @classmethod
    def of_partition(cls, rows: Matrix, partition: Partition, columns: Collection[int]) -> LabelQueries:
        """Return the queries of a partition; of more than 50,000 documents as many evenly spaced ones."""
        n, labels = partition.n_documents, partition.labels
        if n > MAX_DOCUMENTS:
            sample = np.arange(MAX_DOCUMENTS) * n // MAX_DOCUMENTS
            rows, labels = rows[sample], labels[sample]
        return cls(sparse.csr_array(rows), labels, columns)

    def rank(self, columns: Sequence[int], n_best: int) -> AnyIntegers:
        """Return the best documents that have one of these terms."""
        places = [self._places[column] for column in columns]
        entries = [slice(self._starts[place], self._starts[place + 1]) for place in places]
        if len(entries) == 1:
            return np.asarray(self._hits[entries[0]][:n_best])
        hits = np.concatenate([self._hits[entry] for entry in entries])
        weights = np.concatenate([self._weights[entry] for entry in entries])
        # one hit stands for the hits of its document, so that documents without any are not counted
        place = np.empty(self.labels.size, np.int64)
        place[hits] = np.arange(hits.size)
        n_met, scores = np.bincount(place[hits]), np.bincount(place[hits], weights)
        best = hits[:0]
        for n_terms in range(len(columns), 0, -1):  # those that have fewer are not ordered where enough have more
            level = np.flatnonzero(n_met == n_terms)
            best = np.append(best, _heaviest(hits[level], scores[level], n_best - best.size))
            if best.size == n_best:
                break
        return best

    def share_found(self, columns: Sequence[int], cluster: int) -> float:
        """Return the share of the documents of a cluster that come back among as many hits as it has documents."""
        size = int(self.sizes[cluster]) if cluster < self.sizes.size else 0
        return float((self.labels[self.rank(columns, size)] == cluster).sum() / size) if size else 0.0


def _heaviest(documents: AnyIntegers, scores: npt.NDArray[Any], n_best: int) -> AnyIntegers:
    """Return the documents with the largest scores, best first; equal ones in the order of rows."""
    if documents.size > n_best:
        is_near = scores >= np.partition(scores, -n_best)[-n_best]
        documents, scores = documents[is_near], scores[is_near]
    return documents[np.lexsort((documents, -scores))[:n_best]]


@dataclass(frozen=True, eq=False, repr=False)
class TitleCounts(ShortRepr):
    """Titles of clusters."""

    having: sparse.csr_array  # of shape (k, n_terms): how many of the titles of each cluster have each term
    n_titles: npt.NDArray[np.int64]  # of shape (k,): how many titles of each cluster were read

    @classmethod
    def of_titles(
        cls, titles: Sequence[str], count: Callable[[list[str]], object], labels: npt.NDArray[np.int64], n_clusters: int
    ) -> TitleCounts:
        """Return the counts of titles; those of a cluster that are the same but for "Re:" count once."""
        firsts: dict[tuple[int, str], int] = {}
        for place, (title, label) in enumerate(zip(titles, labels.tolist(), strict=True)):
            firsts.setdefault((label, subject_of(title)), place)
        first_places = np.fromiter(firsts.values(), np.int64, len(firsts))
        has = sparse.csr_array(count([titles[place] for place in first_places.tolist()]), dtype=np.float64)
        has.data[:] = 1
        members = sparse.csr_array(
            (np.ones(first_places.size), (labels[first_places], np.arange(first_places.size))),
            shape=(n_clusters, first_places.size),
        )
        having = sparse.csr_array(members @ has)
        having.sort_indices()
        return cls(having, np.bincount(labels[first_places], minlength=n_clusters))

    def factor(self, columns: Sequence[int], cluster: int) -> float:
        """Return the weight of a term in the titles of a cluster: the square root of the share that has it, one added.

        Of a few titles it is the share itself, and a term that none of them has counts for little. A phrase is in as
        many titles as the rarest of its words.
        """
        entries = slice(self.having.indptr[cluster], self.having.indptr[cluster + 1])
        columns_of = self.having.indices[entries]
        places = np.searchsorted(columns_of, columns)
        has_titles = places.max() < columns_of.size and bool((columns_of[places] == columns).all())
        n_having = self.having.data[entries][places].min() if has_titles else 0.0
        n_titles = int(self.n_titles[cluster])
        if n_titles <= FEW:
            return float((n_having + 0.05) / (n_titles + 0.05))
        return float(np.sqrt((n_having + 1) / (n_titles + 1)))


def subject_of(title: str) -> str:
    """Return a title as it is compared: without the marks of an answer, in small letters.

    >>> subject_of("Re: RE: [Fwd] Rye bread")
    'rye bread'
    """
    return _ANSWER.sub("", title).strip().casefold()


MAX_CHARACTERS = 2_000_000  # of all texts that are read for phrases
PER_DOCUMENT = 4_000
MIN_SHARE = 0.02  # of the documents of a cluster

_PART = re.compile(r"\w+")  # the terms of a word with a hyphen


@dataclass(frozen=True, eq=False, repr=False)
class LabelPhrases(ShortRepr):
    """Phrases that may name clusters, and words that may not."""

    names: tuple[str, ...]  # as they are written
    columns: tuple[tuple[int, ...], ...]  # the columns of their words that are terms, at least one each
    # of shape (k, n_phrases): how many documents of each cluster have each: the share of those that were read, times
    # its size
    support: sparse.csr_array
    unfit: frozenset[str] = frozenset()  # words (lower case) that can name nothing alone, by the way the texts use them

    def of_groups(self, groups: npt.NDArray[np.int64]) -> LabelPhrases:
        """Return the phrases of groups of clusters: `groups` of shape (k,) names the group of each, 0..m-1."""
        is_in = sparse.csr_array((np.ones(groups.size), (groups, np.arange(groups.size))))
        return replace(self, support=sparse.csr_array(is_in @ self.support))


def count_label_phrases(
    texts: Sequence[str],
    partition: Partition,
    column_of: Callable[[str], int | None],
    *,
    titles: Sequence[str] | None = None,
    function_words: Collection[str] = frozenset(),
    languages: Collection[str] = (),
    prepare: Callable[[str], str] = str.lower,
    max_characters: int = MAX_CHARACTERS,
) -> LabelPhrases:
    """Return the phrases that documents of a cluster have in common.

    `texts`: the documents of the partition; evenly spaced ones of each cluster are read, as much text of each.
    `column_of`: the column of a word as `prepare` leaves it; None where it is not a term. `titles`: of the documents;
    no phrase goes on from a title into the text. `function_words`: words that begin and end no phrase. `languages`: of
    the texts. `prepare`: what is done to a text before it is cut into words. `max_characters`: at most about so much
    text is read.
    """
    rows = _sample(texts, partition, max_characters)
    labels = partition.labels[rows]
    n_read = np.bincount(labels, minlength=partition.n_clusters)
    running = RunningText.of_texts(_with_titles(LOOPS.over(PickedTexts(texts, rows)), titles, rows), prepare=prepare)
    uses = word_uses(running, function_words, languages)
    shown: list[str] = []
    columns: list[tuple[int, ...]] = []
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
    column_of_part: dict[str, int | None] = {}
    for phrase in find_phrases(running, uses, function_words=function_words, links=linking_words(languages)):
        counts = np.bincount(labels[phrase.texts], minlength=partition.n_clusters)
        if not ((counts >= 2) & (counts >= MIN_SHARE * n_read)).any():
            continue
        phrase_columns = _columns(phrase, column_of, column_of_part)
        if not phrase_columns:
            continue
        clusters = np.flatnonzero(counts)
        shown.append(written_as(phrase, running))
        columns.append(phrase_columns)
        # of a sample that was read: as many documents are expected in the whole cluster
        parts.append((clusters, counts[clusters] * partition.sizes[clusters] / n_read[clusters]))
    indices = np.concatenate([np.empty(0, dtype=np.int64), *(clusters for clusters, _ in parts)])
    values = np.concatenate([np.empty(0), *(estimated for _, estimated in parts)])
    edges = np.concatenate([[0], np.cumsum([clusters.size for clusters, _ in parts], dtype=np.int64)])
    by_phrase = sparse.csr_array((values, indices, edges), shape=(len(parts), partition.n_clusters))
    unfit = frozenset(
        word for word, may in zip(running.words, uses.may_stand_alone.tolist(), strict=True) if word and not may
    ).union(running.torn.keys() - set(running.words))
    return LabelPhrases(tuple(shown), tuple(columns), sparse.csr_array(by_phrase.T), unfit)


def _with_titles(texts: Iterable[str], titles: Sequence[str] | None, rows: npt.NDArray[np.int64]) -> Iterator[str]:
    """Return the beginnings of texts, an empty line after each title; a title that came before is left out."""
    subjects: set[str] = set()
    for text, row in zip(texts, rows.tolist(), strict=True):
        title = "" if titles is None else titles[row].strip()
        body = text[: len(title) + PER_DOCUMENT].removeprefix(title)
        subject = subject_of(title)
        yield f"{title}\n\n{body}" if title and subject not in subjects else body
        subjects.add(subject)


def _sample(texts: Sequence[str], partition: Partition, max_characters: int) -> npt.NDArray[np.int64]:
    """Return evenly spaced rows of each cluster, with about as much text of each."""
    each = max_characters / partition.n_clusters
    lengths = np.minimum(text_lengths(texts), PER_DOCUMENT)
    samples = []
    for cluster in range(partition.n_clusters):
        members = partition.members(cluster)
        length = int(lengths[members].sum()) / members.size
        count = min(max(int(each / max(length, 1.0)), 2), members.size)
        samples.append(members[np.arange(count) * members.size // count])
    return np.concatenate(samples)


def _columns(
    phrase: Phrase, column_of: Callable[[str], int | None], column_of_part: dict[str, int | None]
) -> tuple[int, ...]:
    parts = [part for word in phrase.words for part in _PART.findall(word)]
    for part in parts:
        if part not in column_of_part:
            column_of_part[part] = column_of(part)
    columns = (column_of_part[part] for part in parts)
    return tuple(dict.fromkeys(column for column in columns if column is not None))
