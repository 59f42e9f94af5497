"""`assign` reads as the run did, and says which documents fit no cluster of the run."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from doccluster.clustering.task import learn_threshold, leave_one_out_similarity
from doccluster.errors import InputError
from doccluster.pipeline.assigning import assign_documents
from doccluster.results.run_folder import load_run
from doccluster.results.run_model import load_model

STORIES = {
    "bread": ["baker bread flour oven", "bread flour mill oven", "baker flour mill bread", "oven bread baker rolls"],
    "harbour": ["ship storm pier nets", "storm pier boats ship", "nets boats pier storm", "ship boats nets storm"],
}
OTHERS = ["election ballot votes baker", "ballot parliament votes count"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write_table(path, *, encoding="cp1252", delimiter=";"):
    """Write a table with markup in its text column, another encoding and another delimiter."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["nummer", "überschrift", "inhalt", "bemerkung"])
        for story, texts in STORIES.items():
            for place, text in enumerate(texts):
                marked = " ".join(f'<span class="article headline">{word}</span>' for word in text.split())
                writer.writerow([f"{story}-{place}", f"Über {story}", marked, "wörter " * 30])
    return path


READING = (
    *("--column", "text=inhalt", "--column", "id=nummer", "--column", "title=überschrift", "--strip-html"),
    *("--encoding", "cp1252", "--format", "csv:delimiter=;"),
)


@pytest.fixture
def table_run(doccluster, tmp_path):
    done = doccluster("run", write_table(tmp_path / "t.csv"), "-o", tmp_path / "out", "-k", 2, "--no-report", *READING)
    assert done.code == 0, done.err
    return tmp_path / "out"


def test_the_files_of_a_run_come_back_to_their_own_clusters_without_any_option(doccluster, table_run):
    done = doccluster("assign", table_run, table_run.parent / "t.csv")
    assert done.code == 0, done.err
    with (table_run / "assignments.csv").open(encoding="utf-8", newline="") as file:
        then = {row["id"]: (row["cluster"], row["similarity"], row["title"]) for row in csv.DictReader(file)}
    assert {row["id"]: (row["cluster"], row["similarity"], row["title"]) for row in rows_of(done.out)} == then
    assert all(float(row["unknown"]) == 0 for row in rows_of(done.out))


def test_an_option_goes_before_what_the_run_was_told(doccluster, table_run, tmp_path):
    other = write_table(tmp_path / "other.csv", encoding="utf-8", delimiter=",")
    done = doccluster("assign", table_run, other, "--encoding", "utf-8", "--format", "csv:delimiter=comma")
    assert [row["title"] for row in rows_of(done.out)] == ["Über bread"] * 4 + ["Über harbour"] * 4
    assert all(float(row["unknown"]) == 0 for row in rows_of(done.out))


def test_reading_as_the_run_did_can_be_switched_off(doccluster, table_run, tmp_path):
    (tmp_path / "new.jsonl").write_text(json.dumps({"text": STORIES["bread"][0]}) + "\n", encoding="utf-8")
    assert doccluster("assign", table_run, tmp_path / "new.jsonl").code == 2
    done = doccluster("assign", table_run, tmp_path / "new.jsonl", "--not-as-run")
    assert rows_of(done.out)[0]["unknown"] == "0.0"


@pytest.fixture
def story_run(doccluster, tmp_path):
    texts = [text for story in STORIES.values() for text in story]
    source = tmp_path / "texts.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    assert doccluster("run", source, "-o", tmp_path / "out", "-k", 2, "--no-report").code == 0
    return tmp_path / "out"


def write_new(path):
    texts = [STORIES["bread"][0], *OTHERS, "zzzz"]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return path


def test_what_fits_no_cluster_is_new_and_counted(doccluster, story_run, tmp_path):
    done = doccluster("assign", story_run, write_new(tmp_path / "new.jsonl"))
    assert [row["new"] for row in rows_of(done.out)] == ["False", "True", "True", "True"]
    assert [row["unknown"] for row in rows_of(done.out)] == ["0.0", "0.75", "1.0", "1.0"]
    assert done.err.startswith("3 of 4 documents are new: similarity below 0.")
    assert "; 31 % of their words are known" in done.err
    done = doccluster("assign", story_run, tmp_path / "new.jsonl", "-o", tmp_path / "new.csv")
    assert "3 of 4 documents are new" in done.out


def test_another_threshold_makes_other_documents_new(doccluster, story_run, tmp_path):
    new = write_new(tmp_path / "new.jsonl")
    told = json.loads(doccluster("assign", story_run, new, "--threshold", "0.99", "--json").out)
    assert (told["n_new"], told["threshold"]) == (4, 0.99)
    told = json.loads(doccluster("assign", story_run, new, "--threshold", "-1", "--json").out)
    assert [row["new"] for row in told["documents"]] == [False, False, True, True], (
        "without known terms it fits nowhere"
    )
    assert doccluster("assign", story_run, new, "--threshold", "2").code == 2
    with pytest.raises(InputError, match="not a cosine"):
        assign_documents(story_run, ["bread"], threshold=2)


def test_the_threshold_of_a_run_is_a_quantile_of_its_documents_without_themselves(story_run):
    run = load_run(story_run)
    rows, labels = run.vectors.matrix.toarray().astype(np.float64), run.partition.labels
    alone = []
    for row, label in enumerate(labels):
        others = rows[[other for other in np.flatnonzero(labels == label) if other != row]].sum(axis=0)
        alone.append(rows[row] @ others / np.linalg.norm(others))
    np.testing.assert_allclose(leave_one_out_similarity(labels, run.similarity), alone, atol=1e-6)
    assert load_model(story_run).threshold == pytest.approx(np.quantile(alone, 0.1), abs=1e-6)


def test_a_run_whose_clusters_are_single_documents_has_no_threshold():
    assert learn_threshold(np.array([0, 1]), np.array([1.0, 1.0])) is None
    np.testing.assert_array_equal(leave_one_out_similarity(np.array([0, 1, 1]), np.array([1.0, 1.0, 1.0]))[0], np.nan)


def test_copies_do_not_raise_the_threshold():
    cosines = np.cos(np.radians([30.0, 30.0]))
    labels, similarity = np.array([0, 0, 1, 1]), np.array([*cosines, 1.0, 1.0])
    assert learn_threshold(labels, similarity, counted=np.array([True, True, False, False])) == pytest.approx(0.5)


def test_a_model_whose_settings_are_damaged_is_refused(doccluster, newsroom, tmp_path):
    assert doccluster("run", newsroom, "-k", 5, "--quality", "fast", "-o", tmp_path / "run").code == 0
    path = tmp_path / "run" / "model" / "model.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "settings": {**record["settings"], "vectorizer": "x"}}), encoding="utf-8")
    done = doccluster("assign", tmp_path / "run", newsroom)
    assert done.code != 0
    assert "the settings of its vectorizer are no mapping" in done.err
