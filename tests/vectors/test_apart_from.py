"""Terms of authors: against the definition pair by pair, and what missing authors and own subjects must not change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.pipeline._apart import SPARED_DOCUMENTS, TRUSTED_DOCUMENTS, author_terms
from doccluster.vectors import DocumentVectors


def naive_factors(counts, authors, clusters=None):
    has, (_, n_terms) = counts.toarray() > 0, counts.shape
    factors, known = np.ones(n_terms), authors >= 0
    for term in range(n_terms):
        beyond, total = 0.0, has[known, term].sum()
        for author in range(authors.max() + 1):
            own, others = authors == author, known & (authors != author)
            rate = has[others, term].sum() / max(others.sum(), 1)
            expected = own.sum() * rate
            if clusters is not None:
                expected = 0.0
                for cluster in range(clusters.max() + 1):
                    there = clusters == cluster
                    n_others = (others & there).sum()
                    drawn = (has[others & there, term].sum() + TRUSTED_DOCUMENTS * rate) / (
                        n_others + TRUSTED_DOCUMENTS
                    )
                    expected += (own & there).sum() * drawn
            n_with = has[own, term].sum()
            if n_with > SPARED_DOCUMENTS:
                beyond += max(0.0, n_with - expected - SPARED_DOCUMENTS)
        factors[term] = 1 - beyond / max(total, 1)
    return factors


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(3)
    authors, clusters = rng.integers(-1, 5, size=150), rng.integers(4, size=150)
    rates = np.where(rng.random((5, 30)) < 0.2, 0.8, 0.1)[np.maximum(authors, 0)]
    counts = sparse.csr_array((rng.random((150, 30)) < rates).astype(np.int64) * rng.integers(1, 4, size=(150, 30)))
    return counts, authors, clusters


@pytest.mark.parametrize("by_cluster", [False, True])
def test_factors_are_those_of_the_definition(collection, by_cluster):
    counts, authors, clusters = collection
    result = author_terms(counts, authors, clusters if by_cluster else None)
    assert result.factors == pytest.approx(naive_factors(counts, authors, clusters if by_cluster else None))
    assert 0 <= result.factors.min() < 0.8
    assert result.beyond.shape == (5, 30)


def test_signatures_go_and_a_column_that_says_nothing_takes_little(collection):
    counts, authors, _ = collection
    signature = sparse.csr_array(np.equal.outer(authors, np.arange(5)).astype(np.int64))
    signed = sparse.csr_array(sparse.hstack([counts, signature]))
    result = author_terms(signed, authors)
    assert result.factors[30:].max() < 0.15
    assert [
        terms[0] in ("s0", "s1", "s2", "s3", "s4")
        for terms in result.strongest([*map(str, range(30)), "s0", "s1", "s2", "s3", "s4"])
    ]
    shuffled = np.random.default_rng(0).permutation(authors)
    assert author_terms(counts, shuffled).factors.mean() > 0.9


def test_an_author_s_own_subject_stays_once_clusters_are_known():
    # author 0 writes about subject 0 alone, as others do too: its words are the subject's
    authors, clusters = np.repeat([0, 1, 2, 2], 30), np.repeat([0, 0, 0, 1], 30)
    subject = sparse.csr_array(np.equal.outer(clusters, [0, 1]).astype(np.int64))
    assert author_terms(subject, authors).factors[0] < 0.85
    assert author_terms(subject, authors, clusters).factors[0] == 1


def test_documents_without_an_author_change_nothing_for_the_others(collection):
    counts, authors, _ = collection
    known = authors >= 0
    assert author_terms(counts, authors).factors == pytest.approx(author_terms(counts[known], authors[known]).factors)
    assert author_terms(counts, np.full(150, -1)).factors.tolist() == [1.0] * 30


def test_weighed_vectors_have_unit_rows_and_fractions_for_counts():
    matrix = sparse.csr_array(np.array([[0.6, 0.8], [0.0, 1.0]], dtype=np.float32))
    counts = sparse.csr_array(np.array([[1, 2], [0, 3]]))
    weighed = DocumentVectors(matrix, ("a", "b"), counts=counts).weighed_down(np.array([0.0, 0.5]))
    expected = np.array([0.006, 0.4]) / np.hypot(0.006, 0.4)
    assert weighed.matrix.toarray() == pytest.approx(np.array([expected, [0, 1]]), abs=1e-6)
    assert weighed.counts.toarray() == pytest.approx(np.array([[0.01, 1], [0, 1.5]]))
    assert matrix.toarray()[0, 0] == np.float32(0.6)
    assert weighed.take(np.array([1])).term_factors.tolist() == [0.01, 0.5]


def test_counts_that_were_weighed_down_are_whole_again_where_they_are_asked_for():
    matrix = sparse.csr_array(np.array([[0.6, 0.8, 0.0], [0.0, 0.6, 0.8]], dtype=np.float32))
    counts = np.array([[1, 2, 0], [0, 3, 7]])
    vectors = DocumentVectors(matrix, ("a", "b"), counts=sparse.csr_array(counts))
    weighed = vectors.weighed_down(np.array([0.0, 0.5, 0.3]))
    assert not np.array_equal(weighed.counts.toarray(), counts)
    assert weighed.whole_counts.toarray().tolist() == counts.tolist()
    assert weighed.take(np.array([1])).whole_counts.toarray().tolist() == counts[1:].tolist()
