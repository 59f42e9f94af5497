"""BM25 against its definition, written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from doccluster.errors import InputError, NothingUsable
from doccluster.retrieval import Bm25Index

TEXTS = ["oil prices rise and oil prices fall", "the wheat harvest", "oil and wheat", "rain", "oil oil oil oil"]


def naive_bm25(texts, query, k1, b):
    documents = [text.split() for text in texts]
    mean_length = sum(map(len, documents)) / len(documents)
    scores = []
    for words in documents:
        score = 0.0
        for term in query.split():
            df = sum(term in other for other in documents)
            tf = words.count(term)
            idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(words) / mean_length))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.5, 0.75), (2.0, 0.0)])
@pytest.mark.parametrize("query", ["oil", "wheat oil", "oil oil rain"])
def test_scores_are_those_of_the_definition(query, k1, b):
    index = Bm25Index.from_texts(TEXTS, k1=k1, b=b)
    np.testing.assert_allclose(index.scores(query), naive_bm25(TEXTS, query, k1, b), rtol=1e-12)


def test_documents_without_a_word_of_the_query_are_not_ranked_and_ties_keep_their_order():
    index = Bm25Index.from_texts(["wheat", "oil", "rain", "oil"])
    assert index.rank("oil").tolist() == [1, 3]
    assert index.rank("oil", 1).tolist() == [1]


def test_what_cannot_be_searched_for_is_one_sentence():
    index = Bm25Index.from_texts(TEXTS)
    with pytest.raises(InputError, match="the query is empty"):
        index.rank("  ")
    with pytest.raises(NothingUsable, match="no document has a word of the query 'copper'"):
        index.rank("copper")
    with pytest.raises(InputError, match="n_best=0"):
        index.rank("oil", 0)
