"""The rows that come in are the rows that come back."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import doccluster
from doccluster.errors import DocclusterWarning, InputError, SchemaError

KINDS = [0, 1] * 6
TEXTS = [("herring boats land at the pier", "bread dough in the oven")[kind] + f" {n}" for n, kind in enumerate(KINDS)]
EMPTY, WORDLESS, COPY = 4, 7, 8
INDEXES = {
    "text": [f"d{n}" for n in range(12)],
    "numbers": [*range(106, 112), *range(100, 106)],
    "dates": pd.date_range("2026-03-25", periods=12, tz="Europe/Berlin", name="day"),
    "two levels": pd.MultiIndex.from_product([["north", "south"], range(6)], names=["side", "title"]),
    "repeats": list("abcabcabcabc"),
    "categories": pd.CategoricalIndex(list("lkjihgfedcba")),
    "named as a column": pd.Index(range(3, 15), name="text"),
    "usual": None,
}
CHEAP = {"quality": "fast", "measures": ["silhouette"], "levels": "none", "language": "english"}


def frame_of(kind, *, texts=TEXTS, **columns):
    return pd.DataFrame({"text": texts, **columns}, index=INDEXES[kind])


def texts_with_gaps():
    texts = list(TEXTS)
    texts[EMPTY], texts[WORDLESS], texts[COPY] = "", "the", texts[COPY - 2]
    return texts


def run_of(source, **settings):
    settings = settings if "labels" in settings else {"n_clusters": 2, **settings}
    return doccluster.run(source, **CHEAP, **settings)


@pytest.fixture(scope="module")
def runs():
    """A run of a frame with each of the indexes; one text is skipped, one has no words, one is a folded copy."""
    frames = {kind: frame_of(kind, texts=texts_with_gaps(), number=range(12)) for kind in INDEXES}
    return {kind: (frame, run_of(frame, fold_copies=True)) for kind, frame in frames.items()}


@pytest.mark.parametrize("kind", INDEXES)
def test_a_frame_without_ids_has_its_own_index_in_the_table_whatever_is_skipped_folded_or_without_words(runs, kind):
    frame, run = runs[kind]
    table = run.to_pandas()
    rows = [row for row in range(12) if row != EMPTY]
    pd.testing.assert_index_equal(table.index, frame.index[rows])
    assert table["number"].tolist() == rows
    assert table["cluster"].isna().tolist() == [row == WORDLESS for row in rows]
    clusters = run.column("cluster")
    assert [clusters[row] for row in rows] == [None if pd.isna(value) else value for value in table["cluster"]]
    assert clusters[EMPTY] is clusters[WORDLESS] is None
    assert run.column("number") == [None if row == EMPTY else row for row in range(12)]
    if kind != "repeats":
        given_back = frame.assign(cluster=table["cluster"])
        kinds = given_back.groupby("cluster")["number"].agg(lambda numbers: {number % 2 for number in numbers})
        assert sorted(kinds, key=min) == [{0}, {1}]


def test_a_whole_frame_gives_its_very_index_and_a_later_name_of_it_changes_nothing():
    frame = frame_of("usual")
    run = run_of(frame)
    pd.testing.assert_index_equal(run.to_pandas().index, pd.RangeIndex(12), exact=True)
    frame.index.name = "later"
    run.to_pandas().index.name = "later"
    assert run.to_pandas().index.name is None


def test_texts_without_ids_are_numbered_from_0_and_ids_of_a_column_stay_the_index():
    texts = texts_with_gaps()
    numbers = [row for row in range(12) if row != EMPTY]
    for source in (texts, pd.Series(texts), {"text": texts}, [{"text": text} for text in texts], iter(texts)):
        index = run_of(source).to_pandas().index
        assert (index.tolist(), index.dtype.kind) == (numbers, "i")
    with_ids = run_of(frame_of("numbers", texts=texts, id=[f"i{n}" for n in range(12)]))
    assert with_ids.to_pandas().index.tolist() == [f"i{n}" for n in numbers]
    assert len(with_ids.column("cluster")) == 12
    assert with_ids.column("id")[3:6] == ["i3", None, "i5"]
    by_key = run_of({f"k{n}": text for n, text in enumerate(texts)})
    assert by_key.to_pandas().index[0] == "k0"
    assert run_of(np.random.default_rng(0).random((6, 3))).to_pandas().index.tolist() == [*range(6)]


def test_edits_parts_and_new_documents_keep_the_index():
    frame = frame_of("numbers", texts=texts_with_gaps())
    run = run_of(frame, n_clusters=3)
    index = run.to_pandas().index
    assert run.rename(0, "Boats").merge(1, 2).to_pandas().index.equals(index)
    assert run.corpus.to_pandas().index.equals(index)
    part = run_of(run.corpus[1:9])
    assert part.to_pandas().index.equals(index[1:9])
    assert len(part.column("cluster")) == 8
    new = frame[::-1]
    assert doccluster.assign(run, new).index.tolist() == [name for name in new.index if name != frame.index[EMPTY]]
    assert doccluster.assign(run, texts_with_gaps()[3:6]).index.tolist() == [0, 2]


def test_a_run_from_its_folder_has_numbers_or_ids_and_still_a_value_for_each_row(tmp_path):
    for kind, expected in (("usual", [0, 1, 2, 3, 5]), ("numbers", ["106", "107", "108", "109", "111"])):
        frame = frame_of(kind, texts=texts_with_gaps(), code=["007"] * 11 + ["12"], postcode=["10115"] * 12)
        made = run_of(frame, output=tmp_path / kind, report=False)
        run = doccluster.load_run(tmp_path / kind)
        assert run.to_pandas().index[:5].tolist() == expected
        assert run.column("cluster") == made.column("cluster")
        assert run.column("postcode") == made.column("postcode")
    record = tmp_path / "usual" / "run.json"
    record.write_text(record.read_text("utf-8").replace('"are_numbered": true', '"are_numbered": 0, "skipped": [99]'))
    with pytest.raises(SchemaError, match="damaged"):
        doccluster.load_run(tmp_path / "usual")


TYPED = {
    "words": np.array([9, 99, 146, 20] * 3, dtype="int16"),
    "paid": [True, False] * 6,
    "share": [0.5, None, 2.0] * 4,
    "votes": pd.array([1, None, 3] * 4, dtype="Int64"),
    "moment": pd.date_range("2026-03-29", periods=12, freq="h", tz="Europe/Berlin"),
    "size": pd.Categorical(["small", None, "large"] * 4, categories=["small", "large"], ordered=True),
    "day": [dt.date(2026, 3, n + 1) for n in range(12)],
    "sure": [True, None, False] * 4,
    "lasted": pd.to_timedelta(range(12), unit="min"),
}


def test_numbers_booleans_dates_and_categories_come_back_as_they_came(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, **TYPED, "postcode": "10115"}, index=INDEXES["text"])
    table = run_of(frame).to_pandas()
    pd.testing.assert_frame_equal(table[list(TYPED)], frame[list(TYPED)], check_freq=False)
    assert table["words"].max() == 146
    assert table["postcode"].tolist() == ["10115"] * 12
    frame.loc["d0", "words"] = 1
    assert table["words"].iloc[0] == 9
    odd = pd.DataFrame({"text": TEXTS, "n\nn": range(12), "n n": 0.5, "file": True, "of": [{"x": 7}] * 12, "n": 1})
    odd.columns = [*odd.columns[:-1], "n n"]
    with pytest.warns(DocclusterWarning, match="line ends"):
        table = run_of(odd).to_pandas()
    expected = {"n n.2": "int64", "n n": "float64", "source.file": "bool", "of.x": "int64"}
    assert {name: str(table[name].dtype) for name in expected} == expected
    corpus = doccluster.read_corpus(frame)
    assert corpus.to_pandas()["words"].dtype == "int16"
    assert corpus.metadata["words"].tolist()[:2] == ["1", "99"]


def test_python_values_come_back_with_their_types_and_texts_of_files_where_all_cells_have_one(tmp_path):
    names = ("words", "paid", "share", "votes", "day", "sure")
    rows = [{"text": text, "when": dt.datetime(2026, 3, 1, 8), "postcode": "10115"} for text in TEXTS]
    for name in names:
        for row, value in zip(rows, list(TYPED[name]), strict=True):
            row[name] = (
                None if pd.isna(value) else value if name == "day" else getattr(value, "item", lambda v=value: v)()
            )
    table = run_of(rows).to_pandas()
    for name in (*names, "when", "postcode"):
        values = [None if pd.isna(value) else value for value in table[name].tolist()]
        assert values == [row[name] for row in rows], name
    assert [str(table[name].dtype) for name in names[:4]] == ["int64", "bool", "float64", "Int64"]
    lines = ["id,text,words,paid,day,at,code,odd"]
    lines += [
        f"r{n},{text},{n},{n > 3},2026-02-{n + 1:02},2026-02-01 08:00:00+01:00,0{n},2026-02-30"
        for n, text in enumerate(TEXTS)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines), "utf-8")
    table = run_of(tmp_path / "t.csv").to_pandas()
    assert [table[name].dtype.kind for name in ("words", "paid", "day", "at")] == ["i", "b", "M", "M"]
    assert table["code"].tolist()[:2] == ["00", "01"]
    assert set(table["odd"]) == {"2026-02-30"}
    assert table["day"].iloc[2] == pd.Timestamp("2026-02-03")
    made = doccluster.Corpus(
        ids=("a", "b"), texts=("boats land", "bread dough"), metadata={"n": [1, 2], "code": ["1", "2"]}
    )
    assert run_of(made).column("n") == [1, 2]
    assert run_of(made).column("code") == ["1", "2"]


def test_parquet_has_the_types_of_the_columns(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    frame = pd.DataFrame({"text": texts_with_gaps(), **TYPED, "odd": [1 + 2j] * 12})
    run = run_of(frame, output=tmp_path / "run", report=False, parquet=True)
    table = pq.read_table(tmp_path / "run" / "assignments").to_pandas().set_index("words")
    assert len(table) == 11
    expected = run.to_pandas().set_index("words")
    for name in ("paid", "moment", "size", "lasted", "day"):
        assert table[name].tolist() == expected[name].tolist() or name == "size"
    assert isinstance(table["size"].dtype, pd.CategoricalDtype)
    assert table["odd"].iloc[0] == "(1+2j)"


def test_clusters_are_plain_integers_where_no_document_lacks_one():
    table = run_of(frame_of("text")).to_pandas()
    assert [table[name].dtype for name in ("cluster", "runner_up", "other")] == ["int64", "int64", "bool"]
    assert doccluster.assign(run_of(TEXTS), TEXTS)["cluster"].dtype == "int64"
    table = run_of(texts_with_gaps()).to_pandas()
    assert [str(table[name].dtype) for name in ("cluster", "runner_up", "other")] == ["Int64", "Int64", "boolean"]


def test_a_column_of_a_run_goes_into_tables_of_other_libraries_in_one_line():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    texts = texts_with_gaps()
    table = polars.DataFrame({"text": texts})
    run = run_of(table, labels=["b" if kind else "a" for kind in KINDS[:-1]] + [-1])
    assert run.n_other == 1
    cluster, shown = run.column("cluster"), run.column("shown")
    assert all(value is None or type(value) is int for value in cluster + shown)
    assert [row for row, value in enumerate(shown) if value is None] == [EMPTY, WORDLESS, 11]
    assert cluster[11] == cluster[1]
    assert table.with_columns(cluster=polars.Series(cluster))["cluster"].null_count() == 2
    assert pyarrow.table({"text": texts}).append_column("cluster", [cluster])["cluster"].null_count == 2
    with pytest.raises(InputError, match="there is no column 'nothing'; the run has id, shown, title"):
        run.column("nothing")
