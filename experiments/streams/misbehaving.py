"""Feeds on the loopback address that misbehave in each way that the page on polling lists, and some that behave.

What a feed answers follows from its name, the simulated moment and the request alone, so that two requests at one
moment gets the same answer twice.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from itertools import pairwise
from xml.sax.saxutils import escape

from doccluster.streams.settings import HOUR
from experiments.streams.certificates import EXPIRED, SOUND, STRANGER

BEGINS = 1_704_110_400  # 2024-01-01T12:00:00Z: made streams begin half a day before
INSIDE, UNKNOWN = "inside.example", "lost.example"  # names whose address is private, and that have none
ENDLESS = b"endless"  # what a feed begins with that takes minutes to read: its reader's time grows with the square
# feeds that are served over TLS, and with which certificate; it names all of them but one
SECURED = {
    **dict.fromkeys(("secure", "downgrade", "drip-secure", "other-name"), SOUND),
    "expired": EXPIRED,
    "stranger": STRANGER,
}
UNNAMED, WITHOUT_TLS = "other-name", "no-tls"
HIDDEN = {"again-now", "for-now-here", "see-other-here", "ring-two"}  # where others redirect to; they are in no list

Answer = tuple[int, Mapping[str, str], bytes]


@dataclass(frozen=True)
class Request:
    """One request: the moment, its headers, where it was sent, and what writes bytes that are no answer of HTTP."""

    moment: float
    headers: Mapping[str, str]
    address: str
    write: Callable[[bytes], None]

    @property
    def hours(self) -> int:
        """Hours since the day began."""
        return int(self.moment - BEGINS) // HOUR


def rss(items: Sequence[Mapping[str, str]], *, title: str = "Courier", head: str = "") -> bytes:
    """Return a feed with items of guid, title, description, link and pubDate."""
    made = "".join(
        "<item>" + "".join(f"<{name}>{escape(value)}</{name}>" for name, value in item.items()) + "</item>"
        for item in items
    )
    return f"<rss version='2.0'><channel><title>{escape(title)}</title>{head}{made}</channel></rss>".encode()


def notices(name: str, number: int, *, n: int = 3) -> list[dict[str, str]]:
    """Return items of words that other feeds do not have; with each higher number one is new."""
    found = []
    for entry in range(number, number + n):
        words = " ".join(f"{name}{(entry * 7919 + word * word * 31) % 997}" for word in range(30))
        found.append(
            {
                "guid": f"{name}-{entry}",
                "title": f"{name.capitalize()} notice {entry}",
                "description": words,
                "link": f"https://{name}.example/{entry}",
                "pubDate": formatdate(BEGINS + (entry - n) * HOUR, usegmt=True),
            }
        )
    return found


def sent(body: bytes, **headers: str) -> Answer:
    """Return a whole answer."""
    return 200, {name.replace("_", "-"): value for name, value in headers.items()}, body


def _plain(name: str, request: Request) -> Answer:
    return sent(rss(notices(name, request.hours // 3)))


def _slowly(name: str, request: Request, *, until: float, headers: bool = False) -> Answer | None:
    if request.moment >= until:
        return _plain(name, request)
    with suppress(OSError):
        request.write(b"HTTP/1.1 200 OK\r\n" if headers else b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for number in range(1200):
            request.write(b"X-%d: y\r\n" % number if headers else b"x")
            time.sleep(0.05)
    return None


def _cut(name: str, request: Request, raw: bytes) -> None:
    with suppress(OSError):
        request.write(raw)


def _bomb_of_entities() -> bytes:
    names = "abcdefghij"
    made = "".join(f"<!ENTITY {two} '{f'&{one};' * 50}'>" for one, two in pairwise(names))
    head = f"<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY a 'aaaaaaaaaa'>{made}]>"
    return f"{head}<rss><channel><item><title>&j;</title></item></channel></rss>".encode()


def _hostile(request: Request) -> list[dict[str, str]]:
    """Return items whose titles, links and dates try to get out of their place."""
    titles = [
        "<script>document.title='owned'</script>", "</script></style></title><img src=x onerror=alert(1)>",
        "\" onmouseover=\"alert(1)\" '", "invoice \u202egpj.exe\u202c", "=HYPERLINK(\"http://x.example\",\"y\")",
        "{{ 7 * 7 }} {% raw %}", "long " * 4000, "", "\ud7ff \ufdd0 \u0085 \u2028",
    ]  # fmt: skip
    dates = [
        "Mon, 01 Jan 0001 00:00:00 GMT", "2050-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "-1", "yesterday",
        "Thu, 01 Jan 1970 00:00:00 GMT", "32 Foo 2024 99:99:99 XXX", "",
        formatdate(BEGINS - HOUR, usegmt=True),
    ]  # fmt: skip
    links = ["javascript:alert(1)", "data:text/html,<script>", "file:///etc/passwd", 'https://hostile.example/?q=">']
    return [
        {"title": title, "description": f"hostile{place} words{place} of{place}", "link": links[place % 4],
         "guid": f"h{place}", "pubDate": date}
        for place, (title, date) in enumerate(zip(titles, dates, strict=True))
    ]  # fmt: skip


def _stuck(request: Request) -> Answer:
    if request.headers.get("If-None-Match") == '"stuck"':
        return 304, {"ETag": '"stuck"'}, b""
    return sent(rss(notices("stuck", request.hours)), ETag='"stuck"')


def _games(request: Request) -> Answer:
    """One guid for many articles, new guids for one article, and entries whose text is edited each hour."""
    items = notices("games", request.hours)
    items[0] |= {"guid": "always"}
    items[1] |= {"guid": f"fresh-{request.hours}", "link": "https://games.example/one", "title": "One and the same"}
    items[1] |= {"description": "one article whose guid is another one at each poll"}
    items[2] |= {"guid": "edited", "link": "https://games.example/two", "title": "A text that is edited"}
    items[2] |= {"description": f"hours since it began: {request.hours}"}
    return sent(rss(items))


def _shuffled(request: Request) -> Answer:
    items = notices("shuffled", 0, n=9)
    turn = request.hours % len(items)
    return sent(rss(items[turn:] + items[:turn]))


def endless_feed() -> bytes:
    named = b" ".join(b"a%d='1'" % number for number in range(100_000))
    return b"<!-- " + ENDLESS + b" --><rss><channel><item " + named + b"/></channel></rss>"


def _nameless(request: Request) -> Answer:
    """Return entries that have neither guid nor link."""
    items = notices("nameless", request.hours // 2)
    return sent(rss([{name: item[name] for name in ("title", "description", "pubDate")} for item in items]))


def _quiet(request: Request) -> Answer:
    """Return a feed that is not to be asked in the next two hours of the day."""
    hours = "".join(f"<hour>{(12 + request.hours + later) % 24}</hour>" for later in (1, 2))
    return sent(rss(notices("quiet", request.hours), head=f"<skipHours>{hours}</skipHours>"))


def _downgrade(request: Request) -> Answer:
    return 302, {"Location": f"http://{request.headers['Host']}/secure"}, b""


def _inside(request: Request) -> Answer:
    """Redirect to private addresses in one disguise after the other."""
    hosts = ("100.64.0.1", "224.0.0.1", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[fe80::1]", "172.16.0.1")
    return 302, {"Location": f"http://{hosts[request.hours % len(hosts)]}/feed"}, b""


def _moved(status: int, target: str) -> Callable[[Request], Answer]:
    return lambda request: (status, {"Location": target} if target else {}, b"")


def _stairs(request: Request) -> Answer:
    step = int(request.address.rpartition("/")[2]) if request.address.rpartition("/")[2].isdecimal() else 0
    return 302, {"Location": f"/stairs/{step + 1}"}, b""


def behaviours(slow: float) -> dict[str, Callable[[Request], Answer | None]]:
    """Return how each feed answers, by its name; `slow` is for how many seconds those that are slow are."""
    until = BEGINS + slow
    bomb, png = gzip.compress(b"0" * 40_000_000), b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
    whole, endless = rss(notices("whole", 0)), endless_feed()
    latin = whole.replace(b"Courier", "Übersicht".encode("latin-1"))
    html = b"<!doctype html><html><body><p>We are moving</p></body></html>"
    busy = formatdate(BEGINS + 5 * HOUR, usegmt=True)
    return {
        "again": _moved(301, "/again-now"),
        "again-now": lambda r: _plain("again", r),
        "for-now": _moved(307, "/for-now-here"),
        "for-now-here": lambda r: _plain("fornow", r),
        "see-other": _moved(303, "/see-other-here"),
        "see-other-here": lambda r: _plain("seeother", r),
        "twin": _moved(308, "/twin-now"),
        "twin-now": lambda r: _plain("twin", r),
        "itself": _moved(302, "/itself"),
        "ring": _moved(302, "/ring-two"),
        "ring-two": _moved(301, "/ring"),
        "stairs": _stairs,
        "metadata": _moved(302, "http://169.254.169.254/latest/meta-data/"),
        "intranet": _moved(301, f"http://{INSIDE}/feed"),
        "disguise": _moved(302, "http://0x0a000001/feed"),
        "inside": _inside,
        "file": _moved(302, "file:///etc/passwd"),
        "password": _moved(302, "http://user:secret@example.org/feed"),
        "port": _moved(302, "http://example.org:22/feed"),
        "nowhere": _moved(301, ""),
        "lost": lambda r: None,
        "gone": lambda r: (410, {}, b""),
        "revived": lambda r: (404, {}, b"") if r.hours < 4 else _plain("revived", r),
        "unauthorized": lambda r: (401, {}, b""),
        "forbidden": lambda r: (403, {}, b""),
        "broken": lambda r: (500, {}, html) if r.hours % 2 else _plain("broken", r),
        "teapot": lambda r: (418, {}, b""),
        "busy-seconds": lambda r: (429, {"Retry-After": "7200"}, b""),
        "busy-date": lambda r: (503, {"Retry-After": busy}, b"") if r.hours < 5 else _plain("busy", r),
        "busy-absurd": lambda r: (429, {"Retry-After": "9" * 30}, b""),
        "busy-words": lambda r: (503, {"Retry-After": "soon"}, b""),
        "drip": lambda r: _slowly("drip", r, until=until),
        "headers": lambda r: _slowly("headers", r, until=until, headers=True),
        "bomb": lambda r: sent(bomb, Content_Encoding="gzip"),
        "huge": lambda r: sent(b"<rss>" + b" " * 16_000_000),
        "cut-gzip": lambda r: sent(gzip.compress(whole)[:-20], Content_Encoding="gzip"),
        "no-gzip": lambda r: sent(whole, Content_Encoding="gzip"),
        "brotli": lambda r: sent(b"\x0b\x02\x80", Content_Encoding="br"),
        "cut-body": lambda r: _cut("cut", r, b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" + whole),
        "cut-xml": lambda r: sent(rss(notices("cut", r.hours // 2))[:-250]),
        "entities": lambda r: sent(_bomb_of_entities()),
        "endless": lambda r: sent(endless) if r.moment < until else _plain("endless", r),
        "deep": lambda r: sent(b"<rss><channel><item><description>" + b"<div>" * 3000),
        "page": lambda r: sent(html, Content_Type="application/rss+xml"),
        "picture": lambda r: sent(png, Content_Type="image/png"),
        "empty": lambda r: sent(b""),
        "nothing": lambda r: sent(rss([])),
        "list": lambda r: sent(json.dumps([{"text": "no feed"}]).encode(), Content_Type="application/json"),
        "silent": lambda r: None,
        "half": lambda r: _cut("half", r, b"HTTP/1.1 20"),
        "chatter": lambda r: _cut("chatter", r, b"220 mail.example ESMTP ready\r\n\r\n"),
        "charset": lambda r: sent(latin, Content_Type="application/rss+xml; charset=utf-16"),
        "hostile": lambda r: sent(rss(_hostile(r), title="<b>&amp;</b>\u202e")),
        "nameless": _nameless,
        "quiet": _quiet,
        "secure": lambda r: _plain("secure", r),
        "downgrade": _downgrade,
        "drip-secure": lambda r: _slowly("dripsecure", r, until=until),
        "other-name": lambda r: _plain("othername", r),
        "expired": lambda r: _plain("expired", r),
        "stranger": lambda r: _plain("stranger", r),
        "no-tls": lambda r: _plain("notls", r),
        "stuck": _stuck,
        "games": _games,
        "shuffled": _shuffled,
    }
