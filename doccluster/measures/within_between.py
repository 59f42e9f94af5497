"""Measures of the distances within clusters against those between them: sums of all pairs, by pair of clusters.

Under cosine and squared Euclidean distance these sums follow from the sums of rows; under Euclidean distance they take
a sweep over all pairs. The measures do not care which evidence they are given.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from doccluster.geometry.evidence import ClusterEvidence
from doccluster.measures.registry import Values, alias, internal_measure, undefined

FloatArray = npt.NDArray[np.float64]


class PairEvidence(Protocol):
    """What both evidence objects know of distances of pairs."""

    @property
    def geometry(self) -> ClusterEvidence:
        """The geometry of the same clusters in the same metric."""

    @property
    def block_weights(self) -> FloatArray:
        """W(C_i, C_j) over ordered pairs, array of shape (k, k)."""

    @property
    def cluster_weights(self) -> tuple[FloatArray, FloatArray]:
        """W(C_i, C_i) and W(C_i, V), arrays of shape (k,)."""

    @property
    def silhouette_parts(self) -> tuple[FloatArray, FloatArray]:
        """Mean distance to the own and to the nearest other cluster, arrays of shape (n,)."""


block_measure = partial(internal_measure, evidence_by_metric={"euclidean": "pairwise"})


def inner_and_outer(evidence: PairEvidence) -> tuple[float, float]:
    """Return W_in and W_out, the distances of unordered pairs within and between clusters; Eq. 17.22, 17.23."""
    own, to_all = evidence.cluster_weights
    w_in, both = float(own.sum()) / 2, float(to_all.sum()) / 2
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
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        return undefined(missing_pairs(geometry))
    w_in, w_out = inner_and_outer(evidence)
    if w_out == 0:
        return float("inf") if w_in > 0 else undefined("all documents coincide")
    return (w_in / geometry.n_inner_pairs) / (w_out / geometry.n_outer_pairs)


alias("mcclain_rao", of="beta_cv", title="McClain-Rao", source="McClain & Rao 1975; equal to BetaCV")


def missing_pairs(geometry: ClusterEvidence) -> str:
    """Return the sentence that says which pairs there are none of."""
    if geometry.n_inner_pairs == 0:
        return "no cluster has two documents, so there is no pair within a cluster"
    return "there is only one cluster, so there is no pair between clusters"


@block_measure(
    "normalized_cut",
    title="Normalised cut on distances",
    range="[0, k]",
    bounds=(0.0, None),
    formula="sum_i W(C_i, V - C_i)/W(C_i, V)",
    source="Zaki & Meira, 17.3 (NC)",
    meaning="How much of each cluster's distance goes to other clusters; on distances larger is better. Its maximum is "
    "k, so compare equal k only.",
    edges="one cluster: 0; all singletons: k; a cluster at distance 0 from all documents: undefined",
    parts=("per_cluster",),
)
def normalized_cut(evidence: PairEvidence) -> Values:
    """Return the sum over clusters of the share of their distance that leaves them."""
    own, to_all = evidence.cluster_weights
    shares = np.divide(to_all - own, to_all, out=np.full(len(own), np.nan), where=to_all > 0)
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
    source="Zaki & Meira, 17.3 (Q)",
    meaning="The share of distance within clusters minus what chance would give. On distances lower is better: the "
    "opposite of the modularity of graphs.",
    edges="one cluster: 0; all distances 0: undefined",
    parts=("per_cluster",),
)
def modularity(evidence: PairEvidence) -> Values:
    """Return the modularity of the partition in the graph of distances."""
    own, to_all = evidence.cluster_weights
    total = float(to_all.sum())
    if total == 0:
        return undefined("all documents coincide", per_cluster=np.full(len(own), np.nan))
    terms = own / total - np.square(to_all / total)
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
    return float((geometry.centre_distances * evidence.block_weights).sum() / 2 / geometry.n_pairs)
