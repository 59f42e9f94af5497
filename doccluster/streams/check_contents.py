"""What a store keeps as text, numbers in text, or bytes: settings, terms, vectors, shingles; and its whole history."""

from __future__ import annotations

import heapq
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from doccluster.corpus.duplicates import codes_of
from doccluster.streams.article import BEGINNING
from doccluster.streams.article_terms import LANGUAGES
from doccluster.streams.copies import Families, codes_of_article, shingles_from_bytes
from doccluster.streams.frequencies import DAY, HALVED_ABOVE, WeightedTerms
from doccluster.streams.identity import document_key, story_id, text_hash
from doccluster.streams.joining import MEMORY
from doccluster.streams.settings import StreamSettings

_NUMBERS = ("next_number", "next_term", "settled_day", "settled_batch")
_ROUNDING = 1e-3  # by which the length of a rounded vector may miss 1
_HASH = re.compile("[0-9a-f]{20}")
_LINES = """
SELECT doc_id, 0, batch_id, event, story_id, other_id FROM lineage WHERE event IN ('born', 'grew', 'moved')
ORDER BY doc_id, batch_id, seq
"""
_ROWS = "SELECT doc_id, 1, from_batch, to_batch, story_id, '' FROM membership ORDER BY doc_id, from_batch"
_TEXTS = """
SELECT doc_id, doc_key, source, link, guid, title, plain(text), text_hash, n_versions,
    number IS NOT NULL AND vectors IS NULL AND shingles IS NULL FROM document
"""

_COPIES = """
SELECT family, number, published, source, title, plain(text), text_hash, n_versions FROM document
WHERE family IN (SELECT family FROM document WHERE family <> number) ORDER BY family, number
"""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a store: which check found it, and what."""

    check: str
    detail: str


_OPTIONAL = {
    *("confirmed", "models", "retention", "pruned_day", "weights", "encoder", "remade_without_texts", "late", "untold")
}


def _meta_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if "settings" in meta:
        StreamSettings.from_dict(json.loads(meta["settings"]))
    (n_placed, highest) = connection.execute("SELECT COUNT(DISTINCT number), MAX(number) FROM document").fetchone()
    (n_batches,) = connection.execute("SELECT COUNT(*) FROM batch").fetchone()
    expected = {"settings"} & set(meta) if n_batches == 0 else {"settings", "n_settled", "scales", *_NUMBERS}
    expected |= _OPTIONAL & set(meta)
    int(meta.get("confirmed", 0))
    for language, given in json.loads(meta.get("scales", "{}")).items():
        values = [value for own in given.values() for value in own.values()]
        if (
            language not in ("", *LANGUAGES)
            or len(values) not in (6, 8)
            or not all(0 <= one <= MEMORY for one in values)
        ):
            yield Finding("meta", f"the scale of {language!r} is none")
    for batch, model in json.loads(meta.get("models", "{}")).items():
        if int(batch) < 1 or not all(isinstance(one, str) for one in model.values()):
            yield Finding("meta", f"the model of batch {batch} is none")
    if set(meta) != expected:
        yield Finding("meta", f"it lacks or has too much: {', '.join(sorted(expected ^ set(meta)))}")
    elif n_batches:
        numbers = {name: int(meta[name]) for name in _NUMBERS}
        if not numbers["next_number"] - 1 == n_placed == (highest or 0):
            yield Finding("meta", f"next_number is {numbers['next_number']}, with {n_placed} documents placed")
        yield from _term_findings(connection, numbers, json.loads(meta["n_settled"]), n_placed)


def _term_findings(
    connection: sqlite3.Connection, numbers: Mapping[str, int], settled: Mapping[str, int], n_placed: int
) -> Iterator[Finding]:
    row = connection.execute("SELECT moment FROM batch WHERE batch_id = ?", (numbers["settled_batch"],)).fetchone()
    if row is None or row[0] // DAY != numbers["settled_day"]:
        yield Finding("meta", "settled_day is not the day of settled_batch")
    counted = dict(
        connection.execute(
            "SELECT language, COUNT(*) FROM document WHERE batch_id <= ? GROUP BY 1", (numbers["settled_batch"],)
        )
    )
    n_terms, least, highest, rarest, commonest, shortest = connection.execute(
        "SELECT COUNT(*), MIN(number), MAX(number), MIN(settled), MAX(settled), MIN(LENGTH(term)) FROM term"
    ).fetchone()
    following = numbers["next_term"]
    has_forgotten = n_placed > HALVED_ABOVE  # then old terms are gone, and counts were halved
    if not has_forgotten and {key: value for key, value in settled.items() if value} != counted:
        yield Finding("meta", f"n_settled is {settled}, by the documents {counted}")
    if n_terms and (least < 0 or highest >= following or shortest == 0):
        yield Finding("terms", f"a term is empty, or its number is not between 0 and {following}")
    if not has_forgotten and n_terms != following:
        yield Finding("terms", f"there are {n_terms} of {following}")
    if n_terms and not 0 <= rarest <= commonest <= sum(settled.values()) + len(settled):
        yield Finding("terms", "a term is counted in less than no article, or in more than there are")


def _text_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    versions = connection.execute("SELECT doc_id, version, title, plain(text), text_hash FROM document_version")
    firsts: dict[int, tuple[str, str]] = {}
    for doc_id, version, title, text, kept_hash in versions:
        if version == 1:
            firsts[doc_id] = (title, text)
        if version < 1 or text_hash(title, text) != kept_hash:
            yield Finding("text", f"version {version} of document {doc_id} has not the text that it came with")
    # a story that had ended when its texts were deleted may live again since it was made anew
    is_remade = connection.execute("SELECT 1 FROM meta WHERE key = 'remade_without_texts'").fetchone() is not None
    for doc_id, key, *given, title, text, kept_hash, n_versions, has_ended in connection.execute(_TEXTS):
        may_be_pruned = has_ended or is_remade
        is_whole = text_hash(title, text) == kept_hash
        is_cut = not text or (not title and len(text) <= BEGINNING)
        if not is_whole and not (may_be_pruned and is_cut and _HASH.fullmatch(kept_hash)):
            yield Finding("text", f"document {doc_id} has not the text that it came with")
        first = firsts.get(doc_id) if n_versions > 1 else (title, text) if is_whole else None
        if first is not None and key not in _keys(first, *given):
            yield Finding("text", f"document {doc_id} has a key that is not its own")
    for name, founder, born in connection.execute("SELECT story_id, founder, born FROM story"):
        if name not in (story_id(founder), story_id(founder, born)):
            yield Finding("story", f"story {name} has an id that is not of its founder")
    for table in ("document", "story"):
        for (language,) in connection.execute(f"SELECT DISTINCT language FROM {table}"):
            if language not in ("", *LANGUAGES):
                yield Finding(table, f"{language!r} is not a known language")


def _keys(words: tuple[str, str], source: str, link: str, guid: str) -> tuple[str, str]:
    """Return the keys that an article can have: its own, or where its link was another's, that of its words."""
    title, text = words
    return (
        document_key(link=link, guid=guid, source=source, title=title, text=text),
        document_key(link="", guid="", source="", title=title, text=text),
    )


