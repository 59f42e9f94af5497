"""Other: documents that fit no cluster are shown apart, and keep the label of their nearest cluster."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doccluster.cli._run_summary import print_clusters
from doccluster.cli.main import main
from doccluster.geometry import as_documents
from doccluster.geometry.partition import Partition
from doccluster.labeling.placement import is_nearer_to_another, place_documents, rows_that_fit_none
from doccluster.pipeline.fit import Fit, centroids_of, set_aside
from doccluster.pipeline.main_line import run_pipeline
from doccluster.results.overview import overview
from doccluster.results.run_folder import load_run
from doccluster.retrieval.browsing import open_browser
from doccluster.vectors import DocumentVectors


def unit_rows(n_rows, seed):
    rows = np.random.default_rng(seed).random((n_rows, 6)) ** 4
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fit_of(rows, labels):
    partition = Partition(np.asarray(labels), tuple(range(max(labels) + 1)))
    vectors = DocumentVectors(rows, tuple(map(str, range(len(rows)))))
    fit = Fit(partition, centroids_of(rows, partition))
    return fit, place_documents(vectors.documents, partition, fit.centroids)


@pytest.mark.parametrize("seed", range(5))
def test_a_document_fits_no_cluster_if_its_cluster_without_it_is_less_like_it_than_another(seed):
    rows, labels = unit_rows(30, seed), np.arange(30) % 4
    expected = []
    for row in range(30):
        means = []
        for cluster in range(4):
            total = rows[[other for other in range(30) if labels[other] == cluster and other != row]].sum(axis=0)
            means.append(rows[row] @ total / np.linalg.norm(total))
        expected.append(means[labels[row]] < max(np.delete(means, labels[row])))
    _, placed = fit_of(rows, labels)
    assert 0 < sum(expected) < 30
    assert is_nearer_to_another(labels, placed).tolist() == expected
    stay = [sum(not expected[row] for row in range(30) if labels[row] == cluster) for cluster in range(4)]
    expected = [goes and stay[label] >= 2 for goes, label in zip(expected, labels, strict=True)]
    assert rows_that_fit_none(as_documents(rows), labels).tolist() == expected


def test_a_cluster_of_which_fewer_than_two_documents_would_stay_keeps_them():
    rows = np.array([[1, 0, 0.1], [1, 0.1, 0], [1, 0, 0], [0, 1, 0.1], [0, 1, 0], [0.7, 0.6, 0]])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.array([0, 0, 0, 1, 1, 2])
    fit, placed = fit_of(rows, labels)
    assert is_nearer_to_another(labels, placed).tolist() == [False] * 5 + [True]
    again, _ = set_aside(fit, placed)
    assert again.partition is fit.partition
    assert not again.is_other.any()


def test_clusters_are_numbered_by_what_stays():
    rows = np.array([[1, 0, 0]] * 2 + [[0, 0.6, 0.8]] * 2 + [[0, 1, 0]] * 3)
    fit, placed = set_aside(*fit_of(rows, [0, 0, 0, 0, 1, 1, 1]))
    assert fit.is_other.tolist() == [False, False, True, True, False, False, False]
    assert fit.partition.labels.tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert placed.runner_up.tolist() == [0, 0, 0, 0, 1, 1, 1]
    again = place_documents(DocumentVectors(rows, tuple("abcdefg")).documents, fit.partition, fit.centroids)
    assert again.similarity == pytest.approx(placed.similarity)


def test_where_everything_fits_nothing_changes():
    rows = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    fit, placed = fit_of(rows, [0, 0, 1, 1])
    again, again_placed = set_aside(fit, placed)
    assert again.partition is fit.partition
    assert again_placed is placed
    assert not again.is_other.any()


def test_browse_shows_last_and_without_a_name_what_fits_no_cluster_and_gathers_it():
    source = Path(__file__).parents[1] / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    browser = open_browser(source, n_clusters=8, n_threads=1)
    *cards, other = browser.cards
    assert (other.number, other.label, other.titles) == (9, "Other", ())
    assert sorted(np.concatenate([card.members for card in browser.cards])) == list(range(176))
    rows = browser.vectors.matrix.toarray()
    sums = np.array([rows[card.members].sum(axis=0) for card in cards])
    cosines = rows @ (sums / np.linalg.norm(sums, axis=1, keepdims=True)).T
    for number, card in enumerate(cards):  # without the documents that went, all fit still but for a few
        assert (cosines[card.members].argmax(axis=1) == number).mean() > 0.9
    browser.gather([9])
    assert browser.n_documents == other.size


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "out"
    source = Path(__file__).parents[1] / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    run_pipeline(
        source, output=folder, granularity="subtopics", vectorizer={"stemming": "none", "dropped_terms": []}
    )  # else none is left over
    return folder


@pytest.fixture(scope="module")
def run(run_folder):
    return load_run(run_folder)


def test_a_run_keeps_who_belongs_nowhere(run):
    nearer = is_nearer_to_another(run.partition.labels, run)
    assert 0 < run.n_other < 20
    assert run.is_other.sum() >= 0.5 * nearer.sum()
    assert not {shown.row for one in run.clusters for shown in one.representatives} & set(np.flatnonzero(run.is_other))


def test_a_document_in_other_is_explained_by_its_cluster_without_it(run, run_folder, capsys):
    row = int(np.flatnonzero(run.is_other)[0])
    with pytest.raises(SystemExit, match="0"):
        main(["explain", str(run_folder), run.documents.ids[row], "--json"])
    told = json.loads(capsys.readouterr().out)
    others = np.flatnonzero((run.partition.labels == told["cluster"]["cluster"]) & (np.arange(176) != row))
    rest = np.asarray(run.vectors.matrix[others].sum(axis=0)).ravel()
    own = run.vectors.matrix[[row]].toarray().ravel()
    assert told["without"] == pytest.approx(own @ rest / np.linalg.norm(rest), abs=1e-5)
    assert told["without"] < told["runner_up"]["similarity"]


def test_other_is_the_last_row_of_every_table_and_has_no_words(run, run_folder, capsys):
    print_clusters(overview(run))
    *_, last = capsys.readouterr().out.rstrip().splitlines()
    assert last.split()[:2] == [str(run.n_other), "Other"]
    clusters = pd.read_csv(run_folder / "clusters.csv")
    assert clusters["size"].sum() == run.n_documents
    assert clusters["size"].iloc[:-1].is_monotonic_decreasing
    row = clusters.iloc[-1]
    assert (row["headline"], row["size"]) == ("Other", run.n_other)
    assert row[["cluster", "label", "terms", "central_document", "similarity"]].isna().all()


def test_every_document_of_other_keeps_its_nearest_cluster_in_the_assignments(run, run_folder):
    table = pd.read_csv(run_folder / "assignments.csv")
    assert table["other"].tolist() == run.is_other.tolist()
    assert table["cluster"].tolist() == run.partition.labels.tolist()
    assert run.to_pandas()["other"].sum() == run.n_other


def test_the_page_shows_other_as_its_last_card(run_folder, run):
    page = (run_folder / "report.html").read_text(encoding="utf-8")
    cards = re.findall(r'<li class="story" id="cluster-(\d+)".*?<h3 id="headline-\d+"[^>]*>(.*?)</h3>', page, re.DOTALL)
    assert len(cards) == run.n_clusters + 1
    assert cards[-1] == (str(run.n_clusters), "<bdi>Other</bdi>")


def test_a_number_of_clusters_that_you_give_divides_all_documents():
    run = run_pipeline(["oil prices rise", "oil prices fall", "wheat harvest", "wheat rain harvest"], n_clusters=2)
    assert run.is_other is None
    assert run.n_other == 0
