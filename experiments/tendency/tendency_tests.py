"""Is there anything to find: three tests of clustering tendency, each against data without clusters.

Zaki & Meira, Data Mining and Analysis, section 17.3.2. The defaults suit sparse unit rows; the options that
reproduce the book's examples are named in each docstring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import logsumexp

from doccluster.base.progress import Progress, silent
from doccluster.base.short_repr import ShortRepr
from doccluster.errors import Argument, InputError
from doccluster.evaluation.judging import MAX_VALUE
from doccluster.validation import (
    RandomState,
    as_generator,
    check_choice,
    check_matrix,
    check_positive_int,
    unit_rows,
    within_range,
)
from experiments.tendency.distance_blocks import (
    Metric,
    nearest_distances,
    pair_distance_histogram,
    pair_distance_range,
)
from experiments.tendency.null_models import NullModel, column_ranges, sample_null

ZeroCells = Literal["smooth", "skip", "inf"]
MAX_CELLS = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Tendency(ShortRepr):
    """The outcome of one test of clustering tendency.

    Attributes
    ----------
    name : str
    values : float64 array of shape (n_samples,)
        The statistic of the data against each reference sample.
    null_values : float64 array of shape (n_samples,)
        The same statistic of one more reference sample in the place of the data: what data without clusters give.
    note : str
        What a reader should know about how it was computed.
    """

    name: str
    values: npt.NDArray[np.float64]
    null_values: npt.NDArray[np.float64]
    note: str = ""

    @property
    def mean(self) -> float:
        """The mean over the reference samples with a finite value."""
        return float(np.mean(self.values[np.isfinite(self.values)])) if np.isfinite(self.values).any() else math.nan

    @property
    def sd(self) -> float:
        """The (population) standard deviation over the reference samples with a finite value."""
        return float(np.std(self.values[np.isfinite(self.values)])) if np.isfinite(self.values).any() else math.nan

    @property
    def null_mean(self) -> float:
        """The mean of data without clusters."""
        return float(np.nanmean(self.null_values))

    @property
    def null_sd(self) -> float:
        """Their standard deviation."""
        return float(np.nanstd(self.null_values))

    @property
    def p_value(self) -> float:
        """The share of null values at least as large as the mean, counting one more: (b + 1) / (t + 1)."""
        known = self.null_values[np.isfinite(self.null_values)]
        return float((np.sum(known >= self.mean) + 1) / (known.size + 1))


def hopkins(
    matrix: Any,
    *,
    sample: npt.ArrayLike,
    reference: Any,
    power: float | Literal["dimension"] = "dimension",
    metric: Metric = "euclidean",
) -> float:
    """Return the Hopkins statistic sum u^p / (sum u^p + sum w^p), in [0, 1], near 0.5 without clusters.

    u are the distances of the reference points to their nearest row of the data, w those of the sampled rows to their
    nearest other row (left out by number, so a duplicate counts with distance 0).

    Parameters
    ----------
    matrix : array of shape (n_documents, n_terms)
    sample : row numbers of the sampled documents
    reference : array of shape (m, n_terms), points drawn under the null
    power : float or "dimension"
        The exponent; "dimension" is the number of columns, as in the book. Computed by logarithms, so that a large
        exponent neither overflows nor underflows; but with many dimensions the ratio then runs to 0 or 1.

    Raises
    ------
    InputError
        If a matrix cannot be used, or the sample is not of its rows.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    >>> round(hopkins(points, sample=[0, 3, 4], reference=np.array([[2.0, 2.0], [4.0, 1.0], [3.0, 5.0]])), 4)
    0.8636
    """
    data, drawn = _measurable(matrix, metric), _measurable(reference, metric, name="reference")
    rows = np.asarray(sample)
    if rows.dtype.kind not in "iu" or not rows.size or rows.min() < 0 or rows.max() >= data.shape[0]:
        raise InputError(
            "does not name rows of the matrix",
            argument="sample",
            received=sample,
            expected=f"numbers from 0 to {data.shape[0] - 1}",
        )
    if drawn.shape[1] != data.shape[1]:
        raise InputError(f"reference has {drawn.shape[1]} columns, the matrix {data.shape[1]}", remedy="give as many")
    return _hopkins(data, rows, drawn, power, metric)


def _measurable(matrix: Any, metric: Metric, *, name: str = "X") -> Any:
    """Return a checked matrix whose squared distances are numbers; the cosine does not see that rows are scaled."""
    data = check_matrix(matrix, name=name)
    if metric == "cosine":
        return within_range(data)
    values = data.data if sparse.issparse(data) else data
    if max(float(values.max(initial=0)), -float(values.min(initial=0))) > MAX_VALUE:
        raise InputError(
            f"{name} has values too large for squared distances", remedy=f"scale them to below {MAX_VALUE:g}"
        )
    return data


def _hopkins(
    matrix: Any,
    rows: npt.NDArray[Any],
    reference: Any,
    power: float | Literal["dimension"],
    metric: Metric,
) -> float:
    exponent = float(matrix.shape[1] if power == "dimension" else power)
    within = nearest_distances(matrix[rows], matrix, metric=metric, own_rows=rows)
    beyond = nearest_distances(reference, matrix, metric=metric)
    log_within, log_beyond = _log_power_sum(within, exponent), _log_power_sum(beyond, exponent)
    if math.isinf(log_within) and math.isinf(log_beyond):
        return math.nan
    return float(1 / (1 + math.exp(min(700.0, log_within - log_beyond)))) if not math.isinf(log_beyond) else 0.0


def _log_power_sum(distances: npt.NDArray[np.float64], exponent: float) -> float:
    positive = distances[distances > 0]
    return float(logsumexp(exponent * np.log(positive))) if positive.size else -math.inf


def hopkins_test(
    matrix: Any,
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

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms), unit or zero rows for "cosine"
    sample_size : int
        Points per subsample; by default a tenth of the documents, 1,000 at most.
    """
    data = _measurable(matrix, metric)
    rng = as_generator(random_state)
    size = (
        min(1000, max(1, data.shape[0] // 10))
        if sample_size is None
        else check_positive_int(sample_size, "sample_size")
    )
    if size > data.shape[0]:
        raise InputError(
            f"exceeds the {data.shape[0]} documents", argument="sample_size", received=size, expected="a smaller one"
        )
    if data.shape[0] < 3:
        raise InputError(f"{data.shape[0]} document(s) are too few for the Hopkins statistic", remedy="give at least 3")

    def statistic(points: Any, reference: Any) -> float:
        sample = rng.choice(points.shape[0], size, replace=False)
        drawn = rng.choice(reference.shape[0], size, replace=False)
        return _hopkins(points, sample, reference[drawn], power, metric)

    found = _beside_null(statistic, data, null, n_samples, rng, keep_unit_rows=metric == "cosine")
    return Tendency("hopkins", *found, f"exponent {power}, {size} points per sample, null {null!r}")


def _beside_null(
    statistic: Callable[[Any, Any], float],
    data: Any,
    null: NullModel,
    n_samples: int,
    rng: np.random.Generator,
    *,
    keep_unit_rows: bool,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return a statistic of the data against each reference sample, and of one more sample in their place."""
    values, null_values = np.empty(n_samples), np.empty(n_samples)
    for draw in range(n_samples):
        reference = sample_null(data, model=null, random_state=rng, keep_unit_rows=keep_unit_rows)
        other = sample_null(data, model=null, random_state=rng, keep_unit_rows=keep_unit_rows)
        values[draw], null_values[draw] = statistic(data, reference), statistic(other, reference)
    return values, null_values


def cell_counts(points: npt.ArrayLike, *, low: npt.ArrayLike, high: npt.ArrayLike, bins: int) -> npt.NDArray[Any]:
    """Return how many points lie in each cell of a grid with `bins` equal bins in each dimension, one axis for each.

    The right edge belongs to the last bin.

    Raises InputError if the grid has more than 10,000,000 cells (bins to the power of the dimensions).
    """
    dimensions = np.shape(points)[1]
    if bins**dimensions > MAX_CELLS:
        raise InputError(
            f"{bins} bins in {dimensions} dimensions are {bins}^{dimensions} cells, over the limit of {MAX_CELLS:,}",
            remedy=("use fewer bins, or reduce the data to fewer dimensions (", Argument("n_components"), ")"),
        )
    edges = list(zip(np.asarray(low, np.float64), np.asarray(high, np.float64), strict=True))
    return np.histogramdd(np.asarray(points, np.float64), bins=bins, range=edges)[0]


def kl_divergence(f: npt.ArrayLike, g: npt.ArrayLike, *, zero: ZeroCells = "smooth", base: float = 2.0) -> float:
    """Return KL(f|g) = sum f log(f/g) of two histograms of counts over the same cells (eq. 17.31).

    `zero`: what to do where g is empty and f is not: add 1/2 to every cell of both; leave such cells out (as the book's
    finite printed values need); or the literal infinity.

    >>> round(kl_divergence([4, 0, 3, 3], [2, 2, 6, 0], zero="skip"), 12)
    0.1
    """
    counts, reference = np.asarray(f, dtype=np.float64), np.asarray(g, dtype=np.float64)
    if check_choice(zero, get_args(ZeroCells), "zero") == "smooth":
        counts, reference = counts + 0.5, reference + 0.5
    p, q = counts / counts.sum(), reference / reference.sum()
    used = p > 0
    if np.any(used & (q == 0)):
        if zero == "inf":
            return math.inf
        used &= q > 0
    return float(np.sum(p[used] * np.log(p[used] / q[used])) / math.log(base))


def spatial_histogram_test(
    matrix: Any,
    *,
    bins: int = 5,
    n_samples: int = 100,
    n_components: int | None = None,
    zero: ZeroCells = "smooth",
    base: float = 2.0,
    random_state: RandomState = None,
) -> Tendency:
    """Return the KL divergence of the data's cell histogram from those of uniform samples in the data's box.

    The book's example 17.11 is ``bins=5, n_samples=500, zero="skip"`` on the two Iris components. Sparse or wide data
    are first reduced to `n_components` (2 by default) by a truncated SVD.
    """
    rng = as_generator(random_state)
    points = _reduced(check_matrix(matrix), n_components, rng)
    low, high = column_ranges(points)

    def divergence(data: npt.NDArray[np.float64], reference: npt.NDArray[np.float64]) -> float:
        f, g = (cell_counts(each, low=low, high=high, bins=bins).ravel() for each in (data, reference))
        return kl_divergence(f, g, zero=zero, base=base)

    values, null_values = _beside_null(divergence, points, "uniform", n_samples, rng, keep_unit_rows=False)
    infinite = int(np.isinf(values).sum())
    note = f"{bins} bins in {points.shape[1]} dimensions, empty cells: {zero}"
    return Tendency("spatial_kl", values, null_values, note + (f", {infinite} samples infinite" if infinite else ""))


def _reduced(matrix: Any, n_components: int | None, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    if not sparse.issparse(matrix) and n_components is None and matrix.shape[1] <= 5:
        return np.asarray(matrix, dtype=np.float64)
    from sklearn.decomposition import TruncatedSVD  # only this test needs it

    size = min(n_components or 2, min(matrix.shape) - 1)
    if size < 1:
        raise InputError("the data are too small for a truncated SVD", remedy="give at least 2 documents and 2 terms")
    seed = int(rng.integers(2**31))
    low, high = column_ranges(matrix)
    if np.array_equal(low, high):  # all documents are one point, and the ratios of variances 0 / 0
        return np.zeros((matrix.shape[0], size))
    return np.asarray(TruncatedSVD(size, random_state=seed).fit_transform(matrix), dtype=np.float64)


def distance_distribution_test(
    matrix: Any,
    *,
    bins: int = 25,
    n_samples: int = 20,
    shared_bins: bool = True,
    null: NullModel = "deal",
    metric: Metric = "cosine",
    zero: ZeroCells = "smooth",
    base: float = 2.0,
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

    def divergence(points: Any, reference: Any) -> float:
        ranges = [pair_distance_range(each, metric=metric) for each in (points, reference)]
        if shared_bins:
            ranges = [(0.0, max(high for _, high in ranges))] * 2
        edges = [np.linspace(low, high if high > low else low + 1, bins + 1) for low, high in ranges]
        f = pair_distance_histogram(points, edges[0], metric=metric)
        g = pair_distance_histogram(reference, edges[1], metric=metric)
        return kl_divergence(f, g, zero=zero, base=base)

    found = _beside_null(divergence, data, null, n_samples, rng, keep_unit_rows=metric == "cosine")
    note = f"{bins} bins on {'a common range' if shared_bins else 'own ranges'}, null {null!r}, empty bins: {zero}"
    return Tendency("distance_kl", *found, note)


def tendency_tests(
    matrix: Any, *, max_documents: int = 1000, random_state: RandomState = None, progress: Progress = silent
) -> list[Tendency]:
    """Return all three tests with the defaults for sparse text, on a random sample of at most `max_documents`.

    The sample bounds the cost: distances are between all pairs. The notes say so where it was drawn.

    Raises
    ------
    InputError
        If there are fewer than 3 documents or fewer than 2 terms.
    """
    rng = as_generator(random_state)
    data = check_matrix(matrix)
    n_documents = data.shape[0]
    seen = ""
    if n_documents > check_positive_int(max_documents, "max_documents"):
        data = data[np.sort(rng.choice(n_documents, max_documents, replace=False))]
        seen = f", a random sample of {max_documents:,} of {n_documents:,} documents"
    data = unit_rows(data, warn=False)
    tests: tuple[Callable[[], Tendency], ...] = (
        lambda: hopkins_test(data, n_samples=39, random_state=rng),
        lambda: distance_distribution_test(data, n_samples=19, random_state=rng),
        lambda: spatial_histogram_test(data, n_samples=99, random_state=rng),
    )
    found = []
    for number, test in enumerate(tests, start=1):
        result = test()
        found.append(replace(result, note=result.note + seen))
        progress("tendency", number, len(tests))
    return found
