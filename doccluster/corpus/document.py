"""The first value on the line: texts with names, labels and metadata, and a record of what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


@dataclass(frozen=True, eq=False, init=False)
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
    labels: Mapping[str, tuple[tuple[str, ...], ...]]
    skipped: tuple[Skipped, ...]

    def __init__(
        self,
        ids: tuple[str, ...],
        texts: tuple[str, ...],
        labels: Mapping[str, tuple[tuple[str, ...], ...]] | None = None,
        metadata: Mapping[str, Sequence[Any]] | pd.DataFrame | None = None,
        skipped: tuple[Skipped, ...] = (),
    ) -> None:
        given = {"ids": ids, "texts": texts, "labels": labels or {}, "skipped": skipped}
        for name, value in {**given, "_given": {} if metadata is None else metadata}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def metadata(self) -> pd.DataFrame:
        """What is known of the documents besides texts and classes."""
        import pandas as pd  # made on demand: a run does without it

        given: Any = self.__dict__["_given"]
        return given if isinstance(given, pd.DataFrame) else pd.DataFrame(dict(given), dtype=object)

    def column(self, name: str) -> tuple[Any, ...]:
        """Return a column of the metadata, empty strings if there is none of that name."""
        given = self.__dict__["_given"]
        return tuple(given[name]) if name in given else ("",) * len(self)

    def __len__(self) -> int:
        return len(self.ids)
