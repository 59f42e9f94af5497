"""Data of the linked views of the page: place, cluster, day, classes and terms of every document, packed."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.corpus.dates import PERIODS, period_of
from doccluster.errors import InputError
from doccluster.labeling.profiles import ClusterDescription, largest_per_row
from doccluster.report.plane import Plane
from doccluster.report.story_cards import MAX_STORIES, explored_sizes
from doccluster.report.wording import one_line
from doccluster.results.overview import OTHER, days_of
from doccluster.results.prevalence import columns_to_group_by, group_counts, group_of_documents, wilson
from doccluster.results.record import Run

GRID = 4095  # places on the map are whole numbers up to this
MAX_TRUTHS = 2
MAX_COLUMNS = 6  # that documents can be coloured and chosen by
MAX_GROUPS, MAX_ROWS = 8, 30  # of a table of shares
MAX_CLASSES = 200  # of a column; the rest are one class
MAX_PARTS = 48  # of the whole time
MAX_TERMS = 1_500
MAX_POSTINGS = 500_000  # pairs of a document and a term, in runs of up to 100,000 documents
POSTINGS_PER_DOCUMENT = 5  # in larger ones
TERMS_PER_CLUSTER = 40
WEIGHT_STEPS = 255

Rows = npt.NDArray[np.int64]


def packed(values: npt.ArrayLike) -> dict[str, Any]:
    """Return whole numbers >= 0 in 1 to 4 bytes each, little-endian, as the script of the page reads them.

    >>> packed([1, 2, 255]), packed([1, 256])
    ({'width': 1, 'data': 'AQL/'}, {'width': 2, 'data': 'AQAAAQ=='})
    """
    array = np.ascontiguousarray(values, dtype="<u4")
    largest = int(array.max(initial=0))
    width = next(width for width in (1, 2, 3, 4) if largest < 256**width)
    parts = array.view(np.uint8).reshape(-1, 4)[:, :width]
    return {"width": width, "data": b64encode(parts.tobytes()).decode("ascii")}


def packed_gaps(gaps: npt.NDArray[np.int64]) -> str:
    """Return whole numbers >= 0 below 2^21, the small ones in one byte.

    A byte holds seven bits of the number, the lowest first; its eighth bit says that more follow.

    >>> packed_gaps(np.array([1, 127, 128]))
    'AX+AAQ=='
    """
    n_bytes = 1 + (gaps >= 1 << 7) + (gaps >= 1 << 14)
    ends = np.cumsum(n_bytes)
    text = np.empty(int(ends[-1]) if ends.size else 0, dtype=np.uint8)
    for place in range(3):
        there = n_bytes > place
        continues = (n_bytes[there] > place + 1).astype(np.int64) << 7
        text[(ends - n_bytes)[there] + place] = ((gaps[there] >> (7 * place)) & 127) | continues
    return b64encode(text.tobytes()).decode("ascii")


def page_order(run: Run) -> Rows:
    """Return the rows of a run as the page counts them: cluster by cluster, the nearest to the centroid first."""
    order = np.lexsort((np.arange(run.n_documents), -run.similarity, run.shown_labels))
    explored, sizes = explored_sizes(run), run.shown_sizes
    if explored.sum() == order.size:
        return order
    rank = np.arange(order.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[rank < np.repeat(explored, sizes)]


def explore_data(run: Run, plane: Plane | None, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return the data of the page's script, plain values for JSON; every list is in the order of `page_order`."""
    order = page_order(run)
    place = np.full(run.n_documents, -1)
    place[order] = np.arange(order.size)
    shown = run.clusters[:MAX_STORIES]
    other_label = [OTHER] if run.n_other and run.n_clusters < MAX_STORIES else []
    return {
        "n": order.size,
        "k": run.n_clusters,
        "sizes": explored_sizes(run).tolist(),
        "labels": [*(one_line(cluster.label, 60) for cluster in shown), *other_label],
        "medoids": [*_medoids(shown, place), *(-1 for _ in other_label)],
        "sections": _sections(run, place),
        "rows": packed(run.documents.positions[order]),
        "map": None if plane is None else _places(plane, order),
        "dates": _dates(run, order),
        "truths": [_classes(run, column, order) for column in columns],
        "terms": _terms(run, order),
    }


