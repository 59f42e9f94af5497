"""Measures of topics: do the top terms of a cluster belong together, and to this cluster rather than to others?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from doccluster.base.arrays import Floats
from doccluster.base.plain_values import METRICS
from doccluster.measures.registry import Values, measure, undefined
from doccluster.measures.topic_words import TopicWords

topic_measure = partial(
    measure, family="topic", evidence="topics", direction="higher", metrics=METRICS, parts=("per_cluster",)
)

EPSILON = 1e-12  # added to joint probabilities, always
TOO_FEW = "no cluster has two top terms that occur"


def _mean_over_clusters(values: Floats, why_not: str) -> Values:
    is_defined = ~np.isnan(values)
    if not is_defined.any():
        return undefined(why_not, per_cluster=values)
    left_out = int((~is_defined).sum())
    note = f"{left_out} cluster(s) have no value and are excluded from the mean" if left_out else None
    return Values(float(values[is_defined].mean()), per_cluster=values, note=note)


def _coherence(topics: TopicWords, n_top_terms: int | None, of_pair: Callable[..., Floats]) -> Values:
    """Return the mean of `of_pair` (D(w_m, w_l), D(w_m), D(w_l), n) over l < m, per cluster and over clusters."""
    values = np.full(topics.geometry.n_clusters, np.nan)
    for cluster, counts in enumerate(topics.counts(n_top_terms)):
        alone = np.diagonal(counts).astype(np.float64)
        if alone.size > 1 and alone.min() > 0:
            lower, higher = np.tril_indices(alone.size, -1)  # m > l: w_l is ranked higher
            together = counts[lower, higher].astype(np.float64)
            pairs = of_pair(together, alone[lower], alone[higher], topics.n_reference_documents)
            values[cluster] = pairs.mean()
    return _mean_over_clusters(values, TOO_FEW)


@topic_measure(
    "umass",
    title="UMass coherence",
    range="(-inf, log 2]",
    bounds=(None, float(np.log(2.0)) + 1e-12),
    formula="mean over l < m of log((D(w_m, w_l) + 1)/D(w_l)), w_1, w_2 ... ranked, D = documents with the terms",
    source="Mimno et al. 2011 (who sum)",
    meaning="How often a lower-ranked top term occurs in the documents of a higher-ranked one. Not symmetric: the "
    "order of the terms counts.",
    edges="fewer than two top terms, or a term that does not occur in the reference corpus: undefined, left out",
)
def umass(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean UMass coherence of the clusters' top terms (10 by default)."""
    return _coherence(topics, n_top_terms, lambda both, lower, higher, n: np.log((both + 1) / higher))


@topic_measure(
    "uci",
    title="UCI coherence (PMI)",
    range="(-inf, log n]",
    formula="mean over l < m of log((p(w_m, w_l) + 1e-12)/(p(w_m) p(w_l))), p = share of documents",
    source="Newman et al. 2010 (documents instead of sliding windows)",
    meaning="How much more often two top terms share a document than they would by chance; 0 is independence.",
    edges="as umass; a pair that never meets costs about -27",
)
def uci(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean pointwise mutual information of pairs of top terms."""
    return _coherence(topics, n_top_terms, _pmi)


def _pmi(both: Floats, lower: Floats, higher: Floats, n: int) -> Floats:
    return np.asarray(np.log((both / n + EPSILON) / (lower / n * higher / n)))


@topic_measure(
    "npmi",
    title="NPMI coherence",
    range="about [-1, 1]",
    bounds=(-1.0 - 1e-6, 1.0 + 1e-6),
    formula="mean over l < m of log((p(w_m, w_l) + 1e-12)/(p(w_m) p(w_l)))/(-log(p(w_m, w_l) + 1e-12))",
    source="Bouma 2009; Aletras & Stevenson 2013",
    meaning="UCI on a scale from -1 (never together) over 0 (independent) to 1 (only together).",
    edges="as umass; a pair that is in all documents counts 1",
)
def npmi(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean normalised pointwise mutual information of pairs of top terms."""
    return _coherence(topics, n_top_terms, _normalised_pmi)


def _normalised_pmi(both: Floats, lower: Floats, higher: Floats, n: int) -> Floats:
    everywhere = both == n
    scale = np.where(everywhere, 1.0, -np.log(both / n + EPSILON))
    return np.where(everywhere, 1.0, _pmi(both, lower, higher, n) / scale)


@topic_measure(
    "topic_diversity",
    range="[1/k, 1]",
    bounds=(0.0, 1.0),
    formula="distinct terms / all terms, over the top terms of all clusters",
    source="Dieng, Ruiz & Blei 2020",
    meaning="Whether clusters have top terms of their own. Per cluster: the share of its top terms that no other "
    "cluster has.",
    edges="no terms: undefined",
)
def topic_diversity(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the share of distinct terms among the top terms of all clusters."""
    lists = topics.top_terms(n_top_terms)
    terms = np.concatenate(lists)
    if terms.size == 0:
        return undefined("no cluster has terms", per_cluster=np.full(len(lists), np.nan))
    distinct, counts = np.unique(terms, return_counts=True)
    exclusive_shares = [
        float((counts[np.searchsorted(distinct, top_terms)] == 1).mean()) if top_terms.size else np.nan
        for top_terms in lists
    ]
    return Values(distinct.size / terms.size, per_cluster=np.array(exclusive_shares))


@topic_measure(
    "exclusivity",
    range="(0, 1] for non-negative weights",
    formula="per cluster the mean over its top terms of mu_it / sum_j mu_jt; the mean over clusters",
    source="Bischof & Airoldi 2012",
    meaning="Whether the top terms of a cluster are heavy there and light elsewhere; mean weights are compared, so "
    "size gives no credit.",
    edges="one cluster: 1; a cluster without terms: undefined, left out",
)
def exclusivity(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean share that clusters have of the weight of their top terms."""
    lists = topics.top_terms(n_top_terms)
    values = np.full(len(lists), np.nan)
    for cluster, weights in enumerate(topics.mean_weights(lists)):
        if weights.size:
            values[cluster] = np.mean(weights[cluster] / weights.sum(axis=0))
    return _mean_over_clusters(values, "no cluster has terms")
