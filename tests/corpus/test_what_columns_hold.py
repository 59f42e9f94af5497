"""Names of columns in the ways of many programs, and what cells hold: dates, lists, escapes, words for no text."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from doccluster import inspect
from doccluster.cli.main import commands
from doccluster.corpus import read_corpus
from doccluster.corpus.columns import cell_labels, choose_text
from doccluster.errors import DocclusterWarning, InputError, NothingUsable

CASES = Path(__file__).parent / "files"
TEXTS = (
    "The ferry to Skerrow sailed again from the harbour on Friday after two weeks of storms.",
    "The council voted to raise the sea wall by another metre before the winter tides.",
    "Ferry passengers waited for hours at the harbour because the new timetable was wrong.",
    "Engineers began work on the sea wall where the last storm had broken the stones.",
    "The harbour master said the ferry would run twice a day through the summer months.",
    "Residents behind the sea wall asked the council to pay for pumps and sandbags now.",
)
DAYS = tuple(f"2026-03-{day}" for day in range(10, 16))


def written(folder, header, rows, *, name="a.csv", delimiter=",", below=()):
    """Return a csv of a header, further rows below it, and rows."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *below, *rows])
    (folder / name).write_text(text.getvalue(), encoding="utf-8")
    return folder / name


def of_columns(**columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("publishedAt", "2026-03-10"),
        ("datePublished", "2026-03-10"),
        ("createdAt", "2026-03-10"),
        ("webPublicationDate", "2026-03-10"),
        ("Published Date", "2026-03-10"),
        ("date-published", "2026-03-10"),
        ("published.at", "2026-03-10"),
        ("update_date", "2026-03-10"),
        ("seendate", "20260310T000000Z"),
        ("created_utc", 1773100800),
        ("ts", "1773100800.000200"),
    ],
)
def test_the_date_is_found_by_its_name_however_it_is_written(name, date):
    corpus = read_corpus(of_columns(**{"nr": range(6), name: [date] * 6, "text": TEXTS}))
    assert {value[:10] for value in corpus.column("date")} == {"2026-03-10"}
    assert corpus.dates.in_words() == "6 of 6 dates were read."


def test_names_of_news_services_are_known():
    fields = {"headline": "A", "trailText": "B", "bodyText": TEXTS[0]}
    guardian = {"id": "x", "webTitle": "A", "webUrl": "https://g.example/1", "fields": fields}
    document = read_corpus([guardian | {"webPublicationDate": DAYS[0]}])[0]
    assert document.text == TEXTS[0]
    assert document.metadata["link"] == "https://g.example/1"
    crossref = {
        "title": ["A"],
        "abstract": TEXTS[0],
        "container-title": ["J"],
        "issued": {"date-parts": [[2019, 3, 7]]},
    }
    document = read_corpus([crossref])[0]
    assert [document.metadata[name] for name in ("date", "source", "title")] == ["2019-03-07", "J", "A"]
    lists = of_columns(description=TEXTS, articleBody=[f"{text} And more." for text in TEXTS])
    assert read_corpus(lists).text_columns == ("articleBody",)


def test_what_the_first_names_find_is_found_as_before():
    rows = of_columns(publishedAt=DAYS, created_at=["2020-01-01"] * 6, journal=["J"] * 6, text=TEXTS)
    corpus = read_corpus(rows)
    assert set(corpus.column("date")) == {"2020-01-01"}
    assert corpus.column("publishedAt") == DAYS  # which stays a column, as a new name for the source does
    assert set(corpus.column("journal")) == set(corpus.column("source")) == {"J"}
    assert read_corpus([{"_id": "b", "id": "a", "text": TEXTS[0]}]).ids == ("a",)


def test_an_answer_of_a_news_service_has_its_dates():
    corpus = read_corpus(CASES / "25-news-api.json")
    assert corpus.column("date") == tuple(f"{day}T09:15:00+00:00" for day in DAYS)


@pytest.mark.parametrize("kind", ["csv", "frame", "parquet", "json"])
def test_one_column_of_dates_is_the_date_whatever_its_name(kind, tmp_path):
    frame = pd.DataFrame({"nr": range(6), "when": pd.to_datetime(DAYS), "text": TEXTS})
    source: object = tmp_path / f"a.{kind}"
    if kind == "csv":
        frame.to_csv(source, index=False)
    elif kind == "parquet":
        frame.to_parquet(source)
    elif kind == "json":
        frame.assign(when=[{"$date": day} for day in DAYS]).to_json(source, orient="records")
    else:
        source = frame
    corpus = read_corpus(source)
    assert corpus.column("date") == DAYS
    assert corpus.dates.doubts == "The column 'when' holds dates and is read as the date."
    assert corpus.kept_columns == ["nr", "when.$date" if kind == "json" else "when"]


