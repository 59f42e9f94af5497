"""Bounds of documents carried over a move of the means: who may have another label, told without a look at any row.

The loop is plain and of a length that vectors like: bounds are padded to whole octets, and what a padding group holds
is lower than every similarity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit


class Chords(NamedTuple):
    """Upper bounds on how far similarities can have risen, float32: |x.c' - x.c| <= |c' - c|."""

    of_group: Any  # array of shape (n_groups,), whole octets: the largest movement in each group
    of_cluster: Any  # array of shape (n_lanes,)


@jit
def rows_in_question(chords, bounds):
    """Carry the bounds of all rows over a move of the means and return the rows that may have a new label."""
    labels, lower, upper = bounds
    rows, n_rows = np.empty(labels.size, np.int64), 0
    for row in range(labels.size):
        own_lower = lower[row] - chords.of_cluster[labels[row]]
        lower[row] = own_lower
        reaching = 0
        for group in range(upper.shape[1]):
            upper[row, group] += chords.of_group[group]
            reaching += upper[row, group] >= own_lower
        if reaching:
            rows[n_rows] = row
            n_rows += 1
    return rows[:n_rows]
