"""One request for one feed: to an address that was checked, within limits on time and size, redirections by rule.

This and `pipeline/chat_server.py` are the only modules that open connections.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, ProtocolError

from doccluster.base.package import __version__
from doccluster.streams.polling.addresses import (
    PORTS,
    Failure,
    Network,
    Refused,
    Target,
    is_allowed,
    redirected,
    target_of,
)
from doccluster.streams.polling.scheduling import Answer

CONNECT_SECONDS = 10.0
WHOLE_SECONDS = 60.0  # from the first byte sent to the last one read, redirections included
MAX_BYTES = 15 * 1024**2  # of a body, before and after decompression
MAX_HOPS = 5
CHUNK = 64 * 1024
FOR_GOOD, FOR_NOW = (301, 308), (302, 303, 307)
AGENT = f"doccluster/{__version__} (feed reader)"
ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.1"
_GZIP_OR_ZLIB, _BARE = 47, -15  # what `zlib` calls them; some servers send "deflate" without its header

Resolver = Callable[[str, int], Sequence[str]]


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@dataclass(frozen=True)
class Reachable:
    """What may be reached, and how names are looked up."""

    allowed: tuple[Network, ...] = ()
    resolve: Resolver = resolve
    ports: frozenset[int] = frozenset()
    whole_seconds: float = WHOLE_SECONDS
    context: ssl.SSLContext | None = None


def fetch(url: str, network: Reachable, *, etag: str = "", last_modified: str = "") -> Answer:
    """Return the answer of an address; nothing that goes wrong is raised.

    `etag`, `last_modified` go back exactly as they came, but for those that no header can hold.
    """
    deadline = time.monotonic() + network.whole_seconds
    headers = {"User-Agent": AGENT, "Accept": ACCEPT, "Accept-Encoding": "gzip, deflate"}
    headers |= {"If-None-Match": etag} if _can_be_sent(etag) else {}
    headers |= {"If-Modified-Since": last_modified} if _can_be_sent(last_modified) else {}
    here, is_for_good, visited, has_answered = url, True, {url}, False
    try:
        for _ in range(MAX_HOPS + 1):
            answer = _ask(here, headers, network, deadline)
            has_answered = True
            if answer.status not in FOR_GOOD + FOR_NOW:
                return replace(answer, moved_to=here if is_for_good and here != url else "")
            is_for_good = is_for_good and answer.status in FOR_GOOD
            here = redirected(here, answer.headers.get("location", ""))
            if here in visited:
                raise Failure("redirect-loop", here)
            visited.add(here)
        raise Failure("redirect-loop", f"more than {MAX_HOPS} redirections")
    except Failure as failure:
        was_asked = has_answered or not isinstance(failure, Refused)
        return Answer(reason=failure.reason, detail=failure.detail, url=here, was_asked=was_asked)


def _can_be_sent(value: str) -> bool:
    """Return whether there is a value, and a header can hold it."""
    return bool(value) and all("\x20" <= character <= "\xff" and character != "\x7f" for character in value)


def _ask(url: str, headers: Mapping[str, str], network: Reachable, deadline: float) -> Answer:
    """Return one answer, redirections included; the body of a redirection is not read."""
    target = target_of(url, ports=network.ports)
    connection, stop = None, None
    try:
        connection = _connected(target, network, deadline)
        stop = threading.Timer(max(0.0, deadline - time.monotonic()), _shut, [connection.sock])
        stop.daemon = True
        stop.start()
        host = f"[{target.host}]" if ":" in target.host else target.host
        port = "" if target.port in PORTS.values() else f":{target.port}"
        connection.request(
            "GET", target.path, headers={"Host": host + port, **headers}, preload_content=False, decode_content=False
        )
        answer = connection.getresponse()
        lowered = {name.lower(): value for name, value in answer.headers.items()}
        body = _body(answer, lowered.get("content-encoding", ""), deadline) if answer.status == 200 else b""
        return Answer(answer.status, headers=lowered, body=body, url=url)
    except Failure:
        raise
    except Exception as error:  # http.client raises many kinds of errors on broken answers
        raise _failure_of(error, network, deadline) from error
    finally:
        if stop is not None:
            stop.cancel()
        if connection is not None:
            connection.close()


def _failure_of(error: Exception, network: Reachable, deadline: float) -> Failure:
    """Return the reason for an error; at the deadline it is ours, whatever the error looks like."""
    if time.monotonic() >= deadline:
        return Failure("too-slow", f"not done in {network.whole_seconds:g} seconds")
    if isinstance(error, ssl.SSLError):
        return Failure("bad-certificate", getattr(error, "verify_message", "") or str(error.reason or error))
    if isinstance(error, ProtocolError):
        return Failure("truncated", "the answer breaks off")
    is_network = isinstance(error, OSError | HTTPError | ValueError)
    return Failure("unreachable" if is_network else "bad-answer", type(error).__name__)


def _connected(target: Target, network: Reachable, deadline: float) -> HTTPConnection:
    """Return a connection to a checked address of the target: if one of its addresses is refused, all are."""
    try:
        addresses = list(dict.fromkeys(network.resolve(target.host, target.port)))
    except (OSError, UnicodeError) as error:
        raise Failure("unknown-host", target.host) from error
    for address in addresses:
        _check_allowed(target, address, network)
    failure: Exception = OSError("no address")
    for address in addresses:
        seconds = min(CONNECT_SECONDS, deadline - time.monotonic())
        if seconds <= 0:
            break
        connection = _connection(target, address, seconds, network)
        try:
            connection.connect()
            _check_allowed(target, connection.sock.getpeername()[0], network)  # what was dialled in the end counts
        except (OSError, HTTPError, Refused) as error:
            connection.close()
            failure = error
            continue
        return connection
    raise failure


def _check_allowed(target: Target, address: str, network: Reachable) -> None:
    if not is_allowed(ipaddress.ip_address(address.partition("%")[0]), network.allowed):
        who = address if address == target.host else f"{target.host} is {address}, which"
        raise Refused("refused-address", f"{who} is not public; --allow-network opens a range")


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


def _body(answer: Any, coding: str, deadline: float) -> bytes:
    """Return the body, inflated, within the limits."""
    coding = coding.strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise Failure("unknown-encoding", coding[:40])
    body = bytearray()
    while piece := answer.read1(CHUNK):
        body += piece
        if len(body) > MAX_BYTES:
            raise Failure("too-large", f"more than {MAX_BYTES:,} bytes")
    if time.monotonic() >= deadline:  # we have ended it ourselves
        raise Failure("too-slow", "the answer takes too long")
    return _inflated(body) if coding not in ("", "identity") else bytes(body)


def _inflated(body: bytearray) -> bytes:
    for kind in (_GZIP_OR_ZLIB, _BARE):
        inflate = zlib.decompressobj(kind)
        with suppress(zlib.error):
            text = inflate.decompress(body, MAX_BYTES + 1)
            if len(text) > MAX_BYTES:
                raise Failure("too-large", f"more than {MAX_BYTES:,} bytes, from {len(body):,} sent")
            if not inflate.eof:
                raise Failure("truncated", "the compressed answer breaks off")
            return text
    raise Failure("bad-encoding", "the answer is not compressed as it says")


def _shut(sock: socket.socket) -> None:
    """End a connection whatever another thread waits for on it."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
