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
from doccluster.streams.store.clusterer import BatchResult, Clusterer, Event, Story, read_stories
from doccluster.streams.store.database import read_column

MUTED_BY = ("title", "outlet")
_EVENTS = {"rename": "renamed", "pin": "pinned"}
_COLUMNS = "verb, documents, together, apart, text"
ALL_BATCHES = 1 << 62
_OF_STORIES = """
SELECT doc_id FROM membership WHERE to_batch IS NULL AND story_id IN (SELECT value FROM json_each(?)) ORDER BY doc_id
"""
# documents with their copies in the same stories, which go with them
_COPIES = """
SELECT o.doc_id FROM membership o JOIN document d ON d.doc_id = o.doc_id WHERE o.to_batch IS NULL
    AND (o.story_id, d.family) IN (SELECT m.story_id, c.family FROM json_each(?) JOIN document c ON c.doc_id = value
    JOIN membership m ON m.doc_id = value AND m.to_batch IS NULL) ORDER BY o.doc_id
"""


@dataclass(frozen=True)
class Correction:
    """What an editor has said."""

    verb: str  # merge, split, move, rename, pin or mute
    # that it takes to another story; of `rename` and `pin` the one whose story is meant
    documents: tuple[int, ...] = ()
    together: tuple[int, ...] = ()  # documents that they belong with
    apart: tuple[int, ...] = ()  # and documents that they do not
    text: str = ""  # the name of `rename`; of `mute` what is compared, "=", and the pattern

    @classmethod
    def of_row(cls, verb: str, documents: str, together: str, apart: str, text: str) -> Correction:
        """Return a correction as the store keeps it."""
        lists = [tuple(map(int, json.loads(column))) for column in (documents, together, apart)]
        return cls(verb, lists[0], lists[1], lists[2], text)


def correction_of(
    connection: sqlite3.Connection, verb: str, stories: Sequence[str], documents: Sequence[str], text: str
) -> Correction:
    """Return the correction that an editor means, who names stories and documents."""
    states = {story: _state_of(connection, story) for story in stories}
    if verb in ("rename", "pin"):
        return Correction(verb, (_lead_of(connection, stories[0]),), text=" ".join(text.split()))
    if verb == "mute":
        return Correction(verb, text=_pattern(text))
    if verb == "merge":
        if len(states) < 2:
            raise InputError(f"{stories[0]} is one story; give two or more.")
        # articles still come to the one that is open
        goal = next((story for story, state in states.items() if state == "open"), stories[0])
        sources = [story for story in states if story != goal]
        return Correction(verb, _documents_of(connection, sources), _documents_of(connection, [goal]))
    documents_named = [_document_named(connection, name) for name in documents]
    sources = [
        story for story in _numbers_by_story(connection, documents_named) if verb == "split" or story != stories[0]
    ]
    if not sources or (verb == "split" and sources != [stories[0]]):
        where = f"not all in story {stories[0]}" if verb == "split" else f"in story {stories[0]} already"
        raise InputError(f"these documents are {where}; `doccluster stream show` lists the documents of a story.")
    chosen = tuple(read_column(connection, _COPIES, json.dumps(documents_named)))
    everything = _documents_of(connection, sources)
    if verb == "split" and set(everything) <= set(chosen):  # they part copies
        chosen = tuple(dict.fromkeys(documents_named))
    stays = tuple(document for document in everything if document not in chosen)
    if verb == "move":
        return Correction(verb, chosen, (_lead_of(connection, stories[0]),), stays)
    if not stays:
        raise InputError(f"these are all documents of story {stories[0]}; name some of them.")
    return Correction(verb, chosen, apart=stays)


