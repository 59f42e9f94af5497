"""Neighbours that are looked for in cells, beside a search of those cells row by row, and the exact ones."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.plain_values import parse_size
from doccluster.clustering.smoothed.document_spaces import FIT_BYTES, cells_of, check_memory, search_cells
from doccluster.errors import InputError, MemoryLimitError
from doccluster.geometry import nearest_neighbours

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(9)
    topics = rng.integers(20, size=900)
    counts = rng.poisson(0.02 + 1.0 * (np.arange(400)[None, :] // 20 == topics[:, None]))
    counts = counts * rng.uniform(0.9, 1.1, (900, 400))  # no ties
    dense = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-12)
    return sparse.csr_array(dense.astype(np.float32))


def test_the_cells_a_document_probes_are_the_nearest_ones(rows):
    cells = search_cells(rows, n_probes=4, random_state=0)
    assert cells.probes.shape == (900, 4)
    assert np.unique(cells.labels).size > 20
    assert np.array_equal(cells.labels, cells.probes[:, 0])
    assert all(np.unique(probes).size == 4 for probes in cells.probes)


def test_the_neighbours_are_the_nearest_members_of_those_cells(rows):
    cells = search_cells(rows, n_probes=3, random_state=0)
    found = nearest_neighbours(rows, 5, fold=None, cells=cells)
    dense = rows.toarray().astype(np.float64)
    for row in range(0, 900, 7):
        near = np.flatnonzero(np.isin(cells.labels, cells.probes[row]) & (np.arange(900) != row))
        cosines = dense[near] @ dense[row]
        order = np.argsort(-cosines, kind="stable")[:5]
        expected = cosines[order]
        assert found.similarity[row] == pytest.approx(np.where(expected > 0, expected, 0), abs=1e-6)


def test_nearly_all_neighbours_are_found_and_all_with_all_cells(rows):
    exact = nearest_neighbours(rows, 10)
    some = nearest_neighbours(rows, 10, cells=search_cells(rows, n_probes=8, random_state=1))
    recall = np.mean([np.isin(one, two).mean() for one, two in zip(exact.neighbours, some.neighbours, strict=True)])
    assert recall > 0.9
    every = nearest_neighbours(rows, 10, cells=search_cells(rows, n_probes=100, random_state=1))
    assert np.array_equal(every.neighbours, exact.neighbours)
    assert every.similarity == pytest.approx(exact.similarity, abs=1e-12)


def test_copies_are_folded_in_cells_too(rows):
    doubled = sparse.csr_array(sparse.vstack([rows[:300], rows[:300]]))
    found = nearest_neighbours(doubled, 5, cells=search_cells(doubled, random_state=0))
    assert found.first.size == 300
    assert np.array_equal(found.families[:300], found.families[300:])


@pytest.mark.usefixtures("starts_threads")
def test_threads_change_nothing(rows):
    found = [
        nearest_neighbours(rows, 6, cells=search_cells(rows, n_probes=4, random_state=2, n_threads=n), n_threads=n)
        for n in (1, 2, 4)
    ]
    for other in found[1:]:
        assert np.array_equal(found[0].neighbours, other.neighbours)
        assert np.array_equal(found[0].similarity, other.similarity)


def test_small_and_odd_matrices_have_cells():
    for matrix in ([[1.0]], [[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0]] * 9):
        rows = sparse.csr_array(matrix)
        assert search_cells(rows, random_state=0).labels.shape == (rows.shape[0],)
    with pytest.raises(InputError, match="n_probes=0"):
        search_cells(sparse.csr_array([[1.0]]), n_probes=0)


def test_many_documents_are_searched_in_cells(rows, monkeypatch):
    monkeypatch.setattr("doccluster.clustering.smoothed.document_spaces.EXACT_UP_TO", 500)
    monkeypatch.setattr(
        "doccluster.clustering.smoothed.document_spaces.search_cells", partial(search_cells, n_probes=1)
    )
    made = nearest_neighbours(rows, 5, cells=cells_of(rows, np.random.default_rng(0), 1))
    expected = nearest_neighbours(rows, 5, cells=search_cells(rows, n_probes=1, random_state=np.random.default_rng(0)))
    assert np.array_equal(made.neighbours, expected.neighbours)
    assert not np.array_equal(made.neighbours, nearest_neighbours(rows, 5).neighbours)


def smallest_memory(rows):
    with pytest.raises(MemoryLimitError) as refused:
        check_memory(rows, 20, 10, 1)
    return parse_size(str(refused.value).split("give ")[1].split(",")[0])


MEASURED = """
import numpy as np
from scipy import sparse
from doccluster.clustering.smoothed.document_spaces import search_cells
from doccluster.geometry import nearest_neighbours
from experiments.quality.peak_memory import PeakMemory

