"""Which feeds to ask, what the store remembers of each, and when one is asked again.

Feeds come from an OPML file, a text file of addresses, or addresses. When a feed is asked again is decided from its
answer alone; nothing here looks at a clock or a socket.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

from doccluster.corpus.encodings import declared_encoding, decode
from doccluster.corpus.feeds import ListedFeed, listed_feeds, web_address
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.errors import InputError
from doccluster.streams.article import SLACK, Moment
from doccluster.streams.polling.addresses import LONGEST, Refused, listed_target
from doccluster.streams.settings import DAY, HOUR
from doccluster.streams.store.database import read_column

MINUTE = 60
BASE, LEAST, MOST = HOUR, 30 * MINUTE, DAY
MAX_WITH_NEWS = 50 * MINUTE  # with the spread still less than an hour, so that an hourly job finds the feed due
N_AWAITED = 2  # new entries in an answer that a feed is left alone for
SLOWER = 1.25  # times the interval, after an answer with nothing new
WEEK = 7 * DAY
GONE_FOR = 30 * DAY  # a feed that says it is gone is asked once more after so long
GIVEN_UP_AFTER = 30.0  # weighted failures; from then on a feed is asked once a week
ADOPTED_AFTER = 3  # polls in a row that were sent to the same new address for good
JITTER = 0.1  # share of the interval
_REASONS = {
    200: "",
    304: "",
    401: "forbidden",
    403: "forbidden",
    404: "missing",
    410: "gone",
    429: "asked-to-wait",
    503: "asked-to-wait",
}
_PERIODS = {"hourly": HOUR, "daily": DAY, "weekly": WEEK, "monthly": 30 * DAY, "yearly": 365 * DAY}
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
MAX_BYTES = 16 * 1024**2  # of a list
# the columns of a `FeedState`, in its order
_COLUMNS = (
    *("url", "state", "interval_s", "failures", "etag", "last_modified", "body_hash", "redirect_to", "redirect_seen"),
    *("last_ok_at", "last_full_at", "last_asked_at", "next_poll_at", "reason", "skip_hours", "skip_days"),
)

Unusable = tuple[str, str, str]  # an address, the reason, details for a person


@dataclass(frozen=True)
class FeedState:
    """What is remembered of a feed between polls."""

    url: str
    state: str = "active"  # active, failing or gone
    interval: int = BASE  # seconds between two polls, as it was settled last
    failures: float = 0.0
    etag: str = ""  # this and the next two: what the last whole answer said of itself
    last_modified: str = ""
    body_hash: str = ""
    redirect_to: str = ""  # where it said that it has moved for good
    redirect_seen: int = 0  # in how many polls in a row
    last_ok: Moment = 0  # when it answered, answered with a body, and was asked; 0 for never
    last_full: Moment = 0
    last_asked: Moment = 0
    next_poll: Moment = 0
    reason: str = ""  # why the last poll failed; empty if it did not
    skip_hours: tuple[int, ...] = ()  # as in `Hints`, of its last body
    skip_days: tuple[int, ...] = ()


@dataclass(frozen=True)
class Hints:
    """What a feed says about how often it changes: minutes, and hours and weekdays (0 Monday) to leave out, in GMT."""

    ttl: int | None = None
    update_period: int | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What came of asking a feed; what its body says is filled in when that has been read."""

    status: int = 0  # of HTTP; 0 if there was no answer
    reason: str = ""  # a fixed word if it failed (unreachable, too-large, not-a-feed, ...), else empty
    detail: str = ""  # of the reason, for a person
    headers: Mapping[str, str] = field(default_factory=dict)  # by names in small letters
    body: bytes = b""
    url: str = ""  # the address that answered
    moved_to: str = ""  # the same if all redirections on the way there were for good, else empty
    was_asked: bool = True  # whether anything was sent; not if the address was refused
    body_hash: str = ""
    n_entries: int = 0
    n_new: int = 0
    hints: Hints = field(default_factory=Hints)


