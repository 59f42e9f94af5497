"""DOCX, PPTX, ODT, EPUB, RTF and PDF: their text, title and date; broken, locked and hostile ones are listed."""

from __future__ import annotations

import io
import zipfile

import pytest

from doccluster.corpus import read_corpus

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
CORE = (
    '<cp:p xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>Harbour news</dc:title>'
    "<dcterms:created>2026-03-02T09:10:00Z</dcterms:created></cp:p>"
)
TYPES = {"[Content_Types].xml": "<Types/>"}
ODF = 'xmlns:text="t" xmlns:office="o" xmlns:draw="d"'
PAGE = "<html><head><title>x</title></head><body><p>{}</p></body></html>"
DOCX = TYPES | {
    "docProps/core.xml": CORE,
    "word/document.xml": f"<w:document {W}><w:body><w:p><w:r><w:t>The ferry</w:t><w:tab/><w:t>sails</w:t></w:r></w:p>"
    "<w:p><w:r><w:instrText>PAGE</w:instrText><w:t>at </w:t></w:r><w:del><w:r><w:delText>noon</w:delText></w:r></w:del>"
    "<w:r><w:t>dawn.</w:t></w:r></w:p></w:body></w:document>",
    "word/footnotes.xml": f"<w:f {W}><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:f>",
}
SLIDES = TYPES | {
    f"ppt/slides/slide{n}.xml": f"<s {A}><a:p><a:r><a:t>Page {n}</a:t></a:r></a:p></s>" for n in (10, 2, 1)
}
ODT = {
    "mimetype": "application/vnd.oasis.opendocument.text",
    "meta.xml": '<m xmlns:dc="d" xmlns:meta="m"><dc:title>Bread</dc:title><dc:date>2025-01-02</dc:date></m>',
    "content.xml": f"<office:d {ODF}><office:text><text:tracked-changes><text:p>old</text:p></text:tracked-changes>"
    "<text:h>Rye</text:h><text:p>Heavy<text:s/>dough <text:span>is <office:annotation><text:p>why?</text:p>"
    "</office:annotation>baked</text:span> long.</text:p></office:text></office:d>",
}
BOOK = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": '<c><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></c>',
    "in/book.opf": '<p xmlns:dc="d"><metadata><dc:title>Orchards</dc:title><dc:date>2024</dc:date></metadata><manifest>'
    '<item id="b" href="two.xhtml"/><item id="a" href="o%20ne.xhtml"/></manifest><spine><itemref idref="a"/>'
    '<itemref idref="b"/></spine></p>',
    "in/o ne.xhtml": PAGE.format("Apples ripen."),
    "in/two.xhtml": PAGE.format("Pears follow."),
}
RICH = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator x;}{\info{\title t}}\f0 Caf\'e9 \u8211? open\par "
    rb"{\b bold} and \{braces\}\par}"
)


def zipped(parts):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return target.getvalue()