rng = np.random.default_rng(5)
rows = sparse.random_array((6000, 3000), density=0.004, rng=rng, format="csr", dtype=np.float32)
cells = search_cells(rows, random_state=0)  # this and the next line load machine code, which would count too
nearest_neighbours(rows[:500], 10, cells=search_cells(rows[:500], random_state=0))
for work in (lambda: search_cells(rows, random_state=0), lambda: nearest_neighbours(rows, 10, cells=cells)):
    with PeakMemory() as memory:
        work()
    print(memory.added)
"""


def test_the_memory_of_a_search_in_cells_is_counted(monkeypatch):
    rng = np.random.default_rng(5)
    rows = sparse.random_array((6000, 3000), density=0.004, rng=rng, format="csr", dtype=np.float32)
    exact = smallest_memory(rows)
    monkeypatch.setattr("doccluster.clustering.smoothed.document_spaces.EXACT_UP_TO", 500)
    # in a process of its own: threads of other tests would add their memory
    measured = subprocess.run([sys.executable, "-c", MEASURED], cwd=ROOT, capture_output=True, text=True, check=True)
    search, neighbours = map(float, measured.stdout.split())
    assert search > 8 * 6000 * 77 * 0.9  # similarities to 77 centroids are held
    assert exact + 0.9 * search < smallest_memory(rows) + FIT_BYTES  # counted once for all fits
    assert neighbours < smallest_memory(rows)


def test_fewer_cells_are_probed_of_more_documents_so_that_as_many_are_compared(monkeypatch):
    rows = sparse.random_array((2500, 300), density=0.05, rng=np.random.default_rng(2), format="csr", dtype=np.float32)
    monkeypatch.setattr("doccluster.clustering.smoothed.document_spaces.CANDIDATES", 500)
    assert search_cells(rows, random_state=0).probes.shape == (2500, 10)  # of 50 cells of some 50
    assert search_cells(rows[:900], random_state=0).probes.shape == (900, 17)  # of 30 cells of some 30
    monkeypatch.setattr("doccluster.clustering.smoothed.document_spaces.CANDIDATES", 50)
    assert search_cells(rows, random_state=0).probes.shape == (2500, 4)


@pytest.mark.usefixtures("starts_threads")
def test_neighbours_of_dense_rows_are_found_in_cells_whatever_the_threads():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 24))
    rows = centres[rng.integers(0, 40, 3000)] + 0.6 * rng.normal(size=(3000, 24))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    rows[5] = 0
    exact = nearest_neighbours(rows, 10, fold=None)
    found = [
        nearest_neighbours(
            rows, 10, fold=None, cells=search_cells(rows, n_probes=6, random_state=0, n_threads=n), n_threads=n
        )
        for n in (1, 3)
    ]
    assert np.array_equal(found[0].neighbours, found[1].neighbours)
    assert np.array_equal(found[0].similarity, found[1].similarity)
    shared = [np.isin(one, two).mean() for one, two in zip(exact.neighbours, found[0].neighbours, strict=True)]
    assert np.mean(shared) > 0.9
    assert (found[0].neighbours[5] == -1).all()
    own = np.einsum("ij,ikj->ik", rows, rows[found[0].neighbours])
    there = found[0].neighbours >= 0
    assert found[0].similarity[there] == pytest.approx(own[there], abs=1e-6)
    assert (np.diff(found[0].similarity, axis=1) <= 0).all()
    every = nearest_neighbours(rows, 10, fold=None, cells=search_cells(rows, n_probes=10_000, random_state=0))
    assert np.array_equal(every.neighbours, exact.neighbours)
