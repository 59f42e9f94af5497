"""An editor's names and merges: in every table, the model and the report, and taken back without a trace."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry.partition import Partition
from doccluster.labeling import contrast_clusters
from doccluster.measures import score
from doccluster.results.run_folder import load_run
from doccluster.vectors import DocumentVectors


@pytest.fixture
def edited(finished, tmp_path):
    """A copy of a finished run that may be changed."""
    return shutil.copytree(finished, tmp_path / "run")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_name_stands_in_tables_model_report_and_in_what_is_assigned_later(doccluster, edited, finished, tiny):
    done = doccluster("label", edited, 1, "Rye prices")
    assert done.code == 0, done.err
    assert "cluster 1 is now called Rye prices" in done.out
    before, named = rows_of(finished / "clusters.csv")[1], rows_of(edited / "clusters.csv")[1]
    assert named["name"] == "Rye prices"
    assert named["headline"] == before["headline"]
    assert named["label"] == ", ".join(before["terms"].split(", ")[:3])
    assert "Rye prices" in (edited / "report.html").read_text(encoding="utf-8")
    assert doccluster("report", edited, "-o", edited / "again.html").code == 0
    assert "Rye prices" in (edited / "again.html").read_text(encoding="utf-8")
    told = json.loads(doccluster("assign", edited, tiny, "--json").out)
    assert {row["label"] for row in told["documents"] if row["cluster"] == 1} == {"Rye prices"}
    assert "cluster 1: Rye prices\n" in doccluster("explain", edited, 1).out


def test_merged_clusters_are_one_everywhere(doccluster, edited, finished, tiny):
    before = load_run(finished)
    assert doccluster("label", edited, 2, "Orchards").code == 0
    done = doccluster("merge", edited, 0, 2)
    assert done.code == 0, done.err
    run = load_run(edited)
    both = np.isin(before.partition.labels, (0, 2))
    assert [one.size for one in run.clusters] == [6, 3]
    np.testing.assert_array_equal(run.partition.labels, np.where(both, 0, 1))
    assert run.clusters[0].label == "Orchards", "the name an editor gave stays"
    assert run.clusters[1].label == before.clusters[1].label
    assert [row["size"] for row in rows_of(edited / "clusters.csv")] == ["6", "3"]
    assert {row["cluster"] for row in rows_of(edited / "assignments.csv")} == {"0", "1"}
    rows = before.vectors.matrix.toarray().astype(np.float64)
    direction = rows[both].sum(axis=0)
    direction /= np.linalg.norm(direction)
    np.testing.assert_allclose(run.centroids.toarray()[0], direction, atol=1e-6)
    np.testing.assert_allclose(run.similarity[both], rows[both] @ direction, atol=1e-6)
    told = json.loads(doccluster("assign", edited, tiny, "--json").out)
    assert [row["cluster"] for row in told["documents"]] == run.partition.labels.tolist()


def test_scores_are_those_of_the_merged_clusters(doccluster, edited):
    assert doccluster("merge", edited, 0, 2).code == 0
    run = load_run(edited)
    truth = [own[0] for own in run.documents.labels["class"]]
    expected = score("adjusted_rand", run.partition.labels.tolist(), truth=truth).value
    assert run.evaluation.get("adjusted_rand").value == pytest.approx(expected)
    by_name = {row["measure"]: row["value"] for row in rows_of(edited / "scores.csv")}
    assert float(by_name["adjusted_rand"]) == pytest.approx(expected)
    assert expected < 0.9


def test_undo_takes_back_one_edit_at_a_time_and_leaves_no_trace(doccluster, edited):
    before = files_of(edited)
    doccluster("label", edited, 0, "Fish")
    named = files_of(edited)
    doccluster("merge", edited, 1, 2)
    assert (edited / "edits.json").is_file()
    assert "undone: merge 1 2" in doccluster("undo", edited).out
    after_one = files_of(edited)
    assert {name for name in named if named[name] != after_one.get(name)} <= {p for p in named if p.suffix == ".npz"}
    assert doccluster("undo", edited).code == 0
    after = files_of(edited)
    assert set(after) == set(before)
    texts = [name for name in before if name.suffix in (".csv", ".json")]
    assert all(after[name] == before[name] for name in texts)
    done = doccluster("undo", edited)
    assert done.code == 2
    assert "no edit to undo" in done.err


def test_a_run_with_edits_is_repeated_as_it_was_made(doccluster, edited):
    doccluster("merge", edited, 0, 1)
    done = doccluster("rerun", edited)
    assert done.code == 0, done.out
    assert "the same labels for 9 documents in 3 clusters" in done.out


def test_an_edit_keeps_the_other_files_of_the_folder(doccluster, edited):
    (edited / "notes.txt").write_text("mine", encoding="utf-8")
    doccluster("label", edited, 0, "Fish")
    assert (edited / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert [entry.name for entry in edited.parent.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("label", "9", "Fish"), "no cluster 9"),
        (("label", "0", " "), "cannot be a label"),
        (("label", "0", "two\nlines"), "cannot be a label"),
        (("label", "0", "x" * 201), "cannot be a label"),
        (("merge", "1"), "give two or more"),
        (("merge", "1", "1"), "give two or more"),
        (("merge", "1", "7"), "no cluster 7"),
    ],
)
def test_an_edit_that_cannot_be_made_changes_nothing(doccluster, edited, arguments, words):
    before = files_of(edited)
    verb, *rest = arguments
    done = doccluster(verb, edited, *rest)
    assert done.code == 2
    assert words in done.err
    assert files_of(edited) == before


def test_two_clusters_may_not_have_one_name(doccluster, edited):
    doccluster("label", edited, 0, "Fish")
    done = doccluster("label", edited, 1, "Fish")
    assert done.code == 2
    assert "cluster 0 is called 'Fish' already" in done.err


@pytest.mark.parametrize(
    "content",
    [
        '{"schema": 1, "edits": [{"verb": "delete", "clusters": [0]}]}',
        '{"schema": 1, "edits": [{"verb": "merge", "clusters": ["0", "1"]}]}',
        '{"schema": 1, "edits": {"verb": "merge"}}',
        "[]",
        "{",
    ],
)
def test_a_damaged_list_of_edits_is_one_sentence(doccluster, edited, content):
    (edited / "edits.json").write_text(content, encoding="utf-8")
    done = doccluster("undo", edited)
    assert done.code == 2
    assert "edits.json is damaged" in done.err


def test_two_clusters_are_compared_by_what_they_share_and_what_separates_them(doccluster, finished):
    told = json.loads(doccluster("explain", finished, 0, 1, "--json").out)
    run = load_run(finished)
    one, other = (run.centroids.toarray()[k].astype(np.float64) for k in (0, 1))
    assert told["similarity"] == pytest.approx(one @ other, abs=1e-6)
    for part, values, whole in (
        ("shared", one * other, one @ other),
        ("first_only", np.clip(one - other, 0, None) ** 2, (one - other) @ (one - other)),
        ("second_only", np.clip(other - one, 0, None) ** 2, (one - other) @ (one - other)),
    ):
        expected = np.sort(values)[::-1][: len(told[part])] / whole
        np.testing.assert_allclose([term["share"] for term in told[part]], expected, atol=1e-6)
    margins = {}
    rows = run.vectors.matrix.toarray().astype(np.float64)
    for row, label in enumerate(run.partition.labels):
        if label in (0, 1):
            margins[run.documents.ids[row]] = abs(rows[row] @ (one - other))
    nearest = sorted(margins, key=margins.get)[:5]
    assert [document["id"] for document in told["between"]] == nearest
    text = doccluster("explain", finished, 0, 1).out
    terms = [told[part][0]["term"] for part in ("shared", "first_only", "second_only")]
    for words in (
        *terms,
        "they share (share of the cosine)",
        "more in 0",
        "more in 1",
        "nearest to the border (margin",
    ):
        assert words in text


def test_what_two_clusters_share_is_their_part_of_the_cosine():
    rows = np.array([[0.8, 0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]])
    vectors = DocumentVectors(sparse.csr_array(rows), ("a", "b", "c"), np.array(["oil", "sea", "fish"], dtype=object))
    partition = Partition(np.array([0, 0, 1]), (0, 1))
    found = contrast_clusters(vectors, partition, np.array([[0.6, 0.8, 0.0], [0.0, 0.6, 0.8]]), 0, 1)
    assert found.similarity == pytest.approx(0.48)
    assert [(term.term, round(term.share, 6)) for term in found.shared] == [("sea", 1.0)]
    assert [(term.term, round(term.share, 6)) for term in found.first_only] == [
        ("oil", round(0.36 / 1.04, 6)),
        ("sea", round(0.04 / 1.04, 6)),
    ]
    assert [(term.term, round(term.share, 6)) for term in found.second_only] == [("fish", round(0.64 / 1.04, 6))]
    assert [round(one.margin, 6) for one in found.between] == [0.52, 0.52, 0.6]
    assert {one.row: one.cluster for one in found.between} == {0: 0, 1: 0, 2: 1}


@pytest.mark.parametrize(("numbers", "words"), [((0, 0), "the same cluster"), ((0, 9), "no cluster '9'")])
def test_clusters_that_cannot_be_compared(doccluster, finished, numbers, words):
    done = doccluster("explain", finished, *numbers)
    assert done.code == 2
    assert words in done.err


def test_undo_in_a_folder_that_is_not_there_says_so(doccluster, tmp_path):
    done = doccluster("undo", tmp_path / "nowhere")
    assert done.code == 2
    assert "nowhere is not there; give the folder of a finished run" in done.err
