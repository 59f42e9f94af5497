"""Retrieval with and without clusters, on Cranfield and CISI.

``python -m experiments.retrieval.run [FOLDER]`` (by default ../shared/corpora/retrieval_cranfield_cisi) ranks all
documents for every query by BM25, by query likelihood with Dirichlet smoothing, by both with scores smoothed over the
nearest neighbours of each document, and by query likelihood smoothed with clusters (CBDM), and prints mean average
precision, precision at 10 and nDCG at 10. Parameters are chosen by 5-fold cross-validation over queries: for each fold,
those with the best mean average precision on the other four. p is that of a paired randomisation test (10,000 random
signs) of the average precision against the same model without neighbours or clusters. Cranfield's grades 1 (best) to 4
count as 4 to 1; its code -1 is not relevant. Queries without a relevant document are left out. The last table is
cluster pruning: only the nearest clusters of a query by cosine are searched, and its precision at 10 is compared with
that of searching everything by cosine.
"""

from __future__ import annotations

import gzip
import itertools
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from doccluster.geometry import NeighbourGraph, nearest_neighbours
from doccluster.retrieval import (
    Bm25Index,
    average_precision,
    cluster_likelihood,
    ndcg_at,
    precision_at,
    query_likelihood,
    read_judgements,
    read_smart,
    smooth_scores,
)
from doccluster.vectors import TfidfVectorizer

HERE = pathlib.Path(__file__).resolve().parent
FILES = {
    "Cranfield": ("cran.all.1400.gz", "cran.qry", "cranqrel"),
    "CISI": ("CISI.ALL.gz", "CISI.QRY", "CISI.REL"),
}
ANALYSIS: dict[str, Any] = {"stop_words": "english", "stemming": "english", "n_threads": 1}
K1, B = (1.2, 1.5, 2.0), (0.5, 0.75, 1.0)
MU = (100.0, 300.0, 500.0, 1000.0, 2000.0)
WEIGHTS, NEIGHBOURS = (0.3, 0.5, 0.7), (5, 10, 20)
CLUSTER_MU, DOCUMENTS_A_CLUSTER = (300.0, 500.0, 1000.0), 10
N_FOLDS = 5
N_SIGNS = 10_000
Floats = npt.NDArray[np.float64]
Grades = Mapping[int, float]


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, queries, and the grades of relevant documents for each query."""

    texts: list[str]
    queries: list[str]
    grades: list[dict[int, float]]


def main(arguments: list[str]) -> None:
    """Print the tables and keep them."""
    default = HERE.parents[2] / "shared" / "corpora" / "retrieval_cranfield_cisi"
    folder = pathlib.Path(arguments[0]) if arguments else default
    if not folder.is_dir():
        sys.exit(f"{folder} is not there; name the folder of the two collections")
    tables, pruned = [], []
    for name, files in FILES.items():
        collection = read_collection(folder, *files)
        tables.append(compare_models(collection).assign(collection=name))
        pruned.append(prune(collection).assign(collection=name))
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    for file, parts in {"models.csv": tables, "pruning.csv": pruned}.items():
        table = pd.concat(parts)
        table = table[["collection", *table.columns.drop("collection")]]
        table = table.round({name: 4 if name == "p" else 3 for name in table.columns.drop("collection")})
        print(f"\n{table.to_string(index=False, na_rep='')}")
        table.to_csv(results / file, index=False, lineterminator="\n")


def read_collection(folder: pathlib.Path, documents: str, queries: str, judged: str) -> Collection:
    """Return a collection; Cranfield's queries are numbered by their position."""
    records = read_smart(gzip.decompress((folder / documents).read_bytes()).decode("latin-1"))
    asked = read_smart((folder / queries).read_text(encoding="latin-1"))
    judgements = read_judgements(folder / judged)
    place = {record.id: number for number, record in enumerate(records)}
    is_graded = {grade for of_query in judgements.values() for grade in of_query.values()} != {1.0}
    kept, grades = [], []
    for number, query in enumerate(asked):
        name = str(number + 1) if is_graded else query.id
        relevant = {
            place[document]: 5 - grade if is_graded else grade
            for document, grade in judgements.get(name, {}).items()
            if grade > 0 and document in place
        }
        if relevant:
            kept.append(query.text)
            grades.append(relevant)
    return Collection([record.text for record in records], kept, grades)


def compare_models(collection: Collection) -> pd.DataFrame:
    """Return a row for each model, with parameters chosen by cross-validation."""
    rows: list[dict[str, Any]] = []
    plain: dict[str, Floats] = {}
    graph = neighbours(collection.texts)
    for name, runs in {"BM25": list(bm25(collection)), "query likelihood": list(likelihood(collection))}.items():
        values, scores = cross_validated(collection, runs)
        plain[name] = values["MAP"]
        rows.append({"model": name, **_means(values)})
        smoothed = [
            np.array([smooth_scores(one, graph, weight=weight, n_neighbors=n) for one in scores])
            for weight, n in itertools.product(WEIGHTS, NEIGHBOURS)
        ]
        values, _ = cross_validated(collection, smoothed)
        p = randomisation_p(values["MAP"], plain[name])
        rows.append({"model": f"{name}, with neighbours", **_means(values), "p": p})
    rows.append(with_clusters(collection, plain["query likelihood"]))
    return pd.DataFrame(rows)


def with_clusters(collection: Collection, plain: Floats) -> dict[str, Any]:
    """Return the row of cluster-based document models (CBDM), with p against query likelihood without clusters."""
    values, _ = cross_validated(collection, list(cluster_models(collection)))
    p = randomisation_p(values["MAP"], plain)
    return {"model": "query likelihood, with clusters", **_means(values), "p": p}


