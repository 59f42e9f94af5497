"""Clusters found from one half of the terms, judged by the other half, which had no part in finding them.

Both halves describe the same documents. Where there are no clusters, what one half suggests says nothing of the other,
so that nothing has to be compared with made data. Sums of clusters are all that is needed: O(stored values) time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.geometry.sums import sums_by_label
from doccluster.validation import squared_row_norms, unit_rows

Floats = npt.NDArray[np.float64]

# how many documents the mean of all documents counts for in a prediction; the best of these is taken
SHRINKAGES = np.array([0.0, *(2.0**power for power in range(-1, 13))])


def split_terms(matrix: Any, rng: np.random.Generator) -> tuple[Any, Any, npt.NDArray[np.int64]]:
    """Return the unit rows of two halves of the columns, and the rows that have something in both.

    Of each two columns of about equal weight one goes to either half, so that the halves say about as much.
    """
    weights = _column_weights(matrix)
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > 0]
    flips = rng.random((order.size + 1) // 2) < 0.5
    side = np.repeat(flips, 2)[: order.size] ^ (np.arange(order.size) % 2 == 1)
    halves = [unit_rows(matrix[:, np.sort(order[side == is_first])], warn=False) for is_first in (True, False)]
    filled = np.flatnonzero((squared_row_norms(halves[0]) > 0) & (squared_row_norms(halves[1]) > 0))
    return halves[0][filled], halves[1][filled], filled


def _column_weights(matrix: Any) -> Floats:
    if not sparse.issparse(matrix):
        weights: Floats = np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64)
        return weights
    squares = np.square(matrix.data, dtype=np.float64)
    return np.bincount(matrix.indices, weights=squares, minlength=matrix.shape[1]).astype(np.float64)


@dataclass(frozen=True)
class Verdict:
    """What a half of the terms says of clusters found from the other.

    Attributes
    ----------
    cohesion : float
        How much more alike documents of one cluster are than they are to all: the sum of the cosines of pairs within
        clusters, less what is expected of documents that are as near to all others as these, as a share of the sum of
        all cosines (modularity, Newman & Girvan 2004, doi:10.1103/PhysRevE.69.026113, with cosines as weights). 0 for
        one cluster.
    error : float
        The mean squared distance of a document to what the others of its cluster predict: their mean, drawn towards
        the mean of all documents as far as that helps.
    """

    cohesion: float
    error: float


class HeldOutHalf:
    """The half of the terms that judges; unit rows of shape (n_documents, n_terms of the half)."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows.astype(np.float64, copy=False)
        self._n = int(rows.shape[0])
        total = np.asarray(self._rows.sum(axis=0)).ravel()
        self._own = squared_row_norms(rows)
        self._to_all = np.asarray(self._rows @ total).ravel()
        self._all_squared = float(total @ total)
        self._similarity = self._all_squared - float(self._own.sum())

    def judge(self, labels: npt.NDArray[np.int64]) -> Verdict:
        """Return what these terms say of clusters 0..k-1."""
        sizes: Floats = np.bincount(labels).astype(np.float64)
        squared = squared_row_norms(sums_by_label(self._rows, labels, sizes.size))
        own, to_all = (self._summed(values, labels, sizes.size) for values in (self._own, self._to_all))
        excess = float((squared - own).sum() - self._expected(to_all - own))
        errors = [self._error(sizes, squared, own, to_all, shrinkage) for shrinkage in SHRINKAGES]
        return Verdict(excess / max(self._similarity, float(self._n)), min(errors))

    @staticmethod
    def _summed(values: Floats, labels: npt.NDArray[np.int64], n_clusters: int) -> Floats:
        return np.bincount(labels, weights=values, minlength=n_clusters).astype(np.float64)

    def _expected(self, degrees: Floats) -> float:
        """Return the sum of cosines within clusters of these summed cosines to all, if nothing drew them together.

        Where cosines of both signs cancel out, a document is near to others on the whole or not by chance: nothing.
        """
        return float((degrees**2).sum()) / self._similarity if self._similarity > self._n else 0.0

    def _error(self, sizes: Floats, squared: Floats, own: Floats, to_all: Floats, shrinkage: float) -> float:
        """Return the mean over documents x of |x - p|^2, where p is the prediction from the others.

        With S the sum of the cluster, G of all documents, n_c and n their numbers and w the shrinkage,
        p = (S - x + w (G - x) / (n - 1)) / (n_c - 1 + w); summed over a cluster this needs |S|^2, S.G, |G|^2 and
        sum |x|^2 only. A document alone, without shrinkage, is predicted by nothing.
        """
        drawn = shrinkage / max(1, self._n - 1)
        counts = sizes - 1 + shrinkage
        known = counts > 0
        n, count = sizes[known], counts[known]
        with_rows = squared[known] + drawn * to_all[known]  # sum over x of x.(S + drawn G)
        both = squared[known] + 2 * drawn * to_all[known] + drawn**2 * self._all_squared  # |S + drawn G|^2
        cross = with_rows - (1 + drawn) * own[known]
        length = n * both - 2 * (1 + drawn) * with_rows + (1 + drawn) ** 2 * own[known]
        error = float(own.sum()) - float((2 * cross / count).sum()) + float((length / count**2).sum())
        return error / self._n
