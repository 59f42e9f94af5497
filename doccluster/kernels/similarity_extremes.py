"""What the products of documents with cluster sums say of each document and each pair of clusters, in one reading.

A block of rows comes in with its products (b x k); out go values for each of its documents, and two tables with a line
for each cluster that the block meets. Nothing of size n x k is ever kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.jit import jit
from doccluster.kernels.metric import COSINE, SQEUCLIDEAN

# Sums and maxima over clusters may be regrouped so that they vectorise; no value here is nan or infinite.
REGROUP = {"reassoc", "contract", "nsz", "nnan"}


class RowReadings(NamedTuple):
    """What the products say of each row of a block, in the order of the rows; arrays of shape (n_rows,)."""

    own_similarity: npt.NDArray[np.float64]
    coherent: npt.NDArray[np.bool_]
    coherent_others: npt.NDArray[np.bool_]
    cohesion: npt.NDArray[np.float64]
    separation: npt.NDArray[np.float64]
    own_distance: npt.NDArray[np.float64]
    other_distance: npt.NDArray[np.float64]
    grand_distance: npt.NDArray[np.float64]


@jit(fastmath=REGROUP)
def read_products(
    rows,
    products,
    labels,
    norms,
    sizes,
    sum_norms,
    mean_norms,
    norm_totals,
    grand_norm,
    metric,
    tau,
    slack,
    with_tables,
):
    """Return what the products of some rows (sorted by cluster) say of them, and two tables.

    Parameters: `norms` (n,) squared row norms; `sizes`, `sum_norms` |s_j|, `mean_norms` |mu_j|^2, `norm_totals` sum of
    squared norms, all (k,); `grand_norm` |mu|^2. The tables (clusters met, k) are of the largest similarity to each
    centroid, and of the summed Euclidean distances to each mean; empty ones without `with_tables`.
    """
    own_similarity, cohesion, separation = np.zeros(rows.size), np.zeros(rows.size), np.zeros(rows.size)
    own_distance, other_distance, grand_distance = np.empty(rows.size), np.empty(rows.size), np.empty(rows.size)
    coherent, coherent_others = np.zeros(rows.size, np.bool_), np.zeros(rows.size, np.bool_)
    n_clusters = sizes.size
    n_documents = labels.size
    first = labels[rows[0]]
    n_lines = labels[rows[rows.size - 1]] - first + 1 if with_tables else 0
    largest = np.full((n_lines, n_clusters), -np.inf)
    distances = np.zeros((n_lines, n_clusters))
    inverse_norm = np.zeros(n_clusters)
    inverse_size = np.empty(n_clusters)
    mean_spread = np.empty(n_clusters)
    for j in range(n_clusters):
        inverse_size[j] = 1.0 / sizes[j]
        mean_spread[j] = norm_totals[j] / sizes[j]
        if sum_norms[j] > 0:
            inverse_norm[j] = 1.0 / sum_norms[j]
    similarity = np.empty(n_clusters)
    closeness = np.empty(n_clusters)
    squared = np.empty(n_clusters)
    for place in range(rows.size):
        row = rows[place]
        own = labels[row]
        q = norms[row]
        dots = products[place]
        total_similarity = 0.0
        total = 0.0
        for j in range(n_clusters):
            similarity[j] = dots[j] * inverse_norm[j]
            closeness[j] = dots[j] * inverse_size[j]
            total_similarity += similarity[j]
            total += dots[j]
        if with_tables:
            line = largest[own - first]
            for j in range(n_clusters):
                line[j] = max(line[j], similarity[j])
        own_sim = similarity[own]
        own_similarity[place] = own_sim
        similarity[own] = -1e300
        best_other = -1e300
        for j in range(n_clusters):
            best_other = max(best_other, similarity[j])
        if q > 0 and own_sim > 0:
            coherent[place] = best_other <= total_similarity / n_clusters + slack
            others = (total_similarity - own_sim) / (n_clusters - 1) if n_clusters > 1 else 0.0
            coherent_others[place] = best_other <= others + slack
        # Distances to the means: |x|^2 + |mu_j|^2 - 2 x.mu_j, zero where that is rounding noise.
        for j in range(n_clusters):
            d = q + mean_norms[j] - 2.0 * closeness[j]
            squared[j] = d if d > tau * (q + mean_norms[j]) else 0.0
        if with_tables:
            reach = distances[own - first]
            for j in range(n_clusters):
                reach[j] += np.sqrt(squared[j])
        own_distance[place] = np.sqrt(squared[own])
        squared[own] = 1e300
        nearest = 1e300
        for j in range(n_clusters):
            nearest = min(nearest, squared[j])
        other_distance[place] = np.sqrt(nearest)
        to_all = q + grand_norm - 2.0 * total / n_documents
        grand_distance[place] = np.sqrt(to_all) if to_all > tau * (q + grand_norm) else 0.0
        n_own = sizes[own]
        if metric == COSINE:
            inside = n_own - dots[own]
            inside = inside - (1.0 - q) if inside > tau * n_own else 0.0
            cohesion[place] = inside / (n_own - 1) if n_own > 1 else 0.0
            closeness[own] = -1e300
            best = -1e300
            for j in range(n_clusters):
                best = max(best, closeness[j])
            separation[place] = 1.0 - best if 1.0 - best > tau else 0.0
        elif metric == SQEUCLIDEAN:
            inside = n_own * q + norm_totals[own] - 2.0 * dots[own]
            inside = inside if inside > tau * (n_own * q + norm_totals[own]) else 0.0
            cohesion[place] = inside / (n_own - 1) if n_own > 1 else 0.0
            least = 1e300
            for j in range(n_clusters):
                apart = q + mean_spread[j] - 2.0 * closeness[j]
                apart = apart if apart > tau * (q + mean_spread[j]) else 0.0
                if j != own:
                    least = min(least, apart)
            separation[place] = least
    readings = RowReadings(
        own_similarity,
        coherent,
        coherent_others,
        cohesion,
        separation,
        own_distance,
        other_distance,
        grand_distance,
    )
    return readings, largest, distances
