"""Which feeds to ask: an OPML file, a text file of addresses, or addresses; and what the store remembers of each."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from doccluster.corpus.draft import ReadFailure
from doccluster.corpus.encodings import declared_encoding, decode
from doccluster.corpus.feed_lists import ListedFeed, listed_feeds, web_address
from doccluster.corpus.opening import read_whole
from doccluster.errors import InputError
from doccluster.streams.article import SLACK
from doccluster.streams.polling.addresses import LONGEST, Refused, listed_target
from doccluster.streams.polling.scheduling import BASE, GONE_FOR, FeedState

MOST_BYTES = 16 * 1024**2  # of a list
_FIELDS = (
    *("url", "state", "interval_s", "failures", "etag", "last_modified", "body_hash", "redirect_to", "redirect_seen"),
    *("last_ok_at", "last_full_at", "last_asked_at", "next_poll_at", "reason"),
)


Unusable = tuple[str, str, str]  # an address, the reason, details for a person


def subscriptions(given: Sequence[str]) -> tuple[list[ListedFeed], list[Unusable]]:
    """Return the feeds that lists and addresses name, each once, in order; and what is listed and cannot be asked.

    Raises InputError if one is neither an address of the web nor a file that lists any, or no address can be asked.
    """
    found: dict[str, ListedFeed] = {}
    skipped: dict[str, Unusable] = {}
    for one in given:
        is_address = web_address(one).lower().startswith(("http://", "https://"))
        for feed in [ListedFeed(web_address(one))] if is_address else _read_list(Path(one)):
            try:
                if feed.trouble:
                    raise Refused("bad-address", feed.trouble)
                listed_target(feed.url)
            except Refused as refused:
                address = feed.url[:LONGEST].encode("utf-8", "backslashreplace").decode("utf-8")
                where = f"{one[-LONGEST:]}, line {feed.line:,}: " if feed.line else ""
                skipped.setdefault(address, (address, refused.reason, f"{where}{refused.detail}"))
            else:
                found.setdefault(feed.url, feed)
    if not found:
        raise InputError(
            "no address can be asked, of {:,} in the list: {:.200} is a {} ({}); give one that can.".format(
                len(skipped), *next(iter(skipped.values()))
            )
        )
    return list(found.values()), list(skipped.values())


def subscribe(connection: sqlite3.Connection, feeds: Iterable[ListedFeed]) -> list[int]:
    """Put feeds that are new into the store, inside a transaction of the caller; return the numbers of all."""
    numbers = []
    for feed in feeds:
        row = connection.execute(
            "SELECT feed_id FROM feed WHERE url = ?1 UNION SELECT feed_id FROM feed_alias WHERE url = ?1", (feed.url,)
        ).fetchone()
        if row is None:
            row = connection.execute(
                "INSERT INTO feed (url, title, category, state, etag, last_modified, body_hash, interval_s,"
                " next_poll_at, failures, redirect_to, redirect_seen, last_ok_at, last_full_at, last_asked_at, reason)"
                " VALUES (?, ?, ?, 'active', '', '', '', ?, 0, 0, '', 0, 0, 0, 0, '') RETURNING feed_id",
                (feed.url, feed.title, feed.category, BASE),
            ).fetchone()
        numbers.append(int(row[0]))
    return list(dict.fromkeys(numbers))


def read_due_feeds(
    connection: sqlite3.Connection, now: int, asked_by: int, *, refused_too: bool
) -> dict[int, FeedState]:
    """Return the records of the feeds that are due now, or were last asked at a moment or before, by number.

    With `refused_too` also those that were never asked, since their addresses were refused. What lies further ahead
    than any feed waits was written when the clock was wrong, and such a feed is due.
    """
    rows = connection.execute(
        f"SELECT feed_id, {', '.join(_FIELDS)} FROM feed WHERE next_poll_at <= ?1 OR last_asked_at <= ?2"
        " OR (?3 AND last_asked_at = 0 AND reason = 'refused-address') OR last_asked_at > ?1 + ?4"
        " OR (next_poll_at > ?1 + ?5 AND reason <> 'moved-to-another')",
        (now, asked_by, refused_too, SLACK, 2 * GONE_FOR),
    )
    return {
        number: FeedState(url, state, interval, failures / 2, *rest)
        for number, url, state, interval, failures, *rest in rows
    }


def soonest_poll(connection: sqlite3.Connection, numbers: Iterable[int]) -> float:
    """Return when the first of some feeds is due; the store may know others that are not in the list any more."""
    listed = set(numbers)
    rows = connection.execute("SELECT feed_id, next_poll_at FROM feed")
    return min((float(moment) for number, moment in rows if number in listed), default=math.inf)


def read_last_requests(connection: sqlite3.Connection, since: int, until: int) -> dict[str, int]:
    """Return when each host was last asked, for those that were asked between two moments."""
    last: dict[str, int] = {}
    for url, asked in connection.execute(
        "SELECT url, last_asked_at FROM feed WHERE last_asked_at BETWEEN ? AND ?", (since, until)
    ):
        host = host_of(url)
        last[host] = max(asked, last.get(host, asked))
    return last


def host_of(url: str) -> str:
    """Return the host of an address, and its port where one is given."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:  # an older version kept whatever a list named
        return ""


def write_feed_state(connection: sqlite3.Connection, number: int, feed: FeedState) -> None:
    """Remember what happened to a feed, inside a transaction of the caller; an address it had before stays known."""
    (before,) = connection.execute("SELECT url FROM feed WHERE feed_id = ?", (number,)).fetchone()
    if before != feed.url:
        taken = connection.execute("SELECT 1 FROM feed WHERE url = ?", (feed.url,)).fetchone()
        if taken is not None:  # two feeds of the list have become one: this one rests, under its old address
            connection.execute(
                "UPDATE feed SET state = 'gone', reason = 'moved-to-another', next_poll_at = ? WHERE feed_id = ?",
                (feed.next_poll + 10 * 365 * 86400, number),
            )
            return
        connection.execute("INSERT INTO feed_alias VALUES (?, ?) ON CONFLICT DO NOTHING", (before, number))
    values = (
        *(feed.url, feed.state, feed.interval, round(2 * feed.failures), feed.etag, feed.last_modified, feed.body_hash),
        *(feed.redirect_to, feed.redirect_seen, feed.last_ok, feed.last_full, feed.last_asked, feed.next_poll),
        feed.reason,
    )
    changes = ", ".join(f"{name} = ?" for name in _FIELDS)
    connection.execute(f"UPDATE feed SET {changes} WHERE feed_id = ?", (*values, number))


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
