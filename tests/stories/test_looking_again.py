"""An article goes to that of several stories whose articles are likest to it, together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.stories.looking_again import DeskArticle, _likest

EMPTY = np.zeros(0, np.int32), np.zeros(0, np.int8)


def desk(*stories):
    return [DeskArticle(number, 0, 0, *EMPTY, story=story) for number, story in enumerate(stories)]


@pytest.mark.parametrize(
    ("likeness", "stories", "expected"),
    [
        ([0, 0.3, 0.3, 0.5, 0.9], ("a", "b"), "a"),  # two that are fairly like it weigh more than one that is more so
        ([0, 0.3, 0.1, 0.5, 0.9], ("a", "b"), "b"),
        ([0, 0.3, 0.3, 0.5, 0.9], ("b",), "b"),
        ([0, 0.25, 0.25, 0.5, 0.9], ("b", "a"), "a"),  # the first in the alphabet of those as like
        ([0, 0.0, 0.0, 0.0, 0.9], ("a", "b"), ""),
    ],
)
def test_the_likest_story_is_that_with_the_largest_sum_of_likeness(likeness, stories, expected):
    graph = sparse.csr_array(np.array([likeness, *np.zeros((4, 5))]))
    assert _likest(0, desk("", "a", "a", "b", "elsewhere"), graph, stories) == expected
