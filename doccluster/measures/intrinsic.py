"""Measures of each document against the centroids: those of Sharma & Sharma, and the criterion functions of CLUTO.

Rows and centroids are unit, so similarity is the cosine; with rows that are not unit (``metric="euclidean"`` on raw
data) it is the product of the row as it is with the unit centroid. The criterion functions of Zhao & Karypis are what
`CriterionClustering` optimises.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from doccluster.base.arrays import Floats
from doccluster.base.validation import check_choice
from doccluster.geometry.evidence import ClusterEvidence, criterion_value
from doccluster.measures.registry import Values, alias, internal_measure, undefined, variant

intrinsic_measure = partial(internal_measure, family="intrinsic")

ONE_CLUSTER = "there is only one cluster, so no other to compare with"
SUMMARIES = ("max", "min", "mean")


@internal_measure(
    "skm_objective",
    title="Objective of spherical k-means",
    range="[0, n]",
    bounds=(0.0, None),
    formula="sum_k sum_{x in C_k} x.c_k = sum_k |s_k|; per cluster |s_k|",
    source="Dhillon & Modha 2001, quoted by Sharma & Sharma",
    meaning="The total cosine of documents to the centroid of their cluster: what spherical k-means makes large. It "
    "grows with the number of clusters.",
    edges="all singletons: the number of documents that have terms",
    parts=("per_cluster",),
)
def skm_objective(geometry: ClusterEvidence, *, per_document_mean: bool = False) -> Values:
    """Return the sum of the lengths of the cluster sums, divided by n if `per_document_mean`."""
    scale = geometry.n_documents if per_document_mean else 1
    return Values(float(geometry.sum_norms.sum()) / scale, per_cluster=geometry.sum_norms / scale)


variant(
    "skm_objective_over_n",
    of="skm_objective",
    title="Objective of spherical k-means per document",
    range="[0, 1]",
    bounds=(0.0, None),
    formula="(1/n) sum_k |s_k|",
    edges="all singletons: the share of documents that have terms",
    parameters={"per_document_mean": True},
)


def cluster_similarity(geometry: ClusterEvidence) -> Values:
    """Return the mean cosine of documents to their centroid; per cluster |s_k| / n_k."""
    value = float(geometry.sum_norms.sum()) / geometry.n_documents
    return Values(value, per_cluster=geometry.sum_norms / geometry.sizes)


variant(
    "cluster_similarity",
    of="skm_objective",
    function=cluster_similarity,
    title="Average similarity to the centroid",
    range="[0, 1] for non-negative rows",
    formula="(1/n_k) sum_{x in C_k} x.c_k = |s_k|/n_k per cluster; the mean over documents",
    source="Sharma & Sharma, fig. 2",
    meaning="How near the documents of a cluster are, on average, to its direction.",
    edges="a singleton: 1; a cluster without terms: 0",
)


@intrinsic_measure(
    "coherence",
    bounds=(0.0, 1.0),
    formula="x_i is coherent iff x_i.c_j <= avg_{j=1..k} x_i.c_j for all j but its own; coherent documents / n_k",
    source="Sharma & Sharma, Def. 1, Eq. 1 (own centroid in the average)",
    meaning="The share of documents for which no other cluster comes near: every other centroid is at most as similar "
    "as the average of all. The value is the share over all documents. On text with many clusters it is near 0 for "
    "every algorithm, because some other centroid nearly always comes nearer than the average one.",
    edges="one cluster: 1 (nothing to compare); two clusters: equals 'nearest to the own centroid', so 1 after "
    "convergence; a document without terms, or with similarity <= 0 to its own centroid, is not coherent",
    parts=("per_cluster", "per_document"),
)
def coherence(geometry: ClusterEvidence, *, average: str = "all") -> Values:
    """Return the share of coherent documents; `average` is over ``"all"`` centroids or the ``"others"`` only."""
    check_choice(average, ("all", "others"), "average")
    similarities = geometry.similarities
    mask = (similarities.coherent if average == "all" else similarities.coherent_others).astype(np.float64)
    shares = geometry.total_of(mask) / geometry.sizes
    notes = {
        1: "one cluster: every document with terms is coherent, for want of another centroid",
        2: "two clusters: coherent means no more than nearest to the own centroid",
    }
    note = notes.get(geometry.n_clusters)
    return Values(float(mask.mean()), per_cluster=shares, per_document=mask, note=note)


variant(
    "coherence_others",
    of="coherence",
    title="Coherence against the average of the others",
    formula="as coherence, with the average over j other than the own cluster",
    source="Sharma & Sharma, Def. 1, read without the own centroid",
    edges="as coherence; with k > 2 only documents equally similar to all other centroids are coherent",
    parameters={"average": "others"},
)


@intrinsic_measure(
    "adherence",
    direction="lower",
    range="[0, 1] for non-negative rows, else [-1, 1]",
    formula="Adh_pq = max_{x in C_p} x.c_q; the value is the largest with p != q",
    source="Sharma & Sharma, Eq. 2",
    meaning="How closely the nearest document of one cluster touches another: the largest value is the worst overlap "
    "of the partition. The diagonal is the best own similarity and no overlap.",
    edges="one cluster: undefined",
    parts=("per_cluster", "per_pair"),
)
def adherence(geometry: ClusterEvidence, *, summary: str = "max") -> Values:
    """Return the `summary` (``"max"``, ``"min"``, ``"mean"``) of the overlaps; per pair the k x k table."""
    check_choice(summary, SUMMARIES, "summary")
    table = geometry.adherence
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER, per_cluster=np.full(1, np.nan), per_pair=table)
    return _summarise_pairs(table, summary)


def _summarise_pairs(table: Floats, summary: str) -> Values:
    """Return a summary of the off-diagonal cells, skipping nan; per cluster the same summary of its line."""
    off = np.where(np.eye(len(table), dtype=bool), np.nan, table)
    has_direction = ~np.isnan(off).all(axis=1)
    reduce: Any = {"max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}[summary]
    lines = np.full(len(table), np.nan)
    if not has_direction.any():
        return undefined("no two clusters have terms", per_cluster=lines, per_pair=table)
    lines[has_direction] = reduce(off[has_direction], axis=1)
    note = (
        None
        if has_direction.all()
        else f"{int((~has_direction).sum())} cluster(s) without terms have no direction and are excluded"
    )
    return Values(float(reduce(off[has_direction])), per_cluster=lines, per_pair=table, note=note)


alias("adherence_max", of="adherence", title="Largest adherence", parameters={"summary": "max"})
for _summary, _title, _formula in (
    ("min", "Smallest adherence", "min_{p != q} Adh_pq"),
    ("mean", "Mean adherence", "mean of Adh_pq over p != q"),
):
    variant(f"adherence_{_summary}", of="adherence", title=_title, formula=_formula, parameters={"summary": _summary})


@intrinsic_measure(
    "density",
    range="[n_k/2, n_k] per cluster for non-negative unit rows",
    bounds=(0.0, None),
    formula="alpha = argmax_j sum_i x_ij; rho_k = n_k / (max_{x in C_k} x_alpha - min_{x in C_k} x_alpha + 1)",
    source="Sharma & Sharma, Def. 4, Eq. 3",
    meaning="Documents per unit of spread along the corpus's heaviest term; mostly the size of the cluster, so see "
    "density_over_size. The value is the mean over clusters.",
    edges="a singleton: 1; a cluster that never uses the term: n_k; zeros count in the range; ties for the term to the "
    "lowest index",
    parts=("per_cluster",),
)
def density(geometry: ClusterEvidence, *, over_size: bool = False) -> Values:
    """Return the mean density of clusters, or of rho_k / n_k if `over_size`."""
    densities = (1.0 if over_size else geometry.sizes) / (geometry.centres.principal_lengths + 1.0)
    return Values(float(densities.mean()), per_cluster=densities)


variant(
    "density_over_size",
    of="density",
    title="Density without the size",
    range="[1/2, 1] for non-negative unit rows",
    formula="rho_k / n_k = 1 / (range of x_alpha in C_k + 1)",
    edges="a singleton, or a cluster that never uses the term: 1",
    parameters={"over_size": True},
)


@intrinsic_measure(
    "ics",
    title="Inter-cluster separation",
    range="[0, 1] for non-negative rows, else [0, 2]",
    formula="ICS_pq = c_p.c_p - c_p.c_q = 1 - c_p.c_q; the value is the mean over p != q",
    source="Sharma & Sharma, Eq. 4",
    meaning="How different the directions of two clusters are; needs no ground truth, whatever the paper calls it.",
    edges="one cluster: undefined; a cluster without terms has no direction: its line is nan and left out",
    parts=("per_cluster", "per_pair"),
)
def ics(geometry: ClusterEvidence, *, summary: str = "mean", normalized: bool = True) -> Values:
    """Return a summary of the separations of centroids; with ``normalized=False`` of raw means (not symmetric)."""
    check_choice(summary, SUMMARIES, "summary")
    if normalized:
        table, directed = 1.0 - geometry.centres.centroid_similarity, geometry.sum_norms > 0
        table[directed, directed] = 0.0
    else:
        sizes = geometry.sizes.astype(np.float64)
        gram = geometry.cluster_sums.gram / np.outer(sizes, sizes)
        table = np.diagonal(gram)[:, None] - gram
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER, per_cluster=np.full(1, np.nan), per_pair=table)
    return _summarise_pairs(table, summary)


alias("ics_mean", of="ics", title="Mean inter-cluster separation", parameters={"summary": "mean"})
variant(
    "ics_min",
    of="ics",
    title="Smallest inter-cluster separation",
    formula="min_{p != q} ICS_pq",
    parameters={"summary": "min"},
)
variant(
    "ics_raw_means",
    of="ics",
    title="Inter-cluster separation of raw means",
    range="real",
    formula="mu_p.mu_p - mu_p.mu_q, not symmetric; the mean over p != q",
    source="Sharma & Sharma, Eq. 4, with means that are not normalised",
    parameters={"normalized": False},
)


@internal_measure(
    "pairwise_similarity",
    title="Mean pairwise similarity (ISim)",
    range="[0, 1] for non-negative rows",
    formula="per cluster (|s_i|^2 - sum_{x in C_i} |x|^2) / (n_i (n_i - 1)); the mean over documents",
    source="Karypis 2003 (CLUTO's ISim, which includes self pairs)",
    meaning="The mean cosine of two documents of one cluster.",
    edges="a singleton: undefined, excluded from the mean",
    parts=("per_cluster",),
)
def pairwise_similarity(geometry: ClusterEvidence) -> Values:
    """Return the mean cosine of two documents of a cluster, weighted by its number of documents."""
    sizes = geometry.sizes.astype(np.float64)
    several = sizes > 1
    means = np.full(geometry.n_clusters, np.nan)
    products = geometry.cluster_sums.squared_norms - geometry.norm_totals
    means[several] = products[several] / (sizes[several] * (sizes[several] - 1))
    if not several.any():
        return undefined("no cluster has two documents", per_cluster=means)
    left_out = int((~several).sum())
    note = f"{left_out} cluster(s) of one document are excluded" if left_out else None
    return Values(float(np.average(means[several], weights=sizes[several])), per_cluster=means, note=note)


alias("i2", of="skm_objective", title="Criterion I2", source="Zhao & Karypis 2004, Table 1; the objective of CLUTO")


def _criterion(geometry: ClusterEvidence, name: str) -> float | Values:
    """Return a criterion function of CLUTO as it is defined."""
    if name in ("h1", "h2") and geometry.zero_rows.sum() == geometry.n_documents:
        return undefined("no document has a term")
    return criterion_value(name, geometry)


def _declare_criterion(name: str, **record: Any) -> None:
    """Register a criterion function of CLUTO as a measure."""
    usual = {"title": f"Criterion {name.upper()}", "bounds": (0.0, None), "range": "[0, inf)"}
    fixed = {"source": "Zhao & Karypis 2004, Table 1", "parameters": {"name": name}}
    internal_measure(name, **usual, **fixed, **record)(_criterion)


_declare_criterion(
    "i1",
    formula="sum_k |s_k|^2 / n_k, n_k without the documents that have no terms",
    meaning="The mean cosine of all pairs of a cluster, each document with itself included, times the size of the "
    "cluster, added up over clusters. For unit rows it is n - RSS: what k-means on unit rows makes large.",
    edges="all singletons: the number of documents that have terms",
)
_declare_criterion(
    "e1",
    direction="lower",
    formula="sum_k n_k s_k.s / |s_k|, s the sum of all rows",
    meaning="How much the centroids of clusters look like the whole collection, large clusters counting more: small "
    "where clusters stand apart from it.",
    edges="one cluster: n |s|; no document with terms: 0",
)
_declare_criterion(
    "g1",
    direction="lower",
    formula="sum_k s_k.(s - s_k) / |s_k|^2",
    meaning="The similarities that cross the border of a cluster over those within it, added up over clusters: the "
    "min-max cut of the graph of cosines.",
    edges="one cluster: 0; clusters without terms are left out",
)
_declare_criterion(
    "h1",
    formula="I1 / E1",
    meaning="Clusters that hold together (I1) and stand apart from the whole (E1), in one number.",
    edges="no document with terms: undefined",
)
_declare_criterion(
    "h2",
    formula="I2 / E1",
    meaning="The objective of spherical k-means (I2) over E1; `CriterionClustering` optimises it by default.",
    edges="no document with terms: undefined",
)
