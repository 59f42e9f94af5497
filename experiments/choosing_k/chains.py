"""One data set fitted for each k in turn: the labels, and what the criteria are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans

from doccluster.clustering import SphericalKMeans
from doccluster.errors import NotComputable
from doccluster.evaluation.evidence_store import EvidenceStore
from doccluster.geometry import ClusterEvidence, as_documents
from doccluster.measures import get_measure
from doccluster.partition import Partition
from doccluster.selection.clusterers import Contender, fit_labels
from doccluster.validation import compact_indices, unit_rows
from experiments.choosing_k.dispersion import within_weight

Chain = dict[int, dict[str, float]]


def fit_chain(
    points: Any,
    sizes: list[int],
    algorithm: Contender,
    rng: np.random.Generator,
    *,
    warm_start: bool,
    scatter: bool = False,
) -> tuple[Chain, dict[int, npt.NDArray[np.int64]]]:
    """Return for each k what the criteria are made of (see `judge`), and the labels.

    With `warm_start` each k also starts from the clustering for the k before, grown by new seeds; the better of the two
    is kept. With `scatter` the two parts of SD(k) are found as well.
    """
    documents = as_documents(points)
    rows = compact_indices(documents.matrix)
    values: Chain = {}
    labels: dict[int, npt.NDArray[np.int64]] = {}
    previous: ClusterEvidence | None = None

    def evidence_of(found: npt.NDArray[np.int64]) -> ClusterEvidence:
        return ClusterEvidence(documents, Partition.from_labels(found), metric=algorithm.metric, n_threads=1)

    for k in sizes:
        size = min(k, documents.n_distinct)
        found = evidence_of(fit_labels(algorithm.estimator, rows, n_clusters=size, seed=int(rng.integers(2**31))))
        if warm_start and previous is not None and isinstance(algorithm.estimator, SphericalKMeans | KMeans):
            init = grown_centroids(previous, k)
            if init is not None and init.shape[0] == size:
                other = evidence_of(fit_from(algorithm.estimator, rows, init))
                found = min((found, other), key=_objective)
        previous = found
        labels[k] = found.labels
        values[k] = judge(found, scatter=scatter)
    return values, labels


def judge(evidence: ClusterEvidence, *, scatter: bool = False) -> dict[str, float]:
    """Return clusters found, RSS, W_in, silhouette and CH of a clustering, and with `scatter` the parts of SD(k)."""
    store = EvidenceStore(evidence.partition, [], evidence.documents, evidence.metric, evidence=evidence, n_threads=1)

    def value(name: str) -> float:
        measure = get_measure(name)
        try:
            return float(measure.compute(store.of(store.evidence_kind(measure))).value)
        except NotComputable:
            return math.nan

    names = ["silhouette", "calinski_harabasz", *(("sd_scat", "sd_dis") if scatter else ())]
    several = evidence.n_clusters > 1
    found = {name: value(name) if several else math.nan for name in names}
    return {"n_clusters": evidence.n_clusters, "rss": evidence.rss, "within": within_weight(evidence), **found}


def fit_from(estimator: Any, rows: Any, centroids: Any) -> npt.NDArray[np.int64]:
    """Return the labels of a fit that starts from given centroids; scikit-learn's k-means takes dense ones only."""
    dense = not isinstance(estimator, SphericalKMeans) and sparse.issparse(centroids)
    started = clone(estimator).set_params(init=centroids.toarray() if dense else centroids, n_init=1)
    return fit_labels(started, rows, n_clusters=centroids.shape[0], seed=0)


def grown_centroids(evidence: ClusterEvidence, n_clusters: int) -> Any | None:
    """Return the centroids of a clustering with fewer clusters plus, as new seeds, the documents farthest from theirs.

    Dense arrays stay dense and sparse ones sparse; None where the clustering has not fewer clusters. Centroids are unit
    under the cosine, else means.
    """
    missing = n_clusters - evidence.n_clusters
    if missing <= 0:
        return None
    read = evidence.similarities
    if evidence.metric == "cosine":
        centres = unit_rows(evidence.sums, warn=False)
        distances = evidence.rows.squared_norms + 1 - 2 * read.own_similarity
    else:
        centres, distances = evidence.means, read.own_distance
    seeds = evidence.documents.matrix[np.argsort(-distances, kind="stable")[:missing]]
    return (
        sparse.csr_array(sparse.vstack([centres, seeds])) if sparse.issparse(centres) else np.vstack([centres, seeds])
    )


def _objective(evidence: ClusterEvidence) -> float:
    """Return the objective that the algorithm minimises: RSS, or minus the sum of the lengths of the clusters' sums."""
    return evidence.rss if evidence.metric == "euclidean" else -float(evidence.sum_norms.sum())
