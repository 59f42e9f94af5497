"""Is there anything to find: three tests of clustering tendency, each against data without clusters.

Source: Zaki & Meira, Data Mining and Analysis, section 17.3.2. The defaults suit sparse unit rows; each docstring names
the options that reproduce the book's example.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import logsumexp

from doccluster.base.arrays import AnyIntegers, Array, Floats, Matrix, is_sparse
from doccluster.base.blocks import row_blocks
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import (
    RandomState,
    as_generator,
    check_choice,
    check_matrix,
    check_positive_int,
    squared_row_norms,
    unit_rows,
    within_range,
)
from doccluster.errors import InputError
from doccluster.lab._null_models import NullModel, column_ranges, sample_null
from doccluster.measures.judging import MAX_VALUE

Metric = Literal["cosine", "euclidean"]
ZeroCells = Literal["smooth", "skip", "inf"]
MAX_GRID_CELLS = 10_000_000
MAX_BLOCK_DISTANCES = 4_000_000  # 32 MB of float64 at a time


@dataclass(frozen=True, eq=False, repr=False)
class Tendency(ShortRepr):
    """The outcome of one test of clustering tendency.

    Attributes
    ----------
    name : {"hopkins", "distance_kl", "spatial_kl"}
    values : float64 array of shape (n_samples,)
        The statistic of the data against each reference sample.
    null_values : float64 array of shape (n_samples,)
        The same statistic of a second reference sample in place of the data: what data without clusters give.
    note : str
        How it was computed: sizes, null model, what happened to empty cells.
    """

    name: str
    values: Floats
    null_values: Floats
    note: str = ""

    @property
    def mean(self) -> float:
        """The mean over the reference samples with a finite value; nan without any."""
        finite = self.values[np.isfinite(self.values)]
        return float(finite.mean()) if finite.size else math.nan

    @property
    def sd(self) -> float:
        """The population standard deviation over the same samples."""
        finite = self.values[np.isfinite(self.values)]
        return float(finite.std()) if finite.size else math.nan

    @property
    def null_mean(self) -> float:
        """The mean of data without clusters."""
        return float(np.nanmean(self.null_values))

    @property
    def null_interval(self) -> tuple[float, float]:
        """The 2.5 % and 97.5 % quantiles of data without clusters."""
        low, high = np.nanquantile(self.null_values, [0.025, 0.975])
        return float(low), float(high)

    @property
    def p_value(self) -> float:
        """The share of null values at least as large as the mean, counting one more: (b + 1) / (t + 1)."""
        finite = self.null_values[np.isfinite(self.null_values)]
        return float((np.sum(finite >= self.mean) + 1) / (finite.size + 1))


@at_the_door
def tendency(
    vectors: object,
    *,
    max_documents: int = 1000,
    metric: Metric = "cosine",
    null: NullModel = "deal",
    random_state: RandomState = None,
    progress: Progress = silent,
) -> list[Tendency]:
    """Return three tests of whether documents have clusters at all: Hopkins, pair distances, spatial histogram.

    The reference data deal the terms out again, so that each document keeps its number of terms and each term its
    number of documents; the histogram's are uniform in the box of the first two latent dimensions.

    Parameters
    ----------
    vectors : DocumentVectors, csr or dense array of shape (n_documents, n_terms)
    max_documents : int
        Look at a random sample of this many documents where there are more: distances are between all pairs.
    metric : {"cosine", "euclidean"}
        Whether rows are normalised, or taken as they are.
    null : {"deal", "permute", "uniform"}
        Terms dealt out again, the values of each column dealt to rows, or points uniform in the box of the data.

    Raises
    ------
    InputError
        If there are fewer than 3 documents or fewer than 2 terms.

    Examples
    --------
    >>> from doccluster import load_sample, tendency, vectorize
    >>> tests = tendency(vectorize(load_sample()), random_state=0)
    >>> {test.name: round(test.p_value, 3) for test in tests}
    {'hopkins': 0.025, 'distance_kl': 0.05, 'spatial_kl': 0.01}
    """
    rng = as_generator(random_state)
    matrix = check_matrix(getattr(vectors, "matrix", vectors))
    n_documents, note = matrix.shape[0], ""
    if n_documents > check_positive_int(max_documents, "max_documents"):
        matrix = matrix[np.sort(rng.choice(n_documents, max_documents, replace=False))]
        note = f", a random sample of {max_documents:,} of {n_documents:,} documents"
    if check_choice(metric, get_args(Metric), "metric") == "cosine":
        matrix = unit_rows(matrix, warn=False)
    how: dict[str, Any] = {"metric": metric, "null": null, "random_state": rng}
    tests: tuple[Callable[[], Tendency], ...] = (
        lambda: hopkins_test(matrix, n_samples=39, **how),
        lambda: distance_distribution_test(matrix, n_samples=19, **how),
        lambda: spatial_histogram_test(matrix, n_samples=99, random_state=rng),
    )
    results = []
    for number, test in enumerate(tests, start=1):
        result = test()
        results.append(replace(result, note=result.note + note))
        progress("tendency", number, len(tests))
    return results


def hopkins(
    matrix: Matrix,
    *,
    sample: AnyIntegers,
    reference: Matrix,
    power: float | Literal["dimension"] = "dimension",
    metric: Metric = "euclidean",
) -> float:
    """Return the Hopkins statistic sum u^p / (sum u^p + sum w^p), in [0, 1], near 0.5 without clusters.

    u are the distances of the reference points to their nearest row of the data, w those of the sampled rows (given by
    number) to their nearest other row (left out by number, so a duplicate counts with distance 0). The exponent
    `power` is the number of columns, as in the book, for "dimension". Sums are of logarithms, so that a large exponent
    neither overflows nor underflows; but with many dimensions the ratio then runs to 0 or 1.

    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    >>> reference = np.array([[2.0, 2.0], [4.0, 1.0], [3.0, 5.0]])
    >>> round(hopkins(points, sample=np.array([0, 3, 4]), reference=reference), 4)
    0.8636
    """
    exponent = float(matrix.shape[1] if power == "dimension" else power)
    log_within = _log_power_sum(nearest_distances(matrix[sample], matrix, metric=metric, own_rows=sample), exponent)
    log_beyond = _log_power_sum(nearest_distances(reference, matrix, metric=metric), exponent)
    if math.isinf(log_beyond):
        return math.nan if math.isinf(log_within) else 0.0
    return float(1 / (1 + math.exp(min(700.0, log_within - log_beyond))))


def _log_power_sum(distances: Floats, exponent: float) -> float:
    positive = distances[distances > 0]
    return float(logsumexp(exponent * np.log(positive))) if positive.size else -math.inf


@at_the_door
def hopkins_test(
    matrix: object,
    *,
    n_samples: int = 50,
    sample_size: int | None = None,
    null: NullModel = "deal",
    power: float | Literal["dimension"] = 1.0,
    metric: Metric = "cosine",
    random_state: RandomState = None,
) -> Tendency:
    """Return the Hopkins statistic over `n_samples` pairs of subsamples, beside what data drawn under the null give.

    The book's example 17.13 is ``n_samples=500, sample_size=30, null="uniform", power="dimension",
    metric="euclidean"``. The default exponent is 1: with as many dimensions as a vocabulary has, the book's exponent
    makes every value 0 or 1.

    `matrix` of shape (n_documents, n_terms): unit or zero rows for "cosine". `sample_size`: points per subsample; by
    default a tenth of the documents, 1,000 at most.
    """
    data = _measurable(matrix, metric)
    n_documents = data.shape[0]
    rng = as_generator(random_state)
    default_size = min(1000, max(1, n_documents // 10))
    size = default_size if sample_size is None else check_positive_int(sample_size, "sample_size")
    if size > n_documents:
        raise InputError(
            f"exceeds the {n_documents} documents", argument="sample_size", received=size, expected="a smaller one"
        )
    if n_documents < 3:
        raise InputError(f"{n_documents} document(s) are too few for the Hopkins statistic", remedy="give at least 3")

    def statistic(points: Matrix, reference: Matrix) -> float:
        sample = rng.choice(points.shape[0], size, replace=False)
        sampled_rows = rng.choice(reference.shape[0], size, replace=False)
        return hopkins(points, sample=sample, reference=reference[sampled_rows], power=power, metric=metric)

    values = _beside_null(statistic, data, null, n_samples, rng, keep_unit_rows=metric == "cosine")
    return Tendency("hopkins", *values, note=f"exponent {power}, {size} points per sample, null {null!r}")


@at_the_door
def distance_distribution_test(
    matrix: object,
    *,
    bins: int = 25,
    n_samples: int = 20,
    shared_bins: bool = True,
    null: NullModel = "deal",
    metric: Metric = "cosine",
    zero: ZeroCells = "smooth",
    random_state: RandomState = None,
) -> Tendency:
    """Return the KL divergence of the distribution of pair distances from that of data drawn under the null.

    The book's example 17.12 is ``n_samples=500, shared_bins=False, null="uniform", metric="euclidean", zero="skip"``:
    its numbers come out only if each data set is binned on its own range, which compares different intervals; the
    default bins both on [0, the largest distance of either]. O(n^2) time, O(block n) memory.
    """
    data = _measurable(matrix, metric)
    if data.shape[0] < 3:
        raise InputError(
            f"{data.shape[0]} document(s) are too few for a distribution of distances", remedy="give at least 3"
        )
    rng = as_generator(random_state)

    def divergence(points: Matrix, reference: Matrix) -> float:
        ranges = [_pair_distance_range(rows, metric) for rows in (points, reference)]
        if shared_bins:
            ranges = [(0.0, max(high for _, high in ranges))] * 2
        # all distances may be equal: bins need a width
        edges = [np.linspace(low, high if high > low else low + 1, bins + 1) for low, high in ranges]
        counts, reference_counts = (
            sum(np.histogram(distances, bin_edges)[0] for distances in pair_distances(rows, metric=metric))
            for rows, bin_edges in zip((points, reference), edges, strict=True)
        )
        return kl_divergence(counts, reference_counts, zero=zero)

    values = _beside_null(divergence, data, null, n_samples, rng, keep_unit_rows=metric == "cosine")
    note = f"{bins} bins on {'a common range' if shared_bins else 'own ranges'}, null {null!r}, empty bins: {zero}"
    return Tendency("distance_kl", *values, note=note)


@at_the_door
def spatial_histogram_test(
    matrix: object,
    *,
    bins: int = 5,
    n_samples: int = 100,
    zero: ZeroCells = "smooth",
    random_state: RandomState = None,
) -> Tendency:
    """Return the KL divergence of the data's cell histogram from those of uniform samples in the data's box.

    The book's example 17.11 is ``bins=5, n_samples=500, zero="skip"`` on the two Iris components. Sparse or wide data
    are first reduced to two dimensions by a truncated SVD.
    """
    rng = as_generator(random_state)
    points = _few_dimensions(check_matrix(getattr(matrix, "matrix", matrix)), rng)
    low, high = column_ranges(points)

    def divergence(data: Floats, reference: Floats) -> float:
        counts, reference_counts = (
            cell_counts(rows, low=low, high=high, bins=bins).ravel() for rows in (data, reference)
        )
        return kl_divergence(counts, reference_counts, zero=zero)

    values, null_values = _beside_null(divergence, points, "uniform", n_samples, rng, keep_unit_rows=False)
    n_infinite = int(np.isinf(values).sum())
    note = f"{bins} bins in {points.shape[1]} dimensions, empty cells: {zero}"
    note += f", {n_infinite} samples infinite" if n_infinite else ""
    return Tendency("spatial_kl", values, null_values, note)


def cell_counts(points: Any, *, low: npt.ArrayLike, high: npt.ArrayLike, bins: int) -> Array:
    """Return how many points lie in each cell of a grid with `bins` equal bins in each dimension, one axis for each.

    The right edge belongs to the last bin.

    Raises InputError if the grid has more than 10,000,000 cells (bins to the power of the dimensions).
    """
    points = check_matrix(points, name="points")
    n_dimensions = points.shape[1]
    if np.shape(low) != (n_dimensions,) or np.shape(high) != (n_dimensions,):
        raise InputError(
            f"low and high are not the ends of {n_dimensions} dimensions", remedy="give one number for each column"
        )
    if bins**n_dimensions > MAX_GRID_CELLS:
        raise InputError(
            f"{bins} bins in {n_dimensions} dimensions are {bins}^{n_dimensions} cells, over the limit of"
            f" {MAX_GRID_CELLS:,}",
            remedy="use fewer bins, or reduce the data to fewer dimensions",
        )
    edges = list(zip(np.asarray(low, np.float64), np.asarray(high, np.float64), strict=True))
    return np.histogramdd(np.asarray(points, np.float64), bins=bins, range=edges)[0]


def kl_divergence(f: npt.ArrayLike, g: npt.ArrayLike, *, zero: ZeroCells = "smooth") -> float:
    """Return KL(f|g) = sum f log2(f/g) of two histograms of counts over the same cells (eq. 17.31), in bits.

    `zero`: what to do where g is empty and f is not: add 1/2 to every cell of both; leave such cells out (as the book's
    finite printed values need); or the literal infinity.

    >>> round(kl_divergence([4, 0, 3, 3], [2, 2, 6, 0], zero="skip"), 12)
    0.1
    """
    counts, reference = (check_matrix([np.ravel(cells)], name="f and g")[0].astype(np.float64) for cells in (f, g))
    if check_choice(zero, get_args(ZeroCells), "zero") == "smooth":
        counts, reference = counts + 0.5, reference + 0.5
    if counts.size != reference.size or min(counts.min(), reference.min()) < 0 or not counts.sum() * reference.sum():
        raise InputError("f and g are no histograms over the same cells", remedy="give counts, one for each cell")
    p, q = counts / counts.sum(), reference / reference.sum()
    counted = p > 0
    if np.any(counted & (q == 0)):
        if zero == "inf":
            return math.inf
        counted &= q > 0
    return float(np.sum(p[counted] * np.log(p[counted] / q[counted])) / math.log(2.0))


def pair_distances(matrix: Matrix, *, metric: Metric) -> Iterator[Floats]:
    """Yield the distances of all pairs of rows i < j, a block of rows i at a time, flat."""
    columns = np.arange(matrix.shape[0])
    for rows, distances in distance_blocks(matrix, matrix, metric):
        yield distances[columns[None, :] > columns[rows][:, None]]


def nearest_distances(
    queries: Matrix, matrix: Matrix, *, metric: Metric = "cosine", own_rows: AnyIntegers | None = None
) -> Floats:
    """Return the distance of each query to the nearest row, leaving out the query's own row (by number) if given."""
    nearest = np.empty(queries.shape[0])
    for rows, distances in distance_blocks(queries, matrix, metric):
        if own_rows is not None:
            distances[np.arange(distances.shape[0]), own_rows[rows]] = np.inf
        nearest[rows] = distances.min(axis=1)
    return nearest


