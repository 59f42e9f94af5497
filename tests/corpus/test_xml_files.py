"""XML: one document, or the records that its root repeats; what stands in elements and attributes becomes columns."""

from __future__ import annotations

import io
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from doccluster.base.limited_process import Allowance, TooCostly
from doccluster.corpus import read_corpus
from doccluster.corpus._xml_files import xml_elements
from doccluster.corpus.reader import InputFile, ReadFailure
from doccluster.errors import NothingUsable

FILES = Path(__file__).parent / "files"
SAILS = "The ferry to Skerrow sailed again from the harbour."
VOTES = "The council voted to raise the sea wall by a metre."
HEADED = """<TEI xml:id="t{n}"><teiHeader><fileDesc><titleStmt><title>Letter {n}</title></titleStmt><publicationStmt><p>
Island Press</p><date when="2020-01-01"/></publicationStmt></fileDesc><profileDesc><creation><date when="1847-03-0{n}">
March</date></creation></profileDesc></teiHeader><text><body><p>{text}</p></body></text></TEI>"""
ARTICLE = """<article><front><journal-meta><journal-title>Harbour</journal-title></journal-meta><article-meta>
<article-id>77</article-id><title-group><article-title>Of <italic>walls</italic></article-title></title-group>
<pub-date><year>2026</year></pub-date><pub-date><day>1</day><month>3</month><year>2026</year></pub-date><permissions><license><p>Free
</p></license></permissions><abstract><p>Walls and CO<sub>2</sub>.</p></abstract></article-meta></front><body><sec>
<title>Walls</title><p>They hold.</p></sec></body><back><ref-list><ref>Cited work</ref></ref-list></back></article>"""


def read(folder, text, name="a.xml", encoding="utf-8", **options):
    (folder / name).write_bytes(text.encode(encoding))
    return read_corpus(folder / name, **options)


def test_each_article_of_pubmed_is_a_document_by_its_abstract_title_and_number():
    corpus = read_corpus(FILES / "23-records.xml")
    assert corpus.ids == tuple(str(100 + number) for number in range(6))
    assert corpus.texts[1] == (
        "The council voted to raise the sea wall by another metre before the winter tides. It was so in case 1."
    )
    assert corpus.metadata["title"][2] == "Study 2 of harbours"
    assert corpus.metadata["Journal_Title"][2] == "Harbour Journal"


def test_the_header_of_an_edition_gives_title_and_date_and_no_text():
    (document,) = read_corpus(FILES / "41-edition.xml")
    assert document.text == "The ferry to Skerrow sailed again from the harbour."
    assert (document.metadata["title"], document.metadata["date"]) == ("The Harbour", "2026-03-11")


def test_the_front_of_an_article_gives_title_date_and_abstract_and_its_back_nothing(tmp_path):
    for text in (ARTICLE, f"<pmc-articleset>{ARTICLE}</pmc-articleset>"):
        (document,) = read(tmp_path, text, "a.nxml")
        assert document.text == "Walls and CO2.\n\nWalls\nThey hold."
        assert (document.metadata["title"], document.metadata["date"]) == ("Of walls", "2026-03-01")
    assert document.id == "77"


def test_a_collection_of_editions_is_read_edition_by_edition(tmp_path):
    editions = "".join(HEADED.format(n=n, text=text) for n, text in ((1, SAILS), (2, VOTES)))
    corpus = read(tmp_path, f"<teiCorpus><teiHeader><title>All of it</title></teiHeader>{editions}</teiCorpus>")
    assert (corpus.ids, corpus.texts) == (("t1", "t2"), (SAILS, VOTES))
    assert corpus.metadata["date"].tolist() == ["1847-03-01", "1847-03-02"]


def test_texts_in_attributes_are_records_without_the_tags_of_html(tmp_path):
    body = 'Body="&lt;p&gt;{text} &amp;amp; more&lt;/p&gt;"'
    row = f'<row Id="{{n}}" {body} Title="Q &quot;{{n}}&quot;" Tags="&lt;c++&gt;&lt;sql&gt;"/>'
    rows = "\n".join(row.format(n=n, text=text) for n, text in enumerate((SAILS, VOTES)))
    corpus = read(tmp_path, f'\ufeff<?xml version="1.0" encoding="utf-8"?>\n<posts>\n{rows}\n</posts>', "Posts.xml")
    assert corpus.texts == (f"{SAILS} & more", f"{VOTES} & more")
    assert corpus.metadata["title"][1] == 'Q "1"'
    assert corpus.labels == {"Tags": (("c++", "sql"),) * 2}
    escaped = "".join(f"<item><body><![CDATA[<p>{text}</p>]]></body><n/></item>" for text in (SAILS, VOTES))
    assert read(tmp_path, f"<items>{escaped}</items>", "items").texts == (SAILS, VOTES)


