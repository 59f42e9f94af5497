"""The loop that compares sparse rows with many clusters, a row after the other."""

from __future__ import annotations

import numpy as np

from doccluster.base.compiled import jit

NONE_YET = (-1e300, -1e300, 1e300, 1e300)  # below every similarity, above every distance
WITHOUT_NAN = {"nnan", "nsz"}  # so that a largest value is found many at a time; no digit changes


@jit(inner=True, fastmath=WITHOUT_NAN)
def nearest_in_range(products, of_clusters, first, last, q, tau, best):
    """Take the nearest clusters from the first to before the last into the best so far, and empty their products."""
    inverse_norms, sizes, mean_norms, spreads = of_clusters
    nearest, closest, least, apart = best
    for c in range(first, last):
        product = products[0, c] + products[1, c]
        products[0, c] = products[1, c] = 0.0
        similarity, closeness = product * inverse_norms[c], product / sizes[c]
        norm, spread = q + mean_norms[c], q + spreads[c]
        squared, between = norm - 2.0 * closeness, spread - 2.0 * closeness
        squared = squared if squared > tau * norm else 0.0
        between = between if between > tau * spread else 0.0
        nearest = similarity if similarity > nearest else nearest
        closest = closeness if closeness > closest else closest
        least = squared if squared < least else least
        apart = between if between < apart else apart
    return nearest, closest, least, apart


@jit
def compare_rows(parts, of_rows, lists, of_clusters, products, found):
    """Write the product of each row with its own cluster, and what is nearest of the others as in `Compared`.

    `parts`: the terms of the rows in two parts (Csr), whose products are added. `of_rows`: their clusters, squared
    norms and the share of these that is noise. `lists`: the sums by term (Csr). `products`: 0 for each part and
    cluster.
    """
    clusters, squared_norms, tau = of_rows
    list_starts, list_clusters, list_sums = lists
    for row in range(clusters.size):
        for part in range(2):
            starts, terms, values = parts[part]
            for place in range(starts[row], starts[row + 1]):
                value = values[place]
                for at in range(list_starts[terms[place]], list_starts[terms[place] + 1]):
                    products[part, list_clusters[at]] += value * list_sums[at]
        own, q, best = clusters[row], squared_norms[row], NONE_YET
        found[0, row] = products[0, own] + products[1, own]
        products[0, own] = products[1, own] = 0.0
        best = nearest_in_range(products, of_clusters, np.int64(0), own, q, tau, best)
        best = nearest_in_range(products, of_clusters, own + 1, products.shape[1], q, tau, best)
        found[1, row], found[2, row], found[3, row], found[4, row] = best
