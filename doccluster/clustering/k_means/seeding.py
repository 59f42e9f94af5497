"""Where a start begins: k-means++ in cosine form, random documents, the centroids of a sample, or what is given.

k-means++ draws documents with a probability proportional to 1 - cosine to the nearest seed (half the squared Euclidean
distance of unit vectors). It is greedy: of several draws the one that leaves the smallest sum is kept, which also keeps
out isolated documents, since such a seed serves only itself.

Source: Arthur and Vassilvitskii, k-means++: The Advantages of Careful Seeding, SODA 2007 (greedy form in section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.blocks import row_blocks, share_blocks
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.mean_table import means_of_matrix
from doccluster.errors import InputError
from doccluster.geometry.documents import Documents, as_documents
from doccluster.geometry.posting_lists import REGROUP, InvertedIndex, reach_of, write_products
from doccluster.kernels.arguments import Csr
from doccluster.kernels.jit import jit

PART = 8192  # documents at a time: similarities and distances of a part stay near the processor


@jit
def weigh_candidates(candidates, parts, rows, by_term, nearest, weights, into):
    """Fill the similarities of the documents of some parts to each candidate, and what is left if that one is a seed.

    `into` is (similarities, potentials): ``potentials[trial, part]`` is the weighted sum of 1 - similarity to the
    nearest seed. `rows` are those of all documents (Csr), `by_term` is their `InvertedIndex`. Without `weights` each
    document counts once. The parts from ``parts[0]`` to before ``parts[1]`` have `PART` documents each, which stay
    near the processor while one candidate after the other is weighed.
    """
    similarities, potentials = into
    begins = np.empty(0, np.int64)
    reach = reach_of(rows, candidates, by_term, parts[0] * PART, begins, similarities)
    for part in range(parts[0], parts[1]):
        low, high = part * PART, min(part * PART + PART, nearest.size)
        for trial in range(candidates.size):
            products = similarities[trial]
            write_products(reach, trial, by_term, low, high, products)
            potentials[trial, part] = _left(products[low:high], nearest[low:high], weights[low:high])


@jit(fastmath=REGROUP, inner=True)
def _left(similarities, nearest, weights):
    """Return the potential of some documents, counted once each if `weights` is empty."""
    total = 0.0
    if weights.size:
        for row in range(nearest.size):
            similarity = similarities[row] if similarities[row] > nearest[row] else nearest[row]
            left = 1.0 - np.float64(similarity)
            total += weights[row] * (left if left > 0.0 else 0.0)
    else:
        for row in range(nearest.size):
            similarity = similarities[row] if similarities[row] > nearest[row] else nearest[row]
            left = 1.0 - np.float64(similarity)
            total += left if left > 0.0 else 0.0
    return total


@jit
def join_nearest(similarities, nearest, weights, resolution, sums):
    """Raise `nearest` to the similarities where they are higher, and write the sum of the distances of each part.

    A distance of `resolution` or less counts as 0.
    """
    for number in range(sums.size):
        part = slice(number * PART, min((number + 1) * PART, nearest.size))
        sums[number] = _join(similarities[part], nearest[part], weights[part], resolution)


@jit(fastmath=REGROUP, inner=True)
def _join(similarities, nearest, weights, resolution):
    total = 0.0
    for row in range(nearest.size):
        nearest[row] = similarities[row] if similarities[row] > nearest[row] else nearest[row]
    if weights.size:
        for row in range(nearest.size):
            distance = 1.0 - np.float64(nearest[row])
            total += weights[row] * (distance if distance > resolution else 0.0)
    else:
        for row in range(nearest.size):
            distance = 1.0 - np.float64(nearest[row])
            total += distance if distance > resolution else 0.0
    return total


@jit
def draw_rows(points, cumulated, nearest, weights, resolution, rows):
    """Write the rows at which the running sum of the distances passes `points`, the last row with one at most.

    `cumulated` is the running sum over the parts.
    """
    last = 0
    while cumulated[last] < cumulated[-1]:
        last += 1
    for place in range(points.size):
        part = 0
        while part < last and cumulated[part] <= points[place]:
            part += 1
        rest = points[place] - (cumulated[part - 1] if part else 0.0)
        rows[place] = _row_at(part, rest, nearest, weights, resolution)


@jit(inner=True)
def _row_at(number, rest, nearest, weights, resolution):
    """Return the row of a part at which the running sum of its distances passes `rest`, the last with one at most."""
    found, total = number * PART, 0.0
    for row in range(number * PART, min((number + 1) * PART, nearest.size)):
        distance = 1.0 - np.float64(nearest[row])
        if distance > resolution:
            share = weights[row] * distance if weights.size else distance
            if share > 0.0:
                found = row
                total += share
                if total > rest:
                    break
    return found


MOST_VISITS = 4e10  # about a minute of one processor; beyond it seeds are drawn from a random sample
SAMPLE_PER_SEED = 5
FEWEST_TRIALS = 2  # one candidate would let isolated documents in
SAME_ROW = 1e-6  # float32 rows closer than this to a seed are copies of it
COMMON_FROM = 0.1  # a term of a larger share of documents is added as a dense line: no scattered writes
LINE_VISITS, PASS_VISITS = 0.09, 0.15  # what a document costs in a dense line, and at all, in visits of the index
WORTH_A_THREAD = 1_500_000  # visits of one round of candidates, about a millisecond, above which handing over pays

SEEDINGS = ("k-means++", "random", "subsample")

Init = str | Callable[..., Any] | Any


def seeding_index(documents: DocumentMatrix) -> InvertedIndex:
    """Return the index that seeds are drawn by; its lines take at most half as much memory as its lists.

    Of rows without zeros all terms are lines, which costs a copy and no lists.
    """
    n, table = documents.n_documents, documents.dense
    if table is not None:
        starts = np.arange(table.shape[1] + 1, dtype=np.int64) * n  # as long as the lists would be
        nothing = Csr(starts, np.empty(0, np.int32), np.empty(0, np.float32))
        return InvertedIndex(nothing, np.arange(table.shape[1], dtype=np.int32), np.ascontiguousarray(table.T))
    lists = Csr.of(documents.terms_from(0))
    frequencies = np.diff(lists.indptr)
    common = np.flatnonzero(frequencies > COMMON_FROM * n)
    common = common[np.argsort(-frequencies[common], kind="stable")][: lists.indices.size // max(1, n)]
    line_of = np.full(frequencies.size, -1, np.int32)
    line_of[common] = np.arange(common.size)
    lines = np.zeros((common.size, n), np.float32)
    for line, term in zip(lines, common, strict=True):
        entries = slice(lists.indptr[term], lists.indptr[term + 1])
        line[lists.indices[entries]] = lists.data[entries]
    return InvertedIndex(lists, line_of, lines)


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
    progress: Progress = silent,
) -> npt.NDArray[np.int64]:
    """Return the rows chosen as seeds, distinct; fewer than `n_clusters` when all usable rows equal a seed."""
    trials = n_trials or default_trials(n_clusters)
    potential = _Potential(documents, index if index is not None else seeding_index(documents), trials)
    chosen: list[int] = []
    with potential.threads:
        while len(chosen) < n_clusters:
            if not potential.total > 0:
                break
            candidates = potential.draw(generator.random(trials if chosen else 1))
            best = int(np.argmin(potential.weigh(candidates)))
            chosen.append(int(candidates[best]))
            potential.join(best)
            progress("seed", len(chosen), n_clusters)
    return np.array(chosen, np.int64)


class _Potential:
    """The distances of all documents to the nearest seed so far, and what candidates would leave of their sum."""

    def __init__(self, documents: DocumentMatrix, index: InvertedIndex, trials: int) -> None:
        self.rows = Csr(documents.starts, documents.columns, documents.values)
        self.by_term = index
        # rows without terms or weight count as copies of a seed: none is drawn, none adds to the potential
        self.nearest = np.where(documents.is_usable, 0, 1).astype(np.float32)
        is_even = bool(np.all(documents.weights[self.nearest == 0] == 1))
        self.weights = np.empty(0) if is_even else documents.weights.astype(np.float64)
        self.similarities = np.zeros((trials, documents.n_documents), np.float32)
        self.sums = np.empty(-(-documents.n_documents // PART))
        self.join(0)
        frequencies, is_listed = np.diff(index.lists.indptr).astype(np.float64), index.line_of < 0
        n = max(1, documents.n_documents)
        visits = float(np.sum(frequencies[is_listed] ** 2)) / n  # of a candidate drawn evenly
        visits += LINE_VISITS * float(np.sum(frequencies[~is_listed])) + PASS_VISITS * n
        self.n_threads = documents.n_threads if trials * visits > WORTH_A_THREAD else 1
        self.threads = ThreadPoolExecutor(max_workers=self.n_threads, thread_name_prefix="doccluster")

    def draw(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the documents at these shares of the running sum of the distances."""
        rows = np.empty(shares.size, np.int64)
        draw_rows(shares * self.total, self.cumulated, self.nearest, self.weights, SAME_ROW, rows)
        return rows

    def weigh(self, candidates: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the potential that each candidate would leave."""
        known = self.rows, self.by_term, self.nearest, self.weights
        left = np.empty((candidates.size, self.sums.size))

        def weigh_some(parts: slice) -> None:
            weigh_candidates(candidates, (parts.start, parts.stop), *known, (self.similarities, left))

        parts = row_blocks(self.sums.size, -(-self.sums.size // self.n_threads))
        share_blocks(weigh_some, parts, n_threads=self.n_threads, pool=self.threads)
        return np.asarray(left.sum(axis=1))

    def join(self, trial: int) -> None:
        """Make a seed of the candidate weighed at this place."""
        join_nearest(self.similarities[trial], self.nearest, self.weights, SAME_ROW, self.sums)
        self.cumulated = np.cumsum(self.sums)
        self.total = float(self.cumulated[-1])


def check_init(init: Init) -> None:
    """Raise InputError if `init` is a word that means nothing."""
    if isinstance(init, str) and init not in SEEDINGS:
        raise InputError(
            "is not a way to begin",
            argument="init",
            received=init,
            expected=f"{', '.join(map(repr, SEEDINGS))}, centroids or a callable",
        )


def given_means(
    init: Any, n_clusters: int, original: npt.NDArray[np.int32], given: Any, generator: np.random.Generator
) -> sparse.csr_array:
    """Return the means given as a matrix, dense or sparse, or made by a callable ``(X, n_clusters, random_state)``.

    Raises InputError if their shape is not (n_clusters, n_terms), or they are not finite numbers.
    """
    if callable(init):
        seed = int(generator.integers(2**31 - 1))
        init = init(given, n_clusters, random_state=np.random.RandomState(seed))
    rows = as_documents(init, name="init")
    if rows.shape != (n_clusters, original.size):
        raise InputError(
            f"has shape {rows.shape}",
            argument="init",
            expected=f"shape {(n_clusters, original.size)}: one row for each cluster, one column for each term",
        )
    return means_of_matrix(unit_rows_of(rows), original)


def unit_rows_of(centres: Documents) -> sparse.csr_array:
    """Return float32 unit rows (zero rows stay zero), sparse."""
    rows = sparse.csr_array(centres.in_range)
    data = (rows.data * np.repeat(centres.unit_scale, np.diff(rows.indptr))).astype(np.float32)
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
