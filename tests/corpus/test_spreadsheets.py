"""XLSX and ODS: the sheet with the prose is a table, dates are dates, and cells without number cost nothing."""

from __future__ import annotations

import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.reader import UnknownColumn
from doccluster.errors import NothingUsable
from tests.corpus.test_office_files import zipped

SAILS = "The ferry to Skerrow sailed again from the harbour."
VOTES = "The council voted to raise\nthe sea wall by a metre."
VOTES_IN_XML = VOTES.replace("\n", "_x000D_\n")
WORKBOOK = (
    '<workbook xmlns="m" xmlns:r="r"><workbookPr date1904="{old}"/><sheets><sheet name="Notes" r:id="r1"/>'
    '<sheet name="Data" r:id="r2"/><sheet name="Nothing" r:id="r3"/></sheets></workbook>'
)
TARGETS = (
    '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/'
    'sheet2.xml"/><Relationship Id="r3" Target="worksheets/sheet3.xml"/></Relationships>'
)
STRINGS = (
    f"<sst><si><t>text</t></si><si><t>when</t></si><si><r><t>{SAILS[:18]}</t></r><r><t>{SAILS[18:]}</t></r>"
    f"<rPh><t>sound</t></rPh></si><si><t>{VOTES_IN_XML}</t></si></sst>"
)
STYLES = (
    '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy;@"/><numFmt numFmtId="171" formatCode="'
    '[Red]0 &quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="171"/>'
    '<xf numFmtId="22"/></cellXfs></styleSheet>'
)
DATA = (
    '<worksheet xmlns="m"><sheetData>'
    '<row><c r="B1" t="inlineStr"><is><t>Letters of 2026</t></is></c></row>'
    '<row><c r="B3" t="s"><v>0</v></c><c r="C3" t="s"><v>1</v></c><c r="E3" t="inlineStr"><is><t>ok</t></is></c></row>'
    '<row><c r="B4" t="s"><v>2</v></c><c r="C4" s="1"><v>{day}</v></c><c r="D4" t="e"><v>#N/A</v></c>'
    '<c r="E4" t="b"><v>1</v></c><c r="F4"><v></v></c></row>'
    '<row><c r="B5" t="s"><v>3</v></c><c r="C5" s="3"><v>{hour}</v></c><c r="D5" s="2"><v>3.5</v></c>'
    '<c r="E5" t="str"><f>B5</f><v>no</v></c></row></sheetData></worksheet>'
)
NOTES = "<worksheet><sheetData><row><c t='inlineStr'><is><t>Read me first</t></is></c></row></sheetData></worksheet>"


def workbook(day="46092", hour="46093.5", old="0", **parts):
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": WORKBOOK.format(old=old),
            "xl/_rels/workbook.xml.rels": TARGETS,
            "xl/sharedStrings.xml": STRINGS,
            "xl/styles.xml": STYLES,
            "xl/worksheets/sheet1.xml": NOTES,
            "xl/worksheets/sheet2.xml": DATA.format(day=day, hour=hour),
            "xl/worksheets/sheet3.xml": "<worksheet><sheetData/></worksheet>",
            **parts,
        }
    )


def cell(text, times=1, **values):
    attributes = "".join(f' o:{name.replace("_", "-")}="{value}"' for name, value in values.items())
    content = f"<p>{text}</p>" if text else ""
    return f'<t:table-cell t:number-columns-repeated="{times}"{attributes}>{content}</t:table-cell>'


def open_document(*rows, **parts):
    lines = (f'<t:table-row t:number-rows-repeated="{times}">{"".join(cells)}</t:table-row>' for times, cells in rows)
    table = "".join(lines)
    spreadsheet = f'<spreadsheet><t:table t:name="S">{table}</t:table></spreadsheet>'
    content = f'<document-content xmlns:t="t" xmlns:o="o"><body>{spreadsheet}</body></document-content>'
    return zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content, **parts})


