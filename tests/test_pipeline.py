"""The whole line as a call from Python: the same labels again, honest with empty documents, stopped without loss."""

from __future__ import annotations

import gzip
import json
import pathlib
import re
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from doccluster.base import validation
from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalParameters, spherical_k_means
from doccluster.corpus import Corpus, read_corpus
from doccluster.errors import InputError, MemoryLimitError, NothingUsable
from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.fit import largest_first
from doccluster.pipeline.in_process import canonical_order
from doccluster.pipeline.inspecting import inspect_source, write_vectors
from doccluster.pipeline.main_line import RunInterrupted, run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.results.run_folder import load_run

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "corpora" / "samples"
TINY = SAMPLES / "tiny"
NEWSROOM = SAMPLES / "newsroom" / "articles.jsonl"


@pytest.fixture(scope="module")
def news_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("news") / "run"
    run_pipeline(NEWSROOM, n_clusters=12, output=folder, truth="topic", random_state=7, levels="none", report=False)
    return folder


@pytest.mark.parametrize("fold_copies", [False, True])
def test_a_run_checks_its_matrix_once(monkeypatch, fold_copies):
    checked, seen = validation.check_matrix, []

    def counted(matrix, **options):
        seen.append(matrix.shape)
        return checked(matrix, **options)

    named = [module for name, module in sys.modules.items() if name.startswith("doccluster.")]
    for module in named:
        if getattr(module, "check_matrix", None) is checked:
            monkeypatch.setattr(module, "check_matrix", counted)
    run = run_pipeline(NEWSROOM, n_clusters=12, fold_copies=fold_copies)
    assert seen.count(run.vectors.matrix.shape) == 1
    n_terms = run.vectors.n_terms
    assert set(seen) == {run.vectors.matrix.shape, *((level.n_clusters, n_terms) for level in run.levels)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": -3}, "n_clusters=-3 is not a positive whole number"),
        ({"n_clusters": "many"}, "give a whole number or 'auto'"),
        ({"n_clusters": "auto", "granularity": "themes"}, "give one of sections, topics, subtopics, stories"),
        ({"n_clusters": 3, "granularity": "topics"}, "give one of the two"),
        ({"n_clusters": 3, "measures": ["nmi", "foo"], "truth": "class"}, "no measure 'foo'"),
        ({"n_clusters": 3, "measures": ["nmi", "silhouette"]}, "nmi cannot be computed without a truth"),
    ],
)
def test_what_can_be_refused_is_refused_before_the_source_is_read(arguments, message):
    def texts():
        raise AssertionError("the source was read")
        yield

    with pytest.raises(InputError, match=message):
        run_pipeline(texts(), **arguments)


def test_nine_texts_fall_into_their_three_folders():
    run = run_pipeline(TINY, n_clusters=3, truth="class")
    assert run.evaluation.get("purity").value == 1.0
    assert sorted(run.partition.sizes) == [3, 3, 3]
    words = {word for cluster in run.clusters for word in cluster.label.split(", ")}
    assert words >= {"boats", "orchard"}


def test_similarity_is_the_cosine_to_the_own_centroid_and_the_margin_that_to_the_next():
    run = run_pipeline(TINY, n_clusters=3)
    rows = run.vectors.matrix.toarray().astype(np.float64)
    centroids = np.stack([rows[run.partition.labels == cluster].sum(axis=0) for cluster in range(3)])
    centroids /= np.linalg.norm(centroids, axis=1, keepdims=True)
    table = rows @ centroids.T
    own = table[np.arange(9), run.partition.labels]
    table[np.arange(9), run.partition.labels] = -2
    np.testing.assert_allclose(run.similarity, own, atol=1e-5)
    np.testing.assert_allclose(run.margin, own - table.max(axis=1), atol=1e-5)
    np.testing.assert_array_equal(run.runner_up, table.argmax(axis=1))


def test_clusters_are_numbered_by_size(news_folder):
    sizes = load_run(news_folder).partition.sizes
    assert (np.diff(sizes) <= 0).all()


