"""Euclidean measures of the distances of documents to means, and of means to one another.

Measures of scatter (squared distances) follow from the sums of rows and their lengths, so they are exact on sparse rows
in O(nnz + k d). Those of the distance of each document to means (Davies-Bouldin to PBM, all but Davies-Bouldin with
q = 2) take a second reading of the matrix and share it. They are Euclidean by definition: ``metric="cosine"`` only says
that rows count as unit.
"""

from __future__ import annotations

import math

import numpy as np

from doccluster.base.arrays import Floats
from doccluster.errors import InputError
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.measures.registry import Values, alias, internal_measure, undefined, variant

ONE_CLUSTER = "there is only one cluster"


@internal_measure(
    "rss",
    title="Residual sum of squares",
    direction="lower",
    range="[0, n] for unit rows",
    bounds=(0.0, None),
    formula="sum_k sum_{x in C_k} |x - mu_k|^2 = sum_k (sum |x|^2 - |s_k|^2/n_k)",
    source="IIR, Eq. 16.7",
    meaning="What k-means makes small: the squared distances of documents to the mean of their cluster. It falls with "
    "the number of clusters.",
    edges="all singletons, or only copies in each cluster: 0",
    parts=("per_cluster",),
)
def rss(geometry: ClusterEvidence) -> Values:
    """Return the squared distances of documents to the mean of their cluster, summed."""
    return Values(geometry.centres.rss, per_cluster=geometry.centres.rss_clusters)


alias("trace_w", of="rss", title="Trace W", source="Milligan & Cooper 1985; equal to RSS")


@internal_measure(
    "calinski_harabasz",
    also_called=("calinski_harabasz_score",),
    title="Calinski-Harabasz",
    bounds=(0.0, None),
    formula="((n - k)/(k - 1)) tr S_B / tr S_W",
    source="Zaki & Meira, 17.3 (CH); Calinski & Harabasz 1974",
    meaning="Scatter between clusters over scatter within, each per degree of freedom; often used to choose k.",
    edges="one cluster or all singletons: undefined; RSS 0: inf",
)
def calinski_harabasz(geometry: ClusterEvidence) -> float | Values:
    """Return the ratio of scatter between and within clusters, per degree of freedom."""
    n, k = geometry.n_documents, geometry.n_clusters
    if k in (1, n):
        return undefined(ONE_CLUSTER if k == 1 else "every cluster is a single document")
    if geometry.centres.rss == 0:
        return math.inf if geometry.centres.bgss > 0 else undefined("all documents coincide")
    return (n - k) / (k - 1) * geometry.centres.bgss / geometry.centres.rss


@internal_measure(
    "r_squared",
    bounds=(0.0, 1.0),
    formula="tr S_B / (tr S_B + tr S_W)",
    source="Sharma (S.) 1996",
    meaning="The share of the scatter of documents that the clusters explain; grows with the number of clusters.",
    edges="one cluster: 0; all singletons: 1; all documents coincide: undefined",
)
def r_squared(geometry: ClusterEvidence) -> float | Values:
    """Return the share of scatter between clusters."""
    total = geometry.centres.bgss + geometry.centres.rss
    return geometry.centres.bgss / total if total > 0 else undefined("all documents coincide")


@internal_measure(
    "log_ss_ratio",
    title="Log of the ratio of scatters",
    range="real",
    formula="log(tr S_B / tr S_W)",
    source="Hartigan 1975",
    meaning="Scatter between clusters over scatter within, on a log scale.",
    edges="one cluster: undefined; RSS 0: inf; all means coincide: -inf; both: undefined",
)
def log_ss_ratio(geometry: ClusterEvidence) -> float | Values:
    """Return the logarithm of the scatter between over the scatter within clusters."""
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER)
    if geometry.centres.rss == 0:
        return math.inf if geometry.centres.bgss > 0 else undefined("all documents coincide")
    return math.log(geometry.centres.bgss / geometry.centres.rss) if geometry.centres.bgss > 0 else -math.inf


@internal_measure(
    "ball_hall",
    title="Ball-Hall",
    direction="lower",
    bounds=(0.0, None),
    formula="(1/k) sum_i RSS_i/n_i",
    source="Ball & Hall 1965",
    meaning="The mean over clusters of their mean squared distance to the mean; a small cluster weighs as much as a "
    "large one.",
    edges="all singletons: 0",
    parts=("per_cluster",),
)
def ball_hall(geometry: ClusterEvidence) -> Values:
    """Return the mean of the variances of the clusters."""
    variances: Floats = geometry.centres.rss_clusters / geometry.sizes
    return Values(float(variances.mean()), per_cluster=variances)


@internal_measure(
    "banfield_raftery",
    title="Banfield-Raftery",
    direction="lower",
    range="real",
    formula="sum_i n_i log(RSS_i/n_i)",
    source="Banfield & Raftery 1993",
    meaning="The log-likelihood cost of spherical clusters of different widths.",
    edges="a singleton, or a cluster of copies: -inf",
    parts=("per_cluster",),
)
def banfield_raftery(geometry: ClusterEvidence) -> Values:
    """Return the size-weighted sum of the logarithms of the clusters' variances."""
    variances = geometry.centres.rss_clusters / geometry.sizes
    logs = np.log(variances, out=np.full(geometry.n_clusters, -np.inf), where=variances > 0)
    flat = int(np.count_nonzero(variances == 0))
    note = f"{flat} cluster(s) with no spread (single documents or copies) make it -inf" if flat else None
    terms = geometry.sizes.astype(np.float64) * logs
    return Values(float(terms.sum()), per_cluster=terms, note=note)


