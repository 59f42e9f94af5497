"""Which column of a table is what, and one row of it as a document; the same for csv, JSON, Parquet and DataFrames."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doccluster.corpus.draft import Draft, ReadFailure, UnknownColumn
from doccluster.corpus.markup import strip_markup
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.text_column import (
    SAMPLED_ROWS,
    TEXT_NAMES,
    above,
    choose_text,
    leaf_names,
    parsed_json,
    plain_name,
    text_in,
    value_at,
)
from doccluster.errors import Argument
from doccluster.validation import is_missing

# Names that columns go by when the user names none, the likeliest first; compared without case, spaces as _.
ID_COLUMNS = ("id", "doc_id", "docid", "document_id", "_id", "uid", "guid", "uuid")
_TITLE = ("title", "headline", "subject")
_AUTHORS = ("authors", "author", "byline", "creator")  # long lists of names, not texts
_DATE = (
    *("date", "datetime", "published", "pubdate", "pub_date", "published_at", "publish_date", "publication_date"),
    *("date_published", "created_at", "created", "timestamp", "time"),
)
_LINK = ("link", "url", "uri", "permalink")
_SOURCE = ("source", "publisher", "publication", "outlet", "feed")
_LABELS = (
    *("class", "label", "labels", "category", "categories", "topic", "topics", "target", "tag", "tags"),
    *("section", "newsgroup", "story", "genre"),
)
# What pandas, R and SQL write for "no value"; a document that is only this word has no text.
_MISSING = frozenset({"", "nan", "NaN", "NaT", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "None"})


@dataclass(frozen=True)
class Columns:
    """The columns that are read from a table, by role."""

    text: tuple[str, ...]
    id: str | None = None
    title: str | None = None
    date: str | None = None
    link: str | None = None
    source: str | None = None
    labels: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    @property
    def needed(self) -> list[str]:
        """Every column that is read, once."""
        single = (self.id, self.title, self.date, self.link, self.source)
        return list(dict.fromkeys([*self.text, *(name for name in single if name), *self.labels, *self.keep]))


def choose_columns(
    names: Sequence[str],
    options: ReadOptions,
    *,
    table: str,
    first_rows: Callable[[], Iterable[Mapping[str, Any]]],
    classes: Sequence[str] = (),
) -> Columns:
    """Return the role of each column, as named by the user, else by its name; of the text, also by the first rows.

    `classes`: the label columns that the table itself names, if the user names none. Raises UnknownColumn if a named
    column is not there, or none looks like the text.
    """
    asked = [options.id_column, options.title_column, options.date_column, options.link_column, options.source_column]
    labels = options.label_names if options.label_names is not None else ()
    named = [name for name in (*options.text_columns, *asked, *labels, *options.kept_columns) if name is not None]
    is_known = bool(options.text_columns) and set(named) <= set(names)
    rows = [] if is_known else list(itertools.islice(first_rows(), SAMPLED_ROWS))
    leaves = leaf_names(names, rows)
    for name in named:
        if name not in names and all(value_at(row, name) is None for row in rows):
            raise UnknownColumn(f"{table} has no column {name!r}", remedy=f"its columns are {listed(leaves)}")
    by_name = {plain_name(name): name for name in reversed(names)}
    others = [_first(usual, by_name) for usual in (ID_COLUMNS, _DATE, _LINK, _SOURCE)]
    authors = (by_name.get(name) for name in _AUTHORS)
    taken = frozenset(filter(None, [*asked, *labels, *others, *authors]))
    text = options.text_columns or choose_text(names, rows, taken)
    if not text:
        raise UnknownColumn(
            f"{table} has no column that reads like a text",
            remedy=("name one with ", Argument("text_column"), f", its columns are {listed(leaves)}"),
        )
    beside = f"{above(text[-1])}."  # the fields beside a text that lies in an object
    by_name = {plain_name(name.removeprefix(beside)): name for name in leaves if name.startswith(beside)} | by_name
    keep = options.kept_columns + tuple(
        name for name in ("split",) if name in names and name not in options.kept_columns
    )
    usual_labels = (by_name[name] for name in _LABELS if name in by_name)
    return Columns(
        text=text,
        id=options.id_column or _first(ID_COLUMNS, by_name),
        title=options.title_column or _first(_TITLE, by_name),
        date=options.date_column or _first(_DATE, by_name),
        link=options.link_column or _first(_LINK, by_name),
        source=options.source_column or _first(_SOURCE, by_name),
        labels=labels
        if options.label_names is not None
        else tuple(name for name in dict.fromkeys([*classes, *usual_labels]) if name not in text),
        keep=keep,
    )


def looks_like_header(names: Sequence[str], options: ReadOptions) -> bool:
    """Say whether a row of cells holds the name of a text column: then it is the header of a table."""
    return bool(set(map(plain_name, names)).intersection(TEXT_NAMES) or set(names).intersection(options.text_columns))


def has_text_column(names: Iterable[str], options: ReadOptions) -> bool:
    """Say whether a record with these keys holds a text: one that was named, else one of the usual names."""
    wanted = set(options.text_columns)
    return bool(wanted.intersection(names)) if wanted else any(plain_name(name) in TEXT_NAMES for name in names)


def _first(candidates: Sequence[str], by_name: Mapping[str, str]) -> str | None:
    return next((by_name[name] for name in candidates if name in by_name), None)


def listed(names: Sequence[str]) -> str:
    """Return the first names for a sentence, which stays readable however many and long they are."""
    shown = [repr(name if len(name) <= 60 else f"{name[:57]}...") for name in names[:30]]
    while len(", ".join(shown)) > 600:
        shown.pop()
    more = len(names) - len(shown)
    return f"{', '.join(shown)} and {more} more" if more else ", ".join(shown) or "none"


def row_draft(row: Mapping[str, Any], columns: Columns, options: ReadOptions, where: str) -> Draft:
    """Return one row as a document; missing cells are empty, never the word nan, and an object is not a text.

    Raises ReadFailure if its text is an object, and no field in it is named like a text.
    """
    parts, title = [_text(row, name) for name in columns.text], _cell(row, columns.title)
    date = _value(row, columns.date) if columns.date else None
    if options.strip_html:
        parts, title = [strip_markup(part) for part in parts], strip_markup(title)
    return Draft(
        text="\n\n".join(part for part in parts if part),
        where=where,
        id=_cell(row, columns.id),
        title=title,
        date=None if isinstance(date, str) and date.strip() in _MISSING else date,
        link=_cell(row, columns.link),
        source=_cell(row, columns.source),
        labels={name: cell_labels(value_at(row, name), options.label_separator) for name in columns.labels},
        extra={name: _cell(row, name) for name in columns.keep},
        text_columns=columns.text,
    )


def _cell(row: Mapping[str, Any], name: str | None) -> str:
    return cell_text(_value(row, name)) if name is not None else ""


def _value(row: Mapping[str, Any], name: str) -> Any:
    return _unwrapped(row[name] if name in row else value_at(row, name))


def _unwrapped(value: Any) -> Any:
    """Return the text in an object, or those in a list of objects; what holds none as it is."""
    text = value if isinstance(value, str) else text_in(value)
    return value if text is None else text


def _text(row: Mapping[str, Any], name: str) -> str:
    value = _value(row, name)
    if isinstance(value, Mapping):
        inner = listed(leaf_names([name], [row]))
        raise ReadFailure("bad-record", f"{name!r} is an object and not a text; name a field in it: {inner}")
    return cell_text(value)


def cell_text(value: Any) -> str:
    """Return a cell as text: lists joined by spaces, whole floats without .0, missing values as nothing.

    >>> cell_text(3.0), cell_text(float("nan")), cell_text(["a", "b"]), cell_text("NaN")
    ('3', '', 'a b', '')
    """
    if isinstance(value, str):
        return "" if len(value) < 8 and value.strip() in _MISSING else value
    if value is None:
        return ""
    if isinstance(value, list | tuple | set):
        return " ".join(filter(None, map(cell_text, value)))
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=str)
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return cell_text(value.tolist())
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def cell_labels(value: Any, separator: str | None = None) -> tuple[str, ...]:
    """Return the labels in a cell: none, one, or several (a list, a list written as JSON, or text cut at `separator`).

    >>> cell_labels(["earn", "acq"]), cell_labels("a;b", ";"), cell_labels(None)
    (('earn', 'acq'), ('a', 'b'), ())
    >>> cell_labels('["earn", "acq"]'), cell_labels("[sic]")
    (('earn', 'acq'), ('[sic]',))
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple | set):
        return tuple(text for text in (cell_text(_unwrapped(one)).strip() for one in value) if text)
    text = cell_text(_unwrapped(value)).strip()
    if separator is None and text.startswith("["):
        items = parsed_json(text)  # words or numbers that a cell of a csv holds
        if isinstance(items, list) and all(isinstance(item, str | int | float) for item in items):
            return cell_labels(items)
    if separator and separator in text:
        return tuple(part for part in (one.strip() for one in text.split(separator)) if part)
    return (text,) if text else ()
