"""Documents in two spaces: words, and what they mean by embeddings that are given or that an encoder makes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import doccluster
from doccluster.cli.main import main
from doccluster.corpus import Corpus
from doccluster.errors import InputError, MissingDependency
from doccluster.geometry import nearest_neighbours
from doccluster.geometry.neighbours import joined_graph
from doccluster.labeling.placement import rows_that_fit_none
from doccluster.pipeline.repeating import repeat_run
from doccluster.results.run_model import load_model
from doccluster.retrieval.browsing import open_browser
from doccluster.retrieval.searching import open_search
from doccluster.vectors import write_matrix
from doccluster.vectors.encoders import get_encoder
from doccluster.vectors.meaning import meaning_of

TOPICS = {
    "ships": ("harbour", "cargo", "crew", "deck", "anchor", "sail", "hull", "mast"),
    "bread": ("flour", "oven", "dough", "yeast", "crust", "salt", "butter", "loaf"),
    "chess": ("knight", "bishop", "castle", "queen", "pawn", "gambit", "mate", "opening"),
}
ANYWHERE = ("morning", "village", "letter", "winter", "garden", "window")


@pytest.fixture(scope="module")
def titles():
    """Ninety titles of one word of their topic and two that any may have, and the topics."""
    rng = np.random.default_rng(5)
    names = [name for name in TOPICS for _ in range(30)]
    words = [(rng.choice(TOPICS[name]), *rng.choice(ANYWHERE, 2, replace=False)) for name in names]
    return [" ".join(own) for own in words], np.repeat([0, 1, 2], 30)


def tiny_encoder(texts):
    """Return how many words of each topic a text has, and a number that all texts share."""
    return np.array([[5.0, *(sum(word in text for word in words) for words in TOPICS.values())] for text in texts])


@pytest.fixture(scope="module")
def files(titles, tmp_path_factory):
    folder = tmp_path_factory.mktemp("meaning")
    texts, topics = titles
    records = [
        {"id": f"t{row}", "text": text, "class": str(topic)}
        for row, (text, topic) in enumerate(zip(texts, topics, strict=True))
    ]
    (folder / "titles.jsonl").write_text("\n".join(map(json.dumps, records)))
    np.save(folder / "rows.npy", tiny_encoder(texts))
    return folder


def run_of(texts, **asked):
    return doccluster.run(texts, n_clusters=3, language="english", n_threads=1, levels="none", **asked)


def test_algorithms_are_compared_by_words_by_meaning_and_by_both(files, tmp_path, capsys):
    source, names = str(files / "titles.jsonl"), ("smoothed", "spherical-k-means")
    spaces = [part for space in ("words", "meaning", "both") for part in ("--space", space)]
    algorithms = [part for name in names for part in ("--algorithm", name)]
    told = ["--truth", "class", "--measures", "nmi,silhouette", "--language", "english", "--threads", "1"]
    given = [source, "--embeddings", f"titles={files / 'rows.npy'}", *spaces, *algorithms, *told]
    with pytest.raises(SystemExit, match="0"):
        main(["compare", *given, "--seeds", "2", "-o", str(tmp_path / "out")])
    printed = capsys.readouterr().out
    assert "truth: class; meaning: given, 4 dimensions; measures are of the words\n" in printed
    runs = pd.read_csv(tmp_path / "out" / "runs.csv").set_index(["algorithm", "measure", "seed"])["value"].sort_index()
    for name in names:
        nmi = {space: runs[f"{name} by {space}", "nmi"].mean() for space in ("words", "meaning", "both")}
        assert nmi["words"] < 0.7 < 0.99 < nmi["both"]
        assert nmi["meaning"] > 0.99
        # the same clusters by either space, judged by the same words
        assert runs[f"{name} by both", "silhouette", 0] == runs[f"{name} by meaning", "silhouette", 0]
    for space in ("words", "both"):  # about as a run has them
        made = doccluster.run(
            source,
            n_clusters=3,
            embeddings=files / "rows.npy",
            space=space,
            language="english",
            truth="class",
            levels="none",
        )
        assert runs["smoothed by " + space, "nmi", 0] == pytest.approx(made.evaluation["nmi"].value, abs=0.05)


def test_a_comparison_needs_a_meaning_where_it_is_to_cluster_by_one(files, tmp_path):
    source = files / "titles.jsonl"
    with pytest.raises(InputError, match="embeddings are missing"):
        doccluster.compare(source, spaces=["words", "meaning"], seeds=1)
    with pytest.raises(InputError, match="space='sense'"):
        doccluster.compare(source, spaces="sense", seeds=1)
    with pytest.raises(InputError, match="'other', which is not there"):
        doccluster.compare(source, embeddings={"other": files / "rows.npy"}, seeds=1)
    rows = np.load(files / "rows.npy")
    rows[3] = 0
    with pytest.raises(InputError, match="1 of 90 documents have no meaning"):
        doccluster.compare(source, embeddings=rows, spaces="meaning", seeds=1)


def test_meaning_finds_topics_that_share_few_words_and_words_still_name_them(titles):
    texts, topics = titles
    shuffled = np.random.default_rng(0).permutation(len(texts))
    texts, topics = [texts[row] for row in shuffled], topics[shuffled]
    words = run_of(texts)
    known = {*sum(TOPICS.values(), ()), *ANYWHERE}
    both = run_of(texts, embeddings=tiny_encoder(texts))
    assert doccluster.score("nmi", both.partition.labels, truth=topics).value == 1
    assert doccluster.score("nmi", words.partition.labels, truth=topics).value < 0.5
    assert both.vectors.matrix.shape == words.vectors.matrix.shape  # nothing is concatenated
    assert both.vectors.meaning.rows.shape == (90, 4)
    assert words.vectors.meaning is None
    for cluster in both.clusters:
        assert set(cluster.label.replace(",", "").split()) <= known
    assert both.notes[0].startswith("Clustered by words and meaning (embeddings that were given, 4 dimensions)")


@pytest.mark.parametrize("quality", ["fast", "default"])
@pytest.mark.parametrize("space", ["both", "meaning"])
def test_every_quality_clusters_by_meaning(titles, quality, space):
    texts, topics = titles
    run = run_of(texts, encoder=tiny_encoder, quality=quality, space=space)
    assert doccluster.score("nmi", run.partition.labels, truth=topics).value == 1
    assert run.parameters["resolved"]["meaning"]["model"] == "tiny_encoder"


@pytest.mark.parametrize("algorithm", ["spherical-k-means", "k-means", "agglomerative", "vmf"])
def test_an_algorithm_of_one_space_takes_both_side_by_side(titles, algorithm):
    texts, topics = titles
    run = run_of(texts, encoder=tiny_encoder, algorithm=algorithm)
    assert doccluster.score("nmi", run.partition.labels, truth=topics).value == 1
    assert run.centroids.shape == (3, run.vectors.n_terms)
    with pytest.raises(InputError, match="meaning has none"):
        run_of(texts, encoder=tiny_encoder, algorithm="multinomial-mixture")


def test_space_words_gives_the_labels_of_a_run_without_meaning(titles):
    texts, _ = titles
    with_rows = run_of(texts, encoder=tiny_encoder, space="words")
    assert np.array_equal(with_rows.partition.labels, run_of(texts).partition.labels)


@pytest.mark.usefixtures("starts_threads")
def test_labels_depend_neither_on_threads_nor_on_the_order_of_documents(titles):
    texts, _ = titles
    run = run_of(texts, encoder=tiny_encoder)
    threads = doccluster.run(texts, n_clusters=3, language="english", n_threads=3, encoder=tiny_encoder)
    assert np.array_equal(run.partition.labels, threads.partition.labels)
    order = np.random.default_rng(1).permutation(len(texts))
    other = run_of([texts[row] for row in order], encoder=tiny_encoder)
    assert doccluster.score("ari", run.partition.labels[order], truth=other.partition.labels).value == 1


def test_the_joined_graph_is_the_sum_of_both_divided_by_their_means():
    rng = np.random.default_rng(0)
    first, second = rng.random((40, 6)), rng.normal(size=(40, 5))
    graphs = [nearest_neighbours(rows, 4, fold=None).symmetric().toarray() for rows in (first, second)]
    expected = sum(weight * graph / graph[graph > 0].mean() for graph, weight in zip(graphs, (1, 2), strict=True))
    found = joined_graph(nearest_neighbours(first, 4, fold=None), second, weight=2.0).symmetric().toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_neighbours_of_dense_rows_are_those_of_all_cosines():
    rows = np.random.default_rng(3).normal(size=(200, 7))
    cosines = (rows @ rows.T) / np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(rows, axis=1))
    np.fill_diagonal(cosines, -np.inf)
    found = nearest_neighbours(rows, 5, fold=None)
    np.testing.assert_array_equal(found.neighbours, np.argsort(-cosines, axis=1)[:, :5])
    np.testing.assert_allclose(found.similarity, -np.sort(-cosines, axis=1)[:, :5], atol=1e-6)


def test_rows_are_centred_and_unit_and_zero_rows_stay(titles):
    rows = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 5.0]])
    unit = rows[[0, 1, 3]] / np.linalg.norm(rows[[0, 1, 3]], axis=1, keepdims=True)
    moved = unit - unit.mean(axis=0)
    expected = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    np.testing.assert_allclose(meaning_of(rows).rows[[0, 1, 3]], expected, atol=1e-6)
    assert not meaning_of(rows).rows[2].any()


def test_a_document_without_meaning_goes_by_its_words(titles):
    texts, _ = titles
    rows = tiny_encoder(texts)
    rows[0] = 0
    run = run_of(texts, embeddings=rows)
    assert "1 without any go by their words" in run.notes[0]
    assert run.partition.labels[0] == run.partition.labels[1]  # of the same topic
    with pytest.raises(InputError, match="1 of 90 documents have no meaning"):
        run_of(texts, embeddings=rows, space="meaning")


@pytest.mark.parametrize("n_clusters", [3, "auto"])
@pytest.mark.parametrize("repeats", [1, 12])  # from 20 known words on counts settle the clusters
def test_a_document_without_a_known_word_goes_by_its_meaning(titles, tmp_path, n_clusters, repeats):
    texts, topics = titles
    texts = ["of the and", *(" ".join([text] * repeats) for text in texts), "12"]
    rows = np.vstack([[5.0, 0, 0, 1], tiny_encoder(texts[1:-1]), [5.0, 0, 1, 0]])
    asked = {"language": "english", "n_threads": 1, "levels": "none", "embeddings": rows, "n_clusters": n_clusters}
    run = doccluster.run(texts, vectorizer={"token_pattern": "[a-z]+"}, output=tmp_path / "run", report=True, **asked)
    assert (run.rule is None) == (repeats == 1)
    assert run.n_documents == 92
    assert not np.diff(run.vectors.matrix.indptr)[[0, -1]].any()
    assert doccluster.score("nmi", run.partition.labels[1:-1], truth=topics).value > 0.9
    assert run.partition.labels[[0, -1]].tolist() == run.partition.labels[[61, 31]].tolist()  # chess, bread
    assert not run.n_other or not run.is_other[[0, -1]].any()
    assert "2 without a known word by their meaning" in " ".join(run.notes)
    assert doccluster.load_run(tmp_path / "run").to_pandas()["cluster"].notna().all()
    words = doccluster.run(texts, vectorizer={"token_pattern": "[a-z]+"}, space="words", **asked)
    assert len(words.empty_documents) == 2
    if repeats == 1:
        new = doccluster.assign(tmp_path / "run", ["the", "the"], embeddings=[[5.0, 0, 0, 1], [0.0, 0, 0, 0]])
        assert new["cluster"].isna().tolist() == [False, True]
        assert new["cluster"][0] == run.partition.labels[61]
        assert new["similarity"].isna().all()


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (np.ones((90, 3)), "all point the same way"),
        (np.zeros((90, 3)), "all zero"),
        (np.ones((90, 1)), "one dimension"),
        (np.ones(90), "1 dimension"),
        (np.full((90, 3), np.nan), "NaN"),
        ([[1.0, 2.0]] * 89 + [[1.0]], "cannot be read as a matrix"),
        (np.eye(89, 3), "89 rows for 90 documents"),
    ],
)
def test_embeddings_that_cannot_be_used_are_refused_in_a_sentence(titles, rows, told):
    with pytest.raises(InputError, match=told):
        run_of(titles[0], embeddings=rows)


def test_an_encoder_must_return_a_row_for_each_text(titles):
    with pytest.raises(InputError, match="a row of numbers for each"):
        run_of(titles[0], encoder=lambda texts: np.ones(len(texts)))
    with pytest.raises(InputError, match="give one of static"):
        run_of(titles[0], encoder="unheard-of")
    with pytest.raises(InputError, match="give one of them"):
        run_of(titles[0], encoder="static", embeddings=np.ones((90, 3)))
    with pytest.raises(InputError, match="embeddings are missing, and space='meaning' is of them alone"):
        run_of(titles[0], space="meaning")


def test_an_object_with_encode_is_an_encoder(titles):
    class Model:
        def encode(self, texts):
            return tiny_encoder(texts)

    texts, _ = titles
    found = run_of(texts, encoder=Model())
    assert np.array_equal(found.partition.labels, run_of(texts, encoder=tiny_encoder).partition.labels)
    assert found.parameters["resolved"]["meaning"]["model"] == "Model"


def test_skipped_documents_drop_their_rows(titles):
    texts, _ = titles
    rows = tiny_encoder(texts)
    holey, padded = [*texts[:4], "", *texts[4:]], np.insert(rows, 4, 9.0, axis=0)
    found = run_of(holey, embeddings=padded)
    np.testing.assert_array_equal(found.vectors.meaning.rows, run_of(texts, embeddings=rows).vectors.meaning.rows)


def test_rows_of_skipped_lines_are_dropped_by_their_place_and_not_by_the_number_of_the_line(titles, tmp_path):
    texts, _ = titles
    lines = [json.dumps({"id": f"t{row}", "text": "" if row == 5 else text}) for row, text in enumerate(texts)]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n\n".join(lines), encoding="utf-8")  # blank lines: the numbers of lines are not those of rows
    rows = tiny_encoder(texts)
    found = run_of(path, embeddings=rows).vectors.meaning.rows
    np.testing.assert_array_equal(found, run_of(path, embeddings=np.delete(rows, 5, axis=0)).vectors.meaning.rows)


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "arrow"])
def test_files_of_embeddings_are_joined_by_id_or_in_order(files, tmp_path, kind):
    rows = np.load(files / "rows.npy")
    path = tmp_path / f"rows.{kind}"
    order = np.arange(90) if kind == "npy" else np.random.default_rng(0).permutation(90)
    ids = [f"t{row}" for row in order]
    if kind == "npy":
        np.save(path, rows.astype(np.float32))
    elif kind == "npz":
        np.savez(path, embeddings=rows[order], ids=np.array(ids))
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        table = pa.table({"id": ids, "embedding": rows[order].tolist()})
        parquet.write_table(table, path) if kind == "parquet" else feather.write_feather(table, path)
    run = run_of(files / "titles.jsonl", embeddings=path)
    np.testing.assert_allclose(run.vectors.meaning.rows, meaning_of(rows).rows, atol=1e-6)


def test_a_table_may_hold_texts_and_embeddings(titles, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts, _ = titles
    rows = tiny_encoder(texts)
    table = pa.table({"text": ["", *texts], "embedding": [[0.0] * 4, *rows.tolist()]})
    parquet.write_table(table, tmp_path / "titles.parquet")
    run = run_of(tmp_path / "titles.parquet", embeddings=tmp_path / "titles.parquet")
    np.testing.assert_allclose(run.vectors.meaning.rows, meaning_of(rows).rows, atol=1e-6)


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet", "frame"])
def test_a_column_of_the_source_may_hold_the_embeddings(titles, tmp_path, kind):
    texts, _ = titles
    rows = tiny_encoder(texts) / 3
    rows[7] = 0
    path = tmp_path / f"titles.{kind}"
    cells = [None if row == 7 else own.tolist() for row, own in enumerate(rows)]
    frame = pd.DataFrame({"text": ["", *texts], "numbers": [[9.0], *cells]})
    if kind == "csv":
        frame.assign(numbers=frame["numbers"].map(json.dumps)).to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "frame":
        path = frame
    else:
        frame.to_json(path, orient="records", lines=kind == "jsonl", double_precision=15)
    run = run_of(path, embeddings="numbers", output=tmp_path / "run", report=False)
    np.testing.assert_allclose(run.vectors.meaning.rows, meaning_of(rows).rows, atol=1e-6)
    if kind != "frame":
        assert repeat_run(tmp_path / "run").differences == ()
    with pytest.raises(InputError, match=r"no column .nothing.|is neither a file nor a column"):
        run_of(path, embeddings="nothing")
    with pytest.raises(InputError, match="expected a list of numbers"):
        run_of(path, embeddings="text")


def test_ids_that_miss_or_repeat_are_named(files, tmp_path):
    rows = np.load(files / "rows.npy")
    np.savez(tmp_path / "few.npz", rows=rows[:80], ids=[f"t{row}" for row in range(80)])
    with pytest.raises(InputError, match=r"10 of the 90 documents have no row in .*few\.npz, the first is 't80'"):
        run_of(files / "titles.jsonl", embeddings=tmp_path / "few.npz")
    np.savez(tmp_path / "twice.npz", rows=rows, ids=["t0"] * 90)
    with pytest.raises(InputError, match="ids occur twice"):
        run_of(files / "titles.jsonl", embeddings=tmp_path / "twice.npz")
    np.savez(tmp_path / "two.npz", rows=rows, others=rows)
    with pytest.raises(InputError, match="2 tables of numbers, expected one"):
        run_of(files / "titles.jsonl", embeddings=tmp_path / "two.npz")
    (tmp_path / "broken.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match="damaged"):
        run_of(files / "titles.jsonl", embeddings=tmp_path / "broken.npy")


def test_a_run_with_embeddings_is_kept_repeated_and_gone_on_from(files, tmp_path, capsys):
    folder = tmp_path / "run"
    asked = ["run", str(files / "titles.jsonl"), "-k", "3", "-o", str(folder), "--no-report", "--truth", "class"]
    with pytest.raises(SystemExit, match="0"):
        main([*asked, "--embeddings", str(files / "rows.npy")])
    assert "Clustered by words and meaning" in capsys.readouterr().out
    loaded = doccluster.load_run(folder)
    assert loaded.evaluation["nmi"].value == 1
    np.testing.assert_allclose(loaded.vectors.meaning.rows, meaning_of(np.load(files / "rows.npy")).rows, atol=1e-3)
    again = repeat_run(folder)
    assert again.same_labels
    assert again.differences == ()
    with pytest.raises(InputError, match=r"meaning too; call doccluster\.assign"):
        loaded.predict(["harbour crew"])
    with pytest.raises(InputError, match="the clusters are of meaning too"):
        doccluster.assign(folder, ["harbour crew"])
    model = load_model(folder)
    texts = ["winter garden harbour", "winter garden flour", "winter garden pawn"]
    means = np.array([[5.0, 3, 0, 0], [5.0, 0, 3, 0], [5.0, 0, 0, 3]])
    found = doccluster.assign(model, texts, embeddings=means)["label"].tolist()
    labels = {topic: model.labels[loaded.partition.labels[30 * number]] for number, topic in enumerate(TOPICS)}
    assert found == [labels["ships"], labels["bread"], labels["chess"]]
    with pytest.raises(InputError, match="2 dimensions, those of the run 4"):
        doccluster.assign(model, texts, embeddings=means[:, :2])
    with pytest.raises(InputError, match="by tiny_encoder; the run's is by given"):
        doccluster.assign(model, texts, encoder=tiny_encoder)


def test_a_cluster_and_a_document_say_whether_words_or_meaning_keep_them_together(files, tmp_path, capsys):
    folder = tmp_path / "run"
    run = run_of(files / "titles.jsonl", embeddings=files / "rows.npy", output=folder)
    rows, labels = run.vectors.meaning.rows.astype(float), run.partition.labels
    means = np.array([rows[labels == number].sum(axis=0) for number in range(3)])
    cosines = rows @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    own = cosines[np.arange(90), labels]
    cosines[np.arange(90), labels] = -np.inf
    margin = own - cosines.max(axis=1)
    for wanted in ("1", "t40"):
        with pytest.raises(SystemExit, match="0"):
            main(["explain", str(folder), wanted, "--json"])
        found = json.loads(capsys.readouterr().out)["meaning"]
        which = labels == 1 if wanted == "1" else 40
        assert found["similarity"] == pytest.approx(own[which].mean(), abs=1e-3)  # kept in half precision
    assert found["margin"] == pytest.approx(margin[40], abs=1e-3)
    assert {one["id"] for one in found["nearest"]} <= {f"t{row}" for row in np.flatnonzero(labels == labels[40])}
    with pytest.raises(SystemExit, match="0"):
        main(["explain", str(folder), "t40"])
    assert "meaning decides more than words" in capsys.readouterr().out
    assert "stand beside the 4 of their meaning" in (folder / "report.html").read_text(encoding="utf-8")
    words = run_of(files / "titles.jsonl", embeddings=files / "rows.npy", space="words")
    assert words.by_meaning is None


def test_documents_are_scattered_by_words_and_meaning_and_searched_by_words(titles, files, tmp_path):
    _, topics = titles
    for space in ("both", "words"):
        run_of(
            files / "titles.jsonl", embeddings=files / "rows.npy", space=space, output=tmp_path / space, report=False
        )
    browser = open_browser(tmp_path / "both", n_clusters=3)
    assert [set(topics[card.members]) for card in browser.cards if len(set(topics[card.members])) > 1] == []
    browser.gather([1, 2])
    assert len({topic for card in browser.cards for topic in topics[card.members]}) == 2
    browser.search("village")
    words = open_browser(tmp_path / "words", n_clusters=3)
    assert max(len(set(topics[card.members])) for card in words.cards) > 1

    def mixed(folder):  # groups of hits of several topics
        found = open_search(folder).search("village garden", ranked_by="bm25")
        kinds = [{topics[int(found.hits[place].id[1:])] for place in group.documents} for group in found.groups]
        return [own for own in kinds if len(own) > 1]

    assert mixed(tmp_path / "words")
    assert mixed(tmp_path / "both") == []


def test_the_number_of_clusters_is_chosen_by_both_and_a_run_without_a_number_takes_the_same(files):
    asked = {"embeddings": files / "rows.npy", "language": "english", "n_threads": 1}
    found = doccluster.choose_k(files / "titles.jsonl", **asked)
    assert found.recommendation.topics == 3
    run = doccluster.run(files / "titles.jsonl", granularity=found.recommendation.granularity, **asked)
    assert run.parameters["resolved"]["n_clusters"] == found.recommendation.k


def test_a_run_on_embeddings_in_memory_cannot_be_repeated_and_says_so(files, tmp_path):
    run_of(files / "titles.jsonl", embeddings=np.load(files / "rows.npy"), output=tmp_path / "run", report=False)
    with pytest.raises(InputError, match="embeddings in memory"):
        repeat_run(tmp_path / "run")


def test_the_static_encoder_gives_the_mean_of_the_vectors_of_the_tokens():
    try:
        encoder = get_encoder("static")
    except MissingDependency as error:
        pytest.skip(str(error))
    one, two, both = encoder.encode(["ship", "bread", "ship bread"])
    np.testing.assert_allclose(both, (one + two) / 2, rtol=1e-5)
    texts = ["a ship sails", "", "bread " * 700, "ships at sea"]
    together = encoder.encode(texts)
    assert together.shape == (4, 256)
    for text, row in zip(texts, together, strict=True):  # the same bytes in any batch
        assert np.array_equal(encoder.encode([text])[0], row)
    assert not together[1].any()
    a, b, c = (row / np.linalg.norm(row) for row in together[[0, 2, 3]])
    assert a @ c > a @ b


def test_a_missing_package_is_a_sentence_that_says_what_to_install(monkeypatch):
    monkeypatch.setattr("doccluster.vectors.encoders.PACKAGE", "no_such_package_of_weights")
    with pytest.raises(MissingDependency, match=r'the encoder static needs \w+; .*pip install "doccluster\[meaning\]"'):
        get_encoder("static")


def test_a_matrix_of_counts_takes_embeddings_and_a_dense_one_does_not(titles, tmp_path):
    texts, topics = titles
    write_matrix(tmp_path / "words.npz", run_of(texts).vectors)
    run = doccluster.run(tmp_path / "words.npz", n_clusters=3, embeddings=tiny_encoder(texts))
    assert doccluster.score("nmi", run.partition.labels, truth=topics).value == 1
    np.save(tmp_path / "dense.npy", tiny_encoder(texts) - 0.5)
    with pytest.raises(InputError, match="a dense matrix, which has no words"):
        doccluster.run(
            tmp_path / "dense.npy", n_clusters=3, embeddings=tiny_encoder(texts), vectorizer={"weighting": "none"}
        )
    with pytest.raises(InputError, match="an encoder needs texts"):
        doccluster.run(tmp_path / "words.npz", n_clusters=3, encoder=tiny_encoder)


def test_a_corpus_keeps_its_skipped_rows_in_mind():
    corpus = Corpus(ids=("a", "b"), texts=("flour oven", "pawn queen"))
    with pytest.raises(InputError, match="3 rows for 2 documents"):
        doccluster.run(corpus, n_clusters=2, embeddings=np.eye(3))


@pytest.mark.parametrize(("n_words", "weight"), [(5, 1.0), (20, 1.0), (35, 0.756), (80, 0.5)])
def test_meaning_counts_less_beside_longer_documents(n_words, weight):
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(["tide", "pier", "boat", "mast"], n_words)) for _ in range(12)]
    texts += [" ".join(rng.choice(["oven", "loaf", "yeast", "flour"], n_words)) for _ in range(12)]
    rows = rng.normal(size=(24, 5))
    run = doccluster.run(texts, n_clusters=2, language="none", embeddings=rows)
    assert run.vectors.meaning.weight == pytest.approx(weight, abs=1e-3)
    chosen = doccluster.run(texts, n_clusters=2, language="none", embeddings=rows, meaning_weight=3)
    assert chosen.vectors.meaning.weight == 3


def test_a_meaning_that_says_nothing_of_the_words_counts_for_little():
    rng = np.random.default_rng(0)
    subjects = rng.integers(4, size=200)
    words = [[f"{name}{number}" for number in range(12)] for name in ("boat", "corn", "play", "coal")]
    texts = [" ".join(rng.choice(words[subject], 6)) for subject in subjects]
    fits = np.eye(8)[subjects] + rng.normal(scale=0.2, size=(200, 8))
    strange = np.eye(8)[rng.integers(8, size=200)] + rng.normal(scale=0.2, size=(200, 8))
    rows_of = [dict(zip(texts, rows, strict=True)) for rows in (fits, strange)]
    encoders = [lambda batch, rows=rows: np.array([rows[text] for text in batch]) for rows in rows_of]
    settings = {"n_clusters": 4, "language": "none", "levels": "none"}
    runs = {
        name: doccluster.run(texts, encoder=encoder, **settings)
        for name, encoder in zip(("fits", "not"), encoders, strict=True)
    }
    weights = {name: made.parameters["resolved"]["meaning"]["weight"] for name, made in runs.items()}
    assert weights == {"fits": 1.0, "not": 0.05}
    told = {name: "it counts for less" in " ".join(made.notes) for name, made in runs.items()}
    assert told == {"fits": False, "not": True}
    found = runs["not"].labels_
    assert all(len(set(found[subjects == subject])) == 1 for subject in range(4))  # as by words
    for wanted in ({"embeddings": strange}, {"encoder": encoders[1], "meaning_weight": 1.0}):
        assert doccluster.run(texts, **settings, **wanted).parameters["resolved"]["meaning"]["weight"] == 1.0


def test_documents_that_meaning_places_well_are_not_other():
    rng = np.random.default_rng(1)
    subjects = rng.integers(3, size=240)
    words = [[f"{name}{number}" for number in range(30)] for name in ("boat", "corn", "play")]
    strays = np.arange(240) % 6 == 0  # whose words are of any subject
    texts = [
        " ".join(rng.choice(words[rng.integers(3) if stray else subject], 5))
        for subject, stray in zip(subjects, strays, strict=True)
    ]
    rows = np.eye(6)[subjects] + rng.normal(scale=0.15, size=(240, 6))
    settings = {"granularity": "topics", "language": "none", "embeddings": rows}
    made = doccluster.run(texts, space="both", **settings)
    # by words alone the same clusters would leave more of them out
    by_words = rows_that_fit_none(made.vectors.documents, made.partition.labels, n_threads=1)
    assert made.is_other.sum() < by_words.sum() / 2
