"""A consensus says which documents are not settled: in the tables, on the screen, in the report, and after an edit."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from doccluster.artifacts.run_folder import load_run
from doccluster.cli.main import commands
from doccluster.clustering import measure_stability, movements
from doccluster.errors import SchemaError
from doccluster.pipeline.editing import Edit, edit_run
from doccluster.pipeline.main_line import run_pipeline
from doccluster.report import render_report

NEWSROOM = Path(__file__).resolve().parent.parent / "corpora" / "samples" / "newsroom" / "articles.jsonl"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("consensus") / "run"
    arguments = ["run", str(NEWSROOM), "-o", str(folder), "-k", "12", "--quality", "best"]
    return folder, CliRunner().invoke(commands, arguments, catch_exceptions=False).output


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_tables_have_the_stability_of_documents_and_clusters(finished):
    folder, _ = finished
    run = load_run(folder)
    expected = measure_stability(run.partition.labels, list(run.candidates), n_clusters=12)
    assert len(run.candidates) == 12
    written = {row["id"]: row for row in rows_of(folder / "assignments.csv")}
    shares = [float(written[name]["stability"]) for name in run.documents.ids]
    np.testing.assert_allclose(shares, expected.documents, atol=1e-6)
    moves = [int(written[name]["moves_to"] or -1) for name in run.documents.ids]
    assert moves == expected.others.tolist()
    clusters = [float(row["stability"]) for row in rows_of(folder / "clusters.csv")]
    np.testing.assert_allclose(clusters, expected.clusters, atol=1e-6)
    assert 0.3 < expected.documents.mean() < 1


def test_the_screen_and_the_page_name_the_clusters_between_which_most_documents_move(finished):
    folder, shown = finished
    run = load_run(folder)
    first = movements(run.partition.labels, run.stability)[0]
    low, high = first.clusters
    assert f"{len(first.documents)} documents move between clusters {low} and {high}, in {first.share:.0%} of" in shown
    page = render_report(run)
    assert 'id="stability-title"' in page
    assert "what 12 different partitions have in common" in page
    assert run.documents.name(first.documents[0])[:40].split("’")[0] in page


def test_without_a_consensus_nothing_is_said_of_stability(tmp_path):
    run = run_pipeline(NEWSROOM, n_clusters=4, output=tmp_path / "run", report=False)
    assert run.stability is None
    assert "stability" not in rows_of(tmp_path / "run" / "assignments.csv")[0]
    assert 'id="stability-title"' not in render_report(run)


def test_a_merge_keeps_the_partitions_and_documents_no_longer_move_within_it(finished, tmp_path):
    import shutil

    shutil.copytree(finished[0], tmp_path / "run")
    before = load_run(tmp_path / "run")
    pair = movements(before.partition.labels, before.stability)[0]
    after = edit_run(tmp_path / "run", Edit("merge", pair.clusters)).run
    assert (
        after.stability.documents[list(pair.documents)].mean() > before.stability.documents[list(pair.documents)].mean()
    )


def test_copies_that_were_folded_have_the_stability_of_what_they_repeat(tmp_path):
    articles = [json.loads(line) for line in NEWSROOM.read_text(encoding="utf-8").splitlines()[:40]]
    texts = [article["text"] for article in articles]
    run = run_pipeline([*texts, *texts[:10]], n_clusters=5, quality="best", fold_copies=True, language="english")
    assert run.candidates.shape == (12, 50)
    np.testing.assert_array_equal(run.stability.documents[:10], run.stability.documents[40:])


def test_candidates_that_do_not_fit_the_documents_are_damage(finished, tmp_path):
    import shutil

    shutil.copytree(finished[0], tmp_path / "run")
    path = tmp_path / "run" / "model" / "partition.npz"
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "candidates": arrays["candidates"][:, :-1]})
    with pytest.raises(SchemaError, match="candidates is an array"):
        load_run(tmp_path / "run")
