"""Limits at tiny and at default values: the same labels as the naive definition, and the path behind each is taken."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.clustering.k_means import document_matrix, mean_table
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.memory import plan_memory, size_of
from doccluster.errors import MemoryLimitError
from tests.clustering.test_exact_labels import DATA, compare

LIMITS = {"table_bytes": 1_500, "half_bytes": 0}


@pytest.fixture
def passed(monkeypatch):
    """What passes the code behind the limits: entries of tails, blocks, and threads at most."""
    counts = {"entries": 0, "blocks": 0, "threads": 0, "halves": 0}
    write, round_to_halves = mean_table.write_tail, mean_table.round_to_halves
    blocks, threads_for = DocumentMatrix.blocks, DocumentMatrix.threads_for

    def noted(name, count):
        counts[name] = max(counts[name], count)

    def written(means, table):
        noted("entries", table.tail_values.size)
        write(means, table)

    def halved(*arrays):
        noted("halves", 1)
        round_to_halves(*arrays)

    def divided(self):
        noted("blocks", len(blocks(self)))
        return blocks(self)

    def counted(self, multiplications):
        noted("threads", threads_for(self, multiplications))
        return threads_for(self, multiplications)

    monkeypatch.setattr(mean_table, "write_tail", written)
    monkeypatch.setattr(mean_table, "round_to_halves", halved)
    monkeypatch.setattr(DocumentMatrix, "blocks", divided)
    monkeypatch.setattr(DocumentMatrix, "threads_for", counted)
    return counts


@pytest.mark.parametrize("data", ["topics", "duplicates", "sparse_signed", "empty_rows"])
def test_limits_at_tiny_values_are_reached_and_change_no_label(data, passed, monkeypatch):
    matrix = DATA[data]()
    defaults = compare(matrix, np.arange(12), algorithm="bounds")
    assert passed == {"entries": 0, "blocks": 1, "threads": 1, "halves": 0}
    monkeypatch.setattr(document_matrix, "BLOCK_ROWS", 7)
    monkeypatch.setattr(document_matrix, "SERIAL_WORK", 0)
    monkeypatch.setattr(mean_table, "SMALL_TABLE", 0)
    monkeypatch.setattr(mean_table, "HALVES_FROM", 0)
    assert compare(matrix, np.arange(12), algorithm="bounds", n_threads=3, **LIMITS) == defaults
    assert passed["entries"] > 0
    assert passed["blocks"] > 1
    assert passed["threads"] == 3
    assert passed["halves"] == 0, "no byte was allowed for it"


def test_half_precision_is_used_where_bytes_are_allowed_for_it(passed, monkeypatch):
    monkeypatch.setattr(mean_table, "HALVES_FROM", 0)
    compare(DATA["topics"](), np.arange(12), algorithm="every row")
    assert passed["halves"] == 1


def test_the_parts_of_a_memory_plan_are_what_their_names_say():
    """Nothing is like anything else here, so that no two of them can change places."""
    frequencies = np.sort(np.random.default_rng(0).integers(1, 400, size=9_000))[::-1]
    known = {"n_documents": 5_000, "n_clusters": 100, "n_threads": 3, "n_starts": 2, "n_candidates": 9}
    size = size_of(frequencies, draws_from_index=True, skips=True, **known)
    full = plan_memory(size, None, 4_000)
    width, groups = 112, 7  # whole lines of 16 lanes, and a bound for each line of them
    assert (full.n_groups, full.n_threads, full.seed_documents, full.keeps_sums) == (groups, 3, 4_000, True)
    assert full.head_bytes == 4 * 9_000 * width
    assert full.documents == 8 * frequencies.sum() + 16 * 5_000 + 12 * 9_000
    assert full.threads == 3 * (28 * 9_000 + 64 * width)
    means = np.minimum(frequencies, 100).sum()
    assert full.whole_tables
    assert full.table == full.head_bytes + 8 * means + 16 * 9_000 + 8 * 9_000 * width
    squeezed = 0
    for limit in range(full.total - 2**20, 0, -(2**19)):
        try:
            plan = plan_memory(size, limit, 4_000)
        except MemoryLimitError:
            break
        assert plan.total <= limit
        assert plan.n_groups in (groups, 0)
        assert plan.n_threads in (3, 1)
        assert plan.seed_documents in {4_000, 1_250, 500, 200}
        assert plan.head_bytes <= full.head_bytes
        squeezed += 0 < plan.head_bytes < full.head_bytes
    assert squeezed > 3
