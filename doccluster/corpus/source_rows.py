"""The rows of a source, some of which give no document: what they are called, and the types of their columns.

Here alone stands how something with a row for each document (labels, classes, embeddings) is put in their order: by
name where it has names, which only pandas has, else by place.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.validation import is_missing
from doccluster.corpus.columns import cell_text, type_of, typed_value
from doccluster.corpus.reader import Draft
from doccluster.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?")
_PLAIN = (Number, np.generic, date, timedelta)
_NULLABLE: dict[type, Any] = {int: "Int64", bool: "boolean"}
PART_COLUMNS = ("part_of", "part", "words")  # of a row that is a part of a document


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of a source, and which of them are documents."""

    n_rows: int
    places: Integers  # of each document among the rows, ascending
    index: Any = None  # what the rows are called: the index of a frame, or an array of numbers where no ids are either
    has_ids: bool = False  # from a column or a file, which are then the index of tables
    # of a source in memory as they came, an array of pandas or of objects; None for text, whatever it looks like
    columns: Mapping[str, Any] = field(default_factory=dict)
    whole: SourceRows | None = None  # those of the documents, where documents stand in parts
    document_of: Integers | None = None  # and the document that each part is of

    @classmethod
    def of_documents(cls, n_documents: int, before_skipped: Sequence[int] = ()) -> SourceRows:
        """Return the rows of a source whose documents have ids, from how many of them come before each other row."""
        documents = np.arange(n_documents)
        places = documents + np.searchsorted(np.sort(before_skipped), documents, side="right")
        return cls(n_documents + len(before_skipped), places, has_ids=True)

    @classmethod
    def recorded(cls, record: Mapping[str, Any], n_documents: int) -> SourceRows:
        """Return the rows that `record` tells of. Raises ValueError if they do not fit that many documents."""
        if "parts" in record:
            n_parts = np.array(record["parts"], np.int64)
            if n_parts.sum() != n_documents or n_parts.min(initial=1) < 1:
                raise ValueError("it tells of other parts than there are")
            whole = cls.recorded({name: record[name] for name in record if name != "parts"}, n_parts.size)
            return whole.in_parts(np.repeat(np.arange(n_parts.size), n_parts))
        n_rows = n_documents + len(record["skipped"])
        places = np.delete(np.arange(n_rows), np.array(record["skipped"], np.int64))
        if len(places) != n_documents:
            raise ValueError("rows that were skipped come twice")
        index = np.arange(n_rows) if record["are_numbered"] else None
        return cls(n_rows, places, index, has_ids=index is None, columns=dict.fromkeys(record["texts"]))

    @property
    def record(self) -> dict[str, object]:
        """Which rows were skipped, whether numbers name the rows, and which columns are texts, for JSON."""
        if self.whole is not None and self.document_of is not None:
            return {**self.whole.record, "parts": np.bincount(self.document_of).tolist()}
        return {
            "skipped": np.setdiff1d(np.arange(self.n_rows), self.places).tolist(),
            "are_numbered": not self.has_ids and _is_usual(self.index),
            "texts": [name for name, values in self.columns.items() if values is None],
        }

    def in_parts(self, document_of: Integers) -> SourceRows:
        """Return rows that are parts of these documents, named by ids, each with the columns of its document."""
        named = {name_beside_parts(name): values for name, values in self.columns.items()}
        columns: dict[str, Any] = {
            name: None if values is None else values[document_of] for name, values in named.items()
        }
        places = np.arange(document_of.size)
        columns["part_of"] = None
        return SourceRows(places.size, places, has_ids=True, columns=columns, whole=self, document_of=document_of)

    def take(self, documents: Integers) -> SourceRows:
        """Return some of the documents, which are all rows there are."""
        columns = {name: None if values is None else values[documents] for name, values in self.columns.items()}
        index = None if self.index is None else self.index.take(self.places[documents])
        return replace(self, n_rows=len(documents), places=np.arange(len(documents)), index=index, columns=columns)

    def index_for(self, ids: Sequence[str]) -> pd.Index:
        """Return the index of a table with a row for each document."""
        import pandas as pd

        if self.has_ids:
            return pd.Index(list(ids), name="id", dtype=object)
        index: pd.Index = pd.Index(self.index) if isinstance(self.index, np.ndarray) else self.index
        return index.copy() if len(self.places) == self.n_rows else index.take(self.places)

    def column(self, name: str, cells: Sequence[str]) -> pd.Series:
        """Return a column of the source as it came, else as what its cells, which are text, are."""
        import pandas as pd

        if name not in self.columns:
            return typed_column(cells)
        values = self.columns[name]
        if values is None:
            return pd.Series(list(cells), dtype=object)
        column = pd.Series(values)
        if not isinstance(values, np.ndarray):
            return column
        kinds = {type(value) for value in values if not is_missing(value)}
        if len(kinds) == 1 and column.isna().any():
            with suppress(OverflowError):
                return column.astype(_NULLABLE.get(kinds.pop(), object)).infer_objects()
        return column.infer_objects()

    def in_order(self, table: Any, name: str, ids: Sequence[str] = (), *, index: Any = None) -> Any:
        """Return the row of each document in something that has one for each, or in each of a mapping of these.

        Rows are taken by the index, which is that of `table` or given, where it has names, else by their places. What
        has no rows to pick (a name, None, vectors with their own ids) is returned as it is.

        Raises InputError if an index has only some of the documents, or one twice; if rows go by place, and there are
        neither as many as documents nor as many as rows came in.
        """
        if isinstance(table, Mapping):
            return {column: self.in_order(values, str(column), ids) for column, values in table.items()}
        table = table.compute() if hasattr(type(table), "compute") else table  # of dask
        n_rows = n_rows_of(table)
        if isinstance(table, str) or n_rows is None:
            return table
        index = names_of(table) if index is None else index
        rows = None if index is None else self._rows_by_name(names_in(index), ids, name)
        if rows is None:
            rows, n_documents = self.places, len(self.places)
            if n_rows == n_documents:
                return table
            if n_rows != self.n_rows:
                also = f" ({self.n_rows - n_documents:,} more were skipped)" if self.n_rows > n_documents else ""
                also += "" if index is None else ", and its index names none of them"
                raise InputError(
                    f"{name} has {n_rows:,} rows for {n_documents:,} documents{also}",
                    remedy="give a row for each in their order, or the ids beside the rows",
                )
        if hasattr(table, "iloc"):
            return table.iloc[rows]
        if hasattr(table, "to_pylist"):  # of pyarrow
            return table.take(rows)
        return table[rows] if hasattr(table, "shape") else [table[row] for row in rows.tolist()]

    def _rows_by_name(self, names: list[str], ids: Sequence[str], name: str) -> Integers | None:
        """Return the row of each document by its name; None where order says it, or no name is one of a document."""
        all_names = list(ids) if self.index is None else names_in(self.index)
        own_names = all_names if self.index is None else [all_names[place] for place in self.places.tolist()]
        row_of = {each: row for row, each in enumerate(names)}
        if names in (all_names, own_names, list(ids)) or row_of.keys().isdisjoint([*own_names, *ids]):
            return None
        remedy = "give each document one row, or .to_numpy() to go by place"
        views = [view for view in (own_names, list(ids)) if view]
        missing = min(([each for each in view if each not in row_of] for view in views), key=len)
        if missing:
            raise InputError(
                f"the index of {name} lacks {len(missing):,} of the {len(own_names):,} documents, the first is "
                f"{missing[0]!r}",
                remedy=remedy,
            )
        orders = []
        for view in views:
            repeated = [each for each, count in (Counter(names) | Counter(view)).items() if count > 1]
            if row_of.keys() >= set(view) and set(view).isdisjoint(repeated):
                orders.append([row_of[each] for each in view])
        if self.has_ids and orders and orders[0] != orders[-1]:  # ids are the numbers of the rows, in another order
            raise InputError(
                f"the index of {name} fits the ids and the index of the source, which differ", remedy=remedy
            )
        if orders:
            return np.array(orders[0], np.int64)
        raise InputError(f"the index of {name} or of the documents has {repeated[0]!r} more than once", remedy=remedy)


