"""Documents laid out for a sweep over all pairs: sorted by cluster, with an inverted index of the sorted rows.

Memory: 8 + 2 b bytes per stored entry (b = 4 or 8, the size of a weight) for each of the two copies of the index, and
one line of n numbers per thread; nothing of size n x n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.sparse_structure import document_frequencies
from doccluster.blocks import map_blocks
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.rows import Rows
from doccluster.geometry.sums import cluster_order
from doccluster.kernels.arguments import Csr
from doccluster.kernels.metric import metric_code
from doccluster.kernels.pair_order import squared_of_pairs
from doccluster.kernels.pairwise import Distance, PairDocuments, ReadyProducts, places_after
from doccluster.kernels.posting_lists import InvertedIndex

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

PAIRS_PER_BLOCK = 2**24  # a few hundredths of a second: interrupts are answered between blocks
CELLS_PER_BLOCK = 2**20  # rows of a block times clusters: bounds the sums of one block
LEAST_ROWS, MOST_ROWS = 16, 2048  # of a block
COMMON_FROM = 0.03  # a term of a larger share of documents is added as a dense line: no scattered writes
COMMON_BYTES = 32 * 2**20
GRAM_CELLS = 2**21  # products of a dense block held at a time: 16 MiB


class SortedDocuments:
    """Rows sorted by cluster, ready for the kernels of pairs.

    Attributes
    ----------
    order : int64 array of shape (n,)
        The row of the document at each place.
    starts : int64 array of shape (k + 1,)
        The first place of each cluster.
    labels : int64 array of shape (n,)
        The cluster of each place, ascending.
    distance : Distance
        The metric, and the squared (or cosine) distance of documents without a common term; -1 (none) if rows are not
        unit.
    upper : float
        A bound on every squared (or cosine) distance.
    """

    def __init__(self, geometry: ClusterEvidence) -> None:
        rows = geometry.rows
        self._n_threads, self._progress = geometry.n_threads, geometry.progress
        self.order, self.starts = cluster_order(geometry.partition)
        self.labels = geometry.labels[self.order]
        self.upper = largest_squared(rows, geometry.metric)
        atom = self.upper / 2 if geometry.metric == "cosine" or rows.is_unit else -1.0
        self.distance = Distance(metric_code(geometry.metric), rows.tau, atom)
        self.dense = np.empty((0, 0))
        matrix, scale = sparse.csr_array((self.n, 1), dtype=np.float64), np.ones(self.n)
        if rows.is_sparse:
            matrix, scale = sparse.csr_array(rows.matrix)[self.order], rows.scale[self.order]
        else:
            self.dense = rows.dense_block(self.order)
        norms = rows.squared_norms[self.order]
        self.documents = PairDocuments(Csr.of(matrix), *_indexed(matrix), scale, norms, self.labels, self.starts)

    @property
    def n(self) -> int:
        """The number of documents."""
        return int(self.order.size)

    @property
    def block_rows(self) -> int:
        """How many rows a block of a sweep has."""
        size = min(PAIRS_PER_BLOCK // self.n, CELLS_PER_BLOCK // (self.starts.size - 1), self.n // 32)
        return min(size, GRAM_CELLS // self.n) if self.dense.size else size

    def blocks(self, size: int | None = None) -> list[IntArray]:
        """Return all places in consecutive blocks, of about `size` rows."""
        size = max(LEAST_ROWS, min(self.block_rows if size is None else size, MOST_ROWS))
        return [np.arange(first, min(first + size, self.n)) for first in range(0, self.n, size)]

    def products(self, places: IntArray, *, later_only: bool) -> ReadyProducts:
        """Return the products of dense rows with the rows from an offset on; none if rows are sparse."""
        if not self.dense.size:
            return ReadyProducts(np.empty((1, 0)), 0)
        offset = int(places[0]) if later_only else 0
        return ReadyProducts(self.dense[places] @ self.dense[offset:].T, offset)

    def squared_of(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the squared (or cosine) distances of some pairs of places."""
        return np.asarray(squared_of_pairs(first, second, self.documents, self.dense, self.distance))

    def map(
        self,
        kernel: Callable[..., Any],
        blocks: list[IntArray],
        *arguments: Any,
        stage: str,
        later_only: bool = True,
    ) -> Iterator[tuple[IntArray, Any]]:
        """Yield each block with what the kernel says of it, in the order of the blocks, and tell how far it is."""

        def run(places: IntArray) -> tuple[IntArray, Any]:
            ready = self.products(places, later_only=later_only)
            return places, kernel(places, self.documents, ready, self.distance, *arguments)

        total, done = self.n * (self.n + 1) // 2, 0
        for places, result in map_blocks(run, blocks, n_threads=self._n_threads):
            done += int((self.n - places).sum())
            yield places, result
            self._progress(stage, done, total)


def largest_squared(rows: Rows, metric: str) -> float:
    """Return a bound on every squared (or cosine) distance; where rows are unit, twice that of rows without a term."""
    if metric == "cosine":
        return 2.0
    return 4.0 if rows.is_unit else 4.0 * float(rows.squared_norms.max()) or 1.0


def common_terms(met: npt.NDArray[Any], n: int, itemsize: int) -> IntArray:
    """Return the columns, ascending, that are added as dense lines: those of many of the `n` documents, in bounds."""
    most = max(0, COMMON_BYTES // (n * itemsize))
    common = np.flatnonzero(met > COMMON_FROM * n)
    return np.sort(common[np.argsort(-met[common], kind="stable")][:most])


def _common_terms(matrix: sparse.csr_array) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return the line of each common term (-1 for the others), and its weights in all documents, one line a term."""
    n, n_terms = matrix.shape
    common = common_terms(document_frequencies(matrix), n, matrix.dtype.itemsize)
    line = np.full(n_terms, -1, np.int32)
    line[common] = np.arange(common.size)
    return line, np.ascontiguousarray(matrix[:, common].toarray().T)


def _indexed(matrix: sparse.csr_array) -> tuple[IntArray, InvertedIndex]:
    """Return where the posting list of each stored entry goes on behind it, and the index itself."""
    by_term = Csr.of(matrix.tocsc())
    return places_after(Csr.of(matrix), by_term), InvertedIndex(by_term, *_common_terms(matrix))
