"""Feeds, OPML, HTML, XML and mail: what is marked up becomes text, and what is hostile does nothing."""

from __future__ import annotations

import io
import json
import socket
import sys

import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.mail import decoded_header
from doccluster.corpus.markup import read_page, strip_markup
from doccluster.corpus.reader import Beginning
from doccluster.errors import MissingDependency, NothingUsable, importing
from tests.fuzz.watch import watched


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Nothing that is read may open a connection."""

    def refuse(*arguments, **keywords):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def read_bytes(data: bytes | str, name: str, **options):
    stream = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    stream.name = name
    return read_corpus(stream, **options)


RSS2 = """<?xml version="1.0" encoding="{encoding}"?>
<rss version="2.0"><channel><title>Wire</title>
<item><title>Grain &amp;amp; rain – naïve</title><link>http://x.example/1</link><guid>g1</guid>
<pubDate>Thu, 26 Feb 1987 15:01:01 GMT</pubDate><category>wheat</category><category>rain</category>
<description>&lt;p&gt;Wheat &lt;b&gt;rose&lt;/b&gt;.&lt;script&gt;alert(1)&lt;/script&gt;&lt;/p&gt;</description></item>
<item><link>http://x.example/2</link><description>Second</description></item>
<item><link>http://x.example/3</link></item>
</channel></rss>"""


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16", "windows-1252"])
def test_rss_items_become_documents_with_all_that_belongs_to_them(encoding):
    written = "windows-1252" if encoding == "iso-8859-1" else encoding
    corpus = read_bytes(RSS2.format(encoding=encoding).encode(written), "feed.xml")
    assert corpus.ids == ("g1", "http://x.example/2")
    assert corpus.texts == ("Grain & rain – naïve\n\nWheat rose.", "Second")
    assert corpus.labels == {"category": (("wheat", "rain"), ())}
    first = corpus.metadata.iloc[0].to_dict()
    assert first == {
        "title": "Grain & rain – naïve",
        "date": "1987-02-26T15:01:01+00:00",
        "source": "Wire",
        "link": "http://x.example/1",
        "file": "feed.xml",
    }
    assert [(one.source, one.reason) for one in corpus.skipped] == [("feed.xml:3", "empty")]


RSS09 = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>c</title></channel>
<item><title>one</title><link>http://x/1</link></item></rdf:RDF>"""
RSS1 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="c"><title>c</title></channel>
<item rdf:about="http://x/1"><title>one</title><dc:date>2004-01-01</dc:date></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>c</title>
<entry><id>i</id><title type="html">&lt;i&gt;one</title><updated>2004-01-01T00:00:00Z</updated></entry></feed>"""
UNDEFINED = """<rss version="2.0"><channel><item><title>one</title>
<description>caf&eacute; &nbsp;&bogus; &</description></item></channel>"""


@pytest.mark.parametrize(
    "feed", [RSS09, RSS1, ATOM, UNDEFINED], ids=["rss 0.9", "rss 1.0", "atom", "undefined entities"]
)
def test_every_kind_of_feed_is_recognised(feed):
    corpus = read_bytes(feed, "unknown")
    assert corpus.metadata["title"].tolist() == ["one"]


def test_undefined_entities_are_read_as_html_knows_them():
    assert read_bytes(UNDEFINED, "f.rss").texts[0].startswith("one\n\ncafé")


def test_a_json_feed_is_read():
    items = [
        {"id": 1, "title": "T", "content_html": "<p>one</p>", "date_published": "2024-01-02T03:04:05Z", "tags": ["a"]},
        {"url": "http://x/2", "content_text": "two <b>"},
        {"id": "3"},
        "no item",
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Wire", "items": items}
    corpus = read_bytes(json.dumps(feed), "feed.json")
    assert (corpus.ids, corpus.texts) == (("1", "http://x/2"), ("T\n\none", "two <b>"))
    assert corpus.metadata.iloc[0].to_dict() == {
        "title": "T",
        "date": "2024-01-02T03:04:05+00:00",
        "source": "Wire",
        "link": "",
        "file": "feed.json",
    }
    assert corpus.labels == {"category": (("a",), ())}
    assert [one.reason for one in corpus.skipped] == ["empty", "bad-record"]


def test_a_list_of_feeds_holds_no_document_and_is_never_fetched(tmp_path):
    (tmp_path / "a.rss").write_text(RSS2.format(encoding="utf-8"))
    listed = '<?xml version="1.0"?><opml version="2.0"><body><outline type="rss" xmlUrl="a.rss"/>{}</body></opml>'
    (tmp_path / "list.opml").write_text(listed.format(""))
    corpus = read_corpus(tmp_path)
    assert len(corpus) == 2
    assert [one.reason for one in corpus.skipped] == ["empty"], "a list of files beside it says nothing new"
    with pytest.raises(NothingUsable, match="1 list-of-feeds"):
        read_corpus(tmp_path / "list.opml")
    (tmp_path / "list.opml").write_text(listed.format('<outline xmlUrl="http://127.0.0.1:9/feed"/>'))
    skipped = {one.reason: one.detail for one in read_corpus(tmp_path).skipped}
    assert skipped["list-of-feeds"].startswith("2 feeds are listed, and nothing is fetched here")


def laughs(root: str, depth: int = 40) -> str:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol" * 10}">' for n in range(depth))
    return f'<?xml version="1.0"?><!DOCTYPE {root} [{entities}<!ENTITY x SYSTEM "file:///etc/passwd">]>'


BOMBS = {
    "bomb.rss": laughs("rss")
    + "<rss version='2.0'><channel><item><title>one</title><description>&e39;&x;</description>"
    "</item></channel></rss>",
    "bomb.atom": laughs("feed")
    + "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>one &e39;&x;</title></entry></feed>",
    "bomb.opml": laughs("opml") + "<opml><body><outline xmlUrl='&e39;&x;'/></body></opml>",
    "bomb.xml": laughs("note") + "<note>one &e39;&x;</note>",
    "bomb.html": laughs("html") + "<html><body>one &e39;&x;</body></html>",
}


@pytest.mark.parametrize("name", BOMBS)
def test_an_entity_bomb_does_nothing(name):
    with watched(cpu=10):  # expanding it would take longer than the universe is old
        if name in ("bomb.xml", "bomb.opml"):
            with pytest.raises(NothingUsable, match="unsafe-xml" if name == "bomb.xml" else "list-of-feeds"):
                read_bytes(BOMBS[name], name)
        else:
            corpus = read_bytes(BOMBS[name], name)
            assert all(text.startswith("one") and len(text) < 1000 and "root:" not in text for text in corpus.texts)


def test_a_page_gives_text_title_date_and_address():
    page = (
        "<!DOCTYPE html><html><head><meta charset='windows-1251'><title>Новости &amp; погода</title>"
        "<link rel=canonical href='http://x/a?b&amp;c'><meta property='article:published_time' content='2024-05-06'>"
        "<style>p {color: red}</style><script>if (a<b) document.write('<p>no</p>')</script></head>"
        "<body><h1>Заголовок</h1><p>Первый  абзац,<br>строка.<!-- no --><p>Второй&nbsp;абзац"
        "<table><tr><td>a<td>b</table></body></html>"
    )
    corpus = read_bytes(page.encode("cp1251"), "page.html")
    assert corpus.texts == ("Новости & погода\n\nЗаголовок\nПервый абзац,\nстрока.\nВторой абзац\na b",)
    assert corpus.metadata.iloc[0].to_dict() == {
        "title": "Новости & погода",
        "date": "2024-05-06",
        "source": "",
        "link": "http://x/a?b&c",
        "file": "page.html",
    }


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain < text & more", "plain < text & more"),
        ("a<b>c</b>d", "acd"),
        ("<p>one<p>two", "one\ntwo"),
        ("x<script>no", "xno"),  # never closed: nothing that follows is lost
        ("x<script>no</SCRIPT >y", "xy"),
        ("<!-- never closed", ""),
        ("<![CDATA[text]]>", "text"),
        ("<?php no ?>yes", "yes"),
        ("<a href='x>y'>link</a>", "link"),
        ("<a href='x>link</a> text", "link text"),
        ("<a title='", "<a title='"),
        ("&lt;b&gt; &#8364; &euro; &#x1F600; &bogus;", "<b> € € 😀 &bogus;"),
        ("<", "<"),
        ("1 < 2 <br> 3 > 2", "1 < 2\n3 > 2"),
    ],
)
def test_markup_is_stripped_and_text_kept(markup, text):
    assert strip_markup(markup).strip() == text


@pytest.mark.parametrize("piece", ["<!--", "<a '", '<a "', "<script>", "<![", "<", "</", "<a b=", "&#", "<svg>", "<p "])
def test_broken_markup_takes_time_proportional_to_its_length(piece):
    with watched(cpu=20):  # quadratic time would be hours
        read_page(piece * 200_000)


def test_the_article_of_a_page_is_found_with_trafilatura_or_the_extra_is_named(monkeypatch):
    paragraph = "The ministers met on Monday and agreed to raise the price of wheat in spring. " * 4
    page = f"<html><body><nav><a href='/'>Home</a></nav><article><h1>T</h1><p>{paragraph}</p></article></body></html>"
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(MissingDependency, match=r"doccluster\[html\]"):
        read_bytes(page, "page.html", html="article")


def test_an_import_that_fails_inside_a_package_says_what_could_not_be_imported(monkeypatch, tmp_path):
    (tmp_path / "trafilatura.py").write_text("import lxml_html_clean_that_is_not_there")
    monkeypatch.delitem(sys.modules, "trafilatura", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingDependency) as caught:
        read_bytes("<html><body><p>words</p></body></html>", "page.html", html="article")
    assert "trafilatura, which cannot be imported" in str(caught.value)
    assert "No module named 'lxml_html_clean_that_is_not_there'" in str(caught.value)
    assert 'pip install "doccluster[html]"' in str(caught.value)


@pytest.mark.parametrize(
    "raised", [ImportError("libgomp.so.1: cannot open"), AttributeError("_ARRAY_API not found"), OSError("no pdfium")]
)
def test_whatever_an_import_raises_is_a_sentence_that_does_not_call_the_package_absent(raised):
    with pytest.raises(MissingDependency, match=str(raised)) as caught, importing("A needs", "b", install="c"):
        raise raised
    assert "cannot be imported" in str(caught.value)
    with pytest.raises(MissingDependency) as caught, importing("A needs", "b_is_absent", install="c"):
        import b_is_absent  # noqa: F401
    assert str(caught.value) == 'A needs b_is_absent; install it with: pip install "c".'


def test_the_article_of_a_page_leaves_its_menus_out():
    pytest.importorskip("trafilatura")
    paragraph = "The ministers met on Monday and agreed to raise the price of wheat in spring. " * 4
    page = (
        "<html><head><title>T</title></head><body><nav><ul><li><a href='/'>Home menu</a></li></ul></nav><article>"
        f"<h1>T</h1><p>{paragraph}</p><p>{paragraph}</p></article><footer>Imprint of the site</footer></body></html>"
    )
    article = read_bytes(page, "page.html", html="article").texts[0]
    assert "ministers met" in article
    assert "Home menu" not in article
    assert "Home menu" in read_bytes(page, "page.html").texts[0]


def test_xml_that_is_no_feed_gives_its_text():
    corpus = read_bytes("<doc><title>T</title><p>one <b>two</b></p><p>three</p></doc>", "a.xml")
    assert corpus.metadata["title"].tolist() == ["T"]
    assert corpus.texts[0].split() == ["T", "one", "two", "three"]
    with pytest.raises(NothingUsable, match="broken-xml"):
        read_bytes("<doc><open></doc>", "a.xml")


MAIL = b"""Message-ID: <m%(n)d@example.org>
From: =?utf-8?q?R=C3=A9n=C3=A9?= <a@example.org>
Subject: =?iso-8859-1?Q?Gr=FC=DFe?=
 =?utf-8?b?IGFuIGFsbGU=?=
