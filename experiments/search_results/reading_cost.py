"""How much a reader of search results has to read until a subtopic is covered.

Subtopic search length (Bernardini, Carpineto and D'Amico 2009, doi:10.1109/WI-IAT.2009.20): the number of items,
labels of groups and hits, that are read until k relevant hits have been seen, or all if there are fewer than k.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from doccluster.errors import NotComputable


def reading_cost(
    groups: Sequence[Sequence[int]], relevant: Collection[int], n_wanted: int, *, n_labels: int = 0
) -> int:
    """Return how many items are read until `n_wanted` relevant hits have been seen.

    Parameters
    ----------
    groups : sequence of sequences of int
        The positions of hits, group after group in the order in which the reader opens them. A plain ranked list is
        one group.
    relevant : collection of int
        The positions of the relevant hits.
    n_wanted : int
        If there are fewer relevant hits, all of them are wanted.
    n_labels : int
        How many labels the reader reads before opening a group.

    Examples
    --------
    >>> reading_cost([[0, 1, 2, 3]], {1, 3}, 2)
    4
    >>> reading_cost([[1, 3], [0, 2]], {1, 3}, 2, n_labels=2)
    4
    """
    wanted = min(n_wanted, len(relevant))
    seen, cost = 0, n_labels
    for group in groups:
        for hit in group:
            if seen == wanted:
                return cost
            cost += 1
            seen += hit in relevant
    return cost


def subtopic_search_length(costs: Sequence[Sequence[int]]) -> float:
    """Return the mean over queries of the mean cost of their subtopics.

    Raises
    ------
    NotComputable
        If no query has a subtopic.
    """
    means = [float(np.mean(of_query)) for of_query in costs if len(of_query)]
    if not means:
        raise NotComputable("no query has a subtopic with a relevant hit")
    return float(np.mean(means))
