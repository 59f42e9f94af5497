"""External measures that match whole clusters with whole classes: purity and its relatives, one-to-one maps, F."""

from __future__ import annotations

import numpy as np

from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.matching import best_matching
from doccluster.measures.registry import Values, alias, check_beta, external_measure, f_beta, variant


@external_measure(
    "purity",
    range="[max_j m_j/n, 1]",
    formula="(1/n) sum_i max_j n_ij; per cluster max_j n_ij / n_i; per pair n_ij / n_i (precision)",
    source="Manning, Raghavan & Schütze 2008 (IIR), Eq. 16.1; Strehl 2002, Eq. 4.17, 4.18, 4.21; Zaki & Meira, 17.1.1",
    meaning="The share of documents that belong to the commonest class of their cluster. It grows with the number of "
    "clusters, so compare it at equal k only.",
    edges="one cluster: the share of the largest class; all singletons, or one class: 1; never 0",
    parts=("per_cluster", "per_pair"),
    swapped="inverse_purity",
)
def purity(table: ContingencyTable) -> Values:
    """Return the share of documents in the majority class of their cluster."""
    value = float(table.largest_in_cluster.sum() / table.n_documents)
    shares = table.largest_in_cluster / table.cluster_sizes
    return Values(value, per_cluster=shares, per_pair=table.dense(table.precision))


@external_measure(
    "inverse_purity",
    range="[max_i n_i/n, 1]",
    formula="(1/n) sum_j max_i n_ij; per class max_i n_ij / m_j; per pair n_ij / m_j (recall)",
    source="Amigó, Gonzalo, Artiles & Verdejo 2009; the recall table: Strehl 2002, Eq. 4.22",
    meaning="The share of documents that are in the cluster holding most of their class: how little the classes are "
    "broken up. It falls as the number of clusters grows.",
    edges="one cluster: 1; all singletons: g/n",
    parts=("per_class", "per_pair"),
    swapped="purity",
)
def inverse_purity(table: ContingencyTable) -> Values:
    """Return purity with clusters and classes in each other's place."""
    value = float(table.largest_in_class.sum() / table.n_documents)
    shares = table.largest_in_class / table.class_sizes
    return Values(value, per_class=shares, per_pair=table.dense(table.recall))


@external_measure(
    "purity_f",
    title="F of purity and inverse purity",
    range="(0, 1]",
    formula="(1 + b2) Pu IP / (b2 Pu + IP), b2 = beta^2; 2 Pu IP / (Pu + IP) by default",
    source="Harmonic mean of purity and inverse purity, after Amigó, Gonzalo, Artiles & Verdejo 2009",
    meaning="Rewards clusters that are both pure and whole; beta > 1 gives more weight to whole classes.",
    edges="never undefined: both parts are above 0",
)
def purity_f(table: ContingencyTable, *, beta: float = 1.0) -> float:
    """Return the F-measure of purity and inverse purity."""
    return f_beta(purity(table).value, inverse_purity(table).value, check_beta(beta))


@external_measure(
    "max_matching",
    title="Maximum matching",
    range="(0, 1]",
    formula="max over one-to-one maps of clusters to classes of (1/n) sum of n_ij over the mapped pairs",
    source="Zaki & Meira, 17.1.1 (Maximum Matching)",
    meaning="The share of documents that are right when every cluster may stand for one class only, and every class "
    "for one cluster: the accuracy after the best renaming. At most the purity.",
    edges="all singletons: g/n; one cluster: the share of the largest class",
    swapped="max_matching",
)
def max_matching(table: ContingencyTable) -> float:
    """Return the weight of the best one-to-one map between clusters and classes, over n."""
    return table.matching.total / table.n_documents


@external_measure(
    "zaki_f",
    title="F-measure of clusters (Zaki & Meira)",
    range="(0, 1]",
    formula="(1/k) sum_i F_i, F_i = 2 n_ij / (n_i + m_j) with j the commonest class of cluster i",
    source="Zaki & Meira, Eq. 17.1",
    meaning="How well each cluster agrees with its majority class, both ways, averaged over clusters: a cluster of one "
    "document weighs as much as a big one. Not Strehl's F (averaged over classes) nor the F of pairs.",
    edges="of several commonest classes the smallest is taken (the largest F), which does not depend on names",
    parts=("per_cluster",),
)
def zaki_f(table: ContingencyTable) -> Values:
    """Return the unweighted mean over clusters of the F of a cluster with its majority class."""
    sizes = table.cluster_sizes + table.class_sizes[table.majority_class]
    per_cluster = 2 * table.largest_in_cluster / sizes
    return Values(float(per_cluster.mean()), per_cluster=per_cluster, note=table.majority_note)


