"""The nearest mean of each document, iteration after iteration, under a table of means that follow one another.

Bounds of documents are carried over by how far means moved. Clusters are bounded in groups of neighbouring lanes, a
cache line of the table or several.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.sweep import (
    HIGHEST,
    LINE,
    LOWEST,
    OCTET,
    UNIT_ROUNDOFF,
    Bounds,
    LaneTable,
    assign_rows,
    own_products,
)
from doccluster.kernels.jit import jit


@jit
def nearest_of_products(products, which, error, n_clusters, bounds):
    """Write what `assign_rows` does for the rows `which`, whose products with all clusters are known within `error`.

    Return the rows that this leaves open. Clusters are lanes.
    """
    labels, lower, upper = bounds
    undecided, n_undecided = np.empty(which.size, np.int64), 0
    for place in range(which.size):
        row, similarities = which[place], products[place]
        own, top, second = 0, similarities[0], np.float32(-np.inf)
        for cluster in range(1, n_clusters):
            if similarities[cluster] > top:
                own, top, second = cluster, similarities[cluster], top
            else:
                second = max(second, similarities[cluster])
        if top - second <= 2 * error:
            undecided[n_undecided] = row
            n_undecided += 1
            continue
        labels[row], lower[row] = own, top - error
        if upper.shape[1] == 0:
            continue
        if n_clusters <= LINE:
            upper[row, 0] = second + error
            continue
        for group in range((n_clusters + LINE - 1) // LINE):
            best = np.float32(-np.inf)
            for cluster in range(group * LINE, min((group + 1) * LINE, n_clusters)):
                if cluster != own:
                    best = max(best, similarities[cluster])
            upper[row, group] = best + error
    return undecided[:n_undecided]


class Chords(NamedTuple):
    """Upper bounds on how far similarities can have risen, float32: |x.c' - x.c| <= |c' - c|."""

    of_group: Any  # array of shape (n_groups,), whole octets: the largest movement in each group
    of_cluster: Any  # array of shape (n_lanes,)


@jit
def rows_in_question(chords, bounds):
    """Carry the bounds of all rows over a move of the means and return the rows that may have a new label."""
    labels, lower, upper = bounds
    rows, n_rows = np.empty(labels.size, np.int64), 0
    for row in range(labels.size):
        own_lower = lower[row] - chords.of_cluster[labels[row]]
        lower[row] = own_lower
        reaching = 0
        for group in range(upper.shape[1]):
            upper[row, group] += chords.of_group[group]
            reaching += upper[row, group] >= own_lower
        if reaching:
            rows[n_rows] = row
            n_rows += 1
    return rows[:n_rows]


MOST_GROUPS = 64  # each costs four bytes a document
CHORD_SLACK = 1.00002  # rows are unit within 1e-5
CHORD_ROUNDING = 3e-7  # of adding a float32 movement to a float32 bound
RESERVE = 12  # unit roundoffs for what does not grow with the row, as in our own sweep (docs/explanation/numerics.md)


def rows_left_open(
    dense: npt.NDArray[np.float32],
    head: npt.NDArray[np.float32],
    which: npt.NDArray[np.int64],
    n_clusters: int,
    bounds: Bounds,
) -> npt.NDArray[np.int64]:
    """Write the labels and bounds of the rows `which` of a dense table, as `assign_rows` does, where they are certain.

    Returns the other rows, those in which two means are too close. In whatever order and by however many threads a sum
    of n products is made, it errs by at most n unit roundoffs of the sum of their sizes, which is at most 1 for unit
    vectors (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.1).
    """
    is_run = which.size > 0 and which[-1] - which[0] + 1 == which.size
    some = dense[which[0] : which[-1] + 1] if is_run else dense[which]
    error = np.float32(UNIT_ROUNDOFF * (dense.shape[1] + RESERVE))
    undecided: npt.NDArray[np.int64] = nearest_of_products(some @ head, which, error, n_clusters, bounds)
    return undecided


def group_width(n_clusters: int, most_groups: int = MOST_GROUPS) -> int:
    """Return the lanes of a group: one cache line, more when that would make more than `most_groups` groups."""
    return LINE * max(1, -(-n_clusters // (LINE * most_groups)))


def padded_groups(n_clusters: int, group_width: int) -> int:
    """Return the number of groups, rounded up to whole octets."""
    return OCTET * -(-n_clusters // (OCTET * group_width))


def rounded_up(movements: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return chords between means as float32 that no similarity to them can have risen by more than."""
    return (movements * CHORD_SLACK + CHORD_ROUNDING).astype(np.float32)


