"""The criterion functions of Zhao & Karypis as measures: the numbers that CLUTO and `CriterionClustering` optimise."""

from __future__ import annotations

from functools import partial

from doccluster.geometry.evidence import ClusterEvidence, criterion_value
from doccluster.measures.registry import Values, alias, internal_measure, undefined

criterion_measure = partial(internal_measure, bounds=(0.0, None), range="[0, inf)")

alias("i2", of="skm_objective", title="Criterion I2", source="Zhao & Karypis 2004, Table 1; the objective of CLUTO")


@criterion_measure(
    "i1",
    title="Criterion I1",
    formula="sum_k |s_k|^2 / n_k, n_k without the documents that have no terms",
    source="Zhao & Karypis 2004, Table 1",
    meaning="The mean cosine of all pairs of a cluster, each document with itself included, times the size of the "
    "cluster, added up over clusters. For unit rows it is n - RSS: what k-means on unit rows makes large.",
    edges="all singletons: the number of documents that have terms",
)
def i1(geometry: ClusterEvidence) -> float:
    """Return the sum over clusters of the squared length of their sum over their size."""
    return criterion_value("i1", geometry)


@criterion_measure(
    "e1",
    title="Criterion E1",
    direction="lower",
    formula="sum_k n_k s_k.s / |s_k|, s the sum of all rows",
    source="Zhao & Karypis 2004, Table 1",
    meaning="How much the centroids of clusters look like the whole collection, large clusters counting more: small "
    "where clusters stand apart from it.",
    edges="one cluster: n |s|; no document with terms: 0",
)
def e1(geometry: ClusterEvidence) -> float:
    """Return the sum of the products of centroids with the sum of all, times the sizes of the clusters."""
    return criterion_value("e1", geometry)


@criterion_measure(
    "g1",
    title="Criterion G1",
    direction="lower",
    formula="sum_k s_k.(s - s_k) / |s_k|^2",
    source="Zhao & Karypis 2004, Table 1",
    meaning="The similarities that cross the border of a cluster over those within it, added up over clusters: the "
    "min-max cut of the graph of cosines.",
    edges="one cluster: 0; clusters without terms are left out",
)
def g1(geometry: ClusterEvidence) -> float:
    """Return the sum over clusters of what crosses their border over what they hold together."""
    return criterion_value("g1", geometry)


@criterion_measure(
    "h1",
    title="Criterion H1",
    formula="I1 / E1",
    source="Zhao & Karypis 2004, Table 1",
    meaning="Clusters that hold together (I1) and stand apart from the whole (E1), in one number.",
    edges="no document with terms: undefined",
)
def h1(geometry: ClusterEvidence) -> float | Values:
    """Return I1 over E1."""
    return _ratio("h1", geometry)


@criterion_measure(
    "h2",
    title="Criterion H2",
    formula="I2 / E1",
    source="Zhao & Karypis 2004, Table 1",
    meaning="The objective of spherical k-means (I2) over E1; `CriterionClustering` optimises it by default.",
    edges="no document with terms: undefined",
)
def h2(geometry: ClusterEvidence) -> float | Values:
    """Return I2 over E1."""
    return _ratio("h2", geometry)


def _ratio(criterion: str, geometry: ClusterEvidence) -> float | Values:
    if geometry.zero_rows.sum() == geometry.n_documents:
        return undefined("no document has a term")
    return criterion_value(criterion, geometry)
