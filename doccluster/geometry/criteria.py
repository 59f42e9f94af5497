"""Partitions made better by moves of single documents, by one of the criterion functions I1, I2, E1, G1, H1 and H2.

`geometry/criterion_functions.py` has their formulas and their source.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry.sums import sums_by_label
from doccluster.kernels.criteria import E1, G1, H1, H2, I1, I2, move_rows

Floats = npt.NDArray[np.float64]

CODES = {"i1": I1, "i2": I2, "e1": E1, "g1": G1, "h1": H1, "h2": H2}
LEAST_GAIN = 1e-12  # a share of the criterion, below which a gain may be rounding


def check_criterion(criterion: Any) -> str:
    """Return the name of a criterion, or raise InputError."""
    if criterion not in CODES:
        raise InputError(
            "is not known", argument="criterion", received=criterion, expected=f"one of {', '.join(CODES)}"
        )
    return str(criterion)


def moves_bytes(rows: Any, n_clusters: int) -> int:
    """Return what `refine_by_moves` holds beyond its rows, a csr array: the table, the sums and rows in float64.

    Half as much again is for what is held while one becomes another.
    """
    n_cells = np.unique(rows.indices).size * n_clusters
    return int(1.5 * (8 * n_cells + 24 * min(rows.nnz, n_cells) + 28 * rows.nnz))


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
        del state  # before the next one is made, so that there is only one table
    return found


class _State:
    """The numbers of clusters that criteria are made of."""

    def __init__(self, rows: Any, labels: npt.NDArray[np.int64], n_clusters: int) -> None:
        by_cluster = sums_by_label(rows, labels, n_clusters)
        self.sums: Floats = by_cluster.T.toarray(order="C")  # (used terms, clusters)
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
