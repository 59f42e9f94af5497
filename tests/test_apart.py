"""Runs apart from who wrote their documents: planted marks go, and everything after the fit agrees with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score

from doccluster import assign, load_run, rerun, run
from doccluster.corpus import Corpus
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling import describe_clusters
from doccluster.pipeline._apart import explained_share, followed_column
from doccluster.results.document_table import DocumentTable
from doccluster.vectors import DocumentVectors

SUBJECTS = [[f"subject{topic}word{number}" for number in range(40)] for topic in range(4)]
COMMON = [f"common{number}" for number in range(60)]
SETTINGS = {"n_clusters": 4, "report": False, "clustering": {"n_init": 3}, "language": "none", "levels": "none"}


@pytest.fixture(scope="module")
def letters():
    """Letters of ten authors, each with a signature of six words, on any of four subjects."""
    rng = np.random.default_rng(4)
    topics, authors = rng.integers(4, size=400), rng.integers(10, size=400)
    texts = [
        " ".join(
            [*rng.choice(SUBJECTS[topic], 4), *rng.choice(COMMON, 8), *(f"sign{author}part{part}" for part in range(6))]
        )
        for topic, author in zip(topics, authors, strict=True)
    ]
    names = np.char.add("author", authors.astype(str))
    return pd.DataFrame({"text": texts, "author": names, "subject": topics}), topics, authors


def of_topic(made, topics):
    return normalized_mutual_info_score(topics, made.labels_)


def test_planted_signatures_no_longer_make_the_clusters(letters, tmp_path):
    frame, topics, _ = letters
    plain = run(frame, **SETTINGS)
    frame.to_csv(tmp_path / "letters.csv", index=False)
    reader = {"label_columns": ["subject"]}
    apart = run(tmp_path / "letters.csv", apart_from="author", output=tmp_path / "out", reader=reader, **SETTINGS)
    assert of_topic(plain, topics) < 0.3
    assert of_topic(apart, topics) > 0.8
    note = next(note for note in apart.notes if note.startswith("Apart from author: it explained "))
    assert "Weighed down most: author" in note
    assert not any("sign" in term.term for cluster in apart.clusters for term in cluster.descriptive)
    taken = apart.parameters["resolved"]["apart_from"]
    assert 0.2 < taken["share_taken"] < 0.4
    assert all(word.startswith("sign") for words in taken["terms"]["author"].values() for word in words)
    assert rerun(tmp_path / "out").differences == ()
    again = assign(tmp_path / "out", frame[["text"]])
    assert normalized_mutual_info_score(again["cluster"], apart.labels_) > 0.9
    assert load_run(tmp_path / "out").parameters["apart_from"] == "author"


def test_half_of_the_authors_are_enough(letters):
    frame, topics, _ = letters
    half = frame.assign(author=np.where(np.arange(400) % 2, frame["author"], None))
    assert of_topic(run(half, apart_from="author", **SETTINGS), topics) > 0.75


def test_a_column_of_chance_changes_little_and_two_columns_go_together(letters):
    frame, topics, _ = letters
    unsigned = frame.assign(text=[" ".join(text.split()[:12]) for text in frame["text"]])
    unsigned["chance"] = np.random.default_rng(1).integers(6, size=400).astype(str)
    plain, apart = (of_topic(run(unsigned, apart_from=column, **SETTINGS), topics) for column in (None, "chance"))
    assert abs(plain - apart) < 0.05
    both = run(frame.assign(chance=unsigned["chance"]), apart_from=["author", "chance"], **SETTINGS)
    assert of_topic(both, topics) > 0.8
    assert sum(note.startswith("Apart from ") for note in both.notes) == 2


def test_values_of_single_documents_weigh_nothing_down_and_that_is_said(letters):
    frame, *_ = letters
    made = run(frame.assign(row=[f"r{number}" for number in range(400)]), apart_from="row", **SETTINGS)
    assert any("No value has three documents, so nothing was weighed down." in note for note in made.notes)


@pytest.mark.parametrize(
    ("column", "more", "sentence"),
    [
        ("nobody", {}, "is no column"),
        ("same", {}, "fewer than two values"),
        ("author", {"scratch": "scratch"}, "is not done in blocks"),
        ("author", {"labels": "labels"}, "the labels that were given"),
    ],
)
def test_what_cannot_be_done_is_said(letters, tmp_path, column, more, sentence):
    frame = letters[0].assign(same="one")
    settings = SETTINGS | {name: tmp_path / value for name, value in more.items()}
    if "labels" in more:
        settings["n_clusters"] = "auto"
    with pytest.raises(InputError, match=sentence):
        run(frame, apart_from=column, **settings)


def test_labels_count_a_term_by_its_factor():
    names = np.array([f"{word}{cluster}" for cluster in "abcde" for word in ("leahy", "judges")], dtype=object)
    rows = np.zeros((50, 10))
    for cluster in range(5):
        rows[10 * cluster : 10 * cluster + 10, 2 * cluster] = 1
        rows[10 * cluster : 10 * cluster + 8, 2 * cluster + 1] = 0.5  # the name says a little more
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    matrix = sparse.csr_array(rows)
    vectors = DocumentVectors(matrix, tuple(map(str, range(50))), names, counts=matrix)
    partition = Partition.from_labels(np.repeat(range(5), 10).tolist())

    def first_terms(vectors):
        return [cluster.label_terms[0].term for cluster in describe_clusters(vectors, partition)]

    assert first_terms(vectors) == [f"leahy{cluster}" for cluster in "abcde"]
    assert first_terms(vectors.weighed_down(np.tile([0.05, 1.0], 5))) == [f"judges{cluster}" for cluster in "abcde"]


def test_the_column_that_clusters_follow_is_said_with_what_chance_would_explain(letters, tmp_path):
    frame, _, authors = letters
    frame = frame.assign(
        chance=np.random.default_rng(1).integers(6, size=400).astype(str),
        address=[f"https://example.org/{number}" for number in range(400)],
        day=[f"2024-01-{author + 1:02}" for author in authors],
        lang=frame["author"],
        near_copy_of=frame["author"],
        rarely=np.where(np.arange(400) % 8 == 0, frame["author"], ""),
    )
    made = run(frame, output=tmp_path / "out", **SETTINGS)
    labels = made.labels_
    sizes = [np.bincount(values) / 400 for values in (labels, authors)]
    cells = np.histogram2d(labels, authors, (4, 10))[0] / 400
    shared = cells[cells > 0] @ np.log(cells / np.outer(*sizes), where=cells > 0, out=np.zeros((4, 10)))[cells > 0]
    share = 100 * shared / -(sizes[0] @ np.log(sizes[0]))
    (note,) = [note for note in made.notes if "clusters follow" in note]
    assert note.startswith(f"The clusters follow `author` ({share:.0f} %, by chance ")
    assert note.endswith("; if that is not their subject, try --apart-from author.")
    follows = made.parameters["resolved"]["follows"]
    assert follows["column"] == "author"
    # what the mean of many shuffled columns explains
    rng = np.random.default_rng(0)
    by_chance = [explained_share(labels, rng.permutation(authors)) for _ in range(50)]
    assert follows["by_chance"] == pytest.approx(np.mean(by_chance), abs=0.005)
    assert note in load_run(tmp_path / "out").notes


@pytest.fixture(scope="module")
def signed():
    """Return labels that follow authors, and a table of the documents."""
    authors = np.repeat(np.arange(8), 20)
    columns = {"author": np.char.add("a", authors.astype(str)).tolist(), "place": ["here", "there"] * 80}
    corpus = Corpus(ids=tuple(map(str, range(160))), texts=("text",) * 160, metadata=columns)
    return authors // 2, DocumentTable.from_corpus(corpus)


@pytest.mark.parametrize("known", [["author"], ["place", "author"]])
def test_a_column_of_which_you_said_what_it_is_is_not_asked_about(signed, known):
    labels, documents = signed
    assert followed_column(labels, None, documents, []).column == "author"
    assert followed_column(labels, None, documents, known) is None
    classes = replace(documents, labels={"author": tuple((name,) for name in documents.columns["author"])})
    assert followed_column(labels, None, classes, []) is None


def test_only_a_column_that_may_be_of_authors_is_asked_about(signed):
    labels, documents = signed
    author = documents.columns["author"]
    topics = {"topic": tuple((f"{name} {number % 3}",) for number, name in enumerate(author))}
    assert followed_column(labels, None, replace(documents, labels=topics), []) is None  # each topic is of one author
    spread = {"topic": tuple((f"topic {number % 5}",) for number in range(160))}
    ids = {"topic": tuple((str(number),) for number in range(160))}
    for classes in (spread, ids):
        assert followed_column(labels, None, replace(documents, labels=classes), []).column == "author"
    few = [f"{name} {number % 20 // 10}" for number, name in enumerate(author)]
    for columns in ({"key_1": author}, {"channel": few}, {"language": author}):
        assert followed_column(labels, None, replace(documents, columns=columns), []) is None


def test_only_clusters_that_are_shown_follow_a_column(signed):
    labels, documents = signed
    shuffled = np.where(np.arange(160) % 2, np.random.default_rng(0).integers(4, size=160), labels)
    assert followed_column(shuffled, np.arange(160) % 2 == 1, documents, []).explained == pytest.approx(1.0)
    assert followed_column(np.arange(160) % 3, None, documents, []) is None
    assert followed_column(np.zeros(160, dtype=int), None, documents, []) is None


def test_blocks_say_the_column_too(letters, tmp_path):
    letters[0].to_csv(tmp_path / "letters.csv", index=False)
    made = run(tmp_path / "letters.csv", scratch=tmp_path / "scratch", **SETTINGS)
    assert sum("The clusters follow `author`" in note for note in made.notes) == 1
