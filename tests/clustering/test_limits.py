"""Limits at tiny and at default values: the same labels as the naive definition, and the path behind each is taken."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.clustering.k_means import sweep, unit_documents
from doccluster.clustering.k_means.memory_plan import FitSize, plan_memory
from doccluster.errors import MemoryLimitError
from tests.clustering.test_exact_labels import DATA, compare


@pytest.fixture
def passed(monkeypatch):
    """What passes the code behind the limits: rare terms with lists, blocks, and threads at most."""
    counts = {"rare": 0, "blocks": 0, "threads": 0}
    sweep_rows, share_blocks = sweep.sweep_rows, unit_documents.share_blocks

    def noted(documents, places):
        counts["rare"] = max(counts["rare"], places.n_rare)
        return sweep_rows(documents, places)

    def shared(function, items, *, n_threads, pool):
        counts["blocks"], counts["threads"] = max(counts["blocks"], len(items)), max(counts["threads"], n_threads)
        return share_blocks(function, items, n_threads=n_threads, pool=pool)

    monkeypatch.setattr(sweep, "sweep_rows", noted)
    monkeypatch.setattr(unit_documents, "share_blocks", shared)
    return counts


@pytest.mark.parametrize("data", ["topics", "duplicates", "sparse_signed", "empty_rows"])
def test_limits_at_tiny_values_are_reached_and_change_no_label(data, passed, monkeypatch):
    matrix = DATA[data]()
    defaults = compare(matrix, np.arange(12), algorithm="bounds")
    assert passed == {"rare": 0, "blocks": 1, "threads": 1}
    monkeypatch.setattr(unit_documents, "BLOCK_ROWS", 7)
    monkeypatch.setattr(unit_documents, "SERIAL_WORK", 0)
    assert compare(matrix, np.arange(12), algorithm="bounds", n_threads=3, n_head=5) == defaults
    assert passed["rare"] > 0
    assert passed["blocks"] > 1
    assert passed["threads"] == 3


def test_the_parts_of_a_memory_plan_are_what_their_names_say():
    """Nothing is like anything else here, so that no two of them can change places."""
    rng = np.random.default_rng(0)
    frequencies = np.sort(np.concatenate([rng.integers(1, 500, 500), rng.integers(1, 6, 8_500)]))[::-1]
    known = {"n_documents": 5_000, "n_clusters": 220, "n_threads": 3, "n_starts": 2, "n_candidates": 9}
    size = FitSize(frequencies, draws_from_index=True, skips=True, **known)
    full = plan_memory(size, None, 4_000)
    width = 224  # whole lines of 16 lanes
    assert (full.keeps_sums, full.n_threads, full.seed_documents) == (True, 3, 4_000)
    assert (full.n_head, full.n_groups) == (9_000, 32)
    assert full.parts["documents"] == 12 * frequencies.sum() + 40 * 5_000 + 16 * 9_000
    assert full.parts["scratch of 3 thread(s)"] == 3 * 64 * width
    assert full.parts["table and sums"] == 9_000 * (4 * width + 8 * 220)
    without_sums = squeezed = 0
    for limit in range(full.total - 2**20, 0, -(2**18)):
        try:
            plan = plan_memory(size, limit, 4_000)
        except MemoryLimitError:
            break
        assert plan.total <= limit
        assert plan.n_threads in (3, 1)
        assert plan.seed_documents in {4_000, 1_250, 500, 440}
        assert plan.n_head <= full.n_head
        without_sums += not plan.keeps_sums
        squeezed += plan.n_head < full.n_head
    assert without_sums > squeezed > 3
