"""The two steps of expectation maximisation for a von Mises-Fisher mixture, over blocks of documents in threads.

Only one block of posteriors exists at a time, never all of them. Within a block the documents are divided among threads
for the posteriors and the clusters for the sums, and every sum runs over the documents in order, so results do not
depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import map_blocks, row_blocks
from doccluster.kernels.vmf import concentration, log_normalizers
from doccluster.kernels.vmf_mixture import add_by_term, add_weighted_rows, posteriors

Floats = npt.NDArray[np.float64]

_BLOCK_SHARES = 2**22  # posterior probabilities held at a time: 32 MiB
_ROWS_PER_TASK = 1024
_CLUSTERS_PER_TASK = 8  # 64 bytes of the sums of one term: threads then write to different cache lines
_TERMS_PER_TASK = 2048
_MANY_SHARES = 0.25  # of the posteriors of a block: above it, adding by term is quicker
_SERIAL_WORK = 2_000_000  # multiplications below which starting threads costs more than it gains


@dataclass(frozen=True, eq=False)
class UnitDocuments:
    """Unit rows as the kernels read them: csr arrays, float32 or float64 values, int32 columns, int64 starts.

    Columns may be renumbered so that the commonest come first: the tables are then mostly read where they are cached.
    """

    values: npt.NDArray[Any]
    columns: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    n_terms: int
    n_threads: int

    @classmethod
    def from_matrix(cls, matrix: Any, *, n_threads: int, order: npt.NDArray[np.int64] | None = None) -> UnitDocuments:
        """Return a checked matrix of unit or zero rows, dense or csr, without its stored zeros.

        Column `order[c]` of the matrix becomes column c.
        """
        rows = sparse.csr_array(matrix)
        if (rows.data == 0).any():
            rows = rows.copy()
            rows.eliminate_zeros()
        columns = rows.indices.astype(np.int32, copy=False)
        if order is not None:
            rank = np.empty(order.size, np.int32)
            rank[order] = np.arange(order.size, dtype=np.int32)
            rows = sparse.csr_array((rows.data, rank[columns], rows.indptr), shape=rows.shape, copy=True)
            rows.sort_indices()
            columns = rows.indices
        return cls(rows.data, columns, rows.indptr.astype(np.int64), rows.shape[1], n_threads)

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return int(self.starts.size - 1)

    @property
    def is_empty(self) -> npt.NDArray[np.bool_]:
        """Whether each row has no value, bool array of shape (n_documents,)."""
        empty: npt.NDArray[np.bool_] = np.diff(self.starts) == 0
        return empty

    def threads_for(self, n_clusters: int) -> int:
        """Return how many threads one pass over these documents is worth."""
        return self.n_threads if self.values.size * n_clusters > _SERIAL_WORK else 1


def frequency_order(matrix: Any) -> npt.NDArray[np.int64]:
    """Return the columns of a csr or dense matrix, those with most values first, the lower first among equals."""
    counts = (
        np.bincount(matrix.indices, minlength=matrix.shape[1])
        if sparse.issparse(matrix)
        else np.count_nonzero(matrix, axis=0)
    )
    return np.argsort(-counts, kind="stable")


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """The parameters of a mixture.

    Attributes
    ----------
    table : float array of shape (n_terms, n_clusters)
        The mean directions, one column each, in the type of the documents.
    kappas : float64 array of shape (n_clusters,)
    weights : float64 array of shape (n_clusters,), which sums to one
    """

    table: npt.NDArray[Any]
    kappas: Floats
    weights: Floats

    @property
    def offsets(self) -> Floats:
        """Log weight plus log normaliser of each cluster; -inf where the weight is zero."""
        logs = np.empty_like(self.kappas)
        log_normalizers(self.table.shape[0], self.kappas, logs)
        return logs + np.log(self.weights, out=np.full_like(logs, -np.inf), where=self.weights > 0)


@dataclass(frozen=True, eq=False)
class Expectation:
    """What one pass over the documents found.

    Attributes
    ----------
    labels : int32 array of shape (n_documents,), -1 for rows without values
    log_densities, entropies : float64 arrays of shape (n_documents,), nan for rows without values
    sums : float64 array of shape (n_terms, n_clusters)
        Rows times posteriors.
    masses : float64 array of shape (n_clusters,)
        Sums of posteriors.
    """

    labels: npt.NDArray[np.int32]
    log_densities: Floats
    entropies: Floats
    sums: Floats
    masses: Floats

    @property
    def log_likelihood(self) -> float:
        """The sum of the log densities of the documents that have terms."""
        return float(np.nansum(self.log_densities))


def expect(documents: UnitDocuments, parameters: MixtureParameters, *, is_hard: bool) -> Expectation:
    """Return posteriors (as labels, densities and entropies) and the weighted sums that the next step needs."""
    n, k = documents.n_documents, parameters.kappas.size
    labels, log_densities, entropies = np.empty(n, np.int32), np.empty(n), np.empty(n)
    sums, masses = np.zeros((documents.n_terms, k)), np.zeros(k)
    for block, shares in _posterior_blocks(documents, parameters, is_hard, labels, log_densities, entropies):
        _add(documents, block.start, shares, sums, masses)
    return Expectation(labels, log_densities, entropies, sums, masses)


def expect_only(
    documents: UnitDocuments, parameters: MixtureParameters, *, shares: Floats | None = None, is_hard: bool = False
) -> Expectation:
    """Return posteriors without the sums (which are empty); all of them are written into `shares` if it is given."""
    n, k = documents.n_documents, parameters.kappas.size
    labels, log_densities, entropies = np.empty(n, np.int32), np.empty(n), np.empty(n)
    for block, found in _posterior_blocks(documents, parameters, is_hard, labels, log_densities, entropies):
        if shares is not None:
            shares[block] = found
    return Expectation(labels, log_densities, entropies, np.empty((0, k)), np.empty(0))


def expect_labels(documents: UnitDocuments, labels: npt.NDArray[Any], n_clusters: int) -> Expectation:
    """Return the sums of given clusters, as if each document belonged to its own with certainty."""
    n = documents.n_documents
    sums, masses = np.zeros((documents.n_terms, n_clusters)), np.zeros(n_clusters)
    for block in _blocks(n, n_clusters):
        shares = np.zeros((block.stop - block.start, n_clusters))
        filled = np.flatnonzero(~documents.is_empty[block])
        shares[filled, labels[block][filled]] = 1.0
        _add(documents, block.start, shares, sums, masses)
    return Expectation(labels.astype(np.int32), np.full(n, np.nan), np.full(n, np.nan), sums, masses)


def maximize(
    found: Expectation, *, concentration_rule: str | float, largest: float, before: MixtureParameters | None, dtype: Any
) -> MixtureParameters:
    """Return the parameters that make the expected log-likelihood largest.

    Banerjee et al. (2005), Eq. 3.9 to 3.12: weights are mean posteriors, directions the normalised sums, and A_d(kappa)
    the length of the sum over the mass, by cluster or, when shared, over all clusters. A cluster without mass or
    direction keeps the direction it had.
    """
    n_terms = found.sums.shape[0]
    lengths = np.sqrt(np.einsum("tj,tj->j", found.sums, found.sums))
    alive = (found.masses > 0) & (lengths > 0)
    table = np.empty(found.sums.shape, dtype=dtype)
    np.divide(found.sums, np.where(alive, lengths, 1.0), out=table, casting="same_kind")
    if before is not None and not alive.all():
        table[:, ~alive] = before.table[:, ~alive]
    kappas = _concentrations(n_terms, lengths, found.masses, concentration_rule, largest)
    return MixtureParameters(table, kappas, found.masses / found.masses.sum())


def _concentrations(
    n_terms: int, lengths: Floats, masses: Floats, concentration_rule: str | float, largest: float
) -> Floats:
    if not isinstance(concentration_rule, str):
        return np.full(lengths.size, float(concentration_rule))
    if concentration_rule == "shared":
        return np.full(lengths.size, concentration(n_terms, lengths.sum() / masses.sum(), largest))
    resultants = np.divide(lengths, masses, out=np.zeros_like(lengths), where=masses > 0)
    return np.array([concentration(n_terms, resultant, largest) for resultant in resultants])


def _blocks(n_documents: int, n_clusters: int) -> list[slice]:
    size = max(1, _BLOCK_SHARES // n_clusters // _ROWS_PER_TASK) * _ROWS_PER_TASK
    return row_blocks(n_documents, min(size, 16 * _ROWS_PER_TASK))


def _posterior_blocks(
    documents: UnitDocuments,
    parameters: MixtureParameters,
    is_hard: bool,
    labels: npt.NDArray[np.int32],
    log_densities: Floats,
    entropies: Floats,
) -> Any:
    """Yield each block of rows with its posteriors; the array is used again for the next block."""
    k = parameters.kappas.size
    offsets = parameters.offsets
    blocks = _blocks(documents.n_documents, k)
    store = np.empty((blocks[0].stop, k))
    for block in blocks:
        shares = store[: block.stop - block.start]

        def one(task: slice, block: slice = block, shares: Floats = shares) -> None:
            rows = slice(block.start + task.start, block.start + task.stop)
            posteriors(
                documents.values,
                documents.columns,
                documents.starts,
                rows.start,
                parameters.table,
                parameters.kappas,
                offsets,
                is_hard,
                shares[task],
                labels[rows],
                log_densities[rows],
                entropies[rows],
            )

        for _ in map_blocks(one, row_blocks(len(shares), _ROWS_PER_TASK), n_threads=documents.threads_for(k)):
            pass
        yield block, shares


def _add(documents: UnitDocuments, first: int, shares: Floats, sums: Floats, masses: Floats) -> None:
    """Add a block of rows times posteriors, the quicker way: by row if most posteriors are zero, else by term."""
    if np.count_nonzero(shares) > _MANY_SHARES * shares.size:
        _add_by_term(documents, first, shares, sums)
        masses += shares.sum(axis=0)
    else:
        _add_by_row(documents, first, shares, sums, masses)


def _add_by_row(documents: UnitDocuments, first: int, shares: Floats, sums: Floats, masses: Floats) -> None:
    """Add a block row by row, each thread to clusters of its own."""
    k = masses.size
    rows = (documents.values, documents.columns, documents.starts)

    def one(clusters: slice) -> None:
        add_weighted_rows(*rows, first, shares, clusters.start, clusters.stop, sums, masses)

    n_threads = documents.threads_for(k)
    width = -(-k // n_threads)
    width = -(-width // _CLUSTERS_PER_TASK) * _CLUSTERS_PER_TASK
    for _ in map_blocks(one, row_blocks(k, width), n_threads=n_threads):
        pass


def _add_by_term(documents: UnitDocuments, first: int, shares: Floats, sums: Floats) -> None:
    """Add a block term by term, each thread to terms of its own."""
    starts = documents.starts[first : first + len(shares) + 1]
    here = slice(int(starts[0]), int(starts[-1]))
    parts = (documents.values[here], documents.columns[here], (starts - starts[0]).astype(np.int32))
    block = sparse.csr_array(parts, shape=(len(shares), documents.n_terms)).tocsc()
    by_term = (block.data, block.indices.astype(np.int32, copy=False), block.indptr.astype(np.int64))

    def one(terms: slice) -> None:
        add_by_term(*by_term, terms.start, terms.stop, shares, sums)

    n_threads = documents.threads_for(shares.shape[1])
    for _ in map_blocks(one, row_blocks(documents.n_terms, _TERMS_PER_TASK), n_threads=n_threads):
        pass
