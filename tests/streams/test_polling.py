"""Polling: what is asked, how politely, what is kept, and what is refused."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import os
import pathlib
import random
import re
import sqlite3
import ssl
import threading
import time
import zlib

import pytest

from doccluster.corpus.feeds import listed_feeds
from doccluster.errors import InputError
from doccluster.report.page import render_front_page
from doccluster.streams import StoryStream
from doccluster.streams.page.front_page import feed_of, front_page
from doccluster.streams.polling import parsing
from doccluster.streams.polling._fetching import Reachable, fetch
from doccluster.streams.polling.addresses import REASONS, Refused, is_allowed, parse_networks, redirected, target_of
from doccluster.streams.polling.parsing import FeedParser
from doccluster.streams.polling.scheduling import subscriptions
from experiments.streams.certificates import AUTHORITY
from experiments.streams.following import SharedParser
from experiments.streams.misbehaving import BEGINS, endless_feed
from experiments.streams.serving import Outlets, served
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.loopback import BANK, FERRY, LOOPBACK, NOW, FakeClock, FeedServer, loopback_only, options_for, rss

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEEDS = ROOT / "corpora" / "samples" / "newsroom" / "feeds"


@pytest.fixture
def server():
    made = FeedServer()
    yield made
    made.close()


@pytest.fixture(scope="module")
def parser():
    """A process that reads feeds, shared by the streams of all tests."""
    made = SharedParser()
    yield made
    made.end()


@pytest.fixture
def stream(parser, monkeypatch):
    monkeypatch.setattr(parsing, "FeedParser", lambda: parser)
    with StoryStream() as made:
        yield made


def conditional(body, etag='W/"one"'):
    """A route that answers 304 where the validator it gave comes back."""

    def answer(request):
        if request.headers.get("If-None-Match") == etag:
            return 304, {"ETag": etag}, b""
        return 200, {"ETag": etag, "Last-Modified": "Sun, 01 Mar 2026 00:00:00 GMT"}, body

    return answer


def feed_row(stream, column):
    return stream._connection.execute(f"SELECT {column} FROM feed").fetchone()[0]


def test_a_feed_is_asked_when_it_is_due_and_with_the_validators_it_gave(server, stream):
    server.routes["/feed"] = conditional(rss(FERRY, BANK))
    clock = FakeClock()
    given = {"feeds": server.url("/feed"), "options": options_for(server, clock)}
    first = stream.poll(**given)
    assert (first.n_due, first.n_new, first.n_failed) == (1, 2, 0)
    assert stream.poll(**given).n_due == 0
    clock.moment += 2 * 3600
    second = stream.poll(**given)
    assert (second.n_due, second.n_new, second.n_unchanged) == (1, 0, 1)
    (_, early), (_, late) = server.asked
    assert "If-None-Match" not in early
    assert late["If-None-Match"] == 'W/"one"'
    assert late["If-Modified-Since"] == "Sun, 01 Mar 2026 00:00:00 GMT"
    assert late["User-Agent"].startswith("doccluster/")
    assert stream.check() == []


def test_force_asks_before_the_time_but_not_within_a_minute(server, stream):
    server.routes["/feed"] = (200, {}, rss(FERRY))
    clock = FakeClock()
    given = {"feeds": server.url("/feed"), "options": options_for(server, clock), "force": True}
    asked = [stream.poll(**given).n_due]
    clock.moment += 59
    asked.append(stream.poll(**given).n_due)
    clock.moment += 2
    asked.append(stream.poll(**given).n_due)
    assert asked == [1, 0, 1]


def test_a_stuck_validator_is_left_out_once_a_week(server, stream):
    server.routes["/feed"] = conditional(rss(FERRY))
    clock = FakeClock()
    given = {"feeds": server.url("/feed"), "options": options_for(server, clock)}
    stream.poll(**given)
    server.routes["/feed"] = conditional(rss(FERRY, BANK))  # new entries, the same validator
    for _ in range(8):
        clock.moment += 86400
        stream.poll(**given)
    assert stream._connection.execute("SELECT COUNT(*) FROM document").fetchone() == (2,)
    assert sum("If-None-Match" not in headers for _, headers in server.asked) == 2


def test_nothing_is_counted_twice_and_an_edit_is_a_version(server, stream):
    server.routes["/feed"] = (200, {}, rss(FERRY))
    clock = FakeClock()
    given = {"feeds": server.url("/feed"), "options": options_for(server, clock), "force": True}
    stream.poll(**given)
    server.routes["/feed"] = (200, {}, rss((FERRY[0], FERRY[1], "All passengers are safe", FERRY[3]), BANK))
    clock.moment += 7200
    done = stream.poll(**given)
    assert (done.n_new, done.n_edited) == (1, 1)
    assert stream._connection.execute("SELECT n_versions FROM document ORDER BY doc_id").fetchall() == [(2,), (1,)]


def test_entries_that_have_no_guid_or_share_one_are_known_wherever_they_stand(server, stream):
    clock = FakeClock()
    given = {"feeds": server.url("/feed"), "options": options_for(server, clock), "force": True}
    guids = {"First": "", "Second": "", "Third": "<guid>x</guid>", "Fourth": "<guid>x</guid>"}
    items = [
        f"<item>{guid}<title>{one}</title><description>{one} text</description></item>" for one, guid in guids.items()
    ]
    for shown in (items[1:], items, items[::-1]):
        server.routes["/feed"] = (200, {}, f"<rss version='2.0'><channel>{''.join(shown)}</channel></rss>".encode())
        stream.poll(**given)
        clock.moment += 7200
    assert stream._connection.execute("SELECT COUNT(*) FROM document").fetchone() == (4,)
    assert stream.check() == []


def test_a_document_whose_guid_another_one_has_taken_stays_known(server, stream):
    clock = FakeClock()
    given = {"feeds": server.url("/feed"), "options": options_for(server, clock), "force": True}
    for link, title in (("a", "Ferry aground"), ("b", "Bank holds rates"), ("a", "Ferry aground")):
        item = f"<item><guid>same</guid><link>https://example.org/{link}</link><title>{title}</title></item>"
        server.routes["/feed"] = (200, {}, f"<rss version='2.0'><channel>{item}</channel></rss>".encode())
        stream.poll(**given)
        assert stream.check() == []
        clock.moment += 7200
    assert stream._connection.execute("SELECT COUNT(*) FROM document").fetchone() == (2,)


def test_dates_that_cannot_be_are_the_moment_an_entry_was_seen(server, stream):
    entries = [
        ("9", "Past", "a text", "Mon, 01 Jan 0001 00:00:00 GMT"),
        ("8", "Future", "words", "2099-01-01T00:00:00Z"),
    ]
    server.routes["/feed"] = (200, {}, rss(*entries))
    stream.poll(server.url("/feed"), options=options_for(server))
    assert stream._connection.execute("SELECT DISTINCT published FROM document").fetchall() == [(NOW,)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((404, {}, b""), "missing"),
        ((403, {}, b""), "forbidden"),
        ((500, {}, b""), "server-error"),
        ((429, {"Retry-After": "7200"}, b""), "asked-to-wait"),
        ((200, {}, b"<html><body>no feed</body></html>"), "not-a-feed"),
        ((200, {}, b""), "not-a-feed"),
        ((200, {"Content-Encoding": "br"}, b"abc"), "unknown-encoding"),
        ((200, {"Content-Encoding": "gzip"}, b"not gzip at all"), "bad-encoding"),
        ((200, {"Content-Encoding": "gzip"}, gzip.compress(rss(FERRY))[:-20]), "truncated"),
        ((200, {"Content-Encoding": "gzip"}, gzip.compress(b"0" * 40_000_000)), "too-large"),
        ((200, {"Content-Length": "100000"}, b"<rss>"), "truncated"),
        ((302, {"Location": "http://169.254.169.254/latest"}, b""), "refused-address"),
        ((302, {"Location": "/feed"}, b""), "redirect-loop"),
        ((301, {}, b""), "redirect-nowhere"),
        ((302, {"Location": "file:///etc/passwd"}, b""), "bad-scheme"),
        ((302, {"Location": "http://user:secret@127.0.0.1/"}, b""), "bad-address"),
        ((302, {"Location": "http://127.0.0.1:22/"}, b""), "bad-port"),
    ],
)
def test_each_way_to_fail_is_a_listed_reason_and_harms_no_other_feed(server, stream, answer, reason):
    server.routes["/feed"] = answer
    server.routes["/other"] = (200, {}, rss(FERRY))
    done = stream.poll([server.url("/feed"), server.url("/other")], options=options_for(server))
    assert (done.n_due, done.n_failed, done.n_new) == (2, 1, 1)
    ((_, told, _),) = done.failures
    assert told == reason
    states = dict(stream._connection.execute("SELECT url, state FROM feed"))
    assert states == {server.url("/feed"): "failing", server.url("/other"): "active"}
    assert stream.check() == []


def test_the_page_on_polling_lists_every_reason_and_no_other():
    page = (ROOT / "docs" / "explanation" / "polling.md").read_text(encoding="utf-8")
    table = page.split("## What is refused")[1].split("##")[0]
    cells = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("|"))
    assert sorted(re.findall("`([a-z-]+)`", cells)) == sorted(REASONS)


def test_a_certificate_is_sound_only_for_its_name_its_time_and_who_trusts_its_authority():
    outlets = Outlets(n_stories=4, days=1.0, seed=0)
    trusting = ssl.create_default_context(cafile=AUTHORITY)
    with served(lambda: BEGINS, outlets, slow=60) as addresses:
        by_name = {one.rpartition("/")[2]: one for one in addresses if one.startswith("https://")}
        ports = frozenset(int(one.split(":")[2].split("/")[0]) for one in addresses)
        given = {"allowed": LOOPBACK, "resolve": lambda host, port: ["127.0.0.1"], "ports": ports}
        seconds = {"drip-secure": 1.0}  # the others have as long as a busy machine needs
        told = {
            name: fetch(one, Reachable(**given, context=trusting, whole_seconds=seconds.get(name, 300.0)))
            for name, one in by_name.items()
        }
        distrusted = fetch(by_name["secure"], Reachable(**given))
    assert {name: one.reason for name, one in told.items()} == {
        "secure": "",
        "downgrade": "redirect-downgrade",
        "drip-secure": "too-slow",
        **dict.fromkeys(("other-name", "expired", "stranger", "no-tls"), "bad-certificate"),
    }
    assert told["secure"].status == 200
    assert "Hostname mismatch" in told["other-name"].detail
    assert "expired" in told["expired"].detail
    assert (distrusted.reason, distrusted.body) == ("bad-certificate", b"")


def test_what_is_gone_is_not_asked_again_for_a_month(server, stream):
    server.routes["/feed"] = (410, {}, b"")
    clock = FakeClock()
    given = {"feeds": server.url("/feed"), "options": options_for(server, clock)}
    stream.poll(**given)
    assert feed_row(stream, "state") == "gone"
    clock.moment += 29 * 86400
    assert stream.poll(**given).n_due == 0
    clock.moment += 2 * 86400
    server.routes["/feed"] = (200, {}, rss(FERRY))
    assert stream.poll(**given).n_new == 1
    assert feed_row(stream, "state") == "active"


def test_a_slow_drip_ends_at_the_deadline(server, stream):
    def drip(request):
        request.send_response(200)
        request.send_header("Content-Length", "1000000")
        request.end_headers()
        with contextlib.suppress(OSError):  # it goes on until the client leaves
            while True:
                request.wfile.write(b"x")
                request.wfile.flush()
                time.sleep(0.05)
        left.set()
        request.close_connection = True

    left = threading.Event()
    server.routes["/feed"] = drip
    done = stream.poll(server.url("/feed"), options=options_for(server, whole_seconds=1.0))
    assert done.failures[0][1] == "too-slow"
    left.wait()


@pytest.mark.parametrize(("way", "reason"), [("behind", "too-large"), ("chunks", "too-slow"), ("interim", "too-slow")])
def test_an_answer_that_never_ends_is_ended(server, monkeypatch, way, reason):
    monkeypatch.setattr("doccluster.streams.polling._fetching.MAX_BYTES", 300_000)
    n_sent = []
    begins, piece = {
        "behind": (b"200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(rss(FERRY)), b"\0" * 60_000),
        "chunks": (b"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 60_000 + b"\r\nx\r\n"),
        "interim": (b"100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\nX: " + b"x" * 60_000 + b"\r\n\r\n"),
    }[way]

    def flood(request):
        try:
            request.wfile.write(b"HTTP/1.1 " + begins)
            while True:
                request.wfile.write(piece)
                n_sent.append(len(piece))
        except OSError:
            pass
        request.close_connection = True

    server.routes["/feed"] = flood
    found = fetch(server.url("/feed"), options_for(server, whole_seconds=1.0 if way != "behind" else 60.0).reach)
    assert (found.reason, found.was_asked) == (reason, True)
    assert way != "behind" or sum(n_sent) < 100_000_000


def test_headers_that_never_end_stop_at_the_deadline(server):
    def headers(request):
        try:
            request.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in range(100):
                request.wfile.write(b"X-%d: " % number)
                request.wfile.flush()
                time.sleep(0.1)
                request.wfile.write(b"y\r\n")
        except OSError:
            pass
        request.close_connection = True

    server.routes["/feed"] = headers
    reach = options_for(server, whole_seconds=1.0).reach
    assert fetch(server.url("/feed"), reach).reason == "too-slow"


def test_compressed_feeds_are_read(server, stream):
    body = rss(FERRY)
    bare = zlib.compressobj(wbits=-15)
    server.routes["/gzip"] = (200, {"Content-Encoding": "gzip"}, gzip.compress(body))
    server.routes["/zlib"] = (200, {"Content-Encoding": "deflate"}, zlib.compress(body))
    server.routes["/bare"] = (200, {"Content-Encoding": "deflate"}, bare.compress(body) + bare.flush())
    done = stream.poll([server.url(path) for path in server.routes], options=options_for(server))
    assert (done.n_failed, done.n_entries, done.n_new) == (0, 3, 1)


def test_a_move_for_good_is_adopted_after_three_polls_and_the_old_address_stays_known(server, stream):
    server.routes["/old"] = (301, {"Location": "/new"}, b"")
    server.routes["/new"] = (200, {}, rss(FERRY))
    clock = FakeClock()
    given = {"feeds": server.url("/old"), "options": options_for(server, clock)}
    for _ in range(5):
        stream.poll(**given)
        clock.moment += 86400
    assert [path for path, _ in server.asked] == ["/old", "/new"] * 3 + ["/new"] * 2
    assert feed_row(stream, "url") == server.url("/new")


def test_a_move_for_now_is_followed_and_never_adopted(server, stream):
    server.routes["/old"] = (302, {"Location": "/new"}, b"")
    server.routes["/new"] = (200, {}, rss(FERRY))
    clock = FakeClock()
    for _ in range(5):
        stream.poll(server.url("/old"), options=options_for(server, clock))
        clock.moment += 86400
    assert feed_row(stream, "url") == server.url("/old")


def test_five_redirections_are_followed_and_six_are_not(server, stream):
    server.routes |= {f"/{number}": (302, {"Location": f"/{number + 1}"}, b"") for number in range(6)}
    server.routes["/6"] = (200, {}, rss(FERRY))
    done = stream.poll([server.url("/1"), server.url("/0")], options=options_for(server))
    assert [failure[:2] for failure in done.failures] == [(server.url("/0"), "redirect-loop")]
    assert done.n_entries == 1


def test_feeds_of_one_host_are_asked_one_after_the_other_with_a_pause(server, stream):
    for number in range(4):
        server.routes[f"/{number}"] = (200, {}, rss((str(number), f"Title {number}", f"words {number}", FERRY[3])))
    clock = FakeClock()
    stream.poll([server.url(f"/{number}") for number in range(4)], options=options_for(server, clock, spacing=5.0))
    assert clock.slept == [5.0] * 3
    assert [path for path, _ in server.asked] == ["/0", "/1", "/2", "/3"]


def test_the_pause_also_holds_between_two_passes(server, stream):
    for number in range(2):
        server.routes[f"/{number}"] = (200, {}, rss((str(number), f"Title {number}", f"words {number}", FERRY[3])))
    clock = FakeClock()
    options = options_for(server, clock, spacing=5.0)
    stream.poll(server.url("/0"), options=options)
    began = clock.now()
    clock.moment += 1.5
    stream.poll(server.url("/1"), options=options)  # as where a feed is due right after another of its host
    assert [path for path, _ in server.asked] == ["/0", "/1"]
    assert 5.0 <= clock.now() - began <= 6.0
    clock.moment += 3600
    clock.slept.clear()
    stream.poll(server.url("/0"), options=options)
    assert clock.slept == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "inside.example", "10.0.0.5", "169.254.169.254"],
)
def test_private_addresses_are_refused_before_anything_is_sent(server, host):
    names = {"inside.example": ["10.1.2.3"]}

    def look_up(asked, port):
        return names.get(asked, ["127.0.0.1"] if not asked.startswith(("10.", "169.")) else [asked])

    found = fetch(server.url("/feed", host), Reachable(resolve=look_up, ports=frozenset({server.port})))
    assert found.reason == "refused-address"
    assert server.asked == []


def test_a_refused_address_was_not_asked(server, stream):
    for number in range(9):
        server.routes[f"/{number}"] = (200, {}, rss((str(number), "Title", "words", FERRY[3])))
    feeds = [server.url(f"/{number}") for number in range(9)]
    clock = FakeClock()
    closed = options_for(server, clock, allowed=(), spacing=5.0)
    assert stream.poll(feeds, options=closed).n_failed == 9
    assert clock.slept == []
    assert stream.poll(feeds, options=closed).n_due == 0
    before = list(stream._connection.iterdump())
    elsewhere = options_for(server, clock, allowed=parse_networks(["10.0.0.0/8"]), spacing=5.0)
    assert stream.poll(feeds, options=elsewhere).n_failed == 9
    assert list(stream._connection.iterdump()) == before
    assert stream.poll(feeds, options=closed, force=True).n_due == 9
    done = stream.poll(feeds, options=closed, allow_network=["127.0.0.0/8"])
    assert (done.n_due, done.n_failed, done.n_entries) == (9, 0, 9)
    assert clock.slept == [5.0] * 8
    clock.moment += 61
    server.routes["/0"] = (302, {"Location": "http://169.254.169.254/"}, b"")
    assert stream.poll(feeds[0], options=options_for(server, clock), force=True).failures[0][1] == "refused-address"
    assert stream.poll(feeds[0], options=options_for(server, clock)).n_due == 0  # its host was asked


def test_a_name_with_one_private_address_among_public_ones_is_refused(server):
    reach = Reachable(resolve=lambda host, port: ["93.184.216.34", "127.0.0.1"], ports=frozenset({server.port}))
    assert fetch(server.url("/feed", "news.example"), reach).reason == "refused-address"


def test_the_name_is_sent_and_the_checked_address_is_dialled(server, stream):
    server.routes["/feed"] = (200, {}, rss(FERRY))
    options = options_for(server, names={"news.example": ["127.0.0.1"]})
    assert stream.poll(server.url("/feed", "news.example"), options=options).n_new == 1
    assert server.asked[0][1]["Host"] == f"news.example:{server.port}"


@pytest.mark.parametrize(
    "address",
    [
        *(
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "224.0.0.1",
        ),
        *("255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2001:db8::1", "2002:7f00:1::1"),
        *("fc00::1", "fe80::1", "ff02::1", "2001::1", "3fff::1", "3fff:fff::1", "5f00::1", "4000::1", "::7f00:1"),
        *("100::1", "64:ff9b:1::a00:1", "2001:1ff:ffff::1", "1fff::1", "fec0::1", "8000::1"),
    ],
)
def test_addresses_that_are_not_public_are_not_allowed_unless_asked_for(address):
    import ipaddress

    one = ipaddress.ip_address(address)
    assert not is_allowed(one, ())
    assert is_allowed(one, parse_networks([address]))


def test_public_addresses_are_allowed():
    import ipaddress

    public = ("93.184.216.34", "2606:2800:220:1::1", "2001:200::1", "3ffe::1")
    assert all(is_allowed(ipaddress.ip_address(one), ()) for one in public)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.b/c",
        "http://",
        "http://a b/c",
        "http://a\n.b/",
        "http://u@a.b/",
        "https://a.b:22/",
        "http://" + "a" * 2100,
    ],
)
def test_addresses_that_are_none_are_refused(url):
    with pytest.raises(Refused):
        target_of(url)


BAD = ["http://[::1", "http://[", "http://a\uff0fb@c/", "http://a.b:99999/", "http://a.b/\udcff", "https://u:p@a.b/"]


def test_what_a_list_names_that_is_no_address_is_skipped_with_a_reason(server, stream, tmp_path):
    server.routes["/feed"] = (200, {}, rss(FERRY))
    lines = "\n".join([*BAD[:4], BAD[5], server.url("/feed")])
    (tmp_path / "list.txt").write_text(lines, encoding="utf-8")
    outlines = "".join(f'<outline xmlUrl="{address}"/>' for address in (BAD[1], server.url("/feed")))
    (tmp_path / "list.opml").write_text(f"<opml><body>{outlines}</body></opml>", encoding="utf-8")
    given = [str(tmp_path / "list.txt"), str(tmp_path / "list.opml"), BAD[4]]
    done = stream.poll(given, options=options_for(server))
    assert (done.n_feeds, done.n_due, done.n_failed, done.n_new) == (1, 1, 0, 1)
    assert sorted(address.encode("utf-8") for address, _, _ in done.skipped) == sorted(
        address.encode("utf-8", "backslashreplace") for address in BAD
    )
    assert {reason for _, reason, _ in done.skipped} == {"bad-address"}
    assert stream._connection.execute("SELECT url FROM feed").fetchall() == [(server.url("/feed"),)]


@pytest.mark.parametrize("address", BAD)
def test_a_list_of_nothing_but_bad_addresses_is_refused_and_fetch_says_so(stream, address):
    with pytest.raises(InputError, match="is a bad-address"):
        stream.poll(address)
    assert fetch(address, Reachable()).reason == "bad-address"


def test_an_outline_may_be_nested_however_deep(tmp_path):
    inner = '<outline text="F" xmlUrl="https://a.example/f"/>'
    n_folders = 100_000
    folders, ends = '<outline text="ab">' * n_folders, "</outline>" * n_folders
    (tmp_path / "deep.opml").write_text(f"<opml><body>{folders}{inner}{ends}</body></opml>")
    ((found,), _) = subscriptions([str(tmp_path / "deep.opml")])
    assert (found.url, found.title, len(found.category)) == ("https://a.example/f", "F", 1000)
    assert found.category.startswith("ab/ab/ab/")


def test_what_is_no_file_of_addresses_is_refused_without_waiting_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.corpus.opening.PATIENCE", 0.2)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, says in (
        (pipe, "nothing was written for 0.2 seconds"),
        ("/dev/zero", "larger than 16"),
        (tmp_path, "cannot be read"),
        ("a\0b", "holds a zero byte"),
        ("x" * 300, "cannot be (read|a file or folder)"),
    ):
        with pytest.raises(InputError, match=says):
            subscriptions([str(path)])


def test_a_pipe_that_somebody_writes_to_is_a_list(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("https://a.example/f\n",))
    writer.start()
    assert [one.url for one in subscriptions([str(pipe)])[0]] == ["https://a.example/f"]
    writer.join()


def test_https_is_never_left_for_http():
    with pytest.raises(Refused, match="downgrade"):
        redirected("https://a.example/feed", "http://a.example/feed")


def test_lists_are_opml_files_text_files_and_addresses(tmp_path):
    opml = (
        "<?xml version='1.0'?><opml><body><outline text='News'><outline text='A' xmlUrl='https://a.example/f'/></outline>"
        "<outline text='local' xmlUrl='feed.xml'/></body></opml>"
    )
    (tmp_path / "list.opml").write_text(opml)
    (tmp_path / "list.txt").write_text("# mine\nhttps://b.example/f  B\n\nhttps://a.example/f\n")
    found, _ = subscriptions([str(tmp_path / "list.opml"), str(tmp_path / "list.txt"), "http://c.example/"])
    assert [(one.url, one.category) for one in found] == [
        ("https://a.example/f", "News"),
        ("https://b.example/f", ""),
        ("http://c.example/", ""),
    ]
    bomb = "<!DOCTYPE a [<!ENTITY b 'c'>]><opml><body><outline xmlUrl='https://a.example/&b;'/></body></opml>"
    (tmp_path / "bomb.opml").write_text(bomb)
    (tmp_path / "empty.txt").write_text("nothing here\n")
    says_of = {"bomb.opml": "&b; stands for no character", "empty.txt": "lists no address", "nosuch": "cannot be read"}
    for name, says in says_of.items():
        with pytest.raises(InputError, match=says):
            subscriptions([str(tmp_path / name)])


def test_a_list_that_is_no_xml_is_read_and_an_address_of_it_that_is_not_asked_is_named(server, stream, tmp_path):
    for name in "abcdefghi":
        server.routes[f"/{name}.xml"] = (200, {}, rss(FERRY))
    here = server.url("")
    host = here.removeprefix("http://")
    outlines = f"""<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><head><title>Tides &ndash; & more &unknown;</head><body>
