"""One pass over the feeds that are due: asked a few at a time and never one host too often, stored one by one."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import blake2b
from urllib.parse import urlsplit

from doccluster.base.progress import Progress, silent
from doccluster.corpus.feeds import absolute_link
from doccluster.streams.article import Article, Moment, article, as_moment, is_believable
from doccluster.streams.intake import take_in
from doccluster.streams.polling.fetching import Fetched, fetch
from doccluster.streams.polling.options import PollOptions
from doccluster.streams.polling.parsing import FeedParser, Parsed
from doccluster.streams.polling.scheduling import Answer, FeedState, believed_now, http_date, must_be_whole, next_poll
from doccluster.streams.polling.subscribing import (
    Unusable,
    host_of,
    read_due_feeds,
    read_last_requests,
    subscribe,
    subscriptions,
    write_feed_state,
)
from doccluster.streams.settings import DAY
from doccluster.streams.store import write_meta

STAGE = "poll"
LEAST_BETWEEN = 60  # seconds between two polls of a feed, also when they are forced
FETCHES_KEPT = 100  # records of requests for each feed


@dataclass
class Polled:
    """What a pass has done.

    Attributes
    ----------
    n_feeds, n_due, n_unchanged, n_failed : int
        Feeds in the list, those asked, those that had nothing new to send, those that failed.
    failures, skipped : list of (address, reason, detail)
        Feeds that failed, and lines of the list that are not addresses.
    events : mapping of event to int
        What has happened to stories, filled in by the stream.
    feeds_say : int or None
        The latest moment that a server's clock showed.
    ahead : int
        By how many seconds the machine's clock is ahead of the feeds' and the stream's, negative where it is behind;
        0 for less than a day.
    """

    n_feeds: int = 0
    n_due: int = 0
    n_unchanged: int = 0
    n_failed: int = 0
    n_entries: int = 0
    n_new: int = 0
    n_edited: int = 0
    failures: list[Unusable] = field(default_factory=list)
    skipped: list[Unusable] = field(default_factory=list)
    events: Mapping[str, int] = field(default_factory=dict)
    feeds_say: Moment | None = None
    ahead: int = 0


def poll_list(
    connection: sqlite3.Connection,
    given: Sequence[str],
    options: PollOptions,
    parser: FeedParser,
    *,
    force: bool,
    is_first: bool,
    last: Moment | None,
    commit: Callable[[], AbstractContextManager[object]],
    progress: Progress = silent,
) -> tuple[Polled, list[int]]:
    """Ask the feeds of lists that are due; return what was done, and the numbers of all feeds in the lists.

    `last` is what the clock of the stream said.
    Where ranges are allowed, the first of several passes asks what was refused before, too.
    """
    listed, skipped = subscriptions(given)
    with commit():
        numbers = subscribe(connection, listed)
    refused_too = is_first and bool(options.reach.allowed)
    due = due_feeds(connection, numbers, int(options.clock.now()), force=force, refused_too=refused_too)
    done = poll_feeds(connection, due, options.for_list(listed), parser, last=last, commit=commit, progress=progress)
    done.n_feeds, done.skipped = len(numbers), skipped
    return done, numbers


def due_feeds(
    connection: sqlite3.Connection, numbers: Sequence[int], now: Moment, *, force: bool, refused_too: bool = False
) -> dict[int, FeedState]:
    """Return which of the feeds are to be asked now; `force` asks the others too, if a minute has passed."""
    due = read_due_feeds(connection, now, now - LEAST_BETWEEN if force else -1, refused_too=refused_too)
    return {number: due[number] for number in numbers if number in due}


def poll_feeds(
    connection: sqlite3.Connection,
    due: Mapping[int, FeedState],
    options: PollOptions,
    parser: FeedParser,
    *,
    last: Moment | None,
    commit: Callable[[], AbstractContextManager[object]],
    progress: Progress = silent,
) -> Polled:
    """Ask feeds and store what they answer, each in a transaction of its own.

    `commit` returns what makes the work inside it one transaction.
    """
    done = Polled(n_due=len(due))
    answers: queue.SimpleQueue[tuple[int, Fetched] | BaseException] = queue.SimpleQueue()
    stop = threading.Event()
    began = options.clock.now()
    # whole seconds are stored: a request may have been made up to one second later
    earliest = {
        host: asked + 1 + options.spacing
        for host, asked in read_last_requests(connection, int(began - options.spacing), int(began) + 1).items()
    }
    threads = _ask_all(due, options, earliest, answers, stop)
    try:
        for n_done in range(len(due)):
            progress(STAGE, n_done, len(due))
            got = answers.get()
            if isinstance(got, BaseException):
                raise got
            number, fetched = got
            now = int(options.clock.now())
            told = http_date(fetched.headers.get("date", ""))
            if told is not None:
                done.feeds_say = max(told, done.feeds_say or told)
            with commit():
                if told is not None and abs(told - now) <= DAY:
                    write_meta(connection, confirmed=now)
                _store(connection, number, due[number], fetched, parser, now, believed_now(now, told, last), done)
        progress(STAGE, len(due), len(due))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return done


def _ask_all(
    due: Mapping[int, FeedState],
    options: PollOptions,
    earliest: Mapping[str, float],
    answers: queue.SimpleQueue[tuple[int, Fetched] | BaseException],
    stop: threading.Event,
) -> list[threading.Thread]:
    """Start the threads that ask: each takes a host, and asks its feeds one after the other.

    `earliest` has the hosts that a pass before this one asked so lately that the first request has to wait.
    """
    hosts: dict[str, list[int]] = {}
    for number, feed in due.items():
        hosts.setdefault(host_of(feed.url), []).append(number)
    waiting: queue.SimpleQueue[tuple[float, list[int]]] = queue.SimpleQueue()
    for host, numbers in hosts.items():
        waiting.put((earliest.get(host, 0.0), numbers))

    def ask() -> None:
        try:
            while not stop.is_set():
                _ask_host(*waiting.get_nowait(), due, options, answers, stop)
        except queue.Empty:
            return
        except BaseException as error:  # noqa: BLE001  raised again in the thread that stores
            answers.put(error)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(min(options.hosts_at_once, len(hosts)))]
    for thread in threads:
        thread.start()
    return threads


def _ask_host(
    earliest: float,
    numbers: Iterable[int],
    due: Mapping[int, FeedState],
    options: PollOptions,
    answers: queue.SimpleQueue[tuple[int, Fetched] | BaseException],
    stop: threading.Event,
) -> None:
    pause = earliest - options.clock.now()
    for number in numbers:
        if options.spacing and pause > 0:
            options.clock.sleep(pause)
        if stop.is_set():
            return
        feed = due[number]
        is_whole = must_be_whole(feed, int(options.clock.now()))
        conditions = {} if is_whole else {"etag": feed.etag, "last_modified": feed.last_modified}
        fetched = fetch(feed.url, options.reach, **conditions)
        answers.put((number, fetched))
        pause = options.spacing if fetched.was_asked else 0.0


def _store(
    connection: sqlite3.Connection,
    number: int,
    feed: FeedState,
    fetched: Fetched,
    parser: FeedParser,
    now: Moment,
    seen: Moment,
    done: Polled,
) -> None:
    """Store entries, then what the feed said of itself, inside a transaction of the caller.

    `now` is by the machine's clock, `seen` when the entries came in.
    """
    body_hash = blake2b(fetched.body, digest_size=16).hexdigest() if fetched.body else ""
    is_unchanged = fetched.status == 304 or bool(body_hash and body_hash == feed.body_hash)
    parsed = Parsed() if is_unchanged or fetched.status != 200 else parser.parse(fetched.body)
    reason = fetched.reason or parsed.reason
    if fetched.status == 200 and not fetched.body and not reason:
        reason = "not-a-feed"
    outcomes: Counter[str] = Counter()
    for entry in parsed.entries:
        outcomes[take_in(connection, _article(entry, fetched.url or feed.url, feed.url, seen), seen).outcome] += 1
    n_entries = len(parsed.entries)
    answer = Answer(
        status=fetched.status,
        reason=reason,
        headers=fetched.headers,
        moved_to=fetched.moved_to,
        body_hash="" if reason else body_hash,
        n_entries=n_entries,
        n_new=outcomes["new"],
        hints=parsed.hints,
        was_asked=fetched.was_asked,
    )
    later = next_poll(feed, answer, now)
    if fetched.was_asked or feed.next_poll <= now:  # what is refused again before its time leaves no trace
        _record(connection, number, fetched, later, n_entries, outcomes["new"], now)
    done.n_unchanged += is_unchanged
    done.n_entries += n_entries
    done.n_new += outcomes["new"]
    done.n_edited += outcomes["edited"]
    if later.reason:
        done.n_failed += 1
        done.failures.append((feed.url, later.reason, fetched.detail))


def _record(
    connection: sqlite3.Connection,
    number: int,
    fetched: Fetched,
    later: FeedState,
    n_entries: int,
    n_new: int,
    now: Moment,
) -> None:
    """Remember what came of asking a feed, and of as many requests before it as are kept."""
    write_feed_state(connection, number, later)
    connection.execute(
        "INSERT INTO fetch (feed_id, at, url, status, n_bytes, reason, n_entries, n_new)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (number, now, fetched.url, fetched.status, len(fetched.body), later.reason, n_entries, n_new),
    )
    connection.execute(
        "DELETE FROM fetch WHERE feed_id = ?1 AND fetch_id NOT IN"
        " (SELECT fetch_id FROM fetch WHERE feed_id = ?1 ORDER BY fetch_id DESC LIMIT ?2)",
        (number, FETCHES_KEPT),
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
