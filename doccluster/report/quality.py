"""The quality tab as plain data: what went in, what each cluster is like, and how clusters stand to each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from doccluster.corpus.document import Skipped
from doccluster.measures.truth import coverage_note
from doccluster.report.wording import one_line
from doccluster.results.overview import outlets_of
from doccluster.results.record import Run

MAX_SKIPPED = 100
MAX_SOURCES = 12
MAX_TABLE = 500  # clusters with a line in the table of measures
MAX_CLUSTERS = 60  # lines of the confusion table
MAX_CLASSES = 24  # its columns
MAX_CELLS_WITH_NUMBERS = 16  # k up to which a k x k table shows its numbers
MAX_PAIRS = 200  # k up to which a k x k table is drawn whole


@dataclass(frozen=True)
class ClusterRow:
    """The measures of one cluster; nan where one is undefined."""

    number: int
    label: str
    size: int
    similarity: float
    coherence: float
    adherence: float
    density: float
    separation: float
    silhouette: float


@dataclass(frozen=True, eq=False)
class PairTable:
    """One value for each ordered pair of clusters; the diagonal, a cluster with itself, is nan."""

    numbers: tuple[int, ...]
    values: npt.NDArray[np.float64]
    low: float
    high: float
    n_clusters: int

    @property
    def shows_numbers(self) -> bool:
        """Whether the table is small enough to be read number by number."""
        return len(self.numbers) <= MAX_CELLS_WITH_NUMBERS

    def depth(self, value: float) -> float:
        """Return where a value lies between the least and the greatest, 0 to 1."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0


@dataclass(frozen=True)
class ConfusionRow:
    """One cluster: how many of its labelled documents each class has."""

    number: int
    label: str
    counts: tuple[int, ...]
    n_others: int
    total: int

    @property
    def purity(self) -> float:
        """The share of the commonest class shown."""
        return max(self.counts, default=0) / self.total if self.total else float("nan")


@dataclass(frozen=True)
class Confusion:
    """Clusters against the classes of one truth column."""

    column: str
    classes: tuple[str, ...]
    n_other_classes: int
    rows: tuple[ConfusionRow, ...]
    n_hidden: int
    coverage: str


def data_card(run: Run) -> dict[str, Any]:
    """Return the input of a run in numbers, with what was left out and why."""
    matrix = run.vectors.matrix
    n_documents, n_terms = matrix.shape
    stored = int(matrix.nnz) if hasattr(matrix, "nnz") else int(np.count_nonzero(matrix))
    sources = Counter(filter(None, outlets_of(run.documents)))
    commonest = sorted(sources.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_SOURCES]
    left_out = [item for item in run.skipped if not item.is_renamed]
    return {
        "n_documents": run.n_documents,
        "n_terms": int(n_terms),
        "filled": stored / (n_documents * n_terms),
        "mean_terms": stored / n_documents,
        "mean_length": float(run.documents.lengths.mean()),
        "n_empty": len(run.empty_documents),
        "n_skipped": len(left_out),
        "reasons": Counter(item.reason for item in left_out).most_common(),
        "skipped": [
            Skipped(one_line(item.source), one_line(item.reason, 40), one_line(item.detail))
            for item in left_out[:MAX_SKIPPED]
        ],
        "sources": [(one_line(name, 60), count) for name, count in commonest],
        "n_sources": len(sources),
    }


def cluster_rows(run: Run) -> tuple[ClusterRow, ...]:
    """Return the four intrinsic measures and the silhouette of each cluster, the largest first."""
    measures = {"separation": "ics"} | {name: name for name in ("coherence", "adherence", "density", "silhouette")}
    scores, undefined = run.cluster_scores, np.full(run.n_clusters, np.nan)
    columns = {name: scores.get(measure, undefined) for name, measure in measures.items()}
    totals = np.bincount(run.shown_labels, weights=run.similarity, minlength=run.n_clusters)
    return tuple(
        ClusterRow(
            number=cluster.cluster,
            label=_label(run, cluster.cluster),
            size=cluster.size,
            similarity=float(totals[cluster.cluster] / cluster.size),
            **{name: float(values[cluster.cluster]) for name, values in columns.items()},
        )
        for cluster in run.clusters[:MAX_TABLE]
    )


def _label(run: Run, number: int) -> str:
    return one_line(run.clusters[number].label, 120) or f"Cluster {number}"