def cluster_models(collection: Collection) -> Iterator[Floats]:
    """Yield the log probabilities of all queries by documents and their clusters, for each choice of parameters."""
    vectorizer = TfidfVectorizer(weighting="nnn", norm=None, dtype=np.float64, **ANALYSIS)
    counts = sparse.csc_array(vectorizer.fit_transform(collection.texts))
    queries = sparse.csr_array(vectorizer.transform(collection.queries))
    rows = sparse.csr_array(TfidfVectorizer(**ANALYSIS).fit_transform(collection.texts))
    k = round(len(collection.texts) / DOCUMENTS_A_CLUSTER)
    labels = SphericalKMeans(k, n_init=1, random_state=0, n_threads=1).fit_predict(rows)
    for mu, beta in itertools.product(CLUSTER_MU, WEIGHTS):
        given: dict[str, Any] = {"mu": mu, "beta": beta}
        yield np.array([cluster_likelihood(counts, queries[[row]], labels, **given) for row in range(queries.shape[0])])


def bm25(collection: Collection) -> Iterator[Floats]:
    """Yield the scores of all documents for all queries, for each choice of parameters."""
    for k1, b in itertools.product(K1, B):
        index = Bm25Index.from_texts(collection.texts, k1=k1, b=b, **ANALYSIS)
        yield np.array([index.scores(query) for query in collection.queries])


def likelihood(collection: Collection) -> Iterator[Floats]:
    """Yield the log probabilities of all queries by all documents, for each choice of the parameter."""
    vectorizer = TfidfVectorizer(weighting="nnn", norm=None, dtype=np.float64, **ANALYSIS)
    counts = sparse.csc_array(vectorizer.fit_transform(collection.texts))
    queries = sparse.csr_array(vectorizer.transform(collection.queries))
    for mu in MU:
        yield np.array([query_likelihood(counts, queries[[row]], mu=mu) for row in range(queries.shape[0])])


def neighbours(texts: Sequence[str]) -> NeighbourGraph:
    """Return the nearest neighbours by the cosine of tf-idf rows."""
    rows = sparse.csr_array(TfidfVectorizer(**ANALYSIS).fit_transform(texts))
    return nearest_neighbours(rows, max(NEIGHBOURS), fold=None, n_threads=1)


def cross_validated(collection: Collection, runs: Sequence[Floats]) -> tuple[dict[str, Floats], Floats]:
    """Return the measures of each query, and its scores, by the parameters that are best on the other folds."""
    judged = [_judged(collection, scores) for scores in runs]
    fold = np.arange(len(collection.queries)) % N_FOLDS
    chosen = np.empty(fold.size, dtype=np.int64)
    for number in range(N_FOLDS):
        chosen[fold == number] = int(np.argmax([one["MAP"][fold != number].mean() for one in judged]))
    rows = range(fold.size)
    values = {name: np.array([judged[chosen[row]][name][row] for row in rows]) for name in judged[0]}
    return values, np.array([runs[chosen[row]][row] for row in rows])


def _judged(collection: Collection, scores: Floats) -> dict[str, Floats]:
    rankings = np.argsort(-scores, axis=1, kind="stable")
    pairs = list(zip(rankings, collection.grades, strict=True))
    return {
        "MAP": np.array([average_precision(ranking, grades) for ranking, grades in pairs]),
        "P@10": np.array([precision_at(ranking, grades) for ranking, grades in pairs]),
        "nDCG@10": np.array([ndcg_at(ranking, grades) for ranking, grades in pairs]),
    }


def _means(values: Mapping[str, Floats]) -> dict[str, float]:
    return {name: float(each.mean()) for name, each in values.items()}


def randomisation_p(first: Floats, second: Floats) -> float:
    """Return the two-sided p of a paired randomisation test: how often random signs give as large a mean difference."""
    difference = first - second
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(N_SIGNS, difference.size))
    seen = abs(difference.mean())
    return float((1 + np.count_nonzero(np.abs(signs @ difference) / difference.size >= seen - 1e-15)) / (1 + N_SIGNS))


def prune(collection: Collection) -> pd.DataFrame:
    """Return what searching only the nearest clusters of each query costs and gives (IIR, 7.1.6)."""
    vectorizer = TfidfVectorizer(**ANALYSIS)
    rows = sparse.csr_array(vectorizer.fit_transform(collection.texts))
    queries = sparse.csr_array(vectorizer.transform(collection.queries))
    n_clusters = round(rows.shape[0] ** 0.5)
    model = SphericalKMeans(n_clusters, n_init=1, random_state=0, n_threads=1).fit(rows)
    near = np.argsort(-(queries @ sparse.csr_array(model.centroids_).T).toarray(), axis=1, kind="stable")
    cosines = (queries @ rows.T).toarray()
    whole = _judged(collection, cosines)
    found = []
    for share in (0.05, 0.1, 0.2, 1.0):
        n_searched = max(1, round(share * n_clusters))
        is_searched = np.array([np.isin(model.labels_, own[:n_searched]) for own in near])
        pruned = _judged(collection, np.where(is_searched, cosines, -1.0))
        found.append(
            {
                "clusters searched": share,
                "documents searched": float(is_searched.mean()),
                **_means(pruned),
                "P@10 over that of all": float(pruned["P@10"].mean() / whole["P@10"].mean()),
            }
        )
    return pd.DataFrame(found)


if __name__ == "__main__":
    main(sys.argv[1:])
