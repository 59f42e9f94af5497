"""Criterion functions: what a partition is worth by a few numbers of each cluster, and what moving one document gains.

With n_r the size of cluster r, D_r the sum of its rows and D the sum of all; rows are unit, and a row without values
counts in no cluster:

    I1 = sum |D_r|^2 / n_r            (largest)   mean cosine of all pairs of a cluster, times its size
    I2 = sum |D_r|                    (largest)   the objective of spherical k-means
    E1 = sum n_r D_r.D / |D_r|        (smallest)  cosine of the clusters with the whole collection
    G1 = sum D_r.(D - D_r) / |D_r|^2  (smallest)  what a cluster shares with the others over what it holds together
    H1 = I1 / E1, H2 = I2 / E1        (largest)

Source: Zhao & Karypis 2004, "Empirical and theoretical comparisons of selected criterion functions for document
clustering", Machine Learning 55, doi:10.1023/B:MACH.0000027785.44527.d6.
"""

from __future__ import annotations

import numpy as np

from doccluster.base.validation import check_choice
from doccluster.geometry.evidence import ClusterEvidence

LEAST_SQUARE = 1e-12  # of a sum whose rows cancel
NAMES = ("i1", "i2", "e1", "g1", "h1", "h2")
SMALLEST_IS_BEST = ("e1", "g1")


def criterion_value(criterion: str, evidence: ClusterEvidence) -> float:
    """Return a criterion of a partition, as it is defined: E1 and G1 are best where they are smallest.

    A cluster without direction adds as little to E1 as one that nearly cancels.

    `criterion`: the objective of spherical k-means is I2. `evidence`: under the cosine.

    >>> from doccluster.geometry.partition import Partition
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> evidence = ClusterEvidence(rows, Partition.from_labels([0, 0, 1]))
    >>> round(criterion_value("i2", evidence), 4), round(criterion_value("i1", evidence), 4)
    (2.7889, 2.6)
    """
    name = check_choice(criterion, NAMES, "criterion")
    if name in ("h1", "h2"):
        return criterion_value(f"i{name[1]}", evidence) / max(criterion_value("e1", evidence), LEAST_SQUARE)
    filled = evidence.sizes.astype(np.float64) - evidence.zero_rows
    squares, products = evidence.cluster_sums.squared_norms, evidence.cluster_sums.products_with_total
    if name == "i1":
        return float((squares / np.maximum(filled, 1.0)).sum())
    if name == "i2":
        return float(np.sqrt(squares).sum())
    bounded = np.maximum(squares, LEAST_SQUARE)
    if name == "e1":
        return float((np.maximum(filled, 1.0) * products / np.sqrt(bounded)).sum())
    return float(((products - bounded) / bounded)[filled > 0].sum())
