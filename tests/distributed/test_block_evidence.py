"""Sums, similarities and placements by reduction over blocks are those of one process, byte for byte."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.executors import CsrFiles
from doccluster.base.validation import unit_rows
from doccluster.corpus.duplicates import alike_in_a_band, band_signatures
from doccluster.distributed import Sequential, write_block
from doccluster.distributed.block_evidence import BlockEvidence, place_in_blocks
from doccluster.distributed.joined_rows import joined_rows, likely_copies
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence, as_documents, products
from doccluster.geometry.partition import Partition
from doccluster.labeling import place_documents
from doccluster.measures import evaluate

N = 500


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    topics = rng.dirichlet(np.full(200, 0.05), size=6)
    counts = np.array([rng.multinomial(25, topics[row % 6]) for row in range(N)], dtype=np.float32)
    return unit_rows(sparse.csr_array(counts), warn=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("full", ["data", "indices", "counts"])
def test_rows_that_find_no_room_are_told_in_a_sentence(rows, tmp_path, full):
    blocks = [write_block(tmp_path / "block-0", rows, counts=rows)]
    (tmp_path / f"{full}.npy").symlink_to("/dev/full")
    with pytest.raises(InputError, match=rf"{full}\.npy cannot be written \(No space left on device\)"):
        joined_rows(blocks, tmp_path)


@pytest.mark.parametrize("edges", [[0, N], [0, 1, 170, 171, 400, N]])
def test_evidence_of_blocks_is_that_of_one_process(rows, tmp_path, edges, monkeypatch):
    monkeypatch.setattr(products, "BLOCK_PRODUCTS", 1)  # rows are read in groups of 64
    partition = Partition.from_labels(np.random.default_rng(0).integers(7, size=N).tolist())
    blocks = [
        write_block(tmp_path / f"block-{first}", sparse.csr_array(rows[first:last]), first=first)
        for first, last in itertools.pairwise(edges)
    ]
    matrix, _ = joined_rows(blocks, tmp_path)
    joined = CsrFiles(str(tmp_path), rows.shape[1])
    found = BlockEvidence(Sequential(), blocks, joined, as_documents(matrix), partition)
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
    placed = place_in_blocks(Sequential(), blocks, partition, centroids)
    alone = place_documents(rows, partition, centroids)
    for name in ("similarity", "runner_up", "runner_up_similarity"):
        assert getattr(placed, name).tobytes() == getattr(alone, name).tobytes()


@pytest.mark.parametrize("edges", [[0, N], [0, 1, 170, 171, 400, N]])
def test_likely_copies_in_blocks_are_those_of_one_process(rows, tmp_path, edges):
    order = np.random.default_rng(4).integers(N // 2, size=N)  # most rows come more than once
    rows = sparse.csr_array(rows[order])
    blocks = [
        write_block(tmp_path / f"block-{first}", sparse.csr_array(rows[first:last]), first=first)
        for first, last in itertools.pairwise(edges)
    ]
    joined_rows(blocks, tmp_path)
    found = likely_copies(Sequential(2), blocks, CsrFiles(str(tmp_path), rows.shape[1]), tmp_path)
    expected = alike_in_a_band(rows, band_signatures(rows))
    assert 0 < expected.size < N
    np.testing.assert_array_equal(found, expected)
    assert not list(tmp_path.glob("signatures-*"))