def apply(
    connection: sqlite3.Connection, clusterer: Clusterer, correction: Correction, result: BatchResult
) -> BatchResult:
    """Bring stories to what a correction says; return, in `result`, what has changed, which is not written yet."""
    moving, beside, apart = (
        _numbers_by_story(connection, documents)
        for documents in (correction.documents, correction.together, correction.apart)
    )
    if correction.verb in _EVENTS:
        result.events.append(Event(clusterer.time, _EVENTS[correction.verb], next(iter(moving)), n_documents=1))
    elif beside and not apart.keys() & beside.keys():
        goal = _story(connection, clusterer, next(iter(beside)))
        for name, numbers in moving.items():
            if name != goal.id:
                clusterer.turn(numbers, _story(connection, clusterer, name), goal, result)
    else:
        new: Story | None = None
        for name in moving.keys() & apart.keys():
            source = _story(connection, clusterer, name)
            numbers = sorted({*moving[name], *beside.get(name, ())})
            if len(numbers) == source.n_documents:
                raise InputError(f"story {name} cannot be parted like this: none of its documents would stay.")
            is_new = new is None
            if new is None:
                (key,) = read_column(connection, "SELECT doc_key FROM document WHERE number = ?", numbers[0])
                new = clusterer.new_story(key, source.language, clusterer.time, parent=source.id)
                new.touched = source.touched
            clusterer.turn(numbers, source, new, result, is_new=is_new)
    clusterer.choose_leads(result)
    return result


def inverse(connection: sqlite3.Connection, clusterer: Clusterer, batch: int) -> BatchResult:
    """Take the documents that a batch has moved back to the stories they were in; return what has changed."""
    result = BatchResult()
    moved: dict[str, list[int]] = defaultdict(list)
    for former, document in connection.execute(
        "SELECT other_id, doc_id FROM lineage WHERE batch_id = ? AND event = 'moved' ORDER BY seq", (batch,)
    ):
        moved[former].append(document)
    for former, documents in moved.items():
        target = _story(connection, clusterer, former)
        has_ended = not target.n_documents
        if has_ended and not read_column(
            connection, "SELECT 1 FROM lineage WHERE story_id = ? AND event = 'closed'", former
        ):
            clusterer.stories[former] = target
        for name, numbers in _numbers_by_story(connection, documents).items():
            if name != former:  # where they are now: the story that they were taken to can have merged
                clusterer.turn(numbers, _story(connection, clusterer, name), target, result, is_new=has_ended)
                has_ended = False
    clusterer.choose_leads(result)
    return result


