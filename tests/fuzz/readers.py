"""Targets: every reader of documents, every archive, and the encodings they are in."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from doccluster.corpus import Corpus, read_corpus
from tests.fuzz.campaign import Target, scratch_folder

_LIMITS: dict[str, Any] = {"max_expanded_size": "2M"}  # bombs expand a thousandfold
_WAYS: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {"strip_html": True}, {"max_document_length": 100}, {"encoding": "utf-8"}, {"encoding": "cp1252"}),
    *({"strip": "all"}, {"split": "train"}, {"label_separator": ";"}, {"text_column": "text"}),
)
_TABLE_WAYS: tuple[dict[str, Any], ...] = (
    *({"header": False}, {"delimiter": ";"}, {"id_column": "id", "keep_columns": "label"}, {"label_columns": ()}),
)

SAMPLES: dict[str, tuple[bytes, ...]] = {
    "text": (
        b"The ferry left the harbour at six.\n\nNobody was hurt.\n",
        "Größe und Übermut täten gut.\r\nZweite Zeile\r\n".encode("cp1252"),
        "ἐν ἀρχῇ ἦν ὁ λόγος\n".encode("utf-16"),
        "彼は港へ行った。\n".encode("iso2022_jp"),
        b"~{<:Ky2;SQ~}\n" * 3,
    ),
    "lines": (
        b"__label__a , __label__b text\n__label__c\nothers",
        b"one line of words\nanother line\n\nlast",
        "für\nüber\nnoch über\n".encode("cp1252"),
        b"a\rb\rc",
    ),
    "csv": (
        b'id,text,label,date\n1,"quoted, text",x,2024-05-01\n2,plain,y,1714521600\n3,"two\nlines ""here""",z,\n',
        b'sep=;\ntitle;body;topics\nOne;first body;"[""a"", ""b""]"\nTwo;second body;c\n',
        b'text,label\n"she said \\"no\\" twice",a\nnext,b\n',
    ),
    "tsv": (b"id\ttext\tlabel\n1\tsome words here\tx\n2\tother words\ty\n", b"text\ttext\t\none\ttwo\tthree\n"),
    "jsonl": (
        b'{"id": 1, "text": "one", "topics": ["a"], "date": 1714521600000}\n{"id": 2.0, "text": "two"}\n"three"\n',
        b'{"text": "\\ud83d\\ude00", "tags": {"a": [1, null]}}\n\n{"text": null, "label": true}\n',
    ),
    "json": (
        b'{"articles": [{"text": "one", "date": "3 May 2024"}, {"text": "two"}]}',
        b'{"a": {"en": [{"text": "one"}], "de": [{"text": "zwei"}]}, "b": {"en": {"text": "three"}}}',
        b'{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": 1, "content_html": "<p>a&amp;'
        b'b", "tags": ["x"], "date_published": "2024-05-01T10:00:00Z"}, {"content_text": "c"}]}',
        b'{"k1": "first text", "k2": "second text"}',
        b'[{"type": "message", "text": "a <@U1> text", "ts": "1773393310.0"}, {"type": "message", "text": ["b", {'
        b'"text": "c"}], "ts": "2", "subtype": "channel_join"}]',
        b'{"chats": {"list": [{"name": "n", "messages": [{"id": 1, "text": ["a", {"type": "bold", "text": "b"}]}]}]}}',
    ),
    "feed": (
        b"<?xml version='1.0' encoding='utf-8'?><rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        b"<channel><title>Feed</title><item><title>a &lt;b&gt;</title><link>http://a.b/c</link><dc:date>2024-05-01"
        b"</dc:date><description><![CDATA[<p>b &#8211; c</p>]]></description><category>x</category>"
        b"<pubDate>Thu, 26 Feb 1987 15:01:01 GMT</pubDate><guid isPermaLink='false'>7</guid>"
        b"<enclosure url='u' length='12' type='audio/mpeg'/></item></channel></rss>",
        b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a.b/'><title type='html'>t</title><entry><id>1"
        b"</id><title>e</title><updated>2024-05-01T10:00:00Z</updated><author><name>n</name><email>e@f</email>"
        b"</author><content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>c &amp; d</p></div></content>"
        b"<source><title>s</title></source><link rel='alternate' href='x'/></entry></feed>",
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"
        b"<item rdf:about='u'><title>t</title><description>d &#60; &#x41;</description></item></rdf:RDF>",
        b"<br />\n<b>Warning</b>: Undefined index in <b>/srv/feed.php</b><br />\n<?xml version='1.0'?><!DOCTYPE rss [\n"
        b'<!ENTITY co "c">\n]><rss version=\'2.0\' xml:base="http://b.c/d/"><channel><link>/e/</link><item><title>&co;'
        b"</title><link>\n f/g \n</link></item><item><link>//h.i/j</link><guid>7</guid></item></channel></rss>",
    ),
    "opml": (
        b"<?xml version='1.0'?><opml version='2.0'><body><outline text='a' xmlUrl='feed.xml'/>"
        b"<"
        b"outline xmlUrl='http://a.b/c'/><outline xmlUrl='../up.xml'/><outline url='file:///etc/hosts'/></body></opml>",
    ),
    "mbox": (
        b"From x@y Thu Feb 26 15:01:01 1987\nFrom: =?utf-8?q?J=C3=BCrg?= <a@b>\nSubject: =?iso-8859-1?b?R3L8?=\n"
        b"Date: Mon, 02 Jan 2006 15:04:05 +0100\nMIME-Version: 1.0\nContent-Type: multipart/alternative; "
        b'boundary="b1"\n\n--b1\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n'
        b"R3LDvMOfZQ==\n--b1\nContent-Type: text/html; charset=iso-8859-15\nContent-Transfer-Encoding: "
        b"quoted-printable\n\n<p>Gr=FC=DFe=20\n--b1--\n\nFrom z\nSubject: s\n\nsecond body\n>From here\n",
    ),
    "eml": (
        b"Received: by a\nFrom: a@b\nTo: c@d\nSubject: s\n =?utf-8?q?t?=\nMessage-ID: <1@b>\nDate: 1 May 2024 10:00:00 "
        b"-0000\nContent-Type: text/plain; charset*=us-ascii'en'utf-8\n\nsome body\n",
        b"From: a@b\nTo: c@d\nSubject: rfc822\nContent-Type: message/rfc822\n\nSubject: inner\n\ninner body\n",
    ),
    "newsgroups": (
        b"From: a@b.c (N)\nSubject: Re: s\nOrganization: o\nLines: 5\nNewsgroups: sci.x\n\nIn article <1@b> d writes:"
        b"\n> quote\ntext of the message\n\n-- \nme, somewhere\n",
    ),
    "reuters": (
        b'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1">\n'
        b"<DATE>26-FEB-1987 15:01:01.79</DATE><TOPICS><D>earn</D><D>acq</D></TOPICS><TEXT>&#2;<TITLE>T &lt;X></TITLE>"
        b"<DATELINE>  x, y - </DATELINE><BODY>b &lt;c> &#3;</BODY></TEXT></REUTERS>\n"
        b'<REUTERS TOPICS="NO" NEWID="2"><TEXT TYPE="UNPROC">all of it</TEXT></REUTERS>',
    ),
    "markdown": (
        b"---\ntitle: 'It''s a \"t\"' # c\ndate: 2026-03-10\ntags: [a, \"b, c\"]\n"
        b"author:\n  name: x\nlist:\n- a\n- b: c\n"
        b'text: >-\n  folded\n---\n# Head *one*\n\nA [link](http://a.b/(c) "t") ![i](j) `code` <b>x</b> <!-- c -->\n'
        b"```py\n"
        b"x\n```\n[r]: http://a\n",
        b'+++\ntitle = "t"\ndate = 2026-03-10\n[a.b]\nc = [1, [2]]\n+++\ntext\n',
        b'{"title": "t", "tags": ["a", {"b": null}]}\n\ntext\n',
    ),
    "ris": (
        b"Provider: x\n\nTY  - JOUR\nID  - 1\nTI  - t\nof two lines\n"
        b"AU  - a\nPY  - 2010/03/05/\nAB  - abstract\nKW  - k\nl\nER  - \n"
        b"TY - BOOK\nT1 - t\nDA - 2011/01/\nUR - http://a\n",
    ),
    "medline": (
        b"PMID- 1\nDP  - 2010 Mar-Apr\nTI  - t\n      u\nAB  - a\nLID - 10.1/x [doi]\nMH  - m\n\nPMID- 2\nTI  - v\n",
    ),
    "wos": (
        b"FN C\nVR 1.0\nPT J\nAU a\n   b\nTI t\nAB abstract\nPD MAR 5\nPY 2010\nUT W:1\nER\n\nEF\n",
        b"PT\tAU\tTI\tAB\tPY\tUT\nJ\ta; b\tt\tabstract\t2010\tW:1\t\n",
    ),
    "bibtex": (
        b'@string{j = "J " # {K}}\n@article{k,\n title = {T {\\"o} \\c{c} $x$},\n'
        b' journal = j # "x",\n month = mar,\n year = 2010,\n'
        b' abstract = "a {"} b"\n author = {A and B}}\n@misc(l, title = {u} @book{m, title={v',
    ),
    "html": (
        b"<!doctype html><html><head><meta charset='utf-8'><title>t &amp; u</title><link rel=canonical href='http://a'>"
        b"<meta property='article:published_time' content='2024-05-01'><style>p{}</style></head><body><!-- c --><p>one"
        b"<p class=\"a>b\">two &amp; three &#8212; four<script>var a = '<p>';</script><table><tr><td>x<td>y</table>"
        b"<svg><text>z</text></svg><![CDATA[raw]]></body></html>",
        "<html><head><meta http-equiv=Content-Type content='text/html; charset=koi8-r'></head><p>Привет".encode(
            "koi8_r"
        ),
    ),
    "xml": (
        b"<?xml version='1.0' encoding='iso-8859-1'?><!DOCTYPE doc [<!ELEMENT doc ANY>]><doc xmlns:a='u'>"
        b"<title>t</title><a:p>one &lt; two</a:p><p>three<b>four</b></p><![CDATA[<five>]]></doc>",
        b"<TEI><teiHeader><title>t</title><date when='2020'/></teiHeader><text>a Sk<lb break='no'/>er</text></TEI>",
    ),
    "xml-records": (
        b"<?xml version='1.0'?><PubmedArticleSet><PubmedArticle><PMID>1</PMID><Article>"
        b"<Journal><Title>J</Title></Journal><ArticleTitle>On <i>E. coli</i></ArticleTitle>"
        b"<PubDate><Year>2020</Year><Month>Jan</Month></PubDate><Abstract>"
        b"<AbstractText>The ferry sailed.</AbstractText></Abstract></Article></PubmedArticle></PubmedArticleSet>",
        b'<posts><row Id="1" Body="&lt;p&gt;The ferry&lt;/p&gt;" Tags="&lt;a&gt;&lt;b&gt;"/><row Id="2"/></posts>',
        "<rows>\r\n<row><field name='text'>größe</field></row>\r\n<row><field>b</field></row></rows>".encode("utf-16"),
    ),
    "trec": (
        b"<DOC>\n<DOCNO> AP-1 </DOCNO>\n<HEAD>Head &AMP; tail</HEAD>\n<DATE><P>1 May 2024</P></DATE>\n<TEXT>\n<P>\n"
        b"The ferry sailed.\n<TEXT>\nagain\n<DOC>\n<DOCNO>AP-2\n<TEXT>\nsecond &hyph; text\n</DOC>\n",
        b'<doc id="AFP_ENG_20021216.0001" type="story"><headline>H</headline><text>a</text><doc url="u">b</doc>\r\n',
    ),
    "smart": (b".I 1\n.T\ntitle\n.A\nname\n.W\ntext of it\n.I 2\r\n.W\r\nsecond\r\n.X\r\n1\t2\r\n",),
}

