"""The forces of t-SNE on places in the plane: every place pushes every other one away, and alike ones pull each other.

The innermost loops write to one place each and sum nothing, so the compiler turns them into vector instructions, and a
sum is in the same order everywhere.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit
def repulsion(x, y, from_x, from_y):
    """Return how other places push each place away, along each axis, and how near they are; float32 of (n,) each."""
    across, down, near = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    one = np.float32(1.0)
    for other in range(from_x.size):
        left, top = from_x[other], from_y[other]
        for place in range(x.size):
            dx, dy = x[place] - left, y[place] - top
            q = one / (one + dx * dx + dy * dy)
            near[place] += q
            across[place] += q * q * dx
            down[place] += q * q * dy
    return across, down, near


@jit
def attraction(x, y, graph, to_x, to_y):
    """Return how the neighbours in a graph (indptr, indices, weights) pull places, along each axis; float32 of (n,)."""
    indptr, indices, weights = graph
    across, down = np.zeros_like(x), np.zeros_like(x)
    one = np.float32(1.0)
    for place in range(x.size):
        for position in range(indptr[place], indptr[place + 1]):
            dx, dy = x[place] - to_x[indices[position]], y[place] - to_y[indices[position]]
            pull = weights[position] / (one + dx * dx + dy * dy)
            across[place] += pull * dx
            down[place] += pull * dy
    return across, down
