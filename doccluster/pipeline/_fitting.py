"""The third stage: a partition of the documents that have terms, clusters in order of size, and what is done to it.

Near-copies of one text are found for every run, and clustered as one document on request. Without a given number,
documents that fit no cluster are shown as Other: their cluster without them is less like them than another cluster is.
A cluster of which fewer than two documents would stay keeps them all. Labels of another program, and stories of
news (those of the rule that a store follows, of dated documents of several outlets), take the place of a fit.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Array, CsrArray, Flags, Integers, Matrix
from doccluster.base.packed_strings import MadeItems
from doccluster.base.progress import Progress
from doccluster.base.validation import check_n_clusters, unit_rows
from doccluster.clustering.algorithms import QUALITIES, Algorithm
from doccluster.clustering.task import ClusteringResult, ClusteringTask, LinearRule, decide
from doccluster.corpus import Corpus, find_near_copies
from doccluster.corpus.columns import cell_text
from doccluster.corpus.dates import as_moment
from doccluster.corpus.source_rows import names_of
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import Argument, DocclusterWarning, InputError
from doccluster.geometry import Documents
from doccluster.geometry.partition import Partition, label_list
from doccluster.geometry.sums import sums_by_label
from doccluster.labeling.placement import Placement, fit_none, rows_that_fit_none
from doccluster.measures import score
from doccluster.measures.label_files import read_labels
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.sources import SourceDocuments
from doccluster.results.document_table import DocumentTable
from doccluster.results.overview import days_of, doubt, outlets_of
from doccluster.stories import NewsArticles, find_stories
from doccluster.stories.words import body_of, outlet_of
from doccluster.vectors import DocumentVectors
from doccluster.vectors.meaning import Embeddings, rows_of_documents

Rows = Integers


@dataclass(frozen=True, eq=False)
class FittedClusters:
    """A partition, its unit centroids, and whether a person stopped the work before it was done."""

    partition: Partition
    centroids: CsrArray
    rule: LinearRule | None  # which cluster a new document belongs to; None: the one with the nearest centroid
    interrupted: bool
    stability: float | None  # the mean adjusted Rand index of the best start with the others, None without any
    left_out: tuple[str, ...] = ()  # in sentences, which steps were not done
    from_start: bool = False  # whether the clusters of the task were begun from
    points: Matrix | None = None  # the rows in which the clusters were found, where these are not the tf-idf rows


def fit_clusters(algorithm: Algorithm, task: ClusteringTask) -> FittedClusters:
    """Run an algorithm; on Ctrl-C the best result so far comes back, where there is one.

    Raises InputError if there are more clusters than documents, or an option is unknown. Raises KeyboardInterrupt if
    the work was stopped before there was anything to keep.
    """
    check_n_clusters(task.n_clusters, task.rows.shape[0])
    algorithm.check_options(task.options)
    return fit_of(algorithm.find_clusters(task), task.rows)


def fit_of(result: ClusteringResult, rows: Matrix) -> FittedClusters:
    """Return the result for some rows as a fit: clusters in order of size, each with its centroid."""
    for note in result.notes:
        warnings.warn(note, DocclusterWarning, stacklevel=3)
    partition, order = largest_first(result.labels)
    centroids = centroids_of(rows, partition) if result.centroids is None else result.centroids[order]
    rule = (
        None if result.rule is None else result.rule.renumbered(new_numbers(order, int(result.rule.clusters.max()) + 1))
    )
    agreements = [score("adjusted_rand", labels, truth=result.starts[0]).value for labels in result.starts[1:]]
    stability = float(np.mean(agreements)) if agreements else None
    return FittedClusters(
        partition,
        centroids,
        rule,
        interrupted=result.interrupted,
        stability=stability,
        left_out=result.left_out,
        from_start=result.from_start,
        points=result.points,
    )


def in_input_order(fit: FittedClusters, order: Integers) -> FittedClusters:
    """Return the fit of rows ``order`` of the input as one of the input: the label of each row where it stood."""
    labels = np.empty_like(fit.partition.labels)
    labels[order] = fit.partition.labels
    points = None if fit.points is None else fit.points[np.argsort(order)]
    return replace(fit, partition=replace(fit.partition, labels=labels), points=points)


def largest_first(labels: npt.ArrayLike) -> tuple[Partition, Integers]:
    """Return the partition with its clusters numbered by size, largest first, and the numbers they had before."""
    numbers, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Partition(rank[codes].astype(np.int64), tuple(range(numbers.size))), numbers[order].astype(np.int64)


def new_numbers(order: Integers, n_before: int) -> Integers:
    """Return the new number of each old one, where `order` names the old ones that stay; -1 for the others."""
    numbers = np.full(n_before, -1, dtype=np.int64)
    numbers[order] = np.arange(order.size)
    return numbers


def centroids_of(rows: Matrix, partition: Partition) -> Matrix:
    """Return the unit directions of the sums of the rows of each cluster, csr where the rows are."""
    sums = sums_by_label(rows, partition.labels, partition.n_clusters)
    return unit_rows(sums, warn=False).astype(rows.dtype)


def find_first_copies(
    vectors: DocumentVectors, documents: DocumentTable, corpus: Corpus | None, candidates: Rows | None = None
) -> Rows | None:
    """Return the row of the first document of each one's family of near-copies, its own where it has no copy.

    The first is the earliest; without dates, the first that was read. None for dense vectors, which have no terms to
    tell copies by. `candidates` are the rows that may be copies (`alike_in_a_band`), if they were found elsewhere.
    """
    if isinstance(vectors.matrix, np.ndarray):
        return None
    texts = None if corpus is None else PickedTexts(corpus.texts, documents.positions)
    first = np.arange(len(documents), dtype=np.int64)
    for family in find_near_copies(vectors.matrix, texts, candidates=candidates):
        # a document without a date is later than those with one
        first[list(family)] = min(family, key=lambda row: (not documents.dates[row], documents.dates[row], row))
    return first


def first_copies(first: Rows | None) -> Rows:
    """Return the first document of each family, ascending. Raises InputError if copies could not be looked for."""
    if first is None:
        raise InputError(
            "near-copies are found by the terms they share, and a dense matrix has no terms",
            remedy=("leave out ", Argument("fold_copies")),
        )
    return np.unique(first)


def spread_to_copies(fit: FittedClusters, first: Rows | None) -> FittedClusters:
    """Return a fit of first documents as one of all: copies have the cluster of what they repeat, and count in it."""
    if first is None:
        return fit
    family = np.searchsorted(np.unique(first), first)
    labels = fit.partition.labels[family]
    partition, order = largest_first(labels)
    rule = None if fit.rule is None else fit.rule.renumbered(new_numbers(order, order.size))
    points = None if fit.points is None else fit.points[family]
    return replace(fit, partition=partition, centroids=fit.centroids[order], rule=rule, points=points)


def folding_note(first: Rows | None) -> str | None:
    """Return a sentence that says how many copies were folded, None where there were none."""
    n_copies = 0 if first is None else int(np.count_nonzero(first != np.arange(first.size)))
    if n_copies == 0:
        return None
    have = "has the cluster of the text it repeats" if n_copies == 1 else "have the cluster of the text they repeat"
    return f"Near-copies were folded: {n_copies:,} of the documents {have}."


def set_aside(
    fit: FittedClusters,
    placed: Placement,
    vectors: DocumentVectors | None = None,
    space: str = "words",
    stays: Flags | None = None,
) -> tuple[FittedClusters, Placement, Flags]:
    """Return the clusters, how each document sits in its nearest, and which documents fit no cluster.

    Every document keeps its cluster. Clusters are numbered by how many documents stay, as those that `stays` names do.
    Documents with a meaning are judged as they were clustered: by words and meaning side by side, or by their meaning.
    """
    labels, k = fit.partition.labels, fit.partition.n_clusters
    if vectors is None or vectors.meaning is None or space == "words":
        is_other = fit_none(labels, placed)
    else:
        rows = vectors.meaning.beside(vectors.documents.unit) if space == "both" else vectors.meaning.rows
        is_other = rows_that_fit_none(Documents(rows), labels)
    if stays is not None:
        is_other &= ~stays
    if not is_other.any():
        return fit, placed, is_other
    order = np.argsort(-np.bincount(labels[~is_other], minlength=k), kind="stable")
    numbers = new_numbers(order, k)
    partition = Partition(numbers[labels], tuple(range(k)))
    rule = None if fit.rule is None else fit.rule.renumbered(numbers)
    placed = replace(placed, runner_up=numbers[placed.runner_up])
    return replace(fit, partition=partition, centroids=fit.centroids[order], rule=rule), placed, is_other


def other_note(is_other: Flags | None) -> str | None:
    """Return the note of a run; None where every document belongs to a cluster."""
    n_other = 0 if is_other is None else int(is_other.sum())
    if n_other == 0:
        return None
    subject = "1 document fits" if n_other == 1 else f"{n_other:,} documents fit"
    return f"{subject} no cluster (Other). `--no-other` puts each into its nearest one."


COLUMN = "given"  # the column of labels in which the documents keep them
NO_CLUSTER = ("", "-1")  # the labels of documents that the other program left out


def with_labels(source: SourceDocuments, labels: Any) -> SourceDocuments:
    """Return a source whose documents have the labels of another program as a column.

    Raises InputError if there are more or fewer labels than documents, an id has none, or a document has several.
    """
    ids, rows = source.documents.ids, source.source_rows
    file = read_labels(labels) if isinstance(labels, str | os.PathLike) else None
    name = "labels" if file is None else file.path
    values = label_list(labels if file is None else next(iter(file.columns.values())), "labels")
    if any(isinstance(label, list | tuple) for label in values):
        raise InputError(f"{name} gives documents several labels", remedy="each needs one cluster")
    cells = np.array([[cell_text(label)] for label in values], dtype=object)
    by_id = Embeddings(cells, None if file is None or file.ids is None else tuple(file.ids))
    remedy = "give a label for each id, -1 for a document that is in no cluster"
    cells = rows_of_documents(by_id, ids, rows, name=name, index=names_of(labels), remedy=remedy)
    column = tuple((label,) if label else () for label in cells[:, 0].tolist())
    return replace(source, documents=replace(source.documents, labels={**source.documents.labels, COLUMN: column}))


def clusters_of_labels(vectors: DocumentVectors, documents: DocumentTable) -> tuple[FittedClusters, Flags]:
    """Return the labels of documents as a fit, and which of them have none: they go to the nearest centroid.

    Raises InputError if no document has a label.
    """
    names = np.array(["".join(labels) for labels in documents.labels[COLUMN]], dtype=str)
    has_none = np.isin(names, NO_CLUSTER)
    if has_none.all():
        raise InputError("no document has a cluster", remedy="give labels other than -1")
    return fit_of_labels(vectors, names, has_none), has_none


def fit_of_labels(vectors: DocumentVectors, names: Array, has_none: Flags) -> FittedClusters:
    """Return labels as a fit, clusters in order of size; a document that has none goes to the nearest centroid."""
    rows, chosen = vectors.matrix, np.flatnonzero(~has_none)
    partition, _ = largest_first(np.unique(names[chosen], return_inverse=True)[1])
    centroids = centroids_of(rows[chosen], partition)
    labels = np.empty(names.size, dtype=np.int64)
    labels[chosen] = partition.labels
    if has_none.any():
        labels[has_none] = decide(None, rows[np.flatnonzero(has_none)], None, centroids)
    return FittedClusters(Partition(labels, partition.names), centroids, None, False, None)


def recorded_labels(labels: object) -> str | None:
    """Return where labels come from, as run.json has it; None without any."""
    if labels is None:
        return None
    return os.fspath(labels) if isinstance(labels, str | os.PathLike) else "memory"


MIN_OUTLETS = 3
DATED_SHARE = 0.5  # of the documents, for a collection that is dated


class News(NamedTuple):
    """Dated articles of several outlets."""

    rows: Integers  # the documents that are dated
    articles: NewsArticles
    n_outlets: int


@dataclass(frozen=True, eq=False)
class StoryFit:
    """Stories of two articles or more as clusters; `is_alone` says which documents are in none of them."""

    fit: FittedClusters
    is_alone: Flags
    n_outlets: int

    @property
    def why(self) -> str:
        """Why stories are shown, in a sentence."""
        n_stories = _counted(self.fit.partition.n_clusters, "story", "stories")
        return (
            f"{n_stories} of two articles or more, because the documents are dated and come from {self.n_outlets:,} "
            "outlets (`--granularity topics` for topics)."
        )


def is_dated(documents: DocumentTable) -> bool:
    """Return whether at least half of the documents have a date, and these are not all of one day."""
    days = days_of(documents.dates)
    return bool((days > 0).sum() >= DATED_SHARE * len(documents) and np.unique(days[days > 0]).size > 1)


def news_among(documents: DocumentTable, corpus: Corpus | None) -> News | None:
    """Return the dated documents as articles, None where they are no news of three outlets or more."""
    outlets = [outlet_of(name) for name in outlets_of(documents)]
    n_outlets = len(set(filter(None, outlets)))
    if corpus is None or n_outlets < MIN_OUTLETS or not is_dated(documents):
        return None
    moments = [None if doubt(date) else as_moment(date) for date in documents.dates]
    rows = np.array([row for row, moment in enumerate(moments) if moment is not None], dtype=np.int64)
    titles = [documents.titles[row] for row in rows.tolist()]
    articles = NewsArticles(
        titles,
        _Bodies(PickedTexts(corpus.texts, documents.positions[rows]), titles),
        [outlets[row] for row in rows.tolist()],
        np.array([moments[row] for row in rows.tolist()], dtype=np.int64),
    )
    return News(rows, articles, n_outlets)


class _Bodies(MadeItems[str]):
    """Texts without the titles that they begin with, each made when it is looked at."""

    def __init__(self, texts: Sequence[str], titles: Sequence[str]) -> None:
        self._texts, self._titles = texts, titles

    def __len__(self) -> int:
        return len(self._titles)

    def _item(self, row: int) -> str:
        return body_of(self._titles[row], self._texts[row])


def stories_of_run(
    settings: RunSettings,
    vectors: DocumentVectors,
    documents: DocumentTable,
    corpus: Corpus | None,
    progress: Progress,
) -> StoryFit | None:
    """Return the stories that a run shows; None where it clusters by an algorithm.

    Stories are shown of news whose number of clusters, granularity and algorithm are left open, or where they are asked
    for by name.
    """
    is_open = settings.granularity in (None, "stories") and isinstance(settings.n_clusters, str)
    is_open = is_open and settings.labels is None and not settings.apart_columns
    if settings.topics is not None:  # clusters grow from words; of examples of stories each is a story
        is_open = is_open and settings.granularity == "stories" and not any(topic.words for topic in settings.topics)
    if not is_open or settings.algorithm != QUALITIES["default"] or settings.has_meaning:
        return None
    news = news_among(documents, corpus)
    if news is None:
        return None
    labels = np.full(len(documents), -1)
    labels[news.rows] = find_stories(
        news.articles,
        n_threads=settings.n_threads,
        progress=lambda n_read, n_all: progress("cluster", n_read, n_all),
    )
    several = np.bincount(labels[news.rows]) > 1
    is_alone = (labels < 0) | ~several[labels]
    if is_alone.all():
        return None
    fit = fit_of_labels(vectors, labels, is_alone)
    return StoryFit(replace(fit, from_start=False), is_alone, news.n_outlets)


def _counted(number: int, one: str, several: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {several}"
