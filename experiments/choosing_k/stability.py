"""Choosing k by stability: clusterings of resampled data should agree on the documents they share.

Zaki & Meira, Data Mining and Analysis, Algorithm 17.1 and eq. 17.30.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from doccluster.blocks import map_blocks
from doccluster.errors import InputError
from doccluster.geometry import Documents, as_documents
from doccluster.measures import Measure, get_measure
from doccluster.measures.contingency import ContingencyTable
from doccluster.partition import Partition
from doccluster.validation import RandomState, as_generator, check_choice, compact_indices
from experiments.choosing_k.contenders import get_contender
from experiments.choosing_k.rules import best_k

if TYPE_CHECKING:
    from doccluster.selection.clusterers import Contender

Resampling = Literal["bootstrap", "subsample"]


@dataclass(frozen=True)
class Stability:
    """How well clusterings of resampled data agree, for each k.

    Attributes
    ----------
    measure : str
        The external measure of agreement.
    values : mapping of k to float
        The mean over all pairs of resampled data sets; nan where no pair could be compared.
    standard_errors : mapping of k to float
        Of the mean, from the spread over resampled data sets.
    chosen : int or None
        The k of the best agreement.
    skipped_pairs : mapping of k to int
        Pairs without common documents or with a failed fit.
    """

    measure: str
    values: Mapping[int, float]
    standard_errors: Mapping[int, float]
    chosen: int | None
    skipped_pairs: Mapping[int, int]


def resample(
    n_documents: int, *, method: Resampling = "bootstrap", share: float = 0.8, random_state: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return how often each document is drawn, int64 array of shape (n_documents,).

    "bootstrap" draws n documents with replacement; "subsample" draws a share of them without.
    """
    if check_choice(method, get_args(Resampling), "method") == "bootstrap":
        drawn = random_state.integers(0, n_documents, n_documents)
        return np.bincount(drawn, minlength=n_documents)
    counts = np.ones(n_documents, dtype=np.int64)
    counts[random_state.permutation(n_documents)[max(1, round(share * n_documents)) :]] = 0
    return counts


def common_instances(first: npt.ArrayLike, second: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the multiset intersection of two resamplings: the smaller of the two multiplicities (eq. 17.30).

    Examples
    --------
    >>> common_instances([3, 1, 1, 0], [2, 2, 0, 1])
    array([2, 1, 0, 0])
    """
    return np.minimum(np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64))


def agreement(
    first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], *, common: npt.NDArray[np.int64], measure: Measure
) -> float:
    """Return an external measure of two label arrays on a multiset of documents; nan if it is empty.

    A measure that is not symmetric is averaged over both orders.
    """
    rows = np.repeat(np.arange(common.size), common)
    if rows.size == 0:
        return math.nan
    one, two = Partition.from_labels(first[rows]), Partition.from_labels(second[rows])
    value = measure.compute(ContingencyTable.from_partitions(one, two)).value
    if measure.swapped == measure.name:
        return value
    return (value + measure.compute(ContingencyTable.from_partitions(two, one)).value) / 2


def mean_agreement(
    labels: Sequence[npt.NDArray[np.int64] | None], counts: Sequence[npt.NDArray[np.int64]], *, measure: str
) -> tuple[float, float, int]:
    """Return (mean, standard error, skipped pairs) of an external measure over all pairs of resampled clusterings.

    Parameters
    ----------
    labels : one int array of shape (n_documents,) per resampling, or None where the fit failed
        Only the entries of documents that were drawn are looked at.
    counts : one int array of shape (n_documents,) per resampling
        How often each document was drawn.
    """
    record = get_measure(measure)
    per_sample: list[list[float]] = [[] for _ in labels]
    skipped = 0
    for i, j in itertools.combinations(range(len(labels)), 2):
        one, two = labels[i], labels[j]
        value = math.nan
        if one is not None and two is not None:
            value = agreement(one, two, common=common_instances(counts[i], counts[j]), measure=record)
        if math.isnan(value):
            skipped += 1
            continue
        per_sample[i].append(value)
        per_sample[j].append(value)
    means = np.array([np.mean(values) for values in per_sample if values])
    if means.size == 0:
        return math.nan, math.nan, skipped
    total = [value for values in per_sample for value in values]
    error = 2 * float(means.std()) / math.sqrt(means.size)  # first-order variance of a mean over pairs (U-statistic)
    return float(np.mean(total)), error, skipped


def stability(
    matrix: Any,
    *,
    ks: Iterable[int],
    algorithm: Any = "spherical-k-means",
    n_samples: int = 20,
    method: Resampling = "bootstrap",
    measure: str = "adjusted_rand",
    share: float = 0.8,
    n_init: int = 3,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> Stability:
    """Return how stable the clustering is for each k, by Algorithm 17.1 of Zaki & Meira.

    The default measure is chance-adjusted: the raw variation of information grows with k whatever the data, so its
    least value tends to be at the smallest k. A distance chooses its least value, a similarity its largest.

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms)
    ks : numbers of clusters
    algorithm : str or estimator, see `get_contender`
    n_samples : int
        The number t of resampled data sets, shared by all k.
    method : {"bootstrap", "subsample"}
        Draw n documents with replacement, or a `share` without.
    measure : str
        Any external measure.

    Raises
    ------
    InputError
        If a k is not positive or a name is unknown.
    """
    documents = as_documents(matrix)
    record = get_measure(measure)
    if record.family != "external":
        raise InputError(f"{measure!r} is not an external measure", remedy="stability compares two partitions")
    chosen = get_contender(algorithm, n_init=n_init)
    rng = as_generator(random_state)
    sizes = sorted(set(ks))
    counts = [resample(documents.n_documents, method=method, share=share, random_state=rng) for _ in range(n_samples)]
    seeds = [int(seed) for seed in rng.integers(2**31, size=n_samples)]

    def fit(job: tuple[int, int]) -> npt.NDArray[np.int64] | None:
        k, sample = job
        own = np.random.default_rng([seeds[sample], k])
        return _labels_of_sample(documents, counts[sample], chosen, k, method=method, random_state=own)

    fits = map_blocks(fit, [(k, sample) for k in sizes for sample in range(n_samples)], n_threads=n_threads)
    results = {k: mean_agreement(list(itertools.islice(fits, n_samples)), counts, measure=measure) for k in sizes}
    values = {k: results[k][0] for k in sizes}
    return Stability(
        measure,
        values,
        {k: results[k][1] for k in sizes},
        best_k(values, largest=record.direction == "higher"),
        {k: results[k][2] for k in sizes},
    )


def _labels_of_sample(
    documents: Documents,
    counts: npt.NDArray[np.int64],
    algorithm: Contender,
    k: int,
    *,
    method: Resampling,
    random_state: np.random.Generator,
) -> npt.NDArray[np.int64] | None:
    from sklearn.utils.validation import has_fit_parameter

    from doccluster.selection.clusterers import fit_labels

    rows = np.flatnonzero(counts)
    if rows.size < k:
        return None
    weights = counts[rows].astype(np.float64) if method == "bootstrap" else None
    if weights is not None and not has_fit_parameter(algorithm.estimator, "sample_weight"):
        rows, weights = np.repeat(rows, counts[rows]), None
    points = documents.take(rows)
    seed = int(random_state.integers(2**31))
    labels = np.full(counts.size, -1, dtype=np.int64)
    labels[rows] = fit_labels(
        algorithm.estimator,
        compact_indices(points.matrix),
        n_clusters=min(k, points.n_distinct),
        seed=seed,
        weights=weights,
    )
    return labels
