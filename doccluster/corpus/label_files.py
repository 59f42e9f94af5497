"""Labels that lie beside the documents: one line for each document, or a table joined by id."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from doccluster.corpus.columns import cell_labels, listed
from doccluster.corpus.delimited import LARGEST_FIELD, choose_dialect
from doccluster.corpus.draft import Draft, ReadFailure, boundary
from doccluster.corpus.encodings import decode
from doccluster.corpus.opening import read_whole
from doccluster.corpus.options import ReadOptions
from doccluster.errors import InputError

LABEL_COLUMN = "label"


class LabelFile:
    """Labels by the place of a document in its source, or by its id."""

    def __init__(self, name: str, *, lines: list[str] | None, by_id: Mapping[str, dict[str, tuple[str, ...]]]) -> None:
        self._name = name
        self._lines = lines
        self._by_id = by_id
        self._n_given = 0

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

    def give(self, draft: Draft) -> None:
        """Add the label of the next document, which is counted even when it turns out to be empty."""
        if self._lines is None:
            draft.labels = {**draft.labels, **self._by_id.get(draft.id or draft.where, {})}
            return
        if self._n_given < len(self._lines):
            draft.labels = {**draft.labels, LABEL_COLUMN: cell_labels(self._lines[self._n_given].strip())}
        self._n_given += 1

    def check_all_used(self) -> None:
        """Raise InputError when there are more or fewer lines than documents: then no line can be trusted."""
        if self._lines is not None and len(self._lines) != self._n_given:
            raise InputError(
                f"{self._name} has {len(self._lines)} label(s) for {self._n_given} document(s)",
                remedy="give one line for each, or a csv with the columns id and label",
            )


def _table(text: str, path: Path, options: ReadOptions) -> dict[str, dict[str, tuple[str, ...]]]:
    csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
    rows = csv.DictReader(text.lstrip("\ufeff").splitlines(keepends=True), dialect=choose_dialect(text[:65_536]))
    names = [name for name in rows.fieldnames or () if name]
    if "id" not in names:
        raise InputError(f"{path.name} has no column 'id' to join labels by", remedy=f"its columns are {listed(names)}")
    columns = [name for name in names if name != "id"]
    return {row["id"]: {name: cell_labels(row.get(name), options.label_separator) for name in columns} for row in rows}
