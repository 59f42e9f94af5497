"""When a feed is asked again, decided from its answer alone; nothing here looks at a clock or a socket."""

from __future__ import annotations

import email.utils
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from doccluster.streams.article import Moment
from doccluster.streams.settings import DAY, HOUR

MINUTE = 60
BASE, LEAST, MOST = HOUR, 30 * MINUTE, DAY
MOST_WITH_NEWS = 50 * MINUTE  # with the spread still less than an hour, so that an hourly job finds the feed due
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
    """What came of asking a feed."""

    status: int = 0  # of HTTP; 0 if there was no answer
    reason: str = ""  # a fixed word if it failed (unreachable, too-large, not-a-feed, ...), else empty
    headers: Mapping[str, str] = field(default_factory=dict)  # by names in small letters
    moved_to: str = ""  # the address that answered, if all redirections on the way there were for good, else empty
    body_hash: str = ""
    n_entries: int = 0
    n_new: int = 0
    hints: Hints = field(default_factory=Hints)
    was_asked: bool = True  # whether anything was sent; not if the address was refused


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
        interval = min(N_AWAITED * (now - feed.last_ok) / answer.n_new, MOST_WITH_NEWS)
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
