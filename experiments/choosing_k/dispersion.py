"""How far the documents of a cluster lie apart: from the sums where the metric allows it."""

from __future__ import annotations

from doccluster.geometry import ClusterEvidence
from experiments.tendency.distance_blocks import upper_distances


def within_weight(evidence: ClusterEvidence) -> float:
    """Return W_in, the sum of the distances of all pairs of documents of one cluster (eq. 17.23).

    Cosine: from the sums, in O(nnz). Euclidean: all pairs within clusters, a block of rows at a time.
    """
    if evidence.metric != "euclidean":
        return float(evidence.cluster_weights[0].sum()) / 2
    matrix, partition = evidence.documents.matrix, evidence.partition
    clusters = (matrix[partition.members(cluster)] for cluster in range(partition.n_clusters))
    return float(sum(values.sum() for rows in clusters for values in upper_distances(rows, metric="euclidean")))
