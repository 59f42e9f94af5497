"""The nearest mean of rows without zeros, whose products with all means were made by a library of linear algebra."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.simd.lanes import LINE


@jit
def nearest_of_products(products, which, error, n_clusters, bounds):
    """Write what `assign_rows` does for the rows `which`, whose products with all clusters are known within `error`.

    Return the rows that this leaves open. Clusters are lanes.
    """
    labels, lower, upper = bounds
    undecided, n_undecided = np.empty(which.size, np.int64), 0
    for place in range(which.size):
        row, similarities = which[place], products[place]
        own, top, second = 0, similarities[0], np.float32(-np.inf)
        for cluster in range(1, n_clusters):
            if similarities[cluster] > top:
                own, top, second = cluster, similarities[cluster], top
            else:
                second = max(second, similarities[cluster])
        if top - second <= 2 * error:
            undecided[n_undecided] = row
            n_undecided += 1
            continue
        labels[row], lower[row] = own, top - error
        if upper.shape[1] == 0:
            continue
        if n_clusters <= LINE:
            upper[row, 0] = second + error
            continue
        for group in range((n_clusters + LINE - 1) // LINE):
            best = np.float32(-np.inf)
            for cluster in range(group * LINE, min((group + 1) * LINE, n_clusters)):
                if cluster != own:
                    best = max(best, similarities[cluster])
            upper[row, group] = best + error
    return undecided[:n_undecided]
