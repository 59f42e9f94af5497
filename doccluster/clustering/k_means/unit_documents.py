"""Documents as spherical k-means reads them: unit float32 rows and their weights, which all starts share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Flags, Floats, Integers, SingleFloats
from doccluster.base.blocks import Item, Result, row_blocks, share_blocks
from doccluster.base.sparse_structure import Csr
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.errors import InputError
from doccluster.geometry.documents import Documents, TermMatrix

BLOCK_ROWS = 2**15  # rows that a kernel is given at a time, at most: Ctrl-C waits for a kernel to return
BLOCKS_PER_THREAD, MIN_ROWS = 4, 1024  # so that threads that are done early find another block, worth a call
SERIAL_WORK = 4_000_000  # multiplications below which starting threads costs more than it gains
MIXER = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose products spread over all bits
FINEST_WEIGHT = 2.0**-8  # sums stay exact where weights are multiples of it
INTEGERS_OF_FLOAT64 = 2.0**53
LARGEST_WEIGHT = 1e100  # the squares of sums of weights are taken in float64, where they would overflow or vanish
SLACK = 1.001  # what rounding of a sum of all documents may hide


@dataclass(frozen=True, eq=False)
class UnitDocuments(TermMatrix):
    """Unit rows, their weights, and how many threads work on them; `unit_documents` makes them."""

    matrix: sparse.csr_array  # float32, of shape (n_documents, n_terms), the columns of each row ascending
    weights: Floats  # of shape (n_documents,)
    n_threads: int = 1

    @property
    def n_entries(self) -> int:
        """The number of values."""
        return int(self.matrix.data.size)

    @cached_property
    def rows(self) -> Csr:
        """The rows as kernels take them."""
        return Csr.of(self.matrix)

    @cached_property
    def frequencies(self) -> Integers:
        """How many entries each column has."""
        return np.bincount(self.matrix.indices, minlength=self.n_terms)

    @property
    def usable(self) -> Integers:
        """The rows with a direction and a weight, ascending."""
        return np.flatnonzero(self.is_usable)

    @cached_property
    def has_value(self) -> Flags:
        """Whether each row has a value but 0."""
        starts, values = self.rows.indptr, self.matrix.data
        has_value = np.diff(starts) > 0
        if not np.all(values):
            has_value[has_value] = np.logical_or.reduceat(values != 0, starts[:-1][has_value])
        return has_value

    @cached_property
    def is_usable(self) -> Flags:
        """Whether each row has a direction and a weight: only such rows found or keep a cluster."""
        return self.has_value & (self.weights > 0)

    @cached_property
    def digests(self) -> npt.NDArray[np.uint64]:
        """A number for each row that only equal rows share, -0 being 0; uint64 array of shape (n_documents,).

        Column and value of an entry are mixed into 64 bits, and those of a row added up.
        """
        starts, columns, values = self.rows
        mixed = (columns.astype(np.uint64) << np.uint64(32) | values.view(np.uint32)) * MIXER
        mixed = np.append(np.where(values != 0, (mixed ^ mixed >> np.uint64(29)) * MIXER, 0), np.uint64(0))
        return np.where(np.diff(starts) > 0, np.add.reduceat(mixed, starts[:-1]), np.uint64(0))

    @cached_property
    def dense(self) -> SingleFloats | None:
        """The values as a table of documents by terms, not copied; None where a row lacks a value, as in most text."""
        if self.n_entries != self.n_documents * self.n_terms:
            return None
        return np.reshape(self.matrix.data, self.matrix.shape)

    @cached_property
    def is_positive(self) -> bool:
        """Whether no value is below zero."""
        return bool(self.matrix.data.min(initial=0) >= 0)

    @cached_property
    def has_exact_sums(self) -> bool:
        """Whether the sum of any rows is exact in float64: no order counts, and rows can be taken away again.

        float64 counts 2^53 steps without loss.
        """
        return not np.any(self.weights % FINEST_WEIGHT) and self.largest_sum < INTEGERS_OF_FLOAT64 * self.smallest_step

    @cached_property
    def smallest_step(self) -> float:
        """What all weighted values are whole multiples of, if the weights are multiples of `FINEST_WEIGHT`.

        float32 values are whole multiples of the last place of the smallest.
        """
        sizes = self.matrix.data if self.is_positive else np.abs(self.matrix.data)
        smallest = min(np.min(sizes if np.all(sizes) else sizes[sizes > 0], initial=1), 1)
        return float(np.spacing(smallest)) * (1.0 if np.all(self.weights == 1) else FINEST_WEIGHT)

    @cached_property
    def largest_sum(self) -> float:
        """What no sum of weighted values exceeds, at least 1; the sum of a column where this says too much."""
        data = self.matrix.data
        largest_value = float(max(data.max(initial=0), -data.min(initial=0))) * float(self.weights.max(initial=0))
        largest = float(self.frequencies.max(initial=0)) * largest_value
        if largest >= INTEGERS_OF_FLOAT64 * self.smallest_step:
            sizes = self.matrix if self.is_positive else abs(self.matrix)
            largest = float((sizes.T @ self.weights).max(initial=0)) * SLACK
        return max(1.0, largest)

    def take(self, rows: Integers) -> UnitDocuments:
        """Return some of the documents."""
        return replace(self, matrix=sparse.csr_array(self.matrix[rows]), weights=self.weights[rows])

    def whole(self) -> UnitDocuments:
        """Return all of the documents, as `SeedSource` wants them: those in blocks on disk are fetched for it."""
        return self

    def are_multiplied(self, places: TermPlaces) -> bool:
        """Whether rows without zeros are multiplied with a table by a library of linear algebra, not swept."""
        return self.dense is not None and not places.n_rare

    def have_short_cells(self, places: TermPlaces) -> bool:
        """Whether a table for these documents has cells of 16 bits, if its own values are not negative either."""
        return self.is_positive and not self.are_multiplied(places)

    @cached_property
    def blocks(self) -> list[slice]:
        """The blocks of rows that kernels are given; no result depends on them."""
        if self.n_threads == 1:
            return row_blocks(self.n_documents, BLOCK_ROWS)
        even = -(-self.n_documents // (BLOCKS_PER_THREAD * self.n_threads))
        return row_blocks(self.n_documents, min(max(even, MIN_ROWS), BLOCK_ROWS))

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        """Threads that live as long as the documents: an iteration is too short to start them again for each step."""
        return ThreadPoolExecutor(max_workers=self.n_threads, thread_name_prefix="doccluster")

    def share(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, multiplications: float
    ) -> list[Result]:
        """Return `function(item)` for each item, in threads if that many multiplications are worth them."""
        n_threads = self.n_threads if multiplications > SERIAL_WORK else 1
        return share_blocks(function, items, n_threads=n_threads, pool=self._pool if n_threads > 1 else None)


def unit_documents(documents: Documents, *, weights: Floats | None = None, n_threads: int = 1) -> UnitDocuments:
    """Return documents ready for the iterations; unit float32 csr rows are not copied."""
    weights = np.ones(documents.n_documents) if weights is None else weights
    return UnitDocuments(unit_rows_of(documents), weights, n_threads)


def unit_rows_of(documents: Documents) -> sparse.csr_array:
    """Return the unit rows of `Documents` as float32 (zero rows stay zero), csr; without a copy where they are that."""
    matrix = documents.in_range
    if not documents.is_sparse:
        matrix = (matrix * documents.unit_scale[:, None]).astype(np.float32)
        if not np.all(matrix):
            return sparse.csr_array(matrix)
        n_rows, n_terms = matrix.shape
        starts = np.arange(n_rows + 1, dtype=np.int64) * n_terms
        columns = np.tile(np.arange(n_terms, dtype=np.int32), n_rows)
        return sparse.csr_array((matrix.ravel(), columns, starts), shape=matrix.shape)
    values = matrix.data
    if not documents.has_unit_rows:
        values = values * np.repeat(documents.unit_scale, np.diff(matrix.indptr))
    return sparse.csr_array((values.astype(np.float32, copy=False), matrix.indices, matrix.indptr), shape=matrix.shape)


def check_weights(sample_weight: npt.ArrayLike | None, n_documents: int) -> Floats:
    """Return one weight for each document, or raise InputError."""
    if sample_weight is None:
        return np.ones(n_documents)
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"is not numeric ({error})", argument="sample_weight", expected="numbers >= 0") from error
    if weights.ndim == 0:
        weights = np.full(n_documents, float(weights))
    if weights.shape != (n_documents,):
        raise InputError(
            f"has shape {weights.shape}",
            argument="sample_weight",
            expected=f"shape ({n_documents},): one for each row of X",
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("has negative or non-finite values", argument="sample_weight", expected="numbers >= 0")
    if np.any((weights > 0) & ((weights < 1 / LARGEST_WEIGHT) | (weights > LARGEST_WEIGHT))):
        raise InputError(
            "has positive values outside 1e-100..1e100",
            argument="sample_weight",
            remedy="divide all weights by the largest",
        )
    return weights
