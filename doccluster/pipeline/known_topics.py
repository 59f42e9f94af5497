"""Topics that a person knows already, read from a file or given in Python."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from doccluster.base.json_values import read_as
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.errors import InputError

MAX_NAME = 60  # characters
COLUMNS = ("name", "words", "examples", "parent")
FORMS = "a csv table with the columns name, words, examples and parent, or JSON objects with these names, in UTF-8"


@dataclass(frozen=True)
class Topic:
    """What you know of a topic.

    Attributes
    ----------
    name : str
        What its cluster is called, one line.
    words : tuple of str
        Words and phrases that its documents use.
    examples : tuple of str
        Ids of documents that belong to it, or texts of such documents.
    parent : str, optional
        The name of another topic that it is part of. A topic that is a parent may have neither words nor examples.
    """

    name: str
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    parent: str | None = None


def checked_topics(topics: object) -> tuple[Topic, ...] | None:
    """Return topics that were given: a file of them, or values of `Topic`. Raises InputError for anything else."""
    if topics is None:
        return None
    if isinstance(topics, str | os.PathLike):
        return read_topics(topics)
    if isinstance(topics, Topic) or not isinstance(topics, Iterable):
        raise InputError("are not topics", argument="topics", received=topics, expected="a file or a list of Topic")
    known = tuple(topics)
    for topic in known:
        if not isinstance(topic, Topic):
            raise InputError(
                "is not a topic", argument="topics", received=topic, expected="doccluster.Topic(name, ...)"
            )
    as_tuples = tuple(replace(topic, words=_texts(topic.words), examples=_texts(topic.examples)) for topic in known)
    _check(as_tuples, [f"topic {number}" for number in range(1, len(known) + 1)], "the list of topics")
    return as_tuples


def read_topics(path: str | os.PathLike[str]) -> tuple[Topic, ...]:
    """Return the topics in a file: a csv table with the columns name, words, examples and parent, or JSON objects.

    The objects stand a line each, or in one array.

    In a cell of a table words or examples are separated by ; | or a comma. Raises InputError, with the line, for a name
    that repeats, a parent that is unknown or its own ancestor, a topic with neither words nor examples that is no
    parent, and an empty file.
    """
    place = Path(path)
    try:
        text = read_whole(place).decode("utf-8-sig")
    except ReadFailure as error:
        raise InputError(f"{place} cannot be read: {error.detail}", remedy=f"give {FORMS}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not text in UTF-8", remedy=f"give {FORMS}") from error
    if not text.strip():
        raise InputError(f"{place} is empty", remedy=f"give {FORMS}")
    records = _json_records(place, text) if text.lstrip().startswith(("{", "[")) else _table_records(place, text)
    topics = tuple(topic for _, topic in records)
    _check(topics, [f"{where} of {place}" for where, _ in records], str(place))
    return topics


def _json_records(place: Path, text: str) -> list[tuple[str, Topic]]:
    """Return the topics of a file, each after where it stands: objects a line each, one object, or an array of them."""
    items = [(f"line {number}", line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    with suppress(ValueError, RecursionError):
        whole = json.loads(text)
        if isinstance(whole, list):
            items = [(f"item {number}", json.dumps(item)) for number, item in enumerate(whole, 1)]
        elif len(items) > 1:
            items = [("the object", text)]
    records = []
    for where, item in items:
        try:
            values = json.loads(item)
            if not isinstance(values, dict):
                raise ValueError("it is not an object")
            lists = {name: [value] if isinstance(value, str) else value for name, value in values.items()}
            named = {**values, **{name: lists[name] for name in ("words", "examples") if lists.get(name) is not None}}
            topic = read_as(Topic, {name: value for name, value in named.items() if value is not None})
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where} of {place} is not a topic: {error}", remedy=f"give {FORMS}") from error
        records.append((where, replace(topic, words=_texts(topic.words), examples=_texts(topic.examples))))
    return records


def _table_records(place: Path, text: str) -> list[tuple[str, Topic]]:
    header = text.lstrip().split("\n", 1)[0]
    delimiter = max("\t,;", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    columns = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    if "name" not in columns or not set(columns) <= set(COLUMNS):
        unknown = next((name for name in columns if name not in COLUMNS), None)
        what = "has no column called name" if unknown is None else f"has a column {unknown!r}"
        raise InputError(f"{place} {what}", remedy=f"give {FORMS}")
    reader.fieldnames = columns
    records: list[tuple[str, Topic]] = []
    try:
        for row in reader:
            cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
            if None in row:
                raise InputError(
                    f"line {reader.line_num} of {place} has more cells than the first line",
                    remedy='put words between quotes: Trade,"tariffs, exports"',
                )
            if any(cells.values()):
                words, examples = (_texts(re.split(r"[;,|\n]", cells[name])) for name in ("words", "examples"))
                topic = Topic(cells["name"], words, examples, cells["parent"] or None)
                records.append((f"line {reader.line_num}", topic))
    except csv.Error as error:
        raise InputError(
            f"line {reader.line_num} of {place} is no row of a table: {error}", remedy=f"give {FORMS}"
        ) from error
    return records


def _texts(values: Any) -> tuple[str, ...]:
    """Return texts without the empty ones, each once."""
    texts = [values] if isinstance(values, str) else values
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _check(topics: Sequence[Topic], places: Sequence[str], source: str) -> None:
    """Raise InputError if a topic cannot be used; `places` say where each stands."""
    if not topics:
        raise InputError(f"{source} has no topics", remedy="give at least one, with words or examples")
    names: set[str] = set()
    parents = {topic.name: topic.parent for topic in topics}
    for topic, place in zip(topics, places, strict=True):
        if not topic.name.strip() or len(topic.name) > MAX_NAME or not topic.name.isprintable():
            raise InputError(
                f"the topic in {place} has no usable name", remedy=f"give one line of 1 to {MAX_NAME} characters"
            )
        if topic.name in names:
            raise InputError(f"the name {topic.name!r} in {place} was given before", remedy="give each topic one name")
        if not topic.words and not topic.examples and topic.name not in parents.values():
            raise InputError(f"the topic {topic.name!r} in {place} has neither words nor examples", remedy="add some")
        names.add(topic.name)
    for topic, place in zip(topics, places, strict=True):
        if topic.parent is not None and topic.parent not in names:
            raise InputError(
                f"the parent {topic.parent!r} in {place} is not a topic", remedy="add it, or correct its name"
            )
        if topic.name in ancestors(topic.name, parents):
            raise InputError(f"the topic {topic.name!r} in {place} is its own ancestor", remedy="correct its parent")


def ancestors(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """Return the topics that a topic is part of, the nearest first; of a circle each once."""
    line: list[str] = []
    while (parent := parents.get(name)) is not None and parent not in line:
        line.append(parent)
        name = parent
    return line


def n_guides(topics: Iterable[Topic]) -> int:
    """Return how many topics a cluster is grown from: those with words or examples."""
    return sum(bool(topic.words or topic.examples) for topic in topics)