_XML_TOKENS = (
    *(b"<a", b"</a>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml ", b"?>", b"&#", b"&#x110000;", b"&#-1;", b"&lt;"),
    *(b"&#55555555555555;", b"<!DOCTYPE x [", b'<!ENTITY a "b">', b"&a;", b"<", b">", b"='", b" xml:base='http://[1'"),
    *(b" xmlns:x='y'", b" encoding='punycode'", b" encoding='idna'", b" encoding='utf-16'", b" encoding='utf-7'"),
    *(b" encoding='base64'", b" type='application/xml'", b" href='http://[::1/x'"),
)
_HTML_TOKENS = (
    *(
        b"<meta ",
        b"<link ",
        b"<script>",
        b"</script",
        b"<style",
        b"<title>",
        b"</",
        b"<svg",
        b"<pre",
        b"<td",
        b"<time ",
    ),
    *(b" charset=punycode", b" charset='idna'", b" content=", b" property=x", b'="', b"='", b"a" * 50),
)
_MAIL_TOKENS = (
    *(b"\n\n", b"From ", b"Subject: ", b"=?", b"?=", b"?b?", b"?q?", b"=?punycode?q?a-?=", b"=?idna?b?YQ==?="),
    *(b"charset=punycode", b"charset=idna", b"boundary=", b"--b1", b"--b1--", b"multipart/mixed", b"message/rfc822"),
    *(b"base64", b"quoted-printable", b"x-uuencode", b"Content-Type: ", b"Date: 99999999999", b";", b"*0*=", b"\r"),
    *(b"filename*=punycode''a", b"message/delivery-status", b"<", b">", b"\xff"),
)
_JSON_TOKENS = (
    *(b"[", b"{", b'{"a":', b'["', b"]", b"}", b'"', b"\\u", b"\\ud800", b"null", b"NaN", b"-Infinity", b"9" * 500),
    *(b'"text":', b'"id":', b'"date":', b"1e400", b"-1e18", b"true", b'"items":', b",", b":", b"[[],", b"9" * 4400),
)
_TABLE_TOKENS = (
    *(b'"', b'""', b",", b"\t", b";", b"|", b"\n", b"\r\n", b"\r", b"\\", b"sep=", b"text", b"id", b"[1]", b"1\n"),
    *(b"&amp;", b"&#8217;", b"&amp;amp;", b"&lt;p&gt;", b"&", b"<b>"),
    *(b"x,", b"text,", b"[" * 600, b"\x00", b"9" * 400),
    *(
        b"['a' 'b']",
        b'"{""ImportId"":""a""}"',
        b"[deleted]",
        b"\\n",
        b"\\ud83d",
        b"_x000D_",
        b"{'a': [0], 'b': [1]}",
        b"when?",
    ),
)
TOKENS: dict[str, tuple[bytes, ...]] = {
    "csv": _TABLE_TOKENS,
    "tsv": _TABLE_TOKENS,
    "jsonl": _JSON_TOKENS,
    "json": _JSON_TOKENS,
    "feed": (
        *_XML_TOKENS,
        *(b"<item>", b"<entry>", b"<dc:date>", b"<source>", b"<geo:lat>", b"<georss:polygon>1 2", b"<media:thumbnail "),
        *(b"<itunes:category text='x'>", b"<content type='xhtml'>", b"<cloud ", b"<image>", b"<textInput>", b"<id>"),
        *(
            b"<gml:posList>",
            b"<psc:chapter start='1'>",
            b"<link rel='self' href='",
            b"<pubDate>",
            b"25:61:61",
            b"99999",
        ),
        *(b"<br />", b"HTTP/1.1 200 OK\n\n", b"<!DOCTYPE rss [", b"]>", b"<link>http://["),
        *(b" mode='base64'", b" isPermaLink='x'", b"<updated>", b"-W53-", b"T24:00:00+99:99", b"xmlns='"),
    ),
    "opml": (*_XML_TOKENS, b"<outline xmlUrl='http://[1/'/>", b"xmlUrl='\0'", b"xmlUrl='%00'", b"xmlUrl='list.opml'"),
    "mbox": _MAIL_TOKENS,
    "eml": _MAIL_TOKENS,
    "newsgroups": (*_MAIL_TOKENS, b"> ", b"writes:", b"-- \n", b"In article "),
    "reuters": (
        *(b"<REUTERS", b"<REUTERS>", b"</REUTERS>", b"<TEXT>", b"<BODY>", b"</BODY>", b"<D>", b"</D>", b"<TITLE"),
        *(b"<TOPICS>", b"<DATELINE>", b"&#99999;", b"&#55555;", b"&lt;", b"<", b">", b'NEWID="', b'="', b"<AUTHOR>"),
    ),
    "markdown": (
        *(
            b"---\n",
            b"+++\n",
            b"...\n",
            b"[",
            b"](",
            b"![",
            b"<!--",
            b"```\n",
            b"~~~",
            b"`",
            b": ",
            b"- ",
            b"  - a: b\n",
            b"|\n",
        ),
        *(
            b"{",
            b"}",
            b"[[",
            b"]]",
            b"'",
            b'"',
            b"&a *a",
            b"# ",
            b"\n===\n",
            b"{{<",
            b"{%",
            b"<script>",
            b"= [",
            b"a.b.c = 1\n",
        ),
    ),
    "ris": (
        b"TY  - ",
        b"ER  - ",
        b"AB  - ",
        b"TY -",
        b"\n",
        b"\xef\xbb\xbf",
        b"PY  - 2010/99/99",
        b"  -",
        b"\r",
        b"KW  -\n",
    ),
    "medline": (b"PMID- ", b"\n      ", b"AB  - ", b"DP  - ", b"AID - [doi]", b"-", b"\r", b"\n\n"),
    "wos": (b"PT J\n", b"ER\n", b"EF\n", b"PT\t", b"\t", b"   ", b"AB ", b"PD -", b"PY ", b"\r", b"\xef\xbb\xbf"),
    "bibtex": (
        *(
            b"{",
            b"}",
            b'"',
            b"#",
            b"=",
            b",",
            b"@article{",
            b"@string{",
            b"@comment{",
            b"@x(",
            b")",
            b"\\",
            b"\\'",
            b"\\c ",
        ),
        *(b"$", b"~", b"--", b"%", b"\n@", b"\xef\xbb\xbf"),
    ),
    "html": (*_XML_TOKENS, *_HTML_TOKENS),
    "xml": (*_XML_TOKENS, b"<teiHeader>", b"<front>", b"<lb break='no'/>", b"<hi>", b"<p>" * 50),
    "xml-records": (
        *_XML_TOKENS,
        b"<row>",
        b"</row>",
        b"<row ",
        b"<field name='text'>",
        b"<Year>",
        b"<a>" * 50,
        b"<p>",
    ),
    "trec": (
        b"<DOC>",
        b"</DOC>",
        b"<doc ",
        b"<TEXT>",
        b"</TEXT>",
        b"<DOCNO>",
        b"<P>",
        b"&hyph;",
        b"<",
        b"='",
        b"<script>",
    ),
    "smart": (b"\n.I ", b"\n.W\n", b"\n.T\n", b"\n.Z", b".I 1\n", b"\r"),
    "text": (
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff\0\0",
        b"\x1b$B",
        b"\x1b(B",
        b"~{",
        b"~}",
        b"\r",
        b"+AGE-",
        b"\x1b$)C",
        *(character.encode() for character in "\u00ad\u200b\u200c\u200d\u2060\ufeff\u200f\ufe0f\U000e0100"),
    ),
}
TOKENS["lines"] = (*TOKENS["text"], b"\n")
_ARCHIVE_TOKENS = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"ustar", b"\0" * 512, b"../", b"/etc/")
_NAMES = {"newsgroups": "12345", "feed": "a.rss", "reuters": "a.sgm", "text": "a.txt", "lines": "a.txt"}
_NAMES |= {"markdown": "a.md", "medline": "a.nbib", "wos": "a.ciw", "bibtex": "a.bib"}
_NAMES |= {"xml-records": "b.xml", "trec": "a.trec", "smart": "a.all"}


