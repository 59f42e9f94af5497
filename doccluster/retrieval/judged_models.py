"""Retrieval with and without clusters, on Cranfield and CISI: the rows that `doccluster reproduce retrieval` prints.

All documents are ranked for every query by BM25, by query likelihood with Dirichlet smoothing, by both with scores
smoothed over the nearest neighbours of each document, by BM25 with its best documents ranked again (as `search` does
it), and by query likelihood smoothed with clusters (CBDM). Parameters are chosen by 5-fold cross-validation over
queries: for each fold, those with the best mean average precision on the other four. p is that of a paired
randomisation test (10,000 random signs) of the average precision against the same model without neighbours or clusters.

The printed numbers are those of a first program, which had one choice of parameters for all queries and was not
cross-validated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from doccluster.base.arrays import Floats
from doccluster.cli.reproduction import Work
from doccluster.clustering import SphericalKMeans
from doccluster.geometry import NeighbourGraph, nearest_neighbours
from doccluster.retrieval.cluster_pruning import ClusterPruning, draw_leaders
from doccluster.retrieval.judged_collections import FILES, Collection, read_collection
from doccluster.retrieval.language_model import cluster_likelihood, query_likelihood
from doccluster.retrieval.ranking import Bm25Index, rerank, smooth_scores
from doccluster.retrieval.ranking_measures import average_precision, ndcg_at, precision_at

SOURCE = "a first program of this project, without cross-validation"
TABLES = ("models", "pruning")
SEARCHED = 0.1  # share of the leaders that are looked at for the printed numbers
K1, B = (1.2, 1.5, 2.0), (0.5, 0.75, 1.0)
MU = (100.0, 300.0, 500.0, 1000.0, 2000.0)
WEIGHTS, NEIGHBOURS = (0.3, 0.5, 0.7), (5, 10, 20)
CLUSTER_MU, DOCUMENTS_A_CLUSTER = (300.0, 500.0, 1000.0), 10
RERANKED = (200, 500, 1000)
N_FOLDS = 5
N_SIGNS = 10_000
FOLLOWED = (1, 2)
SHARES = (0.05, 0.1, 0.2)


def reproduce(work: Work) -> dict[str, float]:
    """Return our numbers, and write the tables; nothing in a quick run, or where the collections are not."""
    if work.quick:
        return {}
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in TABLES}
    ours: dict[str, float] = {}
    for name, patterns in FILES.items():
        paths = [next(iter(work.files(pattern)), None) for pattern in patterns]
        if None in paths:
            continue
        collection = read_collection([path for path in paths if path is not None], name)
        compared, pruned = compare_models(collection), prune(collection)
        for kind, table in zip(TABLES, (compared, pruned), strict=True):
            table.insert(0, "collection", name)
            tables[kind].append(table)
        ours |= {f"{name}: {key}": number for key, number in _numbers(compared, pruned).items()}
    for kind, parts in tables.items():
        if parts:
            table = as_text(pd.concat(parts))
            if work.tables is not None:
                table.to_csv(work.tables / f"{kind}.csv", index=False, lineterminator="\n")
            work.show({str(name): cells.tolist() for name, cells in table.items()})
    return ours


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as text: three digits, four of p, and nothing where there is no value."""
    shown = table.astype(object)
    for column in table.select_dtypes("float"):
        form = "{:.4f}" if column == "p" else "{:.3f}"
        shown[column] = [form.format(value) for value in table[column]]
    return shown.where(table.notna(), "").astype(str)


def compare_models(collection: Collection) -> pd.DataFrame:
    """Return a row for each model, with parameters chosen by cross-validation."""
    rows: list[dict[str, Any]] = []
    graph = neighbours(collection)
    plain: dict[str, tuple[dict[str, Floats], Floats]] = {}
    for name, runs in {"BM25": bm25(collection), "query likelihood": likelihood(collection)}.items():
        score_tables = list(runs)
        values, scores = plain[name] = cross_validated(collection, score_tables)
        best = max(float(judge(collection, scores)["MAP"].mean()) for scores in score_tables)
        rows.append({"model": name, **means(values), "MAP, best for all": best})
        rows.append(_row(f"{name}, neighbours", collection, list(with_neighbours(scores, graph)), values))
    values, scores = plain["BM25"]
    rows.append(_row("BM25, best ranked again", collection, list(reranked(scores, collection.rows)), values))
    rows.append(_row("CBDM", collection, list(with_clusters(collection)), plain["query likelihood"][0]))
    return pd.DataFrame(rows)


