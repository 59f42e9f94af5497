"""The order of clusters in a heat map: alike ones next to one another, so that groups are seen as blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform


def similar_next_to_one_another(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the order of rows in which neighbours are as near as a tree of average linkage allows.

    Parameters
    ----------
    distances : float64 array of shape (k, k), symmetric
        The diagonal is not looked at; an undefined distance (nan) counts as the largest there is. At most a few hundred
        rows: the time grows with the cube of k.

    Notes
    -----
    Bar-Joseph, Gifford & Jaakkola 2001, doi:10.1093/bioinformatics/17.suppl_1.S22. Of the two directions the one that
    begins with the lower number is taken.

    Examples
    --------
    >>> near_and_far = np.array([[0, 0.9, 0.1], [0.9, 0, 0.8], [0.1, 0.8, 0]])
    >>> similar_next_to_one_another(near_and_far).tolist()
    [0, 2, 1]
    """
    k = len(distances)
    if k < 3:
        return np.arange(k, dtype=np.int64)
    off_diagonal = ~np.eye(k, dtype=bool)
    known = distances[off_diagonal & ~np.isnan(distances)]
    filled = np.where(np.isnan(distances), known.max(initial=0.0), distances)
    filled = np.maximum((filled + filled.T) / 2, 0.0)  # rounding may leave -1e-17
    np.fill_diagonal(filled, 0.0)
    tree = linkage(squareform(filled, checks=False), method="average", optimal_ordering=True)
    order: npt.NDArray[np.int64] = leaves_list(tree).astype(np.int64)
    return order if order[0] <= order[-1] else order[::-1]
