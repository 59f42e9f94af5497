"""Labels ranked by titles: a term that many titles of a cluster have comes before one that none has."""

from __future__ import annotations

import numpy as np

from doccluster.corpus import Corpus
from doccluster.labeling import LabelTerm
from doccluster.partition import Partition
from doccluster.pipeline import vectorize_texts
from experiments.labels.run import by_titles


def test_terms_of_titles_come_first_and_a_phrase_counts_as_its_rarest_word():
    texts = ("rye bread and flour from the oven", "flour and oven and rye bread", "herring boats", "boats and herring")
    corpus = Corpus(ids=tuple("abcd"), texts=texts)
    made = vectorize_texts(corpus, language="english", options={"min_df": 1}, n_threads=1)
    terms = (LabelTerm("flour", 1.0, 1.0), LabelTerm("rye bread", 0.9, 1.0), LabelTerm("bread", 0.8, 1.0))
    titles = ["Bread", "Bread of the week", "Flour", "Rye bread and flour"]
    found = by_titles([terms, terms], made, titles, Partition.from_labels([0, 0, 1, 1]))
    # cluster 0: 1 sqrt(1/2), 0.9 sqrt(1/2), 0.8 sqrt(3/2); cluster 1: 1 sqrt(3/2), 0.9 sqrt(2/2), 0.8 sqrt(2/2)
    assert [one.term for one in found[0]] == ["bread", "flour", "rye bread"]
    assert [one.term for one in found[1]] == ["flour", "rye bread", "bread"]
    assert np.isclose(found[0][0].score, 0.8)
