"""Whatever algorithm made a run: it is written, read, explained, reported, repeated, and places new texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from doccluster.cli.main import commands
from doccluster.clustering.algorithms import ALGORITHMS, get_algorithm, parse_algorithm
from doccluster.errors import InputError
from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.report.html import render_report
from doccluster.results.run_folder import load_run

NEWSROOM = Path(__file__).resolve().parent.parent / "corpora" / "samples" / "newsroom" / "articles.jsonl"
TINY = NEWSROOM.parent.parent / "tiny"
# of a hundred documents of a run, so many are assigned to their own cluster again
MIN_AGREEMENT = {"bisecting-k-means": 0.8}  # it decides on each division; the means of the ends are not all it knows


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    """The first articles of the sample, of ten stories."""
    lines = NEWSROOM.read_text(encoding="utf-8").splitlines(keepends=True)
    part = tmp_path_factory.mktemp("source") / "articles.jsonl"
    part.write_text("".join(lines[:50]), encoding="utf-8")
    return part


@pytest.fixture(scope="module", params=sorted(ALGORITHMS))
def run_folder(request, articles, tmp_path_factory):
    folder = tmp_path_factory.mktemp("algorithm") / "run"
    arguments = ["run", str(articles), "-o", str(folder), "-k", "8", "--algorithm", request.param]
    arguments += ["--levels", "none", "--json", "--no-report"]
    printed = CliRunner().invoke(commands, arguments, catch_exceptions=False, standalone_mode=False)
    assert printed.exit_code == 0
    return request.param, folder


@pytest.fixture(scope="module")
def again(run_folder):
    return repeat_run(run_folder[1])


def test_the_record_names_the_algorithm_and_the_run_can_be_repeated(run_folder, again):
    name, folder = run_folder
    assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["parameters"]["algorithm"] == name
    assert again.same_labels
    assert again.differences == ()


def test_its_documents_are_assigned_to_their_own_clusters(run_folder, articles):
    name, folder = run_folder
    run, table = load_run(folder), assign_documents(folder, articles)
    agreement = np.mean(table["cluster"].to_numpy(np.int64) == run.partition.labels)
    assert agreement >= MIN_AGREEMENT.get(name, 1.0)
    own = table["cluster"].to_numpy(np.int64) == run.partition.labels
    np.testing.assert_allclose(table["similarity"][own], run.similarity[own], atol=1e-5)
    assert table["new"].mean() == pytest.approx(0.1, abs=0.1)


def test_a_run_in_memory_predicts_as_the_one_on_disk(run_folder, again):
    folder = run_folder[1]
    texts = ["Crane operators walk out at the container terminal", "The keeper saved a penalty in the cup final"]
    expected = assign_documents(folder, texts)["cluster"].tolist()
    assert again.run.predict(texts).tolist() == load_run(folder).predict(texts).tolist() == expected


def test_similarities_are_cosines_to_the_centroids_of_the_weighted_rows(run_folder):
    run = load_run(run_folder[1])
    rows = run.vectors.matrix.toarray().astype(np.float64)
    centroids = np.stack([rows[run.partition.labels == cluster].sum(axis=0) for cluster in range(run.n_clusters)])
    centroids /= np.linalg.norm(centroids, axis=1, keepdims=True)
    cosines = rows @ centroids.T
    places = np.arange(run.n_documents)
    np.testing.assert_allclose(run.similarity, cosines[places, run.partition.labels], atol=1e-5)
    cosines[places, run.partition.labels] = -2
    np.testing.assert_allclose(run.runner_up_similarity, cosines.max(axis=1), atol=1e-5)


def test_the_page_and_the_explanations_are_made(run_folder):
    folder = run_folder[1]
    run = load_run(folder)
    assert len(render_report(run)) > 10_000
    explained = CliRunner().invoke(commands, ["explain", str(folder), "0"], catch_exceptions=False)
    assert "cluster 0" in explained.output
    assert run.clusters[0].label in explained.output


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_labels_do_not_depend_on_the_number_of_threads(name, articles):
    how = {"n_clusters": 8, "algorithm": name, "measures": ["silhouette"], "levels": "none"}
    one, three = (run_pipeline(articles, n_threads=n, **how).partition.labels for n in (1, 3))
    assert np.array_equal(one, three)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_the_estimator_of_the_table_has_the_options_of_the_table(name):
    known = ALGORITHMS[name].make().get_params(deep=False)
    assert set(ALGORITHMS[name].options) <= set(known)
    assert "n_clusters" in known


def test_names_are_found_however_they_are_spelled():
    assert get_algorithm("Spherical_KMeans") is ALGORITHMS["spherical-k-means"]
    with pytest.raises(InputError, match="there is no algorithm 'dbscan'; choose one of spherical-k-means"):
        get_algorithm("dbscan")


def test_options_may_follow_the_name_and_are_written_down():
    run = run_pipeline(TINY, n_clusters=3, algorithm="kmeans:n_init=3,tol=0.01")
    assert run.parameters["algorithm"] == "k-means"
    assert run.parameters["clustering"] == {"n_init": 3, "tol": 0.01}
    assert run.n_clusters == 3
    with pytest.raises(InputError, match="write k-means:name=value"):
        parse_algorithm("k-means:n_init")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algorithm", "dbscan"], "there is no algorithm 'dbscan'"),
        (["--algorithm", "k-means:depth=3"], "k-means has no option 'depth'; it has init"),
        (["--algorithm", "k-means:refine=true"], "k-means has no option 'refine'; it has init"),
        (["--algorithm", "k-means:n_init=none"], "'none' is not a positive whole number"),
    ],
)
def test_what_an_algorithm_has_not_is_refused_in_a_sentence(tmp_path, options, message):
    arguments = ["run", str(TINY), "-o", str(tmp_path / "out"), "-k", "3", *options]
    result = CliRunner().invoke(commands, arguments)
    assert result.exit_code != 0
    told = result.output if result.output else str(result.exception)
    assert message in " ".join(told.split()) or message in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_the_list_of_algorithms_is_printed():
    printed = CliRunner().invoke(commands, ["algorithms"], catch_exceptions=False).output
    assert all(f"{name}: " in printed for name in ALGORITHMS)
    told = json.loads(CliRunner().invoke(commands, ["algorithms", "--json"], catch_exceptions=False).output)
    assert [row["name"] for row in told] == list(ALGORITHMS)


def test_a_merge_also_sends_new_documents_to_the_merged_cluster(articles, tmp_path):
    from doccluster.pipeline.editing import Edit, edit_run

    how = {"levels": "none", "report": False}
    run_pipeline(articles, n_clusters=6, algorithm="k-means", output=tmp_path / "run", **how)
    before = assign_documents(tmp_path / "run", articles)["cluster"].to_numpy(np.int64)
    edit_run(tmp_path / "run", Edit("merge", (1, 4)))
    after = load_run(tmp_path / "run")
    assert np.array_equal(assign_documents(tmp_path / "run", articles)["cluster"], after.partition.labels)
    assert len(set(after.partition.labels[np.isin(before, (1, 4))])) == 1
