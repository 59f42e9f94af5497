"""Rows of a size whose squares overflow or vanish are clustered, placed and judged like the same rows unscaled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import doccluster
from doccluster.base.validation import unit_rows, within_range
from doccluster.clustering import SphericalKMeans, assign_to_centroids
from doccluster.errors import DocclusterWarning
from doccluster.vectors import read_matrix

N, K = 60, 4
SCALES = {
    "huge": np.full((N, 1), 1e300),
    "tiny": np.full((N, 1), 1e-300),
    "both": np.geomspace(1e-300, 1e300, N)[:, None],
    "overflowing squares": np.full((N, 1), 1e160),
    "vanishing squares": np.full((N, 1), 1e-170),
}

pytestmark = pytest.mark.filterwarnings("ignore:.*not of unit length")


@pytest.fixture(scope="module")
def rows():
    return sparse.random_array((N, 30), density=0.3, random_state=np.random.default_rng(0), format="csr")


def fitted(matrix):
    return SphericalKMeans(K, random_state=0).fit(matrix)


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray])
@pytest.mark.parametrize("scale", SCALES)
def test_the_size_of_rows_changes_nothing(rows, scale, kind):
    plain = rows.toarray()
    scaled = kind(plain * SCALES[scale])
    before = scaled.copy()
    expected, found = fitted(kind(plain)), fitted(scaled)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)  # rows are float32 once they are unit
    np.testing.assert_array_equal(found.predict(scaled), expected.labels_)
    np.testing.assert_allclose(found.transform(scaled), expected.transform(kind(plain)), atol=1e-6)
    placed = assign_to_centroids(scaled, found.centroids_)
    np.testing.assert_array_equal(placed.labels, expected.labels_)
    ours = doccluster.score("silhouette", expected.labels_, vectors=scaled)
    theirs = doccluster.score("silhouette", expected.labels_, vectors=kind(plain))
    assert ours.value == pytest.approx(theirs.value, abs=1e-12)
    assert abs(scaled - before).sum() == 0, "the caller's matrix is untouched"


def test_rows_of_extreme_size_are_told_like_any_that_are_not_unit(rows):
    with pytest.warns(DocclusterWarning, match="not of unit length"):
        fitted(rows * 1e300)


def test_rows_of_plain_size_are_not_copied(rows):
    for matrix in (rows, rows.toarray(), rows.astype(np.float32)):
        assert within_range(matrix) is matrix


def test_zero_rows_and_stored_zeros_stay_zero():
    matrix = sparse.csr_array((np.array([0.0, 1e300, -1e-300]), [0, 0, 1], [0, 1, 2, 2, 3]), shape=(4, 2))
    found = unit_rows(matrix, warn=False).toarray()
    np.testing.assert_allclose(found, [[0, 0], [1, 0], [0, 0], [0, -1]], rtol=1e-15)


@pytest.mark.parametrize("scale", SCALES)
def test_a_matrix_file_with_rows_of_extreme_size_is_read(rows, tmp_path, scale):
    plain = rows.toarray()
    np.save(tmp_path / "plain.npy", plain)
    np.save(tmp_path / "scaled.npy", plain * SCALES[scale])
    expected, _ = read_matrix(tmp_path / "plain.npy", weighting="none")
    found, _ = read_matrix(tmp_path / "scaled.npy", weighting="none")
    np.testing.assert_allclose(found.matrix, expected.matrix, rtol=1e-6)
    why = "numbers too large for counts" if SCALES[scale].max() > 1 else "fractions"
    with pytest.warns(DocclusterWarning, match=why):
        found, _ = read_matrix(tmp_path / "scaled.npy")
    np.testing.assert_allclose(found.matrix, expected.matrix, rtol=1e-6)