def read(folder, data, name="a.xlsx", **options):
    (folder / name).write_bytes(data)
    return read_corpus(folder / name, **options)


@pytest.mark.parametrize("name", ["a.xlsx", "letters", "a.xlsm"])
def test_the_sheet_with_the_prose_is_read_and_others_are_named(tmp_path, name):
    corpus = read(tmp_path, workbook(), name)
    assert (corpus.texts, corpus.text_columns) == ((SAILS, VOTES), ("text",))
    assert corpus.metadata["when"].tolist() == ["2026-03-11", "2026-03-12T12:00:00"]
    assert corpus.metadata["4"].tolist() == ["", "3.5"]
    assert corpus.metadata["ok"].tolist() == ["True", "no"]
    assert [(entry.source.removeprefix(name), entry.reason) for entry in corpus.skipped] == [
        (", line 1", "about-the-table"),
        (", sheet Notes", "other-sheet"),
    ]


def test_a_sheet_is_read_by_its_name_and_an_unknown_one_is_answered_with_the_names(tmp_path):
    assert read(tmp_path, workbook(), sheet="data", text_column="text").texts == (SAILS, VOTES)
    with pytest.raises(UnknownColumn, match="has no sheet 'Dta'; its sheets are 'Notes', 'Data', 'Nothing'"):
        read(tmp_path, workbook(), sheet="Dta")


def test_dates_count_from_1904_where_a_workbook_says_so(tmp_path):
    corpus = read(tmp_path, workbook(day="44630", hour="0.25", old="1"), date_column="when")
    assert corpus.metadata["date"].tolist() == ["2026-03-11", ""]


def test_cells_that_are_repeated_stand_as_often_as_a_row_needs(tmp_path):
    rows = (
        (1, [cell("text"), cell("", 2), cell("date"), cell("note", 2), cell("", 16_000)]),
        (1, [cell(SAILS), cell("", 2), cell("11.3.26", value_type="date", date_value="2026-03-11T00:00:00")]),
        (2, [cell(VOTES), cell("", 2), cell("1,5", value_type="float", value="1.5"), cell("", 10**9)]),
        (10**6, [cell("", 16_384)]),
    )
    corpus = read(tmp_path, open_document(*rows), "a.ods", date_column="date")
    assert corpus.texts == (SAILS, VOTES, VOTES)
    assert corpus.metadata["date"].tolist() == ["2026-03-11", "", ""]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("cells.ods", open_document((1, [cell("text")]), (1, [cell(SAILS, 10**9)])), "too-costly"),
        ("gap.ods", open_document((1, [cell("text")]), (1, [cell("", 10**9), cell(SAILS)])), "too-costly"),
        (
            "wide.xlsx",
            workbook(**{"xl/worksheets/sheet1.xml": DATA.replace("F4", "XFE4").replace("<v></v>", "<v>1</v>")}),
            "too-costly",
        ),
        (
            "entities.ods",
            zipped({"mimetype": "", "content.xml": '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'}),
            "unsafe-xml",
        ),
        (
            "locked.ods",
            open_document(**{"META-INF/manifest.xml": "<manifest><f><encryption-data/></f></manifest>"}),
            "encrypted",
        ),
        ("binary.xlsb", zipped({"[Content_Types].xml": "", "xl/workbook.bin": ""}), "unsupported-format"),
        ("empty.xlsx", zipped({"[Content_Types].xml": "", "xl/workbook.xml": "<workbook/>"}), "empty"),
        ("index.xlsx", workbook(**{"xl/sharedStrings.xml": "<sst/>"}), "broken-file"),
        ("cut.xlsx", workbook(**{"xl/workbook.xml": "<workbook><sheets"}), "broken-xml"),
        ("old.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "unsupported-format"),
    ],
)
def test_what_is_hostile_or_no_spreadsheet_is_refused_with_the_reason(tmp_path, name, data, reason):
    with pytest.raises(NothingUsable, match=f"1 {reason}"):
        read(tmp_path, data, name)
