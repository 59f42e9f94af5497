"""Sweeps over a table of means in half precision: half as many bytes to read, and the same labels.

What the rounding leaves undecided is swept again with the table itself. For means and rows without negative values: a
sum of such products is wrong by at most the share that its factors are.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.assignment import assign_rows, sweep_rows
from doccluster.kernels.jit import jit
from doccluster.kernels.simd import round_line_to_half
from doccluster.kernels.simd.lanes import LINE

# 2**-11 of rounding to 11 binary digits, and as much again for the products of 1 + 2**-11 that it stands in
RELATIVE_ERROR = np.float32(2.0**-11 * (1 + 2.0**-10))


@jit
def round_to_halves(head, halves):
    """Set `halves` (uint16) to the rows of `head`, whole lines, in half precision."""
    singles, rounded = head.ravel(), halves.ravel()
    for first in range(0, singles.size, LINE):
        round_line_to_half(singles, rounded, first)


@jit
def assign_by_halves(rows, table, halves, which, group_width, bounds):
    """Do what `assign_rows` does, with `halves` for the head of the table wherever that decides.

    Return how many rows were swept again.
    """
    undecided = sweep_rows(rows, table, halves, RELATIVE_ERROR, which, group_width, bounds)
    assign_rows(rows, table, undecided, group_width, bounds)
    return undecided.size
