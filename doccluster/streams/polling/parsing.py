"""Feeds are read in a process of their own, with a limit on time and memory: what harms it harms nothing else.

``python -m doccluster.streams.polling.parsing SECONDS`` is that process. It reads feeds from standard input, each after
its length, and answers each with one line of JSON. Only the processor time that a feed takes counts.
"""

from __future__ import annotations

import io
import json
import re
import selectors
import signal
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from doccluster.streams.polling.scheduling import Hints, period_of

SECONDS = 20.0  # of processor time for a feed
PATIENCE = 300.0  # seconds on the clock, for a process that neither works nor answers
MEMORY = 2 * 1024**3
FEEDS_PER_PROCESS = 1000  # what a process keeps of each feed would add up over months
MOST_ENTRIES = 2000
MOST_TEXT = 1024**2
MOST_TITLE = 1000
_LENGTH = struct.Struct(">Q")
_HEAD = 65_536
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True)
class Parsed:
    """What a feed holds: entries (see `entries_of`) and what it says of its pace; or why it cannot be read."""

    entries: tuple[Mapping[str, str], ...] = ()
    reason: str = ""
    hints: Hints = field(default_factory=Hints)


class FeedParser:
    """A process that reads feeds, one after the other; a new one is started when it has to be killed."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._n_read = 0

    def parse(self, body: bytes) -> Parsed:
        """Return the entries of a feed."""
        if self._n_read >= FEEDS_PER_PROCESS:
            self.close()
        process = self._process or self._start()
        self._n_read += 1
        assert process.stdin is not None
        line = b""
        with suppress(OSError):
            process.stdin.write(_LENGTH.pack(len(body)) + body)
            process.stdin.flush()
            line = self._answer(process)
        if not line.endswith(b"\n"):
            self.close()
            return Parsed(reason="unreadable-feed")
        told = json.loads(line)
        return Parsed(tuple(told["entries"]), told["reason"], hints_of(body))

    def close(self) -> None:
        """End the process."""
        process, self._process, self._n_read = self._process, None, 0
        if process is not None:
            process.kill()
            process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "doccluster.streams.polling.parsing", str(self._seconds)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        return self._process

    def _answer(self, process: subprocess.Popen[bytes]) -> bytes:
        """Return the line that the process answers, as much as it sent of it before it ended."""
        assert process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            if not ready.select(PATIENCE):
                return b""
        return process.stdout.readline()


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
        skip_hours=frozenset(hours),
        skip_days=frozenset(place for place, day in enumerate(_DAYS) if day in days),
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
            io.BytesIO(body), format="json" if is_json else "feed", label_columns=(), max_document_length=10 * MOST_TEXT
        )
    except NothingUsable as error:
        return [], "no-entries" if "without entries" in str(error) else "not-a-feed"
    columns = {name: corpus.column(name) for name in ("title", "date", "source", "link", "file")}
    guids = _guids(corpus.ids, columns["file"])
    found = []
    for row, (guid, text) in enumerate(zip(guids[:MOST_ENTRIES], corpus.texts, strict=False)):
        told = {column: str(values[row]) for column, values in columns.items() if column != "file"}
        told["title"] = told["title"][:MOST_TITLE]
        told["link"] = told["link"] if len(told["link"]) <= 2048 else ""
        found.append({**told, "guid": guid[:2048], "text": text[:MOST_TEXT]})
    return found, ""


def _guids(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the names that entries have of their own, "" for the others.

    A name that was made of an entry's place, or numbered because others have it too, is another entry's at the next
    poll, when a new one has come in above.

    >>> _guids(["a", "b", "b#2", "feed:4"], ["feed"] * 4)
    ['a', '', '', '']
    """
    known = set(names)
    numbered = {name: name.rpartition("#") for name in names if "#" in name}
    repeated = {base for base, _, number in numbered.values() if number.isdecimal() and base in known}
    repeated |= {name for name, (base, _, _) in numbered.items() if base in repeated}
    places = (re.compile(re.escape(str(file)) + r":\d+(#\d+)*") for file in files)
    return [
        "" if name in repeated or place.fullmatch(name) else name for name, place in zip(names, places, strict=True)
    ]


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _limit_time(seconds: float) -> None:
    """Let the system end this process once it has worked for so long; 0 for never."""
    if hasattr(signal, "setitimer"):  # Windows has no such timers: there the parent's patience is the limit
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _serve(source: Any, target: Any, seconds: float) -> None:
    import warnings

    entries_of(b"<rss><channel><item><title>a</title></item></channel></rss>")  # imports what reads feeds
    while len(length := source.read(_LENGTH.size)) == _LENGTH.size:
        body = source.read(_LENGTH.unpack(length)[0])
        with warnings.catch_warnings(record=True):  # these warnings would reach no reader
            _limit_time(seconds)
            try:
                entries, reason = entries_of(body)
            except Exception:  # noqa: BLE001  whatever a reader raises, the feed is unreadable and the next one is read
                entries, reason = [], "unreadable-feed"
            _limit_time(0)
        target.write(json.dumps({"entries": entries, "reason": reason}).encode("ascii") + b"\n")
        target.flush()


if __name__ == "__main__":
    _limit_memory()
    _serve(sys.stdin.buffer, sys.stdout.buffer, float(sys.argv[1]))
