"""Labels settled by a mixture of multinomials on the counts, over blocks: `clustering/mixtures/multinomial.py`.

A round sends the parameters out and brings sums of counts back. Counts, also those that are scaled to the greatest
length, are whole numbers of small steps, so the sums and the rule made of them are those of one process bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.blocks import row_blocks
from doccluster.clustering.linear_rule import capped
from doccluster.clustering.mixtures.multinomial import BLOCK_ROWS, Multinomials, Settled, multinomials_of, one_hot
from doccluster.distributed.executors import Executor
from doccluster.distributed.matrix_block import MatrixBlock

MAX_LENGTH, SMOOTHING, MAX_ITER, TOL = 200.0, 0.5, 20, 1e-3  # the defaults of `settle_labels`

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountSums:
    """Sums of capped counts by cluster, csr array of shape (n_terms, n_clusters), and the sizes of the clusters."""

    sums: Any
    sizes: npt.NDArray[np.int64]


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
    total = executor.reduce(sum_counts, added_counts, blocks, now, n_clusters)
    background = np.asarray(total.sums.sum(axis=1)).ravel()
    number = 0
    while True:
        number += 1
        parameters = multinomials_of(total.sums, total.sizes / now.size, background, SMOOTHING, MAX_LENGTH)
        found = np.concatenate(list(executor.map(most_probable, blocks, parameters)))
        is_settled = bool(np.count_nonzero(found != now) <= TOL * now.size)
        now = found
        progress("settle", number, MAX_ITER)
        if is_settled or number >= MAX_ITER:
            return Settled(parameters, now, number, is_settled)
        total = executor.reduce(sum_counts, added_counts, blocks, now, n_clusters)


def sum_counts(block: MatrixBlock, labels: Labels, n_clusters: int) -> CountSums:
    """Return the sums of the capped counts of a block by cluster; `labels` are those of all documents."""
    own = labels[block.places]
    sums = sparse.csr_array(capped(block.counts, MAX_LENGTH).T @ one_hot(own, n_clusters))
    return CountSums(sums, np.bincount(own, minlength=n_clusters))


def added_counts(parts: list[CountSums]) -> CountSums:
    """Return the sums of all parts; counts are whole steps, so that these are exact in any order."""
    total = parts[0].sums
    for part in parts[1:]:
        total = sparse.csr_array(total + part.sums)
    return CountSums(total, np.asarray(np.sum([part.sizes for part in parts], axis=0)))


def most_probable(block: MatrixBlock, parameters: Multinomials) -> Labels:
    """Return the most probable cluster of each document of a block, the lowest on ties."""
    counts = block.counts
    assert counts is not None  # blocks of texts have them
    parts = [parameters.scores(counts[rows]).argmax(axis=1) for rows in row_blocks(block.n_rows, BLOCK_ROWS)]
    return np.concatenate(parts)
