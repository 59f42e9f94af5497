"""Documents that are in memory already: a DataFrame, a Series, or any iterable of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from doccluster.corpus.columns import cell_text, choose_columns, row_draft
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, record
from doccluster.corpus.encodings import decode
from doccluster.corpus.options import ReadOptions
from doccluster.errors import InputError
from doccluster.validation import is_missing

if TYPE_CHECKING:
    import pandas as pd


def read_frame(frame: pd.DataFrame, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the rows of a DataFrame; the index gives the ids when no column does."""
    names = [str(name) for name in frame.columns]
    columns = choose_columns(names, options, table="the DataFrame")
    needed = columns.needed
    values = [frame.iloc[:, names.index(name)] for name in needed]  # the first of equal names
    for label, *row in zip(_index_names(frame), *values, strict=True):
        found = record(f"row {label}", row_draft, dict(zip(needed, row, strict=True)), columns, options, f"row {label}")
        if isinstance(found, Draft):
            found.id = found.id or label
        yield found


def read_series(series: pd.Series[Any], options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the values of a Series; its index gives the ids."""
    columns = choose_columns(["text"], ReadOptions(), table="the Series")
    for label, value in zip(_index_names(series), series, strict=True):
        found = record(f"row {label}", row_draft, {"text": value}, columns, options, f"row {label}")
        if isinstance(found, Draft):
            found.id = label
        yield found


def _index_names(frame: pd.DataFrame | pd.Series[Any]) -> list[str]:
    """Return the index as text; a tuple of a hierarchical index is joined by slashes."""
    return ["/".join(map(str, label)) if isinstance(label, tuple) else cell_text(label) for label in frame.index]


def read_texts(texts: Iterable[Any], options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return texts, or records, as documents numbered from 1; None and NaN are empty documents.

    Raises InputError if something is neither text nor missing.
    """
    items = texts.items() if isinstance(texts, Mapping) else ((str(n), text) for n, text in enumerate(texts, 1))
    for name, value in items:
        if isinstance(value, bytes):
            value = decode(value).text
        if not isinstance(value, str):
            if not is_missing(value):
                raise InputError(f"document {name} is of type {type(value).__name__}", remedy="expected text (str)")
            value = ""
        yield Draft(value, f"document {name}", id=str(name))
