"""The words of articles as a store keeps them, what they have in common with earlier ones, and what they weigh."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.stories.likeness import word_weights
from doccluster.stories.looking_again import DeskArticle

_WORDS = """
SELECT m.story_id, d.family, d.published, d.language, d.words FROM membership m JOIN document d USING (doc_id)
WHERE m.story_id IN (SELECT value FROM json_each(?)) AND m.to_batch IS NULL AND d.words IS NOT NULL ORDER BY d.number
"""


class KeptWords(NamedTuple):
    """The words of an article of a story, and their weights, as a vector of length 1."""

    family: int
    time: int
    words: list[str]
    weights: npt.NDArray[np.float64]


def words_as_bytes(article: DeskArticle) -> bytes:
    """Return the terms of an article and how often each occurs; `words_from_bytes` undoes it."""
    return article.terms.astype("<i4").tobytes() + article.counts.tobytes()


def words_from_bytes(data: bytes) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
    """Undo `words_as_bytes`; raise ValueError for what it never returns."""
    n_terms, rest = divmod(len(data), 5)
    terms = np.frombuffer(data, dtype="<i4", count=n_terms).astype(np.int32)
    counts = np.frombuffer(data, dtype=np.int8, offset=4 * n_terms).copy()
    if rest or (terms < 0).any() or (np.abs(counts.astype(np.int16)) > 127).any() or not counts.all():
        raise ValueError(f"{len(data)} bytes are not the words of an article")
    return terms, counts


def links_as_bytes(article: DeskArticle) -> bytes:
    """Return the numbers of earlier articles and how like they are; `links_from_bytes` undoes it."""
    return article.earlier.astype("<i4").tobytes() + article.likeness.astype("<f4").tobytes()


def links_from_bytes(data: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Undo `links_as_bytes`; raise ValueError for what it never returns."""
    n_links, rest = divmod(len(data), 8)
    earlier = np.frombuffer(data, dtype="<i4", count=n_links).astype(np.int64)
    likeness = np.frombuffer(data, dtype="<f4", offset=4 * n_links).astype(np.float32)
    if rest or (earlier < 1).any() or not np.isfinite(likeness).all():
        raise ValueError(f"{len(data)} bytes are not the links of an article")
    return earlier, likeness


def words_of_stories(connection: sqlite3.Connection, stories: Sequence[str]) -> dict[str, list[KeptWords]]:
    """Return the words of the articles of stories that are still compared, in the order in which they came."""
    rows = connection.execute(_WORDS, (json.dumps(list(stories)),)).fetchall()
    found: defaultdict[str, list[KeptWords]] = defaultdict(list)
    n_articles = {language: desk["n_articles"] for language, desk in json.loads(_desks(connection)).items()}
    known: dict[str, dict[int, tuple[str, int]]] = {}
    for story, family, time, language, data in rows:
        if language not in known:
            told = connection.execute("SELECT number, term, n_articles FROM term WHERE language = ?", (language,))
            known[language] = {number: (term, count) for number, term, count in told}
        terms, counts = words_from_bytes(data)
        is_known = np.array([term in known[language] for term in terms.tolist()], dtype=np.bool_)
        told_of = [known[language][term] for term in terms[is_known].tolist()]
        having = np.array([count for _, count in told_of], dtype=np.int64)
        weights = word_weights(counts[is_known], having, n_articles.get(language, 1))
        length = float(np.sqrt(weights @ weights))
        found[story].append(KeptWords(family, time, [term for term, _ in told_of], weights / (length or 1.0)))
    return found


def _desks(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT value FROM meta WHERE key = 'desks'").fetchone()
    return "{}" if row is None else str(row[0])