def _medoids(clusters: Sequence[ClusterDescription], place: Rows) -> list[int]:
    return [int(place[shown.representatives[0].row]) if shown.representatives else -1 for shown in clusters]


def _sections(run: Run, place: Rows) -> dict[str, Any] | None:
    """Return the coarsest level above the clusters: of which section each cluster is part; None where there is none."""
    if not run.around.coarser:
        return None
    top = run.levels[0]
    return {
        "of": run.levels[len(run.around.coarser)].parents_on(top).tolist(),
        "labels": [one_line(whole.name or whole.label, 60) for whole in top.clusters],
        "medoids": _medoids(top.clusters, place),
    }


def grid_places(plane: Plane) -> Rows:
    """Return places on the map as whole numbers 0..GRID, int64 array of shape (n, 2); one scale for both axes."""
    low, high = plane.places.min(axis=0), plane.places.max(axis=0)
    scale = float((high - low).max()) or 1.0
    margin = (scale - (high - low)) / 2
    places: Rows = np.rint((plane.places - low + margin) / scale * GRID).astype(np.int64)
    return places


def _places(plane: Plane, order: Rows) -> dict[str, Any]:
    places = grid_places(plane)[order]
    return {"grid": GRID, "x": packed(places[:, 0]), "y": packed(places[:, 1])}


