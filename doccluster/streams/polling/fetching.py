"""One request for one feed: to an address that was checked, within limits on time and size, redirections by rule.

This is the only module that opens a connection.
"""

from __future__ import annotations

import io
import ipaddress
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, ProtocolError

from doccluster.base.version import __version__
from doccluster.streams.polling.addresses import Network, Refused, Target, is_allowed, redirected, target_of
from doccluster.streams.polling.reasons import Reason

CONNECT_SECONDS = 10.0
WHOLE_SECONDS = 60.0  # from the first byte sent to the last one read, redirections included
MOST_BYTES = 15 * 1024**2  # after decompression
MOST_SENT = 16 * 1024**2  # as they come in, with headers and the frames of chunks
MOST_HOPS = 5
CHUNK = 64 * 1024
FOR_GOOD, FOR_NOW = (301, 308), (302, 303, 307)
AGENT = f"doccluster/{__version__} (feed reader)"
ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.1"

Resolver = Callable[[str, int], Sequence[str]]


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@dataclass(frozen=True)
class Reachable:
    """What may be reached, and how names are looked up."""

    allowed: tuple[Network, ...] = ()
    resolve: Resolver = resolve
    ports: frozenset[int] = frozenset()
    whole_seconds: float = WHOLE_SECONDS
    context: ssl.SSLContext | None = None


@dataclass(frozen=True)
class Fetched:
    """An answer: `reason` is a fixed word if there is none that can be used; `was_asked`, `moved_to` as in `Answer`."""

    status: int = 0
    reason: str = ""
    detail: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    url: str = ""
    moved_to: str = ""
    was_asked: bool = True


class _Failed(Exception):
    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def fetch(url: str, network: Reachable, *, etag: str = "", last_modified: str = "") -> Fetched:
    """Return the answer of an address; nothing that goes wrong is raised.

    Parameters
    ----------
    etag, last_modified : str
        Sent back exactly as they were given, so that a feed that has not changed need not be sent; left out where
        no header can hold them.
    """
    deadline = time.monotonic() + network.whole_seconds
    headers = {"User-Agent": AGENT, "Accept": ACCEPT, "Accept-Encoding": "gzip, deflate"}
    headers |= {"If-None-Match": etag} if _can_be_sent(etag) else {}
    headers |= {"If-Modified-Since": last_modified} if _can_be_sent(last_modified) else {}
    here, is_for_good, visited, has_answered = url, True, {url}, False
    try:
        for _ in range(MOST_HOPS + 1):
            found = _ask(here, headers, network, deadline)
            has_answered = True
            if found.status not in FOR_GOOD + FOR_NOW:
                moved = here if is_for_good and here != url else ""
                return Fetched(found.status, "", "", found.headers, found.body, here, moved)
            is_for_good = is_for_good and found.status in FOR_GOOD
            here = redirected(here, found.headers.get("location", ""))
            if here in visited:
                raise _Failed("redirect-loop", here)
            visited.add(here)
        raise _Failed("redirect-loop", f"more than {MOST_HOPS} redirections")
    except (Refused, _Failed) as error:
        was_asked = has_answered or not isinstance(error, Refused)
        return Fetched(reason=error.reason, detail=error.detail, url=here, was_asked=was_asked)


def _can_be_sent(value: str) -> bool:
    """Return whether there is a value, and a header can hold it."""
    return bool(value) and all("\x20" <= character <= "\xff" and character != "\x7f" for character in value)


def _ask(url: str, headers: Mapping[str, str], network: Reachable, deadline: float) -> Fetched:
    """Return one answer, redirections included; the body of a redirection is not read."""
    target = target_of(url, ports=network.ports)
    connection, stop = None, None
    try:
        connection = _connected(target, network, deadline)
        connection.sock = _Metered(connection.sock)
        stop = threading.Timer(max(0.0, deadline - time.monotonic()), _shut, [connection.sock])
        stop.daemon = True
        stop.start()
        host = f"[{target.host}]" if ":" in target.host else target.host
        port = "" if target.port in (80, 443) else f":{target.port}"
        connection.request(
            "GET", target.path, headers={"Host": host + port, **headers}, preload_content=False, decode_content=False
        )
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.headers.items()}
        body = _body(answer, told, deadline) if answer.status == 200 else b""
        return Fetched(answer.status, headers=told, body=body, url=url)
    except (Refused, _Failed):
        raise
    except Exception as error:  # http.client raises many kinds of errors on broken answers
        raise _failure_of(error, network, deadline) from error
    finally:
        if stop is not None:
            stop.cancel()
        if connection is not None:
            connection.close()


def _failure_of(error: Exception, network: Reachable, deadline: float) -> _Failed:
    """Return the reason for an error; at the deadline it is ours, whatever the error looks like."""
    if time.monotonic() >= deadline:
        return _Failed("too-slow", f"not done in {network.whole_seconds:g} seconds")
    if isinstance(error, ssl.SSLError):
        return _Failed("bad-certificate", getattr(error, "verify_message", "") or str(error.reason or error))
    known = isinstance(error, OSError | HTTPError | ValueError)
    return _Failed("unreachable" if known else "bad-answer", type(error).__name__)


