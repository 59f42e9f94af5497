"""Bad input gives one clear sentence and the right exit code, and loses nothing."""

from __future__ import annotations

import contextlib
import csv
import errno
import itertools
import json
import os
import signal
import sqlite3
import time

import numpy as np
import pytest
from scipy import sparse

from doccluster.errors import InputError
from doccluster.lab.comparison import Checkpoint


def one_sentence(done, code, *words):
    """Check the exit code, and that there is one sentence with these words and no traceback."""
    assert done.code == code, done.err
    lines = [line for line in done.err.splitlines() if line and not line.startswith(("Usage:", "Try "))]
    assert len(lines) == 1, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in lines[0], lines[0]


def write_texts(path, texts):
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return path


def test_more_clusters_than_documents(doccluster, tiny, tmp_path):
    done = doccluster("run", tiny, "-o", tmp_path / "out", "-k", 12)
    one_sentence(done, 2, "--clusters 12", "documents (9)", "<= 9")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("k", "word"), [("-3", "-3"), ("0", "0"), ("many", "many"), ("2.5", "2.5")])
def test_a_number_of_clusters_that_is_none(doccluster, tiny, tmp_path, k, word):
    one_sentence(doccluster("run", tiny, "-o", tmp_path / "out", "-k", k), 2, word)


@pytest.mark.parametrize("option", ["--checkpoint", "--max-features"])
def test_a_zero_that_was_typed_is_not_taken_for_a_default(doccluster, tiny, tmp_path, option):
    one_sentence(doccluster("run", tiny, "-o", tmp_path / "out", "-k", 2, option, 0), 2, option)


def test_too_few_documents_to_ask_them_how_many_clusters(doccluster, tmp_path):
    source = write_texts(tmp_path / "texts.jsonl", ["rain in the north", "oil prices rise", "wheat and rain"])
    one_sentence(doccluster("run", source, "-o", tmp_path / "out"), 2, "3 document", "the number")


def test_one_cluster_is_legal(doccluster, tiny, tmp_path):
    done = doccluster("run", tiny, "-o", tmp_path / "out", "-k", 1, "--truth", "class")
    assert done.code == 0, done.err
    lines = (tmp_path / "out" / "assignments.csv").read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(lines):
        assert (row["runner_up"], row["margin"]) == ("", ""), "with one cluster there is no other"


def test_one_document_is_legal(doccluster, tmp_path):
    source = write_texts(tmp_path / "one.jsonl", ["oil prices rise"])
    done = doccluster("run", source, "-o", tmp_path / "out", "-k", 1)
    assert done.code == 0, done.err


def test_identical_documents_give_the_clusters_that_can_be_filled_and_say_so(doccluster, tmp_path):
    source = write_texts(tmp_path / "same.jsonl", ["oil prices rise"] * 6)
    done = doccluster("run", source, "-o", tmp_path / "out", "-k", 3)
    assert done.code == 0, done.err
    assert "You asked for 3 clusters; only 1 could be filled" in done.out


def test_documents_without_any_text(doccluster, tmp_path):
    source = write_texts(tmp_path / "empty.jsonl", ["", "  ", "\n"])
    one_sentence(doccluster("run", source, "-o", tmp_path / "out", "-k", 2), 3)
    assert not (tmp_path / "out").exists()


def test_documents_without_any_term(doccluster, tmp_path):
    source = write_texts(tmp_path / "marks.jsonl", ["! ? !", "...", "the of and"])
    one_sentence(doccluster("run", source, "-o", tmp_path / "out", "-k", 2, "--language", "english"), 3, "term")


@pytest.mark.parametrize("kind", ["npz", "npy", "mat", "mtx"])
@pytest.mark.parametrize("content", [b"", bytes(range(256)), b"PK\x03\x04"])
def test_a_matrix_file_that_is_none(doccluster, tmp_path, kind, content):
    path = tmp_path / f"x.{kind}"
    path.write_bytes(content)
    done = doccluster("cluster", path, "-k", 2, "-o", tmp_path / "out")
    one_sentence(done, 2, f"x.{kind}", *(["zero bytes"] if not content else []))
    assert "allow_pickle" not in done.err, "that would run what is in the file"


