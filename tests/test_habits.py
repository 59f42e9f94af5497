"""What people try who come from scikit-learn, pandas or the command line: it works, or a sentence says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.feature_extraction import text as theirs
from sklearn.metrics import homogeneity_score

import doccluster
from doccluster import synthetic
from doccluster.cli.main import COMMANDS as ALL
from doccluster.cli.main import commands
from doccluster.errors import InputError
from doccluster.report import plots
from doccluster.results.run_folder import save_run

TRUTH, LABELS = list("aaabbbcc"), [0, 0, 1, 1, 1, 1, 1, 1]
TEXTS = ["rye bread oven", "bread oven flour", "herring boats", "boats in the harbour"]


@pytest.fixture(scope="module")
def corpus():
    return doccluster.load_sample()


@pytest.fixture(scope="module")
def run(corpus):
    return doccluster.run(corpus, n_clusters=32, truth="story")


def test_the_order_of_scikit_learn_is_refused_and_not_taken_for_ours():
    theirs_value = homogeneity_score(TRUTH, LABELS)
    assert doccluster.score("homogeneity_score", LABELS, truth=TRUTH).value == pytest.approx(theirs_value)
    assert theirs_value != pytest.approx(homogeneity_score(LABELS, TRUTH))
    with pytest.raises(InputError, match=r"call it as score\(name, labels, truth=\.\.\."):
        doccluster.score("homogeneity_score", TRUTH, LABELS)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: doccluster.evaluate(TRUTH, LABELS), r"call it as evaluate\(labels, truth=\.\.\."),
        (lambda: doccluster.score(LABELS, np.array(TRUTH)), "there is no measure"),
        (lambda: doccluster.run(["a text"], 5), r"call it as run\(source, n_clusters=\.\.\."),
        (lambda: doccluster.run(), r"run\(\): missing a required argument: .source.; call it as run\(source"),
        (lambda: doccluster.run(["a text"], language=None), "language=None is not known; give auto, none"),
        (lambda: doccluster.run(["a text"], reader="csv"), "reader='csv' is not a dict"),
        (lambda: doccluster.run(["a text"], vectorizer="tfidf"), "give a TfidfVectorizer, or its arguments by name"),
        (lambda: doccluster.run(["a text"], stop_words="english"), "did you mean language"),
        (lambda: doccluster.read_corpus(["a text"], text="body"), "did you mean text_column"),
        (lambda: doccluster.vectorize([["a", "b"], ["c"]]), "a document is of type list"),
        (lambda: doccluster.list_measures("external"), r"call it as list_measures\(family=\.\.\."),
        (lambda: doccluster.Corpus(["a text"], ["a"]), r"call it as Corpus\(ids=\.\.\., texts=\.\.\."),
        (lambda: doccluster.SphericalKMeans(k=4), r"SphericalKMeans\(\) has no argument 'k'; did you mean n_clusters"),
        (lambda: doccluster.TfidfVectorizer(max_feature=4), "did you mean max_features"),
        (lambda: doccluster.choose_k(["a text"], max_k=4), "did you mean ks"),
        (lambda: doccluster.choose_k(TEXTS, ks=4), "ks=4 is not a list of numbers"),
        (lambda: doccluster.compare(["a"], truth=["x"]), "truth names a label column"),
        (lambda: doccluster.write_report("report.html", "run"), r"load_run\(folder\)"),
        (lambda: doccluster.cluster_search_results("query", ["a"]), "one text is not a list of hits"),
        (lambda: synthetic.make_zipf_corpus(100, n_clusters=5), "no argument 'n_clusters'; did you mean n_topics"),
        (
            lambda: synthetic.make_zipf_corpus(100, 5),
            r"too many positional .* as make_zipf_corpus\(n_documents\)",
        ),
        (lambda: synthetic.make_vmf_mixture(100, 50, k=5), "did you mean n_clusters"),
        (lambda: synthetic.make_sparse_vmf(n_samples=100), "did you mean n_documents"),
        (
            lambda: synthetic.make_sharma(100, 50, 5),
            r"too many positional .* as make_sharma\(n_clusters, overlap=",
        ),
        (
            lambda: synthetic.make_twin(doccluster.Corpus(ids=["a"], texts=["b"]), 5),
            r"make one with vectorize\(corpus\)",
        ),
        (lambda: plots.silhouettes("out"), r"load_run\(folder\)"),
        (lambda: plots.k_curve(LABELS), r"make one with choose_k"),
        (lambda: plots.agreement(LABELS), r"make one with compare"),
    ],
)
def test_a_call_that_cannot_be_meant_says_how_to_call(call, told):
    with pytest.raises(InputError, match=told):
        call()


def test_names_of_columns_are_not_taken_for_names_of_documents():
    vectors = doccluster.vectorize(["two cats", "one cat"])
    with pytest.raises(InputError, match=r"names for 2 rows; .* terms="):
        doccluster.DocumentVectors(vectors.matrix, vectors.get_feature_names_out())


def test_noise_is_a_label_and_no_command():
    with pytest.raises(InputError, match=r"noise='drop' is the label of no document; the labels are -1, 0"):
        doccluster.evaluate([0, 0, -1], truth=list("aab"), noise="drop")
    for labels in ([0, 0, 1, -1], ["0", "0", "1", "-1"]):
        judged = doccluster.evaluate(labels, truth=list("aabb"), noise=-1, measures="purity")
        assert judged["purity"].value == 1.0
        assert "without 1 documents labelled noise" in judged["purity"].notes
    assert doccluster.evaluate([0, 1], truth=list("ab"), noise=-1, measures="purity")["purity"].value == 1.0


@pytest.mark.parametrize("kind", ["texts", "Series", "array", "frame", "corpus"])
def test_a_run_places_documents_of_every_kind(corpus, run, kind, tmp_path):
    texts = list(corpus.texts[:9])
    given = {
        "texts": texts,
        "Series": pd.Series(texts),
        "array": np.array(texts, dtype=object),
        "frame": corpus.to_pandas()[:9],
        "corpus": corpus[:9],
    }
    assert doccluster.assign(run, given[kind])["cluster"].tolist() == run.labels_[:9].tolist()


def test_the_run_comes_first_and_a_text_in_a_list(run):
    with pytest.raises(InputError, match=r"model is a list, not a run or its folder; give the run first"):
        doccluster.assign(["a text"], run)
    with pytest.raises(InputError, match="a text goes into a list"):
        doccluster.assign(run, "ferries run aground")


def test_search_takes_a_run_and_the_documents_first(corpus, run, tmp_path):
    expected = doccluster.search("ferry", corpus.to_pandas())
    for found in (doccluster.search(corpus.to_pandas(), "ferry"), doccluster.search("ferry", corpus)):
        assert [hit.id for hit in found.hits] == [hit.id for hit in expected.hits]
    by_run = [doccluster.search(*given) for given in (("ferry", run), (run, "ferry"))]
    assert by_run[0].hits == by_run[1].hits
    assert by_run[0].hits
    with pytest.raises(InputError, match="query is a list; give the words to search for, as one text"):
        doccluster.search(["ferry"], corpus)


def test_documents_are_hits(corpus):
    expected = doccluster.cluster_search_results(list(corpus.texts[:20]))
    assert [one.documents for one in doccluster.cluster_search_results(corpus[:20]).groups]
    assert [hit.id for hit in doccluster.cluster_search_results(corpus[:20]).hits] == list(corpus.ids[:20])
    by_column = doccluster.cluster_search_results(corpus.to_pandas()[["text"]][:20])
    assert [one.documents for one in by_column.groups] == [one.documents for one in expected.groups]
    assert doccluster.cluster_search_results(expected).groups == expected.groups


def test_our_vectorizer_is_taken_for_what_was_set_on_it_and_that_of_scikit_learn_whole(corpus):
    how = {"n_clusters": 5, "levels": "none"}
    plain, by_name = (doccluster.run(corpus, vectorizer=one, **how) for one in (None, {"min_df": 4}))
    found = doccluster.run(corpus, **how, vectorizer=doccluster.TfidfVectorizer())
    assert found.vectors.n_terms == plain.vectors.n_terms
    assert found.partition.labels.tolist() == plain.partition.labels.tolist()
    assert by_name.vectors.n_terms < plain.vectors.n_terms
    found = doccluster.run(corpus, **how, vectorizer=doccluster.TfidfVectorizer(min_df=4))
    assert found.vectors.n_terms == by_name.vectors.n_terms
    found = doccluster.run(corpus, **how, vectorizer=theirs.TfidfVectorizer(min_df=4))
    assert found.vectors.n_terms == len(theirs.TfidfVectorizer(min_df=4).fit(corpus.texts).vocabulary_)


def test_a_table_is_vectorized_by_its_texts_and_not_by_the_names_of_its_columns(corpus):
    table = corpus.to_pandas()
    assert doccluster.vectorize(table).ids == doccluster.vectorize(corpus).ids
    assert doccluster.vectorize(table).shape == doccluster.vectorize(corpus).shape


def test_an_estimator_of_scikit_learn_is_the_algorithm_of_that_name(corpus):
    assert (
        doccluster.run(corpus, algorithm=KMeans(4, random_state=0), levels="none").parameters["algorithm"] == "k-means"
    )


def test_compare_takes_corpora_by_name(corpus):
    given = {"the senate": corpus, "v1.2": corpus.to_pandas()}
    found = doccluster.compare(given, seeds=2, algorithms=["k-means"], measures=["nmi"], truth={"v1.2": "topic"})
    assert list(dict.fromkeys(found.runs["corpus"])) == ["the senate", "v1.2"]
    assert found.corpora["truth"].tolist() == ["topic", "topic"]
    with pytest.raises(InputError, match="labels is not a list of files"):
        doccluster.compare(corpus, labels=[0, 1])


def test_a_run_is_judged_by_its_columns_or_a_table_of_them(corpus, run):
    expected = run.evaluation["nmi"].value
    table = corpus.to_pandas()
    shuffled = table["story"].sample(frac=1, random_state=0)
    for truth in ("story", table["story"], table[["story"]], shuffled, list(table["story"]), table["story"].to_numpy()):
        assert doccluster.evaluate(run, truth=truth)["nmi"].value == pytest.approx(expected)
        if not isinstance(truth, pd.DataFrame):
            assert doccluster.score("nmi", run, truth=truth).value == pytest.approx(expected)
    assert doccluster.evaluate(run)["silhouette"].value == pytest.approx(run.evaluation["silhouette"].value)
    with pytest.raises(InputError, match="there is no label column 'class' to judge by; the run has 'topic', 'story'"):
        doccluster.evaluate(run, truth="class")


def test_labels_stand_in_reading_order_with_a_mark_for_documents_without_terms():
    texts = ["zebra", "rye bread oven", "bread oven flour", "herring boats", "boats in the harbour", "the"]
    run = doccluster.run(texts, n_clusters=2, language="english", vectorizer={"min_df": 2})
    assert len(run.empty_documents) == 2
    assert run.labels_.tolist() == run.to_pandas()["cluster"].fillna(-1).tolist()
    assert run.labels_[[0, 5]].tolist() == [-1, -1]
    truth = ["x", "food", "food", "sea", "sea", "y"]
    assert doccluster.evaluate(run, truth=truth)["purity"].value == 1.0


def test_a_corpus_shows_its_head_and_its_columns(corpus):
    table = corpus.to_pandas()
    assert corpus.head().equals(table.head())
    assert corpus.head(2).equals(table.head(2))
    assert corpus["title"].equals(table["title"])
    assert corpus["story"].loc["eco-001"] == "dockworkers-strike"
    assert corpus[["title", "text"]].equals(table[["title", "text"]])
    assert corpus["eco-001"].id == "eco-001"
    with pytest.raises(InputError, match=r"no document with the id 'nope'; the ids are .*the columns text, title"):
        corpus["nope"]


def test_vectors_have_the_names_of_a_matrix():
    vectors = doccluster.vectorize(["two cats", "one cat, two dogs"])
    assert vectors.shape == vectors.matrix.shape
    assert vectors.get_feature_names_out().tolist() == list(vectors.terms)
    with pytest.raises(InputError, match="came without terms"):
        doccluster.DocumentVectors(vectors.matrix, vectors.ids).get_feature_names_out()


COMMANDS = {  # on documents or a run, and their functions
    "run": "run",
    "inspect": "inspect",
    "assign": "assign",
    "choose-k": "choose_k",
    "compare": "compare",
    "validate": "score_validation",
    "evaluate": "evaluate",
    "search": "search",
    "browse": "browse",
    "explain": "explain",
    "label": "label",
    "merge": "merge",
    "undo": "undo",
    "rerun": "rerun",
    "diff": "diff",
    "vectorize": "vectorize",
    "report": "write_report",
    "measures": "list_measures",
}


def test_commands_on_documents_and_runs_are_functions_of_the_package():

    assert set(COMMANDS) <= set(ALL)
    assert all(callable(getattr(doccluster, name)) and name in doccluster.__all__ for name in COMMANDS.values())


def test_a_cluster_a_document_and_two_clusters_are_explained_as_by_the_command(run, tmp_path, capsys):

    save_run(run, tmp_path / "run")
    for names in (["3"], ["eco-001"], ["3", "4"]):
        commands.main(args=["explain", str(tmp_path / "run"), *names], standalone_mode=False)
        printed = capsys.readouterr().out
        assert printed == f"{run.explain(*names)}\n" == f"{doccluster.explain(tmp_path / 'run', *names)}\n"
    assert run.explain(3).content["label"] == run.clusters[3].label
    assert run.explain(np.int64(3)).lines == run.explain(3).lines
    assert len(run.explain().lines) == 1 + sum(len(level.clusters) for level in run.levels)
    assert repr(run.explain(3)).startswith("Explanation(cluster 3: ")
    with pytest.raises(InputError, match="no cluster 99; give a number from 0 to 31"):
        run.explain(99)
    with pytest.raises(InputError, match="no cluster and no document '99'; give a number from 0 to 31"):
        run.explain("99")


def test_a_number_is_that_of_a_cluster_and_never_an_id():
    run = doccluster.run(["a ferry sails", "a ferry waits", "the wall holds", "the wall falls"] * 3, n_clusters=2)
    with pytest.raises(InputError, match="no cluster 9; give a number from 0 to 1, or '9' for the document of this id"):
        run.explain(9)
    assert run.explain("9").content["id"] == "9"


def test_names_and_merges_of_a_run_in_memory_leave_it_as_it_is(run):
    labels = run.partition.labels.copy()
    named = run.rename(3, "The cup").rename({4: "Batteries", 5: "Wards"})
    assert [named.clusters[number].label for number in (3, 4, 5)] == ["The cup", "Batteries", "Wards"]
    assert named.notes[len(run.notes) :] == tuple(
        f"Edited by hand: label {number} {name}." for number, name in ((3, "The cup"), (4, "Batteries"), (5, "Wards"))
    )
    both = run.merge(3, 4)
    assert both.n_clusters == run.n_clusters - 1
    assert run.merge([3, 4]).partition.labels.tolist() == both.partition.labels.tolist()
    joined = both.partition.labels[np.isin(labels, (3, 4))]
    assert len(set(joined.tolist())) == 1
    assert run.partition.labels.tolist() == labels.tolist()
    with pytest.raises(InputError, match="cannot be merged; give two or more"):
        run.merge(3)
    with pytest.raises(InputError, match="'a' is not the number of a cluster"):
        run.rename("a", "b")
    with pytest.raises(InputError, match="a run in memory is never changed"):
        doccluster.undo(run)


def test_a_folder_is_named_merged_and_undone_by_functions(corpus, tmp_path):
    folder = tmp_path / "run"
    first = doccluster.run(corpus, n_clusters=6, output=folder, levels="none", report=False)
    assert doccluster.label(folder, 2, "Ships").clusters[2].label == "Ships"
    assert doccluster.merge(folder, 0, 1).n_clusters == 5
    changes = doccluster.diff(first, folder)
    assert changes.counts()["merged"] == 1
    assert repr(changes).startswith("Difference(176 and 176 documents; clusters: 1 merged")
    assert doccluster.undo(folder).n_clusters == 6
    assert doccluster.undo(folder).clusters[2].label == first.clusters[2].label
    assert doccluster.diff(first, folder).is_same


def test_a_run_has_its_documents_also_when_it_was_read_back(tmp_path):
    lines = ["id,text,kind", "a,rye bread and flour,food", "b,bread of rye flour,food", "c,herring boats,sea"]
    (tmp_path / "notes.csv").write_text("\n".join(lines), encoding="utf-8")
    run = doccluster.run(tmp_path / "notes.csv", n_clusters=2, output=tmp_path / "out", report=False)
    again = doccluster.load_run(tmp_path / "out")
    assert run.corpus.ids == again.corpus.ids == ("a", "b", "c")
    assert run.corpus.texts == again.corpus.texts
    (tmp_path / "notes.csv").write_text("\n".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(InputError, match="the documents have changed since the run"):
        _ = doccluster.load_run(tmp_path / "out").corpus
    in_memory = doccluster.run(["rye bread", "bread", "boats"], n_clusters=2, output=tmp_path / "memory", report=False)
    assert in_memory.corpus.texts == ("rye bread", "bread", "boats")
    with pytest.raises(InputError, match="texts in memory, which cannot be read again"):
        _ = doccluster.load_run(tmp_path / "memory").corpus


def test_a_run_is_repeated_after_its_folder_and_its_source_moved_together(tmp_path, monkeypatch):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    monkeypatch.chdir(old)
    lines = ["id,text", "a,rye bread and flour", "b,bread of rye flour", "c,herring boats", "d,boats and herring"]
    (old / "notes.csv").write_text("\n".join(lines), encoding="utf-8")
    doccluster.run("notes.csv", n_clusters=2, output="out", report=False)
    monkeypatch.chdir(tmp_path)
    old.rename(new)
    assert doccluster.rerun(new / "out").same_labels  # beside the folder
    (new / "notes.csv").rename(new / "out" / "notes.csv")
    assert doccluster.rerun(new / "out" / "run.json").same_labels  # beside the record
    (new / "out" / "notes.csv").rename(tmp_path / "elsewhere.csv")
    with pytest.raises(InputError, match="does not exist"):
        doccluster.rerun(new / "out")
    assert doccluster.rerun(new / "out", source=tmp_path / "elsewhere.csv").same_labels
    (tmp_path / "elsewhere.csv").write_text("\n".join([*lines, "e,apples"]), encoding="utf-8")
    again = doccluster.rerun(new / "out", source=[tmp_path / "elsewhere.csv"])
    assert "the data are not the same: their checksums differ" in again.differences


def test_rerun_takes_a_source_on_the_command_line(tmp_path, capsys):

    lines = ["id,text", "a,rye bread and flour", "b,bread of rye flour", "c,herring boats", "d,boats and herring"]
    (tmp_path / "notes.csv").write_text("\n".join(lines), encoding="utf-8")
    doccluster.run(tmp_path / "notes.csv", n_clusters=2, output=tmp_path / "out", report=False)
    (tmp_path / "notes.csv").rename(tmp_path / "moved.csv")
    commands.main(args=["rerun", str(tmp_path / "out"), "--source", str(tmp_path / "moved.csv")], standalone_mode=False)
    assert capsys.readouterr().out == "the same labels for 4 documents in 2 clusters\n"


def test_what_is_in_a_source_is_one_row_of_a_table(corpus):
    row = doccluster.inspect(corpus).to_pandas().iloc[0]
    assert (row["n_documents"], row["labels.topic"], row["labels.story"]) == (176, 8, 32)
    assert row["languages.english"] == 1.0
    skipped = doccluster.inspect(["a text", ""]).to_pandas()
    assert skipped["skipped.empty"].tolist() == [1]


def test_a_collection_is_browsed_from_python(corpus, run):
    browser = doccluster.browse(run, n_clusters=4)
    assert repr(browser) == f"Browser(176 documents in {len(browser.cards)} clusters: everything)"
    assert browser.cards[0].node.children  # the sections of the run come first
    browser.gather([1])
    assert browser.n_documents < 176
    assert doccluster.browse(corpus, n_clusters=4).n_documents == 176
