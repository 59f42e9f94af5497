"""The four tables of a run, column by column: assignments (also as Parquet parts), clusters, scores, skipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from doccluster.artifacts.csv_files import storable
from doccluster.artifacts.new_folder import PARQUET_PARTS
from doccluster.errors import importing
from doccluster.evaluation.result import COLUMNS
from doccluster.overview import overview

if TYPE_CHECKING:
    from doccluster.record import DocumentTable, Run

Integers = npt.NDArray[np.int64]
Columns = dict[str, list[Any]]  # name -> a cell for each row, None or nan where it is empty

# what a person looks for first in clusters.csv; the other per-cluster measures follow in their own order
LEADING_MEASURES = ("coherence", "density", "adherence", "silhouette")
DIGITS = 6
ROWS_AT_A_TIME = 20_000
N_LABEL_SCORES = 5  # candidates for the label that are shown with their scores
ROWS_OF_A_PART = 500_000
_NUMBERS = ("cluster", "runner_up", "family", "moves_to")
_COSINES = ("similarity", "margin")
_FLAGS = ("first", "other")


def assignments_columns(run: Run) -> Columns:
    """Return one row per document in reading order; documents without terms have no cluster."""
    return next(assignments_parts(run, n_rows=max(1, run.n_documents + len(run.empty_documents))))


def assignments_parts(run: Run, *, n_rows: int = ROWS_AT_A_TIME) -> Iterator[Columns]:
    """Yield `assignments_columns` a block of rows at a time."""
    positions = np.concatenate([run.documents.positions, run.empty_documents.positions])
    order = np.argsort(positions, kind="stable")
    families = _families(run)
    for start in range(0, order.size, n_rows):
        yield _assignments(run, order[start : start + n_rows], families)


def _assignments(run: Run, rows: Integers, families: tuple[Integers, Any] | None) -> Columns:
    """Return the columns of some documents; those after the last that has terms are the ones without."""
    has_terms = rows < run.n_documents
    own, empty = rows[has_terms], rows[~has_terms] - run.n_documents
    described = [_document_columns(run.documents.take(own)), _document_columns(run.empty_documents.take(empty))]
    found: Columns = {
        "cluster": run.partition.labels[own].tolist(),
        "similarity": np.round(run.similarity[own], DIGITS).tolist(),
        "runner_up": _or_none(run.runner_up[own]),
        "margin": np.round(run.margin[own], DIGITS).tolist(),
        "family": [None] * own.size if families is None else _or_none(families[0][own]),
        "first": [None] * own.size if families is None else families[1][own].tolist(),
        "other": (run.shown_labels[own] == run.n_clusters).tolist(),
    }
    place = np.empty(rows.size, np.int64)
    place[np.concatenate([np.flatnonzero(has_terms), np.flatnonzero(~has_terms)])] = np.arange(rows.size)
    both = {name: described[0][name] + described[1][name] for name in described[0]}
    both |= {name: values + [None] * empty.size for name, values in found.items()}
    return {name: [values[at] for at in place.tolist()] for name, values in both.items()}


def _or_none(numbers: Integers) -> list[Any]:
    return [None if one < 0 else one for one in numbers.tolist()]


def _families(run: Run) -> tuple[Integers, npt.NDArray[np.bool_]] | None:
    """Return the number of each document's family of near-copies (-1 if it has no copy), and whether it is first."""
    if run.copy_of is None:
        return None
    first = run.copy_of == np.arange(run.n_documents)
    _, number, size = np.unique(run.copy_of, return_inverse=True, return_counts=True)
    rank = np.cumsum(size > 1) - 1  # families are numbered by the row of their first document
    return np.where(size[number] > 1, rank[number], -1), first


def _document_columns(documents: DocumentTable) -> Columns:
    return {
        "id": [*map(storable, documents.ids)],
        "title": [*map(storable, documents.titles)],
        "date": list(documents.dates),
    }


def clusters_columns(run: Run) -> Columns:
    """Return one row per cluster: what a person sees first, terms, what the measures say, its central document.

    Documents that fit no cluster are a last row without a number, Other.
    """
    seen = overview(run)
    table: Columns = {
        "cluster": [one.cluster if one.cluster < run.n_clusters else None for one in seen],
        "size": [one.size for one in seen],
        "headline": [storable(one.headline) for one in seen],
        "first_date": [None if one.first is None else one.first.isoformat() for one in seen],
        "last_date": [None if one.last is None else one.last.isoformat() for one in seen],
        "n_outlets": [len(one.outlets) for one in seen],
        "n_copies": [one.n_copies for one in seen],
        "similarity": [round(one.similarity, DIGITS) for one in seen],
        # "cluster 4" does not name it
        "label": ["" if one.label == f"cluster {one.cluster}" else one.label for one in run.clusters],
        "label_scores": [
            ", ".join(f"{one.term} {one.score:.4f}" for one in cluster.label_terms[:N_LABEL_SCORES])
            for cluster in run.clusters
        ],
        "terms": [", ".join(term.term for term in cluster.descriptive) for cluster in run.clusters],
        "discriminating_terms": [", ".join(term.term for term in cluster.discriminating) for cluster in run.clusters],
    }
    for name, values in per_cluster_values(run).items():
        table[name] = np.round(values, DIGITS).tolist()
    central = [one.representatives[0].row if one.representatives else None for one in run.clusters]
    table["central_document"] = ["" if row is None else storable(run.documents.ids[row]) for row in central]
    return {name: values + [None] * (len(seen) - len(values)) for name, values in table.items()}


def scores_columns(run: Run) -> Columns:
    """Return one row per score, as `Evaluation.to_pandas` has them."""
    rows = [score.as_row() for score in run.evaluation.scores]
    return {name: [row[name] for row in rows] for name in COLUMNS}


def per_cluster_values(run: Run) -> dict[str, Any]:
    """Return the value of each cluster by every measure that has one, the best known measures first."""
    found: dict[str, Any] = run.cluster_scores
    leading = {name: found.pop(name) for name in LEADING_MEASURES if name in found}
    return {**leading, **found}


def skipped_columns(run: Run) -> Columns:
    """Return one row per input that gave no document or no term, with the reason."""
    return {
        "source": [storable(one.source) for one in run.skipped],
        "reason": [one.reason for one in run.skipped],
        "detail": [storable(one.detail) for one in run.skipped],
    }


def check_parquet() -> None:
    """Raise MissingDependency, before any work, if Parquet cannot be written."""
    with importing("Parquet files need", "pyarrow", install="doccluster[parquet]"):
        import pyarrow.parquet  # noqa: F401


def parquet_writer(wanted: bool) -> dict[str, Any]:
    """Return a further output of `save_run`."""
    return {PARQUET_PARTS: write_parquet_parts} if wanted else {}


def write_parquet_parts(run: Run, folder: Path, *, n_rows: int = ROWS_OF_A_PART) -> None:
    """Write the rows of assignments.csv to part-00000.parquet and so on, texts as they are, in reading order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = (
        {name: pa.int64() for name in _NUMBERS}
        | {name: pa.float64() for name in _COSINES}
        | dict.fromkeys(_FLAGS, pa.bool_())
    )
    folder.mkdir()
    for number, columns in enumerate(assignments_parts(run, n_rows=n_rows)):
        arrays = {name: pa.array(values, kinds.get(name, pa.string())) for name, values in columns.items()}
        pq.write_table(pa.table(arrays), folder / f"part-{number:05d}.parquet")