def test_a_matrix_that_announces_more_than_there_can_be(doccluster, tmp_path):
    path = tmp_path / "x.mtx"
    size = 10**13
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{size} {size} 1\n1 1 1\n", encoding="utf-8")
    one_sentence(
        doccluster("cluster", path, "-k", 2, "-o", tmp_path / "out"), 2, "x.mtx", "announces 10,000,000,000,000 rows"
    )


def test_cluster_takes_matrices_only(doccluster, tiny, tmp_path):
    one_sentence(doccluster("cluster", tiny, "-k", 2, "-o", tmp_path / "out"), 2, "not a matrix file", "doccluster run")


def test_a_matrix_of_zeros(doccluster, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 3)))
    one_sentence(doccluster("cluster", tmp_path / "x.npy", "-k", 2, "-o", tmp_path / "out"), 3, "all rows are zero")


@pytest.mark.parametrize("verb", ["run", "choose-k", "compare"])
def test_options_of_texts_are_refused_for_a_matrix_instead_of_doing_nothing(doccluster, tmp_path, verb):
    np.save(tmp_path / "x.npy", np.eye(6))
    options = ["--min-df", 2, "--stemming", "english"]
    done = doccluster(verb, tmp_path / "x.npy", "-o", tmp_path / "out", *options)
    one_sentence(done, 2, "is a matrix", "leave out", "--min-df", "--stemming")


def test_one_document_leaves_no_number_of_clusters_to_try(doccluster, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 3)))
    one_sentence(doccluster("choose-k", tmp_path / "x.npy"), 2, "1 document", "at least 4")


def test_a_comparison_with_more_clusters_than_documents_is_refused(doccluster, tiny, tmp_path):
    done = doccluster("compare", tiny, "-o", tmp_path / "out", "-k", 99, "--seeds", 1)
    one_sentence(done, 2, "tiny: -k/--clusters 99 exceeds the number of documents (9)")
    assert "InputError" not in done.err


def test_labels_that_are_no_utf8_and_a_separator_that_is_nothing(doccluster, tmp_path):
    (tmp_path / "labels.csv").write_bytes("id,cluster\n1,caf\xe9\n".encode("latin-1"))
    (tmp_path / "truth.csv").write_text("id,class\n1,a\n", encoding="utf-8")
    done = doccluster("evaluate", tmp_path / "labels.csv", "--truth", tmp_path / "truth.csv")
    one_sentence(done, 2, "labels.csv is not text in UTF-8", "byte 16")
    for verb in ("evaluate", "inspect"):
        one_sentence(doccluster(verb, tmp_path / "truth.csv", "--label-separator", ""), 2, "it is empty")


def test_a_name_that_steers_a_terminal_is_told_without_its_controls(doccluster):
    done = doccluster("report", "no\x1b[31mwhere")
    assert done.code == 2
    assert "\x1b" not in done.err


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_or_infinity_in_a_matrix(doccluster, tmp_path, value):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(np.array([[1.0, value], [0.5, 1.0]])))
    done = doccluster("cluster", tmp_path / "x.npz", "-k", 2, "-o", tmp_path / "out")
    one_sentence(done, 2, "NaN or infinity")


def test_an_unknown_column_lists_the_columns_there_are(doccluster, newsroom, tmp_path):
    done = doccluster("run", newsroom, "-o", tmp_path / "out", "-k", 2, "--column", "text=boddy")
    one_sentence(done, 2, "boddy", "title", "text", "topic")


def test_an_unknown_truth_lists_the_label_columns(doccluster, tiny, tmp_path):
    one_sentence(doccluster("run", tiny, "-o", tmp_path / "out", "-k", 2, "--truth", "colour"), 2, "colour", "class")


