"""Distinct terms for one document, drawn by weight: the loop under the twin of a corpus."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.jit import jit

PATIENCE = 30  # draws per term of a document, before what is left is taken in order of weight


class Weighted(NamedTuple):
    """Terms to draw from, the heaviest first: their cumulative weights, and their columns."""

    edges: npt.NDArray[np.float64]
    columns: npt.NDArray[np.int32]


@jit
def draw_distinct(own, common, common_share, uniforms, seen, stamp, out):
    """Fill `out` with distinct columns, each drawn from a cluster's own terms or from those of the whole corpus.

    Parameters
    ----------
    own, common : Weighted
        The terms of the cluster, and of the corpus; the latter has every column that may be needed, at least
        `out.size`.
    common_share : float
        The probability that a draw is from the corpus.
    uniforms : float64 array
        Uniform numbers in [0, 1); when they are used up, the heaviest terms that are left are taken.
    seen : int64 array of shape (n_terms,)
        Marks; a column is taken when its mark is `stamp`, which no earlier document had.
    stamp : int
    out : int32 array, written
    """
    edges, columns = own
    common_edges, common_columns = common
    n_found = 0
    for u in uniforms:
        if n_found == out.size:
            return
        if u < common_share:
            place = np.searchsorted(common_edges, u / common_share * common_edges[-1], side="right")
            column = common_columns[min(place, common_columns.size - 1)]
        else:
            place = np.searchsorted(edges, (u - common_share) / (1.0 - common_share) * edges[-1], side="right")
            column = columns[min(place, columns.size - 1)]
        if seen[column] != stamp:
            seen[column] = stamp
            out[n_found] = column
            n_found += 1
    for rest in (columns, common_columns):
        for column in rest:
            if n_found < out.size and seen[column] != stamp:
                seen[column] = stamp
                out[n_found] = column
                n_found += 1
