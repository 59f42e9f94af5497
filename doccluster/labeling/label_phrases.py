"""Phrases as candidates for labels: how many documents of each cluster have them, estimated from a sample of texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.corpus.stored_texts import PickedTexts, text_lengths
from doccluster.partition import Partition
from doccluster.short_repr import ShortRepr
from doccluster.text.phrases import Phrase, find_phrases

MAX_CHARACTERS = 2_000_000  # of all texts that are read for phrases
PER_DOCUMENT = 4_000
MIN_SHARE = 0.02  # of the documents of a cluster


@dataclass(frozen=True, eq=False, repr=False)
class LabelPhrases(ShortRepr):
    """Phrases that may name clusters.

    Attributes
    ----------
    names : tuple of str
        As they are written.
    columns : tuple of tuples of int
        The columns of their words that are terms, at least one each.
    support : csr array of shape (k, n_phrases), float64
        How many documents of each cluster have each: the share of those that were read, times its size.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    support: sparse.csr_array


def count_label_phrases(
    texts: Sequence[str],
    partition: Partition,
    names: npt.NDArray[np.object_],
    column_of: Callable[[str], int | None],
    *,
    function_words: Collection[str] = frozenset(),
    prepare: Callable[[str], str] = str.lower,
    max_characters: int = MAX_CHARACTERS,
) -> LabelPhrases:
    """Return the phrases that documents of a cluster have in common.

    Parameters
    ----------
    texts : sequence of str
        The documents of the partition; evenly spaced ones of each cluster are read, as much text of each.
    partition : Partition
    names : array of str of shape (n_terms,)
        The written form of each term.
    column_of : function word -> column
        The column of a word as `prepare` leaves it; None where it is no term.
    function_words : collection of str
        Words that begin and end no phrase.
    prepare : callable
        What is done to a text before it is cut into words.
    max_characters : int
        At most about so much text is read.
    """
    rows = _sample(texts, partition, max_characters)
    labels = partition.labels[rows]
    n_read = np.bincount(labels, minlength=partition.n_clusters)
    read = (text[:PER_DOCUMENT] for text in PickedTexts(texts, rows))
    shown: list[str] = []
    columns: list[tuple[int, ...]] = []
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
    known: dict[str, int | None] = {}
    for phrase in find_phrases(read, function_words=function_words, prepare=prepare):
        counts = np.bincount(labels[phrase.documents], minlength=partition.n_clusters)
        if not ((counts >= 2) & (counts >= MIN_SHARE * n_read)).any():
            continue
        own = _columns(phrase, column_of, known)
        if not own:
            continue
        clusters = np.flatnonzero(counts)
        shown.append(_written(phrase, names, known))
        columns.append(own)
        parts.append((clusters, counts[clusters] * partition.sizes[clusters] / n_read[clusters]))
    indices = np.concatenate([np.empty(0, dtype=np.int64), *(clusters for clusters, _ in parts)])
    values = np.concatenate([np.empty(0), *(estimated for _, estimated in parts)])
    edges = np.concatenate([[0], np.cumsum([clusters.size for clusters, _ in parts], dtype=np.int64)])
    by_phrase = sparse.csr_array((values, indices, edges), shape=(len(parts), partition.n_clusters))
    return LabelPhrases(tuple(shown), tuple(columns), sparse.csr_array(by_phrase.T))


def _sample(texts: Sequence[str], partition: Partition, max_characters: int) -> npt.NDArray[np.int64]:
    """Return evenly spaced rows of each cluster, with about as much text of each."""
    each = max_characters / partition.n_clusters
    lengths = np.minimum(text_lengths(texts), PER_DOCUMENT)
    found = []
    for cluster in range(partition.n_clusters):
        members = partition.members(cluster)
        length = int(lengths[members].sum()) / members.size
        count = min(max(int(each / max(length, 1.0)), 2), members.size)
        found.append(members[np.arange(count) * members.size // count])
    return np.concatenate(found)


def _columns(phrase: Phrase, column_of: Callable[[str], int | None], known: dict[str, int | None]) -> tuple[int, ...]:
    for word in phrase.words:
        if word not in known:
            known[word] = column_of(word)
    columns = (known[word] for word in phrase.words)
    return tuple(dict.fromkeys(column for column in columns if column is not None))


def _written(phrase: Phrase, names: npt.NDArray[np.object_], known: Mapping[str, int | None]) -> str:
    """Return a phrase as it is written: words that are terms in their commonest form, if that is the same word."""
    words = []
    for word in phrase.words:
        column = known[word]
        name = word if column is None else str(names[column])
        words.append(name if name.casefold() == word.casefold() else word)
    return " ".join(words)
