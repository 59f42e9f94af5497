"""Spherical k-means over blocks: the labels of one process, however the documents are divided and wherever they lie."""

from __future__ import annotations

import gc
import itertools
import weakref

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.validation import unit_rows
from doccluster.clustering.k_means.assign import SparseMeans
from doccluster.clustering.k_means.seeds import SEEDINGS, draw_starts
from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalParameters, spherical_k_means
from doccluster.clustering.k_means.sweep import NearestCentroids
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.clustering.k_means.unit_documents import unit_documents
from doccluster.distributed import FilePlace, block_steps, cluster_blocks, write_block
from doccluster.distributed.block_clustering import BlockRows
from doccluster.distributed.block_steps import TableVersion, blocks_of_table, kept_bytes
from doccluster.errors import InputError, NothingUsable

N, TERMS = 700, 300
DIVISIONS = ([0, N], [0, 1, N], [0, 350, N], [0, 13, 14, 200, 699, N], list(range(0, N + 1, 50)))


@pytest.fixture(scope="module")
def matrix():
    """Unit rows with a hidden structure, some of them copies, and one without terms."""
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(TERMS, 0.05), size=8)
    counts = np.array([rng.multinomial(25, topics[row % 8]) for row in range(N)], dtype=np.float32)
    counts[100:110] = counts[100]
    counts[333] = 0
    return unit_rows(sparse.csr_array(counts), warn=False)


def divided(matrix, edges, folder):
    return [
        write_block(folder / f"block-{first}", sparse.csr_array(matrix[first:last]), first=first)
        for first, last in itertools.pairwise(edges)
    ]


@pytest.mark.parametrize(("least", "most", "n_blocks"), [(1, 10**9, 3), (10**9, 10**9, 1), (1, 1000, 11)])
def test_rows_in_files_are_divided_by_entries_among_the_workers(matrix, tmp_path, monkeypatch, least, most, n_blocks):
    monkeypatch.setattr(block_steps, "MIN_ENTRIES", least)
    monkeypatch.setattr(block_steps, "MAX_ENTRIES", most)
    blocks = blocks_of_table(FilePlace(tmp_path, n_threads=3), matrix)
    assert len(blocks) == n_blocks
    assert abs(sparse.vstack([block.matrix for block in blocks]) - matrix).sum() == 0
    longest = np.diff(matrix.indptr).max()
    even = matrix.nnz / n_blocks if most > 1000 else most
    assert all(abs(block.n_entries - even) <= longest for block in blocks[:-1])


def test_a_start_begins_without_the_documents_that_its_seeds_were_drawn_from(matrix, tmp_path, monkeypatch):
    drawn_from, whole = [], BlockRows.whole

    def remembered(rows):
        documents = whole(rows)
        drawn_from.append(weakref.ref(documents))
        return documents

    monkeypatch.setattr(BlockRows, "whole", remembered)
    rows = BlockRows(FilePlace(tmp_path), divided(matrix, [0, 350, N], tmp_path))
    starts = draw_starts(rows, 5, "k-means++", 2, np.random.default_rng(0), seed_documents=N)
    assert next(starts).shape == (5, TERMS)
    gc.collect()
    assert len(drawn_from) == 1
    assert drawn_from[0]() is None


def assert_same(found, expected):
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.centroids.data.tobytes() == expected.centroids.data.tobytes()
    np.testing.assert_array_equal(found.centroids.indices, expected.centroids.indices)
    assert found.n_iter == expected.n_iter
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)


@pytest.mark.parametrize("init", SEEDINGS)
@pytest.mark.parametrize("keep_bytes", [0, 2**30])
def test_labels_are_those_of_one_process_for_any_division(matrix, tmp_path, init, keep_bytes):
    parameters = SphericalParameters(9, init=init, n_init=2, random_state=4)
    expected = spherical_k_means(matrix, parameters)
    for number, edges in enumerate(DIVISIONS[1:4]):
        (tmp_path / str(number)).mkdir()
        blocks = divided(matrix, edges, tmp_path / str(number))
        found = cluster_blocks(FilePlace(tmp_path), blocks, parameters, keep_bytes=keep_bytes)
        assert_same(found, expected)
        assert found.inertia == pytest.approx(expected.inertia, rel=1e-9)
        assert all(map(np.array_equal, found.starts, expected.starts))


def test_given_centroids_are_started_from(matrix, tmp_path):
    parameters = SphericalParameters(5, init=matrix[[3, 50, 400, 410, 650]], n_init=1, tol=0.0)
    blocks = divided(matrix, DIVISIONS[3], tmp_path)
    assert_same(cluster_blocks(FilePlace(tmp_path, 2), blocks, parameters), spherical_k_means(matrix, parameters))


@pytest.mark.parametrize("edges", DIVISIONS)
def test_empty_clusters_are_filled_by_the_same_rule(matrix, tmp_path, edges):
    far_away = sparse.csr_array(matrix[[7, 7, 7, 20, 20, 333, 0, 60]])  # copies and a zero row leave clusters empty
    parameters = SphericalParameters(8, init=far_away, n_init=1)
    found = cluster_blocks(FilePlace(tmp_path), divided(matrix, edges, tmp_path), parameters)
    expected = spherical_k_means(matrix, parameters)
    assert np.bincount(expected.labels, minlength=8).min() > 0
    assert_same(found, expected)


