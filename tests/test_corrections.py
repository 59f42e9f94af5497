"""Names and merges that a run made again starts from."""

import json
import shutil

import numpy as np
import pytest

import doccluster
from doccluster import Topic
from doccluster.errors import InputError

TOPICS = [
    Topic("Hospitals", ["hospital", "patients", "insulin"], parent="Society"),
    Topic("Society"),
    Topic("Football", ["Ellery Rovers", "semi-final", "penalties"]),
]


CHEAP = {"levels": "none", "report": False}


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    from doccluster.corpus.reading import sample_path

    lines = sample_path().read_text(encoding="utf-8").splitlines(keepends=True)
    part = tmp_path_factory.mktemp("source") / "articles.jsonl"
    part.write_text("".join(lines[:60]), encoding="utf-8")
    return part


def corrected(articles, folder, **settings):
    """Write a run with its cluster 3 renamed, and 0 and 1 merged; return it."""
    doccluster.run(articles, output=folder, **CHEAP, **settings)
    doccluster.label(folder, 3, "Third")
    return doccluster.merge(folder, 0, 1)


@pytest.fixture(scope="module")
def twelve(articles, tmp_path_factory):
    """A corrected run of twelve clusters."""
    folder = tmp_path_factory.mktemp("twelve") / "out"
    corrected(articles, folder, n_clusters=12)
    return folder


@pytest.fixture
def own_twelve(twelve, tmp_path):
    """A copy of it that a test may change."""
    return shutil.copytree(twelve, tmp_path / "out")


def groups(run):
    """Return the clusters as sets of ids."""
    labels = run.partition.labels
    return {frozenset(np.array(run.documents.ids)[labels == number]) for number in range(run.n_clusters)}


@pytest.mark.parametrize("settings", [{"n_clusters": 12}, {}, {"granularity": "topics"}])
def test_a_corrected_run_comes_back_with_its_names(articles, tmp_path, settings):
    run = corrected(articles, tmp_path / "out", **settings)
    again = doccluster.rerun(tmp_path / "out", keep_corrections=True, output=tmp_path / "again")
    if settings != {"granularity": "topics"}:  # large topics move when two of them become one
        assert groups(again.run) == groups(run)
        assert again.same_labels
    by_name = {cluster.name: cluster.cluster for cluster in again.run.clusters}
    assert {topic.name for topic in again.corrections} == {"Third", run.clusters[0].label}
    ids = np.array(again.run.documents.ids)
    for topic in again.corrections:
        rows = np.isin(ids, topic.examples)
        assert (again.run.partition.labels[rows] == by_name[topic.name]).all()
        assert again.run.is_other is None or not again.run.is_other[rows].any()
    assert doccluster.rerun(tmp_path / "again").same_labels


def test_a_run_made_again_without_them_is_as_it_was(twelve):
    assert doccluster.rerun(twelve).run.n_clusters == 12


def test_undone_corrections_are_not_kept(own_twelve):
    doccluster.undo(own_twelve)
    again = doccluster.rerun(own_twelve, keep_corrections=True)
    assert [topic.name for topic in again.corrections] == ["Third"]
    doccluster.undo(own_twelve)
    with pytest.raises(InputError, match="no names or merges to keep"):
        doccluster.rerun(own_twelve, keep_corrections=True)


@pytest.mark.parametrize("settings", [{"n_clusters": 12}, {}])
def test_new_documents_join_the_clusters_that_were_corrected(articles, tmp_path, settings):
    """The corrections are of a part of the articles; the run made again is of all but some of that part."""
    lines = articles.read_text(encoding="utf-8").splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[::2]), encoding="utf-8")
    run = corrected(part, tmp_path / "out", **settings)
    rest = tmp_path / "rest.jsonl"
    rest.write_text("".join(lines[4:]), encoding="utf-8")
    again = doccluster.rerun(tmp_path / "out", keep_corrections=True, source=rest)
    third = next(topic for topic in again.corrections if topic.name == "Third")
    cluster = next(cluster for cluster in again.run.clusters if cluster.name == "Third")
    assert cluster.size >= len(third.examples)
    removed = {json.loads(line)["id"] for line in lines[:4:2]}
    assert not removed & {example for topic in again.corrections for example in topic.examples}
    assert len(groups(run)) < 12
    assert any("data are not the same" in difference for difference in again.differences)


def test_a_corrected_cluster_of_a_topic_replaces_it_and_keeps_its_parent(articles, tmp_path):
    folder = tmp_path / "out"
    run = doccluster.run(articles, topics=TOPICS, n_clusters=12, output=folder, **CHEAP)
    number = {cluster.name: cluster.cluster for cluster in run.clusters}
    run = doccluster.label(folder, number["Hospitals"], "Clinics")
    again = doccluster.rerun(folder, keep_corrections=True)
    assert groups(again.run) >= {group for group in groups(run) if group & set(again.corrections[0].examples)}
    topics = [(topic["name"], topic["parent"]) for topic in again.run.parameters["topics"]]
    assert topics == [("Society", None), ("Football", None), ("Clinics", "Society")]
    assert {cluster.name for cluster in again.run.clusters if cluster.name} == {"Clinics", "Football"}


def test_a_topic_merged_with_its_part_is_part_of_what_the_outer_one_was(articles, tmp_path):
    folder = tmp_path / "out"
    topics = [Topic("Football", TOPICS[2].words, parent="Hospitals"), TOPICS[0], TOPICS[1]]
    run = doccluster.run(articles, topics=topics, n_clusters=12, output=folder, **CHEAP)
    number = {cluster.name: cluster.cluster for cluster in run.clusters}
    doccluster.merge(folder, number["Football"], number["Hospitals"])
    again = doccluster.rerun(folder, keep_corrections=True)
    assert [(topic.name, topic.parent) for topic in again.corrections] == [("Football", "Society")]


def test_names_of_a_matrix_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.2, (60, 30))
    for cluster in range(3):
        counts[cluster * 20 : cluster * 20 + 20, cluster * 10 : cluster * 10 + 10] += rng.poisson(2, (20, 10))
    from scipy import sparse

    sparse.save_npz(tmp_path / "counts.npz", sparse.csr_array(counts))
    doccluster.run(tmp_path / "counts.npz", n_clusters=3, output=tmp_path / "out", **CHEAP)
    doccluster.label(tmp_path / "out", 1, "Middle")
    again = doccluster.rerun(tmp_path / "out", keep_corrections=True)
    assert again.same_labels
    assert [cluster.name for cluster in again.run.clusters if cluster.name] == ["Middle"]


def test_clusters_of_another_algorithm_cannot_be_kept(articles, tmp_path):
    corrected(articles, tmp_path / "out", n_clusters=12, algorithm="spherical-k-means")
    with pytest.raises(InputError, match="another algorithm"):
        doccluster.rerun(tmp_path / "out", keep_corrections=True)


def test_corrections_of_documents_that_are_gone_are_an_error(twelve):
    with pytest.raises(InputError, match="no document of the corrected clusters"):
        doccluster.rerun(twelve, keep_corrections=True, source=["one text", "another text"])
