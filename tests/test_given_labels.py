"""A run of the clusters that another program found: named, judged, and open to new documents."""

from __future__ import annotations

import json

import numpy as np
import pytest

import doccluster
from doccluster.cli.main import main
from doccluster.errors import InputError
from doccluster.pipeline.repeating import repeat_run

KINDS = (("ship", "harbour", "cargo", "anchor"), ("bread", "oven", "flour", "yeast"), ("pawn", "queen", "knight"))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Return 36 texts of three kinds in a file, and labels of another program: texts and numbers, some without."""
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("given")
    texts = [" ".join(rng.choice(KINDS[row % 3], 3)) for row in range(36)]
    labels = [("sea", "kitchen", "7")[row % 3] for row in range(36)]
    labels[4] = labels[9] = "-1"
    labels[3] = "kitchen"  # the other program may be wrong
    records = [{"id": f"t{row}", "text": text} for row, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, records)))
    lines = [f"t{row},{labels[row]}" for row in rng.permutation(36)]
    (folder / "labels.csv").write_text("\n".join(["id,topic", *lines]))
    return folder, texts, labels


def test_clusters_are_the_labels_with_names_and_scores(source, tmp_path):
    folder, _, labels = source
    run = doccluster.run(folder / "texts.jsonl", labels=folder / "labels.csv", output=tmp_path / "run")
    given = np.array(labels)
    assert run.n_clusters == 3
    assert np.flatnonzero(run.is_other).tolist() == [4, 9]
    has = given != "-1"
    assert doccluster.score("ari", run.partition.labels[has], truth=given[has]).value == 1
    words = {name: set(kind) for name, kind in zip(("sea", "kitchen", "7"), KINDS, strict=True)}
    for cluster in run.clusters:
        name = given[has][run.partition.labels[has] == cluster.cluster][0]
        assert {term.term for term in cluster.descriptive[:2]} <= words[name]
    assert run.partition.labels[9] == run.partition.labels[0]  # the nearest
    expected = doccluster.evaluate(run.partition, vectors=run.vectors)["silhouette"].value
    assert run.evaluation["silhouette"].value == pytest.approx(expected)
    assert doccluster.load_run(tmp_path / "run").documents.labels["given"][3] == ("kitchen",)
    assert repeat_run(tmp_path / "run").differences == ()
    found = doccluster.assign(tmp_path / "run", ["queen and pawn", "oven bread"])["cluster"]
    assert found.tolist() == [run.partition.labels[2], run.partition.labels[1]]


def test_a_report_of_labels_needs_no_run(source, tmp_path, capsys):
    folder, _, _ = source
    page = tmp_path / "page.html"
    asked = ["report", "--labels", str(folder / "labels.csv"), str(folder / "texts.jsonl"), "--json"]
    with pytest.raises(SystemExit, match="0"):
        main([*asked, "-o", str(page), "--no-map"])
    told = json.loads(capsys.readouterr().out)
    assert (told["output"], told["n_documents"], told["n_clusters"]) == (str(page), 36, 3)
    assert "queen" in page.read_text(encoding="utf-8")
    for wrong in ([*asked, "--with-texts"], ["report", str(folder), str(folder)]):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)


def test_labels_in_memory_are_in_the_order_of_the_documents_and_may_be_numbers(source, tmp_path):
    _, texts, labels = source
    numbers = np.array([{"sea": 5, "kitchen": 0, "7": 7, "-1": -1}[one] for one in labels])
    run = doccluster.run(texts, labels=numbers, other=False, output=tmp_path / "run", report=False)
    assert run.is_other is None
    assert run.method == "the labels in memory"
    embedded = doccluster.run(texts, labels=numbers, embeddings=np.random.default_rng(0).normal(size=(36, 3)))
    assert np.array_equal(embedded.partition.labels, run.partition.labels)
    assert not any("Clustered by" in note for note in embedded.notes)
    assert doccluster.run(texts, n_clusters=3).method == "smoothed"
    kept = numbers >= 0
    assert doccluster.score("ari", run.partition.labels[kept], truth=numbers[kept]).value == 1
    with pytest.raises(InputError, match="labels in memory"):
        repeat_run(tmp_path / "run")


def test_the_command_says_whose_clusters_they_are(source, tmp_path, capsys):
    folder, *_ = source
    asked = ["run", str(folder / "texts.jsonl"), "--labels", str(folder / "labels.csv"), "-o", str(tmp_path / "run")]
    with pytest.raises(SystemExit, match="0"):
        main([*asked, "--no-report"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "the labels in" in shown
    assert "3 clusters" in shown


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["a"] * 35, "35 rows for 36 documents"),
        ([-1] * 36, "no document has a cluster"),
        ([["a", "b"], *["a"] * 35], "several labels"),
    ],
)
def test_labels_that_do_not_fit_are_refused(source, labels, told):
    with pytest.raises(InputError, match=told):
        doccluster.run(source[1], labels=labels)


def test_labels_and_a_number_of_clusters_are_one_too_many(source):
    with pytest.raises(InputError, match="say what the clusters are; leave out n_clusters"):
        doccluster.run(source[1], labels=[0] * 36, n_clusters=3)


def test_labels_that_lack_a_document_ask_for_one(tmp_path):
    documents, labels = tmp_path / "documents.csv", tmp_path / "labels.csv"
    documents.write_text("id,text\na,oil prices rise\nb,wheat harvest\n", encoding="utf-8")
    labels.write_text("id,label\na,0\n", encoding="utf-8")
    with pytest.raises(InputError, match="the first is 'b'; give a label for each id, -1 for a document that is in no"):
        doccluster.run(documents, labels=labels)