def test_clusters_that_cannot_be_filled_are_dropped(tmp_path):
    rows = sparse.csr_array(np.eye(3, 6, dtype=np.float32)[np.array([0, 0, 1, 1, 2, 2, 2])])
    parameters = SphericalParameters(5, init=rows[[0, 1, 2, 4, 5]], n_init=1)
    found = cluster_blocks(FilePlace(tmp_path), divided(rows, [0, 2, 5, 7], tmp_path), parameters)
    assert_same(found, spherical_k_means(rows, parameters))
    assert found.centroids.shape[0] == 3
    assert found.notes == spherical_k_means(rows, parameters).notes


def test_nothing_is_left_in_the_scratch_folder(matrix, tmp_path):
    blocks = divided(matrix, DIVISIONS[2], tmp_path)
    before = sorted(tmp_path.iterdir())
    cluster_blocks(FilePlace(tmp_path), blocks, SphericalParameters(3, n_init=1, random_state=0))
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_is_kept_in_memory_once_a_fit_is_over(matrix, tmp_path):
    def kept():
        gc.collect()
        return sum(type(one) is NearestCentroids for one in gc.get_objects())  # a dead proxy has no class

    held_before, during = kept(), []
    blocks = divided(matrix, DIVISIONS[2], tmp_path)
    parameters = SphericalParameters(3, n_init=1, random_state=0, progress=lambda *_: during.append(kept()))
    cluster_blocks(FilePlace(tmp_path), blocks, parameters)
    assert max(during) > held_before  # between iterations rows and bounds are kept
    assert kept() == held_before


def test_a_fit_keeps_two_tables_on_disk_however_many_iterations_it_takes(matrix, tmp_path):
    seen = []

    def look(stage, done, total=None):
        seen.append((done, len(list(tmp_path.glob("clustering-*/fit-*/table-*")))))

    parameters = SphericalParameters(40, n_init=4, random_state=0, progress=look, init="random", tol=0.0)
    cluster_blocks(FilePlace(tmp_path), divided(matrix, DIVISIONS[2], tmp_path), parameters)
    assert max(seen)[0] > 2
    assert {n_tables for _, n_tables in seen} == {2}


def test_an_interrupted_fit_has_the_best_so_far(matrix, tmp_path):
    def stop(stage, done, total=None):
        if done == 2:
            raise KeyboardInterrupt

    parameters = SphericalParameters(6, n_init=3, random_state=0, progress=stop, init="random", tol=0.0)
    blocks = divided(matrix, DIVISIONS[2], tmp_path)
    with pytest.raises(FitInterrupted) as stopped:
        cluster_blocks(FilePlace(tmp_path), blocks, parameters)
    so_far = stopped.value.so_far
    short = SphericalParameters(6, n_init=1, random_state=0, max_iter=2, init="random", tol=0.0)
    np.testing.assert_array_equal(so_far.labels, spherical_k_means(matrix, short).labels)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["block-0", "block-350"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"init": "k-means**"}, "is not a way to begin"),
        ({"refine": True}, "moves single documents"),
        ({"n_clusters": N + 1}, "documents"),
        ({"init": np.ones((2, 3))}, "has shape"),
    ],
)
def test_what_cannot_be_used_is_refused(matrix, tmp_path, wrong, said):
    parameters = SphericalParameters(**{"n_clusters": 3, "random_state": 0, **wrong})
    with pytest.raises(InputError, match=said):
        cluster_blocks(FilePlace(tmp_path), divided(matrix, [0, N], tmp_path), parameters)


def test_documents_without_terms_alone_are_refused(tmp_path):
    blocks = divided(sparse.csr_array((5, 4), dtype=np.float32), [0, 2, 5], tmp_path)
    with pytest.raises(NothingUsable, match="no document has a term"):
        cluster_blocks(FilePlace(tmp_path), blocks, SphericalParameters(2))


def test_a_block_that_is_gone_is_told_in_a_sentence(matrix, tmp_path):
    blocks = divided(matrix, DIVISIONS[2], tmp_path)
    (tmp_path / "block-350" / "data.npy").unlink()
    with pytest.raises(InputError, match=r"data\.npy cannot be read"):
        cluster_blocks(FilePlace(tmp_path), blocks, SphericalParameters(2))


def test_a_scratch_folder_without_room_is_told_in_a_sentence(matrix, tmp_path, monkeypatch):
    def no_room(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", no_room)
    with pytest.raises(InputError, match=r"cannot be written .No space left on device"):
        write_block(tmp_path / "block", matrix)
    assert not list(tmp_path.iterdir())


def test_what_a_block_is_said_to_take_is_at_least_what_it_holds(tmp_path):
    n = 4_000
    rows = sparse.csr_array((np.ones(n, np.float32), np.arange(n) % 5, np.arange(n + 1)), shape=(n, 5))
    block = write_block(tmp_path / "block", rows, first=0)
    version = TableVersion(str(tmp_path), 0, np.full(5, np.inf), np.full(5, n // 5))
    places = TermPlaces.of(version.frequencies, 5)
    nearest = NearestCentroids(unit_documents(block.documents), places)
    nearest.search(SparseMeans(sparse.csr_array(np.eye(5, dtype=np.float32)), places))
    assert np.array_equal(nearest.labels, np.arange(n) % 5)
    held = sum(array.nbytes for array in (*nearest.rows, *nearest.bounds[:3], nearest.documents.weights))
    assert held > 30 * n
    assert held <= kept_bytes(block) <= 3 * held
