"""What the words of stories say: which are pieces of one, and the terms by which an article is like its story."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats
from doccluster.stories.likeness import word_weights
from doccluster.streams.article import Moment
from doccluster.streams.settings import DAY
from doccluster.streams.store.batches import read_meta, words_from_bytes

MIN_LIKENESS = 1 / 3  # the least cosine of a piece with the story that it is shown under
N_LIKEST = 3  # of one of the two, the other has to be among this many
LONGEST_SILENCE = 2 * DAY  # between the last article of one and the first of the other
BLOCK = 512  # stories that are compared with all others at a time
N_TERMS = 8
_WORDS = """
SELECT m.story_id, d.family, d.published, d.language, d.words FROM membership m JOIN document d USING (doc_id)
WHERE m.story_id IN (SELECT value FROM json_each(?)) AND m.to_batch IS NULL AND d.words IS NOT NULL ORDER BY d.number
"""


class WeighedArticle(NamedTuple):
    """The words of an article of a story, and their weights, as a vector of length 1."""

    family: int
    time: Moment
    words: list[str]
    weights: Floats


def words_of_stories(connection: sqlite3.Connection, stories: Sequence[str]) -> dict[str, list[WeighedArticle]]:
    """Return the words of the articles of stories that are still compared, in the order in which they came."""
    articles: defaultdict[str, list[WeighedArticle]] = defaultdict(list)
    desks = json.loads(read_meta(connection).get("desks", "{}"))
    terms_of: dict[str, dict[int, tuple[str, int]]] = {}
    for story, family, time, language, data in connection.execute(_WORDS, (json.dumps(list(stories)),)).fetchall():
        if language not in terms_of:
            rows = connection.execute("SELECT number, term, n_articles FROM term WHERE language = ?", (language,))
            terms_of[language] = {number: (term, count) for number, term, count in rows}
        numbers, counts = words_from_bytes(data)
        is_there = np.array([number in terms_of[language] for number in numbers.tolist()], dtype=np.bool_)
        terms = [terms_of[language][number] for number in numbers[is_there].tolist()]
        n_articles = np.array([count for _, count in terms], dtype=np.int64)
        weights = word_weights(counts[is_there], n_articles, desks.get(language, {}).get("n_articles", 1))
        length = float(np.sqrt(weights @ weights)) or 1.0
        articles[story].append(WeighedArticle(family, time, [term for term, _ in terms], weights / length))
    return articles


def shared_terms(connection: sqlite3.Connection, story: str, family: int, half_life: float) -> Mapping[str, float]:
    """Return the terms that an article shares with the rest of its story, by the products of their weights."""
    articles = {article.family: article for article in reversed(words_of_stories(connection, [story]).get(story, []))}
    article = articles.pop(family, None)
    if article is None:
        return {}
    latest = max([article.time, *(member.time for member in articles.values())])
    sums: Counter[str] = Counter()
    for member in articles.values():
        halved = 2.0 ** ((member.time - latest) / half_life)
        sums.update(dict(zip(member.words, (halved * member.weights).tolist(), strict=True)))
    products = {word: weight * sums[word] for word, weight in zip(article.words, article.weights.tolist(), strict=True)}
    best = sorted(products, key=lambda word: -products[word])[:N_TERMS]
    return {word: products[word] for word in best if products[word] > 1e-9}


def pieces_of(
    connection: sqlite3.Connection,
    ranked: Sequence[str],
    spans: Mapping[str, tuple[Moment, Moment]],
    *,
    n_first: int = 0,
    apart: Collection[frozenset[str]] = (),
) -> dict[str, list[str]]:
    """Return, for each story that leads, the stories that are shown under it, the highest-ranking ones first.

    A story is shown under the likest of the leading ones that rank higher; it leads if there is none, if it is among
    the first `n_first`, or an editor has taken the two `apart`.
    """
    links = _links(_means(connection, ranked), np.array([spans[story] for story in ranked]).reshape(-1, 2))
    pieces: dict[int, list[int]] = {}
    for place, story in enumerate(ranked):
        leaders = {
            near: likeness
            for near, likeness in links[place].items()
            if near < place and near in pieces and frozenset((story, ranked[near])) not in apart
        }
        if leaders and place >= n_first:
            pieces[max(leaders, key=lambda near: (leaders[near], -near))].append(place)
        else:
            pieces[place] = []
    return {ranked[leader]: [ranked[place] for place in places] for leader, places in pieces.items()}


def _links(means: sparse.csr_array, spans: np.ndarray) -> Mapping[int, dict[int, float]]:
    """Return which stories may be pieces of one, with their cosine: one is among the likest of the other."""
    links: dict[int, dict[int, float]] = defaultdict(dict)
    for begin in range(0, means.shape[0], BLOCK):
        likeness = (means[begin : begin + BLOCK] @ means.T).tocoo()
        rows, columns = likeness.row + begin, likeness.col
        silence = np.maximum(spans[rows, 0], spans[columns, 0]) - np.minimum(spans[rows, 1], spans[columns, 1])
        is_near = (likeness.data >= MIN_LIKENESS) & (silence <= LONGEST_SILENCE) & (rows != columns)
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
    articles = words_of_stories(connection, ranked)
    for row, story in enumerate(ranked):
        for article in articles.get(story, ()):
            places += [columns.setdefault(word, len(columns)) for word in article.words]
            rows += [row] * len(article.words)
            values.append(article.weights)
    means = sparse.csr_array((np.concatenate(values), (rows, places)), shape=(len(ranked), max(1, len(columns))))
    lengths = np.sqrt((means * means).sum(axis=1))
    means.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(means.indptr))
    return means
