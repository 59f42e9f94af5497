"""The estimator that smooths and settles: what it promises, on text and on matrices that hold no counts."""

from __future__ import annotations

import math
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import doccluster
from doccluster.base.validation import check_matrix
from doccluster.clustering import DocumentClustering, SphericalKMeans
from doccluster.clustering.smoothed import document_clusters, document_spaces
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.clustering.smoothed.document_spaces import search_cells
from doccluster.errors import DocclusterWarning, InputError
from doccluster.geometry import nearest_neighbours, smoothed_rows
from doccluster.pipeline.in_process import order_of
from doccluster.vectors.document_vectors import as_vectors
from doccluster.vectors.meaning import meaning_of
from tests.clustering.naive import cluto_counts, cluto_matrix


@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")  # the checks give rows of many kinds
@parametrize_with_checks([DocumentClustering(n_init=2), DocumentClustering(n_init=1, quality="fast")])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def counts():
    """Counts of four topics in documents of very different lengths."""
    rng = np.random.default_rng(21)
    topics = rng.integers(4, size=160)
    share = np.full((4, 200), 0.3)
    for topic in range(4):
        share[topic, 50 * topic : 50 * topic + 50] = 1.0
    share /= share.sum(axis=1, keepdims=True)
    lengths = rng.choice([15, 60, 500], size=160)
    rows = [rng.multinomial(n, share[topic]) for n, topic in zip(lengths, topics, strict=True)]
    return sparse.csr_array(np.stack(rows)), topics


@pytest.mark.parametrize(("quality", "least"), [("default", 0.9), ("fast", 0.7)])
def test_topics_are_found_and_predicted(counts, quality, least):
    matrix, topics = counts
    model = DocumentClustering(4, quality=quality, random_state=0).fit(matrix)
    assert doccluster.score("nmi", model.labels_, truth=topics).value > least
    assert np.array_equal(model.predict(matrix), model.labels_)
    assert np.array_equal(model.predict_proba(matrix).argmax(axis=1), model.labels_)
    assert model.predict_proba(matrix).sum(axis=1) == pytest.approx(1)
    assert np.linalg.norm(model.centroids_.toarray(), axis=1) == pytest.approx(1, abs=1e-6)
    assert model.notes_ == ()


def test_fast_without_settling_is_spherical_k_means(counts):
    weighted = sparse.csr_array(counts[0].multiply(0.37))  # no counts any more
    model = DocumentClustering(4, quality="fast", random_state=3).fit(weighted)
    unit = sparse.csr_array(sparse.diags_array(1 / np.sqrt(weighted.multiply(weighted).sum(axis=1))) @ weighted)
    assert np.array_equal(model.labels_, SphericalKMeans(4, random_state=np.random.default_rng(3)).fit(unit).labels_)
    assert model.notes_ == ("The counts of terms were left aside: the matrix holds none.",)
    assert not hasattr(model, "predict_proba")
    assert np.array_equal(model.predict(weighted), model.labels_)


def test_embeddings_are_smoothed_as_they_are_and_signed_rows_of_terms_are_not(counts):
    dense = counts[0].toarray() + 0.5
    model = DocumentClustering(4, random_state=0).fit(dense)
    assert model.notes_ == ()
    unit = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    smoothed = smoothed_rows(unit, nearest_neighbours(unit, 10, fold=None).symmetric()).astype(np.float32)
    again = SphericalKMeans(4, random_state=np.random.default_rng(0)).fit(smoothed)
    assert np.array_equal(model.labels_, again.labels_)
    signed = sparse.random(30, 40, density=0.2, random_state=0, format="csr")
    signed.data -= 0.5
    for rows in (signed, signed.toarray()):
        assert "negative" in DocumentClustering(4, random_state=0).fit(rows).notes_[0]


@pytest.mark.parametrize("has_words", [False, True])
def test_many_dense_rows_are_smoothed_over_neighbours_from_cells(monkeypatch, has_words):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 4, 400)
    rows = np.eye(12)[truth] + 0.2 * rng.normal(size=(400, 12))
    words = sparse.csr_array(unit(rng.poisson(2, (400, 60)) + 1e-3))  # they say nothing
    searched = []
    monkeypatch.setattr(document_spaces, "DENSE_EXACT_UP_TO", 100)
    monkeypatch.setattr(
        document_spaces, "search_cells", lambda rows, **how: searched.append(rows.shape) or search_cells(rows, **how)
    )
    unit_rows = unit(rows).astype(np.float32)
    parameters = DocumentParameters(n_clusters=4, random_state=0)
    meaning = meaning_of(rows, weight=4.0) if has_words else None
    found = DocumentWork(as_vectors(words if has_words else unit_rows, meaning=meaning), parameters).run()
    assert searched == [(400, 12)]
    assert adjusted_rand_score(truth, found.labels) > 0.95


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("quality", ["default", "fast"])
def test_threads_change_no_label(counts, quality):
    model = DocumentClustering(5, quality=quality, random_state=1)
    labels = [clone(model).set_params(n_threads=n).fit(counts[0]).labels_ for n in (1, 2, 4)]
    assert np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[0], labels[2])