@pytest.mark.parametrize(
    ("above", "record", "below"),
    [
        (
            "<xml><records>",
            "<record><titles><title><style>T {n}</style></title></titles><abstract><style>{text}</style>"
            "</abstract><dates><year>202{n}</year></dates></record>",
            "</records></xml>",
        ),
        (
            '<OAI xmlns="o"><responseDate>2026</responseDate><ListRecords>',
            "<record><header><identifier>i</identifier>"
            '</header><d:dc xmlns:d="d"><d:title>T {n}</d:title><d:description>{text}</d:description>'
            "<d:date>202{n}</d:date></d:dc></record>",
            "</ListRecords></OAI>",
        ),
        (
            '<response><lst name="h"><int name="a">0</int><int name="b">1</int></lst><result>',
            '<doc><str name="title">T {n}'
            '</str><arr name="body"><str>{text}</str></arr><date name="date">202{n}</date></doc>',
            "</result></response>",
        ),
        (
            "<resultset>",
            '<row><field name="title">T {n}</field><field name="text">{text}</field><field name="date">202{n}'
            "</field></row>",
            "</resultset>",
        ),
        (
            "<news>",
            "<item><title>T {n}</title><pubDate><Month>1</Month><Year>202{n}</Year></pubDate><content><p>{text}</p>"
            "</content></item>",
            "</news>",
        ),
    ],
    ids=["EndNote", "OAI", "Solr", "MySQL", "paragraphs"],
)
@pytest.mark.parametrize(("encoding", "end"), [("utf-8", "\r\n"), ("utf-16", "\n"), ("koi8-r", "\n")])
def test_the_repeated_element_is_the_document_wherever_it_lies(tmp_path, above, record, below, encoding, end):
    texts = [f"Паром. {SAILS}", VOTES]
    content = above + end.join(record.format(n=n, text=text) for n, text in enumerate(texts)) + below
    corpus = read(tmp_path, f'<?xml version="1.0" encoding="{encoding}"?>{end}{content}', encoding=encoding)
    assert list(corpus.texts) == texts
    assert corpus.metadata["title"].tolist() == ["T 0", "T 1"]
    assert [date[:4] for date in corpus.metadata["date"]] == ["2020", "2021"]


def test_elements_inside_a_line_do_not_end_it_and_notes_and_paragraphs_do(tmp_path):
    text = "<p>Sk<hi>er</hi>row and Sker<lb break='no'/>\n row<lb/>sail<note>a note</note></p><p><b>Dr</b><i>y</i></p>"
    assert read(tmp_path, f"<doc>{text}</doc>").texts == ("Skerrow and Skerrow\nsail\na note\nDry",)


@pytest.mark.parametrize(
    "text",
    [
        f"<book><chapter><title>One</title><p>{SAILS}</p></chapter><chapter><title>Two</title><p>{VOTES}</p></chapter></book>",
        f"<a><head>T</head><list><listitem><p>{SAILS}</p></listitem><listitem><p>{VOTES}</p></listitem></list></a>",
        f"<news><text>{SAILS}{VOTES}</text><codes><code id='1' name='{VOTES}'/><code id='2' name='b'/></codes></news>",
        "<project><dependency><id>a.b</id></dependency><dependency><id>c.d</id></dependency></project>",
    ],
)
def test_xml_that_is_one_document_stays_one(tmp_path, text):
    assert len(read(tmp_path, text)) == 1


def test_a_file_that_ends_too_early_gives_the_records_before(tmp_path):
    record = f"<item><title>T</title><body>{SAILS}</body></item>"
    corpus = read(tmp_path, f"<items>{record * 3}<item><title>A & B")
    assert corpus.texts == (SAILS,) * 3
    assert [entry.reason for entry in corpus.skipped] == ["broken-xml"]


def test_chapters_are_records_where_you_say_so(tmp_path):
    book = f"<book><chapter><title>One</title><p>{SAILS}</p></chapter><chapter><p>{VOTES}</p></chapter></book>"
    assert read(tmp_path, book, format="xml-records").texts == (SAILS, VOTES)
    with pytest.raises(NothingUsable, match="no element is repeated"):
        read(tmp_path, "<book><p>x</p></book>", format="xml-records")


def test_letters_that_a_document_type_names_are_read(tmp_path):
    paper = "<article><author>J. M&uuml;ller</author><title>%s</title></article>"
    texts = (SAILS.replace("e", "&eacute;"), VOTES)
    dblp = f'<!DOCTYPE dblp SYSTEM "dblp.dtd">\n<dblp>{paper % texts[0]}{paper % texts[1]}</dblp>'
    corpus = read(tmp_path, dblp)
    assert corpus.texts == (SAILS.replace("e", "é"), VOTES)
    assert corpus.column("author") == ("J. Müller",) * 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<urlset><url><loc>http://a.example</loc></url><url><loc>http://b.example</loc></url></urlset>", "a sitemap"),
        (f"<mediawiki><page><title>T</title><text>{SAILS}</text></page><page/></mediawiki>", "a dump of a wiki"),
        ("<!DOCTYPE a [<!ENTITY b 'b'>]><rows><row><text>&b;</text></row><row/></rows>", "it defines entities"),
    ],
)
def test_xml_that_is_not_read_is_refused_by_its_name(tmp_path, text, sentence):
    with pytest.raises(NothingUsable, match=sentence):
        read(tmp_path, text)


def test_an_element_of_more_elements_than_a_file_may_have_is_refused(tmp_path):
    limits = SimpleNamespace(allowance=Allowance(n_items=5), document_bytes=10_000)
    for text, error in (("<r>" + "<a/>" * 101 + "</r>", TooCostly), ("<r>" + "words " * 10_000, ReadFailure)):
        file = InputFile("a.xml", PurePosixPath("a.xml"), io.BufferedReader(io.BytesIO(text.encode())))
        with pytest.raises(error):
            list(xml_elements(file, (), limits))
