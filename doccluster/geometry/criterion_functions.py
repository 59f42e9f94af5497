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
from dataclasses import dataclass
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


def _function(criterion: Any) -> Callable[[ClusterNumbers], float]:
    if criterion not in CRITERIA:
        raise InputError(
            "is not known", argument="criterion", received=criterion, expected=f"one of {', '.join(CRITERIA)}"
        )
    return CRITERIA[criterion]
