"""Is there anything to find: communities by one half of the terms against communities by the other.

Both halves describe the same documents. Where there are no clusters, what one half suggests says nothing of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import map_blocks
from doccluster.base.validation import squared_row_norms, unit_rows
from doccluster.clustering.communities import Edges, communities
from doccluster.geometry.neighbours import neighbour_edges
from doccluster.selection.levels import adjusted_rand

RESOLUTIONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
N_SHUFFLES = 19  # allow p = 0.05
# what else is asked of the agreement: lengths of documents and common terms, which both halves share, make a little
MIN_DEVIATIONS, MIN_AGREEMENT = 8.0, 0.1
MIN_SPREAD = 1e-6  # of shuffled agreements: shuffling may change nothing


@dataclass(frozen=True)
class Structure:
    """How far communities by two halves of the terms agree."""

    agreement: float  # the largest adjusted Rand index over the resolutions
    deviations: float  # standard deviations above that of shuffled documents, the most over the resolutions
    p_value: float  # (b + 1) / 20, with b of 19 shufflings of one half reaching the agreement of the data

    @property
    def is_there(self) -> bool:
        """Whether the halves agree beyond chance, and by more than the lengths of documents can make."""
        is_enough = self.deviations >= MIN_DEVIATIONS or self.agreement >= MIN_AGREEMENT
        return self.p_value <= 1 / (N_SHUFFLES + 1) and is_enough


def find_structure(matrix: Any, rng: np.random.Generator, *, n_threads: int | None = None) -> Structure:
    """Return how far two halves of the terms agree; unit rows of shape (n_documents, n_terms), none of them zero."""
    first, second, filled = split_terms(matrix, rng)
    if filled.size < 3:
        return Structure(0.0, 0.0, 1.0)
    graphs = [Edges.of(neighbour_edges(half, n_threads=n_threads)) for half in (first, second)]
    seeds = rng.integers(2**31, size=(len(RESOLUTIONS), 2))

    def find(job: tuple[int, int]) -> npt.NDArray[np.int64]:
        row, side = job
        return communities(graphs[side], RESOLUTIONS[row], rng=np.random.default_rng(seeds[job]))

    jobs = [(row, side) for row in range(len(RESOLUTIONS)) for side in (0, 1)]
    labels = dict(zip(jobs, map_blocks(find, jobs, n_threads=n_threads), strict=True))
    pairs = [(labels[row, 0], labels[row, 1]) for row in range(len(RESOLUTIONS))]
    return against_shuffles(pairs, rng)


def against_shuffles(
    pairs: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]], rng: np.random.Generator
) -> Structure:
    """Return the agreement of pairs of clusterings, beside that with the documents of the second shuffled.

    Agreements are standardised for each pair, since few clusters agree by chance more widely.
    """
    pairs = [pair for pair in pairs if pair[0].any() and pair[1].any()]  # one community agrees with everything
    if not pairs:
        return Structure(0.0, 0.0, 1.0)
    values = np.empty((N_SHUFFLES + 1, len(pairs)))
    values[0] = [adjusted_rand(*pair) for pair in pairs]
    for number in range(1, N_SHUFFLES + 1):
        order = rng.permutation(pairs[0][0].size)
        values[number] = [adjusted_rand(first, second[order]) for first, second in pairs]
    tiny = np.finfo(float).tiny
    among_all = ((values - values.mean(axis=0)) / np.maximum(values.std(axis=0), tiny)).max(axis=1)
    p_value = float((1 + np.sum(among_all[1:] >= among_all[0])) / (N_SHUFFLES + 1))
    spread = np.maximum(values[1:].std(axis=0), MIN_SPREAD)
    deviations = (values[0] - values[1:].mean(axis=0)) / spread
    return Structure(float(values[0].max()), float(deviations.max()), p_value)


def split_terms(matrix: Any, rng: np.random.Generator) -> tuple[Any, Any, npt.NDArray[np.int64]]:
    """Return the unit rows of two halves of the columns, and the rows that have something in both.

    Of each two columns of about equal weight one goes to either half, so that the halves say about as much.
    """
    weights = _column_weights(matrix)
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > 0]
    flips = rng.random((order.size + 1) // 2) < 0.5
    side = np.repeat(flips, 2)[: order.size] ^ (np.arange(order.size) % 2 == 1)
    halves = [unit_rows(matrix[:, np.sort(order[side == is_first])], warn=False) for is_first in (True, False)]
    filled = np.flatnonzero((squared_row_norms(halves[0]) > 0) & (squared_row_norms(halves[1]) > 0))
    return halves[0][filled], halves[1][filled], filled


def _column_weights(matrix: Any) -> npt.NDArray[np.float64]:
    if not sparse.issparse(matrix):
        weights: npt.NDArray[np.float64] = np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64)
        return weights
    squares = np.square(matrix.data, dtype=np.float64)
    return np.bincount(matrix.indices, weights=squares, minlength=matrix.shape[1]).astype(np.float64)
