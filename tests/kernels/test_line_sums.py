"""The intrinsics of the sweep, beside the same sums and bounds written out with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.clustering.movement import choose_places, measure_chords, padded_groups
from doccluster.kernels.assignment import peaks_of
from doccluster.kernels.cache_lines import LINE, sum_lines_and_peaks
from doccluster.kernels.carried_bounds import OCTET, carry_by_changes, carry_by_chords
from doccluster.kernels.jit import jit


@jit
def sums_and_peaks(values, columns, head, start, has_begun, sums, peaks):
    sum_lines_and_peaks(values, columns, 0, values.size, head, start, has_begun, sums, peaks)


@jit
def by_chords(chords, own_lower, upper, row, before):
    return carry_by_chords(chords, own_lower, upper, row, before)


@jit
def by_changes(before, changes, error, rest, lanes, own, own_lower, upper, row):
    return carry_by_changes(before, changes, error, error, rest, lanes, own, own_lower, upper, row)


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
        sums_and_peaks(values, columns, head, start, has_begun, sums, peaks)
        expected = (0.25 if has_begun else start) + values @ head[columns]
        assert sums == pytest.approx(expected, abs=1e-5)
        assert np.array_equal(peaks[:n_lines], sums.reshape(n_lines, LINE).max(axis=1))
        assert (peaks[n_lines:] == -np.inf).all()


@pytest.mark.parametrize("only_shared", [False, True])
@pytest.mark.parametrize("k", [5, 100, 128, 300, 400, 1000])
def test_bounds_are_carried_as_defined(k, only_shared):
    rng = np.random.default_rng(k)
    lanes = rng.permutation(k).astype(np.int32)
    moved = np.flatnonzero(rng.random(k) < 0.3)
    movements = np.zeros(k)
    movements[moved] = rng.random(moved.size)
    places = choose_places(moved, movements, lanes, LINE, only_shared=only_shared)
    chords = measure_chords(moved, movements, places, lanes, LINE)
    n_groups = padded_groups(k, LINE)
    changes = rng.random(places.lane.size).astype(np.float32)
    assert places.lane.size % LINE == 0  # the table of changes has whole lines, and each of its places is described
    assert n_groups % OCTET == 0
    upper = rng.random((3, n_groups)).astype(np.float32)
    before, given = np.empty(n_groups, np.float32), upper.copy()
    reaching = by_chords(chords.of_group, np.float32(0.9), upper, 1, before)
    assert np.array_equal(before, given[1])
    assert np.array_equal(upper[1], given[1] + chords.of_group)
    assert np.array_equal(upper[[0, 2]], given[[0, 2]])
    assert reaching == np.count_nonzero(upper[1] >= np.float32(0.9))

    own, error = int(lanes[moved[0]]), np.float32(0.01)
    reaching = by_changes(before, changes, error, chords.of_rest, places.lane, own, np.float32(0.9), upper, 1)
    expected = before.copy()
    for group in range(n_groups):
        if places.lane[group] < 0:
            expected[group] += min(changes[group] + error, chords.of_rest[group])
    for place, lane in enumerate(places.lane):
        if lane >= 0 and lane != own:
            expected[lane // LINE] = max(expected[lane // LINE], changes[place] + error)
    assert np.array_equal(upper[1], expected)
    assert reaching == np.count_nonzero(expected >= np.float32(0.9))
