"""A dated article, as the stream takes it: dates that cannot be, and a key that it has wherever it is met.

And what time it is in a stream, whose clock follows the batches, but not one date far ahead; and replays.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.blocks import row_blocks
from doccluster.base.plain_values import ShortRepr
from doccluster.corpus import Corpus, Skipped
from doccluster.corpus.dates import as_moment, iso_date
from doccluster.corpus.reading import read_to_disk
from doccluster.corpus.stored_texts import AT_A_TIME, StoredTexts, texts_at
from doccluster.errors import InputError
from doccluster.stories.words import body_of
from doccluster.streams.settings import DAY

EARLIEST = int(dt.datetime(1990, 1, 1, tzinfo=dt.UTC).timestamp())  # older than any feed; a date before it is a mistake
SLACK = 3600  # seconds that a clock may be ahead
BEGINNING = 300  # characters of a text that stand for it where there is no title
Moment = int  # seconds since 1970-01-01T00:00Z
# parameters that say where a reader came from, never which article it is
_TRACKING = re.compile(r"^(utm_\w+|fbclid|gclid|cmpid|cmp|ref|source|ftag|ncid|icid|mc_[ce]id|at_\w+)$", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class Article:
    """One article of a stream."""

    key: str  # the same wherever the article is met; see `document_key`
    id: str  # what its source calls it
    time: Moment  # when it was published, else when it was first seen: in universal time
    date: str  # as it was given
    title: str
    text: str
    source: str
    link: str
    guid: str


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
        believable = [moment if is_believable(moment, now) else None for moment in moments]
        last = next((moment for moment in believable if moment is not None), now)
        self._times = [last := last if moment is None else moment for moment in believable]
        self.keys = [article.key for article in self._articles(np.arange(len(corpus)))]  # in the order of the corpus
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

    def _articles(self, rows: Integers) -> Iterator[Article]:
        for block in row_blocks(len(rows), AT_A_TIME):
            texts = texts_at(self._corpus.texts, rows[block])
            if isinstance(self._corpus.texts, StoredTexts):
                self._corpus.texts.let_go()
            yield from map(self._article, rows[block].tolist(), texts)

    def _article(self, row: int, text: str) -> Article:
        fields = {column: str(self._corpus.column(column)[row]) for column in ("title", "source", "link", "date")}
        name = self._corpus.ids[row]
        return article(time=self._times[row], id=name, text=text, guid=name, **fields)


def article(*, time: Moment, id: str, date: str, title: str, text: str, source: str, link: str, guid: str) -> Article:
    """Return an article with its key; a text that begins with its own title is what follows it."""
    title, text = title.strip(), text.strip()
    body = body_of(title, text)
    key = document_key(link=link, guid=guid, source=source, title=title, text=body)
    return Article(key, id or link or key, time, date, title, body, source, link, guid)


def normal_link(link: str) -> str:
    """Return the one form of the addresses under which a page is known: "" unless it is an address of the web.

    The scheme, a leading ``www.``, the port of the scheme, the fragment, parameters that only track readers, and a
    slash at the end make no difference.

    >>> normal_link("HTTP://www.Example.org:80/a/?utm_source=feed&id=7#top")
    'example.org/a?id=7'
    """
    try:
        parts = urlsplit(link.strip())
        host = (parts.hostname or "").removeprefix("www.")
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return ""
    if parts.scheme.lower() not in _DEFAULT_PORTS or not host:
        return ""
    port = "" if port == _DEFAULT_PORTS[parts.scheme.lower()] else port
    parameters = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.match(pair[0])]
    return urlunsplit(("", "", f"{host}{port}{parts.path.rstrip('/')}", urlencode(parameters), ""))


def text_hash(title: str, text: str) -> str:
    """Return the key that two articles of the same words share: case and white space make no difference."""
    return _digest(" ".join(title.casefold().split()), " ".join(text.casefold().split()))


def document_key(*, link: str, guid: str, source: str, title: str, text: str) -> str:
    """Return the key of an article: of its link, else of its guid within its source, else of its words."""
    address = normal_link(link)
    if address:
        return _digest("link", address)
    return _digest("guid", source, guid) if guid else _digest("text", text_hash(title, text))


def story_id(founding_key: str, attempt: int = 0) -> str:
    """Return the id of the story that a document founds; `attempt` tells apart those it founds again after a split."""
    return base64.b32encode(blake2b(f"{founding_key}:{attempt}".encode(), digest_size=5).digest()).decode().lower()


def _digest(*parts: str) -> str:
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=10).hexdigest()


N_TO_BELIEVE = 3  # batches, each a day or more after the one before, that make a jump believable
LONGEST_STEP = 3 * DAY  # between two of these: days imported in any order are further apart
N_FAR_APART = 6  # batches with longer steps, as of a weekly; days in any order seldom go up so often in a row


@dataclass(frozen=True, slots=True)
class StreamClock:
    """The clock of a stream. It never goes back for articles that come late.

    A batch that is at most a day ahead moves it on. One that is further ahead does not, unless it is sure (a poll whose
    feeds say the same), or the stream goes on from there and nothing in between goes back: three batches, each one to
    three days after the one before, or six that are further apart. Of these the clock follows the first, so that it is
    five batches behind in a stream of weeks.

    >>> clock = StreamClock().moved(0)
    >>> clock.moved(40 * DAY).time // DAY, clock.moved(40 * DAY, is_sure=True).time // DAY
    (0, 40)
    >>> clock.moved_by([one * DAY for one in (40, 41, 42)]).time // DAY
    42
    >>> clock.moved_by([week * 7 * DAY for week in range(1, 9)]).time // DAY
    21
    """

    time: Moment | None = None  # None before the first batch
    ahead: tuple[Moment, ...] = ()  # the moments ahead of it that are not believed yet

    def moved(self, moment: Moment, *, is_sure: bool = False) -> StreamClock:
        """Return the clock after a batch of this moment."""
        if self.time is None or moment <= self.time + DAY:
            is_wrong = is_sure and self.time is not None and moment < self.time - DAY
            return StreamClock(moment if self.time is None or is_wrong else max(self.time, moment))
        if is_sure:
            return StreamClock(moment)
        ahead = self.ahead if self.ahead and moment >= self.ahead[-1] else ()
        if not ahead or moment >= ahead[-1] + DAY:
            ahead = (*ahead, moment)
        last = ahead[-N_TO_BELIEVE:]
        if len(last) == N_TO_BELIEVE and all(after - before <= LONGEST_STEP for before, after in pairwise(last)):
            return StreamClock(last[0]).moved_by(last[1:])
        if len(ahead) == N_FAR_APART:
            return StreamClock(ahead[0], ahead[1:])
        return StreamClock(self.time, ahead)

    def moved_by(self, moments: Iterable[Moment]) -> StreamClock:
        """Return the clock after several batches."""
        clock = self
        for moment in moments:
            clock = clock.moved(moment)
        return clock


ARTICLES_PER_COMMIT = 200
Batch = tuple[Moment, list[Article]]


@dataclass(frozen=True, repr=False)
class Replayed(ShortRepr):
    """The result of a replay.

    Attributes
    ----------
    n_articles, n_new, n_edited : int
        Articles that were given, and how many of them were new, or known with another text.
    n_batches : int
    events : mapping of event to int
        How often stories were born, grew, merged, split and closed.
    skipped : tuple of Skipped
        What could not be read, with the reasons.
    ahead : int
        By how many seconds the newest article is ahead of the stream's clock, which did not believe it; 0 for less than
        a day.
    n_late : int
        How many of the new articles were a day or more older than what had come in before; those of an earlier replay
        count too, if that was interrupted.
    n_changed : int or None
        How many stories became others as all were built again in the order of dates, since some articles were late;
        None if they were not built again.
    lost : tuple of str
        The corrections that could not be made again then.
    """

    n_articles: int
    n_new: int
    n_edited: int
    n_batches: int
    events: Mapping[str, int]
    skipped: tuple[Skipped, ...] = ()
    ahead: int = 0
    n_late: int = 0
    n_changed: int | None = None
    lost: tuple[str, ...] = ()


def dated_corpus(source: Any, reader: Mapping[str, Any], folder: Path) -> Corpus:
    """Return the documents of a source; tuples are (date, text) or (date, text, title). Texts may be in a folder."""
    if not isinstance(source, list | tuple) or not source or not isinstance(source[0], tuple):
        return read_to_disk(source, folder, **reader)
    wrong = next((item for item in source if not isinstance(item, tuple) or len(item) not in (2, 3)), None)
    if wrong is not None:
        raise InputError(f"{wrong!r} is not a dated text; give tuples (date, text) or (date, text, title).")
    dates = [iso_date(item[0]) for item in source]
    if "" in dates:
        undated = source[dates.index("")][0]
        raise InputError(f"{undated!r} is not a date; give ISO 8601, such as 2026-03-02T08:00:00Z.")
    columns = {"date": dates, "title": [item[2] if len(item) == 3 else "" for item in source]}
    names = tuple(str(number) for number in range(1, len(source) + 1))
    return Corpus(ids=names, texts=tuple(str(item[1]) for item in source), metadata=columns)


def batches_of(articles: Iterable[Article], batch: int) -> Iterator[Batch]:
    """Yield the moments of a grid at which something has come in, and what."""
    for number, together in groupby(articles, key=lambda article: article.time // batch):
        yield (number + 1) * batch, list(together)


def by_commit(batches: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Yield batches that are committed together: a commit costs as much as placing many articles."""
    together: list[Batch] = []
    n_articles = 0
    for batch in batches:
        together.append(batch)
        n_articles += len(batch[1])
        if n_articles >= ARTICLES_PER_COMMIT:
            yield together
            together, n_articles = [], 0
    if together:
        yield together
