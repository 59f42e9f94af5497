"""Documents as the steps for von Mises-Fisher mixtures read them.

A block has a size of its own, whatever the number of threads, so that what is added up over blocks does not depend
on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.kernels.arguments import Csr

_BLOCK_SHARES = 2**22  # posterior probabilities held at a time: 32 MiB
_SERIAL_WORK = 2_000_000  # multiplications below which starting threads costs more than it gains


@dataclass(frozen=True, eq=False)
class UnitDocuments:
    """Unit rows as the kernels read them, float32 or float64.

    Columns may be renumbered so that the commonest come first: the tables are then mostly read where they are cached.
    """

    rows: Csr
    n_terms: int
    n_threads: int

    @classmethod
    def from_matrix(
        cls, matrix: Any, *, n_threads: int, order: npt.NDArray[np.integer[Any]] | None = None
    ) -> UnitDocuments:
        """Return a checked matrix of unit or zero rows, dense or csr, without its stored zeros.

        Column `order[c]` of the matrix becomes column c.
        """
        rows = sparse.csr_array(matrix)
        if (rows.data == 0).any():
            rows = rows.copy()
            rows.eliminate_zeros()
        if order is not None:
            rank = np.empty(order.size, np.int32)
            rank[order] = np.arange(order.size, dtype=np.int32)
            rows = sparse.csr_array((rows.data, rank[rows.indices], rows.indptr), shape=rows.shape, copy=True)
            rows.sort_indices()
        return cls(Csr.of(rows), rows.shape[1], n_threads)

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return int(self.rows.indptr.size - 1)

    @property
    def is_empty(self) -> npt.NDArray[np.bool_]:
        """Whether each row has no value, bool array of shape (n_documents,)."""
        empty: npt.NDArray[np.bool_] = np.diff(self.rows.indptr) == 0
        return empty

    def threads_for(self, n_clusters: int) -> int:
        """Return how many threads one pass over these documents is worth."""
        return self.n_threads if self.rows.data.size * n_clusters > _SERIAL_WORK else 1

    def blocks(self, n_lanes: int) -> list[slice]:
        """Return the blocks of rows of a pass, about equally long and the same for every number of threads."""
        n_blocks = -(-self.n_documents * n_lanes // _BLOCK_SHARES)
        return row_blocks(self.n_documents, -(-self.n_documents // n_blocks))
