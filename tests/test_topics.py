"""Topics that a person knows: the file, the errors, and a run grown from them."""

import csv
import json

import numpy as np
import pytest

import doccluster
from doccluster import Topic
from doccluster.errors import InputError
from doccluster.pipeline.known_topics import read_topics

HEAD = "name,words,examples,parent\n"


def write(tmp_path, text, name="topics.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_and_json_lines_give_the_same_topics(tmp_path):
    table = write(tmp_path, HEAD + 'Trade,"tariffs; exports, customs duty",a-1|a-2,World\nWorld,,,\n')
    lines = [
        {
            "name": "Trade",
            "words": ["tariffs", "exports", "customs duty"],
            "examples": ["a-1", "a-2"],
            "parent": "World",
        },
        {"name": "World"},
    ]
    records = write(tmp_path, "\n".join(map(json.dumps, lines)), "topics.jsonl")
    expected = (Topic("Trade", ("tariffs", "exports", "customs duty"), ("a-1", "a-2"), "World"), Topic("World"))
    array = write(tmp_path, json.dumps(lines, indent=2), "topics.json")
    assert read_topics(table) == read_topics(records) == read_topics(array) == expected
    assert (
        read_topics(write(tmp_path, json.dumps(lines[0] | {"parent": None}, indent=2), "topic.json"))[0].name == "Trade"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (HEAD, "has no topics"),
        (HEAD + "Trade,tariff,,\nTrade,export,,\n", "'Trade' in line 3 .* was given before"),
        (HEAD + "Trade,tariff,,World\n", "the parent 'World' in line 2 .* is not a topic"),
        (HEAD + "A,x,,B\nB,y,,C\nC,z,,A\n", "'A' in line 2 .* is its own ancestor"),
        (HEAD + "Trade,,,\n", "'Trade' in line 2 .* has neither words nor examples"),
        (HEAD + ",tariff,,\n", "in line 2 .* has no usable name"),
        (HEAD + "Trade,tariff,,,more\n", "line 2 .* has more cells"),
        ("title,words\nTrade,tariff\n", "has a column 'title'"),
        ("words\ntariff\n", "has no column called name"),
        ('{"name": "A", "words": ["x"]}\n{"name": 3}\n', "line 2 .* is not a topic"),
        ('{"name": "A", "word": ["x"]}\n', "line 1 .* is not a topic"),
        ("[1]\n", "item 1 .* is not a topic"),
        ("[]\n", "has no topics"),
        ('[{"name": "A", "words": "x"},\n{"name": "A", "words": "y"}]', "'A' in item 2 .* was given before"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_topics(write(tmp_path, text))


def test_topics_of_python_are_checked_alike():
    with pytest.raises(InputError, match="is not a topic"):
        doccluster.run(["a text"], topics=["Trade"])
    with pytest.raises(InputError, match="topic 2 was given before"):
        doccluster.run(["a text"], topics=[Topic("A", ["x"]), Topic("A", ["y"])])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 1}, "more than clusters"),
        ({"algorithm": "spherical-k-means", "n_clusters": 3}, "default algorithm"),
    ],
)
def test_settings_that_do_not_go_with_topics_are_refused_before_any_work(settings, message):
    with pytest.raises(InputError, match=message):
        doccluster.run("no/such/folder", topics=[Topic("A", ["x"]), Topic("B", ["y"])], **settings)


def test_topics_of_an_estimator_are_not_those_of_a_run():
    with pytest.raises(InputError, match="rows and columns of its matrix"):
        doccluster.run(["a text"], algorithm=doccluster.DocumentClustering(2, topics=[Topic("A", [1])]))


def test_only_topics_needs_topics():
    with pytest.raises(InputError, match="no topics"):
        doccluster.run("no/such/folder", only_topics=True)


@pytest.fixture(scope="module")
def sample():
    return doccluster.load_sample()


TOPICS = [
    Topic("Hospitals", ["hospital", "patients", "insulin"], parent="Society"),
    Topic("Measles", [], ["hea-001"], parent="Society"),
    Topic("Society"),
    Topic("Football", ["Ellery Rovers", "semi-final", "penalties"]),
]


def topics_for(sample):
    story = [label for (label,) in sample.labels["story"]]
    measles = sample.ids[next(row for row, name in enumerate(story) if "measles" in name)]
    return [TOPICS[0], Topic("Measles", [], [measles], "Society"), *TOPICS[2:]], measles


