"""Terms that occur together and documents that are close, counted in pieces, against counting one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.validation import unit_rows
from doccluster.geometry import ClusterEvidence, products
from doccluster.geometry.partition import Partition


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def rows(request):
    rng = np.random.default_rng(11)
    values = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < 0.4)  # some are below 0: these do not occur
    values[::9] = np.abs(values[1])  # copies
    values[7] = 0
    return request.param(unit_rows(request.param(values), warn=False))


@pytest.mark.parametrize("at_a_time", [5, 1000])
def test_terms_occur_together_where_both_are_above_zero(rows, at_a_time, monkeypatch):
    pieces = products.entry_blocks
    monkeypatch.setattr(products, "entry_blocks", lambda starts: pieces(starts, at_a_time))
    monkeypatch.setattr(products, "DENSE_ROWS", at_a_time)
    lists = [np.array([3, 0, 11]), np.array([], dtype=np.int64), np.array([5]), np.array([0, 5])]
    held = (rows.toarray() if sparse.issparse(rows) else rows) > 0
    expected = [[[int((held[:, a] & held[:, b]).sum()) for b in terms] for a in terms] for terms in lists]
    assert [counts.tolist() for counts in products.documents_together(rows, lists)] == expected
    evidence = ClusterEvidence(rows, Partition.from_labels([0, 1] * 30))
    assert [counts.tolist() for counts in evidence.documents_together(lists)] == expected


def test_no_list_of_terms_has_no_counts(rows):
    assert products.documents_together(rows, []) == []


def test_close_documents_are_those_of_the_cluster_with_at_least_the_cosine(rows):
    labels = np.array([0, 2, 1] * 20)
    chosen = [np.array([0, 9]), np.array([], dtype=np.int64), np.array([1])]
    dense = rows.toarray() if sparse.issparse(rows) else rows
    members = [np.flatnonzero(labels == cluster) for cluster in range(3)]
    expected = [
        [int((dense[own] @ dense[one] >= 0.3).sum()) for one in some] for own, some in zip(members, chosen, strict=True)
    ]
    assert expected[0][0] > 1  # else the test says nothing
    counts = products.count_close(rows, labels, [rows[some] for some in chosen], 0.3)
    assert [one.tolist() for one in counts] == expected