def signed_copy(matrix):
    """Every second term with the other sign: all cosines are the same."""
    return sparse.csr_array(matrix @ sparse.diags_array(np.resize([0.5, -0.5], matrix.shape[1])))


def test_fewer_distinct_rows_than_clusters_are_told_once():
    rows = sparse.csr_array([[1, 2, 0, 0]] * 5 + [[0, 0, 2, 1]] * 5)
    with pytest.warns(DocclusterWarning, match="distinct rows") as caught:
        DocumentClustering(4, random_state=0).fit(rows)
    assert len(caught) == 1


@pytest.mark.parametrize("made", ["weighted", "signed"])
def test_rows_without_counts_are_clustered_by_what_can_be_made_of_them(counts, made):
    rows = counts[0] * 0.37 if made == "weighted" else signed_copy(counts[0])
    model = DocumentClustering(4, random_state=0).fit(rows)
    assert model.mixture_ is None
    assert any("counts of terms were left aside" in note for note in model.notes_)
    assert doccluster.score("nmi", model.labels_, truth=counts[1]).value > 0.7


@pytest.mark.parametrize("quality", ["default", "fast"])
@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 2]],
        [[1, 0], [0, 1]],
        [[1, 1, 0]] * 6,
        [[1, 0], [0, 0], [0, 2]],
        [[1, 2, 0, 0], [2, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2]],
        [[100_000, 1, 0]] + [[0, 1, 2], [1, 0, 1]] * 4,
    ],
    ids=["one", "two", "alike", "empty", "pieces", "giant"],
)
@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")  # fewer distinct rows than clusters
def test_small_and_odd_matrices_have_a_sensible_result(matrix, quality):
    k = min(2, len(matrix))
    labels = DocumentClustering(k, quality=quality, random_state=0).fit(sparse.csr_array(matrix)).labels_
    assert labels.shape == (len(matrix),)
    assert labels.min() >= 0
    assert labels.max() < k


