"""Topics above stories: which open stories are about the same field, and which words they share."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.shared_terms import names_of

SAME_TOPIC = 0.12  # the least cosine of a story with the one that a topic began with
RELATED = 0.1
MOST_RELATED = 3
N_TERMS = 3  # of a topic's name
_VECTORS = """
SELECT m.story_id, d.vectors FROM story s CROSS JOIN membership m ON m.story_id = s.story_id AND m.to_batch IS NULL
CROSS JOIN document d ON d.doc_id = m.doc_id
WHERE s.state = 'open' AND d.in_sums = 1 AND d.vectors IS NOT NULL ORDER BY d.number
"""


@dataclass(frozen=True)
class Topic:
    """Stories that are about the same field, the highest-ranking one first, and the words that they share most."""

    name: str
    stories: tuple[str, ...]


def topics_of(
    connection: sqlite3.Connection, ranked: Sequence[str]
) -> tuple[tuple[Topic, ...], dict[str, tuple[str, ...]]]:
    """Return the topics of open stories, and for each story those that are most like it.

    Parameters
    ----------
    ranked : sequence of str
        The stories, the highest-ranking one first: a story that is like no topic so far begins one.
    """
    means = _means(connection, ranked)
    likeness = (means @ means.T).tocsr()
    groups: dict[int, list[int]] = {}
    related = {}
    for place, story in enumerate(ranked):
        row = likeness[[place]]
        near = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        best = max(groups, key=lambda one: (near.get(one, 0.0), -one), default=-1)
        groups.setdefault(best if near.get(best, 0.0) >= SAME_TOPIC else place, []).append(place)
        others = sorted((-value, other) for other, value in near.items() if other != place and value >= RELATED)
        related[story] = tuple(ranked[other] for _, other in others[:MOST_RELATED])
    names = _names(connection, means, list(groups.values()))
    return tuple(
        Topic(name, tuple(ranked[place] for place in group)) for name, group in zip(names, groups.values(), strict=True)
    ), related


def _means(connection: sqlite3.Connection, ranked: Sequence[str]) -> sparse.csr_array:
    """Return the mean of each story's articles, of length 1."""
    own: dict[str, list[WeightedTerms]] = defaultdict(list)
    for story, data in connection.execute(_VECTORS):
        own[story].append(WeightedTerms.from_bytes(data, n_terms=np.iinfo(np.int32).max))
    articles = [(place, one) for place, story in enumerate(ranked) for one in own[story]]
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *(np.full(one.ids.size, place) for place, one in articles)])
    terms = np.concatenate([np.zeros(0, dtype=np.int64), *(one.ids for _, one in articles)])
    values = np.concatenate([np.zeros(0), *(one.values for _, one in articles)])
    shape = len(ranked), int(terms.max(initial=0)) + 1
    means = sparse.csr_array((values, (rows, terms)), shape=shape)
    lengths = np.sqrt((means * means).sum(axis=1))
    means.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(means.indptr))
    return means


def _names(connection: sqlite3.Connection, means: sparse.csr_array, groups: Sequence[Sequence[int]]) -> list[str]:
    """Return the words that weigh most in all stories of a group together, and stand in more than one."""
    best: list[list[int]] = []
    for group in groups:
        rows = means[group]
        counts = np.bincount(rows.indices, minlength=1)
        sums = np.bincount(rows.indices, weights=rows.data, minlength=1)
        sums[counts < min(2, len(group))] = 0.0
        order = np.argsort(-sums, kind="stable")[:N_TERMS]
        best.append([int(term) for term in order if sums[term] > 0])
    names = names_of(connection, {term for terms in best for term in terms})
    return [", ".join(names[term] for term in terms if term in names) for terms in best]
