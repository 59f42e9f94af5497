"""The package's top: the verbs of the command line as functions, and what a run gives to pandas."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN

import doccluster
from doccluster.errors import InputError
from doccluster.results.run_tables import assignments_columns

CORPUS = "corpora/samples/tiny"
TEXTS = [
    *("herring boats in the harbour", "the boats land herring at the pier", "a harbour full of boats"),
    *("flour and dough for the oven", "the oven bakes bread of dough", "bread and flour"),
    *("", "the pear orchard", "apples and pears in the orchard", "pears of the orchard"),
]


@pytest.fixture(scope="module")
def run():
    return doccluster.run(["", *TEXTS], n_clusters=3, vectorizer={"min_df": 2})


def test_verbs_are_functions_of_the_package():
    from doccluster.lab import comparing
    from doccluster.pipeline import assigning, choosing, inspecting, main_line

    assert pickle.loads(pickle.dumps(doccluster.run)) is doccluster.run  # workers get it by its name
    assert doccluster.run.__wrapped__ is main_line.run_pipeline
    assert doccluster.assign.__wrapped__ is assigning.assign_documents
    assert doccluster.choose_k.__wrapped__ is choosing.choose_clusters
    assert doccluster.compare.__wrapped__ is comparing.compare_sources
    assert doccluster.inspect.__wrapped__ is inspecting.inspect_source
    for verb in ("run", "assign", "choose_k", "compare", "inspect", "evaluate", "load_run"):
        assert verb in doccluster.__all__


def test_no_module_takes_the_place_of_a_verb_whatever_is_imported_first():
    code = (
        "import importlib, pkgutil, doccluster\n"
        "names = [one.name for one in pkgutil.walk_packages(doccluster.__path__, 'doccluster.')]\n"
        "[importlib.import_module(name) for name in names if not name.endswith('__main__')]\n"
        "print([name for name in ('run', 'assign', 'choose_k', 'compare', 'inspect', 'evaluate', 'load_run')\n"
        "       if not callable(getattr(doccluster, name))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_assignments_as_a_frame_have_every_document_in_reading_order(run):
    frame = run.to_pandas()
    assert frame.index.tolist() == [1, 2, 3, 4, 5, 6, 8, 9, 10]
    assert frame["cluster"].tolist() == run.partition.labels.tolist()
    assert np.allclose(frame["similarity"], run.similarity)
    assert frame["label"].tolist() == [run.clusters[one].label for one in run.partition.labels]
    assert frame["cluster"].tolist() == assignments_columns(run)["cluster"]


def test_documents_without_terms_have_no_cluster_in_the_frame():
    texts = ["zebra", *filter(None, TEXTS), "the"]
    run = doccluster.run(texts, n_clusters=3, vectorizer={"min_df": 2}, language="english")
    frame = run.to_pandas()
    assert len(run.empty_documents) == 2
    assert frame.index.tolist() == [*range(len(texts))]
    assert frame["cluster"].isna().tolist() == [True, *[False] * 9, True]
    assert frame["label"].tolist()[0] == frame["label"].tolist()[-1] == ""


def test_classes_and_clusters_as_frames():
    corpus = doccluster.read_corpus("corpora/samples/tiny")
    run = doccluster.run(corpus, n_clusters=3, truth="class")
    frame, clusters = run.to_pandas(), run.clusters_frame()
    assert set(frame["class"]) == {"bread", "harbour", "orchard"}
    assert clusters["size"].tolist() == frame["cluster"].value_counts().loc[[0, 1, 2]].tolist()
    assert clusters["label"].tolist() == [cluster.label for cluster in run.clusters]
    assert clusters["central_document"].isin(frame.index).all()
    assert np.allclose(clusters["purity"], run.evaluation["purity"].per_cluster)


def test_a_run_is_a_latex_table_of_its_clusters(run):
    lines = run.to_latex().splitlines()
    assert r"\begin{tabular}{rrlr}" in lines
    assert r"cluster & documents & label & similarity \\" in lines
    for number, cluster in enumerate(run.clusters):
        similarity = run.similarity[run.partition.labels == number].mean()
        assert rf"{number} & {cluster.size} & {cluster.label} & {similarity:.3f} \\" in lines


def test_new_texts_get_the_cluster_of_their_like(run, tmp_path):
    found = run.predict(["boats in a harbour", "dough in the oven", "xyzzy"])
    assert found.tolist() == [run.partition.labels[0], run.partition.labels[3], -1]
    assert run.predict([text for text in TEXTS if text]).tolist() == run.partition.labels.tolist()


def test_predict_takes_what_run_takes_and_gives_a_number_for_each_row(tmp_path):
    run = doccluster.run(TEXTS, n_clusters=2)
    texts = ["boats in a harbour", "", None, "dough in the oven"]
    expected = run.predict(texts).tolist()
    assert expected[1:3] == [-1, -1]
    frame = pd.DataFrame({"id": ["a", "a", "b", "c"], "texts": "-", "text": texts})
    sources = (frame, frame["text"], ({"text": text} for text in texts), dict(enumerate(texts)), np.array(texts))
    assert [run.predict(source).tolist() for source in sources] == [expected] * 5
    file = tmp_path / "new.txt"
    file.write_text("boats in a harbour\ndough in the oven\n")
    for source in (file, str(file), [file], doccluster.read_corpus(file), io.BytesIO(file.read_bytes())):
        assert run.predict(source).tolist() == [expected[0], expected[3]]
    of_matrix = doccluster.run(run.vectors.matrix, n_clusters=2)
    assert of_matrix.predict(run.vectors.matrix).tolist() == of_matrix.partition.labels.tolist()


def test_a_run_that_was_read_back_predicts_the_same(tmp_path):
    run = doccluster.run(TEXTS, n_clusters=3, output=tmp_path / "run", report=False)
    again = doccluster.load_run(tmp_path / "run")
    assert again.predict(TEXTS).tolist() == run.predict(TEXTS).tolist()
    assert again.to_pandas().drop(columns=["margin"]).shape == run.to_pandas().drop(columns=["margin"]).shape


def test_a_run_of_a_matrix_cannot_place_texts(tmp_path):
    vectors = doccluster.vectorize([text for text in TEXTS if text])
    doccluster.vectors.write_matrix(tmp_path / "m.npz", vectors)
    run = doccluster.run(tmp_path / "m.npz", n_clusters=2)
    with pytest.raises(InputError, match="knows no words"):
        run.predict(["boats"])


def test_a_number_of_clusters_is_optional():
    import inspect

    assert inspect.signature(doccluster.run).parameters["n_clusters"].default == "auto"


def test_a_wrong_argument_of_a_verb_is_a_sentence():
    for call, told in (
        (lambda: doccluster.run(TEXTS, k=3), r"run\(\) has no argument 'k'; did you mean n_clusters\?"),
        (lambda: doccluster.choose_k(TEXTS, granularty="topics"), "did you mean granularity"),
        (lambda: doccluster.compare(TEXTS, sedes=3), "did you mean seeds"),
        (
            lambda: doccluster.run(TEXTS, vectorizer={"mindf": 2}),
            "vectorizer has no argument 'mindf'; did you mean min_df",
        ),
        (lambda: doccluster.inspect(TEXTS, reader={"text_colum": "body"}), "did you mean text_column"),
        (lambda: doccluster.search("bread", TEXTS, xyz=1), "it has query"),
        (lambda: doccluster.run(TEXTS, algorithm=DBSCAN()), "DBSCAN is none of the algorithms of a run"),
    ):
        with pytest.raises(InputError, match=told):
            call()


def test_an_estimator_is_an_algorithm():
    by_name = doccluster.run(TEXTS, n_clusters=3, algorithm="spherical-k-means:n_init=2", random_state=7)
    found = doccluster.run(TEXTS, algorithm=doccluster.SphericalKMeans(3, n_init=2, random_state=7))
    assert found.partition.labels.tolist() == by_name.partition.labels.tolist()
    assert found.parameters["algorithm"] == "spherical-k-means"
    assert found.parameters["clustering"] == {"n_init": 2}
    assert doccluster.run(TEXTS, n_clusters=2, algorithm=doccluster.DocumentClustering(3)).n_clusters == 2


def test_verbs_take_matrices_in_memory_as_their_commands_take_files(tmp_path):
    vectors = doccluster.vectorize(doccluster.read_corpus(CORPUS))
    for matrix in (vectors, vectors.matrix, vectors.matrix.toarray()):
        assert doccluster.run(matrix, n_clusters=3).n_clusters == 3
        assert doccluster.inspect(matrix).n_documents == vectors.n_documents
        assert doccluster.choose_k(matrix).recommendation.k >= 1
    counts = sparse.csr_array(vectors.counts)
    np.savez(
        tmp_path / "counts.npz",
        data=counts.data,
        indices=counts.indices,
        indptr=counts.indptr,
        shape=counts.shape,
        format=np.array("csr"),
    )
    labels = [doccluster.run(one, n_clusters=3).partition.labels for one in (counts, tmp_path / "counts.npz")]
    assert labels[0].tolist() == labels[1].tolist()
    assert doccluster.run(counts, n_clusters=3, reader={"terms": tuple(vectors.terms)}).clusters[0].label


def test_compare_takes_a_path_a_corpus_or_a_table():
    corpus, settings = doccluster.read_corpus(CORPUS), {"seeds": 2, "algorithms": ["k-means"], "measures": ["nmi"]}
    runs = [doccluster.compare(one, **settings).runs for one in (CORPUS, corpus, [corpus.to_pandas()])]
    assert [sorted(set(table["seed"])) for table in runs] == [[0, 1]] * 3
    scores = [table.loc[table["measure"] == "nmi", "value"].tolist() for table in runs]
    assert len(scores[0]) == 2
    assert scores == [scores[0]] * 3


def test_what_is_no_vectorizer_is_refused_in_a_sentence():
    for given in ({"min_df": 2}, "tfidf"):
        with pytest.raises(InputError, match=r"is not a vectorizer.*by name, such as min_df=2"):
            doccluster.vectorize(["two cats", "one cat"], given)