<outline text="Tides & Harbours" htmlUrl="http://w.example/?x=1&y=2" xmlUrl="{here}/a.xml?x=1&region=2&copy=3"/>
<outline text="The "High" Street" type="rss" XMLURL='{here}/b.xml'>
<outline text='It's' xmlurl={here}/c.xml/>
<outline text="a > b" url="feed:{here}/d.xml"></outline>
<OUTLINE text="no end" xmlUrl="feed://{host}/e.xml"
<outline text="F"><outline text="twice" xmlUrl="{here}/f.xml?a=1&amp;amp;b=2"/>
<outline text="lost its quote" xmlUrl="{here}/g.xml/>
<outline text="beside it" xmlUrl="feeds/local.xml"/>
<outline text="a page" type="rss" htmlUrl="http://w.example/page"/>
<outline text="an entity" xmlUrl="http://w.example/&w;"/>
<outline text="cut" xmlUrl="{here}/h.xm"""
    (tmp_path / "list.opml").write_text(outlines, encoding="utf-8")
    done = stream.poll(str(tmp_path / "list.opml"), options=options_for(server))
    assert sorted(path for path, _ in server.asked) == [
        *("/a.xml?x=1&region=2&copy=3", "/b.xml", "/c.xml", "/d.xml", "/e.xml", "/f.xml?a=1&b=2")
    ]
    lines = {address: detail.partition("list.opml, ")[2] for address, _, detail in done.skipped}
    assert lines == {
        f"{here}/g.xml": "line 9: its tag is broken",
        "feeds/local.xml": "line 10: it begins with no scheme, expected http or https",
        "http://w.example/page": "line 11: it names no address of a feed",
        "http://w.example/&w;": "line 12: &w; stands for no character",
        f"{here}/h.xm": "line 13: its tag is broken",
    }


