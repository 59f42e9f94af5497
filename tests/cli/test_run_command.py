"""`run` from a source to its folder: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import io, sparse

from tests.conftest import ROOT

OUTPUTS = {"assignments.csv", "clusters.csv", "scores.csv", "skipped.csv", "run.json", "report.html", "model"}


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_run_writes_every_promised_file_and_nothing_else(finished):
    assert {entry.name for entry in finished.iterdir()} == OUTPUTS
    assert not [entry for entry in finished.parent.iterdir() if entry != finished], "something half was left behind"


def test_first_screen_says_what_was_read_vectorized_and_clustered(doccluster, tiny, tmp_path):
    done = doccluster("run", tiny, "-o", tmp_path / "out", "-k", 3, "--truth", "class")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("  read       9 documents")
    assert lines[1].startswith("  vectorize  64 terms, 10.0 in a document")
    assert lines[2] == "  languages  English 100 %; stop words removed, words stemmed"
    assert lines[3].startswith(
        "  cluster    3 clusters: spherical k-means on neighbour-smoothed vectors, then a multinomial"
    )
    assert lines[4].strip().startswith("seed 0, ")
    assert lines[5].strip().startswith("The starts agree at ")
    assert lines[7].split() == ["cluster", "size", "label,", "headline", "similarity"]
    assert "coherence" not in done.out
    assert "density" not in done.out
    assert lines[-1].split()[-1] == str(tmp_path / "out" / "run.json")
    assert str(tmp_path / "out" / "report.html") in done.out.split()
    assert done.err == ""


def test_first_screen_shows_label_headline_dates_outlets_and_similarity(doccluster, tmp_path):
    articles = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    done = doccluster("run", articles, "-o", tmp_path / "out", "-k", 8, "--seed", 7)
    lines = done.out.splitlines()
    division = "each record of articles.jsonl is a document"
    assert lines[0] == f"  read       176 documents ({division}; text: text), 2 Mar – 5 Apr 2026, 4 outlets"
    assert lines[3].startswith("  dropped    31 words that occur evenly (13 % of all words): ")
    assert lines[8].split() == ["cluster", "size", "label,", "headline", "dates", "outlets", "similarity"]
    titles = {json.loads(line)["title"] for line in articles.read_text(encoding="utf-8").splitlines()}
    table = rows_of(tmp_path / "out" / "clusters.csv")
    assert len(table) == 8
    for place, row in enumerate(table):
        words, below = lines[10 + 2 * place], lines[11 + 2 * place]
        assert row["headline"] in titles
        shown = below.strip().split("…")[0]
        assert len(shown) >= 20
        assert row["headline"].startswith(shown)
        assert words.split()[:2] == [row["cluster"], row["size"]]
        assert words.split()[-2:] == [row["n_outlets"], f"{float(row['similarity']):.2f}"]
        assert row["name"] == row["label"]
        assert row["label"] in words
        assert row["first_date"] <= row["last_date"]


def test_many_clusters_are_shown_up_to_forty_and_the_rest_is_named(doccluster, tmp_path):
    articles = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    done = doccluster("run", articles, "-o", tmp_path / "out", "-k", 50, "--no-report", "--levels", "none")
    said = " ".join(done.out.split())
    assert f"the 40 largest of 50 clusters; all are in {tmp_path / 'out' / 'clusters.csv'}" in said
    assert len(rows_of(tmp_path / "out" / "clusters.csv")) == 50


def test_a_note_stands_with_the_work_it_belongs_to_and_does_not_look_like_an_error(doccluster, tmp_path):
    texts = ["oil prices rise", "oil prices rise", "oil prices fall", "wheat rain", "rain on wheat", "of the and"]
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    command = ["run", tmp_path / "texts.txt", "--format", "lines", "-o", tmp_path / "out", "-k", 2, "--fold-copies"]
    lines = doccluster(*command, "--language", "english").out.splitlines()
    assert "skipped" not in lines[0]
    assert lines[1].endswith("(1 without a term have no cluster)")
    assert lines[3].startswith("  cluster    2 clusters: spherical k-means on neighbour-smoothed vectors")
    assert (
        lines[5] == "             Near-copies were folded: 1 of the documents has the cluster of the text it repeats."
    )
    assert "without a term" not in "\n".join(lines[2:]), "it is said once"


def test_json_is_one_document_with_clusters_scores_and_files(doccluster, tiny, tmp_path):
    done = doccluster("run", tiny, "-o", tmp_path / "out", "-k", 3, "--truth", "class", "--json")
    told = json.loads(done.out)
    assert done.code == 0
    assert [one["size"] for one in told["clusters"]] == [3, 3, 3]
    assert "The apples in the orchard ripen in September." in [one["headline"] for one in told["clusters"]]
    assert all(0 < one["similarity"] <= 1 and one["first"] is None for one in told["clusters"])
    assert {score["measure"] for score in told["scores"]} >= {"purity", "silhouette", "coherence"}
    assert told["interrupted"] is False
    assert len(told["files"]) == len(OUTPUTS)


def test_assignments_name_every_document_with_its_cluster_and_margin(finished):
    rows = rows_of(finished / "assignments.csv")
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert len(rows) == 9
    expected = ["id", "title", "date", "cluster", "similarity", "runner_up", "margin", "family", "first", "other"]
    expected += ["cluster_1", "membership_1", "cluster_2", "membership_2", "cluster_3", "membership_3"]
    assert list(rows[0]) == [*expected, "class"]
    by_folder = {}
    for row in rows:
        by_folder.setdefault(row["id"].split("/")[0], set()).add(row["cluster"])
        assert 0 < float(row["similarity"]) <= 1
        assert row["runner_up"] != row["cluster"]
    assert all(len(clusters) == 1 for clusters in by_folder.values())


def test_clusters_table_has_a_line_per_cluster_with_the_intrinsic_measures(finished):
    rows = rows_of(finished / "clusters.csv")
    assert [row["cluster"] for row in rows] == ["0", "1", "2"]
    for column in (
        "size",
        "headline",
        "similarity",
        "label",
        "terms",
        "discriminating_terms",
        "coherence",
        "density",
        "silhouette",
    ):
        assert all(row[column] for row in rows), column
    assert len({row["label"] for row in rows}) == 3


def test_run_json_says_how_to_repeat_the_run(finished):
    record = json.loads((finished / "run.json").read_text(encoding="utf-8"))
    assert record["schema"] == 1
    assert record["provenance"]["seed"] == 0
    assert set(record["provenance"]["versions"]) >= {"doccluster", "python", "numpy", "scikit-learn"}
    assert len(record["provenance"]["checksum"]) == 64
    stages = [name for name in record["provenance"]["timings"] if name != "compile"]
    assert stages == ["start", "read", "vectorize", "cluster", "label", "judge"]
    assert record["parameters"]["n_clusters"] == 3
    assert record["parameters"]["truth"] == ["class"]


def test_model_holds_no_pickle_and_names_its_schema(finished):
    names = {path.name for path in (finished / "model").iterdir()}
    assert {name.rsplit(".")[-1] for name in names} == {"json", "npz"}
    for path in (finished / "model").glob("*.npz"):
        with np.load(path, allow_pickle=False) as arrays:
            assert all(arrays[name].dtype.kind in "iufUSb" for name in arrays.files)
    assert json.loads((finished / "model" / "model.json").read_text(encoding="utf-8"))["schema"] == 1


def test_documents_without_terms_have_a_blank_cluster_and_a_line_in_skipped(doccluster, tmp_path):
    source = tmp_path / "texts.csv"
    texts = ["oil price rises", "crude oil falls", "wheat harvest", "late wheat harvest", "? !", "the of and"]
    source.write_text("id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts)), encoding="utf-8")
    done = doccluster("run", source, "-o", tmp_path / "out", "-k", 2, "--language", "en")
    assert done.code == 0, done.err
    rows = {row["id"]: row for row in rows_of(tmp_path / "out" / "assignments.csv")}
    assert len(rows) == 6
    assert [rows[name]["cluster"] for name in ("4", "5")] == ["", ""]
    assert [row["source"] for row in rows_of(tmp_path / "out" / "skipped.csv") if row["reason"] == "no-terms"] == [
        "4",
        "5",
    ]
    assert "(2 without a term have no cluster)" in done.out
    scores = {row["measure"]: row for row in rows_of(tmp_path / "out" / "scores.csv")}
    assert float(scores["silhouette"]["value"]) > 0.1


@pytest.mark.parametrize("kind", ["mat", "mtx", "npz"])
def test_a_ready_matrix_runs_like_texts_do(doccluster, tmp_path, kind):
    counts = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [1, 3, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2], [0, 0, 1, 1]])
    path = tmp_path / f"counts.{kind}"
    if kind == "mat":
        rows = [" ".join(f"{column + 1} {value}" for column, value in enumerate(row) if value) for row in counts]
        path.write_text(f"6 4 {np.count_nonzero(counts)}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    elif kind == "mtx":
        io.mmwrite(path, sparse.coo_array(counts))
    else:
        sparse.save_npz(path, sparse.csr_array(counts))
    (tmp_path / "counts.rclass").write_text("a\na\na\nb\nb\nb\n", encoding="utf-8")
    (tmp_path / "counts.clabel").write_text("oil\ncrude\nwheat\nharvest\n", encoding="utf-8")
    done = doccluster("run", path, "-o", tmp_path / "out", "-k", 2, "--truth", "class")
    assert done.code == 0, done.err
    clusters = rows_of(tmp_path / "out" / "clusters.csv")
    assert {row["terms"] for row in clusters} <= {"oil, crude", "crude, oil", "wheat, harvest", "harvest, wheat"}
    assert len({frozenset(row["terms"].split(", ")) for row in clusters}) == 2
    assert {row["measure"]: row["value"] for row in rows_of(tmp_path / "out" / "scores.csv")}["purity"] == "1.0"


def test_several_labels_per_document_are_judged_on_those_with_one_and_the_count_says_so(doccluster, tmp_path):
    source = tmp_path / "texts.jsonl"
    records = [
        {"text": "oil price rises", "topic": ["oil"]},
        {"text": "crude oil price falls", "topic": ["oil"]},
        {"text": "wheat harvest", "topic": ["grain"]},
        {"text": "late wheat harvest", "topic": ["grain", "oil"]},
        {"text": "wheat harvest rain", "topic": []},
    ]
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    done = doccluster("run", source, "-o", tmp_path / "out", "-k", 2, "--truth", "topic")
    assert done.code == 0, done.err
    purity = next(row for row in rows_of(tmp_path / "out" / "scores.csv") if row["measure"] == "purity")
    assert purity["value"] == "1.0"
    assert "3 of 5" in purity["note"]
    assert "3 of 5" in done.out


def test_hostile_titles_cannot_run_in_a_spreadsheet_nor_steer_the_terminal(doccluster, tmp_path):
    source = tmp_path / "texts.jsonl"
    titles = ["=HYPERLINK(1)", "+A1", "-1+2", "@SUM(A1)", "\x1b[31mred", "<script>alert(1)</script>"]
    texts = ["wheat crop", "oil price"] * 3
    records = [{"id": title, "title": title, "text": text} for title, text in zip(titles, texts, strict=True)]
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    done = doccluster("run", source, "-o", tmp_path / "out", "-k", 2)
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "out" / "assignments.csv")
    assert len(rows) == 6
    for row in rows:
        assert not row["title"].startswith(("=", "+", "-", "@"))
        assert not row["id"].startswith(("=", "+", "-", "@"))
    assert "\x1b" not in (tmp_path / "out" / "assignments.csv").read_text(encoding="utf-8")
    shown = doccluster("explain", tmp_path / "out", 0)
    assert shown.code == 0, shown.err
    assert "\x1b" not in shown.out


def test_paths_with_any_letters_work(doccluster, tiny, tmp_path):
    output = tmp_path / "Ünï çø∂é 報告 out"
    done = doccluster("run", tiny, "-o", output, "-k", 2)
    assert done.code == 0, done.err
    assert (output / "report.html").is_file()


def test_undecodable_file_names_go_through_to_the_tables(doccluster, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    try:
        for number, name in enumerate((b"caf\xe9.txt", b"b.txt", b"c.txt")):
            with open(bytes(folder) + b"/" + name, "wb") as file:  # noqa: PTH123 - a name that is no text
                file.write((b"oil price", b"wheat crop", b"crude oil price")[number])
    except OSError:
        pytest.skip("this file system takes only names that are text")
    done = doccluster("run", folder, "-o", tmp_path / "out", "-k", 2)
    assert done.code == 0, done.err
    assert len(rows_of(tmp_path / "out" / "assignments.csv")) == 3


def test_a_document_kept_under_a_new_id_is_not_called_skipped(doccluster, tmp_path):
    (tmp_path / "twins.csv").write_text(
        "id,text\n1,oil price well\n1,oil price rig\n2,wheat crop rain\n3,\n", encoding="utf-8"
    )
    done = doccluster("run", tmp_path / "twins.csv", "-k", 2, "-o", tmp_path / "out")
    assert "3 documents (each row of twins.csv is a document; text: text)   (1 skipped: 1 empty; 1 kept" in done.out
    assert "1 document skipped" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    told = doccluster("run", tmp_path / "twins.csv", "-k", 2, "-o", tmp_path / "again", "--no-report", "--json")
    assert '"n_skipped": 1,' in told.out
    assert json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["counts"]["n_skipped"] == 1


def test_the_time_of_a_run_counts_from_the_start_of_the_program(tmp_path, tiny):
    script = "import sys, time; from doccluster.cli import main; time.sleep(0.5); main.main(sys.argv[1:])"
    before = time.perf_counter()
    command = [sys.executable, "-c", script, "run", str(tiny), "-o", str(tmp_path / "out"), "-k", "3"]
    done = subprocess.run(command, cwd=tiny.parents[2], capture_output=True, text=True, check=False)
    passed = time.perf_counter() - before
    assert done.returncode == 0, done.stderr
    timings = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["provenance"]["timings"]
    assert 0.5 <= timings["start"] < sum(timings.values()) <= passed
    assert "start" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8").partition("timings-title")[2]


def test_the_report_has_texts_and_a_map_where_they_are_asked_for_also_when_written_again(doccluster, tmp_path):
    source = tmp_path / "few.jsonl"
    texts = ["oil and crude barrels", "crude oil prices", "wheat and rain", "rain on the wheat field", "wheat harvest"]
    source.write_text("".join(json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts)))
    out, page = tmp_path / "out", tmp_path / "out" / "report.html"
    ran = doccluster("run", source, "-o", out, "-k", 2, "--min-df", 1, "--with-texts")
    assert ran.code == 0, ran.err
    first = page.read_text(encoding="utf-8")
    assert all(f"{text}</pre>" in first for text in texts)
    assert 'class="still"' in first
    again = doccluster("report", out, "--with-texts")
    assert again.code == 0, again.err
    assert page.read_text(encoding="utf-8") == first
    assert doccluster("report", out, "--no-map").code == 0
    drawn = page.read_text(encoding="utf-8")
    assert 'class="still"' not in drawn
    assert f"{texts[0]}</pre>" not in drawn
    source.write_text('{"id": "d0", "text": "other words"}\n')
    changed = doccluster("report", out, "--with-texts")
    assert changed.code != 0
    assert "the documents have changed since the run" in changed.err
