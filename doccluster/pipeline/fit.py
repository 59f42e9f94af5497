"""What the third stage makes: clusters of the documents that have terms, however they were found.

Without a given number, documents that fit no cluster are shown as Other: their cluster without them is less like them
than another cluster is. A cluster of which fewer than two documents would stay keeps them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Array, Flags, Integers, Labels, Matrix
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import check_n_clusters, unit_rows
from doccluster.clustering.algorithms import Algorithm
from doccluster.clustering.task import ClusteringResult, ClusteringTask, LinearRule, decide
from doccluster.errors import DocclusterWarning
from doccluster.geometry import Documents
from doccluster.geometry.partition import Partition
from doccluster.geometry.sums import sums_by_label
from doccluster.labeling.placement import Placement, fit_none, rows_that_fit_none
from doccluster.measures import score
from doccluster.selection import Recommendation
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import Letters


@dataclass(frozen=True, eq=False, repr=False)
class Fit(ShortRepr):
    """Clusters in order of size, and what is known of them; what the way they were found does not have is None."""

    partition: Partition
    centroids: Matrix  # unit rows
    rule: LinearRule | None = None  # which cluster a new document belongs to; None: the one with the nearest centroid
    interrupted: bool = False  # whether a person stopped the work before it was done
    stability: float | None = None  # the mean adjusted Rand index of the best start with the others
    left_out: tuple[str, ...] = ()  # in sentences, which steps were not done
    from_start: bool = False  # whether the clusters of the task were begun from
    points: Matrix | None = None  # the rows in which the clusters were found, where these are not the tf-idf rows
    letters: Letters | None = None  # that counted beside the words
    n_asked: int | None = None  # how many clusters the algorithm was asked for
    choice: Recommendation | None = None  # how that was chosen, where the data were asked
    is_other: Flags | None = None  # the documents that are shown as Other, where that is known
    n_outlets: int | None = None  # of the news whose stories these are
    # of clusters grown from topics, arrays of shape (n_documents,)
    topic_of: Labels | None = None  # the topic that the cluster of each document belongs to, -1 for none
    grown_from: Labels | None = None  # the one whose own cluster it is, -1 for none
    is_example: Flags | None = None  # the documents that are examples
    topic_notes: tuple[str, ...] = ()  # in sentences, which topics do not hold

    @property
    def why(self) -> str | None:
        """Why this number of clusters, in a sentence; None where it was given."""
        if self.n_outlets is not None:
            k = self.partition.n_clusters
            n_stories = "1 story" if k == 1 else f"{k:,} stories"
            return (
                f"{n_stories} of two articles or more, because the documents are dated and come from "
                f"{self.n_outlets:,} outlets (`--granularity topics` for topics)."
            )
        if self.choice is None:
            return None
        sentence = f"Chosen from the data: {self.choice.sentence}."
        if self.choice.k is None:
            sentence += " All documents are one cluster; give a number to divide them anyway."
        return sentence

    @property
    def notes(self) -> Iterator[str]:
        """Sentences on what differs from what one expects of clusters."""
        yield from self.topic_notes
        n_other = 0 if self.is_other is None else int(self.is_other.sum())
        if n_other:
            subject = "1 document fits" if n_other == 1 else f"{n_other:,} documents fit"
            yield f"{subject} no cluster (Other). `--no-other` puts each into its nearest one."
        yield from self.left_out
        if self.interrupted:
            yield "The fit was interrupted: these are the best clusters found until then."
        n_filled = self.partition.n_clusters
        if n_filled < (self.n_asked or 0):
            yield f"You asked for {self.n_asked:,} clusters; only {n_filled:,} could be filled."

    def in_input_order(self, order: Integers) -> Fit:
        """Return the fit of rows ``order`` of the input as one of the input: the label of each row where it stood."""
        labels = np.empty_like(self.partition.labels)
        labels[order] = self.partition.labels
        points = None if self.points is None else self.points[np.argsort(order)]
        choice = None if self.choice is None else self.choice.reordered(order)
        return replace(self, partition=replace(self.partition, labels=labels), points=points, choice=choice)

    def renumbered(self, labels: Labels, order: Integers) -> Fit:
        """Return clusters with other labels and numbers: `order` are those they had, in the order of the new ones."""
        rule = None if self.rule is None else self.rule.renumbered(new_numbers(order, self.partition.n_clusters))
        partition = Partition(labels, tuple(range(order.size)))
        return replace(self, partition=partition, centroids=self.centroids[order], rule=rule)


def fit_clusters(algorithm: Algorithm, task: ClusteringTask) -> Fit:
    """Run an algorithm; on Ctrl-C the best result so far comes back, where there is one.

    Raises InputError if there are more clusters than documents, or an option is unknown. Raises KeyboardInterrupt if
    the work was stopped before there was anything to keep.
    """
    check_n_clusters(task.n_clusters, task.rows.shape[0])
    algorithm.check_options(task.options)
    return fit_of(algorithm.find_clusters(task), task.rows)


def fit_of(result: ClusteringResult, rows: Matrix) -> Fit:
    """Return the result for some rows as a fit: clusters in order of size, each with its centroid."""
    for note in result.notes:
        warnings.warn(note, DocclusterWarning, stacklevel=3)
    partition, order = largest_first(result.labels)
    agreements = [score("adjusted_rand", labels, truth=result.starts[0]).value for labels in result.starts[1:]]
    return Fit(
        partition,
        centroids_of(rows, partition) if result.centroids is None else result.centroids[order],
        result.rule and result.rule.renumbered(new_numbers(order, int(result.rule.clusters.max()) + 1)),
        interrupted=result.interrupted,
        stability=float(np.mean(agreements)) if agreements else None,
        left_out=result.left_out,
        from_start=result.from_start,
        points=result.points,
    )


def fit_of_labels(vectors: DocumentVectors, names: Array, has_none: Flags) -> Fit:
    """Return labels as a fit, clusters in order of size; a document that has none goes to the nearest, as Other."""
    rows, chosen = vectors.matrix, np.flatnonzero(~has_none)
    partition, _ = largest_first(np.unique(names[chosen], return_inverse=True)[1])
    centroids = centroids_of(rows[chosen], partition)
    labels = np.empty(names.size, dtype=np.int64)
    labels[chosen] = partition.labels
    if has_none.any():
        labels[has_none] = decide(None, rows[np.flatnonzero(has_none)], None, centroids)
    return Fit(Partition(labels, partition.names), centroids, is_other=has_none)


def set_aside(
    fit: Fit, placed: Placement, vectors: DocumentVectors | None = None, space: str = "words"
) -> tuple[Fit, Placement]:
    """Return the clusters with the documents that fit none, and how each document sits in its nearest.

    Every document keeps its cluster, and an example of a topic belongs to it. Clusters are numbered by how many
    documents stay. Documents with a meaning are judged as they were clustered: by words and meaning side by side, or by
    their meaning.
    """
    labels, k = fit.partition.labels, fit.partition.n_clusters
    if vectors is None or vectors.meaning is None or space == "words":
        is_other = fit_none(labels, placed)
    else:
        rows = vectors.meaning.beside(vectors.documents.unit) if space == "both" else vectors.meaning.rows
        is_other = rows_that_fit_none(Documents(rows), labels)
    if fit.is_example is not None:
        is_other &= ~fit.is_example
    fit = replace(fit, is_other=is_other)
    if not is_other.any():
        return fit, placed
    order = np.argsort(-np.bincount(labels[~is_other], minlength=k), kind="stable")
    numbers = new_numbers(order, k)
    return fit.renumbered(numbers[labels], order), replace(placed, runner_up=numbers[placed.runner_up])


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
