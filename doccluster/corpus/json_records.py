"""JSON Lines, and JSON files: an array of records or texts, one record, records below keys, messages of chats."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from doccluster.corpus.column_names import FULL_TEXTS
from doccluster.corpus.columns import (
    choose_columns,
    has_id_column,
    has_text_column,
    looks_like_header,
    row_draft,
)
from doccluster.corpus.document import Skipped
from doccluster.corpus.feeds import is_json_feed, read_json_feed
from doccluster.corpus.reader import Beginning, Draft, Format, InputFile, ReadFailure, failure_listed, record
from doccluster.corpus.reader_options import ReadOptions

_FIRST_RECORDS = 200  # a column is known once one of these has it
_AROUND_LINE = "\ufeff\x1e \t\r\n"  # \x1e: records of RFC 7464
_LINES_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")
_JSON_SUFFIXES = (".json", ".jsonfeed", ".geojson")


def read_json_lines(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return one document for each line that holds a record or a text; other lines are listed as skipped."""
    yield from record_drafts(_line_values(file, options), file, options)


def _line_values(file: InputFile, options: ReadOptions) -> Iterator[tuple[str, object] | Skipped]:
    """Return the value of each line and where it is, and the lines that hold none."""
    for number, line in enumerate(file.lines(options.document_bytes), 1):
        where = f"{file.name}:{number}"
        if line is None:
            yield Skipped(where, "too-long", f"a line of more than {options.document_bytes:,} bytes")
        elif line.strip(_AROUND_LINE):
            try:
                yield where, JSON_TEXT.decode(line.strip(_AROUND_LINE))
            except BAD_JSON as error:
                yield Skipped(where, "bad-json", why_not_json(error))


