"""The default quality over blocks: the fit of one process, on tables in the scratch folder, in the same order.

Rows are laid out once more in the order of their content, in which one process clusters them. Graph, spaces and
smoothed rows are made from these by the functions of one process, in the same pieces; spherical k-means and the mixture
work on blocks. So the labels are those of one process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalFit, SphericalParameters
from doccluster.clustering.mixtures.multinomial import Settled
from doccluster.clustering.smoothed.document_clusters import DocumentFit, DocumentParameters, DocumentWork
from doccluster.distributed.block_clustering import cluster_blocks
from doccluster.distributed.checkpoints import Checkpoints
from doccluster.distributed.matrix_block import MatrixBlock, blocks_of_table
from doccluster.distributed.settling import settle_blocks
from doccluster.executors import CsrFiles, InFiles

Labels = npt.NDArray[Any]

LAID_OUT = 2**13  # rows that are laid out in order at a time


@dataclass(frozen=True, eq=False)
class BlockDocuments:
    """Documents in blocks, where they are worked on, and in which order they are clustered."""

    place: InFiles
    blocks: Sequence[MatrixBlock]
    rows: CsrFiles  # all of them, in the order of the blocks
    counts: CsrFiles
    order: npt.NDArray[np.int64]

    def cluster(
        self, parameters: DocumentParameters, *, keep_bytes: int, checkpoints: Checkpoints | None = None
    ) -> DocumentFit:
        """Return the clusters of the documents, labels in the order of the blocks.

        The arguments are those of `cluster_blocks`, and so is what is raised.
        """
        parameters.check(self.order.size)
        with self.place.for_a_while() as inner:
            work = _BlockWork(self, inner, parameters, keep_bytes, checkpoints)
            fit = work.run()
        starts = tuple(self.as_in_blocks(one) for one in fit.starts)
        return replace(fit, labels=self.as_in_blocks(fit.labels), starts=starts)

    def as_in_blocks(self, labels: Labels) -> Labels:
        """Return labels of the order in that of the blocks."""
        found = np.empty_like(labels)
        found[self.order] = labels
        return found


class _BlockWork(DocumentWork):
    """The fit of one process, in files."""

    def __init__(
        self,
        documents: BlockDocuments,
        place: InFiles,
        parameters: DocumentParameters,
        keep_bytes: int,
        checkpoints: Checkpoints | None,
    ) -> None:
        self.documents, self.keep_bytes, self.checkpoints = documents, keep_bytes, checkpoints
        rows, counts = documents.rows, documents.counts
        if parameters.quality != "fast":
            order, pieces = place.keep(documents.order), row_blocks(documents.order.size, LAID_OUT)
            rows, counts = (place.rows(laid_out, pieces, given, order) for given in (rows, counts))
        super().__init__(rows, counts, parameters, None, place)

    def spherical_k_means(self, points: Any, parameters: SphericalParameters) -> SphericalFit:
        """Return the best of the starts, over blocks: the given ones where the rows are as they were."""
        is_given = points is self.rows
        order = self.documents.order
        try:
            fit = cluster_blocks(
                self.documents.place.executor,
                self.documents.blocks if is_given else blocks_of_table(points),
                parameters,
                scratch=self.documents.place.folder,
                order=order if is_given else None,
                keep_bytes=self.keep_bytes,
                checkpoints=self.checkpoints,
            )
        except FitInterrupted as stopped:
            if stopped.so_far is None or not is_given:
                raise
            raise FitInterrupted(_in_order(stopped.so_far, order)) from stopped
        return _in_order(fit, order) if is_given else fit

    def settle(self, counts: Any, labels: Labels) -> Settled:
        """Return the labels and the mixture where expectation maximisation ends, over blocks."""
        given, k = self.documents.as_in_blocks(labels), self.parameters.n_clusters
        executor = self.documents.place.executor
        settled = settle_blocks(executor, self.documents.blocks, given, k, progress=self.progress)
        return replace(settled, labels=settled.labels[self.documents.order])


def _in_order(fit: SphericalFit, order: npt.NDArray[np.int64]) -> SphericalFit:
    return replace(fit, labels=fit.labels[order], other_labels=tuple(one[order] for one in fit.other_labels))


def laid_out(block: slice, rows: Any, order: npt.NDArray[np.int64]) -> Any:
    """Return some rows in their order."""
    return rows[order[block]]
