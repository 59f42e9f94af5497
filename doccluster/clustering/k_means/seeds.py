"""The means at which starts begin: k-means++ in cosine form, random documents, from a sample, or given.

k-means++ draws documents with a probability proportional to 1 - cosine to the nearest seed (half the squared Euclidean
distance of unit vectors). It is greedy: of several draws the one that leaves the smallest sum is kept, which also keeps
out isolated documents, since such a seed serves only itself.

Source: Arthur and Vassilvitskii, k-means++: The Advantages of Careful Seeding, SODA 2007 (greedy form in section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers, Matrix, SingleFloats
from doccluster.base.blocks import share_blocks
from doccluster.base.compiled import jit
from doccluster.base.progress import Progress, silent
from doccluster.base.sparse_structure import Csr
from doccluster.clustering.k_means.lloyd import Limits, run_start
from doccluster.clustering.k_means.lloyd_steps import LloydSteps
from doccluster.clustering.k_means.unit_documents import UnitDocuments, unit_rows_of
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents
from doccluster.geometry.sums import sums_by_label

MAX_VISITS = 4e10  # entries, about a minute of one processor; beyond it seeds are drawn from a random sample
SAMPLE_PER_SEED = 5  # documents that such a sample has at least for each seed
FEWEST_TRIALS = 2  # one candidate would let isolated documents in
SAME_ROW = 1e-6  # float32 rows closer than this to a seed are copies of it
WORTH_A_THREAD = 1_500_000  # visits of one round of candidates, about a millisecond, above which threads pay
SAMPLE_SHARE = 10  # 'subsample' clusters one document in ten ...
SAMPLE_PER_CLUSTER = 20  # ... but at least this many for each cluster ...
SAMPLE_ENOUGH = 1000  # ... and at most this many
SAMPLE_ITERATIONS = 20
OUTLIER_SHARE = 10  # 'without-outliers' leaves out one document in ten of the sample
MAX_JOINED = 4_000  # documents that 'agglomerative' joins at most, 32 MB of distances, unless k is over half of that
KEPT_ENTRIES = 300_000  # up to this many, a few megabytes, the index is kept from start to start

SEEDINGS = ("k-means++", "random", "subsample", "without-outliers", "agglomerative")

Init = str | Callable[..., Any] | Any
Index = Csr | SingleFloats


class SeedSource(Protocol):
    """Documents that seeds are drawn from: a `UnitDocuments`, or documents in blocks, fetched where they are drawn."""

    @property
    def n_documents(self) -> int: ...

    @property
    def n_entries(self) -> int: ...

    @property
    def n_terms(self) -> int: ...

    @property
    def frequencies(self) -> Integers: ...

    @property
    def usable(self) -> Integers: ...

    def take(self, rows: Integers, /) -> UnitDocuments: ...

    def whole(self) -> UnitDocuments: ...


def draw_starts(
    source: SeedSource,
    n_clusters: int,
    init: Init,
    n_starts: int,
    generator: np.random.Generator,
    *,
    seed_documents: int,
    matrix: Matrix | None = None,
    progress: Progress = silent,
) -> Iterator[sparse.csr_array]:
    """Yield the means at which each start begins; k-means++ draws from at most `seed_documents` random documents.

    `matrix`: the rows as the user gave them, for an `init` that is a function.
    """
    index, is_small = None, source.n_entries <= KEPT_ENTRIES and seed_documents >= source.n_documents
    if isinstance(init, str) and init == "k-means++" and is_small and isinstance(source, UnitDocuments):
        index = seeding_index(source)
    for _ in range(n_starts):
        if not isinstance(init, str):
            yield given_means(init, n_clusters, source.n_terms, matrix, generator)
        elif init == "k-means++":
            yield _seeds(source, n_clusters, generator, seed_documents, index=index, progress=progress)
        elif init == "random":
            yield _drawn(source, n_clusters, generator).matrix
        elif init == "subsample":
            yield _sample_means(source, n_clusters, generator)
        elif init == "without-outliers":
            yield _inlying_seeds(source, n_clusters, generator)
        else:
            yield _agglomerated_means(source, n_clusters, generator)


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
    init: Any, n_clusters: int, n_terms: int, matrix: Matrix | None, generator: np.random.Generator
) -> sparse.csr_array:
    """Return the means given as a matrix, dense or sparse, or made by a callable ``(X, n_clusters, random_state)``.

    Raises InputError if their shape is not (n_clusters, n_terms), or they are not finite numbers.
    """
    if callable(init):
        seed = int(generator.integers(2**31 - 1))
        init = init(matrix, n_clusters, random_state=np.random.RandomState(seed))
    rows = as_documents(init, name="init")
    if rows.shape != (n_clusters, n_terms):
        raise InputError(
            f"has shape {rows.shape}",
            argument="init",
            expected=f"shape {(n_clusters, n_terms)}: one row for each cluster, one column for each term",
        )
    return unit_rows_of(rows)


def _seeds(
    source: SeedSource,
    n_clusters: int,
    generator: np.random.Generator,
    seed_documents: int,
    *,
    index: Index | None,
    progress: Progress,
) -> sparse.csr_array:
    """Return the seeds of k-means++, drawn from all documents or a random sample; a start begins without these."""
    if seed_documents >= source.n_documents:
        documents = source.whole()
    else:
        documents = _drawn(source, max(seed_documents, n_clusters), generator)
    trials = affordable_seeding(source.frequencies, source.n_documents, n_clusters)[1]
    rows = kmeans_plus_plus(documents, n_clusters, generator, index=index, n_trials=trials, progress=progress)
    return documents.matrix[rows]


def _drawn(source: SeedSource, n_documents: int, generator: np.random.Generator) -> UnitDocuments:
    """Return random documents with a direction and a weight, no more than asked for, in their order."""
    return source.take(np.sort(generator.permutation(source.usable)[:n_documents]))


def _sample_means(source: SeedSource, n_clusters: int, generator: np.random.Generator) -> sparse.csr_array:
    """Return the means that clustering a random sample ends at, itself begun by k-means++."""
    sample = _sample(source, n_clusters, generator)
    seeds = sample.matrix[kmeans_plus_plus(sample, n_clusters, generator)]
    return run_start(LloydSteps(sample, seeds), Limits(max_iter=SAMPLE_ITERATIONS)).means


def _sample(source: SeedSource, n_clusters: int, generator: np.random.Generator) -> UnitDocuments:
    """Return one document in ten, at random, but at least 20 and at most 1,000 for each cluster."""
    share = min(source.usable.size // SAMPLE_SHARE, SAMPLE_ENOUGH * n_clusters)
    return _drawn(source, max(share, SAMPLE_PER_CLUSTER * n_clusters), generator)


def _inlying_seeds(source: SeedSource, n_clusters: int, generator: np.random.Generator) -> sparse.csr_array:
    """Return k-means++ seeds of a random sample without the tenth that is farthest from its nearest neighbour.

    Source: the slides of Manning, Raghavan & Schuetze, Introduction to Information Retrieval, chapter 16.
    """
    from doccluster.geometry.neighbours import nearest_neighbours  # other starts begin without it

    sample = _sample(source, n_clusters, generator)
    nearest = nearest_neighbours(sample.matrix, 1, fold=None, n_threads=sample.n_threads).similarity[:, 0]
    n_outliers = min(sample.n_documents // OUTLIER_SHARE, max(0, sample.n_documents - n_clusters))
    inliers = sample.take(np.sort(np.argsort(nearest, kind="stable")[n_outliers:]))
    return inliers.matrix[kmeans_plus_plus(inliers, n_clusters, generator)]


def _agglomerated_means(source: SeedSource, n_clusters: int, generator: np.random.Generator) -> sparse.csr_array:
    """Return the centroids of the root of k n random documents, joined by average linkage until k clusters are left.

    Source: Cutting, Karger, Pedersen & Tukey 1992, Scatter/Gather (Buckshot), doi:10.1145/133160.133214.
    """
    from doccluster.clustering.hierarchical.agglomeration import agglomerate, cut_tree  # as above

    n_joined = min(math.isqrt(n_clusters * source.usable.size), MAX_JOINED)
    sample = _drawn(source, max(n_joined, 2 * n_clusters), generator)
    labels = cut_tree(agglomerate(sample.matrix, n_threads=sample.n_threads), min(n_clusters, sample.n_documents))
    return unit_rows_of(as_documents(sums_by_label(sample.matrix, labels, int(labels.max()) + 1)))


def default_trials(n_clusters: int) -> int:
    """Return how many candidates the greedy form weighs for each seed, 2 + log k, as scikit-learn does."""
    return 2 + int(math.log(n_clusters))


def affordable_seeding(frequencies: Integers, n_documents: int, n_clusters: int) -> tuple[int, int]:
    """Return from how many documents, and with how many candidates, seeds are drawn with about `MAX_VISITS` visits.

    A candidate visits the documents of each of its terms: a document drawn at random has term t with probability
    df / n, and then df visits. Beyond the limit seeds come from a random sample, of five documents a cluster at least,
    and then from fewer candidates, of two at least.
    """
    trials = default_trials(n_clusters)
    visits = n_clusters * trials * float(np.sum(frequencies.astype(np.float64) ** 2)) / n_documents
    if visits <= MAX_VISITS:
        return n_documents, trials
    sample = min(n_documents, max(int(n_documents * MAX_VISITS / visits), SAMPLE_PER_SEED * n_clusters))
    remaining = MAX_VISITS / (visits * sample / n_documents)
    return sample, max(min(FEWEST_TRIALS, trials), int(trials * min(1.0, remaining)))


def seeding_index(documents: UnitDocuments) -> Index:
    """Return the documents of each term, by which seeds are drawn; of rows without zeros the table, transposed."""
    table = documents.dense
    return Csr.of(sparse.csr_array(documents.matrix.T.tocsr())) if table is None else np.ascontiguousarray(table.T)


def kmeans_plus_plus(
    documents: UnitDocuments,
    n_clusters: int,
    generator: np.random.Generator,
    *,
    index: Index | None = None,
    n_trials: int | None = None,
    progress: Progress = silent,
) -> Integers:
    """Return the rows chosen as seeds, distinct; fewer than `n_clusters` when all usable rows equal a seed."""
    trials = n_trials or default_trials(n_clusters)
    potential = _Potential(documents, seeding_index(documents) if index is None else index)
    chosen: list[int] = []
    while len(chosen) < n_clusters and potential.total > 0:
        candidates = potential.draw(generator.random(trials if chosen else 1))
        chosen.append(potential.join_best(candidates))
        progress("seed", len(chosen), n_clusters)
    return np.array(chosen, np.int64)


class _Potential:
    """The distances of all documents to the nearest seed so far, and what candidates would leave of their sum."""

    def __init__(self, documents: UnitDocuments, by_term: Index) -> None:
        self.documents, self.by_term = documents, by_term
        # rows without terms or weight count as copies of a seed: none is drawn, none adds to the potential
        self.nearest = np.where(documents.is_usable, 0, 1).astype(np.float32)
        self.weights = documents.weights.astype(np.float64)
        # entries of the index that a random candidate visits, on average
        self.visits = float(np.sum(documents.frequencies.astype(np.float64) ** 2)) / max(1, documents.n_documents)
        self._sum_distances()

    def _sum_distances(self) -> None:
        distances = 1.0 - self.nearest.astype(np.float64)
        distances[distances <= SAME_ROW] = 0.0
        self.cumulated = np.cumsum(self.weights * distances)
        self.total = float(self.cumulated[-1])

    def draw(self, shares: Floats) -> Integers:
        """Return the documents at these shares of the running sum of the distances.

        Where rounding makes a share of nearly 1 the whole sum, it is the last one that has a distance.
        """
        last = np.searchsorted(self.cumulated, self.total)
        return np.minimum(np.searchsorted(self.cumulated, shares * self.total, side="right"), last)

    def join_best(self, candidates: Integers) -> int:
        """Make a seed of the candidate that leaves least, the first among equals, and return it."""
        similarities = self._similarities(candidates)
        remaining = [potential_left(candidate, self.nearest, self.weights) for candidate in similarities]
        best = int(np.argmin(remaining))
        np.maximum(self.nearest, similarities[best], out=self.nearest)
        self._sum_distances()
        return int(candidates[best])

    def _similarities(self, candidates: Integers) -> Sequence[SingleFloats]:
        """Return the cosines of all documents to each candidate."""
        documents, by_term = self.documents, self.by_term
        if isinstance(by_term, np.ndarray):
            assert documents.dense is not None
            return list(documents.dense[candidates] @ by_term)

        def multiply(row: int) -> SingleFloats:
            starts, columns, values = documents.rows
            entries = slice(starts[row], starts[row + 1])
            products: SingleFloats = multiply_by_lists(
                columns[entries], values[entries], by_term, documents.n_documents
            )
            return products

        n_threads = documents.n_threads if candidates.size * self.visits > WORTH_A_THREAD else 1
        return share_blocks(multiply, candidates.tolist(), n_threads=n_threads)


@jit
def multiply_by_lists(terms, values, by_term, n_documents):
    """Return the products of a row with all documents, through the lists of the documents that have each term."""
    products = np.zeros(n_documents, np.float32)
    indptr, indices, data = by_term
    for place in range(terms.size):
        listed = slice(indptr[terms[place]], indptr[terms[place] + 1])
        rows, weights, value = indices[listed], data[listed], values[place]
        for entry in range(rows.size):
            products[np.uint32(rows[entry])] += value * weights[entry]  # a number with a sign is looked at first
    return products


@jit(fastmath={"reassoc", "contract", "nsz", "nnan"})  # so that it runs many documents at a time; no value is nan
def potential_left(similarities, nearest, weights):
    """Return the weighted sum of 1 - similarity to the nearest seed, if one of these similarities is a seed."""
    total = 0.0
    for row in range(nearest.size):
        remaining = 1.0 - np.float64(max(similarities[row], nearest[row]))
        total += weights[row] * max(remaining, 0.0)
    return total