def test_whatever_is_damaged_in_a_list_no_address_of_it_is_lost(seed):
    addresses = [f"http://a{number}.example/f.xml" for number in range(5)]
    outlines = "\n".join(f'<outline text="Tides &amp; H" type="rss" xmlUrl="{address}"/>' for address in addresses)
    pieces = ('"', "'", "<", ">", "&", "/", "\n", " ", "&foo;", "=", "</outline>", "<outline ", "<p>", "<title>", "“")
    draw, n_named = random.Random(seed), 0
    for _ in range(2000):
        text = (
            f'<opml><head><docs>http://w.example/</docs></head><body><outline text="F">\n{outlines}\n</outline></opml>'
        )
        place = draw.randrange(text.index("<outline"), len(text))
        text = text[:place] + draw.choice((draw.choice(pieces), "")) + text[place + draw.randint(0, 6) :]
        named = {feed.url for feed in listed_feeds(text)}
        assert {address for address in addresses if f'"{address}"' in text} <= named, text
        n_named += len(named)
    assert n_named > 2000 * 4


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('<html><ul><li><a href="{}/a?x=1&y=2">A</a><li><A HREF=feed:{}/b>B</A></ul>', ["/a?x=1&y=2", "/b"]),
        ('<DL><DT><A HREF="http://w.example/" FEEDURL="{}/a">A</A>', ["/a"]),
        ('Warning: junk <br /> <opml><outline xmlUrl="{}/a"/></opml>', ["/a"]),
        ("# mine\nThe A: {}/a\n- [B]({}/b)\n\n<{}/c> # http://old.example/", ["/a", "/b", "/c"]),
        ("title,url\nA,{}/a,x\nB,{}/b,y\n", ["/a", "/b"]),
        ('["{}/a", "{}/b"]', ["/a", "/b"]),
        ("feed:{}/a", ["/a"]),
    ],
)
def test_addresses_are_found_in_pages_of_links_tables_and_lines(text, asked, tmp_path):
    (tmp_path / "list").write_text(text.format(*["https://w.example"] * 3))
    feeds, skipped = subscriptions([str(tmp_path / "list")])
    assert [feed.url for feed in feeds] == [f"https://w.example{path}" for path in asked]
    assert skipped == []


