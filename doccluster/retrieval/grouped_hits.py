"""What clustering search results gives: groups of hits with labels, and the hits that fit no group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from doccluster.retrieval.hits import SearchHit
from doccluster.short_repr import ShortRepr

OTHER_LABEL = "Other"


@dataclass(frozen=True, repr=False)
class HitGroup(ShortRepr):
    """Hits on one thing.

    Attributes
    ----------
    label : str
        Its terms in one line.
    terms : tuple of str
        What the label is made of.
    score : float
        The sum of the cosines of the hits to their common direction: large groups of like hits have much of it.
    documents : tuple of int
        The positions of the hits in the ranked list, from 0, ascending.
    """

    label: str
    terms: tuple[str, ...]
    score: float
    documents: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class GroupedHits(ShortRepr):
    """Search results in groups.

    Attributes
    ----------
    query : str
    hits : tuple of SearchHit
        Best first.
    groups : tuple of HitGroup
        The largest first.
    other : tuple of int
        Positions of the hits that belong to no group.
    copy_of : dict of int to int
        Near-copies: the position of a hit, and that of the first of its kind.
    bm25_places : tuple of int or None
        The place of each hit by BM25 alone, from 0, None where it has no word of the query; empty for the hits of
        another engine.
    """

    query: str
    hits: tuple[SearchHit, ...]
    groups: tuple[HitGroup, ...]
    other: tuple[int, ...]
    copy_of: dict[int, int]
    bm25_places: tuple[int | None, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the groups in the shape that users of Carrot2 know, with `Other` at the end if there is any.

        `documents` are positions of hits from 0; `clusters` inside a cluster is an empty list. Where documents were
        searched, `hits` lists them in this order, with `bm25_place`, also from 0.
        """
        found = [_as_cluster(one.label, one.score, one.documents) for one in self.groups]
        if self.other:
            found.append(_as_cluster(OTHER_LABEL, 0.0, self.other))
        ranked = [
            {"id": hit.id, "title": hit.title, "url": hit.url, "bm25_place": place}
            for hit, place in zip(self.hits, self.bm25_places, strict=False)
        ]
        return {"query": self.query, "clusters": found} | ({"hits": ranked} if ranked else {})


def _as_cluster(label: str, score: float, documents: tuple[int, ...]) -> dict[str, Any]:
    return {"labels": [label], "score": score, "documents": list(documents), "clusters": []}
