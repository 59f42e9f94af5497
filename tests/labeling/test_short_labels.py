"""Labels: no function words, one form per word, support, distinct; the faults users report of other tools."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry.partition import Partition
from doccluster.labeling.label_terms import _best_first, _Candidate, rank_label_terms, same_family, short_labels
from doccluster.labeling.profiles import ClusterProfiles, LabelTerm


def labels_of(documents, clusters, **options):
    names = sorted({word for text in documents for word in text.split("|")})
    counts = np.array([[text.split("|").count(word) for word in names] for text in documents], dtype=float)
    rows = sparse.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True))
    partition = Partition.from_labels(clusters)
    profiles = ClusterProfiles.from_partition(rows, partition)
    given = {"rows": rows, "partition": partition, **options}
    return short_labels(rank_label_terms(profiles, np.array(names, dtype=object), **given))


@pytest.mark.parametrize(("score", "label"), [(0.2, "oil, wheat"), (0.19, "oil")])
def test_a_further_word_stands_in_a_label_from_a_tenth_of_what_the_best_says(score, label):
    assert short_labels([[LabelTerm("oil", 2.0, 1.0), LabelTerm("wheat", score, 1.0)]]) == [label]


def test_of_words_whose_scores_differ_by_rounding_the_heavier_comes_first():
    words = [_Candidate("light", (0,), 0.5 + 4e-10, 3.0, weight=0.1), _Candidate("heavy", (1,), 0.5, 3.0, weight=0.9)]
    assert [word.name for word in sorted(words, key=_best_first)] == ["heavy", "light"]
    better = _Candidate("better", (2,), 0.5 + 4e-9, 3.0, weight=0.0)
    assert [word.name for word in sorted([*words, better], key=_best_first)] == ["better", "heavy", "light"]


def test_function_words_never_name_a_cluster():
    documents = ["the|the|the|of|oil|opec", "the|of|oil|opec", "and|and|wheat|crop", "and|wheat|crop"]
    for label in labels_of(documents, [0, 0, 1, 1], function_words={"the", "of", "and"}):
        assert not set(label.split(", ")) & {"the", "of", "and"}
        assert label


def test_a_label_has_one_form_of_a_word():
    documents = [
        "printer|print|printing|printers|ink",
        "printer|print|printing|printers|ink",
        "wheat|crop",
        "wheat|crop",
    ]
    words = labels_of(documents, [0, 0, 1, 1])[0].split(", ")
    assert sum(word.startswith("print") for word in words) == 1
    assert "ink" in words


def test_a_word_of_a_single_document_does_not_name_a_larger_cluster():
    documents = ["zyzzyva|zyzzyva|zyzzyva|zyzzyva|oil", "oil|opec", "oil|opec", "wheat|crop", "wheat|crop"]
    assert "zyzzyva" not in labels_of(documents, [0, 0, 0, 1, 1])[0]


def test_labels_of_siblings_differ_even_when_the_clusters_are_alike():
    documents = ["oil|opec|barrel|crude"] * 6
    labels = labels_of(documents, [0, 0, 1, 1, 2, 2])
    assert len(set(labels)) == 3


def test_a_label_shares_as_few_words_with_an_earlier_one_as_it_can():
    def terms(*words):
        return [LabelTerm(word, 1.0 / rank, 1.0) for rank, word in enumerate(words, 1)]

    earlier = terms("oil", "opec", "barrel")
    assert short_labels([earlier, terms("oil", "opec", "wheat", "crop")]) == ["oil, opec, barrel", "oil, wheat, crop"]
    assert short_labels([earlier, terms("oil", "opec", "wheat")]) == ["oil, opec, barrel", "oil, opec, wheat"]


def test_a_label_that_says_no_more_than_a_siblings_gets_its_next_term():
    net = [LabelTerm("net", 1.0, 1.0), LabelTerm("sales", 0.01, 0.3)]
    loss = [LabelTerm("Net loss", 1.0, 1.0), LabelTerm("writedown", 0.5, 0.3)]
    assert short_labels([net, loss]) == ["net, sales", "Net loss, writedown"]
    assert short_labels([net[:1], loss]) == ["net", "Net loss, writedown"]
    assert short_labels([net, [LabelTerm("wheat", 1.0, 1.0)]]) == ["net", "wheat"]


def test_siblings_share_at_most_one_term_while_there_are_others():
    first, second = "profit|dividend|quarter|shares|bank|fund", "profit|dividend|quarter|shares|loss|debt"
    labels = labels_of([first] * 3 + [second] * 3 + ["wheat|crop|rain"] * 3, [0] * 3 + [1] * 3 + [2] * 3)
    assert len(set(labels[0].split(", ")) & set(labels[1].split(", "))) <= 1


def test_numbers_and_single_letters_are_left_out_while_there_are_words():
    labels = labels_of(["1987|1987|x|oil", "1987|x|oil", "wheat|crop", "wheat|crop"], [0, 0, 1, 1])
    assert labels[0] == "oil"


def test_bare_numbers_never_name_a_cluster():
    labels = labels_of(["1987|42|000", "1987|42|3rd", "wheat|crop|95", "wheat|crop|87"], [0, 0, 1, 1])
    assert labels == ["cluster 0", "crop, wheat"]


def test_a_word_that_is_everywhere_names_no_cluster():
    # "said" is heavy in both halves, and heavier in the first
    first = ["said|said|said|said|oil|barrel", "said|said|said|oil|barrel", "said|said|said|opec|barrel|oil"]
    second = ["said|wheat|crop", "said|said|wheat|rain", "wheat|crop|rain", "said|crop"]
    for label in labels_of(first * 3 + second * 3, [0] * 9 + [1] * 12):
        assert "said" not in label.split(", ")


def test_a_word_of_most_documents_names_no_cluster_that_is_most_of_them():
    # 16 of 20 documents are in one cluster, and two thirds of those have "pct"
    large = ["pct|oil|barrel", "pct|bank|loan", "coffee|sugar", "pct|steel|oil"] * 4
    labels = labels_of(large + ["net|loss|shr"] * 4, [0] * 16 + [1] * 4)
    assert "pct" not in labels[0].split(", ")
    assert set(labels[1].split(", ")) == {"net", "loss", "shr"}


def test_a_word_that_all_documents_of_a_cluster_and_no_others_have_may_name_it_though_it_is_common():
    labels = labels_of(["oil|barrel"] * 5 + ["wheat|crop"] * 5, [0] * 5 + [1] * 5)
    assert labels == ["barrel, oil", "crop, wheat"]


def test_a_phrase_and_its_word_do_not_stand_together():
    documents = ["new york|york|new|mayor"] * 2 + ["wheat|crop"] * 2
    words = labels_of(documents, [0, 0, 1, 1])[0].replace(",", "").split()
    assert len(words) == len(set(words))
    assert "mayor" in words


def test_a_cluster_without_named_columns_is_called_by_its_number():
    rows = sparse.csr_array(np.eye(3))
    profiles = ClusterProfiles.from_partition(rows, Partition.from_labels([0, 1, 2]))
    assert short_labels(rank_label_terms(profiles, None)) == ["cluster 0", "cluster 1", "cluster 2"]


@pytest.mark.parametrize(
    ("term", "other", "same"),
    [
        ("nation", "nationalism", True),
        ("share", "shares", True),
        ("compute", "computing", True),
        ("net", "network", False),
        ("interest", "international", False),
        ("日本", "日本語", True),
        ("日本", "本島", False),
        ("Printer", "printing", True),
        ("Häuser", "Haus", False),
        ("oil", "oil", True),
    ],
)
def test_forms_of_one_word_are_told_by_their_beginning(term, other, same):
    assert same_family(term, other) is same