Date: Mon, 02 Jan 2006 15:04:05 +0100
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: multipart/alternative; boundary="A"

--A
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Caf=E9 %(n)d
>From the start
--A
Content-Type: text/html

<p>no</p>
--A--
--B
Content-Type: application/pdf
Content-Disposition: attachment; filename=a.pdf
Content-Transfer-Encoding: base64

JVBERi0xLjQ=
--B
Content-Type: text/plain
Content-Disposition: attachment; filename=a.txt

attached
--B--
"""
HTML_MAIL = b"""From: b@example.org
Subject: page
Content-Type: text/html; charset=bogus
Content-Transfer-Encoding: base64

PHA+T25seSA8Yj5IVE1MPC9iPjwvcD4=
"""


def test_a_mailbox_is_read_message_by_message():
    box = b"".join(b"From x Mon Jan  2 15:04:05 2006\n" + MAIL % {b"n": n} + b"\n" for n in (1, 2, 2))
    box += b"From y Mon Jan  2 15:04:05 2006\n" + HTML_MAIL
    corpus = read_bytes(box, "inbox")
    assert corpus.ids == ("m1@example.org", "m2@example.org", "m2@example.org#2", "inbox:4")
    assert corpus.texts[0].startswith("Grüße an alle\n\nCafé 1\n")
    assert "From the start" in corpus.texts[0]
    assert "attached" not in corpus.texts[0]
    assert corpus.texts[3] == "page\n\nOnly HTML"
    assert corpus.metadata["date"][0] == "2006-01-02T15:04:05+01:00"
    assert corpus.metadata["title"][0] == "Grüße an alle"


def test_a_single_message_is_read(tmp_path):
    (tmp_path / "a.eml").write_bytes(MAIL % {b"n": 7})
    (tmp_path / "noname").write_bytes(b"Received: from x\n" + HTML_MAIL)
    corpus = read_corpus(tmp_path)
    assert corpus.ids == ("m7@example.org", "noname")
    assert corpus.texts[1] == "page\n\nOnly HTML"


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("=?utf-8?q?caf=C3=A9?=", "café"),
        ("=?utf-8?B?w6k=?= =?utf-8?B?w6k=?= x", "éé x"),
        ("=?bogus?q?caf=E9?=", "café"),
        ("=?utf-8?b?###?=", "=?utf-8?b?###?="),
        ("plain\n folded", "plain folded"),
        ("=?utf-8?x?y?=", "=?utf-8?x?y?="),
    ],
)
def test_encoded_headers_are_decoded(header, text):
    assert decoded_header(header) in (text, "")


def test_broken_mail_is_listed_not_fatal():
    box = (
        b"From x\n" + b"Subject: a\nContent-Type: multipart/mixed; boundary=\n\nbody\n\nFrom y\nSubject: b\n\nsecond\n"
    )
    corpus = read_bytes(box, "box.mbox", format="mbox")
    assert corpus.texts[-1] == "b\n\nsecond"


def test_a_page_has_its_first_title_alone_and_an_empty_one_takes_no_words():
    page = read_page("<title>First</title><svg><title>Second</title></svg><p>Words")
    assert (page.title, page.text) == ("First", "Words")
    page = read_page("<title></title><p>Words")
    assert (page.title, page.text) == ("", "Words")


@pytest.mark.parametrize("before", ["", "\n <!-- by hand -->\n", '<?xml version="1.0"?> <!-- a --> '])
def test_a_doctype_is_found_behind_comments(before):
    beginning = Beginning(f"{before}<!DOCTYPE HTML PUBLIC><p>", "page")
    assert (beginning.doctype, beginning.element) == ("html", "p")
