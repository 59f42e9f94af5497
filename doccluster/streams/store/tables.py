"""What a store says of a moment, as three tables (documents, stories, lineage): row by row, whole, or as csv files."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from doccluster.base.paths import check_folder, new_files
from doccluster.base.text_table import write_csv_rows
from doccluster.corpus.dates import as_moment, iso_date
from doccluster.errors import InputError
from doccluster.stories.words import TIMES, title_end
from doccluster.streams.article import Moment
from doccluster.streams.settings import DAY
from doccluster.streams.store.corrections import ALL_BATCHES, Correction, names_at
from doccluster.streams.store.database import read_column

Row = dict[str, Any]
Table = Mapping[str, Sequence[Any]]

DOCUMENT_COLUMNS = (
    *("id", "date", "first_seen", "source", "title", "link", "story", "first_story", "family", "similarity"),
)
STORY_COLUMNS = ("id", "label", "state", "born", "last", "documents", "families", "outlets", "parent")
LINEAGE_COLUMNS = ("when", "event", "story", "other", "documents", "similarity", "reason")
LEAD_LENGTH = 160  # characters of a text that stand for a title that is missing


def _iso(column: str) -> str:
    return f"strftime('%Y-%m-%dT%H:%M:%SZ', {column}, 'unixepoch')"


_DOCUMENTS = f"""
SELECT d.id, {_iso("d.published")}, {_iso("d.first_seen")}, d.source, d.title, d.link, m.story_id, d.first_story,
    f.doc_key, d.similarity
FROM membership m JOIN document d USING (doc_id) LEFT JOIN document f ON f.number = d.family
WHERE m.from_batch <= :batch AND (m.to_batch IS NULL OR m.to_batch > :batch) AND (m.from_batch > :since OR EXISTS
    (SELECT 1 FROM document_version v JOIN batch b ON b.batch_id = :since
    WHERE v.doc_id = d.doc_id AND v.seen > b.moment))
ORDER BY d.number
"""
_STORIES = f"""
SELECT s.story_id, '', COALESCE((SELECT e.event FROM lineage e WHERE e.story_id = s.story_id AND e.batch_id <= :batch
    AND e.event = 'closed'), 'open') AS state, {_iso("s.born")}, {_iso("MAX(d.published)")}, COUNT(*) AS documents,
    COUNT(DISTINCT d.family), COUNT(DISTINCT NULLIF(d.source, '')), s.parent
FROM membership m JOIN story s USING (story_id) JOIN document d USING (doc_id)
WHERE m.from_batch <= :batch AND (m.to_batch IS NULL OR m.to_batch > :batch)
GROUP BY s.story_id ORDER BY state DESC, documents DESC, s.born, s.story_id
"""
_MERGED = f"""
SELECT s.story_id, '', 'merged', {_iso("s.born")}, {_iso("e.moment")}, 0, 0, 0, e.story_id
FROM lineage e JOIN story s ON s.story_id = e.other_id
WHERE e.event = 'merged' AND e.batch_id <= :batch AND NOT EXISTS (SELECT 1 FROM lineage later
    WHERE later.other_id = e.other_id AND later.event IN ('merged', 'split') AND later.seq > e.seq
    AND later.batch_id <= :batch)
