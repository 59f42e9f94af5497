"""The rows that seeds are drawn from: fetched from the blocks as far as a draw looks at them, a sample or all.

They are drawn in the same order, by the same code as in one process.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.executors import Executor, added
from doccluster.base.sparse_structure import document_frequencies
from doccluster.clustering.k_means.unit_documents import UnitDocuments
from doccluster.distributed.block_steps import has_terms
from doccluster.distributed.matrix_block import MatrixBlock

Integers = npt.NDArray[np.int64]


class BlockRows:
    """The documents of all blocks in the order in which seeds are drawn and ties are decided, a `SeedSource`.

    `blocks`: all documents, each once, in their order. `order` of shape (n_documents,): the documents in that order;
    their own by default.
    """

    def __init__(self, executor: Executor, blocks: Sequence[MatrixBlock], order: Integers | None = None) -> None:
        self.executor, self.blocks = executor, list(blocks)
        self.n_documents = sum(block.n_rows for block in blocks)
        self.n_entries = sum(block.n_entries for block in blocks)
        self.order = np.arange(self.n_documents) if order is None else order

    @cached_property
    def frequencies(self) -> Integers:
        """In how many documents each term is."""
        return self.executor.reduce(block_frequencies, added, self.blocks)

    @property
    def n_terms(self) -> int:
        """The number of columns."""
        return int(self.frequencies.size)

    @cached_property
    def usable(self) -> Integers:
        """The documents with terms, as places in the order, ascending."""
        flags = np.concatenate(list(self.executor.map(has_terms, self.blocks)))
        return np.flatnonzero(flags[self.order])

    def whole(self) -> UnitDocuments:
        """Return all rows, in the order."""
        return self.take(np.arange(self.n_documents))

    def take(self, places: Integers) -> UnitDocuments:
        """Return the rows at some places of the order, as the iterations of one process would read them."""
        documents = self.order[places]
        ascending = np.sort(documents)
        parts = list(self.executor.map(rows_at, self.blocks, ascending))
        rows = sparse.csr_array(sparse.vstack(parts, format="csr"))[np.searchsorted(ascending, documents)]
        return UnitDocuments(sparse.csr_array(rows, dtype=np.float32), np.ones(places.size))


def rows_at(block: MatrixBlock, rows: Integers) -> Any:
    """Return those rows of a block that are among places of the collection, ascending."""
    first, last = np.searchsorted(rows, [block.first, block.first + block.n_rows])
    return sparse.csr_array(block.matrix[rows[first:last] - block.first])


def block_frequencies(block: MatrixBlock) -> Integers:
    """Return in how many documents of a block each term is."""
    return document_frequencies(block.matrix)
