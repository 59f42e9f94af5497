"""An editor's corrections: kept in the store, applied in one way, taken back, and respected by every later batch.

A correction speaks of documents, not of stories, so that it holds whatever the stories are when it is applied: when it
is made, and again when the store's stories are made anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase

from doccluster.errors import InputError
from doccluster.stories.looking_again import Bonds
from doccluster.streams.changes import BatchResult, Event
from doccluster.streams.clusterer import Clusterer
from doccluster.streams.story import STORY_FIELDS, Story

MUTED_BY = ("title", "outlet")
_TOLD = {"rename": "renamed", "pin": "pinned"}
_ACTIVE = """
SELECT verb, documents, together, apart, text FROM correction
WHERE batch_id <= ?1 AND (undone IS NULL OR undone > ?1) ORDER BY batch_id
"""
_NOW = 1 << 62  # above the number of every batch


@dataclass(frozen=True)
class Correction:
    """What an editor has said.

    Attributes
    ----------
    verb : str
        merge, split, move, rename, pin or mute.
    documents : tuple of int
        The documents that it takes to another story; of `rename` and `pin` the one whose story is meant.
    together, apart : tuple of int
        Documents that they belong with, and that they do not.
    text : str
        The name of `rename`; of `mute` what is compared, "=", and the pattern.
    """

    verb: str
    documents: tuple[int, ...] = ()
    together: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()
    text: str = ""

    @classmethod
    def of_row(cls, verb: str, documents: str, together: str, apart: str, text: str) -> Correction:
        """Return a correction as the store keeps it."""
        lists = [tuple(map(int, json.loads(one))) for one in (documents, together, apart)]
        return cls(verb, lists[0], lists[1], lists[2], text)


def correction_of(
    connection: sqlite3.Connection, verb: str, stories: Sequence[str], documents: Sequence[str], text: str
) -> Correction:
    """Return the correction that an editor means, who names stories and documents.

    Raises InputError for a name that the store does not know, or where there is nothing to correct.
    """
    for story in stories:
        _check_story(connection, story)
    if verb in ("rename", "pin"):
        return Correction(verb, (_lead_of(connection, stories[0]),), text=" ".join(text.split()))
    if verb == "mute":
        return Correction(verb, text=_pattern(text))
    if verb == "merge":
        distinct = list(dict.fromkeys(stories))
        if len(distinct) < 2:
            raise InputError(f"{distinct[0]} is one story; give two or more.")
        # articles still come to the one that is open
        goal = next((story for story in distinct if _state_of(connection, story) == "open"), distinct[0])
        ended = [story for story in distinct if story != goal]
        return Correction(verb, _documents_of(connection, ended), _documents_of(connection, [goal]))
    named = [_document_named(connection, name) for name in documents]
    sources = [story for story in _documents_by_story(connection, named) if verb == "split" or story != stories[0]]
    if not sources or (verb == "split" and sources != [stories[0]]):
        where = f"not all in story {stories[0]}" if verb == "split" else f"in story {stories[0]} already"
        raise InputError(f"these documents are {where}; `doccluster stream show` lists the documents of a story.")
    chosen = _with_copies(connection, named)
    rest = tuple(one for one in _documents_of(connection, sources) if one not in chosen)
    if verb == "split" and not rest:  # they part copies
        chosen = tuple(dict.fromkeys(named))
        rest = tuple(one for one in _documents_of(connection, sources) if one not in chosen)
    if verb == "split":
        if not rest:
            raise InputError(f"these are all documents of story {stories[0]}; name some of them.")
        return Correction(verb, chosen, apart=rest)
    return Correction(verb, chosen, (_lead_of(connection, stories[0]),), rest)


def apply(
    connection: sqlite3.Connection, clusterer: Clusterer, correction: Correction, result: BatchResult
) -> BatchResult:
    """Bring stories to what a correction says; return, in `result`, what has changed, which is not written yet."""
    moving = _documents_by_story(connection, correction.documents)
    apart = _documents_by_story(connection, correction.apart)
    beside = _documents_by_story(connection, correction.together)
    if correction.verb in ("rename", "pin"):
        event = Event(clusterer.time, _TOLD[correction.verb], next(iter(moving)), n_documents=1)
        result.events.append(event)
    elif beside and not apart.keys() & beside.keys():
        goal = _story(connection, clusterer, next(iter(beside)))
        for name, numbers in moving.items():
            if name != goal.id:
                _take(connection, clusterer, result, numbers, _story(connection, clusterer, name), goal)
    else:
        new: Story | None = None
        for name in moving.keys() & apart.keys():
            source = _story(connection, clusterer, name)
            numbers = sorted({*moving[name], *beside.get(name, ())})
            if len(numbers) == source.n_documents:
                raise InputError(f"story {name} cannot be parted like this: none of its documents would stay.")
            is_new = new is None
            if new is None:
                key = _key_of(connection, numbers[0])
                new = clusterer.found(numbers[0], source.language, key, is_new=False, parent=source.id)
                new.touched = source.touched
            _take(connection, clusterer, result, numbers, source, new, is_new=is_new)
    clusterer.choose_leads(result)
    return result


def inverse(connection: sqlite3.Connection, clusterer: Clusterer, batch: int) -> BatchResult:
    """Take the documents that a batch has moved back to the stories they were in; return what has changed."""
    result = BatchResult()
    moved: dict[str, list[int]] = defaultdict(list)
    for old, doc_id in connection.execute(
        "SELECT other_id, doc_id FROM lineage WHERE batch_id = ? AND event = 'moved' ORDER BY seq", (batch,)
    ):
        moved[old].append(doc_id)
    for old, documents in moved.items():
        is_ended = _state_of(connection, old) == "merged"
        target = _story(connection, clusterer, old)
        if is_ended and not _was_closed(connection, old):
            clusterer.stories[old] = target
        for name, numbers in _documents_by_story(connection, documents).items():
            if name != old:  # where they are now: the story that they were taken to can have merged
                source = _story(connection, clusterer, name)
                _take(connection, clusterer, result, numbers, source, target, is_new=is_ended)
                is_ended = False
    clusterer.choose_leads(result)
    return result


def last_correction(connection: sqlite3.Connection) -> tuple[int, Correction]:
    """Return the last correction that was not taken back, and its batch.

    Raises InputError if there is none.
    """
    row = connection.execute(
        "SELECT batch_id, verb, documents, together, apart, text FROM correction WHERE undone IS NULL"
        " ORDER BY batch_id DESC LIMIT 1"
    ).fetchone()
    if row is None:
        raise InputError("there is no correction to take back.")
    return int(row[0]), Correction.of_row(*row[1:])


def keep(connection: sqlite3.Connection, batch: int, correction: Correction, undone: int | None = None) -> None:
    """Keep a correction, made in a batch, and in which one it was taken back."""
    verb, *documents, text = astuple(correction)
    connection.execute(
        "INSERT INTO correction VALUES (?, ?, ?, ?, ?, ?, ?)", (batch, verb, *map(json.dumps, documents), text, undone)
    )


def active(connection: sqlite3.Connection, batch: int = _NOW) -> list[Correction]:
    """Return the corrections that hold, or held after a batch, in the order in which they were made."""
    return [Correction.of_row(*row) for row in connection.execute(_ACTIVE, (batch,))]


def bonds_of(connection: sqlite3.Connection) -> Bonds:
    """Return the documents, by their numbers, that the corrections keep where they are, together and apart."""
    bonds = Bonds()
    for one in active(connection):
        if one.verb not in ("merge", "split", "move"):
            continue
        documents, together, apart = (
            set(_numbers_of(connection, chosen)) for chosen in (one.documents, one.together, one.apart)
        )
        bonds.fixed |= documents | together | apart
        if together:
            bonds.together.append(documents | together)
        if apart:
            bonds.apart.append((documents, apart - documents))
    return bonds


def stories_apart(connection: sqlite3.Connection) -> set[frozenset[str]]:
    """Return the pairs of stories that corrections have taken apart."""
    pairs = set()
    for one in active(connection):
        moved, rest = (_documents_by_story(connection, documents) for documents in (one.documents, one.apart))
        pairs |= {frozenset((story, other)) for story in moved for other in rest if story != other}
    return pairs


def names_at(connection: sqlite3.Connection, verb: str, batch: int = _NOW) -> dict[str, str]:
    """Return the stories that are renamed (or pinned), with the texts that go with it."""
    return {
        story: one.text
        for one in active(connection, batch)
        if one.verb == verb
        for story in _documents_by_story(connection, one.documents, batch)
    }


def muting(connection: sqlite3.Connection) -> Callable[[str, str], bool]:
    """Return whether an article of a title and an outlet is muted, as a function."""
    told = [one.text.casefold().partition("=") for one in active(connection) if one.verb == "mute"]

    def is_muted(title: str, outlet: str) -> bool:
        values = {"title": " ".join(title.casefold().split()), "outlet": outlet.casefold()}
        return any(fnmatchcase(values[name], pattern) for name, _, pattern in told)

    return is_muted


def _pattern(text: str) -> str:
    """Return the field that a mute looks at and its pattern."""
    name, _, pattern = text.partition("=")
    if name not in MUTED_BY or not pattern.strip():
        raise InputError(f"{text!r} mutes nothing; give for instance title=Morning briefing*.")
    return f"{name}={' '.join(pattern.split())}"


def _take(
    connection: sqlite3.Connection,
    clusterer: Clusterer,
    result: BatchResult,
    numbers: Sequence[int],
    source: Story,
    target: Story,
    *,
    is_new: bool = False,
) -> None:
    """Take documents of a story to another one."""
    is_whole = len(numbers) == source.n_documents
    event = "merged" if is_whole else "split" if is_new else "moved"
    pair = (source.id, target.id) if event == "split" else (target.id, source.id)
    line = Event(clusterer.time, event, *pair, len(numbers), 1.0, reason="an editor has said so")
    clusterer.turn(numbers, source, target, line, result)


def _story(connection: sqlite3.Connection, clusterer: Clusterer, name: str) -> Story:
    """Return a story, open or not; one that had become part of another has no documents."""
    if name in clusterer.stories:
        return clusterer.stories[name]
    n_documents, *values = connection.execute(
        f"SELECT (SELECT COUNT(*) FROM membership m WHERE m.story_id = s.story_id AND m.to_batch IS NULL),"
        f" {', '.join(STORY_FIELDS)} FROM story s WHERE story_id = ?",
        (name,),
    ).fetchone()
    story = Story(name, **dict(zip(STORY_FIELDS, values, strict=True)), n_documents=n_documents)
    rows = connection.execute(
        "SELECT d.number FROM membership m JOIN document d USING (doc_id) WHERE m.story_id = ? AND m.to_batch IS NULL"
        " AND d.words IS NOT NULL",
        (name,),
    )
    story.members = {number for (number,) in rows}
    if not n_documents:
        story.lead = story.led_at = 0
    return story


def _key_of(connection: sqlite3.Connection, number: int) -> str:
    (key,) = connection.execute("SELECT doc_key FROM document WHERE number = ?", (number,)).fetchone()
    return str(key)


def _was_closed(connection: sqlite3.Connection, story: str) -> bool:
    rows = connection.execute("SELECT 1 FROM lineage WHERE story_id = ? AND event = 'closed'", (story,))
    return rows.fetchone() is not None


def _state_of(connection: sqlite3.Connection, story: str) -> str | None:
    row = connection.execute("SELECT state FROM story WHERE story_id = ?", (story,)).fetchone()
    return None if row is None else str(row[0])


def _check_story(connection: sqlite3.Connection, name: str) -> None:
    state = _state_of(connection, name)
    if state is None:
        raise InputError(f"there is no story {name!r}; `doccluster stream list` shows those that there are.")
    if state == "merged":
        (into,) = connection.execute(
            "SELECT story_id FROM lineage WHERE other_id = ? AND event = 'merged' ORDER BY seq DESC", (name,)
        ).fetchone()
        raise InputError(f"story {name} has become part of story {into}; name that one.")


def _document_named(connection: sqlite3.Connection, name: str) -> int:
    """Return the placed document of an id, or of a key."""
    rows = connection.execute(
        "SELECT doc_id, doc_key FROM document WHERE (id = ?1 OR doc_key = ?1) AND number IS NOT NULL", (name,)
    ).fetchall()
    if not rows:
        raise InputError(f"no document {name!r} is in a story; `doccluster stream show` lists those of a story.")
    if len(rows) > 1:
        keys = ", ".join(key for _, key in rows[:3])
        raise InputError(f"{len(rows)} documents are called {name!r}; name the one you mean by its key: {keys}.")
    return int(rows[0][0])


def _lead_of(connection: sqlite3.Connection, story: str) -> int:
    (doc_id,) = connection.execute(
        "SELECT doc_id FROM story_lead WHERE story_id = ? ORDER BY from_batch DESC", (story,)
    ).fetchone()
    return int(doc_id)


def _documents_of(connection: sqlite3.Connection, stories: Iterable[str]) -> tuple[int, ...]:
    rows = connection.execute(
        "SELECT doc_id FROM membership WHERE to_batch IS NULL AND story_id IN (SELECT value FROM json_each(?))"
        " ORDER BY doc_id",
        (json.dumps(list(stories)),),
    )
    return tuple(doc_id for (doc_id,) in rows)


def _with_copies(connection: sqlite3.Connection, documents: Sequence[int]) -> tuple[int, ...]:
    """Return documents with their copies in the same stories, which go with them."""
    rows = connection.execute(
        "SELECT o.doc_id FROM membership o JOIN document d ON d.doc_id = o.doc_id WHERE o.to_batch IS NULL AND"
        " (o.story_id, d.family) IN (SELECT m.story_id, c.family FROM json_each(?) JOIN document c ON c.doc_id = value"
        " JOIN membership m ON m.doc_id = value AND m.to_batch IS NULL) ORDER BY o.doc_id",
        (json.dumps(documents),),
    )
    return tuple(doc_id for (doc_id,) in rows)


def _numbers_of(connection: sqlite3.Connection, documents: Iterable[int]) -> list[int]:
    rows = connection.execute(
        "SELECT d.number FROM json_each(?) JOIN document d ON d.doc_id = value", (json.dumps(list(documents)),)
    )
    return [number for (number,) in rows]


def _documents_by_story(
    connection: sqlite3.Connection, documents: Iterable[int], batch: int = _NOW
) -> dict[str, list[int]]:
    """Return the numbers of documents by the stories they are in, or were in after a batch."""
    found: dict[str, list[int]] = defaultdict(list)
    for story, number in connection.execute(
        "SELECT m.story_id, d.number FROM json_each(?1) JOIN document d ON d.doc_id = value"
        " JOIN membership m ON m.doc_id = value AND m.from_batch <= ?2 AND (m.to_batch IS NULL OR m.to_batch > ?2)"
        " ORDER BY key",
        (json.dumps(list(documents)), batch),
    ):
        found[story].append(number)
    return found