def _connected(target: Target, network: Reachable, deadline: float) -> HTTPConnection:
    """Return a connection to a checked address of the target: if one of its addresses is refused, all are."""
    try:
        addresses = list(dict.fromkeys(network.resolve(target.host, target.port)))
    except (OSError, UnicodeError) as error:
        raise _Failed("unknown-host", target.host) from error
    for one in addresses:
        if not is_allowed(ipaddress.ip_address(one.partition("%")[0]), network.allowed):
            raise _not_public(target, one)
    failure: Exception = OSError("no address")
    for one in addresses:
        seconds = min(CONNECT_SECONDS, deadline - time.monotonic())
        if seconds <= 0:
            break
        connection = _connection(target, one, seconds, network)
        try:
            connection.connect()
        except (OSError, HTTPError) as error:
            connection.close()
            failure = error
            continue
        peer = connection.sock.getpeername()[0]  # what was dialled in the end is what counts
        if not is_allowed(ipaddress.ip_address(peer.partition("%")[0]), network.allowed):
            connection.close()
            raise _not_public(target, peer)
        return connection
    raise failure


def _not_public(target: Target, address: str) -> Refused:
    who = address if address == target.host else f"{target.host} is {address}, which"
    return Refused("refused-address", f"{who} is not public; --allow-network opens a range")


def _connection(target: Target, address: str, seconds: float, network: Reachable) -> HTTPConnection:
    if target.scheme == "http":
        return HTTPConnection(address, target.port, timeout=seconds)
    context = network.context or _system_trust()
    return HTTPSConnection(address, target.port, timeout=seconds, ssl_context=context, server_hostname=target.host)


@cache
def _system_trust() -> ssl.SSLContext:
    """Return a TLS context that trusts the authorities of the machine; TLS compares the name with the certificate's."""
    context = ssl.create_default_context()
    context.hostname_checks_common_name = False  # names are where RFC 6125 has them, in the alternative names
    return context


def _body(answer: Any, headers: Mapping[str, str], deadline: float) -> bytes:
    """Return the body, inflated, within the limits."""
    coding = headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise _Failed("unknown-encoding", coding[:40])
    inflate = None if coding in ("identity", "") else zlib.decompressobj(wbits=47 if coding != "deflate" else 15)
    parts: list[bytes] = []
    size = n_sent = 0
    while True:
        if time.monotonic() >= deadline:
            raise _Failed("too-slow", "the answer takes too long")
        try:
            some = answer.read1(CHUNK)
        except ProtocolError as error:
            raise _broken_off(deadline, "the answer breaks off") from error
        if not some:
            break
        n_sent += len(some)
        if inflate is not None:
            some, inflate = _inflated(inflate, some, MOST_BYTES - size + 1, is_first=n_sent == len(some))
        size += len(some)
        if size > MOST_BYTES:
            raise _Failed("too-large", f"more than {MOST_BYTES:,} bytes, from {n_sent:,} sent")
        parts.append(some)
    if inflate is not None and not inflate.eof:
        raise _broken_off(deadline, "the compressed answer breaks off")
    announced = headers.get("content-length", "")
    if announced.isdecimal() and "transfer-encoding" not in headers and n_sent < int(announced):
        raise _broken_off(deadline, f"{n_sent:,} of {int(announced):,} bytes")
    return b"".join(parts)


def _broken_off(deadline: float, detail: str) -> _Failed:
    """Return the failure of an answer that ends too early: at the deadline we have ended it ourselves."""
    is_late = time.monotonic() >= deadline
    return _Failed("too-slow", "the answer takes too long") if is_late else _Failed("truncated", detail)


def _inflated(inflate: Any, some: bytes, most: int, *, is_first: bool) -> tuple[bytes, Any]:
    try:
        return inflate.decompress(some, max_length=most), inflate
    except zlib.error as error:
        if is_first:  # "deflate" without its header, as some servers send it
            bare = zlib.decompressobj(wbits=-15)
            with suppress(zlib.error):
                return bare.decompress(some, max_length=most), bare
        raise _Failed("bad-encoding", str(error)) from error


class _Metered:
    """A socket from which no more is read than `MOST_SENT` bytes, whatever they are."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Meter(self._sock.makefile(mode, buffering=0)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


class _Meter(io.RawIOBase):
    def __init__(self, source: Any) -> None:
        self._source = source
        self._n_left = MOST_SENT

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        n_read: int | None = self._source.readinto(buffer)
        self._n_left -= n_read or 0
        if self._n_left < 0:
            raise _Failed("too-large", f"more than {MOST_SENT:,} bytes were sent")
        return n_read

    def close(self) -> None:
        self._source.close()
        super().close()


def _shut(sock: Any) -> None:
    """End a connection whatever another thread waits for on it."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
