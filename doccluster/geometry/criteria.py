"""The criterion functions I1, I2, E1, G1, H1 and H2 of the evidence of a partition, and moves of documents that gain.

With n_r the size of cluster r, D_r the sum of its unit rows and D the sum of all:

    I1 = sum |D_r|^2 / n_r          (largest)   mean cosine of all pairs of a cluster, times its size
    I2 = sum |D_r|                  (largest)   the objective of spherical k-means
    E1 = sum n_r D_r.D / |D_r|      (smallest)  cosine of the clusters with the whole collection
    G1 = sum D_r.(D - D_r) / |D_r|^2  (smallest)  what a cluster shares with the others over what it holds together
    H1 = I1 / E1, H2 = I2 / E1      (largest)

Source: Zhao & Karypis 2004, "Empirical and theoretical comparisons of selected criterion functions for document
clustering", Machine Learning 55, doi:10.1023/B:MACH.0000027785.44527.d6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.sums import sums_by_label
from doccluster.kernels.criteria import E1, G1, H1, H2, I1, I2, LEAST_SQUARE, move_rows

Floats = npt.NDArray[np.float64]

CODES = {"i1": I1, "i2": I2, "e1": E1, "g1": G1, "h1": H1, "h2": H2}
SMALLEST_IS_BEST = ("e1", "g1")
LEAST_GAIN = 1e-12  # a share of the criterion, below which a gain may be rounding


def check_criterion(criterion: Any) -> str:
    """Return the name of a criterion, or raise InputError."""
    if criterion not in CODES:
        raise InputError(
            "is not known", argument="criterion", received=criterion, expected=f"one of {', '.join(CODES)}"
        )
    return str(criterion)


def i1(evidence: ClusterEvidence) -> float:
    """Return the sum of |D_r|^2 / n_r."""
    return float((evidence.cluster_sums.squared_norms / _filled(evidence)).sum())


def i2(evidence: ClusterEvidence) -> float:
    """Return the sum of |D_r|, the objective of spherical k-means."""
    return float(evidence.sum_norms.sum())


def e1(evidence: ClusterEvidence) -> float:
    """Return the sum of n_r D_r.D / |D_r|; a cluster without direction adds as little as one that nearly cancels."""
    lengths = np.sqrt(np.maximum(evidence.cluster_sums.squared_norms, LEAST_SQUARE))
    return float((_filled(evidence) * evidence.products_with_total / lengths).sum())


def g1(evidence: ClusterEvidence) -> float:
    """Return the sum of D_r.(D - D_r) / |D_r|^2."""
    squares = np.maximum(evidence.cluster_sums.squared_norms, LEAST_SQUARE)
    return float(((evidence.products_with_total - squares) / squares)[evidence.sizes > evidence.zero_rows].sum())


def h1(evidence: ClusterEvidence) -> float:
    """Return I1 / E1."""
    return i1(evidence) / max(e1(evidence), LEAST_SQUARE)


def h2(evidence: ClusterEvidence) -> float:
    """Return I2 / E1."""
    return i2(evidence) / max(e1(evidence), LEAST_SQUARE)


CRITERIA: dict[str, Callable[[ClusterEvidence], float]] = {"i1": i1, "i2": i2, "e1": e1, "g1": g1, "h1": h1, "h2": h2}


def _filled(evidence: ClusterEvidence) -> Floats:
    """Return how many documents of each cluster have terms, 1 for a cluster without any: its sum is zero."""
    return np.asarray(np.maximum(evidence.sizes - evidence.zero_rows, 1), np.float64)


def criterion_value(criterion: str, evidence: ClusterEvidence) -> float:
    """Return a criterion of a partition, as it is defined: E1 and G1 are best where they are smallest.

    Parameters
    ----------
    criterion : {'i1', 'i2', 'e1', 'g1', 'h1', 'h2'}
    evidence : ClusterEvidence
        Under the cosine. A row without values counts in no cluster.

    Examples
    --------
    >>> from doccluster.partition import Partition
    >>> rows = sparse.csr_array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> evidence = ClusterEvidence(rows, Partition.from_labels([0, 0, 1]))
    >>> round(criterion_value("i2", evidence), 4), round(criterion_value("i1", evidence), 4)
    (2.7889, 2.6)
    """
    return CRITERIA[check_criterion(criterion)](evidence)


def refine_by_moves(
    criterion: str,
    rows: Any,
    labels: npt.ArrayLike,
    n_clusters: int,
    *,
    max_passes: int = 50,
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Return labels from which no move of a single document gains, or those after `max_passes` passes.

    Each pass visits the documents in another random order and moves each to where the criterion gains most. Memory is a
    table of float64 of the terms times the clusters.

    Parameters
    ----------
    criterion : {'i1', 'i2', 'e1', 'g1', 'h1', 'h2'}
    rows : csr array of shape (n_documents, n_terms), unit rows
    labels : int array of shape (n_documents,), 0..n_clusters-1
    """
    code = CODES[check_criterion(criterion)]
    found = np.array(labels, dtype=np.int64)
    compact = _used_terms(rows)
    arrays = compact.data, compact.indices.astype(np.int32), compact.indptr.astype(np.int64)
    for _ in range(max_passes):
        state = _State(compact, found, n_clusters)  # again, so that rounding does not add up over the passes
        order = rng.permutation(found.size)
        moved = move_rows(
            code,
            *arrays,
            order,
            LEAST_GAIN,
            state.with_total,
            state.sums,
            state.sizes,
            state.squares,
            state.products,
            found,
        )
        if not moved:
            break
    return found


class _State:
    """The numbers of clusters that criteria are made of."""

    def __init__(self, rows: Any, labels: npt.NDArray[np.int64], n_clusters: int) -> None:
        by_cluster = sums_by_label(rows, labels, n_clusters)
        self.sums: Floats = np.ascontiguousarray(by_cluster.toarray().T)  # (used terms, clusters)
        filled = np.diff(rows.indptr) > 0
        self.sizes = np.bincount(labels[filled], minlength=n_clusters).astype(np.float64)
        self.squares: Floats = np.einsum("tr,tr->r", self.sums, self.sums)
        total = self.sums.sum(axis=1)
        self.products: Floats = total @ self.sums
        self.with_total: Floats = rows @ total


def _used_terms(rows: Any) -> Any:
    """Return rows in float64 without the columns that no row uses."""
    given = sparse.csr_array(rows)
    used, columns = np.unique(given.indices, return_inverse=True)
    return sparse.csr_array(
        (given.data.astype(np.float64), columns.reshape(-1), given.indptr), shape=(given.shape[0], used.size)
    )
