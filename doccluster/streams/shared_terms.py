"""The terms by which an article is like the rest of its story: what its cosine with the story is made of."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from doccluster.streams.kept_words import words_of_stories
from doccluster.streams.settings import StreamSettings

N_TERMS = 8


def shared_terms(
    connection: sqlite3.Connection, story: str, families: Sequence[int], settings: StreamSettings, *, n: int = N_TERMS
) -> dict[int, Mapping[str, float]]:
    """Return the terms that articles of a story share with the others in it, and how much each counts.

    Parameters
    ----------
    families : sequence of int
        Of which articles; copies share the terms of the first article of their family.
    settings : StreamSettings
        Articles weigh half after its half-life.
    n : int
        The most terms of an article.

    Returns
    -------
    terms : dict of family to mapping of term to float
        The products of an article's weights with those of the rest of the story. Families without any are left out.
    """
    articles = {one.family: one for one in reversed(words_of_stories(connection, [story]).get(story, []))}
    if len(articles) < 2:
        return {}
    latest = max(one.time for one in articles.values())
    weighed: dict[int, dict[str, float]] = {}
    sums: Counter[str] = Counter()
    for family, one in articles.items():
        halved = 2.0 ** ((one.time - latest) / settings.half_life)
        weighed[family] = dict(zip(one.words, (halved * one.weights).tolist(), strict=True))
        sums.update(weighed[family])
    found = {}
    for family in families:
        if family not in articles:
            continue
        own = zip(articles[family].words, articles[family].weights.tolist(), strict=True)
        products = {word: weight * (sums[word] - weighed[family][word]) for word, weight in own}
        best = sorted(products, key=lambda word: -products[word])[:n]
        found[family] = {word: products[word] for word in best if products[word] > 1e-9}
    return {family: terms for family, terms in found.items() if terms}
