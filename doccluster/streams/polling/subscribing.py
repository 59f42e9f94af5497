"""Which feeds to ask: an OPML file, a text file of addresses, or addresses; and what the store remembers of each."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from urllib.parse import urlsplit

from doccluster.corpus.encodings import declared_encoding, decode
from doccluster.corpus.feeds import ListedFeed, listed_feeds, web_address
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.errors import InputError
from doccluster.streams.article import SLACK
from doccluster.streams.polling.addresses import LONGEST, Refused, listed_target
from doccluster.streams.polling.scheduling import BASE, GONE_FOR, FeedState
from doccluster.streams.store.database import read_column

MOST_BYTES = 16 * 1024**2  # of a list
# the columns of a `FeedState`, in its order
_COLUMNS = (
    *("url", "state", "interval_s", "failures", "etag", "last_modified", "body_hash", "redirect_to", "redirect_seen"),
    *("last_ok_at", "last_full_at", "last_asked_at", "next_poll_at", "reason", "skip_hours", "skip_days"),
)

Unusable = tuple[str, str, str]  # an address, the reason, details for a person


def subscriptions(lists: Sequence[str]) -> tuple[list[ListedFeed], list[Unusable]]:
    """Return the feeds that lists and addresses name, each once, in order; and what is listed and cannot be asked."""
    feeds: dict[str, ListedFeed] = {}
    skipped: dict[str, Unusable] = {}
    for name in lists:
        is_address = web_address(name).lower().startswith(("http://", "https://"))
        for feed in [ListedFeed(web_address(name))] if is_address else _read_list(Path(name)):
            try:
                if feed.trouble:
                    raise Refused("bad-address", feed.trouble)
                listed_target(feed.url)
            except Refused as refused:
                address = feed.url[:LONGEST].encode("utf-8", "backslashreplace").decode("utf-8")
                where = f"{name[-LONGEST:]}, line {feed.line:,}: " if feed.line else ""
                skipped.setdefault(address, (address, refused.reason, f"{where}{refused.detail}"))
            else:
                feeds.setdefault(feed.url, feed)
    if not feeds:
        raise InputError(
            "no address can be asked, of {:,} in the list: {:.200} is a {} ({}); give one that can.".format(
                len(skipped), *next(iter(skipped.values()))
            )
        )
    return list(feeds.values()), list(skipped.values())


def subscribe(connection: sqlite3.Connection, feeds: Iterable[ListedFeed]) -> list[int]:
    """Put feeds that are new into the store, inside a transaction of the caller; return the numbers of all."""
    numbers = []
    for feed in feeds:
        statement = "SELECT feed_id FROM feed WHERE url = ?1 UNION SELECT feed_id FROM feed_alias WHERE url = ?1"
        numbers += read_column(connection, statement, feed.url) or read_column(
            connection,
            "INSERT INTO feed (url, title, category, state, etag, last_modified, body_hash, interval_s, next_poll_at,"
            " failures, redirect_to, redirect_seen, last_ok_at, last_full_at, last_asked_at, reason)"
            " VALUES (?, ?, ?, 'active', '', '', '', ?, 0, 0, '', 0, 0, 0, 0, '') RETURNING feed_id",
            *(feed.url, feed.title, feed.category, BASE),
        )
    return list(dict.fromkeys(numbers))


def read_due_feeds(
    connection: sqlite3.Connection, now: int, asked_by: int, *, refused_too: bool
) -> dict[int, FeedState]:
    """Return the records of the feeds that are due now, or were last asked at a moment or before, by number.

    With `refused_too` also those that were never asked, since their addresses were refused.
    """
    # what lies further ahead than any feed waits was written when the clock was wrong
    rows = connection.execute(
        f"SELECT feed_id, {', '.join(_COLUMNS)} FROM feed WHERE next_poll_at <= ?1 OR last_asked_at <= ?2"
        " OR (?3 AND last_asked_at = 0 AND reason = 'refused-address') OR last_asked_at > ?1 + ?4"
        " OR (next_poll_at > ?1 + ?5 AND reason <> 'moved-to-another')",
        (now, asked_by, refused_too, SLACK, 2 * GONE_FOR),
    )
    due = {}
    for number, *values, skip_hours, skip_days in rows:
        feed = FeedState(*[*values, tuple(json.loads(skip_hours)), tuple(json.loads(skip_days))])
        due[number] = replace(feed, failures=feed.failures / 2)
    return due


def soonest_poll(connection: sqlite3.Connection, numbers: Iterable[int]) -> float:
    """Return when the first of some feeds is due; the store may know others that are not in the list any more."""
    statement = "SELECT MIN(next_poll_at) FROM feed WHERE feed_id IN (SELECT value FROM json_each(?))"
    (moment,) = read_column(connection, statement, json.dumps(list(numbers)))
    return math.inf if moment is None else float(moment)


def read_last_requests(connection: sqlite3.Connection, since: int, until: int) -> dict[str, int]:
    """Return when each host was last asked, for those that were asked between two moments."""
    last: dict[str, int] = {}
    for url, asked_at in connection.execute(
        "SELECT url, last_asked_at FROM feed WHERE last_asked_at BETWEEN ? AND ?", (since, until)
    ):
        host = host_of(url)
        last[host] = max(asked_at, last.get(host, asked_at))
    return last


def host_of(url: str) -> str:
    """Return the host of an address, and its port where one is given."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:  # an older version kept whatever a list named
        return ""


def write_feed_state(connection: sqlite3.Connection, number: int, feed: FeedState) -> None:
    """Remember what happened to a feed, inside a transaction of the caller; an address it had before stays known."""
    (former,) = read_column(connection, "SELECT url FROM feed WHERE feed_id = ?", number)
    if former != feed.url:
        if read_column(connection, "SELECT 1 FROM feed WHERE url = ?", feed.url):
            connection.execute(  # two feeds of the list have become one: this one rests, under its old address
                "UPDATE feed SET state = 'gone', reason = 'moved-to-another', next_poll_at = ? WHERE feed_id = ?",
                (feed.next_poll + 10 * 365 * 86400, number),
            )
            return
        connection.execute("INSERT INTO feed_alias VALUES (?, ?) ON CONFLICT DO NOTHING", (former, number))
    *values, skip_hours, skip_days = astuple(replace(feed, failures=round(2 * feed.failures)))
    changes = ", ".join(f"{name} = ?" for name in _COLUMNS)
    connection.execute(
        f"UPDATE feed SET {changes} WHERE feed_id = ?",
        (*values, json.dumps(skip_hours), json.dumps(skip_days), number),
    )


def _read_list(path: Path) -> list[ListedFeed]:
    try:
        data = read_whole(path, limit=MOST_BYTES)
        feeds = listed_feeds(decode(data, declared=declared_encoding(data)).text)
    except ReadFailure as failure:
        raise InputError(
            f"{path} cannot be read: {failure.detail}; give an OPML file, a text file with an address a line, or "
            "addresses."
        ) from failure
    if not feeds:
        raise InputError(f"{path} lists no address that begins with http:// or https://; give one that does.")
    return feeds