def _row(name: str, collection: Collection, runs: Sequence[Floats], plain: dict[str, Floats]) -> dict[str, Any]:
    """Return the row of a model, with p against the one that it is made of."""
    values, _ = cross_validated(collection, runs)
    best = max(float(judge(collection, scores)["MAP"].mean()) for scores in runs)
    return {
        "model": name,
        **means(values),
        "MAP, best for all": best,
        "p": randomisation_p(values["MAP"], plain["MAP"]),
    }


def _numbers(compared: pd.DataFrame, pruned: pd.DataFrame) -> dict[str, float]:
    """Return our numbers beside the printed ones."""
    value = compared.set_index("model")["MAP"]
    is_printed = (pruned["leaders"] == "centroids") & (pruned["b1"] == 1) & (pruned["b2 of leaders"] == SEARCHED)
    return {
        "BM25, MAP": float(value["BM25"]),
        "query likelihood, MAP": float(value["query likelihood"]),
        "gain by neighbours": float(value["query likelihood, neighbours"] / value["query likelihood"] - 1),
        "pruned P@10 of all": float(pruned.loc[is_printed, "P@10 of all"].iloc[0]),
    }


def bm25(collection: Collection) -> Iterator[Floats]:
    """Yield the scores of BM25, for each k1 and b."""
    for k1, b in itertools.product(K1, B):
        index = Bm25Index.from_counts(collection.counts, collection.counter, k1=k1, b=b)
        yield np.array([index.scores(query) for query in collection.queries])


def likelihood(collection: Collection) -> Iterator[Floats]:
    """Yield the log probabilities of the queries, for each mu of the Dirichlet smoothing."""
    counts = sparse.csc_array(collection.counts)
    for mu in MU:
        yield np.array([query_likelihood(counts, query, mu=mu) for query in _each(collection.query_counts)])


def with_clusters(collection: Collection) -> Iterator[Floats]:
    """Yield the log probabilities of the queries by documents and their clusters (CBDM), for each mu and weight."""
    counts = sparse.csc_array(collection.counts)
    k = max(1, round(len(collection.texts) / DOCUMENTS_A_CLUSTER))
    labels = SphericalKMeans(k, n_init=1, random_state=0, n_threads=1).fit_predict(collection.rows)
    for mu, beta in itertools.product(CLUSTER_MU, WEIGHTS):
        yield np.array(
            [cluster_likelihood(counts, query, labels, mu=mu, beta=beta) for query in _each(collection.query_counts)]
        )


def with_neighbours(scores: Floats, graph: NeighbourGraph) -> Iterator[Floats]:
    """Yield scores smoothed over the nearest neighbours, for each weight and number of them."""
    for weight, n in itertools.product(WEIGHTS, NEIGHBOURS):
        yield np.array([smooth_scores(row, graph, weight=weight, n_neighbors=n) for row in scores])


def reranked(scores: Floats, rows: sparse.csr_array) -> Iterator[Floats]:
    """Yield scores by the ranking of the best documents over the neighbours among them, as `search` ranks."""
    for n_best in RERANKED:
        again = np.zeros_like(scores)
        for place, row in enumerate(scores):
            ranking = rerank(row, rows, n_reranked=n_best, n_threads=1)
            again[place] = np.argsort(np.argsort(row, kind="stable"), kind="stable") / row.size  # below the best
            again[place, ranking] = 1 + np.arange(ranking.size, 0, -1)
        yield again


