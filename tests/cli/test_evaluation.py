"""The verbs evaluate, measures and explain, as a user types them."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

import doccluster
from doccluster.cli.main import main
from doccluster.errors import InputError
from doccluster.measures import list_measures
from doccluster.measures.label_files import read_labels
from doccluster.vectors import DocumentVectors
from doccluster.vectors.document_vectors import write_matrix
from tests.fuzz.watch import watched

FOUND = [0, 0, 1, 1, 2, 2]
TRUTH = ["a", "a", "a", "b", "c", "c"]
IDS = ["d1", "d2", "d3", "d4", "d5", "d6"]
ROWS = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 1, 0], [0, 0.6, 0.8], [0, 0, 1], [0.6, 0, 0.8]])


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


@pytest.fixture
def files(tmp_path):
    def table(name, header, *columns):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(zip(*columns, strict=True))

    table("labels.csv", ["id", "cluster"], IDS, FOUND)
    table("truth.csv", ["id", "topic"], IDS[::-1], TRUTH[::-1])
    table("wide.csv", ["id", "topic", "place"], IDS, TRUTH, ["x", "y", "", "y", "x", "x"])
    table("several.csv", ["id", "topics"], IDS, ["a", "a;b", "b", "", "a", "b ; a"])
    (tmp_path / "labels.txt").write_text("".join(f"{label}\n" for label in FOUND), encoding="utf-8")
    (tmp_path / "truth.txt").write_text("\n".join(TRUTH), encoding="utf-8-sig")
    write_matrix(tmp_path / "vectors.npz", DocumentVectors(sparse.csr_array(ROWS[::-1]), tuple(IDS[::-1])))
    return tmp_path


def evaluated(run, *arguments):
    code, out, err = run("evaluate", *arguments, "--json")
    assert code == 0, err
    return {entry["measure"]: entry for entry in json.loads(out)["scores"]}


def test_files_with_ids_are_joined_by_id(run, files):
    scores = evaluated(run, files / "labels.csv", "--truth", files / "truth.csv", "--vectors", files / "vectors.npz")
    assert scores["nmi"]["value"] == pytest.approx(doccluster.score("nmi", FOUND, truth=TRUTH).value)
    assert scores["rss"]["value"] == pytest.approx(doccluster.score("rss", FOUND, vectors=ROWS).value, abs=1e-6)


def test_files_of_one_label_per_line_are_joined_by_order(run, files):
    scores = evaluated(run, files / "labels.txt", "--truth", files / "truth.txt", "--measures", "purity,rand")
    assert list(scores) == ["purity", "rand"]
    assert scores["purity"]["value"] == pytest.approx(5 / 6)
    assert scores["purity"]["truth"] == "truth"


def test_a_file_of_lines_and_a_table_are_joined_by_order(run, files):
    scores = evaluated(run, files / "labels.txt", "--truth", files / "wide.csv", "--truth-column", "topic")
    assert scores["purity"]["value"] == pytest.approx(5 / 6)


TABLES = {
    "comma": 'id,title,cluster\n"d1","a, b",0\nd2,"said ""x""",0\nd3,,1\nd4,"two\nlines",1\nd5,e,2\nd6,f,2\n',
    "semicolon": 'ID;title;cluster\nd1;"a; b";0\nd2;"c, d";0\nd3;;1\nd4;e;1\nd5;f;2\nd6;g;2\n',
    "tab": "id\ttitle\tcluster\nd1\ta, b\t0\nd2\tc\t0\nd3\t\t1\nd4\te\t1\nd5\tf\t2\nd6\tg\t2\n",
    "blanks": '   id  title     cluster\n   d1  "a b"           0  \n   d2  c 0\nd3 d 1\nd4 e 1\nd5 f 2\nd6 g 2\n',
    "comma and blank": 'id, title, cluster\nd1, "a, b", 0\nd2, c, 0\nd3, d, 1\nd4, e, 1\nd5, f, 2\nd6, g, 2\n',
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_cells_of_a_table_may_be_parted_by_what_tables_are_parted_by(run, files, kind, ending):
    (files / "found").write_text(TABLES[kind], encoding="utf-8", newline=ending)
    scores = evaluated(run, files / "found", "--truth", files / "truth.csv", "--measures", "purity")
    assert scores["purity"]["value"] == pytest.approx(5 / 6)
    assert scores["purity"]["note"] == ""


def test_labels_of_several_words_are_no_table(run, files):
    (files / "words.txt").write_text("crude oil\ncrude oil\nrye bread\nrye bread\nlate rain\nlate rain\n", "utf-8")
    (files / "lists.txt").write_text("a;b\na;c\nb;a\na;b\na;b\nc;a\n", encoding="utf-8")
    scores = evaluated(run, files / "labels.txt", "--truth", files / "words.txt", "--measures", "purity")
    assert scores["purity"]["value"] == 1.0
    several = ["--truth", files / "lists.txt", "--label-separator", ";", "--measures", "purity"]
    code, _, err = run("evaluate", files / "labels.txt", *several)
    assert code == 2
    assert "no document has exactly one label" in err