def test_the_largest_cluster_comes_first_and_says_what_it_was():
    partition, before = largest_first(np.array([4, 0, 4, 2, 2, 2]))
    assert partition.labels.tolist() == [1, 2, 1, 0, 0, 0]
    assert before.tolist() == [2, 4, 0]


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_same_seed_gives_the_same_labels_for_any_number_of_threads(news_folder, n_threads):
    again = run_pipeline(NEWSROOM, n_clusters=12, random_state=7, n_threads=n_threads, levels="none")
    np.testing.assert_array_equal(again.partition.labels, load_run(news_folder).partition.labels)


def test_another_seed_is_another_run(news_folder):
    other = run_pipeline(NEWSROOM, n_clusters=12, random_state=8, levels="none")
    assert (other.partition.labels != load_run(news_folder).partition.labels).any()


def test_a_drawn_seed_is_kept_so_that_the_run_can_be_repeated(tmp_path):
    first = run_pipeline(TINY, n_clusters=3, random_state=None, output=tmp_path / "run", report=False)
    assert repeat_run(tmp_path / "run").run.provenance.seed == first.provenance.seed


def test_a_repeated_run_has_the_same_labels_and_nothing_to_say(news_folder):
    again = repeat_run(news_folder / "run.json")
    assert again.same_labels
    assert again.differences == ()


def test_a_repeated_run_on_other_data_says_what_differs(tmp_path):
    source = tmp_path / "texts.jsonl"
    records = NEWSROOM.read_text(encoding="utf-8").splitlines()
    source.write_text("\n".join(records[:60]), encoding="utf-8")
    run_pipeline(source, n_clusters=6, output=tmp_path / "run", levels="none", report=False)
    source.write_text("\n".join(records[:50]), encoding="utf-8")
    again = repeat_run(tmp_path / "run")
    assert not again.same_labels
    told = " / ".join(again.differences)
    assert "checksums differ" in told
    assert "documents: 60 then, 50 now" in told


def test_ids_that_a_spreadsheet_would_run_are_found_again(tmp_path):
    source = tmp_path / "texts.jsonl"
    texts = [*["oil and gas prices"] * 3, *["rye bread from the oven"] * 3]
    lines = [{"id": f"{'=+-@＝x'[row]}{row}", "text": f"{text} {row}"} for row, text in enumerate(texts)]
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    run_pipeline(source, n_clusters=2, language="none", output=tmp_path / "run", report=False)
    lines[0]["text"] = "rye bread from the oven again"
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert "1 of 6 documents are in another cluster" in repeat_run(tmp_path / "run").differences


def test_a_repeated_run_under_other_versions_names_them(tmp_path):
    run_pipeline(TINY, n_clusters=3, output=tmp_path / "run", report=False)
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    record["provenance"]["versions"]["numpy"] = "0.9"
    (tmp_path / "run" / "run.json").write_text(json.dumps(record), encoding="utf-8")
    again = repeat_run(tmp_path / "run")
    assert again.same_labels
    assert any(line.startswith("numpy was 0.9, is ") for line in again.differences)


def test_a_run_is_found_again_from_another_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(SAMPLES)
    run_pipeline("tiny", n_clusters=3, output=tmp_path / "run", report=False)
    monkeypatch.chdir(tmp_path)
    assert repeat_run("run").same_labels


def test_a_run_on_texts_in_memory_says_that_it_cannot_be_repeated(tmp_path):
    run_pipeline(["oil price", "oil well", "wheat crop"], n_clusters=2, output=tmp_path / "run", report=False)
    with pytest.raises(InputError, match="in memory"):
        repeat_run(tmp_path / "run")


def test_the_checksum_follows_the_texts_and_not_the_place(tmp_path):
    import shutil

    shutil.copytree(TINY, tmp_path / "elsewhere")
    here, there = inspect_source(TINY), inspect_source(tmp_path / "elsewhere")
    assert here.checksum == there.checksum
    (tmp_path / "elsewhere" / "bread" / "flour.txt").write_text("changed", encoding="utf-8")
    assert inspect_source(tmp_path / "elsewhere").checksum != here.checksum


