"""Clusters grown from topics that a person knows already, beside free ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Integers, Labels, Matrix
from doccluster.clustering.guidance import MIN_COHERENCE, MIN_SHARE, GrownClusters, Guides, grow_clusters
from doccluster.clustering.task import decide
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling import ClusterDescription
from doccluster.pipeline.fit import Fit, centroids_of, fit_of_labels, largest_first, new_numbers
from doccluster.pipeline.in_process import Prepared, Stages
from doccluster.pipeline.known_topics import Topic, ancestors
from doccluster.results.document_table import DocumentTable
from doccluster.results.tree import Levels
from doccluster.vectors import TfidfVectorizer

N_SIMILAR = 10  # documents that stand for an example text


def roots(fit: Fit, topics: tuple[Topic, ...]) -> Labels:
    """Return the outermost ancestor of the topic of each document, int64 array; -1 for none."""
    numbers = {topic.name: number for number, topic in enumerate(topics)}
    parents = {topic.name: topic.parent for topic in topics}
    root_of = [numbers[[topic.name, *ancestors(topic.name, parents)][-1]] for topic in topics]
    return np.array([*root_of, -1], dtype=np.int64)[fit.topic_of]


def has_groups(fit: Fit, topics: tuple[Topic, ...]) -> bool:
    """Return whether a topic has several clusters, or a parent."""
    assert fit.topic_of is not None and fit.grown_from is not None  # noqa: PT018  they were grown from topics
    has_parts = (fit.grown_from < 0) & (fit.topic_of >= 0)
    return bool(has_parts.any()) or any(topic.parent is not None for topic in topics)


def with_names_of_topics(
    fit: Fit, topics: tuple[Topic, ...], levels: Levels, clusters: tuple[ClusterDescription, ...]
) -> tuple[Levels, tuple[ClusterDescription, ...]]:
    """Return the levels of a run and its clusters with the names of the topics that they grew from."""
    if has_groups(fit, topics):
        topic_on = {"topic": fit.topic_of, "section": roots(fit, topics)}
        coarser = (
            replace(level, clusters=_named(level.clusters, level.labels, topics, topic_on[level.name]))
            for level in levels.coarser
        )
        levels = replace(levels, coarser=tuple(coarser))
    return levels, _named(clusters, fit.partition.labels, topics, fit.grown_from)


def _named(
    clusters: tuple[ClusterDescription, ...], labels: Labels, topics: tuple[Topic, ...], topic_of: Any
) -> tuple[ClusterDescription, ...]:
    """Return descriptions of the clusters of `labels`, those of one topic with its name."""
    numbers, rows = np.unique(labels, return_index=True)
    names = {
        int(number): topics[topic].name
        for number, topic in zip(numbers, topic_of[rows].tolist(), strict=True)
        if topic >= 0
    }
    return tuple(
        replace(cluster, name=names[cluster.cluster], label=names[cluster.cluster])
        if cluster.cluster in names
        else cluster
        for cluster in clusters
    )


def guide_clusters(fit: Fit, prepared: Prepared, stages: Stages) -> Fit:
    """Return clusters grown from the topics of the settings beside free ones, begun from free clusters.

    Examples that have no terms are in no cluster, and a note says so. Raises InputError if an example is neither the id
    of a document nor a text.
    """
    vectors, topics, without_terms = prepared.vectors, stages.settings.topics, frozenset(prepared.empty.ids)
    how: dict[str, Any] = {"n_threads": stages.n_threads, "progress": stages.progress}
    growing = np.array([number for number, topic in enumerate(topics) if topic.words or topic.examples])
    guides = _guides([_with_parts(topics[number], prepared) for number in growing], prepared, without_terms)
    rows = vectors.documents.unit
    k = fit.partition.n_clusters
    counts = vectors.counts if fit.rule is not None and fit.rule.on_counts else None
    points = rows if fit.points is None else fit.points
    grown = grow_clusters(rows, counts, points, fit.partition.labels, k, guides, **how)
    k = grown.topics.size
    labels, of_cluster = grown.labels, np.where(grown.topics >= 0, growing[grown.topics], -1)
    rule = None if grown.mixture is None else grown.mixture.rule
    outside = None
    if stages.settings.only_topics:
        outside = of_cluster[labels] < 0
        labels, rule = _in_topics(labels, outside, of_cluster >= 0, rows, counts, rule)
    own = np.full(k, -1)
    own[: growing.size] = np.where(grown.may_be_named, growing, -1)
    named = np.where(np.isin(of_cluster, own[own >= 0]), of_cluster, -1)
    topic_of, grown_from = named[labels], own[labels]
    partition, order = largest_first(labels)
    rule = None if rule is None else rule.renumbered(new_numbers(order, k))
    notes = [
        f"Topic {topic.name!r}: its example {example!r} has no terms, and is in no cluster."
        for topic in topics
        for example in topic.examples
        if example in without_terms
    ]
    notes += _notes([topics[number] for number in growing], grown, guides, labels)
    return replace(
        fit,
        partition=partition,
        centroids=centroids_of(rows, partition),
        rule=rule,
        from_start=False,
        is_other=outside,
        topic_of=topic_of,
        grown_from=grown_from,
        is_example=np.isin(np.arange(labels.size), np.concatenate(guides.examples)),
        topic_notes=tuple(notes),
    )


def _with_parts(topic: Topic, prepared: Prepared) -> Topic:
    """Return a topic of whose examples those that are documents in parts stand for all of their parts."""
    if prepared.vectors.next_part is None:
        return topic
    names = {name: name.rpartition("#")[0] for name in prepared.documents.ids}
    whole = set(topic.examples) & set(names.values())
    parts = [name for name, document in names.items() if document in whole]
    return replace(topic, examples=(*(example for example in topic.examples if example not in whole), *parts))


def _guides(topics: Sequence[Topic], prepared: Prepared, without_terms: Collection[str]) -> Guides:
    vectors, documents, vectorizer = prepared.vectors, prepared.documents, prepared.vectorization.vectorizer
    texts = [" ; ".join(topic.words) for topic in topics]
    n_terms = vectors.documents.unit.shape[1]
    counts = queries = sparse.csr_array((len(topics), n_terms))
    if vectorizer is not None:
        counts, queries = vectorizer.transform_counts(texts), vectorizer.transform(texts)
    elif any(texts):
        raise InputError(
            "the source is a matrix, and words of topics need texts",
            argument="topics",
            remedy="give ids of documents as examples",
        )
    examples = _rows_of_examples(topics, documents)
    similar = []
    for topic, rows in zip(topics, examples, strict=True):
        unknown = sorted(set(topic.examples) - {documents.ids[row] for row in rows.tolist()} - set(without_terms))
        unknown_ids = [example for example in unknown if vectorizer is None or not re.search(r"\s", example)]
        if unknown_ids:
            raise InputError(
                f"the topic {topic.name!r} has the example {unknown_ids[0]!r}, which is the id of no document",
                remedy="give an id as `assignments.csv` has it, or a text of several words",
            )
        similar.append(_most_like(vectors.documents.unit, vectorizer, unknown))
    return Guides(
        sparse.csr_array(counts),
        sparse.csr_array(queries),
        examples,
        tuple(similar),
    )


def _rows_of_examples(topics: Sequence[Topic], documents: DocumentTable) -> tuple[Labels, ...]:
    """Return the documents whose ids are examples, for each topic; raise InputError if one is that of two topics."""
    row_of = {name: row for row, name in reversed(list(enumerate(documents.ids)))}
    rows = [[row_of[example] for example in topic.examples if example in row_of] for topic in topics]
    twice = [row for row, n_topics in Counter(chain.from_iterable(rows)).items() if n_topics > 1]
    if twice:
        raise InputError(
            f"the document {documents.ids[min(twice)]!r} is an example of two topics", remedy="leave it to one"
        )
    return tuple(np.array(of_topic, dtype=np.int64) for of_topic in rows)


def correct_stories(stories: Fit, prepared: Prepared, topics: tuple[Topic, ...]) -> Fit:
    """Return stories in which the examples of each topic are in one story, which has its name.

    A story that is mostly examples of a topic becomes part of it; the other stories stay.
    """
    k, is_alone = stories.partition.n_clusters, stories.is_other
    assert is_alone is not None  # some articles are in no story, or none
    story_of = np.where(is_alone, k, stories.partition.labels)
    labels, sizes = np.where(is_alone, -1, story_of), np.bincount(story_of, minlength=k + 1)
    for number, rows in enumerate(_rows_of_examples(topics, prepared.documents), k):
        joins = np.bincount(story_of[rows], minlength=k + 1) > sizes / 2
        joins[k] = False  # articles that are in no story
        labels[joins[story_of]] = number
        labels[rows] = number
    fit = fit_of_labels(prepared.vectors, labels, labels < 0)
    topic_of = np.full(fit.partition.n_clusters, -1)
    topic_of[fit.partition.labels[labels >= k]] = labels[labels >= k] - k
    grown_from = topic_of[fit.partition.labels]
    is_example = labels >= k
    return replace(fit, n_outlets=stories.n_outlets, topic_of=grown_from, grown_from=grown_from, is_example=is_example)


def _most_like(rows: Matrix, vectorizer: TfidfVectorizer | None, texts: Sequence[str]) -> Integers:
    """Return the documents that are most like any of some texts."""
    if vectorizer is None or not texts:
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
