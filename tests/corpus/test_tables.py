"""csv in its dialects, JSON in its shapes, Parquet and DataFrames; all with the same columns."""

from __future__ import annotations

import csv
import io
import json
import unicodedata

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from doccluster.base import limited_process
from doccluster.corpus import read_corpus
from doccluster.errors import DocclusterWarning, InputError, MissingDependency, NothingUsable


def read_bytes(data: bytes, name: str = "rows.csv", **options):
    stream = io.BytesIO(data)
    stream.name = name
    return read_corpus(stream, **options)


ROWS = [["id", "text", "label"], ["1", 'says "no";\n, then\tyes', "x"], ["2", "naïve – text", "y"], ["3", "", "x"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "utf-32"])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_a_csv_is_read_in_any_dialect_and_encoding(delimiter, encoding, end):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=end).writerows(ROWS)
    corpus = read_bytes(buffer.getvalue().encode(encoding))
    assert corpus.ids == ("1", "2")
    assert corpus.texts == (ROWS[1][1], ROWS[2][1])
    assert corpus.labels == {"label": (("x",), ("y",))}
    assert [(one.source, one.reason) for one in corpus.skipped] == [("rows.csv:3", "empty")]


def test_a_list_of_labels_written_as_json_is_several_labels():
    cells = ['["sport"]', '["sport", "city"]', "[]", "[sic]", '{"a": 1}', "[1, 2]", '["open', "plain"]
    buffer = io.StringIO()
    csv.writer(buffer).writerows([["text", "tags"], *([f"text {n}", cell] for n, cell in enumerate(cells))])
    found = read_bytes(buffer.getvalue().encode()).labels["tags"]
    assert found == (("sport",), ("sport", "city"), (), ("[sic]",), ('{"a": 1}',), ("1", "2"), ('["open',), ("plain",))


def test_html_in_the_texts_of_a_table_is_left_out_and_that_is_told_unless_it_was_asked_for():
    rows = "".join(f'{n},"The <b>ship</b> ""{n}"" sails to <a href=""http://x/{n}"">port</a>"\n' for n in range(20))
    data = f"id,text\n{rows}".encode()
    with pytest.warns(DocclusterWarning, match="are HTML"):
        assert read_bytes(data).texts[0] == 'The ship "0" sails to port'
    assert "<b>" in read_bytes(data, strip_html=False).texts[0]
    assert read_bytes(data, strip_html=True).texts[0] == 'The ship "0" sails to port'
    plain = "".join(f"{n},a<b and c>d\n" for n in range(20)).encode()
    assert read_bytes(b"id,text\n" + plain).texts[0] == "a<b and c>d"


@given(
    st.lists(
        st.tuples(st.text(min_size=1).filter(lambda text: any(map(str.isalnum, text))), st.text()),
        min_size=1,
        max_size=8,
    )
)
def test_what_the_csv_module_writes_is_read_back(rows):
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["text", "title"])
    writer.writerows([[_plain(text), _plain(title)] for text, title in rows])
    assume(not all(_is_missing(_plain(text)) for text, _ in rows))  # else the titles are the texts
    try:
        corpus = read_bytes(buffer.getvalue().encode("utf-8"))
    except NothingUsable:
        assert all(_is_missing(_plain(text)) for text, _ in rows)
    else:
        assert corpus.texts == tuple(_plain(text) for text, _ in rows if not _is_missing(_plain(text)))


def _plain(text: str) -> str:
    """Leave out what is replaced on purpose: control characters, signs nobody sees, lone surrogates, line ends."""
    return "".join(one for one in text if unicodedata.category(one) not in ("Cc", "Cf", "Cs"))


def _is_missing(text: str) -> bool:
    words = {"nan", "NaN", "NaT", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "None"}
    return text.strip() in words or not text.strip("\ufeff\u200b\u2060 \xa0").strip()


@pytest.mark.parametrize("dtype", [None, object])  # None: what this version of pandas makes of it
def test_missing_cells_are_empty_documents_not_the_word_nan(dtype):
    texts = pd.Series(["a", float("nan"), None, pd.NA, "nan"], dtype=dtype)
    frame = pd.DataFrame({"text": texts, "label": [1.0, 2.0, None, 3.0, 4.0]})
    corpus = read_corpus(frame)
    assert corpus.texts == ("a",)
    assert corpus.labels == {"label": (("1",),)}
    assert [one.reason for one in corpus.skipped] == ["empty"] * 4
    assert read_bytes(b"text\nNaN\nb\n\nnull\n").texts == ("b",)


def test_named_columns_travel():
    data = b"key;head;when;body;where;kind;more;who\n7;Title;26.02.1987;Text;http://x/;a|b;kept;Wire\n"
    corpus = read_bytes(
        data,
        id_column="key",
        title_column="head",
        date_column="when",
        text_column=["head", "body"],
        link_column="where",
        label_columns=["kind", "who"],
        label_separator="|",
        source_column="who",
        keep_columns="more",
    )
    assert (corpus.ids, corpus.texts) == (("7",), ("Title\n\nText",))
    assert corpus.labels == {"kind": (("a", "b"),), "who": (("Wire",),)}
    assert corpus.metadata.iloc[0].to_dict() == {
        "title": "Title",
        "date": "1987-02-26",
        "source": "Wire",
        "link": "http://x/",
        "file": "rows.csv",
        "more": "kept",
    }


