"""The silhouette: exact in O(nnz k) under cosine and squared Euclidean distance, from all pairs under Euclidean."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from doccluster.errors import Argument, InputError
from doccluster.measures.distances import PairwiseDistances
from doccluster.measures.registry import Values, internal_measure, undefined, variant
from doccluster.measures.within_between import PairEvidence
from doccluster.validation import RandomState, check_choice

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@internal_measure(
    "silhouette",
    also_called=("silhouette_score",),
    title="Silhouette",
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
    widths = _widths(evidence, np.arange(geometry.n_documents), *evidence.silhouette_parts)
    means = geometry.total_of(widths) / geometry.sizes
    value = widths.mean() if over == "documents" else means.mean()
    return Values(float(value), per_cluster=means, per_document=widths)


def _widths(evidence: PairEvidence, rows: IntArray, cohesion: FloatArray, separation: FloatArray) -> FloatArray:
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
    left = 1 - rows.size / geometry.n_documents  # all documents drawn: nothing left to chance
    error = math.sqrt(left * float(np.var(widths, ddof=min(1, rows.size - 1))) / rows.size)
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
