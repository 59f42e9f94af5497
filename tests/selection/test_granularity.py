"""Choosing k by two halves of the vocabulary: right where the truth is known, and silent where there is none."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from doccluster.errors import InputError
from doccluster.pipeline import vectorize_texts
from doccluster.selection import choose_k, seconds_to_choose
from doccluster.selection.granularity import Curves, log_grid
from doccluster.selection.held_out import SHRINKAGES, HeldOutHalf, split_terms
from doccluster.selection.null_models import sample_null
from doccluster.synthetic import make_sparse_vmf, make_vmf_mixture, make_zipf_corpus


@pytest.fixture(scope="module")
def ten():
    return make_sparse_vmf(600, 20_000, 10, mean_resultant_length=0.35, random_state=3).vectors.matrix


def two_levels(n_topics, n_stories, n_documents):
    corpus = make_zipf_corpus(n_documents, n_topics=n_topics, n_stories=n_stories, random_state=1)
    return vectorize_texts(corpus, language="none", options={}, n_threads=1).vectors.matrix


def rows_and_labels():
    rng = np.random.default_rng(0)
    rows = rng.random((30, 7))
    labels = rng.integers(0, 4, 30)
    labels[5] = 4  # a document alone
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_error_is_that_of_predicting_each_document_from_the_others_of_its_cluster(form):
    rows, labels = rows_and_labels()
    errors = []
    for shrinkage in SHRINKAGES:
        squares = 0.0
        for i in range(30):
            others = (labels == labels[i]) & (np.arange(30) != i)
            everyone = np.delete(rows, i, axis=0).mean(axis=0)
            count = others.sum() + shrinkage
            predicted = (rows[others].sum(axis=0) + shrinkage * everyone) / count if count else np.zeros(7)
            squares += ((rows[i] - predicted) ** 2).sum()
        errors.append(squares / 30)
    assert HeldOutHalf(form(rows)).judge(labels).error == pytest.approx(min(errors), rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_cohesion_is_modularity_with_cosines_as_weights(form):
    rows, labels = rows_and_labels()
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, 0)
    degrees, total = cosines.sum(axis=1), cosines.sum()
    together = labels[:, None] == labels[None, :]
    expected = ((cosines - np.outer(degrees, degrees) / total) * together).sum() / total
    found = HeldOutHalf(form(rows))
    assert found.judge(labels).cohesion == pytest.approx(expected, rel=1e-9)
    assert found.judge(np.zeros(30, dtype=np.int64)).cohesion == pytest.approx(0, abs=1e-12)


def test_the_halves_share_no_term_and_say_about_as_much(ten):
    marked = sparse.csr_array((np.ones(ten.nnz), ten.indices, ten.indptr), shape=ten.shape)
    first, second, filled = split_terms(marked, np.random.default_rng(0))
    used = np.unique(ten.indices).size
    assert first.shape[1] + second.shape[1] == used
    assert abs(first.nnz - second.nnz) < 0.01 * ten.nnz
    assert filled.size == first.shape[0] == second.shape[0]


@pytest.mark.parametrize("k", [2, 12])
def test_a_known_number_of_directions_is_found(k):
    points = make_vmf_mixture(30 * k + 100, 100, k, kappa=100, random_state=1).vectors.matrix
    assert choose_k(points, random_state=0).k == pytest.approx(k, rel=0.2)


def test_a_known_number_of_many_small_clusters_is_found():
    options = {"mean_resultant_length": 0.7, "terms_per_document": 30, "random_state": 1}
    points = make_sparse_vmf(600, 40_000, 100, **options).vectors.matrix
    assert choose_k(points, random_state=0).k == pytest.approx(100, rel=0.2)


def test_topics_and_stories_of_the_same_documents_are_told_apart():
    free = choose_k(two_levels(n_topics=5, n_stories=20, n_documents=1000), random_state=0)
    assert free.granularity == "stories"
    assert free.k == pytest.approx(20, rel=0.2)
    assert Curves(free.table, free.p_value).best("topics")[0] < 12


@pytest.mark.parametrize("model", ["deal", "permute"])
def test_terms_dealt_anew_have_no_structure(ten, model):
    drawn = sample_null(ten, model=model, random_state=np.random.default_rng(4))
    found = choose_k(drawn, random_state=0)
    assert found.k is None
    assert found.sentence.startswith("no structure beyond chance")


def test_uniform_directions_have_no_structure():
    points = np.random.default_rng(0).normal(size=(400, 30))
    assert choose_k(points, random_state=0).k is None


@pytest.mark.usefixtures("starts_threads")
def test_the_answer_and_its_figures_do_not_depend_on_the_number_of_threads(ten):
    one, three = (choose_k(ten, random_state=5, n_threads=n) for n in (1, 3))
    assert one.table.equals(three.table)
    assert one.sentence == three.sentence
    assert one.k == 10


def test_only_numbers_that_were_asked_for_are_recommended(ten):
    found = choose_k(ten, ks=[3, 4], random_state=0)
    assert found.k in (3, 4)
    assert found.has_structure
    assert found.unlimited == 10
    assert found.sentence.endswith("without the limit it would be 10")


def test_a_sample_bounds_the_work_and_is_told(ten):
    found = choose_k(ten, max_documents=300, random_state=0)
    assert (found.n_looked_at, found.n_documents) == (300, 600)
    assert found.table["k"].max() <= 150
    assert found.k == pytest.approx(10, rel=0.2)
    assert "judged on 300 of 600 documents" in found.sentence


def test_many_stored_values_are_sampled_by_default(ten, monkeypatch):
    monkeypatch.setattr("doccluster.selection.recommendation.MOST_VALUES", ten.nnz // 3)
    assert choose_k(ten, random_state=0).n_looked_at == pytest.approx(200, abs=1)


@pytest.mark.parametrize("n_documents", [4, 60, 1000, 100_000])
def test_the_grid_goes_in_even_steps_to_half_of_the_documents(n_documents):
    ks = log_grid(n_documents)
    assert ks[0] == 2
    assert ks[-1] == n_documents // 2
    assert len(ks) < 5 + math.log(n_documents) / math.log(1.3)
    assert all(after <= max(before + 1, 1.36 * before) for before, after in itertools.pairwise(ks))


def test_the_estimate_of_time_grows_with_the_documents(ten):
    assert 0 < seconds_to_choose(ten[:60], n_threads=1) < seconds_to_choose(ten, n_threads=1) < 300


def test_what_cannot_be_used_is_refused(ten):
    with pytest.raises(InputError, match="too few"):
        choose_k(np.eye(3))
    with pytest.raises(InputError, match="give 'topics' or 'stories'"):
        choose_k(ten, granularity="themes")
    with pytest.raises(InputError, match="give numbers from 1 to 600"):
        choose_k(ten, ks=[601])
    with pytest.raises(InputError, match="max_documents"):
        choose_k(ten, max_documents=0)


def test_four_documents_are_answered():
    assert choose_k(np.eye(4), random_state=0).k is None
