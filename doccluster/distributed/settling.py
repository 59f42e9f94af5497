"""Labels settled by a mixture of multinomials on the counts, over blocks: `clustering/mixtures/multinomial.py`.

A round sends the parameters out and brings sums of counts back. Counts, also those that are scaled to the greatest
length, are whole numbers of small steps, so the sums and the rule made of them are those of one process bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import row_blocks
from doccluster.base.executors import Executor, added
from doccluster.base.progress import Progress, silent
from doccluster.clustering.linear_rule import capped
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
from doccluster.distributed.matrix_block import MatrixBlock

Labels = npt.NDArray[np.int64]


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
