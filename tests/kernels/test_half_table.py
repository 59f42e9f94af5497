"""A sweep over a table in half precision has the labels of float64 arithmetic, and its bounds hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.clustering.k_means import assigner
from doccluster.clustering.k_means.assigner import Assigner
from doccluster.clustering.k_means.document_matrix import prepare
from doccluster.clustering.k_means.mean_table import lane_table
from doccluster.clustering.k_means.means import means_of_rows
from doccluster.kernels.assignment import Bounds
from doccluster.kernels.half_table import assign_by_halves, round_to_halves
from doccluster.kernels.simd.lanes import LINE, OCTET, aligned_zeros
from tests.clustering.test_exact_labels import DATA, compare, topics, unit


def sparse_rows(rng, kind):
    drawn = rng.random((300, 90)) * (rng.random((300, 90)) < 0.3)
    drawn[:, 0] += 1e-3  # no row is zero
    return unit(drawn ** (12 if kind == "uneven" else 1))


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["even", "uneven"]), st.integers(2, 40), st.sampled_from([30, 90]))
def test_labels_and_bounds_are_those_of_the_definition(seed, kind, k, n_head):
    rng = np.random.default_rng(seed)
    documents, _ = prepare(sparse_rows(rng, kind))
    means = means_of_rows(documents, rng.permutation(300)[:k])
    table = lane_table(means, n_head)
    halves = aligned_zeros(table.head.shape, np.uint16)
    round_to_halves(table.head, halves)
    n_groups = -(-k // LINE)
    bounds = Bounds(np.zeros(300, np.int32), np.empty(300, np.float32), np.full((300, OCTET), -2, np.float32))
    assign_by_halves(documents.rows(slice(0, 300)), table, halves, np.arange(300), LINE, bounds)

    rows = np.zeros((300, 90))
    for row in range(300):
        own = slice(documents.starts[row], documents.starts[row + 1])
        rows[row, documents.columns[own]] = documents.values[own]
    exact = rows @ means.toarray().T.astype(np.float64)
    assert np.array_equal(bounds.labels, exact.argmax(axis=1))
    assert (bounds.lower <= exact.max(axis=1)).all()
    for group in range(n_groups):
        members = np.arange(group * LINE, min((group + 1) * LINE, k))
        others = np.where(members[None, :] == bounds.labels[:, None], -3, exact[:, members])
        assert (bounds.upper[:, group] >= others.max(axis=1)).all()


def test_few_rows_are_swept_again():
    documents, _ = prepare(topics())
    table = lane_table(means_of_rows(documents, np.arange(24)), documents.n_columns)
    halves = aligned_zeros(table.head.shape, np.uint16)
    round_to_halves(table.head, halves)
    n = documents.n_documents
    bounds = Bounds(np.zeros(n, np.int32), np.empty(n, np.float32), np.empty((n, 0), np.float32))
    assert assign_by_halves(documents.rows(slice(0, n)), table, halves, np.arange(n), LINE, bounds) < 0.1 * n


@pytest.mark.parametrize("algorithm", ["every row", "bounds"])
@pytest.mark.parametrize("data", DATA)
def test_every_iteration_with_half_precision_equals_the_naive_definition(data, algorithm, monkeypatch):
    monkeypatch.setattr(assigner, "HALVES_FROM", 0)
    matrix = DATA[data]()
    rows = np.random.default_rng(7).permutation(matrix.shape[0])[:7]
    assert compare(matrix, rows, algorithm=algorithm) >= 1


def test_no_half_table_is_made_where_it_does_not_fit_or_values_are_negative(monkeypatch):
    monkeypatch.setattr(assigner, "HALVES_FROM", 0)
    rng = np.random.default_rng(0)
    made, round_to_halves = [], assigner.round_to_halves
    monkeypatch.setattr(assigner, "round_to_halves", lambda *given: made.append(1) or round_to_halves(*given))
    for matrix, with_halves, is_made in (
        (topics(), True, True),
        (topics(), False, False),
        (unit(rng.normal(size=(60, 40))), True, False),
    ):
        made.clear()
        documents, _ = prepare(matrix)
        labels = Assigner(documents, means_of_rows(documents, np.arange(5)), with_halves=with_halves).assign()
        assert bool(made) == is_made
        assert labels[:5].tolist() == list(range(5))