def test_documents_without_terms_take_no_part_but_are_listed():
    texts = ["oil price rises", "crude oil price", "!!!", "wheat harvest", "late wheat harvest", "the of and"]
    run = run_pipeline(texts, n_clusters=2, language="english")
    assert run.documents.ids == ("1", "2", "4", "5")
    assert run.empty_documents.ids == ("3", "6")
    assert [one.source for one in run.skipped if one.reason == "no-terms"] == ["3", "6"]
    alone = run_pipeline([texts[n] for n in (0, 1, 3, 4)], n_clusters=2, language="english")
    assert run.evaluation.get("silhouette").value == pytest.approx(alone.evaluation.get("silhouette").value, abs=0.05)
    assert run.notes == (), "the list of what was skipped says it"


def test_nothing_but_documents_without_terms_is_nothing_usable():
    zero = sparse.csr_array((3, 4))
    with pytest.raises(NothingUsable):
        run_pipeline(["! !", "?"], n_clusters=1)
    from doccluster.pipeline.sources import split_empty
    from doccluster.results.document_table import DocumentTable
    from doccluster.vectors import DocumentVectors

    with pytest.raises(NothingUsable, match="none of the 3"):
        split_empty(DocumentTable.from_ids(("a", "b", "c"), {}), DocumentVectors(zero, ("a", "b", "c")))


def test_multiple_labels_count_only_where_there_is_exactly_one(tmp_path):
    topics = (("oil",), ("oil",), ("grain",), ("grain", "oil"), ())
    texts = ("oil price rises", "crude oil price", "wheat harvest", "late wheat harvest", "wheat harvest rain")
    corpus = Corpus(ids=tuple("abcde"), texts=texts, labels={"topic": topics}, metadata=pd.DataFrame(index=range(5)))
    run = run_pipeline(corpus, n_clusters=2, truth="topic")
    coverage = run.evaluation.coverage["topic"]
    assert [coverage[name] for name in ("n_used", "n_unlabelled", "n_several")] == [3, 1, 1]
    assert run.evaluation.get("purity").value == 1.0
    rows, labels = run.classes("topic")
    assert rows.tolist() == [0, 1, 2]
    assert labels == ("oil", "oil", "grain")


def stops_in_the_middle(matrix, parameters, **options):
    """Ctrl-C after the best start so far: what is known by then comes with the interruption."""
    raise FitInterrupted(spherical_k_means(matrix, parameters, **options))


def stops_at_once(matrix, parameters, **options):
    """Ctrl-C before there is anything to keep."""
    raise FitInterrupted(None)


def test_a_stopped_fit_keeps_the_best_so_far_and_marks_the_run(monkeypatch, tmp_path):
    monkeypatch.setattr("doccluster.clustering.smoothed.document_clusters.spherical_k_means", stops_in_the_middle)
    with pytest.raises(RunInterrupted) as stopped:
        run_pipeline(TINY, n_clusters=3, output=tmp_path / "run", report=False)
    assert stopped.value.run.provenance.interrupted
    kept = load_run(tmp_path / "run")
    assert kept.provenance.interrupted
    assert any("interrupted" in note for note in kept.notes)
    np.testing.assert_array_equal(kept.partition.labels, stopped.value.run.partition.labels)


def test_a_fit_stopped_before_its_first_result_writes_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr("doccluster.clustering.smoothed.document_clusters.spherical_k_means", stops_at_once)
    with pytest.raises(KeyboardInterrupt) as stopped:
        run_pipeline(TINY, n_clusters=3, output=tmp_path / "run", report=False)
    assert not isinstance(stopped.value, RunInterrupted)
    assert list(tmp_path.iterdir()) == []


def test_a_run_looks_at_all_pairs_of_documents_only_when_asked():
    def values(**given):
        run = run_pipeline(TINY, n_clusters=3, **given)
        return {score.name: score for score in run.evaluation.scores}

    by_default = values()["dunn"]
    assert np.isnan(by_default.value)
    assert by_default.note == "needs ~1 s, ask for it by name"
    assert by_default.status == "skipped"
    assert values(measures=["dunn"])["dunn"].is_defined
    assert values(measures="all")["dunn"].is_defined