@pytest.mark.parametrize(
    ("found", "other"),
    [("labels.txt", "truth.csv"), ("labels.csv", "truth.txt"), ("labels.txt", "vectors.npz"), ("labels.csv", "x.mtx")],
)
def test_joining_by_order_what_has_ids_with_what_has_none_is_told(run, files, found, other):
    mmwrite(files / "x.mtx", sparse.coo_array(ROWS))
    option = "--truth" if other.startswith("truth") else "--vectors"
    code, out, err = run("evaluate", files / found, option, files / other, "--json")
    assert code == 0, err
    assert json.loads(out)["scores"]
    told = [line for line in err.splitlines() if line.startswith("warning: ") and "joined by order" in line]
    assert len(told) == 1
    without, with_ids = (found, other) if found.endswith("txt") else (other, found)
    assert f"{without} has no ids and " in told[0]
    assert f"{with_ids} has; " in told[0]


def test_joining_by_order_where_no_file_has_ids_is_plain(run, files):
    mmwrite(files / "x.mtx", sparse.coo_array(ROWS))
    code, _, err = run("evaluate", files / "labels.txt", "--truth", files / "truth.txt", "--vectors", files / "x.mtx")
    assert (code, err) == (0, "")


def test_files_whose_ids_have_nothing_in_common_are_refused_even_if_they_are_as_long(run, files):
    (files / "other.csv").write_text("id,topic\n" + "".join(f"x{n},a\n" for n in range(6)), encoding="utf-8")
    code, _, err = run("evaluate", files / "labels.csv", "--truth", files / "other.csv")
    assert code == 2
    assert "lacks 6 of the 6 ids" in err


def test_several_truth_columns_are_shown_side_by_side(run, files):
    arguments = ["--truth", files / "wide.csv", "--truth-column", "topic", "--truth-column", "place"]
    code, out, _ = run("evaluate", files / "labels.csv", *arguments, "--measures", "purity")
    assert code == 0
    assert "topic" in out
    assert "place: on 5 of 6 documents (1 without a label)" in out


def test_documents_that_the_truth_lacks_have_no_label(run, files):
    (files / "part.csv").write_text("id,topic\nd1,a\nd3,b\n", encoding="utf-8")
    scores = evaluated(run, files / "labels.csv", "--truth", files / "part.csv", "--measures", "purity")
    assert scores["purity"]["note"] == "on 2 of 6 documents (4 without a label)"


@pytest.mark.parametrize("word", ["nan", "NaN", "None", "<NA>", ""])
def test_a_missing_label_of_the_truth_is_no_class(run, files, word):
    (files / "gaps.csv").write_text(f"id,topic\nd1,a\nd2,{word}\nd3,b\nd4,a\nd5,b\nd6,a\n", encoding="utf-8")
    (files / "gaps.txt").write_text(f"a\n{word}\nb\na\nb\na\n", encoding="utf-8")
    for found, truth in (("labels.csv", "gaps.csv"), ("labels.txt", "gaps.txt")):
        scores = evaluated(run, files / found, "--truth", files / truth, "--measures", "purity")
        assert scores["purity"]["note"] == "on 5 of 6 documents (1 without a label)"


def test_an_unknown_measure_is_refused_with_the_nearest_ones(run, files):
    code, _, err = run("evaluate", files / "labels.csv", "--truth", files / "truth.csv", "--measures", "purty")
    assert code == 2
    assert "did you mean purity" in err


@pytest.mark.parametrize("names", ["", " , "])
def test_an_empty_list_of_measures_is_refused(run, files, names):
    code, out, err = run("evaluate", files / "labels.csv", "--truth", files / "truth.csv", "--measures", names)
    assert (code, out) == (2, "")
    assert "names no measure" in err


def test_several_labels_in_a_cell_are_cut_at_the_separator(run, files):
    arguments = ["--truth", files / "several.csv", "--label-separator", ";", "--measures", "purity"]
    scores = evaluated(run, files / "labels.csv", *arguments)
    assert scores["purity"]["note"] == "on 3 of 6 documents (1 without a label, 2 with several labels)"


def test_documents_that_a_run_left_without_a_cluster_are_left_out(run, files):
    blank = "id,title,cluster,similarity\nd1,x,0,1\nd2,x,,\nd3,x,1,1\n"
    (files / "assignments.csv").write_text(blank, encoding="utf-8")
    code, out, err = run("evaluate", files / "assignments.csv", "--truth", files / "truth.csv", "--json")
    assert code == 0
    assert "1 documents" in err
    assert json.loads(out)["provenance"]["n_documents"] == 2