def last_correction(connection: sqlite3.Connection) -> tuple[int, Correction]:
    """Return the last correction that was not taken back, and its batch."""
    row = connection.execute(
        f"SELECT batch_id, {_COLUMNS} FROM correction WHERE undone IS NULL ORDER BY batch_id DESC LIMIT 1"
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


def active(connection: sqlite3.Connection, batch: int = ALL_BATCHES) -> list[Correction]:
    """Return the corrections that hold, or held after a batch, in the order in which they were made."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM correction"
        " WHERE batch_id <= :batch AND IFNULL(undone, :batch + 1) > :batch ORDER BY batch_id",
        {"batch": batch},
    )
    return [Correction.of_row(*row) for row in rows]


def bonds_of(connection: sqlite3.Connection) -> Bonds:
    """Return the documents, by their numbers, that the corrections keep where they are, together and apart."""
    bonds = Bonds()
    for correction in active(connection):
        if correction.verb not in ("merge", "split", "move"):
            continue
        documents, together, apart = (
            {number for group in _numbers_by_story(connection, chosen).values() for number in group}
            for chosen in (correction.documents, correction.together, correction.apart)
        )
        bonds.fixed |= documents | together | apart
        if together:
            bonds.together.append(documents | together)
        if apart:
            bonds.apart.append((documents, apart - documents))
    return bonds


def stories_apart(connection: sqlite3.Connection) -> set[frozenset[str]]:
    """Return the pairs of stories that corrections have taken apart."""
    return {
        frozenset((story, rest_story))
        for correction in active(connection)
        for story in _numbers_by_story(connection, correction.documents)
        for rest_story in _numbers_by_story(connection, correction.apart)
        if story != rest_story
    }


def names_at(connection: sqlite3.Connection, verb: str, batch: int = ALL_BATCHES) -> dict[str, str]:
    """Return the stories that are renamed (or pinned), with the texts that go with it."""
    return {
        story: correction.text
        for correction in active(connection, batch)
        if correction.verb == verb
        for story in _numbers_by_story(connection, correction.documents, batch)
    }


def muting(connection: sqlite3.Connection) -> Callable[[str, str], bool]:
    """Return whether an article of a title and an outlet is muted, as a function."""
    patterns = [
        correction.text.casefold().partition("=") for correction in active(connection) if correction.verb == "mute"
    ]

    def is_muted(title: str, outlet: str) -> bool:
        values = {"title": " ".join(title.casefold().split()), "outlet": outlet.casefold()}
        return any(fnmatchcase(values[name], pattern) for name, _, pattern in patterns)

    return is_muted


def _pattern(text: str) -> str:
    """Return the field that a mute looks at and its pattern."""
    name, _, pattern = text.partition("=")
    if name not in MUTED_BY or not pattern.strip():
        raise InputError(f"{text!r} mutes nothing; give for instance title=Morning briefing*.")
    return f"{name}={' '.join(pattern.split())}"


def _story(connection: sqlite3.Connection, clusterer: Clusterer, name: str) -> Story:
    """Return a story, open or not; one that had become part of another has no documents."""
    if name in clusterer.stories:
        return clusterer.stories[name]
    (story,) = read_stories(connection, "story_id = ?", name)
    rows = connection.execute(
        "SELECT d.number, d.words IS NOT NULL FROM membership m JOIN document d USING (doc_id)"
        " WHERE m.story_id = ? AND m.to_batch IS NULL",
        (name,),
    ).fetchall()
    story.n_documents, story.members = len(rows), {number for number, is_compared in rows if is_compared}
    if not rows:
        story.lead = story.led_at = 0
    return story


def _state_of(connection: sqlite3.Connection, name: str) -> str:
    """Return whether a story is open or closed."""
    states = read_column(connection, "SELECT state FROM story WHERE story_id = ?", name)
    if not states:
        raise InputError(f"there is no story {name!r}; `doccluster stream list` shows those that there are.")
    if states == ["merged"]:
        into = read_column(
            connection,
            "SELECT story_id FROM lineage WHERE other_id = ? AND event = 'merged' ORDER BY seq DESC LIMIT 1",
            name,
        )
        raise InputError(f"story {name} has become part of story {into[0]}; name that one.")
    return str(states[0])


def _document_named(connection: sqlite3.Connection, name: str) -> int:
    """Return the placed document of an id, or of a key."""
    rows = connection.execute(
        "SELECT doc_id, doc_key FROM document WHERE (id = :name OR doc_key = :name) AND number IS NOT NULL",
        {"name": name},
    ).fetchall()
    if not rows:
        raise InputError(f"no document {name!r} is in a story; `doccluster stream show` lists those of a story.")
    if len(rows) > 1:
        keys = ", ".join(key for _, key in rows[:3])
        raise InputError(f"{len(rows)} documents are called {name!r}; name the one you mean by its key: {keys}.")
    return int(rows[0][0])


def _lead_of(connection: sqlite3.Connection, story: str) -> int:
    """Return the document that names a story."""
    statement = "SELECT doc_id FROM story_lead WHERE story_id = ? ORDER BY from_batch DESC LIMIT 1"
    return int(read_column(connection, statement, story)[0])


def _documents_of(connection: sqlite3.Connection, stories: Iterable[str]) -> tuple[int, ...]:
    return tuple(read_column(connection, _OF_STORIES, json.dumps(list(stories))))


def _numbers_by_story(
    connection: sqlite3.Connection, documents: Iterable[int], batch: int = ALL_BATCHES
) -> dict[str, list[int]]:
    """Return the numbers of documents by the stories they are in, or were in after a batch."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for story, number in connection.execute(
        "SELECT m.story_id, d.number FROM json_each(:documents) JOIN document d ON d.doc_id = value"
        " JOIN membership m ON m.doc_id = value AND m.from_batch <= :batch AND IFNULL(m.to_batch, :batch + 1) > :batch"
        " ORDER BY key",
        {"documents": json.dumps(list(documents)), "batch": batch},
    ):
        numbers[story].append(number)
    return numbers
