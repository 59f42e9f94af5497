"""The default quality over blocks: the fit of one process, on tables in the scratch folder, in the same order.

Rows are laid out once more in the order of their content, in which one process clusters them. Graph, spaces and
smoothed rows are made from these by the functions of one process, in the same pieces; spherical k-means and the mixture
work on blocks. So the labels are those of one process.

A round of settling sends the parameters of the mixture (`clustering/mixtures/multinomial.py`) out and brings sums of
counts back. Counts, also those that are scaled to the greatest length, are whole numbers of small steps, so the sums
and the rule made of them are those of one process bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import row_blocks
from doccluster.base.executors import ArrayFile, CsrFiles, Executor, InFiles, TablePlace, added, opened
from doccluster.base.progress import Progress, silent
from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalFit, SphericalParameters
from doccluster.clustering.mixtures.multinomial import (
    BLOCK_ROWS,
    MAX_ITER,
    MAX_LENGTH,
    SMOOTHING,
    TOL,
    Multinomials,
    SettledMixture,
    multinomials_of,
    one_hot,
    settle,
)
from doccluster.clustering.smoothed.document_clusters import DocumentFit, DocumentParameters, DocumentWork
from doccluster.clustering.smoothed.document_spaces import taken_rows
from doccluster.clustering.task import capped
from doccluster.distributed.block_clustering import cluster_blocks
from doccluster.distributed.checkpoints import Checkpoints
from doccluster.distributed.matrix_block import MatrixBlock, blocks_of_table
from doccluster.vectors.letters import Letters
from doccluster.vectors.meaning import Meaning, beside

Labels = npt.NDArray[Any]

LAID_OUT = 2**13  # rows that are laid out in order at a time


def settle_blocks(
    executor: Executor,
    blocks: Sequence[MatrixBlock],
    labels: npt.NDArray[np.integer[Any]],
    n_clusters: int,
    *,
    progress: Progress = silent,
) -> SettledMixture:
    """Return a partition of blocks with counts, moved to the nearest optimum of a multinomial mixture."""
    background: list[npt.NDArray[np.float64]] = []  # the same in each round

    def fit(now: Labels) -> Multinomials:
        sums = executor.reduce(sum_counts, added, blocks, now, n_clusters)
        if not background:
            background.append(np.asarray(sums.sum(axis=1)).ravel())
        weights = np.bincount(now, minlength=n_clusters) / now.size
        return multinomials_of(sums, weights, background[0], SMOOTHING, MAX_LENGTH)

    def label(parameters: Multinomials) -> tuple[Labels, Labels]:
        new_labels = np.concatenate(list(executor.map(most_probable, blocks, parameters)))
        return new_labels, new_labels

    first_labels = np.asarray(labels, np.int64)
    return settle(fit, label, (first_labels, first_labels), max_iter=MAX_ITER, tol=TOL, progress=progress)


def sum_counts(block: MatrixBlock, labels: Labels, n_clusters: int) -> Any:
    """Return the sums of the capped counts of a block by cluster, csr array of shape (n_terms, n_clusters)."""
    block_labels = labels[block.places]
    return sparse.csr_array(capped(block.counts, MAX_LENGTH).T @ one_hot(block_labels, n_clusters))


def most_probable(block: MatrixBlock, parameters: Multinomials) -> Labels:
    """Return the most probable cluster of each document of a block, the lowest on ties."""
    counts: Any = block.counts
    parts = [parameters.scores(counts[rows]).argmax(axis=1) for rows in row_blocks(block.n_rows, BLOCK_ROWS)]
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class BlockDocuments:
    """Documents in blocks, where they are worked on, and in which order they are clustered."""

    place: InFiles
    blocks: Sequence[MatrixBlock]
    rows: CsrFiles | ArrayFile  # all of them, in the order of the blocks
    counts: CsrFiles | None
    meaning: Meaning | None  # whose rows stand for files, in the order of the blocks
    order: npt.NDArray[np.int64]
    letters: Letters | None = None  # likewise

    def side_by_side(self) -> Any:
        """Return words and meaning as one row for each document."""
        assert self.meaning is not None  # who calls has looked
        return block_rows_beside(self.place, self.rows, self.meaning)

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
        starts = tuple(self.as_in_blocks(labels) for labels in fit.starts)
        return replace(fit, labels=self.as_in_blocks(fit.labels), starts=starts)

    def as_in_blocks(self, labels: Labels) -> Labels:
        """Return labels of the order in that of the blocks."""
        ordered = np.empty_like(labels)
        ordered[self.order] = labels
        return ordered


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
        rows, counts, meaning, letters = documents.rows, documents.counts, documents.meaning, documents.letters
        if parameters.quality != "fast" or meaning is not None:
            rows = _laid_out(rows, documents.order, place)
            counts = None if counts is None else _laid_out(counts, documents.order, place)
            if meaning is not None:
                meaning = replace(meaning, rows=_laid_out(meaning.rows, documents.order, place))
            elif letters is not None:
                letters = replace(letters, rows=_laid_out(letters.rows, documents.order, place))
        super().__init__(rows, counts, parameters, meaning, letters, place)

    def unsmoothed(self, meaning: Meaning) -> Any:
        """Return words and meaning side by side, as they are."""
        return block_rows_beside(self.place, self.rows, meaning)

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

    def settle(self, counts: Any, labels: Labels) -> SettledMixture:
        """Return the labels and the mixture where expectation maximisation ends, over blocks."""
        block_labels, k = self.documents.as_in_blocks(labels), self.parameters.n_clusters
        executor = self.documents.place.executor
        settled = settle_blocks(executor, self.documents.blocks, block_labels, k, progress=self.progress)
        return replace(settled, labels=settled.labels[self.documents.order])


def _in_order(fit: SphericalFit, order: npt.NDArray[np.int64]) -> SphericalFit:
    return replace(fit, labels=fit.labels[order], other_labels=tuple(labels[order] for labels in fit.other_labels))


def _laid_out(rows: Any, order: npt.NDArray[np.int64], place: InFiles) -> Any:
    """Return rows in their order, as files."""
    whole, blocks, places = opened(rows), row_blocks(order.size, LAID_OUT), place.keep(order)
    if sparse.issparse(whole):
        return place.rows(taken_rows, blocks, rows, places)
    return place.table(taken_rows, blocks, whole.shape[1], whole.dtype, rows, places)


def block_rows_beside(place: TablePlace, rows: Any, meaning: Meaning) -> Any:
    """Return words and meaning side by side, as files."""
    blocks = row_blocks(opened(rows).shape[0], LAID_OUT)
    return place.rows(beside_block, blocks, rows, meaning.rows, meaning.weight)


def beside_block(block: slice, words: Any, meaning: Any, weight: float) -> Any:
    """Return some rows of words and meaning side by side."""
    return beside(words[block], meaning[block], weight)