@external_measure(
    "strehl_f",
    title="F-measure of classes (Strehl)",
    range="(0, 1]",
    formula="(1/n) sum_j m_j max_i (1 + b2) n_ij / (b2 m_j + n_i), b2 = beta^2, beta = 1 by default",
    source="Strehl 2002, Eq. 4.23, 4.24 (van Rijsbergen 1979)",
    meaning="For each class the cluster that would answer a search for it best, averaged over documents. It favours "
    "coarse clusterings, and a random one does not score 0.",
    edges="always defined; with beta the best cluster of a class may change",
    parts=("per_class", "per_pair"),
)
def strehl_f(table: ContingencyTable, *, beta: float = 1.0) -> Values:
    """Return the mean over documents of the best F_beta of their class in any cluster."""
    cells = table.f_scores(check_beta(beta))
    per_class = np.zeros(table.n_classes)
    np.maximum.at(per_class, table.cell_classes, cells)
    value = float(per_class @ table.class_sizes / table.n_documents)
    return Values(value, per_class=per_class, per_pair=table.dense(cells))


alias("strehl_f1", of="strehl_f", title="F1 of classes (Strehl)", parameters={"beta": 1.0})


@external_measure(
    "van_dongen",
    title="Van Dongen distance, normalised",
    direction="lower",
    range="[0, 1)",
    formula="1 - (Pu + IP) / 2",
    source="van Dongen 2000",
    meaning="The share of documents to be moved, from both sides, to make the partitions equal; a metric before the "
    "division by 2n.",
    edges="0 only for identical partitions",
    swapped="van_dongen",
)
def van_dongen(table: ContingencyTable) -> float:
    """Return the normalised van Dongen distance."""
    return van_dongen_raw(table) / (2 * table.n_documents)


def van_dongen_raw(table: ContingencyTable) -> float:
    """Return the split-join distance, 2n times the normalised one."""
    return float(2 * table.n_documents - table.largest_in_cluster.sum() - table.largest_in_class.sum())


alias(
    "van_dongen_raw",
    of="van_dongen",
    function=van_dongen_raw,
    title="Van Dongen (split-join) distance",
    range="[0, 2n)",
    bounds=(0.0, None),
    formula="2n - sum_i max_j n_ij - sum_j max_i n_ij",
)


@external_measure(
    "pair_sets_index",
    formula="max(0, (S - E) / (max(k, g) - E)); S = max over one-to-one maps of sum n_ij / max(n_i, m_j); "
    "E = sum_i a_i b_i / (n max(a_i, b_i)) over the sizes a, b sorted descending",
    source="Rezaei & Fränti 2016",
    meaning="How many clusters have a class of their own, whatever their size, corrected for chance: small clusters "
    "count as much as large ones.",
    edges="one cluster against several classes: 0; both one: 1",
    swapped="pair_sets_index",
)
def pair_sets_index(table: ContingencyTable, *, simplified: bool = False) -> float:
    """Return the pair sets index; with `simplified`, the expectation is taken to be 1."""
    if table.is_identical:
        return 1.0
    if table.has_single_group:
        return 0.0
    larger = np.maximum(table.cluster_sizes[table.cell_clusters], table.class_sizes[table.cell_classes])
    similarity = best_matching(table.with_cells(table.cell_counts / larger)).total
    fewer = min(table.n_clusters, table.n_classes)
    sizes = [np.sort(s)[::-1][:fewer] for s in (table.cluster_sizes, table.class_sizes)]
    expected = 1.0 if simplified else float(np.minimum(*sizes).sum() / table.n_documents)
    return max(0.0, (similarity - expected) / (max(table.n_clusters, table.n_classes) - expected))


variant(
    "pair_sets_index_simplified",
    of="pair_sets_index",
    title="Pair sets index, simplified",
    parameters={"simplified": True},
    formula="max(0, (S - 1) / (max(k, g) - 1)); S as in pair_sets_index",
)


@external_measure(
    "normalized_clustering_accuracy",
    title="Normalised clustering accuracy",
    range="[0, 1] for k <= g, at least -1/(g-1) for k > g",
    bounds=(-1.0, 1.0),
    formula="(S - 1) / (g - 1), S = max over one-to-one maps of sum_j n_ij / m_j (a class without a cluster adds 0)",
    source="Gagolewski 2025 (defined for k = g; the rule for other tables is ours)",
    meaning="The mean share of each class found by its own cluster, with 0 for a single cluster: small classes count "
    "as much as large ones.",
    edges="one class: 1 if there is one cluster, else 0; one cluster: 0",
)
def normalized_clustering_accuracy(table: ContingencyTable) -> float:
    """Return the chance-scaled mean recall of the classes under the best one-to-one map."""
    if table.is_identical:
        return 1.0
    if table.has_single_group:
        return 0.0
    return (best_matching(table.recall).total - 1) / (table.n_classes - 1)


@external_measure(
    "normalized_pivoted_accuracy",
    title="Normalised pivoted accuracy",
    formula="(r match - 1) / (r - 1), r = max(k, g), match = max_matching",
    source="Gagolewski 2022 (defined for k = g; the rule for other tables is ours)",
    meaning="The accuracy after the best renaming, moved so that the least it can be for a square table is 0.",
    edges="identical partitions: 1",
    swapped="normalized_pivoted_accuracy",
)
def normalized_pivoted_accuracy(table: ContingencyTable) -> float:
    """Return the maximum matching rescaled by the larger number of groups."""
    if table.is_identical:
        return 1.0
    larger = max(table.n_clusters, table.n_classes)
    return float(larger * max_matching(table) - 1) / (larger - 1)
