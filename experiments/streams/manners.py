"""How long a pass over 200 feeds takes, whether a simulated week of 200 feeds breaks a rule that a server can see, and
how late articles are first seen.

The server is on the loopback address; feeds have host names of their own that are looked up in a table. In the week the
clock is a fake one that goes on by what is slept.
"""

from __future__ import annotations

import bisect
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

import numpy as np

from doccluster.streams import StoryStream
from doccluster.streams.polling._fetching import Reachable
from doccluster.streams.polling.addresses import parse_networks
from doccluster.streams.polling.poller import HOSTS_AT_ONCE, SPACING, Clock, PollOptions
from doccluster.streams.settings import DAY, HOUR

N_FEEDS, N_HOSTS, N_ENTRIES = 200, 50, 5
BEGINS = 1_772_400_000  # 2026-03-01T21:20:00Z
MIN_INTERVAL = 30 * 60  # that any feed is left alone for
MONTH = 30 * DAY
RATES = (0.2, 1.0, 1.5, 2.0, 6.0)  # new entries an hour
N_PACED, N_LISTED = 4, 20  # feeds of each rate, and entries that each of them lists
PACED_DAYS = 7


class Server(Protocol):
    """What answers for feeds."""

    lock: threading.Lock
    n_now: int

    def answer(self, number: int, host: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]: ...


class FakeClock(Clock):
    """A clock that goes on by what is slept, in any thread."""

    def __init__(self) -> None:
        self._moment, self._lock = float(BEGINS), threading.Lock()

    def now(self) -> float:
        """Return seconds since 1970."""
        return self._moment

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        with self._lock:
            self._moment += seconds


@dataclass
class Watched:
    """What the server knows of one feed."""

    asked: float = 0.0
    whole: float = 0.0
    until: float = 0.0
    validator: str = ""


@dataclass
class Watch:
    """Counts requests, and those that break a rule."""

    clock: Clock
    n_requests: int = 0
    breaches: Counter[str] = field(default_factory=Counter)
    feeds: dict[str, Watched] = field(default_factory=dict)
    hosts: dict[str, float] = field(default_factory=dict)
    n_now: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, number: int, host: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Return the answer of a feed at this moment, after the request was judged."""
        now = self.clock.now()
        with self.lock:
            self.n_requests += 1
            feed = self.feeds.setdefault(f"{host}/{number}", Watched())
            self._judge(feed, host, headers, now)
            self.hosts[host] = feed.asked = now
            return self._content(feed, number, now, headers)

    def _judge(self, feed: Watched, host: str, headers: dict[str, str], now: float) -> None:
        sent = headers.get("If-None-Match", "")
        broken = {
            "a host asked again too soon": now - self.hosts.get(host, 0.0) < SPACING,
            "a feed asked again too soon": now < feed.until,
            "an invented validator": bool(sent) and sent != feed.validator,
            "a validator left out": not sent and bool(feed.validator) and now - feed.whole < 6 * DAY,
            "no name": not headers.get("User-Agent", "").startswith("doccluster/"),
            "a cookie": "Cookie" in headers,
            "too many hosts at once": self.n_now > HOSTS_AT_ONCE,
        }
        self.breaches.update(rule for rule, is_broken in broken.items() if is_broken)

    def _content(
        self, feed: Watched, number: int, now: float, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        """Every tenth feed has gone, or is overloaded, or asks for patience; the others change each few hours."""
        feed.until = now + MIN_INTERVAL
        if number % 10 == 7 and number % 20 == 7:
            feed.until = now + MONTH - 1
            return 410, {}, b""
        if number % 10 == 8:
            feed.until = now + 3 * HOUR
            return 429, {"Retry-After": str(3 * HOUR)}, b""
        state = int(now - BEGINS) // (HOUR * (1 + number % 12))
        given = {"ETag": f'"{number}-{state}"'}
        if number % 10 == 9:
            given["Cache-Control"] = f"max-age={6 * HOUR}"
            feed.until = now + 6 * HOUR
        if headers.get("If-None-Match") == given["ETag"]:
            return 304, given, b""
        feed.validator, feed.whole = given["ETag"], now if not headers.get("If-None-Match") else feed.whole
        dates = [now - HOUR * (N_ENTRIES - place) for place in range(N_ENTRIES)]
        return 200, given, _feed(number, state, dates)


def _feed(number: int, first: int, dates: Sequence[float]) -> bytes:
    """Return a feed that lists the entries from one on, with their dates."""
    items = []
    for entry, moment in enumerate(dates, first):
        text = " ".join(f"word{(number * 7919 + entry * 104729 + word * 31) % 5000}" for word in range(40))
        date = formatdate(moment, usegmt=True)
        items.append(
            f"<item><guid>{number}-{entry}</guid><title>Notice {entry} of feed {number}</title>"
            f"<description>{text}</description><pubDate>{date}</pubDate></item>"
        )
    return f"<rss version='2.0'><channel><title>Feed {number}</title>{''.join(items)}</channel></rss>".encode()


@dataclass
class PacedFeeds:
    """Feeds whose entries appear at random moments, this many an hour, and that have validators.

    Feed `number` has the rate `RATES[number // N_PACED]`.
    """

    clock: FakeClock
    requests: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    n_now: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    moments: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        random = np.random.default_rng(0)
        for rate in np.repeat(RATES, N_PACED).tolist():
            span = PACED_DAYS * DAY + N_LISTED * HOUR / rate
            moments = BEGINS + PACED_DAYS * DAY - random.uniform(0, span, random.poisson(rate * span / HOUR))
            self.moments.append(sorted(moments.tolist()))

    def answer(self, number: int, host: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Return the newest entries at this moment, or that nothing has changed."""
        now = self.clock.now()
        with self.lock:
            self.requests[number].append(now)
        end = bisect.bisect_right(self.moments[number], now)
        given = {"ETag": f'"{number}-{end}"'}
        if headers.get("If-None-Match") == given["ETag"]:
            return 304, given, b""
        first = max(0, end - N_LISTED)
        return 200, given, _feed(number, first, self.moments[number][first:end])


