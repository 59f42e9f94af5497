"""The terms by which an article is like the rest of its story: what its cosine with the story is made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.settings import StreamSettings

N_TERMS = 8
_MEMBERS = """
SELECT d.family, d.published, d.vectors FROM membership m JOIN document d USING (doc_id)
WHERE m.story_id = ? AND m.to_batch IS NULL AND d.in_sums = 1 AND d.vectors IS NOT NULL ORDER BY d.number
"""


def shared_terms(
    connection: sqlite3.Connection, story: str, families: Sequence[int], settings: StreamSettings, *, n: int = N_TERMS
) -> dict[int, Mapping[str, float]]:
    """Return the terms that articles of a story share with the others in it, and how much each counts.

    Parameters
    ----------
    families : sequence of int
        Of which articles; copies share the terms of the first article of their family.
    settings : StreamSettings
        Articles weigh half after its half-life, as in the sums of the stream.
    n : int
        The most terms of an article.

    Returns
    -------
    terms : dict of family to mapping of term to float
        The products of an article's weights with those of the rest of the story. Families without any are left out.
    """
    rows = connection.execute(_MEMBERS, (story,)).fetchall()
    if len(rows) < 2:
        return {}
    latest = max(published for _, published, _ in rows)
    n_terms = np.iinfo(np.int32).max  # what is looked up below may be any number
    vectors = {family: WeightedTerms.from_bytes(data, n_terms=n_terms) for family, _, data in rows}
    weights = {family: 2.0 ** ((published - latest) / settings.half_life) for family, published, _ in rows}
    ids, places = np.unique(np.concatenate([one.ids for one in vectors.values()]), return_inverse=True)
    sums = np.zeros(ids.size)
    np.add.at(sums, places, np.concatenate([weights[family] * one.values for family, one in vectors.items()]))
    best: dict[int, list[tuple[int, float]]] = {}
    for family in families:
        if family not in vectors:
            continue
        own = vectors[family]
        rest = sums[np.searchsorted(ids, own.ids)] - weights[family] * own.values
        products = own.values * np.maximum(rest, 0.0)
        first = np.argsort(-products, kind="stable")[:n]
        best[family] = [(int(own.ids[place]), float(products[place])) for place in first if products[place] > 1e-9]
    names = names_of(connection, {number for found in best.values() for number, _ in found})
    return {
        family: {names[number]: value for number, value in found if number in names}
        for family, found in best.items()
        if found
    }


def names_of(connection: sqlite3.Connection, numbers: set[int]) -> dict[int, str]:
    """Return the terms of numbers; one that was forgotten has none."""
    marks = ", ".join("?" * len(numbers))
    return dict(connection.execute(f"SELECT number, term FROM term WHERE number IN ({marks})", sorted(numbers)))