@pytest.mark.parametrize(
    ("columns", "remark"),
    [
        ({"start": DAYS, "stop": DAYS}, "The columns 'start', 'stop' hold dates; if one is"),
        ({"birthday": DAYS}, "The column 'birthday' holds dates; if it is"),
        ({"closed on": [*DAYS[:1], *[""] * 5]}, "--column 'date=closed on'."),
        ({"jahr": [2019] * 6, "t0": range(1773100800, 1773100806), "version": ["1.2.0", "1.3.0"] * 3}, ""),
        ({"when": [*DAYS[:4], "soon", "later"]}, ""),
        ({"updated": ["yes"] * 6, "year": ["freshman"] * 6}, ""),
    ],
)
def test_what_may_be_no_date_of_the_documents_is_asked(columns, remark):
    corpus = read_corpus(of_columns(**columns, text=TEXTS))
    assert not any(corpus.column("date"))
    assert remark in corpus.dates.doubts
    assert bool(remark) == bool(corpus.dates.doubts)


def test_inspect_says_which_column_holds_dates_and_none_can_be_named(tmp_path):
    path = written(tmp_path, ["when", "text"], zip(DAYS, TEXTS, strict=True))
    shown = CliRunner().invoke(commands, ["inspect", str(path)]).stdout
    assert "The column 'when' holds dates and is read as the date." in " ".join(shown.split())
    assert "dates" not in CliRunner().invoke(commands, ["inspect", str(path), "--column", "date="]).stdout
    assert inspect(path, reader={"date_column": ""}).first_date == ""


def test_rows_of_questions_and_ids_below_the_names_are_no_documents():
    corpus = read_corpus(CASES / "26-survey.csv")
    assert corpus.texts == TEXTS
    assert [entry.reason for entry in corpus.skipped] == ["about-the-table"] * 2


@pytest.mark.parametrize(
    ("header", "below", "row"),
    [
        (["Respondent ID", "Start Date", "Why?"], ["", "", "Open-Ended Response"], [118, "03/11/2026 09:00:00 AM"]),
        (["StartDate", "Progress", "Q1"], ["Start Date", "Progress", "What do you think?"], ["2026-03-11", 100]),
        (["V1", "V2", "V3"], ["Number", "Day of interview", "What do you think?"], [7, "2026-03-11"]),
        (["id", "class", "text"], ["id", "class", "text"], ["a", "b"]),
        (["respid", "wave", "Q1"], ["Respondent", "Round", "What would you change?"], [7, "spring"]),
    ],
)
def test_a_second_row_of_header_is_found(header, below, row, tmp_path):
    path = written(tmp_path, header, [[*row, text] for text in TEXTS], below=[below])
    assert read_corpus(path).texts == TEXTS
    # a document in its place stays one, though some of its cells are empty
    for first in ([*row, "The ferry is late."], ["", row[1], "The ferry is late."], [row[0], "", "The ferry is late."]):
        path = written(tmp_path, header, [[*row, text] for text in TEXTS], below=[first])
        assert read_corpus(path).texts == ("The ferry is late.", *TEXTS)


def test_a_table_of_few_rows_has_no_second_header(tmp_path):
    with pytest.raises(NothingUsable, match="there is nothing in the source"):
        read_corpus(written(tmp_path, ["id", "text"], []))
    rows = [["number", "summary"], ["b", "Rain."]]
    assert read_corpus(written(tmp_path, ["number", "summary"], rows)).texts == ("summary", "Rain.")
    # one column has nothing to separate, whatever its cells hold
    assert len(read_corpus(written(tmp_path, ["quote"], [["It rains"], ["It is cold"]] * 3))) == 6


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        (["Horodateur", "Que changeriez-vous au ferry et pourquoi donc"], DAYS),
        (["ID", "What would you change about the ferry and why"], ["a", "b"] * 3),
        (["Which of the islands do you live on", "What would you change about the ferry"], ["Skerrow"] * 6),
        (["Island", "What would you change about the ferry, and why?"], ["Skerrow"] * 6),
        (["#", "What would you change about the ferry, and why?"], ["x1", "x2"] * 3),
    ],
)
def test_questions_over_the_columns_of_a_form_are_a_header(header, cells, tmp_path):
    corpus = read_corpus(written(tmp_path, header, zip(cells, TEXTS, strict=True)))
    assert corpus.texts == TEXTS
    assert corpus.text_columns == (header[1],)


