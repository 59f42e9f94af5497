"""Search: how long 100 hits take to become groups, and how long a query takes once a collection is loaded.

Hits are those of AMBIENT where the collection is beside the checkout, and made ones in any case; texts are made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from doccluster.retrieval import SearchHit
from doccluster.retrieval.grouping import cluster_search_results
from doccluster.retrieval.searching import open_search
from experiments.benchmarks.harness import ROOT, Session, row
from experiments.benchmarks.made_text import text_file
from experiments.search_results.ambient import read_ambient

TIMED = ("doccluster/labeling", "doccluster/retrieval")
N_QUERIES = 40
N_HITS = 100
TOPIC_WORDS = 60
SIZES = (2_000, 20_000)

Query = tuple[str, Sequence[SearchHit]]


@row("search-results", "100 hits of an engine into groups with labels: milliseconds of one processor for a query")
def search_results(session: Session) -> None:
    """Group the hits of each query once, after one query that loads what is needed."""
    for name, queries in {"AMBIENT": ambient_queries(), "made hits": made_queries()}.items():
        if queries:
            chosen = queries[:3] if session.quick else queries
            record_times(session, name, [lambda one=one: cluster_search_results(one[1], one[0]) for one in chosen])


@row("search", "a query of two words in made texts, once they are loaded: milliseconds of one processor")
def search(session: Session) -> None:
    """Rank by BM25 alone and with neighbours, and put the 100 best into groups."""
    for size in SIZES[:1] if session.quick else SIZES:
        index = open_search(text_file(size), reader={"format": "lines"})
        words = index.bm25.vectorizer.get_feature_names_out()
        frequent = np.argsort(-index.bm25.vectorizer.document_frequency_, kind="stable")[100:1000]
        rng = np.random.default_rng(0)
        queries = [" ".join(words[rng.choice(frequent, 2, replace=False)]) for _ in range(N_QUERIES)]
        ways: dict[str, Callable[[str], object]] = {
            "BM25": lambda query, index=index: index.rank(query, N_HITS, ranked_by="bm25"),
            "with neighbours": lambda query, index=index: index.rank(query, N_HITS),
            "in groups": lambda query, index=index: index.search(query, n_hits=N_HITS),
        }
        for name, way in ways.items():
            record_times(
                session, f"{size:,} texts, {name}", [lambda way=way, query=query: way(query) for query in queries]
            )


def record_times(session: Session, name: str, calls: Sequence[Callable[[], object]]) -> None:
    """Record the median and the largest milliseconds of the processor of some calls."""
    calls[0]()
    spent = []
    for call in calls:
        began = time.process_time()
        call()
        spent.append(1000 * (time.process_time() - began))
    session.record(name, "milliseconds", float(np.median(spent)), spent)


def ambient_queries() -> list[Query]:
    """Return the queries of AMBIENT and their hits; none where the collection is not beside the checkout."""
    folder = ROOT.parent / "shared" / "corpora" / "search_results_ambient"
    return [(one.text, one.hits) for one in read_ambient(folder)] if folder.is_dir() else []


def made_queries() -> list[Query]:
    """Return queries with 100 hits, a title of five words and a snippet of 25, half of them from one of six topics."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(N_QUERIES):
        words = np.array(
            [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("ala", "ero", "ino", "ulu") for c in "bdfgklmnp"]
        )
        topic = np.repeat(rng.integers(0, 6, N_HITS), 30).reshape(N_HITS, 30)
        own = rng.random((N_HITS, 30)) < 0.5
        places = np.where(
            own, topic * TOPIC_WORDS + rng.integers(0, TOPIC_WORDS, own.shape), rng.integers(0, 432, own.shape)
        )
        texts = words[places % words.size]
        hits = tuple(SearchHit(title=" ".join(text[:5]), snippet=" ".join(text[5:])) for text in texts)
        found.append((f"query{number}", hits))
    return found
