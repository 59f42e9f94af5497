"""Tests of tendency: worked examples, the book's Monte Carlo results, and text with and without topics."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.validation import row_norms, unit_rows
from doccluster.errors import InputError
from doccluster.lab import tendency_tests as tendency
from doccluster.lab._null_models import dealt_terms, distinct_rows, permuted_columns, sample_null

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
REFERENCE = np.array([[2.0, 2.0], [4.0, 1.0], [3.0, 5.0]])


def blocks_of_topics(n_documents=90, n_topics=3, n_terms=60, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.random((n_documents, n_terms)) * (rng.random((n_documents, n_terms)) < 0.05)
    for document in range(n_documents):
        own = np.arange(n_terms) % n_topics == document % n_topics
        rows[document, own] += rng.random(own.sum()) * (rng.random(own.sum()) < 0.4)
    return unit_rows(sparse.csr_array(rows), warn=False)


def test_hopkins_by_hand():
    # sampled rows are at distance 1 from their neighbours; references at sqrt 5, sqrt 10 and 2
    assert tendency.hopkins(POINTS, sample=[0, 3, 4], reference=REFERENCE) == pytest.approx(19 / 22)
    roots = 5**0.5 + 10**0.5 + 2
    assert tendency.hopkins(POINTS, sample=[0, 3, 4], reference=REFERENCE, power=1) == pytest.approx(
        roots / (roots + 3)
    )


def test_hopkins_of_nothing_but_copies_is_undefined():
    same = np.ones((4, 2))
    assert math.isnan(tendency.hopkins(same, sample=[0, 1], reference=same[:2]))


def test_hopkins_does_not_overflow_in_many_dimensions():
    rng = np.random.default_rng(1)
    wide = rng.random((20, 3000)) * 1e3
    assert 0 <= tendency.hopkins(wide, sample=[0, 1, 2], reference=rng.random((3, 3000)) * 1e3) <= 1


def test_cells_by_hand():
    counts = tendency.cell_counts(POINTS, low=[0, 0], high=[5, 6], bins=3)
    assert counts.tolist() == [[3, 0, 0], [0, 0, 0], [0, 0, 2]]


def test_too_many_cells_are_refused():
    with pytest.raises(InputError, match="cells"):
        tendency.cell_counts(np.zeros((3, 50)), low=np.zeros(50), high=np.ones(50), bins=3)


def test_kl_by_hand():
    f, g = [4, 0, 3, 3], [2, 2, 6, 0]
    assert tendency.kl_divergence(f, g, zero="skip") == pytest.approx(0.1)
    assert tendency.kl_divergence(f, g, zero="inf") == math.inf
    p, q = np.array([4.5, 0.5, 3.5, 3.5]) / 12, np.array([2.5, 2.5, 6.5, 0.5]) / 12
    assert tendency.kl_divergence(f, g) == pytest.approx(np.sum(p * np.log2(p / q)))
    with pytest.raises(InputError, match="smooth"):
        tendency.kl_divergence(f, g, zero="ignore")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tendency.kl_divergence([1, 2], [1, 2, 3]), "no histograms"),
        (lambda: tendency.kl_divergence([0, 0], [1, 2], zero="skip"), "no histograms"),
        (lambda: tendency.kl_divergence([1, -2], [1, 2]), "no histograms"),
        (lambda: tendency.kl_divergence(["a"], ["b"]), "text"),
        (lambda: tendency.cell_counts([[1.0, 2.0]], low=[0], high=[1, 1], bins=2), "one number for each column"),
        (lambda: tendency.cell_counts([1.0, 2.0], low=[0], high=[1], bins=2), "2-D|2 dim|1 dim"),
    ],
)
def test_what_is_no_histogram_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_pair_distances_are_those_of_all_pairs():
    matrix = blocks_of_topics(20)
    dense = matrix.toarray()
    pairs = [1 - dense[i] @ dense[j] for i in range(20) for j in range(i + 1, 20)]
    assert np.concatenate(list(tendency.pair_distances(matrix, metric="cosine"))) == pytest.approx(pairs, abs=1e-12)
    euclid = [np.linalg.norm(dense[i] - dense[j]) for i in range(20) for j in range(i + 1, 20)]
    assert np.concatenate(list(tendency.pair_distances(matrix, metric="euclidean"))) == pytest.approx(euclid, abs=1e-7)


def test_permuting_keeps_document_frequencies_and_values():
    matrix = blocks_of_topics()
    shuffled = permuted_columns(matrix, np.random.default_rng(3))
    before, after = sparse.csc_array(matrix), sparse.csc_array(shuffled)
    assert np.array_equal(np.diff(before.indptr), np.diff(after.indptr))
    for term in range(5):
        start, stop = before.indptr[term : term + 2]
        assert np.sort(before.data[start:stop]) == pytest.approx(np.sort(after.data[start:stop]))
    assert abs(matrix - shuffled).sum() > 0


def test_dealing_keeps_lengths_and_document_frequencies_and_breaks_what_goes_together():
    rng = np.random.default_rng(0)
    own = np.arange(400)[None, :] % 4 == np.arange(200)[:, None] % 4  # a quarter of the terms for each topic
    share = rng.uniform(0.1, 0.6, 200)[:, None]
    matrix = unit_rows(sparse.csr_array(((rng.random((200, 400)) < share) & own).astype(float)), warn=False)
    dealt = dealt_terms(matrix, np.random.default_rng(1))
    lost = matrix.nnz - dealt.nnz
    assert 0 <= lost <= matrix.nnz / 1000
    assert np.abs(np.diff(dealt.indptr) - np.diff(matrix.indptr)).sum() == lost
    frequencies = [np.diff(sparse.csc_array(each).indptr) for each in (matrix, dealt)]
    assert np.abs(frequencies[0] - frequencies[1]).sum() == lost
    share_own = (dealt.toarray() > 0)[own].sum() / dealt.nnz
    assert share_own == pytest.approx(0.25, abs=0.03)


def test_rows_of_a_column_are_distinct_and_uniform():
    rng = np.random.default_rng(0)
    counts = np.array([10, 0, 3, 5] * 2000)
    rows = distinct_rows(counts, 10, rng)
    start = 0
    for count in counts:
        assert np.unique(rows[start : start + count]).size == count
        start += count
    threes = np.concatenate([rows[s : s + 3] for s in range(10, rows.size, 18)])
    assert np.bincount(threes, minlength=10) / threes.size == pytest.approx(np.full(10, 0.1), abs=0.02)


@pytest.mark.parametrize("model", ["deal", "uniform", "permute"])
def test_null_rows_are_unit_or_empty(model):
    sample = sample_null(blocks_of_topics(), model=model, random_state=np.random.default_rng(0))
    norms = row_norms(sample)
    assert np.all((norms == 0) | (np.abs(norms - 1) < 1e-9))


def test_dense_null_of_a_large_sparse_matrix_is_refused():
    wide = sparse.random_array((10_000, 20_000), density=1e-5, format="csr", random_state=np.random.default_rng(0))
    with pytest.raises(InputError, match="deal"):
        sample_null(wide, model="uniform", random_state=np.random.default_rng(0))
    with pytest.raises(InputError, match="deal"):
        sample_null(wide, model="box", random_state=np.random.default_rng(0))


@pytest.mark.parametrize("test", [tendency.hopkins_test, tendency.distance_distribution_test])
def test_topics_are_found_and_noise_is_not(test):
    topics = blocks_of_topics()
    noise = sample_null(topics, model="deal", random_state=np.random.default_rng(5))
    found = test(topics, n_samples=20, random_state=0)
    nothing = test(noise, n_samples=20, random_state=0)
    assert found.p_value < 0.1
    assert nothing.p_value > 0.1
    assert found.mean > nothing.mean


def test_spatial_histogram_of_text_is_reduced_first():
    result = tendency.spatial_histogram_test(blocks_of_topics(), n_samples=20, random_state=0)
    assert result.p_value < 0.1
    assert "2 dimensions" in result.note


@pytest.mark.parametrize(
    "call",
    [
        lambda: tendency.hopkins_test(POINTS[:2]),
        lambda: tendency.hopkins_test(POINTS, sample_size=9, metric="euclidean"),
        lambda: tendency.distance_distribution_test(POINTS[:1]),
        lambda: tendency.hopkins_test(np.full((5, 2), np.nan)),
    ],
)
def test_input_that_cannot_be_tested_is_refused(call):
    with pytest.raises(InputError):
        call()


def test_reference_values(oracle):
    cases = json.loads((oracle / "relative_and_misc.json").read_text())
    case = cases["hopkins"]
    points, reference = np.array(case["X"]), np.array(case["uniform"])
    for power, key in (("dimension", "power_d"), (1, "power_1")):
        value = tendency.hopkins(points, sample=case["sample"], reference=reference, power=power)
        assert value == pytest.approx(case[key], abs=1e-12)
    kl = cases["kl"]
    assert tendency.kl_divergence(kl["f"], kl["g"], zero="skip") == pytest.approx(kl["skip"], abs=1e-12)
    assert tendency.kl_divergence(kl["f"], kl["g"]) == pytest.approx(kl["smooth_half"], abs=1e-12)
    cells = cases["cell_counts"]
    counts = tendency.cell_counts(cells["X"], low=cells["lo"], high=cells["hi"], bins=cells["b"])
    assert np.array_equal(counts, cells["counts"])


def test_the_book_s_monte_carlo_results(oracle):
    points = np.array(json.loads((oracle / "zaki_iris.json").read_text())["points"])
    hopkins = tendency.hopkins_test(
        points, n_samples=200, sample_size=30, null="uniform", power="dimension", metric="euclidean", random_state=0
    )
    assert hopkins.mean == pytest.approx(0.935, abs=0.01)
    assert hopkins.sd == pytest.approx(0.025, abs=0.01)
    spatial = tendency.spatial_histogram_test(points, n_samples=200, zero="skip", random_state=0)
    assert spatial.mean == pytest.approx(1.17, abs=0.05)
    distances = tendency.distance_distribution_test(
        points, n_samples=100, shared_bins=False, null="uniform", metric="euclidean", zero="skip", random_state=0
    )
    assert distances.mean == pytest.approx(0.18, abs=0.01)


def test_all_three_tests_on_a_sample_say_so():
    tests = tendency.tendency(blocks_of_topics(), max_documents=60, random_state=0)
    assert [test.name for test in tests] == ["hopkins", "distance_kl", "spatial_kl"]
    assert all("sample of 60 of 90 documents" in test.note for test in tests)
    again = tendency.tendency(blocks_of_topics(), max_documents=60, random_state=0)
    assert [test.mean for test in again] == [test.mean for test in tests]


def test_smoothed_cells_are_those_of_a_whole_histogram(monkeypatch):
    points, samples = np.random.default_rng(2).random((2, 40, 2))
    samples = samples.clip(points.min(axis=0), points.max(axis=0))  # as those of a box are
    monkeypatch.setattr(tendency, "sample_null", lambda *_, **__: samples)
    found = tendency.spatial_histogram_test(points, bins=4, n_samples=2, zero="smooth", random_state=0)
    box = list(zip(points.min(axis=0), points.max(axis=0), strict=True))
    f, g = (np.histogramdd(rows, bins=4, range=box)[0].ravel() for rows in (points, samples))
    assert (f.sum(), g.sum()) == (40, 40)
    assert found.values.tolist() == pytest.approx([tendency.kl_divergence(f, g, zero="smooth")] * 2)


def test_tendency_is_tested_in_the_metric_and_beside_the_data_that_are_asked_for():
    points = np.random.default_rng(3).normal(size=(60, 2)) + np.repeat([[3, 3], [9, 9]], 30, axis=0)
    hopkins, distances, spatial = tendency.tendency(points, metric="euclidean", null="uniform", random_state=0)
    alone = tendency.hopkins_test(points, n_samples=39, metric="euclidean", null="uniform", random_state=0)
    assert hopkins.values.tolist() == alone.values.tolist()
    assert "null 'uniform'" in distances.note
    assert (hopkins.p_value, spatial.p_value) == (1 / 40, 1 / 100)
    unit = tendency.hopkins_test(unit_rows(points, warn=False), n_samples=39, null="uniform", random_state=0)
    assert tendency.tendency(points, null="uniform", random_state=0)[0].values.tolist() == unit.values.tolist()
    for option in ("metric", "null"):
        with pytest.raises(InputError, match=f"{option}='taxi'"):
            tendency.tendency(points, **{option: "taxi"})
