"""The twin of a corpus resembles it in the numbers on which clustering depends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.errors import DocclusterWarning, InputError, NothingUsable
from doccluster.synthetic import fit_corpus_model, make_sparse_vmf, make_twin, sample_twin
from doccluster.vectors import DocumentVectors, read_matrix
from experiments.vmf_difficulty.likeness import describe_vectors


@pytest.fixture(scope="module")
def given():
    return make_sparse_vmf(1500, 4000, 5, mean_resultant_length=0.4, terms_per_document=50, random_state=0)


def test_twin_of_a_made_corpus_has_its_numbers(given):
    model = fit_corpus_model(given.vectors, 5, random_state=0)
    twin = sample_twin(model, 1500, random_state=1)
    real = describe_vectors(given.vectors, model.labels, truth=given.truth)
    made = describe_vectors(twin.vectors, twin.truth, truth=twin.truth)
    assert made["non-zeros"] == real["non-zeros"]
    assert made["documents"] == real["documents"]
    assert made["terms used"] == pytest.approx(real["terms used"], rel=0.1)
    for name in ("cosine within, mean", "cosine between, mean", "cosine within, 50 %"):
        assert made[name] == pytest.approx(real[name], rel=0.15, abs=0.01)
    assert made["document frequency (share), 95 %"] == pytest.approx(real["document frequency (share), 95 %"], rel=0.2)
    assert made["NMI of spherical k-means"] > 0.9


def test_a_twin_says_how_near_documents_of_clusters_are_in_it_and_in_its_source(given):
    twin = make_twin(given.vectors, 5, n_documents=300, random_state=1)
    model = fit_corpus_model(given.vectors, 5, random_state=1)
    for end, matrix, labels in (("", twin.vectors.matrix, twin.truth), ("_of_source", given.vectors.matrix, None)):
        cosines = (matrix @ matrix.T).toarray()
        labels = model.labels if labels is None else labels
        is_pair = ~np.eye(len(labels), dtype=bool)
        is_same = labels[:, None] == labels
        expected = cosines[is_same & is_pair].mean(), cosines[~is_same].mean()
        values = [twin.parameters[f"cosine_{place}{end}"] for place in ("within", "between")]
        assert values == pytest.approx(expected, rel=0.02 if end else 1e-5)


def test_rows_are_unit_non_negative_with_distinct_terms(given):
    twin = make_twin(given.vectors, 5, n_documents=800, random_state=0)
    matrix = twin.vectors.matrix
    assert matrix.shape == (800, 4000)
    assert matrix.has_canonical_format
    assert matrix.data.min() > 0
    np.testing.assert_allclose(sparse.linalg.norm(matrix, axis=1), 1, atol=1e-6)
    assert set(np.diff(matrix.indptr).tolist()) == {50}
    assert len(twin.truth) == 800


@pytest.mark.usefixtures("starts_threads")
def test_same_seed_same_bytes_for_any_number_of_threads(given):
    one, three = (make_twin(given.vectors, 5, random_state=3, n_threads=n).vectors.matrix for n in (1, 3))
    assert one.data.tobytes() == three.data.tobytes()
    assert one.indices.tobytes() == three.indices.tobytes()


def test_concentrations_and_weights_are_those_of_the_clusters(given):
    model = fit_corpus_model(given.vectors, 5, random_state=0)
    sizes = np.bincount(model.labels)
    np.testing.assert_allclose(model.weights, sizes / 1500)
    for cluster in range(5):
        mean = given.vectors.matrix[model.labels == cluster].mean(axis=0)
        assert model.resultants[cluster] == pytest.approx(np.linalg.norm(mean), rel=1e-5)


@pytest.mark.real
def test_twin_of_a_real_corpus_resembles_it(real_corpora):
    vectors, classes = read_matrix(real_corpora / "cluto_matrices" / "re0" / "re0.mat")
    model = fit_corpus_model(vectors, 13, random_state=0)
    twin = sample_twin(model, vectors.n_documents, random_state=0)
    real = describe_vectors(vectors, model.labels, truth=classes)
    made = describe_vectors(twin.vectors, twin.truth, truth=twin.truth)
    assert made["non-zeros"] == pytest.approx(real["non-zeros"], rel=0.1)
    assert made["terms per document, 50 %"] == pytest.approx(real["terms per document, 50 %"], rel=0.1)
    assert made["cosine within, mean"] == pytest.approx(real["cosine within, mean"], rel=0.3)
    assert made["cosine between, mean"] == pytest.approx(real["cosine between, mean"], rel=0.3)


def test_zero_rows_and_clusters_of_one_document_are_no_obstacle():
    rows = sparse.csr_array(
        np.array([[1.0, 0, 0, 0], [0, 0, 0, 0], [0, 0.6, 0.8, 0], [0, 0.8, 0.6, 0], [0, 0, 0, 1.0]])
    )
    vectors = DocumentVectors(rows, tuple("abcde"))
    twin = make_twin(vectors, 3, n_documents=30, random_state=0)
    assert np.bincount(twin.truth).size == 3
    np.testing.assert_allclose(sparse.linalg.norm(twin.vectors.matrix, axis=1), 1, atol=1e-6)


def test_vectors_that_are_no_texts_are_refused():
    dense = DocumentVectors(np.eye(4), tuple("abcd"))
    with pytest.raises(InputError, match="are dense"):
        make_twin(dense, 2)
    negative = DocumentVectors(sparse.csr_array(-np.eye(4)), tuple("abcd"))
    with pytest.raises(InputError, match="negative values"):
        make_twin(negative, 2)
    empty = DocumentVectors(sparse.csr_array((4, 3)), tuple("abcd"))
    with pytest.raises(NothingUsable, match="no document has a term"):
        make_twin(empty, 2)
    few = DocumentVectors(sparse.csr_array(np.eye(4)), tuple("abcd"))
    with pytest.raises(InputError, match="n_clusters=9 exceeds the number of documents"):
        make_twin(few, 9)


def test_fewer_distinct_rows_than_clusters_is_said(given):
    same = DocumentVectors(sparse.csr_array(np.tile([[0.6, 0.8]], (6, 1))), tuple("abcdef"))
    with pytest.warns(DocclusterWarning, match="distinct rows"):
        twin = make_twin(same, 2, random_state=0)
    assert set(twin.truth.tolist()) == {0}