def test_a_missing_file(doccluster, tmp_path):
    done = doccluster("run", tmp_path / "nowhere.csv", "-o", tmp_path / "out", "-k", 2)
    one_sentence(done, 2, "nowhere.csv")


def test_a_report_of_a_folder_that_is_not_there_blames_the_run(doccluster, tmp_path):
    done = doccluster("report", tmp_path / "nowhere")
    one_sentence(done, 2, "nowhere is not there; give the folder of a finished run")


def test_a_broken_archive(doccluster, tmp_path):
    (tmp_path / "texts.zip").write_bytes(b"PK\x03\x04 and then nothing that makes sense")
    done = doccluster("run", tmp_path / "texts.zip", "-o", tmp_path / "out", "-k", 2)
    assert done.code == 3
    assert "Traceback" not in done.err


def test_an_output_folder_that_is_in_use_is_refused_before_any_work(doccluster, tiny, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep me", encoding="utf-8")
    one_sentence(doccluster("run", tiny, "-o", tmp_path / "out", "-k", 2), 2, "already exists", "--overwrite")
    done = doccluster("run", tiny, "-o", tmp_path / "out", "-k", 2, "--overwrite")
    one_sentence(done, 2, "something other than a run")
    assert (tmp_path / "out" / "mine.txt").read_text(encoding="utf-8") == "keep me"


def test_overwrite_replaces_a_run_and_keeps_what_the_user_put_there(doccluster, tiny, tmp_path):
    output = tmp_path / "out"
    assert doccluster("run", tiny, "-o", output, "-k", 2).code == 0
    (output / "notes.txt").write_text("mine", encoding="utf-8")
    assert doccluster("run", tiny, "-o", output, "-k", 3, "--overwrite").code == 0
    assert json.loads((output / "run.json").read_text(encoding="utf-8"))["counts"]["n_clusters"] == 3
    assert (output / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_an_output_that_is_a_file_or_lies_under_one(doccluster, tiny, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    one_sentence(doccluster("run", tiny, "-o", tmp_path / "file", "-k", 2), 2, "is a file")
    one_sentence(doccluster("run", tiny, "-o", tmp_path / "file" / "out", "-k", 2), 2, "cannot be written")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission(doccluster, tiny, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    one_sentence(doccluster("run", tiny, "-o", locked / "out", "-k", 2), 2, "cannot be written")


def test_a_full_disk_leaves_nothing_under_the_name_and_the_old_run_in_place(doccluster, tiny, tmp_path, monkeypatch):
    output = tmp_path / "out"
    assert doccluster("run", tiny, "-o", output, "-k", 2).code == 0
    before = {path.name: path.stat().st_mtime_ns for path in output.iterdir()}

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("doccluster.results.run_folder.save_evaluation", full)
    one_sentence(doccluster("run", tiny, "-o", output, "-k", 3, "--overwrite"), 2, "No space left")
    one_sentence(doccluster("run", tiny, "-o", tmp_path / "new", "-k", 3), 2, "No space left")
    assert {path.name: path.stat().st_mtime_ns for path in output.iterdir()} == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "command",
    [
        ["run", "nowhere", "-o"],
        ["cluster", "nowhere.npz", "-o"],
        ["choose-k", "nowhere", "-o"],
        ["compare", "nowhere", "-o"],
        ["compare", "nowhere", "-o", "out", "--checkpoint"],
        ["vectorize", "nowhere", "-o"],
        ["assign", "nowhere", "nowhere", "-o"],
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anything_is_read(doccluster, tmp_path, command):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    done = doccluster(*command, tmp_path / "file" / "x.npz")
    one_sentence(done, 2, "cannot be written", "choose another")
    assert "nowhere" not in done.err
    if command[0] in ("assign", "vectorize"):
        (tmp_path / "folder.npz").mkdir()
        one_sentence(doccluster(*command, tmp_path / "folder.npz", "--overwrite"), 2, "is a folder")
        one_sentence(doccluster(*command, tmp_path / "no" / "x.npz"), 2, "there is no folder")


def raise_full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_under_choose_k_and_compare_is_one_sentence(doccluster, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.report.figures.stability_chart", raise_full)
    chosen = doccluster("choose-k", tiny, "-o", tmp_path / "out", "--k", "2-3")
    assert "No space left" in chosen.err
    assert chosen.code == 2
    monkeypatch.setattr("doccluster.lab.comparing._draw_bars", raise_full)
    one = ["--algorithm", "spherical-kmeans", "--seeds", 1]
    one_sentence(doccluster("compare", tiny, "-o", tmp_path / "out", *one), 2, "No space left")


def test_pieces_that_cannot_be_kept_are_told(tmp_path):
    pieces = Checkpoint(tmp_path / "pieces", fingerprint="x")
    (tmp_path / "pieces" / "fingerprint").unlink()
    (tmp_path / "pieces").rmdir()
    with pytest.raises(InputError, match=r"finished pieces cannot be kept in .*pieces: No such file"):
        pieces.save("one", {})
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="choose another folder for checkpoint"):
        Checkpoint(tmp_path / "file", fingerprint="x")


def test_a_full_disk_leaves_the_old_report_and_table_in_place(doccluster, finished, tiny, tmp_path, monkeypatch):
    folder = copy_of(finished, tmp_path)
    before = (folder / "report.html").read_bytes()

    def half(_, path, **options):
        path.write_text("half", encoding="utf-8")
        raise_full()

    monkeypatch.setattr("doccluster.report.write_report", half)
    one_sentence(doccluster("report", folder), 2, "report.html", "No space left")
    assert (folder / "report.html").read_bytes() == before
    (tmp_path / "new.csv").write_text("mine", encoding="utf-8")
    monkeypatch.setattr("doccluster.base.text_table.write_csv", half)
    done = doccluster("assign", finished, tiny, "-o", tmp_path / "new.csv", "--overwrite")
    one_sentence(done, 2, "new.csv", "No space left")
    assert (tmp_path / "new.csv").read_text(encoding="utf-8") == "mine"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["copy", "new.csv"]


def copy_of(finished, tmp_path):
    import shutil

    return shutil.copytree(finished, tmp_path / "copy")


@pytest.mark.parametrize("name", ["centroids.npz", "vectorizer.npz", "model.json"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.95])
def test_a_truncated_model_file(doccluster, finished, tiny, tmp_path, name, kept):
    folder = copy_of(finished, tmp_path)
    path = folder / "model" / name
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    one_sentence(doccluster("assign", folder, tiny), 2, name)


@pytest.mark.parametrize("name", ["vectors.npz", "partition.npz", "documents.json", "clusters.json", "evaluation.npz"])
def test_a_truncated_run_file(doccluster, finished, tmp_path, name):
    folder = copy_of(finished, tmp_path)
    path = folder / "model" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    one_sentence(doccluster("explain", folder), 2, name, "damaged")


@pytest.mark.parametrize("name", ["model/model.json", "run.json"])
def test_a_file_from_a_newer_schema(doccluster, finished, tmp_path, name):
    folder = copy_of(finished, tmp_path)
    record = json.loads((folder / name).read_text(encoding="utf-8"))
    (folder / name).write_text(json.dumps({**record, "schema": 99}), encoding="utf-8")
    one_sentence(doccluster("explain", folder), 2, "schema version 99", "newer", "upgrade")


FILES = [
    "run.json",
    *(f"model/{name}.json" for name in ("model", "documents", "clusters", "evaluation")),
    *(f"model/{name}.npz" for name in ("centroids", "vectorizer", "vectors", "partition", "evaluation")),
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"schema": 1}', bytes(range(256))])
def test_a_damaged_or_missing_file_of_a_run_says_what_to_do_next(doccluster, finished, tmp_path, name, content):
    folder = copy_of(finished, tmp_path)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    again = "make the run again" if name == "run.json" else f"doccluster rerun {folder / 'run.json'} -o NEW_FOLDER"
    one_sentence(doccluster("report", folder, "-o", tmp_path / "page.html"), 2, name, again)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".npz")])
def test_arrays_of_a_run_that_do_not_fit_are_damage(doccluster, finished, tmp_path, name):
    folder = copy_of(finished, tmp_path)
    with np.load(folder / name) as file:
        arrays = {key: file[key] for key in file.files}
    for key in arrays:
        is_name = name == "model/vectors.npz" and key.endswith(("_characters", "_ends"))  # a run has them elsewhere
        if is_name or ".per_class" in key or ".per_pair" in key or not arrays[key].size or arrays[key].ndim == 0:
            continue
        np.savez(folder / name, **{**arrays, key: arrays[key][:-1]})
        one_sentence(doccluster("report", folder, "-o", tmp_path / "page.html"), 2, "damaged", "doccluster rerun")


@pytest.mark.parametrize("key", ["labels", "runner_up"])
@pytest.mark.parametrize("number", [-2, 3])
def test_a_cluster_number_out_of_range_is_damage(doccluster, finished, tmp_path, key, number):
    folder = copy_of(finished, tmp_path)
    with np.load(folder / "model" / "partition.npz") as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(folder / "model" / "partition.npz", **{**arrays, key: np.full_like(arrays[key], number)})
    one_sentence(doccluster("report", folder, "-o", tmp_path / "page.html"), 2, "partition.npz", key, "rerun")


def test_terms_that_come_twice_are_damage(doccluster, finished, tiny, tmp_path):
    folder = copy_of(finished, tmp_path)
    path = folder / "model" / "vectorizer.npz"
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(path, **{**arrays, "term_characters": np.zeros_like(arrays["term_characters"])})
    one_sentence(doccluster("assign", folder, tiny), 2, "vectorizer.npz", "damaged", "rerun")


@pytest.mark.parametrize(
    ("part", "name"), [("counts", "n_terms"), ("provenance", "seed"), ("provenance", "versions"), ("parameters", None)]
)
def test_a_damaged_run_json_is_refused_before_the_run_is_repeated(doccluster, finished, tmp_path, part, name):
    folder = copy_of(finished, tmp_path)
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    if name is None:
        record[part]["n_clusterz"] = record[part].pop("n_clusters")
    else:
        del record[part][name]
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    one_sentence(doccluster("rerun", folder), 2, "or was changed", name or "n_clusterz", "make the run again")


def test_a_pickle_in_place_of_an_array_is_never_loaded(doccluster, finished, tiny, tmp_path):
    folder = copy_of(finished, tmp_path)
    np.savez(folder / "model" / "centroids.npz", data=np.array([{"evil": 1}], dtype=object))
    one_sentence(doccluster("assign", folder, tiny), 2, "centroids.npz")


def test_a_model_that_is_not_there(doccluster, tiny, tmp_path):
    one_sentence(doccluster("assign", tmp_path / "nothing", tiny), 2, "nothing")
    one_sentence(doccluster("explain", tiny, 0), 2, "model.json")


def test_a_cluster_that_is_not_there(doccluster, finished):
    one_sentence(doccluster("explain", finished, 7), 2, "'7'", "0 to 2")


TOLD_FIT = """
import os, pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite run in the background has it ignored
from dataclasses import replace
from doccluster.cli.main import main
from doccluster.clustering.smoothed import document_clusters

fit = document_clusters.spherical_k_means
def told(matrix, parameters, **more):
    # the first word of progress comes after an iteration: the parent sends the signal when it sees this file
    progress = lambda stage, done, total=None: pathlib.Path(os.environ["STARTED"]).touch()
    return fit(matrix, replace(parameters, progress=progress), **more)
document_clusters.spherical_k_means = told
main(sys.argv[1:])
"""


def test_ctrl_c_during_a_fit_saves_the_best_so_far_and_exits_130(copies, tmp_path):
    generator = np.random.default_rng(0)
    rows = sparse.random_array((4000, 2000), density=0.02, random_state=generator, format="csr")
    sparse.save_npz(tmp_path / "x.npz", rows)
    output, started = tmp_path / "out", tmp_path / "started"
    arguments = ["cluster", "x.npz", "-k", "40", "-o", "out", "--algorithm", "smoothed:init=random,n_init=3000"]
    further = ["--measures", "silhouette", "--no-report", "--json"]
    process = copies.start(TOLD_FIT, *arguments, *further, cwd=tmp_path, STARTED=started)
    for _ in range(2400):
        if started.exists():
            break
        time.sleep(0.05)
    time.sleep(1)
    os.kill(process.pid, signal.SIGINT)
    ended = process.ended()
    out, err = ended.stdout, ended.stderr
    assert ended.returncode == 130, err
    assert err.splitlines()[-1] == "interrupted; what was done until then is in out"
    assert json.loads(out)["interrupted"] is True
    record = json.loads((output / "run.json").read_text(encoding="utf-8"))
    assert record["provenance"]["interrupted"] is True
    assert record["counts"]["n_clusters"] == 40
    assert len((output / "assignments.csv").read_text(encoding="utf-8").splitlines()) == 4001


def stopped(*_, **__):
    raise KeyboardInterrupt


def test_ctrl_c_says_that_nothing_was_written_where_that_is_so(doccluster, finished, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.pipeline.in_process.read_documents", stopped)
    monkeypatch.setattr("doccluster.pipeline.inspecting.read_source", stopped)
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*")}
    for command, told in (
        (("run", tiny, "-o", tmp_path / "new"), "interrupted; nothing was written"),
        (("run", tiny, "-o", finished, "--overwrite"), "interrupted; nothing was written"),
        (("inspect", tiny), "interrupted"),
    ):
        done = doccluster(*command)
        assert (done.code, done.out, done.err.strip()) == (130, "", told)
    assert not list(tmp_path.iterdir())
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*")} == before


def test_ctrl_c_says_where_the_batches_are_that_came_in_before(doccluster, newsroom, tmp_path, monkeypatch):
    from doccluster.streams import article, stream

    store, whole, few = tmp_path / "store.db", tmp_path / "whole.db", tmp_path / "articles.jsonl"
    few.write_text("".join(newsroom.read_text(encoding="utf-8").splitlines(keepends=True)[:24]), encoding="utf-8")
    replay = ("stream", "replay", few, "--batch", "1d", "--store")
    assert doccluster(*replay, whole).code == 0
    n_called, take_in = itertools.count(), stream.take_in
    monkeypatch.setattr(article, "ARTICLES_PER_COMMIT", 4)
    monkeypatch.setattr(stream, "take_in", lambda *each: take_in(*each) if next(n_called) != 9 else stopped())
    done = doccluster(*replay, store)
    assert (done.code, done.err.strip()) == (130, f"interrupted; what was done until then is in {store}")
    with contextlib.closing(sqlite3.connect(store)) as connection:
        (n_stored,) = connection.execute("SELECT COUNT(*) FROM document").fetchone()
    assert 0 < n_stored < 10
    assert doccluster("stream", "check", "--store", store).code == 0
    assert doccluster(*replay, store).code == 0
    exports = [doccluster("stream", "export", "--store", path, "-o", f"{path}-csv") for path in (store, whole)]
    assert [export.code for export in exports] == [0, 0]
    tables = [(tmp_path / f"{path.name}-csv" / "documents.csv").read_bytes() for path in (store, whole)]
    assert tables[0] == tables[1]


def test_every_one_of_our_errors_is_an_input_error_for_callers_in_python(tiny, tmp_path):
    from doccluster import run as run_pipeline

    with pytest.raises(InputError, match="n_clusters=12"):
        run_pipeline(tiny, n_clusters=12)
