"""Where a start begins: k-means++ in cosine form, random documents, the centroids of a sample, or what is given.

k-means++ draws documents with a probability proportional to 1 - cosine to the nearest seed (half the squared Euclidean
distance of unit vectors). It is greedy: of several draws the one that leaves the smallest sum is kept, which also keeps
out isolated documents, since such a seed serves only itself.

Source: Arthur and Vassilvitskii, k-means++: The Advantages of Careful Seeding, SODA 2007 (greedy form in section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import map_blocks, row_blocks
from doccluster.clustering.document_matrix import DocumentMatrix, sparse_rows, unit_scale
from doccluster.clustering.means import Means, means_of_matrix
from doccluster.errors import InputError
from doccluster.kernels.seeding import (
    count_by_term,
    cumulate_distances,
    join_nearest,
    place_by_term,
    potential_with,
    similarities_to_row,
)
from doccluster.validation import check_matrix

MOST_VISITS = 4e10  # about a minute of one processor; beyond it seeds are drawn from a random sample
SAMPLE_PER_SEED = 5
FEWEST_TRIALS = 2  # one candidate would let isolated documents in
SAME_ROW = 1e-6  # float32 rows closer than this to a seed are copies of it

Init = str | Callable[..., Any] | Any


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    """The documents of each term: rows and values of term t are at ``starts[t]:starts[t + 1]``, rows ascending."""

    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]

    @classmethod
    def of(cls, documents: DocumentMatrix) -> InvertedIndex:
        """Return the index of a matrix, built by its threads and equal for any number of them."""
        n_threads = documents.threads_for(documents.values.size * 2)
        blocks = row_blocks(documents.n_documents, -(-documents.n_documents // n_threads))

        def count(block: slice) -> npt.NDArray[np.int64]:
            counts = np.empty(documents.n_columns, np.int64)
            count_by_term(documents.columns[documents.starts[block.start] : documents.starts[block.stop]], counts)
            return counts

        counts = list(map_blocks(count, blocks, n_threads=n_threads))
        starts = np.concatenate([[0], np.cumsum(np.sum(counts, axis=0))]).astype(np.int64)
        following = [starts[:-1] + before for before in np.cumsum([np.zeros_like(counts[0]), *counts[:-1]], axis=0)]
        rows = np.empty(documents.values.size, np.int32)
        values = np.empty(documents.values.size, np.float32)

        def place(number: int) -> None:
            block = blocks[number]
            block_starts = documents.starts[block.start : block.stop + 1]
            place_by_term(
                documents.values, documents.columns, block_starts, block.start, following[number], rows, values
            )

        list(map_blocks(place, range(len(blocks)), n_threads=n_threads))
        return cls(starts, rows, values)


def default_trials(n_clusters: int) -> int:
    """Return how many candidates the greedy form weighs for each seed, 2 + log k, as scikit-learn does."""
    return 2 + int(math.log(n_clusters))


def affordable_seeding(frequencies: npt.NDArray[np.int64], n_documents: int, n_clusters: int) -> tuple[int, int]:
    """Return from how many documents, and with how many candidates, seeds are drawn with about `MOST_VISITS` visits.

    A candidate visits the documents of each of its terms: a document drawn at random has term t with probability
    df / n, and then df visits. Beyond the limit seeds come from a random sample, of five documents a cluster at least,
    and then from fewer candidates, of two at least.
    """
    trials = default_trials(n_clusters)
    visits = n_clusters * trials * float(np.sum(frequencies.astype(np.float64) ** 2)) / n_documents
    if visits <= MOST_VISITS:
        return n_documents, trials
    sample = min(n_documents, max(int(n_documents * MOST_VISITS / visits), SAMPLE_PER_SEED * n_clusters))
    left = MOST_VISITS / (visits * sample / n_documents)
    return sample, max(min(FEWEST_TRIALS, trials), int(trials * min(1.0, left)))


def kmeans_plus_plus(
    documents: DocumentMatrix,
    n_clusters: int,
    generator: np.random.Generator,
    *,
    index: InvertedIndex | None = None,
    n_trials: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the rows chosen as seeds, distinct; fewer than `n_clusters` when all usable rows equal a seed."""
    index = index if index is not None else InvertedIndex.of(documents)
    trials = n_trials or default_trials(n_clusters)
    weights = np.where(documents.is_usable, documents.weights, 0.0)
    n_threads = documents.threads_for(documents.values.size * 0.05 * trials)
    similarities = [np.empty(documents.n_documents, np.float32) for _ in range(trials)]
    nearest = np.zeros(documents.n_documents)
    cumulated = np.empty(documents.n_documents)

    def weigh(candidate: tuple[int, int]) -> float:
        trial, row = candidate
        entries = slice(documents.starts[row], documents.starts[row + 1])
        similarities_to_row(
            documents.values[entries],
            documents.columns[entries],
            index.starts,
            index.rows,
            index.values,
            similarities[trial],
        )
        return float(potential_with(similarities[trial], nearest, weights))

    chosen: list[int] = []
    while len(chosen) < n_clusters:
        cumulate_distances(nearest, weights, SAME_ROW, cumulated)
        if not cumulated[-1] > 0:
            break
        draws = generator.random(trials if chosen else 1) * cumulated[-1]
        candidates = np.minimum(np.searchsorted(cumulated, draws, side="right"), _last_drawable(cumulated))
        left = list(map_blocks(weigh, enumerate(candidates.tolist()), n_threads=n_threads))
        best = int(np.argmin(left))
        chosen.append(int(candidates[best]))
        if len(chosen) == 1:
            nearest[:] = similarities[best]
        else:
            join_nearest(similarities[best], nearest)
    return np.array(chosen, np.int64)


def _last_drawable(cumulated: npt.NDArray[np.float64]) -> int:
    """Return the last row with a share of the sum: rounding must not draw one behind it."""
    return int(np.searchsorted(cumulated, cumulated[-1], side="left"))


def random_rows(documents: DocumentMatrix, n_clusters: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return `n_clusters` different rows drawn evenly among those with a direction (fewer if there are fewer)."""
    usable = np.flatnonzero(documents.is_usable)
    return np.sort(generator.permutation(usable)[:n_clusters])


def check_init(init: Init) -> None:
    """Raise InputError if `init` is a word that means nothing."""
    if isinstance(init, str) and init not in {"k-means++", "random", "subsample"}:
        raise InputError(
            f"init={init!r} is not a way to begin; use 'k-means++', 'random', 'subsample', centroids or a callable."
        )


def given_means(
    init: Any, n_clusters: int, documents: DocumentMatrix, original: Any, generator: np.random.Generator
) -> Means:
    """Return the means given as a matrix, dense or sparse, or made by a callable ``(X, n_clusters, random_state)``.

    Raises
    ------
    InputError
        If their shape is not (n_clusters, n_terms), or they are not finite numbers.
    """
    if callable(init):
        seed = int(generator.integers(2**31 - 1))
        init = init(original, n_clusters, random_state=np.random.RandomState(seed))
    rows = sparse_rows(check_matrix(init, name="init"))
    if rows.shape != (n_clusters, documents.n_columns):
        raise InputError(
            f"init has shape {rows.shape}, expected {(n_clusters, documents.n_columns)}: one row for each cluster, "
            "one column for each term."
        )
    return means_of_matrix(unit_rows_of(rows), documents.original)


def unit_rows_of(rows: sparse.csr_array) -> sparse.csr_array:
    """Return float32 unit rows (zero rows stay zero)."""
    scale, _ = unit_scale(rows)
    data = (rows.data * np.repeat(scale, np.diff(rows.indptr))).astype(np.float32)
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
