"""Labels settled by a mixture of multinomials on the counts, over blocks: `clustering/mixtures/multinomial.py`.

A round sends the parameters out and brings sums of counts back, in whole numbers of small steps; where no document is
scaled to the greatest length the sums are those of one process to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.clustering.linear_rule import capped
from doccluster.clustering.mixtures.multinomial import BLOCK_ROWS, Multinomials, Settled, multinomials_of
from doccluster.distributed.block_steps import unit_steps
from doccluster.distributed.executors import Executor
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.geometry.rows import Rows
from doccluster.geometry.sums import ExactSums, joined, sum_block
from doccluster.progress import Progress, silent

MAX_LENGTH, SMOOTHING, MAX_ITER, TOL = 200.0, 0.5, 20, 1e-3  # the defaults of `settle_labels`
STEP_SCALE = 2.0**-8  # makes capped counts, at most 200, smaller than one, as steps of unit rows want them

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountSums:
    """Exact sums of capped counts by cluster, and how many documents each cluster has."""

    counts: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int32]
    high: npt.NDArray[np.int64]
    low: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]

    @property
    def n_bytes(self) -> int:
        """The size of the message."""
        return sum(array.nbytes for array in (self.counts, self.terms, self.high, self.low, self.sizes))


def settle_blocks(
    executor: Executor,
    blocks: Sequence[MatrixBlock],
    labels: npt.NDArray[np.integer[Any]],
    n_clusters: int,
    *,
    progress: Progress = silent,
) -> Settled:
    """Return a partition moved from given labels to the nearest optimum of a multinomial mixture.

    Parameters
    ----------
    blocks : sequence of MatrixBlock
        With counts.
    labels : int array of shape (n_documents,), 0..n_clusters-1
    """
    now = np.asarray(labels, np.int64)
    parts = list(executor.map(sum_counts, blocks, now, n_clusters))
    sums = _together(parts, blocks[0].n_columns)
    background = np.asarray(sums.sum(axis=1)).ravel()
    number = 0
    while True:
        number += 1
        weights = np.sum([part.sizes for part in parts], axis=0) / now.size
        parameters = multinomials_of(sums, weights, background, SMOOTHING, MAX_LENGTH)
        found = np.concatenate(list(executor.map(most_probable, blocks, parameters)))
        is_settled = bool(np.count_nonzero(found != now) <= TOL * now.size)
        now = found
        progress("settle", number, MAX_ITER)
        if is_settled or number >= MAX_ITER:
            return Settled(parameters, now, number, is_settled)
        parts = list(executor.map(sum_counts, blocks, now, n_clusters))
        sums = _together(parts, blocks[0].n_columns)


def sum_counts(block: MatrixBlock, labels: Labels, n_clusters: int) -> CountSums:
    """Return the sums of the capped counts of a block by cluster; `labels` are those of all documents."""
    own = labels[block.places]
    scale = np.full(block.n_rows, STEP_SCALE)
    rows = Rows(capped(block.counts, MAX_LENGTH), scale, np.ones(block.n_rows), True)
    sums = sum_block(rows, np.arange(block.n_rows), own, n_clusters)
    return CountSums(sums.counts, sums.terms, sums.high, sums.low, np.bincount(own, minlength=n_clusters))


def most_probable(block: MatrixBlock, parameters: Multinomials) -> Labels:
    """Return the most probable cluster of each document of a block, the lowest on ties."""
    counts = block.counts
    assert counts is not None  # blocks of texts have them
    parts = [parameters.scores(counts[rows]).argmax(axis=1) for rows in row_blocks(block.n_rows, BLOCK_ROWS)]
    return np.concatenate(parts)


def _together(parts: list[CountSums], n_columns: int) -> Any:
    """Return the sums of all blocks, csr array of shape (n_terms, n_clusters)."""
    steps = unit_steps(n_columns)
    total = joined([ExactSums(part.counts, part.terms, part.high, part.low, steps) for part in parts])
    return sparse.csr_array(total.by_cluster().T / STEP_SCALE)
