"""JSON Lines, and JSON files: an array of records or texts, one record, or records nested below keys."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from doccluster.corpus.columns import choose_columns, has_text_column, row_draft
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure, record
from doccluster.corpus.feeds import is_json_feed, read_json_feed
from doccluster.corpus.format import Beginning, Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.reader_options import ReadOptions

_FIRST_RECORDS = 200  # a column is known once one of these has it
_MOST_LEVELS = 32  # of lists and keys above a record; deeper values are not records
_BAD_JSON = (ValueError, RecursionError)
_LINES_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")
_JSON_SUFFIXES = (".json", ".jsonfeed", ".geojson")


def read_json_lines(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return one document for each line that holds a record or a text; other lines are listed as skipped."""
    yield from _drafts(_line_values(file, options), file, options)


def _line_values(file: InputFile, options: ReadOptions) -> Iterator[tuple[str, Any] | Skipped]:
    """Return the value of each line and where it is, and the lines that hold none."""
    for number, line in enumerate(file.lines(options.document_bytes), 1):
        where = f"{file.name}:{number}"
        if line is None:
            yield Skipped(where, "too-long", f"a line of more than {options.document_bytes:,} bytes")
        elif line.strip("\ufeff\x1e \t\r\n"):  # \x1e: records of RFC 7464
            try:
                yield where, json.loads(line.strip("\ufeff\x1e \t\r\n"), strict=False)
            except _BAD_JSON as error:
                yield Skipped(where, "bad-json", str(error))


def read_json(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the records of a JSON file; a JSON Feed is read as a feed.

    Records may lie in an array, in the only array of an object, or below one or more levels of keys. The keys are then
    columns named key_1, key_2, ..., which may be labels or be kept.
    """
    try:
        content = json.loads(file.text(), strict=False)
    except _BAD_JSON as error:
        raise ReadFailure("bad-json", str(error)) from error
    if is_json_feed(content):
        yield from read_json_feed(content, file)
        return
    values = ((f"{file.name}:{number}", value) for number, value in enumerate(_records(content, options), 1))
    yield from _drafts(values, file, options)


def _records(content: Any, options: ReadOptions, keys: tuple[str, ...] = (), level: int = 0) -> Iterator[Any]:
    if level > _MOST_LEVELS:
        yield content
    elif isinstance(content, list):
        for value in content:
            if isinstance(value, list):
                yield from _records(value, options, keys, level + 1)
            else:
                yield _with_keys(value, keys, is_named=False)
    elif not isinstance(content, Mapping) or has_text_column(content, options):
        yield _with_keys(content, keys)
    else:
        nested = {key: value for key, value in content.items() if isinstance(value, list | Mapping)}
        lists = [value for value in nested.values() if isinstance(value, list) and value]
        if len(lists) == 1 and isinstance(lists[0][0], Mapping):  # {"status": "ok", "articles": [...]}
            yield from _records(lists[0], options, keys, level + 1)
        elif nested and len(nested) == len(content):
            for key, value in nested.items():
                yield from _records(value, options, (*keys, str(key)), level + 1)
        elif content and all(isinstance(value, str) for value in content.values()) and len(keys) == 0:
            yield from ({"id": key, "text": value} for key, value in content.items())
        else:
            yield _with_keys(content, keys)


def _with_keys(value: Any, keys: tuple[str, ...], *, is_named: bool = True) -> Any:
    """Return a record with the keys above it as columns; the keys are its id unless it shares them with others."""
    if not keys or not isinstance(value, Mapping):
        return value
    named = {f"key_{level}": key for level, key in enumerate(keys, 1)}
    return {**named, "id": "/".join(keys), **value} if is_named else {**named, **value}


def _drafts(
    values: Iterator[tuple[str, Any] | Skipped], file: InputFile, options: ReadOptions
) -> Iterator[Draft | Skipped]:
    """Return records as documents; the columns are chosen from the keys of the first records together."""
    first = list(itertools.islice(values, _FIRST_RECORDS))
    records = (value[1] for value in first if not isinstance(value, Skipped))
    names = list(dict.fromkeys(str(key) for one in records if isinstance(one, Mapping) for key in one))
    columns = choose_columns(names, options, table=file.name) if names else None
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
    if not beginning.is_json or beginning.name.endswith(_LINES_SUFFIXES):
        return beginning.is_json
    first, _, rest = beginning.text.partition("\n")
    if not beginning.text.startswith("{") or not _is_json(first):
        return False
    return rest.lstrip().startswith("{") or not beginning.name.endswith(_JSON_SUFFIXES)


def _is_json_file(beginning: Beginning) -> bool:
    begins_so = re.match(r'\{\s*"|\[\s*[\[{"]', beginning.text) is not None
    return beginning.is_json and (begins_so or beginning.name.endswith(_JSON_SUFFIXES))


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except _BAD_JSON:
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