def chords_of(
    movements: npt.NDArray[np.float64], has_moved: npt.NDArray[np.bool_], n_groups: int, group_width: int = LINE
) -> Chords:
    """Return the chords of the clusters and of their groups; 0 for those that did not move."""
    rounded = np.where(has_moved, rounded_up(movements), np.float32(0))
    of_group = np.zeros(n_groups, np.float32)
    np.maximum.at(of_group, np.arange(rounded.size) // group_width, rounded)
    return Chords(of_group, rounded)


class Assigner:
    """The nearest mean of each document; documents whose bounds tell that their label stays are skipped.

    Rows without zeros are multiplied by a library of linear algebra; what its rounding leaves open is decided by our
    own sweep.

    `table`: the means. `most_groups`: the most groups of clusters that have a bound for each document; 0 sweeps all
    documents in every iteration.

    `table`: may be changed or replaced between two calls of `assign`.
    """

    def __init__(self, documents: DocumentMatrix, table: LaneTable, *, most_groups: int = MOST_GROUPS) -> None:
        n, k = documents.n_documents, table.n_clusters
        self.documents, self.n_clusters, self.table = documents, k, table
        self._group_width = group_width(k, max(1, most_groups))
        n_groups = padded_groups(k, self._group_width) if most_groups else 0
        upper = np.full((n, n_groups), HIGHEST, np.float32)
        self._bounds = Bounds(np.zeros(n, np.int32), np.full(n, LOWEST, np.float32), upper)

    def chords(self, movements: npt.NDArray[np.float64], has_moved: npt.NDArray[np.bool_]) -> Chords | None:
        """Return how far means moved as `assign` takes it, None where there are no bounds."""
        n_groups = self._bounds.upper.shape[1]
        return chords_of(movements, has_moved, n_groups, self._group_width) if n_groups else None

    def assign(self, chords: Chords | None = None) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document; `chords` are since the last call, None looks at all documents."""
        documents, table, width = self.documents, self.table, self._group_width

        def one(block: slice) -> None:
            bounds = self._bounds.part(block)
            which = np.arange(block.stop - block.start) if chords is None else rows_in_question(chords, bounds)
            if documents.dense is not None and table.head.shape[0] == documents.n_columns and width == LINE:
                which = rows_left_open(documents.dense[block], table.head, which, self.n_clusters, bounds)
            assign_rows(documents.rows(block), table, which, width, bounds)

        documents.each_block(one, per_entry=table.head.shape[1])
        labels: npt.NDArray[np.int32] = self._bounds.labels.copy()
        return labels

    def forget(self, rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int32]) -> None:
        """Take over labels that were changed from outside for these rows."""
        self._bounds.forget(rows, labels)

    def own_similarities(self, labels: npt.NDArray[np.int32], *, in_order: bool = False) -> npt.NDArray[np.float64]:
        """Return the float64 similarity of each document to the mean of its cluster.

        With `in_order` the terms are added in ascending order of the original columns, as the tie rule wants it.
        """

        def one(block: slice) -> npt.NDArray[np.float64]:
            products: npt.NDArray[np.float64] = own_products(
                self.documents.rows(block), self.table, labels[block], in_order
            )
            return products

        return np.concatenate(self.documents.each_block(one, per_entry=10.0))

    @property
    def bounds(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """What is known of each document: a lower bound on the similarity to its own mean, upper bounds on those to the
        other means of each group, and the group of each cluster."""
        group_of = np.arange(self.n_clusters, dtype=np.int32) // self._group_width
        return self._bounds.lower, self._bounds.upper[:, : group_of.max() + 1], group_of
