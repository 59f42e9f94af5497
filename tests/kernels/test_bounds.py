"""Bounds on rounding and on movement are tested as bounds: no true value may lie beyond them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.clustering.k_means.assigner import rounded_up
from doccluster.clustering.k_means.sweep import LINE, LaneTable, RowArrays, rounding_error, sum_row
from doccluster.kernels.jit import jit

N_TERMS, N_HEAD = 600, 400


@jit
def sweep_row(rows, split, table, sums):
    """Return the bound on the error of the float32 sums of one row, and make them."""
    start, size = np.zeros(sums.size, np.float32), np.int64(rows.values.size)
    sum_row(rows, np.int64(0), split, size, table, start, sums)
    return rounding_error(np.int64(0), split, size)


def unit_columns(rng, shape, kind):
    """Unit float32 columns: of one sign, of both, or of sizes that differ by powers of ten."""
    drawn = rng.random(shape)
    if kind == "signed":
        drawn -= 0.5
    elif kind == "uneven":
        drawn = 10.0 ** (-8 * drawn)
    return (drawn / np.linalg.norm(drawn, axis=0)).astype(np.float32)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["positive", "signed", "uneven"]), st.integers(1, N_TERMS))
def test_the_float32_sums_of_a_row_err_by_no_more_than_the_bound(seed, kind, length):
    rng = np.random.default_rng(seed)
    means = unit_columns(rng, (N_TERMS, LINE), kind)
    columns = np.sort(rng.choice(N_TERMS, length, replace=False)).astype(np.int32)
    values = unit_columns(rng, (length, 1), kind).ravel()
    if rng.random() < 0.5:  # a mean like the row: the sums are then as large as they can be
        means[:, 0] = 0
        means[columns, 0] = values
    split = int(np.searchsorted(columns, N_HEAD))
    tail = means[N_HEAD:]
    tail_starts = np.arange(tail.shape[0] + 1) * LINE
    tail_lanes = np.tile(np.arange(LINE, dtype=np.int32), tail.shape[0])
    sums = np.empty(LINE, np.float32)
    rows = RowArrays(values, columns, np.array([0, length]), np.arange(N_TERMS, dtype=np.int32))
    table = LaneTable(means[:N_HEAD].copy(), tail_starts, tail_lanes, tail.ravel(), LINE)
    found = sweep_row(rows, split, table, sums)
    exact = values.astype(np.float64) @ means[columns].astype(np.float64)
    assert (np.abs(sums - exact) <= found).all()
    assert 0 < found < 1e-4


@pytest.mark.parametrize("size", [1e-7, 1e-4, 1e-2, 1.0])
def test_a_similarity_rises_by_no_more_than_the_chord_that_its_mean_moved(size):
    rng = np.random.default_rng(0)
    rows = unit_columns(rng, (50, 400), "signed").T
    old = unit_columns(rng, (50, 1), "signed").ravel()
    for _ in range(20):
        new = old + size * rng.normal(size=50) / np.sqrt(50)
        new = (new / np.linalg.norm(new)).astype(np.float32)
        movement = float(np.linalg.norm(new.astype(np.float64) - old))
        before, after = (rows.astype(np.float64) @ mean.astype(np.float64) for mean in (old, new))
        carried = before.astype(np.float32) + rounded_up(np.array([movement]))
        assert (carried >= after).all()
        old = new
