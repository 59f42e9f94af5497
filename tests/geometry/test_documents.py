"""The door: a matrix is checked once, and what follows from it is made once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster import errors
from doccluster.base import validation
from doccluster.base.checksums import matrix_checksum
from doccluster.geometry import ClusterEvidence, Documents, as_documents
from doccluster.geometry.partition import Partition
from doccluster.vectors import DocumentVectors


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    return sparse.csr_array(rng.random((30, 12)) * (rng.random((30, 12)) < 0.3))


def test_what_came_through_the_door_is_not_checked_again(rows, monkeypatch):
    documents = as_documents(rows)
    vectors = DocumentVectors(rows, ids=tuple(map(str, range(30))))
    carried = vectors.documents
    monkeypatch.setattr("doccluster.geometry.documents.check_matrix", None)  # whoever calls it fails
    assert as_documents(documents) is documents
    assert as_documents(vectors) is carried
    assert ClusterEvidence(documents, Partition.from_labels(np.arange(30) % 3)).documents is documents


def test_the_door_refuses_what_cannot_be_used():
    with pytest.raises(errors.InputError, match="vectors contains NaN"):
        as_documents([[1.0, np.nan]], name="vectors")


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unit_rows_are_those_of_the_naive_definition(rows, dense, dtype):
    given = (rows.toarray() if dense else rows).astype(dtype)
    documents = as_documents(given)
    plain = rows.toarray().astype(dtype).astype(np.float64)
    lengths = np.linalg.norm(plain, axis=1)
    expected = np.divide(plain, lengths[:, None], out=np.zeros_like(plain), where=lengths[:, None] > 0)
    unit = documents.unit if dense else documents.unit.toarray()
    np.testing.assert_allclose(unit, expected, rtol=1e-6 if dtype == np.float32 else 1e-15)
    assert unit.dtype == dtype
    assert not documents.has_unit_rows
    again = as_documents(documents.unit)
    assert again.has_unit_rows
    assert again.unit is again.matrix
    assert (again.unit_scale == 1).all()


@pytest.mark.parametrize("off", [0.0, 4e-6, 8e-6, 2e-5])
def test_rows_count_as_unit_as_far_from_length_one_as_the_tolerance_allows(off):
    matrix = sparse.csr_array(np.array([[0.6, 0.8], [0.0, 0.0], [1.0 + off, 0.0]]))
    expected = off <= validation.UNIT_TOLERANCE
    lengths_first, kernel_first = as_documents(matrix), as_documents(matrix)
    assert lengths_first.squared_norms.size == 3  # the lengths are known, so the answer comes from them
    assert lengths_first.has_unit_rows == kernel_first.has_unit_rows == expected


def test_a_selection_of_documents_has_their_rows_in_order(rows):
    documents = as_documents(rows)
    wanted = np.array([7, 3, 3, 20])
    np.testing.assert_array_equal(documents.take(wanted).matrix.toarray(), rows.toarray()[wanted])


def test_the_cosine_sees_directions_and_the_euclidean_metrics_points(rows):
    documents = as_documents(rows)
    assert set(documents.under("cosine").squared_norms) <= {0.0, 1.0}
    np.testing.assert_array_equal(documents.under("euclidean").squared_norms, documents.squared_norms)
    assert documents.under("euclidean") is documents.under("sqeuclidean")
    with pytest.raises(errors.InputError, match="metric='manhattan'"):
        documents.under("manhattan")


def test_its_name_is_short(rows):
    assert repr(Documents(rows)) == "Documents(matrix=<csr_array 30 x 12>)"


def test_the_digest_is_that_of_the_content_whatever_the_order_it_came_in():
    rows = sparse.csr_array(np.array([[0.0, 3.0, 4.0], [1.0, 0.0, 0.0]]))
    backwards = sparse.csr_array((rows.data[[1, 0, 2]], rows.indices[[1, 0, 2]], rows.indptr), shape=rows.shape)
    digest = as_documents(rows).digest
    assert digest == as_documents(backwards).digest == matrix_checksum(rows)
    others = [rows * 2, rows[[1, 0]], rows.toarray(), rows.astype(np.float32)]
    assert len({digest, *(as_documents(other).digest for other in others)}) == 5