def n_directions(counts):
    """Return how many rows differ in more than their length, by arithmetic on whole numbers."""
    divisors = [math.gcd(*row) for row in counts.tolist()]
    return len({tuple(n // d for n in row) for row, d in zip(counts.tolist(), divisors, strict=True) if d})


def test_three_documents_without_a_term_in_common_are_two_clusters():
    model = DocumentClustering(2, random_state=0).fit([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert set(model.labels_) == {0, 1}
    assert model.labels_[1] == model.labels_[3]
    assert model.notes_ == ("Terms of one document kept their weight: without them too few documents would differ.",)
    again = DocumentClustering(2, random_state=0).fit([[1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0]])
    assert again.notes_ == ()


@pytest.mark.parametrize("quality", ["fast", "default"])
def test_fewer_clusters_are_returned_only_for_a_reason_that_is_true(quality):
    draw, seen = np.random.default_rng(11), set()
    for _ in range(50):
        shape = draw.integers(2, 9), draw.integers(1, 7)
        counts = draw.integers(0, 4, shape) * (draw.random(shape) < draw.choice([0.2, 0.4, 0.7]))
        if not counts.any():
            continue
        k = int(draw.integers(1, shape[0] + 1))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = DocumentClustering(k, quality=quality, n_init=2, random_state=0).fit(counts)
        found, can_be = np.unique(model.labels_).size, n_directions(counts) >= k
        told = [str(one.message) for one in caught]
        few = f"fewer distinct rows than the {k} clusters asked for; the result has {found}."
        assert told == ([few] if found < k and not can_be else []), counts
        assert any("came out empty" in note for note in model.notes_) == (found < k and can_be), counts
        seen.add((found < k, can_be))
    assert {(False, True), (True, False)} <= seen


def test_half_of_the_documents_may_be_copies(counts):
    matrix, topics = counts
    order = np.concatenate([np.arange(160), np.full(160, 3)])
    found = DocumentClustering(4, random_state=0).fit(matrix[order]).labels_
    assert np.unique(found[order == 3]).size == 1
    assert doccluster.score("nmi", found[:160], truth=topics).value > 0.7


def test_it_works_after_a_vectorizer_and_can_be_cloned():
    texts = ["oil and gas", "crude oil prices", "gas and oil prices", "rain and wheat", "wheat harvest", "rain harvest"]
    found = clone(make_pipeline(CountVectorizer(), DocumentClustering(2, random_state=0))).fit_predict(texts)
    assert found[0] == found[1] == found[2]
    assert found[3] == found[4] == found[5]
    assert found[0] != found[3]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"quality": "worst"}, "quality='worst'"), ({"mixing": 2}, "mixing=2"), ({"n_clusters": 400}, "n_clusters=400")],
)
def test_what_cannot_be_used_is_refused(counts, parameters, message):
    with pytest.raises(InputError, match=message):
        DocumentClustering(**parameters).fit(counts[0])


@pytest.mark.real
@pytest.mark.parametrize("name", ["tr11", "k1b"])
def test_it_agrees_more_with_human_classes_than_plain_spherical_k_means(real_corpora, name):
    counts, classes = cluto_counts(real_corpora / "cluto_matrices", name)
    k = len(set(classes))
    rows, _ = cluto_matrix(real_corpora / "cluto_matrices", name)
    plain = SphericalKMeans(k, random_state=0).fit(rows).labels_
    found = DocumentClustering(k, random_state=0).fit(counts).labels_
    nmi = [doccluster.score("nmi", labels, truth=classes).value for labels in (plain, found)]
    assert nmi[1] > nmi[0] + 0.02


@pytest.fixture(scope="module")
def short_counts():
    rng = np.random.default_rng(4)
    counts = rng.poisson(rng.uniform(0.05, 0.8, 30), size=(60, 30)) * rng.integers(1, 9, (60, 30))
    return counts[(counts > 0).sum(axis=1) > 2]


def points_given(monkeypatch, counts, **parameters):
    """Return what spherical k-means was given in a fit, in order; more dimensions than terms, so nothing is lost."""
    given, fit = [], document_clusters.spherical_k_means
    monkeypatch.setattr(
        document_clusters, "spherical_k_means", lambda points, p: (given.append(points.matrix), fit(points, p))[1]
    )
    DocumentClustering(3, n_components=90, n_neighbors=4, random_state=0, **parameters).fit(sparse.csr_array(counts))
    return given


def cosines_by_definition(counts, *, parts, graph, mixing, n_neighbors=4):
    idf = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))) + 1
    logarithms = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    rows = {"n": unit(counts * idf), "l": unit(logarithms * idf)}
    cosines = rows[graph] @ rows[graph].T - np.eye(len(counts))
    edges = np.where(cosines >= -np.sort(-cosines, axis=1)[:, n_neighbors - 1 : n_neighbors], cosines, 0)
    edges = np.maximum(edges, edges.T)
    scale = 1 / np.sqrt(edges.sum(axis=1))
    edges = scale[:, None] * edges * scale
    total = 0
    for part in parts:
        moved = rows[part]
        for _ in range(3):
            moved = unit((1 - mixing) * rows[part] + mixing * edges @ moved)
        total = total + moved @ moved.T / len(parts)
    return total


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_counts_are_smoothed_as_given_and_as_logarithms_over_the_graph_of_the_logarithms(monkeypatch, short_counts):
    points = points_given(monkeypatch, short_counts, mixing=0.3)[0].astype(np.float64)
    expected = cosines_by_definition(short_counts, parts="ln", graph="l", mixing=0.3)
    assert points @ points.T == pytest.approx(expected, abs=1e-5)


def test_clusters_grow_from_columns_names_and_rows(counts):
    matrix, truth = counts
    names = [f"w{column}" for column in range(matrix.shape[1])]
    of_truth = np.flatnonzero(truth == 2)[:3].tolist()
    by_name = [doccluster.Topic("A", ["w150", "w151", "w199", "zebra"]), doccluster.Topic("B", [], of_truth)]
    by_column = [doccluster.Topic("A", [150, 151, 199]), doccluster.Topic("B", [], of_truth)]
    model = DocumentClustering(4, topics=by_name, random_state=0).fit(matrix, terms=names)
    assert np.array_equal(model.labels_, DocumentClustering(4, topics=by_column, random_state=0).fit_predict(matrix))
    assert (model.labels_[truth == 3] == 0).mean() > 0.8
    assert (model.labels_[truth == 2] == 1).mean() > 0.8
    assert (model.labels_[of_truth] == 1).all()
    assert model.topics_.tolist() == [0, 1, -1, -1]
    assert model.notes_ == ("Topic 'A': 'zebra' is not a term.",)
    assert (model.predict(matrix) == model.labels_).mean() > 0.95
    table = pd.DataFrame(matrix.toarray(), columns=names)
    assert np.array_equal(DocumentClustering(4, topics=by_name, random_state=0).fit_predict(table), model.labels_)
    assert DocumentClustering(4, random_state=0).fit(matrix).topics_.tolist() == [-1] * 4


