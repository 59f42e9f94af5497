"""B-cubed where documents have several labels: two documents that share two labels are found together only once.

Documents with the same labels count alike, so everything is computed from the number of documents of each cluster with
each set of labels; sets are compared with sets in blocks, never documents with documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.label_sets import LabelSets
from doccluster.measures.parameters import check_beta, f_beta
from doccluster.measures.registry import variant

Floats = npt.NDArray[np.float64]

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
