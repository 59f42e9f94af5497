"""inspect, vectorize, cluster, assign, report, rerun, explain: each does its one thing, as text and as JSON."""

from __future__ import annotations

import csv
import io
import json
import shutil

import numpy as np
import pytest
from scipy import sparse

from doccluster.cli.console import plain
from doccluster.results.run_folder import load_run


def test_inspect_says_what_is_in_a_source(doccluster, newsroom):
    done = doccluster("inspect", newsroom)
    assert done.code == 0, done.err
    assert "documents  176" in done.out
    assert "english" in done.out
    assert "topic: 8 classes" in done.out


def test_inspect_as_json_counts_reasons_and_labels(doccluster, tiny):
    told = json.loads(doccluster("inspect", tiny, "--json").out)
    assert told["n_documents"] == 9
    assert told["labels"][0]["n_classes"] == 3
    assert sum(told["reasons"].values()) == len(told["skipped"])


def test_inspect_says_that_a_document_with_a_taken_id_is_kept_under_a_new_one(doccluster, tmp_path):
    (tmp_path / "twins.csv").write_text("id,text\n1,oil price well\n1,oil price rig\n2,wheat crop\n3,\n", "utf-8")
    done = doccluster("inspect", tmp_path / "twins.csv")
    assert "documents  3" in done.out
    assert "skipped    1 empty\n" in done.out
    assert "duplicate-id" not in done.out
    told = "the id '1' was taken; this document is kept as '1#2'"
    assert f"renamed    1 document is kept under a new id: {told}" in done.out
    as_json = json.loads(doccluster("inspect", tmp_path / "twins.csv", "--json").out)
    assert as_json["reasons"] == {"empty": 1}
    assert [one["detail"] for one in as_json["renamed"]] == [told]


