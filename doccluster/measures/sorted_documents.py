"""Documents sorted by cluster, and the distances of some of them to all others, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.sparse_structure import document_frequencies
from doccluster.blocks import map_blocks
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.sums import cluster_order

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Result = TypeVar("Result")

BLOCK_CELLS = 2**18  # distances that a thread holds at a time: 2 MiB, some of them several times
COMMON_SHARE = 0.05  # a term of more documents than this is multiplied as a dense column
COMMON_BYTES = 64 * 2**20  # of all dense columns


class SortedDocuments:
    """Rows sorted by cluster, so that a cluster is a range of places.

    Attributes
    ----------
    order : int64 array of shape (n,)
        The row of the document at each place.
    starts : int64 array of shape (k + 1,)
        The first place of each cluster.
    labels : int64 array of shape (n,)
        The cluster of each place, ascending.
    upper : float
        A bound on every squared (or cosine) distance.
    """

    def __init__(self, geometry: ClusterEvidence) -> None:
        rows = geometry.rows
        self._metric, self._tau = geometry.metric, rows.tau
        self._n_threads, self._progress = geometry.n_threads, geometry.progress
        self.order, self.starts = cluster_order(geometry.partition)
        self.labels = geometry.labels[self.order]
        self._norms = rows.squared_norms[self.order]
        self._rare: Any = None
        if rows.is_sparse:
            matrix = sparse.csr_array(rows.matrix)
            common, rare = split_terms(document_frequencies(matrix), self.n)
            scaled = sparse.csr_array(sparse.diags_array(rows.scale) @ matrix.astype(np.float64))[self.order]
            self._common, self._rare = scaled[:, common].toarray(), scaled[:, rare]
            self._by_term = sparse.csr_array(self._rare.T)
        else:
            self._common = rows.dense_block(self.order)
        largest = 4.0 if rows.is_unit else 4.0 * float(rows.squared_norms.max()) or 1.0
        self.upper = 2.0 if self._metric == "cosine" else largest

    @property
    def n(self) -> int:
        """The number of documents."""
        return int(self.order.size)

    def blocks(self, places: IntArray | None = None) -> list[IntArray]:
        """Return places (all by default) in blocks of rows whose distances to all others are held at a time."""
        places = np.arange(self.n) if places is None else places
        size = max(1, BLOCK_CELLS // self.n)
        return [places[first : first + size] for first in range(0, places.size, size)]

    def squared(self, places: IntArray) -> FloatArray:
        """Return the squared (or cosine) distances of some documents to all, (len(places), n); 0 within rounding.

        Documents without a common term are at exactly the same distance where rows are unit: their product is 0.
        """
        found: FloatArray = self._common[places] @ self._common.T
        if self._rare is not None:
            found += (self._rare[places] @ self._by_term).toarray()
        if self._metric == "cosine":
            np.subtract(1.0, found, out=found)
            found[found <= self._tau] = 0.0
        else:
            scale = self._norms[places, None] + self._norms
            np.subtract(scale, 2.0 * found, out=found)
            found[found <= self._tau * scale] = 0.0
        found[np.arange(places.size), places] = 0.0  # also of a document without terms
        return found

    def distance(self, squared: Any) -> Any:
        """Return the distances in the metric."""
        return np.sqrt(squared) if self._metric == "euclidean" else squared

    def map(
        self, function: Callable[[IntArray, FloatArray], Result], places: IntArray | None = None, *, stage: str
    ) -> Iterator[Result]:
        """Yield ``function(places, squared)`` of each block, in the order of the blocks, and tell how far it is."""
        blocks = self.blocks(places)
        done = 0
        found = map_blocks(lambda block: function(block, self.squared(block)), blocks, n_threads=self._n_threads)
        for block, result in zip(blocks, found, strict=True):
            done += block.size
            yield result
            self._progress(stage, done, self.n if places is None else places.size)

    def map_pairs(self, function: Callable[[FloatArray], Result], kinds: str, *, stage: str) -> Iterator[Result]:
        """Yield `function` of the squared distances of the pairs ``"within"`` or ``"between"`` clusters, or ``"all"``.

        Each pair comes once, with the block of its first document.
        """

        def later(places: IntArray, squared: FloatArray) -> Result:
            parts = []
            for row, line in zip(places.tolist(), squared, strict=True):
                end = self.starts[self.labels[row] + 1]  # of the cluster, in which the others of it come next
                parts.append({"within": line[row + 1 : end], "between": line[end:], "all": line[row + 1 :]}[kinds])
            return function(np.concatenate(parts))

        yield from self.map(later, stage=stage)


def split_terms(met: npt.NDArray[Any], n: int) -> tuple[IntArray, IntArray]:
    """Return the columns that are multiplied densely, those of many of the `n` documents, and the others."""
    common = np.flatnonzero(met > COMMON_SHARE * n)
    common = common[np.argsort(-met[common], kind="stable")][: COMMON_BYTES // (8 * n)]
    is_rare = met > 0
    is_rare[common] = False
    return np.sort(common), np.flatnonzero(is_rare)
