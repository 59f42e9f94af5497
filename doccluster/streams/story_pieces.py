"""Pieces of one story: open stories so much alike, and so close in time, that a page shows them as one."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from scipy import sparse

from doccluster.streams.article import Moment
from doccluster.streams.kept_words import words_of_stories
from doccluster.streams.settings import DAY

LEAST_LIKENESS = 1 / 3  # the least cosine of a piece with the story that it is shown under
N_LIKEST = 3  # of one of the two, the other has to be among this many
LONGEST_SILENCE = 2 * DAY  # between the last article of one and the first of the other
BLOCK = 512  # stories that are compared with all others at a time


def pieces_of(
    connection: sqlite3.Connection,
    ranked: Sequence[str],
    spans: Mapping[str, tuple[Moment, Moment]],
    *,
    n_first: int = 0,
    apart: Collection[frozenset[str]] = (),
) -> dict[str, list[str]]:
    """Return, for each story that leads, the stories that are shown under it, the highest-ranking ones first.

    A story is shown under the likest of the leading ones that rank higher; it leads if there is none.

    Parameters
    ----------
    ranked : sequence of str
        The open stories, the highest-ranking one first.
    spans : mapping of story to (first, last)
        The times of their articles.
    n_first : int
        How many of the first are never shown under another.
    apart : collection of pairs
        Stories that an editor has taken apart.
    """
    links = _links(_means(connection, ranked), np.array([spans[story] for story in ranked]).reshape(-1, 2))
    pieces: dict[int, list[int]] = {}
    for place, story in enumerate(ranked):
        leaders = {
            other: likeness
            for other, likeness in links[place].items()
            if other < place and other in pieces and frozenset((story, ranked[other])) not in apart
        }
        if leaders and place >= n_first:
            pieces[max(leaders, key=lambda other: (leaders[other], -other))].append(place)
        else:
            pieces[place] = []
    return {ranked[leader]: [ranked[place] for place in own] for leader, own in pieces.items()}


def _links(means: sparse.csr_array, spans: np.ndarray) -> Mapping[int, dict[int, float]]:
    """Return which stories may be pieces of one, with their cosine: one is among the likest of the other."""
    links: dict[int, dict[int, float]] = defaultdict(dict)
    for begin in range(0, means.shape[0], BLOCK):
        likeness = (means[begin : begin + BLOCK] @ means.T).tocoo()
        rows, columns = likeness.row + begin, likeness.col
        silence = np.maximum(spans[rows, 0], spans[columns, 0]) - np.minimum(spans[rows, 1], spans[columns, 1])
        is_near = (likeness.data >= LEAST_LIKENESS) & (silence <= LONGEST_SILENCE) & (rows != columns)
        rows, columns, values = rows[is_near], columns[is_near], likeness.data[is_near]
        n_taken: dict[int, int] = defaultdict(int)
        for at in np.lexsort((columns, -values, rows)).tolist():
            row, column = int(rows[at]), int(columns[at])
            n_taken[row] += 1
            if n_taken[row] <= N_LIKEST:
                links[row][column] = links[column][row] = float(values[at])
    return links


def _means(connection: sqlite3.Connection, ranked: Sequence[str]) -> sparse.csr_array:
    """Return the mean of each story's articles, of length 1."""
    columns: dict[str, int] = {}
    rows: list[int] = []
    places: list[int] = []
    values = [np.zeros(0)]
    articles_of = words_of_stories(connection, ranked)
    for row, story in enumerate(ranked):
        for article in articles_of.get(story, ()):
            places += [columns.setdefault(word, len(columns)) for word in article.words]
            rows += [row] * len(article.words)
            values.append(article.weights)
    means = sparse.csr_array((np.concatenate(values), (rows, places)), shape=(len(ranked), max(1, len(columns))))
    lengths = np.sqrt((means * means).sum(axis=1))
    means.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(means.indptr))
    return means
