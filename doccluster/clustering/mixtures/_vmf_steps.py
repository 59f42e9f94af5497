"""Where a von Mises-Fisher mixture starts, and the two steps of expectation maximisation, over blocks in threads.

Only the posteriors of some blocks exist at a time, never all of them. All is computed in float64, and results do not
depend on the number of threads: blocks have a size of their own, and threads share the rows of a product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, CsrArray, Flags, Floats, Integers, Matrix
from doccluster.base.blocks import row_blocks
from doccluster.clustering.k_means.spherical_k_means import SphericalKMeans
from doccluster.clustering.mixtures.vmf_functions import concentration, log_normalizer
from doccluster.errors import Argument, InputError
from doccluster.geometry.projection import times_table


def check_mixture_init(init: object, n_documents: int, n_clusters: int) -> None:
    """Raise InputError unless `init` is a known word or one label 0..n_clusters-1 for each document."""
    if isinstance(init, str):
        if init not in ("k-means", "random"):
            raise InputError(
                "is unknown", argument="init", received=init, expected="'k-means', 'random' or an array of labels"
            )
        return
    labels = np.asarray(init)
    if labels.shape != (n_documents,) or labels.dtype.kind not in "iu":
        raise InputError(
            f"has shape {labels.shape} and type {labels.dtype}",
            argument="init",
            expected=f"one whole number for each of {n_documents} documents",
        )
    if labels.min() < 0 or labels.max() >= n_clusters:
        raise InputError(
            f"has labels {labels.min()}..{labels.max()}",
            argument="init",
            remedy=(f"give labels in 0..{n_clusters - 1}, or change ", Argument("n_clusters")),
        )


def seed_labels(
    rows: Matrix, n_clusters: int, init: object, generator: np.random.Generator, n_threads: int | None
) -> Integers:
    """Return one label per document to start from; fewer than `n_clusters` occur if there are fewer distinct rows."""
    if not isinstance(init, str):
        return np.asarray(init, dtype=np.int64)
    model = SphericalKMeans(
        n_clusters,
        init="random" if init == "random" else "k-means++",
        max_iter=1 if init == "random" else 300,
        n_init=1,
        random_state=generator,
        n_threads=n_threads,
    )
    return model.fit(rows).labels_.astype(np.int64)


BLOCK_SHARES = 2**20  # posterior probabilities held at a time: 8 MiB, and three times that while they are made
SERIAL_WORK = 2_000_000  # multiplications below which starting threads costs more than it gains
LOWEST_POWER = -700.0  # exp of less than this is not a normal number


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """The parameters of a mixture."""

    means: Floats  # of shape (n_terms, n_clusters): the mean directions, one column each
    kappas: Floats  # of shape (n_clusters,)
    weights: Floats  # of shape (n_clusters,)

    @property
    def offsets(self) -> Floats:
        """Log weight plus log normaliser of each cluster; -inf where the weight is zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(log_normalizer(self.means.shape[0], self.kappas) + np.log(self.weights))


@dataclass(frozen=True, eq=False)
class Expectation:
    """The result of one pass over the documents.

    `log_densities`, `entropies`: float64 arrays of shape (n_documents,), nan for rows without values.
    """

    labels: npt.NDArray[np.int32]  # of shape (n_documents,)
    log_densities: Floats
    entropies: Floats
    sums: Floats  # of shape (n_terms, n_clusters): rows times posteriors; without rows where they were not asked for
    masses: Floats  # of shape (n_clusters,): sums of posteriors

    @property
    def log_likelihood(self) -> float:
        """The sum of the log densities of the documents that have terms."""
        return float(np.nansum(self.log_densities))


@dataclass(frozen=True, eq=False)
class UnitRows:
    """A block of unit rows without stored zeros, csr array of float64, also by term, its places, and their type."""

    places: slice
    rows: CsrArray
    by_term: CsrArray
    given_type: npt.DTypeLike

    @property
    def is_empty(self) -> Flags:
        """Whether each row has no value."""
        return np.asarray(np.diff(self.rows.indptr) == 0)


