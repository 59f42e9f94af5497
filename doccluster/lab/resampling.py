"""How well clusterings of resampled documents agree: the stability of a number of clusters.

Source: Zaki & Meira, Data Mining and Analysis, algorithm 17.1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from doccluster.base.arrays import Floats, Labels, is_sparse
from doccluster.base.blocks import map_blocks
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import RandomState, as_generator, check_choice, compact_indices, unit_rows
from doccluster.errors import InputError
from doccluster.geometry import Documents, as_documents
from doccluster.geometry.partition import Partition
from doccluster.lab.clusterers import Contender, as_contender, fit_labels
from doccluster.measures import Measure, get_measure
from doccluster.measures.contingency import ContingencyTable

Resampling = Literal["bootstrap", "subsample", "perturb"]
SUBSAMPLE = 0.7  # share of the documents
NOISE = 0.1  # standard deviation of a perturbation, as a share


@at_the_door
def stability(
    matrix: object,
    *,
    ks: Iterable[int],
    algorithm: object = "spherical-k-means",
    n_samples: int = 20,
    resampling: Resampling = "bootstrap",
    measure: str = "adjusted_rand",
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> tuple[dict[int, float], dict[int, float]]:
    """Return how well clusterings of resampled documents agree for each k, and its standard error.

    Source: Zaki & Meira, Algorithm 17.1. The default measure is chance-adjusted: the raw variation of information grows
    with k whatever the data, so its least value tends to be at the smallest k. A distance chooses its least value, a
    similarity its largest.

    Parameters
    ----------
    matrix : DocumentVectors, csr or dense array of shape (n_documents, n_terms)
    ks : numbers of clusters
    algorithm : str or estimator
    n_samples : int
        The number t of samples, which all k share.
    resampling : {"bootstrap", "subsample", "perturb"}
        n documents drawn with replacement; 70 % of them without; or all of them, with noise whose standard deviation is
        a tenth of each stored value (of each column's deviation in a dense array).
    measure : str
        Any external measure.

    Raises
    ------
    InputError
        If a k is not positive or a name is unknown.
    """
    check_choice(resampling, get_args(Resampling), "resampling")
    documents = as_documents(getattr(matrix, "matrix", matrix))
    record = get_measure(measure)
    if record.family != "external":
        raise InputError(f"{measure!r} is not an external measure", remedy="stability compares two partitions")
    clusterer = as_contender(algorithm, n_init=3)
    rng = as_generator(random_state)
    sizes = sorted(set(ks))
    counts = [drawn_counts(documents.n_documents, resampling, rng) for _ in range(n_samples)]
    seeds = [int(seed) for seed in rng.integers(2**31, size=n_samples)]

    def fit(task: tuple[int, int]) -> Labels | None:
        k, sample = task
        sample_rng = np.random.default_rng([seeds[sample], k])
        points = documents
        if resampling == "perturb":  # the same noise for all k
            points = _perturbed(documents, np.random.default_rng(seeds[sample]))
        return _labels_of_sample(points, counts[sample], clusterer, k, sample_rng)

    fits = map_blocks(fit, itertools.product(sizes, range(n_samples)), n_threads=n_threads)
    results = {k: mean_agreement(list(itertools.islice(fits, n_samples)), counts, record) for k in sizes}
    return {k: mean for k, (mean, _) in results.items()}, {k: error for k, (_, error) in results.items()}


def drawn_counts(n_documents: int, resampling: Resampling, rng: np.random.Generator) -> Labels:
    """Return how often each document is in one sample, int64 array of shape (n_documents,)."""
    if resampling == "bootstrap":
        return np.bincount(rng.integers(0, n_documents, n_documents), minlength=n_documents)
    n_drawn = n_documents if resampling == "perturb" else max(1, round(SUBSAMPLE * n_documents))
    return np.bincount(rng.permutation(n_documents)[:n_drawn], minlength=n_documents)


def _perturbed(documents: Documents, rng: np.random.Generator) -> Documents:
    """Return documents with noise; unit rows stay unit, and empty cells empty."""
    matrix: Any = documents.matrix
    if is_sparse(matrix):
        noisy = matrix.copy()
        noisy.data = matrix.data * (1 + NOISE * rng.standard_normal(matrix.nnz)).astype(matrix.dtype)
    else:
        noisy = (matrix + NOISE * matrix.std(axis=0) * rng.standard_normal(matrix.shape)).astype(matrix.dtype)
    return as_documents(unit_rows(noisy, warn=False) if documents.has_unit_rows else noisy)


def mean_agreement(labels: Sequence[Labels | None], counts: Sequence[Labels], measure: Measure) -> tuple[float, float]:
    """Return the mean of an external measure over all pairs of resampled clusterings, and its standard error.

    Two clusterings are compared on the multiset of documents that both drew (eq. 17.30). Pairs without any, or with a
    failed fit, are left out; nan if no pair is left.

    `labels`, `counts`: int arrays of shape (n_documents,) for each resampling: labels, None where the fit failed, and
    how often each document was drawn.
    """
    per_sample: list[list[float]] = [[] for _ in labels]
    for i, j in itertools.combinations(range(len(labels)), 2):
        first, second = labels[i], labels[j]
        if first is None or second is None:
            continue
        value = agreement(first, second, common=np.minimum(counts[i], counts[j]), measure=measure)
        if not math.isnan(value):
            per_sample[i].append(value)
            per_sample[j].append(value)
    means = np.array([np.mean(values) for values in per_sample if values])
    if means.size == 0:
        return math.nan, math.nan
    error = 2 * float(means.std()) / math.sqrt(means.size)  # first-order variance of a mean over pairs (U-statistic)
    return float(np.mean([value for values in per_sample for value in values])), error


def agreement(first: Labels, second: Labels, *, common: Labels, measure: Measure) -> float:
    """Return an external measure of two label arrays on a multiset of documents; nan if it is empty.

    A measure that is not symmetric is averaged over both orders.
    """
    rows = np.repeat(np.arange(common.size), common)
    if rows.size == 0:
        return math.nan
    partitions = Partition.from_labels(first[rows]), Partition.from_labels(second[rows])
    value = measure.compute(ContingencyTable.from_partitions(*partitions)).value
    if measure.swapped == measure.name:
        return value
    return (value + measure.compute(ContingencyTable.from_partitions(*partitions[::-1])).value) / 2


def _labels_of_sample(
    documents: Documents, counts: Labels, clusterer: Contender, k: int, rng: np.random.Generator
) -> Labels | None:
    rows = np.flatnonzero(counts)
    if rows.size < k:
        return None
    weights: Floats | None = counts[rows].astype(np.float64)
    if not has_fit_parameter(clusterer.estimator, "sample_weight"):
        rows, weights = np.repeat(rows, counts[rows]), None
    points = documents.take(rows)
    labels = np.full(counts.size, -1, dtype=np.int64)
    labels[rows] = fit_labels(
        clusterer.estimator,
        compact_indices(points.matrix),
        n_clusters=min(k, points.n_distinct),
        seed=int(rng.integers(2**31)),
        weights=weights,
    )
    return labels