def test_relative_links_lead_to_where_the_feed_was_asked_on_the_page_and_in_the_feed(server, stream, tmp_path):
    item = "<item><title>{}</title><link>{}</link><description>Boats to Skerrow sail again, {}.</description></item>"
    items = "".join(item.format(*words) for words in (("Ferry", "/news/1", "one"), ("Crews", "2.html", "two")))
    server.routes["/old"] = (301, {"Location": "/sea/feed"}, b"")
    server.routes["/sea/feed"] = (200, {}, f"<rss version='2.0'><channel>{items}</channel></rss>".encode())
    server.routes["/home"] = (
        *(200, {}),
        b"<rss><channel><link>/land/</link><item><title>Wall</title><link>3</link></item></channel></rss>",
    )
    stream.poll([server.url("/old"), server.url("/home")], options=options_for(server))
    links = [server.url("/land/3"), server.url("/news/1"), server.url("/sea/2.html")]
    assert sorted(stream.tables().documents["link"]) == links
    written = feed_of(stream._connection, name="news")
    assert any(f'href="{link}"' in written for link in links)
    page = render_front_page(front_page(stream._connection, since=None, name="news"))
    assert all(f'href="{link}"' in page for link in links)


@pytest.mark.parametrize("is_told", [True, False])
def test_a_clock_far_behind_the_store_is_reported(server, stream, is_told):
    server.routes["/feed"] = (200, {}, rss(FERRY, BANK))
    clock = FakeClock()
    stream.poll(server.url("/feed"), options=options_for(server, clock))
    server.now = (lambda: NOW + 86400) if is_told else None
    clock.moment = NOW - 40 * 86400
    trout = ("3", "Dead trout in the Tessen", "Trout found dead", "Mon, 02 Mar 2026 08:00:00 GMT")
    server.routes["/feed"] = (200, {}, rss(FERRY, BANK, trout))
    done = stream.poll(server.url("/feed"), options=options_for(server, clock), force=True)
    assert (done.ahead, done.n_new) == (-40 * 86400, 1)
    published = dict(stream._connection.execute("SELECT id, published FROM document"))
    assert (published["3"] > published["2"]) == is_told  # without a server that says so, the article lies in the future


