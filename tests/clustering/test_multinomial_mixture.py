"""The estimator of mixtures of multinomials: its promises, its likelihood beside the definition, and its starts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from doccluster.clustering import MultinomialMixture
from doccluster.clustering.mixtures.multinomial import settle_labels
from doccluster.errors import DocclusterWarning, InputError, NothingUsable

READS_CLASSIFIER_TAGS = "scikit-learn's check takes every estimator with predict_proba for a classifier"
EXPECTED_FAILURES = {
    "check_clustering": "it gives centred rows, and counts are not negative",
    "check_estimator_sparse_array": READS_CLASSIFIER_TAGS,
    "check_estimator_sparse_matrix": READS_CLASSIFIER_TAGS,
}


@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")  # the checks give copies
@parametrize_with_checks(
    [MultinomialMixture(n_init=2)],  # shares of clusters are taken by tests/clustering/test_sparse_checks.py
    expected_failed_checks=lambda model: EXPECTED_FAILURES,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(31)
    topics = rng.integers(3, size=150)
    share = np.full((3, 60), 0.25)
    for topic in range(3):
        share[topic, 20 * topic : 20 * topic + 20] = 1.0
    share /= share.sum(axis=1, keepdims=True)
    lengths = rng.choice([12, 40, 400], size=150)
    counts = np.stack([rng.multinomial(n, share[topic]) for n, topic in zip(lengths, topics, strict=True)])
    return sparse.csr_array(counts), topics


@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize("init", ["k-means", "random"])
def test_topics_are_found_and_predicted(documents, assignment, init):
    counts, topics = documents
    model = MultinomialMixture(3, assignment=assignment, init=init, random_state=0).fit(counts)
    assert adjusted_rand_score(topics, model.labels_) > 0.9
    assert np.array_equal(model.predict(counts), model.labels_)
    assert np.array_equal(model.predict_proba(counts).argmax(axis=1), model.labels_)
    assert model.predict_proba(counts).sum(axis=1) == pytest.approx(1)
    assert model.converged_
    assert np.sort(model.weights_) == pytest.approx(np.sort(np.bincount(topics)) / 150, abs=0.03)


def test_the_likelihood_is_that_of_scipys_multinomials(documents):
    counts, _ = documents
    dense = counts.toarray()
    background = dense.sum(axis=0) / dense.sum()
    model = MultinomialMixture(3, assignment="soft", smoothing=0.3, max_length=np.inf, random_state=0).fit(counts)
    theta = 0.3 * background * np.exp(model.mixture_.odds.toarray().T)
    assert theta.sum(axis=1) == pytest.approx(1)
    each = np.stack([stats.multinomial.logpmf(dense, dense.sum(axis=1), row) for row in theta], axis=1)
    whole = stats.multinomial.logpmf(dense, dense.sum(axis=1), background)
    joint = each + np.log(model.weights_)
    expected = np.log(np.exp(joint - joint.max(axis=1, keepdims=True)).sum(axis=1)) + joint.max(axis=1) - whole
    assert model.score(counts) == pytest.approx(expected.mean(), rel=1e-9)
    assert model.log_likelihood_ == pytest.approx(expected.sum(), rel=1e-9)
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    assert model.predict_proba(counts) == pytest.approx(posterior / posterior.sum(axis=1, keepdims=True), abs=1e-9)


def test_the_start_of_the_highest_likelihood_is_kept(documents):
    counts, _ = documents
    rng = np.random.default_rng(0)
    singles = [
        MultinomialMixture(5, init="random", n_init=1, random_state=rng).fit(counts).log_likelihood_ for _ in range(6)
    ]
    several = MultinomialMixture(5, init="random", n_init=6, random_state=0).fit(counts)
    assert several.log_likelihood_ == pytest.approx(max(singles), rel=1e-12)
    assert len({round(value, 6) for value in singles}) > 1


def test_given_labels_are_settled(documents):
    counts, topics = documents
    start = np.where(np.random.default_rng(0).random(150) < 0.3, 0, topics)
    model = MultinomialMixture(3, init=start, max_iter=20).fit(counts)
    expected = settle_labels(counts, start, 3)
    assert np.array_equal(model.labels_, expected.labels)
    assert np.array_equal(model.mixture_.odds.toarray(), expected.parameters.odds.toarray())


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_threads_and_the_form_of_the_matrix_change_no_label(documents, assignment):
    counts, _ = documents
    model = MultinomialMixture(4, assignment=assignment, n_init=3, random_state=2)
    labels = [
        model.set_params(n_threads=threads).fit(given).labels_
        for threads, given in ((1, counts), (2, counts), (4, counts), (1, counts.toarray()))
    ]
    assert all(np.array_equal(labels[0], other) for other in labels[1:])


def test_new_terms_and_documents_without_terms_are_predicted(documents):
    counts, _ = documents
    with_empty = sparse.csr_array(sparse.vstack([counts, sparse.csr_array((2, 60))]))
    model = MultinomialMixture(3, random_state=0).fit(with_empty)
    assert set(model.labels_[-2:].tolist()) == {int(model.weights_.argmax())}
    assert model.predict_proba(sparse.csr_array((1, 60)))[0] == pytest.approx(model.weights_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"assignment": "fuzzy"}, "assignment='fuzzy'"),
        ({"smoothing": 0}, "smoothing=0 "),
        ({"max_length": 0}, "max_length=0 "),
        ({"tol": -1}, "tol=-1"),
        ({"init": "best"}, "init='best'"),
        ({"init": np.zeros(3, int)}, r"init has shape \(3,\)"),
        ({"n_init": 0}, "n_init=0"),
    ],
)
def test_what_cannot_be_used_is_refused(documents, parameters, message):
    with pytest.raises(InputError, match=message):
        MultinomialMixture(3, **parameters).fit(documents[0])


def test_negative_values_and_nothing_are_refused_and_copies_told():
    with pytest.raises(InputError, match="Negative values"):
        MultinomialMixture(2).fit([[1.0, -1.0], [0.0, 1.0]])
    with pytest.raises(NothingUsable, match="no document with a term"):
        MultinomialMixture(1).fit(np.zeros((3, 2)))
    with pytest.warns(DocclusterWarning, match="distinct rows"):
        MultinomialMixture(3, n_init=1, random_state=0).fit(np.repeat(np.eye(2), 3, axis=0))
