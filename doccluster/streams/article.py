"""A dated article, as the stream takes it, and the one rule for dates that cannot be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import row_blocks
from doccluster.corpus import Corpus
from doccluster.corpus.stored_texts import AT_A_TIME, StoredTexts, texts_at
from doccluster.streams.identity import document_key

EARLIEST = int(dt.datetime(1990, 1, 1, tzinfo=dt.UTC).timestamp())  # older than any feed; a date before it is a mistake
SLACK = 3600  # seconds that a clock may be ahead
BEGINNING = 300  # characters of a text that stand for it where there is no title
Moment = int  # seconds since 1970-01-01T00:00Z


@dataclass(frozen=True, slots=True)
class Article:
    """One article of a stream.

    Attributes
    ----------
    key : str
        The same wherever the article is met; see `identity.document_key`.
    id : str
        What its source calls it.
    time : int
        When it was published, else when it was first seen: seconds since 1970 in universal time.
    date : str
        The date as it was given.
    """

    key: str
    id: str
    time: Moment
    date: str
    title: str
    text: str
    source: str
    link: str
    guid: str


def as_moment(date: str) -> Moment | None:
    """Return an ISO 8601 date as seconds since 1970; a date without a zone is in universal time, None if it is none.

    >>> as_moment("1970-01-02"), as_moment("1970-01-01T01:00:00+01:00"), as_moment("soon")
    (86400, 0, None)
    """
    if len(date) in (4, 7) and date.replace("-", "").isdigit():
        date = (date + "-01-01")[:10]
    try:
        moment = dt.datetime.fromisoformat(date)
    except ValueError:
        return None
    moment = moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(seconds=1)


def as_text(moment: Moment) -> str:
    """Return a moment as ISO 8601 text in universal time.

    >>> as_text(86400)
    '1970-01-02T00:00:00Z'
    """
    return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=moment)).isoformat() + "Z"


def is_believable(moment: Moment | None, now: Moment) -> bool:
    """Return whether an article can have been published then: not before 1990, nor later than now."""
    return moment is not None and EARLIEST <= moment <= now + SLACK


class ArticlesInOrder:
    """The documents of a corpus as articles in the order of the stream, of whose texts few are in memory at a time.

    A document whose date is missing or cannot be (before 1990, or later than `now`) takes that of the document before
    it, else that of the first one with a date, else `now`.
    """

    def __init__(self, corpus: Corpus, *, now: Moment) -> None:
        self._corpus = corpus
        moments = [as_moment(date) for date in corpus.column("date")]
        known = [moment if is_believable(moment, now) else None for moment in moments]
        last = next((moment for moment in known if moment is not None), now)
        self._times = [last := last if one is None else one for one in known]
        self.keys = [one.key for one in self._articles(np.arange(len(corpus)))]  # in the order of the corpus
        order = sorted(range(len(corpus)), key=lambda row: (self._times[row], self.keys[row]))
        self._order = np.array(order, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._corpus)

    def __iter__(self) -> Iterator[Article]:
        return self._articles(self._order)

    @property
    def newest(self) -> Moment:
        """The time of the last article, 0 if there is none."""
        return max(self._times, default=0)

    def _articles(self, rows: npt.NDArray[np.int64]) -> Iterator[Article]:
        for block in row_blocks(len(rows), AT_A_TIME):
            texts = texts_at(self._corpus.texts, rows[block])
            if isinstance(self._corpus.texts, StoredTexts):
                self._corpus.texts.let_go()
            yield from map(self._article, rows[block].tolist(), texts)

    def _article(self, row: int, text: str) -> Article:
        told = {column: str(self._corpus.column(column)[row]) for column in ("title", "source", "link", "date")}
        name = self._corpus.ids[row]
        return article(time=self._times[row], id=name, text=text, guid=name, **told)


def article(*, time: Moment, id: str, date: str, title: str, text: str, source: str, link: str, guid: str) -> Article:
    """Return an article with its key; a text that begins with its own title is what follows it."""
    title, text = title.strip(), text.strip()
    body = body_of(title, text)
    key = document_key(link=link, guid=guid, source=source, title=title, text=body)
    return Article(key, id or link or key, time, date, title, body, source, link, guid)


def body_of(title: str, text: str) -> str:
    """Return a text without the title that it begins with."""
    return text[len(title) :].lstrip() if title and text.startswith(title) else text
