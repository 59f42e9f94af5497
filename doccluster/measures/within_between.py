"""Measures of the distances within clusters against those between them: sums of all pairs, by pair of clusters.

Under cosine and squared Euclidean distance these sums follow from the sums of rows; under Euclidean distance they take
a sweep over all pairs. The measures do not care which evidence they are given.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from doccluster.base.arrays import Floats, Integers
from doccluster.base.validation import RandomState, check_choice
from doccluster.errors import Argument, InputError
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.measures._distances import PairwiseDistances
from doccluster.measures.registry import Values, alias, internal_measure, undefined, variant

# sums of the distances of pairs, from the sums of rows or by a sweep over all pairs
PairEvidence = ClusterEvidence | PairwiseDistances
block_measure = partial(internal_measure, evidence_by_metric={"euclidean": "pairwise"})


def inner_and_outer(evidence: PairEvidence) -> tuple[float, float]:
    """Return W_in and W_out, the distances of unordered pairs within and between clusters; Eq. 17.22, 17.23."""
    within, to_all = evidence.pairs.cluster_weights
    w_in, both = float(within.sum()) / 2, float(to_all.sum()) / 2
    w_out = both - w_in
    return w_in, w_out if w_out > 1e-14 * both else 0.0


@block_measure(
    "beta_cv",
    title="BetaCV",
    direction="lower",
    bounds=(0.0, None),
    formula="(W_in/N_in)/(W_out/N_out)",
    source="Zaki & Meira, Eq. 17.22-17.24",
    meaning="The mean distance of two documents of one cluster over that of two documents of different clusters; below "
    "1 when clusters are tighter than chance.",
    edges="no pair within, or none between clusters: undefined; all pairs between at distance 0: inf",
)
def beta_cv(evidence: PairEvidence) -> float | Values:
    """Return the ratio of the mean distances within and between clusters."""
    geometry = evidence.geometry
    if lacking := missing_pairs(geometry):
        return undefined(lacking)
    w_in, w_out = inner_and_outer(evidence)
    if w_out == 0:
        return float("inf") if w_in > 0 else undefined("all documents coincide")
    return (w_in / geometry.n_inner_pairs) / (w_out / geometry.n_outer_pairs)


alias("mcclain_rao", of="beta_cv", title="McClain-Rao", source="McClain & Rao 1975; equal to BetaCV")


def missing_pairs(geometry: ClusterEvidence) -> str | None:
    """Return the sentence that says which pairs there are none of; None if there are both kinds."""
    if geometry.n_inner_pairs == 0:
        return "no cluster has two documents, so there is no pair within a cluster"
    return None if geometry.n_outer_pairs else "there is only one cluster, so there is no pair between clusters"


@block_measure(
    "normalized_cut",
    title="Normalised cut on distances",
    range="[0, k]",
    bounds=(0.0, None),
    formula="sum_i W(C_i, V - C_i)/W(C_i, V)",
    source="Zaki & Meira, 17.2 (NC)",
    meaning="How much of each cluster's distance goes to other clusters; on distances larger is better. Its maximum is "
    "k, so compare equal k only.",
    edges="one cluster: 0; all singletons: k; a cluster at distance 0 from all documents: undefined",
    parts=("per_cluster",),
)
def normalized_cut(evidence: PairEvidence) -> Values:
    """Return the sum over clusters of the share of their distance that leaves them."""
    within, to_all = evidence.pairs.cluster_weights
    shares = np.divide(to_all - within, to_all, out=np.full(len(within), np.nan), where=to_all > 0)
    if np.isnan(shares).any():
        return undefined("a cluster is at distance 0 from all documents", per_cluster=shares)
    return Values(float(shares.sum()), per_cluster=shares)


@block_measure(
    "modularity",
    title="Modularity on distances",
    direction="lower",
    range="[-0.5, 1)",
    bounds=(-0.5 - 1e-9, 1.0),
    formula="sum_i (W(C_i, C_i)/W(V, V) - (W(C_i, V)/W(V, V))^2)",
    source="Zaki & Meira, 17.2 (Q)",
    meaning="The share of distance within clusters minus what chance would give. On distances lower is better: the "
    "opposite of the modularity of graphs.",
    edges="one cluster: 0; all distances 0: undefined",
    parts=("per_cluster",),
)
def modularity(evidence: PairEvidence) -> Values:
    """Return the modularity of the partition in the graph of distances."""
    within, to_all = evidence.pairs.cluster_weights
    total = float(to_all.sum())
    if total == 0:
        return undefined("all documents coincide", per_cluster=np.full(len(within), np.nan))
    terms = within / total - np.square(to_all / total)
    return Values(float(terms.sum()), per_cluster=terms)


@block_measure(
    "hubert",
    title="Hubert's Gamma (internal)",
    bounds=(0.0, None),
    formula="(1/M) sum_{a<b} w_ab Y_ab, Y = distance of the centres of their clusters",
    source="Zaki & Meira, Eq. 17.14, 17.28",
    meaning="How well distances of documents agree with distances of the centres of their clusters; not normalised, "
    "see hubert_normalized.",
    edges="one cluster: 0; one document: undefined",
)
def hubert(evidence: PairEvidence) -> float | Values:
    """Return the mean product of document distances and centre distances; cosine takes 1 - c_i.c_j for centres."""
    geometry = evidence.geometry
    if geometry.n_pairs == 0:
        return undefined("there is only one document, so there is no pair")
    if geometry.n_clusters == 1:
        return 0.0
    return float((geometry.centres.distances * evidence.pairs.block_weights).sum() / 2 / geometry.n_pairs)


@internal_measure(
    "silhouette",
    also_called=("silhouette_score",),
    bounds=(-1.0, 1.0),
    formula="s = (b - a)/max(a, b), a = mean distance to the own cluster, b = least mean distance to another; the mean",
    source="Zaki & Meira, Eq. 17.26, 17.27; Rousseeuw 1987",
    meaning="Whether a document is nearer to its own cluster than to the next one: 1 well placed, 0 between two "
    "clusters, below 0 nearer to another. Per cluster: the mean of its documents.",
    edges="a singleton: 0; a = b = 0: 0; one cluster: undefined; all singletons: 0",
    parts=("per_cluster", "per_document"),
    evidence_by_metric={"euclidean": "pairwise"},
)
def silhouette(
    evidence: PairEvidence, *, over: str = "documents", sample: int | None = None, random_state: RandomState = 0
) -> Values:
    """Return the mean silhouette, over all ``"documents"`` or over the means of the ``"clusters"``.

    With `sample`, and where all pairs would be needed, that many documents are drawn and measured exactly; the value
    is their mean, with its standard error. Sums give the exact value under cosine at once, so nothing is sampled there.
    """
    check_choice(over, ("documents", "clusters"), "over")
    geometry = evidence.geometry
    if geometry.n_clusters == 1:
        blank = np.full(geometry.n_documents, np.nan)
        return undefined("there is only one cluster", per_cluster=np.full(1, np.nan), per_document=blank)
    if sample is not None and isinstance(evidence, PairwiseDistances) and not evidence.is_linear:
        return _sampled(evidence, over, sample, random_state)
    widths = _widths(evidence, np.arange(geometry.n_documents), *evidence.pairs.silhouette_parts)
    means = geometry.total_of(widths) / geometry.sizes
    value = widths.mean() if over == "documents" else means.mean()
    return Values(float(value), per_cluster=means, per_document=widths)


def _widths(evidence: PairEvidence, rows: Integers, cohesion: Floats, separation: Floats) -> Floats:
    geometry = evidence.geometry
    larger = np.maximum(cohesion, separation)
    valid = (geometry.sizes[geometry.labels[rows]] > 1) & (larger > 0)
    return np.asarray(np.divide(separation - cohesion, larger, out=np.zeros_like(larger), where=valid))


def _sampled(distances: PairwiseDistances, over: str, sample: int, random_state: RandomState) -> Values:
    if over != "documents":
        raise InputError(
            "a sample of documents estimates their mean only",
            remedy=("leave out ", Argument("sample"), " or give over='documents'"),
        )
    geometry = distances.geometry
    rows, cohesion, separation = distances.sampled_silhouette_parts(sample, random_state)
    widths = _widths(distances, rows, cohesion, separation)
    spread = np.full(geometry.n_documents, np.nan)
    spread[rows] = widths
    share_not_drawn = 1 - rows.size / geometry.n_documents  # all documents drawn: nothing left to chance
    error = math.sqrt(share_not_drawn * float(np.var(widths, ddof=min(1, rows.size - 1))) / rows.size)
    note = f"estimated from {rows.size:,} documents"
    return Values(float(widths.mean()), per_document=spread, note=note, standard_error=error)


variant(
    "silhouette_macro",
    of="silhouette",
    title="Silhouette, mean of the clusters' means",
    formula="(1/k) sum_i SC_i",
    source="Desgraupes 2013 (clusterCrit's Silhouette)",
    parameters={"over": "clusters"},
)
