"""The documents of a run, one row each: their names, dates and labels, and how each begins but for what many share."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
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

NO_TERMS = "no-terms"  # why a document is among the skipped although it was read
NAMED = ("ids", "titles", "dates", "sources", "links")  # what is known of each document in a word or line
EXCERPT_LENGTH = 320
N_SAMPLED = 1_000  # documents that say how long the values of a column are
NAME_LENGTH = 70
# of the openings that documents share; two words are one in capitals only
MAX_OPENINGS = 3  # one after the other
MAX_OPENING_WORDS = 16
MAX_LOOKED_AT = 5_000  # documents in which openings are looked for
MIN_WITH_OPENING, SHARE_WITH_OPENING = 5, 0.05  # of the documents
MIN_CLUSTERS = 4
MIN_LETTERS_LEFT = 100  # characters

_OPENING_WORD = re.compile(r"\w[\w.]*")
_NUMBER = re.compile(r"\d+")
_TO_THE_DASH = re.compile(r".*(?: [–—-]+|:) ")


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTable:
    """Name, date, source and beginning of each document, without its whole text; missing values are empty strings."""

    ids: Sequence[str]
    titles: Sequence[str]
    dates: Sequence[str]  # ISO 8601
    sources: Sequence[str]
    links: Sequence[str]
    excerpts: Sequence[str]  # how texts begin, white space collapsed; of texts on disk made when they are looked at
    lengths: Integers  # int64 array of shape (n_documents,): the number of characters of each text
    labels: Mapping[str, Sequence[tuple[str, ...]]]  # the class labels that came with the corpus, by column
    positions: Integers  # the place of each document in the order of reading, empty documents included
    # what else the source says of its documents, such as a party or a score, by column; values as text
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


def without_openings(texts: Sequence[str], labels: Sequence[int]) -> list[str]:
    """Return texts without the openings that many documents share: "FOR IMMEDIATE RELEASE WASHINGTON, D.C.".

    An opening is cut that begins one in twenty of the texts, of four clusters or more: what the texts of one cluster
    begin with is what they are about. Numbers count as equal. Texts stay that would be short without it.

    >>> names = ["Lee", "Day", "Roe", "Poe"] * 3
    >>> texts = [f"FOR RELEASE May {n}: {name} {'spoke at length ' * 9}" for n, name in enumerate(names)]
    >>> without_openings(texts, [0, 1, 2, 3] * 3)[0][:20]
    'Lee spoke at length '
    """
    shown = list(texts)
    for _ in range(MAX_OPENINGS):
        sample = range(0, len(shown), len(shown) // MAX_LOOKED_AT + 1)
        shared = _shared_openings([shown[row] for row in sample], [labels[row] for row in sample])
        if not shared:
            break
        shown = [_without_opening(text, shared) for text in shown]
    return [text[:1].upper() + text[1:] for text in shown]


def _shared_openings(texts: Sequence[str], labels: Sequence[int]) -> set[tuple[str, ...]]:
    """Return the openings, of two words or more, that many of the texts have; with each also its shorter ones."""
    clusters_of: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for text, label in zip(texts, labels, strict=True):
        key = tuple(map(_opening_key, _opening_words(text)))
        for n_words in range(2, len(key)):
            clusters_of[key[:n_words]].append(label)
    least = max(MIN_WITH_OPENING, len(texts) * SHARE_WITH_OPENING)
    return {
        key for key, clusters in clusters_of.items() if len(clusters) >= least and len(set(clusters)) >= MIN_CLUSTERS
    }


def _without_opening(text: str, shared: Collection[tuple[str, ...]]) -> str:
    """Return a text without its longest shared opening, or the text where little would stay."""
    n_words, end, key = 0, 0, tuple[str, ...]()
    for word in _opening_words(text):  # a word more than the opening has: it ends where that begins
        if len(key) >= 2:
            if key not in shared:
                break
            n_words, end = len(key), word.start()
        key += (_opening_key(word),)
    opening = text[:end]
    opening = (_TO_THE_DASH.match(opening) or [opening])[0]
    is_long = len(text) - len(opening) >= MIN_LETTERS_LEFT
    return text[len(opening) :] if is_long and (n_words > 2 or opening.isupper()) else text


def _opening_words(text: str) -> Iterator[re.Match[str]]:
    return itertools.islice(_OPENING_WORD.finditer(text), MAX_OPENING_WORDS)


def _opening_key(word: re.Match[str]) -> str:
    return _NUMBER.sub("0", word[0].casefold())
