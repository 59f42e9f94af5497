"""How good labels are: of a run, of documents with classes, and what is refused."""

from __future__ import annotations

import json

import pytest

from doccluster import run
from doccluster.errors import InputError
from experiments.labels.of_a_run import evaluate_labels, main, read_synonyms


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


def test_the_classes_of_documents_are_labelled_and_judged(classes):
    found = evaluate_labels(classes)
    assert [one.class_name for one in found.labels] == ["rec.boats", "rec.bread"]
    assert found.scores.n_named == 2
    assert found.scores.match[3] == 0.5  # boats; "rye bread" is not "bread"
    assert found.scores.precision == 1.0
    other = evaluate_labels(classes, synonyms={"rec.boats": ["ship"], "rec.bread": ["Rye Bread"]})
    assert [one.terms[0] for one in other.labels] == ["boats", "rye bread"]
    assert other.scores.match[1] == 0.5


def test_the_clusters_of_a_run_have_the_class_of_most_of_their_documents(classes, tmp_path, capsys):
    run(classes, n_clusters=2, truth="class", output=tmp_path / "run", report=False)
    main([str(tmp_path / "run")])
    shown = capsys.readouterr().out.splitlines()
    assert ["Match@5", "0.500"] in [line.split() for line in shown]
    assert any(line.endswith("rec.bread: rye bread") for line in shown)


def test_a_run_without_classes_is_judged_by_searches_alone(tmp_path):
    run(["boats and nets", "nets of boats", "rye bread", "bread of rye"], n_clusters=2, output=tmp_path, report=False)
    found = evaluate_labels(tmp_path).scores
    assert (found.n_named, found.match, found.first_found) == (0, {}, 1.0)
    with pytest.raises(InputError, match="there is no column of classes 'topic'"):
        evaluate_labels(tmp_path, truth="topic")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ('["car"]', "is not a list"),
        ('{"a": "b"}', "is not a list"),
        ('{"a": []}', "is not a list"),
    ],
)
def test_a_file_of_names_that_is_none_is_refused_in_a_sentence(tmp_path, content, message):
    path = tmp_path / "names.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_synonyms(path)