def test_vectorize_then_cluster_gives_the_clusters_of_run(doccluster, tiny, tmp_path):
    made = doccluster("vectorize", tiny, "-o", tmp_path / "x.npz", "--classes-from", "class", "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["n_documents"] == 9
    one = doccluster("cluster", tmp_path / "x.npz", "-k", 3, "--truth", "class", "-o", tmp_path / "a", "--json")
    two = doccluster("run", tiny, "-k", 3, "--truth", "class", "-o", tmp_path / "b", "--json")
    assert [c["label"] for c in json.loads(one.out)["clusters"]] == [
        c["label"] for c in json.loads(two.out)["clusters"]
    ]


def test_vectorize_does_not_write_over_a_file_unasked(doccluster, tiny, tmp_path):
    (tmp_path / "x.npz").write_bytes(b"mine")
    done = doccluster("vectorize", tiny, "-o", tmp_path / "x.npz")
    assert done.code == 2
    assert "already exists" in done.err
    assert doccluster("vectorize", tiny, "-o", tmp_path / "x.npz", "--overwrite").code == 0


@pytest.mark.parametrize("place", ["", "model"])
def test_assign_prints_a_csv_of_new_documents(doccluster, finished, tmp_path, place):
    (tmp_path / "new.txt").write_text("herring boats in the harbour\nrye bread from the oven\n", encoding="utf-8")
    done = doccluster("assign", finished / place, tmp_path / "new.txt", "--format", "lines")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    columns = ["id", "title", "date", "cluster", "label", "similarity", "runner_up", "margin", "unknown", "new"]
    assert list(rows[0]) == columns
    assert "nets" in rows[0]["label"]
    assert "oven" in rows[1]["label"]


def test_assign_to_a_file_prints_the_counts(doccluster, finished, tiny, tmp_path):
    done = doccluster("assign", finished, tiny, "-o", tmp_path / "new.csv")
    assert done.code == 0, done.err
    with (
        (finished / "assignments.csv").open(encoding="utf-8") as then,
        (tmp_path / "new.csv").open(encoding="utf-8") as now,
    ):
        before = {row["id"]: row["cluster"] for row in csv.DictReader(then)}
        assert {row["id"]: row["cluster"] for row in csv.DictReader(now)} == before
    assert doccluster("assign", finished, tiny, "-o", tmp_path / "new.csv").code == 2


def test_assign_as_json_has_null_for_a_document_without_a_known_term(doccluster, finished, tmp_path):
    (tmp_path / "new.txt").write_text("xyzzy plugh\nherring\n", encoding="utf-8")
    done = doccluster("assign", finished, tmp_path / "new.txt", "--format", "lines", "--json")
    documents = json.loads(done.out)["documents"]
    assert [one["cluster"] is None for one in documents] == [True, False]


def test_report_writes_the_page_again(doccluster, finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "copy")
    (folder / "report.html").unlink()
    done = doccluster("report", folder)
    assert done.code == 0, done.err
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "harbour" in page
    done = doccluster("report", folder, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").is_file()


def test_report_as_json_says_what_was_written(doccluster, finished, tmp_path):
    done = doccluster("report", finished, "-o", tmp_path / "page.html", "--json")
    assert done.code == 0, done.err
    page = str(tmp_path / "page.html")
    assert json.loads(done.out) == {"output": page, "pictures": [], "n_documents": 9, "n_clusters": 3}
    assert (tmp_path / "page.html").is_file()


def test_report_says_where_it_cannot_write(doccluster, finished, tmp_path):
    done = doccluster("report", finished, "-o", tmp_path / "no" / "such" / "folder.html")
    assert done.code == 2
    assert "cannot be written" in done.err
    assert "Traceback" not in done.err


def test_rerun_gives_the_same_labels(doccluster, finished):
    done = doccluster("rerun", finished / "run.json")
    assert done.code == 0, done.err
    assert "the same labels for 9 documents" in done.out


def test_rerun_says_what_differs_and_exits_1(doccluster, tiny, tmp_path):
    source = shutil.copytree(tiny, tmp_path / "texts")
    assert doccluster("run", source, "-o", tmp_path / "out", "-k", 3).code == 0
    for name in ("flour", "crust", "morning"):
        (source / "bread" / f"{name}.txt").write_text("Herring and tide, herring and tide.", encoding="utf-8")
    done = doccluster("rerun", tmp_path / "out", "--json")
    told = json.loads(done.out)
    assert done.code == 1
    assert told["same_labels"] is False
    assert any("checksums differ" in line for line in told["differences"])


def test_explain_a_cluster_shows_terms_representatives_and_borders(doccluster, finished):
    done = doccluster("explain", finished, 0)
    assert done.code == 0, done.err
    for words in ("hold it together", "set it apart", "most typical documents"):
        assert words in done.out
    assert done.out.startswith("cluster 0: apples, orchard, baskets\n  The apples in the orchard ripen in September.\n")
    # harbour, bread and orchard have little in common
    with (finished / "assignments.csv").open(encoding="utf-8", newline="") as table:
        smallest = min(float(row["margin"]) for row in csv.DictReader(table) if row["cluster"] == "0")
    assert f"every document is nearest to this cluster (smallest margin {smallest:.3f})" in done.out


def test_explain_names_a_cluster_of_a_matrix_once(doccluster, tmp_path):
    rows = sparse.csr_array(np.repeat(np.eye(3), 2, axis=0))
    sparse.save_npz(tmp_path / "x.npz", rows)
    assert doccluster("run", tmp_path / "x.npz", "-k", 3, "-o", tmp_path / "run", "--no-report").code == 0
    assert doccluster("explain", tmp_path / "run", 0).out.splitlines()[:2] == ["cluster 0", "  2 of 6 documents"]


def test_explain_a_cluster_names_the_documents_that_could_as_well_be_elsewhere(doccluster, tmp_path):
    texts = ["oil price"] * 40 + ["wheat rain"] * 40 + ["oil price wheat rain"]  # the last is as near to both
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    command = ["run", tmp_path / "texts.txt", "--format", "lines", "-o", tmp_path / "out", "-k", 2, "--no-report"]
    assert doccluster(*command).code == 0
    told = [json.loads(doccluster("explain", tmp_path / "out", cluster, "--json").out) for cluster in (0, 1)]
    near = [document for one in told for document in one["borderline"]]
    assert [document["id"] for document in near] == ["texts.txt:81"]
    number = next(one["cluster"] for one in told if one["borderline"])
    shown = doccluster("explain", tmp_path / "out", number).out
    assert "close to another cluster (margin, the other cluster)" in shown


def test_explain_a_document_takes_its_cosine_apart(doccluster, finished):
    told = json.loads(doccluster("explain", finished, "orchard/market.txt", "--json").out)
    for role in ("cluster", "runner_up"):
        parts = [term["contribution"] for term in told[role]["terms"]]
        assert sum(parts) == pytest.approx(told[role]["similarity"], abs=1e-5)
    assert told["cluster"]["similarity"] > told["runner_up"]["similarity"]


def test_explain_a_run_lists_its_clusters(doccluster, finished):
    done = doccluster("explain", finished)
    assert done.code == 0, done.err
    header, _, *lines = done.out.splitlines()
    assert header.split() == ["cluster", "size", "label,", "headline", "similarity"]
    names = [" ".join(line.split()[2:-1]) for line in lines[::2]]
    assert names == [cluster.label for cluster in load_run(finished).clusters]
    assert lines[2 * names.index("oven, dough, rye") + 1].strip() == "Rye flour makes a heavy dough."


def test_nothing_is_told_on_the_way_when_nobody_watches(doccluster, tiny, tmp_path):
    done = doccluster("run", tiny, "-k", 3, "-o", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", " [31mred"),
        ("a\r\nb", "a b"),
        ("\u202eabc", " abc"),
        ("naïve 東京", "naïve 東京"),
    ],
)
def test_text_from_documents_cannot_steer_a_terminal(text, shown):
    assert plain(text) == shown


def test_pictures_are_drawn_instead_of_the_report_or_beside_it(doccluster, newsroom, tmp_path):
    out = tmp_path / "run"
    assert doccluster("run", newsroom, "-o", out, "-k", 6, "--no-report").code == 0
    files = [tmp_path / name for name in ("map.svg", "time.png", "line.pdf")]
    pictures = ["--map-file", files[0], "--time-file", files[1], "--timeline", 2, files[2], "--dark"]
    done = doccluster("report", out, *pictures)
    assert done.code == 0, done.err
    assert done.out.split() == [str(file) for file in files]
    assert [file.read_bytes()[:5] for file in files] == [b"<?xml", b"\x89PNG\r", b"%PDF-"]
    assert b"#15181b" in files[0].read_bytes()
    assert not (out / "report.html").exists()
    both = doccluster("report", out, "--timeline", 2, files[2], "-o", tmp_path / "page.html", "--json")
    assert json.loads(both.out)["pictures"] == [str(files[2])]
    assert (tmp_path / "page.html").exists()
    for arguments, said in (
        (["--dark"], "--dark is for pictures"),
        (["--map-file", tmp_path / "map.gif"], "ends in .svg, .png or .pdf"),
        (["--timeline", 60, tmp_path / "line.svg"], "a number from 0 to 5"),
        (["--map-file", tmp_path / "nowhere" / "map.svg"], "there is no folder"),
    ):
        refused = doccluster("report", out, *arguments)
        assert refused.code == 2
        assert said in refused.err