def test_entries_that_share_a_guid_have_ids_that_can_be_shown(server, stream):
    item = "<item><title>{0} of the sea</title><guid isPermaLink='false'>same</guid>{1}</item>"
    link = "<link>http://a.example/{}</link>"
    items = [item.format(word, link.format(word)) for word in ("Ferries", "Walls")] + [item.format("Trout", "")]
    server.routes["/feed"] = (200, {}, f"<rss><channel>{''.join(items)}</channel></rss>".encode())
    assert stream.poll(server.url("/feed"), options=options_for(server)).n_new == 3
    documents = stream.tables().documents
    assert len(set(documents["id"])) == 3
    assert {"http://a.example/Ferries", "http://a.example/Walls"} < set(documents["id"])
    assert all(documents["id"])


def test_a_line_of_a_list_that_holds_no_address_is_named(tmp_path):
    (tmp_path / "list.txt").write_text("# mine\nhttps://a.example/f\nwww.b.example/f\nftp://c.example/f\n")
    _, skipped = subscriptions([str(tmp_path / "list.txt"), "feed:https://a.example/f"])
    assert [(address, detail.partition("list.txt, ")[2]) for address, _, detail in skipped] == [
        (address, f"line {line}: no address that begins with http:// or https://")
        for address, line in (("www.b.example/f", 3), ("ftp://c.example/f", 4))
    ]


