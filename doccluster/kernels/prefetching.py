"""Rows that lie here and there, such as those of a cluster, asked for a few rows before they are read."""

from __future__ import annotations

from doccluster.kernels.jit import jit
from doccluster.kernels.simd import prefetch
from doccluster.kernels.simd.lanes import LINE

AHEAD, LINES = 4, 3  # rows, and lines of each; the processor itself asks for what follows in a row


@jit(forceinline=True, inner=True)
def later_row(rows, place):
    """Return the row to ask for while the one at `place` of `rows` is read."""
    return rows[min(place + AHEAD, rows.size - 1)]


@jit(forceinline=True, inner=True)
def prefetch_row(values, columns, first):
    """Ask for the first lines of the row whose entries begin at `first`."""
    for line in range(LINES):
        prefetch(columns, first + line * LINE)
        prefetch(values, first + line * LINE)
