"""Which feeds to ask: an OPML file, a text file of addresses, or addresses; and what the store remembers of each."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree.ElementTree import ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from doccluster.corpus.encodings import declared_encoding, decode
from doccluster.errors import InputError
from doccluster.streams.polling.scheduling import BASE, FeedState

_FIELDS = (
    *("url", "state", "interval_s", "failures", "etag", "last_modified", "body_hash", "redirect_to", "redirect_seen"),
    *("last_ok_at", "last_full_at", "last_asked_at", "next_poll_at", "reason"),
)


@dataclass(frozen=True)
class Subscription:
    """One feed of a list."""

    url: str
    title: str = ""
    category: str = ""


def subscriptions(given: Sequence[str]) -> list[Subscription]:
    """Return the feeds that lists and addresses name, each once, in order.

    Raises
    ------
    InputError
        If one is neither an address of the web nor a file that lists any.
    """
    found: dict[str, Subscription] = {}
    for one in given:
        listed = [Subscription(one.strip())] if _is_address(one) else _read_list(Path(one))
        for feed in listed:
            found.setdefault(feed.url, feed)
    return list(found.values())


def subscribe(connection: sqlite3.Connection, feeds: Iterable[Subscription]) -> list[int]:
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


def read_due_feeds(connection: sqlite3.Connection, now: int, asked_by: int) -> dict[int, FeedState]:
    """Return what is remembered of the feeds that are due now, or were last asked at a moment or before, by number."""
    rows = connection.execute(
        f"SELECT feed_id, {', '.join(_FIELDS)} FROM feed WHERE next_poll_at <= ? OR last_asked_at <= ?", (now, asked_by)
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


def read_last_requests(connection: sqlite3.Connection, since: int) -> dict[str, int]:
    """Return when each host was last asked, for those that were asked after a moment."""
    last: dict[str, int] = {}
    for url, asked in connection.execute("SELECT url, last_asked_at FROM feed WHERE last_asked_at > ?", (since,)):
        host = host_of(url)
        last[host] = max(asked, last.get(host, asked))
    return last


def host_of(url: str) -> str:
    """Return the host of an address, and its port where one is given."""
    return urlsplit(url).netloc.lower()


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


def _is_address(text: str) -> bool:
    return text.strip().lower().startswith(("http://", "https://"))


def _read_list(path: Path) -> list[Subscription]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}; give an OPML file, a file of addresses, or addresses."
        ) from error
    text = decode(data, declared=declared_encoding(data)).text
    found = _from_opml(text, path) if text.lstrip("\ufeff \t\r\n").startswith("<") else _from_lines(text)
    if not found:
        raise InputError(f"{path} lists no address that begins with http:// or https://; give one that does.")
    return found


def _from_lines(text: str) -> list[Subscription]:
    return [Subscription(line.split()[0]) for line in text.splitlines() if _is_address(line)]


def _from_opml(text: str, path: Path) -> list[Subscription]:
    try:
        root = defusedxml.ElementTree.fromstring(text.encode("utf-8", "replace").partition(b"?>")[2] or text)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise InputError(
            f"{path} is no OPML file: {error}; give one, or a text file with an address a line."
        ) from error
    found: list[Subscription] = []

    def walk(element: object, folders: tuple[str, ...]) -> None:
        for outline in element.findall("outline"):  # type: ignore[attr-defined]
            title = (outline.get("title") or outline.get("text") or "").strip()
            address = (outline.get("xmlUrl") or outline.get("xmlurl") or outline.get("url") or "").strip()
            if _is_address(address):
                found.append(Subscription(address, title, "/".join(folders)))
            walk(outline, (*folders, title) if title and not address else folders)

    for body in [root.find("body") if root.find("body") is not None else root]:
        walk(body, ())
    return found