def test_comments_above_a_table_are_none_of_its_names(tmp_path):
    (tmp_path / "a.tsv").write_text("#\tof letters\nid\ttext\na\tRain.\n", encoding="utf-8")
    assert read_corpus(tmp_path / "a.tsv").ids == ("a",)


@pytest.mark.parametrize("cells", [range(6), ["ferry", "wall"] * 3, DAYS, ["", *"abcde"]])
def test_a_first_row_that_is_a_document_is_none(cells, tmp_path):
    rows = [*zip(cells, TEXTS, strict=True)]
    with pytest.raises(InputError, match="reads like a document"):
        read_corpus(written(tmp_path, rows[0], rows[1:]))
    questions = [
        ["Where is the harbour of the island?", f"Who raised the wall of the town {n} times?"] for n in range(6)
    ]
    with pytest.raises(InputError, match="reads like a document"):
        read_corpus(written(tmp_path, questions[0], questions[1:]))


def test_an_export_of_a_form_is_read():
    corpus = read_corpus(CASES / "27-questions.csv")
    assert corpus.texts == TEXTS
    assert corpus.column("date")[0] == "2026-03-10T09:00:00+01:00"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", ["csv", "txt"])
def test_rows_may_end_in_a_delimiter_more_than_their_header(delimiter, suffix, tmp_path):
    rows = [[number, "ferry, wall", text, ""] for number, text in enumerate(TEXTS)]
    header = ["nr", "class", "text"]
    corpus = read_corpus(written(tmp_path, header, rows, name=f"a.{suffix}", delimiter=delimiter))
    assert corpus.texts == TEXTS
    assert not corpus.skipped
    of_r = written(
        tmp_path, header, [[f"r{row[0]}", *row[:3]] for row in rows], name=f"b.{suffix}", delimiter=delimiter
    )
    assert read_corpus(of_r).texts == TEXTS
    assert read_corpus(of_r).ids[0] == "r0"


def test_a_table_of_a_citation_index_is_no_list_of_lines():
    assert read_corpus(CASES / "37-savedrecs.txt").texts == TEXTS


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("['a', 'b']", ("a", "b")),
        ("('a', 'b')", ("a", "b")),
        ("{'a', 'b'}", ("a", "b")),
        ("frozenset({'a'})", ("a",)),
        ("['a' 'b'\n 'c']", ("a", "b", "c")),
        ("array(['a', 'b'], dtype=object)", ("a", "b")),
        (r"""["it's", 'caf\xe9', None, 'x\'y']""", ("it's", "café", "x'y")),
        ("[1 2]", ("1", "2")),
        ("[]", ()),
        ("set()", ()),
        ("[sic]", ("[sic]",)),
        ("(2019)", ("(2019)",)),
        ("[a, b]", ("[a, b]",)),
        ("['a', ['b']]", ("['a', ['b']]",)),
        ("['a', " * 20_000 + "]", ("['a', " * 20_000 + "]",)),
    ],
)
def test_labels_are_read_from_lists_as_python_writes_them(cell, labels):
    assert cell_labels(cell) == labels


def test_a_column_of_lists_has_several_labels():
    labels = read_corpus(CASES / "33-lists.csv").labels["tags"]
    assert labels == (("ferry", "island"), ("wall", "island")) * 3


def test_labels_at_the_head_of_a_line_are_labels(tmp_path):
    corpus = read_corpus(CASES / "42-labels.txt")
    assert corpus.texts == TEXTS
    assert corpus.labels["label"] == (("ferry",), ("wall",)) * 3
    for name in ("train.txt", "test.txt"):  # in a folder too a line is a document
        (tmp_path / name).write_text(
            f"__label__a , __label__b {TEXTS[0]}\r\n{TEXTS[1]}\n__label__c\n", encoding="utf-8"
        )
    corpus = read_corpus(tmp_path)
    assert corpus.texts == TEXTS[:2] * 2
    assert corpus.labels["label"][:2] == (("a", "b"), ())