def test_clusters_have_the_names_of_topics_and_lie_beneath_their_parents(sample, tmp_path):
    topics, measles = topics_for(sample)
    run = doccluster.run(sample, topics=topics, n_clusters=32, output=tmp_path / "out", report=False)
    names = {cluster.name: cluster.cluster for cluster in run.clusters if cluster.name}
    assert set(names) == {"Hospitals", "Measles", "Football"}
    assert not any("do not go together" in note for note in run.notes)
    labels = run.partition.labels
    ids = list(run.documents.ids)
    assert labels[ids.index(measles)] == names["Measles"]
    story = np.array([label for (label,) in run.documents.labels["story"]])
    in_football = story[labels == names["Football"]]
    assert in_football.size >= 3
    assert np.unique(in_football).size == 1
    section = next(level for level in run.around.coarser if level.name == "section")
    society = next(cluster.cluster for cluster in section.clusters if cluster.name == "Society")
    is_in_society = section.labels == society
    assert is_in_society[np.isin(labels, [names["Hospitals"], names["Measles"]])].all()
    assert not is_in_society[labels == names["Football"]].any()
    with (tmp_path / "out" / "assignments.csv").open(encoding="utf-8", newline="") as lines:
        assert {"section", "topic"} <= set(next(csv.reader(lines)))


def test_the_same_run_again_gives_the_same_labels(sample, tmp_path):
    topics, _ = topics_for(sample)
    path = sample_file(tmp_path)
    run = doccluster.run(path, topics=topics, n_clusters=32, levels="none", output=tmp_path / "out", report=False)
    again = doccluster.rerun(tmp_path / "out" / "run.json")
    assert again.same_labels
    assert [cluster.name for cluster in again.run.clusters] == [cluster.name for cluster in run.clusters]
    placed = doccluster.assign(run, path)
    assert np.mean(placed["cluster"].to_numpy() == run.partition.labels) > 0.97  # examples were held, new ones are not


def sample_file(tmp_path):
    from doccluster.corpus.reading import sample_path

    copy = tmp_path / "articles.jsonl"
    copy.write_bytes(sample_path().read_bytes())
    return copy


def test_only_topics_leaves_the_others_in_other(sample):
    topics, _ = topics_for(sample)
    run = doccluster.run(sample, topics=topics, n_clusters=32, only_topics=True)
    assert run.is_other is not None
    assert {cluster.name for cluster in run.clusters if cluster.size} >= {"Hospitals", "Measles", "Football"}
    assert 0.5 < run.is_other.mean() < 0.95
    inside = run.partition.labels[~run.is_other]
    section = run.around.coarser[-1]
    names = {section.clusters[number].name for number in np.unique(section.labels[~run.is_other])}
    assert "" not in names
    assert inside.size == sum(cluster.size for cluster in run.clusters)


def test_words_of_no_document_are_said_and_name_nothing(sample):
    run = doccluster.run(sample, topics=[Topic("Tennis", ["forehand", "backhand"])], n_clusters=32, levels="none")
    assert any("'Tennis'" in note and "no document has any of its words" in note for note in run.notes)
    assert not any(cluster.name for cluster in run.clusters)
    assert run.n_clusters == 32


def test_words_that_do_not_go_together_are_said(sample):
    mixed = Topic("Mixed", ["insulin", "penalties", "harbour", "wheat"])
    run = doccluster.run(sample, topics=[mixed, TOPICS[0], TOPICS[2]], n_clusters=32, levels="none")
    assert next(note for note in run.notes if "do not go together" in note).startswith("Topic 'Mixed': its words")
    assert not any("'Hospitals'" in note for note in run.notes)


def test_an_unknown_example_and_one_of_two_topics_are_refused(sample):
    with pytest.raises(InputError, match="'nowhere-1', which is the id of no document"):
        doccluster.run(sample, topics=[Topic("A", [], ["nowhere-1"])], n_clusters=32)
    first = sample.ids[0]
    with pytest.raises(InputError, match="is an example of two topics"):
        doccluster.run(sample, topics=[Topic("A", [], [first]), Topic("B", [], [first])], n_clusters=32)


def test_an_example_without_terms_is_said_and_left_out():
    texts = ["oil prices rise again", "oil exports fall", "snow closes roads", "snow on the roads", "the of and"]
    table = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    run = doccluster.run(table, topics=[Topic("Oil", ["oil"], ["d0", "d4"])], n_clusters=2)
    assert any("'d4' has no terms" in note for note in run.notes)
    oil = next(cluster.cluster for cluster in run.clusters if cluster.name == "Oil")
    assert run.partition.labels[list(run.documents.ids).index("d0")] == oil


def test_an_example_may_be_a_text(sample):
    text = "Goalkeeper saves two penalties as Ellery Rovers reach the semi-final of the cup"
    run = doccluster.run(sample, topics=[Topic("Football", [], [text])], n_clusters=32, levels="none")
    football = next(cluster for cluster in run.clusters if cluster.name == "Football")
    titles = [run.documents.titles[row] for row in np.flatnonzero(run.partition.labels == football.cluster)]
    assert any("Rovers" in title for title in titles)