def test_progress_is_told_every_stage(tmp_path):
    stages = []
    run_pipeline(
        TINY,
        n_clusters=3,
        output=tmp_path / "run",
        report=False,
        progress=lambda stage, done, total=None: stages.append(stage),
    )
    assert {"read", "vectorize", "cluster", "label", "judge", "write"} <= set(stages)


def test_new_documents_go_to_the_cluster_of_their_words(tmp_path):
    run = run_pipeline(TINY, n_clusters=3, output=tmp_path / "run", report=False)
    table = assign_documents(tmp_path / "run", ["herring boats in the harbour", "rye bread from the oven", "xyzzy"])
    harbour = int(run.partition.labels[run.documents.ids.index("harbour/tide.txt")])
    bread = int(run.partition.labels[run.documents.ids.index("bread/flour.txt")])
    assert table["cluster"].tolist()[:2] == [harbour, bread]
    assert table["cluster"].isna().tolist() == [False, False, True]
    assert table["label"].tolist()[2] == ""


def test_the_documents_of_a_run_are_assigned_to_their_own_clusters(news_folder):
    run = load_run(news_folder)
    table = assign_documents(news_folder, NEWSROOM)
    np.testing.assert_array_equal(table["cluster"].to_numpy(np.int64), run.partition.labels)
    np.testing.assert_allclose(table["similarity"], run.similarity, atol=1e-5)


def test_vectors_written_to_a_file_cluster_like_the_texts(tmp_path):
    made = write_vectors(NEWSROOM, tmp_path / "x.npz", classes_from="topic")
    how = {"n_clusters": 12, "random_state": 7, "levels": "none"}
    direct = run_pipeline(NEWSROOM, truth="topic", **how)
    through_file = run_pipeline(tmp_path / "x.npz", truth="class", **how)
    assert made.vectors.n_documents == 176
    np.testing.assert_array_equal(direct.partition.labels, through_file.partition.labels)
    assert direct.evaluation.get("nmi").value == through_file.evaluation.get("nmi").value
    for one, other in zip(direct.clusters, through_file.clusters, strict=True):
        assert one.label == other.label or " " in one.label  # a phrase, of which a matrix does not know
    assert not [path for path in tmp_path.iterdir() if path.name != "x.npz"]


def test_vectors_are_not_written_over_a_file_unasked(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"mine")
    with pytest.raises(InputError, match="already exists"):
        write_vectors(TINY, tmp_path / "x.npz")
    assert (tmp_path / "x.npz").read_bytes() == b"mine"


def test_a_matrix_model_refuses_texts_and_other_columns(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(np.eye(4) + 1))
    sparse.save_npz(tmp_path / "y.npz", sparse.csr_array(np.eye(5) + 1))
    run_pipeline(tmp_path / "x.npz", n_clusters=2, output=tmp_path / "run", report=False)
    with pytest.raises(InputError, match="knows no words"):
        assign_documents(tmp_path / "run", ["some text"])
    with pytest.raises(InputError, match="5 columns, the model has 4"):
        assign_documents(tmp_path / "run", tmp_path / "y.npz")


def test_a_matrix_is_not_read_together_with_texts(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(np.eye(4)))
    with pytest.raises(InputError, match="give it alone"):
        run_pipeline([TINY, tmp_path / "x.npz"], n_clusters=2)
    with pytest.raises(InputError, match="text_column"):
        run_pipeline(tmp_path / "x.npz", n_clusters=2, reader={"text_column": "text"})


def test_inspection_counts_what_is_there():
    found = inspect_source(NEWSROOM)
    assert found.n_documents == 176
    assert dict(found.languages) == {"english": 1.0}
    topics = next(column for column in found.labels if column.name == "topic")
    assert topics.n_classes == 8
    assert topics.n_single == 176
    assert found.first_date < found.last_date
    texts = [json.loads(line)["text"] for line in NEWSROOM.read_text(encoding="utf-8").splitlines()]
    assert found.lengths["most"] >= max(map(len, texts))


