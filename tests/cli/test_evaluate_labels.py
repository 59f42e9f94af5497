"""`evaluate labels`: of a run, of documents with classes, of a ready matrix, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    path = tmp_path_factory.mktemp("classes") / "documents.jsonl"
    texts = {
        "rec.boats": ["herring boats in the harbour", "the harbour pier and the boats", "storm nets and boats"],
        "rec.bread": ["rye bread from the oven", "the baker bakes rye bread", "flour and rye bread for the oven"],
    }
    records = [{"text": text, "class": name} for name, own in texts.items() for text in own]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_the_classes_of_documents_are_labelled_and_judged(doccluster, classes, tmp_path):
    found = json.loads(doccluster("evaluate", "labels", classes, "--json").out)
    assert [one["class_name"] for one in found["labels"]] == ["rec.boats", "rec.bread"]
    assert found["scores"]["n_named"] == 2
    assert found["scores"]["match"]["3"] == 0.5  # boats; "rye bread" is not "bread"
    assert found["scores"]["precision"] == 1.0
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"rec.boats": ["ship"], "rec.bread": ["Rye Bread"]}), encoding="utf-8")
    other = json.loads(doccluster("evaluate", "labels", classes, "--synonyms", names, "--json").out)
    assert [one["terms"][0] for one in other["labels"]] == ["boats", "rye bread"]
    assert other["scores"]["match"]["1"] == 0.5


def test_the_clusters_of_a_run_have_the_class_of_most_of_their_documents(doccluster, classes, tmp_path):
    done = doccluster("run", classes, "-k", "2", "--truth", "class", "-o", tmp_path / "run", "--no-report")
    assert done.code == 0
    shown = doccluster("evaluate", "labels", tmp_path / "run")
    assert shown.code == 0
    assert re.search(r"Match@5 +0\.500\n", shown.out)
    assert re.search(r"\d  rec\.bread  rye bread\n", shown.out)
    table = (tmp_path / "run" / "clusters.csv").read_text(encoding="utf-8")
    header, first = (line.split(",") for line in table.split("\n")[:2])
    assert "label_scores" in header
    assert any(re.fullmatch(r'"?(boats|rye bread) [01]\.\d{4}"?', cell) for cell in first)


def test_a_run_without_classes_is_judged_by_searches_alone(doccluster, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, text in enumerate(["boats and nets", "nets of boats", "rye bread", "bread of rye"]):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    assert doccluster("run", folder, "-k", "2", "-o", tmp_path / "run", "--no-report").code == 0
    found = json.loads(doccluster("evaluate", "labels", tmp_path / "run", "--json").out)
    assert found["scores"]["n_named"] == 0
    assert found["scores"]["match"] == {}
    assert found["scores"]["first_found"] == 1.0
    asked = doccluster("evaluate", "labels", tmp_path / "run", "--truth-column", "topic")
    assert asked.code == 2
    assert "there is no column of classes 'topic'" in asked.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ('["car"]', "is not a list of names"),
        ('{"rec.boats": "boat"}', "is not a list of names"),
        ('{"rec.boats": []}', "is not a list of names"),
    ],
)
def test_a_file_of_names_that_is_none_is_refused_in_a_sentence(doccluster, classes, tmp_path, content, message):
    path = tmp_path / "names.json"
    path.write_text(content, encoding="utf-8")
    done = doccluster("evaluate", "labels", classes, "--synonyms", path)
    assert done.code == 2
    assert message in done.err


def test_options_of_label_files_and_of_labels_are_not_mixed(doccluster, classes, tmp_path):
    assert "take one --truth-column" in doccluster("evaluate", "labels", classes, "--truth", classes).err
    assert "evaluate labels RUN" in doccluster("evaluate", "other", classes).err
    assert "evaluate labels RUN" in doccluster("evaluate", classes, "--synonyms", "x.json", "--truth", classes).err
    plain = tmp_path / "plain.txt"
    plain.write_text("boats\nbread\n", encoding="utf-8")
    assert "no columns of classes" in doccluster("evaluate", "labels", plain).err
