"""Scatter: what it puts together, and that it repeats itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score

from doccluster.base.validation import unit_rows
from doccluster.errors import InputError
from doccluster.retrieval import scatter


def topics(n, n_topics=8, seed=0, share=0.7):
    """Return unit rows of documents that draw 12 words, a share of them from the 30 of their topic, and the topics."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_topics, n)
    own = rng.random((n, 12)) < share
    columns = np.where(own, truth[:, None] * 30 + rng.integers(0, 30, (n, 12)), rng.integers(0, 30 * n_topics, (n, 12)))
    rows = sparse.csr_array((np.ones(n * 12), (np.repeat(np.arange(n), 12), columns.ravel())), shape=(n, 30 * n_topics))
    return unit_rows(rows.astype(np.float32), warn=False), truth


def agreement(clusters, truth):
    members = np.concatenate(clusters)
    labels = np.repeat(np.arange(len(clusters)), [own.size for own in clusters])
    return normalized_mutual_info_score(truth[members], labels)


def test_every_document_is_in_one_cluster_and_the_largest_comes_first():
    rows, truth = topics(400)
    members = np.arange(0, 400, 2)
    found = scatter(rows, members, 8)
    assert np.array_equal(np.sort(np.concatenate(found)), members)
    sizes = [own.size for own in found]
    assert sizes == sorted(sizes, reverse=True)
    assert agreement(found, truth) > 0.9


@pytest.mark.usefixtures("starts_threads")
def test_the_same_seed_gives_the_same_clusters_for_any_order_of_members_and_number_of_threads():
    rows, _ = topics(6000)
    first = scatter(rows, np.arange(6000), 8, n_threads=1)
    again = scatter(rows, np.arange(6000)[::-1], 8, n_threads=2)
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))


def test_a_sample_and_two_passes_find_the_topics():
    rows, truth = topics(6000)
    assert agreement(scatter(rows, None, 8), truth) > 0.8


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        ([[0.0, 0.0], [0.0, 0.0]], [2]),
        ([[1.0, 0.0]], [1]),
        ([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], [3]),
        ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [2, 1]),
    ],
)
@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")
def test_empty_equal_and_few_documents_are_scattered_too(rows, sizes):
    found = scatter(sparse.csr_array(np.array(rows)), None, 5)
    assert [own.size for own in found] == sizes


def test_nothing_cannot_be_scattered():
    with pytest.raises(InputError, match="choose at least one cluster"):
        scatter(sparse.csr_array(np.eye(3)), [])
