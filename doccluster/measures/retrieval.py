"""External measures that see a cluster as the answer to a search: B-cubed for documents, NCCG for topics.

B-cubed is extended to documents with several labels: two that share two labels are found together only once. Documents
with the same labels count alike, so all is computed from the number of documents of each cluster with each set of
labels; sets are compared with sets in blocks, never documents with documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from doccluster.base.validation import check_choice
from doccluster.measures.contingency import ContingencyTable, LabelSets
from doccluster.measures.registry import Values, check_beta, external_measure, f_beta, undefined, variant


@external_measure(
    "bcubed_precision",
    title="B-cubed precision",
    range="(0, 1]",
    formula="(1/n) sum_ij n_ij^2 / n_i",
    source="Bagga & Baldwin 1998",
    meaning="For a random document, the share of its cluster that is of its class (itself included).",
    edges="all singletons: 1; one cluster: sum of the squared class shares",
    parts=("per_cluster",),
    swapped="bcubed_recall",
)
def bcubed_precision(table: ContingencyTable) -> Values:
    """Return the mean over documents of the share of their cluster that is of their class."""
    squares = np.bincount(
        table.cell_clusters, weights=np.square(table.cell_counts, dtype=np.float64), minlength=table.n_clusters
    )
    per_cluster = squares / np.square(table.cluster_sizes, dtype=np.float64)
    return Values(float(per_cluster @ table.cluster_sizes / table.n_documents), per_cluster=per_cluster)


@external_measure(
    "bcubed_recall",
    title="B-cubed recall",
    range="(0, 1]",
    formula="(1/n) sum_ij n_ij^2 / m_j",
    source="Bagga & Baldwin 1998",
    meaning="For a random document, the share of its class that is in its cluster (itself included).",
    edges="one cluster: 1; all singletons: g/n",
    parts=("per_class",),
    swapped="bcubed_precision",
)
def bcubed_recall(table: ContingencyTable) -> Values:
    """Return the mean over documents of the share of their class that is in their cluster."""
    squares = np.bincount(
        table.cell_classes, weights=np.square(table.cell_counts, dtype=np.float64), minlength=table.n_classes
    )
    per_class = squares / np.square(table.class_sizes, dtype=np.float64)
    return Values(float(per_class @ table.class_sizes / table.n_documents), per_class=per_class)


@external_measure(
    "bcubed_f",
    title="B-cubed F",
    range="(0, 1]",
    formula="(1 + b2) P R / (b2 P + R) of B-cubed precision and recall, b2 = beta^2, beta = 1 by default",
    source="Amigó, Gonzalo, Artiles & Verdejo 2009",
    meaning="B-cubed precision and recall in one number; beta > 1 gives more weight to whole classes.",
    edges="never undefined: both parts are above 0",
)
def bcubed_f(table: ContingencyTable, *, beta: float = 1.0) -> float:
    """Return the F-measure of B-cubed precision and recall."""
    return f_beta(bcubed_precision(table).value, bcubed_recall(table).value, check_beta(beta))


@external_measure(
    "nccg",
    title="Normalised cumulative cluster gain",
    formula="(S - S_min) / (1 - S_min) per topic of n_r documents; S = sum_i cumsum(CG)_i / n_r^2, CG = its documents "
    "per cluster, sorted descending, padded with zeros to n_r; S_min = (n_r + 1) / (2 n_r); the mean over topics",
    source="Sharma & Sharma, II.C, after De Vries, Geva & Trotman 2012 (INEX)",
    meaning="How few clusters one must open to see all documents of a topic. One cluster scores 1, so read it with "
    "the number of clusters. Topics may overlap: documents with several labels count for each.",
    edges="a topic of one document: nan, excluded from the mean; no other topic: nan",
    parts=("per_class",),
    several_labels=True,
)
def nccg(table: ContingencyTable, *, statistic: str = "mean") -> Values:
    """Return the mean (or the population standard deviation) over topics of the cumulative cluster gain."""
    check_choice(statistic, ("mean", "std"), "statistic")
    per_topic, note = _nccg_of_topics(table)
    usable = per_topic[np.isfinite(per_topic)]
    if usable.size == 0:
        return undefined("no topic has two documents", per_class=per_topic)
    value = usable.mean() if statistic == "mean" else usable.std()
    return Values(float(value), per_class=per_topic, note=note)


def _nccg_of_topics(table: ContingencyTable) -> tuple[np.ndarray, str | None]:
    sets = table.label_sets  # documents may have several topics
    counts = sparse.csc_array(sparse.csr_array(sets.counts @ sets.labels))
    sizes = np.asarray(counts.sum(axis=0), np.float64).ravel()
    topic = np.repeat(np.arange(sizes.size), np.diff(counts.indptr))
    order = np.lexsort((-counts.data, topic))
    rank = np.arange(order.size) - np.repeat(counts.indptr[:-1], np.diff(counts.indptr))
    # a cluster opened as number `rank` is in all n_r - rank cumulative sums from there on
    gains = counts.data[order] * (sizes[topic] - rank)
    split = np.bincount(topic, weights=gains, minlength=sizes.size)
    result = np.full(sizes.size, np.nan)
    several = sizes >= 2
    size = sizes[several]
    least = (size + 1) / (2 * size)
    result[several] = (split[several] / size**2 - least) / (1 - least)
    left_out = int(np.count_nonzero(~several))
    return result, f"{left_out} topic(s) of a single document left out" if left_out else None


variant(
    "nccg_std",
    of="nccg",
    title="Spread of the cumulative cluster gain over topics",
    parameters={"statistic": "std"},
    direction="none",
    bounds=(0.0, 0.5),
    formula="population standard deviation over topics of nccg",
)


_BLOCK_CELLS = 4_000_000  # of sets by sets, and of sets by clusters, that are held at a time (more only for one set)
_SOURCE = "Amigó, Gonzalo, Artiles & Verdejo 2009, section 6 (extended B-cubed)"
_MEANING = "documents may have several labels, and a pair that shares two of them is complete only if it met twice"


def extended_precision(table: ContingencyTable) -> float:
    """Return the mean over documents of the share of their cluster with which they share a label."""
    sets = table.label_sets
    sizes = np.maximum(np.asarray(sets.counts.sum(axis=1), np.float64).ravel(), 1.0)
    shares = sparse.csr_array(sets.counts.multiply(1.0 / sizes[:, None]))
    total = 0.0
    for block, common in _common_labels(sets):
        shared = sparse.csr_array((np.ones(common.nnz), common.indices, common.indptr), shape=common.shape)
        total += _weighted(sets, block, shares @ shared.T)
    return total / sets.n_documents


def extended_recall(table: ContingencyTable) -> float:
    """Return the mean over documents of the mean over those they share labels with: 1 / shared if together, else 0."""
    sets = table.label_sets
    sizes, total = np.asarray(sets.counts.sum(axis=0), np.float64).ravel(), 0.0
    for block, common in _common_labels(sets):
        shared = sparse.csr_array((np.ones(common.nnz), common.indices, common.indptr), shape=common.shape)
        related = shared @ sizes  # documents with a label in common
        inverse = sparse.csr_array((1.0 / common.data, common.indices, common.indptr), shape=common.shape)
        scaled = sparse.csr_array(inverse.multiply(1.0 / related[:, None]))
        total += _weighted(sets, block, sets.counts @ scaled.T)
    return total / sets.n_documents


def extended_f(table: ContingencyTable, *, beta: float = 1.0) -> float:
    """Return the F-measure of extended B-cubed precision and recall."""
    return f_beta(extended_precision(table), extended_recall(table), check_beta(beta))


def _common_labels(sets: LabelSets) -> Iterator[tuple[slice, sparse.csr_array]]:
    """Yield blocks of sets with the number of labels they share with each set, csr of shape (block, n_sets)."""
    clusters_of_set = np.bincount(sets.counts.indices, minlength=sets.labels.shape[0])
    # the most cells that come from a set: each set it shares a label with, and the clusters of those
    cells = np.cumsum(sets.labels @ (sets.labels.T @ (1.0 + clusters_of_set)))
    starts = np.flatnonzero(np.diff(cells // _BLOCK_CELLS, prepend=-1.0)).tolist()
    for start, stop in itertools.pairwise([*starts, cells.size]):
        block = slice(start, stop)
        yield block, sparse.csr_array(sets.labels[block] @ sets.labels.T)


def _weighted(sets: LabelSets, block: slice, of_clusters: sparse.csr_array) -> float:
    """Return the sum over documents with sets in the block of a value for their cluster and set."""
    return float(sets.counts[:, block].multiply(of_clusters).sum())


variant(
    "bcubed_precision_extended",
    of="bcubed_precision",
    also_called=("extended_bcubed_precision",),
    function=extended_precision,
    title="Extended B-cubed precision",
    formula="mean over documents e of the mean over e' in its cluster of min(1, |L(e) & L(e')|); L(e) the labels of e",
    source=_SOURCE,
    meaning=f"B-cubed precision where {_MEANING}.",
    parts=(),
    swapped="bcubed_recall_extended",
    several_labels=True,
)
variant(
    "bcubed_recall_extended",
    of="bcubed_recall",
    also_called=("extended_bcubed_recall",),
    function=extended_recall,
    title="Extended B-cubed recall",
    formula="mean over documents e of the mean over e' that share a label with it of same(e, e') / |L(e) & L(e')|, "
    "same = 1 in one cluster, else 0",
    source=_SOURCE,
    range="(0, 1]; 1 only where no document has several labels",
    meaning=f"B-cubed recall where {_MEANING}.",
    parts=(),
    swapped="bcubed_precision_extended",
    several_labels=True,
)
variant(
    "bcubed_f_extended",
    of="bcubed_f",
    also_called=("extended_bcubed_f",),
    function=extended_f,
    title="Extended B-cubed F",
    formula="(1 + b2) P R / (b2 P + R) of extended B-cubed precision and recall, b2 = beta^2, beta = 1 by default",
    source=_SOURCE,
    meaning=f"B-cubed F where {_MEANING}.",
    several_labels=True,
)
