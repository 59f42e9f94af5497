"""Feeds are read in a process of their own, with a limit on time and memory: what harms it harms nothing else."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from doccluster.base.limited_process import Allowance, LimitedProcess, Piece, WorkFailure
from doccluster.streams.polling._fetching import MAX_BYTES
from doccluster.streams.polling.addresses import LONGEST
from doccluster.streams.polling.scheduling import Hints, period_of

MAX_ENTRIES = 2000
MAX_TEXT = 1024**2
MAX_TITLE = 1000
_PARSE = "doccluster.streams.polling.parsing:parse_piece"
_HEAD = 65_536
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True)
class Parsed:
    """What a feed holds: entries (see `entries_of`) and what it says of its pace; or why it cannot be read."""

    entries: tuple[Mapping[str, str], ...] = ()
    reason: str = ""
    hints: Hints = field(default_factory=Hints)


class FeedParser:
    """Reads feeds, one after the other, in a process that what they hold may harm."""

    def __init__(self, *, seconds: float = Allowance().seconds) -> None:
        self._allowance = Allowance(seconds=seconds)
        self._process = LimitedProcess()

    def parse(self, body: bytes) -> Parsed:
        """Return the entries of a feed."""
        if not self._process.is_running:  # what reads feeds is imported, which counts for no feed
            list(self._process.pieces(_PARSE, {}, b"<rss><channel><item><title>a</title></item></channel></rss>"))
        try:
            ((answer, _),) = self._process.pieces(_PARSE, {}, body, allowance=self._allowance)
        except WorkFailure:
            return Parsed(reason="unreadable-feed")
        return Parsed(tuple(answer["entries"]), answer["reason"], hints_of(body))

    def close(self) -> None:
        """End the process."""
        self._process.end()


def parse_piece(_: object, body: bytes) -> Iterator[Piece]:
    """Yield the entries of a feed, or why there are none, in the process that reads it."""
    with warnings.catch_warnings(record=True):  # these warnings would reach no reader
        entries, reason = entries_of(body)
    yield {"entries": entries, "reason": reason}, b""


def hints_of(body: bytes) -> Hints:
    """Return the pace that a feed asks for, from its beginning.

    >>> hints_of(b"<rss><channel><ttl>90</ttl><skipDays><day>Sunday</day></skipDays></channel></rss>").ttl
    90
    """
    head = body[:_HEAD].decode("latin-1")
    head = re.split(r"<(?:item|entry)[\s>]", head, maxsplit=1)[0]
    ttl = re.search(r"<ttl>\s*(\d{1,6})\s*</ttl>", head)
    period = re.search(r"<sy:updatePeriod>([^<]{1,20})<", head)
    frequency = re.search(r"<sy:updateFrequency>([^<]{1,8})<", head)
    hours = {int(hour) % 24 for hour in re.findall(r"<hour>\s*(\d{1,2})\s*</hour>", head)}
    days = {day.strip().lower() for day in re.findall(r"<day>([^<]{1,12})</day>", head)}
    return Hints(
        ttl=int(ttl[1]) if ttl else None,
        update_period=period_of(period[1], frequency[1] if frequency else "1") if period else None,
        skip_hours=tuple(sorted(hours)),
        skip_days=tuple(place for place, day in enumerate(_DAYS) if day in days),
    )


def entries_of(body: bytes) -> tuple[list[dict[str, str]], str]:
    """Return the entries of a feed (guid, title, text, date, source, link), or why there is none."""
    from doccluster.corpus import read_corpus
    from doccluster.errors import NothingUsable

    is_json = body.lstrip(b"\xef\xbb\xbf\0 \t\r\n")[:1] == b"{"
    if is_json and b"jsonfeed.org/version" not in body:
        return [], "not-a-feed"
    try:
        corpus = read_corpus(
            io.BytesIO(body),
            format="json" if is_json else "feed",
            label_columns=(),
            max_document_length=10 * MAX_TEXT,
            max_expanded_size=MAX_BYTES,  # packed once more it may not be larger than what is fetched
        )
    except NothingUsable as error:
        reasons = {"without entries": "no-entries", "expands to more": "too-large"}
        return [], next((reason for words, reason in reasons.items() if words in str(error)), "not-a-feed")
    columns = {name: corpus.column(name) for name in ("title", "date", "source", "link", "file")}
    guids = _guids(corpus.ids, columns["file"])
    entries = []
    for row, (guid, text) in enumerate(zip(guids[:MAX_ENTRIES], corpus.texts, strict=False)):
        entry = {column: str(values[row]) for column, values in columns.items() if column != "file"}
        entry["title"] = entry["title"][:MAX_TITLE]
        entry["link"] = entry["link"] if len(entry["link"]) <= LONGEST else ""
        entries.append({**entry, "guid": guid[:LONGEST], "text": text[:MAX_TEXT]})
    return entries, ""


def _guids(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the names that entries have of their own, "" for the others.

    A name that was made of an entry's place, or numbered because others have it too, is another entry's at the next
    poll, when a new one has come in above.

    >>> _guids(["a", "b", "b#2", "feed:4"], ["feed"] * 4)
    ['a', '', '', '']
    """
    unique = set(names)
    numbered = {name: name.rpartition("#") for name in names if "#" in name}
    repeated = {base for base, _, number in numbered.values() if number.isdecimal() and base in unique}
    repeated |= {name for name, (base, _, _) in numbered.items() if base in repeated}
    places = (re.compile(re.escape(str(file)) + r":\d+(#\d+)*") for file in files)
    return [
        "" if name in repeated or place.fullmatch(name) else name for name, place in zip(names, places, strict=True)
    ]
