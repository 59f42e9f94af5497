"""A sparse corpus with a known truth that resembles a given one, and a table of how alike the two are.

The given corpus is clustered, and each cluster is described by how often each term occurs in its documents, how many
terms they have, and its share. The twin's documents are drawn from that, independently within a cluster, so the truth
is what they were drawn from and not an opinion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, Array, CsrArray, Floats, Integers, Matrix, SingleFloats
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import (
    RandomState,
    as_generator,
    check_matrix,
    check_n_clusters,
    check_positive_int,
    row_norms,
)
from doccluster.clustering import SphericalKMeans
from doccluster.clustering.mixtures.vmf_functions import (
    MAX_CONCENTRATION,
    block_generator,
    concentration,
    spawn_entropy,
)
from doccluster.errors import Argument, InputError, NothingUsable
from doccluster.geometry.sums import sums_by_label
from doccluster.lab.synthetic.synthetic_vectors import SyntheticVectors, row_names, seed_record
from doccluster.vectors import DocumentVectors

PATIENCE = 30  # draws per term of a document, before what is left is taken in order of weight
USUAL_DRAWS = 4  # nearly all documents need no more


_BLOCK_DOCUMENTS = 512
_CERTAIN = 0.999  # a term of every document of a cluster is drawn as if it missed one in a thousand


@dataclass(frozen=True, eq=False, repr=False)
class TermWeights(ShortRepr):
    """Terms to draw from, the heaviest first: cumulative weights, columns, and the value that each has."""

    edges: Floats
    columns: npt.NDArray[np.int32]
    values: Floats

    @classmethod
    def of(cls, weights: Floats, columns: Array, values: Floats) -> TermWeights:
        """Return the terms in descending order of weight, those without weight left out."""
        order = np.argsort(-weights, kind="stable")[: int(np.count_nonzero(weights))]
        return cls(np.cumsum(weights[order]), columns[order].astype(np.int32), values[order])


@dataclass(frozen=True, eq=False, repr=False)
class CorpusModel(ShortRepr):
    """The model that a twin is drawn from.

    Attributes
    ----------
    weights, resultants, kappas : float64 arrays of shape (n_clusters,)
        Shares, mean resultant lengths and the concentrations that belong to them.
    labels : int32 array
        The clusters of the documents that have terms.
    n_terms : int
    """

    weights: Floats
    resultants: Floats
    kappas: Floats
    labels: npt.NDArray[np.int32]
    n_terms: int
    cluster_terms: tuple[TermWeights, ...]  # of each cluster
    common: TermWeights
    common_shares: Floats  # of the draws of each cluster
    value_spread: float
    lengths: tuple[Integers, ...]  # terms per document of each cluster, as found
    cosines: tuple[float, float]  # mean cosine of two documents of one cluster, and of different ones


def fit_corpus_model(
    vectors: DocumentVectors, n_clusters: int, *, random_state: RandomState = None, n_threads: int | None = None
) -> CorpusModel:
    """Cluster vectors by spherical k-means and describe each cluster.

    Raises
    ------
    InputError
        If the vectors are dense or have negative values: such rows do not stand for texts.
    NothingUsable
        If all rows are zero.
    """
    if not sparse.issparse(vectors.matrix):
        raise InputError("the vectors are dense, and a twin has terms", remedy="give texts or a sparse matrix")
    matrix = check_matrix(vectors.matrix, name="vectors")
    if not matrix.data.all():  # a zero that is stored has no logarithm
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if not filled.size:
        raise NothingUsable("no document has a term, so there is nothing to resemble.")
    matrix = matrix[filled]
    if matrix.data.min() < 0:
        raise InputError("the vectors have negative values, and a twin has terms", remedy="give texts or term weights")
    k = check_n_clusters(n_clusters, matrix.shape[0])
    seed = int(as_generator(random_state).integers(2**31))
    fit = SphericalKMeans(k, random_state=seed, n_threads=n_threads).fit(matrix)
    return _describe(matrix, fit.labels_, fit.centroids_.shape[0])


def _describe(matrix: CsrArray, labels: npt.NDArray[np.int32], k: int) -> CorpusModel:
    n, n_terms = matrix.shape
    sizes = np.bincount(labels, minlength=k)
    occurs = sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    frequencies = sums_by_label(occurs, labels, k)
    resultants = np.minimum(row_norms(sums_by_label(matrix, labels, k)) / sizes, 1.0)
    df = np.bincount(matrix.indices, minlength=n_terms)
    lengths = np.diff(matrix.indptr).astype(np.int64)
    # a row of m terms has values near 1 / sqrt(m): what is left is the weight of the term
    logs = np.log(matrix.data.astype(np.float64)) + 0.5 * np.log(np.repeat(lengths, lengths))
    means = np.bincount(matrix.indices, weights=logs, minlength=n_terms) / np.maximum(df, 1)
    log_sums = sums_by_label(sparse.csr_array((logs, matrix.indices, matrix.indptr), shape=matrix.shape), labels, k)
    cluster_terms, common_shares, missing, between = _own_terms(frequencies, log_sums, means, sizes)
    spread = float(np.sqrt(max(float(logs @ logs) - between, 0.0) / max(matrix.nnz - frequencies.nnz, 1)))
    return CorpusModel(
        weights=sizes / n,
        resultants=resultants,
        kappas=concentration(n_terms, resultants, MAX_CONCENTRATION),
        labels=labels,
        n_terms=n_terms,
        cluster_terms=cluster_terms,
        common=TermWeights.of(missing if missing.any() else df.astype(np.float64), np.arange(n_terms), np.exp(means)),
        common_shares=common_shares,
        value_spread=spread,
        lengths=tuple(lengths[labels == cluster] for cluster in range(k)),
        cosines=mean_cosines(matrix, labels),
    )


def mean_cosines(matrix: Matrix, labels: AnyIntegers) -> tuple[float, float]:
    """Return the mean cosine of two unit rows of one cluster, and of different ones; nan where there is no such pair.

    From the sums s of the clusters: (|s|^2 - n) of the n (n - 1) pairs in each, and what is left of |sum of all|^2.
    """
    sizes = np.bincount(labels).astype(np.float64)
    sums = sums_by_label(matrix, labels, sizes.size)
    inside, total = float((row_norms(sums) ** 2).sum()), float(np.sum(np.asarray(sums.sum(axis=0)) ** 2))
    n, n_pairs = sizes.sum(), float(sizes @ (sizes - 1))
    n_between = n * (n - 1) - n_pairs
    return (inside - n) / n_pairs if n_pairs else math.nan, (total - inside) / n_between if n_between else math.nan


def _own_terms(
    frequencies: CsrArray, log_sums: CsrArray, means: Floats, sizes: Integers
) -> tuple[tuple[TermWeights, ...], Floats, Floats, float]:
    """Return the terms of each cluster, the share of its draws left to the corpus, documents of terms that are drawn
    so, and the squares its means explain.

    Of n documents, f have a term: f (f - 1) / (n (n - 1)) is the share of pairs of different documents that have it in
    common, and its square root the probability that gives the twin as many. It is below f / n, by most for terms of one
    document; what is missing of the mean number of terms goes to the corpus. A term's value in a cluster is the mean of
    its logarithms there, with the mean of the corpus counted as one more document.
    """
    cluster_terms, shares, explained = [], [], 0.0
    missing_documents = np.zeros(means.size)
    for cluster, size in enumerate(sizes):
        row = slice(frequencies.indptr[cluster], frequencies.indptr[cluster + 1])
        counts, columns = frequencies.data[row], frequencies.indices[row]
        probabilities = (
            np.sqrt(counts * (counts - 1) / (size * (size - 1))) if size > 1 else np.full(counts.size, _CERTAIN)
        )
        # drawn by these weights until a document is full, terms occur nearly as often as their probability
        weights = -np.log1p(-np.minimum(probabilities, _CERTAIN))
        lacking = np.maximum(counts - size * probabilities, 0.0) * (size > 1)
        missing_documents[columns] += lacking
        missing = float(lacking.sum() / size)
        if not weights.any():  # no two documents share a term
            weights, missing = counts / size, 0.0
        logs = log_sums[[cluster]][:, columns].toarray()[0]  # a sum that is 0 is not stored
        explained += float(np.sum(logs**2 / counts))
        values = np.exp((logs + means[columns]) / (counts + 1))
        cluster_terms.append(TermWeights.of(weights, columns, values))
        shares.append(missing / (missing + float(weights.sum())))
    return tuple(cluster_terms), np.array(shares), missing_documents, explained


def sample_twin(
    model: CorpusModel,
    n_documents: int,
    *,
    terms: npt.NDArray[np.object_] | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> SyntheticVectors:
    """Return documents drawn from the model of a corpus, and the cluster of each.

    Parameters
    ----------
    model : CorpusModel
    n_documents : int
    terms : array of str, optional
        The names of the columns.
    random_state : None, int or numpy Generator
    n_threads : int or None
        The rows are the same for any number.

    Raises
    ------
    InputError
        If there are fewer documents than clusters.
    """
    n = check_positive_int(n_documents, "n_documents")
    if n < model.weights.size:
        raise InputError(
            f"is below the {model.weights.size} clusters of the model",
            argument="n_documents",
            received=n,
            remedy=("choose ", Argument("n_documents"), f" >= {model.weights.size}"),
        )
    generator = as_generator(random_state)
    truth = generator.choice(model.weights.size, size=n, p=model.weights).astype(np.int64, copy=False)
    entropy = spawn_entropy(generator)  # each block has a generator of its own, so threads change no row

    def one(rows: slice) -> tuple[Integers, npt.NDArray[np.int32], SingleFloats]:
        return _draw_block(model, truth[rows], block_generator(entropy, rows.start // _BLOCK_DOCUMENTS))

    parts = list(map_blocks(one, row_blocks(n, _BLOCK_DOCUMENTS), n_threads=n_threads))
    lengths, columns, values = map(np.concatenate, zip(*parts, strict=True))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    matrix = sparse.csr_array((values, columns, starts), shape=(n, model.n_terms))
    matrix.sort_indices()
    parameters = {
        "kind": "like",
        "n_documents": n,
        "n_terms": model.n_terms,
        "n_clusters": model.weights.size,
        "weights": model.weights.tolist(),
        "mean_resultant_lengths": model.resultants.tolist(),
        "kappas": model.kappas.tolist(),
        "value_spread": model.value_spread,
        **dict(zip(("cosine_within", "cosine_between"), mean_cosines(matrix, truth), strict=True)),
        **dict(zip(("cosine_within_of_source", "cosine_between_of_source"), model.cosines, strict=True)),
        "random_state": seed_record(random_state),
    }
    vectors = DocumentVectors(matrix, row_names(n), terms, terms)
    return SyntheticVectors(vectors, truth, parameters, partial(_log_likelihoods, model))


def _log_likelihoods(model: CorpusModel, rows: CsrArray) -> Floats:
    """Return log weight + the sum of log((1 - share) own + share common) over the terms of each row, by cluster."""
    logs = np.full((model.n_terms, model.weights.size), np.finfo(float).tiny)
    for column, (own, share) in enumerate(zip(model.cluster_terms, model.common_shares, strict=True)):
        for terms, weight in ((own, 1.0 - share), (model.common, share)):
            logs[terms.columns, column] += weight * np.diff(terms.edges, prepend=0.0) / terms.edges[-1]
    occurs = sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    return np.asarray(occurs @ np.log(logs) + np.log(model.weights))


def _draw_block(
    model: CorpusModel, labels: Integers, generator: np.random.Generator
) -> tuple[Integers, npt.NDArray[np.int32], SingleFloats]:
    """Return lengths, columns and unit values of a block of documents."""
    places = generator.random(labels.size)
    lengths_of = [model.lengths[label] for label in labels]
    lengths = np.array([values[int(place * values.size)] for values, place in zip(lengths_of, places, strict=True)])
    columns = np.empty(int(lengths.sum()), dtype=np.int32)
    at = 0
    for label, length in zip(labels, lengths, strict=True):
        columns[at : at + length] = _distinct_columns(model, label, generator.random(PATIENCE * length), length)
        at += length
    raw = _values(model, labels, lengths, columns)
    raw *= np.exp(model.value_spread * generator.standard_normal(columns.size))
    norms = np.sqrt(np.add.reduceat(raw**2, np.concatenate([[0], np.cumsum(lengths)[:-1]])))
    return lengths, columns, (raw / np.repeat(norms, lengths)).astype(np.float32)


def _distinct_columns(model: CorpusModel, label: int, uniforms: Floats, count: int) -> npt.NDArray[np.int32]:
    """Return distinct columns of a cluster or the whole corpus; at the end of the `uniforms` the heaviest left."""
    cluster_terms, common, share = model.cluster_terms[label], model.common, model.common_shares[label]

    def drawn(numbers: Floats) -> npt.NDArray[np.int32]:
        columns, of_corpus = np.empty(numbers.size, dtype=np.int32), numbers < share
        parts = (numbers[of_corpus] / share, numbers[~of_corpus] - share)
        of_cluster = parts[1] / (1.0 - share)
        for terms, which, part in ((common, of_corpus, parts[0]), (cluster_terms, ~of_corpus, of_cluster)):
            at = np.searchsorted(terms.edges, part * terms.edges[-1], side="right")
            columns[which] = terms.columns[np.minimum(at, terms.columns.size - 1)]
        return columns

    def distinct(columns: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        return columns[np.sort(np.unique(columns, return_index=True)[1])]

    # most documents are full after the first draws; only the rest go on, and at last take what is heaviest
    chosen = distinct(drawn(uniforms[: USUAL_DRAWS * count]))
    if chosen.size < count:
        chosen = distinct(drawn(uniforms))
    if chosen.size < count:
        chosen = distinct(np.concatenate([chosen, cluster_terms.columns, common.columns]))
    return chosen[:count]


def _values(model: CorpusModel, labels: Integers, lengths: Integers, columns: npt.NDArray[np.int32]) -> Floats:
    """Return the value of each drawn term in the cluster of its document."""
    values = np.empty(columns.size)
    owner = np.repeat(labels, lengths)
    by_column = np.empty(model.n_terms)
    for label in np.unique(labels):
        here = owner == label
        by_column[model.common.columns] = model.common.values
        by_column[model.cluster_terms[label].columns] = model.cluster_terms[label].values
        values[here] = by_column[columns[here]]
    return values


@at_the_door
def make_twin(
    vectors: DocumentVectors,
    n_clusters: int,
    *,
    n_documents: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> SyntheticVectors:
    """Return a corpus with a known truth that resembles the given vectors; with as many documents by default.

    Raises
    ------
    InputError
        If the vectors are dense or have negative values, or there are fewer documents than clusters.
    """
    generator = as_generator(random_state)
    model = fit_corpus_model(vectors, n_clusters, random_state=generator, n_threads=n_threads)
    n = vectors.n_documents if n_documents is None else n_documents
    sample = sample_twin(model, n, terms=vectors.terms, random_state=generator, n_threads=n_threads)
    return replace(sample, parameters={**sample.parameters, "random_state": seed_record(random_state)})