def _dates(run: Run, order: Rows) -> dict[str, Any] | None:
    """Return the first day, for each document the days from the day before it (0 where it has no date), and the days on
    which the parts of the whole time begin: years or months where the dates name no days."""
    days, period = days_of(run.documents.dates)[order], period_of(run.documents.dates)
    dated = days[days > 0]
    if not dated.size or dated.min() == dated.max():
        return None
    first, last = (date.fromordinal(int(day)).isoformat() for day in (dated.min(), dated.max()))
    unit: Any = period[0].upper()
    periods = np.arange(np.datetime64(first, unit), np.datetime64(last, unit) + 1)
    n_parts = min(MAX_PARTS, periods.size)
    begins = periods[-(-np.arange(n_parts) * periods.size // n_parts)].astype("datetime64[D]") - np.datetime64(first)
    return {
        "first": first,
        "last": last,
        "days": packed(np.where(days > 0, days - dated.min() + 1, 0)),
        "letters": PERIODS[period],
        "begins": (begins.astype(np.int64) + 1).tolist(),
    }


def shown_columns(run: Run) -> list[str]:
    """Return the columns that documents can be coloured and chosen by: those judged by, then others with groups."""
    return list(dict.fromkeys([*run.truth[:MAX_TRUTHS], *columns_to_group_by(run, MAX_COLUMNS)]))[:MAX_COLUMNS]


def group_tables(run: Run, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return how common the largest clusters are in the largest groups of each column, and in all of them."""
    tables = []
    for column in columns:
        try:
            counted = group_counts(run, column)
        except InputError:  # a column of the truth may have one value
            continue
        of_group = counted.counts.sum(axis=0)
        shown = np.argsort(-of_group, kind="stable")[:MAX_GROUPS]
        counts = np.round(counted.counts[:MAX_ROWS, shown], 1)  # of documents in parts sums of shares
        cells = zip(counts.tolist(), *((part).tolist() for part in wilson(counts, of_group[shown])), strict=True)
        overall = (counted.counts.sum(axis=1) / of_group.sum()).tolist()
        table = {
            "by": one_line(counted.by, 40),
            "groups": [one_line(counted.groups[group], 40) for group in shown.tolist()],
            # the cluster, its share of all groups, and for each group documents, share and the ends of its interval
            "rows": [
                (one_line(label, 60), share, list(zip(*row, strict=True)))
                for label, share, row in zip(counted.labels[:MAX_ROWS], overall, cells, strict=False)
            ],
            "n_clusters": len(counted.labels),
            "n_groups": of_group.size,
            "notes": counted.notes,
        }
        tables.append(table)
    return tables


def _classes(run: Run, column: str, order: Rows) -> dict[str, Any]:
    """Return the classes of a column, the commonest first; 0 stands for a document with none or several."""
    if column in run.documents.labels:
        rows, names = run.classes(column)
    else:
        values = group_of_documents(run, column)[0]
        rows = np.flatnonzero(values != "")
        names = tuple(values[rows].tolist())
    ranked = sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))
    code_of = {name: code for code, (name, _) in enumerate(ranked[:MAX_CLASSES], start=1)}
    codes = np.zeros(run.n_documents, dtype=np.int64)
    codes[rows] = [code_of.get(name, len(code_of) + 1) for name in names]
    other_classes = ["other classes"] if len(ranked) > MAX_CLASSES else []
    return {
        "name": one_line(column, 40),
        "values": [one_line(name, 60) for name in code_of] + other_classes,
        "codes": packed(codes[order]),
    }


def _terms(run: Run, order: Rows) -> dict[str, Any] | None:
    """Return terms that say something of a cluster, the documents that have them, and their mean weights by cluster."""
    vectors = run.vectors
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    if names is None or not sparse.issparse(vectors.matrix):
        return None
    matrix = sparse.csr_array(vectors.matrix)
    heaviest, weights = _heaviest(run, matrix, None if order.size == run.n_documents else np.sort(order))
    rows = matrix[order]
    counts = np.bincount(rows.indices, minlength=matrix.shape[1])
    # pairs of a term and a document are limited: the first terms of every cluster come first
    columns = _fitting(_by_rank(heaviest), counts, max(MAX_POSTINGS, POSTINGS_PER_DOCUMENT * order.size))
    number = np.full(matrix.shape[1], -1)
    number[columns] = np.arange(columns.size)
    counts = counts[columns]
    documents = rows[:, columns].tocsc().indices.astype(np.int64)
    # documents of a term ascend, so each is kept as its distance from the last; the first one from 0
    before = np.concatenate([[0], documents[:-1]])
    before[(np.cumsum(counts) - counts)[counts > 0]] = 0
    has_number = [number[terms] >= 0 for terms in heaviest]
    heaviest_value = max((float(values.max(initial=0)) for values in weights), default=0.0) or 1.0
    return {
        "names": [one_line(str(names[column]), 40) for column in columns.tolist()],
        "counts": packed(counts),
        "gaps": packed_gaps(documents - before),
        "weighted": packed([int(chosen.sum()) for chosen in has_number]),
        "ids": packed(
            np.concatenate([number[terms][chosen] for terms, chosen in zip(heaviest, has_number, strict=True)])
        ),
        "weights": packed(
            np.rint(
                np.concatenate([values[chosen] for values, chosen in zip(weights, has_number, strict=True)])
                / heaviest_value
                * WEIGHT_STEPS
            )
        ),
        "step": heaviest_value / WEIGHT_STEPS,
    }


def _heaviest(run: Run, matrix: Any, explored: Rows | None) -> tuple[list[Rows], list[npt.NDArray[np.float64]]]:
    """Return the columns with the largest mean weight in each cluster with a card, largest first, and the weights."""
    labels, n_shown = run.shown_labels, run.shown_sizes.size
    if explored is not None:
        matrix, labels = matrix[explored], labels[explored]
    n, shown = labels.size, min(n_shown, MAX_STORIES)
    sizes = np.bincount(labels, minlength=n_shown)
    members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_shown, n))
    sums = sparse.csr_array(members @ matrix)
    sums.data /= np.repeat(sizes, np.diff(sums.indptr))
    heaviest = largest_per_row(sums[:shown], TERMS_PER_CLUSTER)
    return [columns for columns, _ in heaviest], [weights for _, weights in heaviest]


def _by_rank(lists: list[Rows]) -> Rows:
    """Return the members of ranked lists once each: all that come first, then all that come second ..."""
    ranked = [
        (rank, cluster, column) for cluster, columns in enumerate(lists) for rank, column in enumerate(columns.tolist())
    ]
    return np.array(list(dict.fromkeys(column for _, _, column in sorted(ranked))), dtype=np.int64)


def _fitting(ranked: Rows, counts: Rows, n_free: int) -> Rows:
    """Return the first terms whose documents are together at most `n_free`: a term is there with all of them or not."""
    fitting: list[int] = []
    for column in ranked.tolist():
        if counts[column] <= n_free:
            fitting.append(column)
            n_free -= int(counts[column])
    return np.array(fitting[:MAX_TERMS], dtype=np.int64)