def name_beside_parts(name: str) -> str:
    """Return the name of a column of the source where documents stand in parts."""
    return f"source.{name}" if name in PART_COLUMNS else name


def names_of(table: object) -> Any:
    """Return the index of a frame or Series of pandas; None of anything else, and where it is 0 to n - 1 in order."""
    index = getattr(table, "index", None) if hasattr(table, "iloc") else None
    return None if index is None or _is_usual(index) else index


def _is_usual(index: Any) -> bool:
    return index.dtype.kind in "iu" and np.array_equal(np.asarray(index), np.arange(len(index)))


def names_in(index: Any) -> list[str]:
    """Return the labels of an index of pandas, or an array, as text; those of several levels are joined by slashes."""
    return ["/".join(map(str, label)) if isinstance(label, tuple) else cell_text(label) for label in index]


def n_rows_of(table: Any) -> int | None:
    """Return how many rows labels, a matrix or a frame have; None of what has none that can be picked."""
    if getattr(table, "shape", ()) and not hasattr(type(table), "compute"):  # dask does not know it yet
        return int(table.shape[0])
    return len(table) if hasattr(table, "__len__") and hasattr(table, "__getitem__") else None


@dataclass
class RowTally:
    """Counts the rows of a source in memory while they are read; each of them is a document or is skipped."""

    n_rows: int = 0
    places: list[int] = field(default_factory=list)
    values: dict[tuple[str, str], list[object]] = field(default_factory=lambda: defaultdict(list))  # of `Draft.values`
    has_ids: bool = False  # whether a column gives some

    def count(self, draft: Draft | None) -> None:
        """Count the next row, with its document if it has one."""
        if draft is not None:
            self.places.append(self.n_rows)
            self.has_ids |= draft.has_id
            for names, value in draft.values.items():
                # of text, lists and objects only that there are some
                self.values[names].append(value if is_missing(value) or isinstance(value, _PLAIN) else "")
        self.n_rows += 1

    def rows(self, frame: Any) -> SourceRows:
        """Return the rows, of a frame of pandas or, where that is None, of something else."""
        index = frame.index.copy() if frame is not None else None if self.has_ids else np.arange(self.n_rows)
        place_of = {} if frame is None else {str(frame.columns[k]): k for k in reversed(range(frame.shape[1]))}
        columns = {new_name: as_it_came(values) for (_, new_name), values in self.values.items()}
        for name, new_name in self.values:
            if name in place_of:  # and not in an object that a cell holds
                array = frame.iloc[:, place_of[name]].array
                if columns[new_name] is not None or not str(array.dtype).startswith(("object", "str")):
                    columns[new_name] = array[self.places]
        return SourceRows(self.n_rows, np.array(self.places, np.int64), index, self.has_ids, columns)


