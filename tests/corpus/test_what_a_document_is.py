"""How a source is divided into documents is said, and a file whose lines are none is refused."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest
from click.testing import CliRunner

from doccluster import inspect
from doccluster.cli.main import commands, main
from doccluster.corpus import read_corpus
from doccluster.corpus.formats import FORMATS, LOOK_ALIKES
from doccluster.errors import InputError

TABLE = "id,text\n1,The ferry sails.\n2,The wall stands.\n"


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.mark.parametrize(
    ("files", "division"),
    [
        ({"titles.txt": "one\ntwo\n"}, "each line of titles.txt is a document"),
        ({"a.txt": "one", "b.txt": "two"}, "each file is a document"),
        ({"a.csv": TABLE}, "each row of a.csv is a document"),
        ({"a.csv": TABLE, "b.csv": TABLE}, "each row of 2 files is a document"),
        ({"a.csv": TABLE, "b.txt": "one"}, "each row of a.csv is a document; b.txt is one document"),
        (
            {"a.csv": TABLE, "b.txt": "one", "c.txt": "two", "README.md": "About these."},
            "each of 2 files is a document; each row of a.csv is a document",
        ),
        ({"a.txt": "one", "README.md": "About these."}, "one file is one document"),
        ({"a.txt": "one", "b.txt": ""}, "a.txt is one document"),
        ({"page.html": "<html><p>one</p></html>"}, "page.html is one document"),
        ({"a.jsonl": '{"text": "one"}\n'}, "each record of a.jsonl is a document"),
        ({"a.rss": "<rss><channel><item><title>t</title></item></channel></rss>"}, "each entry of a.rss is a document"),
    ],
)
def test_it_is_said_what_of_the_files_is_a_document(tmp_path, files, division):
    write(tmp_path, files)
    source = tmp_path if len(files) > 1 else tmp_path / next(iter(files))
    assert read_corpus(source).division == division


def test_texts_in_memory_are_not_divided_and_a_longer_name_is_shown_by_its_end(tmp_path):
    assert read_corpus(["one", "two"]).division == ""
    name = f"{'a' * 90}end.txt"
    write(tmp_path, {name: "one\ntwo\n"})
    assert read_corpus(tmp_path / name).division == f"each line of ...{name[-60:]} is a document"


def test_every_format_names_what_a_document_is_by_a_noun():
    units = {format.unit for format in FORMATS.values() if not format.document.startswith("nothing")}
    assert units <= {"file", "line", "row", "record", "element", "entry", "page", "message", "reference"}


def test_the_screens_the_json_and_the_run_say_it(tmp_path):
    path = tmp_path / "titles.txt"
    path.write_text("the ferry sails\nthe ferry lands\nthe wall stands\nthe wall falls\n" * 3, encoding="utf-8")
    sentence = "each line of titles.txt is a document"
    runner = CliRunner()
    assert f"documents  12 ({sentence})" in runner.invoke(commands, ["inspect", str(path)]).output
    assert json.loads(runner.invoke(commands, ["inspect", str(path), "--json"]).output)["division"] == sentence
    assert inspect(path).division == sentence
    out = tmp_path / "out"
    screen = runner.invoke(commands, ["run", str(path), "-k", "2", "-o", str(out)]).output
    assert f"12 documents ({sentence})" in screen
    assert json.loads((out / "run.json").read_text())["parameters"]["resolved"]["division"] == sentence


KINDS = {  # what a file looks like: its name, and its lines
    "subtitles": (
        "a.txt",
        "1\n00:00:01,000 --> 00:00:02,000\nThe ferry sails.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt lands.\n",
    ),
    "a chat (WhatsApp)": (
        "a.txt",
        "31/12/20, 9:15\u202fPM - Jane: It sails.\n31/12/20, 9:16 pm - Bo: When?\n31/12/20, 9:20 PM - Jane: Now.\n",
    ),
    "a web archive (WARC)": ("a", "WARC/1.0\r\nWARC-Type: response\r\n\r\nHTTP/1.1 200 OK\r\n"),
    "contacts or a calendar": ("a.txt", "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Jane Doe\r\nEND:VCARD\r\n"),
    "clippings of an e-reader": (
        "My Clippings.txt",
        "The Wall (Jane Doe)\n- Your Highlight\n\nIt stands.\n==========\n" * 3,
    ),
    "an export of Nexis": ("a.txt", "1 of 2 DOCUMENTS\n\nThe Times\n\nText.\n\nLOAD-DATE: May 1\n\n2 of 2 DOCUMENTS\n"),
    "an export of Factiva": ("a.txt", "The ferry sails\n300 words\n1 May 2020\nDocument FTFT000020200501eg510002t\n"),
    "an export of ProQuest": ("a.txt", "Document 1 of 20\n\nThe ferry sails\n\nDocument 2 of 20\n"),
    "references of EndNote": ("a.txt", "%0 Journal Article\n%A Doe, J.\n%T The ferry\n%D 2010\n%X It sails.\n"),
    "references of RefWorks": (
        "a.txt",
        "RT Journal Article\nSR Electronic(1)\nA1 Doe,J.\nT1 The ferry\nAB It sails.\n",
    ),
    "an export of the Cochrane Library": ("a.txt", "Record #1 of 2\nID: CN-1\nTI: The ferry\nAB: It sails.\n"),
    "a chess or family database": ("a.txt", '[Event "Cup"]\n[Site "Skerrow"]\n\n1. e4 e5\n'),
    "translations (gettext)": ("a.txt", 'msgid "ferry"\nmsgstr "Fähre"\n\nmsgid "wall"\nmsgstr "Mauer"\n'),
    "a dump of a database (SQL)": ("a.txt", "-- dump\nCREATE TABLE `posts` (\n  `id` int,\n  `text` text\n);\n"),
    "abstracts of PubMed or Ovid": ("a.txt", "1. J Harb. 2019\n\nThe ferry.\n\nPMID: 1\n\n2. J Harb\n\nPMID: 2\n"),
    "settings": ("a.txt", "[Term]\nid: 1\nname: ferry\n\n[Term]\nid: 2\nname: wall\n"),
    "LaTeX": ("a.txt", "% thesis\n\\documentclass{article}\n\\begin{document}\nText.\n\\end{document}\n"),
    "a patch": ("a.txt", "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n-old\n+new\n"),
    "XML or HTML": (
        "a.txt",
        "<posts>\n<post>\n<title>A</title>\n</post>\n<post>\n<title>B</title>\n</post>\n</posts>\n",
    ),
    "source code": (
        "a.txt",
        "import os\n\ndef sail(ship):\n    for day in ship:\n        land(day)\n    return 1\n\nx = 1\n",
    ),
    "source code or data in brackets": (
        "a.txt",
        "function sail(ship) {\n  if (ship) {\n    land({\n      day: 1,\n    });\n  }\n}\n",
    ),
    "YAML": ("a.txt", "- id: 1\n  text: The ferry sails.\n- id: 2\n  text: The wall stands.\n"),
    "columns of words (CoNLL)": ("a.txt", "The DT O\nferry NN O\nto TO O\nSkerrow NNP B-LOC\nsails VB O\n\nIt PRP O\n"),
    "records with tags": (
        "a.txt",
        "Title: The ferry\nAuthor: Doe\nText: It sails.\n\nTitle: The wall\nText: It stands.\n\nTitle: C\nText: x\n",
    ),
    "texts between lines of signs": ("a.txt", "A text\nof two lines.\n%\nAnother.\n%\nA third\ntext.\n%\n"),
}


def test_every_kind_of_the_table_is_tried():
    assert set(KINDS) == {kind.what for kind in LOOK_ALIKES}


@pytest.mark.parametrize("what", KINDS)
def test_a_file_whose_lines_are_no_documents_is_refused_with_what_it_looks_like(tmp_path, what):
    name, text = KINDS[what]
    path = tmp_path / name
    for data in (text.encode(), text.replace("\r\n", "\n").replace("\n", "\r\n").encode("utf-16")):
        path.write_bytes(data)
        with pytest.raises(InputError) as refusal:
            read_corpus(path)
        assert refusal.value.problem == f"{name} looks like {what}, and each of its lines would be a document"
    assert len(read_corpus(path, format="lines")) > 1
    assert len(read_corpus(path, format="text")) == 1
    write(tmp_path, {"beside.txt": "Another text."})
    assert len(read_corpus(tmp_path)) == 2


@pytest.mark.parametrize(
    "name", [suffix for kind in LOOK_ALIKES for suffix in kind.suffixes if suffix not in (".xml", ".po")]
)
def test_a_name_tells_as_much(tmp_path, name):
    path = tmp_path / f"a{name}"
    path.write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"^'?a{name} looks like "):
        read_corpus(path)


def test_further_forms_of_subtitles_and_chats_are_refused(tmp_path):
    forms = {
        "subtitles": "0:0{}\nThe ferry sails.\n",
        "a chat (WhatsApp)": "\u200e[31.12.20, 21:1{}:00] Jane: It sails.\n",
    }
    for what, line in forms.items():
        (tmp_path / "a.txt").write_text("".join(map(line.format, range(3))), encoding="utf-8")
        with pytest.raises(InputError) as refusal:
            read_corpus(tmp_path / "a.txt")
        assert f"looks like {what}" in str(refusal.value)


@pytest.mark.parametrize("lines", ["XX  - a\nYY  - b\nZZ  - \n", "XXXX- a\nYY  - b\nZZ  -\n", "XX- a\nYY- b\nZZ- c\n"])
def test_tags_of_records_are_known_by_the_width_of_their_column(tmp_path, lines):
    (tmp_path / "a.txt").write_text(lines * 3, encoding="utf-8")
    with pytest.raises(InputError, match="looks like records with tags"):
        read_corpus(tmp_path / "a.txt")


def test_what_is_packed_or_comes_from_standard_input_is_refused_too_and_an_archive_is_not(tmp_path, monkeypatch):
    name, text = KINDS["subtitles"]
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InputError, match="looks like subtitles"):
        read_corpus(tmp_path / "a.txt.gz")
    with pytest.raises(InputError, match="looks like subtitles"):
        read_corpus(io.BytesIO(text.encode()))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, text)
    assert len(read_corpus(tmp_path / "a.zip")) == 1


def test_the_command_names_its_option(capsys, tmp_path):
    name, text = KINDS["subtitles"]
    path = str(write(tmp_path, {name: text}) / name)
    for options, code in (([], 2), (["--format", "lines"], 0)):
        with pytest.raises(SystemExit) as end:
            main(["inspect", path, *options])
        assert end.value.code == code
    captured = capsys.readouterr()
    assert "or take its lines with --format lines" in captured.err
    assert "documents  6" in captured.out


@pytest.mark.parametrize(
    "lines",
    [
        [
            "INSERT INTO table from a select, how?",
            "create table as select",
            "SELECT * FROM (x);",
            "drop table if exists",
        ],
        [
            "if you want: try",
            "for whom the bell tolls:",
            "def leppard: live",
            "import tax on cars",
            "class action: won",
        ],
        ["Q: Is it round?", "A: No.", "Q: Why?", "A: It is an ellipse.", "Q: So?", "A: So."],
        ["<p>The ferry <b>sails</b>.</p>", "<p>The wall stands.</p>", "<p>It rains.</p>", "<br/>text"],
        ["10:32 INFO started", "10:33 WARN slow --> retry", "10:34 ERROR failed: {}", "}", "10:35 INFO stopped"],
        ["US - stocks fall", "UK - ferry sails", "Stocks: up", "The wall -- a story", "EU: new rules", "- a dash"],
        ["----", "one text", "two texts", "three texts", *(f"text number {number}" for number in range(80))],
        [f"{country} - the ferry sails" for country in ("UK", "US", "EU", "BBC", "CNN", "USA", "NATO", "FR")],
        [f"[2026-03-0{day} 10:00:00] ERROR: the ferry sails" for day in range(1, 7)],
        ["31.12.20, 9:15 - the ferry sails", "10:30", "11:30", *(f"{hour}:15 the ferry" for hour in range(9))],
        [f"RT @jane {number}: the ferry sails" for number in range(6)],
        ["{hello} world", "[sic] a text", "(in brackets)", "a; b; c;", "};", "ends in {"],
        ["# heading like", "%A is a sign", "% of people", "WARC is a format", "the @article{ tag", "TY - is a tag"],
        ["vitamin O", "group B-12", "blood type O", "the letter O is round and it is a word of its own"],
    ],
)
def test_texts_one_a_line_are_read_line_by_line(tmp_path, lines):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert list(read_corpus(path).texts) == lines
