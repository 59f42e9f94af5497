"""Buckshot: centroids of an agglomerated sample, from which spherical k-means starts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.metrics import adjusted_rand_score

from doccluster.clustering import SphericalKMeans
from doccluster.errors import NothingUsable
from experiments.browsing.buckshot import buckshot_centroids
from tests.selection.test_tendency import blocks_of_topics


def test_starts_are_centroids_of_an_agglomerated_sample():
    rows = blocks_of_topics(150, n_topics=4, n_terms=40, seed=0).toarray()
    drawn = np.sort(np.random.default_rng(3).choice(150, size=28, replace=False))  # sqrt(5 * 150) = 27.4
    labels = cut_tree(linkage(rows[drawn], "average", metric="cosine"), 5).ravel()
    sums = np.stack([rows[drawn][labels == cluster].sum(axis=0) for cluster in dict.fromkeys(labels.tolist())])
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    found = buckshot_centroids(rows, 5, 3)
    np.testing.assert_allclose(found[np.lexsort(found.T)], sums[np.lexsort(sums.T)], atol=1e-6)


def test_spherical_k_means_starts_from_them_and_too_few_filled_rows_are_refused():
    rows = blocks_of_topics(150, n_topics=4, n_terms=40, seed=0)
    model = SphericalKMeans(4, init=buckshot_centroids, random_state=0).fit(rows)
    assert adjusted_rand_score(np.arange(150) % 4, model.labels_) > 0.6
    longer = sparse.csr_array(sparse.vstack([sparse.csr_array((40, 40)), rows[:6]]))
    assert buckshot_centroids(longer, 6, 0).shape == (6, 40)
    with pytest.raises(NothingUsable, match=r"6 document\(s\) have terms"):
        buckshot_centroids(longer, 7, 0)
