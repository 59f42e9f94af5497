"""How many documents of a cluster are close to some of them; blocks of rows may be counted by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def count_close(matrix: Any, labels: Integers, chosen: Sequence[Any], least: float) -> list[Integers]:
    """Return for each cluster how many of its rows have at least some cosine to each of a few unit rows.

    Parameters
    ----------
    matrix : csr array or dense array of shape (n_documents, n_terms), unit rows
    labels : int64 array of shape (n_documents,)
    chosen : sequence of arrays of shape (any, n_terms), unit rows
        Those of each cluster, in the form of `matrix`.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> [counts.tolist() for counts in count_close(rows, np.array([0, 0, 1]), [rows[:2], rows[2:]], 0.9)]
    [[1, 1], [1]]
    """
    found = [np.zeros(rows.shape[0], np.int64) for rows in chosen]
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(len(chosen) + 1))
    for cluster in np.flatnonzero(np.diff(edges)).tolist():
        members = order[edges[cluster] : edges[cluster + 1]]
        found[cluster] += (cosines(matrix[members], chosen[cluster]) >= least).sum(axis=0)
    return found


def cosines(rows: Any, others: Any) -> npt.NDArray[np.float64]:
    """Return the cosines of some unit rows to a few others; dense, but only as wide as the few."""
    product = rows @ others.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)