def next_poll(feed: FeedState, answer: Answer, now: Moment) -> FeedState:
    """Return the state of a feed after an answer, with the moment of the next poll.

    410 ends it (it is asked once more after 30 days). 429 and 503 wait as long as they say, from the interval to a day.
    Other failures wait longer each time, at most a day; after 30 of them a week. Anything that answers as it should
    sets failures to 0.
    """
    usual = "server-error" if answer.status >= 500 else "unexpected-answer"
    reason = answer.reason or _REASONS.get(answer.status, usual)
    asked = replace(feed, last_asked=now if answer.was_asked else feed.last_asked, reason=reason)
    interval = max(feed.interval, LEAST)  # an older version kept shorter ones
    if answer.status == 410:
        return replace(asked, state="gone", next_poll=now + GONE_FOR)
    if answer.status in (429, 503) and not answer.reason:
        wait = retry_after(answer.headers, now)
        wait = interval if wait is None else min(max(wait, interval), MOST)
        return replace(asked, state="failing", failures=feed.failures + 0.5, next_poll=now + wait + _spread(feed, wait))
    if asked.reason:
        failures = feed.failures + 1.0
        wait = WEEK if failures >= GIVEN_UP_AFTER else min(int(interval * max(1.0, failures)), MOST)
        return replace(asked, state="failing", failures=failures, next_poll=now + wait + _spread(feed, wait))
    return _after_success(asked, answer, now)


def must_be_whole(feed: FeedState, now: Moment) -> bool:
    """Return whether a feed is asked without conditions: for the first time, or a week after its last whole answer."""
    return not feed.last_full or abs(now - feed.last_full) >= WEEK


def believed_now(machine: Moment, server: Moment | None, last: Moment | None) -> Moment:
    """Return the moment by the machine's clock, or by a server's, if the machine's is the only one to be far off.

    >>> believed_now(90 * DAY, 2 * DAY, DAY) // DAY, believed_now(90 * DAY, 90 * DAY, DAY) // DAY
    (2, 90)
    >>> believed_now(DAY, 90 * DAY, 80 * DAY) // DAY, believed_now(DAY, 90 * DAY, None) // DAY
    (80, 1)
    """
    if server is None:
        return machine
    if last is not None and machine < min(server, last) - DAY:
        return min(server, last)  # a server alone, which may say anything, does not move a clock ahead
    latest = max(server, last or server)
    return latest if machine > latest + DAY else machine


def retry_after(headers: Mapping[str, str], now: Moment) -> int | None:
    """Return for how long an answer asks to be left alone, in seconds; None if it does not say.

    >>> retry_after({"retry-after": "120"}, 0), retry_after({"retry-after": "Thu, 01 Jan 1970 01:00:00 GMT"}, 600)
    (120, 3000)
    """
    wait = headers.get("retry-after", "").strip()
    if wait.isdecimal():
        return min(int(wait[:10]), 10 * MOST)
    moment = http_date(wait)
    return None if moment is None else max(0, moment - now)


def http_date(text: str) -> Moment | None:
    """Return a date as HTTP writes it, None if it is none."""
    try:
        return int(email.utils.parsedate_to_datetime(text).timestamp()) if text else None
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def period_of(word: str, frequency: str) -> int | None:
    """Return seconds of sy:updatePeriod and sy:updateFrequency.

    >>> period_of("daily", "4")
    21600
    """
    if word.strip().lower() not in _PERIODS:
        return None
    times = int(frequency) if frequency.strip().isdecimal() and int(frequency) > 0 else 1
    return _PERIODS[word.strip().lower()] // times


