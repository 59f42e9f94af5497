"""Phrases as candidates for labels: how many documents of each cluster have them, estimated from a sample of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.short_repr import ShortRepr
from doccluster.corpus.stored_texts import PickedTexts, text_lengths
from doccluster.labeling.label_evidence import subject_of
from doccluster.partition import Partition
from doccluster.text.phrases import Phrase, find_phrases, written_as
from doccluster.text.running_text import RunningText
from doccluster.text.weak_words import linking_words
from doccluster.text.word_uses import word_uses

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
    running = RunningText.of_texts(_with_titles(PickedTexts(texts, rows), titles, rows), prepare=prepare)
    uses = word_uses(running, function_words, languages)
    shown: list[str] = []
    columns: list[tuple[int, ...]] = []
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
    known: dict[str, int | None] = {}
    for phrase in find_phrases(running, uses, function_words=function_words, links=linking_words(languages)):
        counts = np.bincount(labels[phrase.texts], minlength=partition.n_clusters)
        if not ((counts >= 2) & (counts >= MIN_SHARE * n_read)).any():
            continue
        own = _columns(phrase, column_of, known)
        if not own:
            continue
        clusters = np.flatnonzero(counts)
        shown.append(written_as(phrase, running))
        columns.append(own)
        parts.append((clusters, counts[clusters] * partition.sizes[clusters] / n_read[clusters]))
    indices = np.concatenate([np.empty(0, dtype=np.int64), *(clusters for clusters, _ in parts)])
    values = np.concatenate([np.empty(0), *(estimated for _, estimated in parts)])
    edges = np.concatenate([[0], np.cumsum([clusters.size for clusters, _ in parts], dtype=np.int64)])
    by_phrase = sparse.csr_array((values, indices, edges), shape=(len(parts), partition.n_clusters))
    unfit = frozenset(
        word for word, may in zip(running.words, uses.may_stand_alone.tolist(), strict=True) if word and not may
    )
    return LabelPhrases(tuple(shown), tuple(columns), sparse.csr_array(by_phrase.T), unfit)


def _with_titles(texts: Sequence[str], titles: Sequence[str] | None, rows: npt.NDArray[np.int64]) -> Iterator[str]:
    """Return the beginnings of texts, an empty line after each title; a title that came before is left out."""
    told: set[str] = set()
    for text, row in zip(texts, rows.tolist(), strict=True):
        title = "" if titles is None else titles[row].strip()
        body = text[: len(title) + PER_DOCUMENT].removeprefix(title)
        subject = subject_of(title)
        yield f"{title}\n\n{body}" if title and subject not in told else body
        told.add(subject)


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
    parts = [part for word in phrase.words for part in _PART.findall(word)]
    for part in parts:
        if part not in known:
            known[part] = column_of(part)
    columns = (known[part] for part in parts)
    return tuple(dict.fromkeys(column for column in columns if column is not None))