def neighbours(collection: Collection) -> NeighbourGraph:
    """Return the nearest neighbours by the cosine of tf-idf rows."""
    return nearest_neighbours(collection.rows, max(NEIGHBOURS), fold=None, n_threads=1)


def _each(queries: sparse.csr_array) -> Sequence[sparse.csr_array]:
    return [queries[[row]] for row in range(queries.shape[0])]


def cross_validated(collection: Collection, runs: Sequence[Floats]) -> tuple[dict[str, Floats], Floats]:
    """Return the measures of each query, and its scores, by the parameters that are best on the other folds."""
    judged = [judge(collection, scores) for scores in runs]
    fold = np.arange(len(collection.queries)) % N_FOLDS
    chosen = np.empty(fold.size, dtype=np.int64)
    for number in range(N_FOLDS):
        chosen[fold == number] = int(np.argmax([values["MAP"][fold != number].mean() for values in judged]))
    rows = range(fold.size)
    values = {name: np.array([judged[chosen[row]][name][row] for row in rows]) for name in judged[0]}
    return values, np.array([runs[chosen[row]][row] for row in rows])


def judge(collection: Collection, scores: Floats) -> dict[str, Floats]:
    """Return the measures of each query for the ranking of all documents by their scores."""
    rankings = np.argsort(-scores, axis=1, kind="stable")
    pairs = list(zip(rankings, collection.grades, strict=True))
    return {
        "MAP": np.array([average_precision(ranking, grades) for ranking, grades in pairs]),
        "P@10": np.array([precision_at(ranking, grades) for ranking, grades in pairs]),
        "nDCG@10": np.array([ndcg_at(ranking, grades) for ranking, grades in pairs]),
    }


def means(values: Mapping[str, Floats]) -> dict[str, float]:
    """Return the means over queries."""
    return {name: float(each.mean()) for name, each in values.items()}


def randomisation_p(first: Floats, second: Floats) -> float:
    """Return the two-sided p of a paired randomisation test: how often random signs give as large a mean difference."""
    difference = first - second
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(N_SIGNS, difference.size))
    observed = abs(difference.mean())
    return float(
        (1 + np.count_nonzero(np.abs(signs @ difference) / difference.size >= observed - 1e-15)) / (1 + N_SIGNS)
    )


def prune(collection: Collection) -> pd.DataFrame:
    """Return the quality of a search of the followers of the nearest leaders, beside a search of everything by cosine.

    There are as many leaders as the root of the number of documents: documents drawn at random, or the centroids of
    spherical k-means. b1 is how many leaders a document follows, b2 how many a query looks at: a share of the leaders.
    """
    rows, queries = collection.rows, collection.query_rows
    cosines = (queries @ rows.T).toarray()
    whole = judge(collection, cosines)
    chosen = draw_leaders(rows.shape[0])
    model = SphericalKMeans(chosen.size, n_init=1, random_state=0, n_threads=1).fit(rows)
    leaders = {"documents": rows[chosen], "centroids": sparse.csr_array(model.centroids_)}
    lines: list[dict[str, Any]] = []
    for (name, leading), b1, share in itertools.product(leaders.items(), FOLLOWED, SHARES):
        pruning, b2 = ClusterPruning.from_rows(rows, leading, b1), max(1, round(share * chosen.size))
        is_searched = np.zeros(cosines.shape, dtype=bool)
        for place in range(queries.shape[0]):
            is_searched[place, pruning.candidates(queries[[place]], b2)] = True
        line = {"leaders": name, "b1": b1, "b2": b2, "b2 of leaders": share, "documents": float(is_searched.mean())}
        lines.append(line | _beside(judge(collection, np.where(is_searched, cosines, -1.0)), whole))
    lines.append({"leaders": "all searched", "documents": 1.0, **_beside(whole, whole)})
    return pd.DataFrame(lines).astype({"b1": "Int64", "b2": "Int64"})


def _beside(values: dict[str, Any], whole: dict[str, Any]) -> dict[str, float]:
    shares = {f"{name} of all": float(values[name].mean() / whole[name].mean()) for name in ("MAP", "P@10")}
    return {**means(values), **shares}
