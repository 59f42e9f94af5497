"""The connections of `browse --serve`: a thread each, few at once, and none that keeps the others waiting.

Whoever can reach the port may open connections and send nothing, or a byte now and then. A client has one deadline for
its whole request and one for taking the answer; what works on an answer has none. When no place is free, the client
that has been sending its request for longest gives way.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import HTTPServer
from socketserver import ThreadingMixIn
from typing import Any

from doccluster.cli.streams import write_error

SECONDS = 10.0  # for the whole of a request, and again for taking the answer
MOST_CONNECTIONS = 16


class BoundedServer(ThreadingMixIn, HTTPServer):
    """An HTTP server whose clients wait for no other client."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        self._deadlines: dict[Any, float | None] = {}  # of each open connection, the oldest first; None while we work
        self._guard = threading.Lock()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread for a new connection, unless all are busy with an answer."""
        with self._guard:
            if len(self._deadlines) >= MOST_CONNECTIONS:
                waiting = [one for one, deadline in self._deadlines.items() if deadline is not None]
                if not waiting:
                    super().shutdown_request(request)
                    return
                self._cut(waiting[0])
            self._deadlines[request] = time.monotonic() + SECONDS
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Cut off the clients whose time is up; called about twice a second."""
        now = time.monotonic()
        with self._guard:
            for one in [one for one, deadline in self._deadlines.items() if deadline is not None and deadline < now]:
                self._cut(one)

    @contextmanager
    def working(self, request: Any) -> Iterator[None]:
        """Let the time of a client stand still while its request is worked on; it begins again with the answer."""
        self._set_deadline(request, None)
        try:
            yield
        finally:
            self._set_deadline(request, time.monotonic() + SECONDS)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._guard:
            self._deadlines.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say in a line that an answer failed; a client that went away, or was cut off, gets none."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            write_error(f"doccluster: a request could not be answered ({type(error).__name__})")

    def _set_deadline(self, request: Any, deadline: float | None) -> None:
        with self._guard:
            if request in self._deadlines:
                self._deadlines[request] = deadline

    def _cut(self, request: Any) -> None:
        """End a connection under the thread that reads from it or writes to it."""
        self._deadlines.pop(request, None)
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)
