"""Collections between marks, <DOC> and SMART's .I, on pages written for the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from doccluster.corpus import read_corpus
from doccluster.errors import NothingUsable

FILES = Path(__file__).parent / "files"
NEWS = """<DOC>
<DOCNO> AP-1 </DOCNO>
<HEAD>Harbour &AMP; sea</HEAD>
<SECTION><P>Metro</P></SECTION>
<TEXT>
<P>
The ferry sails &lt;at dawn&gt;, R&D says.
<TEXT>
It lands at noon.
<DOC>
<DOCNO> AP-2
<DATE><P>January 1, 1989</P></DATE>
<TEXT>
The wall holds.
</DOC>
"""
WIRE = """<DOC id="AFP_ENG_20021216.0001" type="story" >
<HEADLINE>
Ferry
sails
</HEADLINE>
<TEXT>
<P>
The ferry sails.
</P>
</TEXT>
</DOC>
"""
WIKI = """<doc id="12" url="https://a.example/12" title="Walls">
Walls

Walls hold the sea &amp; the wind.
</doc>
<doc id="13" url="https://a.example/13" title="Boats">
Boats sail.
</doc>
"""
SMART = """.I 1
.T
a wing in a
slipstream .
.A
brenckman,m.
.B
j. ae. scs. 25, 1958, 324.
.W
a wing in a
slipstream .
  an experimental study .
.I 2
.T
.W
.I 30
.W
What is said of .I in a line?
.X
1\t5\t1
"""


def read(folder, name, text, encoding="utf-8", **options):
    (folder / name).write_bytes(text.encode(encoding))
    return read_corpus(folder / name, **options)


def test_a_file_of_doc_elements_has_a_document_for_each_with_its_number_and_title():
    corpus = read_corpus(FILES / "24-collection.txt")
    assert corpus.ids == tuple(f"HP-{number}" for number in range(6))
    assert corpus.texts[1].startswith("Harbour news 1\n\nThe council voted to raise the sea wall")
    assert "<" not in "".join(corpus.texts)
    assert corpus.metadata["title"][5] == "Harbour news 5"


@pytest.mark.parametrize("name", ["news.txt", "news.sgm", "news", "wall.trec"])
@pytest.mark.parametrize(
    ("encoding", "line_end"), [("utf-8", "\n"), ("utf-8", "\r\n"), ("utf-16", "\r\n"), ("cp1252", "\r")]
)
def test_elements_that_stay_open_end_where_the_next_begins(tmp_path, name, encoding, line_end):
    corpus = read(tmp_path, name, NEWS.replace("\n", line_end), encoding)
    assert corpus.ids == ("AP-1", "AP-2")
    assert " ".join(corpus.texts[0].split()) == "Harbour & sea The ferry sails <at dawn>, R&D says. It lands at noon."
    assert corpus.texts[1] == "The wall holds."
    assert corpus.metadata["date"].tolist() == ["", "1989-01-01"]
    assert corpus.metadata["source.section"].tolist() == ["Metro", ""]


def test_numbers_titles_and_links_may_stand_in_attributes(tmp_path):
    (wire,) = read(tmp_path, "afp_eng_200212", WIRE)
    assert (wire.id, wire.metadata["date"], wire.metadata["type"]) == ("AFP_ENG_20021216.0001", "2002-12-16", "story")
    assert wire.text == "Ferry sails\n\nThe ferry sails."
    wiki = read(tmp_path, "wiki_00", WIKI)
    assert wiki.texts == ("Walls\n\nWalls hold the sea & the wind.", "Boats sail.")
    assert wiki.metadata["link"].tolist() == ["https://a.example/12", "https://a.example/13"]


def test_elements_on_one_line_and_those_without_a_root_in_xml_are_documents(tmp_path):
    line = "<doc><docno>1</docno><text>One.</text></doc><doc><docno>2</docno><text>Two.</text></doc>"
    for name in ("a.txt", "a.xml"):
        assert read(tmp_path, name, line).texts == ("One.", "Two.")
    assert len(read(tmp_path, "b.xml", "<doc><id>1</id><text>One <b>page</b></text></doc>")) == 1  # which is XML


def test_a_document_that_is_too_long_costs_itself_alone(tmp_path):
    text = NEWS + "<DOC>\n<TEXT>\n" + "long words\n" * 90 + "</TEXT>\n</DOC>\n" + WIRE
    corpus = read(tmp_path, "a.sgm", text, max_document_length=200)
    assert corpus.ids == ("AP-1", "AP-2", "AFP_ENG_20021216.0001")
    assert [(entry.source, entry.reason) for entry in corpus.skipped] == [("a.sgm:3", "too-long")]


def test_sgml_without_documents_names_both_kinds(tmp_path):
    with pytest.raises(NothingUsable, match="neither <REUTERS> nor <DOC> elements"):
        read(tmp_path, "a.sgm", "<html2><p>nothing")


@pytest.mark.parametrize(
    ("encoding", "line_end"), [("utf-8", "\n"), ("utf-8", "\r\n"), ("utf-16", "\n"), ("cp1252", "\r")]
)
def test_a_collection_in_smarts_form_has_titles_texts_and_authors(tmp_path, encoding, line_end):
    corpus = read(tmp_path, "cran.all.1400", SMART.replace("\n", line_end), encoding)
    assert corpus.ids == ("1", "30")
    assert corpus.texts[0] == "a wing in a\nslipstream .\n  an experimental study ."
    assert corpus.texts[1] == "What is said of .I in a line?"
    assert corpus.metadata["title"].tolist() == ["a wing in a slipstream .", ""]
    assert corpus.metadata["author"].tolist() == ["brenckman,m.", ""]
    assert [entry.reason for entry in corpus.skipped] == ["empty"]
