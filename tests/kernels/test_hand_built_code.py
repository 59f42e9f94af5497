"""The hand-built code of the sweep, beside the same sums and bounds written out with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.kernels.assignment import highest_of_lines, lane_holding, peaks_of
from doccluster.kernels.half_table import round_to_halves
from doccluster.kernels.jit import jit
from doccluster.kernels.simd import line_sums
from doccluster.kernels.simd.lanes import LINE, WIDE_LINE


def callers():
    """Return kernels that call the code."""
    add, add_peaks = line_sums.sum_lines, line_sums.sum_lines_and_peaks

    @jit
    def sums(values, columns, head, first_lane, n_lines, start, has_begun, sums):
        add(values, columns, 0, values.size, head, first_lane, n_lines, start, has_begun, sums)

    @jit
    def sums_and_peaks(values, columns, head, start, has_begun, sums, peaks):
        add_peaks(values, columns, 0, values.size, head, start, has_begun, sums, peaks)

    @jit
    def extremes(sums, first, last, left_out):
        top = highest_of_lines(sums, first, last, left_out)
        return top, lane_holding(top, sums, first, last)

    return {f.__name__: f for f in (sums, sums_and_peaks, extremes)}


KERNELS = callers()


@pytest.mark.parametrize("n_terms", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("n_lines", [*range(1, 10), 16, 17, 25])
def test_sums_and_their_highest_are_those_of_the_definition(n_lines, n_terms):
    rng = np.random.default_rng(n_lines)
    head = rng.normal(size=(50, n_lines * LINE)).astype(np.float32)
    values = rng.normal(size=n_terms).astype(np.float32)
    columns = rng.choice(50, n_terms, replace=False).astype(np.int32)
    start = rng.normal(size=head.shape[1]).astype(np.float32)
    for has_begun in (False, True):
        sums, peaks = np.full(start.size, 0.25, np.float32), peaks_of(start.size)
        KERNELS["sums_and_peaks"](values, columns, head, start, has_begun, sums, peaks)
        expected = (0.25 if has_begun else start) + values @ head[columns]
        assert sums == pytest.approx(expected, abs=1e-5)
        assert np.array_equal(peaks[:n_lines], sums.reshape(n_lines, LINE).max(axis=1))
        assert (peaks[n_lines:] == -np.inf).all()


@pytest.mark.parametrize("n_lines", [1, 7, 8, 17])
def test_sums_with_a_table_in_half_precision_are_those_with_its_values(n_lines):
    rng = np.random.default_rng(n_lines)
    halves = rng.random((50, n_lines * LINE)).astype(np.float16)
    values, columns = rng.random(9).astype(np.float32), rng.choice(50, 9, replace=False).astype(np.int32)
    start = np.zeros(halves.shape[1], np.float32)
    found = []
    for table in (halves.view(np.uint16), halves.astype(np.float32)):
        sums, peaks = np.empty_like(start), peaks_of(start.size)
        KERNELS["sums_and_peaks"](values, columns, table, start, False, sums, peaks)
        found.append((sums, peaks))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_a_table_is_rounded_to_half_precision_as_numpy_rounds_it():
    rng = np.random.default_rng(2)
    head = (rng.random((40, 3 * LINE)) * 10.0 ** rng.integers(-9, 1, (40, 3 * LINE))).astype(np.float32)
    halves = np.zeros(head.shape, np.uint16)
    round_to_halves(head, halves)
    assert np.array_equal(halves.view(np.float16), head.astype(np.float16))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_some_lines_are_summed_and_the_others_stay(kind):
    rng = np.random.default_rng(3)
    width = LINE if kind == np.float32 else WIDE_LINE
    head = rng.normal(size=(40, 5 * width)).astype(np.float32)
    values, columns = rng.normal(size=11).astype(np.float32), rng.choice(40, 11, replace=False).astype(np.int32)
    sums, start = np.full(5 * width, 7.0, kind), rng.normal(size=5 * width).astype(kind)
    KERNELS["sums"](values, columns, head, width, 3, start, False, sums)
    expected = start + values.astype(kind) @ head[columns].astype(kind)
    some = slice(width, 4 * width)
    assert sums[some] == pytest.approx(expected[some], abs=1e-5 if kind == np.float32 else 1e-13)
    assert (sums[:width] == 7.0).all()
    assert (sums[4 * width :] == 7.0).all()


def test_the_highest_lane_is_found_but_for_the_one_left_out():
    sums = np.random.default_rng(4).permutation(np.arange(80, dtype=np.float32))
    for first, last in ((0, 16), (16, 80), (48, 64)):
        part = sums[first:last]
        for left_out in (-1, first + int(part.argmax()), 79):
            shown = np.where(np.arange(first, last) == left_out, -np.inf, part)
            found = KERNELS["extremes"](sums, first, last, left_out)
            assert found == (shown.max(), first + shown.argmax())
