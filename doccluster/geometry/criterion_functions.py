"""Criterion functions: what a partition is worth by a few numbers of each cluster, and what moving one document gains.

With n_r the size of cluster r, D_r the sum of its rows and D the sum of all; for I1 to H2 rows are unit, and a row
without values counts in no cluster:

    I1 = sum |D_r|^2 / n_r            (largest)   mean cosine of all pairs of a cluster, times its size
    I2 = sum |D_r|                    (largest)   the objective of spherical k-means
    E1 = sum n_r D_r.D / |D_r|        (smallest)  cosine of the clusters with the whole collection
    G1 = sum D_r.(D - D_r) / |D_r|^2  (smallest)  what a cluster shares with the others over what it holds together
    H1 = I1 / E1, H2 = I2 / E1        (largest)
    CH = (n - k) / (k - 1) B / W      (largest)   scatter between clusters over scatter within, of rows as they are

Source: Zhao & Karypis 2004, "Empirical and theoretical comparisons of selected criterion functions for document
clustering", Machine Learning 55, doi:10.1023/B:MACH.0000027785.44527.d6; Calinski & Harabasz 1974.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.geometry.evidence import ClusterEvidence

Floats = npt.NDArray[np.float64]

LEAST_SQUARE = 1e-12  # of a sum whose rows cancel


@dataclass(frozen=True, eq=False)
class ClusterNumbers:
    """All that the criteria ask of a partition; arrays are float64 of shape (n_clusters,).

    Attributes
    ----------
    members, filled : arrays
        How many documents each cluster has, and how many of them have values.
    squares, products : arrays
        |D_r|^2 and D_r.D.
    norm_totals : array
        The sum of the squared lengths of the rows of each cluster.
    total_square : float
        |D|^2.
    """

    members: Floats
    filled: Floats
    squares: Floats
    products: Floats
    norm_totals: Floats
    total_square: float

    @classmethod
    def of(cls, evidence: ClusterEvidence) -> ClusterNumbers:
        """Return the numbers of a partition; they follow from its sums."""
        members = evidence.sizes.astype(np.float64)
        return cls(
            members,
            members - evidence.zero_rows,
            evidence.cluster_sums.squared_norms,
            evidence.products_with_total,
            evidence.norm_totals,
            evidence.grand_norm,
        )

    def after_move(self, evidence: ClusterEvidence, row: int, cluster: int) -> ClusterNumbers:
        """Return the numbers after one document of the partition went to another cluster."""
        own, square = int(evidence.labels[row]), float(evidence.rows.squared_norms[row])
        if own == cluster:
            return self
        with_own, with_other, with_total = _products(evidence, row, (own, cluster))
        change = np.zeros(self.members.size)
        change[own], change[cluster] = -1.0, 1.0
        squares = self.squares.copy()
        squares[own] += square - 2.0 * with_own
        squares[cluster] += square + 2.0 * with_other
        return replace(
            self,
            members=self.members + change,
            filled=self.filled + change * (square > 0),
            squares=np.maximum(squares, 0.0),
            products=self.products + change * with_total,
            norm_totals=self.norm_totals + change * square,
        )


def _products(evidence: ClusterEvidence, row: int, clusters: tuple[int, int]) -> tuple[float, float, float]:
    """Return the products of a document with the sums of two clusters, and with the sum of all."""
    rows, total = evidence.rows, evidence.cluster_sums.total
    one, scale = rows.matrix[[row]], float(rows.scale[row])
    some = evidence.sums[list(clusters)] @ one.T.astype(np.float64)
    both = np.asarray(some.toarray() if rows.is_sparse else some).ravel() * scale
    return float(both[0]), float(both[1]), float((one.astype(np.float64) @ total)[0]) * scale


def i1(clusters: ClusterNumbers) -> float:
    """Return the sum of |D_r|^2 / n_r."""
    return float((clusters.squares / np.maximum(clusters.filled, 1.0)).sum())


def i2(clusters: ClusterNumbers) -> float:
    """Return the sum of |D_r|, the objective of spherical k-means."""
    return float(np.sqrt(clusters.squares).sum())


def e1(clusters: ClusterNumbers) -> float:
    """Return the sum of n_r D_r.D / |D_r|; a cluster without direction adds as little as one that nearly cancels."""
    lengths = np.sqrt(np.maximum(clusters.squares, LEAST_SQUARE))
    return float((np.maximum(clusters.filled, 1.0) * clusters.products / lengths).sum())


def g1(clusters: ClusterNumbers) -> float:
    """Return the sum of D_r.(D - D_r) / |D_r|^2."""
    squares = np.maximum(clusters.squares, LEAST_SQUARE)
    return float(((clusters.products - squares) / squares)[clusters.filled > 0].sum())


def h1(clusters: ClusterNumbers) -> float:
    """Return I1 / E1."""
    return i1(clusters) / max(e1(clusters), LEAST_SQUARE)


def h2(clusters: ClusterNumbers) -> float:
    """Return I2 / E1."""
    return i2(clusters) / max(e1(clusters), LEAST_SQUARE)


def calinski_harabasz(clusters: ClusterNumbers) -> float:
    """Return the scatter between over the scatter within clusters, per degree of freedom; nan for one cluster or n."""
    n, k = clusters.members.sum(), np.count_nonzero(clusters.members)
    if k in (1, n):
        return float("nan")
    of_means = float((clusters.squares / np.maximum(clusters.members, 1.0)).sum())
    between, within = of_means - clusters.total_square / n, float(clusters.norm_totals.sum()) - of_means
    return (n - k) / (k - 1) * between / within if within > 0 else float("inf")


CRITERIA: dict[str, Callable[[ClusterNumbers], float]] = {
    "i1": i1,
    "i2": i2,
    "e1": e1,
    "g1": g1,
    "h1": h1,
    "h2": h2,
    "skm_objective": i2,
    "calinski_harabasz": calinski_harabasz,
}
SMALLEST_IS_BEST = ("e1", "g1")


def criterion_value(criterion: str, evidence: ClusterEvidence) -> float:
    """Return a criterion of a partition, as it is defined: E1 and G1 are best where they are smallest.

    Parameters
    ----------
    criterion : {'i1', 'i2', 'e1', 'g1', 'h1', 'h2', 'skm_objective', 'calinski_harabasz'}
        The objective of spherical k-means is I2.
    evidence : ClusterEvidence
        Under the cosine, but for Calinski-Harabasz also under the Euclidean metrics.

    Examples
    --------
    >>> from doccluster.partition import Partition
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> evidence = ClusterEvidence(rows, Partition.from_labels([0, 0, 1]))
    >>> round(criterion_value("i2", evidence), 4), round(criterion_value("i1", evidence), 4)
    (2.7889, 2.6)
    """
    return _function(criterion)(ClusterNumbers.of(evidence))


def gain_of_move(criterion: str, evidence: ClusterEvidence, row: int, cluster: int) -> float:
    """Return by how much a criterion rises, for E1 and G1 falls, if one document goes to another cluster.

    Above zero the move makes the partition better. No document is summed again: the row is
    multiplied with the sums of two clusters. A document that is alone in its cluster leaves one that counts no more.

    Raises InputError if there is no such criterion, document or cluster.

    Parameters
    ----------
    criterion : str
        As in `criterion_value`.
    row, cluster : int
        The document, and where it goes: 0..n_clusters-1.

    Examples
    --------
    >>> from doccluster.partition import Partition
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> evidence = ClusterEvidence(rows, Partition.from_labels([0, 0, 1]))
    >>> round(gain_of_move("i2", evidence, 1, 1), 4)
    0.1085
    """
    function = _function(criterion)
    for name, given, count in (("row", row, evidence.n_documents), ("cluster", cluster, evidence.n_clusters)):
        if not 0 <= given < count:
            raise InputError("does not exist", argument=name, received=given, expected=f"0 to {count - 1}")
    before = ClusterNumbers.of(evidence)
    rise = function(before.after_move(evidence, row, cluster)) - function(before)
    return -rise if criterion in SMALLEST_IS_BEST else rise


def _function(criterion: Any) -> Callable[[ClusterNumbers], float]:
    if criterion not in CRITERIA:
        raise InputError(
            "is not known", argument="criterion", received=criterion, expected=f"one of {', '.join(CRITERIA)}"
        )
    return CRITERIA[criterion]
