"""Limits at tiny and at default values: the same labels as the naive definition, and the path behind each is taken."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.clustering.k_means import document_matrix, running_means
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.memory import Size, plan_memory
from doccluster.errors import MemoryLimitError
from tests.clustering.test_exact_labels import DATA, compare

LIMITS = {"n_head": 5}


@pytest.fixture
def passed(monkeypatch):
    """What passes the code behind the limits: entries of tails, blocks, and threads at most."""
    counts = {"entries": 0, "blocks": 0, "threads": 0}
    tail_of = running_means.tail_of
    blocks, threads_for = DocumentMatrix.blocks, DocumentMatrix.threads_for

    def noted(name, count):
        counts[name] = max(counts[name], count)

    def listed(table):
        noted("entries", table.tail_values.size)
        return tail_of(table)

    def divided(self):
        noted("blocks", len(blocks(self)))
        return blocks(self)

    def counted(self, multiplications):
        noted("threads", threads_for(self, multiplications))
        return threads_for(self, multiplications)

    monkeypatch.setattr(running_means, "tail_of", listed)
    monkeypatch.setattr(DocumentMatrix, "blocks", divided)
    monkeypatch.setattr(DocumentMatrix, "threads_for", counted)
    return counts


@pytest.mark.parametrize("data", ["topics", "duplicates", "sparse_signed", "empty_rows"])
def test_limits_at_tiny_values_are_reached_and_change_no_label(data, passed, monkeypatch):
    matrix = DATA[data]()
    defaults = compare(matrix, np.arange(12), algorithm="bounds")
    assert passed == {"entries": 0, "blocks": 1, "threads": 1}
    monkeypatch.setattr(document_matrix, "BLOCK_ROWS", 7)
    monkeypatch.setattr(document_matrix, "SERIAL_WORK", 0)
    assert compare(matrix, np.arange(12), algorithm="bounds", n_threads=3, **LIMITS) == defaults
    assert passed["entries"] > 0
    assert passed["blocks"] > 1
    assert passed["threads"] == 3


def test_the_parts_of_a_memory_plan_are_what_their_names_say():
    """Nothing is like anything else here, so that no two of them can change places."""
    drawn = np.random.default_rng(0).integers(1, [[500], [24]], size=(2, 4_500))
    frequencies = np.sort(drawn.ravel())[::-1]
    known = {"n_documents": 5_000, "n_clusters": 100, "n_threads": 3, "n_starts": 2, "n_candidates": 9}
    size = Size(frequencies, draws_from_index=True, skips=True, **known)
    full = plan_memory(size, None, 4_000)
    width, groups = 112, 7  # whole lines of 16 lanes, and a bound for each line of them
    assert (full.n_groups, full.n_threads, full.seed_documents) == (groups, 3, 4_000)
    assert full.n_head == 9_000
    assert full.documents == 8 * frequencies.sum() + 16 * 5_000 + 12 * 9_000
    assert full.threads == 3 * 64 * width
    assert full.table == 12 * 9_000 * width + 16 * 9_000
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
        assert plan.n_head <= full.n_head
        squeezed += plan.n_head < full.n_head
    assert squeezed > 3
