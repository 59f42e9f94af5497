"""The rows that come in are the rows that come back, and what is given beside them is taken by name, or by place."""

import datetime as dt
import functools
from decimal import Decimal

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
UNREPEATED = [kind for kind in INDEXES if kind not in ("repeats", "usual")]
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
    with_ids = new.assign(id=[f"i{n}" for n in range(12)])
    assert doccluster.assign(run, with_ids).index.equals(doccluster.assign(run, new).index)
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


def test_classes_of_the_source_stay_beside_what_a_run_calls_label_and_cluster():
    classes = ["fish", "bread"] * 6
    for name in ("label", "cluster", "other"):
        run = run_of(pd.DataFrame({"text": TEXTS, name: classes}), truth=name)
        assert run.column(f"source.{name}") == classes
        assert not {"fish", "bread"} & {*run.column(name)}


def test_parquet_has_the_types_of_the_columns(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    frame = pd.DataFrame({"text": texts_with_gaps(), **TYPED, "odd": [1 + 2j] * 12, "large": [2**70] * 12})
    run = run_of(frame, output=tmp_path / "run", report=False, parquet=True)
    table = pq.read_table(tmp_path / "run" / "assignments").to_pandas().set_index("words")
    assert len(table) == 11
    expected = run.to_pandas().set_index("words")
    for name in ("paid", "moment", "size", "lasted", "day"):
        assert table[name].tolist() == expected[name].tolist() or name == "size"
    assert isinstance(table["size"].dtype, pd.CategoricalDtype)
    assert table[["odd", "large"]].iloc[0].tolist() == ["(1+2j)", 2.0**70]


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


@pytest.mark.parametrize("kind", UNREPEATED)
def test_classes_are_taken_by_name_in_any_order_and_by_place_without_names(runs, kind):
    frame, run = runs[kind]
    given = pd.Series(KINDS, index=frame.index)
    read = given.drop(frame.index[EMPTY])
    placed = read.drop(frame.index[WORDLESS])
    more = pd.concat([pd.Series([1], index=["others"]), given])
    by_name = [truth.sample(frac=1, random_state=1) for truth in (given, read, placed, more)]
    unnamed = [given.reset_index(drop=True), given.set_axis([f"x{n}" for n in range(12)]), given.to_numpy()]
    lists = [given.tolist(), read.tolist(), placed.tolist()]
    for truth in (given, *by_name, *unnamed, *lists):
        assert doccluster.score("nmi", run, truth=truth).value == 1
    frames = pd.DataFrame({"kind": given, "again": given})[::-1], {"kind": given[::-1], "again": given.tolist()}
    for truth in frames:
        assert doccluster.evaluate(run, truth=truth, measures=["nmi"]).to_pandas()["value"].tolist() == [1, 1]


def test_an_index_of_numbers_in_another_order_names_the_rows_of_the_usual_one(runs):
    truth = pd.Series(KINDS).sample(frac=1, random_state=1)
    for run in (runs["usual"][1], run_of(texts_with_gaps())):
        assert doccluster.score("nmi", run, truth=truth).value == 1
        assert doccluster.score("nmi", run, truth=run.to_pandas()["title"].index.to_series()[::-1] % 2).value == 1


DOORS = {
    "truth": lambda frame, run, given: doccluster.score("nmi", run, truth=given).value,
    "vectors": lambda frame, run, given: doccluster.score("silhouette", run, vectors=rows_of(given)).value,
    "labels": lambda frame, run, given: run_of(frame, labels=given).to_pandas()["given"].tolist(),
    "embeddings": lambda frame, run, given: run_of(frame, embeddings=rows_of(given), space="meaning").labels_.tolist(),
    "assign": lambda frame, run, given: doccluster.assign(run_by_meaning(), frame, embeddings=rows_of(given))[
        "cluster"
    ].tolist(),
    "compare": lambda frame, run, given: [
        doccluster.compare(
            frame.assign(text=TEXTS, label=KINDS),
            embeddings=rows_of(given),
            spaces=["meaning"],
            algorithms=["spherical-k-means"],
            seeds=1,
        )
        .summary()
        .query("measure == 'nmi'")["mean"]
        .item()
    ],
}


@functools.cache
def run_by_meaning():
    return run_of(TEXTS, embeddings=rows_of(KINDS), space="meaning")


def rows_of(given):
    rows = np.eye(2)[list(given)]
    return pd.DataFrame(rows, index=given.index) if hasattr(given, "iloc") else rows


@pytest.mark.parametrize("door", DOORS)
def test_every_door_takes_rows_by_name_and_refuses_what_lacks_some_or_has_them_twice(runs, door):
    frame, run = runs["text"]
    given, through = pd.Series(KINDS, index=frame.index), DOORS[door]
    expected = through(frame, run, np.array(KINDS))
    assert through(frame, run, given.sample(frac=1, random_state=1)) == expected
    for wrong, words in (
        (given[3:], r"lacks 3 of the 1\d documents, the first is 'd0'; .*to_numpy\(\) to go by place"),
        (given[3:].set_axis(list("abcdefghi")), "has 9 rows for 1\\d documents.*, and its index names none of them"),
        (pd.concat([given, given[:1]]), "has 'd0' more than once"),
        (np.array(KINDS[3:]), "has 9 rows for 1\\d documents"),
    ):
        with pytest.raises(InputError, match=words):
            through(frame, run, wrong)


def test_rows_of_dask_are_taken_by_name_too(runs):
    frames = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
    import dask

    frame, run = runs["text"]
    given = frames.from_pandas(pd.Series(KINDS, index=frame.index)[::-1], npartitions=2, sort=False)
    with dask.config.set(scheduler="synchronous"):  # another test may have left that of a client that is gone
        assert doccluster.score("nmi", run, truth=given).value == 1


def test_repeats_are_taken_where_the_index_is_that_of_the_source(runs):
    frame, run = runs["repeats"]
    given = pd.Series(KINDS, index=frame.index)
    rows = [row for row in range(12) if row != EMPTY]
    for truth in (given, given.iloc[rows]):
        assert doccluster.score("nmi", run, truth=truth).value == 1
    with pytest.raises(InputError, match="'a' more than once"):
        doccluster.score("nmi", run, truth=given.sort_index())


def test_the_index_of_a_frame_names_rows_beside_a_column_of_ids():
    frame = frame_of("numbers", id=[f"i{n}" for n in range(12)])
    given, run = pd.Series(KINDS, index=frame.index), run_of(frame)
    for names in (frame.index, frame["id"]):
        assert doccluster.score("nmi", run, truth=given.set_axis(names)[::-1]).value == 1


def test_ids_that_are_the_numbers_of_the_rows_in_another_order_name_the_rows_or_are_refused():
    frame = frame_of("usual", id=range(12), k=KINDS).sample(frac=1, random_state=1).reset_index(drop=True)
    run, by_id = run_of(frame), frame.set_index("id")["k"]
    assert doccluster.score("nmi", run, truth=by_id).value == 1
    with pytest.raises(InputError, match="fits the ids and the index of the source, which differ"):
        doccluster.score("nmi", run, truth=by_id[::-1])


def test_labels_with_names_put_classes_and_vectors_in_their_order_without_a_run():
    labels = pd.Series(KINDS, index=INDEXES["text"])
    shuffled = labels.sample(frac=1, random_state=1)
    rows = pd.DataFrame(np.eye(2)[KINDS], index=labels.index)
    assert doccluster.score("nmi", labels, truth=shuffled).value == 1
    assert doccluster.score("silhouette", labels, vectors=rows[::-1]).value == 1
    assert (
        doccluster.score("nmi", labels.tolist(), truth=labels[::-1]).value
        == doccluster.score("nmi", KINDS, truth=KINDS[::-1]).value
    )
    with pytest.raises(InputError, match="lacks 1 of the 12 documents"):
        doccluster.score("nmi", labels, truth=shuffled.drop("d3"))
    # two columns of numbers without names go by place, whatever one of them was cut from
    assert doccluster.score("nmi", pd.Series(KINDS), truth=pd.Series(KINDS, index=range(5, 17))).value == 1


def test_other_numbers_and_times_of_records_come_back_as_they_are_and_lists_as_text():
    values = {"lasted": dt.timedelta(1), "paid": Decimal("1.50"), "stars": 2**70, "marks": ["a", "b"]}
    rows = [{"text": text, **values} for text in TEXTS]
    rows[3]["stars"] = None
    run = run_of(rows)
    expected = {**values, "marks": "a b"}
    assert {name: run.column(name)[0] for name in values} == expected
    assert run.column("stars")[3] is None
