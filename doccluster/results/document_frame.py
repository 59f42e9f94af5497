"""The documents of a run as a data frame, and its columns for the rows that came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from doccluster.base.validation import is_missing
from doccluster.errors import InputError
from doccluster.results.document_table import DocumentTable
from doccluster.results.record import Run
from doccluster.results.shares import needed, shares_columns

WRITTEN = ("cluster", "label", "similarity", "runner_up", "margin", "other")


def document_frame(run: Run) -> pd.DataFrame:
    """Return the table that `Run.to_pandas` describes."""
    columns = source_columns(run)
    table = _described(run.documents, columns)
    table["cluster"] = pd.array(run.partition.labels, dtype="Int64")
    table["label"] = [run.clusters[cluster].label for cluster in run.partition.labels.tolist()]
    table["similarity"] = run.similarity
    table["runner_up"] = pd.array(run.runner_up, dtype="Int64")
    table.loc[run.runner_up < 0, "runner_up"] = pd.NA
    table["margin"] = run.margin
    table["other"] = pd.array(run.shown_labels == run.n_clusters, dtype="boolean")
    for level in run.levels if len(run.levels) > 1 else ():
        name = f"level.{level.name}" if level.name in table else level.name
        table[name] = [level.clusters[number].label for number in level.labels.tolist()]
    if len(run.empty_documents):
        table = pd.concat([table, _described(run.empty_documents, columns)])
    table = table.iloc[run.reading_order].fillna({"label": ""})
    table.index = run.source_rows.index_for(_ids_read(run))
    return plain_where_whole(table)


def _described(documents: DocumentTable, columns: dict[str, pd.Series]) -> pd.DataFrame:
    described: dict[str, Any] = {"title": documents.titles, "date": documents.dates}
    described |= {"source": documents.sources, "link": documents.links}
    for column, label_sets in documents.labels.items():
        described[column] = [labels if len(labels) > 1 else "".join(labels) for labels in label_sets]
    described |= {name: values.iloc[documents.positions].array for name, values in columns.items()}
    renamed = {name: f"source.{name}" for name in WRITTEN}
    return pd.DataFrame(described, index=documents.positions).rename(columns=renamed)


def plain_where_whole(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with integers and booleans of numpy where no row lacks one: formulas take no others."""
    kinds = {"cluster": "int64", "runner_up": "int64", "other": "bool"}
    return table.astype({name: kind for name, kind in kinds.items() if name in table and table[name].notna().all()})


def source_columns(run: Run) -> dict[str, pd.Series]:
    """Return the columns that only the source has, for all documents that were read (`SourceRows.column`)."""
    columns, tables, order = {}, (run.documents, run.empty_documents), run.reading_order.tolist()
    for name in run.documents.columns:
        cells = [cell for table in tables for cell in table.columns.get(name, [""] * len(table))]
        columns[name] = run.source_rows.column(name, [cells[row] for row in order])
    return columns


def column_of(run: Run, name: str) -> list[Any]:
    """Return the column that `Run.column` describes. Raises InputError if there is none of that name."""
    if run.parts is not None:
        return _column_of_documents(run, name)
    table = document_frame(run)
    if name not in ("id", "shown", *table):
        raise InputError(f"there is no column {name!r}", remedy=f"the run has id, shown, {', '.join(map(str, table))}")
    values = _ids_read(run) if name == "id" else table["cluster" if name == "shown" else name].tolist()
    column: list[Any] = [None] * run.source_rows.n_rows
    for row, value, is_other in zip(run.source_rows.places.tolist(), values, table["other"], strict=True):
        column[row] = None if is_missing(value) or (name == "shown" and is_other) else value
    return column


def shares_frame(run: Run) -> pd.DataFrame:
    """Return the table that `Run.shares` describes."""
    parts, whole = needed(run.parts), run.source_rows.whole
    assert whole is not None  # parts are of documents
    return pd.DataFrame(shares_columns(parts), index=whole.index_for(parts.ids))


def _column_of_documents(run: Run, name: str) -> list[Any]:
    """Return a column for the documents of a run in parts: their largest share, or what the source says of them."""
    parts, whole = needed(run.parts), run.source_rows.whole
    assert whole is not None  # parts are of documents
    table = document_frame(run).iloc[np.flatnonzero(np.diff(parts.document_of, prepend=-1))]
    of_parts = ("similarity", "runner_up", "margin", "part_of", "part", "words", *(level.name for level in run.levels))
    table = table.drop(columns=[column for column in table if column in of_parts])
    shown = np.array([columns[0][0] for columns in map(parts.largest_shares, range(len(parts.ids)))])
    table["cluster"], table["other"] = parts.largest, shown == parts.n_clusters
    table["label"] = [run.clusters[cluster].label if cluster >= 0 else "" for cluster in parts.largest.tolist()]
    table["id"], table["shown"] = list(parts.ids), np.where(shown < parts.n_clusters, shown, -1)
    if name not in table:
        remedy = f"the run has {', '.join(map(str, table))}; to_pandas() has a row for each part"
        raise InputError(f"whole documents have no column {name!r}", remedy=remedy)
    column: list[Any] = [None] * whole.n_rows
    for row, value in zip(whole.places.tolist(), table[name].tolist(), strict=True):
        column[row] = None if is_missing(value) or (name in ("cluster", "shown") and value < 0) else value
    return column


def _ids_read(run: Run) -> list[str]:
    """Return the ids of all documents that were read."""
    ids = [*run.documents.ids, *run.empty_documents.ids]
    return [ids[row] for row in run.reading_order.tolist()]
