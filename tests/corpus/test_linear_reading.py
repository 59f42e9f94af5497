"""What repeats without end is read in time proportional to its length: each input is read at two sizes in one run."""

from __future__ import annotations

import contextlib
import time
import warnings

import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.column_names import UniqueNames
from doccluster.errors import DocclusterError, DocclusterWarning
from tests.fuzz.watch import watched

SMALL, FACTOR = 12_000, 8  # bytes of the smaller input, and how much larger the other is
MOST = 3 * FACTOR  # how much longer that may take: linear is a factor of 8, quadratic one of 64
SHORTEST = 0.01  # seconds of work below which a measurement says nothing

MAIL = b"From: a@b\nTo: c@d\nSubject: s\n"
NEWS = b"From: a@b\nSubject: s\nOrganization: o\nLines: 1\n"
# name of the file, what stands in front, what is repeated (%d: a number that counts on), what stands behind
REPEATED = {
    "ids that are all alike": ("a.csv", b"id,text\n", b"a,b\n", b""),
    "ids that look like renamed ones": ("a.csv", b"id,text\n", b"a#%d,b\na,c\n", b""),
    "columns of one name": ("a.csv", b"text", b",a", b"\n1,2\n"),
    "columns of many names": ("a.csv", b"text", b",a%d", b"\n1,2\n"),
    "keys of many names": ("a.jsonl", b'{"text": "x"', b', "a%d": 1', b"}\n"),
    "records with other keys": ("a.jsonl", b"", b'{"text": "x", "a%d": 1}\n', b""),
    "a list of Python that never ends": ("a.csv", b'text,class\nb,"[', b"'a', ", b'"\n'),
    "an index of words that never ends": ("a.csv", b"title,text\nb,'{", b'""a"":[1],', b"x}'\n"),
    "backslashes": ("a.csv", b"id,text\n1,", b"\\", b"\n"),
    "a path of many parts": ("a.csv", b"id,text\n1,a", b"\\na", b'"\n'),
    "labels at the head of a line": ("a.txt", b"__label__a ", b"__label__a ", b"text\n"),
    "labels in the middle of a line": ("a.txt", b"text", b" __label__a ,", b"text\n"),
    "blanks before the end of a line": ("a.txt", b"text", b" ,", b"text\n"),
    "rows with an open quote": ("a.csv", b"text,b\n", b'"a,b\n', b""),
    "meta with a long word": ("a.html", b"<html><meta ", b"a", b"><p>text</html>"),
    "link with many words": ("a.html", b"<html><link ", b"a ", b"><p>text</html>"),
    "link with many quotes": ("a.html", b"<html><link ", b"a='\" ", b"><p>text</html>"),
    "time with much space": ("a.html", b"<html><p>text<time a", b" ", b"></html>"),
    "scripts that never close": ("a.html", b"<html><p>text<script>", b"</script ", b""),
    "scripts in scripts": ("a.html", b"<html><p>text", b"<script>", b"</html>"),
    "styles that close at the end": ("a.html", b"<html><p>text", b"<style ", b"></style></html>"),
    "doctypes": ("a.html", b"<html><p>text", b"<!doctype ", b"</html>"),
    "doctypes in front": ("a.html", b"", b"<!doctype ", b"<html><p>text</html>"),
    "comments that never close": ("a.html", b"<html><p>text", b"<!--", b""),
    "quotes that never close": ("a.html", b"<html><p>text", b"<a b='", b""),
    "outlines with open quotes": ("a.opml", b"<opml>", b"<outline xmlUrl='", b""),
    "outlines that never end": ("a.opml", b"<opml>", b"<outline ", b""),
    "comments of a list that never close": ("a.opml", b"<opml>", b"<!--", b""),
    "an address of blanks": ("a.opml", b"<opml><outline xmlUrl='", b" ", b"x'/>"),
    "references": ("a.html", b"<html><p>text", b"&#", b"</html>"),
    "digits of a reference": ("a.html", b"<html><p>text&#", b"9", b";</html>"),
    "Reuters documents that never begin": ("a.sgm", b"<REUTERS NEWID='1'><BODY>b</BODY>", b"<REUTERS ", b""),
    "Reuters titles": ("a.sgm", b"<REUTERS NEWID='1'><TEXT>b", b"<TITLE>", b"</TEXT></REUTERS>"),
    "Reuters titles that do not end": ("a.sgm", b"<REUTERS NEWID='1'><TEXT>b", b"<TITLE ", b"</TEXT></REUTERS>"),
    "Reuters labels": ("a.sgm", b"<REUTERS><TOPICS>", b"<D>", b"</TOPICS><BODY>b</BODY></REUTERS>"),
    "a Reuters attribute": ("a.sgm", b"<REUTERS ", b"a", b"><BODY>b</BODY></REUTERS>"),
    "lines of one header": ("1", NEWS, b" a\n", b"\nbody"),
    "at signs of a quotation": ("1", NEWS + b"\nbody\n<", b"@", b"\n"),
    "space before a quotation": ("1", NEWS + b"\nbody\n", b" ", b"writes\n"),
    "parameters of a header": ("a.eml", MAIL + b"Content-Type: text/plain", b";a", b"\n\nbody"),
    "lines of parameters": ("a.eml", MAIL + b"Content-Type: text/plain", b";\n a*0=b", b"\n\nbody"),
    "encoded words": ("a.eml", MAIL + b"X: ", b"=?a?q?", b"\n\nbody"),
    "marks of an encoding": ("a.txt", b"text ", b"~{", b""),
    "marks of an encoding in long runs": ("a.txt", b"~{", b"!", b"~{ text"),
    "feeds in feeds": (
        "a.rss",
        b"<rss><channel><item><title>t</title></item>",
        b"<?xml encoding='",
        b"</channel></rss>",
    ),
    "instructions in front of a feed": (
        "a.rss",
        b"<?xml ",
        b"encoding='",
        b"?><rss><item><title>t</title></item></rss>",
    ),
    "elements of XML": ("a.xml", b"<a>text", b"<b>x</b>", b"</a>"),
    "keys of JSON": ("a.json", b'[{"text": "x"', b',"a%d":[]', b"}]"),
    "brackets of Markdown": ("a.md", b"text ", b"[", b""),
    "links of Markdown that never close": ("a.md", b"text ", b'[a](b "', b""),
    "comments of Markdown that never close": ("a.md", b"text ", b"<!--", b""),
    "keys of front matter": ("a.md", b"---\ntitle: x\n", b"a%d:\n", b"---\ntext"),
    "records of RIS without an end": ("a.ris", b"TY  - JOUR\nAB  - x\n", b"a\n", b""),
    "braces of BibTeX": ("a.bib", b"@a{b, title = {x}, c = ", b"{", b""),
    "fields of BibTeX that never close": ("a.bib", b"@a{b, title = {x}", b", a%d = {", b""),
    "blanks in a link of Markdown": ("a.md", b"text ![a](", b" ", b"y"),
    "a line in the second of two blocks": ("a.txt", b"Tag: a\nb\n\nTag: c\n", b"a ", b"\n\nb"),
    "tags of lines": ("a.txt", b"", b"Tag: x\n", b"\nTag: x\nb\n\nb"),
    "lists of JSON": ("a.json", b'[{"text": "x"}', b",[]", b"]"),
}