def checked(corpus: Corpus) -> str:
    """Return "read" after making sure that a corpus is whole and can be written."""
    assert len(set(corpus.ids)) == len(corpus.ids) == len(corpus.texts) == len(corpus.metadata) > 0
    assert all(len(values) == len(corpus) for values in corpus.labels.values())
    assert all(text.strip() for text in corpus.texts)
    for text in (*corpus.texts, *corpus.ids, *corpus.metadata.to_numpy().ravel()):
        text.encode("utf-8")
    for one in corpus.skipped:
        "\t".join((one.source, one.reason, one.detail)).encode("utf-8")
        assert one.reason
        assert "\n" not in one.source + one.detail
    return "read"


@cache
def _folder() -> Path:
    """A folder of this process, with a good file to read beside a list of feeds, which holds no document."""
    folder = scratch_folder()
    (folder / "feed.xml").write_bytes(SAMPLES["feed"][0])
    return folder


def read_file(data: bytes, *, name: str, ways: Sequence[dict[str, Any]], format: str | None = None) -> str:
    """Read bytes as a file, in one of several ways that the bytes themselves decide on."""
    path = _folder() / name
    path.write_bytes(data)
    draw = zlib.crc32(data)
    options = {**ways[draw % len(ways)], **_LIMITS}
    if draw >> 8 & 1:
        options["format"] = format
    source = [path, _folder() / "feed.xml"] if name.endswith(".opml") else path
    return checked(read_corpus(source, **options))