@internal_measure(
    "ray_turi",
    title="Ray-Turi (crisp Xie-Beni)",
    direction="lower",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="(RSS/n)/min_{i<j} |mu_i - mu_j|^2",
    source="Ray & Turi 1999; crisp form of Xie & Beni 1991",
    meaning="Spread within clusters over the squared distance of the two nearest means.",
    edges="one cluster: undefined; two means coincide: inf, also with RSS 0",
)
def ray_turi(geometry: ClusterEvidence) -> float | Values:
    """Return the mean squared distance to the own mean over the least squared distance of means."""
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER)
    nearest = float(off_diagonal(geometry.centres.mean_distances).min()) ** 2
    return geometry.centres.rss / geometry.n_documents / nearest if nearest > 0 else math.inf


def off_diagonal(table: Floats) -> Floats:
    """Return the cells (i, j), i < j, of a symmetric table."""
    return table[np.triu_indices(len(table), 1)]


@internal_measure(
    "ratkowsky_lance",
    title="Ratkowsky-Lance",
    range="[0, k^-0.5]",
    bounds=(0.0, 1.0),
    formula="sqrt((1/k) mean_t B_t/T_t) over terms with T_t > 0; B_t = sum_i n_i (mu_it - mu_t)^2, "
    "T_t = sum_x (x_t - mu_t)^2",
    source="Ratkowsky & Lance 1978",
    meaning="The mean share of the variance of a term that the clusters explain; every term counts alike, so on text "
    "the many rare terms decide.",
    edges="one cluster: 0; no term varies: undefined",
)
def ratkowsky_lance(geometry: ClusterEvidence) -> float | Values:
    """Return the root of the mean share of explained variance of terms, over k."""
    sums = geometry.cluster_sums
    offset = np.square(sums.total) / geometry.n_documents
    spread = geometry.centres.term_squares - offset
    varies = spread > geometry.tau * geometry.centres.term_squares
    if not varies.any():
        return undefined("no term varies over the documents")
    if geometry.n_clusters == 1:
        return 0.0
    between = np.clip(_squares_over_sizes(geometry) - offset, 0.0, None)
    return math.sqrt(float((between[varies] / spread[varies]).mean()) / geometry.n_clusters)


def _squares_over_sizes(geometry: ClusterEvidence) -> Floats:
    """Return sum_i s_it^2 / n_i for each term."""
    sums, sizes = geometry.sums, geometry.sizes.astype(np.float64)
    if not geometry.rows.is_sparse:
        return np.asarray((np.square(sums) / sizes[:, None]).sum(axis=0))
    weights = np.square(sums.data) / np.repeat(sizes, np.diff(sums.indptr))
    return np.bincount(sums.indices, weights=weights, minlength=geometry.rows.n_terms).astype(np.float64)


@internal_measure(
    "sd_scat",
    title="SD: scattering",
    direction="lower",
    bounds=(0.0, None),
    formula="(1/k) sum_i |v(C_i)|/|v(X)|, v = vector of the population variances of the terms",
    source="Halkidi, Vazirgiannis & Batistakis 2000",
    meaning="The mean spread of a cluster relative to the spread of the corpus.",
    edges="one cluster: 1; no term varies: undefined",
    parts=("per_cluster",),
)
def sd_scat(geometry: ClusterEvidence) -> Values:
    """Return the mean length of the clusters' variance vectors over that of the corpus."""
    sums, n = geometry.cluster_sums, geometry.n_documents
    squares = geometry.centres.term_squares / n
    variances = squares - np.square(sums.total / n)
    variances[variances <= geometry.tau * squares] = 0.0
    whole = math.sqrt(float(np.square(variances).sum()))
    if whole == 0:
        return undefined("no term varies over the documents", per_cluster=np.full(geometry.n_clusters, np.nan))
    shares = geometry.centres.variance_norms / whole
    return Values(1.0 if geometry.n_clusters == 1 else float(shares.mean()), per_cluster=shares)


@internal_measure(
    "sd_dis",
    title="SD: separation",
    direction="lower",
    range="(0, inf]",
    bounds=(0.0, None),
    formula="(max D)/(min D) sum_i 1/(sum_{j != i} D_ij), D_ij = |mu_i - mu_j|",
    source="Halkidi, Vazirgiannis & Batistakis 2000",
    meaning="How unevenly and how closely the means lie; grows with the number of clusters.",
    edges="one cluster: undefined; two means coincide: inf",
)
def sd_dis(geometry: ClusterEvidence) -> float | Values:
    """Return the total closeness of the means, scaled by how uneven their distances are."""
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER)
    pairs = off_diagonal(geometry.centres.mean_distances)
    if pairs.min() == 0:
        return math.inf
    return float(pairs.max() / pairs.min() * (1.0 / geometry.centres.mean_distances.sum(axis=1)).sum())


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
    if q == 2:
        spread = np.sqrt(geometry.centres.rss_clusters / geometry.sizes)
    else:
        powers = geometry.total_of(geometry.similarities.own_distance ** float(q))
        spread = np.asarray((powers / geometry.sizes) ** (1.0 / float(q)))
    distances = geometry.centres.mean_distances
    ratios = np.full((k, k), np.inf)  # zero separation is the worst, whatever the spread
    np.divide(spread[:, None] + spread[None, :], distances, out=ratios, where=distances > 0)
    np.fill_diagonal(ratios, np.nan)
    worst = np.nanmax(ratios, axis=1)
    return Values(float(worst.mean()), per_cluster=worst, per_pair=ratios)


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
