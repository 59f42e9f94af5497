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
from doccluster.kernels.vmf_mixture import count_terms, find_places, sort_by_term

_BLOCK_ENTRIES = 2**23  # values of the documents of a block: 48 MiB when they are sorted by term
_BLOCK_SHARES = 2**22  # posterior probabilities held at a time: 32 MiB
_MOST_ROWS = 2**16  # of a block; their numbers have 16 bits
_KEPT_BYTES = 2**28  # of blocks sorted by term: as many as fit are sorted once, the others in each step
_SERIAL_WORK = 2_000_000  # multiplications below which starting threads costs more than it gains


@dataclass(frozen=True, eq=False)
class TermBlock:
    """A block of documents, its entries sorted by term and within a term by row.

    Attributes
    ----------
    values, rows : float and uint16 arrays of shape (n_entries,)
        Rows count from the first of the block.
    ends : int32 array of shape (n_terms,)
        Where the entries of each term end.
    """

    values: npt.NDArray[Any]
    rows: npt.NDArray[np.uint16]
    ends: npt.NDArray[np.int32]

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""
        return self.values.nbytes + self.rows.nbytes + self.ends.nbytes


@dataclass(frozen=True, eq=False)
class UnitDocuments:
    """Unit rows as the kernels read them: csr arrays, float32 or float64 values, int32 columns, int64 starts.

    Columns may be renumbered so that the commonest come first: the tables are then mostly read where they are cached.
    """

    values: npt.NDArray[Any]
    columns: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    n_terms: int
    n_threads: int
    _kept: dict[tuple[int, int], TermBlock] = field(default_factory=dict, repr=False)

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
        columns = rows.indices.astype(np.int32, copy=False)
        if order is not None:
            rank = np.empty(order.size, np.int32)
            rank[order] = np.arange(order.size, dtype=np.int32)
            rows = sparse.csr_array((rows.data, rank[columns], rows.indptr), shape=rows.shape, copy=True)
            rows.sort_indices()
            columns = rows.indices
        return cls(rows.data, columns, rows.indptr.astype(np.int64), rows.shape[1], n_threads)

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return int(self.starts.size - 1)

    @property
    def is_empty(self) -> npt.NDArray[np.bool_]:
        """Whether each row has no value, bool array of shape (n_documents,)."""
        empty: npt.NDArray[np.bool_] = np.diff(self.starts) == 0
        return empty

    def threads_for(self, n_clusters: int) -> int:
        """Return how many threads one pass over these documents is worth."""
        return self.n_threads if self.values.size * n_clusters > _SERIAL_WORK else 1

    def blocks(self, n_lanes: int) -> list[slice]:
        """Return the blocks of rows of a pass, about equally long and the same for every number of threads."""
        length = max(1, self.values.size // self.n_documents)
        most = max(1, min(_BLOCK_ENTRIES // length, _BLOCK_SHARES // n_lanes, _MOST_ROWS))
        n_blocks = -(-self.n_documents // most)
        return row_blocks(self.n_documents, -(-self.n_documents // n_blocks))

    def groups_of_blocks(self, n_lanes: int) -> list[list[slice]]:
        """Return the blocks in groups whose posteriors fit into the memory for them."""
        blocks = self.blocks(n_lanes)
        size = max(1, _BLOCK_SHARES // (blocks[0].stop * n_lanes))
        return [blocks[number : number + size] for number in range(0, len(blocks), size)]

    def starts_of(self, rows: slice) -> npt.NDArray[np.int64]:
        """Return where some neighbouring rows begin, and where the last ends."""
        return self.starts[rows.start : rows.stop + 1]

    def by_term(self, rows: slice) -> TermBlock:
        """Return a block of rows sorted by term; kept for the next time while there is room."""
        found = self._kept.get((rows.start, rows.stop))
        if found is None:
            found = self._sorted(rows)
            if found.n_bytes + sum(kept.n_bytes for kept in self._kept.values()) <= _KEPT_BYTES:
                self._kept[rows.start, rows.stop] = found
        return found

    def _sorted(self, rows: slice) -> TermBlock:
        """Sort a block, each thread some of its rows; the place of an entry is the one it has without threads."""
        starts = self.starts_of(rows)
        n_rows, n_entries = rows.stop - rows.start, int(starts[-1] - starts[0])
        block = TermBlock(
            np.empty(n_entries, self.values.dtype), np.empty(n_entries, np.uint16), np.empty(self.n_terms, np.int32)
        )
        n_threads = self.threads_for(1)
        parts = row_blocks(n_rows, -(-n_rows // n_threads))
        places = np.empty((len(parts), self.n_terms), np.int32)

        def count(part: int) -> None:
            count_terms(self.columns, starts[parts[part].start], starts[parts[part].stop], places[part])

        def sort(part: int) -> None:
            low, high = parts[part].start, parts[part].stop
            sort_by_term(self.values, self.columns, starts, low, high, places[part], block.values, block.rows)

        share_blocks(count, range(len(parts)), n_threads=n_threads)
        find_places(places, block.ends)
        share_blocks(sort, range(len(parts)), n_threads=n_threads)
        return block
