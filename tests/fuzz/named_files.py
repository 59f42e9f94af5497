"""Targets: files that a verb is told of beside its documents: the hits of another engine, and lists of feeds."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from doccluster.retrieval import read_hits
from doccluster.retrieval.grouping import cluster_search_results
from doccluster.streams.polling.scheduling import subscriptions
from tests.fuzz.campaign import Target, scratch_folder

_HITS = (
    b'{"id": "1", "title": "Jaguar <b>cars</b>", "snippet": "A fast car &amp; its engine", "url": "a", "rank": 2}\n'
    b'{"id": "2", "title": "Jaguar", "snippet": "A large cat of the forest", "rank": 1}\n'
    b'{"title": "Car engines", "snippet": "The engine of a fast car"}\n',
    b'[{"title": "Cats", "snippet": "A cat in the forest"}, {"title": "Forest", "snippet": "cats"}, {"url": "http://b/"}]',
)
_JSON = (
    *(b"null", b"-1", b"1e999", b"9" * 5000, b"[" * 3000, b"{}", b'""', b"NaN", b'"\\u0000"', b'"\\ud800"', b'"rank"'),
    *(b'"title":', b'"url":', b"\xef\xbb\xbf", b"<em>", b"&#55296;"),
)
_LISTS = (
    b"https://a.example/feed\nhttp://b.example:8080/rss?x=1\n\n# of the weather\nhttps://c.example/\xc3\xa9 note\n",
    b"<?xml version='1.0'?><opml version='2.0'><body><outline text='News'><outline text='A' xmlUrl='https://a.example/f'/>"
    b"</outline><outline title='B' xmlUrl='http://b.example/rss'/></body></opml>",
    b'<opml><body>\n<outline text="Tides & "High" \'s" XMLURL="http://a.example/?x=1&y=2&amp;amp;z=3"\n<outline text='
    b"'a > b' url=feed:https://b.example/f/>\n<!-- <outline xmlUrl='http://c.example/'/> -->\n<outline xmlUrl=\"http://d.example/>\n",
    b"<html><ul><li><a href='https://a.example/f?x=1&region=2'>A</a><li><A HREF=feed://b.example/f FEEDURL=x>B</A>\n"
    b"<link type='application/rss+xml' href=\"https://c.example/f\">\n</ul>",
    b'title,url\nA,"https://a.example/f",x\n- [B](feed:https://b.example/f) # of the sea\n["https://c.example/f"]\nwww.d.example\n',
)
_ADDRESSES = (
    *(
        b"http://[::1",
        b"http://[",
        "http://a／b@c/".encode(),
        b"http://a.b:99999/",
        b"http://a.b/\xff",
        b"https://u:p@a/",
    ),
    *(b"http://[::1]/", b"http://127.1/", b"HTTP://A.B", b"\xed\xa0\x80", b"%00", b"\0", b"\r", b"\xff\xfe", b"&#0;"),
    *(b"xmlUrl='", b"<outline ", b"<outline text='ab'>" * 400, b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"a" * 3000),
    *(
        b'"',
        b"'",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"feed:",
        b"feed://",
        b"XMLURL=",
        b" xmlUrl='http://a.example/",
        b"/>",
    ),
    *(
        b"<a href=",
        b"</outline",
        b"&nbsp;",
        b"&amp;amp;",
        b"&copy",
        "\u201c".encode(),
        b"#",
        b"url=" * 50,
        b"<item>",
        b"\t,",
    ),
)


@cache
def _folder() -> Path:
    cluster_search_results([{"title": "cats"}, {"title": "cars"}], "cats", n_threads=1)  # loads what is compiled
    return scratch_folder()


def _hits() -> Sequence[bytes]:
    _folder()
    return _HITS


def _group_hits(data: bytes) -> str:
    path = _folder() / "hits.jsonl"
    path.write_bytes(data)
    hits = read_hits(path)
    found = cluster_search_results(hits, "jaguar", n_threads=1)
    assert sorted([*found.other, *(one for group in found.groups for one in group.documents)]) == list(range(len(hits)))
    found.to_json()
    return "grouped"


def _read_list(data: bytes) -> str:
    path = _folder() / ("list.opml" if zlib.crc32(data) & 1 else "list.txt")
    path.write_bytes(data)
    found, skipped = subscriptions([str(path)])
    for text in (part for feed in found for part in (feed.url, feed.title, feed.category)):
        text.encode("utf-8")  # as the store keeps it
    for address, reason, detail in skipped:
        f"{address}\t{reason}\t{detail}".encode()
        assert reason
    return "some skipped" if skipped else "read"


NAMED_FILES: tuple[Target, ...] = (
    Target("hits", _hits, _group_hits, _JSON),
    Target("feed_lists", lambda: _LISTS, _read_list, _ADDRESSES),
)
