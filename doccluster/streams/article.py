"""A dated article, as the stream takes it: dates that cannot be, and a key that it has wherever it is met."""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import row_blocks
from doccluster.corpus import Corpus
from doccluster.corpus.dates import as_moment
from doccluster.corpus.stored_texts import AT_A_TIME, StoredTexts, texts_at
from doccluster.stories.cleaning import body_of

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

    def _articles(self, rows: npt.NDArray[np.int64]) -> Iterator[Article]:
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
    """Return the id of the story that a document founds; the same stream gives the same ids.

    `attempt` tells apart the stories one document founds again after a split.
    """
    return base64.b32encode(blake2b(f"{founding_key}:{attempt}".encode(), digest_size=5).digest()).decode().lower()


def _digest(*parts: str) -> str:
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=10).hexdigest()
