"""Pages on the loopback address alone, for those who know the token: what `browse --serve` and `stream serve` share.

A request without the token, or addressed to another name than this machine's own, is refused: neither another user nor
a page of the web can see or do anything. Each connection has a thread, so that no other waits for one that sends
nothing; it has one deadline for its whole request, however often a byte comes, and one for taking the answer.
"""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from doccluster.cli.output import write_error
from doccluster.errors import InputError
from doccluster.report.page import POLICY

SECONDS = 10.0  # for the whole of a request, and again for taking the answer
LOOPBACK = "127.0.0.1"

Form = dict[str, list[str]]


class LoopbackServer(ThreadingHTTPServer):
    """Serves this machine alone, and who knows the token; requests are answered one after the other.

    Port 0 is any free one; without a token there is a new one. Raises InputError if the port cannot be used.
    """

    request_queue_size = 64

    def __init__(self, requests: type[LoopbackRequests], port: int, token: str = "") -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.turn = threading.Lock()  # a step changes what the next page shows
        try:
            super().__init__((LOOPBACK, port), requests)
        except (OSError, OverflowError) as error:
            raise InputError(f"port {port} cannot be used", remedy="leave --port out, or give another") from error

    def handle_error(self, request: object, client_address: object) -> None:
        """Say in a line that an answer failed; a client that went away gets none."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            write_error(f"doccluster: a request could not be answered ({type(error).__name__})")

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{LOOPBACK}:{self.server_port}/?token={self.token}"


class LoopbackRequests(BaseHTTPRequestHandler):
    """Requests that need the name of this machine and the token."""

    server: LoopbackServer
    server_version, sys_version = "doccluster", ""
    query: Form

    def setup(self) -> None:
        """Give a client one deadline for the whole of its request; what works on the answer has none."""
        super().setup()
        self.connection.settimeout(SECONDS)  # for all of an answer too: sendall counts from its beginning
        self.deadline = threading.Timer(SECONDS, self._cut)
        self.deadline.daemon = True
        self.deadline.start()

    def finish(self) -> None:
        """End the connection and its deadline."""
        self.deadline.cancel()
        super().finish()

    def _cut(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)  # under the thread that reads from it

    def parse_request(self) -> bool:
        """Return whether to answer; before all else a request needs the name of this machine and the token."""
        if not super().parse_request():
            return False
        try:
            place = urlsplit(self.path)
            self.place, self.query = place.path, parse_qs(place.query, max_num_fields=20)
        except ValueError:
            self.place, self.query = "", {}  # no address at all, and so one without the token
        names = {f"{name}:{self.server.server_port}" for name in (LOOPBACK, "localhost")}
        token = self.query.get("token", [""])[0].encode("utf-8", "replace")
        is_token_right = secrets.compare_digest(token, self.server.token.encode())
        hosts = self.headers.get_all("Host", [])
        if is_token_right and len(hosts) == 1 and hosts[0] in names:
            return True
        self._answer(HTTPStatus.FORBIDDEN, "open the address that doccluster has printed")
        return False

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing of each request."""

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Hold the browser for one request; a person who waits for it is not cut off."""
        self.deadline.cancel()
        with self.server.turn:
            yield

    def _answer(self, status: HTTPStatus, content: str, kind: str = "text/plain", policy: str = POLICY) -> None:
        body = content.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'none'")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)