def test_topics_are_those_of_a_guided_run_of_the_same_vectors():
    sample = doccluster.load_sample()
    topics = [
        doccluster.Topic("Health", ["hospital", "patients", "insulin"]),
        doccluster.Topic("Football", [], [name for name in sample.ids if name.startswith("spo")][:5]),
    ]
    run = doccluster.run(sample, topics=topics, n_clusters=16, letters=False, random_state=3)
    order = order_of(run.vectors)  # in which a run clusters
    ids, terms = [run.documents.ids[row] for row in order], list(run.vectors.terms)
    words = run.vectorizer.transform_counts(["hospital patients insulin"]).indices.tolist()
    of_matrix = [
        doccluster.Topic("Health", [terms[column] for column in words]),
        doccluster.Topic("Football", [], [ids.index(name) for name in topics[1].examples]),
    ]
    model = DocumentClustering(16, topics=of_matrix, random_state=3).fit(run.vectors.counts[order], terms=terms)
    labels = run.partition.labels[order]
    assert adjusted_rand_score(labels, model.labels_) == 1
    health = next(cluster.cluster for cluster in run.clusters if cluster.name == "Health")
    assert np.array_equal(labels == health, model.labels_ == 0)


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ([doccluster.Topic("A", [200])], "has words that are not in the matrix.*0 to 199"),
        ([doccluster.Topic("A", [], ["d1"])], "has examples that are not in the matrix.*0 to 159"),
        ([doccluster.Topic("A", [], [5]), doccluster.Topic("B", [], [5])], "row 5 is an example of two topics"),
        ([doccluster.Topic(name, [1]) for name in "ABC"], "3 topics, more than clusters"),
    ],
)
def test_what_a_matrix_does_not_have_is_named(counts, topics, message):
    with pytest.raises(InputError, match=message):
        DocumentClustering(2, topics=topics).fit(counts[0])


@pytest.mark.parametrize("kind", ["terms", "embeddings"])
def test_the_same_rows_have_the_same_labels_dense_sparse_or_as_a_sparse_frame(kind):
    rng = np.random.default_rng(0)
    of_topic = np.repeat(np.arange(4), 15)
    if kind == "terms":
        rows = rng.random((60, 40)) * (rng.random((60, 40)) < 0.1 + 0.3 * (np.arange(40) % 4 == of_topic[:, None]))
    else:
        rows = rng.normal(size=(60, 12)) + 2 * np.eye(12)[of_topic]
    forms = [sparse.csr_array(rows), sparse.csc_matrix(rows), rows, np.asfortranarray(rows), pd.DataFrame(rows)]
    forms.append(pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(rows)))
    fits = [DocumentClustering(4, n_init=2, random_state=0).fit(form) for form in forms]
    for fit, form in zip(fits, forms, strict=True):
        assert fit.labels_.tolist() == fits[0].labels_.tolist()
        assert fit.predict(form).tolist() == fits[0].predict(forms[0]).tolist()
    assert [sparse.issparse(fit.centroids_) for fit in fits] == [True, True, False, False, False, True]
    runs = [doccluster.run(form, n_clusters=4) for form in forms[:4]]
    assert all(run.partition.labels.tolist() == runs[0].partition.labels.tolist() for run in runs)


def test_a_sparse_frame_is_never_made_dense():
    rows = sparse.random(20_000, 200, density=0.001, random_state=0, format="csr")
    frame = pd.DataFrame.sparse.from_spmatrix(rows)
    tracemalloc.start()
    checked = check_matrix(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (checked != rows).nnz == 0
    assert peak < rows.shape[0] * rows.shape[1] * 8 / 2
    with pytest.raises(InputError, match="contains NaN"):  # its gaps are not zeros
        check_matrix(pd.DataFrame({"a": pd.arrays.SparseArray([1.0, np.nan, 2.0])}))
    assert check_matrix(pd.DataFrame({"sparse": [1, 0], "b": [0, 1]})).tolist() == [[1, 0], [0, 1]]
