"""The comparison of retrieval models: cross-validation, the paired test, the peer, absent collections."""

from __future__ import annotations

import gzip
import itertools

import numpy as np
import pytest

from doccluster.cli.reproduction import Work, print_columns
from doccluster.retrieval.judged_collections import Collection
from doccluster.retrieval.judged_models import compare_models, cross_validated, judge, prune, randomisation_p, reproduce
from experiments.retrieval.peer import compare_with_bm25s

WORDS = ["rye", "bread", "oven", "herring", "boat", "harbour", "goal", "cup", "final", "storm"]


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, rng.integers(4, 20))) for _ in range(60)]
    queries = [" ".join(rng.choice(WORDS, 2, replace=False)) for _ in range(10)]
    grades = [{int(row): 1.0 for row in rng.choice(60, 5, replace=False)} for _ in queries]
    return Collection("made", texts, queries, grades)


def test_each_query_is_judged_by_what_is_best_on_the_queries_of_other_folds(collection):
    rng = np.random.default_rng(1)
    runs = [rng.random((10, 60)) for _ in range(4)]
    average = np.array([judge(collection, run)["MAP"] for run in runs])
    values, scores = cross_validated(collection, runs)
    for query in range(10):
        others = [other for other in range(10) if other % 5 != query % 5]
        best = int(np.argmax(average[:, others].mean(axis=1)))
        assert values["MAP"][query] == average[best, query]
        assert np.array_equal(scores[query], runs[best][query])


def test_the_paired_test_comes_near_to_trying_all_signs():
    first, second = np.random.default_rng(2).random((2, 8)) + np.array([[0.3], [0.0]])
    difference = first - second
    every = [abs(np.dot(signs, difference)) for signs in itertools.product((-1, 1), repeat=8)]
    exact = np.mean(np.array(every) >= abs(difference.sum()) - 1e-12)
    assert randomisation_p(first, second) == pytest.approx(exact, abs=0.01)


def test_bm25s_ranks_as_we_do(collection):
    pytest.importorskip("bm25s", reason="bm25s is not installed")
    table = compare_with_bm25s(collection)
    assert table["same ranking"].tolist() == [1.0, 1.0]
    assert table["BM25 of"].tolist() == ["doccluster", "bm25s"]


def test_without_the_collections_nothing_is_computed(tmp_path):
    assert reproduce(Work(data=tmp_path)) == reproduce(Work()) == {}


SMART = """.I 1
.T
rye bread
.W
rye bread from the oven
.I 2
.W
the boat left the harbour for herring
.I 3
.W
a goal in the cup final
.I 4
.W
bread for the boat
"""


def test_the_rows_come_from_collections_below_a_folder(tmp_path, capsys):
    folder = tmp_path / "data" / "cranfield"
    folder.mkdir(parents=True)
    (folder / "cran.all.1400.gz").write_bytes(gzip.compress(SMART.encode()))
    (folder / "cran.qry").write_text(".I 1\n.W\nrye bread\n.I 2\n.W\nherring boat\n", encoding="utf-8")
    (folder / "cranqrel").write_text("1 1 1\n1 4 3\n2 2 1\n2 9 1\n", encoding="utf-8")
    shown = []
    ours = reproduce(Work(data=tmp_path, tables=tmp_path, show=shown.append))
    assert set(ours) == {f"Cranfield: {name}" for name in NUMBERS}
    assert ours["Cranfield: BM25, MAP"] == 1
    models, leaders = shown
    assert len(leaders["leaders"]) == 13
    print_columns(models)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in printed[:2]] == [["collection", "model"], ["Cranfield", "BM25"]]
    assert (tmp_path / "models.csv").read_text(encoding="utf-8").startswith("collection,model,MAP")


NUMBERS = ("BM25, MAP", "query likelihood, MAP", "gain by neighbours", "pruned P@10 of all")


def test_tables_have_a_row_for_each_model_and_each_choice_of_leaders(collection):
    compared, pruned = compare_models(collection), prune(collection)
    assert compared["model"].tolist()[0] == "BM25"
    assert compared["MAP"].between(0, 1).all()
    assert pruned.iloc[-1]["P@10 of all"] == 1
    assert len(pruned) == 13