@contextmanager
def served(watch: Server) -> Iterator[int]:
    """Serve the feeds on the loopback address; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with watch.lock:
                watch.n_now += 1
            host = self.headers.get("Host", "").partition(":")[0]
            status, headers, body = watch.answer(int(self.path.strip("/")), host, dict(self.headers))
            self.send_response_only(status)
            for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
                self.send_header(name, value)
            with watch.lock:
                watch.n_now -= 1
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def options_for(port: int, clock: Clock, *, spacing: float) -> PollOptions:
    """Return how the feeds are asked: every name is that of the loopback address, which is allowed."""
    reach = Reachable(
        allowed=parse_networks(["127.0.0.0/8"]),
        resolve=lambda _host, _port: ["127.0.0.1"],
        ports=frozenset({port}),
    )
    return PollOptions(reach=reach, spacing=spacing, clock=clock)


def addresses(port: int, n_feeds: int = N_FEEDS) -> list[str]:
    """Return the addresses of the feeds."""
    return [f"http://host-{number % N_HOSTS}.example:{port}/{number}" for number in range(n_feeds)]


def measure_manners(days: float = 7.0) -> None:
    """Print how long one pass takes with spacing off, then what a simulated week breaks."""
    watch = Watch(Clock())
    with served(watch) as port, StoryStream() as stream:
        began = time.perf_counter()
        done = stream.poll(addresses(port), options=options_for(port, watch.clock, spacing=0.0))
        seconds = time.perf_counter() - began
    print(
        f"  one pass over {done.n_due} feeds with spacing off: {seconds:.1f} s, {done.n_new} new articles", flush=True
    )
    clock = FakeClock()
    watch = Watch(clock)
    with served(watch) as port, StoryStream() as stream:
        for _ in stream.follow(addresses(port), options=options_for(port, clock, spacing=SPACING)):
            if clock.now() - BEGINS > days * DAY:
                break
        findings = stream.check()
    told = ", ".join(f"{count} x {rule}" for rule, count in watch.breaches.items()) or "none"
    print(f"  {days:g} simulated days of {N_FEEDS} feeds on {N_HOSTS} hosts: {watch.n_requests:,} requests")
    print(f"  breaches of manners: {told}; the store is {'not sound' if findings else 'sound'}")


def measure_lateness() -> None:
    """Print how late the articles of feeds of several paces are first seen, and how often each feed is asked for that.

    An article that is never seen, since its feed has listed too many others by the next request, is as late as the end.
    """
    clock = FakeClock()
    feeds = PacedFeeds(clock)
    with served(feeds) as port, StoryStream() as stream:
        for _ in stream.follow(addresses(port, len(feeds.moments)), options=options_for(port, clock, spacing=SPACING)):
            if clock.now() - BEGINS > PACED_DAYS * DAY:
                break
    print(f"  {PACED_DAYS} simulated days of feeds with {N_LISTED} entries, {N_PACED} feeds of each pace:")
    print("  new an hour    first seen later by, in the median    at 90 %    requests a day    least time between two")
    for place, rate in enumerate(RATES):
        own = range(place * N_PACED, (place + 1) * N_PACED)
        late = np.concatenate([_lateness(feeds.moments[number], feeds.requests[number]) for number in own])
        median, most = np.percentile(late, [50, 90]) / 60
        n_requests = sum(len(feeds.requests[number]) for number in own) / len(own) / PACED_DAYS
        least = min(float(np.diff(feeds.requests[number]).min()) for number in own) / 60
        print(f"  {rate:11.1f} {median:34.0f} min {most:8.0f} min {n_requests:13.1f} {least:21.0f} min")


def _lateness(moments: Sequence[float], requests: Sequence[float]) -> np.ndarray:
    """Return how long after its moment each entry, from the first request on, was listed in an answer."""
    late = []
    for place, moment in enumerate(moments):
        if moment <= requests[0]:
            continue
        answer = bisect.bisect_left(requests, moment)
        gone = moments[place + N_LISTED] if place + N_LISTED < len(moments) else requests[-1]
        if answer < len(requests):
            seen = requests[answer] if requests[answer] <= gone else requests[-1]
            late.append(seen - moment)
    return np.array(late)