def test_languages_are_told_apart_by_their_function_words():
    german = ["Der Preis für das Öl ist in der Nacht gestiegen und die Händler sind nicht froh"] * 3
    french = ["Le prix du blé est monté dans la nuit et les marchands ne sont pas contents"] * 3
    run = run_pipeline([*german, *french], n_clusters=2)
    assert set(run.parameters["resolved"]["languages"]) == {"german", "french"}
    terms = set(run.vectors.terms)
    assert not terms & {"der", "und", "les", "dans"}
    assert {"preis", "prix"} <= terms


def test_a_language_without_a_list_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"klingon.*english"):
        run_pipeline(TINY, n_clusters=2, language="klingon")


def test_texts_without_blanks_are_cut_into_pairs_of_characters():
    texts = ["東京都の天気は晴れ", "大阪の天気は雨", "小麦の収穫が遅れる", "小麦の価格が上がる"]
    run = run_pipeline(texts, n_clusters=2)
    assert run.parameters["resolved"]["analyzer"] == "script"
    assert run.partition.labels[0] == run.partition.labels[1] != run.partition.labels[2]


HARBOUR = ["The harbour is closed and the boats are in the bay.", "A storm has closed the harbour and the bay."]
HAFEN = ["Der Hafen ist zu und die Schiffe liegen in der Bucht.", "Ein Sturm hat den Hafen und die Bucht geschlossen."]
METRO = ["市长开放新的地铁线", "新的地铁线今天开放", "地铁线已经开放"]
THAI_OIL = ["ราคาน้ำมันขึ้น", "น้ำมันราคาแพง"]


def test_a_mixed_set_is_divided_like_its_languages_apart():
    run = run_pipeline([*HARBOUR, *HAFEN, *METRO, *THAI_OIL], n_clusters=4)
    labels = run.partition.labels.tolist()
    parts = [set(labels[:2]), set(labels[2:4]), set(labels[4:7]), set(labels[7:])]
    assert [len(part) for part in parts] == [1, 1, 1, 1]
    assert len(set.union(*parts)) == 4


def test_a_run_says_which_languages_it_found_and_what_it_did():
    told = run_pipeline([*HARBOUR, *HAFEN, *METRO], n_clusters=3).parameters["resolved"]["analysis"]
    assert told == {
        "languages": "English 29 %, German 29 %, unknown 43 %; stop words removed, by the language of each document",
        "scripts": "Chinese characters 43 %; without blanks between words, cut into pairs of letters",
    }
    one = run_pipeline(HARBOUR, n_clusters=2).parameters["resolved"]["analysis"]
    assert one == {"languages": "English 100 %; stop words removed, words stemmed"}
    kept = run_pipeline(HARBOUR, n_clusters=2, vectorizer={"stemming": "none"}).parameters["resolved"]["analysis"]
    assert kept == {"languages": "English 100 %; stop words removed"}
    asked = run_pipeline(HARBOUR, n_clusters=2, language="german").parameters["resolved"]["analysis"]
    assert asked == {
        "languages": "English 100 %; stop words of German removed, as you asked, words cut to five letters"
    }
    none = run_pipeline(HARBOUR, n_clusters=2, language="none").parameters["resolved"]["analysis"]
    assert none == {"languages": "English 100 %; stop words kept"}
    given = run_pipeline(HARBOUR, n_clusters=2, vectorizer={"stop_words": ["bay"]}).parameters["resolved"]["analysis"]
    assert given == {"languages": "English 100 %; your stop words removed, words stemmed"}


def test_what_the_caller_says_of_terms_is_not_changed_by_the_script():
    for options in ({"analyzer": "word"}, {"token_pattern": r"\w+"}, {"tokenizer": str.split}):
        run = run_pipeline(METRO, n_clusters=2, vectorizer=options)
        assert run.vectorizer.analyzer == "word"
        assert "市长开放新的地铁线" in run.vectors.terms


def test_new_texts_are_cut_by_script_like_those_of_the_run(tmp_path):
    texts = [*HARBOUR, *HAFEN, *METRO, *THAI_OIL]
    run = run_pipeline(texts, n_clusters=4, output=tmp_path / "run", report=False)
    table = assign_documents(tmp_path / "run", texts)
    assert table["cluster"].tolist() == run.partition.labels.tolist()
    assert np.allclose(table["similarity"], run.similarity, atol=1e-6)


