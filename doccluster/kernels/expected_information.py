"""The mutual information that two partitions of given sizes have by chance.

Clusters of the same size contribute the same, so the caller groups equal sizes: n documents have at most sqrt(2 n)
distinct sizes on each side, whatever the number of clusters. For one pair of sizes the overlap is hypergeometric. Its
probabilities are built outwards from the mode by their ratios and divided by their sum, which needs no factorial and
loses no digits however large n is.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

NEGLIGIBLE = 1e-22  # of the sum so far; the probabilities fall faster than geometrically from there


@jit
def expected_mutual_information(sizes, size_counts, other_sizes, other_counts, n_documents):
    """Return the expected mutual information in nats.

    Parameters
    ----------
    sizes, other_sizes : int64 arrays
        The distinct sizes on the two sides.
    size_counts, other_counts : int64 arrays
        How many clusters (classes) have each size.
    n_documents : int

    Returns
    -------
    float
        Vinh, Epps and Bailey (2010), Eq. 24a.
    """
    total = 0.0
    for i in range(sizes.size):
        row = 0.0
        for j in range(other_sizes.size):
            row += other_counts[j] * _expected_term(sizes[i], other_sizes[j], n_documents)
        total += size_counts[i] * row
    return total


@jit(inner=True)
def _expected_term(a, b, n):
    """Return the expectation of (s/n) log(n s/(a b)) for the overlap s of random sets of a and b of n documents."""
    least = max(0, a + b - n)
    most = min(a, b)
    mode = min(max(int((a + 1.0) * (b + 1.0) / (n + 2.0)), least), most)
    scale = n / (np.float64(a) * np.float64(b))
    weight_sum = 1.0
    value_sum = mode * np.log(mode * scale) if mode > 0 else 0.0
    weight = 1.0
    for s in range(mode, most):  # upwards: P(s + 1) / P(s)
        weight *= (np.float64(a - s) * np.float64(b - s)) / (np.float64(s + 1) * np.float64(n - a - b + s + 1))
        weight_sum += weight
        value_sum += weight * (s + 1) * np.log((s + 1) * scale)
        if weight < NEGLIGIBLE * weight_sum:
            break
    weight = 1.0
    for s in range(mode, least, -1):  # downwards: P(s - 1) / P(s)
        weight *= (np.float64(s) * np.float64(n - a - b + s)) / (np.float64(a - s + 1) * np.float64(b - s + 1))
        weight_sum += weight
        if s > 1:
            value_sum += weight * (s - 1) * np.log((s - 1) * scale)
        if weight < NEGLIGIBLE * weight_sum:
            break
    return value_sum / weight_sum / n
