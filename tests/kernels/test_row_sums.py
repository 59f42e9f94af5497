"""The innermost loops of the sweep, beside the same sums written out with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.clustering.k_means.sweep import LINE, add_lines, highest_of_lines, lane_holding
from doccluster.kernels.jit import jit


@jit
def add(values, columns, first, last, head, sums):
    add_lines(values, columns, first, last, head, sums)


@jit
def extremes(sums, first, last, left_out):
    top = highest_of_lines(sums, first, last, left_out)
    return top, lane_holding(top, sums, first, last)


@pytest.mark.parametrize("n_terms", [0, 1, 3, 4, 9])
def test_the_products_of_a_row_are_added(n_terms):
    rng = np.random.default_rng(n_terms)
    head = rng.normal(size=(50, 3 * LINE)).astype(np.float32)
    values = rng.normal(size=n_terms + 2).astype(np.float32)
    columns = rng.choice(50, n_terms + 2, replace=False).astype(np.int32)
    before = rng.normal(size=head.shape[1]).astype(np.float32)
    sums = before.copy()
    add(values, columns, 1, n_terms + 1, head, sums)
    expected = before + values[1:-1] @ head[columns[1:-1]]
    assert sums == pytest.approx(expected, abs=1e-5)


def test_the_highest_lane_is_found_but_for_the_one_left_out():
    sums = np.random.default_rng(4).permutation(np.arange(80, dtype=np.float32))
    for first, last in ((0, 16), (16, 80), (48, 64)):
        part = sums[first:last]
        for left_out in (-1, first + int(part.argmax()), 79):
            shown = np.where(np.arange(first, last) == left_out, -np.inf, part)
            found = extremes(sums, first, last, left_out)
            assert found == (shown.max(), first + shown.argmax())
