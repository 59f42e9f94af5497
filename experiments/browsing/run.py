"""Scatter/Gather: how long a scatter takes, how near it comes to full k-means, and what a reader has to read.

``python -m experiments.browsing.run [CORPORA] [--large] [--only=TABLE]`` (by default ../shared/corpora) prints these
tables, or one of times, newsgroups and reader:

- seconds of processor time of one scatter into ten clusters, by number of documents, on made texts (120 words in each,
  half of them from one of 200 topics); 10,000 and 100,000 documents, with --large 1,000,000 too;
- on 20 Newsgroups, normalised mutual information with the groups of full k-means (20 clusters, best of three starts),
  and of a sample or of Buckshot and two passes, means over three seeds;
- on Cranfield, how many documents a reader reads until half of the relevant ones of a query are seen, means and medians
  over queries: down the list of BM25, and by scattering. That reader scatters into ten clusters, gathers the three with
  the largest share of relevant documents, until at most 100 are left, and then reads cluster by cluster, those with the
  largest share of relevant documents first, the documents nearest to the centroid first: the best that browsing can do.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from doccluster.base.validation import unit_rows
from doccluster.clustering import SphericalKMeans
from doccluster.corpus import read_corpus
from doccluster.measures import score
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.retrieval import Bm25Index, scatter
from doccluster.vectors import TfidfVectorizer
from experiments.browsing.buckshot import buckshot_centroids
from experiments.retrieval.judged_collections import ANALYSIS, read_collection

HERE = pathlib.Path(__file__).resolve().parent
SIZES = (10_000, 100_000, 1_000_000)
WORDS, OWN_SHARE, TOPICS, TOPIC_WORDS, VOCABULARY = 120, 0.5, 200, 300, 50_000
BLOCK = 20_000
SEEDS = range(3)
GATHERED, FEW = 3, 100


def main(arguments: list[str]) -> None:
    """Print the tables and keep them."""
    names = [one for one in arguments if not one.startswith("--")]
    folder = pathlib.Path(names[0]) if names else HERE.parents[2] / "shared" / "corpora"
    archive, cranfield = folder / "newsgroups20" / "20news-18828.tar.xz", folder / "retrieval_cranfield_cisi"
    makers: dict[str, Callable[[], pd.DataFrame]] = {
        "times": lambda: times(SIZES if "--large" in arguments else SIZES[:2]),
        "newsgroups": lambda: newsgroups(archive),
        "reader": lambda: reader(cranfield),
    }
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    for name in next(([one[7:]] for one in arguments if one.startswith("--only=")), list(makers)):
        table = makers[name]()
        print(f"\n{table.to_string(index=False, na_rep='')}")
        if name != "times":
            table.to_csv(results / f"{name}.csv", index=False, lineterminator="\n")


def times(sizes: tuple[int, ...]) -> pd.DataFrame:
    """Return the cost of a scatter by number of documents."""
    found = []
    scatter(made_rows(6_000), None, 10, n_threads=1)  # compiles what is not compiled yet
    for size in sizes:
        rows = made_rows(size)
        began = time.process_time()
        parts = scatter(rows, None, 10)
        first = time.process_time() - began
        half = np.sort(np.concatenate(parts[::2]))
        began = time.process_time()
        scatter(rows, half, 10)
        second = time.process_time() - began
        found.append({"documents": size, "all": first, "gathered": half.size, "them": second})
    return pd.DataFrame(found).round(2)


def made_rows(size: int) -> sparse.csr_array:
    """Return unit rows of made documents: half of the words of each come from its topic."""
    columns = np.empty(size * WORDS, dtype=np.int32)
    for first in range(0, size, BLOCK):  # so that memory is hardly more than the rows take
        last = min(first + BLOCK, size)
        columns[first * WORDS : last * WORDS] = _drawn_words(last - first, first)
    starts = np.arange(0, size * WORDS + 1, WORDS)
    rows = sparse.csr_array((np.ones(columns.size, np.float32), columns, starts), shape=(size, VOCABULARY))
    rows.sum_duplicates()
    frequency = np.bincount(rows.indices, minlength=VOCABULARY)
    rows.data *= np.log(size / np.maximum(frequency, 1)).astype(np.float32)[rows.indices]
    return sparse.csr_array(unit_rows(rows, warn=False))


def _drawn_words(count: int, seed: int) -> npt.NDArray[np.int32]:
    """Return the words of some documents, one document after the other."""
    rng = np.random.default_rng((0, seed))
    topic, shape = rng.integers(0, TOPICS, count), (count, WORDS)
    common = np.minimum((VOCABULARY ** rng.random(shape, dtype=np.float32)).astype(np.int32), VOCABULARY - 1)
    offset = (TOPIC_WORDS ** rng.random(shape, dtype=np.float32)).astype(np.int32)
    own = ((topic[:, None] * 239 + offset * 37) % VOCABULARY).astype(np.int32)
    drawn: npt.NDArray[np.int32] = np.where(rng.random(shape, dtype=np.float32) < OWN_SHARE, own, common).ravel()
    return drawn


def newsgroups(archive: pathlib.Path) -> pd.DataFrame:
    """Return how near quick ways come to full k-means on 20 Newsgroups."""
    corpus = read_corpus(archive, format="newsgroups", strip=("headers", "footers", "quotes"))
    made = vectorize_texts(corpus, language="english", options={}, n_threads=1)
    kept = np.flatnonzero(~made.vectors.is_empty)
    rows = sparse.csr_array(made.vectors.matrix[kept])
    classes = [corpus.labels["class"][row][0] for row in kept.tolist()]
    values: dict[str, list[float]] = {
        "full k-means": [],
        "a sample, two passes": [],
        "Buckshot, two passes": [],
    }
    for seed in SEEDS:
        full = SphericalKMeans(20, n_init=3, random_state=seed).fit_predict(rows)
        quick = labels_of(scatter(rows, None, 20, random_state=seed), rows.shape[0])
        seeded = SphericalKMeans(20, init=buckshot_centroids, n_init=1, max_iter=2, tol=0, random_state=seed)
        buckshot = seeded.fit_predict(rows)
        for name, labels in zip(values, (full, quick, buckshot), strict=True):
            values[name].append(score("nmi", labels.tolist(), truth=classes).value)
    table = pd.DataFrame({"way": list(values), "NMI": [float(np.mean(own)) for own in values.values()]})
    return table.assign(**{"of full": table["NMI"] / table["NMI"][0]}).round(3)


def labels_of(parts: list[npt.NDArray[np.int64]], size: int) -> npt.NDArray[np.int64]:
    """Return the cluster of each document."""
    labels = np.empty(size, dtype=np.int64)
    for number, own in enumerate(parts):
        labels[own] = number
    return labels


def reader(folder: pathlib.Path) -> pd.DataFrame:
    """Return how much readers of Cranfield read until half of the relevant documents are seen."""
    collection = read_collection(folder, "Cranfield")
    index = Bm25Index.from_texts(collection.texts, **ANALYSIS)
    rows = sparse.csr_array(TfidfVectorizer(**ANALYSIS).fit_transform(collection.texts))
    listed, browsed, cards = [], [], []
    for query, grades in zip(collection.queries, collection.grades, strict=True):
        wanted = -(-len(grades) // 2)
        ranking = np.argsort(-index.scores(query), kind="stable")
        listed.append(_read(ranking, grades, wanted))
        order, n_cards = _browsed(rows, grades)
        browsed.append(_read(order, grades, wanted))
        cards.append(n_cards)
    return pd.DataFrame(
        {
            "reader": ["BM25's list", "scatter and gather"],
            "mean": [np.mean(listed), np.mean(browsed)],
            "median": [np.median(listed), np.median(browsed)],
            "clusters looked at": [float("nan"), np.mean(cards)],
        }
    ).round(1)


def _read(order: Any, grades: Any, wanted: int) -> int:
    """Return how many documents are read until `n` relevant ones are seen."""
    seen = np.cumsum([int(document) in grades for document in order])
    return int(np.searchsorted(seen, wanted)) + 1


def _browsed(rows: sparse.csr_array, grades: Any) -> tuple[npt.NDArray[np.int64], int]:
    """Return the order in which the reader who browses sees all documents, and how many clusters were looked at."""
    relevant = np.array(sorted(grades))
    members, left, n_cards = np.arange(rows.shape[0]), [], 0
    while True:
        parts = scatter(rows, members, 10)
        n_cards += len(parts)
        parts.sort(key=lambda own: -np.isin(own, relevant).sum() / own.size)
        if members.size <= FEW or len(parts) <= GATHERED:
            break
        left.append(np.concatenate(parts[GATHERED:]))
        members = np.sort(np.concatenate(parts[:GATHERED]))
    order = []
    for own in parts:
        direction = np.asarray(rows[own].sum(axis=0)).ravel()
        order.append(own[np.argsort(-(rows[own] @ direction), kind="stable")])
    return np.concatenate([*order, *left[::-1]]), n_cards


if __name__ == "__main__":
    main(sys.argv[1:])