def test_labels_at_the_end_of_a_line_are_labels(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(f"{TEXTS[0]} __label__a __label__b\r\n__label__c {TEXTS[1]}\t__label__d\n", encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.texts == TEXTS[:2]
    assert corpus.labels["label"] == (("a", "b"), ("c", "d"))


def test_words_for_no_text_are_none():
    corpus = read_corpus(CASES / "45-placeholders.jsonl")
    assert corpus.texts == TEXTS
    assert [entry.reason for entry in corpus.skipped] == ["empty"] * 3
    gone = ["[removed]", "[ Removed by Reddit ]", "[No abstract available]", "<Media omitted>", "\u200eimage omitted"]
    stays = ["Removed", "[sic]", "[applause]", "The post was [deleted]"]
    assert read_corpus([*gone, *stays]).texts == tuple(stays)
    # a title beside it is the text, as that of a link is
    posts = [{"title": "A ferry", "selftext": "[deleted]"}, {"title": "A wall", "selftext": TEXTS[1]}]
    assert read_corpus(posts).texts == ("A ferry", TEXTS[1])


def index_of(text):
    places: dict[str, list[int]] = {}
    for place, word in enumerate(text.split()):
        places.setdefault(word, []).append(place)
    return places


@pytest.mark.parametrize("as_source", [None, json.dumps, str])
def test_a_text_may_be_the_places_of_its_words(as_source):
    cells = [index_of(text) if as_source is None else as_source(index_of(text)) for text in TEXTS]
    rows = [{"title": f"Study {n}", "abstract_inverted_index": cell} for n, cell in enumerate(cells)]
    for source in (rows, pd.DataFrame(rows), [{"work": row} for row in rows]):
        corpus = read_corpus(source)
        assert corpus.texts == TEXTS
        assert corpus.kept_columns == []
    numbers = [{"text": text, "seen": {"a": [1990, 1994], "b": [2001]}} for text in TEXTS]
    assert read_corpus(numbers).column("seen.a")[0] == "1990 1994"


def test_abstracts_of_a_catalogue_are_read():
    assert read_corpus(CASES / "43-inverted.jsonl").texts == TEXTS


def test_escapes_that_are_written_out_are_the_characters_that_they_mean():
    with pytest.warns(DocclusterWarning, match=r"escapes .* of 32-escapes.csv are read as the characters"):
        corpus = read_corpus(CASES / "32-escapes.csv")
    assert corpus.texts[1] == f"News of today:\nthe{TEXTS[1][3:]}\nferry office\tharbour"
    assert read_corpus(CASES / "32-escapes.csv", strip_html=False).texts[1].count("\\") == 3


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"Late today:\r\n\ud83d\ude00 caf\u00e9", "Late today:\n\U0001f600 café"),
        (r"Late today\r\nthe ferry sails", "Late today\nthe ferry sails"),
        (r"Late today\n\nthe ferry sails", "Late today\n\nthe ferry sails"),
        (r"He said \"no\" today:\\nthe ferry is late", 'He said "no" today:\nthe ferry is late'),
    ],
)
@pytest.mark.filterwarnings("ignore:the escapes")
def test_escapes_of_many_kinds_are_read(text, plain, tmp_path):
    assert set(read_corpus(of_columns(nr=range(6), text=[text] * 6)).texts) == {plain}
    # also where the quotes of a csv are escaped so
    lines = [f'{n},"{text}"' for n in range(6)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["nr,text", *lines]), encoding="utf-8")
    assert set(read_corpus(path).texts) == {plain}


@pytest.mark.parametrize(
    "text",
    [
        r"The file C:\new\table.txt is gone",
        r"The model has $\nu$ and $\tau$ of the wall",
        r"The pattern \d+\t\s* finds the tide",
        r"It lies in src\new\test of the project",
        r"Use \n to break a line of the table",
        r"On \\server\new\share lies the table",
    ],
)
def test_a_backslash_that_escapes_nothing_stays(text):
    assert read_corpus(of_columns(nr=range(6), text=[text] * 6)).texts[0] == text
    mixed = [*(f"{line}\nA second line." for line in TEXTS), r"In Python, print('a\nb') prints two lines"]
    assert read_corpus(of_columns(nr=range(7), text=mixed)).texts[-1] == mixed[-1]


def test_returns_of_spreadsheets_are_line_ends():
    assert (
        read_corpus(CASES / "40-returns.csv").texts[1]
        == "The council voted to raise the\n sea wall by another metre.\nferry\n"
    )
    assert read_corpus(["a_x0007_b _x005F_x000D_ snake_x00_case"]).texts == ("a b _x000D_ snake_x00_case",)


def test_the_texts_in_a_list_of_objects_count_as_prose():
    parts = [{"title": f"Speech {n}", "parts": [{"text": text}, {"text": text}]} for n, text in enumerate(TEXTS)]
    assert choose_text(("title", "parts"), parts, ()) == ("parts",)
