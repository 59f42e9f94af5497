"""The nearest mean of each document, iteration after iteration, under a table of means that follow one another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.dense_rows import rows_left_open
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.mean_table import head_length, lane_table
from doccluster.clustering.k_means.movement import MOST_GROUPS, chords_of, group_width, padded_groups
from doccluster.kernels.assignment import HIGHEST, LOWEST, Bounds, assign_rows, own_products
from doccluster.kernels.bounds import Chords, rows_in_question
from doccluster.kernels.simd.lanes import LINE


class Assigner:
    """The nearest mean of each document; documents whose bounds tell that their label stays are skipped.

    Rows without zeros are multiplied by a library of linear algebra; what its rounding leaves open is decided by our
    own sweep.

    Parameters
    ----------
    documents : DocumentMatrix
    means : csr array of shape (n_clusters, n_columns)
    n_head : int, optional
        How many terms get a dense line in the table; `head_length` by default.
    most_groups : int
        The most groups of clusters that have a bound for each document; 0 sweeps all documents in every iteration.

    Attributes
    ----------
    table : LaneTable
        May be changed or replaced between two calls of `assign`.
    """

    def __init__(
        self,
        documents: DocumentMatrix,
        means: sparse.csr_array,
        *,
        n_head: int | None = None,
        most_groups: int = MOST_GROUPS,
    ) -> None:
        n, k = documents.n_documents, means.shape[0]
        self.documents, self.n_clusters = documents, k
        self.n_head = head_length(documents.frequencies, k) if n_head is None else n_head
        self.table = lane_table(means, self.n_head)
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
