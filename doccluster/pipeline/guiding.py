"""Clusters grown from topics that a person knows already, beside free ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Integers, Labels, Matrix
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress
from doccluster.clustering.guidance import MIN_COHERENCE, MIN_SHARE, GrownClusters, Guides, grow_clusters
from doccluster.clustering.task import decide
from doccluster.errors import Argument, InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling import ClusterDescription
from doccluster.pipeline._fitting import FittedClusters, centroids_of, largest_first, new_numbers
from doccluster.pipeline.known_topics import Topic
from doccluster.results.document_table import DocumentTable
from doccluster.results.tree import Levels
from doccluster.vectors import DocumentVectors, TfidfVectorizer

N_SIMILAR = 10  # documents that stand for an example text


@dataclass(frozen=True, eq=False, repr=False)
class GuidedClusters(ShortRepr):
    """Clusters grown from topics.

    `topic_of` and `grown_from`: int64 arrays of shape (n_documents,), the topic that the cluster of each document
    belongs to, and the one whose own cluster it is; -1 for none. `outside` says which documents fit no topic, where
    only topics are wanted.
    """

    fit: FittedClusters
    topics: tuple[Topic, ...]
    topic_of: Labels
    grown_from: Labels
    outside: Flags | None
    notes: tuple[str, ...]

    def roots(self) -> Labels:
        """Return the outermost ancestor of the topic of each document, int64 array; -1 for none."""
        numbers = {topic.name: number for number, topic in enumerate(self.topics)}
        root_of = []
        for number, topic in enumerate(self.topics):
            while topic.parent is not None:
                number = numbers[topic.parent]
                topic = self.topics[number]
            root_of.append(number)
        return np.array([*root_of, -1], dtype=np.int64)[self.topic_of]

    def has_groups(self) -> bool:
        """Return whether a topic has several clusters, or a parent."""
        has_parts = (self.grown_from < 0) & (self.topic_of >= 0)
        return bool(has_parts.any()) or any(topic.parent is not None for topic in self.topics)

    def name(
        self, labels: Labels, levels: Levels, clusters: tuple[ClusterDescription, ...]
    ) -> tuple[Levels, tuple[ClusterDescription, ...]]:
        """Return the levels of a run and its clusters, of partition `labels`, with the names of topics."""
        if self.has_groups():
            topics = {"topic": self.topic_of, "section": self.roots()}
            coarser = (
                replace(level, clusters=_named(self, level.clusters, level.labels, topics[level.name]))
                for level in levels.coarser
            )
            levels = replace(levels, coarser=tuple(coarser))
        return levels, _named(self, clusters, labels, self.grown_from)


def _named(
    guided: GuidedClusters, clusters: tuple[ClusterDescription, ...], labels: Labels, topic_of: Labels
) -> tuple[ClusterDescription, ...]:
    """Return descriptions of the clusters of `labels`, those of one topic with its name."""
    numbers, rows = np.unique(labels, return_index=True)
    names = {
        int(number): guided.topics[topic].name
        for number, topic in zip(numbers, topic_of[rows].tolist(), strict=True)
        if topic >= 0
    }
    return tuple(
        replace(cluster, name=names[cluster.cluster], label=names[cluster.cluster])
        if cluster.cluster in names
        else cluster
        for cluster in clusters
    )


def guide_clusters(
    fit: FittedClusters,
    vectors: DocumentVectors,
    documents: DocumentTable,
    vectorizer: TfidfVectorizer | None,
    topics: tuple[Topic, ...],
    *,
    without_terms: Collection[str],
    only_topics: bool,
    n_threads: int | None,
    progress: Progress,
) -> GuidedClusters:
    """Return clusters grown from topics beside free ones, begun from free clusters.

    Examples among the ids of documents `without_terms` are in no cluster, and a note says so.

    Raises InputError if an example is neither the id of a document nor a text.
    """
    growing = np.array([number for number, topic in enumerate(topics) if topic.words or topic.examples])
    guides = _guides([topics[number] for number in growing], vectors, documents, vectorizer, without_terms)
    rows = vectors.documents.unit
    k = fit.partition.n_clusters
    counts = vectors.counts if fit.rule is not None and fit.rule.on_counts else None
    points = rows if fit.points is None else fit.points
    grown = grow_clusters(rows, counts, points, fit.partition.labels, k, guides, n_threads=n_threads, progress=progress)
    labels, of_cluster = grown.labels, np.where(grown.topics >= 0, growing[grown.topics], -1)
    rule = None if grown.mixture is None else grown.mixture.rule
    outside = None
    if only_topics:
        outside = of_cluster[labels] < 0
        labels, rule = _in_topics(labels, outside, of_cluster >= 0, rows, counts, rule)
    own = np.full(k, -1)
    own[: growing.size] = np.where(grown.may_be_named, growing, -1)
    named = np.where(np.isin(of_cluster, own[own >= 0]), of_cluster, -1)
    topic_of, grown_from = named[labels], own[labels]
    partition, order = largest_first(labels)
    rule = None if rule is None else rule.renumbered(new_numbers(order, k))
    guided = replace(fit, partition=partition, centroids=centroids_of(rows, partition), rule=rule, from_start=False)
    notes = [
        f"Topic {topic.name!r}: its example {example!r} has no terms, and is in no cluster."
        for topic in topics
        for example in topic.examples
        if example in without_terms
    ]
    notes += _notes([topics[number] for number in growing], grown, guides, labels)
    return GuidedClusters(guided, topics, topic_of, grown_from, outside, tuple(notes))


def _guides(
    topics: Sequence[Topic],
    vectors: DocumentVectors,
    documents: DocumentTable,
    vectorizer: TfidfVectorizer | None,
    without_terms: Collection[str],
) -> Guides:
    if vectorizer is None:
        raise InputError(
            "the source is a matrix, and words of topics need texts", remedy=("leave out ", Argument("topics"))
        )
    row_of = {name: row for row, name in reversed(list(enumerate(documents.ids)))}
    texts = [" ; ".join(topic.words) for topic in topics]
    examples, similar = [], []
    for topic in topics:
        rows = [row_of[example] for example in topic.examples if example in row_of]
        unknown = [example for example in topic.examples if example not in row_of and example not in without_terms]
        for example in unknown:
            if not re.search(r"\s", example):
                raise InputError(
                    f"the topic {topic.name!r} has the example {example!r}, which is the id of no document",
                    remedy="give an id as `assignments.csv` has it, or a text of several words",
                )
        examples.append(np.array(rows, dtype=np.int64))
        similar.append(_most_like(vectors.documents.unit, vectorizer, unknown))
    twice = np.concatenate([*examples, np.empty(0, np.int64)])
    rows_of_several = np.unique(twice)[np.bincount(np.unique(twice, return_inverse=True)[1], minlength=0) > 1]
    if rows_of_several.size:
        raise InputError(
            f"the document {documents.ids[int(rows_of_several[0])]!r} is an example of two topics",
            remedy="leave it to one",
        )
    return Guides(
        sparse.csr_array(vectorizer.transform_counts(texts)),
        sparse.csr_array(vectorizer.transform(texts)),
        tuple(examples),
        tuple(similar),
    )


def _most_like(rows: Matrix, vectorizer: TfidfVectorizer, texts: Sequence[str]) -> Integers:
    """Return the documents that are most like any of some texts."""
    if not texts:
        return np.empty(0, dtype=np.int64)
    cosines = sparse.csc_array(rows @ sparse.csr_array(vectorizer.transform(texts)).T)
    nearest = []
    for number in range(len(texts)):
        part = slice(*cosines.indptr[number : number + 2])
        order = np.argsort(-cosines.data[part], kind="stable")[:N_SIMILAR]
        nearest.append(cosines.indices[part][order])
    return np.concatenate(nearest).astype(np.int64)


def _in_topics(
    labels: Labels, outside: Flags, is_topic: Flags, rows: Matrix, counts: CsrArray, rule: Any
) -> tuple[Labels, Any]:
    """Return labels in which each document of a free cluster is in the nearest cluster of a topic, and the rule."""
    kept = np.flatnonzero(is_topic & (np.bincount(labels, minlength=is_topic.size) > 0))
    numbers = np.full(is_topic.size, -1, dtype=np.int64)
    numbers[kept] = kept
    rule = None if rule is None else rule.renumbered(numbers)
    there = np.flatnonzero(outside)
    if not there.size:
        return labels, rule
    inside = np.flatnonzero(~outside)
    partition = Partition(np.searchsorted(kept, labels[inside]), tuple(range(kept.size)))
    centroids = centroids_of(rows[inside], partition)
    nearest = decide(rule, rows[there], None if counts is None else counts[there], centroids)
    labels = labels.copy()
    labels[there] = nearest if rule is not None else kept[nearest]
    return labels, rule


def _notes(topics: Sequence[Topic], grown: GrownClusters, guides: Guides, labels: Labels) -> list[str]:
    """Return a sentence for each topic whose words do not hold."""
    mean_size = labels.size / grown.topics.size
    notes = []
    for number, topic in enumerate(topics):
        if not topic.words or guides.examples[number].size or guides.similar[number].size:
            continue
        n_documents = int(grown.n_with_words[number])
        if n_documents == 0:
            reason = "no document has any of its words; nothing grew from it"
        elif n_documents < MIN_SHARE * mean_size:
            reason = f"only {n_documents:,} documents have any of its words"
        elif grown.coherence[number] < MIN_COHERENCE:
            reason = "its words do not go together in these documents"
        elif not grown.may_be_named[number]:
            reason = f"only {grown.share_with_words[number]:.0%} of the cluster that grew from it have one of its words"
        else:
            continue
        unnamed = "" if grown.may_be_named[number] else ", and no cluster has its name"
        notes.append(f"Topic {topic.name!r}: {reason}{unnamed}.")
    return notes
