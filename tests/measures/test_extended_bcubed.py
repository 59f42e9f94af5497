"""Extended B-cubed against a double loop over documents, on labels that overlap, and beside plain B-cubed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from doccluster import evaluate, score
from doccluster.errors import InputError, NotComputable
from doccluster.measures import retrieval
from doccluster.measures.contingency import LabelSets
from tests.oracles.external import extended_bcubed as naive
from tests.oracles.external import harmonic

NAMES = ("bcubed_precision_extended", "bcubed_recall_extended", "bcubed_f_extended")


def random_labels(seed, n=40):
    rng = np.random.default_rng(seed)
    found = rng.integers(1, 7, size=n).tolist()
    truth = [rng.choice(6, size=rng.integers(0, 4), replace=False).tolist() for _ in range(n)]
    return found, truth


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_a_double_loop_over_documents_gives(seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(retrieval, "_BLOCK_CELLS", 40)  # several blocks
    found, truth = random_labels(seed)
    precision, recall = naive(found, truth), naive(found, truth, recall=True)
    expected = dict(zip(NAMES, (precision, recall, harmonic(precision, recall)), strict=True))
    for name, value in expected.items():
        assert score(name, found, truth=truth).value == pytest.approx(value, abs=1e-12)
    assert score("bcubed_f", found, truth=truth, variant="extended", beta=2.0).value == pytest.approx(
        harmonic(precision, recall, 2.0), abs=1e-12
    )


def test_the_order_of_the_labels_of_a_document_and_labels_given_twice_do_not_matter():
    truth = [["a", "b"], ["b", "a", "b"], ["a"], []]
    same = [["b", "a"], ["a", "b"], ["a"], None]
    found = [0, 0, 1, 1]
    for name in NAMES:
        assert score(name, found, truth=truth).value == score(name, found, truth=same).value


def test_with_one_label_each_it_is_plain_bcubed():
    found, truth = [0, 0, 1, 1, 2], ["a", "a", "a", "b", "b"]
    for name in NAMES:
        assert score(name, found, truth=truth).value == pytest.approx(
            score(name.removesuffix("_extended"), found, truth=truth).value
        )


def test_the_note_counts_documents_with_several_labels_as_used():
    found, truth = [0, 0, 1, 1], [["a", "b"], ["a"], ["b"], []]
    judged = evaluate(found, truth=truth, measures=["bcubed_f_extended", "nccg", "purity"])
    assert judged["bcubed_f_extended"].note == "on 3 of 4 documents (1 without a label)"
    assert judged["nccg"].note.endswith("on 3 of 4 documents (1 without a label)")
    assert "1 with several labels" in judged["purity"].note


def test_documents_that_all_have_several_labels_are_judged_by_what_can_judge_them():
    found, truth = [0, 0, 1], [["a", "b"], ["b", "c"], ["a", "c"]]
    assert score("bcubed_f_extended", found, truth=truth).value == pytest.approx(
        harmonic(naive(found, truth), naive(found, truth, recall=True))
    )
    judged = evaluate(found, truth=truth, measures=["bcubed_f_extended", "purity"])
    assert math.isnan(judged["purity"].value)
    assert judged["purity"].note.startswith("no document has exactly one label")
    with pytest.raises(InputError, match="no document has exactly one label"):
        score("purity", found, truth=truth)
    with pytest.raises(NotComputable, match="exactly one label"):
        evaluate(found, truth=truth, measures=["bcubed_f_extended", "purity"], strict=True)
    with pytest.raises(InputError, match="no document has a label"):
        score("bcubed_f_extended", found, truth=[[], [], []])


def test_as_many_labels_and_clusters_as_documents_take_few_blocks(monkeypatch):
    n = 50_000
    assert score("bcubed_f_extended", np.arange(n), truth=np.arange(n)).value == 1.0
    monkeypatch.setattr(retrieval, "_BLOCK_CELLS", 40_000)
    sets = LabelSets.of_classes(sparse.csr_array(sparse.eye_array(n, dtype=np.int64)))
    blocks = [block for block, _ in retrieval._common_labels(sets)]
    assert 1 < len(blocks) < 10
    assert [block.start for block in blocks] == [0, *(block.stop for block in blocks[:-1])]
    assert blocks[-1].stop == n


def test_a_hundred_thousand_documents_need_no_table_of_documents_by_documents():
    rng = np.random.default_rng(0)
    n = 100_000  # 80 GB of pairs
    found = rng.integers(0, 500, size=n)
    first, second = rng.integers(0, 60, size=(2, n))
    truth = [[a] if a == b else [a, b] for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    assert 0 < score("bcubed_f_extended", found, truth=truth).value < 0.1