def _after_success(asked: FeedState, answer: Answer, now: Moment) -> FeedState:
    interval = _interval(asked, answer, now)
    later = replace(
        asked,
        state="active",
        failures=0.0,
        interval=interval,
        etag=answer.headers.get("etag", asked.etag if answer.status == 304 else "")[:1000],
        last_modified=answer.headers.get("last-modified", asked.last_modified if answer.status == 304 else "")[:1000],
        body_hash=answer.body_hash or asked.body_hash,
        last_ok=now,
        last_full=now if answer.status == 200 else asked.last_full,
    )
    if answer.n_entries:  # else there was no body that says it
        later = replace(later, skip_hours=answer.hints.skip_hours, skip_days=answer.hints.skip_days)
    n_moves = (later.redirect_seen + 1 if answer.moved_to == later.redirect_to else 1) if answer.moved_to else 0
    later = replace(later, redirect_to=answer.moved_to, redirect_seen=n_moves)
    if n_moves >= ADOPTED_AFTER:
        later = replace(later, url=answer.moved_to, redirect_to="", redirect_seen=0)
    return replace(later, next_poll=_outside(now + interval + _spread(asked, interval), later))


def _interval(feed: FeedState, answer: Answer, now: Moment) -> int:
    """Return for how long a feed is left alone, which is never less than it asks for.

    After news it is as long as two new entries took to appear; after none a quarter longer than before.
    """
    hints = answer.hints
    asked_for = max((hints.ttl or 0) * MINUTE, hints.update_period or 0, _fresh_for(answer.headers, now))
    if not answer.n_new:
        interval = min(SLOWER * feed.interval, 4.0 * max(BASE, asked_for))
        if not answer.n_entries:  # there was no body, which may ask for more
            interval = max(interval, feed.interval)
    elif not feed.last_ok:
        interval = BASE
    else:
        interval = min(N_AWAITED * (now - feed.last_ok) / answer.n_new, MAX_WITH_NEWS)
    return int(min(max(interval, asked_for, LEAST), MOST))


def _fresh_for(headers: Mapping[str, str], now: Moment) -> int:
    """Return for how long an answer says it is fresh."""
    control = headers.get("cache-control", "").lower()
    if "no-cache" in control or "no-store" in control:
        return 0
    max_age = _MAX_AGE.search(control)
    if max_age is not None:
        return int(max_age[1])
    expires = http_date(headers.get("expires", ""))
    return 0 if expires is None else max(0, expires - now)


def _outside(when: Moment, feed: FeedState) -> Moment:
    """Return the first moment from `when` on that is in no hour or day the feed asks to leave out."""
    if len(feed.skip_hours) >= 24 or len(feed.skip_days) >= 7:
        return when
    while (when // DAY + 3) % 7 in feed.skip_days or when % DAY // HOUR in feed.skip_hours:  # 1970 began on Thursday
        when = (when // HOUR + 1) * HOUR
    return when


def _spread(feed: FeedState, wait: int) -> int:
    """Return seconds that keep feeds apart: of the address, so that a replay is the same."""
    share = int.from_bytes(blake2b(feed.url.encode("utf-8", "surrogatepass"), digest_size=4).digest()) / 2**32
    return math.floor(share * JITTER * wait)


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
        statement = "SELECT feed_id FROM feed WHERE url = ? UNION SELECT feed_id FROM feed_alias WHERE url = ?"
        numbers += read_column(connection, statement, feed.url, feed.url) or read_column(
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
        f"SELECT feed_id, {', '.join(_COLUMNS)} FROM feed WHERE next_poll_at <= :now OR last_asked_at <= :asked_by"
        " OR (:refused_too AND last_asked_at = 0 AND reason = 'refused-address') OR last_asked_at > :ahead"
        " OR (next_poll_at > :far_ahead AND reason <> 'moved-to-another')",
        {"now": now, "asked_by": asked_by, "refused_too": refused_too}
        | {"ahead": now + SLACK, "far_ahead": now + 2 * GONE_FOR},
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
        data = read_whole(path, limit=MAX_BYTES)
        feeds = listed_feeds(decode(data, declared=declared_encoding(data)).text)
    except ReadFailure as failure:
        raise InputError(
            f"{path} cannot be read: {failure.detail}; give an OPML file, a text file with an address a line, or "
            "addresses."
        ) from failure
    if not feeds:
        raise InputError(f"{path} lists no address that begins with http:// or https://; give one that does.")
    return feeds
