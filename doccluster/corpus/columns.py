"""Which column of a table is what, and one row of it as a document; the same for csv, JSON, Parquet and DataFrames.

That of the text is judged by its name and by how much prose its first rows hold; that of the date by its name, else by
whether it holds dates. Columns may lie in objects: `content.body` is the value of `body` in the object `content`.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from doccluster.base.text_table import in_one_line
from doccluster.base.validation import is_missing
from doccluster.corpus._written_cells import items_of_list, text_of_index, without_placeholder
from doccluster.corpus.column_names import (
    AUTHORS,
    LABELS,
    PLAIN_IDS,
    SNIPPETS,
    TABLE,
    TEXT_NAMES,
    TEXT_TIERS,
    USUAL,
    UniqueNames,
    by_plain_name,
    plain_name,
    usual_column,
)
from doccluster.corpus.dates import OPEN, DateReading, date_value, iso_date, read_date
from doccluster.corpus.markup import strip_markup
from doccluster.corpus.reader import Draft, ReadFailure, UnknownColumn
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import Argument

# the value in an object that is one
_WRAPPED = ("rendered", "value", "main", "#text", "$t", "$oid", "$date", "name", "datetime")
SAMPLED_ROWS = 100
_MAX_CELLS = 20_000  # of the sample: of very wide tables ten rows are enough
_SAMPLED_CHARACTERS = 2_000  # of a cell
SHORTEST_PROSE = 25  # characters on average, of a column that is taken for its length alone
# A column replaces one with a usual name with this many times the prose of a full text, of a short one, of one in an
# object, of a title.
TIMES = (20, 5, 5, 2)
MAX_KEPT_COLUMNS = 100  # of a table, where you name none
MAX_MEDIAN_LENGTH = 200  # characters of the values of a column that is kept
_MAX_LEVELS = 4  # of objects in objects
_MAX_FIELDS = 200  # of the objects in a column; in others keys are names of things, not of fields
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")  # not 007, which is a name, nor what no int64 holds
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)\S*|\S+@\S+", re.IGNORECASE)
_JSON_SOURCE = re.compile(r"""\s*(?:\{\s*["'}]|\[\s*[\[{]).*[}\]]\s*""", re.DOTALL)
_BLANK_END = re.compile(r"\A[^\S\n]|[^\S\n]\Z")
_PIECES = frozenset(TABLE["pieces"])
_NO_LETTERS = re.compile(r"[0-9!-/:-@\[-`{-~]")
_OTHER_DAY = re.compile(TABLE["other_days"], re.IGNORECASE)  # no day of a document


def value_at(row: Mapping[str, object], name: str) -> object:
    """Return the value of a column, which may lie in an object, or in each object of a list; None without one.

    >>> row = {"content": {"body": "Rain."}, "parts": [{"text": "a"}, {"text": "b"}]}
    >>> value_at(row, "content.body"), value_at(row, "parts.text"), value_at(row, "title")
    ('Rain.', ['a', 'b'], None)
    """
    if name in row:
        return text_of_index(row[name])
    head, dot, inner_name = name.partition(".")
    inner = row.get(head) if dot else None
    if isinstance(inner, str) and is_json_source(inner):
        inner = parsed_json(inner)
    if isinstance(inner, list):
        return [value_at(item, inner_name) for item in inner if isinstance(item, Mapping)]
    return value_at(inner, inner_name) if isinstance(inner, Mapping) else None


def parsed_json(text: str) -> object:
    """Return the value that a text is as JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def leaf_names(names: Iterable[str], rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the columns, and in place of those that hold objects the columns in these."""
    leaves: dict[str, None] = {}
    for name in names:
        inner = dict.fromkeys(path for row in rows for path in _paths(row.get(name), name, _MAX_LEVELS))
        leaves |= inner if 0 < len(inner) <= _MAX_FIELDS else {name: None}
    return list(leaves)


def _paths(value: object, name: str, levels: int) -> Iterator[str]:
    if isinstance(value, Mapping) and levels and not isinstance(text_of_index(value), str):
        for key, inner in value.items():
            yield from _paths(inner, f"{name}.{key}", levels - 1)
    elif value is not None:
        yield name


def prose_length(values: Sequence[object]) -> float:
    """Return the mean number of characters of the texts among cells, each text counted once.

    Links, dates, numbers, objects and JSON are not texts; an identifier or a single word counts as one character.

    >>> prose_length(["The ferry sails.", "The ferry sails."]), prose_length(["2024-05-01", "http://a.b/c", 7])
    (8.0, 0.0)
    """
    texts = {_as_text(value)[:_SAMPLED_CHARACTERS] for value in values if not is_json_source(value)}
    return sum(map(_prose_of, texts)) / max(len(values), 1)


def is_like_its_cells(name: str, rows: Sequence[Mapping[str, object]]) -> bool:
    """Say whether the name of a column is as much of a text as its cells are: then it may well be one of them."""
    return prose_length([name]) >= max(SHORTEST_PROSE, prose_length([row.get(name) for row in rows]) / 2)


def _as_text(value: object) -> str:
    if isinstance(value, list | tuple):
        value = " ".join(value) if all(isinstance(item, str) for item in value) else text_in(value)
    return value.strip() if isinstance(value, str) else ""


def _prose_of(text: str) -> int:
    start = text[:200]
    if not text or _ADDRESS.fullmatch(text) or len(_NO_LETTERS.findall(start)) > len(start) / 2:
        return 0
    if text.isascii() and len(text.split(maxsplit=1)) == 1:
        return 1
    return 0 if len(text) < 40 and iso_date(text) else len(text)


def is_json_source(value: object) -> bool:
    """Say whether a cell is an object, or the source of an object or of a list of objects or lists (or Python's).

    >>> is_json_source('{"a": 1}'), is_json_source('["a"]'), is_json_source("[sic]")
    (True, False, False)
    """
    if not isinstance(value, str):
        return isinstance(value, Mapping)
    return value.lstrip()[:1] in ("{", "[") and _JSON_SOURCE.fullmatch(value) is not None


def text_in(value: object) -> object:
    """Return the text in an object, or those in a list of objects; other cells as they are. None without one.

    >>> text_in(["Sk", {"type": "bold", "text": "er"}, "row"]), text_in([{"text": "One."}, {"text": "Two."}])
    ('Skerrow', 'One.\\nTwo.')
    """
    if isinstance(value, Mapping):
        by_name = {plain_name(str(key)): value[key] for key in reversed([*value])}
        return next((text_in(by_name[name]) for name in (*TEXT_NAMES, *_WRAPPED) if name in by_name), None)
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        texts = [text for item in value if isinstance(text := text_in(item), str)]
        # pieces of one text stand beside strings, or have blanks at their ends, or say what they are
        kinds = {str(item.get("type")) if isinstance(item, Mapping) else None for item in value}
        is_rich = None in kinds or kinds <= _PIECES or any(map(_BLANK_END.search, texts))
        return ("" if is_rich else "\n").join(texts)
    return value


def choose_text(
    names: Sequence[str], rows: Sequence[Mapping[str, object]], unavailable: Collection[str]
) -> tuple[str, ...]:
    """Return the columns that hold the text; none where nothing says which.

    The usual names decide, unless another column has many times the prose (`TIMES`). A column without a usual name
    needs `SHORTEST_PROSE`. A title goes with a snippet. `unavailable`: columns that hold something else.
    """
    leaves = leaf_names(names, rows)
    rows = rows[: max(10, _MAX_CELLS // max(len(leaves), 1))]
    lengths = {name: prose_length([value_at(row, name) for row in rows]) for name in leaves if name not in unavailable}
    by_prose = sorted(lengths, key=lambda name: -lengths[name])
    top = frozenset(names)
    tiers = {name: place for name in leaves if (place := _place_among_names(name, is_inner=name not in top))}
    usual = min((name for name in tiers if not _is_structured(name, rows)), key=tiers.__getitem__, default=None)
    least = 0.0 if usual is None else TIMES[tiers[usual][0]] * lengths.get(usual, 0.0)
    if by_prose and lengths[by_prose[0]] >= max(least, SHORTEST_PROSE):
        usual = by_prose[0]
    elif usual is None and len(names) == 1 and not _is_structured(names[0], rows):
        usual = names[0]
    if usual is None:
        return ()
    title = next((name for name in leaves if _word(name) in TEXT_TIERS[2] and above(name) == above(usual)), None)
    return (title, usual) if title is not None and _word(usual) in map(plain_name, SNIPPETS) else (usual,)


def above(name: str) -> str:
    """Return the column that holds the object in which a column lies; empty for one of the table itself."""
    return name.rpartition(".")[0]


def _word(name: str) -> str:
    """Return the telling part of the name of a column: the last, or that before `rendered` and its like."""
    parts = [plain_name(part) for part in name.split(".")]
    return parts[-2] if len(parts) > 1 and parts[-1] in _WRAPPED else parts[-1]


def _place_among_names(name: str, *, is_inner: bool) -> tuple[int, int] | None:
    """Return how likely a usual name is that of the text, the lowest first; None for another name."""
    word = _word(name)
    for tier, words in enumerate(TEXT_TIERS):
        if word in words:
            return (2 if is_inner else 0, 1, 3)[tier], words.index(word)
    return None


def _is_structured(name: str, rows: Sequence[Mapping[str, object]]) -> bool:
    """Say whether a column holds objects or their source in JSON, and nothing else."""
    values = [value for row in rows if cell_text(value := value_at(row, name))]
    return bool(values) and all(map(is_json_source, values))


# The columns of a corpus and of assignments.csv, whose names no column of a source takes.
OWN_COLUMNS = {
    *("id", "text", "title", "date", "source", "link", "file", "cluster", "similarity", "runner_up", "margin"),
    *("family", "first", "other", "moves_to", "section", "topic", "subtopic", "story"),
    *("cluster_1", "membership_1", "cluster_2", "membership_2", "cluster_3", "membership_3"),
}
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
    date_remark: str = ""  # which columns hold dates, where no name says which is the date

    @property
    def needed(self) -> list[str]:
        """Every column that is read, once."""
        single = (self.id, self.title, self.date, self.link, self.source)
        return list(dict.fromkeys([*self.text, *(name for name in single if name), *self.labels, *self.keep]))

    @cached_property
    def kept_names(self) -> dict[str, str]:
        """What each column to keep is called in the corpus."""
        return kept_names(self.keep)

    @cached_property
    def renamed(self) -> tuple[str, ...]:
        """The new names of those that could not stay in one line."""
        return tuple(new for name, new in self.kept_names.items() if in_one_line(name) != name)


def choose_columns(
    names: Sequence[str],
    options: ReadOptions,
    *,
    table: str,
    first_rows: Iterable[Mapping[str, object]],
    classes: Sequence[str] = (),
) -> Columns:
    """Return the role of each column, as named by the user, else by its name; of the text, also by the first rows.

    An empty name says that no column has a role.
    """
    named = {role: getattr(options, f"{role}_column") for role in USUAL}
    labels = options.label_names if options.label_names is not None else ()
    names_chosen = (*options.text_columns, *named.values(), *labels, *options.kept_columns)
    rows = list(itertools.islice(first_rows, SAMPLED_ROWS))
    leaves = leaf_names(names, rows)
    for name in names_chosen:
        if name and name not in names and all(value_at(row, name) is None for row in rows):
            raise UnknownColumn(f"{table} has no column {name!r}", remedy=f"its columns are {listed(leaves)}")
    given = {role: name for role, name in named.items() if name is not None}
    by_name = by_plain_name(names)
    usual_columns = [usual_column(role, by_name) for role in USUAL if role != "title"]
    authors = (by_name.get(name) for name in AUTHORS)
    unavailable = frozenset(filter(None, [*named.values(), *labels, *usual_columns, *authors]))
    text = options.text_columns or choose_text(names, rows, unavailable)
    if not text:
        raise UnknownColumn(
            f"{table} has no column that reads like a text",
            remedy=("name one with ", Argument("text_column"), f", its columns are {listed(leaves)}"),
        )
    beside = f"{above(text[-1])}."  # the fields beside a text that lies in an object
    inner_names = {name.removeprefix(beside): name for name in leaves if name.startswith(beside)}
    by_name = {name: inner_names[inner] for name, inner in by_plain_name(list(inner_names)).items()} | by_name
    usual_labels = (by_name[name] for name in LABELS if by_name.get(name) not in (None, *options.dropped_columns))
    if options.label_names is None:
        labels = tuple(name for name in dict.fromkeys([*classes, *usual_labels]) if name not in text)
    roles: dict[str, Any] = {role: usual_column(role, by_name) for role in USUAL} | given
    columns = replace(Columns(text, labels=labels), **roles)
    before: dict[str, Any] = {role: usual_column(role, by_name, further=False) for role in USUAL} | given
    cells = [cell for row in rows if columns.date and not is_missing_cell(cell := _value(row, columns.date))]
    if columns.date != before["date"] and cells and not any(read_date(cell) != DateReading() for cell in cells):
        columns = replace(columns, date=None)  # `updated` may say yes or no
    if columns.date is None:
        columns = _with_dates(columns, leaves, rows)
    # a column that 1.0 kept under its own name stays, whatever it is taken for today
    return replace(columns, keep=_kept_columns(leaves, rows, replace(columns, **before).needed, options))


def _with_dates(columns: Columns, names: Sequence[str], rows: Sequence[Mapping[str, object]]) -> Columns:
    """Return the columns with that of the date by what it holds, where there is just one, or a remark on several."""
    rows = rows[: max(10, _MAX_CELLS // max(len(names), 1))]
    shares = {name.removesuffix(".$date"): _share_of_dates(name, rows) for name in names if name not in columns.needed}
    dated = [name for name, share in shares.items() if share]
    if not dated:
        return columns
    first = dated[0]
    is_near = any(first in row for row in rows) or above(first) == above(columns.text[-1])
    is_sure = is_near and shares[first] >= 0.5 and not _OTHER_DAY.search(first)
    if len(dated) == 1 and is_sure:
        return replace(columns, date=first, date_remark=f"The column {first!r} holds dates and is read as the date.")
    what = f"columns {listed(dated)} hold dates; if one" if len(dated) > 1 else f"column {first!r} holds dates; if it"
    option = shlex.quote(f"date={first}")
    return replace(columns, date_remark=f"The {what} is that of the documents: --column {option}.")


def _share_of_dates(name: str, rows: Sequence[Mapping[str, object]]) -> float:
    """Return in which share of the rows a column has a date; 0 where a tenth of its cells are something else."""
    cells = [cell for row in rows if not is_missing_cell(cell := date_value(value_at(row, name)))]
    if not any(map(_is_day, cells[:5])):
        return 0.0
    return len(cells) / len(rows) if sum(map(_is_day, cells)) > 0.9 * len(cells) else 0.0


def is_missing_cell(cell: object) -> bool:
    """Say whether a cell is empty, or the word that a program writes for that."""
    return cell is None or (isinstance(cell, str) and cell.strip() in _MISSING)


def _is_day(cell: object) -> bool:
    """Say whether a cell is the date of a day or month; no number is, which may be anything."""
    if not isinstance(cell, str):
        return isinstance(cell, dt.date) or type(cell).__name__ == "datetime64"
    reading = read_date(cell)
    return not cell.strip().isdecimal() and not _NUMBER.fullmatch(cell) and bool(reading.order == OPEN or reading.iso)


def is_value(cell: str) -> bool:
    """Say whether a cell is a number or a date."""
    return _NUMBER.fullmatch(cell) is not None or _is_day(cell)


def _kept_columns(
    leaves: Sequence[str], rows: Sequence[Mapping[str, object]], needed: Sequence[str], options: ReadOptions
) -> tuple[str, ...]:
    """Return the columns to keep as they are: those that were named, and all short ones without another role."""
    keep = dict.fromkeys(options.kept_columns)
    if "split" in leaves:
        keep["split"] = None
    if "all" not in options.dropped_columns:
        dropped = {*options.dropped_columns, *needed}
        short = (name for name in leaves if name not in dropped and _is_short(name, rows))
        keep |= dict.fromkeys(itertools.islice(short, MAX_KEPT_COLUMNS))
    return tuple(keep)


def _is_short(name: str, rows: Sequence[Mapping[str, object]]) -> bool:
    """Say whether a column holds values, neither objects nor texts of more than 200 characters in the median."""
    values = [value for row in rows if cell_text(value := value_at(row, name))]
    if any(is_json_source(value) or isinstance(value, bytes) for value in values):
        return False
    if any(isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value) for value in values):
        return False
    lengths = sorted(len(cell_text(value)) for value in values)
    return not lengths or lengths[len(lengths) // 2] <= MAX_MEDIAN_LENGTH


def looks_like_header(names: Sequence[str], options: ReadOptions) -> bool:
    """Say whether a row of cells holds the name of a text column: then it is the header of a table."""
    return bool(set(map(plain_name, names)).intersection(TEXT_NAMES) or set(names).intersection(options.text_columns))


def has_text_column(names: Iterable[str], options: ReadOptions) -> bool:
    """Say whether a record with these keys holds a text: one that was named, else one of the usual names."""
    if options.text_columns:
        return not set(options.text_columns).isdisjoint(names)
    return any(plain_name(name) in TEXT_NAMES for name in names)


def has_id_column(names: Iterable[str]) -> bool:
    """Say whether one of the names is that of a column of ids."""
    return not PLAIN_IDS.isdisjoint(map(plain_name, names))


def listed(names: Sequence[str]) -> str:
    """Return the first names for a sentence, which stays readable however many and long they are."""
    shown = [repr(name if len(name) <= 60 else f"{name[:57]}...") for name in names[:30]]
    while len(", ".join(shown)) > 600:
        shown.pop()
    n_more = len(names) - len(shown)
    return f"{', '.join(shown)} and {n_more} more" if n_more else ", ".join(shown) or "none"


def row_draft(row: Mapping[str, object], columns: Columns, options: ReadOptions, where: str) -> Draft:
    """Return one row as a document; missing cells are empty, never the word nan, and an object is not a text."""
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
        extra={new: _cell(row, name) for name, new in columns.kept_names.items()},
        text_columns=columns.text,
        renamed_columns=columns.renamed,
        date_remark=columns.date_remark,
    )


def kept_name(name: str) -> str:
    """Return the name of a source's column beside those doccluster writes: "source.file" for a column "file".

    >>> kept_name("party"), kept_name("file")
    ('party', 'source.file')
    """
    # half a character, as JSON can name it, no file holds; a line end would be a row of a table
    name = in_one_line(name.encode("utf-8", "backslashreplace").decode())
    return f"source.{name}" if name in OWN_COLUMNS else name


def kept_names(names: Iterable[str]) -> dict[str, str]:
    r"""Return `kept_name` of each of several columns, none of them twice.

    >>> kept_names(["a\nb", "a b"])
    {'a\nb': 'a b.2', 'a b': 'a b'}
    """
    taken = UniqueNames(".")
    chosen = {name: taken.take(kept_name(name)) for name in sorted(names, key=lambda name: kept_name(name) != name)}
    return {name: chosen[name] for name in names}


def _cell(row: Mapping[str, object], name: str | None) -> str:
    return cell_text(_value(row, name)) if name else ""


def _value(row: Mapping[str, object], name: str) -> object:
    return _unwrapped(value_at(row, name))


def _unwrapped(value: object) -> object:
    """Return the text in an object, or those in a list of objects; what holds none as it is."""
    text = value if isinstance(value, str) else text_in(value)
    return value if text is None else text


def _text(row: Mapping[str, object], name: str) -> str:
    value = _value(row, name)
    if isinstance(value, Mapping):
        inner = listed(leaf_names([name], [row]))
        raise ReadFailure("bad-record", f"{name!r} is an object and not a text; name a field in it: {inner}")
    return without_placeholder(cell_text(value))


def cell_text(value: object) -> str:
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
    if hasattr(value, "tolist"):  # numpy scalars and arrays, but a moment would be a number
        return cell_text(str(value) if type(value).__name__ == "datetime64" else value.tolist())
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def type_of(values: Iterable[str]) -> type:
    """Return the type of a column from its cells: int, float or bool where all that are not empty are, else str.

    >>> type_of(["1", "", "20"]), type_of(["1", "2.5"]), type_of(["True", "False"]), type_of(["007", "8"])
    (<class 'int'>, <class 'float'>, <class 'bool'>, <class 'str'>)
    """
    cells = set(values) - {""}
    if cells and cells <= {"True", "False", "true", "false"}:
        return bool
    if cells and all(_INTEGER.fullmatch(cell) for cell in cells):
        return int
    return float if cells and all(_NUMBER.fullmatch(cell) for cell in cells) else str


def typed_value(cell: str | None, kind: type) -> object:
    """Return a cell as a value of the type of its column; None for an empty one."""
    if not cell:
        return None
    return cell.lower() == "true" if kind is bool else kind(cell)


def cell_labels(value: object, separator: str | None = None) -> tuple[str, ...]:
    """Return the labels in a cell: none, one, or several (a list, also of JSON or Python, or text cut at `separator`).

    >>> cell_labels(["earn", "acq"]), cell_labels("a;b", ";"), cell_labels(None)
    (('earn', 'acq'), ('a', 'b'), ())
    >>> cell_labels('["earn", "acq"]'), cell_labels("['earn' 'acq']"), cell_labels("[sic]")
    (('earn', 'acq'), ('earn', 'acq'), ('[sic]',))
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple | set):
        return tuple(text for text in (cell_text(_unwrapped(item)).strip() for item in value) if text)
    text = cell_text(_unwrapped(value)).strip()
    if separator is None and text.endswith(("]", ")", "}")):
        items = parsed_json(text) if text[0] == "[" else None  # words or numbers that a cell of a csv holds
        if isinstance(items, list) and all(isinstance(item, str | int | float) for item in items):
            return cell_labels(items)
        if (written := items_of_list(text)) is not None:
            return cell_labels(written)
    if separator and separator in text:
        return tuple(part for part in (piece.strip() for piece in text.split(separator)) if part)
    return (text,) if text else ()