def pair_table(run: Run, name: str) -> PairTable | None:
    """Return the value of the measure `name` for each pair of clusters; None if there is no pair or no value.

    Clusters that are alike stand next to one another, in the same order for every measure.
    """
    table = _per_pair(run, name)
    if table is None:
        return None
    # clusters are numbered from the largest, so a table that must be cut keeps the large ones
    values = np.array(table, dtype=np.float64)[:MAX_PAIRS, :MAX_PAIRS]
    np.fill_diagonal(values, np.nan)
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return None
    separation = _per_pair(run, "ics")
    distances = -values if separation is None else np.asarray(separation, dtype=np.float64)[:MAX_PAIRS, :MAX_PAIRS]
    order = similar_next_to_one_another(distances - np.nanmin(distances))
    numbers = tuple(order.tolist())
    return PairTable(numbers, values[np.ix_(order, order)], float(finite.min()), float(finite.max()), run.n_clusters)


def _per_pair(run: Run, name: str) -> npt.NDArray[np.float64] | None:
    k = run.n_clusters
    tables = (score.per_pair for score in run.evaluation.scores if score.name == name and score.per_pair is not None)
    return next((table for table in tables if k > 1 and np.shape(table) == (k, k)), None)


def similar_next_to_one_another(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the order of rows in which neighbours are as near as a tree of average linkage allows.

    `distances` of shape (k, k): the diagonal is not looked at; an undefined distance (nan) counts as the largest there
    is. At most a few hundred rows: the time grows with the cube of k.
    Of the two directions the one that begins with the lower number is taken (Bar-Joseph, Gifford & Jaakkola 2001,
    doi:10.1093/bioinformatics/17.suppl_1.S22).

    >>> near_and_far = np.array([[0, 0.9, 0.1], [0.9, 0, 0.8], [0.1, 0.8, 0]])
    >>> similar_next_to_one_another(near_and_far).tolist()
    [0, 2, 1]
    """
    k = len(distances)
    if k < 3:
        return np.arange(k, dtype=np.int64)
    off_diagonal = ~np.eye(k, dtype=bool)
    measured = distances[off_diagonal & ~np.isnan(distances)]
    filled = np.where(np.isnan(distances), measured.max(initial=0.0), distances)
    filled = np.maximum((filled + filled.T) / 2, 0.0)  # rounding may leave -1e-17
    np.fill_diagonal(filled, 0.0)
    tree = linkage(squareform(filled, checks=False), method="average", optimal_ordering=True)
    order: npt.NDArray[np.int64] = leaves_list(tree).astype(np.int64)
    return order if order[0] <= order[-1] else order[::-1]


def confusion(run: Run, column: str) -> Confusion | None:
    """Return the clusters of a run against one truth column; None if no document has exactly one label."""
    rows, labels = run.classes(column)
    if run.parts is not None:  # each document counts once, with its largest share
        stands = np.isin(rows, run.reading_order[run.parts.standing])
        rows, labels = rows[stands], tuple(np.array(labels, dtype=object)[stands])
    if rows.size == 0:
        return None
    names, codes = np.unique(np.asarray(labels, dtype=object), return_inverse=True)
    counts = np.zeros((run.n_clusters, names.size), dtype=np.int64)
    np.add.at(counts, (run.partition.labels[rows], codes), 1)
    # each class stands under the cluster that has most of it, so that agreement lies along the diagonal
    class_order = np.argsort(-counts.sum(axis=0), kind="stable")[:MAX_CLASSES]
    class_order = class_order[np.lexsort((-counts[:, class_order].max(axis=0), counts[:, class_order].argmax(axis=0)))]
    shown = run.clusters[:MAX_CLUSTERS]
    return Confusion(
        column=one_line(column, 60),
        classes=tuple(one_line(str(names[code]), 40) for code in class_order),
        n_other_classes=int(names.size - class_order.size),
        rows=tuple(
            ConfusionRow(
                number=cluster.cluster,
                label=_label(run, cluster.cluster),
                counts=tuple(counts[cluster.cluster, class_order].tolist()),
                n_others=int(counts[cluster.cluster].sum() - counts[cluster.cluster, class_order].sum()),
                total=int(counts[cluster.cluster].sum()),
            )
            for cluster in shown
        ),
        n_hidden=run.n_clusters - len(shown),
        coverage=coverage_note(run.evaluation.coverage[column]) or "" if column in run.evaluation.coverage else "",
    )
