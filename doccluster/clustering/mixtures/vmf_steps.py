"""The two steps of expectation maximisation for a von Mises-Fisher mixture, over blocks of documents in threads.

Only the posteriors of some blocks exist at a time, never all of them. Posteriors and densities are computed in float64;
where the documents are float32, their posteriors are rounded likewise in the weighted sums, which add up in float64.
Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.blocks import row_blocks, share_blocks
from doccluster.clustering.mixtures.vmf_documents import UnitDocuments
from doccluster.kernels.simd.lanes import WIDE_LINE, aligned_zeros
from doccluster.kernels.vmf import concentration, log_normalizers
from doccluster.kernels.vmf_mixture import Densities, Posteriors, add_rows, posteriors

Floats = npt.NDArray[np.float64]

_ROWS_PER_TASK = 1024


def lanes_for(n_clusters: int) -> int:
    """Return the number of clusters rounded up to whole cache lines of float64."""
    return -(-n_clusters // WIDE_LINE) * WIDE_LINE


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """The parameters of a mixture.

    Attributes
    ----------
    table : float array of shape (n_terms, n_lanes)
        The mean directions, one column each, in the type of the documents; columns beyond the clusters are zero.
    kappas : float64 array of shape (n_clusters,)
    weights : float64 array of shape (n_clusters,), which sums to one
    """

    table: npt.NDArray[Any]
    kappas: Floats
    weights: Floats

    @classmethod
    def of(cls, means: npt.NDArray[Any], kappas: Floats, weights: Floats) -> MixtureParameters:
        """Return the parameters with these mean directions, the columns of an array of shape (n_terms, n_clusters)."""
        table = aligned_zeros((means.shape[0], lanes_for(means.shape[1])), means.dtype)
        table[:, : means.shape[1]] = means
        return cls(table, kappas, weights)

    @property
    def means(self) -> npt.NDArray[Any]:
        """The mean directions, array of shape (n_terms, n_clusters)."""
        return self.table[:, : self.kappas.size]

    @property
    def lane_kappas(self) -> Floats:
        """The concentration of each lane, zero beyond the clusters."""
        kappas = np.zeros(self.table.shape[1])
        kappas[: self.kappas.size] = self.kappas
        return kappas

    @property
    def lane_offsets(self) -> Floats:
        """Log weight plus log normaliser of each lane; -inf where the weight is zero, and beyond the clusters."""
        logs = np.empty_like(self.kappas)
        log_normalizers(self.table.shape[0], self.kappas, logs)
        alive = self.weights > 0
        offsets = np.full(self.table.shape[1], -np.inf)
        offsets[: self.kappas.size][alive] = logs[alive] + np.log(self.weights[alive])
        return offsets


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
    found = _Found.for_documents(documents.n_documents)
    sums = _Sums.zero(documents, parameters.kappas.size)
    for block in _posterior_blocks(documents, parameters, found, is_hard=is_hard, dtype=documents.rows.data.dtype):
        sums.add(documents, *block)
    return sums.found(found.labels, found.log_densities, found.entropies)


def expect_only(
    documents: UnitDocuments, parameters: MixtureParameters, *, shares: Floats | None = None, is_hard: bool = False
) -> Expectation:
    """Return posteriors without the sums (which are empty); all of them are written into `shares` if it is given."""
    k = parameters.kappas.size
    found = _Found.for_documents(documents.n_documents)
    for rows, block, _ in _posterior_blocks(documents, parameters, found, is_hard=is_hard, dtype=np.float64):
        if shares is not None:
            shares[rows] = block[:, :k]
    return Expectation(found.labels, found.log_densities, found.entropies, np.empty((0, k)), np.empty(0))


def expect_labels(documents: UnitDocuments, labels: npt.NDArray[Any], n_clusters: int) -> Expectation:
    """Return the sums of given clusters, as if each document belonged to its own with certainty."""
    unknown = np.full(documents.n_documents, np.nan)
    sums = _Sums.zero(documents, n_clusters)
    certain = np.where(documents.is_empty, -1, labels)
    lanes = np.arange(sums.lane_masses.size)
    for rows in documents.blocks(lanes.size):
        shares = (certain[rows, None] == lanes).astype(documents.rows.data.dtype)
        sums.add(documents, rows, shares, shares.sum(axis=0, dtype=np.float64))
    return sums.found(labels.astype(np.int32), unknown, unknown)


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
    table = aligned_zeros((n_terms, lanes_for(lengths.size)), dtype)
    means = table[:, : lengths.size]
    np.divide(found.sums, np.where(alive, lengths, 1.0), out=means, casting="same_kind")
    if before is not None and not alive.all():
        means[:, ~alive] = before.means[:, ~alive]
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


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of rows times posteriors and of posteriors, with lanes beyond the clusters."""

    table: Floats
    lane_masses: Floats
    n_clusters: int

    @classmethod
    def zero(cls, documents: UnitDocuments, n_clusters: int) -> _Sums:
        n_lanes = lanes_for(n_clusters)
        return cls(aligned_zeros((documents.n_terms, n_lanes), np.float64), np.zeros(n_lanes), n_clusters)

    def add(self, documents: UnitDocuments, rows: slice, shares: npt.NDArray[Any], masses: Floats) -> None:
        """Add a block of rows, each thread to some clusters."""
        block, n_lanes = documents.rows.block(rows), masses.size
        np.add(self.lane_masses, masses, out=self.lane_masses)

        def one(lanes: slice) -> None:
            add_rows(block, shares, lanes.start, lanes.stop, self.table)

        n_threads = documents.threads_for(n_lanes)
        lines = row_blocks(n_lanes, WIDE_LINE * -(-(n_lanes // WIDE_LINE) // n_threads))
        share_blocks(one, lines, n_threads=n_threads)

    def found(self, labels: npt.NDArray[np.int32], log_densities: Floats, entropies: Floats) -> Expectation:
        """Return them with what else a pass found."""
        k = self.n_clusters
        return Expectation(labels, log_densities, entropies, self.table[:, :k], self.lane_masses[:k])


@dataclass(frozen=True, eq=False)
class _Found:
    """What is known of each document after a pass, as `Expectation` has it."""

    labels: npt.NDArray[np.int32]
    log_densities: Floats
    entropies: Floats

    @classmethod
    def for_documents(cls, n_documents: int) -> _Found:
        return cls(np.empty(n_documents, np.int32), np.empty(n_documents), np.empty(n_documents))


def _posterior_blocks(
    documents: UnitDocuments, parameters: MixtureParameters, found: _Found, *, is_hard: bool, dtype: Any
) -> Iterator[tuple[slice, npt.NDArray[Any], Floats]]:
    """Yield each block with its posteriors, in an array of this type that is used again, and their sums."""
    densities = Densities(parameters.table, parameters.lane_kappas, parameters.lane_offsets)
    n_lanes = densities.kappas.size
    blocks = documents.blocks(n_lanes)
    store = aligned_zeros((blocks[0].stop, n_lanes), dtype)  # no later block has more rows
    for block in blocks:

        def one(part: slice, first: int = block.start) -> Floats:
            rows = slice(first + part.start, first + part.stop)
            written = Posteriors(store[part], found.labels[rows], found.log_densities[rows], found.entropies[rows])
            masses: Floats = posteriors(documents.rows.block(rows), densities, is_hard, written)
            return masses

        n_rows = block.stop - block.start
        masses = share_blocks(one, row_blocks(n_rows, _ROWS_PER_TASK), n_threads=documents.threads_for(n_lanes))
        yield block, store[:n_rows], np.sum(masses, axis=0)
