"""Search results as they come from any engine, ranked hits, and what clustering them gives: groups with labels."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doccluster.base.short_repr import ShortRepr, cut, listed
from doccluster.base.table_markup import html_table
from doccluster.corpus.draft import ReadFailure
from doccluster.corpus.opening import read_whole
from doccluster.errors import InputError, NothingUsable

FIELDS = ("id", "title", "snippet", "url")
MAX_HITS = 10_000
MAX_CHARACTERS = 10_000  # of one field; an engine's snippets are far shorter
_HIGHLIGHT = re.compile(r"</?(?:b|em|i|mark|strong)>", re.IGNORECASE)  # what engines put around words that were found
OTHER_LABEL = "Other"


@dataclass(frozen=True)
class SearchHit:
    """One search result.

    Attributes
    ----------
    title, snippet, url, id : str
        Empty where the engine gave none.
    """

    title: str = ""
    snippet: str = ""
    url: str = ""
    id: str = ""

    @property
    def text(self) -> str:
        """The title and the snippet."""
        return f"{self.title}\n{self.snippet}".strip()


def read_hits(path: str | Path) -> tuple[SearchHit, ...]:
    """Return the hits of a file, best first.

    Parameters
    ----------
    path : str or Path
        JSON lines, one hit in each, or one JSON list of hits. A hit is an object with `title`, `snippet`, `url`, `id`
        and `rank`, none of which is required; other fields are ignored. If every hit has a rank the hits are sorted by
        it, otherwise they keep the order of the file. Highlights (<b>, <em> and their like) and the entities of HTML
        in titles and snippets are turned into plain text.

    Raises
    ------
    InputError
        If the file cannot be read or is not a list of hits; the message names the line.
    NothingUsable
        If there is no hit in it.
    """
    try:
        text = read_whole(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason}); write JSON lines in UTF-8.") from error
    except ReadFailure as error:
        raise InputError(f"{path} cannot be read: {error.detail}.") from error
    records = _records(text, path)
    if not records:
        raise NothingUsable(f"{path} has no hits; give JSON lines with title, snippet, url and rank.")
    if len(records) > MAX_HITS:
        raise InputError(f"{path} has {len(records):,} hits; give at most {MAX_HITS:,}, the best ones.")
    if all(_rank(record) is not None for record in records):
        records.sort(key=lambda record: _rank(record) or 0.0)  # stable: equal ranks keep the order of the file
    return tuple(map(_as_hit, records))


def as_hits(given: Iterable[Any]) -> tuple[SearchHit, ...]:
    """Return hits given as `SearchHit`, as mappings with its fields, or as texts.

    >>> as_hits(["Jaguar cars", {"title": "Jaguar", "snippet": "A large cat"}])[1].snippet
    'A large cat'
    """
    if isinstance(given, str | bytes):
        raise InputError("one text is not a list of hits; give a list of SearchHit, of mappings or of texts.")
    found = []
    for position, one in enumerate(given):
        if isinstance(one, SearchHit):
            found.append(one)
        elif isinstance(one, str):
            found.append(SearchHit(snippet=one))
        elif isinstance(one, Mapping):
            found.append(_as_hit(one))
        else:
            raise InputError(
                f"hit {position} is a {type(one).__name__}; give SearchHit, mappings with title and snippet, or texts."
            )
    return tuple(found)


def _records(text: str, path: str | Path) -> list[Mapping[str, Any]]:
    if text.lstrip().startswith("["):
        values = _parsed(text, f"{path}")
        places = [f"{path}, hit {number}" for number in range(1, len(values) + 1)]
    else:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        values = [_parsed(line, f"{path}, line {number}") for number, line in lines]
        places = [f"{path}, line {number}" for number, _ in lines]
    for value, place in zip(values, places, strict=True):
        if not isinstance(value, dict):
            raise InputError(f"{place} is not an object; write a hit as {{'title': ..., 'snippet': ..., 'url': ...}}.")
    return list(values)


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{place} is nested too deep to be a hit.") from None
    except ValueError as error:  # not JSON, or a number of thousands of digits
        raise InputError(f"{place} is not JSON ({str(error)[:80]}); give one hit per line.") from error


def _as_hit(record: Mapping[str, Any]) -> SearchHit:
    values = {name: _text_of(record.get(name)) for name in FIELDS}
    for name in ("title", "snippet"):
        values[name] = html.unescape(_HIGHLIGHT.sub("", values[name]))
    return SearchHit(**values)


def _rank(record: Mapping[str, Any]) -> float | None:
    rank = record.get("rank")
    is_number = isinstance(rank, int | float) and not isinstance(rank, bool)
    return float(rank) if is_number and abs(rank) < 1e15 else None  # type: ignore[operator, arg-type]


def _text_of(value: Any) -> str:
    """Return a field as text; a list of texts, as some engines give for snippets, is joined."""
    if isinstance(value, list):
        value = " ".join(item for item in value if isinstance(item, str))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)[:MAX_CHARACTERS]


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
class GroupedHits:
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

    def __repr__(self) -> str:
        groups = listed([f"{label} ({len(places):,})" for label, places in self.named_groups])
        return cut(f"GroupedHits({self.query!r}: {len(self.hits):,} hits in {len(self.groups):,} groups: {groups})")

    def _repr_html_(self) -> str:
        rows = [(label, len(places), self.hits[places[0]].title) for label, places in self.named_groups]
        caption = f"{len(self.hits):,} hits for {self.query!r} in {len(self.groups):,} groups"
        return html_table(("group", "hits", "the first of them"), rows, caption=caption, bar="hits")

    @property
    def named_groups(self) -> list[tuple[str, tuple[int, ...]]]:
        """The label and the positions of each group, and last of Other where hits fit no group."""
        found = [(group.label, group.documents) for group in self.groups]
        return [*found, (OTHER_LABEL, self.other)] if self.other else found

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
