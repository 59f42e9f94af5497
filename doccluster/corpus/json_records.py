"""JSON Lines, and JSON files: an array of records or texts, one record, or records nested below keys."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from doccluster.corpus.columns import choose_columns, row_draft
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, failure_listed, record
from doccluster.corpus.feeds import is_json_feed, read_json_feed
from doccluster.corpus.format import Beginning, Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.json_shapes import BAD_JSON, JSON_TEXT, json_values, records_in, why_not_json
from doccluster.corpus.reader_options import ReadOptions

_FIRST_RECORDS = 200  # a column is known once one of these has it
_AROUND_LINE = "\ufeff\x1e \t\r\n"  # \x1e: records of RFC 7464
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
        elif line.strip(_AROUND_LINE):
            try:
                yield where, JSON_TEXT.decode(line.strip(_AROUND_LINE))
            except BAD_JSON as error:
                yield Skipped(where, "bad-json", why_not_json(error))


def read_json(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the records of a JSON file; a JSON Feed is read as a feed.

    Records may lie in an array, in the only array of an object, or below one or more levels of keys. The keys are then
    columns named key_1, key_2, ..., which may be labels or be kept. A table may be written in each of the orientations
    of pandas, and values may stand one after the other.
    """
    values = failure_listed(json_values(file.text()), file.name)
    first = list(itertools.islice(values, 2))
    if len(first) == 1 and not isinstance(first[0], Skipped) and is_json_feed(first[0]):
        yield from read_json_feed(first[0], file)
        return
    # of several values each is a record, whatever it holds
    several = len(first) > 1 and not isinstance(first[1], Skipped)
    records = (
        record
        for value in itertools.chain(first, values)
        for record in ([value] if isinstance(value, Skipped | Mapping) and several else records_in(value, options))
    )
    numbered = enumerate(records, 1)
    yield from _drafts(
        (one if isinstance(one, Skipped) else (f"{file.name}:{number}", one) for number, one in numbered), file, options
    )


def _drafts(
    values: Iterator[tuple[str, Any] | Skipped], file: InputFile, options: ReadOptions
) -> Iterator[Draft | Skipped]:
    """Return records as documents; the columns are chosen from the keys of the first records together."""
    first = list(itertools.islice(values, _FIRST_RECORDS))
    records = (value[1] for value in first if not isinstance(value, Skipped))
    rows = [one for one in records if isinstance(one, Mapping)]
    names = list(dict.fromkeys(str(key) for row in rows for key in row))
    columns = choose_columns(names, options, table=file.name, first_rows=lambda: rows) if names else None
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
    first, _, rest = beginning.text.partition("\n")
    if beginning.is_json and beginning.name.endswith(_LINES_SUFFIXES):
        return not rest or first.rstrip().endswith("}") or _is_json(first)  # else it is pretty-printed
    if not beginning.text.startswith("{") or not _is_json(first):
        return False
    return rest.lstrip().startswith("{") or not beginning.name.endswith(_JSON_SUFFIXES)


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
