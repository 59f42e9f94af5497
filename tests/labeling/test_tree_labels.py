"""Labels of nested clusters: a parent is named by what its parts have in common, and they do not repeat it."""

import numpy as np

from doccluster.labeling import ClusterDescription, LabelTerm
from doccluster.labeling.label_terms import label_levels


def cluster(number, size, **terms):
    """Return a cluster whose candidates have these scores and coverages."""
    candidates = tuple(LabelTerm(term, score, coverage) for term, (score, coverage) in terms.items())
    return ClusterDescription(number, size, "", label_terms=candidates)


def two_levels():
    sports = cluster(0, 60, hockey=(0.9, 0.5), games=(0.6, 0.6), team=(0.5, 0.5), players=(0.4, 0.4))
    space = cluster(1, 40, orbit=(0.9, 0.9))
    hockey = cluster(0, 30, hockey=(0.9, 1.0), games=(0.5, 0.6), ice=(0.3, 0.5))
    baseball = cluster(1, 30, team=(0.6, 0.5), baseball=(0.5, 0.9), pitcher=(0.3, 0.4))
    orbit = cluster(2, 40, orbit=(0.9, 0.9))
    return [[sports, space], [hockey, baseball, orbit]], [np.array([0, 0, 1])]


def test_a_word_of_one_part_alone_does_not_name_the_whole():
    (sports, _), _ = label_levels(*two_levels())
    assert sports.label == "games, team, players"


def test_parts_do_not_repeat_the_words_of_their_parent():
    _, (hockey, baseball, _) = label_levels(*two_levels())
    assert hockey.label == "hockey, ice"
    assert baseball.label == "baseball, pitcher"


def unrelated_parts():
    """A whole whose parts share one word that says little of it, each with a word of its own."""
    whole = cluster(0, 40, fire=(0.02, 0.3), viaduct=(0.02, 0.25), wolves=(0.015, 0.25), dogs=(0.001, 0.2))
    fire = cluster(0, 15, fire=(0.4, 0.8), heather=(0.3, 0.6))
    viaduct = cluster(1, 13, viaduct=(0.4, 0.8), lorries=(0.3, 0.6))
    wolves = cluster(2, 12, wolves=(0.4, 0.8), sheep=(0.3, 0.6))
    space = cluster(3, 60, orbit=(0.9, 0.9))
    return [[whole, cluster(1, 60, orbit=(0.9, 0.9))], [fire, viaduct, wolves, space]], [np.array([0, 0, 0, 1])]


def test_a_whole_whose_parts_share_little_is_named_by_its_parts_and_these_keep_their_words():
    (whole, _), parts = label_levels(*unrelated_parts())
    assert set(whole.label.split(", ")) == {"fire", "viaduct", "wolves"}
    assert [part.label for part in parts] == ["fire, heather", "viaduct, lorries", "wolves, sheep", "orbit"]


def test_a_part_that_is_most_of_the_whole_does_not_repeat_it():
    whole = cluster(0, 20, korea=(0.2, 0.8), hack=(0.1, 0.5))
    parts = [cluster(0, 16, korea=(0.3, 1.0), sony=(0.2, 0.6)), cluster(1, 4, xbox=(0.3, 1.0))]
    (whole, _), (most, _, _) = label_levels(
        [[whole, cluster(1, 30, orbit=(0.9, 0.9))], [*parts, cluster(2, 30, orbit=(0.9, 0.9))]], [np.array([0, 0, 1])]
    )
    assert set(whole.label.split(", ")) == {"korea", "hack"}
    assert most.label == "sony"


def test_an_only_part_is_called_as_the_whole():
    (_, space), (*_, orbit) = label_levels(*two_levels())
    assert space.label == orbit.label == "orbit"


def test_where_every_word_would_repeat_the_parent_they_are_kept():
    whole = cluster(0, 20, oil=(1.0, 1.0))
    parts = [cluster(0, 10, oils=(1.0, 1.0)), cluster(1, 10, price=(1.0, 1.0))]
    assert [part.label for part in label_levels([[whole], parts], [np.array([0, 0])])[1]] == ["oils", "price"]


def test_a_name_that_a_person_gave_stays():
    levels, parents = two_levels()
    named = ClusterDescription(0, 30, "Ice", name="Ice", label_terms=levels[1][0].label_terms)
    assert label_levels([levels[0], [named, *levels[1][1:]]], parents)[1][0].label == "Ice"


def test_a_cluster_without_words_keeps_its_label():
    bare = ClusterDescription(0, 5, "cluster 0")
    assert label_levels([[bare]], [])[0][0].label == "cluster 0"
