"""Servers on the loopback address that behave, and that do not; and a clock and names that tests decide."""

from __future__ import annotations

import email.utils
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from doccluster.streams.polling._fetching import Reachable
from doccluster.streams.polling.addresses import parse_networks
from doccluster.streams.polling.poller import PollOptions

LOOPBACK = parse_networks(["127.0.0.0/8"])
NOW = 1_772_400_000  # 2026-03-01T21:20:00Z
_GUARDED = []  # the attempts that each guard has met


def _refuse_connections(event, arguments):
    if event == "socket.connect" and _GUARDED:
        address = arguments[1]
        if isinstance(address, tuple) and not str(address[0]).startswith("127."):
            _GUARDED[-1].append(address)
            raise OSError(f"a test connects to {address}")


sys.addaudithook(_refuse_connections)


@contextmanager
def loopback_only():
    """Let any attempt to connect to another address than the loopback one fail the test, whoever catches its error."""
    attempts = []
    _GUARDED.append(attempts)
    try:
        yield
    finally:
        _GUARDED.pop()
    assert attempts == [], f"a test connects to {attempts}"


class FakeClock:
    """A clock that stands still, and goes on by what is slept."""

    def __init__(self, moment=NOW):
        self.moment = float(moment)
        self.slept = []
        self._lock = threading.Lock()

    def now(self):
        return self.moment

    def sleep(self, seconds):
        with self._lock:
            self.slept.append(seconds)
            self.moment += seconds


class FeedServer:
    """A server whose answers are functions of the request, by path; it records what it was asked."""

    def __init__(self):
        self.routes, self.asked = {}, []
        self.now = None  # a clock for the header Date: that of the machine would not be the test's
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.asked.append((self.path, dict(self.headers)))
                route = outer.routes.get(self.path.partition("?")[0])
                answer = route(self) if callable(route) else route
                if answer is None and route is not None:
                    return
                status, headers, body = answer or (404, {}, b"")
                self.send_response_only(status)
                if outer.now is not None:
                    self.send_header("Date", email.utils.formatdate(outer.now(), usegmt=True))
                for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = True

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def url(self, path, host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def options_for(server, clock=None, *, names=None, allowed=LOOPBACK, whole_seconds=300.0, spacing=0.0):
    """How tests ask: loopback addresses allowed, names looked up in a table."""

    def look_up(host, port):
        return (names or {}).get(host, [host] if host[0].isdigit() else ["127.0.0.1"])

    reach = Reachable(allowed=allowed, resolve=look_up, ports=frozenset({server.port}), whole_seconds=whole_seconds)
    return PollOptions(reach=reach, spacing=spacing, clock=clock or FakeClock())


def rss(*items, head=""):
    """A feed with items (guid, title, text, date)."""
    made = "".join(
        f"<item><guid>{guid}</guid><title>{title}</title><description>{text}</description>"
        f"<link>https://example.org/{guid}</link><pubDate>{date}</pubDate></item>"
        for guid, title, text, date in items
    )
    return f"<rss version='2.0'><channel><title>Courier</title>{head}{made}</channel></rss>".encode()


FERRY = ("1", "Ferry aground", "Ferry runs aground off Skerrow harbour", "Sun, 01 Mar 2026 08:00:00 GMT")
BANK = ("2", "Bank holds rates", "Central bank leaves interest rates unchanged", "Sun, 01 Mar 2026 09:00:00 GMT")
