"""The tables of a run, column by column: assignments (also as Parquet parts), shares, clusters, scores, skipped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.arrays import Flags, Integers
from doccluster.base.text_table import storable
from doccluster.corpus.columns import kept_names, type_of, typed_value
from doccluster.errors import importing
from doccluster.measures.scores import COLUMNS
from doccluster.results.overview import overview
from doccluster.results.shares import needed, shares_columns

if TYPE_CHECKING:
    from doccluster.results.document_table import DocumentTable
    from doccluster.results.record import Run

Columns = dict[str, list[Any]]  # name -> a cell for each row, None or nan where it is empty

# what a person looks for first in clusters.csv; the other per-cluster measures follow in their own order
LEADING_MEASURES = ("silhouette", "density", "adherence")
DIGITS = 6
ROWS_AT_A_TIME = 20_000
N_LABEL_SCORES = 5  # candidates for the label that are shown with their scores
ROWS_OF_A_PART = 500_000
N_MEMBERSHIPS = 3
_NUMBERS = ("cluster", "runner_up", "family", "moves_to", "cluster_1", "cluster_2", "cluster_3")
_SHARES = ("similarity", "margin", "membership_1", "membership_2", "membership_3")
_OF_PARTS = ("n_documents", "mostly_of")
_FLAGS = ("first", "other")


def assignments_columns(run: Run) -> Columns:
    """Return one row per document in reading order; documents without terms have no cluster."""
    return next(assignments_parts(run, n_rows=max(1, run.n_documents + len(run.empty_documents))))


def assignments_parts(run: Run, *, n_rows: int = ROWS_AT_A_TIME) -> Iterator[Columns]:
    """Yield `assignments_columns` a block of rows at a time."""
    order, families = run.reading_order, _families(run)
    for start in range(0, order.size, n_rows):
        yield _assignments(run, order[start : start + n_rows], families)


def _assignments(run: Run, rows: Integers, families: tuple[Integers, Flags] | None) -> Columns:
    """Return the columns of some documents; those after the last that has terms are the ones without."""
    has_terms = rows < run.n_documents
    placed, empty = rows[has_terms], rows[~has_terms] - run.n_documents
    tables = run.documents.take(placed), run.empty_documents.take(empty)
    described, source = ([columns_of(table) for table in tables] for columns_of in (_document_columns, covariates))
    columns: Columns = {
        "cluster": run.partition.labels[placed].tolist(),
        "similarity": np.round(run.similarity[placed], DIGITS).tolist(),
        "runner_up": _or_none(run.runner_up[placed]),
        "margin": np.round(run.margin[placed], DIGITS).tolist(),
        "family": [None] * placed.size if families is None else _or_none(families[0][placed]),
        "first": [None] * placed.size if families is None else families[1][placed].tolist(),
        "other": (run.shown_labels[placed] == run.n_clusters).tolist(),
        **_memberships(run, placed),
        **{level.name: level.labels_of(placed) for level in run.levels if len(run.levels) > 1},
    }
    place = np.empty(rows.size, np.int64)
    place[np.concatenate([np.flatnonzero(has_terms), np.flatnonzero(~has_terms)])] = np.arange(rows.size)
    both = {name: described[0][name] + described[1][name] for name in described[0]}
    both |= {name: values + [None] * empty.size for name, values in columns.items()}
    both |= {name: [*values, *source[1].get(name, [""] * empty.size)] for name, values in source[0].items()}
    return {name: [values[at] for at in place.tolist()] for name, values in both.items()}


def _memberships(run: Run, rows: Integers) -> Columns:
    """Return the likeliest clusters of some documents with their probabilities, the likeliest first."""
    clusters, shares = np.full((rows.size, N_MEMBERSHIPS), -1), np.full((rows.size, N_MEMBERSHIPS), np.nan)
    if run.memberships is not None:
        picked = run.memberships[rows].tocoo()
        order = np.lexsort((picked.col, -picked.data, picked.row))
        place = np.arange(order.size) - np.searchsorted(picked.row, picked.row[order])  # within the row
        at = picked.row[order], place
        clusters[at], shares[at] = picked.col[order], np.round(picked.data[order], DIGITS)
    columns: Columns = {}
    for number in range(N_MEMBERSHIPS):
        columns[f"cluster_{number + 1}"] = _or_none(clusters[:, number])
        columns[f"membership_{number + 1}"] = shares[:, number].tolist()
    return columns


def _or_none(numbers: Integers) -> list[int | None]:
    return [None if number < 0 else number for number in numbers.tolist()]


def _families(run: Run) -> tuple[Integers, Flags] | None:
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


def covariates(documents: DocumentTable) -> Columns:
    """Return the columns of the source: label columns, with several labels joined by "; ", then the others.

    A column that has the name of a column doccluster writes is called source.NAME.
    """
    labels = {name: ["; ".join(labels) for labels in column] for name, column in documents.labels.items()}
    columns = labels | {name: list(values) for name, values in documents.columns.items()}
    return {name: columns[old] for old, name in kept_names(columns).items()}


def clusters_columns(run: Run) -> Columns:
    """Return one row per cluster: what a person sees first, terms, what the measures say, its central document.

    Documents that fit no cluster are a last row without a number, Other.
    """
    overviews, k = overview(run), run.n_clusters
    table: Columns = {
        "cluster": [facts.cluster if facts.cluster < k else None for facts in overviews],
        "size": [facts.size for facts in overviews],
        "headline": [storable(facts.headline) for facts in overviews],
        "first_date": [facts.iso(facts.first) for facts in overviews],
        "last_date": [facts.iso(facts.last) for facts in overviews],
        "n_outlets": [len(facts.outlets) for facts in overviews],
        "n_copies": [facts.n_copies for facts in overviews],
        **({} if run.parts is None else {name: [getattr(facts, name) for facts in overviews] for name in _OF_PARTS}),
        "similarity": [round(facts.similarity, DIGITS) for facts in overviews],
        # "cluster 4" does not name it
        "label": ["" if facts.label == f"cluster {facts.cluster}" else facts.label for facts in overviews[:k]],
        "label_scores": [
            ", ".join(f"{term.term} {term.score:.4f}" for term in cluster.label_terms[:N_LABEL_SCORES])
            for cluster in run.clusters
        ],
        "terms": [", ".join(cluster.terms) for cluster in run.clusters],
        "discriminating_terms": [", ".join(term.term for term in cluster.discriminating) for cluster in run.clusters],
    }
    for name, values in per_cluster_values(run).items():
        table[name] = np.round(values, DIGITS).tolist()
    central = [cluster.representatives[0].row if cluster.representatives else None for cluster in run.clusters]
    table["central_document"] = ["" if row is None else storable(run.documents.ids[row]) for row in central]
    table["name"] = [storable(facts.name) for facts in overviews]
    return {name: values + [None] * (len(overviews) - len(values)) for name, values in table.items()}


def shares_tables(run: Run, *, n_rows: int = ROWS_AT_A_TIME) -> Iterator[Columns]:
    """Yield the rows of shares.csv, some at a time, of a run in parts."""
    parts = needed(run.parts)
    for start in range(0, len(parts.ids), n_rows):
        rows = slice(start, start + n_rows)
        yield {"id": [*map(storable, parts.ids[rows])], **shares_columns(parts, rows)}


def levels_columns(run: Run) -> Columns:
    """Return one row per cluster of each level, the coarsest first: what it is part of, and what one sees of it first.

    `cluster` is its number on its level, `parent` that of what it is part of on the level above.
    """
    table: Columns = {}
    for place, level in enumerate(run.levels):
        overviews = overview(run, level)[: level.n_clusters]
        above = level.parents_on(run.levels[place - 1]).tolist() if place else [None] * level.n_clusters
        central = [cluster.representatives[0].row if cluster.representatives else None for cluster in level.clusters]
        columns: Columns = {
            "level": [level.name] * level.n_clusters,
            "cluster": [facts.cluster for facts in overviews],
            "parent": above,
            "size": [facts.size for facts in overviews],
            "label": [facts.label for facts in overviews],
            "headline": [storable(facts.headline) for facts in overviews],
            "first_date": [facts.iso(facts.first) for facts in overviews],
            "last_date": [facts.iso(facts.last) for facts in overviews],
            "n_outlets": [len(facts.outlets) for facts in overviews],
            "central_document": ["" if row is None else storable(run.documents.ids[row]) for row in central],
            "name": [storable(facts.name) for facts in overviews],
        }
        table = {name: [*table.get(name, []), *values] for name, values in columns.items()}
    return table


def scores_columns(run: Run) -> Columns:
    """Return one row per score, as `Evaluation.to_pandas` has them."""
    rows = [score.as_row() for score in run.evaluation.scores]
    return {name: [row[name] for row in rows] for name in COLUMNS}


def per_cluster_values(run: Run) -> dict[str, Any]:
    """Return the value of each cluster by every measure that has one, the best known measures first."""
    values: dict[str, Any] = run.cluster_scores
    leading = {name: values.pop(name) for name in LEADING_MEASURES if name in values}
    return {**leading, **values}


def skipped_columns(run: Run) -> Columns:
    """Return one row per input that gave no document or no term, with the reason."""
    return {
        "source": [storable(skipped.source) for skipped in run.skipped],
        "reason": [skipped.reason for skipped in run.skipped],
        "detail": [storable(skipped.detail) for skipped in run.skipped],
    }


def check_parquet() -> None:
    """Raise MissingDependency, before any work, if Parquet cannot be written."""
    with importing("Parquet files need", "pyarrow", install="doccluster[parquet]"):
        import pyarrow.parquet  # noqa: F401


def write_parquet_parts(run: Run, folder: Path, *, n_rows: int = ROWS_OF_A_PART) -> None:
    """Write the rows of assignments.csv to part-00000.parquet and so on, in reading order.

    Texts are as they are, and the columns of the source have the types that `Run.to_pandas` has.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from doccluster.results.document_frame import source_columns  # brings in pandas

    types = (
        dict.fromkeys(_NUMBERS, pa.int64()) | dict.fromkeys(_SHARES, pa.float64()) | dict.fromkeys(_FLAGS, pa.bool_())
    )
    of_source = {}
    for name, values in source_columns(run).items():
        # complex numbers, whole ones beyond 64 bits and the like are text there
        with suppress(pa.ArrowException, OverflowError, TypeError):
            of_source[name] = pa.array(values)
    kinds = {name: type_of(values) for name, values in covariates(run.documents).items() if name not in of_source}
    types |= {name: pa.from_numpy_dtype(kind) for name, kind in kinds.items() if kind is not str}
    folder.mkdir()
    for number, columns in enumerate(assignments_parts(run, n_rows=n_rows)):
        for name in kinds.keys() & columns.keys():
            columns[name] = [typed_value(value, kinds[name]) for value in columns[name]]
        arrays = {name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()}
        arrays |= {name: values.slice(number * n_rows, n_rows) for name, values in of_source.items()}
        pq.write_table(pa.table(arrays), folder / f"part-{number:05d}.parquet")
