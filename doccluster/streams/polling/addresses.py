"""Which addresses may be asked: names and numbers are checked, and so is the address that is dialled in the end."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from doccluster.errors import InputError

# why a feed was not read: one word for each reason, in the output, in the table `fetch` and on the front page
_OF_ADDRESSES = "bad-address bad-port bad-scheme redirect-downgrade redirect-loop redirect-nowhere refused-address"
_OF_CONNECTIONS = "bad-answer bad-certificate too-slow unknown-host unreachable"
_OF_ANSWERS = "asked-to-wait forbidden gone missing moved-to-another server-error unexpected-answer"
_OF_BODIES = "bad-encoding no-entries not-a-feed too-large truncated unknown-encoding unreadable-feed"
REASONS = frozenset(" ".join((_OF_ADDRESSES, _OF_CONNECTIONS, _OF_ANSWERS, _OF_BODIES)).split())

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

LONGEST = 2048
_SAFE = "%/:=&?~#+!$,;'@()*[]"  # what stays as it is in a path with its query
PORTS = {"http": 80, "https": 443}
USUAL_PORTS = frozenset({80, 443, 8080, 8443})
# besides what `ipaddress` calls not global: its table depends on the version of Python (CVE-2024-4032)
_DENIED = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
            *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
            *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
        ),
    )
)
_PUBLIC_6 = ipaddress.ip_network("2000::/3")  # of version 6 nothing else has been given out (RFC 4291)


class Failure(Exception):
    """What ends a request: one of `REASONS`, and details for a person."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class Refused(Failure):
    """An address that is not asked."""


@dataclass(frozen=True)
class Target:
    """Where a request goes: `path` is the path with its query."""

    scheme: str
    host: str
    port: int
    path: str


def parse_networks(ranges: Sequence[str]) -> tuple[Network, ...]:
    """Return ranges of addresses such as 10.0.0.0/8. Raises InputError if one is none."""
    networks = []
    for text in ranges:
        try:
            networks.append(ipaddress.ip_network(text, strict=False))
        except ValueError as error:
            raise InputError(
                f"allow_network={text!r} is not a range of addresses; give for instance 10.0.0.0/8."
            ) from error
    return tuple(networks)


def is_allowed(address: Address, allowed: Sequence[Network]) -> bool:
    """Return whether an address may be dialled: it is public, or in a range that was allowed.

    >>> [is_allowed(ipaddress.ip_address(one), ()) for one in ("93.184.216.34", "127.0.0.1", "::ffff:10.0.0.1")]
    [True, False, False]
    """
    if any(address in network for network in allowed):
        return True
    if address.version == 6 and address not in _PUBLIC_6:
        return False
    return address.is_global and not address.is_multicast and not any(address in network for network in _DENIED)


def target_of(url: str, *, ports: frozenset[int] = frozenset()) -> Target:
    """Return where an address leads that may be asked."""
    target = listed_target(url)
    if target.port not in USUAL_PORTS | ports:
        raise Refused("bad-port", f"port {target.port}")
    return target


def listed_target(url: str) -> Target:
    """Return where an address of a list leads, which may name any port."""
    if len(url) > LONGEST or any(ord(character) <= 32 or ord(character) == 127 for character in url):
        raise Refused("bad-address", "it is too long, or holds blanks or control characters")
    try:
        parts = urlsplit(url)
        port, name = parts.port, parts.hostname or ""
        host = name if name.isascii() else name.encode("idna").decode("ascii")
        path = quote(urlunsplit(("", "", parts.path or "/", parts.query, "")), safe=_SAFE)
    except (ValueError, UnicodeError) as error:
        raise Refused("bad-address", str(error)) from error
    if parts.scheme not in PORTS:
        raise Refused("bad-scheme", f"it begins with {parts.scheme or 'no scheme'}, expected http or https")
    if not host:
        raise Refused("bad-address", "it names no host")
    if parts.username is not None or parts.password is not None:
        raise Refused("bad-address", "it holds a name or a password")
    return Target(parts.scheme, host, PORTS[parts.scheme] if port is None else port, path)


def redirected(url: str, location: str) -> str:
    """Return the address that a redirection leads to. Raises Refused if it leads nowhere, or from https to http."""
    if not location:
        raise Refused("redirect-nowhere", "a redirection without an address")
    try:
        there = urlsplit(urljoin(url, location.strip()))
    except ValueError as error:
        raise Refused("bad-address", str(error)) from error
    if urlsplit(url).scheme == "https" and there.scheme == "http":
        raise Refused("redirect-downgrade", "from https to http")
    return urlunsplit((there.scheme, there.netloc, there.path, there.query, ""))
