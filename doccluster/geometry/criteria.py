"""Partitions made better by moves of single documents, by one of the criterion functions I1, I2, E1, G1, H1 and H2.

`geometry/criterion_values.py` has their formulas and their source.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.geometry.criterion_values import check_criterion
from doccluster.geometry.sums import sums_by_label
from doccluster.kernels.arguments import Csr
from doccluster.kernels.criteria import Clusters, Criterion, move_rows

Floats = npt.NDArray[np.float64]

LEAST_GAIN = 1e-12  # a share of the criterion, below which a gain may be rounding


def moves_bytes(n_terms: int, n_entries: int, n_clusters: int) -> int:
    """Return the bytes `refine_by_moves` holds beyond its rows: the table, the sums and rows in float64.

    Half as much again is for what is held while one becomes another.
    """
    n_cells = n_terms * n_clusters
    return int(1.5 * (8 * n_cells + 24 * min(n_entries, n_cells) + 28 * n_entries))


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
    code = int(Criterion[check_criterion(criterion).upper()])
    found = np.array(labels, dtype=np.int64)
    compact = _used_terms(rows)
    arrays = Csr.of(compact)
    for _ in range(max_passes):
        clusters, with_total = _state(compact, found, n_clusters)  # again, so that rounding does not add up
        order = rng.permutation(found.size)
        moved = move_rows(code, arrays, order, LEAST_GAIN, with_total, clusters, found)
        if not moved:
            break
        del clusters  # before the next one is made, so that there is only one table
    return found


def _state(rows: Any, labels: npt.NDArray[np.int64], n_clusters: int) -> tuple[Clusters, Floats]:
    """Return the clusters of some rows, and the product of each row with the sum of all."""
    sums: Floats = sums_by_label(rows, labels, n_clusters).T.toarray(order="C")  # (used terms, clusters)
    sizes = np.bincount(labels[np.diff(rows.indptr) > 0], minlength=n_clusters).astype(np.float64)
    total = sums.sum(axis=1)
    return Clusters(sums, sizes, np.einsum("tr,tr->r", sums, sums), total @ sums), np.asarray(rows @ total)


def _used_terms(rows: Any) -> Any:
    """Return rows in float64 without the columns that no row uses."""
    given = sparse.csr_array(rows)
    used, columns = np.unique(given.indices, return_inverse=True)
    return sparse.csr_array(
        (given.data.astype(np.float64), columns.reshape(-1), given.indptr), shape=(given.shape[0], used.size)
    )