def read_json(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the records of a JSON file; a JSON Feed is read as a feed.

    Records may lie in an array, in the only array of an object, or below levels of keys, which are then columns named
    key_1, key_2, ... A table may have any of pandas' orientations, and values may stand one after the other.
    """
    values = failure_listed(json_values(file.text()), file.name)
    first = list(itertools.islice(values, 2))
    if len(first) == 1 and not isinstance(first[0], Skipped) and is_json_feed(first[0]):
        yield from read_json_feed(first[0], file)
        return
    # of several values each is a record, whatever it holds
    several = len(first) > 1 and not isinstance(first[1], Skipped)
    messages = chat_messages(first[0], file) if len(first) == 1 else None
    records = messages or (
        record
        for value in itertools.chain(first, values)
        for record in ([value] if isinstance(value, Skipped | Mapping) and several else records_in(value, options))
    )
    numbered = enumerate(records, 1)
    yield from record_drafts(
        (item if isinstance(item, Skipped) else (f"{file.name}:{number}", item) for number, item in numbered),
        file,
        options,
    )


def record_drafts(
    values: Iterable[tuple[str, object] | Skipped], file: InputFile, options: ReadOptions
) -> Iterator[Draft | Skipped]:
    """Return records as documents; the columns are chosen from the keys of the first records together."""
    values = iter(values)
    first = list(itertools.islice(values, _FIRST_RECORDS))
    records = (value[1] for value in first if not isinstance(value, Skipped))
    rows = [item for item in records if isinstance(item, Mapping)]
    names = list(dict.fromkeys(str(key) for row in rows for key in row))
    columns = choose_columns(names, options, table=file.name, first_rows=rows) if names else None
    for value in itertools.chain(first, values):
        if isinstance(value, Skipped):
            yield value
            continue
        where, content = value
        if isinstance(content, str):
            yield Draft(content, where)
        elif isinstance(content, Mapping) and columns is not None:
            yield record(where, row_draft, content, columns, options, where)
        else:
            yield Skipped(where, "bad-record", f"{type(content).__name__}, expected a record or a text")


def _is_json_lines(beginning: Beginning) -> bool:
    first, _, following = beginning.text.partition("\n")
    if beginning.is_json and beginning.name.endswith(_LINES_SUFFIXES):
        return not following or first.rstrip().endswith("}") or _is_json(first)  # else it is pretty-printed
    if not beginning.text.startswith("{") or not _is_json(first):
        return False
    return following.lstrip().startswith("{") or not beginning.name.endswith(_JSON_SUFFIXES)


def _is_json_file(beginning: Beginning) -> bool:
    begins_so = re.match(r'\{\s*"|\[\s*[\[{"]', beginning.text) is not None
    return beginning.is_json and (begins_so or beginning.name.endswith(_JSON_SUFFIXES))


def _is_json(line: str) -> bool:
    try:
        JSON_TEXT.decode(line)
    except BAD_JSON:
        return False
    return True


JSON_LINES = Format(
    "jsonl",
    read_json_lines,
    "a record",
    "the columns below; a list in a cell is several labels",
    suffixes=_LINES_SUFFIXES,
    aliases=("ndjson", "jsonlines", "json-lines"),
    recognises=_is_json_lines,
    has_columns=True,
)
JSON = Format(
    "json",
    read_json,
    "a record, or an item of a JSON Feed",
    "the columns below; of a JSON Feed what comes with a feed",
    suffixes=(".json",),
    aliases=("json-feed", "jsonfeed"),
    recognises=_is_json_file,
    has_columns=True,
)


_MAX_LEVELS = 32  # of lists and keys above a record; deeper values are not records
_LEVELS_ABOVE = 3  # of an object that holds records beside other things
JSON_TEXT = json.JSONDecoder(strict=False)  # strings may hold control characters
BAD_JSON = (ValueError, RecursionError)
_LISTS = frozenset(("articles", "content", "entries", "hits", "items", "records", "results"))
_BETWEEN = re.compile("[\ufeff\x1e\\s,]*")  # \x1e: records of RFC 7464


def json_values(text: str) -> Iterator[Any]:
    r"""Yield JSON values that stand one after the other, or the items of an array that is cut off.

    >>> list(json_values('{"a": 1}\n[2]'))
    [{'a': 1}, [2]]
    """
    place, is_cut = 0, False
    while (between := _BETWEEN.match(text, place)) and between.end() < len(text):
        try:
            value, place = JSON_TEXT.raw_decode(text, between.end())
        except BAD_JSON as error:
            if is_cut or not text.startswith("[", between.end()):
                raise ReadFailure("bad-json", why_not_json(error)) from error
            place, is_cut = between.end() + 1, True
        else:
            yield value


def why_not_json(error: Exception) -> str:
    """Return in words where a text stops being JSON."""
    if isinstance(error, json.JSONDecodeError):
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"not JSON from {line}character {error.colno} on"
    return "nested too deep" if isinstance(error, RecursionError) else "a number of too many digits"


def records_in(content: object, options: ReadOptions, keys: tuple[str, ...] = (), level: int = 0) -> Iterator[object]:
    """Yield the records of a JSON value, the keys above them as columns; texts and other leaves as they are."""
    table = _rows_of_table(content, options) if level <= _MAX_LEVELS else None
    answer = _list_in_answer(content, options)
    if level > _MAX_LEVELS:
        yield content
    elif answer is not None:
        yield from records_in(answer, options, keys, level + 1)
    elif table is not None:
        yield from (_with_keys(row, keys, is_named=False) for row in table)
    elif isinstance(content, list):
        for value in content:
            if isinstance(value, list):
                yield from records_in(value, options, keys, level + 1)
            else:
                yield _with_keys(value, keys, is_named=False)
    elif not isinstance(content, Mapping) or has_text_column(content, options):
        yield _with_keys(content, keys)
    else:
        yield from _below(content, options, keys, level + 1)


def _below(content: Mapping[str, object], options: ReadOptions, keys: tuple[str, ...], level: int) -> Iterator[object]:
    """Yield the records that lie in an object that is none itself."""
    nested = {key: value for key, value in content.items() if isinstance(value, list | Mapping)}
    lists = [value for value in nested.values() if isinstance(value, list) and value]
    telling = {key: value for key, value in nested.items() if _holds_records(value, options, _LEVELS_ABOVE)}
    if len(lists) == 1 and isinstance(lists[0][0], list | Mapping):  # {"status": "ok", "articles": [...]}
        yield from records_in(lists[0], options, keys, level)
    elif len(telling) == 1 and len(content) > 1:  # {"took": 3, "hits": {"hits": [...]}}
        yield from records_in(next(iter(telling.values())), options, keys, level)
    elif telling or (nested and len(nested) == len(content)):
        for key, value in (telling or nested).items():
            yield from records_in(value, options, (*keys, str(key)), level)
    elif content and all(isinstance(value, str) for value in content.values()) and not keys:
        yield from ({"id": key, "text": value} for key, value in content.items())
    else:
        yield _with_keys(content, keys)


def _list_in_answer(content: object, options: ReadOptions) -> object:
    """Return the records in an answer of a service whose title or message would make one text of all."""
    if not isinstance(content, Mapping) or any(isinstance(content.get(name), str) for name in FULL_TEXTS):
        return None
    for name in _LISTS:  # what has no id under "content" may be the paragraphs of one text
        match content.get(name):
            case [Mapping() as first, _, *_] if has_id_column(first) or (
                name != "content" and has_text_column(first, options)
            ):
                return content[name]
    return _list_in_answer(content.get("message"), options)


def _holds_records(value: object, options: ReadOptions, levels: int) -> bool:
    """Say whether a value is a list of records, or an object that is one or holds some."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], Mapping)
    if not isinstance(value, Mapping):
        return False
    inner = levels > 0 and any(_holds_records(inner_value, options, levels - 1) for inner_value in value.values())
    return inner or has_text_column(value, options)


def _with_keys(value: object, keys: tuple[str, ...], *, is_named: bool = True) -> object:
    """Return a record with the keys above it as columns; the keys are its id unless it shares them with others."""
    if not keys or not isinstance(value, Mapping):
        return value
    key_columns = {f"key_{level}": key for level, key in enumerate(keys, 1)}
    return {**key_columns, "id": "/".join(keys), **value} if is_named else {**key_columns, **value}


def _rows_of_table(content: object, options: ReadOptions) -> Iterator[dict[str, object]] | None:
    """Return the rows of a table that is written as lists of cells or as columns; None for anything else."""
    if isinstance(content, list):
        return _rows_of_lists(content, options)
    if not isinstance(content, Mapping) or not content:
        return None
    names, keys = content.get("columns"), content.get("index")
    cells: list[object] = next(
        (list_of_rows for name in ("data", "rows", "values") if isinstance(list_of_rows := content.get(name), list)), []
    )
    if cells and list in (type(names), type(keys)) and not isinstance(cells[0], Mapping):  # "split"
        titles = [name.get("name") if isinstance(name, Mapping) else name for name in names or ["text"]]
        ids = keys if isinstance(keys, list) and len(keys) == len(cells) else [None] * len(cells)
        rows = zip(ids, cells, strict=True)
        return (_row(key, titles, row if isinstance(row, list) else [row]) for key, row in rows)
    columns = list(content.values())
    if all(isinstance(column, list) for column in columns):
        lengths = set(map(len, columns))
        if len(lengths) > 1 or min(lengths) < 2 or all(isinstance(column[0], list | Mapping) for column in columns):
            return None
        return (dict(zip(content, row, strict=True)) for row in zip(*columns, strict=True))
    first = columns[0]
    if not all(isinstance(column, Mapping) and column.keys() == first.keys() for column in columns):
        return None
    is_numbered = all(key.isdigit() for key in first) and not all(key.isdigit() for key in content)
    if not first or has_text_column(first, options) or not (has_text_column(content, options) or is_numbered):
        return None
    return (_row(key, list(content), [column[key] for column in columns]) for key in first)  # "columns"


def _rows_of_lists(rows: list[Any], options: ReadOptions) -> Iterator[dict[str, Any]] | None:
    """Return lists of as many cells as rows, under the names in the first, else under 1, 2, ...."""
    widths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if len(widths) != 1 or min(widths) < 2 or all(isinstance(cell, list | Mapping) for cell in rows[0]):
        return None
    names = rows[0] if all(isinstance(name, str) for name in rows[0]) else []
    has_header = looks_like_header(names, options) or has_id_column(names)
    names = rows[0] if has_header else [str(place) for place in range(1, min(widths) + 1)]
    return (dict(zip(names, row, strict=True)) for row in rows[has_header:])


def _row(key: object, names: Sequence[object], cells: Sequence[object]) -> dict[str, object]:
    """Return a row by its columns, with the key of the row, if it has one, as its id unless a column holds that."""
    row = dict(zip(map(str, names), cells, strict=False))
    return row if key is None or has_id_column(row) else {"id": str(key), **row}


# what lies beside messages, as Slack and Mastodon write it
BESIDE_MESSAGES = re.compile(
    r"(users|channels|groups|dms|mpims|integration_logs|canvases|actor|likes|bookmarks)\.json", re.IGNORECASE
)
_EVENTS = ("channel_", "group_", "bot_add", "bot_remove", "pinned_item", "reminder_", "tombstone")
_REFERENCE = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")  # <@U1>, <#C1|general>, <https://a.example|a page>


def chat_messages(content: object, file: InputFile) -> Iterator[object] | None:
    """Return the messages of a channel of Slack, or of all chats of Telegram; None for anything else."""
    if isinstance(content, list) and content and all(_is_of_slack(item) for item in content):
        return (_of_slack(item, f"{file.name}:{number}", file) for number, item in enumerate(content, 1))
    chats = content.get("chats") if isinstance(content, Mapping) else None
    if not isinstance(chats, Mapping) or not isinstance(chats.get("list"), list):
        return None
    return (
        {"chat": chat.get("name") or "", **message}
        for chat in chats["list"]
        if isinstance(chat, Mapping) and isinstance(chat.get("messages"), list)
        for message in chat["messages"]
        if isinstance(message, Mapping)
    )


def _is_of_slack(item: object) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "message" and isinstance(item.get("ts"), str)


def _of_slack(message: Mapping[str, object], where: str, file: InputFile) -> object:
    """Return a message with its channel and its date, its references as people see them."""
    event = str(message.get("subtype") or "")
    if event.startswith(_EVENTS):
        return Skipped(where, "about-the-collection", f"{event}: not a message but what happened to the channel")
    plain = _REFERENCE.sub(lambda match: match[3] or ("" if match[1] else match[2]), str(message.get("text") or ""))
    return {"channel": file.folder, **message, "text": html.unescape(plain), "date": message["ts"]}
