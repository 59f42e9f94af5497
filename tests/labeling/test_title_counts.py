"""Titles weigh: a term that many titles of a cluster have comes before one that none has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from doccluster.labeling.label_phrases import TitleCounts, subject_of
from doccluster.pipeline.main_line import run_pipeline

WORDS = ["bread", "flour", "rye"]


def counted(titles, labels):
    count = CountVectorizer(vocabulary=WORDS).transform
    return TitleCounts.of_titles(titles, count, np.array(labels), max(labels) + 1)


def test_the_weight_of_a_term_is_the_root_of_the_share_of_titles_that_have_it_with_one_added():
    titles = ["Bread", "Bread of the week", "Flour", "Rye bread and flour", "Boats", "Boats at sea", "Harbour", "Rye"]
    found = counted(titles, [0] * 8)
    assert found.factor([0], 0) == pytest.approx(np.sqrt(4 / 9))
    assert found.factor([0, 2], 0) == pytest.approx(np.sqrt(3 / 9))  # a phrase is as rare as its rarest word


def test_of_a_few_titles_the_weight_is_the_share_and_a_term_of_no_title_weighs_little():
    found = counted(["Bread", "Rye bread", "Boats"], [0, 0, 0])
    assert found.factor([0], 0) == pytest.approx(2 / 3, rel=0.02)
    assert found.factor([1], 0) < 0.02


def test_five_titles_are_few_and_six_are_not():
    titles = ["Bread", "Boats", "Boats at sea", "Harbour", "Flour", "A harbour"]
    assert counted(titles[:5], [0] * 5).factor([0], 0) == pytest.approx(1 / 5, rel=0.05)
    assert counted(titles, [0] * 6).factor([0], 0) == pytest.approx(np.sqrt(2 / 7))


def test_answers_to_one_subject_count_once_in_a_cluster():
    found = counted(["Rye bread", "Re: Rye bread", "RE: re: rye bread", "Flour", "Re: Rye bread"], [0, 0, 0, 0, 1])
    assert found.n_titles.tolist() == [2, 1]
    assert found.having.toarray()[:, 2].tolist() == [1, 1]


def test_a_subject_is_a_title_without_the_marks_of_an_answer():
    assert subject_of("Re: [Fwd] Rye bread") == "rye bread"
    assert subject_of("Reading: rye") == "reading: rye"


def test_a_run_names_a_small_cluster_by_what_its_titles_share():
    titled = [
        ("Ferry strike ends", "crews of the harbour talked of wages"),
        ("Ferry strike again", "wages and harbour"),
    ]
    others = [(f"Rye bread {number}", "flour and oven, wages too") for number in range(6)]
    rows = [{"title": title, "text": f"{title}\n{text}"} for title, text in titled + others]
    run = run_pipeline(pd.DataFrame(rows), n_clusters=2, language="english")
    assert run.clusters[int(run.partition.labels[0])].label.casefold().startswith("ferry strike")
