"""Sparse vMF-like rows have the means, terms and cosines that were asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from doccluster.clustering import SphericalKMeans
from doccluster.clustering.mixtures.vmf_functions import mean_resultant
from doccluster.errors import InputError
from doccluster.lab.synthetic.sparse_vmf import draw_terms, inclusion_with_squares, power_inclusion, squares_range
from doccluster.synthetic import make_sparse_vmf


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mean_resultant_length": 0.5, "terms_per_document": 40},
        {"mean_resultant_length": 0.2, "terms_per_document": 60, "separation": 0.05, "background": 0.2},
        {"mean_resultant_length": 0.6, "separation": 0.0, "background": 0.0},
        {"mean_resultant_length": 0.4, "separation": 0.5, "background": 0.5, "value_spread": 0.8},
    ],
    ids=str,
)
def test_rows_have_the_means_and_terms_asked_for(options):
    vectors, truth = make_sparse_vmf(8000, 20_000, 5, random_state=1, **options)
    matrix = vectors.matrix
    assert matrix.has_canonical_format
    assert matrix.data.min() > 0
    np.testing.assert_allclose(sparse.linalg.norm(matrix, axis=1), 1, atol=1e-6)
    assert set(np.diff(matrix.indptr).tolist()) == {options.get("terms_per_document", 100)}
    halves = [np.flatnonzero(truth == c) for c in range(5)]
    # means of two halves: their product has no self-cosines, which would lengthen the mean of a sample
    first = np.stack([matrix[rows[::2]].mean(axis=0) for rows in halves])
    second = np.stack([matrix[rows[1::2]].mean(axis=0) for rows in halves])
    squares = np.sum(first * second, axis=1)
    wanted = options.get("mean_resultant_length", 0.3)
    np.testing.assert_allclose(np.sqrt(squares), wanted, rtol=0.03)
    cosines = (first @ second.T) / np.sqrt(np.outer(squares, squares))
    between = cosines[~np.eye(5, dtype=bool)]
    np.testing.assert_allclose(between, options.get("separation", 0.1), atol=0.02)


def test_record_gives_the_concentration_of_that_resultant():
    made = make_sparse_vmf(50, 5000, 2, random_state=0)
    assert mean_resultant(5000, made.parameters["kappa"]) == pytest.approx(0.3, rel=1e-12)


def test_document_frequencies_fall_like_text():
    vectors, _ = make_sparse_vmf(5000, 20_000, 10, random_state=0)
    frequencies = np.sort(np.bincount(vectors.matrix.indices, minlength=20_000))[::-1]
    assert frequencies[0] > 20 * max(np.median(frequencies), 1)


def test_clusters_can_be_found():
    vectors, truth = make_sparse_vmf(1000, 5000, 5, random_state=0)
    found = SphericalKMeans(5, n_init=5, random_state=0).fit(vectors.matrix)
    assert adjusted_rand_score(truth, found.labels_) > 0.95


@pytest.mark.parametrize(("n", "d", "k"), [(2000, 5000, 10), (1000, 20_000, 10), (500, 2000, 20)])
def test_defaults_can_be_had_for_vocabularies_of_any_size(n, d, k):
    made = make_sparse_vmf(n, d, k, random_state=0)
    terms = made.parameters["terms_per_document"]
    assert set(np.diff(made.vectors.matrix.indptr).tolist()) == {terms}
    assert terms == 100 or _refused(n, d, k, terms_per_document=terms + 1)  # as many as can be had
    assert _refused(n, d, k, terms_per_document=5000)


def _refused(*sizes, **settings):
    with pytest.raises(InputError):
        make_sparse_vmf(*sizes, random_state=0, **settings)
    return True


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bytes_for_any_number_of_threads(dtype):
    made = [make_sparse_vmf(9000, 5000, 4, random_state=3, dtype=dtype, n_threads=n).vectors.matrix for n in (1, 3)]
    assert made[0].data.dtype == dtype
    assert made[0].data.tobytes() == made[1].data.tobytes()
    assert made[0].indices.tobytes() == made[1].indices.tobytes()


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0, 3.0])
def test_inclusion_probabilities_sum_to_the_terms_of_a_document(exponent):
    probabilities = power_inclusion(500, 30, exponent)
    assert probabilities.sum() == pytest.approx(30)
    assert probabilities.max() <= 1
    assert (np.diff(probabilities) <= 1e-12).all()


def test_terms_occur_as_often_as_their_probability():
    low, high = squares_range(200, 20)
    assert low == pytest.approx(2.0)
    assert high == pytest.approx(20.0, rel=0.1)
    probabilities = inclusion_with_squares(200, 20, 6.0)
    assert probabilities @ probabilities == pytest.approx(6.0)
    terms = draw_terms(probabilities, 20_000, 20, np.random.default_rng(0))
    assert (np.diff(terms, axis=1) > 0).all()
    shares = np.bincount(terms.ravel(), minlength=200) / 20_000
    # drawing a point again where two units met moves a little of the probability
    np.testing.assert_allclose(shares, probabilities, atol=0.08)
    assert np.abs(shares - probabilities).mean() < 0.005
    assert shares @ shares == pytest.approx(6.0, rel=0.01)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mean_resultant_length": 0.01}, "mean_resultant_length=0.01 cannot be reached"),
        ({"mean_resultant_length": 0.99}, "mean_resultant_length=0.99 cannot be reached"),
        ({"mean_resultant_length": 1.2}, "mean_resultant_length=1.2 is out of range"),
        ({"separation": 0.0}, "separation=0 needs background=0"),
        ({"terms_per_document": 3000}, "terms of its own"),
        ({"n_clusters": 600}, "n_clusters=600 exceeds"),
        ({"background": 1.0}, "less background"),
        ({"value_spread": -1}, "value_spread=-1 is out of range"),
        ({"weights": [0.5, 0.6]}, "sums to 1.1"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(options, words):
    request = {"n_documents": 500, "n_terms": 5000, "n_clusters": 2, **options}
    with pytest.raises(InputError, match=words) as caught:
        make_sparse_vmf(**request)
    assert "\n" not in str(caught.value)
