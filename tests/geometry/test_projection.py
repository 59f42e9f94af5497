"""Latent semantic analysis beside dense decompositions and scikit-learn's, and smoothing beside its formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from doccluster.base.place import FilePlace
from doccluster.geometry import latent_semantic_space, projection, smoothed_rows


@pytest.fixture(params=[-1, 2**22], ids=["compiled", "scipy"], autouse=True)
def few_products(request, monkeypatch):
    """Multiply little by the compiled loops too, which are for more."""
    monkeypatch.setattr(projection, "FEW_PRODUCTS", request.param)


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(5)
    topics = rng.integers(6, size=300)
    counts = rng.poisson(0.05 + 1.5 * (np.arange(240)[None, :] // 40 == topics[:, None]))
    return sparse.csr_array(counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1))


def test_singular_values_and_directions_are_those_of_the_dense_decomposition(matrix):
    space = latent_semantic_space(matrix, 20, n_power_iterations=10, random_state=0)
    _, values, directions = np.linalg.svd(matrix.toarray(), full_matrices=False)
    assert space.singular_values[:6] == pytest.approx(values[:6], rel=1e-9)
    assert space.singular_values == pytest.approx(values[:20], rel=1e-2)  # noise has no gaps
    assert np.abs(np.einsum("ij,ij->i", space.components[:6], directions[:6])) == pytest.approx(1, abs=1e-9)
    assert space.components @ space.components.T == pytest.approx(np.eye(20), abs=1e-9)


def test_projections_are_those_of_scikit_learn(matrix):
    peer = TruncatedSVD(6, n_iter=10, random_state=1).fit(matrix)
    space = latent_semantic_space(matrix, 6, n_power_iterations=10, random_state=0)
    ours, theirs = space.project(matrix), peer.transform(matrix)
    assert np.abs(ours) == pytest.approx(np.abs(theirs), abs=1e-8)
    assert space.singular_values == pytest.approx(peer.singular_values_, rel=1e-9)


def test_a_matrix_of_low_rank_has_as_many_directions(matrix):
    rng = np.random.default_rng(2)
    flat = sparse.csr_array(rng.random((50, 3)) @ rng.random((3, 70)))
    space = latent_semantic_space(flat, 10, random_state=0)
    assert space.singular_values.shape == (3,)
    assert space.project(flat) @ space.components == pytest.approx(flat.toarray(), abs=1e-9)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 5)])
def test_small_matrices_have_a_space(shape):
    matrix = sparse.csr_array(np.arange(1.0, 1 + np.prod(shape)).reshape(shape))
    space = latent_semantic_space(matrix, 100, random_state=0)
    assert space.project(matrix) @ space.components == pytest.approx(matrix.toarray(), rel=1e-9)


@pytest.mark.parametrize("n_rows", [5, 2**15 + 5])
@pytest.mark.parametrize("n_entries", [0, 5])
def test_a_matrix_of_zeros_has_no_direction(n_rows, n_entries):
    starts = np.minimum(np.arange(n_rows + 1), n_entries)
    zeros = sparse.csr_array((np.zeros(n_entries), np.arange(n_entries) % 3, starts), shape=(n_rows, 3))
    space = latent_semantic_space(zeros, 2, random_state=0)
    assert space.components.shape == (0, 3)
    assert space.project(zeros).shape == (n_rows, 0)


@pytest.mark.usefixtures("starts_threads")
def test_threads_change_no_bit(matrix, monkeypatch):
    monkeypatch.setattr("doccluster.geometry.projection.BLOCK_ROWS", 37)
    found = [latent_semantic_space(matrix, 12, random_state=3, n_threads=n) for n in (1, 2, 5)]
    for other in found[1:]:
        assert np.array_equal(found[0].components, other.components)
        assert np.array_equal(found[0].project(matrix), other.project(matrix, n_threads=3))


def test_smoothing_is_its_formula():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 3))
    weights = np.triu(rng.random((7, 7)) * (rng.random((7, 7)) < 0.5), 1)
    weights = weights + weights.T
    weights[6] = weights[:, 6] = 0  # a row without neighbours
    smoothed = smoothed_rows(rows, sparse.csr_array(weights), mixing=0.3, n_steps=2)
    own = expected = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for _ in range(2):
        moved = expected.copy()
        for i in range(6):
            moved[i] = 0.7 * own[i]
            for j in range(7):
                if weights[i, j]:
                    moved[i] += 0.3 * weights[i, j] / np.sqrt(weights[i].sum() * weights[j].sum()) * expected[j]
        expected = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    assert smoothed == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e6])
def test_a_space_made_in_files_has_the_bytes_of_one_made_in_memory(tmp_path, monkeypatch, size):
    matrix = sparse.csr_array(size * sparse.random_array((600, 40), density=0.2, rng=np.random.default_rng(4)))
    whole = latent_semantic_space(matrix, 5, random_state=1)
    monkeypatch.setattr("doccluster.geometry.projection.SUMMED_ROWS", 30)  # the sums of 20 blocks
    monkeypatch.setattr("doccluster.geometry.projection.BLOCK_ROWS", 70)
    expected = latent_semantic_space(matrix, 5, random_state=1)
    np.testing.assert_allclose(expected.components, whole.components, atol=1e-9)
    for fan_in in (2, 8):
        monkeypatch.setattr("doccluster.base.place.FAN_IN", fan_in)
        place = FilePlace(tmp_path, 2)
        kept = place.keep(matrix)
        found = latent_semantic_space(kept, 5, random_state=1, place=place)
        assert found.components.tobytes() == expected.components.tobytes()
        assert found.project(kept, place=place).tobytes() == expected.project(matrix).tobytes()
        smoothed = smoothed_rows(place.keep(np.eye(600)), place.keep(sparse.csr_array(matrix @ matrix.T)), place=place)
        assert smoothed.tobytes() == smoothed_rows(np.eye(600), sparse.csr_array(matrix @ matrix.T)).tobytes()


def test_scipy_multiplies_as_the_loops_do(matrix, monkeypatch):
    spaces = []
    for few in (-1, 2**22):
        monkeypatch.setattr(projection, "FEW_PRODUCTS", few)
        spaces.append(latent_semantic_space(matrix, 6, random_state=0))
    # to the last bit where the processor does not add and multiply at once
    assert spaces[0].components == pytest.approx(spaces[1].components, abs=1e-12)
