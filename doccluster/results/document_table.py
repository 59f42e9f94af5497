"""The documents of a run, one row each: their names, dates and labels, and how each begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.packed_strings import CodedColumn, MadeItems
from doccluster.base.plain_values import cut, listed
from doccluster.corpus.columns import MAX_MEDIAN_LENGTH, cell_text
from doccluster.corpus.document import Corpus
from doccluster.corpus.mail import begins_with_head, split_headers
from doccluster.corpus.markup import holds_tags, strip_markup
from doccluster.corpus.stored_texts import PickedTexts, StoredTexts, text_lengths
from doccluster.results.headlines import without_openings

NO_TERMS = "no-terms"  # why a document is among the skipped although it was read
NAMED = ("ids", "titles", "dates", "sources", "links")  # what is known of each document in a word or line
EXCERPT_LENGTH = 320
N_SAMPLED = 1_000  # documents that say how long the values of a column are
NAME_LENGTH = 70


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTable:
    """Name, date, source and beginning of each document, without its whole text; missing values are empty strings.

    Attributes
    ----------
    ids, titles, dates, sources, links : sequence of str, one per document
        Dates are ISO 8601 text.
    excerpts : sequence of str, one per document
        The beginning of the text with its white space collapsed; of texts on disk made when it is looked at.
    lengths : int64 array of shape (n_documents,)
        The number of characters of each text.
    labels : mapping of column name to a sequence (one per document) of tuples of str
        The class labels that came with the corpus.
    positions : int64 array of shape (n_documents,)
        The place of each document in the order of reading, empty documents included.
    columns : mapping of column name to a sequence of str, one per document
        What else the source says of its documents, such as a party or a score; values as text.
    """

    ids: Sequence[str]
    titles: Sequence[str]
    dates: Sequence[str]
    sources: Sequence[str]
    links: Sequence[str]
    excerpts: Sequence[str]
    lengths: Integers
    labels: Mapping[str, Sequence[tuple[str, ...]]]
    positions: Integers
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        labels = f"; labels: {listed(self.labels)}" if self.labels else ""
        return cut(f"DocumentTable({len(self):,}: {listed(self.ids)}{labels})")

    def name(self, row: int) -> str:
        """Return a name for a document: its title, else the beginning of its text, else its id."""
        return self.titles[row] or _shortened(self.excerpts[row], NAME_LENGTH) or self.ids[row]

    def take(self, rows: Integers) -> DocumentTable:
        """Return the documents of these rows, in this order."""

        def pick(values: Sequence[Any]) -> Sequence[Any]:
            return values.take(rows) if isinstance(values, CodedColumn) else tuple(values[row] for row in rows)

        columns: dict[str, Any] = {name: pick(getattr(self, name)) for name in NAMED}
        return DocumentTable(
            **columns,
            excerpts=pick(self.excerpts) if isinstance(self.excerpts, tuple) else PickedTexts(self.excerpts, rows),
            lengths=self.lengths[rows],
            labels={column: pick(values) for column, values in self.labels.items()},
            positions=self.positions[rows],
            columns={column: pick(values) for column, values in self.columns.items()},
        )

    def without_shared_openings(self, labels: Sequence[int]) -> DocumentTable:
        """Return the documents with excerpts that begin with their own words, where they have no titles."""
        rows = [row for row, title in enumerate(self.titles) if not title]
        if not rows or not isinstance(self.excerpts, tuple):  # texts on disk are read when they are looked at
            return self
        excerpts = list(self.excerpts)
        for row, text in zip(
            rows, without_openings([excerpts[r] for r in rows], [labels[r] for r in rows]), strict=True
        ):
            excerpts[row] = text
        return replace(self, excerpts=tuple(excerpts))

    @classmethod
    def from_corpus(cls, corpus: Corpus) -> DocumentTable:
        """Return the part of a corpus that a run keeps."""
        n = len(corpus)
        texts = corpus.texts
        return cls(
            ids=corpus.ids,
            titles=corpus.column("title"),
            dates=corpus.column("date"),
            sources=corpus.column("source"),
            links=corpus.column("link"),
            excerpts=StoredExcerpts(texts) if isinstance(texts, StoredTexts) else tuple(map(_excerpt, texts)),
            lengths=text_lengths(texts),
            labels=dict(corpus.labels),
            positions=np.arange(n, dtype=np.int64),
            columns=_short_columns(corpus),
        )

    @classmethod
    def from_ids(cls, ids: Sequence[str], labels: Mapping[str, Sequence[tuple[str, ...]]]) -> DocumentTable:
        """Return documents of which only names (and perhaps classes) are known, as with a ready matrix."""
        n = len(ids)
        columns: dict[str, Any] = dict.fromkeys((*NAMED, "excerpts"), ("",) * n) | {"ids": ids}
        return cls(**columns, lengths=np.zeros(n, np.int64), labels=labels, positions=np.arange(n, dtype=np.int64))


def _short_columns(corpus: Corpus) -> dict[str, Sequence[str]]:
    """Return the columns that only this source has, but not those of long texts."""
    columns = {name: _as_texts(corpus.column(name)) for name in corpus.kept_columns}
    step = max(1, len(corpus) // N_SAMPLED)
    median_lengths = {name: np.median([len(value) for value in values[::step]]) for name, values in columns.items()}
    return {name: values for name, values in columns.items() if median_lengths[name] <= MAX_MEDIAN_LENGTH}


def _as_texts(values: Sequence[Any]) -> Sequence[str]:
    """Return the values of a column as text; those of a corpus that was made in Python may be anything."""
    if isinstance(values, CodedColumn) or all(isinstance(value, str) for value in values):
        return values
    return tuple(map(cell_text, values))


class StoredExcerpts(MadeItems[str]):
    """The excerpts of texts on disk, made when they are looked at; they outlive the folder of the texts."""

    def __init__(self, texts: StoredTexts) -> None:
        self._texts = texts.hold()

    def __len__(self) -> int:
        return len(self._texts)

    def _item(self, place: int) -> str:
        return _excerpt(self._texts[place])

    def take(self, places: Integers) -> list[str]:
        """Return the excerpts of some texts."""
        return [_excerpt(text) for text in self._texts.take(places)]

    _items = take


def _excerpt(text: str) -> str:
    # a document may be megabytes long: look only at its beginning
    start = text[: 4 * EXCERPT_LENGTH]
    if begins_with_head(start):  # which is not what to read first
        start = split_headers(start)[1] or start
    if holds_tags(start):
        start = strip_markup(start)
    collapsed = " ".join(start.split())
    return _shortened(collapsed, EXCERPT_LENGTH)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"
