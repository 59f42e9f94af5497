"""Bounds on rounding and on movement are tested as bounds: no true value may lie beyond them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from doccluster.clustering.k_means.assign import SparseMeans
from doccluster.clustering.k_means.sweep import (
    CHORD_SLACK,
    FIXED_ADDITIONS,
    ROUNDING,
    UNIT_ROUNDOFF,
    NearestCentroids,
    sweep,
)
from doccluster.clustering.k_means.term_places import LINE, TermPlaces
from doccluster.clustering.k_means.unit_documents import UnitDocuments
from tests.conftest import examples

N_TERMS, N_HEAD = 600, 400


def unit_columns(rng, shape, kind):
    """Unit float32 columns: of one sign, of both, or of sizes that differ by powers of ten."""
    drawn = rng.random(shape)
    if kind == "signed":
        drawn -= 0.5
    elif kind == "uneven":
        drawn = 10.0 ** (-8 * drawn)
    return (drawn / np.linalg.norm(drawn, axis=0)).astype(np.float32)


@settings(max_examples=examples(150))
@given(st.integers(0, 2**32 - 1), st.sampled_from(["positive", "signed", "uneven"]), st.integers(1, N_TERMS))
def test_the_cosines_of_a_sweep_err_by_no_more_than_the_bound(seed, kind, length):
    rng = np.random.default_rng(seed)
    means = unit_columns(rng, (N_TERMS, 2), kind)
    columns = np.sort(rng.choice(N_TERMS, length, replace=False)).astype(np.int32)
    values = unit_columns(rng, (length, 1), kind).ravel()
    if rng.random() < 0.5:  # a mean like the row: the cosine is then as large as it can be
        means[:, 0] = 0
        means[columns, 0] = values
    row = sparse.csr_array((values, columns, [0, length]), shape=(1, N_TERMS))
    documents = UnitDocuments(row, np.ones(1))
    places = TermPlaces.of(rng.integers(1, 9, N_TERMS), 2, N_HEAD)
    nearest, centroids = NearestCentroids(documents, places), SparseMeans(sparse.csr_array(means.T), places)
    table, scratch = (
        centroids.table_for(documents),
        (np.empty(LINE, np.float32), np.empty(LINE, np.int32), np.empty(LINE, np.int32), FIXED_ADDITIONS),
    )
    assert (table.cells.itemsize == 2) == (kind != "signed")
    candidates = np.empty(LINE, np.int64), np.empty(LINE, np.int64)
    sweep(nearest.rows, table, np.arange(1), nearest.bounds, scratch, candidates)
    exact = np.sort((row.astype(np.float64) @ means.astype(np.float64)).ravel())
    bounds = nearest.bounds.lower[0], nearest.bounds.upper[:, 0].max()
    n_rare = np.count_nonzero(places.number[columns] >= N_HEAD)
    rounding = UNIT_ROUNDOFF * (FIXED_ADDITIONS + (length - n_rare) / 4 + n_rare)
    errors = [rounding + table.cell_roundoff * max(cosine, 0) for cosine in exact[::-1]]
    assert exact[1] - 2.1 * errors[0] <= bounds[0] <= exact[1]
    assert exact[0] <= bounds[1] <= exact[0] + 2.1 * errors[1]
    assert 0 < errors[1] <= errors[0] < 1e-3


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
        carried = before.astype(np.float32) + np.float32(movement * CHORD_SLACK + ROUNDING)
        assert (carried >= after).all()
        old = new
