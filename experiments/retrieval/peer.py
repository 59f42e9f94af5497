"""BM25 beside that of bm25s: the same variant, the same terms, the same rankings; and how long both take.

``python -m experiments.retrieval.peer`` prints both on the collections beside the checkout, and keeps the table.
"""

from __future__ import annotations

import importlib.util
import itertools
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from doccluster.retrieval import Bm25Index
from doccluster.retrieval.judged_collections import FILES, Collection, read_collection
from doccluster.retrieval.judged_models import as_text
from experiments.__main__ import CORPORA

N_BEST = 100
ROUNDS = 3
SAME = 1e-4  # bm25s scores in float32


def compare_with_bm25s(collection: Collection) -> pd.DataFrame | None:
    """Return the rows of both; None where bm25s is not installed.

    bm25s gets the same terms, and its method "lucene": the same formula without the factor k1 + 1, which changes no
    ranking. `same ranking` is the share of queries for which both find 100 documents in the same order, where documents
    whose scores differ by less than a ten thousandth may change places. Seconds are those of the processor, the least
    of three rounds: to make the index of counted terms, and to find the 100 best documents for all queries.
    """
    if importlib.util.find_spec("bm25s") is None:
        return None
    import bm25s

    documents, queries = _terms(collection.counts), _terms(collection.query_counts)
    asked = [collection.query_counts[[row]] for row in range(collection.query_counts.shape[0])]
    vocabulary = {str(column): column for column in range(collection.counts.shape[1])}
    tokens = bm25s.tokenization.Tokenized(ids=documents, vocab=vocabulary)

    def index_peer() -> Any:
        peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        peer.index(tokens, show_progress=False)
        return peer

    peer, peer_made = _least(index_peer)
    own, own_made = _least(lambda: Bm25Index.from_counts(collection.counts, collection.counter))
    theirs, peer_ranked = _least(lambda: [_best(peer.get_scores(query)) for query in queries])
    ours, own_ranked = _least(lambda: [_best(own.score_counts(query)) for query in asked])
    same = [_is_same(*pair, own.score_counts(query)) for *pair, query in zip(ours, theirs, asked, strict=True)]
    times = pd.DataFrame(
        [
            {"BM25 of": "doccluster", "index": own_made, "rank all queries": own_ranked},
            {"BM25 of": "bm25s", "index": peer_made, "rank all queries": peer_ranked},
        ]
    )
    return times.assign(**{"same ranking": float(np.mean(same))})


def _least(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of some work, and the least processor time of its rounds."""
    spent = []
    for _ in range(ROUNDS):
        began = time.process_time()
        found = work()
        spent.append(time.process_time() - began)
    return found, min(spent)


def _best(scores: Any) -> Any:
    order = np.argsort(-scores, kind="stable")[:N_BEST]
    return order[scores[order] > 0]


def _is_same(first: Any, second: Any, scores: Any) -> bool:
    """Return whether two rankings have equal scores, but for rounding, at every place."""
    return first.size == second.size and bool(np.allclose(scores[first], scores[second], rtol=SAME))


def _terms(counts: sparse.csr_array) -> list[list[int]]:
    """Return the terms of each row, each as often as it occurs."""
    times = counts.data.astype(np.int64)
    repeated = np.repeat(counts.indices, times).tolist()
    starts = np.concatenate([[0], np.cumsum(times)])[counts.indptr].tolist()
    return [repeated[first:last] for first, last in itertools.pairwise(starts)]


def main() -> None:
    """Print and keep the table of all collections."""
    parts = []
    for name, patterns in FILES.items():
        paths = [next(iter(sorted(CORPORA.rglob(pattern)))) for pattern in patterns]
        table = compare_with_bm25s(read_collection(paths, name))
        if table is not None:
            table.insert(0, "collection", name)
            parts.append(table)
    if not parts:
        print("bm25s is not installed: pip install bm25s")
        return
    table = as_text(pd.concat(parts))
    table.to_csv(pathlib.Path(__file__).parent / "results" / "bm25s.csv", index=False, lineterminator="\n")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