ORDER BY s.born, s.story_id
"""
_LINEAGE = f"""
SELECT {_iso("moment")}, event, story_id, other_id, n_documents, similarity, reason FROM lineage
WHERE batch_id <= :batch AND batch_id > :since ORDER BY batch_id, seq
"""
_LEAD = f"""
SELECT d.title, d.outlet, SUBSTR(plain(d.text), 1, {LEAD_LENGTH}) FROM story_lead l JOIN document d USING (doc_id)
WHERE l.story_id = ? AND l.from_batch <= ? ORDER BY l.from_batch DESC LIMIT 1
"""
_WITH_ENDS = "SELECT DISTINCT title FROM document WHERE outlet = ? AND number > 0 AND title GLOB '* [-–—|] *'"
_OF_DOCUMENTS = """
SELECT s.story_id, s.n_documents
FROM json_each(?) JOIN membership m ON m.doc_id = value AND m.to_batch IS NULL JOIN story s USING (story_id)
GROUP BY s.story_id ORDER BY MIN(key)
"""


@dataclass(frozen=True, eq=False)
class StreamTables:
    """The tables of a stream at one moment.

    Attributes
    ----------
    moment : int or None
        What the stream's clock says, or the last batch up to a moment that was asked for; None for a store without any.
    documents : mapping of column to list
        id, date, first_seen, source, title, link, story, first_story, family, similarity, in the order in which they
        were placed; family is the key of the first document with its text.
    stories : mapping of column to list
        id, label, state, born, last, documents, families, outlets, parent: the open ones, those with most documents
        first, then the closed ones in the same order, then those that have become part of another.
    lineage : mapping of column to list
        when, event, story, other, documents, similarity, reason, in the order in which it happened.
    """

    moment: Moment | None
    documents: Table
    stories: Table
    lineage: Table


class StoryNames:
    """What stories are called after a batch: as an editor has said, else by the article that names each."""

    def __init__(self, connection: sqlite3.Connection, batch: int = ALL_BATCHES) -> None:
        self._connection, self._batch = connection, batch
        self.renamed = names_at(connection, "rename", batch)
        self._n_with_end: dict[str, Counter[str]] = {}

    def name_of(self, story: str) -> str:
        """Return the name of a story, also of one that has become part of another; "" for no story."""
        if story in self.renamed:
            return self.renamed[story]
        row = self._connection.execute(_LEAD, (story, self._batch)).fetchone()
        return "" if row is None else " ".join((self.headline(row[0], row[1]) or row[2]).split())

    def headline(self, title: str, outlet: str) -> str:
        """Return the title of an article without what its outlet ends other titles with."""
        end = title_end(title)
        if not end or not outlet:
            return title
        if outlet not in self._n_with_end:
            self._n_with_end[outlet] = Counter(map(title_end, read_column(self._connection, _WITH_ENDS, outlet)))
        return title.removesuffix(end) if self._n_with_end[outlet][end] >= TIMES else title


def batch_at(connection: sqlite3.Connection, at: str | Moment | None) -> tuple[int, Moment | None]:
    """Return the last batch at a moment (the last of all if None), and its moment; 0 if there is none."""
    moment = at if at is None or isinstance(at, int) else as_moment(iso_date(at))
    if at is not None and moment is None:
        raise InputError(f"at={at!r} is not a moment; give ISO 8601, such as 2026-03-02T08:00:00Z.")
    row = connection.execute(
        "SELECT batch_id, IIF(:at IS NULL, clock, moment) FROM batch WHERE :at IS NULL OR moment <= :at"
        " ORDER BY batch_id DESC LIMIT 1",
        {"at": moment},
    ).fetchone()
    return (0, None) if row is None else (int(row[0]), int(row[1]))


def batch_since(connection: sqlite3.Connection, since: str | Moment | None, now: Moment) -> tuple[int, Moment]:
    """Return the last batch that is not new, and its moment (the moment given, if one is); None: a day before `now`."""
    if isinstance(since, str) and since.isdecimal():
        number = int(since) if len(since) < 19 else -1  # more digits than SQLite's numbers have
        row = connection.execute("SELECT batch_id, moment FROM batch WHERE batch_id = ?", (number,)).fetchone()
        if row is not None:
            return int(row[0]), int(row[1])
        if len(since) != 4:  # else it is a year
            raise InputError(f"since={since!r} is not a batch of the store; give a moment or another number.")
    moment = now - DAY if since is None else since if isinstance(since, int) else as_moment(iso_date(since))
    if moment is None:
        raise InputError(f"since={since!r} is neither a moment nor a batch; give for instance 2026-03-02T08:00:00Z.")
    (batch,) = read_column(connection, "SELECT MAX(batch_id) FROM batch WHERE moment <= ?", moment)
    return int(batch or 0), moment


class _Queries(NamedTuple):
    columns: Sequence[str]
    queries: Sequence[str]  # of its rows, one after the other
    kind: str  # the column whose values are counted


_TABLES = {
    "documents": _Queries(DOCUMENT_COLUMNS, (_DOCUMENTS,), "source"),
    "stories": _Queries(STORY_COLUMNS, (_STORIES, _MERGED), "state"),
    "lineage": _Queries(LINEAGE_COLUMNS, (_LINEAGE,), "event"),
}


def rows_of(connection: sqlite3.Connection, table: str, batch: int, since: int = 0) -> Iterator[Row]:
    """Yield the rows of a table as of a batch: documents as they were placed, open stories first, events in order.

    Of documents and events only what has changed, or happened, after the batch `since`.
    """
    names = StoryNames(connection, batch)
    for query in _TABLES[table].queries:
        for row in connection.execute(query, {"batch": batch, "since": since}):
            values = dict(zip(_TABLES[table].columns, row, strict=True))
            yield values if query != _STORIES else {**values, "label": names.name_of(values["id"])}


FILES = tuple(f"{name}.csv" for name in _TABLES)


def read_tables(connection: sqlite3.Connection, *, at: str | Moment | None = None) -> StreamTables:
    """Return the tables of a store as it is, or as it was at a moment."""
    batch, moment = batch_at(connection, at)
    tables: dict[str, dict[str, list[Any]]] = {}
    for table, (names, *_) in _TABLES.items():
        columns = zip(*(row.values() for row in rows_of(connection, table, batch)), strict=True)
        tables[table] = {name: [] for name in names} | dict(zip(names, map(list, columns), strict=False))
    return StreamTables(moment, **tables)


def records(connection: sqlite3.Connection, *, at: str | Moment | None = None) -> dict[str, Iterator[Row]]:
    """Return the rows of each table, by its name, as mappings of column to value that are read one by one."""
    batch, _ = batch_at(connection, at)
    return {table: rows_of(connection, table, batch) for table in _TABLES}


def changes(connection: sqlite3.Connection, since: str | Moment) -> Iterator[Row]:
    """Yield what has changed after a batch or moment, each row with the name of its table.

    First comes the batch up to which it is told, to be given as `since` the next time.
    """
    batch, moment = batch_at(connection, None)
    first, _ = batch_since(connection, since, moment or 0)
    yield {"table": "batch", "batch": batch}
    changed = {event[end] for event in rows_of(connection, "lineage", batch, first) for end in ("story", "other")}
    for table in _TABLES:
        rows = rows_of(connection, table, batch, first)
        yield from ({"table": table, **row} for row in rows if table != "stories" or row["id"] in changed)


def events_after(connection: sqlite3.Connection, batch: int) -> Iterator[Row]:
    """Yield what has happened to stories after a batch, each with the name of the story; of moves the story alone."""
    names = StoryNames(connection)
    for event in rows_of(connection, "lineage", batch_at(connection, None)[0], batch):
        if event["event"] != "moved":
            yield {**event, "label": names.name_of(event["story"])}


def stories_with(connection: sqlite3.Connection, words: Sequence[str] = ()) -> list[Row]:
    """Return the stories that have all words in their name, or in the title of a document; the last to grow first."""
    tables = records(connection)
    titles: dict[str, list[str]] = defaultdict(list)
    for document in tables["documents"] if words else ():
        titles[document["story"]].append(document["title"])
    stories = sorted(tables["stories"], key=lambda story: (story["last"], story["id"]), reverse=True)
    return [story for story in stories if has_words(words, story["label"], titles[story["id"]])]


def has_words(words: Sequence[str], label: str, titles: Sequence[str]) -> bool:
    """Return whether all words are in the name of a story, or all in one of some titles."""
    return any(all(word.casefold() in text.casefold() for word in words) for text in (label, *titles))


def story_told(connection: sqlite3.Connection, story: str) -> Row:
    """Return the row of a story, its documents, and what has happened to it, with the label of its partner in that."""
    tables, names = records(connection), StoryNames(connection)
    row = next((row for row in tables["stories"] if row["id"] == story), None)
    if row is None:
        raise InputError(f"there is no story {story!r}; `doccluster stream list` shows those that there are.")
    documents = [document for document in tables["documents"] if document["story"] == story]
    events = [
        event for event in tables["lineage"] if story in (event["story"], event["other"]) and event["event"] != "moved"
    ]
    for event in events:
        event["partner"] = event["other"] if event["story"] == story else event["story"]
        event["label"] = names.name_of(event["partner"])
    return {**row, "documents": documents, "lineage": events}


def stories_of(connection: sqlite3.Connection, correction: Correction) -> list[Row]:
    """Return id, label and number of documents of the stories that a correction is about, as they are now."""
    names = StoryNames(connection)
    documents = (*correction.documents, *correction.together, *correction.apart)
    rows = connection.execute(_OF_DOCUMENTS, (json.dumps(documents),))
    return [{"id": story, "label": names.name_of(story), "documents": n_documents} for story, n_documents in rows]


@dataclass(frozen=True)
class Exported:
    """What was written: the files, how many documents, and how many stories in each state."""

    files: list[Path]
    n_documents: int
    states: Counter[str]


def check_export(folder: Path, *, overwrite: bool) -> None:
    """Raise InputError, before any work is done, if an export cannot be written to `folder`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; choose another output, the name of a folder.")
    existing = [name for name in FILES if (folder / name).exists()]
    if existing and not overwrite:
        raise InputError(f"{folder / existing[0]} already exists; choose another output, or give --overwrite.")
    check_folder(folder.absolute().parent, name=folder)


def write_export(
    connection: sqlite3.Connection, folder: Path, *, at: str | Moment | None = None, overwrite: bool = False
) -> Exported:
    """Write the tables as csv files, row by row, each whole or not at all; other files there stay."""
    check_export(folder, overwrite=overwrite)
    batch, _ = batch_at(connection, at)
    counts: dict[str, Counter[str]] = defaultdict(Counter)

    def counted(rows: Iterator[Row], table: str, column: str) -> Iterator[list[Any]]:
        for row in rows:
            counts[table][row[column]] += 1
            yield list(row.values())

    with new_files(folder) as beside:
        for table, (names, _, kind) in _TABLES.items():
            rows = counted(rows_of(connection, table, batch), table, kind)
            write_csv_rows(names, rows, beside / f"{table}.csv")
    return Exported([folder / name for name in FILES], counts["documents"].total(), counts["stories"])