def portable(*lines, info=""):
    """A PDF with a page for each line; an empty one has no text."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", ""]
    kids = []
    for line in lines:
        stream = f"BT /F 24 Tf 72 700 Td ({line}) Tj ET" if line else "0 0 9 9 re f"
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
        font = "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
        place = f"/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {len(objects)} 0 R/Resources{font}"
        objects.append(f"<</Type/Page{place}>>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>"
    objects.append(f"<<{info}>>")
    text, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(text))
        text += f"{number} 0 obj{one}endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer<</Size {len(objects) + 1}/Root 1 0 R/Info {len(objects)} 0 R>>\nstartxref\n{len(text)}\n%%EOF"
    return (text + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}").encode("latin-1")


@pytest.mark.parametrize(
    ("name", "data", "text", "title", "date"),
    [
        ("a.docx", zipped(DOCX), "Harbour news\n\nThe ferry\tsails\nat dawn.\nA note.", "Harbour news", "2026-03-02"),
        ("a.pptx", zipped(SLIDES), "Page 1\n\f\nPage 2\n\f\nPage 10", "", ""),
        ("a.odt", zipped(ODT), "Bread\n\nRye\nHeavy dough is baked long.", "Bread", "2025-01-02"),
        ("a.epub", zipped(BOOK), "Orchards\n\nApples ripen.\n\f\nPears follow.", "Orchards", "2024"),
        ("a.rtf", RICH, "Café – open\nbold and {braces}", "", ""),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["a file", "in an archive"])
def test_the_text_of_a_document_its_title_and_its_date(tmp_path, name, data, text, title, date, packed):
    path = tmp_path / (f"{name}.zip" if packed else name)
    path.write_bytes(zipped({name: data, "b.txt": b"beside it"}) if packed else data)
    corpus = read_corpus(path)
    assert [(one.reason, one.detail) for one in corpus.skipped] == []
    assert corpus[0].text == text
    assert corpus[0].metadata.get("title", "") == title
    assert corpus[0].metadata.get("date", "").startswith(date)


def test_pages_of_a_pdf_are_told_apart(tmp_path):
    pytest.importorskip("pypdfium2")
    data = portable("The ferry sails.", "", "It lands.", info="/Title(Harbour news)/CreationDate(D:20260302091000Z)")
    (tmp_path / "a.pdf").write_bytes(data)
    (document,) = read_corpus(tmp_path)
    assert document.text.split("\n\f\n") == ["Harbour news\n\nThe ferry sails.", "", "It lands."]
    assert document.metadata["date"].startswith("2026-03-02")


def wrong(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    (tmp_path / "good.txt").write_text("good", encoding="utf-8")
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ("good",)
    (skipped,) = corpus.skipped
    assert (skipped.source, bool(skipped.detail)) == (name, True)
    return skipped.reason


def test_broken_locked_and_hostile_documents_are_listed_with_the_reason(tmp_path):
    whole = zipped(DOCX)
    entities = '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    found = {
        "drawing.docx": zipped(TYPES | {"visio/document.xml": "<w/>"}),
        "cut.docx": zipped(DOCX | {"word/document.xml": "<w:document"}),
        "bomb.docx": zipped(DOCX | {"word/document.xml": f"{entities}<d>&b;</d>"}),
        "locked.odt": zipped(ODT | {"META-INF/manifest.xml": "<m><encryption-data/></m>"}),
        "locked.epub": zipped(BOOK | {"META-INF/rights.xml": "<r/>"}),
        "lost.epub": zipped(BOOK | {"META-INF/container.xml": '<c><rootfile full-path="no.opf"/></c>'}),
        "old.doc": b"\xd0\xcf\x11\xe0" + b"\0" * 600,
        "half.docx": whole[: len(whole) // 2],
    }
    reasons = {}
    for name, data in found.items():
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        reasons[name] = wrong(folder, name, data)
    assert reasons == {
        "drawing.docx": "unsupported-format",
        "cut.docx": "broken-file",
        "bomb.docx": "unsafe-xml",
        "locked.odt": "encrypted",
        "locked.epub": "encrypted",
        "lost.epub": "broken-file",
        "old.doc": "unsupported-format",
        "half.docx": "broken-archive",
    }
    (tmp_path / "large").mkdir()
    large = zipped(DOCX | {"word/document.xml": " " * (64 * 1024**2 + 1)})
    assert wrong(tmp_path / "large", "large.docx", large) == "too-costly"


def test_scans_and_broken_pdf_files_are_listed(tmp_path):
    pytest.importorskip("pypdfium2")
    (tmp_path / "scan").mkdir()
    (tmp_path / "cut").mkdir()
    assert wrong(tmp_path / "scan", "scan.pdf", portable("", "")) == "no-text"
    assert wrong(tmp_path / "cut", "cut.pdf", b"%PDF-1.7\n" + b"\0" * 100) == "broken-file"