def test_a_feed_in_the_place_of_a_list_does_not_have_its_articles_asked(tmp_path):
    (tmp_path / "feed.xml").write_text(
        "<rss><channel><link>http://w.example/</link><item><link>http://w.example/1</link>"
        "<description><![CDATA[<a href='http://w.example/2'>x</a>]]> <a href='http://w.example/3'>y</a>"
        "</description></item></channel></rss>"
    )
    with pytest.raises(InputError, match="lists no address"):
        subscriptions([str(tmp_path / "feed.xml")])


def test_the_folders_of_a_list_are_those_that_its_outlines_stand_in(tmp_path):
    (tmp_path / "list.opml").write_text(
        "<opml><body><outline text='News'><outline title='Sea' text='s'><outline text='A' xmlUrl='https://w.example/a'>"
        "</outline></outline><outline text='B' xmlUrl='https://w.example/b'/></outline>"
        "<outline text='C' xmlUrl='https://w.example/c'/></body></opml>"
    )
    feeds, _ = subscriptions([str(tmp_path / "list.opml")])
    assert [(feed.title, feed.category) for feed in feeds] == [("A", "News/Sea"), ("B", "News"), ("C", "")]


def test_a_parser_that_hangs_or_dies_is_ended_and_the_next_feed_is_read(monkeypatch):
    parser = FeedParser(seconds=0.3)
    assert parser.parse(endless_feed()).reason == "unreadable-feed"
    assert not parser._process.is_running
    assert [entry["title"] for entry in parser.parse(rss(FERRY, BANK)).entries] == ["Ferry aground", "Bank holds rates"]
    parser._process._process.kill()
    assert parser.parse(rss(FERRY)).reason == "unreadable-feed"
    assert len(parser.parse(rss(FERRY)).entries) == 1
    monkeypatch.setattr("doccluster.base.limited_process.PIECES_OF_WORK", 2)
    before = parser._process._process
    assert parser.parse(rss(FERRY)).reason == parser.parse(rss(FERRY)).reason == ""
    assert before.poll() is not None
    parser.close()


