"""The silhouette: exact in O(nnz k) under cosine and squared Euclidean distance, from all pairs under Euclidean."""

from __future__ import annotations

from functools import partial

import numpy as np

from doccluster.measures.parameters import check_choice
from doccluster.measures.registry import Values, measure, undefined, variant
from doccluster.measures.rows import METRICS
from doccluster.measures.within_between import PairEvidence

internal_measure = partial(measure, family="internal", evidence="geometry", metrics=METRICS)


@internal_measure(
    "silhouette",
    title="Silhouette",
    direction="higher",
    range="[-1, 1]",
    bounds=(-1.0, 1.0),
    formula="s = (b - a)/max(a, b), a = mean distance to the own cluster, b = least mean distance to another; the mean",
    source="Zaki & Meira, Eq. 17.26, 17.27; Rousseeuw 1987",
    meaning="Whether a document is nearer to its own cluster than to the next one: 1 well placed, 0 between two "
    "clusters, below 0 nearer to another. Per cluster: the mean of its documents.",
    edges="a singleton: 0; a = b = 0: 0; one cluster: undefined; all singletons: 0",
    parts=("per_cluster", "per_document"),
    evidence_by_metric={"euclidean": "pairwise"},
)
def silhouette(evidence: PairEvidence, *, over: str = "documents") -> Values:
    """Return the mean silhouette, over all ``"documents"`` or over the means of the ``"clusters"``."""
    check_choice(over, ("documents", "clusters"), "over")
    geometry = evidence.geometry
    if geometry.n_clusters == 1:
        blank = np.full(geometry.n_documents, np.nan)
        return undefined("there is only one cluster", per_cluster=np.full(1, np.nan), per_document=blank)
    cohesion, separation = evidence.silhouette_parts
    larger = np.maximum(cohesion, separation)
    valid = (geometry.sizes[geometry.labels] > 1) & (larger > 0)
    widths = np.divide(separation - cohesion, larger, out=np.zeros_like(larger), where=valid)
    means = geometry.total_of(widths) / geometry.sizes
    value = widths.mean() if over == "documents" else means.mean()
    return Values(float(value), per_cluster=means, per_document=widths)


variant(
    "silhouette_macro",
    of="silhouette",
    title="Silhouette, mean of the clusters' means",
    formula="(1/k) sum_i SC_i",
    source="Desgraupes 2013 (clusterCrit's Silhouette)",
    parameters={"over": "clusters"},
)
