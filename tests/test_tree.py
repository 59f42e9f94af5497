"""The levels of a run: nested, named, kept in its folder, and none of them touches the clusters that are shown."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import doccluster
from doccluster.cli._run_summary import print_run, run_as_json
from doccluster.errors import InputError, NothingUsable, SchemaError
from doccluster.pipeline.nested_levels import LARGE, LevelsWork
from doccluster.results.run_folder import load_run, save_run
from doccluster.results.storage import read_json, write_json
from doccluster.results.tree import TreeLevel, nests, tree_of
from doccluster.retrieval.browsing import open_browser
from doccluster.retrieval.searching import open_search
from doccluster.selection import Recommendation

THEMES = 6
PARTS = 4  # clusters of each theme
EACH = 14  # documents of each cluster


def texts_of_themes():
    """Six themes of four clusters each: words of the theme, words of the cluster, and noise."""
    rng = np.random.default_rng(5)
    texts = []
    for theme, part in itertools.product(range(THEMES), range(PARTS)):
        for _ in range(EACH):
            words = [f"theme{theme}w{w}" for w in rng.integers(0, 6, 8)]
            words += [f"part{theme}x{part}w{w}" for w in rng.integers(0, 8, 12)]
            words += [f"noise{w}" for w in rng.integers(0, 300, 6)]
            texts.append(" ".join(words))
    return texts


@pytest.fixture(scope="module")
def texts():
    return texts_of_themes()


@pytest.fixture(scope="module")
def run(texts):
    return doccluster.run(texts, n_clusters=THEMES * PARTS, language="none")


def all_nest(run):
    return all(nests(fine.labels, coarse.labels) for coarse, fine in itertools.pairwise(run.levels))


def test_sections_are_the_themes_and_clusters_stay(run, texts):
    plain = doccluster.run(texts, n_clusters=THEMES * PARTS, language="none", levels="none")
    assert np.array_equal(run.partition.labels, plain.partition.labels)
    assert [level.name for level in run.levels] == ["section", "topic"]
    assert [level.name for level in plain.levels] == ["cluster"]
    themes = np.arange(len(texts)) // (PARTS * EACH)
    sections = run.levels[0]
    assert doccluster.evaluate(sections.labels, truth=themes, measures="adjusted_rand")["adjusted_rand"].value == 1
    assert all_nest(run)


@pytest.mark.parametrize(
    "settings",
    [{"n_clusters": THEMES * PARTS, "quality": "fast"}, {"labels": np.repeat(range(THEMES * PARTS), EACH).tolist()}],
    ids=["fast", "labels"],
)
def test_any_algorithm_and_labels_of_another_program_have_sections(texts, settings):
    run = doccluster.run(texts, language="none", **settings)
    assert run.levels[0].name == "section"
    assert all_nest(run)


def test_hits_of_a_run_have_their_path_and_one_branch_can_be_searched(run):
    index = open_search(run)
    hits = index.search("theme3w1", n_hits=THEMES * PARTS * EACH)
    rows = [run.documents.ids.index(hit.id) for hit in hits.hits]
    labels = [[level.clusters[number].label for number in level.labels[rows]] for level in run.levels]
    assert hits.paths == tuple(zip(*labels, strict=True))
    assert hits.to_json()["hits"][0]["path"] == list(hits.paths[0])
    section = int(run.levels[0].labels[rows[0]])
    n_of_section = run.levels[0].clusters[section].size
    assert len(doccluster.search("theme3w1 noise7", run, within=f"section:{section}", n_hits=500).hits) <= n_of_section
    topic = int(run.partition.labels[rows[0]])
    alone = index.within(topic).search("theme3w1")
    assert {hit.id for hit in alone.hits} == {hit.id for hit in hits.hits} & {
        run.documents.ids[row] for row in run.members(topic)
    }
    with pytest.raises(NothingUsable, match="no document there has a word of the query 'theme3w1'"):
        index.within(f"section:{(section + 1) % THEMES}").search("theme3w1")
    for wrong in ("section:99", "chapter:1", 99, ""):
        with pytest.raises(InputError, match="there is no cluster"):
            index.within(wrong)
    with pytest.raises(InputError, match="search in the folder of a run"):
        doccluster.search("rye", ["rye bread", "bread oven"], within=0)


def test_browsing_a_run_walks_down_its_tree_and_up_again(run):
    browser = open_browser(run)
    sections, topics = run.levels
    assert [card.name for card in browser.cards] == [f"section:{number}" for number in range(THEMES)]
    assert [card.size for card in browser.cards] == [cluster.size for cluster in sections.clusters]
    browser.open(2)
    parts = np.flatnonzero(topics.parents_on(sections) == 1)
    assert [card.name for card in browser.cards] == [f"topic:{number}" for number in parts]
    assert browser.cards[0].label == topics.clusters[parts[0]].label
    below = browser.cards[0]
    browser.open(1)  # a topic has no parts: its documents are scattered
    assert sorted(np.concatenate([card.members for card in browser.cards])) == sorted(below.members)
    assert {card.name for card in browser.cards} == {""}
    assert browser.path == "open 2 > open 1"
    browser.back()
    browser.back()
    assert browser.path == "everything"
    browser.gather([1, 2])
    assert browser.n_documents == sections.clusters[0].size + sections.clusters[1].size


def test_few_clusters_have_no_sections(texts):
    run = doccluster.run(texts, n_clusters=11, language="none")
    assert [level.name for level in run.levels] == ["cluster"]


def test_the_sample_has_topics_over_its_stories():
    run = doccluster.run(doccluster.load_sample())
    assert [level.name for level in run.levels] == ["topic", "story"]
    assert all_nest(run)
    assert run.shows_stories
    # each story lies whole where most of its documents are, so no topic is without a story
    assert all(node.children for node in run.tree)
    assert sum(node.cluster.size for node in run.tree) == run.n_documents - run.n_other


def test_very_many_articles_have_no_topics_and_it_is_said(monkeypatch):
    monkeypatch.setattr("doccluster.pipeline.nested_levels.MAX_DOCUMENTS", 100)
    run = doccluster.run(doccluster.load_sample())
    assert [level.name for level in run.levels] == ["cluster"]
    assert "Topics of the stories are left out: there are more than 100 documents." in run.notes


def test_sections_of_noise_are_hidden_and_it_is_said():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 40))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = rng.integers(0, 20, 600)
    coarser, notes = LevelsWork(rows, labels, np.ones(600, bool), None, 0).above(None)
    assert coarser == {}
    assert len(notes) == 1
    assert notes[0].startswith("Sections are left out: random parts of the documents do not bring them back")


def test_there_is_no_section_of_sections():
    rng = np.random.default_rng(0)
    sections = np.arange(640) % 16
    rows = np.eye(16)[sections] + 0.1 * rng.random((640, 16))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    topics = 2 * sections + (np.arange(640) // 16) % 2
    columns = {"agreement": np.array([0.9, 0.8]), "chosen": np.array(["sections", "topics"])}
    levels = {"sections": sections, "topics": topics}
    numbers = {"k": 16, "sections": 16, "topics": 32, "subtopics": None}
    choice = Recommendation(
        **numbers, granularity="sections", reason="", has_structure=True, p_value=0.05,
        columns=columns, n_documents=640, n_looked_at=640, levels=levels,
    )  # fmt: skip
    around = LevelsWork(rows, sections, np.ones(640, bool), choice, 0).around()
    assert (around.shown, dict(around.coarser)) == ("section", {})
    assert list(around.finer) == ["topic"]
    assert nests(around.finer["topic"], sections)
    assert int(around.finer["topic"].max()) == 31
    beside = LevelsWork(rows, sections, np.ones(640, bool), replace(choice, granularity="topics"), 0).around()
    assert list(beside.coarser) == ["section"], "topics as many have them"


def test_the_folder_keeps_the_levels(run, tmp_path):
    save_run(run, tmp_path / "run")
    loaded = load_run(tmp_path / "run")
    for kept, made in zip(loaded.levels, run.levels, strict=True):
        assert kept.name == made.name
        assert kept.clusters == made.clusters
        assert np.array_equal(kept.labels, made.labels)


def test_levels_that_do_not_nest_are_damage(run, tmp_path):
    save_run(run, tmp_path / "run")
    path = tmp_path / "run" / "model" / "levels.npz"
    labels = np.load(path)["section"]
    labels[[0, -1]] = labels[[-1, 0]]
    np.savez(path, section=labels)
    with pytest.raises(SchemaError, match="do not nest"):
        load_run(tmp_path / "run")
    np.savez(path, section=labels[1:])
    with pytest.raises(SchemaError, match="one a document"):
        load_run(tmp_path / "run")


def test_a_level_that_names_no_document_is_damage(run, tmp_path):
    save_run(run, tmp_path / "run")
    path = tmp_path / "run" / "model" / "levels.json"
    content = read_json(path)
    content["coarser"][0]["clusters"][0]["representatives"][0]["row"] = 10**6
    del content["schema"]
    write_json(path, content)
    with pytest.raises(SchemaError, match="not there"):
        load_run(tmp_path / "run")


def test_an_unknown_way_of_levels_is_refused(texts):
    with pytest.raises(InputError, match="levels"):
        doccluster.run(texts, levels="many")


def test_nodes_hold_what_lies_below_them():
    levels = [
        TreeLevel(name, np.array(labels), tuple(range(max(labels) + 1)))
        for name, labels in (("topic", [0, 0, 1]), ("story", [1, 0, 2]))
    ]
    levels = [TreeLevel(level.name, level.labels, tuple(described(n) for n in level.clusters)) for level in levels]
    assert [[child.cluster.cluster for child in node.children] for node in tree_of(levels)] == [[0, 1], [2]]


def described(number):
    from doccluster.labeling import ClusterDescription

    return ClusterDescription(number, 1, f"cluster {number}")


def test_new_documents_are_placed_on_every_level(tmp_path):
    texts = texts_of_themes()
    names = np.repeat([f"group {number}" for number in range(THEMES * PARTS)], EACH)
    run = doccluster.run(texts, labels=names.tolist(), language="none", output=tmp_path / "run", report=False)
    section, topic = run.levels
    fine = np.array([2 * label + row % 2 for row, label in enumerate(topic.labels.tolist())])
    clusters = tuple(described(number) for number in range(fine.max() + 1))
    run = replace(run, around=replace(run.around, finer=(TreeLevel("subtopic", fine, clusters),)))
    save_run(run, tmp_path / "finer")
    for model in (run, tmp_path / "finer"):
        table = doccluster.assign(model, texts)
        assert table["section"].tolist() == [section.clusters[number].label for number in section.labels]
        placed = [int(name.removeprefix("cluster ")) // 2 for name in table["subtopic"]]
        assert placed == table["cluster"].tolist()
        assert doccluster.assign(model, ["nothing known"])["section"].tolist() == [""]
    blocks = doccluster.assign(tmp_path / "finer", written(texts, tmp_path), scratch=tmp_path)
    assert blocks["subtopic"].tolist() == table["subtopic"].tolist()


def written(texts, folder):
    path = folder / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return path


def test_tables_name_the_path_of_each_document(run, tmp_path):
    save_run(run, tmp_path / "run")
    table = pd.read_csv(tmp_path / "run" / "assignments.csv")
    section = run.levels[0]
    assert table["section"].tolist() == [section.clusters[number].label for number in section.labels]
    assert table["topic"].tolist() == [run.clusters[number].label for number in table["cluster"]]
    assert run.to_pandas()["section"].tolist() == table["section"].tolist()
    levels = pd.read_csv(tmp_path / "run" / "levels.csv")
    assert levels.groupby("level")["size"].sum().tolist() == [run.n_documents] * 2
    topics = levels[levels["level"] == "topic"]
    assert topics["parent"].astype(int).tolist() == run.levels[1].parents_on(section).tolist()
    assert topics["label"].tolist() == [cluster.label for cluster in run.clusters]
    assert set(levels["central_document"].astype(str)) <= set(run.documents.ids)


def test_a_run_without_levels_has_no_columns_of_them(texts, tmp_path):
    save_run(doccluster.run(texts, n_clusters=3, language="none", levels="none"), tmp_path / "run")
    assert not (tmp_path / "run" / "levels.csv").exists()
    assert "section" not in pd.read_csv(tmp_path / "run" / "assignments.csv")


def test_merged_clusters_are_in_the_section_of_the_first(run):
    section, topic = run.levels
    parents = topic.parents_on(section)
    first, second = 0, int(np.flatnonzero(parents != parents[0])[0])
    merged = run.merge(first, second)
    assert all_nest(merged)
    home = merged.levels[0].labels[run.partition.labels == second]
    assert np.unique(home).size == 1
    assert home[0] == merged.levels[0].labels[np.flatnonzero(run.partition.labels == first)[0]]
    sizes = np.bincount(merged.levels[0].labels)
    assert [cluster.size for cluster in merged.levels[0].clusters] == sizes.tolist()
    for cluster in merged.levels[0].clusters:
        assert all(merged.levels[0].labels[near.row] == cluster.cluster for near in cluster.representatives)


def test_explaining_walks_up_and_down(run):
    section, topic = run.levels
    cluster = run.explain(7)
    home = int(section.labels[topic.labels == 7][0])
    assert cluster.content["path"] == [{"level": "section", "cluster": home, "label": section.clusters[home].label}]
    assert f"  in section {home} ({section.clusters[home].label})" in cluster.lines
    whole = run.explain(f"section:{home}")
    assert 7 in [part["cluster"] for part in whole.content["parts"]]
    assert sum(part["size"] for part in whole.content["parts"]) == section.clusters[home].size
    assert run.explain("topic:7").content == cluster.content
    document = run.explain(run.documents.ids[100])
    assert [part["level"] for part in document.content["path"]] == ["section", "topic"]
    with pytest.raises(InputError, match="no cluster and no document"):
        run.explain("section:99")


def test_all_clusters_are_listed_as_a_tree(run):
    assert len(run.explain().lines) == 1 + THEMES + THEMES * PARTS
    tops = doccluster.explain(run, depth=1).lines
    assert tops[0] == "6 sections, 24 topics: number, documents, label"
    assert len(tops) == 1 + THEMES


def test_the_screen_puts_clusters_below_their_sections(run, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_run(run, None)
    shown = capsys.readouterr().out.splitlines()
    table = [line for line in shown if not line.startswith("  silhouette")]  # the line of a score goes on
    assert max(map(len, table)) <= 80
    headings = [line for line in shown if line.startswith("section ")]
    sections = run.levels[0].clusters
    assert headings == [f"section {n}, {whole.size} documents: {whole.label}" for n, whole in enumerate(sections)]
    rows = run_as_json(run, None)["levels"]
    assert [row["level"] for row in rows] == ["section"] * THEMES + ["topic"] * THEMES * PARTS


@pytest.fixture(scope="module")
def of_large(texts):
    """A run of the themes alone, each of which is divided into its clusters."""
    assert len(texts) >= LARGE * THEMES
    return doccluster.run(texts, n_clusters=THEMES, language="none", random_state=0)


def test_large_clusters_of_a_given_number_have_subtopics(texts, of_large):
    n_documents, run = len(texts), of_large
    plain = doccluster.run(texts, n_clusters=THEMES, language="none", random_state=0, levels="none")
    assert np.array_equal(run.partition.labels, plain.partition.labels)
    assert [level.name for level in run.levels] == ["topic", "subtopic"]
    assert all_nest(run)
    parts = np.arange(n_documents) // EACH
    agreement = doccluster.evaluate(run.levels[1].labels, truth=parts, measures="adjusted_rand")["adjusted_rand"].value
    assert agreement > 0.9
    backwards = doccluster.run(texts[::-1], n_clusters=THEMES, language="none", random_state=0)
    assert np.array_equal(backwards.levels[1].labels[::-1], run.levels[1].labels)


def test_large_clusters_of_documents_drawn_at_random_have_no_subtopics():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"noise{w}" for w in rng.integers(0, 300, 20)) for _ in range(300)]
    run = doccluster.run(texts, n_clusters=3, language="none", random_state=0)
    assert run.n_documents >= LARGE * 3
    assert [level.name for level in run.levels] == ["cluster"]


def test_subtopics_that_do_not_return_are_left_out_and_said(texts, monkeypatch):
    monkeypatch.setattr("doccluster.pipeline.nested_levels.RETURNS", 1.1)
    run = doccluster.run(texts, n_clusters=THEMES, language="none", random_state=0)
    assert run.around.finer == ()
    assert any(note.startswith("Subtopics are left out: random parts") for note in run.notes)


def test_thousands_of_finer_clusters_are_left_out_and_said(texts, of_large, monkeypatch):
    n_finer = of_large.around.finer[0].n_clusters
    monkeypatch.setattr("doccluster.pipeline.nested_levels.MAX_FINER", n_finer - 1)
    run = doccluster.run(texts, n_clusters=THEMES, language="none", random_state=0)
    assert run.around.finer == ()
    assert f"Subtopics are left out: there are {n_finer} of them; --granularity subtopics shows them." in run.notes


def test_levels_have_columns_of_their_own_beside_those_of_the_source(texts):
    kinds = [f"kind {number % 3}" for number in range(len(texts))]
    names = np.repeat([f"group {number}" for number in range(THEMES * PARTS)], EACH)
    frame = pd.DataFrame({"text": texts, "section": kinds})
    run = doccluster.run(frame, labels=names.tolist(), language="none")
    table = run.to_pandas()
    assert table["section"].tolist() == kinds
    assert table["level.section"].tolist() == [run.levels[0].clusters[number].label for number in run.levels[0].labels]
