"""Search results as they come from any engine, ranked hits, and what clustering them gives: groups with labels."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doccluster.base.plain_values import ShortRepr, cut, listed
from doccluster.base.text_table import html_table
from doccluster.corpus.column_names import FULL_TEXTS, SNIPPETS
from doccluster.corpus.document import Document
from doccluster.corpus.json_records import json_values
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.errors import InputError, NothingUsable

# The fields of a hit, and what engines call them, the likeliest first.
FIELDS = {
    "id": ("id", "_id", "docid"),
    "title": ("title", "headline", "name"),
    "snippet": (*SNIPPETS, "highlight", "highlights", "summary", "description", "abstract", *FULL_TEXTS),
    "url": ("url", "link", "href", "uri"),
}
_INNER = ("_source", "fields", "document")  # of Elasticsearch and OpenSearch, Vespa, Typesense: where the fields are
_LEVELS_ABOVE = 4  # of the object that holds the list of hits
_OF_SOLR = re.compile(r"_(?:t|s|txt|text)(?:_[a-z]{2})?s?$|_ss$")  # how the names of its dynamic fields end
_NUMBER = re.compile(r"\s*[-+]?[0-9]{1,15}(?:\.[0-9]*)?\s*")
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
        JSON lines, one hit in each, a JSON list of hits, or an answer of an engine (Solr, Elasticsearch, OpenSearch,
        SearXNG, ...) or a request to Carrot2, in which the list of hits lies some levels down. A hit is an object with
        `title`, `snippet`, `url`, `id` and `rank`, or what engines call these, none of which is required; other fields
        are ignored. If every hit has a rank the hits are sorted by it, otherwise they keep the order of the file.
        Highlights (<b>, <em> and their like) and the entities of HTML in titles and snippets are turned into plain
        text; where an engine highlights words of a text, the snippet is what it shows of it.

    Raises
    ------
    InputError
        If the file cannot be read or is not a list of hits; the message names the line.
    NothingUsable
        If there is no hit in it.
    """
    try:
        values = list(json_values(read_whole(path).decode("utf-8-sig").replace("\0", "")))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason}); write JSON lines in UTF-8.") from error
    except ReadFailure as error:
        raise InputError(f"{path} cannot be read: {error.detail}", remedy="give JSON, one hit per line") from error
    records = _records(values, path)
    if not records:
        raise NothingUsable(f"{path} has no hits; give JSON lines with title, snippet, url and rank.")
    if len(records) > MAX_HITS:
        raise InputError(f"{path} has {len(records):,} hits; give at most {MAX_HITS:,}, the best ones.")
    if all(_rank(record) is not None for record in records):
        records.sort(key=lambda record: _rank(record) or 0.0)  # stable: equal ranks keep the order of the file
    return tuple(map(_as_hit, records))


def as_hits(results: Iterable[object]) -> tuple[SearchHit, ...]:
    """Return hits given as `SearchHit`, mappings with its fields, documents, texts, a table, or an engine's answer.

    >>> as_hits(["Jaguar cars", {"title": "Jaguar", "snippet": "A large cat"}])[1].snippet
    'A large cat'
    """
    if isinstance(results, Mapping):
        results = _hits_in(results)
    if isinstance(results, str | bytes):
        raise InputError("one text is not a list of hits; give a list of SearchHit, of mappings or of texts.")
    if isinstance(results, GroupedHits):
        return results.hits
    if hasattr(type(results), "columns"):
        table: Any = results
        to_rows = getattr(table, "to_dicts", None) or getattr(table, "to_pylist", None)  # of polars, of pyarrow
        results = table.to_dict("records") if to_rows is None else to_rows()
    hits = []
    for position, result in enumerate(results):
        if isinstance(result, SearchHit):
            hits.append(result)
        elif isinstance(result, Document):
            title, link = result.metadata.get("title", ""), result.metadata.get("link", "")
            hits.append(SearchHit(title=title, snippet=result.text[:MAX_CHARACTERS], url=link, id=result.id))
        elif isinstance(result, str):
            hits.append(SearchHit(snippet=result))
        elif isinstance(result, Mapping):
            hits.append(_as_hit(result))
        else:
            raise InputError(
                f"hit {position} is a {type(result).__name__}; give SearchHit, mappings with title and "
                "snippet, or texts."
            )
    return tuple(hits)


def _records(values: list[Any], path: str | Path) -> list[Mapping[str, Any]]:
    if len(values) == 1:
        values = values[0] if isinstance(values[0], list) else _hits_in(values[0])
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            raise InputError(
                f"{path}, hit {number} is not an object; write a hit as {{'title': ..., 'snippet': ..., 'url': ...}}."
            )
    return list(values)


