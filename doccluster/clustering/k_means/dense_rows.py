"""Rows without zeros: products with the means are a matrix product, and near ties are decided by our own sweep."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.kernels.assignment import UNIT_ROUNDOFF, Bounds
from doccluster.kernels.dense_rows import nearest_of_products

RESERVE = 12  # unit roundoffs for what does not grow with the row, as in our own sweep (docs/explanation/numerics.md)


def rows_left_open(
    dense: npt.NDArray[np.float32],
    head: npt.NDArray[np.float32],
    which: npt.NDArray[np.int64],
    n_clusters: int,
    bounds: Bounds,
) -> npt.NDArray[np.int64]:
    """Write the labels and bounds of the rows `which` of a dense table, as `assign_rows` does, where they are certain.

    Returns the other rows, those in which two means are too close. In whatever order and by however many threads a sum
    of n products is made, it errs by at most n unit roundoffs of the sum of their sizes, which is at most 1 for unit
    vectors (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.1).
    """
    is_run = which.size > 0 and which[-1] - which[0] + 1 == which.size
    some = dense[which[0] : which[-1] + 1] if is_run else dense[which]
    error = np.float32(UNIT_ROUNDOFF * (dense.shape[1] + RESERVE))
    undecided: npt.NDArray[np.int64] = nearest_of_products(some @ head, which, error, n_clusters, bounds)
    return undecided
