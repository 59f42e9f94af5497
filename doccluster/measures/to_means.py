"""Measures of the distance of each document to means: its own, the nearest other, that of the corpus.

They take the second reading of the matrix (all but Davies-Bouldin with q = 2) and share it.
"""

from __future__ import annotations

import math

import numpy as np

from doccluster.base.arrays import Floats
from doccluster.errors import InputError
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.measures.registry import Values, alias, internal_measure, undefined, variant
from doccluster.measures.scatter import ONE_CLUSTER, off_diagonal


@internal_measure(
    "davies_bouldin",
    title="Davies-Bouldin",
    direction="lower",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="(1/k) sum_i max_{j != i} (sigma_i + sigma_j)/|mu_i - mu_j|, sigma_i = (mean |x - mu_i|^q)^(1/q), q = 2",
    source="Zaki & Meira, 17.2 (DB, root mean square spread); Davies & Bouldin 1979",
    meaning="For each cluster the neighbour it is most mixed with: their spreads over the distance of their means.",
    edges="one cluster: undefined; all singletons: 0; two means coincide: inf (scikit-learn says 0)",
    parts=("per_cluster", "per_pair"),
)
def davies_bouldin(geometry: ClusterEvidence, *, q: float = 2.0) -> Values:
    """Return the mean of the worst ratios of spread to distance; q = 2 is Zaki & Meira's, q = 1 scikit-learn's."""
    if not (isinstance(q, int | float | np.number) and math.isfinite(q) and q > 0):
        raise InputError(
            "is not a positive number",
            argument="q",
            received=q,
            remedy="give 2 (root mean square) or 1 (mean distance)",
        )
    k = geometry.n_clusters
    if k == 1:
        return undefined(ONE_CLUSTER, per_cluster=np.full(1, np.nan), per_pair=np.full((1, 1), np.nan))
    spread = _spread(geometry, float(q))
    distances = geometry.centres.mean_distances
    ratios = np.full((k, k), np.inf)  # zero separation is the worst, whatever the spread
    np.divide(spread[:, None] + spread[None, :], distances, out=ratios, where=distances > 0)
    np.fill_diagonal(ratios, np.nan)
    worst = np.nanmax(ratios, axis=1)
    return Values(float(worst.mean()), per_cluster=worst, per_pair=ratios)


def _spread(geometry: ClusterEvidence, q: float) -> Floats:
    if q == 2:
        return np.sqrt(geometry.centres.rss_clusters / geometry.sizes)
    powers = geometry.total_of(geometry.similarities.own_distance**q)
    return np.asarray((powers / geometry.sizes) ** (1.0 / q))


alias("davies_bouldin_rms", of="davies_bouldin", title="Davies-Bouldin, RMS spread", parameters={"q": 2.0})
variant(
    "davies_bouldin_mean",
    of="davies_bouldin",
    also_called=("davies_bouldin_score",),
    title="Davies-Bouldin, mean spread",
    formula="as davies_bouldin with q = 1: sigma_i = mean |x - mu_i|",
    source="scikit-learn and clusterCrit; Davies & Bouldin 1979 with q = 1",
    parameters={"q": 1.0},
)


@internal_measure(
    "simplified_silhouette",
    bounds=(-1.0, 1.0),
    formula="mean of (b - a)/max(a, b), a = |x - mu_own|, b = min_{j != own} |x - mu_j|",
    source="Hruschka, de Castro & Campello 2004",
    meaning="The silhouette with distances to means in place of mean distances.",
    edges="one cluster: undefined; a singleton, a = b = 0: 0",
    parts=("per_cluster", "per_document"),
)
def simplified_silhouette(geometry: ClusterEvidence) -> Values:
    """Return the mean silhouette of documents against means."""
    if geometry.n_clusters == 1:
        blank = np.full(geometry.n_documents, np.nan)
        return undefined(ONE_CLUSTER, per_cluster=np.full(1, np.nan), per_document=blank)
    to_own, to_nearest = geometry.similarities.own_distance, geometry.similarities.other_distance
    larger = np.maximum(to_own, to_nearest)
    valid = (geometry.sizes[geometry.labels] > 1) & (larger > 0)
    widths = np.divide(to_nearest - to_own, larger, out=np.zeros_like(larger), where=valid)
    means = geometry.total_of(widths) / geometry.sizes
    return Values(float(widths.mean()), per_cluster=means, per_document=widths)


@internal_measure(
    "wemmert_gancarski",
    title="Wemmert-Gancarski",
    bounds=(0.0, 1.0),
    formula="(1/n) sum_i max(0, n_i - sum_{x in C_i} R), R = |x - mu_own|/min_{j != own} |x - mu_j|",
    source="Wemmert, Gancarski & Korczak 2000",
    meaning="How much nearer documents are to their own mean than to the next one. Equal to the simplified silhouette "
    "when each document is nearest to its own mean and there is no singleton.",
    edges="one cluster: undefined; all singletons: 1; R = 1 for 0/0 and inf for a/0",
    parts=("per_cluster",),
)
def wemmert_gancarski(geometry: ClusterEvidence) -> Values:
    """Return the size-weighted quality of clusters, each at least 0."""
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER, per_cluster=np.full(1, np.nan))
    to_own, to_nearest = geometry.similarities.own_distance, geometry.similarities.other_distance
    ratios = np.where(to_own > 0, np.inf, 1.0)
    np.divide(to_own, to_nearest, out=ratios, where=to_nearest > 0)
    quality = np.clip(1.0 - geometry.total_of(ratios) / geometry.sizes, 0.0, None)
    return Values(float(geometry.sizes @ quality / geometry.n_documents), per_cluster=quality)


@internal_measure(
    "pbm",
    title="PBM",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="((E_T/E_W) max_{i<j} |mu_i - mu_j| / k)^2, E_W = sum |x - mu_own|, E_T = sum |x - mu|",
    source="Pakhira, Bandyopadhyay & Maulik 2004",
    meaning="Compactness gained over one cluster, times the largest distance of means, per cluster.",
    edges="one cluster: undefined; every document on its mean: inf; 0/0: undefined",
)
def pbm(geometry: ClusterEvidence) -> float | Values:
    """Return the squared product of compactness gained, reach of the means and 1/k."""
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER)
    within = float(geometry.similarities.own_distance.sum())
    reach = float(geometry.similarities.grand_distance.sum()) * float(
        off_diagonal(geometry.centres.mean_distances).max()
    )
    if within == 0:
        return math.inf if reach > 0 else undefined("all documents coincide")
    return (reach / within / geometry.n_clusters) ** 2
