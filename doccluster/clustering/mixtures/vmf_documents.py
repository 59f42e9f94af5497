"""Documents as the steps for von Mises-Fisher mixtures read them: by row, and block by block by term.

A block has a size of its own, whatever the number of threads, so that what is added up over blocks does not depend
on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks, share_blocks
from doccluster.kernels.arguments import Csr
from doccluster.kernels.posting_lists import place_by_term
from doccluster.kernels.vmf_mixture import TermEntries

_BLOCK_ENTRIES = 2**23  # values of the documents of a block: 48 MiB when they are sorted by term
_BLOCK_SHARES = 2**22  # posterior probabilities held at a time: 32 MiB
_MOST_ROWS = 2**16  # of a block; their numbers have 16 bits
_KEPT_BYTES = 2**28  # of blocks sorted by term: as many as fit are sorted once, the others in each step
_SERIAL_WORK = 2_000_000  # multiplications below which starting threads costs more than it gains


@dataclass(frozen=True, eq=False)
class UnitDocuments:
    """Unit rows as the kernels read them, float32 or float64.

    Columns may be renumbered so that the commonest come first: the tables are then mostly read where they are cached.
    """

    rows: Csr
    n_terms: int
    n_threads: int
    _kept: dict[tuple[int, int], TermEntries] = field(default_factory=dict, repr=False)

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
        length = max(1, self.rows.data.size // self.n_documents)
        most = max(1, min(_BLOCK_ENTRIES // length, _BLOCK_SHARES // n_lanes, _MOST_ROWS))
        n_blocks = -(-self.n_documents // most)
        return row_blocks(self.n_documents, -(-self.n_documents // n_blocks))

    def groups_of_blocks(self, n_lanes: int) -> list[list[slice]]:
        """Return the blocks in groups whose posteriors fit into the memory for them."""
        blocks = self.blocks(n_lanes)
        size = max(1, _BLOCK_SHARES // (blocks[0].stop * n_lanes))
        return [blocks[number : number + size] for number in range(0, len(blocks), size)]

    def by_term(self, rows: slice) -> TermEntries:
        """Return a block of rows sorted by term; kept for the next time while there is room."""
        found = self._kept.get((rows.start, rows.stop))
        if found is None:
            found = self._sorted(rows)
            if sum(array.nbytes for kept in (found, *self._kept.values()) for array in kept) <= _KEPT_BYTES:
                self._kept[rows.start, rows.stop] = found
        return found

    def _sorted(self, rows: slice) -> TermEntries:
        """Sort a block, each thread some of its rows; the place of an entry is the one it has without threads."""
        block, n_rows = self.rows.block(rows), rows.stop - rows.start
        n_entries, kind = int(block.indptr[-1] - block.indptr[0]), self.rows.data.dtype
        room = np.empty(n_entries, kind), np.empty(n_entries, np.uint16), np.empty(self.n_terms, np.int32)
        entries = TermEntries(*room)
        n_threads = self.threads_for(1)
        parts = row_blocks(n_rows, -(-n_rows // n_threads))

        def count(part: slice) -> npt.NDArray[np.int64]:
            columns = block.indices[block.indptr[part.start] : block.indptr[part.stop]]
            return np.bincount(columns, minlength=self.n_terms)

        counts = np.stack(share_blocks(count, parts, n_threads=n_threads))
        ends = np.cumsum(counts.T).reshape(counts.shape[::-1])  # of each term, part after part
        following = np.ascontiguousarray(ends.T - counts)
        entries.ends[:] = ends[:, -1]

        def sort(part: int) -> None:
            span = parts[part]
            place_by_term(block, span.start, span.stop, following[part], entries.rows, entries.values)

        share_blocks(sort, range(len(parts)), n_threads=n_threads)
        return entries