def _hits_in(answer: Any) -> list[Any]:
    """Return the hits in the answer of an engine: the list of objects with the most texts, else the answer itself."""
    lists = list(_lists_in(answer, _LEVELS_ABOVE))
    if not lists or "snippet" in answer:
        return [] if isinstance(answer, Mapping) and _as_hit(answer) == SearchHit() else [answer]
    hits = max(lists, key=lambda records: (sum(bool(_as_hit(record).text) for record in records), len(records)))
    highlights = answer.get("highlighting")  # Solr has them beside the documents, by id
    if isinstance(highlights, Mapping):
        hits = [{**hit, "highlight": highlights.get(_as_hit(hit).id)} for hit in hits]
    return hits


def _lists_in(value: object, levels: int) -> Iterator[list[Any]]:
    if isinstance(value, list) and value and all(isinstance(record, Mapping) for record in value):
        yield value
    elif levels and isinstance(value, Mapping):
        for inner in value.values():
            yield from _lists_in(inner, levels - 1)


def _as_hit(record: Mapping[str, Any]) -> SearchHit:
    inner = (record[name] for name in _INNER if isinstance(record.get(name), Mapping))
    fields: dict[str, Any] = {}
    for part in (record, *inner):
        for name, value in part.items():
            fields.setdefault(_plain(name), value)
    values = {
        name: next((text for alias in names if (text := _text_of(fields.get(alias)))), "")
        for name, names in FIELDS.items()
    }
    for name in ("title", "snippet"):
        values[name] = html.unescape(_HIGHLIGHT.sub("", values[name]))
    return SearchHit(**values)


def _plain(name: object) -> str:
    return _OF_SOLR.sub("", str(name).lower())


def _rank(record: Mapping[str, object]) -> float | None:
    rank = record.get("rank")
    is_number = not isinstance(rank, bool) and _NUMBER.fullmatch(str(rank)) is not None
    return float(str(rank)) if is_number else None


def _text_of(value: object) -> str:
    """Return a field as text; a list of texts is joined, and so is what an engine highlights in several fields."""
    if isinstance(value, Mapping):  # of Elasticsearch and Solr
        shown = (texts for name, texts in value.items() if _plain(name) not in FIELDS["title"])
        value = [_text_of(texts) for texts in shown if isinstance(texts, str | list)]
    if isinstance(value, list):
        texts = (item.get("snippet") if isinstance(item, Mapping) else item for item in value)
        value = " ".join(text for text in texts if isinstance(text, str))
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
    paths : tuple of tuples of str
        What the clusters that each document of a run is in are called, the coarsest level first, down to the clusters
        that the run shows; empty for documents that are not of a run.
    """

    query: str
    hits: tuple[SearchHit, ...]
    groups: tuple[HitGroup, ...]
    other: tuple[int, ...]
    copy_of: dict[int, int]
    bm25_places: tuple[int | None, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()

    def __repr__(self) -> str:
        groups = listed([f"{label} ({len(places):,})" for label, places in self.named_groups])
        return cut(f"GroupedHits({self.query!r}: {len(self.hits):,} hits in {self.groups_in_words}: {groups})")

    def _repr_html_(self) -> str:
        rows = [(label, len(places), self.hits[places[0]].title) for label, places in self.named_groups]
        caption = f"{len(self.hits):,} hits for {self.query!r} in {self.groups_in_words}"
        return html_table(("group", "hits", "the first of them"), rows, caption=caption, bar="hits")

    @property
    def groups_in_words(self) -> str:
        """How many groups there are, and whether there is Other."""
        return f"{len(self.groups):,} group{'' if len(self.groups) == 1 else 's'}{' and Other' if self.other else ''}"

    @property
    def named_groups(self) -> list[tuple[str, tuple[int, ...]]]:
        """The label and the positions of each group, and last of Other where hits fit no group."""
        groups = [(group.label, group.documents) for group in self.groups]
        return [*groups, (OTHER_LABEL, self.other)] if self.other else groups

    def to_json(self) -> dict[str, Any]:
        """Return the groups in the shape that users of Carrot2 know, with `Other` at the end if there is any.

        `documents` are positions of hits from 0; `clusters` inside a cluster is an empty list. Where documents were
        searched, `hits` lists them in this order, with `bm25_place`, also from 0, and of a run with their `path`.
        """
        scores = [*(group.score for group in self.groups), 0.0]
        clusters: list[dict[str, object]] = [
            {"labels": [label], "score": score, "documents": list(documents), "clusters": []}
            for (label, documents), score in zip(self.named_groups, scores, strict=False)
        ]
        ranked: list[dict[str, object]] = [
            {"id": hit.id, "title": hit.title, "url": hit.url, "bm25_place": place}
            for hit, place in zip(self.hits, self.bm25_places, strict=False)
        ]
        for record, path in zip(ranked, self.paths, strict=False):
            record["path"] = list(path)
        return {"query": self.query, "clusters": clusters} | ({"hits": ranked} if ranked else {})