def distance_blocks(queries: Matrix, matrix: Matrix, metric: Metric) -> Iterator[tuple[slice, Floats]]:
    """Yield (rows, distances of those queries to every row), float64 of shape (block, n_documents).

    "cosine" is 1 - x.y and expects unit or zero rows; "euclidean" takes rows as they are. A distance whose square is
    within rounding of zero is zero.
    """
    transposed = matrix.astype(np.float64, copy=False).T
    squared_norms = squared_row_norms(matrix)
    rounding = 1e-11 if matrix.dtype == np.float32 else 1e-14
    for rows in row_blocks(queries.shape[0], max(1, MAX_BLOCK_DISTANCES // max(1, matrix.shape[0]))):
        block = queries[rows].astype(np.float64, copy=False)
        products = block @ transposed
        products = products.toarray() if is_sparse(products) else np.asarray(products)
        if metric == "cosine":
            distances = np.subtract(1.0, products)
            distances[distances <= rounding] = 0.0
        else:
            scale = squared_row_norms(block)[:, None] + squared_norms[None, :]
            squared = scale - 2 * products
            squared[squared <= rounding * scale] = 0.0
            distances = np.sqrt(squared)
        yield rows, distances


def _pair_distance_range(matrix: Matrix, metric: Metric) -> tuple[float, float]:
    ranges = [(block.min(), block.max()) for block in pair_distances(matrix, metric=metric) if block.size]
    return float(min(low for low, _ in ranges)), float(max(high for _, high in ranges))


def _beside_null(
    statistic: Callable[[Any, Any], float],
    data: object,
    null: NullModel,
    n_samples: int,
    rng: np.random.Generator,
    *,
    keep_unit_rows: bool,
) -> tuple[Floats, Floats]:
    """Return a statistic of the data against each reference sample, and of a second sample in place of the data."""
    values, null_values = np.empty(n_samples), np.empty(n_samples)
    for number in range(n_samples):
        reference = sample_null(data, model=null, random_state=rng, keep_unit_rows=keep_unit_rows)
        substitute = sample_null(data, model=null, random_state=rng, keep_unit_rows=keep_unit_rows)
        values[number], null_values[number] = statistic(data, reference), statistic(substitute, reference)
    return values, null_values


def _measurable(matrix: object, metric: Metric) -> Any:
    """Return a checked matrix whose squared distances are numbers; the cosine does not see that rows are scaled."""
    data = check_matrix(getattr(matrix, "matrix", matrix))
    if check_choice(metric, get_args(Metric), "metric") == "cosine":
        return within_range(data)
    values = data.data if sparse.issparse(data) else data
    if max(float(values.max(initial=0)), -float(values.min(initial=0))) > MAX_VALUE:
        raise InputError("X has values too large for squared distances", remedy=f"scale them to below {MAX_VALUE:g}")
    return data


def _few_dimensions(matrix: Matrix, rng: np.random.Generator) -> Floats:
    if not sparse.issparse(matrix) and matrix.shape[1] <= 5:
        return np.asarray(matrix, dtype=np.float64)
    from sklearn.decomposition import TruncatedSVD  # only this test needs it

    size = min(2, min(matrix.shape) - 1)
    if size < 1:
        raise InputError("the data are too small for a truncated SVD", remedy="give at least 2 documents and 2 terms")
    seed = int(rng.integers(2**31))
    low, high = column_ranges(matrix)
    if np.array_equal(low, high):  # all documents are one point, and the ratios of variances 0 / 0
        return np.zeros((matrix.shape[0], size))
    return np.asarray(TruncatedSVD(size, random_state=seed).fit_transform(matrix), dtype=np.float64)
