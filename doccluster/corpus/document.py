"""The first value on the line: texts with names, labels and metadata, and a record of what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

RENAMED = "duplicate-id"


@dataclass(frozen=True)
class Skipped:
    """One input that gave no document, or a document under another id: where it was, why, and details for a person."""

    source: str
    reason: str  # a short fixed word: empty, undecodable, unreadable, too-long, duplicate-id, unsafe-path, ...
    detail: str = ""

    @property
    def is_renamed(self) -> bool:
        """Whether the document was kept after all, under an id that was free."""
        return self.reason == RENAMED


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents in reading order.

    Attributes
    ----------
    ids : tuple of str
        Unique names, one per document.
    texts : tuple of str
        The text of each document (the title is part of it where a reader says so).
    labels : mapping of column name to a tuple (one per document) of tuples of str
        Class labels as given with the corpus; a document may have none, one or several in each column.
    metadata : DataFrame of shape (n_documents, columns)
        Columns title, date (ISO 8601 text), source, link (missing values are empty strings), and any others kept.
    skipped : tuple of Skipped
        What was found but not used, and the documents that were kept under another id.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    labels: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    metadata: pd.DataFrame = field(default_factory=pd.DataFrame)
    skipped: tuple[Skipped, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)
