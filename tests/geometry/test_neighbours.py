"""Nearest neighbours beside the whole table of cosines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from doccluster.base.place import FilePlace
from doccluster.base.validation import unit_rows
from doccluster.clustering.smoothed.document_spaces import search_cells
from doccluster.errors import InputError
from doccluster.geometry import nearest_neighbours


@pytest.fixture(params=[-1, 2**9], ids=["lists", "products"], autouse=True)
def few_rows(request, monkeypatch):
    """Search few rows by the compiled loop too, which is for more, and by products."""
    monkeypatch.setattr("doccluster.geometry.neighbours.FEW_ROWS", request.param)


def zipf_rows(seed, n_documents=150, n_terms=400):
    """Rows of terms as common and rare as words, as unit rows in float32."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, n_terms + 1)
    counts = rng.multinomial(30, share / share.sum(), size=n_documents).astype(float)
    idf = np.log(n_documents / np.maximum((counts > 0).sum(axis=0), 1)) + 1
    rows = counts * idf
    return sparse.csr_array((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))


def naive(matrix, k):
    """The k nearest other rows of each, by similarity and then by number."""
    cosines = matrix.toarray().astype(float) @ matrix.toarray().astype(float).T
    lists = []
    for row, own in enumerate(cosines):
        others = sorted((-own[other], other) for other in range(own.size) if other != row and own[other] > 0)
        lists.append([(other, -similarity) for similarity, other in others[:k]])
    return lists


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 3, 10])
def test_neighbours_are_those_of_the_whole_table(seed, k):
    matrix = zipf_rows(seed)
    graph = nearest_neighbours(matrix, k, fold=None)
    for row, expected in enumerate(naive(matrix, k)):
        assert graph.neighbours[row].tolist() == [other for other, _ in expected] + [-1] * (k - len(expected))
        assert graph.similarity[row, : len(expected)] == pytest.approx([value for _, value in expected], abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_so_are_those_of_short_documents_of_which_few_share_a_term(seed):
    rng = np.random.default_rng(seed)
    dense = np.zeros((400, 500))
    for row in dense:
        row[rng.choice(np.arange(1, 500), rng.integers(1, 4), replace=False)] = rng.uniform(0.5, 1.5)
    dense[rng.random(400) < 0.7, 0] = rng.uniform(0.05, 0.1)  # a common term that matters only where nothing else does
    rows = (dense / np.linalg.norm(dense, axis=1, keepdims=True)).astype(np.float32)
    matrix = sparse.csr_array(rows)
    matrix.data[rng.choice(matrix.nnz, 20, replace=False)] = 0.0  # stored zeros are as good as none
    graph = nearest_neighbours(matrix, 4, fold=None)
    cosines = rows_of_unit_length(matrix.toarray()) @ rows_of_unit_length(matrix.toarray()).T
    np.fill_diagonal(cosines, 0.0)
    largest = -np.sort(-cosines, axis=1)[:, :4]
    assert graph.similarity == pytest.approx(largest, abs=1e-6)
    listed = graph.neighbours >= 0
    assert np.array_equal(listed, largest > 0)
    there = np.nonzero(listed)
    assert cosines[there[0], graph.neighbours[there]] == pytest.approx(graph.similarity[there], abs=1e-6)


def rows_of_unit_length(dense):
    lengths = np.linalg.norm(dense.astype(float), axis=1, keepdims=True)
    return dense / np.where(lengths > 0, lengths, 1.0)


def test_the_graph_is_that_of_scikit_learn():
    matrix = zipf_rows(9)
    graph = nearest_neighbours(matrix, 5, fold=None).to_csr()
    peer = kneighbors_graph(matrix, 5, metric="cosine", mode="distance")
    assert np.array_equal(graph.indices.reshape(-1, 5), np.sort(peer.indices.reshape(-1, 5), axis=1))
    assert np.sort(1 - graph.data.reshape(-1, 5)) == pytest.approx(np.sort(peer.data.reshape(-1, 5)), abs=1e-6)


def test_rows_without_common_terms_have_no_neighbours():
    matrix = sparse.csr_array(np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 1.0, 1.0], [0, 0, 0]]))
    graph = nearest_neighbours(matrix, 2)
    assert graph.neighbours.tolist() == [[-1, -1], [2, -1], [1, -1], [-1, -1]]
    assert graph.similarity[1, 0] == pytest.approx(2**-0.5, abs=1e-7)


def test_copies_are_folded_however_many_there_are():
    matrix = zipf_rows(1, n_documents=40)
    copies = np.concatenate([np.arange(40), np.zeros(25, int), np.full(30, 7)])
    graph = nearest_neighbours(matrix[copies], 4)
    plain = nearest_neighbours(matrix, 4, fold=None)
    assert np.array_equal(graph.families, copies)
    assert np.array_equal(graph.first, np.arange(40))
    assert np.array_equal(graph.neighbours, plain.neighbours)


def test_the_symmetric_graph_has_an_edge_where_either_end_has_one():
    graph = nearest_neighbours(zipf_rows(3), 3, fold=None)
    one_way, both = graph.to_csr().toarray(), graph.symmetric().toarray()
    assert np.array_equal(both, both.T)
    assert np.array_equal(both, np.maximum(one_way, one_way.T))


@pytest.mark.usefixtures("starts_threads")
def test_threads_and_lengths_change_nothing():
    matrix = zipf_rows(2)
    longer = sparse.csr_array(sparse.diags_array(2.0 ** np.arange(150) / 2.0**70) @ matrix.astype(np.float64))
    plain = nearest_neighbours(matrix, 6, n_threads=1)
    for other in (nearest_neighbours(matrix, 6, n_threads=3), nearest_neighbours(longer, 6)):
        assert np.array_equal(plain.neighbours, other.neighbours)
        assert plain.similarity == pytest.approx(other.similarity, abs=1e-6)


def test_negative_values_are_refused():
    with pytest.raises(InputError, match="negative values"):
        nearest_neighbours(sparse.csr_array([[1.0, -1.0], [1.0, 0.0]]), 1)


@pytest.mark.parametrize("is_dense", [False, True])
@pytest.mark.parametrize("in_cells", [False, True])
def test_some_rows_and_rows_in_files_have_the_neighbours_of_these_rows_alone(tmp_path, is_dense, in_cells):
    matrix = zipf_rows(5)
    matrix = unit_rows(matrix.toarray() if is_dense else matrix, warn=False).astype(np.float32)
    cells = search_cells(matrix, n_probes=3, random_state=0) if in_cells else None
    only = np.flatnonzero(np.arange(matrix.shape[0]) % 3 > 0)
    expected = nearest_neighbours(matrix[only], 4, fold=None, cells=cells and cells.take(only))
    place = FilePlace(tmp_path, 2)
    for how in ({}, {"place": place}):
        given = place.keep(matrix) if how else matrix
        found = nearest_neighbours(given, 4, fold=None, cells=cells, only=only, **how)
        np.testing.assert_array_equal(found.neighbours, expected.neighbours)
        np.testing.assert_allclose(found.similarity, expected.similarity, rtol=1e-6)