def test_only_the_time_that_a_feed_takes_counts_for_its_reader(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    slow = "import time\nends = time.process_time() + 1\nwhile time.process_time() < ends:\n    pass\n"
    (tmp_path / "sitecustomize.py").write_text(slow)  # the process takes a second of work to start
    parser = FeedParser(seconds=0.5)
    assert [entry["title"] for entry in parser.parse(rss(FERRY)).entries] == ["Ferry aground"]
    assert len(parser.parse(rss(FERRY, BANK)).entries) == 2
    parser.close()


def test_a_feed_that_is_packed_twice_expands_to_no_more_than_one_that_is_fetched():
    parser = FeedParser()
    packed = gzip.compress(gzip.compress(rss(FERRY)))
    assert len(parser.parse(packed).entries) == 1
    large = gzip.compress(gzip.compress(rss(("1", "title", "word " * 4 * 1024**2, FERRY[3]))))
    assert len(large) < 1000
    assert parser.parse(large).reason == "too-large"
    parser.close()


def test_hostile_feeds_are_refused_or_read_as_text():
    parser = FeedParser()
    bomb = b"<!DOCTYPE r [<!ENTITY a 'aaaa'>" + b"".join(
        b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 50) for n in range(9)
    )
    assert len(parser.parse(bomb + b"]><rss><channel><item><title>&i;</title></item></channel></rss>").entries) <= 1
    deep = b"<rss><channel><item><description>" + b"<div>" * 100_000 + b"</description></item></channel></rss>"
    parser.parse(deep)
    many = rss(*[(str(n), f"title {n}", "words", FERRY[3]) for n in range(2500)])
    assert len(parser.parse(many).entries) == 2000
    (long,) = parser.parse(rss(("1", "title", "word " * 300_000, FERRY[3]))).entries
    assert len(long["text"]) == 1024**2
    assert parser.parse(
        b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "title": "T"}]}'
    ).entries
    assert parser.parse(b'[{"text": "no feed"}]').reason == "not-a-feed"
    parser.close()


