"""Tables in other clothes: orientations of JSON, headers of several rows, lines before them, objects in columns."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pandas as pd
import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.reader import UnknownColumn
from tests.fuzz.table_shapes import csv_table, documents_of, generated_frame, json_table

SENTENCES = (
    "The ferry to Skerrow sailed again on Friday after the strike ended.",
    "The council voted to raise the harbour wall by two metres.",
    "Ferry crews went back to work and the first boat left at dawn.",
    "Engineers began work on the harbour wall this week.",
    "Strike at the ferry line ends after nine days of talks.",
    "Harbour wall repairs will cost six million, the council says.",
)
IDS = tuple(f"d{number}" for number in range(6))
CLASSES = tuple(("ferry",) if number % 2 == 0 else ("wall",) for number in range(6))
FRAME = pd.DataFrame({"id": IDS, "text": SENTENCES, "class": [names[0] for names in CLASSES]})
CASES = Path(__file__).parent / "cases"


def read(text, name="a.csv", **options):
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    stream.name = name
    return read_corpus(stream, **options)


@pytest.mark.filterwarnings("ignore:the NULs")
@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_a_table_that_somebody_brought_has_its_six_documents(name):
    corpus = read_corpus(CASES / name)
    if name.startswith("18"):  # five lines, with texts of their own
        assert (corpus.ids, corpus.texts[-1]) == (IDS[:5], "Crews go back to work")
        return
    assert len(corpus) == 6
    assert all(text.startswith(words) for text, words in zip(map(_plain, corpus.texts), SENTENCES, strict=True))
    if name.startswith("06"):
        assert corpus.text_columns == ("speech",)
    else:
        assert corpus.ids == IDS
    if name[:2] in ("08", "09"):
        assert next(iter(corpus.labels.values())) == CLASSES


def _plain(text):
    return " ".join(text.split())


@pytest.mark.parametrize("indented", [False, True])
@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "values", "table"])
def test_a_table_is_read_in_each_orientation_of_pandas(orient, indented):
    corpus = read(FRAME.to_json(orient=orient, indent=2 if indented else 0), "a.json")
    assert corpus.texts == SENTENCES
    if orient == "values":  # which has no names
        assert corpus.text_columns == ("2",)
    else:
        assert (corpus.ids, corpus.labels) == (IDS, {"class": CLASSES})


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "values", "table"])
def test_unusual_names_and_an_index_that_holds_the_ids_are_read_in_each_orientation(orient):
    frame = FRAME.rename(columns={"id": "nr", "text": "Wortlaut", "class": "Gruppe"})
    corpus = read(frame.to_json(orient=orient), "a.json")
    assert corpus.texts == SENTENCES
    indexed = read(FRAME.set_index("id").to_json(orient=orient), "a.json")
    assert indexed.texts == SENTENCES
    if orient in ("columns", "index", "split"):
        assert indexed.ids == IDS


def test_records_one_a_line_a_mapping_of_columns_and_rows_under_a_header_are_tables():
    assert read(FRAME.to_json(orient="records", lines=True), "a.json").texts == SENTENCES
    for kind in ("list", "split", "tight"):
        assert read(json.dumps(FRAME.to_dict(kind)), "a.json").texts == SENTENCES
    rows = [list(FRAME.columns), *FRAME.to_numpy().tolist()]
    assert read(json.dumps(rows), "a.json").labels == {"class": CLASSES}
    assert read(json.dumps({"range": "A1:C7", "values": rows}), "a.json").ids == IDS
    assert read(json.dumps(FRAME["text"].to_dict()), "a.json").texts == SENTENCES
    assert read(FRAME["text"].to_json(orient="split"), "a.json").texts == SENTENCES


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "dump"])
@pytest.mark.parametrize("between", ["\n", "\n\n", "", ",\n", "\n\x1e"])
def test_values_of_json_one_after_the_other_are_records(name, between):
    records = FRAME.to_dict("records")
    assert read(between.join(json.dumps(row, indent=2) for row in records), name).ids == IDS


def test_what_follows_the_values_is_listed_in_our_words():
    corpus = read('{"text": "Rain."}\n{"text": "Sun."}\n{"text" oops', "a.json")
    assert corpus.texts == ("Rain.", "Sun.")
    assert [(one.reason, one.detail) for one in corpus.skipped] == [("bad-json", "not JSON from character 9 on")]


@pytest.mark.parametrize("cut", [1, 5, 40, 200])
def test_the_records_of_an_array_that_is_cut_off_are_read(cut):
    text = json.dumps(FRAME.to_dict("records"))
    corpus = read(text[:-cut], "a.json")
    assert corpus.ids == IDS[: len(corpus)]
    assert len(corpus) >= 4
    assert [one.reason for one in corpus.skipped] == ([] if cut == 1 else ["bad-json"])


ENGINE = {"took": 3, "_shards": {"total": 1}, "hits": {"total": {"value": 6}, "max_score": 1.0}}


@pytest.mark.parametrize(
    ("make", "field", "title"),
    [
        (lambda n, s: {"id": n, "content": {"title": f"Letter {n}", "body": s}}, "content.body", "Letter d0"),
        (lambda n, s: {"id": n, "title": {"rendered": n}, "content": {"rendered": s}}, "content.rendered", "d0"),
        (lambda n, s: {"_id": n, "_source": {"headline": n, "body": s}}, "_source.body", "d0"),
        (lambda n, s: {"kind": "t3", "data": {"id": n, "title": n, "selftext": s}}, "data.selftext", "d0"),
        (lambda n, s: {"_id": {"$oid": n}, "payload": {"deep": {"wording": s}}}, "payload.deep.wording", ""),
        (lambda n, s: {"id": n, "content": [{"type": "p", "text": s}, {"type": "img"}]}, "content", ""),
        (lambda n, s: {"id": n, "text": {"en": {"value": s}}}, "text.en.value", ""),
    ],
)
def test_a_text_in_an_object_is_taken_and_what_stands_beside_it(make, field, title):
    rows = [make(name, sentence) for name, sentence in zip(IDS, SENTENCES, strict=True)]
    sources = (
        lambda **options: read("\n".join(map(json.dumps, rows)), "a.jsonl", **options),
        lambda **options: read(json.dumps(rows), "a.json", **options),
        lambda **options: read(json.dumps(ENGINE | {"hits": {"hits": rows}}), "a.json", **options),
        lambda **options: read_corpus(pd.DataFrame(rows), **options),
    )
    for source in sources:
        for options in ({}, {"text_column": field}):
            corpus = source(**options)
            assert corpus.texts == SENTENCES
            assert (corpus.ids, corpus.text_columns) == (IDS, (field,))
        assert source().column("title")[0] == title


def test_objects_in_columns_of_parquet_and_polars_are_read(tmp_path):
    rows = [{"id": name, "content": {"title": name, "body": text}} for name, text in zip(IDS, SENTENCES, strict=True)]
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    polars = pytest.importorskip("polars")
    for source in (tmp_path / "a.parquet", polars.DataFrame(rows), polars.DataFrame(rows).lazy()):
        for options in ({}, {"text_column": "content.body", "title_column": "content.title"}):
            corpus = read_corpus(source, **options)
            assert (corpus.ids, corpus.texts, corpus.column("title")) == (IDS, SENTENCES, IDS)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": 1, "text": {"a": 1, "b": 2}}\n'),
        ("a.json", '{"a": {"x": 1}, "b": 3}'),
        ("a.json", '[{"payload": {"x": 1, "y": [2]}}]'),
        ("a.csv", 'id,text\n1,"{""a"": 1, ""b"": ""some words of a text""}"\n'),
        ("a.csv", "id::text::class\n1::The ferry sails::a\n2::The wall is high::b\n"),
        ("a.csv", "nr,kind\n1,a\n2,b\n"),
    ],
)
def test_json_source_or_a_whole_row_is_no_text_and_the_columns_are_shown(name, text):
    with pytest.raises(UnknownColumn, match=r"its columns are|one column 'id::text::class'"):
        read(text, name)


def test_one_row_whose_text_is_an_object_is_listed_with_its_fields():
    lines = [json.dumps({"text": sentence}) for sentence in SENTENCES]
    corpus = read("\n".join([*lines, '{"text": {"a": 1, "b": 2}}']), "a.jsonl")
    assert corpus.texts == SENTENCES
    assert [(one.reason, "'text.a', 'text.b'" in one.detail) for one in corpus.skipped] == [("bad-record", True)]


ROWS = FRAME.to_csv(index=False)


@pytest.mark.parametrize(
    ("before", "n_told"),
    [
        ("# Export of letters\n# licence: CC0, of the town, since 2024\n", 2),
        ("\n\n", 0),
        ("Export of letters\n", 1),
        ("Letters\n", 1),
        ("Export of letters,,\n,,\n", 1),
        ("Exported,2026-11-05\n\n", 1),
        ("sep=,\n", 0),
        ('"sep=,"\r\n# made by hand\r\n', 1),
        ("\ufeff# made by hand\n", 1),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "~", "^", "\x01"])
def test_lines_before_the_header_are_left_out_and_listed(before, n_told, delimiter):
    buffer = io.StringIO()
    FRAME.to_csv(buffer, index=False, sep=delimiter)
    own = before if delimiter in before or "," not in before else before.replace(",", delimiter)
    for name in ("a.csv", "a.tsv") if delimiter == "\t" else ("a.csv",):
        corpus = read(own + buffer.getvalue(), name)
        assert (corpus.ids, corpus.texts, corpus.labels) == (IDS, SENTENCES, {"class": CLASSES})
        assert [one.reason for one in corpus.skipped] == ["about-the-table"] * n_told


def test_a_table_without_a_telling_name_may_have_lines_before_its_header(tmp_path):
    path = tmp_path / "letters.txt"
    path.write_text("# Export of letters\n" + ROWS, encoding="utf-8")
    assert read_corpus(path).labels == {"class": CLASSES}


def test_a_header_may_stand_in_the_last_comment():
    corpus = read("# made by hand\n#" + ROWS)
    assert (corpus.ids, corpus.texts, corpus.labels) == (IDS, SENTENCES, {"class": CLASSES})


@pytest.mark.parametrize(
    "below",
    [
        "[-],[words],[-]",
        "(nr),(string),(name)",
        "-,-,",
        "string,string,categorical",
        "int,text,c",
        "-,-,cm",
    ],
)
def test_a_row_of_units_or_types_below_the_header_is_no_document(below):
    header, _, rows = ROWS.partition("\n")
    corpus = read(f"{header}\n{below}\n{rows}")
    assert (corpus.ids, corpus.texts) == (IDS, SENTENCES)
    assert [(one.reason, one.detail) for one in corpus.skipped] == [("about-the-table", below)]


ORANGE = FRAME.rename(columns={"class": "y", "text": "Wording"}).to_csv(index=False, sep="\t").partition("\n")[2]


@pytest.mark.parametrize(
    "header",
    [
        "id\tWording\ty\nstring\tstring\tdiscrete\nmeta\tmeta include=True\tclass\n",
        "id\tWording\ty\ns\ts\td\nm\tm\tc\n",
        "id\tWording\ty\nstring\tstring\tferry wall\nmeta\tmeta\tclass\n",
        "mS#id\tmS#Wording\tcD#y\n",
    ],
)
@pytest.mark.parametrize("name", ["a.tab", "a.tsv", "a.csv"])
def test_headers_of_orange_name_the_classes(header, name):
    corpus = read(header + ORANGE, name)
    assert (corpus.ids, corpus.texts, corpus.labels) == (IDS, SENTENCES, {"y": CLASSES})


def test_no_row_of_a_plain_table_is_taken_for_a_part_of_its_header():
    corpus = read(
        "kind,utterance\nquestion,How is the weather over there today?\ntext,It rains and it will not stop.\n"
    )
    assert len(corpus) == 2
    assert read("id,text\n1,string\n2,class\n3,Rain.\n").texts == ("string", "class", "Rain.")
    assert read("quote\nIt rains, they say\nIt is cold, they say\n").texts == (
        "It rains, they say",
        "It is cold, they say",
    )
    assert read(",text\n0,Rain.\n1,Sun.\n").texts == ("Rain.", "Sun.")


@pytest.mark.parametrize("ends", ["\r", "\r\n", "\n", "\r\r\n", "mixed"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_a_line_ends_in_cr_lf_or_both_in_one_file(ends, name):
    records = FRAME.to_json(orient="records", lines=True).splitlines()
    lines = {"a.csv": ROWS.splitlines(), "a.jsonl": records, "a.txt": list(SENTENCES)}[name]
    marks = ["\r", "\r", "\r\n", "\n", "\r", "\n", "\r"] if ends == "mixed" else [ends] * 7
    data = "".join(line + mark for line, mark in zip(lines, marks, strict=False))
    assert read(data, name, **({"format": "lines"} if name == "a.txt" else {})).texts == SENTENCES


def test_quotes_that_are_never_closed_cost_their_rows_and_no_other():
    lines = [
        "id,text",
        "1,Rain in the north",
        '2,"open here',
        "3,next one",
        '4,"open again',
        "5,last one",
        '6,"two',
        'lines"',
    ]
    for end in ("\n", "\r\n", "\r"):
        corpus = read(end.join(lines))
        assert corpus.ids == ("1", "3", "5", "6")
        assert [one.reason for one in corpus.skipped] == ["bad-row", "bad-row"]
    assert read('id,text\n1,"said "no" and left"\n2,Sun.\n').ids == ("1", "2")


def test_no_row_is_lost_that_the_csv_module_writes(seed):
    draw = random.Random(seed)
    pieces = ['"', ",", "\n", "\r", "\r\n", "word", " ", "#", "é", ";", "\t", "sep=;"]
    rows = [("x" + "".join(draw.choices(pieces, k=12)), f"n{number}") for number in range(300)]
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("text", "id"), *rows])
    corpus = read(buffer.getvalue())
    assert corpus.ids == tuple(name for _, name in rows)
    assert corpus.texts == tuple(text.replace("\r\n", "\n").replace("\r", "\n") for text, _ in rows)


@pytest.mark.parametrize(("make", "name"), [(json_table, "a.json"), (csv_table, "a.csv")])
def test_no_row_of_a_generated_table_is_lost_and_none_is_added(make, name, seed):
    for number in range(80):
        n_rows = len(generated_frame(random.Random(f"{seed} {number}")))  # the same draws make the table
        table = make(random.Random(f"{seed} {number}"))
        assert documents_of(table.encode(), name) == n_rows, table


NEWS = {
    "NewsAPI": {
        "status": "ok",
        "totalResults": 6,
        "articles": [
            {"source": {"id": None, "name": "BBC"}, "title": i, "description": "Short.", "content": t}
            for i, t in zip(IDS, SENTENCES, strict=True)
        ],
    },
    "Guardian": {
        "response": {
            "status": "ok",
            "total": 6,
            "results": [
                {"id": i, "webTitle": i, "fields": {"headline": i, "trailText": "Short.", "bodyText": t}}
                for i, t in zip(IDS, SENTENCES, strict=True)
            ],
        }
    },
    "CrossRef": {
        "status": "ok",
        "message-type": "work-list",
        "message": {
            "total-results": 6,
            "items": [{"title": [i], "abstract": t} for i, t in zip(IDS, SENTENCES, strict=True)],
        },
    },
    "Flickr": {
        "title": "Uploads from everyone",
        "description": "All that was sent",
        "items": [{"title": i, "description": t} for i, t in zip(IDS, SENTENCES, strict=True)],
    },
    "Spring": {
        "content": [{"id": i, "title": i, "text": t} for i, t in zip(IDS, SENTENCES, strict=True)],
        "totalElements": 6,
    },
    "Elasticsearch": {
        "took": 3,
        "hits": {
            "total": 6,
            "hits": [{"_id": i, "_source": {"title": i, "body": t}} for i, t in zip(IDS, SENTENCES, strict=True)],
        },
    },
    "GraphQL": {
        "data": {
            "posts": {
                "edges": [{"node": {"id": i, "title": i, "body": t}} for i, t in zip(IDS, SENTENCES, strict=True)]
            }
        }
    },
    "JSON:API": {
        "data": [
            {"type": "a", "id": i, "attributes": {"title": i, "body": t}} for i, t in zip(IDS, SENTENCES, strict=True)
        ]
    },
    "Datasette": {
        "database": "a",
        "columns": ["id", "title", "body"],
        "rows": [[i, i, t] for i, t in zip(IDS, SENTENCES, strict=True)],
    },
    "BigQuery": {
        "columns": [{"name": "title"}, {"name": "Wortlaut"}],
        "rows": [[i, t] for i, t in zip(IDS, SENTENCES, strict=True)],
    },
    "Reddit": {
        "kind": "Listing",
        "data": {
            "after": None,
            "children": [
                {"kind": "t3", "data": {"title": i, "selftext": t}} for i, t in zip(IDS, SENTENCES, strict=True)
            ],
        },
    },
    "GeoJSON": {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"title": i, "text": t},
                "geometry": {"type": "Point", "coordinates": [1, 2]},
            }
            for i, t in zip(IDS, SENTENCES, strict=True)
        ],
    },
}


@pytest.mark.parametrize("name", NEWS)
def test_the_records_of_an_interface_are_found_below_its_keys(name):
    corpus = read(json.dumps(NEWS[name]), "a.json")
    assert corpus.texts == SENTENCES
    assert corpus.column("title") == IDS
    assert corpus.column("source")[0] == ("BBC" if name == "NewsAPI" else "")


@pytest.mark.parametrize(
    "one",
    [
        {"title": "The ferry", "content": [{"text": SENTENCES[0]}, {"text": SENTENCES[1]}]},
        {"title": "The ferry", "body": SENTENCES[0], "items": [{"id": 1, "text": "x"}, {"id": 2, "text": "y"}]},
        {"title": "The ferry", "sections": [{"title": "A", "text": SENTENCES[0]}, {"title": "B", "text": "x"}]},
    ],
)
def test_one_text_of_several_parts_stays_one(one):
    assert len(read(json.dumps(one), "a.json")) == 1


def test_labels_in_objects_and_a_field_of_an_object_in_a_cell_are_read():
    rows = [{"text": text, "tags": [{"name": "a"}, {"name": "b"}], "category": {"name": "sport"}} for text in SENTENCES]
    assert read(json.dumps(rows), "a.json").labels["tags"] == (("a", "b"),) * 6
    assert read(json.dumps(rows), "a.json").labels["category"] == (("sport",),) * 6
    frame = pd.DataFrame({"id": IDS, "content": [json.dumps({"body": text, "n": 1}) for text in SENTENCES]})
    assert read(frame.to_csv(index=False), text_column="content.body").texts == SENTENCES


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "SMSSpamCollection", "a.txt"])
def test_a_first_row_that_reads_like_a_document_is_not_lost_as_a_header(name, tmp_path):
    path = tmp_path / name
    mark = "," if name == "a.csv" else "\t"
    path.write_text(
        "".join(f"{labels[0]}{mark}{text.replace(',', '')}\n" for text, labels in zip(SENTENCES, CLASSES, strict=True))
    )
    with pytest.raises(UnknownColumn, match=r"the first row of .* reads like a document.*give header=False"):
        read_corpus(path)
    corpus = read_corpus(path, format="csv", header=False, label_columns="1")
    assert (len(corpus), corpus.text_columns, corpus.labels) == (6, ("2",), {"1": CLASSES})


def test_a_table_parted_by_tabs_is_one_whatever_its_name(tmp_path):
    path = tmp_path / "export.txt"
    FRAME.rename(columns={"text": "Wortlaut", "id": "nr"}).to_csv(path, sep="\t", index=False)
    assert read_corpus(path).texts == SENTENCES
    path.write_text("\tAn indented line of a letter.\n\tAnother one.\n\tA last one.\n")
    assert read_corpus(path, format=None).texts[0].strip() == "An indented line of a letter."