def _reader(format: str) -> Target:
    name = _NAMES.get(format, f"a.{format}")
    ways = (*_WAYS, *_TABLE_WAYS) if format in ("csv", "tsv") else _WAYS
    return Target(
        format,
        lambda: SAMPLES[format],
        lambda data: read_file(data, name=name, ways=ways, format=format),
        TOKENS[format],
    )


def _parquet_samples() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = (
        pa.table({"id": [1, 2, 3], "text": ["one", "two", None], "labels": [["a"], [], ["b", "c"]]}),
        pa.table({"text": ["x y"] * 30, "when": pa.array([1714521600000] * 30, pa.timestamp("ms")), "n": [0.5] * 30}),
        pa.table({"text": pa.array(["a", "b", "a"]).dictionary_encode(), "rest": [{"k": 1}, {"k": 2}, None]}),
    )
    found = []
    for table, compression in zip(tables, ("none", "snappy", "gzip"), strict=True):
        buffer = io.BytesIO()
        pq.write_table(table, buffer, compression=compression)
        found.append(buffer.getvalue())
    return found


def _members() -> dict[str, bytes]:
    return {f"folder/{format}/{_NAMES.get(format, 'a.' + format)}": samples[0] for format, samples in SAMPLES.items()}


def _zip_samples() -> list[bytes]:
    found = []
    for method, names in ((zipfile.ZIP_STORED, 4), (zipfile.ZIP_DEFLATED, 20), (zipfile.ZIP_BZIP2, 3)):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            for name, content in list(_members().items())[:names]:
                archive.writestr(name, content)
        found.append(buffer.getvalue())
    return found


