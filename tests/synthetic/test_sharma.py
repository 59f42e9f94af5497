"""What Algorithm 1 promises, in all its forms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from doccluster.clustering import SphericalKMeans
from doccluster.errors import InputError
from doccluster.synthetic import make_sharma
from experiments.sharma_algorithm.__main__ import FORMS, try_promises


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_promises_hold(form, seed):
    vectors, truth = make_sharma(**form, random_state=seed)
    matrix = vectors.matrix
    k, scale = form.get("n_clusters", 5), form.get("scale", 1)
    documents = form.get("documents_per_cluster", 4 * scale)
    terms = form.get("terms_per_cluster", 10 * scale)
    assert sparse.issparse(matrix)
    assert matrix.dtype == np.float32
    assert matrix.data.min() > 0
    np.testing.assert_allclose(sparse.linalg.norm(matrix, axis=1), 1, atol=1e-6)
    assert np.bincount(matrix.indices, minlength=matrix.shape[1]).min() >= 1
    sizes = np.bincount(truth, minlength=k)
    assert sizes.min() >= documents
    assert len(truth) == matrix.shape[0]
    assert matrix.shape[1] == math.floor(terms * k + 2 * documents * k * form.get("overlap", 0.3) + 0.5)


def test_the_experiment_sees_promises_that_are_broken(monkeypatch):
    made = make_sharma(random_state=0)
    matrix = made.vectors.matrix.copy()
    matrix.data *= 2
    broken = replace(made, vectors=replace(made.vectors, matrix=matrix), truth=made.truth % 4)
    monkeypatch.setattr("experiments.sharma_algorithm.__main__.make_sharma", lambda **options: broken)
    assert try_promises({}, 0)["promises_broken"] == 2  # lengths, and the size of the fifth cluster


def test_paper_sizes_are_the_paper_numbers():
    vectors, truth = make_sharma(5, overlap=0.3, random_state=1)
    assert vectors.n_terms == 62
    assert len(truth) in (20, 21, 22)
    assert sum(term.startswith("overlap") for term in vectors.terms) == 12


def test_rows_of_the_block_form_lie_in_their_block_and_overlap_columns():
    vectors, truth = make_sharma(6, random_state=3)
    rows, columns = vectors.matrix.nonzero()
    in_block = columns < 60
    assert (columns[in_block] // 10 == truth[rows[in_block]]).all()
    in_overlap = np.bincount(columns[~in_block] - 60)
    assert in_overlap.min() >= 1
    assert in_overlap.max() <= 4


def test_dense_form_fills_all_blocks_alike():
    vectors, truth = make_sharma(5, structure="dense", random_state=0)
    own, other = 0, 0
    rows, columns = vectors.matrix.nonzero()
    for row, column in zip(rows, columns, strict=True):
        if column < 50:
            own += column // 10 == truth[row]
            other += column // 10 != truth[row]
    assert other / own == pytest.approx(4, rel=0.15)


def columns_all_zero_before(seed):
    """Return how many rows each way of adding them added, for one seed: the draws before are the same."""
    counts = {}
    for way in ("owner", "per_column", "gamma_n"):
        _, truth = make_sharma(5, alpha=0.8, extra_rows=way, random_state=seed)
        counts[way] = len(truth) - 20
    return counts


def test_ways_of_adding_rows_add_what_they_say():
    found = [columns_all_zero_before(seed) for seed in range(10)]
    for counts in found:
        assert 1 <= counts["owner"] <= 5
        assert counts["per_column"] > counts["owner"]
        assert counts["gamma_n"] == max(6, counts["owner"])


def test_scaled_form_keeps_its_shape():
    def shares(scale):
        filled, overlapping = [], []
        for seed in range(10):
            vectors, _ = make_sharma(5, scale=scale, alpha=0.4, random_state=seed)
            n_block = 50 * scale
            in_block = (vectors.matrix.indices < n_block).sum()
            filled.append(in_block / (20 * scale * 10 * scale))
            overlapping.append((vectors.matrix.nnz - in_block) / vectors.matrix.nnz)
        return np.mean(filled), np.mean(overlapping)

    np.testing.assert_allclose(shares(6), shares(1), rtol=0.1)


def test_blocks_can_be_found_and_the_literal_text_cannot():
    found = {}
    for structure in ("block", "dense"):
        scores = []
        for seed in range(8):
            vectors, truth = make_sharma(5, structure=structure, random_state=seed)
            labels = SphericalKMeans(5, n_init=10, random_state=seed).fit(vectors.matrix).labels_
            scores.append(adjusted_rand_score(truth, labels))
        found[structure] = np.mean(scores)
    assert found["block"] > 0.9
    assert abs(found["dense"]) < 0.15


def test_same_seed_same_bytes():
    first, second = (make_sharma(4, random_state=7).vectors.matrix for _ in range(2))
    assert first.data.tobytes() == second.data.tobytes()
    assert first.indices.tobytes() == second.indices.tobytes()
    assert make_sharma(4, random_state=8).vectors.matrix.data.tobytes() != first.data.tobytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"overlap": -0.1}, "overlap=-0.1 is out of range"),
        ({"overlap": float("nan")}, "overlap=nan is out of range"),
        ({"alpha": 1.0}, "leaves next to no value"),
        ({"beta": 1.0}, "leaves next to no value"),
        ({"alpha": 0.9, "sigma": 0.01}, "smaller alpha or a larger sigma"),
        ({"sigma": 0.0}, "sigma=0.0 is out of range"),
        ({"structure": "round"}, "one of block, dense"),
        ({"extra_rows": "none"}, "one of owner, per_column, gamma_n"),
        ({"scale": 0}, "scale=0"),
        ({"overlap_rows": (4, 2)}, "is not a range"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(options, words):
    with pytest.raises(InputError, match=words) as caught:
        make_sharma(**options)
    assert "\n" not in str(caught.value)
