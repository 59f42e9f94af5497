"""Queries of two words over 20 Newsgroups, whose hits are all alike: the subtopic of a hit is its newsgroup."""

from __future__ import annotations

import pathlib

import numpy as np

from doccluster.corpus import Corpus, read_corpus
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.retrieval import Bm25Index
from doccluster.retrieval.hits import as_hits
from doccluster.retrieval.ranking import best_documents
from experiments.search_results.ambient import AmbientQuery

N_QUERIES = 30
N_DOCUMENTS = 8_000
N_HITS = 100
IN_DOCUMENTS = (40, 400)  # a word of a query
SNIPPET = 300  # characters
FEWEST_HITS, MIN_OF_A_GROUP = 80, 10


def newsgroup_queries(archive: pathlib.Path, *, seed: int = 1) -> list[AmbientQuery]:
    """Return queries of two random words, with the subject and the beginning of the messages that BM25 finds.

    Newsgroups with fewer than ten hits are no subtopics; a query has at least two subtopics.
    """
    generator = np.random.default_rng(seed)
    corpus = read_corpus(archive)
    corpus = corpus.take(np.sort(generator.choice(len(corpus), N_DOCUMENTS, replace=False)))
    made = vectorize_texts(corpus, language="english", options={"stemming": "english", "min_df": 1}, n_threads=1)
    vectors, vectorizer = made.vectors, made.vectorizer
    assert vectorizer is not None  # made of texts
    index = Bm25Index.from_counts(vectors.counts, vectorizer)
    frequency = np.bincount(vectors.counts.indices, minlength=vectors.n_terms)
    is_usual = (frequency >= IN_DOCUMENTS[0]) & (frequency <= IN_DOCUMENTS[1])
    words = [term for term in vectors.terms[is_usual].tolist() if term.isalpha() and len(term) > 3]
    groups = [name.split("/")[-2] for name in corpus.ids]
    found: list[AmbientQuery] = []
    while len(found) < N_QUERIES:
        query = " ".join(generator.choice(words, 2, replace=False).tolist())
        rows = best_documents(index.scores(query), N_HITS).tolist()
        names, counts = np.unique([groups[row] for row in rows], return_counts=True)
        topics = names[counts >= MIN_OF_A_GROUP].tolist()
        if len(rows) < FEWEST_HITS or len(topics) < 2:
            continue
        hits = as_hits([{"title": title, "snippet": text} for title, text in (_shown(corpus, row) for row in rows)])
        relevant = tuple(frozenset(p for p, row in enumerate(rows) if groups[row] == name) for name in topics)
        found.append(AmbientQuery(query, hits, tuple(topics), relevant))
    return found


def _shown(corpus: Corpus, row: int) -> tuple[str, str]:
    """Return the subject of a message and how its own words begin."""
    text = corpus.texts[row]
    body = text.partition("\n\n")[2].split("\n")
    own = [line for line in body if not line.startswith((">", "|", ":")) and "writes:" not in line]
    return corpus.column("title")[row], " ".join(own)[:SNIPPET]
