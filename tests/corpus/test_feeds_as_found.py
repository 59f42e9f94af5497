"""Feeds as servers send them: with junk before the root, links that are relative, and guids that are no names."""

from __future__ import annotations

import io
import json

import pytest

from doccluster.corpus import read_corpus
from doccluster.streams.polling.parsing import entries_of

ITEM = "<item><title>Fähre kehrt zurück</title><link>http://harbour.example/x1</link></item>"
FEED = (
    '<?xml version="1.0" encoding="{}"?>\n'
    f'<rss version="2.0"><channel><title>Harbour Post</title>{ITEM}</channel></rss>\n'
)
JUNK = {
    "a warning of PHP": "<br />\n<b>Warning</b>:  Undefined index in <b>/srv/feed.php</b> on line <b>12</b><br />\n",
    "a warning in plain text": "Notice: Undefined index: page in /srv/feed.php on line 12\n",
    "the headers of the answer": "HTTP/1.1 200 OK\nContent-Type: text/xml\n\n",
    "a comment": "<!-- cached at noon -->\n",
    "blanks": "\n\n   \n",
    "a long warning": "<br />\n<b>Warning</b>: " + "Undefined index " * 300 + "<br />\n",
}


def read(data, name="feed.xml"):
    source = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    source.name = name
    return read_corpus(source)


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
@pytest.mark.parametrize("name", ["feed.xml", "feed.php", "a.rss"])
@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_a_feed_is_found_by_its_root_wherever_it_begins(junk, name, encoding):
    body = (junk + FEED.format(encoding)).encode(encoding)
    corpus = read(body, name)
    assert corpus.texts == ("Fähre kehrt zurück",)
    assert corpus.ids == ("http://harbour.example/x1",)
    entries, reason = entries_of(body)
    assert ([entry["title"] for entry in entries], reason) == (["Fähre kehrt zurück"], "")


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\n\ufeff"])
def test_marks_before_a_feed_are_left_out_xml_or_json(mark):
    assert read(mark + FEED.format("utf-8")).texts == ("Fähre kehrt zurück",)
    feed = {"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "content_text": "Fähre"}]}
    assert [entry["text"] for entry in entries_of(("\ufeff" + json.dumps(feed)).encode())[0]] == ["Fähre"]


@pytest.mark.parametrize("name", ["readme.md", "page.html", "notes.txt", "1234", "table.csv"])
def test_a_text_about_feeds_is_none(name):
    text = f"text,n\n<p>Begin your feed so: {FEED.format('utf-8')} and go on.</p>"
    if name in ("readme.md", "page.html"):
        text = text.partition("\n")[2]
    corpus = read(text, name)
    assert "Begin your feed so" in " ".join(corpus.texts)
    assert "http://harbour.example/x1" not in corpus.ids


def test_what_the_document_type_defines_still_holds_behind_junk():
    body = (
        'Warning: late<br>\n<?xml version="1.0"?><!DOCTYPE rss [\n<!ENTITY co "Harbour Sons">\n]>\n'
        "<rss version='2.0'><channel><item><title>&co; build</title></item></channel></rss>"
    )
    assert read(body).texts == ("Harbour Sons build",)


@pytest.mark.parametrize(
    ("feed", "links"),
    [
        (  # by the link of the channel
            '<rss version="2.0"><channel><link>http://harbour.example/</link>'
            "<item><title>a</title><link>/news/1</link></item><item><title>b</title><link>news/2.html</link></item>"
            "<item><title>c</title><link>\n   http://harbour.example/3  \n</link></item>"
            "<item><title>d</title><link>//other.example/4</link></item>"
            "<item><title>e</title><link>www.other.example/5</link></item>"
            "<item><title>f</title><link>?id=6&amp;x=1</link></item></channel></rss>",
            [
                *("http://harbour.example/news/1", "http://harbour.example/news/2.html", "http://harbour.example/3"),
                *("http://other.example/4", "http://www.other.example/5", "http://harbour.example/?id=6&x=1"),
            ],
        ),
        (  # xml:base comes first, the nearest one
            '<rss version="2.0" xml:base="http://base.example/x/"><channel><link>http://harbour.example/</link>'
            '<item><title>a</title><link>1</link></item><item xml:base="/y/"><title>b</title><link>2</link></item>'
            "</channel></rss>",
            ["http://base.example/x/1", "http://base.example/y/2"],
        ),
        (
            '<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://blog.example/b/"/>'
            '<entry><id>urn:1</id><title>a</title><link href="1"/></entry></feed>',
            ["http://blog.example/b/1"],
        ),
        (  # a guid is a link where its feed does not deny it, but not any word
            '<rss version="2.0"><channel><link>http://harbour.example/</link><item><title>a</title><guid>1234</guid>'
            "</item><item><title>b</title><guid>http://harbour.example/?p=5</guid></item></channel></rss>",
            ["", "http://harbour.example/?p=5"],
        ),
        (  # nothing is known of where it was
            '<rss version="2.0"><channel><item><title>a</title><link>/news/1</link></item>'
            "<item><title>b</title><link>http://[bad</link></item></channel></rss>",
            ["/news/1", "http://[bad"],
        ),
    ],
)
def test_links_are_resolved_by_xml_base_else_by_the_link_of_the_channel(feed, links):
    assert list(read(feed).column("link")) == links


def test_links_of_a_json_feed_are_resolved_by_its_home():
    items = [{"id": "1", "url": "/a", "content_text": "x"}, {"id": "2", "content_text": "y"}]
    feed = {"version": "https://jsonfeed.org/version/1.1", "home_page_url": "http://blog.example/", "items": items}
    assert list(read(json.dumps(feed), "feed.json").column("link")) == ["http://blog.example/a", ""]
