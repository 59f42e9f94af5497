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

from doccluster.stories.words import LANGUAGES
from doccluster.streams.article import BEGINNING
from doccluster.streams.identity import document_key, story_id, text_hash
from doccluster.streams.kept_words import links_from_bytes, words_from_bytes
from doccluster.streams.settings import StreamSettings

DESK_FIELDS = ("n_articles", "n_when_linked", "looked_at", "next_term")  # those of `store`, which imports this

_LIKEST = 4.0  # centring can bring the likeness of two texts above 1
_HASH = re.compile("[0-9a-f]{20}")
_LINES = """
SELECT doc_id, 0, batch_id, event, story_id, other_id FROM lineage WHERE event IN ('born', 'grew', 'moved')
ORDER BY doc_id, batch_id, seq
"""
_ROWS = "SELECT doc_id, 1, from_batch, to_batch, story_id, '' FROM membership ORDER BY doc_id, from_batch"
_TEXTS = """
SELECT doc_id, doc_key, source, link, guid, title, plain(text), text_hash, n_versions,
    number IS NOT NULL FROM document
"""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a store: which check found it, and what."""

    check: str
    detail: str


_NEEDED = {"settings", "next_number", "desks", "languages"}  # once there is a batch
_OPTIONAL = {"confirmed", "models", "retention", "pruned_day", "late", "n_edits", "untold"}


def _meta_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if "settings" in meta:
        StreamSettings.from_dict(json.loads(meta["settings"]))
    (n_placed, highest) = connection.execute("SELECT COUNT(DISTINCT number), MAX(number) FROM document").fetchone()
    (n_batches,) = connection.execute("SELECT COUNT(*) FROM batch").fetchone()
    expected = {"settings"} & set(meta) if n_batches == 0 else _NEEDED
    expected = expected | (_OPTIONAL & set(meta))
    int(meta.get("confirmed", 0)), int(meta.get("n_edits", 0))
    for batch, model in json.loads(meta.get("models", "{}")).items():
        if int(batch) < 1 or not all(isinstance(one, str) for one in model.values()):
            yield Finding("meta", f"the model of batch {batch} is none")
    if set(meta) != expected:
        yield Finding("meta", f"it lacks or has too much: {', '.join(sorted(expected ^ set(meta)))}")
    elif n_batches:
        if not int(meta["next_number"]) - 1 == n_placed == (highest or 0):
            yield Finding("meta", f"next_number is {meta['next_number']}, with {n_placed} documents placed")
        yield from _term_findings(connection, json.loads(meta["desks"]))
        for outlet, languages in json.loads(meta["languages"]).items():
            if not set(languages) <= set(LANGUAGES) or not all(int(count) > 0 for count in languages.values()):
                yield Finding("meta", f"the languages of {outlet!r} are none")


def _term_findings(connection: sqlite3.Connection, desks: Mapping[str, Mapping[str, int]]) -> Iterator[Finding]:
    for language, least, highest, rarest, commonest, shortest in connection.execute(
        "SELECT language, MIN(number), MAX(number), MIN(n_articles), MAX(n_articles), MIN(LENGTH(term)) FROM term"
        " GROUP BY 1"
    ):
        desk = desks.get(language, {"next_term": 0, "n_articles": 0})
        if least < 0 or highest >= int(desk["next_term"]) or shortest == 0:
            yield Finding("terms", f"a term of {language!r} is empty, or not between 0 and {desk['next_term']}")
        if not 0 <= rarest <= commonest <= int(desk["n_articles"]):
            yield Finding("terms", f"a term of {language!r} is counted in less than no article, or in more than all")
    for language, desk in desks.items():
        if language not in ("", *LANGUAGES) or min(desk.values()) < 0 or set(desk) != set(DESK_FIELDS):
            yield Finding("meta", f"the desk of {language!r} is none")


def _text_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    versions = connection.execute("SELECT doc_id, version, title, plain(text), text_hash FROM document_version")
    firsts: dict[int, tuple[str, str]] = {}
    for doc_id, version, title, text, kept_hash in versions:
        if version == 1:
            firsts[doc_id] = (title, text)
        if version < 1 or text_hash(title, text) != kept_hash:
            yield Finding("text", f"version {version} of document {doc_id} has not the text that it came with")
    for doc_id, key, *given, title, text, kept_hash, n_versions, is_placed in connection.execute(_TEXTS):
        is_whole = text_hash(title, text) == kept_hash
        is_cut = not text or (not title and len(text) <= BEGINNING)
        if not is_whole and not (is_placed and is_cut and _HASH.fullmatch(kept_hash)):
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
    desks = json.loads(dict(connection.execute("SELECT key, value FROM meta")).get("desks", "{}"))
    for doc_id, number, language, background, words, links in connection.execute(
        "SELECT doc_id, number, language, background, words, links FROM document"
        " WHERE words IS NOT NULL OR links IS NOT NULL"
    ):
        try:
            terms, _ = words_from_bytes(words)
            earlier, likeness = links_from_bytes(links)
        except (ValueError, TypeError) as error:
            yield Finding("words", f"document {doc_id}: {error}")
            continue
        if np.unique(terms).size < terms.size or terms.max(initial=-1) >= desks.get(language, {}).get("next_term", 0):
            yield Finding("words", f"document {doc_id} has a term twice, or one that there is not")
        if number is None or (earlier == number).any() or not ((likeness > 0) & (likeness < _LIKEST)).all():
            yield Finding("words", f"document {doc_id} has a link to itself, or a likeness that cannot be")
        if not 0 <= background < _LIKEST:
            yield Finding("words", f"document {doc_id} has a background that cannot be")


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
    "words": _blob_findings,
    "lineage": _history_findings,
}