def test_columns_with_the_usual_names_are_found():
    corpus = read_bytes(b"ID,Headline,Published At,Content,URL,Category,Topic\n1,T,2024-01-02,Words,u,c,t\n")
    assert corpus.ids == ("1",)
    assert corpus.texts == ("Words",)
    assert corpus.labels == {"Category": (("c",),), "Topic": (("t",),)}
    assert corpus.metadata.iloc[0].to_dict() == {
        "title": "T",
        "date": "2024-01-02",
        "source": "",
        "link": "u",
        "file": "rows.csv",
    }
    assert read_bytes(b"text,label\na,b\n", label_columns=[]).labels == {}


@pytest.mark.parametrize("options", [{"text_column": "body"}, {"label_columns": ["topic"]}, {"id_column": "nr"}])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "frame", "parquet"])
def test_an_unknown_column_is_refused_with_those_there_are(options, kind, tmp_path):
    frame = pd.DataFrame({"text": ["a"], "label": ["b"]})
    source = frame
    if kind == "csv":
        source = tmp_path / "a.csv"
        frame.to_csv(source, index=False)
    elif kind == "jsonl":
        source = tmp_path / "a.jsonl"
        frame.to_json(source, orient="records", lines=True)
    elif kind == "parquet":
        source = tmp_path / "a.parquet"
        frame.to_parquet(source)
    with pytest.raises(InputError, match=r"no column .*its columns are 'text', 'label'"):
        read_corpus(source, **options)


