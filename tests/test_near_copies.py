"""Near-copies in a run: found, written down, and clustered as one document where that is wanted."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

from doccluster.cli.main import commands
from doccluster.corpus import duplicates, find_near_copies, find_near_duplicates
from doccluster.errors import InputError
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.results.run_folder import load_run, save_run
from doccluster.results.run_tables import assignments_columns
from doccluster.synthetic import make_zipf_corpus
from tests.conftest import ROOT

NEWSROOM = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"


@pytest.fixture(scope="module")
def wire():
    """Forty articles of the sample; every fourth is printed three more times, each time with one word changed."""
    lines = NEWSROOM.read_text(encoding="utf-8").splitlines()[:40]
    articles = [json.loads(line) for line in lines]
    frame = pd.DataFrame({"id": [a["id"] for a in articles], "text": [a["text"] for a in articles]})
    frame["date"] = [f"2026-03-{1 + row % 20:02d}" for row in range(len(frame))]
    copies = []
    for row in range(0, 40, 4):
        for number in range(3):
            words = frame["text"][row].split()
            words[-1 - number] = "stop"
            copies.append({"id": f"copy {row}.{number}", "text": " ".join(words), "date": "2026-03-25"})
    # the copies are read first, so only the dates say which text was first
    return pd.concat([pd.DataFrame(copies), frame], ignore_index=True)


def vectors_of(texts):
    terms = sorted({word for text in texts for word in text.lower().split()})
    place = {term: column for column, term in enumerate(terms)}
    rows = [sorted({place[word] for word in text.lower().split()}) for text in texts]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate([np.array(row, dtype=np.int64) for row in rows])
    return sparse.csr_array((np.ones(indices.size), indices, indptr), shape=(len(texts), len(terms)))


def test_the_quick_search_finds_what_comparing_all_texts_finds(wire):
    texts = list(wire["text"])
    found = find_near_copies(vectors_of(texts), texts)
    assert found == find_near_duplicates(texts)
    assert [len(family) for family in found] == [4] * 10


def test_without_texts_the_sets_of_terms_decide():
    sets = [{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {20, 21, 22}, {0, 1, 2, 3, 20, 30}, set()]
    matrix = np.zeros((5, 40))
    for row, columns in enumerate(sets):
        matrix[row, list(columns)] = 0.5
    assert find_near_copies(sparse.csr_array(matrix), threshold=0.9) == ((0, 1),)
    assert find_near_copies(sparse.csr_array(matrix), threshold=0.95) == ()


def test_documents_without_terms_are_no_copies_of_one_another():
    assert find_near_copies(sparse.csr_array((3, 4)), ["", "", ""]) == ()


def test_documents_are_compared_over_the_edges_of_blocks_and_few_are_hashed_at_a_time(monkeypatch):
    rng = np.random.default_rng(8)
    n_documents, n_terms = 30_000, 40
    columns = np.sort(rng.integers(50_000, size=(n_documents, n_terms)), axis=1)
    columns[-1], columns[20_000] = columns[0], columns[5]
    starts = n_terms * np.arange(n_documents + 1, dtype=np.int32)
    ones = np.ones(columns.size, np.float32)
    rows = sparse.csr_array((ones, columns.ravel().astype(np.int32), starts), shape=(n_documents, 50_000))
    tracemalloc.start()
    try:
        assert find_near_copies(rows) == ((0, n_documents - 1), (5, 20_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * columns.size  # two copies of all columns in whole numbers of 8 bytes
    monkeypatch.setattr(duplicates, "BLOCK_SIZE", 7)
    few = rows[np.r_[:20, 19_995:20_005, n_documents - 1]]
    assert find_near_copies(sparse.csr_array(few)) == ((0, 30), (5, 25))


def test_assignments_say_which_documents_are_one_text_and_which_was_first(wire):
    table = pd.DataFrame(assignments_columns(run_pipeline(wire, n_clusters=10, language="english"))).set_index("id")
    families = table.dropna(subset=["family"]).groupby("family")
    assert len(families) == 10
    originals = set(wire["id"][30:])
    for _, family in families:
        assert len(family) == 4
        assert list(family.index[family["first"]]) == [name for name in family.index if name in originals]
    alone = table[table["family"].isna()]
    assert len(alone) == 30
    assert alone["first"].all()


def test_folded_copies_have_the_cluster_of_the_first_and_do_not_move_the_centroids(wire):
    options = {"language": "english", "random_state": 3, "clustering": {"n_init": 3}}
    run = run_pipeline(wire, n_clusters=8, fold_copies=True, **options)
    labels = run.partition.labels
    np.testing.assert_array_equal(labels, labels[run.copy_of])
    firsts = np.unique(run.copy_of)
    assert firsts.size == 40
    rows = run.vectors.matrix[firsts].toarray()
    for cluster in range(8):
        total = rows[labels[firsts] == cluster].sum(axis=0)
        np.testing.assert_allclose(run.centroids.toarray()[cluster], total / np.linalg.norm(total), atol=1e-5)
    assert list(run.partition.sizes) == sorted(run.partition.sizes, reverse=True)
    assert "30 of the documents have the cluster of the text they repeat" in " ".join(run.notes)


def test_folded_copies_are_in_the_levels_of_the_first():
    made = make_zipf_corpus(400, n_topics=6, near_duplicates=0.3, median_length=60, random_state=0)
    run = run_pipeline(made, granularity="topics", fold_copies=True, measures=[])
    assert run.copy_of is not None
    assert len(set(run.copy_of.tolist())) < run.n_documents
    assert [level.name for level in run.levels][-1] == "subtopic"
    for level in run.levels:
        np.testing.assert_array_equal(level.labels, level.labels[run.copy_of])


def test_families_are_kept_with_the_run_and_a_repetition_folds_again(wire, tmp_path):
    wire.to_csv(tmp_path / "wire.csv", index=False)
    run = run_pipeline(tmp_path / "wire.csv", n_clusters=8, fold_copies=True, output=tmp_path / "out", report=False)
    np.testing.assert_array_equal(load_run(tmp_path / "out").copy_of, run.copy_of)
    assert repeat_run(tmp_path / "out").same_labels


def test_a_matrix_is_folded_on_the_command_line_too(tmp_path):
    counts = np.array(
        [[2, 1, 1, 0, 0, 0], [2, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 2], [1, 1, 0, 0, 0, 0]]
    )
    (tmp_path / "x.mtx").write_text(
        "%%MatrixMarket matrix array integer general\n5 6\n" + "\n".join(map(str, counts.T.ravel())) + "\n"
    )
    command = ["cluster", str(tmp_path / "x.mtx"), "-o", str(tmp_path / "out"), "-k", "2", "--fold-copies"]
    done = CliRunner().invoke(commands, [*command, "--no-report"], catch_exceptions=False)
    assert done.exit_code == 0
    table = pd.read_csv(tmp_path / "out" / "assignments.csv")
    assert table["family"].tolist()[:2] == [0, 0]
    assert table["family"].isna().tolist()[2:] == [True] * 3
    assert table["first"].tolist() == [True, False, True, True, True]


def test_more_clusters_than_distinct_texts_are_refused():
    with pytest.raises(InputError, match="exceeds the number of documents"):
        run_pipeline(["oil prices rise again"] * 3 + ["wheat harvest rain"] * 3, n_clusters=3, fold_copies=True)


def test_dense_vectors_have_no_copies_to_fold(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(12, 4)))
    given = {"n_clusters": 2, "vectorizer": {"weighting": "none"}}
    with pytest.raises(InputError, match="dense matrix"):
        run_pipeline(tmp_path / "x.npy", fold_copies=True, **given)
    table = pd.DataFrame(assignments_columns(run_pipeline(tmp_path / "x.npy", **given)))
    assert table["family"].isna().all()


def test_a_run_from_before_families_were_kept_can_be_read(wire, tmp_path):
    run = run_pipeline(wire, n_clusters=4, language="english")
    save_run(run, tmp_path / "out")
    path = tmp_path / "out" / "model" / "partition.npz"
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files if name != "copy_of"}
    np.savez(path, **kept)
    assert load_run(tmp_path / "out").copy_of is None


def test_documents_that_only_share_a_band_are_not_compared_as_texts():
    rng = np.random.default_rng(3)
    common, rare = np.arange(18), np.arange(18, 4000)
    sets = [np.unique([*rng.choice(common, 12, replace=False), *rng.choice(rare, 10)]) for _ in range(1500)]
    copies = [np.append(one[1:], 4000 + row) for row, one in enumerate(sets[:40])]
    sets += copies
    indptr = np.concatenate([[0], np.cumsum([one.size for one in sets])])
    indices = np.concatenate([np.sort(one) for one in sets])
    matrix = sparse.csr_array((np.ones(indices.size), indices, indptr), shape=(len(sets), 4040))
    signatures = duplicates.band_signatures(matrix)
    in_a_band = np.zeros(len(sets), bool)
    for band in signatures:
        _, run, size = np.unique(band, return_inverse=True, return_counts=True)
        in_a_band |= size[run] > 1
    found = duplicates.alike_in_a_band(matrix, signatures)
    assert in_a_band.sum() > 4 * 80
    assert found.size < 2 * 80
    assert set(range(40)) <= set(found.tolist())
    assert set(range(1500, 1540)) <= set(found.tolist())


def test_signatures_of_blocks_are_those_of_the_whole(wire):
    matrix = vectors_of(list(wire["text"]))
    parts = [duplicates.band_signatures(matrix[first:last]) for first, last in ((0, 9), (9, 10), (10, 70))]
    assert np.array_equal(np.concatenate(parts, axis=1), duplicates.band_signatures(matrix))
