"""Sums, similarities and placements by reduction over blocks are those of one process, byte for byte."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.place import FilePlace
from doccluster.base.validation import unit_rows
from doccluster.corpus import read_corpus
from doccluster.corpus.duplicates import alike_in_a_band, band_signatures
from doccluster.corpus.named_files import Files
from doccluster.corpus.parts import FilesInParts
from doccluster.distributed import block_evidence
from doccluster.distributed.block_evidence import BlockEvidence, likely_copies
from doccluster.distributed.text_vectors import learn_terms, write_rows
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence, as_documents, products
from doccluster.geometry.partition import Partition
from doccluster.labeling import place_documents, placement
from doccluster.measures import evaluate
from doccluster.vectors import TfidfVectorizer

N = 500


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    topics = rng.dirichlet(np.full(200, 0.05), size=6)
    counts = np.array([rng.multinomial(25, topics[row % 6]) for row in range(N)], dtype=np.float32)
    return unit_rows(sparse.csr_array(counts), warn=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("full", ["data", "indices", "counts"])
def test_rows_that_find_no_room_are_told_in_a_sentence(tmp_path, full):
    source = tmp_path / "articles.txt"
    source.write_text("oil prices rise\nwheat and rain\noil and wheat\n", encoding="utf-8")
    place, vectorizer = FilePlace(tmp_path), TfidfVectorizer()
    for name in ("texts", "rows"):
        (tmp_path / name).mkdir()
    texts = read_corpus(FilesInParts(Files([source]), tmp_path / "texts", place.map), format="lines").texts.blocks
    learn_terms(place, texts, vectorizer)
    (tmp_path / "rows" / f"{full}.npy").symlink_to("/dev/full")
    with pytest.raises(InputError, match=rf"{full}\.npy cannot be written \(No space left on device\)"):
        write_rows(place, texts, vectorizer)


@pytest.mark.parametrize("block_rows", [N, 37])
def test_evidence_of_rows_in_files_is_that_of_one_process(rows, tmp_path, block_rows, monkeypatch):
    monkeypatch.setattr(products, "BLOCK_PRODUCTS", 1)  # rows are read in groups of 64
    monkeypatch.setattr(block_evidence, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr(placement, "BLOCK_ROWS", block_rows)
    partition = Partition.from_labels(np.random.default_rng(0).integers(7, size=N).tolist())
    place = FilePlace(tmp_path)
    matrix = place.keep(rows)
    found = BlockEvidence(place, as_documents(matrix), partition)
    expected = ClusterEvidence(rows, partition)
    assert found.sums.data.tobytes() == expected.sums.data.tobytes()
    for field in dataclasses.fields(products.SimilarityPass):
        name = field.name
        assert getattr(found.similarities, name).tobytes() == getattr(expected.similarities, name).tobytes(), name
    scores = (evaluate(partition, evidence=evidence).to_pandas()["value"] for evidence in (found, expected))
    np.testing.assert_array_equal(*scores)
    chosen = [partition.members(cluster)[:3] for cluster in range(7)]
    for one, other in zip(found.count_close(chosen, 0.5), expected.count_close(chosen, 0.5), strict=True):
        np.testing.assert_array_equal(one, other)
    centroids = unit_rows(expected.sums, warn=False).astype(np.float32)
    placed = place_documents(matrix, partition, centroids, place=place)
    alone = place_documents(rows, partition, centroids)
    for name in ("similarity", "runner_up", "runner_up_similarity"):
        assert getattr(placed, name).tobytes() == getattr(alone, name).tobytes()


@pytest.mark.parametrize("block_rows", [N, 37])
def test_likely_copies_in_files_are_those_of_one_process(rows, tmp_path, block_rows, monkeypatch):
    monkeypatch.setattr(block_evidence, "BLOCK_ROWS", block_rows)
    order = np.random.default_rng(4).integers(N // 2, size=N)  # most rows come more than once
    rows, place = sparse.csr_array(rows[order]), FilePlace(tmp_path, 2)
    matrix = place.keep(rows)
    before = sorted(tmp_path.iterdir())
    found = likely_copies(place, matrix)
    expected = alike_in_a_band(rows, band_signatures(rows))
    assert 0 < expected.size < N
    np.testing.assert_array_equal(found, expected)
    assert sorted(tmp_path.iterdir()) == before