def unit_blocks(matrix: Matrix, n_clusters: int) -> list[UnitRows]:
    """Return unit rows, csr or dense, in the blocks that are worked on together for this many clusters."""
    rows = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    rows.eliminate_zeros()
    blocks = row_blocks(rows.shape[0], max(1, BLOCK_SHARES // n_clusters))
    parts = [sparse.csr_array(rows[block]) for block in blocks]
    return [UnitRows(at, part, sparse.csr_array(part.T), matrix.dtype) for at, part in zip(blocks, parts, strict=True)]


def expect(
    documents: list[UnitRows],
    parameters: MixtureParameters,
    *,
    is_hard: bool = False,
    with_sums: bool = True,
    shares: Floats | None = None,
    n_threads: int = 1,
) -> Expectation:
    """Return labels, densities and entropies of documents, and the sums that the next step needs.

    With `is_hard` each row goes to its most probable cluster as a whole. Posteriors are written into `shares`.
    """
    expectation = _nothing_found(documents, parameters.kappas.size, with_sums=with_sums)
    offsets = parameters.offsets
    for block in documents:
        scores = _product(block.rows, parameters.means, n_threads)
        block_shares, labels, densities, entropies = _posteriors(
            scores, parameters.kappas, offsets, block.is_empty, is_hard=is_hard
        )
        expectation.labels[block.places] = labels
        expectation.log_densities[block.places], expectation.entropies[block.places] = densities, entropies
        if shares is not None:
            shares[block.places] = block_shares
        if with_sums:
            _add(expectation, block, block_shares, n_threads)
    return expectation


def expect_labels(
    documents: list[UnitRows], labels: AnyIntegers, n_clusters: int, *, n_threads: int = 1
) -> Expectation:
    """Return the sums of given clusters, as if each document belonged to its own with certainty."""
    expectation = _nothing_found(documents, n_clusters, with_sums=True)
    for block in documents:
        certain = np.where(block.is_empty, -1, labels[block.places])
        _add(expectation, block, (certain[:, None] == np.arange(n_clusters)).astype(np.float64), n_threads)
    return expectation


def _nothing_found(documents: list[UnitRows], n_clusters: int, *, with_sums: bool) -> Expectation:
    n, n_terms = documents[-1].places.stop, documents[0].rows.shape[1]
    sums = np.zeros((n_terms if with_sums else 0, n_clusters))
    return Expectation(np.empty(n, np.int32), np.full(n, np.nan), np.full(n, np.nan), sums, np.zeros(n_clusters))


def _product(rows: CsrArray, table: Floats, n_threads: int) -> Floats:
    return times_table(rows, table, n_threads if rows.nnz * table.shape[1] > SERIAL_WORK else 1)


def _add(expectation: Expectation, block: UnitRows, shares: Floats, n_threads: int) -> None:
    """Add a block of rows to the sums."""
    expectation.sums[:] += _product(block.by_term, shares, n_threads)
    expectation.masses[:] += shares.sum(axis=0)


def _posteriors(
    scores: Floats, kappas: Floats, offsets: Floats, is_empty: Flags, *, is_hard: bool
) -> tuple[Floats, npt.NDArray[np.int32], Floats, Floats]:
    """Return posteriors, labels, log densities and entropies of some rows, from their products with the means."""
    scores *= kappas
    scores += offsets
    labels = scores.argmax(axis=1).astype(np.int32)
    every = np.arange(labels.size)
    top = scores[every, labels]
    scores -= top[:, None]
    np.maximum(scores, LOWEST_POWER, out=scores)
    shares = np.exp(scores)
    total = shares.sum(axis=1)
    log_total = np.log(total)
    entropies = np.maximum(log_total - np.einsum("ij,ij->i", shares, scores) / total, 0.0)
    densities = top if is_hard else top + log_total
    if is_hard:
        shares[:] = 0.0
        shares[every, labels] = 1.0
    else:
        shares /= total[:, None]
    shares[is_empty], labels[is_empty], densities[is_empty], entropies[is_empty] = 0.0, -1, np.nan, np.nan
    return shares, labels, densities, entropies


def maximize(
    expectation: Expectation,
    *,
    concentration_rule: str | float,
    largest: float,
    before: MixtureParameters | None,
    dtype: npt.DTypeLike = np.float64,
) -> MixtureParameters:
    """Return the parameters that make the expected log-likelihood largest.

    Banerjee et al. (2005), Eq. 3.9 to 3.12: weights are mean posteriors, directions the normalised sums, and A_d(kappa)
    the length of the sum over the mass, by cluster or, when shared, over all clusters. A cluster without mass or
    direction keeps the direction it had. Directions are rounded to `dtype`, in which they are handed out.
    """
    lengths = np.sqrt(np.einsum("tj,tj->j", expectation.sums, expectation.sums))
    alive = (expectation.masses > 0) & (lengths > 0)
    means = (expectation.sums / np.where(alive, lengths, 1.0)).astype(dtype).astype(np.float64)
    if before is not None and not alive.all():
        means[:, ~alive] = before.means[:, ~alive]
    kappas = _concentrations(means.shape[0], lengths, expectation.masses, concentration_rule, largest)
    return MixtureParameters(means, kappas, expectation.masses / expectation.masses.sum())


def _concentrations(
    n_terms: int, lengths: Floats, masses: Floats, concentration_rule: str | float, largest: float
) -> Floats:
    if not isinstance(concentration_rule, str):
        return np.full(lengths.size, float(concentration_rule))
    if concentration_rule == "shared":
        return np.full(lengths.size, concentration(n_terms, lengths.sum() / masses.sum(), largest))
    resultants = np.divide(lengths, masses, out=np.zeros_like(lengths), where=masses > 0)
    return np.asarray(concentration(n_terms, resultants, largest))