@pytest.mark.parametrize("seed", [-1, 1.5, "seven", True])
def test_a_seed_that_is_none_is_refused_before_any_work(seed):
    with pytest.raises(InputError, match="not a seed"):
        run_pipeline(TINY, n_clusters=2, random_state=seed)


@pytest.mark.real
def test_reuters_single_topic_documents_are_judged_alone(real_corpora):
    files = sorted((real_corpora / "reuters21578").glob("*.sgm.gz"))[::8]  # corpus/test_real_corpora.py reads all
    topics = re.findall(
        r"<TOPICS>(.*?)</TOPICS>", "".join(gzip.decompress(one.read_bytes()).decode("latin-1") for one in files)
    )
    n_topics = [one.count("<D>") for one in topics]
    how = {"quality": "fast", "clustering": {"n_init": 1}, "vectorizer": {"max_features": 2000}, "levels": "none"}
    run = run_pipeline(files, n_clusters=20, truth="topics", measures=["purity", "silhouette"], **how)
    without_text = sum(one.reason == "empty" for one in run.skipped)
    assert len(run.documents) + len(run.empty_documents) + without_text == len(topics) == 3_000
    coverage = run.evaluation.coverage["topics"]
    assert coverage["n_used"] == pytest.approx(n_topics.count(1), abs=2)
    assert coverage["n_several"] == pytest.approx(sum(n > 1 for n in n_topics), abs=2)


def test_weighting_none_takes_counts_as_they_are():
    run = run_pipeline(["oil oil oil price", "wheat wheat crop"], n_clusters=2, vectorizer={"weighting": "none"})
    row = run.vectors.matrix[[0]].toarray().ravel()
    assert sorted(row[row > 0].tolist()) == pytest.approx([1 / 10**0.5, 3 / 10**0.5], abs=1e-6)


def test_auto_asks_the_data_for_the_number_of_clusters_and_says_why():
    run = run_pipeline(TINY, n_clusters="auto", measures=["silhouette"])
    assert run.parameters["n_clusters"] == "auto"
    assert run.parameters["resolved"]["n_clusters"] == run.n_clusters
    assert any(note.startswith("Chosen from the data: ") for note in run.notes)


def test_the_memory_you_give_holds_for_choosing_the_number_of_clusters_too():
    texts = [f"{word} {other}" for word in ("oil", "wheat") for other in ("price", "market", "export", "trade")]
    options = {"algorithm": "spherical-k-means", "clustering": {"max_memory": "9M"}}
    assert run_pipeline(texts, n_clusters=2, **options).n_clusters == 2
    with pytest.raises(MemoryLimitError, match="too little to find the number of clusters"):
        run_pipeline(texts, **options)


def test_a_word_that_is_no_number_of_clusters_is_refused():
    with pytest.raises(InputError, match="'some' is not a number of clusters"):
        run_pipeline(TINY, n_clusters="some")


def test_a_run_says_how_far_its_other_starts_agree_with_the_best():
    corpus = read_corpus(NEWSROOM)
    given = {"n_clusters": 20, "algorithm": "spherical-k-means", "random_state": 1, "levels": "none"}
    found = run_pipeline(corpus, clustering={"n_init": 4}, **given)
    order = canonical_order(found.vectors.matrix)
    parameters = SphericalParameters(20, n_init=4, random_state=1)
    fit = spherical_k_means(found.vectors.matrix[order], parameters)
    expected = np.mean([adjusted_rand_score(fit.labels, other) for other in fit.starts[1:]])
    assert len(fit.starts) == 4
    assert adjusted_rand_score(found.partition.labels[order], fit.labels) == 1
    assert found.parameters["resolved"]["stability"] == pytest.approx(expected, abs=1e-6)
    assert 0 < expected < 1
    single = run_pipeline(corpus, clustering={"n_init": 1}, **given)
    assert single.parameters["resolved"]["stability"] is None
