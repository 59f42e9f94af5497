"""Labels that lie beside the documents: one line for each document, or a table joined by id."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from doccluster.corpus.assembly import ReadRows, clean_line
from doccluster.corpus.columns import cell_labels, listed
from doccluster.corpus.delimited import LARGEST_FIELD, choose_dialect
from doccluster.corpus.draft import ReadFailure, boundary
from doccluster.corpus.encodings import decode
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import InputError

LABEL_COLUMN = "label"


class LabelFile:
    """Labels by the place of a document in its source, or by its id."""

    def __init__(self, name: str, *, lines: list[str] | None, by_id: Mapping[str, dict[str, tuple[str, ...]]]) -> None:
        self._name = name
        self._lines = lines
        self._by_id = by_id

    @classmethod
    def read(cls, path: Path, options: ReadOptions) -> LabelFile:
        """Return the labels of a file. Raises InputError if it cannot be read, or is a table without a column id."""
        try:
            with boundary("unreadable"):
                text = decode(read_whole(path)).text
                if path.suffix.lower() in (".csv", ".tsv"):
                    return cls(path.name, lines=None, by_id=_table(text, path, options))
        except ReadFailure as failure:
            raise InputError(f"the labels file {str(path)!r} cannot be read: {failure.detail}.") from failure
        lines = text.replace("\r\n", "\n").split("\n")
        return cls(path.name, lines=lines[:-1] if lines[-1] == "" else lines, by_id={})

    def columns(self, rows: ReadRows) -> dict[str, list[tuple[str, ...]]]:
        """Return the labels of some documents by column; empty and over-long ones have lines here too.

        Raises InputError when there are more or fewer lines than documents: then no line can be trusted.
        """
        if self._lines is None:
            found = [self._by_id.get(name, {}) for name in rows.names]
            own = {name: rows.labels.get(name) or ((),) * len(rows) for one in found for name in one}
            return {name: [one.get(name, before) for one, before in zip(found, own[name], strict=True)] for name in own}
        n_found = len(rows) + len(rows.left_out)
        if len(self._lines) != n_found:
            raise InputError(
                f"{self._name} has {len(self._lines)} label(s) for {n_found} document(s)",
                remedy="give one line for each, or a csv with the columns id and label",
            )
        before = np.searchsorted(rows.left_out, np.arange(len(rows)), side="right")
        lines = (self._lines[place] for place in (np.arange(len(rows)) + before).tolist())
        return {LABEL_COLUMN: [cell_labels(clean_line(line)) for line in lines]}


def _table(text: str, path: Path, options: ReadOptions) -> dict[str, dict[str, tuple[str, ...]]]:
    csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
    rows = csv.DictReader(text.lstrip("\ufeff").splitlines(keepends=True), dialect=choose_dialect(text[:65_536]))
    names = [name for name in rows.fieldnames or () if name]
    if "id" not in names:
        raise InputError(f"{path.name} has no column 'id' to join labels by", remedy=f"its columns are {listed(names)}")
    columns = [name for name in names if name != "id"]
    return {
        clean_line(row["id"]): {
            name: cell_labels(clean_line(row.get(name) or ""), options.label_separator) for name in columns
        }
        for row in rows
    }
