"""The small programs that print single figures of the docs, on data whose figures are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import doccluster
from doccluster.results.document_table import DocumentTable
from experiments.choosing_k import criteria, draws, middle
from experiments.labels.classes import NAMES, key
from experiments.labels.repeated import MIN_ARTICLES, excerpts_with
from experiments.quality import steps


def test_a_rule_is_right_where_its_k_is_within_a_fifth_and_on_noise_where_it_names_none():
    runs = pd.DataFrame(
        [
            {"kind": "texts", "level": "easy", "k": 20, "seed": 0, "near": 24, "far": 25},
            {"kind": "texts", "level": "hard", "k": 3, "seed": 0, "near": 3, "far": 2},
            {"kind": "texts", "level": "none", "k": 1, "seed": 0, "near": None, "far": 30},
        ]
    )
    assert criteria.table_of(runs).splitlines() == [
        "| rule | exact | within 20 % | easy | medium | hard | none, and none said |",
        "|---|---|---|---|---|---|---|",
        "| near | 0.50 | 1.00 | 1.00 | nan | 1.00 | 1.00 |",
        "| far | 0.00 | 0.00 | 0.00 | nan | 0.00 | 0.00 |",
    ]


def test_pairs_of_draws_are_counted_that_are_more_than_half_as_large_again():
    assert draws.pairs_apart([4, 6, 7]) == (1, 3)
    before, now = (
        pd.DataFrame({"set": "real la1", "draw": range(4), "k": numbers}) for numbers in ([5, 4, 6, 7], [6, 6, 6, 7])
    )
    assert draws.table_of(before, now).splitlines()[2:] == [
        "| la1 | 5 | **6** | 4 6 7 | 1 | 6 6 7 | 0 |",
        "| all | | | | 1 of 3 | | 0 of 3 |",
    ]


def test_a_set_is_chosen_for_whole_and_in_parts():
    rows = np.repeat(np.eye(4), 30, axis=0).repeat(10, axis=1) * (np.random.default_rng(0).random((120, 40)) < 0.5)
    made = (rows / np.linalg.norm(rows, axis=1, keepdims=True), None, ["one"] * 120, None)
    lines = list(draws.choices(lambda: made))
    assert [line["draw"] for line in lines] == list(range(7))
    assert {line["k"] for line in lines} == {4}
    line = middle.measured(lambda: made)
    assert (line["documents"], line["shown"], line["topics"], line["sections"]) == (120, 4, 4, "")
    assert "agreement" not in line


@pytest.mark.parametrize("kind", criteria.MAKERS)
@pytest.mark.parametrize(("level", "k"), [("easy", 3), ("none", 1)])
def test_a_made_set_has_unit_rows(kind, level, k):
    rows = criteria.MadeSet(kind, level, k, 0).rows()
    assert 290 <= rows.shape[0] <= criteria.N_DOCUMENTS
    lengths = np.sqrt(
        np.asarray(rows.multiply(rows).sum(axis=1) if hasattr(rows, "multiply") else (rows**2).sum(axis=1))
    )
    assert lengths == pytest.approx(1, abs=1e-5)


def test_adherence_is_the_largest_cosine_with_the_mean_of_another_cluster():
    rows = np.array([[1, 0], [1, 0], [0.6, 0.8]])
    assert criteria.adherence(np.array([0, 0, 1]), rows) == pytest.approx(0.6)


def test_a_sentence_is_repeated_where_enough_articles_of_one_outlet_have_it():
    texts = [f"Rain fell on {n + 3} towns. Sign up for news." for n in range(MIN_ARTICLES)]
    sources = ["A"] * MIN_ARTICLES
    corpus = doccluster.read_corpus(pd.DataFrame({"text": texts, "source": sources}))
    assert excerpts_with(DocumentTable.from_corpus(corpus)) == {("A", "sign up for news."): set(range(MIN_ARTICLES))}
    few = doccluster.read_corpus(pd.DataFrame({"text": texts, "source": [*sources[1:], "B"]}))
    assert excerpts_with(DocumentTable.from_corpus(few)) == {}


def test_forms_of_a_name_count_as_one():
    def stem(word):
        return word.rstrip("s")

    assert key("MS Windows", stem) == key("ms window", stem)
    assert len(NAMES) == 20


def test_rows_of_every_kind_find_topics_that_are_apart():
    counts = doccluster.vectorize(
        [f"{topic} word{n % 7} {topic} {topic}s" for topic in ("cat", "tax") for n in range(30)]
    )
    classes = ["cat"] * 30 + ["tax"] * 30
    for rows in (*steps.ROWS.values(), *steps.SMOOTHING.values()):
        assert steps.agreement(steps.labels_by(rows, counts.counts, 2, 0), classes) == pytest.approx((1, 1))


def test_the_table_of_steps_ends_with_the_mean():
    means = pd.DataFrame({"set": ["itn", "la1"], "way": ["x", "x"], "nmi": [0.25, 0.75], "adjusted_rand": [0.1, 0.3]})
    assert steps.table_of(means, ["x"], mean="mean").splitlines()[2:] == [
        "| ITN, English news | 0.250 / 0.100 |",
        "| la1 | 0.750 / 0.300 |",
        "| mean | 0.500 / 0.200 |",
    ]
