"""The first value on the line: texts with names, labels and metadata, and a record of what was left out and why."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from doccluster.base.arrays import Matrix
from doccluster.base.packed_strings import CodedColumn
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.plain_values import cut, listed, short
from doccluster.base.text_table import html_table
from doccluster.corpus.dates import DateCounts
from doccluster.corpus.reader import RENAMED as RENAMED
from doccluster.corpus.reader import Skipped as Skipped
from doccluster.corpus.source_rows import SourceRows, as_it_came
from doccluster.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

MAX_DOCUMENTS_SHOWN = 5  # in a notebook
MAX_OF_TEXT_SHOWN = 60  # characters


@dataclass(frozen=True, repr=False)
class Document:
    """One document of a corpus.

    Attributes
    ----------
    id, text : str
    labels : mapping of column name to a tuple of str
    metadata : mapping of column name to str
        Title, date, source, link, and what else was kept.
    """

    id: str
    text: str
    labels: Mapping[str, tuple[str, ...]]
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        labels = "".join(f", {column}: {listed(names)}" for column, names in self.labels.items() if names)
        return cut(f"Document({self.id!r}, {short(self.text)}{labels})")


class Corpus:
    """Documents in reading order, to iterate over, to index by row or id, to slice and to mask.

    Attributes
    ----------
    ids : sequence of str
        Unique names, one per document.
    texts : sequence of str
        The text of each document (the title is part of it where a reader says so).
    labels : mapping of column name to a sequence (one per document) of tuples of str
        Class labels as given with the corpus; a document may have none, one or several in each column.
    metadata : DataFrame of shape (n_documents, columns)
        Columns title, date (ISO 8601 text), source (who published it), link, the file it was read from if any, and
        others that were kept; missing values are empty strings.
    skipped : tuple of Skipped
        What was found but not used, and the documents that were kept under another id.
    stripped_html : bool
        Whether the texts of a table turned out to be HTML, whose markup was left out.
    skipped_after : tuple of int
        How many documents came before each that was skipped; empty where that is not known.
    text_columns : tuple of str
        The columns of tables that the texts were read from.
    guessed_encodings : mapping of str to int
        How many files were read in an encoding that nothing but their bytes speaks for.
    dates : DateCounts
        How many dates were read, how many could not be, and which are a guess.
    division : str
        What of the files is a document, in words: "each line of a.txt is a document".
    source_rows : SourceRows
        The rows that were read, those that gave no document among them, and what they are called.
    """

    @at_the_door  # ids and texts look alike, so they have to be named
    def __init__(
        self,
        *,
        ids: Sequence[str],
        texts: Sequence[str],
        labels: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
        metadata: Mapping[str, Sequence[object]] | pd.DataFrame | None = None,
        skipped: tuple[Skipped, ...] = (),
        stripped_html: bool = False,
        skipped_after: tuple[int, ...] = (),
        text_columns: tuple[str, ...] = (),
        dates: DateCounts | None = None,
        guessed_encodings: Mapping[str, int] | None = None,
        division: str = "",
        source_rows: SourceRows | None = None,
    ) -> None:
        self.ids, self.texts, self.labels, self.skipped = ids, texts, labels or {}, skipped
        self.stripped_html, self.skipped_after, self.text_columns = stripped_html, skipped_after, text_columns
        self._dates, self.guessed_encodings, self.division = dates, guessed_encodings or {}, division
        self._frame: Any = metadata if hasattr(metadata, "iloc") else None
        self._columns: dict[str, Sequence[Any]] = {
            str(name): values if isinstance(values, CodedColumn) else tuple(values)
            for name, values in ({} if metadata is None else metadata).items()
        }
        if source_rows is None:
            columns = {name: as_it_came(self._columns[name]) for name in self.kept_columns}
            source_rows = replace(SourceRows.of_documents(len(ids)), columns=columns)
        self.source_rows = source_rows

    @cached_property
    def metadata(self) -> pd.DataFrame:
        """The columns of the documents besides texts and classes."""
        import pandas as pd  # made on demand: a run does without it

        return pd.DataFrame(self._columns, dtype=object) if self._frame is None else self._frame

    @property
    def dates(self) -> DateCounts:
        """How many dates were read, how many could not be, and which are a guess."""
        return self._dates or DateCounts(sum(map(bool, self.column("date"))))

    def column(self, name: str) -> Sequence[Any]:
        """Return a column of the metadata, empty strings if there is none of that name."""
        return self._columns.get(str(name), ("",) * len(self))

    @property
    def metadata_columns(self) -> list[str]:
        """The columns of the metadata."""
        return list(self._columns)

    @property
    def kept_columns(self) -> list[str]:
        """The columns of the metadata that only this source has: not title, date, source, link and file."""
        return [name for name in self._columns if name not in ("title", "date", "source", "link", "file")]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Document]:
        return map(self._document, range(len(self)))

    @overload
    def __getitem__(self, rows: int) -> Document: ...

    @overload
    def __getitem__(self, rows: str) -> Any: ...  # type: ignore[overload-overlap]  # a str is iterable too

    @overload
    def __getitem__(self, rows: slice | Iterable[int] | Iterable[str] | Iterable[bool]) -> Corpus: ...

    def __getitem__(self, rows: Matrix) -> Any:
        """Return one document, by its row or its id; or a corpus, by a slice, a mask, or a list of rows or ids.

        The name of a column, or a list of them, gives what `to_pandas` has there: ``corpus["title"]``.

        Raises InputError if there is no such id or column, or a mask is not as long as the corpus. Raises IndexError if
        there is no such row.
        """
        if isinstance(rows, slice):
            return self.take(range(len(self))[rows])
        names = [rows] if isinstance(rows, str) else list(rows) if isinstance(rows, Iterable) else [None]
        columns = self._columns_named
        if names and all(isinstance(name, str) and name in columns and name not in self._places for name in names):
            return self.to_pandas()[rows if isinstance(rows, str) else names]
        if isinstance(rows, Iterable) and not isinstance(rows, str):
            return self.take(self._rows(names))
        return self._document(self._row_of(rows))

    def head(self, n: int = 5) -> pd.DataFrame:
        """Return the first documents as `to_pandas` has them."""
        return self[:n].to_pandas()

    def take(self, rows: Iterable[int]) -> Corpus:
        """Return the documents of these rows, in this order; nothing is listed as skipped."""
        picked = [self._row_of(row) for row in rows]

        def pick(values: Sequence[object]) -> tuple[Any, ...]:
            return tuple(values[row] for row in picked)

        labels = {column: pick(labels_of_column) for column, labels_of_column in self.labels.items()}
        return Corpus(
            ids=pick(self.ids),
            texts=pick(self.texts),
            labels=labels,
            metadata={name: pick(values) for name, values in self._columns.items()},
            text_columns=self.text_columns,
            source_rows=self.source_rows.take(np.array(picked, np.int64)),
        )

    def with_texts(self, texts: Sequence[str]) -> Corpus:
        """Return the same documents with other texts, one each."""
        shared = ("ids", "labels", "skipped", "stripped_html", "skipped_after", "text_columns", "source_rows")
        fields = {name: getattr(self, name) for name in (*shared, "guessed_encodings", "dates", "division")}
        return Corpus(texts=texts, metadata=self._columns if self._frame is None else self._frame, **fields)

    def select(self, condition: Callable[[Document], bool] | None = None, **columns: object) -> Corpus:
        """Return the documents for which all conditions hold.

        Parameters
        ----------
        condition : callable, optional
            Document -> whether to keep it.
        **columns
            For a column of labels or of the metadata the value a document must have, or a collection of values. A
            document with several labels is kept if one of them is asked for.

        Raises
        ------
        InputError
            If there is no such column.

        Examples
        --------
        >>> sky, dates = (("wet",), ("dry",)), ("2024", "2025")
        >>> corpus = Corpus(ids=("a", "b"), texts=("rain", "sun"), labels={"sky": sky}, metadata={"date": dates})
        >>> corpus.select(date="2025").ids, corpus.select(lambda document: "rain" in document.text).ids
        (('b',), ('a',))
        >>> corpus.select(sky=["wet", "dry"]).ids
        ('a', 'b')
        """
        rows = [row for row in range(len(self)) if condition is None or condition(self._document(row))]
        for name, values in columns.items():
            allowed = set(values) if isinstance(values, Iterable) and not isinstance(values, str) else {values}
            labels_or_values = self._labels_or_values(name)
            rows = [row for row in rows if not allowed.isdisjoint(labels_or_values[row])]
        return self.take(rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per document: its text, its metadata, and a column for each of the labels.

        The index is as in `Run.to_pandas`, and so are the columns that only this source has. A cell of labels is the
        label, "" where there is none, and a tuple where a document has several.
        """
        import pandas as pd

        columns: dict[str, object] = {"text": self.texts, **self._columns}
        for name, labels_of_rows in self.labels.items():
            columns[name] = [labels if len(labels) > 1 else "".join(labels) for labels in labels_of_rows]
        rows = self.source_rows
        frame = pd.DataFrame(columns, index=rows.index_for(self.ids), dtype=object)
        for name in self.kept_columns:
            if name not in self.labels:
                frame[name] = rows.column(name, self._columns[name]).array
        return frame

    def __repr__(self) -> str:
        labels = f"; labels: {listed(self.labels)}" if self.labels else ""
        skipped = f"; {len(self.skipped):,} skipped or renamed" if self.skipped else ""
        text = f"; text: {', '.join(self.text_columns)}" if self.text_columns else ""
        return cut(f"Corpus({len(self):,} documents: {listed(self.ids)}{text}{labels}{skipped})")

    def _repr_html_(self) -> str:
        filled = [name for name in ("title", "date", "source") if any(self.column(name))]
        rows = [
            [
                document.id,
                *(str(document.metadata.get(name) or "")[: 10 if name == "date" else None] for name in filled),
                *(", ".join(document.labels[name]) for name in self.labels),
                textwrap.shorten(document.text[: 2 * MAX_OF_TEXT_SHOWN], MAX_OF_TEXT_SHOWN, placeholder=" …"),
            ]
            for document in itertools.islice(self, MAX_DOCUMENTS_SHOWN)
        ]
        remark = "" if len(rows) == len(self) else f"; the first {len(rows)} are shown"
        skipped = f", {len(self.skipped):,} skipped or renamed" if self.skipped else ""
        columns = ("id", *filled, *self.labels, "text")
        return html_table(columns, rows, caption=f"{len(self):,} documents{skipped}{remark}")

    def _labels_or_values(self, name: str) -> Sequence[tuple[object, ...]]:
        if name in self.labels:
            return self.labels[name]
        if name in self._columns:
            return [(value,) for value in self._columns[name]]
        there = ", ".join(map(repr, [*self.labels, *self._columns])) or "none"
        raise InputError(f"there is no column {name!r} to select by", remedy=f"the corpus has {there}")

    def _document(self, row: int) -> Document:
        labels = {column: labels_of_rows[row] for column, labels_of_rows in self.labels.items()}
        metadata = {name: values[row] for name, values in self._columns.items()}
        return Document(self.ids[row], self.texts[row], labels, metadata)

    def _row_of(self, name: Any) -> int:
        if isinstance(name, str):
            if name not in self._places:
                remedy = f"the ids are {listed(self.ids)}, the columns {listed(self._columns_named)}"
                raise InputError(f"there is no document with the id {name!r}", remedy=remedy)
            return self._places[name]
        row = index(name)
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no row {row} in a corpus of {len(self):,} documents")
        return row % len(self)

    def _rows(self, selection: Sequence[object]) -> list[int]:
        if not selection or any(type(item).__name__ not in ("bool", "bool_") for item in selection):
            return [self._row_of(item) for item in selection]
        if len(selection) != len(self):
            raise InputError(
                f"the mask has {len(selection):,} entries for {len(self):,} documents", remedy="give one for each"
            )
        return [row for row, stays in enumerate(selection) if stays]

    @property
    def _columns_named(self) -> list[str]:
        """The columns of `to_pandas`."""
        return ["text", *self._columns, *self.labels]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.ids)}
