"""Long documents in parts: rows, order, shares, and what is said of documents and of their parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import doccluster
from doccluster.corpus.document_parts import corpus_in_parts, in_two_documents
from doccluster.errors import InputError, SchemaError
from doccluster.geometry import nearest_neighbours
from doccluster.geometry.neighbours import with_order
from doccluster.results import prevalence as prevalences
from doccluster.results.storage import read_json
from doccluster.vectors import DocumentVectors

QUICK: dict[str, Any] = {"levels": "none", "letters": False, "measures": ["silhouette"]}
WORDS = [[f"{stem}{ending}" for ending in "abcdefghij"] for stem in ("sail", "wheat", "court", "paint")]


def paragraph(topic: int, rng: np.random.Generator, n_words: int = 60) -> str:
    words = rng.choice([*WORDS[topic], "common", "daily"], n_words)
    return " ".join(words).capitalize() + "."


def long_documents(n: int = 12, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Return documents of ten paragraphs in two runs, and the share of each of four topics in each."""
    rng = np.random.default_rng(seed)
    texts, shares = [], np.zeros((n, 4))
    for number in range(n):
        first, second = number % 4, (number + 1 + number % 3) % 4
        topics = [first] * (3 + number % 5) + [second] * (7 - number % 5)
        texts.append("\n\n".join(paragraph(topic, rng) for topic in topics))
        shares[number] = np.bincount(topics, minlength=4) / 10
    return texts, shares


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    texts, shares = long_documents()
    return pd.DataFrame(
        {"text": texts, "class": shares.argmax(axis=1).astype(str), "party": list("xy" * 6), "words": range(12)},
        index=[f"speech {number}" for number in range(12)],
    )


