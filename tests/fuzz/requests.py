"""Targets: what clients send to `browse --serve`."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Sequence
from functools import cache

from doccluster.cli.page_server import LOOPBACK
from doccluster.retrieval.browse_server import BrowseServer
from doccluster.retrieval.browsing import open_browser
from tests.fuzz.campaign import Target

TOKEN, HOST = "the-token", f"{LOOPBACK}:8000"
_HEAD = f"Host: {HOST}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
_FORMS = ("verb=search&words=boats", "verb=back", "verb=gather&cluster=0", "verb=gather&cluster=0&cluster=1")
_TOKENS = (
    *(
        b"%00",
        b"%ff",
        b"%ud800",
        b"\r\n",
        b"\0",
        b"Host: evil\r\n",
        b"Content-Length: -1\r\n",
        b"Expect: 100-continue\r\n",
    ),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"http://[::1",
        b"HTTP/9.9",
        b"HTTP/0.9",
        b"&a=b" * 300,
        b"cluster=99999999999",
    ),
    *(b"HEAD", b"PUT", b"the-token", b"A: b\r\n" * 200, b"x" * 70_000, "＝é".encode()),
)


@cache
def _server() -> BrowseServer:
    texts = ["herring boats", "boats in the harbour", "harbour herring", "rye bread", "bread oven", "oven rye"]
    server = BrowseServer(open_browser(texts, n_clusters=2, n_threads=1))
    server.token = TOKEN
    server.server_close()  # what a client sends goes through a pair of sockets
    server.server_port = 8000
    return server


def _answered(data: bytes) -> str:
    """Return the status of the answer to a request; an error that the server would only note comes out."""
    server = _server()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        sender = threading.Thread(target=_send, args=(ours, data))
        sender.start()
        server.RequestHandlerClass(theirs, ("127.0.0.1", 1), server)
        theirs.shutdown(socket.SHUT_RDWR)
        sender.join()
        with contextlib.suppress(ConnectionError):
            answer = ours.recv(65_536)
            status = answer.partition(b" ")[2][:3].decode("latin-1")
            assert b"Traceback" not in answer
            assert TOKEN.encode() in data or b"herring" not in answer
            return status if status.isdigit() else "none"
    return "none"


def _send(client: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)


def _requests() -> Sequence[bytes]:
    pages = [f"GET /?token={TOKEN} HTTP/1.1\r\n{_HEAD}\r\n".encode()]
    posts = [
        f"POST /do?token={TOKEN} HTTP/1.1\r\n{_HEAD}Content-Length: {len(form)}\r\n\r\n{form}".encode()
        for form in _FORMS
    ]
    return pages + posts


REQUESTS: tuple[Target, ...] = (Target("browse_requests", _requests, _answered, _TOKENS),)
