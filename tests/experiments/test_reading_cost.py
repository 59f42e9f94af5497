"""What reading search results costs, against worked examples."""

from __future__ import annotations

from experiments.search_results.reading_cost import reading_cost, subtopic_search_length


def test_reading_stops_when_enough_was_seen():
    assert reading_cost([[0, 1], [2, 3, 4]], {1, 3}, 1) == 2
    assert reading_cost([[0, 1], [2, 3, 4]], {1, 3}, 2, n_labels=2) == 6
    assert reading_cost([[0, 1], [2, 3, 4]], {1, 3}, 4) == 4  # all there are
    assert subtopic_search_length([[2, 4], [6], []]) == 4.5