def test_the_bundled_feeds_served_over_http_make_the_stories_of_the_files(server, stream, tmp_path):
    names = sorted(path.name for path in FEEDS.iterdir() if path.suffix != ".opml")
    for name in names:
        server.routes[f"/{name}"] = (200, {}, (FEEDS / name).read_bytes())
    opml = (FEEDS / "feeds.opml").read_text(encoding="utf-8").replace('xmlUrl="', f'xmlUrl="{server.url("/")}')
    (tmp_path / "feeds.opml").write_text(opml, encoding="utf-8")
    clock = FakeClock(NOW + 60 * 86400)
    done = stream.poll(str(tmp_path / "feeds.opml"), options=options_for(server, clock))
    assert (done.n_feeds, done.n_failed, done.n_new) == (4, 0, 176)
    assert stream.check() == []
    assert sum(stream.tables().stories["documents"]) == 176


def test_follow_asks_each_feed_when_it_is_due(server, stream):
    server.routes["/feed"] = (200, {}, rss(FERRY))
    clock = FakeClock()
    passes = stream.follow(server.url("/feed"), options=options_for(server, clock))
    moments = [(next(passes), clock.moment)[1] for _ in range(4)]
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert all(900 <= gap <= 5 * 3600 for gap in gaps)
    assert len(server.asked) == 4


def test_follow_sleeps_until_a_feed_of_the_list_is_due_whatever_else_the_store_knows(server, stream):
    server.routes["/feed"] = server.routes["/left"] = (200, {}, rss(FERRY))
    clock = FakeClock()
    given = {"options": options_for(server, clock), "force": True}
    stream.poll(server.url("/left"), **given)
    clock.moment += 86400  # what is not in the list any more has been due for long
    passes = stream.follow(server.url("/feed"), **given)
    next(passes), next(passes)
    assert [path for path, _ in server.asked] == ["/left", "/feed", "/feed"]
    assert len(clock.slept) <= 1 + sum(clock.slept) / 900  # in the longest pauses there are, the last one shorter
    assert len(clock.slept) < 10


def test_passes_share_the_process_that_reads_feeds_and_the_stream_ends_it(server):
    server.routes["/feed"] = (200, {}, rss(FERRY))
    clock = FakeClock()
    with StoryStream() as stream:
        given = {"feeds": server.url("/feed"), "options": options_for(server, clock), "force": True}
        stream.poll(**given)
        first = stream._parser._process._process
        server.routes["/feed"] = (200, {}, rss(FERRY, BANK))
        clock.moment += 61
        assert stream.poll(**given).n_new == 1
        assert stream._parser._process._process is first
        assert first.poll() is None
    assert first.poll() is not None


def test_the_command_polls_and_refuses_the_loopback_address_unless_allowed(doccluster, server, tmp_path):  # noqa: F811
    server.routes["/feed"] = (200, {}, rss(FERRY, BANK))
    store = tmp_path / "news.db"
    refused = doccluster("stream", "poll", server.url("/feed"), "--store", store)
    assert refused.code == 0
    assert "refused-address" in refused.out
    assert server.asked == []
    given = ("--store", store, "--allow-network", "127.0.0.0/8", "--spacing", "0")
    done = doccluster("stream", "poll", server.url("/feed"), BAD[0], *given, "--json")
    assert json.loads(done.out)["n_new"] == 2
    assert json.loads(done.out)["skipped"] == [[BAD[0], "bad-address", "Invalid IPv6 URL"]]
    again = doccluster("stream", "poll", server.url("/feed"), *given, "--force")
    assert "0 of 1 feeds polled" in again.out
    wrong = doccluster("stream", "poll", server.url("/feed"), "--store", store, "--allow-network", "everything")
    assert (wrong.code, "not a range" in wrong.err) == (2, True)
    connection = sqlite3.connect(store)
    assert connection.execute("SELECT status, n_entries FROM fetch").fetchall() == [(0, 0), (200, 2)]
    connection.close()


def test_follow_on_the_command_line_goes_on_until_interrupted(doccluster, server, tmp_path, monkeypatch):  # noqa: F811
    from doccluster.streams.polling.poller import Clock

    server.routes["/feed"] = (200, {}, rss(FERRY))

    def interrupt(self, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(Clock, "sleep", interrupt)
    given = ("--store", tmp_path / "news.db", "--allow-network", "127.0.0.0/8", "--follow")
    done = doccluster("stream", "poll", server.url("/feed"), *given)
    assert (done.code, "1 new" in done.out) == (130, True)


def test_a_connection_to_another_address_than_the_loopback_one_fails_a_test_also_where_its_error_is_caught():
    reach = Reachable(allowed=parse_networks(["192.0.2.0/24"]), resolve=lambda host, port: ["192.0.2.1"])
    with pytest.raises(AssertionError, match="a test connects"), loopback_only():
        assert fetch("http://news.example/", reach).reason == "unreachable"
