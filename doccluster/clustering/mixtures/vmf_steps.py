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

from doccluster.blocks import share_blocks
from doccluster.clustering.mixtures.vmf_documents import UnitDocuments
from doccluster.clustering.mixtures.vmf_sums import PosteriorBlock, WeightedSums, lanes_for
from doccluster.kernels.simd.lanes import aligned_zeros
from doccluster.kernels.vmf import concentration, log_normalizers
from doccluster.kernels.vmf_mixture import Densities, Posteriors, posteriors

Floats = npt.NDArray[np.float64]

_ROWS_PER_TASK = 1024


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
    sums = WeightedSums.zero(documents, parameters.kappas.size)
    for block in _posterior_blocks(documents, parameters, found, is_hard=is_hard, dtype=documents.rows.data.dtype):
        sums.add(documents, block)
    sums.add_certain(documents)
    return Expectation(found.labels, found.log_densities, found.entropies, sums.values, sums.masses)


def expect_only(
    documents: UnitDocuments, parameters: MixtureParameters, *, shares: Floats | None = None, is_hard: bool = False
) -> Expectation:
    """Return posteriors without the sums (which are empty); all of them are written into `shares` if it is given."""
    k = parameters.kappas.size
    found = _Found.for_documents(documents.n_documents)
    for block in _posterior_blocks(documents, parameters, found, is_hard=is_hard, dtype=np.float64):
        if shares is not None:
            shares[block.rows] = block.shares[:, :k]
    return Expectation(found.labels, found.log_densities, found.entropies, np.empty((0, k)), np.empty(0))


def expect_labels(documents: UnitDocuments, labels: npt.NDArray[Any], n_clusters: int) -> Expectation:
    """Return the sums of given clusters, as if each document belonged to its own with certainty."""
    n = documents.n_documents
    sums = WeightedSums.zero(documents, n_clusters)
    sums.certain[:] = np.where(documents.is_empty, -1, labels)
    np.add.at(sums.masses, sums.certain[sums.certain >= 0], 1.0)
    sums.add_certain(documents)
    return Expectation(labels.astype(np.int32), np.full(n, np.nan), np.full(n, np.nan), sums.values, sums.masses)


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
) -> Iterator[PosteriorBlock]:
    """Yield each block with its posteriors, in arrays of this type that are used again for later blocks.

    The posteriors of as many blocks as there is room for are computed together: threads then seldom wait for another.
    """
    densities = Densities(parameters.table, parameters.lane_kappas, parameters.lane_offsets)
    n_lanes = densities.kappas.size
    n_threads = documents.threads_for(n_lanes)
    groups = documents.groups_of_blocks(n_lanes)
    n_rows = groups[0][-1].stop  # no later group has more
    store, n_positive = aligned_zeros((n_rows, n_lanes), dtype), np.empty(n_rows, np.int32)
    for blocks in groups:
        first = blocks[0].start

        def one(rows: slice, first: int = first) -> Floats:
            here = slice(rows.start - first, rows.stop - first)
            of_rows = found.labels[rows], found.log_densities[rows], found.entropies[rows]
            written = Posteriors(store[here], n_positive[here], *of_rows)
            masses: Floats = posteriors(documents.rows.block(rows), densities, is_hard, written)
            return masses

        parts = [_parts(block) for block in blocks]
        masses = iter(share_blocks(one, [rows for of_block in parts for rows in of_block], n_threads=n_threads))
        sums = [np.sum([next(masses) for _ in of_block], axis=0) for of_block in parts]
        for block, of_block in zip(blocks, sums, strict=True):
            here = slice(block.start - first, block.stop - first)
            yield PosteriorBlock(block, store[here], n_positive[here], of_block, found.labels[block])


def _parts(rows: slice) -> list[slice]:
    """Return the tasks of a block."""
    return [slice(low, min(low + _ROWS_PER_TASK, rows.stop)) for low in range(rows.start, rows.stop, _ROWS_PER_TASK)]
