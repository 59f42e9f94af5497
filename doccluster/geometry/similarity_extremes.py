"""What the products of documents with cluster sums say of each document and each pair of clusters, in one reading.

A block of rows comes in with its products (b x k); out go values for each of its documents, and two tables with a line
for each cluster that the block meets. Nothing of size n x k is ever kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.arguments import COSINE, SQEUCLIDEAN
from doccluster.kernels.jit import jit

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


class Labelled(NamedTuple):
    """All documents: their labels and squared norms (n,), and the rounding of their rows (see `geometry.rows`)."""

    labels: npt.NDArray[np.int64]
    squared_norms: npt.NDArray[np.float64]
    tau: float
    slack: float


class ClusterNorms(NamedTuple):
    """What is known of each of the k clusters, arrays of shape (k,), and of all documents.

    ``inverse_norms`` is 1 / |s_j| or 0, ``mean_norms`` |mu_j|^2, ``norm_totals`` the sum of squared norms,
    ``mean_spreads`` that sum divided by the size, ``grand_norm`` |mu|^2.
    """

    sizes: npt.NDArray[np.float64]
    inverse_sizes: npt.NDArray[np.float64]
    inverse_norms: npt.NDArray[np.float64]
    mean_norms: npt.NDArray[np.float64]
    norm_totals: npt.NDArray[np.float64]
    mean_spreads: npt.NDArray[np.float64]
    grand_norm: float


class ClusterReadings(NamedTuple):
    """Tables of shape (clusters met by a block, k), or with no line, and room to work in of shape (3, k).

    They are of the largest similarity to each centroid, and of the summed Euclidean distances to each mean.
    """

    largest: npt.NDArray[np.float64]
    distances: npt.NDArray[np.float64]
    room: npt.NDArray[np.float64]


def empty_readings(n_rows: int, n_lines: int, n_clusters: int) -> tuple[RowReadings, ClusterReadings]:
    """Return the arrays that `read_products` fills in. Made here, they cost it no time of compiling."""
    numbers, answers = np.zeros((6, n_rows)), np.zeros((2, n_rows), np.bool_)
    readings = RowReadings(numbers[0], answers[0], answers[1], *numbers[1:])
    largest, distances = np.full((n_lines, n_clusters), -np.inf), np.zeros((n_lines, n_clusters))
    return readings, ClusterReadings(largest, distances, np.empty((3, n_clusters)))


@jit(fastmath=REGROUP)
def read_products(rows, products, documents, clusters, metric, readings, tables):
    """Write what the products of some rows (sorted by cluster) say of them, and of pairs of clusters.

    documents: `Labelled`; clusters: `ClusterNorms`; readings, tables: as `empty_readings` returns them.
    """
    labels, norms, tau, slack = documents
    sizes, inverse_size, inverse_norm, mean_norms, norm_totals, mean_spread, grand_norm = clusters
    own_similarity, coherent, coherent_others, cohesion, separation = readings[:5]
    own_distance, other_distance, grand_distance = readings[5:]
    largest, distances, room = tables
    similarity, closeness, squared = room[0], room[1], room[2]
    n_clusters, n_documents = sizes.size, 0.0
    for j in range(n_clusters):
        n_documents += sizes[j]
    first, with_tables = labels[rows[0]], largest.shape[0] > 0
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