def _office_samples() -> list[bytes]:
    from tests.corpus.test_office_files import BOOK, DOCX, ODT, SLIDES, zipped

    return [zipped(parts) for parts in (DOCX, SLIDES, ODT, BOOK)]


def _sheet_samples() -> list[bytes]:
    from tests.corpus.test_spreadsheets import SAILS, cell, open_document, workbook

    return [workbook(), open_document((1, [cell("text"), cell("", 5)]), (2, [cell(SAILS)]))]


def _rtf_samples() -> list[bytes]:
    from tests.corpus.test_office_files import RICH

    return [RICH]


def _pdf_samples() -> list[bytes]:
    from tests.corpus.test_office_files import portable

    return [portable("The ferry sails.", "It lands.", info="/Title(Harbour)/CreationDate(D:20260302091000Z)")]


def _tar_samples() -> list[bytes]:
    found = []
    for format in (tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
            for name, content in list(_members().items())[:5]:
                entry = tarfile.TarInfo(name if format == tarfile.USTAR_FORMAT else f"{'long/' * 30}{name}")
                entry.size = len(content)
                if format == tarfile.PAX_FORMAT:
                    entry.pax_headers = {"mtime": "1714521600.5", "comment": "größe"}
                archive.addfile(entry, io.BytesIO(content))
        found.append(buffer.getvalue())
    return found


def _archive(name: str, samples: Any, tokens: tuple[bytes, ...] = _ARCHIVE_TOKENS) -> Target:
    return Target(name, samples, lambda data: read_file(data, name=f"a.{name}", ways=_WAYS), tokens, in_place=True)


def _packed(pack: Any) -> Any:
    return lambda: [pack(b"some text of a few words\n" * 20), pack(_tar_samples()[0]), pack(SAMPLES["jsonl"][0])]


_TAR_TOKENS = (
    *_ARCHIVE_TOKENS,
    b"\x80\0\0\0" + (2**62).to_bytes(8, "big"),
    b"\xff" * 12,
    b"20 mtime=1e999999\n",
    b"L",
    b"S",
)

READERS: tuple[Target, ...] = (
    *map(_reader, SAMPLES),
    _archive("parquet", _parquet_samples, (b"PAR1", b"ARROW:schema")),
    _archive("docx", _office_samples, (b"<!DOCTYPE x>", b"<w:p>" * 50, b"&#0;", b"PK\5\6")),
    _archive("xlsx", _sheet_samples, (b"<row>" * 50, b't="s"', b"<v>-1</v>", b'r="XFD1"', b"<!DOCTYPE x>", b"PK\5\6")),
    _archive("rtf", _rtf_samples, (b"{" * 50, b"}" * 50, b"\\u-99999999", b"\\'zz", b"\\uc99 ", b"\\ansicpg99999")),
    _archive("pdf", _pdf_samples, (b"/Kids[2 0 R]", b"/Encrypt 5 0 R", b"99999999999", b"<<" * 50)),
    _archive("zip", _zip_samples),
    _archive("tar", _tar_samples, _TAR_TOKENS),
    _archive("gz", _packed(gzip.compress)),
    _archive("bz2", _packed(bz2.compress)),
    _archive("xz", _packed(lzma.compress)),
)


def labels_file(data: bytes) -> str:
    """Read bytes as the labels of three texts."""
    path = _folder() / ("labels.csv" if zlib.crc32(data) & 1 else "labels.txt")
    path.write_bytes(data)
    return checked(read_corpus(["first text", "second text", "third text"], labels_file=path))


READERS += (
    Target(
        "labels",
        lambda: [b"a\nb\nc\n", b"id,label\n1,a\n2,b\n3,c\n", json.dumps(["a"]).encode()],
        labels_file,
        _TABLE_TOKENS,
    ),
)
