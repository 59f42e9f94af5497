"""Retrieval with and without clusters, on Cranfield and CISI: `python -m experiments retrieval`.

All documents are ranked for every query by BM25, by query likelihood with Dirichlet smoothing, by both with scores
smoothed over the nearest neighbours of each document, by BM25 with its best documents ranked again (as `search` does
it), and by query likelihood smoothed with clusters (CBDM). Parameters are chosen by 5-fold cross-validation over
queries: for each fold, those with the best mean average precision on the other four. p is that of a paired
randomisation test (10,000 random signs) of the average precision against the same model without neighbours or clusters.

The printed numbers are those of a first program, which had one choice of parameters for all queries and was not
cross-validated. The collections lie beside the checkout, in ../shared/corpora/retrieval_cranfield_cisi.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from experiments.reproduction import Work
from experiments.retrieval import models
from experiments.retrieval.judged_collections import FILES, Collection, read_collection
from experiments.retrieval.judging import Floats, cross_validated, judge, means, randomisation_p
from experiments.retrieval.peer import compare_with_bm25s
from experiments.retrieval.pruning import prune

SOURCE = "a first program of this project, without cross-validation"
TABLES = ("models", "pruning", "bm25s")
SEARCHED = 0.1  # share of the leaders that are looked at for the printed numbers


def reproduce(work: Work) -> dict[str, float]:
    """Return our numbers, and write the tables; nothing in a quick run, or where the collections are not."""
    folder = work.folder.parents[2] / "shared" / "corpora" / "retrieval_cranfield_cisi"
    if work.quick or not folder.is_dir():
        return {}
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in TABLES}
    ours: dict[str, float] = {}
    for name in FILES:
        collection = read_collection(folder, name)
        compared, pruned, peer = compare_models(collection), prune(collection), compare_with_bm25s(collection)
        for kind, table in zip(TABLES, (compared, pruned, peer), strict=True):
            if table is not None:
                table.insert(0, "collection", name)
                tables[kind].append(table)
        ours |= {f"{name}: {key}": value for key, value in _numbers(compared, pruned).items()}
    for kind, parts in tables.items():
        if parts:
            table = _written(pd.concat(parts))
            table.to_csv(work.results / f"{kind}.csv", index=False, lineterminator="\n")
            work.show(f"\n{table.to_string(index=False)}")
    work.show("")
    return ours


def _written(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as text: three digits, four of p, and nothing where there is no value."""
    shown = table.astype(object)
    for column in table.select_dtypes("float"):
        form = "{:.4f}" if column == "p" else "{:.3f}"
        shown[column] = [form.format(value) for value in table[column]]
    return shown.where(table.notna(), "").astype(str)


def compare_models(collection: Collection) -> pd.DataFrame:
    """Return a row for each model, with parameters chosen by cross-validation."""
    rows: list[dict[str, Any]] = []
    graph = models.neighbours(collection)
    plain: dict[str, tuple[dict[str, Floats], Floats]] = {}
    for name, runs in {"BM25": models.bm25(collection), "query likelihood": models.likelihood(collection)}.items():
        every = list(runs)
        values, scores = plain[name] = cross_validated(collection, every)
        best = max(float(judge(collection, one)["MAP"].mean()) for one in every)
        rows.append({"model": name, **means(values), "MAP, best for all": best})
        rows.append(_row(f"{name}, neighbours", collection, list(models.with_neighbours(scores, graph)), values))
    values, scores = plain["BM25"]
    rows.append(_row("BM25, best ranked again", collection, list(models.reranked(scores, collection.rows)), values))
    rows.append(_row("CBDM", collection, list(models.with_clusters(collection)), plain["query likelihood"][0]))
    return pd.DataFrame(rows)


def _row(name: str, collection: Collection, runs: Sequence[Floats], plain: dict[str, Floats]) -> dict[str, Any]:
    """Return the row of a model, with p against the one that it is made of."""
    values, _ = cross_validated(collection, runs)
    best = max(float(judge(collection, one)["MAP"].mean()) for one in runs)
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
