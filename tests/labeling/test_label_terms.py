"""The terms a label is chosen from: mutual information, phrases, and what a search for them brings back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from doccluster.geometry.partition import Partition
from doccluster.labeling import ClusterProfiles
from doccluster.labeling.label_phrases import LabelQueries, count_label_phrases
from doccluster.labeling.label_terms import rank_label_terms
from doccluster.pipeline.main_line import run_pipeline

EAST = ["war in the Middle East", "peace for the Middle East", "Middle East talks", "the Middle East and oil"]
FARM = ["east wind on the farm", "wheat from the farm", "farm prices", "the farm and the wheat"]


def profiles_of(counts, labels):
    rows = sparse.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True))
    partition = Partition.from_labels(labels)
    return ClusterProfiles.from_partition(rows, partition), rows, partition


def test_mutual_information_is_that_of_scikit_learn_where_a_term_is_commoner_inside():
    rng = np.random.default_rng(2)
    counts = rng.poisson(0.6, (40, 12)).astype(float)
    counts[:, 0] += 1
    labels = rng.integers(0, 3, 40).tolist()
    profiles, _, partition = profiles_of(counts, labels)
    found = profiles.mutual_information().toarray()
    for cluster in range(3):
        inside = partition.labels == cluster
        for column in range(12):
            has = counts[:, column] > 0
            expected = mutual_info_score(has, inside) / np.log(2)
            commoner = has[inside].mean() > has.mean()
            assert found[cluster, column] == pytest.approx(expected if commoner else 0.0, abs=1e-12)


def test_a_phrase_stands_for_a_word_that_is_mostly_in_it():
    run = run_pipeline([*EAST, *FARM], n_clusters=2, language="english", vectorizer={"min_df": 1})
    east = run.clusters[int(run.partition.labels[0])]
    assert "Middle East" in [one.term for one in east.label_terms]
    assert "Middle" not in [one.term for one in east.label_terms]
    assert "Middle East" in east.label


def test_the_support_of_a_phrase_is_that_of_a_plain_count_when_all_is_read():
    texts, labels = [*EAST, *FARM], [0] * 4 + [1] * 4
    names = np.array(["east", "farm", "middle", "wheat"], dtype=object)
    column = {name: place for place, name in enumerate(names)}
    found = count_label_phrases(texts, Partition.from_labels(labels), column.get, function_words={"the"})
    place = found.names.index("Middle East")
    assert found.support.toarray()[:, place].tolist() == [4.0, 0.0]
    assert sorted(found.columns[place]) == [0, 2]


def test_a_phrase_counts_as_little_as_its_words_do():
    names = np.array(["east", "farm", "middle", "wheat"], dtype=object)
    has = np.array([[name in text.lower().split() for name in names] for text in [*EAST, *FARM]], dtype=float)
    profiles, _, partition = profiles_of(has, [0] * 4 + [1] * 4)
    column = {name: place for place, name in enumerate(names)}
    phrases = count_label_phrases([*EAST, *FARM], partition, column.get, function_words={"the"})
    whole, quarter = (
        {term.term: term.score for term in rank_label_terms(profiles, names, phrases=phrases, term_factors=factors)[0]}
        for factors in (np.ones(4), np.full(4, 0.25))
    )
    assert whole["Middle East"] == pytest.approx(1.0)  # a bit: all documents of the cluster have it, and no other
    assert quarter["Middle East"] == pytest.approx(0.25)


def test_a_sample_of_texts_is_scaled_to_the_size_of_the_cluster():
    texts = ["the Middle East " + "x" * 90] * 50 + ["wheat farm " + "y" * 90] * 10
    names = np.array(["east", "farm", "middle", "wheat"], dtype=object)
    column = {name: place for place, name in enumerate(names)}
    partition = Partition.from_labels([0] * 50 + [1] * 10)
    given = {"function_words": {"the"}, "max_characters": 1000}
    found = count_label_phrases(texts, partition, column.get, **given)
    support = found.support.toarray()
    assert support[:, found.names.index("Middle East " + "x" * 90)].tolist() == [50.0, 0.0]


def test_a_term_whose_search_brings_the_cluster_back_comes_before_one_that_does_not():
    counts = np.zeros((70, 4))
    counts[:10, 0] = 1  # boat: all of the first cluster
    counts[:10, 1] = 1  # pier: the same, and much heavier in two documents of the other
    counts[10:12, 1] = 9
    counts[10:, 2] = 1
    counts[:, 3] = 1
    profiles, rows, partition = profiles_of(counts, [0] * 10 + [1] * 60)
    names = np.array(["boat", "pier", "rye", "said"], dtype=object)
    ranked = rank_label_terms(profiles, names, rows=rows, partition=partition)[0]
    assert ranked[0].term == "boat"
    pier = next(one for one in ranked if one.term == "pier")
    plain = next(one for one in rank_label_terms(profiles, names)[0] if one.term == "pier")
    assert pier.score == pytest.approx(0.8 * plain.score)  # two of ten places go to others


def test_a_search_ranks_documents_with_more_of_the_terms_first():
    rows = sparse.csr_array(np.array([[0.9, 0.0], [0.1, 0.1], [0.0, 0.5], [0.9, 0.0]]))
    queries = LabelQueries(rows, np.array([0, 1, 1, 0]), {0, 1})
    assert queries.rank([0, 1], 4).tolist() == [1, 0, 3, 2]
    assert queries.share_found([0], 0) == 1.0
    assert queries.share_found([1], 0) == 0.0


@pytest.mark.parametrize("columns", [[0], [2, 0], [0, 1, 2, 3]])
def test_a_search_finds_the_same_documents_as_looking_at_all(columns):
    rng = np.random.default_rng(len(columns))
    rows = rng.integers(0, 3, (60, 4)) / 4.0  # few values, so that many documents are equally good
    queries = LabelQueries(sparse.csr_array(rows), rng.integers(0, 5, 60), set(range(4)))
    of_query = rows[:, columns]
    order = np.lexsort((-of_query.sum(axis=1), -(of_query > 0).sum(axis=1)))
    order = order[of_query[order].any(axis=1)]
    for n_best in range(1, 61):
        assert queries.rank(columns, n_best).tolist() == order[:n_best].tolist()