def _blob_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    n_terms = int(meta.get("next_term", 0))
    for doc_id, data in connection.execute("SELECT doc_id, vectors FROM document WHERE vectors IS NOT NULL"):
        try:
            vectors = WeightedTerms.from_bytes(data, n_terms=n_terms)
            length = float((vectors.values.astype(np.float64) ** 2).sum())
            if np.unique(vectors.ids).size < vectors.ids.size or abs(length - (length > 0)) > _ROUNDING:
                raise ValueError("a vector of another length than 1")
        except ValueError as error:
            yield Finding("vectors", f"document {doc_id}: {error}")
    n_bytes = 2 * json.loads(meta["encoder"])["dimensions"] if "encoder" in meta else None
    for doc_id, data, has_vectors in connection.execute("SELECT doc_id, meaning, vectors IS NOT NULL FROM document"):
        expected = n_bytes if has_vectors else None
        if (None if data is None else len(data)) != expected:
            yield Finding("meaning", f"document {doc_id} has not a row of {expected} bytes, but {data and len(data)}")
        elif data is not None and not np.linalg.norm(np.frombuffer(data, dtype="<f2").astype(np.float64)) < 1.1:
            yield Finding("meaning", f"document {doc_id}: a row of another length than 1")
    for doc_id, data in connection.execute("SELECT doc_id, shingles FROM document WHERE shingles IS NOT NULL"):
        try:
            shingles_from_bytes(data)
        except ValueError as error:
            yield Finding("shingles", f"document {doc_id}: {error}")
    last = connection.execute("SELECT MAX(clock) FROM batch").fetchone()[0]
    if last is not None and "settings" in meta:
        window = StreamSettings.from_dict(json.loads(meta["settings"])).copies_from(last)
        for doc_id, title, text in connection.execute(
            "SELECT doc_id, title, plain(text) FROM document JOIN batch USING (batch_id) WHERE shingles IS NULL"
            " AND MIN(published, clock) >= ? AND n_versions = 1",
            (window,),
        ):
            if codes_of(f"{title}\n{text}").size:
                yield Finding("shingles", f"document {doc_id} has none, and may have copies")


def _family_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Yield the families whose texts, where all of them are kept as they came, are not copies of one another."""
    for family, group in groupby(connection.execute(_COPIES), key=itemgetter(0)):
        found, are_whole = Families(), True
        for _, number, published, outlet, title, text, kept_hash, n_versions in group:
            found.add(number, published, codes_of_article(title, text), arrived=published, outlet=outlet)
            are_whole &= n_versions == 1 and text_hash(title, text) == kept_hash
        if are_whole and {one for _, one in found} != {family}:
            yield Finding("family", f"document {family} and its copies are not copies of one another")


def _history_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Yield where the lineage, folded from the start, does not give the membership at every batch, and the sizes."""
    sizes: Counter[str] = Counter()
    lines, rows = connection.execute(_LINES), connection.execute(_ROWS)
    for doc_id, own in groupby(heapq.merge(lines, rows, key=itemgetter(0)), key=itemgetter(0)):
        story, stories, kept = "", {}, []
        for _, is_row, batch, *told in own:
            if is_row:
                kept.append((batch, told[0], told[1]))
                continue
            event, after, before = told
            if story != before:
                yield Finding("lineage", f"document {doc_id} is in {story or 'no story'} when it has {event}")
            story = stories[batch] = after
        ends = [*list(stories)[1:], None]
        folded = [(batch, end, name) for (batch, name), end in zip(stories.items(), ends, strict=True)]
        if kept != folded:
            yield Finding("lineage", f"document {doc_id} was not in the stories, or not as long, as by its lineage")
        sizes[story] += 1
    for name, n_documents in connection.execute("SELECT story_id, n_documents FROM story WHERE state <> 'merged'"):
        if sizes.pop(name, 0) != n_documents:
            yield Finding("lineage", f"story {name} has not the {n_documents} documents of its row")
    for name in sizes:
        yield Finding("lineage", f"story {name} has documents, and has ended in another or is not there")


CONTENTS: dict[str, Callable[[sqlite3.Connection], Iterator[Finding]]] = {
    "meta": _meta_findings,
    "text": _text_findings,
    "vectors": _blob_findings,
    "family": _family_findings,
    "lineage": _history_findings,
}
