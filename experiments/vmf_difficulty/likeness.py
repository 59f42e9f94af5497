"""How alike two corpora are: the numbers on which clustering depends, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.validation import check_matrix
from doccluster.clustering import SphericalKMeans
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.information import nmi
from doccluster.vectors import DocumentVectors

Floats = npt.NDArray[np.float64]

_PAIRS = 20_000
_QUANTILES = (0.05, 0.5, 0.95)


def describe_vectors(
    vectors: DocumentVectors, labels: npt.ArrayLike, *, truth: npt.ArrayLike | None = None, random_state: int = 0
) -> dict[str, float]:
    """Return numbers that describe sparse vectors and clusters of theirs.

    Parameters
    ----------
    vectors : DocumentVectors
        Sparse unit rows.
    labels : array of shape (n_documents,)
        Pairs of documents are within or between these clusters; spherical k-means is asked for as many.
    truth : array of shape (n_documents,), optional
        What spherical k-means is compared with; nan stands in the table without it.
    random_state : int
        For the pairs of documents (20,000 within and 20,000 between) and for spherical k-means.

    Returns
    -------
    dict of str to float
        Names as they stand in the table; nan where there is no such pair.
    """
    matrix = sparse.csr_array(check_matrix(vectors.matrix, name="vectors"))
    rng = np.random.default_rng(random_state)
    partition = Partition.from_labels(np.asarray(labels).tolist())
    if partition.n_documents != matrix.shape[0]:
        raise InputError(
            f"there are {partition.n_documents} labels for {matrix.shape[0]} rows", remedy="give one for each"
        )
    lengths = np.diff(matrix.indptr)
    frequencies = np.bincount(matrix.indices, minlength=matrix.shape[1])
    frequencies = np.sort(frequencies[frequencies > 0]) / matrix.shape[0]
    numbers = {
        "documents": float(matrix.shape[0]),
        "terms used": float(frequencies.size),
        "non-zeros": float(matrix.nnz),
        **_quantiles("terms per document", lengths),
        **_quantiles("document frequency (share)", frequencies),
    }
    for name, same in (("cosine within", True), ("cosine between", False)):
        numbers |= _quantiles(name, _pair_cosines(matrix, partition.labels, same, rng), with_mean=True)
    numbers["NMI of spherical k-means"] = (
        float("nan") if truth is None else _nmi(matrix, partition, truth, random_state)
    )
    return numbers


def _nmi(matrix: Any, partition: Partition, truth: npt.ArrayLike, random_state: int) -> float:
    model = SphericalKMeans(partition.n_clusters, n_init=3, random_state=random_state).fit(matrix)
    found, true = Partition.from_labels(model.labels_), Partition.from_labels(np.asarray(truth).tolist())
    return float(nmi(ContingencyTable.from_partitions(found, true)))


def _quantiles(name: str, values: Any, *, with_mean: bool = False) -> dict[str, float]:
    if not len(values):
        return {f"{name}, {100 * q:g} %": float("nan") for q in _QUANTILES}
    found = {f"{name}, {100 * q:g} %": float(np.quantile(values, q)) for q in _QUANTILES}
    return {f"{name}, mean": float(np.mean(values)), **found} if with_mean else found


def _pair_cosines(matrix: Any, labels: npt.NDArray[np.int64], same: bool, rng: np.random.Generator) -> Floats:
    """Return the cosines of random pairs of different documents within clusters, or between them."""
    n = matrix.shape[0]
    first, second = rng.integers(0, n, (2, 40 * _PAIRS))
    fits = (first != second) & ((labels[first] == labels[second]) == same)
    first, second = first[fits][:_PAIRS], second[fits][:_PAIRS]
    products = matrix[first].multiply(matrix[second])
    cosines: Floats = np.asarray(products.sum(axis=1), dtype=np.float64).ravel()
    return cosines
