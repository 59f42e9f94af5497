"""One pass over the feeds that are due: asked a few at a time and never one host too often, stored one by one."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from urllib.parse import urlsplit

from doccluster.base.progress import Progress, silent
from doccluster.corpus.dates import as_moment
from doccluster.corpus.feeds import ListedFeed, absolute_link
from doccluster.streams.article import Article, Moment, article, is_believable
from doccluster.streams.polling._fetching import Reachable, fetch
from doccluster.streams.polling.addresses import listed_target, parse_networks
from doccluster.streams.polling.parsing import FeedParser, Parsed
from doccluster.streams.polling.scheduling import (
    Answer,
    FeedState,
    Unusable,
    believed_now,
    host_of,
    http_date,
    must_be_whole,
    next_poll,
    read_due_feeds,
    read_last_requests,
    subscribe,
    subscriptions,
    write_feed_state,
)
from doccluster.streams.settings import DAY
from doccluster.streams.store.batches import write_meta
from doccluster.streams.store.intake import take_in

STAGE = "poll"
HOSTS_AT_ONCE = 4
SPACING = 5.0  # seconds between two requests to one host
MIN_BETWEEN = 60  # seconds between two polls of a feed, also when they are forced
FETCHES_KEPT = 100  # records of requests for each feed


class Clock:
    """The clock of the machine, which also waits; another one can take its place."""

    def now(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@dataclass(frozen=True)
class PollOptions:
    """How feeds are asked: what may be reached, seconds between two requests to one host, hosts asked at once."""

    reach: Reachable = field(default_factory=Reachable)
    spacing: float = SPACING
    hosts_at_once: int = HOSTS_AT_ONCE
    clock: Clock = field(default_factory=Clock)

    def allowing(self, networks: Sequence[str]) -> PollOptions:
        """Return the options with further ranges of addresses that may be asked. Raises InputError if one is none."""
        return replace(self, reach=replace(self.reach, allowed=(*self.reach.allowed, *parse_networks(networks))))

    def for_list(self, listed: Sequence[ListedFeed]) -> PollOptions:
        """Return the options with the ports that a list names."""
        ports = frozenset(listed_target(feed.url).port for feed in listed)
        return replace(self, reach=replace(self.reach, ports=self.reach.ports | ports))


@dataclass
class Polled:
    """What a pass has done."""

    n_feeds: int = 0  # in the list
    n_due: int = 0  # those asked
    n_unchanged: int = 0  # those that had nothing new to send
    n_failed: int = 0
    n_entries: int = 0
    n_new: int = 0
    n_edited: int = 0
    failures: list[Unusable] = field(default_factory=list)  # feeds that failed: address, reason, details
    skipped: list[Unusable] = field(default_factory=list)  # lines of the list that are no addresses
    # what has happened to stories and how often, filled in by the stream
    events: Mapping[str, int] = field(default_factory=dict)
    feeds_say: Moment | None = None  # the latest moment that a server's clock showed
    # seconds by which the machine's clock is ahead of those of feeds and stream, negative if behind; 0 for less than
    # a day
    ahead: int = 0


@dataclass
class Poller:
    """Asks feeds and stores what they answer, each in a transaction of its own."""

    connection: sqlite3.Connection
    options: PollOptions
    parser: FeedParser
    last: Moment | None  # what the clock of the stream said
    commit: Callable[[], AbstractContextManager[object]]  # makes the work inside it one transaction
    progress: Progress = silent

    def __post_init__(self) -> None:
        self._answers: queue.SimpleQueue[tuple[int, Answer] | BaseException] = queue.SimpleQueue()
        self._stop = threading.Event()

    def poll(self, lists: Sequence[str], *, force: bool, is_first: bool) -> tuple[Polled, list[int]]:
        """Ask the feeds of lists that are due; return what was done, and the numbers of all feeds in the lists.

        `force` asks the others too after a minute; the first of several passes asks what was refused before, too.
        """
        listed, skipped = subscriptions(lists)
        with self.commit():
            numbers = subscribe(self.connection, listed)
        now, refused_too = int(self.options.clock.now()), is_first and bool(self.options.reach.allowed)
        due = read_due_feeds(self.connection, now, now - MIN_BETWEEN if force else -1, refused_too=refused_too)
        due = {number: due[number] for number in numbers if number in due}
        self.options = self.options.for_list(listed)
        polled = Polled(n_feeds=len(numbers), n_due=len(due), skipped=skipped)
        threads = self._start_asking(due)
        try:
            for n_done in range(len(due)):
                self.progress(STAGE, n_done, len(due))
                answer = self._answers.get()
                if isinstance(answer, BaseException):
                    raise answer
                self._take(answer[0], due[answer[0]], answer[1], polled)
            self.progress(STAGE, len(due), len(due))
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
        return polled, numbers

    def _start_asking(self, due: Mapping[int, FeedState]) -> list[threading.Thread]:
        """Start the threads that ask: each takes a host, and asks its feeds one after the other."""
        spacing, now = self.options.spacing, self.options.clock.now()
        # whole seconds are stored: a request of a pass before this one may have been made up to one second later
        last_requests = read_last_requests(self.connection, int(now - spacing), int(now) + 1)
        hosts: dict[str, list[int]] = {}
        for number, feed in due.items():
            hosts.setdefault(host_of(feed.url), []).append(number)
        waiting: queue.SimpleQueue[tuple[float, list[int]]] = queue.SimpleQueue()
        for host, numbers in hosts.items():
            waiting.put((last_requests[host] + 1 + spacing if host in last_requests else 0.0, numbers))

        def ask() -> None:
            try:
                while not self._stop.is_set():
                    earliest, numbers = waiting.get_nowait()
                    self._ask_host(earliest, {number: due[number] for number in numbers})
            except queue.Empty:
                return
            except BaseException as error:  # noqa: BLE001  raised again in the thread that stores
                self._answers.put(error)

        n_threads = min(self.options.hosts_at_once, len(hosts))
        threads = [threading.Thread(target=ask, daemon=True) for _ in range(n_threads)]
        for thread in threads:
            thread.start()
        return threads

    def _ask_host(self, earliest: float, feeds: Mapping[int, FeedState]) -> None:
        clock, spacing = self.options.clock, self.options.spacing
        pause = earliest - clock.now()
        for number, feed in feeds.items():
            if spacing and pause > 0:
                clock.sleep(pause)
            if self._stop.is_set():
                return
            is_whole = must_be_whole(feed, int(clock.now()))
            validators = {} if is_whole else {"etag": feed.etag, "last_modified": feed.last_modified}
            answer = fetch(feed.url, self.options.reach, **validators)
            self._answers.put((number, answer))
            pause = spacing if answer.was_asked else 0.0

    def _take(self, number: int, feed: FeedState, answer: Answer, polled: Polled) -> None:
        """Store the entries of an answer, then what the feed said of itself."""
        now, server = int(self.options.clock.now()), http_date(answer.headers.get("date", ""))
        seen_at = believed_now(now, server, self.last)
        with self.commit():
            if server is not None:
                polled.feeds_say = max(server, polled.feeds_say or server)
                if abs(server - now) <= DAY:
                    write_meta(self.connection, confirmed=now)
            body_hash = blake2b(answer.body, digest_size=16).hexdigest() if answer.body else ""
            is_unchanged = answer.status == 304 or bool(body_hash and body_hash == feed.body_hash)
            parsed = Parsed() if is_unchanged or answer.status != 200 else self.parser.parse(answer.body)
            is_empty = answer.status == 200 and not answer.body
            reason = answer.reason or parsed.reason or ("not-a-feed" if is_empty else "")
            outcomes = Counter(
                take_in(self.connection, _article(entry, answer.url or feed.url, feed.url, seen_at), seen_at)
                for entry in parsed.entries
            )
            answer = replace(answer, reason=reason, body_hash="" if reason else body_hash, hints=parsed.hints)
            answer = replace(answer, n_entries=len(parsed.entries), n_new=outcomes["new"])
            later = next_poll(feed, answer, now)
            if answer.was_asked or feed.next_poll <= now:  # what is refused again before its time leaves no trace
                self._record(number, later, answer, now)
        polled.n_unchanged += is_unchanged
        polled.n_entries += answer.n_entries
        polled.n_new += answer.n_new
        polled.n_edited += outcomes["edited"]
        if later.reason:
            polled.n_failed += 1
            polled.failures.append((feed.url, later.reason, answer.detail))

    def _record(self, number: int, later: FeedState, answer: Answer, now: Moment) -> None:
        """Remember what came of asking a feed, and of as many requests before it as are kept."""
        write_feed_state(self.connection, number, later)
        counts = (len(answer.body), later.reason, answer.n_entries, answer.n_new)
        self.connection.execute(
            "INSERT INTO fetch (feed_id, at, url, status, n_bytes, reason, n_entries, n_new)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, now, answer.url, answer.status, *counts),
        )
        self.connection.execute(
            "DELETE FROM fetch WHERE feed_id = :feed AND fetch_id NOT IN"
            " (SELECT fetch_id FROM fetch WHERE feed_id = :feed ORDER BY fetch_id DESC LIMIT :kept)",
            {"feed": number, "kept": FETCHES_KEPT},
        )


def _article(entry: Mapping[str, str], answered_by: str, url: str, now: Moment) -> Article:
    """Return an entry as an article; a date that cannot be is the moment it was first seen."""
    moment = as_moment(entry["date"])
    return article(
        time=moment if moment is not None and is_believable(moment, now) else now,
        id=entry["guid"],
        date=entry["date"],
        title=entry["title"],
        text=entry["text"],
        source=entry["source"] or urlsplit(url).netloc,
        link=absolute_link(answered_by, entry["link"]),
        guid=entry["guid"],
    )