def test_a_table_in_a_folder_without_the_column_is_listed(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\none,x\n")
    (tmp_path / "b.csv").write_text("number\n1\n")
    (tmp_path / "c.csv").write_text("p,q\n1,2\n")
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ("one", "1")
    assert [(one.source, one.reason) for one in corpus.skipped] == [("c.csv", "unknown-column")]
    with pytest.raises(InputError, match="no column 'nowhere'"):
        read_corpus(tmp_path, text_column="nowhere")


def test_rows_that_are_too_wide_are_listed_and_short_ones_read():
    corpus = read_bytes(b"id,text,label\n1,a,x\n2,b,y,z\n3,c\n\n4,d,w,\n")
    assert corpus.texts == ("a", "c", "d")
    assert [(one.source, one.reason) for one in corpus.skipped] == [("rows.csv:2", "bad-row")]


def test_a_quote_that_is_never_closed_costs_its_row_only():
    corpus = read_bytes(b'id,text\n1,"two\nlines"\n2,"open, here\n3,next\n4,last\n')
    assert (corpus.ids, corpus.texts) == (("1", "3", "4"), ("two\nlines", "next", "last"))
    assert [(one.source, one.reason) for one in corpus.skipped] == [("rows.csv, line 4", "bad-row")]


def test_quotes_may_be_escaped_by_a_backslash():
    assert read_bytes(b'id,text\n1,"he said \\"no\\", twice"\n').texts == ('he said "no", twice',)
    assert read_bytes(b'id,text\n1,"C:\\"\n2,"b"\n').texts == ("C:\\", "b")


def test_one_column_needs_no_quotes_and_the_line_of_spreadsheets_is_understood():
    assert read_bytes(b"text\nRain, wind, sun\nSnow\n").texts == ("Rain, wind, sun", "Snow")
    assert read_bytes(b"sep=;\r\nid;text\r\n1;a, b\r\n").texts == ("a, b",)
    assert read_bytes(b"id,text\r1,first\r2,second\r").texts == ("first", "second")


def test_a_huge_field_is_read_and_an_over_long_one_listed():
    data = b"id,text\n1," + b"word " * 100_000 + b"\n2,short\n"
    assert [len(text) for text in read_bytes(data).texts] == [500_000, 5]
    corpus = read_bytes(data, max_document_length=1000)
    assert corpus.texts == ("short",)
    assert [one.reason for one in corpus.skipped] == ["too-long"]


def test_a_table_without_header_has_numbered_columns():
    corpus = read_bytes(b'"3","Wall St. falls","Stocks fell."\n"1","Vote","A vote."\n', header=False, text_column="3")
    assert corpus.texts == ("Stocks fell.", "A vote.")


def test_columns_of_equal_name_and_without_name_are_told_apart():
    corpus = read_bytes(b"text,text,\na,b,c\n", text_column=["text", "text.2", "3"])
    assert corpus.texts == ("a\n\nb\n\nc",)


def test_html_in_cells_is_stripped_when_asked():
    data = b"text,title\n<p>Fish &amp; chips</p>,<b>T</b>\n"
    assert read_bytes(data).texts == ("<p>Fish &amp; chips</p>",)
    stripped = read_bytes(data, strip_html=True)
    assert (stripped.texts, stripped.metadata["title"].tolist()) == (("Fish & chips",), ["T"])


def test_a_bad_line_of_json_lines_is_listed_and_the_rest_read():
    lines = [
        b'{"text": "one", "topics": ["earn", "acq"], "id": 1}',
        b"{broken",
        b"",
        b'{"text": null, "id": 2}',
        b'{"other": 1}',
        b'"just text"',
        b"[1, 2]",
        b'{"text": "\xff\xfe caf\xe9", "id": 3}',
        b'{"text": {"a": 1}, "id": 4.0}',
        b"[" * 100_000,
        b'{"text": "last", "id": 9}',
    ]
    corpus = read_bytes(b"\n".join(lines), "rows.jsonl")
    assert corpus.ids == ("1", "rows.jsonl:6", "3", "9")
    assert corpus.texts[-1] == "last"
    assert corpus.labels["topics"][0] == ("earn", "acq")
    assert [(one.source.rpartition(":")[2], one.reason) for one in corpus.skipped] == [
        ("2", "bad-json"),
        ("4", "empty"),
        ("5", "empty"),
        ("7", "bad-record"),
        ("9", "bad-record"),  # an object is no text
        ("10", "bad-json"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        [{"text": "one", "label": "x"}, {"text": "two"}],
        {"status": "ok", "articles": [{"text": "one", "label": "x"}, {"text": "two"}]},
        {"a": {"text": "one", "label": "x"}, "b": {"text": "two"}},
    ],
    ids=["array", "array in an object", "objects below keys"],
)
def test_json_is_read_in_its_usual_shapes(content):
    corpus = read_bytes(json.dumps(content, indent=1).encode(), "news.json")
    assert corpus.texts == ("one", "two")
    assert corpus.labels == {"label": (("x",), ())}


def test_keys_of_nested_records_can_be_labels():
    content = {"Q1": {"100": {"blurb": "one"}, "200": {"blurb": "two"}}, "Q2": {"300": {"blurb": "three"}}}
    corpus = read_bytes(json.dumps(content).encode(), "n.json", format="json", label_columns="key_1")
    assert corpus.ids == ("Q1/100", "Q1/200", "Q2/300")
    assert corpus.labels == {"key_1": (("Q1",), ("Q1",), ("Q2",))}


def test_records_in_a_list_below_keys_are_numbered_not_named_alike():
    corpus = read_bytes(b'{"data": {"items": [{"text": "one"}, {"text": "two"}]}}', "n.json")
    assert corpus.ids == ("n.json:1", "n.json:2")
    assert corpus.skipped == ()


def test_texts_by_id_and_an_array_of_texts_are_json_too():
    assert read_bytes(b'{"a": "one", "b": "two"}', "t.json").ids == ("a", "b")
    assert read_bytes(b'["one", "two"]', "t.json").texts == ("one", "two")
    with pytest.raises(NothingUsable, match="bad-json"):
        read_bytes(b'[{"text": "cut', "t.json")


def test_parquet_keeps_lists_dates_and_missing_cells(tmp_path):
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "text": ["one", None, "three"],
            "topics": [["a", "b"], [], ["c"]],
            "date": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
        }
    )
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    corpus = read_corpus(path)
    assert (corpus.ids, corpus.texts) == (("1", "3"), ("one", "three"))
    assert corpus.labels == {"topics": (("a", "b"), ("c",))}
    assert corpus.metadata["date"].tolist() == ["2024-01-01", ""]
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(NothingUsable, match="broken-parquet"):
        read_corpus(path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, tmp_path_factory, monkeypatch):
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"text": ["one"]}).to_parquet(path)
    modules = tmp_path_factory.mktemp("modules")
    (modules / "pyarrow.py").write_text("raise ModuleNotFoundError(name='pyarrow')", encoding="utf-8")
    monkeypatch.syspath_prepend(modules)
    monkeypatch.setattr(limited_process, "_idle", [])  # a process that has not imported it
    with pytest.raises(MissingDependency, match=r"doccluster\[parquet\]"):
        read_corpus(path)
    (tmp_path / "a.txt").write_text("text")
    with pytest.warns(DocclusterWarning, match=r'rows.parquet is not read: .* pip install "doccluster\[parquet\]"'):
        corpus = read_corpus(tmp_path)
    assert [one.reason for one in corpus.skipped] == ["missing-dependency"]


def test_a_frame_keeps_its_index_labels_and_dates():
    frame = pd.DataFrame(
        {"text": ["a", "b"], "date": pd.to_datetime(["2024-01-01 10:00", None]), "tags": [["x"], None]},
        index=["p", "q"],
    )
    corpus = read_corpus(frame)
    assert corpus.ids == ("p", "q")
    assert corpus.metadata["date"].tolist() == ["2024-01-01T10:00:00", ""]
    assert corpus.labels == {"tags": (("x",), ())}
    assert frame.columns.tolist() == ["text", "date", "tags"]


def test_a_split_column_chooses_documents():
    data = b"text,split\na,train\nb,test\n"
    assert read_bytes(data, split="test").texts == ("b",)
    with pytest.raises(InputError, match="the splits there are: test, train"):
        read_bytes(data, split="dev")