@pytest.fixture(scope="module")
def run(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> doccluster.Run:
    output = tmp_path_factory.mktemp("runs") / "out"
    return doccluster.run(
        frame,
        n_clusters=4,
        parts="auto",
        truth="class",
        levels="none",
        letters=False,
        output=output,
        command=str(output),
    )


def folder(run: doccluster.Run) -> Path:
    return Path(run.provenance.command)


def matched(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    from scipy.optimize import linear_sum_assignment

    agreement = np.minimum(found[:, :, None], truth[:, None, :]).sum(axis=0)
    return found[:, linear_sum_assignment(-agreement.T)[1]]


def test_shares_are_those_the_documents_were_made_of(run: doccluster.Run) -> None:
    found = run.shares().filter(regex=r"cluster_\d").to_numpy()
    assert np.abs(matched(found, long_documents()[1]) - long_documents()[1]).max() < 0.02


def test_shares_have_a_row_for_each_document_on_the_index_of_the_frame(
    run: doccluster.Run, frame: pd.DataFrame
) -> None:
    shares = run.shares()
    assert list(shares.index) == list(frame.index)
    assert list(shares) == ["words", *(f"cluster_{number}" for number in range(4)), "other", "none"]
    assert np.allclose(shares.drop(columns="words").sum(axis=1), 1, atol=1e-5)
    assert shares["words"].tolist() == [len(text.split()) for text in frame["text"]]
    table = run.to_pandas()
    naive = table["words"].groupby([table["part_of"], table["cluster"]]).sum().unstack(fill_value=0)
    naive = naive.div(naive.sum(axis=1), axis=0).loc[list(frame.index)]
    assert np.allclose(shares.filter(regex=r"cluster_\d").to_numpy(), naive.to_numpy(), atol=1e-6)


def test_rows_are_parts_that_keep_what_is_said_of_their_document(run: doccluster.Run, frame: pd.DataFrame) -> None:
    table = run.to_pandas()
    assert len(table) == run.labels_.size == run.n_documents > 5 * len(frame)
    assert table.index[:2].tolist() == ["speech 0#1", "speech 0#2"]
    first = table.iloc[0]
    assert (first["part_of"], first["part"], first["class"], first["party"]) == ("speech 0", 1, "1", "x")
    assert table["source.words"].tolist() == frame["words"][table["part_of"]].tolist()


def test_a_column_has_a_value_for_each_document(run: doccluster.Run, frame: pd.DataFrame) -> None:
    largest = run.shares().filter(regex=r"cluster_\d").to_numpy().argmax(axis=1).tolist()
    assert run.column("cluster") == run.column("shown") == largest
    assert run.column("party") == frame["party"].tolist()
    assert run.column("id") == list(frame.index)
    with pytest.raises(InputError, match="whole documents have no column 'similarity'"):
        run.column("similarity")


def test_a_run_in_parts_comes_back_from_its_folder(run: doccluster.Run) -> None:
    again = doccluster.load_run(folder(run))
    shares, written = run.shares(), pd.read_csv(folder(run) / "shares.csv")
    assert np.array_equal(again.shares().to_numpy(), shares.to_numpy())
    assert np.allclose(written.drop(columns="id").to_numpy(), shares.to_numpy())
    assert written["id"].tolist() == again.column("id")


def test_older_versions_refuse_a_run_in_parts_and_no_other(run: doccluster.Run, tmp_path: Path) -> None:
    for name in ("run.json", "model/model.json"):
        assert json.loads((folder(run) / name).read_text("utf-8"))["schema"] == 2
    doccluster.run(long_documents()[0], n_clusters=2, **QUICK, output=tmp_path / "whole")
    for name in ("run.json", "model/model.json"):
        record = (tmp_path / "whole" / name).read_text("utf-8")
        assert json.loads(record)["schema"] == 1
        assert '"parts"' not in record
    assert not (tmp_path / "whole" / "shares.csv").exists()
    (tmp_path / "newer.json").write_text('{"schema": 3}', "utf-8")
    with pytest.raises(SchemaError, match="upgrade"):
        read_json(tmp_path / "newer.json")


def test_a_record_of_other_parts_is_refused(run: doccluster.Run, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder(run), copy)
    record = json.loads((copy / "run.json").read_text("utf-8"))
    record["parameters"]["resolved"]["rows"]["parts"][0] += 1
    (copy / "run.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(SchemaError):
        doccluster.load_run(copy)


def test_order_of_input_decides_nothing(run: doccluster.Run, frame: pd.DataFrame) -> None:
    shuffled = frame.sample(frac=1, random_state=3)
    again = doccluster.run(shuffled, n_clusters=4, parts="auto", **QUICK)
    assert again.vectors.next_part is not None
    pd.testing.assert_frame_equal(again.shares().loc[frame.index], run.shares())


def test_classes_are_compared_with_the_largest_share(run: doccluster.Run) -> None:
    scores = {score.name: score for score in run.evaluation.scores if score.truth == "class"}
    naive = doccluster.score("nmi", run.column("cluster"), truth=run.column("class"))
    assert scores["nmi"].value == pytest.approx(naive.value)
    assert "by the largest share of each of 12 documents" in scores["nmi"].notes
    assert run.evaluation.coverage["class"]["n_documents"] == 12
    assert doccluster.score("nmi", run, truth="class").value == pytest.approx(naive.value)


# order and terms


def test_the_next_part_travels_with_its_row() -> None:
    rows = np.eye(6)
    vectors = DocumentVectors(rows, tuple("abcdef")).with_order(np.array([0, 0, 0, 1, 1, 2]))
    assert vectors.next_part is not None
    assert vectors.next_part.tolist() == [1, 2, -1, 4, -1, -1]
    order = np.array([4, 2, 0, 5, 1])
    taken = vectors.take(order)
    assert taken.next_part is not None
    followers = {taken.ids[row]: taken.ids[end] for row, end in enumerate(taken.next_part.tolist()) if end >= 0}
    assert followers == {"a": "b", "b": "c"}  # "d" was not taken, so nothing is before "e"


def test_neighbours_in_a_document_get_twice_the_mean_weight() -> None:
    rng = np.random.default_rng(0)
    rows = sparse.csr_array(rng.random((30, 12)) * (rng.random((30, 12)) < 0.4))
    graph = nearest_neighbours(rows, 3)
    next_row = np.where(np.arange(30) % 5 == 4, -1, np.arange(1, 31))
    before, after = graph.symmetric().toarray(), with_order(graph, next_row).symmetric().toarray()
    naive = before.copy()
    for row, end in enumerate(next_row.tolist()):
        a, b = graph.families[row], graph.families[end]
        if end >= 0 and a != b:
            naive[a, b] += 2 * before[before > 0].mean()
            naive[b, a] += 2 * before[before > 0].mean()
    assert np.allclose(after, naive)


def test_a_run_smooths_over_the_order(frame: pd.DataFrame) -> None:
    with mock.patch("doccluster.clustering.smoothed.document_clusters.with_order", side_effect=with_order) as ordered:
        doccluster.run(frame, n_clusters=4, parts="auto", **QUICK)
        assert ordered.called
        calls = ordered.call_count
        fast = doccluster.run(frame, n_clusters=4, parts="auto", quality="fast", **QUICK)
        assert ordered.call_count == calls
    assert any("Their order counts in the default quality alone" in note for note in fast.notes)


def test_names_of_one_document_are_no_terms_from_five_documents_on(frame: pd.DataFrame) -> None:
    texts = [text.replace("common", f"Hero{'abcdefghijkl'[number]}") for number, text in enumerate(frame["text"])]
    run = doccluster.run(texts, n_clusters=4, parts="auto", **QUICK)
    assert not any(str(term).startswith("hero") for term in run.vectors.terms)
    assert np.abs(matched(run.shares().to_numpy()[:, 1:5], long_documents()[1]) - long_documents()[1]).max() < 0.05
    few = doccluster.run(texts[:4], n_clusters=4, parts="auto", **QUICK)
    assert any(str(term).startswith("hero") for term in few.vectors.terms)


def test_terms_in_two_documents_by_a_naive_count() -> None:
    rng = np.random.default_rng(1)
    counts, documents = (rng.random((20, 15)) < 0.12).astype(int), np.sort(rng.integers(0, 6, 20))
    naive = [len(set(documents[counts[:, term] > 0])) > 1 for term in range(15)]
    assert in_two_documents(sparse.csr_array(counts), documents).tolist() == naive
    assert 0 < sum(naive) < 15


# names of parts


def test_ids_and_columns_of_parts() -> None:
    texts = ["One. Two.", "  ", "Three."]
    corpus = doccluster.Corpus(ids=["a", "a#2", "b"], texts=texts, metadata={"part": ["x", "y", "z"]})
    parts = corpus_in_parts(corpus, "sentences")
    assert list(parts.ids) == ["a#1", "a#2", "a#2#1", "b#1"]
    assert list(parts.column("part_of")) == ["a", "a", "a#2", "b"]
    assert list(parts.column("source.part")) == ["x", "x", "y", "z"]
    assert list(parts.column("words")) == ["1", "1", "0", "1"]


def test_a_document_comes_before_a_part_of_the_same_name() -> None:
    texts = long_documents()[0][:3]
    run = doccluster.run(doccluster.Corpus(ids=["a", "a#2", "b"], texts=texts), n_clusters=2, parts="auto", **QUICK)
    assert run.explain("a#2").content["words"] == len(texts[1].split())
    assert run.explain("a#3").content["id"] == "a#3"


def test_a_document_without_known_words_is_in_none() -> None:
    texts = [*long_documents()[0], "7 7 7", ""]
    run = doccluster.run(texts, n_clusters=4, parts="auto", **QUICK)
    assert run.shares().loc[12, "none"] == 1
    assert run.column("cluster")[12:] == [None, None]
    assert len(run.shares()) == 13  # an empty text is no document


# what is said


def test_explain_says_the_shares_of_a_document_and_where_its_parts_are(run: doccluster.Run) -> None:
    said = run.explain("speech 0")
    shares = run.shares().loc["speech 0"]
    assert [entry["share"] for entry in said.content["shares"]] == pytest.approx(
        sorted((share for share in shares.iloc[1:] if share), reverse=True), abs=1e-6
    )
    parts = run.to_pandas()
    assert [part["cluster"] for part in said.content["parts"]] == parts["cluster"][
        parts["part_of"] == "speech 0"
    ].tolist()
    assert "its parts in order (part: cluster)" in str(said)
    assert run.explain("speech 0#2").kind == "document"
    assert "parts, of " in str(run.explain(0))


def test_a_cluster_says_of_how_many_documents_it_is() -> None:
    texts = long_documents()[0]
    rng = np.random.default_rng(5)
    other = "\n\n".join(" ".join(rng.choice([f"opera{end}" for end in "klmnopqrst"], 60)) + "." for _ in range(10))
    run = doccluster.run([*texts, other, other.split("\n\n")[0]], n_clusters=5, parts="auto", **QUICK)
    from doccluster.results.overview import overview

    facts = {facts.mostly_of: facts for facts in overview(run)}
    assert "13" in facts
    assert facts["13"].n_documents == 2
    assert facts["13"].remark == "nearly all of 13"


def test_the_page_shows_documents_as_strips(run: doccluster.Run) -> None:
    page = (folder(run) / "report.html").read_text("utf-8")
    assert page.count('<div class="strip">') == 12
    assert 'href="#strips"' in page
    assert f"{run.n_documents} parts of 12 documents" in page
    first = run.to_pandas()["cluster"].iloc[0]
    assert f'<div class="strip"><a href="#cluster-{first}"' in page
    whole = doccluster.run(long_documents()[0][:6], n_clusters=2, **QUICK).report().page
    assert 'class="strip"' not in whole


def test_search_finds_the_best_part_of_a_document_once(run: doccluster.Run) -> None:
    found = doccluster.search("saila sailb sailc", run)
    documents = [hit.id.rpartition("#")[0] for hit in found.hits]
    assert len(documents) == len(set(documents)) > 1
    assert all(hit.id in run.documents.ids for hit in found.hits)


def test_assign_gives_a_line_for_each_document_with_its_shares(run: doccluster.Run, frame: pd.DataFrame) -> None:
    table = doccluster.assign(run, frame, threshold=-1)
    assert list(table.index) == list(frame.index)
    assert table["cluster"].tolist() == run.column("cluster")
    shares = list(run.shares())
    assert list(table)[-len(shares) :] == shares
    assert np.allclose(table[shares].to_numpy(float), run.shares().to_numpy(), atol=0.15)  # all but the order
    usual = doccluster.assign(run, frame)
    assert np.allclose(usual[shares[1:]].astype(float).sum(axis=1), 1, atol=1e-5)
    empty = doccluster.assign(run, ["qqqq zzzz", frame["text"].iloc[0]])
    assert pd.isna(empty["cluster"].iloc[0])
    assert empty["none"].iloc[0] == 1
    with pytest.raises(InputError, match=r"doccluster\.assign"):
        run.predict(["x"])


def test_prevalence_counts_documents_by_their_shares(run: doccluster.Run, frame: pd.DataFrame) -> None:
    found = run.prevalence("party")
    shares = run.shares().filter(regex=r"cluster_\d")
    naive = shares.groupby(frame["party"]).mean().T
    assert found.group_sizes == {"x": 6, "y": 6}
    assert np.allclose(found.shares().to_numpy(), naive.to_numpy(), atol=1e-5)
    for column in ("words", "part"):
        with pytest.raises(InputError, match="of parts"):
            run.prevalence(column)
    with pytest.raises(InputError, match="a different value"):
        run.prevalence("part_of")


def test_permutations_of_whole_documents_agree_with_the_hypergeometric_test() -> None:
    rng = np.random.default_rng(0)
    group, labels = np.repeat([0, 1], [14, 16]), rng.integers(0, 2, 30)
    p = prevalences._permuted(np.eye(2)[labels], group, 2, rng)[1, 0]
    n = int(labels[group == 0].sum())
    support = np.arange(0, 15)
    mass = stats.hypergeom.pmf(support, 30, labels.sum(), 14)
    exact = mass[np.abs(support - 14 * labels.mean()) >= abs(n - 14 * labels.mean()) - 1e-9].sum()
    assert p == pytest.approx(exact, abs=0.02)


def test_intervals_draw_documents_and_not_parts() -> None:
    rng = np.random.default_rng(0)
    shares, group = rng.dirichlet([0.2, 0.2], 60), np.repeat([0, 1], 30)
    low, high = prevalences._bootstrap_of_shares(shares, group, 2, np.random.default_rng(1))
    error = shares[:30, 0].std() / np.sqrt(30)
    assert (high - low)[0, 0] == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_long_documents_are_told_of_parts(frame: pd.DataFrame) -> None:
    said = "`--parts auto` clusters them in parts."
    long = [text + "\n\n" + text for text in frame["text"]]
    assert any(
        note.endswith(f"(median 1,200 words): {said}") for note in doccluster.run(long, n_clusters=2, **QUICK).notes
    )
    assert not any(said in note for note in doccluster.run(list(frame["text"]), n_clusters=2, **QUICK).notes)
    assert not any(said in note for note in doccluster.run(long, n_clusters=2, parts="auto", **QUICK).notes)


# what cannot be done


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labels": ["1"] * 12}, "labels are of whole documents"),
        ({"embeddings": np.ones((12, 3))}, "embeddings are of whole documents"),
        ({"granularity": "stories"}, "stories are of whole documents"),
        ({"parts": "chapters"}, "no way to cut"),
    ],
)
def test_what_is_of_whole_documents_is_refused(frame: pd.DataFrame, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        doccluster.run(frame, **{"parts": "auto", **options})


def test_parts_are_refused_in_blocks_and_of_matrices(run: doccluster.Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some text.", "utf-8")
    with pytest.raises(InputError, match="not in blocks"):
        doccluster.run(tmp_path / "a.txt", parts="auto", scratch=tmp_path / "scratch")
    with pytest.raises(InputError, match="not in blocks"):
        doccluster.assign(run, tmp_path / "a.txt", scratch=tmp_path / "scratch")
    with pytest.raises(InputError, match="has no text"):
        doccluster.run(sparse.eye_array(5).tocsr(), parts="auto")
    with pytest.raises(InputError, match="whole documents"):
        doccluster.run(long_documents()[0], n_clusters=2, **QUICK).shares()


def test_other_functions_take_parts(frame: pd.DataFrame) -> None:
    inspected = doccluster.inspect(frame, parts="auto")
    assert inspected.n_documents > 60
    assert inspected.division.startswith("parts of 12 documents")
    assert len(doccluster.choose_k(frame, parts="auto").documents) == inspected.n_documents


def test_dated_documents_of_outlets_are_no_stories_in_parts(frame: pd.DataFrame) -> None:
    dated = frame.assign(date=[f"2024-05-{day:02}" for day in range(1, 13)], source=list("abc" * 4))
    assert not doccluster.run(dated, parts="auto", **QUICK).shows_stories


def test_a_document_that_is_an_example_stands_for_its_parts(frame: pd.DataFrame) -> None:
    topics = [doccluster.Topic("Ships", examples=("speech 0",))]
    run = doccluster.run(frame, n_clusters=4, parts="auto", topics=topics, **QUICK)
    named = next(cluster.cluster for cluster in run.clusters if cluster.label == "Ships")
    assert run.shares().loc["speech 0", f"cluster_{named}"] == 1


def test_the_title_of_a_document_names_no_cluster(frame: pd.DataFrame) -> None:
    from doccluster.results.overview import overview

    titled = frame.assign(title=[f"Zanzibar address number {number}" for number in range(12)])
    run = doccluster.run(titled, n_clusters=4, parts="auto", **QUICK)
    assert all("Zanzibar" not in f"{facts.headline} {facts.label}" for facts in overview(run))
    assert run.to_pandas()["title"].iloc[0] == "Zanzibar address number 0"


def test_the_vectorizer_of_another_library_keeps_its_terms_and_learns_the_order(frame: pd.DataFrame) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    class Own(CountVectorizer):
        """A vectorizer whose words are not known here."""

    run = doccluster.run(frame, n_clusters=4, parts="auto", vectorizer=Own(), levels="none")
    assert run.vectors.next_part is not None
    assert not any("alone are left out" in note for note in run.notes)


def test_one_document_can_stand_in_parts() -> None:
    run = doccluster.run(long_documents()[0][:1], n_clusters=2, parts="auto", **QUICK)
    assert run.size_told == "10 parts of 1 document"
    assert "1 document is clustered in 10 parts." in run.notes


def test_merging_clusters_keeps_the_shares(run: doccluster.Run) -> None:
    shares, merged = run.shares(), run.merge(0, 1)
    together = merged.shares().filter(regex=r"cluster_\d")
    assert together.shape == (12, 3)
    both = (shares["cluster_0"] + shares["cluster_1"]).round(5)
    assert any(np.allclose(together[column].round(5), both, atol=1e-5) for column in together)
