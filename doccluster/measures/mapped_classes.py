"""External measures that first give each cluster the name of a class, then judge it like a classifier.

The map must be stated, since the numbers depend on it: ``hungarian`` is the best one-to-one map (a cluster without a
partner answers for no class), ``majority`` gives each cluster its commonest class (several clusters may share one).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Floats
from doccluster.base.validation import check_choice
from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.registry import Values, alias, check_beta, external_measure, f_beta, variant
from doccluster.measures.set_matching import max_matching, purity

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


def _one_to_one(table: ContingencyTable) -> npt.NDArray[np.int64]:
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


def micro_recall(table: ContingencyTable, *, mapping: str = "hungarian") -> float:
    """Return the share of documents whose cluster stands for their class."""
    return accuracy(table, mapping=mapping)


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
    precision, recall = micro_precision(table, mapping=mapping), micro_recall(table, mapping=mapping)
    return f_beta(precision, recall, check_beta(beta))


alias(
    "micro_recall",
    of="max_matching",
    function=micro_recall,
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
