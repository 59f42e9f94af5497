"""The feeds of a simulated day on the loopback address, over HTTP and TLS: those that misbehave, and outlets."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from doccluster.corpus.dates import as_moment
from experiments.news_stream import make_news_stream
from experiments.streams.certificates import EXPIRED, SOUND, STRANGER
from experiments.streams.misbehaving import HIDDEN, SECURED, WITHOUT_TLS, Answer, Request, behaviours, rss, sent

N_LATEST = 12  # entries of an outlet's feed


class Outlets:
    """Feeds that behave: the outlets of a made stream, each with its latest articles, its validator and its pace."""

    def __init__(self, *, n_stories: int, days: float, seed: int) -> None:
        made = make_news_stream(n_stories, days=days, n_outlets=6, merges=1, splits=1, random_state=seed)
        self._articles: dict[str, list[tuple[int, dict[str, str]]]] = {}
        for one in made.articles:
            moment = as_moment(one.date)
            assert moment is not None
            told = {"guid": one.id, "title": one.title, "description": one.text, "link": one.link}
            dated = {**told, "pubDate": formatdate(moment, usegmt=True)}
            self._articles.setdefault(one.source.replace(" ", "-").lower(), []).append((moment, dated))
        self.names = sorted(self._articles)

    def answer(self, name: str, request: Request) -> Answer:
        """Return the latest articles of an outlet, or that there is none since it was asked last."""
        out = [item for moment, item in self._articles[name] if moment <= request.moment]
        validator = f'"{len(out)}"'
        if request.headers.get("If-None-Match") == validator:
            return 304, {"ETag": validator}, b""
        return sent(rss(out[-N_LATEST:], title=name, head="<ttl>15</ttl>"), ETag=validator)


@contextmanager
def served(now: Callable[[], float], outlets: Outlets, *, slow: float) -> Iterator[list[str]]:
    """Serve all feeds, and yield their addresses.

    `now` says what time it is in the simulation, `slow` for how many seconds of it those that are slow are.
    """
    wild = behaviours(slow)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.close_connection = True
            request = Request(now(), dict(self.headers), self.path, self.wfile.write)
            name = self.path.strip("/")
            known = name in outlets.names
            answer = outlets.answer(name, request) if known else wild[name.partition("/")[0]](request)
            if answer is None:
                return
            status, headers, body = answer
            with suppress(OSError):  # who asked may have been killed, or had enough
                self.send_response_only(status)
                for key, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # connections of killed processes break off

    with ExitStack() as stack:
        ports = {None: stack.enter_context(_listening(Server(("127.0.0.1", 0), Handler)))}
        for certificate in (SOUND, EXPIRED, STRANGER):
            ports[certificate] = stack.enter_context(_listening(Server(("127.0.0.1", 0), Handler), certificate))
        yield [
            *(f"http://outlet-{place % 2}.example:{ports[None]}/{name}" for place, name in enumerate(outlets.names)),
            *(_address(name, ports) for name in wild if name not in HIDDEN),
        ]


def _address(name: str, ports: dict[Path | None, int]) -> str:
    certificate = SECURED.get(name)
    scheme = "https" if certificate is not None or name == WITHOUT_TLS else "http"
    host = "twin" if name == "twin-now" else name  # a host is asked one feed after the other
    return f"{scheme}://{host}.example:{ports[certificate]}/{name}"


@contextmanager
def _listening(server: ThreadingHTTPServer, certificate: Path | None = None) -> Iterator[int]:
    """Let a server answer in a thread of its own, over TLS with a certificate; yield its port."""
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        # who connects shakes hands in the thread that answers, not in the one that waits for others
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
