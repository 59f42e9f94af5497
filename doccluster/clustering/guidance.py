"""Clusters grown from what a person knows: words or example documents are where spherical k-means and settling begin.

Each topic has an anchor, the weighted mean of the documents that its words or examples stand for. It takes the place of
a cluster of a free partition; the other clusters stay free. While centroids move, the anchor counts as a share of a
mean cluster (Basu, Banerjee & Mooney 2002, "Semi-supervised clustering by seeding", ICML, hold seeds fixed; here they
pull), and while labels settle, the words count among the terms of their topic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Flags, Floats, Labels
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import unit_rows
from doccluster.clustering.k_means.assign import assign_to_centroids
from doccluster.clustering.mixtures.multinomial import (
    MAX_ITER,
    MAX_LENGTH,
    SMOOTHING,
    TOL,
    Multinomials,
    expect,
    multinomials_of,
    one_hot,
    settle,
)
from doccluster.clustering.task import capped
from doccluster.errors import InputError
from doccluster.geometry.sums import sums_by_label

MIN_STARTING = 20  # documents that an anchor of words is made of, where as many have one
PULL_OF_WORDS, PULL_OF_EXAMPLES = 1.0, 0.3  # what an anchor counts, in mean clusters
MANY_EXAMPLES = 20  # from which words are left aside and the anchor pulls as one of words
KEPT_WORDS = 0.3  # what a topic's words count while labels settle, in the terms of a mean cluster
MIN_COHERENCE = 0.2  # mean cosine of the words of a topic, each by the documents that have it
MIN_SHARE = 0.15  # of a mean cluster, that must have one of the words; and of the cluster that grew from them
TAKEN_SHARE = 0.25  # of a free cluster, in the documents that a topic begins with, for the topic to take its place
PART_SHARE = 0.25  # how often, by the topic's own cluster, a part of it has one of the words, more often than all do,
PART_DOCUMENTS = 3  # and in no fewer documents, and two of the words: in a small cluster one is chance
PART_COSINE = 0.8  # to the anchor, of a part of a topic that has examples and no words
MAX_MOVES, SMALL_MOVE = 100, 1e-4


@dataclass(frozen=True, eq=False)
class Guides:
    """What topics are grown from, each in one row.

    `words` are counts of terms and `queries` the same as unit tf-idf rows, csr arrays of shape (n_topics, n_terms), a
    row empty for a topic without words. `examples` are rows of documents, an array for each topic, which stay in its
    cluster; `similar` are rows of documents that are most like example texts, which need not stay.
    """

    words: Any
    queries: Any
    examples: tuple[Labels, ...]
    similar: tuple[Labels, ...]

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return len(self.examples)

    @property
    def has_words(self) -> Flags:
        """Whether each topic has words that occur in the documents."""
        flags: Flags = np.diff(self.queries.indptr) > 0
        return flags


def guides_of(
    topics: Any, weigh: Callable[[Any], Any], shape: tuple[int, int], terms: Sequence[str] | None
) -> tuple[Guides, tuple[str, ...]]:
    """Return the guides that topics of a matrix give, and a sentence on each word that is not a term.

    `topics` have `words`, columns or names in `terms`, and `examples`, rows. `weigh` makes unit rows of counts.

    Raises InputError for a column or row that is not there, and a row that is an example of two topics.
    """
    columns_of = {} if terms is None else {name: column for column, name in enumerate(terms)}
    counts = sparse.lil_array((len(topics), shape[1]))
    notes, examples = [], []
    for number, topic in enumerate(topics):
        words = [columns_of.get(word, word) for word in topic.words]
        notes += [f"Topic {topic.name!r}: {word!r} is not a term." for word in words if isinstance(word, str)]
        counts[number, _places([word for word in words if not isinstance(word, str)], shape[1], "words")] = 1
        examples.append(_places(topic.examples, shape[0], "examples"))
    rows, n_topics_of = np.unique(np.concatenate(examples), return_counts=True)
    if (n_topics_of > 1).any():
        raise InputError(f"row {rows[n_topics_of > 1][0]} is an example of two topics", remedy="leave it to one")
    words_of = sparse.csr_array(counts)
    none = (np.empty(0, dtype=np.int64),) * len(topics)
    return Guides(words_of, sparse.csr_array(weigh(words_of)), tuple(examples), none), tuple(notes)


def _places(numbers: Any, n_places: int, what: str) -> Labels:
    """Return numbers of rows or columns, each once. Raises InputError if one is not a number from 0 to n_places - 1."""
    for number in numbers:
        if not isinstance(number, int | np.integer) or not 0 <= number < n_places:
            problem = f"has {what} that are not in the matrix"
            raise InputError(problem, argument="topics", received=number, expected=f"0 to {n_places - 1}")
    return np.unique(np.array(numbers, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class GrownClusters:
    """Clusters of which the first are those of the topics, in their order; the others are free."""

    labels: Labels  # of shape (n_documents,): clusters 0..k-1; a number may be that of no document
    mixture: Multinomials | None  # what settled them; None without counts
    # of shape (k,): the topic that each cluster belongs to, as its own cluster or a part of it; -1 for a free one
    topics: Labels
    # these of shape (n_topics,): mean cosine of the words of a topic; below MIN_COHERENCE they do not pull; nan for a
    # topic without two words
    coherence: Floats
    n_with_words: Labels  # how many documents have any of the words
    share_with_words: Floats  # the share of such among the documents of the topic's own cluster; nan without words
    may_be_named: Flags  # whether the topic's own cluster holds its examples or has its words


def grow_clusters(
    rows: Any,
    counts: Any | None,
    points: Any,
    labels: Labels,
    n_clusters: int,
    guides: Guides,
    *,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> GrownClusters:
    """Return clusters of documents of which the first are grown from topics.

    `rows`: csr unit rows, `counts`: csr counts of terms or None, of shape (n_documents, n_terms). `points`: the rows in
    which clusters are found, dense or csr of shape (n_documents, any). `labels`: a free partition, clusters
    0..n_clusters-1, at least as many as there are topics.
    """
    n_topics, mean_size = guides.n_topics, labels.size / n_clusters
    has_term = _with_terms(rows)
    has_words = sparse.csr_array(has_term @ _with_terms(guides.queries).T) > 0  # (n_documents, n_topics)
    n_with_words = np.asarray(has_words.sum(axis=0)).ravel().astype(np.int64)
    coherence = np.array([_coherence(points, sparse.csc_array(has_term), guides.queries[[t]]) for t in range(n_topics)])
    n_examples = np.array([examples.size for examples in guides.examples])
    has_examples = n_examples + np.array([documents.size for documents in guides.similar]) > 0
    speaks = guides.has_words & ~(coherence < MIN_COHERENCE) & (n_with_words >= MIN_SHARE * mean_size)
    uses_words = guides.has_words & (n_examples < MANY_EXAMPLES) & (speaks | ~has_examples)
    starts = _starts(rows, guides, uses_words, max(MIN_STARTING, round(mean_size / 2)))
    anchors = unit_rows(_dense(starts @ points), warn=False)
    pulls = np.where(speaks | (n_examples >= MANY_EXAMPLES), PULL_OF_WORDS, PULL_OF_EXAMPLES)
    pulls[~speaks & ~has_examples] = 0.0

    fixed = np.concatenate([*guides.examples, np.empty(0, np.int64)]).astype(np.int64)
    centroids = _first_centroids(points, labels, n_clusters, starts, anchors, fixed, n_threads)
    n_clusters = centroids.shape[0]
    topic_of_fixed = np.repeat(np.arange(n_topics), n_examples)
    for _ in range(MAX_MOVES):
        grown = assign_to_centroids(points, centroids, n_threads=n_threads).labels.astype(np.int64)
        grown[fixed] = topic_of_fixed
        sums = _dense(sums_by_label(points, grown, n_clusters))
        sums[:n_topics] += (pulls * mean_size)[:, None] * anchors
        before, centroids = centroids, unit_rows(sums, warn=False)
        if np.abs(before - centroids).max() < SMALL_MOVE:
            break

    mixture = None
    if counts is not None:
        words = sparse.csr_array(guides.words, dtype=np.float64)
        scale = np.where(speaks & uses_words, 1.0 / np.maximum(np.asarray(words.sum(axis=1)).ravel(), 1.0), 0.0)
        words = sparse.csr_array(sparse.diags_array(scale) @ words)
        grown, mixture = _settled(counts, grown, n_clusters, words, (fixed, topic_of_fixed), n_threads, progress)
    sizes = np.maximum(np.bincount(grown, minlength=n_clusters), 1)
    shares = np.asarray((one_hot(grown, n_clusters).T @ has_words.astype(float)).toarray()) / sizes[:, None]
    own_shares = shares[np.arange(n_topics), np.arange(n_topics)]
    cosines = centroids[n_topics:] @ anchors.T
    nearest = cosines.argmax(axis=1)
    free = np.arange(n_topics, n_clusters)
    of_nearest, is_near = shares[free, nearest], cosines.max(axis=1, initial=-1) >= PART_COSINE
    has_its_words = (own_shares[nearest] >= MIN_SHARE) & (of_nearest >= PART_SHARE * own_shares[nearest])
    has_its_words &= of_nearest > n_with_words[nearest] / labels.size
    has_its_words &= np.rint(of_nearest * sizes[free]) >= PART_DOCUMENTS
    terms_of_clusters = _with_terms(one_hot(grown, n_clusters).T @ has_term)
    n_words = np.asarray((terms_of_clusters @ _with_terms(guides.queries).T).toarray())[free, nearest]
    has_its_words &= n_words >= np.minimum(2, np.diff(guides.queries.indptr)[nearest])
    is_part = np.where(guides.has_words[nearest], has_its_words, is_near)
    topics = np.concatenate([np.arange(n_topics), np.where(is_part, nearest, -1)])
    may_be_named = (own_shares >= MIN_SHARE) | has_examples
    own_shares = np.where(guides.has_words, own_shares, np.nan)
    return GrownClusters(grown, mixture, topics, coherence, n_with_words, own_shares, may_be_named)


def _starts(rows: Any, guides: Guides, uses_words: Flags, n_documents: int) -> Any:
    """Return the weights of the documents that each topic begins with, csr array (n_topics, n_documents).

    Each row has the sum 1. Of words they are the documents most like them, among those more like them than like the
    words of another topic.
    """
    products = sparse.csr_array(rows @ guides.queries.T)
    best = np.asarray(products.argmax(axis=1)).ravel()
    columns = sparse.csc_array(products)
    weights = []
    for topic, examples in enumerate(map(np.append, guides.examples, guides.similar)):
        weight = np.zeros(rows.shape[0])
        if uses_words[topic]:
            part = slice(*columns.indptr[topic : topic + 2])
            documents, cosines = columns.indices[part], columns.data[part]
            is_nearest = (best[documents] == topic) & (cosines > 0)
            documents, cosines = documents[is_nearest], cosines[is_nearest]
            order = np.argsort(-cosines, kind="stable")[:n_documents]
            weight[documents[order]] += cosines[order] / max(cosines[order].sum(), 1e-12)
        if examples.size:
            np.add.at(weight, examples, 1.0 / examples.size)
        weights.append(sparse.csr_array(weight[None, :]))
    stacked = sparse.csr_array(sparse.vstack(weights, format="csr"))
    sums = np.asarray(stacked.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(sums > 0, sums, 1.0)) @ stacked)


def _coherence(points: Any, has_term: Any, query: Any) -> float:
    """Return the mean cosine of words, each the mean of the points that have it less the mean of all; nan below two."""
    mean = np.asarray(points.mean(axis=0)).ravel()
    terms = [term for term in query.indices if has_term.indptr[term + 1] > has_term.indptr[term]]
    if len(terms) < 2:
        return float("nan")
    means = [
        np.asarray(points[has_term.indices[slice(*has_term.indptr[term : term + 2])]].mean(axis=0)).ravel()
        for term in terms
    ]
    directions = unit_rows(np.array(means) - mean, warn=False)
    return float((directions @ directions.T)[np.triu_indices(len(terms), 1)].mean())


def _first_centroids(
    points: Any, labels: Labels, n_clusters: int, starts: Any, anchors: Floats, examples: Labels, n_threads: int | None
) -> Floats:
    """Return first centroids, of the topics first: their anchors, also of words that do not pull.

    For each topic a free cluster is given up, the one without which documents lose least similarity to their centroid.
    A topic may be a small part of the cluster that its documents are in; this cluster stays. One that is mostly
    examples of topics is always given up. A topic without any document begins at a free cluster's mean.
    """
    means = unit_rows(_dense(sums_by_label(points, labels, n_clusters)), warn=False)
    n_examples = np.bincount(labels[examples], minlength=n_clusters)
    sizes = np.bincount(labels, minlength=n_clusters)
    is_given_up = n_examples > sizes / 2
    has_anchor = np.diff(starts.indptr) > 0
    weights = np.asarray((starts @ one_hot(labels, n_clusters)).toarray())
    numbers = np.asarray((_with_terms(starts) @ one_hot(labels, n_clusters)).toarray())
    for topic, cluster in enumerate(weights.argmax(axis=1)):
        is_given_up[cluster] |= has_anchor[topic] and numbers[topic, cluster] >= TAKEN_SHARE * sizes[cluster]
    free = means[~is_given_up]
    n_anchors = int(has_anchor.sum())
    while free.shape[0] > n_clusters - n_anchors:
        nearest = assign_to_centroids(points, np.vstack([anchors[has_anchor], free]), n_threads=n_threads)
        gains = nearest.similarity - nearest.runner_up_similarity
        losses = np.bincount(nearest.labels, weights=gains, minlength=n_anchors + free.shape[0])
        free = np.delete(free, losses[n_anchors:].argmin(), axis=0)
    n_others = min(free.shape[0], starts.shape[0] - n_anchors)
    anchors = anchors.copy()
    anchors[np.flatnonzero(~has_anchor)[:n_others]] = free[:n_others]
    return np.vstack([anchors, free[n_others:]])


def _settled(
    counts: Any,
    labels: Labels,
    n_clusters: int,
    words: Any,
    fixed: tuple[Labels, Labels],
    n_threads: int | None,
    progress: Progress,
) -> tuple[Labels, Multinomials]:
    """Return where expectation maximisation ends, with the words in the sums of their topics and examples held."""
    texts = capped(counts, MAX_LENGTH)
    background = np.asarray(texts.sum(axis=0)).ravel()
    n_free = n_clusters - words.shape[0]
    extra = sparse.csr_array(sparse.vstack([words, sparse.csr_array((n_free, texts.shape[1]))]).T)
    extra = extra * (KEPT_WORDS * background.sum() / n_clusters)

    def fit(shares: Any) -> Multinomials:
        sums = sparse.csr_array(texts.T @ shares + extra)
        known = np.maximum(
            background, np.asarray(sums.sum(axis=1)).ravel()
        )  # a word in no document is no division by 0
        weights = np.asarray(shares.sum(axis=0)).ravel() / labels.size
        return multinomials_of(sums, weights, known, SMOOTHING, np.inf)

    def label(mixture: Multinomials) -> tuple[Labels, Any]:
        settled, _ = expect(texts, mixture, soft=False, n_threads=n_threads)
        settled[fixed[0]] = fixed[1]
        return settled, one_hot(settled, n_clusters)

    end = settle(fit, label, (labels, one_hot(labels, n_clusters)), max_iter=MAX_ITER, tol=TOL, progress=progress)
    weights, odds = end.parameters.weights, end.parameters.odds
    return end.labels.astype(np.int64), Multinomials(weights, odds, SMOOTHING, MAX_LENGTH)


def _with_terms(rows: Any) -> Any:
    """Return 1 where a row has a term."""
    rows = sparse.csr_array(rows)
    return sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)


def _dense(sums: Any) -> Floats:
    """Return sums of clusters, a row each, as a dense array."""
    dense: Floats = np.asarray(sums.toarray() if sparse.issparse(sums) else sums, dtype=np.float64)
    return dense
