"""Documents sorted by cluster, and the distances of some of them to all others, a block of rows at a time."""

from __future__ import annotations

import itertools
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
PARTS = 8  # of the documents: those of a part are met with the documents from its first one on
COMMON_BYTES = 64 * 2**20  # of all dense columns


class SortedDocuments:
    """Rows sorted by cluster, so that a cluster is a range of places.

    `order` of shape (n,): the row of the document at each place. `starts` of shape (k + 1,): the first place of each
    cluster. `labels` of shape (n,): the cluster of each place, ascending. `upper`: a bound on every squared (or cosine)
    distance.
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
        else:
            self._common = rows.dense_block(self.order)
        largest = 4.0 if rows.is_unit else 4.0 * float(rows.squared_norms.max()) or 1.0
        self.upper = 2.0 if self._metric == "cosine" else largest

    @property
    def n(self) -> int:
        """The number of documents."""
        return int(self.order.size)

    def squared(self, places: IntArray, first: int = 0, by_term: Any = None) -> FloatArray:
        """Return the squared (or cosine) distances of some documents to those from `first` on; 0 within rounding.

        Documents without a common term are at exactly the same distance where rows are unit: their product is 0.
        """
        found: FloatArray = self._common[places] @ self._common[first:].T
        if self._rare is not None:
            found += (self._rare[places] @ by_term).toarray()
        if self._metric == "cosine":
            np.subtract(1.0, found, out=found)
            found[found <= self._tau] = 0.0
        else:
            scale = self._norms[places, None] + self._norms[first:]
            np.subtract(scale, 2.0 * found, out=found)
            found[found <= self._tau * scale] = 0.0
        found[np.arange(places.size), places - first] = 0.0  # also of a document without terms
        return found

    def distance(self, squared: Any) -> Any:
        """Return the distances in the metric."""
        return np.sqrt(squared) if self._metric == "euclidean" else squared

    def map(
        self, function: Callable[[IntArray, FloatArray], Result], places: IntArray, *, stage: str, first: int = 0
    ) -> Iterator[Result]:
        """Yield ``function(places, squared)`` of each block of places, in their order, and tell how far it is."""
        by_term = None if self._rare is None else sparse.csr_array(self._rare[first:].T)
        size = max(1, BLOCK_CELLS // (self.n - first))
        blocks = [places[begin : begin + size] for begin in range(0, places.size, size)]
        found = map_blocks(
            lambda block: function(block, self.squared(block, first, by_term)), blocks, n_threads=self._n_threads
        )
        for block, result in zip(blocks, found, strict=True):
            yield result
            self._progress(stage, int(block[-1]) + 1, self.n)

    def map_pairs(self, function: Callable[[FloatArray], Result], kinds: str, *, stage: str) -> Iterator[Result]:
        """Yield `function` of the squared distances of the pairs ``"within"`` or ``"between"`` clusters, or ``"all"``.

        Each pair comes once, with the block of its first document; documents before the part of a block are not met.
        """
        parts = np.unique(np.linspace(0, self.n, PARTS + 1).astype(np.int64)).tolist()
        for first, end_of_part in itertools.pairwise(parts):

            def later(places: IntArray, squared: FloatArray, first: int = first) -> Result:
                lines = []
                for place, line in zip((places - first).tolist(), squared, strict=True):
                    end = self.starts[self.labels[place + first] + 1] - first  # of its cluster, whose others come next
                    begin = end if kinds == "between" else place + 1
                    lines.append(line[begin : end if kinds == "within" else None])
                return function(np.concatenate(lines))

            yield from self.map(later, np.arange(first, end_of_part), stage=stage, first=first)


def split_terms(met: npt.NDArray[Any], n: int) -> tuple[IntArray, IntArray]:
    """Return the columns that are multiplied densely, those of many of the `n` documents, and the others."""
    common = np.flatnonzero(met > COMMON_SHARE * n)
    common = common[np.argsort(-met[common], kind="stable")][: COMMON_BYTES // (8 * n)]
    is_rare = met > 0
    is_rare[common] = False
    return np.sort(common), np.flatnonzero(is_rare)