def test_an_id_that_is_there_twice_is_found_in_one_pass(tmp_path):
    rows = "".join(f"d{number},0\n" for number in range(80_000))
    (tmp_path / "labels.csv").write_text(f"id,cluster\n{rows}d79999,1\n", encoding="utf-8")
    with watched(cpu=10), pytest.raises(InputError, match="the id 'd79999' more than once"):  # the square would be 26 s
        read_labels(tmp_path / "labels.csv")


def test_euclidean_takes_rows_as_they_are(run, files):
    scaled = sparse.csr_array(ROWS * np.arange(1, 7)[:, None])
    sparse.save_npz(files / "scaled.npz", sparse.csr_matrix(scaled))
    arguments = ["--vectors", files / "scaled.npz", "--metric", "euclidean", "--measures", "rss"]
    scores = evaluated(run, files / "labels.txt", *arguments)
    expected = doccluster.score("rss", FOUND, vectors=scaled, metric="euclidean").value
    assert scores["rss"]["value"] == pytest.approx(expected, rel=1e-6)


def test_csv_and_latex_are_printed_alone(run, files):
    arguments = ["evaluate", files / "labels.csv", "--truth", files / "truth.csv", "--measures", "nmi"]
    _, out, _ = run(*arguments, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["measure"], row["direction"]) for row in rows] == [("nmi", "higher")]
    _, out, _ = run(*arguments, "--latex")
    assert out.startswith(r"\begin{tabular}")
    code, _, err = run(*arguments, "--csv", "--latex")
    assert code == 2
    assert "one of" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("name,cluster\nd1,0\nd2,1\n", "first column is 'name', not 'id'"),
        ("id,one,two\nd1,0,1\n", "name the one to use"),
        ("id,cluster\nd1,0\nd1,1\n", "the id 'd1' more than once"),
        ("id,cluster\nd1,0,9\n", "record 2: 3 cells"),
        ("id,cluster\n", "no document"),
        ("\n \n", "is empty"),
        ("name;cluster\nd1;0\nd2;1\n", "first column is 'name', not 'id'"),
        ("name cluster\nd1 0\nd2 1\n", "first column is 'name', not 'id'"),
        ('id,cluster\nd1,"0\nd2,1\n', "look at its quotes"),
        ("0\n\n1\n", "1 lines without a label"),
        ("0\nnan\n1\n", "1 lines without a label"),
    ],
)
def test_label_files_of_another_form_are_refused_naming_the_forms(run, tmp_path, content, message):
    (tmp_path / "labels").write_text(content, encoding="utf-8")
    (tmp_path / "truth").write_text("id,class\nd1,a\nd2,b\n", encoding="utf-8")
    code, _, err = run("evaluate", tmp_path / "labels", "--truth", tmp_path / "truth")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def json_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_the_documents_themselves_are_a_truth_joined_by_id(run, files):
    records = [{"id": i, "text": f"words of {i}", "topic": t, "n": 1} for i, t in zip(IDS, TRUTH, strict=True)]
    truth = json_lines(files / "articles.jsonl", records[::-1])
    expected = evaluated(run, files / "labels.csv", "--truth", files / "truth.csv", "--measures", "purity,nmi")
    arguments = ("--truth", truth, "--truth-column", "topic", "--measures", "purity,nmi")
    assert {name: one["value"] for name, one in evaluated(run, files / "labels.csv", *arguments).items()} == {
        name: one["value"] for name, one in expected.items()
    }
    whole = files / "articles.json"
    whole.write_text(json.dumps(records, indent=1), encoding="utf-8")
    assert evaluated(run, files / "labels.csv", "--truth", whole, *arguments[2:])["nmi"]["truth"] == "topic"


