"""The multinomial mixture beside dense definitions of its two steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.mixtures.multinomial import settle_labels
from doccluster.clustering.task import capped


@pytest.fixture
def documents():
    """Counts of three topics, documents of very different lengths, and labels that are mostly right."""
    rng = np.random.default_rng(11)
    topics = rng.integers(3, size=90)
    share = np.full((3, 60), 0.2)
    for topic in range(3):
        share[topic, 20 * topic : 20 * topic + 20] = 1.0
    share /= share.sum(axis=1, keepdims=True)
    lengths = rng.choice([6, 40, 900], size=90)
    counts = np.stack([rng.multinomial(n, share[topic]) for n, topic in zip(lengths, topics, strict=True)])
    labels = np.where(rng.random(90) < 0.3, rng.integers(3, size=90), topics)
    return counts, topics, labels


def naive_posteriors(counts, shares, smoothing, max_length):
    """theta_c = (1 - s) share in c + s share in the collection; posterior by the definition, in dense arrays."""
    lengths = counts.sum(axis=1, keepdims=True)
    rows = counts * np.minimum(1.0, max_length / np.maximum(lengths, 1e-300))
    background = rows.sum(axis=0) / rows.sum()
    sums = shares.T @ rows
    theta = (1 - smoothing) * sums / sums.sum(axis=1, keepdims=True) + smoothing * background
    scores = np.log(shares.sum(axis=0) / len(rows)) + rows @ np.log(theta).T
    posteriors = np.exp(scores - scores.max(axis=1, keepdims=True))
    return posteriors / posteriors.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(("smoothing", "max_length"), [(0.5, 200.0), (0.1, 30.0)])
def test_every_round_is_the_definition(documents, soft, smoothing, max_length):
    counts, _, labels = documents
    shares = np.eye(3)[labels]
    for rounds in range(1, 5):
        posteriors = naive_posteriors(counts, shares, smoothing, max_length)
        found = settle_labels(
            sparse.csr_array(counts),
            labels,
            3,
            smoothing=smoothing,
            max_length=max_length,
            max_iter=rounds,
            tol=-1.0,
            soft=soft,
        )
        assert np.array_equal(found.labels, posteriors.argmax(axis=1))
        ours = found.parameters.posteriors(sparse.csr_array(counts))
        assert ours == pytest.approx(posteriors, abs=2e-3 if soft else 1e-7)  # scaled counts are whole steps of 2^-24
        shares = posteriors if soft else np.eye(3)[posteriors.argmax(axis=1)]


def test_settling_mends_wrong_labels(documents):
    counts, topics, labels = documents
    found = settle_labels(sparse.csr_array(counts), labels, 3)
    long = counts.sum(axis=1) >= 40
    assert (labels == topics)[long].mean() < 0.9
    assert (found.labels == topics)[long].all()
    assert found.converged


@pytest.mark.usefixtures("starts_threads")
def test_threads_and_blocks_change_nothing(documents, monkeypatch):
    counts, _, labels = documents
    plain = settle_labels(sparse.csr_array(counts), labels, 3, soft=True)
    monkeypatch.setattr("doccluster.clustering.mixtures.multinomial.BLOCK_ROWS", 7)
    other = settle_labels(sparse.csr_array(counts), labels, 3, soft=True, n_threads=3)
    assert np.array_equal(plain.labels, other.labels)
    assert plain.parameters.odds.toarray() == pytest.approx(other.parameters.odds.toarray(), abs=0)


def test_a_cluster_without_documents_gets_none(documents):
    counts, _, labels = documents
    found = settle_labels(sparse.csr_array(counts), labels, 5)
    assert set(found.labels.tolist()) <= {0, 1, 2}
    assert found.parameters.weights[3:].tolist() == [0, 0]


def test_documents_without_terms_go_to_the_largest_cluster(documents):
    counts, _, labels = documents
    counts = np.vstack([counts, np.zeros((2, 60), int)])
    found = settle_labels(sparse.csr_array(counts), np.append(labels, [1, 2]), 3)
    assert set(found.labels[-2:].tolist()) == {int(found.parameters.weights.argmax())}


def test_long_documents_count_as_much_as_the_cap_allows():
    rows = capped(sparse.csr_array([[3.0, 1.0], [300.0, 100.0], [0.0, 0.0]]), 100.0)
    assert rows.toarray().tolist() == [[3, 1], [75, 25], [0, 0]]


def test_sums_of_documents_above_the_cap_are_the_same_in_any_order():
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.poisson(3.0, (400, 30)).astype(np.float64))
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    scaled = counts.toarray() * np.minimum(1.0, 60.0 / lengths)[:, None]
    order = rng.permutation(400)
    assert scaled.sum(axis=0).tolist() != scaled[order].sum(axis=0).tolist()  # plain scaling depends on the order
    rows = capped(counts, 60.0).toarray()
    assert rows.sum(axis=0).tolist() == rows[order].sum(axis=0).tolist()
    np.testing.assert_allclose(rows, scaled, atol=2.0**-24)
