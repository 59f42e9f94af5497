"""The hand-built code of the sweep, beside the same sums written out with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.clustering.k_means.lanes import LINE
from doccluster.clustering.k_means.line_sums import add_lines
from doccluster.clustering.k_means.sweep import highest_of_lines, lane_holding
from doccluster.kernels.jit import jit


@jit
def add(values, columns, head, lane, n_lines, sums):
    add_lines(values, columns, 0, values.size, head, lane, n_lines, sums)


@jit
def extremes(sums, first, last, left_out):
    top = highest_of_lines(sums, first, last, left_out)
    return top, lane_holding(top, sums, first, last)


@pytest.mark.parametrize("n_terms", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("n_lines", range(1, 9))
def test_some_lines_are_added_to_and_the_others_stay(n_lines, n_terms):
    rng = np.random.default_rng(n_lines)
    head = rng.normal(size=(50, (n_lines + 2) * LINE)).astype(np.float32)
    values = rng.normal(size=n_terms).astype(np.float32)
    columns = rng.choice(50, n_terms, replace=False).astype(np.int32)
    before = rng.normal(size=head.shape[1]).astype(np.float32)
    sums = before.copy()
    add(values, columns, head, LINE, n_lines, sums)
    some = slice(LINE, (n_lines + 1) * LINE)
    expected = before + values @ head[columns]
    assert sums[some] == pytest.approx(expected[some], abs=1e-5)
    assert np.array_equal(np.delete(sums, np.r_[some]), np.delete(before, np.r_[some]))


def test_the_highest_lane_is_found_but_for_the_one_left_out():
    sums = np.random.default_rng(4).permutation(np.arange(80, dtype=np.float32))
    for first, last in ((0, 16), (16, 80), (48, 64)):
        part = sums[first:last]
        for left_out in (-1, first + int(part.argmax()), 79):
            shown = np.where(np.arange(first, last) == left_out, -np.inf, part)
            found = extremes(sums, first, last, left_out)
            assert found == (shown.max(), first + shown.argmax())