def as_it_came(values: Sequence[object]) -> Any:
    """Return a column as an array of objects; None where some of its values are text, lists or objects, or all miss."""
    there = [value for value in values if not is_missing(value)]
    is_text = any(isinstance(value, str) or not isinstance(value, _PLAIN) for value in there)
    return None if is_text or not there else np.fromiter(values, object, len(values))


def typed_column(cells: Sequence[str]) -> pd.Series:
    """Return a column of text as numbers, booleans or dates (ISO 8601), where all that are not empty are.

    >>> [str(typed_column(cells).dtype) for cells in (["1", "2"], ["1", ""], ["1.5", ""], ["True"])]
    ['int64', 'Int64', 'float64', 'bool']
    """
    import pandas as pd

    texts, kind = pd.Series(list(cells), dtype=object), type_of(cells)
    if kind is not str:
        values = [typed_value(cell, kind) for cell in cells]
        return pd.Series(values, dtype=_NULLABLE.get(kind, "float64") if None in values else kind)
    matches = [_TIME.fullmatch(cell) for cell in cells if cell]
    zones = {bool(match and match[1]) for match in matches}
    if len(zones) == 1 and all(matches):
        with suppress(ValueError):  # the 31st of February
            return pd.to_datetime(texts.where(texts != ""), format="ISO8601", utc=zones.pop())
    return texts
