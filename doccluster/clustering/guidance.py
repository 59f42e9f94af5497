"""Clusters grown from what a person knows: words or example documents are where spherical k-means and settling begin.

Each topic has an anchor, the weighted mean of the documents that its words or examples stand for. It takes over the
cluster of a free partition that these documents are in; the other clusters stay free. While centroids move, the anchor
counts as a share of a mean cluster (Basu, Banerjee & Mooney 2002, "Semi-supervised clustering by seeding", ICML, hold
seeds fixed; here they pull), and while labels settle, the words count among the terms of their topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

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
from doccluster.geometry.sums import sums_by_label

MIN_STARTING = 20  # documents that an anchor of words is made of, where as many have one
PULL_OF_WORDS, PULL_OF_EXAMPLES = 1.0, 0.3  # what an anchor counts, in mean clusters
MANY_EXAMPLES = 20  # from which words are left aside and the anchor pulls as one of words
KEPT_WORDS = 0.3  # what a topic's words count while labels settle, in the terms of a mean cluster
MIN_COHERENCE = 0.2  # mean cosine of the words of a topic, each by the documents that have it
MIN_SHARE = 0.15  # of a mean cluster, that must have one of the words; and of the cluster that grew from them
PART_SHARE = 0.25  # how often, by the topic's own cluster, a part of it has one of the words
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


@dataclass(frozen=True, eq=False)
class GrownClusters:
    """Clusters of which the first are those of the topics, in their order; the others are free.

    Attributes
    ----------
    labels : int64 array of shape (n_documents,)
        Clusters 0..k-1; a number may be that of no document.
    mixture : Multinomials or None
        What settled them; None without counts.
    topics : int64 array of shape (k,)
        The topic that each cluster belongs to, as its own cluster or a part of it; -1 for a free one.
    coherence : float64 array of shape (n_topics,)
        Mean cosine of the words of a topic; below MIN_COHERENCE they do not pull. nan for a topic without two words.
    n_with_words : int64 array of shape (n_topics,)
        The number of documents with any of the words.
    share_with_words : float64 array of shape (n_topics,)
        The share of the documents of the topic's own cluster with any of the words; nan for a topic without words.
    may_be_named : bool array of shape (n_topics,)
        Whether the topic's own cluster holds its examples or has its words.
    """

    labels: Labels
    mixture: Multinomials | None
    topics: Labels
    coherence: Floats
    n_with_words: Labels
    share_with_words: Floats
    may_be_named: Flags


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
    centroids = _first_centroids(points, labels, n_clusters, starts, anchors, fixed)
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
    nearest = (centroids[n_topics:] @ np.where(pulls[:, None] > 0, anchors, 0.0).T).argmax(axis=1)
    of_nearest = shares[np.arange(n_topics, n_clusters), nearest]
    is_part = (own_shares[nearest] >= MIN_SHARE) & (of_nearest >= PART_SHARE * own_shares[nearest])
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
    points: Any, labels: Labels, n_clusters: int, starts: Any, anchors: Floats, examples: Labels
) -> Floats:
    """Return first centroids, of the topics first: topics take over the clusters that their documents are in.

    A topic begins at its anchor, also one whose words do not pull; without any document, at that cluster's mean. Of a
    free cluster that is mostly examples of topics nothing is left to begin from.
    """
    means = unit_rows(_dense(sums_by_label(points, labels, n_clusters)), warn=False)
    shares = np.asarray((starts @ one_hot(labels, n_clusters)).toarray())
    _, clusters = linear_sum_assignment(-shares)
    has_anchor = np.diff(starts.indptr)[:, None] > 0
    own = np.where(has_anchor, anchors, means[clusters])
    n_examples = np.bincount(labels[examples], minlength=n_clusters)
    is_used_up = n_examples > np.bincount(labels, minlength=n_clusters) / 2
    is_used_up[clusters] = True
    return np.vstack([own, means[~is_used_up]])


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