def repeated(size, front, piece, behind):
    pieces = [piece % number if b"%d" in piece else piece for number in range(size // len(piece))]
    return front + b"".join(pieces) + behind


def work_of(path, data):
    """Return the processor seconds that reading takes."""
    path.write_bytes(data)
    begin = time.process_time()
    with contextlib.suppress(DocclusterError):
        read_corpus(path)
    return time.process_time() - begin


@pytest.mark.parametrize("what", REPEATED)
def test_what_repeats_is_read_in_linear_time(tmp_path, what):
    name, *parts = REPEATED[what]
    small, large = repeated(SMALL, *parts), repeated(FACTOR * SMALL, *parts)
    with warnings.catch_warnings(), watched(cpu=30):
        warnings.simplefilter("ignore", DocclusterWarning)
        for _ in range(3):  # a machine may be slow for a moment
            allowed = MOST * max(work_of(tmp_path / name, small), SHORTEST)
            if (taken := work_of(tmp_path / name, large)) <= allowed:
                break
    assert taken <= allowed


@pytest.mark.parametrize("wanted", [["a"], ["a", "a#2"], ["a", "a#3", "a#2", "a#2#2"]])
def test_the_tries_for_a_free_name_grow_with_the_names_alone(wanted):
    counts = []
    for rounds in (100, 1000):
        names = UniqueNames("#")
        taken = [names.take(name) for _ in range(rounds) for name in wanted]
        assert len(set(taken)) == len(taken)
        counts.append(names.n_tries)
    assert counts[1] <= 2 * 1000 * len(wanted)
    assert counts[1] <= 11 * counts[0]


def test_free_names_are_numbered_in_the_order_they_are_taken():
    names = UniqueNames(".")
    assert [names.take(name) for name in ("a", "b", "a", "a.2", "a", "a.3")] == [
        "a",
        "b",
        "a.2",
        "a.2.2",
        "a.3",
        "a.3.2",
    ]
