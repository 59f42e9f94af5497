"""The four tables of a run, as data frames: assignments, clusters, scores, skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from doccluster.artifacts.csv_files import storable

if TYPE_CHECKING:
    from doccluster.record import Documents, Run

# what a person looks for first in clusters.csv; the other per-cluster measures follow in their own order
LEADING_MEASURES = ("coherence", "density", "adherence", "silhouette")
DIGITS = 6


def assignments_table(run: Run) -> pd.DataFrame:
    """Return one row per document in reading order; documents without terms have no cluster."""
    found = _document_columns(run.documents)
    found["cluster"] = pd.array(run.partition.labels, dtype="Int64")
    found["similarity"] = np.round(run.similarity, DIGITS)
    found["runner_up"] = pd.array(run.runner_up, dtype="Int64")
    found.loc[run.runner_up < 0, "runner_up"] = pd.NA
    found["margin"] = np.round(run.margin, DIGITS)
    found["family"], found["first"] = _families(run)
    empty = _document_columns(run.empty_documents)
    both = pd.concat([found, empty]) if len(empty) else found
    return both.sort_values("position", kind="stable").drop(columns="position").reset_index(drop=True)


def _families(run: Run) -> tuple[Any, Any]:
    """Return the number of each document's family of near-copies (none if it has no copy), and whether it is first."""
    n = run.n_documents
    first = pd.array([pd.NA] * n, dtype="boolean")
    family = pd.array([pd.NA] * n, dtype="Int64")
    if run.copy_of is not None:
        first[:] = run.copy_of == np.arange(n)
        _, number, size = np.unique(run.copy_of, return_inverse=True, return_counts=True)
        rank = np.cumsum(size > 1) - 1  # families are numbered by the row of their first document
        has_copy = size[number] > 1
        family[has_copy] = rank[number[has_copy]]
    return family, first


def _document_columns(documents: Documents) -> pd.DataFrame:
    columns: dict[str, Any] = {
        "position": documents.positions,
        "id": [*map(storable, documents.ids)],
        "title": [*map(storable, documents.titles)],
        "date": documents.dates,
    }
    return pd.DataFrame(columns)


def clusters_table(run: Run) -> pd.DataFrame:
    """Return one row per cluster: size, label, terms, what the measures say of it, and its central document."""
    table = pd.DataFrame(
        {
            "cluster": [cluster.cluster for cluster in run.clusters],
            "size": [cluster.size for cluster in run.clusters],
            "label": [cluster.label for cluster in run.clusters],
            "terms": [_join(term.term for term in cluster.descriptive) for cluster in run.clusters],
            "discriminating_terms": [_join(term.term for term in cluster.discriminating) for cluster in run.clusters],
        }
    )
    for name, values in per_cluster_values(run).items():
        table[name] = np.round(values, DIGITS)
    central = [one.representatives[0].row if one.representatives else None for one in run.clusters]
    table["central_document"] = ["" if row is None else storable(run.documents.ids[row]) for row in central]
    return table


def per_cluster_values(run: Run) -> dict[str, Any]:
    """Return the value of each cluster by every measure that has one, the best known measures first."""
    k = run.n_clusters
    found: dict[str, Any] = {}
    for score in run.evaluation.scores:
        if score.per_cluster is not None and len(score.per_cluster) == k:
            name = score.name if score.truth is None or len(run.truth) < 2 else f"{score.name} ({score.truth})"
            found[name] = score.per_cluster
    leading = {name: found.pop(name) for name in LEADING_MEASURES if name in found}
    return {**leading, **found}


def skipped_table(run: Run) -> pd.DataFrame:
    """Return one row per input that gave no document or no term, with the reason."""
    rows = [(storable(one.source), one.reason, storable(one.detail)) for one in run.skipped]
    return pd.DataFrame(rows, columns=["source", "reason", "detail"])


def _join(words: Any) -> str:
    return ", ".join(words)
