"""External measures that match whole clusters with whole classes: purity and its relatives, one-to-one maps, F.

Some first give each cluster the name of a class, then judge it like a classifier. The map must be stated, since the
numbers depend on it: ``hungarian`` is the best one-to-one map (a cluster without a partner answers for no class),
``majority`` gives each cluster its commonest class (several clusters may share one).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Floats, Integers
from doccluster.base.validation import check_choice
from doccluster.measures.contingency import ContingencyTable, best_matching
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


MAPPINGS = ("hungarian", "majority")
NOT_UNIQUE = "several one-to-one maps are equally good; these are the values of one of them"


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part, np.float64), where=whole > 0)


def _outcome(table: ContingencyTable, mapping: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any], str | None]:
    """Return the documents rightly given to each class, and those given to it in all, with a note."""
    check_choice(mapping, MAPPINGS, "mapping")
    answer = table.majority_class if mapping == "majority" else _one_to_one(table)
    mapped, hits = answer >= 0, answer[table.cell_clusters] == table.cell_classes
    mapped_sizes = np.bincount(answer[mapped], weights=table.cluster_sizes[mapped], minlength=table.n_classes)
    n_right = np.bincount(table.cell_classes[hits], weights=table.cell_counts[hits], minlength=table.n_classes)
    if mapping == "majority":
        return n_right, mapped_sizes, table.majority_note
    return n_right, mapped_sizes, None if table.is_matching_unique else NOT_UNIQUE


def _one_to_one(table: ContingencyTable) -> Integers:
    """Return the matched class of each cluster, -1 without one; free clusters take free classes, largest first.

    A pair that shares no document adds nothing to the match, but its documents are wrong answers for that class.
    """
    answer = table.matching.class_of(table.n_clusters)
    free_clusters = np.flatnonzero(answer < 0)
    free_classes = np.setdiff1d(np.arange(table.n_classes), answer)
    by_size = np.argsort(-table.cluster_sizes[free_clusters], kind="stable")
    pairs = min(free_clusters.size, free_classes.size)
    answer[free_clusters[by_size[:pairs]]] = free_classes[:pairs]
    return answer


def accuracy(table: ContingencyTable, *, mapping: str = "hungarian") -> float:
    """Return the share of documents whose cluster stands for their class."""
    check_choice(mapping, MAPPINGS, "mapping")
    return max_matching(table) if mapping == "hungarian" else purity(table).value


alias(
    "accuracy",
    of="max_matching",
    function=accuracy,
    title="Accuracy after mapping clusters to classes",
    formula="(1/n) sum over classes of tp; mapping= takes hungarian (default: max_matching) or majority (purity)",
    source="Sharma & Sharma, II.A (the map is not stated there)",
)
alias(
    "accuracy_majority",
    of="purity",
    function=accuracy,
    parameters={"mapping": "majority"},
    title="Accuracy when each cluster stands for its commonest class",
    formula="(1/n) sum_i max_j n_ij",
    source="Sharma & Sharma, II.A (the map is not stated there)",
    parts=(),
    swapped=None,
)

_MACRO_EDGES = "0/0 is 0; a cluster without a class is missing from its class and wrong for none"


@external_measure(
    "macro_precision",
    formula="(1/g) sum over classes of tp / (tp + fp), after mapping clusters to classes",
    source="Sharma & Sharma, II.A",
    meaning="How many of the documents given to a class belong to it, averaged over classes: small classes count as "
    "much as large ones. mapping= takes hungarian (default) or majority.",
    edges=_MACRO_EDGES,
    parts=("per_class",),
)
def macro_precision(table: ContingencyTable, *, mapping: str = "hungarian") -> Values:
    """Return the mean over classes of the precision of the mapped clusters."""
    n_right, mapped_sizes, note = _outcome(table, mapping)
    precision = _ratio(n_right, mapped_sizes)
    return Values(float(precision.mean()), per_class=precision, note=note)


@external_measure(
    "macro_recall",
    formula="(1/g) sum over classes of tp / (tp + fn), after mapping clusters to classes",
    source="Sharma & Sharma, II.A",
    meaning="How many of the documents of a class are given to it, averaged over classes: small classes count as much "
    "as large ones. mapping= takes hungarian (default) or majority.",
    edges=_MACRO_EDGES,
    parts=("per_class",),
)
def macro_recall(table: ContingencyTable, *, mapping: str = "hungarian") -> Values:
    """Return the mean over classes of the recall of the mapped clusters."""
    n_right, _, note = _outcome(table, mapping)
    recall = n_right / table.class_sizes
    return Values(float(recall.mean()), per_class=recall, note=note)


@external_measure(
    "macro_f",
    title="Macro F",
    formula="(1/g) sum over classes of (1 + b2) tp / ((1 + b2) tp + b2 fn + fp), after mapping clusters to classes",
    source="Sharma & Sharma, II.A",
    meaning="The mean of the classes' F (not the F of the means): small classes count as much as large ones. mapping= "
    "takes hungarian (default) or majority.",
    edges=_MACRO_EDGES,
    parts=("per_class",),
)
def macro_f(table: ContingencyTable, *, mapping: str = "hungarian", beta: float = 1.0) -> Values:
    """Return the mean over classes of the F of the mapped clusters."""
    n_right, mapped_sizes, note = _outcome(table, mapping)
    weight = check_beta(beta) ** 2
    recall = n_right / table.class_sizes
    per_class = (
        recall if math.isinf(weight) else _ratio((1 + weight) * n_right, weight * table.class_sizes + mapped_sizes)
    )
    return Values(float(per_class.mean()), per_class=per_class, note=note)


@external_measure(
    "micro_precision",
    formula="(sum tp) / (sum tp + sum fp) over classes, after mapping clusters to classes",
    source="Sharma & Sharma, II.A",
    meaning="Of the documents whose cluster stands for a class, the share that belong to it. mapping= takes hungarian "
    "(default) or majority (then it is the purity).",
    edges="k <= g: equal to max_matching; k > g: documents of clusters without a class are left out",
)
def micro_precision(table: ContingencyTable, *, mapping: str = "hungarian") -> float:
    """Return the share of the documents in mapped clusters that belong to the class of their cluster."""
    n_right, mapped_sizes, _ = _outcome(table, mapping)
    return float(n_right.sum() / mapped_sizes.sum())


@external_measure(
    "micro_f",
    title="Micro F",
    formula="(1 + b2) P R / (b2 P + R) of micro precision and micro recall",
    source="Sharma & Sharma, II.A",
    meaning="The F of the pooled counts: every document weighs the same. mapping= takes hungarian (default) or "
    "majority (then it is the purity).",
    edges="k <= g: equal to max_matching",
)
def micro_f(table: ContingencyTable, *, mapping: str = "hungarian", beta: float = 1.0) -> float:
    """Return the F of micro precision and micro recall."""
    precision, recall = micro_precision(table, mapping=mapping), accuracy(table, mapping=mapping)
    return f_beta(precision, recall, check_beta(beta))


alias(
    "micro_recall",
    of="max_matching",
    function=accuracy,
    title="Micro recall",
    formula="(sum tp) / (sum tp + sum fn) over classes, after mapping clusters to classes",
    source="Sharma & Sharma, II.A",
    swapped=None,
)
for _name in ("macro_precision", "macro_recall", "macro_f", "micro_precision", "micro_f"):
    variant(
        f"{_name}_majority",
        of=_name,
        title=f"{_name.replace('_', ' ').capitalize()}, majority map",
        parameters={"mapping": "majority"},
        edges="0/0 is 0; of several commonest classes a cluster takes the smallest",
    )