def test_json_records_without_texts_are_labels_too_and_may_have_several(run, files):
    found = json_lines(files / "found.jsonl", [{"id": i, "cluster": c} for i, c in zip(IDS, FOUND, strict=True)])
    several = [["a"], ["a", "b"], ["b"], [], ["a"], ["b", "a"]]
    truth = json_lines(files / "t.jsonl", [{"id": i, "topics": t} for i, t in zip(IDS, several, strict=True)])
    told = evaluated(run, found, "--truth", truth, "--truth-column", "topics", "--measures", "purity,nccg")
    expected = doccluster.score("nccg", FOUND, truth=several).value
    assert told["nccg"]["value"] == pytest.approx(expected)
    assert "on 3 of 6 documents" in told["purity"]["note"]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ('{"id": "d1", "text": "a", "story": "x"}\n', [], "first has id, text, story; name the column"),
        ('{"id": "d1", "text": "a", "story": "x"}\n', ["--truth-column", "topic"], "has no column 'topic'"),
        ('title,id,text\nA,d1,"one, two\nthree"\n', [], "first column is 'title', not 'id'"),
    ],
)
def test_documents_are_never_taken_for_labels_line_by_line(run, files, content, options, message):
    (files / "articles").write_text(content, encoding="utf-8")
    (files / "one.csv").write_text("id,cluster\nd1,0\n", encoding="utf-8")
    code, _, err = run("evaluate", files / "one.csv", "--truth", files / "articles", *options)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labels.csv"], "give --truth, --vectors, or both"),
        (["none.csv", "--truth", "truth.csv"], "cannot be read"),
        (["labels.csv", "--column", "topic", "--truth", "truth.csv"], "has no column 'topic'"),
        (["labels.txt", "--truth", "short.txt"], "has 6 labels and"),
    ],
)
def test_wrong_use_of_evaluate_is_one_sentence(run, files, monkeypatch, arguments, message):
    (files / "short.txt").write_text("a\nb\n", encoding="utf-8")
    monkeypatch.chdir(files)
    code, _, err = run("evaluate", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_ids_that_the_vectors_lack_are_named(run, files):
    (files / "other.csv").write_text("id,cluster\nd1,0\nd9,1\n", encoding="utf-8")
    code, _, err = run("evaluate", files / "other.csv", "--vectors", files / "vectors.npz")
    assert code == 2
    assert "'d9'" in err


def test_measures_lists_every_record_as_data(run):
    code, out, _ = run("measures", "--json")
    records = json.loads(out)
    assert code == 0
    assert [record["name"] for record in records] == [record.name for record in list_measures()]
    for record in records:
        assert {"name", "family", "source", "direction", "range", "cost"} <= set(record)
    counted = [record for record in records if "variant_of" not in record and "alias_of" not in record]
    assert sum(record["family"] == "external" for record in counted) == 44


def test_measures_can_be_filtered(run):
    _, out, _ = run("measures", "--family", "external", "--source", "strehl", "--json")
    assert {"purity", "nmi_strehl", "strehl_f"} <= {record["name"] for record in json.loads(out)}
    _, out, _ = run("measures", "--source", "zaki")
    assert "max_matching" in out
    assert "measures; " in out
    _, out, _ = run("measures", "--source", "nobody wrote this")
    assert "no measure matches" in out


def test_explain_says_what_a_measure_is(run):
    code, out, _ = run("explain", "nmi_geometric")
    assert code == 0
    for part in ("variant of nmi", "sqrt(H(C) H(T))", "Zaki & Meira", "higher is better", "[0, 1]", "O(n)", "edges"):
        assert part in out
    _, out, _ = run("explain", "purity", "--json")
    assert json.loads(out)["formula"].startswith("(1/n) sum_i max_j n_ij")


def test_explain_of_something_unknown_names_the_nearest(run):
    code, _, err = run("explain", "silhouete")
    assert code == 2
    assert "did you mean silhouette" in err
    code, _, err = run("explain", "nowhere", "3")
    assert code == 2
    assert "not the folder of a run" in err


def test_a_run_is_judged_again_by_its_own_vectors(run, finished):
    scores = evaluated(run, finished / "assignments.csv", "--vectors", finished, "--measures", "silhouette,rss")
    table = csv.DictReader(io.StringIO((finished / "scores.csv").read_text(encoding="utf-8-sig")))
    recorded = {row["measure"]: row for row in table}
    for name in ("silhouette", "rss"):
        assert scores[name]["value"] == pytest.approx(float(recorded[name]["value"]), rel=1e-9)


def test_explain_of_a_folder_explains_its_clusters(run, finished):
    code, out, _ = run("explain", finished, "0", "--json")
    assert code == 0
    assert json.loads(out)


def test_labels_of_noise_are_told_on_the_screen_and_in_json(doccluster, tmp_path):
    """As DBSCAN and HDBSCAN write them; the scores are those of a table counted by hand."""
    noise = {0, 5, 10, 15, 20, 25}
    labels = [-1 if row in noise else row % 3 for row in range(30)]
    found, truth = tmp_path / "found.csv", tmp_path / "truth.csv"
    found.write_text("id,cluster\n" + "".join(f"d{row},{label}\n" for row, label in enumerate(labels)))
    truth.write_text("id,class\n" + "".join(f"d{row},{'abc'[row % 3]}\n" for row in range(30)))
    arguments = ["evaluate", str(found), "--truth", str(truth), "--measures", "purity"]
    told = doccluster(*arguments)
    assert "warning: 6 documents have the label -1; --noise -1 leaves them out.\n" in told.err
    assert json.loads(doccluster(*arguments, "--json").out)["notes"] == [
        "6 documents have the label -1; noise=-1 leaves them out."
    ]
    without = doccluster(*arguments, "--noise", "-1", "--json")
    assert json.loads(without.out)["provenance"]["n_documents"] == 24
    assert without.err == ""
