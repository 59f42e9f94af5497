"""How good labels are: matches of class names, searches, and what makes a label hard to read."""

from __future__ import annotations

import math

import pytest

from experiments.labels.quality import judge_labels, names_of_classes


def test_matches_are_counted_by_rank_and_clusters_without_a_name_are_left_out():
    ranked = [["car"], ["a", "b", "hockey"], ["x"] * 5 + ["space"], ["anything"], ["guns"]]
    accepted = [{"cars"}, {"hockey"}, {"space"}, set(), {"gun"}]
    found = judge_labels(
        ["l1", "l2", "l3", "l4", "l5"], ranked, [(1.0, 1.0)] * 5, accepted=accepted, stem=lambda word: word.rstrip("s")
    )
    assert found.n_named == 4
    assert found.match == {1: 0.5, 3: 0.75, 5: 0.75, 20: 1.0}
    assert found.reciprocal_rank == pytest.approx((1 + 1 / 3 + 0 + 1) / 4)


def test_a_phrase_matches_a_name_of_the_same_words_only():
    found = judge_labels(["a"], [["Middle East war", "middle  east"]], [(0, 0)], accepted=[{"Middle-East"}])
    assert found.reciprocal_rank == 0.5


def test_labels_that_are_hard_to_read_are_counted():
    labels = ["oil", "Oil", "bank of the, rate", "wheat, rye"]
    found = judge_labels(labels, [[]] * 4, [(0.5, 1.0)] * 4, function_words={"the"})
    assert (found.one_word, found.duplicate, found.function_word) == (0.5, 0.5, 0.25)
    assert (found.precision, found.first_found) == (0.5, 1.0)
    assert math.isnan(found.reciprocal_rank)
    assert found.match == {}


def test_a_part_that_several_classes_have_is_the_name_of_none():
    names = names_of_classes(["rec.sport.hockey", "rec.sport.baseball", "sci.med_misc"])
    assert names["rec.sport.hockey"] == {"rec.sport.hockey", "hockey"}
    assert names["sci.med_misc"] == {"sci.med_misc", "sci", "med", "misc"}
